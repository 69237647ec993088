//! How large captures will be, before they are written.

use hopcast_protocols::time::{Duration, Instant};

use super::ExecuteError;
use crate::capture::{Capture, Selection};
use crate::results::Replication;
use crate::scenario::model::Scenario;

/// About how large the captures of one replication will be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CaptureSize {
    /// All files together, in bytes.
    pub bytes: u64,
    /// The simulated time after which the trial ended. If it is the whole duration, `bytes` is exact.
    pub simulated: Duration,
}

/// Runs the beginning of `scenario` with `seed` for as long as `goes_on`, and counts what the files of `selection` would
/// hold. For the rest of the run it takes the rate in the second half of that time. `None` if the preparation of the run did
/// not end in that time.
///
/// # Errors
/// That of a trace which can't be read, or of a file that can't be.
pub fn capture_size(
    scenario: &Scenario,
    selection: &Selection,
    seed: u64,
    goes_on: &dyn Fn() -> bool,
) -> Result<Option<CaptureSize>, ExecuteError> {
    let replication = Replication::new_while(scenario, seed, goes_on);
    let prepared = replication.map_err(|error| ExecuteError::Traffic { seed, error })?;
    let Some(mut replication) = prepared else { return Ok(None) };
    let capture = Capture::counting(scenario, selection)?;
    replication.simulation_mut().set_tap(capture.tap());
    let mut sizes = vec![(Duration::ZERO, capture.size())];
    while goes_on() {
        let is_over = !replication.advance();
        sizes.push((replication.simulation().now().saturating_since(Instant::START), capture.size()));
        if is_over {
            break;
        }
    }
    Ok(Some(extrapolated(&sizes, scenario.duration)))
}

/// `sizes`: sizes at instants, the first one at the start.
fn extrapolated(sizes: &[(Duration, u64)], duration: Duration) -> CaptureSize {
    let &(simulated, size) = sizes.last().expect("the size at the start is there");
    let half = simulated / 2;
    let &(since, before) = sizes.iter().rev().find(|(at, _)| *at <= half).expect("the start is before any half");
    let rate = (size - before) as f64 / (simulated.saturating_sub(since)).as_secs_f64();
    let rest = duration.saturating_sub(simulated).as_secs_f64();
    let bytes = if simulated == Duration::ZERO { size } else { size + (rate * rest) as u64 };
    CaptureSize { bytes, simulated }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn the_rest_is_at_the_rate_of_the_second_half() {
        // 100 B of headers, nothing for 10 s, then 50 B/s.
        let sizes = [(at(0), 100), (at(10), 100), (at(15), 350), (at(20), 600)];
        assert_eq!(extrapolated(&sizes, at(100)), CaptureSize { bytes: 600 + 80 * 50, simulated: at(20) });
    }

    #[test]
    fn a_whole_run_is_counted_exactly() {
        assert_eq!(extrapolated(&[(at(0), 100), (at(5), 777)], at(5)), CaptureSize { bytes: 777, simulated: at(5) });
        assert_eq!(extrapolated(&[(at(0), 100)], at(5)).bytes, 100);
    }
}
