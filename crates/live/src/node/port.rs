//! An interface that the router runs on, and its sockets.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::{self, IoSliceMut};
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, OwnedFd};

use hopcast_protocols::time::{Duration, Instant};
use hopcast_wire::{MacAddress, ipv4};
use nix::ifaddrs::getifaddrs;
use nix::sys::socket::{
    AddressFamily, ControlMessageOwned, LinkAddr, MsgFlags, SockFlag, SockProtocol, SockType, SockaddrIn, bind,
    recvmsg, sendto, setsockopt, socket, sockopt,
};
use nix::{cmsg_space, libc};

use crate::platform::messages::{Messages, Received};

/// What is read of each packet that is seen: the longest IPv4 header, and the ports behind it.
const SEEN: usize = 64;
/// Room for messages that were not yet read, in bytes: what 200 neighbours send in some seconds in which the router has no turn. Each message
/// occupies 768 bytes at least in the kernel.
const MESSAGE_ROOM: usize = 4 << 20;
/// Room for packets that were not yet seen, in bytes: about 1800 of Ethernet, each of which occupies 2304 in the kernel.
const SIGHT_ROOM: usize = 4 << 20;
/// Packets are looked at so often at the most: what a route's lifetime of seconds does not notice.
const SIGHT_INTERVAL: Duration = Duration::from_millis(20);
/// The most packets that are looked at together.
const SIGHT_BURST: usize = 4096;

/// An open interface.
#[derive(Debug)]
pub(super) struct Port {
    /// The kernel's number of the interface.
    pub(super) index: u32,
    messages: Messages,
    /// Sends packets over this interface alone, so that none comes back by the TUN device.
    pub(super) packets: RawSocket,
    sights: OwnedFd,
    /// When packets are looked at again.
    pub(super) look_at: Option<Instant>,
    /// Packets that were not seen, as there was no room; the kernel's count.
    unseen: u32,
}

/// A packet that was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Seen {
    /// Its source address.
    pub(super) source: Ipv4Addr,
    /// Its destination address.
    pub(super) destination: Ipv4Addr,
    /// Protocol of its payload.
    pub(super) protocol: u8,
    /// The neighbour that has sent it to this host; `None`: this host has sent it.
    pub(super) from: Option<MacAddress>,
}

impl Port {
    /// Opens the interface with this name and number for messages to and from UDP port `port`.
    ///
    /// # Errors
    ///
    /// The platform's.
    pub(super) fn open(name: &str, index: u32, port: u16) -> io::Result<Self> {
        let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
        let messages = Messages::open(name, port)?;
        messages.make_room(MESSAGE_ROOM)?;
        let packets = RawSocket::open(Some(name))?;
        let sights = socket(AddressFamily::Packet, SockType::Datagram, flags, SockProtocol::EthAll)?;
        // In a user namespace the system's limit holds (net.core.rmem_max). With less room, flows count as going on sooner.
        if setsockopt(&sights, sockopt::RcvBufForce, &SIGHT_ROOM).is_err() {
            setsockopt(&sights, sockopt::RcvBuf, &SIGHT_ROOM)?;
        }
        setsockopt(&sights, sockopt::RxqOvfl, &1)?;
        bind(sights.as_raw_fd(), &link_address(name)?)?;
        Ok(Self { index, messages, packets, sights, look_at: None, unseen: 0 })
    }

