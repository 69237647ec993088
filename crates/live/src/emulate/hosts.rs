//! Real hosts: a network namespace for each, with a TAP device per radio and wire, addresses and routes.

use std::fs::{self, File, OpenOptions};
use std::io;
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
use crate::platform::{tap, wait};

/// Where emulations that run hold their locks.
const LOCKS: &str = "/run/hopcast";
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
        let lock = Lock::take(id).map_err(|error| Failure::Input(because(&error, "an emulation can't be set up")))?;
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
        let namespace = Namespace::create(&format!("{PREFIX}{id}-{}", plan.name))?;
        let devices = namespace.run(|| set_up(plan))??;
        Ok(Self { plan: plan.clone(), namespace, devices })
    }
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
    _file: Flock<File>,
}

impl Lock {
    fn take(id: u32) -> io::Result<Self> {
        let path = lock_path(id);
        for _ in 0..LOCK_TRIES {
            if let Some(file) = lock(&path, open_lock)? {
                let lock = Self { path, _file: file };
                // What is there is of an earlier process with this number.
                remove_namespaces(id)?;
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
    Path::new(LOCKS).join(format!("{PREFIX}{id}"))
}

/// Removes what emulations have left whose processes are gone; returns the names of the namespaces.
pub(super) fn clean() -> io::Result<Vec<String>> {
    let mut owners: Vec<u32> = netns::names(PREFIX)?.iter().filter_map(|name| owner(name)).collect();
    if let Ok(entries) = fs::read_dir(LOCKS) {
        owners.extend(entries.filter_map(|entry| owner(entry.ok()?.file_name().to_str()?)));
    }
    owners.sort_unstable();
    owners.dedup();
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
    let Some(_lock) = lock(&path, open_lock)? else {
        // It lives.
        return Ok(Vec::new());
    };
    let names = remove_namespaces(id)?;
    fs::remove_file(&path)?;
    Ok(names)
}

/// Removes the namespaces of the process with this number. Returns their names.
fn remove_namespaces(id: u32) -> io::Result<Vec<String>> {
    let names = netns::names(&format!("{PREFIX}{id}-"))?;
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
    let opened =
        fs::create_dir_all(LOCKS).and_then(|()| OpenOptions::new().write(true).create(true).truncate(false).open(path));
    opened.map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))
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

/// The process whose namespace or lock has this name.
fn owner(name: &str) -> Option<u32> {
    let rest = name.strip_prefix(PREFIX)?;
    rest.split_once('-').map_or(rest, |(id, _)| id).parse().ok()
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
        assert_eq!(owner("hopcast-12-n0"), Some(12));
        assert_eq!(owner("hopcast-12-a-b"), Some(12));
        assert_eq!(owner("hopcast-12"), Some(12));
        assert_eq!([owner("hopcast-test"), owner("hopcast-test-1"), owner("mine-12-n0")], [None; 3]);
    }

    #[test]
    fn a_lock_is_on_the_file_that_others_find() {
        let path = std::env::temp_dir().join(format!("hopcast-lock-{}", std::process::id()));
        let open = |path: &Path| OpenOptions::new().write(true).create(true).truncate(false).open(path);
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
        let _ = fs::remove_file(path);
    }
}
