//! Runs: replications on threads of their own, while the calling thread shows progress and listens for Ctrl-C.

use std::path::PathBuf;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hopcast_sim::execute::{Control, ExecuteError, Job, Outcome, execute};
use hopcast_sim::results::{RunResult, write_tables};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;

use crate::error::{interrupted, run_error, traffic_error};
use crate::meter::Machine;
use crate::result::PyRunResult;
use crate::scenario::PyScenario;

/// Between two looks at progress and signals.
const TICK: Duration = Duration::from_millis(100);

/// Runs a replication for each seed, on so many threads. `progress` is told of simulated seconds, done and in all; what it
/// raises stops the runs. With `out`, the tables of all that finished are written there, however it ends, and with `pcap` a
/// capture of each node.
#[pyfunction]
pub(crate) fn run(
    py: Python<'_>,
    scenario: &PyScenario,
    seeds: Vec<u64>,
    threads: usize,
    out: Option<PathBuf>,
    pcap: bool,
    progress: Option<Py<PyAny>>,
) -> PyResult<Vec<PyRunResult>> {
    let total = scenario.loaded.scenario.duration.as_secs_f64() * seeds.len() as f64;
    let tell = |py: Python<'_>, done: f64| match &progress {
        Some(progress) => progress.call1(py, (done, total)).map(drop),
        None => Ok(()),
    };
    let captures = out.as_deref().filter(|_| pcap);
    let job = Job { scenario: &scenario.loaded.scenario, seeds: &seeds, threads, captures };
    let (finished, outcome, stopped_by) = py.detach(|| {
        supervise(&job, |control| {
            Python::attach(|py| {
                py.check_signals()?;
                tell(py, control.simulated().as_secs_f64())
            })
        })
    });
    if let Some(folder) = &out {
        py.detach(|| write_tables(folder, &finished)).map_err(|error| run_error(error.to_string()))?;
    }
    let finished = finished.into_iter().map(|result| PyRunResult(Arc::new(result))).collect();
    match (stopped_by, outcome) {
        (Some(error), _) if error.is_instance_of::<PyKeyboardInterrupt>(py) => Err(interrupted(py, finished)),
        (Some(error), _) => Err(error),
        (None, Err(ExecuteError::Traffic { error, .. })) => Err(traffic_error(py, &scenario.file, &error)),
        (None, Err(error)) => Err(run_error(error.to_string())),
        (None, Ok(_)) => {
            tell(py, total)?;
            Ok(finished)
        }
    }
}

/// Runs the job beside this thread, which calls `tick` until it is done; an error of `tick` stops it. Returns what finished,
/// in the order of the seeds, how it ended, and that error.
fn supervise(
    job: &Job<'_>,
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
            execute(job, control, &Machine, |place, result| {
                finished.lock().expect("nobody panics with the lock")[place] = Some(result);
            })
        });
        while is_done.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
            if stopped_by.is_none()
                && let Err(error) = tick(control)
            {
                control.stop();
                stopped_by = Some(error);
            }
        }
        worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    });
    let finished = finished.into_inner().expect("nobody panics with the lock");
    (finished.into_iter().flatten().collect(), outcome, stopped_by)
}
