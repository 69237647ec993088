//! Address resolution at a host: packets for a neighbour's radio wait until the radio's address is known.
//!
//! The caches are those of [`hopcast_protocols::arp`], one for each radio; over a wire, which has one other end, a host needs no
//! address. A host without them knows all addresses from the start. Requests for its own addresses are answered everywhere, also at
//! a wire, where real hosts ask.

use crate::address::{ip_address, mac_address, node_of, station_of};
use crate::engine::Reaction;
use crate::host::ip::router::Undelivered;
use crate::host::link::sdu::{self, Ends, Sdu};
use crate::host::packet::Packet;
use crate::host::{Context, Hop, Neighbour, Slot, Stack, Transmit, count_host_drop};
use crate::id::NodeId;
use crate::metrics::DropCause;
use hopcast_protocols::arp::{self, Arp, Output, reply_to};
use hopcast_protocols::random::{Purpose, Stream};
use hopcast_protocols::routing::NextHop;
use hopcast_protocols::time::Instant;
use hopcast_radio::mac::StationId;
use hopcast_wire::MacAddress;
use hopcast_wire::arp::{Operation, Repr};
use hopcast_wire::icmpv4::Failure;

/// The caches of a host, by radio.
#[derive(Debug)]
pub(in crate::host) struct Resolution(Vec<Arp<Transmit>>);

impl Resolution {
    pub(in crate::host) fn new(config: arp::Config, node: NodeId, radios: &[StationId], seed: u64) -> Self {
        let cache = |&radio: &StationId| {
            let random = Stream::new(seed, Purpose::AddressResolution, u64::from(node.0), u64::from(radio.0));
            Arp::new(config, mac_address(radio), ip_address(node), random)
        };
        Self(radios.iter().map(cache).collect())
    }

    /// The packets that wait for an address.
    pub(in crate::host) fn waiting(&self) -> impl Iterator<Item = &Packet> {
        self.0.iter().flat_map(Arp::waiting).map(Transmit::waiting_packet)
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.0.iter().filter_map(Arp::poll_timeout).min()
    }
}

impl Stack {
    /// Gives an IP packet to its interface, as soon as the address of the neighbour's radio is known.
    #[inline]
    pub(in crate::host) fn give(&mut self, transmit: Transmit, cx: &mut Context<'_>) {
        if self.resolution.is_none() || transmit.hop.station.is_none() {
            return self.ready.push_back(transmit);
        }
        self.resolve(transmit, cx);
    }

    #[cold]
    fn resolve(&mut self, transmit: Transmit, cx: &mut Context<'_>) {
        let (address, interface) = (ip_address(transmit.hop.node), transmit.hop.interface);
        let Some(cache) = self.cache(interface) else { return self.ready.push_back(transmit) };
        match cache.lookup(address, cx.now) {
            Some(hardware) => self.ready.push_back(transmit.bound_for(hardware)),
            None => {
                cache.handle_packet(address, transmit, cx.now);
                self.settle_resolution(interface, cx);
            }
        }
    }

    /// An ARP packet has come to this host.
    pub(in crate::host) fn handle_arp(&mut self, message: &Repr, from: Neighbour, cx: &mut Context<'_>) {
        cx.counters.delivered += 1;
        if let Some(cache) = self.cache(from.interface) {
            cache.handle_message(message, cx.now);
            self.settle_resolution(from.interface, cx);
            self.settle_router(cx);
        } else if let Some(&hardware) = self.config.hardware.get(from.interface as usize)
            && let Some(answer) = reply_to(message, hardware, ip_address(self.node))
        {
            self.send_arp(from.interface, answer.target_hardware, answer, cx);
        }
    }

    /// A message of a routing protocol has come behind an ARP packet, which shows the addresses of a neighbour. Returns as
    /// [`Host::handle_packet`](super::super::Host::handle_packet) does.
    #[cold]
    pub(super) fn handle_message_in_arp(&mut self, packet: &Packet, from: Neighbour, cx: &mut Context<'_>) -> Reaction {
        let hop = self.router.as_ref().and_then(|router| router.shown_by_arp(self.node, from));
        if let Some(hop) = hop
            && let Some(radio) = hop.station
            && let Some(cache) = self.cache(hop.interface)
        {
            cache.handle_neighbour(ip_address(hop.node), mac_address(radio), cx.now);
            self.settle_resolution(hop.interface, cx);
            self.settle_router(cx);
        }
        self.handle_ip(packet, from, cx).max(Reaction::any_if(hop.is_some()))
    }

