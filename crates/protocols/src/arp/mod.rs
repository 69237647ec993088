//! Address resolution (RFC 826) at one interface, with what RFC 1122 asks of hosts in section 2.3.2.
//!
//! It stands between IP and the interface: [`Arp::lookup`] tells the MAC address of a neighbour, if it is known. If not,
//! the packet waits here ([`Arp::handle_packet`]) while a request asks all neighbours, and goes out once the one that has
//! the address answers, or sends any ARP packet. Packets without an answer are given back.
//!
//! Packets are whatever the driver has, `P`: nothing is read of them.

mod config;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::Ipv4Addr;

use hopcast_wire::MacAddress;
use hopcast_wire::arp::{Operation, Repr};

pub use self::config::Config;
use crate::random::Stream;
use crate::time::{Duration, Instant};

/// The most addresses that are kept or looked for, at one interface. Of known ones the one that expires first makes room.
pub(crate) const MAX_ENTRIES: usize = 1 << 14;

/// Address resolution at one interface. Whatever its neighbours send, it keeps at most `MAX_ENTRIES` addresses, and of packets
/// what [`Config::queue_packets`] allows for each.
///
/// The contract of [all machines](crate) holds.
#[derive(Debug)]
pub struct Arp<P> {
    config: Config,
    hardware: MacAddress,
    protocol: Ipv4Addr,
    random: Stream,
    entries: BTreeMap<Ipv4Addr, Entry<P>>,
    /// When something is due at an entry; [`Instant::MAX`]: never.
    timers: BTreeSet<(Instant, Ipv4Addr)>,
    outputs: VecDeque<Output<P>>,
}

/// What a cache wants done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output<P> {
    /// Send a packet that has waited to this station.
    Packet {
        /// The neighbour's hardware address.
        to: MacAddress,
        /// The packet.
        packet: P,
    },
    /// Send an ARP packet to this station, or to all.
    Message {
        /// The receiver's hardware address.
        to: MacAddress,
        /// What it says.
        message: Repr,
    },
    /// A packet that has waited is given up.
    Dropped {
        /// The packet.
        packet: P,
        /// Why.
        cause: DropCause,
    },
}

/// Why a packet was given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropCause {
    /// Too many packets waited for the address; it was the oldest.
    QueueFull,
    /// No node answered with the address.
    Unresolved,
}

#[derive(Debug)]
struct Entry<P> {
    state: State<P>,
    /// When the address was last asked for.
    asked: Option<Instant>,
    /// Its place among the timers.
    due: Instant,
}

#[derive(Debug)]
enum State<P> {
    /// This is the address.
    Known(MacAddress),
    /// It was known, or looked for, and is remembered only so that it is not asked for again too soon.
    Forgotten,
    /// It is looked for.
    Wanted { requests: u32, waiting: VecDeque<P> },
}

impl<P> Arp<P> {
    /// An empty cache at an interface with these addresses, which draws from `random`.
    pub fn new(config: Config, hardware: MacAddress, protocol: Ipv4Addr, random: Stream) -> Self {
        Self {
            config: config.clamped(),
            hardware,
            protocol,
            random,
            entries: BTreeMap::new(),
            timers: BTreeSet::new(),
            outputs: VecDeque::new(),
        }
    }

    /// The hardware address of a neighbour, if it is known.
    pub fn lookup(&self, address: Ipv4Addr, now: Instant) -> Option<MacAddress> {
        match self.entries.get(&address)? {
            Entry { state: State::Known(hardware), due, .. } if *due > now => Some(*hardware),
            _ => None,
        }
    }

