//! Captures as pcapng: frames of 802.11 behind a radiotap header, and bare IPv4 packets, stamped in nanoseconds
//! (draft-ietf-opsawg-pcapng; link types 127 and 228 of the registry of link types, `LINKTYPE_IEEE802_11_RADIOTAP` and
//! `LINKTYPE_IPV4`).

use std::borrow::Cow;
use std::io::{self, Read, Write};
use std::time::Duration;

use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketBlock;
use pcap_file::pcapng::blocks::interface_description::{InterfaceDescriptionBlock, InterfaceDescriptionOption};
use pcap_file::pcapng::blocks::section_header::{SectionHeaderBlock, SectionHeaderOption};
use pcap_file::pcapng::{Block, PcapNgReader, PcapNgWriter};
use pcap_file::{DataLink, Endianness, PcapError};

/// `if_tsresol`: units of 10^-9 s (draft-ietf-opsawg-pcapng, "Interface Description Block").
const NANOSECONDS: u8 = 9;
/// `if_tsresol` of an interface that doesn't tell it: units of 10^-6 s (the same).
const MICROSECONDS: u8 = 6;

/// `shb_userappl` (draft-ietf-opsawg-pcapng, "Section Header Block"). It tells our captures from those of others, and from
/// our own that another program has changed.
const APPLICATION: &str = "hopcast";

/// What the packets of an interface begin with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkType {
    /// A radiotap header, then a frame of 802.11.
    Radiotap,
    /// An IPv4 header.
    Ipv4,
}

/// Writes a capture of one interface or several.
///
/// The sink sees several short writes for each packet: hand over a buffered one.
pub struct Writer<W: Write> {
    inner: PcapNgWriter<W>,
    interfaces: u32,
}

impl<W: Write> Writer<W> {
    /// Begins a capture of the interface `name`, whose frames have a radiotap header.
    pub fn new(sink: W, name: &str) -> io::Result<Self> {
        // One order of octets, not the machine's own: the same run writes the same file everywhere.
        let application = SectionHeaderOption::UserApplication(Cow::Borrowed(APPLICATION));
        let section =
            SectionHeaderBlock { endianness: Endianness::Little, options: vec![application], ..Default::default() };
        let inner = PcapNgWriter::with_section_header(sink, section).map_err(into_io)?;
        let mut writer = Self { inner, interfaces: 0 };
        writer.add_interface(name, LinkType::Radiotap)?;
        Ok(writer)
    }

    /// Describes one more interface, and returns its number; the first one has 0.
    pub fn add_interface(&mut self, name: &str, link_type: LinkType) -> io::Result<u32> {
        let interface = InterfaceDescriptionBlock {
            linktype: match link_type {
                LinkType::Radiotap => DataLink::IEEE802_11_RADIOTAP,
                LinkType::Ipv4 => DataLink::IPV4,
            },
            snaplen: 0,
            options: vec![
                InterfaceDescriptionOption::IfName(Cow::Owned(name.to_owned())),
                InterfaceDescriptionOption::IfTsResol(NANOSECONDS),
            ],
        };
        self.inner.write_pcapng_block(interface).map_err(into_io)?;
        self.interfaces += 1;
        Ok(self.interfaces - 1)
    }

    /// Adds a packet of the first interface: a radiotap header and a frame. `at` is in nanoseconds since the start, which is written as 1 January 1970.
    pub fn write(&mut self, at: u64, octets: &[u8]) -> io::Result<()> {
        self.write_on(0, at, octets)
    }

    /// The same for the interface with this number, whose link type tells what the packet begins with.
    pub fn write_on(&mut self, interface: u32, at: u64, octets: &[u8]) -> io::Result<()> {
        let too_long = |_| io::Error::new(io::ErrorKind::InvalidInput, "a packet of a capture has at most 4 GiB");
        let packet = EnhancedPacketBlock {
            interface_id: interface,
            timestamp: Duration::from_nanos(at),
            original_len: u32::try_from(octets.len()).map_err(too_long)?,
            data: Cow::Borrowed(octets),
            options: vec![],
        };
        self.inner.write_pcapng_block(packet).map_err(into_io)?;
        Ok(())
    }

