//! ARP packets.

#![no_main]

use hopcast_wire::arp::{PACKET_LEN, Packet, Repr};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|octets: &[u8]| {
    match Packet::new_checked(octets) {
        Ok(packet) => {
            if let Ok(repr) = Repr::parse(&packet) {
                let mut emitted = vec![0xee; repr.buffer_len()];
                repr.emit(&mut Packet::new_unchecked(&mut emitted));
                assert_eq!(emitted, octets[..PACKET_LEN]);
            }
        }
        Err(_) => assert!(octets.len() < PACKET_LEN),
    }
});
