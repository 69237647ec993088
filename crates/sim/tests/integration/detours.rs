//! Paths over lossy links where there are no others.

use hopcast_protocols::time::Instant;
use hopcast_sim::run::Simulation;
use hopcast_sim::scenario::Scenario;

use crate::scenarios::scenario;

/// Two nodes, and a flow that sends 100 packets in a second; acknowledged, with seven attempts at each.
fn pair(metres: u32) -> Scenario {
    pair_over("udp", metres)
}

fn pair_over(protocol: &str, metres: u32) -> Scenario {
    scenario(&format!(
        r#"
        duration = "1.1 s"
        [radio]
        standard = "802.11a"
        data_rate = "54 Mb/s"
        [[nodes]]
        name = "n"
        count = 2
        placement = {{ shape = "line", spacing = "{metres} m" }}
        [[flows]]
        name = "f"
        from = "n0"
        to = "n1"
        stop = "1 s"
        transport = {{ protocol = "{protocol}" }}
        application = {{ kind = "cbr", rate = "1177.6 kb/s", packet = "1472 B" }}
        "#
    ))
}

/// With the distance a link is usable, then lossy, then none: a warning comes with the second, an error with the third.
#[test]
fn a_flow_without_a_usable_path_takes_a_lossy_one_and_says_so() {
    let kind = |metres| match Simulation::new(&pair(metres), 1) {
        Ok(simulation) => usize::from(!simulation.warnings().is_empty()),
        Err(_) => 2,
    };
    let kinds: Vec<usize> = (20..300).map(kind).collect();
    assert!(kinds.is_sorted(), "{kinds:?}");
    let lossy = 20 + kinds.iter().position(|&kind| kind == 1).expect("some distance is in between") as u32;
    let mut simulation = Simulation::new(&pair(lossy), 1).unwrap();
    let [warning] = simulation.warnings() else { panic!("one flow") };
    let expected = "flow \"f\": no path over links that lose at most a tenth of full frames; n0 to n1 loses 1";
    assert!(warning.starts_with(expected), "just beyond a tenth: {warning}");
    simulation.run_until(Instant::MAX);
    simulation.check().unwrap();
    let flow = simulation.flows().iter().next().unwrap().summary(simulation.end());
    assert_eq!((flow.sent_packets, flow.received_packets), (100, 100), "attempts make up for it");
    let radio = simulation.stations()[0].counters();
    assert!((101..=140).contains(&radio.data_sent), "some are repeated: {}", radio.data_sent);
}

/// What comes back takes a lossy path, too.
#[test]
fn every_transport_takes_a_lossy_path_both_ways() {
    let warns = |&metres: &u32| Simulation::new(&pair(metres), 1).is_ok_and(|made| !made.warnings().is_empty());
    let lossy = (20..300).find(warns).expect("some distance is in between");
    for protocol in ["udp", "tcp", "tfrc", "adtfrc"] {
        let mut simulation =
            Simulation::new(&pair_over(protocol, lossy), 1).unwrap_or_else(|error| panic!("{protocol}: {error}"));
        assert_eq!(simulation.warnings().len(), 1, "{protocol}");
        simulation.run_until(Instant::MAX);
        simulation.check().unwrap();
        let flow = simulation.flows().iter().next().unwrap().summary(simulation.end());
        assert!(flow.received_packets > 0, "{protocol}: {flow:?}");
    }
}
