//! Broken links (RFC 4728, 8.3.4 to 8.3.6), and packets on their way (8.1).

use hopcast_wire::dsr::{DsrOption, ErrorKind, OptionType, RouteError};

use super::bench::*;
use super::*;
use crate::routing::network::hop_to;

/// A packet from 1 over 2, 0, 5 and 6 to 9, as node 0 gets it, and as it goes on.
const SENT: Sent = Sent { from: 2, source: 1, destination: 9, identification: 7 };

fn incoming() -> DsrOption<'static> {
    route(nodes([2, 0, 5, 6]), 3)
}

fn outgoing() -> DsrOption<'static> {
    route(nodes([2, 0, 5, 6]), 2)
}

/// What the driver hands over with an event: the packet as it was sent, not where it came from.
fn failed() -> Sent {
    Sent { from: 0, ..SENT }
}

#[test]
fn a_packet_goes_on_along_its_route() {
    let mut bench = Bench::new(EXACT);
    assert_eq!(bench.forward(SENT, &with_data(&[incoming()]), true), to(5, Some(with_data(&[outgoing()]))));
    // What it tells of links is known, in both directions.
    assert_eq!((bench.route_to(9), bench.route_to(1)), (Some(vec![5, 6, 9]), Some(vec![2, 1])));
    let last = Sent { destination: 5, ..SENT };
    let expected = with_data(&[route(nodes([2, 0]), 0)]);
    assert_eq!(bench.forward(last, &with_data(&[route(nodes([2, 0]), 1)]), true), to(5, Some(expected)));
    assert_eq!(bench.outputs(), []);
}

#[test]
fn a_packet_that_is_not_on_its_route_is_dropped() {
    let mut bench = Bench::new(EXACT);
    for options in [
        &[][..],
        &[route(nodes([2, 0, 5]), 0)],
        &[route(nodes([2, 0, 5]), 1)],
        &[route(nodes([2, 0, 5]), 3)],
        &[route(nodes([2, 5, 6]), 2)],
        &[salvaged(nodes([2, 5, 0]), 2, 1)],
        &[incoming(), route(nodes([2, 0, 5]), 0)],
        &[incoming(), ack_request(1), ack_request(2)],
    ] {
        assert_eq!(bench.forward(SENT, &with_data(options), true), Verdict::Drop, "{options:?}");
    }
    assert_eq!(bench.forward(SENT, &[], true), Verdict::Drop, "without a header");
    assert_eq!(bench.forward(SENT, &[17, 0, 0, 4, 96, 6, 0, 1], true), Verdict::Drop, "with a broken one");
    let multicast = [Ipv4Addr::new(224, 0, 0, 1)];
    let addresses = [nodes([2, 0]), &multicast[..]].concat();
    assert_eq!(bench.forward(SENT, &with_data(&[route(&addresses, 2)]), true), Verdict::Drop);
    assert_eq!(bench.outputs(), []);
}

/// 8.3.4: the sender is told along the way that the packet has come, and the interface gives back what waits.
#[test]
fn the_sender_of_a_packet_is_told_of_a_broken_link() {
    for config in [EXACT, PATHS] {
        let mut bench = Bench::new(config);
        bench.forward(SENT, &with_data(&[incoming()]), true);
        assert_eq!(bench.fail(5, failed(), &with_data(&[outgoing()]), true), Verdict::Drop);
        let error = message(2, 1, &[unreachable(0, 1, 5, 0), route(nodes([2]), 1)]);
        assert_eq!(bench.outputs(), [Output::Purge(hop_to(5)), error]);
        assert_eq!(bench.route_to(5), None);
        assert_eq!(bench.originate(5), Verdict::Wait);
    }
}

/// 3.3.2: nodes on the way may have offered the route, so an error passes them even where its sender knows a shorter way.
#[test]
fn an_error_goes_back_the_way_that_the_packet_has_come() {
    let mut bench = Bench::new(EXACT);
    bench.learn(&[1]);
    let sent = Sent { from: 3, ..SENT };
    bench.forward(sent, &with_data(&[route(nodes([2, 3, 0, 5]), 2)]), true);
    assert_eq!(bench.route_to(1), Some(vec![1]));
    bench.fail(5, Sent { from: 0, ..SENT }, &with_data(&[route(nodes([2, 3, 0, 5]), 1)]), true);
    let error = message(3, 1, &[unreachable(0, 1, 5, 0), route(nodes([3, 2]), 2)]);
    assert_eq!(bench.outputs(), [Output::Purge(hop_to(5)), error]);
}

