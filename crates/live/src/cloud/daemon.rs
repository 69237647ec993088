//! The device's only thread: it waits for events and handles them.

use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixListener;

use hopcast_protocols::streaming::{device, path, profile, reservation};
use hopcast_protocols::time::{Duration, Instant};
use hopcast_wire::cloud::PORT;
use nix::poll::{PollFd, PollFlags};

use super::clips;
use super::engine::{self, Engine, Transmit};
use super::envelope::{Envelope, From};
use super::options::Serve;
use super::players::Players;
use super::record::DeviceRecord;
use super::status::{self, Status};
use super::{failure, metrics};
use crate::failure::Failure;
use crate::interfaces::{self, Interface, State};
use crate::key::{Credentials, Epoch, Purpose, Refusal};
use crate::log;
use crate::platform::clock::Clock;
use crate::platform::messages::Messages;
use crate::platform::netlink::{Event, Events, Netlink};
use crate::platform::signals::Signals;
use crate::platform::wait;
use crate::serve::{self, Answers, Server};

/// The most datagrams that are taken from one interface before the others have their turn.
const BURST: usize = 64;
/// Room for datagrams that wait to be read, in bytes: what comes at 20 Mb/s while a busy machine does not run the device for 0.2 s.
const ROOM: usize = 1 << 20;
/// How late a busy machine runs the device: a few processes before it, each for some milliseconds. What a sender then sends at once fits
/// into the room that Linux gives to a socket by default, at 20 Mb/s.
const SLACK: Duration = Duration::from_millis(40);
/// An interface whose socket could not be opened is tried again after this time.
const RETRY: Duration = Duration::from_secs(1);
/// The log tells of devices with other keys, or with none, at most once in this time, whatever strangers send.
const WARN_INTERVAL: Duration = Duration::from_secs(60);
/// A clip whose bytes come later than this at its mean rate has a rate that varies: the least that a display buffers.
const VARIES: Duration = hopcast_protocols::streaming::prefetch::LEAST;

/// Runs the device until a signal ends it.
///
/// # Errors
///
/// See [`Failure`].
pub(super) fn run(options: &Serve) -> Result<(), Failure> {
    options.check()?;
    log::start(options.log);
    let credentials = options.keys.read().map_err(|error| Failure::Input(error.to_string()))?;
    let signals = listen_to_signals()?;
    let (server, players) = listen(options)?;
    if !options.offer.is_empty() {
        tracing::info!("reads the clips");
    }
    let clips = clips::open_all(&options.offer, &|| signals.received().is_some());
    let clips = clips.map_err(|wrong| match signals.received() {
        Some(signal) => Failure::Interrupted { signal },
        None => Failure::Input(wrong),
    })?;
    let mut daemon = Daemon::start(options, credentials, clips, signals)?;
    let done = daemon.work(server, players);
    let now = daemon.clock.now();
    let recorded = daemon.record.take().map_or(Ok(()), |record| record.finish(now));
    tracing::info!("stopped");
    done.and(recorded)
}

fn listen_to_signals() -> Result<Signals, Failure> {
    let failed = |error: io::Error| failure("listen to signals", &error);
    let mut signals = Signals::listen().map_err(failed)?;
    signals.listen_again().map_err(failed)?;
    Ok(signals)
}

/// Makes this the only device in the network namespace.
fn listen(options: &Serve) -> Result<(Server, Players), Failure> {
    let failed = |error: io::Error| match error.kind() {
        io::ErrorKind::AddrInUse => Failure::Input("another hopcast cloud serve runs in this network namespace".into()),
        _ => failure("listen on a local socket", &error),
    };
    let mut server = UnixListener::bind_addr(&status::socket()).and_then(Server::local).map_err(failed)?;
    let players = UnixListener::bind_addr(&status::play_socket()).and_then(Players::new).map_err(failed)?;
    if let Some(address) = options.metrics {
        server.listen_for_http(address).map_err(|error| failure(&format!("give metrics on {address}"), &error))?;
    }
    Ok((server, players))
}

