//! The window counter of CCID 3, by which the receiver learns the round-trip time (RFC 4342, section 8.1).

use std::collections::VecDeque;

use crate::time::{Duration, Instant};

/// It has 4 bits.
const MODULUS: u8 = 16;
/// Steps in a round trip.
const STEPS: u8 = 4;
/// The most that it grows from one packet to the next.
const MOST: u64 = 5;

/// The sender's counter.
#[derive(Clone, Debug, Default)]
pub(super) struct WindowCounter {
    value: u8,
    /// When it grew last.
    since: Option<Instant>,
}

impl WindowCounter {
    /// The value for a data packet that leaves at `now`.
    pub(super) fn stamp(&mut self, rtt: Option<Duration>, now: Instant) -> u8 {
        let since = *self.since.get_or_insert(now);
        let quarter = rtt.map_or(0, |rtt| rtt.as_nanos() / u64::from(STEPS));
        let quarters = now.saturating_since(since).as_nanos().checked_div(quarter).unwrap_or(0).min(MOST);
        if quarters > 0 {
            self.value = (self.value + quarters as u8) % MODULUS;
            self.since = Some(if quarters < MOST { since + Duration::from_nanos(quarter * quarters) } else { now });
        }
        self.value
    }

    /// A packet with the value `acknowledged` was acknowledged: a round trip has passed since it left.
    pub(super) fn on_feedback(&mut self, acknowledged: u8, now: Instant) {
        let least = (acknowledged + STEPS) % MODULUS;
        let behind = (least + MODULUS - self.value) % MODULUS;
        // More than four is not behind, but ahead.
        if (1..=STEPS).contains(&behind) {
            self.value = least;
            self.since = Some(now);
        }
    }
}

/// The receiver's estimate of the sender's round-trip time.
#[derive(Clone, Debug)]
pub(super) struct CounterRtt {
    /// The first packet of each value among the last eight: the counter, unrolled, and when it arrived.
    marks: VecDeque<(u64, Instant)>,
    /// In seconds.
    rtt: f64,
    measured: bool,
}

/// Weight of the past, as the sender's (RFC 5348, section 4.3).
const MEMORY: f64 = 0.9;
/// The round-trip time while nothing is known of it (RFC 4340, section 3.4).
const UNKNOWN: Duration = Duration::from_millis(200);

impl CounterRtt {
    pub(super) fn new() -> Self {
        Self { marks: VecDeque::with_capacity(2 * usize::from(STEPS) + 1), rtt: UNKNOWN.as_secs_f64(), measured: false }
    }

    /// The handshake took `rtt`.
    pub(super) fn on_handshake(&mut self, rtt: Duration) {
        if !self.measured {
            self.rtt = rtt.as_secs_f64();
            self.measured = true;
        }
    }

    /// A data packet with the highest number so far arrives.
    pub(super) fn on_packet(&mut self, value: u8, now: Instant) {
        let Some(&(last, _)) = self.marks.back() else {
            self.marks.push_back((u64::from(value), now));
            return;
        };
        let step = u64::from((value + MODULUS - (last % u64::from(MODULUS)) as u8) % MODULUS);
        if step == 0 {
            return;
        }
        let counter = last + step;
        if step >= MOST {
            // At least so many quarters: how many, nobody knows.
            self.marks.clear();
        }
        self.marks.push_back((counter, now));
        // The latest packet that is a round trip or more earlier.
        let earlier = self.marks.iter().rev().find(|&&(earlier, _)| counter - earlier >= u64::from(STEPS));
        if let Some(&(earlier, at)) = earlier {
            let sample = now.saturating_since(at).as_secs_f64() * f64::from(STEPS) / (counter - earlier) as f64;
            self.rtt = if self.measured { MEMORY * self.rtt + (1.0 - MEMORY) * sample } else { sample };
            self.measured = true;
        }
        while self.marks.front().is_some_and(|&(earlier, _)| counter - earlier > 2 * u64::from(STEPS)) {
            self.marks.pop_front();
        }
    }

    /// The round-trip time.
    pub(super) fn get(&self) -> Duration {
        Duration::from_secs_f64(self.rtt)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Duration = Duration::from_millis(100);

    fn ms(n: u64) -> Instant {
        Instant::START + Duration::from_millis(n)
    }

    #[test]
    fn section_8_1_the_counter_grows_by_one_each_quarter() {
        let mut counter = WindowCounter::default();
        let values: Vec<u8> = [0, 24, 25, 49, 50, 130, 1000].map(|at| counter.stamp(Some(RTT), ms(at))).to_vec();
        assert_eq!(values, [0, 0, 1, 1, 2, 5, 10]);
        // Without a round-trip time it stands still.
        assert_eq!(counter.stamp(None, ms(5000)), 10);
    }

    #[test]
    fn section_8_1_an_acknowledged_packet_is_a_round_trip_old() {
        let mut counter = WindowCounter::default();
        counter.stamp(Some(RTT), ms(0));
        counter.on_feedback(0, ms(20));
        assert_eq!(counter.stamp(Some(RTT), ms(21)), 4);
        // An old one changes nothing.
        counter.on_feedback(15, ms(22));
        counter.on_feedback(0, ms(22));
        assert_eq!(counter.stamp(Some(RTT), ms(22)), 4);
    }

    #[test]
    fn the_receiver_finds_the_round_trip_of_the_sender() {
        for spacing in [1, 7, 20, 60] {
            let (mut counter, mut estimate) = (WindowCounter::default(), CounterRtt::new());
            assert_eq!(estimate.get(), UNKNOWN);
            let mut acknowledged = None;
            for nth in 0..2000 {
                let at = spacing * nth;
                let value = counter.stamp(Some(RTT), ms(at));
                estimate.on_packet(value, ms(at + 50));
                // Feedback once a round trip.
                match acknowledged {
                    None => acknowledged = Some((at, value)),
                    Some((sent, value)) if at - sent >= 100 => {
                        counter.on_feedback(value, ms(at));
                        acknowledged = None;
                    }
                    Some(_) => {}
                }
            }
            let rtt = estimate.get().as_secs_f64();
            // To the spacing of the packets.
            assert!((0.06..=0.1 + 2e-3 * spacing as f64).contains(&rtt), "{spacing} ms apart: {rtt}");
        }
    }

    #[test]
    fn memory_is_bounded_whatever_the_values() {
        let mut estimate = CounterRtt::new();
        for nth in 0..10_000_u64 {
            estimate.on_packet((nth * nth % 16) as u8, ms(nth));
            assert!(estimate.marks.len() <= 9);
        }
    }
}
