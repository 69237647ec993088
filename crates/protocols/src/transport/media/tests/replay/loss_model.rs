//! GCC's estimate by loss with rules that can be libwebrtc's, as hopcast has them, or str0m's: it tells which rule makes a difference.
//! Rates in b/s, times in seconds, sizes in bytes.

use std::collections::VecDeque;

use super::{Answer, CONFIG, Event, State};

/// Which rules are str0m's.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LossRules {
    /// The mean loss is that of all observations. Else: without the best and the worst one, from the fourth on.
    pub(crate) mean: bool,
    /// More bandwidth is preferred by `d / 0.002 + |d|`, in b/s, where `d` is 0.2 less the loss. Else: by `d / (0.002 + |d|)`, in kb/s.
    pub(crate) preference: bool,
    /// Candidates end where loss, delay and the last rise allow, or at the present estimate, and later above it. Else: where the
    /// last rise allows, or at the present estimate; the acknowledged rate is one unless the application is the limit.
    pub(crate) candidates: bool,
    /// The estimate may be below what arrives, and only its result is limited by loss and delay. Else: both are limited.
    pub(crate) floor: bool,
    /// A hold keeps the estimate itself down. Else: its result alone, and not below what arrives.
    pub(crate) hold: bool,
    /// It begins at the start rate, follows delay for 2 s without losses, and takes what probes find. Else: it begins with the first
    /// estimate by delay, and counts from the third observation on.
    pub(crate) start: bool,
}

impl LossRules {
    pub(crate) const STR0M: Self =
        Self { mean: true, preference: true, candidates: true, floor: true, hold: true, start: true };

    /// str0m's rules without one of them, each by its name.
    pub(crate) fn without_one() -> [(&'static str, Self); 6] {
        let all = Self::STR0M;
        [
            ("mean", Self { mean: false, ..all }),
            ("preference", Self { preference: false, ..all }),
            ("candidates", Self { candidates: false, ..all }),
            ("floor", Self { floor: false, ..all }),
            ("hold", Self { hold: false, ..all }),
            ("start", Self { start: false, ..all }),
        ]
    }
}

/// What the model is told with a feedback.
struct Heard {
    at: f64,
    /// Of each packet: when it left, its size, and whether it is lost.
    packets: Vec<(f64, f64, bool)>,
    delay: f64,
    acknowledged: Option<f64>,
    probed: bool,
    application_limited: bool,
}

/// str0m's target rate after each feedback by these rules, from its estimates by delay and its acknowledged rates.
pub(crate) fn targets(events: &[Event], theirs: &[Answer], rules: LossRules) -> Vec<f64> {
    let mut model = LossModel::new(rules);
    let tell = |place: usize| {
        let Answer { by_delay, acknowledged, probed, .. } = theirs[place];
        (by_delay, acknowledged, probed.is_some(), false)
    };
    heard(events, tell).into_iter().map(|one| model.target(&one)).collect()
}

/// hopcast's estimate by loss after each feedback by these rules, from its estimates by delay and its acknowledged rates; `None`
/// before there is one.
pub(crate) fn estimates(events: &[Event], ours: &[State], rules: LossRules) -> Vec<Option<f64>> {
    let mut model = LossModel::new(rules);
    let tell = |place: usize| {
        let State { delay, acknowledged, application_limited, .. } = ours[place];
        (delay, acknowledged, false, application_limited)
    };
    let mut estimate = |one: &Heard| {
        model.on_feedback(one);
        (model.count >= 3).then_some(model.result)
    };
    heard(events, tell).iter().map(&mut estimate).collect()
}

fn heard(events: &[Event], tell: impl Fn(usize) -> (f64, Option<f64>, bool, bool)) -> Vec<Heard> {
    let (mut sent, mut heard) = (Vec::new(), Vec::new());
    for event in events {
        match event {
            Event::Sent { at, size, .. } => sent.push((*at as f64 / 1e9, f64::from(*size))),
            Event::Feedback { at, fates, .. } => {
                let packet = |(number, arrival): &(u64, Option<i64>)| {
                    let (left, size) = sent[usize::try_from(*number).expect("a packet of the log")];
                    (left, size, arrival.is_none())
                };
                let (delay, acknowledged, probed, application_limited) = tell(heard.len());
                let packets = fates.iter().map(packet).collect();
                heard.push(Heard { at: *at as f64 / 1e9, packets, delay, acknowledged, probed, application_limited });
            }
            _ => (),
        }
    }
    heard
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Delay,
    Increasing,
    Decreasing,
}

/// What was sent and lost in a quarter of a second, and the sending rate.
#[derive(Clone, Copy, Debug)]
struct Observation {
    sent: f64,
    lost: f64,
    rate: f64,
}

#[derive(Debug)]
struct LossModel {
    rules: LossRules,
    started: Option<f64>,
    observations: VecDeque<Observation>,
    partial: (f64, f64),
    last: Option<f64>,
    count: u32,
    bandwidth: f64,
    inherent: f64,
    acknowledged: Option<f64>,
    phase: Phase,
    result: f64,
    window: Option<f64>,
    window_most: f64,
    held_until: Option<f64>,
    hold: f64,
    held: f64,
    reduced: Option<f64>,
    padding: Option<(f64, f64)>,
}

impl LossModel {
    fn new(rules: LossRules) -> Self {
        let first = if rules.start { CONFIG.start_rate as f64 } else { f64::INFINITY };
        Self {
            rules,
            started: None,
            observations: VecDeque::new(),
            partial: (0.0, 0.0),
            last: None,
            count: 0,
            bandwidth: first,
            inherent: 0.01,
            acknowledged: None,
            phase: Phase::Delay,
            result: first,
            window: None,
            window_most: f64::INFINITY,
            held_until: None,
            hold: 0.3,
            held: f64::INFINITY,
            reduced: None,
            padding: None,
        }
    }

