//! When a device sends hellos: one each second, and one soon after reservations on its links or on those of its neighbours have changed.
//!
//! A stream is judged by what is reserved around, which hellos tell. If each change waited for the next second, two streams that
//! reserve within two seconds of each other, two hops apart, could both take the same airtime. So a change is told at once, and a
//! neighbour passes it on at once. It goes no further, since a hello tells of the links of its sender and of that node's neighbours alone.

use crate::time::{Duration, Instant};

/// Time between two hellos.
pub const INTERVAL: Duration = Duration::from_secs(1);
/// A hello that tells of a change follows the one before it by at least this time.
const GAP: Duration = Duration::from_millis(100);

/// The time of the next hello.
#[derive(Clone, Debug)]
pub struct Hellos {
    next: Instant,
    /// When a change is told, if there is one.
    change: Option<Instant>,
    last: Option<Instant>,
}

/// A hello that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Due {
    /// That of each second.
    Regular,
    /// One that tells of a change.
    Change,
}

impl Hellos {
    /// Those of a device whose first one is due at `first`.
    pub fn new(first: Instant) -> Self {
        Self { next: first, change: None, last: None }
    }

    /// What hellos tell has changed: the next one is due after `jitter`.
    pub fn handle_change(&mut self, now: Instant, jitter: Duration) {
        let due = self.last.map_or(now + jitter, |last| (now + jitter).max(last + GAP));
        self.change = Some(self.change.map_or(due, |change| change.min(due)));
    }

    /// The hello that is due at `now`, which its caller sends. `interval` is the time until the next regular one.
    pub fn poll(&mut self, now: Instant, interval: impl FnOnce() -> Duration) -> Option<Due> {
        let due = if self.next <= now {
            self.next = now + interval();
            Due::Regular
        } else if self.change.is_some_and(|change| change <= now) {
            Due::Change
        } else {
            return None;
        };
        self.change = None;
        self.last = Some(now);
        Some(due)
    }

    /// When the next hello is due.
    pub fn poll_timeout(&self) -> Instant {
        self.change.map_or(self.next, |change| change.min(self.next))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const JITTER: Duration = Duration::from_millis(4);

    fn at(millis: u64) -> Instant {
        Instant::START + Duration::from_millis(millis)
    }

    #[test]
    fn a_change_is_told_at_once_and_leaves_the_regular_hellos_as_they_are() {
        let mut hellos = Hellos::new(at(500));
        assert_eq!(hellos.poll(at(499), || INTERVAL), None);
        assert_eq!(hellos.poll(at(500), || INTERVAL), Some(Due::Regular));
        hellos.handle_change(at(700), JITTER);
        assert_eq!(hellos.poll_timeout(), at(704));
        assert_eq!(hellos.poll(at(704), || INTERVAL), Some(Due::Change));
        assert_eq!(hellos.poll_timeout(), at(1500));
        assert_eq!(hellos.poll(at(1500), || INTERVAL), Some(Due::Regular));
    }

    #[test]
    fn changes_are_told_together_and_not_more_often_than_each_100_ms() {
        let mut hellos = Hellos::new(at(500));
        hellos.poll(at(500), || INTERVAL);
        hellos.handle_change(at(510), JITTER);
        hellos.handle_change(at(590), JITTER);
        assert_eq!(hellos.poll_timeout(), at(600));
        assert_eq!(hellos.poll(at(600), || INTERVAL), Some(Due::Change));
        assert_eq!(hellos.poll(at(600), || INTERVAL), None);
        hellos.handle_change(at(601), JITTER);
        assert_eq!(hellos.poll_timeout(), at(700));
    }

    #[test]
    fn a_regular_hello_tells_of_a_change_too() {
        let mut hellos = Hellos::new(at(500));
        hellos.handle_change(at(497), JITTER);
        assert_eq!(hellos.poll(at(500), || INTERVAL), Some(Due::Regular));
        assert_eq!(hellos.poll_timeout(), at(1500));
    }
}
