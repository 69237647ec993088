//! Cost of a run on the machine. The simulator itself reads no clock: the caller provides a [`Meter`].

use schemars::JsonSchema;
use serde::Serialize;

/// Cost of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, JsonSchema, Serialize)]
pub struct Cost {
    /// Events that the simulation handled; of several replications, the sum.
    #[schemars(extend("x-unit" = "events"))]
    pub events: u64,
    /// Time that the run took on the wall; of several replications, that of the slowest. `null` if it was not measured.
    pub wall_s: Option<f64>,
    /// User CPU time of the run's thread; of several replications, the sum. `null` if it was not measured.
    pub user_s: Option<f64>,
    /// Simulated time; of several replications, the sum.
    pub simulated_s: f64,
    /// Largest resident set of the process so far; `null` if it was not measured.
    pub peak_rss_bytes: Option<u64>,
}

/// Measurements of a [`Meter`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spent {
    /// See [`Cost::wall_s`].
    pub wall_s: Option<f64>,
    /// See [`Cost::user_s`].
    pub user_s: Option<f64>,
    /// See [`Cost::peak_rss_bytes`].
    pub peak_rss_bytes: Option<u64>,
}

/// Reads the clocks of the machine at the beginning and at the end of each run, on the run's own thread.
pub trait Meter: Sync {
    /// What the clocks showed at the beginning.
    type Mark;
    /// Runs the `work` of a thread, which runs one replication after the other.
    fn on_thread(&self, work: impl FnOnce() + Send) {
        work();
    }
    /// A run begins.
    fn begin(&self) -> Self::Mark;
    /// The run that began at `mark` has ended.
    fn end(&self, mark: Self::Mark) -> Spent;
}

/// Measures nothing.
impl Meter for () {
    type Mark = ();
    fn begin(&self) {}
    fn end(&self, (): ()) -> Spent {
        Spent::default()
    }
}
