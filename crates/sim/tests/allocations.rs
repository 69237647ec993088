//! The hot path allocates nothing: once a run has warmed up, its events happen in memory that it already has.

#[path = "../benches/cost/peers.rs"]
mod peers;

use hopcast_protocols::time::{Duration, Instant};
use hopcast_sim::run::Simulation;

/// Allocations of a scenario of `benches/peers` in its second `span`, and the events in it.
fn second_half(name: &str, span: Duration) -> (u64, u64) {
    let duration = format!("duration={} s", 2 * span.as_nanos() / 1_000_000_000);
    let mut simulation = Simulation::new(&peers::scenario(name, &[&duration]), 1).expect("all flows have paths");
    simulation.run_until(Instant::START + span);
    let before = simulation.events();
    // Short of the end by a nanosecond: the end closes the measurement.
    let until = simulation.end() - Duration::from_nanos(1);
    let made = allocation_counter::measure(|| simulation.run_until(until));
    (made.count_total, simulation.events() - before)
}

fn check(name: &str, span: Duration) {
    let (allocations, events) = second_half(name, span);
    eprintln!("{name}: {allocations} in {events}");
    assert!(events > 100_000, "{name}: only {events} events, nothing is shown");
    assert_eq!(allocations, 0, "{name}: allocations in {events} events");
}

#[test]
fn tcp_over_a_string_of_hops() {
    check("string", Duration::from_secs(40));
}

#[test]
fn udp_in_a_saturated_cell() {
    check("cell-20", Duration::from_secs(20));
}

#[test]
fn tcp_over_a_grid() {
    check("grid", Duration::from_secs(40));
}

/// The counter counts.
#[test]
fn setting_up_allocates() {
    let scenario = peers::scenario("string", &[]);
    let made = allocation_counter::measure(|| drop(Simulation::new(&scenario, 1)));
    assert!(made.count_total > 8, "{} allocations", made.count_total);
}
