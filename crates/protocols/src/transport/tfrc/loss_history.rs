//! Loss events, the intervals between them, and the loss event rate (RFC 5348, sections 5.2 to 5.5).

use std::collections::VecDeque;

use super::Loss;
use crate::time::{Duration, Instant};

/// The weights of the intervals, the most recent first; n = 8 (RFC 5348, section 5.4).
pub(crate) const WEIGHTS: [f64; 8] = [1.0, 1.0, 1.0, 1.0, 0.8, 0.6, 0.4, 0.2];
/// The least that discounting leaves of an interval (RFC 5348, section 5.5).
const THRESHOLD: f64 = 0.25;

/// One loss interval, as CCID 3 reports it (RFC 4342, section 8.6.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LossInterval {
    /// Packets from the first that was lost to the last in the same event; 0 before the first loss.
    pub lossy: u64,
    /// Packets behind those up to the next event.
    pub lossless: u64,
}

/// A loss event: all that is lost within a round trip from its first packet.
#[derive(Clone, Copy, Debug)]
struct Event {
    /// The first packet lost.
    first: u64,
    /// The last.
    last: u64,
    /// When `first` would have arrived.
    at: Instant,
    /// Packets lost, less those that arrived after all.
    count: u64,
}

/// An interval that the next loss event has closed.
#[derive(Clone, Copy, Debug)]
struct Interval {
    /// What began it; `None` before the first loss.
    event: Option<Event>,
    /// Its length in packets.
    length: f64,
    /// DF_i of section 5.5.
    discount: f64,
    /// The part that the event which closed it has left of the discounts of those before.
    factor: f64,
}

/// The last nine loss intervals.
#[derive(Clone, Debug, Default)]
pub(crate) struct LossHistory {
    /// The event that began the interval which is still open.
    newest: Option<Event>,
    /// The intervals before, the most recent first; at most 8.
    closed: VecDeque<Interval>,
    /// How a short interval counts (RFC 4828, section 4.4): packets over losses, for those of at most two round trips.
    short_intervals: bool,
}

impl LossHistory {
    /// No loss yet. With `short_intervals` those of at most two round trips count the losses in them (RFC 4828, section
    /// 4.4).
    pub(crate) fn new(short_intervals: bool) -> Self {
        Self { newest: None, closed: VecDeque::with_capacity(WEIGHTS.len() + 1), short_intervals }
    }

    /// Counts a loss. Returns whether a loss event began.
    ///
    /// `rtt` is the round-trip time; `first_interval` gives the length in packets of the interval before the first event,
    /// which is not what was counted (RFC 5348, section 6.3.1).
    pub(crate) fn on_loss(&mut self, loss: &Loss, rtt: Duration, first_interval: impl FnOnce() -> f64) -> bool {
        let mut next = loss.first;
        let mut began = false;
        let mut first_interval = Some(first_interval);
        // Of a gap that spans many round trips, each makes an event; all but the last of them will be forgotten.
        let (start, end) = (loss.arrival(loss.first), loss.arrival(loss.last));
        let most = rtt.as_nanos().saturating_mul(2 * WEIGHTS.len() as u64);
        let mut oldest = end.saturating_since(start).as_nanos() > most;
        while next <= loss.last {
            let limit = self.newest.map(|event| event.at.as_nanos().saturating_add(rtt.as_nanos()));
            // The first packet of the loss that would have arrived after the event is over.
            let fresh = match limit {
                None => next,
                Some(limit) => first_after(loss, next, Instant::from_nanos(limit)),
            };
            if fresh > next
                && let Some(event) = &mut self.newest
            {
                event.count += fresh - next;
                event.last = fresh - 1;
            }
            if fresh > loss.last {
                break;
            }
            next = fresh;
            if core::mem::take(&mut oldest) {
                next = next.max(first_after(loss, next, Instant::from_nanos(end.as_nanos().saturating_sub(most))));
            }
            self.begin(next, loss.arrival(next), rtt, first_interval.take());
            began = true;
            next += 1;
        }
        began
    }

    fn begin(&mut self, first: u64, at: Instant, rtt: Duration, first_interval: Option<impl FnOnce() -> f64>) {
        let event = Event { first, last: first, at, count: 1 };
        let discount = self.discount(first);
        let before = self.newest.replace(event);
        let length = match &before {
            None => first_interval.map_or(1.0, |length| length()).max(1.0),
            Some(before) => self.length_of(before, first, at, rtt),
        };
        // Section 5.5: what was discounted stays so.
        self.closed.iter_mut().for_each(|interval| interval.discount *= discount);
        self.closed.push_front(Interval { event: before, length, discount: 1.0, factor: discount });
        self.closed.truncate(WEIGHTS.len());
    }

