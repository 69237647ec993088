//! Packets of the simple Reed–Solomon FEC scheme over GF(2⁸) (RFC 6865) in the FEC framework (RFC 6363).
//!
//! A source packet is an application data unit (ADU) *followed* by the explicit source FEC payload ID (RFC 6363, 5.3), so
//! that its beginning is unchanged. A repair packet is the repair FEC payload ID, followed by a repair symbol (RFC 6363,
//! 5.4). With symbols of 8 bits both IDs have the same layout.
//!
//! A symbol protects the ADU's *information* (ADUI): flow, length, ADU, and zeros up to the length of a symbol.

use crate::ParseError;
use crate::bytes::{array, put};
use crate::error::Layer;

const LAYER: Layer = Layer("FEC");

/// Length of either payload ID, in bytes.
pub const PAYLOAD_ID_LEN: usize = 6;
/// Length of the fields before the ADU in its information, in bytes.
pub const INFORMATION_LEN: usize = 3;
/// Largest number of symbols in a block, source and repair together: the number of non-zero elements of the field.
pub const MAX_SYMBOLS: usize = 255;
/// Source block numbers count modulo this.
pub const BLOCKS: u32 = 1 << 24;

mod field {
    pub(super) const BLOCK_SYMBOL: usize = 0;
    pub(super) const SYMBOL: usize = 3;
    pub(super) const SOURCE_BLOCK_LENGTH: usize = 4;
    pub(super) const FLOW: usize = 0;
    pub(super) const LENGTH: usize = 1;
}

/// A view of a payload ID.
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +-----------------------------------------------+---------------+
/// |             Source Block Number (SBN)         |      ESI      |
/// +-------------------------------+---------------+---------------+
/// |    Source Block Length (k)    |
/// +-------------------------------+
/// ```
///
/// RFC 6865, for symbols of 8 bits. Most significant byte first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PayloadId<T: AsRef<[u8]>> {
    buffer: T,
}

impl<T: AsRef<[u8]>> PayloadId<T> {
    /// A view of `buffer` as it is. Accessors panic if it is too short.
    pub fn new_unchecked(buffer: T) -> Self {
        Self { buffer }
    }

    /// A view of `buffer`, which begins with a payload ID.
    pub fn new_checked(buffer: T) -> Result<Self, ParseError> {
        let length = buffer.as_ref().len();
        LAYER.require(length >= PAYLOAD_ID_LEN, "length of the payload ID", 0, length, "at least 6")?;
        Ok(Self { buffer })
    }

    /// The number of the source block, modulo [`BLOCKS`].
    pub fn block(&self) -> u32 {
        u32::from_be_bytes(array(self.buffer.as_ref(), field::BLOCK_SYMBOL)) >> 8
    }

    /// The encoding symbol ID: source symbols from 0, repair symbols after them.
    pub fn symbol(&self) -> u8 {
        self.buffer.as_ref()[field::SYMBOL]
    }

    /// Source symbols in the block.
    pub fn source_block_length(&self) -> u16 {
        u16::from_be_bytes(array(self.buffer.as_ref(), field::SOURCE_BLOCK_LENGTH))
    }
}

/// The fields of a payload ID.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Repr {
    /// The number of the source block, below [`BLOCKS`].
    pub block: u32,
    /// The encoding symbol ID, below [`MAX_SYMBOLS`]: source symbols from 0, repair symbols after them.
    pub symbol: u8,
    /// k: source symbols in the block, 1 to [`MAX_SYMBOLS`].
    pub source_block_length: u8,
}

impl Repr {
    /// Parses a payload ID, of a source or of a repair packet.
    pub fn parse<T: AsRef<[u8]>>(id: &PayloadId<T>) -> Result<Self, ParseError> {
        let (symbol, told) = (id.symbol(), id.source_block_length());
        let most = "1 to 255";
        LAYER.require((1..=255).contains(&told), "source block length", field::SOURCE_BLOCK_LENGTH, told, most)?;
        LAYER.require(symbol < 255, "encoding symbol ID", field::SYMBOL, symbol, "at most 254")?;
        Ok(Self { block: id.block(), symbol, source_block_length: told as u8 })
    }

    /// Whether it names a source symbol.
    pub fn is_source(&self) -> bool {
        self.symbol < self.source_block_length
    }

    /// Length of a payload ID, in bytes.
    pub fn buffer_len(&self) -> usize {
        PAYLOAD_ID_LEN
    }

    /// Writes the payload ID. A block number that exceeds its field is truncated.
    pub fn emit<T: AsRef<[u8]> + AsMut<[u8]>>(&self, id: &mut PayloadId<T>) {
        let octets = id.buffer.as_mut();
        put(octets, field::BLOCK_SYMBOL, (self.block << 8 | u32::from(self.symbol)).to_be_bytes());
        put(octets, field::SOURCE_BLOCK_LENGTH, u16::from(self.source_block_length).to_be_bytes());
    }
}

/// The ADU of a source packet, and its payload ID.
pub fn parse_source(packet: &[u8]) -> Result<(&[u8], Repr), ParseError> {
    let least = "at least 6";
    LAYER.require(packet.len() >= PAYLOAD_ID_LEN, "length of a source packet", 0, packet.len(), least)?;
    let (adu, id) = packet.split_at(packet.len() - PAYLOAD_ID_LEN);
    let repr = Repr::parse(&PayloadId::new_unchecked(id))?;
    let at = adu.len() + field::SYMBOL;
    LAYER.require(repr.is_source(), "encoding symbol ID", at, repr.symbol, "below the source block length")?;
    Ok((adu, repr))
}