/// A stream says the same with each packet; it is learned once a second, and after each break.
#[test]
fn what_a_stream_tells_is_learned_once_in_a_while() {
    let octets = with_data(&[incoming()]);
    for (second, expiry) in [(999, 25_000), (1000, 26_000)] {
        let mut bench = Bench::new(EXACT);
        bench.forward(SENT, &octets, true);
        bench.at(second).forward(SENT, &octets, true);
        bench.at(expiry - 1);
        assert_eq!(bench.route_to(9), Some(vec![5, 6, 9]));
        bench.at(expiry);
        assert_eq!(bench.route_to(9), None);
    }
    let mut bench = Bench::new(EXACT);
    bench.forward(SENT, &octets, true);
    bench.fail(5, failed(), &with_data(&[outgoing()]), true);
    assert_eq!(bench.route_to(9), None);
    bench.at(1).forward(SENT, &octets, true);
    assert_eq!(bench.route_to(9), Some(vec![5, 6, 9]));
    bench.overhear(Sent::new(6, 6, 1), 2, &alone(&[unreachable(6, 1, 9, 0), route(nodes([2]), 1)]), false);
    assert_eq!(bench.route_to(9), None);
    bench.at(2).forward(SENT, &octets, true);
    assert_eq!(bench.route_to(9), Some(vec![6, 9]), "6 was heard itself");
}

/// 3.4.2: one error to each sender, for all the packets that were queued.
#[test]
fn queued_packets_are_told_of_once() {
    let mut bench = Bench::new(EXACT);
    bench.forward(SENT, &with_data(&[incoming()]), true);
    let other = Sent { from: 3, source: 4, ..SENT };
    bench.forward(other, &with_data(&[route(nodes([3, 0, 5, 6]), 3)]), true);
    bench.fail(5, failed(), &with_data(&[outgoing()]), true);
    assert_eq!(bench.outputs().len(), 2);
    assert_eq!(bench.purge(5, failed(), &with_data(&[outgoing()])), Verdict::Drop);
    assert_eq!(bench.outputs(), [], "it has been told");
    let other_failed = with_data(&[route(nodes([3, 0, 5, 6]), 2)]);
    assert_eq!(bench.purge(5, Sent { from: 0, ..other }, &other_failed), Verdict::Drop);
    let error = message(3, 4, &[unreachable(0, 4, 5, 0), route(nodes([3]), 1)]);
    assert_eq!(bench.outputs(), [error]);
    bench.purge(5, Sent { from: 0, ..other }, &other_failed);
    assert_eq!(bench.outputs(), []);
    // Another break is another matter.
    bench.at(1).fail(5, failed(), &with_data(&[outgoing()]), true);
    assert_eq!(bench.outputs().len(), 2);
}

/// 8.3.6: the packet goes another way, after the error has been sent.
#[test]
fn a_packet_is_salvaged() {
    for config in [EXACT, PATHS] {
        let mut bench = Bench::new(config);
        bench.learn(&[7, 8, 9]);
        bench.outputs();
        bench.forward(SENT, &with_data(&[incoming()]), true);
        let expected = with_data(&[salvaged(nodes([0, 7, 8]), 2, 1)]);
        assert_eq!(bench.fail(5, failed(), &with_data(&[outgoing()]), true), to(7, Some(expected)));
        assert_eq!(bench.outputs().len(), 2, "the error, and what is queued");
    }
}

/// 8.3.6 and 8.3.4: the node that has salvaged a packet is the one to be told of the next error.
#[test]
fn a_salvaged_packet_is_salvaged_again_but_not_for_ever() {
    for (salvage, goes_on) in [(1, true), (14, true), (15, false)] {
        let mut bench = Bench::new(EXACT);
        bench.learn(&[7, 9]);
        let octets = with_data(&[salvaged(nodes([3, 0, 5]), 2, salvage)]);
        let sent = Sent { from: 3, ..SENT };
        bench.forward(sent, &octets, true);
        bench.outputs();
        let octets = with_data(&[salvaged(nodes([3, 0, 5]), 1, salvage)]);
        let verdict = bench.fail(5, Sent { from: 0, ..SENT }, &octets, true);
        let anew = goes_on.then(|| to(7, Some(with_data(&[salvaged(nodes([0, 7]), 1, salvage + 1)]))));
        assert_eq!(verdict, anew.unwrap_or(Verdict::Drop));
        let error = message(3, 3, &[unreachable(0, 3, 5, salvage)]);
        assert_eq!(bench.outputs(), [Output::Purge(hop_to(5)), error]);
    }
}

