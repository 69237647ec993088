//! NADA: network-assisted dynamic adaptation (RFC 8698).
//!
//! Delay, loss and marks are one signal, the aggregate congestion signal x, in units of delay. While the path is idle the rate ramps up
//! by what arrives; otherwise it follows x and its change, so that in equilibrium x is proportional to the inverse of the rate. Sections
//! and equations in this module are those of the RFC, and all times are in seconds.
//!
//! The RFC's receiver computes x and sends it. Here the sender computes it, as feedback tells each packet. Rates count media alone, as the
//! encoder does; the pacer has room for headers.
//!
//! Left out: a baseline of the delay that is forgotten after a time.

mod log;
mod loss;
#[cfg(test)]
mod tests;

use hopcast_wire::ecn::Ecn;

use super::{Feedback, Frame, MediaCongestionControl, SentPacket};
use crate::rounding::nearest;
use crate::time::Instant;
use log::Log;
use loss::Losses;

/// XREF: the signal at the greatest rate (Figure 3, as all that follow).
const REFERENCE: f64 = 0.010;
/// KAPPA and ETA: gains of the gradual update.
const KAPPA: f64 = 0.5;
const ETA: f64 = 2.0;
/// TAU: the greatest round trip for which the update is stable.
const TAU: f64 = 0.5;
/// DELTA: the time between two reports.
const DELTA: f64 = 0.1;
/// QEPS: below this, delay is no sign of a queue.
const QUEUE_EPSILON: f64 = 0.010;
/// DFILT: what filters of the delay add.
const FILTER: f64 = 0.120;
/// GAMMA_MAX: the greatest step of the ramp-up, as a share of what arrives.
const MAX_RAMP: f64 = 0.5;
/// QBOUND: the queue that the ramp-up may build.
const QUEUE_BOUND: f64 = 0.050;
/// QTH: beyond this, delay counts less and less next to losses, and LAMBDA: how fast.
const QUEUE_THRESHOLD: f64 = 0.050;
const LAMBDA: f64 = 0.5;
/// PLRREF and PMRREF: ratios of loss and marks at which they count as DLOSS and DMARK.
const LOSS_REFERENCE: f64 = 0.01;
const MARK_REFERENCE: f64 = 0.01;
const LOSS_DELAY: f64 = 0.010;
const MARK_DELAY: f64 = 0.002;
/// XMAX: the signal's maximum.
const MAX_SIGNAL: f64 = 0.5;
/// BETA_S and BETA_V: how the queue before the pacer moves its rate and that of the encoder, by at most this share of the reference
/// rate; FPS: how fast the queue is to be empty.
const SENDING: f64 = 0.1;
const ENCODING: f64 = 0.1;
const MAX_DEVIATION: f64 = 0.05;
const FRAME_RATE: f64 = 30.0;
/// Weight of the past in the mean size of packets, as TFRC has it.
const MEMORY: f64 = 0.9;

/// What a NADA session is told at its start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// RMIN, in b/s.
    pub min_rate: u64,
    /// RMAX, in b/s.
    pub max_rate: u64,
    /// Bytes of a packet's headers, of which the rates know nothing.
    pub headers: u32,
    /// PRIO: shares are proportional to it.
    pub priority: f64,
    /// How packets leave: ECT(0) for classic ECN, or Not-ECT.
    pub ecn: Ecn,
}

impl Default for Config {
    /// The values of the RFC, no headers, no ECN.
    fn default() -> Self {
        Self { min_rate: 150_000, max_rate: 1_500_000, headers: 0, priority: 1.0, ecn: Ecn::NotEct }
    }
}

/// A sender under NADA.
#[derive(Clone, Debug)]
pub struct Nada {
    config: Config,
    /// r_ref, in b/s.
    rate: f64,
    /// The signal, now and at the update before.
    signal: f64,
    log: Log,
    losses: Losses,
    /// When the rate was updated last.
    updated: Option<Instant>,
    /// In seconds; zero before the first.
    rtt: f64,
    /// Bytes of media that waited for the pacer before the last frame, less those that left since.
    backlog: u64,
    /// Mean bytes of media in a packet; zero before the first.
    payload: f64,
}

impl Nada {
    /// A session that has sent nothing.
    pub fn new(config: Config) -> Self {
        Self {
            config,
            rate: config.min_rate as f64,
            signal: 0.0,
            log: Log::default(),
            losses: Losses::default(),
            updated: None,
            rtt: 0.0,
            backlog: 0,
            payload: 0.0,
        }
    }

