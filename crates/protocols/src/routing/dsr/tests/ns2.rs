//! What ns-2.35 does otherwise (`dsr/dsragent.cc`, `dsr/routecache.cc`, `dsr/mobicache.cc`).

use hopcast_wire::dsr::SourceRoute;

use super::bench::*;
use super::*;
use crate::routing::network::hop_to;

const NS_2: Config = Config { broadcast_jitter: Duration::ZERO, ..Config::NS_2 };

/// A packet from 1 over 2, 0, 5 and 6 to 9, as node 0 gets it, and as it has failed there.
const SENT: Sent = Sent { from: 2, source: 1, destination: 9, identification: 7 };
const FAILED: Sent = Sent { from: 0, ..SENT };

fn incoming() -> DsrOption<'static> {
    route(nodes([2, 0, 5, 6]), 3)
}

fn outgoing() -> DsrOption<'static> {
    route(nodes([2, 0, 5, 6]), 2)
}

fn asking(identification: u16, ttl: u8) -> Output {
    broadcast(None, ttl, &[request(identification, 9, &[])])
}

/// getRouteForPacket and BackOffTest: neighbours first each time, and 4^n × 0.5 s from one such request to the next.
#[test]
fn neighbours_are_asked_before_each_request_through_the_network() {
    let mut bench = Bench::new(NS_2);
    assert_eq!(bench.originate(9), Verdict::Wait);
    assert_eq!(bench.outputs(), [asking(1, 1)]);
    for (identification, (at, ttl)) in
        (2..).zip([(30, 15), (2000, 1), (2030, 15), (10_000, 1), (10_030, 15), (20_000, 1), (20_030, 15)])
    {
        assert_eq!(bench.due(millis(at)), [asking(identification, ttl)]);
    }
    assert_eq!(bench.due(millis(30_000)), [], "the packet has been dropped");
    assert_eq!(bench.machine.poll_timeout(), None);
    bench.at(30_001).originate(9);
    assert_eq!(bench.outputs(), [asking(9, 1)]);
}

/// acceptRouteReply sets rt_reqs_outstanding and last_rt_req to zero; a route from anywhere else does not.
#[test]
fn a_reply_lets_another_search_begin_at_once() {
    for (is_reply, next) in [(true, 51), (false, 2000)] {
        let mut bench = Bench::new(NS_2);
        bench.originate(9);
        assert_eq!(bench.outputs().len() + bench.due(millis(30)).len(), 2);
        bench.at(50);
        if is_reply {
            bench.learn(&[5, 9]);
        } else {
            bench.overhear(Sent::new(5, 6, 9), 9, &with_data(&[route(nodes([5]), 0)]), true);
        }
        assert_eq!(bench.outputs(), [Output::Found(address(9))]);
        let octets = with_data(&[route(nodes([5]), 1)]);
        bench.at(51).fail(5, Sent::new(0, 0, 9), &octets, true);
        let purge = Output::Purge(hop_to(5));
        if is_reply {
            assert_eq!(bench.outputs(), [purge, asking(3, 1)]);
        } else {
            assert_eq!(bench.outputs(), [purge]);
            assert_eq!(bench.due(millis(next)), [asking(3, 1)]);
        }
    }
}

