//! An emulation without root: hopcast runs the same command again, in new user, mount, process and network namespaces.
//!
//! `unshare` (util-linux) makes them, with the user as root inside. A `/run` in memory replaces the system's, which an
//! ordinary user can't write. Inside, the command sets up hosts as root does. When it ends, the kernel removes
//! everything, even after SIGKILL. Only the device `/dev/net/tun` still needs a permission.
//!
//! The network namespace inside has a separate loopback, which no browser outside reaches. So this process opens the socket for the
//! viewer's page, and hands it to the command inside as systemd hands sockets to services (sd_listen_fds(3)): a socket stays in the network
//! namespace in which it was made.

use std::ffi::OsString;
use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind};
use std::net::TcpListener;
use std::process::{Child, Command, ExitStatus, Output};
use std::time::Duration;

use command_fds::{CommandFdExt as _, FdMapping};
use hopcast_sim::io_error::cause;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::{say, view};
use crate::failure::Failure;
use crate::platform::signals::Signals;
use crate::platform::{tap, wait};

/// The option that asks for it.
pub(super) const OPTION: &str = "--rootless";
/// What runs inside before the command itself.
const SET_UP: &str = "mount -t tmpfs -o mode=755 tmpfs /run && exec \"$0\" \"$@\"";
/// User and mount namespaces come first: without them an ordinary user may have none of the others.
const NAMESPACES: [&str; 4] = ["--user", "--map-root-user", "--mount", "--net"];
/// The command becomes the first process of a process namespace: when it ends, the kernel ends all programs in it.
const PROCESSES: [&str; 4] = ["--pid", "--mount-proc", "--fork", "--kill-child"];
/// The number of the first socket that is handed over (`SD_LISTEN_FDS_START` of sd_listen_fds(3)).
const FIRST_SOCKET: i32 = 3;
/// Between two looks at whether the command has ended.
const TICK: Duration = Duration::from_millis(20);

/// Runs this process's command again, without [`OPTION`] and in new namespaces, until it ends. With `port` it has a socket for the page there.
///
/// # Errors
/// [`Failure::Input`] where the system does not permit it, and why; [`Failure::Told`] as the command ends.
pub(super) fn run(port: Option<u16>) -> Result<(), Failure> {
    check_device()?;
    check_namespaces()?;
    let socket = port.map(view::listen).transpose()?;
    let signals = super::listen()?;
    let mut child =
        start(std::env::args_os(), socket).map_err(|error| Failure::Run(format!("unshare: {}", cause(&error))))?;
    let status = supervise(&mut child, &signals)
        .map_err(|error| Failure::Run(format!("the emulation can't be waited for: {}", cause(&error))))?;
    match status.code().and_then(|code| u8::try_from(code).ok()) {
        Some(0) => Ok(()),
        Some(status) => Err(Failure::Told { status }),
        None => Err(Failure::Run("the emulation was killed".into())),
    }
}

fn check_device() -> Result<(), Failure> {
    let opened = OpenOptions::new().read(true).write(true).open(tap::DEVICE);
    opened.map(drop).map_err(|error| {
        let remedy = match error.kind() {
            ErrorKind::PermissionDenied => format!("root permits it to everybody with `chmod 666 {}`", tap::DEVICE),
            _ => "root makes it with `modprobe tun`".into(),
        };
        Failure::Input(format!("{}: {}; {remedy}", tap::DEVICE, cause(&error)))
    })
}

/// Tries whether an ordinary user may have namespaces here.
fn check_namespaces() -> Result<(), Failure> {
    let tried = Command::new("unshare").args(NAMESPACES).args(PROCESSES).arg("true").output();
    let problem = match tried {
        Ok(Output { status, .. }) if status.success() => return Ok(()),
        Ok(Output { stderr, .. }) => String::from_utf8_lossy(&stderr).trim().to_owned(),
        Err(error) if error.kind() == ErrorKind::NotFound => "unshare is not installed (package util-linux)".into(),
        Err(error) => format!("unshare: {}", cause(&error)),
    };
    Err(Failure::Input(format!("{problem}; {OPTION} needs {}", what_is_missing(&problem))))
}

/// What a message of `unshare` shows to be missing.
fn what_is_missing(problem: &str) -> &'static str {
    if problem.contains("mount /proc") {
        "a new /proc, which the container forbids (docker: --security-opt systempaths=unconfined, and with \
         AppArmor apparmor=unconfined; podman: --security-opt unmask=ALL)"
    } else {
        "user namespaces, which the system or its container forbids here (sysctl user.max_user_namespaces, \
         kernel.unprivileged_userns_clone, kernel.apparmor_restrict_unprivileged_userns; docker: --security-opt \
         seccomp=unconfined)"
    }
}

/// Starts the command with these arguments, the program's own name first.
fn start(arguments: impl Iterator<Item = OsString>, socket: Option<TcpListener>) -> io::Result<Child> {
    let mut command = Command::new("setpriv");
    if let Some(socket) = socket {
        command
            .fd_mappings(vec![FdMapping { parent_fd: socket.into(), child_fd: FIRST_SOCKET }])
            .map_err(|error| io::Error::other(error.to_string()))?
            .env("LISTEN_FDS", "1")
            // The command is the first process of its process namespace.
            .env("LISTEN_PID", "1");
    }
    command
        // The kernel kills it when this process ends, for whatever reason.
        .args(["--pdeathsig", "KILL", "unshare"])
        .args(NAMESPACES)
        .args(PROCESSES)
        .args(["sh", "-c", SET_UP])
        .args(arguments.filter(|argument| argument != OPTION))
        // Inside there is one user alone.
        .env_remove("SUDO_UID")
        .spawn()
}

/// Waits for the command, and passes the first signal on to it.
fn supervise(child: &mut Child, signals: &Signals) -> io::Result<ExitStatus> {
    let mut told = false;
    let mut passed_on = false;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        let inside = first_child(child.id());
        if let Some(inside) = inside.filter(|_| !told) {
            told = true;
            // A closed standard error must not end the emulation.
            let _ = say(&format!(
                "enter a namespace NAME from another terminal with: nsenter -t {inside} -U -m -p --preserve-credentials \
                 ip netns exec NAME sh"
            ));
        }
        match (signals.received(), inside) {
            (Some(signal), Some(inside)) if !passed_on => {
                passed_on = true;
                // One that has ended by itself needs no signal.
                let _ = kill(inside, Signal::try_from(signal)?);
            }
            (None, _) => drop(wait::readable(signals, TICK)),
            _ => wait::sleep(TICK),
        }
    }
}

/// The command inside: the only child of `unshare`, by the number that it has outside.
fn first_child(unshare: u32) -> Option<Pid> {
    let children = fs::read_to_string(format!("/proc/{unshare}/task/{unshare}/children")).ok()?;
    children.split_whitespace().next()?.parse().ok().map(Pid::from_raw)
}
