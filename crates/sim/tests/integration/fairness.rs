//! No station has an advantage from its place in the file, or from a lead of nanoseconds.

use std::fmt::Write as _;

use hopcast_radio::phy::Standard;
use hopcast_sim::run::Simulation;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::scenarios::scenario;

/// What is added to the table `radio`.
const RECEPTIONS: [&str; 4] = [
    r#", reception = "sinr""#,
    r#", reception = "threshold""#,
    r#", propagation = { model = "range", receive = "100 m", carrier_sense = "200 m" }"#,
    r#", profile = "ns-2""#,
];

/// Stations on a circle around one receiver, which always have a datagram for it.
#[derive(Clone, Debug)]
struct Cell {
    radio: String,
    /// Angles of the stations in degrees, in the order of the file.
    angles: Vec<f64>,
    /// Metres from the receiver to each of them.
    radii: Vec<f64>,
    seconds: f64,
}

impl Cell {
    /// Bytes that arrive from each station, in the order of the file.
    fn received(&self, seed: u64) -> Vec<f64> {
        let mut text = format!("duration = {}\nradio = {{ {} }}\n", self.seconds, self.radio);
        let mut nodes = String::new();
        let mut flows = String::new();
        let mut node = |name: &str, x: f64, y: f64| {
            let placement = format!("{{ shape = \"points\", at = [[{x:.9}, {y:.9}]] }}");
            writeln!(nodes, "[[nodes]]\nname = \"{name}\"\nplacement = {placement}").expect("a string takes all");
        };
        node("sink", 0.0, 0.0);
        for (place, (angle, radius)) in self.angles.iter().zip(&self.radii).enumerate() {
            let (sin, cos) = libm::sincos(angle.to_radians());
            let name = format!("n{place}");
            node(&name, radius * cos, radius * sin);
            let rest = "transport = { protocol = \"udp\" }\napplication = { kind = \"bulk\", packet = \"500 B\" }";
            writeln!(flows, "[[flows]]\nname = \"f{place}\"\nfrom = \"{name}\"\nto = \"sink\"\n{rest}")
                .expect("a string takes all");
        }
        text.push_str(&nodes);
        text.push_str(&flows);
        let mut simulation = Simulation::new(&scenario(&text), seed).expect("all hear the sink");
        simulation.run_until(simulation.end());
        simulation.flows().iter().map(|flow| flow.summary(simulation.end()).received_bytes as f64).collect()
    }

    /// How much more than the mean the first half of the stations in the file gets, over these seeds: the mean, and its standard
    /// error.
    fn lead_of_first_half(&self, seeds: std::ops::Range<u64>) -> (f64, f64) {
        let leads: Vec<f64> = seeds
            .map(|seed| {
                let received = self.received(seed);
                let half = received.len() / 2;
                let [first, last] =
                    [&received[..half], &received[received.len() - half..]].map(|part| part.iter().sum::<f64>());
                (first - last) / (first + last)
            })
            .collect();
        let count = leads.len() as f64;
        let mean = leads.iter().sum::<f64>() / count;
        let squares: f64 = leads.iter().map(|lead| (lead - mean) * (lead - mean)).sum();
        (mean, (squares / (count - 1.0) / count).sqrt())
    }
}

/// `stations` in this order: 0 as they stand on the circle, 1 backwards, 2 shuffled.
fn angles(stations: usize, order: usize) -> Vec<f64> {
    let place = |index: usize| match order {
        0 => index,
        1 => stations - 1 - index,
        // 7 has no factor in common with any count up to 20 but 7 and 14, where 11 has none.
        _ => (index * if stations.is_multiple_of(7) { 11 } else { 7 }) % stations,
    };
    (0..stations).map(|index| 360.0 * place(index) as f64 / stations as f64).collect()
}

/// No place in the file has a lead that five standard errors do not cover. At 802.11's defaults a receiver that took the first of
/// equal preambles gave ten stations a lead of 0.22 ± 0.02.
fn check(standard: &str, reception: &str, stations: usize, order: usize, seconds: f64, seeds: u64) {
    let radio = format!("standard = \"{standard}\"{reception}");
    let cell = Cell { radio, angles: angles(stations, order), radii: vec![10.0; stations], seconds };
    let (lead, error) = cell.lead_of_first_half(1..seeds + 1);
    assert!(lead.abs() < 5.0 * error, "{lead:.3} ± {error:.3}: {cell:?}");
}

/// 802.11's robust rates, whose bits survive an interferer of equal power, and each other kind of reception and standard once.
#[test]
fn no_station_gains_by_its_place_in_the_file() {
    for order in 0..3 {
        check("802.11", RECEPTIONS[0], 10, order, 2.0, 12);
    }
    for (standard, reception) in
        [("802.11a", 0), ("802.11g", 0), ("wavelan", 0), ("802.11", 1), ("802.11", 2), ("802.11", 3)]
    {
        check(standard, RECEPTIONS[reception], 6, 0, 1.0, 8);
    }
}

#[test]
#[ignore = "slow"]
fn no_station_gains_by_its_place_in_the_file_under_any_standard_and_reception() {
    for standard in Standard::ALL {
        for reception in RECEPTIONS {
            for stations in [3, 4, 6, 10, 20] {
                for order in 0..3 {
                    check(standard.name(), reception, stations, order, 4.0, 20);
                }
            }
        }
    }
}

/// One station is a metre nearer or farther, so that its frames come 3 ns earlier or later and 0.9 dB stronger or weaker: what arrives
/// from whom stays the same to the byte. At 11 Mb/s the decibel itself changes results, see [`a_metre_wins_nothing`].
#[test]
fn a_lead_of_nanoseconds_wins_nothing() {
    for standard in ["802.11", "802.11a", "802.11g"] {
        for stations in [3, 6] {
            let radio = format!("standard = \"{standard}\"");
            let radii = vec![10.0; stations];
            let equal = Cell { radio, angles: angles(stations, 0), radii, seconds: 0.5 };
            let expected = equal.received(1);
            for station in 0..stations {
                for radius in [9.0, 11.0] {
                    let mut cell = equal.clone();
                    cell.radii[station] = radius;
                    assert_eq!(cell.received(1), expected, "{cell:?}");
                }
            }
        }
    }
}

/// Half of the stations are a metre nearer, which gains them nothing, whatever the order of the file.
#[test]
fn a_metre_wins_nothing() {
    let mut runner = TestRunner::new(Config { cases: 6, failure_persistence: None, ..Config::default() });
    let radios = [
        r#"standard = "802.11""#,
        r#"standard = "802.11b""#,
        r#"standard = "802.11b", data_rate = "2 Mb/s""#,
        r#"standard = "802.11g", data_rate = "2 Mb/s""#,
    ];
    let vocabulary = (3_usize..10, 0_usize..3, prop::sample::select(radios.to_vec()));
    runner
        .run(&vocabulary, |(stations, order, radio)| {
            let mut radii = vec![10.0; stations];
            radii[..stations / 2].fill(9.0);
            let radio = radio.to_owned();
            let cell = Cell { radio, angles: angles(stations, order), radii, seconds: 2.0 };
            let (lead, error) = cell.lead_of_first_half(1..9);
            prop_assert!(lead.abs() < 5.0 * error, "{lead:.3} ± {error:.3}: {cell:?}");
            Ok(())
        })
        .unwrap_or_else(|failure| panic!("{failure}"));
}
