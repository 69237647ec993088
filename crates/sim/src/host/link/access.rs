//! The access of a node: everything that its host sends and receives, over any interface, passes a [`Wire`] in each direction.
//!
//! It stands between IP and the interfaces, before cards, as `tc` on all interfaces of a host or a shell of Mahimahi around its
//! programs does. Capacity, delay, loss and queue are those of a wire. What passes on the way out goes on to its interface, whose own
//! queue follows; what the interfaces receive passes before the host sees it.

use std::collections::VecDeque;

use hopcast_protocols::random::Stream;
use hopcast_protocols::time::Instant;
use hopcast_radio::mac::edca::UserPriority;
use hopcast_radio::mac::{Payload, QueueSpace};
use hopcast_radio::queue::Reason;
use hopcast_wire::ecn::Ecn;

use super::sdu::Sdu;
use crate::host::{Received, Transmit};
use crate::metrics::DropCause;
use crate::wired::{Config, Output, Wire};

/// Shapes what a host sends and receives.
///
/// Like a wire, it is a machine without a clock: one change, then its outputs, then its timer.
#[derive(Clone, Debug)]
pub(crate) struct Access {
    up: Wire<Transmit>,
    down: Wire<Received>,
    /// Whether packets on the way out wait for the delay alone.
    is_up_unlimited: bool,
    /// What has passed on the way out, and is to go to its interface.
    passed: VecDeque<Transmit>,
    /// What has passed on the way in, and is to go to the host.
    released: VecDeque<Received>,
    /// When the first of `released` passed.
    released_at: Instant,
}

/// A packet that does not pass an access.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// On the way out it is dropped.
    Dropped(Transmit, DropCause),
    /// On the way in it is lost.
    Missed(Received, DropCause),
}

impl Access {
    /// An access with the parameters of each direction, `up` from the host and `down` to it, and streams that draw their losses.
    pub(crate) fn new([up, down]: [Config; 2], [random_up, random_down]: [Stream; 2]) -> Self {
        let is_up_unlimited = up.capacity.is_unlimited();
        let (passed, released) = (VecDeque::with_capacity(2), VecDeque::with_capacity(2));
        let (up, down) = (Wire::new(up, random_up), Wire::new(down, random_down));
        Self { up, down, is_up_unlimited, passed, released, released_at: Instant::START }
    }

    /// Takes a packet of the host, and hands `dropped` what has no place for it.
    pub(crate) fn handle_transmit(
        &mut self,
        transmit: Transmit,
        now: Instant,
        mut dropped: impl FnMut(Transmit, DropCause),
    ) {
        self.up.handle_packet(transmit, now, |transmit, reason| dropped(transmit, cause(reason)));
    }

    /// Takes a packet from an interface, and hands `dropped` what has no place for it.
    pub(crate) fn handle_received(
        &mut self,
        received: Received,
        now: Instant,
        mut dropped: impl FnMut(Received, DropCause),
    ) {
        self.down.handle_packet(received, now, |received, reason| dropped(received, cause(reason)));
    }

    /// The instant of [`Self::poll_timeout`] has come, or has passed.
    pub(crate) fn handle_timeout(&mut self, now: Instant) {
        if self.released.is_empty() {
            self.released_at = now;
        }
        if self.up.poll_timeout().is_some_and(|due| due <= now) {
            self.up.handle_timeout(now);
        }
        if self.down.poll_timeout().is_some_and(|due| due <= now) {
            self.down.handle_timeout(now);
        }
    }

    /// The next packet that does not pass.
    pub(crate) fn poll_outcome(&mut self) -> Option<Outcome> {
        while let Some(output) = self.up.poll_output() {
            match output {
                Output::Deliver(transmit) => self.passed.push_back(transmit),
                // It still belongs to the host, until its interface has sent it.
                Output::Sent(_) => {}
                Output::Lost(transmit) => return Some(Outcome::Dropped(transmit, DropCause::LinkLoss)),
                Output::Dropped(transmit) => return Some(Outcome::Dropped(transmit, DropCause::QueueManagement)),
                Output::Expired(transmit) => return Some(Outcome::Dropped(transmit, DropCause::Expired)),
            }
        }
        while let Some(output) = self.down.poll_output() {
            match output {
                Output::Deliver(received) => self.released.push_back(received),
                Output::Sent(_) => {}
                Output::Lost(received) => return Some(Outcome::Missed(received, DropCause::LinkLoss)),
                Output::Dropped(received) => return Some(Outcome::Missed(received, DropCause::QueueManagement)),
                Output::Expired(received) => return Some(Outcome::Missed(received, DropCause::Expired)),
            }
        }
        None
    }

    /// The next packet for its interface.
    pub(crate) fn poll_output(&mut self) -> Option<Transmit> {
        self.passed.pop_front()
    }

