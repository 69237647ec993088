//! One machine, driven at exact instants.

use super::*;
use crate::routing::Forward;

const MS: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);
/// Everything that is told at once is told within this time of the first instant that is allowed.
const JITTER: Duration = Duration::from_millis(10);

fn forward(to: usize) -> Verdict {
    Verdict::Forward(Forward::to(hop_to(to)))
}

#[test]
fn full_dumps_begin_within_the_startup_jitter_and_follow_each_other_within_the_period() {
    let mut bench = Bench::new(Config::default());
    let updates = bench.until(Instant::START + Duration::from_secs(300));
    assert!(updates[0].at <= Instant::START + Duration::from_secs(2));
    for (nth, update) in updates.iter().enumerate() {
        assert_eq!(update.kind, Kind::FullDump);
        assert_eq!(
            update.entries,
            [entry(0, 0, 2 * (nth as u32 + 1))],
            "an even number of its own, a new one each time"
        );
    }
    let gaps: Vec<_> = updates.windows(2).map(|pair| pair[1].at - pair[0].at).collect();
    assert!(gaps.iter().all(|&gap| gap >= MS * 11250 && gap <= MS * 15000), "{gaps:?}");
    assert!(gaps.iter().any(|&gap| gap > gaps[0]) || gaps.iter().any(|&gap| gap < gaps[0]), "they are drawn");
}

#[test]
fn a_new_destination_is_used_and_told_at_once() {
    let mut bench = Bench::started();
    bench.after(SECOND * 2);
    let outputs = bench.hear(1, &[entry(1, 0, 2), entry(5, 3, 8)]);
    assert_eq!(outputs, [Output::Found(address(1)), Output::Found(address(5))], "nothing is sent in answer");
    assert_eq!((bench.next_hop(1), bench.next_hop(5)), (Some(1), Some(1)));
    let updates = bench.after(JITTER);
    assert_eq!(updates.len(), 1);
    assert_eq!(updates[0].kind, Kind::Incremental);
    assert_eq!(updates[0].entries, [entry(0, 0, 2), entry(1, 1, 2), entry(5, 4, 8)]);
    assert_eq!(bench.after(SECOND * 5), [], "once");
}

#[test]
fn triggered_updates_keep_their_distance() {
    let mut bench = Bench::started();
    bench.after(SECOND * 2);
    bench.hear(1, &[entry(1, 0, 2)]);
    let first = bench.after(JITTER)[0].at;
    bench.hear(2, &[entry(2, 0, 2)]);
    let early = bench.until(first + SECOND - Duration::from_nanos(1));
    assert_eq!(early, []);
    let updates = bench.until(first + SECOND + JITTER);
    assert_eq!(updates.len(), 1);
    // All changes since the last full dump: whoever missed the first update has a second chance.
    assert_eq!(updates[0].entries, [entry(0, 0, 2), entry(1, 1, 2), entry(2, 1, 2)]);
}

#[test]
fn a_new_number_alone_is_no_news() {
    let mut bench = Bench::started();
    bench.after(SECOND * 2);
    bench.hear(1, &[entry(1, 0, 2), entry(5, 3, 8)]);
    bench.after(SECOND);
    assert_eq!(bench.hear(1, &[entry(1, 0, 4), entry(5, 3, 10)]), []);
    let updates = bench.after(SECOND * 15);
    assert_eq!(updates[0].kind, Kind::FullDump, "nothing before");
    assert_eq!(updates[0].entries, [entry(0, 0, 4), entry(1, 1, 4), entry(5, 4, 10)]);
}

#[test]
fn a_new_number_alone_is_news_where_it_is_to_be() {
    let mut bench = Bench::started_with(Config { sequence_number_triggers: true, ..Config::default() });
    bench.after(SECOND * 2);
    bench.hear(1, &[entry(1, 0, 2), entry(5, 3, 8)]);
    bench.after(SECOND * 2);
    assert_eq!(bench.hear(1, &[entry(1, 0, 4), entry(5, 3, 8)]), []);
    let updates = bench.after(JITTER);
    assert_eq!((updates.len(), updates[0].kind), (1, Kind::Incremental));
    assert_eq!(updates[0].entries, [entry(0, 0, 2), entry(1, 1, 4), entry(5, 4, 8)]);
    bench.hear(1, &[entry(1, 0, 4), entry(5, 3, 8)]);
    assert_eq!(bench.after(SECOND * 3), [], "once for each number");
}

