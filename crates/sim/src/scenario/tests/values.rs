//! Values in force: profiles, defaults, overrides, and the sources that are told.

use std::fs;

use hopcast_protocols::application::{
    AduSource, Application as Writes, FileSource, GameDirection, GameModel, GameSource, JitterBufferConfig,
    PlayerConfig,
};
use hopcast_protocols::random::{Purpose, Stream};
use hopcast_protocols::time::{Duration, Instant};
use hopcast_radio::errors::thermal_noise;
use hopcast_radio::mac::AccessRules;
use hopcast_radio::phy::{DataRate, Standard, TxVector};
use hopcast_radio::propagation::{FreeSpace, TwoRayGround};
use hopcast_radio::queue::{CoDelConfig, Discipline, DualPi2Config, FqCoDelConfig, Mac80211Config, PieConfig};

use super::model::*;
use super::*;
use crate::id::NodeId;
use crate::mobility::Placement;
use crate::registry::FlowContext;

const TCP: &str = r#"flows.f.transport={ protocol = "tcp" }"#;
const BULK: &str = r#"flows.f.application={ kind = "bulk" }"#;

/// The model of a run, with its parameters.
pub(super) fn propagation(radio: &Radio) -> String {
    match &radio.propagation {
        Propagation::Range(range) => format!("{range:?}"),
        Propagation::Path(path) => format!("{:?}", (path.make)()),
    }
}

/// What a flow sends, with its parameters.
pub(super) fn application(flow: &Flow) -> String {
    format!("{:?}", (flow.application.make)(FlowContext { name: &flow.name, start: flow.start, random: random() }))
}

/// A transfer without end.
pub(super) fn bulk(start: Instant, packet: u32) -> String {
    format!("{:?}", AduSource::new(start, packet, Duration::ZERO, None))
}

fn random() -> Stream {
    Stream::new(1, Purpose::Application, 0, 0)
}

fn specimen(loaded: &Loaded) -> Box<dyn Writes> {
    loaded.scenario.flows[0].application.specimen()
}

#[test]
fn transmitters_have_up_to_42_dbm() {
    assert!((load(SMALL, &["radio.tx_power=42 dBm", TCP, BULK]).scenario.radio.tx_power - 42.0).abs() < 1e-9);
}

#[test]
fn the_standard_profile_follows_the_standard() {
    let loaded = load(SMALL, &[TCP, BULK]);
    let radio = &loaded.scenario.radio;
    assert_eq!((radio.standard, radio.data_rate, radio.basic_rate), rates(Standard::Dsss, 2_000, 2_000));
    assert_eq!((radio.mac.rts_threshold, radio.mac.short_retry_limit, radio.mac.long_retry_limit), (None, 7, 4));
    assert_eq!((radio.mac.queue_packets, loaded.scenario.mtu, radio.tx_power), (50, Some(1500), 16.0206));
    assert_eq!(propagation(radio), format!("{:?}", FreeSpace::new(2.412e9)));
    let phy = Standard::Dsss.phy(false);
    let reception = Reception {
        receive_threshold: None,
        carrier_sense_threshold: phy.cca_threshold(),
        capture: 10.0,
        noise_figure: 7.0,
        preamble_detection: None,
        // kTB in 16.5 MHz is -101.8 dBm, 7 dB are the noise figure.
        interference_floor: thermal_noise(16.5e6, 7.0).as_dbm() - 20.0,
        rules: Rules::Sinr,
    };
    assert_eq!(radio.reception, reception);
    let loaded_with_threshold = load(SMALL, &["radio.reception=threshold", TCP, BULK]);
    let reception = Reception {
        preamble_detection: None,
        interference_floor: phy.vectors()[0].framing().minimum_sensitivity - 30.0,
        rules: Rules::Cumulative,
        ..reception
    };
    assert_eq!(loaded_with_threshold.scenario.radio.reception, reception);
    let Transport::Tcp(tcp) = &loaded.scenario.flows[0].transport else { panic!("TCP") };
    assert_eq!((tcp.segment, tcp.window, tcp.initial_window), (1460, None, None));
    assert_eq!((tcp.min_rto, tcp.delayed_ack), (Duration::from_secs(1), Some(Duration::from_millis(200))));
    let (value, source) = in_force(&loaded, "flows.f.transport.min_rto");
    assert_eq!((value, source), ("1 s", "default: RFC 6298, section 2.4"));
}

fn rates(standard: Standard, data: u32, basic: u32) -> (Standard, TxVector, TxVector) {
    let rate = |kbps| standard.phy(false).vector(DataRate::from_kbps(kbps)).expect("a rate of the standard");
    (standard, rate(data), rate(basic))
}

