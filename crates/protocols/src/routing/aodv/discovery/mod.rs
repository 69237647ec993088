//! Route discovery: the searches under way, and how they end (RFC 3561, sections 6.3, 6.4 and 6.12).

mod hop_times;
pub(super) mod seen;

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use self::hop_times::HopTimes;
use super::Aodv;
use super::config::{Config, Rules};
use super::messages::rate_limit::RateLimit;
use super::timers::Schedule;
use crate::routing::Output;
use crate::time::{Duration, Instant};

/// Doublings of the wait for a reply after which it grows no further.
const MAX_DOUBLINGS: u32 = 10;

/// The destinations to which a route is being looked for: one discovery each (RFC 3561, sections 6.3, 6.4 and 6.12).
#[derive(Debug)]
pub(super) struct Discoveries {
    discoveries: BTreeMap<Ipv4Addr, Discovery>,
    alarms: Schedule<Ipv4Addr>,
    /// Destinations whose next request waits for the rate, in order of their tickets.
    queue: BTreeMap<u64, Ipv4Addr>,
    next_ticket: u64,
    rate: RateLimit,
    /// ns-2 waits as long as hops took so far.
    hop_times: HopTimes,
}

#[derive(Debug)]
struct Discovery {
    purpose: Purpose,
    stage: Stage,
    /// Time to live of the last request, or of the next one if it is queued.
    ttl: u8,
    /// Requests through the whole network that were sent.
    full: u32,
    /// The most of them.
    full_limit: u32,
}

/// What a route is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// For packets of this node.
    Search,
    /// For packets of others, which came over a route that has broken behind this node.
    Repair {
        /// Hops to the destination before.
        hops: u8,
        /// Whether packets of this node wait as well.
        with_own: bool,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// The next request is to be sent as soon as the rate permits.
    Queued { ticket: u64 },
    /// For a reply.
    Waiting { until: Instant },
    /// The destination was not found, and is not looked for before then.
    HoldOff {
        until: Instant,
        /// Whether packets wait for it to be looked for again.
        wanted: bool,
    },
}

/// Result of a wait that is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// There will be a further request.
    GoesOn,
    /// The destination was not found.
    NotFound(Purpose),
}

impl Aodv {
    /// There is a new route: packets that wait for it may go, and nodes that send over a repaired route learn if it is
    /// longer now (RFC 3561, section 6.12).
    pub(super) fn handle_route(&mut self, destination: Ipv4Addr, now: Instant) {
        let Some(purpose) = self.discoveries.finish(destination) else { return };
        self.outputs.push_back(Output::Found(destination));
        if let Purpose::Repair { hops, .. } = purpose
            && !self.config.fails_as_ns2()
        {
            self.report_repair(destination, hops, now);
        }
    }

    pub(super) fn handle_outcome(&mut self, destination: Ipv4Addr, outcome: Outcome, now: Instant) {
        let Outcome::NotFound(purpose) = outcome else { return };
        if let Purpose::Repair { with_own, .. } = purpose
            && !self.config.fails_as_ns2()
        {
            self.table.give_up(destination);
            self.report_lost(&[destination], now);
            if with_own {
                let hops = self.table.get(destination).map(|route| route.hops);
                self.discoveries.search(destination, hops, &self.config);
                return;
            }
        }
        self.outputs.push_back(Output::NotFound(destination));
    }
}

impl Discoveries {
    pub(super) fn new(config: &Config) -> Self {
        Self {
            discoveries: BTreeMap::new(),
            alarms: Schedule::default(),
            queue: BTreeMap::new(),
            next_ticket: 0,
            rate: RateLimit::new(config.rreq_ratelimit),
            hop_times: HopTimes::default(),
        }
    }

    /// Whether a local repair of the route to this destination is under way.
    pub(super) fn is_repairing(&self, destination: Ipv4Addr) -> bool {
        self.discoveries.get(&destination).is_some_and(Discovery::is_repair)
    }

    /// A packet of another node waits for a route. Whether a local repair of that is under way.
    pub(super) fn join_repair(&mut self, destination: Ipv4Addr) -> bool {
        let repair = self.discoveries.get_mut(&destination).filter(|discovery| discovery.is_repair());
        repair.map(Discovery::want).is_some()
    }

