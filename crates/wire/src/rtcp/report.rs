//! Sender and receiver reports (RFC 3550, 6.4), and the source's name that goes with each (6.5).

use super::{LAYER, PADDING, VERSION, set_header};
use crate::ParseError;
use crate::bytes::{array, put};

const SENDER: u8 = 200;
const RECEIVER: u8 = 201;
const DESCRIPTION: u8 = 202;
/// The item of a description that names a source.
const NAME: u8 = 1;
/// Length of the header with the source that reports, of what a sender tells of its media, and of a block, in bytes.
const HEADER_LEN: usize = 8;
const SENT_LEN: usize = 20;
const BLOCK_LEN: usize = 24;
/// Most blocks in a report.
const MAX_BLOCKS: usize = 31;

/// A report of a source: of the media that it sends, if any, and of what it receives.
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +---+-+---------+---------------+-------------------------------+
/// |V=2|P|   RC    | PT=200 or 201 |             Length            |
/// +---+-+---------+---------------+-------------------------------+
/// |                             Source                            |
/// +===============================================================+  sender reports only
/// |                         NTP timestamp,                        |
/// |                       seconds, fraction                       |
/// +---------------------------------------------------------------+
/// |                         RTP timestamp                         |
/// +---------------------------------------------------------------+
/// |                          Packets sent                         |
/// +---------------------------------------------------------------+
/// |                       Bytes of payload sent                   |
/// +===============================================================+  RC times
/// |                             Source                            |
/// +---------------+-----------------------------------------------+
/// | Fraction lost |            Packets lost, with a sign          |
/// +---------------+-----------------------------------------------+
/// |                 Greatest sequence number, extended            |
/// +---------------------------------------------------------------+
/// |                             Jitter                            |
/// +---------------------------------------------------------------+
/// |                   Last sender report (NTP, middle)            |
/// +---------------------------------------------------------------+
/// |                   Delay since it, in 1/65536 s                |
/// +---------------------------------------------------------------+
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The source that reports.
    pub source: u32,
    /// What it has sent; `None` in a receiver report.
    pub sent: Option<Sent>,
    /// What it has received, of 31 sources at most.
    pub blocks: Vec<Block>,
}

/// What a sender tells of its media.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    /// When the report left, in 2⁻³² s.
    pub ntp: u64,
    /// The same instant by the clock of the media.
    pub timestamp: u32,
    /// Packets since the start.
    pub packets: u32,
    /// Bytes of their payload, without headers and padding.
    pub octets: u32,
}

/// What arrived from one source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Block {
    /// The source.
    pub source: u32,
    /// Share of packets since the report before that did not arrive, in 1/256.
    pub fraction_lost: u8,
    /// Packets that did not arrive since the start, less those that came twice; of 24 bits.
    pub lost: i32,
    /// The greatest sequence number that came, with the number of its cycles before it.
    pub highest: u32,
    /// Interarrival jitter, in ticks of the media's clock.
    pub jitter: u32,
    /// The middle 32 bits of [`Sent::ntp`] of the source's last report; 0 without one.
    pub last_report: u32,
    /// Time since that came, in 1/65536 s.
    pub delay: u32,
}

