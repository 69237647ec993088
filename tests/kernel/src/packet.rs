//! Segments as bytes, as the kernel wants them.

use std::net::SocketAddrV4;

use hopcast_protocols::transport::tcp::Segment;
use hopcast_wire::{checksum::Policy, ipv4, tcp};

/// The IP packet of a segment; its payload is zeros.
pub(crate) fn emit(segment: &Segment, local: SocketAddrV4, remote: SocketAddrV4) -> Vec<u8> {
    let header = segment.header(local.port(), remote.port());
    let header_len = header.buffer_len();
    let internet = ipv4::Repr {
        type_of_service: 0,
        identification: 0,
        dont_fragment: true,
        more_fragments: false,
        fragment_offset: 0,
        time_to_live: 64,
        protocol: ipv4::Protocol::Tcp,
        source: *local.ip(),
        destination: *remote.ip(),
        payload_len: header_len as u16 + segment.payload_len,
    };
    let start = internet.buffer_len();
    let mut octets = vec![0; start + header_len + usize::from(segment.payload_len)];
    internet.emit(&mut ipv4::Packet::new_unchecked(&mut octets[..start]));
    header.emit(&mut tcp::Packet::new_unchecked(&mut octets[start..]), *local.ip(), *remote.ip(), &[]);
    octets
}

/// The TCP header of an IP packet; `None` for a packet of another protocol. The checksums must be right.
pub(crate) fn parse(octets: &[u8]) -> Option<tcp::Repr> {
    let packet = ipv4::Packet::new_checked(octets).ok()?;
    let internet = ipv4::Repr::parse(&packet, Policy::Verify).ok()?;
    if internet.protocol != ipv4::Protocol::Tcp {
        return None;
    }
    let segment = tcp::Packet::new_checked(packet.payload()).expect("a segment of a correct TCP");
    let repr = tcp::Repr::parse(&segment, internet.source, internet.destination, Policy::Verify);
    Some(repr.expect("a correct TCP's segment has a correct checksum"))
}
