//! Rate control in the exchange, and the rates of answers (10.6.6.5); packets that have expired; stations that do not
//! answer.

use hopcast_protocols::time::{Duration, Instant};

use super::bench::{
    Bench, ERP_24, ERP_54, MBPS_2, MBPS_11, MBPS_24, MBPS_54, ME, OTHER, PEER, Packet, dsss, micros, ofdm, us, with_rts,
};
use crate::mac::FrameKind::{Ack, Cts, Data, Rts};
use crate::mac::{Config, DropCause, Frame, Output, dsss_peers};
use crate::phy::{Standard, TxVector};
use crate::rate::Algorithm;

const MBPS_6: TxVector = TxVector::new(Standard::Ofdm, 0);
const MBPS_9: TxVector = TxVector::new(Standard::Ofdm, 1);
const MBPS_12: TxVector = TxVector::new(Standard::Ofdm, 2);
const MBPS_18: TxVector = TxVector::new(Standard::Ofdm, 3);
const MBPS_48: TxVector = TxVector::new(Standard::Ofdm, 6);

fn arf(rates: &[TxVector]) -> Config {
    Config { rate_control: Algorithm::Arf, rates: rates.to_vec(), ..ofdm() }
}

/// Two missing ACKs lower the rate; the next frame begins there.
#[test]
fn missing_acknowledgments_lower_the_rate() {
    let mut bench = Bench::new(arf(&[]));
    bench.answer([false, false, true, true]);
    bench.packet(us(1_000), 1);
    bench.packet(us(1_001), 2);
    let mut rates = Vec::new();
    while let Some((_, output)) = bench.next_output(us(20_000)) {
        if let Output::Transmit(frame) = output {
            rates.push(frame.vector);
        }
    }
    assert_eq!(rates, [MBPS_54, MBPS_54, MBPS_48, MBPS_48]);
}

/// A missing CTS says nothing about the rate of data.
#[test]
fn missing_cts_leave_the_rate() {
    let mut bench = Bench::new(with_rts(arf(&[])));
    bench.answer([false, false, false, true, true]);
    bench.packet(us(1_000), 1);
    let mut data = Vec::new();
    while let Some((_, output)) = bench.next_output(us(20_000)) {
        if let Output::Transmit(frame) = output
            && frame.kind == Data
        {
            data.push(frame.vector);
        }
    }
    assert_eq!((data, bench.dcf().counters().cts_timeouts), (vec![MBPS_54], 3));
}

/// The time of the answer is that of its rate, in the reservation by data and RTS, and in the timeout. 100 bytes at 9 Mb/s: 23
/// symbols, 112 µs, RTS, CTS and ACK at 6 Mb/s: 52 and 44 µs; at 18 Mb/s: 12 symbols, 68 µs, the others at 12 Mb/s: 36 and 32 µs.
#[test]
fn reservations_follow_the_rate_of_the_data() {
    for (rate, airtime, basic, rts_airtime, ack) in
        [(MBPS_9, 112, MBPS_6, 52, 44), (MBPS_18, 68, MBPS_12, 36, 32), (MBPS_54, 36, MBPS_24, 28, 28)]
    {
        let mut bench = Bench::new(with_rts(arf(&[rate])));
        bench.packet(us(1_000), 1);
        let rts = bench.expect_transmit(Rts, us(1_000));
        assert_eq!((rts.vector, rts.airtime), (basic, micros(rts_airtime)));
        assert_eq!(rts.duration, micros(3 * 16 + ack + airtime + ack), "{rate}");
        let end = bench.hears(us(1_000 + rts_airtime + 16), bench.at_rate(basic, bench.cts()));
        let data = bench.expect_transmit(Data, end + micros(16));
        assert_eq!((data.vector, data.airtime, data.duration), (rate, micros(airtime), micros(16 + ack)));
    }
}

fn next_rts(bench: &mut Bench) -> (Instant, Frame<Packet>) {
    loop {
        match bench.next_output(us(50_000)) {
            Some((at, Output::Transmit(frame))) if frame.kind == Rts => return (at, frame),
            other => assert!(other.is_some(), "no RTS any more"),
        }
    }
}

