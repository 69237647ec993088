//! The transmission control protocol (RFC 9293).

mod options;

use std::fmt;
use std::net::Ipv4Addr;

use crate::ParseError;
use crate::bit_set::bit_set;
use crate::bytes::{array, put};
use crate::checksum::{Policy, Sum};
use crate::error::Layer;
use crate::ipv4::Protocol;

pub use options::{OptionKind, Options, RawOption, RawOptions, SackBlock, SackBlocks, Timestamps, UnknownOptions};

const LAYER: Layer = Layer("TCP");

/// Length of a header without options, in bytes (RFC 9293, 3.1).
pub const HEADER_LEN: usize = 20;

mod field {
    pub(super) const SOURCE_PORT: usize = 0;
    pub(super) const DESTINATION_PORT: usize = 2;
    pub(super) const SEQUENCE: usize = 4;
    pub(super) const ACKNOWLEDGEMENT: usize = 8;
    pub(super) const OFFSET_FLAGS: usize = 12;
    pub(super) const WINDOW: usize = 14;
    pub(super) const CHECKSUM: usize = 16;
    pub(super) const URGENT: usize = 18;
    pub(super) const OPTIONS: usize = 20;
}

/// The control bits: 12 bits, of which the upper three are reserved (RFC 9293, 3.1; RFC 9768, 2.1).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Flags(pub u16);

impl Flags {
    /// No more data from the sender.
    pub const FIN: Self = Self(0x001);
    /// Synchronise sequence numbers.
    pub const SYN: Self = Self(0x002);
    /// Reset the connection.
    pub const RST: Self = Self(0x004);
    /// Push function.
    pub const PSH: Self = Self(0x008);
    /// The acknowledgement number is valid.
    pub const ACK: Self = Self(0x010);
    /// The urgent pointer is valid.
    pub const URG: Self = Self(0x020);
    /// ECN echo (RFC 3168, 6.1).
    pub const ECE: Self = Self(0x040);
    /// Congestion window reduced (RFC 3168, 6.1).
    pub const CWR: Self = Self(0x080);
    /// Accurate ECN (RFC 9768, 2.1).
    pub const AE: Self = Self(0x100);
}

bit_set!(Flags);

/// The names of the bits that are set, as in `SYN|ACK`.
impl fmt::Display for Flags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const NAMES: [(Flags, &str); 9] = [
            (Flags::SYN, "SYN"),
            (Flags::FIN, "FIN"),
            (Flags::RST, "RST"),
            (Flags::PSH, "PSH"),
            (Flags::ACK, "ACK"),
            (Flags::URG, "URG"),
            (Flags::ECE, "ECE"),
            (Flags::CWR, "CWR"),
            (Flags::AE, "AE"),
        ];
        let named = NAMES.iter().filter(|(flag, _)| self.contains(*flag));
        for (nth, (_, name)) in named.enumerate() {
            write!(f, "{}{name}", if nth == 0 { "" } else { "|" })?;
        }
        match self.0 >> NAMES.len() {
            0 => Ok(()),
            reserved => write!(f, "; reserved {reserved:#x}"),
        }
    }
}

impl fmt::Debug for Flags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Flags({self})")
    }
}

/// A view of a TCP header, its options and its payload.
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +-------------------------------+-------------------------------+
/// |          Source port          |       Destination port        |
/// +-------------------------------+-------------------------------+
/// |                        Sequence number                        |
/// +---------------------------------------------------------------+
/// |                    Acknowledgement number                     |
/// +-------+-----+-+-+-+-+-+-+-+-+-+-------------------------------+
/// | Data  | Res.|A|C|E|U|A|P|R|S|F|                               |
/// | offset|     |E|W|C|R|C|S|S|Y|I|            Window             |
/// |       |     | |R|E|G|K|H|T|N|N|                               |
/// +-------+-----+-+-+-+-+-+-+-+-+-+-------------------------------+
/// |           Checksum            |        Urgent pointer         |
/// +-------------------------------+-------------------------------+
/// |                   Options, 0 to 40 octets                     |
/// +---------------------------------------------------------------+
/// ```
///
/// RFC 9293, 3.1. Most significant byte first. The buffer ends where the segment ends: the header has no length of the
/// segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packet<T: AsRef<[u8]>> {
    buffer: T,
}

impl<T: AsRef<[u8]>> Packet<T> {
    /// A view of `buffer` as it is. Accessors panic if it is too short.
    pub fn new_unchecked(buffer: T) -> Self {
        Self { buffer }
    }

    /// A view of `buffer`, which holds a segment with a whole header.
    pub fn new_checked(buffer: T) -> Result<Self, ParseError> {
        let length = buffer.as_ref().len();
        LAYER.require(length >= HEADER_LEN, "length", 0, length, "at least 20")?;
        // No more fits into the datagram that carries it, nor into the length of the pseudo header.
        LAYER.require(length <= usize::from(u16::MAX), "length", 0, length, "at most 65535")?;
        let packet = Self { buffer };
        let header = packet.header_len();
        LAYER.require(header >= HEADER_LEN, "data offset", field::OFFSET_FLAGS, header / 4, "at least 5")?;
        let expected = "at most the buffer's length in words of 4 octets";
        LAYER.require(header <= length, "data offset", field::OFFSET_FLAGS, header / 4, expected)?;
        Ok(packet)
    }

    /// The sender's port.
    pub fn source_port(&self) -> u16 {
        u16::from_be_bytes(array(self.buffer.as_ref(), field::SOURCE_PORT))
    }

    /// The receiver's port.
    pub fn destination_port(&self) -> u16 {
        u16::from_be_bytes(array(self.buffer.as_ref(), field::DESTINATION_PORT))
    }

