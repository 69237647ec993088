//! First in, first out, except for urgent packets; a full queue refuses further packets.

use std::collections::VecDeque;

/// A bounded queue.
#[derive(Clone, Debug)]
pub(crate) struct DropTail<T> {
    items: VecDeque<T>,
    capacity: usize,
}

impl<T> DropTail<T> {
    /// An empty queue with `capacity` places.
    pub(crate) fn new(capacity: u32) -> Self {
        // It grows as it is used: a ring walks through all of its places, also where one item at a time waits, and of the
        // processor's cache it takes as much among many stations.
        Self { items: VecDeque::new(), capacity: capacity as usize }
    }

    /// Appends `item`, or gives it back if the queue is full.
    pub(crate) fn push(&mut self, item: T) -> Result<(), T> {
        if self.space() == 0 {
            return Err(item);
        }
        self.items.push_back(item);
        Ok(())
    }

    /// Puts `item` before all others; gives back the last one if there are too many now.
    pub(crate) fn push_first(&mut self, item: T) -> Option<T> {
        self.items.push_front(item);
        if self.items.len() > self.capacity { self.items.pop_back() } else { None }
    }

    /// Takes the first that `is_wanted`, if it is `fitting`.
    pub(crate) fn pop_wanted(&mut self, is_wanted: impl Fn(&T) -> bool, is_fitting: impl Fn(&T) -> bool) -> Option<T> {
        let place = self.items.iter().position(is_wanted)?;
        if is_fitting(&self.items[place]) { self.items.remove(place) } else { None }
    }

    /// Takes the first.
    pub(crate) fn pop(&mut self) -> Option<T> {
        self.items.pop_front()
    }

    /// Takes out all that `is_unwanted`, oldest first.
    pub(crate) fn remove_all(&mut self, is_unwanted: impl Fn(&T) -> bool) -> Vec<T> {
        if !self.items.iter().any(&is_unwanted) {
            return Vec::new();
        }
        let (removed, kept): (Vec<T>, Vec<T>) = self.items.drain(..).partition(is_unwanted);
        self.items.extend(kept);
        removed
    }

    /// How many wait.
    pub(crate) fn len(&self) -> usize {
        self.items.len()
    }

    /// Free places.
    pub(crate) fn space(&self) -> usize {
        self.capacity - self.items.len()
    }

    /// What waits, oldest first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.items.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_is_refused_when_full() {
        let mut queue = DropTail::new(2);
        assert_eq!((queue.push('a'), queue.push('b'), queue.push('c')), (Ok(()), Ok(()), Err('c')));
        assert_eq!((queue.space(), queue.pop(), queue.space(), queue.len()), (0, Some('a'), 1, 1));
    }

    #[test]
    fn the_last_gives_way_to_what_goes_first() {
        let mut queue = DropTail::new(2);
        assert_eq!((queue.push('a'), queue.push_first('b'), queue.push_first('c')), (Ok(()), None, Some('a')));
        assert_eq!((queue.space(), queue.pop(), queue.pop(), queue.pop()), (0, Some('c'), Some('b'), None));
    }
}
