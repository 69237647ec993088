//! Transport protocols.

pub mod tcp;
pub mod tfrc;
