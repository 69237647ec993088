//! How flows and interface queues develop, sampled at the even intervals of [`crate::metrics::Series`].

use hopcast_protocols::time::{Duration, Instant};

use crate::metrics::{FlowTable, Sample};
use crate::run::Simulation;
use crate::scenario::model::NodeId;

/// The samples of one run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunSeries {
    /// Between two samples.
    pub interval: Duration,
    /// Flows in the order of the scenario.
    pub flows: Vec<Vec<Sample>>,
    /// Instants at which the queues were looked at.
    pub times: Vec<Instant>,
    /// Queues that were not empty, by time and node.
    pub queues: Vec<QueueSample>,
}

/// An interface queue that was not empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueSample {
    /// Place in [`RunSeries::times`].
    pub time: u32,
    /// Whose queues.
    pub node: NodeId,
    /// Packets in it, the one in hand apart; of a node with several interfaces the sum.
    pub packets: u32,
}

impl RunSeries {
    /// Looks at all queues of `simulation`.
    pub(super) fn sample_queues(&mut self, simulation: &Simulation) {
        let time = self.times.len() as u32;
        self.times.push(simulation.now());
        let nodes = (0..simulation.counters().len() as u32).map(NodeId);
        let queued = nodes.map(|node| (node, simulation.queued(node)));
        let filled = queued.filter(|&(_, packets)| packets > 0);
        self.queues.extend(filled.map(|(node, packets)| QueueSample { time, node, packets: packets as u32 }));
    }

    /// Takes over the samples of all flows.
    pub(super) fn set_flows(&mut self, flows: &FlowTable) {
        self.flows = flows.iter().map(|flow| flow.series().samples().to_vec()).collect();
    }
}
