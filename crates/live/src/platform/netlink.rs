//! The kernel's links, addresses and IPv4 routes, asked for and changed through rtnetlink(7).

use std::io;
use std::net::{IpAddr, Ipv4Addr};

use hopcast_wire::MacAddress;
use netlink_packet_core::{
    NLM_F_ACK, NLM_F_CREATE, NLM_F_DUMP, NLM_F_EXCL, NLM_F_REPLACE, NLM_F_REQUEST, NetlinkHeader, NetlinkMessage,
    NetlinkPayload,
};
use netlink_packet_route::address::{AddressAttribute, AddressMessage, AddressScope};
use netlink_packet_route::link::{LinkAttribute, LinkFlags, LinkMessage};
use netlink_packet_route::route::{
    RouteAddress, RouteAttribute, RouteFlags, RouteHeader, RouteMessage, RouteProtocol, RouteScope, RouteType,
};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use netlink_sys::protocols::NETLINK_ROUTE;
use netlink_sys::{Socket, SocketAddr};

/// A socket to the tables of the network namespace in which the thread that opened it was.
pub struct Netlink {
    socket: Socket,
    sequence: u32,
}

/// A network interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// The kernel's number of it.
    pub index: u32,
    /// Its name.
    pub name: String,
    /// Largest IP packet in octets.
    pub mtu: u32,
    /// Whether it is switched on.
    pub is_up: bool,
    /// Its Ethernet address, if it has one.
    pub hardware: Option<MacAddress>,
}

/// What is to change of an interface; what is `None` stays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkChange {
    /// Switch it on or off.
    pub up: Option<bool>,
    /// Largest IP packet in octets.
    pub mtu: Option<u32>,
    /// Its Ethernet address.
    pub hardware: Option<MacAddress>,
    /// Whether it resolves addresses.
    pub arp: Option<bool>,
}

/// An IPv4 address of an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    /// The kernel's number of the interface.
    pub interface: u32,
    /// The address.
    pub address: Ipv4Addr,
    /// Bits of it that are those of the network.
    pub prefix_len: u8,
}

/// An IPv4 unicast route of the main table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route {
    /// Where it leads.
    pub destination: Ipv4Addr,
    /// Bits of the destination that count.
    pub prefix_len: u8,
    /// The next hop; `None`: the destination is on the link.
    pub gateway: Option<Ipv4Addr>,
    /// The kernel's number of the interface.
    pub interface: u32,
    /// Of several routes the one with the lowest counts.
    pub metric: u32,
    /// Who made it (`rtm_protocol` of rtnetlink(7)).
    pub protocol: u8,
}

impl Netlink {
    /// Opens a socket in the network namespace of the calling thread.
    ///
    /// # Errors
    /// The platform's.
    pub fn open() -> io::Result<Self> {
        let mut socket = Socket::new(NETLINK_ROUTE)?;
        socket.bind_auto()?;
        socket.connect(&SocketAddr::new(0, 0))?;
        Ok(Self { socket, sequence: 0 })
    }

    /// All interfaces.
    ///
    /// # Errors
    /// The platform's.
    pub fn links(&mut self) -> io::Result<Vec<Link>> {
        let answers = self.request(RouteNetlinkMessage::GetLink(LinkMessage::default()), NLM_F_DUMP)?;
        let links = answers.into_iter().filter_map(|answer| match answer {
            RouteNetlinkMessage::NewLink(message) => Some(link(&message)),
            _ => None,
        });
        Ok(links.collect())
    }

    /// The interface of this name; `None` if there is none.
    ///
    /// # Errors
    /// The platform's.
    pub fn link(&mut self, name: &str) -> io::Result<Option<Link>> {
        Ok(self.links()?.into_iter().find(|link| link.name == name))
    }

    /// Changes an interface.
    ///
    /// # Errors
    /// The platform's.
    pub fn set_link(&mut self, index: u32, change: &LinkChange) -> io::Result<()> {
        let mut message = LinkMessage::default();
        message.header.index = index;
        let flags = [(LinkFlags::Up, change.up), (LinkFlags::Noarp, change.arp.map(|arp| !arp))];
        for (flag, is_set) in flags.into_iter().filter_map(|(flag, is_set)| Some((flag, is_set?))) {
            message.header.change_mask |= flag;
            message.header.flags.set(flag, is_set);
        }
        message.attributes.extend(change.mtu.map(LinkAttribute::Mtu));
        message.attributes.extend(change.hardware.map(|MacAddress(octets)| LinkAttribute::Address(octets.to_vec())));
        self.request(RouteNetlinkMessage::SetLink(message), NLM_F_ACK).map(drop)
    }

