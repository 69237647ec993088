//! OFDM frames in a network with stations of 802.11b (10.27). 802.11g: data at 54 Mb/s, all else at 2 Mb/s, so that everyone
//! understands it; the long slot. SIFS 10, slot 20, DIFS 50. 100 bytes at 54 Mb/s: 36 µs and 6 of silence; the ACK at 24 Mb/s 34 µs.

use super::bench::{Bench, ERP_6, ERP_24, ERP_54, MBPS_2, MBPS_11, ME, micros, us, with_rts};
use crate::mac::FrameKind::{Ack, Cts, Data, Rts};
use crate::mac::edca::{EdcaParameters, Edition};
use crate::mac::{Config, DropCause, Output, Protection};
use crate::phy::Standard;
use crate::rate::Algorithm;

pub(super) fn mixed(protection: Protection) -> Config {
    let phy = Standard::Erp.phy(false).with_long_slot();
    Config { basic_rate: MBPS_2, protection, ..Config::new(phy, ERP_54) }
}

/// ```text
///    CTS-to-self     D            A
///  ─┬──────────┬──┬──────┬──┬──────┬─
///  1000      1248 1258  1300 1310 1344
/// ```
#[test]
fn a_cts_to_self_reserves_the_exchange() {
    let mut bench = Bench::new(mixed(Protection::CtsToSelf));
    bench.packet(us(1_000), 1);
    let cts = bench.expect_transmit(Cts, us(1_000));
    assert_eq!((cts.receiver, cts.vector, cts.airtime), (Some(ME), MBPS_2, micros(248)));
    assert_eq!(cts.duration, micros(10 + 42 + 10 + 34));
    let data = bench.expect_transmit(Data, us(1_258));
    assert_eq!((data.vector, data.airtime, data.duration), (ERP_54, micros(42), micros(44)));
    let ack = bench.at_rate(ERP_24, bench.ack());
    let end = bench.hears(us(1_310), ack);
    bench.expect_sent(1, end);
    assert_eq!(end, us(1_344));
}

/// Without an ACK all of it is repeated: the timeout is SIFS + slot + 20, and the frame counts as a short one.
#[test]
fn a_repetition_is_protected_too() {
    let config = Config { short_retry_limit: 2, ..mixed(Protection::CtsToSelf) };
    let mut bench = Bench::with_draws(config, &[(31, 0)]);
    bench.packet(us(1_000), 1);
    bench.expect_transmit(Cts, us(1_000));
    bench.expect_transmit(Data, us(1_258));
    bench.expect_nothing_until(us(1_349));
    // At the timeout, 1350, the medium has been idle for DIFS: the boundary is there.
    bench.expect_transmit(Cts, us(1_350));
    let data = bench.expect_transmit(Data, us(1_608));
    assert!(data.retry);
    bench.expect_dropped(1, DropCause::ShortRetryLimit, us(1_608 + 42 + 50));
    assert_eq!((bench.dcf().counters().cts_sent, bench.dcf().counters().data_sent), (2, 2));
}

/// The medium may turn busy after the CTS: the data follow after SIFS all the same, and no backoff is drawn.
#[test]
fn data_follow_the_cts_to_self_whatever_the_medium() {
    let mut bench = Bench::new(mixed(Protection::CtsToSelf));
    bench.packet(us(1_000), 1);
    bench.noise(us(1_100), us(1_280));
    bench.expect_transmit(Cts, us(1_000));
    bench.expect_transmit(Data, us(1_258));
}

/// ```text
///    RTS         CTS         D
///  ─┬──────┬──┬───────┬──┬──────
///  1000  1272 1282  1530 1540
/// ```
#[test]
fn rts_and_cts_protect_at_the_basic_rate() {
    let mut bench = Bench::new(mixed(Protection::RtsCts));
    bench.packet(us(1_000), 1);
    let rts = bench.expect_transmit(Rts, us(1_000));
    assert_eq!((rts.vector, rts.airtime, rts.duration), (MBPS_2, micros(272), micros(30 + 248 + 42 + 34)));
    bench.hears(us(1_282), bench.cts());
    bench.expect_transmit(Data, us(1_540));
}

