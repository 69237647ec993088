//! Acknowledgements (RFC 4728, 8.3.2 and 8.3.3) at exact instants.

use super::bench::*;
use super::*;
use crate::routing::Token;
use crate::routing::network::hop_to;

const ASKING: Config = Config { acknowledgement: Acknowledgement::NetworkLayer, ..EXACT };
const LISTENING: Config = Config { acknowledgement: Acknowledgement::Passive, ..EXACT };

/// A packet from 1 over 0 and 5 to 9.
const SENT: Sent = Sent { from: 1, source: 1, destination: 9, identification: 7 };

fn incoming() -> hopcast_wire::dsr::DsrOption<'static> {
    route(nodes([0, 5]), 2)
}

fn outgoing() -> hopcast_wire::dsr::DsrOption<'static> {
    route(nodes([0, 5]), 1)
}

fn error() -> Output {
    message(1, 1, &[unreachable(0, 1, 5, 0), ack_request(2)])
}

#[test]
fn the_link_layer_needs_neither_requests_nor_copies() {
    let mut bench = Bench::new(EXACT);
    assert_eq!(bench.forward(SENT, &with_data(&[incoming()]), true), to(5, Some(with_data(&[outgoing()]))));
    assert_eq!(bench.machine.poll_timeout(), None);
}

/// 8.3.3: sent at 0, again after 100 ms, again after 200 ms more, given up after 400 ms more.
#[test]
fn without_an_acknowledgement_the_link_is_broken() {
    let mut bench = Bench::new(ASKING);
    let asking = with_data(&[outgoing(), ack_request(1)]);
    assert_eq!(bench.forward(SENT, &with_data(&[incoming()]), true), held(5, Some(asking.clone()), 1));
    assert_eq!(bench.due(millis(100)), [Output::Resend(Token(1))]);
    assert_eq!(bench.due(millis(300)), [Output::Resend(Token(1))]);
    assert_eq!(bench.due(millis(700)), [Output::Purge(hop_to(5)), Output::Recall(Token(1))]);
    assert_eq!(bench.machine.poll_timeout(), None);
    assert_eq!(bench.fail(5, Sent { from: 0, ..SENT }, &asking, true), Verdict::Drop);
    assert_eq!(bench.outputs(), [error()]);
}

/// What the link layer says counts for nothing here, or each packet would fail twice.
#[test]
fn a_dropped_frame_waits_for_its_acknowledgement() {
    let mut bench = Bench::new(ASKING);
    bench.forward(SENT, &with_data(&[incoming()]), true);
    let asking = with_data(&[outgoing(), ack_request(1)]);
    assert_eq!(bench.at(5).fail(5, Sent { from: 0, ..SENT }, &asking, true), Verdict::Drop);
    assert_eq!(bench.outputs(), []);
    assert_eq!(bench.due(millis(100)), [Output::Resend(Token(1))]);
}

/// 4.5: all packets for the neighbour have failed, and are salvaged.
#[test]
fn all_packets_for_the_neighbour_come_back() {
    let mut bench = Bench::new(ASKING);
    bench.forward(SENT, &with_data(&[incoming()]), true);
    bench.at(50).forward(Sent { source: 2, from: 2, ..SENT }, &with_data(&[incoming()]), true);
    bench.at(60).forward(SENT, &with_data(&[route(nodes([0, 6]), 2)]), true);
    assert_eq!(bench.due(millis(100)), [Output::Resend(Token(1))]);
    assert_eq!(bench.due(millis(150)), [Output::Resend(Token(2))]);
    assert_eq!(bench.due(millis(160)), [Output::Resend(Token(3))]);
    bench.message(6, 6, &[ack(3, 6, 0)]);
    assert_eq!(bench.outputs(), [Output::Release(Token(3))]);
    assert_eq!(bench.due(millis(300)), [Output::Resend(Token(1))]);
    assert_eq!(bench.due(millis(350)), [Output::Resend(Token(2))]);
    let recalled = [Output::Purge(hop_to(5)), Output::Recall(Token(1)), Output::Recall(Token(2))];
    assert_eq!(bench.due(millis(700)), recalled);
    let asking = with_data(&[outgoing(), ack_request(1)]);
    // 540 ms after its acknowledgement, 6 is asked again; before that, the error for 1 has been.
    let anew = with_data(&[salvaged(nodes([0, 6]), 1, 1), ack_request(5)]);
    assert_eq!(bench.fail(5, Sent { from: 0, ..SENT }, &asking, true), held(6, Some(anew), 5));
    assert_eq!(bench.outputs(), [message(1, 1, &[unreachable(0, 1, 5, 0), ack_request(4)])]);
    // What the interface has of it is no further packet; one that nobody holds is.
    assert_eq!(bench.purge(5, Sent { from: 0, ..SENT }, &asking), Verdict::Drop);
    let other = Sent { from: 0, identification: 8, ..SENT };
    let anew = with_data(&[salvaged(nodes([0, 6]), 1, 1), ack_request(6)]);
    assert_eq!(bench.purge(5, other, &with_data(&[outgoing()])), held(6, Some(anew), 6));
    assert_eq!(bench.outputs(), []);
}

