//! The router's only thread: it waits for events and handles them.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::AsFd as _;

use hopcast_protocols::routing::{Message, NextHop};
use hopcast_protocols::time::{Duration, Instant};
use hopcast_wire::MacAddress;
use nix::poll::{PollFd, PollFlags};
use tun_rs::{DeviceBuilder, Layer, SyncDevice};

use super::envelope::{self, Envelope, SEALED_PORT};
use super::hardware::Hardware;
use super::kernel::{self, Kernel, Wanted};
use super::options::Options;
use super::port::{Port, RawSocket, Seen};
use super::prefix::Prefix;
use super::protocol::Protocol;
use super::record::{self, Record};
use super::router::{Output, Router, Sight};
use super::status::{self, Status, Traffic};
use super::{failure, listen, metrics};
use crate::failure::Failure;
use crate::interfaces::{self, Interface, State};
use crate::key::{Credentials, Epoch, Purpose};
use crate::log;
use crate::models::Models;
use crate::platform::clock::Clock;
use crate::platform::netlink::{Event, Events, Link, Netlink};
use crate::platform::signals::Signals;
use crate::platform::wait;
use crate::serve::{self, Answers, Server};

/// Name of the TUN device.
const TUN: &str = "hopcast-node";
/// The most datagrams, and the most packets, that are taken from one place before the others have their turn.
const BURST: usize = 64;
/// A flow counts as going on for this time after it was last seen, where some packets were not seen: a third of AODV's
/// ACTIVE_ROUTE_TIMEOUT of 3 s, so that routes of flows that have ended still end.
const FLOW_MEMORY: Duration = Duration::from_secs(1);
/// The most flows that are remembered for that.
const MAX_FLOWS: usize = 1 << 12;
/// An interface whose sockets could not be opened is tried again after this time.
const RETRY: Duration = Duration::from_secs(1);
/// How often the log looks for neighbours that are new or gone, at most.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);
/// The log tells of neighbours with other keys, or with none, at most once in this time, whatever strangers send.
const WARN_INTERVAL: Duration = Duration::from_secs(60);

/// Runs the router until a signal ends it.
///
/// # Errors
///
/// See [`Failure`]. Nothing of it is left in the kernel then.
pub(super) fn run(options: &Options, models: &dyn Models) -> Result<(), Failure> {
    let registry = models.registry(&options.extensions).map_err(Failure::Input)?;
    let protocol =
        Protocol::find(&options.protocol, options.parameters.as_deref(), &registry).map_err(Failure::Input)?;
    log::start(options.log);
    let mut server = listen()?;
    let mut daemon = Daemon::start(options, protocol, &mut server)?;
    let done = daemon.work(&mut server, models);
    // What it has installed goes with it.
    drop(daemon);
    tracing::info!("stopped");
    done
}

struct Daemon {
    options: Options,
    protocol: Protocol,
    address: Ipv4Addr,
    networks: Vec<Prefix>,
    clock: Clock,
    signals: Signals,
    events: Events,
    tun: SyncDevice,
    /// For what senders are told.
    tell: RawSocket,
    installed: Installed,
    /// By place among the options' interfaces.
    ports: Vec<Option<Port>>,
    states: Vec<State>,
    retry_at: Option<Instant>,
    router: Router,
    envelope: Envelope,
    credentials: Option<Credentials>,
    hardware: Hardware,
    /// Flows by place of the interface, and when they were seen last.
    flows: BTreeMap<(u32, Seen), Instant>,
    traffic: Traffic,
    /// The version of the routes that are in the kernel, if all of them are and the protocol tells versions apart.
    settled: Option<u64>,
    /// When the log may tell again of a neighbour with another key.
    warn_at: Instant,
    /// Neighbours that the log has told of, and when it looks again.
    told: BTreeSet<NextHop>,
    look_at: Instant,
    datagram: Vec<u8>,
}

