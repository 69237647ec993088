//! Pushes packets of ADTFRC through a pair of connections back to back, for an outside clock:
//! `cargo build --release -p hopcast-protocols --example adtfrc_cost`, then `time target/release/examples/adtfrc_cost`.
//!
//! Each packet is written, sent, encoded, decoded, measured, classified and delivered; feedback goes back once a round trip
//! of 100 ms. One packet in a thousand is lost.
#![expect(clippy::print_stdout, reason = "a program that says what it did")]

use std::collections::VecDeque;

use hopcast_protocols::time::{Duration, Instant};
use hopcast_protocols::transport::adtfrc;
use hopcast_protocols::transport::dccp::{Config, Congestion, Connection, Output, Packet, Payload};

const PACKETS: u64 = 5_000_000;
const DELAY: Duration = Duration::from_millis(50);

fn main() {
    let congestion = Congestion::Adtfrc(adtfrc::Config::default());
    let config = Config { congestion, sequence_window: 1 << 20, ..Config::default() };
    let mut ends = [Connection::connect(config.clone(), 1), Connection::listen(config, 2)];
    // What is on the way to each end.
    let mut wires: [VecDeque<(Instant, Packet)>; 2] = [VecDeque::new(), VecDeque::new()];
    let (mut now, mut sent, mut delivered) = (Instant::START, 0_u64, 0_u64);
    while delivered < PACKETS {
        for side in 0..2 {
            while ends[0].handle_write(Payload { unit: sent, len: 1000 }, now) {}
            loop {
                match ends[side].poll_output(now) {
                    Some(Output::Transmit(packet)) => {
                        sent += u64::from(packet.payload.len > 0);
                        if packet.payload.len == 0 || !sent.is_multiple_of(1000) {
                            wires[1 - side].push_back((now + DELAY, packet));
                        }
                    }
                    Some(Output::Deliver(_)) => delivered += 1,
                    Some(_) => {}
                    None => break,
                }
            }
        }
        let arrivals = wires.iter().filter_map(|wire| wire.front().map(|(at, _)| *at));
        let timers = ends.iter().filter_map(Connection::poll_timeout);
        now = now.max(arrivals.chain(timers).min().expect("something is always under way"));
        for (end, wire) in ends.iter_mut().zip(&mut wires) {
            if end.poll_timeout().is_some_and(|due| due <= now) {
                end.handle_timeout(now);
            }
            if wire.front().is_some_and(|&(at, _)| at <= now)
                && let Some((_, packet)) = wire.pop_front()
            {
                end.handle_packet(&packet, now);
            }
        }
    }
    let statistics = ends[1].statistics();
    println!("{delivered} packets in {now}, {} with feedback", statistics.feedback_sent);
}
