//! Interfaces that a command runs on, and the address of the host on all of them.

use std::net::Ipv4Addr;

use schemars::JsonSchema;
use serde::Serialize;

use crate::failure::Failure;
use crate::platform::netlink::{Address, Link};

/// An interface.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub(crate) struct Interface {
    /// Its name.
    pub(crate) name: String,
    /// Whether hopcast uses it now, or why not.
    pub(crate) state: State,
}

/// Whether an interface can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum State {
    /// hopcast uses it.
    Running,
    /// No interface has this name.
    Missing,
    /// It is down, or has no carrier.
    Down,
    /// The host's address belongs to none of its interfaces.
    NoAddress,
    /// hopcast can't open its sockets there.
    Failed,
}

impl State {
    /// That of the interface of `name`, which may be among `links`, on a host one of whose interfaces may have its address.
    pub(crate) fn of(link: Option<&Link>, has_address: bool) -> Self {
        match link {
            None => Self::Missing,
            Some(link) if !link.is_running => Self::Down,
            Some(_) if !has_address => Self::NoAddress,
            Some(_) => Self::Running,
        }
    }

    /// Logs that the interface of `name` was in the state `before` and is in this one. Who can't open its sockets logs that there.
    pub(crate) fn log(self, before: Self, name: &str) {
        match self {
            Self::Failed => {}
            _ if self == before => {}
            Self::Running => tracing::info!(interface = name, "runs"),
            Self::Missing | Self::Down | Self::NoAddress => {
                tracing::warn!(interface = name, state = ?self, "can't be used; waiting for it");
            }
        }
    }
}

/// The interfaces of these names among `links`.
///
/// # Errors
///
/// [`Failure::Input`]: there is no such interface, or it is named twice.
pub(crate) fn named(names: &[String], links: &[Link]) -> Result<Vec<Link>, Failure> {
    let mut found = Vec::new();
    for name in names {
        if name.is_empty() {
            return Err(Failure::Input("--interface: a name is missing".into()));
        }
        let link = links.iter().find(|link| link.name == *name).ok_or_else(|| {
            let others: Vec<_> = links.iter().map(|link| link.name.as_str()).filter(|name| *name != "lo").collect();
            let known = match &others[..] {
                [] => "this host has only lo".into(),
                [other] => format!("there is {other}"),
                _ => format!("there are {}", others.join(", ")),
            };
            Failure::Input(format!("there is no interface {name}; {known}"))
        })?;
        if found.contains(link) {
            return Err(Failure::Input(format!("interface {name} is given twice")));
        }
        found.push(link.clone());
    }
    Ok(found)
}

/// The address `wanted`, which must be one of `all`; without one, the first address of the first of `links`.
///
/// # Errors
///
/// [`Failure::Input`]: no interface has the address, or the first interface has none.
pub(crate) fn address(wanted: Option<Ipv4Addr>, links: &[Link], all: &[Address]) -> Result<Ipv4Addr, Failure> {
    match wanted {
        Some(address) if all.iter().any(|known| known.address == address) => Ok(address),
        Some(address) => Err(Failure::Input(format!("no interface of this host has the address {address}"))),
        None => {
            let first = links.first().ok_or_else(|| Failure::Input("no interface is named".into()))?;
            let its = all.iter().find(|address| address.interface == first.index);
            let none =
                || Failure::Input(format!("interface {} has no IPv4 address; ip address add gives it one", first.name));
            Ok(its.ok_or_else(none)?.address)
        }
    }
}
