//! Reservations by others and the space after an error (10.3.2.4, 10.3.2.3.7).

use super::bench::{Bench, FOURTH, MBPS_1, MBPS_2, MBPS_54, ME, NS, OTHER, PEER, dsss, micros, ofdm, us};
use crate::mac::FrameKind::{Ack, Cts, Rts};
use crate::mac::{AccessRules, Config};

/// 10.3.2.4, 10.3.4.3: DIFS and backoff follow the end of the reservation.
///
/// ```text
///        P                reserved            4 slots  D
///  ──┬─────────┬────────────────────────┬────┬─┬─┬─┬─┬─┴──
///   100 CTS   404                      1404 1454     1534
/// ```
#[test]
fn a_reservation_by_others_is_respected() {
    let mut bench = Bench::with_draws(dsss(), &[(31, 4)]);
    bench.packet(us(200), 1);
    bench.hears(us(100), bench.control(Cts, OTHER, FOURTH, micros(1_000)));
    bench.expect_acknowledged(1, us(1_534));
}

/// 10.3.2.4: so is that of a frame to all, behind which another one follows in its TXOP.
#[test]
fn a_frame_to_all_reserves_what_it_says() {
    let mut bench = Bench::with_draws(dsss(), &[(31, 4)]);
    bench.packet(us(200), 1);
    let frame = bench.at_rate(MBPS_1, bench.data_between(PEER, None, 7));
    let frame = crate::mac::Frame { duration: micros(1_000), ..frame };
    let end = bench.hears(us(100), frame);
    bench.expect_delivered(7, end);
    bench.expect_acknowledged(1, end + micros(1_000 + 50 + 80));
}

/// Energy within a reservation changes nothing; energy after its end counts as usual.
#[test]
fn a_reservation_outlasts_the_energy_within_it() {
    for (from, until, access) in [(600, 1_000, 1_454), (1_000, 1_404, 1_454), (1_000, 1_600, 1_650)] {
        let mut bench = Bench::with_draws(dsss(), &[(31, 4)]);
        bench.packet(us(200), 1);
        bench.hears(us(100), bench.control(Cts, OTHER, FOURTH, micros(1_000)));
        bench.noise(us(from), us(until));
        bench.expect_acknowledged(1, us(access + 80));
    }
}

/// 10.3.2.4: only a later end replaces a reservation.
#[test]
fn a_shorter_reservation_does_not_cut_a_longer_one() {
    let mut bench = Bench::with_draws(dsss(), &[(31, 4)]);
    bench.packet(us(200), 1);
    bench.hears(us(100), bench.control(Cts, OTHER, FOURTH, micros(2_000)));
    let end = bench.hears(us(500), bench.control(Cts, FOURTH, OTHER, micros(100)));
    assert!(end < us(2_404));
    bench.expect_acknowledged(1, us(2_404 + 50 + 80));
}

/// 10.3.2.4: a frame for the station itself reserves nothing against it.
#[test]
fn a_frame_for_the_station_sets_no_reservation() {
    let mut bench = Bench::with_draws(dsss(), &[(31, 4)]);
    let mut frame = bench.data(7, false);
    frame.duration = micros(30_000);
    bench.packet(us(200), 1);
    let end = bench.hears(us(100), frame);
    bench.expect_delivered(7, end);
    bench.expect_transmit(Ack, us(702));
    bench.expect_acknowledged(1, us(1_006 + 50 + 80));
}

/// A data frame for another reserves the time of its ACK.
#[test]
fn overheard_data_reserve_their_acknowledgment() {
    let mut bench = Bench::with_draws(dsss(), &[(31, 4)]);
    bench.packet(us(200), 1);
    bench.hears(us(100), bench.data_between(PEER, Some(OTHER), 9));
    bench.expect_acknowledged(1, us(692 + 10 + 304 + 50 + 80));
}

/// 10.3.2.4: an RTS that no frame follows within 2 SIFS + CTS + aRxPHYStartDelay + 2 slots reserves nothing more.
///
/// ```text
///      RTS         20 + 304 + 192 + 40 = 556         4 slots
///  ──┬──────┬─────────────────────────────────┬────┬─┬─┬─┬─┬─D
///   100    452                              1008  1058     1138
/// ```
#[test]
fn a_reservation_by_an_rts_that_nobody_follows_lapses() {
    for (rules, access) in [(AccessRules::Standard, 1_008 + 50 + 80), (AccessRules::Ns2, 452 + 9_000 + 50 + 80)] {
        let mut bench = Bench::with_draws(Config { rules, ..dsss() }, &[(31, 4)]);
        bench.packet(us(200), 1);
        bench.hears(us(100), bench.control(Rts, OTHER, FOURTH, micros(9_000)));
        bench.expect_acknowledged(1, us(access));
    }
    // A shorter reservation ends by itself.
    let mut bench = Bench::with_draws(dsss(), &[(31, 4)]);
    bench.packet(us(200), 1);
    bench.hears(us(100), bench.control(Rts, OTHER, FOURTH, micros(300)));
    bench.expect_acknowledged(1, us(752 + 50 + 80));
}

