//! How the nodes of a group find routes: `nodes.routing`.

mod aodv;
mod dsdv;
mod dsr;
mod olsr;

use std::sync::Arc;

use hopcast_protocols::routing::{self, Node};
use schemars::JsonSchema;
use serde::Deserialize;

use super::super::model;
use super::Resolver;
use super::custom::Custom;
use crate::host::ROUTE_QUEUE_PACKETS;

/// Source of defaults that ns-2 has and no document.
const NS_2: &str = "as ns-2.35";

/// Packets that Linux's ARP keeps for an address that it looks for (arp(7), `unres_qlen`), as of the versions before 3.3.
const ARP_QUEUE_PACKETS: u32 = 3;

/// How nodes find routes.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(tag = "protocol", deny_unknown_fields)]
pub(super) enum Routing {
    /// Shortest paths, known from the start.
    Static {},
    /// Not at all: in an emulation the programs of real nodes do, babeld say.
    None {},
    /// Ad hoc on-demand distance vectors (RFC 3561).
    Aodv(aodv::Aodv),
    /// Destination-sequenced distance vectors (Perkins and Bhagwat, 1994).
    Dsdv(dsdv::Dsdv),
    /// Dynamic source routing (RFC 4728).
    Dsr(dsr::Dsr),
    /// Optimized link state routing (RFC 3626).
    Olsr(olsr::Olsr),
    /// A protocol that a program has added to hopcast.
    Custom(Custom),
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
    /// Static where there is no protocol of the name that is given, which is reported.
    pub(super) fn routing(&mut self, index: &str, routing: Routing) -> model::Routing {
        match routing {
            Routing::Static {} => model::Routing::Static,
            Routing::None {} => model::Routing::None,
            Routing::Aodv(keys) => keys.protocol(),
            Routing::Dsdv(keys) => keys.protocol(),
            Routing::Dsr(keys) => self.dsr(index, keys),
            Routing::Olsr(keys) => keys.protocol(),
            Routing::Custom(custom) => {
                let models = &self.source.registry.routing;
                match self.custom(&["nodes", index, "routing"], "protocol", &custom, models) {
                    Some(make) => model::Routing::Protocol(model::RoutingProtocol { name: custom.name, make }),
                    None => model::Routing::Static,
                }
            }
        }
    }

    /// How many packets of a node may wait for a route.
    pub(super) fn route_queue(&mut self, index: &str, routing: &Routing, given: Option<u32>) -> u32 {
        let path = ["nodes", index, "route_queue"];
        if let Routing::Static {} = routing {
            match given {
                Some(_) => self.report(&path, "says nothing: static routes are there from the start", "a protocol"),
                None => self.ledger.note(&path, "none", "no packet waits for a static route"),
            }
            return ROUTE_QUEUE_PACKETS;
        }
        self.ledger.pick(&path, given, || match routing {
            Routing::Aodv(keys) if keys.is_in_arp() => {
                (ARP_QUEUE_PACKETS, "default: the queue of Linux 2.2's ARP (arp(7), unres_qlen)".into())
            }
            _ => (ROUTE_QUEUE_PACKETS, "default: as ns-2.35 (aodv/aodv_rqueue.h)".into()),
        })
    }
}
