//! Traces of motion, of ns-2 and of BonnMotion: each node of one is somewhere.

#![no_main]

use hopcast_protocols::time::{Duration, Instant};
use hopcast_sim::mobility::trace::parse;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(movements) = parse(text, "fuzz") {
        let later = Instant::START + Duration::from_secs(1000);
        let _ = (movements.len(), later);
    }
});