    /// Gives the sink back. A buffered one has to be flushed by the caller, who then learns of a full disk.
    pub fn into_inner(self) -> W {
        self.inner.into_inner()
    }
}

/// A packet of a capture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// When it was captured, in nanoseconds since 1 January 1970.
    pub at: u64,
    /// What kind of header its octets begin with, by the registry of link types.
    pub link_type: u32,
    /// What was captured of it.
    pub octets: Vec<u8>,
}

/// Reads the packets of a capture, in their order. Ends with the capture, or with the first error.
pub struct Reader<R: Read> {
    inner: PcapNgReader<R>,
    failed: bool,
}

impl<R: Read> Reader<R> {
    /// Begins to read a capture.
    pub fn new(source: R) -> io::Result<Self> {
        Ok(Self { inner: PcapNgReader::new(source).map_err(into_io)?, failed: false })
    }

    fn read_record(&mut self) -> Option<io::Result<Record>> {
        loop {
            let (interface, units, octets) = match self.inner.next_block()? {
                // The library takes the timestamp for nanoseconds, whatever the interface says: here it is a plain number.
                Ok(Block::EnhancedPacket(packet)) => {
                    (packet.interface_id, packet.timestamp.as_nanos(), packet.data.into_owned())
                }
                Ok(_) => continue,
                Err(error) => return Some(Err(into_io(error))),
            };
            let described = usize::try_from(interface).ok().and_then(|nth| self.inner.interfaces().get(nth));
            let Some(interface) = described else {
                return Some(Err(into_io(PcapError::InvalidInterfaceId(interface))));
            };
            let link_type = interface.linktype.into();
            let at = nanoseconds(units, resolution(interface));
            return Some(at.map(|at| Record { at, link_type, octets }));
        }
    }
}

impl<R: Read> Iterator for Reader<R> {
    type Item = io::Result<Record>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        let record = self.read_record();
        self.failed = matches!(record, Some(Err(_)));
        record
    }
}

/// `if_tsresol` of an interface.
fn resolution(interface: &InterfaceDescriptionBlock<'_>) -> u8 {
    let told = interface.options.iter().find_map(|option| match option {
        InterfaceDescriptionOption::IfTsResol(resolution) => Some(*resolution),
        _ => None,
    });
    told.unwrap_or(MICROSECONDS)
}

/// `units` of a resolution in nanoseconds, rounded down. The highest bit of a resolution tells powers of 2 from those of 10.
fn nanoseconds(units: u128, resolution: u8) -> io::Result<u64> {
    let base: u128 = if resolution & 0x80 == 0 { 10 } else { 2 };
    let per_second = base.checked_pow(u32::from(resolution & 0x7f));
    let at = per_second.and_then(|rate| units.checked_mul(1_000_000_000).map(|scaled| scaled / rate));
    at.and_then(|at| u64::try_from(at).ok()).ok_or_else(|| {
        let wrong =
            format!("pcapng: a timestamp of {units} units at if_tsresol {resolution} has no 64 bits of nanoseconds");
        io::Error::new(io::ErrorKind::InvalidData, wrong)
    })
}

