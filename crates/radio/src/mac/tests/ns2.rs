//! Where ns-2's medium access differs from the standard's.

use super::bench::{Bench, FOURTH, MBPS_2, ME, NS, OTHER, PEER, dsss, micros, us, with_rts};
use crate::mac::FrameKind::{Ack, Cts, Data, Rts};
use crate::mac::{AccessRules, Config};

/// As `dsss`: EIFS 364, DIFS 50, RTS 352, CTS and ACK 304 µs.
fn ns2() -> Config {
    Config { rules: AccessRules::Ns2, ..dsss() }
}

/// DIFS follows EIFS, which a good frame does not end.
///
/// ```text
///    error        EIFS         DIFS  4 slots  D
///  ──▄▄▄▄▄▄▄┬─────────────────┬────┬─┬─┬─┬─┬─┴──
///   100    700              1064  1114     1194
/// ```
#[test]
fn eifs_is_a_reservation() {
    for frame_within in [false, true] {
        let mut bench = Bench::with_draws(ns2(), &[(30, 4)]);
        bench.packet(us(200), 1);
        bench.hears_error(us(100), us(700), MBPS_2);
        if frame_within {
            bench.hears(us(710), bench.control(Ack, FOURTH, OTHER, micros(0)));
        }
        bench.expect_acknowledged(1, us(1_194));
    }
}

/// No CTS within EIFS, by its own instant; an acknowledgment goes out.
#[test]
fn an_error_holds_up_a_cts() {
    for (start, answered) in [(us(702), true), (us(702) - NS, false)] {
        let mut bench = Bench::new(ns2());
        bench.hears_error(us(100), us(700), MBPS_2);
        let end = bench.hears(start, bench.control(Rts, PEER, ME, micros(1_230)));
        if answered {
            bench.expect_transmit(Cts, end + bench.sifs());
        }
        bench.expect_nothing_until(us(20_000));
    }
    let mut bench = Bench::new(ns2());
    bench.hears_error(us(100), us(190), MBPS_2);
    let end = bench.hears(us(200), bench.at_rate(MBPS_2, bench.control(Ack, FOURTH, OTHER, micros(0))));
    assert!(end < us(190 + 364));
    let end = bench.hears(end, bench.data(7, false));
    bench.expect_delivered(7, end);
    bench.expect_transmit(Ack, end + bench.sifs());
}

/// A signal that begins within the SIFS before a CTS.
#[test]
fn a_busy_medium_holds_up_a_cts() {
    for (rules, answered) in [(AccessRules::Standard, true), (AccessRules::Ns2, false)] {
        let mut bench = Bench::new(Config { rules, ..dsss() });
        let end = bench.hears(us(100), bench.control(Rts, PEER, ME, micros(1_230)));
        bench.noise(end + micros(5), end + micros(9_000));
        if answered {
            bench.expect_transmit(Cts, end + bench.sifs());
        }
        bench.expect_nothing_until(us(8_000));
    }
}

/// No aRxTxTurnaroundTime: energy stops an access that is yet to come.
#[test]
fn energy_just_before_an_access_stops_it() {
    for (energy, access) in [(us(1_830) - NS, us(2_000 + 50 + 20)), (us(1_830), us(1_830))] {
        let mut bench = Bench::with_draws(ns2(), &[(30, 4)]);
        bench.packet(us(1_000), 1);
        bench.noise(us(900), us(1_700));
        bench.noise(energy, us(2_000));
        bench.expect_transmit(Data, access);
    }
}

/// The weaker frame reserves its length and EIFS: 500 + 300 + 364 = 1164.
#[test]
fn what_is_overcome_reserves_the_medium() {
    for (rules, access) in [(AccessRules::Standard, 692 + 10 + 304 + 50 + 80), (AccessRules::Ns2, 1_164 + 50 + 80)] {
        let mut bench = Bench::with_draws(Config { rules, ..dsss() }, &[(30, 4)]);
        bench.packet(us(200), 1);
        bench.hears(us(100), bench.data_between(PEER, Some(OTHER), 9));
        bench.overcomes(us(500), micros(300));
        bench.expect_acknowledged(1, us(access));
    }
}

/// A medium that has been idle for long is not taken at once.
///
/// ```text
///   P     DIFS   4 slots  D
///  ─┬───────────┬─┬─┬─┬─┬─┴──
///  1000       1050     1130
/// ```
#[test]
fn a_packet_that_finds_the_medium_idle_backs_off() {
    let mut bench = Bench::with_draws(ns2(), &[(30, 4)]);
    bench.packet(us(1_000), 1);
    bench.expect_acknowledged(1, us(1_130));
}

/// An answer is awaited until its end would have come: SIFS, 304 µs and twice 2 µs of propagation after the frame. What else is
/// heard by then ends nothing.
///
/// ```text
///     D                       DIFS  6 slots  D
///  ──┬──────────┬────────────┬────┬─┬─…─┬─┬─┴──
///   1130      1722         2040 2090      2210
/// ```
#[test]
fn an_answer_is_awaited_to_its_end() {
    for heard in [None, Some(true), Some(false)] {
        let mut bench = Bench::with_draws(ns2(), &[(30, 4), (62, 6)]);
        bench.packet(us(1_000), 1);
        bench.expect_transmit(Data, us(1_130));
        let mut end = us(1_722 + 10 + 304 + 4);
        match heard {
            // A frame that reserves nothing and ends in time, and one in error.
            Some(true) => _ = bench.hears(us(1_730), bench.control(Ack, FOURTH, OTHER, micros(0))),
            Some(false) => {
                bench.hears_error(us(1_730), us(1_930), MBPS_2);
                end = us(1_930 + 364);
            }
            None => {}
        }
        bench.expect_acknowledged(1, end + micros(50 + 120));
    }
}

/// A CTS that comes through in spite of a weaker frame is followed by another RTS, which is no further attempt.
///
/// ```text
///  RTS    CTS          reserved          DIFS  6 slots  RTS
///  ┬────┬─▄▄▄▄┬───────────────────────┬──────┬─┬─┬─┬─┬─┬┴───
/// 1090 1442 ▄▄▄▄▄▄                   2164   2214       2334
/// ```
#[test]
fn data_after_a_cts_begin_anew_in_a_reserved_medium() {
    let config = Config { short_retry_limit: 1, ..with_rts(ns2()) };
    let mut bench = Bench::with_draws(config, &[(30, 2), (62, 6)]);
    bench.packet(us(1_000), 1);
    let rts = bench.expect_transmit(Rts, us(1_090));
    let sifs = bench.sifs();
    bench.hears(us(1_090) + rts.airtime + sifs, bench.cts());
    bench.overcomes(us(1_500), micros(300));
    let again = us(1_500 + 300 + 364 + 50 + 6 * 20);
    bench.expect_transmit(Rts, again);
    let end = bench.hears(again + rts.airtime + sifs, bench.cts());
    bench.expect_transmit(Data, end + sifs);
}
