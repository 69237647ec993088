//! Route Discovery (RFC 4728, 8.2).

use hopcast_wire::dsr::RouteReply;
use hopcast_wire::dsr::{Addresses, DsrOption};

use super::bench::*;
use super::*;
use crate::routing::network::HOP;

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn a_packet_crosses_a_line_once_a_route_is_found() {
    for config in [Config::RFC_4728, Config::NS_2, EXACT, PATHS] {
        let mut network = Network::line(6, 1, Checked::new(config));
        assert_eq!(network.path(0, 5, SECOND), Some(vec![0, 1, 2, 3, 4, 5]));
        assert_eq!(known_route(&network, 0, 5), Some(vec![1, 2, 3, 4, 5]));
        // Each node on the way knows the rest of it.
        assert_eq!(network.trace(0, 5), [0, 1, 2, 3, 4, 5]);
        assert_eq!(network.find_loop(), None);
        let sent: usize = network.sent.iter().map(Vec::len).sum();
        assert_eq!(network.path(5, 0, SECOND), Some(vec![5, 4, 3, 2, 1, 0]));
        assert_eq!(network.sent.iter().map(Vec::len).sum::<usize>(), sent, "the way back is known");
    }
}

/// Over a line of five: 30 ms for the neighbours, then 4 hops for the request, 4 for the reply, 4 for the packet.
#[test]
fn a_route_is_found_in_the_time_that_it_takes() {
    let mut network = Network::line(5, 1, Checked::new(EXACT));
    let number = network.send(0, 4);
    let arrival = Instant::START + Duration::from_millis(30) + HOP * 12;
    network.run_until(arrival - Duration::from_nanos(1), |_| {});
    assert_eq!(*network.fate(number), Fate::UnderWay);
    network.run_until(arrival, |_| {});
    assert_eq!(*network.fate(number), Fate::Arrived(vec![0, 1, 2, 3, 4]));
}

#[test]
fn a_partition_heals() {
    for config in [Config::RFC_4728, Config::NS_2] {
        let mut network = Network::line(4, 1, Checked::new(config));
        network.disconnect(1, 2);
        let lost = network.send(0, 3);
        network.run_for(SECOND * 20);
        assert_eq!(*network.fate(lost), Fate::UnderWay);
        network.connect(1, 2);
        network.run_for(SECOND * 11);
        assert_eq!(*network.fate(lost), Fate::Arrived(vec![0, 1, 2, 3]));
    }
}

/// 4.3: first the neighbours, then everyone, after times that double up to MaxRequestPeriod; no longer than packets wait.
#[test]
fn requests_are_repeated_ever_more_slowly() {
    let mut bench = Bench::new(EXACT);
    assert_eq!(bench.originate(9), Verdict::Wait);
    assert_eq!(bench.outputs(), [broadcast(None, 1, &[request(1, 9, &[])])]);
    for (identification, at) in (2..).zip([30, 530, 1530, 3530, 7530, 15_530, 25_530]) {
        assert_eq!(bench.due(millis(at)), [broadcast(None, 255, &[request(identification, 9, &[])])]);
    }
    assert_eq!(bench.due(millis(35_530)), [], "the packet has been dropped");
    assert_eq!(bench.machine.poll_timeout(), None);
    // The next packet finds the time between requests as it was left.
    bench.at(36_000);
    assert_eq!(bench.originate(9), Verdict::Wait);
    assert_eq!(bench.outputs(), [broadcast(None, 255, &[request(9, 9, &[])])]);
    bench.at(37_000);
    assert_eq!(bench.originate(9), Verdict::Wait);
    assert_eq!(bench.outputs(), []);
    assert_eq!(bench.due(millis(46_000)), [broadcast(None, 255, &[request(10, 9, &[])])]);
}

/// A host behind this node has another source address.
#[test]
fn what_this_node_sends_for_others_is_looked_for_as_well() {
    let mut bench = Bench::new(EXACT);
    assert_eq!(bench.forward(Sent::new(0, 4, 9), &[], true), Verdict::Wait);
    assert_eq!(bench.outputs(), [broadcast(None, 1, &[request(1, 9, &[])])]);
    for (identification, at) in (2..).zip([30, 530, 1530]) {
        assert_eq!(bench.due(millis(at)), [broadcast(None, 255, &[request(identification, 9, &[])])]);
    }
}

