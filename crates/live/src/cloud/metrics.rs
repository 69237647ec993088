//! The state of a device in Prometheus' text format (OpenMetrics 1.0).

use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::{Registry, Unit};

use super::status::{OutcomeName, Status};
use crate::interfaces::State;
use crate::metrics;

/// The state as metrics.
pub(super) fn text(status: &Status) -> String {
    let mut registry = Registry::with_prefix("hopcast_cloud");
    let mut gauge = |name, help, value| metrics::gauge(&mut registry, name, help, value);
    let running = status.interfaces.iter().filter(|interface| interface.state == State::Running).count();
    gauge("interfaces", "Interfaces that the device should use", status.interfaces.len());
    gauge("interfaces_running", "Interfaces that the device uses", running);
    gauge("neighbours", "Devices that are heard", status.neighbours.len());
    gauge("clips", "Clips that are known", status.clips.len());
    gauge("bookings", "Streams that are booked at the device", status.bookings.len());
    let playing = status.plays.iter().filter(|play| play.outcome == OutcomeName::Playing).count();
    gauge("plays", "Clips that users of the host play", playing);
    if let Some(senders) = status.senders {
        gauge("senders", "Senders whose sealed datagrams are known", senders);
    }
    registry.register("reserved_airtime", "Reserved share of time", ConstGauge::new(status.reserved_airtime));
    registry.register_with_unit("uptime", "Time since the start", Unit::Seconds, ConstGauge::new(status.uptime_s));
    // Names and values of all counters, as status tells them: each is told once.
    metrics::counters(&mut registry, "", status.counters, "cloud");
    metrics::counters(&mut registry, "refused_", status.refusals, "cloud");
    metrics::counters(&mut registry, "seals_", status.seals, "cloud");
    metrics::text(&registry)
}

#[cfg(test)]
mod tests {
    use super::super::status::tests::status;
    use super::*;

    #[test]
    fn counters_are_told_by_their_names() {
        let text = text(&status());
        for line in ["hopcast_cloud_admitted_total 7\n", "hopcast_cloud_reserved_airtime 0.125\n"] {
            assert!(text.contains(line), "{text}");
        }
        assert!(text.ends_with("# EOF\n"), "{text}");
    }
}
