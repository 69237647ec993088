//! Several datagrams per call: `sendmmsg` and `recvmmsg`.

use std::io::{IoSlice, IoSliceMut};
use std::net::UdpSocket;
use std::os::fd::AsRawFd;

use nix::sys::socket::{MsgFlags, MultiHeaders, recvmmsg, sendmmsg};

/// The most datagrams of a call. More bring hardly anything: what a call costs is then shared by many.
const MOST: usize = 64;
/// The most bytes of a call, so that those of one pass through the caches of a processor.
const MOST_OCTETS: usize = 1 << 18;

/// Buffers for datagrams and for the system's data about them.
pub struct Datagrams {
    octets: Vec<u8>,
    room: usize,
    lengths: Vec<usize>,
    headers: MultiHeaders<()>,
}

impl Datagrams {
    /// Room for datagrams of up to `room` bytes each (at least 1).
    pub(crate) fn new(room: usize) -> Self {
        let count = (MOST_OCTETS / room).clamp(1, MOST);
        Self {
            octets: vec![0; count * room],
            room,
            lengths: Vec::with_capacity(count),
            headers: MultiHeaders::preallocate(count, None),
        }
    }

    /// How many there is room for.
    pub(crate) fn count(&self) -> usize {
        self.octets.len() / self.room
    }

    /// All the room, one datagram behind the other.
    pub(crate) fn octets_mut(&mut self) -> &mut [u8] {
        &mut self.octets
    }

    /// Room for the datagram number `place`.
    pub(crate) fn slot_mut(&mut self, place: usize) -> &mut [u8] {
        &mut self.octets[place * self.room..][..self.room]
    }

    /// Sends the first datagrams, whose lengths are `lengths`, over a connected socket. Returns how many the system took.
    ///
    /// # Errors
    ///
    /// The system's, for the first of them.
    pub(crate) fn send(&mut self, socket: &UdpSocket, lengths: &[usize]) -> nix::Result<usize> {
        let slots = self.octets.chunks_exact(self.room).zip(lengths);
        let slices: Vec<[IoSlice<'_>; 1]> = slots.map(|(slot, &length)| [IoSlice::new(&slot[..length])]).collect();
        // The socket is connected: no datagram has an address of its own.
        let addresses = [None; MOST];
        let fd = socket.as_raw_fd();
        let flags = MsgFlags::MSG_DONTWAIT;
        sendmmsg(fd, &mut self.headers, &slices, &addresses[..slices.len()], [], flags).map(Iterator::count)
    }

    /// Receives what is there, without waiting. Those longer than the room are cut to it.
    ///
    /// # Errors
    ///
    /// The system's; `EAGAIN` if there is nothing.
    pub(crate) fn receive(&mut self, socket: &UdpSocket) -> nix::Result<()> {
        self.lengths.clear();
        let mut slices: Vec<[IoSliceMut<'_>; 1]> =
            self.octets.chunks_exact_mut(self.room).map(|slot| [IoSliceMut::new(slot)]).collect();
        let flags = MsgFlags::MSG_DONTWAIT;
        let received = recvmmsg(socket.as_raw_fd(), &mut self.headers, slices.iter_mut(), flags, None)?;
        self.lengths.extend(received.map(|datagram| datagram.bytes));
        Ok(())
    }

    /// What was received last.
    pub(crate) fn received(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        let slots = self.octets.chunks_exact(self.room);
        self.lengths.iter().zip(slots).map(|(&length, slot)| &slot[..length])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::wait;
    use std::time::Duration;

    #[test]
    fn what_is_sent_at_once_is_received_at_once() {
        let near = UdpSocket::bind("127.0.0.1:0").expect("loopback is there");
        let far = UdpSocket::bind("127.0.0.1:0").expect("loopback is there");
        near.connect(far.local_addr().expect("it is bound")).expect("a datagram socket connects to anything");
        let mut outgoing = Datagrams::new(100);
        for place in 0..3 {
            outgoing.slot_mut(place).fill(place as u8);
        }
        assert_eq!(outgoing.send(&near, &[1, 100, 50]), Ok(3));
        let mut incoming = Datagrams::new(60);
        assert!(wait::readable(&far, Duration::from_secs(5)));
        incoming.receive(&far).expect("they are there");
        let received: Vec<Vec<u8>> = incoming.received().map(<[u8]>::to_vec).collect();
        assert_eq!(received, [vec![0; 1], vec![1; 60], vec![2; 50]]);
        assert_eq!(incoming.receive(&far), Err(nix::errno::Errno::EAGAIN));
        assert_eq!(incoming.received().len(), 0);
    }

    #[test]
    fn large_datagrams_are_fewer_at_a_time() {
        let counts = [1, 1_500, 65_508, 1 << 20].map(|room| Datagrams::new(room).count());
        assert_eq!(counts, [64, 64, 4, 1]);
    }
}
