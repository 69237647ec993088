//! The measured scenarios, and their durations.

use core::ops::Sub;

use hopcast_sim::run::Simulation;
use hopcast_sim::scenario::Scenario;

use crate::clock::user_seconds;
use crate::{peers, roaming};

/// A scenario of `benches/peers` with its durations.
pub(crate) struct Workload {
    /// As `run.py` there names it.
    pub(crate) name: &'static str,
    /// Simulated seconds of the short run: the flows have started.
    pub(crate) warm: u64,
    /// Simulated seconds after it in which time is measured.
    pub(crate) timed: u64,
    /// Simulated seconds after it in which instructions are counted: their number varies far less than time does, and
    /// callgrind is some fifty times slower.
    pub(crate) counted: u64,
}

/// All scenarios.
pub(crate) const ALL: &[Workload] = &[
    Workload { name: "string", warm: 20, timed: 1_000, counted: 20 },
    Workload { name: "string-sinr", warm: 20, timed: 1_000, counted: 20 },
    Workload { name: "cell-20", warm: 2, timed: 20, counted: 1 },
    Workload { name: "cell-20-sinr", warm: 2, timed: 20, counted: 1 },
    Workload { name: "cell-50", warm: 2, timed: 10, counted: 1 },
    Workload { name: "grid", warm: 20, timed: 100, counted: 10 },
    Workload { name: "house", warm: 30, timed: 200, counted: 10 },
    Workload { name: "he-20", warm: 1, timed: 20, counted: 1 },
    Workload { name: "vht-string", warm: 2, timed: 100, counted: 4 },
];

/// Nodes that move, few and many.
pub(crate) const ROAMING: &[Workload] = &[
    Workload { name: "roaming-50", warm: 2, timed: 20, counted: 1 },
    Workload { name: "roaming-200", warm: 2, timed: 20, counted: 1 },
    Workload { name: "roaming-800", warm: 2, timed: 20, counted: 1 },
    Workload { name: "roaming-3200", warm: 2, timed: 20, counted: 1 },
];
/// Nodes in all of their runs: where they are few, there are as many more runs.
const ROAMING_NODES: u32 = 3_200;

/// What happened in a run, or in the part of it that was measured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Work {
    /// Simulated seconds.
    pub(crate) seconds: u64,
    /// Events of all kinds.
    pub(crate) events: u64,
    /// Frames put on the air.
    pub(crate) frames: u64,
    /// Frame x node that senses it.
    pub(crate) receptions: u64,
    /// Nodes.
    pub(crate) nodes: u64,
}

impl Sub for Work {
    type Output = Self;
    fn sub(self, warm: Self) -> Self {
        Self {
            seconds: self.seconds - warm.seconds,
            events: self.events - warm.events,
            frames: self.frames - warm.frames,
            receptions: self.receptions - warm.receptions,
            nodes: self.nodes,
        }
    }
}

/// Rounds of which the fastest counts: what else runs on the machine only ever adds time.
const ROUNDS: usize = 5;

impl Workload {
    /// Work and user CPU seconds of the timed part.
    pub(crate) fn measure(&self) -> (Work, f64) {
        let fastest = |seconds| {
            let rounds = (0..ROUNDS).map(|_| {
                let start = user_seconds();
                let work = run(self.name, seconds);
                (work, user_seconds() - start)
            });
            rounds.min_by(|one, other| one.1.total_cmp(&other.1)).expect("there is at least one round")
        };
        let (warm, long) = (fastest(self.warm), fastest(self.warm + self.timed));
        (long.0 - warm.0, long.1 - warm.1)
    }
}

/// Runs a scenario from its start to its end.
pub(crate) fn run(name: &str, seconds: u64) -> Work {
    let Some(nodes) = name.strip_prefix("roaming-").and_then(|nodes| nodes.parse().ok()) else {
        return run_once(&peers::scenario(name, &[&format!("duration={seconds} s")]), seconds);
    };
    let runs =
        (1..=u64::from(ROAMING_NODES / nodes)).map(|seed| run_once(&roaming::scenario(nodes, seconds, seed), seconds));
    runs.reduce(|one, other| Work {
        seconds,
        events: one.events + other.events,
        frames: one.frames + other.frames,
        receptions: one.receptions + other.receptions,
        nodes: one.nodes + other.nodes,
    })
    .expect("there are no more nodes in a run than in all")
}

fn run_once(scenario: &Scenario, seconds: u64) -> Work {
    let mut simulation = Simulation::new(scenario, scenario.seed).expect("all flows have paths");
    simulation.run_until(simulation.end());
    let nodes = simulation.stations().len() as u64;
    let totals = simulation.totals();
    Work { seconds, events: simulation.events(), frames: totals.frames_sent, receptions: totals.receptions, nodes }
}
