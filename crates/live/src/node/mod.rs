//! The router: AODV, DSDV, OLSR or a custom protocol on real interfaces.
//!
//! One thread waits for everything (`daemon`): messages on the interfaces (`port`), sealed if there is a key
//! (`envelope`), packets without a route from the TUN device, the kernel's notices about links and neighbours
//! (`hardware`), and programs that ask for the state (`crate::serve`). `router` handles them without sockets. Routes go
//! into the kernel's tables (`kernel`), and what the next start must know into a file (`record`).

mod daemon;
mod envelope;
mod hardware;
mod icmp;
mod kernel;
mod metrics;
mod options;
mod origin;
mod port;
mod prefix;
mod protocol;
mod record;
mod router;
mod status;

use std::os::unix::net::UnixListener;

use self::options::Options;
use self::record::Record;
pub(crate) use self::status::schema;
use crate::failure::Failure;
use crate::key::Files;
use crate::models::Models;
use crate::output;
use crate::platform::netlink::Netlink;
use crate::serve::Server;
use hopcast_sim::io_error::cause;
use nix::unistd::geteuid;

/// Route on real interfaces.
///
/// Runs a routing protocol on the interfaces named, until SIGINT or SIGTERM: routes to other hosts appear in the kernel's table
/// 654, and packets without a route wait while one is looked for. It takes root, or the capabilities CAP_NET_ADMIN, CAP_NET_RAW
/// and CAP_NET_BIND_SERVICE. Without --key, anybody within reach can change routes.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true, disable_help_subcommand = true)]
pub struct Command {
    #[command(subcommand)]
    action: Option<Action>,
    #[command(flatten)]
    options: Option<Options>,
    #[command(flatten)]
    keys: Files,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Show interfaces, routes, neighbours and counters of the router that runs in this network namespace
    #[command(after_help = crate::output::HELP)]
    Status {
        /// As one line of JSON
        #[arg(long)]
        json: bool,
    },
    /// Remove what a router that was killed has left: routes, rules and settings of interfaces
    Clean,
}

impl Command {
    /// Runs it.
    ///
    /// # Errors
    ///
    /// See [`Failure`].
    pub(crate) fn run(self, models: &dyn Models) -> Result<(), Failure> {
        match (self.action, self.options) {
            (Some(Action::Status { json }), _) => status(json),
            (Some(Action::Clean), _) => clean(),
            (None, Some(options)) => daemon::run(&Options { keys: self.keys, ..options }, models),
            (None, None) => Err(Failure::Input("name an interface to route on: --interface NAME".into())),
        }
    }
}

fn status(json: bool) -> Result<(), Failure> {
    let failed = |error: std::io::Error| Failure::Run(format!("the router does not answer: {}", cause(&error)));
    let Some(status) = status::ask().map_err(failed)? else {
        return Err(Failure::Run("no hopcast node runs in this network namespace".into()));
    };
    output::print(&if json { format!("{status}\n") } else { status::text(&status) })
}

fn clean() -> Result<(), Failure> {
    // Nobody can start meanwhile, and who runs is left alone.
    let _server = listen()?;
    let mut netlink = Netlink::open().map_err(|error| failure("open a netlink socket", &error))?;
    kernel::clean(&mut netlink).map_err(|error| failure("remove the routes", &error))?;
    let (mut record, _) = Record::open(&mut netlink, hopcast_protocols::time::Duration::ZERO)
        .map_err(|error| failure("read what the last router left", &error))?;
    record.restore();
    record.write_ended().map_err(|error| failure("write that nothing is left", &error))
}

/// Makes this the only router in the network namespace.
fn listen() -> Result<Server, Failure> {
    UnixListener::bind_addr(&status::socket()).and_then(Server::local).map_err(|error| match error.kind() {
        std::io::ErrorKind::AddrInUse => Failure::Run(match status::holder() {
            Some((user, _)) if user == 0 || user == geteuid().as_raw() => {
                "a hopcast node runs in this network namespace already".into()
            }
            Some((user, process)) => format!(
                "process {process} of user {user} holds the router's socket, @hopcast-node, in this network namespace; \
                 if it is not your router, end it"
            ),
            None => {
                "a program that doesn't listen holds the router's socket, @hopcast-node, in this network namespace; \
                     ss --unix --all --processes shows it"
                    .into()
            }
        }),
        _ => failure("listen on the local socket", &error),
    })
}

/// What could not be done, and what it takes.
fn failure(what: &str, error: &std::io::Error) -> Failure {
    let hint = match error.kind() {
        std::io::ErrorKind::PermissionDenied => {
            ": it takes root, or the capabilities CAP_NET_ADMIN, CAP_NET_RAW and CAP_NET_BIND_SERVICE"
        }
        _ => "",
    };
    Failure::Run(format!("can't {what}: {}{hint}", cause(error)))
}

/// A state as people read it.
#[cfg(feature = "testkit")]
pub(crate) fn status_text(state: &serde_json::Value) -> String {
    status::text(state)
}
