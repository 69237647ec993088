//! Transport-wide feedback, as WebRTC has it (draft-holmer-rmcat-transport-wide-cc-extensions-01): which packets arrived, and when,
//! by numbers that all streams of a transport share.

use super::{FEEDBACK, LAYER, PADDING, VERSION, set_header, whole};
use crate::ParseError;
use crate::bytes::{array, put};

/// The feedback message type (section 3.1 of the draft).
const FORMAT: u8 = 15;
/// Bytes before the chunks.
const HEADER_LEN: usize = 20;
/// The most packets of a run, and of the two kinds of vectors.
const RUN: usize = 0x1fff;
const ONE_BIT: usize = 14;
const TWO_BITS: usize = 7;

/// A feedback packet.
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +---+-+---------+---------------+-------------------------------+
/// |V=2|P| FMT=15  |   PT = 205    |            Length             |
/// +---+-+---------+---------------+-------------------------------+
/// |                   SSRC of the packet's sender                 |
/// +---------------------------------------------------------------+
/// |                    SSRC of a source of media                  |
/// +-------------------------------+-------------------------------+
/// |         First number          |       Number of packets       |
/// +-------------------------------+---------------+---------------+
/// |             Reference time                    |     Count     |
/// +-------------------------------+---------------+---------------+
/// |             Chunk             |             Chunk             |
/// +-------------------------------+-------------------------------+
/// :           further chunks, then the deltas, then padding       :
/// +---------------------------------------------------------------+
/// ```
///
/// A chunk tells of several packets whether each did not arrive, arrived with a delta of one byte, or with one of two (section 3.1.1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Feedback {
    /// The synchronization source of who sends this.
    pub sender: u32,
    /// That of one of the streams.
    pub source: u32,
    /// The number of the first packet.
    pub base: u16,
    /// The time from which the first delta counts, in 64 ms: 24 bits with a sign.
    pub reference: i32,
    /// Grows by one with each feedback packet.
    pub count: u8,
    /// By consecutive numbers, at most 65535: the time since the arrival before this one in the list, in 250 µs; `None` where the packet
    /// has not arrived.
    pub packets: Vec<Option<i16>>,
}

/// What a chunk tells of one packet.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Symbol {
    Missing = 0,
    Small = 1,
    Large = 2,
}

impl Symbol {
    fn of(packet: Option<i16>) -> Self {
        match packet {
            None => Self::Missing,
            Some(0..=255) => Self::Small,
            Some(_) => Self::Large,
        }
    }
}

impl Feedback {
    /// Reads a packet.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub fn parse(octets: &[u8]) -> Result<Self, ParseError> {
        let octets = whole(octets, (FORMAT, "15"), (HEADER_LEN, "at least 20"))?;
        let count: usize = u16::from_be_bytes(array(octets, 14)).into();
        let (symbols, mut at) = symbols(octets, count)?;
        let mut packets = Vec::with_capacity(count);
        for symbol in symbols {
            let length = usize::from(symbol);
            let fits = symbol < 3 && at + length <= octets.len();
            LAYER.require(fits, "receive delta", at, octets.len() - at, "the octets that the chunks announce")?;
            packets.push(match length {
                0 => None,
                1 => Some(octets[at].into()),
                _ => Some(i16::from_be_bytes(array(octets, at))),
            });
            at += length;
        }
        let [high, middle, low] = array(octets, 16);
        Ok(Self {
            sender: u32::from_be_bytes(array(octets, 4)),
            source: u32::from_be_bytes(array(octets, 8)),
            base: u16::from_be_bytes(array(octets, 12)),
            reference: i32::from_be_bytes([high, middle, low, 0]) >> 8,
            count: octets[19],
            packets,
        })
    }

    fn chunks(&self) -> Vec<u16> {
        let symbols: Vec<Symbol> = self.packets.iter().map(|&packet| Symbol::of(packet)).collect();
        let mut rest = &symbols[..];
        let mut chunks = Vec::new();
        while let Some(&first) = rest.first() {
            let run = rest.iter().take(RUN).take_while(|&&symbol| symbol == first).count();
            let has_large = rest.iter().take(ONE_BIT).any(|&symbol| symbol == Symbol::Large);
            let (width, per_chunk) = if has_large { (2, TWO_BITS) } else { (1, ONE_BIT) };
            let told = if run >= per_chunk.min(rest.len()) {
                chunks.push((first as u16) << 13 | run as u16);
                run
            } else {
                let told = per_chunk.min(rest.len());
                let place = |place: usize| 14 - width * (place + 1);
                let vector = rest[..told].iter().enumerate().map(|(nth, &symbol)| (symbol as u16) << place(nth));
                chunks.push(0x8000 | (width as u16 - 1) << 14 | vector.fold(0, |all, one| all | one));
                told
            };
            rest = &rest[told..];
        }
        chunks
    }

    /// Bytes in use, without padding.
    fn len(&self, chunks: &[u16]) -> usize {
        let deltas = self.packets.iter().map(|&packet| Symbol::of(packet) as usize);
        HEADER_LEN + 2 * chunks.len() + deltas.sum::<usize>()
    }

    /// Length of the packet, in bytes.
    pub fn buffer_len(&self) -> usize {
        self.len(&self.chunks()).next_multiple_of(4)
    }

    /// Writes the packet at the beginning of `octets`. Panics if there is no room.
    pub fn emit(&self, octets: &mut [u8]) {
        let chunks = self.chunks();
        let used = self.len(&chunks);
        let length = used.next_multiple_of(4);
        let octets = &mut octets[..length];
        octets[used..].fill(0);
        let padding = length - used;
        set_header(octets, VERSION | if padding > 0 { PADDING } else { 0 } | FORMAT, FEEDBACK, length);
        put(octets, 4, self.sender.to_be_bytes());
        put(octets, 8, self.source.to_be_bytes());
        put(octets, 12, self.base.to_be_bytes());
        put(octets, 14, (self.packets.len() as u16).to_be_bytes());
        put(octets, 16, (self.reference << 8 | i32::from(self.count)).to_be_bytes());
        let mut at = HEADER_LEN;
        for chunk in chunks {
            put(octets, at, chunk.to_be_bytes());
            at += 2;
        }
        for delta in self.packets.iter().flatten() {
            match Symbol::of(Some(*delta)) {
                Symbol::Small => octets[at] = *delta as u8,
                _ => put(octets, at, delta.to_be_bytes()),
            }
            at += Symbol::of(Some(*delta)) as usize;
        }
        if padding > 0 {
            octets[length - 1] = padding as u8;
        }
    }
}

