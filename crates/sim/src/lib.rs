//! The simulator: scenario in, results out.

pub mod engine;
pub mod scenario;
pub mod traffic;
