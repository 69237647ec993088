//! Interarrival jitter, as receivers of RTP estimate it.

use hopcast_protocols::time::Instant;

/// The interarrival jitter J of RFC 3550, section 6.4.1 and appendix A.8, in seconds: J += (|D| − J) / 16 at each arrival, where D is
/// the difference between the transit times of this packet and of the one that arrived before it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct InterarrivalJitter {
    last_transit: Option<f64>,
    jitter: f64,
    count: u64,
    sum: f64,
    max: f64,
}

impl InterarrivalJitter {
    /// A packet that left at `sent` arrived at `now`, both by the same clock.
    pub fn handle_arrival(&mut self, sent: Instant, now: Instant) {
        self.handle_transit(now.saturating_since(sent).as_secs_f64());
    }

    /// A packet arrived after a transit time in seconds, with any zero point.
    pub(crate) fn handle_transit(&mut self, transit: f64) {
        let Some(last) = self.last_transit.replace(transit) else { return };
        self.jitter += ((transit - last).abs() - self.jitter) / 16.0;
        self.count += 1;
        self.sum += self.jitter;
        self.max = self.max.max(self.jitter);
    }

    /// Mean of J over the arrivals from the second on, in seconds; `None` before that.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / self.count as f64)
    }

    /// Maximum of J in seconds; `None` before the second arrival.
    pub fn max(&self) -> Option<f64> {
        (self.count > 0).then_some(self.max)
    }
}

#[cfg(test)]
mod tests {
    use hopcast_protocols::time::Duration;

    use super::*;

    #[test]
    fn appendix_a_8_by_hand() {
        let mut jitter = InterarrivalJitter::default();
        let at = |millis| Instant::START + Duration::from_millis(millis);
        jitter.handle_arrival(at(0), at(10));
        assert_eq!((jitter.mean(), jitter.max()), (None, None));
        // Transit times of 10, 26 and 26 ms: |D| is 16 and 0 ms, so that J is 1 and 15/16 ms.
        jitter.handle_arrival(at(20), at(46));
        jitter.handle_arrival(at(40), at(66));
        assert!((jitter.max().unwrap() - 1e-3).abs() < 1e-12);
        assert!((jitter.mean().unwrap() - (1.0 + 15.0 / 16.0) / 2.0 * 1e-3).abs() < 1e-12);
    }
}
