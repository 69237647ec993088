//! Originator and recipient of block acknowledgments under any operations: losses, stations that leave, forged action frames. No packet is
//! delivered twice or out of order, or lost without a cause.

#![no_main]

use hopcast_protocols::testkit::Choices;
use hopcast_radio::testkit::{Pair, any_config};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let mut choices = Choices::new(bytes);
    let is_negotiated = choices.pick(&[true, true, true, false]);
    let configs = [any_config(&mut choices, is_negotiated), any_config(&mut choices, is_negotiated)];
    // What must hold is checked after each operation.
    Pair::new([&configs[0], &configs[1]]).disorder(&mut choices);
});
