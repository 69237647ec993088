//! The options of a DSR Options header (RFC 4728, 6.2 to 6.9).

use core::fmt;
use std::net::Ipv4Addr;

use super::{FIXED_LEN, LAYER};
use crate::ParseError;
use crate::bytes::{array, put};
use crate::code_point::code_points;

/// Length of an address, in bytes.
const ADDRESS_LEN: usize = 4;
/// Data of an option before its addresses, in bytes (RFC 4728, 6.2, 6.3, 6.7).
const REQUEST_LEN: usize = 6;
const REPLY_LEN: usize = 1;
const ROUTE_LEN: usize = 2;
/// Data of an option before what belongs to its type, in bytes (RFC 4728, 6.4 to 6.6).
const ERROR_LEN: usize = 10;
const ACK_REQUEST_LEN: usize = 2;
const ACK_LEN: usize = 10;

/// Largest number of addresses in a Route Request: its length is one byte (RFC 4728, 6.2).
pub const MAX_ADDRESSES_OF_REQUEST: usize = (u8::MAX as usize - REQUEST_LEN) / ADDRESS_LEN;
/// Largest number of addresses in a Route Reply (RFC 4728, 6.3).
pub const MAX_ADDRESSES_OF_REPLY: usize = (u8::MAX as usize - REPLY_LEN) / ADDRESS_LEN;
/// Largest number of addresses in a DSR Source Route: its length is one byte, and Segments Left has six bits (RFC 4728,
/// 6.7).
pub const MAX_ADDRESSES_OF_ROUTE: usize = (u8::MAX as usize - ROUTE_LEN) / ADDRESS_LEN;

/// The largest number that a field for the number of salvages holds (RFC 4728, 6.4 and 6.7).
pub const MAX_SALVAGE: u8 = 15;

/// Last hop external, in the first byte of a Route Reply's data (RFC 4728, 6.3).
const REPLY_LAST_HOP_EXTERNAL: u8 = 0x80;
/// Parts of the first word of a DSR Source Route's data (RFC 4728, 6.7).
const FIRST_HOP_EXTERNAL: u16 = 0x8000;
const LAST_HOP_EXTERNAL: u16 = 0x4000;
const SEGMENTS_LEFT_BITS: u32 = 6;
const SEGMENTS_LEFT: u16 = 0x003f;
const SALVAGE: u8 = MAX_SALVAGE;

code_points! {
    /// What an option is (RFC 4728, 6).
    OptionType(u8) {
        /// Padding of two bytes or more.
        PadN = 0,
        /// Route Request.
        RouteRequest = 1,
        /// Route Reply.
        RouteReply = 2,
        /// Route Error.
        RouteError = 3,
        /// Acknowledgement.
        Ack = 32,
        /// DSR Source Route.
        SourceRoute = 96,
        /// Acknowledgement Request.
        AckRequest = 160,
        /// Padding of one byte.
        Pad1 = 224,
    }
}

/// What a node does with an option that it does not support (RFC 4728, 6.1 and 8.1.6).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unsupported {
    /// It ignores the option.
    Ignore,
    /// It takes the option out of the packet.
    Remove,
    /// It sets the first bit after the length.
    Mark,
    /// It drops the packet.
    Drop,
}

impl OptionType {
    /// What a node does that does not support the type: bits 0x60 of its number.
    pub fn if_unsupported(self) -> Unsupported {
        match u8::from(self) & 0x60 {
            0x00 => Unsupported::Ignore,
            0x20 => Unsupported::Remove,
            0x40 => Unsupported::Mark,
            _ => Unsupported::Drop,
        }
    }

    /// Whether a node that does not support the type answers with a Route Error: bit 0x80 of its number.
    pub fn is_reported_if_unsupported(self) -> bool {
        u8::from(self) & 0x80 != 0
    }
}

