//! Bodies of the control frames of block acknowledgement, in their compressed variants (IEEE Std 802.11-2020, 9.3.1.7 and 9.3.1.8;
//! bitmaps of 256 bits by IEEE Std 802.11ax-2021, 9.3.1.8.2).
//!
//! ```text
//! octets   2             2                  8 or 32
//! +------------+---------------------+----------------+
//! | BA control | Starting sequence   | Block Ack      |
//! |            | control             | bitmap         |
//! +------------+---------------------+----------------+
//! |<--------- BlockAckReq ---------->|
//! ```

use super::{LAYER, SequenceControl};
use crate::ParseError;
use crate::bytes::{array, put};

/// BA type: compressed, in bits 1 to 4 of the control field (Tables 9-29 and 9-31).
const COMPRESSED: u16 = 2 << 1;
const TYPE: u16 = 0x1e;
const TID_SHIFT: u32 = 12;
/// The fragment number that announces a bitmap of 256 bits; 0 announces 64.
const LONG_BITMAP: u8 = 0b0100;

const REQUEST_LEN: usize = 4;

/// The body of a BlockAckReq: the originator asks for a Block Ack, and gives up what is before the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request {
    /// Traffic identifier, 0 to 15.
    pub tid: u8,
    /// Starting sequence number, 0 to 4095.
    pub start: u16,
}

impl Request {
    /// Length of the body, in bytes.
    pub const LEN: usize = REQUEST_LEN;

    /// Parses a body.
    ///
    /// # Errors
    /// It is cut short, or not of the compressed variant.
    pub fn parse(body: &[u8]) -> Result<Self, ParseError> {
        let (tid, start) = parse_request(body)?;
        Ok(Self { tid, start: start.sequence })
    }

    /// Writes the body.
    pub fn emit(&self, body: &mut [u8]) {
        emit_request(body, self.tid, SequenceControl { sequence: self.start, fragment: 0 });
    }
}

/// The bits of a Block Ack: the first is that of the starting sequence number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bitmap {
    /// 64 MPDUs.
    Of64([u8; 8]),
    /// 256 MPDUs.
    Of256([u8; 32]),
}

impl Bitmap {
    fn octets(&self) -> &[u8] {
        match self {
            Self::Of64(octets) => octets,
            Self::Of256(octets) => octets,
        }
    }

    /// Whether the MPDU so far after the starting sequence number is acknowledged; false beyond the bits.
    pub fn has(&self, place: usize) -> bool {
        self.octets().get(place / 8).is_some_and(|octet| octet >> (place % 8) & 1 == 1)
    }
}

/// The body of a Block Ack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Response {
    /// Traffic identifier, 0 to 15.
    pub tid: u8,
    /// Starting sequence number, 0 to 4095.
    pub start: u16,
    /// What has arrived.
    pub bitmap: Bitmap,
}

impl Response {
    /// Parses a body.
    ///
    /// # Errors
    /// It is cut short, not of the compressed variant, or announces a bitmap of another length than 64 or 256 bits.
    pub fn parse(body: &[u8]) -> Result<Self, ParseError> {
        let (tid, start) = parse_request(body)?;
        let is_long = start.fragment == LONG_BITMAP;
        LAYER.require(
            is_long || start.fragment == 0,
            "fragment number",
            2,
            start.fragment,
            "0 (64 bits) or 4 (256)",
        )?;
        let length = REQUEST_LEN + if is_long { 32 } else { 8 };
        LAYER.require(body.len() >= length, "body length", 0, body.len(), "that of the announced bitmap")?;
        let bitmap =
            if is_long { Bitmap::Of256(array(body, REQUEST_LEN)) } else { Bitmap::Of64(array(body, REQUEST_LEN)) };
        Ok(Self { tid, start: start.sequence, bitmap })
    }

    /// Length of the body, in bytes.
    pub fn buffer_len(&self) -> usize {
        REQUEST_LEN + self.bitmap.octets().len()
    }

    /// Writes the body.
    pub fn emit(&self, body: &mut [u8]) {
        let fragment = if matches!(self.bitmap, Bitmap::Of256(_)) { LONG_BITMAP } else { 0 };
        emit_request(body, self.tid, SequenceControl { sequence: self.start, fragment });
        body[REQUEST_LEN..self.buffer_len()].copy_from_slice(self.bitmap.octets());
    }
}

fn parse_request(body: &[u8]) -> Result<(u8, SequenceControl), ParseError> {
    LAYER.require(body.len() >= REQUEST_LEN, "body length", 0, body.len(), "at least 4")?;
    let control = u16::from_le_bytes(array(body, 0));
    LAYER.require(control & TYPE == COMPRESSED, "BA type", 0, (control & TYPE) >> 1, "2 (compressed)")?;
    Ok(((control >> TID_SHIFT) as u8, u16::from_le_bytes(array(body, 2)).into()))
}

fn emit_request(body: &mut [u8], tid: u8, start: SequenceControl) {
    put(body, 0, (COMPRESSED | u16::from(tid) << TID_SHIFT).to_le_bytes());
    put(body, 2, u16::from(start).to_le_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From 9.3.1.7.2, bit by bit: compressed, TID 5, starting sequence number 0x123.
    #[test]
    fn a_request_octet_by_octet() {
        let request = Request { tid: 5, start: 0x123 };
        let mut body = [0xee; Request::LEN];
        request.emit(&mut body);
        assert_eq!(body, [0x04, 0x50, 0x30, 0x12]);
        assert_eq!(Request::parse(&body), Ok(request));
    }

    #[test]
    fn responses_have_bitmaps_of_two_lengths() {
        let mut short = [0; 8];
        (short[0], short[7]) = (0b101, 0x80);
        let mut long = [0; 32];
        long[31] = 0x40;
        for (bitmap, length, fragment, set) in
            [(Bitmap::Of64(short), 12, 0x30, vec![0, 2, 63]), (Bitmap::Of256(long), 36, 0x34, vec![254])]
        {
            let response = Response { tid: 0, start: 0x123, bitmap };
            assert_eq!(response.buffer_len(), length);
            let mut body = vec![0xee; length];
            response.emit(&mut body);
            assert_eq!(body[..4], [0x04, 0x00, fragment, 0x12]);
            assert_eq!(Response::parse(&body), Ok(response));
            let found: Vec<usize> = (0..300).filter(|&place| bitmap.has(place)).collect();
            assert_eq!(found, set);
            assert!(Response::parse(&body[..length - 1]).is_err());
        }
    }

    #[test]
    fn other_variants_are_refused() {
        assert!(Request::parse(&[0x00, 0x00, 0, 0]).is_err(), "basic");
        assert!(Request::parse(&[0x06, 0x00, 0, 0]).is_err(), "multi-TID");
        assert!(Response::parse(&[0x04, 0x00, 0x06, 0, 0, 0, 0, 0, 0, 0, 0, 0]).is_err(), "32 bits");
        assert!(Request::parse(&[0x04, 0x00, 0]).is_err());
    }
}
