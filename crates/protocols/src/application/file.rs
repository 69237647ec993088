//! A source of files: as fast as the transport takes them, one after another.

use super::Application;
use crate::time::{Duration, Instant};

/// Writes a file with blocking calls; then nothing, or another file after a time to think.
#[derive(Clone, Debug)]
pub struct FileSource {
    bytes: u64,
    write: u32,
    /// Between the end of a file and the start of the next; `None`: there is one.
    think: Option<Duration>,
    /// Bytes of this file still to be written.
    left: u64,
    next: Instant,
    finished: u64,
}

impl FileSource {
    /// From `start`, a file of `bytes` bytes in writes of `write` (each at least 1), the last cut short. With `think`, the
    /// next file begins so long after the last write of one has returned.
    pub fn new(start: Instant, bytes: u64, write: u32, think: Option<Duration>) -> Self {
        let bytes = bytes.max(1);
        Self { bytes, write: write.max(1), think, left: bytes, next: start, finished: 0 }
    }

    /// How many files have been written whole.
    pub fn finished(&self) -> u64 {
        self.finished
    }
}

impl Application for FileSource {
    fn poll_write(&self, now: Instant) -> Option<u32> {
        (self.left > 0 && now >= self.next).then(|| self.left.min(u64::from(self.write)) as u32)
    }

    fn handle_written(&mut self, now: Instant) {
        self.left = self.left.saturating_sub(u64::from(self.write));
        self.next = now;
        if self.left == 0 {
            self.finished += 1;
            if let Some(think) = self.think {
                self.left = self.bytes;
                self.next = now + think;
            }
        }
    }

    fn poll_timeout(&self) -> Option<Instant> {
        (self.left > 0).then_some(self.next)
    }

    fn largest_write(&self) -> u32 {
        self.write
    }

    fn is_finite(&self) -> bool {
        self.think.is_none()
    }

    fn is_blocking(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(millis: u64) -> Instant {
        Instant::from_nanos(millis * 1_000_000)
    }

    #[test]
    fn a_file_is_written_and_then_there_is_silence() {
        let mut source = FileSource::new(ms(5), 2500, 1000, None);
        assert_eq!((source.poll_write(ms(4)), source.poll_timeout()), (None, Some(ms(5))));
        let mut sizes = Vec::new();
        while let Some(size) = source.poll_write(ms(10)) {
            sizes.push(size);
            source.handle_written(ms(10));
        }
        assert_eq!(sizes, [1000, 1000, 500]);
        assert_eq!((source.poll_timeout(), source.finished()), (None, 1));
    }

    #[test]
    fn the_next_file_comes_after_a_time_to_think() {
        let mut source = FileSource::new(ms(0), 1500, 1000, Some(Duration::from_millis(100)));
        source.handle_written(ms(1));
        source.handle_written(ms(7));
        assert_eq!((source.poll_write(ms(106)), source.poll_timeout()), (None, Some(ms(107))));
        assert_eq!((source.poll_write(ms(107)), source.finished()), (Some(1000), 1));
    }
}