/// A sequence of addresses: bytes of a packet, or a list for a packet to send.
#[derive(Clone, Copy)]
pub enum Addresses<'a> {
    /// Four bytes each. A rest of less than four is no address.
    Octets(&'a [u8]),
    /// A list.
    List(&'a [Ipv4Addr]),
}

impl<'a> Addresses<'a> {
    /// No address.
    pub const NONE: Self = Self::List(&[]);

    /// Their number.
    pub fn len(&self) -> usize {
        match self {
            Self::Octets(octets) => octets.len() / ADDRESS_LEN,
            Self::List(list) => list.len(),
        }
    }

    /// Whether the list is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The address in this place, counted from zero.
    pub fn get(&self, index: usize) -> Option<Ipv4Addr> {
        match self {
            Self::Octets(octets) => {
                octets.chunks_exact(ADDRESS_LEN).nth(index).map(|octets| array::<ADDRESS_LEN>(octets, 0).into())
            }
            Self::List(list) => list.get(index).copied(),
        }
    }

    /// All of them.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = Ipv4Addr> + ExactSizeIterator + use<'a> {
        let addresses = *self;
        (0..self.len()).map(move |index| addresses.get(index).expect("the index is below the number"))
    }

    fn emit(&self, octets: &mut [u8]) {
        for (address, octets) in self.iter().zip(octets.chunks_exact_mut(ADDRESS_LEN)) {
            put(octets, 0, address.octets());
        }
    }
}

impl PartialEq for Addresses<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for Addresses<'_> {}

impl fmt::Debug for Addresses<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// A search for a route (RFC 4728, 6.2).
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +---------------+---------------+-------------------------------+
/// |  Option type  | Opt data len  |        Identification         |
/// +---------------+---------------+-------------------------------+
/// |                        Target address                         |
/// +---------------------------------------------------------------+
/// |                       Address[1] to [n]                       |
/// +---------------------------------------------------------------+
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RouteRequest<'a> {
    /// Identifier of the request among those of its initiator.
    pub identification: u16,
    /// The node to which a route is sought.
    pub target: Ipv4Addr,
    /// The nodes that have passed the request on, without its initiator, which is the source of the IP packet.
    pub addresses: Addresses<'a>,
}

/// A route that was found (RFC 4728, 6.3).
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
///                 +---------------+---------------+-+-------------+
///                 |  Option type  | Opt data len  |L|  Reserved   |
/// +---------------+---------------+---------------+-+-------------+
/// |                       Address[1] to [n]                       |
/// +---------------------------------------------------------------+
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RouteReply<'a> {
    /// Whether the last hop is a path through another network.
    pub last_hop_external: bool,
    /// The nodes after the initiator, which is the destination of the IP packet; the last is the target.
    pub addresses: Addresses<'a>,
}

/// Kind of error (RFC 4728, 6.4.1 to 6.4.3), with its details.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind<'a> {
    /// NODE_UNREACHABLE: this neighbour of the error's source could not be reached.
    NodeUnreachable(Ipv4Addr),
    /// FLOW_STATE_NOT_SUPPORTED.
    FlowStateNotSupported,
    /// OPTION_NOT_SUPPORTED: an option of this type.
    OptionNotSupported(OptionType),
    /// Another kind of error.
    Unknown {
        /// The error type, none of those above.
        kind: u8,
        /// What follows the error's destination.
        information: &'a [u8],
    },
}

const NODE_UNREACHABLE: u8 = 1;
const FLOW_STATE_NOT_SUPPORTED: u8 = 2;
const OPTION_NOT_SUPPORTED: u8 = 3;

impl ErrorKind<'_> {
    /// The error type.
    pub fn number(&self) -> u8 {
        match *self {
            Self::NodeUnreachable(_) => NODE_UNREACHABLE,
            Self::FlowStateNotSupported => FLOW_STATE_NOT_SUPPORTED,
            Self::OptionNotSupported(_) => OPTION_NOT_SUPPORTED,
            Self::Unknown { kind, .. } => kind,
        }
    }

    fn information_len(&self) -> usize {
        match self {
            Self::NodeUnreachable(_) => ADDRESS_LEN,
            Self::FlowStateNotSupported => 0,
            Self::OptionNotSupported(_) => 1,
            Self::Unknown { information, .. } => information.len(),
        }
    }
}

/// An error of a route (RFC 4728, 6.4).
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +---------------+---------------+---------------+-------+-------+
/// |  Option type  | Opt data len  |  Error type   |Reservd|Salvage|
/// +---------------+---------------+---------------+-------+-------+
/// |                     Error source address                      |
/// +---------------------------------------------------------------+
/// |                   Error destination address                   |
/// +---------------------------------------------------------------+
/// |                   Type-specific information                   |
/// +---------------------------------------------------------------+
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RouteError<'a> {
    /// Number of times that the packet with the error had been salvaged: at most 15.
    pub salvage: u8,
    /// The node that found the error.
    pub source: Ipv4Addr,
    /// The node to inform.
    pub destination: Ipv4Addr,
    /// Kind of error.
    pub kind: ErrorKind<'a>,
    /// What follows the type-specific information: extensions, none of which is defined. Empty for an unknown kind.
    pub extension: &'a [u8],
}

