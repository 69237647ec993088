//! Messages between the devices of a streaming cloud: which devices are near, where a clip is, what is reserved, and the media.
//!
//! The format is hopcast's. Each message is one UDP datagram to a neighbour, or to all of them. All numbers are most significant byte
//! first:
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +-------------------------------+---------------+---------------+
//! |         Magic "HC"            |  Version (1)  |     Type      |
//! +-------------------------------+---------------+---------------+
//! |                            Body …                             |
//! +---------------------------------------------------------------+
//! ```
//!
//! A list is its number of elements (8 bits) and the elements. What follows a whole body is padding, or the media themselves.

use std::net::Ipv4Addr;

use crate::ParseError;
use crate::error::Layer;

const LAYER: Layer = Layer("cloud");

/// UDP port of the devices: one of the user ports (RFC 6335, section 6) that IANA has not assigned.
pub const PORT: u16 = 48_653;
/// Bytes of [`Message::Media`] before its payload.
pub const MEDIA_HEADER_LEN: usize = 16;
/// Length of a clip's digest in bytes: that of SHA-256 (FIPS 180-4).
pub const DIGEST_LEN: usize = 32;
/// Greatest length of a clip's name in bytes.
pub const MAX_NAME: usize = 64;
/// Most elements of a list.
pub const MAX_LIST: usize = 255;

/// `HC`.
const MAGIC: u16 = u16::from_be_bytes(*b"HC");
const VERSION: u8 = 1;

/// Identity of a request and its stream: the device that displays it, and the device's number for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StreamId {
    /// Address of the device.
    pub display: Ipv4Addr,
    /// Its number there: that of the request in the lower 24 bits, and above them that of the path. A request begins with path 0.
    pub number: u32,
}

/// Bits of [`StreamId::number`] that tell the request.
const REQUEST_BITS: u32 = 24;

impl StreamId {
    /// Number of the request.
    pub fn request(self) -> u32 {
        self.number & ((1 << REQUEST_BITS) - 1)
    }

    /// Which of the request's paths it is.
    pub fn path(self) -> u8 {
        self.number.to_be_bytes()[0]
    }

    /// The same request over another path.
    pub fn on_path(self, path: u8) -> Self {
        Self { number: self.request() | u32::from(path) << REQUEST_BITS, ..self }
    }

    /// Whether both are paths of one request.
    pub fn is_same_request(self, other: Self) -> bool {
        self.on_path(0) == other.on_path(0)
    }
}

/// Airtime that a stream has reserved on one link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReservedLink {
    /// The stream.
    pub stream: StreamId,
    /// The link's place on the path, counted from the display.
    pub hop: u8,
    /// Share of time in units of 1/65535.
    pub airtime: u16,
}

/// One node on a path that a search has found, and its link to the node before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProbedHop {
    /// The node.
    pub node: Ipv4Addr,
    /// Mean useful rate of its link towards the display, in b/s; zero at the display.
    pub rate: u32,
    /// Media in milliseconds that the display must buffer because of this link.
    pub prefetch: u32,
    /// Share of time that is free around the node, in units of 1/65535.
    pub free: u16,
}

/// A stream that somebody asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wish {
    /// Number of the clip in the catalogue.
    pub clip: u32,
    /// Its rate in b/s.
    pub rate: u32,
    /// Its length in milliseconds.
    pub length: u32,
}

/// Media of one rate within a clip whose rate changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segment {
    /// Number of its first packet.
    pub first: u32,
    /// Where it begins in the clip, in milliseconds.
    pub start: u32,
    /// Its rate in b/s.
    pub rate: u32,
    /// Its length in milliseconds.
    pub length: u32,
    /// The highest rate in which the clip is stored, in b/s: how fast its packets may follow each other.
    pub highest: u32,
}

/// One node on a path to be reserved, and its link to the node before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlannedHop {
    /// The node.
    pub node: Ipv4Addr,
    /// Share of time that the stream takes on the link towards the display, in units of 1/65535; zero at the display.
    pub airtime: u16,
}

