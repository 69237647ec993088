//! The hot path allocates nothing: once a run has warmed up, its events use existing memory. Only a queue that grows
//! longer than ever before allocates.

#[path = "../benches/cost/peers.rs"]
mod peers;
#[path = "../benches/cost/roaming.rs"]
mod roaming;

use allocation_counter::AllocationInfo;
use hopcast_protocols::time::{Duration, Instant};
use hopcast_protocols::transport::tcp::MAX_RANGES;
use hopcast_sim::run::Simulation;

/// Bytes that a receiver of TCP takes when data first reach it out of order, once in a connection's life: that may come
/// at any time. Start and end of each of [`MAX_RANGES`] ranges.
const OUT_OF_ORDER: u64 = 16 * MAX_RANGES as u64;

/// Bytes of a ring with room for 32 packets of a queue.
const LONG_RING: u64 = 32 * 16;

/// A packet, and the counters of those that share it.
const PACKET: u64 = 128 + 16;

/// What a scenario of `benches/peers` allocates in its second `span`, and the events in it.
fn second_half(name: &str, span: Duration) -> (AllocationInfo, u64) {
    let duration = format!("duration={} s", 2 * span.as_nanos() / 1_000_000_000);
    let mut simulation = Simulation::new(&peers::scenario(name, &[&duration]), 1).expect("all flows have paths");
    simulation.run_until(Instant::START + span);
    let before = simulation.events();
    // Short of the end by a nanosecond: the end closes the measurement.
    let until = simulation.end() - Duration::from_nanos(1);
    let made = allocation_counter::measure(|| simulation.run_until(until));
    (made, simulation.events() - before)
}

/// Nothing is allocated but the room for data out of order, for some of the `connections`; longer rings for queues that are
/// longer than ever before, each of which doubles: of `queues` of them at the most; and `packets` by which those that are on their
/// way are more than ever before.
fn check(name: &str, span: Duration, connections: u64, queues: u64, packets: u64) {
    let (made, events) = second_half(name, span);
    assert!(events > 100_000, "{name}: only {events} events, nothing is shown");
    assert!(made.count_total <= connections + queues + packets, "{name}: {made:?} in {events} events");
    let longest = connections * OUT_OF_ORDER + queues * LONG_RING + packets * PACKET;
    assert!(made.bytes_total <= longest, "{name}: {made:?} in {events} events");
}

#[test]
fn tcp_over_a_string_of_hops() {
    check("string", Duration::from_secs(40), 1, 2, 4);
}

#[test]
fn udp_in_a_saturated_cell() {
    check("cell-20", Duration::from_secs(20), 0, 0, 0);
}

#[test]
fn tcp_over_a_grid() {
    check("grid", Duration::from_secs(40), 6, 2, 4);
}

/// Legs are drawn, lists of neighbours made again, links found for each frame: all in memory that was there, but for lists that
/// are longer than ever before, as their station comes into the middle.
#[test]
fn nodes_on_the_move() {
    let scenario = roaming::scenario(50, 120, 1);
    let mut simulation = Simulation::new(&scenario, 1).expect("the nearest node is a neighbour");
    simulation.run_until(Instant::START + Duration::from_secs(60));
    let before = simulation.events();
    let until = simulation.end() - Duration::from_nanos(1);
    let made = allocation_counter::measure(|| simulation.run_until(until));
    let events = simulation.events() - before;
    assert!(events > 100_000, "only {events} events, nothing is shown");
    assert!(made.count_total <= 50, "{made:?} in {events} events");
}

/// The counter counts.
#[test]
fn setting_up_allocates() {
    let scenario = peers::scenario("string", &[]);
    let made = allocation_counter::measure(|| drop(Simulation::new(&scenario, 1)));
    assert!(made.count_total > 8, "{} allocations", made.count_total);
}