/// Asks the next node for an acknowledgement (RFC 4728, 6.5).
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +---------------+---------------+-------------------------------+
/// |  Option type  | Opt data len  |        Identification         |
/// +---------------+---------------+-------------------------------+
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AckRequest<'a> {
    /// To be copied into the acknowledgement.
    pub identification: u16,
    /// What follows the identification: the previous hop's address, under the flow state extension (RFC 4728, 7.4.1).
    pub extension: &'a [u8],
}

/// An acknowledgement (RFC 4728, 6.6).
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +---------------+---------------+-------------------------------+
/// |  Option type  | Opt data len  |        Identification         |
/// +---------------+---------------+-------------------------------+
/// |                      ACK source address                       |
/// +---------------------------------------------------------------+
/// |                    ACK destination address                    |
/// +---------------------------------------------------------------+
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ack {
    /// That of the request.
    pub identification: u16,
    /// The node that acknowledges.
    pub source: Ipv4Addr,
    /// The node that has asked for it.
    pub destination: Ipv4Addr,
}

/// The route of a packet (RFC 4728, 6.7).
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +---------------+---------------+-+-+-------+-------+-----------+
/// |  Option type  | Opt data len  |F|L|Reservd|Salvage| Segs left |
/// +---------------+---------------+-+-+-------+-------+-----------+
/// |                       Address[1] to [n]                       |
/// +---------------------------------------------------------------+
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SourceRoute<'a> {
    /// Whether the first hop is a path through another network.
    pub first_hop_external: bool,
    /// Whether the last hop is.
    pub last_hop_external: bool,
    /// Number of times that the packet was salvaged: at most 15.
    pub salvage: u8,
    /// Number of addresses that the packet has not reached yet: at most 63.
    pub segments_left: u8,
    /// The nodes between source and destination. Of a packet that was salvaged, the first is the node that did it.
    pub addresses: Addresses<'a>,
}

