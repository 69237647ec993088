//! The four metrics of a packet (Table I of the paper).

use super::super::tfrc::Receipts;
use crate::time::{Duration, Instant};

/// The unit of a timestamp, in nanoseconds: 10 µs (RFC 4340, section 13.1).
const TIMESTAMP_UNIT: i64 = 10_000;

/// What was measured when a packet arrived, over the round trip T before.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// IAD: time since the packet that arrived before it, in nanoseconds; `None` for the first. Nothing is identified by it: the
    /// paper compares IDD with it (figure 1).
    pub arrival_interval: Option<i64>,
    /// IDD: how much longer this packet took than the one that arrived before it, in nanoseconds; `None` for the first.
    pub delay_difference: Option<i64>,
    /// STT: packets per second.
    pub throughput: f64,
    /// POR: which part of them came after one that was sent later.
    pub reordered: f64,
    /// PLR: packets found lost for each that came; may be above 1.
    pub lost: f64,
}

/// Takes the samples of a flow.
#[derive(Clone, Debug, Default)]
pub(crate) struct Metrics {
    arrived: Receipts,
    reordered: Receipts,
    lost: Receipts,
    /// When the last packet left by its sender's clock, and when it arrived.
    last: Option<(u32, Instant)>,
    /// T_maxtx: the latest departure of all.
    latest: Option<u32>,
}

/// A round trip of nothing, as a peer might pretend, has no throughput.
const SHORTEST: Duration = Duration::from_micros(1);

impl Metrics {
    /// Nothing arrived yet.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// A packet that left at `timestamp` (in units of 10 µs) arrives; `lost` packets were found lost since the last one.
    /// `rtt` is the round-trip time.
    pub(crate) fn on_packet(&mut self, timestamp: u32, lost: u64, rtt: Duration, now: Instant) -> Sample {
        let rtt = rtt.max(SHORTEST);
        let intervals = self.last.replace((timestamp, now)).map(|(before, at)| {
            // Clocks wrap; an arrival never lies before the last.
            let sent = i64::from(timestamp.wrapping_sub(before) as i32) * TIMESTAMP_UNIT;
            (now.saturating_since(at).as_nanos() as i64, sent)
        });
        let late = self.latest.is_some_and(|latest| (timestamp.wrapping_sub(latest) as i32) < 0);
        if !late {
            self.latest = Some(timestamp);
        }
        self.arrived.add(1, 0, rtt, now);
        self.reordered.add(u64::from(late), 0, rtt, now);
        self.lost.add(lost, 0, rtt, now);
        // The packet itself is one of them.
        let packets = self.arrived.packets() as f64;
        Sample {
            arrival_interval: intervals.map(|(arrived, _)| arrived),
            delay_difference: intervals.map(|(arrived, sent)| arrived.saturating_sub(sent)),
            throughput: packets / rtt.as_secs_f64(),
            reordered: self.reordered.packets() as f64 / packets,
            lost: self.lost.packets() as f64 / packets,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Duration = Duration::from_millis(100);

    /// Timestamps and arrivals in milliseconds, and losses.
    fn samples(packets: &[(u32, u64, u64)]) -> Vec<Sample> {
        let mut metrics = Metrics::new();
        let at = |ms| Instant::START + Duration::from_millis(ms);
        packets.iter().map(|&(sent, arrived, lost)| metrics.on_packet(100 * sent, lost, RTT, at(arrived))).collect()
    }

    #[test]
    fn table_1_delay_differences_grow_with_a_queue_and_ignore_losses_and_pauses() {
        // Each takes 2 ms longer than the one before; then a gap in sending, then a late one.
        let samples = samples(&[(0, 50, 0), (10, 62, 0), (20, 74, 0), (60, 114, 0), (50, 115, 0), (70, 125, 0)]);
        let differences: Vec<_> = samples.iter().map(|sample| sample.delay_difference).collect();
        let ms = |n: i64| Some(n * 1_000_000);
        assert_eq!(differences, [None, ms(2), ms(2), ms(0), ms(11), ms(-10)]);
    }

    #[test]
    fn figure_1_losses_and_another_rate_move_the_arrival_interval_and_not_the_delay_difference() {
        let ms = |n: i64| Some(n * 1_000_000);
        let intervals = |packets: &[(u32, u64, u64)]| {
            let seen = samples(packets);
            seen.iter().map(|sample| (sample.arrival_interval, sample.delay_difference)).collect::<Vec<_>>()
        };
        // Each takes 50 ms. Every 10 ms one leaves, and the second and third are lost; then every 5 ms.
        let lossy = intervals(&[(0, 50, 0), (30, 80, 2), (40, 90, 0)]);
        assert_eq!(lossy, [(None, None), (ms(30), ms(0)), (ms(10), ms(0))]);
        let faster = intervals(&[(0, 50, 0), (10, 60, 0), (15, 65, 0)]);
        assert_eq!(faster, [(None, None), (ms(10), ms(0)), (ms(5), ms(0))]);
    }

    #[test]
    fn table_1_throughput_and_ratios_over_one_round_trip() {
        let samples = samples(&[(0, 0, 0), (20, 20, 0), (10, 30, 0), (50, 50, 2), (60, 119, 0), (70, 151, 1)]);
        let seen: Vec<_> = samples.iter().map(|sample| (sample.throughput, sample.reordered, sample.lost)).collect();
        assert_eq!(seen[0], (10.0, 0.0, 0.0));
        assert_eq!(seen[2], (30.0, 1.0 / 3.0, 0.0));
        assert_eq!(seen[3], (40.0, 0.25, 0.5));
        // The first has gone; at 151 all before 119.
        assert_eq!(seen[4], (40.0, 0.25, 0.5));
        assert_eq!(seen[5], (20.0, 0.0, 0.5));
    }

    #[test]
    fn the_sender_s_clock_may_wrap() {
        let mut metrics = Metrics::new();
        metrics.on_packet(u32::MAX - 99, 0, RTT, Instant::START);
        let sample = metrics.on_packet(100, 0, RTT, Instant::START + Duration::from_millis(5));
        assert_eq!((sample.delay_difference, sample.reordered), (Some(3_000_000), 0.0));
        let sample = metrics.on_packet(u32::MAX, 0, RTT, Instant::START + Duration::from_millis(5));
        assert_eq!((sample.delay_difference, sample.reordered), (Some(1_010_000), 1.0 / 3.0));
    }
}
