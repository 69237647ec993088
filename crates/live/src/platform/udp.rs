//! UDP sockets that move many datagrams in one call: with segmentation offload for sending and coalescing for receiving
//! (Linux's `UDP_SEGMENT` and `UDP_GRO`), or one datagram per call on kernels without them.

use std::io::{self, IoSlice, IoSliceMut};
use std::net::{IpAddr, SocketAddr, UdpSocket as Socket};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

use hopcast_wire::ecn::Ecn;
use nix::errno::Errno;
use nix::sys::socket::{
    ControlMessage, ControlMessageOwned, MsgFlags, SockaddrStorage, recvmsg, sendmsg, setsockopt, sockopt,
};

/// Bytes that the kernel may hold for a process that does not run: what 10 Gb/s bring in 25 ms, several turns of other
/// programs on the same core. Without privileges the kernel's own limit (`net.core.rmem_max`) is what there is.
const RECEIVE_BUFFER: usize = 32 << 20;
/// Bytes that may wait in the kernel to leave. More would only make them older.
const SEND_BUFFER: usize = 4 << 20;
/// The longest UDP datagram, and so the most that one call moves, in bytes.
const MAX_LEN: usize = 65_507;
/// The most that one call brings, in bytes.
const MOST_AT_ONCE: usize = 1 << 16;
/// Most segments of one call (the kernel's UDP_MAX_SEGMENTS).
const MAX_SEGMENTS: usize = 64;

/// A socket that never blocks.
#[derive(Debug)]
pub struct UdpSocket {
    socket: Socket,
    is_connected: bool,
    /// The longest segments that the kernel is known to refuse begin beyond this; 0: it cuts nothing.
    longest_segment: usize,
    /// Datagrams to one address that wait to be sent.
    waiting: Vec<u8>,
    to: Option<SocketAddr>,
    segment: usize,
    /// The last of them was shorter, and so the last.
    is_complete: bool,
    /// The ECN field of what leaves.
    ecn: Ecn,
}

/// Datagrams of one peer that arrived together.
#[derive(Debug)]
pub struct Received<'a> {
    /// Address of the sender.
    pub from: SocketAddr,
    /// Their ECN field; the kernel coalesces none with different ones.
    pub ecn: Ecn,
    octets: &'a [u8],
    segment: usize,
}

impl<'a> Received<'a> {
    /// The datagrams, in their order.
    pub(crate) fn datagrams(&self) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        // An empty datagram is no chunk, and nothing.
        self.octets.chunks(self.segment.max(1))
    }
}

impl UdpSocket {
    /// A socket at `local`.
    ///
    /// # Errors
    ///
    /// The platform's, such as an address that is in use or not here.
    pub(crate) fn bind(local: SocketAddr) -> io::Result<Self> {
        let socket = Socket::bind(local)?;
        socket.set_nonblocking(true)?;
        // Larger buffers and coalescing make it faster; without them it works.
        if setsockopt(&socket, sockopt::RcvBufForce, &RECEIVE_BUFFER).is_err() {
            let _ = setsockopt(&socket, sockopt::RcvBuf, &RECEIVE_BUFFER);
        }
        if setsockopt(&socket, sockopt::SndBufForce, &SEND_BUFFER).is_err() {
            let _ = setsockopt(&socket, sockopt::SndBuf, &SEND_BUFFER);
        }
        let _ = setsockopt(&socket, sockopt::UdpGroSegment, &true);
        // Without them, nothing tells of marks.
        let _ = match local {
            SocketAddr::V4(_) => setsockopt(&socket, sockopt::IpRecvTos, &true),
            SocketAddr::V6(_) => setsockopt(&socket, sockopt::Ipv6RecvTClass, &true),
        };
        Ok(Self {
            socket,
            is_connected: false,
            longest_segment: MAX_LEN,
            waiting: Vec::new(),
            to: None,
            segment: 0,
            is_complete: false,
            ecn: Ecn::NotEct,
        })
    }

    /// A socket at a port that the platform chooses, to speak with `peer`.
    ///
    /// # Errors
    ///
    /// The platform's.
    pub(crate) fn bind_for(peer: SocketAddr) -> io::Result<Self> {
        Self::bind((if peer.is_ipv4() { IpAddr::from([0; 4]) } else { IpAddr::from([0_u16; 8]) }, 0).into())
    }

    /// Only `peer` is heard from now on, and what it refuses by ICMP is told as an error.
    ///
    /// # Errors
    ///
    /// The platform's.
    pub(crate) fn connect(&mut self, peer: SocketAddr) -> io::Result<()> {
        self.socket.connect(peer)?;
        self.is_connected = true;
        Ok(())
    }

