//! How nodes find routes.

use super::super::model;
use super::super::nearest;
use super::super::quantity::Time;
use super::super::schema::{
    self, AodvProfile, DsrAcknowledgement, DsrCache, DsrProfile, LinkDetection, LocalRepair, Routing,
};
use super::{Resolver, show, word};
use crate::host::{ROUTE_QUEUE_PACKETS, ROUTE_QUEUE_TIMEOUT};
use hopcast_protocols::routing::aodv::{self, Aodv};
use hopcast_protocols::routing::dsdv::{self, Dsdv};
use hopcast_protocols::routing::dsr::{self, Dsr};
use hopcast_protocols::routing::olsr::{self, Hysteresis, Olsr};
use hopcast_protocols::routing::{self, Node};
use hopcast_protocols::time::{Duration, Instant};
use std::sync::Arc;

/// Source of defaults that ns-2 has and no document.
const NS_2: &str = "default: as ns-2.35";

/// Source of defaults of AODV's draft.
const DRAFT_5: &str = "default: draft-ietf-manet-aodv-05, section 17";

/// Packets that Linux's ARP keeps for an address that it looks for (arp(7), `unres_qlen`), as of the versions before 3.3.
const ARP_QUEUE_PACKETS: u32 = 3;

/// Values of one protocol, with the source of what is not given.
struct Or<'a, 'b> {
    resolver: &'a mut Resolver<'b>,
    index: &'a str,
    source: &'static str,
}

impl<'b> Or<'_, 'b> {
    fn of<T: core::fmt::Display>(&mut self, key: &str, given: Option<T>, default: T) -> T {
        let path = ["nodes", self.index, "routing", key];
        self.resolver.ledger.pick(&path, given, show, || (default, self.source.into()))
    }

    /// The same with another source for what is asked next.
    fn by(&mut self, source: &'static str) -> Or<'_, 'b> {
        Or { resolver: self.resolver, index: self.index, source }
    }
}

/// A protocol of hopcast's own with its parameters.
fn protocol<M: routing::Routing + 'static>(
    name: &str,
    make: impl Fn(Node) -> M + Send + Sync + 'static,
) -> model::Routing {
    let make = Arc::new(move |node| -> Box<dyn routing::Routing> { Box::new(make(node)) });
    model::Routing::Protocol(model::RoutingProtocol { name: name.to_owned(), make })
}

