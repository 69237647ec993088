//! The ways that a flow's packets take through the network.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The ways of a flow's packets, and what its sink answers.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ways {
    changes: u64,
    packets: u64,
    hops: u64,
    most: u32,
    answers: u64,
    answer_octets: u64,
}

/// What is known of a flow's ways at the end, unless one of its ends is a real host. Packets are whole IP datagrams here, in either
/// direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, JsonSchema, Serialize)]
pub struct WaySummary {
    /// Changes of the route from the source to the sink: how often a routing protocol led a packet to another neighbour than the
    /// packet before, at any node on the way. 0 with static routes.
    #[schemars(extend("x-unit" = "changes", "x-counted" = "at every node on the way"))]
    pub route_changes: u64,
    /// Mean number of IP hops of the packets that reached the sink's node: 1 between neighbours.
    #[schemars(extend("x-unit" = "hops", "x-divisor" = "packets that reached the sink's node", "x-counted" = "at the sink"))]
    pub hops_mean: Option<f64>,
    /// Largest number of IP hops of a packet that reached the sink's node.
    #[schemars(extend("x-unit" = "hops", "x-counted" = "at the sink"))]
    pub hops_max: Option<u64>,
    /// Packets that the sink's node sent for the flow, each once: acknowledgements, feedback and set-up. 0 over UDP.
    #[schemars(extend("x-unit" = "packets", "x-counted" = "at the sink"))]
    pub feedback_packets: u64,
    /// Bytes of these packets with their IP headers.
    #[schemars(extend("x-unit" = "B", "x-counted" = "at the sink"))]
    pub feedback_bytes: u64,
}

impl Ways {
    /// A packet took another way from a node than the one before.
    pub(super) fn handle_change(&mut self) {
        self.changes += 1;
    }

    /// A packet reached the sink's node over `hops`.
    pub(super) fn handle_arrival(&mut self, hops: u32) {
        self.packets += 1;
        self.hops += u64::from(hops);
        self.most = self.most.max(hops);
    }

    /// The sink's node sends a packet of `octets`.
    pub(super) fn handle_answer(&mut self, octets: u32) {
        self.answers += 1;
        self.answer_octets += u64::from(octets);
    }

    pub(super) fn summary(&self) -> WaySummary {
        let some = self.packets > 0;
        WaySummary {
            route_changes: self.changes,
            hops_mean: some.then(|| self.hops as f64 / self.packets as f64),
            hops_max: some.then_some(u64::from(self.most)),
            feedback_packets: self.answers,
            feedback_bytes: self.answer_octets,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hops_have_a_mean_and_a_maximum_once_a_packet_has_arrived() {
        let mut ways = Ways::default();
        ways.handle_change();
        ways.handle_answer(40);
        let before = WaySummary { route_changes: 1, feedback_packets: 1, feedback_bytes: 40, ..WaySummary::default() };
        assert_eq!(ways.summary(), before);
        [1, 1, 4].into_iter().for_each(|hops| ways.handle_arrival(hops));
        assert_eq!(ways.summary(), WaySummary { hops_mean: Some(2.0), hops_max: Some(4), ..before });
    }
}
