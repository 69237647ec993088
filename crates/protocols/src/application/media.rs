//! A source of recorded media: the frames of a film, at their intervals.

use crate::time::{Duration, Instant};
use std::sync::Arc;

/// Writes the frames of a trace, one each interval, cut into packets; never blocks. The trace repeats without end.
#[derive(Clone, Debug)]
pub struct MediaSource {
    start: Instant,
    frames: Arc<[u32]>,
    interval: Duration,
    packet: u32,
    /// Frames begun before the current one.
    frame: u64,
    /// Octets of the current frame that are written.
    offset: u32,
}

impl MediaSource {
    /// From `start`, a frame of `frames` (sizes in octets) each `interval`, in packets of at most `packet` octets
    /// (at least 1), the last of a frame cut short. The interval is at least 1 ns. A frame of no octets is skipped, and costs its interval.
    pub fn new(start: Instant, frames: Arc<[u32]>, interval: Duration, packet: u32) -> Self {
        let interval = interval.max(Duration::from_nanos(1));
        let mut source = Self { start, frames, interval, packet: packet.max(1), frame: 0, offset: 0 };
        source.skip_empty();
        source
    }

    /// See [`super::Source::poll_write`].
    pub fn poll_write(&self, now: Instant) -> Option<u32> {
        (now >= self.poll_timeout()).then(|| (self.size() - self.offset).min(self.packet))
    }

    /// See [`super::Source::handle_written`].
    pub fn handle_written(&mut self) {
        let size = self.size();
        self.offset = self.offset.saturating_add(self.packet).min(size);
        if self.offset == size {
            self.offset = 0;
            self.frame += 1;
            self.skip_empty();
        }
    }

    /// See [`super::Source::poll_timeout`]; [`Instant::MAX`] for a film without any octets.
    pub fn poll_timeout(&self) -> Instant {
        if self.size() == 0 {
            return Instant::MAX;
        }
        let after = self.interval.as_nanos().saturating_mul(self.frame);
        Instant::from_nanos(self.start.as_nanos().saturating_add(after))
    }

    /// Octets of the current frame.
    fn size(&self) -> u32 {
        match self.frames.len() as u64 {
            0 => 0,
            count => self.frames[(self.frame % count) as usize],
        }
    }

    /// Moves to the next frame that has octets, if one has.
    fn skip_empty(&mut self) {
        for _ in 0..self.frames.len() {
            if self.size() > 0 {
                break;
            }
            self.frame += 1;
        }
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
            let due = source.poll_timeout();
            writes.push((due.as_nanos() / 1_000_000, source.poll_write(due).unwrap()));
            source.handle_written();
        }
        assert_eq!(writes, [(0, 1000), (0, 1000), (0, 500), (80, 1000), (120, 1000), (120, 1000)]);
    }

    #[test]
    fn a_film_without_octets_is_silent() {
        for frames in [vec![], vec![0, 0]] {
            let source = MediaSource::new(Instant::START, frames.into(), Duration::from_millis(40), 1000);
            assert_eq!(source.poll_write(Instant::from_nanos(u64::MAX - 1)), None);
        }
    }
}
