//! Reason why this host sends a packet: for a program, or in answer to another host's packet.
//!
//! The kernel answers by itself, to whatever source address a packet has. Such answers must not make the router search
//! for routes on behalf of strangers, nor take the waiting places of programs' packets.

use hopcast_wire::ipv4::{self, Protocol};

/// Why this host sends a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// A program wants it sent, as far as the packet shows.
    Program,
    /// The kernel answers: an ICMP reply, a TCP segment that accepts or refuses a connection, or a later fragment of ICMP, which
    /// does not show its type.
    Answer,
    /// An ICMP error, from this router or from the kernel (RFC 1122, section 3.2.2).
    Error,
}

/// Flags of a TCP header (RFC 9293, section 3.1): their byte, and their bits in it.
mod tcp {
    pub(super) const FLAGS: usize = 13;
    pub(super) const SYN: u8 = 0x02;
    pub(super) const RST: u8 = 0x04;
    pub(super) const ACK: u8 = 0x10;
}

impl Origin {
    /// Why this host sends `packet`.
    pub(super) fn of(packet: &ipv4::Packet<&[u8]>) -> Self {
        let is_first = packet.fragment_offset() == 0;
        match (packet.protocol(), packet.payload()) {
            (Protocol::Icmp, _) if !is_first => Self::Answer,
            // Types of RFC 792, and of RFC 950, appendix I, for 18. Type 4 is source quench, 5 redirect.
            (Protocol::Icmp, [0 | 14 | 16 | 18, ..]) => Self::Answer,
            (Protocol::Icmp, [3 | 4 | 5 | 11 | 12, ..]) => Self::Error,
            (Protocol::Tcp, segment) if is_first => match segment.get(tcp::FLAGS) {
                Some(flags) if flags & tcp::RST != 0 => Self::Answer,
                Some(flags) if flags & (tcp::SYN | tcp::ACK) == tcp::SYN | tcp::ACK => Self::Answer,
                _ => Self::Program,
            },
            _ => Self::Program,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::super::icmp;
    use super::super::router::test::{packet, with_payload};
    use super::*;

    const OWN: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
    const FAR: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 9);

    fn origin(octets: &[u8]) -> Origin {
        Origin::of(&ipv4::Packet::new_checked(octets).expect("a packet"))
    }

    #[test]
    fn requests_and_data_are_of_programs() {
        for kind in [8, 13, 15, 17] {
            assert_eq!(origin(&with_payload(OWN, FAR, Protocol::Icmp, &[kind; 8])), Origin::Program, "type {kind}");
        }
        assert_eq!(origin(&packet(OWN, FAR, Protocol::Udp)), Origin::Program);
        for flags in [tcp::SYN, tcp::ACK, 0x18, 0x11] {
            let mut segment = [0; 20];
            segment[13] = flags;
            assert_eq!(origin(&with_payload(OWN, FAR, Protocol::Tcp, &segment)), Origin::Program, "flags {flags:#x}");
        }
    }

    #[test]
    fn the_kernel_answers_requests_and_connections() {
        for kind in [0, 14, 16, 18] {
            assert_eq!(origin(&with_payload(OWN, FAR, Protocol::Icmp, &[kind; 8])), Origin::Answer, "type {kind}");
        }
        for flags in [tcp::RST, tcp::RST | tcp::ACK, tcp::SYN | tcp::ACK] {
            let mut segment = [0; 20];
            segment[13] = flags;
            assert_eq!(origin(&with_payload(OWN, FAR, Protocol::Tcp, &segment)), Origin::Answer, "flags {flags:#x}");
        }
    }

    #[test]
    fn errors_of_icmp_are_errors() {
        let error = icmp::host_unreachable(&packet(FAR, OWN, Protocol::Udp), OWN).expect("the sender is told");
        assert_eq!(origin(&error), Origin::Error);
        for kind in [3, 4, 5, 11, 12] {
            assert_eq!(origin(&with_payload(OWN, FAR, Protocol::Icmp, &[kind; 8])), Origin::Error, "type {kind}");
        }
    }

    #[test]
    fn a_later_fragment_of_icmp_counts_as_an_answer() {
        let mut octets = with_payload(OWN, FAR, Protocol::Icmp, &[8; 8]);
        // Fragment offset, in units of 8 octets (RFC 791, section 3.1).
        octets[7] = 1;
        assert_eq!(origin(&octets), Origin::Answer);
    }

    #[test]
    fn what_is_too_short_is_of_a_program() {
        for protocol in [Protocol::Icmp, Protocol::Tcp] {
            assert_eq!(origin(&with_payload(OWN, FAR, protocol, &[])), Origin::Program);
        }
    }
}
