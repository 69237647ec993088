//! The real-time transport protocol (RFC 3550), as used over DCCP (RFC 5762).

pub mod extension;

use crate::ParseError;
use crate::bytes::{array, put};
use crate::error::Layer;

const LAYER: Layer = Layer("RTP");

/// Length of a header without contributing sources and extension, in bytes (RFC 3550, 5.1).
pub const HEADER_LEN: usize = 12;
/// The most contributing sources: their count has 4 bits (RFC 3550, 5.1).
pub(crate) const MAX_CONTRIBUTORS: usize = 15;
/// The version of RFC 3550.
const VERSION: u8 = 2;
/// Bytes before the words of an extension (RFC 3550, 5.3.1).
const EXTENSION_HEADER_LEN: usize = 4;

/// Service codes of RTP over DCCP, in which a connection carries sessions of one kind (RFC 5762, 5.2).
pub mod service_code {
    /// `RTPA`: audio.
    pub const AUDIO: u32 = u32::from_be_bytes(*b"RTPA");
    /// `RTPV`: video.
    pub const VIDEO: u32 = u32::from_be_bytes(*b"RTPV");
    /// `RTPT`: text.
    pub const TEXT: u32 = u32::from_be_bytes(*b"RTPT");
    /// `RTPO`: anything else.
    pub const OTHER: u32 = u32::from_be_bytes(*b"RTPO");
}

mod field {
    pub(super) const FLAGS: usize = 0;
    pub(super) const MARKER_TYPE: usize = 1;
    pub(super) const SEQUENCE: usize = 2;
    pub(super) const TIMESTAMP: usize = 4;
    pub(super) const SOURCE: usize = 8;
    pub(super) const CONTRIBUTORS: usize = 12;
}

const PADDING: u8 = 0x20;
const EXTENSION: u8 = 0x10;
const MARKER: u8 = 0x80;

/// A view of an RTP header, its payload and its padding.
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +---+-+-+-------+-+-------------+-------------------------------+
/// |V=2|P|X|  CC   |M|Payload type |        Sequence number        |
/// +---+-+-+-------+-+-------------+-------------------------------+
/// |                           Timestamp                           |
/// +---------------------------------------------------------------+
/// |             Synchronization source (SSRC) identifier          |
/// +---------------------------------------------------------------+
/// |       Contributing source (CSRC) identifiers, 0 to 15         |
/// +-------------------------------+-------------------------------+
/// |      Defined by profile       |      Length in words          |  if X is set
/// +-------------------------------+-------------------------------+
/// |                       Header extension                        |
/// +---------------------------------------------------------------+
/// ```
///
/// RFC 3550, 5.1 and 5.3.1. Most significant byte first. The buffer ends where the packet ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packet<T: AsRef<[u8]>> {
    buffer: T,
}

impl<T: AsRef<[u8]>> Packet<T> {
    /// A view of `buffer` as it is. Accessors panic if it is too short.
    pub fn new_unchecked(buffer: T) -> Self {
        Self { buffer }
    }

    /// A view of `buffer`, which holds a whole packet of version 2.
    pub fn new_checked(buffer: T) -> Result<Self, ParseError> {
        let length = buffer.as_ref().len();
        LAYER.require(length >= HEADER_LEN, "length", 0, length, "at least 12")?;
        let packet = Self { buffer };
        let version = packet.buffer.as_ref()[field::FLAGS] >> 6;
        LAYER.require(version == VERSION, "version", field::FLAGS, version, "2")?;
        let contributors = packet.contributors_len();
        let end = field::CONTRIBUTORS + 4 * contributors;
        let expected = "at most as many as the buffer holds";
        LAYER.require(end <= length, "CSRC count", field::FLAGS, contributors, expected)?;
        if packet.has(EXTENSION) {
            let whole = end + EXTENSION_HEADER_LEN <= length;
            LAYER.require(whole, "extension", end, length - end, "at least 4 octets")?;
            let words = packet.extension_words();
            let fits = packet.header_len() <= length;
            LAYER.require(
                fits,
                "length of the extension",
                end + 2,
                words,
                "at most what is left in words of 4 octets",
            )?;
        }
        if packet.has(PADDING) {
            let padding = packet.padding_len();
            let right = padding > 0 && packet.header_len() + padding <= length;
            LAYER.require(
                right,
                "padding",
                length - 1,
                padding,
                "at least 1, at most what is left behind the header",
            )?;
        }
        Ok(packet)
    }

