//! A flow over time, in a bounded number of samples.

use super::{RateControl, Spread};
use hopcast_protocols::time::{Duration, Instant};
use hopcast_protocols::transport::adtfrc;

/// Samples at equal intervals: at most a thousand in a run, and at least 100 ms apart.
#[derive(Clone, Debug)]
pub struct Series {
    interval: Duration,
    next: Instant,
    current: Sample,
    samples: Vec<Sample>,
}

/// A flow in one interval. Windows and round-trip time are those at its end, of the flow's first connection.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sample {
    /// End of the interval, or of the run if that is within it.
    pub time: Instant,
    /// Application bytes that reached the sink in the interval.
    pub received_bytes: u64,
    /// Packets that arrived in the interval.
    pub arrivals: u32,
    /// Sum of their delays.
    pub delay_sum: Duration,
    /// Their jitter, each compared with the packet before.
    pub jitter: Spread,
    /// Congestion window in bytes; zero without one.
    pub cwnd: u32,
    /// Slow start threshold in bytes; zero without one.
    pub ssthresh: u32,
    /// Smoothed round-trip time; zero before the first measurement.
    pub srtt: Duration,
    /// State of the sender with TFRC or ADTFRC.
    pub control: Option<RateControl>,
    /// Changes of the route to the sink in the interval.
    pub route_changes: u32,
    /// Measurements of ADTFRC's receiver in the interval; `None` without an arrival.
    pub path: Option<PathSample>,
}

/// The metrics of ADTFRC (Fu, Meng, Lu, Table I) in one interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathSample {
    /// Mean inter-packet delay difference of the packets that arrived, in seconds.
    pub delay_difference: f64,
    /// Mean time between two of them, in seconds.
    pub arrival_interval: f64,
    /// Their number.
    pub packets: u32,
    /// Short-term throughput at the last of them, in packets per second.
    pub throughput: f64,
    /// Packet out-of-order ratio at the last of them.
    pub reordered: f64,
    /// The largest packet out-of-order ratio of any of them.
    pub most_reordered: f64,
    /// Packet loss ratio at the last of them.
    pub lost: f64,
}

impl Series {
    /// The shortest interval between two samples.
    pub const MIN_INTERVAL: Duration = Duration::from_millis(100);
    /// Largest number of samples of a run.
    pub const MAX_SAMPLES: u64 = 1000;

    /// A series for a run of `duration`.
    pub fn new(duration: Duration) -> Self {
        let interval = Self::MIN_INTERVAL.max(Duration::from_nanos(duration.as_nanos().div_ceil(Self::MAX_SAMPLES)));
        // At most `Self::MAX_SAMPLES` and the one at the end: room for all of them, so that no event of the run allocates.
        let samples = Vec::with_capacity((duration.as_nanos() / interval.as_nanos()) as usize + 1);
        Self { interval, next: Instant::START + interval, current: Sample::default(), samples }
    }

    /// Bytes reached the sink at `now`. An arrival at the end of an interval belongs to the next.
    pub fn handle_received(&mut self, octets: u32, now: Instant) {
        self.advance(now);
        self.current.received_bytes += u64::from(octets);
    }

    /// A packet arrived at `now` after `delay`, which differed by `jitter` from the packet before.
    pub(crate) fn handle_delay(&mut self, delay: Duration, jitter: Option<Duration>, now: Instant) {
        self.advance(now);
        self.current.arrivals += 1;
        self.current.delay_sum = self.current.delay_sum.saturating_add(delay);
        if let Some(jitter) = jitter {
            self.current.jitter.insert(jitter);
        }
    }

    /// The state of the sender changed at `now`.
    pub(crate) fn handle_sender(&mut self, cwnd: u32, ssthresh: u32, srtt: Duration, now: Instant) {
        self.advance(now);
        self.current = Sample { cwnd, ssthresh, srtt, ..self.current };
    }

    /// The state of a sender with TFRC or ADTFRC changed at `now`.
    pub(crate) fn handle_rate_control(&mut self, control: RateControl, now: Instant) {
        self.advance(now);
        self.current.control = Some(control);
        self.current.srtt = control.rtt;
    }

    /// A packet for the sink was led to another neighbour than the one before, at `now`.
    pub(crate) fn handle_route_change(&mut self, now: Instant) {
        self.advance(now);
        self.current.route_changes += 1;
    }

    /// ADTFRC's receiver measured `sample` at `now`.
    pub(crate) fn handle_path_sample(&mut self, sample: &adtfrc::Sample, now: Instant) {
        self.advance(now);
        // The first packet of all has no difference to one before.
        let (Some(difference), Some(interval)) = (sample.delay_difference, sample.arrival_interval) else { return };
        let before = self.current.path;
        let (differences, intervals, count) =
            before.map_or((0.0, 0.0, 0), |path| (path.delay_difference, path.arrival_interval, path.packets));
        let packets = count + 1;
        // A mean that goes along.
        let with = |mean: f64, nanos: i64| mean + (nanos as f64 / 1e9 - mean) / f64::from(packets);
        self.current.path = Some(PathSample {
            delay_difference: with(differences, difference),
            arrival_interval: with(intervals, interval),
            packets,
            throughput: sample.throughput,
            reordered: sample.reordered,
            most_reordered: before.map_or(0.0, |path| path.most_reordered).max(sample.reordered),
            lost: sample.lost,
        });
    }