    /// The timer of a cache is due.
    pub(in crate::host) fn expire_resolution(&mut self, cx: &mut Context<'_>) {
        for interface in 0..self.config.radios.len() as u32 {
            if let Some(cache) = self.cache(interface)
                && cache.poll_timeout().is_some_and(|due| due <= cx.now)
            {
                cache.handle_timeout(cx.now);
                self.settle_resolution(interface, cx);
            }
        }
        self.settle_router(cx);
    }

    /// Takes back what waits for the address of a neighbour that is lost.
    pub(in crate::host) fn purge_resolution(&mut self, hop: NextHop, now: Instant) -> Vec<Transmit> {
        let Some(cache) = self.cache(hop.interface) else { return Vec::new() };
        let purged = cache.purge(hop.address, now);
        self.set_resolution_timer();
        purged
    }

    /// Whether as many packets wait for the address of a neighbour as may.
    pub(in crate::host) fn is_resolution_full(&self, hop: &Hop) -> bool {
        let cache = self.resolution.as_ref().and_then(|resolution| resolution.0.get(hop.interface as usize));
        cache.is_some_and(|cache| cache.is_full(ip_address(hop.node)))
    }

    fn cache(&mut self, interface: u32) -> Option<&mut Arp<Transmit>> {
        self.resolution.as_mut()?.0.get_mut(interface as usize)
    }

    /// Does all that a cache wants done, and sets the timer of all of them.
    fn settle_resolution(&mut self, interface: u32, cx: &mut Context<'_>) {
        while let Some(output) = self.cache(interface).and_then(Arp::poll_output) {
            match output {
                Output::Packet { to, packet } => {
                    self.ready.push_back(packet.bound_for(to));
                    self.wake_stalled(cx.now);
                }
                Output::Message { to, message } => self.send_arp(interface, to, message, cx),
                Output::Dropped { packet: transmit, cause: arp::DropCause::QueueFull } => {
                    self.drop_own(transmit.waiting_packet(), DropCause::ArpQueueFull, cx);
                }
                Output::Dropped { packet: transmit, cause: arp::DropCause::Unresolved } => {
                    let packet = transmit.waiting_packet();
                    self.handle_unsent(packet, transmit.to(), Undelivered::Dropped, DropCause::ArpTimeout, cx);
                    self.wake_stalled(cx.now);
                }
            }
        }
        self.set_resolution_timer();
    }

    fn set_resolution_timer(&mut self) {
        let timeout = self.resolution.as_ref().and_then(|resolution| resolution.poll_timeout());
        self.timers.set(Slot::Resolution.index(), timeout);
    }

    /// Drops a packet that this host has.
    pub(in crate::host) fn drop_own(&mut self, packet: &Packet, cause: DropCause, cx: &mut Context<'_>) {
        count_host_drop(packet, 1, cause, cx);
        self.release(packet, cx.now);
        if matches!(cause, DropCause::NoRoute | DropCause::RouteTimeout | DropCause::ArpTimeout) {
            self.tell(Failure::HostUnreachable, packet, cx);
        }
    }

    fn send_arp(&mut self, interface: u32, to: MacAddress, message: Repr, cx: &mut Context<'_>) {
        let is_broadcast = to == MacAddress::BROADCAST;
        let node = if is_broadcast { NodeId::ALL } else { node_of(message.target_protocol) };
        let hop = Hop { interface, node, station: station_of(to) };
        cx.counters.originated += 1;
        match message.operation {
            Operation::Request => cx.counters.arp_requests += 1,
            Operation::Reply => cx.counters.arp_replies += 1,
            Operation::Unknown(_) => {}
        }
        let ends = Ends { source: self.node, destination: node };
        let sdu = cx.pool.share(Sdu::Arp(sdu::Arp { ends, message }));
        self.ready.push_back(Transmit { hop, sdu });
    }
}

impl Transmit {
    /// The same for the radio with this address.
    fn bound_for(mut self, hardware: MacAddress) -> Self {
        self.hop.station = station_of(hardware);
        self
    }

    /// The packet that waits for an address.
    pub(in crate::host) fn waiting_packet(&self) -> &Packet {
        match &*self.sdu {
            Sdu::Ip(packet) => packet,
            other => unreachable!("only IP packets wait for an address, and this is {other:?}"),
        }
    }

    /// The neighbour that is to receive it.
    pub(in crate::host) fn to(&self) -> Neighbour {
        Neighbour { interface: self.hop.interface, node: self.hop.node }
    }
}
