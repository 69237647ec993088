//! Link sensing, hysteresis and link-layer notification, by hand.

use super::*;
use crate::routing::Forward;
use crate::routing::olsr::Hysteresis;

#[test]
fn section_3_5_hellos_are_sent_at_the_interval_less_a_jitter() {
    let mut bench = Bench::new(Config::default());
    let sent = bench.until(Instant::START + SECOND * 200);
    assert!(sent[0].at <= Instant::START + MS * 500);
    assert!(
        sent.iter().all(|message| message.header.kind == MessageType::Hello),
        "and nothing else, without neighbours"
    );
    let hello = sent[0].hello().unwrap();
    assert_eq!((hello.interval.as_nanos(), hello.willingness, hello.links), (2_000_000_000, 3, vec![]));
    let header = sent[0].header;
    assert_eq!((header.time_to_live, header.hop_count, header.validity.as_nanos()), (1, 0, 6_000_000_000));
    for pair in sent.windows(2) {
        let gap = pair[1].at - pair[0].at;
        assert!(gap >= MS * 1500 && gap <= MS * 2000, "{gap}");
        assert_eq!(pair[1].header.sequence, pair[0].header.sequence.wrapping_add(1));
        assert_eq!(pair[1].packet, pair[0].packet.wrapping_add(1));
    }
}

#[test]
fn section_7_1_a_link_is_heard_then_symmetric_then_lost_then_forgotten() {
    let mut bench = Bench::new(Config::default());
    bench.hello(1, &[]);
    assert_eq!(bench.next_hop(1), None);
    assert_eq!(last_hello(&bench.after(SECOND * 2)), [(HEARD, 1)]);
    bench.hello(1, &[(HEARD, 0)]);
    assert_eq!(bench.next_hop(1), Some(1), "it hears us");
    assert_eq!(last_hello(&bench.after(SECOND * 2)), [(SYMMETRIC, 1)]);
    // Vtime is 6 s, from the HELLO that came 2 s ago.
    bench.after(SECOND * 4 - NANO);
    assert_eq!(bench.next_hop(1), Some(1));
    bench.after(NANO);
    assert_eq!(bench.next_hop(1), None);
    assert_eq!(last_hello(&bench.after(SECOND * 2)), [(LOST, 1)], "for another NEIGHB_HOLD_TIME of 6 s");
    assert_eq!(last_hello(&bench.after(SECOND * 4 - NANO)), [(LOST, 1)]);
    assert_eq!(last_hello(&bench.after(SECOND * 2)), []);
    assert!(bench.node.neighbourhood.is_empty());
}

#[test]
fn section_7_1_1_a_neighbour_that_has_lost_us_is_no_symmetric_one() {
    let mut bench = Bench::new(Config::default());
    bench.befriend(1, &[2]);
    assert_eq!((bench.next_hop(1), bench.next_hop(2)), (Some(1), Some(1)));
    bench.hello(1, &[(LOST, 0), (SYMMETRIC, 2)]);
    assert_eq!((bench.next_hop(1), bench.next_hop(2)), (None, None));
    assert_eq!(last_hello(&bench.after(SECOND * 2)), [(HEARD, 1)]);
    // Nor is one that doesn't name us: what it said before holds until it passes.
    bench.befriend(1, &[]);
    bench.hello(1, &[]);
    assert_eq!(bench.next_hop(1), Some(1));
}

#[test]
fn section_13_a_frame_given_up_loses_the_link_for_the_hold_time() {
    let mut bench = Bench::new(Config { link_layer_notification: true, ..Config::default() });
    bench.befriend(1, &[5]);
    bench.befriend(2, &[5]);
    assert_eq!(bench.next_hop(5), Some(1));
    let event = LinkEvent::FrameDropped { hop: to(1), packet: data(address(5)) };
    let around = Verdict::Forward(Forward::to(to(2)));
    assert_eq!(bench.node.handle_link_event(&event, bench.now), around, "the packet takes the other way at once");
    assert_eq!(bench.outputs(), [], "what else waits for the neighbour is tried");
    let event = LinkEvent::FrameDropped { hop: to(1), packet: data(address(1)) };
    assert_eq!(bench.node.handle_link_event(&event, bench.now), Verdict::Drop);
    for _ in 0..3 {
        assert_eq!(last_hello(&bench.after(SECOND * 2 - NANO)).iter().find(|said| said.1 == 1), Some(&(LOST, 1)));
        bench.befriend(1, &[5]);
        bench.befriend(2, &[5]);
        assert_eq!((bench.next_hop(1), bench.next_hop(5)), (None, Some(2)));
    }
    bench.after(NANO * 3);
    assert_eq!(bench.next_hop(1), Some(1), "6 s later, it counts again");

    let mut bench = Bench::new(Config::default());
    bench.befriend(1, &[5]);
    let event = LinkEvent::FrameDropped { hop: to(1), packet: data(address(5)) };
    assert_eq!(bench.node.handle_link_event(&event, bench.now), Verdict::Drop);
    assert_eq!(bench.next_hop(5), Some(1));
}

