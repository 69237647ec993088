//! Links with one direction, several interfaces, reboots.

use hopcast_wire::aodv::{ReplyFlags, ReplyRepr, Repr};

use super::super::{Aodv, Config};
use super::bench::{Bench, OWN, address, data, error, hop, node, reply, request};
use super::exact;
use crate::routing::{Forward, LinkEvent, NextHop, Packet, Routing, Verdict};
use crate::time::{Duration, Instant};

fn rreq(id: u32) -> Repr<'static> {
    Repr::Request(request((7, id), (OWN, None), 0, id))
}

#[test]
fn section_6_8_who_does_not_receive_a_reply_is_not_listened_to() {
    let mut bench = Bench::new(&exact());
    bench.hear(2, Some(1), rreq(1)).says(["2 1: RREP 1/0 for 7 hops 0 for 6000 ms"]);
    bench.message_dropped(2, Repr::Reply(reply((OWN, 0), 0, 7, 6000))).says(["purge 2"]);
    bench.hear(2, Some(1), rreq(2)).says([]);
    assert_eq!((bench.next(2), bench.next(7)), (None, None));
    // The same over a link that works.
    bench.hear(3, Some(1), rreq(2)).says(["3 1: RREP 1/0 for 7 hops 0 for 6000 ms"]);
    // BLACKLIST_TIMEOUT: four rings and two retries, 2.8 s each.
    bench.quietly_to(16_799).hear(2, Some(1), rreq(3)).says([]);
    bench.quietly_to(16_800).hear(2, Some(1), rreq(4)).says(["2 1: RREP 1/0 for 7 hops 0 for 6000 ms"]);
}

#[test]
fn section_6_8_other_losses_are_no_reason_not_to_listen() {
    let mut bench = Bench::new(&exact());
    bench.hear(2, Some(1), rreq(1)).said();
    bench.message_dropped(2, Repr::Acknowledgement).says(["purge 2"]);
    bench.hear(2, Some(1), rreq(2)).says(["2 1: RREP 1/0 for 7 hops 0 for 6000 ms"]);
}

#[test]
fn section_6_8_a_reply_is_to_be_acknowledged_in_time() {
    let mut bench = Bench::new(&Config { reply_acknowledgement: true, ..exact() });
    let answer = "2 1: RREP 1/0 for 7 hops 0 for 6000 ms A";
    bench.hear(2, Some(1), rreq(1)).says([answer]);
    // NEXT_HOP_WAIT is 40 ms + 10 ms.
    bench.quietly_to(49).hear(2, None, Repr::Acknowledgement);
    bench.quietly_to(200).hear(2, Some(1), rreq(2)).says([answer]);
    bench.quietly_to(249).hear(3, None, Repr::Acknowledgement).quietly_to(250);
    bench.hear(2, Some(1), rreq(3)).says([]);
    bench.quietly_to(250 + 16_799).hear(2, Some(1), rreq(4)).says([]);
    bench.quietly_to(250 + 16_800).hear(2, Some(1), rreq(5)).says([answer]);
}

#[test]
fn section_5_4_a_reply_that_asks_for_it_is_acknowledged() {
    let mut bench = Bench::new(&exact());
    let asking = ReplyRepr { flags: ReplyFlags::ACKNOWLEDGE, ..reply((9, 1), 0, OWN, 6000) };
    bench.hear(2, None, Repr::Reply(asking)).says(["2 1: RREP-ACK"]);
    bench.hear(2, None, Repr::Reply(asking)).says(["2 1: RREP-ACK"]);
}

