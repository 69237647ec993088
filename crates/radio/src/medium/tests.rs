//! Tests of reception of overlapping frames, by hand and against the definition.
//!
//! Powers are small numbers: a frame is decoded from 100 on, sensed from 10 on, and must be ten times stronger than what
//! overlaps it. Its header takes 192 µs (802.11 at 1 Mb/s). Times in microseconds.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::frame::FrameKind;
use crate::phy::{Standard, TxVector};
use crate::reception::{Rules, Threshold};
use crate::units::PowerRatio;

const MBPS_1: TxVector = TxVector::new(Standard::Dsss, 0);
const HEADER: u64 = 192;
const DECODED: u64 = 100;
const SENSED: u64 = 10;
const CAPTURE: f64 = 10.0;
const DELAY: u64 = 1;

/// What a station notices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Notice {
    Busy,
    Idle,
    /// The frame with this number.
    Received(u32),
    /// A frame whose header ended then.
    Error(u64),
    /// The frame that is being received goes on in spite of another.
    Overcame,
}
use Notice::{Busy, Error, Idle, Overcame, Received};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Edge {
    Trailing(u64),
    End(u32),
    Start(u32, u32, u64),
    Leading(u64),
}

/// Stations that send at given instants and note what they hear.
struct Air {
    medium: Medium<u32>,
    edges: BTreeMap<(Instant, Edge), Option<TransmissionId>>,
    busy: Vec<bool>,
    transmitting: Vec<bool>,
    notices: Vec<(u64, u32, Notice)>,
    frames: u32,
}

fn us(micros: u64) -> Instant {
    Instant::START + Duration::from_micros(micros)
}

fn micros(instant: Instant) -> u64 {
    instant.as_nanos() / 1_000
}

fn reception(rules: Rules) -> Threshold {
    Threshold {
        carrier_sense_threshold: Power::from_attowatts(SENSED),
        capture: PowerRatio::from_ratio(CAPTURE),
        rules,
        receive_thresholds: vec![(MBPS_1, Power::from_attowatts(DECODED))],
    }
}

/// A broadcast of this duration in microseconds.
fn frame(from: u32, length: u64) -> Header {
    Header {
        kind: FrameKind::Data,
        transmitter: StationId(from),
        receiver: None,
        duration: Duration::ZERO,
        sequence: 0,
        retry: false,
        priority: None,
        octets: 100,
        vector: MBPS_1,
        airtime: Duration::from_micros(length),
        header: Duration::from_micros(HEADER),
        payload: Some(()),
    }
}

impl Air {
    /// `powers[from][to]`; zero is no link.
    fn new(reception: Threshold, powers: &[&[u64]]) -> Self {
        let links = powers.iter().map(|row| {
            let link = |(to, &power): (u32, &u64)| {
                let (delay, power) = (Duration::from_micros(DELAY), Power::from_attowatts(power));
                (power > Power::ZERO).then_some(Link {
                    receiver: StationId(to),
                    delay,
                    power,
                    decodable: ModulationClasses::ALL,
                })
            };
            (0..).zip(row.iter()).filter_map(link).collect()
        });
        Self {
            medium: Medium::new(links.collect(), Reception::Threshold(reception)),
            edges: BTreeMap::new(),
            busy: vec![false; powers.len()],
            transmitting: vec![false; powers.len()],
            notices: Vec::new(),
            frames: 0,
        }
    }

    /// Station 0 hears the others with these powers; no other station hears anything.
    fn heard_by_first(rules: Rules, powers: &[u64]) -> Self {
        Self::heard_by_first_under(reception(rules), powers)
    }

    fn heard_by_first_under(reception: Threshold, powers: &[u64]) -> Self {
        let rows: Vec<Vec<u64>> = core::iter::once(0).chain(powers.iter().copied()).map(|power| vec![power]).collect();
        Self::new(reception, &rows.iter().map(Vec::as_slice).collect::<Vec<_>>())
    }

    /// Station `from` sends during these microseconds, as received (so 1 µs earlier); returns the frame's number.
    fn sends(&mut self, from: u32, start: u64, end: u64) -> u32 {
        let number = self.frames;
        self.frames += 1;
        self.edges.insert((us(start - DELAY), Edge::Start(from, number, end - start)), None);
        number
    }

    /// Runs everything; returns what station 0 noticed.
    fn run(&mut self) -> Vec<(u64, Notice)> {
        while let Some(((now, edge), id)) = self.edges.pop_first() {
            self.step(now, edge, id);
        }
        self.notices.iter().filter(|(_, station, _)| *station == 0).map(|&(at, _, notice)| (at, notice)).collect()
    }

