//! Congestion control feedback: which packets of RTP arrived, when, and with which ECN field (RFC 8888).

use super::{FEEDBACK, LAYER, VERSION, set_header, whole};
use crate::ParseError;
use crate::bytes::{array, put};
use crate::ecn::Ecn;

/// The feedback message type (RFC 8888, section 6).
const FORMAT: u8 = 11;
/// The most packets of a block (RFC 8888, section 3.1).
pub const MAX_REPORTS: usize = 16_384;
/// Bytes before the blocks, of a block before its reports, and of the timestamp.
const HEADER_LEN: usize = 8;
const BLOCK_LEN: usize = 8;
const TIMESTAMP_LEN: usize = 4;

const RECEIVED: u16 = 0x8000;
const TOO_OLD: u16 = 0x1ffe;
const UNKNOWN: u16 = 0x1fff;

/// A feedback packet.
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +---+-+---------+---------------+-------------------------------+
/// |V=2|P| FMT=11  |   PT = 205    |            Length             |
/// +---+-+---------+---------------+-------------------------------+
/// |                    SSRC of the packet's sender                |
/// +---------------------------------------------------------------+
/// |                    SSRC of a source of media                  |
/// +-------------------------------+-------------------------------+
/// |   First sequence number       |      Number of reports        |
/// +-+---+-------------------------+-+---+-------------------------+
/// |R|ECN| Arrival time offset     |R|ECN| Arrival time offset     |
/// +-+---+-------------------------+-+---+-------------------------+
/// :                      further reports and sources              :
/// +---------------------------------------------------------------+
/// |                        Report timestamp                       |
/// +---------------------------------------------------------------+
/// ```
///
/// RFC 8888, section 3.1. An odd number of reports has zeros behind it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Feedback {
    /// The synchronization source of who sends this.
    pub sender: u32,
    /// One for each source of media.
    pub blocks: Vec<Block>,
    /// When this was made: the middle 32 bits of an NTP timestamp, in 1/65536 s.
    pub timestamp: u32,
}

/// Consecutive packets of one source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// The synchronization source of the media.
    pub source: u32,
    /// The sequence number of the first packet.
    pub begin: u16,
    /// One for each packet, at most [`MAX_REPORTS`]; `None` where it has not arrived.
    pub reports: Vec<Option<Report>>,
}

/// A packet that arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Report {
    /// Its ECN field.
    pub ecn: Ecn,
    /// When.
    pub offset: Offset,
}

/// The time of an arrival.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Offset {
    /// This time before the timestamp, in 1/1024 s; at most 0x1ffd.
    Before(u16),
    /// More than 0x1ffd before it.
    TooOld,
    /// Not known.
    Unknown,
}

impl Feedback {
    /// Reads a packet.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub fn parse(octets: &[u8]) -> Result<Self, ParseError> {
        let octets = whole(octets, (FORMAT, "11"), (HEADER_LEN + TIMESTAMP_LEN, "at least 12"))?;
        let end = octets.len() - TIMESTAMP_LEN;
        let mut blocks = Vec::new();
        let mut at = HEADER_LEN;
        while at < end {
            LAYER.require(at + BLOCK_LEN <= end, "report block", at, end - at, "at least 8 octets")?;
            let count: usize = u16::from_be_bytes(array(octets, at + 6)).into();
            let next = at + BLOCK_LEN + 2 * count.next_multiple_of(2);
            let fits = count <= MAX_REPORTS && next <= end;
            LAYER.require(fits, "number of reports", at + 6, count, "at most 16384, and what the packet holds")?;
            let report = |place: usize| Report::read(u16::from_be_bytes(array(octets, at + BLOCK_LEN + 2 * place)));
            blocks.push(Block {
                source: u32::from_be_bytes(array(octets, at)),
                begin: u16::from_be_bytes(array(octets, at + 4)),
                reports: (0..count).map(report).collect(),
            });
            at = next;
        }
        Ok(Self {
            sender: u32::from_be_bytes(array(octets, 4)),
            blocks,
            timestamp: u32::from_be_bytes(array(octets, end)),
        })
    }

    /// Length of the packet, in bytes.
    pub fn buffer_len(&self) -> usize {
        let block = |block: &Block| BLOCK_LEN + 2 * block.reports.len().next_multiple_of(2);
        HEADER_LEN + self.blocks.iter().map(block).sum::<usize>() + TIMESTAMP_LEN
    }

    /// Writes the packet at the beginning of `octets`. Panics if there is no room.
    pub fn emit(&self, octets: &mut [u8]) {
        let end = self.buffer_len() - TIMESTAMP_LEN;
        octets[..end].fill(0);
        set_header(octets, VERSION | FORMAT, FEEDBACK, end + TIMESTAMP_LEN);
        put(octets, 4, self.sender.to_be_bytes());
        let mut at = HEADER_LEN;
        for block in &self.blocks {
            put(octets, at, block.source.to_be_bytes());
            put(octets, at + 4, block.begin.to_be_bytes());
            put(octets, at + 6, (block.reports.len() as u16).to_be_bytes());
            at += BLOCK_LEN;
            for (place, report) in block.reports.iter().enumerate() {
                put(octets, at + 2 * place, report.map_or(0, Report::word).to_be_bytes());
            }
            at += 2 * block.reports.len().next_multiple_of(2);
        }
        put(octets, end, self.timestamp.to_be_bytes());
    }
}