    /// Where it is bound.
    ///
    /// # Errors
    ///
    /// The platform's.
    pub(crate) fn local_addr(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    /// What has come, in `buffer`; `None` if nothing has.
    ///
    /// # Errors
    ///
    /// The platform's; those by ICMP, such as `ConnectionRefused`, say nothing about what comes later.
    pub(crate) fn receive<'a>(&self, buffer: &'a mut Vec<u8>) -> io::Result<Option<Received<'a>>> {
        let fd = self.socket.as_raw_fd();
        let mut control = [0; 128];
        buffer.resize(MOST_AT_ONCE, 0);
        let mut parts = [IoSliceMut::new(buffer)];
        let message = match recvmsg::<SockaddrStorage>(fd, &mut parts, Some(&mut control), MsgFlags::empty()) {
            Ok(message) => message,
            Err(Errno::EAGAIN | Errno::EINTR) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let (mut segment, mut ecn) = (None, Ecn::NotEct);
        for control in message.cmsgs()? {
            match control {
                ControlMessageOwned::UdpGroSegments(len) => segment = usize::try_from(len).ok(),
                ControlMessageOwned::Ipv4Tos(tos) => ecn = Ecn::of(tos),
                ControlMessageOwned::Ipv6TClass(class) => ecn = Ecn::of(class as u8),
                _ => {}
            }
        }
        let (len, from) = (message.bytes, message.address.as_ref().and_then(address));
        let from = match from {
            Some(from) => from,
            None => self.socket.peer_addr()?,
        };
        Ok(Some(Received { from, ecn, octets: &buffer[..len], segment: segment.unwrap_or(len) }))
    }

    /// What is sent from now on leaves with this ECN field.
    ///
    /// # Errors
    ///
    /// The platform's, or those of [`flush`](Self::flush).
    pub(crate) fn mark(&mut self, ecn: Ecn) -> io::Result<()> {
        if self.ecn == ecn {
            return Ok(());
        }
        let result = self.flush();
        let field = i32::from(ecn.put(0));
        match self.socket.local_addr()? {
            SocketAddr::V4(_) => setsockopt(&self.socket, sockopt::Ipv4Tos, &field)?,
            SocketAddr::V6(_) => setsockopt(&self.socket, sockopt::Ipv6TClass, &field)?,
        }
        self.ecn = ecn;
        result
    }

    /// A datagram is to be sent, with the next [`flush`](Self::flush) at the latest.
    ///
    /// # Errors
    ///
    /// See [`flush`](Self::flush).
    pub(crate) fn send(&mut self, to: SocketAddr, datagram: &[u8]) -> io::Result<()> {
        let fits = self.to == Some(to)
            && !self.is_complete
            && datagram.len() <= self.segment
            && self.waiting.len() + datagram.len() <= MAX_LEN
            && self.waiting.len() < (MAX_SEGMENTS - 1) * self.segment
            && self.segment <= self.longest_segment;
        let result = if fits { Ok(()) } else { self.flush() };
        if self.waiting.is_empty() {
            (self.to, self.segment, self.is_complete) = (Some(to), datagram.len(), false);
        }
        self.is_complete |= datagram.len() < self.segment;
        self.waiting.extend_from_slice(datagram);
        result
    }

    /// Sends what waits. What can't be sent is lost, as a network might lose it.
    ///
    /// # Errors
    ///
    /// The platform's, such as `ConnectionRefused` or `NetworkUnreachable`, which may pass.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        let Some(to) = self.to.take() else { return Ok(()) };
        let waiting = std::mem::take(&mut self.waiting);
        let result = self.transmit(to, &waiting);
        self.waiting = waiting;
        self.waiting.clear();
        result
    }

    fn transmit(&mut self, to: SocketAddr, octets: &[u8]) -> io::Result<()> {
        if octets.len() > self.segment && self.segment <= self.longest_segment {
            // At most MAX_LEN.
            let segment = self.segment as u16;
            match self.transmit_once(to, octets, &[ControlMessage::UdpGsoSegments(&segment)]) {
                // Longer than the interface's frames, or no offload here: one by one.
                Err(Errno::EINVAL | Errno::EIO | Errno::EMSGSIZE | Errno::EOPNOTSUPP) => {
                    self.longest_segment = self.segment - 1;
                }
                result => return Ok(result?),
            }
        }
        let mut result = Ok(());
        for datagram in octets.chunks(self.segment.max(1)) {
            result = result.and(self.transmit_once(to, datagram, &[]));
        }
        Ok(result?)
    }

    fn transmit_once(&self, to: SocketAddr, octets: &[u8], control: &[ControlMessage<'_>]) -> nix::Result<()> {
        let to = (!self.is_connected).then(|| SockaddrStorage::from(to));
        match sendmsg(self.socket.as_raw_fd(), &[IoSlice::new(octets)], control, MsgFlags::empty(), to.as_ref()) {
            // The queue is full: the network loses what it can't carry.
            Ok(_) | Err(Errno::EAGAIN | Errno::ENOBUFS) => Ok(()),
            Err(error) => Err(error),
        }
    }
}