    /// A packet of this node waits for a route. Starts a search unless there is a discovery; `hops`: where the destination was.
    pub(super) fn search(&mut self, destination: Ipv4Addr, hops: Option<u8>, config: &Config) {
        if let Some(discovery) = self.discoveries.get_mut(&destination) {
            if let Purpose::Repair { with_own, .. } = &mut discovery.purpose {
                *with_own = true;
            }
            discovery.want();
            return;
        }
        let ttl = hops.map_or_else(|| ring(config.ttl_start, config), |hops| wider(hops, config));
        // The first request is none of the retries (section 6.3), and to ns-2 no ring is one.
        let is_one_more = config.is_ns2() || ttl == config.net_diameter;
        self.start(destination, Purpose::Search, ttl, config.rreq_retries + u32::from(is_one_more));
    }

    /// A packet of another node, `to_source` hops away, waits for the repair of a route that had this number of `hops`:
    /// by one request, and under ns-2 by a search. There is no repair under way; a search becomes one that packets of
    /// this node wait for as well.
    pub(super) fn repair(&mut self, destination: Ipv4Addr, hops: u8, to_source: u8, config: &Config) {
        let with_own = self.finish(destination).is_some();
        let (ttl, full_limit) = if config.fails_as_ns2() {
            (wider(hops, config), config.rreq_retries + 1)
        } else {
            (hops.max(to_source / 2).saturating_add(config.local_add_ttl).min(config.net_diameter), 0)
        };
        self.start(destination, Purpose::Repair { hops, with_own }, ttl, full_limit);
    }

    /// A reply to this node's request has come, over this number of hops.
    pub(super) fn handle_reply(&mut self, destination: Ipv4Addr, hops: u8, now: Instant) {
        self.hop_times.handle_reply(destination, hops, now);
    }

    /// The destinations of local repairs.
    pub(super) fn repairs(&self) -> impl Iterator<Item = Ipv4Addr> {
        self.discoveries.iter().filter(|(_, discovery)| discovery.is_repair()).map(|(&destination, _)| destination)
    }

    /// Makes a repair a search for what waits by now: packets of others wait for it no more.
    pub(super) fn close_repair(&mut self, destination: Ipv4Addr) {
        if let Some(discovery) = self.discoveries.get_mut(&destination) {
            discovery.purpose = Purpose::Search;
        }
    }

    /// Ends the discovery, if there is one.
    pub(super) fn finish(&mut self, destination: Ipv4Addr) -> Option<Purpose> {
        let discovery = self.discoveries.remove(&destination)?;
        match discovery.stage {
            Stage::Queued { ticket } => drop(self.queue.remove(&ticket)),
            Stage::Waiting { until } | Stage::HoldOff { until, .. } => self.alarms.remove(until, destination),
        }
        Some(discovery.purpose)
    }

    /// No packet waits for this destination any more. A search ends; a repair, of which others are told how it ends, goes on.
    pub(super) fn abandon(&mut self, destination: Ipv4Addr) {
        match self.discoveries.get_mut(&destination) {
            Some(Discovery { stage: Stage::HoldOff { wanted, .. }, .. }) => *wanted = false,
            Some(discovery) if !discovery.is_repair() => drop(self.finish(destination)),
            _ => {}
        }
    }

    /// The next request that may be sent now: its destination and time to live. It counts as sent.
    pub(super) fn poll_request(&mut self, config: &Config, now: Instant) -> Option<(Ipv4Addr, u8)> {
        if self.queue.is_empty() || !self.rate.take(now) {
            return None;
        }
        let (_, destination) = self.queue.pop_first()?;
        let discovery = self.discoveries.get_mut(&destination).expect("what is queued is a discovery");
        let until = now + discovery.next_wait(config, self.hop_times.mean(destination));
        if config.is_ns2() {
            self.hop_times.handle_request(destination, now);
        }
        discovery.stage = Stage::Waiting { until };
        self.alarms.insert(until, destination);
        Some((destination, discovery.ttl))
    }

