//! Runs: replications on separate threads, while the calling thread shows progress and listens for Ctrl-C.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hopcast_sim::capture::{Names, Selection};
use hopcast_sim::execute::{self, Control, ExecuteError, Job, Outcome, execute};
use hopcast_sim::record::remove_others;
use hopcast_sim::results::{OutputError, RunResult, prepare_folder, write_layout, write_tables};
use hopcast_sim::scenario::Scenario;
use pyo3::exceptions::{PyKeyboardInterrupt, PyValueError};
use pyo3::prelude::*;

use crate::error::{interrupted, output_error, run_error, traffic_error};
use crate::extensions::{Raised, told};
use crate::meter::Machine;
use crate::result::PyRunResult;
use crate::scenario::PyScenario;

/// Between two looks at progress and signals.
const TICK: Duration = Duration::from_millis(100);

/// Ticks after which a stopped replication that is still running may be in a model that does not return.
const PATIENCE: u32 = 5;

/// Simulated time before the first event.
const NOTHING: hopcast_protocols::time::Duration = hopcast_protocols::time::Duration::ZERO;

/// Runs a replication for each seed, on this number of threads. It calls `progress` with simulated seconds, done and in
/// all; an exception there stops the runs. If it has a method `preparation`, that is called instead before the
/// simulation, with the steps of set-up of the first replications. With `out`, it writes the tables of all finished
/// replications there, however it ends, with `captures` those captures, and with `record` a recording of each
/// replication; it removes captures and recordings of an earlier run.
/// Errors carry the finished replications; an exception of a model written in Python becomes their cause.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "those of hopcast.run, by name in Python")]
pub(crate) fn run(
    py: Python<'_>,
    scenario: &PyScenario,
    seeds: Vec<u64>,
    threads: usize,
    out: Option<PathBuf>,
    captures: Option<Captures>,
    record: bool,
    progress: Option<Py<PyAny>>,
) -> PyResult<Vec<PyRunResult>> {
    let selection = captures.map(|captures| captures.selection(&scenario.loaded.scenario)).transpose()?;
    let selection = selection.as_ref();
    if let Some(folder) = &out {
        let names = names(scenario, selection, &seeds, seeds.len());
        py.detach(|| prepare_folder(folder, |name| names.contains(name))).map_err(|error| output_error(&error))?;
    }
    let wanted = seeds.len();
    let total = scenario.loaded.scenario.duration.as_secs_f64() * seeds.len() as f64;
    let job = Job {
        scenario: &scenario.loaded.scenario,
        seeds: &seeds,
        threads,
        captures: out.as_deref().zip(selection),
        recordings: out.as_deref().filter(|_| record),
    };
    let steps = job.preparation() * threads.clamp(1, seeds.len().max(1)) as u64;
    let tell = |py: Python<'_>, done: f64| match &progress {
        Some(progress) => progress.call1(py, (done, total)).map(drop),
        None => Ok(()),
    };
    let tell_preparation = |py: Python<'_>, done: u64| match &progress {
        Some(progress) => match progress.bind(py).getattr_opt("preparation")? {
            Some(preparation) => preparation.call1((done, steps)).map(drop),
            None => tell(py, 0.0),
        },
        None => Ok(()),
    };
    // An earlier run has told what it raised.
    scenario.raised.take();
    let (finished, outcome, stopped_by) = py.detach(|| {
        let machine = Machine::default();
        let release = || Python::attach(|py| machine.raise_in_models(py));
        supervise(&job, &machine, &scenario.raised, release, |control| {
            if scenario.raised.is_set() {
                control.stop();
            }
            Python::attach(|py| {
                py.check_signals()?;
                match control.simulated() {
                    NOTHING => tell_preparation(py, control.prepared()),
                    done => tell(py, done.as_secs_f64()),
                }
            })
        })
    });
    let written = out.as_deref().map_or(Ok(()), |folder| {
        let seeds: Vec<u64> = finished.iter().map(|result| result.provenance.seed).collect();
        let recorded = if record { &seeds[..] } else { &[] };
        let of = &scenario.loaded.scenario;
        py.detach(|| write(folder, of, &finished, &names(scenario, selection, &seeds, wanted), recorded))
    });
    let finished: Vec<_> = finished.into_iter().map(|result| PyRunResult(Arc::new(result))).collect();
    // A signal since the last tick would reach the interpreter when the results are on their way to it, and lose them.
    let stopped: PyResult<Bound<'_, PyAny>> = py.import("hopcast.errors").and_then(|errors| errors.getattr("Stopped"));
    let stopped = stopped?;
    let is_own = |raised: &PyErr| raised.value(py).is_instance(&stopped).unwrap_or(false);
    if let Some((who, raised)) = scenario.raised.take().filter(|(_, raised)| !is_own(raised)) {
        let error = run_error(py, told(py, &who, &raised)?, finished, wanted);
        error.set_cause(py, Some(raised));
        return Err(error);
    }
    let end = || if finished.len() == wanted { tell(py, total) } else { Ok(()) };
    let stopped_by = stopped_by.or_else(|| end().and_then(|()| py.check_signals()).err());
    let is_interrupted = stopped_by.as_ref().is_some_and(|error| error.is_instance_of::<PyKeyboardInterrupt>(py));
    match (stopped_by, outcome, written) {
        (Some(error), ..) if !is_interrupted => Err(error),
        // Taken from the interpreter, which raises it no more.
        (Some(_), Err(ExecuteError::Traffic { .. }), _) if finished.is_empty() => {
            Err(interrupted(py, finished, wanted))
        }
        (None, Err(ExecuteError::Traffic { error, .. }), _) if finished.is_empty() => {
            Err(traffic_error(py, &scenario.file, &error))
        }
        (_, Err(error), Err(output)) => Err(run_error(py, format!("{error}; {output}"), finished, wanted)),
        (_, Err(error), Ok(())) => Err(run_error(py, error.to_string(), finished, wanted)),
        (Some(_), Ok(_), Err(output)) => Err(run_error(py, format!("interrupted; {output}"), finished, wanted)),
        (None, Ok(_), Err(output)) => Err(run_error(py, output.to_string(), finished, wanted)),
        (Some(_), Ok(_), Ok(())) => Err(interrupted(py, finished, wanted)),
        (None, Ok(_), Ok(())) => Ok(finished),
    }
}

