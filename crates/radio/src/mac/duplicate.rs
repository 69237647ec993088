//! Duplicate detection by the receiver (IEEE 802.11-2020, 10.3.2.14).

use super::frame::StationId;

/// The last sequence number from each transmitter.
#[derive(Clone, Debug, Default)]
pub(super) struct DuplicateCache {
    /// Sorted by transmitter.
    last: Vec<(StationId, u16)>,
}

impl DuplicateCache {
    /// Records a frame; true if it is a repetition of the last one from this transmitter: same number, retry bit set.
    pub(super) fn on_frame(&mut self, transmitter: StationId, sequence: u16, retry: bool) -> bool {
        match self.last.binary_search_by_key(&transmitter, |&(station, _)| station) {
            Ok(place) => {
                let last = &mut self.last[place].1;
                let duplicate = retry && *last == sequence;
                *last = sequence;
                duplicate
            }
            Err(place) => {
                self.last.insert(place, (transmitter, sequence));
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
        let (a, b) = (StationId(1), StationId(2));
        assert!(!cache.on_frame(a, 7, false));
        assert!(!cache.on_frame(b, 7, true), "another transmitter");
        assert!(cache.on_frame(a, 7, true));
        assert!(!cache.on_frame(a, 7, false), "no retry: the numbers have wrapped");
        assert!(!cache.on_frame(a, 8, true), "a retry of a frame that was never received");
    }
}
