//! A packet as the machine sees it: the header's bytes, and the payload by name.

use std::sync::Arc;

pub use super::super::Payload;

/// One DCCP packet. Its checksum is computed without addresses: the code that puts it on a wire calls
/// [`fill_checksum`](hopcast_wire::dccp::Packet::fill_checksum).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    /// The header with its options.
    pub header: Arc<[u8]>,
    /// What follows the header.
    pub payload: Payload,
}
