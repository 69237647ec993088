//! A conversation over time, in a bounded number of intervals, however long it lasts.

use hopcast_protocols::time::{Duration, Instant};

/// Events in equal intervals from the start of the run. When there are too many intervals, each two become one.
#[derive(Clone, Debug, PartialEq)]
pub struct Course {
    interval: Duration,
    /// Intervals in which something happened, each with its place from the start of the run. Empty ones are not kept: a conversation whose
    /// ports come back after hours has little to remember.
    kept: Vec<(u32, Interval)>,
}

/// A conversation in one interval.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Interval {
    /// Packets sent in it.
    pub sent_packets: u64,
    /// Of those, packets that have arrived, in this interval or later.
    pub arrived_packets: u64,
    /// Packets that arrived in it.
    pub received_packets: u64,
    /// Their application bytes.
    pub received_bytes: u64,
    /// Sum of their delays.
    pub delay_sum: Duration,
    /// The largest of their delays.
    pub delay_max: Duration,
    /// Pictures of video that were whole in it.
    pub frames: u64,
    /// Time for which the video was frozen.
    pub freeze_time: Duration,
}

/// The length of an interval at first.
const FIRST_INTERVAL: Duration = Duration::from_millis(100);
/// The most intervals.
const MOST: u64 = 1000;
/// One in which nothing happens.
static EMPTY: Interval = Interval {
    sent_packets: 0,
    arrived_packets: 0,
    received_packets: 0,
    received_bytes: 0,
    delay_sum: Duration::ZERO,
    delay_max: Duration::ZERO,
    frames: 0,
    freeze_time: Duration::ZERO,
};

impl Default for Course {
    fn default() -> Self {
        Self { interval: FIRST_INTERVAL, kept: Vec::new() }
    }
}

impl Course {
    /// A packet was sent at `now`.
    pub fn handle_sent(&mut self, now: Instant) {
        self.at(now).sent_packets += 1;
    }

    /// A packet with this number of application bytes, sent at `sent`, arrived at `now`.
    pub fn handle_received(&mut self, octets: u32, sent: Instant, now: Instant) {
        let delay = now.saturating_since(sent);
        self.at(sent).arrived_packets += 1;
        let interval = self.at(now);
        interval.received_packets += 1;
        interval.received_bytes += u64::from(octets);
        interval.delay_sum = interval.delay_sum.saturating_add(delay);
        interval.delay_max = interval.delay_max.max(delay);
    }

    /// A picture was whole at `now`; the one before had been frozen since an instant, if that was a freeze.
    pub(super) fn handle_frame(&mut self, frozen_since: Option<Instant>, now: Instant) {
        self.at(now).frames += 1;
        let mut from = frozen_since.unwrap_or(now);
        while from < now {
            let elapsed = from.saturating_since(Instant::START).as_nanos();
            let end = Instant::START + self.interval * (elapsed / self.interval.as_nanos() + 1);
            let to = end.min(now);
            self.at(from).freeze_time += to.saturating_since(from);
            from = to;
        }
    }

    /// The intervals from the first one with a packet to the last one: the end of each, not beyond that of the run at `end`, its length
    /// in seconds, and what happened in it.
    pub fn intervals(&self, end: Instant) -> impl Iterator<Item = (Instant, f64, &Interval)> {
        let first = self.kept.iter().position(|(_, interval)| *interval != EMPTY);
        let kept = &self.kept[first.unwrap_or(self.kept.len())..];
        let places = match kept {
            [(first, _), ..] => *first..kept.last().map_or(*first, |(last, _)| *last) + 1,
            [] => 0..0,
        };
        let mut kept = kept.iter().peekable();
        places.map(move |place| {
            let interval = kept.next_if(|(next, _)| *next == place).map_or(&EMPTY, |(_, interval)| interval);
            let start = Instant::START + self.interval * u64::from(place);
            let last = (start + self.interval).min(end);
            (last, last.saturating_since(start).as_secs_f64(), interval)
        })
    }

    /// The interval in which `now` lies.
    fn at(&mut self, now: Instant) -> &mut Interval {
        let elapsed = now.saturating_since(Instant::START).as_nanos();
        while elapsed / self.interval.as_nanos() >= MOST {
            self.widen();
        }
        let place = (elapsed / self.interval.as_nanos()) as u32;
        let at = self.kept.partition_point(|(kept, _)| *kept < place);
        if self.kept.get(at).is_none_or(|(kept, _)| *kept != place) {
            self.kept.insert(at, (place, EMPTY));
        }
        &mut self.kept[at].1
    }