/// 802.11a: 32 + 28 + 20 + 18.
#[test]
fn the_lapse_is_that_of_the_physical_layer() {
    let mut bench = Bench::with_draws(ofdm(), &[(15, 3)]);
    bench.packet(us(110), 1);
    let end = bench.hears(us(100), bench.control(Rts, OTHER, FOURTH, micros(9_000)));
    bench.expect_acknowledged(1, end + micros(98 + 34 + 27));
}

/// 10.3.2.4: the start of any frame within that time, PHY-RXSTART.indication, lets the reservation stand; energy does not.
///
/// ```text
///      RTS       lapse
///  ──┬──────┬──────┼──────────────────────
///   100    452    1008
///              ▄▄▄▄▄▄▄▄▄▄  header ends at 1008: stands
///              ▄▄▄▄▄▄▄▄▄▄  header ends 1 ns later: has lapsed
/// ```
#[test]
fn a_frame_that_starts_in_time_confirms_the_reservation() {
    let stands = us(452 + 9_000 + 50 + 80);
    for (start, error, access) in [
        (us(470), false, stands),
        (us(816), false, stands),
        (us(816), true, stands),
        // Ends at 1120; of its own it reserves nothing.
        (us(816) + NS, false, us(1_120 + 50 + 80) + NS),
        (us(816) + NS, true, us(1_120 + 364 + 80)),
    ] {
        let mut bench = Bench::with_draws(dsss(), &[(31, 4)]);
        bench.packet(us(200), 1);
        bench.hears(us(100), bench.control(Rts, OTHER, FOURTH, micros(9_000)));
        if error {
            bench.hears_error(start, us(1_120), MBPS_1);
        } else {
            bench.hears(start, bench.control(Ack, FOURTH, OTHER, micros(0)));
        }
        bench.expect_acknowledged(1, access);
    }
    let mut bench = Bench::with_draws(dsss(), &[(31, 4)]);
    bench.packet(us(200), 1);
    bench.hears(us(100), bench.control(Rts, OTHER, FOURTH, micros(9_000)));
    bench.noise(us(600), us(1_500));
    bench.expect_acknowledged(1, us(1_500 + 50 + 80));
}

/// 10.3.2.9 with 10.3.2.4: a lapsed reservation bars no CTS.
#[test]
fn a_lapsed_reservation_allows_a_cts() {
    for (rules, answered) in [(AccessRules::Standard, true), (AccessRules::Ns2, false)] {
        let mut bench = Bench::new(Config { rules, ..dsss() });
        bench.hears(us(100), bench.control(Rts, OTHER, FOURTH, micros(9_000)));
        let end = bench.hears(us(2_000), bench.control(Rts, PEER, ME, micros(1_230)));
        if answered {
            bench.expect_transmit(Cts, end + bench.sifs());
        }
        bench.expect_nothing_until(us(20_000));
    }
}

/// 10.3.2.3.7: EIFS, 10 + 304 + 50, after a frame that was not understood.
///
/// ```text
///       P              EIFS           4 slots  D
///  ──▄▄▄▄▄▄▄▄▄▄┬─────────────────────┬─┬─┬─┬─┬─┴──
///   100       700                  1064      1144
/// ```
#[test]
fn an_error_is_followed_by_eifs() {
    let mut bench = Bench::with_draws(dsss(), &[(31, 4)]);
    bench.packet(us(200), 1);
    bench.hears_error(us(100), us(700), MBPS_2);
    bench.expect_acknowledged(1, us(1_064 + 80));
    assert_eq!(bench.dcf().counters().errors, 1);

    // 802.11a: 16 + 44 + 34.
    let mut bench = Bench::with_draws(ofdm(), &[(15, 4)]);
    bench.packet(us(200), 1);
    bench.hears_error(us(100), us(700), MBPS_54);
    bench.expect_acknowledged(1, us(700 + 94 + 36));
}

/// EIFS takes the place of DIFS for a packet that comes within it, too.
#[test]
fn a_packet_that_arrives_within_eifs_waits_for_its_end() {
    for arrival in [us(700), us(1_064) - NS] {
        let mut bench = Bench::new(dsss());
        bench.hears_error(us(100), us(700), MBPS_2);
        bench.packet(arrival, 1);
        bench.expect_acknowledged(1, us(1_064));
    }
}

