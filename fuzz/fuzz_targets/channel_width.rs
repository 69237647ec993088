//! Stations with `bandwidth` in a channel of 80 MHz, in parts of which neighbours come and go, under any operations: what `block_ack`
//! says holds, and no frame is wider than the channel.

#![no_main]

use hopcast_protocols::testkit::Choices;
use hopcast_radio::phy::ChannelWidth;
use hopcast_radio::testkit::{Pair, any_wide_config};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let mut choices = Choices::new(bytes);
    let is_negotiated = choices.pick(&[true, true, true, false]);
    let configs = [any_wide_config(&mut choices, is_negotiated), any_wide_config(&mut choices, is_negotiated)];
    let mut pair = Pair::new([&configs[0], &configs[1]]);
    pair.disorder(&mut choices);
    assert!(pair.sent.iter().all(|sent| sent.frame.vector.width() <= ChannelWidth::Mhz80));
});
