//! LLC and SNAP headers.

#![no_main]

use hopcast_wire::llc::{Packet, Repr};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|octets: &[u8]| {
    if let Ok(packet) = Packet::new_checked(octets) {
        let _ = (Repr::parse(&packet), packet.payload());
    }
});
