//! One run of a scenario: hosts and stations on a medium, from the start to the results.

use std::rc::Rc;
use std::sync::Arc;

use hopcast_protocols::random::{Purpose, Stream, hash};
use hopcast_protocols::time::Instant;
use hopcast_radio::errors::PacketErrors;
use hopcast_radio::mac::edca::{EdcaParameters, UserPriority};
use hopcast_radio::mac::{self, Dcf, Payload, Protection, Room, StationId};
use hopcast_radio::phy::{DataRate, Modulations, Phy};
use hopcast_radio::propagation::Position;
use hopcast_radio::queue::Discipline;
use hopcast_radio::units::Power;
use hopcast_wire::ipv4::Protocol;

use crate::association::{Associations, Change, Counts};
use crate::engine::{Attachment, Engine, Event, Loss, Outgoing, Port, Ports, Tap, Upper};
use crate::host::card::{Cards, Copied};
use crate::host::packet::Packet;
use crate::host::{ConservationError, Context, Endpoint, Hop, Host, Listener, Neighbour, PacketPool, Transmit};
use crate::id::{FlowId, NodeId};
use crate::metrics::{Census, Counters, DropCause, FlowTable, Loss as FlowLoss, PathState, Truth, Unjudged};
use crate::mobility::Motion;
use crate::network::{self, Network};
use crate::occupancy::Occupancy;
use crate::real::{Delivery, RealHosts, Refusal, read_frame};
use crate::scenario::model::{Errors, LossLevel, NodeRadio, Scenario};
use crate::topology::{Connectivity, Topology};
use crate::traffic::{Hosting, Machines, TrafficError, is_adtfrc, machines};
use crate::wired::Wire;

// At a large power of two, the parts of all stations that an event looks at would share a few sets of the processor's cache.
const _: () = assert!(!size_of::<Dcf<Rc<Packet>>>().is_multiple_of(512), "the stations' stride is no power of two");

/// A run that can be driven forward.
pub struct Simulation {
    engine: Engine<Hosts>,
    end: Instant,
    is_finished: bool,
    /// By node, at the start.
    positions: Vec<Position>,
    /// Apart from that of the medium, so that whoever asks for a place need not ask in the order of its transmissions.
    motion: Motion,
    warnings: Vec<String>,
}

/// All hosts with what they measure.
#[derive(Debug)]
pub struct Hosts {
    hosts: Vec<Host>,
    counters: Vec<Counters>,
    flows: FlowTable,
    pool: PacketPool,
    /// Losses of packets that radios hand up.
    errors: Option<PacketErrors>,
    ports: Ports,
    /// By host, if any has one: what stands between it and its radios.
    cards: Vec<Option<Cards>>,
    /// Sees the whole network, for flows whose losses are judged.
    observer: Option<Observer>,
    associations: Associations,
    /// Where real hosts stand in for simulated ones.
    real: Option<Box<RealHosts>>,
}

/// What is known of the network beyond what any host knows.
#[derive(Debug)]
struct Observer {
    connectivity: Connectivity,
    /// By flow: its ends.
    ends: Vec<[NodeId; 2]>,
    occupancy: Occupancy,
}

/// Packets that came from nowhere or went nowhere.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ImbalanceError {
    /// In a host.
    #[error(transparent)]
    Host(#[from] ConservationError),
    /// Between a host and its interface.
    #[error("node {}: the interface holds {held} packets where {expected} should be", node.0)]
    Interface {
        /// Where.
        node: NodeId,
        /// Packets that must be there by the counters.
        expected: i128,
        /// Packets that are there.
        held: usize,
    },
    /// Management frames, between a node's association and its radios.
    #[error("node {}: the radios hold {held} management frames where {expected} should be", node.0)]
    Management {
        /// Where.
        node: NodeId,
        /// Frames that must be there by the counters.
        expected: i128,
        /// Frames that are there.
        held: usize,
    },
    /// On a wire.
    #[error("wire {number}: {held} packets are on their way where {expected} should be")]
    Wire {
        /// Its index; links have two each.
        number: u32,
        /// Packets that must be there by the counters.
        expected: u64,
        /// Packets that are there.
        held: u64,
    },
    /// A datagram that is neither received nor lost, and nowhere to be found.
    #[error("flow {}: datagram {seq} has vanished", flow.0)]
    Datagram {
        /// Whose.
        flow: FlowId,
        /// Its number in the flow.
        seq: u64,
    },
}

