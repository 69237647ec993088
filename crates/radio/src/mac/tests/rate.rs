//! Rate control in the exchange, and the rates of answers (10.6.6.5); packets whose time is over; stations that answer nobody.

use hopcast_protocols::time::Duration;

use super::bench::{Bench, MBPS_2, MBPS_24, MBPS_54, ME, PEER, Packet, dsss, micros, ofdm, us, with_rts};
use crate::mac::FrameKind::{Ack, Cts, Data, Rts};
use crate::mac::{Config, DropCause, Frame};
use crate::rate::Algorithm;
use crate::standard::{DataRate, Standard};

const MBPS_6: DataRate = DataRate::from_kbps(6_000);
const MBPS_9: DataRate = DataRate::from_kbps(9_000);
const MBPS_12: DataRate = DataRate::from_kbps(12_000);
const MBPS_18: DataRate = DataRate::from_kbps(18_000);
const MBPS_48: DataRate = DataRate::from_kbps(48_000);

fn arf(rates: &[DataRate]) -> Config {
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
        if let crate::mac::Output::Transmit(frame) = output {
            rates.push(frame.rate);
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
        if let crate::mac::Output::Transmit(frame) = output
            && frame.kind == Data
        {
            data.push(frame.rate);
        }
    }
    assert_eq!((data, bench.dcf().counters().cts_timeouts), (vec![MBPS_54], 3));
}

/// The time of the answer is that of its rate, in the reservation by data and RTS, and in the timeout. 100 octets at 9 Mb/s: 23
/// symbols, 112 µs, ACK at 6 Mb/s: 44 µs; at 18 Mb/s: 12 symbols, 68 µs, ACK at 12 Mb/s: 32 µs.
#[test]
fn reservations_follow_the_rate_of_the_data() {
    for (rate, airtime, ack) in [(MBPS_9, 112, 44), (MBPS_18, 68, 32), (MBPS_54, 36, 28)] {
        let mut bench = Bench::new(with_rts(arf(&[rate])));
        bench.packet(us(1_000), 1);
        let rts = bench.expect_transmit(Rts, us(1_000));
        assert_eq!((rts.rate, rts.airtime), (MBPS_24, micros(28)));
        assert_eq!(rts.duration, micros(3 * 16 + 28 + airtime + ack), "{rate}");
        bench.hears(us(1_044), bench.cts());
        let data = bench.expect_transmit(Data, us(1_088));
        assert_eq!((data.rate, data.airtime, data.duration), (rate, micros(airtime), micros(16 + ack)));
    }
}

/// 10.6.6.5: the highest basic rate that is not above that of the frame.
#[test]
fn answers_follow_the_rate_of_the_frame() {
    for (rate, expected) in [(MBPS_6, MBPS_6), (MBPS_9, MBPS_6), (MBPS_18, MBPS_12), (MBPS_54, MBPS_24)] {
        let mut bench = Bench::new(ofdm());
        let end = bench.hears(us(1_000), bench.at_rate(rate, bench.data(7, false)));
        bench.expect_delivered(7, end);
        assert_eq!(bench.expect_transmit(Ack, end + micros(16)).rate, expected);
        let rts = bench.at_rate(rate, bench.control(Rts, PEER, ME, micros(500)));
        let end = bench.hears(us(2_000), rts);
        let cts = bench.expect_transmit(Cts, end + micros(16));
        assert_eq!((cts.rate, cts.duration), (expected, micros(500 - 16) - cts.airtime));
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
    let packet = |id, expires| Packet { id, octets: 64, priority: 0, expires: Some(expires) };
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

/// WaveLAN: 300 µs and 4 µs for each octet of the packet; nobody answers, so a frame is done when it has been sent.
#[test]
fn without_acknowledgements_a_frame_is_done_when_sent() {
    let phy = Standard::Wavelan.phy(false);
    let config =
        Config { phy, rate_control: Algorithm::Fixed(MBPS_2), basic_rate: MBPS_2, acknowledgements: false, ..dsss() };
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