/// undeliverablePkt with dsr_salvage_max_requests: the node where a packet is stuck asks only its neighbours, once.
#[test]
fn a_node_on_the_way_looks_for_a_route() {
    let mut bench = Bench::new(NS_2);
    bench.forward(SENT, &with_data(&[incoming()]), true);
    assert_eq!(bench.fail(5, FAILED, &with_data(&[outgoing()]), true), Verdict::Wait);
    let told = message(2, 1, &[unreachable(0, 1, 5, 0), route(nodes([2]), 1)]);
    assert_eq!(bench.outputs(), [Output::Purge(hop_to(5)), told, asking(1, 1)]);
    bench.at(5000);
    assert_eq!(bench.fail(5, FAILED, &with_data(&[outgoing()]), true), Verdict::Wait);
    assert_eq!(bench.outputs().len(), 2, "it has asked");
    // There is a way: the driver asks again.
    bench.at(6000).learn(&[7, 9]);
    assert_eq!(bench.outputs(), [Output::Found(address(9))]);
    let onwards = with_data(&[salvaged(nodes([0, 7]), 1, 1)]);
    assert_eq!(bench.forward(FAILED, &with_data(&[outgoing()]), true), to(7, Some(onwards)));
    // Since there was a reply, it may ask again.
    let octets = with_data(&[salvaged(nodes([0, 7]), 1, 1)]);
    assert_eq!(bench.fail(7, FAILED, &octets, true), Verdict::Wait);
    assert_eq!(bench.outputs().last(), Some(&asking(2, 1)));
    // A packet that was salvaged too often is lost.
    let octets = with_data(&[salvaged(nodes([3, 0, 5]), 1, 15)]);
    assert_eq!(bench.fail(5, FAILED, &octets, true), Verdict::Drop);
}

/// An own packet makes the node ask all nodes, even if packets of others wait for the same destination.
#[test]
fn a_search_for_others_becomes_one_of_its_own() {
    let mut bench = Bench::new(NS_2);
    bench.fail(5, FAILED, &with_data(&[outgoing()]), true);
    assert_eq!(bench.outputs().last(), Some(&asking(1, 1)));
    bench.at(100).originate(9);
    assert_eq!(bench.outputs(), [asking(2, 15)]);
    assert_eq!(bench.due(millis(2000)), [asking(3, 1)]);
}

#[test]
fn what_waits_for_others_is_forgotten_with_them() {
    let mut bench = Bench::new(NS_2);
    bench.fail(5, FAILED, &with_data(&[outgoing()]), true);
    bench.outputs();
    bench.at(30_001);
    assert_eq!(bench.machine.poll_timeout(), None);
    bench.learn(&[7, 9]);
    assert_eq!(bench.outputs(), [], "nothing waits");
}

/// handlePktWithoutSR: a packet of this node begins again each time, with or without a header. As often as others are salvaged: ns-2
/// has no end to it.
#[test]
fn a_source_sends_its_packets_once_more() {
    for list in [&[5][..], &[5, 6]] {
        let destination = list[list.len() - 1];
        let mut bench = Bench::new(NS_2);
        let own = Sent::new(0, 0, destination);
        for attempt in 1..=16 {
            bench.at(attempt).learn(list);
            let Verdict::Forward(forward) = bench.forward(own, &with_data(&[outgoing()]), true) else {
                panic!("there is a route")
            };
            assert_eq!(forward.hop, hop_to(5));
            let header = forward.header.unwrap_or_default();
            assert_eq!(header, if list.len() == 1 { [].into() } else { with_data(&[route(nodes([5]), 1)]) });
            let verdict = if attempt <= 15 { Verdict::Wait } else { Verdict::Drop };
            assert_eq!(bench.fail(5, own, &header, true), verdict);
            bench.outputs();
        }
    }
}

/// Also where it always knows another way.
#[test]
fn a_source_gives_a_packet_up_in_the_end() {
    let mut bench = Bench::new(NS_2);
    let own = Sent::new(0, 0, 9);
    for attempt in 1..=16 {
        bench.at(attempt).learn(&[5, 9]);
        bench.learn(&[6, 9]);
        let verdict = bench.fail(5, own, &with_data(&[route(nodes([5]), 1)]), true);
        let anew = to(6, Some(with_data(&[route(nodes([6]), 1)])));
        assert_eq!(verdict, if attempt <= 15 { anew } else { Verdict::Drop }, "{attempt}");
        bench.outputs();
    }
}