impl Observer {
    /// Why a datagram was truly lost; `None` if that is no matter of the network.
    fn cause(&mut self, unjudged: &Unjudged, now: Instant) -> Option<PathState> {
        let FlowLoss::Dropped { cause, link } = unjudged.loss else { return Some(PathState::RouteChange) };
        let is_link_there = link.is_some_and(|(from, to)| self.connectivity.is_link(from, to, now));
        Some(match cause {
            DropCause::QueueFull | DropCause::QueueManagement => PathState::Congestion,
            DropCause::Corrupted | DropCause::LinkLoss | DropCause::Unheard => PathState::ChannelError,
            DropCause::RetryLimitShort | DropCause::RetryLimitLong if is_link_there => PathState::ChannelError,
            DropCause::RetryLimitShort
            | DropCause::RetryLimitLong
            | DropCause::NoRoute
            | DropCause::RouteTimeout
            | DropCause::RouteQueueFull
            | DropCause::ArpTimeout
            | DropCause::ArpQueueFull
            | DropCause::NotAssociated
            | DropCause::TtlExpired => {
                let [from, to] = self.ends[unjudged.flow.0 as usize];
                match self.connectivity.is_connected(from, to, now) {
                    true => PathState::RouteChange,
                    false => PathState::Disconnection,
                }
            }
            // What hosts do with what has arrived, or has never left.
            DropCause::Expired
            | DropCause::ReassemblyTimeout
            | DropCause::ReassemblyOverflow
            | DropCause::DuplicateFragment
            | DropCause::Misassembled
            | DropCause::ReceiveBufferFull
            | DropCause::SendBufferFull
            | DropCause::NoSocket
            | DropCause::ReceiveBuffersFull => return None,
        })
    }
}

impl Simulation {
    /// A run of `scenario` with `seed`, at its start.
    ///
    /// # Errors
    /// Flows that can't be set up, such as one without a path to its destination.
    pub fn new(scenario: &Scenario, seed: u64) -> Result<Self, TrafficError> {
        Self::new_while(scenario, seed, &|| true).map(|simulation| simulation.expect("nothing stops it"))
    }

