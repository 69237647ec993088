//! IPv4 packets.

#![no_main]

use hopcast_wire::checksum::Policy;
use hopcast_wire::ipv4::{Packet, Repr};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|octets: &[u8]| {
    let Ok(packet) = Packet::new_checked(octets) else { return };
    let _ = (packet.options(), packet.payload(), Repr::parse(&packet, Policy::Verify));
    if let Ok(repr) = Repr::parse(&packet, Policy::Ignore) {
        let mut emitted = vec![0xee; repr.buffer_len() + usize::from(repr.payload_len)];
        repr.emit(&mut Packet::new_unchecked(&mut emitted));
        let again = Packet::new_checked(&emitted).expect("what was emitted can be read");
        assert_eq!(Repr::parse(&again, Policy::Verify), Ok(repr));
    }
});