    fn step(&mut self, now: Instant, edge: Edge, id: Option<TransmissionId>) {
        match edge {
            Edge::Start(from, number, length) => {
                let launch = self.medium.transmit(&frame(from, length), Some(&number), None, now);
                self.transmitting[from as usize] = true;
                self.edges.insert((now + Duration::from_micros(length), Edge::End(from)), None);
                if let Some(launch) = launch {
                    self.enter_leading(launch.id, launch.leading);
                    self.enter_trailing(launch.id);
                }
            }
            Edge::End(from) => {
                self.transmitting[from as usize] = false;
                let busy = self.medium.handle_transmitted(StationId(from));
                self.turn(now, from, busy);
            }
            Edge::Leading(_) => {
                let id = id.expect("an edge belongs to a frame");
                let mut arrivals = Vec::new();
                let bound = now + Duration::from_nanos(1);
                let note = |receiver, at, onset| arrivals.push((receiver, at, onset));
                let next = self.medium.follow_leading(id, bound, note);
                assert!(!arrivals.is_empty(), "entered");
                for (receiver, at, onset) in arrivals {
                    assert_eq!(at, now);
                    match onset {
                        LeadingEdge::Unnoticed => {}
                        LeadingEdge::Busy => {
                            assert!(!self.busy[receiver.0 as usize], "told twice that the medium is busy");
                            self.turn(now, receiver.0, true);
                        }
                        LeadingEdge::Overcome => self.notices.push((micros(now), receiver.0, Overcame)),
                    }
                }
                if let Some(at) = next {
                    self.enter_leading(id, at);
                }
            }
            Edge::Trailing(_) => {
                let id = id.expect("an edge belongs to a frame");
                let (_, receiver) = self.next_trailing(id).expect("entered");
                let number = self.medium.transmission(id).packet.expect("numbered");
                let mut front = self.medium.trailing(id);
                let mut end = None;
                let _ = self.medium.follow_trailing(id, &mut front, Instant::MAX, |_, _, at, heard, _, carrier| {
                    assert_eq!(at, now);
                    end = Some((heard, carrier));
                    None
                });
                let (heard, carrier) = end.expect("the edge is on its way");
                self.medium.suspend(id, front);
                let notice = match heard {
                    ReceptionOutcome::Noise => None,
                    ReceptionOutcome::Error(header_end) => Some(Error(micros(header_end))),
                    ReceptionOutcome::Frame(header_end) => {
                        assert_eq!(
                            header_end + self.medium.transmission(id).frame.airtime,
                            now + Duration::from_micros(HEADER)
                        );
                        Some(Received(number))
                    }
                };
                self.notices.extend(notice.map(|notice| (micros(now), receiver.0, notice)));
                if carrier != Carrier::Unchanged {
                    let turns_busy = carrier == Carrier::Busy;
                    assert!(!self.transmitting[receiver.0 as usize], "an own frame keeps the medium busy");
                    assert_ne!(self.busy[receiver.0 as usize], turns_busy, "told twice how the medium is");
                    self.turn(now, receiver.0, turns_busy);
                }
                match self.next_trailing(id) {
                    Some(_) => self.enter_trailing(id),
                    None => self.medium.remove(id),
                }
            }
        }
    }

    fn next_trailing(&self, id: TransmissionId) -> Option<(Instant, StationId)> {
        let front = self.medium.trailing(id);
        let link = self.medium.paths.links[front.next as usize..front.end as usize].first()?;
        Some((front.leaves + link.delay, link.receiver))
    }

    fn enter_leading(&mut self, id: TransmissionId, at: Instant) {
        let number = self.medium.transmission(id).number;
        self.edges.insert((at, Edge::Leading(number)), Some(id));
    }

    fn enter_trailing(&mut self, id: TransmissionId) {
        let number = self.medium.transmission(id).number;
        if let Some((at, _)) = self.next_trailing(id) {
            self.edges.insert((at, Edge::Trailing(number)), Some(id));
        }
    }

    fn turn(&mut self, now: Instant, station: u32, busy: bool) {
        if core::mem::replace(&mut self.busy[station as usize], busy) != busy {
            self.notices.push((micros(now), station, if busy { Busy } else { Idle }));
        }
    }
}

/// A frame's number, and those that overlap it: power, start, end, all as station 0 receives them.
fn overlap(rules: Rules, signals: &[(u64, u64, u64)]) -> Vec<(u64, Notice)> {
    let powers: Vec<u64> = signals.iter().map(|&(power, ..)| power).collect();
    let mut air = Air::heard_by_first(rules, &powers);
    for (station, &(_, start, end)) in (1..).zip(signals) {
        air.sends(station, start, end);
    }
    air.run()
}

#[test]
fn thresholds_belong_to_what_lies_above_them() {
    for rules in [Rules::Cumulative, Rules::PairwiseFirstCome] {
        assert_eq!(overlap(rules, &[(100, 100, 600)]), [(100, Busy), (600, Received(0)), (600, Idle)]);
    }
    // Sensed but not decoded: energy; in ns-2 a frame in error.
    for power in [99, 10] {
        assert_eq!(overlap(Rules::Cumulative, &[(power, 100, 600)]), [(100, Busy), (600, Idle)]);
        let error = Error(100 + HEADER);
        let noticed = overlap(Rules::PairwiseFirstCome, &[(power, 100, 600)]);
        assert_eq!(noticed, [(100, Busy), (600, error), (600, Idle)]);
    }
    assert_eq!(overlap(Rules::Cumulative, &[(9, 100, 600)]), []);
}

/// A frame whose modulation a station does not understand is energy; to ns-2, which knows no such station, an error.
#[test]
fn what_is_not_understood_is_not_received() {
    for (rules, expected) in [
        (Rules::Cumulative, vec![(100, Busy), (600, Idle)]),
        (Rules::PairwiseFirstCome, vec![(100, Busy), (600, Error(100 + HEADER)), (600, Idle)]),
    ] {
        let mut air = Air::heard_by_first(rules, &[DECODED]);
        for link in &mut air.medium.paths.links {
            link.decodable = ModulationClasses::NONE;
        }
        air.sends(1, 100, 600);
        assert_eq!(air.run(), expected);
    }
}

/// Weak signals add up until the medium is busy; ns-2 looks at each by itself.
#[test]
fn energy_below_the_threshold_adds_up() {
    let three = [(4, 100, 600), (4, 200, 700), (2, 300, 500)];
    assert_eq!(overlap(Rules::Cumulative, &three), [(300, Busy), (500, Idle)]);
}

