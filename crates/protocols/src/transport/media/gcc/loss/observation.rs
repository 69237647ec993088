//! What was sent and lost lately (libwebrtc, `loss_based_bwe_v2.cc`, `PushBackObservation` and the averages).

use std::collections::{BTreeMap, VecDeque};

use super::super::super::PacketResult;
use super::super::delay::inter_arrival::millis_between;
use crate::time::Instant;

/// The least time between two observations, in milliseconds of sending.
const LEAST_MS: f64 = 250.0;
/// Observations that are kept.
const WINDOW: usize = 15;
/// The weight of an observation next to that of the one after it.
const AGEING: f64 = 0.9;
/// The worst observation counts where its sending rate is at least this multiple of the median one.
const SUDDEN: f64 = 2.0;
/// With more observations than this the best and the worst do not count.
const TRIM_ABOVE: u64 = 3;

/// Packets that left one after the other.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Observation {
    /// Bytes sent, and lost of them.
    pub(in super::super) sent: f64,
    pub(in super::super) lost: f64,
    /// The sending rate in b/s.
    pub(in super::super) rate: f64,
}

/// The last observations.
#[derive(Debug, Default)]
pub(in super::super) struct Observations {
    window: VecDeque<Observation>,
    count: u64,
    bytes: f64,
    /// Sizes of the lost packets of the observation that is being made, by number.
    missing: BTreeMap<u64, f64>,
    last_sent: Option<Instant>,
    loss: f64,
}

impl Observations {
    /// Takes the packets of a feedback. Returns whether they complete an observation.
    pub(in super::super) fn push(&mut self, packets: &[PacketResult]) -> bool {
        let sent = || packets.iter().map(|result| result.packet.sent);
        let (Some(first), Some(last)) = (sent().min(), sent().max()) else { return false };
        for result in packets {
            let size = f64::from(result.packet.size);
            if result.arrival.is_some() {
                self.missing.remove(&result.packet.number);
            } else {
                self.missing.insert(result.packet.number, size);
            }
            self.bytes += size;
        }
        let before = *self.last_sent.get_or_insert(first);
        let millis = millis_between(before, last);
        if millis <= 0.0 || millis < LEAST_MS {
            return false;
        }
        self.last_sent = Some(last);
        let bytes = core::mem::take(&mut self.bytes);
        let lost = core::mem::take(&mut self.missing).into_values().sum();
        self.window.push_back(Observation { sent: bytes, lost, rate: bytes * 8000.0 / millis });
        if self.window.len() > WINDOW {
            self.window.pop_front();
        }
        self.count += 1;
        self.loss = self.mean_loss();
        true
    }

    /// Each observation with its weight, the newest last.
    pub(in super::super) fn weighted(&self) -> impl Iterator<Item = (f64, &Observation)> {
        let newest = self.window.len() as i32 - 1;
        (0_i32..).zip(&self.window).map(move |(place, one)| (libm::pow(AGEING, f64::from(newest - place)), one))
    }

    fn mean_loss(&self) -> f64 {
        let (mut sent, mut lost) = (0.0, 0.0);
        let (mut best, mut worst) = ((1.0, 0.0, 0.0), (0.0, 0.0, 0.0));
        let mut worst_rate = 0.0;
        for (weight, one) in self.weighted() {
            sent += weight * one.sent;
            lost += weight * one.lost;
            let share = if one.sent > 0.0 { one.lost / one.sent } else { 0.0 };
            if self.count <= TRIM_ABOVE {
                continue;
            }
            if share > worst.0 {
                worst = (share, weight * one.lost, weight * one.sent);
                worst_rate = one.rate;
            }
            if share < best.0 {
                best = (share, weight * one.lost, weight * one.sent);
            }
        }
        let rest = sent - best.2 - worst.2;
        if self.median_rate() * SUDDEN <= worst_rate || rest <= 0.0 {
            return lost / sent;
        }
        (lost - best.1 - worst.1) / rest
    }

    fn median_rate(&self) -> f64 {
        let mut rates: Vec<f64> = self.window.iter().map(|one| one.rate).filter(|&rate| rate > 0.0).collect();
        rates.sort_by(f64::total_cmp);
        let middle = rates.len() / 2;
        match rates.len() {
            0 => 0.0,
            even if even % 2 == 0 => (rates[middle - 1] + rates[middle]) / 2.0,
            _ => rates[middle],
        }
    }

    /// The mean share of lost bytes.
    pub(in super::super) fn loss(&self) -> f64 {
        self.loss
    }

    /// How many there were so far.
    pub(in super::super) fn count(&self) -> u64 {
        self.count
    }

    /// When the last packet of the newest one left.
    pub(in super::super) fn last_sent(&self) -> Option<Instant> {
        self.last_sent
    }
}
