//! One run of a scenario: hosts and stations on a medium, from the start to the results.

use hopcast_protocols::random::{Purpose, Stream, hash};
use hopcast_protocols::routing::fixed::ShortestPaths;
use hopcast_protocols::time::Instant;
use hopcast_radio::errors::PacketErrors;
use hopcast_radio::mac::{self, Dcf, Payload, Protection, StationId};
use hopcast_radio::propagation::Position;
use hopcast_radio::queue::Discipline;
use hopcast_radio::rate::Algorithm;

use crate::engine::{Engine, Event, Tap, Upper};
use crate::host::packet::Packet;
use crate::host::{ConservationError, Context, Host};
use crate::metrics::{Census, Counters, DropCause, FlowTable};
use crate::scenario::model::{Errors, FlowId, LossLevel, NodeId, Rules, Scenario};
use crate::topology::{Topology, positions};
use crate::traffic::{Machines, TrafficError, machines};

/// A run that can be driven forward.
pub struct Simulation {
    engine: Engine<Hosts>,
    end: Instant,
    is_finished: bool,
    positions: Vec<Position>,
}

/// All hosts with what they measure.
#[derive(Debug)]
pub struct Hosts {
    hosts: Vec<Host>,
    counters: Vec<Counters>,
    flows: FlowTable,
    /// Losses of packets that interfaces hand up.
    errors: Option<PacketErrors>,
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
    /// A datagram that is neither received nor lost, and nowhere to be found.
    #[error("flow {}: datagram {seq} has vanished", flow.0)]
    Datagram {
        /// Whose.
        flow: FlowId,
        /// Its number in the flow.
        seq: u64,
    },
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
        let radio = &scenario.radio;
        let positions = positions(scenario, seed);
        let Some(topology) = Topology::new_while(radio, &positions, seed, goes_on) else { return Ok(None) };
        let Some(routes) = ShortestPaths::new_while(&topology.neighbours(), goes_on) else { return Ok(None) };
        let Machines { hosts, flows } = machines(scenario, &routes, seed)?;
        let counters = vec![Counters::default(); hosts.len()];
        let code = match radio.errors {
            Errors::GilbertElliott { fec, .. } => fec,
            Errors::None | Errors::Packet { .. } => None,
        };
        let config = mac::Config {
            phy: radio.standard.phy(radio.short_preamble).for_data_rate(radio.data_rate).with_code(code),
            rate_control: Algorithm::Fixed(radio.data_rate),
            rates: Vec::new(),
            seed,
            basic_rate: radio.basic_rate,
            acknowledgements: radio.standard.acknowledges(),
            protection: Protection::None,
            edca: None,
            rts_threshold: radio.rts_threshold,
            short_retry_limit: radio.short_retry_limit,
            long_retry_limit: radio.long_retry_limit,
            queue_packets: radio.queue_packets,
            queue_discipline: radio.queue_discipline,
            nav_reset: radio.reception.rules != Rules::PairwiseFirstCome,
            response_is_busy: radio.reception.rules != Rules::PairwiseFirstCome,
        };
        let station = |node: u32| {
            let random = Stream::new(seed, Purpose::Backoff, u64::from(node), 0);
            let mut config = config.clone();
            if let Discipline::FqCoDel(queue) = &mut config.queue_discipline {
                // Radio 0, the only one.
                queue.perturbation = hash(seed, Purpose::FlowQueue, u64::from(node), 0);
            }
            Dcf::new(StationId(node), config, random)
        };
        let stations = (0..hosts.len() as u32).map(station).collect();
        let errors = match &radio.errors {
            Errors::Packet { steps, level: LossLevel::Network } => Some(PacketErrors::stepped(seed, steps.clone())),
            _ => None,
        };
        let engine = Engine::new(topology.into_medium(), stations, Hosts { hosts, counters, flows, errors });
        Ok(Some(Self { engine, end: Instant::START + scenario.duration, is_finished: false, positions }))
    }

    /// Shows every frame to `tap`.
    pub fn set_tap(&mut self, tap: impl Tap<Packet> + Send + 'static) {
        self.engine.set_tap(tap);
    }

    /// Shows every event to `log`, in order.
    pub fn set_log(&mut self, log: impl FnMut(Event) + Send + 'static) {
        self.engine.set_log(log);
    }

    /// Runs all events up to and including those at `until`, or the end of the run.
    pub fn run_until(&mut self, until: Instant) {
        self.engine.run_until(until.min(self.end));
        if self.engine.now() == self.end {
            self.finish();
        }
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

    /// Where the nodes stand, by index.
    pub fn positions(&self) -> &[Position] {
        &self.positions
    }

    /// The measurement of all flows.
    pub fn flows(&self) -> &FlowTable {
        &self.engine.upper().flows
    }

    /// The counters of all hosts, by node.
    pub fn counters(&self) -> &[Counters] {
        &self.engine.upper().counters
    }

    /// The stations, by node.
    pub fn stations(&self) -> &[Dcf<Packet>] {
        self.engine.stations()
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
        let Hosts { hosts, counters, flows, .. } = self.engine.upper();
        let mut census = Census::new();
        for ((host, counters), station) in hosts.iter().zip(counters).zip(self.stations()) {
            host.check(counters)?;
            let (expected, held) = (counters.in_interface(), station.held().count());
            if expected != held as i128 {
                return Err(ImbalanceError::Interface { node: host.node(), expected, held });
            }
            host.count_in_flight(&mut census);
            station.held().for_each(|packet| census.insert(packet.tag.flow, packet.tag.seq));
        }
        match flows.missing(&census).next() {
            Some((flow, seq)) => Err(ImbalanceError::Datagram { flow, seq }),
            None => Ok(()),
        }
    }
}

