//! Tests of both ends by hand, at exact instants.

use hopcast_wire::ieee80211::management::{Bss, Capability, Elements, Reason, Ssid, Status};
use proptest::prelude::*;

use super::*;
use crate::phy::Standard;
use crate::units::Power;

const FIRST: MacAddress = MacAddress([2, 0, 0, 0, 0, 1]);
const SECOND: MacAddress = MacAddress([2, 0, 0, 0, 0, 2]);
const STATION: MacAddress = MacAddress([2, 0, 0, 0, 0, 9]);
const STRONG: Power = Power::from_attowatts(2_000_000);
const WEAK: Power = Power::from_attowatts(1_000_000);

const MBPS_2: TxVector = TxVector::new(Standard::Dsss, 1);
const ERP_24: TxVector = TxVector::new(Standard::Erp, 4);

fn erp() -> Phy {
    Standard::Erp.phy(false)
}

fn at(micros: u64) -> Instant {
    Instant::START + Duration::from_micros(micros)
}

fn station_config(asks: bool, is_erp: bool) -> StationConfig {
    let slot = if is_erp { Capability::SHORT_SLOT_TIME.0 } else { 0 };
    StationConfig {
        ssid: Ssid::new(b"net"),
        capability: Capability(Capability::ESS.0 | slot),
        rates: rates(&erp(), MBPS_2, is_erp),
        asks,
        dwell: if asks { ACTIVE_DWELL } else { Duration::from_micros(112_640) },
        start: at(1_000),
    }
}

fn access_point_config(start: Instant) -> AccessPointConfig {
    AccessPointConfig {
        ssid: Ssid::new(b"net"),
        capability: Capability::ESS | Capability::SHORT_SLOT_TIME,
        beacon_interval: 100,
        rates: rates(&erp(), MBPS_2, true),
        channel: Some(1),
        edca: None,
        is_erp: true,
        start,
    }
}

fn access_point(start: Instant) -> AccessPoint {
    AccessPoint::new(access_point_config(start))
}

/// That of a station of 802.11g, or of 802.11b in its network.
fn association_request(capability: Capability, is_erp: bool) -> Repr {
    let rates = rates(&erp(), MBPS_2, is_erp);
    let elements = Elements { rates, ..Elements::default() };
    Repr::AssociationRequest { capability, listen_interval: 1, current_access_point: None, elements }
}

fn outputs(mut poll: impl FnMut() -> Option<Output>) -> Vec<Output> {
    core::iter::from_fn(&mut poll).collect()
}

/// The only message that comes out, and to whom it goes.
fn message(mut poll: impl FnMut() -> Option<Output>) -> (Option<MacAddress>, Repr) {
    let outputs = outputs(&mut poll);
    let [Output::Send(message)] = &outputs[..] else { panic!("one message: {outputs:?}") };
    (message.receiver, message.body)
}

fn beacon(access_point: &mut AccessPoint) -> Bss {
    access_point.handle_timeout(access_point.poll_timeout().unwrap());
    let (None, Repr::Beacon(bss)) = message(|| access_point.poll_output()) else { panic!("a beacon") };
    bss
}

/// Carries messages back and forth until there are no more; returns the other outputs of the station and of the access
/// point.
fn settle(station: &mut Station, access_point: &mut AccessPoint, now: Instant) -> (Vec<Output>, Vec<Output>) {
    let (mut of_station, mut of_access_point) = (Vec::new(), Vec::new());
    loop {
        if let Some(output) = station.poll_output() {
            match output {
                Output::Send(message) => access_point.handle_frame(STATION, &message.body, now),
                other => of_station.push(other),
            }
        } else if let Some(output) = access_point.poll_output() {
            match output {
                Output::Send(message) => {
                    station.handle_frame(FIRST, &message.body, STRONG, now);
                    message.receiver.into_iter().for_each(|to| access_point.handle_sent(to, &message.body));
                }
                other => of_access_point.push(other),
            }
        } else {
            return (of_station, of_access_point);
        }
    }
}

/// Both, the station associated since the instant that is returned.
fn associated(asks: bool, is_erp: bool) -> (Station, AccessPoint, Instant) {
    let (mut station, mut access_point) = (Station::new(station_config(asks, is_erp)), access_point(at(500)));
    station.handle_timeout(at(1_000));
    if !asks {
        station.handle_frame(FIRST, &Repr::Beacon(beacon(&mut access_point)), STRONG, at(2_000));
    }
    settle(&mut station, &mut access_point, at(2_000));
    let now = station.poll_timeout().unwrap();
    station.handle_timeout(now);
    settle(&mut station, &mut access_point, now);
    assert_eq!(station.access_point(), Some(FIRST));
    (station, access_point, now)
}

