//! Tests of when a station may start: DIFS, backoff, freezing (10.3.4.2, 10.3.4.3, 10.3.7).

use super::bench::{Bench, NS, OTHER, PEER, dsss, micros, ofdm, us};
use crate::mac::FrameKind::{Ack, Cts, Data, Rts};

/// 10.3.4.2: a medium that has been idle for DIFS is free.
///
/// ```text
///        packet
///          ├─ D
///  ────────┴────────
///        1000
/// ```
#[test]
fn a_medium_idle_for_difs_is_taken_at_once() {
    let mut bench = Bench::new(dsss());
    bench.packet(us(1_000), 1);
    bench.expect_acknowledged(1, us(1_000));
    bench.expect_nothing_until(us(10_000));
}

/// 10.3.4.2: the space that has passed when the packet comes counts.
///
/// ```text
///  idle   packet   D
///  ├────────┴──────┴──
///  0       20      50
/// ```
#[test]
fn a_packet_that_arrives_within_difs_waits_for_its_end() {
    for arrival in [us(0), us(20), us(50) - NS, us(50)] {
        let mut bench = Bench::new(dsss());
        bench.packet(arrival, 1);
        bench.expect_acknowledged(1, us(50));
    }
    let mut bench = Bench::new(ofdm());
    bench.noise(us(100), us(500));
    bench.packet(us(510), 1);
    bench.expect_acknowledged(1, us(534));
}

/// 10.3.4.3: a packet that finds the medium busy waits for its backoff too.
///
/// ```text
///                                   D
///  ───┬───────┬──────┬──┬──┬──┬──┬──┴──
///    100 busy 500   550  7 slots   690
/// ```
#[test]
fn a_packet_that_finds_the_medium_busy_draws_a_backoff() {
    for (slots, access) in [(0, 550), (1, 570), (7, 690), (31, 1_170)] {
        let mut bench = Bench::with_draws(dsss(), &[(31, slots)]);
        bench.noise(us(100), us(500));
        bench.packet(us(200), 1);
        bench.expect_acknowledged(1, us(access));
    }
    // DIFS 34, slot 9.
    let mut bench = Bench::with_draws(ofdm(), &[(15, 15)]);
    bench.noise(us(100), us(500));
    bench.packet(us(200), 1);
    bench.expect_acknowledged(1, us(500 + 34 + 15 * 9));
}

/// 10.3.4.2: a medium that does not stay idle for DIFS is busy.
///
/// ```text
///     packet  busy         D
///  ─┬───┴─────┬───┬──────┬──
///   0  20    40  100  150+3·20
/// ```
#[test]
fn energy_within_difs_makes_a_waiting_packet_back_off() {
    let mut bench = Bench::with_draws(dsss(), &[(31, 3)]);
    bench.packet(us(20), 1);
    bench.noise(us(40), us(100));
    bench.expect_acknowledged(1, us(210));
}

/// 10.3.4.3: the counter stops while the medium is busy and goes on DIFS after its end.
///
/// ```text
///   counter  7  6  5  4           4  3            3           3  2  1  0
///                        ▄▄▄▄▄▄▄▄       ▄▄▄▄▄▄▄▄▄    ▄▄▄▄▄▄▄▄             D
///  ───────┬──┬──┬──┬──┬──────────┬──┬───────────────────────┬──┬──┬──┬──┴──
///        550         610       1050 1080  1200  1220  1300 1350         1410
/// ```
#[test]
fn a_counter_is_frozen_by_each_busy_period() {
    let mut bench = Bench::with_draws(dsss(), &[(31, 7)]);
    bench.noise(us(100), us(500));
    bench.packet(us(200), 1);
    // Three whole slots have passed.
    bench.noise(us(612), us(1_000));
    // One, and a half of which nothing counts.
    bench.noise(us(1_080), us(1_200));
    // None: within DIFS.
    bench.noise(us(1_220), us(1_300));
    bench.expect_acknowledged(1, us(1_410));
}

/// Two signals that overlap are one busy period.
#[test]
fn overlapping_signals_are_one_busy_period() {
    let mut bench = Bench::with_draws(dsss(), &[(31, 2)]);
    bench.noise(us(100), us(500));
    bench.noise(us(300), us(900));
    bench.noise(us(850), us(860));
    bench.packet(us(200), 1);
    bench.expect_acknowledged(1, us(900 + 50 + 40));
}

/// 10.3.7: in the last aRxTxTurnaroundTime (5 µs) of a slot the station has already decided: the slot has passed.
///
/// ```text
///            slot 3      │ slot 4
///  ──┬───────────────┬───┼──────
///   590             605 610        an edge before 605 spoils slot 3
/// ```
#[test]
fn a_slot_is_spoilt_by_energy_up_to_the_turnaround_before_its_end() {
    for (edge, passed) in [
        (us(590), 2),
        (us(605) - NS, 2),
        (us(605), 3),
        (us(610) - NS, 3),
        (us(610), 3),
        (us(610) + NS, 3),
        (us(625) - NS, 3),
        (us(625), 4),
    ] {
        let mut bench = Bench::with_draws(dsss(), &[(31, 7)]);
        bench.noise(us(100), us(500));
        bench.packet(us(200), 1);
        bench.noise(edge, us(2_000));
        bench.expect_acknowledged(1, us(2_050 + 20 * (7 - passed)));
    }
}

