//! TC messages: neighbours that a node advertises (RFC 3626, 9).

use std::net::Ipv4Addr;

use super::{ADDRESS_LEN, Addresses, LAYER, emit_addresses};
use crate::ParseError;
use crate::bytes::{array, put};

/// Length of what stands before the addresses, in bytes.
const FIXED_LEN: usize = 4;

/// A view of the body of a TC message.
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +-------------------------------+-------------------------------+
/// |             ANSN              |               0               |
/// +-------------------------------+-------------------------------+
/// |              Advertised neighbours' main addresses            :
/// ```
///
/// RFC 3626, 9.1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct View<'a> {
    ansn: u16,
    neighbours: Addresses<'a>,
}

impl<'a> View<'a> {
    /// A view of the body of a message.
    pub fn new_checked(body: &'a [u8]) -> Result<Self, ParseError> {
        LAYER.require(body.len() >= FIXED_LEN, "length of a TC", 0, body.len(), "at least 4")?;
        let neighbours = Addresses::new(&body[FIXED_LEN..], FIXED_LEN, "length of the advertised neighbours")?;
        Ok(Self { ansn: u16::from_be_bytes(array(body, 0)), neighbours })
    }

    /// Advertised neighbour sequence number: goes up when the set of advertised neighbours changes.
    pub fn ansn(&self) -> u16 {
        self.ansn
    }

    /// The main addresses of advertised neighbours.
    pub fn neighbours(&self) -> Addresses<'a> {
        self.neighbours
    }
}

/// The fields of the body of a TC message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repr {
    /// Advertised neighbour sequence number: goes up when the set of advertised neighbours changes.
    pub ansn: u16,
    /// The main addresses of advertised neighbours.
    pub neighbours: Vec<Ipv4Addr>,
}

impl Repr {
    /// Parses a body.
    pub fn parse(view: &View<'_>) -> Self {
        Self { ansn: view.ansn(), neighbours: view.neighbours().iter().collect() }
    }

    /// Length of the body, in bytes.
    pub fn buffer_len(&self) -> usize {
        FIXED_LEN + self.neighbours.len() * ADDRESS_LEN
    }

    /// Writes the body. Panics if `octets` is too short.
    pub fn emit(&self, octets: &mut [u8]) {
        put(octets, 0, self.ansn.to_be_bytes());
        put(octets, 2, [0, 0]);
        emit_addresses(&self.neighbours, &mut octets[FIXED_LEN..]);
    }
}