/// A station that has asked again while the first response was on its way gets another one, and joins once.
#[test]
fn who_is_answered_twice_joins_once() {
    let (_, mut access_point, now) = associated(true, true);
    let request = association_request(Capability::SHORT_SLOT_TIME, true);
    access_point.handle_frame(STATION, &request, now);
    let (Some(STATION), response @ Repr::AssociationResponse { .. }) = message(|| access_point.poll_output()) else {
        panic!("a response")
    };
    access_point.handle_sent(STATION, &response);
    assert_eq!(outputs(|| access_point.poll_output()), []);
}

/// 11.1.3.2: at multiples of the interval since the start, 102.4 ms apart, with the timer's value.
#[test]
fn beacons_are_due_every_hundred_time_units() {
    let mut access_point = access_point(at(300));
    for nth in 0..4 {
        let due = at(300 + nth * 102_400);
        assert_eq!(access_point.poll_timeout(), Some(due));
        access_point.handle_timeout(due);
        let outputs = outputs(|| access_point.poll_output());
        let [Output::Send(Message { receiver: None, body, expires })] = &outputs[..] else { panic!("{outputs:?}") };
        let Repr::Beacon(bss) = *body else { panic!("{body:?}") };
        assert_eq!((bss.timestamp, bss.beacon_interval), (nth * 102_400, 100));
        assert_eq!(*expires, Some(at(300 + (nth + 1) * 102_400)), "one that has not got out by then never will");
        assert!(bss.elements.traffic.is_some() && bss.elements.erp.is_some_and(|erp| !erp.use_protection));
    }
}

#[test]
fn a_station_that_waits_joins_the_strongest_it_has_heard() {
    let (mut near, mut far) = (access_point(at(0)), access_point(at(0)));
    let mut station = Station::new(station_config(false, true));
    assert_eq!(station.poll_timeout(), Some(at(1_000)));
    station.handle_timeout(at(1_000));
    assert_eq!(station.poll_output(), None, "it asks nobody");
    assert_eq!(station.poll_timeout(), Some(at(113_640)), "1 ms and 110 time units");
    station.handle_frame(SECOND, &Repr::Beacon(beacon(&mut far)), WEAK, at(5_000));
    station.handle_frame(FIRST, &Repr::Beacon(beacon(&mut near)), STRONG, at(60_000));
    station.handle_frame(SECOND, &Repr::Beacon(beacon(&mut far)), WEAK, at(107_400));
    assert_eq!(station.poll_output(), None);
    station.handle_timeout(at(113_640));
    let open = |transaction| Repr::Authentication { algorithm: 0, transaction, status: Status::Success };
    assert_eq!(message(|| station.poll_output()), (Some(FIRST), open(1)));
    station.handle_frame(SECOND, &open(2), STRONG, at(114_000));
    assert_eq!(station.poll_output(), None, "another one's answer");
    station.handle_frame(FIRST, &open(2), STRONG, at(115_000));
    let (to, request) = message(|| station.poll_output());
    assert_eq!(to, Some(FIRST));
    assert!(matches!(request, Repr::AssociationRequest { current_access_point: None, .. }));
    near.handle_frame(STATION, &open(1), at(114_000));
    assert_eq!(message(|| near.poll_output()), (Some(STATION), open(2)));
    near.handle_frame(STATION, &request, at(116_000));
    let (_, response) = message(|| near.poll_output());
    assert!(!near.has_station(STATION), "not before it has the response");
    station.handle_frame(FIRST, &response, STRONG, at(117_000));
    let short = Coexistence { use_protection: false, short_slot: true };
    assert_eq!(outputs(|| station.poll_output()), [Output::Joined(FIRST), Output::Adapt(short)]);
    near.handle_sent(STATION, &response);
    assert_eq!(outputs(|| near.poll_output()), [Output::Joined(STATION)]);
    // Seven intervals of 102.4 ms after the response, had no beacon come.
    assert_eq!(station.poll_timeout(), Some(at(117_000 + 716_800)));
}

#[test]
fn a_station_that_asks_decides_after_the_dwell_time() {
    let (mut station, mut access_point) = (Station::new(station_config(true, true)), access_point(at(500)));
    station.handle_timeout(at(1_000));
    let (None, probe @ Repr::ProbeRequest(_)) = message(|| station.poll_output()) else { panic!("a probe request") };
    access_point.handle_frame(STATION, &probe, at(499));
    assert_eq!(access_point.poll_output(), None, "it has not begun");
    access_point.handle_frame(STATION, &probe, at(1_500));
    let (to, response) = message(|| access_point.poll_output());
    let Repr::ProbeResponse(bss) = response else { panic!("{response:?}") };
    assert_eq!((to, bss.timestamp, bss.elements.traffic), (Some(STATION), 1_000, None));
    station.handle_frame(FIRST, &response, STRONG, at(2_000));
    let decides = at(1_000) + ACTIVE_DWELL;
    assert_eq!((station.poll_output(), station.poll_timeout()), (None, Some(decides)));
    station.handle_timeout(decides);
    assert_eq!(message(|| station.poll_output()).0, Some(FIRST));
}

