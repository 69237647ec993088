//! Bursts that find capacity which the media alone would not.

pub(super) mod controller;
pub(super) mod estimator;
