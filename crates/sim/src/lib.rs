//! The simulator: scenario in, results out.
pub mod scenario;
pub mod traffic;
