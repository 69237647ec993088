use std::sync::{Arc, Mutex};

use hopcast_protocols::random::{Purpose, Stream};
use hopcast_protocols::routing::Node;
use hopcast_protocols::routing::aodv::{Aodv, Config};
use hopcast_wire::aodv::{Extensions, ReplyFlags, ReplyRepr, Repr};
use hopcast_wire::ipv4::Protocol;
use proptest::prelude::*;

use super::test::{packet, with_payload};
use super::*;

const OWN: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
const FAR: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 9);
const NEXT: NextHop = NextHop { interface: 1, address: Ipv4Addr::new(10, 0, 0, 2) };

fn at(millis: u64) -> Instant {
    Instant::START + Duration::from_millis(millis)
}

fn router() -> Router {
    router_with(false)
}

fn router_with(is_sealed: bool) -> Router {
    let random = Stream::new(1, Purpose::Routing, 0, 0);
    let node = Node { address: OWN, interfaces: 2, random };
    let exact = Config { broadcast_jitter: Duration::ZERO, ..Config::rfc3561() };
    let aodv = Aodv::new(exact, node, Instant::START);
    let networks = vec!["10.0.0.0/24".parse().expect("a network")];
    Router::new(Box::new(aodv), |octets| Repr::parse(octets).is_ok(), OWN, networks, is_sealed)
}

fn outputs(router: &mut Router) -> Vec<Output> {
    std::iter::from_fn(|| router.poll_output()).collect()
}

/// Lets all timers up to `end` come.
fn run_until(router: &mut Router, end: Instant) -> Vec<Output> {
    let mut done = outputs(router);
    while let Some(due) = router.poll_timeout().filter(|due| *due <= end) {
        router.handle_timeout(due);
        done.extend(outputs(router));
    }
    done
}

/// A reply that makes a route to `FAR` over `NEXT`, `hops` away.
fn reply(hops: u8) -> Vec<u8> {
    Repr::Reply(ReplyRepr {
        flags: ReplyFlags::default(),
        prefix_size: 0,
        hop_count: hops - 1,
        destination: FAR,
        destination_sequence: 7,
        originator: OWN,
        lifetime: 3000,
        extensions: Extensions::default(),
    })
    .to_octets()
}

/// An error that says that `FAR` can't be reached any more (RFC 3561, section 5.3).
fn error() -> Vec<u8> {
    let mut octets = vec![3, 0, 0, 1];
    octets.extend_from_slice(&FAR.octets());
    octets.extend_from_slice(&8u32.to_be_bytes());
    octets
}

fn routes(router: &Router, now: Instant) -> Vec<(Ipv4Addr, NextHop, u32)> {
    router.routes(now).map(|route| (route.destination, route.hop, route.hops)).collect()
}

#[test]
fn packets_wait_for_their_route_and_go_in_order() {
    let mut router = router();
    let packets: Vec<_> = [Protocol::Udp, Protocol::Tcp].map(|protocol| packet(OWN, FAR, protocol)).into();
    for packet in &packets {
        router.handle_stray(packet.clone(), at(0));
    }
    let asked = outputs(&mut router);
    assert!(matches!(&asked[..], [Output::Send(message)] if message.destination.is_broadcast()), "{asked:?}");
    assert_eq!(router.waiting(), 2);
    router.handle_message(NEXT, OWN, 1, &reply(2), at(30));
    let sent: Vec<_> = packets.into_iter().map(|packet| Output::Forward { hop: NEXT, packet }).collect();
    assert_eq!(outputs(&mut router), sent);
    assert_eq!(routes(&router, at(30)), [(NEXT.address, NEXT, 1), (FAR, NEXT, 2)]);
    assert_eq!((router.waiting(), router.counters().packets_released), (0, 2));
}

#[test]
fn a_sender_is_told_when_no_route_is_found() {
    let mut router = router();
    router.handle_stray(packet(OWN, FAR, Protocol::Udp), at(0));
    let done = run_until(&mut router, at(29_000));
    let told: Vec<_> = done.iter().filter(|output| matches!(output, Output::Tell(_))).collect();
    assert_eq!(told.len(), 1, "{done:?}");
    assert_eq!((router.waiting(), router.counters().packets_unreachable), (0, 1));
}

