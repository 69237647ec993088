//! The example files.

use hopcast_protocols::time::{Duration, Instant};
use hopcast_protocols::transport::{adtfrc, dccp, tcp, tfrc};
use hopcast_radio::phy::{DataRate, Standard, TxVector};
use hopcast_radio::propagation::{Range, TwoRayGround};

use super::model::*;
use super::*;
use crate::host::card::CopyTime;
use crate::id::NodeId;
use crate::mobility::Placement;

#[test]
fn the_string_loads_with_static_routes() {
    let scenario = load(STRING, &[STATIC]).scenario;
    assert_eq!(scenario.name, "string of eight");
    assert_eq!(scenario.duration, Duration::from_secs(110));
    assert_eq!(scenario.seed, 1);
    assert_eq!(scenario.mtu, Some(1500));
    let radio = &scenario.radio;
    assert_eq!(radio.standard, Standard::Dsss);
    let [mbps_1, mbps_2] = *Standard::Dsss.phy(false).vectors() else { panic!("802.11 has two rates") };
    assert_eq!((radio.data_rate, radio.basic_rate), (mbps_2, mbps_1));
    assert_eq!(radio.mac.rts_threshold, None);
    assert_eq!((radio.mac.short_retry_limit, radio.mac.long_retry_limit, radio.mac.queue_packets), (7, 4, 50));
    assert_eq!(radio.tx_power, 24.5);
    assert_eq!(super::values::propagation(radio), format!("{:?}", TwoRayGround::new(914e6, 1.5)));
    let reception = Reception {
        receive_threshold: Some(-64.37),
        carrier_sense_threshold: -78.07,
        capture: 10.0,
        // 10 dB of capture and 20 dB of margin below the receive threshold.
        noise_figure: 7.0,
        preamble_detection: None,
        interference_floor: -94.37,
        rules: Rules::Cumulative,
    };
    assert_eq!(radio.reception, reception);
    let [group] = scenario.groups.as_slice() else { panic!("one group") };
    assert_eq!(group.node_names, ["n0", "n1", "n2", "n3", "n4", "n5", "n6", "n7"]);
    assert_eq!(group.placement, Placement::Line { spacing: 200.0 });
    assert_eq!((group.relay, group.socket_buffer), (Relay::Os, 212_992));
    let [flow] = scenario.flows.as_slice() else { panic!("one flow") };
    assert_eq!((flow.from, flow.to), (NodeId(0), NodeId(7)));
    assert_eq!((flow.start, flow.stop), (Instant::from_nanos(10_000_000_000), None));
    let tcp = Tcp {
        segment: 1000,
        window: Some(32),
        initial_window: None,
        min_rto: Duration::from_secs(1),
        delayed_ack: Some(Duration::from_millis(200)),
        variant: tcp::Variant::NewReno,
        congestion: None,
        timestamps: false,
        ecn: false,
        elfn: false,
        deadline: None,
    };
    assert_eq!(flow.transport, Transport::Tcp(tcp));
    assert_eq!(super::values::application(flow), super::values::bulk(flow.start, 1000));
}

#[test]
fn the_string_as_it_is_has_dsdv() {
    let scenario = load(STRING, &["nodes.n.routing.period=\"4 s\""]).scenario;
    let Routing::Protocol(protocol) = &scenario.groups[0].routing else { panic!("a protocol") };
    assert_eq!(protocol.name, "dsdv");
}

