//! Custom models in the live commands.

use hopcast_sim::registry::Registry;

/// Where the live commands find custom models: a [`Registry`], or something that makes one of files.
pub trait Models {
    /// The models that a scenario or an option may name. `extensions` are the values of `--extension`, in their order.
    ///
    /// # Errors
    ///
    /// What is wrong with an extension; nothing is run.
    fn registry(&self, extensions: &[String]) -> Result<Registry, String>;

    /// What a model has failed with, if one has since the last call: the command then ends.
    fn poll_failure(&self) -> Option<String> {
        None
    }
}

/// The models of a program in Rust, which takes no extensions.
impl Models for Registry {
    fn registry(&self, extensions: &[String]) -> Result<Registry, String> {
        match extensions {
            [] => Ok(self.clone()),
            [first, ..] => Err(format!(
                "--extension {first}: this program has no Python; the command `hopcast` of the package has"
            )),
        }
    }
}