/// Two missing ACKs lower the rate of the data to 6 Mb/s, and that of the RTS with it: 52 µs, the CTS 44, the data 160, the ACK 44.
#[test]
fn an_rts_goes_no_faster_than_its_data() {
    let mut bench = Bench::new(with_rts(arf(&[MBPS_6, MBPS_54])));
    bench.answer([true, false, true, false]);
    bench.packet(us(1_000), 1);
    for _ in 0..2 {
        let (_, rts) = next_rts(&mut bench);
        assert_eq!((rts.vector, rts.duration), (MBPS_24, micros(3 * 16 + 28 + 36 + 28)));
    }
    let (at, rts) = next_rts(&mut bench);
    assert_eq!((rts.vector, rts.airtime, rts.duration), (MBPS_6, micros(52), micros(3 * 16 + 44 + 160 + 44)));
    let end = bench.hears(at + micros(52 + 16), bench.at_rate(MBPS_6, bench.cts()));
    assert_eq!(bench.expect_transmit(Data, end + micros(16)).vector, MBPS_6);
}

/// Where rate control begins too high, the receiver does not decode the RTS either: without an answer the next one is
/// slower, down to the lowest rate, until there is an answer. A fixed rate is one that the user knows to work.
#[test]
fn under_rate_control_an_rts_that_is_not_answered_is_repeated_at_a_lower_rate() {
    let rates = |config: Config, answers: &[bool]| {
        let mut bench = Bench::new(with_rts(config));
        bench.answer(answers.iter().copied());
        bench.packet(us(1_000), 1);
        (0..5).map(|_| next_rts(&mut bench).1.vector).collect::<Vec<_>>()
    };
    assert_eq!(rates(arf(&[]), &[]), [MBPS_24, MBPS_12, MBPS_6, MBPS_6, MBPS_6]);
    assert_eq!(rates(arf(&[]), &[false, true]), [MBPS_24, MBPS_12, MBPS_24, MBPS_12, MBPS_6]);
    assert_eq!(rates(ofdm(), &[]), [MBPS_24; 5]);
}

/// 802.11g at 54 Mb/s, the rest at 24 Mb/s, and a station of 802.11b: RTS and CTS at 2 Mb/s take 272 and 248 µs, data at 11 Mb/s
/// 265. The timeout of the CTS is SIFS + slot + 192 = 211 µs.
///
/// ```text
///    RTS         CTS         D
///  ─┬──────┬──┬───────┬──┬──────
///  1000  1272 1282  1530 1540
/// ```
#[test]
fn an_rts_is_understood_by_who_it_is_for() {
    let erp = Config::new(Standard::Erp.phy(false), ERP_54);
    let erp = Config { peers: Some(dsss_peers(&[PEER], &erp).into()), ..erp };
    let mut bench = Bench::with_draws(with_rts(erp.clone()), &[(31, 0)]);
    bench.packet(us(1_000), 1);
    let rts = bench.expect_transmit(Rts, us(1_000));
    assert_eq!((rts.vector, rts.airtime, rts.duration), (MBPS_2, micros(272), micros(30 + 248 + 265 + 248)));
    // After the timeout the next boundary of slots, which count from DIFS after the RTS.
    let at = us(1_272 + 28 + 21 * 9);
    bench.expect_transmit(Rts, at);
    let end = bench.hears(at + micros(272 + 10), bench.at_rate(MBPS_2, bench.cts()));
    assert_eq!(bench.expect_transmit(Data, end + micros(10)).vector, MBPS_11);

    let mut bench = Bench::new(with_rts(erp));
    bench.packet_to(us(1_000), Some(OTHER), Packet { id: 1, octets: 64, ..Packet::default() });
    assert_eq!(bench.expect_transmit(Rts, us(1_000)).vector, ERP_24);
}

/// 10.6.6.5: the highest basic rate that is not above that of the frame.
#[test]
fn answers_follow_the_rate_of_the_frame() {
    for (rate, expected) in [(MBPS_6, MBPS_6), (MBPS_9, MBPS_6), (MBPS_18, MBPS_12), (MBPS_54, MBPS_24)] {
        let mut bench = Bench::new(ofdm());
        let end = bench.hears(us(1_000), bench.at_rate(rate, bench.data(7, false)));
        bench.expect_delivered(7, end);
        assert_eq!(bench.expect_transmit(Ack, end + micros(16)).vector, expected);
        let rts = bench.at_rate(rate, bench.control(Rts, PEER, ME, micros(500)));
        let end = bench.hears(us(2_000), rts);
        let cts = bench.expect_transmit(Cts, end + micros(16));
        assert_eq!((cts.vector, cts.duration), (expected, micros(500 - 16) - cts.airtime));
    }
}

