//! The messages of ad hoc on-demand distance vector routing (AODV, RFC 3561), which travel in UDP.
//!
//! A message has no payload: [`Repr`] is all of it, and `Repr::buffer_len` its length.

mod error;
mod extension;
mod reply;
mod request;

use crate::ParseError;
use crate::code_point::code_points;
use crate::error::Layer;

pub use error::{ErrorPacket, ErrorRepr, MAX_UNREACHABLE, Unreachable, Unreachables};
pub use extension::{Extension, ExtensionKind, Extensions, HELLO_INTERVAL_LEN, hello_interval};
pub use reply::{ReplyFlags, ReplyPacket, ReplyRepr};
pub use request::{RequestFlags, RequestPacket, RequestRepr};

const LAYER: Layer = Layer("AODV");

/// Source and destination port of all messages (RFC 3561, 6).
pub const PORT: u16 = 654;

/// Length of a route reply acknowledgement, in bytes (RFC 3561, 5.4).
const ACKNOWLEDGEMENT_LEN: usize = 2;

mod field {
    pub(super) const TYPE: usize = 0;
    pub(super) const FLAGS: usize = 1;
    pub(super) const HOP_COUNT: usize = 3;
}

code_points! {
    /// What a message is (RFC 3561, 12).
    MessageType(u8) {
        /// RREQ: a route is wanted.
        Request = 1,
        /// RREP: here is a route; sent to all neighbours, a hello.
        Reply = 2,
        /// RERR: routes are lost.
        Error = 3,
        /// RREP-ACK: a reply has arrived.
        Acknowledgement = 4,
    }
}

impl MessageType {
    /// The type of a message, from its first byte.
    pub fn of(octets: &[u8]) -> Option<Self> {
        octets.first().map(|&code| code.into())
    }
}

/// A message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repr<'a> {
    /// A route request (RREQ).
    Request(RequestRepr<'a>),
    /// A route reply (RREP), or a hello.
    Reply(ReplyRepr<'a>),
    /// A route error (RERR).
    Error(ErrorRepr<'a>),
    /// A route reply acknowledgement (RREP-ACK).
    ///
    /// ```text
    /// +---------------+---------------+
    /// |     Type      |   Reserved    |
    /// +---------------+---------------+
    /// ```
    ///
    /// RFC 3561, 5.4.
    Acknowledgement,
}

impl<'a> Repr<'a> {
    /// Parses a message.
    pub fn parse(octets: &'a [u8]) -> Result<Self, ParseError> {
        LAYER.require(octets.len() >= ACKNOWLEDGEMENT_LEN, "length", 0, octets.len(), "at least 2")?;
        let message = MessageType::from(octets[field::TYPE]);
        let is_known = !matches!(message, MessageType::Unknown(_));
        LAYER.require(is_known, "type", field::TYPE, octets[field::TYPE], "1 to 4")?;
        match message {
            MessageType::Request => Ok(Self::Request(RequestRepr::parse(&RequestPacket::new_checked(octets)?)?)),
            MessageType::Reply => Ok(Self::Reply(ReplyRepr::parse(&ReplyPacket::new_checked(octets)?)?)),
            MessageType::Error => Ok(Self::Error(ErrorRepr::parse(&ErrorPacket::new_checked(octets)?)?)),
            MessageType::Acknowledgement | MessageType::Unknown(_) => Ok(Self::Acknowledgement),
        }
    }

    /// Length of the message, in bytes.
    pub(crate) fn buffer_len(&self) -> usize {
        match self {
            Self::Request(request) => request.buffer_len(),
            Self::Reply(reply) => reply.buffer_len(),
            Self::Error(error) => error.buffer_len(),
            Self::Acknowledgement => ACKNOWLEDGEMENT_LEN,
        }
    }

    /// Writes the message.
    pub(crate) fn emit(&self, octets: &mut [u8]) {
        match self {
            Self::Request(request) => request.emit(&mut RequestPacket::new_unchecked(octets)),
            Self::Reply(reply) => reply.emit(&mut ReplyPacket::new_unchecked(octets)),
            Self::Error(error) => error.emit(&mut ErrorPacket::new_unchecked(octets)),
            Self::Acknowledgement => {
                octets[..ACKNOWLEDGEMENT_LEN].copy_from_slice(&[MessageType::Acknowledgement.into(), 0]);
            }
        }
    }

    /// The message in a new vector.
    pub fn to_octets(&self) -> Vec<u8> {
        let mut octets = vec![0; self.buffer_len()];
        self.emit(&mut octets);
        octets
    }
}

/// Checks that a message has this type and at least this length.
fn check(octets: &[u8], message: MessageType, least: usize, expected: &'static str) -> Result<(), ParseError> {
    LAYER.require(octets.len() >= least, "length", 0, octets.len(), expected)?;
    let code = octets[field::TYPE];
    LAYER.require(MessageType::from(code) == message, "type", field::TYPE, code, "that of the message")
}

#[cfg(test)]
mod tests;
