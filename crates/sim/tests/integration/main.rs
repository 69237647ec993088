//! Whole scenarios: determinism, conservation, captures.

mod captures;
mod conservation;
mod determinism;
mod difference;
mod interfaces;
mod interference_floor;
mod results;
mod routing;
mod scenarios;
mod traffic;
