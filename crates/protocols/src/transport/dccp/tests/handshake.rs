//! Opening a connection (RFC 4340, section 8.1).

use hopcast_wire::dccp::{Body, Feature, OptionRepr, ResetCode};

use super::super::{CloseReason, Config, Output, Payload, State};
use super::bench::{
    Bench, CLIENT_ISS, SERVER_ISS, answers, confirms, encode, encode_all, ms, packet, request, response, wishes,
};

#[test]
fn section_8_1_a_client_opens() {
    let mut client = Bench::client(Config::default());
    assert_eq!(client.expect(CLIENT_ISS, request()), encode_all(&wishes()));
    client.expect_state(State::Request);
    client.at(100).send(SERVER_ISS, response(CLIENT_ISS), &answers());
    // One packet without data precedes: the Request.
    let mut expected = encode_all(&confirms());
    expected.push(encode(&OptionRepr::NdpCount(1)));
    assert_eq!(client.expect(CLIENT_ISS + 1, Body::Ack { acknowledgement: SERVER_ISS }), expected);
    client.expect_state(State::PartOpen).expect_events(&[Output::Connected]);
    client.at(200).send(SERVER_ISS + 1, Body::Ack { acknowledgement: CLIENT_ISS + 1 }, &[]);
    client.expect_state(State::Open);
    assert_eq!(client.connection.poll_timeout(), None);
    assert_eq!(client.connection.sender().tfrc().rtt(), Some(ms(100) - ms(0)));
}

#[test]
fn section_8_1_a_server_opens() {
    let mut server = Bench::server(Config::default());
    server.expect_state(State::Listen);
    assert_eq!(server.connection.poll_timeout(), None);
    server.send(CLIENT_ISS, request(), &wishes());
    assert_eq!(server.expect(SERVER_ISS, response(CLIENT_ISS)), encode_all(&answers()));
    server.expect_state(State::Respond).expect_events(&[]);
    // Data alone acknowledges nothing; it draws a Sync.
    server.at(50).send_data(CLIENT_ISS + 1, &[]);
    server.expect(SERVER_ISS + 1, Body::Sync { acknowledgement: CLIENT_ISS + 1 });
    server.at(100).send(CLIENT_ISS + 2, Body::Ack { acknowledgement: SERVER_ISS }, &confirms());
    server.expect(SERVER_ISS + 2, Body::Ack { acknowledgement: CLIENT_ISS + 2 });
    server.expect_state(State::Open).expect_events(&[Output::Connected]);
}

#[test]
fn section_8_1_1_requests_are_repeated_ever_less_often_for_three_minutes() {
    let mut client = Bench::client(Config::default());
    client.expect(CLIENT_ISS, request());
    for (nth, at) in [1, 3, 7, 15, 31, 63, 127].into_iter().enumerate() {
        client.timer(1000 * at);
        let options = client.expect(CLIENT_ISS + 1 + nth as u64, request());
        assert_eq!(options, encode_all(&wishes()));
    }
    client.timer(180_000).expect_closed(CloseReason::TimedOut);
    assert_eq!(client.connection.poll_timeout(), None);
    // The Response of a server that was asleep.
    client.send(SERVER_ISS, response(CLIENT_ISS + 7), &[]);
    let body = Body::Reset { acknowledgement: SERVER_ISS, code: ResetCode::NoConnection, data: [0; 3] };
    client.expect(CLIENT_ISS + 8, body);
}

/// Its number is one that they accept, if they had a connection with an earlier program there.
#[test]
fn section_8_3_1_who_listens_resets_strangers_by_their_own_numbers() {
    let mut server = Bench::server(Config::default());
    server.send(500, Body::Ack { acknowledgement: 77 }, &[]);
    let body = Body::Reset { acknowledgement: 500, code: ResetCode::NoConnection, data: [0; 3] };
    server.expect(78, body);
    server.expect_state(State::Listen);
    server.send(CLIENT_ISS, request(), &wishes());
    server.expect(SERVER_ISS, response(CLIENT_ISS));
}

#[test]
fn section_8_1_1_only_the_response_to_a_request_opens() {
    let mut client = Bench::client(Config::default());
    client.expect(CLIENT_ISS, request());
    client.send(SERVER_ISS, response(CLIENT_ISS + 1), &answers());
    let reset = |code, kind| Body::Reset { acknowledgement: SERVER_ISS, code, data: [kind, 0, 0] };
    client.expect(CLIENT_ISS + 1, reset(ResetCode::PacketError, 1));
    client.send(SERVER_ISS, Body::Ack { acknowledgement: CLIENT_ISS }, &[]);
    client.expect(CLIENT_ISS + 2, reset(ResetCode::PacketError, 3));
    client.send_data(SERVER_ISS, &[]);
    client.expect(CLIENT_ISS + 3, reset(ResetCode::PacketError, 2));
    // A wrong Reset draws nothing; a right one ends it.
    let refusal = |acknowledgement| Body::Reset { acknowledgement, code: ResetCode::ConnectionRefused, data: [0; 3] };
    client.send(SERVER_ISS, refusal(CLIENT_ISS + 9), &[]).expect_state(State::Request);
    client.send(SERVER_ISS, refusal(CLIENT_ISS), &[]);
    client.expect_closed(CloseReason::Reset(ResetCode::ConnectionRefused)).expect_state(State::Closed);
}