/// 1000 : 60 is enough, 1000 : 120 is not.
///
/// ```text
///  1000  ▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄
///    60            ▄▄▄▄▄▄▄▄▄▄▄
///    60                 ▄▄▄▄▄▄▄▄▄▄
///       100      400   500       1100
/// ```
#[test]
fn two_interferers_that_are_harmless_alone_destroy_together() {
    let (signal, first, second) = ((1_000, 100, 1_100), (60, 400, 700), (60, 500, 800));
    let received = [(100, Busy), (1_100, Received(0)), (1_100, Idle)];
    for alone in [first, second] {
        assert_eq!(overlap(Rules::Cumulative, &[signal, alone]), received);
    }
    let error = [(100, Busy), (1_100, Error(292)), (1_100, Idle)];
    assert_eq!(overlap(Rules::Cumulative, &[signal, first, second]), error);
    // One after the other they are harmless, even without a gap.
    assert_eq!(overlap(Rules::Cumulative, &[signal, first, (60, 700, 800)]), received);
    // Pairwise they always are.
    let noticed = overlap(Rules::PairwiseFirstCome, &[signal, first, second]);
    assert_eq!(noticed, [(100, Busy), (400, Overcame), (500, Overcame), (1_100, Received(0)), (1_100, Idle)]);
}

/// Ten times stronger is just enough.
#[test]
fn capture_needs_the_whole_ratio() {
    for rules in [Rules::Cumulative, Rules::PairwiseFirstCome] {
        for (weaker, received) in [(100, true), (101, false)] {
            let noticed = overlap(rules, &[(1_000, 100, 1_100), (weaker, 400, 700)]);
            assert_eq!(noticed.contains(&(1_100, Received(0))), received, "{rules:?}, {weaker}");
        }
    }
}

/// The stronger frame first: the weaker one is nothing but energy.
#[test]
fn the_stronger_frame_survives_when_it_comes_first() {
    for weaker_start in [100, 150, 292, 600] {
        let noticed = overlap(Rules::Cumulative, &[(2_000, 100, 1_100), (150, weaker_start, 1_300)]);
        assert_eq!(noticed, [(100, Busy), (1_100, Received(0)), (1_300, Idle)], "{weaker_start}");
    }
}

/// The stronger frame later: it takes the receiver over, in the header or the payload of the first. In ns-2 both are lost.
///
/// ```text
///   150  ▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄
///  2000       ▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄  received
/// ```
#[test]
fn the_stronger_frame_takes_over_when_it_comes_later() {
    for start in [101, 150, 292, 600] {
        let signals = [(150, 100, 1_100), (2_000, start, 1_300)];
        let noticed = overlap(Rules::Cumulative, &signals);
        assert_eq!(noticed, [(100, Busy), (1_300, Received(1)), (1_300, Idle)], "{start}");
        let noticed = overlap(Rules::PairwiseFirstCome, &signals);
        assert_eq!(noticed, [(100, Busy), (1_300, Error(start + HEADER)), (1_300, Idle)], "{start}");
    }
    // The first outlasts the one that took over: energy.
    let noticed = overlap(Rules::Cumulative, &[(150, 100, 1_100), (2_000, 200, 700)]);
    assert_eq!(noticed, [(100, Busy), (700, Received(1)), (1_100, Idle)]);
}

/// A frame that is too weak to decode can't be captured, however weak the rest.
#[test]
fn only_a_decodable_frame_takes_over() {
    assert_eq!(overlap(Rules::Cumulative, &[(99, 100, 600), (9, 50, 700)]), [(100, Busy), (600, Idle)]);
}

/// A frame lost before its header ended was never reported: no error. From the end of the header on there is one.
#[test]
fn damage_in_the_header_is_no_error() {
    for (start, error) in [(100, false), (101, false), (291, false), (292, true), (1_099, true)] {
        let noticed = overlap(Rules::Cumulative, &[(500, 100, 1_100), (400, start, 1_090.max(start + 1))]);
        let expected: &[_] = match error {
            true => &[(100, Busy), (1_100, Error(292)), (1_100, Idle)],
            false => &[(100, Busy), (1_100, Idle)],
        };
        assert_eq!(noticed, expected, "interference at {start}");
    }
    // In ns-2 it is one.
    let noticed = overlap(Rules::PairwiseFirstCome, &[(500, 100, 1_100), (400, 101, 1_000)]);
    assert_eq!(noticed, [(100, Busy), (1_100, Error(292)), (1_100, Idle)]);
}

/// A frame that begins as another ends does not overlap it.
#[test]
fn adjacent_frames_do_not_overlap() {
    for rules in [Rules::Cumulative, Rules::PairwiseFirstCome] {
        let noticed = overlap(rules, &[(500, 100, 600), (500, 600, 1_100)]);
        let expected = [(100, Busy), (600, Received(0)), (600, Idle), (600, Busy), (1_100, Received(1)), (1_100, Idle)];
        assert_eq!(noticed, expected, "{rules:?}");
    }
}

/// What began in another's shadow is not picked up in its middle.
#[test]
fn a_frame_is_not_entered_in_its_middle() {
    let noticed = overlap(Rules::Cumulative, &[(6_000, 100, 600), (500, 300, 1_300), (500, 1_000, 1_500)]);
    assert_eq!(noticed, [(100, Busy), (600, Received(0)), (1_500, Idle)]);
}