#[test]
fn a_neighbour_that_has_gone_gives_its_packets_back() {
    let mut bench = Bench::new(Config::default());
    bench.befriend(1, &[5]);
    bench.befriend(2, &[5]);
    bench.node.handle_link_event(&LinkEvent::NeighbourLost(to(1)), bench.now);
    assert_eq!(bench.outputs(), [Output::Purge(to(1))]);
    let event = LinkEvent::QueuePurged { hop: to(1), packet: data(address(5)) };
    assert_eq!(bench.node.handle_link_event(&event, bench.now), Verdict::Forward(Forward::to(to(2))));
}

fn careful() -> Bench {
    Bench::new(Config { hysteresis: Some(Hysteresis::default()), ..Config::default() })
}

#[test]
fn section_14_a_link_has_to_prove_itself() {
    let mut bench = careful();
    // The quality is 0.5, 0.75, 0.875; the threshold 0.8.
    for step in 0..3 {
        bench.befriend(1, &[]);
        let is_established = step == 2;
        assert_eq!(bench.next_hop(1).is_some(), is_established, "after {} packets", step + 1);
        let said = last_hello(&bench.after(SECOND * 2 - MS));
        let expected: &[_] = if is_established { &[(SYMMETRIC, 1)] } else { &[] };
        assert_eq!(said, expected, "what is pending isn't advertised");
    }
}

#[test]
fn section_14_3_two_packets_missed_lose_a_link_and_one_does_not() {
    for (missed, survives) in [(0, true), (1, true), (2, false)] {
        let mut bench = careful();
        (0..8).for_each(|_| bench.befriend(1, &[]));
        assert_eq!(bench.next_hop(1), Some(1));
        // 0.996 is halved for each, and 0.5 is added to half of it for the one that comes: 0.998, 0.749, 0.62.
        bench.sequence += missed;
        bench.befriend(1, &[]);
        assert_eq!(bench.next_hop(1), Some(1), "all are above 0.3");
        // Silence: after each HELLO_INTERVAL of 2 s one more is missed.
        bench.after(SECOND * 2 - NANO);
        assert_eq!(bench.next_hop(1), Some(1));
        bench.after(NANO);
        // 0.499, 0.374, 0.31.
        assert_eq!(bench.next_hop(1), Some(1));
        // The packet that the silence was counted for is missing in the numbers too: it counts once.
        if survives {
            let quality = bench.node.neighbourhood.quality(to(1)).unwrap();
            bench.sequence += 1;
            bench.befriend(1, &[]);
            assert_eq!(bench.node.neighbourhood.quality(to(1)), Some(quality / 2.0 + 0.5));
            assert_eq!(bench.next_hop(1), Some(1));
        } else {
            bench.after(SECOND * 2);
            assert_eq!(bench.next_hop(1), None, "0.156 is below 0.3");
            let said = last_hello(&bench.after(SECOND * 2));
            assert_eq!(said, [(LOST, 1)]);
        }
    }
}

#[test]
fn section_14_3_a_gap_in_the_numbers_counts_as_packets_missed() {
    let mut bench = careful();
    (0..8).for_each(|_| bench.befriend(1, &[]));
    bench.sequence += 5;
    bench.befriend(1, &[]);
    // 0.031 / 2 + 0.5 is above 0.3; the next gap makes 0.016 of it, and 0.508.
    assert_eq!(bench.next_hop(1), Some(1));
    let quality = bench.node.neighbourhood.quality(to(1)).unwrap();
    assert!((quality - (0.996_093_75 / 64.0 + 0.5)).abs() < 1e-9, "{quality}");
    // A node that is started anew begins anywhere.
    bench.sequence = 3;
    bench.befriend(1, &[]);
    let after = bench.node.neighbourhood.quality(to(1)).unwrap();
    assert!((after - (quality / 2.0 + 0.5)).abs() < 1e-9, "{after}");
}
