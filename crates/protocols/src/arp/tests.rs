//! By hand at exact instants; then whatever may come.

use super::*;
use crate::random::Purpose;
use crate::time::Duration;
use proptest::prelude::*;

const OWN: MacAddress = MacAddress([2, 0, 0, 0, 0, 1]);
const NEAR: MacAddress = MacAddress([2, 0, 0, 0, 0, 2]);
const FAR: MacAddress = MacAddress([2, 0, 0, 0, 0, 3]);
const OWN_IP: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
const NEAR_IP: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);
const FAR_IP: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 3);

/// Without jitter.
const EXACT: Config = Config { request_jitter: Duration::ZERO, ..Config::RFC_1122 };

fn at(millis: u64) -> Instant {
    Instant::START + Duration::from_millis(millis)
}

fn arp(config: Config) -> Arp<u32> {
    Arp::new(config, OWN, OWN_IP, Stream::new(1, Purpose::AddressResolution, 0, 0))
}

fn drain(arp: &mut Arp<u32>) -> Vec<Output<u32>> {
    core::iter::from_fn(|| arp.poll_output()).collect()
}

fn message(operation: Operation, from: (MacAddress, Ipv4Addr), to: (MacAddress, Ipv4Addr)) -> Repr {
    Repr { operation, sender_hardware: from.0, sender_protocol: from.1, target_hardware: to.0, target_protocol: to.1 }
}

fn request(from: (MacAddress, Ipv4Addr), target: Ipv4Addr) -> Repr {
    message(Operation::Request, from, (MacAddress([0; 6]), target))
}

/// What asks for the address of a neighbour.
fn asks(target: Ipv4Addr) -> Output<u32> {
    Output::Message { to: MacAddress::BROADCAST, message: request((OWN, OWN_IP), target) }
}

fn goes(packet: u32, to: MacAddress) -> Output<u32> {
    Output::Packet { to, packet }
}

fn lost(packet: u32, cause: DropCause) -> Output<u32> {
    Output::Dropped { packet, cause }
}

/// Of two that ask at one instant neither hears the other.
#[test]
fn those_who_ask_at_one_instant_repeat_that_at_two() {
    let repeated = |node: u64| {
        let random = Stream::new(1, Purpose::AddressResolution, node, 0);
        let mut arp = Arp::new(Config::RFC_1122, OWN, OWN_IP, random);
        arp.handle_packet(NEAR_IP, 1, at(0));
        assert_eq!(drain(&mut arp), [asks(NEAR_IP)]);
        let due = arp.poll_timeout().expect("it asks again");
        assert!((at(1000)..at(1010)).contains(&due), "{due}");
        due
    };
    assert_ne!(repeated(0), repeated(1));
}

#[test]
fn a_packet_waits_for_the_answer_to_a_request_and_goes_with_it() {
    let mut arp = arp(EXACT);
    assert_eq!((arp.lookup(NEAR_IP, at(0)), arp.poll_timeout()), (None, None));
    arp.handle_packet(NEAR_IP, 1, at(0));
    assert_eq!(drain(&mut arp), [asks(NEAR_IP)]);
    assert_eq!(arp.waiting().collect::<Vec<_>>(), [&1]);
    // Within the second there is no other request (RFC 1122, section 2.3.2.1).
    arp.handle_packet(NEAR_IP, 2, at(3));
    assert_eq!(drain(&mut arp), []);
    arp.handle_message(&message(Operation::Reply, (NEAR, NEAR_IP), (OWN, OWN_IP)), at(5));
    assert_eq!(drain(&mut arp), [goes(1, NEAR), goes(2, NEAR)]);
    assert_eq!(arp.waiting().count(), 0);
    assert_eq!(arp.lookup(NEAR_IP, at(5)), Some(NEAR));
    arp.handle_packet(NEAR_IP, 3, at(6));
    assert_eq!(drain(&mut arp), [goes(3, NEAR)]);
}

