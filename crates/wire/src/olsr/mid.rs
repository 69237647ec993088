//! MID messages: further addresses of a node (RFC 3626, 5.1). The body is a sequence of addresses.

use std::net::Ipv4Addr;

use super::{ADDRESS_LEN, Addresses, emit_addresses};
use crate::ParseError;

/// A view of the body of a MID message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct View<'a>(Addresses<'a>);

impl<'a> View<'a> {
    /// A view of the body of a message.
    pub fn new_checked(body: &'a [u8]) -> Result<Self, ParseError> {
        Ok(Self(Addresses::new(body, 0, "length of the interface addresses")?))
    }

    /// Addresses of the originator's interfaces, without its main address.
    pub fn interfaces(&self) -> Addresses<'a> {
        self.0
    }
}

/// The fields of the body of a MID message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repr {
    /// Addresses of the originator's interfaces, without its main address.
    pub interfaces: Vec<Ipv4Addr>,
}

impl Repr {
    /// Parses a body.
    pub fn parse(view: &View<'_>) -> Self {
        Self { interfaces: view.interfaces().iter().collect() }
    }

    /// Length of the body, in bytes.
    pub fn buffer_len(&self) -> usize {
        self.interfaces.len() * ADDRESS_LEN
    }

    /// Writes the body. Panics if `octets` is too short.
    pub fn emit(&self, octets: &mut [u8]) {
        emit_addresses(&self.interfaces, octets);
    }
}