#[test]
fn the_ns_2_profile_sets_what_ns_2_does() {
    let loaded = load(SMALL, &["radio.profile=ns-2", TCP, BULK]);
    let radio = &loaded.scenario.radio;
    assert_eq!((radio.standard, radio.data_rate, radio.basic_rate), rates(Standard::Dsss, 2_000, 2_000));
    assert_eq!((radio.mac.rts_threshold, loaded.scenario.mtu, radio.tx_power), (Some(0), None, 24.5));
    assert_eq!(propagation(radio), format!("{:?}", TwoRayGround::new(914e6, 1.5)));
    let reception = Reception {
        receive_threshold: Some(-64.37),
        carrier_sense_threshold: -78.07,
        capture: 10.0,
        noise_figure: 7.0,
        preamble_detection: None,
        interference_floor: -78.07,
        rules: Rules::PairwiseFirstCome,
    };
    assert_eq!(radio.reception, reception);
    let Transport::Tcp(tcp) = &loaded.scenario.flows[0].transport else { panic!("TCP") };
    assert_eq!((tcp.segment, tcp.window, tcp.initial_window), (1000, Some(20), Some(2)));
    assert_eq!((tcp.min_rto, tcp.delayed_ack), (Duration::from_millis(200), None));
    assert_eq!(in_force(&loaded, "radio.mtu"), ("none", "profile ns-2: no fragmentation (ns-2.35)"));
    for (profile, expected) in [("ns-2", true), ("standard", false)] {
        let profile = format!("radio.profile={profile}");
        let errors = r#"radio.errors={model="gilbert-elliott",good_ber=0,bad_ber=0.1,good_mean="1 s",bad_mean="1 s"}"#;
        let loaded = load(SMALL, &[&profile, errors, TCP, BULK]);
        let errors = format!("{:?}", loaded.scenario.radio.errors);
        assert!(errors.contains(&format!("headers: {expected}")), "{profile}: {errors}");
    }
}

#[test]
fn a_key_beside_the_profile_wins() {
    let loaded = load(STRING, &[STATIC, "radio.profile=ns-2"]);
    assert_eq!(loaded.scenario.radio.mac.rts_threshold, None);
    assert_eq!(loaded.scenario.radio.basic_rate, Standard::Dsss.phy(false).vectors()[0]);
    assert_eq!(in_force(&loaded, "radio.rts_threshold"), ("off", "scenario"));
    assert_eq!(in_force(&loaded, "radio.profile"), ("ns-2", "--set"));
    let loaded = load(SMALL, &["radio.profile=ns-2", "radio.standard=802.11a"]);
    let radio = &loaded.scenario.radio;
    assert_eq!((radio.standard, radio.data_rate, radio.basic_rate), rates(Standard::Ofdm, 54_000, 24_000));
}

/// The default of one key is no error, whatever others are.
#[test]
fn the_default_floor_is_not_above_carrier_sense() {
    for set in ["radio.noise_figure=60 dB", "radio.carrier_sense_threshold=-140 dBm"] {
        let reception = load(SMALL, &[set, "radio.reception=sinr"]).scenario.radio.reception;
        assert_eq!(reception.interference_floor, reception.carrier_sense_threshold, "{set}");
    }
}

#[test]
fn every_standard_and_rate_has_defaults_that_agree() {
    for standard in [Standard::Dsss, Standard::HrDsss, Standard::Ofdm, Standard::Erp] {
        for rate in standard.phy(false).vectors() {
            for profile in ["standard", "ns-2"] {
                let set = [
                    format!("radio.standard={standard}"),
                    format!("radio.data_rate={rate}"),
                    format!("radio.profile={profile}"),
                ];
                let loaded = load(SMALL, &set.each_ref().map(String::as_str));
                let radio = &loaded.scenario.radio;
                assert_eq!((radio.standard, radio.data_rate), (standard, *rate));
                assert!(radio.basic_rate.data_rate() <= rate.data_rate());
                let reception = &radio.reception;
                assert!(reception.interference_floor <= reception.carrier_sense_threshold);
            }
        }
    }
}

