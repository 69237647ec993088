//! Packets that wait for a route, at a simulated host as at a real one.

use std::collections::VecDeque;
use std::net::Ipv4Addr;

use super::{NextHop, ROUTE_QUEUE_TIMEOUT};
use crate::time::Instant;

/// Bounded queue of packets that wait for routes, oldest first.
///
/// A packet waits for [`ROUTE_QUEUE_TIMEOUT`] at most, and the oldest makes room for a new one. What has left the queue without a
/// route is returned to the driver, which counts it, and calls [`Routing::handle_abandoned`] unless [`Self::waits_for`] says that
/// others wait for the same destination.
///
/// [`Routing::handle_abandoned`]: super::Routing::handle_abandoned
#[derive(Debug)]
pub struct RouteQueue<P> {
    packets: VecDeque<Waiting<P>>,
    capacity: usize,
}

/// A packet that waits for a route.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting<P> {
    /// The packet.
    pub packet: P,
    /// Its destination.
    pub destination: Ipv4Addr,
    /// The neighbour that it came from; `None`: this node has made it.
    pub from: Option<NextHop>,
    until: Instant,
}

impl<P> RouteQueue<P> {
    /// An empty queue with room for `capacity` packets.
    pub fn new(capacity: u32) -> Self {
        Self { packets: VecDeque::new(), capacity: capacity as usize }
    }

    /// Lets a packet wait. Returns the packet that had to make room, if one had to: the oldest.
    #[must_use = "the packet that has made room is to be counted"]
    pub fn push(
        &mut self,
        packet: P,
        destination: Ipv4Addr,
        from: Option<NextHop>,
        now: Instant,
    ) -> Option<Waiting<P>> {
        self.put_back(Waiting { packet, destination, from, until: now + ROUTE_QUEUE_TIMEOUT })
    }

    /// Lets a packet that was taken out wait on, in its place and until its time. Returns as [`Self::push`] does.
    #[must_use = "the packet that has made room is to be counted"]
    pub fn put_back(&mut self, waiting: Waiting<P>) -> Option<Waiting<P>> {
        let place = self.packets.partition_point(|other| other.until <= waiting.until);
        self.packets.insert(place, waiting);
        if self.packets.len() > self.capacity { self.packets.pop_front() } else { None }
    }

    /// Takes out the packets for `destination`, oldest first: there is a route, or none was found.
    pub fn take(&mut self, destination: Ipv4Addr) -> Vec<Waiting<P>> {
        if !self.waits_for(destination) {
            return Vec::new();
        }
        let (taken, left): (VecDeque<_>, _) =
            self.packets.drain(..).partition(|waiting| waiting.destination == destination);
        self.packets = left;
        Vec::from(taken)
    }

    /// Takes out the next packet whose time to wait is over.
    pub fn poll_expired(&mut self, now: Instant) -> Option<Waiting<P>> {
        let is_over = self.packets.front().is_some_and(|waiting| waiting.until <= now);
        if is_over { self.packets.pop_front() } else { None }
    }

    /// When [`Self::poll_expired`] is to be asked.
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.packets.front().map(|waiting| waiting.until)
    }

    /// Whether a packet for `destination` waits.
    pub fn waits_for(&self, destination: Ipv4Addr) -> bool {
        self.packets.iter().any(|waiting| waiting.destination == destination)
    }

    /// Whether the oldest packet has to make room for the next one.
    pub fn is_full(&self) -> bool {
        self.packets.len() >= self.capacity
    }

    /// Whether no packet waits.
    pub fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    /// Number of packets that wait.
    pub fn len(&self) -> usize {
        self.packets.len()
    }

    /// The packets that wait, oldest first.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &P> {
        self.packets.iter().map(|waiting| &waiting.packet)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Duration;

    const A: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
    const B: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);

    fn at(millis: u64) -> Instant {
        Instant::START + Duration::from_millis(millis)
    }

    fn filled(packets: &[(u32, Ipv4Addr, u64)], capacity: u32) -> RouteQueue<u32> {
        let mut queue = RouteQueue::new(capacity);
        for &(packet, destination, millis) in packets {
            assert_eq!(queue.push(packet, destination, None, at(millis)), None);
        }
        queue
    }

    fn packets(waiting: Vec<Waiting<u32>>) -> Vec<u32> {
        waiting.into_iter().map(|waiting| waiting.packet).collect()
    }

    #[test]
    fn takes_the_packets_of_one_destination_in_order() {
        let mut queue = filled(&[(1, A, 0), (2, B, 0), (3, A, 5)], 4);
        assert!(queue.waits_for(A) && queue.waits_for(B));
        assert_eq!(packets(queue.take(A)), [1, 3]);
        assert!(!queue.waits_for(A));
        assert_eq!(queue.iter().copied().collect::<Vec<_>>(), [2]);
        assert_eq!(packets(queue.take(A)), [0; 0]);
    }

    #[test]
    fn the_oldest_packet_makes_room() {
        let mut queue = filled(&[(1, A, 0), (2, B, 1)], 2);
        assert!(queue.is_full());
        let out = queue.push(3, B, None, at(2)).expect("there is room for two");
        assert_eq!((out.packet, out.destination), (1, A));
        assert_eq!(queue.iter().copied().collect::<Vec<_>>(), [2, 3]);
    }

    #[test]
    fn without_room_the_packet_itself_goes() {
        let mut queue = RouteQueue::new(0);
        assert_eq!(queue.push(1, A, None, at(0)).map(|out| out.packet), Some(1));
        assert!(queue.is_empty() && queue.poll_timeout().is_none());
    }

    #[test]
    fn a_packet_waits_for_thirty_seconds() {
        let mut queue = filled(&[(1, A, 0), (2, B, 10)], 4);
        assert_eq!(queue.poll_timeout(), Some(at(30_000)));
        assert_eq!(queue.poll_expired(at(29_999)), None);
        assert_eq!(queue.poll_expired(at(30_000)).map(|out| out.packet), Some(1));
        assert_eq!(queue.poll_expired(at(30_000)), None);
        assert_eq!(queue.poll_timeout(), Some(at(30_010)));
    }

    #[test]
    fn a_packet_that_is_put_back_keeps_its_place_and_its_time() {
        let mut queue = filled(&[(1, A, 0), (2, A, 0), (3, B, 0), (4, B, 10)], 4);
        for waiting in queue.take(A) {
            assert_eq!(queue.put_back(waiting), None);
        }
        assert_eq!(queue.iter().copied().collect::<Vec<_>>(), [3, 1, 2, 4]);
        assert_eq!(queue.poll_timeout(), Some(at(30_000)));
        let waiting = queue.take(A);
        assert_eq!(queue.push(5, B, None, at(20)), None);
        assert_eq!(queue.push(6, B, None, at(20)), None);
        let out: Vec<_> = waiting.into_iter().filter_map(|waiting| queue.put_back(waiting)).collect();
        assert_eq!(packets(out), [3, 1], "the room is taken by now: the oldest makes room");
        assert_eq!(queue.iter().copied().collect::<Vec<_>>(), [2, 4, 5, 6]);
    }
}