/// What is in the kernel, and goes when this does.
struct Installed {
    kernel: Kernel,
    record: Record,
}

impl Drop for Installed {
    fn drop(&mut self) {
        if let Err(error) = self.kernel.tear_down() {
            tracing::error!(%error, "routes are left in the kernel; hopcast node clean removes them");
        }
        self.record.restore();
        if let Err(error) = self.record.write_ended() {
            tracing::warn!(%error, "can't write when the router ended; the next one says nothing at first");
        }
    }
}

impl Answers for Daemon {
    fn line(&self) -> Vec<u8> {
        serve::line(&self.status())
    }

    fn metrics(&self) -> String {
        metrics::text(&self.status())
    }

    fn text(&self) -> Option<String> {
        serde_json::to_value(self.status()).ok().map(|status| status::text(&status))
    }
}

impl Daemon {
    fn start(options: &Options, protocol: Protocol, server: &mut Server) -> Result<Self, Failure> {
        let credentials = options.keys.read().map_err(|error| Failure::Input(error.to_string()))?;
        let clock = Clock::new();
        let mut signals = Signals::listen().map_err(|error| failure("listen to signals", &error))?;
        signals.listen_again().map_err(|error| failure("listen to signals", &error))?;
        if let Some(address) = options.metrics {
            server.listen_for_http(address).map_err(|error| failure(&format!("give metrics on {address}"), &error))?;
        }
        let events = Events::listen().map_err(|error| failure("listen to the kernel", &error))?;
        let mut netlink = Netlink::open().map_err(|error| failure("open a netlink socket", &error))?;
        let links = netlink.links().map_err(|error| failure("list the interfaces", &error))?;
        let named = interfaces::named(&options.interfaces, &links)?;
        let (address, networks) = addresses(options, &named, &mut netlink)?;

        let removed = kernel::clean(&mut netlink).map_err(|error| failure("remove old routes", &error))?;
        if removed > 0 {
            tracing::warn!(removed, "a router was killed here; its routes and rules are removed");
        }
        let silence = protocol.silence().unwrap_or(Duration::ZERO);
        let (mut record, was_before) =
            Record::open(&mut netlink, silence).map_err(|error| failure("read what the last router left", &error))?;
        record.restore();
        let mtu = named.iter().map(|link| link.mtu).min().unwrap_or(1500).clamp(576, 65_535);
        let tun = hold(mtu).map_err(|error| failure("make a TUN device", &error))?;
        let tun_index = tun.if_index().map_err(|error| failure("find the TUN device", &error))?;
        let kernel = Kernel::set_up(netlink, address, networks.clone(), tun_index);
        let kernel = kernel.map_err(|error| {
            // What was put in before it failed.
            let _ = Netlink::open().and_then(|mut netlink| kernel::clean(&mut netlink));
            failure("route into the TUN device", &error)
        })?;
        record.write_running();
        let installed = Installed { kernel, record };

        let tell = RawSocket::open(None).map_err(|error| failure("open a raw socket", &error))?;
        let drawn = |error: getrandom::Error| Failure::Run(format!("can't draw random numbers: {error}"));
        let seed = getrandom::u64().map_err(drawn)?;
        let purpose = Purpose::Node(protocol.name());
        let epoch = Epoch::draw().map_err(drawn)?;
        let room = match &credentials {
            None => mtu,
            Some(credentials) if credentials.has_identity() => mtu - envelope::SIGNED_OVERHEAD,
            Some(_) => mtu - envelope::OVERHEAD,
        };
        let guard = credentials.as_ref().map(|credentials| {
            credentials.warn_unless_listed(address);
            credentials.guard(purpose, epoch, clock.now())
        });
        let is_sealed = guard.is_some();
        let machine = protocol.start(address, number(named.len()), seed, room, was_before);
        let router = Router::new(machine, protocol.is_wellformed(), address, networks.clone(), is_sealed);

        tracing::info!(protocol = protocol.name(), %address, interfaces = ?options.interfaces, "started");
        if !is_sealed {
            tracing::warn!("without a network key: anybody within reach can change routes");
        }
        if record::is_strict().unwrap_or(false) {
            tracing::error!(
                "net.ipv4.conf.all.rp_filter is 1: the kernel drops what comes from hosts to which there is no route yet, \
                 neighbours among them; set it to 0 or 2"
            );
        }
        if let Some(silence) = protocol.silence().filter(|_| was_before) {
            let silence_s = silence.as_secs_f64();
            tracing::info!(
                silence_s,
                "neighbours may still have routes over an earlier router here: nothing is said at first"
            );
        }
        let mut daemon = Self {
            ports: named.iter().map(|_| None).collect(),
            states: vec![State::Missing; named.len()],
            options: options.clone(),
            protocol,
            address,
            networks,
            clock,
            signals,
            events,
            tun,
            tell,
            installed,
            retry_at: None,
            router,
            envelope: Envelope::new(guard),
            credentials,
            hardware: Hardware::default(),
            flows: BTreeMap::new(),
            traffic: Traffic::default(),
            settled: None,
            warn_at: Instant::START,
            told: BTreeSet::new(),
            look_at: Instant::START,
            datagram: Vec::new(),
        };
        daemon.look_around()?;
        Ok(daemon)
    }

