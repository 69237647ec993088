//! A source of recorded media: the frames of a film, at their intervals.

use super::{Application, Timeline};
use crate::time::{Duration, Instant};
use std::sync::Arc;

/// Writes the frames of a trace at their times, cut into packets; never blocks. The trace repeats without end.
#[derive(Clone, Debug)]
pub struct MediaSource {
    start: Instant,
    frames: Arc<[u32]>,
    pace: Pace,
    packet: u32,
    /// Frames begun before the current one.
    frame: u64,
    /// Bytes of the current frame that are written.
    offset: u32,
}

/// When the frames come.
#[derive(Clone, Debug)]
enum Pace {
    /// One each interval.
    Even(Duration),
    /// At these times since the beginning of the trace, which lasts for `period`.
    Uneven { times: Arc<[Duration]>, period: Duration },
}

impl MediaSource {
    /// From `start`, a frame of `frames` (sizes in bytes) each `interval`, in packets of at most `packet` bytes
    /// (at least 1), the last of a frame cut short. The interval is at least 1 ns. A frame of no bytes is skipped, and costs its interval.
    pub fn new(start: Instant, frames: Arc<[u32]>, interval: Duration, packet: u32) -> Self {
        let interval = interval.max(Duration::from_nanos(1));
        Self::with_pace(start, frames, Pace::Even(interval), packet)
    }

    /// The same with a time for each frame, ascending, since the beginning of a trace that lasts for `period`: for encoders
    /// that leave frames out. A frame without a time comes at the end of the period.
    pub fn with_times(
        start: Instant,
        frames: Arc<[u32]>,
        times: Arc<[Duration]>,
        period: Duration,
        packet: u32,
    ) -> Self {
        debug_assert!(times.is_sorted() && times.last().is_none_or(|&last| last <= period), "times within the period");
        let period = period.max(Duration::from_nanos(1));
        Self::with_pace(start, frames, Pace::Uneven { times, period }, packet)
    }

    fn with_pace(start: Instant, frames: Arc<[u32]>, pace: Pace, packet: u32) -> Self {
        let mut source = Self { start, frames, pace, packet: packet.max(1), frame: 0, offset: 0 };
        source.skip_empty();
        source
    }

    /// When the next packet is to be written; [`Instant::MAX`] for a film without any bytes.
    pub(super) fn due(&self) -> Instant {
        if self.size() == 0 {
            return Instant::MAX;
        }
        let after = match &self.pace {
            Pace::Even(interval) => interval.as_nanos().saturating_mul(self.frame),
            Pace::Uneven { times, period } => {
                let count = self.frames.len() as u64;
                let within = times.get((self.frame % count) as usize).unwrap_or(period);
                period.as_nanos().saturating_mul(self.frame / count).saturating_add(within.as_nanos())
            }
        };
        Instant::from_nanos(self.start.as_nanos().saturating_add(after))
    }

    /// Bytes of the current frame.
    fn size(&self) -> u32 {
        match self.frames.len() as u64 {
            0 => 0,
            count => self.frames[(self.frame % count) as usize],
        }
    }

    /// Moves to the next frame that has bytes, if one has.
    fn skip_empty(&mut self) {
        for _ in 0..self.frames.len() {
            if self.size() > 0 {
                break;
            }
            self.frame += 1;
        }
    }
}

impl Application for MediaSource {
    fn poll_write(&self, now: Instant) -> Option<u32> {
        (now >= self.due()).then(|| (self.size() - self.offset).min(self.packet))
    }

    fn handle_written(&mut self, _now: Instant) {
        let size = self.size();
        self.offset = self.offset.saturating_add(self.packet).min(size);
        if self.offset == size {
            self.offset = 0;
            self.frame += 1;
            self.skip_empty();
        }
    }

    fn poll_timeout(&self) -> Option<Instant> {
        Some(self.due())
    }

    fn largest_write(&self) -> u32 {
        self.frames.iter().copied().max().unwrap_or(0).min(self.packet)
    }

    fn timeline(&self) -> Option<Timeline> {
        Some(match &self.pace {
            Pace::Even(interval) => Timeline::film(&self.frames, *interval, self.packet),
            Pace::Uneven { times, period } => Timeline::film_with_times(&self.frames, times, *period, self.packet),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_come_at_their_intervals_in_packets_and_repeat() {
        let interval = Duration::from_millis(40);
        let mut source = MediaSource::new(Instant::START, Arc::from([2500, 0, 1000]), interval, 1000);
        let mut writes = Vec::new();
        for _ in 0..6 {
            let due = source.due();
            writes.push((due.as_nanos() / 1_000_000, source.poll_write(due).unwrap()));
            source.handle_written(Instant::START);
        }
        assert_eq!(writes, [(0, 1000), (0, 1000), (0, 500), (80, 1000), (120, 1000), (120, 1000)]);
    }

    #[test]
    fn frames_with_times_of_their_own_come_then() {
        let times: Vec<Duration> = [0, 80, 240].map(Duration::from_millis).into();
        let (frames, period) = (Arc::from([100, 200, 300]), Duration::from_millis(300));
        let mut source = MediaSource::with_times(Instant::START, frames, times.into(), period, 1000);
        let mut writes = Vec::new();
        for _ in 0..7 {
            let due = source.due();
            writes.push((due.as_nanos() / 1_000_000, source.poll_write(due).unwrap()));
            source.handle_written(Instant::START);
        }
        assert_eq!(writes, [(0, 100), (80, 200), (240, 300), (300, 100), (380, 200), (540, 300), (600, 100)]);
    }

    #[test]
    fn a_film_without_octets_is_silent() {
        for frames in [vec![], vec![0, 0]] {
            let source = MediaSource::new(Instant::START, frames.into(), Duration::from_millis(40), 1000);
            assert_eq!(source.poll_write(Instant::from_nanos(u64::MAX - 1)), None);
        }
    }
}
