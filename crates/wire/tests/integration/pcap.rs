//! Captures in the older format, pcap (draft-ietf-opsawg-pcap), in which other projects keep theirs.

use std::fs;
use std::path::Path;

/// `LinkType` of the registry of link types.
pub(crate) mod link_type {
    pub(crate) const ETHERNET: u32 = 1;
    pub(crate) const IEEE802_11: u32 = 105;
    pub(crate) const LINUX_SLL: u32 = 113;
    pub(crate) const IEEE802_11_RADIOTAP: u32 = 127;
}

/// Bytes of the file's header and of a packet's.
const FILE_HEADER_LEN: usize = 24;
const PACKET_HEADER_LEN: usize = 16;

/// A capture file.
pub(crate) struct Capture {
    octets: Vec<u8>,
    is_little_endian: bool,
}

impl Capture {
    /// Panics if there is none, or if it is broken.
    pub(crate) fn open(path: &Path) -> Self {
        let octets = fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        // Stamped in microseconds or in nanoseconds.
        let is_little_endian = match octets[..4] {
            [0xd4, 0xc3, 0xb2, 0xa1] | [0x4d, 0x3c, 0xb2, 0xa1] => true,
            [0xa1, 0xb2, 0xc3, 0xd4] | [0xa1, 0xb2, 0x3c, 0x4d] => false,
            _ => panic!("{}: no magic number of pcap", path.display()),
        };
        Self { octets, is_little_endian }
    }

    fn field(&self, at: usize) -> u32 {
        let octets = self.octets[at..at + 4].try_into().expect("there are four");
        if self.is_little_endian { u32::from_le_bytes(octets) } else { u32::from_be_bytes(octets) }
    }

    /// What its packets begin with.
    pub(crate) fn link_type(&self) -> u32 {
        // The upper bits may tell the length of a frame check sequence.
        self.field(20) & 0x0fff_ffff
    }

    /// The packets that were captured whole.
    pub(crate) fn whole_packets(&self) -> impl Iterator<Item = &[u8]> {
        let mut at = FILE_HEADER_LEN;
        let packets = std::iter::from_fn(move || {
            (at < self.octets.len()).then(|| {
                let (captured, original) = (self.field(at + 8), self.field(at + 12));
                let start = at + PACKET_HEADER_LEN;
                at = start + captured as usize;
                (&self.octets[start..at], captured == original)
            })
        });
        packets.filter(|(_, is_whole)| *is_whole).map(|(octets, _)| octets)
    }
}
