//! What the receiver said it received of late: X_recv_set (RFC 5348, section 4.3).

use crate::time::{Duration, Instant};

/// Most rates that are kept; RFC 5348, section 4.3, finds two or three enough for feedback once a round trip.
const CAPACITY: usize = 4;

/// Receive rates in bytes per second, with the time of each.
#[derive(Clone, Debug)]
pub(super) struct ReceiveRates {
    rates: Vec<(Instant, f64)>,
}

impl ReceiveRates {
    /// Infinity: nothing is known, and nothing limits.
    pub(super) fn new() -> Self {
        Self { rates: vec![(Instant::START, f64::INFINITY)] }
    }

    /// The first packet leaves: infinity is as old as that.
    pub(super) fn begin(&mut self, now: Instant) {
        self.replace(f64::INFINITY, now);
    }

    /// The greatest rate.
    pub(super) fn max(&self) -> f64 {
        self.rates.iter().map(|&(_, rate)| rate).fold(0.0, f64::max)
    }

    /// Adds a rate and forgets those older than two round trips.
    pub(super) fn update(&mut self, rate: f64, rtt: Duration, now: Instant) {
        let two = rtt.saturating_add(rtt);
        self.rates.retain(|&(at, _)| now.saturating_since(at) <= two);
        if self.rates.len() == CAPACITY {
            // More feedback than once in half a round trip, as after losses: what is older than the rest goes.
            self.rates.remove(0);
        }
        self.rates.push((now, rate));
    }

    /// Keeps the greatest rate alone, this one included, as if it were new.
    pub(super) fn maximize(&mut self, rate: f64, now: Instant) {
        self.rates.retain(|(_, rate)| rate.is_finite());
        let greatest = self.max().max(rate);
        self.replace(greatest, now);
    }

    /// Halves all rates.
    pub(super) fn halve(&mut self) {
        self.rates.iter_mut().for_each(|(_, rate)| *rate /= 2.0);
    }

    /// Keeps `rate` alone.
    pub(super) fn replace(&mut self, rate: f64, now: Instant) {
        self.rates.clear();
        self.rates.push((now, rate));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(n: u64) -> Instant {
        Instant::START + Duration::from_millis(n)
    }

    const RTT: Duration = Duration::from_millis(100);

    #[test]
    fn section_4_3_update_forgets_after_two_round_trips() {
        let mut rates = ReceiveRates::new();
        assert_eq!(rates.max(), f64::INFINITY);
        rates.begin(ms(100));
        rates.update(5.0, RTT, ms(300));
        assert_eq!(rates.max(), f64::INFINITY);
        rates = ReceiveRates::new();
        rates.update(5.0, RTT, ms(201));
        assert_eq!(rates.max(), 5.0);
        rates.replace(5.0, ms(0));
        rates.update(3.0, RTT, ms(200));
        assert_eq!(rates.max(), 5.0);
        rates.update(2.0, RTT, ms(201));
        assert_eq!(rates.max(), 3.0);
    }

    #[test]
    fn section_4_3_maximize_keeps_one_and_makes_it_new() {
        let mut rates = ReceiveRates::new();
        rates.maximize(5.0, ms(0));
        rates.maximize(3.0, ms(1000));
        assert_eq!(rates.max(), 5.0);
        rates.update(1.0, RTT, ms(1200));
        assert_eq!(rates.max(), 5.0);
        rates.halve();
        assert_eq!(rates.max(), 2.5);
        rates.update(1.0, RTT, ms(1201));
        assert_eq!(rates.max(), 1.0);
    }

    #[test]
    fn a_flood_of_feedback_takes_no_memory() {
        let mut rates = ReceiveRates::new();
        (0..1000).for_each(|n| rates.update(f64::from(n), RTT, ms(0)));
        assert_eq!((rates.rates.len(), rates.max()), (CAPACITY, 999.0));
    }
}
