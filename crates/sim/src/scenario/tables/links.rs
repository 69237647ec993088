//! Wired links: `links`.

use hopcast_protocols::time::Duration;
use schemars::JsonSchema;
use serde::Deserialize;

use super::super::declare::{computed, nothing};
use super::super::model;
use super::super::quantity::{Rates, Shares, Times};
use super::super::read::Later;
use super::Resolver;
use super::directory::Directory;
use super::way::{Direction, Otherwise, Queue, Trace, Way};
use crate::wired::Steps;

/// A wire between two nodes. Both directions have the same properties, except for what `back` gives.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Link {
    /// Names of the two nodes that the wire connects.
    #[schemars(extend("minItems" = 2, "maxItems" = 2))]
    between: Vec<String>,
    /// Capacity in each direction, in bits of IP packets per second, or a list of `[time, rate]`, each in force from its time on.
    #[schemars(extend("minimum" = 1, "maximum" = 1e12, "x-default" = computed("required, unless `trace` gives it")))]
    rate: Option<Rates>,
    /// Propagation delay of the wire, or a list of `[time, delay]`.
    #[schemars(extend("minimum" = 0, "maximum" = 86_400, "x-default" = computed("0 s: none, unless `trace` gives it")))]
    delay: Option<Times>,
    /// Queue of each direction.
    queue: Queue,
    /// Share of packets that the wire loses in each direction, or a list of `[time, share]`.
    #[schemars(extend("x-default" = computed("0: none, unless `trace` gives it")))]
    loss: Option<Shares>,
    /// File that says how the capacity, the delay or the loss changes in time.
    #[schemars(extend("x-default" = nothing("none", "")))]
    trace: Option<Trace>,
    /// What differs in the direction from the second node to the first.
    #[schemars(extend("x-default" = nothing("nothing", "both directions are the same")))]
    back: Option<Direction>,
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
        let way = Way {
            rate: link.rate.clone(),
            delay: link.delay.clone(),
            loss: link.loss.clone(),
            trace: link.trace.clone(),
        };
        let otherwise = Otherwise {
            capacity: None,
            delay: Steps::constant(Duration::ZERO),
            loss: Steps::constant(0.0),
            told: ["", "0 s", "0"],
            source: "default: none",
        };
        let queue = self.wire_queue(&["links", index], &link.queue);
        let forth = self.way(&["links", index], &way, queue, otherwise);
        let (mtu, source) = self.ledger.layer.wired_mtu;
        let told = mtu.map_or("none".into(), |mtu| format!("{mtu} B"));
        self.ledger.note(&["links", index, "mtu"], &told, source);
        let &[a, b] = ends.as_slice() else { return None };
        if a == b {
            self.report(&["links", index, "between"], "names one node twice", "two different nodes");
            return None;
        }
        let forth = forth?;
        let back = match &link.back {
            None => forth.clone(),
            Some(back) => self.direction(&["links", index, "back"], back, &forth)?,
        };
        Some(model::WiredLink { between: [a, b], configs: [forth, back], mtu })
    }
}