    /// Works until a signal comes, or the protocol fails.
    fn work(&mut self, server: &mut Server, models: &dyn Models) -> Result<(), Failure> {
        loop {
            self.wait(server).map_err(|error| failure("wait", &error))?;
            if self.signals.take_again() {
                self.change_keys();
            }
            if let Some(signal) = self.signals.received() {
                tracing::info!(signal, "ends");
                return Ok(());
            }
            self.handle_events()?;
            self.handle_strays()?;
            for place in 0..self.ports.len() {
                self.handle_datagrams(place);
                self.handle_sights(place);
            }
            let now = self.clock.now();
            if self.retry_at.is_some_and(|at| at <= now) {
                self.look_around()?;
            }
            if self.router.poll_timeout().is_some_and(|due| due <= now) {
                self.router.handle_timeout(now);
            }
            self.settle();
            if let Some(problem) = models.poll_failure() {
                return Err(Failure::Run(problem));
            }
            server.serve(self.clock.now(), self);
        }
    }

    /// Reads the key file and the list of members again. Nodes that are no members any more are lost at once.
    fn change_keys(&mut self) {
        let now = self.clock.now();
        let changes = self.options.keys.read_again(self.credentials.as_mut());
        if let Some((keys, epoch)) = changes.keys {
            self.envelope.change_keys(&keys, epoch, now);
        }
        let Some((members, expelled)) = changes.members else { return };
        for address in expelled {
            for interface in 0..number(self.ports.len()) {
                self.router.handle_neighbour_lost(NextHop { interface, address }, now);
            }
        }
        self.envelope.change_members(members);
    }

    /// Waits until there is something to do.
    fn wait(&self, server: &Server) -> io::Result<()> {
        let now = self.clock.now();
        let mut fds = vec![
            PollFd::new(self.signals.as_fd(), PollFlags::POLLIN),
            PollFd::new(self.events.as_fd(), PollFlags::POLLIN),
            PollFd::new(self.tun.as_fd(), PollFlags::POLLIN),
        ];
        let mut until: Vec<_> = [self.router.poll_timeout(), server.poll_timeout(), self.retry_at].into();
        for port in self.ports.iter().flatten() {
            fds.push(PollFd::new(port.messages_fd(), PollFlags::POLLIN));
            match port.look_at {
                Some(at) if at > now => until.push(Some(at)),
                _ => fds.push(PollFd::new(port.sights_fd(), PollFlags::POLLIN)),
            }
        }
        fds.extend(server.fds().map(|(fd, flags)| PollFd::new(fd, flags)));
        wait::any(&mut fds, self.clock.wait(until.into_iter().flatten().min())).map(drop)
    }

