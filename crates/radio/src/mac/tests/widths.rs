//! Frames where secondary channels are busy (10.23.2.5, 11.15.9). 802.11ac at MCS 7 over one stream in 80 MHz: 1170 bits in each symbol of
//! 4 µs, 540 in 40 MHz and 260 in 20 MHz, behind a preamble of 40 µs. A packet of 1500 bytes is an MPDU of 1538, which goes alone as an
//! A-MPDU of 1542.

use hopcast_protocols::random::{Purpose, Stream};

use super::super::*;
use super::bench::{micros, us};
use crate::mac::edca::{EdcaParameters, Edition};
use crate::phy::{Capability, ChannelWidth, Shape, Standard};
use crate::reception::IdleWidths;
use crate::testkit::{Pair, Sent, any_wide_config};
use ChannelWidth::{Mhz20, Mhz40, Mhz80};
use hopcast_protocols::testkit::Choices;
use proptest::prelude::*;

fn config_at(bandwidth: Bandwidth, mcs: u8) -> Config {
    let shape = Shape { width: Mhz80, ..Shape::of(Standard::Vht) };
    let own = Capability::new(Standard::Vht, Some(shape), false);
    let phy = own.phy_among(&own.narrower().collect::<Vec<_>>());
    Config {
        edca: Some(EdcaParameters::all_defaults(&phy, Edition::Ieee2012)),
        aggregation: Some(Aggregation::of(Standard::Vht)),
        queue_packets: 1_000,
        bandwidth,
        ..Config::new(phy, shape.vector(Standard::Vht, mcs).expect("a scheme of VHT"))
    }
}

fn config(bandwidth: Bandwidth) -> Config {
    config_at(bandwidth, 7)
}

/// The secondary channels of both stations are as wide as this: now, and before the frame that they have received last.
fn set_idle(pair: &mut Pair, now: ChannelWidth, before: ChannelWidth) {
    pair.stations.iter_mut().for_each(|station| station.handle_idle_widths(IdleWidths { now, before }));
}

/// The first frame, where so much is idle and this number of packets waits.
fn first(config: &Config, idle: ChannelWidth, packets: u32) -> Sent {
    let mut pair = Pair::new([config; 2]);
    set_idle(&mut pair, idle, idle);
    pair.offer(0, 0..packets, 0);
    pair.run(us(43));
    pair.sent.first().expect("AIFS has passed").clone()
}

/// 12358 bits, service and tail included: 11, 23 or 48 symbols. 37062 bits of three MPDUs: 32, 69 or 143.
#[test]
fn a_frame_goes_over_what_is_idle() {
    let config = config(Bandwidth::Dynamic);
    for (idle, alone, three) in [(Mhz80, 11, 32), (Mhz40, 23, 69), (Mhz20, 48, 143)] {
        for (packets, symbols) in [(1, alone), (3, three)] {
            let sent = first(&config, idle, packets);
            let frame = sent.frame;
            assert_eq!((frame.kind, sent.at, sent.mpdus.len() as u32), (FrameKind::Data, us(43), packets));
            assert_eq!((frame.vector.width(), frame.vector.mcs()), (idle, 7));
            assert_eq!(frame.airtime, micros(40 + 4 * symbols), "{packets} in {idle:?}");
        }
    }
}

/// 1361 symbols fit into 5.484 ms: 353860 bits in 20 MHz, 28 MPDUs of 1544 bytes. All 64 of a window have 790526 bits: in 80 MHz they
/// take 676 symbols.
#[test]
fn a_narrower_frame_has_as_many_mpdus_as_it_may_last() {
    let config = config(Bandwidth::Dynamic);
    let narrow = first(&config, Mhz20, 64);
    assert_eq!(narrow.mpdus.len(), 28);
    assert!(narrow.frame.airtime <= micros(5_484), "{:?}", narrow.frame.airtime);
    let wide = first(&config, Mhz80, 64);
    assert_eq!((wide.mpdus.len(), wide.frame.airtime), (64, micros(40 + 4 * 676)));
}

/// 21.5 has no MCS 9 over one stream in 20 MHz.
#[test]
fn a_scheme_that_the_narrower_channel_lacks_is_replaced_by_the_next_one() {
    let config = config_at(Bandwidth::Dynamic, 9);
    let mcs = |idle| first(&config, idle, 1).frame.vector.mcs();
    assert_eq!([Mhz80, Mhz40, Mhz20].map(mcs), [9, 9, 8]);
}