    /// The same, given up with `None` as soon as `goes_on` says no: links and routes of thousands of nodes take long. It is
    /// asked for each node.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn new_while(scenario: &Scenario, seed: u64, goes_on: &dyn Fn() -> bool) -> Result<Option<Self>, TrafficError> {
        Self::with(scenario, seed, Hosting::Simulated, goes_on)
    }

    /// A run in which real hosts stand at the nodes that are to have them: what they send comes in by [`Self::handle_frame`],
    /// and what is for them goes out by [`Self::poll_delivery`].
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn emulated(scenario: &Scenario, seed: u64) -> Result<Self, TrafficError> {
        let simulation = Self::with(scenario, seed, Hosting::Real, &|| true);
        simulation.map(|simulation| simulation.expect("nothing stops it"))
    }

    fn with(
        scenario: &Scenario,
        seed: u64,
        hosting: Hosting,
        goes_on: &dyn Fn() -> bool,
    ) -> Result<Option<Self>, TrafficError> {
        let radio = &scenario.radio;
        let radios = network::stations(scenario);
        let motion = Motion::new(scenario, seed);
        let Some(topology) = Topology::new_while(radio, &radios, motion, seed, goes_on) else { return Ok(None) };
        let Some(network) = Network::new_while(scenario, &topology, goes_on) else { return Ok(None) };
        let Machines { mut hosts, flows, warnings, listeners } = machines(scenario, &network, seed, hosting)?;
        let real = match hosting {
            Hosting::Simulated => None,
            Hosting::Real => Some(Box::new(RealHosts::new(scenario, &hosts, listeners))),
        };
        let counters = vec![Counters::default(); hosts.len()];
        let code = match radio.errors {
            Errors::GilbertElliott { fec, .. } => fec,
            Errors::None | Errors::Packet { .. } => None,
        };
        let cards = network::cards(scenario);
        // Over the air a network finds out whom it must protect.
        let protection = if radio.association.is_some() { Protection::None } else { radio.protection };
        let phy = |radio_config: &NodeRadio| {
            let phy = radio.standard.phy(radio.short_preamble).for_data_rate(radio_config.data_rate).with_code(code);
            if protection == Protection::None { phy } else { phy.with_long_slot() }
        };
        let understands_dsss_alone = |(station, index): (&network::Station<'_>, u32)| {
            (station.config.understands(radio.standard) == Modulations::DSSS).then_some(StationId(index))
        };
        let dsss_receivers: Arc<[StationId]> = radios.iter().zip(0..).filter_map(understands_dsss_alone).collect();
        let mut basic_rates: Vec<_> = radios.iter().map(|station| station.config.basic_rate).collect();
        if basic_rates.windows(2).all(|pair| pair[0] == pair[1]) {
            basic_rates.clear();
        }
        let basic_rates: Arc<[DataRate]> = basic_rates.into();
        let config = |radio_config: &NodeRadio, buffers: u32| {
            let phy = phy(radio_config);
            mac::Config {
                dsss_receivers: dsss_receivers.clone(),
                basic_rates: basic_rates.clone(),
                rate_control: radio_config.rate_control,
                seed,
                basic_rate: radio_config.basic_rate,
                protection,
                edca: radio.edca.map(|edition| EdcaParameters::all_defaults(&phy, edition)),
                rts_threshold: radio.rts_threshold,
                short_retry_limit: radio.short_retry_limit,
                long_retry_limit: radio.long_retry_limit,
                queue_packets: radio.queue_packets.max(buffers),
                queue_discipline: radio.queue_discipline,
                rules: radio.access_rules,
                ..mac::Config::new(phy, radio_config.data_rate)
            }
        };
        let station = |(radio, index): (&network::Station<'_>, u32)| {
            // What a card holds has a place in the interface queue, whose own places are those before the card.
            let card = cards.get(radio.node.0 as usize).and_then(Option::as_ref);
            let mut config = config(radio.config, card.map_or(0, Cards::transmit_buffers));
            let (node, place) = (u64::from(radio.node.0), u64::from(radio.radio));
            if let Discipline::FqCoDel(queue) = &mut config.queue_discipline {
                queue.perturbation = hash(seed, Purpose::FlowQueue, node, place);
            }
            Dcf::new(StationId(index), config, Stream::new(seed, Purpose::Backoff, node, place))
        };
        let mut stations: Vec<_> = radios.iter().zip(0..).map(station).collect();
        for (station, radio) in stations.iter_mut().zip(&radios) {
            let router = hosts[radio.node.0 as usize].router();
            if router.is_some_and(|router| router.protocol().is_promiscuous()) {
                station.set_promiscuous();
            }
        }
        let errors = match &radio.errors {
            Errors::Packet { steps, level: LossLevel::Network } => Some(PacketErrors::stepped(seed, steps.clone())),
            _ => None,
        };
        let (wires, ports) = (network::wires(scenario, seed), network::ports(scenario));
        let observer = scenario.flows.iter().any(is_adtfrc).then(|| Observer {
            connectivity: Connectivity::new(scenario, seed),
            ends: scenario.flows.iter().map(|flow| [flow.from, flow.to]).collect(),
            occupancy: Occupancy::new(&ports, radio.edca.is_some(), |port| {
                hosts[port.host as usize].queue_places(port.interface)
            }),
        });
        let phys: Vec<Phy> = radios.iter().map(|radio| phy(radio.config)).collect();
        let associations = Associations::new(scenario, &phys, seed);
        if !associations.is_empty() {
            network::dissociate(scenario, &mut hosts);
        }
        let pool = PacketPool::default();
        let ports_of_hosts = ports.clone();
        let hosts =
            Hosts { hosts, counters, flows, pool, errors, ports: ports_of_hosts, cards, observer, associations, real };
        let mut engine = Engine::with_ports(topology.into_medium(), stations, wires, ports, hosts);
        if !radio.standard.acknowledges() {
            engine.set_unacknowledged();
        }
        let mut motion = Motion::new(scenario, seed);
        let nodes = (0..engine.ports().hosts() as u32).map(NodeId);
        let positions = nodes.map(|node| motion.position(node, Instant::START)).collect();
        Ok(Some(Self {
            engine,
            end: Instant::START + scenario.duration,
            is_finished: false,
            positions,
            motion,
            warnings,
        }))
    }

    /// Shows every frame to `tap`.
    pub fn set_tap(&mut self, tap: impl Tap<Rc<Packet>> + 'static) {
        self.engine.set_tap(tap);
    }

    /// Shows every event to `log`, in order.
    pub fn set_log(&mut self, log: impl FnMut(Event) + 'static) {
        self.engine.set_log(log);
    }

    /// Runs all events up to and including those at `until`; or all before the end of the run, at which nothing more happens:
    /// who stops then and who is never stopped do the same.
    pub fn run_until(&mut self, until: Instant) {
        if until < self.end {
            return self.engine.run_until(until);
        }
        self.engine.run_before(self.end);
        self.finish();
    }

    /// Ends the run here, at its end or before: closes the measurement of all flows. Does nothing the second time.
    pub fn finish(&mut self) {
        self.end = self.engine.now();
        if core::mem::replace(&mut self.is_finished, true) {
            return;
        }
        let hosts = self.engine.upper_mut();
        for host in &hosts.hosts {
            host.finish(&mut hosts.flows);
        }
        hosts.flows.finish(self.end);
    }

    /// The real host at `node` sends an Ethernet frame over one of its interfaces, now.
    ///
    /// # Errors
    /// Why the frame goes nowhere; nothing has happened.
    pub fn handle_frame(&mut self, node: NodeId, interface: u32, octets: &[u8]) -> Result<(), Refusal> {
        let (port, now) = (Port { host: node.0, interface }, self.engine.now());
        let is_routed = self.engine.upper().hosts[node.0 as usize].router().is_some();
        let (hop, packet) = read_frame(octets, port, self.engine.ports(), is_routed, now)?;
        self.engine.intervene(node.0, |hosts, now| hosts.handle_sent_by_real(node, hop, packet, now));
        Ok(())
    }

    /// The next frame for a real host.
    pub fn poll_delivery(&mut self) -> Option<Delivery> {
        let Hosts { hosts, real, .. } = self.engine.upper_mut();
        real.as_mut()?.poll_delivery(hosts)
    }

    /// Where flows between simulated and real hosts are listened to.
    pub fn listeners(&self) -> &[Listener] {
        self.engine.upper().real.as_ref().map_or(&[], |real| &real.listeners)
    }

    /// Flows whose connections real hosts have refused, and where those were to lead.
    pub fn refused(&self) -> impl Iterator<Item = (FlowId, Endpoint)> + '_ {
        self.engine.upper().hosts.iter().flat_map(Host::refused)
    }

    /// The way of what a node has for another one, as its forwarding table says now.
    pub fn hop_towards(&self, node: NodeId, destination: NodeId) -> Option<Hop> {
        self.engine.upper().hosts[node.0 as usize].hop_towards(destination)
    }

    /// When the next event may be due; [`Instant::MAX`]: never, unless a real host sends something.
    pub fn next_event(&self) -> Instant {
        self.engine.next_event()
    }

    /// How far the run has come.
    pub fn now(&self) -> Instant {
        self.engine.now()
    }

    /// The end of the run.
    pub fn end(&self) -> Instant {
        self.end
    }

    /// How many events have happened.
    pub fn events(&self) -> u64 {
        self.engine.events()
    }

    /// What users should know of how the run was set up.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Where the nodes stand at the start, by index.
    pub fn positions(&self) -> &[Position] {
        &self.positions
    }

    /// Where a node is at an instant, which must not lie before one that was asked for of that node. It need not be
    /// that of the run.
    pub fn position(&mut self, node: NodeId, at: Instant) -> Position {
        self.motion.position(node, at)
    }

    /// The measurement of all flows.
    pub fn flows(&self) -> &FlowTable {
        &self.engine.upper().flows
    }

    /// The counters of all hosts, by node.
    pub fn counters(&self) -> &[Counters] {
        &self.engine.upper().counters
    }

    /// The radios of all nodes, node by node.
    pub fn stations(&self) -> &[Dcf<Rc<Packet>>] {
        self.engine.stations()
    }

    /// The radios of a node.
    pub fn stations_of(&self, node: NodeId) -> impl Iterator<Item = &Dcf<Rc<Packet>>> {
        self.engine.ports().attachments(node.0 as usize).iter().filter_map(|attachment| match *attachment {
            Attachment::Station(station) => Some(&self.engine.stations()[station.0 as usize]),
            Attachment::Wire(_) => None,
        })
    }

    /// The wires that lead away from a node.
    pub fn wires_of(&self, node: NodeId) -> impl Iterator<Item = &Wire<Rc<Packet>>> {
        self.engine.ports().attachments(node.0 as usize).iter().filter_map(|attachment| match *attachment {
            Attachment::Wire(wire) => Some(&self.engine.wires()[wire as usize]),
            Attachment::Station(_) => None,
        })
    }

    /// What was counted of a node's associations over the air.
    pub fn associations(&self, node: NodeId) -> Counts {
        self.engine.upper().associations.counts(node.0)
    }

    /// Packets in the queues of a node's interfaces.
    pub fn queued(&self, node: NodeId) -> usize {
        let stations = self.stations_of(node).map(Dcf::queued).sum::<usize>();
        let cards = self.engine.upper().cards.get(node.0 as usize).into_iter().flatten().map(Cards::queued);
        stations + self.wires_of(node).map(Wire::queued).sum::<usize>() + cards.sum::<usize>()
    }

    /// Sums over the medium.
    pub fn totals(&self) -> &hopcast_radio::medium::Totals {
        self.engine.medium().totals()
    }

    /// Checks that no packet came from nowhere and none has vanished, at each layer.
    ///
    /// # Errors
    /// The first imbalance.
    pub fn check(&self) -> Result<(), ImbalanceError> {
        let Hosts { hosts, counters, flows, cards, associations, .. } = self.engine.upper();
        let mut census = Census::new();
        for (host, counters) in hosts.iter().zip(counters) {
            host.check(counters)?;
            let node = host.node();
            let mut held = 0;
            let cards = cards.get(node.0 as usize).into_iter().flatten();
            let in_stations = self.stations_of(node).flat_map(Dcf::held);
            let in_wires = self.wires_of(node).flat_map(Wire::held);
            let in_interfaces = in_stations.chain(in_wires).map(|packet| &**packet);
            let mut management = 0;
            for packet in in_interfaces.chain(cards.clone().flat_map(Cards::outgoing)) {
                if packet.management().is_some() {
                    management += 1;
                    continue;
                }
                held += 1;
                census.insert(packet.tag.flow, packet.tag.seq);
            }
            let expected = counters.in_interface();
            if expected != held as i128 {
                return Err(ImbalanceError::Interface { node, expected, held });
            }
            let Counts { given, sent, dropped, .. } = associations.counts(node.0);
            let expected = i128::from(given) - i128::from(sent) - i128::from(dropped);
            if expected != management as i128 {
                return Err(ImbalanceError::Management { node, expected, held: management });
            }
            cards.flat_map(Cards::incoming).for_each(|packet| census.insert(packet.tag.flow, packet.tag.seq));
            host.count_in_flight(&mut census);
        }
        for (wire, number) in self.engine.wires().iter().zip(0..) {
            let (expected, held) = (wire.counters().sent - wire.counters().delivered, wire.in_flight().count() as u64);
            if expected != held {
                return Err(ImbalanceError::Wire { number, expected, held });
            }
            wire.in_flight().for_each(|packet| census.insert(packet.tag.flow, packet.tag.seq));
        }
        // Who expects no acknowledgement lets go of a packet before its frame has arrived.
        let on_air = self.engine.medium().on_air().filter_map(|transmission| transmission.packet.as_ref());
        for packet in on_air.filter(|packet| packet.management().is_none()) {
            census.insert(packet.tag.flow, packet.tag.seq);
        }
        match flows.missing(&census).next() {
            Some((flow, seq)) => Err(ImbalanceError::Datagram { flow, seq }),
            None => Ok(()),
        }
    }
}