    /// What the kernel tells.
    fn handle_events(&mut self) -> Result<(), Failure> {
        let mut changed = false;
        while let Some(events) = self.events.read().map_err(|error| failure("listen to the kernel", &error))? {
            for event in events {
                match event {
                    Event::Link | Event::Overrun => changed = true,
                    Event::RouteRemoved(route) => {
                        // By this program itself, if it is no longer among those that there should be.
                        let is_ours = route.protocol == kernel::PROTOCOL && route.table == kernel::TABLE;
                        let installed = self.installed.kernel.installed().values().any(|known| *known == route);
                        changed |= is_ours && (installed || route.prefix_len < 32);
                    }
                    Event::RuleRemoved(rule) => {
                        changed |= rule.protocol == kernel::PROTOCOL && rule.table == kernel::TABLE;
                    }
                    Event::Neighbour(neighbour) => {
                        let Some(interface) = self.place_of(neighbour.interface) else { continue };
                        if neighbour.has_failed {
                            tracing::debug!(neighbour = %neighbour.address, "does not answer any more");
                            let hop = NextHop { interface, address: neighbour.address };
                            self.router.handle_neighbour_lost(hop, self.clock.now());
                        } else if let Some(hardware) = neighbour.hardware {
                            changed |= self.hardware.insert(neighbour.interface, hardware, neighbour.address);
                        }
                    }
                }
            }
        }
        if changed { self.look_around() } else { Ok(()) }
    }

    /// Looks which interfaces can be used, opens and closes their sockets, and reads the kernel's tables again.
    fn look_around(&mut self) -> Result<(), Failure> {
        (self.retry_at, self.settled) = (None, None);
        let netlink = self.installed.kernel.netlink();
        let links = netlink.links().map_err(|error| failure("list the interfaces", &error))?;
        let addresses = netlink.addresses().map_err(|error| failure("list the addresses", &error))?;
        let has_address = addresses.iter().any(|address| address.address == self.address);
        for place in 0..self.ports.len() {
            let name = self.options.interfaces[place].clone();
            let link = links.iter().find(|link| link.name == name);
            let state = State::of(link, has_address);
            let index = link.filter(|_| state == State::Running).map(|link| link.index);
            if self.ports[place].as_ref().is_some_and(|port| Some(port.index) != index) {
                self.close(place);
            }
            let state = match index {
                Some(index) if self.ports[place].is_none() => self.open(place, &name, index),
                _ => state,
            };
            if state == State::Failed {
                self.retry_at = Some(self.clock.now() + RETRY);
            }
            state.log(self.states[place], &name);
            self.states[place] = state;
        }
        let kernel = &mut self.installed.kernel;
        let neighbours = kernel.netlink().neighbours().map_err(|error| failure("list the neighbours", &error))?;
        let known = neighbours.iter().filter_map(|known| Some((known.interface, known.hardware?, known.address)));
        self.hardware.replace(known);
        kernel.reread().map_err(|error| failure("read the routes", &error))
    }

    fn open(&mut self, place: usize, name: &str, index: u32) -> State {
        let port = if self.credentials.is_some() { SEALED_PORT } else { self.router.port() };
        if let Err(error) = self.installed.record.prepare(name) {
            tracing::error!(interface = name, %error, "can't be made to pass packets on; forwarding, rp_filter");
        }
        match Port::open(name, index, port) {
            Ok(port) => {
                self.ports[place] = Some(port);
                State::Running
            }
            Err(error) => {
                if self.states[place] != State::Failed {
                    tracing::error!(interface = name, %error, "can't open its sockets; trying again");
                }
                State::Failed
            }
        }
    }

