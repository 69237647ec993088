//! The access of a node: `nodes.access`.

use hopcast_protocols::time::Duration;
use schemars::JsonSchema;
use serde::Deserialize;

use super::super::declare::{computed, nothing};
use super::super::quantity::{Rates, Shares, Times};
use super::Resolver;
use super::way::{Direction, Otherwise, Queue, Trace, Way};
use crate::wired::{Capacity, Config, Steps};

/// Capacity, delay and loss of everything that a node sends and receives, over any of its interfaces. Each direction has a separate
/// queue and capacity.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Access {
    /// Capacity in each direction, in bits of IP packets per second, or a list of `[time, rate]`, each in force from its time on.
    #[schemars(extend("minimum" = 1, "maximum" = 1e12, "x-default" = computed("unlimited, unless `trace` gives it")))]
    rate: Option<Rates>,
    /// Delay in each direction, or a list of `[time, delay]`.
    #[schemars(extend("minimum" = 0, "maximum" = 86_400, "x-default" = computed("0 s: none, unless `trace` gives it")))]
    delay: Option<Times>,
    /// Queue of each direction.
    queue: Queue,
    /// Share of packets that get lost in each direction, or a list of `[time, share]`.
    #[schemars(extend("x-default" = computed("0: none, unless `trace` gives it")))]
    loss: Option<Shares>,
    /// File that says how the capacity, the delay or the loss changes in time.
    #[schemars(extend("x-default" = nothing("none", "")))]
    trace: Option<Trace>,
    /// What differs in what the node sends.
    #[schemars(extend("x-default" = nothing("nothing", "both directions are the same")))]
    up: Option<Direction>,
    /// What differs in what the node receives.
    #[schemars(extend("x-default" = nothing("nothing", "both directions are the same")))]
    down: Option<Direction>,
}

impl Resolver<'_> {
    /// What the nodes of a group send, and what they receive, if they have an access. Reports what is wrong with it.
    pub(super) fn access(&mut self, index: &str, given: Option<Access>) -> Option<[Config; 2]> {
        let Access { rate, delay, queue, loss, trace, up, down } = given?;
        let path = ["nodes", index, "access"];
        let otherwise = Otherwise {
            capacity: Some(Capacity::unlimited()),
            delay: Steps::constant(Duration::ZERO),
            loss: Steps::constant(0.0),
            told: ["unlimited", "0 s", "0"],
            source: "default: none",
        };
        let queue = self.wire_queue(&path, &queue);
        let both = self.way(&path, &Way { rate, delay, loss, trace }, queue, otherwise);
        let mut direction = |key, given: &Option<Direction>| match (given, &both) {
            (Some(given), Some(both)) => self.direction(&[&path[..], &[key]].concat(), given, both),
            _ => both.clone(),
        };
        let [up, down] = [direction("up", &up), direction("down", &down)];
        Some([up?, down?])
    }
}
