//! Groups of packets that left together, and the differences between them (libwebrtc, `inter_arrival_delta.cc`).

use crate::time::{Duration, Instant};

/// Packets within this time of a group's first belong to it.
const GROUP_LENGTH: Duration = Duration::from_millis(5);
/// Packets that arrive this close together, and closer than they left, are a burst of the path: one group.
const BURST_GAP: Duration = Duration::from_millis(5);
/// How long a burst may last.
const BURST_LENGTH: Duration = Duration::from_millis(100);
/// A jump of the receiver's clock: start again.
const CLOCK_JUMP_MS: f64 = 3000.0;
/// Start again after this number of groups in a row that arrived before the one before.
const REORDERED_GROUPS: u32 = 3;

#[derive(Clone, Copy, Debug)]
struct Group {
    first_sent: Instant,
    last_sent: Instant,
    first_arrival: Instant,
    last_arrival: Instant,
    /// When feedback told of its last packet.
    told: Instant,
}

/// How much later one group left and arrived than the group before, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in super::super) struct Deltas {
    pub(in super::super) sent: f64,
    pub(in super::super) arrived: f64,
}

/// Forms groups of packets in the order in which they arrived.
#[derive(Debug, Default)]
pub(in super::super) struct InterArrival {
    current: Option<Group>,
    previous: Option<Group>,
    reordered: u32,
}

/// `later` less `earlier` in milliseconds, with its sign.
pub(in super::super) fn millis_between(earlier: Instant, later: Instant) -> f64 {
    if later >= earlier {
        (later - earlier).as_nanos() as f64 / 1e6
    } else {
        -((earlier - later).as_nanos() as f64) / 1e6
    }
}

impl InterArrival {
    /// Takes a packet of which feedback tells at `now`. Returns the differences of the last two whole groups where it begins a
    /// new one.
    pub(in super::super) fn on_packet(&mut self, sent: Instant, arrival: Instant, now: Instant) -> Option<Deltas> {
        let new = Group { first_sent: sent, last_sent: sent, first_arrival: arrival, last_arrival: arrival, told: now };
        let Some(current) = self.current else {
            self.current = Some(new);
            return None;
        };
        if current.first_sent > sent {
            return None;
        }
        if current.holds(sent, arrival) {
            self.current =
                Some(Group { last_sent: current.last_sent.max(sent), last_arrival: arrival, told: now, ..current });
            return None;
        }
        let deltas = self.previous.map(|previous| Deltas {
            sent: millis_between(previous.last_sent, current.last_sent),
            arrived: millis_between(previous.last_arrival, current.last_arrival),
        });
        if let (Some(previous), Some(deltas)) = (self.previous, deltas) {
            if deltas.arrived - millis_between(previous.told, current.told) >= CLOCK_JUMP_MS {
                *self = Self::default();
                return None;
            }
            if deltas.arrived < 0.0 {
                self.reordered += 1;
                if self.reordered >= REORDERED_GROUPS {
                    *self = Self::default();
                }
                return None;
            }
            self.reordered = 0;
        }
        self.previous = Some(current);
        self.current = Some(new);
        deltas
    }
}

impl Group {
    fn holds(&self, sent: Instant, arrival: Instant) -> bool {
        let since_arrival = millis_between(self.last_arrival, arrival);
        let since_sent = millis_between(self.last_sent, sent);
        let burst = since_arrival < since_sent
            && since_arrival <= BURST_GAP.as_nanos() as f64 / 1e6
            && millis_between(self.first_arrival, arrival) < BURST_LENGTH.as_nanos() as f64 / 1e6;
        sent == self.last_sent || burst || sent.saturating_since(self.first_sent) <= GROUP_LENGTH
    }
}
