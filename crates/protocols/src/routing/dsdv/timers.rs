//! What is due when: full dumps, incremental updates, and the ends of neighbours' silence.

use hopcast_wire::dsdv::Kind;

use super::Dsdv;
use crate::random::Stream;
use crate::time::{Duration, Instant};

impl Dsdv {
    /// Does what is due by `now`.
    pub(super) fn expire(&mut self, now: Instant) {
        while let Some(hop) = self.neighbours.silent(now) {
            self.lose_for_good(hop, now);
        }
        self.table.handle_timeout(now);
        self.schedule_update(now);
        let is_triggered = self.triggered_at.is_some_and(|at| at <= now);
        if self.full_dump_at <= now || (is_triggered && self.table.changes() >= self.config.entries()) {
            self.update(Kind::FullDump, now);
        } else if is_triggered {
            self.update(Kind::Incremental, now);
        }
    }

    /// When [`Self::expire`] is due.
    pub(super) fn next_timer(&self) -> Option<Instant> {
        [Some(self.full_dump_at), self.triggered_at, self.table.poll_timeout(), self.neighbours.poll_timeout()]
            .into_iter()
            .flatten()
            .min()
    }

    pub(super) fn schedule_update(&mut self, now: Instant) {
        // A node's first word is its first full dump.
        let Some(last) = self.last_update else { return };
        if self.triggered_at.is_none() && (self.has_own_news || self.table.has_news()) {
            let earliest = now.max(last + self.config.triggered_interval);
            self.triggered_at = Some(earliest + up_to(self.config.broadcast_jitter, &mut self.random));
        }
    }

    /// Three quarters of the period, and up to a quarter more (ns-2).
    pub(super) fn draw_period(&mut self) -> Duration {
        let quarter = self.config.period / 4;
        quarter * 3 + up_to(quarter, &mut self.random)
    }
}

/// Uniform from zero up to `bound`.
pub(super) fn up_to(bound: Duration, random: &mut Stream) -> Duration {
    Duration::from_nanos((random.unit() * bound.as_nanos() as f64) as u64)
}