#[test]
fn protocols_differ_by_profile_and_by_what_is_given() {
    let explained = |overrides: &[&str], key: &str| {
        let loaded = load(STRING, overrides);
        let row = loaded.explain().iter().find(|row| row.key == format!("nodes.n.routing.{key}")).cloned();
        row.map(|row| (row.value, row.source)).unwrap_or_else(|| panic!("no {key}"))
    };
    let aodv = "nodes.n.routing={ protocol = \"aodv\" }";
    let told = |value: &str, source: &str| (value.to_owned(), source.to_owned());
    assert_eq!(explained(&[aodv], "active_route_timeout"), told("3 s", "default: RFC 3561, section 10"));
    assert_eq!(explained(&[aodv, "radio.profile=ns-2"], "active_route_timeout"), told("10 s", "default: ns-2.35"));
    assert_eq!(explained(&[aodv, "nodes.n.routing.ttl_start=3"], "ttl_start"), told("3", "--set"));
    assert_eq!(explained(&[aodv], "local_repair"), told("near", "default: allowed by RFC 3561, section 6.12"));
    let jitter = "default: ns-2.35; RFC 5148, section 5, asks for jitter";
    assert_eq!(explained(&[aodv], "broadcast_jitter"), told("10 ms", jitter));
    assert_eq!(explained(&[aodv, "radio.profile=ns-2"], "destination_only").1, "default: ns-2.35");
    let olsr = "nodes.n.routing={ protocol = \"olsr\" }";
    assert_eq!(explained(&[olsr], "hysteresis"), told("false", "default: allowed by RFC 3626, section 14"));
    assert_eq!(explained(&[olsr], "tc_interval").1, "default: RFC 3626, section 18");
    assert_eq!(explained(&[aodv, "nodes.n.routing.local_repair=never"], "local_repair"), told("never", "--set"));
    let dsr = "nodes.n.routing={ protocol = \"dsr\", cache = \"path\" }";
    assert_eq!(explained(&[dsr], "cache"), told("path", "--set"));
    assert_eq!(explained(&[dsr], "max_request_period"), told("10 s", "default: RFC 4728, section 9"));
    // Section 9 has 300 s: neither cache has that of itself, whatever the profile.
    let dsr = |rest: &str| format!("nodes.n.routing={{ protocol = \"dsr\"{rest} }}");
    let timeout = |rest: &str| explained(&[&dsr(rest)], "route_cache_timeout");
    let (links, paths) = (("adaptive", "default: RFC 4728, appendix A"), ("none", "default: ns-2.35"));
    for (rest, (value, source)) in [
        ("", links),
        (", profile = \"ns-2\"", paths),
        (", cache = \"path\"", paths),
        (", profile = \"ns-2\", cache = \"link\"", links),
    ] {
        assert_eq!(timeout(rest), told(value, source), "{rest}");
    }
    assert_eq!(timeout(", route_cache_timeout = \"300 s\"").1, "--set");
    assert_eq!(explained(&[&dsr("")], "cache"), told("link", links.1));
    assert_eq!(explained(&[&dsr("")], "acknowledgement").1, "default: RFC 4728, section 8.3.1");
    assert_eq!(explained(&[&dsr("")], "promiscuous"), told("true", "default: allowed by RFC 4728, section 2"));
    assert_eq!(explained(&[&dsr(", profile = \"ns-2\"")], "promiscuous").1, paths.1);
    assert_eq!(explained(&[&dsr(", profile = \"ns-2\"")], "cache"), told("path", paths.1));
}

/// Times of Table 1 of S. Desilva and S. R. Das, 2000, in microseconds: 1500 and 68 bytes, to a card and from it.
#[test]
fn cards_copy_long_and_small_packets_in_the_times_of_their_table() {
    let times = |card: &str| {
        let scenario = load(STRING, &[&format!("nodes.n.card={card}")]).scenario;
        let card = scenario.groups[0].card.expect("it has cards");
        let micros = |copy: CopyTime, octets: f64| ((copy.fixed + copy.per_octet * octets) * 1e-3 * 1e6).round() / 1e6;
        [card.copy_out, card.copy_in].map(|copy| [1500.0, 68.0].map(|octets| micros(copy, octets)))
    };
    assert_eq!(times("{}"), [[3_460.0, 1_130.0], [2_057.0, 139.0]]);
    assert_eq!(times("{ model = \"isa\" }"), [[960.0, 67.0], [955.0, 48.0]]);
    // Where a time is given, it is in proportion, unless its fixed part is given as well.
    assert_eq!(times("{ copy_out = \"3 ms\" }"), [[3_000.0, 136.0], [2_057.0, 139.0]]);
    assert_eq!(times("{ copy_in = \"3 ms\", copy_in_fixed = \"1.5 ms\" }")[1], [3_000.0, 1_568.0]);
    assert_eq!(times("{ copy_out_fixed = \"3.46 ms\" }")[0], [3_460.0, 3_460.0]);
}

#[test]
fn a_part_of_a_copy_is_not_longer_than_the_whole() {
    let told = refused(STRING, &["nodes.n.card={ copy_out = \"1 ms\", copy_out_fixed = \"2 ms\" }"]);
    assert!(told.contains("nodes.n.card.copy_out_fixed"), "{told}");
    assert!(told.contains("is longer than the whole copy; expected at most copy_out"), "{told}");
}

#[test]
fn wrong_routing_is_refused() {
    let refusals = [
        ("{ protocol = \"aodv\", hello_always = 1 }", "is neither true nor false"),
        ("{ protocol = \"aodv\", net_diameter = 0 }", "is zero"),
        ("{ protocol = \"aodw\" }", "unknown value; did you mean \"aodv\"?"),
        ("{ protocol = \"dsdv\", settling_weight = 1.5 }", "is too large"),
        ("{ protocol = \"custom\", name = \"mine\" }", "there is no protocol of this name"),
        ("{ protocol = \"custom\", name = \"mine\", parameters = 3 }", "is not a table"),
    ];
    for (routing, expected) in refusals {
        let told = refused(STRING, &[&format!("nodes.n.routing={routing}")]);
        assert!(told.contains(expected), "{routing}: {told}");
    }
}

