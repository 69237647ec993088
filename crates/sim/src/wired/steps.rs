//! Values that change in steps of time.

use std::sync::Arc;

use hopcast_protocols::time::{Duration, Instant};

/// Value that changes in steps, at known instants.
#[derive(Clone, Debug, PartialEq)]
pub struct Steps<T> {
    /// Each value with the time since the start from which it is in force, in ascending order. The first time is zero.
    values: Arc<[(Duration, T)]>,
    /// Time after which the values begin again, later than the last step.
    period: Option<Duration>,
}

impl<T: Copy> Steps<T> {
    /// A value that never changes.
    pub fn constant(value: T) -> Self {
        Self { values: [(Duration::ZERO, value)].into(), period: None }
    }

    /// Values, each in force from a time on, in any order. Of two values with the same time the later one in the list counts. `before` is
    /// in force before the first one.
    pub fn new(before: T, mut values: Vec<(Duration, T)>) -> Self {
        values.sort_by_key(|&(from, _)| from);
        if values.first().is_none_or(|&(from, _)| from > Duration::ZERO) {
            values.insert(0, (Duration::ZERO, before));
        }
        values.reverse();
        values.dedup_by_key(|&mut (from, _)| from);
        values.reverse();
        Self { values: values.into(), period: None }
    }

    /// The same values, which begin again after `period`, unless that is zero. Leaves out values from `period` on.
    #[must_use]
    pub fn repeated(self, period: Duration) -> Self {
        if period == Duration::ZERO {
            return self;
        }
        let values: Vec<_> = self.values.iter().copied().filter(|&(from, _)| from < period).collect();
        Self { values: values.into(), period: Some(period) }
    }

    /// The value in force.
    #[inline]
    pub fn at(&self, now: Instant) -> T {
        match &*self.values {
            &[(_, value)] => value,
            _ => self.span(now).0,
        }
    }

    /// The value in force, and when the next one begins; `None`: never.
    pub fn span(&self, now: Instant) -> (T, Option<Instant>) {
        let since_start = now.saturating_since(Instant::START);
        let begun = self.period.map_or(Duration::ZERO, |period| {
            Duration::from_nanos(since_start.as_nanos() / period.as_nanos() * period.as_nanos())
        });
        let within = since_start - begun;
        let next = self.values.partition_point(|&(from, _)| from <= within);
        let until = self.values.get(next).map(|&(from, _)| from).or(self.period);
        let until = until.map(|until| Instant::START + begun.saturating_add(until));
        (self.values[next.saturating_sub(1)].1, until)
    }

    /// Time after which the values begin again.
    pub fn period(&self) -> Option<Duration> {
        self.period
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(millis: u64) -> Instant {
        Instant::START + Duration::from_millis(millis)
    }

    fn steps(before: u8, values: &[(u64, u8)]) -> Steps<u8> {
        Steps::new(before, values.iter().map(|&(from, value)| (Duration::from_millis(from), value)).collect())
    }

    #[test]
    fn a_value_holds_from_its_time_on() {
        let steps = steps(7, &[(20, 2), (10, 1)]);
        let at = [0, 9, 10, 19, 20, 99].map(|time| steps.at(ms(time)));
        assert_eq!(at, [7, 7, 1, 1, 2, 2]);
        assert_eq!([steps.span(ms(0)), steps.span(ms(10))], [(7, Some(ms(10))), (1, Some(ms(20)))]);
        assert_eq!(steps.span(ms(20)), (2, None));
    }

    #[test]
    fn of_two_values_from_one_time_the_latter_holds() {
        assert_eq!(steps(0, &[(0, 1), (5, 2), (0, 3)]).at(ms(0)), 3);
    }

    #[test]
    fn values_begin_again_after_their_period() {
        let steps = steps(0, &[(0, 1), (10, 2), (30, 9)]).repeated(Duration::from_millis(30));
        let at = [0, 10, 29, 30, 39, 40, 59, 60, 3_010].map(|time| steps.at(ms(time)));
        assert_eq!(at, [1, 2, 2, 1, 1, 2, 2, 1, 2]);
        assert_eq!([steps.span(ms(45)), steps.span(ms(61))], [(2, Some(ms(60))), (1, Some(ms(70)))]);
    }

    #[test]
    fn a_constant_never_changes() {
        assert_eq!(Steps::constant(4).span(ms(5)), (4, None));
    }
}