/// 10.3.7: an access in the next 5 µs is not stopped any more, with a backoff or without.
#[test]
fn an_access_stands_when_energy_comes_within_the_turnaround() {
    // The counter ends at 690.
    for (edge, access) in [(us(685) - NS, 2_070), (us(685), 690), (us(690) - NS, 690), (us(690), 690)] {
        let mut bench = Bench::with_draws(dsss(), &[(31, 7)]);
        bench.noise(us(100), us(500));
        bench.packet(us(200), 1);
        bench.noise(edge, us(2_000));
        let data = bench.expect_transmit(Data, us(access));
        bench.expect_nothing_until(us(access) + data.airtime);
    }
    // DIFS ends at 50; a backoff of 4 is drawn where the edge is early enough.
    for (edge, access) in [(us(45) - NS, 2_130), (us(45), 50), (us(50), 50)] {
        let mut bench = Bench::with_draws(dsss(), &[(31, 4)]);
        bench.packet(us(20), 1);
        bench.noise(edge, us(2_000));
        bench.expect_transmit(Data, us(access));
    }
}

/// 10.3.4.3: counters that end in the same slot collide, although the other's edges come 1 µs later.
///
/// ```text
///  A ────┬──────────────────────────D
///       500                        690
///  B ─────┬─────────────────────────┬D
///        501                           691, when A's frame arrives
/// ```
#[test]
fn equal_counters_collide() {
    let mut ends = Vec::new();
    for (offset, other) in [(0, 691), (1, 691)] {
        let mut bench = Bench::with_draws(dsss(), &[(31, 7), (63, 5)]);
        bench.noise(us(100), us(500 + offset));
        bench.packet(us(200), 1);
        bench.noise(us(other + 1 - offset), us(other + 593 - offset));
        let data = bench.expect_transmit(Data, us(690 + offset));
        ends.push(us(690 + offset) + data.airtime);
        // Neither is acknowledged; both double their window.
        bench.expect_nothing_until(us(690 + offset + 592 + 222));
        assert_eq!(bench.dcf().contention_window(), 63);
    }
    assert_eq!(ends, [us(1_282), us(1_283)]);
}

/// The station whose counter is larger by one hears the other in time, 1 µs after the boundary.
#[test]
fn a_counter_larger_by_one_gives_way() {
    let mut bench = Bench::with_draws(dsss(), &[(31, 8)]);
    bench.noise(us(100), us(501));
    bench.packet(us(200), 1);
    let end = bench.hears(us(691), bench.data_between(PEER, Some(OTHER), 9));
    // The reservation for the ACK that follows: 10 + 304.
    bench.expect_acknowledged(1, end + micros(314 + 50 + 20));
}

/// 10.3.4.3: a backoff follows each transmission, so the second packet waits although the medium is idle.
///
/// ```text
///   D        ACK      6 slots      D
///  ─┴────┬──▄▄▄▄▄┬────┬─┬─┬─┬─┬─┬─┬┴──
///  1000      end   +50        +50+120
/// ```
#[test]
fn the_next_packet_waits_for_the_backoff_after_the_last() {
    let mut bench = Bench::with_draws(dsss(), &[(31, 6)]);
    bench.packet(us(1_000), 1);
    bench.packet(us(1_100), 2);
    let (_, end) = bench.expect_acknowledged(1, us(1_000));
    assert_eq!(end, us(1_000 + 592 + 10 + 304));
    bench.expect_acknowledged(2, end + micros(50 + 120));
}

/// 10.3.4.3: a packet that comes while that backoff runs waits for the rest; one that comes after it goes at once.
#[test]
fn a_packet_after_the_last_backoff_goes_at_once() {
    // The exchange ends at 1906, its backoff of 6 slots at 2076.
    for (arrival, access) in [
        (us(1_906), us(2_076)),
        (us(1_950), us(2_076)),
        (us(2_076) - NS, us(2_076)),
        (us(2_076), us(2_076)),
        (us(2_076) + NS, us(2_076) + NS),
        (us(5_003), us(5_003)),
    ] {
        let mut bench = Bench::with_draws(dsss(), &[(31, 6)]);
        bench.packet(us(1_000), 1);
        bench.packet(arrival, 2);
        bench.expect_acknowledged(1, us(1_000));
        bench.expect_acknowledged(2, access);
    }
}