#[test]
fn without_an_answer_a_station_asks_three_times_and_scans_again() {
    let mut station = Station::new(station_config(false, true));
    let mut now = at(1_000);
    station.handle_timeout(now);
    station.handle_frame(FIRST, &Repr::Beacon(beacon(&mut access_point(at(0)))), STRONG, at(2_000));
    now += Duration::from_micros(112_640);
    for _ in 0..3 {
        assert_eq!(station.poll_timeout(), Some(now));
        station.handle_timeout(now);
        assert!(matches!(message(|| station.poll_output()), (Some(FIRST), Repr::Authentication { .. })));
        now += ANSWER_TIMEOUT;
    }
    station.handle_timeout(now);
    assert_eq!(station.poll_output(), None);
    assert_eq!(station.poll_timeout(), Some(now + Duration::from_micros(112_640)), "it scans");
}

#[test]
fn seven_beacons_missed_end_an_association_and_the_next_one_names_the_old_access_point() {
    let (mut station, mut access_point, joined) = associated(true, true);
    assert_eq!(station.poll_timeout(), Some(joined + Duration::from_micros(716_800)));
    let heard = joined + Duration::from_micros(50_000);
    station.handle_frame(FIRST, &Repr::Beacon(beacon(&mut access_point)), STRONG, heard);
    station.handle_frame(SECOND, &Repr::Beacon(beacon(&mut access_point)), STRONG, heard + TIME_UNIT);
    let lost = heard + Duration::from_micros(716_800);
    assert_eq!(station.poll_timeout(), Some(lost), "another one's beacon does not count");
    station.handle_timeout(lost);
    let all = outputs(|| station.poll_output());
    assert_eq!(all[0], Output::Left(FIRST));
    assert!(matches!(&all[1..], [Output::Send(message)] if message.receiver.is_none()), "{all:?}");
    station.handle_frame(SECOND, &Repr::Beacon(beacon(&mut access_point)), WEAK, lost + TIME_UNIT);
    station.handle_timeout(lost + ACTIVE_DWELL);
    assert_eq!(message(|| station.poll_output()).0, Some(SECOND));
    let open = Repr::Authentication { algorithm: 0, transaction: 2, status: Status::Success };
    station.handle_frame(SECOND, &open, WEAK, lost + ACTIVE_DWELL + TIME_UNIT);
    let (_, request) = message(|| station.poll_output());
    assert!(matches!(request, Repr::AssociationRequest { current_access_point: Some(FIRST), .. }), "{request:?}");
}

#[test]
fn strangers_are_told_that_they_are() {
    let mut access_point = access_point(at(0));
    assert!(!access_point.handle_data(STATION));
    let deauthentication = Repr::Deauthentication(Reason::ClassThreeFrame);
    assert_eq!(message(|| access_point.poll_output()), (Some(STATION), deauthentication));
    let open = Repr::Authentication { algorithm: 0, transaction: 1, status: Status::Success };
    access_point.handle_frame(STATION, &open, at(1));
    message(|| access_point.poll_output());
    assert!(!access_point.handle_data(STATION));
    let disassociation = Repr::Disassociation(Reason::ClassThreeFrame);
    assert_eq!(message(|| access_point.poll_output()), (Some(STATION), disassociation));
    let shared = Repr::Authentication { algorithm: 1, transaction: 1, status: Status::Success };
    access_point.handle_frame(SECOND, &shared, at(1));
    let (_, Repr::Authentication { status, .. }) = message(|| access_point.poll_output()) else { panic!() };
    assert_eq!(status, Status::UnsupportedAlgorithm);
}

#[test]
fn a_deauthentication_sends_a_station_to_scan_for_a_first_association() {
    let (mut station, mut access_point, now) = associated(true, true);
    station.handle_frame(SECOND, &Repr::Deauthentication(Reason::ClassThreeFrame), STRONG, now);
    assert_eq!(station.access_point(), Some(FIRST), "a stranger's");
    station.handle_frame(FIRST, &Repr::Deauthentication(Reason::ClassThreeFrame), STRONG, now);
    assert_eq!(station.access_point(), None);
    access_point.handle_moved(STATION);
    assert_eq!(outputs(|| access_point.poll_output()), [Output::Left(STATION)]);
    settle(&mut station, &mut access_point, now);
    station.handle_timeout(now + ACTIVE_DWELL);
    let (of_station, of_access_point) = settle(&mut station, &mut access_point, now + ACTIVE_DWELL);
    assert_eq!(of_station[0], Output::Joined(FIRST));
    assert_eq!(of_access_point, [Output::Joined(STATION)]);
}

