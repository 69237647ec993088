//! Packets that a sender keeps, and sends again where its receiver misses them (RFC 4588).

use std::collections::{BTreeMap, VecDeque};

use super::{Label, Payload};
use crate::time::{Duration, Instant};

/// The most packets that are kept: 2 s of 100 Mb/s in packets of 1.5 kB.
const KEPT: usize = 16_384;

/// A packet that was sent, as it may be sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Kept {
    pub(super) payload: Payload,
    pub(super) label: Label,
    /// Its number in the session, media and repetitions counted alike, when it was sent first.
    number: u64,
    sent: Instant,
    repeated: Option<Instant>,
    has_arrived: bool,
}

/// Packets by the number of their media.
#[derive(Clone, Debug)]
pub(super) struct Retransmission {
    /// How long a packet is worth sending again after it was sent.
    lifetime: Duration,
    /// Those with consecutive numbers from `first` on.
    packets: VecDeque<Kept>,
    first: u64,
    /// Numbers of packets that are to be sent again.
    queue: VecDeque<u64>,
    /// Of repetitions that are on their way: the number in the session, and the packet's.
    repetitions: BTreeMap<u64, u64>,
}

impl Retransmission {
    /// Nothing was sent.
    pub(super) fn new(lifetime: Duration) -> Self {
        Self { lifetime, packets: VecDeque::new(), first: 0, queue: VecDeque::new(), repetitions: BTreeMap::new() }
    }

    /// The next packet of media leaves at `now`, as packet `number` of the session.
    pub(super) fn on_sent(&mut self, payload: Payload, label: Label, number: u64, now: Instant) {
        self.packets.push_back(Kept { payload, label, number, sent: now, repeated: None, has_arrived: false });
        let is_over = |kept: &Kept| kept.sent.saturating_add(self.lifetime) < now;
        while self.packets.len() > KEPT || self.packets.front().is_some_and(is_over) {
            self.packets.pop_front();
            self.first += 1;
        }
        self.repetitions.retain(|_, place| *place >= self.first);
    }

    /// A report shows packet `number` of the session.
    pub(super) fn on_arrival(&mut self, number: u64) {
        let place = match self.repetitions.remove(&number) {
            Some(place) => place.checked_sub(self.first).and_then(|place| usize::try_from(place).ok()),
            None => self.packets.binary_search_by_key(&number, |kept| kept.number).ok(),
        };
        if let Some(kept) = place.and_then(|place| self.packets.get_mut(place)) {
            kept.has_arrived = true;
        }
    }

    /// Whether reports have shown all that is kept.
    pub(super) fn has_all_arrived(&self) -> bool {
        self.packets.iter().all(|kept| kept.has_arrived)
    }

    /// The receiver misses packet `number`. It is sent again, unless that was done within the last round trip, and may be on its way.
    pub(super) fn on_request(&mut self, number: u64, rtt: Duration, now: Instant) {
        let Some(kept) = self.get(number) else { return };
        let is_on_its_way = kept.repeated.is_some_and(|repeated| now.saturating_since(repeated) < rtt);
        if !is_on_its_way && !self.queue.contains(&number) {
            self.queue.push_back(number);
        }
    }

    /// The packet that is to be sent again first, with its number. Those that are not worth it any more leave the queue.
    pub(super) fn front(&mut self, now: Instant) -> Option<(u64, Kept)> {
        loop {
            let &number = self.queue.front()?;
            match self.get(number) {
                Some(kept) if now <= kept.sent.saturating_add(self.lifetime) => return Some((number, kept)),
                _ => self.queue.pop_front(),
            };
        }
    }

    /// Bytes of media of the packet that is to be sent again first.
    pub(super) fn wants(&self) -> Option<u32> {
        self.queue.iter().find_map(|&number| Some(self.get(number)?.payload.len))
    }

    /// The unit of the oldest packet that is kept.
    pub(super) fn oldest_unit(&self) -> Option<u64> {
        self.packets.front().map(|kept| kept.payload.unit)
    }

    /// The first one leaves, as packet `number` of the session.
    pub(super) fn on_repeated(&mut self, number: u64, now: Instant) {
        let Some(packet) = self.queue.pop_front() else { return };
        let Some(place) = packet.checked_sub(self.first) else { return };
        if let Some(kept) = self.packets.get_mut(place as usize) {
            kept.repeated = Some(now);
            self.repetitions.insert(number, packet);
        }
    }

    fn get(&self, number: u64) -> Option<Kept> {
        let place = number.checked_sub(self.first)?;
        self.packets.get(usize::try_from(place).ok()?).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(millis: u64) -> Instant {
        Instant::START + Duration::from_millis(millis)
    }

    /// Packets 0 to 3, sent at 0 to 3 ms.
    fn sent() -> Retransmission {
        let mut kept = Retransmission::new(Duration::from_millis(100));
        for unit in 0..4 {
            let label = Label { marker: false, payload_type: 96, timestamp: unit as u32 };
            kept.on_sent(Payload { unit, len: 10 }, label, unit, ms(unit));
        }
        kept
    }

    fn next(kept: &mut Retransmission, now: Instant) -> Option<u64> {
        let (number, packet) = kept.front(now)?;
        assert_eq!((packet.payload.unit, kept.wants()), (number, Some(10)));
        kept.on_repeated(100 + number, now);
        Some(number)
    }

    #[test]
    fn what_is_missed_is_sent_again_once_in_a_round_trip() {
        let (mut kept, rtt) = (sent(), Duration::from_millis(20));
        for number in [2, 9, 2, 0] {
            kept.on_request(number, rtt, ms(30));
        }
        assert_eq!(
            [next(&mut kept, ms(30)), next(&mut kept, ms(31)), next(&mut kept, ms(31))],
            [Some(2), Some(0), None]
        );
        kept.on_request(2, rtt, ms(49));
        assert_eq!(next(&mut kept, ms(49)), None);
        kept.on_request(2, rtt, ms(50));
        assert_eq!(next(&mut kept, ms(50)), Some(2));
    }

    #[test]
    fn reports_show_packets_and_their_repetitions() {
        let mut kept = sent();
        kept.on_request(2, Duration::ZERO, ms(30));
        assert_eq!(next(&mut kept, ms(30)), Some(2));
        for (number, all) in [(0, false), (1, false), (3, false), (101, false), (102, true)] {
            kept.on_arrival(number);
            assert_eq!(kept.has_all_arrived(), all, "{number}");
        }
    }

    #[test]
    fn what_is_too_old_is_not_sent_again() {
        let (mut kept, rtt) = (sent(), Duration::ZERO);
        for number in [0, 2, 3] {
            kept.on_request(number, rtt, ms(90));
        }
        assert_eq!((next(&mut kept, ms(103)), kept.oldest_unit()), (Some(3), Some(0)));
        // A later packet lets the older ones go.
        let label = Label { marker: false, payload_type: 96, timestamp: 4 };
        kept.on_sent(Payload { unit: 4, len: 10 }, label, 4, ms(200));
        kept.on_request(3, rtt, ms(200));
        assert_eq!((next(&mut kept, ms(200)), kept.wants(), kept.oldest_unit()), (None, None, Some(4)));
    }
}
