//! The state of a command in Prometheus' text format (OpenMetrics 1.0).

use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::Registry;
use serde::Serialize;

/// Adds a number that may rise and fall.
pub(crate) fn gauge(registry: &mut Registry, name: &str, help: &str, value: usize) {
    registry.register(name, help, ConstGauge::new(i64::try_from(value).unwrap_or(i64::MAX)));
}

/// Adds all fields of `group`, which are counters, under their names behind `prefix`, as `hopcast COMMAND status` tells them.
pub(crate) fn counters(registry: &mut Registry, prefix: &str, group: impl Serialize, command: &str) {
    let group = serde_json::to_value(group).expect("counters are plain numbers");
    for (name, value) in group.as_object().into_iter().flatten() {
        let help = format!("{}, as hopcast {command} status tells it", name.replace('_', " "));
        registry.register(format!("{prefix}{name}"), help, ConstCounter::new(value.as_u64().unwrap_or(0)));
    }
}

/// The text.
pub(crate) fn text(registry: &Registry) -> String {
    let mut text = String::new();
    encode(&mut text, registry).expect("writing to a string does not fail");
    text
}