    /// A packet for a neighbour whose hardware address is not known.
    pub fn handle_packet(&mut self, to: Ipv4Addr, packet: P, now: Instant) {
        self.handle_timeout(now);
        if let Some(hardware) = self.lookup(to, now) {
            return self.outputs.push_back(Output::Packet { to: hardware, packet });
        }
        if !self.entries.contains_key(&to) && !self.make_room() {
            return self.drop(packet, DropCause::QueueFull);
        }
        let entry = self.entries.entry(to).or_insert(Entry { state: State::Forgotten, asked: None, due: Instant::MAX });
        if !matches!(entry.state, State::Wanted { .. }) {
            self.timers.remove(&(entry.due, to));
            // What has been asked for within the interval is asked for again at its end only (RFC 1122, section 2.3.2.1).
            entry.due = match (entry.asked, self.config.request_interval) {
                (Some(asked), Some(interval)) => asked + interval,
                (_, Some(_)) => now,
                (_, None) => Instant::MAX,
            };
            self.timers.insert((entry.due, to));
            entry.state = State::Wanted { requests: 0, waiting: VecDeque::new() };
        }
        let State::Wanted { requests, waiting } = &mut entry.state else { unreachable!("it is wanted now") };
        let asks_each_time = self.config.request_interval.is_none();
        if asks_each_time && *requests >= self.config.requests {
            waiting.push_back(packet);
            return self.give_up(to);
        }
        waiting.push_back(packet);
        let too_many = if waiting.len() > self.config.queue_packets { waiting.pop_front() } else { None };
        if let Some(oldest) = too_many {
            self.drop(oldest, DropCause::QueueFull);
        }
        if asks_each_time {
            self.ask(to, now);
        } else {
            self.handle_timeout(now);
        }
    }

    /// An ARP packet has arrived (RFC 826, "Packet reception").
    pub fn handle_message(&mut self, message: &Repr, now: Instant) {
        self.handle_timeout(now);
        let is_for_this = message.target_protocol == self.protocol;
        if self.may_have(message.sender_protocol, message.sender_hardware) {
            let entry = self.entries.get(&message.sender_protocol);
            let is_merged = entry.is_some_and(|entry| !matches!(entry.state, State::Forgotten));
            if is_merged || is_for_this || self.config.learns_all {
                self.learn(message.sender_protocol, message.sender_hardware, now);
            }
        }
        if let Some(message) = reply_to(message, self.hardware, self.protocol) {
            self.outputs.push_back(Output::Message { to: message.target_hardware, message });
        }
    }

    /// A neighbour has shown its addresses, for example by a routing protocol in ARP packets. Packets that wait for it
    /// go.
    pub fn handle_neighbour(&mut self, address: Ipv4Addr, hardware: MacAddress, now: Instant) {
        self.handle_timeout(now);
        if self.may_have(address, hardware) {
            self.learn(address, hardware, now);
        }
    }

    /// It is [`Self::poll_timeout`], or later.
    pub fn handle_timeout(&mut self, now: Instant) {
        while let Some(&(due, address)) = self.timers.first()
            && due <= now
        {
            let entry = self.entries.get(&address).expect("a timer belongs to an entry");
            match &entry.state {
                State::Wanted { requests, .. } if *requests < self.config.requests => self.ask(address, now),
                State::Wanted { .. } => self.give_up(address),
                State::Known(_) => self.forget(address, now),
                State::Forgotten => {
                    self.entries.remove(&address);
                    self.timers.pop_first();
                }
            }
        }
    }