#[test]
fn what_is_seen_keeps_a_route_and_silence_loses_it() {
    let mut router = router();
    router.handle_stray(packet(OWN, FAR, Protocol::Udp), at(0));
    router.handle_message(NEXT, OWN, 1, &reply(2), at(0));
    let sight = Sight { source: OWN, destination: FAR, protocol: 17, from: None };
    for second in 1..10 {
        run_until(&mut router, at(second * 1000));
        // A hello of the neighbour, without which its link would be lost.
        router.handle_sight(sight, at(second * 1000));
        assert_eq!(router.routes(at(second * 1000)).count(), 2, "after {second} s");
    }
    run_until(&mut router, at(20_000));
    assert_eq!(router.routes(at(20_000)).count(), 0);
}

#[test]
fn with_a_key_packets_of_strangers_keep_no_route() {
    for (from, is_kept) in [(NEXT, true), (NextHop { address: Ipv4Addr::new(10, 0, 0, 66), ..NEXT }, false)] {
        let mut router = router_with(true);
        router.handle_stray(packet(OWN, FAR, Protocol::Udp), at(0));
        router.handle_message(NEXT, OWN, 1, &reply(2), at(0));
        for second in 1..10 {
            run_until(&mut router, at(second * 1000));
            router.handle_sight(
                Sight { source: FAR, destination: Ipv4Addr::new(10, 0, 0, 5), protocol: 17, from: Some(from) },
                at(second * 1000),
            );
            router.handle_sight(
                Sight { source: FAR, destination: OWN, protocol: 17, from: Some(from) },
                at(second * 1000),
            );
        }
        assert_eq!(router.routes(at(9000)).count() > 0, is_kept, "from {}", from.address);
    }
}

#[test]
fn a_route_goes_with_its_neighbour_and_with_its_interface() {
    for is_interface in [false, true] {
        let mut router = router();
        router.handle_stray(packet(OWN, FAR, Protocol::Udp), at(0));
        router.handle_message(NEXT, OWN, 1, &reply(2), at(0));
        match is_interface {
            true => router.handle_interface_lost(1, at(100)),
            false => router.handle_neighbour_lost(NEXT, at(100)),
        }
        assert_eq!(router.routes(at(100)).count(), 0);
        assert_eq!(router.neighbours(at(100)).count(), 0);
    }
}

#[test]
fn the_way_of_strays_that_are_passed_on_is_known_by_their_source() {
    let mut router = router();
    let source = Ipv4Addr::new(10, 0, 0, 5);
    router.handle_sight(Sight { source, destination: FAR, protocol: 17, from: Some(NEXT) }, at(0));
    router.handle_stray(packet(source, FAR, Protocol::Udp), at(1));
    // Nobody repairs a route that was never there: the neighbour is told by an error, the sender by ICMP.
    let done = run_until(&mut router, at(50));
    assert!(done.iter().any(|output| matches!(output, Output::Send(message) if message.destination == NEXT.address || message.destination.is_broadcast())), "{done:?}");
    assert!(done.iter().any(|output| matches!(output, Output::Tell(_))), "{done:?}");
}

#[test]
fn strangers_without_number_keep_nobody_out() {
    let mut router = router();
    let far = Ipv4Addr::new(10, 0, 0, 77);
    for number in 0..2 * MAX_KNOWN as u32 {
        let source = Ipv4Addr::from_bits(0xc000_0000 | number);
        router.handle_sight(Sight { source, destination: far, protocol: 17, from: Some(NEXT) }, at(0));
    }
    assert!(router.came_over.len() <= MAX_KNOWN);
    let source = Ipv4Addr::new(10, 0, 0, 5);
    router.handle_sight(Sight { source, destination: far, protocol: 17, from: Some(NEXT) }, at(1));
    assert_eq!(router.came_over(source, far, at(1)), Some(NEXT));
}

