//! Two queues with coupled marking: DualPI2 (RFC 9332, appendix A).
//!
//! Packets of scalable transports, ECT(1) and CE, wait in the L queue, all others in the C queue. A PI controller sets a base
//! probability p' from the wait. C packets are marked or dropped with p'², L packets are marked with k p' or by a ramp over
//! their own wait, so that scalable and classic flows get about the same rate. A scheduler serves the L queue first, and
//! leaves the C queue a share.

use std::collections::VecDeque;

use hopcast_protocols::time::{Duration, Instant};
use hopcast_wire::ecn::Ecn;

use super::Queued;

/// Parameters of DualPI2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DualPi2Config {
    /// target: the wait in the C queue that the controller aims at.
    pub target: Duration,
}

impl Default for DualPi2Config {
    /// 15 ms (appendix A.1).
    fn default() -> Self {
        Self { target: Duration::from_millis(15) }
    }
}

/// Tupdate: time between two updates of the probability (`tupdate` of Linux's dualpi2).
const UPDATE: Duration = Duration::from_millis(16);
/// Integral gain in Hz: 0.1 Tupdate / RTT_max² for RTT_max = 100 ms (appendix A.1).
const ALPHA: f64 = 0.16;
/// Proportional gain in Hz (`beta` of Linux's dualpi2): about 0.3 / RTT_max (appendix A.1).
const BETA: f64 = 3.2;
/// k: the coupling factor (section 2.1).
const COUPLING: f64 = 2.0;
/// p_Cmax = 1/k²: from here on C packets are dropped also if they can be marked (appendix A.2).
const OVERLOAD: f64 = 1.0 / (COUPLING * COUPLING);
/// minTh: the wait from which on the ramp marks (appendix A.1).
const RAMP_START: Duration = Duration::from_micros(800);
/// The ramp marks all packets after this further wait (appendix A.1).
const RAMP_RANGE: Duration = Duration::from_micros(400);
/// Weights of the scheduler (`classic_protection` of Linux's dualpi2: 10 %).
const L_WEIGHT: i64 = 90;
const C_WEIGHT: i64 = 10;

/// Two bounded queues under DualPI2; what finds them full is refused.
#[derive(Clone, Debug)]
pub(crate) struct DualPi2<T> {
    /// The L queue and the C queue.
    low: Half<T>,
    classic: Half<T>,
    capacity: usize,
    target: Duration,
    /// p'.
    probability: f64,
    /// The wait at the latest update.
    previous: Duration,
    next_update: Instant,
    /// Weighted bytes that the scheduler owes the C queue.
    credit: i64,
    marked: u64,
}

/// One of the queues.
#[derive(Clone, Debug)]
struct Half<T> {
    /// With the time at which each came.
    items: VecDeque<(Instant, T)>,
    /// Sum of the likelihoods since the last mark or drop.
    count: f64,
}

impl<T: Queued> Half<T> {
    fn new() -> Self {
        Self { items: VecDeque::new(), count: 0.0 }
    }

    /// How long the packet at the head has waited.
    fn wait(&self, now: Instant) -> Duration {
        self.items.front().map_or(Duration::ZERO, |(arrived, _)| now.saturating_since(*arrived))
    }

    /// recur of appendix A.1: spreads marks or drops evenly, without a draw.
    fn recurs(&mut self, likelihood: f64) -> bool {
        self.count += likelihood;
        let recurs = self.count > 1.0;
        self.count -= f64::from(u8::from(recurs));
        recurs
    }
}

impl<T: Queued> DualPi2<T> {
    /// Empty queues with `capacity` places together.
    pub(crate) fn new(config: DualPi2Config, capacity: u32) -> Self {
        Self {
            low: Half::new(),
            classic: Half::new(),
            capacity: capacity as usize,
            target: config.target,
            probability: 0.0,
            previous: Duration::ZERO,
            next_update: Instant::START + UPDATE,
            credit: 0,
            marked: 0,
        }
    }

