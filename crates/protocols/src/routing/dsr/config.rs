//! The free parameters of DSR.

use crate::time::Duration;

/// Parameters of DSR. Names and values are those of RFC 4728, 9, where nothing else is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// DiscoveryHopLimit, in hops: the time to live of a propagating Route Request. The format has room for 62 nodes between the
    /// ends.
    pub discovery_hop_limit: u8,
    /// BroadcastJitter: Route Requests are sent and passed on, and Route Replies sent, after up to this time.
    pub broadcast_jitter: Duration,
    /// What the RFC leaves open, or ns-2 does otherwise.
    pub rules: Rules,
    /// The organisation of the Route Cache (4.1).
    pub cache: Cache,
    /// SendBufferTimeout. The driver drops packets that have waited for so long; no route is looked for afterwards.
    pub send_buffer_timeout: Duration,
    /// RequestTableSize, in nodes: the number of targets, and of initiators, that a node remembers.
    pub request_table_size: usize,
    /// RequestTableIds: how many requests of an initiator are remembered.
    pub request_table_ids: usize,
    /// MaxRequestRexmt: how often a propagating Route Request is repeated before its target counts as not found.
    pub max_request_rexmt: u32,
    /// MaxRequestPeriod: the longest time between two propagating Route Requests for a target.
    pub max_request_period: Duration,
    /// RequestPeriod: the first time between two propagating Route Requests for a target.
    pub request_period: Duration,
    /// By how much this time is multiplied after each request: 2 (RFC 4728, 4.3); ns-2 takes 4.
    pub request_backoff: u64,
    /// NonpropRequestTimeout: how long an answer to a request with a hop limit of 1 is waited for.
    pub nonprop_request_timeout: Duration,
    /// How Route Maintenance learns whether the next node has a packet (8.3).
    pub acknowledgement: Acknowledgement,
    /// RexmtBufferSize, in packets: how many can wait for an acknowledgement.
    pub rexmt_buffer_size: usize,
    /// MaintHoldoffTime: how long a neighbour counts as reachable after it has acknowledged something.
    pub maint_holdoff_time: Duration,
    /// MaxMaintRexmt: how often a packet that was not acknowledged is sent once more.
    pub max_maint_rexmt: u32,
    /// TryPassiveAcks: how many of these repetitions go without asking for an acknowledgement.
    pub try_passive_acks: u32,
    /// PassiveAckTimeout: how long a passive acknowledgement is waited for. Also the first guess of the time that a
    /// network-layer acknowledgement takes, for which the RFC gives none.
    pub passive_ack_timeout: Duration,
    /// GratReplyHoldoff: the least time between two gratuitous Route Replies to the same node on account of the same neighbour.
    pub grat_reply_holdoff: Duration,
    /// MAX_SALVAGE_COUNT: how often a packet can be salvaged. At most 15: its field has four bits.
    pub max_salvage_count: u8,
    /// H of 8.2.5: a Route Reply from the cache that gives a route of h hops waits for H × (h − 1 + r), r between 0 and 1, and
    /// is not sent if the initiator is seen to have a route as short. Zero: it is sent after the ordinary jitter. The RFC gives
    /// no number; 3 ms is what ns-2's dsragent.cc intended.
    pub reply_hop_delay: Duration,
    /// How long a neighbour that a Route Reply could not reach is not believed to be reachable; for as long again, this is
    /// questionable (4.6). Zero: there is no Blacklist. The RFC gives no number: 5.6 s is BLACKLIST_TIMEOUT of AODV (RFC 3561, 10), which serves the same
    /// purpose.
    pub blacklist_timeout: Duration,
    /// How old a Route Error may be that this node repeats in its next search for a route (3.4.4); `None`: of any age. ns-2's
    /// `max_err_hold`, which the RFC does not have.
    pub route_error_hold: Option<Duration>,
    /// Whether packets between other nodes are listened to: for route shortening (3.4.3), caching (3.3.1) and passive
    /// acknowledgements.
    pub promiscuous: bool,
}

/// What is done where RFC 4728 leaves a choice, or ns-2 does otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rules {
    /// RFC 4728. One request to the neighbours begins a search (3.3.3), the least time between requests stays in force after a
    /// reply (4.3), only the source looks for a route (3.4.1), what it sends once more counts as salvaged, links are learned in both
    /// directions (3.3.1), and what was learned or used longest ago makes room in a cache of paths.
    Rfc4728,
    /// ns-2.35 (`dsr/dsragent.cc`, `dsr/routecache.cc`, `dsr/mobicache.cc`).
    ///
    /// * Each further request through the network is preceded by one to the neighbours, from which the time to the next is
    ///   counted; a reply lets another search begin at once. A request is known if it is no newer than the last of its initiator.
    /// * A source sends its own packets again when they fail, as often as others are salvaged. What fails elsewhere and
    ///   can't be salvaged waits there, messages too, and that node asks its neighbours for a way, once until there is a
    ///   reply. A Route Reply is salvaged as well, unless it names the broken link. Of the packets that a broken link
    ///   fails, only the first tells its sender. An error that fails goes back in the new one also where it was salvaged,
    ///   and a node that receives it sends it on.
    /// * Of a route that passes by, the part behind this node is learned; of one that is overheard, the part behind the
    ///   neighbour that has sent it, and each packet is heeded once. A node that sends a Route Reply learns the way back.
    /// * In a cache of paths a link breaks in the direction in which it was tried, and whatever came first makes room.
    Ns2,
}