impl Payload for Packet {
    fn priority(&self) -> UserPriority {
        self.tag.priority
    }

    fn octets(&self) -> u32 {
        Packet::octets(self)
    }

    fn flow(&self) -> u64 {
        Packet::flow(self)
    }

    fn expires(&self) -> Option<Instant> {
        self.tag.expires
    }

    fn is_management(&self) -> bool {
        self.management().is_some()
    }
}

impl Hosts {
    /// A host, and what it may use during a call.
    fn at(&mut self, host: u32, now: Instant) -> (&mut Host, Context<'_>) {
        let index = host as usize;
        let Self { hosts, counters, flows, pool, .. } = self;
        let context = Context { now, flows, counters: &mut counters[index], pool };
        (&mut hosts[index], context)
    }

    /// Judges the losses of monitored flows that have become known.
    #[inline]
    fn observe(&mut self, now: Instant) {
        if self.observer.is_some() {
            self.judge_losses(now);
        }
    }

    #[cold]
    fn judge_losses(&mut self, now: Instant) {
        while let (Some(unjudged), Some(observer)) = (self.flows.poll_unjudged(), &mut self.observer) {
            let truth = observer.cause(&unjudged, now).map(|cause| {
                let is_queue_large =
                    observer.occupancy.is_any_large() || self.cards.iter().flatten().any(Cards::is_any_queue_large);
                Truth::new(cause, is_queue_large)
            });
            self.flows[unjudged.flow].handle_judgement(&unjudged, truth, now);
        }
    }