    /// All IPv4 addresses.
    ///
    /// # Errors
    /// The platform's.
    pub fn addresses(&mut self) -> io::Result<Vec<Address>> {
        let mut message = AddressMessage::default();
        message.header.family = AddressFamily::Inet;
        let answers = self.request(RouteNetlinkMessage::GetAddress(message), NLM_F_DUMP)?;
        let addresses = answers.into_iter().filter_map(|answer| match answer {
            RouteNetlinkMessage::NewAddress(message) => address(&message),
            _ => None,
        });
        Ok(addresses.collect())
    }

    /// Gives an interface an address.
    ///
    /// # Errors
    /// The platform's; it has the address already, for one.
    pub fn add_address(&mut self, address: &Address) -> io::Result<()> {
        let mut message = AddressMessage::default();
        message.header.family = AddressFamily::Inet;
        message.header.prefix_len = address.prefix_len;
        message.header.scope = AddressScope::Universe;
        message.header.index = address.interface;
        let own = IpAddr::V4(address.address);
        message.attributes = vec![AddressAttribute::Local(own), AddressAttribute::Address(own)];
        let flags = NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL;
        self.request(RouteNetlinkMessage::NewAddress(message), flags).map(drop)
    }

    /// All IPv4 unicast routes of the main table.
    ///
    /// # Errors
    /// The platform's.
    pub fn routes(&mut self) -> io::Result<Vec<Route>> {
        let mut message = RouteMessage::default();
        message.header.address_family = AddressFamily::Inet;
        let answers = self.request(RouteNetlinkMessage::GetRoute(message), NLM_F_DUMP)?;
        let routes = answers.into_iter().filter_map(|answer| match answer {
            RouteNetlinkMessage::NewRoute(message) => route(&message),
            _ => None,
        });
        Ok(routes.collect())
    }

    /// Enters a route, in place of the one with the same destination and metric if there is one.
    ///
    /// # Errors
    /// The platform's.
    pub fn replace_route(&mut self, route: &Route) -> io::Result<()> {
        let flags = NLM_F_ACK | NLM_F_CREATE | NLM_F_REPLACE;
        self.request(RouteNetlinkMessage::NewRoute(route_message(route)), flags).map(drop)
    }

    /// Removes a route.
    ///
    /// # Errors
    /// The platform's; `ESRCH` if there is no such route.
    pub fn delete_route(&mut self, route: &Route) -> io::Result<()> {
        self.request(RouteNetlinkMessage::DelRoute(route_message(route)), NLM_F_ACK).map(drop)
    }

    /// Sends a request and collects what the kernel answers.
    fn request(&mut self, message: RouteNetlinkMessage, flags: u16) -> io::Result<Vec<RouteNetlinkMessage>> {
        self.sequence = self.sequence.wrapping_add(1);
        let mut packet = NetlinkMessage::new(NetlinkHeader::default(), NetlinkPayload::from(message));
        packet.header.flags = NLM_F_REQUEST | flags;
        packet.header.sequence_number = self.sequence;
        packet.finalize();
        let mut octets = vec![0; packet.buffer_len()];
        packet.serialize(&mut octets);
        self.socket.send(&octets, 0)?;
        let mut answers = Vec::new();
        loop {
            let (received, _) = self.socket.recv_from_full()?;
            let mut rest = &received[..];
            while !rest.is_empty() {
                let answer = NetlinkMessage::<RouteNetlinkMessage>::deserialize(rest)
                    .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, format!("rtnetlink: {error}")))?;
                // Messages start at multiples of four octets.
                let len = (answer.header.length as usize).next_multiple_of(4);
                rest = rest.get(len.max(4)..).unwrap_or_default();
                if answer.header.sequence_number != self.sequence {
                    // What is left of an earlier request that failed.
                    continue;
                }
                match answer.payload {
                    NetlinkPayload::Done(_) => return Ok(answers),
                    NetlinkPayload::Error(error) if error.code.is_none() => return Ok(answers),
                    NetlinkPayload::Error(error) => return Err(error.to_io()),
                    NetlinkPayload::InnerMessage(message) => answers.push(message),
                    _ => {}
                }
            }
        }
    }
}

fn link(message: &LinkMessage) -> Link {
    let mut link = Link {
        index: message.header.index,
        name: String::new(),
        mtu: 0,
        is_up: message.header.flags.contains(LinkFlags::Up),
        hardware: None,
    };
    for attribute in &message.attributes {
        match attribute {
            LinkAttribute::IfName(name) => link.name.clone_from(name),
            LinkAttribute::Mtu(mtu) => link.mtu = *mtu,
            LinkAttribute::Address(octets) => {
                link.hardware = <[u8; 6]>::try_from(octets.as_slice()).ok().map(MacAddress);
            }
            _ => {}
        }
    }
    link
}