#[test]
fn a_search_is_given_up_after_max_request_rexmt() {
    let mut bench = Bench::new(Config { max_request_rexmt: 2, ..EXACT });
    bench.originate(9);
    bench.outputs();
    for at in [30, 530, 1530] {
        assert_eq!(bench.due(millis(at)).len(), 1);
    }
    assert_eq!(bench.due(millis(3530)), [Output::NotFound(address(9))]);
    assert_eq!(bench.machine.poll_timeout(), None);
    // What comes later looks again.
    bench.at(4000);
    assert_eq!(bench.originate(9), Verdict::Wait);
    assert_eq!(bench.outputs().len(), 1);
    assert_eq!(bench.machine.poll_timeout(), Some(millis(8000)));
}

#[test]
fn a_reply_ends_the_search_and_a_new_one_waits_for_its_turn() {
    let mut bench = Bench::new(EXACT);
    bench.originate(9);
    bench.outputs();
    bench.due(millis(30));
    bench.at(50).learn(&[5, 9]);
    assert_eq!(bench.outputs(), [Output::Found(address(9))]);
    assert_eq!(bench.machine.poll_timeout(), None);
    assert_eq!(bench.originate(9), to(5, Some(with_data(&[route(nodes([5]), 1)]))));
    // The route breaks at once: neighbours may be asked now, everyone 500 ms after the last time.
    bench.at(100).message(5, 5, &[unreachable(5, 0, 9, 0)]);
    assert_eq!(bench.originate(9), Verdict::Wait);
    let asking =
        |identification, ttl| broadcast(None, ttl, &[unreachable(5, 0, 9, 0), request(identification, 9, &[])]);
    assert_eq!(bench.outputs(), [asking(3, 1)]);
    for (identification, at) in (4..).zip([530, 1030, 2030]) {
        assert_eq!(bench.due(millis(at)), [asking(identification, 255)]);
    }
    // 3.4.4: the error is spread by one search.
    bench.at(2100).learn(&[6, 9]);
    bench.originate(8);
    assert_eq!(bench.outputs(), [Output::Found(address(9)), broadcast(None, 1, &[request(7, 8, &[])])]);
}

/// 4.3: the times between requests grow until there is a Route Reply.
#[test]
fn a_route_without_a_reply_leaves_the_times_between_requests_as_they_are() {
    for is_with_data in [false, true] {
        let mut bench = Bench::new(EXACT);
        bench.originate(9);
        bench.outputs();
        [30, 530, 1530].into_iter().for_each(|at| assert_eq!(bench.due(millis(at)).len(), 1));
        // A packet from 4 goes from 5 on to 9.
        let pass_by = |bench: &mut Bench| {
            bench.overhear(Sent::new(5, 4, 9), 9, &with_data(&[route(nodes([5]), 0)]), true);
            assert_eq!(bench.outputs(), [Output::Found(address(9))]);
            assert_eq!(bench.route_to(9), Some(vec![5, 9]));
            assert_eq!(bench.machine.poll_timeout(), None);
        };
        let break_and_seek = |bench: &mut Bench| {
            bench.message(5, 5, &[unreachable(5, 0, 9, 0)]);
            assert_eq!(bench.originate(9), Verdict::Wait);
            assert_eq!(bench.outputs().len(), 1, "the neighbours are asked");
        };
        pass_by(bench.at(1600));
        break_and_seek(bench.at(1700));
        for at in [3530, 7530] {
            assert_eq!(bench.due(millis(at)).len(), 1, "as if the packet had not passed by");
        }
        pass_by(bench.at(7600));
        // What that time was is over long since: everybody is asked at once, but not soon again.
        break_and_seek(bench.at(3_600_000));
        for at in [3_600_030, 3_610_030] {
            assert_eq!(bench.due(millis(at)).len(), 1);
        }
        // A reply, alone or before data: the time that runs stays, those behind it are short again.
        bench.at(3_610_100);
        if is_with_data {
            let options = [reply(nodes([5, 9])), route(nodes([5]), 0)];
            bench.arrive(Sent::new(5, 9, 0), &with_data(&options));
        } else {
            bench.learn(&[5, 9]);
        }
        assert_eq!(bench.outputs(), [Output::Found(address(9))]);
        break_and_seek(bench.at(3_610_200));
        for at in [3_620_030, 3_620_530] {
            assert_eq!(bench.due(millis(at)).len(), 1);
        }
    }
}

