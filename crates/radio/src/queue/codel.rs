//! Controlled delay: drops from the head while packets have waited for longer than a target throughout an interval
//! (RFC 8289).

use hopcast_protocols::time::{Duration, Instant};

use super::{DropTail, Queued};

/// Parameters of CoDel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoDelConfig {
    /// TARGET: the acceptable wait in the queue.
    pub target: Duration,
    /// INTERVAL: time for which packets must have waited longer than the target before one is dropped; about the
    /// round-trip time of the connections.
    pub interval: Duration,
    /// Bytes in the queue up to which CoDel drops nothing: the largest packet of the interface.
    pub mtu: u32,
    /// Mark packets that are capable of it instead of dropping them (section 4.2.1 of RFC 8290 for both disciplines).
    pub ecn: bool,
}

impl Default for CoDelConfig {
    /// 5 ms and 100 ms (RFC 8289, section 4) and the IP MTU of 1500 bytes.
    fn default() -> Self {
        Self { target: Duration::from_millis(5), interval: Duration::from_millis(100), mtu: 1500, ecn: false }
    }
}

/// A bounded queue under CoDel; what finds it full is refused.
#[derive(Clone, Debug)]
pub(crate) struct CoDel<T> {
    /// With the time at which each came.
    items: DropTail<(Instant, T)>,
    octets: u64,
    config: CoDelConfig,
    control: Control,
}

impl<T: Queued> CoDel<T> {
    /// An empty queue with `capacity` places.
    pub(crate) fn new(config: CoDelConfig, capacity: u32) -> Self {
        Self { items: DropTail::new(capacity), octets: 0, config, control: Control::default() }
    }

    /// Appends `item`, or gives it back if the queue is full.
    pub(crate) fn push(&mut self, item: T, now: Instant) -> Result<(), T> {
        let octets = u64::from(item.octets());
        self.items.push((now, item)).map_err(|(_, item)| item)?;
        self.octets += octets;
        Ok(())
    }

    /// Takes the oldest that is not dropped; `dropped` gets those that are.
    pub(crate) fn pop(&mut self, now: Instant, dropped: impl FnMut(T)) -> Option<T> {
        let Self { items, octets, config, control } = self;
        let take = || {
            let (arrived, item) = items.pop()?;
            *octets -= u64::from(item.octets());
            Some(Taken { item, arrived, backlog: *octets })
        };
        control.dequeue(config, now, take, dropped)
    }

    /// How many it has marked.
    pub(crate) fn marked(&self) -> u64 {
        self.control.marked
    }

    /// Takes out all that `is_unwanted`, oldest first.
    pub(crate) fn remove_all(&mut self, is_unwanted: impl Fn(&T) -> bool) -> Vec<T> {
        let removed = self.items.remove_all(|(_, item)| is_unwanted(item));
        self.octets -= removed.iter().map(|(_, item)| u64::from(item.octets())).sum::<u64>();
        removed.into_iter().map(|(_, item)| item).collect()
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
}

/// A packet from the head of a queue.
pub(super) struct Taken<T> {
    pub(super) item: T,
    /// When it came to the queue.
    pub(super) arrived: Instant,
    /// Bytes that are still waiting.
    pub(super) backlog: u64,
}

/// The control loop of one queue: the state of RFC 8289, section 5.3, under the names that it has there.
#[derive(Clone, Debug, Default)]
pub(super) struct Control {
    /// When the wait will have been above the target for an interval; `None` (zero in the RFC) while it is below.
    first_above_time: Option<Instant>,
    drop_next: Instant,
    count: u32,
    lastcount: u32,
    dropping: bool,
    /// Packets marked so far.
    pub(super) marked: u64,
}

impl Control {
    /// deque of section 5.5: `take` gives the packet at the head, `dropped` gets what is dropped. A mark counts as a drop does,
    /// but the packet goes on, so that one packet is marked at most.
    pub(super) fn dequeue<T: Queued>(
        &mut self,
        config: &CoDelConfig,
        now: Instant,
        mut take: impl FnMut() -> Option<Taken<T>>,
        mut dropped: impl FnMut(T),
    ) -> Option<T> {
        let (mut head, mut ok_to_drop) = self.examine(config, now, take());
        if self.dropping {
            self.dropping = ok_to_drop;
            while self.dropping && now >= self.drop_next {
                self.count = self.count.saturating_add(1);
                if self.marks(config, &mut head) {
                    self.drop_next += control_law(config.interval, self.count);
                    break;
                }
                head.into_iter().for_each(&mut dropped);
                (head, ok_to_drop) = self.examine(config, now, take());
                if ok_to_drop {
                    self.drop_next += control_law(config.interval, self.count);
                } else {
                    self.dropping = false;
                }
            }
        } else if ok_to_drop {
            if !self.marks(config, &mut head) {
                head.into_iter().for_each(&mut dropped);
                (head, _) = self.examine(config, now, take());
            }
            self.dropping = true;
            // A wait that rises again soon after it was brought down goes on with the rate of drops that did so.
            let delta = self.count - self.lastcount;
            let recent = now.saturating_since(self.drop_next) < config.interval * 16;
            self.count = if delta > 1 && recent { delta } else { 1 };
            self.drop_next = now + control_law(config.interval, self.count);
            self.lastcount = self.count;
        }
        head
    }

