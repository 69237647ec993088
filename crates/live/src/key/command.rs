//! `hopcast key`.

use std::path::PathBuf;

use super::NetworkKey;
use crate::failure::Failure;

/// Make a network key.
///
/// The key is drawn at random and written into a new file that only its owner may read. Copy it to every host of the network
/// over a way that you trust, and give it to `hopcast node` and `hopcast stream` with --key.
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
    /// [`Failure::Run`], where there is no randomness, or no file can be made.
    pub fn run(self) -> Result<(), Failure> {
        let key = NetworkKey::draw().map_err(|error| Failure::Run(format!("can't draw a key: {error}")))?;
        key.write_new(&self.path).map_err(|error| Failure::Run(error.to_string()))
    }
}