/// 10.27: protection while a station of 802.11b belongs to the network, and long slots.
#[test]
fn a_station_of_80211b_asks_for_protection_while_it_is_there() {
    let (_, mut access_point, _) = associated(true, false);
    let adapted = Coexistence { use_protection: true, short_slot: false };
    assert_eq!(access_point.coexistence(), adapted);
    let bss = beacon(&mut access_point);
    assert!(bss.elements.erp.is_some_and(|erp| erp.use_protection && erp.non_erp_present));
    assert!(!bss.capability.contains(Capability::SHORT_SLOT_TIME));
    // One of 802.11g learns of it from the next beacon.
    let (mut modern, _, now) = associated(true, true);
    modern.handle_frame(FIRST, &Repr::Beacon(bss), STRONG, now + TIME_UNIT);
    assert_eq!(outputs(|| modern.poll_output()), [Output::Adapt(adapted)]);
    access_point.handle_moved(STATION);
    let short = Coexistence { use_protection: false, short_slot: true };
    assert_eq!(outputs(|| access_point.poll_output()), [Output::Left(STATION), Output::Adapt(short)]);
}

#[test]
fn who_lacks_a_basic_rate_is_not_chosen_and_would_be_refused() {
    let ofdm = rates(&erp(), ERP_24, true);
    let basic: Vec<u8> = ofdm.iter().filter(|&(_, is_basic)| is_basic).map(|(units, _)| units).collect();
    assert_eq!(basic, [12, 24, 48], "6, 12 and 24 Mb/s");
    let mut strict = AccessPoint::new(AccessPointConfig { rates: ofdm, ..access_point_config(at(0)) });
    let mut station = Station::new(station_config(true, false));
    station.handle_timeout(at(1_000));
    settle(&mut station, &mut strict, at(1_500));
    station.handle_timeout(at(1_000) + ACTIVE_DWELL);
    assert!(matches!(message(|| station.poll_output()), (None, Repr::ProbeRequest(_))), "it scans on");
    let open = Repr::Authentication { algorithm: 0, transaction: 1, status: Status::Success };
    strict.handle_frame(STATION, &open, at(2_000));
    message(|| strict.poll_output());
    let request = association_request(Capability::ESS, false);
    strict.handle_frame(STATION, &request, at(2_000));
    let (_, Repr::AssociationResponse { status, aid, .. }) = message(|| strict.poll_output()) else { panic!() };
    assert_eq!((status, aid), (Status::UnsupportedRates, 0));
}

#[test]
fn the_last_of_the_identifiers_is_2007() {
    let mut access_point = access_point(at(0));
    let open = Repr::Authentication { algorithm: 0, transaction: 1, status: Status::Success };
    let mut granted = Vec::new();
    for nth in 0..2_008_u16 {
        let [high, low] = nth.to_be_bytes();
        let from = MacAddress([2, 0, 0, 1, high, low]);
        access_point.handle_frame(from, &open, at(1));
        let request = association_request(Capability::ESS, true);
        access_point.handle_frame(from, &request, at(1));
        let Some(Output::Send(last)) = outputs(|| access_point.poll_output()).pop() else { panic!("a response") };
        let Repr::AssociationResponse { status, aid, .. } = last.body else { panic!("{last:?}") };
        granted.push((status, aid));
    }
    assert_eq!(granted[0], (Status::Success, 1));
    assert_eq!(granted[2_006..], [(Status::Success, 2_007), (Status::AccessPointFull, 0)]);
}

proptest! {
    /// Whatever is said to them: they go on, and a station's timer never lies in the past.
    #[test]
    fn arbitrary_octets_do_no_harm(
        frames in prop::collection::vec((0_u8..16, any::<bool>(), prop::collection::vec(any::<u8>(), 0..40)), 0..40),
    ) {
        let (mut station, mut access_point, mut now) = associated(true, true);
        for (subtype, from_first, octets) in frames {
            now += TIME_UNIT;
            if let Ok(body) = Repr::parse(subtype.into(), &octets) {
                station.handle_frame(if from_first { FIRST } else { SECOND }, &body, STRONG, now);
                access_point.handle_frame(if from_first { STATION } else { SECOND }, &body, now);
            }
            settle(&mut station, &mut access_point, now);
            if station.poll_timeout().unwrap() <= now {
                station.handle_timeout(now);
            }
            prop_assert!(station.poll_timeout().unwrap() > now);
        }
    }
}
