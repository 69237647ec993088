//! How nodes find routes: protocols and their parameters.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::quantity::Time;

/// How nodes find routes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "protocol", rename_all = "kebab-case", deny_unknown_fields)]
pub(in super::super) enum Routing {
    /// Shortest paths, known from the start.
    Static {},
    /// Not at all: in an emulation the programs of real nodes do, babeld say.
    None {},
    /// Ad hoc on-demand distance vectors (RFC 3561).
    Aodv(Aodv),
    /// Destination-sequenced distance vectors (Perkins and Bhagwat, 1994).
    Dsdv(Dsdv),
    /// Dynamic source routing (RFC 4728).
    Dsr(Dsr),
    /// Optimized link state routing (RFC 3626).
    Olsr(Olsr),
    /// A protocol that a program has added to hopcast.
    Custom {
        /// Under which it was added.
        name: String,
        /// What it may be told. Default: nothing.
        #[schemars(extend("x-free" = true))]
        parameters: Option<serde_json::Map<String, serde_json::Value>>,
    },
}

/// Parameters of AODV, by their names in RFC 3561, section 10.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(in super::super) struct Aodv {
    /// Whose defaults hold for all that is not given. Default: `rfc-3561`; `ns-2` under the radio profile of that name.
    pub profile: Option<AodvProfile>,
    /// How long a route is valid without being used. Default: as the profile says.
    #[schemars(extend("minimum" = 1e-3, "maximum" = 3600))]
    pub active_route_timeout: Option<Time>,
    /// A neighbour is lost after so many hello intervals without a sign of it. Default: as the profile says.
    #[schemars(extend("minimum" = 1, "maximum" = 1000))]
    pub allowed_hello_loss: Option<u32>,
    /// Time between two hellos. Default: as the profile says.
    #[schemars(extend("minimum" = 1e-3, "maximum" = 3600))]
    pub hello_interval: Option<Time>,
    /// By how many hops the request of a local repair goes beyond where the destination was. Default: as the profile
    /// says.
    #[schemars(extend("minimum" = 0, "maximum" = 255))]
    pub local_add_ttl: Option<u8>,
    /// Hops between the two nodes that are farthest apart. Default: as the profile says.
    #[schemars(extend("minimum" = 1, "maximum" = 255))]
    pub net_diameter: Option<u8>,
    /// Time for a hop, with all that it waits for. Default: as the profile says.
    #[schemars(extend("minimum" = 1e-3, "maximum" = 3600))]
    pub node_traversal_time: Option<Time>,
    /// The most route errors in a second; 0: no limit. Default: as the profile says.
    #[schemars(extend("minimum" = 0, "maximum" = 1000))]
    pub rerr_ratelimit: Option<u32>,
    /// The most route requests that a node makes in a second; 0: no limit. Default: as the profile says.
    #[schemars(extend("minimum" = 0, "maximum" = 1000))]
    pub rreq_ratelimit: Option<u32>,
    /// The most requests through the whole network in a search, not counting the first request, which may be a ring: with
    /// 0, a search that begins with a ring ends with the last ring. Under the profile `ns-2` rings don't count: the whole
    /// network is asked once more often than this. Default: as the profile says.
    #[schemars(extend("minimum" = 0, "maximum" = 1000))]
    pub rreq_retries: Option<u32>,
    /// Hops by which the wait for a reply is longer than a ring takes. Default: as the profile says.
    #[schemars(extend("minimum" = 0, "maximum" = 255))]
    pub timeout_buffer: Option<u8>,
    /// Radius of the first ring in hops. Default: as the profile says.
    #[schemars(extend("minimum" = 1, "maximum" = 255))]
    pub ttl_start: Option<u8>,
    /// By how many hops each ring is larger than the one before. Default: as the profile says.
    #[schemars(extend("minimum" = 1, "maximum" = 255))]
    pub ttl_increment: Option<u8>,
    /// Radius of the last ring in hops; what is beyond is the whole network. Default: as the profile says.
    #[schemars(extend("minimum" = 0, "maximum" = 255))]
    pub ttl_threshold: Option<u8>,
    /// Broadcasts that answer a message are delayed by up to this time, and requests of a node's own, but under profile `ns-2` and in ARP packets. Default: as the profile says.
    #[schemars(extend("minimum" = 0, "maximum" = 3600))]
    pub broadcast_jitter: Option<Time>,
    /// How a node learns that a neighbour has gone. Default: as the profile says.
    pub link_detection: Option<LinkDetection>,
    /// Whether nodes that are part of no active route send hellos too. Default: as the profile says.
    pub hello_always: Option<bool>,
    /// When a node looks itself for a route that has broken behind it. Default: as the profile says.
    pub local_repair: Option<LocalRepair>,
    /// Whether a node that replies for a destination tells that one of it (G flag). Default: as the profile says.
    pub gratuitous_reply: Option<bool>,
    /// Whether only the destination itself may reply (D flag). Default: as the profile says.
    pub destination_only: Option<bool>,
    /// Whether replies are acknowledged, and neighbours that do not acknowledge blacklisted (A flag). Default: as the
    /// profile says.
    pub reply_acknowledgement: Option<bool>,
}