/// Why a node refuses a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Refusal {
    /// Too little airtime is left around the node.
    Airtime = 1,
    /// The stream would stall too often.
    Risk = 2,
    /// Too little is known of the link.
    Unknown = 3,
    /// The path has too many hops for the rate.
    Hops = 4,
    /// The link is slower than the stream.
    Rate = 5,
    /// Another reservation came first, or the node has lost this one.
    Lost = 6,
    /// The node has neither the clip nor the next neighbour.
    Absent = 7,
}

impl Refusal {
    /// All reasons.
    pub const ALL: [Self; 7] =
        [Self::Airtime, Self::Risk, Self::Unknown, Self::Hops, Self::Rate, Self::Lost, Self::Absent];
}

/// A clip that a device stores and streams to others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    /// SHA-256 of its bytes, by which it is known. The first four bytes are its number in [`Wish`].
    pub digest: [u8; DIGEST_LEN],
    /// Its bytes.
    pub size: u64,
    /// Its rate in b/s.
    pub rate: u32,
    /// Its length in milliseconds.
    pub length: u32,
    /// Links to the nearest device that is known to store it.
    pub hops: u8,
    /// Seconds since a device that stores it said so.
    pub age: u8,
    /// Its name: up to [`MAX_NAME`] bytes of UTF-8 without control characters.
    pub name: String,
}

impl Offer {
    /// Its number in [`Wish`].
    pub fn number(&self) -> u32 {
        number_of(&self.digest)
    }

    /// Its bytes in a message.
    pub fn wire_len(&self) -> usize {
        DIGEST_LEN + 8 + 4 + 4 + 1 + 1 + 1 + self.name.len()
    }
}

/// The number in [`Wish`] of the clip with this digest.
pub fn number_of(digest: &[u8; DIGEST_LEN]) -> u32 {
    u32::from_be_bytes([digest[0], digest[1], digest[2], digest[3]])
}

/// Whether a clip may have this name.
pub fn is_name(name: &str) -> bool {
    (1..=MAX_NAME).contains(&name.len()) && !name.chars().any(char::is_control)
}

/// A message between devices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Message {
    /// To all neighbours, each second: which neighbours the device hears, and what is reserved on its links and on those of its neighbours.
    Hello {
        /// Neighbours that it hears.
        heard: Vec<Ipv4Addr>,
        /// Reservations of links that begin or end at it.
        own: Vec<ReservedLink>,
        /// Reservations of links that begin or end at its neighbours.
        near: Vec<ReservedLink>,
    },
    /// To all neighbours, which pass it on: looks for a device that stores the clip. Each node adds itself to the path.
    Probe {
        /// The request.
        stream: StreamId,
        /// How often the display has asked.
        attempt: u8,
        /// What is asked for.
        wish: Wish,
        /// The path so far, from the display.
        path: Vec<ProbedHop>,
        /// Whether it is looked for because others look for it.
        is_for_others: bool,
    },
    /// Back to the display: the path to a device that has the clip. While a stream is under way, from a member of its path: that path
    /// without some of its members.
    Answer {
        /// The request.
        stream: StreamId,
        /// The place on the path of the node that this message is for.
        place: u8,
        /// The path, from the display to the device that has the clip.
        path: Vec<ProbedHop>,
    },
    /// From the display to the device that has the clip, hop by hop: book this.
    Reserve {
        /// The stream.
        stream: StreamId,
        /// Number of the attempt: a later one replaces an earlier one.
        attempt: u8,
        /// The place on the path of the node that this message is for.
        place: u8,
        /// What is asked for.
        wish: Wish,
        /// Media in milliseconds that the display buffers.
        prefetch: u32,
        /// Probability of a stall because of the links so far, in units of 10⁻⁹; [`u32::MAX`]: a node could not tell.
        risk: u32,
        /// The path, from the display.
        path: Vec<PlannedHop>,
    },
    /// Back to the display: all have booked, and the stream begins.
    Confirm {
        /// The stream.
        stream: StreamId,
        /// The attempt that it confirms.
        attempt: u8,
        /// Probability of a stall because of all links, in units of 10⁻⁹; [`u32::MAX`]: a node could not tell.
        risk: u32,
    },
    /// Back to the display: a node refuses.
    Reject {
        /// The stream.
        stream: StreamId,
        /// The attempt that is refused.
        attempt: u8,
        /// The node.
        node: Ipv4Addr,
        /// Why.
        reason: Refusal,
        /// What would fit: a rate in b/s, or with [`Refusal::Risk`] the media in milliseconds to buffer; zero: nothing.
        fits: u32,
    },
    /// From the display to the device that has the clip: the reservation is still wanted.
    Refresh {
        /// The stream.
        stream: StreamId,
    },
    /// The reservation is no longer wanted.
    Release {
        /// The stream.
        stream: StreamId,
    },
    /// A packet of the clip, towards the display. Its payload follows.
    Media {
        /// The stream.
        stream: StreamId,
        /// Number of the packet in the clip, from 0.
        sequence: u32,
    },
    /// What the display has and wants, towards the device that has the clip.
    Feedback {
        /// The stream.
        stream: StreamId,
        /// All packets before this number have come.
        next: u32,
        /// Packets before this number may be sent.
        limit: u32,
        /// Of the packets from `next` on, a bit for each that has come, the most significant bit first.
        came: Vec<u8>,
        /// The segment that comes or came last, if the display chooses rates; the message has a type for this.
        segment: Option<Segment>,
    },
    /// Measures a link. Padding follows.
    Padding,
    /// To all neighbours, between real hosts: clips that the device stores, or that others have told it of.
    Offers {
        /// The clips.
        offers: Vec<Offer>,
    },
    /// Between real hosts, one of two packets that are sent to a neighbour back to back. Padding follows.
    Pair {
        /// Number of the pair.
        number: u32,
        /// Whether it is the second one.
        is_second: bool,
    },
    /// Between real hosts, the answer to a pair.
    Spacing {
        /// Number of the pair.
        number: u32,
        /// Time between the arrivals of the two packets, in nanoseconds.
        time: u32,
    },
}

