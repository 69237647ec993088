//! Connectivity of nodes at an instant, without other transmissions and random losses.

use super::channel::Channel;
use super::{ByReceiver, channel, is_usable, reception};
use crate::id::NodeId;
use crate::layout::{self, Station};
use crate::mobility::Motion;
use crate::scenario::model::Scenario;
use hopcast_protocols::time::Instant;
use hopcast_radio::propagation::Position;
use hopcast_radio::units::Power;

/// The graph of usable links of a scenario, at any instant of a run. Instants must not go back.
#[derive(Debug)]
pub(crate) struct Connectivity {
    channel: Channel,
    /// By station: least power of a link over which its data frames pass.
    usable: Vec<ByReceiver<Power>>,
    /// By node: its stations.
    stations: Vec<Vec<u32>>,
    /// Ends of each wire.
    wires: Vec<[NodeId; 2]>,
    motion: Motion,
}

impl Connectivity {
    /// The graph of a run of `scenario` with `seed`, without shadowing and fading of single frames.
    pub(crate) fn new(scenario: &Scenario, seed: u64) -> Self {
        let stations: Vec<Station<'_>> = layout::stations(scenario);
        let nodes: usize = scenario.groups.iter().map(|group| group.node_names.len()).sum();
        let mut by_node = vec![Vec::new(); nodes];
        for (station, index) in stations.iter().zip(0..) {
            by_node[station.node.0 as usize].push(index);
        }
        Self {
            channel: channel(&scenario.radio, &stations, seed),
            usable: reception(&scenario.radio, &stations, seed).1,
            stations: by_node,
            wires: scenario.links.iter().map(|link| link.between).collect(),
            motion: layout::motion(scenario, seed),
        }
    }

    /// Whether data frames of `from` pass to `to`, or a wire connects them.
    pub(crate) fn is_link(&mut self, from: NodeId, to: NodeId, now: Instant) -> bool {
        let here = self.motion.position(from, now);
        let there = self.motion.position(to, now);
        self.passes((from, here), (to, there))
    }

    /// Whether there is a path from one node to another.
    pub(crate) fn is_connected(&mut self, from: NodeId, to: NodeId, now: Instant) -> bool {
        let nodes = self.stations.len();
        let places: Vec<Position> = (0..nodes as u32).map(|node| self.motion.position(NodeId(node), now)).collect();
        let mut reached = vec![false; nodes];
        let mut frontier = vec![from];
        reached[from.0 as usize] = true;
        while let Some(node) = frontier.pop() {
            for next in (0..nodes as u32).map(NodeId) {
                if !reached[next.0 as usize]
                    && self.passes((node, places[node.0 as usize]), (next, places[next.0 as usize]))
                {
                    reached[next.0 as usize] = true;
                    frontier.push(next);
                }
            }
        }
        reached[to.0 as usize]
    }

    fn passes(&self, (from, here): (NodeId, Position), (to, there): (NodeId, Position)) -> bool {
        let [senders, receivers] = [from, to].map(|node| &self.stations[node.0 as usize]);
        self.wires.iter().any(|ends| *ends == [from, to] || *ends == [to, from])
            || senders.iter().any(|&sender| {
                receivers.iter().any(|&receiver| {
                    let link = self.channel.link_between(sender, receiver, here, there);
                    link.is_some_and(|link| is_usable(&link, &self.usable[sender as usize]))
                })
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Source;
    use hopcast_protocols::time::Duration;

    /// Three in a row of which the outer ones are linked through the middle one, a wire to a fourth, and one that is far away.
    #[test]
    fn paths_lead_over_air_and_wires() {
        let text = r#"
            duration = "100 s"
            [radio]
            propagation = { model = "range", receive = "100 m", carrier_sense = "200 m" }
            [[nodes]]
            name = "n"
            count = 3
            placement = { shape = "line", spacing = "80 m" }
            [[nodes]]
            name = "far"
            placement = { shape = "points", at = [[900, 0]] }
            [[nodes]]
            name = "w"
            role = "wired"
            [[links]]
            between = ["n2", "w"]
            rate = "1 Mb/s"
        "#;
        let source = Source { text: text.into(), name: "test".into(), ..Source::default() };
        let scenario = Scenario::parse(&source, &[]).expect("the scenario is right").scenario;
        let mut graph = Connectivity::new(&scenario, 1);
        let now = Instant::START + Duration::from_secs(7);
        let [n0, n1, n2, far, wired] = [0, 1, 2, 3, 4].map(NodeId);
        assert!(graph.is_link(n0, n1, now) && !graph.is_link(n0, n2, now) && graph.is_link(wired, n2, now));
        assert!(graph.is_connected(n0, wired, now) && graph.is_connected(wired, n0, now));
        assert!(!graph.is_connected(n0, far, now) && !graph.is_connected(far, n2, now));
    }
}
