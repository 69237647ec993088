use std::net::Ipv4Addr;

use super::{HEADER_LEN, LAYER, MESSAGE_HEADER_LEN, TimeCode};
use crate::ParseError;
use crate::bytes::{array, put};
use crate::code_point::code_points;

mod field {
    pub(super) const TYPE: usize = 0;
    pub(super) const VTIME: usize = 1;
    pub(super) const SIZE: usize = 2;
    pub(super) const ORIGINATOR: usize = 4;
    pub(super) const TIME_TO_LIVE: usize = 8;
    pub(super) const HOP_COUNT: usize = 9;
    pub(super) const SEQUENCE: usize = 10;
}

code_points! {
    /// What a message is (RFC 3626, 18.4).
    MessageType(u8) {
        /// To neighbours: who is heard ([`super::hello`]).
        Hello = 1,
        /// Topology control, to everybody: whom the originator can reach ([`super::tc`]).
        Tc = 2,
        /// Multiple interface declaration, to everybody: further addresses of the originator ([`super::mid`]).
        Mid = 3,
        /// Host and network association, to everybody: what lies behind the originator ([`super::hna`]).
        Hna = 4,
    }
}

/// A view of a message, whole as [`Messages`] finds it.
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +---------------+---------------+-------------------------------+
/// | Message type  |     Vtime     |         Message size          |
/// +---------------+---------------+-------------------------------+
/// |                      Originator address                       |
/// +---------------+---------------+-------------------------------+
/// | Time to live  |   Hop count   |    Message sequence number    |
/// +---------------+---------------+-------------------------------+
/// |                             Body                              :
/// ```
///
/// RFC 3626, 3.3. The size counts header and body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Message<'a>(&'a [u8]);

impl<'a> Message<'a> {
    /// What the header says.
    pub fn header(&self) -> MessageRepr {
        let octets = self.0;
        MessageRepr {
            kind: octets[field::TYPE].into(),
            validity: TimeCode(octets[field::VTIME]),
            originator: Ipv4Addr::from(array::<4>(octets, field::ORIGINATOR)),
            time_to_live: octets[field::TIME_TO_LIVE],
            hop_count: octets[field::HOP_COUNT],
            sequence: u16::from_be_bytes(array(octets, field::SEQUENCE)),
            body_len: (octets.len() - MESSAGE_HEADER_LEN) as u16,
        }
    }

    /// Bytes after the header.
    pub fn body(&self) -> &'a [u8] {
        &self.0[MESSAGE_HEADER_LEN..]
    }
}

/// The fields of the header of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MessageRepr {
    /// Kind of the message.
    pub kind: MessageType,
    /// Vtime: validity time of the message.
    pub validity: TimeCode,
    /// Main address of the node that created the message.
    pub originator: Ipv4Addr,
    /// Number of hops that remain.
    pub time_to_live: u8,
    /// Number of hops so far.
    pub hop_count: u8,
    /// Number of the message among those of its originator.
    pub sequence: u16,
    /// Length of the body, in bytes: at most 65519.
    pub body_len: u16,
}

impl MessageRepr {
    /// Length of the header, in bytes.
    pub fn buffer_len(&self) -> usize {
        MESSAGE_HEADER_LEN
    }

    /// Writes the header. Panics if `octets` is too short, or `body_len` is above 65523.
    pub fn emit(&self, octets: &mut [u8]) {
        let size = self.body_len.checked_add(MESSAGE_HEADER_LEN as u16).expect("a message has at most 65535 octets");
        octets[field::TYPE] = self.kind.into();
        octets[field::VTIME] = self.validity.0;
        put(octets, field::SIZE, size.to_be_bytes());
        put(octets, field::ORIGINATOR, self.originator.octets());
        octets[field::TIME_TO_LIVE] = self.time_to_live;
        octets[field::HOP_COUNT] = self.hop_count;
        put(octets, field::SEQUENCE, self.sequence.to_be_bytes());
    }

    /// Appends the message with this body to `octets`. Panics if `body_len` is above 65523.
    pub fn push(&self, octets: &mut Vec<u8>, body: &[u8]) {
        let start = octets.len();
        octets.resize(start + self.buffer_len(), 0);
        self.emit(&mut octets[start..]);
        octets.extend(body);
    }
}

/// The messages of a packet one by one. Ends with the packet, or with the first error.
#[derive(Debug, Clone)]
pub struct Messages<'a> {
    rest: &'a [u8],
    /// Where the rest begins in the packet.
    offset: usize,
}

impl<'a> Messages<'a> {
    pub(super) fn new(octets: &'a [u8]) -> Self {
        Self { rest: octets, offset: HEADER_LEN }
    }

    fn message(&mut self) -> Result<Message<'a>, ParseError> {
        let (rest, offset) = (self.rest, self.offset);
        self.rest = &[];
        let left = rest.len();
        LAYER.require(left >= MESSAGE_HEADER_LEN, "octets left for a message", offset, left, "at least 12, or 0")?;
        let size = usize::from(u16::from_be_bytes(array(rest, field::SIZE)));
        let at = offset + field::SIZE;
        LAYER.require(size >= MESSAGE_HEADER_LEN, "message size", at, size, "at least 12")?;
        LAYER.require(size <= left, "message size", at, size, "at most what is left of the packet")?;
        let (message, rest) = rest.split_at(size);
        self.rest = rest;
        self.offset += size;
        Ok(Message(message))
    }
}

impl<'a> Iterator for Messages<'a> {
    type Item = Result<Message<'a>, ParseError>;

    fn next(&mut self) -> Option<Self::Item> {
        (!self.rest.is_empty()).then(|| self.message())
    }
}
