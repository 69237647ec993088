//! Identifiers of the parts of a run: indices in the order of the scenario.

/// Index of a node, in the order of the scenario; address 10.0.0.1 plus this index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u32);

impl NodeId {
    /// All nodes: the destination of a broadcast.
    pub const ALL: Self = Self(u32::MAX);
}

/// Index of a flow, in the order of the scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlowId(pub u32);

impl FlowId {
    /// No flow: that of a routing message's data.
    pub const NONE: Self = Self(u32::MAX);
}
