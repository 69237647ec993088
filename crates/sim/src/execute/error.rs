//! Why a replication failed.

use crate::results::OutputError;
use crate::run::ImbalanceError;
use crate::traffic::TrafficError;

/// Why a replication failed.
#[derive(Debug, thiserror::Error)]
pub enum ExecuteError {
    /// The scenario's flows can't be set up: what is wrong is the scenario.
    #[error("seed {seed}: {error}")]
    Traffic {
        /// Seed of the replication; another one may place the nodes otherwise.
        seed: u64,
        /// What is wrong.
        error: TrafficError,
    },
    /// Packets came from nowhere or vanished: what is wrong is the simulator, and no figure of the run can be trusted.
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
