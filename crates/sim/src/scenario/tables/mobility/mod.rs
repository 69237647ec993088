//! Movement of the nodes of a group: `nodes.mobility`. One file a model, and [`Kinds`] is the list of them.

mod area;
mod gauss_markov;
mod random_waypoint;
mod streets;
mod trace;

use std::sync::Arc;

use hopcast_protocols::random::Stream;
use hopcast_radio::propagation::Position;
use schemars::JsonSchema;
use serde::Deserialize;

use super::super::model;
use super::Resolver;
use super::custom::Custom;
use crate::mobility::{MakeMoving, Mobility, Moving, Placement};

/// Movement of the nodes.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(tag = "model", deny_unknown_fields)]
pub(super) enum Kinds {
    /// No movement.
    Static {},
    RandomWaypoint(random_waypoint::Keys),
    GaussMarkov(gauss_markov::Keys),
    Streets(streets::Keys),
    Trace(trace::Keys),
    Custom(Custom),
}

/// The keys of a model.
trait Model {
    /// The model with these keys. Reports what is wrong with them, and then returns `None`.
    fn resolve(self, resolver: &mut Resolver<'_>, group: &Group<'_>) -> Option<MakeMoving>;
}

/// The group of nodes that moves.
struct Group<'a> {
    index: &'a str,
    placement: &'a Placement,
    names: &'a [String],
}

/// A model that treats all nodes alike, except for the position and the stream of random numbers of each.
fn each<M: Mobility + 'static>(make: impl Fn(Position, Stream) -> M + Send + Sync + 'static) -> MakeMoving {
    Arc::new(move |_, placed, stream| -> Box<dyn Mobility> { Box::new(make(placed, stream)) })
}

impl Resolver<'_> {
    pub(super) fn mobility(
        &mut self,
        index: &str,
        mobility: Kinds,
        role: model::Role,
        placement: &Placement,
        names: &[String],
    ) -> Option<Moving> {
        if role == model::Role::Wired && !matches!(mobility, Kinds::Static {}) {
            let problem = "has no effect: a node of role wired has no radio";
            self.report(&["nodes", index, "mobility", "model"], problem, "another role");
        }
        let group = Group { index, placement, names };
        let made = match mobility {
            Kinds::Static {} => None,
            Kinds::RandomWaypoint(keys) => keys.resolve(self, &group),
            Kinds::GaussMarkov(keys) => keys.resolve(self, &group),
            Kinds::Streets(keys) => keys.resolve(self, &group),
            Kinds::Trace(keys) => keys.resolve(self, &group),
            Kinds::Custom(keys) => keys.resolve(self, &group),
        };
        made.map(|make| Moving { make })
    }
}

impl Model for Custom {
    fn resolve(self, resolver: &mut Resolver<'_>, group: &Group<'_>) -> Option<MakeMoving> {
        let models = &resolver.source.registry.mobility;
        let make = resolver.custom(&["nodes", group.index, "mobility"], "mobility model", &self, models)?;
        Some(Arc::new(move |_, placed, stream| make(placed, stream)))
    }
}
