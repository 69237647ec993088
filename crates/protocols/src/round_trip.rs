//! The smoothed round-trip time of RFC 6298, section 2, and the timeout that follows from it.

use crate::time::Duration;

/// SRTT and RTTVAR, once measured.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RoundTrip(Option<(Duration, Duration)>);

impl RoundTrip {
    /// Takes in the time of a packet that was sent once (Karn's algorithm, section 3). It is one of `samples` in this round trip,
    /// each of which counts for as much less (RFC 7323, appendix G).
    pub(crate) fn on_sample(&mut self, time: Duration, samples: u64) {
        self.0 = Some(match self.0 {
            None => (time, time / 2),
            Some((smoothed, variation)) => {
                let error = smoothed.max(time) - smoothed.min(time);
                // alpha = 1/8 and beta = 1/4; RTTVAR first, with the old SRTT (section 2.3).
                (weigh(smoothed, time, 8 * samples), weigh(variation, error, 4 * samples))
            }
        });
    }

    /// SRTT + max(G, 4 · RTTVAR), with a clock that ticks every `granularity` G; `None` before the first measurement.
    pub(crate) fn timeout(&self, granularity: Duration) -> Option<Duration> {
        let (smoothed, variation) = self.0?;
        let variation = Duration::from_nanos(variation.as_nanos().saturating_mul(4));
        Some(smoothed.saturating_add(granularity.max(variation)))
    }

    /// SRTT, `None` before the first measurement.
    pub(crate) fn smoothed(&self) -> Option<Duration> {
        self.0.map(|(smoothed, _)| smoothed)
    }

    /// RTTVAR, `None` before the first measurement.
    #[cfg(test)]
    pub(crate) fn variation(&self) -> Option<Duration> {
        self.0.map(|(_, variation)| variation)
    }
}

/// (1 − 1/`parts`)·`old` + `new`/`parts`, rounded down to a nanosecond.
fn weigh(old: Duration, new: Duration, parts: u64) -> Duration {
    let sum = u128::from(old.as_nanos()) * u128::from(parts - 1) + u128::from(new.as_nanos());
    // A weighted mean lies between its arguments, so it fits.
    Duration::from_nanos((sum / u128::from(parts)) as u64)
}
