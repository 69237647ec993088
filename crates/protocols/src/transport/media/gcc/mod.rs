//! GCC: the congestion control of WebRTC, as libwebrtc has it (`modules/congestion_controller/goog_cc`, 2026).
//!
//! Two estimates, by delay and by loss, and the lesser holds. Probes find capacity that the media alone would not. File names in
//! this module are those of libwebrtc's sources.
//!
//! Left out: what field trials turn on, separate detectors for audio, REMB, the network state estimator, the loss estimate by
//! receiver reports that the one here replaced, and padding other than probes.

mod alr;
mod delay;
mod loss;
mod probe;
mod rtt_backoff;
#[cfg(test)]
mod tests;
mod throughput;

use std::collections::VecDeque;

use super::{Feedback, MediaCongestionControl, Probe, SentPacket};
use crate::rounding::nearest;
use crate::time::{Duration, Instant};
use alr::Alr;
use delay::trendline::Usage;
use delay::{DelayBased, Update};
use loss::{LossBased, State};
use probe::controller::{Limit, ProbeController};
use probe::estimator::{ProbeEstimator, ProbePacket};
use rtt_backoff::RttBackoff;
use throughput::Throughput;

/// Not less than this, in b/s (`kCongestionControllerMinBitrate`).
const FLOOR: u64 = 5_000;
/// Not more than this, in b/s (`kDefaultMaxBitrate`).
const CEILING: f64 = 1e9;
/// The pacer sends at this multiple of the target (`kDefaultPaceMultiplier`).
const PACING: f64 = 2.5;
/// A probe that found less than this share of the acknowledged rate is not believed
/// (`kProbeDropThroughputFraction`).
const PROBE_DROP: f64 = 0.85;
/// The time between two looks at probes and round trips (`goog_cc_factory.cc`).
const PROCESS: Duration = Duration::from_millis(25);
/// Probes whose plan is remembered; their packets come back within a few round trips.
const PLANS: usize = 16;

/// What a GCC session is told at its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// The least target rate, in b/s; not below 5 kb/s.
    pub min_rate: u64,
    /// The first target rate, in b/s.
    pub start_rate: u64,
    /// What the encoder can produce at most, in b/s. Probes go up to twice as far.
    pub max_rate: u64,
}

impl Default for Config {
    /// The rates of RFC 8867, and libwebrtc's start rate.
    fn default() -> Self {
        Self { min_rate: 150_000, start_rate: 300_000, max_rate: 1_500_000 }
    }
}

/// A sender under GCC.
#[derive(Debug)]
pub struct Gcc {
    config: Config,
    throughput: Throughput,
    delay: DelayBased,
    loss: LossBased,
    alr: Alr,
    was_in_alr: bool,
    probes: ProbeEstimator,
    /// `None` before the first packet.
    controller: Option<ProbeController>,
    plans: VecDeque<Probe>,
    backoff: RttBackoff,
    /// Infinite where delay does not limit.
    delay_limit: f64,
    estimate: f64,
    heard: bool,
    next_process: Option<Instant>,
}

impl Gcc {
    /// A session that has sent nothing.
    pub fn new(config: Config) -> Self {
        let minimum = config.min_rate.max(FLOOR) as f64;
        let start = (config.start_rate as f64).max(minimum);
        let mut alr = Alr::default();
        alr.set_estimate(start);
        Self {
            config,
            throughput: Throughput::default(),
            delay: DelayBased::new(start, minimum),
            loss: LossBased::new(minimum, CEILING),
            alr,
            was_in_alr: false,
            probes: ProbeEstimator::default(),
            controller: None,
            plans: VecDeque::new(),
            backoff: RttBackoff::default(),
            delay_limit: f64::INFINITY,
            estimate: start,
            heard: false,
            next_process: None,
        }
    }

    /// The estimate of what the path carries, in b/s; it may be above what the encoder can produce.
    pub fn estimate(&self) -> u64 {
        nearest(self.estimate)
    }

    fn minimum(&self) -> f64 {
        self.config.min_rate.max(FLOOR) as f64
    }

    fn set_estimate(&mut self, estimate: f64) {
        self.estimate = estimate.min(self.delay_limit).min(CEILING).max(self.minimum());
    }

    /// Combines the estimates (`send_side_bandwidth_estimation.cc`, `UpdateEstimate`).
    fn combine(&mut self, now: Instant) {
        if self.backoff.is_high() {
            let lower = self.backoff.lower(self.estimate, now).unwrap_or(self.estimate);
            self.set_estimate(lower);
        } else if let Some(estimate) = self.loss.estimate() {
            self.set_estimate(estimate);
        } else {
            // Until losses are known, delay and probes are trusted.
            let trusted =
                if self.delay_limit.is_finite() { self.estimate.max(self.delay_limit) } else { self.estimate };
            self.set_estimate(trusted);
        }
    }

    fn limit(&self) -> Limit {
        if self.delay.usage() != Usage::Normal || self.backoff.is_high() {
            return Limit::Congestion;
        }
        match self.loss.state() {
            State::Delay => Limit::Delay,
            // libwebrtc's default supports each rise by padding, in which state it does not probe.
            State::Increasing | State::Decreasing => Limit::Congestion,
        }
    }

    /// Tells the estimate to what depends on it.
    fn publish(&mut self, now: Instant) {
        self.alr.set_estimate(self.estimate);
        let limit = self.limit();
        if let Some(controller) = &mut self.controller {
            controller.on_estimate(self.estimate, limit, now);
        }
    }