#[test]
fn an_error_is_spread_while_it_is_fresh() {
    for (hold, is_spread) in [(Some(999), false), (Some(1001), true), (None, true)] {
        let mut bench = Bench::new(Config { route_error_hold: hold.map(Duration::from_millis), ..EXACT });
        bench.message(5, 5, &[unreachable(5, 0, 9, 0)]);
        bench.at(1000).originate(9);
        let (error, request) = (unreachable(5, 0, 9, 0), request(1, 9, &[]));
        let expected = if is_spread { vec![error, request] } else { vec![request] };
        assert_eq!(bench.outputs(), [broadcast(None, 1, &expected)]);
    }
}

/// A search also ends when all packets that waited for it have been dropped: the next one spreads nothing of the old
/// error.
#[test]
fn an_error_is_spread_by_one_search() {
    let mut bench = Bench::new(Config { route_error_hold: None, ..EXACT });
    bench.message(5, 5, &[unreachable(5, 0, 9, 0)]);
    bench.originate(9);
    assert_eq!(bench.outputs(), [broadcast(None, 1, &[unreachable(5, 0, 9, 0), request(1, 9, &[])])]);
    for at in [30, 530, 1530, 3530, 7530, 15_530, 25_530] {
        assert_eq!(bench.due(millis(at)).len(), 1);
    }
    assert_eq!(bench.due(millis(35_530)), []);
    bench.at(3_600_000).originate(8);
    assert_eq!(bench.outputs(), [broadcast(None, 1, &[request(9, 8, &[])])]);
}

#[test]
fn packets_to_a_neighbour_carry_no_header() {
    let mut bench = Bench::new(EXACT);
    bench.learn(&[5]);
    assert_eq!(bench.originate(5), to(5, None));
    assert_eq!(bench.machine.header_len(address(5), bench.now), 0);
}

#[test]
fn the_header_is_as_long_as_the_driver_is_told() {
    for (how, length) in [(Acknowledgement::LinkLayer, 16), (Acknowledgement::NetworkLayer, 20)] {
        let mut bench = Bench::new(Config { acknowledgement: how, ..EXACT });
        assert_eq!(bench.machine.0.header_len(address(9), bench.now), 0, "no route");
        bench.learn(&[5, 6, 9]);
        assert_eq!(bench.machine.0.header_len(address(9), bench.now), length);
        let Verdict::Forward(forward) = bench.originate(9) else { panic!("there is a route") };
        assert_eq!(forward.header.map(|header| header.len()), Some(length));
    }
}

/// 8.2.2: a node adds itself and passes a request on, once.
#[test]
fn a_request_is_passed_on_once() {
    let mut bench = Bench::new(EXACT);
    bench.broadcast(2, 1, 255, &[request(77, 9, nodes([2]))]);
    assert_eq!(bench.outputs(), [broadcast(Some(1), 254, &[request(77, 9, nodes([2, 0]))])]);
    bench.broadcast(3, 1, 255, &[request(77, 9, nodes([3]))]);
    assert_eq!(bench.outputs(), [], "it has been seen");
    bench.broadcast(2, 1, 1, &[request(78, 9, nodes([2]))]);
    assert_eq!(bench.outputs(), [], "its hops are used up");
    bench.broadcast(3, 1, 255, &[request(79, 9, nodes([0, 3]))]);
    assert_eq!(bench.outputs(), [], "this node is in it");
    bench.broadcast(3, 0, 255, &[request(80, 9, nodes([3]))]);
    assert_eq!(bench.outputs(), [], "this node has sent it");
    bench.broadcast(3, 1, 255, &[request(81, 9, nodes([2]))]);
    assert_eq!(bench.outputs(), [], "it does not say who has sent it");
    assert_eq!(bench.machine.poll_timeout(), None);
    // What it has told is known.
    assert_eq!(bench.route_to(1), Some(vec![2, 1]));
}

