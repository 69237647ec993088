//! The DSR Options header of dynamic source routing (RFC 4728, 6), without the flow state extension.
//!
//! The header is between the IP header and the data, or is the whole payload of a packet without data. It is a fixed
//! portion of four bytes and a list of [options](DsrOption), which are read one by one, in place: nothing about the list
//! itself has to be stored.
//!
//! [`Repr::emit`] panics if the options exceed what their length fields can tell; [`MAX_ADDRESSES_OF_REQUEST`],
//! [`MAX_ADDRESSES_OF_REPLY`] and [`MAX_ADDRESSES_OF_ROUTE`] say how many addresses fit.

mod options;
#[cfg(test)]
mod tests;

pub use options::{
    Ack, AckRequest, Addresses, DsrOption, ErrorKind, MAX_ADDRESSES_OF_REPLY, MAX_ADDRESSES_OF_REQUEST,
    MAX_ADDRESSES_OF_ROUTE, MAX_SALVAGE, OptionType, Options, RouteError, RouteReply, RouteRequest, SourceRoute,
    Unsupported,
};

use crate::ParseError;
use crate::bytes::{array, put};
use crate::error::Layer;
use crate::ipv4::Protocol;

const LAYER: Layer = Layer("DSR");

/// Length of the fixed portion, in bytes (RFC 4728, 6.1).
pub(crate) const FIXED_LEN: usize = 4;

mod field {
    pub(super) const NEXT_HEADER: usize = 0;
    pub(super) const FLAGS: usize = 1;
    pub(super) const PAYLOAD_LENGTH: usize = 2;
}

/// The flag of a DSR Flow State header, in the byte that it shares with the reserved bits (RFC 4728, 6.1 and 7.1).
const FLOW_STATE: u8 = 0x80;

/// A view of a DSR Options header and the bytes after it.
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +---------------+-+-------------+-------------------------------+
/// |  Next header  |F|  Reserved   |        Payload length         |
/// +---------------+-+-------------+-------------------------------+
/// |                            Options                            |
/// +---------------------------------------------------------------+
/// ```
///
/// RFC 4728, 6.1. Most significant byte first. The payload length is that of the options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packet<T: AsRef<[u8]>> {
    buffer: T,
}

impl<T: AsRef<[u8]>> Packet<T> {
    /// A view of `buffer` as it is. Accessors panic if it is too short.
    pub fn new_unchecked(buffer: T) -> Self {
        Self { buffer }
    }

    /// A view of `buffer`, which begins with a whole DSR Options header. A DSR Flow State header is refused, and so is a
    /// header whose length isn't a multiple of 4 although something follows. The options are not looked at.
    pub fn new_checked(buffer: T) -> Result<Self, ParseError> {
        let length = buffer.as_ref().len();
        LAYER.require(length >= FIXED_LEN, "length of the buffer", 0, length, "at least 4")?;
        let packet = Self { buffer };
        let flags = packet.buffer.as_ref()[field::FLAGS];
        LAYER.require(!packet.is_flow_state(), "flow state header (F)", field::FLAGS, flags, "below 128")?;
        let told = packet.payload_length();
        LAYER.require(told <= length - FIXED_LEN, "payload length", field::PAYLOAD_LENGTH, told, "what is there")?;
        let aligned = packet.next_header() == Protocol::NoNextHeader || told.is_multiple_of(4);
        LAYER.require(
            aligned,
            "payload length",
            field::PAYLOAD_LENGTH,
            told,
            "a multiple of 4 before another header",
        )?;
        Ok(packet)
    }

    /// Bytes after the header.
    pub fn next_header(&self) -> Protocol {
        self.buffer.as_ref()[field::NEXT_HEADER].into()
    }

    /// Whether this is a DSR Flow State header, which has another format (RFC 4728, 7.1).
    pub(crate) fn is_flow_state(&self) -> bool {
        self.buffer.as_ref()[field::FLAGS] & FLOW_STATE != 0
    }

    /// Length of the options, in bytes.
    pub(crate) fn payload_length(&self) -> usize {
        u16::from_be_bytes(array(self.buffer.as_ref(), field::PAYLOAD_LENGTH)).into()
    }

    /// Length of the header with its options, in bytes.
    pub fn header_len(&self) -> usize {
        FIXED_LEN + self.payload_length()
    }

    /// Payload, up to the end of the buffer.
    pub fn payload(&self) -> &[u8] {
        &self.buffer.as_ref()[self.header_len()..]
    }
}

impl<'a, T: AsRef<[u8]> + ?Sized> Packet<&'a T> {
    /// The options, one by one.
    pub fn options(&self) -> Options<'a> {
        Options::new(&self.buffer.as_ref()[FIXED_LEN..self.header_len()])
    }
}

/// The fields of a DSR Options header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Repr<'a> {
    /// Protocol of the payload; [`Protocol::NoNextHeader`] without one.
    pub next_header: Protocol,
    /// The options in their order. `emit` pads them to a multiple of 4 bytes if there is a payload.
    pub options: &'a [DsrOption<'a>],
}

impl Repr<'_> {
    fn options_len(&self) -> usize {
        self.options.iter().map(DsrOption::buffer_len).sum()
    }

    /// Length of the header with options and padding, in bytes.
    pub fn buffer_len(&self) -> usize {
        let options = self.options_len();
        // RFC 4728, 6: what follows stays aligned.
        let is_last = self.next_header == Protocol::NoNextHeader;
        FIXED_LEN + if is_last { options } else { options.next_multiple_of(4) }
    }

    /// Writes the header. Panics if the options are longer than 65535 bytes together, or one of them than 255.
    pub fn emit<T: AsRef<[u8]> + AsMut<[u8]>>(&self, packet: &mut Packet<T>) {
        let length = self.buffer_len();
        let octets = &mut packet.buffer.as_mut()[..length];
        octets[field::NEXT_HEADER] = self.next_header.into();
        octets[field::FLAGS] = 0;
        let payload_length = u16::try_from(length - FIXED_LEN).expect("the options have at most 65535 octets");
        put(octets, field::PAYLOAD_LENGTH, payload_length.to_be_bytes());
        let mut rest = &mut octets[FIXED_LEN..];
        for option in self.options {
            let (part, behind) = rest.split_at_mut(option.buffer_len());
            option.emit(part);
            rest = behind;
        }
        // RFC 4728, 6.8: one octet of padding is a Pad1, more are a PadN.
        match rest.len() {
            0 => {}
            1 => DsrOption::Pad1.emit(rest),
            more => DsrOption::PadN { length: more as u8 - 2 }.emit(rest),
        }
    }
}