/// Access at 43, and again that many slots after the next one, from the same window.
#[test]
fn static_bandwidth_waits_for_all_of_the_channel() {
    let config = config(Bandwidth::Static);
    let mut pair = Pair::new([&config; 2]);
    set_idle(&mut pair, Mhz40, Mhz40);
    pair.offer(0, 0..1, 0);
    pair.run(us(43));
    assert!(pair.sent.is_empty(), "{:?}", pair.sent);
    assert_eq!(pair.stations[0].contention_window(), 15);
    set_idle(&mut pair, Mhz80, Mhz80);
    let slots = Stream::new(1, Purpose::Backoff, 0, 0).below(16);
    pair.run(us(1_000));
    let frame = &pair.sent[0];
    assert_eq!(frame.at, us(43) + micros(9) * u64::from(slots + 1));
    assert_eq!((frame.frame.vector.width(), frame.frame.retry), (Mhz80, false));
    assert_eq!(first(&config, Mhz80, 1).at, us(43));
}

#[test]
fn where_the_channel_is_one_nothing_is_asked() {
    let config = config(Bandwidth::Whole);
    assert!(!Pair::new([&config; 2]).stations[0].senses_widths());
    assert_eq!(first(&config, Mhz20, 1).frame.vector.width(), Mhz80);
}

/// The answer has the width of the frame, and rate control hears of what it has chosen.
#[test]
fn answers_are_repeated_on_the_channels_of_the_frame() {
    let config = Config { rate_control: Algorithm::Arf, ..config(Bandwidth::Dynamic) };
    let shape = Shape { width: Mhz80, ..Shape::of(Standard::Vht) };
    let rates = (0..8).filter_map(|mcs| shape.vector(Standard::Vht, mcs)).collect();
    let config = Config { rates, ..config };
    let mut pair = Pair::new([&config; 2]);
    set_idle(&mut pair, Mhz40, Mhz40);
    pair.offer(0, 0..40, 0);
    pair.run(us(60_000));
    assert_eq!(pair.fates[0].delivered.len(), 40);
    assert!(pair.sent.iter().all(|sent| sent.frame.vector.width() == Mhz40), "{:?}", pair.sent);
    assert!(pair.sent.iter().any(|sent| sent.frame.kind == FrameKind::BlockAck));
}

/// No frame of a TXOP is wider than the first.
#[test]
fn a_txop_stays_as_wide_as_it_began() {
    let mut config = config(Bandwidth::Dynamic);
    config.aggregation = Some(Aggregation { ampdu: 3_200, ..Aggregation::of(Standard::Vht) });
    let txop = |edca: [EdcaParameters; 4]| edca.map(|edca| EdcaParameters { txop_limit: micros(1_000), ..edca });
    config.edca = config.edca.map(txop);
    let mut pair = Pair::new([&config; 2]);
    set_idle(&mut pair, Mhz40, Mhz40);
    pair.offer(0, 0..20, 0);
    pair.run(us(60));
    set_idle(&mut pair, Mhz80, Mhz80);
    pair.run(us(10_000));
    let data: Vec<_> = pair.sent.iter().filter(|sent| sent.frame.kind == FrameKind::Data).collect();
    // Two MPDUs: 46 symbols, then SIFS, the block acknowledgment and SIFS.
    let starts = [0, 1, 2].map(|place| us(43) + micros(40 + 4 * 46 + 16 + 32 + 16) * place);
    assert_eq!(data[..3].iter().map(|sent| sent.at).collect::<Vec<_>>(), starts);
    assert!(data[..3].iter().all(|sent| sent.frame.vector.width() == Mhz40));
    assert!(data.len() > 3 && data[3..].iter().all(|sent| sent.frame.vector.width() == Mhz80));
}

fn with_rts(bandwidth: Bandwidth) -> Config {
    Config { rts_threshold: Some(0), ..config(bandwidth) }
}

