//! Messages of AODV: what is understood survives.

#![no_main]

use hopcast_wire::aodv::{ErrorPacket, Repr, RequestPacket};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|octets: &[u8]| {
    if let Ok(repr) = Repr::parse(octets) {
        let emitted = repr.to_octets();
        assert_eq!(Repr::parse(&emitted), Ok(repr));
    }
    if let Ok(packet) = RequestPacket::new_checked(octets) {
        let _ = (packet.extensions().iter().count(), packet.extensions().hello_interval());
    }
    if let Ok(packet) = ErrorPacket::new_checked(octets) {
        assert_eq!(packet.unreachable().iter().count(), packet.count());
    }
});