impl Report {
    /// Reads a sender or receiver report. What follows its blocks, as profiles allow, is left out.
    ///
    /// # Errors
    ///
    /// What is wrong.
    pub fn parse(octets: &[u8]) -> Result<Self, ParseError> {
        LAYER.require(octets.len() >= HEADER_LEN, "length", 0, octets.len(), "at least 8")?;
        LAYER.require(octets[0] >> 6 == 2, "version", 0, octets[0] >> 6, "2")?;
        LAYER.require([SENDER, RECEIVER].contains(&octets[1]), "packet type", 1, octets[1], "200 or 201")?;
        let length = 4 * (usize::from(u16::from_be_bytes(array(octets, 2))) + 1);
        LAYER.require(length <= octets.len(), "length", 2, length, "at most what there is")?;
        let count = usize::from(octets[0] & 0x1f);
        let is_sender = octets[1] == SENDER;
        let begin = HEADER_LEN + if is_sender { SENT_LEN } else { 0 };
        let padding = if octets[0] & PADDING > 0 { usize::from(octets[length - 1]) } else { 0 };
        let least = begin + count * BLOCK_LEN + padding;
        LAYER.require(length >= least, "length", 2, length, "what its blocks take")?;
        let word = |at: usize| u32::from_be_bytes(array(octets, at));
        let sent = is_sender.then(|| Sent {
            ntp: u64::from_be_bytes(array(octets, 8)),
            timestamp: word(16),
            packets: word(20),
            octets: word(24),
        });
        let block = |nth: usize| {
            let at = begin + nth * BLOCK_LEN;
            Block {
                source: word(at),
                fraction_lost: octets[at + 4],
                // Its sign comes down with the shift.
                lost: (word(at + 4) << 8) as i32 >> 8,
                highest: word(at + 8),
                jitter: word(at + 12),
                last_report: word(at + 16),
                delay: word(at + 20),
            }
        };
        Ok(Self { source: word(4), sent, blocks: (0..count).map(block).collect() })
    }

    /// Bytes of a compound of the report and the name of its source.
    pub fn buffer_len(&self, name: &str) -> usize {
        self.report_len() + description_len(name)
    }

    fn report_len(&self) -> usize {
        let sent = if self.sent.is_some() { SENT_LEN } else { 0 };
        HEADER_LEN + sent + self.blocks.len().min(MAX_BLOCKS) * BLOCK_LEN
    }

    /// Writes a compound of the report and the canonical `name` of its source (RFC 3550, 6.1), of 255 bytes at most.
    ///
    /// # Panics
    ///
    /// If `octets` is not of [`buffer_len`](Self::buffer_len).
    pub fn emit(&self, name: &str, octets: &mut [u8]) {
        let (report, description) = octets.split_at_mut(self.report_len());
        let blocks = &self.blocks[..self.blocks.len().min(MAX_BLOCKS)];
        let kind = if self.sent.is_some() { SENDER } else { RECEIVER };
        set_header(report, VERSION | blocks.len() as u8, kind, report.len());
        put(report, 4, self.source.to_be_bytes());
        let mut at = HEADER_LEN;
        if let Some(sent) = &self.sent {
            put(report, at, sent.ntp.to_be_bytes());
            put(report, at + 8, sent.timestamp.to_be_bytes());
            put(report, at + 12, sent.packets.to_be_bytes());
            put(report, at + 16, sent.octets.to_be_bytes());
            at += SENT_LEN;
        }
        for block in blocks {
            put(report, at, block.source.to_be_bytes());
            put(report, at + 4, (block.lost as u32 & 0xff_ffff | u32::from(block.fraction_lost) << 24).to_be_bytes());
            put(report, at + 8, block.highest.to_be_bytes());
            put(report, at + 12, block.jitter.to_be_bytes());
            put(report, at + 16, block.last_report.to_be_bytes());
            put(report, at + 20, block.delay.to_be_bytes());
            at += BLOCK_LEN;
        }
        let name = named(name);
        description.fill(0);
        set_header(description, VERSION | 1, DESCRIPTION, description.len());
        put(description, 4, self.source.to_be_bytes());
        put(description, 8, [NAME, name.len() as u8]);
        description[10..10 + name.len()].copy_from_slice(name);
    }
}

/// What fits into an item.
fn named(name: &str) -> &[u8] {
    &name.as_bytes()[..name.len().min(255)]
}

