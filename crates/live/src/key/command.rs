//! `hopcast key`.

use std::path::PathBuf;

use super::{KeyError, NetworkKey};
use crate::failure::Failure;

/// Make a network key.
///
/// The key is drawn at random and written into a new file that only its owner may read. Copy it to every host of the network
/// over a way that you trust, and give it to `hopcast node`, `hopcast stream` and `hopcast cloud` with --key.
#[derive(Debug, clap::Args)]
pub struct Command {
    /// The file to be made.
    #[arg(value_name = "FILE")]
    path: PathBuf,
}

impl Command {
    /// Runs it.
    ///
    /// # Errors
    ///
    /// [`Failure::Input`], where the file can't be made, [`Failure::Run`], where it can't be written or there is no randomness.
    pub(crate) fn run(self) -> Result<(), Failure> {
        let key = NetworkKey::draw().map_err(|error| Failure::Run(format!("can't draw a key: {error}")))?;
        key.write_new(&self.path).map_err(|error| match error {
            KeyError::Unmade { .. } => Failure::Input(error.to_string()),
            _ => Failure::Run(error.to_string()),
        })
    }
}