    fn has(&self, flag: u8) -> bool {
        self.buffer.as_ref()[field::FLAGS] & flag != 0
    }

    fn contributors_len(&self) -> usize {
        usize::from(self.buffer.as_ref()[field::FLAGS] & 0x0f)
    }

    fn extension_at(&self) -> usize {
        field::CONTRIBUTORS + 4 * self.contributors_len()
    }

    fn extension_words(&self) -> usize {
        u16::from_be_bytes(array(self.buffer.as_ref(), self.extension_at() + 2)).into()
    }

    /// Length of the header with contributing sources and extension, in bytes.
    pub(crate) fn header_len(&self) -> usize {
        let extension = if self.has(EXTENSION) { EXTENSION_HEADER_LEN + 4 * self.extension_words() } else { 0 };
        self.extension_at() + extension
    }

    /// Bytes of padding at the end, the one that counts them included; 0 without padding.
    pub fn padding_len(&self) -> usize {
        let octets = self.buffer.as_ref();
        if self.has(PADDING) { octets[octets.len() - 1].into() } else { 0 }
    }

    /// Marker, with the meaning of the profile: for video, the last packet of a frame.
    pub fn marker(&self) -> bool {
        self.buffer.as_ref()[field::MARKER_TYPE] & MARKER != 0
    }

    /// Payload type, defined by the profile.
    pub fn payload_type(&self) -> u8 {
        self.buffer.as_ref()[field::MARKER_TYPE] & !MARKER
    }

    /// Grows by one with each packet.
    pub fn sequence(&self) -> u16 {
        u16::from_be_bytes(array(self.buffer.as_ref(), field::SEQUENCE))
    }

    /// Time when the first byte of the payload was sampled, by the clock of the payload type.
    pub fn timestamp(&self) -> u32 {
        u32::from_be_bytes(array(self.buffer.as_ref(), field::TIMESTAMP))
    }

    /// The synchronization source: the sender.
    pub fn source(&self) -> u32 {
        u32::from_be_bytes(array(self.buffer.as_ref(), field::SOURCE))
    }

    /// The contributing sources: those that a mixer has combined.
    pub fn contributors(&self) -> impl ExactSizeIterator<Item = u32> + '_ {
        let octets = self.buffer.as_ref();
        (0..self.contributors_len()).map(|nth| u32::from_be_bytes(array(octets, field::CONTRIBUTORS + 4 * nth)))
    }

    /// The extension, if there is one.
    pub fn extension(&self) -> Option<Extension<'_>> {
        let (start, octets) = (self.extension_at(), self.buffer.as_ref());
        self.has(EXTENSION).then(|| Extension {
            profile: u16::from_be_bytes(array(octets, start)),
            words: &octets[start + EXTENSION_HEADER_LEN..self.header_len()],
        })
    }

    /// What the packet carries, padding left out.
    pub fn payload(&self) -> &[u8] {
        let octets = self.buffer.as_ref();
        &octets[self.header_len()..octets.len() - self.padding_len()]
    }

    /// Whether it carries nothing but padding.
    pub fn is_padding(&self) -> bool {
        self.padding_len() > 0 && self.payload().is_empty()
    }
}

impl<T: AsRef<[u8]> + AsMut<[u8]>> Packet<T> {
    /// Writes `padding` bytes of padding at the end of the buffer: zeros, and their number. Panics if there is no room for
    /// them, or if there are none.
    pub fn fill_padding(&mut self, padding: u8) {
        let octets = self.buffer.as_mut();
        let start = octets.len() - usize::from(padding);
        let (last, zeros) = octets[start..].split_last_mut().expect("padding has at least its count");
        zeros.fill(0);
        *last = padding;
    }
}

/// A header extension (RFC 3550, 5.3.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extension<'a> {
    /// Defined by the profile.
    pub profile: u16,
    /// Whole words of 4 bytes.
    pub words: &'a [u8],
}

/// Contributing sources.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Contributors {
    sources: [u32; MAX_CONTRIBUTORS],
    count: u8,
}

impl Contributors {
    /// None.
    pub const NONE: Self = Self { sources: [0; MAX_CONTRIBUTORS], count: 0 };

