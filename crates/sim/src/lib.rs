//! The simulator: scenario in, results out.

pub mod engine;
pub mod host;
pub mod metrics;
pub mod run;
pub mod scenario;
pub mod topology;
pub mod traffic;
