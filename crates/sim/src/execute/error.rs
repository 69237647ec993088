//! Errors of replications.

use crate::results::OutputError;
use crate::run::ImbalanceError;
use crate::traffic::TrafficError;

/// Reason why a replication failed.
#[derive(Debug, thiserror::Error)]
pub enum ExecuteError {
    /// The scenario's flows can't be set up: the error is in the scenario.
    #[error("seed {seed}: {error}")]
    Traffic {
        /// Seed of the replication; another one may place the nodes otherwise.
        seed: u64,
        /// What is wrong.
        error: TrafficError,
    },
    /// Packets appeared or vanished without a cause: the error is in the simulator, and no number of the run is reliable.
    #[error("seed {seed}: {error}")]
    Imbalance {
        /// Seed of the replication.
        seed: u64,
        /// What is wrong.
        error: ImbalanceError,
    },
    /// A file can't be written.
    #[error(transparent)]
    Output(#[from] OutputError),
}
