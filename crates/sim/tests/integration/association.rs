//! Association over the air in whole scenarios.

use std::fs;
use std::rc::Rc;

use hopcast_protocols::time::{Duration, Instant};
use hopcast_radio::mac::{Frame, FrameKind, StationId};
use hopcast_sim::host::Sdu;
use hopcast_sim::id::NodeId;
use hopcast_sim::metrics::DropCause;
use hopcast_sim::run::Simulation;
use hopcast_sim::scenario::{Scenario, Source};
use hopcast_wire::ieee80211::management::{BlockAckAction, Repr, Status};
use proptest::prelude::*;

use crate::run_with_checks;
use crate::scenarios::{Folder, run_logged as run, scenario};

/// Two access points 200 m apart, wired to a server; each reaches 120 m. `mobility` and `place` are those of a station, to which
/// the server sends a packet every 10 ms.
fn corridor(radio: &str, station: &str, duration: &str) -> String {
    format!(
        r#"
duration = "{duration}"
[radio]
standard = "802.11g"
propagation = {{ model = "range", receive = "120 m", carrier_sense = "240 m" }}
{radio}
[[nodes]]
name = "ap"
count = 2
role = "access-point"
placement = {{ shape = "line", spacing = "200 m" }}
[[nodes]]
name = "server"
role = "wired"
[[nodes]]
name = "sta"
role = "station"
{station}
[[links]]
between = ["server", "ap0"]
rate = "100 Mb/s"
[[links]]
between = ["server", "ap1"]
rate = "100 Mb/s"
[[flows]]
name = "down"
from = "server"
to = "sta"
transport = {{ protocol = "udp" }}
application = {{ kind = "cbr", rate = "80 kb/s", packet = "100 B" }}
"#
    )
}

const STANDING: &str = r#"placement = { shape = "points", at = [["10 m", "0 m"]] }"#;

fn body(frame: &Frame<Rc<Sdu>>) -> Option<Repr> {
    match frame.payload.as_deref()? {
        Sdu::Management(management) => Some(management.body),
        _ => None,
    }
}

/// 11.1.3.2: on an idle medium each beacon leaves at its target time, 102.4 ms after the one before, at the basic rate.
#[test]
fn beacons_leave_every_hundred_time_units_and_take_their_share_of_the_air() {
    let alone = r#"
        duration = "10 s"
        [radio]
        standard = "802.11b"
        basic_rate = "1 Mb/s"
        association = "passive"
        [[nodes]]
        name = "ap"
        role = "access-point"
        placement = { shape = "line", spacing = "1 m" }
    "#;
    let (simulation, frames) = run(&scenario(alone));
    let beacons: Vec<_> = frames.iter().filter(|(_, _, frame)| matches!(body(frame), Some(Repr::Beacon(_)))).collect();
    assert_eq!(beacons.len(), frames.len(), "an access point alone sends nothing else");
    let interval = Duration::from_micros(102_400);
    let first = beacons[0].0;
    assert!(first < Instant::START + interval, "it was switched on during the first interval");
    for ((start, _, frame), nth) in beacons.iter().zip(0..) {
        assert_eq!(*start, first + interval * nth);
        assert_eq!((frame.receiver, frame.vector.data_rate().as_kbps(), frame.duration), (None, 1_000, Duration::ZERO));
    }
    // Header 24, fixed fields 12, SSID 2 + 7, rates 2 + 4, channel 2 + 1, TIM 2 + 4, FCS 4: 64 octets behind 192 µs.
    let frame = &beacons[0].2;
    assert_eq!((frame.octets, frame.airtime), (64, Duration::from_micros(192 + 8 * 64)));
    let counts = simulation.associations(NodeId(0));
    assert_eq!((counts.beacons, counts.associations), (beacons.len() as u64, 0));
}