impl Payload for Packet {
    fn octets(&self) -> u32 {
        Packet::octets(self)
    }

    fn flow(&self) -> u64 {
        Packet::flow(self)
    }

    fn expires(&self) -> Option<Instant> {
        self.tag.expires
    }
}

impl Hosts {
    /// A host, and what it may use during a call.
    fn at(&mut self, station: StationId, now: Instant) -> (&mut Host, Context<'_>) {
        let index = station.0 as usize;
        let context = Context { now, flows: &mut self.flows, counters: &mut self.counters[index] };
        (&mut self.hosts[index], context)
    }
}

impl Upper for Hosts {
    type Packet = Packet;

    fn handle_packet(&mut self, station: StationId, packet: Packet, _: StationId, now: Instant) {
        // The draw is the receiver's own: its number among the packets that it has received.
        let number = self.counters[station.0 as usize].received;
        let is_lost = self.errors.as_ref().is_some_and(|errors| errors.is_lost(number, station.0, now));
        let (host, mut context) = self.at(station, now);
        if is_lost {
            return host.handle_corrupted(&packet, &mut context);
        }
        host.handle_packet(packet, &mut context);
    }

    fn handle_sent(&mut self, station: StationId, packet: &Packet, now: Instant) {
        let (host, mut context) = self.at(station, now);
        host.handle_sent(packet, &mut context);
    }

    fn handle_drop(&mut self, station: StationId, packet: &Packet, cause: mac::DropCause, now: Instant) {
        let cause = match cause {
            mac::DropCause::QueueFull => DropCause::QueueFull,
            mac::DropCause::QueueManagement => DropCause::QueueManagement,
            mac::DropCause::Expired => DropCause::Expired,
            mac::DropCause::ShortRetryLimit => DropCause::RetryLimitShort,
            mac::DropCause::LongRetryLimit => DropCause::RetryLimitLong,
        };
        let (host, mut context) = self.at(station, now);
        host.handle_drop(packet, cause, &mut context);
    }

    fn handle_timeout(&mut self, station: StationId, now: Instant) {
        let (host, mut context) = self.at(station, now);
        host.handle_timeout(&mut context);
    }

    fn poll_timeout(&self, station: StationId) -> Option<Instant> {
        self.hosts[station.0 as usize].poll_timeout()
    }

    fn poll_output(&mut self, station: StationId, room: usize, now: Instant) -> Option<(Option<StationId>, Packet)> {
        let (host, mut context) = self.at(station, now);
        let transmit = host.poll_output(room, &mut context)?;
        Some((Some(StationId(transmit.next_hop.0)), transmit.packet))
    }
}
