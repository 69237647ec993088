//! HNA messages: networks that a node connects, outside of the ad hoc network (RFC 3626, 12.1). The body is a sequence of
//! pairs of network address and netmask.

use std::net::Ipv4Addr;

use super::{ADDRESS_LEN, LAYER};
use crate::ParseError;
use crate::bytes::{array, put};

/// Length of a network, in bytes.
const NETWORK_LEN: usize = 2 * ADDRESS_LEN;

/// A network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Network {
    /// Its address.
    pub address: Ipv4Addr,
    /// Its netmask, unchanged: daemons hide other data in invalid masks.
    pub netmask: Ipv4Addr,
}

/// A view of the body of an HNA message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct View<'a>(&'a [u8]);

impl<'a> View<'a> {
    /// A view of the body of a message.
    pub fn new_checked(body: &'a [u8]) -> Result<Self, ParseError> {
        let whole = body.len().is_multiple_of(NETWORK_LEN);
        LAYER.require(whole, "length of the networks", 0, body.len(), "a multiple of 8 octets")?;
        Ok(Self(body))
    }

    /// Iterates over the networks.
    pub fn networks(&self) -> impl ExactSizeIterator<Item = Network> + 'a {
        let address = |octets, at| Ipv4Addr::from(array::<ADDRESS_LEN>(octets, at));
        let network = move |octets| Network { address: address(octets, 0), netmask: address(octets, ADDRESS_LEN) };
        self.0.chunks_exact(NETWORK_LEN).map(network)
    }
}

/// The fields of the body of an HNA message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repr {
    /// The networks.
    pub networks: Vec<Network>,
}

impl Repr {
    /// Parses a body.
    pub fn parse(view: &View<'_>) -> Self {
        Self { networks: view.networks().collect() }
    }

    /// Length of the body, in bytes.
    pub fn buffer_len(&self) -> usize {
        self.networks.len() * NETWORK_LEN
    }

    /// Writes the body. Panics if `octets` is too short.
    pub fn emit(&self, octets: &mut [u8]) {
        for (nth, network) in self.networks.iter().enumerate() {
            put(octets, nth * NETWORK_LEN, network.address.octets());
            put(octets, nth * NETWORK_LEN + ADDRESS_LEN, network.netmask.octets());
        }
    }
}
