//! Route Discovery (RFC 4728, 8.2): the searches for routes under way.

pub(super) mod requests;

use std::net::Ipv4Addr;

use self::requests::Discovery;
use super::Dsr;
use super::timers::{Timer, after};
use crate::routing::Output;
use crate::time::Instant;

impl Dsr {
    /// A packet for `target` waits for a route; whether it is this node's own.
    pub(super) fn start_discovery(&mut self, target: Ipv4Addr, is_own: bool, now: Instant) {
        let until = Some(after(now, self.config.send_buffer_timeout));
        self.searching.insert(target);
        if self.requests.originated.get_mut(&target).is_none()
            && let Some((other, evicted)) = self.requests.originated.insert(target, Discovery::default())
        {
            evicted.timer.into_iter().for_each(|timer| self.schedule.cancel(timer));
            if self.searching.remove(&other) {
                self.outputs.push_back(Output::NotFound(other));
                self.on_search_over();
            }
        }
        let discovery = self.requests.originated.get_mut(&target).expect("it is there by now");
        let is_wanted = discovery.wanted_until.is_some();
        if is_own {
            discovery.wanted_until = until;
        } else {
            discovery.wanted_by_others_until = until;
        }
        // Packets of others have a search of one step.
        if is_own && !is_wanted {
            discovery.timer.take().into_iter().for_each(|timer| self.schedule.cancel(timer));
        }
        if discovery.timer.is_none() {
            self.on_discovery_timeout(target, now);
        }
    }

    /// The next step of a search may be due (4.3, 8.2.1).
    pub(super) fn on_discovery_timeout(&mut self, target: Ipv4Addr, now: Instant) {
        let Some(discovery) = self.requests.originated.get_mut(&target) else { return };
        discovery.timer = None;
        // The driver has dropped what was waiting before.
        discovery.wanted_until = discovery.wanted_until.filter(|&until| now < until);
        discovery.wanted_by_others_until = discovery.wanted_by_others_until.filter(|&until| now < until);
        let next_step = match (discovery.wanted_until, discovery.wanted_by_others_until) {
            (Some(_), _) => discovery.next_step(),
            (None, Some(_)) if discovery.attempts == 0 => discovery.next_nonpropagating,
            (None, Some(until)) => until,
            (None, None) => {
                discovery.attempts_of_search = 0;
                if self.searching.remove(&target) {
                    self.on_search_over();
                }
                return;
            }
        };
        if now < next_step {
            discovery.timer = Some(self.schedule.add(next_step, Timer::Discovery(target)));
            return;
        }
        if discovery.attempts_of_search > self.config.max_request_rexmt {
            (discovery.wanted_until, discovery.wanted_by_others_until) = (None, None);
            discovery.attempts_of_search = 0;
            self.searching.remove(&target);
            self.outputs.push_back(Output::NotFound(target));
            self.on_search_over();
            return;
        }
        let hop_limit = discovery.take_step(&self.config, now);
        discovery.timer = Some(self.schedule.add(discovery.next_step(), Timer::Discovery(target)));
        let message = self.request(target, hop_limit, None, now);
        // As those that are passed on: nodes that look for routes at one instant would do so each time.
        let jitter = self.random.duration_below(self.config.broadcast_jitter);
        self.send_after(jitter, message, now);
    }

    /// There is a route to a target that was looked for.
    pub(super) fn on_found(&mut self, target: Ipv4Addr, now: Instant) {
        self.searching.remove(&target);
        if let Some(discovery) = self.requests.originated.get_mut(&target) {
            discovery.timer.take().into_iter().for_each(|timer| self.schedule.cancel(timer));
            *discovery = discovery.over(self.config.rules);
        }
        self.outputs.push_back(Output::Found(target));
        self.on_search_over();
        self.send_parked(target, now);
    }
}
