//! A stream as a recording for `hopcast view`: what became of frames, stalls, and how rates and delays develop.

use std::collections::VecDeque;
use std::path::Path;

use hopcast_protocols::time::{Duration, Instant};
use hopcast_sim::record::{Carried, Fate, Flow, Measurement};

use super::jitter::Frames;
use super::session::Variant;
use super::{ReceiverReport, SenderReport};
use crate::failure::Failure;
use crate::recording::{OPEN, Rate, Recording, Stall};

/// Name, unit and panel of the series of a sender, in their order.
const OF_SENDERS: [[&str; 3]; 5] = [
    ["rate", "b/s", "rate"],
    ["target rate", "b/s", "rate"],
    ["round trip", "s", "delay"],
    ["loss event rate", "1", "state"],
    ["queue", "packets", "queue"],
];
/// Those of a receiver.
const OF_RECEIVERS: [[&str; 3]; 5] = [
    ["rate", "b/s", "rate"],
    ["round trip", "s", "delay"],
    ["interarrival jitter", "s", "delay"],
    ["loss event rate", "1", "state"],
    ["lost packets", "packets", "lost"],
];

/// The recording of one end of a stream.
#[derive(Debug)]
pub(super) struct Record {
    recording: Recording,
    flow: Flow,
    series: [Option<usize>; 5],
    rate: Rate,
    frames: Known,
    stall: Stall,
}

/// What is known of frames.
#[derive(Debug, Default)]
struct Known {
    told: Frames,
    /// Lost frames whose events are not written. They may still become whole, and are late then, for the time [`OPEN`].
    lost: VecDeque<(Instant, u64)>,
    number: u64,
}

impl Record {
    /// A recording in `folder` of a stream's sender, if `is_sender`, or receiver.
    ///
    /// # Errors
    /// [`Failure::Input`]: the folder can't be written, or another command writes to it.
    pub(super) fn create(folder: &Path, variant: Variant, is_sender: bool) -> Result<Self, Failure> {
        let mut recording = Recording::create(folder, if is_sender { "stream send" } else { "stream receive" })?;
        let about = recording.about();
        let [from, to] = ["sender", "receiver"].map(|name| about.add_node(name));
        let flow = about.add_flow(Carried { name: "media".into(), from, to, protocol: variant.name() });
        let series = if is_sender { OF_SENDERS } else { OF_RECEIVERS };
        let series = series.map(|[name, unit, panel]| {
            about.add_series(Measurement { name, unit, panel, node: None, flow: Some(flow) })
        });
        let (frames, stall) = (Known::default(), Stall::default());
        Ok(Self { recording, flow, series, rate: Rate::default(), frames, stall })
    }

    /// When the next sample is due.
    pub(super) fn due(&self) -> Instant {
        self.recording.due()
    }

    /// The state of a sender, whenever it may have changed.
    pub(super) fn look_at_sender(&mut self, report: &SenderReport, now: Instant) {
        if !self.recording.is_due(now) {
            return;
        }
        let rate = self.rate.at(report.octets_sent, now);
        let rtt = report.rtt.map(Duration::as_secs_f64);
        let values = [rate, report.allowed_rate, rtt, Some(report.loss_event_rate), Some(report.waiting as f64)];
        self.sample(values, now);
    }

    /// The state of a receiver, whenever it may have changed.
    pub(super) fn look_at_receiver(&mut self, report: &ReceiverReport, now: Instant) {
        if let Some(frames) = report.media.frames {
            self.frames.look(self.flow, frames, now, &mut self.recording);
        }
        self.stall.look(self.flow, report.media.player.stalled, now, &mut self.recording);
        if !self.recording.is_due(now) {
            return;
        }
        let rate = self.rate.at(report.media.octets, now);
        let seconds = |time: Duration| Some(time.as_secs_f64());
        let values = [
            rate,
            report.rtt.and_then(seconds),
            seconds(report.media.jitter),
            Some(report.loss_event_rate),
            Some(report.media.packets.lost as f64),
        ];
        self.sample(values, now);
        let open = now.saturating_before(OPEN);
        self.frames.settle(self.flow, open, &mut self.recording);
        self.recording.release(self.stall.since().map_or(open, |from| open.min(from)));
    }

    /// Writes the rest, at the end.
    ///
    /// # Errors
    /// [`Failure::Run`]: a file that could not be written.
    pub(super) fn finish(mut self, now: Instant) -> Result<(), Failure> {
        self.frames.settle(self.flow, Instant::MAX, &mut self.recording);
        self.stall.close(self.flow, &mut self.recording);
        self.recording.finish(now)
    }

    fn sample(&mut self, values: [Option<f64>; 5], now: Instant) {
        for (series, value) in self.series.into_iter().zip(values) {
            if let Some(value) = value {
                self.recording.sample(now, series, value);
            }
        }
    }
}

impl Known {
    /// Makes events of what has changed since the last look.
    fn look(&mut self, flow: Flow, frames: Frames, now: Instant, recording: &mut Recording) {
        for _ in self.told.on_time..frames.on_time {
            recording.media(flow, now, Fate::OnTime, self.next());
        }
        for _ in self.told.late..frames.late {
            recording.media(flow, now, Fate::Late, self.next());
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
    fn settle(&mut self, flow: Flow, time: Instant, recording: &mut Recording) {
        while let Some(&(lost, number)) = self.lost.front().filter(|(lost, _)| *lost < time) {
            self.lost.pop_front();
            recording.media(flow, lost, Fate::Lost, number);
        }
    }

    fn next(&mut self) -> u64 {
        self.number += 1;
        self.number - 1
    }
}
