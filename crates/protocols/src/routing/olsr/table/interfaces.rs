//! Further addresses of nodes, from MID messages (RFC 3626, 4.1 and 5.4).

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use crate::time::Instant;

/// The most addresses at a time; more are ignored.
pub(in crate::routing::olsr) const MAX_INTERFACES: usize = 16384;

/// The interface association set.
#[derive(Debug, Default)]
pub(in crate::routing::olsr) struct Interfaces {
    /// By I_iface_addr: I_main_addr and I_time.
    mains: BTreeMap<Ipv4Addr, (Ipv4Addr, Instant)>,
}

impl Interfaces {
    /// A MID message has come that holds until `until`. Returns whether it told anything new.
    pub(in crate::routing::olsr) fn handle_mid(
        &mut self,
        main: Ipv4Addr,
        interfaces: impl Iterator<Item = Ipv4Addr>,
        until: Instant,
        now: Instant,
    ) -> bool {
        let mut is_changed = false;
        for address in interfaces.filter(|&address| address != main) {
            if self.mains.len() < MAX_INTERFACES || self.mains.contains_key(&address) {
                let old = self.mains.insert(address, (main, until));
                is_changed |= old.is_none_or(|(old, until)| old != main || until <= now);
            }
        }
        is_changed
    }

    /// The main address of the node with this address; without a MID message, an address is the main one (5.5).
    pub(in crate::routing::olsr) fn main(&self, address: Ipv4Addr, now: Instant) -> Ipv4Addr {
        self.mains.get(&address).filter(|(_, until)| *until > now).map_or(address, |&(main, _)| main)
    }

    /// All additional addresses: the address, the main one, and the time until which it is valid.
    pub(in crate::routing::olsr) fn iter(
        &self,
        now: Instant,
    ) -> impl Iterator<Item = (Ipv4Addr, Ipv4Addr, Instant)> + '_ {
        let tuples = self.mains.iter().map(|(&address, &(main, until))| (address, main, until));
        tuples.filter(move |&(_, _, until)| until > now)
    }

    /// Forgets what has passed.
    pub(in crate::routing::olsr) fn sweep(&mut self, now: Instant) {
        self.mains.retain(|_, (_, until)| *until > now);
    }

    /// How many there are.
    pub(in crate::routing::olsr) fn len(&self) -> usize {
        self.mains.len()
    }
}
