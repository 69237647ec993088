//! Transport protocols.

pub mod adtfrc;
pub mod dccp;
pub mod tcp;
pub mod tfrc;
