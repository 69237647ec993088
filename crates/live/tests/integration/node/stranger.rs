//! A host without the network key next to a router: it sends packets from invented addresses.

#![expect(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "between real stacks, time is that of the machine's clock"
)]

use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::AsRawFd as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use hopcast_wire::checksum::Sum;
use hopcast_wire::ipv4::{self, Protocol};
use nix::sys::socket::{AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType, SockaddrIn, sendto, socket};

use super::net::{Net, address};

/// What the packets ask of the router.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Attack {
    /// Forward UDP to an address that no host has.
    Forward,
    /// To answer an echo request.
    Echo,
    /// Refuse UDP at a port without a listener.
    ClosedUdpPort,
    /// To refuse a TCP connection.
    ClosedTcpPort,
}

impl Attack {
    pub(crate) const ALL: [Self; 4] = [Self::Forward, Self::Echo, Self::ClosedUdpPort, Self::ClosedTcpPort];

    /// The packet with this number to `router`, or by way of it.
    fn packet(self, number: u32, router: Ipv4Addr) -> Vec<u8> {
        // Fifty addresses of the network that nobody has.
        let source = Ipv4Addr::from_bits(Ipv4Addr::new(10, 0, 0, 100).to_bits() + number % 50);
        let (destination, protocol, mut payload) = match self {
            Self::Forward => (Ipv4Addr::new(10, 0, 0, 200), Protocol::Udp, vec![0, 9, 0, 9, 0, 28, 0, 0]),
            Self::Echo => (router, Protocol::Icmp, vec![8, 0, 0, 0, 0, 1, 0, 1]),
            Self::ClosedUdpPort => (router, Protocol::Udp, vec![0, 9, 0, 9, 0, 28, 0, 0]),
            // A SYN with a header of 20 octets.
            Self::ClosedTcpPort => {
                (router, Protocol::Tcp, vec![4, 0, 0, 9, 0, 0, 0, 1, 0, 0, 0, 0, 0x50, 2, 1, 0, 0, 0, 0, 0])
            }
        };
        let checksum_at = match self {
            Self::Echo => Some(2),
            Self::ClosedTcpPort => Some(16),
            // UDP may go without a checksum (RFC 768).
            Self::Forward | Self::ClosedUdpPort => None,
        };
        if self != Self::ClosedTcpPort {
            payload.resize(28, 0);
        }
        let length = u16::try_from(payload.len()).expect("it is short");
        if let Some(at) = checksum_at {
            let sum = match self {
                Self::ClosedTcpPort => Sum::EMPTY.with_pseudo_header(source, destination, 6, length),
                _ => Sum::EMPTY,
            };
            let checksum = sum.with(&payload).checksum();
            payload[at..at + 2].copy_from_slice(&checksum.to_be_bytes());
        }
        let repr = ipv4::Repr {
            type_of_service: 0,
            identification: 0,
            dont_fragment: false,
            more_fragments: false,
            fragment_offset: 0,
            time_to_live: 64,
            protocol,
            source,
            destination,
            payload_len: length,
        };
        let mut octets = vec![0; ipv4::HEADER_LEN];
        repr.emit(&mut ipv4::Packet::new_unchecked(&mut octets));
        octets.extend_from_slice(&payload);
        octets
    }
}

/// Sends packets from `node` to the router at its right until `is_done`; returns how many.
pub(crate) fn flood(net: &Net, node: usize, attack: Attack, per_second: u32, is_done: &AtomicBool) -> u32 {
    let router = address(node + 1);
    let socket = net.inside(node, || {
        let flags = SockFlag::SOCK_CLOEXEC;
        socket(AddressFamily::Inet, SockType::Raw, flags, SockProtocol::Raw).expect("root may")
    });
    let start = Instant::now();
    let mut number = 0;
    while !is_done.load(Ordering::Relaxed) {
        let packet = attack.packet(number, router);
        let destination = ipv4::Packet::new_unchecked(&packet).destination();
        let to = SockaddrIn::from(SocketAddrV4::new(destination, 0));
        sendto(socket.as_raw_fd(), &packet, &to, MsgFlags::empty()).expect("the link takes it");
        number += 1;
        std::thread::sleep(
            (start + Duration::from_secs(1) * number / per_second).saturating_duration_since(Instant::now()),
        );
    }
    number
}
