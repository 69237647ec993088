//! The common parts of blocks: type, length at both ends, options.

use crate::ParseError;
use crate::bytes::array;
use crate::error::Layer;

pub(super) const LAYER: Layer = Layer("pcapng");

/// `Block Type` of those that are read and written (draft-ietf-opsawg-pcapng, "Standardized Block Type Codes").
pub(super) mod kind {
    pub(in super::super) const INTERFACE_DESCRIPTION: u32 = 1;
    pub(in super::super) const ENHANCED_PACKET: u32 = 6;
    /// The same in both byte orders, so that it can be known before the order is.
    pub(in super::super) const SECTION_HEADER: u32 = 0x0a0d_0d0a;
}

/// `Option Type` of those that are read and written (draft-ietf-opsawg-pcapng, "Options", "Section Header Block Options",
/// "Interface Description Block Options").
pub(super) mod option {
    pub(in super::super) const END: u16 = 0;
    pub(in super::super) const SHB_USERAPPL: u16 = 4;
    pub(in super::super) const IF_NAME: u16 = 2;
    pub(in super::super) const IF_TSRESOL: u16 = 9;
}

/// The start of a section header's body, by which a reader knows the byte order (draft-ietf-opsawg-pcapng, "Section Header
/// Block").
pub(super) const BYTE_ORDER_MAGIC: u32 = 0x1a2b_3c4d;

/// Bytes of a block before its body: type and total length.
pub(super) const HEADER_LEN: usize = 8;
/// Bytes of a block after its body: total length.
pub(super) const TRAILER_LEN: usize = 4;

/// How many bytes follow `length` of them, so that what comes next begins at a word of 32 bits.
pub(super) fn padding(length: usize) -> usize {
    length.wrapping_neg() % 4
}

/// The byte order of a section, that of the machine which wrote it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ByteOrder {
    Little,
    Big,
}

impl ByteOrder {
    /// The order in which `magic` is that of a section header.
    pub(super) fn of_magic(magic: [u8; 4]) -> Result<Self, ParseError> {
        if u32::from_le_bytes(magic) == BYTE_ORDER_MAGIC {
            return Ok(Self::Little);
        }
        let told = u32::from_be_bytes(magic);
        LAYER.require(told == BYTE_ORDER_MAGIC, "byte-order magic", HEADER_LEN, told, "0x1a2b3c4d in either order")?;
        Ok(Self::Big)
    }

    pub(super) fn u16(self, octets: &[u8], at: usize) -> u16 {
        match self {
            Self::Little => u16::from_le_bytes(array(octets, at)),
            Self::Big => u16::from_be_bytes(array(octets, at)),
        }
    }

    pub(super) fn u32(self, octets: &[u8], at: usize) -> u32 {
        match self {
            Self::Little => u32::from_le_bytes(array(octets, at)),
            Self::Big => u32::from_be_bytes(array(octets, at)),
        }
    }

    /// The value of the first option of this type in `body`, where options begin at `start`.
    pub(super) fn option(self, body: &[u8], start: usize, wanted: u16) -> Result<Option<&[u8]>, ParseError> {
        let mut at = start;
        while at + 4 <= body.len() {
            let (option, length) = (self.u16(body, at), usize::from(self.u16(body, at + 2)));
            if option == option::END {
                break;
            }
            let is_whole = at + 4 + length <= body.len();
            LAYER.require(
                is_whole,
                "option length",
                HEADER_LEN + at + 2,
                length,
                "no more than is left of the block",
            )?;
            if option == wanted {
                return Ok(Some(&body[at + 4..at + 4 + length]));
            }
            at += 4 + length + padding(length);
        }
        Ok(None)
    }
}
