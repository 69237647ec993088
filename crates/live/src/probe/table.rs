//! Results for people.

use core::fmt::Write;

use serde_json::Value;

/// Heads of the columns, the field of a flow, and the factor to the column's unit.
const NUMBERS: [(&str, &str, f64); 6] = [
    ("goodput Mb/s", "goodput_bps", 1e-6),
    ("lost %", "loss_ratio", 1e2),
    ("delay mean ms", "delay_mean_s", 1e3),
    ("delay 99 % ms", "delay_p99_s", 1e3),
    ("jitter mean ms", "jitter_mean_s", 1e3),
    ("clocks ± ms", "clock_uncertainty_s", 1e3),
];

/// A row for each flow of a run's object, and a line for each relay.
pub(crate) fn table(document: &Value) -> String {
    let mut rows = vec![["flow", "from → to", "protocol"].map(str::to_owned).to_vec()];
    rows[0].extend(NUMBERS.map(|(head, _, _)| head.to_owned()));
    for flow in document["flows"].as_array().into_iter().flatten() {
        let text = |field: &str| flow[field].as_str().unwrap_or_default().to_owned();
        let mut row = vec![text("name"), format!("{} → {}", text("from"), text("to")), text("protocol")];
        row.extend(NUMBERS.map(|(_, field, factor)| {
            let interval = flow[format!("{field}_ci95")].as_f64().map(|half| half * factor);
            flow[field].as_f64().map_or_else(|| "–".to_owned(), |value| with_interval(value * factor, interval))
        }));
        rows.push(row);
    }
    let mut text = String::new();
    let widths: Vec<usize> =
        (0..rows[0].len()).map(|at| rows.iter().map(|row| row[at].chars().count()).max().unwrap_or(0)).collect();
    for row in &rows {
        let mut line = String::new();
        for (at, (cell, &width)) in row.iter().zip(&widths).enumerate() {
            let written = if at < 3 { write!(line, "{cell:<width$}  ") } else { write!(line, "{cell:>width$}  ") };
            written.expect("a string takes everything");
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    for node in document["nodes"].as_array().into_iter().flatten() {
        let count = |field: &str| node[field].as_f64().unwrap_or_default();
        if count("forwarded") > 0.0 {
            let name = node["name"].as_str().unwrap_or_default();
            let (received, forwarded) = (significant(count("received")), significant(count("forwarded")));
            writeln!(text, "{name} has read {received} units and passed {forwarded} on")
                .expect("a string takes everything");
        }
    }
    text
}

fn with_interval(value: f64, half_width: Option<f64>) -> String {
    match half_width {
        Some(half_width) => format!("{} ± {}", significant(value), significant(half_width)),
        None => significant(value),
    }
}

/// With four significant digits, and all those before the point.
fn significant(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return "0".into();
    }
    let magnitude = libm::floor(libm::log10(value.abs()));
    let places = (3.0 - magnitude).clamp(0.0, 12.0) as usize;
    let text = format!("{value:.places$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').into() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn numbers_have_four_digits() {
        let shown = [0.0, 0.012_345_6, 1.0, 12.345_6, 123_456.7].map(significant);
        assert_eq!(shown, ["0", "0.01235", "1", "12.35", "123457"]);
    }

    #[test]
    fn columns_are_aligned_and_relays_told() {
        let flow = |name: &str, goodput: f64| {
            json!({"name": name, "from": "a", "to": "b", "protocol": "udp", "goodput_bps": goodput,
                   "goodput_bps_ci95": 1e5, "loss_ratio": 0.5, "delay_mean_s": null})
        };
        let relay = json!({"name": "r", "received": 12, "forwarded": 11});
        let text = table(&json!({"flows": [flow("stream0", 1e6), flow("s", 2.5e7)], "nodes": [relay]}));
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines[0],
            "flow     from → to  protocol  goodput Mb/s  lost %  delay mean ms  delay 99 % ms  jitter mean ms  clocks ± ms"
        );
        assert_eq!(
            lines[1],
            "stream0  a → b      udp            1 ± 0.1      50              –              –               –            –"
        );
        assert_eq!(
            lines[2],
            "s        a → b      udp           25 ± 0.1      50              –              –               –            –"
        );
        assert_eq!(lines[3], "r has read 12 units and passed 11 on");
    }
}
