//! The same scenario, seed and version give the same result, however it is run.

use hopcast_protocols::time::Duration;
use hopcast_sim::execute::{Control, Job, Outcome, execute};
use hopcast_sim::results::{Replication, RunResult, flow_table, node_table, series_table};
use hopcast_sim::scenario::Scenario;

use crate::difference::{Way, first_difference};
use crate::scenarios::{scenario, string};

const WHOLE: Duration = Duration::from_secs(1_000);

#[test]
fn two_runs_are_the_same_event_by_event_however_they_are_sliced() {
    let scenario = scenario(&string("500 ms"));
    let slice = Duration::from_nanos(777_777);
    let difference = first_difference(&scenario, [Way { seed: 1, slice: WHOLE }, Way { seed: 1, slice }]);
    assert!(difference.is_none(), "{}", difference.unwrap());
}

#[test]
fn another_seed_is_noticed_at_the_first_event_that_differs() {
    let scenario = scenario(&string("500 ms"));
    let ways = [Way { seed: 1, slice: WHOLE }, Way { seed: 2, slice: WHOLE }];
    let difference = first_difference(&scenario, ways).expect("backoffs differ");
    let [one, other] = difference.events;
    assert!(difference.place > 0, "both begin with the same write");
    assert_ne!(one, other);
    assert!(difference.to_string().starts_with(&format!("event {}: ", difference.place)));
}

#[test]
fn threads_change_no_octet_of_the_result() {
    let scenario = scenario(&string("300 ms"));
    let [one, four] = [1, 4].map(|threads| results(&scenario, threads));
    assert_eq!(one.len(), 6);
    for (one, four) in one.iter().zip(&four) {
        assert_eq!(one.to_json(), four.to_json());
        assert_eq!(flow_table(one), flow_table(four));
        assert_eq!(node_table(one), node_table(four));
        assert_eq!(series_table(one), series_table(four));
    }
    assert_ne!(one[0].flows, one[1].flows, "seeds matter");
}

/// Six replications, in the order of their seeds.
fn results(scenario: &Scenario, threads: usize) -> Vec<RunResult> {
    let mut results = Vec::new();
    let job = Job { scenario, seeds: &[9, 4, 5, 6, 7, 8], threads, captures: None, recordings: None };
    let control = Control::new();
    let outcome = execute(&job, &control, &(), |place, result| results.push((place, result))).unwrap();
    assert_eq!(outcome, Outcome::Finished);
    assert_eq!(control.simulated(), scenario.duration * 6);
    results.sort_by_key(|(place, _)| *place);
    results.into_iter().map(|(_, result)| result).collect()
}

/// Two pairs of nodes too far apart to sense each other: what one does must not move the other's draws.
fn pairs(flows: &[(&str, &str, &str)]) -> Scenario {
    let mut text = r#"
duration = "400 ms"
[radio]
standard = "802.11b"
propagation = { model = "range", receive = "100 m", carrier_sense = "100 m" }
[[nodes]]
name = "a"
count = 2
placement = { shape = "points", at = [["0 m", "0 m"], ["10 m", "0 m"]] }
[[nodes]]
name = "b"
count = 2
placement = { shape = "points", at = [["900 m", "0 m"], ["910 m", "0 m"]] }
"#
    .to_owned();
    for (name, from, to) in flows {
        text += &format!(
            r#"
[[flows]]
name = "{name}"
from = "{from}"
to = "{to}"
transport = {{ protocol = "udp" }}
application = {{ kind = "adu", size = "500 B" }}
"#
        );
    }
    scenario(&text)
}

#[test]
fn a_flow_more_leaves_the_backoffs_of_other_nodes_as_they_were() {
    let (few, many) = (pairs(&[("x", "a0", "a1")]), pairs(&[("x", "a0", "a1"), ("y", "b0", "b1")]));
    let arrivals = |scenario: &Scenario| {
        let mut simulation = hopcast_sim::run::Simulation::new(scenario, 3).unwrap();
        let log = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
        let events = std::sync::Arc::clone(&log);
        simulation.set_log(move |event| {
            // Numbers of transmissions count those of all stations.
            if event.place < 2 {
                events.lock().unwrap().push((event.key.time(), event.key.rank(), event.place));
            }
        });
        simulation.run_until(simulation.end());
        drop(simulation);
        std::sync::Arc::into_inner(log).unwrap().into_inner().unwrap()
    };
    let (before, after) = (arrivals(&few), arrivals(&many));
    assert!(before.len() > 1000);
    assert_eq!(before, after);
}

#[test]
fn a_run_is_stopped_while_it_is_set_up() {
    let scenario = scenario(&string("300 ms"));
    let asked = std::cell::Cell::new(0_u32);
    let stop_at = |nth: u32| {
        asked.set(0);
        let goes_on = || asked.replace(asked.get() + 1) < nth;
        Replication::new_while(&scenario, 1, &goes_on).unwrap().is_some()
    };
    assert!(stop_at(u32::MAX));
    // Once for the links of each node, and for the routes to each end of a flow.
    let questions = asked.get();
    assert_eq!(questions, 5);
    assert_eq!(hopcast_sim::run::Simulation::preparation(&scenario), 5);
    for nth in 0..questions {
        assert!(!stop_at(nth));
        assert_eq!(asked.get(), nth + 1, "nobody asks again after a no");
    }
}

#[test]
fn a_stopped_execution_hands_over_what_is_finished() {
    let scenario = scenario(&string("300 ms"));
    let control = Control::new();
    let job = Job { scenario: &scenario, seeds: &[1, 2, 3, 4, 5], threads: 1, captures: None, recordings: None };
    let mut finished = Vec::new();
    let outcome = execute(&job, &control, &(), |place, _| {
        finished.push(place);
        if place == 1 {
            control.stop();
        }
    });
    assert_eq!(outcome.unwrap(), Outcome::Stopped);
    assert_eq!(finished, [0, 1]);
    assert_eq!(control.prepared(), 2 * job.preparation());
}
