//! A machine that is not drained says so.

use std::net::Ipv4Addr;

use crate::random::{Purpose, Stream};
use crate::routing::{Node, Packet, Routing, aodv, dsdv, dsr, olsr};
use crate::time::Instant;
use crate::transport::{dccp, tcp};

fn node() -> Node {
    let random = Stream::new(1, Purpose::Routing, 0, 0);
    Node { address: Ipv4Addr::new(10, 0, 0, 1), interfaces: 1, random }
}

/// Lets the timer go off twice, without taking out what the first time has put out.
fn forgets_to_drain(mut protocol: impl Routing) {
    let destination = Ipv4Addr::new(10, 0, 0, 9);
    let packet = Packet {
        source: Ipv4Addr::new(10, 0, 0, 1),
        destination,
        ttl: 64,
        from: None,
        octets: &[],
        has_data: true,
        protocol: 17,
        identification: 1,
        fragment_offset: 0,
    };
    protocol.handle_packet(&packet, Instant::START);
    for _ in 0..100 {
        let due = protocol.poll_timeout().expect("a search or an update is due");
        protocol.handle_timeout(due);
    }
}

#[test]
#[should_panic(expected = "outputs are left")]
fn aodv_is_drained_before_the_next_timer() {
    forgets_to_drain(aodv::Aodv::new(aodv::Config::rfc3561(), node(), Instant::START));
}

#[test]
#[should_panic(expected = "outputs are left")]
fn dsdv_is_drained_before_the_next_timer() {
    forgets_to_drain(dsdv::Dsdv::new(dsdv::Config::default(), node()));
}

#[test]
#[should_panic(expected = "outputs are left")]
fn dsr_is_drained_before_the_next_timer() {
    forgets_to_drain(dsr::Dsr::new(node(), dsr::Config::RFC_4728));
}

#[test]
#[should_panic(expected = "outputs are left")]
fn olsr_is_drained_before_the_next_timer() {
    forgets_to_drain(olsr::Olsr::new(olsr::Config::default(), node()));
}

#[test]
#[should_panic(expected = "outputs are left")]
fn a_connection_of_tcp_is_drained_before_the_next_segment() {
    let mut server = tcp::Connection::listen(tcp::Config::default(), 1);
    let syn = tcp::Segment { flags: tcp::Flags::SYN, window: 1000, ..tcp::Segment::default() };
    server.handle_segment(&syn, Instant::START);
    server.handle_segment(&syn, Instant::START);
}

#[test]
#[should_panic(expected = "outputs are left")]
fn a_connection_of_dccp_is_drained_before_the_next_packet() {
    let mut client = dccp::Connection::connect(dccp::Config::default(), 1);
    let mut server = dccp::Connection::listen(dccp::Config::default(), 2);
    let Some(dccp::Output::Transmit(request)) = client.poll_output(Instant::START) else { panic!("no Request") };
    server.handle_packet(&request, Instant::START);
    server.handle_packet(&request, Instant::START);
}

#[test]
fn what_the_user_does_in_answer_to_an_output_may_come_before_the_rest_is_drained() {
    let mut server = tcp::Connection::listen(tcp::Config::default(), 1);
    let syn = tcp::Segment { flags: tcp::Flags::SYN, window: 1000, ..tcp::Segment::default() };
    server.handle_segment(&syn, Instant::START);
    assert!(matches!(server.poll_output(Instant::START), Some(tcp::Output::Transmit(_))));
    assert_eq!(server.handle_write(100, Instant::START), 100);
    assert_eq!(server.poll_output(Instant::START), None);
    server.handle_segment(&syn, Instant::START);
}