    /// Marks the packet that would be dropped, if that is possible.
    fn marks<T: Queued>(&mut self, config: &CoDelConfig, head: &mut Option<T>) -> bool {
        let Some(item) = head.as_mut().filter(|item| config.ecn && item.ecn().is_capable()) else { return false };
        item.mark();
        self.marked += 1;
        true
    }

    /// dodequeue of section 5.6: the packet, and whether it may be dropped.
    fn examine<T>(&mut self, config: &CoDelConfig, now: Instant, head: Option<Taken<T>>) -> (Option<T>, bool) {
        let Some(Taken { item, arrived, backlog }) = head else {
            self.first_above_time = None;
            return (None, false);
        };
        if now.saturating_since(arrived) < config.target || backlog <= u64::from(config.mtu) {
            self.first_above_time = None;
            return (Some(item), false);
        }
        let Some(first_above_time) = self.first_above_time else {
            self.first_above_time = Some(now + config.interval);
            return (Some(item), false);
        };
        (Some(item), now >= first_above_time)
    }
}

/// INTERVAL / √count (section 5.6), rounded down to a nanosecond; exact, as no floating-point root is.
fn control_law(interval: Duration, count: u32) -> Duration {
    let interval = u128::from(interval.as_nanos());
    // √⌊x⌋ and √x have the same integer part, and the root of a square of 64 bits has 64.
    Duration::from_nanos((interval * interval / u128::from(count.max(1))).isqrt() as u64)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Item, ms};
    use super::*;
    use hopcast_wire::ecn::Ecn;

    /// Roots to ten digits: √2 = 1.414213562, √3 = 1.732050808, √5 = 2.236067977, √7 = 2.645751311.
    #[test]
    fn the_control_law_divides_by_the_root() {
        let interval = Duration::from_millis(100);
        let nanos: Vec<u64> = (1..=9).map(|count| control_law(interval, count).as_nanos()).collect();
        let expected = [
            100_000_000,
            70_710_678,
            57_735_026,
            50_000_000,
            44_721_359,
            40_824_829,
            37_796_447,
            35_355_339,
            33_333_333,
        ];
        assert_eq!(nanos, expected);
        assert_eq!(control_law(Duration::MAX, 1), Duration::MAX);
    }

    /// A queue with `packets` of 1500 bytes that came at the start.
    fn backlogged(packets: u32) -> CoDel<Item> {
        backlogged_of(CoDelConfig::default(), packets, Ecn::NotEct)
    }

    fn backlogged_of(config: CoDelConfig, packets: u32, ecn: Ecn) -> CoDel<Item> {
        let mut queue = CoDel::new(config, packets);
        for id in 0..packets {
            queue.push(Item { ecn, ..Item::new(id, 0, 1500) }, ms(0)).expect("room");
        }
        queue
    }

    /// How many are dropped at a pop.
    fn drops(queue: &mut CoDel<Item>, at: Instant) -> usize {
        let mut dropped = 0;
        assert!(queue.pop(at, |_| dropped += 1).is_some());
        dropped
    }

    /// The pseudo-code of section 5 on paper. One pop each 10 ms finds a wait above 5 ms from 10 ms on, so that
    /// first_above_time = 110 ms. From there, with drop_next = 210 ms after the first drop:
    ///
    /// ```text
    /// count        2        3        4        5        6        7        8        9
    /// drop_next    280.711  338.446  388.446  433.167  473.992  511.788  547.144  580.477
    /// ```
    ///
    /// and each drop comes with the first pop at or after it.
    #[test]
    fn drops_come_when_the_pseudo_code_has_them() {
        let mut queue = backlogged(200);
        let times: Vec<u64> = (0..60).map(|k| 10 * k).filter(|&at| drops(&mut queue, ms(at)) > 0).collect();
        assert_eq!(times, [110, 210, 290, 340, 390, 440, 480, 520, 550, 590]);
        assert_eq!(queue.control.count, 10);
        assert_eq!(queue.control.drop_next.as_nanos(), 580_477_011 + 31_622_776);
    }

