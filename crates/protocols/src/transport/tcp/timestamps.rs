//! Timestamps: measurement of round trips, and protection against numbers of an earlier turn (RFC 7323, sections 3 to 5).

use hopcast_wire::tcp::Timestamps;

use crate::time::{Duration, Instant};

/// One tick of the own clock (section 5.4: 1 ms to 1 s).
pub(super) const TICK: Duration = Duration::from_millis(1);
/// After so long without a segment, TS.Recent proves nothing (section 5.5).
const OUTDATED: Duration = Duration::from_secs(24 * 24 * 3600);

/// What a connection with timestamps remembers of the peer's clock.
#[derive(Clone, Copy, Debug)]
pub(super) struct PeerClock {
    /// TS.Recent.
    recent: u32,
    /// When that was taken.
    taken: Instant,
}

impl PeerClock {
    /// The peer's SYN came with `value`.
    pub(super) fn new(value: u32, now: Instant) -> Self {
        Self { recent: value, taken: now }
    }

    /// Whether a segment is older than what has arrived (PAWS; section 5.3, R1).
    pub(super) fn is_old(&self, value: u32, now: Instant) -> bool {
        is_before(value, self.recent) && now.saturating_since(self.taken) < OUTDATED
    }

    /// Takes the value of a segment from `start`, where everything before `acknowledged` was acknowledged: its echo then measures
    /// the time up to the acknowledgement of the earliest segment that one covers, or of what was repeated last (section 4.3).
    pub(super) fn update(&mut self, value: u32, start: i64, acknowledged: u64, now: Instant) {
        if start <= acknowledged as i64 && !self.is_old(value, now) {
            *self = Self::new(value, now);
        }
    }

    /// What goes out at `now`.
    pub(super) fn stamp(&self, now: Instant) -> Timestamps {
        Timestamps { value: ticks(now), echo: self.recent }
    }
}

/// What goes out with a SYN, before the peer's clock is known (section 3.2).
pub(super) fn first_stamp(now: Instant) -> Timestamps {
    Timestamps { value: ticks(now), echo: 0 }
}

/// The round trip that an echo tells (section 4.1); `None` for one that was never sent.
pub(super) fn round_trip(echo: u32, now: Instant) -> Option<Duration> {
    let passed = ticks(now).wrapping_sub(echo);
    (passed < 1 << 31).then(|| TICK * u64::from(passed))
}

/// TS.Val, which wraps by intent.
fn ticks(now: Instant) -> u32 {
    (now.as_nanos() / TICK.as_nanos()) as u32
}

fn is_before(one: u32, other: u32) -> bool {
    (one.wrapping_sub(other) as i32) < 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(secs: u64) -> Instant {
        Instant::from_nanos(secs * 1_000_000_000)
    }

    #[test]
    fn section_5_3_values_compare_across_the_wrap() {
        let clock = PeerClock::new(5, at(0));
        assert!(clock.is_old(4, at(1)) && clock.is_old(u32::MAX, at(1)) && clock.is_old(5 + (1 << 31), at(1)));
        assert!(!clock.is_old(5, at(1)) && !clock.is_old(6, at(1)) && !clock.is_old(4 + (1 << 31), at(1)));
    }

    #[test]
    fn section_5_5_a_value_of_24_days_ago_proves_nothing() {
        let clock = PeerClock::new(5, at(0));
        assert!(clock.is_old(4, at(24 * 86_400 - 1)) && !clock.is_old(4, at(24 * 86_400)));
    }

    #[test]
    fn section_4_3_the_earliest_unacknowledged_segment_is_echoed() {
        let mut clock = PeerClock::new(5, at(0));
        // Ahead of a gap, then in order.
        clock.update(9, 2000, 1000, at(1));
        assert_eq!(clock.stamp(at(2)), Timestamps { value: 2000, echo: 5 });
        clock.update(8, 1000, 1000, at(1));
        assert_eq!(clock.stamp(at(2)), Timestamps { value: 2000, echo: 8 });
        // A second one before the acknowledgement does not replace it.
        clock.update(10, 2000, 1000, at(1));
        assert_eq!(clock.stamp(at(2)).echo, 8);
    }

    #[test]
    fn section_4_1_a_round_trip_is_what_has_passed_since_the_echoed_value() {
        assert_eq!(round_trip(700, at(1)), Some(Duration::from_millis(300)));
        assert_eq!(round_trip(1001, at(1)), None);
        // 50 days: the clock has wrapped.
        assert_eq!(round_trip(u32::MAX, Instant::from_nanos((1 << 32) * 1_000_000)), Some(TICK));
    }
}
