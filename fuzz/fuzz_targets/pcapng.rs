//! Captures: any file is read to its end or to its first error.

#![no_main]

use hopcast_wire::pcapng::Reader;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|octets: &[u8]| {
    if let Ok(reader) = Reader::new(octets) {
        assert!(reader.take(octets.len() + 2).count() <= octets.len() + 1);
    }
});