    /// The next packet for the host, which acts on it before it is given another.
    pub(crate) fn poll_received(&mut self) -> Option<Received> {
        self.released.pop_front()
    }

    /// Time of the next call of [`Self::handle_timeout`]; it has come for as long as a packet waits for [`Self::poll_received`].
    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        let released_at = (!self.released.is_empty()).then_some(self.released_at);
        [released_at, self.up.poll_timeout(), self.down.poll_timeout()].into_iter().flatten().min()
    }

    /// Free places for a blocking write to an interface with so much space: those of the queue here, as long as the interface has room.
    /// Without a rate nothing waits here for longer than an instant, and all that is on its way takes a place at the interface too.
    #[must_use]
    pub(crate) fn space(&self, interface: QueueSpace) -> QueueSpace {
        let places = match interface.places {
            places if self.is_up_unlimited => places.saturating_sub(self.outgoing().count()).min(self.up.space()),
            0 => 0,
            _ => self.up.space(),
        };
        QueueSpace { places, ..interface }
    }

    /// Packets in the queues of both directions.
    pub(crate) fn queued(&self) -> usize {
        self.up.queued() + self.down.queued()
    }

    /// Packets that the queues of both directions have marked (ECN).
    pub(crate) fn marked(&self) -> u64 {
        self.up.marked() + self.down.marked()
    }

    /// Whether a queue is more than half full.
    pub(crate) fn is_any_queue_large(&self) -> bool {
        self.up.is_queue_large() || self.down.is_queue_large()
    }

    /// Packets that the host has sent and no interface has been given.
    pub(crate) fn outgoing(&self) -> impl Iterator<Item = &Sdu> {
        let under_way = self.up.held().chain(self.up.in_flight()).chain(&self.passed);
        under_way.map(|transmit| &*transmit.sdu)
    }

    /// Packets that interfaces have received and the host has not.
    pub(crate) fn incoming(&self) -> impl Iterator<Item = &Sdu> {
        let under_way = self.down.held().chain(self.down.in_flight()).chain(&self.released);
        under_way.map(|received| &*received.sdu)
    }
}

/// A unit with what is known of its way is worth what the unit is.
macro_rules! as_its_unit {
    ($($unit:ty),*) => {
        $(impl Payload for $unit {
            fn octets(&self) -> u32 {
                self.sdu.octets()
            }

            fn flow(&self) -> u64 {
                self.sdu.flow()
            }

            fn expires(&self) -> Option<Instant> {
                self.sdu.expires()
            }

            fn ecn(&self) -> Ecn {
                self.sdu.ecn()
            }

            fn mark(&mut self) {
                self.sdu.mark();
            }

            fn is_management(&self) -> bool {
                self.sdu.is_management()
            }

            fn priority(&self) -> UserPriority {
                self.sdu.priority()
            }
        })*
    };
}

as_its_unit!(Transmit, Received);

