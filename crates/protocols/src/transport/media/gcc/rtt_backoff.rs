//! Less where round trips grow beyond all bounds, or feedback stops (libwebrtc, `send_side_bandwidth_estimation.cc`,
//! `RttBasedBackoff`).

use crate::time::{Duration, Instant};

/// The longest round trip that is not a reason to slow down.
const LIMIT: Duration = Duration::from_secs(3);
/// What remains of the target after each interval.
const FRACTION: f64 = 0.8;
const INTERVAL: Duration = Duration::from_secs(1);
/// Not below this, in b/s.
const FLOOR: f64 = 5_000.0;

#[derive(Debug, Default)]
pub(super) struct RttBackoff {
    updated: Option<Instant>,
    rtt: Duration,
    last_sent: Option<Instant>,
    decreased: Option<Instant>,
}

impl RttBackoff {
    pub(super) fn on_sent(&mut self, now: Instant) {
        self.updated.get_or_insert(now);
        self.last_sent = Some(now);
    }

    pub(super) fn on_rtt(&mut self, rtt: Duration, now: Instant) {
        self.updated = Some(now);
        self.rtt = rtt;
    }

    /// Whether the round trip, with the time for which packets left and no feedback came, is too long.
    pub(super) fn is_high(&self) -> bool {
        let silence = match (self.last_sent, self.updated) {
            (Some(sent), Some(updated)) => sent.saturating_since(updated),
            _ => Duration::ZERO,
        };
        silence + self.rtt > LIMIT
    }

    /// The lower target where it is time for one.
    pub(super) fn lower(&mut self, target: f64, now: Instant) -> Option<f64> {
        let due = self.decreased.is_none_or(|at| now.saturating_since(at) >= INTERVAL);
        if !(self.is_high() && due && target > FLOOR) {
            return None;
        }
        self.decreased = Some(now);
        Some((target * FRACTION).max(FLOOR))
    }
}
