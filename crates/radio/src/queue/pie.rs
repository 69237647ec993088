//! A queue under a proportional integral controller: PIE (RFC 8033, section 4, with the wait of packets by timestamps, section 5.2).
//!
//! A controller sets the probability of a drop from the wait, at fixed intervals; a packet that comes is dropped, or marked, with it.

use hopcast_protocols::random::{Purpose, Stream};
use hopcast_protocols::time::{Duration, Instant};

use super::{DropTail, Queued, Reason};

/// Parameters of PIE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PieConfig {
    /// QDELAY_REF: the wait that the controller aims at.
    pub target: Duration,
    /// Mark packets that are capable of it instead of dropping them, while the probability is low (section 5.1).
    pub ecn: bool,
    /// Seeds the draws; different for each interface and run.
    pub perturbation: u64,
}

impl Default for PieConfig {
    /// 15 ms (section 4.2).
    fn default() -> Self {
        Self { target: Duration::from_millis(15), ecn: false, perturbation: 0 }
    }
}

/// T_UPDATE: time between two updates of the probability (section 4.2).
const UPDATE: Duration = Duration::from_millis(15);
/// MAX_BURST: a burst of this length passes unharmed (section 4.4).
const MAX_BURST: Duration = Duration::from_millis(150);
/// alpha and beta in Hz: 1/8 and 1 + 1/4 (section 4.2).
const ALPHA: f64 = 0.125;
const BETA: f64 = 1.25;
/// MEAN_PKTSIZE: up to two packets of this length, in bytes, nothing is dropped (section 4.1; Linux's sch_pie takes its MTU).
const MEAN_PACKET: u64 = 1500;
/// Up to this probability packets are marked (`mark_ecnth`, section 5.1).
const MARK_LIMIT: f64 = 0.1;
/// From this probability on, it rises by no more than `CAP` at once (section 5.5).
const CAP_FROM: f64 = 0.1;
const CAP: f64 = 0.02;
/// The probability is multiplied by this at each update without a wait (section 4.2).
const DECAY: f64 = 0.98;
/// The sum of the probabilities since the last drop from which on one is drawn, and from which on it is certain (section 5.4).
const DRAWN_FROM: f64 = 0.85;
const CERTAIN_FROM: f64 = 8.5;

/// A bounded queue under PIE; what finds it full is refused.
#[derive(Clone, Debug)]
pub(crate) struct Pie<T> {
    /// With the time at which each came.
    items: DropTail<(Instant, T)>,
    octets: u64,
    control: Control,
    config: PieConfig,
    random: Stream,
    marked: u64,
}

/// The controller (sections 4.1 to 4.4), under the names that its state has there.
#[derive(Clone, Debug)]
struct Control {
    /// drop_prob.
    probability: f64,
    /// qdelay_old: the wait at the latest update.
    previous: Duration,
    burst_allowance: Duration,
    /// accu_prob: the sum of the probabilities since the last drop.
    sum: f64,
    next_update: Instant,
}

impl Control {
    fn new() -> Self {
        Self {
            probability: 0.0,
            previous: Duration::ZERO,
            burst_allowance: MAX_BURST,
            sum: 0.0,
            next_update: Instant::START + UPDATE,
        }
    }

    /// calculate_drop_prob at one of its instants, at which the packet that leaves next has waited for `wait`.
    fn update(&mut self, wait: Duration, target: Duration) {
        let seconds = |duration: Duration| duration.as_secs_f64();
        let integral = ALPHA * (seconds(wait) - seconds(target));
        let step = (integral + BETA * (seconds(wait) - seconds(self.previous))) * scale(self.probability);
        let step = if self.probability >= CAP_FROM { step.min(CAP) } else { step };
        self.probability += step;
        if wait == Duration::ZERO && self.previous == Duration::ZERO {
            self.probability *= DECAY;
        }
        self.probability = self.probability.clamp(0.0, 1.0);
        let half = target / 2;
        self.burst_allowance = if self.probability == 0.0 && wait < half && self.previous < half {
            MAX_BURST
        } else {
            self.burst_allowance.saturating_sub(UPDATE)
        };
        self.previous = wait;
    }

    /// drop_early: whether a packet that comes is to be dropped or marked, while `octets` bytes wait.
    fn drops_early(&mut self, octets: u64, target: Duration, random: &mut Stream) -> bool {
        if self.burst_allowance > Duration::ZERO
            || (self.previous < target / 2 && self.probability < 0.2)
            || octets <= 2 * MEAN_PACKET
        {
            return false;
        }
        if self.probability == 0.0 {
            self.sum = 0.0;
        }
        self.sum += self.probability;
        let drops = self.sum >= DRAWN_FROM && (self.sum >= CERTAIN_FROM || random.unit() < self.probability);
        if drops {
            self.sum = 0.0;
        }
        drops
    }
}