/// A range has no power: any overlap within carrier sense destroys, in whatever order; one unit is sensed, two decoded.
#[test]
fn a_range_knows_no_capture() {
    let overlap = |signals: &[(u64, u64, u64)]| {
        let powers: Vec<u64> = signals.iter().map(|&(power, ..)| power).collect();
        let reception = Threshold {
            carrier_sense_threshold: Power::from_attowatts(1),
            capture: PowerRatio::from_ratio(f64::INFINITY),
            rules: Rules::Cumulative,
            receive_thresholds: vec![(MBPS_1, Power::from_attowatts(2))],
        };
        let mut air = Air::heard_by_first_under(reception, &powers);
        for (station, &(_, start, end)) in (1..).zip(signals) {
            air.sends(station, start, end);
        }
        air.run()
    };
    assert_eq!(overlap(&[(2, 100, 600)]), [(100, Busy), (600, Received(0)), (600, Idle)]);
    assert_eq!(overlap(&[(1, 100, 600)]), [(100, Busy), (600, Idle)]);
    assert_eq!(overlap(&[(2, 100, 600), (1, 599, 700)]), [(100, Busy), (600, Error(292)), (700, Idle)]);
    assert_eq!(overlap(&[(1, 100, 301), (2, 300, 800)]), [(100, Busy), (800, Idle)]);
    assert_eq!(overlap(&[(2, 100, 600), (2, 100, 600)]), [(100, Busy), (600, Idle)]);
    let adjacent = overlap(&[(1, 100, 300), (2, 300, 800), (1, 800, 900)]);
    assert_eq!(adjacent.iter().filter(|(_, notice)| *notice == Received(1)).count(), 1);
}

/// A station that sends hears nothing of a frame that overlaps its own, first or last.
#[test]
fn a_station_does_not_hear_while_it_sends() {
    // Its own frame on the air until 499.
    for (start, end, noticed) in [
        // Began before, ends within: lost.
        (50, 300, vec![(50, Busy), (499, Idle)]),
        // Began before, ends after: its rest is energy.
        (50, 900, vec![(50, Busy), (900, Idle)]),
        // Began within.
        (200, 900, vec![(499, Busy), (900, Idle)]),
        (200, 400, vec![]),
        // Began as it ended.
        (499, 900, vec![(499, Busy), (900, Received(1)), (900, Idle)]),
        // Ended as it began.
        (20, 99, vec![(20, Busy), (99, Received(1)), (99, Idle)]),
    ] {
        let mut air = Air::new(reception(Rules::Cumulative), &[&[0, 0], &[500, 0]]);
        air.sends(0, 100, 500);
        air.sends(1, start, end);
        assert_eq!(air.run(), noticed, "{start} to {end}");
    }
}

/// In ns-2 a frame that begins during an own one is a frame in error, and one that ends during an own one is nothing.
#[test]
fn pairwise_a_frame_that_overlaps_an_own_one_is_lost() {
    for (start, end, noticed) in [
        (200, 900, vec![(499, Busy), (900, Error(392)), (900, Idle)]),
        (50, 900, vec![(50, Busy), (900, Error(242)), (900, Idle)]),
        (200, 400, vec![]),
        (50, 400, vec![(50, Busy), (499, Idle)]),
    ] {
        let mut air = Air::new(reception(Rules::PairwiseFirstCome), &[&[0, 0], &[500, 0]]);
        air.sends(0, 100, 500);
        air.sends(1, start, end);
        assert_eq!(air.run(), noticed, "{start} to {end}");
    }
}

/// ns-2: a receiver receives the first frame, or none.
///
/// ```text
///    50  ▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄        too weak to decode
///  9000       ▄▄▄▄▄▄▄           lost all the same
/// ```
#[test]
fn pairwise_the_first_frame_holds_the_receiver() {
    let noticed = overlap(Rules::PairwiseFirstCome, &[(50, 100, 1_100), (9_000, 300, 800)]);
    assert_eq!(noticed, [(100, Busy), (1_100, Error(292)), (1_100, Idle)]);
    // A collision lasts until the last frame in it has ended, and whatever comes meanwhile is lost in it.
    let noticed = overlap(Rules::PairwiseFirstCome, &[(500, 100, 600), (500, 300, 900), (500, 700, 1_400)]);
    assert_eq!(noticed, [(100, Busy), (1_400, Error(892)), (1_400, Idle)]);
    // What was overcome by capture is forgotten once the first frame has ended: the next one is received beside it.
    let noticed = overlap(Rules::PairwiseFirstCome, &[(2_000, 100, 600), (200, 300, 900), (200, 700, 1_400)]);
    assert_eq!(noticed, [(100, Busy), (300, Overcame), (600, Received(0)), (1_400, Received(2)), (1_400, Idle)]);
}

/// ns-2 drops at once what is below carrier sense: it neither holds the receiver nor harms what it receives.
#[test]
fn pairwise_a_signal_below_carrier_sense_is_nothing() {
    let received = |number| [(200, Busy), (900, Received(number)), (900, Idle)];
    assert_eq!(overlap(Rules::PairwiseFirstCome, &[(9, 100, 1_100), (500, 200, 900)]), received(1));
    assert_eq!(overlap(Rules::PairwiseFirstCome, &[(80, 200, 900), (9, 300, 1_100)]).last(), Some(&(900, Idle)));
}

