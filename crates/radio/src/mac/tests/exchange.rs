//! Responses and reservations within an exchange (10.3.2.4, 10.3.2.9, 10.3.2.11).

use hopcast_protocols::time::Duration;

use super::bench::{
    Bench, FOURTH, MBPS_1, MBPS_2, MBPS_24, MBPS_54, ME, NS, OTHER, PEER, Packet, dsss, edca, micros, ofdm, us,
    with_rts,
};
use crate::mac::FrameKind::{Ack, Cts, Data, Rts};
use crate::mac::{Config, DropCause, LinkStatistics, Output};

/// 10.3.2.11: an ACK follows after SIFS.
///
/// ```text
///                A
///  ──┬────────┬─┬──────┬──
///   100 data 692 702  1006
/// ```
#[test]
fn data_is_acknowledged_after_sifs() {
    let mut bench = Bench::new(dsss());
    let end = bench.hears(us(100), bench.data(7, false));
    bench.expect_delivered(7, end);
    let ack = bench.expect_transmit(Ack, us(702));
    assert_eq!((ack.receiver, ack.octets, ack.vector, ack.airtime), (Some(PEER), 14, MBPS_1, micros(304)));
    assert_eq!((ack.duration, ack.retry, ack.payload), (Duration::ZERO, false, None));
    bench.expect_nothing_until(us(20_000));
    assert_eq!(bench.dcf().counters().ack_sent, 1);
}

/// A data frame of 100 bytes takes 36 µs. Between two there are SIFS (16), ACK (28), and DIFS (34) or AIFS (43), and 7.5 slots of 9 µs: 145.5 or
/// 154.5 µs.
///
/// ```text
///              A                        A
///  ──┬──────┬─┬───┬─┬──────────────────┬─┬───┬──
///   205  1st    285 301   2nd and 3rd   604
/// ```
#[test]
fn a_batch_takes_the_time_of_its_packets_one_after_the_other() {
    for (config, octets, between) in [(ofdm(), 64, 291), (edca(), 62, 309)] {
        let mut bench = Bench::new(config);
        bench.keep_links();
        bench.packet_to(us(205), Some(PEER), Packet { id: 1, octets, more: 2, ..Packet::default() });
        let first = bench.expect_transmit(Rts, us(205));
        let all = 3 * 36 + between;
        assert_eq!((first.octets, first.vector, first.airtime), (100, MBPS_54, micros(36)));
        assert_eq!(first.duration, micros(all - 36 + 16 + 28));
        let cts = bench.hears(us(257), bench.control(Cts, PEER, ME, first.duration - micros(44)));
        assert_eq!(cts, us(285));
        let (data, end) = bench.expect_acknowledged(1, us(301));
        assert_eq!((data.octets, data.airtime, data.duration), (100, micros(all - 96), micros(44)));
        assert_eq!(end, us(205 + all + 44));
        let (octets, airtime) = (3 * u64::from(octets), micros(3 * (36 + 44)));
        assert_eq!(bench.dcf().links(), [LinkStatistics { receiver: PEER, octets, packets: 3, airtime, attempts: 3 }]);
        bench.expect_nothing_until(us(20_000));
    }
}

