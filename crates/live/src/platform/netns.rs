//! Named network namespaces, compatible with `ip netns`: a file in `/run/netns` for each.

#![expect(clippy::disallowed_methods, reason = "processes of others are waited for in the machine's time")]

use std::fs::{self, File, OpenOptions};
use std::io;
use std::net::{Ipv4Addr, UdpSocket};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use nix::errno::Errno;
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::sched::{CloneFlags, setns, unshare};
use nix::sys::signal::{Signal, kill};
use nix::sys::socket::getsockopt;
use nix::sys::socket::sockopt::GetStruct;
use nix::unistd::Pid;
use nix::{getsockopt_impl, libc};

/// Where the names are (ip-netns(8)).
const FOLDER: &str = "/run/netns";

/// For how long processes may put themselves in order before they are killed.
const PATIENCE: Duration = Duration::from_secs(1);
/// Between two looks at whether they have.
const TICK: Duration = Duration::from_millis(10);

const NONE: Option<&Path> = None;

/// Socket option `SO_NETNS_COOKIE`.
#[derive(Clone, Copy, Debug)]
struct NetnsCookie;
getsockopt_impl!(NetnsCookie, libc::SOL_SOCKET, libc::SO_NETNS_COOKIE, u64, GetStruct<u64>);

/// A named network namespace. Dropping it removes the name; the namespace ends with the last process in it.
#[derive(Debug)]
pub struct Namespace {
    name: String,
    file: File,
}

impl Namespace {
    /// Makes a namespace that contains only a loopback interface, which is up.
    ///
    /// # Errors
    /// Errors of the platform: `EPERM` without `CAP_SYS_ADMIN`, `EEXIST` if the name is taken.
    pub fn create(name: &str) -> io::Result<Self> {
        share_folder()?;
        let path = path(name);
        // As ip-netns(8) makes them: nobody opens the file itself, only what is mounted on it.
        OpenOptions::new().write(true).create_new(true).mode(0o0).open(&path)?;
        let target = path.clone();
        let mounted = run_thread(move || -> io::Result<()> {
            unshare(CloneFlags::CLONE_NEWNET)?;
            let own = Path::new("/proc/thread-self/ns/net");
            Ok(mount(Some(own), &target, NONE, MsFlags::MS_BIND, NONE)?)
        })?;
        let opened = mounted.and_then(|()| File::open(&path));
        match opened {
            Ok(file) => Ok(Self { name: name.to_owned(), file }),
            Err(error) => {
                unname(name)?;
                Err(error)
            }
        }
    }

    /// Its name.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Runs `work` in the namespace, on a separate thread.
    ///
    /// # Errors
    /// Errors of the platform, if the namespace can't be entered.
    pub fn run<T: Send>(&self, work: impl FnOnce() -> T + Send) -> io::Result<T> {
        run_thread(|| setns(&self.file, CloneFlags::CLONE_NEWNET).map(|()| work()))?.map_err(io::Error::from)
    }

    /// Starts a program in the namespace, on a thread that the caller can join: starting a program takes a while.
    ///
    /// # Errors
    /// The platform's, where no thread can be made.
    pub(crate) fn start(&self, mut program: Command) -> io::Result<JoinHandle<io::Result<Child>>> {
        let file = self.file.try_clone()?;
        thread::Builder::new().spawn(move || {
            setns(&file, CloneFlags::CLONE_NEWNET)?;
            program.spawn()
        })
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        // What can't be removed now is removed by the next `--clean`.
        let _ = unname(&self.name);
    }
}

