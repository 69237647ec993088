//! The simulator: scenario in, results out.
//!
//! | step | module |
//! |---|---|
//! | read a file, check it, fill in defaults with their sources | [`scenario`] |
//! | know what a user has added to the vocabulary | [`registry`] |
//! | place the nodes, move them | [`mobility`] |
//! | lay out radios, interfaces and wires | [`layout`] |
//! | find who hears whom | [`topology`] |
//! | find the routes | [`network`] |
//! | set up hosts, programs and forwarding tables | [`traffic`], [`host`] |
//! | carry packets over wires | [`wired`] |
//! | run all events in their order, let real hosts stand in for simulated ones | [`engine`], driven by [`run`] |
//! | measure, and check that nothing vanished | [`metrics`] |
//! | capture every frame | [`capture`] |
//! | turn one run into records, tables and files | [`results`] |
//! | run replications side by side | [`execute`] |
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
pub mod network;
mod octets;
pub mod paths;
pub mod registry;
pub mod results;
pub mod run;
pub mod scenario;
mod timers;
pub mod topology;
pub mod traffic;
pub mod video_trace;
pub mod wired;
