//! What a connection and its congestion control tell each other, byte by byte.

use hopcast_wire::dccp::{Body, Feature, LossInterval, OptionList, OptionRepr, TimestampEcho};

use super::super::super::tfrc;
use super::super::{Config, Congestion, Output, Payload};
use super::bench::{Bench, CLIENT_ISS, SERVER_ISS, answers, encode, encode_all, packet, request, wishes};
use crate::time::Duration;

/// Feedback of a peer.
fn feedback(elapsed: u32, inverse: u32, rate: u32) -> [OptionRepr<'static>; 3] {
    [OptionRepr::ElapsedTime(elapsed), OptionRepr::LossEventRate(inverse), OptionRepr::ReceiveRate(rate)]
}

#[test]
fn packets_leave_at_the_allowed_rate_with_the_window_counter() {
    let config = Config { queue: 100, ..Config::default() };
    let mut client = Bench::open_client(config);
    (0..10).for_each(|unit| {
        client.write(unit);
    });
    // Four packets in the round trip of 100 ms: the counter, too, grows with each. The first tells of two packets without
    // data, Request and acknowledgement.
    let first = client.recv();
    assert_eq!((first.sequence, first.body, first.ccval), (CLIENT_ISS + 2, Body::Data, 0));
    assert_eq!(first.payload, Payload { unit: 0, len: 1000 });
    assert_eq!(first.options, [encode(&OptionRepr::NdpCount(2))]);
    for (nth, at) in [125, 150, 175].into_iter().enumerate() {
        let seen = client.timer(at).recv();
        assert_eq!((seen.sequence, u64::from(seen.ccval)), (CLIENT_ISS + 3 + nth as u64, 1 + nth as u64));
        assert_eq!(seen.options, Vec::<Vec<u8>>::new());
    }
    // Feedback for the first: it left at 100 ms and waited 20 ms; 40 kB/s arrive, and there is no loss.
    let ack = Body::Ack { acknowledgement: CLIENT_ISS + 2 };
    client.timer(200).recv();
    client.at(220).send(SERVER_ISS + 2, ack, &feedback(2000, u32::MAX, 40_000));
    assert_eq!(client.connection.sender().tfrc().rtt(), Some(Duration::from_millis(100)));
    // 80 kB/s: 12.5 ms after the last, which has passed.
    let seen = client.recv();
    assert_eq!((seen.sequence, seen.ccval), (CLIENT_ISS + 7, 4));
    assert_eq!(client.connection.sender().tfrc().rate(), 80_000.0);
    let due = client.connection.poll_timeout().expect("more wait");
    assert_eq!(due.as_nanos(), 232_500_000, "12.5 ms after the feedback");
}

#[test]
fn feedback_that_was_overtaken_is_old() {
    let mut client = Bench::open_client(Config { queue: 10, ..Config::default() });
    client.write(1);
    client.recv();
    let ack = Body::Ack { acknowledgement: CLIENT_ISS + 2 };
    client.at(200).send(SERVER_ISS + 3, ack, &feedback(0, u32::MAX, 40_000)).recv_nothing();
    let rate = client.connection.sender().tfrc().rate();
    client.send(SERVER_ISS + 2, ack, &feedback(0, 2, 1)).recv_nothing();
    assert_eq!(client.connection.sender().tfrc().rate(), rate);
    // Without a receive rate it is no feedback.
    client.send(SERVER_ISS + 4, ack, &feedback(0, 2, 1)[..2]).recv_nothing();
    assert_eq!(client.connection.statistics().feedback_received, 1);
    // 1/2 and 100 kB/s: the equation decides.
    client.send(SERVER_ISS + 5, ack, &feedback(0, 2, 100_000)).recv_nothing();
    assert_eq!(client.connection.sender().tfrc().loss_event_rate(), 0.5);
}

#[test]
fn rfc_4342_section_6_feedback_has_what_the_sender_needs() {
    let mut server = Bench::open_server(Config::default());
    // The handshake took 100 ms. The first packet is answered at once; within 100 ms 1000 octets arrived.
    server.at(150).send_data(CLIENT_ISS + 2, &[OptionRepr::Timestamp(7777)]);
    let options = server.recv().options;
    let echo = |elapsed| OptionRepr::TimestampEcho(TimestampEcho { timestamp: 7777, elapsed: Some(elapsed) });
    let expected = [
        OptionRepr::ElapsedTime(0),
        echo(0),
        OptionRepr::ReceiveRate(10_000),
        OptionRepr::LossEventRate(u32::MAX),
        OptionRepr::NdpCount(2),
    ];
    assert_eq!(options, encode_all(&expected));
    // Two more; the timer comes a round trip after the last feedback, 30 ms after the last packet.
    server.at(200).send_data(CLIENT_ISS + 3, &[]).recv_nothing();
    server.at(220).send_data(CLIENT_ISS + 4, &[]).recv_nothing();
    server.timer(250);
    let seen = server.recv();
    assert_eq!(seen.body, Body::Ack { acknowledgement: CLIENT_ISS + 4 });
    let expected =
        [OptionRepr::ElapsedTime(3000), OptionRepr::ReceiveRate(20_000), OptionRepr::LossEventRate(u32::MAX)];
    assert_eq!(seen.options[..3], encode_all(&expected));
    let [Output::Deliver(first), ..] = server.events[..] else { panic!("{:?}", server.events) };
    assert_eq!(first.payload, Payload { unit: CLIENT_ISS + 2, len: 1000 });
    assert_eq!(server.events.len(), 3);
}