/// 8.3: after an acknowledgement nothing is asked for 250 ms; the time that it took sets the next timeout (RFC 6298): 20 ms
/// and 4 × 10 ms, then 20 − (20 − 12) / 8 = 19 ms and 4 × (3 × 10 + 8) / 4 ms = 38 ms.
#[test]
fn an_acknowledgement_counts_for_a_while() {
    let mut bench = Bench::new(ASKING);
    bench.forward(SENT, &with_data(&[incoming()]), true);
    bench.at(20).message(5, 5, &[ack(1, 5, 0)]);
    assert_eq!(bench.outputs(), [Output::Release(Token(1))]);
    assert_eq!(bench.machine.poll_timeout(), None);
    bench.at(269);
    assert_eq!(bench.forward(SENT, &with_data(&[incoming()]), true), to(5, Some(with_data(&[outgoing()]))));
    bench.at(270);
    let asking = with_data(&[outgoing(), ack_request(2)]);
    assert_eq!(bench.forward(SENT, &with_data(&[incoming()]), true), held(5, Some(asking), 2));
    assert_eq!(bench.machine.poll_timeout(), Some(millis(330)));
    bench.at(282).message(5, 5, &[ack(2, 5, 0)]);
    bench.at(600).outputs();
    bench.forward(SENT, &with_data(&[incoming()]), true);
    assert_eq!(bench.machine.poll_timeout(), Some(millis(657)));
}

#[test]
fn what_does_not_answer_a_request_is_no_acknowledgement() {
    let mut bench = Bench::new(ASKING);
    bench.forward(SENT, &with_data(&[incoming()]), true);
    bench.message(5, 5, &[ack(2, 5, 0)]);
    bench.message(6, 6, &[ack(1, 6, 0)]);
    bench.overhear(Sent::new(5, 5, 8), 8, &alone(&[ack(1, 5, 8)]), false);
    assert_eq!(bench.outputs(), []);
    assert_eq!(bench.due(millis(100)), [Output::Resend(Token(1))]);
    // Karn: of a repeated packet it is not known which copy is answered.
    bench.at(105).message(5, 5, &[ack(1, 5, 0)]);
    assert_eq!(bench.outputs(), [Output::Release(Token(1))]);
    bench.at(1000).forward(SENT, &with_data(&[incoming()]), true);
    assert_eq!(bench.machine.poll_timeout(), Some(millis(1100)));
}

/// 8.3.3: the next node answers; other nodes that hear it do not.
#[test]
fn a_request_is_answered_by_the_next_node() {
    for config in [EXACT, ASKING] {
        let mut bench = Bench::new(config);
        bench.forward(SENT, &with_data(&[incoming(), ack_request(55)]), true);
        assert_eq!(bench.outputs(), [acknowledgement(1, 55)]);
        bench.arrive(Sent::new(6, 1, 0), &with_data(&[route(nodes([6]), 0), ack_request(56)]));
        assert_eq!(bench.outputs(), [acknowledgement(6, 56)]);
        bench.arrive(Sent::new(6, 6, 0), &with_data(&[ack_request(57)]));
        assert_eq!(bench.outputs(), [acknowledgement(6, 57)]);
        bench.forward(SENT, &with_data(&[route(nodes([5, 6]), 2), ack_request(58)]), true);
        bench.overhear(SENT, 5, &with_data(&[route(nodes([5, 6]), 2), ack_request(58)]), true);
        assert_eq!(bench.outputs(), []);
    }
}

/// 4.5: RexmtBufferSize.
#[test]
fn a_full_buffer_drops_what_comes() {
    let mut bench = Bench::new(Config { rexmt_buffer_size: 2, ..ASKING });
    let mut forward = || bench.forward(SENT, &with_data(&[incoming()]), true);
    assert_eq!([forward(), forward(), forward()].map(|verdict| verdict == Verdict::Drop), [false, false, true]);
}