#[test]
fn no_more_packets_wait_than_there_is_room_for() {
    let mut router = router();
    for _ in 0..ROUTE_QUEUE_PACKETS + 10 {
        router.handle_stray(packet(OWN, FAR, Protocol::Udp), at(0));
    }
    assert_eq!(router.waiting(), ROUTE_QUEUE_PACKETS as usize);
    assert_eq!(router.counters().packets_overflowed, 10);
}

/// One that sends to each address of a network, and goes on to what is there.
#[test]
fn after_a_sweep_a_route_is_found_as_soon_as_those_before_it_have_been_looked_for() {
    let random = Stream::new(1, Purpose::Routing, 0, 0);
    let aodv = Aodv::new(Config::rfc3561(), Node { address: OWN, interfaces: 2, random }, Instant::START);
    let networks = vec!["10.0.0.0/8".parse().expect("a network")];
    let mut router = Router::new(Box::new(aodv), |octets| Repr::parse(octets).is_ok(), OWN, networks, false);
    for number in 0..100_000_u32 {
        let address = Ipv4Addr::from_bits(Ipv4Addr::new(10, 1, 0, 0).to_bits() + number);
        router.handle_stray(packet(OWN, address, Protocol::Udp), at(u64::from(number) / 100));
    }
    let _ = run_until(&mut router, at(1_000));
    router.handle_stray(packet(OWN, FAR, Protocol::Udp), at(1_000));
    // Ten requests a second (RREQ_RATELIMIT) for at most as many destinations as packets wait, and one for this.
    let longest = at(1_000 + u64::from(ROUTE_QUEUE_PACKETS) * 100 + 200);
    let requested = |output: &Output| match output {
        Output::Send(message) => {
            matches!(Repr::parse(&message.octets), Ok(Repr::Request(request)) if request.destination == FAR)
        }
        _ => false,
    };
    assert!(run_until(&mut router, longest).iter().any(requested), "it is looked for in time");
    let counters = router.counters();
    assert_eq!(counters.packets_overflowed, 100_001 - u64::from(ROUTE_QUEUE_PACKETS));
    // All that wait time out, and then nothing is looked for.
    let _ = run_until(&mut router, at(40_000));
    assert_eq!(router.waiting(), 0);
    assert_eq!(run_until(&mut router, at(100_000)), [], "nobody asks for anything");
}

#[test]
fn a_packet_that_need_not_wait_costs_none_that_waits() {
    let mut router = router();
    let (other, unknown) = (Ipv4Addr::new(10, 0, 0, 5), Ipv4Addr::new(10, 0, 0, 6));
    router.handle_message(NEXT, OWN, 1, &reply(2), at(0));
    for _ in 0..ROUTE_QUEUE_PACKETS {
        router.handle_stray(packet(OWN, unknown, Protocol::Udp), at(0));
    }
    let _ = outputs(&mut router);
    // There is a route by now.
    let late = packet(OWN, FAR, Protocol::Udp);
    router.handle_stray(late.clone(), at(0));
    assert_eq!(outputs(&mut router), [Output::Forward { hop: NEXT, packet: late }]);
    // Nobody looks for a route for others' packets.
    router.handle_stray(packet(other, unknown, Protocol::Udp), at(0));
    let counters = router.counters();
    assert_eq!((counters.packets_released, counters.packets_unreachable, counters.packets_overflowed), (1, 1, 0));
    assert_eq!(router.waiting(), ROUTE_QUEUE_PACKETS as usize);
}

#[test]
fn what_is_not_of_the_network_is_counted_and_left() {
    let mut router = router();
    for destination in [Ipv4Addr::new(192, 0, 2, 1), Ipv4Addr::new(224, 0, 0, 251), Ipv4Addr::BROADCAST, OWN] {
        router.handle_stray(packet(OWN, destination, Protocol::Udp), at(0));
    }
    router.handle_stray(vec![0x60; 40], at(0));
    assert_eq!(router.counters().packets_foreign, 4);
    let outsider = NextHop { interface: 0, address: Ipv4Addr::new(192, 0, 2, 1) };
    router.handle_message(outsider, OWN, 1, &reply(2), at(0));
    router.handle_message(NextHop { interface: 0, address: OWN }, OWN, 1, &reply(2), at(0));
    assert_eq!(router.counters().messages_foreign, 2);
    assert_eq!(outputs(&mut router), []);
    assert_eq!(router.routes(at(0)).count(), 0);
}