/// A packet is not sent after its time: not after a failure, not after a long wait, not from the queue.
///
/// ```text
///    D1      no ACK              D1 expires at 1814
///  ─┬──────┬─────────┼─────
///  1000   1592     1814
/// ```
#[test]
fn what_has_expired_is_not_sent() {
    let packet = |id, expires| Packet { id, octets: 64, expires: Some(expires), ..Packet::default() };
    let mut bench = Bench::new(dsss());
    bench.packet_to(us(1_000), Some(PEER), packet(1, us(1_814)));
    bench.expect_transmit(Data, us(1_000));
    bench.expect_dropped(1, DropCause::Expired, us(1_814));
    assert_eq!(bench.dcf().contention_window(), 31);

    // Its repetition would be at 1862: the slot of 1842 is the last that is worth it.
    let mut bench = Bench::with_draws(dsss(), &[(63, 2)]);
    bench.packet_to(us(1_000), Some(PEER), packet(1, us(1_862)));
    bench.expect_transmit(Data, us(1_000));
    bench.expect_dropped(1, DropCause::Expired, us(1_862));
    let mut bench = Bench::with_draws(dsss(), &[(63, 2)]);
    bench.packet_to(us(1_000), Some(PEER), packet(1, us(1_863)));
    bench.expect_transmit(Data, us(1_000));
    bench.expect_acknowledged(1, us(1_862));

    // The second has waited in the queue for too long, the third has not.
    let mut bench = Bench::with_draws(dsss(), &[(31, 0), (31, 0)]);
    bench.noise(us(100), us(5_000));
    bench.packet(us(1_000), 1);
    bench.packet_to(us(1_001), Some(PEER), packet(2, us(5_900)));
    bench.packet_to(us(1_002), Some(PEER), packet(3, us(7_000)));
    let data = bench.expect_transmit(Data, us(5_050));
    let end = bench.hears(us(5_050) + data.airtime + micros(10), bench.ack());
    bench.expect_sent(1, end);
    bench.expect_dropped(2, DropCause::Expired, end);
    bench.expect_acknowledged(3, end + micros(50));
}

/// WaveLAN: 300 µs and 4 µs for each byte of the packet; there are no answers, so a frame is done when it has been sent.
#[test]
fn without_acknowledgements_a_frame_is_done_when_sent() {
    let phy = Standard::Wavelan.phy(false);
    let config = Config { acknowledgements: false, ..Config::new(phy, phy.fastest()) };
    let mut bench = Bench::with_draws(config, &[(31, 3)]);
    bench.packet(us(1_000), 1);
    bench.packet(us(1_001), 2);
    let first = bench.expect_transmit(Data, us(1_000));
    assert_eq!((first.airtime, first.duration), (micros(300 + 4 * 64), Duration::ZERO));
    bench.expect_sent(1, us(1_556));
    let second = bench.expect_transmit(Data, us(1_556 + 50 + 3 * 20));
    assert!(!second.retry);
    bench.expect_sent(2, us(1_666 + 556));
    let frame = Frame { duration: Duration::ZERO, ..bench.data(7, false) };
    let end = bench.hears(us(5_000), frame);
    bench.expect_delivered(7, end);
    bench.expect_nothing_until(us(20_000));
    assert_eq!((bench.dcf().counters().ack_timeouts, bench.dcf().counters().ack_sent), (0, 0));
}

/// A station sends no RTS if no station would answer it.
#[test]
fn without_acknowledgements_there_is_no_rts() {
    let mut bench = Bench::new(with_rts(Config { acknowledgements: false, ..dsss() }));
    bench.packet(us(1_000), 1);
    bench.expect_transmit(Data, us(1_000));
    bench.expect_sent(1, us(1_592));
    bench.hears(us(5_000), bench.control(Rts, PEER, ME, Duration::ZERO));
    bench.expect_nothing_until(us(20_000));
}
