//! Real hosts: a network namespace for each, with a TAP device per radio and wire, addresses and routes.
//!
//! The names of the namespaces stand in the lock file of the emulation before it makes them. `--clean` removes what is
//! listed there, and nothing else.

use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::net::Ipv4Addr;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use hopcast_sim::io_error::cause;
use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};
use tun_rs::SyncDevice;

use super::plan::{RealNode, Routes};
use crate::failure::Failure;
use crate::platform::netlink::{Address, LinkChange, MAIN_TABLE, Netlink, Route};
use crate::platform::netns::{self, Namespace};
use crate::platform::{private, tap, wait};

/// How often an emulation tries to take its lock, which `--clean` holds for as long as it takes to remove namespaces, and the time
/// between two tries: two seconds in all.
const LOCK_TRIES: u32 = 100;
const LOCK_INTERVAL: Duration = Duration::from_millis(20);
/// What the names of our namespaces and of those locks begin with.
const PREFIX: &str = "hopcast-";

/// `RTPROT_STATIC` of rtnetlink(7): a route that an administrator has entered.
const STATIC_ROUTE: u8 = 4;
/// All addresses of nodes (`hopcast_sim::address`) are in this network.
const NETWORK: (Ipv4Addr, u8) = (Ipv4Addr::new(10, 0, 0, 0), 8);

/// The real hosts of an emulation. Dropped, they are gone.
pub(super) struct Hosts {
    pub(super) hosts: Vec<RealHost>,
    // After the hosts: as long as they are there, they have an owner.
    _lock: Lock,
}

/// One real host.
pub(super) struct RealHost {
    pub(super) plan: RealNode,
    pub(super) namespace: Namespace,
    /// By interface.
    pub(super) devices: Vec<SyncDevice>,
}

impl Hosts {
    /// Makes them all, or leaves nothing behind.
    pub(super) fn create(plans: &[RealNode]) -> Result<Self, Failure> {
        let id = std::process::id();
        let names: Vec<String> = plans.iter().map(|plan| namespace_name(id, plan)).collect();
        let lock =
            Lock::take(id, &names).map_err(|error| Failure::Input(because(&error, "an emulation can't be set up")))?;
        let hosts = plans.iter().map(|plan| {
            let host = RealHost::create(id, plan);
            host.map_err(|error| Failure::Input(because(&error, &format!("node {}: can't be set up", plan.name))))
        });
        let hosts = hosts.collect::<Result<Vec<_>, _>>()?;
        Ok(Self { hosts, _lock: lock })
    }
}

impl Drop for Hosts {
    fn drop(&mut self) {
        for host in &self.hosts {
            // What is still there then is found by `--clean`.
            let _ = netns::end_processes(host.namespace.name());
        }
    }
}

impl RealHost {
    fn create(id: u32, plan: &RealNode) -> io::Result<Self> {
        let namespace = Namespace::create(&namespace_name(id, plan))?;
        let devices = namespace.run(|| set_up(plan))??;
        Ok(Self { plan: plan.clone(), namespace, devices })
    }
}

fn namespace_name(id: u32, plan: &RealNode) -> String {
    format!("{PREFIX}{id}-{}", plan.name)
}

