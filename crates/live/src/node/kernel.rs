//! The kernel's routes, kept as the protocol wants them.
//!
//! All routes are in a separate table, and have a separate protocol number; a rule sends packets for the network there
//! before they reach the main table, which hopcast never changes. The widest route of the table leads into the TUN
//! device, which receives packets without a route.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::net::Ipv4Addr;

use super::prefix::Prefix;
use crate::platform::netlink::{LinkChange, Netlink, Route, Rule};

/// Protocol number of the routes and rules (`rtm_protocol` of rtnetlink(7)): none that iproute2 lists in `rt_protos`.
pub(super) const PROTOCOL: u8 = 165;
/// The table, named after AODV's port.
pub(super) const TABLE: u32 = 654;
/// Priority of the rules: before that of the main table, 32766.
const PRIORITY: u32 = 654;
/// Metric of the routes into the TUN device: above any number of hops.
const HOLD_METRIC: u32 = 1 << 16;

/// What stands in the kernel's table.
#[derive(Debug)]
pub(super) struct Kernel {
    netlink: Netlink,
    address: Ipv4Addr,
    networks: Vec<Prefix>,
    /// Number of the TUN device.
    tun: u32,
    installed: BTreeMap<Ipv4Addr, Route>,
    /// Destinations whose routes the kernel has refused, so that each is told once.
    refused: BTreeSet<Ipv4Addr>,
}

/// A route to a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Wanted {
    /// The host.
    pub(super) destination: Ipv4Addr,
    /// The neighbour on the way.
    pub(super) hop: Ipv4Addr,
    /// The kernel's number of the interface that leads to it.
    pub(super) interface: u32,
    /// Length of the way, in hops.
    pub(super) hops: u32,
}

/// Takes what an earlier life has left out of the kernel's tables; how many routes and rules.
///
/// # Errors
///
/// The platform's.
pub(super) fn clean(netlink: &mut Netlink) -> io::Result<usize> {
    let mut removed = 0;
    for rule in netlink.rules()?.into_iter().filter(|rule| rule.protocol == PROTOCOL && rule.table == TABLE) {
        gone(netlink.delete_rule(&rule))?;
        removed += 1;
    }
    for route in netlink.routes(TABLE)?.into_iter().filter(|route| route.protocol == PROTOCOL) {
        gone(netlink.delete_route(&route))?;
        removed += 1;
    }
    Ok(removed)
}

/// It is no error if what is to be removed isn't there.
fn gone(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(error) if matches!(error.raw_os_error(), Some(nix::libc::ESRCH | nix::libc::ENOENT)) => Ok(()),
        other => other,
    }
}

impl Kernel {
    /// Leads packets for `networks` from this host, which has `address`, and through it, into the TUN device with number `tun`.
    ///
    /// # Errors
    ///
    /// The platform's.
    pub(super) fn set_up(netlink: Netlink, address: Ipv4Addr, networks: Vec<Prefix>, tun: u32) -> io::Result<Self> {
        let (installed, refused) = (BTreeMap::new(), BTreeSet::new());
        let mut kernel = Self { netlink, address, networks, tun, installed, refused };
        kernel.hold()?;
        kernel.lead()?;
        Ok(kernel)
    }

    /// The kernel itself, to ask.
    pub(super) fn netlink(&mut self) -> &mut Netlink {
        &mut self.netlink
    }

    /// Destinations with a route in the kernel.
    pub(super) fn installed(&self) -> &BTreeMap<Ipv4Addr, Route> {
        &self.installed
    }

