//! The rate control of GCC with rules that can be libwebrtc's, as hopcast has them, or str0m's: it tells which rule makes a
//! difference. Rates in b/s, times in seconds.

use super::{Answer, CONFIG, Event, State};

/// Which rules are str0m's.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rules {
    /// Near the capacity is where the acknowledged rate is within three deviations of that at overuse, of which the latest weighs
    /// 95 %. Else: wherever an overuse was, and nothing arrived faster than three deviations above; the latest weighs 5 %.
    pub(crate) capacity: bool,
    /// Near the capacity each update adds 1 kb/s. Else: a packet in twice the response time, at least 4 kb/s in a second.
    pub(crate) addition: bool,
    /// After a hold the rate grows for all of the time since its last change. Else: from the end of the hold.
    pub(crate) hold: bool,
    /// An overuse leaves 85 % of the acknowledged rate, and growth ends at 1.5 times that. Else: 5 kb/s less, and 10 kb/s more.
    pub(crate) margins: bool,
    /// What a probe found counts during overuse as well, and may be far below what arrives.
    pub(crate) probes: bool,
    /// Nothing happens before the acknowledged rate is known.
    pub(crate) start: bool,
}

impl Rules {
    pub(crate) const STR0M: Self =
        Self { capacity: true, addition: true, hold: true, margins: true, probes: true, start: true };

    /// str0m's rules without one of them, each by its name.
    pub(crate) fn without_one() -> [(&'static str, Self); 6] {
        let all = Self::STR0M;
        [
            ("capacity", Self { capacity: false, ..all }),
            ("addition", Self { addition: false, ..all }),
            ("hold", Self { hold: false, ..all }),
            ("margins", Self { margins: false, ..all }),
            ("probes", Self { probes: false, ..all }),
            ("start", Self { start: false, ..all }),
        ]
    }
}

/// Whose acknowledged rate, detector and timer the rate control has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Input {
    Hopcast,
    /// Its timer updates the rate between feedbacks as well.
    Str0m,
}

/// The rate after each feedback.
pub(crate) fn rates(events: &[Event], ours: &[State], theirs: &[Answer], rules: Rules, input: Input) -> Vec<f64> {
    let mut control = Control::new(rules);
    let mut rates = Vec::new();
    for event in events {
        let heard = rates.len();
        match event {
            Event::Feedback { at, rtt, .. } => {
                let (one, other) = (&ours[heard], &theirs[heard]);
                let (usage, acknowledged, rtt) = match input {
                    Input::Hopcast => (one.usage, one.acknowledged, rtt.map(seconds)),
                    Input::Str0m => (other.usage, other.acknowledged, Some(other.rtt)),
                };
                control.update(usage, acknowledged, other.probed, rtt, seconds(*at));
                rates.push(control.rate);
            }
            Event::Timer { at } if input == Input::Str0m && heard > 0 => {
                let last = &theirs[heard - 1];
                // str0m's detector is trusted for this long.
                if seconds(*at) - seconds(last.at) <= (2.0 * last.rtt).min(0.05) && last.acknowledged.is_some() {
                    control.update(last.usage, last.acknowledged, None, Some(last.rtt), seconds(*at));
                }
            }
            _ => (),
        }
    }
    rates
}

fn seconds(nanos: u64) -> f64 {
    nanos as f64 / 1e9
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Hold,
    Increase,
    Decrease,
}

#[derive(Debug)]
struct Control {
    rules: Rules,
    rate: f64,
    acknowledged: f64,
    changed: Option<f64>,
    rtt: Option<f64>,
    phase: Phase,
    capacity: Capacity,
}

impl Control {
    fn new(rules: Rules) -> Self {
        let rate = CONFIG.start_rate as f64;
        let phase = if rules.hold { Phase::Increase } else { Phase::Hold };
        let capacity = if rules.capacity { Capacity::Str0m { mean: None, variance: 0.0 } } else { Capacity::LIBWEBRTC };
        Self { rules, rate, acknowledged: rate, changed: None, rtt: None, phase, capacity }
    }

    fn set(&mut self, rate: f64, now: f64) {
        self.rate = rate.max(CONFIG.min_rate as f64);
        self.changed = Some(now);
    }

    fn update(&mut self, usage: f64, acknowledged: Option<f64>, probed: Option<f64>, rtt: Option<f64>, now: f64) {
        let Rules { hold, probes, start, .. } = self.rules;
        self.rtt = rtt.or(self.rtt);
        self.acknowledged = acknowledged.unwrap_or(self.acknowledged);
        if let Some(found) = probed.filter(|_| probes || usage <= 0.0) {
            let least = acknowledged.map_or(0.0, |rate| self.rate.min(0.85 * rate));
            self.set(if probes { found } else { found.max(least) }, now);
        } else if acknowledged.is_none() && start {
        } else if usage > 0.0 {
            self.overuse(acknowledged, now);
        } else if usage < 0.0 || (hold && self.phase == Phase::Decrease) {
            self.phase = Phase::Hold;
        } else {
            if !hold && self.phase == Phase::Hold {
                self.changed = Some(now);
            }
            self.phase = Phase::Increase;
            self.increase(now);
        }
    }