struct Daemon {
    options: Serve,
    credentials: Option<Credentials>,
    address: Ipv4Addr,
    clock: Clock,
    signals: Signals,
    events: Events,
    netlink: Netlink,
    /// By place among the options' interfaces: the kernel's number of each that is open, and its socket.
    ports: Vec<Option<(u32, Messages)>>,
    states: Vec<State>,
    retry_at: Option<Instant>,
    engine: Engine,
    unsent: u64,
    /// When the log may tell again of a device with another key.
    warn_at: Instant,
    datagram: Vec<u8>,
    record: Option<DeviceRecord>,
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
    fn start(
        options: &Serve,
        credentials: Option<Credentials>,
        clips: Vec<clips::Clip>,
        signals: Signals,
    ) -> Result<Self, Failure> {
        let clock = Clock::new();
        let events = Events::listen().map_err(|error| failure("listen to the kernel", &error))?;
        let mut netlink = Netlink::open().map_err(|error| failure("open a netlink socket", &error))?;
        let links = netlink.links().map_err(|error| failure("list the interfaces", &error))?;
        let named = interfaces::named(&options.interfaces, &links)?;
        let addresses = netlink.addresses().map_err(|error| failure("list the addresses", &error))?;
        let address = interfaces::address(options.address, &named, &addresses)?;
        let drawn = |error: getrandom::Error| Failure::Run(format!("can't draw random numbers: {error}"));
        let seed = getrandom::u64().map_err(drawn)?;
        let epoch = Epoch::draw().map_err(drawn)?;
        let guard = credentials.as_ref().map(|credentials| {
            credentials.warn_unless_listed(address);
            credentials.guard(Purpose::Cloud, epoch, clock.now())
        });
        tracing::info!(%address, interfaces = ?options.interfaces, clips = clips.len(), "started");
        if guard.is_none() {
            tracing::warn!("without a network key: anybody within reach can reserve airtime, and see who plays what");
        }
        if options.link_rate.is_none() {
            for interface in options.interfaces.iter().filter(|name| is_wireless(name)) {
                tracing::warn!(
                    interface,
                    "packets of a pair may travel in one frame here, since 802.11n: if the rates in hopcast cloud status are too high, \
                     state them with --link-rate"
                );
            }
        }
        for clip in &clips {
            let offer = &clip.offer;
            let (name, rate_bps, length_s) = (&offer.name, offer.rate, f64::from(offer.length) / 1e3);
            tracing::info!(name, rate_bps, length_s, "offers a clip");
            if clip.lateness > VARIES {
                let late_s = clip.lateness.as_secs_f64();
                tracing::warn!(
                    name,
                    late_s,
                    "its rate varies: at its mean rate, media come so much later than their time; let the player buffer that, or \
                     make the file with a constant rate"
                );
            }
        }
        let engine =
            engine::Options { me: address, config: config(options), link_rate: options.link_rate, clips, seed };
        let mut engine = Engine::new(engine, Envelope::new(address, guard), clock.now());
        let record = options.record.as_deref().map(|folder| DeviceRecord::create(folder, address)).transpose()?;
        if record.is_some() {
            engine.keep_told();
        }
        let mut daemon = Self {
            ports: named.iter().map(|_| None).collect(),
            states: vec![State::Missing; named.len()],
            options: options.clone(),
            credentials,
            address,
            clock,
            signals,
            events,
            netlink,
            retry_at: None,
            engine,
            unsent: 0,
            warn_at: Instant::START,
            datagram: Vec::new(),
            record,
        };
        daemon.look_around()?;
        Ok(daemon)
    }

    /// Works until a signal comes.
    fn work(&mut self, mut server: Server, mut players: Players) -> Result<(), Failure> {
        loop {
            self.wait(&server, &players).map_err(|error| failure("wait", &error))?;
            if self.signals.take_again() {
                self.change_keys();
            }
            if let Some(signal) = self.signals.received() {
                tracing::info!(signal, "ends");
                return Ok(());
            }
            self.handle_events()?;
            (0..self.ports.len()).for_each(|place| self.handle_datagrams(place));
            let now = self.clock.now();
            if self.retry_at.is_some_and(|at| at <= now) {
                self.look_around()?;
            }
            if self.engine.poll_timeout() <= now {
                self.engine.handle_timeout(now);
            }
            players.serve(&mut self.engine, now);
            self.transmit();
            if let Some(record) = &mut self.record {
                record.look(&mut self.engine, now);
            }
            server.serve(now, self);
        }
    }

