//! Mobility models.

use std::sync::Arc;

use hopcast_protocols::time::Duration;
use hopcast_radio::propagation::Position;
use hopcast_sim::mobility::{Leg, Mobility};
use hopcast_sim::registry::{MakeMobility, Registry};
use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;

use super::object::{Class, Object};
use super::position::Place;
use super::random::PyStream;

pub(super) fn add(registry: &mut Registry, name: &str, class: Class) {
    registry.add_mobility_factory(name, move |parameters| {
        let trial = (Place(Position::default()), PyStream::trial());
        let model = class.clone().with(parameters, trial)?;
        Ok(Arc::new(move |place, stream| -> Box<dyn Mobility> {
            Box::new(Way { object: model.object((Place(place), PyStream(stream))), place })
        }) as MakeMobility)
    });
}

/// The way of a node, which stays where it is after an exception.
#[derive(Debug)]
struct Way {
    object: Object,
    /// Where the last leg ended.
    place: Position,
}

impl Mobility for Way {
    fn next_leg(&mut self) -> Leg {
        let leg = self.object.ask(|object| {
            let (Place(to), seconds): (Place, f64) =
                object.call_method0(intern!(object.py(), "next_leg"))?.extract()?;
            match seconds >= 0.0 {
                true => Ok((to, Duration::from_secs_f64(seconds))),
                false => Err(PyValueError::new_err(format!("a leg takes {seconds} s, should be at least 0 s"))),
            }
        });
        let from = self.place;
        let (to, duration) = leg.unwrap_or((from, Duration::MAX));
        self.place = to;
        Leg { from, to, duration }
    }
}