/// Sets up the namespace of the calling thread.
fn set_up(plan: &RealNode) -> io::Result<Vec<SyncDevice>> {
    let mut netlink = Netlink::open()?;
    let up = LinkChange { up: Some(true), ..LinkChange::default() };
    if let Some(loopback) = netlink.link("lo")? {
        netlink.set_link(loopback.index, &up)?;
    }
    let is_router = plan.routes != Routes::Simulated;
    let mut settings = vec![
        ("ipv4/ip_forward".to_owned(), is_router),
        ("ipv6/conf/all/forwarding".to_owned(), is_router),
        // The way back need not be the way there.
        ("ipv4/conf/all/rp_filter".to_owned(), false),
        // Packets leave over the interface that they came from as a matter of course.
        ("ipv4/conf/all/send_redirects".to_owned(), false),
        ("ipv4/conf/all/accept_redirects".to_owned(), false),
    ];
    let (mut devices, mut indices) = (Vec::new(), Vec::new());
    for interface in &plan.interfaces {
        devices.push(tap::open(&interface.name)?);
        let link = netlink.link(&interface.name)?.ok_or_else(|| io::Error::other("a TAP device without interface"))?;
        let change = LinkChange {
            mtu: Some(interface.mtu),
            hardware: Some(interface.hardware),
            arp: Some(is_router),
            ..LinkChange::default()
        };
        netlink.set_link(link.index, &change)?;
        indices.push(link.index);
        for name in ["rp_filter", "send_redirects", "accept_redirects"] {
            settings.push((format!("ipv4/conf/{}/{name}", interface.name), false));
        }
        // A simulated router that stands before it tells it of failures in its own name.
        settings.push((format!("ipv4/conf/{}/accept_local", interface.name), !is_router));
        // Addresses are made of the simulator's, which are unique: nobody need wait for an objection.
        settings.push((format!("ipv6/conf/{}/accept_dad", interface.name), false));
    }
    for (name, value) in settings {
        let path = format!("/proc/sys/net/{name}");
        match fs::write(&path, if value { "1" } else { "0" }) {
            // A kernel without IPv6.
            Err(error) if error.kind() == io::ErrorKind::NotFound && name.starts_with("ipv6/") => {}
            outcome => outcome.map_err(|error| io::Error::new(error.kind(), format!("{path}: {error}")))?,
        }
    }
    for &index in &indices {
        netlink.set_link(index, &up)?;
    }
    if let Some(&first) = indices.first() {
        netlink.add_address(&Address { interface: first, address: plan.address, prefix_len: 32 })?;
    }
    let route = |(destination, prefix_len), gateway, interface: u32| {
        let (table, metric, protocol) = (MAIN_TABLE, 0, STATIC_ROUTE);
        Route { table, destination, prefix_len, gateway, interface, metric, protocol, source: None }
    };
    match &plan.routes {
        Routes::Static(routes) => {
            for to in routes {
                let Some(&index) = indices.get(to.interface) else { continue };
                netlink.replace_route(&route((to.destination, 32), to.gateway, index))?;
            }
        }
        Routes::Simulated => {
            if let Some(&first) = indices.first() {
                netlink.replace_route(&route(NETWORK, None, first))?;
            }
        }
        Routes::Programs => {}
    }
    Ok(devices)
}

/// Says that this process emulates, for as long as it lives.
struct Lock {
    path: PathBuf,
    file: Flock<File>,
}

