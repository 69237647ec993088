//! The options of a TCP header (RFC 9293, 3.2; RFC 2018; RFC 7323).

use super::{HEADER_LEN, LAYER};
use crate::ParseError;
use crate::bytes::{array, put};
use crate::code_point::code_points;

/// Room for options: a header has at most 15 words of 4 bytes (RFC 9293, 3.1).
const MAX_LEN: usize = 40;
/// The most SACK blocks that fit into 40 bytes (RFC 2018, 3).
const MAX_SACK_BLOCKS: usize = 4;

/// Length of a SACK block, in bytes (RFC 2018, 3).
const SACK_BLOCK_LEN: usize = 8;

code_points! {
    /// What an option is (IANA, "TCP Option Kind Numbers").
    OptionKind(u8) {
        /// Padding up to the end of the header.
        EndOfList = 0,
        /// Padding between options.
        NoOperation = 1,
        /// The largest segment that the sender wants to receive.
        MaxSegmentSize = 2,
        /// By how many bits windows are shifted (RFC 7323, 2).
        WindowScale = 3,
        /// Selective acknowledgements are understood (RFC 2018, 2).
        SackPermitted = 4,
        /// Selective acknowledgement (RFC 2018, 3).
        Sack = 5,
        /// Timestamps (RFC 7323, 3).
        Timestamps = 8,
    }
}

/// Bytes that arrived out of order (RFC 2018, 3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SackBlock {
    /// Number of the first byte.
    pub left: u32,
    /// Number of the byte after the last.
    pub right: u32,
}

/// Up to four blocks, the one that changed last first (RFC 2018, 4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SackBlocks {
    blocks: [SackBlock; MAX_SACK_BLOCKS],
    count: u8,
}

impl SackBlocks {
    /// No block, and so no option.
    pub const NONE: Self = Self { blocks: [SackBlock { left: 0, right: 0 }; MAX_SACK_BLOCKS], count: 0 };

    /// Adds a block after the others; returns `false` if there are four already.
    pub fn push(&mut self, block: SackBlock) -> bool {
        let count = usize::from(self.count);
        if count == MAX_SACK_BLOCKS {
            return false;
        }
        self.blocks[count] = block;
        self.count += 1;
        true
    }

    /// The blocks.
    pub fn as_slice(&self) -> &[SackBlock] {
        &self.blocks[..usize::from(self.count)]
    }
}

/// A timestamp and the echo of the other side's (RFC 7323, 3.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Timestamps {
    /// TSval: the sender's clock.
    pub value: u32,
    /// TSecr: the clock of the other side, as it sent it.
    pub echo: u32,
}

/// Unparsed options of other kinds: kind, length, value, one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnknownOptions {
    octets: [u8; MAX_LEN],
    length: u8,
}

impl UnknownOptions {
    /// No other option.
    pub const NONE: Self = Self { octets: [0; MAX_LEN], length: 0 };

    /// Adds an option; returns `false` if there is no room for it.
    pub fn push(&mut self, kind: u8, value: &[u8]) -> bool {
        let start = usize::from(self.length);
        let end = start + 2 + value.len();
        if end > MAX_LEN {
            return false;
        }
        self.octets[start] = kind;
        self.octets[start + 1] = (end - start) as u8;
        self.octets[start + 2..end].copy_from_slice(value);
        self.length = end as u8;
        true
    }

    /// The bytes of these options.
    pub fn as_slice(&self) -> &[u8] {
        &self.octets[..usize::from(self.length)]
    }
}

impl Default for UnknownOptions {
    fn default() -> Self {
        Self::NONE
    }
}