    /// Closes the intervals that ended by `now`.
    pub fn advance(&mut self, now: Instant) {
        while self.next <= now {
            self.samples.push(Sample { time: self.next, ..self.current });
            let Sample { cwnd, ssthresh, srtt, control, .. } = self.current;
            self.current = Sample { cwnd, ssthresh, srtt, control, ..Sample::default() };
            self.next = Instant::from_nanos(self.next.as_nanos().saturating_add(self.interval.as_nanos()));
            if self.next == Instant::MAX {
                break;
            }
        }
    }

    /// The run ended at `now`: closes the intervals that ended by then, and the last partial one.
    pub fn finish(&mut self, now: Instant) {
        self.advance(now);
        if self.samples.last().map_or(Instant::START, |last| last.time) < now {
            self.samples.push(Sample { time: now, ..self.current });
        }
    }

    /// What is known of the interval that has not ended.
    pub(crate) fn current(&self) -> Sample {
        self.current
    }

    /// Time between two samples.
    pub fn interval(&self) -> Duration {
        self.interval
    }

    /// The samples of all closed intervals.
    pub fn samples(&self) -> &[Sample] {
        &self.samples
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_closed_in_order_also_silent_ones() {
        let mut series = Series::new(Duration::from_secs(10));
        let at = |millis| Instant::START + Duration::from_millis(millis);
        series.handle_received(10, at(0));
        series.handle_sender(2000, 9000, Duration::from_millis(3), at(50));
        series.handle_received(20, at(99));
        series.handle_received(40, at(100));
        series.handle_sender(3000, 9000, Duration::from_millis(4), at(350));
        series.advance(at(400));
        let rows: Vec<_> = series.samples().iter().map(|s| (s.received_bytes, s.cwnd)).collect();
        assert_eq!(rows, [(30, 2000), (40, 2000), (0, 2000), (0, 3000)]);
        assert_eq!(series.samples()[3].time, at(400));
    }

    #[test]
    fn the_end_of_a_run_closes_the_last_interval_short() {
        let at = |millis| Instant::START + Duration::from_millis(millis);
        for (end, expected) in [(250, vec![(100, 1), (200, 0), (250, 2)]), (200, vec![(100, 1), (200, 0)])] {
            let mut series = Series::new(Duration::from_millis(end));
            series.handle_received(1, at(50));
            if end > 200 {
                series.handle_received(2, at(240));
            }
            series.finish(at(end));
            let rows: Vec<_> = series.samples().iter().map(|sample| (sample.time, sample.received_bytes)).collect();
            let expected: Vec<_> = expected.into_iter().map(|(time, octets)| (at(time), octets)).collect();
            assert_eq!(rows, expected);
        }
    }

    #[test]
    fn delays_and_jitter_are_those_of_the_interval() {
        let mut series = Series::new(Duration::from_secs(10));
        let at = |millis| Instant::START + Duration::from_millis(millis);
        let ms = Duration::from_millis;
        series.handle_delay(ms(4), None, at(10));
        series.handle_delay(ms(7), Some(ms(3)), at(20));
        series.handle_delay(ms(6), Some(ms(1)), at(120));
        series.advance(at(300));
        let rows: Vec<_> = series.samples().iter().map(|s| (s.arrivals, s.delay_sum, s.jitter.count())).collect();
        assert_eq!(rows, [(2, ms(11), 1), (1, ms(6), 1), (0, ms(0), 0)]);
        assert_eq!(series.samples()[0].jitter.summary().unwrap().max, 0.003);
    }

    #[test]
    fn changes_of_the_route_are_those_of_the_interval() {
        let mut series = Series::new(Duration::from_secs(10));
        let at = |millis| Instant::START + Duration::from_millis(millis);
        [20, 90, 100].into_iter().for_each(|millis| series.handle_route_change(at(millis)));
        series.advance(at(300));
        assert_eq!(series.samples().iter().map(|s| s.route_changes).collect::<Vec<_>>(), [2, 1, 0]);
    }

    #[test]
    fn rate_control_stays_and_measurements_are_those_of_the_interval() {
        let mut series = Series::new(Duration::from_secs(10));
        let at = |millis| Instant::START + Duration::from_millis(millis);
        let control =
            RateControl { rate: 8e4, loss_event_rate: Some(0.1), rtt: Duration::from_millis(20), state: None };
        let sample = |difference, throughput| adtfrc::Sample {
            arrival_interval: Some(6_000_000),
            delay_difference: difference,
            throughput,
            reordered: if throughput < 3.0 { 0.25 } else { 0.0 },
            lost: 0.5,
        };
        series.handle_rate_control(control, at(10));
        series.handle_path_sample(&sample(None, 1.0), at(20));
        series.handle_path_sample(&sample(Some(4_000_000), 2.0), at(30));
        series.handle_path_sample(&sample(Some(-1_000_000), 3.0), at(40));
        series.advance(at(200));
        let [first, second] = series.samples() else { panic!("two intervals") };
        assert_eq!((first.control, first.srtt, second.control), (Some(control), control.rtt, Some(control)));
        let path = first.path.expect("packets arrived");
        assert!((path.delay_difference - 0.0015).abs() < 1e-12);
        assert!((path.arrival_interval - 0.006).abs() < 1e-12);
        assert_eq!((path.reordered, path.most_reordered), (0.0, 0.25));
        assert_eq!((path.packets, path.throughput, path.lost, second.path), (2, 3.0, 0.5, None));
    }

    #[test]
    fn a_long_run_has_no_more_samples_than_a_short_one() {
        let duration = Duration::from_secs(86_399);
        let mut series = Series::new(duration);
        series.advance(Instant::START + duration);
        assert!((999..=1000).contains(&series.samples().len()));
    }
}