/// Authentication, association, and data from then on; without association packets are dropped.
#[test]
fn a_station_joins_before_it_gets_data() {
    for kind in ["passive", "active"] {
        let radio = format!("association = \"{kind}\"");
        let (simulation, frames) = run(&scenario(&corridor(&radio, STANDING, "3 s")));
        let said: Vec<Repr> = frames.iter().filter_map(|(_, _, frame)| body(frame)).collect();
        let probes = said.iter().filter(|body| matches!(body, Repr::ProbeRequest(_))).count();
        assert_eq!(probes > 0, kind == "active");
        let answered = |body: &&Repr| matches!(body, Repr::AssociationResponse { status: Status::Success, .. });
        assert_eq!(said.iter().filter(answered).count(), 1, "{kind}");
        let first = frames.iter().find(|(_, _, frame)| frame.kind == FrameKind::Data).expect("data come").0;
        assert!(first < Instant::START + Duration::from_millis(700), "two intervals and a little: {first}");
        let flow = simulation.flows().iter().next().unwrap().summary(simulation.end());
        // What was sent before the station had an access point.
        let lost = simulation.counters()[2][DropCause::NotAssociated];
        assert_eq!(flow.lost_packets, lost, "{kind}");
        assert!(lost > 0 && flow.received_packets + lost + 1 >= flow.sent_packets, "{kind}: {flow:?}");
        assert_eq!(simulation.associations(NodeId(3)).associations, 1);
        assert_eq!(simulation.associations(NodeId(0)).associations, 1);
        assert_eq!(simulation.associations(NodeId(1)).associations, 0);
    }
}

