//! The router's state in Prometheus' text format (OpenMetrics 1.0).

use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::{Registry, Unit};

use super::status::Status;
use crate::interfaces::State;
use crate::metrics;

/// The state of a router as metrics.
pub(super) fn text(status: &Status) -> String {
    let mut registry = Registry::with_prefix("hopcast_node");
    let mut gauge = |name, help, value| metrics::gauge(&mut registry, name, help, value);
    let running = status.interfaces.iter().filter(|interface| interface.state == State::Running).count();
    gauge("interfaces", "Interfaces that the router is to run on", status.interfaces.len());
    gauge("interfaces_running", "Interfaces that the router runs on", running);
    gauge("routes", "Routes to hosts", status.routes.len());
    let installed = status.routes.iter().filter(|route| route.installed).count();
    gauge("routes_installed", "Routes to hosts in the kernel", installed);
    gauge("neighbours", "Neighbours that were heard lately", status.neighbours.len());
    gauge("packets_waiting", "Packets that wait for a route", status.waiting);
    if let Some(senders) = status.senders {
        gauge("senders", "Senders whose sealed datagrams are known", senders);
    }
    registry.register_with_unit("uptime", "Time since the start", Unit::Seconds, ConstGauge::new(status.uptime_s));
    // Names and values of all counters, as status tells them: each is told once.
    metrics::counters(&mut registry, "", status.counters, "node");
    metrics::counters(&mut registry, "", status.traffic, "node");
    metrics::counters(&mut registry, "seals_", status.seals, "node");
    metrics::text(&registry)
}

#[cfg(test)]
mod tests {
    use super::super::status::tests::status;
    use super::*;

    #[test]
    fn counters_are_told_by_their_names() {
        let text = text(&status());
        assert!(text.contains("hopcast_node_datagrams_sent_total 7\n") && text.ends_with("# EOF\n"), "{text}");
    }
}
