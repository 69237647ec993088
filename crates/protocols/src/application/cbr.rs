//! A source of constant bit rate.

use crate::time::{Duration, Instant};

/// Writes one packet at even intervals. The k-th instant is computed from the start, so rounding does not add up.
#[derive(Clone, Debug)]
pub struct CbrSource {
    start: Instant,
    packet: u32,
    /// Seconds between two packets.
    interval: f64,
    written: u64,
}

impl CbrSource {
    /// From `start`, packets of `packet` octets so that the payload amounts to `rate` bit/s.
    /// A rate that is not positive gives the first packet only; packets are never closer than 1 ns.
    pub fn new(start: Instant, rate: f64, packet: u32) -> Self {
        let interval = if rate > 0.0 { f64::from(packet) * 8.0 / rate } else { f64::INFINITY };
        Self { start, packet, interval: interval.max(1e-9), written: 0 }
    }

    /// See [`super::Source::poll_write`].
    pub fn poll_write(&self, now: Instant) -> Option<u32> {
        (now >= self.poll_timeout()).then_some(self.packet)
    }

    /// See [`super::Source::handle_written`].
    pub fn handle_written(&mut self) {
        self.written += 1;
    }

    /// See [`super::Source::poll_timeout`].
    pub fn poll_timeout(&self) -> Instant {
        if self.written == 0 {
            return self.start;
        }
        let after = Duration::from_secs_f64(self.written as f64 * self.interval);
        Instant::from_nanos(self.start.as_nanos().saturating_add(after.as_nanos()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_do_not_drift() {
        // 1000 B at 0.3 Mb/s: 26.66… ms, which no number of nanoseconds is.
        let mut source = CbrSource::new(Instant::from_nanos(7), 300_000.0, 1000);
        for k in 0..30_000_u64 {
            let due = Instant::from_nanos(7 + (k * 80_000_000 + 1) / 3);
            assert_eq!(source.poll_timeout(), due);
            assert_eq!(source.poll_write(due), Some(1000));
            assert_eq!(source.poll_write(due - Duration::from_nanos(1)), None);
            source.handle_written();
        }
    }

    #[test]
    fn no_rate_is_one_packet() {
        let mut source = CbrSource::new(Instant::START, 0.0, 1000);
        source.handle_written();
        assert_eq!(source.poll_timeout(), Instant::MAX);
    }
}