/// The symbols of `count` packets, and where the chunks end. A last vector may have more.
fn symbols(octets: &[u8], count: usize) -> Result<(Vec<u8>, usize), ParseError> {
    let mut symbols = Vec::with_capacity(count);
    let mut at = HEADER_LEN;
    while symbols.len() < count {
        LAYER.require(at + 2 <= octets.len(), "packet chunk", at, symbols.len(), "as many packets as are announced")?;
        let chunk = u16::from_be_bytes(array(octets, at));
        let vector = |width: usize| {
            (0..ONE_BIT / width).map(move |nth| (chunk >> (14 - width * (nth + 1)) & ((1 << width) - 1)) as u8)
        };
        match chunk >> 14 {
            0 | 1 => symbols.extend(core::iter::repeat_n((chunk >> 13) as u8, usize::from(chunk) & RUN)),
            2 => symbols.extend(vector(1)),
            _ => symbols.extend(vector(2)),
        }
        let has_packets = chunk >> 15 > 0 || usize::from(chunk) & RUN > 0;
        LAYER.require(has_packets, "run length", at, 0_u8, "at least 1")?;
        at += 2;
    }
    symbols.truncate(count);
    Ok((symbols, at))
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

    fn feedback(packets: Vec<Option<i16>>) -> Feedback {
        Feedback { sender: 0x0102_0304, source: 0x0506_0708, base: 0x090a, reference: -2, count: 7, packets }
    }

    #[test]
    fn section_3_1_octet_by_octet() {
        // A vector of two bits: small, missing, large, small.
        let octets = [
            0xaf, 205, 0, 6, 1, 2, 3, 4, 5, 6, 7, 8, // The header, with padding.
            9, 10, 0, 4, 0xff, 0xff, 0xfe, 7, // Numbers and times.
            0xd2, 0x40, 4, 0xff, 0xff, 255, 0, 2, // One chunk, three deltas, padding.
        ];
        let feedback = feedback(vec![Some(4), None, Some(-1), Some(255)]);
        assert_eq!(emit(&feedback), octets);
        assert_eq!(Feedback::parse(&octets), Ok(feedback));
    }

    #[test]
    fn chunks_are_short() {
        let chunks = |packets: &[Option<i16>]| feedback(packets.to_vec()).chunks();
        assert_eq!(chunks(&[Some(0); 100]), [0x2064]);
        assert_eq!(chunks(&[None; 9000]), [0x1fff, 809]);
        assert_eq!(chunks(&[Some(256); 3]), [0x4003]);
        // Missing and small ones take one bit each.
        let mixed: Vec<_> = (0..14).map(|nth| (nth % 2 == 0).then_some(1)).collect();
        assert_eq!(chunks(&mixed), [0x8000 | 0b10_1010_1010_1010]);
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let error = |octets: &[u8]| Feedback::parse(octets).unwrap_err().to_string();
        let mut octets = emit(&feedback(vec![Some(4), None, Some(-1), Some(255)]));
        octets[15] = 8;
        octets[22..24].fill(0);
        assert_eq!(error(&octets), "RTCP: run length at octet 22 is 0, should be at least 1");
        octets[15] = 4;
        octets[20] = 0xf2;
        assert_eq!(
            error(&octets),
            "RTCP: receive delta at octet 22 is 4, should be the octets that the chunks announce"
        );
        octets[27] = 9;
        assert_eq!(error(&octets), "RTCP: padding at octet 27 is 9, should be 1 to what is behind the header");
    }

    proptest! {
        #[test]
        fn survives_the_wire(
            (sender, source, base, count) in (any::<u32>(), any::<u32>(), any::<u16>(), any::<u8>()),
            reference in -0x80_0000..0x80_0000,
            packets in prop::collection::vec(prop::option::of(prop_oneof![0_i16..256, any::<i16>()]), 0..100),
        ) {
            let feedback = Feedback { sender, source, base, reference, count, packets };
            prop_assert_eq!(Feedback::parse(&emit(&feedback)), Ok(feedback));
        }

        #[test]
        fn arbitrary_octets_never_panic(mut octets in prop::collection::vec(any::<u8>(), 0..120), shaped in any::<bool>()) {
            if shaped && octets.len() >= HEADER_LEN {
                let length = octets.len() / 4 * 4;
                set_header(&mut octets, VERSION | FORMAT, FEEDBACK, length);
                octets[14] = 0;
            }
            if let Ok(feedback) = Feedback::parse(&octets) {
                prop_assert_eq!(Feedback::parse(&emit(&feedback)), Ok(feedback));
            }
        }
    }
}
