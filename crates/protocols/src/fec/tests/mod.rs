//! Encoder and decoder together.

mod by_hand;
mod hostile;
mod properties;

use super::{Adu, Code, Config, Counting, Decoder, Encoder, Output, Packet};
use crate::time::{Duration, Instant};

/// ADUs named by their number, of 100 bytes.
type Named = Counting<u32>;

fn named(number: u32) -> Adu<u32> {
    Adu { len: 100, content: number }
}

fn at(ms: u64) -> Instant {
    Instant::START + Duration::from_millis(ms)
}

fn config(source: u8, repair: u8) -> Config {
    Config { source, repair, block_timeout: Duration::from_millis(50), blocks: 4 }
}

fn packets<C: Code>(encoder: &mut Encoder<C>) -> Vec<Packet<C>> {
    std::iter::from_fn(|| encoder.poll_output()).collect()
}

fn outputs<C: Code>(decoder: &mut Decoder<C>) -> Vec<Output<C::Adu>> {
    std::iter::from_fn(|| decoder.poll_output()).collect()
}

/// The packets of `blocks` full blocks of ADUs 0, 1, ….
fn stream(config: &Config, blocks: u32) -> Vec<Packet<Named>> {
    let mut encoder = Encoder::new(config, Named::new());
    (0..blocks * u32::from(config.source)).for_each(|number| encoder.handle_adu(named(number), Instant::START));
    packets(&mut encoder)
}