#[test]
fn an_address_is_believed_for_a_minute_after_it_was_last_told() {
    let mut arp = arp(EXACT);
    arp.handle_packet(NEAR_IP, 1, at(0));
    let reply = message(Operation::Reply, (NEAR, NEAR_IP), (OWN, OWN_IP));
    arp.handle_message(&reply, at(10));
    drain(&mut arp);
    // A request of the neighbour for somebody else refreshes it (RFC 1122, section 2.3.2.1, mechanism 1).
    arp.handle_message(&request((NEAR, NEAR_IP), FAR_IP), at(30_000));
    assert_eq!(drain(&mut arp), []);
    assert_eq!(arp.poll_timeout(), Some(at(90_000)));
    assert_eq!(arp.lookup(NEAR_IP, at(89_999)), Some(NEAR));
    assert_eq!(arp.lookup(NEAR_IP, at(90_000)), None, "also if nobody has called since");
    arp.handle_timeout(at(90_000));
    assert_eq!(arp.poll_timeout(), None, "nothing is left of it");
    arp.handle_packet(NEAR_IP, 2, at(90_000));
    assert_eq!(drain(&mut arp), [asks(NEAR_IP)]);
}

#[test]
fn after_three_requests_without_an_answer_what_waits_is_given_up() {
    let mut arp = arp(EXACT);
    arp.handle_packet(NEAR_IP, 1, at(0));
    assert_eq!(drain(&mut arp), [asks(NEAR_IP)]);
    for second in 1..3 {
        assert_eq!(arp.poll_timeout(), Some(at(second * 1_000)));
        arp.handle_timeout(at(second * 1_000 - 1));
        assert_eq!(drain(&mut arp), []);
        arp.handle_timeout(at(second * 1_000));
        assert_eq!(drain(&mut arp), [asks(NEAR_IP)]);
    }
    arp.handle_packet(NEAR_IP, 2, at(2_500));
    assert_eq!(drain(&mut arp), []);
    assert_eq!(arp.poll_timeout(), Some(at(3_000)));
    arp.handle_timeout(at(3_000));
    assert_eq!(drain(&mut arp), [lost(1, DropCause::Unresolved), lost(2, DropCause::Unresolved)]);
    assert_eq!(arp.poll_timeout(), None);
    arp.handle_packet(NEAR_IP, 3, at(3_000));
    assert_eq!(drain(&mut arp), [asks(NEAR_IP)], "the next packet asks anew");
}

#[test]
fn the_oldest_gives_way_when_too_many_wait_for_one_address() {
    let mut arp = arp(Config { queue_packets: 2, ..EXACT });
    for packet in 1..=3 {
        assert_eq!(arp.is_full(NEAR_IP), packet > 2);
        arp.handle_packet(NEAR_IP, packet, at(0));
    }
    assert_eq!(drain(&mut arp), [asks(NEAR_IP), lost(1, DropCause::QueueFull)]);
    // Another address has a queue of its own.
    arp.handle_packet(FAR_IP, 4, at(0));
    assert_eq!(drain(&mut arp), [asks(FAR_IP)]);
    assert!(!arp.is_full(FAR_IP));
}

#[test]
fn a_request_for_this_node_is_answered_and_who_asks_is_known() {
    let mut arp = arp(EXACT);
    arp.handle_message(&request((NEAR, NEAR_IP), OWN_IP), at(0));
    let reply = message(Operation::Reply, (OWN, OWN_IP), (NEAR, NEAR_IP));
    assert_eq!(drain(&mut arp), [Output::Message { to: NEAR, message: reply }]);
    assert_eq!(arp.lookup(NEAR_IP, at(0)), Some(NEAR));
    // Of one between others nothing is kept (RFC 826, "Packet reception"), and it is not answered.
    arp.handle_message(&request((FAR, FAR_IP), NEAR_IP), at(0));
    assert_eq!(drain(&mut arp), []);
    assert_eq!(arp.lookup(FAR_IP, at(0)), None);
    // An answer is not answered.
    arp.handle_message(&message(Operation::Reply, (FAR, FAR_IP), (OWN, OWN_IP)), at(0));
    assert_eq!(drain(&mut arp), []);
    assert_eq!(arp.lookup(FAR_IP, at(0)), Some(FAR));
}

