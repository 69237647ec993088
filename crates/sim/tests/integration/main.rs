//! Whole scenarios: determinism, conservation, captures.

mod arp;
mod association;
mod captures;
mod careless;
mod cloud;
mod conservation;
mod determinism;
mod detours;
mod difference;
mod edca;
mod errors;
mod fairness;
mod fec;
mod interfaces;
mod interference_floor;
mod medium_access;
mod mixed;
mod motion;
mod rate_control;
mod real;
mod real_conversations;
mod real_tcp;
mod real_wires;
mod reception;
mod results;
mod routing;
mod scenarios;
mod standards;
mod standstill;
mod traffic;
mod worlds;

use hopcast_protocols::time::Instant;
use hopcast_sim::run::Simulation;
use proptest::prelude::*;

/// Runs a scenario to each of `stops`, in nanoseconds, and to its end, and checks each time that nothing has vanished.
fn run_with_checks(text: &str, seed: u64, mut stops: Vec<u64>) -> Result<Simulation, TestCaseError> {
    let scenario = scenarios::scenario(text);
    let mut simulation = Simulation::new(&scenario, seed).expect("all nodes are connected");
    stops.sort_unstable();
    for stop in stops.into_iter().map(Instant::from_nanos).chain([simulation.end()]) {
        simulation.run_until(stop);
        prop_assert_eq!(simulation.check(), Ok(()), "at {} of\n{}", stop, text);
    }
    Ok(simulation)
}