/// ns-2: a collision is as strong, and takes as long, as the one of its frames that ends last.
///
/// ```text
///    50  ▄▄▄▄
///  2000    ▄▄▄▄▄▄▄▄          the collision
///   100         ▄▄▄▄▄▄▄▄▄    overcome by it
///  2000               ▄▄▄    received
/// ```
#[test]
fn pairwise_a_collision_ends_with_its_last_frame() {
    let signals = [(50, 100, 400), (2_000, 200, 1_000), (100, 500, 1_400), (2_000, 1_100, 1_300)];
    let noticed = overlap(Rules::PairwiseFirstCome, &signals);
    let received = (1_300, Received(3));
    assert_eq!(noticed, [(100, Busy), (500, Overcame), (1_000, Error(392)), received, (1_400, Idle)]);
}

fn link(to: u32, nanos: u64) -> Link {
    let (delay, power) = (Duration::from_nanos(nanos), Power::from_attowatts(500));
    Link { receiver: StationId(to), delay, power, decodable: ModulationClasses::ALL }
}

/// Whom the leading edge of a transmission reaches before `bound`, and after how many nanoseconds since the start.
fn reached(medium: &mut Medium<u32>, id: TransmissionId, bound: Instant) -> Vec<(u32, u64)> {
    let mut order = Vec::new();
    let _ = medium.follow_leading(id, bound, |station, at, _| order.push((station.0, at.as_nanos())));
    order
}

/// The nearer station hears first; edges of one instant follow the order of the links.
#[test]
fn edges_travel_along_the_links() {
    let links = vec![vec![link(3, 700), link(1, 900), link(2, 700)], vec![], vec![], vec![]];
    let mut medium: Medium<u32> = Medium::new(links, Reception::Threshold(reception(Rules::Cumulative)));
    let launch = medium.transmit(&frame(0, 500), Some(&0), None, Instant::START).expect("heard");
    assert_eq!(launch.leading.as_nanos(), 700);
    assert_eq!(reached(&mut medium, launch.id, Instant::MAX), [(2, 700), (3, 700), (1, 900)]);
    assert!(medium.transmit(&frame(1, 500), Some(&1), None, Instant::START).is_none());
}

/// Station 0 is heard by as many others as milliseconds have passed, each a nanosecond farther away.
#[derive(Debug)]
struct Approaching;

impl Geometry for Approaching {
    fn links(&mut self, transmitter: StationId, now: Instant, links: &mut Vec<Link>) {
        assert!(links.is_empty());
        if transmitter == StationId(0) {
            let millis = now.as_nanos() / 1_000_000;
            links.extend((1..=millis).map(|to| link(to as u32, millis * 100 + to)));
        }
    }
}

/// What is on the air goes on along the links that it began with, whatever its station sends next.
#[test]
fn a_transmission_keeps_the_links_of_its_start() {
    let reception = Reception::Threshold(reception(Rules::Cumulative));
    let mut medium: Medium<u32> = Medium::moving(Box::new(Approaching), reception, 8);
    assert!(medium.transmit(&frame(0, 500), Some(&0), None, us(0)).is_none(), "nobody is near yet");
    assert!(medium.transmit(&frame(1, 500), Some(&0), None, us(3_000)).is_none());
    let early = medium.transmit(&frame(0, 500), Some(&1), None, us(3_000)).expect("heard").id;
    let between = us(3_000) + Duration::from_nanos(302);
    assert_eq!(reached(&mut medium, early, between), [(1, 3_000_301)]);
    let late = medium.transmit(&frame(0, 500), Some(&2), None, us(4_000)).expect("heard").id;
    assert_eq!(reached(&mut medium, early, Instant::MAX), [(2, 3_000_302), (3, 3_000_303)]);
    let all: Vec<(u32, u64)> = (1..=4).map(|to| (to, 4_000_400 + u64::from(to))).collect();
    assert_eq!(reached(&mut medium, late, Instant::MAX), all);
    for id in [early, late] {
        let mut front = medium.trailing(id);
        let (leaves, mut receivers) = (front.leaves, Vec::new());
        let passage = medium.follow_trailing(id, &mut front, Instant::MAX, |_, link, at, _, _, _| {
            assert_eq!(at, leaves + link.delay);
            receivers.push(link.receiver.0);
            Some(Instant::MAX)
        });
        assert_eq!(passage, EdgeProgress::Over);
        assert_eq!(receivers, (1..=receivers.len() as u32).collect::<Vec<_>>());
        medium.remove(id);
    }
}

/// The places of links are used again.
#[test]
fn links_of_the_past_leave_nothing_behind() {
    let reception = Reception::Threshold(reception(Rules::Cumulative));
    let mut medium: Medium<u32> = Medium::moving(Box::new(Approaching), reception, 8);
    for round in 0..100 {
        let now = us(5_000 + round % 3_000);
        let id = medium.transmit(&frame(0, 500), Some(&0), None, now).expect("heard").id;
        assert_eq!(reached(&mut medium, id, Instant::MAX).len(), 5);
        medium.remove(id);
        // Five links take eight places.
        assert_eq!(medium.paths.links.len(), 8, "round {round}");
    }
}

/// A slot that has become free is used again, and numbers go on.
#[test]
fn transmissions_are_numbered_in_their_order() {
    let mut air = Air::heard_by_first(Rules::Cumulative, &[500, 500]);
    for start in [100, 1_000, 2_000, 3_000] {
        air.sends(1, start, start + 500);
        air.sends(2, start + 400, start + 700);
    }
    air.run();
    assert_eq!(air.medium.totals().frames_sent, 8);
    assert_eq!(air.medium.on_air().count(), 0);
    assert!(air.medium.transmissions.len() <= 2, "two at most were on the air at once");
}

