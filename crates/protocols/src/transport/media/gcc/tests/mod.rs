//! The parts by hand, at exact instants.

mod delay;
mod loss;
mod probe;
mod properties;
mod rates;
mod session;

use super::super::{Arrival, PacketResult, SentPacket};
use crate::time::{Duration, Instant};

fn at(millis: u64) -> Instant {
    Instant::START + Duration::from_millis(millis)
}

fn near(got: f64, expected: f64) {
    assert!((got - expected).abs() <= 1e-9 * expected.abs().max(1.0), "{got}, not {expected}");
}

fn packet(number: u64, sent: u64, size: u32) -> SentPacket {
    SentPacket { number, size, sent: at(sent), probe: None, in_flight: 0 }
}

fn result(packet: SentPacket, arrival: Option<u64>) -> PacketResult {
    let arrival = arrival.map(|time| Arrival { time: at(time), ecn: hopcast_wire::ecn::Ecn::NotEct });
    PacketResult { packet, arrival }
}
