//! A packet as the machine sees it: the header's bytes, and the payload by name.

use std::sync::Arc;

/// One DCCP packet. Its checksum is computed without addresses: the code that puts it on a wire calls
/// [`fill_checksum`](hopcast_wire::dccp::Packet::fill_checksum).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    /// The header with its options.
    pub header: Arc<[u8]>,
    /// What follows the header.
    pub payload: Payload,
}

/// One unit of data of the application.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Payload {
    /// The sending application's name for it.
    pub unit: u64,
    /// Bytes; 0 in a packet without data.
    pub len: u32,
}
