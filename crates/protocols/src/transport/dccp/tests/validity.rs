//! Valid numbers, and how ends find together again (RFC 4340, sections 7.5 and 8.5).

use hopcast_wire::dccp::{Body, Feature, OptionRepr, ResetCode};

use super::super::{Config, Output, Packet, Payload, State, reset_for};
use super::bench::{Bench, CLIENT_ISS, SERVER_ISS, encode, packet, take_apart};

#[test]
fn section_7_5_a_packet_out_of_the_window_draws_a_sync() {
    let mut server = Bench::open_server(Config::default());
    // W = 1000: SWH = GSR + 750.
    let far = CLIENT_ISS + 1 + 751;
    server.send_data(far, &[]);
    server.expect(SERVER_ISS + 2, Body::Sync { acknowledgement: far });
    server.expect_events(&[]);
    // The peer's SyncAck brings it back.
    server.send(far + 1, Body::SyncAck { acknowledgement: SERVER_ISS + 2 }, &[]);
    server.recv_nothing();
    server.send_data(far + 2, &[]);
    server.recv();
    assert!(matches!(server.events[..], [Output::Deliver(_)]));
    // SWL = GSR + 1 - 250.
    let low = far + 2 + 1 - 250;
    server.send_data(low - 1, &[]);
    server.expect(SERVER_ISS + 4, Body::Sync { acknowledgement: low - 1 });
    server.send_data(low, &[]).recv_nothing();
    assert_eq!(server.events.len(), 2);
}

#[test]
fn section_7_5_an_acknowledgement_of_what_was_never_sent_draws_a_sync() {
    let mut server = Bench::open_server(Config::default());
    server.send(CLIENT_ISS + 2, Body::Ack { acknowledgement: SERVER_ISS + 2 }, &[]);
    server.expect(SERVER_ISS + 2, Body::Sync { acknowledgement: CLIENT_ISS + 2 });
    // The Sync itself counts as sent.
    server.send(CLIENT_ISS + 2, Body::Ack { acknowledgement: SERVER_ISS + 2 }, &[]).recv_nothing();
}

#[test]
fn section_8_5_step_15_a_sync_is_answered() {
    let mut server = Bench::open_server(Config::default());
    // It may be far ahead, unlike others.
    server.send(CLIENT_ISS + 5000, Body::Sync { acknowledgement: SERVER_ISS + 1 }, &[]);
    server.expect(SERVER_ISS + 2, Body::SyncAck { acknowledgement: CLIENT_ISS + 5000 });
    // One that acknowledges what was never sent, or is old, is dropped without a word.
    server.send(CLIENT_ISS + 5001, Body::Sync { acknowledgement: SERVER_ISS + 9 }, &[]).recv_nothing();
    server.send(CLIENT_ISS + 9, Body::Sync { acknowledgement: SERVER_ISS + 1 }, &[]).recv_nothing();
    assert_eq!(server.connection.statistics().unacceptable, 2);
}

#[test]
fn section_7_5_4_no_more_than_eight_syncs_a_second() {
    let mut server = Bench::open_server(Config::default());
    for nth in 0..20 {
        server.connection.handle_packet(&packet(1 << 40, Body::Data, &[], 1000), server.now);
        assert_eq!(server.next().is_some(), nth < 8);
        server.recv_nothing();
    }
    server.at(1099).send_data(1 << 40, &[]).recv_nothing();
    server.at(1100).send_data(1 << 40, &[]);
    server.recv();
}

#[test]
fn section_8_5_step_7_types_that_cannot_be_draw_a_sync() {
    let mut server = Bench::open_server(Config::default());
    let request = Body::Request { service_code: 0 };
    let response = Body::Response { acknowledgement: SERVER_ISS, service_code: 0 };
    for (nth, body) in [request, response, Body::CloseReq { acknowledgement: SERVER_ISS + 1 }].into_iter().enumerate() {
        let number = CLIENT_ISS + 2 + nth as u64;
        server.send(number, body, &[]);
        server.expect(SERVER_ISS + 2 + nth as u64, Body::Sync { acknowledgement: number });
    }
    // A repeated Request from before is passed over.
    server.send(CLIENT_ISS, request, &[]).recv_nothing();
    let mut client = Bench::open_client(Config::default());
    client.send(SERVER_ISS + 2, request, &[]);
    client.expect(CLIENT_ISS + 2, Body::Sync { acknowledgement: SERVER_ISS + 2 });
    client.expect_state(State::Open);
}

