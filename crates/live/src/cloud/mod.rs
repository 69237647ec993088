//! Devices of a streaming cloud: they offer clips, find each other, reserve paths, pass streams on and play them.
//!
//! The protocol is that of [`hopcast_protocols::streaming`], which the simulator runs too.
//!
//! | topic | module |
//! |---|---|
//! | the device, which runs on each host, and its options | `daemon`, `options` |
//! | the device without sockets and clock | `engine` |
//! | files that are offered | `clips` |
//! | encapsulation of messages: the network key | `envelope` |
//! | what the device knows and does, for people and programs | `status`, `metrics` |
//! | recordings of a device and of a play, for `hopcast view` | `record` |
//! | users of the host: the device's side, and the command | `players`, `play` |

mod clips;
mod daemon;
mod engine;
mod envelope;
mod metrics;
mod options;
mod play;
mod players;
mod record;
mod status;

use std::io;

use hopcast_sim::io_error::cause;

use self::options::Serve;
use self::play::Play;
pub(crate) use self::status::schemas;
use crate::failure::Failure;
use crate::output;

/// Store clips on hosts that stream them to each other.
///
/// Each host runs `hopcast cloud serve`: it offers clips, finds the other hosts, and passes their streams on over several hops. A stream
/// gets a reserved path or is refused. `list`, `play` and `status` ask the device that runs on this host.
#[derive(Debug, clap::Args)]
pub struct Command {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    Serve(Box<Serve>),
    /// List the clips that this device and others near by offer
    #[command(after_help = output::HELP)]
    List {
        /// As one line of JSON
        #[arg(long)]
        json: bool,
    },
    Play(Play),
    /// Show neighbours, clips, reservations, refusals, plays and counters of the device that runs on this host
    #[command(after_help = output::HELP)]
    Status {
        /// As one line of JSON
        #[arg(long)]
        json: bool,
    },
}

impl Command {
    /// Runs it.
    ///
    /// # Errors
    ///
    /// See [`Failure`].
    pub(crate) fn run(self) -> Result<(), Failure> {
        match self.action {
            Action::Serve(options) => daemon::run(&options),
            Action::Play(play) => play.run(),
            Action::List { json } => {
                let status = ask()?;
                let clips = serde_json::json!({ "clips": status["clips"] });
                output::print(&if json { format!("{clips}\n") } else { status::clips_text(&status) })
            }
            Action::Status { json } => {
                let status = ask()?;
                output::print(&if json { format!("{status}\n") } else { status::text(&status) })
            }
        }
    }
}

fn ask() -> Result<serde_json::Value, Failure> {
    status::ask().map_err(|error| unanswered(&error))?.ok_or_else(no_device)
}

fn no_device() -> Failure {
    Failure::Run("no device runs on this host: start one with `hopcast cloud serve --interface NAME --key FILE`".into())
}

fn unanswered(error: &io::Error) -> Failure {
    Failure::Run(format!("the device of this host does not answer: {}", cause(error)))
}

/// What could not be done.
fn failure(what: &str, error: &io::Error) -> Failure {
    Failure::Run(format!("can't {what}: {}", cause(error)))
}
