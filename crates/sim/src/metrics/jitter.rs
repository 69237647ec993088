//! Jitter of adjacent packets: |(a_j − d_j) − (a_i − d_i)|, with departures d and arrivals a (Palazzi et al., section 5).

use hopcast_protocols::time::Duration;

/// The jitter of a flow.
///
/// Two packets are adjacent if they arrived one after the other, whatever was lost between them.
#[derive(Clone, Debug, Default)]
pub struct Jitter {
    last_delay: Option<Duration>,
    spread: Spread,
}

/// Number, mean, variance and maximum of jitter values, in one pass (Welford, Technometrics 4(3), 1962).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spread {
    count: u64,
    mean: f64,
    squares: f64,
    max: Duration,
}

/// Summary of jitter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JitterSummary {
    /// Mean in seconds.
    pub mean: f64,
    /// Sample variance (divisor n − 1) in square seconds; zero for a single pair.
    pub variance: f64,
    /// Maximum in seconds.
    pub max: f64,
}

impl Jitter {
    /// A packet arrived after `delay`. Returns its jitter compared with the packet before.
    pub(crate) fn handle_delay(&mut self, delay: Duration) -> Option<Duration> {
        let last = self.last_delay.replace(delay)?;
        let jitter = if delay > last { delay - last } else { last - delay };
        self.spread.insert(jitter);
        Some(jitter)
    }

    /// The summary; `None` before two packets have arrived.
    pub fn summary(&self) -> Option<JitterSummary> {
        self.spread.summary()
    }
}

impl Spread {
    /// Adds a value.
    pub fn insert(&mut self, jitter: Duration) {
        self.count += 1;
        let deviation = jitter.as_secs_f64() - self.mean;
        self.mean += deviation / self.count as f64;
        self.squares += deviation * (jitter.as_secs_f64() - self.mean);
        self.max = self.max.max(jitter);
    }

    /// Number of values.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The summary; `None` without values.
    pub fn summary(&self) -> Option<JitterSummary> {
        (self.count > 0).then(|| JitterSummary {
            mean: self.mean,
            variance: if self.count > 1 { self.squares / (self.count - 1) as f64 } else { 0.0 },
            max: self.max.as_secs_f64(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jitter_is_the_change_of_delay_between_arrivals() {
        let mut jitter = Jitter::default();
        assert_eq!(jitter.summary(), None);
        for delay in [10, 13, 12, 12] {
            jitter.handle_delay(Duration::from_millis(delay));
        }
        // 3, 1 and 0 ms.
        let summary = jitter.summary().unwrap();
        assert!((summary.mean - 4e-3 / 3.0).abs() < 1e-12);
        assert!((summary.variance - (7.0 / 3.0) * 1e-6).abs() < 1e-12);
        assert_eq!(summary.max, 3e-3);
    }
}