    /// Adds one after the others; returns `false` if there are fifteen already.
    pub fn push(&mut self, source: u32) -> bool {
        let room = usize::from(self.count) < MAX_CONTRIBUTORS;
        if room {
            self.sources[usize::from(self.count)] = source;
            self.count += 1;
        }
        room
    }

    /// The sources.
    pub fn as_slice(&self) -> &[u32] {
        &self.sources[..usize::from(self.count)]
    }
}

/// The fields of an RTP header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Repr<'a> {
    /// Marker, with the meaning of the profile: for video, the last packet of a frame.
    pub marker: bool,
    /// Payload type, defined by the profile. 7 bits.
    pub payload_type: u8,
    /// Grows by one with each packet.
    pub sequence: u16,
    /// Time when the first byte of the payload was sampled, by the clock of the payload type.
    pub timestamp: u32,
    /// The synchronization source: the sender.
    pub source: u32,
    /// The contributing sources: those that a mixer has combined.
    pub contributors: Contributors,
    /// The extension. Emits its complete words, up to 65535.
    pub extension: Option<Extension<'a>>,
    /// Length of the payload, in bytes, padding left out.
    pub payload_len: usize,
    /// Bytes of padding after the payload; 0: none.
    pub padding_len: u8,
}

impl<'a> Repr<'a> {
    /// Parses a header.
    pub fn parse<T: AsRef<[u8]>>(packet: &'a Packet<T>) -> Self {
        let mut contributors = Contributors::NONE;
        for source in packet.contributors() {
            // Their count has 4 bits: all of them fit.
            contributors.push(source);
        }
        Self {
            marker: packet.marker(),
            payload_type: packet.payload_type(),
            sequence: packet.sequence(),
            timestamp: packet.timestamp(),
            source: packet.source(),
            contributors,
            extension: packet.extension(),
            payload_len: packet.payload().len(),
            padding_len: packet.padding_len() as u8,
        }
    }

