//! How recent losses are (section 4.2), by loss intervals as TFRC has them.

use std::collections::VecDeque;

use super::super::PacketResult;
use crate::time::Instant;
use crate::transport::tfrc::WEIGHTS;

/// MULTILOSS: losses are recent for this number of intervals between them.
const MULTIPLE: f64 = 7.0;

#[derive(Clone, Debug, Default)]
pub(super) struct Losses {
    /// Packets from one loss event to the next, the newest first.
    intervals: VecDeque<f64>,
    /// When the first packet of the last loss event left, and the packets since.
    event: Option<Instant>,
    since: f64,
}

impl Losses {
    /// A packet's fate; `rtt` in seconds.
    pub(super) fn insert(&mut self, result: &PacketResult, rtt: f64) {
        self.since += 1.0;
        let sent = result.packet.sent;
        // All losses of a round trip are one event.
        let is_new = |event: Instant| sent > event && (sent - event).as_secs_f64() > rtt;
        if result.arrival.is_none() && self.event.is_none_or(is_new) {
            self.intervals.push_front(self.since);
            self.intervals.truncate(WEIGHTS.len());
            (self.event, self.since) = (Some(sent), 0.0);
        }
    }

    /// Whether delay may be blamed on a queue that loses packets.
    pub(super) fn are_recent(&self) -> bool {
        let weighted = || self.intervals.iter().zip(WEIGHTS);
        let weights: f64 = weighted().map(|(_, weight)| weight).sum();
        let average = weighted().map(|(interval, weight)| interval * weight).sum::<f64>() / weights;
        // Without an interval the average is not a number.
        self.since < MULTIPLE * average
    }
}