    /// str0m's target rate: that by delay unless losses limit it.
    fn target(&mut self, heard: &Heard) -> f64 {
        let started = *self.started.get_or_insert(heard.at);
        let follows = heard.packets.iter().all(|(.., is_lost)| !is_lost) && heard.at - started <= 2.0;
        if self.rules.start && (follows || heard.probed) {
            self.bandwidth = heard.delay;
        }
        if !(self.rules.start && follows) {
            self.on_feedback(heard);
        }
        let counts = self.rules.start || self.count >= 3;
        if self.phase == Phase::Delay || !counts { heard.delay } else { self.result.min(heard.delay) }
    }

    fn on_feedback(&mut self, heard: &Heard) {
        self.acknowledged = heard.acknowledged.or(self.acknowledged);
        let delay = heard.delay;
        if let Some(now) = self.observe(&heard.packets) {
            if self.bandwidth.is_infinite() {
                (self.bandwidth, self.result) = (delay, delay);
            }
            let (found, inherent) = self.most_likely(delay, heard.application_limited, now);
            if found < self.bandwidth {
                self.reduced = Some(now);
            }
            let found = self.bounded_rise(found, inherent, now);
            self.conclude(found, inherent, delay, now);
        }
        if self.rules.floor {
            self.result = self.bandwidth.min(delay).min(self.upper());
        }
    }

    /// Returns when the last packet of a new observation left.
    fn observe(&mut self, packets: &[(f64, f64, bool)]) -> Option<f64> {
        let times = || packets.iter().map(|(left, ..)| *left);
        let (first, last) = (times().fold(f64::INFINITY, f64::min), times().fold(0.0, f64::max));
        self.partial.0 += packets.iter().map(|(_, size, _)| size).sum::<f64>();
        self.partial.1 += packets.iter().filter(|(.., is_lost)| *is_lost).map(|(_, size, _)| size).sum::<f64>();
        let before = *self.last.get_or_insert(if self.rules.start { last } else { first });
        let span = last - before;
        if span <= 0.25 {
            return None;
        }
        self.last = Some(last);
        let (sent, lost) = core::mem::take(&mut self.partial);
        self.observations.push_front(Observation { sent, lost, rate: 8.0 * sent / span });
        self.observations.truncate(15);
        self.count += 1;
        Some(last)
    }

