//! First in, first out, except for urgent packets; a full queue refuses further packets.

use std::collections::VecDeque;

use super::Places;

/// A bounded queue.
#[derive(Clone, Debug)]
pub(crate) struct DropTail<T> {
    items: VecDeque<T>,
    /// Places that are taken.
    taken: usize,
    capacity: usize,
}

impl<T: Places> DropTail<T> {
    /// An empty queue with `capacity` places.
    pub(crate) fn new(capacity: u32) -> Self {
        // It grows as it is used: a ring walks through all of its places, also where one item at a time waits, and of the
        // processor's cache it takes as much among many stations.
        Self { items: VecDeque::new(), taken: 0, capacity: capacity as usize }
    }

    /// Appends `item`, or gives it back if the queue is full.
    pub(crate) fn push(&mut self, item: T) -> Result<(), T> {
        let places = item.places();
        if self.space() < places {
            return Err(item);
        }
        self.taken += places;
        self.items.push_back(item);
        Ok(())
    }

    /// Puts `item` before all others; gives back the last one if there are too many now.
    pub(crate) fn push_first(&mut self, item: T) -> Option<T> {
        self.taken += item.places();
        self.items.push_front(item);
        if self.taken > self.capacity {
            let last = self.items.pop_back();
            self.note(last)
        } else {
            None
        }
    }

    /// Takes the first that `is_wanted`, if it is `fitting`.
    pub(crate) fn pop_wanted(&mut self, is_wanted: impl Fn(&T) -> bool, is_fitting: impl Fn(&T) -> bool) -> Option<T> {
        let place = self.items.iter().position(is_wanted)?;
        let item = if is_fitting(&self.items[place]) { self.items.remove(place) } else { None };
        self.note(item)
    }

    /// Takes the first.
    pub(crate) fn pop(&mut self) -> Option<T> {
        let item = self.items.pop_front();
        self.note(item)
    }

    /// What has been taken out leaves its places.
    fn note(&mut self, item: Option<T>) -> Option<T> {
        self.taken -= item.as_ref().map_or(0, Places::places);
        item
    }

    /// Takes out all that `is_unwanted`, oldest first.
    pub(crate) fn remove_all(&mut self, is_unwanted: impl Fn(&T) -> bool) -> Vec<T> {
        if !self.items.iter().any(&is_unwanted) {
            return Vec::new();
        }
        let (removed, kept): (Vec<T>, Vec<T>) = self.items.drain(..).partition(is_unwanted);
        self.taken -= removed.iter().map(Places::places).sum::<usize>();
        self.items.extend(kept);
        removed
    }

    /// How many wait.
    pub(crate) fn len(&self) -> usize {
        self.items.len()
    }

    /// Free places.
    pub(crate) fn space(&self) -> usize {
        self.capacity - self.taken
    }

    /// What waits, oldest first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.items.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Places for char {}

    /// It has this number of places.
    impl Places for usize {
        fn places(&self) -> usize {
            *self
        }
    }

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

    #[test]
    fn what_stands_for_several_takes_as_many_places() {
        let mut queue = DropTail::new(10);
        assert_eq!((queue.push(6), queue.push(5), queue.push(4), queue.space()), (Ok(()), Err(5), Ok(()), 0));
        assert_eq!((queue.len(), queue.pop(), queue.space()), (2, Some(6), 6));
        assert_eq!((queue.push(5), queue.remove_all(|&places| places == 4), queue.space()), (Ok(()), vec![4], 5));
        assert_eq!((queue.pop_wanted(|_| true, |_| true), queue.space()), (Some(5), 10));
    }
}
