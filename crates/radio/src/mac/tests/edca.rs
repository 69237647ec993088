//! Contention of access categories, in one station and with the medium (10.23.2). All in 802.11a: SIFS 16, slot 9, turnaround 2.

use super::bench::{Bench, MBPS_54, NS, OTHER, PEER, Packet, edca, micros, us};
use crate::mac::FrameKind::{Ack, Data};
use crate::mac::edca::AccessCategory::{BestEffort, Video};
use crate::mac::edca::UserPriority;
use crate::mac::{Config, DropCause, Frame};

const VOICE: u8 = 6;
const VIDEO: u8 = 5;
const EFFORT: u8 = 0;
const BACKGROUND: u8 = 1;

/// 10.23.2.4: access is at slot boundaries, which go on in an idle medium: AIFS + 9 k. Those of best effort and of voice fall on
/// the same instants.
///
/// ```text
///  idle       AIFS               packet  D
///  ├───────────┼──┬──┬─ … ─┬──┬──┴──┬────
///  0          43                1000 1006
/// ```
#[test]
fn a_packet_waits_for_the_next_boundary() {
    for (priority, arrival, access) in [
        (EFFORT, us(1_000), us(1_006)),
        (EFFORT, us(1_006), us(1_006)),
        (EFFORT, us(1_006) + NS, us(1_015)),
        (VOICE, us(1_000), us(1_006)),
        (EFFORT, us(0), us(43)),
        (EFFORT, us(43), us(43)),
        (VIDEO, us(20), us(34)),
        (BACKGROUND, us(20), us(79)),
    ] {
        let mut bench = Bench::new(edca());
        bench.packet_with_priority(arrival, 1, priority);
        bench.expect_acknowledged(1, access);
    }
}

/// 10.23.2.2: a packet that finds the medium busy draws from its category's window and counts after its AIFS.
#[test]
fn each_category_has_its_window_and_space() {
    for (priority, window, slots, access) in [
        (VOICE, 3, 0, 534),
        (VOICE, 3, 3, 561),
        (VIDEO, 7, 7, 597),
        (EFFORT, 15, 0, 543),
        (EFFORT, 15, 15, 678),
        (BACKGROUND, 15, 2, 597),
    ] {
        let mut bench = Bench::with_draws(edca(), &[(window, slots)]);
        bench.noise(us(100), us(500));
        bench.packet_with_priority(us(200), 1, priority);
        bench.expect_acknowledged(1, us(access));
    }
}

/// 10.23.2.4: the counter goes down at boundaries, the first at the end of AIFS, whatever the slot that begins there brings.
///
/// ```text
///   counter      5  4    3    2    (1)
///  ▄▄▄▄┬─────────┬────┬────┬──▄▄▄▄▄┬─────────┬────┬────
///     500       543  552  561 564 600       643
/// ```
#[test]
fn a_slot_counts_at_its_beginning() {
    for (slots, from, access) in [
        (5, us(564), 661),
        (5, us(568) - NS, 661),
        // Decided within the turnaround before 570: one less.
        (5, us(568), 652),
        (5, us(569), 652),
        // During AIFS nothing is counted.
        (5, us(520), 688),
        (5, us(541), 679),
        // The counter has ended at 561: no slot is left, and none is drawn anew.
        (3, us(564), 643),
    ] {
        let mut bench = Bench::with_draws(edca(), &[(15, slots)]);
        bench.noise(us(100), us(500));
        bench.noise(from, us(600));
        bench.packet_with_priority(us(200), 1, EFFORT);
        bench.expect_acknowledged(1, us(access));
    }
    // The access at 570 is decided.
    let mut bench = Bench::with_draws(edca(), &[(15, 3)]);
    bench.noise(us(100), us(500));
    bench.noise(us(568), us(590));
    bench.packet_with_priority(us(200), 1, EFFORT);
    bench.expect_transmit(Data, us(570));
}

/// 10.23.2.2, case a: who finds the medium idle draws nothing, also if it turns busy before the boundary.
#[test]
fn a_packet_that_found_the_medium_idle_draws_nothing() {
    let mut bench = Bench::new(edca());
    bench.packet_with_priority(us(1_000), 1, EFFORT);
    bench.noise(us(1_002), us(1_100));
    bench.expect_acknowledged(1, us(1_143));
}

