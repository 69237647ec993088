//! Address resolution of a group of nodes: `nodes.arp`.

use hopcast_protocols::arp::Config;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::super::declare::{by, is};
use super::super::model;
use super::super::quantity::TimeOrOff;
use super::Resolver;

/// Address resolution, RFC 826, over radios. An empty table has all defaults.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arp {
    /// Whose defaults hold for all that is not given.
    #[schemars(extend("x-default" = is("rfc-1122", "the standard")))]
    profile: Profile,
    /// How long an address is believed after it was last told; `off`: for ever.
    #[schemars(extend("minimum" = 1e-3, "maximum" = 315_576_000, "x-default" = of(STATED, |arp| TimeOrOff::from(arp.timeout))))]
    timeout: TimeOrOff,
    /// Least time between two requests for one address, and the wait for an answer to the last one; `off`: each packet makes a
    /// request, and no answer is waited for.
    #[schemars(extend("minimum" = 1e-3, "maximum" = 3600, "x-default" = of(STATED, |arp| TimeOrOff::from(arp.request_interval))))]
    request_interval: TimeOrOff,
    /// Requests for one address without an answer, after which it is given up.
    #[schemars(extend("minimum" = 1, "maximum" = 1000, "x-default" = of(AS_LINUX, |arp| arp.requests)))]
    requests: u32,
    /// Packets that may wait for one address; the oldest gives way.
    #[schemars(extend("minimum" = 1, "maximum" = 1_000_000, "x-default" = of(AS_LINUX, |arp| arp.queue_packets as u32)))]
    queue: u32,
}

/// Whose ARP.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
enum Profile {
    /// RFC 1122, section 2.3.2, and Linux where that leaves a number open.
    #[serde(rename = "rfc-1122")]
    Rfc1122,
    /// ns-2.35: a request with each packet, of which one waits; addresses don't age, and are learned from all ARP packets.
    #[serde(rename = "ns-2")]
    Ns2,
}

const STATED: &str = "RFC 1122, section 2.3.2";
const AS_LINUX: &str = "as Linux; RFC 1122 does not say";

/// A default that each profile has: under `rfc-1122` by this source.
fn of<V: Serialize>(source: &str, value: impl Fn(&Config) -> V) -> Value {
    by("profile", [("rfc-1122", value(&Config::RFC_1122), source), ("ns-2", value(&Config::NS_2), "as ns-2.35")])
}

impl Resolver<'_> {
    pub(super) fn arp(&mut self, index: &str, given: Option<Arp>, role: model::Role) -> Option<Config> {
        let Arp { profile, timeout, request_interval, requests, queue } = given?;
        let path = ["nodes", index, "arp"];
        match role {
            model::Role::AdHoc => {}
            model::Role::Wired => {
                self.report(&path, "says nothing: a node of role wired has no radio", "another role");
            }
            model::Role::AccessPoint | model::Role::Station => {
                let problem = "would send requests to all, which access points are not modelled to pass on";
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