/// Whose AODV.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(in super::super) enum AodvProfile {
    /// RFC 3561, section 10.
    #[serde(rename = "rfc-3561")]
    Rfc3561,
    /// ns-2.35: broken links by the link layer alone, no hellos, no limits of rates, waits as long as replies took so far, and packets that
    /// go with a link that is lost.
    #[serde(rename = "ns-2")]
    Ns2,
    /// draft-ietf-manet-aodv-05 as on the testbed of de Silva and Das: hellos always, no local repair, nothing from the link layer.
    #[serde(rename = "draft-5")]
    Draft5,
    /// `draft-5` with its messages in ARP packets, as on that testbed: no IP, and no ARP beside it. Over radios only.
    #[serde(rename = "draft-5-in-arp")]
    Draft5InArp,
}

/// How a node learns that a neighbour has gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(in super::super) enum LinkDetection {
    /// It hears nothing of it, having heard a hello before.
    Hello,
    /// The interface gives up a packet for it.
    LinkLayer,
    /// Either.
    Both,
}

/// When a node looks itself for a route that has broken behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(in super::super) enum LocalRepair {
    /// Never.
    Never,
    /// The destination was no farther than three tenths of `net_diameter`: RFC 3561, section 6.12.
    Near,
    /// The packet that shows it has come farther than it has to go; other routes over the link stay: ns-2.35.
    NearerThanSource,
}

/// Parameters of DSDV.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(in super::super) struct Dsdv {
    /// The longest time from one full dump to the next; each is drawn, from three quarters of it on. Default: 15 s, as
    /// ns-2.35.
    #[schemars(extend("minimum" = 1e-3, "maximum" = 315_576_000))]
    pub period: Option<Time>,
    /// A neighbour is lost when nothing was heard of it for so many periods. Default: 3, as ns-2.35.
    #[schemars(extend("minimum" = 1, "maximum" = 1_000_000))]
    pub allowed_loss: Option<u32>,
    /// Weight of the past in the average settling time. Default: 0.875, as ns-2.35.
    #[schemars(extend("minimum" = 0, "maximum" = 1))]
    pub settling_weight: Option<f64>,
    /// Average settling time of a new destination. Default: 6 s, as ns-2.35.
    #[schemars(extend("minimum" = 0, "maximum" = 315_576_000))]
    pub first_settling: Option<Time>,
    /// Least time from an update to an incremental one. Default: 1 s, as ns-2.35.
    #[schemars(extend("minimum" = 0, "maximum" = 315_576_000))]
    pub triggered_interval: Option<Time>,
    /// The first full dump is sent within this time. Default: 2 s, as ns-2.35.
    #[schemars(extend("minimum" = 0, "maximum" = 315_576_000))]
    pub startup_jitter: Option<Time>,
    /// An incremental update is sent up to this much later than it could be. Default: 10 ms, as ns-2.35.
    #[schemars(extend("minimum" = 0, "maximum" = 315_576_000))]
    pub broadcast_jitter: Option<Time>,
    /// Whether a newer sequence number alone triggers an update (DSDV-SQ; Broch and others, 1998). Default: false, as
    /// ns-2.35.
    pub sequence_number_triggers: Option<bool>,
    /// Whether new destinations and newer numbers, too, settle before they are told, and are left out of updates until then, as in
    /// ns-2.35, where a string of eight needs over a minute to converge. Default: false.
    pub settle_everything: Option<bool>,
    /// Whether a neighbour is lost with a frame that the interface gives up. Default: true; false under the radio profile
    /// `ns-2`, as ns-2.35 has it.
    pub link_layer_notification: Option<bool>,
}

