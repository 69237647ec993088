//! The timeout that ns-2's TFRC puts into the throughput equation: that of its TCP, in whole ticks.

/// Seconds in a tick (`tcp_tick_`).
const TICK: f64 = 0.1;
/// Binary digits behind the point of the mean round trip (`T_SRTT_BITS`).
const MEAN_BITS: u32 = 3;
/// Those of its deviation (`T_RTTVAR_BITS`).
const DEVIATION_BITS: u32 = 2;
/// The deviation counts this power of two times (`rttvar_exp_`).
const EXPONENT: u32 = 2;
/// The longest round trip that is told apart, in ticks: beyond it sums would overflow.
const LONGEST: f64 = 1e6;

/// Mean and deviation of the round trip in ticks, as whole numbers (V. Jacobson, "Congestion avoidance and control", SIGCOMM
/// 1988, appendix A; `TfrcAgent::update_rtt` in ns-2).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ticks {
    /// `None` before the first sample.
    known: Option<(i64, i64)>,
}

impl Ticks {
    /// Takes a round trip of `rtt` seconds.
    pub(super) fn sample(&mut self, rtt: f64) {
        let trip = whole(rtt);
        self.known = Some(match self.known {
            None => (trip << MEAN_BITS, trip << (DEVIATION_BITS - 1)),
            Some((mean, deviation)) => {
                let off = trip - (mean >> MEAN_BITS);
                let more = off.abs() - (deviation >> DEVIATION_BITS);
                ((mean + off).max(1), (deviation + more).max(1))
            }
        });
    }

    /// t_RTO in seconds; `None` before the first sample.
    pub(super) fn timeout(&self) -> Option<f64> {
        let (mean, deviation) = self.known?;
        let ticks = ((deviation << (EXPONENT + MEAN_BITS - DEVIATION_BITS)) + mean) >> MEAN_BITS;
        Some(ticks as f64 * TICK)
    }

    /// t_RTO in seconds after many round trips of `rtt` seconds, for a receiver, which hears only of the mean.
    pub(super) fn steady(rtt: f64) -> f64 {
        let trip = whole(rtt);
        // Integers keep two or three quarters of a tick of the deviation, which starts with half the round trip.
        let steady = Self { known: Some((trip << MEAN_BITS, (trip << (DEVIATION_BITS - 1)).min(3))) };
        steady.timeout().unwrap_or_default()
    }
}

/// A round trip in ticks, rounded, at least one.
fn whole(rtt: f64) -> i64 {
    (rtt / TICK).round().clamp(1.0, LONGEST) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_round_trips_have_three_ticks_and_long_ones_more() {
        // By hand: one tick is 8 eighths, its deviation 2 quarters, and (2 · 8 + 8)/8 = 3; two ticks have 3 quarters left.
        for (rtt, timeout) in [(0.001, 0.3), (0.04, 0.3), (0.149, 0.3), (0.2, 0.5), (0.3, 0.6)] {
            let mut ticks = Ticks::default();
            assert!(ticks.timeout().is_none());
            for _ in 0..100 {
                ticks.sample(rtt);
            }
            for found in [ticks.timeout().expect("sampled"), Ticks::steady(rtt)] {
                assert!((found - timeout).abs() < 1e-9, "{rtt}: {found}");
            }
        }
    }

    #[test]
    fn a_round_trip_that_varies_has_a_longer_timeout() {
        let mut ticks = Ticks::default();
        for nth in 0..100 {
            ticks.sample(if nth % 2 == 0 { 0.1 } else { 0.9 });
        }
        assert!(ticks.timeout().expect("sampled") > 1.5);
    }
}
