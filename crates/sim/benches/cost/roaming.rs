//! Moving nodes at a constant density.

use core::fmt::Write as _;

use hopcast_protocols::time::Instant;
use hopcast_radio::propagation::Position;
use hopcast_sim::id::NodeId;
use hopcast_sim::layout;
use hopcast_sim::scenario::{Scenario, Source};

/// This number of nodes, one on 100 m by 100 m, at up to 5 m/s. One of eight sends eight packets a second to the node
/// that is nearest at the start. Receivers decode frames up to 250 m and sense them up to 550 m, which reaches about 90
/// others.
pub(crate) fn scenario(nodes: u32, seconds: u64, seed: u64) -> Scenario {
    let side = 100.0 * f64::from(nodes).sqrt();
    let mut text = format!(
        r#"
duration = "{seconds} s"
seed = {seed}
[radio]
standard = "802.11"
propagation = {{ model = "range", receive = "250 m", carrier_sense = "550 m" }}
[[nodes]]
name = "n"
count = {nodes}
placement = {{ shape = "uniform", width = {side}, height = {side} }}
mobility = {{ model = "random-waypoint", speed = ["0.5 m/s", "5 m/s"], pause = "0 s" }}
"#
    );
    let mut motion = layout::motion(&read(&text), seed);
    let places: Vec<Position> = (0..nodes).map(|node| motion.position(NodeId(node), Instant::START)).collect();
    for (from, &here) in places.iter().enumerate().step_by(8) {
        let others = places.iter().enumerate().filter(|(to, _)| *to != from);
        let nearest = others.min_by(|(_, one), (_, other)| here.distance(**one).total_cmp(&here.distance(**other)));
        let to = nearest.expect("there are several nodes").0;
        // Spread over the time between two packets, so that there is as much on the air at any instant.
        let start = 0.125 * from as f64 / f64::from(nodes);
        write!(
            text,
            r#"
[[flows]]
name = "f{from}"
from = "n{from}"
to = "n{to}"
start = {start}
transport = {{ protocol = "udp" }}
application = {{ kind = "cbr", rate = "6400 b/s", packet = "100 B" }}
"#
        )
        .expect("a string can always be written to");
    }
    read(&text)
}

fn read(text: &str) -> Scenario {
    let source = Source { text: text.into(), name: "roaming.toml".into(), ..Source::default() };
    Scenario::parse(&source, &[]).unwrap_or_else(|errors| panic!("{errors}")).scenario
}