#[test]
fn where_everything_settles_a_new_destination_and_a_new_number_wait_and_are_left_out() {
    let mut bench = Bench::started_with(Config { settle_everything: true, ..Config::default() });
    let heard = bench.after(SECOND * 2).last().map_or(bench.now, |update| update.at.max(bench.now));
    bench.hear(1, &[entry(1, 0, 2), entry(5, 3, 8)]);
    assert_eq!(bench.next_hop(5), Some(1), "it is used at once");
    // First settling time 6 s, so that they are told after 12 s; a full dump before that leaves them out.
    let early = bench.until(heard + SECOND * 12 - Duration::from_nanos(1));
    assert!(early.iter().all(|update| update.of(1).is_none() && update.of(5).is_none()), "{early:?}");
    let told = bench.until(heard + SECOND * 12 + SECOND + JITTER);
    assert_eq!((told[0].of(1), told[0].of(5)), (Some(entry(1, 1, 2)), Some(entry(5, 4, 8))));
    // A newer number: twice 0.875 · 6 s, and nothing is sent for it.
    let again = bench.now;
    bench.hear(1, &[entry(1, 0, 4), entry(5, 3, 10)]);
    let quiet = bench.until(again + SECOND * 21 / 2 - Duration::from_nanos(1));
    assert!(quiet.iter().all(|update| update.kind == Kind::FullDump && update.of(5).is_none()), "{quiet:?}");
    let next = bench.until(again + SECOND * 30);
    assert_eq!(next[0].kind, Kind::FullDump);
    assert_eq!(next[0].of(5), Some(entry(5, 4, 10)));
    // A break goes with the next update, too.
    bench.hear(1, &[entry(1, 0, 6), broken(5, 11)]);
    let last = bench.until(bench.now + SECOND * 15);
    assert_eq!((last[0].kind, last[0].of(5)), (Kind::FullDump, Some(broken(5, 11))));
}

#[test]
fn a_new_number_with_another_metric_settles_first_all_the_same() {
    let mut bench = Bench::started_with(Config { sequence_number_triggers: true, ..Config::default() });
    bench.after(SECOND * 2);
    bench.hear(1, &[entry(1, 0, 2), entry(5, 3, 8)]);
    bench.after(SECOND * 2);
    bench.hear(1, &[entry(1, 0, 2), entry(5, 4, 10)]);
    // Twice the average settling time, which the first number, heard over one way alone, has brought to 0.875 * 6 s.
    let settled = bench.now + MS * 10_500;
    let before = bench.until(settled - Duration::from_nanos(1));
    assert!(before.iter().all(|update| update.kind == Kind::FullDump && update.of(5) == Some(entry(5, 4, 8))));
    let updates = bench.until(settled + SECOND + JITTER);
    assert!(updates.iter().any(|update| update.of(5) == Some(entry(5, 5, 10))));
}

#[test]
fn another_metric_is_used_at_once_and_told_once_it_has_settled() {
    let mut bench = Bench::started();
    bench.after(SECOND * 2);
    bench.hear(1, &[entry(1, 0, 2), entry(5, 3, 8)]);
    bench.hear(2, &[entry(2, 0, 2)]);
    bench.after(SECOND);
    assert_eq!(bench.hear(2, &[entry(2, 0, 2), entry(5, 1, 8)]), []);
    assert_eq!(bench.next_hop(5), Some(2), "used at once");
    // Twice the first average settling time of 6 s.
    let settled = bench.now + SECOND * 12;
    let before = bench.until(settled - Duration::from_nanos(1));
    assert!(before.iter().all(|update| update.kind == Kind::FullDump && update.of(5) == Some(entry(5, 4, 8))));
    let updates = bench.until(settled + SECOND + JITTER);
    let told = updates.iter().find(|update| update.of(5) == Some(entry(5, 2, 8))).expect("it has settled");
    assert!(told.at >= settled);
}