#[test]
fn a_request_of_the_neighbour_that_is_looked_for_is_as_good_as_an_answer() {
    let mut arp = arp(EXACT);
    arp.handle_packet(NEAR_IP, 1, at(0));
    drain(&mut arp);
    arp.handle_message(&request((NEAR, NEAR_IP), FAR_IP), at(2));
    assert_eq!(drain(&mut arp), [goes(1, NEAR)]);
}

#[test]
fn a_neighbour_that_moves_to_another_address_is_found_there() {
    let mut arp = arp(EXACT);
    arp.handle_neighbour(NEAR_IP, NEAR, at(0));
    arp.handle_message(&request((FAR, NEAR_IP), NEAR_IP), at(1));
    assert_eq!(arp.lookup(NEAR_IP, at(1)), Some(FAR), "a gratuitous request");
}

#[test]
fn who_shows_its_addresses_otherwise_needs_no_request() {
    let mut arp = arp(EXACT);
    arp.handle_packet(FAR_IP, 1, at(0));
    drain(&mut arp);
    arp.handle_neighbour(NEAR_IP, NEAR, at(1));
    arp.handle_neighbour(FAR_IP, FAR, at(1));
    assert_eq!(drain(&mut arp), [goes(1, FAR)]);
    assert_eq!((arp.lookup(NEAR_IP, at(1)), arp.lookup(FAR_IP, at(1))), (Some(NEAR), Some(FAR)));
}

#[test]
fn what_waits_for_a_lost_neighbour_comes_back_and_is_not_asked_for() {
    let mut arp = arp(EXACT);
    arp.handle_packet(NEAR_IP, 1, at(0));
    arp.handle_packet(NEAR_IP, 2, at(0));
    drain(&mut arp);
    assert_eq!(arp.purge(NEAR_IP, at(100)), [1, 2]);
    assert_eq!(arp.purge(FAR_IP, at(100)), []);
    // A new packet waits for the end of the second since the request.
    arp.handle_packet(NEAR_IP, 3, at(200));
    assert_eq!(drain(&mut arp), []);
    assert_eq!(arp.poll_timeout(), Some(at(1_000)));
    arp.handle_timeout(at(1_000));
    assert_eq!(drain(&mut arp), [asks(NEAR_IP)]);
}

#[test]
fn a_short_timeout_asks_no_more_often_than_the_rate_allows() {
    let timeout = Some(Duration::from_millis(100));
    let mut arp = arp(Config { timeout, ..EXACT });
    arp.handle_packet(NEAR_IP, 1, at(0));
    arp.handle_message(&message(Operation::Reply, (NEAR, NEAR_IP), (OWN, OWN_IP)), at(1));
    assert_eq!(drain(&mut arp), [asks(NEAR_IP), goes(1, NEAR)]);
    arp.handle_timeout(at(101));
    arp.handle_packet(NEAR_IP, 2, at(500));
    assert_eq!(drain(&mut arp), []);
    arp.handle_timeout(at(1_000));
    assert_eq!(drain(&mut arp), [asks(NEAR_IP)]);
}

#[test]
fn ns_2_asks_with_each_packet_keeps_the_latest_and_drops_two_with_the_fourth() {
    let mut arp = arp(Config::NS_2);
    arp.handle_packet(NEAR_IP, 1, at(0));
    assert_eq!(drain(&mut arp), [asks(NEAR_IP)]);
    assert_eq!(arp.poll_timeout(), None, "no answer is waited for");
    arp.handle_packet(NEAR_IP, 2, at(1));
    assert_eq!(drain(&mut arp), [lost(1, DropCause::QueueFull), asks(NEAR_IP)]);
    arp.handle_packet(NEAR_IP, 3, at(2));
    assert_eq!(drain(&mut arp), [lost(2, DropCause::QueueFull), asks(NEAR_IP)]);
    arp.handle_packet(NEAR_IP, 4, at(3));
    assert_eq!(drain(&mut arp), [lost(3, DropCause::Unresolved), lost(4, DropCause::Unresolved)]);
    arp.handle_packet(NEAR_IP, 5, at(4));
    assert_eq!(drain(&mut arp), [asks(NEAR_IP)]);
    // It believes whatever it hears, for ever.
    arp.handle_message(&request((FAR, FAR_IP), NEAR_IP), at(5));
    assert_eq!(arp.lookup(FAR_IP, at(1_000_000_000)), Some(FAR));
    arp.handle_message(&message(Operation::Reply, (NEAR, NEAR_IP), (OWN, OWN_IP)), at(6));
    assert_eq!(drain(&mut arp), [goes(5, NEAR)]);
}