/// What the receiver reports as started, at each instant around the end of the header.
#[test]
fn a_frame_has_started_when_its_header_has_ended() {
    let mut air = Air::heard_by_first(Rules::Cumulative, &[500]);
    air.sends(1, 100, 600);
    let mut started = BTreeMap::new();
    while let Some(((now, edge), id)) = air.edges.pop_first() {
        air.step(now, edge, id);
        if matches!(edge, Edge::Leading(_)) {
            for at in [100, 291, 292, 500] {
                started.insert(at, air.medium.receiving(StationId(0), us(at)));
            }
        }
    }
    assert_eq!(started.into_values().collect::<Vec<_>>(), [false, false, true, true]);
    assert!(!air.medium.receiving(StationId(0), us(600)));
}

const STATIONS: usize = 4;

/// Who sends, when, for how long.
fn transmissions() -> impl Strategy<Value = Vec<(u32, u64, u64)>> {
    let one = (0..STATIONS as u32, 10_u64..3_000, 1_u64..800);
    prop::collection::vec(one, 1..25).prop_map(|mut all| {
        // Nobody sends two at once.
        all.sort_unstable_by_key(|&(station, start, _)| (station, start));
        let mut kept: Vec<(u32, u64, u64)> = Vec::new();
        for (station, start, length) in all {
            if kept.last().is_none_or(|&(last, _, end)| last != station || end < start) {
                kept.push((station, start, start + length));
            }
        }
        kept
    })
}

/// Powers between all stations, around all limits.
fn powers() -> impl Strategy<Value = Vec<Vec<u64>>> {
    let power =
        prop_oneof![Just(0_u64), Just(9), Just(10), Just(99), Just(100), 1_u64..60, 100_u64..3_000, Just(1_000)];
    prop::collection::vec(prop::collection::vec(power, STATIONS), STATIONS).prop_map(|mut rows| {
        for (station, row) in rows.iter_mut().enumerate() {
            row[station] = 0;
        }
        rows
    })
}

fn run_random(rules: Rules, capture: PowerRatio, powers: &[Vec<u64>], sent: &[(u32, u64, u64)]) -> Air {
    let rows: Vec<&[u64]> = powers.iter().map(Vec::as_slice).collect();
    let mut air = Air::new(Threshold { capture, ..reception(rules) }, &rows);
    for &(station, start, end) in sent {
        air.sends(station, start, end);
    }
    air.run();
    air
}

fn overlaps(a: (u64, u64), b: (u64, u64)) -> bool {
    a.0 < b.1 && b.0 < a.1
}

/// By the definition: strong enough alone, against the sum of the others at every instant, and not while sending.
/// Times as received.
fn is_received(powers: &[Vec<u64>], sent: &[(u32, u64, u64)], number: usize, at: usize) -> bool {
    let (from, start, end) = sent[number];
    let power = powers[from as usize][at];
    let heard = |&&(other, other_start, other_end): &&(u32, u64, u64)| {
        powers[other as usize][at] > 0 && overlaps((start, end), (other_start, other_end))
    };
    let others = || sent.iter().enumerate().filter(|(other, _)| *other != number).map(|(_, other)| other).filter(heard);
    // The sum changes only where one of them starts.
    let instants = others().map(|&(_, other_start, _)| other_start.max(start)).chain([start]);
    let survives = |instant: u64| {
        let present = others().filter(|&&(_, other_start, other_end)| other_start <= instant && instant < other_end);
        let sum: u64 = present.map(|&(other, ..)| powers[other as usize][at]).sum();
        power as f64 >= CAPTURE * sum as f64
    };
    // Own frames are on the air 1 µs before others would receive them.
    let deaf = sent.iter().any(|&(station, own_start, own_end)| {
        station as usize == at && overlaps((start, end), (own_start - DELAY, own_end - DELAY))
    });
    power >= DECODED && !deaf && instants.into_iter().all(survives)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// Summed interference, capture whenever the frame came: exactly those frames are received that the definition names.
    #[test]
    fn cumulative_reception_is_what_its_definition_says(powers in powers(), sent in transmissions()) {
        let air = run_random(Rules::Cumulative, PowerRatio::from_ratio(CAPTURE), &powers, &sent);
        let mut received = Vec::new();
        let mut decodable = 0;
        for number in 0..sent.len() {
            for at in 0..STATIONS {
                decodable += u64::from(powers[sent[number].0 as usize][at] >= DECODED);
                if is_received(&powers, &sent, number, at) {
                    received.push((sent[number].2, at as u32, number as u32));
                }
            }
        }
        let mut noticed: Vec<_> = air
            .notices
            .iter()
            .filter_map(|&(end, at, notice)| if let Received(number) = notice { Some((end, at, number)) } else { None })
            .collect();
        received.sort_unstable();
        noticed.sort_unstable();
        prop_assert_eq!(noticed.len() as u64 + air.medium.totals().collisions, decodable, "received or collided");
        prop_assert_eq!(noticed, received);
    }

    /// Whatever was on the air, nothing of it stays: a frame that no interference may overlap is received afterwards.
    #[test]
    fn energy_returns_to_exactly_zero(powers in powers(), mut sent in transmissions(), pairwise in any::<bool>()) {
        let rules = if pairwise { Rules::PairwiseFirstCome } else { Rules::Cumulative };
        let mut rows = powers;
        rows.iter_mut().for_each(|row| row.push(0));
        // One more station, which all hear.
        rows.push(vec![500, 500, 500, 500, 0]);
        sent.push((STATIONS as u32, 10_000, 10_500));
        let air = run_random(rules, PowerRatio::from_ratio(f64::INFINITY), &rows, &sent);
        let last = (sent.len() - 1) as u32;
        let heard = air.notices.iter().filter(|(_, _, notice)| *notice == Received(last)).count();
        prop_assert_eq!(heard, STATIONS);
        prop_assert!(air.busy.iter().all(|busy| !busy));
    }

    /// Carrier sense follows the energy (in ns-2: the signals that are sensed by themselves), and the totals count it.
    #[test]
    fn carrier_sense_follows_what_is_there(powers in powers(), sent in transmissions(), pairwise in any::<bool>()) {
        let rules = if pairwise { Rules::PairwiseFirstCome } else { Rules::Cumulative };
        let air = run_random(rules, PowerRatio::from_ratio(CAPTURE), &powers, &sent);
        for station in 0..STATIONS as u32 {
            let at = station as usize;
            let present = |instant: u64| {
                let heard = sent.iter().filter(move |&&(_, start, end)| start <= instant && instant < end);
                heard.map(|&(from, ..)| powers[from as usize][at])
            };
            let is_busy = |instant| match rules {
                Rules::Cumulative => present(instant).sum::<u64>() >= SENSED,
                Rules::PairwiseFirstCome => present(instant).any(|power| power >= SENSED),
            };
            let sends = |instant: u64| {
                sent.iter().any(|&(from, start, end)| from as usize == at && overlaps((start - 1, end - 1), (instant, instant + 1)))
            };
            // The state that the notices leave after each microsecond in which something may change.
            let mut noticed = air.notices.iter().filter(|notice| notice.1 == station).peekable();
            let mut busy = false;
            let instants: std::collections::BTreeSet<u64> =
                sent.iter().flat_map(|&(_, start, end)| [start - 1, start, end - 1, end]).collect();
            for instant in instants {
                while let Some(&(_, _, notice)) = noticed.next_if(|&&(when, ..)| when <= instant) {
                    busy = match notice { Busy => true, Idle => false, _ => busy };
                }
                if !sends(instant) {
                    prop_assert_eq!(busy, is_busy(instant), "station {} at {}", at, instant);
                }
            }
        }
        let sensed = |&(from, ..): &(u32, u64, u64)| powers[from as usize].iter().filter(|&&power| power >= SENSED).count();
        prop_assert_eq!(air.medium.totals().receptions, sent.iter().map(sensed).sum::<usize>() as u64);
        prop_assert_eq!(air.medium.totals().frames_sent, sent.len() as u64);
    }
}