#[test]
fn a_metric_that_comes_back_before_it_has_settled_is_never_told() {
    let mut bench = Bench::started();
    bench.after(SECOND * 2);
    bench.hear(1, &[entry(1, 0, 2), entry(5, 3, 8)]);
    bench.hear(2, &[entry(2, 0, 2)]);
    bench.after(SECOND);
    // The new number comes first over the longer way.
    bench.hear(2, &[entry(2, 0, 2), entry(5, 6, 10)]);
    assert_eq!(bench.next_hop(5), Some(2), "a newer number wins, whatever its metric");
    let before = bench.after(SECOND * 4);
    bench.hear(1, &[entry(1, 0, 2), entry(5, 3, 10)]);
    assert_eq!(bench.next_hop(5), Some(1));
    let after = bench.after(SECOND * 20);
    let told: Vec<_> = before.iter().chain(&after).filter_map(|update| update.of(5)).collect();
    assert!(!told.is_empty() && told.iter().all(|entry| entry.metric == 4), "{told:?}");
    assert!(after.iter().all(|update| update.kind == Kind::FullDump));
    // Each new number ends a measurement: first of 0 s, then of 4 s. 0.875 x (0.875 x 6 s) + 0.125 x 4 s.
    bench.hear(1, &[entry(1, 0, 4), entry(5, 3, 12)]);
    let settling = |node| bench.node.table.get(address(node)).unwrap().settling().as_nanos();
    assert_eq!((settling(5), settling(1)), (5_093_750_000, 5_250_000_000));
}

#[test]
fn a_way_that_stays_settles_even_if_new_numbers_come_in_between() {
    let mut bench = Bench::started();
    bench.after(SECOND * 2);
    bench.hear(1, &[entry(1, 0, 2), entry(5, 3, 8)]);
    bench.after(SECOND);
    let mut told = None;
    let changed = bench.now;
    for number in 0..20 {
        bench.hear(1, &[entry(1, 0, 2), entry(5, 7, 10 + 2 * number)]);
        told =
            told.or(bench.after(SECOND).into_iter().find(|update| update.of(5).is_some_and(|entry| entry.metric == 8)));
    }
    let told = told.expect("it has settled").at - changed;
    assert!(told >= SECOND * 12 - MS * 1500 && told <= SECOND * 13 + JITTER, "{told}");
}

#[test]
fn a_frame_given_up_breaks_all_ways_over_the_neighbour_and_no_other() {
    let mut bench = Bench::started();
    bench.after(SECOND * 2);
    bench.hear(1, &[entry(1, 0, 2), entry(5, 3, 8)]);
    bench.hear(2, &[entry(2, 0, 2), entry(6, 3, 8)]);
    bench.after(SECOND * 2);
    assert_eq!(bench.drop(1, 5), Verdict::Wait);
    assert_eq!(bench.outputs(), [], "what else waits for the neighbour is tried");
    assert_eq!([1, 2, 5, 6].map(|to| bench.next_hop(to)), [None, Some(2), None, Some(2)]);
    let updates = bench.after(JITTER);
    assert_eq!(updates.len(), 1);
    let told = [1, 2, 5, 6].map(|node| updates[0].of(node).unwrap());
    assert_eq!(told, [broken(1, 3), entry(2, 1, 2), broken(5, 9), entry(6, 4, 8)]);
    assert_eq!(bench.drop(1, 6), forward(2), "a packet that has another way takes it");
    assert_eq!(bench.after(SECOND * 3), [], "a second frame breaks nothing more");
}

#[test]
fn a_packet_waits_and_is_released_by_a_newer_number_only() {
    let mut bench = Bench::started();
    assert_eq!(bench.node.handle_packet(&data(5), bench.now), Verdict::Wait, "never heard of");
    assert_eq!(bench.hear(1, &[entry(1, 0, 2), entry(5, 3, 8)])[1], Output::Found(address(5)));
    assert_eq!(bench.node.handle_packet(&data(5), bench.now), forward(1));
    assert_eq!(bench.drop(1, 5), Verdict::Wait);
    // An old claim, from a neighbour whose way may lead over this very node.
    bench.hear(2, &[entry(2, 0, 2), entry(5, 3, 8)]);
    assert_eq!(bench.node.handle_packet(&data(5), bench.now), Verdict::Wait);
    assert_eq!(bench.hear(2, &[entry(2, 0, 2), entry(5, 5, 10)]), [Output::Found(address(5))]);
    assert_eq!(bench.node.handle_packet(&data(5), bench.now), forward(2));
    let updates = bench.after(SECOND + JITTER);
    assert!(updates.iter().any(|update| update.of(5) == Some(entry(5, 6, 10))), "whole again: told at once");
}

