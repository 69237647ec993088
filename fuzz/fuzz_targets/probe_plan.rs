//! Plans of `hopcast probe`: read, or refused in one line that names the file.

#![no_main]

use hopcast_live::testkit::probe_plan;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    match probe_plan(text) {
        Ok(runs) => assert!(runs > 0),
        Err(error) => assert!(error.starts_with("fuzz.toml:") && !error.contains('\n'), "{error}"),
    }
});
