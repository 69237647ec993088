//! All hosts of a run, as the layer above the stations.

mod access;
mod cards;
mod distribution;
mod observer;
mod occupancy;

use std::rc::Rc;

use hopcast_protocols::streaming::profile::LinkTotals;
use hopcast_protocols::time::Instant;
use hopcast_radio::errors::PacketErrors;
use hopcast_radio::mac::edca::UserPriority;
use hopcast_radio::mac::{self, LinkStatistics, Protection, QueueSpace, StationId};
use hopcast_radio::phy::Phy;
use hopcast_radio::units::Power;
use hopcast_wire::ieee80211::management::{BlockAckAction, Repr};
use hopcast_wire::ipv4::Protocol;

use super::association::{Associations, Counts};
use super::real::RealHosts;
use crate::address::ip_address;
use crate::engine::{Attachment, Loss, Outgoing, Port, Ports, Reaction, Upper};
use crate::host::access::Access;
use crate::host::card::Cards;
use crate::host::packet::Packet;
use crate::host::{Context, Hop, Host, Listener, Neighbour, Received, Sdu, SduPool, Transmit};
use crate::id::NodeId;
use crate::metrics::{Counters, DropCause, FlowTable};
use crate::stop::Stop;
use access::poll_output_of;
use cards::poll_output_through;
pub(super) use observer::Observer;
use occupancy::Occupancy;

/// All hosts with what they measure.
#[derive(Debug)]
pub(super) struct Hosts {
    pub(super) hosts: Vec<Host>,
    pub(super) counters: Vec<Counters>,
    pub(super) flows: FlowTable,
    pub(super) pool: SduPool,
    /// Losses of packets that radios hand up.
    pub(super) errors: Option<PacketErrors>,
    pub(super) ports: Ports,
    /// By host, if any has one: what all that it sends and receives passes.
    pub(super) accesses: Vec<Option<Access>>,
    /// By host, if any has one: what stands between it and its radios.
    pub(super) cards: Vec<Option<Cards>>,
    /// Sees the whole network, for flows whose losses are judged.
    pub(super) observer: Option<Observer>,
    pub(super) associations: Associations,
    /// By host: the action frames of its radios.
    pub(super) actions: Vec<Counts>,
    /// Where real hosts stand in for simulated ones.
    pub(super) real: Option<Box<RealHosts>>,
    /// What ends a call of a host that does not end by itself.
    pub(super) stop: Stop,
}

impl Hosts {
    /// A host, and what it may use during a call.
    fn at(&mut self, host: u32, now: Instant) -> (&mut Host, Context<'_>) {
        let index = host as usize;
        let Self { hosts, counters, flows, pool, stop, .. } = self;
        flows.set_acting(NodeId(host));
        let context = Context { now, flows, counters: &mut counters[index], pool, stop };
        (&mut hosts[index], context)
    }

    /// Whether nothing stands between the hosts and their interfaces.
    #[inline]
    fn is_plain(&self) -> bool {
        self.cards.is_empty() && self.associations.is_empty() && self.accesses.is_empty()
    }

    /// Hands what has come to its host, unless the error model loses it.
    #[inline]
    fn deliver(&mut self, host: u32, sdu: &Sdu, from: Neighbour, now: Instant) -> Reaction {
        let by_radio = || matches!(self.ports.attachment(host as usize, from.interface), Attachment::Station(_));
        // The draw is the receiver's own: its number among the packets that it has received.
        let number = || self.counters[host as usize].received;
        let is_lost = self.errors.as_ref().is_some_and(|errors| by_radio() && errors.is_lost(number(), host, now));
        let (receiver, mut context) = self.at(host, now);
        if is_lost {
            receiver.handle_lost(sdu, DropCause::Corrupted, &mut context);
            return Reaction::Any;
        }
        receiver.handle_packet(sdu, from, &mut context)
    }

    /// The real host at `node` sends `sdu` to the neighbour behind `hop`.
    pub(super) fn handle_sent_by_real(&mut self, node: NodeId, hop: Hop, mut sdu: Sdu, now: Instant) {
        if let Sdu::Ip(packet) = &mut sdu {
            self.enter_flow(node, hop, packet, now);
        }
        let (host, mut context) = self.at(node.0, now);
        host.handle_sent_by_real(hop, sdu, &mut context);
        self.observe(now);
    }

    /// The flow that a packet of the real host at `node` is one of, if any, hears of it.
    fn enter_flow(&mut self, node: NodeId, hop: Hop, packet: &mut Packet, now: Instant) {
        let listeners = self.real.iter().flat_map(|real| &real.listeners);
        let listener = listeners.copied().find(|listener| listener.hears(packet, node));
        match listener {
            Some(Listener { flow, protocol: Protocol::Udp, .. }) => {
                Host::number_datagram(packet, flow, &mut self.at(node.0, now).1);
            }
            Some(listener) => {
                let (host, mut context) = self.at(listener.to.0, now);
                host.handle_entering(&listener, packet, &mut context);
            }
            None => {}
        }
        if let Some(real) = &mut self.real {
            real.begun.handle_sent(packet, node);
            // Of a frame to a group nobody knows whether it has arrived. Behind a routing protocol a packet gets another hop.
            if hop.node != NodeId::ALL || self.hosts[node.0 as usize].router().is_some() {
                real.handle_sent(packet, node, &mut self.flows, now);
            }
        }
    }