    /// An interface is given a packet, or is done with it: `change` tells the observer, if there is one, unless a card stands before
    /// the interface.
    #[inline]
    fn observe_queue(&mut self, port: Port, packet: &Packet, change: fn(&mut Occupancy, Port, UserPriority)) {
        if self.observer.is_none() || self.cards_of(port).is_some() {
            return;
        }
        if let Some(observer) = &mut self.observer {
            change(&mut observer.occupancy, port, packet.priority());
        }
    }

    /// The cards of a host, if the interface has one.
    #[inline]
    fn cards_of(&mut self, port: Port) -> Option<&mut Cards> {
        let cards = self.cards.get_mut(port.host as usize)?.as_mut()?;
        cards.serves(port.interface).then_some(cards)
    }

    #[cold]
    fn handle_packet_at_card(&mut self, port: Port, packet: &Rc<Packet>, from: Neighbour, now: Instant) {
        let Some(cards) = self.cards_of(port) else {
            self.deliver(port.host, packet, from, now);
            return;
        };
        if let Some(packet) = cards.handle_received(from, Rc::clone(packet), now) {
            let (host, mut context) = self.at(port.host, now);
            host.handle_lost(&packet, DropCause::ReceiveBuffersFull, &mut context);
        }
    }

    /// A frame from `from` has come to the radio at `port`. Returns whether the packet is for the host.
    #[cold]
    fn handle_associated(&mut self, port: Port, packet: &Packet, from: StationId, now: Instant) -> bool {
        let mut is_passed = false;
        if let Some(body) = packet.management() {
            self.associations.handle_frame(port, from, body, now);
        } else if self.associations.handle_data(port, from) {
            is_passed = true;
        } else {
            let (host, mut context) = self.at(port.host, now);
            host.handle_lost(packet, DropCause::NotAssociated, &mut context);
        }
        self.settle_associations();
        is_passed
    }