fn address(message: &AddressMessage) -> Option<Address> {
    // Behind a point-to-point link, the address is that of the other end, and the local one its own.
    let local = message.attributes.iter().find_map(|attribute| match attribute {
        AddressAttribute::Local(IpAddr::V4(address)) => Some(*address),
        _ => None,
    });
    Some(Address { interface: message.header.index, address: local?, prefix_len: message.header.prefix_len })
}

fn route(message: &RouteMessage) -> Option<Route> {
    let header = &message.header;
    let is_ours = header.table == RouteHeader::RT_TABLE_MAIN && header.kind == RouteType::Unicast;
    let mut route = Route {
        destination: Ipv4Addr::UNSPECIFIED,
        prefix_len: header.destination_prefix_length,
        gateway: None,
        interface: 0,
        metric: 0,
        protocol: header.protocol.into(),
    };
    for attribute in &message.attributes {
        match attribute {
            RouteAttribute::Destination(RouteAddress::Inet(address)) => route.destination = *address,
            RouteAttribute::Gateway(RouteAddress::Inet(address)) => route.gateway = Some(*address),
            RouteAttribute::Oif(index) => route.interface = *index,
            RouteAttribute::Priority(metric) => route.metric = *metric,
            _ => {}
        }
    }
    is_ours.then_some(route)
}

fn route_message(route: &Route) -> RouteMessage {
    let mut message = RouteMessage::default();
    message.header.address_family = AddressFamily::Inet;
    message.header.destination_prefix_length = route.prefix_len;
    message.header.table = RouteHeader::RT_TABLE_MAIN;
    message.header.protocol = RouteProtocol::from(route.protocol);
    message.header.kind = RouteType::Unicast;
    message.header.scope = RouteScope::Link;
    message.attributes.push(RouteAttribute::Destination(RouteAddress::Inet(route.destination)));
    if let Some(gateway) = route.gateway {
        message.header.scope = RouteScope::Universe;
        // The neighbour need not be in a network of ours: that it is heard is enough.
        message.header.flags |= RouteFlags::Onlink;
        message.attributes.push(RouteAttribute::Gateway(RouteAddress::Inet(gateway)));
    }
    message.attributes.push(RouteAttribute::Oif(route.interface));
    message.attributes.push(RouteAttribute::Priority(route.metric));
    message
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::sched::{CloneFlags, unshare};

    /// Runs `test` in a network namespace of its own, where that may be had.
    fn in_namespace(test: impl FnOnce(&mut Netlink) + Send + 'static) {
        let thread = std::thread::spawn(|| {
            if unshare(CloneFlags::CLONE_NEWNET).is_ok() {
                test(&mut Netlink::open().expect("any process may ask for routes"));
                return true;
            }
            false
        });
        let has_run = thread.join().expect("the test holds");
        assert!(has_run || !nix::unistd::geteuid().is_root(), "root may have a namespace");
    }

    #[test]
    fn links_addresses_and_routes_are_as_they_were_made() {
        in_namespace(|netlink| {
            let loopback = netlink.link("lo").expect("links can be read").expect("each namespace has it");
            assert!(!loopback.is_up);
            let change = LinkChange { up: Some(true), mtu: Some(9_000), ..LinkChange::default() };
            netlink.set_link(loopback.index, &change).expect("root may");
            let loopback = netlink.link("lo").expect("links can be read").expect("it is still there");
            assert!(loopback.is_up && loopback.mtu == 9_000);

            let address = Address { interface: loopback.index, address: Ipv4Addr::new(10, 0, 0, 7), prefix_len: 32 };
            netlink.add_address(&address).expect("a free address");
            assert!(netlink.addresses().expect("addresses can be read").contains(&address));
            let again = netlink.add_address(&address).expect_err("it is there");
            assert_eq!(again.kind(), io::ErrorKind::AlreadyExists);

            let destination = Ipv4Addr::new(10, 1, 2, 0);
            let direct =
                Route { destination, prefix_len: 24, gateway: None, interface: loopback.index, metric: 5, protocol: 4 };
            netlink.replace_route(&direct).expect("the interface is up");
            let by = Route { gateway: Some(Ipv4Addr::new(10, 0, 0, 9)), ..direct };
            netlink.replace_route(&by).expect("in place of the other");
            assert_eq!(netlink.routes().expect("routes can be read"), [by]);
            netlink.delete_route(&by).expect("it is there");
            assert_eq!(netlink.routes().expect("routes can be read"), []);
            let missing = netlink.delete_route(&by).expect_err("it is gone");
            assert_eq!(missing.raw_os_error(), Some(nix::errno::Errno::ESRCH as i32));
        });
    }
}