#[test]
fn addresses_of_groups_and_of_this_node_are_not_believed() {
    let mut arp = arp(Config::NS_2);
    for sender in [
        (MacAddress::BROADCAST, NEAR_IP),
        (NEAR, OWN_IP),
        (NEAR, Ipv4Addr::BROADCAST),
        (NEAR, Ipv4Addr::UNSPECIFIED),
        (NEAR, Ipv4Addr::new(224, 0, 0, 1)),
    ] {
        arp.handle_message(&message(Operation::Reply, sender, (OWN, OWN_IP)), at(0));
        assert_eq!(arp.lookup(sender.1, at(0)), None, "{sender:?}");
    }
    // Who probes an address from none (RFC 5227, section 2.1.1) is answered, and not remembered.
    arp.handle_message(&request((NEAR, Ipv4Addr::UNSPECIFIED), OWN_IP), at(0));
    let reply = message(Operation::Reply, (OWN, OWN_IP), (NEAR, Ipv4Addr::UNSPECIFIED));
    assert_eq!(drain(&mut arp), [Output::Message { to: NEAR, message: reply }]);
    arp.handle_message(&request((MacAddress::BROADCAST, NEAR_IP), OWN_IP), at(0));
    assert_eq!(drain(&mut arp), [], "an answer to all would be a storm");
}

#[test]
fn a_flood_of_inventions_fills_no_more_than_its_place_and_drives_nobody_out_who_is_waited_for() {
    let mut arp = arp(Config { learns_all: true, ..EXACT });
    arp.handle_packet(NEAR_IP, 1, at(0));
    let count = MAX_ENTRIES as u32 + 1_000;
    for invented in 0..count {
        let address = Ipv4Addr::from_bits(0x0b00_0000 + invented);
        arp.handle_message(&request((FAR, address), FAR_IP), at(1 + u64::from(invented / 1_000)));
    }
    assert_eq!((arp.entries.len(), arp.timers.len()), (MAX_ENTRIES, MAX_ENTRIES));
    drain(&mut arp);
    arp.handle_message(&message(Operation::Reply, (NEAR, NEAR_IP), (OWN, OWN_IP)), at(60));
    assert_eq!(drain(&mut arp), [goes(1, NEAR)]);
}

/// What may happen to a cache.
#[derive(Clone, Copy, Debug)]
enum Event {
    Packet(u8),
    Message(bool, u8, u8, u8),
    Neighbour(u8),
    Purge(u8),
    Wait(u64),
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let event = prop_oneof![
        4 => (0_u8..4).prop_map(Event::Packet),
        2 => any::<(bool, u8, u8, u8)>().prop_map(|(reply, a, b, c)| Event::Message(reply, a % 5, b % 5, c % 5)),
        1 => (0_u8..5).prop_map(Event::Neighbour),
        1 => (0_u8..5).prop_map(Event::Purge),
        3 => (0_u64..1_500).prop_map(Event::Wait),
    ];
    prop::collection::vec(event, 1..200)
}

fn configs() -> impl Strategy<Value = Config> {
    let timeout = prop_oneof![Just(None), (1_u64..5_000).prop_map(|millis| Some(Duration::from_millis(millis)))];
    (timeout, 1_u32..4, 1_usize..4, any::<bool>()).prop_map(|(timeout, requests, queue_packets, learns_all)| Config {
        timeout,
        requests,
        queue_packets,
        learns_all,
        ..EXACT
    })
}

fn node(n: u8) -> (MacAddress, Ipv4Addr) {
    (MacAddress([2, 0, 0, 0, 0, n]), Ipv4Addr::new(10, 0, 0, n))
}

