//! Stations with other rates than the rest of their network.

use std::rc::Rc;

use hopcast_protocols::time::Duration;
use hopcast_radio::mac::{Frame, FrameKind, StationId};
use hopcast_radio::phy::ModulationClass;
use hopcast_sim::host::Sdu;
use hopcast_sim::metrics::FlowSummary;

use crate::scenarios::{run_logged, scenario};

type Frames = Vec<Frame<Rc<Sdu>>>;

fn run(text: &str) -> (Vec<FlowSummary>, Frames) {
    let (simulation, sent) = run_logged(&scenario(text));
    let summaries = simulation.flows().iter().map(|flow| flow.summary(simulation.end())).collect();
    (summaries, sent.into_iter().map(|(_, _, frame)| frame).collect())
}

const FIRST: StationId = StationId(0);
const NEW: StationId = StationId(1);
const OLD: StationId = StationId(2);

/// An access point that sends to a station of 802.11g and to one of 802.11b.
fn cell(radio: &str, to_new: &str, to_old: &str) -> String {
    format!(
        r#"
        duration = "4 s"
        radio = {{ standard = "802.11g", {radio} }}
        nodes = [
            {{ name = "ap", role = "access-point", placement = {{ shape = "points", at = [[0, 0]] }} }},
            {{ name = "new", role = "station", placement = {{ shape = "points", at = [[5, 0]] }} }},
            {{ name = "old", role = "station", radios = [{{ data_rate = "11 Mb/s" }}], placement = {{ shape = "points", at = [[0, 5]] }} }},
        ]
        flows = [
            {{ name = "new", from = "ap", to = "new", transport = {{ protocol = "udp" }},
               application = {{ kind = "cbr", rate = "{to_new}", packet = "1472 B" }} }},
            {{ name = "old", from = "ap", to = "old", transport = {{ protocol = "udp" }},
               application = {{ kind = "cbr", rate = "{to_old}", packet = "1472 B" }} }},
        ]
        "#
    )
}

/// Of data from one station to another.
fn rates(frames: &Frames, from: StationId, to: StationId) -> Vec<u32> {
    let data = |frame: &&Frame<Rc<Sdu>>| {
        frame.kind == FrameKind::Data && (frame.transmitter, frame.receiver) == (from, Some(to))
    };
    let mut rates: Vec<u32> = frames.iter().filter(data).map(|frame| frame.vector.data_rate().as_kbps()).collect();
    rates.sort_unstable();
    rates.dedup();
    rates
}

