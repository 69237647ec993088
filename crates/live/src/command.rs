//! The command line, with a subcommand for each kind of use.

use std::ffi::OsString;

use clap::{CommandFactory as _, FromArgMatches as _, Parser};
#[cfg(target_os = "linux")]
use hopcast_sim::io_error::cause;
use hopcast_sim::registry::Registry;

use crate::failure::Failure;
use crate::models::Models;
#[cfg(target_os = "linux")]
use crate::platform::signals;
use crate::{output, usage};

/// Media streaming over wireless ad hoc networks: emulated, and between real hosts.
#[derive(Debug, Parser)]
#[command(name = "hopcast", version, long_version = NOTICE, about, max_term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

/// What goes with each copy of the program: the licence of the bundled traces wants to be named (CC BY 3.0, section 4).
const NOTICE: &str = concat!(
    env!("CARGO_PKG_VERSION"),
    "\nMIT or Apache 2.0, as you like.",
    "\nContains the sizes of the frames of Big Buck Bunny, (c) 2008 Blender Foundation, www.bigbuckbunny.org, under CC BY 3.0,",
    "\nhttps://creativecommons.org/licenses/by/3.0/.",
);

#[cfg(target_os = "linux")]
#[derive(Debug, clap::Subcommand)]
enum Command {
    Cloud(crate::cloud::Command),
    Emulate(Box<crate::emulate::Command>),
    Key(crate::key::command::Command),
    Node(crate::node::Command),
    Probe(crate::probe::Command),
    Stream(crate::stream::Command),
}

#[cfg(not(target_os = "linux"))]
#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Emulation and the live commands.
    #[command(external_subcommand)]
    Live(Vec<OsString>),
}

/// The command line, for manual pages.
pub fn definition() -> clap::Command {
    Arguments::command()
}

/// Runs the command in `arguments` (the name of the program first), and returns its exit status: 0 done, 1 failed while
/// running, 2 the input is wrong and nothing was run, 130 interrupted (143 by SIGTERM).
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    main_with(arguments, &Registry::default())
}

/// The same with custom models, which scenarios and options may name: those of a [`Registry`], or of other [`Models`].
pub fn main_with(arguments: impl IntoIterator<Item = OsString>, models: &dyn Models) -> u8 {
    let given: Vec<OsString> = arguments.into_iter().collect();
    let mut command = usage::with_negative_numbers(Arguments::command());
    let read = command.try_get_matches_from_mut(&given).and_then(|matches| Arguments::from_arg_matches(&matches));
    let arguments = match read {
        Ok(arguments) => arguments,
        Err(error) => {
            match usage::describe(&error, &command, &given) {
                Some(mistake) => output::complain(&usage::printable(mistake, &given)),
                // Help, or the version. A closed terminal takes no message.
                None => drop(error.print()),
            }
            // Clap's own status: 0 after help, 2 after a mistake.
            return u8::try_from(error.exit_code()).unwrap_or(2);
        }
    };
    match run(arguments.command, models) {
        Ok(()) => 0,
        Err(Failure::Told { status }) => status,
        Err(failure) => {
            output::complain(&usage::printable(failure.to_string(), &given));
            failure.status()
        }
    }
}

#[cfg(target_os = "linux")]
fn run(command: Command, models: &dyn Models) -> Result<(), Failure> {
    signals::leave_at_once().map_err(|error| Failure::Run(format!("signals can't be caught: {}", cause(&error))))?;
    match command {
        Command::Cloud(command) => command.run(),
        Command::Emulate(command) => command.run(models),
        Command::Key(command) => command.run(),
        Command::Node(command) => command.run(models),
        Command::Probe(command) => command.run(),
        Command::Stream(command) => command.run(),
    }
}

#[cfg(not(target_os = "linux"))]
fn run(_command: Command, _models: &dyn Models) -> Result<(), Failure> {
    Err(Failure::Input("emulation and the live commands need Linux".into()))
}
