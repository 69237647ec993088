//! ADTFRC over DCCP: by hand, and compared with TFRC over links that lose, break and fill up.

use hopcast_wire::dccp::{Body, NetworkState, OptionRepr, ResetCode};

use super::super::super::adtfrc::{self, States};
use super::super::super::tfrc;
use super::super::{CloseReason, Config, Congestion, Output, Payload};
use super::bench::{Bench, CLIENT_ISS, SERVER_ISS, encode, ms};
use super::pair::pair;
use crate::testkit::{Bottleneck, Impairments, Link, Side};
use crate::time::{Duration, Instant};

fn adaptive() -> Config {
    let config = adtfrc::Config { probe_limit: 3, ..adtfrc::Config::default() };
    Config { congestion: Congestion::Adtfrc(config), queue: 100, ..Config::default() }
}

fn feedback(rate: u32, state: Option<NetworkState>) -> Vec<OptionRepr<'static>> {
    let mut options =
        vec![OptionRepr::ElapsedTime(0), OptionRepr::ReceiveRate(rate), OptionRepr::LossEventRate(u32::MAX)];
    options.extend(state.map(OptionRepr::NetworkState));
    options
}

#[test]
fn data_is_stamped_in_tens_of_microseconds() {
    let mut client = Bench::open_client(adaptive());
    client.write(1);
    let seen = client.recv();
    assert_eq!(seen.options[0], encode(&OptionRepr::Timestamp(10_000)), "it is 100 ms");
}

#[test]
fn the_state_travels_in_feedback() {
    let mut client = Bench::open_client(adaptive());
    (0..50).for_each(|unit| {
        client.write(unit);
    });
    client.recv();
    let answer = |nth| Body::Ack { acknowledgement: CLIENT_ISS + 2 + nth };
    client.timer(200).recv();
    // One packet of 1000 octets in 100 ms; congestion: what was received, 5 kB/s, is the limit.
    let state = NetworkState::CONGESTION | NetworkState::URGENT;
    client.send(SERVER_ISS + 2, answer(0), &feedback(5_000, Some(state))).recv_nothing();
    assert_eq!(client.connection.sender().tfrc().rate(), 5_000.0);
    let states = client.connection.sender().adtfrc().and_then(adtfrc::Sender::states);
    assert_eq!(states, Some(States { congestion: true, ..States::default() }));
    // A route change: no change. Then a plain receiver's.
    let state = NetworkState::ROUTE_CHANGE | NetworkState::CHANNEL_ERROR;
    client.at(300).send(SERVER_ISS + 3, answer(1), &feedback(50_000, Some(state))).recv_nothing();
    assert_eq!(client.connection.sender().tfrc().rate(), 5_000.0);
    client.at(390).send(SERVER_ISS + 4, answer(1), &feedback(50_000, None));
    client.recv();
    assert_eq!(client.connection.sender().tfrc().rate(), 10_000.0);
    assert_eq!(client.connection.sender().adtfrc().and_then(adtfrc::Sender::states), None);
}

#[test]
fn a_receiver_tells_its_state_to_a_sender_that_stamps() {
    let mut server = Bench::open_server(adaptive());
    server.send_data(CLIENT_ISS + 2, &[OptionRepr::Timestamp(1)]);
    assert!(server.recv().options.contains(&encode(&OptionRepr::NetworkState(NetworkState(0)))));
    let mut server = Bench::open_server(adaptive());
    server.send_data(CLIENT_ISS + 2, &[]);
    assert!(server.recv().options.iter().all(|option| option[0] != 248));
}

/// A client that has sent a packet at 100 ms, got NORMAL at 200 ms, and sent another; its nofeedback timer is at 600 ms.
fn sending(units: u64) -> Bench {
    let mut client = Bench::open_client(adaptive());
    client.write(0);
    client.recv();
    let answer = Body::Ack { acknowledgement: CLIENT_ISS + 2 };
    client.at(200).send(SERVER_ISS + 2, answer, &feedback(10_000, Some(NetworkState(0)))).recv_nothing();
    (1..=units).for_each(|unit| {
        client.write(unit);
    });
    client.recv();
    client
}

#[test]
fn a_probe_is_the_data_that_waits() {
    let mut client = sending(40);
    let rate = client.connection.sender().tfrc().rate();
    while client.connection.poll_timeout().is_some_and(|due| due < ms(600)) {
        client.now = client.connection.poll_timeout().expect("just seen");
        client.connection.handle_timeout(client.now);
        client.recv();
        client.recv_nothing();
    }
    let left = client.connection.queued();
    for (nth, at) in [600, 2600, 4600].into_iter().enumerate() {
        client.timer(at);
        let seen = client.recv();
        assert_eq!((seen.body, seen.payload.len), (Body::Data, 1000));
        assert_eq!(client.connection.queued(), left - 1 - nth, "one, and no more");
    }
    // An answer: the rate is what it was, and packets flow.
    let answer = Body::Ack { acknowledgement: client.connection.statistics().packets_sent + CLIENT_ISS - 1 };
    client.at(4700).send(SERVER_ISS + 3, answer, &feedback(10_000, Some(NetworkState(0))));
    assert_eq!(client.recv().body, Body::Data);
    assert_eq!(client.connection.sender().tfrc().rate(), rate);
    assert_eq!(client.connection.statistics().probes_sent, 3);
}

#[test]
fn without_data_a_probe_is_a_sync_and_its_answer_is_enough() {
    let mut client = sending(1);
    client.timer(600);
    let probe = client.recv();
    assert_eq!(probe.body, Body::Sync { acknowledgement: SERVER_ISS + 2 });
    client.at(650).write(9).recv_nothing();
    client.at(700).send(SERVER_ISS + 3, Body::SyncAck { acknowledgement: probe.sequence }, &[]);
    assert_eq!(client.recv().payload, Payload { unit: 9, len: 1000 });
    assert!(!client.connection.sender().adtfrc().expect("it is").is_probing());
}

