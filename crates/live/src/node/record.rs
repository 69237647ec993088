//! State that a router leaves for its next start: kernel settings to restore, and the time of its end.
//!
//! There is one file for each network namespace, below `/run`, which the next boot clears together with the settings. Its
//! name is the namespace's cookie, which no other namespace gets. Before Linux 5.14 there are no cookies, and the name is
//! the namespace's inode number. The kernel reuses that number as soon as a namespace is gone, so the file also holds the
//! time at which the namespace's loopback got its address.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write as _};
use std::net::Ipv4Addr;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use hopcast_protocols::time::Duration;
use nix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};

use crate::platform::netlink::Netlink;
use crate::platform::{netns, private};

/// Where the kernel's settings are.
const SETTINGS: &str = "/proc/sys/net/ipv4/conf";
/// What interfaces of a router need, by name: to pass packets on; to take them whatever way their answers would go, as ways of
/// both directions differ; not to send or take advice on ways.
const NEEDED: [(&str, &str); 4] =
    [("forwarding", "1"), ("rp_filter", "0"), ("send_redirects", "0"), ("accept_redirects", "0")];
/// Settings for all interfaces, in addition to those of each.
const ALL: &str = "all";
/// The same of [`ALL`]: redirects are sent where either the interface's own setting or this one says so (the kernel's
/// Documentation/networking/ip-sysctl.rst). Other interfaces go by their own then, which are what they were.
const NEEDED_OF_ALL: (&str, &str) = ("send_redirects", "0");

/// The record of this network namespace.
#[derive(Debug)]
pub(super) struct Record {
    path: PathBuf,
    contents: Contents,
    /// Whether it is that of a router that has not ended in order.
    is_running: bool,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Contents {
    /// Time since the machine's start at which the last router ended in order, in nanoseconds.
    ended_ns: Option<u64>,
    /// When the loopback of the namespace got its address, as the kernel says it; `None`: it had none.
    loopback_since: Option<u32>,
    /// What interfaces had before: by interface and name.
    settings: BTreeMap<String, BTreeMap<String, String>>,
}

impl Record {
    /// The record, and whether an earlier router may have ended less than `silence` ago: its neighbours may still have routes
    /// over it.
    ///
    /// # Errors
    ///
    /// The platform's. That there is no record yet, or one that was cut short, is none.
    pub(super) fn open(netlink: &mut Netlink, silence: Duration) -> io::Result<(Self, bool)> {
        let loopback_since = netlink.address_since(Ipv4Addr::LOCALHOST)?;
        let path = record_path()?;
        let up = uptime()?;
        let (mut contents, mut since, mut is_running): (Contents, u64, bool) = match private::read(&path) {
            // One that can't be read was cut short, by a full disk perhaps: there was somebody.
            Ok(octets) => {
                let contents: Contents = serde_json::from_slice(&octets).unwrap_or_default();
                let since = contents.ended_ns.map_or(0, |ended| up.saturating_sub(ended));
                let is_running = contents.ended_ns.is_none();
                (contents, since, is_running)
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => (Contents::default(), up, false),
            Err(error) => return Err(error),
        };
        if contents.loopback_since.is_some() && contents.loopback_since != loopback_since {
            // It is that of an earlier namespace with this number.
            (contents, since, is_running) = (Contents::default(), up, false);
        }
        contents.loopback_since = loopback_since;
        Ok((Self { path, contents, is_running }, since < silence.as_nanos()))
    }

    /// Gives an interface the settings of a router. What it had is written down before; where it can't be, the log says so.
    ///
    /// # Errors
    ///
    /// The platform's, where a setting can't be read or changed.
    pub(super) fn prepare(&mut self, interface: &str) -> io::Result<()> {
        let (name, value) = NEEDED_OF_ALL;
        let needed = NEEDED.map(|(name, value)| (interface, name, value));
        let mut changes = Vec::new();
        for (of, name, value) in needed.into_iter().chain([(ALL, name, value)]) {
            let had = setting(of, name)?;
            if had != value {
                // What was remembered first is what there was before any router.
                self.contents.settings.entry(of.into()).or_default().entry(name.into()).or_insert(had);
                changes.push((path(of, name), value));
            }
        }
        if !changes.is_empty() {
            self.write_running();
        }
        changes.into_iter().try_for_each(|(path, value)| std::fs::write(path, value))
    }

    /// Puts back what interfaces had; those that are gone have taken their settings along. What can't be put back stays in the record,
    /// and the log says so.
    pub(super) fn restore(&mut self) {
        for (of, settings) in &mut self.contents.settings {
            settings.retain(|name, value| match std::fs::write(path(of, name), &*value) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    tracing::warn!(%error, "can't put {of}'s {name} back to {value}");
                    true
                }
                _ => false,
            });
        }
        self.contents.settings.retain(|_, settings| !settings.is_empty());
    }

