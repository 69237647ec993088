//! Real hosts and programs on the simulated radio.

use crate::failure::Failure;

/// Real hosts and programs on the simulated radio.
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