    /// Number of the first byte of the payload, or of the SYN.
    pub fn sequence(&self) -> u32 {
        u32::from_be_bytes(array(self.buffer.as_ref(), field::SEQUENCE))
    }

    /// Number of the next byte expected from the other side, if [`Flags::ACK`] is set.
    pub fn acknowledgement(&self) -> u32 {
        u32::from_be_bytes(array(self.buffer.as_ref(), field::ACKNOWLEDGEMENT))
    }

    /// Length of the header with its options, in bytes.
    pub(crate) fn header_len(&self) -> usize {
        usize::from(self.buffer.as_ref()[field::OFFSET_FLAGS] >> 4) * 4
    }

    /// The control bits.
    pub fn flags(&self) -> Flags {
        Flags(u16::from_be_bytes(array(self.buffer.as_ref(), field::OFFSET_FLAGS)) & 0x0fff)
    }

    /// The window field, without scaling.
    pub fn window(&self) -> u16 {
        u16::from_be_bytes(array(self.buffer.as_ref(), field::WINDOW))
    }

    /// The checksum as it stands.
    pub(crate) fn checksum(&self) -> u16 {
        u16::from_be_bytes(array(self.buffer.as_ref(), field::CHECKSUM))
    }

    /// Whether the checksum is correct for these addresses.
    #[must_use]
    pub fn verify_checksum(&self, source: Ipv4Addr, destination: Ipv4Addr) -> bool {
        let segment = self.buffer.as_ref();
        let sum = Sum::EMPTY.with_pseudo_header(source, destination, Protocol::Tcp.into(), segment.len() as u16);
        sum.with(segment).is_valid()
    }

    /// The urgent pointer, if [`Flags::URG`] is set.
    pub(crate) fn urgent(&self) -> u16 {
        u16::from_be_bytes(array(self.buffer.as_ref(), field::URGENT))
    }

    /// Iterates over the unparsed options.
    pub fn options(&self) -> RawOptions<'_> {
        RawOptions::new(&self.buffer.as_ref()[field::OPTIONS..self.header_len()])
    }

    /// Payload.
    pub fn payload(&self) -> &[u8] {
        &self.buffer.as_ref()[self.header_len()..]
    }
}

/// The fields of a TCP header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Repr {
    /// The sender's port.
    pub source_port: u16,
    /// The receiver's port.
    pub destination_port: u16,
    /// Number of the first byte of the payload, or of the SYN.
    pub sequence: u32,
    /// Number of the next byte expected from the other side, if [`Flags::ACK`] is set.
    pub acknowledgement: u32,
    /// The control bits.
    pub flags: Flags,
    /// The window field: already divided by the scale.
    pub window: u16,
    /// The urgent pointer, if [`Flags::URG`] is set.
    pub urgent: u16,
    /// The options.
    pub options: Options,
    /// Length of the payload, in bytes.
    pub payload_len: u16,
}

impl Repr {
    /// Parses the header of a segment between these addresses.
    pub fn parse<T: AsRef<[u8]>>(
        packet: &Packet<T>,
        source: Ipv4Addr,
        destination: Ipv4Addr,
        checksum: Policy,
    ) -> Result<Self, ParseError> {
        let right = checksum == Policy::Ignore || packet.verify_checksum(source, destination);
        LAYER.require(right, "checksum", field::CHECKSUM, packet.checksum(), "what the segment adds up to")?;
        Ok(Self {
            source_port: packet.source_port(),
            destination_port: packet.destination_port(),
            sequence: packet.sequence(),
            acknowledgement: packet.acknowledgement(),
            flags: packet.flags(),
            window: packet.window(),
            urgent: packet.urgent(),
            options: Options::parse(packet.options())?,
            payload_len: packet.payload().len() as u16,
        })
    }

    /// Length of the header with its options, in bytes.
    pub fn buffer_len(&self) -> usize {
        HEADER_LEN + self.options.buffer_len()
    }

    /// Writes the header of a segment between these addresses, its options and its checksum included.
    ///
    /// `payload` is what will follow; what it lacks up to `payload_len` counts as zeros. Panics if header and payload have
    /// more than 65535 bytes.
    pub fn emit<T: AsRef<[u8]> + AsMut<[u8]>>(
        &self,
        packet: &mut Packet<T>,
        source: Ipv4Addr,
        destination: Ipv4Addr,
        payload: &[u8],
    ) {
        let header = self.buffer_len();
        let length = (header as u16).checked_add(self.payload_len).expect("a TCP segment has at most 65535 octets");
        let octets = packet.buffer.as_mut();
        put(octets, field::SOURCE_PORT, self.source_port.to_be_bytes());
        put(octets, field::DESTINATION_PORT, self.destination_port.to_be_bytes());
        put(octets, field::SEQUENCE, self.sequence.to_be_bytes());
        put(octets, field::ACKNOWLEDGEMENT, self.acknowledgement.to_be_bytes());
        let offset = (header as u16 / 4) << 12;
        put(octets, field::OFFSET_FLAGS, (offset | self.flags.0 & 0x0fff).to_be_bytes());
        put(octets, field::WINDOW, self.window.to_be_bytes());
        put(octets, field::CHECKSUM, [0, 0]);
        put(octets, field::URGENT, self.urgent.to_be_bytes());
        self.options.emit(&mut octets[field::OPTIONS..header]);
        let present = &payload[..payload.len().min(self.payload_len.into())];
        let sum = Sum::EMPTY.with_pseudo_header(source, destination, Protocol::Tcp.into(), length);
        let checksum = sum.with(&octets[..header]).with(present).checksum();
        put(octets, field::CHECKSUM, checksum.to_be_bytes());
    }
}

#[cfg(test)]
mod tests;
