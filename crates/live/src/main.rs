//! The live commands as a separate program, for hosts without Python.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(hopcast_live::command::main(std::env::args_os()))
}