    fn close(&mut self, place: usize) {
        self.ports[place] = None;
        let place = number(place);
        self.flows.retain(|(interface, _), _| *interface != place);
        self.router.handle_interface_lost(place, self.clock.now());
    }

    /// Packets without a route.
    fn handle_strays(&mut self) -> Result<(), Failure> {
        let mut strays = Vec::new();
        while strays.len() < BURST {
            self.datagram.resize(1 << 16, 0);
            match self.tun.recv(&mut self.datagram) {
                Ok(len) => strays.push(self.datagram[..len].to_vec()),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) => return Err(failure("read from the TUN device", &error)),
            }
        }
        if !strays.is_empty() {
            // An interface has shown each of them before, and with it the neighbour that it comes from.
            self.ports.iter_mut().flatten().for_each(|port| port.look_at = None);
            (0..self.ports.len()).for_each(|place| self.handle_sights(place));
        }
        let now = self.clock.now();
        strays.into_iter().for_each(|stray| self.router.handle_stray(stray, now));
        Ok(())
    }

    /// Messages on one interface.
    fn handle_datagrams(&mut self, place: usize) {
        for _ in 0..BURST {
            let Some(port) = &self.ports[place] else { return };
            let received = match port.receive(&mut self.datagram) {
                Ok(Some(received)) => received,
                Ok(None) => return,
                // What was sent could not be delivered, or the interface goes down, which the kernel tells too.
                Err(error) => return tracing::debug!(%error, "nothing was received"),
            };
            // The kernel gives broadcasts back to their sender.
            if *received.source.ip() == self.address {
                continue;
            }
            self.traffic.datagrams_received += 1;
            let now = self.clock.now();
            let from = NextHop { interface: number(place), address: *received.source.ip() };
            let datagram = &self.datagram[..received.len];
            match self.envelope.open(now, from, received.destination, received.ttl, datagram) {
                Ok(Some(opened)) => {
                    self.router.handle_message(opened.from, opened.destination, opened.ttl, opened.octets, now);
                }
                Ok(None) => {}
                Err(refusal) => match refusal.warning().filter(|_| self.warn_at <= now) {
                    Some(warning) => {
                        self.warn_at = now + WARN_INTERVAL;
                        tracing::warn!(from = %from.address, "{warning}");
                    }
                    None => tracing::debug!(from = %from.address, %refusal, "a datagram is not taken"),
                },
            }
            if let Some(answer) = self.envelope.answer(now) {
                let sent = port.send(self.address, received.source, 1, answer);
                self.traffic.count(&sent);
            }
            // What the message has changed is in the kernel before the next one.
            self.settle();
        }
    }

    /// Packets that the kernel has sent, forwarded or taken on one interface.
    fn handle_sights(&mut self, place: usize) {
        let now = self.clock.now();
        let own_ports = [self.router.port(), SEALED_PORT];
        let Some(port) = self.ports[place].as_mut().filter(|port| port.look_at.is_none_or(|at| at <= now)) else {
            return;
        };
        let index = port.index;
        let (seen, is_incomplete) = match port.look(own_ports, now) {
            Ok(looked) => looked,
            Err(error) => return tracing::debug!(%error, "no packets were seen"),
        };
        let interface = number(place);
        self.flows.retain(|_, at| now.saturating_since(*at) < FLOW_MEMORY);
        if is_incomplete {
            // Those that were there lately are taken to be among the packets that were not seen.
            let going_on = self.flows.iter_mut().filter(|((at, _), _)| *at == interface);
            going_on.for_each(|(_, at)| *at = now);
        }
        for packet in seen {
            // With a key, packets of strangers say nothing, and keep no others from being remembered.
            let is_of_stranger = self.credentials.is_some()
                && packet.from.is_some_and(|hardware| {
                    self.neighbour(interface, index, hardware).is_none_or(|hop| !self.router.has_heard(hop))
                });
            if is_of_stranger {
                continue;
            }
            if self.flows.len() < MAX_FLOWS || self.flows.contains_key(&(interface, packet)) {
                self.flows.insert((interface, packet), now);
            }
        }
        let going_on = self.flows.iter().filter(|((at, _), seen)| *at == interface && **seen == now);
        for packet in going_on.map(|((_, packet), _)| *packet).collect::<Vec<_>>() {
            let from = match packet.from {
                None if packet.source == self.address => None,
                // Passed on: it was seen when it came.
                None => continue,
                Some(hardware) => {
                    let Some(hop) = self.neighbour(interface, index, hardware) else { continue };
                    Some(hop)
                }
            };
            let Seen { source, destination, protocol, .. } = packet;
            self.router.handle_sight(Sight { source, destination, protocol, from }, now);
        }
    }

    /// The neighbour with this hardware address on an interface, given by its place and by the kernel's number.
    fn neighbour(&self, interface: u32, index: u32, hardware: MacAddress) -> Option<NextHop> {
        let hop = |address| NextHop { interface, address };
        self.hardware.find(index, hardware, |address| self.router.has_heard(hop(address))).map(hop)
    }

    /// Logs, once a second at most, neighbours that are new and neighbours that are gone.
    fn tell_neighbours(&mut self, now: Instant) {
        if now < self.look_at {
            return;
        }
        self.look_at = now + LOOK_INTERVAL;
        let heard: BTreeSet<NextHop> = self.router.neighbours(now).map(|(hop, _)| hop).collect();
        let name = |hop: &NextHop| &self.options.interfaces[hop.interface as usize];
        for hop in heard.difference(&self.told) {
            tracing::info!(neighbour = %hop.address, interface = name(hop), "heard");
        }
        for hop in self.told.difference(&heard) {
            tracing::info!(neighbour = %hop.address, interface = name(hop), "lost");
        }
        self.told = heard;
    }

    /// Puts the routes of now into the kernel, and does what there is to do.
    fn settle(&mut self) {
        let now = self.clock.now();
        let version = self.router.routes_version(now);
        if version.is_none() || version != self.settled {
            let wanted = self.router.routes(now).filter_map(|route| {
                let port = self.ports.get(route.hop.interface as usize)?.as_ref()?;
                let (destination, hop, hops) = (route.destination, route.hop.address, route.hops);
                Some(Wanted { destination, hop, interface: port.index, hops })
            });
            let is_complete = self.installed.kernel.update(wanted);
            self.settled = version.filter(|_| is_complete);
        }
        self.tell_neighbours(now);
        while let Some(output) = self.router.poll_output() {
            match output {
                Output::Send(message) => self.send(&message),
                Output::Forward { hop, packet } => {
                    let port = self.ports.get(hop.interface as usize).and_then(Option::as_ref);
                    let sent = port.map_or(Err(io::ErrorKind::NotConnected.into()), |port| port.packets.send(&packet));
                    self.count_packet(&sent);
                }
                Output::Tell(packet) => {
                    // The kernel finds the way, to this host itself too.
                    let sent = self.tell.send(&packet);
                    self.count_packet(&sent);
                }
            }
        }
    }

    fn count_packet(&mut self, sent: &io::Result<()>) {
        if let Err(error) = sent {
            self.traffic.packets_unsent += 1;
            tracing::debug!(%error, "a packet that has waited can't be sent");
        }
    }

    fn send(&mut self, message: &Message) {
        let now = self.clock.now();
        let port = if self.credentials.is_some() { SEALED_PORT } else { self.router.port() };
        let source = message.source.unwrap_or(self.address);
        let to = |address| SocketAddrV4::new(address, port);
        let places = match message.hop {
            Some(hop) => hop.interface as usize..hop.interface as usize + 1,
            None => 0..self.ports.len(),
        };
        for port in self.ports.get(places).into_iter().flatten().flatten() {
            let octets = self.envelope.seal(now, source, message.destination, message.ttl, &message.octets);
            let sent = port.send(source, to(message.destination), message.ttl, octets);
            self.traffic.count(&sent);
        }
    }

    fn place_of(&self, index: u32) -> Option<u32> {
        let place = self.ports.iter().position(|port| port.as_ref().is_some_and(|port| port.index == index))?;
        Some(number(place))
    }

    fn status(&self) -> Status {
        let now = self.clock.now();
        let name = |interface: u32| self.options.interfaces.get(interface as usize).cloned().unwrap_or_default();
        let installed = self.installed.kernel.installed();
        let routes = self.router.routes(now).map(|route| status::Route {
            destination: route.destination,
            next_hop: route.hop.address,
            interface: name(route.hop.interface),
            hops: route.hops,
            installed: installed.contains_key(&route.destination),
        });
        let neighbours = self.router.neighbours(now).map(|(hop, at)| status::Neighbour {
            address: hop.address,
            interface: name(hop.interface),
            heard_s: now.saturating_since(at).as_secs_f64(),
        });
        let interfaces = self.options.interfaces.iter().zip(&self.states);
        let sealed = self.envelope.counters();
        Status {
            version: env!("CARGO_PKG_VERSION"),
            protocol: self.protocol.name(),
            address: self.address,
            networks: self.networks.clone(),
            sealed: self.credentials.is_some(),
            uptime_s: now.saturating_since(Instant::START).as_secs_f64(),
            interfaces: interfaces.map(|(name, &state)| Interface { name: name.clone(), state }).collect(),
            routes: routes.collect(),
            neighbours: neighbours.collect(),
            waiting: self.router.waiting(),
            counters: self.router.counters(),
            traffic: self.traffic,
            identity: self.credentials.as_ref().and_then(Credentials::public),
            members: self.credentials.as_ref().and_then(Credentials::members),
            seals: sealed.map(|(counters, _)| counters),
            senders: sealed.map(|(_, senders)| senders),
        }
    }
}