    /// Each observation with its weight, the newest first.
    fn weighted(&self) -> impl Iterator<Item = (f64, &Observation)> {
        self.observations.iter().enumerate().map(|(age, one)| (libm::pow(0.9, age as f64), one))
    }

    fn loss(&self) -> f64 {
        let of = |(weight, one): (f64, &Observation)| (weight * one.sent, weight * one.lost);
        let add = |(a, b): (f64, f64), (c, d): (f64, f64)| (a + c, b + d);
        let (sent, lost) = self.weighted().map(of).fold((0.0, 0.0), add);
        if self.rules.mean || self.count <= 3 {
            return lost / sent;
        }
        let share = |one: &Observation| one.lost / one.sent;
        // Of equal ones the oldest.
        let oldest = || self.weighted().collect::<Vec<_>>().into_iter().rev();
        let best =
            oldest().filter(|(_, one)| share(one) < 1.0).reduce(|a, b| if share(b.1) < share(a.1) { b } else { a });
        let worst =
            oldest().filter(|(_, one)| share(one) > 0.0).reduce(|a, b| if share(b.1) > share(a.1) { b } else { a });
        let mut rates: Vec<f64> = self.observations.iter().map(|one| one.rate).collect();
        rates.sort_by(f64::total_cmp);
        let middle = rates.len() / 2;
        let median =
            if rates.len().is_multiple_of(2) { (rates[middle - 1] + rates[middle]) / 2.0 } else { rates[middle] };
        let is_sudden = 2.0 * median <= worst.map_or(0.0, |(_, one)| one.rate);
        let (left_sent, left_lost) = [best, worst].into_iter().flatten().map(of).fold((0.0, 0.0), add);
        if is_sudden || sent <= left_sent { lost / sent } else { (lost - left_lost) / (sent - left_sent) }
    }

    fn feasible(bandwidth: f64, inherent: f64) -> f64 {
        inherent.max(0.001).min((0.05 + 1e5 / bandwidth).min(1.0))
    }

    fn probability(bandwidth: f64, inherent: f64, rate: f64) -> f64 {
        let above = if rate > bandwidth { (1.0 - inherent) * (rate - bandwidth) / rate } else { 0.0 };
        (inherent + above).clamp(1e-6, 1.0 - 1e-6)
    }

    fn stepped(&self, bandwidth: f64, inherent: f64) -> f64 {
        let (mut first, mut second) = (0.0, 0.0);
        for (weight, one) in self.weighted() {
            let p = Self::probability(bandwidth, inherent, one.rate);
            let (lost, kept) = (one.lost / 1e3, (one.sent - one.lost) / 1e3);
            first += weight * (lost / p - kept / (1.0 - p));
            second -= weight * (lost / (p * p) + kept / ((1.0 - p) * (1.0 - p)));
        }
        Self::feasible(bandwidth, inherent - 0.75 * first / second.min(-1e-6))
    }

    fn objective(&self, bandwidth: f64, inherent: f64) -> f64 {
        let distance = 0.2 - self.loss();
        let (turn, rate) = match self.rules.preference {
            true => (distance / 0.002 + distance.abs(), bandwidth),
            false => (distance / (0.002 + distance.abs()), bandwidth / 1e3),
        };
        let preference = turn * (0.0002 * rate + 0.02 * libm::log1p(rate));
        let of = |(weight, one): (f64, &Observation)| {
            let p = Self::probability(bandwidth, inherent, one.rate);
            weight * (one.lost * libm::log(p) + (one.sent - one.lost) * libm::log(1.0 - p) + preference * one.sent)
        };
        self.weighted().map(of).sum()
    }

    fn upper(&self) -> f64 {
        let excess = if self.count == 0 { 0.0 } else { self.loss() - 0.05 };
        if excess > 0.0 { 1e5 / excess } else { f64::INFINITY }
    }

    fn lower(&self) -> f64 {
        if self.rules.floor { 0.0 } else { self.acknowledged.unwrap_or(0.0).max(CONFIG.min_rate as f64) }
    }

