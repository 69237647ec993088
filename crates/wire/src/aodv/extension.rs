//! Extensions of a route request or a route reply.

use super::LAYER;
use crate::ParseError;
use crate::bytes::array;
use crate::code_point::code_points;

/// Length of type and length of an extension, in bytes (RFC 3561, 9).
const HEADER_LEN: usize = 2;
/// Length of a hello interval extension, in bytes (RFC 3561, 9.1).
pub const HELLO_INTERVAL_LEN: usize = 6;
/// Extensions of this type and above must not be skipped by nodes that do not know them (RFC 3561, 9).
const FIRST_MANDATORY: u8 = 128;

code_points! {
    /// What an extension is (RFC 3561, 12).
    ExtensionKind(u8) {
        /// Time between two hellos of the sender (RFC 3561, 9.1).
        HelloInterval = 1,
    }
}

impl ExtensionKind {
    /// Whether a node that does not know the extension must refuse the message (RFC 3561, 9).
    pub fn is_mandatory(self) -> bool {
        u8::from(self) >= FIRST_MANDATORY
    }
}

/// One extension.
///
/// ```text
/// +---------------+---------------+----------- - -
/// |     Type      |    Length     |  Data
/// +---------------+---------------+----------- - -
/// ```
///
/// RFC 3561, 9: the length is that of the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extension<'a> {
    /// Kind.
    pub kind: ExtensionKind,
    /// Its data.
    pub data: &'a [u8],
}

/// The unparsed extensions of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Extensions<'a> {
    octets: &'a [u8],
}

impl<'a> Extensions<'a> {
    /// No extension.
    pub const NONE: Self = Self { octets: &[] };

    /// One of 16 bytes that says nothing, of a type that no standard has: nodes skip it (RFC 3561, 9).
    pub const PADDING: Self = Self { octets: &[0, 14, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0] };

    /// Extensions in unchecked bytes: iteration ends at the first incomplete one.
    pub(super) fn new_unchecked(octets: &'a [u8]) -> Self {
        Self { octets }
    }

    /// Checked extensions, `offset` bytes after the start of a message: they fill `octets`, and each is complete.
    pub fn new_checked(octets: &'a [u8], offset: usize) -> Result<Self, ParseError> {
        let mut at = 0;
        while at < octets.len() {
            let left = octets.len() - at;
            LAYER.require(left >= HEADER_LEN, "extension", offset + at, octets[at], "followed by its length")?;
            let length = usize::from(octets[at + 1]);
            let fits = HEADER_LEN + length <= left;
            LAYER.require(fits, "extension length", offset + at + 1, length, "what the message has room for")?;
            let kind = ExtensionKind::from(octets[at]);
            let is_right = kind != ExtensionKind::HelloInterval || HEADER_LEN + length == HELLO_INTERVAL_LEN;
            LAYER.require(is_right, "hello interval length", offset + at + 1, length, "4")?;
            at += HEADER_LEN + length;
        }
        Ok(Self { octets })
    }

    /// The extensions as bytes.
    pub fn as_slice(&self) -> &'a [u8] {
        self.octets
    }

    /// Iterates over them.
    pub fn iter(&self) -> impl Iterator<Item = Extension<'a>> + use<'a> {
        let mut left = self.octets;
        core::iter::from_fn(move || {
            let [kind, length, rest @ ..] = left else { return None };
            let (data, behind) = rest.split_at_checked((*length).into())?;
            left = behind;
            Some(Extension { kind: (*kind).into(), data })
        })
    }

    /// Time between two hellos of the sender, in milliseconds, if the message has it (RFC 3561, 9.1).
    pub fn hello_interval(&self) -> Option<u32> {
        let mut all = self.iter().filter(|extension| extension.kind == ExtensionKind::HelloInterval);
        let first = all.next().filter(|extension| HEADER_LEN + extension.data.len() == HELLO_INTERVAL_LEN)?;
        Some(u32::from_be_bytes(array(first.data, 0)))
    }
}

/// A hello interval extension with this time in milliseconds (RFC 3561, 9.1).
pub fn hello_interval(milliseconds: u32) -> [u8; HELLO_INTERVAL_LEN] {
    let [a, b, c, d] = milliseconds.to_be_bytes();
    [ExtensionKind::HelloInterval.into(), (HELLO_INTERVAL_LEN - HEADER_LEN) as u8, a, b, c, d]
}
