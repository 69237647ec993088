//! Journals of packets for recordings: what counters count, one by one.

use hopcast_protocols::time::{Duration, Instant};

use super::DropCause;
use crate::id::{FlowId, NodeId};

/// A packet of an application has left or arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Passage {
    /// When.
    pub(crate) time: Instant,
    /// Its number in the flow.
    pub(crate) number: u64,
    /// Its bytes, without headers.
    pub(crate) octets: u32,
    /// Its delay at its arrival; `None`: it has left.
    pub(crate) delay: Option<Duration>,
}

/// A node has dropped a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Dropped {
    /// When.
    pub(crate) time: Instant,
    /// The node.
    pub(crate) node: NodeId,
    /// The neighbour for which an interface gave it up.
    pub(crate) neighbour: Option<NodeId>,
    /// Why.
    pub(crate) cause: DropCause,
    /// The flow of its data or acknowledgement, and the number of its datagram.
    pub(crate) flow: Option<(FlowId, u64)>,
    /// Its bytes with the IP header; zero if it is not an IP packet.
    pub(crate) octets: u32,
}

/// What a viewer saw of a frame of media, or of a stall.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// A frame was complete before its display.
    OnTime,
    /// A frame was complete after its display should have begun, and before it should have ended.
    Late,
    /// A frame was not complete when the display passed its end.
    Lost,
    /// The display stands still.
    Stall,
    /// The display has been standing still before, and still does.
    StallGoesOn,
}

/// A note about a flow's player.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shown {
    /// When.
    pub(crate) time: Instant,
    /// For how long; zero for a frame.
    pub(crate) duration: Duration,
    /// What.
    pub(crate) fate: Fate,
    /// Number of the frame, or of the stall.
    pub(crate) number: u64,
}

/// Drops that have not been taken out.
#[derive(Clone, Debug)]
pub(crate) struct Journal {
    /// The node that acts.
    pub(crate) node: NodeId,
    pub(crate) dropped: Vec<Dropped>,
}
