//! The kernel's links, addresses, neighbours, IPv4 routes and rules, read and changed through rtnetlink(7), and its
//! notices of their changes.

use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::os::fd::{AsFd, BorrowedFd};

use hopcast_wire::MacAddress;
use netlink_packet_core::{
    NLM_F_ACK, NLM_F_CREATE, NLM_F_DUMP, NLM_F_EXCL, NLM_F_REPLACE, NLM_F_REQUEST, NetlinkHeader, NetlinkMessage,
    NetlinkPayload,
};
use netlink_packet_route::address::{AddressAttribute, AddressMessage, AddressScope};
use netlink_packet_route::link::{LinkAttribute, LinkFlags, LinkMessage};
use netlink_packet_route::neighbour::{NeighbourAddress, NeighbourAttribute, NeighbourMessage, NeighbourState};
use netlink_packet_route::route::{
    RouteAddress, RouteAttribute, RouteFlags, RouteHeader, RouteMessage, RouteProtocol, RouteScope, RouteType,
};
use netlink_packet_route::rule::{RuleAction, RuleAttribute, RuleMessage};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use netlink_sys::protocols::NETLINK_ROUTE;
use netlink_sys::{Socket, SocketAddr};

/// Groups of notices that are listened to (`linux/rtnetlink.h`): links, neighbours, IPv4 addresses, routes, rules.
const GROUPS: [u32; 5] = [1, 3, 5, 7, 8];
/// Room for notices, in bytes: for thousands. Where it is full, notices are lost, and the loss is told ([`Event::Overrun`]).
const EVENT_ROOM: i32 = 1 << 20;

/// A socket to the tables of the network namespace of the thread that opened it.
#[derive(Debug)]
pub struct Netlink {
    socket: Socket,
    sequence: u32,
}

/// A network interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// The kernel's index of the interface.
    pub index: u32,
    /// Its name.
    pub name: String,
    /// MTU: largest IP packet in bytes.
    pub mtu: u32,
    /// Whether it is up.
    pub is_up: bool,
    /// Whether it can carry packets: it is up, and has a carrier.
    pub is_running: bool,
    /// Its Ethernet address, if it has one.
    pub hardware: Option<MacAddress>,
}

/// Changes to an interface; fields that are `None` stay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkChange {
    /// Up or down.
    pub up: Option<bool>,
    /// MTU: largest IP packet in bytes.
    pub mtu: Option<u32>,
    /// Its Ethernet address.
    pub hardware: Option<MacAddress>,
    /// Whether it uses ARP.
    pub arp: Option<bool>,
}

/// An IPv4 address of an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    /// The kernel's index of the interface.
    pub interface: u32,
    /// The address.
    pub address: Ipv4Addr,
    /// Prefix length in bits.
    pub prefix_len: u8,
}

/// An entry of the kernel's neighbour table for IPv4.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Neighbour {
    /// The kernel's index of the interface.
    pub interface: u32,
    /// Its address.
    pub address: Ipv4Addr,
    /// Its Ethernet address, if it is known.
    pub hardware: Option<MacAddress>,
    /// Whether it did not answer requests (`NUD_FAILED`).
    pub has_failed: bool,
}

/// An IPv4 unicast route.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Route {
    /// Its table; `MAIN_TABLE`, unless rules lead to others.
    pub table: u32,
    /// Destination network.
    pub destination: Ipv4Addr,
    /// Prefix length in bits.
    pub prefix_len: u8,
    /// The next hop; `None`: the destination is on the link.
    pub gateway: Option<Ipv4Addr>,
    /// The kernel's index of the interface.
    pub interface: u32,
    /// Metric; of several routes the lowest wins.
    pub metric: u32,
    /// Origin of the route (`rtm_protocol` of rtnetlink(7)).
    pub protocol: u8,
    /// Source address for packets of this host; `None`: one of the interface's.
    pub source: Option<Ipv4Addr>,
}

/// The table in which routes are looked up where no rule says otherwise.
pub(crate) const MAIN_TABLE: u32 = RouteHeader::RT_TABLE_MAIN as u32;

