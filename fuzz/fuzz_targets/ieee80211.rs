//! MAC headers of 802.11: what is understood is emitted as it was.

#![no_main]

use hopcast_wire::ieee80211::{Packet, Repr};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|octets: &[u8]| {
    let Ok(packet) = Packet::new_checked(octets) else { return };
    let _ = (packet.address_2(), packet.address_3(), packet.address_4(), packet.payload());
    let _ = (packet.sequence_control(), packet.qos_control(), packet.ht_control());
    if let Ok(repr) = Repr::parse(&packet) {
        let mut emitted = octets.to_vec();
        emitted[..repr.buffer_len()].fill(0xee);
        repr.emit(&mut Packet::new_unchecked(&mut emitted));
        assert_eq!(emitted, octets);
    }
});