    /// Equations 1 and 2.
    fn measure(&self) -> f64 {
        let queue = self.log.queue_delay();
        let is_warped = queue >= QUEUE_THRESHOLD && self.losses.are_recent();
        let warped = QUEUE_THRESHOLD * libm::exp(-LAMBDA * (queue - QUEUE_THRESHOLD) / QUEUE_THRESHOLD);
        let delay = if is_warped { warped } else { queue };
        let penalty = |ratio: f64, reference: f64, delay: f64| delay * (ratio / reference) * (ratio / reference);
        let lost = penalty(self.log.loss_ratio(), LOSS_REFERENCE, LOSS_DELAY);
        let marked = penalty(self.log.mark_ratio(), MARK_REFERENCE, MARK_DELAY);
        (delay + lost + marked).min(MAX_SIGNAL)
    }

    /// Section 4.3. `elapsed` is the time since the update before.
    fn update(&mut self, signal: f64, elapsed: f64) {
        let (most, least) = (self.config.max_rate as f64, self.config.min_rate as f64);
        if self.log.is_idle(QUEUE_EPSILON) {
            // Equations 3 and 4.
            let gamma = MAX_RAMP.min(QUEUE_BOUND / (self.rtt + DELTA + FILTER));
            self.rate = self.rate.max((1.0 + gamma) * self.log.received_rate());
        } else {
            // Equations 5 to 7.
            let offset = signal - self.config.priority * REFERENCE * most / self.rate;
            let change = signal - self.signal;
            self.rate -=
                KAPPA * (elapsed / TAU) * (offset / TAU) * self.rate + KAPPA * ETA * (change / TAU) * self.rate;
        }
        // Equation 8.
        self.rate = self.rate.clamp(least, most);
    }

    /// By how much a rate deviates from the reference rate, in b/s: a share of what would empty the queue before the pacer within a
    /// frame (equations 11 and 12).
    fn deviation(&self, share: f64) -> f64 {
        (share * 8.0 * self.backlog as f64 * FRAME_RATE).min(MAX_DEVIATION * self.rate)
    }

    /// Bytes of media in a packet.
    fn media(&self, packet: &SentPacket) -> u32 {
        packet.size.saturating_sub(self.config.headers)
    }
}

impl MediaCongestionControl for Nada {
    fn on_sent(&mut self, packet: &SentPacket) {
        let media = self.media(packet);
        self.backlog = self.backlog.saturating_sub(media.into());
        let memory = if self.payload > 0.0 { MEMORY } else { 0.0 };
        self.payload = memory * self.payload + (1.0 - memory) * f64::from(media);
    }

    fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        if let Some(rtt) = feedback.rtt {
            self.rtt = rtt.as_secs_f64();
        }
        for result in feedback.packets {
            self.log.insert(result, self.media(&result.packet));
            self.losses.insert(result, self.rtt);
        }
        let Some(before) = self.updated.replace(feedback.now) else { return };
        self.log.summarise();
        let signal = self.measure();
        self.update(signal, feedback.now.saturating_since(before).as_secs_f64());
        self.signal = signal;
    }

    fn on_frame(&mut self, frame: &Frame) {
        self.backlog = frame.queued;
    }

    fn handle_timeout(&mut self, _now: Instant) {}

    fn poll_timeout(&self) -> Option<Instant> {
        None
    }

    /// r_vin (equation 13).
    fn target_rate(&self) -> u64 {
        nearest((self.rate - self.deviation(ENCODING)).max(self.config.min_rate as f64))
    }

    /// r_send (equation 14), and room for headers.
    fn pacing_rate(&self) -> Option<u64> {
        let headers = if self.payload > 0.0 { f64::from(self.config.headers) / self.payload } else { 0.0 };
        Some(nearest((self.rate + self.deviation(SENDING)).min(self.config.max_rate as f64) * (1.0 + headers)))
    }

    fn ecn(&self) -> Ecn {
        self.config.ecn
    }

    fn metrics(&self, show: &mut dyn FnMut(&'static str, f64)) {
        show("reference_rate_bps", self.rate);
        show("congestion_signal_s", self.signal);
        show("queue_delay_s", self.log.queue_delay());
        show("received_bps", self.log.received_rate());
        show("loss_share", self.log.loss_ratio());
        show("marked_share", self.log.mark_ratio());
    }
}
