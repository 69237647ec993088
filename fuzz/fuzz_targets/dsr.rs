//! Headers of DSR: what is understood becomes the same again.

#![no_main]

use hopcast_wire::dsr::{DsrOption, Packet, Repr};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|octets: &[u8]| {
    let Some(options) = parse(octets) else { return };
    let next_header = Packet::new_unchecked(octets).next_header();
    let repr = Repr { next_header, options: &options };
    let mut emitted = vec![0xee; repr.buffer_len()];
    repr.emit(&mut Packet::new_unchecked(&mut emitted));
    assert_eq!(parse(&emitted), Some(options));
});

fn parse(octets: &[u8]) -> Option<Vec<DsrOption<'_>>> {
    Packet::new_checked(octets).ok()?.options().collect::<Result<_, _>>().ok()
}
