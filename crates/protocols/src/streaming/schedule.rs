//! Which of a producer's streams sends its next packet.
//!
//! Without a schedule each stream is sent at its own pace, and the interface's queue decides: first come, first served. With one the producer sends
//! a packet at a time, and the next one when the medium had time for it: as long as a packet takes on all links of the stream's path that the
//! producer senses, divided by the share of time that streams of other producers leave. So packets wait at the producer, where their order can
//! still change, and not in the interface's queue.
//!
//! Bararia, Ghandeharizadeh and Kapadia (2004, section I) name the scheduling of delivery as a topic. Earliest deadline first is the rule of Liu and
//! Layland (J. ACM 20(1), 1973).

use hopcast_wire::cloud::StreamId;

use crate::time::{Duration, Instant};

/// The order of streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Discipline {
    /// The packet that has waited longest.
    Fifo,
    /// Each stream in turn.
    RoundRobin,
    /// The packet that is shown first.
    EarliestDeadline,
    /// The stream whose display would stand still first if nothing came.
    EarliestHiccup,
}

/// A stream that has a packet to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The stream.
    pub stream: StreamId,
    /// Since when the packet may be sent.
    pub ready: Instant,
    /// When it is shown, in nanoseconds since the start, as far as the producer knows; it may be before the start.
    pub deadline: i128,
    /// When the display has shown all that it is known to have, likewise.
    pub hiccup: i128,
}

/// Sends one packet at a time.
#[derive(Clone, Debug)]
pub struct Schedule {
    discipline: Discipline,
    free_at: Instant,
    last: Option<StreamId>,
}

impl Schedule {
    /// Free from `now` on.
    pub fn new(discipline: Discipline, now: Instant) -> Self {
        Self { discipline, free_at: now, last: None }
    }

    /// The stream that sends now, if the medium is free. Of equal ones the one with the lowest identity.
    pub fn pick(&self, candidates: impl Iterator<Item = Candidate>, now: Instant) -> Option<StreamId> {
        if now < self.free_at {
            return None;
        }
        let key = |candidate: &Candidate| match self.discipline {
            Discipline::Fifo => i128::from(candidate.ready.as_nanos()),
            Discipline::RoundRobin => i128::from(self.last.is_some_and(|last| candidate.stream <= last)),
            Discipline::EarliestDeadline => candidate.deadline,
            Discipline::EarliestHiccup => candidate.hiccup,
        };
        candidates.min_by_key(|candidate| (key(candidate), candidate.stream)).map(|candidate| candidate.stream)
    }

    /// A packet of this stream is sent, and takes `time`.
    pub fn handle_sent(&mut self, stream: StreamId, time: Duration, now: Instant) {
        self.last = Some(stream);
        self.free_at = self.free_at.max(now) + time;
    }

    /// When the next packet may be sent.
    pub fn free_at(&self) -> Instant {
        self.free_at
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use proptest::prelude::*;

    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::START + Duration::from_millis(ms)
    }

    fn stream(number: u32) -> StreamId {
        StreamId { display: Ipv4Addr::new(10, 0, 0, 1), number }
    }

    /// Three streams: the first has waited longest, the second has the earliest deadline, the third the emptiest buffer.
    fn three() -> [Candidate; 3] {
        let candidate =
            |number, ready, deadline, hiccup| Candidate { stream: stream(number), ready: at(ready), deadline, hiccup };
        [candidate(1, 5, 900, 800), candidate(2, 7, -20, 700), candidate(3, 6, 600, -50)]
    }

    #[test]
    fn each_discipline_has_its_own_first() {
        let first = |discipline| Schedule::new(discipline, at(0)).pick(three().into_iter(), at(10));
        assert_eq!(first(Discipline::Fifo), Some(stream(1)));
        assert_eq!(first(Discipline::RoundRobin), Some(stream(1)));
        assert_eq!(first(Discipline::EarliestDeadline), Some(stream(2)));
        assert_eq!(first(Discipline::EarliestHiccup), Some(stream(3)));
    }

    #[test]
    fn one_packet_at_a_time() {
        let mut schedule = Schedule::new(Discipline::Fifo, at(10));
        assert_eq!(schedule.pick(three().into_iter(), at(9)), None);
        assert_eq!(schedule.pick(three().into_iter(), at(10)), Some(stream(1)));
        schedule.handle_sent(stream(1), Duration::from_millis(2), at(10));
        assert_eq!((schedule.free_at(), schedule.pick(three().into_iter(), at(11))), (at(12), None));
        assert!(schedule.pick(three().into_iter(), at(12)).is_some());
        // A timer that is late loses no time, but what the medium did not use is gone.
        schedule.handle_sent(stream(1), Duration::from_millis(2), at(20));
        assert_eq!(schedule.free_at(), at(22));
        assert_eq!(schedule.pick(core::iter::empty(), at(30)), None);
    }

    #[test]
    fn streams_take_turns_and_one_that_has_nothing_is_passed_over() {
        let mut schedule = Schedule::new(Discipline::RoundRobin, at(0));
        let mut next = |ready: &[u32]| {
            let candidates = three().into_iter().filter(|candidate| ready.contains(&candidate.stream.number));
            let picked = schedule.pick(candidates, at(10)).expect("some are ready");
            schedule.handle_sent(picked, Duration::ZERO, at(10));
            picked.number
        };
        let all = [1, 2, 3];
        assert_eq!([next(&all), next(&all), next(&all), next(&all)], [1, 2, 3, 1]);
        assert_eq!([next(&[1, 3]), next(&[1, 3]), next(&all)], [3, 1, 2]);
    }

    proptest! {
        /// The medium is never used twice: what was sent by an instant took no more time than has passed, but for the packet under way.
        #[test]
        fn the_medium_is_used_once(times in prop::collection::vec((0_u64..20, 1_u64..10), 1..60)) {
            let mut schedule = Schedule::new(Discipline::EarliestHiccup, at(0));
            let (mut now, mut used) = (0, 0);
            for (later, time) in times {
                now += later;
                if let Some(stream) = schedule.pick(three().into_iter(), at(now)) {
                    prop_assert!(used <= now);
                    used += time;
                    schedule.handle_sent(stream, Duration::from_millis(time), at(now));
                }
            }
        }
    }
}
