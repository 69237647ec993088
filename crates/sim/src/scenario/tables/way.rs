//! One direction of a wire or an access: capacity, delay, loss, and traces of them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::LinkTrace;
use super::super::declare::{computed, is, nothing};
use super::super::quantity::{Rates, Shares, Size, Steps as Given, Time, Times};
use super::super::traces::Traces;
use super::{Resolver, bytes, word};
use crate::wired::{Capacity, Config, Opportunities, SteppedRate, Steps};
use hopcast_protocols::time::Duration;
use hopcast_radio::queue::{CoDelConfig, Discipline, DualPi2Config, FqCoDelConfig, PieConfig};

/// File that says how a wire changes in time: a packet-delivery trace of Mahimahi, or a table of rate, delay and loss.
#[derive(Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Trace {
    /// Name of a file next to the scenario or in one of the trace directories.
    file: String,
    /// What happens after the last row of a table.
    #[schemars(extend("x-default" = computed("`stay` for a table; a trace of Mahimahi always repeats")))]
    end: Option<End>,
}

/// What happens after the last row of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, serde::Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum End {
    /// The values of the last row stay in force.
    Stay,
    /// The table begins again at the time of the last row, whose values are never in force.
    Repeat,
}

/// Queue of a wire.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Queue {
    /// Number of packets that the queue holds, not counting the one that is being sent.
    #[schemars(extend("minimum" = 1, "maximum" = 1_000_000, "x-default" = is(50, "as in ns-2 (Queue limit_ 50)")))]
    pub(super) packets: u32,
    /// Queue discipline: the packet that is dropped or marked, and when.
    #[schemars(extend("x-default" = is("drop-tail", "as in ns-2 (DropTail)")))]
    discipline: WireDiscipline,
    /// Whether the queue marks packets that can be marked (ECN, RFC 3168) instead of dropping them, for `codel`, `fq-codel` and
    /// `pie`. With `drop-tail`, packets that have waited for `target` are marked. `dualpi2` always marks.
    #[schemars(extend("x-default" = is(false, "a queue that only drops")))]
    ecn: bool,
    /// Acceptable wait in the queue, for `codel`, `fq-codel`, `pie`, `dualpi2`, and `drop-tail` with `ecn`.
    #[schemars(extend("minimum" = 1e-6, "maximum" = 10, "x-default" = computed("5 ms (RFC 8289, section 4); 15 ms for `pie` (RFC 8033, section 4.2) and `dualpi2` (RFC 9332, appendix A.1)")))]
    target: Option<Time>,
    /// Time for which packets must have waited longer than `target` before the queue drops one, for `codel` and `fq-codel`.
    #[schemars(extend("minimum" = 1e-6, "maximum" = 100, "x-default" = computed("100 ms (RFC 8289, section 4)")))]
    interval: Option<Time>,
    /// Amount that each flow may send in its turn, IP headers included, for `fq-codel`.
    #[schemars(extend("minimum" = 1, "maximum" = 1_000_000, "x-default" = computed("1514 B (RFC 8290, section 5.2)")))]
    quantum: Option<Size>,
}

/// Queue discipline of a wire.
#[derive(Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum WireDiscipline {
    /// A packet that finds the queue full is dropped.
    DropTail,
    /// Controlled delay, RFC 8289: the queue also drops its oldest packet while packets wait too long.
    Codel,
    /// Flow queues with controlled delay, RFC 8290: flows take turns, and each queue is kept short.
    FqCodel,
    /// Proportional integral controller, RFC 8033: packets are dropped as they come, with a probability that follows the wait.
    Pie,
    /// Two queues with coupled marking, RFC 9332: one for scalable transports (L4S), which is served first, one for all others.
    Dualpi2,
}