    /// The neighbour behind an interface: the one with this station, or the other end of a wire.
    #[inline]
    fn neighbour(&self, port: Port, station: Option<StationId>) -> Neighbour {
        let other_end = || match self.ports.attachment(port.host as usize, port.interface) {
            Attachment::Wire(wire) => NodeId(self.ports.of_wire(wire as usize)[1].host),
            Attachment::Station(_) => NodeId::ALL,
        };
        let node = station.map_or_else(other_end, |station| NodeId(self.ports.of_station(station).host));
        Neighbour { interface: port.interface, node }
    }
}

impl Upper for Hosts {
    type Packet = Rc<Sdu>;

    #[inline]
    fn handle_packet(&mut self, port: Port, sdu: &Rc<Sdu>, from: Option<StationId>, now: Instant) -> Reaction {
        let is_plain = self.is_plain();
        if !is_plain
            && let Some(station) = from
            && !self.handle_associated(port, sdu, station, now)
        {
            return Reaction::Any;
        }
        let from = self.neighbour(port, from);
        let reaction = if self.cards.is_empty() {
            self.receive(port.host, sdu, from, now)
        } else {
            self.handle_packet_at_card(port, sdu, from, now);
            Reaction::Any
        };
        self.observe(now);
        if is_plain { reaction } else { Reaction::Any }
    }

    fn take_back(&mut self, sdu: Rc<Sdu>) {
        self.pool.take_back(sdu);
    }

    fn prefetch(&self, hosts: &[u32]) -> u64 {
        // Each level is read for all hosts before the next one, whose addresses it holds.
        let prefetch = |of: fn(&Host) -> u64| hosts.iter().fold(0, |seen, &host| seen ^ of(&self.hosts[host as usize]));
        let counted = hosts.iter().fold(0, |seen, &host| seen ^ self.counters[host as usize].received);
        counted ^ prefetch(Host::prefetch) ^ prefetch(Host::prefetch_router) ^ prefetch(Host::prefetch_protocol)
    }

    fn handle_signal(&mut self, port: Port, power: Power) {
        self.associations.handle_signal(port, power);
    }

    fn block_ack_frame(&mut self, port: Port, to: StationId, action: BlockAckAction, now: Instant) -> Option<Rc<Sdu>> {
        self.actions[port.host as usize].given += 1;
        Some(self.management(port.host, Some(to), Repr::BlockAck(action), None, now))
    }

    fn poll_left(&mut self, host: u32) -> Option<(u32, StationId)> {
        self.associations.poll_left(host)
    }

    fn poll_coexistence(&mut self, host: u32) -> Option<(u32, Protection, Phy)> {
        self.associations.poll_coexistence(host)
    }

    fn handle_overheard(&mut self, port: Port, sdu: &Rc<Sdu>, from: StationId, to: StationId, now: Instant) {
        let Sdu::Ip(packet) = &**sdu else { return };
        let from = self.neighbour(port, Some(from));
        let to = NodeId(self.ports.of_station(to).host);
        let (host, mut context) = self.at(port.host, now);
        host.handle_overheard(packet, from, to, &mut context);
    }

    fn handle_sent(&mut self, port: Port, sdu: Rc<Sdu>, now: Instant) -> bool {
        if let Sdu::Management(management) = &*sdu {
            self.handle_management_done(port, management, true);
            return true;
        }
        self.observe_queue(port, &sdu, Occupancy::handle_done);
        self.empty_buffer(port, now);
        let is_plain = self.is_plain();
        let (host, mut context) = self.at(port.host, now);
        host.handle_sent(sdu, &mut context);
        !is_plain || host.has_writers()
    }

    fn handle_drop(&mut self, port: Port, sdu: Rc<Sdu>, to: Option<StationId>, cause: Loss, now: Instant) {
        if let Sdu::Management(management) = &*sdu {
            return self.handle_management_done(port, management, false);
        }
        self.observe_queue(port, &sdu, Occupancy::handle_done);
        self.empty_buffer(port, now);
        let to = self.neighbour(port, to);
        let cause = match cause {
            Loss::Radio(mac::DropCause::QueueFull) | Loss::QueueFull => DropCause::QueueFull,
            Loss::Radio(mac::DropCause::QueueManagement) | Loss::QueueManagement => DropCause::QueueManagement,
            Loss::Radio(mac::DropCause::Expired) | Loss::Expired => DropCause::Expired,
            Loss::Radio(mac::DropCause::ShortRetryLimit) => DropCause::RetryLimitShort,
            Loss::Radio(mac::DropCause::LongRetryLimit) => DropCause::RetryLimitLong,
            Loss::Link => DropCause::LinkLoss,
        };
        let (host, mut context) = self.at(port.host, now);
        host.handle_drop(sdu, to, cause, &mut context);
        self.observe(now);
    }

