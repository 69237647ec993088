//! The clock of a source's timestamps, and its interarrival jitter.

use hopcast_protocols::time::{Duration, Instant};

use super::super::interarrival::InterarrivalJitter;

/// Rates that payload formats have, in ticks a second; where the payload type does not tell it, the source's is one of these.
const RATES: [u32; 9] = [8_000, 11_025, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000, 90_000];
/// That of all video (RFC 3551, section 5).
const VIDEO: u32 = 90_000;
/// For so long timestamps are compared with the instants of sending before a rate is told.
const LONG_ENOUGH: Duration = Duration::from_millis(500);
/// How far the rate that is found may be from one of [`RATES`]: the closest of them are 8 % apart.
const TOLERANCE: f64 = 0.04;

/// Timestamps of a source against the instants at which its packets were sent and arrived.
#[derive(Clone, Debug, Default)]
pub(super) struct Clock {
    /// Timestamp and sending of the first packet, and of the latest.
    first: Option<(i64, Instant)>,
    latest: (i64, Instant),
    /// For each of [`RATES`]: which of them is the source's is known later.
    jitters: [InterarrivalJitter; RATES.len()],
}

impl Clock {
    /// A packet with this timestamp, sent at `sent`, arrived at `now`.
    pub(super) fn handle_arrival(&mut self, timestamp: u32, sent: Instant, now: Instant) {
        // Timestamps wrap around.
        let extended = match self.first {
            Some(_) => self.latest.0 + i64::from(timestamp.wrapping_sub(self.latest.0 as u32) as i32),
            None => i64::from(timestamp),
        };
        let (start, _) = *self.first.get_or_insert((extended, sent));
        self.latest = (extended, sent);
        for (jitter, rate) in self.jitters.iter_mut().zip(RATES) {
            jitter.handle_transit(now.as_secs_f64() - (extended - start) as f64 / f64::from(rate));
        }
    }

    /// The rate that is assigned to a payload type, or that its timestamps show.
    pub(super) fn rate(&self, payload_type: u8) -> Option<u32> {
        assigned(payload_type).or_else(|| self.shown())
    }

    /// Mean and maximum of the interarrival jitter in seconds, if the rate is this one of [`RATES`].
    pub(super) fn jitter(&self, rate: u32) -> Option<[f64; 2]> {
        let place = RATES.iter().position(|&known| known == rate)?;
        Some([self.jitters[place].mean()?, self.jitters[place].max()?])
    }

    fn shown(&self) -> Option<u32> {
        let (timestamp, sent) = self.first?;
        let elapsed = self.latest.1.saturating_since(sent);
        let rate = (self.latest.0 - timestamp) as f64 / elapsed.as_secs_f64();
        let is_close = |known: &u32| (rate / f64::from(*known) - 1.0).abs() <= TOLERANCE;
        RATES.into_iter().find(is_close).filter(|_| elapsed >= LONG_ENOUGH)
    }
}

/// Whether packets with one timestamp are a picture: in MPEG audio (14) and MPEG transport streams (33), whose clock is that of
/// video, they are not.
pub(super) fn is_video(payload_type: u8, rate: Option<u32>) -> bool {
    rate == Some(VIDEO) && !matches!(payload_type, 14 | 33)
}

/// The rate of a static payload type (RFC 3551, tables 4 and 5).
fn assigned(payload_type: u8) -> Option<u32> {
    match payload_type {
        0 | 3..=5 | 7..=9 | 12 | 13 | 15 | 18 => Some(8_000),
        6 => Some(16_000),
        10 | 11 => Some(44_100),
        16 => Some(11_025),
        17 => Some(22_050),
        14 | 25 | 26 | 28 | 31..=34 => Some(VIDEO),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Instant {
        Instant::START + Duration::from_millis(millis)
    }

    /// After packets each 20 ms, whose timestamps advance by this number of ticks.
    fn after(first: u32, ticks: u32, packets: u64) -> Clock {
        let mut clock = Clock::default();
        for packet in 0..packets {
            clock.handle_arrival(first.wrapping_add(ticks * packet as u32), at(20 * packet), at(20 * packet + 7));
        }
        clock
    }

    #[test]
    fn a_dynamic_payload_type_has_the_rate_that_its_timestamps_show() {
        for rate in RATES {
            assert_eq!(after(u32::MAX - 100, rate / 50, 50).rate(96), Some(rate));
        }
        assert_eq!(after(0, 1800, 20).rate(96), None, "too short");
        assert_eq!(after(0, 1234, 100).rate(96), None, "no rate that there is");
        assert_eq!(after(0, 1234, 100).rate(0), Some(8000), "RFC 3551 assigns it");
    }

    #[test]
    fn appendix_a_8_by_hand() {
        let mut clock = after(0, 160, 2);
        // 16 ms later than the one before: J is 1 ms, after 0 ms at the second packet.
        clock.handle_arrival(320, at(40), at(63));
        let [mean, max] = clock.jitter(8_000).expect("three packets arrived");
        assert!((max - 1e-3).abs() < 1e-9 && (mean - 0.5e-3).abs() < 1e-9, "{mean} {max}");
    }

    #[test]
    fn video_has_a_clock_of_90_khz() {
        assert!(is_video(96, Some(90_000)) && is_video(26, assigned(26)));
        assert!(!is_video(96, Some(48_000)) && !is_video(33, assigned(33)) && !is_video(96, None));
    }
}