/// Seven attempts in all, of which the second got through to the rest of the batch.
#[test]
fn a_batch_has_as_many_attempts_as_a_packet() {
    let mut bench = Bench::new(ofdm());
    bench.packet_to(us(200), Some(PEER), Packet { id: 1, octets: 64, more: 2, ..Packet::default() });
    // The first packet, again, the rest, and so on.
    bench.answer([false, true].into_iter().chain([false; 7]));
    let (mut kinds, mut cause) = (Vec::new(), None);
    while let Some((_, output)) = bench.next_output(us(100_000)) {
        match output {
            Output::Transmit(frame) => kinds.push(frame.kind),
            Output::Dropped(_, why, _) => cause = Some(why),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(cause, Some(DropCause::ShortRetryLimit));
    assert_eq!(kinds, [Rts, Rts, Data, Rts, Rts, Rts, Rts, Rts]);
}

/// 10.3.2.11: "without regard to the busy/idle state of the medium", and 10.3.2.4: nor to a reservation.
#[test]
fn an_acknowledgment_minds_neither_energy_nor_reservations() {
    let mut bench = Bench::new(dsss());
    bench.hears(us(100), bench.control(Cts, OTHER, FOURTH, micros(20_000)));
    let end = bench.hears(us(1_000), bench.data(7, false));
    bench.noise(us(1_595), us(3_000));
    bench.expect_delivered(7, end);
    bench.expect_transmit(Ack, us(1_602));
    bench.expect_nothing_until(us(30_000));
}

/// Frames for others and broadcast ones are not acknowledged.
#[test]
fn only_what_is_for_the_station_is_acknowledged() {
    let mut bench = Bench::new(dsss());
    bench.hears(us(100), bench.data_between(PEER, Some(OTHER), 1));
    bench.expect_nothing_until(us(5_000));
    let end = bench.hears(us(5_000), bench.data_between(PEER, None, 2));
    bench.expect_delivered(2, end);
    bench.expect_nothing_until(us(10_000));
}

/// 10.3.2.9: a CTS follows after SIFS if there is no reservation.
///
/// ```text
///               C
///  ──┬───────┬─┬──────┬──
///   100 RTS 452 462  766
/// ```
#[test]
fn an_rts_is_answered_after_sifs() {
    let mut bench = Bench::new(dsss());
    bench.hears(us(100), bench.control(Rts, PEER, ME, micros(1_230)));
    let cts = bench.expect_transmit(Cts, us(462));
    assert_eq!((cts.receiver, cts.octets, cts.vector, cts.airtime), (Some(PEER), 14, MBPS_1, micros(304)));
    assert_eq!(cts.duration, micros(1_230 - 10 - 304));
    bench.expect_nothing_until(us(20_000));
}

/// 10.3.2.9: no CTS while others have reserved the medium.
///
/// ```text
///     CTS to another      RTS
///  ──┬──────────────┬────▄▄▄▄┬───────
///   100            404        until 404 + reservation: silence
/// ```
#[test]
fn no_cts_during_a_reservation() {
    // The RTS ends at 1352.
    for (reservation, answered) in [(948 + 1, false), (948, true), (500, true)] {
        let mut bench = Bench::new(dsss());
        bench.hears(us(100), bench.control(Cts, OTHER, FOURTH, micros(reservation)));
        bench.hears(us(1_000), bench.control(Rts, PEER, ME, micros(1_230)));
        if answered {
            bench.expect_transmit(Cts, us(1_362));
        }
        bench.expect_nothing_until(us(20_000));
    }
}

/// 10.3.2.6: the data frame follows the CTS after SIFS, whatever the medium is like.
///
/// ```text
///    R                D
///  ─┬───┬─▄▄CTS▄▄─┬──┬──────┬──
///  1000 1352    1666 1676  2268
/// ```
#[test]
fn data_follows_the_cts_after_sifs() {
    for noise in [false, true] {
        let mut bench = Bench::new(with_rts(dsss()));
        bench.packet(us(1_000), 1);
        bench.expect_transmit(Rts, us(1_000));
        let end = bench.hears(us(1_362), bench.cts());
        assert_eq!(end, us(1_666));
        if noise {
            bench.noise(us(1_668), us(2_000));
        }
        bench.expect_acknowledged(1, us(1_676));
    }
}

/// A CTS or ACK that no station waits for is not an event.
#[test]
fn responses_that_nobody_waits_for_change_nothing() {
    let mut bench = Bench::new(with_rts(dsss()));
    bench.hears(us(100), bench.cts());
    bench.hears(us(1_000), bench.ack());
    bench.packet(us(2_000), 1);
    bench.expect_transmit(Rts, us(2_000));
    // An ACK is no CTS: the RTS has failed.
    bench.hears(us(2_362), bench.ack());
    bench.expect_nothing_until(us(2_666));
    assert_eq!(bench.dcf().counters().cts_timeouts, 1);
}

/// 10.3.2.6: frames longer than dot11RTSThreshold are preceded by an RTS. This one has 100 bytes.
#[test]
fn the_threshold_is_the_longest_frame_without_rts() {
    for (threshold, first) in
        [(None, Data), (Some(101), Data), (Some(100), Data), (Some(99), Rts), (Some(0), Rts), (Some(2_347), Data)]
    {
        let mut bench = Bench::new(Config { rts_threshold: threshold, ..dsss() });
        bench.packet(us(1_000), 1);
        bench.expect_transmit(first, us(1_000));
    }
    // Never before a broadcast frame.
    let mut bench = Bench::new(with_rts(dsss()));
    bench.broadcast(us(1_000), 1);
    bench.expect_transmit(Data, us(1_000));
    bench.expect_sent(1, us(1_992));
}

/// 9.3.1.2 to 9.3.1.4, 9.3.2.1: each Duration field covers what is left of the exchange, to the microsecond.
///
/// ```text
///  802.11           RTS 352 │10│ CTS 304 │10│ data 192 + 100·8/2 = 592 │10│ ACK 304
///  802.11a 54/24    RTS  28 │16│ CTS  28 │16│ data 1536 octets: 248    │16│ ACK  28
/// ```
#[test]
fn durations_reserve_the_rest_of_the_exchange() {
    for (config, octets, [rts_airtime, data_airtime], [rts, cts, data, ack], rates) in [
        (dsss(), 64, [352, 592], [30 + 304 + 592 + 304, 20 + 592 + 304, 10 + 304, 0], (MBPS_1, MBPS_2)),
        (ofdm(), 1_500, [28, 248], [48 + 28 + 248 + 28, 32 + 248 + 28, 16 + 28, 0], (MBPS_24, MBPS_54)),
    ] {
        let mut bench = Bench::new(with_rts(config.clone()));
        bench.packet_of(us(1_000), 1, octets);
        let sent = bench.expect_transmit(Rts, us(1_000));
        assert_eq!(
            (sent.octets, sent.vector, sent.airtime, sent.duration),
            (20, rates.0, micros(rts_airtime), micros(rts))
        );
        assert_eq!((sent.transmitter, sent.receiver, sent.payload), (ME, Some(PEER), None));
        let end = bench.hears(us(1_000) + sent.airtime + bench.sifs(), bench.cts());
        let (sent, _) = bench.expect_acknowledged(1, end + bench.sifs());
        assert_eq!((sent.octets, sent.vector, sent.airtime), (octets + 36, rates.1, micros(data_airtime)));
        assert_eq!(sent.duration, micros(data));

        let mut bench = Bench::new(config);
        let end = bench.hears(us(1_000), bench.control(Rts, PEER, ME, micros(rts)));
        let response = bench.expect_transmit(Cts, end + bench.sifs());
        assert_eq!(response.duration, micros(cts));
        let mut request = bench.data(1, false);
        request.duration = micros(data);
        let end = bench.hears(end + bench.sifs() * 2 + response.airtime, request);
        bench.expect_delivered(1, end);
        assert_eq!(bench.expect_transmit(Ack, end + bench.sifs()).duration, micros(ack));
    }
}

/// A duration that is too short for the response leaves nothing for it to announce.
#[test]
fn a_duration_never_turns_negative() {
    let mut bench = Bench::new(dsss());
    bench.hears(us(100), bench.control(Rts, PEER, ME, micros(1)));
    assert_eq!(bench.expect_transmit(Cts, us(462)).duration, Duration::ZERO);
}

/// While it prepares or sends a response, a station starts no exchange, and forgets nothing.
#[test]
fn a_packet_waits_for_the_whole_response() {
    let mut bench = Bench::with_draws(dsss(), &[(31, 0)]);
    bench.packet(us(702) - NS, 1);
    let end = bench.hears(us(100), bench.data(7, false));
    bench.expect_delivered(7, end);
    bench.expect_transmit(Ack, us(702));
    bench.expect_acknowledged(1, us(1_006 + 50));
}
