//! Wired links: `links`.

use schemars::JsonSchema;
use serde::Deserialize;

use super::super::declare::is;
use super::super::model;
use super::super::quantity::{Rate, Time};
use super::super::read::Later;
use super::Resolver;
use super::directory::Directory;
use crate::wired;

/// A wire between two nodes, with the same properties in both directions.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Link {
    /// Names of the two nodes that the wire connects.
    #[schemars(extend("minItems" = 2, "maxItems" = 2))]
    between: Vec<String>,
    /// Capacity in each direction, in bits of IP packets per second.
    #[schemars(extend("minimum" = 1, "maximum" = 1e12))]
    rate: Rate,
    /// Propagation delay of the wire.
    #[schemars(extend("minimum" = 0, "maximum" = 86_400, "x-default" = is("0 s", "none")))]
    delay: Time,
    /// Drop-tail queue of each direction.
    queue: Queue,
    /// Share of packets that the wire loses in each direction.
    #[schemars(extend("minimum" = 0, "maximum" = 1, "x-default" = is(0, "none")))]
    loss: f64,
}

/// The drop-tail queue of a wire.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Queue {
    /// Number of packets that the queue holds, not counting the one that is being sent.
    #[schemars(extend("minimum" = 1, "maximum" = 1_000_000, "x-default" = is(50, "as in ns-2 (Queue limit_ 50)")))]
    packets: u32,
}

impl Resolver<'_> {
    /// The links whose ends are known. Reports what is wrong with the others.
    pub(super) fn links(&mut self, links: &Later<Vec<Link>>, groups: &[model::Group]) -> Vec<model::WiredLink> {
        let nodes = Directory::new(groups);
        self.each(links, &["links"], |resolver, index, link| resolver.link(index, &link, &nodes))
    }

    fn link(&mut self, index: &str, link: &Link, nodes: &Directory<'_>) -> Option<model::WiredLink> {
        let mut ends = Vec::new();
        for (name, place) in link.between.iter().zip(["0", "1"]) {
            match nodes.find(name) {
                Some(node) => ends.push(node),
                None => {
                    let (problem, expected) = nodes.why_unknown(name);
                    self.report(&["links", index, "between", place], problem, expected);
                }
            }
        }
        let (mtu, source) = self.ledger.layer.wired_mtu;
        let told = mtu.map_or("none".into(), |mtu| format!("{mtu} B"));
        self.ledger.note(&["links", index, "mtu"], &told, source);
        let &[a, b] = ends.as_slice() else { return None };
        if a == b {
            self.report(&["links", index, "between"], "names one node twice", "two different nodes");
            return None;
        }
        let config = wired::Config {
            rate: link.rate.0,
            delay: link.delay.into(),
            queue_packets: link.queue.packets,
            loss: link.loss,
        };
        Some(model::WiredLink { between: [a, b], config, mtu })
    }
}
