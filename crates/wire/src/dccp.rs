//! The datagram congestion control protocol (RFC 4340) with the options of CCID 3 (RFC 4342).

mod options;

use std::net::Ipv4Addr;

use crate::ParseError;
use crate::bytes::{array, put};
use crate::checksum::{Policy, Sum};
use crate::code_point::code_points;
use crate::error::Layer;
use crate::ipv4::Protocol;

pub use options::{
    Feature, LossInterval, LossIntervals, NetworkState, OptionError, OptionKind, OptionList, OptionRepr, Options,
    TimestampEcho,
};

const LAYER: Layer = Layer("DCCP");

/// Length of the generic header with 48-bit sequence numbers, in bytes (RFC 4340, 5.1).
pub const HEADER_LEN: usize = 16;
/// Length of the generic header with 24-bit sequence numbers, in bytes (RFC 4340, 5.1).
pub(crate) const SHORT_HEADER_LEN: usize = 12;
/// The longest header, in bytes: 255 words (RFC 4340, 5.1).
pub const MAX_HEADER_LEN: usize = 1020;

mod field {
    pub(super) const SOURCE_PORT: usize = 0;
    pub(super) const DESTINATION_PORT: usize = 2;
    pub(super) const DATA_OFFSET: usize = 4;
    pub(super) const CCVAL_CSCOV: usize = 5;
    pub(super) const CHECKSUM: usize = 6;
    pub(super) const TYPE: usize = 8;
    /// The 24 bits of a short number.
    pub(super) const SHORT_SEQUENCE: usize = 9;
    /// The 48 bits of a long number.
    pub(super) const SEQUENCE: usize = 10;
}

/// A sequence number has 48 bits (RFC 4340, 7).
const SEQUENCE_MASK: u64 = (1 << 48) - 1;
/// A short one has 24.
const SHORT_MASK: u64 = (1 << 24) - 1;

code_points! {
    /// What a packet is for (RFC 4340, 5.1).
    PacketType(u8) {
        /// Initiates a connection.
        Request = 0,
        /// The server's answer to a Request.
        Response = 1,
        /// Application data.
        Data = 2,
        /// An acknowledgement without data.
        Ack = 3,
        /// Application data with an acknowledgement.
        DataAck = 4,
        /// The server asks the client to close.
        CloseReq = 5,
        /// Asks the other side to reset the connection, and so to end it.
        Close = 6,
        /// Ends the connection.
        Reset = 7,
        /// Asks for the other side's sequence numbers, after many losses.
        Sync = 8,
        /// Answers a Sync.
        SyncAck = 9,
    }
}

code_points! {
    /// Why a connection was reset (RFC 4340, 5.6).
    ResetCode(u8) {
        /// No reason given.
        Unspecified = 0,
        /// Normal close.
        Closed = 1,
        /// The connection failed.
        Aborted = 2,
        /// There is no such connection.
        NoConnection = 3,
        /// A packet of the wrong type.
        PacketError = 4,
        /// An option that can't be.
        OptionError = 5,
        /// An option behind Mandatory that wasn't understood.
        MandatoryError = 6,
        /// The server doesn't want the connection.
        ConnectionRefused = 7,
        /// No program serves this service code here.
        BadServiceCode = 8,
        /// The server is too busy.
        TooBusy = 9,
        /// The Init Cookie came back wrong.
        BadInitCookie = 10,
        /// The other side ignores congestion.
        AggressionPenalty = 11,
    }
}

/// A view of a DCCP header, its options and its payload.
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +-------------------------------+-------------------------------+
/// |          Source port          |       Destination port        |
/// +---------------+-------+-------+-------------------------------+
/// |  Data offset  | CCVal | CsCov |           Checksum            |
/// +-----+-------+-+-------+-------+-------------------------------+
/// | Res | Type  |1|   Reserved    |                               |
/// +-----+-------+-+---------------+     Sequence number           +
/// |                                                               |
/// +-------------------------------+-------------------------------+
/// |           Reserved            |                               |  all but Request and Data
/// +-------------------------------+     Acknowledgement number    +
/// |                                                               |
/// +---------------------------------------------------------------+
/// |  Service code; or Reset code and Data 1 to 3                  |  Request, Response; Reset
/// +---------------------------------------------------------------+
/// |                            Options                            |
/// +---------------------------------------------------------------+
/// ```
///
/// RFC 4340, 5.1 to 5.7. Most significant byte first. With the bit X, which the picture shows set, clear, both numbers have
/// 24 bits, in the words of X and behind 8 reserved bits. The buffer ends where the packet ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packet<T: AsRef<[u8]>> {
    buffer: T,
}

