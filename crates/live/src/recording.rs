//! Recordings of what live commands measure, for `hopcast view`: the folder, samples at regular times, stalls, and errors that wait
//! until the end.

use std::fs::File;
use std::path::Path;

use hopcast_protocols::time::{Duration, Instant};
use hopcast_sim::record::{Fate, Flow, Happening, Measured};
use hopcast_sim::results::OutputError;

use crate::failure::Failure;
use crate::output::{self, Made};

/// Between two samples.
pub(crate) const INTERVAL: Duration = Duration::from_millis(100);
/// An event that is told of so long after it began may stand at a later time.
pub(crate) const OPEN: Duration = Duration::from_secs(10);

/// The folder of a recording, which is this command's as long as it is held.
#[derive(Debug)]
pub(crate) struct Place {
    _made: Made,
    _held: Option<File>,
}

impl Place {
    /// Makes the folder, and holds it.
    ///
    /// # Errors
    /// [`Failure::Input`]: it can't be written, or another command writes to it.
    pub(crate) fn take(folder: &Path) -> Result<Self, Failure> {
        Ok(Self { _made: output::make_folder(folder)?, _held: output::hold(folder)? })
    }
}

/// A recording that a command writes while it runs. Errors of files wait until [`Self::finish`]: nothing that is recorded stops.
#[derive(Debug)]
pub(crate) struct Recording {
    measured: Measured,
    problem: Option<OutputError>,
    due: Instant,
    /// After the files: they go first.
    _place: Place,
}

impl Recording {
    /// A recording with the title `title` in `folder`.
    ///
    /// # Errors
    /// [`Failure::Input`]: the folder can't be written, or another command writes to it.
    pub(crate) fn create(folder: &Path, title: &'static str) -> Result<Self, Failure> {
        let place = Place::take(folder)?;
        let measured =
            Measured::create(folder, title, 0).map_err(|error| Failure::Input(format!("--record: {error}")))?;
        Ok(Self { measured, problem: None, due: Instant::START + INTERVAL, _place: place })
    }

    /// What it is about.
    pub(crate) fn about(&mut self) -> &mut Measured {
        &mut self.measured
    }

    /// When the next samples are due.
    pub(crate) fn due(&self) -> Instant {
        self.due
    }

    /// Whether samples are due at `now`; if so, the next ones are an interval later.
    pub(crate) fn is_due(&mut self, now: Instant) -> bool {
        if now < self.due {
            return false;
        }
        self.due = now + INTERVAL;
        true
    }

    /// A value of a series.
    pub(crate) fn sample(&mut self, now: Instant, series: Option<usize>, value: f64) {
        let Some(series) = series else { return };
        let sampled = self.measured.sample(now, series, value);
        self.note(sampled);
    }

    /// Something that happened.
    pub(crate) fn happening(&mut self, happening: Happening) {
        let written = self.measured.happening(happening);
        self.note(written);
    }

    /// What became of a frame of media.
    pub(crate) fn media(&mut self, flow: Flow, time: Instant, fate: Fate, number: u64) {
        let written = self.measured.media(flow, time, fate, number);
        self.note(written);
    }

    /// A stall of playback.
    pub(crate) fn stall(&mut self, flow: Flow, (from, until): (Instant, Instant), number: u64) {
        let written = self.measured.stall(flow, from, until, number);
        self.note(written);
    }

    /// Writes events before `time`: none that is to come begins before it.
    pub(crate) fn release(&mut self, time: Instant) {
        let released = self.measured.release(time);
        self.note(released);
    }

    /// Writes the rest at the end, and tells if the recording was full before.
    ///
    /// # Errors
    /// [`Failure::Run`]: a file that could not be written.
    pub(crate) fn finish(self, now: Instant) -> Result<(), Failure> {
        if let Some(full) = self.measured.full() {
            output::say(&format!(
                "--record: the recording was full after {:.1} s; it holds at most ten million events and as many samples",
                full.as_secs_f64()
            ));
        }
        let written = self.problem.map_or(Ok(()), Err).and_then(|()| self.measured.commit(now, &[0]));
        written.map_err(|error| Failure::Run(error.to_string()))
    }

    /// Keeps the first error.
    fn note(&mut self, outcome: Result<(), OutputError>) {
        if let Err(error) = outcome {
            self.problem.get_or_insert(error);
        }
    }
}

/// The rate in b/s since the last call.
#[derive(Debug, Default)]
pub(crate) struct Rate {
    last: Instant,
    octets: u64,
}

impl Rate {
    /// The rate of what has come to `octets` bytes at `now`.
    pub(crate) fn at(&mut self, octets: u64, now: Instant) -> Option<f64> {
        let time = now.saturating_since(self.last).as_secs_f64();
        let rate = (time > 0.0).then(|| octets.saturating_sub(self.octets) as f64 * 8.0 / time);
        *self = Self { last: now, octets };
        rate
    }

    /// Begins at `now`, with nothing.
    pub(crate) fn since(now: Instant) -> Self {
        Self { last: now, octets: 0 }
    }
}

/// The stalls of a player, from the time for which it has stood still in all.
#[derive(Debug, Default)]
pub(crate) struct Stall {
    /// Up to now.
    total: Duration,
    /// From when to when the display stands still, as far as that is known.
    open: Option<(Instant, Instant)>,
    number: u64,
}

impl Stall {
    /// The player has stood still for `stalled` in all.
    pub(crate) fn look(&mut self, flow: Flow, stalled: Duration, now: Instant, recording: &mut Recording) {
        let before = core::mem::replace(&mut self.total, stalled);
        if stalled < before {
            // It was the end of the stream.
            self.open = None;
        } else if stalled > before {
            let grown = stalled.saturating_sub(before);
            let since = now.saturating_before(grown);
            let (from, until) = self.open.unwrap_or((since, since));
            self.open = Some((from, until + grown));
        } else {
            self.close(flow, recording);
        }
    }

    /// Since when the display stands still, if it does.
    pub(crate) fn since(&self) -> Option<Instant> {
        self.open.map(|(from, _)| from)
    }

    /// Writes the stall that goes on.
    pub(crate) fn close(&mut self, flow: Flow, recording: &mut Recording) {
        if let Some(stall) = self.open.take() {
            recording.stall(flow, stall, self.number);
            self.number += 1;
        }
    }
}
