//! Whole scenarios: determinism, conservation, captures.

mod captures;
mod conservation;
mod determinism;
mod difference;
mod interfaces;
mod interference_floor;
mod motion;
mod results;
mod scenarios;
mod traffic;