    fn overuse(&mut self, acknowledged: Option<f64>, now: f64) {
        if self.rules.hold {
            self.phase = Phase::Decrease;
        }
        if self.rules.capacity {
            self.capacity.on_overuse(self.acknowledged);
        }
        let rtt = self.rtt.unwrap_or(if self.rules.start { 0.1 } else { 0.2 });
        let waited = self.changed.is_none_or(|at| now - at >= rtt.clamp(0.01, 0.2) - 1e-9);
        match acknowledged {
            Some(rate) if waited || rate < 0.5 * self.rate => self.decrease(rate, now),
            None if waited => self.set(self.rate / 2.0, now),
            _ => (),
        }
    }

    fn decrease(&mut self, acknowledged: f64, now: f64) {
        let mut reduced = 0.85 * acknowledged;
        if !self.rules.margins && reduced > 5e3 {
            reduced -= 5e3;
        }
        if reduced > self.rate && !self.rules.capacity {
            reduced = self.capacity.mean().map_or(reduced, |mean| 0.85 * mean);
        }
        self.set(self.rate.min(reduced), now);
        if !self.rules.capacity {
            self.capacity.on_overuse(acknowledged);
        }
        self.phase = Phase::Hold;
    }

    fn increase(&mut self, now: f64) {
        let near = self.capacity.is_near(self.acknowledged);
        let limit = 1.5 * self.acknowledged + 10e3;
        if self.rate < limit {
            let since = self.changed.map_or(if self.rules.start { 0.0 } else { 1.0 }, |at| now - at);
            let growth = match (near, self.rules.addition) {
                (true, true) => 1e3,
                (true, false) => self.addition() * since,
                (false, _) => (self.rate * (libm::pow(1.08, since.min(1.0)) - 1.0)).max(1e3),
            };
            let most = if self.rules.margins { 1.5 * self.acknowledged } else { limit };
            self.rate = (self.rate + growth).min(most).max(CONFIG.min_rate as f64);
        }
        self.changed = Some(now);
    }

    fn addition(&self) -> f64 {
        let frame = self.rate / 30.0;
        let packet = frame / (frame / 9600.0).ceil();
        (packet / (2.0 * (self.rtt.unwrap_or(0.2) + 0.1))).max(4e3)
    }
}

/// What is known of the capacity.
#[derive(Debug)]
enum Capacity {
    /// In kb/s, as libwebrtc has it.
    Libwebrtc {
        mean: Option<f64>,
        variance: f64,
    },
    Str0m {
        mean: Option<f64>,
        variance: f64,
    },
}

impl Capacity {
    const LIBWEBRTC: Self = Self::Libwebrtc { mean: None, variance: 0.4 };

    fn mean(&self) -> Option<f64> {
        match self {
            Self::Libwebrtc { mean, .. } => mean.map(|mean| 1e3 * mean),
            Self::Str0m { mean, .. } => *mean,
        }
    }

    /// Mean, and three deviations.
    fn bounds(&self) -> Option<(f64, f64)> {
        match self {
            Self::Libwebrtc { mean, variance } => mean.map(|mean| (1e3 * mean, 3e3 * (variance * mean).sqrt())),
            Self::Str0m { mean, variance } => mean.map(|mean| (mean, 3.0 * variance.sqrt())),
        }
    }

    fn forget(&mut self) {
        match self {
            Self::Libwebrtc { mean, .. } => *mean = None,
            Self::Str0m { mean, variance } => (*mean, *variance) = (None, 0.0),
        }
    }

    fn on_overuse(&mut self, rate: f64) {
        let is_below = |(mean, deviation): (f64, f64)| rate < mean - deviation;
        let spread = self.bounds().is_some_and(|(_, deviation)| deviation > 0.0);
        if spread && self.bounds().is_some_and(is_below) {
            self.forget();
        }
        match self {
            Self::Libwebrtc { mean, variance } => {
                let sample = rate / 1e3;
                let new = mean.map_or(sample, |mean| 0.95 * mean + 0.05 * sample);
                let error = new - sample;
                *variance = (0.95 * *variance + 0.05 * error * error / new.max(1.0)).clamp(0.4, 2.5);
                *mean = Some(new);
            }
            Self::Str0m { mean, variance } => {
                if let Some(mean) = mean {
                    let error = rate - *mean;
                    *mean += 0.95 * error;
                    *variance = 0.05 * (*variance + 0.95 * error * error);
                } else {
                    *mean = Some(rate);
                }
            }
        }
    }

    /// Whether the rate grows slowly; forgets what a higher acknowledged rate disproves.
    fn is_near(&mut self, acknowledged: f64) -> bool {
        let Some((mean, deviation)) = self.bounds() else { return false };
        if acknowledged > mean + deviation && deviation > 0.0 {
            self.forget();
            return false;
        }
        match self {
            Self::Libwebrtc { .. } => true,
            Self::Str0m { .. } => (acknowledged - mean).abs() <= deviation,
        }
    }
}