/// Parameters of DSR, by their names in RFC 4728, section 9.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(in super::super) struct Dsr {
    /// Whose defaults hold for all that is not given. Default: `rfc-4728`; `ns-2` under the radio profile of that name.
    pub profile: Option<DsrProfile>,
    /// How the route cache is organised: of whole paths, or of links. Default: as the profile says.
    pub cache: Option<DsrCache>,
    /// How long an entry of the cache is kept since it was learned or used: RouteCacheTimeout, 300 s in section 9. Default: for
    /// a link, by what its ends have been like (appendix A); for a path, until it breaks, as in ns-2.35.
    #[schemars(extend("minimum" = 1e-3, "maximum" = 315_576_000))]
    pub route_cache_timeout: Option<Time>,
    /// How a node learns whether the next one has a packet. Default: as the profile says.
    pub acknowledgement: Option<DsrAcknowledgement>,
    /// Whether packets between other nodes are listened to. Default: as the profile says.
    pub promiscuous: Option<bool>,
    /// Time to live of a route request through the network, in hops. Default: as the profile says.
    #[schemars(extend("minimum" = 1, "maximum" = 255))]
    pub discovery_hop_limit: Option<u8>,
    /// Requests are sent and passed on, and replies sent, after up to this time. Default: as the profile says.
    #[schemars(extend("minimum" = 0, "maximum" = 315_576_000))]
    pub broadcast_jitter: Option<Time>,
    /// How often a request through the network is repeated. Default: as the profile says.
    #[schemars(extend("minimum" = 0, "maximum" = 1000))]
    pub max_request_rexmt: Option<u32>,
    /// The first time between two requests through the network for a node; it grows with each. Default: as the profile
    /// says.
    #[schemars(extend("minimum" = 1e-3, "maximum" = 3600))]
    pub request_period: Option<Time>,
    /// The longest time between two requests through the network for a node. Default: as the profile says.
    #[schemars(extend("minimum" = 1e-3, "maximum" = 3600))]
    pub max_request_period: Option<Time>,
    /// How long an answer of a neighbour is waited for, before a request goes through the network. Default: as the
    /// profile says.
    #[schemars(extend("minimum" = 1e-3, "maximum" = 3600))]
    pub nonprop_request_timeout: Option<Time>,
    /// How long a neighbour counts as reachable after it has acknowledged something. Default: as the profile says.
    #[schemars(extend("minimum" = 0, "maximum" = 315_576_000))]
    pub maint_holdoff_time: Option<Time>,
    /// How often a packet that was not acknowledged is sent once more. Default: as the profile says.
    #[schemars(extend("minimum" = 0, "maximum" = 1000))]
    pub max_maint_rexmt: Option<u32>,
    /// The least time between two gratuitous replies on account of the same two nodes. Default: as the profile says.
    #[schemars(extend("minimum" = 0, "maximum" = 315_576_000))]
    pub grat_reply_holdoff: Option<Time>,
    /// How often a packet may be sent another way after a break. Default: as the profile says.
    #[schemars(extend("minimum" = 0, "maximum" = 15))]
    pub max_salvage_count: Option<u8>,
}

/// Whose DSR.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(in super::super) enum DsrProfile {
    /// RFC 4728, section 9 and appendix A.
    #[serde(rename = "rfc-4728")]
    Rfc4728,
    /// ns-2.35, with its cache of paths, its searches by nodes on the way and its way of learning.
    #[serde(rename = "ns-2")]
    Ns2,
}

/// What a route cache holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(in super::super) enum DsrCache {
    /// Links, of which routes are made.
    Link,
    /// Whole paths.
    Path,
}

/// How a node learns whether the next one has a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(in super::super) enum DsrAcknowledgement {
    /// The interface tells.
    LinkLayer,
    /// It hears it passed on.
    Passive,
    /// It asks.
    NetworkLayer,
}

/// Parameters of OLSR, by their names in RFC 3626, section 18.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(in super::super) struct Olsr {
    /// Time between two HELLOs. Default: 2 s.
    #[schemars(extend("minimum" = 0.01, "maximum" = 3600))]
    pub hello_interval: Option<Time>,
    /// Time between two TC messages. Default: 5 s.
    #[schemars(extend("minimum" = 0.01, "maximum" = 3600))]
    pub tc_interval: Option<Time>,
    /// How long a message is known for a duplicate. Default: 30 s.
    #[schemars(extend("minimum" = 0.01, "maximum" = 3600))]
    pub duplicate_hold: Option<Time>,
    /// How willing the nodes are to pass on packets of others, from 0, never, to 7, always. Default: 3.
    #[schemars(extend("minimum" = 0, "maximum" = 7))]
    pub willingness: Option<u8>,
    /// Whom TC messages advertise: 0, those who have selected the node; 1, also those whom it has selected; 2, all
    /// neighbours. Default: 0.
    #[schemars(extend("minimum" = 0, "maximum" = 2))]
    pub tc_redundancy: Option<u8>,
    /// How many relays each two-hop neighbour should have. Default: 1.
    #[schemars(extend("minimum" = 1, "maximum" = 1000))]
    pub mpr_coverage: Option<u32>,
    /// Whether a link has to prove itself before it counts (section 14, with its parameters). Default: false.
    pub hysteresis: Option<bool>,
    /// Whether a link is lost with a frame that the interface gives up (section 13). Default: false.
    pub link_layer_notification: Option<bool>,
}
