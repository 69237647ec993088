//! Content of results, and the files that hold them.

use std::fs;

use hopcast_sim::capture::Selection;
use hopcast_sim::execute::{Control, ExecuteError, Job, execute};
use hopcast_sim::results::{Replication, RunResult, Spent, flow_table, node_table, series_table, write_tables};
use hopcast_sim::scenario::Scenario;
use parquet::file::reader::{FileReader, SerializedFileReader};
use serde_json::Value;

use crate::scenarios::{Folder, scenario, string};

fn result(scenario: &Scenario, seed: u64) -> RunResult {
    let mut replication = Replication::new(scenario, seed).unwrap();
    while replication.advance() {}
    replication.finish(Spent::default())
}

fn json(result: &RunResult) -> Value {
    serde_json::from_str(&result.to_json()).unwrap()
}

#[test]
fn the_object_has_all_that_the_command_line_promises() {
    let scenario = scenario(&string("500 ms"));
    let object = json(&result(&scenario, 7));
    let flow = &object["flows"][1];
    assert_eq!(
        (&flow["name"], &flow["from"], &flow["to"], &flow["protocol"]),
        (&"file".into(), &"n2".into(), &"n0".into(), &"tcp".into())
    );
    for key in [
        "sent_packets",
        "sent_bytes",
        "received_packets",
        "received_bytes",
        "lost_packets",
        "loss_ratio",
        "goodput_bps",
        "delay_mean_s",
        "delay_p99_s",
        "jitter_mean_s",
        "jitter_variance_s2",
        "jitter_max_s",
    ] {
        assert!(flow[key].is_number(), "{key}: {flow}");
    }
    let node = &object["nodes"][1];
    assert_eq!(node["name"], "n1");
    assert!(node["drops"]["queue_full"].is_number());
    assert!(node["forwarded"].as_u64().unwrap() > 0);
    for key in ["rts_sent", "cts_sent", "ack_sent", "data_sent"] {
        assert!(node[key].as_u64().unwrap() > 0, "{key}: {node}");
    }
    for key in ["cts_timeouts", "ack_timeouts", "duplicates", "errors"] {
        assert!(node[key].is_u64(), "{key}: {node}");
    }
    let sent: u64 = object["nodes"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|node| ["rts_sent", "cts_sent", "ack_sent", "data_sent"].map(|key| node[key].as_u64().unwrap()))
        .sum();
    assert_eq!(object["totals"]["frames_sent"], sent);
    assert!(object["totals"]["receptions"].as_u64().unwrap() > sent);
    assert_eq!(object["cost"]["simulated_s"], 0.5);
    assert!(object["cost"]["wall_s"].is_null(), "nobody measured it");
    assert_eq!(object["provenance"]["seed"], 7);
    assert_eq!(object["provenance"]["scenario_sha256"], scenario.sha256);
}

#[test]
fn what_could_not_be_measured_is_null() {
    let mut text = string("100 ms");
    text = text.replace("start = \"10 ms\"", "start = \"99.99 ms\"");
    let scenario = scenario(&text);
    let result = result(&scenario, 1);
    let flow = &json(&result)["flows"][1];
    assert_eq!(flow["received_packets"], 0);
    assert!(flow["delay_mean_s"].is_null() && flow["jitter_max_s"].is_null());
    let delays = flow_table(&result).column_by_name("delay_mean_s").unwrap().clone();
    assert!(delays.is_null(1) && !delays.is_null(0));
}

#[test]
fn a_run_that_stops_half_way_has_measured_half() {
    let scenario = scenario(&string("500 ms"));
    let mut replication = Replication::new(&scenario, 1).unwrap();
    while replication.simulation().now().as_secs_f64() < 0.2 {
        assert!(replication.advance());
    }
    let half = replication.finish(Spent::default());
    let whole = result(&scenario, 1);
    assert!(half.cost.simulated_s < 0.4 && half.cost.events < whole.cost.events);
    assert!(half.flows[0].summary.received_bytes > 0);
    assert!(half.flows[0].summary.received_bytes < whole.flows[0].summary.received_bytes);
}

