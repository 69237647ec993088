//! The options that the machine understands, in the room that they have in a header.

use core::fmt;

use hopcast_wire::tcp::{self, SackBlock, SackBlocks, Timestamps};

/// Words of 32 bits for timestamps and SACK blocks: two and three times two, or four times two.
const WORDS: usize = 8;

/// The options of one segment: maximum segment size (RFC 9293, section 3.7.1), window scale and timestamps (RFC 7323), and
/// selective acknowledgements (RFC 2018).
///
/// A header has room for 40 bytes of options, so that these exclude each other: a SYN names no blocks, and together with
/// timestamps there are at most three. The value is small because a simulation copies it at each hop.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Options {
    /// Which are there, as bits.
    kinds: u8,
    /// SACK blocks.
    blocks: u8,
    /// Halves of words, so that nothing is lost to alignment: timestamps if there are any, then the blocks, or what a SYN
    /// says.
    words: [[u16; 2]; WORDS],
}

const TIMESTAMPS: u8 = 1;
const MSS: u8 = 2;
const WINDOW_SCALE: u8 = 4;
const SACK_PERMITTED: u8 = 8;
/// Where the words behind the timestamps begin.
const BEHIND_TIMESTAMPS: usize = 2;

impl Options {
    /// No option.
    pub const NONE: Self = Self { kinds: 0, blocks: 0, words: [[0; 2]; WORDS] };

    /// Timestamps or nothing; what else there is follows.
    pub fn new(timestamps: Option<Timestamps>) -> Self {
        let mut options = Self::NONE;
        if let Some(Timestamps { value, echo }) = timestamps {
            options.kinds = TIMESTAMPS;
            options.words[0] = split(value);
            options.words[1] = split(echo);
        }
        options
    }

    /// The same with a maximum segment size in bytes, for a SYN.
    #[must_use]
    pub fn with_mss(mut self, mss: u16) -> Self {
        self.drop_blocks();
        self.kinds |= MSS;
        self.words[BEHIND_TIMESTAMPS][0] = mss;
        self
    }

    /// The same with a window scale, for a SYN.
    #[must_use]
    pub fn with_window_scale(mut self, shift: u8) -> Self {
        self.drop_blocks();
        self.kinds |= WINDOW_SCALE;
        self.words[BEHIND_TIMESTAMPS][1] = shift.into();
        self
    }

    /// The same with the word that SACK is understood, for a SYN.
    #[must_use]
    pub fn with_sack_permitted(mut self) -> Self {
        self.drop_blocks();
        self.kinds |= SACK_PERMITTED;
        self
    }

    /// The same with one more SACK block behind the others, if there is room for it and this is no SYN's.
    pub(crate) fn with_block(mut self, block: SackBlock) -> Self {
        let at = self.first_block() + 2 * usize::from(self.blocks);
        if at < WORDS && self.kinds & !TIMESTAMPS == 0 {
            self.words[at] = split(block.left);
            self.words[at + 1] = split(block.right);
            self.blocks += 1;
        }
        self
    }

    /// Maximum segment size in bytes.
    pub fn mss(&self) -> Option<u16> {
        self.has(MSS).then_some(self.words[BEHIND_TIMESTAMPS][0])
    }

    /// Window scale.
    pub fn window_scale(&self) -> Option<u8> {
        // It was made of eight bits.
        self.has(WINDOW_SCALE).then_some(self.words[BEHIND_TIMESTAMPS][1] as u8)
    }

    /// Whether the sender understands SACK.
    pub fn is_sack_permitted(&self) -> bool {
        self.has(SACK_PERMITTED)
    }

    /// Timestamp and echo.
    pub fn timestamps(&self) -> Option<Timestamps> {
        self.has(TIMESTAMPS).then(|| Timestamps { value: join(self.words[0]), echo: join(self.words[1]) })
    }

    /// SACK blocks, the one that changed last first.
    pub fn sack_blocks(&self) -> impl Iterator<Item = SackBlock> + '_ {
        let words = &self.words[self.first_block()..];
        let block = |pair: &[[u16; 2]]| SackBlock { left: join(pair[0]), right: join(pair[1]) };
        words.chunks_exact(2).take(self.blocks.into()).map(block)
    }

    /// Bytes in a header, padded as [`hopcast_wire::tcp`] pads them.
    pub(crate) fn octets(&self) -> u32 {
        let in_pairs = match (self.has(SACK_PERMITTED), self.has(TIMESTAMPS)) {
            // They share the padding.
            (_, true) => 12,
            (true, false) => 4,
            (false, false) => 0,
        };
        let blocks = u32::from(self.blocks);
        let sack = if blocks > 0 { 4 + 8 * blocks } else { 0 };
        in_pairs + 4 * u32::from(self.has(MSS)) + 4 * u32::from(self.has(WINDOW_SCALE)) + sack
    }

    fn has(&self, kind: u8) -> bool {
        self.kinds & kind != 0
    }

    fn first_block(&self) -> usize {
        if self.has(TIMESTAMPS) { BEHIND_TIMESTAMPS } else { 0 }
    }

    fn drop_blocks(&mut self) {
        if self.blocks > 0 {
            let first = self.first_block();
            self.words[first..].fill([0; 2]);
            self.blocks = 0;
        }
    }
}

