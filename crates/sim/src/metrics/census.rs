//! A count of the datagrams in flight, found by looking into every place where one can be.

use crate::id::FlowId;
use std::collections::BTreeSet;

/// The datagrams that were found at the end of a run: in hosts, in interfaces, on the air.
#[derive(Clone, Debug, Default)]
pub struct Census {
    found: BTreeSet<(FlowId, u64)>,
}

impl Census {
    /// An empty count.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a datagram of `flow`, or a part of it.
    pub fn insert(&mut self, flow: FlowId, seq: u64) {
        self.found.insert((flow, seq));
    }

    /// Whether the datagram, or a part of it, was found.
    pub fn contains(&self, flow: FlowId, seq: u64) -> bool {
        self.found.contains(&(flow, seq))
    }
}
