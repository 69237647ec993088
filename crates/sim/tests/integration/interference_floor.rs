//! Transmissions that the interference floor leaves out, and the effect on goodput: the table in
//! `docs/models/reception.md`.

use std::fmt::Write as _;

use hopcast_sim::run::Simulation;

use crate::scenarios::scenario;

/// Seeds of a sample.
const SEEDS: u64 = 8;
/// Half the width of a 95 % interval in standard errors of a difference of two means: Student's t for 14 degrees of freedom.
const STUDENT: f64 = 2.145;

/// A hundred nodes, 200 m apart; every other one always has a datagram for its neighbour in the row. What a busy network
/// leaves out is then at its worst: all of the air is in use all the time.
fn busy_grid(floor: Option<&str>) -> String {
    let floor = floor.map_or(String::new(), |floor| format!("interference_floor = \"{floor}\""));
    let mut text = format!(
        r#"
duration = "4 s"
[radio]
standard = "802.11"
data_rate = "2 Mb/s"
basic_rate = "1 Mb/s"
rts_threshold = "off"
reception = "threshold"
tx_power = "24.5 dBm"
receive_threshold = "-64.37 dBm"
carrier_sense_threshold = "-78.07 dBm"
{floor}
propagation = {{ model = "two-ray-ground", frequency = "914 MHz", antenna_height = "1.5 m" }}
[[nodes]]
name = "n"
count = 100
placement = {{ shape = "grid", columns = 10, spacing = "200 m" }}
"#
    );
    for from in (0..100).step_by(2) {
        let to = from + 1;
        write!(
            text,
            r#"
[[flows]]
name = "f{from}"
from = "n{from}"
to = "n{to}"
transport = {{ protocol = "udp" }}
application = {{ kind = "bulk", packet = "1000 B" }}
"#
        )
        .expect("a string can always be written to");
    }
    text
}

/// Mean and variance of the goodput of all flows together, over the seeds, in bit/s.
fn goodput(floor: Option<&str>) -> (f64, f64) {
    let scenario = scenario(&busy_grid(floor));
    let samples: Vec<f64> = (1..=SEEDS)
        .map(|seed| {
            let mut simulation = Simulation::new(&scenario, seed).expect("neighbours hear each other");
            simulation.run_until(simulation.end());
            simulation.flows().iter().map(|flow| flow.summary(simulation.end()).goodput_bps).sum()
        })
        .collect();
    let mean = samples.iter().sum::<f64>() / SEEDS as f64;
    let squares: f64 = samples.iter().map(|sample| (sample - mean) * (sample - mean)).sum();
    (mean, squares / (SEEDS - 1) as f64)
}

/// How much more than `reference` gets through, and half the width of the 95 % interval, in per cent of the reference.
fn bias(sample: (f64, f64), reference: (f64, f64)) -> (f64, f64) {
    let half_width = STUDENT * ((sample.1 + reference.1) / SEEDS as f64).sqrt();
    (100.0 * (sample.0 - reference.0) / reference.0, 100.0 * half_width / reference.0)
}

/// The default floor changes goodput by less than 2 % against one below which nothing is left out. A floor at the carrier
/// sense threshold, which leaves out much more, is what shows that this network can tell.
#[test]
#[expect(clippy::print_stdout, reason = "the table in the documentation comes from here")]
fn the_default_interference_floor_hardly_changes_goodput() {
    let all = goodput(Some("-150 dBm"));
    let (default, half_width) = bias(goodput(None), all);
    let (sensed_only, sensed_half_width) = bias(goodput(Some("-78.07 dBm")), all);
    println!("all: {:.3} Mb/s", all.0 * 1e-6);
    println!("default floor: {default:+.2} ± {half_width:.2} %");
    println!("floor at carrier sense: {sensed_only:+.2} ± {sensed_half_width:.2} %");
    assert!(half_width < 2.0, "± {half_width:.2} % shows nothing");
    assert!(default.abs() < 2.0, "the default floor changes goodput by {default:+.2} ± {half_width:.2} %");
    assert!(
        sensed_only.abs() > 2.0 + sensed_half_width,
        "a floor at carrier sense changes only {sensed_only:+.2} ± {sensed_half_width:.2} %"
    );
}