fn split(number: u32) -> [u16; 2] {
    [(number >> 16) as u16, number as u16]
}

fn join([high, low]: [u16; 2]) -> u32 {
    u32::from(high) << 16 | u32::from(low)
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut list = f.debug_list();
        self.mss().iter().for_each(|mss| _ = list.entry(&format_args!("mss {mss}")));
        self.window_scale().iter().for_each(|shift| _ = list.entry(&format_args!("scale {shift}")));
        if self.is_sack_permitted() {
            list.entry(&format_args!("sack permitted"));
        }
        if let Some(Timestamps { value, echo }) = self.timestamps() {
            list.entry(&format_args!("timestamps {value} {echo}"));
        }
        self.sack_blocks().for_each(|block| _ = list.entry(&format_args!("sack {}-{}", block.left, block.right)));
        list.finish()
    }
}

impl From<&tcp::Options> for Options {
    /// What the machine understands of a header's options.
    fn from(options: &tcp::Options) -> Self {
        let mut own = Self::new(options.timestamps);
        if let Some(mss) = options.max_segment_size {
            own = own.with_mss(mss);
        }
        if let Some(shift) = options.window_scale {
            own = own.with_window_scale(shift);
        }
        if options.sack_permitted {
            own = own.with_sack_permitted();
        }
        options.sack_blocks.as_slice().iter().fold(own, |own, &block| own.with_block(block))
    }
}

impl From<&Options> for tcp::Options {
    fn from(options: &Options) -> Self {
        let mut sack_blocks = SackBlocks::NONE;
        for block in options.sack_blocks() {
            sack_blocks.push(block);
        }
        Self {
            max_segment_size: options.mss(),
            window_scale: options.window_scale(),
            sack_permitted: options.is_sack_permitted(),
            sack_blocks,
            timestamps: options.timestamps(),
            ..Self::NONE
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn blocks(options: &Options) -> Vec<(u32, u32)> {
        options.sack_blocks().map(|block| (block.left, block.right)).collect()
    }

    #[test]
    fn rfc_2018_section_3_four_blocks_or_three_beside_timestamps() {
        let block = |n| SackBlock { left: 0xffff_0000 + n, right: n };
        let five = |options: Options| (1..=5).map(block).fold(options, Options::with_block);
        assert_eq!(blocks(&five(Options::NONE)).len(), 4);
        let stamped = five(Options::new(Some(Timestamps { value: 7, echo: 9 })));
        assert_eq!(blocks(&stamped), [(0xffff_0001, 1), (0xffff_0002, 2), (0xffff_0003, 3)]);
        assert_eq!(stamped.timestamps(), Some(Timestamps { value: 7, echo: 9 }));
        // A SYN names none.
        assert_eq!(blocks(&five(Options::NONE.with_mss(1460))), []);
        assert_eq!(five(Options::NONE).with_mss(1460), Options::NONE.with_mss(1460));
    }

    proptest! {
        #[test]
        fn what_a_header_says_survives_and_has_the_length_that_it_has_on_the_wire(
            timestamps in prop::option::of((any::<u32>(), any::<u32>())),
            syn in any::<bool>(),
            mss in any::<Option<u16>>(),
            scale in any::<Option<u8>>(),
            permitted in any::<bool>(),
            edges in prop::collection::vec((any::<u32>(), any::<u32>()), 0..5),
        ) {
            let mut header = tcp::Options {
                timestamps: timestamps.map(|(value, echo)| Timestamps { value, echo }),
                ..tcp::Options::NONE
            };
            if syn {
                header = tcp::Options {
                    max_segment_size: mss,
                    window_scale: scale,
                    sack_permitted: permitted,
                    ..header
                };
            } else {
                let room = if timestamps.is_some() { 3 } else { 4 };
                for &(left, right) in edges.iter().take(room) {
                    header.sack_blocks.push(SackBlock { left, right });
                }
            }
            let own = Options::from(&header);
            prop_assert_eq!(tcp::Options::from(&own), header);
            let repr = tcp::Repr {
                source_port: 0,
                destination_port: 0,
                sequence: 0,
                acknowledgement: 0,
                flags: tcp::Flags::default(),
                window: 0,
                urgent: 0,
                options: header,
                payload_len: 0,
            };
            prop_assert_eq!(own.octets() as usize, repr.buffer_len() - 20);
        }
    }
}
