//! Transport protocols.

pub mod adtfrc;
pub mod dccp;
pub mod media;
pub mod tcp;
pub mod tfrc;
