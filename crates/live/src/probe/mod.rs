//! Measure links and paths between hosts.

use crate::failure::Failure;

/// Measure links and paths between hosts.
#[derive(Debug, clap::Args)]
pub struct Command {}

impl Command {
    /// Runs it.
    ///
    /// # Errors
    ///
    /// See [`Failure`].
    pub fn run(self) -> Result<(), Failure> {
        Err(Failure::Input("not built yet".into()))
    }
}
