//! The simulator: scenario in, results out.

pub mod engine;
pub mod host;
pub mod metrics;
pub mod scenario;
pub mod traffic;