/// From 10 m to 190 m at 20 m/s: the first access point is lost at 120 m, after 5.5 s.
fn walk(folder: &Folder, radio: &str) -> Scenario {
    fs::write(folder.path().join("walk.movements"), "0 10 0 9 190 0\n").unwrap();
    let text = corridor(radio, r#"mobility = { model = "trace", file = "walk.movements" }"#, "12 s");
    let source = Source { text, name: "walk.toml".into(), directory: folder.path().to_owned(), ..Source::default() };
    Scenario::parse(&source, &[]).unwrap_or_else(|errors| panic!("{errors}")).scenario
}

/// A source that fills its queue goes on over the wire to the next access point, where it has the same queue.
#[test]
fn a_blocking_source_goes_the_way_of_a_station_that_walks() {
    let folder = Folder::new();
    let mut scenario = walk(&folder, "association = \"active\"");
    let bulk = r#"application = { kind = "bulk" }"#;
    let text = corridor("", STANDING, "12 s")
        .replace(r#"application = { kind = "cbr", rate = "80 kb/s", packet = "100 B" }"#, bulk);
    scenario.flows = self::scenario(&text).flows;
    let mut simulation = Simulation::new(&scenario, 1).expect("it can be set up");
    simulation.run_until(simulation.end());
    simulation.check().unwrap();
    let flow = simulation.flows().iter().next().unwrap().summary(simulation.end());
    // 11 s of the wire, 100 Mb/s, and what a queue holds beside it.
    assert!((90_000..91_667 + 200).contains(&flow.sent_packets), "{flow:?}");
    assert!(flow.last_arrival_s > Some(11.9), "{flow:?}");
}

/// The gap is that of seven beacons missed, of the scan, and of the exchange with the next access point.
#[test]
fn a_station_that_walks_away_comes_back_at_the_next_access_point() {
    let folder = Folder::new();
    for (kind, scan) in [("active", 30_303), ("passive", 112_640)] {
        let (simulation, frames) = run(&walk(&folder, &format!("association = \"{kind}\"")));
        let again = |body: Repr| match body {
            Repr::AssociationRequest { current_access_point, .. } => current_access_point,
            _ => None,
        };
        let moved = frames.iter().find(|(_, _, frame)| body(frame).and_then(again).is_some());
        let (moved, by, frame) = moved.expect("it asks for reassociation");
        assert_eq!((*by, frame.receiver), (StationId(2), Some(StationId(1))), "{kind}");
        let is_beacon = |frame: &Frame<Rc<Sdu>>| matches!(body(frame), Some(Repr::Beacon(_)));
        // At 120 m, after 5.5 s, the station hears the last beacon but the one after it.
        let out = Instant::START + Duration::from_millis(5_500);
        let last =
            frames.iter().rfind(|(at, by, frame)| *by == StationId(0) && *at < out && is_beacon(frame)).unwrap().0;
        let gap = Duration::from_micros(7 * 102_400 + scan);
        let asked = moved.saturating_since(last);
        assert!(asked > gap && asked < gap + Duration::from_millis(10), "{kind}: {} µs", asked.as_nanos() / 1_000);
        let to_station = |from: u32| {
            let data =
                frames.iter().filter(move |(_, by, frame)| *by == StationId(from) && frame.kind == FrameKind::Data);
            data.filter(|(_, _, frame)| frame.receiver == Some(StationId(2)))
        };
        let first = to_station(1).next().expect("data go on").0;
        assert!(
            first > *moved && first < *moved + Duration::from_millis(15),
            "{kind}: the next packet takes the new way"
        );
        assert!(to_station(0).next_back().unwrap().0 < first + Duration::from_millis(103), "{kind}");
        assert_eq!(simulation.associations(NodeId(3)).associations, 2, "{kind}");
        let flow = simulation.flows().iter().next().unwrap().summary(simulation.end());
        let at_walk = flow.lost_packets - simulation.counters()[2][DropCause::NotAssociated];
        // At a hundred packets a second, until the distribution system knows: about 0.77 s and 0.85 s.
        assert!((60..=105).contains(&at_walk), "{kind}: {at_walk} lost in the gap");
    }
}

/// A station walks to the next access point and back. Agreements end with an association: each time the access point asks for another
/// one, with the number of the packet behind that in hand, though its agreement with the same station never ended over the air.
#[test]
fn a_station_that_comes_back_has_another_agreement() {
    let folder = Folder::new();
    fs::write(folder.path().join("walk.movements"), "0 10 0 9 190 0 18 10 0\n").unwrap();
    let radio = r#"association = "active"
        aggregation = { agreements = "negotiated" }"#;
    let text = corridor(radio, r#"mobility = { model = "trace", file = "walk.movements" }"#, "20 s")
        .replace("802.11g", "802.11n");
    let source = Source { text, name: "walk.toml".into(), directory: folder.path().to_owned(), ..Source::default() };
    let scenario = Scenario::parse(&source, &[]).unwrap_or_else(|errors| panic!("{errors}")).scenario;
    let (simulation, frames) = run(&scenario);
    let actions = frames.iter().filter_map(|(at, by, frame)| match body(frame)? {
        Repr::BlockAck(action) => Some((*at, by.0, action)),
        _ => None,
    });
    let actions: Vec<_> = actions.collect();
    let requests: Vec<_> = actions
        .iter()
        .filter_map(|(at, by, action)| match action {
            BlockAckAction::AddRequest { dialog_token, start, .. } => Some((*at, *by, *dialog_token, *start)),
            _ => None,
        })
        .collect();
    let by: Vec<(u32, u8)> = requests.iter().map(|&(_, by, dialog_token, _)| (by, dialog_token)).collect();
    assert_eq!(by, [(0, 1), (1, 1), (0, 2)], "{actions:?}");
    assert!(!actions.iter().any(|(.., action)| matches!(action, BlockAckAction::Delete { .. })), "{actions:?}");
    let accepted = actions.iter().filter(|(_, by, action)| {
        *by == 2 && matches!(action, BlockAckAction::AddResponse { status: Status::Success, .. })
    });
    assert_eq!(accepted.count(), 3);
    // Ten packets in each tenth of a second, from the first packet on: the last number is that of a second walk.
    assert_eq!((requests[0].3, requests[1].3), (1, 1));
    assert!(requests[2].3 > 300, "the numbers go on: {requests:?}");
    let sent: u64 = simulation.stations().iter().map(|station| station.counters().management_sent).sum();
    let on_air = frames.iter().filter(|(_, _, frame)| frame.kind == FrameKind::Management).count();
    assert_eq!(sent, on_air as u64);
    let flow = simulation.flows().iter().next().unwrap().summary(simulation.end());
    assert!(flow.last_arrival_s > Some(19.9), "{flow:?}");
}

/// Beacons go before the packets of a TXOP that never ends of itself.
#[test]
fn voice_without_end_leaves_room_for_beacons() {
    let text = r#"
        duration = "6 s"
        radio = { standard = "802.11a", edca = "2012", association = "passive" }
        nodes = [
            { name = "ap", role = "access-point", placement = { shape = "points", at = [[0, 0]] } },
            { name = "sta", role = "station", placement = { shape = "points", at = [[5, 0]] } },
        ]
        [[flows]]
        name = "voice"
        from = "ap"
        to = "sta"
        start = "1 s"
        transport = { protocol = "udp" }
        priority = "voice"
        application = { kind = "cbr", rate = "40 Mb/s", packet = "1000 B" }
    "#;
    let (simulation, _) = run(&scenario(text));
    assert_eq!(simulation.associations(NodeId(1)).associations, 1);
    let beacons = simulation.associations(NodeId(0)).beacons;
    assert!((57..=59).contains(&beacons), "{beacons} of 58");
}

/// 10.27: an access point with a station of 802.11b makes its network protect OFDM frames, in long slots.
#[test]
fn protection_begins_when_a_station_of_80211b_joins() {
    let text = r#"
        duration = "4 s"
        [radio]
        standard = "802.11g"
        basic_rate = "2 Mb/s"
        association = "active"
        [[nodes]]
        name = "ap"
        role = "access-point"
        placement = { shape = "line", spacing = "1 m" }
        [[nodes]]
        name = "new"
        role = "station"
        placement = { shape = "points", at = [["5 m", "0 m"]] }
        [[nodes]]
        name = "old"
        role = "station"
        RATE
        placement = { shape = "points", at = [["0 m", "5 m"]] }
        [[flows]]
        name = "up"
        from = "new"
        to = "ap"
        start = "2 s"
        stop = "3.9 s"
        transport = { protocol = "udp" }
        application = { kind = "cbr", rate = "800 kb/s", packet = "1000 B" }
    "#;
    for (rate, is_old) in [("", false), (r#"radios = [{ data_rate = "11 Mb/s" }]"#, true)] {
        let (simulation, frames) = run(&scenario(&text.replace("RATE", rate)));
        assert!((1..3).all(|station| simulation.associations(NodeId(station)).associations == 1), "both join");
        let to_self = |(_, by, frame): &&(Instant, StationId, Frame<Rc<Sdu>>)| {
            frame.kind == FrameKind::Cts && *by == StationId(1) && frame.receiver == Some(*by)
        };
        let data = frames.iter().filter(|(_, by, frame)| *by == StationId(1) && frame.kind == FrameKind::Data).count();
        assert!(data >= 185, "{data}");
        assert_eq!(frames.iter().filter(to_self).count(), if is_old { data } else { 0 });
        let mut beacons = frames.iter().filter_map(|(_, _, frame)| body(frame)).filter_map(|body| match body {
            Repr::Beacon(bss) => Some(bss),
            _ => None,
        });
        let erp = beacons.next_back().unwrap().elements.erp.unwrap();
        assert_eq!((erp.use_protection, erp.non_erp_present), (is_old, is_old));
    }
}

/// To name a radio's data rate takes no basic rate of the network away: the access point still has stations of 802.11b.
#[test]
fn a_data_rate_of_its_own_leaves_the_basic_rate_as_it_is() {
    let text = r#"
        duration = "4 s"
        radio = { standard = "802.11g", association = "active", basic_rate = "2 Mb/s" }
        [[nodes]]
        name = "ap"
        role = "access-point"
        radios = [{ data_rate = "54 Mb/s" }]
        placement = { shape = "points", at = [["0 m", "0 m"]] }
        [[nodes]]
        name = "old"
        role = "station"
        radios = [{ data_rate = "11 Mb/s" }]
        placement = { shape = "points", at = [["5 m", "0 m"]] }
        [[flows]]
        name = "up"
        from = "old"
        to = "ap"
        start = "2 s"
        transport = { protocol = "udp" }
        application = { kind = "cbr", rate = "800 kb/s", packet = "1000 B" }
    "#;
    let (simulation, _) = run(&scenario(text));
    assert_eq!(simulation.associations(NodeId(1)).associations, 1);
}

#[test]
fn what_is_not_for_the_air_is_refused() {
    let refused = |text: &str| {
        let source = Source { text: text.into(), name: "a.toml".into(), ..Source::default() };
        Scenario::parse(&source, &[]).unwrap_err().to_string()
    };
    let text = refused(&corridor("association = \"passive\"\nbeacon_interval = \"100 ms\"", STANDING, "1 s"));
    assert!(text.contains("radio.beacon_interval") && text.contains("is not a whole number of time units"), "{text}");
    let text = refused(&corridor("beacon_interval = \"102.4 ms\"", STANDING, "1 s"));
    assert!(text.contains("association is implicit"), "{text}");
    let routed = format!("{STANDING}\nrouting = {{ protocol = \"aodv\" }}");
    let text = refused(&corridor("association = \"active\"", &routed, "1 s"));
    assert!(text.contains("cannot handle stations that associate over the air"), "{text}");
    let wired = corridor("association = \"active\"", STANDING, "1 s").replacen("\"ap1\"]", "\"sta\"]", 1);
    let text = refused(&wired);
    assert!(text.contains("has a wire"), "{text}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// Stations that come and go, with TCP and UDP to and from them: nothing vanishes at any instant.
    #[test]
    fn nothing_vanishes_while_stations_come_and_go(
        seed in 0_u64..1_000,
        kind in prop::sample::select(vec!["passive", "active"]),
        edca in any::<bool>(),
        is_tcp in any::<bool>(),
        stops in prop::collection::vec(0_u64..3_000_000_000, 3),
    ) {
        let edca = if edca { "2012" } else { "off" };
        let radio = format!("association = \"{kind}\"\nedca = \"{edca}\"\nbeacon_interval = \"20.48 ms\"");
        let walker = "placement = { shape = \"uniform\", width = \"200 m\", height = \"150 m\" }\n\
                      mobility = { model = \"random-waypoint\", speed = [\"20 m/s\", \"90 m/s\"] }";
        let mut text = corridor(&radio, walker, "3 s");
        let transport = if is_tcp { "tcp" } else { "udp" };
        text += &format!(
            "[[flows]]\nname = \"up\"\nfrom = \"sta\"\nto = \"server\"\n\
             transport = {{ protocol = \"{transport}\" }}\napplication = {{ kind = \"bulk\" }}\n"
        );
        run_with_checks(&text, seed, stops)?;
    }

    /// The same with agreements over the air, which come and go with the stations.
    #[test]
    fn nothing_vanishes_while_agreements_come_and_go(
        seed in 0_u64..1_000,
        window in 1_u32..=64,
        inactivity in prop::sample::select(vec!["off", "20.48 ms"]),
        is_tcp in any::<bool>(),
        stops in prop::collection::vec(0_u64..3_000_000_000, 3),
    ) {
        let radio = format!(
            "association = \"active\"\nbeacon_interval = \"20.48 ms\"\n\
             aggregation = {{ agreements = \"negotiated\", inactivity = \"{inactivity}\", block_ack = {window} }}"
        );
        let walker = "placement = { shape = \"uniform\", width = \"200 m\", height = \"150 m\" }\n\
                      mobility = { model = \"random-waypoint\", speed = [\"20 m/s\", \"90 m/s\"] }";
        let mut text = corridor(&radio, walker, "3 s").replace("802.11g", "802.11n");
        let transport = if is_tcp { "tcp" } else { "udp" };
        text += &format!(
            "[[flows]]\nname = \"up\"\nfrom = \"sta\"\nto = \"server\"\n\
             transport = {{ protocol = \"{transport}\" }}\napplication = {{ kind = \"bulk\" }}\n"
        );
        run_with_checks(&text, seed, stops)?;
    }
}
