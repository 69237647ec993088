//! Addresses on the air, derived from a node's index.

use std::net::Ipv4Addr;

use hopcast_radio::mac::StationId;
use hopcast_wire::MacAddress;

use crate::scenario::model::NodeId;

/// The network of all stations: a locally administered address that no station has (IEEE 802.11-2020, 9.2.4.3.4).
pub const BSSID: MacAddress = MacAddress([0x02, 0x01, 0, 0, 0, 0]);

/// The MAC address of a station: locally administered, `02:00:00:00:00:01` for the first.
pub fn mac_address(station: StationId) -> MacAddress {
    let [a, b, c, d] = station.0.wrapping_add(1).to_be_bytes();
    MacAddress([0x02, 0, a, b, c, d])
}

/// The IP address of a node: `10.0.0.1` for the first.
pub fn ip_address(node: NodeId) -> Ipv4Addr {
    Ipv4Addr::from_bits(FIRST.to_bits().wrapping_add(node.0))
}

const FIRST: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