#[test]
fn tables_have_a_row_for_each_replication_and_agree_with_the_object() {
    let scenario = scenario(&string("500 ms"));
    let results = [1, 2].map(|seed| result(&scenario, seed));
    let folder = Folder::new();
    write_tables(folder.path(), &results).unwrap();
    assert_eq!(folder.names(), ["flows.parquet", "nodes.parquet", "series.parquet"]);
    let rows = |name: &str| {
        let file = fs::File::open(folder.path().join(name)).unwrap();
        SerializedFileReader::new(file).unwrap().metadata().file_metadata().num_rows()
    };
    assert_eq!((rows("flows.parquet"), rows("nodes.parquet")), (4, 6));
    let series = results.iter().map(|result| series_table(result).num_rows()).sum::<usize>();
    assert_eq!(rows("series.parquet"), series as i64);
    let object = json(&results[0]);
    let table = flow_table(&results[0]);
    for (key, _) in object["flows"][0].as_object().unwrap() {
        assert!(table.column_by_name(key).is_some(), "{key}");
    }
    let nodes = node_table(&results[0]);
    for (key, _) in object["nodes"][0].as_object().unwrap().iter().filter(|(key, _)| *key != "drops") {
        assert!(nodes.column_by_name(key).is_some(), "{key}");
    }
}

#[test]
fn the_series_sum_up_to_what_was_received_and_show_queues() {
    let scenario = scenario(&string("1 s"));
    let result = result(&scenario, 1);
    for (flow, samples) in result.flows.iter().zip(&result.series.flows) {
        assert_eq!(samples.len(), 10);
        assert_eq!(samples.iter().map(|sample| sample.received_bytes).sum::<u64>(), flow.summary.received_bytes);
    }
    let table = series_table(&result);
    let column = |name: &str| table.column_by_name(name).unwrap().clone();
    let rows = table.num_rows();
    assert_eq!(column("rate_bps").null_count(), rows - 20, "two flows");
    assert!(column("cwnd_bytes").null_count() < rows && column("srtt_s").null_count() < rows);
    assert!(!result.series.queues.is_empty(), "a source that blocks keeps its queue filled");
    assert_eq!(result.series.times.len(), 10);
}

#[test]
fn a_folder_that_is_not_there_is_named() {
    let scenario = scenario(&string("100 ms"));
    let nowhere = Folder::new().path().join("missing");
    let error = write_tables(&nowhere, &[result(&scenario, 1)]).unwrap_err();
    assert!(error.to_string().contains("missing/flows.parquet: "), "{error}");
    let job = Job {
        scenario: &scenario,
        seeds: &[1],
        threads: 1,
        captures: Some((&nowhere, &Selection::all(&scenario))),
        recordings: None,
    };
    let error = execute(&job, &Control::new(), &(), |_, _| panic!("it failed")).unwrap_err();
    assert!(error.to_string().contains("missing/n0.pcapng: "), "{error}");
}

#[test]
fn a_destination_that_no_radio_could_reach_is_an_error_of_the_first_seed() {
    let text = string("100 ms").replace("[[nodes]]", "[[nodes]]\nname = \"alone\"\nrole = \"wired\"\n[[nodes]]");
    let scenario = scenario(&text.replace("to = \"n2\"", "to = \"alone\""));
    let job = Job { scenario: &scenario, seeds: &[5, 6, 7], threads: 3, captures: None, recordings: None };
    let error = execute(&job, &Control::new(), &(), |_, _| panic!("it failed")).unwrap_err();
    let ExecuteError::Traffic { seed: 5, error } = error else { panic!("{error}") };
    assert_eq!(
        error.in_file("a.toml").to_string(),
        "a.toml: flows.units.to: no path leads from n0 to alone; \
         expected nodes with a channel, an access point or a link in common, or others between them"
    );
}

/// The nodes of [`string`], all in range of each other, with a flow from end to end over the middle.
fn over_the_middle(relay: &str, protocol: &str) -> Scenario {
    let text =
        string("300 ms").replace("200 m", "10 m").replace("count = 3", &format!("count = 3\nrelay = \"{relay}\""));
    let text = text.split("[[flows]]").next().unwrap().to_owned();
    scenario(&format!(
        r#"{text}
[[flows]]
name = "f"
from = "n0"
to = "n2"
via = ["n1"]
transport = {{ protocol = "{protocol}" }}
application = {{ kind = "adu", size = "1000 B" }}
"#
    ))
}

#[test]
fn a_flow_passes_the_nodes_of_its_via_there_and_back() {
    for protocol in ["udp", "tcp"] {
        let forwarded = result(&over_the_middle("os", protocol), 1);
        assert!(forwarded.flows[0].summary.received_packets > 20);
        let [first, middle, last] = &forwarded.nodes[..] else { panic!("three nodes") };
        // What either end received, data or acknowledgement, came through the middle.
        assert!(middle.forwarded >= first.delivered + last.delivered && last.delivered > 20);
        assert_eq!(first.delivered > 10, protocol == "tcp");
        let relayed = result(&over_the_middle("application", protocol), 1);
        assert!(relayed.flows[0].summary.received_packets > 20);
        assert_eq!(relayed.nodes[1].forwarded, 0, "its program passes them on");
        assert!(relayed.nodes[1].delivered >= relayed.flows[0].summary.received_packets);
    }
}