    /// Writes that a router runs, and what is to be put back if it is killed. Where that can't be written, the log says so.
    pub(super) fn write_running(&mut self) {
        self.contents.ended_ns = None;
        self.is_running = true;
        if let Err(error) = self.write() {
            tracing::warn!(%error, "can't write what is to be put back if the router is killed");
        }
    }

    /// Writes that the router has ended that was running, if there was one.
    ///
    /// # Errors
    ///
    /// The platform's: a full disk, say.
    pub(super) fn write_ended(&mut self) -> io::Result<()> {
        if !self.is_running {
            return Ok(());
        }
        self.contents.ended_ns = Some(uptime()?);
        self.write()
    }

    fn write(&self) -> io::Result<()> {
        private::make_folder()?;
        let octets = serde_json::to_vec(&self.contents).expect("a record is plain data");
        // Whole or not at all.
        let draft = self.path.with_extension("draft");
        let write = |mut file: File| file.set_len(0).and_then(|()| file.write_all(&octets));
        private::open(&draft).and_then(write).and_then(|()| std::fs::rename(&draft, &self.path)).inspect_err(|_| {
            let _ = std::fs::remove_file(&draft);
        })
    }
}

/// The record's file for the network namespace of the calling thread.
///
/// # Errors
///
/// The platform's.
fn record_path() -> io::Result<PathBuf> {
    let name = match netns::cookie()? {
        Some(cookie) => format!("node-cookie-{cookie}.json"),
        None => format!("node-{}.json", std::fs::metadata("/proc/thread-self/ns/net")?.ino()),
    };
    Ok(Path::new(private::FOLDER).join(name))
}

/// Whether the kernel drops packets whose way back leads over another interface than the one they have come by, whatever
/// interfaces say themselves: of the two settings the larger one counts, and 1 is strict (RFC 3704, section 2.2).
///
/// # Errors
///
/// The platform's, where the setting can't be read.
pub(super) fn is_strict() -> io::Result<bool> {
    Ok(setting(ALL, "rp_filter")? == "1")
}

fn setting(of: &str, name: &str) -> io::Result<String> {
    Ok(std::fs::read_to_string(path(of, name))?.trim().to_owned())
}

fn path(of: &str, name: &str) -> String {
    format!("{SETTINGS}/{of}/{name}")
}

/// Time since the machine's start, in nanoseconds; the time that it was suspended counts.
fn uptime() -> io::Result<u64> {
    let time = clock_gettime(ClockId::CLOCK_BOOTTIME)?;
    Ok(std::time::Duration::from(time).as_nanos().try_into().unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::netns::Namespace;

    #[test]
    fn a_namespace_with_the_number_of_an_earlier_one_has_a_record_of_its_own() {
        if !nix::unistd::geteuid().is_root() || netns::cookie().expect("there are sockets").is_none() {
            return;
        }
        let look = |name: &str| {
            let namespace = Namespace::create(name).expect("root may have a namespace");
            let look = || (std::fs::metadata("/proc/thread-self/ns/net").expect("Linux has it").ino(), record_path());
            let (number, path) = namespace.run(look).expect("it can be entered");
            (number, path.expect("it has one"))
        };
        let name = format!("hopcast-test-record-{}", std::process::id());
        let (number, path) = look(&name);
        // The kernel frees a namespace a moment after its end, and then gives its number to a new one.
        let again = std::iter::repeat_with(|| look(&name)).take(200).find(|(again, _)| *again == number);
        let (_, other) = again.expect("the number comes back");
        assert_ne!(path, other);
    }
}
