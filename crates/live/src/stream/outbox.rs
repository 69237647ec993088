//! Bytes that wait to be taken out.

use std::collections::VecDeque;

/// Labelled bytes in the order in which they came. Once it has grown, it allocates nothing.
#[derive(Debug)]
pub(super) struct Outbox<T> {
    octets: Vec<u8>,
    /// Labels, and where the bytes of each end.
    entries: VecDeque<(T, usize)>,
    taken: usize,
}

impl<T> Outbox<T> {
    pub(super) fn new() -> Self {
        Self { octets: Vec::new(), entries: VecDeque::new(), taken: 0 }
    }

    /// Adds what `write` appends.
    pub(super) fn push(&mut self, label: T, write: impl FnOnce(&mut Vec<u8>)) {
        if self.entries.is_empty() {
            self.octets.clear();
            self.taken = 0;
        }
        write(&mut self.octets);
        self.entries.push_back((label, self.octets.len()));
    }

    /// The label of the first.
    pub(super) fn peek(&self) -> Option<&T> {
        self.entries.front().map(|(label, _)| label)
    }

    /// Takes out the first.
    pub(super) fn pop(&mut self) -> Option<(T, &[u8])> {
        let (label, end) = self.entries.pop_front()?;
        let start = core::mem::replace(&mut self.taken, end);
        Some((label, &self.octets[start..end]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_first_goes_first_and_the_memory_is_used_again() {
        let mut outbox = Outbox::new();
        for round in 0..3 {
            outbox.push('a', |octets| octets.extend_from_slice(b"one"));
            outbox.push('b', |_| {});
            assert_eq!(outbox.pop(), Some(('a', &b"one"[..])));
            outbox.push('c', |octets| octets.extend_from_slice(&[round]));
            assert_eq!(outbox.pop(), Some(('b', &b""[..])));
            assert_eq!(outbox.pop(), Some(('c', &[round][..])));
            assert_eq!(outbox.pop(), None);
            assert!(outbox.octets.len() <= 4);
        }
    }
}
