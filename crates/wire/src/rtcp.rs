//! The RTP control protocol: feedback about arrivals, and the goodbye packet (RFC 3550, 6.6), which ends a session without a connection.

pub mod ccfb;
pub mod nack;
pub mod report;
pub mod twcc;

use crate::ParseError;
use crate::bytes::{array, put};
use crate::error::Layer;

const LAYER: Layer = Layer("RTCP");

/// Length of a goodbye of one source without a reason, in bytes.
pub(crate) const GOODBYE_LEN: usize = 8;
/// Version 2, one source.
const FLAGS: u8 = 0x81;
const GOODBYE: u8 = 203;
/// Version 2 in the first byte, and the flag of padding.
const VERSION: u8 = 0x80;
const PADDING: u8 = 0x20;
/// Transport layer feedback (RFC 4585, 6.1).
const FEEDBACK: u8 = 205;

/// Whether a packet at the port of the media belongs to the control protocol (RFC 5761, 4): its second byte is in a range
/// that payload types do not use.
pub fn is_control(octets: &[u8]) -> bool {
    octets.first().is_some_and(|octet| octet >> 6 == 2)
        && octets.get(1).is_some_and(|octet| (192..=223).contains(octet))
}

/// The goodbye packet of `source`.
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +---+-+---------+---------------+-------------------------------+
/// |V=2|P|  SC = 1 |   PT = 203    |          Length = 1           |
/// +---+-+---------+---------------+-------------------------------+
/// |                             Source                            |
/// +---------------------------------------------------------------+
/// ```
///
/// It is a single packet, not a compound one (RFC 5506, 3.4.2).
pub fn goodbye(source: u32) -> [u8; GOODBYE_LEN] {
    let mut octets = [FLAGS, GOODBYE, 0, 1, 0, 0, 0, 0];
    put(&mut octets, 4, source.to_be_bytes());
    octets
}

/// The source that says goodbye: the first one in a packet of that type.
pub fn parse_goodbye(octets: &[u8]) -> Result<u32, ParseError> {
    LAYER.require(octets.len() >= GOODBYE_LEN, "length", 0, octets.len(), "at least 8")?;
    LAYER.require(octets[0] >> 6 == 2, "version", 0, octets[0] >> 6, "2")?;
    LAYER.require(octets[0] & 0x1f > 0, "source count", 0, octets[0] & 0x1f, "at least 1")?;
    LAYER.require(octets[1] == GOODBYE, "packet type", 1, octets[1], "203")?;
    Ok(u32::from_be_bytes(array(octets, 4)))
}

/// The packets of a compound (RFC 3550, 6.1), or the single one (RFC 5506), each with its header. What is cut off at the end is left out.
pub fn packets(octets: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = octets;
    core::iter::from_fn(move || {
        if rest.len() < 4 || rest[0] >> 6 != 2 {
            return None;
        }
        let length = 4 * (usize::from(u16::from_be_bytes(array(rest, 2))) + 1);
        let (packet, behind) = rest.split_at_checked(length)?;
        rest = behind;
        Some(packet)
    })
}

/// Writes the first word of a packet of `length` bytes, whole words.
fn set_header(octets: &mut [u8], flags: u8, packet_type: u8, length: usize) {
    put(octets, 0, [flags, packet_type]);
    put(octets, 2, ((length / 4 - 1) as u16).to_be_bytes());
}

/// The bytes of a feedback packet without its padding and without what follows the packet. Its message type is `format`, and it has at
/// least `least` bytes; each comes with its text for errors.
fn whole<'a>(
    octets: &'a [u8],
    (format, format_text): (u8, &'static str),
    (least, least_text): (usize, &'static str),
) -> Result<&'a [u8], ParseError> {
    LAYER.require(octets.len() >= 4, "length", 0, octets.len(), "at least 4")?;
    LAYER.require(octets[0] >> 6 == 2, "version", 0, octets[0] >> 6, "2")?;
    LAYER.require(octets[1] == FEEDBACK, "packet type", 1, octets[1], "205")?;
    LAYER.require(octets[0] & 0x1f == format, "feedback message type", 0, octets[0] & 0x1f, format_text)?;
    let length = 4 * (usize::from(u16::from_be_bytes(array(octets, 2))) + 1);
    LAYER.require(length <= octets.len(), "length", 2, length, "at most what there is")?;
    let padding = if octets[0] & PADDING > 0 { usize::from(octets[length - 1]) } else { 0 };
    LAYER.require(length >= least, "length", 2, length, least_text)?;
    let is_right = octets[0] & PADDING == 0 || padding > 0 && padding <= length - least;
    LAYER.require(is_right, "padding", length - 1, padding, "1 to what is behind the header")?;
    Ok(&octets[..length - padding])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn section_6_6_octet_by_octet() {
        let octets = goodbye(0x0102_0304);
        assert_eq!(octets, [0x81, 0xcb, 0, 1, 1, 2, 3, 4]);
        assert_eq!(parse_goodbye(&octets), Ok(0x0102_0304));
        assert!(is_control(&octets));
        // Media with a marker and payload type 33, and nothing at all.
        assert!(!is_control(&[0x80, 0xa1]) && !is_control(&[]));
    }

    #[test]
    fn a_compound_is_cut_into_its_packets() {
        let report = [0x80, 201, 0, 1, 1, 2, 3, 4];
        let compound = [&report[..], &goodbye(5), &[0x81, 203, 0, 9]].concat();
        assert_eq!(packets(&compound).collect::<Vec<_>>(), [&report[..], &goodbye(5)]);
        assert_eq!((packets(&[]).count(), packets(&[0x40; 8]).count()), (0, 0));
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let error = |octets: &[u8]| parse_goodbye(octets).unwrap_err().to_string();
        assert_eq!(error(&[0x81; 7]), "RTCP: length at octet 0 is 7, should be at least 8");
        assert_eq!(error(&[0; 8]), "RTCP: version at octet 0 is 0, should be 2");
        assert_eq!(error(&[0x80; 8]), "RTCP: source count at octet 0 is 0, should be at least 1");
        assert_eq!(error(&[0x81; 8]), "RTCP: packet type at octet 1 is 129, should be 203");
    }

    proptest! {
        #[test]
        fn arbitrary_octets_never_panic(octets in prop::collection::vec(any::<u8>(), 0..40)) {
            let _ = (is_control(&octets), parse_goodbye(&octets));
            prop_assert!(packets(&octets).map(<[u8]>::len).sum::<usize>() <= octets.len());
        }
    }
}
