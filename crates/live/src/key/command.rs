//! `hopcast key`.

use std::path::PathBuf;

use super::{Identity, KeyError, NetworkKey};
use crate::failure::Failure;
use crate::output;

/// Make a network key, or an identity of a host.
///
/// The key is drawn at random and written into a new file that only its owner may read. Copy it to every host of the network
/// over a way that you trust, and give it to `hopcast node`, `hopcast stream` and `hopcast cloud` with --key.
///
/// With --identity it is the key pair of one host: leave it there, and give it to `hopcast node` or `hopcast cloud serve` with
/// --identity. Its public key is printed; the lists of members of all hosts need it.
#[derive(Debug, clap::Args)]
pub struct Command {
    /// Make an identity of a host instead, and print its public key
    #[arg(long)]
    identity: bool,
    /// Print the public key of the identity in FILE, and make nothing
    #[arg(long, conflicts_with = "identity")]
    public: bool,
    /// The file to be made.
    #[arg(value_name = "FILE")]
    path: PathBuf,
}

impl Command {
    /// Runs it.
    ///
    /// # Errors
    ///
    /// [`Failure::Input`], where the file can't be made or has no identity, [`Failure::Run`], where it can't be written or there is no
    /// randomness.
    pub(crate) fn run(self) -> Result<(), Failure> {
        let failed = |error: KeyError| match error {
            KeyError::Platform { .. } => Failure::Run(error.to_string()),
            _ => Failure::Input(error.to_string()),
        };
        let drawn = |error| Failure::Run(format!("can't draw a key: {error}"));
        if self.public {
            let identity = Identity::read(&self.path).map_err(failed)?;
            return output::print(&format!("{}\n", identity.public()));
        }
        if self.identity {
            let identity = Identity::draw().map_err(drawn)?;
            identity.write_new(&self.path).map_err(failed)?;
            return output::print(&format!("{}\n", identity.public()));
        }
        NetworkKey::draw().map_err(drawn)?.write_new(&self.path).map_err(failed)
    }
}
