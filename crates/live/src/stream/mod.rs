//! Media over ADTFRC.

use crate::failure::Failure;

/// Media over ADTFRC.
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
