//! Addresses of nodes, stations and wires, derived from their indices.

use std::net::Ipv4Addr;

use hopcast_radio::mac::StationId;
use hopcast_wire::MacAddress;

use crate::id::NodeId;

/// BSSID of all stations: a locally administered address that no station has (IEEE 802.11-2020, 9.2.4.3.4).
pub(crate) const BSSID: MacAddress = MacAddress([0x02, 0x01, 0, 0, 0, 0]);

/// The MAC address of a station: locally administered, `02:00:00:00:00:01` for the first.
pub fn mac_address(station: StationId) -> MacAddress {
    let [a, b, c, d] = station.0.wrapping_add(1).to_be_bytes();
    MacAddress([0x02, 0, a, b, c, d])
}

/// The station that has, or would have, this MAC address.
pub(crate) fn station_of(MacAddress(octets): MacAddress) -> Option<StationId> {
    let [0x02, 0, a, b, c, d] = octets else { return None };
    Some(StationId(u32::from_be_bytes([a, b, c, d]).wrapping_sub(1)))
}

/// The MAC address of the interface at which a wire begins: locally administered, `02:02:00:00:00:01` for the first.
pub fn wire_address(wire: u32) -> MacAddress {
    let [a, b, c, d] = wire.wrapping_add(1).to_be_bytes();
    MacAddress([0x02, 0x02, a, b, c, d])
}

/// The IP address of a node: `10.0.0.1` for the first; of all nodes `255.255.255.255`.
pub fn ip_address(node: NodeId) -> Ipv4Addr {
    match node {
        NodeId::ALL => Ipv4Addr::BROADCAST,
        NodeId(index) => Ipv4Addr::from_bits(FIRST.to_bits().wrapping_add(index)),
    }
}

/// The node that has, or would have, this IP address: there may be none with that index.
pub(crate) fn node_of(address: Ipv4Addr) -> NodeId {
    match address {
        Ipv4Addr::BROADCAST => NodeId::ALL,
        _ => NodeId(address.to_bits().wrapping_sub(FIRST.to_bits())),
    }
}

const FIRST: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_station_is_found_by_its_address() {
        for station in [StationId(0), StationId(70_000)] {
            assert_eq!(station_of(mac_address(station)), Some(station));
        }
        assert_eq!([BSSID, MacAddress::BROADCAST, wire_address(0)].map(station_of), [None; 3]);
    }

    #[test]
    fn a_node_is_found_by_its_address() {
        for node in [NodeId(0), NodeId(300), NodeId::ALL] {
            assert_eq!(node_of(ip_address(node)), node);
        }
        assert_eq!(ip_address(NodeId(0)), Ipv4Addr::new(10, 0, 0, 1));
        assert_eq!(ip_address(NodeId::ALL), Ipv4Addr::BROADCAST);
    }
}
