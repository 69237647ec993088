//! Logs of what a session told its GCC, and GCC over them again.
//!
//! A log has one event per line. Times are nanoseconds since the event before:
//!
//! * `s TIME SIZE [PROBE]`: a packet left. Packets are numbered from 0.
//! * `t TIME`: the timer was due.
//! * `p TIME ID RATE PACKETS BYTES`: the session took out a probe.
//! * `f TIME RTT FATE…`: a feedback came, with the round trip in nanoseconds or `-`. `@N` says that the next fate is that of packet N. A
//!   fate is `x` for a loss, or the arrival in units of 250 µs since the arrival before it in the log.
//!
//! `benches/gcc` compiles this file as well, to write such logs and to compare.

use crate::time::{Duration, Instant};
use crate::transport::media::gcc::{Config, Gcc};
use crate::transport::media::{Arrival, Ecn, Feedback, MediaCongestionControl, PacketResult, SentPacket};

/// The unit of arrivals in transport-wide feedback, in nanoseconds.
pub(super) const TICK: i64 = 250_000;

/// The session of the logs: less than these rates no session of str0m has either.
pub(super) const CONFIG: Config = Config { min_rate: 40_000, start_rate: 300_000, max_rate: 2_500_000 };

/// What happened, at a time in nanoseconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Event {
    Sent { at: u64, size: u32, probe: Option<u32> },
    Timer { at: u64 },
    Probe { at: u64, id: u32, rate: u64, packets: u32, bytes: u32 },
    Feedback { at: u64, rtt: Option<u64>, fates: Vec<Fate> },
}

/// The number of a packet, and when it arrived, in ticks of the receiver's clock; `None` where it counts as lost.
pub(super) type Fate = (u64, Option<i64>);

/// Reads a log.
pub(super) fn read(text: &str) -> Vec<Event> {
    let (mut at, mut arrival, mut events) = (0, 0, Vec::new());
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let words: Vec<&str> = line.split(' ').collect();
        let number = |place: usize| words[place].parse::<u64>().expect("a number");
        let small = |place: usize| words[place].parse::<u32>().expect("a small number");
        at += number(1);
        events.push(match words[0] {
            "s" => Event::Sent { at, size: small(2), probe: (words.len() > 3).then(|| small(3)) },
            "t" => Event::Timer { at },
            "p" => Event::Probe { at, id: small(2), rate: number(3), packets: small(4), bytes: small(5) },
            "f" => {
                let rtt = (words[2] != "-").then(|| number(2));
                Event::Feedback { at, rtt, fates: read_fates(&words[3..], &mut arrival) }
            }
            other => panic!("no event {other}"),
        });
    }
    events
}

fn read_fates(words: &[&str], arrival: &mut i64) -> Vec<Fate> {
    let (mut next, mut fates) = (0, Vec::new());
    for word in words {
        if let Some(number) = word.strip_prefix('@') {
            next = number.parse().expect("a packet");
            continue;
        }
        let fate = (*word != "x").then(|| {
            *arrival += word.parse::<i64>().expect("an arrival");
            *arrival
        });
        fates.push((next, fate));
        next += 1;
    }
    fates
}

/// GCC after a feedback. Rates in b/s.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct State {
    pub(super) at: u64,
    pub(super) estimate: f64,
    /// What delay alone allows.
    pub(super) delay: f64,
    pub(super) acknowledged: Option<f64>,
    /// 1 overuse, 0 normal, -1 underuse.
    pub(super) usage: f64,
}

/// GCC over a log: its state after each feedback. Probes have to be those of the log.
pub(super) fn replay(events: &[Event]) -> Vec<State> {
    let mut gcc = Gcc::new(CONFIG);
    let (mut sent, mut states) = (Vec::new(), Vec::new());
    for event in events {
        match event {
            Event::Sent { at, size, probe } => {
                let number = sent.len() as u64;
                let packet =
                    SentPacket { number, size: *size, sent: Instant::from_nanos(*at), probe: *probe, in_flight: 0 };
                sent.push(packet);
                gcc.on_sent(&packet);
            }
            Event::Timer { at } => gcc.handle_timeout(Instant::from_nanos(*at)),
            Event::Probe { at, id, rate, .. } => {
                let probe = gcc.poll_probe(Instant::from_nanos(*at));
                assert_eq!(probe.map(|probe| (probe.id, probe.rate)), Some((*id, *rate)), "at {at} ns");
            }
            Event::Feedback { at, rtt, fates } => {
                let packets: Vec<PacketResult> = fates.iter().map(|fate| result(&sent, *fate)).collect();
                let rtt = rtt.map(Duration::from_nanos);
                gcc.on_feedback(&Feedback { now: Instant::from_nanos(*at), packets: &packets, rtt, in_flight: 0 });
                states.push(state(&gcc, *at));
            }
        }
    }
    states
}

fn result(sent: &[SentPacket], (number, arrival): Fate) -> PacketResult {
    let packet = sent[usize::try_from(number).expect("a packet of the log")];
    let at = |ticks: i64| Instant::from_nanos(u64::try_from(ticks * TICK).expect("after the start"));
    PacketResult { packet, arrival: arrival.map(|ticks| Arrival { time: at(ticks), ecn: Ecn::NotEct }) }
}

fn state(gcc: &Gcc, at: u64) -> State {
    let mut state = State { at, ..State::default() };
    gcc.metrics(&mut |name, value| match name {
        "estimate_bps" => state.estimate = value,
        "delay_estimate_bps" => state.delay = value,
        "acknowledged_bps" => state.acknowledged = Some(value),
        "usage" => state.usage = value,
        _ => (),
    });
    state
}