/// The backoff after a transmission freezes like any other, packet or not.
///
/// ```text
///   counter 6 5 4 3 2              2 1 0
///                     ▄▄▄▄▄▄▄▄  P        D
///  ────┬────┬─┬─┬─┬─┬──────────┬───┬─┬─┬─┴──
///    1906 1956     2036+     3000 3050  3090
/// ```
#[test]
fn the_backoff_without_a_packet_is_frozen_too() {
    let mut bench = Bench::with_draws(dsss(), &[(31, 6)]);
    bench.packet(us(1_000), 1);
    bench.noise(us(2_040), us(3_000));
    bench.packet(us(3_010), 2);
    bench.expect_acknowledged(1, us(1_000));
    bench.expect_acknowledged(2, us(3_090));
}

/// A backoff that ran out before the medium became busy protects from nothing: the packet draws again.
#[test]
fn a_packet_that_finds_a_busy_medium_after_the_last_backoff_draws_anew() {
    let mut bench = Bench::with_draws(dsss(), &[(31, 6), (31, 11)]);
    bench.packet(us(1_000), 1);
    bench.noise(us(2_100), us(3_000));
    bench.packet(us(2_500), 2);
    bench.expect_acknowledged(1, us(1_000));
    bench.expect_acknowledged(2, us(3_000 + 50 + 11 * 20));
}

/// And one that had not run out is the packet's backoff: nothing is drawn.
#[test]
fn a_packet_that_finds_a_busy_medium_during_the_last_backoff_keeps_it() {
    let mut bench = Bench::with_draws(dsss(), &[(31, 6), (31, 11)]);
    bench.packet(us(1_000), 1);
    // Two slots of six have passed.
    bench.noise(us(2_000), us(3_000));
    bench.packet(us(2_500), 2);
    bench.expect_acknowledged(1, us(1_000));
    bench.expect_acknowledged(2, us(3_050 + 4 * 20));
}

/// 10.3.4.3: the station's own response is a busy period like another's frame.
///
/// ```text
///   counter 9 8 7          7         7 … 0
///                  ▄▄▄▄▄▄      A           D
///  ────┬────┬─┬─┬────────┬────┬─┬────┬─…─┬─┴──
///     500  550 590 600  1192 1202 1506 1556  1696
/// ```
#[test]
fn an_acknowledgment_interrupts_the_backoff() {
    let mut bench = Bench::with_draws(dsss(), &[(31, 9)]);
    bench.noise(us(100), us(500));
    bench.packet(us(200), 1);
    let end = bench.hears(us(600), bench.data(7, false));
    bench.expect_delivered(7, end);
    bench.expect_transmit(Ack, us(1_202));
    bench.expect_acknowledged(1, us(1_506 + 50 + 7 * 20));
}

/// A packet that comes while the station responds to another has found the medium busy.
#[test]
fn a_packet_that_comes_during_a_response_backs_off() {
    // Data until 692, ACK from 702 to 1006.
    for arrival in [us(692), us(700), us(702), us(800)] {
        let mut bench = Bench::with_draws(dsss(), &[(31, 5)]);
        bench.packet(arrival, 1);
        let end = bench.hears(us(100), bench.data(7, false));
        bench.expect_delivered(7, end);
        bench.expect_transmit(Ack, us(702));
        bench.expect_acknowledged(1, us(1_006 + 50 + 100));
    }
    // RTS until 452, CTS from 462 to 766.
    let mut bench = Bench::with_draws(dsss(), &[(31, 5)]);
    bench.packet(us(500), 1);
    bench.hears(us(100), bench.control(Rts, PEER, super::bench::ME, micros(314)));
    bench.expect_transmit(Cts, us(462));
    bench.expect_acknowledged(1, us(766 + 50 + 100));
}

/// Energy that outlasts an own transmission keeps the medium busy: the next access counts from its end.
#[test]
fn energy_that_outlasts_an_own_frame_is_sensed_at_its_end() {
    let mut bench = Bench::with_draws(dsss(), &[(31, 6)]);
    bench.broadcast(us(1_000), 1);
    // 192 + 800 at 1 Mb/s: until 1992.
    bench.noise(us(1_500), us(2_500));
    bench.packet(us(1_100), 2);
    bench.expect_transmit(Data, us(1_000));
    bench.expect_sent(1, us(1_992));
    bench.expect_acknowledged(2, us(2_500 + 50 + 120));
}

/// 10.3.4.2: a packet that waits for DIFS while its station is about to respond finds the medium busy, too, when energy
/// comes before the response.
///
/// ```text
///           P  energy       A                 5 slots  D
///  ▄▄data▄▄▄┬─┬▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄┬────┬─┬─┬─…─┴──
///          692  698        702             2000 2050   2150
/// ```
#[test]
fn energy_before_a_response_makes_a_waiting_packet_back_off() {
    let mut bench = Bench::with_draws(dsss(), &[(31, 5)]);
    bench.packet(us(694), 1);
    let end = bench.hears(us(100), bench.data(7, false));
    bench.noise(us(698), us(2_000));
    bench.expect_delivered(7, end);
    bench.expect_transmit(Ack, us(702));
    bench.expect_acknowledged(1, us(2_150));
}
