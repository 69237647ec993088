//! DSR: `nodes.routing`, `protocol = "dsr"`.

use hopcast_protocols::routing::dsr::{self, Config};
use hopcast_protocols::time::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::super::Resolver;
use super::{NS_2, protocol};
use crate::host::ROUTE_QUEUE_TIMEOUT;
use crate::scenario::declare::{by, computed, is};
use crate::scenario::model;
use crate::scenario::quantity::Time;

/// Parameters of DSR, by their names in RFC 4728, section 9.
#[derive(Deserialize, JsonSchema)]
pub(in super::super) struct Dsr {
    /// Source of the defaults of the other keys.
    #[schemars(extend("x-default" = is("rfc-4728", "the standard")))]
    profile: Profile,
    /// Organisation of the route cache: whole paths, or links.
    #[schemars(extend("x-default" = of("RFC 4728, appendix A", |dsr| Cache::from(dsr.cache))))]
    cache: Cache,
    /// Lifetime of a cache entry since the node learned or used it: RouteCacheTimeout, 300 s in section 9.
    #[schemars(extend("minimum" = 1e-3, "maximum" = 315_576_000, "x-default" = computed("for links adaptive, by the past of their ends (appendix A); for paths none, as in ns-2.35: a path stays until it breaks")))]
    route_cache_timeout: Option<Time>,
    /// Method by which a node learns whether the next hop has received a packet.
    #[schemars(extend("x-default" = of("RFC 4728, section 8.3.1", |dsr| Acknowledgement::from(dsr.acknowledgement))))]
    acknowledgement: Acknowledgement,
    /// Whether the node listens to packets between other nodes.
    #[schemars(extend("x-default" = of("allowed by RFC 4728, section 2", |dsr| dsr.promiscuous)))]
    promiscuous: bool,
    /// Time to live of a route request that floods the network, in hops.
    #[schemars(extend("minimum" = 1, "maximum" = 255, "x-default" = of(SECTION_9, |dsr| dsr.discovery_hop_limit)))]
    discovery_hop_limit: u8,
    /// Largest random delay before a node sends or forwards a request, or sends a reply.
    #[schemars(extend("minimum" = 0, "maximum" = 315_576_000, "x-default" = of(SECTION_9, |dsr| Time::from(dsr.broadcast_jitter))))]
    broadcast_jitter: Time,
    /// Number of times that a node repeats a request through the network.
    #[schemars(extend("minimum" = 0, "maximum" = 1000, "x-default" = of(SECTION_9, |dsr| dsr.max_request_rexmt)))]
    max_request_rexmt: u32,
    /// Initial time between two requests through the network for a node; it grows with each request.
    #[schemars(extend("minimum" = 1e-3, "maximum" = 3600, "x-default" = of(SECTION_9, |dsr| Time::from(dsr.request_period))))]
    request_period: Time,
    /// Longest time between two requests through the network for a node.
    #[schemars(extend("minimum" = 1e-3, "maximum" = 3600, "x-default" = of(SECTION_9, |dsr| Time::from(dsr.max_request_period))))]
    max_request_period: Time,
    /// Time that a node waits for an answer of a neighbour before it sends a request through the network.
    #[schemars(extend("minimum" = 1e-3, "maximum" = 3600, "x-default" = of(SECTION_9, |dsr| Time::from(dsr.nonprop_request_timeout))))]
    nonprop_request_timeout: Time,
    /// Time for which a neighbour counts as reachable after it has acknowledged a packet.
    #[schemars(extend("minimum" = 0, "maximum" = 315_576_000, "x-default" = of(SECTION_9, |dsr| Time::from(dsr.maint_holdoff_time))))]
    maint_holdoff_time: Time,
    /// Number of times that a node retransmits an unacknowledged packet.
    #[schemars(extend("minimum" = 0, "maximum" = 1000, "x-default" = of(SECTION_9, |dsr| dsr.max_maint_rexmt)))]
    max_maint_rexmt: u32,
    /// Least time between two gratuitous replies about the same two nodes.
    #[schemars(extend("minimum" = 0, "maximum" = 315_576_000, "x-default" = of(SECTION_9, |dsr| Time::from(dsr.grat_reply_holdoff))))]
    grat_reply_holdoff: Time,
    /// Number of times that nodes may send a packet another way after a broken link.
    #[schemars(extend("minimum" = 0, "maximum" = 15, "x-default" = of(SECTION_9, |dsr| dsr.max_salvage_count)))]
    max_salvage_count: u8,
}

