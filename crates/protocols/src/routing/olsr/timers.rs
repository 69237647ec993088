//! What is due when: HELLO and TC messages, those of others, and the ends of what is known.

use super::Olsr;
use super::config::Config;
use crate::random::Stream;
use crate::time::{Duration, Instant};

impl Olsr {
    /// Does what is due by `now`.
    pub(super) fn expire(&mut self, now: Instant) {
        let changes = self.neighbourhood.handle_timeout(now);
        self.apply(changes, now);
        if self.calculation_due().is_some_and(|due| due <= now) {
            drop(self.calculated(now));
        }
        if self.sweep_at <= now {
            self.sweep_at = now + self.config.topology_hold();
            self.topology.sweep(now);
            self.interfaces.sweep(now);
            self.duplicates.sweep(now);
        }
        let says_hello = self.hello_at <= now;
        if !says_hello && self.tc_at > now && self.pass_at.is_none_or(|at| at > now) {
            return;
        }
        let tcs = if self.tc_at <= now { self.tcs(now) } else { Vec::new() };
        let mut own = Vec::new();
        for interface in 0..self.outbox.interfaces() {
            let mut messages = if says_hello { self.hellos(interface, now) } else { Vec::new() };
            messages.extend(tcs.iter().cloned());
            own.push(messages);
        }
        if says_hello {
            self.hello_at = now + to_next(&self.config, self.config.hello_interval, &mut self.random);
        }
        self.pass_at = None;
        self.outbox.send(&own, |output| self.outputs.push_back(output));
    }

    /// When [`Self::expire`] is due.
    pub(super) fn next_timer(&self) -> Instant {
        let own = self.hello_at.min(self.tc_at).min(self.sweep_at);
        let others = [self.pass_at, self.neighbourhood.poll_timeout(), self.calculation_due()];
        others.into_iter().flatten().fold(own, Instant::min)
    }
}

/// The time to the next message that is sent at this interval (3.5). MAXJITTER follows from another interval, and may be longer than
/// this one: a quarter of it is the most that is taken away (RFC 5148, 5.4).
pub(super) fn to_next(config: &Config, interval: Duration, random: &mut Stream) -> Duration {
    interval - jitter(config.max_jitter().min(interval / 4), random)
}

/// Uniform from zero up to `most` (3.5).
pub(super) fn jitter(most: Duration, random: &mut Stream) -> Duration {
    Duration::from_nanos((random.unit() * most.as_nanos() as f64) as u64)
}
