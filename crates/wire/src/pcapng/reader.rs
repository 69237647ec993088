use std::io::{self, BufReader, Read};

use super::block::{ByteOrder, HEADER_LEN, LAYER, TRAILER_LEN, kind, option};
use crate::ParseError;
use crate::bytes::array;

/// `if_tsresol` of an interface that doesn't tell it: units of 10^-6 s (draft-ietf-opsawg-pcapng, "Interface Description
/// Block").
const MICROSECONDS: u8 = 6;

/// A packet of a capture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Time of the capture, in nanoseconds since 1 January 1970, without an offset of the interface (`if_tsoffset`).
    pub at: u64,
    /// Number of the interface in its section.
    pub interface: u32,
    /// Link type, which identifies the header that its bytes begin with.
    pub link_type: u32,
    /// Captured bytes.
    pub octets: Vec<u8>,
}

/// Reads the packets of a capture, in their order. Ends with the capture, or with the first error.
///
/// A broken file is an error of the kind `InvalidData`, whose source is a [`ParseError`], and one that is cut short of the
/// kind `UnexpectedEof`.
#[derive(Debug)]
pub struct Reader<R: Read> {
    source: BufReader<R>,
    order: ByteOrder,
    /// Those of the section.
    interfaces: Vec<Interface>,
    /// That of the last block.
    body: Vec<u8>,
    has_failed: bool,
}

/// The fields of an interface description.
#[derive(Debug)]
struct Interface {
    link_type: u16,
    /// `if_tsresol`.
    resolution: u8,
}

impl<R: Read> Reader<R> {
    /// Starts to read a capture.
    pub fn new(source: R) -> io::Result<Self> {
        let mut reader = Self {
            source: BufReader::new(source),
            order: ByteOrder::Little,
            interfaces: Vec::new(),
            body: Vec::new(),
            has_failed: false,
        };
        let kind = reader.read_block()?.ok_or(io::ErrorKind::UnexpectedEof)?;
        LAYER
            .require(kind == kind::SECTION_HEADER, "block type", 0, kind, "that of a section header")
            .map_err(invalid)?;
        reader.begin_section().map_err(invalid)?;
        Ok(reader)
    }

    /// Reads the next block into `body`, and returns its type; nothing at the end of the capture.
    fn read_block(&mut self) -> io::Result<Option<u32>> {
        let mut header = Vec::with_capacity(HEADER_LEN);
        self.source.by_ref().take(HEADER_LEN as u64).read_to_end(&mut header)?;
        if header.is_empty() {
            return Ok(None);
        }
        if header.len() < HEADER_LEN {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.body.clear();
        let kind = self.order.u32(&header, 0);
        if kind == kind::SECTION_HEADER {
            // A section may have an order of its own, which its length is written in as well.
            self.read_octets(4)?;
            self.order = ByteOrder::of_magic(array(&self.body, 0)).map_err(invalid)?;
        }
        let total = self.order.u32(&header, 4);
        let least = HEADER_LEN + self.body.len() + TRAILER_LEN;
        let is_right = total.is_multiple_of(4) && total as usize >= least;
        LAYER
            .require(is_right, "block total length", 4, total, "whole words, with room for the block")
            .map_err(invalid)?;
        self.read_octets(total as usize - HEADER_LEN - self.body.len())?;
        let end = self.body.len() - TRAILER_LEN;
        let again = self.order.u32(&self.body, end);
        LAYER
            .require(again == total, "block total length", HEADER_LEN + end, again, "the same as at the start")
            .map_err(invalid)?;
        self.body.truncate(end);
        Ok(Some(kind))
    }

    /// Adds `count` bytes to `body`, which takes no more memory than the file has bytes.
    fn read_octets(&mut self, count: usize) -> io::Result<()> {
        let read = self.source.by_ref().take(count as u64).read_to_end(&mut self.body)?;
        if read < count { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(()) }
    }

    /// Takes in a section header: the interfaces of the section before it are no longer known.
    fn begin_section(&mut self) -> Result<(), ParseError> {
        self.require_body(16)?;
        let version = self.order.u16(&self.body, 4);
        LAYER.require(version == 1, "major version", HEADER_LEN + 4, version, "1")?;
        self.interfaces.clear();
        Ok(())
    }

    /// Takes in an interface description.
    fn add_interface(&mut self) -> Result<(), ParseError> {
        self.require_body(8)?;
        let resolution = self.order.option(&self.body, 8, option::IF_TSRESOL)?;
        let resolution = resolution.and_then(|value| value.first()).copied().unwrap_or(MICROSECONDS);
        self.interfaces.push(Interface { link_type: self.order.u16(&self.body, 0), resolution });
        Ok(())
    }

    /// The packet of an enhanced packet block.
    fn packet(&self) -> Result<Record, ParseError> {
        self.require_body(20)?;
        let field = |at| self.order.u32(&self.body, at);
        let number = field(0);
        let interface = self
            .interfaces
            .get(number as usize)
            .ok_or_else(|| LAYER.error("interface ID", HEADER_LEN, number, "that of an interface described before"))?;
        let units = u64::from(field(4)) << 32 | u64::from(field(8));
        let at = nanoseconds(units, interface.resolution).ok_or_else(|| {
            LAYER.error("timestamp", HEADER_LEN + 4, units, "64 bits of nanoseconds at the most, by if_tsresol")
        })?;
        let length = field(12);
        let octets = self.body[20..].get(..length as usize).ok_or_else(|| {
            LAYER.error("captured packet length", HEADER_LEN + 12, length, "no more than is left of the block")
        })?;
        Ok(Record { at, interface: number, link_type: interface.link_type.into(), octets: octets.to_vec() })
    }

    fn require_body(&self, least: usize) -> Result<(), ParseError> {
        let total = HEADER_LEN + self.body.len() + TRAILER_LEN;
        LAYER.require(self.body.len() >= least, "block total length", 4, total, "room for the fields of the block")
    }

    fn read_record(&mut self) -> io::Result<Option<Record>> {
        while let Some(kind) = self.read_block()? {
            match kind {
                kind::SECTION_HEADER => self.begin_section().map_err(invalid)?,
                kind::INTERFACE_DESCRIPTION => self.add_interface().map_err(invalid)?,
                kind::ENHANCED_PACKET => return self.packet().map(Some).map_err(invalid),
                _ => {}
            }
        }
        Ok(None)
    }
}

impl<R: Read> Iterator for Reader<R> {
    type Item = io::Result<Record>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.has_failed {
            return None;
        }
        let record = self.read_record();
        self.has_failed = record.is_err();
        record.transpose()
    }
}

/// `units` of a resolution (`if_tsresol`) in nanoseconds, rounded down, if they fit. The highest bit of a resolution tells
/// powers of 2 from those of 10.
fn nanoseconds(units: u64, resolution: u8) -> Option<u64> {
    let base: u128 = if resolution & 0x80 == 0 { 10 } else { 2 };
    let per_second = base.checked_pow(u32::from(resolution & 0x7f))?;
    u64::try_from(u128::from(units) * 1_000_000_000 / per_second).ok()
}

fn invalid(error: ParseError) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_of_other_resolutions_are_converted() {
        assert_eq!(nanoseconds(5, MICROSECONDS), Some(5000));
        assert_eq!(nanoseconds(5, 0), Some(5_000_000_000));
        assert_eq!(nanoseconds(3, 0x81), Some(1_500_000_000));
        assert_eq!(nanoseconds(u64::MAX, 9), Some(u64::MAX));
        assert_eq!(nanoseconds(u64::MAX, 6), None);
        assert_eq!(nanoseconds(1, 0x7f), None);
    }
}