/// A rule that looks up routes to a network in a separate table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The network.
    pub destination: Ipv4Addr,
    /// Prefix length in bits.
    pub prefix_len: u8,
    /// The table.
    pub table: u32,
    /// Priority; the lowest number comes first. The main table's rule has 32766.
    pub priority: u32,
    /// Origin of the rule, in the numbers of routes.
    pub protocol: u8,
}

impl Netlink {
    /// Opens a socket in the network namespace of the calling thread.
    ///
    /// # Errors
    /// Errors of the platform.
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
    pub(crate) fn links(&mut self) -> io::Result<Vec<Link>> {
        let answers = self.request(RouteNetlinkMessage::GetLink(LinkMessage::default()), NLM_F_DUMP)?;
        let links = answers.into_iter().filter_map(|answer| match answer {
            RouteNetlinkMessage::NewLink(message) => Some(link(&message)),
            _ => None,
        });
        Ok(links.collect())
    }

    /// The interface with this name; `None` if there is none.
    ///
    /// # Errors
    /// Errors of the platform.
    pub fn link(&mut self, name: &str) -> io::Result<Option<Link>> {
        Ok(self.links()?.into_iter().find(|link| link.name == name))
    }

    /// Changes an interface.
    ///
    /// # Errors
    /// Errors of the platform.
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
    pub(crate) fn addresses(&mut self) -> io::Result<Vec<Address>> {
        Ok(self.address_messages()?.iter().filter_map(address).collect())
    }

    /// When an IPv4 address was given to its interface: hundredths of a second, counted from some instant before the machine's
    /// start. `None`: there is no such address.
    ///
    /// # Errors
    /// The platform's.
    pub(crate) fn address_since(&mut self, wanted: Ipv4Addr) -> io::Result<Option<u32>> {
        let messages = self.address_messages()?;
        let message = messages.iter().find(|message| address(message).is_some_and(|found| found.address == wanted));
        Ok(message.and_then(|message| {
            message.attributes.iter().find_map(|attribute| match attribute {
                AddressAttribute::CacheInfo(info) => Some(info.cstamp),
                _ => None,
            })
        }))
    }

    fn address_messages(&mut self) -> io::Result<Vec<AddressMessage>> {
        let mut message = AddressMessage::default();
        message.header.family = AddressFamily::Inet;
        let answers = self.request(RouteNetlinkMessage::GetAddress(message), NLM_F_DUMP)?;
        let messages = answers.into_iter().filter_map(|answer| match answer {
            RouteNetlinkMessage::NewAddress(message) => Some(message),
            _ => None,
        });
        Ok(messages.collect())
    }

