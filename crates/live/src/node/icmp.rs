//! ICMP messages to the sender of a packet without a route (RFC 792; RFC 1122, 3.2.2.1; RFC 1812, 4.3.2).

use std::net::Ipv4Addr;

use hopcast_wire::icmpv4::{self, Failure};
use hopcast_wire::ipv4::{self, Protocol};

/// Time to live of what this host makes (RFC 1340, "IP time to live parameter").
const TTL: u8 = 64;

/// The packet from `own` that says that `packet` can't be delivered. `None` where none may be sent ([`icmpv4::error`]).
pub(super) fn host_unreachable(packet: &[u8], own: Ipv4Addr) -> Option<Vec<u8>> {
    let error = icmpv4::error(Failure::HostUnreachable, packet)?;
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
        destination: ipv4::Packet::new_checked(packet).ok()?.source(),
        // An error repeats a header of 60 octets at most and 8 others.
        payload_len: error.len() as u16,
    };
    let mut message = vec![0; ipv4::HEADER_LEN];
    repr.emit(&mut ipv4::Packet::new_unchecked(&mut message));
    message.extend_from_slice(&error);
    Some(message)
}

#[cfg(test)]
mod tests {
    use hopcast_wire::checksum::Sum;
    use proptest::prelude::*;

    use super::super::router::test::packet;
    use super::*;

    const OWN: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);

    #[test]
    fn the_sender_reads_which_packet_it_is_about() {
        let lost = packet(Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(10, 0, 0, 9), Protocol::Udp);
        let message = host_unreachable(&lost, OWN).expect("the sender is told");
        let view = ipv4::Packet::new_checked(&message).expect("it is a packet");
        assert!(view.verify_checksum());
        assert_eq!((view.source(), view.destination()), (OWN, Ipv4Addr::new(10, 0, 0, 1)));
        assert_eq!(&view.payload()[..2], [3, 1]);
        assert!(Sum::EMPTY.with(view.payload()).is_valid());
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