impl<T: AsRef<[u8]>> Packet<T> {
    /// A view of `buffer` as it is. Accessors panic if it is too short.
    pub fn new_unchecked(buffer: T) -> Self {
        Self { buffer }
    }

    /// A view of `buffer`, which holds a packet with a whole header (RFC 4340, 8.5, step 1, but for the checksum).
    pub fn new_checked(buffer: T) -> Result<Self, ParseError> {
        let length = buffer.as_ref().len();
        LAYER.require(length >= SHORT_HEADER_LEN, "length", 0, length, "at least 12")?;
        // No more fits into the datagram that carries it, nor into the length of the pseudo header.
        LAYER.require(length <= usize::from(u16::MAX), "length", 0, length, "at most 65535")?;
        let packet = Self { buffer };
        let kind = packet.packet_type();
        let named = !matches!(kind, PacketType::Unknown(_));
        LAYER.require(named, "type", field::TYPE, u8::from(kind), "at most 9")?;
        let may_be_short = matches!(kind, PacketType::Data | PacketType::Ack | PacketType::DataAck);
        LAYER.require(packet.is_extended() || may_be_short, "X", field::TYPE, 0_u8, "1 in a packet of this type")?;
        let least = packet.options_at();
        let header = packet.header_len();
        let expected = "at least the words of a header of this type";
        LAYER.require(header >= least, "data offset", field::DATA_OFFSET, header / 4, expected)?;
        let expected = "at most the buffer's length in words of 4 octets";
        LAYER.require(header <= length, "data offset", field::DATA_OFFSET, header / 4, expected)?;
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

    /// Length of the header with its options, in bytes.
    pub(crate) fn header_len(&self) -> usize {
        usize::from(self.buffer.as_ref()[field::DATA_OFFSET]) * 4
    }

    /// A number of the sender's congestion control: the window counter of CCID 3 (RFC 4342, 8.1).
    pub fn ccval(&self) -> u8 {
        self.buffer.as_ref()[field::CCVAL_CSCOV] >> 4
    }

    /// Part of the payload that the checksum covers: 0 all of it, n the first (n − 1) · 4 bytes (RFC 4340, 9.2).
    pub fn checksum_coverage(&self) -> u8 {
        self.buffer.as_ref()[field::CCVAL_CSCOV] & 0x0f
    }

    /// The checksum as it stands.
    pub(crate) fn checksum(&self) -> u16 {
        u16::from_be_bytes(array(self.buffer.as_ref(), field::CHECKSUM))
    }

    /// Whether the checksum is correct for these addresses, and its coverage within the payload (RFC 4340, 9.1 and 9.2).
    #[must_use]
    pub fn verify_checksum(&self, source: Ipv4Addr, destination: Ipv4Addr) -> bool {
        let octets = self.buffer.as_ref();
        let Some(covered) = covered(self.checksum_coverage(), self.payload().len()) else { return false };
        let sum = Sum::EMPTY.with_pseudo_header(source, destination, Protocol::Dccp.into(), octets.len() as u16);
        sum.with(&octets[..self.header_len() + covered]).is_valid()
    }

    /// Purpose of the packet.
    pub fn packet_type(&self) -> PacketType {
        PacketType::from(self.buffer.as_ref()[field::TYPE] >> 1 & 0x0f)
    }

    /// Whether the numbers have 48 bits (X): the others have 24.
    pub fn is_extended(&self) -> bool {
        self.buffer.as_ref()[field::TYPE] & 1 != 0
    }

    /// The number of this packet.
    pub fn sequence(&self) -> u64 {
        let octets = self.buffer.as_ref();
        if self.is_extended() { long(octets, field::SEQUENCE) } else { short(octets, field::SHORT_SEQUENCE) }
    }

    /// The greatest number received from the other side, which all packets but Request and Data have (RFC 4340, 5.2).
    pub fn acknowledgement(&self) -> Option<u64> {
        let octets = self.buffer.as_ref();
        if !acknowledges(self.packet_type()) {
            None
        } else if self.is_extended() {
            Some(long(octets, HEADER_LEN + 2))
        } else {
            Some(short(octets, SHORT_HEADER_LEN + 1))
        }
    }

    /// The word behind the numbers: service code, or reset code and data.
    fn last_word(&self) -> [u8; 4] {
        array(self.buffer.as_ref(), self.options_at() - 4)
    }

    /// Where the options begin: the length of a header without any.
    fn options_at(&self) -> usize {
        fixed_len(self.packet_type(), self.is_extended())
    }

    /// The bytes of the options, padding included.
    pub fn options(&self) -> Options<'_> {
        let start = self.options_at();
        Options::new(&self.buffer.as_ref()[start..self.header_len()], start)
    }

