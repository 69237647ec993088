//! Bodies of management frames: what is understood survives.

#![no_main]

use hopcast_wire::ieee80211::management::Repr;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, &[u8])| {
    let (subtype, body) = input;
    if let Ok(repr) = Repr::parse((subtype & 0xf).into(), body) {
        let mut emitted = vec![0xee; repr.buffer_len()];
        repr.emit(&mut emitted);
        assert_eq!(Repr::parse(repr.subtype(), &emitted), Ok(repr));
    }
});
