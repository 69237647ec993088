//! The receiver: algorithm 3 of the paper.

use super::super::tfrc::{self, Data, Report, Timing};
use super::{Config, Detector, Identification, Metrics, Sample, Signs, States};
use crate::time::{Duration, Instant};

/// What goes with a report to a sender that knows of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Notice {
    /// The state of the network.
    pub states: States,
    /// The report was sent at once, for a loss in congestion.
    pub urgent: bool,
}

/// The receiving end of a flow.
#[derive(Clone, Debug)]
pub struct Receiver {
    tfrc: tfrc::Receiver,
    granularity: Duration,
    identification: Option<Identification>,
    metrics: Metrics,
    detector: Detector,
    /// What was extreme at the last packet; `None` if the sender is plain TFRC.
    signs: Option<Signs>,
    /// The last sample.
    sample: Option<Sample>,
    /// Losses that packets without data showed since then.
    lost: u64,
    urgent: bool,
}

impl Receiver {
    /// A receiver to which nothing has come yet.
    pub(crate) fn new(config: Config) -> Self {
        Self {
            tfrc: tfrc::Receiver::new(config.tfrc),
            granularity: config.tfrc.granularity,
            identification: config.identification,
            metrics: Metrics::new(),
            detector: Detector::new(),
            signs: None,
            sample: None,
            lost: 0,
            urgent: false,
        }
    }

    /// A data packet arrives that left at `timestamp` by its sender's clock, in units of 10 µs; one without a timestamp comes
    /// from a sender of plain TFRC, and is treated as it expects.
    pub(crate) fn on_packet(&mut self, data: &Data, timestamp: Option<u32>, now: Instant) {
        let arrival = self.tfrc.on_packet(data, now);
        let Some(timestamp) = timestamp else {
            self.signs = None;
            self.tfrc.count_losses(true, now);
            return;
        };
        if arrival.timing == Timing::Stale {
            return;
        }
        let lost = arrival.lost + core::mem::take(&mut self.lost);
        let sample = self.metrics.on_packet(timestamp, lost, data.rtt.max(self.granularity), now);
        self.signs = Some(self.detector.classify(&sample));
        self.sample = Some(sample);
        let states = self.states();
        self.tfrc.count_losses(states.is_none_or(|states| states.congestion), now);
        if lost > 0 && states.is_some_and(|states| states.congestion) {
            self.urgent = true;
            self.tfrc.urge(now);
        }
    }

    /// A packet without data arrives, with `without_data` more of its kind immediately before it. What it shows to be lost is
    /// judged by the state of the last data.
    pub(crate) fn on_other(&mut self, number: u64, without_data: u64, now: Instant) {
        self.tfrc.on_other(number, without_data, now);
        self.lost += self.tfrc.losses().iter().map(tfrc::Loss::count).sum::<u64>();
        self.tfrc.count_losses(self.states().is_none_or(|states| states.congestion), now);
    }

    /// Asks for feedback at once, if anything came since the last.
    pub(crate) fn urge(&mut self, now: Instant) {
        self.tfrc.urge(now);
    }

    /// Time has come to `now`: the feedback timer may be due.
    pub(crate) fn handle_timeout(&mut self, now: Instant) {
        self.tfrc.handle_timeout(now);
    }

    /// Takes out feedback to send, if any; without a notice to a sender of plain TFRC, or if no end should react.
    pub(crate) fn poll_report(&mut self, now: Instant) -> Option<(Report, Option<Notice>)> {
        let report = self.tfrc.poll_report(now)?;
        let urgent = core::mem::take(&mut self.urgent);
        Some((report, self.states().map(|states| Notice { states, urgent })))
    }

    /// The receiver of TFRC inside.
    pub(crate) fn tfrc(&self) -> &tfrc::Receiver {
        &self.tfrc
    }

    /// The state at the last packet, as the flow identifies it; `None` before the first, if the sender is plain TFRC, or
    /// if no end should react.
    pub fn states(&self) -> Option<States> {
        Some(self.signs?.states(self.identification?))
    }

    /// What was extreme at the last packet, by which it can be identified in each way; `None` before the first, or if the sender is
    /// plain TFRC.
    pub fn signs(&self) -> Option<Signs> {
        self.signs
    }

    /// What was measured at the last packet.
    pub fn sample(&self) -> Option<&Sample> {
        self.sample.as_ref()
    }
}