/// What stations of several standards make of each other's frames.
mod standards {
    use super::*;
    use crate::phy::{Band, ChannelWidth, Shape};
    use crate::reception::{Mode, Sinr};
    use crate::units::Decibel;

    const MBPS_6: TxVector = TxVector::new(Standard::Ofdm, 0);
    const AIRTIME: u64 = 228;

    fn ht() -> TxVector {
        Shape::of(Standard::Ht).vector(Standard::Ht, 7).expect("a scheme of HT")
    }

    fn by_threshold(vector: TxVector) -> Reception {
        let receive_thresholds = vec![(vector, Power::from_attowatts(DECODED))];
        Reception::Threshold(Threshold { receive_thresholds, ..reception(Rules::Cumulative) })
    }

    fn by_ratio(vector: TxVector) -> Reception {
        Reception::Sinr(Sinr {
            carrier_sense_threshold: Power::from_dbm(-82.0),
            receive_threshold: Power::ZERO,
            capture: Decibel(10.0).into(),
            modes: [vector, MBPS_6].map(|vector| Mode::new(vector, 7.0, None)).into(),
            seed: 1,
        })
    }

    /// What a receiver notices of a frame with this power: whether the medium turns busy, its outcome, and the power.
    fn heard(by: Capability, vector: TxVector, reception: Reception, power: Power) -> (bool, ReceptionOutcome, Power) {
        let (receiver, decodable) = (StationId(1), ModulationClasses::ALL);
        let link = Link { receiver, delay: Duration::from_micros(DELAY), power, decodable };
        let mut medium: Medium<u32> = Medium::new(vec![vec![link], Vec::new()], reception);
        medium.set_capabilities(vec![by; 2], true);
        let header = Header { vector, header: vector.header_duration(), ..frame(0, AIRTIME) };
        let started = medium.transmit(&header, None, None, us(0)).expect("there is a receiver");
        let mut edges = Vec::new();
        assert_eq!(medium.follow_leading(started.id, us(10_000), |_, _, edge| edges.push(edge)), None);
        let recorded = medium.passed_links(started.id, 0).next().expect("it has arrived").power;
        let (mut front, mut outcome) = (medium.trailing(started.id), None);
        let progress = medium.follow_trailing(started.id, &mut front, us(10_000), |_, link, at, heard, _, _| {
            assert_eq!(at, us(AIRTIME + DELAY), "the length in the legacy preamble is that of the frame");
            outcome = Some((heard, link.power));
            Some(us(10_000))
        });
        assert_eq!(progress, EdgeProgress::Over);
        let (heard, power) = outcome.expect("the frame ends");
        assert_eq!(recorded, power);
        assert_eq!(medium.totals().collisions, 0);
        (edges == [LeadingEdge::Busy], heard, power)
    }