#[test]
fn after_the_last_probe_the_connection_closes() {
    let mut client = sending(1);
    for at in [600, 2600, 4600] {
        client.timer(at);
        assert!(matches!(client.recv().body, Body::Sync { .. }));
    }
    client.timer(6600);
    let body = Body::Reset { acknowledgement: SERVER_ISS + 2, code: ResetCode::Aborted, data: [0; 3] };
    assert_eq!(client.recv().body, body);
    client.expect_events(&[Output::Connected, Output::Closed(CloseReason::TimedOut)][1..]);
    assert_eq!(client.connection.poll_timeout(), None);
}

#[test]
fn a_path_that_goes_with_the_last_data_may_come_back_while_the_connection_closes() {
    let mut client = sending(1);
    client.connection.handle_close(client.now);
    assert!(matches!(client.recv().body, Body::Close { .. }));
    client.recv_nothing();
    // Half-closed connections last eight minutes, and the Close is all that is sent in them.
    while let Some(due) = client.connection.poll_timeout().filter(|&due| due < ms(480_200)) {
        client.now = due;
        client.connection.handle_timeout(due);
        assert!(matches!(client.recv().body, Body::Close { .. }));
        client.recv_nothing();
    }
    client.timer(480_200);
    assert!(matches!(client.recv().body, Body::Reset { .. }));
    client.expect_events(&[Output::Closed(CloseReason::TimedOut)]);
}

fn plain() -> Config {
    let tfrc = tfrc::Config { edition: tfrc::Edition::Rfc3448, ..tfrc::Config::default() };
    Config { congestion: Congestion::Tfrc(tfrc), queue: 100, ..Config::default() }
}

/// Bytes that arrive in `seconds` over a link whose impairments count for what the client sends, from one that always has some, and
/// the packets that overflowed.
fn run(configs: [Config; 2], impairments: Impairments, seconds: u64) -> (u64, u64) {
    let mut pair = pair(configs, [u64::MAX, 0], 1000, link(impairments), 11, false);
    pair.run_until(Instant::START + Duration::from_secs(seconds));
    (pair.server.delivered, pair.link.statistics(Side::Client).overflowed)
}

/// A link with a bottleneck in the client's direction alone.
fn link(impairments: Impairments) -> Link<super::super::Packet> {
    Link::asymmetric(impairments, Impairments { bottleneck: None, ..impairments }, 12)
}

/// 8 ms for a packet of 1036 bytes, which has 1000 of data (1 Mb/s), 40 ms in each direction, and room for fifty packets.
fn bottleneck() -> Impairments {
    let bottleneck = Bottleneck { per_byte: Duration::from_nanos(7722), queue: Duration::from_millis(400) };
    Impairments { bottleneck: Some(bottleneck), ..Impairments::latency(Duration::from_millis(40)) }
}

fn patient() -> Config {
    Config { congestion: Congestion::Adtfrc(adtfrc::Config::default()), ..adaptive() }
}

fn both(config: fn() -> Config, link: Impairments) -> (u64, u64) {
    run([config(), config()], link, 60)
}

#[test]
fn a_bottleneck_of_its_own_is_filled_without_errors_as_tfrc_fills_it() {
    let (plain, _) = both(plain, bottleneck());
    let (adaptive, overflows) = both(patient, bottleneck());
    assert!(adaptive * 10 > plain * 9, "{adaptive} and {plain} octets");
    // It finds the congestion that it makes: few packets more than TFRC's are lost.
    assert!(overflows * 1000 < adaptive / 20, "{overflows} of {} packets", adaptive / 1000);
}

#[test]
fn channel_errors_cost_little_more_than_what_they_destroy() {
    for (loss, least) in [(0.02, 1.2), (0.05, 2.0)] {
        let link = Impairments { loss, ..bottleneck() };
        let ((plain, _), (adaptive, overflows)) = (both(plain, link), both(patient, link));
        assert!(adaptive as f64 > least * plain as f64, "{adaptive} and {plain} octets at {loss}");
        assert!(overflows * 1000 < adaptive / 10, "{overflows} of {} packets", adaptive / 1000);
    }
}

#[test]
fn after_a_disconnection_the_flow_is_back_within_a_probe() {
    // Fifteen seconds of sixty.
    let outage = Some([ms(20_000), ms(35_000)]);
    let impairments = Impairments { outage, ..bottleneck() };
    let mut pair = pair([patient(), patient()], [u64::MAX, 0], 1000, link(impairments), 11, false);
    pair.run_until(ms(34_999));
    let before = pair.server.delivered;
    assert!(pair.client.connection.sender().adtfrc().expect("it is").is_probing());
    // The next probe, a round trip, and half a second at no less than half the rate.
    pair.run_until(ms(37_600));
    assert!(pair.server.delivered - before > 30_000, "{}", pair.server.delivered - before);
    let ((plain, _), (adaptive, _)) = (both(plain, impairments), both(patient, impairments));
    assert!(adaptive > plain, "{adaptive} and {plain} octets");
}

#[test]
fn with_a_plain_peer_on_either_side_it_is_tfrc() {
    let link = Impairments { loss: 0.02, ..bottleneck() };
    let (reference, _) = run([plain(), plain()], link, 60);
    for configs in [[patient(), plain()], [plain(), patient()]] {
        let (delivered, _) = run(configs, link, 60);
        let ratio = delivered as f64 / reference as f64;
        assert!((0.85..1.15).contains(&ratio), "{ratio}");
    }
}