impl Resolver<'_> {
    /// The routing of the group with this index; static where there is none, or none that can be had.
    pub(super) fn routing(&mut self, index: &str, routing: Option<&Routing>) -> model::Routing {
        let path = ["nodes", index, "routing"];
        match routing {
            None => {
                self.ledger.declared(&["nodes", index, "routing", "protocol"], None, String::clone);
                model::Routing::Static
            }
            Some(Routing::Static {}) => {
                self.ledger.note_given(&path);
                model::Routing::Static
            }
            Some(Routing::None {}) => {
                self.ledger.note_given(&path);
                model::Routing::None
            }
            Some(Routing::Aodv(aodv)) => {
                let config = self.aodv(index, aodv);
                protocol("aodv", move |node| Aodv::new(config.clone(), node, Instant::START))
            }
            Some(Routing::Dsr(dsr)) => {
                let config = self.dsr(index, dsr);
                protocol("dsr", move |node| Dsr::new(node, config))
            }
            Some(Routing::Dsdv(dsdv)) => {
                let config = self.dsdv(index, dsdv);
                protocol("dsdv", move |node| Dsdv::new(config, node))
            }
            Some(Routing::Olsr(olsr)) => {
                let config = self.olsr(index, olsr);
                protocol("olsr", move |node| Olsr::new(config, node))
            }
            Some(Routing::Custom { name, parameters }) => {
                self.ledger.note_given(&path);
                self.custom_routing(index, name, parameters.clone().unwrap_or_default())
            }
        }
    }

    /// How many packets of a node may wait for a route.
    pub(super) fn route_queue(&mut self, index: &str, group: &schema::Nodes) -> u32 {
        let path = ["nodes", index, "route_queue"];
        match &group.routing {
            None | Some(Routing::Static {}) => {
                match group.route_queue {
                    Some(_) => self.report(&path, "says nothing: static routes are there from the start", "a protocol"),
                    None => self.ledger.note(&path, "none", "no packet waits for a static route"),
                }
                ROUTE_QUEUE_PACKETS
            }
            Some(routing) => self.ledger.pick(&path, group.route_queue, show, || match routing {
                Routing::Aodv(schema::Aodv { profile: Some(AodvProfile::Draft5InArp), .. }) => {
                    (ARP_QUEUE_PACKETS, "default: the queue of Linux 2.2's ARP (arp(7), unres_qlen)".into())
                }
                _ => (ROUTE_QUEUE_PACKETS, "default: as ns-2.35 (aodv/aodv_rqueue.h)".into()),
            }),
        }
    }

    fn dsdv(&mut self, index: &str, given: &schema::Dsdv) -> dsdv::Config {
        let at = |key| ["nodes", index, "routing", key];
        self.ledger.note_given(&at("protocol"));
        let default = dsdv::Config::default();
        dsdv::Config {
            period: self.time_or(&at("period"), given.period, default.period, NS_2),
            allowed_loss: self
                .ledger
                .pick(&at("allowed_loss"), given.allowed_loss, show, || (default.allowed_loss, NS_2.into())),
            settling_weight: self
                .ledger
                .pick(&at("settling_weight"), given.settling_weight, show, || (default.settling_weight, NS_2.into())),
            first_settling: self.time_or(&at("first_settling"), given.first_settling, default.first_settling, NS_2),
            triggered_interval: self.time_or(
                &at("triggered_interval"),
                given.triggered_interval,
                default.triggered_interval,
                NS_2,
            ),
            startup_jitter: self.time_or(&at("startup_jitter"), given.startup_jitter, default.startup_jitter, NS_2),
            broadcast_jitter: self.time_or(
                &at("broadcast_jitter"),
                given.broadcast_jitter,
                default.broadcast_jitter,
                NS_2,
            ),
            sequence_number_triggers: self.ledger.pick(
                &at("sequence_number_triggers"),
                given.sequence_number_triggers,
                show,
                || (default.sequence_number_triggers, NS_2.into()),
            ),
            settle_everything: self.ledger.pick(&at("settle_everything"), given.settle_everything, show, || {
                (default.settle_everything, "default: Perkins and Bhagwat, section 3.4".into())
            }),
            link_layer_notification: self.ledger.layered(
                &at("link_layer_notification"),
                given.link_layer_notification,
                show,
                || (default.link_layer_notification, "default: Perkins and Bhagwat, section 3.2".into()),
            ),
            mtu: default.mtu,
        }
    }

    fn aodv(&mut self, index: &str, given: &schema::Aodv) -> aodv::Config {
        let at = |key| ["nodes", index, "routing", key];
        self.ledger.note_given(&at("protocol"));
        let profile = self
            .ledger
            .layered(&at("profile"), given.profile, word, || (AodvProfile::Rfc3561, "default: the standard".into()));
        let (default, source) = match profile {
            AodvProfile::Rfc3561 => (aodv::Config::rfc3561(), "default: RFC 3561, section 10"),
            AodvProfile::Ns2 => (aodv::Config::ns2(), NS_2),
            AodvProfile::Draft5 => (aodv::Config::draft5(), DRAFT_5),
            AodvProfile::Draft5InArp => (aodv::Config::draft5_in_arp(), DRAFT_5),
        };
        let limit = |limit: Option<u32>| limit.unwrap_or(0);
        let detection = match default.link_detection {
            aodv::LinkDetection::Hello => LinkDetection::Hello,
            aodv::LinkDetection::LinkLayer => LinkDetection::LinkLayer,
            aodv::LinkDetection::Both => LinkDetection::Both,
        };
        let repair = match default.local_repair {
            aodv::LocalRepair::Never => LocalRepair::Never,
            aodv::LocalRepair::Near => LocalRepair::Near,
            aodv::LocalRepair::NearerThanSource => LocalRepair::NearerThanSource,
        };
        // What section 10 does not list: a choice that the text leaves, or, under other profiles, theirs.
        let text = |section: &'static str| if profile == AodvProfile::Rfc3561 { section } else { source };
        let mut time = |key, given, default| self.time_or(&at(key), given, default, source);
        let active_route_timeout =
            time("active_route_timeout", given.active_route_timeout, default.active_route_timeout);
        let hello_interval = time("hello_interval", given.hello_interval, default.hello_interval);
        let node_traversal_time = time("node_traversal_time", given.node_traversal_time, default.node_traversal_time);
        let broadcast_jitter = self.time_or(
            &at("broadcast_jitter"),
            given.broadcast_jitter,
            default.broadcast_jitter,
            text("default: as ns-2.35; RFC 5148, section 5, asks for some"),
        );
        let link_detection = self.ledger.pick(&at("link_detection"), given.link_detection, word, || {
            (detection, text("default: allowed by RFC 3561, sections 6.9 and 6.10").into())
        });
        let local_repair = self.ledger.pick(&at("local_repair"), given.local_repair, word, || {
            (repair, text("default: allowed by RFC 3561, section 6.12").into())
        });
        let mut or = Or { resolver: self, index, source };
        aodv::Config {
            active_route_timeout,
            hello_interval,
            node_traversal_time,
            broadcast_jitter,
            link_detection: match link_detection {
                LinkDetection::Hello => aodv::LinkDetection::Hello,
                LinkDetection::LinkLayer => aodv::LinkDetection::LinkLayer,
                LinkDetection::Both => aodv::LinkDetection::Both,
            },
            allowed_hello_loss: or.of("allowed_hello_loss", given.allowed_hello_loss, default.allowed_hello_loss),
            local_add_ttl: or.of("local_add_ttl", given.local_add_ttl, default.local_add_ttl),
            net_diameter: or.of("net_diameter", given.net_diameter, default.net_diameter),
            rerr_ratelimit: Some(or.of("rerr_ratelimit", given.rerr_ratelimit, limit(default.rerr_ratelimit)))
                .filter(|&limit| limit > 0),
            rreq_ratelimit: Some(or.of("rreq_ratelimit", given.rreq_ratelimit, limit(default.rreq_ratelimit)))
                .filter(|&limit| limit > 0),
            rreq_retries: or.of("rreq_retries", given.rreq_retries, default.rreq_retries),
            timeout_buffer: or.of("timeout_buffer", given.timeout_buffer, default.timeout_buffer),
            ttl_start: or.of("ttl_start", given.ttl_start, default.ttl_start),
            ttl_increment: or.of("ttl_increment", given.ttl_increment, default.ttl_increment),
            ttl_threshold: or.of("ttl_threshold", given.ttl_threshold, default.ttl_threshold),
            rules: default.rules,
            in_arp: default.in_arp,
            hello_always: or.by(text("default: RFC 3561, section 6.9")).of(
                "hello_always",
                given.hello_always,
                default.hello_always,
            ),
            local_repair: match local_repair {
                LocalRepair::Never => aodv::LocalRepair::Never,
                LocalRepair::Near => aodv::LocalRepair::Near,
                LocalRepair::NearerThanSource => aodv::LocalRepair::NearerThanSource,
            },
            gratuitous_reply: or.by(text("default: allowed by RFC 3561, section 6.6.3")).of(
                "gratuitous_reply",
                given.gratuitous_reply,
                default.gratuitous_reply,
            ),
            destination_only: or.by(text("default: allowed by RFC 3561, section 6.3")).of(
                "destination_only",
                given.destination_only,
                default.destination_only,
            ),
            reply_acknowledgement: or.by(text("default: allowed by RFC 3561, section 6.8")).of(
                "reply_acknowledgement",
                given.reply_acknowledgement,
                default.reply_acknowledgement,
            ),
        }
    }

    fn dsr(&mut self, index: &str, given: &schema::Dsr) -> dsr::Config {
        let at = |key| ["nodes", index, "routing", key];
        self.ledger.note_given(&at("protocol"));
        let profile = self
            .ledger
            .layered(&at("profile"), given.profile, word, || (DsrProfile::Rfc4728, "default: the standard".into()));
        // Section 9 has numbers alone.
        let (default, source, acknowledged, listening) = match profile {
            DsrProfile::Rfc4728 => (
                dsr::Config::RFC_4728,
                "default: RFC 4728, section 9",
                "default: RFC 4728, section 8.3.1",
                "default: allowed by RFC 4728, section 2",
            ),
            DsrProfile::Ns2 => (dsr::Config::NS_2, NS_2, NS_2, NS_2),
        };
        let cache = self.dsr_cache(index, given, default.cache);
        let acknowledgement = self.ledger.pick(&at("acknowledgement"), given.acknowledgement, word, || {
            let default = match default.acknowledgement {
                dsr::Acknowledgement::LinkLayer => DsrAcknowledgement::LinkLayer,
                dsr::Acknowledgement::Passive => DsrAcknowledgement::Passive,
                dsr::Acknowledgement::NetworkLayer => DsrAcknowledgement::NetworkLayer,
            };
            (default, acknowledged.into())
        });
        let mut time = |key, given, default| self.time_or(&at(key), given, default, source);
        let broadcast_jitter = time("broadcast_jitter", given.broadcast_jitter, default.broadcast_jitter);
        let request_period = time("request_period", given.request_period, default.request_period);
        let max_request_period = time("max_request_period", given.max_request_period, default.max_request_period);
        let nonprop_request_timeout =
            time("nonprop_request_timeout", given.nonprop_request_timeout, default.nonprop_request_timeout);
        let maint_holdoff_time = time("maint_holdoff_time", given.maint_holdoff_time, default.maint_holdoff_time);
        let grat_reply_holdoff = time("grat_reply_holdoff", given.grat_reply_holdoff, default.grat_reply_holdoff);
        let mut or = Or { resolver: self, index, source };
        dsr::Config {
            cache,
            acknowledgement: match acknowledgement {
                DsrAcknowledgement::LinkLayer => dsr::Acknowledgement::LinkLayer,
                DsrAcknowledgement::Passive => dsr::Acknowledgement::Passive,
                DsrAcknowledgement::NetworkLayer => dsr::Acknowledgement::NetworkLayer,
            },
            broadcast_jitter,
            request_period,
            max_request_period,
            nonprop_request_timeout,
            maint_holdoff_time,
            grat_reply_holdoff,
            send_buffer_timeout: ROUTE_QUEUE_TIMEOUT,
            promiscuous: or.by(listening).of("promiscuous", given.promiscuous, default.promiscuous),
            discovery_hop_limit: or.of("discovery_hop_limit", given.discovery_hop_limit, default.discovery_hop_limit),
            max_request_rexmt: or.of("max_request_rexmt", given.max_request_rexmt, default.max_request_rexmt),
            max_maint_rexmt: or.of("max_maint_rexmt", given.max_maint_rexmt, default.max_maint_rexmt),
            max_salvage_count: or.of("max_salvage_count", given.max_salvage_count, default.max_salvage_count),
            ..default
        }
    }

    /// Under either profile a cache of links is that of the RFC's appendix A, and one of paths has the sizes of ns-2's, and no
    /// timeout, as there. Neither has the RouteCacheTimeout of section 9 unless it is given.
    fn dsr_cache(&mut self, index: &str, given: &schema::Dsr, default: dsr::Cache) -> dsr::Cache {
        let at = |key| ["nodes", index, "routing", key];
        let source = |kind| match kind {
            DsrCache::Link => "default: RFC 4728, appendix A",
            DsrCache::Path => NS_2,
        };
        let default = if matches!(default, dsr::Cache::Link { .. }) { DsrCache::Link } else { DsrCache::Path };
        let kind = self.ledger.pick(&at("cache"), given.cache, word, || (default, source(default).into()));
        let timeout = given.route_cache_timeout.map(|time| Duration::from_secs_f64(time.0));
        let untimed = match kind {
            DsrCache::Link => "adaptive",
            DsrCache::Path => "none",
        };
        match timeout {
            Some(_) => self.ledger.note_given(&at("route_cache_timeout")),
            None => self.ledger.note(&at("route_cache_timeout"), untimed, source(kind)),
        }
        match kind {
            DsrCache::Link => {
                let lifetime = match timeout {
                    Some(timeout) => dsr::Lifetime::Fixed(timeout),
                    None => dsr::Lifetime::Adaptive(dsr::MaxLife::RFC_4728),
                };
                let dsr::Cache::Link { capacity, .. } = dsr::Config::RFC_4728.cache else {
                    unreachable!("the standard's cache is one of links");
                };
                dsr::Cache::Link { capacity, lifetime }
            }
            DsrCache::Path => {
                let dsr::Cache::Path { primary, secondary, .. } = dsr::Config::NS_2.cache else {
                    unreachable!("the cache of ns-2 is one of paths");
                };
                dsr::Cache::Path { primary, secondary, timeout }
            }
        }
    }

    fn olsr(&mut self, index: &str, given: &schema::Olsr) -> olsr::Config {
        const SOURCE: &str = "default: RFC 3626, section 18";
        let at = |key| ["nodes", index, "routing", key];
        self.ledger.note_given(&at("protocol"));
        let default = olsr::Config::default();
        let hello_interval = self.time_or(&at("hello_interval"), given.hello_interval, default.hello_interval, SOURCE);
        let tc_interval = self.time_or(&at("tc_interval"), given.tc_interval, default.tc_interval, SOURCE);
        let duplicate_hold = self.time_or(&at("duplicate_hold"), given.duplicate_hold, default.duplicate_hold, SOURCE);
        let mut or = Or { resolver: self, index, source: SOURCE };
        olsr::Config {
            hello_interval,
            tc_interval,
            duplicate_hold,
            willingness: or.of("willingness", given.willingness, default.willingness),
            tc_redundancy: or.of("tc_redundancy", given.tc_redundancy, default.tc_redundancy),
            mpr_coverage: or.of("mpr_coverage", given.mpr_coverage, default.mpr_coverage),
            hysteresis: or
                .by("default: allowed by RFC 3626, section 14")
                .of("hysteresis", given.hysteresis, default.hysteresis.is_some())
                .then(Hysteresis::default),
            link_layer_notification: or.by("default: allowed by RFC 3626, section 13").of(
                "link_layer_notification",
                given.link_layer_notification,
                default.link_layer_notification,
            ),
            mtu: default.mtu,
        }
    }

    /// A length of time, or its default with the source of that.
    fn time_or(&mut self, path: &[&str], given: Option<Time>, default: Duration, source: &str) -> Duration {
        // Divided, so that whole seconds stay whole.
        let default = Time(default.as_nanos() as f64 / 1e9);
        let time = self.ledger.pick(path, given, Time::to_string, || (default, source.into()));
        Duration::from_secs_f64(time.0)
    }

    fn custom_routing(
        &mut self,
        index: &str,
        name: &str,
        parameters: serde_json::Map<String, serde_json::Value>,
    ) -> model::Routing {
        let at = |key| ["nodes", index, "routing", key];
        match self.source.registry.routing(name, parameters) {
            Some(Ok(protocol)) => return model::Routing::Protocol(protocol),
            Some(Err(problem)) => self.report(&at("parameters"), problem, ""),
            None => {
                let known: Vec<&str> = self.source.registry.routing_names().collect();
                let expected = match known.as_slice() {
                    [] => "a protocol that this program was built with: it has none of its own".to_owned(),
                    _ => format!("one of {}", known.join(", ")),
                };
                let problem = format!("there is no protocol of this name{}", nearest::hint(name, &known));
                self.report(&at("name"), problem, expected);
            }
        }
        model::Routing::Static
    }
}