impl Report {
    fn read(word: u16) -> Option<Self> {
        let offset = match word & 0x1fff {
            TOO_OLD => Offset::TooOld,
            UNKNOWN => Offset::Unknown,
            offset => Offset::Before(offset),
        };
        (word & RECEIVED > 0).then(|| Self { ecn: Ecn::of((word >> 13 & 3) as u8), offset })
    }

    fn word(self) -> u16 {
        let offset = match self.offset {
            Offset::Before(offset) => offset.min(TOO_OLD - 1),
            Offset::TooOld => TOO_OLD,
            Offset::Unknown => UNKNOWN,
        };
        RECEIVED | u16::from(self.ecn as u8) << 13 | offset
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn emit(feedback: &Feedback) -> Vec<u8> {
        let mut octets = vec![0xee; feedback.buffer_len()];
        feedback.emit(&mut octets);
        octets
    }

    #[test]
    fn section_3_1_octet_by_octet() {
        let ce = Report { ecn: Ecn::Ce, offset: Offset::Before(0x0123) };
        let unknown = Report { ecn: Ecn::Ect1, offset: Offset::Unknown };
        let block = Block { source: 0x0506_0708, begin: 0xfffe, reports: vec![Some(ce), None, Some(unknown)] };
        let feedback = Feedback { sender: 0x0102_0304, blocks: vec![block], timestamp: 0x1112_1314 };
        let octets = [
            0x8b, 205, 0, 6, 1, 2, 3, 4, // Seven words.
            5, 6, 7, 8, 0xff, 0xfe, 0, 3, // The block.
            0xe1, 0x23, 0, 0, 0xbf, 0xff, 0, 0, // Its reports, and two octets more.
            0x11, 0x12, 0x13, 0x14,
        ];
        assert_eq!(emit(&feedback), octets);
        assert_eq!(Feedback::parse(&octets), Ok(feedback));
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let error = |octets: &[u8]| Feedback::parse(octets).unwrap_err().to_string();
        let mut octets = [0x8b, 205, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0];
        assert!(Feedback::parse(&octets).is_ok());
        assert_eq!(error(&octets[..23]), "RTCP: length at octet 2 is 24, should be at most what there is");
        octets[15] = 3;
        let expected = "should be at most 16384, and what the packet holds";
        assert_eq!(error(&octets), format!("RTCP: number of reports at octet 14 is 3, {expected}"));
        octets[0] = 0x8f;
        assert_eq!(error(&octets), "RTCP: feedback message type at octet 0 is 15, should be 11");
        octets[..4].copy_from_slice(&[0x8b, 205, 0, 3]);
        assert_eq!(error(&octets), "RTCP: report block at octet 8 is 4, should be at least 8 octets");
        octets[..4].copy_from_slice(&[0x8b, 205, 0, 1]);
        assert_eq!(error(&octets), "RTCP: length at octet 2 is 8, should be at least 12");
    }

    fn offset() -> impl Strategy<Value = Offset> {
        prop_oneof![(0_u16..TOO_OLD).prop_map(Offset::Before), Just(Offset::TooOld), Just(Offset::Unknown)]
    }

    fn report() -> impl Strategy<Value = Option<Report>> {
        prop::option::of((0_u8..4, offset()).prop_map(|(ecn, offset)| Report { ecn: Ecn::of(ecn), offset }))
    }

    proptest! {
        #[test]
        fn survives_the_wire(
            (sender, timestamp) in (any::<u32>(), any::<u32>()),
            blocks in prop::collection::vec((any::<u32>(), any::<u16>(), prop::collection::vec(report(), 0..40)), 0..4),
        ) {
            let blocks = blocks.into_iter().map(|(source, begin, reports)| Block { source, begin, reports }).collect();
            let feedback = Feedback { sender, blocks, timestamp };
            prop_assert_eq!(Feedback::parse(&emit(&feedback)), Ok(feedback));
        }

        #[test]
        fn arbitrary_octets_never_panic(mut octets in prop::collection::vec(any::<u8>(), 0..120), shaped in any::<bool>()) {
            if shaped && octets.len() >= 4 {
                let words = (octets.len() / 4 - 1) as u16;
                set_header(&mut octets, VERSION | FORMAT, FEEDBACK, 4 * usize::from(words + 1));
            }
            if let Ok(feedback) = Feedback::parse(&octets) {
                prop_assert_eq!(Feedback::parse(&emit(&feedback)), Ok(feedback));
            }
        }
    }
}
