//! The window of TCP Prague, a scalable congestion control for L4S.
//!
//! Sources: draft-briscoe-iccrg-prague-congestion-control, section 2, and the requirements of RFC 9331, section 4.3. The share of bytes
//! that is marked is averaged over round trips into α. A mark reduces the window by α/2, once a round trip; what is not marked lets it
//! grow by a segment a round trip. In equilibrium two segments of a round trip are marked, whatever the window is.
//!
//! Limits: segments are sent as acknowledgements come, without pacing. There is no heuristic that looks for a classic bottleneck.

use super::{Ack, CongestionControl, Marks};
use crate::time::{Duration, Instant};

/// Below this round-trip time the window moves as if the round trip took so long, so that flows with other round trips get their share
/// (section 2.4.4: the reference round-trip time).
const REFERENCE_RTT: Duration = Duration::from_millis(25);
/// Gain of the average (section 2.4.2: g = 1/16).
const GAIN: f64 = 1.0 / 16.0;
/// Segments that the window keeps (section 2.4: two).
const LEAST_SEGMENTS: f64 = 2.0;

/// See the module.
#[derive(Clone, Debug)]
pub(crate) struct Prague {
    /// SMSS.
    segment: u32,
    initial_window: u32,
    /// In bytes.
    window: f64,
    slow_start_threshold: u32,
    /// The average share of marked bytes.
    alpha: f64,
    /// Bytes acknowledged, and marked ones among them, in this round.
    round: (u64, u64),
    /// When this round ends; none before the first acknowledgement.
    round_end: Option<Instant>,
    /// Until then marks belong to the reduction before.
    reduced_until: Instant,
    /// Marked bytes of the acknowledgement that is handled now: they let nothing grow.
    marked: u32,
}

impl Prague {
    /// A window of one byte until the connection is established.
    pub(crate) fn new() -> Self {
        Self {
            segment: 1,
            initial_window: 1,
            window: 1.0,
            slow_start_threshold: u32::MAX,
            // The first mark counts as if all were marked (section 2.4.2).
            alpha: 1.0,
            round: (0, 0),
            round_end: None,
            reduced_until: Instant::START,
            marked: 0,
        }
    }

    fn halve(&mut self, flight: u32) {
        // Equation 4 of RFC 5681: a loss counts as for a classic flow (RFC 9331, section 4.3).
        self.slow_start_threshold = (flight / 2).max(self.segment.saturating_mul(2));
    }

    /// α, from 0 to 1.
    #[cfg(test)]
    pub(crate) fn alpha(&self) -> f64 {
        self.alpha
    }
}

/// The round trip as the window sees it.
fn virtual_rtt(smoothed: Option<Duration>) -> Duration {
    smoothed.map_or(REFERENCE_RTT, |rtt| rtt.max(REFERENCE_RTT))
}

impl CongestionControl for Prague {
    fn on_established(&mut self, segment: u32, initial_window: u32) {
        self.segment = segment;
        self.initial_window = initial_window;
        self.window = f64::from(initial_window);
    }

    fn on_marks(&mut self, marks: &Marks) -> bool {
        let Marks { acked, marked, smoothed_rtt, is_recovering, now } = *marks;
        self.marked = marked;
        let rtt = virtual_rtt(smoothed_rtt);
        self.round.0 += u64::from(acked.max(marked));
        self.round.1 += u64::from(marked);
        let end = *self.round_end.get_or_insert(now + rtt);
        if now >= end {
            let share = if self.round.0 == 0 { 0.0 } else { self.round.1 as f64 / self.round.0 as f64 };
            self.alpha += GAIN * (share - self.alpha);
            self.round = (0, 0);
            self.round_end = Some(now + rtt);
        }
        if marked == 0 || is_recovering || now < self.reduced_until {
            return false;
        }
        let least = LEAST_SEGMENTS * f64::from(self.segment);
        self.window = (self.window * (1.0 - self.alpha / 2.0)).max(least);
        self.slow_start_threshold = self.window as u32;
        self.reduced_until = now + rtt;
        true
    }

    fn on_ack(&mut self, ack: &Ack) {
        let unmarked = f64::from(ack.acked.saturating_sub(core::mem::take(&mut self.marked)));
        let segment = f64::from(self.segment);
        if self.window < f64::from(self.slow_start_threshold) {
            // Equation 2 of RFC 5681.
            self.window += unmarked.min(segment);
            return;
        }
        let scale = match ack.smoothed_rtt {
            Some(rtt) if rtt < REFERENCE_RTT => rtt.as_secs_f64() / REFERENCE_RTT.as_secs_f64(),
            _ => 1.0,
        };
        // A segment a round trip; of round trips shorter than the reference so much less that the rate grows alike.
        self.window += unmarked * segment / self.window * scale * scale;
    }

    fn on_loss(&mut self, flight: u32, _: Instant) {
        self.halve(flight);
        self.window = f64::from(self.slow_start_threshold);
    }

    fn on_recovered(&mut self, limit: u32, _: Instant) {
        self.window = f64::from(self.slow_start_threshold.min(limit));
    }

    fn on_timeout(&mut self, flight: u32, first: bool, _: Instant) {
        if first {
            self.halve(flight);
        }
        // The loss window (RFC 5681, section 3.1).
        self.window = f64::from(self.segment);
    }

    fn on_idle(&mut self) {
        self.window = self.window.min(f64::from(self.initial_window));
    }

