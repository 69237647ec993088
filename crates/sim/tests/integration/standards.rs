//! Stations of several standards in one cell.

use std::cell::RefCell;
use std::rc::Rc;

use hopcast_protocols::time::Instant;
use hopcast_radio::aggregate::{Body, MpduSet};
use hopcast_radio::mac::{Frame, FrameKind, StationId};
use hopcast_radio::medium::Link;
use hopcast_radio::phy::{ModulationClass, Standard, TxVector};
use hopcast_sim::engine::Tap;
use hopcast_sim::host::Sdu;
use hopcast_sim::metrics::FlowSummary;
use hopcast_sim::run::Simulation;

use crate::scenarios::scenario;

/// What a frame is, whatever it carries.
#[derive(Clone, Copy, Debug)]
struct Sent {
    kind: FrameKind,
    transmitter: StationId,
    receiver: Option<StationId>,
    vector: TxVector,
    is_qos: bool,
}

impl<P> From<&Frame<P>> for Sent {
    fn from(frame: &Frame<P>) -> Self {
        let Frame { kind, transmitter, receiver, vector, priority, .. } = *frame;
        Self { kind, transmitter, receiver, vector, is_qos: priority.is_some() }
    }
}

type Frames = Vec<Sent>;

#[derive(Clone, Default)]
struct Log(Rc<RefCell<Frames>>);

impl Tap<Rc<Sdu>> for Log {
    fn on_frame(&mut self, _: StationId, frame: &Frame<Rc<Sdu>>, _: Instant, received: Option<&Link>) {
        if received.is_none() {
            self.0.borrow_mut().push(frame.into());
        }
    }

    fn on_frame_with_body(
        &mut self,
        _: StationId,
        frame: &Frame<()>,
        _: (&Body<Rc<Sdu>>, &MpduSet, u64),
        _: Instant,
        received: Option<&Link>,
    ) {
        if received.is_none() {
            self.0.borrow_mut().push(frame.into());
        }
    }
}

/// Those that share a band: each understands the frames of those before it.
const LOW: [&str; 4] = ["802.11b", "802.11g", "802.11n", "802.11ax"];
const HIGH: [&str; 4] = ["802.11a", "802.11n", "802.11ac", "802.11ax"];

fn run(text: &str) -> (Vec<FlowSummary>, Frames) {
    let mut simulation = Simulation::new(&scenario(text), 1).expect("all flows have paths");
    let log = Log::default();
    simulation.set_tap(log.clone());
    simulation.run_until(simulation.end());
    let summaries = simulation.flows().iter().map(|flow| flow.summary(simulation.end())).collect();
    assert_eq!(simulation.check(), Ok(()), "nothing has vanished");
    let frames = log.0.borrow().clone();
    (summaries, frames)
}

/// What `radio` needs for a standard in a band.
fn radio(standard: &str, is_low: bool) -> String {
    let band = if is_low && ["802.11n", "802.11ax"].contains(&standard) { r#", band = "2.4 GHz""# } else { "" };
    format!(r#"standard = "{standard}"{band}"#)
}

/// Nodes of these standards around one another, each an independent node, and flows between them.
fn cell(radio: &str, standards: &[&str], flows: &str) -> String {
    let node = |(standard, place): (&&str, usize)| {
        format!(
            r#"{{ name = "n{place}", radios = [{{ standard = "{standard}" }}], placement = {{ shape = "points", at = [[{}, 0]] }} }},"#,
            2 * place
        )
    };
    let nodes: String = standards.iter().zip(0..).map(node).collect();
    format!("duration = \"2 s\"\nradio = {{ {radio} }}\nnodes = [ {nodes} ]\nflows = [ {flows} ]\n")
}

fn flow(name: &str, from: u32, to: u32, rate: &str) -> String {
    format!(
        r#"{{ name = "{name}", from = "n{from}", to = "n{to}", transport = {{ protocol = "udp" }},
           application = {{ kind = "cbr", rate = "{rate}", packet = "1472 B" }} }},"#
    )
}