/// The RTS goes over 80 MHz; of the responder's channels 40 MHz were idle. The data take no longer than the RTS has reserved.
///
/// ```text
///  ┌ RTS ┐ SIFS ┌ CTS ┐ SIFS ┌ data ───────┐ SIFS ┌ BlockAck ┐
///   80 MHz       40 MHz       40 MHz                40 MHz
/// ```
#[test]
fn a_narrower_cts_makes_the_data_narrower() {
    let config = with_rts(Bandwidth::Dynamic);
    let mut pair = Pair::new([&config; 2]);
    set_idle(&mut pair, Mhz80, Mhz40);
    pair.offer(0, 0..64, 0);
    pair.run(us(43 + 4_000));
    let of = |place: usize| (pair.sent[place].frame.kind, pair.sent[place].frame.vector.width());
    assert_eq!(
        [0, 1, 2, 3].map(of),
        [(FrameKind::Rts, Mhz80), (FrameKind::Cts, Mhz40), (FrameKind::Data, Mhz40), (FrameKind::BlockAck, Mhz40)]
    );
    let (rts, data) = (&pair.sent[0], &pair.sent[2]);
    // 28 µs of RTS, 28 of CTS at 24 Mb/s.
    assert_eq!(data.at, us(43 + 28 + 16 + 28 + 16));
    let reserved = rts.at + rts.frame.airtime + rts.frame.duration;
    let end = data.at + data.frame.airtime + data.frame.duration;
    assert!(end <= reserved, "{end} of {reserved}");
    // 676 symbols of 40 MHz hold 29 MPDUs, 358214 bits.
    assert_eq!((data.mpdus.len(), data.frame.airtime), (29, micros(40 + 4 * 664)));
}

#[test]
fn with_static_bandwidth_no_cts_answers_an_rts_on_busy_channels() {
    let config = with_rts(Bandwidth::Static);
    let mut pair = Pair::new([&config; 2]);
    set_idle(&mut pair, Mhz80, Mhz40);
    pair.offer(0, 0..1, 0);
    pair.run(us(43 + 28 + 16 + 28 + 100));
    assert!(pair.sent.iter().all(|sent| sent.frame.kind == FrameKind::Rts), "{:?}", pair.sent);
    assert_eq!(pair.stations[0].counters().cts_timeouts, 1);
    set_idle(&mut pair, Mhz80, Mhz80);
    pair.run(us(5_000));
    assert_eq!(pair.fates[0].delivered.len(), 1);
}

#[test]
fn an_rts_goes_over_what_is_idle() {
    let sent = first(&with_rts(Bandwidth::Dynamic), Mhz40, 1);
    assert_eq!((sent.frame.kind, sent.frame.vector.width()), (FrameKind::Rts, Mhz40));
    // CTS, one MPDU in 40 MHz (23 symbols), ACK and three SIFS.
    assert_eq!(sent.frame.duration, micros(3 * 16 + 28 + (40 + 4 * 23) + 28));
}

/// Stations and operations that `bytes` choose.
fn disorder(bytes: &[u8]) {
    let mut choices = Choices::new(bytes);
    let is_negotiated = choices.pick(&[true, true, true, false]);
    let configs = [any_wide_config(&mut choices, is_negotiated), any_wide_config(&mut choices, is_negotiated)];
    let mut pair = Pair::new([&configs[0], &configs[1]]);
    pair.disorder(&mut choices);
    assert!(pair.sent.iter().all(|sent| sent.frame.vector.width() <= Mhz80));
}

/// A narrower CTS leaves MPDUs of an A-MPDU behind. One of a single packet comes first, and gets no packet from the queue: those behind it
/// would come later than that. The bytes are what a fuzzer found.
#[test]
fn what_is_left_of_a_wider_frame_keeps_its_order() {
    disorder(&[
        0xb1, 0xb1, 0xb1, 0xb1, 0xb1, 0xb1, 0xb1, 0xb1, 0xb1, 0xb1, 0xb1, 0xb1, 0xb1, 0xb1, 0x23, 0xff, 0xff, 0x7e,
        0x7c, 0x5e, 0x01, 0xdf, 0x04, 0x00, 0xf7, 0x00, 0x31, 0xff, 0x42, 0xf9, 0x26, 0x30, 0xf9, 0xf9, 0x01, 0x85,
        0x00, 0x00, 0x00, 0xf9, 0xf9, 0xf9, 0xf9, 0xf9, 0xf9, 0xf9, 0xe5, 0xe5, 0xe5, 0x5e, 0x0b,
    ]);
}

proptest! {
    #[test]
    fn neighbours_in_parts_of_the_channel_lose_and_repeat_nothing(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        disorder(&bytes);
    }
}
