//! hopcast on real hosts, with the protocol code of the simulator.
//!
//! | topic | module |
//! |---|---|
//! | the command line, what it prints, and how it ends | [`command`], [`output`], [`failure`] |
//! | custom models in the live commands | [`models`] |
//! | real network stacks and programs on simulated radios and wires | [`emulate`] |
//! | the router | [`node`] |
//! | the measurement of links and paths | [`probe`] |
//! | media over ADTFRC | [`stream`] |
//! | devices that store clips and stream them to each other | [`cloud`] |
//! | the network key | [`key`] |
//! | hosts and ports as users write them | [`address`] |
//! | what each field of the results means | [`dictionary`] |
//! | the platform: clock, signals, devices, the kernel's tables | [`platform`] |
//!
//! All of it needs Linux, and says so elsewhere.
//!
//! # Your own program
//!
//! A program with custom models has all live commands:
//!
//! ```no_run
//! use hopcast_live::command;
//! use hopcast_protocols::application::CbrSource;
//! use hopcast_sim::registry::Registry;
//! use std::process::ExitCode;
//!
//! /// What a scenario says under `parameters`.
//! #[derive(serde::Deserialize)]
//! struct Parameters {
//!     /// In bit/s.
//!     rate: f64,
//! }
//!
//! fn main() -> ExitCode {
//!     let mut registry = Registry::default();
//!     registry.add_application("even", |start, _, parameters: &Parameters| {
//!         CbrSource::new(start, parameters.rate, 500)
//!     });
//!     ExitCode::from(command::main_with(std::env::args_os(), &registry))
//! }
//! ```

pub mod command;
pub mod failure;
pub mod models;
pub mod output;

#[cfg(target_os = "linux")]
pub mod address;
#[cfg(target_os = "linux")]
pub mod cloud;
#[cfg(target_os = "linux")]
pub mod dictionary;
#[cfg(target_os = "linux")]
pub mod emulate;
#[cfg(target_os = "linux")]
mod input;
#[cfg(target_os = "linux")]
mod interfaces;
#[cfg(target_os = "linux")]
pub mod key;
#[cfg(target_os = "linux")]
mod log;
#[cfg(target_os = "linux")]
mod metrics;
#[cfg(target_os = "linux")]
pub mod node;
#[cfg(target_os = "linux")]
pub mod platform;
#[cfg(target_os = "linux")]
pub mod probe;
#[cfg(target_os = "linux")]
mod recording;
#[cfg(target_os = "linux")]
mod serve;
#[cfg(target_os = "linux")]
pub mod stream;
#[cfg(all(target_os = "linux", feature = "testkit"))]
pub mod testkit;
mod usage;
