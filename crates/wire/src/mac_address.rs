use std::fmt;

/// A 48-bit MAC address, in the order in which it is written and sent (IEEE Std 802-2014, 8.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MacAddress(pub [u8; 6]);

impl MacAddress {
    /// The address of all stations.
    pub const BROADCAST: Self = Self([0xff; 6]);

    /// Whether the address names a group of stations: broadcast or multicast.
    pub fn is_group(self) -> bool {
        self.0[0] & 0x01 != 0
    }

    /// Whether the address is assigned locally rather than by a manufacturer.
    pub fn is_local(self) -> bool {
        self.0[0] & 0x02 != 0
    }
}

impl fmt::Display for MacAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, g] = self.0;
        write!(f, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_octet_tells_groups_and_local_addresses() {
        assert!(MacAddress::BROADCAST.is_group());
        let local = MacAddress([0x02, 0, 0, 0, 0, 0x1f]);
        assert!(local.is_local() && !local.is_group());
        let bought = MacAddress([0x00, 0x0b, 0x86, 0xc2, 0xa4, 0x85]);
        assert!(!bought.is_local() && !bought.is_group());
        assert_eq!(bought.to_string(), "00:0b:86:c2:a4:85");
    }
}
