//! Whether the application, not the path, limits the rate (libwebrtc, `alr_detector.cc` and `interval_budget.cc`).

use crate::time::Instant;

/// The share of the estimate that an application uses at least where the path limits it.
const USE: f64 = 0.65;
/// What the budget may hold: this many seconds of that share.
const WINDOW: f64 = 0.5;
/// The region begins where more of the budget is unused than this, and ends where less is.
const BEGIN: f64 = 0.8;
const END: f64 = 0.5;

/// The application-limited region.
#[derive(Debug, Default)]
pub(super) struct Alr {
    /// In b/s, and the bytes that were not sent at this rate; negative where more were.
    rate: f64,
    unused: f64,
    last_sent: Option<Instant>,
    since: Option<Instant>,
}

impl Alr {
    /// Follows the estimate, in b/s.
    pub(super) fn set_estimate(&mut self, estimate: f64) {
        self.rate = estimate * USE;
        let most = self.most();
        self.unused = self.unused.clamp(-most, most);
    }

    fn most(&self) -> f64 {
        WINDOW * self.rate / 8.0
    }

    /// Takes a packet that leaves.
    pub(super) fn on_sent(&mut self, size: u32, now: Instant) {
        let Some(last) = self.last_sent.replace(now) else { return };
        let most = self.most();
        self.unused = (self.unused - f64::from(size)).max(-most);
        let earned = self.rate / 8.0 * now.saturating_since(last).as_secs_f64();
        self.unused = (self.unused + earned).min(most);
        let share = if most > 0.0 { self.unused / most } else { 0.0 };
        if share > BEGIN {
            self.since.get_or_insert(now);
        } else if share < END {
            self.since = None;
        }
    }

    /// Since when the application is the limit.
    pub(super) fn since(&self) -> Option<Instant> {
        self.since
    }
}