/// Messages of this node are repeated too, Route Requests and acknowledgements are not.
#[test]
fn messages_are_acknowledged_as_well() {
    let mut bench = Bench::new(ASKING);
    bench.broadcast(1, 1, 255, &[request(77, 0, &[])]);
    let asking = message(1, 1, &[reply(nodes([0])), ack_request(1)]);
    let asking = [asking];
    assert_eq!(bench.outputs(), asking);
    assert_eq!(bench.due(millis(100)), asking);
    assert_eq!(bench.due(millis(300)), asking);
    assert_eq!(bench.due(millis(700)), [Output::Purge(hop_to(1))]);
    bench.at(701).broadcast(1, 1, 255, &[request(78, 9, &[])]);
    assert_eq!(bench.outputs(), [], "a neighbour that a reply does not reach is not believed");
}

/// 8.3.2: it is listened for, once more after 100 ms, then asked, and given up 100 ms later.
#[test]
fn what_is_not_heard_is_asked() {
    let mut bench = Bench::new(LISTENING);
    let silent = with_data(&[outgoing()]);
    assert_eq!(bench.forward(SENT, &with_data(&[incoming()]), true), held(5, Some(silent.clone()), 1));
    assert_eq!(bench.due(millis(100)), [Output::Resend(Token(1))]);
    assert_eq!(bench.due(millis(200)), [Output::Resend(Token(1)), message(5, 5, &[ack_request(1)])]);
    assert_eq!(bench.due(millis(300)), [Output::Purge(hop_to(5)), Output::Recall(Token(1))]);

    let mut bench = Bench::new(LISTENING);
    bench.forward(SENT, &with_data(&[incoming()]), true);
    bench.due(millis(100));
    bench.due(millis(200));
    bench.at(210).message(5, 5, &[ack(1, 5, 0)]);
    assert_eq!(bench.outputs(), [Output::Release(Token(1))]);
}

/// 8.3.2: the same packet, with fewer segments left, from the node that it was given to.
#[test]
fn a_packet_that_goes_on_is_an_acknowledgement() {
    let onward = Sent { from: 5, ..SENT };
    let last = with_data(&[route(nodes([0, 5]), 0)]);
    for (sent, octets, is_ack) in [
        (onward, &last, true),
        (Sent { identification: 8, ..onward }, &last, false),
        (Sent { source: 2, ..onward }, &last, false),
        (Sent { from: 6, ..onward }, &last, false),
        (onward, &with_data(&[route(nodes([0, 5]), 1)]), false),
    ] {
        let mut bench = Bench::new(LISTENING);
        bench.forward(SENT, &with_data(&[incoming()]), true);
        bench.at(10).overhear(sent, 9, octets, true);
        let expected = if is_ack { vec![Output::Release(Token(1))] } else { vec![] };
        assert_eq!(bench.outputs(), expected, "{sent:?}");
        assert_eq!(bench.machine.poll_timeout().is_none(), is_ack);
    }
}

/// 8.3.2: behind the last hop nothing is to be heard.
#[test]
fn on_the_last_hop_an_acknowledgement_is_asked_for() {
    let mut bench = Bench::new(LISTENING);
    let asking = with_data(&[route(nodes([0]), 0), ack_request(1)]);
    assert_eq!(bench.forward(SENT, &with_data(&[route(nodes([0]), 1)]), true), held(9, Some(asking), 1));
}

/// Over a line, each kind finds a broken link in its own time: at once (a hop is 1 ms), or after its last repetition.
#[test]
fn every_kind_of_acknowledgement_serves_a_line() {
    for config in [EXACT, ASKING, LISTENING] {
        let mut network = Network::line(5, 1, Checked::new(config));
        let second = Duration::from_secs(1);
        for _ in 0..3 {
            assert_eq!(network.path(0, 4, second), Some(vec![0, 1, 2, 3, 4]));
        }
        network.disconnect(2, 3);
        assert_eq!(network.path(0, 4, second * 5), None);
        let known = network.nodes[0].0.cache.peek(address(4), network.now);
        assert_eq!(known, None, "{:?}: the source has been told", config.acknowledgement);
        network.connect(2, 3);
        // Neighbours that replies did not reach are not believed for a while.
        network.run_for(second * 12);
        assert_eq!(network.path(0, 4, second * 12), Some(vec![0, 1, 2, 3, 4]));
    }
}

/// Who does not hear what others pass on asks, or each packet would be repeated and each link broken.
#[test]
fn without_promiscuous_mode_each_hop_is_asked() {
    let mut bench = Bench::new(Config { promiscuous: false, ..LISTENING });
    let asking = with_data(&[outgoing(), ack_request(1)]);
    assert_eq!(bench.forward(SENT, &with_data(&[incoming()]), true), held(5, Some(asking), 1));
}