proptest! {
    /// Each packet comes out once, in order for its address, or is still there; the queue keeps its bound, and no address is asked
    /// for twice within a second, nor without need.
    #[test]
    fn each_packet_goes_or_is_dropped_or_waits_and_requests_keep_their_rate(
        (config, is_ns2) in (configs(), any::<bool>()),
        events in events(),
    ) {
        let config = if is_ns2 { Config::NS_2 } else { config };
        let mut arp = arp(config);
        let mut now = Instant::START;
        let mut given = Vec::new();
        let mut come_out = Vec::new();
        let mut asked: BTreeMap<Ipv4Addr, Instant> = BTreeMap::new();
        for event in events {
            let mut until = now;
            match event {
                Event::Packet(to) => {
                    let packet = given.len() as u32;
                    given.push(node(to + 2).1);
                    arp.handle_packet(node(to + 2).1, packet, now);
                }
                Event::Message(reply, from, hardware, to) => {
                    let operation = if reply { Operation::Reply } else { Operation::Request };
                    let from = (node(hardware).0, node(from).1);
                    arp.handle_message(&message(operation, from, node(to)), now);
                }
                Event::Neighbour(n) => arp.handle_neighbour(node(n).1, node(n).0, now),
                Event::Purge(n) => come_out.extend(arp.purge(node(n).1, now)),
                Event::Wait(millis) => until = now + Duration::from_millis(millis),
            }
            loop {
                for output in core::iter::from_fn(|| arp.poll_output()) {
                    match output {
                        Output::Packet { packet, .. } | Output::Dropped { packet, .. } => come_out.push(packet),
                        Output::Message { to, message } if to == MacAddress::BROADCAST => {
                            let target = message.target_protocol;
                            let last = asked.insert(target, now);
                            let interval = config.request_interval.unwrap_or(Duration::ZERO);
                            prop_assert!(last.is_none_or(|last| last + interval <= now), "{target} at {now}");
                            prop_assert!(!given.is_empty());
                        }
                        Output::Message { message, .. } => prop_assert_eq!(message.operation, Operation::Reply),
                    }
                }
                for n in 0..6 {
                    let waiting = arp.waiting().filter(|&&packet| given[packet as usize] == node(n).1).count();
                    prop_assert!(waiting <= config.queue_packets);
                }
                match arp.poll_timeout().filter(|&due| due <= until) {
                    Some(due) => {
                        prop_assert!(due >= now || due <= until);
                        now = now.max(due);
                        arp.handle_timeout(now);
                    }
                    None => break,
                }
            }
            now = until;
        }
        let mut all: Vec<u32> = come_out.iter().chain(arp.waiting()).copied().collect();
        all.sort_unstable();
        prop_assert_eq!(all, (0..given.len() as u32).collect::<Vec<_>>());
        for n in 0..6 {
            let of_one: Vec<u32> = come_out.iter().copied().filter(|&p| given[p as usize] == node(n).1).collect();
            prop_assert!(of_one.is_sorted());
        }
        prop_assert_eq!(arp.timers.len(), arp.entries.len());
    }

    /// Bytes that pass for ARP packets, whatever they say, neither break a cache nor make it send anything but an answer.
    #[test]
    fn arbitrary_and_mutated_messages_never_panic(
        octets in prop::collection::vec(prop::array::uniform28(any::<u8>()), 1..100),
        mutated in any::<bool>(),
    ) {
        let mut arp = arp(Config { learns_all: true, ..EXACT });
        for (octets, millis) in octets.into_iter().zip(0..) {
            let mut octets = octets;
            let template = request(node(octets[9] % 4), node(octets[10] % 4).1);
            if mutated {
                let (place, value) = (usize::from(octets[0]) % 28, octets[1]);
                template.emit(&mut hopcast_wire::arp::Packet::new_unchecked(&mut octets));
                octets[place] ^= value;
            }
            let packet = hopcast_wire::arp::Packet::new_checked(octets).expect("28 octets are a packet");
            let Ok(message) = Repr::parse(&packet) else { continue };
            arp.handle_message(&message, at(millis));
            for output in drain(&mut arp) {
                let is_answer = matches!(output, Output::Message { message, .. } if message.operation == Operation::Reply);
                prop_assert!(is_answer);
            }
            prop_assert!(arp.entries.len() <= millis as usize + 1);
        }
    }
}
