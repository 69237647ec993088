//! What is kept for each link, in either direction.

use std::cell::RefCell;
use std::collections::BTreeMap;

/// States by the two ends of a link, each made when it is asked for first.
#[derive(Clone, Debug)]
pub(super) struct PerLink<T>(RefCell<BTreeMap<(u32, u32), T>>);

impl<T> PerLink<T> {
    pub(super) fn new() -> Self {
        Self(RefCell::new(BTreeMap::new()))
    }

    /// What `ask` says of the link between two stations.
    pub(super) fn ask<R>(&self, one: u32, other: u32, make: impl FnOnce() -> T, ask: impl FnOnce(&mut T) -> R) -> R {
        let ends = (one.min(other), one.max(other));
        ask(self.0.borrow_mut().entry(ends).or_insert_with(make))
    }
}
