//! AODV: `nodes.routing`, `protocol = "aodv"`.

use hopcast_protocols::routing::aodv::{self, Config};
use hopcast_protocols::time::Instant;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{NS_2, protocol};
use crate::scenario::declare::{by, is};
use crate::scenario::model;
use crate::scenario::quantity::Time;

/// Parameters of AODV, by their names in RFC 3561, section 10.
#[derive(Deserialize, JsonSchema)]
pub(in super::super) struct Aodv {
    /// Source of the defaults of the other keys.
    #[schemars(extend("x-default" = is("rfc-3561", "the standard")))]
    profile: Profile,
    /// Lifetime of an unused route.
    #[schemars(extend("minimum" = 1e-3, "maximum" = 3600, "x-default" = of(SECTION_10, |aodv| Time::from(aodv.active_route_timeout))))]
    active_route_timeout: Time,
    /// Number of hello intervals without a sign of a neighbour after which it counts as lost.
    #[schemars(extend("minimum" = 1, "maximum" = 1000, "x-default" = of(SECTION_10, |aodv| aodv.allowed_hello_loss)))]
    allowed_hello_loss: u32,
    /// Time between two hello messages.
    #[schemars(extend("minimum" = 1e-3, "maximum" = 3600, "x-default" = of(SECTION_10, |aodv| Time::from(aodv.hello_interval))))]
    hello_interval: Time,
    /// Number of hops by which the request of a local repair may go beyond the last known distance of the destination.
    #[schemars(extend("minimum" = 0, "maximum" = 255, "x-default" = of(SECTION_10, |aodv| aodv.local_add_ttl)))]
    local_add_ttl: u8,
    /// Number of hops between the two nodes that are farthest apart.
    #[schemars(extend("minimum" = 1, "maximum" = 255, "x-default" = of(SECTION_10, |aodv| aodv.net_diameter)))]
    net_diameter: u8,
    /// Estimated time for one hop, including queueing and processing.
    #[schemars(extend("minimum" = 1e-3, "maximum" = 3600, "x-default" = of(SECTION_10, |aodv| Time::from(aodv.node_traversal_time))))]
    node_traversal_time: Time,
    /// Largest number of route errors per second that a node sends; 0: no limit.
    #[schemars(extend("minimum" = 0, "maximum" = 1000, "x-default" = of(SECTION_10, |aodv| aodv.rerr_ratelimit.unwrap_or(0))))]
    rerr_ratelimit: u32,
    /// Largest number of route requests per second that a node starts; 0: no limit.
    #[schemars(extend("minimum" = 0, "maximum" = 1000, "x-default" = of(SECTION_10, |aodv| aodv.rreq_ratelimit.unwrap_or(0))))]
    rreq_ratelimit: u32,
    /// Number of retries through the whole network in a search, not counting the first request, which may be a ring: with
    /// 0, a search that begins with a ring ends with the last ring. Under profile `ns-2` rings do not count: a node asks
    /// the whole network once more often than this.
    #[schemars(extend("minimum" = 0, "maximum" = 1000, "x-default" = of(SECTION_10, |aodv| aodv.rreq_retries)))]
    rreq_retries: u32,
    /// Number of hops that a node adds to a ring's radius when it computes the wait for a reply.
    #[schemars(extend("minimum" = 0, "maximum" = 255, "x-default" = of(SECTION_10, |aodv| aodv.timeout_buffer)))]
    timeout_buffer: u8,
    /// Radius of the first ring in hops.
    #[schemars(extend("minimum" = 1, "maximum" = 255, "x-default" = of(SECTION_10, |aodv| aodv.ttl_start)))]
    ttl_start: u8,
    /// Number of hops by which each ring is larger than the one before.
    #[schemars(extend("minimum" = 1, "maximum" = 255, "x-default" = of(SECTION_10, |aodv| aodv.ttl_increment)))]
    ttl_increment: u8,
    /// Radius of the last ring in hops; the next request goes through the whole network.
    #[schemars(extend("minimum" = 0, "maximum" = 255, "x-default" = of(SECTION_10, |aodv| aodv.ttl_threshold)))]
    ttl_threshold: u8,
    /// Largest random delay of broadcasts: those that respond to a message, and also a node's requests, except under
    /// profile `ns-2` and in ARP packets.
    #[schemars(extend("minimum" = 0, "maximum" = 3600, "x-default" = of("ns-2.35; RFC 5148, section 5, asks for jitter", |aodv| Time::from(aodv.broadcast_jitter))))]
    broadcast_jitter: Time,
    /// Method by which a node detects that a neighbour has gone.
    #[schemars(extend("x-default" = of("allowed by RFC 3561, sections 6.9 and 6.10", |aodv| LinkDetection::from(aodv.link_detection))))]
    link_detection: LinkDetection,
    /// Whether nodes without an active route send hello messages too.
    #[schemars(extend("x-default" = of("RFC 3561, section 6.9", |aodv| aodv.hello_always)))]
    hello_always: bool,
    /// Whether a node leaves out a hello after another broadcast within the interval.
    #[schemars(extend("x-default" = of("RFC 3561, section 6.9", |aodv| aodv.hello_suppression)))]
    hello_suppression: bool,
    /// Whether a node that has no route for a packet to pass on sends a route error.
    #[schemars(extend("x-default" = of("RFC 3561, section 6.11", |aodv| aodv.error_without_route)))]
    error_without_route: bool,
    /// Condition under which a node repairs a route that breaks downstream of it (local repair).
    #[schemars(extend("x-default" = of("allowed by RFC 3561, section 6.12", |aodv| LocalRepair::from(aodv.local_repair))))]
    local_repair: LocalRepair,
    /// Whether a node that replies for a destination also sends the destination a reply (G flag).
    #[schemars(extend("x-default" = of("allowed by RFC 3561, section 6.6.3", |aodv| aodv.gratuitous_reply)))]
    gratuitous_reply: bool,
    /// Whether only the destination itself may reply (D flag).
    #[schemars(extend("x-default" = of("allowed by RFC 3561, section 6.3", |aodv| aodv.destination_only)))]
    destination_only: bool,
    /// Whether nodes acknowledge replies, and put neighbours that do not acknowledge on a blacklist (A flag).
    #[schemars(extend("x-default" = of("allowed by RFC 3561, section 6.8", |aodv| aodv.reply_acknowledgement)))]
    reply_acknowledgement: bool,
}

