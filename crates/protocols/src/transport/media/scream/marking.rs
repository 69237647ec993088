//! The average share of marked packets (section "Receiving ECN-CE for L4S").

use crate::time::{Duration, Instant};

/// L4S_AVG_G_UP: the weight of a share above the average.
const GAIN_UP: f64 = 1.0 / 8.0;
/// L4S_AVG_G_DOWN: the weight of a share below the average, which counts as no marks at all.
const GAIN_DOWN: f64 = 1.0 / 128.0;
/// The average is updated each 10 ms, or once per round trip where that is shorter.
const INTERVAL: Duration = Duration::from_millis(10);

/// `l4s_alpha`: the share of marked packets, averaged with a fast attack and a slow decay.
#[derive(Debug, Default)]
pub(super) struct Marking {
    alpha: f64,
    delivered: u64,
    marked: u64,
    updated: Option<Instant>,
}

impl Marking {
    /// Counts packets that arrived, and how many of them carried CE.
    pub(super) fn on_delivered(&mut self, delivered: u64, marked: u64, now: Instant, rtt: Duration) {
        self.delivered += delivered;
        self.marked += marked;
        let due = self.updated.is_none_or(|at| now.saturating_since(at) >= INTERVAL.min(rtt));
        if !due || self.delivered == 0 {
            return;
        }
        let share = self.marked as f64 / self.delivered as f64;
        self.alpha = if share >= self.alpha {
            GAIN_UP * share + (1.0 - GAIN_UP) * self.alpha
        } else {
            (1.0 - GAIN_DOWN) * self.alpha
        };
        self.updated = Some(now);
        self.delivered = 0;
        self.marked = 0;
    }

    /// The average share, 0 to 1.
    pub(super) fn alpha(&self) -> f64 {
        self.alpha
    }
}
