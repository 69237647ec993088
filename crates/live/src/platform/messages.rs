//! UDP datagrams over one interface alone, to a neighbour or to all of them.

use std::ffi::OsString;
use std::io::{self, IoSlice, IoSliceMut};
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, OwnedFd};
use std::time::Duration;

use nix::sys::socket::{
    AddressFamily, ControlMessage, ControlMessageOwned, MsgFlags, SockFlag, SockProtocol, SockType, SockaddrIn, bind,
    recvmsg, sendmsg, setsockopt, socket, sockopt,
};
use nix::sys::time::TimeSpec;
use nix::{cmsg_space, libc};

/// The longest datagram that is read, in bytes.
const MAX_DATAGRAM: usize = 1 << 16;

/// A socket that never blocks.
#[derive(Debug)]
pub(crate) struct Messages(OwnedFd);

/// A datagram that has come.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Received {
    /// Length of it.
    pub(crate) len: usize,
    /// Source address in its IP header.
    pub(crate) source: SocketAddrV4,
    /// Destination address in its IP header.
    pub(crate) destination: Ipv4Addr,
    /// Time to live in its IP header.
    pub(crate) ttl: u8,
    /// When the kernel got it, after any fixed instant, if [it stamps](Messages::stamp).
    pub(crate) arrival: Option<Duration>,
}

impl Messages {
    /// A socket on the interface with this name, at UDP port `port`.
    ///
    /// # Errors
    ///
    /// The platform's.
    pub(crate) fn open(name: &str, port: u16) -> io::Result<Self> {
        let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
        let messages = socket(AddressFamily::Inet, SockType::Datagram, flags, SockProtocol::Udp)?;
        setsockopt(&messages, sockopt::BindToDevice, &OsString::from(name))?;
        setsockopt(&messages, sockopt::Broadcast, &true)?;
        setsockopt(&messages, sockopt::Ipv4PacketInfo, &true)?;
        setsockopt(&messages, sockopt::Ipv4RecvTtl, &true)?;
        bind(messages.as_raw_fd(), &SockaddrIn::from(SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, port)))?;
        Ok(Self(messages))
    }

    /// From now on datagrams that wait to be read may take this number of bytes in the kernel, or what its own limit
    /// (`net.core.rmem_max`) leaves a process without privileges.
    ///
    /// # Errors
    ///
    /// The platform's.
    pub(crate) fn make_room(&self, octets: usize) -> io::Result<()> {
        if setsockopt(&self.0, sockopt::RcvBufForce, &octets).is_err() {
            setsockopt(&self.0, sockopt::RcvBuf, &octets)?;
        }
        Ok(())
    }

    /// From now on the kernel tells when it got each datagram.
    ///
    /// # Errors
    ///
    /// The platform's.
    pub(crate) fn stamp(&self) -> io::Result<()> {
        Ok(setsockopt(&self.0, sockopt::ReceiveTimestampns, &true)?)
    }

    /// The next datagram, into `octets`; `None` if there is none.
    ///
    /// # Errors
    ///
    /// The platform's: the interface has gone down, for one.
    pub(crate) fn receive(&self, octets: &mut Vec<u8>) -> io::Result<Option<Received>> {
        octets.resize(MAX_DATAGRAM, 0);
        let mut control = cmsg_space!(libc::in_pktinfo, libc::c_int, TimeSpec);
        let mut slices = [IoSliceMut::new(octets)];
        let flags = MsgFlags::MSG_DONTWAIT;
        let received = match recvmsg::<SockaddrIn>(self.0.as_raw_fd(), &mut slices, Some(&mut control), flags) {
            Ok(received) => received,
            Err(nix::Error::EAGAIN) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let (mut destination, mut ttl, mut arrival) = (Ipv4Addr::UNSPECIFIED, 0, None);
        for message in received.cmsgs()? {
            match message {
                ControlMessageOwned::Ipv4PacketInfo(info) => {
                    destination = Ipv4Addr::from_bits(u32::from_be(info.ipi_addr.s_addr));
                }
                ControlMessageOwned::Ipv4Ttl(hops) => ttl = u8::try_from(hops).unwrap_or(0),
                ControlMessageOwned::ScmTimestampns(time) => arrival = Some(time.into()),
                _ => {}
            }
        }
        let source = received.address.map_or(SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, 0), SocketAddrV4::from);
        Ok(Some(Received { len: received.bytes, source, destination, ttl, arrival }))
    }

    /// Sends a datagram from the address `source` of this host to a neighbour or to all.
    ///
    /// # Errors
    ///
    /// The platform's.
    pub(crate) fn send(&self, source: Ipv4Addr, destination: SocketAddrV4, ttl: u8, octets: &[u8]) -> io::Result<()> {
        let address = |address: Ipv4Addr| libc::in_addr { s_addr: address.to_bits().to_be() };
        let info = libc::in_pktinfo {
            ipi_ifindex: 0,
            ipi_spec_dst: address(source),
            ipi_addr: address(Ipv4Addr::UNSPECIFIED),
        };
        let control = [ControlMessage::Ipv4PacketInfo(&info), ControlMessage::Ipv4Ttl(&i32::from(ttl))];
        let (slices, flags) = ([IoSlice::new(octets)], MsgFlags::MSG_DONTWAIT);
        sendmsg(self.0.as_raw_fd(), &slices, &control, flags, Some(&SockaddrIn::from(destination)))?;
        Ok(())
    }
}

impl AsFd for Messages {
    /// Readable when a datagram has come.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;

    use super::*;

    #[test]
    fn a_burst_waits_in_the_room_that_was_made() {
        const BURST: u32 = 2_000;
        let messages = Messages::open("lo", 0).expect("each user may");
        messages.make_room(4 << 20).expect("each user may");
        // Without privileges the kernel gives less: the number that it tells is twice the room, for what a datagram occupies.
        let room = nix::sys::socket::getsockopt(&messages, sockopt::RcvBuf).expect("it tells");
        let own = nix::sys::socket::getsockname::<SockaddrIn>(messages.as_fd().as_raw_fd()).expect("it is bound");
        let sender = UdpSocket::bind("127.0.0.1:0").expect("there are ports");
        for number in 0..BURST {
            sender.send_to(&number.to_be_bytes(), (Ipv4Addr::LOCALHOST, own.port())).expect("it goes");
        }
        let mut octets = Vec::new();
        let mut arrived = 0;
        while let Some(received) = messages.receive(&mut octets).expect("it can be read") {
            assert_eq!(octets[..received.len], u32::to_be_bytes(arrived));
            arrived += 1;
        }
        if room >= 8 << 20 {
            assert_eq!(arrived, BURST);
        }
    }
}