#[test]
fn section_6_14_a_route_keeps_to_the_interface_on_which_it_was_heard() {
    let mut aodv = Aodv::new(exact(), node(), Instant::START);
    let (left, right) = (NextHop { interface: 0, ..hop(2) }, NextHop { interface: 1, ..hop(2) });
    let hear = |aodv: &mut Aodv, from: NextHop, message: Repr<'_>| {
        let octets = message.to_octets();
        let packet = Packet { from: Some(from), octets: &octets, has_data: false, ttl: 1, ..data(2, OWN, None) };
        while aodv.poll_output().is_some() {}
        aodv.handle_message(&packet, Instant::START);
    };
    hear(&mut aodv, right, Repr::Reply(reply((9, 20), 3, OWN, 6000)));
    let verdict = aodv.handle_packet(&data(OWN, 9, None), Instant::START);
    assert_eq!(verdict, Verdict::Forward(Forward::to(right)));
    // The same neighbour is lost on the one interface, and remains on the other.
    aodv.handle_link_event(&LinkEvent::NeighbourLost(left), Instant::START);
    assert_eq!(aodv.next_hop(address(9), Instant::START), Some(right));
    aodv.handle_link_event(&LinkEvent::NeighbourLost(right), Instant::START);
    assert_eq!(aodv.next_hop(address(9), Instant::START), None);
    hear(&mut aodv, left, Repr::Reply(reply((9, 21), 3, OWN, 6000)));
    assert_eq!(aodv.next_hop(address(9), Instant::START), Some(left));
}

#[test]
fn section_6_13_after_a_reboot_a_node_learns_and_says_nothing() {
    let config = Config { link_detection: super::LinkDetection::Both, hello_always: true, ..exact() };
    let mut bench = Bench::of(Aodv::after_reboot(config, node(), Instant::START));
    bench.waits(5).says([]);
    bench.hear(2, Some(9), Repr::Request(request((7, 1), (OWN, Some(30)), 0, 1))).says([]);
    bench.hear(2, Some(9), Repr::Request(request((7, 2), (9, None), 0, 2))).says([]);
    bench.hear(3, None, Repr::Reply(reply((9, 20), 1, 7, 6000))).says([]);
    bench.hear_octets(3, None, &error(false, &[(9, 21)])).says([]);
    assert_eq!(bench.next(7), Some(2));
    // DELETE_PERIOD is 15 s. Then it has the number that others knew, and begins.
    bench.quietly_to(14_999);
    let said = bench.to(15_000);
    assert_eq!(said, ["15000 all 1: RREQ 1 1/31 for 5/0 hops 0 U"]);
}

#[test]
fn section_6_13_whoever_still_sends_over_a_rebooted_node_is_told_and_makes_it_wait_on() {
    let mut bench = Bench::of(Aodv::after_reboot(exact(), node(), Instant::START));
    bench.hear(3, None, Repr::Reply(reply((9, 20), 1, 7, 6000))).waits(5);
    bench.quietly_to(10_000);
    assert_eq!(bench.packet(7, 9, Some(2)), Verdict::Drop);
    bench.says(["all 1: RERR 9/21"]);
    bench.quietly_to(24_999);
    assert_eq!(bench.to(25_000), ["25000 all 1: RREQ 1 1/1 for 5/0 hops 0 U"]);
}

#[test]
fn broadcasts_that_answer_are_delayed_by_a_jitter() {
    let jitter = Duration::from_millis(10);
    let mut bench = Bench::new(&Config { broadcast_jitter: jitter, ..exact() });
    let mut delays = Vec::new();
    for id in 0..100_u32 {
        let now = u64::from(id) * 20;
        bench.quietly_to(now).hear(2, Some(9), Repr::Request(request((7, id), (9, None), 0, id))).says([]);
        let said = bench.to(now + 10);
        let when: f64 = said[0].split(' ').next().and_then(|at| at.parse().ok()).expect("it begins with the time");
        delays.push(when - now as f64);
    }
    let mean = delays.iter().sum::<f64>() / 100.0;
    assert!(delays.iter().all(|&delay| (0.0..10.0).contains(&delay)), "{delays:?}");
    // Of 100 uniform draws the mean deviates by 0.29 ms.
    assert!((mean - 5.0).abs() < 1.0, "{mean}");
    // So is what a node asks for itself, but under ns-2's rules and in ARP packets.
    let [said] = &bench.waits(5).to(2000)[..] else { panic!("a request") };
    let (when, request) = said.split_once(' ').expect("it begins with the time");
    assert!((1990.0..2000.0).contains(&when.parse::<f64>().expect("a time")) && when != "1990", "{when}");
    assert_eq!(request, "all 1: RREQ 1 1/1 for 5/0 hops 0 U");
    for config in [Config::ns2(), Config::draft5_in_arp()] {
        let mut at_once = Bench::new(&config);
        at_once.waits(5);
        assert!(at_once.said().iter().any(|line| line.contains("RREQ 1 ")));
    }
}