/// dsragent_dont_salvage_bad_replies.
#[test]
fn a_reply_is_salvaged_unless_it_names_the_broken_link() {
    for (list, is_salvaged) in [(nodes([4, 5, 9]), true), (nodes([0, 5, 9]), false)] {
        let mut bench = Bench::new(NS_2);
        bench.learn(&[7, 1]);
        bench.outputs();
        let sent = Sent::new(0, 9, 1);
        bench.fail(1, sent, &alone(&[reply(list), route(nodes([5, 0]), 0)]), false);
        let error = message(5, 9, &[unreachable(0, 9, 1, 0), route(nodes([5]), 1)]);
        let mut expected = vec![Output::Purge(hop_to(1)), error];
        if is_salvaged {
            let Output::Send(anew) = message(7, 1, &[reply(list), salvaged(nodes([0, 7]), 1, 1)]) else {
                unreachable!()
            };
            expected.push(Output::Send(Message { source: Some(address(9)), ttl: 60, ..anew }));
        }
        assert_eq!(bench.outputs(), expected);
    }
}

/// stickPacketInSendBuffer takes messages, too.
#[test]
fn a_message_waits_for_a_route() {
    let list = nodes([4, 5, 9]);
    let error = unreachable(6, 1, 9, 0);
    for (what, source) in [(reply(list), 9), (error, 6), (unreachable(0, 1, 9, 0), 0)] {
        let mut bench = Bench::new(NS_2);
        let header = alone(&[what, if source == 0 { route(nodes([2]), 1) } else { route(nodes([5, 0]), 0) }]);
        let asked = |outputs: &[Output]| matches!(outputs.last(), Some(Output::Send(message)) if message.octets == alone(&[request(1, 1, &[])]));
        bench.fail(if source == 0 { 2 } else { 1 }, Sent::new(0, source, 1), &header, false);
        assert!(asked(&bench.outputs()), "{what:?}");
        bench.learn(&[7, 1]);
        let Output::Send(anew) = message(7, 1, &[what, salvaged(nodes([0, 7]), 1, 1)]) else { unreachable!() };
        let source = (source != 0).then(|| address(source));
        let anew = Output::Send(Message { source, ttl: 60, ..anew });
        assert_eq!(bench.outputs(), [Output::Found(address(1)), anew]);
        bench.learn(&[8, 1]);
        assert_eq!(bench.outputs(), [], "it was sent");
    }
}

#[test]
fn a_message_waits_for_as_long_as_packets_do() {
    for (at, is_sent) in [(29_999, true), (30_000, false)] {
        let mut bench = Bench::new(NS_2);
        bench.fail(1, Sent::new(0, 9, 1), &alone(&[reply(nodes([4, 5, 9])), route(nodes([5, 0]), 0)]), false);
        bench.outputs();
        bench.now = millis(at);
        bench.learn(&[7, 1]);
        assert_eq!(bench.outputs().len(), 1 + usize::from(is_sent));
    }
}

/// But for replies of this node: one that looked for a way would be answered by others that do, for ever.
#[test]
fn a_reply_of_this_node_does_not_wait() {
    let mut bench = Bench::new(NS_2);
    bench.fail(2, Sent::new(0, 0, 1), &alone(&[reply(nodes([2, 0])), route(nodes([2]), 1)]), false);
    assert_eq!(bench.outputs(), [Output::Purge(hop_to(2))]);
    bench.learn(&[7, 1]);
    assert_eq!(bench.outputs(), []);
}

/// xmitFailed tells the sender of the packet that has failed; what waited behind it goes to undeliverablePkt.
#[test]
fn senders_of_queued_packets_are_not_told() {
    let mut bench = Bench::new(NS_2);
    bench.fail(5, FAILED, &with_data(&[outgoing()]), true);
    bench.outputs();
    let octets = with_data(&[route(nodes([3, 0, 5, 6]), 2)]);
    assert_eq!(bench.purge(5, Sent { source: 4, ..FAILED }, &octets), Verdict::Wait);
    assert_eq!(bench.outputs(), []);
}