/// One that exceeds the data rate is as if it were not given, wherever either is.
#[test]
fn a_basic_rate_does_not_exceed_the_data_rate() {
    let source = "default: the highest mandatory rate up to the data rate (IEEE 802.11-2020, 10.6.6.5.2)";
    let instead = format!("24 Mb/s exceeds data_rate; {source}");
    let in_the_first_radio = |loaded: &Loaded| loaded.scenario.groups[0].radios[0].basic_rate.data_rate().as_kbps();
    let loaded = load(SMALL, &["radio.standard=802.11a", "radio.data_rate=9 Mb/s", "radio.basic_rate=24 Mb/s"]);
    assert_eq!((loaded.scenario.radio.basic_rate.data_rate().as_kbps(), in_the_first_radio(&loaded)), (6_000, 6_000));
    assert_eq!(in_force(&loaded, "radio.basic_rate"), ("6 Mb/s", instead.as_str()));
    let loaded = load(
        SMALL,
        &["radio.standard=802.11a", r#"nodes.a.radios=[{ data_rate = "9 Mb/s", basic_rate = "24 Mb/s" }]"#],
    );
    assert_eq!(in_the_first_radio(&loaded), 6_000);
    assert_eq!(in_force(&loaded, "nodes.a.radios.0.basic_rate"), ("6 Mb/s", instead.as_str()));
    let loaded = load(SMALL, &["radio.standard=802.11a", r#"nodes.a.radios=[{ data_rate = "9 Mb/s" }]"#]);
    assert_eq!(in_the_first_radio(&loaded), 6_000);
    assert_eq!(in_force(&loaded, "nodes.a.radios.0.basic_rate"), ("6 Mb/s", source));
    let set = ["radio.standard=802.11a", "radio.data_rate=9 Mb/s", r#"nodes.a.radios=[{ basic_rate = "24 Mb/s" }]"#];
    let loaded = load(SMALL, &set);
    assert_eq!(in_the_first_radio(&loaded), 6_000);
    assert_eq!(in_force(&loaded, "nodes.a.radios.0.basic_rate").1, "24 Mb/s exceeds data_rate; radio.basic_rate");
    // What protects must be understood by all.
    let protected = ["radio.standard=802.11g", "radio.protection=rts-cts", "radio.basic_rate=11 Mb/s"];
    let loaded = load(SMALL, &[&protected[..], &["radio.data_rate=9 Mb/s"]].concat());
    assert_eq!(loaded.scenario.radio.basic_rate.data_rate().as_kbps(), 2_000);
    let loaded = load(SMALL, &[&protected[..], &[r#"nodes.a.radios=[{ data_rate = "9 Mb/s" }]"#]].concat());
    assert_eq!((loaded.scenario.radio.basic_rate.data_rate().as_kbps(), in_the_first_radio(&loaded)), (11_000, 2_000));
}

/// Whatever decides what is received.
#[test]
fn the_rules_of_medium_access_are_those_of_the_profile() {
    for (profile, rules) in [("ns-2", AccessRules::Ns2), ("standard", AccessRules::Standard)] {
        for reception in ["threshold", "sinr"] {
            let set = [format!("radio.profile={profile}"), format!("radio.reception={reception}")];
            let loaded = load(SMALL, &set.each_ref().map(String::as_str));
            assert_eq!(loaded.scenario.radio.mac.rules, rules, "{profile}, {reception}");
            let (told, source) = in_force(&loaded, "radio.access_rules");
            assert_eq!(source, format!("profile {profile} (not a separate key)"));
            assert_eq!(told.contains("ns-2"), rules == AccessRules::Ns2);
        }
    }
}

#[test]
fn nobody_sends_an_rts_that_nobody_answers() {
    for set in [&["radio.profile=wavelan"][..], &["radio.profile=ns-2", "radio.standard=wavelan"]] {
        let loaded = load(SMALL, set);
        assert_eq!(loaded.scenario.radio.mac.rts_threshold, None);
        assert_eq!(in_force(&loaded, "radio.rts_threshold"), ("off", "default: wavelan has no RTS"));
    }
    assert_eq!(
        load(SMALL, &["radio.profile=wavelan", "radio.rts_threshold=off"]).scenario.radio.mac.rts_threshold,
        None
    );
}

#[test]
fn the_mtu_of_a_wire_is_that_of_ethernet_or_none_under_ns_2() {
    let of = |set: &[&str]| {
        let loaded = load(HOUSE, set);
        let (value, source) = in_force(&loaded, "links.0.mtu");
        (loaded.scenario.links[0].mtu, value.to_owned(), source.to_owned())
    };
    let source = "default: MTU of Ethernet (RFC 894; not a separate key)";
    assert_eq!(of(&["radio.profile=standard"]), (Some(1500), "1500 B".into(), source.into()));
    let source = "profile ns-2: no fragmentation (not a separate key)";
    assert_eq!(of(&["radio.profile=ns-2"]), (None, "none".into(), source.into()));
}

/// The carrier of the propagation may be another.
#[test]
fn what_is_not_given_of_channel_and_propagation_is_explained() {
    for (standard, channel) in
        [("802.11", "1"), ("802.11b", "1"), ("802.11a", "36"), ("802.11a-turbo", "42"), ("wavelan", "1")]
    {
        for profile in ["standard", "ns-2"] {
            let set = [format!("radio.standard={standard}"), format!("radio.profile={profile}")];
            let loaded = load(SMALL, &set.each_ref().map(String::as_str));
            assert_eq!(in_force(&loaded, "radio.channel").0, channel, "{standard}");
            assert_eq!(in_force(&loaded, "radio.propagation.shadowing"), ("0 dB", "default: none"));
            assert_eq!(in_force(&loaded, "radio.propagation.fading"), ("none", "default: none"));
        }
    }
}

#[test]
fn a_channel_gives_the_frequency() {
    for (standard, channel, frequency) in
        [("802.11", 6, 2.437e9), ("802.11b", 14, 2.484e9), ("802.11a", 36, 5.18e9), ("802.11a", 149, 5.745e9)]
    {
        let set = [format!("radio.standard={standard}"), format!("radio.channel={channel}")];
        let loaded = load(SMALL, &set.each_ref().map(String::as_str));
        assert_eq!(loaded.scenario.radio.propagation.frequency(), Some(frequency));
    }
    let own = r#"radio.propagation={ model = "free-space", frequency = "1 GHz" }"#;
    let loaded = load(SMALL, &["radio.channel=6", own]);
    assert_eq!(propagation(&loaded.scenario.radio), format!("{:?}", FreeSpace::new(1e9)));
}

#[test]
fn a_lower_receive_threshold_takes_carrier_sense_along() {
    let reception = load(SMALL, &["radio.receive_threshold=-95 dBm"]).scenario.radio.reception;
    assert_eq!((reception.receive_threshold, reception.carrier_sense_threshold), (Some(-95.0), -95.0));
    assert_eq!(reception.interference_floor, -125.0);
}

#[test]
fn a_range_makes_powers_moot() {
    let range = r#"radio.propagation={ model = "range", receive = "250 m", carrier_sense = "550 m" }"#;
    let loaded = load(STRING, &[STATIC, range, "radio.interference_floor=-20 dBm"]);
    assert_eq!(in_force(&loaded, "radio.receive_threshold").1, "scenario; not used with propagation range");
    assert_eq!(in_force(&loaded, "radio.propagation.receive"), ("250 m", "--set"));
}

#[test]
fn an_override_of_the_kind_drops_what_only_the_former_kind_has() {
    let loaded = load(STRING, &[STATIC, "radio.propagation.model=free-space"]);
    assert_eq!(propagation(&loaded.scenario.radio), format!("{:?}", FreeSpace::new(914e6)));
    let own = "radio.propagation.antenna_height=2 m";
    assert_eq!(
        refused(STRING, &[STATIC, "radio.propagation.model=free-space", own]),
        r#"--set: radio.propagation.antenna_height = "2 m": unknown key; expected one of decorrelation_distance, doppler, fading, frequency, k, m, model, shadowing, shadowing_per"#
    );
    let whole = r#"radio.propagation={ model = "free-space", antenna_height = "2 m" }"#;
    assert_eq!(
        refused(STRING, &[STATIC, whole]),
        r#"--set: radio.propagation.antenna_height = "2 m": unknown key; expected one of decorrelation_distance, doppler, fading, frequency, k, m, model, shadowing, shadowing_per"#
    );
    let loaded = load(STRING, &[STATIC, "flows.bulk.transport.protocol=udp"]);
    assert_eq!(loaded.scenario.flows[0].transport, Transport::Udp);
}

#[test]
fn what_a_change_of_kind_leaves_behind_is_left_out() {
    let tcp = r#"flows.f.transport={ protocol = "tcp", variant = "newreno", segment = "900 B", window = 8 }"#;
    let loaded = load(SMALL, &[tcp, "flows.f.transport.protocol=tfrc"]);
    // What both kinds have and take stays.
    assert_eq!(in_force(&loaded, "flows.f.transport.segment").0, "900 B");
    assert_eq!(in_force(&loaded, "flows.f.transport.variant"), ("rfc5348", "default: RFC 5348"));
    let aodv = r#"nodes.a.routing={ protocol = "aodv", profile = "draft-5", broadcast_jitter = "7 ms" }"#;
    let loaded = load(SMALL, &[aodv, "nodes.a.routing.protocol=dsr"]);
    assert_eq!(in_force(&loaded, "nodes.a.routing.broadcast_jitter").0, "7 ms");
    assert_eq!(in_force(&loaded, "nodes.a.routing.profile").0, "rfc-4728");
    // The digest is that of a scenario without them.
    let plain = r#"flows.f.transport={ protocol = "tfrc", segment = "900 B" }"#;
    let digest = |overrides: &[&str]| load(SMALL, overrides).scenario.sha256;
    assert_eq!(digest(&[tcp, "flows.f.transport.protocol=tfrc"]), digest(&[plain]));
}

#[test]
fn overrides_reach_everything() {
    let set =
        ["flows.bulk.transport.window=8", "nodes.0.count=3", "flows.0.to=n2", "radio.retry_limit.short=9", STATIC];
    let loaded = load(STRING, &set);
    let Transport::Tcp(tcp) = &loaded.scenario.flows[0].transport else { panic!("TCP") };
    assert_eq!(tcp.window, Some(8));
    assert_eq!(loaded.scenario.flows[0].to, NodeId(2));
    assert_eq!(loaded.scenario.radio.mac.short_retry_limit, 9);
    assert_eq!(in_force(&loaded, "flows.bulk.transport.window"), ("8", "--set"));
    assert_eq!(in_force(&loaded, "flows.bulk.transport.segment"), ("1000 B", "scenario"));
    // The last one wins; words that look like numbers stay words; seeds fill 64 bits.
    assert_eq!(load(SMALL, &["seed=1", "seed=18446744073709551615"]).scenario.seed, u64::MAX);
    assert_eq!(load(SMALL, &["radio.standard=802.11"]).scenario.radio.standard, Standard::Dsss);
    assert_eq!(load(SMALL, &["name=5"]).scenario.name, "5");
    assert_eq!(load(SMALL, &["radio.errors.model=none"]).scenario.seed, 1);
}

#[test]
fn toml_numbers_are_read_in_every_form() {
    for (text, seed) in [("1_000", 1000), ("0x10", 16), ("0o17", 15), ("0b11", 3), ("+7", 7)] {
        assert_eq!(load(&format!("seed = {text}\n{SMALL}"), &[]).scenario.seed, seed, "{text}");
    }
    let second = Duration::from_secs(1);
    for text in ["1", "1.0", "1e0", "\"1 s\"", "\"1000ms\""] {
        assert_eq!(load(&SMALL.replace("\"10 s\"", text), &[]).scenario.duration, second, "{text}");
    }
}

#[test]
fn groups_number_their_nodes_and_single_nodes_do_not() {
    let scenario = load(SMALL, &["nodes.b.count=1", "flows.f.to=b0"]).scenario;
    assert_eq!(scenario.groups[0].node_names, ["a"]);
    assert_eq!(scenario.groups[1].node_names, ["b0"]);
    assert_eq!(scenario.name, "test", "named after the file");
}

#[test]
fn every_shape_is_placed() {
    for (shape, placement) in [
        (r#"{ shape = "line", spacing = 5 }"#, Placement::Line { spacing: 5.0 }),
        (r#"{ shape = "grid", columns = 2, spacing = "5 m" }"#, Placement::Grid { columns: 2, spacing: 5.0 }),
        (r#"{ shape = "circle", radius = "5 m" }"#, Placement::Circle { radius: 5.0 }),
        (r#"{ shape = "points", at = [[-1, "2 m"]] }"#, Placement::Points(vec![[-1.0, 2.0]])),
        (r#"{ shape = "uniform", width = 1, height = "1 km" }"#, Placement::Uniform { width: 1.0, height: 1000.0 }),
    ] {
        let scenario = load(SMALL, &[&format!("nodes.a.placement={shape}")]).scenario;
        assert_eq!(scenario.groups[0].placement, placement);
    }
}

#[test]
fn packets_follow_the_mtu_and_the_segment() {
    let packet = |overrides: &[&str]| specimen(&load(SMALL, overrides)).largest_write();
    assert_eq!(packet(&[BULK]), 1472);
    assert_eq!(packet(&[BULK, "radio.mtu=1000 B"]), 972);
    assert_eq!(packet(&[BULK, "radio.mtu=none"]), 1472);
    assert_eq!(packet(&[BULK, TCP]), 1460);
    assert_eq!(packet(&[BULK, TCP, "flows.f.transport.segment=500 B"]), 500);
    assert_eq!(packet(&["flows.f.application.packet=512 B"]), 512);
}

#[test]
fn two_of_rate_packet_and_interval_make_audio() {
    for (given, rate, packet) in [
        ("", 64_000.0, 160),
        (r#", rate = "13.2 kb/s""#, 13_200.0, 33),
        (r#", rate = "13 kb/s""#, 13_200.0, 33),
        (r#", rate = "8 kb/s", interval = "30 ms""#, 8_000.0, 30),
        (r#", interval = "10 ms""#, 64_000.0, 80),
        (r#", packet = "600 B""#, 64_000.0, 600),
        (r#", packet = "20 B", rate = "8 kb/s""#, 8_000.0, 20),
        (r#", packet = "20 B", interval = "20 ms""#, 8_000.0, 20),
        (r#", packet = "20 B", interval = "20 ms", rate = "8 kb/s""#, 8_000.0, 20),
    ] {
        let set = format!(r#"flows.f.application={{ kind = "audio"{given} }}"#);
        let mut audio = specimen(&load(SMALL, &[&set]));
        assert_eq!((audio.largest_write(), audio.expires()), (packet, None), "{given}");
        audio.handle_written(Instant::START);
        let interval = audio.poll_timeout().expect("it has no end").as_secs_f64();
        assert!((f64::from(packet) * 8.0 / interval / rate - 1.0).abs() < 1e-6, "{given}: {interval}");
    }
    let loaded = load(SMALL, &[r#"flows.f.application={ kind = "audio", packet = "40 B", deadline = "0.1 s" }"#]);
    assert_eq!(in_force(&loaded, "flows.f.application.interval"), ("5 ms", "default: packet / rate"));
    assert_eq!(in_force(&loaded, "flows.f.application.rate"), ("64 kb/s", "default: PCMU (RFC 3551, section 4.5.14)"));
    // What is in force is what whole bytes make of it.
    let rounded = load(SMALL, &[r#"flows.f.application={ kind = "audio", rate = "13 kb/s" }"#]);
    assert_eq!(in_force(&rounded, "flows.f.application.rate"), ("13200 b/s", "13 kb/s in whole bytes each 20 ms"));
    for given in [r#", packet = "65507 B""#, ""] {
        let set = format!(r#"flows.f.application={{ kind = "audio", rate = "500 kb/s", interval = "1000 s"{given} }}"#);
        let problem = refused(SMALL, &[&set]);
        assert!(problem.contains("flows.f.application.rate") && problem.contains("65507 B each 1000 s"), "{problem}");
    }
    assert_eq!(specimen(&loaded).expires(), Some(Instant::START + Duration::from_millis(100)));
}

#[test]
fn games_files_and_players_are_read() {
    let application = |set: &str| application(&load(SMALL, &[set]).scenario.flows[0]);
    let game = |model, direction| format!("{:?}", GameSource::new(Instant::START, model, direction, random()));
    let plain = game(GameModel::Faerber, GameDirection::ToClient);
    assert_eq!(application("flows.f.application={ kind = \"game\" }"), plain);
    for (name, model) in [("faerber", GameModel::Faerber), ("ngmn", GameModel::Ngmn)] {
        for (who, direction) in [("server", GameDirection::ToClient), ("client", GameDirection::ToServer)] {
            let set = format!(r#"flows.f.application={{ kind = "game", model = "{name}", direction = "{who}" }}"#);
            assert_eq!(application(&set), game(model, direction));
        }
    }
    let file = r#"flows.f.application={ kind = "file", bytes = "3 MB", think = "2 s" }"#;
    let expected = FileSource::new(Instant::START, 3_000_000, 1472, Some(Duration::from_secs(2)));
    assert_eq!(application(file), format!("{expected:?}"));
    let player = |set: &[&str]| load(SMALL, set).scenario.flows[0].player;
    let second = Duration::from_secs(1);
    assert_eq!(player(&[]), None);
    assert_eq!(
        player(&["flows.f.player={}"]),
        Some(Player::Waiting(PlayerConfig { start_up: second, resume: second }))
    );
    let config = Player::Waiting(PlayerConfig { start_up: second * 5, resume: second * 2 });
    assert_eq!(player(&[r#"flows.f.player={ start_up_delay = "5 s", resume_delay = "2 s" }"#]), Some(config));
    let ms = Duration::from_millis;
    let live = |set: &str| player(&[&format!("flows.f.player={{ jitter_buffer = {{ {set} }} }}")]);
    let fixed = |delay| Some(Player::Live(JitterBufferConfig::Fixed { delay: ms(delay) }));
    assert_eq!([live(r#"kind = "fixed""#), live(r#"kind = "fixed", delay = "40 ms""#)], [fixed(100), fixed(40)]);
    let adaptive =
        |min, max| Some(Player::Live(JitterBufferConfig::Adaptive { min_delay: ms(min), max_delay: ms(max) }));
    assert_eq!(live(r#"kind = "adaptive""#), adaptive(0, 2_000));
    assert_eq!(live(r#"kind = "adaptive", min_delay = "20 ms", max_delay = "1 s""#), adaptive(20, 1_000));
}

#[test]
fn forward_error_correction_is_read() {
    use hopcast_protocols::fec::Config;
    let fec = |set: &[&str]| load(SMALL, set).scenario.flows[0].fec.clone();
    assert_eq!(fec(&[]), None);
    assert_eq!(fec(&["flows.f.fec={}"]), Some(Config::default()));
    let block_timeout = Duration::from_millis(50);
    let config = Config { source: 8, repair: 2, block_timeout, ..Config::default() };
    assert_eq!(fec(&[r#"flows.f.fec={ source = 8, repair = 2, block_timeout = "50 ms" }"#]), Some(config));
    // What it adds has room in the default packet.
    let packet = |set: &[&str]| specimen(&load(SMALL, set)).largest_write();
    assert_eq!([packet(&[BULK]), packet(&[BULK, "flows.f.fec={}"])], [1472, 1463]);
    let tfrc = r#"flows.f.transport={ protocol = "tfrc" }"#;
    assert_eq!([packet(&[BULK, tfrc]), packet(&[BULK, tfrc, "flows.f.fec={}"])], [1448, 1439]);
    let loaded = load(SMALL, &[BULK, "flows.f.fec={}"]);
    let told = "default: radio.mtu less 28 B of headers, and 9 B of FEC";
    assert_eq!(in_force(&loaded, "flows.f.application.packet"), ("1463 B", told));
}

#[test]
fn queues_are_read() {
    let discipline = |set: &[&str]| load(SMALL, set).scenario.radio.mac.queue_discipline;
    assert_eq!(discipline(&[]), Discipline::DropTail);
    assert_eq!(discipline(&["radio.profile=ns-2"]), Discipline::Priority);
    assert_eq!(discipline(&["radio.profile=ns-2", "radio.queue.discipline=drop-tail"]), Discipline::DropTail);
    assert_eq!(discipline(&["radio.queue.discipline=codel"]), Discipline::CoDel(CoDelConfig::default()));
    assert_eq!(discipline(&["radio.queue.discipline=fq-codel"]), Discipline::FqCoDel(FqCoDelConfig::default()));
    let set = r#"radio.queue={ discipline = "fq-codel", target = "10 ms", interval = "200 ms", quantum = "300 B" }"#;
    let codel =
        CoDelConfig { target: Duration::from_millis(10), interval: Duration::from_millis(200), mtu: 1000, ecn: false };
    let expected = FqCoDelConfig { codel, quantum: 300, ..FqCoDelConfig::default() };
    assert_eq!(discipline(&[set, "radio.mtu=1000 B"]), Discipline::FqCoDel(expected));
    let marking = CoDelConfig { ecn: true, ..CoDelConfig::default() };
    assert_eq!(discipline(&[r#"radio.queue={ discipline = "codel", ecn = true }"#]), Discipline::CoDel(marking));
    let step = r#"radio.queue={ ecn = true, target = "1 ms" }"#;
    assert_eq!(discipline(&[step]), Discipline::Step(Duration::from_millis(1)));
    let dual = r#"radio.queue.discipline="dualpi2""#;
    assert_eq!(discipline(&[dual]), Discipline::DualPi2(DualPi2Config::default()));
    let expected = DualPi2Config { target: Duration::from_millis(1) };
    assert_eq!(discipline(&[dual, "radio.queue.target=1 ms"]), Discipline::DualPi2(expected));
    let expected = PieConfig { target: Duration::from_millis(20), ecn: true, ..PieConfig::default() };
    let pie = r#"radio.queue={ discipline = "pie", target = "20 ms", ecn = true }"#;
    assert_eq!(discipline(&[pie]), Discipline::Pie(expected));
    assert_eq!(discipline(&[r#"radio.queue.discipline="pie""#]), Discipline::Pie(PieConfig::default()));
    let fair = r#"radio.queue.discipline="mac80211""#;
    let expected = Mac80211Config::default();
    assert_eq!(discipline(&[fair]), Discipline::Mac80211(expected.without_aggregation()));
    assert_eq!(discipline(&[fair, "radio.standard=802.11n"]), Discipline::Mac80211(expected));
    let expected = Mac80211Config { quantum: 1514, aggregate_packets: 128, ..expected };
    let set = [fair, "radio.standard=802.11ax", "radio.queue.quantum=1514 B"];
    assert_eq!(discipline(&set), Discipline::Mac80211(expected));
    let expected = Mac80211Config { airtime_fairness: false, airtime_limit: false, ..Mac80211Config::default() };
    let off = r#"radio.queue={ discipline = "mac80211", airtime_fairness = false, airtime_limit = false }"#;
    assert_eq!(discipline(&[off, "radio.standard=802.11n"]), Discipline::Mac80211(expected));
    let places = |set: &[&str]| load(SMALL, set).scenario.radio.mac.queue_packets;
    assert_eq!([places(&[fair]), places(&[fair, "radio.queue.packets=99"])], [8192, 99]);
    let driver = |set: &[&str]| load(SMALL, set).scenario.radio.mac.driver_packets;
    assert_eq!([driver(&[]), driver(&[fair]), driver(&["radio.queue.driver_packets=123"])], [0, 0, 123]);
}

#[test]
fn adus_are_read() {
    let adu = r#"flows.f.application={ kind = "adu", size = "16 KiB", wait = "1 ms", bytes = "1 GB" }"#;
    let expected = AduSource::new(Instant::START, 16_384, Duration::from_millis(1), Some(1_000_000_000));
    assert_eq!(application(&load(SMALL, &[adu]).scenario.flows[0]), format!("{expected:?}"));
}

#[test]
fn traces_are_looked_for_beside_the_scenario_then_bundled_then_in_the_directories() {
    let root = tempfile::tempdir().expect("there is room");
    let (beside, library) = (root.path().join("beside"), root.path().join("library"));
    fs::create_dir_all(&beside).expect("writable");
    fs::create_dir_all(&library).expect("writable");
    let mut source = source(SMALL);
    source.directory = beside.clone();
    source.trace_dirs = vec![root.path().join("missing"), library.clone()];
    let first_frame = |name: &str| {
        let set = format!(r#"flows.f.application={{ kind = "video-trace", file = "{name}" }}"#);
        Scenario::parse(&source, &[set])
            .map(|loaded| specimen(&loaded).poll_write(Instant::START))
            .map_err(|errors| errors.to_string())
    };
    let trace = |size: u32| format!("1 I 0 {size}\n2 P 40 10\n");
    let bundled = first_frame("big-buck-bunny").expect("bundled");
    fs::write(library.join("big-buck-bunny.dat"), trace(7)).expect("writable");
    assert_eq!(first_frame("big-buck-bunny"), Ok(bundled));
    fs::write(beside.join("big-buck-bunny"), trace(8)).expect("writable");
    assert_eq!(first_frame("big-buck-bunny"), Ok(Some(8)));
    fs::write(library.join("film.dat"), trace(9)).expect("writable");
    assert_eq!((first_frame("film"), first_frame("film.dat")), (Ok(Some(9)), Ok(Some(9))));
    let missing = first_frame("other").expect_err("there is none");
    for place in [beside.join("other"), root.path().join("missing"), library.clone()] {
        assert!(missing.contains(&place.display().to_string()), "{missing}");
    }
    fs::write(beside.join("cut"), "1 I 0 100\n2 P 4").expect("writable");
    let cut = first_frame("cut").expect_err("it is cut short");
    assert!(cut.contains("flows.f.application.file = \"cut\"") && cut.contains("cut") && cut.contains('2'), "{cut}");
}

#[test]
fn address_resolution_is_asked_for_and_follows_its_profile() {
    use hopcast_protocols::arp::Config;
    let arp = |overrides: &[&str]| load(SMALL, overrides).scenario.groups[0].arp;
    assert_eq!(arp(&[]), None);
    assert_eq!(arp(&["radio.profile=ns-2"]), None, "results without ARP stay");
    assert_eq!(arp(&["nodes.a.arp={}"]), Some(Config::RFC_1122));
    assert_eq!(arp(&["nodes.a.arp={}", "radio.profile=ns-2"]), Some(Config::NS_2));
    let own = r#"nodes.a.arp={ profile = "ns-2", timeout = "5 s", request_interval = "2 s", requests = 7, queue = 9 }"#;
    let seconds = |seconds| Some(Duration::from_secs(seconds));
    let expected =
        Config { timeout: seconds(5), request_interval: seconds(2), requests: 7, queue_packets: 9, ..Config::NS_2 };
    assert_eq!(arp(&[own]), Some(expected));
    assert_eq!(arp(&[r#"nodes.a.arp.timeout=off"#]), Some(Config { timeout: None, ..Config::RFC_1122 }));
}

#[test]
fn the_queue_before_a_route_is_that_of_arp_where_aodv_is_in_it() {
    let queue = |overrides: &[&str]| load(SMALL, overrides).scenario.groups[0].route_queue;
    assert_eq!(queue(&["nodes.a.routing.protocol=aodv"]), 64);
    let in_arp = r#"nodes.a.routing={ protocol = "aodv", profile = "draft-5-in-arp" }"#;
    assert_eq!(queue(&[in_arp]), 3);
    assert_eq!(queue(&[in_arp, "nodes.a.route_queue=20"]), 20);
}

#[test]
fn no_value_is_explained_twice_and_all_have_a_source() {
    for overrides in [vec![STATIC], vec![STATIC, "radio.profile=ns-2"]] {
        let loaded = load(STRING, &overrides);
        let mut keys: Vec<&str> = loaded.explain().iter().map(|row| row.key.as_str()).collect();
        keys.sort_unstable();
        let all = keys.len();
        keys.dedup();
        assert_eq!(keys.len(), all);
        assert!(loaded.explain().iter().all(|row| !row.source.is_empty() && !row.value.is_empty()));
    }
}
