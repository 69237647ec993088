//! What a replication takes from the machine.

#![expect(clippy::disallowed_types, reason = "this is where the clock of the machine is read, for the cost of a run")]

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use hopcast_sim::results::{Meter, Spent};
use pyo3::prelude::*;

/// The clocks of this machine: wall-clock time anywhere, user time of the thread and memory on Linux.
#[derive(Default)]
pub(crate) struct Machine {
    /// Those on which replications run, as Python numbers them.
    threads: Mutex<Vec<u64>>,
}

impl Machine {
    /// Raises `hopcast.errors.Stopped` in the models that replications are calling, if these are written in Python.
    pub(crate) fn raise_in_models(&self, py: Python<'_>) -> PyResult<()> {
        let threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner).clone();
        py.import("hopcast.errors")?.getattr("stop_threads")?.call1((threads,)).map(drop)
    }

    fn change(&self, change: impl FnOnce(&mut Vec<u64>)) {
        change(&mut self.threads.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

impl Meter for Machine {
    type Mark = (Instant, Option<f64>);

    /// Python keeps what it knows of a thread as long as the thread is attached once, so that each call of a model is cheap: half a
    /// microsecond instead of eight.
    fn on_thread(&self, work: impl FnOnce() + Send) {
        Python::attach(|py| {
            let ident =
                py.import("threading").and_then(|threading| threading.call_method0("get_ident")?.extract::<u64>());
            if let Ok(ident) = ident {
                self.change(|threads| threads.push(ident));
            }
            py.detach(work);
            if let Ok(ident) = ident {
                self.change(|threads| threads.retain(|&thread| thread != ident));
            }
        });
    }

    fn begin(&self) -> Self::Mark {
        (Instant::now(), usage().0)
    }

    fn end(&self, (wall, user): Self::Mark) -> Spent {
        let (user_now, peak_rss_bytes) = usage();
        let user_s = user_now.zip(user).map(|(now, then)| now - then);
        Spent { wall_s: Some(wall.elapsed().as_secs_f64()), user_s, peak_rss_bytes }
    }
}

/// User CPU seconds of this thread, and the process's largest resident set in bytes.
#[cfg(target_os = "linux")]
fn usage() -> (Option<f64>, Option<u64>) {
    use nix::sys::resource::{UsageWho, getrusage};
    use nix::sys::time::TimeValLike;

    let Ok(usage) = getrusage(UsageWho::RUSAGE_THREAD) else { return (None, None) };
    // getrusage(2) counts in kilobytes of 1024.
    let peak = u64::try_from(usage.max_rss()).ok().map(|kilobytes| kilobytes * 1024);
    (Some(usage.user_time().num_microseconds() as f64 * 1e-6), peak)
}

#[cfg(not(target_os = "linux"))]
fn usage() -> (Option<f64>, Option<u64>) {
    (None, None)
}
