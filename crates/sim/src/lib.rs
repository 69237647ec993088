//! The simulator: scenario in, results out.
//!
//! | step | module |
//! |---|---|
//! | read a file, check it, fill in defaults with their sources | [`scenario`] |
//! | register custom models of users | [`registry`] |
//! | place the nodes, move them | [`mobility`] |
//! | lay out radios, interfaces and wires | [`layout`] |
//! | find which stations hear each other | `topology` |
//! | find the routes | `network` |
//! | set up hosts, programs and forwarding tables | [`traffic`], [`host`] |
//! | carry packets over wires | `wired` |
//! | run all events in order, optionally with real hosts in place of simulated ones | [`engine`], driven by [`run`] |
//! | measure, and check that no packet vanished | [`metrics`] |
//! | capture every frame | [`capture`] |
//! | format of recordings for a viewer | [`record`] |
//! | turn one run into records, tables and files | [`results`] |
//! | run replications side by side | [`execute`] |
//!
//! # A first example
//!
//! One run, and the measurements of its flow.
//!
//! ```
//! use hopcast_sim::run::Simulation;
//! use hopcast_sim::scenario::{Scenario, Source};
//!
//! let text = r#"
//!     duration = "1 s"
//!     [[nodes]]
//!     name = "n"
//!     count = 2
//!     placement = { shape = "line", spacing = "5 m" }
//!     [[flows]]
//!     name = "bulk"
//!     from = "n0"
//!     to = "n1"
//!     transport = { protocol = "udp" }
//!     application = { kind = "bulk" }
//! "#;
//! let source = Source { text: text.into(), name: "two.toml".into(), ..Source::default() };
//! let scenario = Scenario::parse(&source, &[])?.scenario;
//! let mut simulation = Simulation::new(&scenario, 1)?;
//! simulation.run_until(simulation.end());
//! simulation.check()?;
//! let flow = simulation.flows().iter().next().expect("the scenario has one");
//! assert!(flow.summary(simulation.end()).received_packets > 100);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # A whole one
//!
//! A custom propagation model, three nodes whose outer two need the middle one as a relay, and four replications on two
//! threads.
//!
//! ```
//! use hopcast_radio::propagation::{FreeSpace, Position, Propagation};
//! use hopcast_sim::execute::{Control, Job, Outcome, execute};
//! use hopcast_sim::registry::Registry;
//! use hopcast_sim::scenario::{Scenario, Source};
//!
//! /// Free space on a clearing; nothing passes its edge.
//! #[derive(Debug)]
//! struct Clearing {
//!     free_space: FreeSpace,
//!     /// In metres.
//!     diameter: f64,
//! }
//!
//! /// What a scenario says under `parameters`.
//! #[derive(serde::Deserialize)]
//! struct Parameters {
//!     diameter: f64,
//! }
//!
//! impl Propagation for Clearing {
//!     fn gain(&self, from: Position, to: Position) -> f64 {
//!         if from.distance(to) > self.diameter { 0.0 } else { self.free_space.gain(from, to) }
//!     }
//!
//!     fn reach(&self, gain: f64) -> f64 {
//!         self.free_space.reach(gain).min(self.diameter)
//!     }
//! }
//!
//! let mut registry = Registry::default();
//! registry.add_propagation("clearing", |frequency, parameters: &Parameters| Clearing {
//!     free_space: FreeSpace::new(frequency),
//!     diameter: parameters.diameter,
//! });
//!
//! let text = r#"
//!     duration = "5 s"
//!     [radio]
//!     propagation = { model = "custom", name = "clearing", parameters = { diameter = 150 } }
//!     [[nodes]]
//!     name = "n"
//!     count = 3
//!     placement = { shape = "line", spacing = "100 m" }
//!     routing = { protocol = "aodv" }
//!     [[flows]]
//!     name = "voice"
//!     from = "n0"
//!     to = "n2"
//!     transport = { protocol = "udp" }
//!     application = { kind = "cbr", rate = "64 kb/s" }
//! "#;
//! let source = Source { text: text.into(), name: "clearing.toml".into(), registry, ..Source::default() };
//! let scenario = Scenario::parse(&source, &[])?.scenario;
//!
//! let job = Job { scenario: &scenario, seeds: &[1, 2, 3, 4], threads: 2, captures: None, recordings: None };
//! let mut results = Vec::new();
//! let outcome = execute(&job, &Control::new(), &(), |place, result| results.push((place, result)))?;
//! assert_eq!((outcome, results.len()), (Outcome::Finished, 4));
//! for (place, result) in &results {
//!     let goodput = result.flows[0].summary.goodput_bps;
//!     assert!(goodput > 60e3, "{goodput} b/s in replication {place}");
//!     assert!(result.nodes[1].forwarded > 0, "the outer nodes do not hear each other");
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The same scenario, seed and version give the same events and the same numbers; `docs/determinism.md` has the promise in full.

pub mod address;
pub mod capture;
pub mod engine;
pub mod execute;
pub mod host;
pub mod id;
pub mod io_error;
pub mod layout;
pub mod metrics;
pub mod mobility;
mod network;
mod octets;
mod paths;
pub mod record;
pub mod registry;
pub mod results;
pub mod run;
pub mod scenario;
pub mod stop;
mod timers;
mod topology;
pub mod traffic;
pub mod video_trace;
mod wired;
