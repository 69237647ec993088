//! The machine's monotonic clock as the time of the protocols.

#![expect(clippy::disallowed_types, reason = "between real hosts, time is that of the machine's clock")]

use hopcast_protocols::time::{Duration, Instant};

/// Time since the clock was created. It is monotonic (`CLOCK_MONOTONIC`): changes of the machine's date do not affect it.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    start: std::time::Instant,
}

impl Clock {
    /// A clock that starts now.
    #[expect(clippy::new_without_default, reason = "a clock is not a default value of anything")]
    pub fn new() -> Self {
        Self { start: std::time::Instant::now() }
    }

    /// The time since the start, in nanoseconds.
    pub fn now(&self) -> Instant {
        Instant::from_nanos(u64::try_from(self.start.elapsed().as_nanos()).unwrap_or(u64::MAX))
    }

    /// The Unix time at [`Instant::START`], by the machine's date as it is now; zero if that is before 1970.
    pub(crate) fn epoch(&self) -> Duration {
        let date = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let date = Duration::from_nanos(u64::try_from(date.as_nanos()).unwrap_or(u64::MAX));
        date.saturating_sub(self.now() - Instant::START)
    }

    /// Time to wait until `until`: `None` without one, zero if it has passed.
    pub fn wait(&self, until: Option<Instant>) -> Option<std::time::Duration> {
        until.map(|until| std::time::Duration::from_nanos(until.saturating_since(self.now()).as_nanos()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_passed_is_not_waited_for() {
        let clock = Clock::new();
        assert_eq!(clock.wait(None), None);
        assert_eq!(clock.wait(Some(Instant::START)), Some(std::time::Duration::ZERO));
        let hour = clock.wait(Some(Instant::from_nanos(3_600_000_000_000))).expect("there is something to wait for");
        assert!(hour.as_secs() >= 3599 && hour.as_secs() <= 3600);
    }
}
