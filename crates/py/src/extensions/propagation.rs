//! Propagation models.

use std::sync::Arc;

use hopcast_radio::propagation::{Position, Propagation};
use hopcast_sim::registry::{MakePropagation, Registry};
use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;

use super::object::{Class, Object};
use super::position::Place;

/// Stands for the carrier frequency where parameters are checked, in hertz.
const TRIAL_FREQUENCY: f64 = 2.4e9;

pub(super) fn add(registry: &mut Registry, name: &str, class: Class) {
    registry.add_propagation_factory(name, move |parameters| {
        let model = class.clone().with(parameters, (TRIAL_FREQUENCY,))?;
        Ok(Arc::new(move |frequency| -> Box<dyn Propagation> { Box::new(Channel(model.object((frequency,)))) })
            as MakePropagation)
    });
}

/// A model, by which nothing reaches anybody after an exception.
#[derive(Debug)]
struct Channel(Object);

impl Propagation for Channel {
    fn gain(&self, from: Position, to: Position) -> f64 {
        let gain = self.0.ask(|model| {
            let gain: f64 = model.call_method1(intern!(model.py(), "gain"), (Place(from), Place(to)))?.extract()?;
            match (0.0..=1.0).contains(&gain) {
                true => Ok(gain),
                false => Err(PyValueError::new_err(format!("gain is {gain}, should be from 0 to 1"))),
            }
        });
        gain.unwrap_or(0.0)
    }

    fn reach(&self, gain: f64) -> f64 {
        let reach = self.0.ask(|model| {
            let reach: f64 = model.call_method1(intern!(model.py(), "reach"), (gain,))?.extract()?;
            match reach >= 0.0 {
                true => Ok(reach),
                false => Err(PyValueError::new_err(format!("reach is {reach} m, should be at least 0 m"))),
            }
        });
        reach.unwrap_or(0.0)
    }
}