#[test]
fn the_house_loads() {
    let scenario = load(HOUSE, &[]).scenario;
    let roles: Vec<Role> = scenario.groups.iter().map(|group| group.role).collect();
    assert_eq!(roles, [Role::AccessPoint, Role::Station, Role::Wired]);
    assert_eq!(scenario.groups.iter().map(|group| group.radios.len()).collect::<Vec<_>>(), [1, 1, 0]);
    let [near, far] = scenario.links.as_slice() else { panic!("two links") };
    assert_eq!((near.between, far.between), ([NodeId(5), NodeId(0)], [NodeId(8), NodeId(5)]));
    let config = crate::wired::Config::constant(1e8, Duration::from_millis(30), 140, 0.0);
    assert_eq!(far.configs, [config.clone(), config]);
}

#[test]
fn radios_differ_from_the_common_one_where_they_say_so() {
    let radios = r#"nodes.a.radios=[{ channel = 6 }, { network = "b", channel = 11, data_rate = "1 Mb/s" }]"#;
    let scenario = load(SMALL, &[radios, "radio.channel=1"]).scenario;
    let [first, second] = scenario.groups[0].radios.as_slice() else { panic!("two radios") };
    assert_eq!((first.network, first.frequency, first.data_rate.data_rate()), (0, 2.437e9, DataRate::from_kbps(2_000)));
    assert_eq!((second.network, second.frequency), (1, 2.462e9));
    assert_eq!([second.data_rate, second.basic_rate].map(TxVector::data_rate), [DataRate::from_kbps(1_000); 2]);
    let plain = &scenario.groups[1].radios[0];
    assert_eq!((plain.network, plain.frequency), (0, 2.412e9));
}

#[test]
fn the_roaming_nodes_load() {
    let scenario = load(ROAMING, &[]).scenario;
    let [stream, burst] = scenario.flows.as_slice() else { panic!("two flows") };
    // The default segment of the machine is that of the file.
    let adtfrc = dccp::Congestion::Adtfrc(adtfrc::Config::default());
    assert_eq!(stream.transport, Transport::Dccp(Dccp { congestion: adtfrc }));
    assert_eq!(super::values::application(stream), super::values::bulk(stream.start, 1000));
    assert_eq!(burst.transport, Transport::Udp);
}

#[test]
fn tfrc_has_its_variants_and_adtfrc_its_metrics() {
    let tfrc = |variant: &str| {
        let set = format!(r#"flows.stream.transport={{ protocol = "tfrc"{variant} }}"#);
        let Transport::Dccp(dccp) = &load(ROAMING, &[&set]).scenario.flows[0].transport else { panic!("DCCP") };
        *dccp.congestion.tfrc()
    };
    let standard = tfrc::Config { segment: 1448, ..tfrc::Config::default() };
    assert_eq!(tfrc(""), standard);
    let edition = tfrc::Edition::Rfc3448;
    assert_eq!(tfrc(r#", variant = "rfc3448""#), tfrc::Config { edition, ..standard });
    let edition = tfrc::Edition::Ns2;
    assert_eq!(tfrc(r#", variant = "ns-2""#), tfrc::Config { edition, ..standard });
    assert_eq!(tfrc(r#", variant = "rfc4828""#), tfrc::Config { small_packets: true, ..standard });
    for (metric, expected) in [
        ("joint", Some(adtfrc::Identification::Joint)),
        ("idd", Some(adtfrc::Identification::DelayDifference)),
        ("stt", Some(adtfrc::Identification::Throughput)),
        ("none", None),
    ] {
        let set = format!("flows.stream.transport.metric={metric}");
        let Transport::Dccp(dccp) = &load(ROAMING, &[&set]).scenario.flows[0].transport else { panic!("DCCP") };
        let dccp::Congestion::Adtfrc(config) = &dccp.congestion else { panic!("ADTFRC") };
        assert_eq!(config.identification, expected);
        assert!(expected.is_none_or(|expected| expected.name() == metric));
    }
    for (variant, edition, small_packets) in [
        ("ns-2", tfrc::Edition::Ns2, false),
        ("rfc5348", tfrc::Edition::Rfc5348, false),
        ("rfc4828", tfrc::Edition::Rfc5348, true),
    ] {
        let set = format!("flows.stream.transport.variant={variant}");
        let Transport::Dccp(dccp) = &load(ROAMING, &[&set]).scenario.flows[0].transport else { panic!("DCCP") };
        let dccp::Congestion::Adtfrc(config) = &dccp.congestion else { panic!("ADTFRC") };
        assert_eq!((config.tfrc.edition, config.tfrc.small_packets), (edition, small_packets));
    }
}

#[test]
fn the_string_with_other_values_loads() {
    let range = r#"radio.propagation={ model = "range", receive = "250 m", carrier_sense = "550 m" }"#;
    let scenario = load(STRING, &[STATIC, range, "nodes.n.count=4", "flows.bulk.to=n3", "seed=7"]).scenario;
    let range = Range { receive: 250.0, carrier_sense: 550.0 };
    assert_eq!(super::values::propagation(&scenario.radio), format!("{range:?}"));
    assert_eq!(scenario.flows[0].to, NodeId(3));
    assert_eq!(scenario.seed, 7);
}
