//! TCP flows, end to end and over relays, on wires without and with loss.

use super::net::{Fate, Net};
use super::*;
use crate::scenario::Source;
use crate::scenario::model::{Application, Relay, Scenario, Tcp, Transport};
use hopcast_protocols::transport::tcp;

/// A line of `count` nodes with one flow from the first to the last.
pub(super) fn scenario(count: u32, relay: Relay, transport: Transport, application: Application) -> Scenario {
    const TEXT: &str = r#"
        duration = "60 s"
        [radio]
        standard = "802.11a"
        propagation = { model = "range", receive = "100 m", carrier_sense = "200 m" }
        [[nodes]]
        name = "n"
        placement = { shape = "line", spacing = "100 m" }
        socket_buffer = "8192 B"
        [[flows]]
        name = "flow"
        from = "n0"
        to = "n1"
        start = "1 s"
        transport = { protocol = "udp" }
        application = { kind = "bulk" }
    "#;
    let source = Source { text: TEXT.into(), ..Source::default() };
    let overrides = [format!("nodes.n.count={count}"), format!("flows.flow.to=n{}", count - 1)];
    let mut scenario = Scenario::parse(&source, &overrides).expect("a scenario").scenario;
    let (group, flow) = (&mut scenario.groups[0], &mut scenario.flows[0]);
    (group.relay, flow.transport, flow.application) = (relay, transport, application);
    // Wires join the nodes.
    group.radios.clear();
    scenario
}

/// A bulk transfer of this number of bytes, or without end, in writes of `packet`.
pub(super) fn bulk(bytes: Option<u64>, packet: u32) -> Application {
    Application::new(move |start, _| AduSource::new(start, packet, Duration::ZERO, bytes)).with_whole_writes()
}

/// Application data units of `size` bytes.
pub(super) fn adu(size: u32, wait: Duration, bytes: Option<u64>) -> Application {
    Application::new(move |start, _| AduSource::new(start, size, wait, bytes))
}

/// Packets of `packet` bytes at `rate` bit/s.
pub(super) fn cbr(rate: f64, packet: u32) -> Application {
    Application::new(move |start, _| CbrSource::new(start, rate, packet))
}

pub(super) fn tcp(window: Option<u32>) -> Transport {
    Transport::Tcp(Tcp {
        segment: 1000,
        window,
        initial_window: None,
        min_rto: Duration::from_millis(200),
        delayed_ack: Some(Duration::from_millis(100)),
        variant: tcp::Variant::NewReno,
        congestion: None,
        timestamps: false,
        ecn: false,
        elfn: false,
        deadline: None,
    })
}

/// 10 Mb/s.
pub(super) const PER_OCTET: Duration = Duration::from_nanos(800);

fn end() -> Instant {
    Instant::START + Duration::from_secs(60)
}

#[test]
fn a_finite_transfer_arrives_whole_whoever_relays() {
    for relay in [Relay::Os, Relay::Application] {
        for window in [None, Some(1), Some(8)] {
            for nodes in [2, 3, 5] {
                let application = bulk(Some(1_000_500), 1000);
                let mut net = Net::new(&scenario(nodes, relay, tcp(window), application), PER_OCTET, |_| Fate::Arrives);
                net.run(end());
                let summary = &net.audit()[0];
                assert_eq!((summary.sent_packets, summary.received_packets), (1001, 1001), "{relay:?} {window:?}");
                assert_eq!((summary.received_bytes, summary.lost_packets), (1_000_500, 0));
                assert_eq!(summary.tcp.unwrap().timeouts, 0, "{relay:?} {window:?} {nodes}");
                assert!(summary.last_arrival_s.unwrap() > summary.first_arrival_s.unwrap());
            }
        }
    }
}

#[test]
fn goodput_on_a_wire_of_its_own_is_the_wires_less_headers() {
    let application = bulk(None, 1000);
    let mut net = Net::new(&scenario(2, Relay::Os, tcp(Some(32)), application), PER_OCTET, |_| Fate::Arrives);
    net.run(end());
    let goodput = net.audit()[0].goodput_bps;
    let limit = 10e6 * 1000.0 / 1040.0;
    assert!((0.99..=1.0).contains(&(goodput / limit)), "{goodput} of {limit}");
}

#[test]
fn a_transfer_survives_loss_over_relays() {
    for relay in [Relay::Os, Relay::Application] {
        let application = adu(16_384, Duration::ZERO, Some(1_000_000));
        let mut count = 0;
        let lose = move |_: &Packet| {
            count += 1;
            if count % 37 == 0 { Fate::Lost } else { Fate::Arrives }
        };
        let mut net = Net::new(&scenario(4, relay, tcp(None), application), PER_OCTET, lose);
        net.run(Instant::START + Duration::from_secs(600));
        let summary = &net.audit()[0];
        assert_eq!((summary.received_bytes, summary.received_packets), (1_000_000, 62), "{relay:?}");
        let tcp = summary.tcp.unwrap();
        assert!(tcp.retransmitted_segments > 0 && tcp.fast_retransmits + tcp.timeouts > 0);
    }
}