fn class(standard: &str) -> ModulationClass {
    match standard {
        "802.11b" => ModulationClass::Dsss,
        "802.11a" | "802.11g" => ModulationClass::Ofdm,
        "802.11n" => ModulationClass::Ht,
        "802.11ac" => ModulationClass::Vht,
        _ => ModulationClass::He,
    }
}

/// Every ordered pair of a band, with the newer one as the standard of `radio`: both directions carry their load, in the format of the
/// older one, and no frame is for a station that can't decode it.
#[test]
fn stations_of_every_pair_of_standards_talk() {
    for (chain, is_low) in [(LOW, true), (HIGH, false)] {
        for newer in 0..chain.len() {
            for older in 0..=newer {
                let pair = [chain[newer], chain[older]];
                let flows = format!("{}{}", flow("there", 0, 1, "500 kb/s"), flow("back", 1, 0, "500 kb/s"));
                let (flows, frames) = run(&cell(&radio(pair[0], is_low), &pair, &flows));
                for flow in &flows {
                    assert!(flow.received_packets > 80 && flow.lost_packets == 0, "{pair:?}: {flow:?}");
                }
                let data = frames.iter().filter(|frame| frame.kind == FrameKind::Data);
                assert!(data.clone().count() > 100, "{pair:?}");
                assert!(data.clone().all(|frame| frame.vector.modulation_class() == class(pair[1])), "{pair:?}");
                assert!(
                    frames.iter().all(|frame| frame.vector.modulation_class() <= class(pair[1])),
                    "{pair:?}: all frames are understood"
                );
                // QoS frames and block acknowledgments are for stations of 802.11n and later.
                let has_qos = class(pair[1]) >= ModulationClass::Ht;
                assert!(data.clone().all(|frame| frame.is_qos == has_qos), "{pair:?}");
            }
        }
    }
}

