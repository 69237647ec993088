//! DCCP packets with their options: what is understood is emitted as it was, reserved bits apart.

#![no_main]

use std::net::Ipv4Addr;

use hopcast_wire::checksum::Policy;
use hopcast_wire::dccp::{OptionRepr, Packet, Repr};
use libfuzzer_sys::fuzz_target;

const CLIENT: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
const SERVER: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);

fuzz_target!(|octets: &[u8]| {
    let Ok(packet) = Packet::new_checked(octets) else { return };
    let _ = packet.verify_checksum(CLIENT, SERVER);
    let Ok(repr) = Repr::parse(&packet, CLIENT, SERVER, Policy::Ignore) else { return };
    for option in repr.options.iter().flatten() {
        let _ = option.may_be_in_data();
        if let OptionRepr::LossIntervals(intervals) = option {
            assert!(intervals.iter().all(|interval| interval.lossy < 1 << 23));
        }
    }
    let mut emitted = vec![0xee; repr.buffer_len()];
    repr.emit(&mut Packet::new_unchecked(&mut emitted));
    emitted.extend_from_slice(packet.payload());
    assert_eq!(emitted.len(), octets.len());
    let again = Packet::new_checked(&emitted).expect("what was emitted can be read");
    assert_eq!(Repr::parse(&again, CLIENT, SERVER, Policy::Ignore), Ok(repr));
});
