//! TCP segments: what is understood survives.

#![no_main]

use std::net::Ipv4Addr;

use hopcast_wire::checksum::Policy;
use hopcast_wire::tcp::{Packet, Repr};
use libfuzzer_sys::fuzz_target;

const CLIENT: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
const SERVER: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);

fuzz_target!(|octets: &[u8]| {
    let Ok(packet) = Packet::new_checked(octets) else { return };
    let _ = (packet.payload(), packet.verify_checksum(CLIENT, SERVER));
    if let Ok(repr) = Repr::parse(&packet, CLIENT, SERVER, Policy::Ignore) {
        let repr = Repr { payload_len: 0, ..repr };
        let mut emitted = vec![0xee; repr.buffer_len()];
        repr.emit(&mut Packet::new_unchecked(&mut emitted), CLIENT, SERVER, &[]);
        let again = Packet::new_checked(&emitted).expect("what was emitted can be read");
        assert_eq!(Repr::parse(&again, CLIENT, SERVER, Policy::Verify), Ok(repr));
    }
});