    /// The next management frame of a host.
    #[cold]
    fn poll_management(&mut self, host: u32, now: Instant) -> Option<Outgoing<Rc<Packet>>> {
        let (interface, receiver, message) = self.associations.poll_output(host)?;
        let to = receiver.map_or(NodeId::ALL, |station| NodeId(self.ports.of_station(station).host));
        let packet = Packet::of_management(message.body, (NodeId(host), to), message.expires, now);
        Some(Outgoing { interface, receiver, packet: self.pool.share(packet) })
    }

    /// A radio is done with a management frame.
    #[cold]
    fn handle_management_done(&mut self, port: Port, packet: &Packet, is_sent: bool) {
        let Some(body) = packet.management() else { return };
        // Only access points and stations send any, and of those one that is addressed has one radio, or has sent first.
        let to = packet.ip.destination;
        let receiver = (to != NodeId::ALL).then(|| self.ports.attachments(to.0 as usize).first().copied()).flatten();
        let receiver = receiver.and_then(|attachment| match attachment {
            Attachment::Station(station) => Some(station),
            Attachment::Wire(_) => None,
        });
        self.associations.handle_done(port, receiver, body, is_sent);
        self.settle_associations();
    }

    /// The distribution system: sends what is for a station to its access point, and what a station sends.
    fn settle_associations(&mut self) {
        while let Some(change) = self.associations.poll_change() {
            match change {
                Change::HasAccessPoint(port, peer) => {
                    let hop = self.hop(port, peer);
                    self.redirect_all(port.host, Some(hop));
                }
                Change::HasNone(port, _) => self.redirect_all(port.host, None),
                Change::HasStation(port, station) => {
                    let to = NodeId(self.ports.of_station(station).host);
                    let direct = self.hop(port, station);
                    for host in &mut self.hosts {
                        if host.node() == NodeId(port.host) {
                            host.redirect(to, Some(direct));
                        } else if host.node() != to {
                            host.redirect(to, host.hop_towards(NodeId(port.host)));
                        }
                    }
                    self.associations.handle_moved(station, port);
                }
                Change::HasLost(port, station) => {
                    let to = NodeId(self.ports.of_station(station).host);
                    // Unless it has another one by now.
                    if self.hosts[port.host as usize].hop_towards(to) == Some(self.hop(port, station)) {
                        let others = self.hosts.iter_mut().filter(|host| host.node() != to);
                        others.for_each(|host| host.redirect(to, None));
                    }
                }
            }
        }
    }

    fn hop(&self, port: Port, peer: StationId) -> Hop {
        Hop { interface: port.interface, node: NodeId(self.ports.of_station(peer).host), station: Some(peer) }
    }

    /// Sends all that a host has for others this way.
    fn redirect_all(&mut self, host: u32, hop: Option<Hop>) {
        let others = (0..self.hosts.len() as u32).filter(|&other| other != host);
        others.for_each(|other| self.hosts[host as usize].redirect(NodeId(other), hop));
    }

    /// A radio is done with a packet.
    #[inline]
    fn empty_buffer(&mut self, port: Port, now: Instant) {
        if let Some(cards) = self.cards_of(port) {
            cards.handle_done(port.interface, now);
        }
    }

