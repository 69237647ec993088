//! A source of application data units: write one with a blocking call, wait, write the next.

use super::Application;
use crate::time::{Duration, Instant};

/// Writes units of `size` bytes, with `wait` between the return of one blocking write and the start of the next.
/// Without a wait it is a bulk transfer.
#[derive(Clone, Debug)]
pub struct AduSource {
    size: u32,
    wait: Duration,
    /// Bytes still to be written; `None`: without end.
    left: Option<u64>,
    next: Instant,
}

impl AduSource {
    /// From `start`, units of `size` bytes (at least 1), `bytes` in all or without end. The last unit is cut short.
    pub fn new(start: Instant, size: u32, wait: Duration, bytes: Option<u64>) -> Self {
        Self { size: size.max(1), wait, left: bytes, next: start }
    }
}

impl Application for AduSource {
    fn poll_write(&self, now: Instant) -> Option<u32> {
        if now < self.next {
            return None;
        }
        match self.left {
            None => Some(self.size),
            Some(0) => None,
            Some(left) => Some(left.min(u64::from(self.size)) as u32),
        }
    }

    fn handle_written(&mut self, now: Instant) {
        if let Some(left) = &mut self.left {
            *left = left.saturating_sub(u64::from(self.size));
        }
        self.next = now + self.wait;
    }

    fn poll_timeout(&self) -> Option<Instant> {
        (self.left != Some(0)).then_some(self.next)
    }

    fn largest_write(&self) -> u32 {
        self.size
    }

    fn is_finite(&self) -> bool {
        self.left.is_some()
    }

    fn is_blocking(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(micros: u64) -> Instant {
        Instant::from_nanos(micros * 1_000)
    }

    #[test]
    fn the_wait_counts_from_the_return_of_the_write() {
        let mut source = AduSource::new(at(10), 1000, Duration::from_micros(5), None);
        assert_eq!((source.poll_write(at(9)), source.poll_timeout()), (None, Some(at(10))));
        assert_eq!(source.poll_write(at(10)), Some(1000));
        // The write blocks for 7 µs.
        source.handle_written(at(17));
        assert_eq!((source.poll_write(at(21)), source.poll_timeout()), (None, Some(at(22))));
        assert_eq!(source.poll_write(at(22)), Some(1000));
    }

    #[test]
    fn the_last_unit_is_cut_short_and_then_there_is_silence() {
        let mut source = AduSource::new(at(0), 1000, Duration::ZERO, Some(2500));
        let mut sizes = Vec::new();
        while let Some(size) = source.poll_write(at(0)) {
            sizes.push(size);
            source.handle_written(at(0));
        }
        assert_eq!(sizes, [1000, 1000, 500]);
        assert_eq!(source.poll_timeout(), None);
    }
}