#[test]
fn rfc_4342_section_8_6_without_loss_event_rates_there_are_loss_intervals() {
    // The peer refuses to want them: its preference is 0, and it is the server.
    let mut client = Bench::client(Config::default());
    client.recv();
    let mut options = answers().to_vec();
    options[9] = OptionRepr::ChangeR(Feature::SendLossEventRate, &[0]);
    client.at(100).send(SERVER_ISS, Body::Response { acknowledgement: CLIENT_ISS, service_code: 0 }, &options);
    client.recv();
    client.send_data(SERVER_ISS + 1, &[]);
    let mut none = OptionList::new();
    none.push_loss_intervals(0, [].into_iter());
    let none = none.as_options().as_octets().to_vec();
    assert_eq!(client.recv().options[2], none, "no loss, no interval");
    // 4 is missing, 5 to 7 arrive.
    [2, 3, 5, 6, 7].into_iter().for_each(|nth| {
        client.send_data(SERVER_ISS + nth, &[]);
    });
    let seen = client.recv();
    let last = seen.options.iter().find(|option| option[0] == 193).expect("the loss is reported at once");
    // Two intervals: of 4 to 7, and the one before, whose length goes with the receive rate.
    assert_eq!((last.len(), &last[2..12]), (21, &[0, 0, 0, 3, 0, 0, 1, 0, 0, 4][..]));
    assert_eq!(last[15..18], [0, 0, 0], "before the first loss nothing was lost");

    // The other way round: a peer that sends intervals alone.
    let mut client = Bench::open_client(Config { queue: 10, ..Config::default() });
    client.write(1);
    client.recv();
    let intervals = [
        LossInterval { lossless: 9, lossy: 1, data: 10, ..Default::default() },
        LossInterval { lossless: 19, lossy: 1, data: 20, ..Default::default() },
        LossInterval { lossless: 30, lossy: 10, data: 40, ..Default::default() },
    ];
    let mut list = OptionList::new();
    list.push(&OptionRepr::ReceiveRate(100_000));
    list.push_loss_intervals(0, intervals.into_iter());
    let options: Vec<_> = list.as_options().iter().map(Result::unwrap).collect();
    client.at(200).send(SERVER_ISS + 2, Body::Ack { acknowledgement: CLIENT_ISS + 2 }, &options).recv_nothing();
    assert_eq!(client.connection.sender().tfrc().loss_event_rate(), 1.0 / 30.0);
}

#[test]
fn section_7_7_packets_without_data_are_not_taken_for_lost() {
    let mut server = Bench::open_server(Config::default());
    server.send_data(CLIENT_ISS + 2, &[]);
    server.recv();
    // Three acknowledgements of the client are lost; the next packet tells of them.
    server.send_data(CLIENT_ISS + 6, &[OptionRepr::NdpCount(3)]);
    (7..10).for_each(|nth| {
        server.send_data(CLIENT_ISS + nth, &[]);
    });
    assert_eq!(server.connection.receiver().tfrc().loss_event_rate(), 0.0);
    // 10 had data.
    server.send_data(CLIENT_ISS + 13, &[OptionRepr::NdpCount(2)]);
    (14..16).for_each(|nth| {
        server.send_data(CLIENT_ISS + nth, &[]);
    });
    assert!(server.connection.receiver().tfrc().loss_event_rate() > 0.0);
    server.recv();
}

#[test]
fn feedback_rides_on_data_if_there_is_some() {
    let mut server = Bench::open_server(Config::default());
    server.write(1);
    server.recv();
    server.write(2);
    server.at(120).send_data(CLIENT_ISS + 2, &[]);
    let seen = server.recv();
    assert_eq!(seen.body, Body::Ack { acknowledgement: CLIENT_ISS + 2 }, "the next is not due yet");
    // Both are due at one instant: data of this end, and the feedback a round trip later.
    server.timer(125);
    server.recv();
    server.at(150).send_data(CLIENT_ISS + 3, &[]).recv_nothing();
    server.at(220).write(3);
    server.connection.handle_timeout(server.now);
    let seen = server.recv();
    assert_eq!(seen.body, Body::DataAck { acknowledgement: CLIENT_ISS + 3 });
    assert_eq!((seen.payload.unit, seen.options[0][0]), (3, 43));
}

#[test]
fn a_flow_of_small_packets_has_ccid_4() {
    let small = tfrc::Config { segment: 160, small_packets: true, ..tfrc::Config::default() };
    let mut client = Bench::client(Config { congestion: Congestion::Tfrc(small), ..Config::default() });
    let options = client.expect(CLIENT_ISS, request());
    assert_eq!(options[1], encode(&OptionRepr::ChangeL(Feature::Ccid, &[4])));
    // Someone with CCID 3 alone refuses.
    let mut server = Bench::server(Config::default());
    let mut wishes = wishes();
    wishes[1] = OptionRepr::ChangeL(Feature::Ccid, &[4]);
    server.deliver(&packet(CLIENT_ISS, request(), &wishes, 0));
    assert!(matches!(server.recv().body, Body::Reset { .. }));
}
