//! Routing of the nodes of a group: `nodes.routing`.

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

/// Source of defaults that only ns-2 defines.
const NS_2: &str = "ns-2.35";

/// Packets that Linux's ARP queues for an address while it resolves it (arp(7), `unres_qlen`), in versions before 3.3.
const ARP_QUEUE_PACKETS: u32 = 3;

/// Routing protocol of the nodes.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(tag = "protocol", deny_unknown_fields)]
pub(super) enum Routing {
    /// Shortest paths, known from the start.
    Static {},
    /// No routing by hopcast: in an emulation, programs of the real nodes find routes, for example babeld.
    None {},
    /// Ad hoc on-demand distance vector (RFC 3561).
    Aodv(aodv::Aodv),
    /// Destination-sequenced distance vector (Perkins and Bhagwat, 1994).
    Dsdv(dsdv::Dsdv),
    /// Dynamic source routing (RFC 4728).
    Dsr(dsr::Dsr),
    /// Optimized link state routing (RFC 3626).
    Olsr(olsr::Olsr),
    /// A protocol that a program has added to hopcast.
    Custom(Custom),
}

/// A built-in protocol with its parameters.
fn protocol<M: routing::Routing + 'static>(
    name: &str,
    make: impl Fn(Node) -> M + Send + Sync + 'static,
) -> model::Routing {
    let make = Arc::new(move |node| -> Box<dyn routing::Routing> { Box::new(make(node)) });
    model::Routing::Protocol(model::RoutingProtocol { name: name.to_owned(), make })
}

impl Resolver<'_> {
    /// The routing protocol. Reports an unknown name, and then returns static routes.
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

    /// Largest number of packets of a node that wait for a route.
    pub(super) fn route_queue(&mut self, index: &str, routing: &Routing, given: Option<u32>) -> u32 {
        let path = ["nodes", index, "route_queue"];
        if let Routing::Static {} = routing {
            match given {
                Some(_) => {
                    self.report(&path, "has no effect: static routes exist from the start", "a routing protocol");
                }
                None => self.ledger.note(&path, "none", "no packet waits for a static route"),
            }
            return ROUTE_QUEUE_PACKETS;
        }
        self.ledger.pick(&path, given, || match routing {
            Routing::Aodv(keys) if keys.is_in_arp() => {
                (ARP_QUEUE_PACKETS, "default: the queue of Linux 2.2's ARP (arp(7), unres_qlen)".into())
            }
            _ => (ROUTE_QUEUE_PACKETS, "default: ns-2.35 (aodv/aodv_rqueue.h)".into()),
        })
    }
}