#[test]
fn no_route_out_of_the_network_is_taken_over() {
    let mut router = router();
    let far = Repr::Reply(ReplyRepr {
        flags: ReplyFlags::default(),
        prefix_size: 0,
        hop_count: 1,
        destination: Ipv4Addr::new(192, 0, 2, 1),
        destination_sequence: 7,
        originator: OWN,
        lifetime: 3000,
        extensions: Extensions::default(),
    });
    router.handle_message(NEXT, OWN, 1, &far.to_octets(), at(0));
    assert_eq!(routes(&router, at(0)), [(NEXT.address, NEXT, 1)]);
}

#[test]
fn senders_are_told_a_bounded_number_of_times_in_a_second() {
    let mut router = router();
    let source = Ipv4Addr::new(10, 0, 0, 5);
    for _ in 0..500 {
        router.handle_stray(packet(source, FAR, Protocol::Udp), at(0));
    }
    let told = outputs(&mut router).into_iter().filter(|output| matches!(output, Output::Tell(_))).count();
    assert_eq!(told, ICMP_PER_SECOND as usize);
}

/// A protocol that lets every packet wait.
#[derive(Debug, Default)]
struct Patient {
    abandoned: Arc<Mutex<Vec<Ipv4Addr>>>,
}

impl Routing for Patient {
    fn encapsulation(&self) -> Encapsulation {
        Encapsulation::Udp { port: 1 }
    }
    fn handle_packet(&mut self, _: &routing::Packet<'_>, _: Instant) -> Verdict {
        Verdict::Wait
    }
    fn handle_abandoned(&mut self, destination: Ipv4Addr, _: Instant) {
        self.abandoned.lock().expect("one thread").push(destination);
    }
    fn handle_message(&mut self, _: &routing::Packet<'_>, _: Instant) {}
    fn handle_link_event(&mut self, _: &LinkEvent<'_>, _: Instant) -> Verdict {
        Verdict::Drop
    }
    fn handle_timeout(&mut self, _: Instant) {}
    fn poll_timeout(&self) -> Option<Instant> {
        None
    }
    fn poll_output(&mut self) -> Option<routing::Output> {
        None
    }
    fn next_hop(&self, _: Ipv4Addr, _: Instant) -> Option<NextHop> {
        None
    }
}

const OTHER: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 5);
const STRANGER: NextHop = NextHop { interface: 1, address: Ipv4Addr::new(10, 0, 0, 66) };

#[test]
fn packets_of_others_drive_out_no_packet_of_this_host() {
    let protocol = Patient::default();
    let abandoned = Arc::clone(&protocol.abandoned);
    let networks = vec!["10.0.0.0/24".parse().expect("a network")];
    let mut router = Router::new(Box::new(protocol), |_| true, OWN, networks, false);
    router.handle_stray(packet(OWN, FAR, Protocol::Udp), at(0));
    let gone = Ipv4Addr::new(10, 0, 0, 7);
    router.handle_stray(packet(OTHER, gone, Protocol::Udp), at(1));
    for _ in 0..ROUTE_QUEUE_PACKETS {
        router.handle_stray(packet(OTHER, FAR, Protocol::Udp), at(1));
        // An echo reply.
        router.handle_stray(with_payload(OWN, FAR, Protocol::Icmp, &[0; 8]), at(1));
    }
    assert_eq!(router.own.iter().collect::<Vec<_>>(), [&packet(OWN, FAR, Protocol::Udp)]);
    assert_eq!(router.waiting(), 1 + ROUTE_QUEUE_PACKETS as usize);
    assert_eq!(router.counters().packets_overflowed, u64::from(ROUTE_QUEUE_PACKETS) + 1);
    assert_eq!(*abandoned.lock().expect("one thread"), [gone], "packets for the other one still wait");
    // Each queue has its own times.
    assert_eq!(router.poll_timeout(), Some(at(30_000)));
    router.handle_timeout(at(30_000));
    assert_eq!((router.own.len(), router.others.len()), (0, ROUTE_QUEUE_PACKETS as usize));
    router.handle_timeout(at(30_001));
    assert_eq!((router.waiting(), router.poll_timeout()), (0, None));
    assert_eq!(*abandoned.lock().expect("one thread"), [gone, FAR], "once, when the last one has left");
}