/// The gains are smaller while the probability is low (section 5.3, table of the auto-tuning).
fn scale(probability: f64) -> f64 {
    let bounds = [(1e-6, 2048.0), (1e-5, 512.0), (1e-4, 128.0), (1e-3, 32.0), (1e-2, 8.0), (1e-1, 2.0)];
    bounds.into_iter().find(|(below, _)| probability < *below).map_or(1.0, |(_, divisor)| 1.0 / divisor)
}

impl<T: Queued> Pie<T> {
    /// An empty queue with `capacity` places.
    pub(crate) fn new(config: PieConfig, capacity: u32) -> Self {
        let random = Stream::new(config.perturbation, Purpose::QueueDrop, 0, 0);
        Self { items: DropTail::new(capacity), octets: 0, control: Control::new(), config, random, marked: 0 }
    }

    /// Appends `item`, or gives it back with the reason.
    pub(crate) fn push(&mut self, mut item: T, now: Instant) -> Result<(), (T, Reason)> {
        self.update(now);
        let octets = u64::from(item.octets());
        if self.space() == 0 {
            self.control.sum = 0.0;
            return Err((item, Reason::Full));
        }
        if self.control.drops_early(self.octets, self.config.target, &mut self.random) {
            if !(self.config.ecn && item.ecn().is_capable() && self.control.probability < MARK_LIMIT) {
                return Err((item, Reason::Management));
            }
            item.mark();
            self.marked += 1;
        }
        self.octets += octets;
        self.items.push((now, item)).map_err(|(_, item)| (item, Reason::Full))
    }

    /// Takes the oldest.
    pub(crate) fn pop(&mut self, now: Instant) -> Option<T> {
        self.update(now);
        let (_, item) = self.items.pop()?;
        self.octets -= u64::from(item.octets());
        Some(item)
    }

    /// Takes out all that `is_unwanted`, oldest first.
    pub(crate) fn remove_all(&mut self, is_unwanted: impl Fn(&T) -> bool) -> Vec<T> {
        let removed = self.items.remove_all(|(_, item)| is_unwanted(item));
        self.octets -= removed.iter().map(|(_, item)| u64::from(item.octets())).sum::<u64>();
        removed.into_iter().map(|(_, item)| item).collect()
    }

    /// How many it has marked.
    pub(crate) fn marked(&self) -> u64 {
        self.marked
    }

    /// How many wait.
    pub(crate) fn len(&self) -> usize {
        self.items.len()
    }

    /// Free places.
    pub(crate) fn space(&self) -> usize {
        self.items.space()
    }