/// 10.6.6.1: a station receives no frame that it does not support. The answer has the modulation of the frame (10.6.6.5).
#[test]
fn data_go_to_each_station_at_a_rate_that_it_understands() {
    let (flows, frames) = run(&cell(r#"basic_rate = "2 Mb/s""#, "1 Mb/s", "1 Mb/s"));
    assert!(flows.iter().all(|flow| flow.received_packets > 300 && flow.lost_packets == 0), "{flows:?}");
    assert_eq!((rates(&frames, FIRST, NEW), rates(&frames, FIRST, OLD)), (vec![54_000], vec![11_000]));
    let answers = frames.iter().filter(|frame| frame.kind == FrameKind::Ack && frame.transmitter == OLD);
    assert!(answers.map(|frame| frame.vector.data_rate().as_kbps()).all(|rate| rate == 2_000));
}

/// DIFS of 28 µs, 7.5 slots of 9, 192 µs and 1536 bytes at 11 Mb/s, SIFS, 192 µs and 14 bytes at 2 Mb/s.
#[test]
fn a_saturated_station_of_80211b_gets_what_its_rate_leaves() {
    let (flows, _) = run(&cell(r#"basic_rate = "2 Mb/s""#, "1 kb/s", "20 Mb/s"));
    let cycle = 28.0 + 7.5 * 9.0 + 192.0 + f64::ceil(1536.0 * 8.0 / 11.0) + 10.0 + 192.0 + 56.0;
    let expected = 1472.0 * 8.0 / cycle * 1e6;
    assert!((flows[1].goodput_bps / expected - 1.0).abs() < 0.01, "{} b/s, not {expected}", flows[1].goodput_bps);
}

#[test]
fn rate_control_chooses_among_the_rates_of_the_receiver() {
    for algorithm in ["arf", "aarf", "minstrel"] {
        let radio = format!(r#"basic_rate = "2 Mb/s", data_rate = "{algorithm}""#);
        let (flows, frames) = run(&cell(&radio, "1 Mb/s", "1 Mb/s"));
        assert!(flows.iter().all(|flow| flow.received_packets > 300), "{algorithm}: {flows:?}");
        let to_old = rates(&frames, FIRST, OLD);
        assert!(to_old.iter().all(|rate| [1_000, 2_000, 5_500, 11_000].contains(rate)), "{algorithm}: {to_old:?}");
        assert!(to_old.contains(&11_000) && rates(&frames, FIRST, NEW).contains(&54_000), "{algorithm}");
    }
}

/// 802.11b answers no RTS of OFDM.
#[test]
fn an_rts_goes_to_each_station_at_a_rate_that_it_understands() {
    for rate in ["54 Mb/s", "arf"] {
        let (flows, frames) =
            run(&cell(&format!(r#"data_rate = "{rate}", rts_threshold = "500 B""#), "1 Mb/s", "1 Mb/s"));
        assert!(flows.iter().all(|flow| flow.received_packets > 300 && flow.lost_packets == 0), "{flows:?}");
        for (to, highest) in [(NEW, 24_000), (OLD, 2_000)] {
            let rts = |frame: &&Frame<Rc<Sdu>>| frame.kind == FrameKind::Rts && frame.receiver == Some(to);
            assert_eq!(frames.iter().filter(rts).map(|frame| frame.vector.data_rate().as_kbps()).max(), Some(highest));
        }
    }
}

/// What goes to all must go at a rate of 802.11b.
#[test]
fn a_station_of_80211b_finds_routes_where_broadcasts_are_understood() {
    let text = |basic: &str| {
        format!(
            r#"
            duration = "20 s"
            radio = {{ standard = "802.11g", basic_rate = "{basic}", propagation = {{ model = "range", receive = "50 m", carrier_sense = "100 m" }} }}
            nodes = [
                {{ name = "g", count = 2, placement = {{ shape = "line", spacing = "40 m" }}, routing = {{ protocol = "aodv" }} }},
                {{ name = "b", radios = [{{ data_rate = "11 Mb/s" }}], placement = {{ shape = "points", at = [[80, 0]] }}, routing = {{ protocol = "aodv" }} }},
            ]
            flows = [
                {{ name = "there", from = "g0", to = "b", start = "1 s", transport = {{ protocol = "udp" }}, application = {{ kind = "cbr", rate = "40 kb/s", packet = "500 B" }} }},
            ]
            "#
        )
    };
    let (flows, frames) = run(&text("2 Mb/s"));
    assert!(flows[0].received_packets + 2 >= flows[0].sent_packets, "{flows:?}");
    assert_eq!((rates(&frames, FIRST, NEW), rates(&frames, NEW, OLD)), (vec![54_000], vec![11_000]));
    // Requests for a route go at the basic rate, which b does not understand.
    let (flows, frames) = run(&text("6 Mb/s"));
    assert_eq!(flows[0].received_packets, 0);
    assert!(
        frames.iter().any(|frame| frame.receiver.is_none() && frame.vector.modulation_class() == ModulationClass::Ofdm)
    );
}

/// A station that sends at 1 Mb/s answers at 1 Mb/s, with a long preamble: senders to it wait for that.
#[test]
fn an_answer_is_awaited_at_the_basic_rate_of_who_gives_it() {
    for rts in ["off", "0 B"] {
        let text = format!(
            r#"
            duration = "4 s"
            radio = {{ standard = "802.11b", data_rate = "2 Mb/s", preamble = "short", rts_threshold = "{rts}" }}
            nodes = [
                {{ name = "a", placement = {{ shape = "points", at = [[0, 0]] }} }},
                {{ name = "b", radios = [{{ data_rate = "1 Mb/s" }}], placement = {{ shape = "points", at = [[5, 0]] }} }},
            ]
            [[flows]]
            name = "f"
            from = "a"
            to = "b"
            transport = {{ protocol = "udp" }}
            application = {{ kind = "cbr", rate = "100 kb/s", packet = "1000 B" }}
            "#
        );
        let (flows, frames) = run(&text);
        assert!(flows[0].received_packets >= 49 && flows[0].lost_packets == 0, "{flows:?}");
        assert!(frames.iter().all(|frame| !frame.retry), "nothing is repeated");
        // What a data frame reserves is what its ACK takes.
        let data = frames.iter().find(|frame| frame.kind == FrameKind::Data).expect("data");
        let ack = frames.iter().find(|frame| frame.kind == FrameKind::Ack).expect("an answer");
        assert_eq!((ack.vector.data_rate().as_kbps(), data.duration), (1_000, Duration::from_micros(10) + ack.airtime));
    }
}
