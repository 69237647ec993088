//! Scenario files: read, or refused in one line for each fault.

#![no_main]

use hopcast_sim::scenario::{Scenario, Source};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let source = Source { text: text.into(), name: "fuzz.toml".into(), ..Source::default() };
    if let Err(errors) = Scenario::parse(&source, &[]) {
        assert!(!errors.errors().is_empty());
        assert!(errors.errors().iter().all(|error| !error.to_string().contains('\n')));
    }
});
