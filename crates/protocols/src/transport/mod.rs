//! Transport protocols.

pub mod dccp;
pub mod tcp;
pub mod tfrc;