    /// Payload.
    pub fn payload(&self) -> &[u8] {
        &self.buffer.as_ref()[self.header_len()..]
    }
}

impl<T: AsRef<[u8]> + AsMut<[u8]>> Packet<T> {
    /// Computes the checksum of a packet between these addresses and writes it into the header.
    ///
    /// The buffer holds the header; the payload of `payload_len` bytes is `payload`, which counts as zeros where it is
    /// shorter. Panics if header and payload have more than 65535 bytes.
    pub fn fill_checksum(&mut self, source: Ipv4Addr, destination: Ipv4Addr, payload: &[u8], payload_len: u16) {
        let header = self.header_len();
        let length = (header as u16).checked_add(payload_len).expect("a DCCP packet has at most 65535 octets");
        let present = &payload[..payload.len().min(payload_len.into())];
        // One that reaches too far is sent as it is: the receiver drops the packet.
        let covered = covered(self.checksum_coverage(), payload_len.into()).unwrap_or(payload_len.into());
        let octets = self.buffer.as_mut();
        put(octets, field::CHECKSUM, [0, 0]);
        let sum = Sum::EMPTY.with_pseudo_header(source, destination, Protocol::Dccp.into(), length);
        let checksum = sum.with(&octets[..header]).with(&present[..covered.min(present.len())]).checksum();
        put(octets, field::CHECKSUM, checksum.to_be_bytes());
    }
}

/// Bytes of the payload that a checksum covers (RFC 4340, 9.2); `None` if there aren't as many.
fn covered(coverage: u8, payload: usize) -> Option<usize> {
    match usize::from(coverage) {
        0 => Some(payload),
        words => Some((words - 1) * 4).filter(|&octets| octets <= payload),
    }
}

/// Whether packets of this type have an acknowledgement number.
fn acknowledges(kind: PacketType) -> bool {
    !matches!(kind, PacketType::Request | PacketType::Data)
}

/// Length of a header of this type without options, in bytes (RFC 4340, 5.1 to 5.7).
fn fixed_len(kind: PacketType, extended: bool) -> usize {
    let (generic, acknowledgement) = if extended { (HEADER_LEN, 8) } else { (SHORT_HEADER_LEN, 4) };
    let word = matches!(kind, PacketType::Request | PacketType::Response | PacketType::Reset);
    generic + acknowledgement * usize::from(acknowledges(kind)) + 4 * usize::from(word)
}

fn long(octets: &[u8], at: usize) -> u64 {
    let number: [u8; 6] = array(octets, at);
    number.iter().fold(0, |number, &octet| number << 8 | u64::from(octet))
}

fn short(octets: &[u8], at: usize) -> u64 {
    let number: [u8; 3] = array(octets, at);
    number.iter().fold(0, |number, &octet| number << 8 | u64::from(octet))
}

