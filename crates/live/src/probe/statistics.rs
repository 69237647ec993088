//! Means over repetitions, with their intervals: the same as `python/hopcast/aggregate.py` for replications, for hosts
//! without Python.

use core::f64::consts::PI;

use serde_json::{Map, Value};

/// Costs of which the largest counts; the others add up, since repetitions run one after the other.
const LARGEST: &str = "peak_rss_bytes";

/// Combines the objects of several repetitions (at least one): each number of a flow, of a node and of the totals is the
/// mean, and `<field>_ci95` next to it is half the width of its interval. The mean leaves out values that a repetition
/// could not measure.
pub(crate) fn aggregate(mut documents: Vec<Value>) -> Value {
    if documents.len() == 1 {
        return documents.remove(0);
    }
    let all = |field: &str| -> Vec<&Value> { documents.iter().map(|document| &document[field]).collect() };
    let mut merged = Map::new();
    for field in ["flows", "nodes", "totals"] {
        merged.insert(field.into(), merge(&all(field)));
    }
    let mut warnings: Vec<Value> = Vec::new();
    for warning in all("warnings").into_iter().filter_map(Value::as_array).flatten() {
        if !warnings.contains(warning) {
            warnings.push(warning.clone());
        }
    }
    if !warnings.is_empty() {
        merged.insert("warnings".into(), warnings.into());
    }
    merged.insert("cost".into(), cost(&all("cost")));
    let mut provenance = documents[0]["provenance"].clone();
    provenance["replications"] = documents.len().into();
    provenance["seeds"] = all("provenance").iter().map(|provenance| provenance["seed"].clone()).collect();
    merged.insert("provenance".into(), provenance);
    merged.into()
}

fn merge(values: &[&Value]) -> Value {
    match values[0] {
        Value::Array(_) => {
            let items = || values.iter().filter_map(|value| value.as_array()).flatten();
            // By name: a repetition may have seen hosts that others have not.
            let mut names: Vec<&Value> = Vec::new();
            items().map(|item| &item["name"]).for_each(|name| {
                if !names.contains(&name) {
                    names.push(name);
                }
            });
            let of_name = |name: &Value| merge(&items().filter(|item| item["name"] == *name).collect::<Vec<_>>());
            names.into_iter().map(of_name).collect()
        }
        Value::Object(record) => {
            let mut merged = Map::new();
            for key in record.keys() {
                let fields: Vec<&Value> = values.iter().map(|value| &value[key.as_str()]).collect();
                let is_measured = fields.iter().all(|field| field.is_number() || field.is_null());
                if is_measured {
                    let numbers: Vec<f64> = fields.iter().filter_map(|field| field.as_f64()).collect();
                    merged.insert(key.clone(), mean(&numbers).into());
                    merged.insert(format!("{key}_ci95"), ci95(&numbers).into());
                } else {
                    merged.insert(key.clone(), merge(&fields));
                }
            }
            merged.into()
        }
        other => other.clone(),
    }
}