#[test]
fn section_8_5_what_ends_a_connection_must_be_new() {
    let mut client = Bench::open_client(Config::default());
    client.send_data(SERVER_ISS + 10, &[]);
    client.recv();
    let reset = Body::Reset { acknowledgement: CLIENT_ISS + 1, code: ResetCode::Aborted, data: [0; 3] };
    client.send(SERVER_ISS + 9, reset, &[]);
    // It says nothing about the peer's numbers: the Sync is about the greatest.
    let sync = client.recv();
    assert_eq!(sync.body, Body::Sync { acknowledgement: SERVER_ISS + 10 });
    client.send(SERVER_ISS + 10, Body::Close { acknowledgement: CLIENT_ISS + 1 }, &[]);
    assert_eq!(client.recv().body, Body::Sync { acknowledgement: SERVER_ISS + 10 });
    client.expect_state(State::Open);
}

#[test]
fn short_numbers_are_not_allowed() {
    let mut server = Bench::open_server(Config::default());
    let octets = [0, 2, 0, 1, 3, 0, 0, 0, 4, 0, 3, 234];
    server.connection.handle_datagram(&octets, server.now).unwrap();
    server.expect_events(&[]);
    assert_eq!(server.connection.statistics().unacceptable, 1);
}

#[test]
fn section_6_a_later_wish_is_answered_as_things_are() {
    let mut server = Bench::open_server(Config::default());
    let acknowledgement = SERVER_ISS + 1;
    let wishes = [OptionRepr::ChangeL(Feature::AckRatio, &[0, 4]), OptionRepr::ChangeR(Feature::SendAckVector, &[1])];
    server.send(CLIENT_ISS + 2, Body::Ack { acknowledgement }, &wishes);
    let options = server.expect(SERVER_ISS + 2, Body::Ack { acknowledgement: CLIENT_ISS + 2 });
    let expected = [
        encode(&OptionRepr::ConfirmR(Feature::AckRatio, &[0, 4])),
        encode(&OptionRepr::ConfirmL(Feature::SendAckVector, &[0, 0])),
    ];
    assert_eq!(options[..2], expected);
    // In a Data packet options of features are nothing (section 5.8), nor is Mandatory.
    server.send_data(CLIENT_ISS + 3, &[OptionRepr::Mandatory, OptionRepr::ChangeL(Feature::Unknown(99), &[1])]);
    assert!(matches!(server.recv().body, Body::Ack { .. }), "the feedback for the first data");
    server.expect_state(State::Open);
}

#[test]
fn an_option_that_cannot_be_is_passed_over_with_what_follows() {
    let mut server = Bench::open_server(Config::default());
    let mut header =
        packet(CLIENT_ISS + 2, Body::Ack { acknowledgement: SERVER_ISS + 1 }, &[OptionRepr::Timestamp(5)], 0)
            .header
            .to_vec();
    header[25] = 200;
    let payload = Payload::default();
    server.deliver(&Packet { header: header.into(), payload }).recv_nothing();
    assert_eq!(server.connection.statistics().option_errors, 1);
    server.expect_state(State::Open);
}

#[test]
fn section_8_3_1_a_packet_without_connection_is_answered_by_a_reset() {
    let answer = |body| reset_for(&packet(500, body, &[], 0)).map(|packet| take_apart(&packet));
    let reset = Body::Reset { acknowledgement: 500, code: ResetCode::NoConnection, data: [0; 3] };
    let seen = answer(Body::Ack { acknowledgement: 77 }).unwrap();
    assert_eq!((seen.sequence, seen.body), (78, reset));
    assert_eq!(answer(Body::Data).unwrap().sequence, 0);
    assert_eq!(answer(reset), None);
    let junk = Packet { header: [1, 2, 3].into(), payload: Payload::default() };
    assert_eq!(reset_for(&junk), None);
}
