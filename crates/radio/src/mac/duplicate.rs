//! Duplicate detection by the receiver (IEEE 802.11-2020, 10.3.2.14).

use super::edca::UserPriority;
use crate::frame::StationId;

/// The last sequence number from each transmitter; of QoS frames, in each user priority.
#[derive(Clone, Debug, Default)]
pub(super) struct DuplicateCache {
    /// Sorted by key.
    last: Vec<(u64, u32)>,
}

/// Transmitter, and user priority of a QoS frame.
type Key = (StationId, Option<UserPriority>);

impl DuplicateCache {
    /// Records a frame; true if it is a repetition of the last one with this key: same number, retry bit set.
    pub(super) fn on_frame(&mut self, (transmitter, priority): Key, sequence: u32, retry: bool) -> bool {
        let key = u64::from(transmitter.0) << 4 | priority.map_or(8, |priority| u64::from(priority.get()));
        match self.last.binary_search_by_key(&key, |last| last.0) {
            Ok(place) => {
                let last = &mut self.last[place].1;
                let duplicate = retry && *last == sequence;
                *last = sequence;
                duplicate
            }
            Err(place) => {
                self.last.insert(place, (key, sequence));
                false
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_retry_with_the_same_number_is_a_duplicate() {
        let mut cache = DuplicateCache::default();
        let (a, b) = ((StationId(1), None), (StationId(2), None));
        assert!(!cache.on_frame(a, 7, false));
        assert!(!cache.on_frame(b, 7, true), "another transmitter");
        assert!(cache.on_frame(a, 7, true));
        assert!(!cache.on_frame(a, 7, false), "no retry");
        assert!(!cache.on_frame(a, 7 + 4_096, true), "another frame with the same Sequence Number field");
        assert!(!cache.on_frame(a, 8, true), "a retry of a frame that was never received");
    }

    #[test]
    fn each_priority_has_numbers_of_its_own() {
        let mut cache = DuplicateCache::default();
        let [voice, effort] = [6, 0].map(|priority| (StationId(1), Some(UserPriority::new(priority))));
        assert!(!cache.on_frame(voice, 7, false));
        assert!(!cache.on_frame(effort, 7, true), "another priority");
        assert!(cache.on_frame(voice, 7, true));
    }
}
