//! IPv4 networks, as users write them.

use core::fmt;
use core::str::FromStr;
use std::net::Ipv4Addr;

use serde::{Serialize, Serializer};

/// An IPv4 network. Bits behind the prefix are zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Prefix {
    address: Ipv4Addr,
    len: u8,
}

impl Prefix {
    /// The network of an address; `None` if the prefix is longer than 32 bits.
    pub(super) fn of(address: Ipv4Addr, len: u8) -> Option<Self> {
        let mask = u32::MAX.checked_shl(32_u32.checked_sub(len.into())?).unwrap_or(0);
        Some(Self { address: Ipv4Addr::from_bits(address.to_bits() & mask), len })
    }

    /// Its first address.
    pub(super) const fn address(self) -> Ipv4Addr {
        self.address
    }

    /// Length of the prefix, in bits.
    pub(super) const fn prefix_len(self) -> u8 {
        self.len
    }

    /// Whether an address lies in it.
    pub(super) fn contains(self, address: Ipv4Addr) -> bool {
        Self::of(address, self.len) == Some(self)
    }
}

impl fmt::Display for Prefix {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.address, self.len)
    }
}

impl FromStr for Prefix {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split_once('/').and_then(|(address, len)| Some((address.parse().ok()?, len.parse().ok()?)));
        let (address, len): (Ipv4Addr, u8) = parts.ok_or("a network is written like 10.0.0.0/24")?;
        let prefix = Self::of(address, len).ok_or("a prefix has at most 32 bits")?;
        match prefix.address == address {
            true => Ok(prefix),
            false => Err(format!("{address} has bits behind the prefix; its network is {prefix}")),
        }
    }
}

impl Serialize for Prefix {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_is_read_as_it_is_written() {
        for text in ["10.0.0.0/24", "0.0.0.0/0", "192.0.2.7/32"] {
            assert_eq!(text.parse::<Prefix>().map(|prefix| prefix.to_string()), Ok(text.into()));
        }
        for (text, says) in [
            ("10.0.0.1", "written like"),
            ("10.0.0/24", "written like"),
            ("10.0.0.0/33", "at most 32 bits"),
            ("10.0.0.7/24", "its network is 10.0.0.0/24"),
        ] {
            let error = text.parse::<Prefix>().expect_err("it is wrong");
            assert!(error.contains(says), "{error}");
        }
    }

    #[test]
    fn a_network_contains_its_addresses() {
        let prefix: Prefix = "10.1.2.0/23".parse().expect("a network");
        assert!(prefix.contains(Ipv4Addr::new(10, 1, 3, 255)) && !prefix.contains(Ipv4Addr::new(10, 1, 4, 0)));
        let all: Prefix = "0.0.0.0/0".parse().expect("a network");
        assert!(all.contains(Ipv4Addr::BROADCAST));
    }
}