#[test]
fn fewer_salvages_can_be_allowed() {
    let mut bench = Bench::new(Config { max_salvage_count: 0, ..EXACT });
    bench.learn(&[7, 9]);
    bench.forward(SENT, &with_data(&[incoming()]), true);
    assert_eq!(bench.fail(5, failed(), &with_data(&[outgoing()]), true), Verdict::Drop);
}

/// The source tries its other routes, and then looks for new ones; its attempts are counted.
#[test]
fn a_packet_of_this_node_goes_another_way() {
    let mut bench = Bench::new(EXACT);
    bench.learn(&[5, 9]);
    bench.learn(&[6, 7, 9]);
    bench.outputs();
    let own = Sent::new(0, 0, 9);
    let first = with_data(&[route(nodes([5]), 1)]);
    assert_eq!(bench.originate(9), to(5, Some(first.clone())));
    let second = with_data(&[salvaged(nodes([0, 6, 7]), 2, 1)]);
    assert_eq!(bench.fail(5, own, &first, true), to(6, Some(second.clone())));
    assert_eq!(bench.outputs(), [Output::Purge(hop_to(5))], "it knows");
    assert_eq!(bench.fail(6, own, &second, true), Verdict::Wait);
    assert_eq!(bench.outputs(), [Output::Purge(hop_to(6)), broadcast(None, 1, &[request(1, 9, &[])])]);
    bench.learn(&[8, 9]);
    assert_eq!(bench.outputs(), [Output::Found(address(9))]);
    let third = with_data(&[salvaged(nodes([0, 8]), 1, 2)]);
    assert_eq!(bench.forward(own, &second, true), to(8, Some(third)), "the driver asks again");
    // To a neighbour too, so that the count is not lost.
    bench.learn(&[9]);
    assert_eq!(bench.forward(own, &second, true), to(9, Some(with_data(&[salvaged(nodes([0]), 0, 2)]))));
    let last = with_data(&[salvaged(nodes([0, 6]), 1, 15)]);
    assert_eq!(bench.forward(own, &last, true), Verdict::Drop);
}

/// Without a header nothing counts the attempts: there are two.
#[test]
fn a_packet_to_a_neighbour_waits_for_a_route_once() {
    let mut bench = Bench::new(EXACT);
    let own = Sent::new(0, 0, 5);
    for verdict in [Verdict::Wait, Verdict::Drop, Verdict::Wait] {
        bench.learn(&[5]);
        assert_eq!(bench.originate(5), to(5, None));
        assert_eq!(bench.fail(5, own, &[], true), verdict);
    }
    assert_eq!(bench.fail(5, Sent { identification: 8, ..own }, &[], true), Verdict::Wait, "another packet");
}

#[test]
fn a_neighbour_that_is_gone_is_forgotten() {
    let mut bench = Bench::new(EXACT);
    bench.learn(&[5, 9]);
    bench.machine.handle_link_event(&LinkEvent::NeighbourLost(hop_to(5)), bench.now);
    assert_eq!(bench.outputs(), [Output::Purge(hop_to(5))]);
    assert_eq!(bench.route_to(9), None);
}

/// 8.3.5: a node that passes an error on, or hears it, forgets the link.
#[test]
fn an_error_takes_the_link_out_of_every_cache() {
    for config in [EXACT, PATHS] {
        for how in 0..3 {
            let mut bench = Bench::new(config);
            bench.learn(&[5, 6, 9]);
            let options = [unreachable(6, 1, 9, 0), route(nodes([5, 0]), 1)];
            let sent = Sent::new(5, 6, 1);
            match how {
                0 => {
                    let expected = alone(&[unreachable(6, 1, 9, 0), route(nodes([5, 0]), 0)]);
                    assert_eq!(bench.forward(sent, &alone(&options), false), to(1, Some(expected)));
                }
                1 => bench.overhear(sent, 8, &alone(&options), false),
                _ => bench.message(5, 6, &[unreachable(6, 0, 9, 0), route(nodes([5]), 0)]),
            }
            assert_eq!((bench.route_to(9), bench.route_to(6)), (None, Some(vec![5, 6])), "{how}");
        }
    }
}