    /// The same times as above, at which a packet is marked and none is dropped; one that comes late brings one mark, as it has
    /// one packet to mark, and the law goes on from the instant at which that was due (210 + 100/√2 ms).
    #[test]
    fn marks_come_where_drops_would() {
        let config = CoDelConfig { ecn: true, ..CoDelConfig::default() };
        for ecn in [Ecn::Ect0, Ecn::Ect1] {
            let mut queue = backlogged_of(config, 200, ecn);
            let mut times = Vec::new();
            for at in (0..60).map(|k| 10 * k) {
                let item = queue.pop(ms(at), |_| panic!("all can be marked")).expect("a backlog");
                times.extend((item.ecn == Ecn::Ce).then_some(at));
            }
            assert_eq!(times, [110, 210, 290, 340, 390, 440, 480, 520, 550, 590]);
            assert_eq!((queue.marked(), queue.control.count), (10, 10));
        }
        let mut queue = backlogged_of(config, 200, Ecn::Ect0);
        let counts = [0, 10, 110, 410].map(|at| drops(&mut queue, ms(at)));
        assert_eq!((counts, queue.marked()), ([0; 4], 2));
        assert_eq!(queue.control.drop_next.as_nanos(), 210_000_000 + 70_710_678);
        // Without the capability, and without the wish, nothing is marked.
        for (config, ecn) in [(config, Ecn::NotEct), (CoDelConfig::default(), Ecn::Ect0)] {
            let mut queue = backlogged_of(config, 200, ecn);
            let counts = [0, 10, 110, 410].map(|at| drops(&mut queue, ms(at)));
            assert_eq!((counts, queue.marked()), ([0, 0, 1, 4], 0));
        }
    }

    #[test]
    fn a_late_pop_makes_up_for_the_drops_that_were_due() {
        let mut queue = backlogged(200);
        let counts = [0, 10, 110, 410].map(|at| drops(&mut queue, ms(at)));
        // Due at 210, 280.7, 338.4 and 388.4 ms; the next one at 433.2 ms.
        assert_eq!(counts, [0, 0, 1, 4]);
        assert_eq!(queue.control.drop_next.as_nanos(), 433_167_063);
    }

    /// A packet that waited for less than the target ends the dropping. If the wait is above again within 16 intervals,
    /// count goes on from the drops of the last time, one less; after more than that it starts again.
    #[test]
    fn the_rate_of_drops_is_remembered_for_sixteen_intervals() {
        for (pause, count) in [(0, 4), (3_000, 1)] {
            let mut queue = backlogged(200);
            for at in [0, 10, 110, 210, 290, 340, 390] {
                drops(&mut queue, ms(at));
            }
            assert_eq!((queue.control.count, queue.control.dropping), (5, true));
            while queue.items.pop().is_some() {}
            let start = 400 + pause;
            for id in 0..100 {
                queue.push(Item::new(id, 0, 1500), ms(start)).expect("room");
            }
            assert_eq!((drops(&mut queue, ms(start + 4)), queue.control.dropping), (0, false));
            // Above from start + 5 ms on: dropped an interval later.
            assert_eq!([5, 104, 105].map(|after| drops(&mut queue, ms(start + after))), [0, 0, 1]);
            assert_eq!((queue.control.count, queue.control.lastcount), (count, count));
            let law = control_law(Duration::from_millis(100), count);
            assert_eq!(queue.control.drop_next, ms(start + 105) + law);
        }
    }

    #[test]
    fn a_backlog_of_one_packet_is_not_dropped() {
        let mut queue = backlogged(3);
        assert_eq!([200, 400].map(|at| drops(&mut queue, ms(at))), [0, 0]);
        assert_eq!((drops(&mut queue, ms(600)), queue.len()), (0, 0));
        // An empty queue is no queue: the wait must be above the target for an interval again.
        assert!(queue.pop(ms(700), |_| unreachable!()).is_none());
        assert_eq!(queue.control.first_above_time, None);
    }

    #[test]
    fn a_full_queue_refuses_the_newest() {
        let mut queue = backlogged(2);
        assert!(queue.push(Item::new(2, 0, 1500), ms(0)).is_err());
        assert_eq!((queue.len(), queue.space()), (2, 0));
    }
}
