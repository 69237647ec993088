//! DCCP flows, end to end and over relays, on wires without and with loss.

use super::net::{Fate, Net};
use super::streams::{PER_OCTET, adu, bulk, cbr, scenario};
use super::*;
use crate::scenario::model::{Dccp, Relay, Transport};
use hopcast_protocols::transport::{adtfrc, dccp, tfrc};

pub(super) fn tfrc() -> Transport {
    Transport::Dccp(Dccp { congestion: dccp::Congestion::Tfrc(tfrc::Config::default()) })
}

pub(super) fn adtfrc() -> Transport {
    Transport::Dccp(Dccp { congestion: dccp::Congestion::Adtfrc(adtfrc::Config::default()) })
}

fn at(seconds: u64) -> Instant {
    Instant::START + Duration::from_secs(seconds)
}

#[test]
fn a_finite_transfer_arrives_and_ends_whoever_relays() {
    for transport in [tfrc(), adtfrc()] {
        for (relay, nodes) in [(Relay::Os, 2), (Relay::Os, 4), (Relay::Application, 3)] {
            let application = bulk(Some(100_500), 1000);
            let mut scenario = scenario(nodes, relay, transport.clone(), application);
            // Room for what slow start goes beyond the wire.
            scenario.radio.mac.queue_packets = 1000;
            let mut net = Net::new(&scenario, PER_OCTET, |_| Fate::Arrives);
            net.run(at(60));
            let summary = &net.audit()[0];
            let counts = (summary.sent_packets, summary.received_packets, summary.lost_packets);
            assert_eq!((counts, summary.received_bytes), ((101, 101, 0), 100_500), "{relay:?} {transport:?}");
            // The connections have closed: nothing is done any more but to wait for the end of TIMEWAIT.
            let made: u64 = net.counters.iter().map(|counters| counters.originated).sum();
            net.run(at(600));
            assert_eq!(net.counters.iter().map(|counters| counters.originated).sum::<u64>(), made);
            assert!(net.hosts.iter().all(|host| host.poll_timeout().is_none()));
        }
    }
}

#[test]
fn a_source_that_never_blocks_loses_what_its_socket_refuses() {
    // 8 Mb/s over a wire of 4 Mb/s, with buffers for eight packets.
    let application = cbr(8e6, 1000);
    let wire = Duration::from_nanos(2000);
    let mut net = Net::new(&scenario(2, Relay::Os, tfrc(), application), wire, |_| Fate::Arrives);
    net.run(at(30));
    let summary = &net.audit()[0];
    assert!((0.4..0.7).contains(&summary.loss_ratio), "{}", summary.loss_ratio);
    let refused = net.counters[0].drops().find(|(cause, _)| *cause == DropCause::SendBufferFull);
    assert!(refused.is_some_and(|(_, count)| count > summary.sent_packets / 3));
    let limit = 4e6 * 1000.0 / 1036.0;
    assert!((0.8..=1.0).contains(&(summary.goodput_bps / limit)), "{}", summary.goodput_bps);
}

#[test]
fn a_source_slower_than_the_path_loses_nothing() {
    let application = cbr(64e3, 160);
    let mut net = Net::new(&scenario(3, Relay::Os, adtfrc(), application), PER_OCTET, |_| Fate::Arrives);
    net.run(at(60));
    let summary = &net.audit()[0];
    assert_eq!((summary.lost_packets, summary.duplicate_packets), (0, 0));
    assert!(summary.received_packets > 2900, "{}", summary.received_packets);
}

#[test]
fn what_waits_for_a_connection_that_never_opens_is_lost_with_it() {
    let application = bulk(None, 1000);
    let mut net = Net::new(&scenario(2, Relay::Os, tfrc(), application), PER_OCTET, |_| Fate::Lost);
    net.run(at(60));
    assert_eq!((net.audit()[0].in_flight_packets, net.audit()[0].lost_packets), (5, 0), "Linux's queue");
    net.run(at(200));
    assert_eq!((net.audit()[0].in_flight_packets, net.audit()[0].lost_packets), (0, 5));
}

#[test]
fn goodput_of_a_finite_transfer_ends_with_the_last_arrival_though_its_connection_is_given_up() {
    let application = adu(1000, Duration::from_secs(1), Some(1_000_000));
    let mut scenario = scenario(2, Relay::Os, tfrc(), application);
    scenario.duration = Duration::from_secs(600);
    // Of what the sink says, the Response alone arrives: the source stays in PARTOPEN, and gives up after 8 min.
    let mut answers = 0;
    let lose = move |packet: &Packet| {
        answers += u32::from(packet.ip.source == NodeId(1));
        if packet.ip.source == NodeId(1) && answers > 1 { Fate::Lost } else { Fate::Arrives }
    };
    let mut net = Net::new(&scenario, PER_OCTET, lose);
    net.run(at(600));
    let summary = &net.audit()[0];
    assert!((1..1_000_000).contains(&summary.received_bytes), "{}", summary.received_bytes);
    assert_eq!(summary.in_flight_packets, 0);
    let expected = summary.received_bytes as f64 * 8.0 / (summary.last_arrival_s.unwrap() - 1.0);
    assert!((summary.goodput_bps / expected - 1.0).abs() < 1e-6, "{}", summary.goodput_bps);
}

#[test]
fn the_series_shows_rate_round_trip_and_state() {
    let application = bulk(None, 1000);
    let mut net = Net::new(&scenario(2, Relay::Os, adtfrc(), application), PER_OCTET, |_| Fate::Arrives);
    net.run(at(30));
    let flow = net.flows.iter().next().expect("one flow");
    let samples = flow.series().samples();
    let sample = samples[samples.len() / 2];
    let control = sample.control.expect("it has a rate");
    assert!(control.rate > 1e6 && control.state.is_some() && sample.srtt > Duration::ZERO, "{control:?}");
    assert!(sample.path.is_some_and(|path| path.throughput > 100.0));
    assert_eq!(sample.cwnd, 0);
}