    fn window(&self) -> u32 {
        self.window as u32
    }

    fn slow_start_threshold(&self) -> u32 {
        self.slow_start_threshold
    }

    fn is_scalable(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u32 = 1000;

    fn established() -> Prague {
        let mut prague = Prague::new();
        prague.on_established(MSS, 10 * MSS);
        prague
    }

    fn at(millis: u64) -> Instant {
        Instant::START + Duration::from_millis(millis)
    }

    fn marks(acked: u32, marked: u32, millis: u64) -> Marks {
        let smoothed_rtt = Some(Duration::from_millis(50));
        Marks { acked, marked, smoothed_rtt, is_recovering: false, now: at(millis) }
    }

    fn ack(prague: &mut Prague, acked: u32, marked: u32, millis: u64) -> bool {
        let reduced = prague.on_marks(&marks(acked, marked, millis));
        let smoothed_rtt = Some(Duration::from_millis(50));
        prague.on_ack(&Ack { acked, flight: 0, smoothed_rtt, now: at(millis) });
        reduced
    }

    /// Slow start by a segment an acknowledgement; the first mark halves, since α is 1 then; the next one counts a round trip later.
    #[test]
    fn the_first_mark_ends_slow_start() {
        let mut prague = established();
        assert!(!ack(&mut prague, MSS, 0, 0));
        assert_eq!((prague.window(), prague.slow_start_threshold()), (11_000, u32::MAX));
        assert!(ack(&mut prague, MSS, MSS, 1));
        assert_eq!((prague.window(), prague.slow_start_threshold()), (5_500, 5_500));
        assert!(!ack(&mut prague, MSS, MSS, 50), "the same round trip");
        assert_eq!(prague.window(), 5_500);
        // α = 1 + (2/3 − 1)/16 after the round from 0 to 50 ms, with 2 of 3 segments marked.
        assert!((prague.alpha() - (1.0 - 1.0 / 48.0)).abs() < 1e-12);
        assert!(ack(&mut prague, MSS, MSS, 51));
        assert_eq!(prague.window(), (5_500.0 * (1.0 - (1.0 - 1.0 / 48.0) / 2.0)) as u32);
    }

    /// In congestion avoidance a window of unmarked data lets the window grow by about a segment, and marked data by nothing.
    #[test]
    fn what_is_marked_lets_nothing_grow() {
        let mut prague = established();
        prague.slow_start_threshold = MSS;
        for _ in 0..10 {
            ack(&mut prague, MSS, 0, 1);
        }
        assert!((10_900..=11_000).contains(&prague.window()), "{}", prague.window());
        prague.reduced_until = at(1000);
        let before = prague.window();
        ack(&mut prague, MSS, MSS, 2);
        assert_eq!(prague.window(), before);
    }

    /// α is a moving average of the shares of marked bytes: after n rounds with the share f it is f + (1 − f)(15/16)ⁿ.
    #[test]
    fn alpha_follows_the_share_of_marks() {
        let mut prague = established();
        for round in 0..100_u32 {
            for n in 0..10 {
                ack(&mut prague, MSS, if n == 0 { MSS } else { 0 }, u64::from(round * 50 + n * 5));
            }
        }
        // The first round ends at 50 ms, so 99 have ended.
        let expected = 0.1 + 0.9 * libm::pow(15.0 / 16.0, 99.0);
        assert!((prague.alpha() - expected).abs() < 0.01, "{}", prague.alpha());
    }

    /// Section 2.4: with a fraction p of the packets marked in each round trip, the window settles near 2/p segments.
    #[test]
    fn two_segments_of_a_round_trip_are_marked_in_equilibrium() {
        for every in [20_u32, 50, 100] {
            let mut prague = established();
            let (mut sent, mut millis, mut sum, mut rounds) = (0_u32, 0_u64, 0.0, 0.0);
            for round in 0..4000 {
                let segments = prague.window() / MSS;
                for n in 0..segments {
                    sent += 1;
                    let now = millis + u64::from(n) * 50 / u64::from(segments.max(1));
                    ack(&mut prague, MSS, if sent.is_multiple_of(every) { MSS } else { 0 }, now);
                }
                millis += 50;
                if round > 1000 {
                    sum += f64::from(segments);
                    rounds += 1.0;
                }
            }
            let expected = 2.0 * f64::from(every);
            let mean = sum / rounds;
            assert!((mean / expected - 1.0).abs() < 0.15, "{mean} segments with one of {every} marked");
        }
    }

    /// A loss counts as for Reno.
    #[test]
    fn a_loss_halves() {
        let mut prague = established();
        prague.on_loss(8 * MSS, at(0));
        assert_eq!((prague.window(), prague.slow_start_threshold()), (4_000, 4_000));
        prague.on_timeout(4 * MSS, true, at(0));
        assert_eq!((prague.window(), prague.slow_start_threshold()), (1_000, 2_000));
    }

    /// With a round trip of 5 ms, a fifth of the reference, a window of data adds 1/25 segment.
    #[test]
    fn short_round_trips_grow_as_the_reference_does() {
        let mut prague = established();
        prague.slow_start_threshold = MSS;
        for _ in 0..10 {
            let smoothed_rtt = Some(Duration::from_millis(5));
            prague.on_ack(&Ack { acked: MSS, flight: 0, smoothed_rtt, now: at(1) });
        }
        assert!((39..=41).contains(&(prague.window() - 10 * MSS)), "{}", prague.window());
    }
}
