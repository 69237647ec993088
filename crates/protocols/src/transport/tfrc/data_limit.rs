//! Whether the application or the allowed rate limited the sender (RFC 5348, section 8.2.1).

use crate::time::{Duration, Instant};

/// Remembers two moments at which the sender sent all that it was allowed to.
#[derive(Clone, Debug, Default)]
pub(super) struct DataLimit {
    /// The sender was not limited by data at these instants; the first lies in the interval that the next feedback covers.
    not_limited: [Option<Instant>; 2],
    /// The one before these. RFC 5348 keeps none, since it counts on feedback once a round trip; the intervals of two that
    /// follow closely, as after a loss, overlap.
    earlier: Option<Instant>,
    /// Departure of the packet that the last feedback acknowledged.
    t_new: Option<Instant>,
    /// Arrival of that feedback.
    t_next: Option<Instant>,
}

impl DataLimit {
    /// The sender has sent all that it is allowed to.
    pub(super) fn on_not_limited(&mut self, now: Instant) {
        let [first, second] = &mut self.not_limited;
        if *first <= self.t_new {
            self.earlier = self.earlier.max(first.replace(now));
        } else if *second <= self.t_next {
            *second = Some(now);
        }
    }

    /// Feedback arrived for a packet that left at `sent`: whether the whole round trip before was limited by data.
    pub(super) fn on_feedback(&mut self, sent: Instant, rtt: Duration, now: Instant) -> bool {
        let t_old = sent.saturating_before(rtt);
        // A round trip that began before the start is covered from the start on.
        let covered = |at: Instant| (at > t_old || at == Instant::START && t_old == at) && at <= sent;
        let limited = !self.not_limited.iter().chain([&self.earlier]).flatten().any(|&at| covered(at));
        self.t_new = Some(sent);
        self.t_next = Some(now);
        let [first, second] = &mut self.not_limited;
        if *first <= self.t_new && *second > self.t_new {
            self.earlier = self.earlier.max(*first);
            *first = *second;
        }
        limited
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
    fn section_8_2_1_one_busy_moment_in_the_interval_is_enough() {
        let mut limit = DataLimit::default();
        // Nothing was ever held back.
        assert!(limit.on_feedback(ms(1000), RTT, ms(1100)));
        limit.on_not_limited(ms(1150));
        assert!(!limit.on_feedback(ms(1200), RTT, ms(1300)));
        // The interval of the next is (1200, 1300], in which nothing was held back.
        assert!(limit.on_feedback(ms(1300), RTT, ms(1400)));
    }

    #[test]
    fn section_8_2_1_a_moment_after_the_interval_counts_for_the_next_feedback() {
        let mut limit = DataLimit::default();
        limit.on_not_limited(ms(1000));
        // This packet's feedback is under way; the moment belongs to what comes behind it.
        limit.on_not_limited(ms(1150));
        assert!(!limit.on_feedback(ms(1050), RTT, ms(1160)));
        limit.on_not_limited(ms(1170));
        limit.on_not_limited(ms(1180));
        assert!(!limit.on_feedback(ms(1200), RTT, ms(1300)));
        assert!(limit.on_feedback(ms(1300), RTT, ms(1400)));
    }

    #[test]
    fn two_answers_in_one_round_trip_see_the_same_moment() {
        let mut limit = DataLimit::default();
        [1000, 1025, 1150].into_iter().for_each(|at| limit.on_not_limited(ms(at)));
        assert!(!limit.on_feedback(ms(1050), RTT, ms(1150)));
        [1160, 1170].into_iter().for_each(|at| limit.on_not_limited(ms(at)));
        assert!(!limit.on_feedback(ms(1060), RTT, ms(1160)));
        assert!(!limit.on_feedback(ms(1061), RTT, ms(1161)));
    }

    #[test]
    fn a_sender_that_is_always_busy_is_never_limited_by_data() {
        let mut limit = DataLimit::default();
        let mut at = 0;
        for round in 1..50 {
            while at < 100 * round {
                limit.on_not_limited(ms(at));
                at += 7;
            }
            assert!(!limit.on_feedback(ms(100 * (round - 1)), RTT, ms(100 * round)), "{round}");
        }
    }
}
