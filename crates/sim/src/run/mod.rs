//! One run of a scenario: hosts and stations on a medium, from the start to the results.

mod association;
mod balance;
mod build;
mod hosts;
mod real;
mod stations;

pub use association::Counts;
pub use balance::ImbalanceError;
pub use real::{Delivery, Refusal};

use std::rc::Rc;

use hopcast_protocols::streaming::device::Device;
use hopcast_protocols::time::Instant;
use hopcast_radio::mac::Dcf;
use hopcast_radio::phy::TxVector;
use hopcast_radio::propagation::Position;
use hopcast_radio::units::Power;

use crate::engine::{Attachment, Engine, Event, Port, Tap, Watch};
use crate::host::Sdu;
use crate::host::access::Access;
use crate::host::card::Cards;
use crate::host::{Endpoint, Hop, Host, Listener};
use crate::id::{FlowId, NodeId};
use crate::metrics::conversation::Conversations;
use crate::metrics::{Counters, Dropped, FlowTable, Passage, Shown};
use crate::mobility::Motion;
use crate::scenario::model::Scenario;
use crate::stop::Stop;
use crate::traffic::{Hosting, TrafficError};
use crate::wired::Wire;
use crate::{layout, network};
use hosts::Hosts;
use real::read_frame;

/// A run that can be driven forward.
pub struct Simulation {
    engine: Engine<Hosts>,
    end: Instant,
    is_finished: bool,
    /// By node, at the start.
    positions: Vec<Position>,
    /// Separate from that of the medium, so that positions can be asked for out of the order of its transmissions.
    motion: Motion,
    warnings: Vec<String>,
}

impl Simulation {
    /// A run of `scenario` with `seed`, at its start.
    ///
    /// # Errors
    /// Flows that can't be set up, such as one without a path to its destination.
    pub fn new(scenario: &Scenario, seed: u64) -> Result<Self, TrafficError> {
        Self::new_while(scenario, seed, &|| true).map(|simulation| simulation.expect("nothing stops it"))
    }

