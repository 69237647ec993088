//! Benchmarks of parts of a run.

use core::hint::black_box;

use hopcast_protocols::random::{Purpose, Stream};
use hopcast_protocols::time::{Duration, Instant};
use hopcast_protocols::transport::tcp::{Config, Connection, Output, Segment, State};
use hopcast_radio::mac::edca::UserPriority;
use hopcast_radio::mac::{self, Payload, QueueSpace, StationId};
use hopcast_radio::medium::Medium;
use hopcast_radio::reception::{Reception, Rules, Threshold};
use hopcast_radio::units::{Power, PowerRatio};
use hopcast_sim::engine::{Engine, Loss, Outgoing, Port, Reaction, Upper};

use crate::clock::user_seconds;
use crate::peers;

/// One piece.
pub(crate) struct Piece {
    /// What an operation is.
    pub(crate) name: &'static str,
    /// Carries out at least this number of operations and returns their number.
    run: fn(u64) -> u64,
}

/// All pieces.
pub(crate) const ALL: &[Piece] = &[
    Piece { name: "TCP segment between two ends", run: tcp_segments },
    Piece { name: "host timer among 64", run: timers::<64> },
    Piece { name: "host timer among 4096", run: timers::<4096> },
    Piece { name: "backoff draw", run: draws },
    Piece { name: "scenario of 36 nodes read", run: scenarios },
];

impl Piece {
    /// Operations and user CPU seconds: about a fifth of a second, the fastest of three rounds.
    pub(crate) fn measure(&self) -> (u64, f64) {
        let timed = |operations| {
            let start = user_seconds();
            let done = (self.run)(operations);
            (done, user_seconds() - start)
        };
        let mut operations = 16;
        while timed(operations).1 < 0.2 {
            operations *= 2;
        }
        let per = |&(done, seconds): &(u64, f64)| seconds / done as f64;
        let rounds = (0..3).map(|_| timed(operations));
        rounds.min_by(|one, other| per(one).total_cmp(&per(other))).expect("there are three rounds")
    }
}

/// Data one way and acknowledgements back over a path that loses nothing, 10 ms each way.
fn tcp_segments(operations: u64) -> u64 {
    let mut ends = [Connection::connect(Config::default(), 1), Connection::listen(Config::default(), 2)];
    let mut now = Instant::START;
    let mut on_the_way: [Vec<Segment>; 2] = [Vec::new(), Vec::new()];
    let mut carried = 0;
    while carried < operations {
        if ends[0].state() == State::Established {
            ends[0].handle_write(u32::MAX, now);
        }
        ends[1].handle_read(u32::MAX, now);
        for (end, sent) in ends.iter_mut().zip(&mut on_the_way) {
            while let Some(output) = end.poll_output(now) {
                if let Output::Transmit(segment) = output {
                    sent.push(segment);
                }
            }
        }
        now += Duration::from_millis(10);
        for (from, segments) in on_the_way.iter_mut().enumerate() {
            carried += segments.len() as u64;
            segments.drain(..).for_each(|segment| ends[1 - from].handle_segment(&segment, now));
        }
        for end in &mut ends {
            if end.poll_timeout().is_some_and(|timeout| timeout <= now) {
                end.handle_timeout(now);
            }
        }
    }
    carried
}

/// Hosts that only wake up, each at its own interval.
struct Sleepers(Vec<(Instant, Duration)>);

/// What they send: nothing.
#[derive(Clone, Copy, Debug)]
struct Nothing;

impl Payload for Nothing {
    fn octets(&self) -> u32 {
        0
    }
}

impl Upper for Sleepers {
    type Packet = Nothing;
    fn handle_packet(&mut self, _: Port, _: &Nothing, _: Option<StationId>, _: Instant) -> Reaction {
        Reaction::None
    }
    fn handle_sent(&mut self, _: Port, _: Nothing, _: Instant) -> bool {
        false
    }
    fn handle_drop(&mut self, _: Port, _: Nothing, _: Option<StationId>, _: Loss, _: Instant) {}
    fn handle_timeout(&mut self, host: u32, now: Instant) {
        let (next, interval) = &mut self.0[host as usize];
        *next = now + *interval;
    }
    fn poll_timeout(&self, host: u32) -> Option<Instant> {
        Some(self.0[host as usize].0)
    }
    fn poll_output(
        &mut self,
        _: u32,
        _: impl Fn(u32, UserPriority) -> QueueSpace,
        _: Instant,
    ) -> Option<Outgoing<Nothing>> {
        None
    }
}

fn timers<const HOSTS: usize>(operations: u64) -> u64 {
    let interval = |host: usize| Duration::from_nanos(1_000_000 + 997 * host as u64);
    let sleepers = (0..HOSTS).map(|host| (Instant::START + interval(host), interval(host))).collect();
    let scenario = peers::scenario("string", &[]);
    let config = mac::Config {
        queue_packets: 1,
        ..mac::Config::new(scenario.radio.standard.phy(false), scenario.radio.data_rate)
    };
    let station = |index: u32| {
        let random = Stream::new(1, Purpose::Backoff, u64::from(index), 0);
        mac::Dcf::new(StationId(index), config.clone(), random)
    };
    let reception = Threshold {
        carrier_sense_threshold: Power::from_attowatts(1),
        capture: PowerRatio::from_ratio(10.0),
        rules: Rules::Cumulative,
        receive_thresholds: Vec::new(),
    };
    let medium = Medium::new(vec![Vec::new(); HOSTS], Reception::Threshold(reception));
    let mut engine = Engine::new(medium, (0..HOSTS as u32).map(station).collect(), Sleepers(sleepers));
    while engine.events() < operations {
        engine.run_until(engine.now() + Duration::from_millis(1));
    }
    engine.events()
}

fn draws(operations: u64) -> u64 {
    let mut stream = Stream::new(1, Purpose::Backoff, 0, 0);
    for _ in 0..operations {
        black_box(stream.below(32));
    }
    operations
}

fn scenarios(operations: u64) -> u64 {
    for _ in 0..operations {
        black_box(peers::scenario("grid", &[]));
    }
    operations
}