#[test]
fn what_the_links_report_reroutes_packets() {
    let mut bench = Bench::started();
    bench.hear(1, &[entry(1, 0, 2)]);
    let purged = LinkEvent::QueuePurged { hop: hop_to(2), packet: data(1) };
    assert_eq!(bench.node.handle_link_event(&purged, bench.now), forward(1));
    bench.node.handle_link_event(&LinkEvent::NeighbourLost(hop_to(1)), bench.now);
    assert_eq!(bench.outputs(), [Output::Purge(hop_to(1))]);
    assert_eq!(bench.next_hop(1), None);
    let purged = LinkEvent::QueuePurged { hop: hop_to(1), packet: data(1) };
    assert_eq!(bench.node.handle_link_event(&purged, bench.now), Verdict::Wait);
}

#[test]
fn without_notification_a_frame_given_up_takes_its_packet_and_leaves_the_way() {
    let mut bench = Bench::new(Config { link_layer_notification: false, ..Config::default() });
    bench.until(Instant::START + SECOND * 2);
    bench.hear(1, &[entry(1, 0, 2)]);
    bench.after(SECOND * 2);
    assert_eq!(bench.drop(1, 1), Verdict::Drop);
    assert_eq!(bench.next_hop(1), Some(1));
    assert_eq!(bench.after(SECOND * 2).len(), 0, "there is nothing to tell");
}

#[test]
fn a_neighbour_is_lost_after_three_silent_periods_and_not_before() {
    let mut bench = Bench::started();
    bench.hear(1, &[entry(1, 0, 2)]);
    // Of three updates, two get lost.
    let last = bench.now + SECOND * 44;
    bench.until(last);
    assert_eq!(bench.next_hop(1), Some(1));
    bench.hear(1, &[entry(1, 0, 8)]);
    bench.until(last + SECOND * 45 - Duration::from_nanos(1));
    assert_eq!(bench.next_hop(1), Some(1));
    bench.node.handle_timeout(last + SECOND * 45);
    bench.now = last + SECOND * 45;
    assert_eq!(bench.next_hop(1), None);
    assert!(bench.outputs().contains(&Output::Purge(hop_to(1))));
    let updates = bench.after(SECOND + JITTER);
    assert_eq!(updates.last().unwrap().of(1), Some(broken(1, 9)));
}

#[test]
fn a_node_has_the_last_word_on_itself() {
    for (rumour, number) in [(broken(0, 3), 4), (broken(0, 41), 42), (entry(0, 3, 40), 42)] {
        let mut bench = Bench::started();
        bench.after(SECOND * 2);
        bench.hear(1, &[entry(1, 0, 2), rumour]);
        let updates = bench.after(JITTER);
        assert_eq!(updates[0].of(0), Some(entry(0, 0, number)), "{rumour:?}");
    }
    let mut bench = Bench::started();
    bench.after(SECOND * 2);
    bench.hear(1, &[entry(1, 0, 2)]);
    bench.after(SECOND);
    bench.hear(1, &[entry(0, 1, 2)]);
    assert_eq!(bench.after(SECOND * 5), [], "what is right needs no word");
    bench.hear(1, &[broken(0, 1)]);
    assert_eq!(bench.after(JITTER)[0].of(0), Some(entry(0, 0, 2)), "the number that the neighbour hasn't heard");
}

#[test]
fn who_knows_a_newer_number_answers_bad_news() {
    let mut bench = Bench::started();
    bench.after(SECOND * 2);
    bench.hear(1, &[entry(1, 0, 2), entry(5, 3, 8)]);
    bench.hear(2, &[entry(2, 0, 2)]);
    bench.after(SECOND * 2);
    bench.hear(2, &[entry(2, 0, 2), broken(5, 7)]);
    assert_eq!(bench.next_hop(5), Some(1));
    let updates = bench.after(JITTER);
    assert_eq!(updates[0].of(5), Some(entry(5, 4, 8)));
    // Newer bad news are believed and passed on.
    bench.after(SECOND);
    bench.hear(2, &[entry(2, 0, 2), broken(5, 9)]);
    assert_eq!(bench.next_hop(5), None);
    assert_eq!(bench.after(JITTER)[0].of(5), Some(broken(5, 9)));
}