    /// Readable when messages have come.
    pub(super) fn messages_fd(&self) -> BorrowedFd<'_> {
        self.messages.as_fd()
    }

    /// Readable when there are packets to look at.
    pub(super) fn sights_fd(&self) -> BorrowedFd<'_> {
        self.sights.as_fd()
    }

    /// The next datagram, into `octets`; `None` if there is none.
    ///
    /// # Errors
    ///
    /// The platform's: the interface has gone down, for one.
    pub(super) fn receive(&self, octets: &mut Vec<u8>) -> io::Result<Option<Received>> {
        self.messages.receive(octets)
    }

    /// Sends a message from `source` to a neighbour or to all.
    ///
    /// # Errors
    ///
    /// The platform's.
    pub(super) fn send(&self, source: Ipv4Addr, destination: SocketAddrV4, ttl: u8, octets: &[u8]) -> io::Result<()> {
        self.messages.send(source, destination, ttl, octets)
    }

    /// Looks at packets that were sent and received: all different ones, without the protocol's own messages, at `ports`; and
    /// whether there were others, for which there was no room.
    ///
    /// # Errors
    ///
    /// The platform's.
    pub(super) fn look(&mut self, ports: [u16; 2], now: Instant) -> io::Result<(BTreeSet<Seen>, bool)> {
        self.look_at = None;
        let (mut seen, mut is_incomplete) = (BTreeSet::new(), false);
        let mut octets = [0; SEEN];
        let mut control = cmsg_space!(u32);
        for _ in 0..SIGHT_BURST {
            let mut slices = [IoSliceMut::new(&mut octets)];
            let flags = MsgFlags::MSG_DONTWAIT;
            let received = match recvmsg::<LinkAddr>(self.sights.as_raw_fd(), &mut slices, Some(&mut control), flags) {
                Ok(received) => received,
                Err(nix::Error::EAGAIN) => break,
                Err(error) => return Err(error.into()),
            };
            // Where there were none, the socket tells of the next.
            self.look_at = Some(now + SIGHT_INTERVAL);
            for message in received.cmsgs()? {
                if let ControlMessageOwned::RxqOvfl(count) = message {
                    is_incomplete |= count != self.unseen;
                    self.unseen = count;
                }
            }
            let (len, link) = (received.bytes, received.address);
            if let Some(packet) = link.and_then(|link| self.sight(&link, &octets[..len.min(SEEN)], ports)) {
                seen.insert(packet);
            }
        }
        Ok((seen, is_incomplete))
    }

    fn sight(&self, link: &LinkAddr, octets: &[u8], ports: [u16; 2]) -> Option<Seen> {
        // Between socket and binding, packets of other interfaces may have come.
        let is_here = u32::try_from(link.ifindex()).is_ok_and(|index| index == self.index);
        let from = match link.pkttype() {
            libc::PACKET_HOST => Some(MacAddress(link.addr()?)),
            libc::PACKET_OUTGOING => None,
            _ => return None,
        };
        if !is_here || octets.len() < ipv4::HEADER_LEN || octets[0] >> 4 != 4 {
            return None;
        }
        // The packet is longer than what is seen of it.
        let header = ipv4::Packet::new_unchecked(octets);
        let ports_of = octets.get(header.header_len()..).filter(|rest| rest.len() >= 4);
        let is_message = header.protocol() == ipv4::Protocol::Udp
            && header.fragment_offset() == 0
            && ports_of.is_some_and(|rest| ports.contains(&u16::from_be_bytes([rest[2], rest[3]])));
        let (source, destination) = (header.source(), header.destination());
        (!is_message).then_some(Seen { source, destination, protocol: header.protocol().into(), from })
    }
}

/// Sends packets with the headers that they have.
#[derive(Debug)]
pub(super) struct RawSocket(OwnedFd);

impl RawSocket {
    /// A socket for packets over the interface with this name, or over any.
    ///
    /// # Errors
    ///
    /// The platform's.
    pub(super) fn open(device: Option<&str>) -> io::Result<Self> {
        let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
        let socket = socket(AddressFamily::Inet, SockType::Raw, flags, SockProtocol::Raw)?;
        if let Some(device) = device {
            setsockopt(&socket, sockopt::BindToDevice, &OsString::from(device))?;
        }
        Ok(Self(socket))
    }

    /// Sends a packet the way that the kernel has to its destination.
    ///
    /// # Errors
    ///
    /// The platform's.
    pub(super) fn send(&self, packet: &[u8]) -> io::Result<()> {
        let destination = ipv4::Packet::new_checked(packet).map_err(io::Error::other)?.destination();
        let to = SockaddrIn::from(SocketAddrV4::new(destination, 0));
        sendto(self.0.as_raw_fd(), packet, &to, MsgFlags::MSG_DONTWAIT)?;
        Ok(())
    }
}

/// The address by which a socket for packets is bound to an interface.
fn link_address(name: &str) -> io::Result<LinkAddr> {
    let addresses = getifaddrs()?.filter(|entry| entry.interface_name == name);
    let links = addresses.filter_map(|entry| entry.address?.as_link_addr().copied());
    links.last().ok_or_else(|| io::Error::from_raw_os_error(libc::ENODEV))
}