/// The same with rate control: it chooses among the rates of both.
#[test]
fn rate_control_chooses_among_the_rates_of_both() {
    for algorithm in ["arf", "minstrel", "minstrel-ht", "ideal"] {
        for (older, least) in [("802.11b", 5_500), ("802.11g", 24_000), ("802.11n", 26_000)] {
            let radio = format!(r#"standard = "802.11ax", band = "2.4 GHz", data_rate = "{algorithm}""#);
            let flows = format!("{}{}", flow("there", 0, 1, "1 Mb/s"), flow("back", 1, 0, "1 Mb/s"));
            let (flows, frames) = run(&cell(&radio, &["802.11ax", older], &flows));
            assert!(flows.iter().all(|flow| flow.received_packets > 150), "{algorithm}, {older}: {flows:?}");
            let data = frames.iter().filter(|frame| frame.kind == FrameKind::Data && frame.receiver.is_some());
            assert!(data.clone().all(|frame| frame.vector.modulation_class() <= class(older)), "{algorithm}, {older}");
            let fastest = data.map(|frame| frame.vector.data_rate().as_kbps()).max();
            assert!(fastest >= Some(least), "{algorithm}, {older}: {fastest:?}");
        }
    }
}

/// Bits of OFDM at 2.4 GHz, in microseconds: preamble, symbols, signal extension.
fn ofdm_us(preamble: f64, bits: f64, per_symbol: f64) -> f64 {
    preamble + 4.0 * f64::ceil(bits / per_symbol) + 6.0
}

/// A long preamble and a CTS at 2 Mb/s.
const CTS: f64 = 192.0 + 56.0;

fn goodput(text: &str, flow: usize) -> f64 {
    run(text).0[flow].goodput_bps
}

/// DIFS and slots are long, a CTS-to-self at 2 Mb/s goes before each frame (10.27.2, 18.5.4).
#[test]
fn a_station_of_80211b_costs_one_of_80211g_what_protection_takes() {
    let saturated = flow("f", 0, 1, "60 Mb/s");
    let measured = goodput(&cell(&radio("802.11g", true), &["802.11g", "802.11g", "802.11b"], &saturated), 0);
    let data = ofdm_us(20.0, 22.0 + 8.0 * 1_536.0, 216.0);
    let ack = ofdm_us(20.0, 22.0 + 8.0 * 14.0, 96.0);
    let cycle = 50.0 + 7.5 * 20.0 + CTS + 10.0 + data + 10.0 + ack;
    let expected = 1_472.0 * 8.0 / cycle * 1e6;
    assert!((measured / expected - 1.0).abs() < 0.01, "{measured}, not {expected}");
    // Alone, no more than the short slot.
    let measured = goodput(&cell(&radio("802.11g", true), &["802.11g", "802.11g"], &saturated), 0);
    let expected = 1_472.0 * 8.0 / (28.0 + 7.5 * 9.0 + data + 10.0 + ack) * 1e6;
    assert!((measured / expected - 1.0).abs() < 0.01, "{measured}, not {expected}");
}

/// A-MPDUs behind a CTS-to-self; a station of 802.11g costs nothing, as the legacy preamble and the block acknowledgment tell it all.
#[test]
fn an_older_station_costs_one_of_80211n_what_it_does_not_understand() {
    let ppdu = |mpdus: f64| ofdm_us(36.0, 22.0 + 8.0 * (1_544.0 * mpdus - 2.0), 260.0);
    let mpdus = (1..=42).map(f64::from).filter(|&mpdus| ppdu(mpdus) <= 5_484.0).fold(0.0, f64::max);
    let answer = ofdm_us(20.0, 22.0 + 8.0 * 32.0, 96.0);
    for (others, slot, before) in [(&[][..], 9.0, 0.0), (&["802.11g"], 9.0, 0.0), (&["802.11b"], 20.0, CTS + 10.0)] {
        let standards: Vec<&str> = ["802.11n", "802.11n"].iter().chain(others).copied().collect();
        let measured = goodput(&cell(&radio("802.11n", true), &standards, &flow("f", 0, 1, "100 Mb/s")), 0);
        let cycle = 10.0 + 3.0 * slot + 7.5 * slot + before + ppdu(mpdus) + 10.0 + answer;
        let expected = 1_472.0 * 8.0 * mpdus / cycle * 1e6;
        assert!((measured / expected - 1.0).abs() < 0.01, "{others:?}: {measured}, not {expected}");
    }
}

/// What a frame is protected with, by its kind before a data frame.
#[test]
fn protection_precedes_what_a_station_does_not_understand() {
    let both = format!("{}{}", flow("new", 0, 1, "1 Mb/s"), flow("old", 0, 2, "1 Mb/s"));
    for (protection, kind) in [("cts-to-self", FrameKind::Cts), ("rts-cts", FrameKind::Rts)] {
        let radio = format!(r#"standard = "802.11n", band = "2.4 GHz", protection = "{protection}""#);
        for (old, rate) in [("802.11b", 2_000), ("802.11g", 24_000)] {
            let (_, frames) = run(&cell(&radio, &["802.11n", "802.11n", old], &both));
            let mut before: Option<(FrameKind, TxVector)> = None;
            for frame in frames.iter().filter(|frame| frame.transmitter == StationId(0)) {
                if frame.kind == FrameKind::Data {
                    let is_new = frame.receiver == Some(StationId(1));
                    let expected = is_new.then_some((kind, rate));
                    let found = before.filter(|(kind, _)| *kind != FrameKind::Data && *kind != FrameKind::Ack);
                    let found = found.map(|(kind, vector)| (kind, vector.data_rate().as_kbps()));
                    assert_eq!(found, expected, "{old}, {protection}");
                }
                before = Some((frame.kind, frame.vector));
            }
        }
    }
}

/// A narrow station in a wide cell gets narrow frames, and decodes the length of wide ones.
#[test]
fn a_narrow_station_belongs_to_a_wide_network() {
    let radio = r#"standard = "802.11ax", channel = { number = 36, width = "80 MHz" }, spatial_streams = 2"#;
    let both = format!("{}{}", flow("wide", 0, 1, "1 Mb/s"), flow("narrow", 2, 0, "1 Mb/s"));
    let (flows, frames) = run(&cell(radio, &["802.11ax", "802.11ax", "802.11a"], &both));
    assert!(flows.iter().all(|flow| flow.received_packets > 150 && flow.lost_packets == 0), "{flows:?}");
    let formats = |from| {
        let of =
            frames.iter().filter(move |frame| frame.kind == FrameKind::Data && frame.transmitter == StationId(from));
        of.map(|frame| (frame.vector.format(), frame.vector.width().hertz())).collect::<Vec<_>>()
    };
    assert!(formats(0).iter().all(|&format| format == (Standard::He, 80e6)));
    assert!(formats(2).iter().all(|&format| format == (Standard::Ofdm, 20e6)));
}

/// Saturated stations of two standards share the medium as their access has it: as many turns each, by the same window, except that
/// EIFS follows frames of which the older one understands no more than the length.
#[test]
fn an_older_station_gets_its_turns() {
    let both = format!("{}{}", flow("new", 0, 1, "100 Mb/s"), flow("old", 2, 1, "60 Mb/s"));
    let (flows, frames) = run(&cell(&radio("802.11n", false), &["802.11n", "802.11n", "802.11a"], &both));
    let turns = |from| {
        frames.iter().filter(|frame| frame.kind == FrameKind::Data && frame.transmitter == StationId(from)).count()
            as f64
    };
    // The block acknowledgment ends EIFS, so that only DIFS (34 us) against AIFS (43 us) tells them apart.
    let share = turns(2) / turns(0);
    assert!((0.9..1.6).contains(&share), "{share}");
    assert!(flows.iter().all(|flow| flow.goodput_bps > 1e6), "{flows:?}");
}

/// The same pairs where frames are received by distance alone.
#[test]
fn older_stations_talk_where_powers_mean_nothing() {
    for (newer, older) in [("802.11ax", "802.11b"), ("802.11ax", "802.11g"), ("802.11n", "802.11g")] {
        let range = r#", propagation = { model = "range", receive = "50 m", carrier_sense = "100 m" }"#;
        let flows = format!("{}{}", flow("there", 0, 1, "500 kb/s"), flow("back", 1, 0, "500 kb/s"));
        let (flows, _) = run(&cell(&format!("{}{range}", radio(newer, true)), &[newer, older], &flows));
        assert!(
            flows.iter().all(|flow| flow.received_packets > 80 && flow.lost_packets == 0),
            "{newer}, {older}: {flows:?}"
        );
    }
}

/// Over the air: the access point of 802.11n learns of the station of 802.11b, and protects from then on.
#[test]
fn a_station_of_80211b_that_joins_is_protected_from() {
    let text = r#"
        duration = "3 s"
        radio = { standard = "802.11n", band = "2.4 GHz", association = "active" }
        nodes = [
            { name = "ap", role = "access-point", placement = { shape = "points", at = [[0, 0]] } },
            { name = "new", role = "station", placement = { shape = "points", at = [[2, 0]] } },
            { name = "old", role = "station", radios = [{ standard = "802.11b" }], placement = { shape = "points", at = [[0, 2]] } },
        ]
        flows = [
            { name = "new", from = "ap", to = "new", start = "1 s", transport = { protocol = "udp" },
              application = { kind = "cbr", rate = "1 Mb/s", packet = "1472 B" } },
            { name = "old", from = "old", to = "ap", start = "1 s", transport = { protocol = "udp" },
              application = { kind = "cbr", rate = "1 Mb/s", packet = "1472 B" } },
        ]
        "#;
    for (text, is_protected) in [(text.to_owned(), true), (text.replace("802.11b", "802.11g"), false)] {
        let (flows, frames) = run(&text);
        assert!(flows.iter().all(|flow| flow.received_packets > 150 && flow.lost_packets == 0), "{flows:?}");
        let is_cts = |frame: &&Sent| frame.kind == FrameKind::Cts && frame.receiver == Some(frame.transmitter);
        let is_new = |frame: &&Sent| frame.kind == FrameKind::Data && frame.receiver == Some(StationId(1));
        let (cts, data) = (frames.iter().filter(is_cts).count(), frames.iter().filter(is_new).count());
        assert_eq!(cts >= data, is_protected, "{cts} of {data}");
        assert!(is_protected || cts == 0);
    }
}
