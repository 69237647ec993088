//! A running machine and random bytes.

use std::net::Ipv4Addr;

use hopcast_wire::aodv::Repr;
use proptest::prelude::*;

use super::super::discovery::seen::MAX_REQUESTS;
use super::super::table::MAX_ROUTES;
use super::super::{Aodv, Config, Constants, LinkDetection, MAX_NEIGHBOURS, Rules};
use super::bench::{OWN, address, data, error, hello, node, reply, request};
use crate::random::{Purpose, Stream};
use crate::routing::{LinkEvent, NextHop, Packet, Routing};
use crate::time::{Duration, Instant};

fn everything() -> Config {
    Config { reply_acknowledgement: true, hello_always: true, link_detection: LinkDetection::Both, ..Config::rfc3561() }
}

fn valid_messages() -> Vec<Vec<u8>> {
    vec![
        Repr::Request(request((7, 4), (9, None), 1, 1)).to_octets(),
        Repr::Request(request((7, 5), (OWN, Some(3)), 1, 2)).to_octets(),
        Repr::Reply(reply((9, 20), 1, 7, 6000)).to_octets(),
        Repr::Reply(reply((8, 20), 1, OWN, 6000)).to_octets(),
        hello(2, 5).to_octets(),
        error(false, &[(9, 21), (8, 5)]),
        error(true, &[(9, 21)]),
        Repr::Acknowledgement.to_octets(),
    ]
}

/// Lets all timers up to `now` pass, and takes what is put out.
fn settle(aodv: &mut Aodv, now: Instant) {
    while aodv.poll_output().is_some() {}
    while let Some(due) = aodv.poll_timeout().filter(|&due| due <= now) {
        aodv.handle_timeout(due);
        while aodv.poll_output().is_some() {}
    }
}

fn assert_bounded(aodv: &Aodv) {
    assert!(aodv.table.iter().count() <= MAX_ROUTES);
    assert!(aodv.seen.len() <= MAX_REQUESTS);
    assert!(aodv.delayed.len() <= MAX_REQUESTS);
    assert!(aodv.neighbours.len().max(aodv.blacklist.size()) <= MAX_NEIGHBOURS);
}

proptest! {
    #[test]
    fn arbitrary_and_mutated_messages_never_panic(
        seed: u64,
        messages in prop::collection::vec(
            (0..8_usize, prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4), any::<[u8; 3]>(), 0..2_000_u64),
            1..80,
        ),
        arbitrary in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 1..20),
    ) {
        let mut aodv = Aodv::new(everything(), node(), Instant::START);
        let mut random = Stream::new(seed, Purpose::Routing, 0, 0);
        let mut now = Instant::START;
        let mutated = messages.into_iter().map(|(which, changes, [from, to, ttl], wait)| {
            let mut octets = valid_messages()[which].clone();
            for (place, value) in changes {
                let place = place.index(octets.len());
                octets[place] = value;
            }
            (octets, from, to, ttl, wait)
        });
        let arbitrary = arbitrary.into_iter().map(|octets| (octets, 2, 1, 1, 10));
        for (octets, from, to, ttl, wait) in mutated.chain(arbitrary) {
            let source = if from < 200 { address(from % 12) } else { Ipv4Addr::BROADCAST };
            let from = NextHop { interface: u32::from(from & 1), address: source };
            let destination = if to < 128 { address(OWN) } else { Ipv4Addr::BROADCAST };
            let packet = Packet::message(from, destination, ttl, &octets);
            aodv.handle_message(&packet, now);
            aodv.handle_packet(&data(7, to, None), now);
            aodv.handle_packet(&data(OWN, 5 + to % 8, None), now);
            aodv.handle_link_event(&LinkEvent::FrameDropped { hop: from, packet: Packet { from: None, ..packet } }, now);
            now += Duration::from_millis(u64::from(random.below(1 + wait as u32)));
            settle(&mut aodv, now);
            assert_bounded(&aodv);
        }
    }
}

