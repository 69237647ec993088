//! Interfaces that a command runs on, and the address of the host on all of them.

use std::net::Ipv4Addr;

use crate::failure::Failure;
use crate::platform::netlink::{Address, Link};

/// The interfaces of these names among `links`.
///
/// # Errors
///
/// [`Failure::Input`]: there is no such interface, or it is named twice.
pub(crate) fn named(names: &[String], links: &[Link]) -> Result<Vec<Link>, Failure> {
    let mut found = Vec::new();
    for name in names {
        let link = links.iter().find(|link| link.name == *name).ok_or_else(|| {
            let others: Vec<_> = links.iter().map(|link| link.name.as_str()).filter(|name| *name != "lo").collect();
            let known = match &others[..] {
                [] => "there is none but lo".into(),
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
