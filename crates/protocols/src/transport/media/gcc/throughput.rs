//! The acknowledged rate (libwebrtc, `robust_throughput_estimator.cc`).

use std::collections::VecDeque;

use crate::time::{Duration, Instant};

/// A window with more packets than this that is longer than that loses its first; so does one above either maximum.
const PACKETS: usize = 20;
const LENGTH: Duration = Duration::from_secs(1);
const MOST_PACKETS: usize = 500;
const MOST_LENGTH: Duration = Duration::from_secs(5);
/// A rate needs this number of packets.
const NEEDED: usize = 10;
/// A packet that arrived this much earlier than the last one is of another clock: start again.
const MOST_REORDERING: Duration = Duration::from_secs(1);
/// The shortest time under a rate.
const SHORTEST: Duration = Duration::from_millis(1);

#[derive(Clone, Copy, Debug)]
struct Packet {
    sent: Instant,
    arrival: Instant,
    size: f64,
}

/// The lesser of the rates at which the packets of a window left and arrived.
#[derive(Debug, Default)]
pub(super) struct Throughput {
    /// In the order of arrival.
    window: VecDeque<Packet>,
    /// The last send time among packets that have left the window.
    discarded: Option<Instant>,
}

impl Throughput {
    /// Takes a packet.
    pub(super) fn on_packet(&mut self, sent: Instant, arrival: Instant, size: u32) {
        let packet = Packet { sent, arrival, size: f64::from(size) };
        let place = self.window.iter().rposition(|other| other.arrival <= arrival).map_or(0, |index| index + 1);
        self.window.insert(place, packet);
        let last = self.window.back().map_or(arrival, |last| last.arrival);
        if last.saturating_since(arrival) > MOST_REORDERING {
            self.window.clear();
            self.discarded = None;
        }
    }

    /// Drops packets that are too old, after all of a feedback were taken.
    pub(super) fn expire(&mut self) {
        while self.first_is_old() {
            let first = self.window.pop_front();
            self.discarded = self.discarded.max(first.map(|packet| packet.sent));
        }
    }

    fn first_is_old(&self) -> bool {
        let (Some(first), Some(last)) = (self.window.front(), self.window.back()) else { return false };
        let length = last.arrival - first.arrival;
        self.window.len() > MOST_PACKETS || length > MOST_LENGTH || (self.window.len() > PACKETS && length > LENGTH)
    }

    /// In b/s.
    pub(super) fn rate(&self) -> Option<f64> {
        if self.window.len() < NEEDED {
            return None;
        }
        let received = self.receive_rate()?;
        Some(self.send_rate().map_or(received, |sent| sent.min(received)))
    }

    /// Without the size of the first packet, and with the second largest gap in place of the largest, which a path that paused
    /// leaves.
    fn receive_rate(&self) -> Option<f64> {
        let (first, last) = (self.window.front()?, self.window.back()?);
        let (mut largest, mut second) = (Duration::ZERO, Duration::ZERO);
        for (one, next) in self.window.iter().zip(self.window.iter().skip(1)) {
            let gap = next.arrival - one.arrival;
            if gap > largest {
                second = largest;
                largest = gap;
            } else if gap > second {
                second = gap;
            }
        }
        let bytes: f64 = self.window.iter().skip(1).map(|packet| packet.size).sum();
        Some(rate(bytes, last.arrival - first.arrival - largest + second))
    }

    /// Without the size of the last packet, and without packets that left before one that is out of the window.
    fn send_rate(&self) -> Option<f64> {
        let ordered = || self.window.iter().filter(|packet| self.discarded.is_none_or(|at| packet.sent >= at));
        if ordered().count() < NEEDED {
            return None;
        }
        let first = ordered().map(|packet| packet.sent).min()?;
        // Of several that left last, the first: one size is left out.
        let last = ordered().reduce(|last, packet| if packet.sent > last.sent { packet } else { last })?;
        let bytes: f64 = ordered().map(|packet| packet.size).sum();
        Some(rate(bytes - last.size, last.sent - first))
    }
}

fn rate(bytes: f64, time: Duration) -> f64 {
    bytes * 8.0 / time.max(SHORTEST).as_secs_f64()
}