/// How a Route Cache is organised (RFC 4728, 4.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cache {
    /// Whole paths. The two sizes are those of ns-2's `mobicache.cc`.
    Path {
        /// How many paths are kept that this node has looked for or used.
        primary: usize,
        /// How many others are kept.
        secondary: usize,
        /// RouteCacheTimeout: how long a path is kept since it was last learned or used; `None`: until it breaks, or has to
        /// make room.
        timeout: Option<Duration>,
    },
    /// Links, of which routes are made by a search for the shortest.
    Link {
        /// How many are kept; a link with both directions counts twice.
        capacity: usize,
        /// How long a link is kept.
        lifetime: Lifetime,
    },
}

/// How long a link is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lifetime {
    /// RouteCacheTimeout, since it was last learned or used.
    Fixed(Duration),
    /// According to what its two ends have been like.
    Adaptive(MaxLife),
}

/// Parameters of Link-MaxLife (RFC 4728, appendix A).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MaxLife {
    /// InitStability: the stability of a node of which nothing is known.
    pub init_stability: Duration,
    /// StabilityIncrFactor: by how much the time between two uses of a link adds to the stability of its ends.
    pub stability_incr_factor: u64,
    /// 1 / StabilityDecrFactor: by how much the stability of its ends is divided when a link breaks.
    pub stability_decr_divisor: u64,
    /// MinLifetime: the least that a link is given.
    pub min_lifetime: Duration,
    /// UseExtends: the least that a link has after it was used.
    pub use_extends: Duration,
}

/// How Route Maintenance learns whether the next node has a packet (RFC 4728, 8.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acknowledgement {
    /// The link layer tells (8.3.1).
    LinkLayer,
    /// It is heard to pass the packet on (8.3.2); on the last hop, and where nothing was heard, it is asked.
    Passive,
    /// It is asked (8.3.3).
    NetworkLayer,
}

impl MaxLife {
    /// The values of RFC 4728, appendix A.
    pub const RFC_4728: Self = Self {
        init_stability: Duration::from_secs(25),
        stability_incr_factor: 4,
        stability_decr_divisor: 2,
        min_lifetime: Duration::from_secs(1),
        use_extends: Duration::from_secs(120),
    };
}

impl Config {
    /// RouteCacheTimeout (RFC 4728, 9).
    pub const ROUTE_CACHE_TIMEOUT: Duration = Duration::from_secs(300);

    /// The values of RFC 4728, 9, with the cache that its appendix A recommends, and link-layer acknowledgements, which 8.3.1
    /// prefers where there are any. The RFC leaves the size of the cache open: 1024 links are a network of 100 nodes with ten
    /// neighbours each.
    pub const RFC_4728: Self = Self {
        discovery_hop_limit: 255,
        rules: Rules::Rfc4728,
        broadcast_jitter: Duration::from_millis(10),
        cache: Cache::Link { capacity: 1024, lifetime: Lifetime::Adaptive(MaxLife::RFC_4728) },
        send_buffer_timeout: Duration::from_secs(30),
        request_table_size: 64,
        request_table_ids: 16,
        max_request_rexmt: 16,
        max_request_period: Duration::from_secs(10),
        request_period: Duration::from_millis(500),
        request_backoff: 2,
        nonprop_request_timeout: Duration::from_millis(30),
        acknowledgement: Acknowledgement::LinkLayer,
        rexmt_buffer_size: 50,
        maint_holdoff_time: Duration::from_millis(250),
        max_maint_rexmt: 2,
        try_passive_acks: 1,
        passive_ack_timeout: Duration::from_millis(100),
        grat_reply_holdoff: Duration::from_secs(1),
        max_salvage_count: 15,
        reply_hop_delay: Duration::from_millis(3),
        blacklist_timeout: Duration::from_millis(5600),
        route_error_hold: None,
        promiscuous: true,
    };

    /// The rules and values of ns-2.35 where they differ (`dsr/dsragent.cc`, `dsr/dsragent.h`, `dsr/mobicache.cc`, `dsr/path.h`): a cache
    /// of 30 and 64 paths without timeout, routes of at most 16 nodes, 128 nodes in the request table, one request remembered
    /// for each, a backoff of 4, no delay against storms of replies, no blacklist, and errors repeated for a second.
    pub const NS_2: Self = Self {
        discovery_hop_limit: 15,
        rules: Rules::Ns2,
        cache: Cache::Path { primary: 30, secondary: 64, timeout: None },
        request_table_size: 128,
        request_table_ids: 1,
        request_backoff: 4,
        reply_hop_delay: Duration::ZERO,
        blacklist_timeout: Duration::ZERO,
        route_error_hold: Some(Duration::from_secs(1)),
        ..Self::RFC_4728
    };

    /// Time after the propagating request with this number, counted from zero, during which there is no other for its target.
    pub(crate) fn request_timeout(&self, number: u32) -> Duration {
        let factor = self.request_backoff.saturating_pow(number);
        let nanos = self.request_period.as_nanos().saturating_mul(factor);
        Duration::from_nanos(nanos).min(self.max_request_period)
    }
}

impl Default for Config {
    fn default() -> Self {
        Self::RFC_4728
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_between_requests_grows_up_to_its_limit() {
        let millis = |config: &Config| [0, 1, 2, 3, 4, 5, 60].map(|n| config.request_timeout(n).as_nanos() / 1_000_000);
        assert_eq!(millis(&Config::RFC_4728), [500, 1000, 2000, 4000, 8000, 10_000, 10_000]);
        assert_eq!(millis(&Config::NS_2), [500, 2000, 8000, 10_000, 10_000, 10_000, 10_000]);
    }
}
