//! hopcast on real hosts, with the protocol code of the simulator.
//!
//! | what | module |
//! |---|---|
//! | the command line, what it prints, and how it ends | [`command`], [`output`], [`failure`] |
//! | real network stacks and programs on the simulated radio | [`emulate`] |
//! | the router | [`node`] |
//! | the measurement of links and paths | [`probe`] |
//! | media over ADTFRC | [`stream`] |
//! | the network key | [`key`] |
//! | hosts and ports as users write them | [`address`] |
//! | the platform: clock, signals, devices, the kernel's tables | [`platform`] |
//!
//! All of it needs Linux, and says so elsewhere.

pub mod command;
pub mod failure;
pub mod output;

#[cfg(target_os = "linux")]
pub mod address;
#[cfg(target_os = "linux")]
pub mod emulate;
#[cfg(target_os = "linux")]
pub mod key;
#[cfg(target_os = "linux")]
pub mod node;
#[cfg(target_os = "linux")]
pub mod platform;
#[cfg(target_os = "linux")]
pub mod probe;
#[cfg(target_os = "linux")]
mod serve;
#[cfg(target_os = "linux")]
pub mod stream;
