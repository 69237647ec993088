//! The live commands with the application of this crate: `talkspurts emulate SCENARIO.toml`.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(hopcast_live::command::main_with(std::env::args_os(), &talkspurts::registry()))
}