/// Also where that is above the rate of the data, and where the RTS is due to the length of the frame.
#[test]
fn an_rts_that_protects_is_understood_by_all() {
    for (protection, expected) in
        [(Protection::None, ERP_6), (Protection::CtsToSelf, MBPS_11), (Protection::RtsCts, MBPS_11)]
    {
        let config =
            Config { rate_control: Algorithm::Fixed(ERP_6), basic_rate: MBPS_11, ..with_rts(mixed(protection)) };
        let mut bench = Bench::new(config);
        bench.packet(us(1_000), 1);
        assert_eq!(bench.expect_transmit(Rts, us(1_000)).vector, expected);
    }
    // It is the basic rate, too, where nobody needs protection: who understands OFDM understands that.
    let mut bench = Bench::new(with_rts(mixed(Protection::None)));
    bench.packet(us(1_000), 1);
    assert_eq!(bench.expect_transmit(Rts, us(1_000)).vector, MBPS_2);
}

/// Short data behind an RTS count against the long limit, or each CTS would give them another chance.
#[test]
fn short_data_behind_an_rts_are_given_up() {
    let mut bench = Bench::new(mixed(Protection::RtsCts));
    bench.answer([true, false, true, false, true, false, true, false, true]);
    bench.packet(us(1_000), 1);
    let outputs = bench.outputs_until(us(200_000));
    let data = outputs.iter().filter(|(_, output)| matches!(output, crate::mac::Output::Transmit(f) if f.kind == Data));
    assert_eq!(data.count(), 4);
    assert!(matches!(outputs.last(), Some((_, crate::mac::Output::Dropped(_, DropCause::LongRetryLimit, _)))));
}

/// A TXOP goes on with nothing that must be protected: stations of 802.11b understand no reservation but that of a CTS.
#[test]
fn each_frame_that_must_be_protected_has_a_reservation_of_its_own() {
    for protection in [Protection::CtsToSelf, Protection::RtsCts] {
        let mixed = mixed(protection);
        let edca = Some(EdcaParameters::all_defaults(&mixed.phy, Edition::Ieee2012));
        let mut bench = Bench::new(Config { edca, ..mixed });
        for id in 1..=3 {
            bench.packet_with_priority(us(1_000), id, 6);
        }
        let sends = |bench: &mut Bench| match bench.next_output(us(20_000)) {
            Some((at, Output::Transmit(frame))) => (frame.kind, at + frame.airtime + micros(10)),
            other => panic!("no frame but {other:?}"),
        };
        for id in 1..=3 {
            let (first, answered) = sends(&mut bench);
            if protection == Protection::RtsCts {
                bench.hears(answered, bench.cts());
            }
            let (second, answered) = sends(&mut bench);
            assert_eq!([first, second], [if protection == Protection::RtsCts { Rts } else { Cts }, Data]);
            let end = bench.hears(answered, bench.at_rate(ERP_24, bench.ack()));
            bench.expect_sent(id, end);
        }
    }
}

/// Frames that everyone understands need no protection.
#[test]
fn only_ofdm_is_protected() {
    for protection in [Protection::CtsToSelf, Protection::RtsCts] {
        let config = Config { rate_control: Algorithm::Fixed(MBPS_11), ..mixed(protection) };
        let mut bench = Bench::new(config);
        bench.packet(us(1_000), 1);
        bench.expect_transmit(Data, us(1_000));
        let mut bench = Bench::new(mixed(protection));
        bench.broadcast(us(1_000), 1);
        let frame = bench.expect_transmit(Data, us(1_000));
        bench.expect_sent(1, us(1_000) + frame.airtime);
    }
}

/// 10.6.6.5: the ACK has the modulation of the frame.
#[test]
fn an_ofdm_frame_is_acknowledged_in_ofdm() {
    let mut bench = Bench::new(mixed(Protection::CtsToSelf));
    let end = bench.hears(us(1_000), bench.data(7, false));
    bench.expect_delivered(7, end);
    let ack = bench.expect_transmit(Ack, end + micros(10));
    assert_eq!((ack.vector, ack.airtime), (ERP_24, micros(34)));
}