impl Lock {
    /// Takes it, for an emulation that will make namespaces with these names.
    fn take(id: u32, names: &[String]) -> io::Result<Self> {
        let path = lock_path(id);
        for _ in 0..LOCK_TRIES {
            if let Some(file) = lock(&path, open_lock)? {
                // What is listed is of an earlier process with this number.
                remove_listed(&file)?;
                let lock = Self { path, file };
                let taken = netns::names(PREFIX)?;
                if let Some(name) = names.iter().find(|name| taken.contains(name)) {
                    let message = format!("there is a network namespace {name} that is no emulation's");
                    return Err(io::Error::new(io::ErrorKind::AlreadyExists, message));
                }
                list(&lock.file, names)?;
                return Ok(lock);
            }
            wait::sleep(LOCK_INTERVAL);
        }
        let message = format!("{} is locked by another process", path.display());
        Err(io::Error::new(io::ErrorKind::WouldBlock, message))
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

fn lock_path(id: u32) -> PathBuf {
    Path::new(private::FOLDER).join(format!("{PREFIX}{id}"))
}

/// Removes what emulations have left whose processes are gone; returns the names of the namespaces.
pub(super) fn clean() -> io::Result<Vec<String>> {
    let entries = fs::read_dir(private::FOLDER).into_iter().flatten();
    let mut owners: Vec<u32> = entries.filter_map(|entry| owner(entry.ok()?.file_name().to_str()?)).collect();
    owners.sort_unstable();
    let mut removed = Vec::new();
    for id in owners {
        removed.extend(clean_process(id)?);
    }
    Ok(removed)
}

/// Removes what the process with this number has left, if it is gone.
fn clean_process(id: u32) -> io::Result<Vec<String>> {
    let path = lock_path(id);
    // Held until all is gone, so that no other cleans, and none begins to live, at the same time.
    let Some(lock) = lock(&path, open_lock)? else {
        // It lives.
        return Ok(Vec::new());
    };
    let names = remove_listed(&lock)?;
    fs::remove_file(&path)?;
    Ok(names)
}

/// Writes these names into a lock, in place of what it lists.
fn list(mut lock: &File, names: &[String]) -> io::Result<()> {
    lock.set_len(0)?;
    lock.seek(io::SeekFrom::Start(0))?;
    lock.write_all((names.join("\n") + "\n").as_bytes())
}

/// Removes the namespaces that a lock lists. Returns the names of those that were there.
fn remove_listed(mut lock: &File) -> io::Result<Vec<String>> {
    let mut listed = String::new();
    lock.read_to_string(&mut listed)?;
    let mut names = netns::names(PREFIX)?;
    names.retain(|name| listed.lines().any(|line| line == name));
    names.iter().try_for_each(|name| netns::remove(name))?;
    Ok(names)
}

/// Locks the file at `path`, which `open` opens; `None` if somebody holds it.
pub(super) fn lock(path: &Path, mut open: impl FnMut(&Path) -> io::Result<File>) -> io::Result<Option<Flock<File>>> {
    loop {
        match Flock::lock(open(path)?, FlockArg::LockExclusiveNonblock) {
            Ok(file) if is_at(&file, path)? => return Ok(Some(file)),
            // Whoever held it has removed it since it was opened: its lock keeps nobody out.
            Ok(_) => {}
            Err((_, Errno::EWOULDBLOCK)) => return Ok(None),
            Err((_, error)) => return Err(error.into()),
        }
    }
}

/// Opens a file for a lock, or makes it.
fn open_lock(path: &Path) -> io::Result<File> {
    private::make_folder()
        .and_then(|()| private::open(path))
        .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))
}

/// Whether `path` leads to this file.
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    let identity = |metadata: fs::Metadata| (metadata.dev(), metadata.ino());
    let found = match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        found => found?,
    };
    Ok(identity(found) == identity(file.metadata()?))
}

/// The process whose lock has this name.
fn owner(name: &str) -> Option<u32> {
    name.strip_prefix(PREFIX)?.parse().ok()
}

/// An error of the platform with what to do about it, where that is known.
pub(super) fn because(error: &io::Error, what: &str) -> String {
    let hint = match error.kind() {
        io::ErrorKind::PermissionDenied => {
            "; network namespaces and TAP devices need root (CAP_SYS_ADMIN and CAP_NET_ADMIN), or --rootless"
        }
        io::ErrorKind::NotFound => "; is there a device /dev/net/tun? (modprobe tun)",
        _ => "",
    };
    format!("{what}: {}{hint}", cause(error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_their_owners() {
        assert_eq!(owner("hopcast-12"), Some(12));
        assert_eq!([owner("hopcast-12-n0"), owner("hopcast-test"), owner("node-12.json")], [None; 3]);
    }

    #[test]
    fn a_lock_is_on_the_file_that_others_find() {
        let folder = tempfile::tempdir().expect("there is room");
        let path = folder.path().join("lock");
        let open = private::open;
        let mut opened = 0;
        // A cleaner removes the first one, and has another made or not, between its opening and its lock.
        for is_made_anew in [false, true] {
            let mut removals = 1;
            let file = lock(&path, |path| {
                opened += 1;
                let file = open(path)?;
                if removals > 0 {
                    removals -= 1;
                    fs::remove_file(path)?;
                    if is_made_anew {
                        open(path)?;
                    }
                }
                Ok(file)
            });
            let file = file.expect("it can be made").expect("nobody holds it");
            assert!(is_at(&file, &path).expect("both are there"));
            assert!(lock(&path, open).expect("it is there").is_none(), "it keeps others out");
            drop(file);
            assert!(lock(&path, open).expect("it is there").is_some());
        }
        assert_eq!(opened, 4);
    }
}