/// What a node wrote before it heard of a break says nothing of the time after, though a neighbour passes it on now.
#[test]
fn an_own_packet_that_is_passed_on_brings_no_broken_link_back() {
    for config in [EXACT, PATHS] {
        let mut bench = Bench::new(config);
        bench.learn(&[5, 6, 9]);
        bench.message(5, 5, &[unreachable(5, 0, 6, 0)]);
        assert_eq!(bench.route_to(9), None);
        bench.overhear(Sent::new(5, 0, 9), 6, &with_data(&[route(nodes([5, 6]), 1)]), true);
        assert_eq!(bench.route_to(9), None);
        // This route was chosen by another node.
        bench.overhear(Sent::new(5, 0, 9), 7, &with_data(&[salvaged(nodes([5, 7]), 1, 1)]), true);
        assert_eq!(bench.route_to(9), Some(vec![5, 7, 9]));
    }
}

/// 8.3.4 and 8.3.5: an error that can't be passed on goes back inside a new one, and its source sends it another way.
#[test]
fn an_error_that_is_lost_is_sent_once_more() {
    // Node 0 passes on what 6 has told 1, and can't.
    let mut bench = Bench::new(EXACT);
    let lost = unreachable(6, 1, 9, 2);
    let sent = Sent::new(5, 6, 1);
    bench.forward(sent, &alone(&[lost, route(nodes([5, 0]), 1)]), false);
    bench.fail(1, Sent { from: 0, ..sent }, &alone(&[lost, route(nodes([5, 0]), 0)]), false);
    let options = [unreachable(0, 6, 1, 0), lost, route(nodes([5]), 1)];
    assert_eq!(bench.outputs(), [Output::Purge(hop_to(1)), message(5, 6, &options)]);

    // Node 0 as 6: its error comes back.
    let mut bench = Bench::new(EXACT);
    bench.learn(&[7, 1]);
    bench.outputs();
    let lost = unreachable(0, 1, 9, 2);
    for (salvage, way) in [(0, route(nodes([7]), 1)), (3, salvaged(nodes([0, 7]), 1, 3))] {
        bench.message(5, 3, &[unreachable(3, 0, 1, salvage), lost, route(nodes([5]), 0)]);
        assert_eq!(bench.outputs(), [message(7, 1, &[lost, way])]);
    }
}

/// The total of salvages is limited (6.4): 1 + 12, 1 + 0, then no more than 15.
#[test]
fn errors_are_not_nested_for_ever() {
    for (salvage, is_kept) in [(12, true), (13, true), (14, false)] {
        let mut bench = Bench::new(EXACT);
        let lost = unreachable(6, 1, 9, salvage);
        let sent = Sent::new(5, 6, 1);
        bench.forward(sent, &alone(&[lost, route(nodes([5, 0]), 1)]), false);
        bench.fail(1, Sent { from: 0, ..sent }, &alone(&[lost, route(nodes([5, 0]), 0)]), false);
        let mut options = vec![unreachable(0, 6, 1, 0)];
        options.extend(is_kept.then_some(lost));
        options.push(route(nodes([5]), 1));
        assert_eq!(bench.outputs()[1], message(5, 6, &options), "{salvage}");
    }
}

/// An error itself is salvaged where there is another way.
#[test]
fn an_error_goes_another_way() {
    let mut bench = Bench::new(EXACT);
    bench.learn(&[7, 1]);
    bench.outputs();
    let lost = unreachable(6, 1, 9, 0);
    let sent = Sent::new(5, 6, 1);
    bench.forward(sent, &alone(&[lost, route(nodes([5, 0]), 1)]), false);
    bench.fail(1, Sent { from: 0, ..sent }, &alone(&[lost, route(nodes([5, 0]), 0)]), false);
    let outputs = bench.outputs();
    let back = message(5, 6, &[unreachable(0, 6, 1, 0), route(nodes([5]), 1)]);
    let Output::Send(anew) = message(7, 1, &[lost, salvaged(nodes([0, 7]), 1, 1)]) else { unreachable!() };
    let anew = Message { source: Some(address(6)), ttl: 60, ..anew };
    assert_eq!(outputs, [Output::Purge(hop_to(1)), back, Output::Send(anew)]);
}