#[test]
fn section_8_1_3_a_response_answers_each_request_and_the_server_gives_up() {
    let mut server = Bench::server(Config::default());
    server.send(CLIENT_ISS, request(), &wishes());
    server.expect(SERVER_ISS, response(CLIENT_ISS));
    server.at(1000).send(CLIENT_ISS + 1, request(), &wishes());
    // The client has not agreed to NDP counts yet: there is none.
    assert_eq!(server.expect(SERVER_ISS + 1, response(CLIENT_ISS + 1)), encode_all(&answers()));
    server.timer(480_000).expect_state(State::Listen).expect_events(&[]);
    // It serves again.
    server.send(CLIENT_ISS + 9, request(), &wishes());
    server.expect(SERVER_ISS + 2, response(CLIENT_ISS + 9));
}

#[test]
fn section_8_1_2_another_service_is_refused() {
    let mut server = Bench::server(Config { service_code: 7, ..Config::default() });
    server.send(CLIENT_ISS, request(), &wishes());
    let body = Body::Reset { acknowledgement: CLIENT_ISS, code: ResetCode::BadServiceCode, data: [0; 3] };
    server.expect(SERVER_ISS, body);
    server.expect_state(State::Listen);
}

#[test]
fn section_8_1_5_part_open_is_repeated_until_the_server_is_heard() {
    let mut client = Bench::client(Config::default());
    client.recv();
    client.at(100).send(SERVER_ISS, response(CLIENT_ISS), &answers());
    client.recv();
    for (nth, at) in [300, 700, 1500].into_iter().enumerate() {
        client.timer(at);
        let options = client.expect(CLIENT_ISS + 2 + nth as u64, Body::Ack { acknowledgement: SERVER_ISS });
        assert_eq!(options[..4], encode_all(&confirms())[..]);
    }
    // The server repeats its Response: so does the client its acknowledgement.
    client.send(SERVER_ISS + 1, response(CLIENT_ISS), &answers());
    client.expect(CLIENT_ISS + 5, Body::Ack { acknowledgement: SERVER_ISS + 1 });
    // Data in this state acknowledges, too, and confirms.
    client.write(77);
    let seen = client.recv();
    assert_eq!(seen.body, Body::DataAck { acknowledgement: SERVER_ISS + 1 });
    assert_eq!((seen.sequence, seen.payload), (CLIENT_ISS + 6, Payload { unit: 77, len: 1000 }));
    assert_eq!(seen.options[..4], encode_all(&confirms())[..]);
    client.expect_state(State::PartOpen);
    // A Sync leads nowhere, anything else opens.
    client.send(SERVER_ISS + 2, Body::Sync { acknowledgement: CLIENT_ISS + 6 }, &[]);
    client.recv();
    client.expect_state(State::PartOpen);
    client.send_data(SERVER_ISS + 3, &[]);
    client.recv();
    client.expect_state(State::Open);
}

#[test]
fn a_server_answers_a_client_that_has_seen_nothing_since_the_response() {
    let mut server = Bench::server(Config::default());
    server.send(CLIENT_ISS, request(), &wishes());
    server.recv();
    server.at(100).send(CLIENT_ISS + 1, Body::Ack { acknowledgement: SERVER_ISS }, &confirms());
    server.expect(SERVER_ISS + 1, Body::Ack { acknowledgement: CLIENT_ISS + 1 });
    server.at(300).send(CLIENT_ISS + 2, Body::Ack { acknowledgement: SERVER_ISS }, &confirms());
    server.expect(SERVER_ISS + 2, Body::Ack { acknowledgement: CLIENT_ISS + 2 });
    server.at(400).send(CLIENT_ISS + 3, Body::Ack { acknowledgement: SERVER_ISS + 1 }, &confirms());
    server.recv_nothing();
}

/// What the client sends in PARTOPEN acknowledges the Response, whenever that came.
#[test]
fn an_acknowledgement_that_is_repeated_times_no_path() {
    for (number, expected) in [(CLIENT_ISS + 1, ms(9_900) - ms(0)), (CLIENT_ISS + 4, ms(200) - ms(0))] {
        let mut server = Bench::server(Config::default());
        server.send(CLIENT_ISS, request(), &wishes());
        server.recv();
        server.at(9_900).send(number, Body::Ack { acknowledgement: SERVER_ISS }, &confirms());
        assert_eq!(server.connection.peer_rtt(), expected, "{number}");
        assert_eq!(server.connection.sender().tfrc().rtt().is_some(), number == CLIENT_ISS + 1);
    }
}

