//! How flows, interface queues and rates develop, sampled at the even intervals of [`crate::metrics::Series`].

use hopcast_protocols::time::{Duration, Instant};
use hopcast_radio::mac::Dcf;
use hopcast_radio::phy::TxVector;

use crate::id::NodeId;
use crate::metrics::conversation::{Conversations, Course};
use crate::metrics::{FlowTable, Sample};
use crate::run::Simulation;

/// The samples of one run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunSeries {
    /// Time between two samples.
    pub interval: Duration,
    /// Flows in the order of the scenario.
    pub flows: Vec<Vec<Sample>>,
    /// Conversations between real hosts, in their order.
    pub conversations: Vec<Course>,
    /// Times at which the queues were sampled.
    pub times: Vec<Instant>,
    /// Queues that were not empty, by time and node.
    pub queues: Vec<QueueSample>,
    /// Rates that rate control had chosen, where they changed, by time and node.
    pub rates: Vec<RateSample>,
    /// By node: the last of them.
    known_rates: Vec<Option<TxVector>>,
}

/// A new rate of a node's data frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateSample {
    /// Index in [`RunSeries::times`].
    pub time: u32,
    /// The node.
    pub node: NodeId,
    /// That of the last data frame; of a node with several radios, of the first one that has rate control.
    pub rate: TxVector,
}

/// An interface queue that was not empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueSample {
    /// Index in [`RunSeries::times`].
    pub time: u32,
    /// The node.
    pub node: NodeId,
    /// Packets in it, without the one in hand; the sum for a node with several interfaces.
    pub packets: u32,
}

impl RunSeries {
    /// Samples that are to be taken so far apart.
    pub(super) fn new(interval: Duration) -> Self {
        Self { interval, ..Self::default() }
    }

    /// Looks at all queues and rates of `simulation`.
    pub(super) fn sample(&mut self, simulation: &Simulation) {
        let time = self.times.len() as u32;
        self.times.push(simulation.now());
        let nodes = (0..simulation.counters().len() as u32).map(NodeId);
        let queued = nodes.map(|node| (node, simulation.queued(node)));
        let filled = queued.filter(|&(_, packets)| packets > 0);
        self.queues.extend(filled.map(|(node, packets)| QueueSample { time, node, packets: packets as u32 }));
        self.known_rates.resize(simulation.counters().len(), None);
        for (node, known) in (0..).map(NodeId).zip(&mut self.known_rates) {
            let rate = simulation.stations_of(node).find_map(Dcf::chosen_rate);
            if let Some(rate) = rate.filter(|_| rate != *known) {
                *known = Some(rate);
                self.rates.push(RateSample { time, node, rate });
            }
        }
    }

    /// Takes over how all conversations developed.
    pub(super) fn set_conversations(&mut self, conversations: Option<&Conversations>) {
        self.conversations = conversations.iter().flat_map(|all| all.iter()).map(|one| one.course.clone()).collect();
    }

    /// Takes over the samples of all flows.
    pub(super) fn set_flows(&mut self, flows: &FlowTable) {
        self.flows = flows.iter().map(|flow| flow.series().samples().to_vec()).collect();
    }
}
