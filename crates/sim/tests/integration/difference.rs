//! Two runs, event by event.

use std::fmt;
use std::sync::{Arc, Mutex};

use hopcast_protocols::time::{Duration, Instant};
use hopcast_sim::engine::Event;
use hopcast_sim::run::Simulation;
use hopcast_sim::scenario::Scenario;

/// The first place where two runs part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Difference {
    /// Place of the event, from zero.
    pub(crate) place: usize,
    /// What happened in either run; `None`: it had ended.
    pub(crate) events: [Option<Event>; 2],
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |event: &Option<Event>| event.map_or("nothing more".into(), |event| event.to_string());
        let [one, other] = &self.events;
        write!(f, "event {}: {} in one run, {} in the other", self.place, name(one), name(other))
    }
}

/// A way to run a scenario: which seed, and in slices of which length.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Way {
    pub(crate) seed: u64,
    pub(crate) slice: Duration,
}

/// Runs `scenario` in two ways and names the first event that differs.
pub(crate) fn first_difference(scenario: &Scenario, ways: [Way; 2]) -> Option<Difference> {
    parting(ways.map(|way| (scenario, way)))
}

/// Runs two scenarios and names the first event that differs.
pub(crate) fn parting(runs: [(&Scenario, Way); 2]) -> Option<Difference> {
    let [one, other] = runs.map(|(scenario, way)| events(scenario, way));
    let place = one.iter().zip(&other).position(|(one, other)| one != other);
    let place = place.or((one.len() != other.len()).then_some(one.len().min(other.len())))?;
    Some(Difference { place, events: [one.get(place).copied(), other.get(place).copied()] })
}

/// Every event of a run, in order.
fn events(scenario: &Scenario, way: Way) -> Vec<Event> {
    let events = Arc::new(Mutex::new(Vec::new()));
    let mut simulation = Simulation::new(scenario, way.seed).expect("the scenario's flows have paths");
    let log = Arc::clone(&events);
    simulation.set_log(move |event| log.lock().expect("one thread").push(event));
    let mut until = Instant::START;
    while simulation.now() < simulation.end() {
        until += way.slice;
        simulation.run_until(until);
    }
    drop(simulation);
    Arc::into_inner(events).expect("the run is over").into_inner().expect("one thread")
}