    fn most_likely(&self, delay: f64, application_limited: bool, now: f64) -> (f64, f64) {
        let window = if self.phase == Phase::Delay { f64::INFINITY } else { self.window_most };
        let (most, acknowledged) = if self.rules.candidates {
            let since = self.reduced.map_or(0.0, |at| (now - at).clamp(0.0, 60.0));
            let later = since * self.acknowledged.unwrap_or(0.0);
            (window.min(self.upper()).min(delay) + later, self.acknowledged)
        } else {
            let is_padded = self.padding.is_some_and(|(since, _)| since + 2.0 >= now);
            (window, self.acknowledged.filter(|_| !application_limited || is_padded))
        };
        let factors = [1.02, 1.0, 0.95].map(|factor| factor * self.bandwidth);
        let candidates =
            factors.into_iter().chain(acknowledged).chain(Some(delay).filter(|rate| *rate > self.bandwidth));
        let (mut best, mut greatest) = ((self.bandwidth, self.inherent), f64::NEG_INFINITY);
        for bandwidth in candidates {
            let bandwidth = bandwidth.min(most.max(self.bandwidth));
            let inherent = self.stepped(bandwidth, Self::feasible(bandwidth, self.inherent));
            let objective = self.objective(bandwidth, inherent);
            if objective > greatest || (objective == greatest && bandwidth > best.0 && !self.rules.candidates) {
                (best, greatest) = ((bandwidth, inherent), objective);
            }
        }
        best
    }

    fn rises(&self, old: f64, new: f64) -> bool {
        self.phase != Phase::Delay && (old < new || (old == new && self.phase == Phase::Increasing))
    }

    fn bounded_rise(&self, found: f64, inherent: f64, now: f64) -> f64 {
        let present = self.bandwidth;
        let mut found = if self.loss() > inherent { found.min(present) } else { found };
        if self.phase == Phase::Delay {
            return found;
        }
        if self.window.is_some_and(|since| since + 0.3 > now) {
            found = found.min(self.window_most);
        }
        if let Some(rate) = self.acknowledged.filter(|_| self.rises(present, found)) {
            let is_held = self.held.is_finite() && rate < 1.3 * self.held;
            found = found.min(rate * if is_held { 1.2 } else { 1.5 }).max(present);
            if self.phase == Phase::Decreasing && found == present {
                found += 1.0;
            }
        }
        found
    }

    fn conclude(&mut self, found: f64, inherent: f64, delay: f64, now: f64) {
        let before = if self.rules.floor { self.bandwidth } else { self.result };
        let bounded = if self.rules.floor { found } else { found.min(self.upper()).min(delay).max(self.lower()) };
        (self.bandwidth, self.inherent) =
            if bounded < found { (bounded, 0.0) } else { (found.max(self.lower()), inherent) };
        if self.phase == Phase::Decreasing && self.held_until.is_some_and(|until| until > now) && bounded < delay {
            self.held = self.held.max(self.lower());
            self.result = bounded.min(self.held);
            if self.rules.hold {
                self.bandwidth = self.result;
            }
            return;
        }
        let is_limited = bounded < delay;
        let keeps = match self.padding.filter(|_| self.phase == Phase::Increasing && !self.rules.hold) {
            Some((since, rate)) => since + 2.0 >= now || rate < bounded,
            None => true,
        };
        if is_limited && self.rises(before, bounded) && keeps {
            if self.padding.is_none_or(|(_, rate)| bounded > rate) {
                self.padding = Some((now, bounded));
            }
            self.phase = Phase::Increasing;
        } else if is_limited {
            if self.phase != Phase::Decreasing {
                (self.held_until, self.held) = (Some(now + self.hold), bounded);
                self.hold = (2.0 * self.hold).min(60.0);
            }
            (self.phase, self.padding) = (Phase::Decreasing, None);
        } else {
            (self.phase, self.padding) = (Phase::Delay, None);
            (self.held_until, self.hold, self.held) = (None, 0.3, f64::INFINITY);
        }
        self.result = bounded;
        if self.phase != Phase::Delay && self.window.is_none_or(|since| since + 0.3 < now) {
            self.window_most = (1.3 * self.bandwidth).max(5e3);
            self.window = Some(now);
        }
    }
}
