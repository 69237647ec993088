//! Scenarios: the schema of the file, units, validation, and the values in force.

pub mod model;