/// The payload ID of a repair packet, and its repair symbol.
pub fn parse_repair(packet: &[u8]) -> Result<(Repr, &[u8]), ParseError> {
    let repr = Repr::parse(&PayloadId::new_checked(packet)?)?;
    let beyond = "no less than the source block length";
    LAYER.require(!repr.is_source(), "encoding symbol ID", field::SYMBOL, repr.symbol, beyond)?;
    let symbol = &packet[PAYLOAD_ID_LEN..];
    let least = "at least 3";
    LAYER.require(symbol.len() >= INFORMATION_LEN, "length of the symbol", PAYLOAD_ID_LEN, symbol.len(), least)?;
    Ok((repr, symbol))
}

/// The information of an ADU, without the zeros after it. Panics if the ADU has more than 65535 bytes.
///
/// ```text
/// +---------------+-------------------------------+----------------
/// |  Flow ID (F)  |           Length (L)          |  ADU, zeros …
/// +---------------+-------------------------------+----------------
/// ```
///
/// RFC 6865, on the creation of source blocks.
pub fn information(flow: u8, adu: &[u8]) -> Vec<u8> {
    let length = u16::try_from(adu.len()).expect("an ADU has at most 65535 octets");
    let mut octets = vec![flow; INFORMATION_LEN];
    put(&mut octets, field::LENGTH, length.to_be_bytes());
    octets.extend_from_slice(adu);
    octets
}

/// Flow and ADU of a source symbol that was recovered.
pub fn parse_information(symbol: &[u8]) -> Result<(u8, &[u8]), ParseError> {
    let least = "at least 3";
    LAYER.require(symbol.len() >= INFORMATION_LEN, "length of the symbol", 0, symbol.len(), least)?;
    let (told, rest) = (u16::from_be_bytes(array(symbol, field::LENGTH)), &symbol[INFORMATION_LEN..]);
    LAYER.require(usize::from(told) <= rest.len(), "length", field::LENGTH, told, "at most what the symbol holds")?;
    Ok((symbol[field::FLOW], &rest[..told.into()]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn octets_and_meaning() {
        let repr = Repr { block: 0x01_0203, symbol: 4, source_block_length: 10 };
        let mut octets = [0xee; PAYLOAD_ID_LEN];
        repr.emit(&mut PayloadId::new_unchecked(&mut octets));
        assert_eq!(octets, [1, 2, 3, 4, 0, 10]);
        assert_eq!(parse_source(&[b"adu".as_slice(), &octets].concat()), Ok((b"adu".as_slice(), repr)));
        let repair = Repr { symbol: 10, ..repr };
        repair.emit(&mut PayloadId::new_unchecked(&mut octets));
        assert_eq!(parse_repair(&[&octets, b"sym".as_slice()].concat()), Ok((repair, b"sym".as_slice())));
        assert_eq!(information(7, b"adu"), [7, 0, 3, b'a', b'd', b'u']);
        assert_eq!(parse_information(&[7, 0, 3, b'a', b'd', b'u', 0, 0]), Ok((7, b"adu".as_slice())));
    }

    #[test]
    fn what_is_wrong_is_named() {
        let text = |result: Result<(Repr, &[u8]), ParseError>| result.unwrap_err().to_string();
        assert_eq!(text(parse_repair(&[0; 5])), "FEC: length of the payload ID at octet 0 is 5, should be at least 6");
        assert_eq!(
            text(parse_repair(&[0, 0, 0, 3, 0, 0, 0])),
            "FEC: source block length at octet 4 is 0, should be 1 to 255"
        );
        assert_eq!(
            text(parse_repair(&[0, 0, 0, 255, 0, 9])),
            "FEC: encoding symbol ID at octet 3 is 255, should be at most 254"
        );
        assert_eq!(
            text(parse_repair(&[0, 0, 0, 3, 0, 9, 0, 0, 0])),
            "FEC: encoding symbol ID at octet 3 is 3, should be no less than the source block length"
        );
        assert_eq!(
            parse_source(&[7, 7, 0, 0, 0, 9, 0, 9]).unwrap_err().to_string(),
            "FEC: encoding symbol ID at octet 5 is 9, should be below the source block length"
        );
        assert_eq!(
            parse_information(&[0, 0, 4, 1, 2, 3]).unwrap_err().to_string(),
            "FEC: length at octet 1 is 4, should be at most what the symbol holds"
        );
    }

    proptest! {
        #[test]
        fn survives_the_wire(
            (block, symbol, source_block_length) in (0..BLOCKS, 0_u8..255, 1_u8..=255),
            payload in prop::collection::vec(any::<u8>(), INFORMATION_LEN..64),
        ) {
            let repr = Repr { block, symbol, source_block_length };
            let mut id = vec![0; repr.buffer_len()];
            repr.emit(&mut PayloadId::new_unchecked(&mut id));
            let (behind, before) = ([&payload[..], &id].concat(), [&id[..], &payload].concat());
            if repr.is_source() {
                prop_assert_eq!(parse_source(&behind), Ok((&payload[..], repr)));
                prop_assert!(parse_repair(&before).is_err());
            } else {
                prop_assert_eq!(parse_repair(&before), Ok((repr, &payload[..])));
                prop_assert!(parse_source(&behind).is_err());
            }
        }

        #[test]
        fn information_survives_the_zeros_behind_it(
            flow: u8,
            adu in prop::collection::vec(any::<u8>(), 0..64),
            zeros in 0_usize..64,
        ) {
            let mut symbol = information(flow, &adu);
            symbol.resize(symbol.len() + zeros, 0);
            prop_assert_eq!(parse_information(&symbol), Ok((flow, &adu[..])));
        }

        #[test]
        fn arbitrary_octets_never_panic(octets in prop::collection::vec(any::<u8>(), 0..32)) {
            let _ = parse_source(&octets);
            let _ = parse_repair(&octets);
            let _ = parse_information(&octets);
        }
    }
}