    /// When [`Self::handle_timeout`] is due.
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.timers.first().map(|&(due, _)| due).filter(|&due| due < Instant::MAX)
    }

    /// The next thing to be done.
    #[must_use = "an output that is not carried out is lost"]
    pub fn poll_output(&mut self) -> Option<Output<P>> {
        self.outputs.pop_front()
    }

    /// Takes back the packets that wait for an address, the oldest first; it is not asked for any more.
    pub fn purge(&mut self, address: Ipv4Addr, now: Instant) -> Vec<P> {
        let Some(Entry { state: State::Wanted { waiting, .. }, .. }) = self.entries.get_mut(&address) else {
            return Vec::new();
        };
        let waiting = core::mem::take(waiting).into();
        self.forget(address, now);
        waiting
    }

    /// The packets that wait.
    pub fn waiting(&self) -> impl Iterator<Item = &P> {
        let waiting = self.entries.values().filter_map(|entry| match &entry.state {
            State::Wanted { waiting, .. } => Some(waiting),
            State::Known(_) | State::Forgotten => None,
        });
        waiting.flatten()
    }

    /// Whether as many packets wait for this address as may.
    pub fn is_full(&self, address: Ipv4Addr) -> bool {
        match self.entries.get(&address) {
            Some(Entry { state: State::Wanted { waiting, .. }, .. }) => waiting.len() >= self.config.queue_packets,
            _ => false,
        }
    }

    /// Whether these can be the addresses of another node.
    fn may_have(&self, address: Ipv4Addr, hardware: MacAddress) -> bool {
        let is_of_a_host = !(address.is_broadcast() || address.is_multicast() || address.is_unspecified());
        is_of_a_host && address != self.protocol && !hardware.is_group()
    }

    fn learn(&mut self, address: Ipv4Addr, hardware: MacAddress, now: Instant) {
        if !self.entries.contains_key(&address) && !self.make_room() {
            return;
        }
        let entry =
            self.entries.entry(address).or_insert(Entry { state: State::Forgotten, asked: None, due: Instant::MAX });
        if let State::Wanted { waiting, .. } = core::mem::replace(&mut entry.state, State::Known(hardware)) {
            self.outputs.extend(waiting.into_iter().map(|packet| Output::Packet { to: hardware, packet }));
        }
        self.set_due(address, self.config.timeout.map_or(Instant::MAX, |timeout| now + timeout));
    }

    /// Sends a request for an address that is wanted.
    fn ask(&mut self, address: Ipv4Addr, now: Instant) {
        let entry = self.entries.get_mut(&address).expect("what is wanted has an entry");
        let State::Wanted { requests, .. } = &mut entry.state else { unreachable!("only what is wanted is asked for") };
        *requests += 1;
        let is_last = *requests >= self.config.requests;
        entry.asked = Some(now);
        let message = Repr {
            operation: Operation::Request,
            sender_hardware: self.hardware,
            sender_protocol: self.protocol,
            // Of no meaning in a request; zeros, as everybody writes.
            target_hardware: MacAddress([0; 6]),
            target_protocol: address,
        };
        self.outputs.push_back(Output::Message { to: MacAddress::BROADCAST, message });
        let jitter = if is_last { Duration::ZERO } else { self.random.duration_below(self.config.request_jitter) };
        let due = self.config.request_interval.map_or(Instant::MAX, |interval| now + interval + jitter);
        self.set_due(address, due);
    }

    /// No node has answered enough requests for an address. A new packet may ask again: the last interval is over.
    fn give_up(&mut self, address: Ipv4Addr) {
        let entry = self.entries.remove(&address).expect("what is wanted has an entry");
        self.timers.remove(&(entry.due, address));
        if let State::Wanted { waiting, .. } = entry.state {
            let dropped = |packet| Output::Dropped { packet, cause: DropCause::Unresolved };
            self.outputs.extend(waiting.into_iter().map(dropped));
        }
    }

    /// An address is not known, or not wanted, any more.
    fn forget(&mut self, address: Ipv4Addr, now: Instant) {
        let entry = self.entries.get_mut(&address).expect("the caller has an entry");
        entry.state = State::Forgotten;
        let may_ask = entry.asked.and_then(|asked| Some(asked + self.config.request_interval?));
        self.set_due(address, may_ask.unwrap_or(now).max(now));
    }

    fn drop(&mut self, packet: P, cause: DropCause) {
        self.outputs.push_back(Output::Dropped { packet, cause });
    }

    fn set_due(&mut self, address: Ipv4Addr, due: Instant) {
        let entry = self.entries.get_mut(&address).expect("the caller has an entry");
        self.timers.remove(&(entry.due, address));
        entry.due = due;
        self.timers.insert((due, address));
    }

    /// Makes room for one more entry; false if all are of addresses that packets wait for.
    fn make_room(&mut self) -> bool {
        if self.entries.len() < MAX_ENTRIES {
            return true;
        }
        let is_wanted = |address| matches!(self.entries[address], Entry { state: State::Wanted { .. }, .. });
        let Some(&(due, address)) = self.timers.iter().find(|(_, address)| !is_wanted(address)) else { return false };
        self.timers.remove(&(due, address));
        self.entries.remove(&address);
        true
    }
}

/// The answer of a node with these addresses to an ARP packet; `None` if it is no request for them.
#[must_use = "the reply is to be sent"]
pub fn reply_to(message: &Repr, hardware: MacAddress, protocol: Ipv4Addr) -> Option<Repr> {
    let asks = message.operation == Operation::Request && message.target_protocol == protocol;
    // Nobody could be told at the address of a group, and a node does not ask itself.
    let can_be_told = !message.sender_hardware.is_group() && message.sender_hardware != hardware;
    (asks && can_be_told).then_some(Repr {
        operation: Operation::Reply,
        sender_hardware: hardware,
        sender_protocol: protocol,
        target_hardware: message.sender_hardware,
        target_protocol: message.sender_protocol,
    })
}
