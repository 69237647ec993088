//! Packets of OLSR, the optimized link state routing protocol (RFC 3626).
//!
//! A packet holds messages: [`Packet::messages`] iterates over them, without a copy. Read a message with the view of its
//! type ([`hello::View`], [`tc::View`], [`mid::View`], [`hna::View`]), which copies nothing either, or parse it into the
//! `Repr` of its type, which can also be emitted.
//!
//! A packet that is too short is refused. A message with an invalid size ends the packet; those before it count. A
//! message with an invalid body does not affect the others.

pub mod hello;
pub mod hna;
mod message;
pub mod mid;
pub mod tc;
mod time;

use std::net::Ipv4Addr;

pub use self::message::{Message, MessageRepr, MessageType, Messages};
pub use self::time::TimeCode;
use crate::ParseError;
use crate::bytes::{array, put};
use crate::error::Layer;

const LAYER: Layer = Layer("OLSR");

/// UDP port, source and destination (RFC 3626, 3.1).
pub const PORT: u16 = 698;
/// Length of the header of a packet, in bytes (RFC 3626, 3.3).
pub const HEADER_LEN: usize = 4;
/// Length of the header of a message, in bytes (RFC 3626, 3.3).
pub const MESSAGE_HEADER_LEN: usize = 12;

/// Length of an address of IPv4, in bytes.
const ADDRESS_LEN: usize = 4;

mod field {
    pub(super) const LENGTH: usize = 0;
    pub(super) const SEQUENCE: usize = 2;
}

/// A view of a packet.
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +-------------------------------+-------------------------------+
/// |         Packet length         |    Packet sequence number     |
/// +-------------------------------+-------------------------------+
/// |                           Messages                            :
/// ```
///
/// RFC 3626, 3.3. Most significant byte first. Bytes of the buffer beyond the length are no part of the packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packet<T: AsRef<[u8]>> {
    buffer: T,
}

impl<T: AsRef<[u8]>> Packet<T> {
    /// A view of `buffer` as it is. Accessors panic if it is too short.
    pub fn new_unchecked(buffer: T) -> Self {
        Self { buffer }
    }

    /// A view of `buffer`, which holds the payload of a UDP datagram. A packet without a message is refused (RFC 3626,
    /// 3.4).
    pub fn new_checked(buffer: T) -> Result<Self, ParseError> {
        const LEAST: usize = HEADER_LEN + MESSAGE_HEADER_LEN;
        let length = buffer.as_ref().len();
        LAYER.require(length >= LEAST, "length of the buffer", 0, length, "at least 16")?;
        let packet = Self { buffer };
        let told = packet.length();
        LAYER.require(told >= LEAST, "packet length", field::LENGTH, told, "at least 16")?;
        LAYER.require(told <= length, "packet length", field::LENGTH, told, "at most the buffer's length")?;
        Ok(packet)
    }

    /// Length of the packet, in bytes.
    pub(crate) fn length(&self) -> usize {
        u16::from_be_bytes(array(self.buffer.as_ref(), field::LENGTH)).into()
    }

    /// Number of the packet among those that the sender's interface has sent.
    pub fn sequence(&self) -> u16 {
        u16::from_be_bytes(array(self.buffer.as_ref(), field::SEQUENCE))
    }

    /// Iterates over the messages. Ends with the packet, or with the first message whose size can't be.
    pub fn messages(&self) -> Messages<'_> {
        Messages::new(&self.buffer.as_ref()[HEADER_LEN..self.length()])
    }
}

/// The fields of the header of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Repr {
    /// Number of the packet among those that the sender's interface has sent.
    pub sequence: u16,
    /// Length of the messages together, in bytes: at most 65531.
    pub payload_len: u16,
}

impl Repr {
    /// Parses a header. A view from [`Packet::new_checked`] always has one.
    pub fn parse<T: AsRef<[u8]>>(packet: &Packet<T>) -> Result<Self, ParseError> {
        Ok(Self { sequence: packet.sequence(), payload_len: (packet.length() - HEADER_LEN) as u16 })
    }

    /// Length of the header, in bytes.
    pub fn buffer_len(&self) -> usize {
        HEADER_LEN
    }

    /// Writes the header. Panics if `payload_len` is above 65531.
    pub fn emit<T: AsRef<[u8]> + AsMut<[u8]>>(&self, packet: &mut Packet<T>) {
        let length = self.payload_len.checked_add(HEADER_LEN as u16).expect("an OLSR packet has at most 65535 octets");
        put(packet.buffer.as_mut(), field::LENGTH, length.to_be_bytes());
        put(packet.buffer.as_mut(), field::SEQUENCE, self.sequence.to_be_bytes());
    }
}

/// A sequence of addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Addresses<'a>(&'a [u8]);

impl<'a> Addresses<'a> {
    /// The addresses in `octets`, which stand `offset` bytes into their message.
    fn new(octets: &'a [u8], offset: usize, field: &'static str) -> Result<Self, ParseError> {
        let whole = octets.len().is_multiple_of(ADDRESS_LEN);
        LAYER.require(whole, field, offset, octets.len(), "a multiple of 4 octets")?;
        Ok(Self(octets))
    }

    /// Iterates over the addresses.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Ipv4Addr> + 'a {
        self.0.chunks_exact(ADDRESS_LEN).map(|octets| Ipv4Addr::from(array::<ADDRESS_LEN>(octets, 0)))
    }
}

/// Writes addresses one behind the other. Panics if `octets` has no room for them.
fn emit_addresses(addresses: &[Ipv4Addr], octets: &mut [u8]) {
    for (nth, address) in addresses.iter().enumerate() {
        put(octets, nth * ADDRESS_LEN, address.octets());
    }
}

#[cfg(test)]
mod tests;