    /// The length of the interval from `event` to the packet `next`, which would have arrived at `at`.
    fn length_of(&self, event: &Event, next: u64, at: Instant, rtt: Duration) -> f64 {
        let packets = next.saturating_sub(event.first) as f64;
        let short = at.saturating_since(event.at) <= rtt.saturating_add(rtt);
        if self.short_intervals && short { (packets / event.count.max(1) as f64).max(1.0) } else { packets.max(1.0) }
    }

    /// The packet `number` arrives after it was counted as lost: an event of which nothing is lost any more never was.
    pub(crate) fn on_revival(&mut self, number: u64) {
        match &mut self.newest {
            // What lies behind the lossy part was lost, but not counted.
            Some(event) if number > event.last => {}
            Some(event) if number >= event.first => {
                event.count = event.count.saturating_sub(1);
                if event.count == 0 {
                    // The interval before is open again.
                    let before = self.closed.pop_front();
                    let factor = before.map_or(1.0, |interval| interval.factor);
                    self.closed.iter_mut().for_each(|interval| interval.discount /= factor);
                    self.newest = before.and_then(|interval| interval.event);
                }
            }
            _ => self.on_old_revival(number),
        }
    }

    fn on_old_revival(&mut self, number: u64) {
        let within = |interval: &Interval| interval.event.is_some_and(|event| event.first <= number);
        let Some(nth) = self.closed.iter().position(within) else { return };
        let interval = &mut self.closed[nth];
        if let Some(event) = &mut interval.event {
            if number > event.last {
                return;
            }
            event.count = event.count.saturating_sub(1);
            if event.count > 0 {
                return;
            }
        }
        let vanished = *interval;
        self.closed.remove(nth);
        // What closed the vanished interval has closed the one before.
        let Some(older) = self.closed.get_mut(nth) else { return };
        // That before the first loss has a length of its own, which doesn't grow.
        let length = if older.event.is_some() { older.length + vanished.length } else { older.length };
        let Interval { discount, factor, .. } = vanished;
        let taken_back = core::mem::replace(older, Interval { event: older.event, length, discount, factor }).factor;
        self.closed.range_mut(nth + 1..).for_each(|interval| interval.discount /= taken_back);
    }

    /// The loss event rate p, given the highest number that arrived: 0 without loss, at most 1.
    pub(crate) fn loss_event_rate(&self, highest: u64) -> f64 {
        if self.newest.is_none() {
            return 0.0;
        }
        let open = self.open(highest);
        let discount = self.discount(highest + 1);
        let (mut total_open, mut weight_open) = (open * WEIGHTS[0], WEIGHTS[0]);
        let (mut total_closed, mut weight_closed) = (0.0, 0.0);
        for (nth, interval) in self.closed.iter().enumerate() {
            total_closed += interval.length * WEIGHTS[nth] * interval.discount;
            weight_closed += WEIGHTS[nth] * interval.discount;
            if let Some(weight) = WEIGHTS.get(nth + 1) {
                total_open += interval.length * weight * interval.discount * discount;
                weight_open += weight * interval.discount * discount;
            }
        }
        // The open interval counts only where it makes the rate less.
        (weight_open / total_open).min(weight_closed / total_closed).min(1.0)
    }

    /// Whether an event was counted.
    #[cfg(test)]
    pub(crate) fn is_empty(&self) -> bool {
        self.newest.is_none()
    }

    /// I_0, up to the packet `highest`.
    fn open(&self, highest: u64) -> f64 {
        self.newest.map_or(0.0, |event| (highest + 1).saturating_sub(event.first) as f64)
    }

    /// DF of section 5.5, with the open interval reaching to below the packet `next`.
    fn discount(&self, next: u64) -> f64 {
        let (mut total, mut weights) = (0.0, 0.0);
        for (interval, weight) in self.closed.iter().zip(WEIGHTS) {
            total += interval.length * weight * interval.discount;
            weights += weight * interval.discount;
        }
        let open = self.open(next.saturating_sub(1));
        if weights == 0.0 || open * weights <= 2.0 * total {
            return 1.0;
        }
        (2.0 * total / weights / open).max(THRESHOLD)
    }