#[test]
fn a_constant_rate_over_a_slow_stream_loses_whole_packets_at_its_source() {
    // 20 Mb/s into 10 Mb/s.
    let application = cbr(20e6, 1000);
    let mut net = Net::new(&scenario(2, Relay::Os, tcp(None), application), PER_OCTET, |_| Fate::Arrives);
    net.run(end());
    let summary = &net.audit()[0];
    assert_eq!(summary.sent_packets, 147_501, "every 0.4 ms from 1 s to 60 s");
    assert!((0.45..0.60).contains(&summary.loss_ratio), "{}", summary.loss_ratio);
    assert_eq!(summary.sent_bytes, summary.sent_packets * 1000);
}

#[test]
fn a_connection_that_nobody_answers_is_given_up_and_its_packets_are_lost() {
    let application = bulk(Some(3_000), 1000);
    let mut net = Net::new(&scenario(2, Relay::Os, tcp(None), application), PER_OCTET, |_| Fate::Lost);
    net.run(Instant::START + Duration::from_secs(2_000));
    let summary = &net.audit()[0];
    assert_eq!((summary.sent_packets, summary.lost_packets, summary.in_flight_packets), (3, 3, 0));
    assert_eq!(net.hosts[0].poll_timeout(), None);
}

/// Nothing arrives behind the twelfth packet.
fn breaks() -> impl FnMut(&Packet) -> Fate {
    let mut count = 0;
    move |_| {
        count += 1;
        if count > 12 { Fate::Lost } else { Fate::Arrives }
    }
}

#[test]
fn goodput_of_a_finite_transfer_ends_with_the_last_arrival_though_its_connection_is_given_up() {
    for (relay, nodes) in [(Relay::Os, 2), (Relay::Application, 3)] {
        // All of it is in the send buffer when the wire breaks, or a part of it has yet to be written.
        for bytes in [12_000, 1_000_000] {
            let application = bulk(Some(bytes), 1000);
            let mut net = Net::new(&scenario(nodes, relay, tcp(None), application), PER_OCTET, breaks());
            net.run(Instant::START + Duration::from_secs(2_000));
            let summary = &net.audit()[0];
            assert!((1..bytes).contains(&summary.received_bytes), "{relay:?} {bytes}: {}", summary.received_bytes);
            assert_eq!(summary.in_flight_packets, 0, "{relay:?} {bytes}");
            let expected = summary.received_bytes as f64 * 8.0 / (summary.last_arrival_s.unwrap() - 1.0);
            assert!((summary.goodput_bps / expected - 1.0).abs() < 1e-6, "{relay:?} {bytes}: {}", summary.goodput_bps);
        }
    }
    // One without end would have gone on.
    let application = bulk(None, 1000);
    let mut net = Net::new(&scenario(2, Relay::Os, tcp(None), application), PER_OCTET, breaks());
    net.run(Instant::START + Duration::from_secs(2_000));
    let summary = &net.audit()[0];
    let expected = summary.received_bytes as f64 * 8.0 / 59.0;
    assert!((summary.goodput_bps / expected - 1.0).abs() < 1e-6, "{}", summary.goodput_bps);
}

#[test]
fn a_stopped_transfer_closes_its_connection() {
    for relay in [Relay::Os, Relay::Application] {
        let application = bulk(None, 1000);
        let mut scenario = scenario(3, relay, tcp(None), application);
        scenario.flows[0].stop = Some(Instant::START + Duration::from_secs(2));
        let mut net = Net::new(&scenario, PER_OCTET, |_| Fate::Arrives);
        net.run(Instant::START + Duration::from_secs(1_000));
        let summary = &net.audit()[0];
        assert_eq!((summary.in_flight_packets, net.flows[FLOW].stream_in_flight()), (0, 0), "{relay:?}");
        // All went out of TIME-WAIT: nobody has a timer.
        assert!(net.hosts.iter().all(|host| host.poll_timeout().is_none()));
        assert!(summary.last_arrival_s.unwrap() < 2.1);
    }
}

#[test]
fn the_window_is_recorded_over_time() {
    let application = bulk(None, 1000);
    let mut net = Net::new(&scenario(2, Relay::Os, tcp(Some(32)), application), PER_OCTET, |_| Fate::Arrives);
    net.run(end());
    net.flows.finish(net.now);
    let samples = net.flows[FLOW].series().samples();
    assert_eq!(samples.len(), 600);
    assert_eq!((samples[5].cwnd, samples[5].received_bytes), (samples[0].cwnd, 0), "before the start");
    assert!(samples[20].cwnd >= 32_000 && samples[20].srtt > Duration::ZERO);
    let received: u64 = samples.iter().map(|sample| sample.received_bytes).sum();
    assert_eq!(received, net.flows[FLOW].summary(net.now).received_bytes);
}