/// Bytes of a description: an item ends with at least one zero, and a word.
fn description_len(name: &str) -> usize {
    (HEADER_LEN + 2 + named(name).len() + 1).next_multiple_of(4)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Each field of RFC 3550, section 6.4.1, at its place.
    #[test]
    fn section_6_4_1_octet_by_octet() {
        let sent = Sent { ntp: 0x0102_0304_0506_0708, timestamp: 0x1112_1314, packets: 3, octets: 0x0001_0203 };
        let block = Block {
            source: 0x2122_2324,
            fraction_lost: 64,
            lost: -2,
            highest: 0x0001_0005,
            jitter: 7,
            last_report: 0x0304_0506,
            delay: 0x0001_8000,
        };
        let report = Report { source: 0x3132_3334, sent: Some(sent), blocks: vec![block] };
        let mut octets = vec![0xff; report.buffer_len("me@host")];
        report.emit("me@host", &mut octets);
        #[rustfmt::skip]
        let wanted = [
            0x81, 200, 0, 12, 0x31, 0x32, 0x33, 0x34,
            1, 2, 3, 4, 5, 6, 7, 8, 0x11, 0x12, 0x13, 0x14, 0, 0, 0, 3, 0, 1, 2, 3,
            0x21, 0x22, 0x23, 0x24, 64, 0xff, 0xff, 0xfe, 0, 1, 0, 5, 0, 0, 0, 7, 3, 4, 5, 6, 0, 1, 0x80, 0,
            0x81, 202, 0, 4, 0x31, 0x32, 0x33, 0x34, 1, 7, b'm', b'e', b'@', b'h', b'o', b's', b't', 0, 0, 0,
        ];
        assert_eq!(octets, wanted);
        assert_eq!(Report::parse(&octets), Ok(report));
        assert_eq!(crate::rtcp::packets(&octets).count(), 2);
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let error = |octets: &[u8]| Report::parse(octets).unwrap_err().to_string();
        assert_eq!(error(&[0x80; 7]), "RTCP: length at octet 0 is 7, should be at least 8");
        assert_eq!(error(&[0; 8]), "RTCP: version at octet 0 is 0, should be 2");
        assert_eq!(error(&[0x80, 202, 0, 1, 0, 0, 0, 1]), "RTCP: packet type at octet 1 is 202, should be 200 or 201");
        assert_eq!(
            error(&[0x80, 201, 0, 2, 0, 0, 0, 1]),
            "RTCP: length at octet 2 is 12, should be at most what there is"
        );
        assert_eq!(
            error(&[0x81, 201, 0, 1, 0, 0, 0, 1]),
            "RTCP: length at octet 2 is 8, should be what its blocks take"
        );
        assert_eq!(
            error(&[0x80, 200, 0, 1, 0, 0, 0, 1]),
            "RTCP: length at octet 2 is 8, should be what its blocks take"
        );
        // More padding than there is behind the header.
        assert_eq!(
            error(&[0xa0, 201, 0, 1, 0, 0, 0, 1]),
            "RTCP: length at octet 2 is 8, should be what its blocks take"
        );
    }

    proptest! {
        #[test]
        fn reports_survive_the_wire(
            source: u32,
            sent in prop::option::of((any::<u64>(), any::<u32>(), any::<u32>(), any::<u32>())),
            blocks in prop::collection::vec(
                ((any::<u32>(), any::<u8>(), -0x80_0000..0x80_0000_i32), (any::<u32>(), any::<u32>(), any::<u32>(), any::<u32>())), 0..32,
            ),
            name in "[a-z@.]{0,300}",
        ) {
            let sent = sent.map(|(ntp, timestamp, packets, octets)| Sent { ntp, timestamp, packets, octets });
            let block = |((source, fraction_lost, lost), (highest, jitter, last_report, delay))| {
                Block { source, fraction_lost, lost, highest, jitter, last_report, delay }
            };
            let report = Report { source, sent, blocks: blocks.into_iter().map(block).collect() };
            let mut octets = vec![0; report.buffer_len(&name)];
            report.emit(&name, &mut octets);
            prop_assert_eq!(octets.len() % 4, 0);
            prop_assert_eq!(crate::rtcp::packets(&octets).map(<[u8]>::len).sum::<usize>(), octets.len());
            prop_assert_eq!(Report::parse(&octets), Ok(report));
        }

        #[test]
        fn arbitrary_octets_never_panic(octets in prop::collection::vec(any::<u8>(), 0..80)) {
            let _ = Report::parse(&octets);
        }
    }
}
