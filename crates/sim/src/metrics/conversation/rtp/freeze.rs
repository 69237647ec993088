//! Freezes of a video stream.

use std::collections::VecDeque;

use hopcast_protocols::time::{Duration, Instant};

/// When pictures were whole, and when for too long none was.
///
/// The rule is that of `freezeCount` in the W3C's "Identifiers for WebRTC's Statistics API": the time between two pictures is a freeze
/// if it is at least the larger of three times the mean and the mean plus 150 ms, where the mean is that of the 30 times before
/// it. A picture counts as shown when it is whole: there is neither a decoder nor a buffer before it.
#[derive(Clone, Debug, Default)]
pub(super) struct Freezes {
    last: Option<Instant>,
    /// The latest times between pictures.
    times: VecDeque<Duration>,
    summary: FreezeSummary,
}

/// Pictures and freezes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FreezeSummary {
    /// Pictures that arrived completely, and not after a later one.
    pub frames: u64,
    /// Freezes.
    pub freezes: u64,
    /// Total time of the freezes.
    pub time: Duration,
    /// Longest freeze.
    pub longest: Duration,
}

/// Times of which the mean is taken.
const TIMES: usize = 30;
/// Limits of a freeze: it is longer than the mean by at least this time and this factor.
const LONGER: Duration = Duration::from_millis(150);
const FACTOR: u64 = 3;

impl Freezes {
    /// A picture was whole at `now`. Returns since when the one before had been frozen, if it was.
    pub(super) fn handle_frame(&mut self, now: Instant) -> Option<Instant> {
        self.summary.frames += 1;
        let last = self.last.replace(now)?;
        let time = now.saturating_since(last);
        let sum = self.times.iter().fold(Duration::ZERO, |sum, &time| sum + time);
        let is_freeze = !self.times.is_empty() && {
            let mean = sum / self.times.len() as u64;
            time >= (mean * FACTOR).max(mean + LONGER)
        };
        if self.times.len() == TIMES {
            self.times.pop_front();
        }
        self.times.push_back(time);
        if !is_freeze {
            return None;
        }
        self.summary.freezes += 1;
        self.summary.time += time;
        self.summary.longest = self.summary.longest.max(time);
        Some(last)
    }

    pub(super) fn summary(&self) -> FreezeSummary {
        self.summary
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// After pictures with these times in milliseconds between them.
    fn after(times: impl IntoIterator<Item = u64>) -> FreezeSummary {
        let (mut freezes, mut now) = (Freezes::default(), Instant::START);
        freezes.handle_frame(now);
        for time in times {
            now += Duration::from_millis(time);
            freezes.handle_frame(now);
        }
        freezes.summary()
    }

    #[test]
    fn a_freeze_is_150_ms_longer_than_the_mean_or_three_times_as_long() {
        let counts = |times: &[u64]| after(times.iter().copied()).freezes;
        // At 40 ms a picture it takes 190 ms, at 100 ms a picture 300 ms.
        assert_eq!([counts(&[40, 40, 189]), counts(&[40, 40, 190])], [0, 1]);
        assert_eq!([counts(&[100, 100, 299]), counts(&[100, 100, 300])], [0, 1]);
        let both = after([40, 40, 400, 40, 300]);
        let ms = Duration::from_millis;
        // The mean before the second one is 130 ms: it takes 390 ms.
        assert_eq!((both.frames, both.freezes, both.time, both.longest), (6, 1, ms(400), ms(400)));
    }

    #[test]
    fn the_mean_is_that_of_thirty_times() {
        let slow = std::iter::repeat_n(1000, 10);
        let quick = |count| std::iter::repeat_n(40, count);
        // With one of the slow ones left among thirty the mean is 72 ms, and it takes 222 ms.
        assert_eq!(after(slow.clone().chain(quick(29)).chain([200])).freezes, 0);
        assert_eq!(after(slow.chain(quick(30)).chain([200])).freezes, 1);
    }
}
