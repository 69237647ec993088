use std::io::{self, Write};

use super::block::{BYTE_ORDER_MAGIC, HEADER_LEN, TRAILER_LEN, kind, option, padding};
use crate::bytes::put;

/// `if_tsresol`: units of 10^-9 s (draft-ietf-opsawg-pcapng, "Interface Description Block").
const NANOSECONDS: u8 = 9;

/// `shb_userappl` (draft-ietf-opsawg-pcapng, "Section Header Block"). It tells our captures from those of others, and from
/// our own that another program has changed.
const APPLICATION: &str = "hopcast";

/// First header of an interface's packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum LinkType {
    /// A radiotap header, then a frame of 802.11.
    Radiotap,
    /// An IPv4 header.
    Ipv4,
    /// An Ethernet header.
    Ethernet,
}

impl LinkType {
    /// Its number in the registry of link types.
    fn number(self) -> u16 {
        match self {
            Self::Radiotap => 127,
            Self::Ipv4 => 228,
            Self::Ethernet => 1,
        }
    }
}

/// Writes a capture of one interface or several.
///
/// It makes several short writes for each packet, so pass a buffered sink.
#[derive(Debug)]
pub struct Writer<W: Write> {
    sink: W,
    interfaces: u32,
}

impl<W: Write> Writer<W> {
    /// Begins a capture of the interface `name`, whose frames have a radiotap header.
    pub fn new(mut sink: W, name: &str) -> io::Result<Self> {
        sink.write_all(&section_header())?;
        let mut writer = Self { sink, interfaces: 0 };
        writer.add_interface(name, LinkType::Radiotap)?;
        Ok(writer)
    }

    /// Describes one more interface, and returns its number; the first one has 0.
    pub fn add_interface(&mut self, name: &str, link_type: LinkType) -> io::Result<u32> {
        self.sink.write_all(&interface_description(name, link_type)?)?;
        self.interfaces += 1;
        Ok(self.interfaces - 1)
    }

    /// Adds a packet of the first interface: a radiotap header and a frame. `at` is in nanoseconds since the start, which
    /// is written as 1 January 1970.
    pub fn write(&mut self, at: u64, octets: &[u8]) -> io::Result<()> {
        self.write_on(0, at, octets)
    }

    /// The same for the interface with this number, whose link type determines the first header of the packet.
    pub fn write_on(&mut self, interface: u32, at: u64, octets: &[u8]) -> io::Result<()> {
        let header = enhanced_packet(interface, at, octets.len())?;
        let padding = padding(octets.len());
        let mut trailer = [0; 3 + TRAILER_LEN];
        trailer[padding..padding + TRAILER_LEN].copy_from_slice(&header[4..HEADER_LEN]);
        self.sink.write_all(&header)?;
        self.sink.write_all(octets)?;
        self.sink.write_all(&trailer[..padding + TRAILER_LEN])
    }

    /// The sink.
    pub fn sink(&self) -> &W {
        &self.sink
    }

    /// Returns the sink. The caller must flush a buffered one, and then gets the error of a full disk.
    pub fn into_inner(self) -> W {
        self.sink
    }
}

/// A section of version 1.0, whose length isn't told.
fn section_header() -> Vec<u8> {
    // One order of octets, not the machine's own: the same run writes the same file everywhere.
    let mut body = BYTE_ORDER_MAGIC.to_le_bytes().to_vec();
    body.extend(1_u16.to_le_bytes());
    body.extend(0_u16.to_le_bytes());
    body.extend(u64::MAX.to_le_bytes());
    push_option(&mut body, option::SHB_USERAPPL, APPLICATION.as_bytes());
    push_option(&mut body, option::END, &[]);
    block(kind::SECTION_HEADER, &body)
}

/// An interface whose packets are captured whole, however long, and stamped in nanoseconds.
fn interface_description(name: &str, link_type: LinkType) -> io::Result<Vec<u8>> {
    if name.len() > usize::from(u16::MAX) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "the name of an interface has at most 65535 octets"));
    }
    // The link type, a reserved field and no limit on the length of a packet.
    let mut body = link_type.number().to_le_bytes().to_vec();
    body.extend([0; 6]);
    push_option(&mut body, option::IF_NAME, name.as_bytes());
    push_option(&mut body, option::IF_TSRESOL, &[NANOSECONDS]);
    push_option(&mut body, option::END, &[]);
    Ok(block(kind::INTERFACE_DESCRIPTION, &body))
}

/// What stands before the bytes of a packet.
///
/// ```text
///  0               1               2               3
///  0 1 2 3 4 5 6 7 0 1 2 3 4 5 6 7 0 1 2 3 4 5 6 7 0 1 2 3 4 5 6 7
/// +---------------------------------------------------------------+
/// |                          Block type                           |
/// +---------------------------------------------------------------+
/// |                      Block total length                       |
/// +---------------------------------------------------------------+
/// |                         Interface ID                          |
/// +---------------------------------------------------------------+
/// |                       Timestamp (upper)                       |
/// +---------------------------------------------------------------+
/// |                       Timestamp (lower)                       |
/// +---------------------------------------------------------------+
/// |                    Captured packet length                     |
/// +---------------------------------------------------------------+
/// |                    Original packet length                     |
/// +---------------------------------------------------------------+
/// ```
///
/// draft-ietf-opsawg-pcapng, "Enhanced Packet Block".
fn enhanced_packet(interface: u32, at: u64, length: usize) -> io::Result<[u8; 28]> {
    let too_long = |_| io::Error::new(io::ErrorKind::InvalidInput, "a packet of a capture has at most 4 GiB");
    let mut header = [0; 28];
    let total = header.len() + length + padding(length) + TRAILER_LEN;
    let total = u32::try_from(total).map_err(too_long)?;
    let length = u32::try_from(length).map_err(too_long)?;
    put(&mut header, 0, kind::ENHANCED_PACKET.to_le_bytes());
    put(&mut header, 4, total.to_le_bytes());
    put(&mut header, 8, interface.to_le_bytes());
    // The upper word first, each in the order of the section.
    put(&mut header, 12, ((at >> 32) as u32).to_le_bytes());
    put(&mut header, 16, (at as u32).to_le_bytes());
    put(&mut header, 20, length.to_le_bytes());
    put(&mut header, 24, length.to_le_bytes());
    Ok(header)
}

/// A block around `body`, which has whole words of 32 bits and is short.
fn block(kind: u32, body: &[u8]) -> Vec<u8> {
    let total = (HEADER_LEN + body.len() + TRAILER_LEN) as u32;
    [&kind.to_le_bytes(), &total.to_le_bytes(), body, &total.to_le_bytes()].concat()
}

/// Adds an option, whose value is no longer than a length of 16 bits can tell, and fills its last word.
fn push_option(body: &mut Vec<u8>, option: u16, value: &[u8]) {
    body.extend(option.to_le_bytes());
    body.extend((value.len() as u16).to_le_bytes());
    body.extend(value);
    body.resize(body.len() + padding(value.len()), 0);
}