    /// What waits, oldest first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.items.iter().map(|(_, item)| item)
    }

    /// The updates that are due up to `now`. The head changes only when packets come and go, so that what is made up for here is what a
    /// timer would have done.
    fn update(&mut self, now: Instant) {
        while self.control.next_update <= now {
            let at = self.control.next_update;
            let wait = self.items.iter().next().map_or(Duration::ZERO, |(arrived, _)| at.saturating_since(*arrived));
            self.control.update(wait, self.config.target);
            let is_at_rest = self.len() == 0 && self.control.probability == 0.0 && self.control.previous == wait;
            let periods = if is_at_rest { now.saturating_since(at).as_nanos() / UPDATE.as_nanos() } else { 0 };
            self.control.next_update = at + UPDATE * (periods + 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Item, ms};
    use super::*;
    use hopcast_wire::ecn::Ecn;

    fn queue(ecn: bool) -> Pie<Item> {
        Pie::new(PieConfig { ecn, ..PieConfig::default() }, 1000)
    }

    /// Sections 4.2 and 5.3 on paper, with a packet at the head from 0 ms on, so that the wait is 15, 30, 45 ms at the updates:
    ///
    /// ```text
    /// (0.125 · (0.015 − 0.015) + 1.25 · 0.015) / 2048 = 9.155e-6
    /// 9.155e-6 + (0.125 · 0.015 + 1.25 · 0.015) / 512 = 4.944e-5
    /// 4.944e-5 + (0.125 · 0.030 + 1.25 · 0.015) / 128 = 2.252e-4
    /// 2.252e-4 + (0.125 · 0.045 + 1.25 · 0.015) / 32 = 9.869e-4
    /// ```
    #[test]
    fn the_probability_follows_the_wait() {
        let mut queue = queue(false);
        queue.push(Item::new(0, 0, 1000), ms(0)).expect("room");
        for (at, expected) in
            [(14, 0.0), (15, 9.155e-6), (29, 9.155e-6), (30, 4.9438e-5), (45, 2.25220e-4), (60, 9.86938e-4)]
        {
            queue.update(ms(at));
            assert!((queue.control.probability - expected).abs() < 1e-9, "{} at {at} ms", queue.control.probability);
        }
        assert_eq!(queue.control.burst_allowance, Duration::from_millis(150 - 4 * 15));
        // The queue is empty: the wait falls by 60 ms, and the probability to zero; then all is as at the start.
        assert!(queue.pop(ms(61)).is_some());
        queue.update(ms(75));
        assert_eq!(queue.control.probability, 0.0);
        assert_eq!(queue.control.burst_allowance, Duration::from_millis(75), "the wait before was long");
        queue.update(ms(10_000));
        assert_eq!((queue.control.burst_allowance, queue.control.next_update), (MAX_BURST, ms(10_005)));
    }

    /// Section 5.5: from 0.1 on no step is above 0.02. Section 4.2: without a wait it decays.
    #[test]
    fn steps_are_capped_and_idle_time_decays() {
        let mut control = Control { probability: 0.2, ..Control::new() };
        control.update(Duration::from_secs(1), PieConfig::default().target);
        assert!((control.probability - 0.22).abs() < 1e-12);
        let mut control = Control { probability: 0.5, ..Control::new() };
        control.update(Duration::ZERO, PieConfig::default().target);
        assert!((control.probability - (0.5 - 0.125 * 0.015) * 0.98).abs() < 1e-12);
    }

    /// How many of 10 000 packets are dropped, and how many marked, with a probability that stays, a long queue and no burst.
    fn fates(probability: f64, ecn: bool) -> (usize, u64) {
        let mut queue = queue(ecn);
        (0..10).for_each(|id| queue.push(Item::new(id, 0, 1000), ms(0)).expect("room"));
        queue.control =
            Control { probability, previous: ms(20) - ms(0), burst_allowance: Duration::ZERO, ..Control::new() };
        let mut drops = 0;
        for id in 0..10_000 {
            let item = Item { ecn: Ecn::Ect0, ..Item::new(id, 0, 1000) };
            match queue.push(item, ms(0)) {
                Ok(()) => drop(queue.items.pop()),
                Err((_, reason)) => {
                    assert_eq!(reason, Reason::Management);
                    drops += 1;
                }
            }
            queue.octets = 10_000;
        }
        (drops, queue.marked)
    }

    /// Section 5.4: a drop is drawn only once the probabilities sum up to 0.85, so that at p each takes 0.85/p + 1/p − 1 packets
    /// or so: 10 000 packets at p = 0.05 see 10 000 / (17 + 19) = 278 of them. Section 5.1: below 0.1 they are marks instead.
    #[test]
    fn drops_are_spread_out_and_become_marks() {
        let (drops, marks) = fates(0.05, false);
        assert!((drops as f64 - 278.0).abs() < 30.0 && marks == 0, "{drops} drops");
        let (drops, marks) = fates(0.05, true);
        assert!(drops == 0 && (marks as f64 - 278.0).abs() < 30.0, "{marks} marks");
        let (drops, marks) = fates(0.1, true);
        assert!(drops > 400 && marks == 0, "{drops} drops");
    }

    /// Sections 4.1 and 4.4: a burst, a short queue and a short wait are safe from drops.
    #[test]
    fn what_is_short_is_safe() {
        let mut random = Stream::new(0, Purpose::QueueDrop, 0, 0);
        let target = PieConfig::default().target;
        let busy = Control {
            probability: 0.15,
            sum: 8.4,
            previous: target,
            burst_allowance: Duration::ZERO,
            ..Control::new()
        };
        assert!(busy.clone().drops_early(3001, target, &mut random));
        assert!(!busy.clone().drops_early(3000, target, &mut random));
        let burst = Control { burst_allowance: Duration::from_nanos(1), ..busy.clone() };
        assert!(!burst.clone().drops_early(3001, target, &mut random));
        let short = Control { previous: target / 2 - Duration::from_nanos(1), ..busy };
        assert!(!short.clone().drops_early(3001, target, &mut random));
        assert!(Control { probability: 0.2, ..short }.drops_early(3001, target, &mut random));
    }
}