impl Traffic {
    fn count(&mut self, sent: &io::Result<()>) {
        match sent {
            Ok(()) => self.datagrams_sent += 1,
            Err(error) => {
                self.datagrams_unsent += 1;
                tracing::debug!(%error, "a datagram can't be sent");
            }
        }
    }
}

/// A place among the options' interfaces, as protocols number them.
fn number(place: usize) -> u32 {
    u32::try_from(place).expect("a machine has fewer interfaces")
}

/// The address of this host, and the networks in which routes are looked for.
fn addresses(options: &Options, links: &[Link], netlink: &mut Netlink) -> Result<(Ipv4Addr, Vec<Prefix>), Failure> {
    let all = netlink.addresses().map_err(|error| failure("list the addresses", &error))?;
    let of = |link: &Link| all.iter().filter(|address| address.interface == link.index).copied().collect::<Vec<_>>();
    let address = interfaces::address(options.address, links, &all)?;
    let mut networks = options.networks.clone();
    if networks.is_empty() {
        let known = links.iter().flat_map(of).filter(|known| known.prefix_len < 32);
        networks.extend(known.filter_map(|known| Prefix::of(known.address, known.prefix_len)));
    }
    networks.sort_unstable();
    networks.dedup();
    if networks.is_empty() {
        let message =
            "the interfaces' addresses are in no network: name one to look for routes in, as --network 10.0.0.0/24";
        return Err(Failure::Input(message.into()));
    }
    Ok((address, networks))
}

/// The TUN device that packets without a route go into.
fn hold(mtu: u32) -> io::Result<SyncDevice> {
    let mtu = u16::try_from(mtu).unwrap_or(u16::MAX);
    let tun = DeviceBuilder::new().name(TUN).layer(Layer::L3).mtu(mtu).enable(true).build_sync()?;
    tun.set_nonblocking(true)?;
    Ok(tun)
}