    /// Reads the key file and the list of members again. Devices that are no members any more are lost at once.
    fn change_keys(&mut self) {
        let now = self.clock.now();
        let changes = self.options.keys.read_again(self.credentials.as_mut());
        if let Some((keys, epoch)) = changes.keys {
            self.engine.change_keys(&keys, epoch, now);
        }
        if let Some((members, expelled)) = changes.members {
            self.engine.change_members(members, &expelled, now);
        }
    }

    /// Waits until there is something to do.
    fn wait(&self, server: &Server, players: &Players) -> io::Result<()> {
        let mut fds = vec![
            PollFd::new(self.signals.as_fd(), PollFlags::POLLIN),
            PollFd::new(self.events.as_fd(), PollFlags::POLLIN),
        ];
        let ports = self.ports.iter().flatten();
        fds.extend(ports.map(|(_, port)| PollFd::new(port.as_fd(), PollFlags::POLLIN)));
        fds.extend(server.fds().chain(players.fds()).map(|(fd, flags)| PollFd::new(fd, flags)));
        let due = self.record.as_ref().map(DeviceRecord::due);
        let until =
            [Some(self.engine.poll_timeout()), server.poll_timeout(), players.poll_timeout(), self.retry_at, due];
        wait::any(&mut fds, self.clock.wait(until.into_iter().flatten().min())).map(drop)
    }

    /// What the kernel tells.
    fn handle_events(&mut self) -> Result<(), Failure> {
        let mut changed = false;
        while let Some(events) = self.events.read().map_err(|error| failure("listen to the kernel", &error))? {
            changed |= events.iter().any(|event| matches!(event, Event::Link | Event::Overrun));
        }
        if changed { self.look_around() } else { Ok(()) }
    }

    /// Looks which interfaces can be used, and opens and closes their sockets.
    fn look_around(&mut self) -> Result<(), Failure> {
        self.retry_at = None;
        let links = self.netlink.links().map_err(|error| failure("list the interfaces", &error))?;
        let addresses = self.netlink.addresses().map_err(|error| failure("list the addresses", &error))?;
        let has_address = addresses.iter().any(|address| address.address == self.address);
        for place in 0..self.ports.len() {
            let name = &self.options.interfaces[place];
            let link = links.iter().find(|link| link.name == *name);
            let state = State::of(link, has_address);
            let index = link.filter(|_| state == State::Running).map(|link| link.index);
            if self.ports[place].as_ref().is_some_and(|(open, _)| Some(*open) != index) {
                self.ports[place] = None;
            }
            let state = match index {
                Some(index) if self.ports[place].is_none() => match open(name) {
                    Ok(port) => {
                        self.ports[place] = Some((index, port));
                        State::Running
                    }
                    Err(error) => {
                        if self.states[place] != State::Failed {
                            tracing::error!(interface = name, %error, "can't open its socket; trying again");
                        }
                        State::Failed
                    }
                },
                _ => state,
            };
            if state == State::Failed {
                self.retry_at = Some(self.clock.now() + RETRY);
            }
            state.log(self.states[place], name);
            self.states[place] = state;
        }
        Ok(())
    }

    /// Datagrams on one interface.
    fn handle_datagrams(&mut self, place: usize) {
        for _ in 0..BURST {
            let Some((_, port)) = &self.ports[place] else { return };
            let received = match port.receive(&mut self.datagram) {
                Ok(Some(received)) => received,
                Ok(None) => return,
                // What was sent could not be delivered, or the interface goes down, which the kernel tells too.
                Err(error) => return tracing::debug!(%error, "nothing was received"),
            };
            let address = *received.source.ip();
            // The kernel gives broadcasts back to their sender, and devices speak from their port.
            if address == self.address || received.source.port() != PORT {
                continue;
            }
            let now = self.clock.now();
            let arrival = received.arrival.map_or_else(
                || Duration::from_nanos(now.as_nanos()),
                |arrival| Duration::from_nanos(u64::try_from(arrival.as_nanos()).unwrap_or(u64::MAX)),
            );
            let from = From { interface: place, address };
            match self.engine.handle_datagram(from, &self.datagram[..received.len], arrival, now) {
                Ok(()) => {}
                Err(Refusal::Malformed { .. }) if self.warn_at <= now => {
                    self.warn_at = now + WARN_INTERVAL;
                    tracing::warn!(from = %address, "a datagram was not sealed; a device without the key is not heard");
                }
                Err(refusal) => match refusal.warning().filter(|_| self.warn_at <= now) {
                    Some(warning) => {
                        self.warn_at = now + WARN_INTERVAL;
                        tracing::warn!(from = %address, "{warning}");
                    }
                    None => tracing::debug!(from = %address, %refusal, "a datagram is not taken"),
                },
            }
            self.transmit();
        }
    }