    /// dualpi2_enqueue of appendix A.1: appends `item` to the queue of its ECN field, or gives it back if there is no place.
    pub(crate) fn push(&mut self, item: T, now: Instant) -> Result<(), T> {
        self.update(now);
        if self.space() == 0 {
            return Err(item);
        }
        let is_scalable = matches!(item.ecn(), Ecn::Ect1 | Ecn::Ce);
        let half = if is_scalable { &mut self.low } else { &mut self.classic };
        half.items.push_back((now, item));
        Ok(())
    }

    /// dualpi2_dequeue of appendix A.2: takes the next one that is not dropped; `dropped` gets those that are.
    pub(crate) fn pop(&mut self, now: Instant, mut dropped: impl FnMut(T)) -> Option<T> {
        self.update(now);
        let (p_c, p_cl) = (self.probability * self.probability, COUPLING * self.probability);
        loop {
            let is_low = self.serves_low()?;
            let half = if is_low { &mut self.low } else { &mut self.classic };
            let (arrived, mut item) = half.items.pop_front()?;
            let (is_dropped, is_marked) = if !is_low {
                let recurs = half.recurs(p_c);
                let drops = recurs && (!item.ecn().is_capable() || p_c >= OVERLOAD);
                (drops, recurs && !drops)
            } else if p_cl < 1.0 {
                let native = ramp(now.saturating_since(arrived));
                // A packet that is alone has no queue, however slow the link is (Th_len).
                let native = if half.items.is_empty() { 0.0 } else { native };
                (false, half.recurs(native.max(p_cl)))
            } else {
                // Saturated: drops as in the C queue, and a mark on all else.
                let drops = half.recurs(p_c);
                (drops, !drops)
            };
            self.charge(is_low, item.octets());
            if is_dropped {
                dropped(item);
                continue;
            }
            if is_marked {
                item.mark();
                self.marked += 1;
            }
            return Some(item);
        }
    }

    /// Takes out all that `is_unwanted`, the L queue's first.
    pub(crate) fn remove_all(&mut self, is_unwanted: impl Fn(&T) -> bool) -> Vec<T> {
        let mut removed = Vec::new();
        for half in [&mut self.low, &mut self.classic] {
            if half.items.iter().any(|(_, item)| is_unwanted(item)) {
                let (out, kept): (Vec<_>, Vec<_>) = half.items.drain(..).partition(|(_, item)| is_unwanted(item));
                half.items.extend(kept);
                removed.extend(out.into_iter().map(|(_, item)| item));
            }
        }
        removed
    }

    /// How many it has marked.
    pub(crate) fn marked(&self) -> u64 {
        self.marked
    }

    /// How many wait.
    pub(crate) fn len(&self) -> usize {
        self.low.items.len() + self.classic.items.len()
    }

    /// Free places.
    pub(crate) fn space(&self) -> usize {
        self.capacity - self.len()
    }

    /// What waits: the L queue, oldest first, then the C queue.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.low.items.iter().chain(&self.classic.items).map(|(_, item)| item)
    }

    /// The scheduler, weighted round robin by bytes: whether the L queue is next; `None`: both are empty.
    fn serves_low(&self) -> Option<bool> {
        match (self.low.items.is_empty(), self.classic.items.is_empty()) {
            (true, true) => None,
            (is_empty, true) | (is_empty @ true, false) => Some(!is_empty),
            (false, false) => Some(self.credit <= 0),
        }
    }

    /// A packet of `octets` has left a queue. Where the other one is empty, the debt ends.
    fn charge(&mut self, is_low: bool, octets: u32) {
        let other = if is_low { &self.classic } else { &self.low };
        self.credit = match (other.items.is_empty(), is_low) {
            (true, _) => 0,
            (false, true) => self.credit + C_WEIGHT * i64::from(octets),
            (false, false) => self.credit - L_WEIGHT * i64::from(octets),
        };
    }

    /// dualpi2_update of appendix A.1 at each of its instants up to `now`. Heads change only when packets come and go, so that
    /// what is made up for here is what a timer would have done.
    fn update(&mut self, now: Instant) {
        while self.next_update <= now {
            let at = self.next_update;
            let wait = self.classic.wait(at).max(self.low.wait(at));
            let seconds = |duration: Duration| duration.as_secs_f64();
            let integral = ALPHA * (seconds(wait) - seconds(self.target));
            let proportional = BETA * (seconds(wait) - seconds(self.previous));
            self.probability = (self.probability + integral + proportional).clamp(0.0, 1.0);
            self.previous = wait;
            let is_at_rest = self.len() == 0 && self.probability == 0.0;
            let periods = if is_at_rest { now.saturating_since(at).as_nanos() / UPDATE.as_nanos() } else { 0 };
            self.next_update = at + UPDATE * (periods + 1);
        }
    }
}