/// 10.3.2.3.7: EIFS − DIFS + AIFS, 60 µs more than AIFS.
#[test]
fn an_error_is_followed_by_eifs_of_the_category() {
    for (priority, window, access) in [(VOICE, 3, 594), (EFFORT, 15, 603)] {
        let mut bench = Bench::with_draws(edca(), &[(window, 0)]);
        bench.hears_error(us(100), us(500), MBPS_54);
        bench.packet_with_priority(us(200), 1, priority);
        bench.expect_acknowledged(1, us(access));
    }
}

/// At 543 both counters have ended, and so has the time of the voice frame: best effort goes as if it were alone.
#[test]
fn what_has_expired_takes_no_access_from_another_category() {
    let mut bench = Bench::with_draws(edca(), &[(3, 1), (15, 0), (3, 2)]);
    bench.noise(us(100), us(500));
    bench.packet_to(
        us(200),
        Some(PEER),
        Packet { id: 1, octets: 64, priority: VOICE, expires: Some(us(540)), more: 0 },
    );
    bench.packet_with_priority(us(201), 2, EFFORT);
    bench.expect_dropped(1, DropCause::Expired, us(543));
    bench.expect_acknowledged(2, us(543));
    assert_eq!(bench.dcf().counters().internal_collisions, 0);
}

/// 10.23.2.4: at 543 both counters have ended. Voice goes; for best effort it is a failure: a window of 31, and nothing is
/// counted at that boundary.
///
/// ```text
///   VO 1  BE 0                    AIFS of BE
///  ▄▄▄▄┬──────┬──┬D────┬──┬ACK┬────────────┬─ slots ─ D
///     500       543   579 595 623         666
/// ```
#[test]
fn the_higher_category_wins_and_the_other_draws_from_the_next_window() {
    for slots in [0, 1, 31] {
        let mut bench = Bench::with_draws(edca(), &[(3, 1), (15, 0), (31, slots)]);
        bench.noise(us(100), us(500));
        bench.packet_with_priority(us(200), 1, VOICE);
        bench.packet_with_priority(us(201), 2, EFFORT);
        bench.expect_acknowledged(1, us(543));
        assert_eq!(bench.dcf().counters().internal_collisions, 1);
        let (frame, end) = bench.expect_acknowledged(2, us(666 + 9 * u64::from(slots)));
        // It has not been on the air before.
        assert!(!frame.retry);
        assert_eq!(bench.dcf().contention_window(), 15, "a success resets the window");
        bench.expect_nothing_until(end + micros(10_000));
        assert_eq!(bench.dcf().counters().ack_timeouts, 0);
    }
}

/// 10.23.2.12.1: an internal collision counts as an attempt.
#[test]
fn a_lost_access_counts_as_an_attempt() {
    let config = Config { short_retry_limit: 1, ..edca() };
    let mut bench = Bench::with_draws(config, &[(3, 1), (15, 0)]);
    bench.noise(us(100), us(500));
    bench.packet_with_priority(us(200), 1, VOICE);
    bench.packet_with_priority(us(201), 2, EFFORT);
    bench.expect_dropped(2, DropCause::ShortRetryLimit, us(543));
    bench.expect_acknowledged(1, us(543));
}

/// 10.23.2.4, case c: while one category waits for its ACK, the others count nothing; AIFS follows the timeout.
///
/// ```text
///   VO      BE lost here           timeout    AIFS of BE
///  ──┬D────┬─────────────────────────┼───────────┬D
///   543   579                       624         667
/// ```
#[test]
fn others_wait_for_the_timeout() {
    // Energy that is no frame does not end the wait, nor does its end before the timeout.
    for noise in [None, Some((570, 580)), Some((615, 620)), Some((615, 700))] {
        let mut bench = Bench::with_draws(edca(), &[(3, 1), (15, 0), (31, 0), (7, 7)]);
        bench.noise(us(100), us(500));
        bench.packet_with_priority(us(200), 1, VOICE);
        bench.packet_with_priority(us(201), 2, EFFORT);
        bench.expect_transmit(Data, us(543));
        if let Some((from, until)) = noise {
            bench.noise(us(from), us(until));
        }
        let end = noise.map_or(624, |(_, until)| until.max(624));
        let (_, ack) = bench.expect_acknowledged(2, us(end + 43));
        // Voice counts at 34 and 43 after the end, when best effort goes: five of seven are left.
        let (repetition, _) = bench.expect_acknowledged(1, ack + micros(34 + 9 * 5));
        assert!(repetition.retry);
    }
}