    fn handle_unheard(&mut self, port: Port, sdu: &Rc<Sdu>, now: Instant) {
        let (host, mut context) = self.at(port.host, now);
        host.handle_unheard(sdu, &mut context);
        self.observe(now);
    }

    fn poll_purge(&mut self, host: u32, now: Instant) -> Option<(u32, StationId)> {
        let purge = self.hosts[host as usize].poll_purge().or_else(|| self.associations.poll_purge(host));
        let (interface, station) = purge?;
        let port = Port { host, interface };
        let before_card = self.cards_of(port).map(|cards| cards.purge(interface, station));
        for sdu in before_card.into_iter().flatten() {
            let to = self.neighbour(port, Some(station));
            let (host, mut context) = self.at(host, now);
            hand_back(host, sdu, to, &mut context);
        }
        Some((interface, station))
    }

    fn poll_station_dump(&mut self, host: u32) -> Option<u32> {
        self.hosts[host as usize].poll_station_dump()
    }

    fn handle_station_dump(&mut self, port: Port, links: &[LinkStatistics], now: Instant) {
        let of = |link: &LinkStatistics| {
            let node = NodeId(self.ports.of_station(link.receiver).host);
            let LinkStatistics { octets, packets, airtime, attempts, .. } = *link;
            (ip_address(node), LinkTotals { octets, packets, airtime, attempts })
        };
        let dump: Vec<_> = links.iter().map(of).collect();
        self.hosts[port.host as usize].handle_station_dump(&dump, now);
    }

    fn handle_purged(&mut self, port: Port, sdu: Rc<Sdu>, to: StationId, now: Instant) {
        self.observe_queue(port, &sdu, Occupancy::handle_done);
        self.empty_buffer(port, now);
        let to = self.neighbour(port, Some(to));
        let (host, mut context) = self.at(port.host, now);
        hand_back(host, sdu, to, &mut context);
        self.observe(now);
    }

    fn handle_timeout(&mut self, host: u32, now: Instant) {
        if !self.associations.is_empty() {
            self.associations.handle_timeout(host, now);
            self.settle_associations();
        }
        let copied = self.cards.get_mut(host as usize).and_then(|cards| cards.as_mut()?.poll_copied(now));
        let is_handed_one = match copied {
            Some(Received { from, sdu }) => {
                self.receive(host, &sdu, from, now);
                true
            }
            None => !self.accesses.is_empty() && self.run_access(host, now),
        };
        // Its own timers come when it has acted on the packet: this one stays due.
        if !is_handed_one {
            let (host, mut context) = self.at(host, now);
            host.handle_timeout(&mut context);
        }
        self.observe(now);
    }

    fn poll_timeout(&self, host: u32) -> Option<Instant> {
        let own = self.hosts[host as usize].poll_timeout();
        if self.is_plain() {
            return own;
        }
        let cards = self.cards.get(host as usize).and_then(Option::as_ref).and_then(Cards::poll_timeout);
        let access = self.access_of(NodeId(host)).and_then(Access::poll_timeout);
        let due = [own, cards, access, self.associations.poll_timeout(host)];
        due.into_iter().flatten().min()
    }

    #[inline]
    fn poll_output(
        &mut self,
        host: u32,
        room: impl Fn(u32, UserPriority) -> QueueSpace,
        now: Instant,
    ) -> Option<Outgoing<Rc<Sdu>>> {
        if !self.associations.is_empty()
            && let Some(outgoing) = self.poll_management(host, now)
        {
            return Some(outgoing);
        }
        let index = host as usize;
        let Self { hosts, counters, flows, pool, accesses, cards, stop, .. } = self;
        flows.set_acting(NodeId(host));
        let mut context = Context { now, flows, counters: &mut counters[index], pool, stop };
        let host = &mut hosts[index];
        let access = accesses.get_mut(index).and_then(Option::as_mut);
        let transmit = match cards.get_mut(index) {
            Some(Some(cards)) => poll_output_through(cards, host, access, room, &mut context)?,
            _ => poll_output_of(host, access, room, &mut context)?,
        };
        let Transmit { hop, sdu } = transmit;
        let port = Port { host: index as u32, interface: hop.interface };
        self.observe_queue(port, &sdu, Occupancy::handle_given);
        Some(Outgoing { interface: hop.interface, receiver: hop.station, packet: sdu })
    }
}

/// An interface gives a packet back to a host: its routing protocol decides, or without one it is dropped, since the neighbour
/// has no association any more.
fn hand_back(host: &mut Host, sdu: Rc<Sdu>, to: Neighbour, context: &mut Context<'_>) {
    if host.router().is_some() {
        host.handle_purged(&sdu, to, context);
    } else {
        host.handle_drop(sdu, to, DropCause::NotAssociated, context);
    }
}