/// laqm of appendix A.1: the share of L packets that are marked for their own wait.
fn ramp(wait: Duration) -> f64 {
    let above = wait.saturating_sub(RAMP_START);
    (above.as_nanos() as f64 / RAMP_RANGE.as_nanos() as f64).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Item, ms};
    use super::*;

    fn queue(capacity: u32) -> DualPi2<Item> {
        DualPi2::new(DualPi2Config::default(), capacity)
    }

    fn push(queue: &mut DualPi2<Item>, id: u32, ecn: Ecn, at: Instant) {
        queue.push(Item { ecn, ..Item::new(id, 0, 1000) }, at).expect("room");
    }

    /// With p' as it is; what left, and what was dropped.
    fn pop_all(queue: &mut DualPi2<Item>, at: Instant) -> (Vec<Item>, usize) {
        let mut dropped = 0;
        let left = std::iter::from_fn(|| queue.pop(at, |_| dropped += 1)).collect();
        (left, dropped)
    }

    /// Appendix A.1 on paper, with a C packet at the head from 0 ms on. The wait at the updates is 16, 32 and 48 ms:
    ///
    /// ```text
    /// p' = 0.16 · (0.016 − 0.015) + 3.2 · 0.016 = 0.05136
    /// p' = 0.05136 + 0.16 · 0.017 + 3.2 · 0.016 = 0.10528
    /// p' = 0.10528 + 0.16 · 0.033 + 3.2 · 0.016 = 0.16176
    /// ```
    ///
    /// and with empty queues 0.16176 − 0.16 · 0.015 − 3.2 · 0.048 = 0.00576 at 64 ms, then 0.00336, 0.00096 and 0.
    #[test]
    fn the_probability_follows_the_wait() {
        let mut queue = queue(10);
        push(&mut queue, 0, Ecn::NotEct, ms(0));
        for (at, expected) in [(15, 0.0), (16, 0.05136), (31, 0.05136), (32, 0.10528), (48, 0.16176)] {
            queue.update(ms(at));
            assert!((queue.probability - expected).abs() < 1e-12, "{} at {at} ms", queue.probability);
        }
        assert!(queue.pop(ms(50), |_| panic!("0.026 of a drop")).is_some());
        for (at, expected) in [(64, 0.00576), (80, 0.00336), (96, 0.00096), (112, 0.0), (1_000_001, 0.0)] {
            queue.update(ms(at));
            assert!((queue.probability - expected).abs() < 1e-12, "{} at {at} ms", queue.probability);
        }
        assert_eq!(queue.next_update, ms(1_000_016), "a multiple of 16 ms");
        // Updates that are made up for give what those in time would have given.
        let mut late = queue.clone();
        for queue in [&mut queue, &mut late] {
            push(queue, 1, Ecn::Ect1, ms(1_000_010));
        }
        (1_000_011..1_000_200).for_each(|at| queue.update(ms(at)));
        late.update(ms(1_000_199));
        assert_eq!((queue.probability, queue.previous), (late.probability, late.previous));
        assert!(queue.probability > 0.1);
    }

    /// Section 2.1: p_CL = k p' and p_C = p'², with k = 2. At p' = 0.1, 200 of 1000 L packets and 10 of 1000 C packets.
    #[test]
    fn marks_are_coupled_as_the_square() {
        for (p, low, classic) in [(0.1, 200, 10), (0.25, 500, 62), (0.4, 800, 160)] {
            let mut queue = queue(2000);
            for id in 0..1000 {
                push(&mut queue, id, Ecn::Ect1, ms(0));
                push(&mut queue, 1000 + id, Ecn::Ect0, ms(0));
            }
            queue.probability = p;
            let (left, dropped) = pop_all(&mut queue, ms(0));
            let marked = |ids: core::ops::Range<u32>| {
                let count = left.iter().filter(|item| ids.contains(&item.id) && item.ecn == Ecn::Ce).count();
                i64::try_from(count).expect("few")
            };
            assert!((marked(0..1000) - low).abs() <= 1, "{} of L at {p}", marked(0..1000));
            assert!((marked(1000..2000) - classic).abs() <= 1, "{} of C at {p}", marked(1000..2000));
            assert_eq!((left.len(), dropped), (2000, 0));
        }
    }

    /// Appendix A.2: what can't be marked is dropped; from p_C = 1/4 on, so is what could be, in both queues alike.
    #[test]
    fn overload_drops_in_both_queues() {
        for (p, ecn, marks, drops) in [
            (0.4, Ecn::NotEct, 0, 160),
            (0.4, Ecn::Ect0, 160, 0),
            (0.6, Ecn::Ect0, 0, 360),
            (0.6, Ecn::Ect1, 640, 360),
            (1.0, Ecn::Ect1, 1, 999),
        ] {
            let mut queue = queue(1000);
            (0..1000).for_each(|id| push(&mut queue, id, ecn, ms(0)));
            queue.probability = p;
            let (left, dropped) = pop_all(&mut queue, ms(0));
            let marked = left.iter().filter(|item| item.ecn == Ecn::Ce).count();
            assert!(
                marked.abs_diff(marks) <= 1 && dropped.abs_diff(drops) <= 1,
                "{marked} and {dropped} for {ecn:?} at {p}"
            );
            assert_eq!(left.len() + dropped, 1000);
        }
    }

    /// The ramp of appendix A.1: none at 0.8 ms, half at 1 ms, all from 1.2 ms on; not for a packet that is alone.
    #[test]
    fn the_ramp_marks_by_the_wait_in_the_l_queue() {
        let us = |micros| Duration::from_micros(micros);
        let shares = [0, 800, 900, 1_000, 1_200, 9_000].map(|wait| ramp(us(wait)));
        assert_eq!(shares, [0.0, 0.0, 0.25, 0.5, 1.0, 1.0]);
        for (wait, marks) in [(800, 0), (1_000, 49), (1_200, 98)] {
            let mut queue = queue(100);
            (0..100).for_each(|id| push(&mut queue, id, Ecn::Ect1, ms(0)));
            let (left, _) = pop_all(&mut queue, ms(0) + us(wait));
            // The last one is alone. A sum of exactly one does not recur yet.
            assert_eq!(left.iter().filter(|item| item.ecn == Ecn::Ce).count(), marks, "after {wait} us");
        }
    }

    /// Section 2.5.1: while both queues are filled, the C queue gets a tenth of the bytes; L goes first.
    #[test]
    fn the_scheduler_leaves_the_classic_queue_a_tenth() {
        let mut queue = queue(2000);
        for id in 0..1000 {
            push(&mut queue, id, Ecn::Ect1, ms(0));
            push(&mut queue, 1000 + id, Ecn::NotEct, ms(0));
        }
        let first: Vec<u32> =
            (0..500).map(|_| queue.pop(ms(0), |_| panic!("nothing has waited")).expect("a backlog").id).collect();
        assert_eq!((first[0], first[1]), (0, 1000));
        assert_eq!(first.iter().filter(|&&id| id >= 1000).count(), 50);
    }

    #[test]
    fn full_queues_refuse_the_newest() {
        let mut queue = queue(2);
        push(&mut queue, 0, Ecn::Ect1, ms(0));
        push(&mut queue, 1, Ecn::NotEct, ms(0));
        assert!(queue.push(Item::new(2, 0, 100), ms(0)).is_err());
        assert_eq!((queue.len(), queue.space(), queue.iter().count()), (2, 0, 2));
        assert_eq!(queue.remove_all(|item| item.id == 1).len(), 1);
        assert_eq!(queue.len(), 1);
    }
}