    /// The words of the extension that can be emitted.
    fn words(&self) -> Option<&'a [u8]> {
        self.extension.map(|extension| {
            let length = extension.words.len().min(4 * usize::from(u16::MAX));
            &extension.words[..length - length % 4]
        })
    }

    /// Length of the header, in bytes.
    pub fn buffer_len(&self) -> usize {
        let extension = self.words().map_or(0, |words| EXTENSION_HEADER_LEN + words.len());
        HEADER_LEN + 4 * self.contributors.as_slice().len() + extension
    }

    /// Writes the header. The caller writes the payload and, if any, the [padding](Packet::fill_padding) after it.
    pub fn emit<T: AsRef<[u8]> + AsMut<[u8]>>(&self, packet: &mut Packet<T>) {
        let octets = packet.buffer.as_mut();
        let flag = |set: bool, flag: u8| if set { flag } else { 0 };
        octets[field::FLAGS] = VERSION << 6
            | flag(self.padding_len > 0, PADDING)
            | flag(self.extension.is_some(), EXTENSION)
            | self.contributors.count;
        octets[field::MARKER_TYPE] = flag(self.marker, MARKER) | self.payload_type & !MARKER;
        put(octets, field::SEQUENCE, self.sequence.to_be_bytes());
        put(octets, field::TIMESTAMP, self.timestamp.to_be_bytes());
        put(octets, field::SOURCE, self.source.to_be_bytes());
        let mut at = field::CONTRIBUTORS;
        for source in self.contributors.as_slice() {
            put(octets, at, source.to_be_bytes());
            at += 4;
        }
        if let (Some(extension), Some(words)) = (self.extension, self.words()) {
            put(octets, at, extension.profile.to_be_bytes());
            put(octets, at + 2, ((words.len() / 4) as u16).to_be_bytes());
            octets[at + EXTENSION_HEADER_LEN..][..words.len()].copy_from_slice(words);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn emit(repr: &Repr, payload: &[u8]) -> Vec<u8> {
        let mut octets = vec![0xee; repr.buffer_len()];
        octets.extend_from_slice(payload);
        octets.resize(octets.len() + usize::from(repr.padding_len), 0xee);
        let mut packet = Packet::new_unchecked(&mut octets[..]);
        repr.emit(&mut packet);
        if repr.padding_len > 0 {
            packet.fill_padding(repr.padding_len);
        }
        octets
    }

    #[test]
    fn section_5_1_octet_by_octet() {
        let mut contributors = Contributors::NONE;
        assert!(contributors.push(0x0a0b_0c0d));
        let repr = Repr {
            marker: true,
            payload_type: 96,
            sequence: 0x0102,
            timestamp: 0x0304_0506,
            source: 0x0708_090a,
            contributors,
            extension: Some(Extension { profile: 0xbede, words: &[1, 2, 3, 4] }),
            payload_len: 2,
            padding_len: 3,
        };
        let octets = [
            0xb1, 0xe0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, // The fixed part.
            10, 11, 12, 13, // The contributor.
            0xbe, 0xde, 0, 1, 1, 2, 3, 4, // The extension.
            0xaa, 0xbb, 0, 0, 3, // Payload and padding.
        ];
        assert_eq!(emit(&repr, &[0xaa, 0xbb]), octets);
        let packet = Packet::new_checked(&octets).unwrap();
        assert_eq!(Repr::parse(&packet), repr);
        assert_eq!(packet.payload(), [0xaa, 0xbb]);
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let error = |octets: &[u8]| Packet::new_checked(octets).unwrap_err().to_string();
        let mut octets = [0; 16];
        assert_eq!(error(&octets[..11]), "RTP: length at octet 0 is 11, should be at least 12");
        assert_eq!(error(&octets), "RTP: version at octet 0 is 0, should be 2");
        octets[0] = 0x82;
        assert_eq!(error(&octets), "RTP: CSRC count at octet 0 is 2, should be at most as many as the buffer holds");
        octets[0] = 0x91;
        assert_eq!(error(&octets), "RTP: extension at octet 16 is 0, should be at least 4 octets");
        octets[0] = 0x90;
        octets[15] = 1;
        let expected = "should be at most what is left in words of 4 octets";
        assert_eq!(error(&octets), format!("RTP: length of the extension at octet 14 is 1, {expected}"));
        octets[0] = 0xa0;
        for wrong in [0, 5] {
            octets[15] = wrong;
            let expected = "should be at least 1, at most what is left behind the header";
            assert_eq!(error(&octets), format!("RTP: padding at octet 15 is {wrong}, {expected}"));
        }
    }

    #[test]
    fn there_are_at_most_fifteen_contributors() {
        let mut contributors = Contributors::NONE;
        assert!((0..15).all(|source| contributors.push(source)));
        assert!(!contributors.push(15));
        assert_eq!(contributors.as_slice().len(), 15);
    }

    proptest! {
        #[test]
        fn survives_the_wire(
            (marker, payload_type, sequence, timestamp, source) in (any::<bool>(), 0_u8..128, any::<u16>(), any::<u32>(), any::<u32>()),
            sources in prop::collection::vec(any::<u32>(), 0..16),
            extension in prop::option::of((any::<u16>(), prop::collection::vec(any::<[u8; 4]>(), 0..8))),
            payload in prop::collection::vec(any::<u8>(), 0..64),
            padding_len in any::<u8>(),
        ) {
            let mut contributors = Contributors::NONE;
            sources.into_iter().for_each(|source| {
                contributors.push(source);
            });
            let extension = extension.as_ref().map(|(profile, words)| Extension { profile: *profile, words: words.as_flattened() });
            let repr = Repr {
                marker, payload_type, sequence, timestamp, source, contributors, extension,
                payload_len: payload.len(),
                padding_len,
            };
            let octets = emit(&repr, &payload);
            let packet = Packet::new_checked(&octets).unwrap();
            prop_assert_eq!(Repr::parse(&packet), repr);
            prop_assert_eq!(packet.payload(), &payload[..]);
        }

        #[test]
        fn arbitrary_octets_never_panic(shaped in any::<bool>(), mut octets in prop::collection::vec(any::<u8>(), 0..100)) {
            if let (true, Some(first)) = (shaped, octets.first_mut()) {
                *first = *first & 0x3f | 0x80;
            }
            if let Ok(packet) = Packet::new_checked(&octets) {
                let repr = Repr::parse(&packet);
                // All of it but what the padding holds is emitted as it was.
                let meant = octets.len() - packet.padding_len();
                prop_assert_eq!(&emit(&repr, packet.payload())[..meant], &octets[..meant]);
            }
        }
    }
}
