//! Route replies (RREP) and hellos.

use std::net::Ipv4Addr;

use super::{Extensions, MessageType, check, field};
use crate::ParseError;
use crate::bit_set::bit_set;
use crate::bytes::{array, put};

/// Length of a route reply without extensions, in bytes (RFC 3561, 5.2).
const LEN: usize = 20;

mod offset {
    pub(super) const PREFIX_SIZE: usize = 2;
    pub(super) const DESTINATION: usize = 4;
    pub(super) const DESTINATION_SEQUENCE: usize = 8;
    pub(super) const ORIGINATOR: usize = 12;
    pub(super) const LIFETIME: usize = 16;
}

/// The five bits of the prefix size.
const PREFIX_SIZE: u8 = 0x1f;

/// The flags of a route reply: the upper two bits of a byte (RFC 3561, 5.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct ReplyFlags(pub u8);

impl ReplyFlags {
    /// None.
    pub const NONE: Self = Self(0);
    /// R: repair; used for multicast.
    pub const REPAIR: Self = Self(0x80);
    /// A: the receiver of the reply acknowledges it.
    pub const ACKNOWLEDGE: Self = Self(0x40);

    const ALL: u8 = 0xc0;
}

bit_set!(ReplyFlags);

/// A view of a route reply.
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +---------------+-+-+-----------------+---------+---------------+
/// |     Type      |R|A|    Reserved     | Prefix  |   Hop count   |
/// +---------------+-+-+-----------------+---------+---------------+
/// |                      Destination address                      |
/// +---------------------------------------------------------------+
/// |                  Destination sequence number                  |
/// +---------------------------------------------------------------+
/// |                      Originator address                       |
/// +---------------------------------------------------------------+
/// |                           Lifetime                            |
/// +---------------------------------------------------------------+
/// |                        Extensions, if any                     |
/// +---------------------------------------------------------------+
/// ```
///
/// RFC 3561, 5.2. Most significant byte first. The buffer ends where the message ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReplyPacket<T: AsRef<[u8]>> {
    buffer: T,
}

impl<T: AsRef<[u8]>> ReplyPacket<T> {
    /// A view of `buffer` as it is. Accessors panic if it is too short.
    pub(crate) fn new_unchecked(buffer: T) -> Self {
        Self { buffer }
    }

    /// A view of `buffer`, which holds a whole route reply.
    pub fn new_checked(buffer: T) -> Result<Self, ParseError> {
        check(buffer.as_ref(), MessageType::Reply, LEN, "at least 20")?;
        Extensions::new_checked(&buffer.as_ref()[LEN..], LEN)?;
        Ok(Self { buffer })
    }

    /// The flags.
    pub fn flags(&self) -> ReplyFlags {
        ReplyFlags(self.buffer.as_ref()[field::FLAGS] & ReplyFlags::ALL)
    }

    /// Length of the prefix of a subnet to which the route leads, in bits; 0: it leads to the destination alone.
    pub fn prefix_size(&self) -> u8 {
        self.buffer.as_ref()[offset::PREFIX_SIZE] & PREFIX_SIZE
    }

    /// Hops from the sender to the destination.
    pub fn hop_count(&self) -> u8 {
        self.buffer.as_ref()[field::HOP_COUNT]
    }

    /// Destination of the route.
    pub fn destination(&self) -> Ipv4Addr {
        array(self.buffer.as_ref(), offset::DESTINATION).into()
    }

    /// The sequence number of the route.
    pub fn destination_sequence(&self) -> u32 {
        u32::from_be_bytes(array(self.buffer.as_ref(), offset::DESTINATION_SEQUENCE))
    }

    /// Node that has asked for the route.
    pub fn originator(&self) -> Ipv4Addr {
        array(self.buffer.as_ref(), offset::ORIGINATOR).into()
    }

    /// Lifetime of the route, in milliseconds.
    pub fn lifetime(&self) -> u32 {
        u32::from_be_bytes(array(self.buffer.as_ref(), offset::LIFETIME))
    }

    /// Extensions of the message.
    pub fn extensions(&self) -> Extensions<'_> {
        Extensions::new_unchecked(&self.buffer.as_ref()[LEN..])
    }
}

/// The fields of a route reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReplyRepr<'a> {
    /// The flags.
    pub flags: ReplyFlags,
    /// Length of the prefix of a subnet to which the route leads, in bits, up to 31; 0: it leads to the destination alone.
    pub prefix_size: u8,
    /// Hops from the sender to the destination.
    pub hop_count: u8,
    /// Destination of the route.
    pub destination: Ipv4Addr,
    /// The sequence number of the route.
    pub destination_sequence: u32,
    /// Node that has asked for the route.
    pub originator: Ipv4Addr,
    /// Lifetime of the route, in milliseconds.
    pub lifetime: u32,
    /// Extensions of the message.
    pub extensions: Extensions<'a>,
}

impl<'a> ReplyRepr<'a> {
    /// Parses a route reply.
    pub fn parse<T: AsRef<[u8]> + ?Sized>(packet: &ReplyPacket<&'a T>) -> Result<Self, ParseError> {
        Ok(Self {
            flags: packet.flags(),
            prefix_size: packet.prefix_size(),
            hop_count: packet.hop_count(),
            destination: packet.destination(),
            destination_sequence: packet.destination_sequence(),
            originator: packet.originator(),
            lifetime: packet.lifetime(),
            extensions: Extensions::new_checked(&packet.buffer.as_ref()[LEN..], LEN)?,
        })
    }

    /// Length of the message, in bytes.
    pub fn buffer_len(&self) -> usize {
        LEN + self.extensions.as_slice().len()
    }

    /// Writes the message.
    pub fn emit<T: AsRef<[u8]> + AsMut<[u8]>>(&self, packet: &mut ReplyPacket<T>) {
        let octets = packet.buffer.as_mut();
        octets[field::TYPE] = MessageType::Reply.into();
        put(octets, field::FLAGS, [self.flags.0 & ReplyFlags::ALL, self.prefix_size & PREFIX_SIZE]);
        octets[field::HOP_COUNT] = self.hop_count;
        put(octets, offset::DESTINATION, self.destination.octets());
        put(octets, offset::DESTINATION_SEQUENCE, self.destination_sequence.to_be_bytes());
        put(octets, offset::ORIGINATOR, self.originator.octets());
        put(octets, offset::LIFETIME, self.lifetime.to_be_bytes());
        octets[LEN..self.buffer_len()].copy_from_slice(self.extensions.as_slice());
    }
}