/// xmitFailed and processBrokenRouteError: an error that fails goes another way, and back in the new one, of which there
/// may be three; a node that receives that one sends it on.
#[test]
fn an_error_that_fails_takes_both_ways() {
    let (first, second) = (unreachable(6, 1, 9, 0), unreachable(7, 6, 5, 0));
    for (errors, is_told) in [(&[first][..], true), (&[first, second], true), (&[first, second, first], false)] {
        let mut bench = Bench::new(NS_2);
        bench.learn(&[8, 1]);
        bench.outputs();
        let options = [errors, &[route(nodes([5, 0]), 0)]].concat();
        bench.fail(1, Sent::new(0, 6, 1), &alone(&options), false);
        let nested = [&[unreachable(0, 6, 1, 0)], errors, &[route(nodes([5]), 1)]].concat();
        let salvaged = [errors, &[salvaged(nodes([0, 8]), 1, 1)]].concat();
        let Output::Send(anew) = message(8, 1, &salvaged) else { unreachable!() };
        let anew = Output::Send(Message { source: Some(address(6)), ttl: 60, ..anew });
        let told = is_told.then(|| message(5, 6, &nested));
        assert_eq!(
            bench.outputs(),
            [Output::Purge(hop_to(1))].into_iter().chain(told).chain([anew]).collect::<Vec<_>>()
        );
    }
    // Node 0 has salvaged an error of 6 to 1.
    for is_known in [true, false] {
        let mut bench = Bench::new(NS_2);
        if is_known {
            bench.learn(&[8, 1]);
            bench.outputs();
        }
        bench.message(5, 3, &[unreachable(3, 0, 4, 0), first, route(nodes([5]), 0)]);
        if !is_known {
            assert_eq!(bench.outputs(), [broadcast(None, 1, &[unreachable(3, 0, 4, 0), request(1, 1, &[])])]);
            bench.learn(&[8, 1]);
            assert_eq!(bench.outputs().len(), 2);
        } else {
            assert_eq!(bench.outputs(), [message(8, 1, &[first, route(nodes([8]), 1)])]);
        }
    }
}

/// pre_noticeRouteUsed: of a route the part behind this node, or behind the neighbour that was overheard.
#[test]
fn only_the_way_on_is_learned() {
    let mut bench = Bench::new(NS_2);
    bench.forward(SENT, &with_data(&[incoming()]), true);
    assert_eq!((bench.route_to(9), bench.route_to(1)), (Some(vec![5, 6, 9]), None));

    let mut bench = Bench::new(NS_2);
    bench.overhear(Sent::new(3, 1, 9), 4, &with_data(&[route(nodes([2, 3, 4]), 1)]), true);
    assert_eq!((bench.route_to(9), bench.route_to(2)), (Some(vec![3, 4, 9]), None));

    let mut bench = Bench::new(NS_2);
    bench.arrive(Sent::new(2, 1, 0), &with_data(&[route(nodes([2]), 0)]));
    bench.broadcast(2, 1, 1, &[request(7, 9, nodes([2]))]);
    assert_eq!((bench.route_to(1), bench.route_to(2)), (None, None));
}

/// acceptRouteReply and returnSrcRouteToRequestor: the ends of a reply learn their ways, nodes between the way to its receiver.
#[test]
fn a_reply_tells_its_ends() {
    let mut bench = Bench::new(NS_2);
    bench.learn(&[5, 6, 9]);
    assert_eq!(bench.route_to(9), Some(vec![5, 6, 9]));

    let mut bench = Bench::new(NS_2);
    bench.broadcast(2, 1, 1, &[request(7, 0, nodes([2]))]);
    assert_eq!(bench.outputs(), [message(2, 1, &[reply(nodes([2, 0])), route(nodes([2]), 1)])]);
    assert_eq!(bench.route_to(1), Some(vec![2, 1]));

    let mut bench = Bench::new(NS_2);
    let octets = alone(&[reply(nodes([0, 5, 9])), route(nodes([5, 0]), 1)]);
    bench.forward(Sent::new(5, 9, 1), &octets, false);
    assert_eq!((bench.route_to(9), bench.route_to(1)), (None, Some(vec![1])));
}