#[test]
fn section_5_8_2_what_must_be_understood_is_refused_if_it_is_not() {
    let refused = |options: &[OptionRepr], code, data: [u8; 3]| {
        let mut server = Bench::server(Config::default());
        server.send(CLIENT_ISS, request(), options);
        server.expect(SERVER_ISS, Body::Reset { acknowledgement: CLIENT_ISS, code, data });
        server.expect_closed(CloseReason::Refused(code));
    };
    use hopcast_wire::dccp::OptionKind;
    let unknown = OptionRepr::Other(OptionKind::Unknown(100), &[1]);
    refused(&[OptionRepr::Mandatory, unknown], ResetCode::MandatoryError, [100, 0, 0]);
    let cubic = OptionRepr::ChangeL(Feature::Ccid, &[2, 5]);
    refused(&[OptionRepr::Mandatory, cubic], ResetCode::MandatoryError, [32, 1, 2]);
    refused(&[OptionRepr::Mandatory, OptionRepr::Mandatory], ResetCode::OptionError, [1, 0, 0]);
    // Not mandatory: nothing of it is told, and the connection opens.
    let mut server = Bench::server(Config::default());
    server.send(CLIENT_ISS, request(), &[unknown]);
    server.expect(SERVER_ISS, response(CLIENT_ISS));
}

#[test]
fn a_peer_with_another_congestion_control_only_is_refused() {
    // It asks for nothing, as CCID 2 is the default; the Response insists.
    let mut server = Bench::server(Config::default());
    server.send(CLIENT_ISS, request(), &[]);
    let options = server.expect(SERVER_ISS, response(CLIENT_ISS));
    assert_eq!(options, encode_all(&wishes()));
    // An acknowledgement without confirmation opens nothing.
    server.send(CLIENT_ISS + 1, Body::Ack { acknowledgement: SERVER_ISS }, &[]);
    let body = Body::Reset { acknowledgement: CLIENT_ISS + 1, code: ResetCode::OptionError, data: [0; 3] };
    server.expect(SERVER_ISS + 1, body);
    server.expect_events(&[Output::Closed(CloseReason::Refused(ResetCode::OptionError))]);
}

#[test]
fn units_wait_for_the_handshake() {
    let mut client = Bench::client(Config { queue: 2, ..Config::default() });
    client.recv();
    client.write(1).write(2);
    assert!(!client.connection.handle_write(Payload { unit: 3, len: 1000 }, ms(0)), "the queue is full");
    assert!(!client.connection.handle_write(Payload { unit: 3, len: 65_000 }, ms(0)), "no packet can be as long");
    client.at(100).send(SERVER_ISS, response(CLIENT_ISS), &answers());
    // The initial window is four packets in the round trip of 100 ms.
    let seen = client.recv();
    assert_eq!((seen.payload.unit, seen.body), (1, Body::DataAck { acknowledgement: SERVER_ISS }));
    // The second is due 25 ms later.
    client.expect_events(&[Output::Connected, Output::Writable]);
    client.timer(125);
    assert_eq!(client.recv().payload.unit, 2);
}

#[test]
fn the_close_of_a_user_who_does_not_wait_comes_after_the_handshake() {
    let mut client = Bench::client(Config::default());
    client.recv();
    client.connection.handle_close(ms(0));
    client.expect_closed(CloseReason::Aborted);
    let mut server = Bench::server(Config::default());
    server.send(CLIENT_ISS, request(), &wishes());
    server.recv();
    server.connection.handle_close(ms(0));
    server.at(100).send(CLIENT_ISS + 1, Body::Ack { acknowledgement: SERVER_ISS }, &confirms());
    server.expect(SERVER_ISS + 1, Body::CloseReq { acknowledgement: CLIENT_ISS + 1 });
}

#[test]
fn octets_of_a_real_host_and_packets_of_a_simulation_are_one() {
    let mut server = Bench::server(Config::default());
    let mut octets = packet(CLIENT_ISS, request(), &wishes(), 0).header.to_vec();
    server.connection.handle_datagram(&octets, ms(0)).unwrap();
    server.expect(SERVER_ISS, response(CLIENT_ISS));
    server.send(CLIENT_ISS + 1, Body::Ack { acknowledgement: SERVER_ISS }, &confirms());
    server.recv();
    octets = packet(CLIENT_ISS + 2, Body::Data, &[], 0).header.to_vec();
    octets.extend([7; 321]);
    server.recv_nothing();
    server.connection.handle_datagram(&octets, ms(0)).unwrap();
    server.recv();
    server.recv_nothing();
    let Some(Output::Deliver(delivery)) = server.events.last() else { panic!("{:?}", server.events) };
    assert_eq!(delivery.payload, Payload { unit: 0, len: 321 });
    assert_eq!(server.connection.handle_datagram(&octets[..9], ms(0)).unwrap_err().field, "length");
    assert_eq!(server.connection.statistics().unacceptable, 1);
}