#[test]
fn no_configuration_stops_time_or_leaves_its_type() {
    for (time, number, octet) in [(Duration::ZERO, 0, 0), (Duration::MAX, u32::MAX, u8::MAX)] {
        let config = Config {
            active_route_timeout: time,
            allowed_hello_loss: number,
            hello_interval: time,
            local_add_ttl: octet,
            net_diameter: octet,
            node_traversal_time: time,
            rerr_ratelimit: Some(number),
            rreq_ratelimit: Some(number),
            rreq_retries: number,
            timeout_buffer: octet,
            ttl_start: octet,
            ttl_increment: octet,
            ttl_threshold: octet,
            rules: Rules::Ns2(Constants {
                bcast_id_save: time,
                max_rreq_timeout: time,
                my_route_timeout: time,
                rev_route_life: time,
            }),
            broadcast_jitter: time,
            ..everything()
        };
        let mut aodv = Aodv::new(config, node(), Instant::START);
        let mut now = Instant::START;
        for octets in valid_messages() {
            let hop = NextHop { interface: 0, address: address(2) };
            let packet = Packet { from: Some(hop), octets: &octets, has_data: false, ..data(2, OWN, None) };
            aodv.handle_message(&packet, now);
            aodv.handle_packet(&data(OWN, 5, None), now);
            aodv.handle_packet(&data(7, 9, Some(2)), now);
            aodv.handle_link_event(&LinkEvent::FrameDropped { hop, packet: data(7, 9, None) }, now);
            while aodv.poll_output().is_some() {}
            for _ in 0..20 {
                let Some(due) = aodv.poll_timeout() else { break };
                assert!(due > now, "the timers of {now} stay due");
                now = due;
                aodv.handle_timeout(now);
                while aodv.poll_output().is_some() {}
            }
        }
    }
}

/// Every message comes from a different neighbour, with a different originator.
#[test]
fn a_flood_of_inventions_fills_no_more_than_its_place() {
    let mut aodv = Aodv::new(everything(), node(), Instant::START);
    let mut random = Stream::new(1, Purpose::Routing, 0, 0);
    let mut now = Instant::START;
    let mut most = 0;
    for number in 0..200_000_u32 {
        let source = Ipv4Addr::from_bits(0x0b00_0000 + number);
        let from = NextHop { interface: 0, address: source };
        let invented = match number % 4 {
            0 => Repr::Request(request((7, 4), (9, None), 1, number)).to_octets(),
            1 => Repr::Request(request((7, 4), (OWN, None), 1, number)).to_octets(),
            2 => Repr::Reply(reply((9, 20), 1, OWN, u32::MAX)).to_octets(),
            _ => {
                Repr::Reply(hopcast_wire::aodv::ReplyRepr { destination: source, ..reply((9, 1), 0, 9, 9) }).to_octets()
            }
        };
        let mut octets = invented;
        if number % 4 < 2 {
            octets[16..20].copy_from_slice(&(0x0c00_0000 + number).to_be_bytes());
        } else if number % 4 == 2 {
            octets[4..8].copy_from_slice(&(0x0c00_0000 + number).to_be_bytes());
        }
        let destination = if number % 4 == 2 { address(OWN) } else { Ipv4Addr::BROADCAST };
        aodv.handle_message(&Packet::message(from, destination, 9, &octets), now);
        while aodv.poll_output().is_some() {}
        if number % 64 == 0 {
            most = most.max(aodv.table.iter().count());
            now += Duration::from_millis(u64::from(random.below(2)));
            settle(&mut aodv, now);
            assert_bounded(&aodv);
        }
    }
    assert_eq!(most, MAX_ROUTES, "the table has been full");
    assert_eq!(aodv.neighbours.len(), MAX_NEIGHBOURS, "so has the list of neighbours");
    // Some time after the last of it, nothing is left.
    settle(&mut aodv, now + Duration::from_secs(60));
    assert_eq!((aodv.table.iter().count(), aodv.neighbours.len(), aodv.delayed.len()), (0, 0, 0));
}
