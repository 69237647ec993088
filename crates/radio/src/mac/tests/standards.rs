//! A station among others of older standards: protection, the frames that each of them gets, and EIFS after frames that it can't
//! decode. 802.11n at 2.4 GHz, MCS 7 (65 Mb/s): SIFS 10, slot 9 or 20. 102 bytes take 58 µs, an ACK at 24 Mb/s 34 µs.

use std::sync::Arc;

use super::bench::{Bench, ERP_24, ERP_54, MBPS_2, ME, PEER, micros, ofdm, us};
use crate::mac::FrameKind::{Cts, Data, Rts};
use crate::mac::edca::{EdcaParameters, Edition};
use crate::mac::{Aggregation, Config, Peer, Peers, Protection};
use crate::phy::{Band, Capability, ModulationClass, Shape, Standard, TxVector};
use crate::rate::Algorithm;

fn capability(standard: Standard) -> Capability {
    Capability::new(standard, Some(Shape { band: Band::Low, ..Shape::of(standard) }), false)
}

fn mcs_7() -> TxVector {
    capability(Standard::Ht).shape().and_then(|shape| shape.vector(Standard::Ht, 7)).expect("a scheme of HT")
}

/// A station of 802.11n in a network with one of `oldest`, which asks for this protection.
fn beside(oldest: Standard, protection: Protection) -> Config {
    let [own, other] = [Standard::Ht, oldest].map(capability);
    let phy = own.phy_among(&[other]);
    let (phy, basic_rate) = match oldest {
        Standard::HrDsss => (phy.with_long_slot(), MBPS_2),
        _ => (phy, ERP_24),
    };
    Config {
        edca: Some(EdcaParameters::all_defaults(&phy, Edition::Ieee2012)),
        basic_rate,
        protection,
        understood: other.class(),
        ..Config::new(phy, mcs_7())
    }
}

/// The same, to which the peer is a station of that standard.
fn to_older(oldest: Standard, protection: Protection) -> Config {
    let config = beside(oldest, protection);
    let peer = Peer::between(capability(Standard::Ht), capability(oldest), config.rate_control);
    let peers = Peers::new(vec![0, 1], vec![Peer { is_qos: false, ..peer }]);
    Config { peers: Some(Arc::new(peers)), aggregation: Some(Aggregation::of(Standard::Ht)), ..config }
}

/// ```text
///    CTS-to-self     D            A
///  ─┬──────────┬──┬──────┬──┬──────┬─
///  1010      1258 1268  1326 1336 1370
/// ```
///
/// The access is at a boundary of slots of 20 µs, counted from AIFS (70 µs) after the start.
#[test]
fn a_cts_to_self_of_dsss_precedes_a_frame_of_ht() {
    let mut bench = Bench::new(beside(Standard::HrDsss, Protection::CtsToSelf));
    bench.packet(us(1_005), 1);
    let cts = bench.expect_transmit(Cts, us(1_010));
    assert_eq!((cts.receiver, cts.vector, cts.airtime), (Some(ME), MBPS_2, micros(248)));
    assert_eq!(cts.duration, micros(10 + 58 + 10 + 34));
    let data = bench.expect_transmit(Data, us(1_268));
    assert_eq!((data.vector, data.airtime, data.duration), (mcs_7(), micros(58), micros(44)));
    let ack = bench.at_rate(ERP_24, bench.ack());
    let end = bench.hears(us(1_336), ack);
    bench.expect_sent(1, end);
    assert_eq!(end, us(1_370));
}

/// Stations of 802.11g need an OFDM rate, 24 Mb/s here, and ask for nothing by default.
#[test]
fn protection_from_80211g_is_a_frame_of_ofdm() {
    let mut bench = Bench::new(beside(Standard::Erp, Protection::RtsCts));
    bench.packet(us(1_000), 1);
    let rts = bench.expect_transmit(Rts, us(1_000));
    assert_eq!((rts.vector, rts.airtime), (ERP_24, micros(34)));
    let mut bench = Bench::new(beside(Standard::Erp, Protection::None));
    bench.packet(us(1_000), 1);
    assert_eq!(bench.expect_transmit(Data, us(1_000)).vector, mcs_7());
}

/// A frame without QoS Control and without an agreement, at the highest rate of the peer: 100 bytes at 54 Mb/s.
#[test]
fn a_station_without_qos_gets_a_frame_of_its_standard() {
    let mut bench = Bench::new(to_older(Standard::Erp, Protection::RtsCts));
    bench.packet(us(1_000), 1);
    // It needs no protection, which would precede a frame of HT.
    let data = bench.expect_transmit(Data, us(1_000));
    assert_eq!((data.vector, data.octets, data.airtime, data.priority), (ERP_54, 100, micros(42), None));
    assert!(data.payload.is_some(), "no body under an agreement");
    let ack = bench.at_rate(ERP_24, bench.ack());
    let end = bench.hears(us(1_052), ack);
    bench.expect_sent(1, end);
}

/// The window and the longest A-MPDU are those of the older of the two.
#[test]
fn agreements_are_what_both_have() {
    let [he, ht] = [Standard::He, Standard::Ht].map(capability);
    let peer = Peer::between(he, ht, Algorithm::Fixed(he.phy().fastest()));
    assert_eq!((peer.standard, peer.rate_control), (Standard::Ht, Algorithm::Fixed(mcs_7())));
    assert!(peer.rates.iter().all(|rate| rate.modulation_class() == ModulationClass::Ht));
    let peer = Peer::between(he, capability(Standard::Erp), Algorithm::MinstrelHt);
    assert_eq!((peer.rate_control, peer.rates.len()), (Algorithm::Minstrel, 12));
}

/// A station of 802.11a knows the length of a frame of HT, and not what it holds: EIFS, 94 µs, follows as after any frame in error
/// (10.3.2.3.7), and the ACK that answers the frame ends it.
#[test]
fn eifs_follows_a_frame_of_a_newer_standard() {
    let newer = Shape::of(Standard::Ht).vector(Standard::Ht, 7).expect("a scheme of HT");
    let mut bench = Bench::with_draws(ofdm(), &[(15, 3)]);
    bench.hears_error(us(1_000), us(1_228), newer);
    bench.packet(us(1_100), 1);
    bench.expect_transmit(Data, us(1_228 + 94 + 3 * 9));
    let mut bench = Bench::with_draws(ofdm(), &[(15, 3)]);
    bench.hears_error(us(1_000), us(1_228), newer);
    bench.packet(us(1_100), 1);
    let ack = bench.control(crate::mac::FrameKind::Ack, PEER, super::bench::OTHER, micros(0));
    let end = bench.hears(us(1_244), ack);
    bench.expect_transmit(Data, end + micros(34 + 3 * 9));
}