fn into_io(error: PcapError) -> io::Error {
    match error {
        PcapError::IoError(error) => error,
        other => io::Error::new(io::ErrorKind::InvalidData, other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn capture(packets: &[(u64, &[u8])]) -> Vec<u8> {
        let mut writer = Writer::new(Vec::new(), "node0").unwrap();
        for &(at, octets) in packets {
            writer.write(at, octets).unwrap();
        }
        writer.into_inner()
    }

    #[test]
    fn octets_and_meaning() {
        let written = capture(&[(0x1_0203_0405, &[0xaa, 0xbb, 0xcc, 0xdd, 0xee])]);
        #[rustfmt::skip]
        let expected = [
            // Section header: little-endian, version 1.0, of unknown length; shb_userappl, end of options.
            0x0a, 0x0d, 0x0d, 0x0a, 44, 0, 0, 0, 0x4d, 0x3c, 0x2b, 0x1a, 1, 0, 0, 0,
            0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
            4, 0, 7, 0, b'h', b'o', b'p', b'c', b'a', b's', b't', 0, 0, 0, 0, 0, 44, 0, 0, 0,
            // Interface: link type 127, no limit; if_name, if_tsresol, end of options.
            1, 0, 0, 0, 44, 0, 0, 0, 127, 0, 0, 0, 0, 0, 0, 0,
            2, 0, 5, 0, b'n', b'o', b'd', b'e', b'0', 0, 0, 0, 9, 0, 1, 0, 9, 0, 0, 0, 0, 0, 0, 0, 44, 0, 0, 0,
            // Packet: interface 0, upper and lower half of the time, length as captured and as sent, octets, padding.
            6, 0, 0, 0, 40, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0x05, 0x04, 0x03, 0x02, 5, 0, 0, 0, 5, 0, 0, 0,
            0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0, 0, 0, 40, 0, 0, 0,
        ];
        assert_eq!(written, expected);
        let read: Vec<_> = Reader::new(&expected[..]).unwrap().map(Result::unwrap).collect();
        let record = Record { at: 0x1_0203_0405, link_type: 127, octets: vec![0xaa, 0xbb, 0xcc, 0xdd, 0xee] };
        assert_eq!(read, [record]);
    }

    #[test]
    fn packets_belong_to_their_interfaces() {
        let mut writer = Writer::new(Vec::new(), "node0").unwrap();
        assert_eq!(writer.add_interface("node0.wire0", LinkType::Ipv4).unwrap(), 1);
        writer.write_on(1, 5, &[0x45]).unwrap();
        writer.write(6, &[0]).unwrap();
        let written = writer.into_inner();
        let link_types: Vec<_> = Reader::new(&written[..]).unwrap().map(|record| record.unwrap().link_type).collect();
        assert_eq!(link_types, [228, 127]);
    }

    #[test]
    fn timestamps_of_other_resolutions_are_converted() {
        assert_eq!(nanoseconds(5, MICROSECONDS).unwrap(), 5000);
        assert_eq!(nanoseconds(5, 0).unwrap(), 5_000_000_000);
        assert_eq!(nanoseconds(3, 0x81).unwrap(), 1_500_000_000);
        assert!(nanoseconds(u128::from(u64::MAX), 6).is_err());
        assert!(nanoseconds(1, 0x7f).is_err());
    }

    #[test]
    fn a_truncated_capture_is_an_error_after_what_is_whole() {
        let written = capture(&[(1, &[1; 30]), (2, &[2; 30])]);
        let records: Vec<_> = Reader::new(&written[..written.len() - 1]).unwrap().collect();
        assert_eq!(records.len(), 2);
        assert_eq!(records[0].as_ref().unwrap().at, 1);
        assert_eq!(records[1].as_ref().unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
    }

    #[test]
    fn a_full_sink_is_an_error() {
        let mut room = [0; 100];
        let mut writer = Writer::new(&mut room[..], "node0").unwrap();
        assert_eq!(writer.write(0, &[0; 60]).unwrap_err().kind(), io::ErrorKind::WriteZero);
    }

    proptest! {
        // Each reader has a buffer of 8 MB.
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn survives_the_file(packets in prop::collection::vec((any::<u64>(), prop::collection::vec(any::<u8>(), 0..40)), 0..5)) {
            let written = capture(&packets.iter().map(|(at, octets)| (*at, &octets[..])).collect::<Vec<_>>());
            let read: Vec<_> =
                Reader::new(&written[..]).unwrap().map(Result::unwrap).map(|record| (record.at, record.octets)).collect();
            prop_assert_eq!(read, packets);
        }

        #[test]
        fn changed_octets_never_panic(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6)) {
            let mut written = capture(&[(1, &[1; 13]), (2, &[2; 30])]);
            for (index, value) in changes {
                let at = index.index(written.len());
                written[at] = value;
            }
            if let Ok(reader) = Reader::new(&written[..]) {
                let _ = reader.count();
            }
        }
    }
}