/// 8.3.6: a Route Reply tests its own way, so it is not salvaged; its sender is told.
#[test]
fn a_reply_is_not_salvaged() {
    let mut bench = Bench::new(EXACT);
    bench.learn(&[7, 1]);
    bench.outputs();
    let sent = Sent::new(5, 9, 1);
    let list = nodes([0, 5, 9]);
    let passed_on = alone(&[reply(list), route(nodes([5, 0]), 0)]);
    assert_eq!(
        bench.forward(sent, &alone(&[reply(list), route(nodes([5, 0]), 1)]), false),
        to(1, Some(passed_on.clone()))
    );
    // A Route Reply tells what lies behind it, and nothing of what is before it.
    assert_eq!((bench.route_to(9), bench.route_to(1)), (Some(vec![5, 9]), Some(vec![7, 1])));
    bench.fail(1, Sent { from: 0, ..sent }, &passed_on, false);
    let error = message(5, 9, &[unreachable(0, 9, 1, 0), route(nodes([5]), 1)]);
    assert_eq!(bench.outputs(), [Output::Purge(hop_to(1)), error]);
}

mod unknown_options {
    use super::*;

    fn option(kind: u8) -> DsrOption<'static> {
        DsrOption::Unknown { kind, data: &[0x01, 0x02] }
    }

    /// 8.1.6, for the four things that a type can ask for, without and with an error to its sender.
    #[test]
    fn are_treated_as_their_types_say() {
        let marked = |kind| DsrOption::Unknown { kind, data: &[0x81, 0x02] };
        for (kind, passed_on, is_reported) in [
            (0x1f, Some(Some(option(0x1f))), false),
            (0x3f, Some(None), false),
            (0x5f, Some(Some(marked(0x5f))), false),
            (0x7f, None, false),
            (0x9f, Some(Some(option(0x9f))), true),
            (0xbf, Some(None), true),
            (0xdf, Some(Some(marked(0xdf))), true),
            (0xff, None, true),
        ] {
            let mut bench = Bench::new(EXACT);
            let verdict = bench.forward(SENT, &with_data(&[option(kind), incoming()]), true);
            let expected = passed_on.map_or(Verdict::Drop, |kept| {
                let options: Vec<_> = kept.into_iter().chain([outgoing()]).collect();
                to(5, Some(with_data(&options)))
            });
            assert_eq!(verdict, expected, "{kind:#x}");
            let error = DsrOption::RouteError(RouteError {
                salvage: 0,
                source: address(0),
                destination: address(1),
                kind: ErrorKind::OptionNotSupported(OptionType::Unknown(kind)),
                extension: &[],
            });
            let told = message(2, 1, &[error, route(nodes([2]), 1)]);
            assert_eq!(bench.outputs(), if is_reported { vec![told] } else { vec![] }, "{kind:#x}");
        }
    }

    /// 8.1.6: where a packet is to be dropped, it is at its destination, too.
    #[test]
    fn are_treated_as_their_types_say_where_the_packet_arrives() {
        let sent = Sent::new(5, 1, 0);
        for kind in [0x1f, 0x3f, 0x5f, 0x7f, 0x9f, 0xbf, 0xdf, 0xff] {
            let mut bench = Bench::new(EXACT);
            let arrival = bench.arrive(sent, &with_data(&[option(kind), route(nodes([2, 5]), 0)]));
            let expected = if kind & 0x60 == 0x60 { Arrival::Drop } else { Arrival::Deliver };
            assert_eq!((arrival, bench.outputs().len()), (expected, usize::from(kind >= 0x80)), "{kind:#x}");
        }
        let mut bench = Bench::new(EXACT);
        assert_eq!(bench.arrive(sent, &[17, 0, 0, 8, 96]), Arrival::Drop, "a header that is cut short");
        assert_eq!(bench.arrive(Sent::new(5, 5, 0), &[]), Arrival::Deliver, "no header");
    }

    #[test]
    fn are_not_reported_from_a_request_nor_by_who_only_hears_them() {
        let mut bench = Bench::new(EXACT);
        bench.broadcast(2, 1, 255, &[option(0x9f), request(77, 9, nodes([2]))]);
        let options = [option(0x9f), request(77, 9, nodes([2, 0]))];
        assert_eq!(bench.outputs(), [broadcast(Some(1), 254, &options)]);
        bench.broadcast(2, 1, 255, &[option(0xff), request(78, 9, nodes([2]))]);
        bench.overhear(SENT, 4, &with_data(&[option(0x9f), incoming()]), true);
        assert_eq!(bench.outputs(), []);
    }
}