impl AsFd for UdpSocket {
    /// To wait for it to become readable.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

fn address(storage: &SockaddrStorage) -> Option<SocketAddr> {
    let four = storage.as_sockaddr_in().map(|four| SocketAddr::V4((*four).into()));
    four.or_else(|| storage.as_sockaddr_in6().map(|six| SocketAddr::V6((*six).into())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn here() -> SocketAddr {
        SocketAddr::from(([127, 0, 0, 1], 0))
    }

    fn receive_all(socket: &UdpSocket, count: usize) -> Vec<(SocketAddr, Vec<u8>)> {
        let (mut all, mut buffer) = (Vec::new(), Vec::new());
        // Loopback delivers before the call that sends returns.
        while all.len() < count
            && let Some(received) = socket.receive(&mut buffer).expect("it can be read")
        {
            all.extend(received.datagrams().map(|datagram| (received.from, datagram.to_vec())));
        }
        all
    }

    #[test]
    fn datagrams_of_any_lengths_arrive_one_by_one_and_in_order() {
        let (mut one, other) = (UdpSocket::bind(here()).expect("bound"), UdpSocket::bind(here()).expect("bound"));
        let (from, to) = (one.local_addr().expect("bound"), other.local_addr().expect("bound"));
        let lengths = [100, 100, 100, 30, 100, 200, 200, 1, 1, 1400, 1400, 1399, 1400, 60_000, 60_000];
        let sent: Vec<_> = (0..).zip(lengths).map(|(nth, len)| (from, vec![nth; len])).collect();
        for (_, datagram) in &sent {
            one.send(to, datagram).expect("sent");
        }
        one.flush().expect("sent");
        assert_eq!(receive_all(&other, sent.len()), sent);
        assert!(other.receive(&mut Vec::new()).expect("it can be read").is_none());
    }

    #[test]
    fn the_ecn_field_arrives_as_it_was_set() {
        let mut bound = vec![here()];
        bound.extend(Socket::bind("[::1]:0").ok().map(|_| SocketAddr::from(([0, 0, 0, 0, 0, 0, 0, 1], 0))));
        for local in bound {
            let (mut one, other) = (UdpSocket::bind(local).expect("bound"), UdpSocket::bind(local).expect("bound"));
            let to = other.local_addr().expect("bound");
            for ecn in [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::NotEct] {
                one.mark(ecn).expect("set");
                one.send(to, b"marked").expect("sent");
                one.flush().expect("sent");
                let mut buffer = Vec::new();
                let received = other.receive(&mut buffer).expect("it can be read").expect("it has come");
                assert_eq!(received.ecn, ecn, "{local}");
            }
        }
    }

    #[test]
    fn more_than_one_call_can_move_is_split() {
        let (mut one, other) = (UdpSocket::bind(here()).expect("bound"), UdpSocket::bind(here()).expect("bound"));
        let to = other.local_addr().expect("bound");
        for nth in 0..150_u8 {
            one.send(to, &[nth; 1300]).expect("sent");
        }
        one.flush().expect("sent");
        let received = receive_all(&other, 150);
        assert!((0..150).zip(&received).all(|(nth, (_, datagram))| *datagram == [nth; 1300]));
        assert_eq!(received.len(), 150);
    }

    #[test]
    fn a_connected_socket_hears_its_peer_alone_and_is_told_of_refusals() {
        let (mut one, mut other) = (UdpSocket::bind(here()).expect("bound"), UdpSocket::bind(here()).expect("bound"));
        let mut third = UdpSocket::bind(here()).expect("bound");
        let (first, to) = (one.local_addr().expect("bound"), other.local_addr().expect("bound"));
        one.connect(to).expect("connected");
        for socket in [&mut third, &mut other] {
            socket.send(first, b"hello").expect("sent");
            socket.flush().expect("sent");
        }
        assert_eq!(receive_all(&one, 2), [(to, b"hello".to_vec())]);
        drop(other);
        one.send(to, b"gone").expect("it waits");
        one.flush().expect("nobody has refused it yet");
        assert_eq!(one.receive(&mut Vec::new()).expect_err("refused").kind(), io::ErrorKind::ConnectionRefused);
    }
}
