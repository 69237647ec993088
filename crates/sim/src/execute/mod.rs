//! Runs several replications of a scenario in parallel. The results do not depend on the number of threads.

mod capture_size;
mod control;
mod error;

pub use capture_size::{CaptureSize, capture_size};
pub use control::Control;
pub use error::ExecuteError;

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use hopcast_protocols::time::Instant;

use crate::capture::{Capture, Selection};
use crate::record::Recording;
use crate::results::{Meter, Replication, RunResult};
use crate::run::Simulation;
use crate::scenario::model::Scenario;

/// What to run.
#[derive(Clone, Copy, Debug)]
pub struct Job<'a> {
    /// The scenario.
    pub scenario: &'a Scenario,
    /// One replication each, in this order.
    pub seeds: &'a [u64],
    /// Number of replications in parallel; zero counts as one.
    pub threads: usize,
    /// What to capture, if anything, and into which folder; it must exist. See [`Capture::create`] for the names.
    pub captures: Option<(&'a Path, &'a Selection)>,
    /// Folder for a recording of each replication, if wanted; it must exist. See [`Recording::create`] for the names.
    pub recordings: Option<&'a Path>,
}

impl Job<'_> {
    /// Number of steps that prepare one replication: with thousands of nodes this takes long.
    pub fn preparation(&self) -> u64 {
        Simulation::preparation(self.scenario)
    }
}

/// How an execution ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All replications are finished.
    Finished,
    /// [`Control::stop`] was called before all were finished.
    Stopped,
}

/// Runs all replications. Passes each finished one to `handle_finished` at once, with its index among the seeds; the
/// order of two that finish together is not defined. `control` shows the progress and stops it; `meter` measures each
/// replication.
///
/// # Errors
/// The error of the failed replication with the lowest index; those with lower indices have been passed on.
pub fn execute<M: Meter>(
    job: &Job<'_>,
    control: &Control,
    meter: &M,
    handle_finished: impl FnMut(usize, RunResult) + Send,
) -> Result<Outcome, ExecuteError> {
    let pool = Pool {
        job,
        control,
        meter,
        next: AtomicUsize::new(0),
        first_failed: AtomicUsize::new(usize::MAX),
        errors: Mutex::new(Vec::new()),
        finished: Mutex::new((0, handle_finished)),
    };
    std::thread::scope(|scope| {
        for _ in 1..job.threads.clamp(1, job.seeds.len().max(1)) {
            scope.spawn(|| meter.on_thread(|| pool.work()));
        }
        meter.on_thread(|| pool.work());
    });
    let errors = pool.errors.into_inner().expect(NOT_POISONED);
    let (finished, _) = pool.finished.into_inner().expect(NOT_POISONED);
    match errors.into_iter().min_by_key(|(place, _)| *place) {
        Some((_, error)) => Err(error),
        None if finished < job.seeds.len() => Ok(Outcome::Stopped),
        None => Ok(Outcome::Finished),
    }
}

const NOT_POISONED: &str = "a panic of a thread that holds the lock is passed on when the scope ends";

/// What the threads share.
struct Pool<'a, M, F> {
    job: &'a Job<'a>,
    control: &'a Control,
    meter: &'a M,
    /// Place of the next replication to begin.
    next: AtomicUsize,
    /// Lowest place of one that failed. Those behind it are given up, those before it go on: the error is always the same.
    first_failed: AtomicUsize,
    errors: Mutex<Vec<(usize, ExecuteError)>>,
    /// How many, and who wants them.
    finished: Mutex<(usize, F)>,
}

impl<M: Meter, F: FnMut(usize, RunResult) + Send> Pool<'_, M, F> {
    /// Takes one replication after the other.
    fn work(&self) {
        loop {
            let place = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(&seed) = self.job.seeds.get(place) else { return };
            if self.is_given_up(place) {
                return;
            }
            match self.run(place, seed) {
                Ok(Some(result)) => {
                    let mut finished = self.finished.lock().expect(NOT_POISONED);
                    finished.0 += 1;
                    (finished.1)(place, result);
                }
                Ok(None) => return,
                Err(error) => {
                    self.first_failed.fetch_min(place, Ordering::Relaxed);
                    self.errors.lock().expect(NOT_POISONED).push((place, error));
                    return;
                }
            }
        }
    }

    /// One replication; `None` if it was given up on the way.
    fn run(&self, place: usize, seed: u64) -> Result<Option<RunResult>, ExecuteError> {
        let mark = self.meter.begin();
        let goes_on = || {
            self.control.on_prepared();
            !self.is_given_up(place)
        };
        let replication = Replication::new_while(self.job.scenario, seed, &goes_on);
        let Some(mut replication) = replication.map_err(|error| ExecuteError::Traffic { seed, error })? else {
            return Ok(None);
        };
        replication.simulation_mut().set_stop(self.control.request());
        let capture = self.capture(seed)?;
        if let Some(capture) = &capture {
            replication.simulation_mut().set_tap(capture.tap());
        }
        let recording =
            self.job.recordings.map(|folder| Recording::create(folder, self.job.scenario, seed)).transpose()?;
        if let Some(recording) = &recording {
            recording.attach(replication.simulation_mut());
        }
        let mut before = Instant::START;
        loop {
            let goes_on = replication.advance();
            let now = replication.simulation().now();
            self.control.on_progress(now.saturating_since(before));
            before = now;
            capture.as_ref().map_or(Ok(()), Capture::check)?;
            recording.as_ref().map_or(Ok(()), |recording| recording.collect(replication.simulation_mut()))?;
            if !goes_on {
                break;
            }
            if self.is_given_up(place) {
                return Ok(None);
            }
        }
        replication.simulation().check().map_err(|error| ExecuteError::Imbalance { seed, error })?;
        capture.map_or(Ok(()), Capture::commit)?;
        let result = replication.finish(self.meter.end(mark));
        let end = Instant::START + self.job.scenario.duration;
        recording.map_or(Ok(()), |recording| recording.commit(&result, end))?;
        Ok(Some(result))
    }

    /// The captures of one replication, if they are wanted.
    fn capture(&self, seed: u64) -> Result<Option<Capture>, ExecuteError> {
        let Some((folder, selection)) = self.job.captures else { return Ok(None) };
        let name = Some(seed).filter(|_| self.job.seeds.len() > 1);
        Ok(Some(Capture::create(folder, self.job.scenario, selection, name)?))
    }

    fn is_given_up(&self, place: usize) -> bool {
        self.control.is_stopped() || self.first_failed.load(Ordering::Relaxed) < place
    }
}