#[test]
fn a_request_waits_for_up_to_the_jitter() {
    let mut bench = Bench::new(Config::RFC_4728);
    let mut waits = Vec::new();
    for id in 0..40 {
        let start = bench.now;
        bench.broadcast(1, 1, 255, &[request(id, 9, &[])]);
        assert_eq!(bench.outputs(), []);
        let due = bench.machine.poll_timeout().expect("it is delayed");
        assert_eq!(bench.due(due), [broadcast(Some(1), 254, &[request(id, 9, nodes([0]))])]);
        waits.push((due - start).as_nanos());
    }
    let (least, most) = (waits.iter().min().unwrap(), waits.iter().max().unwrap());
    assert!(*least < 2_000_000 && *most > 8_000_000 && *most < 10_000_000, "{least} to {most} ns");
}

/// The number of waiting messages is that of remembered requests; more are lost, later ones are not.
#[test]
fn there_is_a_limit_to_what_waits() {
    let mut bench = Bench::new(Config { request_table_size: 2, request_table_ids: 2, ..Config::RFC_4728 });
    for round in 0..3 {
        for id in 0..6 {
            bench.broadcast(1, 1, 255, &[request(10 * round + id, 9, &[])]);
        }
        let mut sent = 0;
        while let Some(due) = bench.machine.poll_timeout() {
            sent += bench.due(due).len();
        }
        assert_eq!(sent, 4);
    }
}

/// 8.2.4: the way of the reply is that of the request, reversed.
#[test]
fn the_target_answers_each_request() {
    let mut bench = Bench::new(EXACT);
    bench.broadcast(1, 1, 1, &[request(77, 0, &[])]);
    assert_eq!(bench.outputs(), [message(1, 1, &[reply(nodes([0]))])]);
    bench.broadcast(3, 1, 255, &[request(78, 0, nodes([2, 3]))]);
    let options = [reply(nodes([2, 3, 0])), route(nodes([3, 2]), 2)];
    assert_eq!(bench.outputs(), [message(3, 1, &options)]);
    bench.broadcast(5, 1, 255, &[request(78, 0, nodes([2, 5]))]);
    let options = [reply(nodes([2, 5, 0])), route(nodes([5, 2]), 2)];
    assert_eq!(bench.outputs(), [message(5, 1, &options)]);
}

/// A line between the initiator 1 and the target 9, of which node 0 knows the second half.
fn knowing(config: Config) -> Bench {
    let mut bench = Bench::new(config);
    bench.learn(&[5, 6, 9]);
    bench.outputs();
    bench.broadcast(2, 1, 255, &[request(77, 9, nodes([2]))]);
    assert_eq!(bench.outputs(), []);
    bench
}

/// 8.2.5: d = H × (h − 1 + r) with H = 3 ms and h = 5 hops from 1 over 2, 0, 5 and 6 to 9.
#[test]
fn a_reply_from_the_cache_waits_by_the_length_of_its_route() {
    let mut bench = knowing(EXACT);
    let due = bench.machine.poll_timeout().expect("the reply waits");
    assert!(due >= millis(12) && due < millis(15), "{due}");
    let options = [reply(nodes([2, 0, 5, 6, 9])), route(nodes([2]), 1)];
    assert_eq!(bench.due(due), [message(2, 1, &options)]);
    assert_eq!(bench.machine.poll_timeout(), None, "the request itself goes no further");
}

/// 8.2.2: what is not answered from the cache goes on.
#[test]
fn a_request_goes_on_where_as_many_replies_wait_as_may() {
    let mut bench = knowing(Config { request_table_size: 1, ..EXACT });
    bench.broadcast(3, 3, 255, &[request(78, 9, &[])]);
    assert_eq!(bench.outputs(), [broadcast(Some(3), 254, &[request(78, 9, nodes([0]))])]);
    // The one that waits makes room for another one to the same node.
    bench.broadcast(2, 1, 255, &[request(79, 9, nodes([2]))]);
    assert_eq!(bench.outputs(), []);
    let due = bench.machine.poll_timeout().expect("the reply waits");
    assert_eq!(bench.due(due), [message(2, 1, &[reply(nodes([2, 0, 5, 6, 9])), route(nodes([2]), 1)])]);
    assert_eq!(bench.machine.poll_timeout(), None);
}