fn cost(costs: &[&Value]) -> Value {
    let Some(first) = costs[0].as_object() else { return Value::Null };
    let mut merged = Map::new();
    for key in first.keys() {
        let numbers = || costs.iter().filter_map(|cost| cost[key.as_str()].as_f64());
        let value = if key == LARGEST { numbers().reduce(f64::max) } else { numbers().reduce(|sum, cost| sum + cost) };
        merged.insert(key.clone(), value.into());
    }
    merged.into()
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Half the width of Student's 95 % confidence interval of the mean; `None` for fewer than two values.
pub(crate) fn ci95(values: &[f64]) -> Option<f64> {
    let centre = mean(values).filter(|_| values.len() >= 2)?;
    let degrees = values.len() - 1;
    let variance = values.iter().map(|value| (value - centre) * (value - centre)).sum::<f64>() / degrees as f64;
    Some(student_quantile(degrees) * (variance / values.len() as f64).sqrt())
}

/// What a Student variable of `degrees` (at least 1) degrees of freedom stays within, on both sides, with probability 0.95.
fn student_quantile(degrees: usize) -> f64 {
    const LEVEL: f64 = 0.95;
    // That of one degree is the largest.
    let (mut low, mut high) = (0.0, 13.0);
    loop {
        let middle = (low + high) / 2.0;
        if middle <= low || middle >= high {
            return middle;
        }
        if within(middle, degrees) < LEVEL { low = middle } else { high = middle }
    }
}

/// P(|T| < t): the finite series for whole degrees of freedom (Abramowitz and Stegun, 26.7.3 and 26.7.4).
fn within(t: f64, degrees: usize) -> f64 {
    let theta = libm::atan(t / (degrees as f64).sqrt());
    let (sine, cosine) = libm::sincos(theta);
    let is_odd = degrees % 2 == 1;
    let mut term = if is_odd { cosine } else { 1.0 };
    let mut total = 0.0;
    for k in (usize::from(is_odd)..degrees.saturating_sub(1)).step_by(2) {
        total += term;
        term *= cosine * cosine * (k + 1) as f64 / (k + 2) as f64;
    }
    if is_odd { 2.0 / PI * (theta + sine * total) } else { sine * total }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn quantiles_are_those_of_the_table() {
        // Abramowitz and Stegun, table 26.10, A = 0.95.
        for (degrees, quantile) in
            [(1, 12.706), (2, 4.303), (3, 3.182), (4, 2.776), (10, 2.228), (30, 2.042), (120, 1.980)]
        {
            assert!((student_quantile(degrees) - quantile).abs() < 0.0006, "{degrees}");
        }
    }

    #[test]
    fn what_some_repetitions_lack_is_merged_by_name() {
        let of = |nodes: &[(&str, f64)]| {
            let nodes: Vec<Value> = nodes.iter().map(|(name, sent)| json!({"name": name, "sent": sent})).collect();
            json!({"flows": [], "nodes": nodes, "totals": {}, "cost": {}, "provenance": {}})
        };
        let document = aggregate(vec![of(&[("b", 2.0)]), of(&[("a", 1.0), ("b", 4.0), ("c", 7.0)]), of(&[("a", 3.0)])]);
        let mean = |place: usize| (&document["nodes"][place]["name"], &document["nodes"][place]["sent"]);
        assert_eq!(
            [mean(0), mean(1), mean(2)],
            [(&json!("b"), &json!(3.0)), (&json!("a"), &json!(2.0)), (&json!("c"), &json!(7.0))]
        );
    }

    #[test]
    fn numbers_become_means_with_intervals_and_words_stay() {
        let of = |goodput: f64, delay: Option<f64>, seed: u64| {
            json!({
                "flows": [{"name": "stream0", "goodput_bps": goodput, "delay_mean_s": delay}],
                "nodes": [], "totals": {"packets_originated": goodput},
                "cost": {"wall_s": 2.0, "peak_rss_bytes": seed},
                "provenance": {"version": "v", "seed": seed},
            })
        };
        let document = aggregate(vec![of(1.0, Some(0.5), 1), of(3.0, None, 2)]);
        let flow = &document["flows"][0];
        assert_eq!((&flow["name"], &flow["goodput_bps"]), (&json!("stream0"), &json!(2.0)));
        // Two values 2 apart: 12.706 times sqrt(2 / 2).
        assert!((flow["goodput_bps_ci95"].as_f64().unwrap() - 12.706).abs() < 0.001);
        assert_eq!((&flow["delay_mean_s"], &flow["delay_mean_s_ci95"]), (&json!(0.5), &Value::Null));
        assert_eq!(document["cost"], json!({"wall_s": 4.0, "peak_rss_bytes": 2.0}));
        assert_eq!(document["provenance"]["seeds"], json!([1, 2]));
        assert_eq!(aggregate(vec![of(1.0, None, 1)]), of(1.0, None, 1));
    }
}