impl Message {
    /// The message as bytes, without what follows the body.
    pub fn emit(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(64);
        out.extend(MAGIC.to_be_bytes());
        out.push(VERSION);
        out.push(self.kind());
        match self {
            Self::Hello { heard, own, near } => {
                put_list(&mut out, heard, |out, node| out.extend(node.octets()));
                put_list(&mut out, own, put_link);
                put_list(&mut out, near, put_link);
            }
            Self::Probe { stream, attempt, wish, path, is_for_others: _ } => {
                put_stream(&mut out, *stream);
                out.push(*attempt);
                put_wish(&mut out, wish);
                put_list(&mut out, path, put_probed);
            }
            Self::Answer { stream, place, path } => {
                put_stream(&mut out, *stream);
                out.push(*place);
                put_list(&mut out, path, put_probed);
            }
            Self::Reserve { stream, attempt, place, wish, prefetch, risk, path } => {
                put_stream(&mut out, *stream);
                out.extend([*attempt, *place]);
                put_wish(&mut out, wish);
                out.extend(prefetch.to_be_bytes());
                out.extend(risk.to_be_bytes());
                put_list(&mut out, path, |out, hop| {
                    out.extend(hop.node.octets());
                    out.extend(hop.airtime.to_be_bytes());
                });
            }
            Self::Confirm { stream, attempt, risk } => {
                put_stream(&mut out, *stream);
                out.push(*attempt);
                out.extend(risk.to_be_bytes());
            }
            Self::Reject { stream, attempt, node, reason, fits } => {
                put_stream(&mut out, *stream);
                out.push(*attempt);
                out.extend(node.octets());
                out.push(*reason as u8);
                out.extend(fits.to_be_bytes());
            }
            Self::Refresh { stream } | Self::Release { stream } => put_stream(&mut out, *stream),
            Self::Media { stream, sequence } => {
                put_stream(&mut out, *stream);
                out.extend(sequence.to_be_bytes());
            }
            Self::Feedback { stream, next, limit, came, segment } => {
                put_stream(&mut out, *stream);
                out.extend(next.to_be_bytes());
                out.extend(limit.to_be_bytes());
                put_list(&mut out, came, |out, &bits| out.push(bits));
                if let Some(Segment { first, start, rate, length, highest }) = segment {
                    [first, start, rate, length, highest]
                        .into_iter()
                        .for_each(|number| out.extend(number.to_be_bytes()));
                }
            }
            Self::Padding => {}
            Self::Offers { offers } => put_list(&mut out, offers, put_offer),
            Self::Pair { number, is_second } => {
                out.extend(number.to_be_bytes());
                out.push(u8::from(*is_second));
            }
            Self::Spacing { number, time } => {
                out.extend(number.to_be_bytes());
                out.extend(time.to_be_bytes());
            }
        }
        out
    }

