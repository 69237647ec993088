//! RTP packets: all of it but what the padding holds is emitted as it was.

#![no_main]

use hopcast_wire::rtp::{Packet, Repr};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|octets: &[u8]| {
    let Ok(packet) = Packet::new_checked(octets) else { return };
    let repr = Repr::parse(&packet);
    let mut emitted = vec![0xee; octets.len()];
    let header = repr.buffer_len();
    repr.emit(&mut Packet::new_unchecked(&mut emitted));
    let meant = octets.len() - packet.padding_len();
    assert!(header <= meant);
    assert_eq!(&emitted[..header], &octets[..header]);
});
