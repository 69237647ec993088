//! Address resolution of a group of nodes: `nodes.arp`.

use hopcast_protocols::arp::Config;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::super::declare::{by, is};
use super::super::model;
use super::super::quantity::TimeOrOff;
use super::Resolver;

/// Address resolution over radios, RFC 826. An empty table sets all defaults.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arp {
    /// Source of the defaults of the other keys of `arp`.
    #[schemars(extend("x-default" = is("rfc-1122", "the standard")))]
    profile: Profile,
    /// Lifetime of an address after the node last heard it; `off`: it never expires.
    #[schemars(extend("minimum" = 1e-3, "maximum" = 315_576_000, "x-default" = of(STATED, |arp| TimeOrOff::from(arp.timeout))))]
    timeout: TimeOrOff,
    /// Least time between two requests for one address, and the wait for an answer to the last one; `off`: each packet
    /// makes a request, and the node waits for no answer.
    #[schemars(extend("minimum" = 1e-3, "maximum" = 3600, "x-default" = of(STATED, |arp| TimeOrOff::from(arp.request_interval))))]
    request_interval: TimeOrOff,
    /// Number of unanswered requests for one address after which the node gives up.
    #[schemars(extend("minimum" = 1, "maximum" = 1000, "x-default" = of(AS_LINUX, |arp| arp.requests)))]
    requests: u32,
    /// Largest number of packets that wait for one address; a further packet replaces the oldest.
    #[schemars(extend("minimum" = 1, "maximum" = 1_000_000, "x-default" = of(AS_LINUX, |arp| arp.queue_packets as u32)))]
    queue: u32,
}

/// Source of the defaults of ARP.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
enum Profile {
    /// RFC 1122, section 2.3.2, and Linux where the RFC leaves a number open.
    #[serde(rename = "rfc-1122")]
    Rfc1122,
    /// ns-2.35: each packet makes a request, and one packet waits; addresses never expire, and nodes learn them from all
    /// ARP packets.
    #[serde(rename = "ns-2")]
    Ns2,
}

const STATED: &str = "RFC 1122, section 2.3.2";
const AS_LINUX: &str = "value of Linux; RFC 1122 does not say";

/// A default by profile: under `rfc-1122` it has this source.
fn of<V: Serialize>(source: &str, value: impl Fn(&Config) -> V) -> Value {
    by("profile", [("rfc-1122", value(&Config::RFC_1122), source), ("ns-2", value(&Config::NS_2), "ns-2.35")])
}

impl Resolver<'_> {
    pub(super) fn arp(&mut self, index: &str, given: Option<Arp>, role: model::Role) -> Option<Config> {
        let Arp { profile, timeout, request_interval, requests, queue } = given?;
        let path = ["nodes", index, "arp"];
        match role {
            model::Role::AdHoc => {}
            model::Role::Wired => {
                self.report(&path, "has no effect: a node of role wired has no radio", "another role");
            }
            model::Role::AccessPoint | model::Role::Station => {
                let problem = "needs requests to all nodes, which modelled access points do not pass on";
                self.report(&path, problem, "role = \"ad-hoc\"");
            }
        }
        let rules = match profile {
            Profile::Rfc1122 => Config::RFC_1122,
            Profile::Ns2 => Config::NS_2,
        };
        Some(Config {
            timeout: timeout.into(),
            request_interval: request_interval.into(),
            requests,
            queue_packets: queue as usize,
            ..rules
        })
    }
}