/// About how many bytes the captures of one replication with `seed` will have in all files together, the number of files, and
/// how many simulated seconds were tried for that; `None` if the run could not be prepared within `patience` seconds.
#[pyfunction]
#[expect(clippy::disallowed_types, reason = "how long to try is a matter of the user's time")]
pub(crate) fn capture_size(
    py: Python<'_>,
    scenario: &PyScenario,
    seed: u64,
    captures: Captures,
    patience: f64,
) -> PyResult<Option<(u64, usize, f64)>> {
    let wanted = &scenario.loaded.scenario;
    let selection = captures.selection(wanted)?;
    let begun = std::time::Instant::now();
    let goes_on = || begun.elapsed().as_secs_f64() < patience && !scenario.raised.is_set();
    let estimated = py.detach(|| execute::capture_size(wanted, &selection, seed, &goes_on));
    // What a model raises, or a file that can't be read, the run itself will tell.
    scenario.raised.take();
    let estimated = estimated.ok().flatten();
    Ok(estimated.map(|about| (about.bytes, selection.files(), about.simulated.as_secs_f64())))
}

/// What to capture: the names of nodes (`None`: all of them), whether what was merely overheard is left out, and whether there
/// is a capture of the medium.
#[derive(FromPyObject)]
pub(crate) struct Captures(Option<Vec<String>>, bool, bool);

impl Captures {
    fn selection(self, scenario: &Scenario) -> PyResult<Selection> {
        let Self(nodes, is_addressed, has_medium) = self;
        Selection::of(scenario, nodes.as_deref(), is_addressed, has_medium)
            .map_err(|error| PyValueError::new_err(error.to_string()))
    }
}

/// The captures of replications with `seeds`, out of the wanted number.
fn names<'a>(scenario: &'a PyScenario, selection: Option<&'a Selection>, seeds: &[u64], wanted: usize) -> Names<'a> {
    let seeds = seeds.iter().map(|&seed| Some(seed).filter(|_| wanted > 1));
    Names::new(&scenario.loaded.scenario, selection, seeds)
}

/// Writes the tables, then removes the captures and recordings of an earlier run; recordings of the seeds in `recorded` stay. Where
/// nothing finished, an earlier run stays as it is.
fn write(
    folder: &Path,
    scenario: &Scenario,
    finished: &[RunResult],
    captures: &Names<'_>,
    recorded: &[u64],
) -> Result<(), OutputError> {
    let Some(first) = finished.first() else { return Ok(()) };
    write_tables(folder, finished)?;
    write_layout(folder, scenario, first.provenance.seed)?;
    captures.remove_others(folder)?;
    remove_others(folder, recorded)
}

/// Runs the job on `machine`, next to this thread, which calls `tick` until it is done; an error of `tick` stops it. If it does not
/// stop soon, this thread calls `release` in each tick. Returns what finished, in the order of the seeds, how it ended, and that
/// error. What ends after a model has `raised` something does not count: it may have run on without it.
fn supervise(
    job: &Job<'_>,
    machine: &Machine,
    raised: &Raised,
    release: impl Fn() -> PyResult<()>,
    mut tick: impl FnMut(&Control) -> PyResult<()>,
) -> (Vec<RunResult>, Result<Outcome, ExecuteError>, Option<PyErr>) {
    let control = Control::new();
    let finished: Mutex<Vec<Option<RunResult>>> = Mutex::new(job.seeds.iter().map(|_| None).collect());
    let mut stopped_by = None;
    let outcome = std::thread::scope(|scope| {
        let (done, is_done) = channel::<()>();
        let (control, finished) = (&control, &finished);
        let worker = scope.spawn(move || {
            // Dropped when the work is over, whichever way.
            let _done = done;
            execute(job, control, machine, |place, result| {
                let result = Some(result).filter(|_| !raised.is_set());
                finished.lock().expect("nobody panics with the lock")[place] = result;
            })
        });
        let mut waited = 0;
        while is_done.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
            if stopped_by.is_none()
                && let Err(error) = tick(control)
            {
                control.stop();
                stopped_by = Some(error);
            }
            if control.is_stopped() {
                waited += 1;
                if waited > PATIENCE
                    && let Err(error) = release()
                {
                    stopped_by.get_or_insert(error);
                }
            }
        }
        worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    });
    let finished = finished.into_inner().expect("nobody panics with the lock");
    (finished.into_iter().flatten().collect(), outcome, stopped_by)
}