#[test]
fn a_reply_is_not_sent_if_the_initiator_has_a_route_as_short() {
    let sent = Sent::new(3, 1, 9);
    for (between, is_needless) in [(&[3, 4, 7, 8][..], true), (&[3, 4, 7], true), (&[3, 4, 7, 8, 10], false)] {
        let mut bench = knowing(EXACT);
        let between: Vec<_> = between.iter().map(|&node| address(node)).collect();
        let left = between.len() as u8 - 1;
        bench.at(5).overhear(sent, 4, &with_data(&[route(&between, left)]), true);
        assert_eq!(bench.machine.poll_timeout().is_none(), is_needless, "{between:?}");
    }
    let mut bench = knowing(EXACT);
    bench.at(5).overhear(Sent::new(1, 1, 9), 9, &[], true);
    assert_eq!(bench.machine.poll_timeout(), None, "without a header, it is one hop");
    let mut bench = knowing(EXACT);
    bench.at(5).overhear(Sent::new(3, 2, 9), 4, &with_data(&[route(nodes([3, 4]), 1)]), true);
    assert!(bench.machine.poll_timeout().is_some(), "another sender");
}

#[test]
fn without_listening_a_reply_from_the_cache_does_not_wait() {
    for config in [Config { promiscuous: false, ..EXACT }, Config { reply_hop_delay: Duration::ZERO, ..EXACT }] {
        let mut bench = Bench::new(config);
        bench.learn(&[5, 9]);
        bench.broadcast(2, 1, 1, &[request(77, 9, nodes([2]))]);
        let options = [reply(nodes([2, 0, 5, 9])), route(nodes([2]), 1)];
        assert_eq!(bench.outputs(), [message(2, 1, &options)]);
    }
}

/// 8.2.3: no node may be in the route twice; then the request goes on (the example of 3.3.2).
#[test]
fn a_cached_route_that_leads_back_is_not_offered() {
    let mut bench = Bench::new(Config { reply_hop_delay: Duration::ZERO, ..EXACT });
    bench.learn(&[3, 4, 9]);
    bench.broadcast(3, 1, 255, &[request(77, 9, nodes([2, 3]))]);
    assert_eq!(bench.outputs(), [broadcast(Some(1), 254, &[request(77, 9, nodes([2, 3, 0]))])]);
    bench.broadcast(5, 4, 255, &[request(78, 9, nodes([5]))]);
    assert_eq!(bench.outputs(), [broadcast(Some(4), 254, &[request(78, 9, nodes([5, 0]))])]);
}

/// 6.2: 62 nodes fit into a request; what is longer is not passed on, and not answered with a route that does not fit.
#[test]
fn a_full_request_goes_no_further() {
    let mut bench = Bench::new(EXACT);
    let list: Vec<_> = (10..72).map(address).collect();
    bench.broadcast(70, 1, 255, &[request(77, 9, &list[..61])]);
    assert_eq!(bench.outputs().len(), 1);
    bench.broadcast(71, 1, 255, &[request(78, 9, &list)]);
    assert_eq!(bench.outputs(), []);
    bench.learn(&[5, 9]);
    bench.outputs();
    bench.broadcast(71, 2, 255, &[request(79, 9, &list)]);
    assert_eq!(bench.outputs(), []);
    assert_eq!(bench.machine.poll_timeout(), None);
    // The target itself can answer: 62 nodes and itself.
    bench.broadcast(71, 1, 255, &[request(80, 0, &list)]);
    assert_eq!(bench.outputs().len(), 1);
}

