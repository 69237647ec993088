//! The simulator: scenario in, results out.

pub mod capture;
pub mod engine;
pub mod execute;
pub mod host;
pub mod metrics;
pub mod results;
pub mod run;
pub mod scenario;
pub mod topology;
pub mod traffic;