#[test]
fn no_route_is_searched_for_an_error_of_this_host() {
    for is_sealed in [false, true] {
        let mut router = router_with(is_sealed);
        let error = icmp::host_unreachable(&packet(FAR, OTHER, Protocol::Udp), OWN).expect("the sender is told");
        router.handle_stray(error.clone(), at(0));
        assert_eq!(outputs(&mut router), []);
        assert_eq!((router.waiting(), router.counters().errors_without_route), (0, 1));
        // There is a route by now, which the kernel did not have yet.
        router.handle_message(NEXT, OWN, 1, &reply(2), at(1));
        router.handle_stray(error.clone(), at(1));
        assert_eq!(outputs(&mut router), [Output::Forward { hop: NEXT, packet: error }]);
    }
}

#[test]
fn with_a_key_strays_of_strangers_are_dropped_without_a_word() {
    let mut router = router_with(true);
    // Of a neighbour that has sent no message, and of nobody that was seen.
    router.handle_sight(Sight { source: OTHER, destination: FAR, protocol: 17, from: Some(STRANGER) }, at(0));
    for millis in 0..100 {
        router.handle_stray(packet(OTHER, FAR, Protocol::Udp), at(millis));
    }
    assert_eq!(run_until(&mut router, at(1000)), []);
    assert_eq!((router.waiting(), router.counters().packets_unproven), (0, 100));
}

#[test]
fn with_a_key_strays_of_neighbours_that_have_it_are_answered_as_without() {
    let mut router = router_with(true);
    router.handle_message(NEXT, OWN, 1, &reply(2), at(0));
    router.handle_neighbour_lost(NEXT, at(1));
    let _ = outputs(&mut router);
    let sight = Sight { source: OTHER, destination: FAR, protocol: 17, from: Some(NEXT) };
    let stray = || packet(OTHER, FAR, Protocol::Udp);
    router.handle_message(NEXT, OWN, 1, &reply(2), at(2));
    router.handle_sight(sight, at(2));
    router.handle_message(NEXT, OWN, 1, &error(), at(3));
    let _ = outputs(&mut router);
    // A second after the last packet that came over the neighbour, nobody vouches for the next.
    router.handle_stray(stray(), at(1001));
    assert_eq!(router.counters().packets_unproven, 0);
    // The route is looked for (RFC 3561, section 6.12), as without a key.
    let is_request = |output: &Output| matches!(output, Output::Send(message) if message.octets[0] == 1);
    assert!(outputs(&mut router).iter().any(is_request));
    assert_eq!(router.waiting(), 1);
    router.handle_stray(stray(), at(1002));
    assert_eq!(router.counters().packets_unproven, 1);
    // Nor does the neighbour once it is lost.
    router.handle_sight(sight, at(1010));
    router.handle_neighbour_lost(NEXT, at(1011));
    let _ = outputs(&mut router);
    router.handle_stray(stray(), at(1012));
    assert_eq!(router.counters().packets_unproven, 2);
    assert_eq!(outputs(&mut router), []);
}

#[test]
fn with_a_key_a_flow_vouches_for_no_other_destination() {
    let mut router = router_with(true);
    router.handle_message(NEXT, OWN, 1, &reply(2), at(0));
    router.handle_sight(Sight { source: OTHER, destination: FAR, protocol: 17, from: Some(NEXT) }, at(0));
    router.handle_stray(packet(OTHER, Ipv4Addr::new(10, 0, 0, 7), Protocol::Udp), at(1));
    assert_eq!((router.counters().packets_unproven, outputs(&mut router)), (1, vec![]));
}

