//! Outputs of a station that wait to be taken out.

use std::collections::VecDeque;

use super::Output;

/// A queue. It usually holds one item, which is stored in the station itself without an allocation.
#[derive(Clone, Debug)]
pub(super) struct Outputs<P> {
    first: Option<Output<P>>,
    /// Those behind it.
    others: VecDeque<Output<P>>,
}

impl<P> Default for Outputs<P> {
    fn default() -> Self {
        Self { first: None, others: VecDeque::new() }
    }
}

impl<P> Outputs<P> {
    #[inline]
    pub(super) fn push(&mut self, output: Output<P>) {
        if self.first.is_none() { self.first = Some(output) } else { self.others.push_back(output) }
    }

    #[inline]
    pub(super) fn pop(&mut self) -> Option<Output<P>> {
        let first = self.first.take();
        if !self.others.is_empty() {
            self.first = self.others.pop_front();
        }
        first
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.first.is_none()
    }
}