/// The type of a packet, with the header fields of this type in addition to the generic ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Body {
    /// RFC 4340, 5.1.
    Request {
        /// What the client wants to be served with (8.1.2).
        service_code: u32,
    },
    /// RFC 4340, 5.3.
    Response {
        /// Number of the Request.
        acknowledgement: u64,
        /// That of the Request.
        service_code: u32,
    },
    /// RFC 4340, 5.4.
    Data,
    /// RFC 4340, 5.4.
    Ack {
        /// The greatest number received.
        acknowledgement: u64,
    },
    /// RFC 4340, 5.4.
    DataAck {
        /// The greatest number received.
        acknowledgement: u64,
    },
    /// RFC 4340, 5.5.
    CloseReq {
        /// The greatest number received.
        acknowledgement: u64,
    },
    /// RFC 4340, 5.5.
    Close {
        /// The greatest number received.
        acknowledgement: u64,
    },
    /// RFC 4340, 5.6.
    Reset {
        /// The greatest number received.
        acknowledgement: u64,
        /// Why.
        code: ResetCode,
        /// Data 1 to 3, by code: for example the option that was wrong.
        data: [u8; 3],
    },
    /// RFC 4340, 5.7.
    Sync {
        /// Number of the packet that was out of the window.
        acknowledgement: u64,
    },
    /// RFC 4340, 5.7.
    SyncAck {
        /// Number of the Sync.
        acknowledgement: u64,
    },
}

impl Body {
    /// The type.
    pub fn packet_type(&self) -> PacketType {
        match self {
            Self::Request { .. } => PacketType::Request,
            Self::Response { .. } => PacketType::Response,
            Self::Data => PacketType::Data,
            Self::Ack { .. } => PacketType::Ack,
            Self::DataAck { .. } => PacketType::DataAck,
            Self::CloseReq { .. } => PacketType::CloseReq,
            Self::Close { .. } => PacketType::Close,
            Self::Reset { .. } => PacketType::Reset,
            Self::Sync { .. } => PacketType::Sync,
            Self::SyncAck { .. } => PacketType::SyncAck,
        }
    }

    /// The acknowledgement number, which all but Request and Data have.
    pub fn acknowledgement(&self) -> Option<u64> {
        match *self {
            Self::Request { .. } | Self::Data => None,
            Self::Response { acknowledgement, .. }
            | Self::Ack { acknowledgement }
            | Self::DataAck { acknowledgement }
            | Self::CloseReq { acknowledgement }
            | Self::Close { acknowledgement }
            | Self::Reset { acknowledgement, .. }
            | Self::Sync { acknowledgement }
            | Self::SyncAck { acknowledgement } => Some(acknowledgement),
        }
    }

    /// The word behind the numbers.
    fn last_word(&self) -> Option<[u8; 4]> {
        match *self {
            Self::Request { service_code } | Self::Response { service_code, .. } => Some(service_code.to_be_bytes()),
            Self::Reset { code, data: [one, two, three], .. } => Some([code.into(), one, two, three]),
            _ => None,
        }
    }
}

/// The fields of a DCCP header. Its options are read one by one, in place: their order matters (RFC 4340, 5.8.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Repr<'a> {
    /// The sender's port.
    pub source_port: u16,
    /// The receiver's port.
    pub destination_port: u16,
    /// A number of the sender's congestion control: the window counter of CCID 3 (RFC 4342, 8.1). 4 bits.
    pub ccval: u8,
    /// Part of the payload that the checksum covers; 0: all. 4 bits.
    pub checksum_coverage: u8,
    /// Whether numbers have 48 bits instead of 24. Only Data, Ack and DataAck can be short; others are emitted long.
    pub extended: bool,
    /// The number of this packet.
    pub sequence: u64,
    /// Type and the rest of the header.
    pub body: Body,
    /// The options.
    pub options: Options<'a>,
    /// Length of the payload, in bytes.
    pub payload_len: u16,
}