/// Source of the defaults of DSR.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Profile {
    /// RFC 4728, section 9 and appendix A.
    #[serde(rename = "rfc-4728")]
    Rfc4728,
    /// ns-2.35, with its cache of paths, route requests by intermediate nodes and its rules for learning routes.
    #[serde(rename = "ns-2")]
    Ns2,
}

impl Profile {
    const fn config(self) -> Config {
        match self {
            Self::Rfc4728 => Config::RFC_4728,
            Self::Ns2 => Config::NS_2,
        }
    }
}

/// Content of a route cache.
#[derive(Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Cache {
    /// Links, from which the node computes routes.
    Link,
    /// Whole paths.
    Path,
}

/// Method by which a node learns whether the next hop has received a packet.
#[derive(Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Acknowledgement {
    /// The interface reports it.
    LinkLayer,
    /// The node overhears the next hop forward the packet.
    Passive,
    /// The node asks for an acknowledgement.
    NetworkLayer,
}

alike!(Acknowledgement, dsr::Acknowledgement: LinkLayer, Passive, NetworkLayer);

impl From<dsr::Cache> for Cache {
    fn from(cache: dsr::Cache) -> Self {
        match cache {
            dsr::Cache::Link { .. } => Self::Link,
            dsr::Cache::Path { .. } => Self::Path,
        }
    }
}

/// Source of the numbers of section 9.
const SECTION_9: &str = "RFC 4728, section 9";

/// A default by profile: under `rfc-4728` it has this source.
fn of<V: Serialize>(source: &str, value: impl Fn(&Config) -> V) -> Value {
    let case = |word, profile: Profile, source| (word, value(&profile.config()), source);
    by("profile", [case("rfc-4728", Profile::Rfc4728, source), case("ns-2", Profile::Ns2, NS_2)])
}

impl Resolver<'_> {
    pub(super) fn dsr(&mut self, index: &str, keys: Dsr) -> model::Routing {
        let config = Config {
            cache: self.dsr_cache(index, keys.cache, keys.route_cache_timeout),
            acknowledgement: keys.acknowledgement.into(),
            promiscuous: keys.promiscuous,
            discovery_hop_limit: keys.discovery_hop_limit,
            broadcast_jitter: keys.broadcast_jitter.into(),
            max_request_rexmt: keys.max_request_rexmt,
            request_period: keys.request_period.into(),
            max_request_period: keys.max_request_period.into(),
            nonprop_request_timeout: keys.nonprop_request_timeout.into(),
            maint_holdoff_time: keys.maint_holdoff_time.into(),
            max_maint_rexmt: keys.max_maint_rexmt,
            grat_reply_holdoff: keys.grat_reply_holdoff.into(),
            max_salvage_count: keys.max_salvage_count,
            send_buffer_timeout: ROUTE_QUEUE_TIMEOUT,
            ..keys.profile.config()
        };
        protocol("dsr", move |node| dsr::Dsr::new(node, config))
    }

    /// The route cache. Under both profiles a cache of links follows the RFC's appendix A, and a cache of paths has the
    /// sizes of ns-2's and no timeout, as in ns-2. Neither uses the RouteCacheTimeout of section 9 unless it is given.
    fn dsr_cache(&mut self, index: &str, kind: Cache, timeout: Option<Time>) -> dsr::Cache {
        let path = ["nodes", index, "routing", "route_cache_timeout"];
        match (timeout, kind) {
            (Some(_), _) => self.ledger.note_given(&path),
            (None, Cache::Link) => self.ledger.note(&path, "adaptive", "default: RFC 4728, appendix A"),
            (None, Cache::Path) => self.ledger.note(&path, "none", "default: ns-2.35"),
        }
        let timeout = timeout.map(Duration::from);
        match kind {
            Cache::Link => {
                let lifetime = match timeout {
                    Some(timeout) => dsr::Lifetime::Fixed(timeout),
                    None => dsr::Lifetime::Adaptive(dsr::MaxLife::RFC_4728),
                };
                let dsr::Cache::Link { capacity, .. } = Config::RFC_4728.cache else {
                    unreachable!("the standard's cache is one of links");
                };
                dsr::Cache::Link { capacity, lifetime }
            }
            Cache::Path => {
                let dsr::Cache::Path { primary, secondary, .. } = Config::NS_2.cache else {
                    unreachable!("the cache of ns-2 is one of paths");
                };
                dsr::Cache::Path { primary, secondary, timeout }
            }
        }
    }
}