/// What differs in one direction.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Direction {
    /// Capacity in bits of IP packets per second, or a list of `[time, rate]`.
    #[schemars(extend("minimum" = 1, "maximum" = 1e12, "x-default" = computed("that of the table around this one, unless `trace` gives it")))]
    rate: Option<Rates>,
    /// Delay, or a list of `[time, delay]`.
    #[schemars(extend("minimum" = 0, "maximum" = 86_400, "x-default" = computed("that of the table around this one, unless `trace` gives it")))]
    delay: Option<Times>,
    /// Queue.
    #[schemars(extend("x-default" = nothing("that of the table around this one", "")))]
    queue: Option<Queue>,
    /// Share of packets that get lost, or a list of `[time, share]`.
    #[schemars(extend("x-default" = computed("that of the table around this one, unless `trace` gives it")))]
    loss: Option<Shares>,
    /// File that says how the capacity, the delay or the loss changes in time.
    #[schemars(extend("x-default" = nothing("that of the table around this one", "")))]
    trace: Option<Trace>,
}

impl Direction {
    /// Whether more than queue and losses differ.
    pub(super) fn has_capacity_or_delay(&self) -> bool {
        self.rate.is_some() || self.delay.is_some() || self.trace.is_some()
    }
}

/// The keys of one direction.
pub(super) struct Way {
    pub(super) rate: Option<Rates>,
    pub(super) delay: Option<Times>,
    pub(super) loss: Option<Shares>,
    pub(super) trace: Option<Trace>,
}

/// Values of the keys that are not given, and how `--explain` shows them.
pub(super) struct Otherwise<'a> {
    /// `None`: the rate must be given.
    pub(super) capacity: Option<Capacity>,
    pub(super) delay: Steps<Duration>,
    pub(super) loss: Steps<f64>,
    /// Rate, delay and loss as text.
    pub(super) told: [&'a str; 3],
    pub(super) source: &'a str,
}

/// The contents of a trace.
#[derive(Default)]
struct Traced {
    capacity: Option<Capacity>,
    delay: Option<Steps<Duration>>,
    loss: Option<Steps<f64>>,
}

