//! The frame check sequence: a CRC of 32 bits over header and body, behind them, least significant byte first
//! (IEEE Std 802.11-2020, 9.2.4.8).

use super::LAYER;
use crate::ParseError;
use crate::bytes::{array, put};

/// Length of the frame check sequence, in bytes.
pub const LEN: usize = 4;

/// The frame check sequence of header and body.
pub(crate) fn of(frame: &[u8]) -> u32 {
    crc32fast::hash(frame)
}

/// Header and body, if the frame check sequence after them is correct.
pub fn strip(frame: &[u8]) -> Result<&[u8], ParseError> {
    LAYER.require(frame.len() >= LEN, "length", 0, frame.len(), "at least 4")?;
    let end = frame.len() - LEN;
    let (body, told) = (&frame[..end], u32::from_le_bytes(array(frame, end)));
    LAYER.require(told == of(body), "FCS", end, told, "the CRC-32 of the frame")?;
    Ok(body)
}

/// Writes the frame check sequence into the last 4 bytes of `frame`, over all before them. Panics if there are fewer.
pub fn fill(frame: &mut [u8]) {
    let end = frame.len() - LEN;
    let fcs = of(&frame[..end]);
    put(frame, end, fcs.to_le_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// From tcpdump's capture ieee802.11_exthdr: an acknowledgement off the air.
    const ACK: [u8; 14] = [0xd4, 0x00, 0x00, 0x00, 0x90, 0xa4, 0xde, 0xc0, 0x46, 0x0a, 0x27, 0x31, 0x63, 0x3c];

    #[test]
    fn the_check_value_of_crc_32() {
        assert_eq!(of(b"123456789"), 0xcbf4_3926);
    }

    #[test]
    fn a_frame_off_the_air() {
        assert_eq!(strip(&ACK), Ok(&ACK[..10]));
        let mut frame = ACK;
        frame[10..].fill(0);
        fill(&mut frame);
        assert_eq!(frame, ACK);
    }

    #[test]
    fn a_broken_frame_is_refused() {
        let mut frame = ACK;
        frame[5] ^= 0x10;
        let error = strip(&frame).unwrap_err();
        assert_eq!((error.field, error.offset, error.value), ("FCS", 10, 0x3c63_3127));
        assert!(strip(&ACK[..3]).is_err());
    }

    proptest! {
        #[test]
        fn arbitrary_octets_never_panic(octets in prop::collection::vec(any::<u8>(), 0..16)) {
            let _ = strip(&octets);
        }
    }
}
