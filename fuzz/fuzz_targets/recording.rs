//! Recordings of `hopcast emulate`: read, or refused with a sentence.

#![no_main]

use hopcast_live::testkit::recording;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    match recording(text) {
        Ok(frames) => assert_eq!(frames + 2, text.lines().count()),
        Err(error) => assert!(!error.is_empty()),
    }
});