    /// Sends what the engine wants sent.
    fn transmit(&mut self) {
        while let Some(Transmit { interface, to, octets }) = self.engine.poll_output() {
            let places = match interface {
                Some(place) => place..place + 1,
                None => 0..self.ports.len(),
            };
            for (_, port) in self.ports.get(places).into_iter().flatten().flatten() {
                if let Err(error) = port.send(self.address, SocketAddrV4::new(to, PORT), 1, &octets) {
                    self.unsent += 1;
                    tracing::debug!(%to, %error, "a datagram can't be sent");
                }
            }
        }
        while let Some(problem) = self.engine.poll_problem() {
            tracing::error!("{problem}");
        }
    }

    fn status(&self) -> Status {
        let now = self.clock.now();
        let name = |place: usize| self.options.interfaces.get(place).cloned().unwrap_or_default();
        let interfaces = self.options.interfaces.iter().zip(&self.states);
        let seals = self.engine.seals();
        Status {
            version: env!("CARGO_PKG_VERSION"),
            address: self.address,
            admission: self.options.admission.name(),
            sealed: seals.is_some(),
            identity: self.credentials.as_ref().and_then(Credentials::public),
            members: self.credentials.as_ref().and_then(Credentials::members),
            uptime_s: now.saturating_since(Instant::START).as_secs_f64(),
            interfaces: interfaces.map(|(name, &state)| Interface { name: name.clone(), state }).collect(),
            neighbours: self.engine.neighbours(name, now),
            clips: self.engine.known_clips(now),
            reserved_airtime: self.engine.reserved(),
            bookings: self.engine.bookings(now),
            refusals: self.engine.refusals(),
            refused: self.engine.refused(now),
            plays: self.engine.plays(now),
            counters: status::Counters { datagrams_unsent: self.unsent, ..self.engine.counters() },
            seals: seals.map(|(counters, _)| counters),
            senders: seals.map(|(_, senders)| senders),
        }
    }
}

/// Whether an interface is one of 802.11, as the kernel says (`net/wireless/sysfs.c`).
fn is_wireless(name: &str) -> bool {
    std::path::Path::new("/sys/class/net").join(name).join("phy80211").exists()
}

/// The socket on an interface.
fn open(name: &str) -> io::Result<Messages> {
    let port = Messages::open(name, PORT)?;
    port.stamp()?;
    port.make_room(ROOM)?;
    Ok(port)
}

/// The parameters of the machines: what the options leave open is as `cloud` in scenarios has it.
fn config(options: &Serve) -> device::Config {
    let second = Duration::from_secs(1);
    device::Config {
        rules: reservation::Rules {
            policy: options.admission.into(),
            estimator: hopcast_protocols::streaming::admission::Estimator::Bootstrap,
            nominal_rate: options.nominal_rate,
            max_airtime: options.max_airtime,
            stalls_per_hour: options.stalls_per_hour,
            pace: options.catch_up,
            refresh: second * 5,
            expiry: second * 15,
            repeat: second,
        },
        prefetch: options.prefetch.map(Duration::from_secs_f64),
        slack: SLACK,
        sensing_hops: options.sensing_hops,
        measurement: second,
        profile: profile::Config::default(),
        // Within what pairs measure, and what a stated rate says.
        gap: Duration::ZERO,
        shortening: options.shorten.then_some(path::Config {
            after: second * 10,
            margin: 1.2,
            hold: second * 60,
            flaps: 2,
        }),
        schedule: options.schedule.map(Into::into),
        // Files have one rate.
        adaptation: None,
        // Media go to the player's file, or nowhere.
        cache: None,
        batch: 1,
    }
}

impl Serve {
    fn check(&self) -> Result<(), Failure> {
        match (&self.keys.key, self.open) {
            (None, false) => Err(Failure::Input(
                "--key FILE is missing (`hopcast key FILE` makes one); --open runs without one, and lets anybody within reach reserve \
                 airtime and see who plays what"
                    .into(),
            )),
            _ => Ok(()),
        }
    }
}