    /// The same; returns `None` as soon as `goes_on` returns false: setting up links and routes of thousands of nodes
    /// takes long. It is called before each of the steps that [`Self::preparation`] counts.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn new_while(scenario: &Scenario, seed: u64, goes_on: &dyn Fn() -> bool) -> Result<Option<Self>, TrafficError> {
        build::simulation(scenario, seed, Hosting::Simulated, goes_on)
    }

    /// Number of steps that set up a run of `scenario`: the links of each station, and the routes to each destination of
    /// static routing.
    pub fn preparation(scenario: &Scenario) -> u64 {
        (layout::stations(scenario).len() + network::routed(scenario).iter().count()) as u64
    }

    /// A run with real hosts at the nodes that are marked as real: their frames enter by [`Self::handle_frame`], and
    /// frames for them leave by [`Self::poll_delivery`].
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn emulated(scenario: &Scenario, seed: u64) -> Result<Self, TrafficError> {
        let simulation = build::simulation(scenario, seed, Hosting::Real, &|| true);
        simulation.map(|simulation| simulation.expect("nothing stops it"))
    }

    /// Passes every frame to `tap`.
    pub fn set_tap(&mut self, tap: impl Tap<Rc<Sdu>> + 'static) {
        self.engine.set_tap(tap);
    }

    /// Tells `watch` what happens at stations and interfaces, and lets hosts and flows note what they send, receive and drop.
    pub(crate) fn set_watch(&mut self, watch: impl Watch<Rc<Sdu>> + 'static) {
        self.engine.set_watch(watch);
        self.engine.upper_mut().flows.keep_journal();
    }

    /// Takes out what applications have sent and received, after [`Self::set_watch`].
    pub(crate) fn drain_passages(&mut self) -> impl Iterator<Item = (FlowId, Passage)> {
        self.engine.upper_mut().flows.drain_passages()
    }

    /// Decides on the media that players have shown by now, after [`Self::set_watch`]. Returns when the oldest stall that is still to
    /// be noted has begun.
    pub(crate) fn look_at_players(&mut self) -> Option<Instant> {
        let now = self.engine.now();
        self.engine.upper_mut().flows.look_at_players(now)
    }

    /// Takes out what players have shown and missed, after [`Self::set_watch`].
    pub(crate) fn drain_shown(&mut self) -> impl Iterator<Item = (FlowId, Shown)> {
        self.engine.upper_mut().flows.drain_shown()
    }

    /// The noise at receivers by vector, where the model of reception has noise.
    pub(crate) fn noises(&self) -> Vec<(TxVector, Power)> {
        self.engine.medium().noises()
    }

    /// Takes out what hosts have dropped, after [`Self::set_watch`].
    pub(crate) fn drain_dropped(&mut self) -> impl Iterator<Item = Dropped> {
        self.engine.upper_mut().flows.drain_dropped()
    }

    /// When the oldest frame on the air has left its transmitter.
    pub(crate) fn earliest_on_air(&self) -> Option<Instant> {
        self.engine.medium().on_air().map(|transmission| transmission.start).min()
    }

    /// Lets the run stop within an event once `stop` is set. Then it stays where it is, and cannot go on.
    pub(crate) fn set_stop(&mut self, stop: &Stop) {
        self.engine.set_stop(stop.clone());
        self.engine.upper_mut().stop = stop.clone();
    }

    /// Passes every event to `log`, in order.
    pub fn set_log(&mut self, log: impl FnMut(Event) + 'static) {
        self.engine.set_log(log);
    }

    /// Runs all events up to and including those at `until`; at the end of the run, only those before it. So a caller
    /// that stops there and one that never stops do the same.
    pub fn run_until(&mut self, until: Instant) {
        if until < self.end {
            return self.engine.run_until(until);
        }
        self.engine.run_before(self.end);
        if !self.engine.is_stopped() {
            self.finish();
        }
    }

    /// Ends the run now, at its end or before: closes the measurements of all flows. A second call does nothing.
    pub fn finish(&mut self) {
        self.end = self.engine.now();
        if core::mem::replace(&mut self.is_finished, true) {
            return;
        }
        let hosts = self.engine.upper_mut();
        for host in &hosts.hosts {
            host.finish(&mut hosts.flows);
        }
        if let Some(real) = &mut hosts.real {
            real.finish(&mut hosts.flows, self.end);
        }
        hosts.flows.finish(self.end);
    }

    /// The real host at `node` sends an Ethernet frame over one of its interfaces, now.
    ///
    /// # Errors
    /// The reason why the frame is not sent; nothing has happened.
    pub fn handle_frame(&mut self, node: NodeId, interface: u32, octets: &[u8]) -> Result<(), Refusal> {
        let (port, now) = (Port { host: node.0, interface }, self.engine.now());
        let (hop, sdu) = read_frame(octets, port, self.engine.ports(), &self.engine.upper().hosts, now)?;
        self.engine.intervene(node.0, |hosts, now| hosts.handle_sent_by_real(node, hop, sdu, now));
        Ok(())
    }

    /// The next frame for a real host.
    pub fn poll_delivery(&mut self) -> Option<Delivery> {
        let Hosts { hosts, real, flows, .. } = self.engine.upper_mut();
        real.as_mut()?.poll_delivery(hosts, flows)
    }

    /// Listening ends of flows between simulated and real hosts.
    pub fn listeners(&self) -> &[Listener] {
        self.engine.upper().real.as_ref().map_or(&[], |real| &real.listeners)
    }

    /// Conversations between real hosts; `None` for a run without them.
    pub fn conversations(&self) -> Option<&Conversations> {
        self.engine.upper().real.as_ref().map(|real| &real.conversations)
    }

    /// Flows whose connections real hosts have refused, and where they should lead.
    pub fn refused(&self) -> impl Iterator<Item = (FlowId, Endpoint)> + '_ {
        self.engine.upper().hosts.iter().flat_map(Host::refused)
    }

    /// The next hop of a node towards another one, by its current forwarding table.
    pub fn hop_towards(&self, node: NodeId, destination: NodeId) -> Option<Hop> {
        self.engine.upper().hosts[node.0 as usize].hop_towards(destination)
    }

    /// Time of the next possible event; [`Instant::MAX`]: never, unless a real host sends something.
    pub fn next_event(&self) -> Instant {
        self.engine.next_event()
    }

    /// Current time of the run.
    pub fn now(&self) -> Instant {
        self.engine.now()
    }

    /// The end of the run.
    pub fn end(&self) -> Instant {
        self.end
    }

    /// Number of events so far.
    pub fn events(&self) -> u64 {
        self.engine.events()
    }

    /// Warnings about how the run was set up.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Positions of the nodes at the start, by index.
    pub fn positions(&self) -> &[Position] {
        &self.positions
    }

    /// Position of a node at an instant, which must not be before one already asked for of that node. It can differ from
    /// the time of the run.
    pub fn position(&mut self, node: NodeId, at: Instant) -> Position {
        self.motion.position(node, at)
    }

    /// The measurements of all flows.
    pub fn flows(&self) -> &FlowTable {
        &self.engine.upper().flows
    }

    /// The devices of a streaming cloud, with their nodes.
    pub fn devices(&self) -> impl Iterator<Item = (NodeId, &Device)> {
        let hosts = self.engine.upper().hosts.iter();
        hosts.filter_map(|host| Some((host.node(), host.device()?)))
    }

    /// The counters of all hosts, by node.
    pub fn counters(&self) -> &[Counters] {
        &self.engine.upper().counters
    }

    /// The radios of all nodes, node by node.
    pub fn stations(&self) -> &[Dcf<Rc<Sdu>>] {
        self.engine.stations()
    }

    /// The radios of a node.
    pub(crate) fn stations_of(&self, node: NodeId) -> impl Iterator<Item = &Dcf<Rc<Sdu>>> {
        self.engine.ports().attachments(node.0 as usize).iter().filter_map(|attachment| match *attachment {
            Attachment::Station(station) => Some(&self.engine.stations()[station.0 as usize]),
            Attachment::Wire(_) => None,
        })
    }

    /// The wires that begin at a node.
    pub(crate) fn wires_of(&self, node: NodeId) -> impl Iterator<Item = &Wire<Rc<Sdu>>> {
        self.engine.ports().attachments(node.0 as usize).iter().filter_map(|attachment| match *attachment {
            Attachment::Wire(wire) => Some(&self.engine.wires()[wire as usize]),
            Attachment::Station(_) => None,
        })
    }

    /// Counters of a node's associations over the air.
    pub fn associations(&self, node: NodeId) -> Counts {
        self.engine.upper().associations.counts(node.0)
    }

    /// Packets in the queues of a node's interfaces and of its access.
    pub fn queued(&self, node: NodeId) -> usize {
        let stations = self.stations_of(node).map(Dcf::queued).sum::<usize>();
        let cards = self.engine.upper().cards.get(node.0 as usize).into_iter().flatten().map(Cards::queued);
        let access = self.engine.upper().access_of(node).map_or(0, Access::queued);
        stations + self.wires_of(node).map(Wire::queued).sum::<usize>() + cards.sum::<usize>() + access
    }

    /// Packets that the queues of a node's interfaces and of its access have marked (ECN).
    pub fn marked(&self, node: NodeId) -> u64 {
        let stations = self.stations_of(node).map(|station| station.counters().marked).sum::<u64>();
        let access = self.engine.upper().access_of(node).map_or(0, Access::marked);
        stations + self.wires_of(node).map(Wire::marked).sum::<u64>() + access
    }

    /// Frames of a node on half-duplex wires that collided, each as often as it did; `None`: it has no such wires.
    pub fn wire_collisions(&self, node: NodeId) -> Option<u64> {
        let counts =
            self.engine.ports().attachments(node.0 as usize).iter().filter_map(|attachment| match *attachment {
                Attachment::Wire(wire) => self.engine.wire_collisions(wire as usize),
                Attachment::Station(_) => None,
            });
        counts.reduce(|sum, count| sum + count)
    }

    /// Packets that have left on wires and were not lost.
    pub fn sent_on_wires(&self) -> u64 {
        self.engine.wires().iter().map(|wire| wire.counters().sent).sum()
    }

    /// Sums over the medium.
    pub fn totals(&self) -> &hopcast_radio::medium::Totals {
        self.engine.medium().totals()
    }
}