impl Resolver<'_> {
    /// The wire of the direction at `path`, which is like `other` but for what is given. Reports what is wrong with it.
    pub(super) fn direction(&mut self, path: &[&str], given: &Direction, other: &Config) -> Option<Config> {
        let way = Way {
            rate: given.rate.clone(),
            delay: given.delay.clone(),
            loss: given.loss.clone(),
            trace: given.trace.clone(),
        };
        let queue = match &given.queue {
            Some(queue) => self.wire_queue(path, queue),
            None => (other.queue_packets, other.discipline),
        };
        let otherwise = Otherwise {
            capacity: Some(other.capacity.clone()),
            delay: other.delay.clone(),
            loss: other.loss.clone(),
            told: ["that of the table around this one"; 3],
            source: "default",
        };
        self.way(path, &way, queue, otherwise)
    }

    /// The wire of the direction at `path`, with this queue. Reports what is wrong with it.
    pub(super) fn way(
        &mut self,
        path: &[&str],
        way: &Way,
        (queue_packets, discipline): (u32, Discipline),
        otherwise: Otherwise<'_>,
    ) -> Option<Config> {
        let traced = match &way.trace {
            None => Traced::default(),
            Some(trace) => self.traced(path, trace)?,
        };
        let at = |key| [path, &[key]].concat();
        let [rate, delay, loss] = otherwise.told;
        let source = otherwise.source;
        let has_rate = traced.capacity.is_some();
        let given = way.rate.as_ref();
        let capacity =
            self.stepped(&at("rate"), given, traced.capacity, otherwise.capacity, (rate, source), |resolver, rates| {
                resolver.rate_in_steps(&at("rate"), rates)
            });
        if capacity.is_none() && given.is_none() && !has_rate {
            self.report(&at("rate"), "is missing", "a rate such as \"2 Mb/s\", or a trace that gives one");
        }
        let given = way.delay.as_ref();
        let delay =
            self.stepped(&at("delay"), given, traced.delay, Some(otherwise.delay), (delay, source), |_, times| {
                Some(Steps::new(Duration::ZERO, in_time(times, |time: Time| time.into())))
            });
        let given = way.loss.as_ref();
        let loss = self.stepped(&at("loss"), given, traced.loss, Some(otherwise.loss), (loss, source), |_, shares| {
            Some(Steps::new(0.0, in_time(shares, |share| share)))
        });
        Some(Config { capacity: capacity?, delay: delay?, queue_packets, discipline, loss: loss? })
    }

    /// Places and discipline of the queue of the direction at `path`. Reports what is wrong with it.
    pub(super) fn wire_queue(&mut self, path: &[&str], queue: &Queue) -> (u32, Discipline) {
        let at = |key| [path, &["queue", key]].concat();
        let steps = queue.ecn && queue.discipline == WireDiscipline::DropTail;
        let fair = queue.discipline == WireDiscipline::FqCodel;
        let controlled = fair || queue.discipline == WireDiscipline::Codel;
        let has_target = queue.discipline != WireDiscipline::DropTail || steps;
        for (key, is_given, in_use, of) in [
            ("target", queue.target.is_some(), has_target, "\"codel\", \"fq-codel\", \"pie\" or \"dualpi2\", or ecn"),
            ("interval", queue.interval.is_some(), controlled, "\"codel\" or \"fq-codel\""),
            ("quantum", queue.quantum.is_some(), fair, "\"fq-codel\""),
        ] {
            if is_given && !in_use {
                let problem = format!("is not a parameter of {}", word(&queue.discipline));
                self.report(&at(key), problem, format!("discipline = {of}"));
            }
        }
        let default = CoDelConfig::default();
        let time = |duration: Duration| Time(duration.as_secs_f64());
        let mut read = |key, given, default, source: &str| -> Time {
            self.ledger.pick(&at(key), given, || (time(default), source.into()))
        };
        let rfc_8289 = "default: RFC 8289, section 4";
        let discipline = match queue.discipline {
            WireDiscipline::DropTail if steps => {
                Discipline::Step(read("target", queue.target, default.target, rfc_8289).into())
            }
            WireDiscipline::DropTail => Discipline::DropTail,
            WireDiscipline::Dualpi2 => {
                let source = "default: RFC 9332, appendix A.1";
                let target = read("target", queue.target, DualPi2Config::default().target, source);
                Discipline::DualPi2(DualPi2Config { target: target.into() })
            }
            WireDiscipline::Pie => {
                let default = PieConfig::default();
                let target = read("target", queue.target, default.target, "default: RFC 8033, section 4.2");
                Discipline::Pie(PieConfig { target: target.into(), ecn: queue.ecn, ..default })
            }
            WireDiscipline::Codel | WireDiscipline::FqCodel => {
                let target = read("target", queue.target, default.target, rfc_8289);
                let interval = read("interval", queue.interval, default.interval, rfc_8289);
                if target.0 >= interval.0 {
                    let problem = format!("is not less than interval ({interval})");
                    let expected = "about a twentieth of interval (RFC 8289, section 4)";
                    self.report(&at("target"), problem, expected);
                }
                let [target, interval] = [target.into(), interval.into()];
                let codel = CoDelConfig { target, interval, ecn: queue.ecn, ..default };
                if fair {
                    let default = FqCoDelConfig::default();
                    let quantum = self.ledger.pick(&at("quantum"), queue.quantum, || {
                        (Size(default.quantum.into()), "default: quantum (RFC 8290, section 5.2)".into())
                    });
                    Discipline::FqCoDel(FqCoDelConfig { codel, quantum: bytes(quantum), ..default })
                } else {
                    Discipline::CoDel(codel)
                }
            }
        };
        (queue.packets, discipline)
    }

    /// The value of the key at `path`: given, of the trace, or `otherwise`. Notes it.
    fn stepped<G: core::fmt::Display, T>(
        &mut self,
        path: &[&str],
        given: Option<&G>,
        traced: Option<T>,
        otherwise: Option<T>,
        (told, source): (&str, &str),
        make: impl FnOnce(&mut Self, &G) -> Option<T>,
    ) -> Option<T> {
        match (given, traced) {
            (Some(_), Some(_)) => {
                self.report(path, "is also in the trace", "it in one of the two");
                None
            }
            (Some(given), None) => {
                self.ledger.note_given(path);
                make(self, given)
            }
            (None, Some(traced)) => {
                self.ledger.note(path, "as in the trace", "trace");
                Some(traced)
            }
            (None, None) => {
                if otherwise.is_some() {
                    self.ledger.note(path, told, source);
                }
                otherwise
            }
        }
    }

    fn rate_in_steps(&mut self, path: &[&str], rates: &Rates) -> Option<Capacity> {
        let values = in_time(rates, |rate| rate.0);
        let first = values.iter().map(|&(from, _)| from).min().unwrap_or(Duration::ZERO);
        if first > Duration::ZERO {
            self.report(path, format!("begins at {first}"), "a first step at 0 s: there is no rate before it");
            return None;
        }
        if values.iter().all(|&(_, rate)| rate == 0.0) {
            self.report(path, "is 0 at all times", "a rate above 0");
            return None;
        }
        Some(Capacity::Rate(SteppedRate::new(Steps::new(0.0, values))))
    }

    /// Contents of the trace of the direction at `path`; `None` if it can't be used, which is reported.
    fn traced(&mut self, path: &[&str], trace: &Trace) -> Option<Traced> {
        let at = |key| [path, &["trace", key]].concat();
        let found = Traces::new(self.source).link(&trace.file);
        let found = found.map_err(|(problem, expected)| self.report(&at("file"), problem, expected)).ok()?;
        let is_mahimahi = matches!(found, LinkTrace::Mahimahi(_));
        let by_default = || match is_mahimahi {
            true => (End::Repeat, "a trace of Mahimahi always repeats".into()),
            false => (End::Stay, "default: the last row stays in force".into()),
        };
        let end = self.ledger.pick(&at("end"), trace.end, by_default);
        let table = match found {
            LinkTrace::Mahimahi(_) if end == End::Stay => {
                self.report(&at("end"), "is not possible with a trace of Mahimahi", "\"repeat\", or no such key");
                return None;
            }
            LinkTrace::Mahimahi(opportunities) => return Some(Traced::of(opportunities)),
            LinkTrace::Table(table) => table,
        };
        if end == End::Repeat && table.end == Duration::ZERO {
            self.report(&at("end"), "needs the time at which the table begins again", "a last row that has it");
            return None;
        }
        let period = if end == End::Repeat { table.end } else { Duration::ZERO };
        if end == End::Repeat && table.rate.as_ref().is_some_and(|rates| is_silent_before(rates, period)) {
            self.report(&at("file"), "has only rates of 0 before its last row", "a rate above 0");
            return None;
        }
        Some(Traced {
            capacity: table
                .rate
                .map(|rates| Steps::new(0.0, rates).repeated(period))
                .map(|rate| Capacity::Rate(SteppedRate::new(rate))),
            delay: table.delay.map(|delays| Steps::new(Duration::ZERO, delays).repeated(period)),
            loss: table.loss.map(|losses| Steps::new(0.0, losses).repeated(period)),
        })
    }
}

impl Traced {
    fn of(opportunities: Opportunities) -> Self {
        Self { capacity: Some(Capacity::Opportunities(opportunities)), ..Self::default() }
    }
}

fn is_silent_before(rates: &[(Duration, f64)], end: Duration) -> bool {
    rates.iter().filter(|&&(from, _)| from < end).all(|&(_, rate)| rate == 0.0)
}

/// Values with the times from which they are in force.
fn in_time<T: Copy, V>(given: &Given<T>, value: impl Fn(T) -> V) -> Vec<(Duration, V)> {
    given.0.iter().map(|&(from, one)| (from.into(), value(one))).collect()
}