/// 10.23.2.2, case a: a packet that comes during the exchange of another category draws a backoff.
#[test]
fn a_packet_that_comes_during_an_exchange_draws() {
    // On the air, before the ACK, and during it.
    for arrival in [550, 585, 600] {
        let mut bench = Bench::with_draws(edca(), &[(3, 1), (15, 4)]);
        bench.noise(us(100), us(500));
        bench.packet_with_priority(us(200), 1, VOICE);
        bench.packet_with_priority(us(arrival), 2, EFFORT);
        bench.expect_acknowledged(1, us(543));
        bench.expect_acknowledged(2, us(623 + 43 + 4 * 9));
    }
}

/// 9.2.4.5, 10.3.2.14.2: a QoS frame has two bytes more, its priority, and a number of its receiver and priority.
#[test]
fn qos_frames_say_their_priority() {
    let mut bench = Bench::new(edca());
    let mut at = us(1_006);
    for (id, receiver, priority, sequence) in
        [(1, Some(PEER), 6, 0), (2, Some(PEER), 6, 1), (3, Some(PEER), 7, 0), (4, Some(OTHER), 6, 0), (5, None, 6, 0)]
    {
        bench.packet_to(at, receiver, Packet { id, octets: 64, priority, ..Packet::default() });
        let (_, output) = bench.next_output(at + micros(1_000)).expect("a frame");
        let crate::mac::Output::Transmit(frame) = output else { panic!("{output:?}") };
        assert_eq!((frame.octets, frame.airtime), (102, frame.airtime));
        assert_eq!((frame.priority, frame.sequence), (Some(UserPriority::new(priority)), sequence));
        if let Some(receiver) = receiver {
            let ack = Frame { transmitter: receiver, ..bench.ack() };
            let end = bench.hears(bench.now() + frame.airtime + bench.sifs(), ack);
            bench.expect_sent(id, end);
        } else {
            bench.expect_sent(id, bench.now() + frame.airtime);
        }
        at = bench.now() + micros(1_000);
    }
}

/// 10.3.2.14.3: numbers are compared within a priority.
#[test]
fn duplicates_are_those_of_one_priority() {
    let mut bench = Bench::new(edca());
    for (start, priority, retry, duplicate) in
        [(1_000, 6, false, false), (2_000, 0, true, false), (3_000, 6, true, true), (4_000, 0, true, true)]
    {
        let frame = Frame { priority: Some(UserPriority::new(priority)), ..bench.data(7, retry) };
        let end = bench.hears(us(start), frame);
        if !duplicate {
            bench.expect_delivered(7, end);
        }
        bench.expect_transmit(Ack, end + micros(16));
    }
}

/// Each category has the places of the interface queue for itself.
#[test]
fn a_full_category_leaves_room_for_the_others() {
    let mut bench = Bench::new(Config { queue_packets: 1, ..edca() });
    bench.noise(us(100), us(100_000));
    for (id, priority) in [(1, EFFORT), (2, EFFORT), (3, EFFORT), (4, VOICE), (5, VOICE)] {
        bench.packet_with_priority(us(200 + u64::from(id)), id, priority);
    }
    bench.expect_dropped(3, DropCause::QueueFull, us(203));
    bench.expect_nothing_until(us(1_000));
    let room = |priority| bench.dcf().space(UserPriority::new(priority));
    assert_eq!([EFFORT, VOICE, VIDEO].map(|priority| room(priority).places), [0, 0, 1]);
    assert_eq!([room(EFFORT), room(VIDEO)].map(|room| room.category), [BestEffort, Video].map(Some));
    assert_eq!((bench.dcf().queued(), bench.dcf().held().count()), (2, 4));
}
