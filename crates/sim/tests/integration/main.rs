//! Whole scenarios: determinism, conservation, captures.

mod captures;
mod conservation;
mod determinism;
mod difference;
mod results;
mod scenarios;
