//! Owners of hardware addresses, from the kernel's table of neighbours.

use std::collections::BTreeSet;
use std::net::Ipv4Addr;

use hopcast_wire::MacAddress;

/// The most that are known; the kernel keeps 1024 neighbours (`gc_thresh3` of arp(7)) by default.
const MAX: usize = 1 << 12;

/// Neighbours by the kernel's number of the interface and hardware address. A host may have several IPv4 addresses.
#[derive(Debug, Default)]
pub(super) struct Hardware {
    known: BTreeSet<(u32, MacAddress, Ipv4Addr)>,
}

impl Hardware {
    /// Adds one. Returns whether there are too many: the kernel is to be asked for those that it still has.
    pub(super) fn insert(&mut self, interface: u32, hardware: MacAddress, address: Ipv4Addr) -> bool {
        self.known.insert((interface, hardware, address));
        self.known.len() > MAX
    }

    /// These are all.
    pub(super) fn replace(&mut self, known: impl Iterator<Item = (u32, MacAddress, Ipv4Addr)>) {
        self.known = known.take(MAX).collect();
    }

    /// The neighbour behind a hardware address, by the address that `is_heard`, if there is one.
    pub(super) fn find(
        &self,
        interface: u32,
        hardware: MacAddress,
        is_heard: impl Fn(Ipv4Addr) -> bool,
    ) -> Option<Ipv4Addr> {
        let all = (interface, hardware, Ipv4Addr::UNSPECIFIED)..=(interface, hardware, Ipv4Addr::BROADCAST);
        let mut addresses = self.known.range(all).map(|&(.., address)| address);
        let any = addresses.clone().next();
        addresses.find(|&address| is_heard(address)).or(any)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ITS: MacAddress = MacAddress([2, 0, 0, 0, 0, 2]);

    #[test]
    fn a_neighbour_goes_by_the_address_that_was_heard() {
        let [own, other, strange] = [1, 2, 3].map(|last| Ipv4Addr::new(192, 0, 2, last));
        let mut hardware = Hardware::default();
        for address in [other, own, strange] {
            assert!(!hardware.insert(7, ITS, address));
        }
        for heard in [own, other, strange] {
            assert_eq!(hardware.find(7, ITS, |address| address == heard), Some(heard));
        }
        assert_eq!(hardware.find(7, ITS, |_| false), Some(own), "any of them");
        assert_eq!(hardware.find(8, ITS, |_| true), None, "on another interface");
        assert_eq!(hardware.find(7, MacAddress([2, 0, 0, 0, 0, 3]), |_| true), None);
    }

    #[test]
    fn there_is_an_end_to_those_that_are_known() {
        let mut hardware = Hardware::default();
        let address = |n: usize| Ipv4Addr::from_bits(n as u32);
        for n in 0..MAX {
            assert!(!hardware.insert(7, ITS, address(n)));
        }
        assert!(hardware.insert(7, ITS, address(MAX)));
        hardware.replace((0..2 * MAX).map(|n| (7, ITS, address(n))));
        assert_eq!(hardware.known.len(), MAX);
    }
}
