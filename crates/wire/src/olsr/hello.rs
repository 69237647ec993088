//! HELLO messages: the neighbours that a node hears, and their state (RFC 3626, 6).

use std::net::Ipv4Addr;

use super::{ADDRESS_LEN, Addresses, LAYER, TimeCode, emit_addresses};
use crate::ParseError;
use crate::bytes::{array, put};
use crate::code_point::code_points;

/// Length of what stands before the link messages, in bytes.
const FIXED_LEN: usize = 4;
/// Length of the header of a link message, in bytes.
const LINK_HEADER_LEN: usize = 4;

mod field {
    pub(super) const HTIME: usize = 2;
    pub(super) const WILLINGNESS: usize = 3;
    pub(super) const LINK_CODE: usize = 0;
    pub(super) const LINK_SIZE: usize = 2;
}

code_points! {
    /// What is known of a link (RFC 3626, 18.5).
    LinkType(u8) {
        /// Nothing is said.
        Unspecified = 0,
        /// The neighbour is heard.
        Asymmetric = 1,
        /// Both sides hear each other.
        Symmetric = 2,
        /// There was a link.
        Lost = 3,
    }
}

code_points! {
    /// What a neighbour is to the sender (RFC 3626, 18.6).
    NeighbourType(u8) {
        /// None, at least not in both directions.
        NotNeighbour = 0,
        /// A neighbour in both directions.
        Symmetric = 1,
        /// A neighbour in both directions that is to pass on the sender's messages.
        Mpr = 2,
    }
}

/// Link type and neighbour type in one byte (RFC 3626, 6.1.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct LinkCode {
    /// State of the link: bits 0 and 1.
    pub link: LinkType,
    /// Type of the neighbour: bits 2 and 3.
    pub neighbour: NeighbourType,
}

impl LinkCode {
    /// Parses a code; `None` if RFC 3626 does not define it (above 15, 3 for a neighbour type), or if it contradicts
    /// itself: a symmetric link to a node that is not a neighbour (6.1.1).
    pub fn parse(code: u8) -> Option<Self> {
        let (link, neighbour) = (LinkType::from(code & 0x03), NeighbourType::from(code >> 2));
        let contradicts = link == LinkType::Symmetric && neighbour == NeighbourType::NotNeighbour;
        (!contradicts && !matches!(neighbour, NeighbourType::Unknown(_))).then_some(Self { link, neighbour })
    }

    fn octet(self) -> u8 {
        u8::from(self.link) & 0x03 | u8::from(self.neighbour) << 2
    }
}

/// A view of the body of a HELLO message.
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +-------------------------------+---------------+---------------+
/// |               0               |     Htime     |  Willingness  |
/// +---------------+---------------+---------------+---------------+
/// |   Link code   |       0       |       Link message size       |
/// +---------------+---------------+-------------------------------+
/// |                  Neighbour interface addresses                :
/// +---------------------------------------------------------------+
/// :                     further link messages                     :
/// ```
///
/// RFC 3626, 6.1. The size of a link message counts its header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct View<'a>(&'a [u8]);

impl<'a> View<'a> {
    /// A view of the body of a message. All link messages are looked at, and must be whole.
    pub fn new_checked(body: &'a [u8]) -> Result<Self, ParseError> {
        LAYER.require(body.len() >= FIXED_LEN, "length of a HELLO", 0, body.len(), "at least 4")?;
        let mut at = FIXED_LEN;
        while at < body.len() {
            let left = body.len() - at;
            LAYER.require(left >= LINK_HEADER_LEN, "octets left for a link message", at, left, "at least 4, or 0")?;
            let size = link_size(&body[at..]);
            let is_right = size >= LINK_HEADER_LEN && size <= left && size.is_multiple_of(ADDRESS_LEN);
            let expected = "a multiple of 4, from 4 to what is left of the message";
            LAYER.require(is_right, "link message size", at + field::LINK_SIZE, size, expected)?;
            at += size;
        }
        Ok(Self(body))
    }

    /// Htime: the time from this HELLO to the next one.
    pub fn interval(&self) -> TimeCode {
        TimeCode(self.0[field::HTIME])
    }

    /// Willingness of the sender to forward packets of others: 0 (never) to 7 (always); 3 is the default (RFC 3626,
    /// 18.8).
    pub fn willingness(&self) -> u8 {
        self.0[field::WILLINGNESS]
    }

    /// Iterates over the link messages, with their unparsed codes.
    pub fn links(&self) -> impl Iterator<Item = (u8, Addresses<'a>)> + 'a {
        let mut rest = &self.0[FIXED_LEN..];
        core::iter::from_fn(move || {
            (!rest.is_empty()).then(|| {
                let (link, behind) = rest.split_at(link_size(rest));
                rest = behind;
                (link[field::LINK_CODE], Addresses(&link[LINK_HEADER_LEN..]))
            })
        })
    }
}

fn link_size(link: &[u8]) -> usize {
    u16::from_be_bytes(array(link, field::LINK_SIZE)).into()
}

/// The fields of the body of a HELLO message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repr {
    /// Htime: the time from this HELLO to the next one.
    pub interval: TimeCode,
    /// Willingness of the sender to forward packets of others: 0 (never) to 7 (always); 3 is the default (RFC 3626,
    /// 18.8).
    pub willingness: u8,
    /// Codes, and the addresses of the neighbours' interfaces that they hold for: at most 16382 each.
    pub links: Vec<(LinkCode, Vec<Ipv4Addr>)>,
}

impl Repr {
    /// Parses a body. Link messages with a code that has no meaning are left out (RFC 3626, 6.1.1).
    pub fn parse(view: &View<'_>) -> Self {
        let link = |(code, addresses): (u8, Addresses<'_>)| Some((LinkCode::parse(code)?, addresses.iter().collect()));
        let links = view.links().filter_map(link).collect();
        Self { interval: view.interval(), willingness: view.willingness(), links }
    }

    /// Length of the body, in bytes.
    pub fn buffer_len(&self) -> usize {
        let link = |(_, addresses): &(LinkCode, Vec<Ipv4Addr>)| LINK_HEADER_LEN + addresses.len() * ADDRESS_LEN;
        FIXED_LEN + self.links.iter().map(link).sum::<usize>()
    }

    /// Writes the body. Panics if `octets` is too short.
    pub fn emit(&self, octets: &mut [u8]) {
        octets[..FIXED_LEN].fill(0);
        octets[field::HTIME] = self.interval.0;
        octets[field::WILLINGNESS] = self.willingness;
        let mut at = FIXED_LEN;
        for (code, addresses) in &self.links {
            let size = LINK_HEADER_LEN + addresses.len() * ADDRESS_LEN;
            let link = &mut octets[at..at + size];
            link[..LINK_HEADER_LEN].fill(0);
            link[field::LINK_CODE] = code.octet();
            put(link, field::LINK_SIZE, (size as u16).to_be_bytes());
            emit_addresses(addresses, &mut link[LINK_HEADER_LEN..]);
            at += size;
        }
    }
}