    /// Hands a packet to its host, unless the error model loses it. Returns whether the host may act on it.
    #[inline]
    fn deliver(&mut self, host: u32, packet: &Packet, from: Neighbour, now: Instant) -> bool {
        let by_radio = || matches!(self.ports.attachment(host as usize, from.interface), Attachment::Station(_));
        // The draw is the receiver's own: its number among the packets that it has received.
        let number = || self.counters[host as usize].received;
        let is_lost = self.errors.as_ref().is_some_and(|errors| by_radio() && errors.is_lost(number(), host, now));
        let (receiver, mut context) = self.at(host, now);
        if is_lost {
            receiver.handle_lost(packet, DropCause::Corrupted, &mut context);
            return true;
        }
        receiver.handle_packet(packet, from, &mut context)
    }

    /// The real host at `node` sends `packet` to the neighbour behind `hop`.
    fn handle_sent_by_real(&mut self, node: NodeId, hop: Hop, mut packet: Packet, now: Instant) {
        let listeners = self.real.iter().flat_map(|real| &real.listeners);
        let listener = listeners.copied().find(|listener| listener.hears(&packet, node));
        match listener {
            Some(Listener { flow, protocol: Protocol::Udp, .. }) => {
                Host::number_datagram(&mut packet, flow, &mut self.at(node.0, now).1);
            }
            Some(listener) => {
                let (host, mut context) = self.at(listener.to.0, now);
                host.handle_entering(&listener, &packet, &mut context);
            }
            None => {}
        }
        if let Some(real) = &mut self.real {
            real.begun.handle_sent(&mut packet, node);
        }
        let (host, mut context) = self.at(node.0, now);
        host.handle_sent_by_real(hop, packet, &mut context);
        self.observe(now);
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
    type Packet = Rc<Packet>;

    #[inline]
    fn handle_packet(&mut self, port: Port, packet: &Rc<Packet>, from: Option<StationId>, now: Instant) -> bool {
        let is_plain = self.cards.is_empty() && self.associations.is_empty();
        if !is_plain
            && let Some(station) = from
            && !self.handle_associated(port, packet, station, now)
        {
            return true;
        }
        let from = self.neighbour(port, from);
        let acts = if self.cards.is_empty() {
            self.deliver(port.host, packet, from, now)
        } else {
            self.handle_packet_at_card(port, packet, from, now);
            true
        };
        self.observe(now);
        acts || !is_plain
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

    fn poll_coexistence(&mut self, host: u32) -> Option<(u32, Protection, Phy)> {
        self.associations.poll_coexistence(host)
    }

    fn handle_overheard(&mut self, port: Port, packet: &Rc<Packet>, from: StationId, to: StationId, now: Instant) {
        if packet.management().is_some() {
            return;
        }
        let from = self.neighbour(port, Some(from));
        let to = NodeId(self.ports.of_station(to).host);
        let (host, mut context) = self.at(port.host, now);
        host.handle_overheard(packet, from, to, &mut context);
    }

    fn handle_sent(&mut self, port: Port, packet: Rc<Packet>, now: Instant) -> bool {
        if packet.management().is_some() {
            self.handle_management_done(port, &packet, true);
            return true;
        }
        self.observe_queue(port, &packet, Occupancy::handle_done);
        self.empty_buffer(port, now);
        let is_plain = self.cards.is_empty() && self.associations.is_empty();
        let (host, mut context) = self.at(port.host, now);
        host.handle_sent(packet, &mut context);
        !is_plain || host.has_writers()
    }

    fn handle_drop(&mut self, port: Port, packet: Rc<Packet>, to: Option<StationId>, cause: Loss, now: Instant) {
        if packet.management().is_some() {
            return self.handle_management_done(port, &packet, false);
        }
        self.observe_queue(port, &packet, Occupancy::handle_done);
        self.empty_buffer(port, now);
        let to = self.neighbour(port, to);
        let cause = match cause {
            Loss::Radio(mac::DropCause::QueueFull) | Loss::QueueFull => DropCause::QueueFull,
            Loss::Radio(mac::DropCause::QueueManagement) => DropCause::QueueManagement,
            Loss::Radio(mac::DropCause::Expired) | Loss::Expired => DropCause::Expired,
            Loss::Radio(mac::DropCause::ShortRetryLimit) => DropCause::RetryLimitShort,
            Loss::Radio(mac::DropCause::LongRetryLimit) => DropCause::RetryLimitLong,
            Loss::Link => DropCause::LinkLoss,
        };
        let (host, mut context) = self.at(port.host, now);
        host.handle_drop(packet, to, cause, &mut context);
        self.observe(now);
    }

    fn handle_unheard(&mut self, port: Port, packet: &Rc<Packet>, now: Instant) {
        let (host, mut context) = self.at(port.host, now);
        host.handle_unheard(packet, &mut context);
        self.observe(now);
    }

    fn poll_purge(&mut self, host: u32, now: Instant) -> Option<(u32, StationId)> {
        let purge = self.hosts[host as usize].poll_purge().or_else(|| self.associations.poll_purge(host));
        let (interface, station) = purge?;
        let port = Port { host, interface };
        let before_card = self.cards_of(port).map(|cards| cards.purge(interface, station));
        for packet in before_card.into_iter().flatten() {
            let to = self.neighbour(port, Some(station));
            let (host, mut context) = self.at(host, now);
            hand_back(host, packet, to, &mut context);
        }
        Some((interface, station))
    }

    fn handle_purged(&mut self, port: Port, packet: Rc<Packet>, to: StationId, now: Instant) {
        self.observe_queue(port, &packet, Occupancy::handle_done);
        self.empty_buffer(port, now);
        let to = self.neighbour(port, Some(to));
        let (host, mut context) = self.at(port.host, now);
        hand_back(host, packet, to, &mut context);
        self.observe(now);
    }

    fn handle_timeout(&mut self, host: u32, now: Instant) {
        if !self.associations.is_empty() {
            self.associations.handle_timeout(host, now);
            self.settle_associations();
        }
        let copied = self.cards.get_mut(host as usize).and_then(|cards| cards.as_mut()?.poll_copied(now));
        if let Some(Copied { from, packet }) = copied {
            self.deliver(host, &packet, from, now);
        }
        let (host, mut context) = self.at(host, now);
        host.handle_timeout(&mut context);
        self.observe(now);
    }

    fn poll_timeout(&self, host: u32) -> Option<Instant> {
        let own = self.hosts[host as usize].poll_timeout();
        if self.cards.is_empty() && self.associations.is_empty() {
            return own;
        }
        let cards = self.cards.get(host as usize).and_then(Option::as_ref);
        let due = [own, cards.and_then(Cards::poll_timeout), self.associations.poll_timeout(host)];
        due.into_iter().flatten().min()
    }

    #[inline]
    fn poll_output(
        &mut self,
        host: u32,
        room: impl Fn(u32, UserPriority) -> Room,
        now: Instant,
    ) -> Option<Outgoing<Rc<Packet>>> {
        if !self.associations.is_empty()
            && let Some(outgoing) = self.poll_management(host, now)
        {
            return Some(outgoing);
        }
        let index = host as usize;
        let Self { hosts, counters, flows, pool, cards, .. } = self;
        let mut context = Context { now, flows, counters: &mut counters[index], pool };
        let host = &mut hosts[index];
        let transmit = match cards.get_mut(index) {
            Some(Some(cards)) => poll_output_through(cards, host, room, &mut context)?,
            _ => host.poll_output(room, &mut context)?,
        };
        let Transmit { hop, packet } = transmit;
        let port = Port { host: index as u32, interface: hop.interface };
        self.observe_queue(port, &packet, Occupancy::handle_given);
        Some(Outgoing { interface: hop.interface, receiver: hop.station, packet })
    }
}

/// An interface gives a packet back to a host: its routing protocol decides, or without one it is dropped, since the neighbour
/// has no association any more.
fn hand_back(host: &mut Host, packet: Rc<Packet>, to: Neighbour, context: &mut Context<'_>) {
    if host.router().is_some() {
        host.handle_purged(&packet, to, context);
    } else {
        host.handle_drop(packet, to, DropCause::NotAssociated, context);
    }
}

/// What comes out of a host's cards, and at interfaces without a card out of the host.
#[cold]
fn poll_output_through(
    cards: &mut Cards,
    host: &mut Host,
    room: impl Fn(u32, UserPriority) -> Room,
    context: &mut Context<'_>,
) -> Option<Transmit> {
    loop {
        while let Some(transmit) = cards.poll_expired() {
            drop_before_card(host, transmit, DropCause::Expired, context);
        }
        if let Some(transmit) = cards.poll_output() {
            return Some(transmit);
        }
        let before_card = |interface, priority| match cards.serves(interface) {
            true => Room::shared(cards.room(interface)),
            false => room(interface, priority),
        };
        let transmit = host.poll_output(before_card, context)?;
        if !cards.serves(transmit.hop.interface) {
            return Some(transmit);
        }
        if let Some(transmit) = cards.handle_transmit(transmit, context.now) {
            drop_before_card(host, transmit, DropCause::QueueFull, context);
        }
    }
}

/// The queue before a card drops a packet, which has taken no transmit buffer.
fn drop_before_card(host: &mut Host, transmit: Transmit, cause: DropCause, context: &mut Context<'_>) {
    let to = Neighbour { interface: transmit.hop.interface, node: transmit.hop.node };
    host.handle_drop(transmit.packet, to, cause, context);
}
