//! What a sender is told of a packet for which there is no route (RFC 792; RFC 1122, 3.2.2.1; RFC 1812, 4.3.2).

use std::net::Ipv4Addr;

use hopcast_wire::checksum::Sum;
use hopcast_wire::ipv4::{self, Protocol};

/// Type of destination unreachable, and its code for a host (RFC 792).
const HOST_UNREACHABLE: [u8; 2] = [3, 1];
/// Length of the header, the unused four octets included.
const HEADER_LEN: usize = 8;
/// What is repeated of the packet: its header and this much behind it (RFC 792).
const REPEATED: usize = 8;
/// Time to live of what this host makes (RFC 1340, "IP time to live parameter").
const TTL: u8 = 64;

/// The message from `own` that `packet` can't be delivered. `None` where none may be sent: about messages of ICMP that may be
/// errors themselves, fragments but the first, and sources that are no single host (RFC 1122, 3.2.2).
pub(super) fn host_unreachable(packet: &[u8], own: Ipv4Addr) -> Option<Vec<u8>> {
    let view = ipv4::Packet::new_checked(packet).ok()?;
    let source = view.source();
    let is_host = !(source.is_unspecified() || source.is_loopback() || source.is_multicast() || source.is_broadcast());
    let is_query = view.protocol() != Protocol::Icmp || matches!(view.payload().first(), Some(8 | 13));
    if !is_host || !is_query || view.fragment_offset() != 0 {
        return None;
    }
    let repeated = &packet[..view.total_len().min(view.header_len() + REPEATED)];
    let payload_len = HEADER_LEN + repeated.len();
    let repr = ipv4::Repr {
        // Network control, as RFC 1812, 4.3.2.5, asks for: internetwork control.
        type_of_service: 0xc0,
        identification: 0,
        dont_fragment: false,
        more_fragments: false,
        fragment_offset: 0,
        time_to_live: TTL,
        protocol: Protocol::Icmp,
        source: own,
        destination: source,
        // A header of 60 octets and 16 others.
        payload_len: payload_len as u16,
    };
    let mut message = vec![0; ipv4::HEADER_LEN + payload_len];
    repr.emit(&mut ipv4::Packet::new_unchecked(&mut message));
    let icmp = &mut message[ipv4::HEADER_LEN..];
    icmp[..2].copy_from_slice(&HOST_UNREACHABLE);
    icmp[HEADER_LEN..].copy_from_slice(repeated);
    let checksum = Sum::EMPTY.with(icmp).checksum();
    icmp[2..4].copy_from_slice(&checksum.to_be_bytes());
    Some(message)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::router::test::packet;
    use super::*;

    const OWN: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);

    #[test]
    fn the_sender_reads_which_packet_it_is_about() {
        let lost = packet(Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(10, 0, 0, 9), Protocol::Udp);
        let message = host_unreachable(&lost, OWN).expect("the sender is told");
        let view = ipv4::Packet::new_checked(&message).expect("it is a packet");
        assert!(view.is_checksum_right());
        assert_eq!((view.source(), view.destination()), (OWN, Ipv4Addr::new(10, 0, 0, 1)));
        assert_eq!(&view.payload()[..2], [3, 1]);
        assert!(Sum::EMPTY.with(view.payload()).is_right());
        assert_eq!(&view.payload()[8..], &lost[..28]);
    }

    #[test]
    fn no_error_is_sent_about_an_error() {
        let lost = packet(Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(10, 0, 0, 9), Protocol::Udp);
        let error = host_unreachable(&lost, OWN).expect("the sender is told");
        assert_eq!(host_unreachable(&error, OWN), None);
        let from_nobody = packet(Ipv4Addr::UNSPECIFIED, Ipv4Addr::new(10, 0, 0, 9), Protocol::Udp);
        assert_eq!(host_unreachable(&from_nobody, OWN), None);
    }

    proptest! {
        #[test]
        fn arbitrary_octets_get_an_answer_or_none(octets in proptest::collection::vec(any::<u8>(), 0..100)) {
            let _ = host_unreachable(&octets, OWN);
        }
    }
}
