//! Packets of a transport stream and the tables in them: whatever is read lies in the packet, and a new counter changes nothing else.

#![no_main]

use hopcast_wire::mpegts::{CLOCK_MODULUS, NULL, PACKET_LEN, Packet, first_program_map};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|octets: &[u8]| {
    if let Some(identifier) = first_program_map(octets) {
        assert!(identifier <= NULL, "an identifier has 13 bits");
    }
    for part in octets.chunks(PACKET_LEN) {
        let Ok(packet) = Packet::new_checked(part) else { continue };
        assert!(packet.identifier() <= NULL && packet.continuity() < 16);
        // The 9 bits of the extension go to 511, and count from 0 to 299 in the standard (2.4.3.5).
        assert!(packet.clock().is_none_or(|clock| clock <= CLOCK_MODULUS - 300 + 511), "{:?}", packet.clock());
        assert!(part.ends_with(packet.payload()) && packet.payload().len() <= PACKET_LEN - 4);
        assert!(packet.has_payload() || packet.payload().is_empty());
        let _ = first_program_map(packet.payload());
        let mut changed = part.to_vec();
        let Ok(mut copy) = Packet::new_checked(&mut changed[..]) else { panic!("a copy is read as well") };
        copy.set_continuity(packet.continuity().wrapping_add(1) % 16);
        assert_eq!(copy.continuity(), (packet.continuity() + 1) % 16);
        copy.set_continuity(packet.continuity());
        assert_eq!(changed, part);
    }
});