#[test]
fn a_path_through_another_network_is_known_as_one() {
    let mut bench = Bench::new(NS_2);
    let DsrOption::SourceRoute(inside) = incoming() else { unreachable!() };
    bench.forward(SENT, &with_data(&[DsrOption::SourceRoute(SourceRoute { last_hop_external: true, ..inside })]), true);
    let route = bench.machine.0.cache.peek(address(9), bench.now).expect("it was told");
    assert!(route.is_last_external);
    assert_eq!(bench.route_to(6), Some(vec![5, 6]));
}

/// noticeDeadLink: a link breaks in the direction in which it was tried.
#[test]
fn a_link_breaks_in_one_direction() {
    for (from, is_gone) in [(6, true), (9, false)] {
        let mut bench = Bench::new(NS_2);
        bench.learn(&[5, 6, 9]);
        bench.message(5, from, &[unreachable(from, 0, 15 - from, 0), route(nodes([5]), 0)]);
        assert_eq!(bench.route_to(9).is_none(), is_gone);
    }
}

/// ignoreRouteRequestp compares numbers, not entries.
#[test]
fn an_older_request_is_known() {
    let mut bench = Bench::new(NS_2);
    for (identification, is_new) in [(7, true), (7, false), (9, true), (8, false), (10, true)] {
        bench.broadcast(2, 1, 15, &[request(identification, 9, nodes([2]))]);
        assert_eq!(bench.outputs().len(), usize::from(is_new), "{identification}");
    }
}

/// tap returns before a message is shortened.
#[test]
fn a_message_takes_no_shorter_way() {
    let mut bench = Bench::new(NS_2);
    let octets = alone(&[reply(nodes([7, 8])), route(nodes([2, 3, 0]), 3)]);
    bench.overhear(Sent::new(1, 1, 9), 2, &octets, false);
    assert_eq!(bench.outputs(), []);
}

/// sendOutPacketWithRoute delays requests, returnSrcRouteToRequestor the target's replies, and nothing other replies.
#[test]
fn requests_and_replies_of_targets_are_delayed() {
    let mut bench = Bench::new(Config::NS_2);
    bench.originate(9);
    assert_eq!(bench.outputs(), []);
    let due = bench.machine.poll_timeout().expect("the request waits");
    assert!(due > bench.now && due < millis(10));
    assert_eq!(bench.due(due), [asking(1, 1)]);
    bench.learn(&[5, 9]);
    bench.outputs();
    bench.broadcast(2, 1, 15, &[request(7, 9, nodes([2]))]);
    assert_eq!(bench.outputs().len(), 1, "the offer");
    bench.broadcast(2, 1, 15, &[request(8, 0, nodes([2]))]);
    assert_eq!(bench.outputs(), []);
    bench.overhear(Sent::new(1, 1, 9), 2, &with_data(&[route(nodes([2, 3, 0]), 3)]), true);
    assert_eq!(bench.outputs().len(), 1, "the shorter way");
}

/// DSR_FILTER_TAP: wherever on its way a packet is heard again, it tells nothing more.
#[test]
fn a_packet_is_overheard_once() {
    let mut bench = Bench::new(NS_2);
    let list = nodes([2, 3, 0]);
    bench.overhear(Sent::new(1, 1, 9), 2, &with_data(&[route(list, 3)]), true);
    let shorter = message(1, 1, &[reply(nodes([0, 9]))]);
    assert_eq!(bench.outputs(), [shorter]);
    bench.overhear(Sent::new(2, 1, 9), 3, &with_data(&[route(list, 2)]), true);
    assert_eq!(bench.outputs(), [], "the same packet");
    let next = Sent { identification: 8, ..Sent::new(2, 1, 9) };
    bench.overhear(next, 3, &with_data(&[route(list, 2)]), true);
    assert_eq!(bench.outputs().len(), 1);
}