/// One option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DsrOption<'a> {
    /// A search for a route.
    RouteRequest(RouteRequest<'a>),
    /// A route that was found.
    RouteReply(RouteReply<'a>),
    /// An error.
    RouteError(RouteError<'a>),
    /// Asks for an acknowledgement.
    AckRequest(AckRequest<'a>),
    /// An acknowledgement.
    Ack(Ack),
    /// The route of the packet.
    SourceRoute(SourceRoute<'a>),
    /// One byte of padding (RFC 4728, 6.8).
    Pad1,
    /// Padding (RFC 4728, 6.9).
    PadN {
        /// Bytes behind type and length.
        length: u8,
    },
    /// An option of another type.
    Unknown {
        /// The type, none of those that have a name.
        kind: u8,
        /// What follows type and length: at most 255 bytes.
        data: &'a [u8],
    },
}

impl<'a> DsrOption<'a> {
    /// Type of the option.
    pub fn option_type(&self) -> OptionType {
        match self {
            Self::RouteRequest(_) => OptionType::RouteRequest,
            Self::RouteReply(_) => OptionType::RouteReply,
            Self::RouteError(_) => OptionType::RouteError,
            Self::AckRequest(_) => OptionType::AckRequest,
            Self::Ack(_) => OptionType::Ack,
            Self::SourceRoute(_) => OptionType::SourceRoute,
            Self::Pad1 => OptionType::Pad1,
            Self::PadN { .. } => OptionType::PadN,
            Self::Unknown { kind, .. } => (*kind).into(),
        }
    }

    fn data_len(&self) -> usize {
        match self {
            Self::RouteRequest(request) => REQUEST_LEN + request.addresses.len() * ADDRESS_LEN,
            Self::RouteReply(reply) => REPLY_LEN + reply.addresses.len() * ADDRESS_LEN,
            Self::RouteError(error) => ERROR_LEN + error.kind.information_len() + error.extension.len(),
            Self::AckRequest(request) => ACK_REQUEST_LEN + request.extension.len(),
            Self::Ack(_) => ACK_LEN,
            Self::SourceRoute(route) => ROUTE_LEN + route.addresses.len() * ADDRESS_LEN,
            Self::Pad1 => 0,
            Self::PadN { length } => (*length).into(),
            Self::Unknown { data, .. } => data.len(),
        }
    }

    /// Length of the option, in bytes.
    pub fn buffer_len(&self) -> usize {
        match self {
            Self::Pad1 => 1,
            other => 2 + other.data_len(),
        }
    }

    /// Writes the option, which fills `octets`. Panics if its data are longer than 255 bytes.
    pub(super) fn emit(&self, octets: &mut [u8]) {
        octets[0] = self.option_type().into();
        if *self == Self::Pad1 {
            return;
        }
        octets[1] = u8::try_from(self.data_len()).expect("the data of an option have at most 255 octets");
        let data = &mut octets[2..];
        match self {
            Self::RouteRequest(RouteRequest { identification, target, addresses }) => {
                put(data, 0, identification.to_be_bytes());
                put(data, 2, target.octets());
                addresses.emit(&mut data[REQUEST_LEN..]);
            }
            Self::RouteReply(RouteReply { last_hop_external, addresses }) => {
                data[0] = if *last_hop_external { REPLY_LAST_HOP_EXTERNAL } else { 0 };
                addresses.emit(&mut data[REPLY_LEN..]);
            }
            Self::RouteError(RouteError { salvage, source, destination, kind, extension }) => {
                data[0] = kind.number();
                data[1] = salvage & SALVAGE;
                put(data, 2, source.octets());
                put(data, 6, destination.octets());
                let (information, behind) = data[ERROR_LEN..].split_at_mut(kind.information_len());
                match kind {
                    ErrorKind::NodeUnreachable(node) => put(information, 0, node.octets()),
                    ErrorKind::FlowStateNotSupported => {}
                    ErrorKind::OptionNotSupported(option) => information[0] = (*option).into(),
                    ErrorKind::Unknown { information: read, .. } => information.copy_from_slice(read),
                }
                behind.copy_from_slice(extension);
            }
            Self::AckRequest(AckRequest { identification, extension }) => {
                put(data, 0, identification.to_be_bytes());
                data[ACK_REQUEST_LEN..].copy_from_slice(extension);
            }
            Self::Ack(Ack { identification, source, destination }) => {
                put(data, 0, identification.to_be_bytes());
                put(data, 2, source.octets());
                put(data, 6, destination.octets());
            }
            Self::SourceRoute(route) => {
                let flags = if route.first_hop_external { FIRST_HOP_EXTERNAL } else { 0 }
                    | if route.last_hop_external { LAST_HOP_EXTERNAL } else { 0 };
                let salvage = u16::from(route.salvage & SALVAGE) << SEGMENTS_LEFT_BITS;
                let word = flags | salvage | (u16::from(route.segments_left) & SEGMENTS_LEFT);
                put(data, 0, word.to_be_bytes());
                route.addresses.emit(&mut data[ROUTE_LEN..]);
            }
            Self::Pad1 | Self::PadN { .. } => data.fill(0),
            Self::Unknown { data: read, .. } => data.copy_from_slice(read),
        }
    }

    /// Parses an option of this type with these data, which stand at `offset` in the header.
    fn parse(kind: OptionType, data: &'a [u8], offset: usize) -> Result<Self, ParseError> {
        let at_least =
            |least: usize, field, expected| LAYER.require(data.len() >= least, field, offset - 1, data.len(), expected);
        let addresses = |fixed: usize, field, expected| {
            let whole = data.len() >= fixed && (data.len() - fixed).is_multiple_of(ADDRESS_LEN);
            LAYER.require(whole, field, offset - 1, data.len(), expected)?;
            Ok(Addresses::Octets(&data[fixed..]))
        };
        Ok(match kind {
            OptionType::RouteRequest => Self::RouteRequest(RouteRequest {
                addresses: addresses(REQUEST_LEN, "length of Route Request", "6 + 4 n")?,
                identification: u16::from_be_bytes(array(data, 0)),
                target: array(data, 2).into(),
            }),
            OptionType::RouteReply => {
                let addresses = addresses(REPLY_LEN, "length of Route Reply", "1 + 4 n")?;
                LAYER.require(!addresses.is_empty(), "length of Route Reply", offset - 1, data.len(), "at least 5")?;
                Self::RouteReply(RouteReply { last_hop_external: data[0] & REPLY_LAST_HOP_EXTERNAL != 0, addresses })
            }
            OptionType::RouteError => {
                at_least(ERROR_LEN, "length of Route Error", "at least 10")?;
                let (number, behind) = (data[0], &data[ERROR_LEN..]);
                let kind = match number {
                    NODE_UNREACHABLE => {
                        at_least(ERROR_LEN + ADDRESS_LEN, "length of Route Error", "at least 14 for NODE_UNREACHABLE")?;
                        ErrorKind::NodeUnreachable(array(behind, 0).into())
                    }
                    FLOW_STATE_NOT_SUPPORTED => ErrorKind::FlowStateNotSupported,
                    OPTION_NOT_SUPPORTED => {
                        at_least(ERROR_LEN + 1, "length of Route Error", "at least 11 for OPTION_NOT_SUPPORTED")?;
                        ErrorKind::OptionNotSupported(behind[0].into())
                    }
                    kind => ErrorKind::Unknown { kind, information: behind },
                };
                Self::RouteError(RouteError {
                    salvage: data[1] & SALVAGE,
                    source: array(data, 2).into(),
                    destination: array(data, 6).into(),
                    kind,
                    extension: &behind[kind.information_len()..],
                })
            }
            OptionType::AckRequest => {
                at_least(ACK_REQUEST_LEN, "length of Acknowledgement Request", "at least 2")?;
                let identification = u16::from_be_bytes(array(data, 0));
                Self::AckRequest(AckRequest { identification, extension: &data[ACK_REQUEST_LEN..] })
            }
            OptionType::Ack => {
                LAYER.require(data.len() == ACK_LEN, "length of Acknowledgement", offset - 1, data.len(), "10")?;
                Self::Ack(Ack {
                    identification: u16::from_be_bytes(array(data, 0)),
                    source: array(data, 2).into(),
                    destination: array(data, 6).into(),
                })
            }
            OptionType::SourceRoute => {
                let addresses = addresses(ROUTE_LEN, "length of DSR Source Route", "2 + 4 n")?;
                let word = u16::from_be_bytes(array(data, 0));
                let segments_left = (word & SEGMENTS_LEFT) as u8;
                let possible = usize::from(segments_left) <= addresses.len();
                // RFC 4728, 8.1.5: such a packet is discarded.
                LAYER.require(
                    possible,
                    "segments left",
                    offset + 1,
                    segments_left,
                    "at most the number of addresses",
                )?;
                Self::SourceRoute(SourceRoute {
                    first_hop_external: word & FIRST_HOP_EXTERNAL != 0,
                    last_hop_external: word & LAST_HOP_EXTERNAL != 0,
                    salvage: (word >> SEGMENTS_LEFT_BITS) as u8 & SALVAGE,
                    segments_left,
                    addresses,
                })
            }
            OptionType::PadN => Self::PadN { length: data.len() as u8 },
            OptionType::Pad1 => Self::Pad1,
            OptionType::Unknown(kind) => Self::Unknown { kind, data },
        })
    }
}

/// The options of a header one by one, padding included. Ends with the list, or with the first error.
#[derive(Debug, Clone)]
pub struct Options<'a> {
    octets: &'a [u8],
    at: usize,
}

impl<'a> Options<'a> {
    pub(super) fn new(octets: &'a [u8]) -> Self {
        Self { octets, at: 0 }
    }

    fn option(&mut self, kind: OptionType) -> Result<DsrOption<'a>, ParseError> {
        let (start, rest) = (self.at, &self.octets[self.at..]);
        // Behind an error nothing is where it should be.
        self.at = self.octets.len();
        let offset = FIXED_LEN + start;
        LAYER.require(rest.len() >= 2, "option type", offset, u8::from(kind), "followed by a length")?;
        let end = 2 + usize::from(rest[1]);
        LAYER.require(end <= rest.len(), "option length", offset + 1, rest[1], "at most what is left of the header")?;
        let option = DsrOption::parse(kind, &rest[2..end], offset + 2)?;
        self.at = start + end;
        Ok(option)
    }
}

impl<'a> Iterator for Options<'a> {
    type Item = Result<DsrOption<'a>, ParseError>;

    fn next(&mut self) -> Option<Self::Item> {
        match OptionType::from(*self.octets.get(self.at)?) {
            OptionType::Pad1 => {
                self.at += 1;
                Some(Ok(DsrOption::Pad1))
            }
            kind => Some(self.option(kind)),
        }
    }
}
