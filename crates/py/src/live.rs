//! The live commands, from their arguments to their exit status.

use std::ffi::OsString;

use pyo3::prelude::*;

/// Runs the live command that `arguments` (the name of the program first) ask for; what it has to say it prints. Returns its
/// exit status.
#[pyfunction]
pub(crate) fn live(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| hopcast_live::command::main(arguments))
}
