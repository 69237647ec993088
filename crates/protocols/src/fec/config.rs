//! What a user sets.

use hopcast_wire::fec::MAX_SYMBOLS;

use crate::time::Duration;

/// Parameters of an encoder and of its decoder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// k: ADUs in a block, 1 to 255.
    pub source: u8,
    /// r: repair packets of a full block, at most 255 − k.
    pub repair: u8,
    /// From the first ADU of a block to the repair packets at the latest, so that a slow stream is not left without.
    pub block_timeout: Duration,
    /// Blocks that a decoder remembers, at least 1. It holds at most 255 symbols of each.
    pub blocks: usize,
}

impl Default for Config {
    /// One repair packet for five ADUs, blocks of 20, cut after 200 ms, and 16 blocks remembered. The documents leave all four
    /// to the application; these are a choice for interactive media: with 200 ms, a recovered packet is still of use to a
    /// call (ITU-T G.114 bounds the delay of one by 400 ms).
    fn default() -> Self {
        Self { source: 20, repair: 4, block_timeout: Duration::from_millis(200), blocks: 16 }
    }
}

impl Config {
    /// The same with every value in its range.
    pub(super) fn clamped(&self) -> Self {
        let source = self.source.max(1);
        // MAX_SYMBOLS is 255.
        let repair = self.repair.min(MAX_SYMBOLS as u8 - source);
        Self { source, repair, blocks: self.blocks.max(1), ..self.clone() }
    }

    /// Repair symbols of a block with `source` ADUs: in proportion, rounded up.
    pub(super) fn repair_of(&self, source: u8) -> u8 {
        let exact = u16::from(self.repair) * u16::from(source);
        // Not above `repair`, since `source` is not above `self.source`.
        exact.div_ceil(self.source.into()) as u8
    }
}