/// Energy without a frame is followed by DIFS alone.
#[test]
fn energy_is_followed_by_difs() {
    let mut bench = Bench::with_draws(dsss(), &[(31, 4)]);
    bench.packet(us(200), 1);
    bench.noise(us(100), us(700));
    bench.expect_acknowledged(1, us(750 + 80));
}

/// 10.3.2.3.7: a frame that is understood ends the EIFS.
///
/// ```text
///    error     good frame
///  ──▄▄▄▄▄┬────▄▄▄▄▄▄▄▄┬────┬─┬─┬─┬─D
///        700  710     1014 1064    1144
/// ```
#[test]
fn a_good_frame_ends_eifs() {
    let mut bench = Bench::with_draws(dsss(), &[(31, 4)]);
    bench.packet(us(200), 1);
    bench.hears_error(us(100), us(900), MBPS_2);
    let end = bench.hears(us(910), bench.control(Ack, FOURTH, OTHER, micros(0)));
    assert!(end < us(900 + 364));
    bench.expect_acknowledged(1, end + micros(50 + 80));
}

/// Energy during EIFS does not shorten it, nor lengthen it unless it lasts.
#[test]
fn energy_within_eifs_leaves_it_as_it_is() {
    for (until, access) in [(800, 1_064), (1_014, 1_064), (1_100, 1_150)] {
        let mut bench = Bench::with_draws(dsss(), &[(31, 4)]);
        bench.packet(us(200), 1);
        bench.hears_error(us(100), us(700), MBPS_2);
        bench.noise(us(750), us(until));
        bench.expect_acknowledged(1, us(access + 80));
    }
}

/// 10.3.2.3.7: no access before the later of reservation and EIFS.
#[test]
fn the_later_of_reservation_and_eifs_counts() {
    for (reservation, access) in [(100, 1_064), (600, 1_064), (2_000, 404 + 2_000 + 50)] {
        let mut bench = Bench::with_draws(dsss(), &[(31, 4)]);
        bench.packet(us(200), 1);
        bench.hears(us(100), bench.control(Cts, OTHER, FOURTH, micros(reservation)));
        bench.hears_error(us(450), us(700), MBPS_2);
        bench.expect_acknowledged(1, us(access + 80));
    }
}

/// EIFS does not bar the response to a frame: that frame ended it.
#[test]
fn a_response_is_not_held_up_by_an_error_before() {
    let mut bench = Bench::new(dsss());
    bench.hears_error(us(100), us(700), MBPS_2);
    bench.hears(us(710), bench.control(Rts, PEER, ME, micros(1_230)));
    bench.expect_transmit(Cts, us(710 + 352 + 10));
    bench.expect_nothing_until(us(10_000));
}

/// A station that is overheard without a reservation leaves the medium free after DIFS.
#[test]
fn a_broadcast_frame_reserves_nothing() {
    let mut bench = Bench::with_draws(dsss(), &[(31, 4)]);
    bench.packet(us(200), 1);
    let end = bench.hears(us(100), bench.data_between(PEER, None, 3));
    bench.expect_delivered(3, end);
    bench.expect_acknowledged(1, end + micros(50 + 80));
    bench.expect_nothing_until(us(50_000));
    assert_eq!(bench.dcf().counters().data_sent, 1);
}

/// 10.3.4.2, 10.3.4.3: a reservation is a busy medium, so a packet that comes within it draws a backoff.
///
/// ```text
///            P (no energy)              7 slots   D
///  ──┬──────┬──┬─────────────┬────┬─┬─…─┬─┬─┴──
///   100 CTS 404 600         1404 1454     1594
/// ```
#[test]
fn a_packet_that_arrives_within_a_reservation_draws_a_backoff() {
    let mut bench = Bench::with_draws(dsss(), &[(31, 7)]);
    bench.packet(us(600), 1);
    bench.hears(us(100), bench.control(Cts, OTHER, FOURTH, micros(1_000)));
    bench.expect_acknowledged(1, us(1_404 + 50 + 140));
}

/// 10.3.2.3.7: EIFS begins when the medium is idle after the erroneous frame.
///
/// ```text
///    error ▄▄▄▄▄▄▄▄▄▄┐        EIFS            4 slots  D
///    other    ▄▄▄▄▄▄▄▄▄▄▄▄▄▄┬──────────────┬─┬─┬─┬─┬─┴──
///                   700    900           1264      1344
/// ```
#[test]
fn eifs_begins_with_the_idle_medium() {
    let mut bench = Bench::with_draws(dsss(), &[(31, 4)]);
    bench.packet(us(200), 1);
    bench.hears_error(us(100), us(700), MBPS_2);
    bench.noise(us(600), us(900));
    bench.expect_acknowledged(1, us(900 + 364 + 80));
}
