//! A segment as the machine sees it: the header's meaning, and the payload by name.

use core::fmt;

use super::options::Options;
use hopcast_wire::tcp::{self, Flags};

/// One TCP segment without ports (they name the connection) and checksum (it belongs to the bytes). The payload is named
/// by where it lies in the stream: the sender fills in the offset; the receiver goes by `seq` alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    /// Of the first byte of payload, from the start of the stream.
    pub payload_offset: u64,
    /// Sequence number of the first byte, SYN included.
    pub seq: u32,
    /// Next sequence number expected from the peer; meaningful if [`Flags::ACK`] is set.
    pub ack: u32,
    /// Bytes of payload.
    pub payload_len: u16,
    /// Control bits. [`Flags::URG`] is never set, and ignored on receipt.
    pub flags: Flags,
    /// The window field as on the wire: not scaled in a SYN, scaled by the announced shift afterwards.
    pub window: u16,
    /// The options.
    pub options: Options,
}

// A simulation copies a segment at each hop, within a packet of at most 128 octets, 72 of which are a segment's header.
const _: () = assert!(size_of::<Segment>() <= 56);

impl Segment {
    /// The amount of sequence space that this occupies (SEG.LEN of RFC 9293): payload, SYN and FIN.
    pub(crate) fn sequence_len(&self) -> u64 {
        u64::from(self.payload_len)
            + u64::from(self.flags.contains(Flags::SYN))
            + u64::from(self.flags.contains(Flags::FIN))
    }

    /// Bytes of the options with their padding.
    pub fn options_len(&self) -> u32 {
        self.options.octets()
    }

    /// The header that it has on the wire between these ports.
    pub fn header(&self, source_port: u16, destination_port: u16) -> tcp::Repr {
        tcp::Repr {
            source_port,
            destination_port,
            sequence: self.seq,
            acknowledgement: self.ack,
            flags: self.flags,
            window: self.window,
            urgent: 0,
            options: tcp::Options::from(&self.options),
            payload_len: self.payload_len,
        }
    }
}

impl From<&tcp::Repr> for Segment {
    /// What the machine understands of a header, which does not tell where in the stream its payload lies.
    fn from(header: &tcp::Repr) -> Self {
        Self {
            payload_offset: 0,
            seq: header.sequence,
            ack: header.acknowledgement,
            payload_len: header.payload_len,
            flags: header.flags,
            window: header.window,
            options: Options::from(&header.options),
        }
    }
}

impl fmt::Display for Segment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} seq {}", self.flags, self.seq)?;
        if self.flags.contains(Flags::ACK) {
            write!(f, " ack {}", self.ack)?;
        }
        write!(f, " window {} length {}", self.window, self.payload_len)?;
        for block in self.options.sack_blocks() {
            write!(f, " sack {}-{}", block.left, block.right)?;
        }
        Ok(())
    }
}

/// One direction's sequence space, unrolled to 64 bits: position 0 is the SYN, byte `n` of the stream is position
/// `n + 1`, and the FIN follows the last byte. Nothing inside the machine ever compares numbers that wrap.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sequence {
    initial: u32,
}

impl Sequence {
    pub(super) const fn new(initial: u32) -> Self {
        Self { initial }
    }

    /// The number on the wire of a position.
    pub(super) const fn number(self, position: u64) -> u32 {
        self.initial.wrapping_add(position as u32)
    }

    /// The position with this number that is nearest to `reference`; negative for one before the SYN.
    pub(super) const fn position(self, number: u32, reference: u64) -> i64 {
        // The distance wraps by intent: it is the signed comparison of RFC 9293, section 3.4.
        let distance = number.wrapping_sub(self.number(reference)) as i32;
        reference as i64 + distance as i64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_survive_the_wrap_of_numbers() {
        let sequence = Sequence::new(u32::MAX - 9);
        for reference in [0, 5, 10, 11, (1 << 32) - 1, 1 << 32, 7 << 33] {
            for step in [-2_000_000_000_i64, -1, 0, 1, 2_000_000_000] {
                let position = reference + step;
                if position >= 0 {
                    let number = sequence.number(position as u64);
                    assert_eq!(sequence.position(number, reference as u64), position);
                }
            }
        }
        assert_eq!(sequence.position(u32::MAX - 10, 0), -1);
    }

    #[test]
    fn a_header_says_all_but_where_the_payload_lies() {
        let segment = Segment {
            payload_offset: 0,
            seq: 0xffff_fff0,
            ack: 7,
            payload_len: 1000,
            flags: Flags::ACK | Flags::PSH,
            window: 512,
            options: Options::new(Some(tcp::Timestamps { value: 1, echo: 2 })),
        };
        let header = segment.header(49_152, 80);
        assert_eq!((header.source_port, header.destination_port, header.urgent), (49_152, 80, 0));
        assert_eq!((header.sequence, header.acknowledgement, header.window), (0xffff_fff0, 7, 512));
        // RFC 9293, section 3.1, and 12 octets of padded timestamps (RFC 7323, appendix A).
        assert_eq!(header.buffer_len(), 32);
        assert_eq!(Segment::from(&header), segment);
        let elsewhere = Segment { payload_offset: 5000, ..segment };
        assert_eq!(Segment::from(&elsewhere.header(49_152, 80)), segment);
    }

    #[test]
    fn flags_print_by_name() {
        assert_eq!((Flags::SYN | Flags::ACK).to_string(), "SYN|ACK");
        assert_eq!(Flags::default().to_string(), "");
    }
}
