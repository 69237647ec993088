//! The measurement of links and paths: application data units from a sender over relays to a receiver.
//!
//! | topic | module |
//! |---|---|
//! | what to measure, and the file that says so | [`plan`] |
//! | a run of flows at the same time, from several hosts | [`run`], [`flow`] |
//! | messages between hosts | [`control`] |
//! | offset between two clocks | [`clock_offset`] |
//! | writing, forwarding and reading units | [`source`], [`relay`], [`receiver`] |
//! | the receiver's measurement, which is the simulator's | [`sink`] |
//! | the listening side | [`daemon`] |
//! | sockets, several datagrams per call, units from a stream | [`socket`], [`datagrams`], [`units`] |
//! | datagrams that a socket had no room for | [`overflow`] |
//! | results in the simulator's format | [`record`], [`statistics`], [`table`] |
//! | recordings for `hopcast view`: of a sender, and of receivers and relays | `progress`, `watch` |
//!
//! A flow has one control connection along its path from host to host, and a socket for its units on each hop. The source
//! tells each relay the rest of the path; a host gets only units that it has prepared for.

pub mod clock_offset;
pub mod control;
pub mod daemon;
pub mod datagrams;
pub mod flow;
pub mod overflow;
pub mod plan;
mod progress;
pub mod receiver;
pub mod record;
pub mod relay;
pub mod run;
mod send;
pub mod sink;
pub mod socket;
pub mod source;
pub mod statistics;
pub mod table;
pub mod units;
mod watch;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use hopcast_protocols::time::Duration;
use hopcast_sim::io_error::cause;

use self::daemon::{Daemon, Role};
use self::watch::Record;
use crate::failure::Failure;
use crate::output::{log, say};
use crate::platform::signals::Signals;

/// Silence of a source after which its flow is given up; a source pings each second.
pub(crate) const SILENCE: Duration = Duration::from_secs(30);

/// Measure links and paths between real hosts.
///
/// Run `receive` at the end of a path and `relay` at each host on it, then `send`.
#[derive(Debug, clap::Args)]
pub struct Command {
    #[command(subcommand)]
    part: Part,
}

#[derive(Debug, clap::Subcommand)]
enum Part {
    Send(send::Arguments),
    /// Pass units on to the next host of their path, until Ctrl-C. Also receives and sends where a plan has it do so.
    Relay {
        #[command(flatten)]
        listen: Listen,
        /// Write a recording to this folder, for `hopcast view`: units received and passed on, per flow.
        #[arg(long, value_name = "DIR")]
        record: Option<PathBuf>,
        /// The next host of every flow, whatever path it asks for. Without it, senders tell where to.
        #[arg(long, value_name = "HOST[:PORT]")]
        to: Option<String>,
    },
    /// Receive units and report what was measured, until Ctrl-C.
    Receive {
        #[command(flatten)]
        listen: Listen,
        /// Write a recording to this folder, for `hopcast view`: each unit, with rates, losses and delays per flow.
        #[arg(long, value_name = "DIR")]
        record: Option<PathBuf>,
    },
}

#[derive(Debug, clap::Args)]
struct Listen {
    /// Where to listen for senders and relays. Units come in at a free port of the same address, another one for each flow.
    #[arg(long, value_name = "ADDR:PORT", default_value = "0.0.0.0:47300", value_parser = socket_address)]
    listen: SocketAddr,
}

fn socket_address(text: &str) -> Result<SocketAddr, &'static str> {
    text.parse().map_err(|_| "an address and a port are written like 0.0.0.0:47300 or [::]:47300")
}

impl Command {
    /// Runs it.
    ///
    /// # Errors
    ///
    /// See [`Failure`].
    pub(crate) fn run(self) -> Result<(), Failure> {
        match self.part {
            Part::Send(arguments) => send::run(&arguments),
            Part::Relay { listen, record, to } => serve(listen.listen, Role::Relay { to }, record.as_deref()),
            Part::Receive { listen, record } => serve(listen.listen, Role::Receiver, record.as_deref()),
        }
    }
}

fn serve(listen: SocketAddr, role: Role, record: Option<&Path>) -> Result<(), Failure> {
    let failed = |error: std::io::Error| Failure::Run(cause(&error));
    let title = if role == Role::Receiver { "probe receive" } else { "probe relay" };
    let record = record.map(|folder| Record::create(folder, title)).transpose()?;
    let signals = Signals::listen().map_err(failed)?;
    let daemon = Daemon::bind(listen, role, log, record)?;
    say(&format!("listening at {}", daemon.address().map_err(failed)?));
    daemon.run(|| signals.received().is_some());
    match daemon.refused() {
        0 => {}
        refused => say(&format!("{refused} who asked for something were sent away")),
    }
    daemon.finish()?;
    Err(Failure::Interrupted { signal: signals.received().unwrap_or_default() })
}
