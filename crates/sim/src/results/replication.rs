//! One run from its start to its result, in slices: between them the caller can watch, sample and stop it.

use hopcast_protocols::time::{Duration, Instant};

use super::{ConversationRecords, Cost, Provenance, RunResult, RunSeries, Spent, cloud, conversation, record};
use crate::address::ip_address;
use crate::host::Endpoint;
use crate::metrics::Series;
use crate::run::Simulation;
use crate::scenario::model::Scenario;
use crate::traffic::TrafficError;

/// A run on its way to a result. Slicing does not affect it.
pub struct Replication<'a> {
    scenario: &'a Scenario,
    seed: u64,
    simulation: Simulation,
    series: RunSeries,
    next_sample: Instant,
    slice: Duration,
}

/// Events in a slice: short enough to be stopped within milliseconds, long enough for the pause not to count.
const SLICE_EVENTS: u64 = 50_000;

/// The first slice; the others follow what the ones before them had to do.
const FIRST_SLICE: Duration = Duration::from_millis(1);

impl<'a> Replication<'a> {
    /// A run of `scenario` with `seed`, at its start.
    ///
    /// # Errors
    /// As [`Simulation::new`].
    pub fn new(scenario: &'a Scenario, seed: u64) -> Result<Self, TrafficError> {
        Ok(Self::of(scenario, seed, Simulation::new(scenario, seed)?))
    }

    /// The same; returns `None` as soon as `goes_on` returns false.
    ///
    /// # Errors
    /// As [`Simulation::new_while`].
    pub fn new_while(
        scenario: &'a Scenario,
        seed: u64,
        goes_on: &dyn Fn() -> bool,
    ) -> Result<Option<Self>, TrafficError> {
        let simulation = Simulation::new_while(scenario, seed, goes_on)?;
        Ok(simulation.map(|simulation| Self::of(scenario, seed, simulation)))
    }

    /// One with real hosts, if the scenario has them, driven with [`Self::run_until`].
    ///
    /// # Errors
    /// As [`Simulation::emulated`].
    pub fn emulated(scenario: &'a Scenario, seed: u64) -> Result<Self, TrafficError> {
        Ok(Self::of(scenario, seed, Simulation::emulated(scenario, seed)?))
    }

    fn of(scenario: &'a Scenario, seed: u64, simulation: Simulation) -> Self {
        let interval = Series::new(scenario.duration).interval();
        Self {
            scenario,
            seed,
            simulation,
            series: RunSeries::new(interval),
            next_sample: Instant::START + interval,
            slice: FIRST_SLICE,
        }
    }

    /// The scenario of the run.
    pub fn scenario(&self) -> &Scenario {
        self.scenario
    }

    /// Conversations between real hosts so far; `None` for a run without them.
    pub fn conversations(&self) -> Option<ConversationRecords> {
        conversation::conversations(self.scenario, &self.simulation)
    }

    /// The simulation, for reading.
    pub fn simulation(&self) -> &Simulation {
        &self.simulation
    }

    /// The simulation, for attaching a tap or a log. Driving it further skips samples of queues.
    pub fn simulation_mut(&mut self) -> &mut Simulation {
        &mut self.simulation
    }

    /// Runs for a slice; false at the end of the run.
    pub fn advance(&mut self) -> bool {
        let (now, end) = (self.simulation.now(), self.simulation.end());
        if now >= end {
            return false;
        }
        let slice_end = Instant::from_nanos(now.as_nanos().saturating_add(self.slice.as_nanos()));
        let events = self.simulation.events();
        self.run_slice(slice_end.min(end));
        self.fit_slice(self.simulation.events() - events);
        self.simulation.now() < end
    }

    /// Runs until an instant, or the end of the run.
    pub fn run_until(&mut self, until: Instant) {
        let until = until.min(self.simulation.end());
        while self.simulation.now() < until {
            self.run_slice(until);
        }
    }

    /// Runs until an instant, or the next sample.
    fn run_slice(&mut self, until: Instant) {
        self.simulation.run_until(until.min(self.next_sample));
        if self.simulation.now() == self.next_sample {
            self.series.sample(&self.simulation);
            self.next_sample =
                Instant::from_nanos(self.next_sample.as_nanos().saturating_add(self.series.interval.as_nanos()));
        }
    }

    /// The results so far. A run that is not at its end stops here.
    pub fn finish(mut self, spent: Spent) -> RunResult {
        let simulation = &mut self.simulation;
        simulation.finish();
        self.series.set_flows(simulation.flows());
        self.series.set_conversations(simulation.conversations());
        let nodes = record::nodes(self.scenario, simulation);
        let refused = simulation.refused().map(|(flow, Endpoint { node, port })| {
            let (name, address) = (&self.scenario.flows[flow.0 as usize].name, ip_address(node));
            format!("flow \"{name}\": {address} refused the connection; no program listened at its TCP port {port}")
        });
        let refused: Vec<String> = refused.collect();
        RunResult {
            flows: record::flows(self.scenario, simulation),
            totals: record::totals(simulation, &nodes),
            nodes,
            conversations: conversation::conversations(self.scenario, simulation),
            cloud: cloud::record(self.scenario, simulation),
            warnings: simulation.warnings().iter().cloned().chain(refused).collect(),
            cost: Cost {
                events: simulation.events(),
                wall_s: spent.wall_s,
                user_s: spent.user_s,
                simulated_s: simulation.now().as_secs_f64(),
                peak_rss_bytes: spent.peak_rss_bytes,
            },
            provenance: Provenance {
                version: env!("CARGO_PKG_VERSION"),
                scenario_sha256: self.scenario.sha256.clone(),
                seed: self.seed,
            },
            series: self.series,
        }
    }

    fn fit_slice(&mut self, events: u64) {
        if events > 2 * SLICE_EVENTS {
            self.slice = (self.slice / 2).max(Duration::from_nanos(1));
        } else if events < SLICE_EVENTS / 2 {
            self.slice = self.slice.saturating_add(self.slice);
        }
    }
}