    /// Makes the kernel's routes what they are to be; whether they are. What it refuses is told, and tried again the next time.
    pub(super) fn update(&mut self, wanted: impl Iterator<Item = Wanted>) -> bool {
        let wanted: Vec<Wanted> = wanted.collect();
        // Most messages change no route. Protocols list routes in the order of addresses, as the map here does.
        let mut installed = self.installed.values();
        if wanted.iter().all(|wanted| installed.next() == Some(&self.route(wanted))) && installed.next().is_none() {
            return true;
        }
        let mut is_complete = true;
        let mut old = std::mem::take(&mut self.installed);
        for wanted in wanted {
            let route = self.route(&wanted);
            let former = old.remove(&wanted.destination);
            if former == Some(route) {
                self.installed.insert(wanted.destination, route);
                continue;
            }
            if let Err(error) = self.netlink.replace_route(&route) {
                if self.refused.insert(wanted.destination) {
                    tracing::warn!(destination = %wanted.destination, over = %wanted.hop, %error, "the kernel refuses a route");
                }
                old.extend(former.map(|former| (wanted.destination, former)));
                is_complete = false;
                continue;
            }
            tracing::info!(destination = %wanted.destination, over = %wanted.hop, hops = wanted.hops, "route set");
            self.refused.remove(&wanted.destination);
            self.installed.insert(wanted.destination, route);
            // A route replaces one with the same metric only.
            if let Some(former) = former.filter(|former| former.metric != route.metric) {
                self.remove(&former);
            }
        }
        for (destination, route) in old {
            tracing::info!(%destination, "route removed");
            self.remove(&route);
        }
        is_complete
    }

    /// Something has changed in the kernel that may have taken routes or rules away: reads again which routes there are, and puts
    /// those into the TUN device and the rules back. A TUN device that somebody has set down is set up before: no route leads into one that is
    /// down.
    ///
    /// # Errors
    ///
    /// The platform's.
    pub(super) fn reread(&mut self) -> io::Result<()> {
        let routes = self.netlink.routes(TABLE)?;
        self.installed.retain(|_, route| routes.contains(route));
        if let Err(error) = self.hold() {
            if error.kind() != io::ErrorKind::NetworkDown {
                return Err(error);
            }
            tracing::warn!("the TUN device is down; it is set up again");
            self.netlink.set_link(self.tun, &LinkChange { up: Some(true), ..LinkChange::default() })?;
            self.hold()?;
        }
        self.lead()
    }

    /// Takes everything out.
    ///
    /// # Errors
    ///
    /// The platform's.
    pub(super) fn tear_down(&mut self) -> io::Result<()> {
        self.installed.clear();
        clean(&mut self.netlink).map(drop)
    }

    /// The routes into the TUN device. The address may be gone for a while, with its interface: then they name no source.
    fn hold(&mut self) -> io::Result<()> {
        let has_address = self.netlink.addresses()?.iter().any(|address| address.address == self.address);
        for network in &self.networks {
            let route = Route {
                table: TABLE,
                destination: network.address(),
                prefix_len: network.prefix_len(),
                gateway: None,
                interface: self.tun,
                metric: HOLD_METRIC,
                protocol: PROTOCOL,
                source: has_address.then_some(self.address),
            };
            self.netlink.replace_route(&route)?;
        }
        Ok(())
    }

    /// The rules that lead to the table.
    fn lead(&mut self) -> io::Result<()> {
        for network in &self.networks {
            let (destination, prefix_len) = (network.address(), network.prefix_len());
            let rule = Rule { destination, prefix_len, table: TABLE, priority: PRIORITY, protocol: PROTOCOL };
            match self.netlink.add_rule(&rule) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                added => added?,
            }
        }
        Ok(())
    }

    fn route(&self, wanted: &Wanted) -> Route {
        Route {
            table: TABLE,
            destination: wanted.destination,
            prefix_len: 32,
            gateway: (wanted.hop != wanted.destination).then_some(wanted.hop),
            interface: wanted.interface,
            metric: wanted.hops,
            protocol: PROTOCOL,
            source: Some(self.address),
        }
    }

    fn remove(&mut self, route: &Route) {
        if let Err(error) = gone(self.netlink.delete_route(route)) {
            tracing::warn!(destination = %route.destination, %error, "a route can't be removed");
        }
    }
}