    /// Gives an interface an address.
    ///
    /// # Errors
    /// The platform's; it has the address already, for one.
    pub(crate) fn add_address(&mut self, address: &Address) -> io::Result<()> {
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

    /// All IPv4 neighbours.
    ///
    /// # Errors
    /// The platform's.
    pub(crate) fn neighbours(&mut self) -> io::Result<Vec<Neighbour>> {
        let mut message = NeighbourMessage::default();
        message.header.family = AddressFamily::Inet;
        let answers = self.request(RouteNetlinkMessage::GetNeighbour(message), NLM_F_DUMP)?;
        let neighbours = answers.into_iter().filter_map(|answer| match answer {
            RouteNetlinkMessage::NewNeighbour(message) => neighbour(&message),
            _ => None,
        });
        Ok(neighbours.collect())
    }

    /// All IPv4 unicast routes of a table.
    ///
    /// # Errors
    /// The platform's.
    pub(crate) fn routes(&mut self, table: u32) -> io::Result<Vec<Route>> {
        let mut message = RouteMessage::default();
        message.header.address_family = AddressFamily::Inet;
        let answers = self.request(RouteNetlinkMessage::GetRoute(message), NLM_F_DUMP)?;
        let routes = answers.into_iter().filter_map(|answer| match answer {
            RouteNetlinkMessage::NewRoute(message) => route(&message),
            _ => None,
        });
        Ok(routes.filter(|route| route.table == table).collect())
    }

    /// Enters a route, in place of the one with the same destination and metric if there is one.
    ///
    /// # Errors
    /// The platform's.
    pub(crate) fn replace_route(&mut self, route: &Route) -> io::Result<()> {
        let flags = NLM_F_ACK | NLM_F_CREATE | NLM_F_REPLACE;
        self.request(RouteNetlinkMessage::NewRoute(route_message(route)), flags).map(drop)
    }

    /// Removes a route.
    ///
    /// # Errors
    /// The platform's; `ESRCH` if there is no such route.
    pub(crate) fn delete_route(&mut self, route: &Route) -> io::Result<()> {
        self.request(RouteNetlinkMessage::DelRoute(route_message(route)), NLM_F_ACK).map(drop)
    }

    /// All IPv4 rules that lead to tables.
    ///
    /// # Errors
    /// The platform's.
    pub(crate) fn rules(&mut self) -> io::Result<Vec<Rule>> {
        let mut message = RuleMessage::default();
        message.header.family = AddressFamily::Inet;
        let answers = self.request(RouteNetlinkMessage::GetRule(message), NLM_F_DUMP)?;
        let rules = answers.into_iter().filter_map(|answer| match answer {
            RouteNetlinkMessage::NewRule(message) => Some(rule(&message)),
            _ => None,
        });
        Ok(rules.collect())
    }

    /// Enters a rule.
    ///
    /// # Errors
    /// Errors of the platform, for example an existing equal rule.
    pub(crate) fn add_rule(&mut self, rule: &Rule) -> io::Result<()> {
        let flags = NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL;
        self.request(RouteNetlinkMessage::NewRule(rule_message(rule)), flags).map(drop)
    }

    /// Removes a rule.
    ///
    /// # Errors
    /// The platform's; `ENOENT` if there is no such rule.
    pub(crate) fn delete_rule(&mut self, rule: &Rule) -> io::Result<()> {
        self.request(RouteNetlinkMessage::DelRule(rule_message(rule)), NLM_F_ACK).map(drop)
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
            for answer in messages(&received) {
                let answer = answer?;
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

/// A change in the kernel's tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// An interface or an address changed.
    Link,
    /// A neighbour was found, has failed, or has changed.
    Neighbour(Neighbour),
    /// Any program removed a route.
    RouteRemoved(Route),
    /// Any program removed a rule.
    RuleRemoved(Rule),
    /// Notices were lost: anything may have changed.
    Overrun,
}

/// The kernel's notices of changes in the network namespace of the thread that opened it.
#[derive(Debug)]
pub struct Events {
    socket: Socket,
}

impl Events {
    /// Starts to listen.
    ///
    /// # Errors
    /// The platform's.
    pub(crate) fn listen() -> io::Result<Self> {
        let mut socket = Socket::new(NETLINK_ROUTE)?;
        socket.bind_auto()?;
        socket.set_rx_buf_sz(EVENT_ROOM)?;
        GROUPS.iter().try_for_each(|&group| socket.add_membership(group))?;
        socket.set_non_blocking(true)?;
        Ok(Self { socket })
    }

    /// Some of the notices that have come; `None` if there are none.
    ///
    /// # Errors
    /// The platform's.
    pub(crate) fn read(&mut self) -> io::Result<Option<Vec<Event>>> {
        match self.socket.recv_from_full() {
            Ok((octets, _)) => Ok(Some(messages(&octets).map_while(Result::ok).filter_map(event).collect())),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) if error.raw_os_error() == Some(nix::libc::ENOBUFS) => Ok(Some(vec![Event::Overrun])),
            Err(error) => Err(error),
        }
    }
}

/// Readable when there are notices.
impl AsFd for Events {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

fn event(message: NetlinkMessage<RouteNetlinkMessage>) -> Option<Event> {
    let NetlinkPayload::InnerMessage(message) = message.payload else { return None };
    match message {
        RouteNetlinkMessage::NewLink(_)
        | RouteNetlinkMessage::DelLink(_)
        | RouteNetlinkMessage::NewAddress(_)
        | RouteNetlinkMessage::DelAddress(_) => Some(Event::Link),
        RouteNetlinkMessage::NewNeighbour(message) => neighbour(&message).map(Event::Neighbour),
        RouteNetlinkMessage::DelRoute(message) => route(&message).map(Event::RouteRemoved),
        RouteNetlinkMessage::DelRule(message) => Some(Event::RuleRemoved(rule(&message))),
        _ => None,
    }
}

/// The messages in what was received, up to the first that is not understood.
fn messages(received: &[u8]) -> impl Iterator<Item = io::Result<NetlinkMessage<RouteNetlinkMessage>>> + '_ {
    let mut rest = received;
    core::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let message = NetlinkMessage::<RouteNetlinkMessage>::deserialize(rest)
            .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, format!("rtnetlink: {error}")));
        // Messages start at multiples of four octets.
        let len = message.as_ref().map_or(rest.len(), |message| (message.header.length as usize).next_multiple_of(4));
        rest = rest.get(len.max(4)..).unwrap_or_default();
        Some(message)
    })
}

