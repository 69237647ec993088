//! A stream as a recording for `hopcast view`: what became of frames, stalls, and how rates and delays develop.

use std::collections::VecDeque;
use std::fs::File;
use std::path::Path;

use hopcast_protocols::application::PlayerReport;
use hopcast_protocols::time::{Duration, Instant};
use hopcast_sim::record::{Fate, Measured, Measurement, Subject};
use hopcast_sim::results::OutputError;

use super::jitter::Frames;
use super::session::Variant;
use super::{ReceiverReport, SenderReport};
use crate::failure::Failure;
use crate::output::{self, Made};

/// Between two samples.
const INTERVAL: Duration = Duration::from_millis(100);
/// A lost frame may still become whole, and is late then; after this time it stays lost.
const OPEN: Duration = Duration::from_secs(10);

/// The series of a sender, in their order.
const OF_SENDERS: [Measurement; 5] = [
    Measurement { name: "rate", unit: "b/s", panel: "rate" },
    Measurement { name: "target rate", unit: "b/s", panel: "rate" },
    Measurement { name: "round trip", unit: "s", panel: "delay" },
    Measurement { name: "loss event rate", unit: "1", panel: "state" },
    Measurement { name: "queue", unit: "packets", panel: "queue" },
];
/// The series of a receiver, in their order.
const OF_RECEIVERS: [Measurement; 5] = [
    Measurement { name: "rate", unit: "b/s", panel: "rate" },
    Measurement { name: "round trip", unit: "s", panel: "delay" },
    Measurement { name: "interarrival jitter", unit: "s", panel: "delay" },
    Measurement { name: "loss event rate", unit: "1", panel: "state" },
    Measurement { name: "lost packets", unit: "packets", panel: "lost" },
];

/// The recording of one end of a stream.
#[derive(Debug)]
pub(super) struct Record {
    measured: Measured,
    problem: Option<OutputError>,
    /// When the next sample is due.
    due: Instant,
    last: Instant,
    octets: u64,
    frames: Known,
    stall: Stall,
    /// The folder is this command's until its end.
    _held: (Made, Option<File>),
}

/// What is known of frames.
#[derive(Debug, Default)]
struct Known {
    told: Frames,
    /// Lost frames whose events are not written.
    lost: VecDeque<(Instant, u64)>,
    number: u64,
}

/// A stall that goes on, or the time until the next one.
#[derive(Debug, Default)]
struct Stall {
    /// Up to now.
    total: Duration,
    /// From when to when the display stands still, as far as that is known.
    open: Option<(Instant, Instant)>,
    number: u64,
}

impl Record {
    /// A recording in `folder` of a stream's sender, if `is_sender`, or receiver.
    ///
    /// # Errors
    /// [`Failure::Input`]: the folder can't be written, or another command writes to it.
    pub(super) fn create(folder: &Path, variant: Variant, is_sender: bool) -> Result<Self, Failure> {
        let held = (output::make_folder(folder)?, output::hold(folder)?);
        let subject = Subject {
            title: if is_sender { "stream send" } else { "stream receive" },
            nodes: ["sender", "receiver"],
            protocol: variant.name(),
            series: if is_sender { &OF_SENDERS } else { &OF_RECEIVERS },
        };
        let measured =
            Measured::create(folder, subject).map_err(|error| Failure::Input(format!("--record: {error}")))?;
        Ok(Self {
            measured,
            problem: None,
            due: Instant::START + INTERVAL,
            last: Instant::START,
            octets: 0,
            frames: Known::default(),
            stall: Stall::default(),
            _held: held,
        })
    }

    /// When the next sample is due.
    pub(super) fn due(&self) -> Instant {
        self.due
    }

    /// The state of a sender, whenever it may have changed.
    pub(super) fn look_at_sender(&mut self, report: &SenderReport, now: Instant) {
        if now < self.due {
            return;
        }
        let rate = self.rate(report.octets_sent, now);
        let rtt = report.rtt.map(Duration::as_secs_f64);
        let values = [rate, report.allowed_rate, rtt, Some(report.loss_event_rate), Some(report.waiting as f64)];
        self.sample(values, now);
    }