    /// Parses the message at the beginning of `octets`.
    ///
    /// # Errors
    ///
    /// The bytes are not a message of this version.
    pub fn parse(octets: &[u8]) -> Result<Self, ParseError> {
        let mut input = Input { octets, at: 0 };
        let magic = u16::from_be_bytes(input.take("magic")?);
        LAYER.require(magic == MAGIC, "magic", 0, magic, "18499")?;
        let [version, kind] = input.take("version")?;
        LAYER.require(version == VERSION, "version", 2, version, "1")?;
        Ok(match kind {
            1 => Self::Hello {
                heard: input.list("neighbours", Input::node)?,
                own: input.list("own links", Input::link)?,
                near: input.list("near links", Input::link)?,
            },
            2 | 16 => Self::Probe {
                stream: input.stream()?,
                attempt: input.octet("attempt")?,
                wish: input.wish()?,
                path: input.list("path", Input::probed)?,
                is_for_others: kind == 16,
            },
            3 => Self::Answer {
                stream: input.stream()?,
                place: input.octet("place")?,
                path: input.list("path", Input::probed)?,
            },
            4 => Self::Reserve {
                stream: input.stream()?,
                attempt: input.octet("attempt")?,
                place: input.octet("place")?,
                wish: input.wish()?,
                prefetch: input.number("prefetch")?,
                risk: input.number("risk")?,
                path: input.list("path", Input::planned)?,
            },
            5 => {
                Self::Confirm { stream: input.stream()?, attempt: input.octet("attempt")?, risk: input.number("risk")? }
            }
            6 => Self::Reject {
                stream: input.stream()?,
                attempt: input.octet("attempt")?,
                node: input.node()?,
                reason: input.refusal()?,
                fits: input.number("fits")?,
            },
            7 => Self::Refresh { stream: input.stream()? },
            8 => Self::Release { stream: input.stream()? },
            9 => Self::Media { stream: input.stream()?, sequence: input.number("sequence number")? },
            10 | 15 => Self::Feedback {
                stream: input.stream()?,
                next: input.number("next")?,
                limit: input.number("limit")?,
                came: input.list("received packets", |input| input.octet("received packets"))?,
                segment: (kind == 15).then(|| input.segment()).transpose()?,
            },
            11 => Self::Padding,
            12 => Self::Offers { offers: input.list("offers", Input::offer)? },
            13 => Self::Pair { number: input.number("number of the pair")?, is_second: input.octet("place")? != 0 },
            14 => Self::Spacing { number: input.number("number of the pair")?, time: input.number("time")? },
            _ => return Err(LAYER.error("type", 3, kind, "1 to 16")),
        })
    }

    /// Names of the types, by [`Self::kind`]; no type has number 0.
    pub const NAMES: [&'static str; 17] = [
        "",
        "hello",
        "probe",
        "answer",
        "reserve",
        "confirm",
        "reject",
        "refresh",
        "release",
        "media",
        "feedback",
        "padding",
        "offers",
        "pair",
        "spacing",
        "adaptive feedback",
        "probe for others",
    ];

    /// The stream that it is about, if it is about one.
    pub fn stream(&self) -> Option<StreamId> {
        match *self {
            Self::Probe { stream, .. }
            | Self::Answer { stream, .. }
            | Self::Reserve { stream, .. }
            | Self::Confirm { stream, .. }
            | Self::Reject { stream, .. }
            | Self::Refresh { stream }
            | Self::Release { stream }
            | Self::Media { stream, .. }
            | Self::Feedback { stream, .. } => Some(stream),
            Self::Hello { .. } | Self::Padding | Self::Offers { .. } | Self::Pair { .. } | Self::Spacing { .. } => None,
        }
    }

