//! Paths over lossy links if there are no others.

use hopcast_protocols::time::Instant;
use hopcast_sim::metrics::DropCause;
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

/// With the distance a link is usable, then lossy, then none: a warning comes with the second and the third.
#[test]
fn a_flow_without_a_usable_path_takes_a_lossy_one_and_says_so() {
    let kind = |metres| match Simulation::new(&pair(metres), 1).unwrap().warnings() {
        [] => 0,
        [warning] => 1 + usize::from(warning.ends_with("loses 100 %")),
        more => panic!("one flow: {more:?}"),
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
    for protocol in ["udp", "tcp", "tfrc", "adtfrc", "rtp"] {
        let mut simulation =
            Simulation::new(&pair_over(protocol, lossy), 1).unwrap_or_else(|error| panic!("{protocol}: {error}"));
        assert_eq!(simulation.warnings().len(), 1, "{protocol}");
        simulation.run_until(Instant::MAX);
        simulation.check().unwrap();
        let flow = simulation.flows().iter().next().unwrap().summary(simulation.end());
        assert!(flow.received_packets > 0, "{protocol}: {flow:?}");
    }
}

/// A run to its end, of which nothing has vanished.
fn finished(scenario: &Scenario) -> Simulation {
    let mut simulation = Simulation::new(scenario, 1).unwrap_or_else(|error| panic!("{error}"));
    simulation.run_until(Instant::MAX);
    simulation.check().unwrap();
    simulation
}

/// The only flow of a run to its end: packets sent and received, and what is said of it.
fn outcome(scenario: &Scenario) -> (u64, u64, Vec<String>) {
    let simulation = finished(scenario);
    let flow = simulation.flows().iter().next().unwrap().summary(simulation.end());
    (flow.sent_packets, flow.received_packets, simulation.warnings().to_vec())
}

#[test]
fn a_node_out_of_reach_is_sent_packets_all_the_same_and_gets_them_once_it_is_near() {
    let (sent, received, warnings) = outcome(&pair(5000));
    assert_eq!((sent, received), (100, 0));
    let said = "flow \"f\": no path over links that lose at most a tenth of full frames; n0 to n1 loses 100 %";
    assert_eq!(warnings, [said]);
    let (sent, received, _) = outcome(&scenario(
        r#"
            duration = "100 s"
            [radio]
            profile = "ns-2"
            [[nodes]]
            name = "n"
            count = 2
            placement = { shape = "points", at = [[0, 5], [299, 5]] }
            mobility = { model = "random-waypoint", speed = [20, 20], pause = 0, area = { width = 300, height = 10 } }
            [[flows]]
            name = "f"
            from = "n0"
            to = "n1"
            transport = { protocol = "udp" }
            application = { kind = "cbr", rate = "8 kb/s", packet = "100 B" }
            "#,
    ));
    assert_eq!(sent, 1000);
    assert!((800..1000).contains(&received), "they hear each other over 250 m of at most 300: {received}");
}

/// An access point and a station beyond its reach, and a server behind a wire.
#[test]
fn a_station_out_of_reach_belongs_to_the_nearest_access_point() {
    let scenario = scenario(
        r#"
        duration = "1.1 s"
        [radio]
        standard = "802.11g"
        propagation = { model = "range", receive = "50 m", carrier_sense = "100 m" }
        [[nodes]]
        name = "server"
        role = "wired"
        [[nodes]]
        name = "ap"
        role = "access-point"
        count = 2
        placement = { shape = "line", spacing = "40 m" }
        [[nodes]]
        name = "sta"
        role = "station"
        placement = { shape = "points", at = [[200, 0]] }
        [[links]]
        between = ["server", "ap1"]
        rate = "100 Mb/s"
        [[flows]]
        name = "f"
        from = "server"
        to = "sta"
        stop = "1 s"
        transport = { protocol = "tcp" }
        application = { kind = "bulk" }
        "#,
    );
    let (_, received, warnings) = outcome(&scenario);
    assert_eq!(received, 0);
    assert!(
        warnings.iter().all(|warning| warning.ends_with("ap1 to sta loses 100 %")) && warnings.len() == 1,
        "{warnings:?}"
    );
}

/// Log-distance of exponent 4 with 9 dB from frame to frame: at 25 m the mean is 14.9 dB above the noise, and 54 Mb/s of full frames
/// needs some 18.6 dB, so that a frame passes with Q(3.7 / 9) = 0.34 and one of four attempts with 0.81.
#[test]
fn what_varies_from_frame_to_frame_counts() {
    let scenario = scenario(
        r#"
        duration = "5.1 s"
        [radio]
        standard = "802.11g"
        data_rate = "54 Mb/s"
        tx_power = "40 mW"
        retry_limit = { short = 4, long = 4 }
        propagation = { model = "log-distance", exponent = 4, shadowing = "9 dB", shadowing_per = "frame" }
        [[nodes]]
        name = "n"
        count = 2
        placement = { shape = "line", spacing = "25 m" }
        [[flows]]
        name = "f"
        from = "n0"
        to = "n1"
        stop = "5 s"
        transport = { protocol = "udp" }
        application = { kind = "cbr", rate = "2 Mb/s", packet = "1000 B" }
        "#,
    );
    let (sent, received, warnings) = outcome(&scenario);
    assert_eq!(sent, 1250);
    assert!((0.75..0.9).contains(&(received as f64 / 1250.0)), "{received}");
    let said = warnings[0].rsplit_once("n0 to n1 loses ").and_then(|(_, rest)| rest.strip_suffix(" %")).unwrap();
    let percent: f64 = said.parse().unwrap();
    assert!((58.0..74.0).contains(&percent), "{percent}");
}

#[test]
fn a_node_on_another_channel_can_never_be_reached() {
    let scenario = scenario(
        r#"
        duration = "1 s"
        [[nodes]]
        name = "a"
        placement = { shape = "points", at = [[0, 0]] }
        radios = [{ channel = 1 }]
        [[nodes]]
        name = "b"
        radios = [{ channel = 6 }]
        placement = { shape = "points", at = [[10, 0]] }
        [[flows]]
        name = "f"
        from = "a"
        to = "b"
        transport = { protocol = "udp" }
        application = { kind = "bulk" }
        "#,
    );
    let error = Simulation::new(&scenario, 1).map(|_| ()).unwrap_err();
    assert_eq!(error.to_string(), "flow \"f\": no path leads from a to b");
}

#[test]
fn elfn_over_static_routes_changes_nothing_and_says_so() {
    let with = |keys: &str| {
        scenario(&format!(
            r#"
            duration = "2 s"
            nodes = [{{ name = "n", count = 2, placement = {{ shape = "line", spacing = "10 m" }} }}]
            flows = [{{ name = "f", from = "n0", to = "n1", transport = {{ protocol = "tcp"{keys} }}, application = {{ kind = "bulk" }} }}]
            "#
        ))
    };
    let (sent, received, warnings) = outcome(&with(", elfn = true"));
    assert_eq!((sent, received, Vec::new()), outcome(&with("")));
    assert_eq!(warnings, ["flow \"f\": elfn does nothing; the routes of n0 are static, and never break"]);
}

/// Datagrams of each flow that arrived, and the warnings; no packet is dropped without a route.
fn arrivals(text: &str) -> (Vec<u64>, Vec<String>) {
    let simulation = finished(&scenario(text));
    assert!(simulation.counters().iter().all(|counters| counters[DropCause::NoRoute] == 0));
    let received = simulation.flows().iter().map(|flow| flow.summary(simulation.end()).received_packets);
    (received.collect(), simulation.warnings().to_vec())
}

/// A flow of 50 datagrams in 2 s.
fn datagrams(from: &str, to: &str) -> String {
    format!(
        "[[flows]]\nname = \"{from} to {to}\"\nfrom = \"{from}\"\nto = \"{to}\"\ntransport = {{ protocol = \"udp\" }}\n\
         application = {{ kind = \"cbr\", rate = \"100 kb/s\", packet = \"500 B\" }}\n"
    )
}

/// Of several neighbours the lossy one has the lowest number.
#[test]
fn a_lossy_link_leaves_the_usable_ones_as_they_are() {
    let flows: String = ["n0", "n2", "n3"].map(|to| datagrams("n1", to)).concat();
    let (received, warnings) = arrivals(&format!(
        r#"
        duration = "2 s"
        [radio]
        standard = "802.11b"
        [[nodes]]
        name = "n"
        count = 4
        placement = {{ shape = "points", at = [[2000, 0], [0, 0], [10, 0], [0, 10]] }}
        {flows}
        "#
    ));
    assert_eq!(received[1..], [50, 50]);
    assert!(received[0] > 0 && warnings.len() == 1, "{received:?} {warnings:?}");
}

/// Over a gateway that is out of reach, with and without being named, and with the way back.
#[test]
fn a_gateway_out_of_reach_is_on_the_way_all_the_same() {
    for (from, to, via) in [("n", "w", ""), ("n", "w", "via = [\"g\"]\n"), ("w", "n", "")] {
        let flow = datagrams(from, to).replace("transport", &format!("{via}transport"));
        let (received, warnings) = arrivals(&format!(
            r#"
            duration = "2 s"
            links = [{{ between = ["g", "w"], rate = "10 Mb/s" }}]
            [radio]
            propagation = {{ model = "range", receive = "100 m", carrier_sense = "200 m" }}
            [[nodes]]
            name = "n"
            placement = {{ shape = "points", at = [[300, 0]] }}
            [[nodes]]
            name = "g"
            placement = {{ shape = "points", at = [[0, 0]] }}
            [[nodes]]
            name = "w"
            role = "wired"
            {flow}
            "#
        ));
        assert_eq!(received, [0]);
        let hop = if from == "n" { "n to g loses 100 %" } else { "g to n loses 100 %" };
        assert!(warnings.len() == 1 && warnings[0].ends_with(hop), "{warnings:?}");
    }
}

#[test]
fn the_nearest_access_point_is_one_on_the_stations_channel() {
    let flow = datagrams("s0", "s1");
    let (received, warnings) = arrivals(&format!(
        r#"
        duration = "2 s"
        links = [{{ between = ["ap0", "ap1"], rate = "10 Mb/s" }}]
        [radio]
        standard = "802.11b"
        propagation = {{ model = "range", receive = "100 m", carrier_sense = "200 m" }}
        [[nodes]]
        name = "ap0"
        role = "access-point"
        radios = [{{ channel = 1 }}]
        placement = {{ shape = "points", at = [[250, 0]] }}
        [[nodes]]
        name = "ap1"
        role = "access-point"
        radios = [{{ channel = 6 }}]
        placement = {{ shape = "points", at = [[0, 0]] }}
        [[nodes]]
        name = "s"
        count = 2
        role = "station"
        radios = [{{ channel = 6 }}]
        placement = {{ shape = "points", at = [[5, 0], [300, 0]] }}
        {flow}
        "#
    ));
    assert_eq!(received, [0]);
    assert!(warnings.len() == 1 && warnings[0].ends_with("frames; ap1 to s1 loses 100 %"), "{warnings:?}");
}

/// All that are in range are equally strong under `range`. The wire to the nearer access point loses everything.
#[test]
fn of_access_points_that_are_equally_strong_the_nearer_one_is_chosen() {
    let received = |places: [u32; 2]| {
        let (received, _) = arrivals(&format!(
            r#"
            duration = "2 s"
            links = [{{ between = ["ap0", "ap1"], rate = "10 Mb/s", loss = 1 }}]
            [radio]
            propagation = {{ model = "range", receive = "100 m", carrier_sense = "200 m" }}
            [[nodes]]
            name = "ap"
            count = 2
            role = "access-point"
            placement = {{ shape = "points", at = [[{}, 0], [{}, 0]] }}
            [[nodes]]
            name = "s"
            role = "station"
            placement = {{ shape = "points", at = [[70, 0]] }}
            {}
            "#,
            places[0],
            places[1],
            datagrams("ap0", "s")
        ));
        received[0]
    };
    assert_eq!((received([0, 80]), received([80, 0])), (0, 50));
}

/// Where applications pass a flow on, answers go back from one to the one before.
#[test]
fn a_flow_that_applications_pass_on_takes_a_lossy_path_both_ways() {
    for relay in ["os", "application"] {
        let text = format!(
            r#"
            duration = "5 s"
            radio = {{ standard = "802.11a-turbo" }}
            nodes = [{{ name = "n", count = 3, relay = "{relay}", placement = {{ shape = "line", spacing = "150 m" }} }}]
            flows = [{{ name = "f", from = "n0", to = "n2", transport = {{ protocol = "tcp" }}, application = {{ kind = "bulk" }} }}]
            "#
        );
        let mut simulation = Simulation::new(&scenario(&text), 1).unwrap_or_else(|error| panic!("{relay}: {error}"));
        assert_eq!(simulation.warnings().len(), 1, "{relay}");
        simulation.run_until(Instant::MAX);
        simulation.check().unwrap();
        let flow = simulation.flows().iter().next().unwrap().summary(simulation.end());
        assert!(flow.received_packets > 100, "{relay}: {flow:?}");
    }
}