/// The options of a TCP header.
///
/// A header has room for 40 bytes of options. Of more than that, SACK blocks are sent from the first as many as fit, as
/// RFC 2018, 3 foresees, and the unknown ones only if all of them fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Options {
    /// The largest payload that the sender wants to receive, in bytes (RFC 9293, 3.7.1). In SYN segments.
    pub max_segment_size: Option<u16>,
    /// Number of bits by which to shift the sender's windows (RFC 7323, 2). In SYN segments.
    pub window_scale: Option<u8>,
    /// Whether the sender understands SACK (RFC 2018, 2). In SYN segments.
    pub sack_permitted: bool,
    /// Bytes that arrived out of order (RFC 2018, 3).
    pub sack_blocks: SackBlocks,
    /// Timestamp and echo (RFC 7323, 3).
    pub timestamps: Option<Timestamps>,
    /// Options of other kinds.
    pub unknown: UnknownOptions,
}

impl Options {
    /// No option.
    pub const NONE: Self = Self {
        max_segment_size: None,
        window_scale: None,
        sack_permitted: false,
        sack_blocks: SackBlocks::NONE,
        timestamps: None,
        unknown: UnknownOptions::NONE,
    };

    /// Parses a list of options. Of two of one kind the later one counts.
    pub(super) fn parse(options: RawOptions<'_>) -> Result<Self, ParseError> {
        let mut repr = Self::NONE;
        for option in options {
            let RawOption { kind, value, offset } = option?;
            let require = |right, field, expected| LAYER.require(right, field, offset + 1, value.len() + 2, expected);
            match kind {
                OptionKind::MaxSegmentSize => {
                    require(value.len() == 2, "length of maximum segment size", "4")?;
                    repr.max_segment_size = Some(u16::from_be_bytes(array(value, 0)));
                }
                OptionKind::WindowScale => {
                    require(value.len() == 1, "length of window scale", "3")?;
                    repr.window_scale = Some(value[0]);
                }
                OptionKind::SackPermitted => {
                    require(value.is_empty(), "length of SACK permitted", "2")?;
                    repr.sack_permitted = true;
                }
                OptionKind::Sack => {
                    let whole = !value.is_empty() && value.len().is_multiple_of(SACK_BLOCK_LEN);
                    require(whole, "length of SACK", "10, 18, 26 or 34")?;
                    repr.sack_blocks = SackBlocks::NONE;
                    for block in value.chunks_exact(SACK_BLOCK_LEN) {
                        let left = u32::from_be_bytes(array(block, 0));
                        let right = u32::from_be_bytes(array(block, 4));
                        // A header has no room for a fifth.
                        repr.sack_blocks.push(SackBlock { left, right });
                    }
                }
                OptionKind::Timestamps => {
                    require(value.len() == 8, "length of timestamps", "10")?;
                    let (sent, echo) = (u32::from_be_bytes(array(value, 0)), u32::from_be_bytes(array(value, 4)));
                    repr.timestamps = Some(Timestamps { value: sent, echo });
                }
                unknown => {
                    // They came in a header: all of them fit.
                    repr.unknown.push(unknown.into(), value);
                }
            }
        }
        Ok(repr)
    }

    /// Length of the options with their padding, in bytes: a multiple of 4, at most 40.
    pub(super) fn buffer_len(&self) -> usize {
        self.encode().length.next_multiple_of(4)
    }

    /// Writes the options and their padding, which fill `octets`.
    pub(super) fn emit(&self, octets: &mut [u8]) {
        let list = self.encode();
        let (options, padding) = octets.split_at_mut(list.length);
        options.copy_from_slice(&list.octets[..list.length]);
        padding.fill(OptionKind::EndOfList.into());
    }

    /// The list that loses the least of those that fit into a header.
    fn encode(&self) -> List {
        for unknown in [true, false] {
            for blocks in (0..=self.sack_blocks.as_slice().len()).rev() {
                for aligned in [true, false] {
                    let list = self.encode_as(unknown, blocks, aligned);
                    if list.length <= MAX_LEN {
                        return list;
                    }
                }
            }
        }
        unreachable!("the options of fixed length take 19 octets together")
    }

