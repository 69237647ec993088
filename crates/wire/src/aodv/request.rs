//! Route requests (RREQ).

use std::net::Ipv4Addr;

use super::{Extensions, MessageType, check, field};
use crate::ParseError;
use crate::bit_set::bit_set;
use crate::bytes::{array, put};

/// Length of a route request without extensions, in bytes (RFC 3561, 5.1).
const LEN: usize = 24;

mod offset {
    pub(super) const ID: usize = 4;
    pub(super) const DESTINATION: usize = 8;
    pub(super) const DESTINATION_SEQUENCE: usize = 12;
    pub(super) const ORIGINATOR: usize = 16;
    pub(super) const ORIGINATOR_SEQUENCE: usize = 20;
}

/// The flags of a route request: the upper five bits of a byte (RFC 3561, 5.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct RequestFlags(pub u8);

impl RequestFlags {
    /// None.
    pub const NONE: Self = Self(0);
    /// J: join; reserved for multicast.
    pub const JOIN: Self = Self(0x80);
    /// R: repair; reserved for multicast.
    pub const REPAIR: Self = Self(0x40);
    /// G: a node that replies for the destination also sends it the route to the originator.
    pub const GRATUITOUS: Self = Self(0x20);
    /// D: only the destination may reply.
    pub const DESTINATION_ONLY: Self = Self(0x10);
    /// U: the sequence number of the destination is unknown.
    pub const UNKNOWN_SEQUENCE: Self = Self(0x08);

    const ALL: u8 = 0xf8;

    /// The same without `flags`.
    #[must_use]
    pub const fn without(self, flags: Self) -> Self {
        Self(self.0 & !flags.0)
    }
}

bit_set!(RequestFlags);

/// A view of a route request.
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +---------------+-+-+-+-+-+---------------------+---------------+
/// |     Type      |J|R|G|D|U|      Reserved       |   Hop count   |
/// +---------------+-+-+-+-+-+---------------------+---------------+
/// |                            RREQ ID                            |
/// +---------------------------------------------------------------+
/// |                      Destination address                      |
/// +---------------------------------------------------------------+
/// |                  Destination sequence number                  |
/// +---------------------------------------------------------------+
/// |                      Originator address                       |
/// +---------------------------------------------------------------+
/// |                  Originator sequence number                   |
/// +---------------------------------------------------------------+
/// |                        Extensions, if any                     |
/// +---------------------------------------------------------------+
/// ```
///
/// RFC 3561, 5.1. Most significant byte first. The buffer ends where the message ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestPacket<T: AsRef<[u8]>> {
    buffer: T,
}

impl<T: AsRef<[u8]>> RequestPacket<T> {
    /// A view of `buffer` as it is. Accessors panic if it is too short.
    pub(crate) fn new_unchecked(buffer: T) -> Self {
        Self { buffer }
    }

    /// A view of `buffer`, which holds a whole route request.
    pub fn new_checked(buffer: T) -> Result<Self, ParseError> {
        check(buffer.as_ref(), MessageType::Request, LEN, "at least 24")?;
        Extensions::new_checked(&buffer.as_ref()[LEN..], LEN)?;
        Ok(Self { buffer })
    }

    /// The flags.
    pub fn flags(&self) -> RequestFlags {
        RequestFlags(self.buffer.as_ref()[field::FLAGS] & RequestFlags::ALL)
    }

    /// Hops from the originator to the sender.
    pub fn hop_count(&self) -> u8 {
        self.buffer.as_ref()[field::HOP_COUNT]
    }

    /// Identifier that the originator has given to the request.
    pub fn id(&self) -> u32 {
        u32::from_be_bytes(array(self.buffer.as_ref(), offset::ID))
    }

    /// Destination of the wanted route.
    pub fn destination(&self) -> Ipv4Addr {
        array(self.buffer.as_ref(), offset::DESTINATION).into()
    }

    /// The least sequence number that a route must have, unless [`RequestFlags::UNKNOWN_SEQUENCE`] is set.
    pub fn destination_sequence(&self) -> u32 {
        u32::from_be_bytes(array(self.buffer.as_ref(), offset::DESTINATION_SEQUENCE))
    }

    /// Node that wants a route.
    pub fn originator(&self) -> Ipv4Addr {
        array(self.buffer.as_ref(), offset::ORIGINATOR).into()
    }

    /// The sequence number of the originator.
    pub fn originator_sequence(&self) -> u32 {
        u32::from_be_bytes(array(self.buffer.as_ref(), offset::ORIGINATOR_SEQUENCE))
    }

    /// Extensions of the message.
    pub fn extensions(&self) -> Extensions<'_> {
        Extensions::new_unchecked(&self.buffer.as_ref()[LEN..])
    }
}

/// The fields of a route request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestRepr<'a> {
    /// The flags.
    pub flags: RequestFlags,
    /// Hops from the originator to the sender.
    pub hop_count: u8,
    /// Identifier that the originator has given to the request.
    pub id: u32,
    /// Destination of the wanted route.
    pub destination: Ipv4Addr,
    /// The least sequence number that a route must have, unless [`RequestFlags::UNKNOWN_SEQUENCE`] is set.
    pub destination_sequence: u32,
    /// Node that wants a route.
    pub originator: Ipv4Addr,
    /// The sequence number of the originator.
    pub originator_sequence: u32,
    /// Extensions of the message.
    pub extensions: Extensions<'a>,
}

impl<'a> RequestRepr<'a> {
    /// Parses a route request.
    pub fn parse<T: AsRef<[u8]> + ?Sized>(packet: &RequestPacket<&'a T>) -> Result<Self, ParseError> {
        Ok(Self {
            flags: packet.flags(),
            hop_count: packet.hop_count(),
            id: packet.id(),
            destination: packet.destination(),
            destination_sequence: packet.destination_sequence(),
            originator: packet.originator(),
            originator_sequence: packet.originator_sequence(),
            extensions: Extensions::new_checked(&packet.buffer.as_ref()[LEN..], LEN)?,
        })
    }

    /// Length of the message, in bytes.
    pub fn buffer_len(&self) -> usize {
        LEN + self.extensions.as_slice().len()
    }

    /// Writes the message.
    pub fn emit<T: AsRef<[u8]> + AsMut<[u8]>>(&self, packet: &mut RequestPacket<T>) {
        let octets = packet.buffer.as_mut();
        octets[field::TYPE] = MessageType::Request.into();
        put(octets, field::FLAGS, [self.flags.0 & RequestFlags::ALL, 0]);
        octets[field::HOP_COUNT] = self.hop_count;
        put(octets, offset::ID, self.id.to_be_bytes());
        put(octets, offset::DESTINATION, self.destination.octets());
        put(octets, offset::DESTINATION_SEQUENCE, self.destination_sequence.to_be_bytes());
        put(octets, offset::ORIGINATOR, self.originator.octets());
        put(octets, offset::ORIGINATOR_SEQUENCE, self.originator_sequence.to_be_bytes());
        octets[LEN..self.buffer_len()].copy_from_slice(self.extensions.as_slice());
    }
}