mod shortening {
    use super::*;

    /// 3.4.3: 1 sends over 2, 3 and 0 to 9; what 1 gives to 2 is heard, and so is what 2 gives to 3.
    #[test]
    fn a_node_that_is_to_have_a_packet_later_says_so() {
        let mut bench = Bench::new(EXACT);
        let list = nodes([2, 3, 0]);
        bench.overhear(Sent::new(2, 1, 9), 3, &with_data(&[route(list, 2)]), true);
        let options = [reply(nodes([2, 0, 9])), route(nodes([2]), 1)];
        assert_eq!(bench.outputs(), [message(2, 1, &options)]);
        bench.overhear(Sent::new(1, 1, 9), 2, &with_data(&[route(list, 3)]), true);
        assert_eq!(bench.outputs(), [message(1, 1, &[reply(nodes([0, 9]))])], "on account of another neighbour");
        // Links that were heard are known.
        assert_eq!(bench.route_to(1), Some(vec![1]));
    }

    #[test]
    fn the_destination_says_so_too() {
        let mut bench = Bench::new(EXACT);
        bench.overhear(Sent::new(2, 1, 0), 3, &with_data(&[route(nodes([2, 3]), 1)]), true);
        assert_eq!(bench.outputs(), [message(2, 1, &[reply(nodes([2, 0])), route(nodes([2]), 1)])]);
    }

    /// 4.4: GratReplyHoldoff.
    #[test]
    fn but_once_a_second() {
        let mut bench = Bench::new(EXACT);
        let octets = with_data(&[route(nodes([2, 3, 0]), 2)]);
        let mut hear = |at: u64| {
            bench.at(at).overhear(Sent::new(2, 1, 9), 3, &octets, true);
            bench.outputs().len()
        };
        assert_eq!([hear(100), hear(101), hear(1099), hear(1100), hear(1101)], [1, 0, 0, 1, 0]);
    }

    #[test]
    fn what_does_not_shorten_a_route_is_not_told() {
        let mut bench = Bench::new(EXACT);
        let (left_behind, next) = (route(nodes([0, 2, 3]), 1), route(nodes([2, 0, 3]), 2));
        bench.overhear(Sent::new(2, 1, 9), 3, &with_data(&[left_behind]), true);
        bench.overhear(Sent::new(2, 1, 9), 0, &with_data(&[next]), true);
        bench.overhear(Sent::new(2, 1, 9), 3, &with_data(&[salvaged(nodes([2, 3, 0]), 2, 1)]), true);
        bench.overhear(Sent::new(4, 1, 9), 3, &with_data(&[route(nodes([2, 3, 0]), 2)]), true);
        bench.overhear(Sent::new(2, 0, 9), 3, &with_data(&[route(nodes([2, 3, 4]), 2)]), true);
        assert_eq!(bench.outputs(), []);
    }

    /// A node moves nearer: the route of a stream gets shorter by itself.
    #[test]
    fn a_stream_takes_the_shorter_route() {
        let mut network = Network::line(5, 1, Checked::new(EXACT));
        assert_eq!(network.path(0, 4, Duration::from_secs(1)), Some(vec![0, 1, 2, 3, 4]));
        network.connect(1, 3);
        assert_eq!(network.path(0, 4, Duration::from_millis(50)), Some(vec![0, 1, 2, 3, 4]), "3 hears 1 on the way");
        assert_eq!(network.path(0, 4, Duration::from_millis(50)), Some(vec![0, 1, 3, 4]));
    }
}

/// A stream over a line with a detour: the link breaks, the packet on its way is salvaged, and the next takes the detour.
#[test]
fn a_stream_survives_a_break() {
    for config in [EXACT, PATHS] {
        let mut network = Network::new(5, 1, Checked::new(config));
        [(0, 1), (1, 2), (2, 3), (1, 4), (4, 3)].into_iter().for_each(|(a, b)| network.connect(a, b));
        let second = Duration::from_secs(1);
        // Node 1 knows both ways to 3.
        assert_eq!(network.path(1, 3, second).map(|path| path.len()), Some(3));
        let broken = network.path(0, 3, second).expect("there is a route")[2];
        let detour = 6 - broken;
        network.disconnect(1, broken);
        assert_eq!(network.path(0, 3, second * 2), Some(vec![0, 1, detour, 3]));
        assert_eq!(network.path(0, 3, second), Some(vec![0, 1, detour, 3]));
    }
}