    /// What probes among these packets found, in b/s.
    fn probed(&mut self, arrived: &[(SentPacket, Instant)]) -> Option<f64> {
        let mut found = None;
        for (packet, arrival) in arrived {
            let Some(plan) = packet.probe.and_then(|id| self.plans.iter().find(|plan| plan.id == id)) else { continue };
            let rate = self.probes.on_packet(&ProbePacket {
                id: plan.id,
                planned_packets: plan.packets,
                planned_bytes: plan.bytes,
                size: packet.size,
                sent: packet.sent,
                arrival: *arrival,
            });
            found = rate.or(found);
        }
        found
    }

    fn note_alr(&mut self, now: Instant) -> Option<Instant> {
        let since = self.alr.since();
        if self.was_in_alr
            && since.is_none()
            && let Some(controller) = &mut self.controller
        {
            controller.on_alr_ended(now);
        }
        self.was_in_alr = since.is_some();
        since
    }

    /// Takes what the estimate by delay became.
    fn take(&mut self, update: Update) {
        let Some(estimate) = update.estimate else { return };
        if update.probed {
            // Not bounded by the estimate before.
            self.delay_limit = f64::INFINITY;
            self.set_estimate(estimate);
        }
        self.delay_limit = estimate;
        self.set_estimate(self.estimate);
    }
}

impl MediaCongestionControl for Gcc {
    fn on_sent(&mut self, packet: &SentPacket) {
        let now = packet.sent;
        self.alr.on_sent(packet.size, now);
        self.backoff.on_sent(now);
        if self.controller.is_none() {
            let start = self.estimate;
            self.controller = Some(ProbeController::new(start, self.config.max_rate as f64, now));
        }
        self.next_process.get_or_insert(now + PROCESS);
    }

    fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        let now = feedback.now;
        if feedback.packets.is_empty() {
            return;
        }
        self.heard = true;
        let results = feedback.packets.iter();
        let mut arrived: Vec<(SentPacket, Instant)> =
            results.filter_map(|result| Some((result.packet, result.arrival?.time))).collect();
        arrived.sort_by_key(|(packet, arrival)| (*arrival, packet.number));
        if let Some(rtt) = feedback.rtt {
            self.backoff.on_rtt(rtt, now);
            self.delay.set_rtt(rtt);
        }
        let alr = self.note_alr(now);
        for (packet, arrival) in &arrived {
            self.throughput.on_packet(packet.sent, *arrival, packet.size);
        }
        self.throughput.expire();
        let acknowledged = self.throughput.rate();
        if let Some(rate) = acknowledged {
            self.loss.set_acknowledged(rate);
        }
        let probed = self.probed(&arrived).map(|rate| {
            // Not far below what arrives, which a probe that found too little must not raise either.
            acknowledged.map_or(rate, |acknowledged| rate.max(self.delay.rate().min(PROBE_DROP * acknowledged)))
        });
        let times: Vec<(Instant, Instant)> = arrived.iter().map(|(packet, arrival)| (packet.sent, *arrival)).collect();
        let update = self.delay.on_feedback(&times, acknowledged, probed, now);
        self.take(update);
        self.loss.on_feedback(feedback.packets, self.delay_limit, alr.is_some());
        self.combine(now);
        if update.estimate.is_some() {
            self.publish(now);
        }
        if update.recovered
            && let Some(controller) = &mut self.controller
        {
            controller.set_alr(alr);
            controller.on_recovery(now);
        }
    }

    fn handle_timeout(&mut self, now: Instant) {
        if self.next_process.is_none_or(|at| now < at) {
            return;
        }
        self.next_process = Some(now + PROCESS);
        let before = self.estimate;
        self.combine(now);
        let alr = self.alr.since().filter(|_| self.heard);
        if let Some(controller) = &mut self.controller {
            controller.set_alr(alr);
            controller.handle_timeout(now);
        }
        if self.estimate != before {
            self.publish(now);
        }
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.next_process
    }

    fn target_rate(&self) -> u64 {
        self.estimate().min(self.config.max_rate).max(self.config.min_rate)
    }

    fn pacing_rate(&self) -> Option<u64> {
        Some(nearest(self.estimate * PACING))
    }

    fn poll_probe(&mut self, now: Instant) -> Option<Probe> {
        let probe = self.controller.as_mut()?.poll(now)?;
        self.plans.push_back(probe);
        if self.plans.len() > PLANS {
            self.plans.pop_front();
        }
        Some(probe)
    }

    fn metrics(&self, show: &mut dyn FnMut(&'static str, f64)) {
        show("estimate_bps", self.estimate);
        show("delay_estimate_bps", self.delay.rate());
        if let Some(rate) = self.loss.estimate() {
            show("loss_estimate_bps", rate);
        }
        if let Some(rate) = self.throughput.rate() {
            show("acknowledged_bps", rate);
        }
        if let Some(rate) = self.delay.capacity() {
            show("link_capacity_bps", rate);
        }
        show("trend", self.delay.trendline().modified());
        show("trend_threshold", self.delay.trendline().threshold());
        let usage = match self.delay.usage() {
            Usage::Over => 1.0,
            Usage::Normal => 0.0,
            Usage::Under => -1.0,
        };
        show("usage", usage);
        show("loss_share", self.loss.loss());
        show("inherent_loss_share", self.loss.inherent());
        show("application_limited", f64::from(u8::from(self.alr.since().is_some())));
    }
}