    /// When [`Self::poll_outcome`] or [`Self::poll_request`] is to be asked.
    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        let permit = if self.queue.is_empty() { None } else { self.rate.next() };
        self.alarms.first().into_iter().chain(permit).min()
    }

    /// The destination of a wait that is over, and the result.
    pub(super) fn poll_outcome(&mut self, config: &Config, now: Instant) -> Option<(Ipv4Addr, Outcome)> {
        let destination = self.alarms.pop_due(now)?;
        let discovery = self.discoveries.get_mut(&destination).expect("a discovery has its alarm while it waits");
        let outcome = match (discovery.stage, discovery.purpose) {
            (Stage::HoldOff { wanted: false, .. }, _) => {
                self.discoveries.remove(&destination);
                Outcome::GoesOn
            }
            (Stage::HoldOff { wanted: true, .. }, _) => {
                discovery.full = 0;
                discovery.stage = enqueue(&mut self.queue, &mut self.next_ticket, destination);
                Outcome::GoesOn
            }
            _ if discovery.widen(config) => {
                discovery.stage = enqueue(&mut self.queue, &mut self.next_ticket, destination);
                Outcome::GoesOn
            }
            (_, purpose) => {
                let is_held_off = !discovery.is_repair() || config.fails_as_ns2();
                match config.rules.constants().filter(|_| is_held_off) {
                    Some(constants) => {
                        let until = now + constants.max_rreq_timeout;
                        discovery.stage = Stage::HoldOff { until, wanted: false };
                        self.alarms.insert(until, destination);
                    }
                    None => drop(self.discoveries.remove(&destination)),
                }
                Outcome::NotFound(purpose)
            }
        };
        Some((destination, outcome))
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.discoveries.len()
    }

    fn start(&mut self, destination: Ipv4Addr, purpose: Purpose, ttl: u8, full_limit: u32) {
        let stage = enqueue(&mut self.queue, &mut self.next_ticket, destination);
        self.discoveries.insert(destination, Discovery { purpose, stage, ttl, full: 0, full_limit });
    }
}

impl Discovery {
    fn is_repair(&self) -> bool {
        self.purpose != Purpose::Search
    }

    /// A packet waits for what is held off to be looked for again.
    fn want(&mut self) {
        if let Stage::HoldOff { wanted, .. } = &mut self.stage {
            *wanted = true;
        }
    }

    /// Counts a request, and tells how long to wait for its reply. `hop_time`: how long a hop there took so far, and back.
    fn next_wait(&mut self, config: &Config, hop_time: Option<Duration>) -> Duration {
        let is_full = self.ttl >= config.net_diameter;
        if let Rules::Ns2(constants) = config.rules {
            self.full += u32::from(is_full);
            let hop_time = hop_time.unwrap_or(config.node_traversal_time);
            let wait = hop_time * 2 * u64::from(self.ttl) * u64::from(self.full.max(1));
            return wait.min(constants.max_rreq_timeout);
        }
        if !is_full || self.is_repair() {
            return config.ring_traversal_time(self.ttl);
        }
        let doublings = self.full.min(MAX_DOUBLINGS);
        self.full += 1;
        config.net_traversal_time() * (1 << doublings)
    }

    /// Makes the next request wider; `false` if there is to be none.
    fn widen(&mut self, config: &Config) -> bool {
        let ttl = wider(self.ttl, config);
        let is_only = self.is_repair() && !config.fails_as_ns2();
        if is_only || ttl == config.net_diameter && self.full >= self.full_limit {
            return false;
        }
        self.ttl = ttl;
        true
    }
}

/// Puts a destination at the end of the queue.
fn enqueue(queue: &mut BTreeMap<u64, Ipv4Addr>, next_ticket: &mut u64, destination: Ipv4Addr) -> Stage {
    let ticket = *next_ticket;
    *next_ticket += 1;
    queue.insert(ticket, destination);
    Stage::Queued { ticket }
}

/// The next ring after one of this radius, or the whole network. To ns-2 it is the ring before that must be small enough.
fn wider(radius: u8, config: &Config) -> u8 {
    let next = radius.saturating_add(config.ttl_increment);
    match config.rules {
        Rules::Ns2(_) if radius < config.ttl_threshold => next.min(config.net_diameter),
        Rules::Ns2(_) => config.net_diameter,
        Rules::Rfc3561 => ring(next, config),
    }
}

/// A ring of this radius, or the whole network if it is too large for a ring (section 6.4).
fn ring(radius: u8, config: &Config) -> u8 {
    if radius > config.ttl_threshold { config.net_diameter } else { radius.min(config.net_diameter) }
}
