//! Programs, and what corrects errors for them.

pub(in crate::host) mod fec;
pub(in crate::host) mod program;
