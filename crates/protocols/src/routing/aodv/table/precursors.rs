//! Precursors: the neighbours that send over a route.

use crate::routing::NextHop;

/// The precursors of a route, and who is to be told of its loss: no neighbour, one, or more than one.
///
/// A route error goes to one neighbour alone, or to all (RFC 3561, section 6.11), so that of several the names do not matter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::routing::aodv) enum Precursors {
    /// No neighbour.
    #[default]
    None,
    /// This neighbour.
    One(NextHop),
    /// Several.
    Many,
}

impl Precursors {
    /// Adds a neighbour.
    pub(in crate::routing::aodv) fn add(&mut self, neighbour: NextHop) {
        *self = self.with(Self::One(neighbour));
    }

    /// These and the others.
    pub(in crate::routing::aodv) fn with(self, others: Self) -> Self {
        match (self, others) {
            (Self::None, any) | (any, Self::None) => any,
            (Self::One(a), Self::One(b)) if a == b => self,
            _ => Self::Many,
        }
    }
}