    /// The state of a receiver, whenever it may have changed.
    pub(super) fn look_at_receiver(&mut self, report: &ReceiverReport, now: Instant) {
        if let Some(frames) = report.media.frames {
            self.frames.look(frames, now, &mut self.measured);
        }
        self.stall.look(&report.media.player, now, &mut self.measured);
        if now < self.due {
            return;
        }
        let rate = self.rate(report.media.octets, now);
        let seconds = |time: Duration| Some(time.as_secs_f64());
        let values = [
            rate,
            report.rtt.and_then(seconds),
            seconds(report.media.jitter),
            Some(report.loss_event_rate),
            Some(report.media.packets.lost as f64),
        ];
        self.sample(values, now);
        let open = Instant::from_nanos(now.as_nanos().saturating_sub(OPEN.as_nanos()));
        self.frames.settle(open, &mut self.measured);
        let bound = self.stall.open.map_or(open, |(from, _)| open.min(from));
        let released = self.measured.release(bound);
        self.note(released);
    }

    /// Writes the rest, at the end.
    ///
    /// # Errors
    /// [`Failure::Run`]: a file that could not be written.
    pub(super) fn finish(mut self, now: Instant) -> Result<(), Failure> {
        self.frames.settle(Instant::MAX, &mut self.measured);
        self.stall.close(&mut self.measured);
        let written = self.problem.map_or(Ok(()), Err).and_then(|()| self.measured.commit(now));
        written.map_err(|error| Failure::Run(error.to_string()))
    }

    fn rate(&mut self, octets: u64, now: Instant) -> Option<f64> {
        let time = now.saturating_since(self.last).as_secs_f64();
        let rate = (time > 0.0).then(|| octets.saturating_sub(self.octets) as f64 * 8.0 / time);
        (self.octets, self.last) = (octets, now);
        rate
    }

    fn sample(&mut self, values: [Option<f64>; 5], now: Instant) {
        self.due = now + INTERVAL;
        for (series, value) in values.into_iter().enumerate() {
            let Some(value) = value else { continue };
            let sampled = self.measured.sample(now, series, value);
            self.note(sampled);
        }
    }

    /// Keeps the first error.
    fn note(&mut self, outcome: Result<(), OutputError>) {
        if let Err(error) = outcome {
            self.problem.get_or_insert(error);
        }
    }
}

impl Known {
    /// Makes events of what has changed since the last look.
    fn look(&mut self, frames: Frames, now: Instant, measured: &mut Measured) {
        for _ in self.told.on_time..frames.on_time {
            measured.media(now, Fate::OnTime, self.next());
        }
        for _ in self.told.late..frames.late {
            measured.media(now, Fate::Late, self.next());
        }
        // A frame that is whole now was the last one that was lost.
        for _ in frames.lost..self.told.lost {
            self.lost.pop_back();
        }
        for _ in self.told.lost..frames.lost {
            let number = self.next();
            self.lost.push_back((now, number));
        }
        self.told = frames;
    }

    /// Writes the frames that were lost before `time`.
    fn settle(&mut self, time: Instant, measured: &mut Measured) {
        while let Some(&(lost, number)) = self.lost.front().filter(|(lost, _)| *lost < time) {
            self.lost.pop_front();
            measured.media(lost, Fate::Lost, number);
        }
    }

    fn next(&mut self) -> u64 {
        self.number += 1;
        self.number - 1
    }
}

impl Stall {
    fn look(&mut self, player: &PlayerReport, now: Instant, measured: &mut Measured) {
        let before = core::mem::replace(&mut self.total, player.stalled);
        if player.stalled < before {
            // It was the end of the stream.
            self.open = None;
        } else if player.stalled > before {
            let grown = Duration::from_nanos(player.stalled.as_nanos() - before.as_nanos());
            let since = Instant::from_nanos(now.as_nanos().saturating_sub(grown.as_nanos()));
            let (from, until) = self.open.unwrap_or((since, since));
            self.open = Some((from, until + grown));
        } else {
            self.close(measured);
        }
    }

    fn close(&mut self, measured: &mut Measured) {
        if let Some((from, until)) = self.open.take() {
            measured.stall(from, until, self.number);
            self.number += 1;
        }
    }
}