    /// Number of its type.
    pub fn kind(&self) -> u8 {
        match self {
            Self::Hello { .. } => 1,
            Self::Probe { is_for_others: false, .. } => 2,
            Self::Probe { is_for_others: true, .. } => 16,
            Self::Answer { .. } => 3,
            Self::Reserve { .. } => 4,
            Self::Confirm { .. } => 5,
            Self::Reject { .. } => 6,
            Self::Refresh { .. } => 7,
            Self::Release { .. } => 8,
            Self::Media { .. } => 9,
            Self::Feedback { segment: None, .. } => 10,
            Self::Feedback { segment: Some(_), .. } => 15,
            Self::Padding => 11,
            Self::Offers { .. } => 12,
            Self::Pair { .. } => 13,
            Self::Spacing { .. } => 14,
        }
    }
}

/// Writes the first [`MAX_LIST`] elements.
fn put_list<T>(out: &mut Vec<u8>, list: &[T], put: impl Fn(&mut Vec<u8>, &T)) {
    let list = &list[..list.len().min(MAX_LIST)];
    out.push(list.len() as u8);
    list.iter().for_each(|element| put(out, element));
}

fn put_stream(out: &mut Vec<u8>, stream: StreamId) {
    out.extend(stream.display.octets());
    out.extend(stream.number.to_be_bytes());
}

fn put_link(out: &mut Vec<u8>, link: &ReservedLink) {
    put_stream(out, link.stream);
    out.push(link.hop);
    out.extend(link.airtime.to_be_bytes());
}

fn put_wish(out: &mut Vec<u8>, wish: &Wish) {
    [wish.clip, wish.rate, wish.length].iter().for_each(|number| out.extend(number.to_be_bytes()));
}

fn put_probed(out: &mut Vec<u8>, hop: &ProbedHop) {
    out.extend(hop.node.octets());
    out.extend(hop.rate.to_be_bytes());
    out.extend(hop.prefetch.to_be_bytes());
    out.extend(hop.free.to_be_bytes());
}

fn put_offer(out: &mut Vec<u8>, offer: &Offer) {
    out.extend(offer.digest);
    out.extend(offer.size.to_be_bytes());
    [offer.rate, offer.length].iter().for_each(|number| out.extend(number.to_be_bytes()));
    out.extend([offer.hops, offer.age, offer.name.len() as u8]);
    out.extend(offer.name.as_bytes());
}

/// Bytes that are being parsed.
struct Input<'a> {
    octets: &'a [u8],
    at: usize,
}

