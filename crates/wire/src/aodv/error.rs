//! Route errors (RERR).

use std::net::Ipv4Addr;

use super::{LAYER, MessageType, check, field};
use crate::ParseError;
use crate::bytes::{array, put};

/// Length of a route error before its destinations, in bytes (RFC 3561, 5.3).
const LEN: usize = 4;
/// Length of a destination with its sequence number, in bytes (RFC 3561, 5.3).
const DESTINATION_LEN: usize = 8;
/// N: the route has been repaired, and is not to be deleted.
const NO_DELETE: u8 = 0x80;

/// The most destinations in one route error: what a byte counts (RFC 3561, 5.3).
pub const MAX_UNREACHABLE: usize = 255;

/// An unreachable destination.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Unreachable {
    /// Its address.
    pub destination: Ipv4Addr,
    /// Its sequence number.
    pub sequence: u32,
}

impl Unreachable {
    fn parse(octets: &[u8]) -> Self {
        Self { destination: array(octets, 0).into(), sequence: u32::from_be_bytes(array(octets, 4)) }
    }

    fn emit(self, octets: &mut [u8]) {
        put(octets, 0, self.destination.octets());
        put(octets, 4, self.sequence.to_be_bytes());
    }
}

/// The destinations of a route error: read from a message, or to be written into one.
#[derive(Debug, Clone, Copy)]
pub struct Unreachables<'a>(Source<'a>);

#[derive(Debug, Clone, Copy)]
enum Source<'a> {
    Octets(&'a [u8]),
    Values(&'a [Unreachable]),
}

impl<'a> Unreachables<'a> {
    /// Their number.
    pub fn len(&self) -> usize {
        match self.0 {
            Source::Octets(octets) => octets.len() / DESTINATION_LEN,
            Source::Values(values) => values.len(),
        }
    }

    /// Whether the list is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Iterates over them.
    pub fn iter(&self) -> impl Iterator<Item = Unreachable> + 'a {
        let (octets, values): (&[u8], &[Unreachable]) = match self.0 {
            Source::Octets(octets) => (octets, &[]),
            Source::Values(values) => (&[], values),
        };
        octets.chunks_exact(DESTINATION_LEN).map(Unreachable::parse).chain(values.iter().copied())
    }
}

impl<'a> From<&'a [Unreachable]> for Unreachables<'a> {
    /// Panics if there are more than [`MAX_UNREACHABLE`].
    fn from(values: &'a [Unreachable]) -> Self {
        assert!(values.len() <= MAX_UNREACHABLE, "a route error holds at most 255 destinations");
        Self(Source::Values(values))
    }
}

impl PartialEq for Unreachables<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for Unreachables<'_> {}

/// A view of a route error.
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +---------------+-+-----------------------------+---------------+
/// |     Type      |N|          Reserved           |     Count     |
/// +---------------+-+-----------------------------+---------------+
/// |                Unreachable destination address                |
/// +---------------------------------------------------------------+
/// |            Unreachable destination sequence number            |
/// +---------------------------------------------------------------+
/// |             More destinations, as the count tells             |
/// +---------------------------------------------------------------+
/// ```
///
/// RFC 3561, 5.3. Most significant byte first. Bytes of the buffer beyond the last destination are no part of the message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ErrorPacket<T: AsRef<[u8]>> {
    buffer: T,
}

impl<T: AsRef<[u8]>> ErrorPacket<T> {
    /// A view of `buffer` as it is. Accessors panic if it is too short.
    pub(crate) fn new_unchecked(buffer: T) -> Self {
        Self { buffer }
    }

    /// A view of `buffer`, which holds a whole route error.
    pub fn new_checked(buffer: T) -> Result<Self, ParseError> {
        check(buffer.as_ref(), MessageType::Error, LEN, "at least 4")?;
        let packet = Self { buffer };
        let count = packet.count();
        LAYER.require(count > 0, "destination count", field::HOP_COUNT, count, "at least 1")?;
        let fits = LEN + count * DESTINATION_LEN <= packet.buffer.as_ref().len();
        LAYER.require(fits, "destination count", field::HOP_COUNT, count, "what the message has room for")?;
        Ok(packet)
    }

    /// Whether the routes have been repaired, and are not to be deleted.
    pub fn no_delete(&self) -> bool {
        self.buffer.as_ref()[field::FLAGS] & NO_DELETE != 0
    }

    /// Number of destinations.
    pub fn count(&self) -> usize {
        self.buffer.as_ref()[field::HOP_COUNT].into()
    }

    /// The destinations.
    pub fn unreachable(&self) -> Unreachables<'_> {
        Unreachables(Source::Octets(&self.buffer.as_ref()[LEN..LEN + self.count() * DESTINATION_LEN]))
    }
}

/// The fields of a route error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ErrorRepr<'a> {
    /// Whether the routes have been repaired, and are not to be deleted.
    pub no_delete: bool,
    /// The destinations, at least one.
    pub unreachable: Unreachables<'a>,
}

impl<'a> ErrorRepr<'a> {
    /// Parses a route error.
    pub fn parse<T: AsRef<[u8]> + ?Sized>(packet: &ErrorPacket<&'a T>) -> Result<Self, ParseError> {
        let octets = packet.buffer.as_ref();
        let end = LEN + packet.count() * DESTINATION_LEN;
        Ok(Self { no_delete: packet.no_delete(), unreachable: Unreachables(Source::Octets(&octets[LEN..end])) })
    }

    /// Length of the message, in bytes.
    pub fn buffer_len(&self) -> usize {
        LEN + self.unreachable.len() * DESTINATION_LEN
    }

    /// Writes the message.
    pub fn emit<T: AsRef<[u8]> + AsMut<[u8]>>(&self, packet: &mut ErrorPacket<T>) {
        let octets = packet.buffer.as_mut();
        octets[field::TYPE] = MessageType::Error.into();
        put(octets, field::FLAGS, [if self.no_delete { NO_DELETE } else { 0 }, 0]);
        // No more than 255 get into the list.
        octets[field::HOP_COUNT] = self.unreachable.len() as u8;
        for (place, unreachable) in octets[LEN..].chunks_exact_mut(DESTINATION_LEN).zip(self.unreachable.iter()) {
            unreachable.emit(place);
        }
    }
}