/// The cookie of the network namespace of the calling thread: its number among all since the machine's start. The kernel gives
/// none to a second namespace. `None` before Linux 5.14, which has no `SO_NETNS_COOKIE`.
///
/// # Errors
/// The platform's.
pub fn cookie() -> io::Result<Option<u64>> {
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))?;
    match getsockopt(&socket, NetnsCookie) {
        Ok(cookie) => Ok(Some(cookie)),
        Err(Errno::ENOPROTOOPT) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// The names of the namespaces that begin so.
///
/// # Errors
/// The platform's; that there is no folder of namespaces means that there are none.
pub(crate) fn names(prefix: &str) -> io::Result<Vec<String>> {
    let entries = match fs::read_dir(FOLDER) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut names = Vec::new();
    for entry in entries {
        names.extend(entry?.file_name().into_string().ok().filter(|name| name.starts_with(prefix)));
    }
    names.sort();
    Ok(names)
}

/// Ends what runs in a namespace and takes away its name.
///
/// # Errors
/// The platform's; one that is gone already is none.
pub(crate) fn remove(name: &str) -> io::Result<()> {
    end_processes(name)?;
    unname(name)
}

/// Ends all processes in a namespace: asks them to, then kills those that are still there.
///
/// # Errors
/// The platform's.
pub(crate) fn end_processes(name: &str) -> io::Result<()> {
    for signal in [Signal::SIGTERM, Signal::SIGKILL] {
        let mut waited = Duration::ZERO;
        let mut left = processes(name)?;
        for &process in &left {
            match kill(process, signal) {
                // It was quicker.
                Ok(()) | Err(Errno::ESRCH) => {}
                Err(error) => return Err(error.into()),
            }
        }
        while !left.is_empty() && waited < PATIENCE {
            thread::sleep(TICK);
            waited += TICK;
            left = processes(name)?;
        }
        if left.is_empty() {
            break;
        }
    }
    Ok(())
}

/// The processes in a namespace; those that have ended and whose parents don't know yet are none.
fn processes(name: &str) -> io::Result<Vec<Pid>> {
    let own = match fs::metadata(path(name)) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let is_there = |pid: &i32| {
        // A process that ends while we look is not there.
        let metadata = fs::metadata(format!("/proc/{pid}/ns/net"));
        metadata.is_ok_and(|metadata| (metadata.dev(), metadata.ino()) == (own.dev(), own.ino()))
    };
    let entries = fs::read_dir("/proc")?;
    let numbers = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    Ok(numbers.filter(is_there).map(Pid::from_raw).collect())
}

fn path(name: &str) -> PathBuf {
    Path::new(FOLDER).join(name)
}

fn unname(name: &str) -> io::Result<()> {
    let path = path(name);
    match umount2(&path, MntFlags::MNT_DETACH) {
        // EINVAL: nothing is mounted there.
        Ok(()) | Err(Errno::EINVAL | Errno::ENOENT) => {}
        Err(error) => return Err(error.into()),
    }
    match fs::remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Makes the folder of names, and shares its mounts with processes that have separate mount namespaces, as ip-netns(8)
/// does.
fn share_folder() -> io::Result<()> {
    let folder = Path::new(FOLDER);
    let made = fs::create_dir_all(folder);
    made.map_err(|error| io::Error::new(error.kind(), format!("{FOLDER}: {error}")))?;
    let share = || mount(NONE, folder, NONE, MsFlags::MS_SHARED | MsFlags::MS_REC, NONE);
    match share() {
        // Only what is mounted can be shared.
        Err(Errno::EINVAL) => {
            mount(Some(folder), folder, NONE, MsFlags::MS_BIND | MsFlags::MS_REC, NONE)?;
            Ok(share()?)
        }
        outcome => Ok(outcome?),
    }
}

/// Runs `work` on a thread that ends with it, as a thread keeps the namespace that it has entered.
fn run_thread<T: Send>(work: impl FnOnce() -> T + Send) -> io::Result<T> {
    thread::scope(|scope| {
        let thread = thread::Builder::new().spawn_scoped(scope, work)?;
        Ok(thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::netlink::Netlink;

    #[test]
    fn a_namespace_is_there_while_it_is_wanted() {
        if !nix::unistd::geteuid().is_root() {
            return;
        }
        let name = format!("hopcast-test-{}", std::process::id());
        let namespace = Namespace::create(&name).expect("root may have a namespace");
        assert_eq!(names(&name).expect("the folder can be read"), std::slice::from_ref(&name));
        assert!(Namespace::create(&name).is_err(), "the name is taken");
        let links = namespace.run(|| Netlink::open()?.links()).expect("it can be entered").expect("links can be read");
        assert!(links.iter().all(|link| link.hardware.is_none_or(|address| address.0 == [0; 6])), "{links:?}");

        let mut sleep = Command::new("sleep");
        sleep.arg("60");
        let started = namespace.start(sleep).expect("there may be a thread");
        let mut child = started.join().expect("it returns its error").expect("sleep is everywhere");
        let waiter = thread::spawn(move || child.wait().expect("it is our child"));
        end_processes(&name).expect("we may end our child");
        assert!(!waiter.join().expect("the wait ends").success());
        drop(namespace);
        assert_eq!(names(&name).expect("the folder can be read"), Vec::<String>::new());
        remove(&name).expect("what is gone needs no removal");
    }
}
