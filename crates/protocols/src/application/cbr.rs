//! A source of constant bit rate.

use super::{Application, Timeline};
use crate::random::Stream;
use crate::time::{Duration, Instant};

/// Writes one packet at even intervals. The k-th instant is computed from the start, so rounding does not add up, nor does jitter.
#[derive(Clone, Debug)]
pub struct CbrSource {
    start: Instant,
    packet: u32,
    /// Seconds between two packets.
    interval: f64,
    written: u64,
    jitter: Option<Jitter>,
}

/// How much later than at its even instant each packet is written.
#[derive(Clone, Debug)]
struct Jitter {
    bound: f64,
    random: Stream,
    /// Of the next packet, in seconds.
    next: f64,
}

impl Jitter {
    fn draw(&mut self) {
        self.next = self.random.unit() * self.bound;
    }
}

impl CbrSource {
    /// From `start`, packets of `packet` bytes so that the payload amounts to `rate` bit/s.
    /// A rate that is not positive gives the first packet only; packets are never closer than 1 ns.
    pub fn new(start: Instant, rate: f64, packet: u32) -> Self {
        let interval = if rate > 0.0 { f64::from(packet) * 8.0 / rate } else { f64::INFINITY };
        Self { start, packet, interval: interval.max(1e-9), written: 0, jitter: None }
    }

    /// The same, with each packet later than its even instant by up to `bound`, drawn evenly and for each packet again. None overtakes
    /// another: what would be due before the packet before it is written with that one.
    #[must_use]
    pub fn with_jitter(mut self, bound: Duration, random: Stream) -> Self {
        let mut jitter = Jitter { bound: bound.as_secs_f64(), random, next: 0.0 };
        jitter.draw();
        self.jitter = Some(jitter).filter(|_| bound > Duration::ZERO);
        self
    }

    /// When the next packet is to be written.
    pub(super) fn due(&self) -> Instant {
        let late = self.jitter.as_ref().map_or(0.0, |jitter| jitter.next);
        // Not of a rate of zero, whose interval has no end.
        let even = if self.written == 0 { 0.0 } else { self.written as f64 * self.interval };
        let after = Duration::from_secs_f64(even + late);
        Instant::from_nanos(self.start.as_nanos().saturating_add(after.as_nanos()))
    }
}

impl Application for CbrSource {
    fn poll_write(&self, now: Instant) -> Option<u32> {
        (now >= self.due()).then_some(self.packet)
    }

    fn handle_written(&mut self, _now: Instant) {
        self.written += 1;
        if let Some(jitter) = &mut self.jitter {
            jitter.draw();
        }
    }

    fn poll_timeout(&self) -> Option<Instant> {
        Some(self.due())
    }

    fn largest_write(&self) -> u32 {
        self.packet
    }

    fn timeline(&self) -> Option<Timeline> {
        Some(Timeline::even(self.interval))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Purpose;

    #[test]
    fn intervals_do_not_drift() {
        // 1000 B at 0.3 Mb/s: 26.66… ms, which no number of nanoseconds is.
        let mut source = CbrSource::new(Instant::from_nanos(7), 300_000.0, 1000);
        for k in 0..30_000_u64 {
            let due = Instant::from_nanos(7 + (k * 80_000_000 + 1) / 3);
            assert_eq!(source.due(), due);
            assert_eq!(source.poll_write(due), Some(1000));
            assert_eq!(source.poll_write(due - Duration::from_nanos(1)), None);
            source.handle_written(Instant::START);
        }
    }

    #[test]
    fn jitter_is_even_and_does_not_add_up() {
        // 1000 B at 1 Mb/s: each 8 ms, up to 4 ms later.
        let random = Stream::new(1, Purpose::Application, 0, 0);
        let bound = Duration::from_millis(4);
        let mut source = CbrSource::new(Instant::START, 1e6, 1000).with_jitter(bound, random);
        let mut sum = 0.0;
        for k in 0..10_000_u64 {
            let late = source.due() - (Instant::START + Duration::from_millis(8 * k));
            assert!(late <= bound, "packet {k}: {late}");
            assert_eq!(source.due() - Instant::START, late + Duration::from_millis(8 * k), "asked again");
            sum += late.as_secs_f64();
            source.handle_written(Instant::START);
        }
        // The mean of 10 000 draws, with a standard deviation of 4 ms / √12 / 100 = 11.5 µs, within five of these.
        assert!((sum / 1e4 - 2e-3).abs() < 58e-6, "mean {}", sum / 1e4);
    }

    #[test]
    fn no_jitter_is_none() {
        let random = Stream::new(1, Purpose::Application, 0, 0);
        let mut source = CbrSource::new(Instant::START, 1e6, 1000).with_jitter(Duration::ZERO, random);
        source.handle_written(Instant::START);
        assert_eq!(source.due(), Instant::START + Duration::from_millis(8));
    }

    #[test]
    fn no_rate_is_one_packet() {
        let mut source = CbrSource::new(Instant::START, 0.0, 1000);
        source.handle_written(Instant::START);
        assert_eq!(source.due(), Instant::MAX);
    }
}
