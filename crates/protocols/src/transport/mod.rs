//! Transport protocols.

pub mod adtfrc;
pub mod dccp;
pub mod media;
pub mod rtp;
pub mod tcp;
pub mod tfrc;

/// One unit of data of an application, which a transport of datagrams carries by name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Payload {
    /// The sending application's name for it.
    pub unit: u64,
    /// Bytes; 0 in a packet without data.
    pub len: u32,
}
