//! A trivial network: each host has a drop-tail queue and a wire that carries one packet at a time.

use super::*;
use crate::metrics::FlowSummary;
use crate::network::Network;
use crate::scenario::model::Scenario;
use crate::traffic::{Hosting, Machines, machines};
use std::collections::BTreeMap;

/// What a wire does to a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// It arrives, and the sender knows.
    Arrives,
    /// It does not arrive, and the sender gives up.
    Lost,
    /// It arrives, and the sender gives up: all acknowledgements were lost.
    ArrivesUnknown,
    /// It arrives twice.
    ArrivesTwice,
}

pub(super) struct Net<F> {
    pub(super) hosts: Vec<Host>,
    pub(super) counters: Vec<Counters>,
    pub(super) flows: FlowTable,
    pool: SduPool,
    pub(super) now: Instant,
    queues: Vec<VecDeque<Transmit>>,
    capacity: usize,
    /// When the packet at the head of each queue is through.
    wires: BTreeMap<(Instant, usize), ()>,
    per_octet: Duration,
    fate: F,
}

impl<F: FnMut(&Packet) -> Fate> Net<F> {
    /// The scenario's hosts in a line, with wires of `per_octet`.
    pub(super) fn new(scenario: &Scenario, per_octet: Duration, fate: F) -> Self {
        let count: u32 = scenario.groups.iter().map(|group| group.node_names.len() as u32).sum();
        let neighbours = |node: u32| (0..count).filter(|&other| other.abs_diff(node) == 1).collect();
        let neighbours: Vec<_> = (0..count).map(neighbours).collect();
        let interface = Interface { mtu: scenario.mtu, queue_packets: scenario.radio.mac.queue_packets };
        let network = Network::of_neighbours(&neighbours, interface);
        let Machines { hosts, flows, .. } =
            machines(scenario, &network, scenario.seed, Hosting::Simulated).expect("a line reaches everyone");
        Self {
            counters: vec![Counters::default(); hosts.len()],
            queues: vec![VecDeque::new(); hosts.len()],
            capacity: scenario.radio.mac.queue_packets as usize,
            wires: BTreeMap::new(),
            now: Instant::START,
            hosts,
            flows,
            pool: SduPool::default(),
            per_octet,
            fate,
        }
    }

    /// Runs until nothing is left to do, or `end`.
    pub(super) fn run(&mut self, end: Instant) {
        loop {
            let timer = self.hosts.iter().enumerate().filter_map(|(n, host)| Some((host.poll_timeout()?, n))).min();
            let wire = self.wires.keys().next().copied();
            let Some(next) = [timer, wire].into_iter().flatten().min().filter(|next| next.0 <= end) else { break };
            assert!(next.0 >= self.now, "time goes back");
            self.now = next.0;
            if Some(next) == timer {
                self.with(next.1, Host::handle_timeout);
            } else {
                self.arrive(next);
            }
        }
        self.now = end;
        self.hosts.iter().for_each(|host| host.finish(&mut self.flows));
    }

    /// Checks conservation at every layer, and returns each flow's figures.
    pub(super) fn audit(&self) -> Vec<FlowSummary> {
        let mut census = Census::new();
        for (node, (host, counters)) in self.hosts.iter().zip(&self.counters).enumerate() {
            host.check(counters).unwrap();
            assert_eq!(counters.in_interface(), self.queues[node].len() as i128);
            let host_causes: u64 = counters.drops().map(|(_, count)| count).sum();
            assert_eq!(host_causes, counters.host_dropped + counters.interface_dropped, "each drop has one cause");
            host.count_in_flight(&mut census);
            for transmit in &self.queues[node] {
                let packet = ip(&transmit.sdu);
                census.insert(packet.tag.flow, packet.tag.seq);
            }
        }
        assert_eq!(self.flows.missing(&census).collect::<Vec<_>>(), []);
        let summaries: Vec<_> = self.flows.iter().map(|flow| flow.summary(self.now)).collect();
        for summary in &summaries {
            let accounted = summary.received_packets + summary.lost_packets + summary.in_flight_packets;
            assert_eq!(summary.sent_packets, accounted, "{summary:?}");
        }
        summaries
    }

    fn with(&mut self, node: usize, call: impl FnOnce(&mut Host, &mut Context<'_>)) {
        let (flows, counters, pool) = (&mut self.flows, &mut self.counters[node], &mut self.pool);
        let stop = Stop::default();
        let mut cx = Context { now: self.now, flows, counters, pool, stop: &stop };
        let (host, queue) = (&mut self.hosts[node], &mut self.queues[node]);
        call(host, &mut cx);
        let idle = queue.is_empty();
        while let Some(transmit) = host.poll_output(|_, _| QueueSpace::shared(self.capacity - queue.len()), &mut cx) {
            if queue.len() == self.capacity {
                host.handle_drop(transmit.sdu, NEIGHBOUR, DropCause::QueueFull, &mut cx);
            } else {
                queue.push_back(transmit);
            }
        }
        if idle {
            self.start(node);
        }
    }

    fn start(&mut self, node: usize) {
        if let Some(head) = self.queues[node].front() {
            self.wires.insert((self.now + self.per_octet * u64::from(head.sdu.octets()), node), ());
        }
    }

    fn arrive(&mut self, key: (Instant, usize)) {
        self.wires.remove(&key);
        let node = key.1;
        let Transmit { hop, sdu } = self.queues[node].pop_front().expect("a wire runs for a packet");
        let fate = (self.fate)(ip(&sdu));
        // The wire goes on first, so that what the host puts into an empty queue starts it only once.
        self.start(node);
        let sent = Rc::clone(&sdu);
        self.with(node, |host, cx| match fate {
            Fate::Arrives | Fate::ArrivesTwice => host.handle_sent(sent, cx),
            Fate::Lost | Fate::ArrivesUnknown => host.handle_drop(sent, NEIGHBOUR, DropCause::RetryLimitShort, cx),
        });
        let copies = match fate {
            Fate::Lost => 0,
            Fate::Arrives | Fate::ArrivesUnknown => 1,
            Fate::ArrivesTwice => 2,
        };
        for _ in 0..copies {
            self.with(hop.node.0 as usize, |host, cx| {
                host.handle_packet(&sdu, NEIGHBOUR, cx);
            });
        }
    }
}
