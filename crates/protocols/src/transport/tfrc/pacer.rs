//! When packets leave (RFC 5348, sections 4.6 and 8.3).

use crate::time::{Duration, Instant};

/// The nominal departure of the last packet, from which the next one's follows.
///
/// Kept in this form so that a rate that changes meanwhile holds at once: what was to wait a minute at the old rate
/// doesn't.
#[derive(Clone, Debug, Default)]
pub(super) struct Pacer {
    /// When the last packet was to leave, and its length in bytes.
    last: Option<(Instant, u32)>,
    /// The next one doesn't leave before: a rate that rises speeds up what follows, not what has passed.
    floor: Instant,
}

impl Pacer {
    /// When a packet may leave that the application offered at `offered`, at `rate` bytes per second.
    pub(super) fn departure(&self, offered: Instant, rate: f64, least_interval: Duration) -> Instant {
        let Some((at, len)) = self.last else { return offered };
        let interval = Duration::from_secs_f64(f64::from(len) / rate).max(least_interval);
        // The end of time is never: an instant is not added to beyond it.
        let next = Instant::from_nanos(at.as_nanos().saturating_add(interval.as_nanos()));
        next.max(self.floor).max(offered)
    }

    /// The rate, so far `rate`, is about to change.
    pub(super) fn on_rate_change(&mut self, rate: f64, least_interval: Duration, now: Instant) {
        // What is due already stays due since then.
        self.floor = self.departure(Instant::START, rate, least_interval).min(now);
    }

    /// A packet of `len` bytes leaves at `now`, which was to leave at `nominal`. Up to `credit` of a delay is made up for
    /// by those that follow.
    pub(super) fn on_sent(&mut self, len: u32, nominal: Instant, credit: Duration, now: Instant) {
        // The first one was late for no rate.
        let nominal = if self.last.is_none() { now } else { nominal };
        self.last = Some((nominal.max(now.saturating_before(credit)).min(now), len));
    }

    /// Nothing leaves before `now`, and what was late until then isn't made up for.
    pub(super) fn restart(&mut self, now: Instant) {
        self.floor = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(n: u64) -> Instant {
        Instant::START + Duration::from_millis(n)
    }

    const RTT: Duration = Duration::from_millis(50);

    #[test]
    fn packets_leave_at_the_rate_and_not_before_they_are_there() {
        let mut pacer = Pacer::default();
        assert_eq!(pacer.departure(ms(5), 1e5, Duration::ZERO), ms(5));
        pacer.on_sent(1000, ms(5), RTT, ms(5));
        assert_eq!(pacer.departure(ms(5), 1e5, Duration::ZERO), ms(15));
        assert_eq!(pacer.departure(ms(100), 1e5, Duration::ZERO), ms(100));
        // Another rate holds at once, but not for the past.
        assert_eq!(pacer.departure(ms(5), 1e6, Duration::ZERO), ms(6));
        assert_eq!(pacer.departure(ms(5), 1e6, Duration::from_millis(10)), ms(15));
        pacer.on_rate_change(1e5, Duration::ZERO, ms(8));
        assert_eq!(pacer.departure(ms(5), 1e6, Duration::ZERO), ms(8));
        pacer.on_rate_change(1e6, Duration::ZERO, ms(20));
        assert_eq!(pacer.departure(ms(5), 1e7, Duration::ZERO), ms(8), "it was due then");
        pacer.on_sent(1000, ms(8), RTT, ms(20));
        assert_eq!(pacer.departure(ms(5), 1e6, Duration::ZERO), ms(9));
    }

    #[test]
    fn a_late_clock_is_made_up_for_but_no_more_than_the_credit() {
        let mut pacer = Pacer::default();
        pacer.on_sent(1000, ms(5), RTT, ms(5));
        // Due at 15, woken at 18: the next is due at 25.
        pacer.on_sent(1000, ms(15), RTT, ms(18));
        assert_eq!(pacer.departure(ms(5), 1e5, Duration::ZERO), ms(25));
        // Woken at 500: as if it had been due at 450.
        pacer.on_sent(1000, ms(25), RTT, ms(500));
        assert_eq!(pacer.departure(ms(5), 1e5, Duration::ZERO), ms(460));
    }

    #[test]
    fn what_waited_for_the_first_or_for_a_restart_is_not_made_up_for() {
        let mut pacer = Pacer::default();
        pacer.on_sent(1000, ms(0), RTT, ms(30));
        assert_eq!(pacer.departure(ms(0), 1e5, Duration::ZERO), ms(40));
        pacer.restart(ms(1000));
        assert_eq!(pacer.departure(ms(0), 1e5, Duration::ZERO), ms(1000));
        pacer.on_sent(1000, ms(1000), RTT, ms(1000));
        assert_eq!(pacer.departure(ms(0), 1e5, Duration::ZERO), ms(1010));
    }

    #[test]
    fn a_rate_of_nothing_waits_for_ever() {
        let mut pacer = Pacer::default();
        pacer.on_sent(1000, ms(5), RTT, ms(5));
        assert_eq!(pacer.departure(ms(5), 0.0, Duration::ZERO), Instant::MAX);
    }
}