    /// L-SIG ends 20 µs after the start, the header of HT after 36 µs.
    #[test]
    fn an_older_station_reads_the_legacy_preamble_alone() {
        let of = |standard| Capability::new(standard, None, false);
        let strong = Power::from_dbm(-50.0);
        for model in [by_threshold as fn(TxVector) -> Reception, by_ratio] {
            let by = |standard| heard(of(standard), ht(), model(ht()), strong);
            assert_eq!(by(Standard::Ofdm), (true, ReceptionOutcome::Error(us(20 + DELAY)), strong));
            assert_eq!(by(Standard::Ht), (true, ReceptionOutcome::Frame(us(36 + DELAY)), strong));
            assert_eq!(by(Standard::He), (true, ReceptionOutcome::Frame(us(36 + DELAY)), strong));
        }
    }

    #[test]
    fn a_station_of_80211b_senses_ofdm_by_its_energy() {
        let shape = Shape { band: Band::Low, ..Shape::of(Standard::Ht) };
        let vector = shape.vector(Standard::Ht, 7).expect("a scheme of HT");
        let by = |decibels| {
            heard(Capability::new(Standard::HrDsss, None, false), vector, by_ratio(vector), Power::from_dbm(decibels))
        };
        assert_eq!(by(-81.0), (true, ReceptionOutcome::Noise, Power::from_dbm(-81.0)));
        assert_eq!(by(-83.0), (false, ReceptionOutcome::Noise, Power::from_dbm(-83.0)));
    }

    /// A quarter of the power of 80 MHz is in the channel of 20 MHz, where the preamble is found against the noise of 20 MHz.
    #[test]
    fn a_narrow_station_gets_its_share_of_a_wide_frame() {
        let shape = Shape { width: ChannelWidth::Mhz80, ..Shape::of(Standard::Vht) };
        let vector = shape.vector(Standard::Vht, 0).expect("a scheme of VHT");
        let a = Capability::new(Standard::Ofdm, None, false);
        let power = Power::from_dbm(-70.0);
        let quarter = power.scaled(0.25);
        assert_eq!(heard(a, vector, by_ratio(vector), power), (true, ReceptionOutcome::Error(us(20 + DELAY)), quarter));
        let wide = Capability::new(Standard::Vht, Some(shape), false);
        let header = us(DELAY) + vector.header_duration();
        assert_eq!(heard(wide, vector, by_ratio(vector), power), (true, ReceptionOutcome::Frame(header), power));
        // Thermal noise of 20 MHz is -101 dBm, a noise figure 7 dB, a preamble needs 4 dB: -90 dBm, of which a quarter is left.
        let weak = |decibels| heard(a, vector, by_ratio(vector), Power::from_dbm(decibels)).1;
        assert_eq!(weak(-83.5), ReceptionOutcome::Error(us(20 + DELAY)));
        assert_eq!(weak(-85.5), ReceptionOutcome::Noise);
    }

    const MPDUS: usize = 16;

    /// Twenty frames of sixteen MPDUs: what the station that they are for (1) and another one (2) make of each.
    fn aggregates(are_overheard: bool) -> Vec<[(ReceptionOutcome, Vec<usize>); 2]> {
        let vector = Shape::of(Standard::Vht).vector(Standard::Vht, 7).expect("a scheme of VHT");
        // Many MPDUs are lost, and many are not.
        let power = Power::from_dbm(-75.5);
        let to = |station| Link { power, ..link(station, 100) };
        let mut medium: Medium<u32> = Medium::new(vec![vec![to(1), to(2)], Vec::new(), Vec::new()], by_ratio(vector));
        medium.set_mpdus_overheard(are_overheard);
        let mpdu = |sequence| Mpdu { sequence, retry: false, octets: 1_500, packet: 0, more: Box::default() };
        let body = Rc::new(Body::Mpdus((0..MPDUS as u32).map(mpdu).collect()));
        let octets = (0..MPDUS).fold(0, |before, _| with_subframe(before, 1_500));
        let airtime = vector.airtime(octets);
        let header = Header {
            vector,
            header: vector.header_duration(),
            octets,
            airtime,
            receiver: Some(StationId(1)),
            ..frame(0, 1)
        };
        let mut all = Vec::new();
        for turn in 0..20 {
            let started = medium.transmit(&header, None, Some(&body), us(turn * 10_000)).expect("there are receivers");
            assert_eq!(medium.follow_leading(started.id, Instant::MAX, |_, _, _| {}), None);
            let (mut front, mut heard) = (medium.trailing(started.id), Vec::new());
            let progress =
                medium.follow_trailing(started.id, &mut front, Instant::MAX, |_, _, _, outcome, received, _| {
                    heard.push((outcome, (0..MPDUS).filter(|&place| received.has(place)).collect()));
                    Some(Instant::MAX)
                });
            assert_eq!(progress, EdgeProgress::Over);
            medium.remove(started.id);
            all.push(heard.try_into().expect("there are two receivers"));
        }
        all
    }

    #[test]
    fn of_a_frame_for_another_station_one_mpdu_is_enough_unless_it_is_overheard() {
        let (all, needed) = (aggregates(true), aggregates(false));
        let lost: usize = all.iter().flatten().map(|(_, received)| MPDUS - received.len()).sum();
        assert!((100..540).contains(&lost), "{lost} of 640 were lost, so that both cases occur");
        for ([its, others], [needed_its, needed_others]) in all.into_iter().zip(needed) {
            assert_eq!(its, needed_its);
            assert_eq!(others.0, needed_others.0, "whether the frame was received");
            assert_eq!(needed_others.1, others.1.get(..1).unwrap_or_default());
        }
    }
}
