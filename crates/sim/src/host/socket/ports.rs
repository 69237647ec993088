//! The ports of a host's sockets.
//!
//! A socket without a given port gets the dynamic one (RFC 6335, section 6) of its number, so that a packet finds its
//! socket without a search. This module stores the exceptions: ports that flows ask for, and those of sockets whose
//! dynamic port was occupied.

use std::collections::{BTreeMap, BTreeSet};

/// Port of a host's first socket, the first dynamic one; the others follow.
const FIRST_PORT: u16 = 49_152;

/// Sockets that one host may have: as many as there are dynamic ports.
pub(in crate::host) const MAX_SOCKETS: usize = (u16::MAX - FIRST_PORT) as usize + 1;

/// Which socket has which port, where that does not follow from its number.
#[derive(Debug, Default)]
pub(in crate::host) struct Ports {
    /// Numbers of sockets, by protocol number and port.
    numbers: BTreeMap<(u8, u16), u32>,
    /// The same the other way round.
    ports: BTreeMap<u32, u16>,
    /// Ports that no socket may choose: those of `numbers`, and those that will be given.
    taken: BTreeSet<u16>,
}

impl Ports {
    /// From now on no socket chooses `port`.
    pub(in crate::host) fn reserve(&mut self, port: u16) {
        self.taken.insert(port);
    }

    /// The port that the socket with this number would choose.
    pub(super) fn choose(&self, number: u32) -> u16 {
        let own = dynamic(number);
        if self.taken.is_empty() || !self.taken.contains(&own) {
            return own;
        }
        // From the end, which sockets with higher numbers reach last. There are as many ports as sockets.
        let free = (FIRST_PORT..=u16::MAX).rev().find(|port| !self.taken.contains(port));
        free.expect("a host has no more sockets than dynamic ports")
    }

    /// The socket with this number has `port` of `protocol`.
    pub(super) fn assign(&mut self, number: u32, protocol: u8, port: u16) {
        if port != dynamic(number) {
            self.numbers.insert((protocol, port), number);
            self.ports.insert(number, port);
            self.taken.insert(port);
        }
    }

    /// Port of the socket with this number.
    #[inline]
    pub(super) fn of(&self, number: u32) -> u16 {
        if self.ports.is_empty() {
            return dynamic(number);
        }
        self.ports.get(&number).copied().unwrap_or_else(|| dynamic(number))
    }

    /// Number of the socket that `port` of `protocol` leads to, if it has one.
    #[inline]
    pub(super) fn number(&self, protocol: u8, port: u16) -> u32 {
        let own = u32::from(port.wrapping_sub(FIRST_PORT));
        if self.ports.is_empty() {
            return own;
        }
        match self.numbers.get(&(protocol, port)) {
            Some(&number) => number,
            None if self.ports.contains_key(&own) => u32::MAX,
            None => own,
        }
    }
}

/// The dynamic port of the socket with this number.
fn dynamic(number: u32) -> u16 {
    FIRST_PORT + number as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    const TCP: u8 = 6;
    const UDP: u8 = 17;

    #[test]
    fn without_given_ports_sockets_have_dynamic_ones_in_order() {
        let mut ports = Ports::default();
        for number in 0..4 {
            let port = ports.choose(number);
            ports.assign(number, UDP, port);
            assert_eq!((port, ports.of(number), ports.number(UDP, port)), (49_152 + number as u16, port, number));
        }
    }

    #[test]
    fn protocols_have_ports_of_their_own() {
        let mut ports = Ports::default();
        for (number, protocol) in [(0, UDP), (1, TCP)] {
            ports.reserve(5_004);
            ports.assign(number, protocol, 5_004);
        }
        assert_eq!([UDP, TCP, 33].map(|protocol| ports.number(protocol, 5_004) as usize), [0, 1, 21_388]);
        assert_eq!([0, 1, 2].map(|number| ports.of(number)), [5_004, 5_004, 49_154]);
        // The first socket does not listen on the dynamic port of its number, too.
        assert_eq!(ports.number(UDP, 49_152), u32::MAX);
    }

    #[test]
    fn no_socket_chooses_a_port_that_a_flow_asks_for() {
        let mut ports = Ports::default();
        [49_152, 65_535].into_iter().for_each(|port| ports.reserve(port));
        let chosen = [0, 1].map(|number| {
            let port = ports.choose(number);
            ports.assign(number, UDP, port);
            port
        });
        assert_eq!(chosen, [65_534, 49_153]);
        ports.assign(2, UDP, 49_152);
        assert_eq!([65_534, 49_153, 49_152].map(|port| ports.number(UDP, port)), [0, 1, 2]);
    }

    #[test]
    fn as_many_sockets_as_there_are_ports_find_one() {
        let mut ports = Ports::default();
        ports.reserve(50_000);
        let mut seen = BTreeSet::new();
        for number in 0..MAX_SOCKETS as u32 - 1 {
            let port = ports.choose(number);
            ports.assign(number, UDP, port);
            assert!(seen.insert(port), "{port} is chosen twice");
        }
        assert!(!seen.contains(&50_000));
    }
}
