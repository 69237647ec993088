//! Units of the probe in a datagram and in a stream: what is read is written so that it reads the same, and a stream is cut where it says.

#![no_main]

use hopcast_wire::probe::{MAX_LEN, MIN_LEN, Packet, Repr, unit_len};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|octets: &[u8]| {
    check(octets);
    let mut rest = octets;
    while let Ok(Some(length)) = unit_len(rest) {
        assert!((MIN_LEN..=MAX_LEN).contains(&length));
        let Some((unit, more)) = rest.split_at_checked(length) else { break };
        check(unit);
        assert!(Packet::new_checked(unit).is_ok(), "a unit of a stream is one of a datagram");
        rest = more;
    }
});

fn check(octets: &[u8]) {
    let Ok(packet) = Packet::new_checked(octets) else { return };
    let repr = Repr::parse(&packet);
    assert_eq!(repr.buffer_len(), octets.len());
    let mut emitted = octets.to_vec();
    repr.emit(&mut Packet::new_unchecked(&mut emitted[..]));
    let Ok(again) = Packet::new_checked(&emitted[..]) else { panic!("what was written is no unit") };
    assert_eq!((Repr::parse(&again), again.payload()), (repr, packet.payload()));
}