/// Source of the defaults of AODV.
#[derive(Clone, Copy, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Profile {
    /// RFC 3561, section 10.
    #[serde(rename = "rfc-3561")]
    Rfc3561,
    /// ns-2.35: only the link layer detects broken links, there are no hellos and no rate limits, waits follow the time
    /// that replies took so far, and a lost link drops its queued packets.
    #[serde(rename = "ns-2")]
    Ns2,
    /// draft-ietf-manet-aodv-05 as on the testbed of de Silva and Das: a hello each second whatever else a node sends, without local
    /// repair and without link-layer detection.
    #[serde(rename = "draft-5")]
    Draft5,
    /// `draft-5` with its messages in ARP packets, as on that testbed: without IP, and without a separate ARP. Over
    /// radios only.
    #[serde(rename = "draft-5-in-arp")]
    Draft5InArp,
}

impl Profile {
    fn config(self) -> Config {
        match self {
            Self::Rfc3561 => Config::rfc3561(),
            Self::Ns2 => Config::ns2(),
            Self::Draft5 => Config::draft5(),
            Self::Draft5InArp => Config::draft5_in_arp(),
        }
    }
}

/// Method by which a node detects that a neighbour has gone.
#[derive(Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum LinkDetection {
    /// Missing hellos of a neighbour that has sent one before.
    Hello,
    /// The interface gives up a packet for the neighbour.
    LinkLayer,
    /// Either of the two.
    Both,
}

/// Condition under which a node repairs a route that breaks downstream of it.
#[derive(Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum LocalRepair {
    /// Never.
    Never,
    /// The destination was at most three tenths of `net_diameter` away: RFC 3561, section 6.12.
    Near,
    /// The packet has come farther than it still has to go; other routes over the link stay: ns-2.35.
    NearerThanSource,
}

alike!(LinkDetection, aodv::LinkDetection: Hello, LinkLayer, Both);
alike!(LocalRepair, aodv::LocalRepair: Never, Near, NearerThanSource);

/// Section 10 of RFC 3561 lists parameters. Defaults that it does not list are choices that the text allows.
const SECTION_10: &str = "RFC 3561, section 10";

const DRAFT_5: &str = "draft-ietf-manet-aodv-05, section 17";

/// A default by profile: under `rfc-3561` it has this source.
fn of<V: Serialize>(source: &str, value: impl Fn(&Config) -> V) -> Value {
    let case = |word, profile: Profile, source| (word, value(&profile.config()), source);
    by(
        "profile",
        [
            case("rfc-3561", Profile::Rfc3561, source),
            case("ns-2", Profile::Ns2, NS_2),
            case("draft-5", Profile::Draft5, DRAFT_5),
            case("draft-5-in-arp", Profile::Draft5InArp, DRAFT_5),
        ],
    )
}

impl Aodv {
    /// Whether messages travel in ARP packets.
    pub(super) fn is_in_arp(&self) -> bool {
        self.profile == Profile::Draft5InArp
    }

    pub(super) fn protocol(self) -> model::Routing {
        let rules = self.profile.config();
        let config = Config {
            active_route_timeout: self.active_route_timeout.into(),
            allowed_hello_loss: self.allowed_hello_loss,
            hello_interval: self.hello_interval.into(),
            local_add_ttl: self.local_add_ttl,
            net_diameter: self.net_diameter,
            node_traversal_time: self.node_traversal_time.into(),
            rerr_ratelimit: Some(self.rerr_ratelimit).filter(|&limit| limit > 0),
            rreq_ratelimit: Some(self.rreq_ratelimit).filter(|&limit| limit > 0),
            rreq_retries: self.rreq_retries,
            timeout_buffer: self.timeout_buffer,
            ttl_start: self.ttl_start,
            ttl_increment: self.ttl_increment,
            ttl_threshold: self.ttl_threshold,
            broadcast_jitter: self.broadcast_jitter.into(),
            link_detection: self.link_detection.into(),
            hello_always: self.hello_always,
            hello_suppression: self.hello_suppression,
            error_without_route: self.error_without_route,
            local_repair: self.local_repair.into(),
            gratuitous_reply: self.gratuitous_reply,
            destination_only: self.destination_only,
            reply_acknowledgement: self.reply_acknowledgement,
            rules: rules.rules,
            in_arp: rules.in_arp,
            pads_requests: rules.pads_requests,
        };
        protocol("aodv", move |node| aodv::Aodv::new(config.clone(), node, Instant::START))
    }
}