    /// Makes one of each two intervals.
    fn widen(&mut self) {
        self.interval = self.interval + self.interval;
        let mut wider: Vec<(u32, Interval)> = Vec::new();
        for (place, interval) in &self.kept {
            match wider.last_mut() {
                Some((last, sum)) if *last == place / 2 => *sum = joined(*sum, interval),
                _ => wider.push((place / 2, *interval)),
            }
        }
        self.kept = wider;
    }
}

fn joined(first: Interval, second: &Interval) -> Interval {
    Interval {
        sent_packets: first.sent_packets + second.sent_packets,
        arrived_packets: first.arrived_packets + second.arrived_packets,
        received_packets: first.received_packets + second.received_packets,
        received_bytes: first.received_bytes + second.received_bytes,
        delay_sum: first.delay_sum.saturating_add(second.delay_sum),
        delay_max: first.delay_max.max(second.delay_max),
        frames: first.frames + second.frames,
        freeze_time: first.freeze_time + second.freeze_time,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(millis: u64) -> Instant {
        Instant::START + Duration::from_millis(millis)
    }

    #[test]
    fn a_packet_counts_where_it_left_and_where_it_arrived() {
        let mut course = Course::default();
        for (sent, arrived) in [(210, Some(230)), (299, Some(305)), (299, None)] {
            course.handle_sent(at(sent));
            if let Some(arrived) = arrived {
                course.handle_received(50, at(sent), at(arrived));
            }
        }
        let rows: Vec<_> =
            course.intervals(at(350)).map(|(end, seconds, interval)| (end, seconds, *interval)).collect();
        let ms = Duration::from_millis;
        let third = Interval {
            sent_packets: 3,
            arrived_packets: 2,
            received_packets: 1,
            received_bytes: 50,
            delay_sum: ms(20),
            delay_max: ms(20),
            ..Interval::default()
        };
        let fourth = Interval {
            received_packets: 1,
            received_bytes: 50,
            delay_sum: ms(6),
            delay_max: ms(6),
            ..Interval::default()
        };
        assert_eq!(rows, [(at(300), 0.1, third), (at(350), 0.05, fourth)]);
        assert_eq!(Course::default().intervals(at(9)).count(), 0);
    }

    #[test]
    fn a_freeze_lies_in_each_interval_that_it_touches() {
        let mut course = Course::default();
        course.handle_frame(None, at(90));
        course.handle_frame(Some(at(90)), at(330));
        let rows: Vec<_> = course.intervals(at(400)).map(|(.., row)| (row.frames, row.freeze_time)).collect();
        let ms = Duration::from_millis;
        assert_eq!(rows, [(1, ms(10)), (0, ms(100)), (0, ms(100)), (1, ms(30))]);
    }

    #[test]
    fn a_conversation_keeps_no_empty_intervals() {
        let places = |course: &Course| course.kept.iter().map(|(place, _)| *place).collect::<Vec<_>>();
        let mut course = Course::default();
        course.handle_sent(at(90_150));
        assert_eq!(places(&course), [901]);
        // What comes after 100 s makes one interval of each two.
        course.handle_received(50, at(90_150), at(100_050));
        assert_eq!(places(&course), [450, 500]);
        let rows: Vec<_> = course.intervals(at(200_000)).map(|(end, _, row)| (end, row.sent_packets)).collect();
        assert_eq!((rows[0], rows[50]), ((at(90_200), 1), (at(100_200), 0)));
    }

    proptest! {
        #[test]
        fn times_have_any_order(times in prop::collection::vec(0..1_000_000_u64, 1..60)) {
            let (mut course, mut sorted) = (Course::default(), Course::default());
            times.iter().for_each(|&time| course.handle_sent(at(time)));
            let mut times = times;
            times.sort_unstable();
            times.iter().for_each(|&time| sorted.handle_sent(at(time)));
            prop_assert_eq!(&course, &sorted);
            // Each packet is in the interval in which it was sent.
            let length = course.interval.as_nanos();
            for (end, _, row) in course.intervals(at(10_000_000)) {
                let end = end.saturating_since(Instant::START).as_nanos();
                let within = |&&time: &&u64| (end - length..end).contains(&(time * 1_000_000));
                prop_assert_eq!(row.sent_packets, times.iter().filter(within).count() as u64);
            }
        }
    }

    #[test]
    fn intervals_grow_with_the_run_and_lose_nothing() {
        let mut course = Course::default();
        for second in 0..10_000 {
            course.handle_sent(at(second * 1000));
        }
        let rows: Vec<_> = course.intervals(at(10_000_000)).collect();
        assert_eq!(rows.len(), 782, "of 12.8 s each");
        assert_eq!(rows.iter().map(|(_, _, interval)| interval.sent_packets).sum::<u64>(), 10_000);
        assert_eq!((rows[1].0, rows[1].2.sent_packets), (at(25_600), 13));
    }
}