/// 6.3: a route that ends in another network is used if there is no other, and never offered.
#[test]
fn a_route_through_another_network_is_the_last_resort() {
    for config in [EXACT, PATHS] {
        let mut bench = Bench::new(Config { reply_hop_delay: Duration::ZERO, ..config });
        let addresses = nodes([5, 9]);
        let external =
            DsrOption::RouteReply(RouteReply { last_hop_external: true, addresses: Addresses::List(addresses) });
        bench.message(5, 5, &[external]);
        let Verdict::Forward(forward) = bench.originate(9) else { panic!("there is a route") };
        assert_eq!(forward.hop.address, address(5));
        // L is the second bit of the word behind the length.
        assert_eq!(forward.header.unwrap()[4..8], [96, 6, 0x40, 1]);
        bench.broadcast(2, 1, 255, &[request(77, 9, nodes([2]))]);
        assert_eq!(bench.outputs(), [broadcast(Some(1), 254, &[request(77, 9, nodes([2, 0]))])]);
        bench.learn(&[6, 7, 8, 9]);
        bench.outputs();
        assert_eq!(bench.originate(9), to(6, Some(with_data(&[route(nodes([6, 7, 8]), 3)]))));
    }
}

mod blacklist {
    use super::*;

    /// A neighbour, 5, that is heard but was not reached by a reply.
    fn bench() -> Bench {
        let mut bench = Bench::new(EXACT);
        bench.broadcast(5, 1, 255, &[request(77, 0, nodes([5]))]);
        bench.outputs();
        let octets = alone(&[reply(nodes([5, 0])), route(nodes([5]), 1)]);
        bench.fail(5, Sent::new(0, 0, 1), &octets, false);
        bench.outputs();
        bench
    }

    #[test]
    fn what_comes_from_it_is_not_passed_on_at_first() {
        let mut bench = bench();
        bench.at(5599).broadcast(5, 1, 255, &[request(78, 9, nodes([5]))]);
        assert_eq!(bench.outputs(), []);
        assert_eq!(bench.route_to(5), None, "nor learned");
    }

    #[test]
    fn later_it_has_to_answer() {
        let mut bench = bench();
        bench.at(5600).broadcast(5, 1, 255, &[request(78, 9, nodes([5]))]);
        let probe = Message {
            source: None,
            destination: Ipv4Addr::BROADCAST,
            hop: Some(crate::routing::network::hop_to(5)),
            ttl: 1,
            octets: alone(&[request(1, 5, &[])]),
        };
        assert_eq!(bench.outputs(), [Output::Send(probe)]);
        bench.at(5610).message(5, 5, &[reply(nodes([5]))]);
        let passed_on = broadcast(Some(1), 254, &[request(78, 9, nodes([5, 0]))]);
        // The machine's views of the two ends have the same time to live.
        assert_eq!(bench.outputs(), [passed_on]);
        assert_eq!(bench.machine.poll_timeout(), None);
        bench.broadcast(5, 1, 255, &[request(79, 9, nodes([5]))]);
        assert_eq!(bench.outputs().len(), 1, "it is believed again");
    }

    #[test]
    fn or_its_request_is_forgotten() {
        let mut bench = bench();
        bench.at(5600).broadcast(5, 1, 255, &[request(78, 9, nodes([5]))]);
        bench.outputs();
        assert_eq!(bench.due(millis(5630)), []);
        bench.at(5640).message(5, 5, &[reply(nodes([5]))]);
        assert_eq!(bench.outputs(), []);
    }

    #[test]
    fn a_request_that_it_passes_on_for_this_node_clears_it() {
        let mut bench = bench();
        bench.at(100).broadcast(5, 1, 254, &[request(78, 9, nodes([0, 5]))]);
        bench.broadcast(5, 1, 255, &[request(79, 9, nodes([5]))]);
        assert_eq!(bench.outputs().len(), 1);
    }
}

/// A link of one direction: the reply can't take it, and another way is found.
#[test]
fn a_link_of_one_direction_is_avoided() {
    let mut network = Network::new(5, 1, Checked::new(EXACT));
    network.connect_one_way(0, 4);
    [(0, 1), (1, 2), (2, 4)].into_iter().for_each(|(a, b)| network.connect(a, b));
    assert_eq!(network.path(0, 4, SECOND * 2), Some(vec![0, 1, 2, 4]));
}
