//! UDP datagrams.

#![no_main]

use std::net::Ipv4Addr;

use hopcast_wire::checksum::Policy;
use hopcast_wire::udp::{Packet, Repr};
use libfuzzer_sys::fuzz_target;

const CLIENT: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
const SERVER: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);

fuzz_target!(|octets: &[u8]| {
    if let Ok(packet) = Packet::new_checked(octets) {
        let _ = (packet.payload(), Repr::parse(&packet, CLIENT, SERVER, Policy::Verify));
        let _ = Repr::parse(&packet, CLIENT, SERVER, Policy::Ignore);
    }
});