    /// The intervals as CCID 3 reports them, the one that is still open first (RFC 4342, section 8.6); it ends below the
    /// packet `end`.
    pub(crate) fn intervals(&self, end: u64) -> impl ExactSizeIterator<Item = LossInterval> + '_ {
        let report = |event: Option<Event>, length: u64| {
            let lossy = event.map_or(0, |event| event.last + 1 - event.first).min(length);
            LossInterval { lossy, lossless: length - lossy }
        };
        let open = self.newest.map_or(0, |event| end.saturating_sub(event.first));
        let count = if self.newest.is_some() { 1 + self.closed.len() } else { 0 };
        (0..count).map(move |nth| match nth {
            0 => report(self.newest, open),
            nth => {
                let interval = &self.closed[nth - 1];
                // Lengths are whole but for the first and the short ones.
                report(interval.event, interval.length.round() as u64)
            }
        })
    }
}

/// The first packet of `loss`, from `from` on, that would have arrived after `limit`; above the last if none.
fn first_after(loss: &Loss, from: u64, limit: Instant) -> u64 {
    let (mut low, mut high) = (from, loss.last + 1);
    while low < high {
        let middle = low + (high - low) / 2;
        if loss.arrival(middle) > limit {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low
}

/// The loss event rate of the lengths of intervals, the open one first, as their sender reports them, without discounting.
/// 0 without any.
pub(super) fn loss_event_rate_of(intervals: impl IntoIterator<Item = f64>) -> f64 {
    let (mut open, mut closed, mut weight_open, mut weight_closed) = (0.0, 0.0, 0.0, 0.0);
    for (nth, length) in intervals.into_iter().take(WEIGHTS.len() + 1).enumerate() {
        if let Some(weight) = WEIGHTS.get(nth) {
            open += length * weight;
            weight_open += weight;
        }
        if let Some(weight) = nth.checked_sub(1).map(|nth| WEIGHTS[nth]) {
            closed += length * weight;
            weight_closed += weight;
        }
    }
    if weight_closed == 0.0 {
        return 0.0;
    }
    let rate = |weights: f64, total: f64| if total > 0.0 { (weights / total).min(1.0) } else { 1.0 };
    rate(weight_open, open).min(rate(weight_closed, closed))
}

#[cfg(test)]
mod tests {
    use super::super::Reception;
    use super::*;
    use proptest::prelude::*;

    const RTT: Duration = Duration::from_millis(100);

    /// Packets with these numbers missing arrive 10 ms apart; `first` packets count as the first interval.
    struct Bench {
        reception: Reception,
        history: LossHistory,
        next: u64,
        first: f64,
    }

    impl Bench {
        fn new(first: f64, short: bool) -> Self {
            Self { reception: Reception::new(3), history: LossHistory::new(short), next: 0, first }
        }

        /// Packets up to below `end`, but for the `missing` ones, and three more, so that all of these count as lost.
        fn run(&mut self, end: u64, missing: &[u64]) {
            for number in self.next..end {
                if !missing.contains(&number) {
                    self.arrive(number, Instant::START + Duration::from_millis(10 * number));
                }
            }
            self.next = end;
        }

        fn arrive(&mut self, number: u64, at: Instant) {
            if self.reception.on_packet(number, 0, at) == super::super::Timing::Revived {
                self.history.on_revival(number);
            }
            for loss in self.reception.lost() {
                self.history.on_loss(loss, RTT, || self.first);
            }
        }

        fn inverse(&self) -> f64 {
            1.0 / self.history.loss_event_rate(self.next - 1)
        }
    }

    #[track_caller]
    fn assert_close(value: f64, expected: f64) {
        assert!((value / expected - 1.0).abs() < 1e-12, "{value}, expected {expected}");
    }

    #[test]
    fn section_5_4_the_mean_of_eight_intervals_by_hand() {
        let mut bench = Bench::new(50.0, false);
        assert_eq!(bench.history.loss_event_rate(0), 0.0);
        // Events at 20, 50 and 90: the first interval counts 50, the next ones 30 and 40; 10 packets follow.
        bench.run(100, &[20, 50, 90]);
        assert_close(bench.inverse(), (40.0 + 30.0 + 50.0) / 3.0);
        // Fifty packets later the open interval raises the mean: 60, 40, 30, 50.
        bench.run(150, &[]);
        assert_close(bench.inverse(), (60.0 + 40.0 + 30.0 + 50.0) / 4.0);
    }

    #[test]
    fn section_5_4_the_weights_fall_to_a_fifth() {
        let mut bench = Bench::new(10_000.0, false);
        // Ten events, each 20 packets from the last, the last nine of them within the history: intervals of 20.
        let missing: Vec<u64> = (1..=10).map(|n| 20 * n).collect();
        bench.run(205, &missing);
        assert_close(bench.inverse(), 20.0);
        // With the ninth interval of 100 only: the oldest of eight, weight 0.2 of 6.
        let mut bench = Bench::new(100.0, false);
        bench.run(165, &missing[..8]);
        assert_close(bench.inverse(), (20.0 * 5.8 + 100.0 * 0.2) / 6.0);
    }

    #[test]
    fn section_5_2_losses_within_a_round_trip_are_one_event() {
        let mut bench = Bench::new(50.0, false);
        // Ten packets are a round trip: 20 and 30 are one event, 31 begins the next.
        bench.run(40, &[20, 25, 30]);
        assert_eq!(bench.history.closed.len(), 1);
        assert_eq!(bench.history.newest.map(|event| (event.first, event.last, event.count)), Some((20, 30, 3)));
        let mut bench = Bench::new(50.0, false);
        bench.run(40, &[20, 25, 31]);
        assert_eq!(bench.history.closed.len(), 2);
        assert_eq!(bench.history.newest.map(|event| (event.first, event.count)), Some((31, 1)));
        assert_close(bench.inverse(), (11.0 + 50.0) / 2.0);
    }

    #[test]
    fn section_5_2_a_long_gap_is_an_event_in_each_round_trip() {
        let mut bench = Bench::new(50.0, false);
        let gap: Vec<u64> = (20..65).collect();
        bench.run(80, &gap);
        // 20 to 30, 31 to 41, 42 to 52, 53 to 63 and 64.
        let closed: Vec<f64> = bench.history.closed.iter().map(|interval| interval.length).collect();
        assert_eq!(closed, [11.0, 11.0, 11.0, 11.0, 50.0]);
        assert_eq!(bench.history.newest.map(|event| (event.first, event.count)), Some((64, 1)));
        // A gap of a thousand hours costs no more.
        bench.arrive(400_000_000, Instant::START + Duration::from_secs(4_000_000));
        (1..4).for_each(|n| bench.arrive(400_000_000 + n, Instant::START + Duration::from_secs(4_000_000)));
        assert!(bench.history.closed.len() == 8);
        bench.next = 400_000_004;
        assert!((10.0..13.0).contains(&bench.inverse()), "{}", bench.inverse());
    }

    #[test]
    fn section_5_5_a_long_open_interval_discounts_the_others() {
        let mut bench = Bench::new(20.0, false);
        bench.run(105, &[20, 40, 60, 80, 100]);
        // I_1 to I_5 are 20; up to an open interval of 40 nothing is discounted.
        bench.run(140, &[]);
        assert_close(bench.inverse(), (40.0 + 20.0 * 3.0 + 20.0 * 0.8 + 20.0 * 0.6) / 5.4);
        // With 80: DF = 2·20/80 = 1/2.
        bench.run(180, &[]);
        assert_close(bench.inverse(), (80.0 + 0.5 * 20.0 * 4.4) / (1.0 + 0.5 * 4.4));
        // With 400 DF would be 1/10; the threshold is 1/4.
        bench.run(500, &[]);
        assert_close(bench.inverse(), (400.0 + 0.25 * 20.0 * 4.4) / (1.0 + 0.25 * 4.4));
        // The next event makes it permanent: I_1 = 400, and DF_2 to DF_6 are 1/4.
        bench.run(505, &[500]);
        assert_close(bench.inverse(), (400.0 + 0.25 * 20.0 * 4.4) / (1.0 + 0.25 * 4.4));
        bench.run(520, &[510]);
        assert!(bench.history.closed.iter().map(|interval| interval.discount).eq([1.0, 0.25, 0.25, 0.25, 0.25, 0.25]));
    }

    #[test]
    fn rfc_4828_section_4_4_a_short_interval_counts_its_losses() {
        // Three losses within a round trip, and the next event 15 packets (1.5 round trips) after the first: 15/3.
        let mut bench = Bench::new(50.0, true);
        bench.run(50, &[20, 22, 24, 35]);
        assert_close(bench.history.closed[0].length, 5.0);
        // 21 packets are more than two round trips.
        let mut bench = Bench::new(50.0, true);
        bench.run(50, &[20, 22, 24, 41]);
        assert_close(bench.history.closed[0].length, 21.0);
    }

    #[test]
    fn a_late_packet_takes_its_loss_back() {
        let at = |number: u64| Instant::START + Duration::from_millis(10 * number);
        let mut bench = Bench::new(50.0, false);
        bench.run(100, &[20, 50, 53, 90]);
        let before = bench.history.loss_event_rate(99);
        // One of the two of an event: no change.
        bench.arrive(53, at(100));
        assert_eq!(bench.history.loss_event_rate(99), before);
        // The event itself: its interval belongs to the one before, of 30.
        bench.arrive(50, at(100));
        assert_close(bench.inverse(), (70.0 + 50.0) / 2.0);
        // A second copy changes nothing.
        bench.arrive(50, at(100));
        assert_close(bench.inverse(), (70.0 + 50.0) / 2.0);
        // The newest: the interval before is open again, with 80 packets.
        bench.arrive(90, at(100));
        assert_close(bench.inverse(), (80.0 + 50.0) / 2.0);
        // The first: there was no loss at all.
        bench.arrive(20, at(100));
        assert!(bench.history.is_empty() && bench.history.closed.is_empty());
        assert_eq!(bench.history.loss_event_rate(99), 0.0);
    }

    /// What an event has left of the others' discounts goes with it.
    #[test]
    fn a_late_packet_takes_the_discount_of_its_loss_back() {
        let long = |late: &[u64]| {
            let mut bench = Bench::new(20.0, false);
            bench.run(105, &[20, 40, 60, 80, 100]);
            for &number in late {
                bench.run(number + 5, &[number]);
                bench.arrive(number, Instant::START + Duration::from_millis(10 * (number + 4)));
            }
            bench.run(505, &[]);
            bench
        };
        let (plain, late) = (long(&[]), long(&[300, 400, 500]));
        assert_close(plain.inverse(), (405.0 + 0.25 * 20.0 * 4.4) / (1.0 + 0.25 * 4.4));
        assert_close(late.inverse(), plain.inverse());
        // The same of an event that another one has followed: what that one has left of the others stays.
        let mut older = Bench::new(20.0, false);
        older.run(105, &[20, 40, 60, 80, 100]);
        older.run(2_505, &[500, 2_500]);
        let intervals = |bench: &Bench| -> Vec<(f64, f64)> {
            bench.history.closed.iter().map(|interval| (interval.length, interval.discount)).collect()
        };
        assert_eq!(intervals(&older)[..3], [(2_000.0, 1.0), (400.0, 0.25), (20.0, 0.0625)]);
        older.history.on_revival(500);
        assert_eq!(intervals(&older)[..3], [(2_400.0, 1.0), (20.0, 0.25), (20.0, 0.25)]);
        older.history.on_revival(2_500);
        assert_eq!(intervals(&older), [(20.0, 1.0); 5]);
    }

    #[test]
    fn rfc_4342_section_8_6_intervals_are_reported_newest_first() {
        let mut bench = Bench::new(50.0, false);
        assert_eq!(bench.history.intervals(0).len(), 0);
        bench.run(100, &[20, 25, 90]);
        let intervals: Vec<_> = bench.history.intervals(100).map(|one| (one.lossy, one.lossless)).collect();
        assert_eq!(intervals, [(1, 9), (6, 64), (0, 50)]);
        assert_eq!(loss_event_rate_of([10.0, 70.0, 50.0]), 1.0 / 60.0);
        assert_eq!(loss_event_rate_of([100.0, 70.0, 50.0]), 3.0 / 220.0);
        assert_eq!((loss_event_rate_of([]), loss_event_rate_of([10.0])), (0.0, 0.0));
    }

    proptest! {
        #[test]
        fn the_rate_is_a_rate_and_memory_bounded_whatever_arrives(
            steps in prop::collection::vec((any::<bool>(), -1100_i64..2000, 0_u64..10_000_000_000), 1..300),
            rtt in 0_u64..1_000_000_000,
            short in any::<bool>(),
        ) {
            let (mut reception, mut history) = (Reception::new(3), LossHistory::new(short));
            let (mut highest, mut now) = (10_000_u64, Instant::START);
            for (near, step, pause) in steps {
                now += Duration::from_nanos(if near { pause % 10_000_000 } else { pause });
                let number = highest.saturating_add_signed(if near { step % 8 } else { step }).max(1);
                highest = highest.max(number);
                if reception.on_packet(number, 0, now) == super::super::Timing::Revived {
                    history.on_revival(number);
                }
                for loss in reception.lost() {
                    history.on_loss(loss, Duration::from_nanos(rtt), || 1.0);
                }
                let rate = history.loss_event_rate(highest);
                prop_assert!((0.0..=1.0).contains(&rate) && (rate > 0.0) != history.is_empty(), "{}", rate);
                prop_assert!(history.closed.len() <= WEIGHTS.len());
                prop_assert!(history.intervals(highest + 1).len() <= 9);
            }
        }
    }
}