/// The cause of a drop for which a queue gives this reason.
fn cause(reason: Reason) -> DropCause {
    match reason {
        Reason::Full => DropCause::QueueFull,
        Reason::Management => DropCause::QueueManagement,
        Reason::Expired => DropCause::Expired,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::{Arp, Ends, Hop, Neighbour};
    use crate::id::NodeId;
    use hopcast_protocols::random::Purpose;
    use hopcast_protocols::time::Duration;
    use hopcast_wire::{MacAddress, arp};
    use std::net::Ipv4Addr;
    use std::rc::Rc;

    const HERE: NodeId = NodeId(0);
    const THERE: NodeId = NodeId(1);

    fn ms(millis: u64) -> Instant {
        Instant::START + Duration::from_millis(millis)
    }

    /// ARP packets of 28 bytes.
    fn sdu() -> Rc<Sdu> {
        let message = arp::Repr {
            operation: arp::Operation::Request,
            sender_hardware: MacAddress([2; 6]),
            sender_protocol: Ipv4Addr::UNSPECIFIED,
            target_hardware: MacAddress([2; 6]),
            target_protocol: Ipv4Addr::UNSPECIFIED,
        };
        Rc::new(Sdu::Arp(Arp { ends: Ends { source: HERE, destination: THERE }, message }))
    }

    fn transmit(interface: u32) -> Transmit {
        Transmit { hop: Hop { interface, node: THERE, station: None }, sdu: sdu() }
    }

    fn received(interface: u32) -> Received {
        Received { from: Neighbour { interface, node: THERE }, sdu: sdu() }
    }

    fn access(up: Config, down: Config) -> Access {
        Access::new([up, down], [0, 1].map(|direction| Stream::new(1, Purpose::AccessLoss, 0, direction)))
    }

    /// 28 bytes in 10 ms, and 5 ms on the way.
    fn slow(queue_packets: u32, loss: f64) -> Config {
        Config::constant(22_400.0, Duration::from_millis(5), queue_packets, loss)
    }

    /// Runs to the end: the instants at which packets went to their interfaces or to the host, with the interface.
    fn run(access: &mut Access) -> Vec<(u64, &'static str, u32)> {
        let mut seen = Vec::new();
        while let Some(now) = access.poll_timeout() {
            access.handle_timeout(now);
            while let Some(outcome) = access.poll_outcome() {
                let (what, interface) = match outcome {
                    Outcome::Dropped(transmit, DropCause::LinkLoss) => ("dropped", transmit.hop.interface),
                    Outcome::Missed(received, DropCause::LinkLoss) => ("missed", received.from.interface),
                    other => panic!("{other:?}"),
                };
                seen.push((now.as_nanos() / 1_000_000, what, interface));
            }
            if let Some(received) = access.poll_received() {
                seen.push((now.as_nanos() / 1_000_000, "in", received.from.interface));
            }
            while let Some(transmit) = access.poll_output() {
                seen.push((now.as_nanos() / 1_000_000, "out", transmit.hop.interface));
            }
        }
        seen
    }

    #[test]
    fn the_interfaces_share_the_rate_of_a_direction_and_the_directions_do_not() {
        let mut access = access(slow(9, 0.0), slow(9, 0.0));
        for interface in [0, 1, 0] {
            access.handle_transmit(transmit(interface), ms(0), |_, _| panic!("there is room"));
        }
        access.handle_received(received(1), ms(0), |_, _| panic!("there is room"));
        assert_eq!((access.outgoing().count(), access.incoming().count(), access.queued()), (3, 1, 2));
        assert_eq!(run(&mut access), [(15, "in", 1), (15, "out", 0), (25, "out", 1), (35, "out", 0)]);
    }

    #[test]
    fn a_full_queue_returns_packets_and_a_loss_is_told() {
        let mut access = access(slow(1, 0.0), slow(1, 1.0));
        let mut refused = Vec::new();
        for interface in [0, 1, 2] {
            access.handle_transmit(transmit(interface), ms(0), |transmit, cause| {
                refused.push((transmit.hop.interface, cause));
            });
        }
        assert_eq!(refused, [(2, DropCause::QueueFull)]);
        assert!(access.is_any_queue_large());
        access.handle_received(received(0), ms(0), |_, _| panic!("there is room"));
        assert_eq!(run(&mut access), [(10, "missed", 0), (15, "out", 0), (25, "out", 1)]);
    }

    #[test]
    fn without_a_rate_packets_take_the_delay_alone_and_places_at_the_interface() {
        let unlimited = Config::constant(f64::INFINITY, Duration::from_millis(7), 50, 0.0);
        let mut access = access(unlimited.clone(), unlimited);
        for interface in [0, 1] {
            access.handle_transmit(transmit(interface), ms(3), |_, _| panic!("there is room"));
        }
        let space = |access: &Access, places| access.space(QueueSpace::shared(places)).places;
        assert_eq!([50, 2, 1, 0].map(|places| space(&access, places)), [48, 0, 0, 0]);
        assert_eq!(run(&mut access), [(10, "out", 0), (10, "out", 1)]);
        assert_eq!(space(&access, 50), 50);
    }

    /// A host that is handed the next packet before it has acted on the one before answers to both at once.
    #[test]
    fn packets_that_pass_at_one_instant_reach_the_host_one_by_one() {
        let unlimited = Config::constant(f64::INFINITY, Duration::from_millis(7), 50, 0.0);
        let mut access = access(unlimited.clone(), unlimited);
        for interface in [0, 1] {
            access.handle_received(received(interface), ms(3), |_, _| panic!("there is room"));
        }
        while access.poll_timeout() == Some(ms(3)) {
            access.handle_timeout(ms(3));
        }
        for interface in [0, 1] {
            assert_eq!(access.poll_timeout(), Some(ms(10)));
            access.handle_timeout(ms(10));
            assert_eq!(access.poll_outcome(), None);
            assert_eq!(access.poll_received(), Some(received(interface)));
        }
        assert_eq!((access.poll_timeout(), access.poll_received()), (None, None));
    }

    #[test]
    fn a_blocking_write_waits_for_both_queues() {
        let mut access = access(slow(3, 0.0), slow(3, 0.0));
        let space = |access: &Access, places| access.space(QueueSpace::shared(places)).places;
        assert_eq!([50, 1, 0].map(|places| space(&access, places)), [3, 3, 0]);
        for _ in 0..4 {
            access.handle_transmit(transmit(0), ms(0), |_, _| panic!("there is room"));
        }
        assert_eq!(space(&access, 50), 0);
    }
}
