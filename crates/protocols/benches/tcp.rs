//! What a TCP segment costs: `cargo bench -p hopcast-protocols`.
//!
//! Two ends back to back: a segment is made by one and taken by the other. Counted are segments of both directions, data
//! and acknowledgements; time is user CPU, so that what other programs take from the machine does not count.
#![expect(clippy::print_stdout, reason = "a program that prints a table")]

use hopcast_protocols::random::{Purpose, Stream};
use hopcast_protocols::time::{Duration, Instant};
use hopcast_protocols::transport::tcp::{Config, Connection, Output, Segment, State, Variant};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;

/// One way, in simulated time.
const DELAY: Duration = Duration::from_millis(10);

fn main() {
    println!("{:<10}{:>8}{:>12}{:>14}{:>20}", "variant", "loss", "timestamps", "segments", "segments/s of CPU");
    for variant in [Variant::Reno, Variant::NewReno, Variant::Sack, Variant::Cubic] {
        for (loss, timestamps) in [(0.0, false), (0.0, true), (0.01, true)] {
            let config = Config { variant, timestamps, min_rto: Duration::from_millis(200), ..Config::default() };
            let (segments, seconds) = measure(&config, loss);
            let per_second = segments as f64 / seconds;
            println!("{:<10}{loss:>8}{timestamps:>12}{segments:>14}{per_second:>20.0}", format!("{variant:?}"));
        }
    }
}

/// Segments and CPU seconds: about a fifth of a second, the fastest of three rounds.
fn measure(config: &Config, loss: f64) -> (u64, f64) {
    let timed = |segments| {
        let start = user_seconds();
        let carried = carry(config, loss, segments);
        (carried, user_seconds() - start)
    };
    let mut segments = 1 << 14;
    while timed(segments).1 < 0.2 {
        segments *= 2;
    }
    let per = |&(carried, seconds): &(u64, f64)| seconds / carried as f64;
    let rounds = (0..3).map(|_| timed(segments));
    rounds.min_by(|one, other| per(one).total_cmp(&per(other))).expect("there are three rounds")
}

/// Data one way and acknowledgements back, until at least this number of segments was sent; returns their number.
fn carry(config: &Config, loss: f64, segments: u64) -> u64 {
    let mut ends = [Connection::connect(config.clone(), 1), Connection::listen(config.clone(), 2)];
    let mut draws = Stream::new(1, Purpose::Application, 0, 0);
    let mut now = Instant::START;
    let mut on_the_way: [Vec<Segment>; 2] = [Vec::new(), Vec::new()];
    let mut carried = 0;
    while carried < segments {
        if ends[0].state() == State::Established {
            ends[0].handle_write(u32::MAX, now);
        }
        for (end, sent) in ends.iter_mut().zip(&mut on_the_way) {
            drain(end, sent, now);
        }
        // Nothing is on the way where all was lost: the next timer comes first.
        if on_the_way.iter().all(Vec::is_empty) {
            now = ends.iter().filter_map(Connection::poll_timeout).min().expect("a sender has a timer").max(now);
        } else {
            now += DELAY;
        }
        let mut arriving = core::mem::take(&mut on_the_way);
        for from in 0..2 {
            let end = &mut ends[1 - from];
            for segment in arriving[from].drain(..) {
                carried += 1;
                if loss > 0.0 && segment.payload_len > 0 && draws.unit() < loss {
                    continue;
                }
                end.handle_segment(&segment, now);
                end.handle_read(u32::MAX, now);
                drain(end, &mut on_the_way[1 - from], now);
            }
        }
        for end in &mut ends {
            if end.poll_timeout().is_some_and(|timeout| timeout <= now) {
                end.handle_timeout(now);
            }
        }
    }
    carried
}

fn drain(end: &mut Connection, sent: &mut Vec<Segment>, now: Instant) {
    while let Some(output) = end.poll_output(now) {
        if let Output::Transmit(segment) = output {
            sent.push(segment);
        }
    }
}

fn user_seconds() -> f64 {
    let usage = getrusage(UsageWho::RUSAGE_SELF).expect("a process may ask for its own usage");
    usage.user_time().num_microseconds() as f64 * 1e-6
}
