//! Closing a connection (RFC 4340, section 8.3).

use hopcast_wire::dccp::{Body, ResetCode};

use super::super::{CloseReason, Config, Output, Payload, State};
use super::bench::{Bench, CLIENT_ISS, SERVER_ISS};

const CLOSED: ResetCode = ResetCode::Closed;

#[test]
fn section_8_3_a_client_closes() {
    let mut client = Bench::open_client(Config::default());
    client.connection.handle_close(client.now);
    client.expect(CLIENT_ISS + 2, Body::Close { acknowledgement: SERVER_ISS + 1 });
    client.expect_state(State::Closing);
    assert!(!client.connection.handle_write(Default::default(), client.now));
    // Two round trips later once more, and then after twice that.
    client.timer(300);
    client.expect(CLIENT_ISS + 3, Body::Close { acknowledgement: SERVER_ISS + 1 });
    client.timer(700);
    client.expect(CLIENT_ISS + 4, Body::Close { acknowledgement: SERVER_ISS + 1 });
    let reset = Body::Reset { acknowledgement: CLIENT_ISS + 4, code: CLOSED, data: [0; 3] };
    client.at(800).send(SERVER_ISS + 2, reset, &[]);
    client.expect_state(State::TimeWait).expect_events(&[Output::Closed(CloseReason::Finished)]);
    // What comes now belongs to no connection.
    client.at(900).send_data(SERVER_ISS + 3, &[]);
    let body = Body::Reset { acknowledgement: SERVER_ISS + 3, code: ResetCode::NoConnection, data: [0; 3] };
    client.expect(0, body);
    client.timer(240_800).expect_state(State::Closed).expect_events(&[]);
    assert_eq!(client.connection.poll_timeout(), None);
}

/// A Close that was out of the peer's window draws a Sync. What follows the answer to that is within it.
#[test]
fn section_8_3_a_close_follows_the_answer_to_a_sync() {
    let mut client = Bench::open_client(Config::default());
    client.connection.handle_close(client.now);
    client.recv();
    client.at(200).send(SERVER_ISS + 2, Body::Sync { acknowledgement: CLIENT_ISS + 2 }, &[]);
    client.expect(CLIENT_ISS + 3, Body::SyncAck { acknowledgement: SERVER_ISS + 2 });
    client.timer(200);
    client.expect(CLIENT_ISS + 4, Body::Close { acknowledgement: SERVER_ISS + 2 });
    client.timer(600);
    client.expect(CLIENT_ISS + 5, Body::Close { acknowledgement: SERVER_ISS + 2 });
}

#[test]
fn what_is_taken_back_no_longer_holds_the_close_up() {
    let mut client = Bench::open_client(Config::default());
    while client.connection.handle_write(Payload { unit: 0, len: 100 }, client.now) {}
    client.recv();
    client.connection.handle_close(client.now);
    client.expect_state(State::Open);
    assert!(client.connection.handle_flush(client.now) > 0);
    client.expect(CLIENT_ISS + 3, Body::Close { acknowledgement: SERVER_ISS + 1 });
    // No second time.
    assert_eq!(client.connection.handle_flush(client.now), 0);
    client.expect_state(State::Closing);
}

#[test]
fn section_8_3_a_server_answers_a_close() {
    let mut server = Bench::open_server(Config::default());
    server.send(CLIENT_ISS + 2, Body::Close { acknowledgement: SERVER_ISS + 1 }, &[]);
    server.expect(SERVER_ISS + 2, Body::Reset { acknowledgement: CLIENT_ISS + 2, code: CLOSED, data: [0; 3] });
    server.expect_state(State::Closed).expect_events(&[Output::Closed(CloseReason::Finished)]);
}

#[test]
fn section_8_3_a_server_asks_the_client_to_close() {
    let mut server = Bench::open_server(Config::default());
    server.connection.handle_close(server.now);
    server.expect(SERVER_ISS + 2, Body::CloseReq { acknowledgement: CLIENT_ISS + 1 });
    server.expect_state(State::CloseReq);
    server.timer(300);
    server.expect(SERVER_ISS + 3, Body::CloseReq { acknowledgement: CLIENT_ISS + 1 });
    // What comes meanwhile is delivered.
    server.send_data(CLIENT_ISS + 2, &[]);
    server.recv();
    assert!(matches!(server.events.pop(), Some(Output::Deliver(_))));
    server.send(CLIENT_ISS + 3, Body::Close { acknowledgement: SERVER_ISS + 3 }, &[]);
    let reset = server.recv();
    assert_eq!(reset.body, Body::Reset { acknowledgement: CLIENT_ISS + 3, code: CLOSED, data: [0; 3] });
    server.expect_state(State::Closed).expect_events(&[Output::Closed(CloseReason::Finished)]);
}

#[test]
fn section_8_3_a_client_closes_when_asked() {
    let mut client = Bench::open_client(Config::default());
    client.send(SERVER_ISS + 2, Body::CloseReq { acknowledgement: CLIENT_ISS + 1 }, &[]);
    client.expect(CLIENT_ISS + 2, Body::Close { acknowledgement: SERVER_ISS + 2 });
    client.expect_state(State::Closing);
    // A repeated CloseReq adds nothing; the timer does it.
    client.send(SERVER_ISS + 3, Body::CloseReq { acknowledgement: CLIENT_ISS + 1 }, &[]).recv_nothing();
    client.timer(300);
    client.expect(CLIENT_ISS + 3, Body::Close { acknowledgement: SERVER_ISS + 3 });
}

#[test]
fn what_waits_is_sent_before_the_close() {
    let mut client = Bench::open_client(Config::default());
    client.write(1).write(2);
    client.connection.handle_close(client.now);
    assert_eq!(client.recv().payload.unit, 1);
    client.expect_state(State::Open).timer(125);
    assert_eq!(client.recv().payload.unit, 2);
    assert_eq!(client.recv().body, Body::Close { acknowledgement: SERVER_ISS + 1 });
}

#[test]
fn an_abort_is_told() {
    let mut client = Bench::open_client(Config::default());
    client.connection.handle_abort(client.now);
    let body = Body::Reset { acknowledgement: SERVER_ISS + 1, code: ResetCode::Aborted, data: [0; 3] };
    client.expect(CLIENT_ISS + 2, body);
    client.expect_state(State::Closed).expect_closed(CloseReason::Aborted);
    let mut server = Bench::open_server(Config::default());
    let body = Body::Reset { acknowledgement: SERVER_ISS + 1, code: ResetCode::Aborted, data: [0; 3] };
    server.send(CLIENT_ISS + 2, body, &[]).expect_state(State::TimeWait);
    server.expect_events(&[Output::Closed(CloseReason::Reset(ResetCode::Aborted))]);
}

#[test]
fn a_peer_that_never_answers_the_close_is_given_up() {
    let mut client = Bench::open_client(Config::default());
    client.connection.handle_close(client.now);
    let mut repeats = 0;
    while client.connection.state() == State::Closing {
        while client.next().is_some() {
            repeats += 1;
        }
        client.now = client.connection.poll_timeout().expect("it waits");
        client.connection.handle_timeout(client.now);
    }
    // After 0, 0.2, 0.6, 1.4 … 51 s, and then each 64 s up to 480 s.
    assert_eq!(repeats, 10 + 5);
    assert!(matches!(client.recv().body, Body::Reset { code: ResetCode::Aborted, .. }));
    client.expect_closed(CloseReason::TimedOut);
}
