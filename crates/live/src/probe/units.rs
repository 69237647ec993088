//! Complete units from a stream.

use std::io::{self, Read};

use hopcast_wire::ParseError;
use hopcast_wire::probe::unit_len;

/// What a stream is read into at the least.
const LEAST_ROOM: usize = 1 << 18;

/// A stream, split into units again.
#[derive(Debug)]
pub struct Units {
    octets: Vec<u8>,
    /// What was read and not taken yet.
    start: usize,
    end: usize,
}

impl Units {
    /// For units of up to `size` bytes.
    pub(crate) fn new(size: usize) -> Self {
        Self { octets: vec![0; size.max(LEAST_ROOM)], start: 0, end: 0 }
    }

    /// Reads once from `stream`; zero bytes at its end. To be called when [`Self::poll_unit`] has no more.
    ///
    /// # Errors
    ///
    /// The stream's.
    pub(crate) fn read(&mut self, stream: &mut impl Read) -> io::Result<usize> {
        if self.start > 0 {
            self.octets.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        let octets = stream.read(&mut self.octets[self.end..])?;
        self.end += octets;
        Ok(octets)
    }

    /// Takes the next whole unit out.
    ///
    /// # Errors
    ///
    /// The stream holds something else, or a unit that is longer than was told.
    pub(crate) fn poll_unit(&mut self) -> Result<Option<&[u8]>, ParseError> {
        let read = &self.octets[self.start..self.end];
        let Some(length) = unit_len(read)? else { return Ok(None) };
        if length > self.octets.len() {
            let value = length as u64;
            let expected = "no more than the flow's units have";
            return Err(ParseError { layer: "probe", field: "length", offset: 4, value, expected });
        }
        if length > read.len() {
            return Ok(None);
        }
        let unit = self.start..self.start + length;
        self.start = unit.end;
        Ok(Some(&self.octets[unit]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hopcast_wire::probe::{MAX_LEN, Packet, Repr};
    use proptest::prelude::*;

    fn unit(sequence: u64, payload_len: usize) -> Vec<u8> {
        let repr = Repr { session: 1, sequence, sent: 2, payload_len };
        let mut octets = vec![3; repr.buffer_len()];
        repr.emit(&mut Packet::new_unchecked(&mut octets[..]));
        octets
    }

    #[test]
    fn a_unit_longer_than_the_room_is_an_error() {
        let mut units = Units::new(32);
        assert_eq!(units.read(&mut &unit(0, MAX_LEN - 32)[..100]).expect("memory"), 100);
        assert!(units.poll_unit().unwrap_err().to_string().ends_with("no more than the flow's units have"));
    }

    #[test]
    fn what_is_no_unit_is_an_error() {
        let mut units = Units::new(32);
        units.read(&mut &b"GET / HTTP/1.1\r\nHost: example"[..]).expect("memory");
        assert!(units.poll_unit().is_err());
    }

    proptest! {
        #[test]
        fn units_come_out_as_they_went_in(
            payloads in prop::collection::vec(0_usize..200_000, 1..12),
            reads in prop::collection::vec(1_usize..100_000, 1..8),
        ) {
            let sent: Vec<Vec<u8>> = payloads.iter().zip(0..).map(|(&length, sequence)| unit(sequence, length)).collect();
            let stream = sent.concat();
            let (mut rest, mut units, mut received) = (&stream[..], Units::new(200_032), Vec::new());
            for most in reads.iter().cycle() {
                let octets = units.read(&mut rest.take(*most as u64)).expect("memory");
                rest = &rest[octets..];
                while let Some(unit) = units.poll_unit().expect("units alone") {
                    received.push(unit.to_vec());
                }
                if rest.is_empty() {
                    break;
                }
            }
            prop_assert!(received == sent);
        }
    }
}