#[test]
fn old_breaks_are_told_no_more_until_somebody_claims_otherwise() {
    let mut bench = Bench::started();
    bench.hear(1, &[entry(1, 0, 2), entry(5, 3, 8)]);
    bench.drop(1, 5);
    let updates = bench.after(SECOND * 100);
    let told = updates.iter().filter(|update| update.of(5).is_some());
    let last = told.map(|update| update.at).max().unwrap();
    assert!(last > bench.now - SECOND * 75 && last < bench.now - SECOND * 50, "for three periods, not for ever");
    bench.hear(2, &[entry(2, 0, 2), entry(5, 4, 8)]);
    assert_eq!(bench.next_hop(5), None, "still known for an old number");
    assert_eq!(bench.after(SECOND + JITTER)[0].of(5), Some(broken(5, 9)));
}

#[test]
fn numbers_wrap_around() {
    let mut bench = Bench::started();
    bench.hear(1, &[entry(1, 0, 2), entry(5, 3, u32::MAX - 1)]);
    bench.hear(2, &[entry(2, 0, 2), entry(5, 7, 0)]);
    assert_eq!(bench.next_hop(5), Some(2));
    bench.hear(1, &[entry(1, 0, 2), entry(5, 1, u32::MAX - 1)]);
    assert_eq!(bench.next_hop(5), Some(2));
}

#[test]
fn changes_that_fill_more_than_a_datagram_go_as_a_full_dump_of_several() {
    let mut bench = Bench::started();
    bench.after(SECOND * 2);
    let room = Config::default().entries();
    assert_eq!(room, 121, "(1500 - 28 - 11) / 12");
    let far: Vec<_> = (5..5 + 300).map(|node| entry(node, 3, 8)).collect();
    bench.hear(1, &[entry(1, 0, 2)]);
    far.chunks(room).for_each(|part| drop(bench.hear(1, part)));
    let octets: Vec<usize> = {
        bench.now += JITTER;
        bench.node.handle_timeout(bench.now);
        let messages = bench.outputs();
        let length = |output: &Output| match output {
            Output::Send(message) => {
                let update = Update::read(bench.now, message);
                assert_eq!(update.kind, Kind::FullDump);
                assert_eq!(update.entries[0], entry(0, 0, 4), "the sender leads each");
                message.octets.len()
            }
            other => panic!("{other:?}"),
        };
        messages.iter().map(length).collect()
    };
    // 301 destinations, 120 a datagram beside the sender.
    assert_eq!(octets, [11 + 12 * 121, 11 + 12 * 121, 11 + 12 * 62]);
    assert!(octets.iter().all(|&length| length + 28 <= 1500));
    assert_eq!(bench.after(SECOND * 5), [], "and takes the place of what was to come");
}

#[test]
fn an_entry_that_cannot_be_is_passed_over_and_the_others_count() {
    let mut bench = Bench::started();
    bench.hear(1, &[entry(7, 0, 2), entry(1, 2, 4), entry(8, 255, 4), entry(9, 254, 4)]);
    assert_eq!([7, 1, 8, 9].map(|to| bench.next_hop(to)), [None, None, None, Some(1)]);
    bench.hear(2, &[entry(2, 0, 2), entry(9, u32::MAX - 1, 6)]);
    assert_eq!(bench.next_hop(9), Some(1));
    let octets = octets_of(&[entry(3, 0, 2)]);
    let from_itself = Packet { from: Some(hop_to(0)), ..message(0, &octets) };
    let of_another = Packet { source: address(4), ..message(3, &octets) };
    for packet in [from_itself, of_another, Packet { from: None, ..message(3, &octets) }] {
        bench.node.handle_message(&packet, bench.now);
        assert_eq!((bench.next_hop(3), bench.node.neighbours.len()), (None, 2));
    }
}