/// What the kernel says to a made-up address is as good as the packet that it answers.
#[test]
fn with_a_key_answers_to_strangers_start_no_search() {
    let mut refusal = [0; 20];
    // RST, ACK.
    refusal[13] = 0x14;
    for answer in [with_payload(OWN, OTHER, Protocol::Icmp, &[0; 8]), with_payload(OWN, OTHER, Protocol::Tcp, &refusal)]
    {
        let mut router = router_with(true);
        router.handle_message(NEXT, OWN, 1, &reply(2), at(0));
        let sight = |from| Sight { source: OTHER, destination: OWN, protocol: 1, from: Some(from) };
        router.handle_sight(sight(STRANGER), at(1));
        router.handle_stray(answer.clone(), at(1));
        assert_eq!((router.counters().packets_unproven, outputs(&mut router)), (1, vec![]));
        // The same, asked by way of a neighbour that has the key: the answer waits for its route.
        router.handle_sight(sight(NEXT), at(2));
        router.handle_stray(answer.clone(), at(2));
        assert!(matches!(&outputs(&mut router)[..], [Output::Send(_)]), "it is searched for");
        assert_eq!((router.own.len(), router.others.len()), (0, 1));
    }
}

#[test]
fn with_a_key_an_answer_waits_for_a_route_that_a_program_needs() {
    let mut router = router_with(true);
    let mut fragment = with_payload(OWN, FAR, Protocol::Icmp, &[0; 8]);
    fragment[7] = 1;
    router.handle_stray(fragment.clone(), at(0));
    assert_eq!((router.waiting(), router.counters().packets_unproven), (0, 1));
    router.handle_stray(packet(OWN, FAR, Protocol::Udp), at(0));
    router.handle_stray(fragment, at(0));
    assert_eq!((router.own.len(), router.others.len()), (1, 1));
}

proptest! {
    /// Garbage from any address: nothing panics, nothing is sent, no route is made, and no neighbour is listed.
    #[test]
    fn garbage_changes_nothing(
        datagrams in proptest::collection::vec((any::<u32>(), proptest::collection::vec(any::<u8>(), 0..40)), 1..50),
    ) {
        let mut router = router();
        for (address, octets) in datagrams {
            let from = NextHop { interface: 0, address: Ipv4Addr::from_bits(0x0a00_0000 | address & 0xff) };
            if Repr::parse(&octets).is_err() {
                router.handle_message(from, Ipv4Addr::BROADCAST, 1, &octets, at(0));
            }
        }
        prop_assert_eq!(outputs(&mut router), []);
        prop_assert_eq!(router.routes(at(0)).count(), 0);
        prop_assert_eq!(router.neighbours(at(0)).count(), 0);
    }

    /// With a key, no packet of a stranger makes the router send, keep or search anything.
    #[test]
    fn with_a_key_packets_of_strangers_cost_nothing(
        packets in proptest::collection::vec((2_u8..255, 2_u8..255, any::<bool>()), 1..100),
    ) {
        let mut router = router_with(true);
        for (nth, (source, destination, is_stray)) in packets.into_iter().enumerate() {
            let [source, destination] = [source, destination].map(|last| Ipv4Addr::new(10, 0, 0, last));
            let now = at(nth as u64);
            if is_stray {
                router.handle_stray(packet(source, destination, Protocol::Udp), now);
            } else {
                let from = Some(NextHop { interface: 0, address: source });
                router.handle_sight(Sight { source, destination, protocol: 17, from }, now);
            }
        }
        prop_assert_eq!(outputs(&mut router), []);
        prop_assert_eq!(router.waiting(), 0);
        prop_assert_eq!(router.routes(at(100)).count(), 0);
        prop_assert_eq!(router.neighbours(at(100)).count(), 0);
    }

    #[test]
    fn arbitrary_strays_never_panic(octets in proptest::collection::vec(any::<u8>(), 0..80)) {
        let mut router = router();
        router.handle_stray(octets, at(0));
        let _ = outputs(&mut router);
    }
}
