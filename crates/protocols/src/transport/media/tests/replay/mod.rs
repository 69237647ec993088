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
//! `benches/gcc` compiles these files as well. It writes the logs, and what str0m's GCC answers to them.

mod answers;
#[cfg(test)]
mod kept;
mod loss_model;
mod model;

pub(crate) use answers::Answer;
pub(crate) use loss_model::{LossRules, estimates, targets};
pub(crate) use model::{Input, Rules, rates};

use crate::time::{Duration, Instant};
use crate::transport::media::gcc::{Config, Gcc};
use crate::transport::media::{Arrival, Ecn, Feedback, MediaCongestionControl, PacketResult, SentPacket};

/// The unit of arrivals in transport-wide feedback, in nanoseconds.
pub(crate) const TICK: i64 = 250_000;

/// The session of the logs. Its least rate is that of any session of str0m.
pub(crate) const CONFIG: Config = Config { min_rate: 40_000, start_rate: 300_000, max_rate: 2_500_000 };

/// What happened, at a time in nanoseconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    Sent { at: u64, size: u32, probe: Option<u32> },
    Timer { at: u64 },
    Probe { at: u64, id: u32, rate: u64, packets: u32, bytes: u32 },
    Feedback { at: u64, rtt: Option<u64>, fates: Vec<Fate> },
}

/// The number of a packet, and when it arrived, in ticks of the receiver's clock; `None` where it counts as lost.
pub(crate) type Fate = (u64, Option<i64>);

/// Reads a log.
pub(crate) fn read(text: &str) -> Vec<Event> {
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
pub(crate) struct State {
    pub(crate) at: u64,
    pub(crate) estimate: f64,
    /// What delay alone allows.
    pub(crate) delay: f64,
    pub(crate) acknowledged: Option<f64>,
    /// 1 overuse, 0 normal, -1 underuse.
    pub(crate) usage: f64,
    /// What losses allow.
    pub(crate) loss: Option<f64>,
    pub(crate) application_limited: bool,
}

/// GCC over a log: its state after each feedback. Probes have to be those of the log.
pub(crate) fn replay(events: &[Event]) -> Vec<State> {
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
        "loss_estimate_bps" => state.loss = Some(value),
        "application_limited" => state.application_limited = value > 0.0,
        _ => (),
    });
    state
}

/// The line by which two rates are the same.
pub(crate) const LINE: f64 = 0.05;

/// The share of pairs within [`LINE`] of the second one, in per cent.
pub(crate) fn share(pairs: impl ExactSizeIterator<Item = (f64, f64)>) -> f64 {
    let count = pairs.len();
    let within = pairs.filter(|(one, other)| (one / other - 1.0).abs() <= LINE).count();
    100.0 * within as f64 / count as f64
}

/// What is compared over one log, each a share of feedbacks in per cent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Comparison {
    /// The target rates.
    pub(crate) targets: f64,
    /// The verdicts of the detectors.
    pub(crate) detectors: f64,
    /// The rate controls, str0m's with hopcast's acknowledged rate and detector.
    pub(crate) controls: f64,
    /// The model with hopcast's rules, and hopcast's estimate by delay.
    pub(crate) own: f64,
    /// The model with str0m's rules, and str0m's rate control.
    pub(crate) theirs: f64,
    /// The same with one of hopcast's rules, in the order of [`Rules::without_one`].
    pub(crate) without: [f64; 6],
    /// The model with str0m's rules and input, and str0m's estimate by delay.
    pub(crate) whole: f64,
    /// The model of the estimate by loss with hopcast's rules, and hopcast's, where there is one.
    pub(crate) own_loss: f64,
    /// The same with str0m's rules and its estimate by delay, and str0m's target rate.
    pub(crate) target: f64,
    /// The same with one of hopcast's rules, in the order of [`LossRules::without_one`].
    pub(crate) target_without: [f64; 6],
}

/// Compares hopcast and str0m over a log.
pub(crate) fn compare(events: &[Event], ours: &[State], theirs: &[Answer]) -> Comparison {
    assert_eq!(ours.len(), theirs.len(), "an answer to each feedback");
    let pairs = || ours.iter().zip(theirs);
    assert!(pairs().all(|(one, other)| one.at == other.at), "answers are those to this log");
    let same = pairs().filter(|(one, other)| one.usage == other.usage).count();
    let model = |rules, input| rates(events, ours, theirs, rules, input);
    let to_control = |rates: Vec<f64>| share(rates.iter().copied().zip(theirs.iter().map(|one| one.control)));
    let whole = model(Rules::STR0M, Input::Str0m);
    let to_target =
        |rules| share(targets(events, theirs, rules).iter().copied().zip(theirs.iter().map(|one| one.target)));
    let by_loss = estimates(events, ours, LossRules::default()).into_iter().zip(ours);
    let own_loss: Vec<(f64, f64)> = by_loss.filter_map(|(one, other)| Some((one?, other.loss?))).collect();
    Comparison {
        targets: share(pairs().map(|(one, other)| (one.estimate, other.target))),
        detectors: 100.0 * same as f64 / ours.len() as f64,
        controls: share(pairs().map(|(one, other)| (one.delay, other.control))),
        own: share(model(Rules::default(), Input::Hopcast).iter().copied().zip(ours.iter().map(|one| one.delay))),
        theirs: to_control(model(Rules::STR0M, Input::Hopcast)),
        without: Rules::without_one().map(|(_, rules)| to_control(model(rules, Input::Hopcast))),
        whole: share(whole.iter().copied().zip(theirs.iter().map(|one| one.by_delay))),
        own_loss: share(own_loss.into_iter()),
        target: to_target(LossRules::STR0M),
        target_without: LossRules::without_one().map(|(_, rules)| to_target(rules)),
    }
}