fn link(message: &LinkMessage) -> Link {
    let mut link = Link {
        index: message.header.index,
        name: String::new(),
        mtu: 0,
        is_up: message.header.flags.contains(LinkFlags::Up),
        is_running: message.header.flags.contains(LinkFlags::Up | LinkFlags::LowerUp | LinkFlags::Running),
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
    let is_shown = header.address_family == AddressFamily::Inet && header.kind == RouteType::Unicast;
    let mut route = Route {
        table: header.table.into(),
        destination: Ipv4Addr::UNSPECIFIED,
        prefix_len: header.destination_prefix_length,
        gateway: None,
        interface: 0,
        metric: 0,
        protocol: header.protocol.into(),
        source: None,
    };
    for attribute in &message.attributes {
        match attribute {
            RouteAttribute::Destination(RouteAddress::Inet(address)) => route.destination = *address,
            RouteAttribute::Gateway(RouteAddress::Inet(address)) => route.gateway = Some(*address),
            RouteAttribute::Oif(index) => route.interface = *index,
            RouteAttribute::Priority(metric) => route.metric = *metric,
            RouteAttribute::Table(table) => route.table = *table,
            RouteAttribute::PrefSource(RouteAddress::Inet(address)) => route.source = Some(*address),
            _ => {}
        }
    }
    is_shown.then_some(route)
}

fn route_message(route: &Route) -> RouteMessage {
    let mut message = RouteMessage::default();
    message.header.address_family = AddressFamily::Inet;
    message.header.destination_prefix_length = route.prefix_len;
    message.header.table = table_octet(route.table);
    message.attributes.push(RouteAttribute::Table(route.table));
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
    message.attributes.extend(route.source.map(|source| RouteAttribute::PrefSource(RouteAddress::Inet(source))));
    message
}

fn neighbour(message: &NeighbourMessage) -> Option<Neighbour> {
    let (mut address, mut hardware) = (None, None);
    for attribute in &message.attributes {
        match attribute {
            NeighbourAttribute::Destination(NeighbourAddress::Inet(destination)) => address = Some(*destination),
            NeighbourAttribute::LinkLayerAddress(octets) => {
                hardware = <[u8; 6]>::try_from(octets.as_slice()).ok().map(MacAddress);
            }
            _ => {}
        }
    }
    let has_failed = message.header.state == NeighbourState::Failed;
    Some(Neighbour { interface: message.header.ifindex, address: address?, hardware, has_failed })
}

fn rule(message: &RuleMessage) -> Rule {
    let mut rule = Rule {
        destination: Ipv4Addr::UNSPECIFIED,
        prefix_len: message.header.dst_len,
        table: message.header.table.into(),
        priority: 0,
        protocol: 0,
    };
    for attribute in &message.attributes {
        match attribute {
            RuleAttribute::Destination(IpAddr::V4(address)) => rule.destination = *address,
            RuleAttribute::Table(table) => rule.table = *table,
            RuleAttribute::Priority(priority) => rule.priority = *priority,
            RuleAttribute::Protocol(protocol) => rule.protocol = (*protocol).into(),
            _ => {}
        }
    }
    rule
}

fn rule_message(rule: &Rule) -> RuleMessage {
    let mut message = RuleMessage::default();
    message.header.family = AddressFamily::Inet;
    message.header.dst_len = rule.prefix_len;
    message.header.table = table_octet(rule.table);
    message.header.action = RuleAction::ToTable;
    message.attributes = vec![
        RuleAttribute::Destination(IpAddr::V4(rule.destination)),
        RuleAttribute::Table(rule.table),
        RuleAttribute::Priority(rule.priority),
        RuleAttribute::Protocol(RouteProtocol::from(rule.protocol)),
    ];
    message
}

/// The byte for a table in a header: a number that is too large for it stands in an attribute alone (`RT_TABLE_COMPAT`).
fn table_octet(table: u32) -> u8 {
    u8::try_from(table).unwrap_or(252)
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::sched::{CloneFlags, unshare};
    use proptest::prelude::*;

    /// Runs `test` in a new network namespace, where that is possible.
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
            let direct = Route {
                table: MAIN_TABLE,
                destination,
                prefix_len: 24,
                gateway: None,
                interface: loopback.index,
                metric: 5,
                protocol: 4,
                source: None,
            };
            netlink.replace_route(&direct).expect("the interface is up");
            let by = Route { gateway: Some(Ipv4Addr::new(10, 0, 0, 9)), ..direct };
            netlink.replace_route(&by).expect("in place of the other");
            assert_eq!(netlink.routes(MAIN_TABLE).expect("routes can be read"), [by]);
            netlink.delete_route(&by).expect("it is there");
            assert_eq!(netlink.routes(MAIN_TABLE).expect("routes can be read"), []);
            let missing = netlink.delete_route(&by).expect_err("it is gone");
            assert_eq!(missing.raw_os_error(), Some(nix::errno::Errno::ESRCH as i32));

            let elsewhere = Route { table: 654, source: Some(Ipv4Addr::new(10, 0, 0, 7)), ..by };
            netlink.replace_route(&elsewhere).expect("tables are made when they are needed");
            assert_eq!(netlink.routes(654).expect("routes can be read"), [elsewhere]);
            assert_eq!(netlink.routes(MAIN_TABLE).expect("routes can be read"), []);
            let rule = Rule { destination, prefix_len: 24, table: 654, priority: 100, protocol: 4 };
            netlink.add_rule(&rule).expect("there is no such rule");
            assert!(netlink.rules().expect("rules can be read").contains(&rule));
            netlink.delete_rule(&rule).expect("it is there");
            assert!(!netlink.rules().expect("rules can be read").contains(&rule));
        });
    }

    #[test]
    fn changes_are_told() {
        in_namespace(|netlink| {
            let mut events = Events::listen().expect("any process may listen");
            assert_eq!(events.read().expect("nothing fails"), None);
            let loopback = netlink.link("lo").expect("links can be read").expect("each namespace has it").index;
            netlink.set_link(loopback, &LinkChange { up: Some(true), ..LinkChange::default() }).expect("root may");
            let destination = Ipv4Addr::new(10, 1, 2, 0);
            let rule = Rule { destination, prefix_len: 24, table: 654, priority: 100, protocol: 165 };
            netlink.add_rule(&rule).expect("there is no such rule");
            netlink.delete_rule(&rule).expect("it is there");
            let mut told = Vec::new();
            while let Some(some) = events.read().expect("nothing fails") {
                told.extend(some);
            }
            assert!(told.contains(&Event::Link) && told.contains(&Event::RuleRemoved(rule)), "{told:?}");
        });
    }

    proptest! {
        #[test]
        fn arbitrary_octets_are_read_or_left(octets in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = messages(&octets).map_while(Result::ok).filter_map(event).count();
        }
    }
}