    /// The list with or without the unknown options, with the first `blocks` SACK blocks, and with or without padding that
    /// puts the numbers of an option at multiples of 4. Order and padding are those of Linux.
    fn encode_as(&self, unknown: bool, blocks: usize, aligned: bool) -> List {
        let mut list = List { octets: [0; LIST_LEN], length: 0, aligned };
        if let Some(size) = self.max_segment_size {
            list.push(0, OptionKind::MaxSegmentSize, &[&size.to_be_bytes()]);
        }
        if self.sack_permitted {
            // With timestamps behind it, no padding is needed before either.
            list.push(if self.timestamps.is_some() { 0 } else { 2 }, OptionKind::SackPermitted, &[]);
        }
        if let Some(Timestamps { value, echo }) = self.timestamps {
            let padding = if self.sack_permitted { 0 } else { 2 };
            list.push(padding, OptionKind::Timestamps, &[&value.to_be_bytes(), &echo.to_be_bytes()]);
        }
        if let Some(scale) = self.window_scale {
            list.push(1, OptionKind::WindowScale, &[&[scale]]);
        }
        if blocks > 0 {
            let mut edges = [0; MAX_SACK_BLOCKS * SACK_BLOCK_LEN];
            for (block, octets) in
                self.sack_blocks.as_slice()[..blocks].iter().zip(edges.chunks_exact_mut(SACK_BLOCK_LEN))
            {
                put(octets, 0, block.left.to_be_bytes());
                put(octets, 4, block.right.to_be_bytes());
            }
            list.push(2, OptionKind::Sack, &[&edges[..blocks * SACK_BLOCK_LEN]]);
        }
        if unknown {
            list.extend(self.unknown.as_slice());
        }
        list
    }
}

/// Room for every option at once, padding included: 4 + 2 + 12 + 4 + 36 + 40 bytes are needed.
const LIST_LEN: usize = 100;

/// Options on their way to the wire; perhaps more than fit into a header.
struct List {
    octets: [u8; LIST_LEN],
    length: usize,
    aligned: bool,
}

impl List {
    fn push(&mut self, padding: usize, kind: OptionKind, value: &[&[u8]]) {
        if self.aligned {
            self.extend(&[OptionKind::NoOperation.into(); 2][..padding]);
        }
        let length: usize = value.iter().map(|part| part.len()).sum();
        self.extend(&[kind.into(), length as u8 + 2]);
        for part in value {
            self.extend(part);
        }
    }

    fn extend(&mut self, octets: &[u8]) {
        let end = self.length + octets.len();
        self.octets[self.length..end].copy_from_slice(octets);
        self.length = end;
    }
}

/// One unparsed option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RawOption<'a> {
    /// Kind.
    pub kind: OptionKind,
    /// Bytes after kind and length.
    pub value: &'a [u8],
    /// Where the option begins, in bytes from the start of the TCP header.
    pub offset: usize,
}

/// The options of a header one by one, padding left out. Ends with the list, or with the first error.
#[derive(Debug, Clone)]
pub struct RawOptions<'a> {
    octets: &'a [u8],
    at: usize,
}

impl<'a> RawOptions<'a> {
    pub(super) fn new(octets: &'a [u8]) -> Self {
        Self { octets, at: 0 }
    }

    fn option(&mut self, kind: OptionKind) -> Result<RawOption<'a>, ParseError> {
        let (start, rest) = (self.at, &self.octets[self.at..]);
        self.at = self.octets.len();
        let offset = HEADER_LEN + start;
        LAYER.require(rest.len() >= 2, "option kind", offset, u8::from(kind), "followed by a length")?;
        let length = usize::from(rest[1]);
        // RFC 9293, 3.1, MUST-7: illegal lengths, zero among them, do occur.
        LAYER.require(length >= 2, "option length", offset + 1, length, "at least 2")?;
        LAYER.require(
            length <= rest.len(),
            "option length",
            offset + 1,
            length,
            "at most what is left of the header",
        )?;
        self.at = start + length;
        Ok(RawOption { kind, value: &rest[2..length], offset })
    }
}

impl<'a> Iterator for RawOptions<'a> {
    type Item = Result<RawOption<'a>, ParseError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match OptionKind::from(*self.octets.get(self.at)?) {
                OptionKind::EndOfList => return None,
                OptionKind::NoOperation => self.at += 1,
                kind => return Some(self.option(kind)),
            }
        }
    }
}
