//! Sequence numbers of the frames that a station sends (IEEE 802.11-2020, 10.3.2.14.2).

use super::edca::UserPriority;
use crate::frame::StationId;

/// The counters: one of the station, and under EDCA one for each receiver and user priority.
#[derive(Clone, Debug, Default)]
pub(super) struct SequenceCounters {
    station: u32,
    /// Sorted by key.
    qos: Vec<((StationId, UserPriority), u32)>,
}

impl SequenceCounters {
    /// The number of the next data frame. `priority` is that of a QoS frame; those to all take the station's counter.
    #[inline]
    pub(super) fn next(&mut self, receiver: Option<StationId>, priority: Option<UserPriority>) -> u32 {
        let counter = match (priority, receiver) {
            (Some(priority), Some(receiver)) => self.qos(receiver, priority),
            _ => &mut self.station,
        };
        let number = *counter;
        *counter = number.wrapping_add(1);
        number
    }

    /// The number of the next QoS data frame.
    pub(super) fn peek(&mut self, receiver: StationId, priority: UserPriority) -> u32 {
        *self.qos(receiver, priority)
    }

    #[cold]
    #[inline(never)]
    fn qos(&mut self, receiver: StationId, priority: UserPriority) -> &mut u32 {
        let key = (receiver, priority);
        let place = self.qos.binary_search_by_key(&key, |&(key, _)| key).unwrap_or_else(|place| {
            self.qos.insert(place, (key, 0));
            place
        });
        &mut self.qos[place].1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_receiver_and_priority_has_a_counter() {
        let mut counters = SequenceCounters::default();
        let (a, b) = (Some(StationId(1)), Some(StationId(2)));
        let (voice, effort) = (Some(UserPriority::new(6)), Some(UserPriority::new(0)));
        let mut next = |receiver, priority| counters.next(receiver, priority);
        assert_eq!([next(a, voice), next(a, voice), next(b, voice), next(a, effort)], [0, 1, 0, 0]);
        assert_eq!([next(a, None), next(b, None), next(None, voice), next(a, voice)], [0, 1, 2, 2]);
    }
}