impl Input<'_> {
    fn take<const N: usize>(&mut self, field: &'static str) -> Result<[u8; N], ParseError> {
        let missing = || LAYER.error(field, self.at, self.octets.len(), "within the message");
        let octets = self.octets.get(self.at..self.at + N).ok_or_else(missing)?;
        self.at += N;
        Ok(octets.try_into().expect("a slice of N has N"))
    }

    fn octet(&mut self, field: &'static str) -> Result<u8, ParseError> {
        self.take::<1>(field).map(|[octet]| octet)
    }

    fn number(&mut self, field: &'static str) -> Result<u32, ParseError> {
        self.take(field).map(u32::from_be_bytes)
    }

    fn share(&mut self, field: &'static str) -> Result<u16, ParseError> {
        self.take(field).map(u16::from_be_bytes)
    }

    fn node(&mut self) -> Result<Ipv4Addr, ParseError> {
        self.take::<4>("address").map(Ipv4Addr::from)
    }

    fn stream(&mut self) -> Result<StreamId, ParseError> {
        Ok(StreamId { display: self.node()?, number: self.number("number of the stream")? })
    }

    fn link(&mut self) -> Result<ReservedLink, ParseError> {
        Ok(ReservedLink { stream: self.stream()?, hop: self.octet("hop")?, airtime: self.share("airtime")? })
    }

    fn wish(&mut self) -> Result<Wish, ParseError> {
        Ok(Wish { clip: self.number("clip")?, rate: self.number("rate")?, length: self.number("length")? })
    }

    fn probed(&mut self) -> Result<ProbedHop, ParseError> {
        Ok(ProbedHop {
            node: self.node()?,
            rate: self.number("rate")?,
            prefetch: self.number("prefetch")?,
            free: self.share("free")?,
        })
    }

    fn segment(&mut self) -> Result<Segment, ParseError> {
        Ok(Segment {
            first: self.number("first packet")?,
            start: self.number("start")?,
            rate: self.number("rate")?,
            length: self.number("length")?,
            highest: self.number("highest rate")?,
        })
    }

    fn planned(&mut self) -> Result<PlannedHop, ParseError> {
        Ok(PlannedHop { node: self.node()?, airtime: self.share("airtime")? })
    }

    fn offer(&mut self) -> Result<Offer, ParseError> {
        let digest = self.take("digest")?;
        let size = self.take("size").map(u64::from_be_bytes)?;
        let (rate, length) = (self.number("rate")?, self.number("length")?);
        let [hops, age, len] = self.take("name")?;
        let at = self.at;
        let missing = || LAYER.error("name", at, self.octets.len(), "within the message");
        let name = self.octets.get(at..at + usize::from(len)).ok_or_else(missing)?;
        let name = core::str::from_utf8(name).ok().filter(|name| is_name(name));
        let name =
            name.ok_or_else(|| LAYER.error("name", at, len, "1 to 64 octets of UTF-8 without control characters"))?;
        self.at += usize::from(len);
        Ok(Offer { digest, size, rate, length, hops, age, name: name.to_owned() })
    }

    fn refusal(&mut self) -> Result<Refusal, ParseError> {
        let (at, code) = (self.at, self.octet("reason")?);
        let known = Refusal::ALL.into_iter().find(|&reason| reason as u8 == code);
        known.ok_or_else(|| LAYER.error("reason", at, code, "1 to 7"))
    }

    fn list<T>(
        &mut self,
        field: &'static str,
        mut element: impl FnMut(&mut Self) -> Result<T, ParseError>,
    ) -> Result<Vec<T>, ParseError> {
        let count = self.octet(field)?;
        (0..count).map(|_| element(self)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const STREAM: StreamId = StreamId { display: Ipv4Addr::new(10, 0, 0, 3), number: 0x0102_0304 };

    #[test]
    fn octets_and_meaning() {
        let media = Message::Media { stream: STREAM, sequence: 7 };
        let octets = [b'H', b'C', 1, 9, 10, 0, 0, 3, 1, 2, 3, 4, 0, 0, 0, 7];
        assert_eq!(media.emit(), octets);
        assert_eq!(octets.len(), MEDIA_HEADER_LEN);
        assert_eq!(Message::parse(&[&octets[..], b"media"].concat()), Ok(media));
        let reject = Message::Reject {
            stream: STREAM,
            attempt: 2,
            node: Ipv4Addr::new(10, 0, 0, 9),
            reason: Refusal::Risk,
            fits: 2_500,
        };
        let feedback = |segment| Message::Feedback { stream: STREAM, next: 5, limit: 9, came: vec![0x40], segment };
        let body = [10, 0, 0, 3, 1, 2, 3, 4, 0, 0, 0, 5, 0, 0, 0, 9, 1, 0x40];
        assert_eq!(feedback(None).emit(), [&[b'H', b'C', 1, 10], &body[..]].concat());
        let segment = Segment { first: 3, start: 2_000, rate: 500_000, length: 1_000, highest: 1_000_000 };
        let choice = [0, 0, 0, 3, 0, 0, 0x07, 0xd0, 0, 0x07, 0xa1, 0x20, 0, 0, 0x03, 0xe8, 0, 0x0f, 0x42, 0x40];
        assert_eq!(feedback(Some(segment)).emit(), [&[b'H', b'C', 1, 15], &body[..], &choice].concat());
        assert_eq!(reject.emit(), [b'H', b'C', 1, 6, 10, 0, 0, 3, 1, 2, 3, 4, 2, 10, 0, 0, 9, 2, 0, 0, 0x09, 0xc4]);
    }

    #[test]
    fn a_request_has_a_stream_for_each_path() {
        let other = STREAM.on_path(0xa5);
        assert_eq!((STREAM.request(), STREAM.path()), (0x0002_0304, 1));
        assert_eq!((other.number, other.request(), other.path()), (0xa502_0304, 0x0002_0304, 0xa5));
        assert!(STREAM.is_same_request(other) && !STREAM.is_same_request(StreamId { number: 5, ..STREAM }));
        assert!(!STREAM.is_same_request(StreamId { display: Ipv4Addr::LOCALHOST, ..STREAM }));
    }

    #[test]
    fn what_is_no_message_is_named() {
        let error = |octets: &[u8]| Message::parse(octets).unwrap_err().to_string();
        assert_eq!(error(b"HP\x01\x01"), "cloud: magic at octet 0 is 18512, should be 18499");
        assert_eq!(error(b"HC\x02\x01"), "cloud: version at octet 2 is 2, should be 1");
        assert_eq!(error(b"HC\x01\x11"), "cloud: type at octet 3 is 17, should be 1 to 16");
        assert_eq!(error(b"HC\x01\x07\x0a\0\0"), "cloud: address at octet 4 is 7, should be within the message");
        let mut reject =
            Message::Reject { stream: STREAM, attempt: 0, node: STREAM.display, reason: Refusal::Hops, fits: 0 }.emit();
        reject[17] = 8;
        assert_eq!(error(&reject), "cloud: reason at octet 17 is 8, should be 1 to 7");
    }

    #[test]
    fn an_offer_on_the_wire() {
        let mut digest = [0; DIGEST_LEN];
        digest[..5].copy_from_slice(&[1, 2, 3, 4, 5]);
        let offer =
            Offer { digest, size: 0x0a0b, rate: 4_000_000, length: 60_000, hops: 2, age: 7, name: "Tür".into() };
        assert_eq!((offer.number(), offer.wire_len()), (0x0102_0304, 51 + 4));
        let message = Message::Offers { offers: vec![offer] };
        let octets = message.emit();
        let head = [b'H', b'C', 1, 12, 1];
        let tail = [0, 0, 0, 0, 0, 0, 0x0a, 0x0b, 0, 0x3d, 0x09, 0, 0, 0, 0xea, 0x60, 2, 7, 4, b'T', 0xc3, 0xbc, b'r'];
        assert_eq!(octets, [&head[..], &digest, &tail].concat());
        for wrong in [&b"T\x1b[m"[..], b"T\xff\xffr"] {
            let octets = [&octets[..octets.len() - 4], wrong].concat();
            let error = Message::parse(&octets).unwrap_err().to_string();
            assert!(error.contains("name at octet 56"), "{error}");
        }
    }

    #[test]
    fn a_list_keeps_what_its_count_can_tell() {
        let heard = vec![STREAM.display; 300];
        let Ok(Message::Hello { heard, .. }) =
            Message::parse(&Message::Hello { heard, own: vec![], near: vec![] }.emit())
        else {
            panic!("it is a hello")
        };
        assert_eq!(heard.len(), MAX_LIST);
    }

    fn stream() -> impl Strategy<Value = StreamId> {
        any::<([u8; 4], u32)>().prop_map(|(display, number)| StreamId { display: display.into(), number })
    }

    fn wish() -> impl Strategy<Value = Wish> {
        any::<(u32, u32, u32)>().prop_map(|(clip, rate, length)| Wish { clip, rate, length })
    }

    fn segment() -> impl Strategy<Value = Segment> {
        any::<[u32; 5]>().prop_map(|[first, start, rate, length, highest]| Segment {
            first,
            start,
            rate,
            length,
            highest,
        })
    }

    fn links() -> impl Strategy<Value = Vec<ReservedLink>> {
        let link =
            (stream(), any::<(u8, u16)>()).prop_map(|(stream, (hop, airtime))| ReservedLink { stream, hop, airtime });
        prop::collection::vec(link, 0..5)
    }

    fn probed() -> impl Strategy<Value = Vec<ProbedHop>> {
        let hop = any::<([u8; 4], u32, u32, u16)>().prop_map(|(node, rate, prefetch, free)| ProbedHop {
            node: node.into(),
            rate,
            prefetch,
            free,
        });
        prop::collection::vec(hop, 0..5)
    }

    fn offer() -> impl Strategy<Value = Offer> {
        let numbers = any::<([u8; DIGEST_LEN], u64, u32, u32, u8, u8)>();
        (numbers, "[ -~äß→]{1,20}").prop_map(|((digest, size, rate, length, hops, age), name)| Offer {
            digest,
            size,
            rate,
            length,
            hops,
            age,
            name,
        })
    }

    fn message() -> impl Strategy<Value = Message> {
        let planned = any::<([u8; 4], u16)>().prop_map(|(node, airtime)| PlannedHop { node: node.into(), airtime });
        let planned = prop::collection::vec(planned, 0..5);
        let reason = (0..Refusal::ALL.len()).prop_map(|place| Refusal::ALL[place]);
        prop_oneof![
            (prop::collection::vec(any::<[u8; 4]>(), 0..5), links(), links()).prop_map(|(heard, own, near)| {
                Message::Hello { heard: heard.into_iter().map(Ipv4Addr::from).collect(), own, near }
            }),
            (stream(), any::<u8>(), wish(), probed(), any::<bool>()).prop_map(
                |(stream, attempt, wish, path, is_for_others)| {
                    Message::Probe { stream, attempt, wish, path, is_for_others }
                }
            ),
            (stream(), any::<u8>(), probed()).prop_map(|(stream, place, path)| Message::Answer { stream, place, path }),
            (stream(), any::<(u8, u8, u32, u32)>(), wish(), planned).prop_map(
                |(stream, (attempt, place, prefetch, risk), wish, path)| Message::Reserve {
                    stream,
                    attempt,
                    place,
                    wish,
                    prefetch,
                    risk,
                    path
                }
            ),
            (stream(), any::<(u8, u32)>()).prop_map(|(stream, (attempt, risk))| Message::Confirm {
                stream,
                attempt,
                risk
            }),
            (stream(), any::<(u8, [u8; 4], u32)>(), reason).prop_map(|(stream, (attempt, node, fits), reason)| {
                Message::Reject { stream, attempt, node: node.into(), reason, fits }
            }),
            stream().prop_map(|stream| Message::Refresh { stream }),
            stream().prop_map(|stream| Message::Release { stream }),
            (stream(), any::<u32>()).prop_map(|(stream, sequence)| Message::Media { stream, sequence }),
            (stream(), any::<(u32, u32)>(), prop::collection::vec(any::<u8>(), 0..130), prop::option::of(segment()))
                .prop_map(|(stream, (next, limit), came, segment)| {
                    Message::Feedback { stream, next, limit, came, segment }
                }),
            Just(Message::Padding),
            prop::collection::vec(offer(), 0..5).prop_map(|offers| Message::Offers { offers }),
            any::<(u32, bool)>().prop_map(|(number, is_second)| Message::Pair { number, is_second }),
            any::<(u32, u32)>().prop_map(|(number, time)| Message::Spacing { number, time }),
        ]
    }

    proptest! {
        #[test]
        fn survives_the_wire(message in message(), padding in 0_usize..40) {
            let mut octets = message.emit();
            octets.extend(core::iter::repeat_n(0xee, padding));
            prop_assert_eq!(Message::parse(&octets), Ok(message));
        }

        #[test]
        fn arbitrary_octets_never_panic(kind in 0_u8..17, rest in prop::collection::vec(any::<u8>(), 0..200)) {
            let octets = [&[b'H', b'C', 1, kind], &rest[..]].concat();
            if let Ok(message) = Message::parse(&octets) {
                prop_assert_eq!(Message::parse(&message.emit()), Ok(message));
            }
        }

        #[test]
        fn a_shortened_message_is_refused(message in message(), cut in any::<prop::sample::Index>()) {
            let octets = message.emit();
            prop_assert!(Message::parse(&octets[..cut.index(octets.len())]).is_err());
        }
    }
}