impl<'a> Repr<'a> {
    /// Parses the header of a packet between these addresses.
    pub fn parse<T: AsRef<[u8]>>(
        packet: &'a Packet<T>,
        source: Ipv4Addr,
        destination: Ipv4Addr,
        checksum: Policy,
    ) -> Result<Self, ParseError> {
        let right = checksum == Policy::Ignore || packet.verify_checksum(source, destination);
        LAYER.require(right, "checksum", field::CHECKSUM, packet.checksum(), "what the covered octets add up to")?;
        let acknowledgement = packet.acknowledgement().unwrap_or(0);
        let kind = packet.packet_type();
        let service_code = || u32::from_be_bytes(packet.last_word());
        let body = match kind {
            PacketType::Request => Body::Request { service_code: service_code() },
            PacketType::Response => Body::Response { acknowledgement, service_code: service_code() },
            PacketType::Data => Body::Data,
            PacketType::Ack => Body::Ack { acknowledgement },
            PacketType::DataAck => Body::DataAck { acknowledgement },
            PacketType::CloseReq => Body::CloseReq { acknowledgement },
            PacketType::Close => Body::Close { acknowledgement },
            PacketType::Reset => {
                let [code, data @ ..] = packet.last_word();
                Body::Reset { acknowledgement, code: code.into(), data }
            }
            PacketType::Sync => Body::Sync { acknowledgement },
            PacketType::SyncAck => Body::SyncAck { acknowledgement },
            PacketType::Unknown(number) => {
                LAYER.require(false, "type", field::TYPE, number, "at most 9")?;
                unreachable!("the line above has returned")
            }
        };
        Ok(Self {
            source_port: packet.source_port(),
            destination_port: packet.destination_port(),
            ccval: packet.ccval(),
            checksum_coverage: packet.checksum_coverage(),
            extended: packet.is_extended(),
            sequence: packet.sequence(),
            body,
            options: packet.options(),
            payload_len: packet.payload().len() as u16,
        })
    }

    /// Whether the header is emitted with numbers of 48 bits.
    fn is_long(&self) -> bool {
        self.extended || !matches!(self.body, Body::Data | Body::Ack { .. } | Body::DataAck { .. })
    }

    /// Length of the header with its options, in bytes.
    pub fn buffer_len(&self) -> usize {
        fixed_len(self.body.packet_type(), self.is_long()) + self.options.as_octets().len().next_multiple_of(4)
    }

    /// Writes the header of a packet, its options and their padding included. The checksum is left at zero:
    /// [`Packet::fill_checksum`] computes it, once addresses and payload are known.
    ///
    /// Panics if the header has more than 1020 bytes.
    pub fn emit<T: AsRef<[u8]> + AsMut<[u8]>>(&self, packet: &mut Packet<T>) {
        let header = self.buffer_len();
        assert!(header <= MAX_HEADER_LEN, "a DCCP header has at most 1020 octets");
        let (kind, long) = (self.body.packet_type(), self.is_long());
        let octets = packet.buffer.as_mut();
        put(octets, field::SOURCE_PORT, self.source_port.to_be_bytes());
        put(octets, field::DESTINATION_PORT, self.destination_port.to_be_bytes());
        octets[field::DATA_OFFSET] = (header / 4) as u8;
        octets[field::CCVAL_CSCOV] = self.ccval << 4 | self.checksum_coverage & 0x0f;
        put(octets, field::CHECKSUM, [0, 0]);
        octets[field::TYPE] = u8::from(kind) << 1 | u8::from(long);
        if long {
            // 8 reserved bits, then 48; the upper bits of the word are masked away.
            put(octets, field::TYPE + 1, [0]);
            put(octets, field::SEQUENCE, low_48(self.sequence));
        } else {
            put(octets, field::SHORT_SEQUENCE, low_24(self.sequence));
        }
        if let Some(acknowledgement) = self.body.acknowledgement() {
            if long {
                put(octets, HEADER_LEN, (acknowledgement & SEQUENCE_MASK).to_be_bytes());
            } else {
                put(octets, SHORT_HEADER_LEN, ((acknowledgement & SHORT_MASK) as u32).to_be_bytes());
            }
        }
        let start = fixed_len(kind, long);
        if let Some(word) = self.body.last_word() {
            put(octets, start - 4, word);
        }
        let (options, padding) = octets[start..header].split_at_mut(self.options.as_octets().len());
        options.copy_from_slice(self.options.as_octets());
        padding.fill(OptionKind::Padding.into());
    }
}

fn low_48(number: u64) -> [u8; 6] {
    let [_, _, low @ ..] = number.to_be_bytes();
    low
}

fn low_24(number: u64) -> [u8; 3] {
    let [_, _, _, _, _, low @ ..] = number.to_be_bytes();
    low
}

#[cfg(test)]
mod tests;
