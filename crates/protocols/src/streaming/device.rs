//! One device of a streaming cloud: it stores clips, passes streams on, and displays what its user asks for.
//!
//! A request goes through these steps. The device asks its neighbours for the clip, and they ask theirs (PROBE); each node on the way
//! adds what it knows of its link. Devices that have the clip ANSWER along the way back. The display reserves the path with the
//! fewest hops, of equal ones that with the fastest slowest link, and after a refusal up to two others. Then the media come along the
//! path, and the display begins once its buffer is full.
//!
//! A clip may be stored in blocks ([`super::placement`]), each of which has a number as clips have. A display fetches them in their
//! order, up to three at a time, each from the nearest device that stores it, and shows a block once all of it has come.

use core::ops::Range;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::Ipv4Addr;
use std::sync::Arc;

use hopcast_wire::cloud::{MEDIA_HEADER_LEN, Message, PlannedHop, ProbedHop, Refusal, StreamId, Wish};

use super::adaptation::{self, Adapted, Adapter, Reserve};
use super::admission::{Load, Policy, tolerated};
use super::airtime::{Surroundings, share, units};
use super::cache::{self, Cache};
use super::carrier::Wanted;
use super::delivery::{EXPANSION, Feedback, Head, Layout, PACKET, Receiver, Sender, packets_in};
use super::hello::{self, Due, Hellos};
use super::path::{self, Paths, Shortcuts};
use super::prefetch;
use super::profile::{self, Horizon, LinkTotals, Profile};
use super::reservation::{self, Knowledge, MAX_HOPS, Plan, Reservations, Rules};
use super::schedule::{Candidate, Discipline, Schedule};
use super::variable_rate::Index;
use crate::application::{Player, PlayerConfig, PlayerReport};
use crate::random::{Purpose, Stream};
use crate::time::{Duration, Instant};

/// Parameters of a device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// Rules of admission.
    pub rules: Rules,
    /// Media that a display buffers; `None`: as much as the profiles ask for.
    pub prefetch: Option<Duration>,
    /// A device that wakes up late makes up for it, up to this time.
    pub slack: Duration,
    /// Hops over which a transmission is sensed: 1 or 2.
    pub sensing_hops: u8,
    /// Time between two measurements of links. Each measures one neighbour with two packets, unless other packets did.
    pub measurement: Duration,
    /// Parameters of the profiles.
    pub profile: profile::Config,
    /// Time that medium access takes before a frame, in the mean.
    pub gap: Duration,
    /// When paths of streams that are under way are shortened; `None`: never.
    pub shortening: Option<path::Config>,
    /// The order in which streams that begin here send their packets; `None`: each at its pace.
    pub schedule: Option<Discipline>,
    /// How a display chooses the rate of a clip that is stored in several; `None`: it takes the highest one.
    pub adaptation: Option<adaptation::Config>,
    /// Room for what was displayed here, besides what is stored from the start; `None`: nothing is kept.
    pub cache: Option<cache::Config>,
    /// Most packets of media in a datagram. More than one is for simulations alone.
    pub batch: u32,
}

/// Five hellos may be lost: nothing repeats what is sent to all.
const HELLO_LIFETIME: Duration = Duration::from_millis(5_500);
/// Time between two station dumps.
pub const DUMP_INTERVAL: Duration = Duration::from_millis(100);
/// Messages to all are delayed by up to this time, so that neighbours do not answer one at once.
const JITTER: Duration = Duration::from_millis(10);
/// A PROBE is sent to all twice: the second time after this time and another jitter.
const SECOND_PROBE: Duration = Duration::from_millis(30);
/// Time for which a display waits for answers.
const ANSWERS: Duration = Duration::from_millis(500);
/// Time for which it waits in the first search after a path was lost, since what is in its buffer does not last long.
const HURRIED_ANSWERS: Duration = Duration::from_millis(100);
/// Searches of a user who has seen nothing yet.
const SEARCHES: u8 = 3;
/// In place of the number of the search: the hurried one, before the first.
const HURRIED: u8 = 0;
/// Paths that a display tries to reserve.
const PATHS: usize = 3;
/// Time without media after which a display looks for another path though it hears the next device.
const SILENCE: Duration = Duration::from_secs(15);
/// Time without media after which a display gives up a stream that was under way, or searches less often if its user has patience. A device that is gone
/// may come back before, and a person leave a beam.
const GIVES_UP: Duration = Duration::from_secs(20);
/// Clips that a device looks for at a time because others do.
const CARRIED: usize = 8;
/// Time between two searches of a user who waits.
const PAUSE: Duration = Duration::from_secs(5);
/// Bytes of UDP payload in a measuring packet: those of a packet of media, so that both tell the same rate.
const MEASURING_PACKET: u32 = MEDIA_HEADER_LEN as u32 + PACKET;
/// Blocks of a clip that a display fetches at a time: the next ones are looked for while one comes.
const BLOCKS_AT_ONCE: usize = 3;
/// A producer's least share of the time by which it sends in an order, however much is reserved for others.
const LEAST_SHARE: f64 = 0.05;
/// Most neighbours of a device: as many as a hello can name.
const MAX_NEIGHBOURS: usize = hopcast_wire::cloud::MAX_LIST;
/// Most probes that are known.
const MAX_PROBES: usize = 1 << 14;
/// Time for which a probe is known.
const PROBE_LIFETIME: Duration = Duration::from_secs(10);

/// What the device wants from its driver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// Send this UDP datagram to a neighbour, or to all.
    Send(Datagram),
    /// Read a station dump, and pass it to [`Device::handle_station_dump`].
    Dump,
}

/// A UDP datagram for [`hopcast_wire::cloud::PORT`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Datagram {
    /// The neighbour; `None`: all of them.
    pub to: Option<Ipv4Addr>,
    /// The bytes of its message.
    pub octets: Arc<[u8]>,
    /// Bytes of the whole datagram, media and padding included.
    pub length: u32,
}

/// How a clip is stored in blocks of equal length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blocks {
    /// Number of the first block among clips and blocks; those of the others follow.
    pub first: u32,
    /// Number of blocks.
    pub count: u32,
}

/// How a request has ended, or stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The device looks for the clip or a path.
    Pending,
    /// The clip comes, or is being shown.
    Playing,
    /// All of it was shown.
    Completed,
    /// No device has answered.
    NotFound,
    /// All paths were refused; the last one for this reason.
    Refused(Refusal),
    /// The path broke, and no other one was found.
    Broken,
}

/// One request and what became of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Viewing {
    /// What was asked for.
    pub wish: Wish,
    /// When.
    pub asked: Instant,
    /// How it stands.
    pub outcome: Outcome,
    /// The device that sends it; the display itself if it stores the clip. Of blocks, the device that sent the last one that came.
    pub from: Option<Ipv4Addr>,
    /// Links of the last path that was reserved; of blocks the most.
    pub hops: u32,
    /// Media that the display buffers; of blocks at least the first one.
    pub prefetch: Duration,
    /// Probability of a stall as the profiles told it, if they could.
    pub risk: Option<f64>,
    /// Paths that were refused.
    pub refusals: u32,
    /// Searches because the path in use was lost.
    pub reroutes: u32,
    /// What became of shorter paths.
    pub paths: path::Counts,
    /// Rates that the display chose, if it did.
    pub adapted: Option<Adapted>,
    /// Longest time between two packets of media; `None` before the second one, and of blocks.
    pub gap: Option<Duration>,
    /// What the viewer saw.
    pub report: PlayerReport,
}

/// What a device has put on the air besides media. All counts are those of messages that it sends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Messages that are neither media nor padding.
    pub control_messages: u64,
    /// Their bytes of UDP payload.
    pub control_octets: u64,
    /// Bytes of UDP payload of packets that measure links.
    pub measuring_octets: u64,
    /// Media packets sent or passed on.
    pub media_packets: u64,
    /// Media packets that the sender repeated.
    pub repeated_packets: u64,
    /// Steps that the profiles have seen.
    pub steps: u64,
}

/// See the module.
#[derive(Debug)]
pub struct Device {
    me: Ipv4Addr,
    config: Config,
    clips: BTreeSet<u32>,
    /// Of clips whose rate varies, wherever they are stored.
    indices: BTreeMap<u32, Arc<Index>>,
    cache: Option<Cache>,
    /// What others look for, if this device carries.
    wanted: Option<Wanted>,
    random: Stream,
    /// The attempt before the first one of each request. A display that starts again counts its requests from 0, while other devices may still know
    /// those from before. Attempts tell them apart, except in one of 256 starts.
    first_attempt: u8,
    links: Links,
    reservations: Reservations,
    shortcuts: Option<Shortcuts>,
    senders: BTreeMap<StreamId, Sender>,
    schedule: Option<Schedule>,
    /// Time that the medium needs for a packet of each stream that begins here.
    packet_times: BTreeMap<StreamId, Duration>,
    viewings: Vec<Request>,
    /// Requests that have not ended.
    active: BTreeSet<u32>,
    /// Requests of which a block has come, or will not.
    gathering: BTreeSet<u32>,
    /// Probes that were passed on, and until when that is remembered.
    passed_on: BTreeMap<(StreamId, u8), Instant>,
    /// Messages to all that wait for their jitter.
    delayed: VecDeque<(Instant, Message)>,
    hellos: Hellos,
    /// [`Reservations::changes`] that hellos have been told of.
    known_changes: u64,
    next_measurement: Instant,
    next_dump: Instant,
    /// The neighbour that was measured last.
    measured: Ipv4Addr,
    outputs: VecDeque<Output>,
    counters: Counters,
}

/// What the device knows of its neighbours.
#[derive(Debug)]
struct Links {
    surroundings: Surroundings,
    profiles: BTreeMap<Ipv4Addr, Profile>,
}

impl Links {
    /// Whether a device can be a neighbour besides the others. Profiles of devices that are gone make room.
    fn has_room_for(&mut self, node: Ipv4Addr) -> bool {
        if self.profiles.len() >= MAX_NEIGHBOURS && !self.profiles.contains_key(&node) {
            let heard: BTreeSet<Ipv4Addr> = self.surroundings.heard().collect();
            self.profiles.retain(|node, _| heard.contains(node));
        }
        let is_full = self.profiles.len() >= MAX_NEIGHBOURS || self.surroundings.heard().count() >= MAX_NEIGHBOURS;
        !is_full || self.surroundings.heard().any(|other| other == node)
    }
}

/// What a node knows when it judges a reservation.
struct Known<'a> {
    links: &'a Links,
    clips: &'a BTreeSet<u32>,
}

impl Knowledge for Known<'_> {
    fn surroundings(&self) -> &Surroundings {
        &self.links.surroundings
    }

    fn profile(&self, neighbour: Ipv4Addr) -> Option<&Profile> {
        self.links.profiles.get(&neighbour)
    }

    fn has_clip(&self, clip: u32) -> bool {
        self.clips.contains(&clip)
    }
}

/// A request of this device's user.
#[derive(Debug)]
struct Request {
    viewing: Viewing,
    attempt: u8,
    step: Step,
    receiver: Option<Receiver>,
    /// Rates in which the clip is stored, if the display chooses among them.
    rates: Option<Arc<[u32]>>,
    /// When the last packet of media came.
    came: Option<Instant>,
    /// When it last was well: it was made, had its first path, got media, or asked for none.
    well: Instant,
    /// Its paths, if they may be shortened.
    paths: Option<Paths>,
    /// Who wants it.
    party: Party,
    /// Until when the display waits for a device that has the clip, and for a path that admits the stream.
    patient_until: Instant,
    /// What has come of a clip in blocks, until it ends.
    show: Option<Box<Show>>,
}

/// For whom a device fetches something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Party {
    /// The user, who sees it while it comes.
    User,
    /// The request with this number, of which it is a block.
    Block(u32),
    /// Others, who look for it without success.
    Others,
}

impl Party {
    fn is_user(self) -> bool {
        self == Self::User
    }
}

/// The display of a clip in blocks.
#[derive(Debug)]
struct Show {
    blocks: Blocks,
    /// Playing time of a block.
    time: Duration,
    player: Player,
    /// By block: whether it is here.
    here: Vec<bool>,
    /// Blocks that are here with all before them.
    next: usize,
    /// The first block that was not looked at yet.
    ahead: usize,
    /// Blocks that are being fetched, and the requests that do.
    fetched: Vec<(usize, u32)>,
}

#[derive(Debug)]
enum Step {
    /// Waiting for answers.
    Searching {
        until: Instant,
        searches: u8,
        answers: Vec<Vec<ProbedHop>>,
    },
    /// Waiting for a confirmation; other paths are left.
    Reserving {
        path: Vec<ProbedHop>,
        has_waited_longer: bool,
        others: VecDeque<Vec<ProbedHop>>,
    },
    /// Receiving and showing, or showing what is stored here until then.
    Playing {
        heard: Instant,
        shown: Option<Instant>,
    },
    /// No device has answered, or all paths were refused; the next search begins then.
    Waiting {
        until: Instant,
    },
    /// Fetching and showing blocks.
    Gathering,
    Ended,
}

impl Device {
    /// A device that stores these clips.
    pub fn new(me: Ipv4Addr, config: Config, clips: BTreeSet<u32>, seed: u64, now: Instant) -> Self {
        let mut random = Stream::new(seed, Purpose::Cloud, u32::from(me).into(), u64::MAX);
        let mut later = |interval: Duration| now + random.duration_below(interval);
        let (first_hello, next_measurement) = (later(hello::INTERVAL), later(config.measurement));
        let first_attempt = Stream::new(seed, Purpose::Cloud, u32::from(me).into(), u64::MAX - 1).below(256) as u8;
        Self {
            me,
            config,
            clips,
            indices: BTreeMap::new(),
            cache: config.cache.map(Cache::new),
            wanted: config.cache.and_then(|cache| cache.carry).map(|carry| Wanted::new(carry, now)),
            links: Links {
                surroundings: Surroundings::new(me, config.sensing_hops, HELLO_LIFETIME),
                profiles: BTreeMap::new(),
            },
            reservations: Reservations::new(me, config.rules, seed),
            shortcuts: config.shortening.map(|config| Shortcuts::new(config.after)),
            senders: BTreeMap::new(),
            schedule: config.schedule.map(|discipline| Schedule::new(discipline, now)),
            packet_times: BTreeMap::new(),
            viewings: Vec::new(),
            active: BTreeSet::new(),
            gathering: BTreeSet::new(),
            passed_on: BTreeMap::new(),
            delayed: VecDeque::new(),
            hellos: Hellos::new(first_hello),
            known_changes: 0,
            next_measurement: now + hello::INTERVAL * 2 + (next_measurement - now),
            next_dump: now + DUMP_INTERVAL,
            measured: me,
            outputs: VecDeque::new(),
            counters: Counters::default(),
            random,
            first_attempt,
        }
    }

    /// The rate of a clip varies. All that store it, or ask for it, are to know that before; a wish has the rate that the index reserves.
    pub fn set_index(&mut self, clip: u32, index: Arc<Index>) {
        self.indices.insert(clip, index);
    }

    /// The packets of what is wished for.
    fn layout(&self, wish: &Wish) -> Layout {
        match self.indices.get(&wish.clip) {
            Some(index) => Layout::variable(Arc::clone(index)),
            None => Layout::new(wish.rate, length(wish)),
        }
    }

    /// The user asks for a clip.
    pub fn handle_request(&mut self, wish: Wish, now: Instant) {
        let number = self.add(wish, Party::User, now);
        if self.clips.contains(&wish.clip) {
            // What is stored here is shown at once, and does not stall.
            self.use_clip(wish.clip);
            let shown = now + length(&wish);
            let request = &mut self.viewings[number as usize];
            request.viewing.from = Some(self.me);
            request.viewing.outcome = Outcome::Playing;
            request.step = Step::Playing { heard: now, shown: Some(shown) };
        } else {
            self.search(number, 1, now);
        }
    }

    /// Until `until` the user waits for a device that has what was asked for last, and for a path that admits it: as a whole or in several rates, not in blocks.
    pub fn handle_patience(&mut self, until: Instant) {
        if let Some(request) = self.viewings.iter_mut().rfind(|request| request.party.is_user()) {
            request.patient_until = until;
        }
    }

    /// The user asks for a clip that is stored in several rates: one to [`adaptation::MAX_RATES`], the lowest first. `wish` has the highest one.
    pub fn handle_adaptive_request(&mut self, wish: Wish, rates: Arc<[u32]>, now: Instant) {
        let Some(adaptation::Config { reserve, .. }) = self.config.adaptation else {
            return self.handle_request(wish, now);
        };
        let number = self.viewings.len();
        let rate = if reserve == Reserve::Lowest { rates[0] } else { wish.rate };
        self.handle_request(Wish { rate, ..wish }, now);
        self.viewings[number].rates = Some(rates);
    }

    /// The user asks for a clip that is stored in blocks. A block that no device has ends the display.
    pub fn handle_request_in_blocks(&mut self, wish: Wish, blocks: Blocks, now: Instant) {
        let number = self.add(wish, Party::User, now);
        let time = length(&wish) / u64::from(blocks.count.max(1));
        let buffer = self.config.prefetch.unwrap_or(prefetch::LEAST).min(length(&wish));
        let here: Vec<bool> = (0..blocks.count).map(|block| self.clips.contains(&(blocks.first + block))).collect();
        (blocks.first..).zip(&here).filter(|&(_, &is_here)| is_here).for_each(|(block, _)| self.use_clip(block));
        let request = &mut self.viewings[number as usize];
        request.viewing.prefetch = buffer.max(time);
        request.step = Step::Gathering;
        if here.iter().all(|&is_here| is_here) {
            request.viewing.from = Some(self.me);
        }
        let player = Player::new(PlayerConfig { start_up: buffer, resume: buffer }, now);
        request.show = Some(Box::new(Show { blocks, time, player, here, next: 0, ahead: 0, fetched: Vec::new() }));
        self.gathering.insert(number);
        self.settle(now);
    }

    /// Adds a request.
    fn add(&mut self, wish: Wish, party: Party, now: Instant) -> u32 {
        let number = self.viewings.len() as u32;
        let viewing = Viewing {
            wish,
            asked: now,
            outcome: Outcome::Pending,
            from: None,
            hops: 0,
            prefetch: Duration::ZERO,
            risk: None,
            refusals: 0,
            reroutes: 0,
            paths: path::Counts::default(),
            adapted: None,
            gap: None,
            report: PlayerReport::default(),
        };
        // What nobody watches while it comes takes a short time.
        let paths = self.config.shortening.filter(|_| party.is_user()).map(|config| Paths::new(config, now));
        self.viewings.push(Request {
            viewing,
            attempt: self.first_attempt,
            step: Step::Ended,
            receiver: None,
            rates: None,
            came: None,
            well: now,
            paths,
            party,
            patient_until: now,
            show: None,
        });
        self.active.insert(number);
        number
    }

    /// The program was killed at `now`, and starts again at `until` with these clips. It has forgotten neighbours, links and bookings, and its displays
    /// have ended without a word to others. Requests and counters stay on record, and later requests are numbered on. Nothing may be passed to it
    /// before `until`.
    pub fn handle_killed(&mut self, clips: BTreeSet<u32>, seed: u64, now: Instant, until: Instant) {
        for number in self.active.clone() {
            self.end(number, Outcome::Broken, now);
        }
        let counters = self.counters();
        let before = core::mem::replace(self, Self::new(self.me, self.config, clips, seed, until));
        (self.viewings, self.random, self.counters) = (before.viewings, before.random, counters);
        self.indices = before.indices;
    }

    /// The user has seen enough of what was asked for as the `number`-th, from 0.
    pub fn handle_stop(&mut self, number: u32, now: Instant) {
        if self.active.contains(&number) {
            self.end(number, Outcome::Broken, now);
            self.settle(now);
        }
    }

    /// The device no longer stores a clip: streams of it end.
    pub fn handle_withdrawn(&mut self, clip: u32, now: Instant) {
        self.clips.remove(&clip);
        let is_source_of = |stream: &StreamId| {
            let booking = self.reservations.booking(*stream);
            booking.is_some_and(|booking| booking.next().is_none() && booking.wish().clip == clip)
        };
        let ended: Vec<StreamId> = self.reservations.streams().filter(is_source_of).collect();
        ended.into_iter().for_each(|stream| self.reservations.handle_end(stream));
        self.settle(now);
    }

    /// Nothing is taken from this neighbour any more: what goes over it ends.
    pub fn handle_neighbour_lost(&mut self, neighbour: Ipv4Addr, now: Instant) {
        let Links { surroundings, profiles } = &mut self.links;
        profiles.remove(&neighbour);
        if surroundings.forget(neighbour) {
            self.reservations.handle_gone(|node| surroundings.hears(node));
        }
        self.settle(now);
    }

    /// A datagram has come from a neighbour, or from somebody: `octets` are the bytes of its message.
    pub fn handle_datagram(&mut self, from: Ipv4Addr, octets: &Arc<[u8]>, datagram_length: u32, now: Instant) {
        let Ok(message) = Message::parse(octets) else { return };
        self.links.surroundings.handle_heard(from, now);
        if let Some(wanted) = &mut self.wanted {
            wanted.handle_heard(from, now);
        }
        match message {
            Message::Media { stream, sequence } => {
                self.handle_media(from, stream, sequence, octets, datagram_length, now);
            }
            Message::Feedback { stream, next, limit, ref came, segment } => {
                let Some(booking) = self.reservations.booking(stream) else { return };
                if booking.previous() != Some(from) {
                    return;
                }
                match booking.next() {
                    Some(onward) => self.send(Some(onward), &message),
                    None => {
                        if let Some(sender) = self.senders.get_mut(&stream) {
                            if let Some(segment) = segment.filter(|_| self.config.adaptation.is_some()) {
                                sender.handle_segment(&segment);
                            }
                            sender.handle_feedback(next, limit, came, now);
                        }
                    }
                }
            }
            Message::Hello { heard, own, near } => {
                if !self.links.has_room_for(from) {
                    return;
                }
                let has_changed = self.links.surroundings.handle_hello(from, heard, own, near, now);
                if has_changed && self.config.sensing_hops > 1 {
                    self.tell_change(now);
                }
                if self.links.surroundings.is_neighbour(from) {
                    let Config { profile, gap, .. } = self.config;
                    self.links.profiles.entry(from).or_insert_with(|| Profile::new(profile, gap));
                }
            }
            Message::Probe { .. } => self.handle_probe(from, message, now),
            Message::Answer { stream, place, path } => self.handle_answer(stream, place, path, now),
            Message::Padding => {}
            message => {
                let known = Known { links: &self.links, clips: &self.clips };
                self.reservations.handle_message(from, message, &known, now);
            }
        }
        self.settle(now);
    }

    /// What the interface tells of its neighbours.
    pub fn handle_station_dump(&mut self, dump: impl Iterator<Item = (Ipv4Addr, LinkTotals)>, now: Instant) {
        for (neighbour, totals) in dump {
            if let Some(profile) = self.links.profiles.get_mut(&neighbour) {
                profile.handle_totals(totals, now);
            }
        }
    }

    /// The time of [`Self::poll_timeout`] has come.
    pub fn handle_timeout(&mut self, now: Instant) {
        let Links { surroundings, .. } = &mut self.links;
        if surroundings.expire(now) {
            self.reservations.handle_gone(|node| surroundings.hears(node));
        }
        if self.next_dump <= now {
            self.next_dump = now + DUMP_INTERVAL;
            self.outputs.push_back(Output::Dump);
        }
        let random = &mut self.random;
        if let Some(due) = self.hellos.poll(now, || hello::INTERVAL - JITTER + random.duration_below(JITTER * 2)) {
            let surroundings = &self.links.surroundings;
            let (heard, near) = (surroundings.heard().collect(), surroundings.near());
            let own = self.reservations.links();
            self.send(None, &Message::Hello { heard, own, near });
            self.time_packets();
            if due == Due::Regular {
                self.passed_on.retain(|_, until| *until > now);
                self.look_for_shortcuts(now);
                self.carry(now);
            }
        }
        if self.next_measurement <= now {
            self.next_measurement = now + self.config.measurement;
            self.measure(now);
        }
        while self.delayed.front().is_some_and(|(at, _)| *at <= now) {
            let (_, message) = self.delayed.pop_front().expect("there is a first one");
            self.send(None, &message);
        }
        self.reservations.handle_timeout(now);
        let active: Vec<u32> = self.active.iter().copied().collect();
        active.into_iter().for_each(|number| self.advance(number, now));
        self.settle(now);
    }

    /// The time of the next [`Self::handle_timeout`].
    pub fn poll_timeout(&self) -> Instant {
        let delayed = self.delayed.front().map(|(at, _)| *at);
        let senders = self.senders.values().filter_map(Sender::poll_timeout).min();
        let free_at = self.schedule.as_ref().map_or(Instant::START, Schedule::free_at);
        let senders = senders.map(|due| due.max(free_at));
        let active = self.active.iter().filter_map(|&number| self.viewings[number as usize].poll_timeout()).min();
        let timers = [delayed, senders, active, self.reservations.poll_timeout()];
        let own = self.hellos.poll_timeout().min(self.next_measurement).min(self.next_dump);
        timers.into_iter().flatten().fold(own, Instant::min)
    }

    /// Takes out the next output.
    pub fn poll_output(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    /// All requests of this device's user, as they stand at `now`.
    pub fn viewings(&self, now: Instant) -> impl Iterator<Item = Viewing> + '_ {
        self.viewings.iter().filter(|request| request.party.is_user()).map(move |request| request.at(now))
    }

    /// The numbers of clips and blocks that are stored here.
    pub fn clips(&self) -> impl Iterator<Item = u32> + '_ {
        self.clips.iter().copied()
    }

    /// The stream with this number, counted from 0, as it stands at `now`: a request, or what fetches a block for one.
    pub fn viewing(&self, number: u32, now: Instant) -> Option<Viewing> {
        self.viewings.get(number as usize).map(|request| request.at(now))
    }

    /// Clips that were fetched because others look for them.
    pub fn carried(&self) -> usize {
        let is_carried =
            |request: &&Request| request.party == Party::Others && request.viewing.outcome == Outcome::Completed;
        self.viewings.iter().filter(is_carried).count()
    }

    /// Share of time that is reserved around the device.
    pub fn reserved(&self) -> f64 {
        self.reservations.reserved(&self.links.surroundings, |_| false)
    }

    /// Devices that are heard, and whether they hear this one.
    pub fn neighbours(&self) -> impl Iterator<Item = (Ipv4Addr, bool)> + '_ {
        let around = &self.links.surroundings;
        around.heard().map(|node| (node, around.is_neighbour(node)))
    }

    /// What the device has put on the air.
    pub fn counters(&self) -> Counters {
        let steps = self.counters.steps + self.links.profiles.values().map(Profile::steps).sum::<u64>();
        let repeated: u64 = self.senders.values().map(|sender| sender.repeated).sum();
        Counters { steps, repeated_packets: self.counters.repeated_packets + repeated, ..self.counters }
    }

    /// The bookings of this device.
    pub fn reservations(&self) -> &Reservations {
        &self.reservations
    }

    /// What the device knows of the link to a neighbour.
    pub fn profile(&self, neighbour: Ipv4Addr) -> Option<&Profile> {
        self.links.profiles.get(&neighbour)
    }

    fn handle_media(
        &mut self,
        from: Ipv4Addr,
        stream: StreamId,
        sequence: u32,
        octets: &Arc<[u8]>,
        datagram_length: u32,
        now: Instant,
    ) {
        let Some(booking) = self.reservations.booking(stream) else {
            // The sender does not know that the path is gone.
            return self.send(Some(from), &Message::Release { stream });
        };
        if booking.next() != Some(from) {
            return;
        }
        let packets = packets_in(datagram_length).min(self.config.batch);
        if let Some(onward) = booking.previous() {
            self.counters.media_packets += u64::from(packets);
            let datagram = Datagram { to: Some(onward), octets: Arc::clone(octets), length: datagram_length };
            return self.outputs.push_back(Output::Send(datagram));
        }
        let Some(request) = self.viewings.get_mut(stream.request() as usize) else { return };
        if let (Some(receiver), Step::Playing { heard, .. }) = (&mut request.receiver, &mut request.step) {
            *heard = now;
            request.well = now;
            let gap = request.came.replace(now).map(|came| now.saturating_since(came));
            request.viewing.gap = request.viewing.gap.max(gap);
            for number in sequence..sequence.saturating_add(packets) {
                receiver.handle_packet(number, now);
                if let Some(paths) = &mut request.paths {
                    paths.handle_packet(stream.path(), now);
                }
            }
            if receiver.is_complete() {
                let wish = request.viewing.wish;
                let is_user = request.party.is_user();
                // What came in lower rates is not the clip that others ask for.
                if request.rates.is_none() {
                    self.keep(&wish);
                }
                match is_user {
                    true => self.release_paths(stream.request(), now),
                    false => self.end(stream.request(), Outcome::Completed, now),
                }
            }
        }
    }

    /// What is stored here is used.
    fn use_clip(&mut self, clip: u32) {
        if let Some(cache) = &mut self.cache {
            cache.handle_use(clip);
        }
    }

    /// Keeps a clip or block that has come whole, if there is room. What is sent or shown stays.
    fn keep(&mut self, wish: &Wish) {
        let Self { cache: Some(cache), clips, reservations, viewings, active, indices, .. } = self else { return };
        if clips.contains(&wish.clip) {
            return;
        }
        let is_sent = |clip: u32| {
            let mut bookings = reservations.streams().filter_map(|stream| reservations.booking(stream));
            bookings.any(|booking| booking.next().is_none() && booking.wish().clip == clip)
        };
        let is_shown = |clip: u32| {
            active.iter().filter_map(|&number| viewings.get(number as usize)).any(|request| match &request.show {
                Some(show) => (show.blocks.first..show.blocks.first + show.blocks.count).contains(&clip),
                None => request.receiver.is_none() && request.viewing.wish.clip == clip,
            })
        };
        let constant = u64::from(wish.rate) * u64::from(wish.length) / 8_000;
        let size = indices.get(&wish.clip).map_or(constant, |index| index.octets());
        let dropped = cache.handle_object(wish.clip, size, |clip| is_sent(clip) || is_shown(clip));
        if !dropped.contains(&wish.clip) {
            clips.insert(wish.clip);
        }
        dropped.iter().for_each(|clip| _ = clips.remove(clip));
    }

    /// A display looks for a clip.
    fn handle_probe(&mut self, from: Ipv4Addr, probe: Message, now: Instant) {
        let Message::Probe { stream, attempt, wish, mut path, is_for_others } = probe else { return };
        let is_sound = path.last().is_some_and(|hop| hop.node == from)
            && path.first().is_some_and(|hop| hop.node == stream.display)
            && path.len() <= MAX_HOPS
            && !path.iter().any(|hop| hop.node == self.me)
            && wish.rate > 0;
        let has_clip = self.clips.contains(&wish.clip);
        let is_known = self.passed_on.contains_key(&(stream, attempt));
        if !is_sound || !self.links.surroundings.is_neighbour(from) || is_known && !has_clip {
            return;
        }
        if self.passed_on.len() >= MAX_PROBES && !is_known {
            return;
        }
        self.passed_on.insert((stream, attempt), now + PROBE_LIFETIME);
        if let Some(wanted) = self.wanted.as_mut().filter(|_| !has_clip && !is_for_others) {
            wanted.handle_probe(stream, wish, now);
        }
        path.push(self.probed_hop(from, stream, &wish, path.len()));
        if has_clip {
            let place = (path.len() - 2) as u8;
            return self.send(Some(from), &Message::Answer { stream, place, path });
        }
        if path.len() <= MAX_HOPS {
            let first = now + self.random.duration_below(JITTER);
            self.send_twice(first, Message::Probe { stream, attempt, wish, path, is_for_others });
        }
    }

    /// Looks for what others look for without success, for as long as that is remembered.
    fn carry(&mut self, now: Instant) {
        let Some(wanted) = &self.wanted else { return };
        let under_way = || self.active.iter().map(|&number| &self.viewings[number as usize]);
        let is_missing = |wish: &Wish| {
            !self.clips.contains(&wish.clip) && under_way().all(|request| request.viewing.wish.clip != wish.clip)
        };
        let Some((wish, until)) = wanted.longest(is_missing, now) else { return };
        if under_way().filter(|request| request.party == Party::Others).count() < CARRIED {
            let number = self.add(wish, Party::Others, now);
            self.viewings[number as usize].patient_until = until;
            self.search(number, 1, now);
        }
    }

    /// Sends a message to all at `first`, and again later.
    fn send_twice(&mut self, first: Instant, message: Message) {
        let second = first + SECOND_PROBE + self.random.duration_below(JITTER);
        for (at, message) in [(first, message.clone()), (second, message)] {
            let place = self.delayed.partition_point(|(other, _)| *other <= at);
            self.delayed.insert(place, (at, message));
        }
    }

    /// This node on a path on which it is the `hops`-th after the display.
    fn probed_hop(&self, towards: Ipv4Addr, stream: StreamId, wish: &Wish, hops: usize) -> ProbedHop {
        let is_its = |other: StreamId| other.is_same_request(stream);
        let reserved = self.reservations.reserved(&self.links.surroundings, is_its);
        let free = (self.config.rules.max_airtime - reserved).max(0.0);
        let profile = self.links.profiles.get(&towards);
        let rate = profile.and_then(|profile| profile.mean(Horizon::Second)).unwrap_or_default();
        let length = f64::from(wish.length) / 1e3;
        let policy = self.config.rules.policy;
        let prefetch = if policy.limits_stalls() && self.config.prefetch.is_none() {
            let share = if policy == Policy::Profile { 1.0 } else { (1.0 - reserved).max(0.0) };
            let pace = self.config.rules.pace;
            let load = Load { rate: f64::from(wish.rate) * EXPANSION, length, share, pace };
            let outlook = profile.and_then(|profile| self.reservations.outlook(profile, stream, &load));
            let tolerated = tolerated(self.config.rules.stalls_per_hour, length) / hops as f64;
            outlook.and_then(|outlook| prefetch::least(&outlook, tolerated)).unwrap_or(prefetch::MOST)
        } else {
            prefetch::LEAST
        };
        // Float to integer casts saturate.
        ProbedHop { node: self.me, rate: rate as u32, prefetch: millis(prefetch), free: units(free) }
    }

    /// Tells displays of links that would make the paths through this device shorter.
    fn look_for_shortcuts(&mut self, now: Instant) {
        let (Some(config), Some(shortcuts)) = (&self.config.shortening, &mut self.shortcuts) else { return };
        let reservations = &self.reservations;
        shortcuts.retain(|stream| reservations.booking(stream).is_some());
        let mut found = Vec::new();
        for stream in reservations.streams() {
            let Some(booking) = reservations.booking(stream).filter(|booking| booking.is_firm()) else { continue };
            let rate = booking.wish().rate;
            let mut nearest = None;
            for place in 0..booking.place().saturating_sub(1) {
                let node = booking.path()[place].node;
                let profile = self.links.profiles.get(&node).filter(|_| self.links.surroundings.is_neighbour(node));
                let is_fast = profile.is_some_and(|profile| path::is_fast(config, profile, rate));
                let is_due = shortcuts.handle_link(stream, place, is_fast, now);
                nearest = nearest.or(is_due.then_some(place));
            }
            if let Some(place) = nearest {
                found.push((stream, place));
            }
        }
        for (stream, place) in found {
            let Some(booking) = self.reservations.booking(stream) else { continue };
            let (wish, own) = (booking.wish(), booking.place());
            let known = |hop: &PlannedHop| {
                // A float to integer cast saturates, also of what airtime zero gives.
                let rate = f64::from(wish.rate) * EXPANSION / share(hop.airtime);
                let rate = if hop.airtime == 0 { 0 } else { rate as u32 };
                ProbedHop { node: hop.node, rate, prefetch: millis(prefetch::LEAST), free: 0 }
            };
            let nearer: Vec<ProbedHop> = booking.path()[..=place].iter().map(known).collect();
            let farther: Vec<ProbedHop> = booking.path()[own + 1..].iter().map(known).collect();
            let towards = nearer[place].node;
            let here = self.probed_hop(towards, stream, &wish, place + 1);
            let path = [nearer, vec![here], farther].concat();
            self.send(Some(towards), &Message::Answer { stream, place: place as u8, path });
        }
    }

    /// A device that has the clip tells the path to it, or a member of a path a shorter one.
    fn handle_answer(&mut self, stream: StreamId, place: u8, path: Vec<ProbedHop>, now: Instant) {
        let place = usize::from(place);
        if path.get(place).is_none_or(|hop| hop.node != self.me) || !(2..=MAX_HOPS + 1).contains(&path.len()) {
            return;
        }
        if let Some(before) = place.checked_sub(1) {
            let to = path[before].node;
            return self.send(Some(to), &Message::Answer { stream, place: before as u8, path });
        }
        let Some(request) = self.viewings.get_mut(stream.request() as usize) else { return };
        if stream.display != self.me {
            return;
        }
        match &mut request.step {
            Step::Searching { answers, .. } if !answers.contains(&path) => answers.push(path),
            Step::Playing { .. } => self.handle_shortcut(stream.request(), path, now),
            _ => {}
        }
    }

    /// A path that leaves out members of the one in use: it is reserved before that is left.
    fn handle_shortcut(&mut self, number: u32, path: Vec<ProbedHop>, now: Instant) {
        let used = self.stream(number);
        let Some(booking) = self.reservations.booking(used) else { return };
        let mut members = booking.path().iter().map(|hop| hop.node);
        let is_part = path.iter().all(|hop| members.any(|node| node == hop.node)) && members.next().is_none();
        let request = &mut self.viewings[number as usize];
        let Some(paths) = request.paths.as_mut().filter(|_| is_part && path.len() <= booking.hops()) else { return };
        let Some(tried) = paths.handle_offer(now) else { return };
        let planned = self.planned(number, &path);
        let request = &mut self.viewings[number as usize];
        request.attempt = request.attempt.wrapping_add(1);
        let (attempt, wish, prefetch) = (request.attempt, request.viewing.wish, millis(request.viewing.prefetch));
        let plan = Plan { stream: used.on_path(tried), attempt, wish, prefetch, path: planned };
        let known = Known { links: &self.links, clips: &self.clips };
        self.reservations.handle_plan(plan, &known, now);
    }

    /// Does what a request's paths want.
    fn settle_paths(&mut self, number: u32, now: Instant) {
        loop {
            let used = self.stream(number);
            let Some(request) = self.viewings.get_mut(number as usize) else { return };
            let Some(output) = request.paths.as_mut().and_then(Paths::poll_output) else { return };
            match output {
                path::Output::Release(path) => self.reservations.handle_end(used.on_path(path)),
                path::Output::Switch => {
                    let (Some(booking), Some(receiver)) = (self.reservations.booking(used), &mut request.receiver)
                    else {
                        continue;
                    };
                    request.viewing.hops = booking.hops() as u32;
                    receiver.hurry(now);
                    let Feedback { next, limit, came, segment } = receiver.stop();
                    let idle = request.paths.as_ref().and_then(Paths::idle).map(|path| used.on_path(path));
                    if let Some(stream) = idle {
                        let onward = self.reservations.booking(stream).and_then(reservation::Booking::next);
                        self.send(onward, &Message::Feedback { stream, next, limit, came, segment });
                    }
                }
                path::Output::Search => {
                    self.replace_path(number, now);
                }
            }
        }
    }

    /// Takes back all that is reserved for a request.
    fn release_paths(&mut self, number: u32, now: Instant) {
        let used = self.stream(number);
        let paths = self.viewings.get_mut(number as usize).and_then(|request| request.paths.as_mut());
        let all: Vec<u8> = paths.as_ref().map_or_else(|| vec![used.path()], |paths| paths.all().collect());
        if let Some(paths) = paths {
            paths.handle_lost(now);
        }
        all.into_iter().for_each(|path| self.reservations.handle_end(used.on_path(path)));
    }

    /// Asks all neighbours for the clip of a request.
    fn search(&mut self, number: u32, searches: u8, now: Instant) {
        let request = &mut self.viewings[number as usize];
        request.attempt = request.attempt.wrapping_add(1);
        let until = now + if searches == HURRIED { HURRIED_ANSWERS } else { ANSWERS };
        request.step = Step::Searching { until, searches, answers: Vec::new() };
        let (attempt, wish, is_for_others) = (request.attempt, request.viewing.wish, request.party == Party::Others);
        let path = vec![ProbedHop { node: self.me, rate: 0, prefetch: 0, free: 0 }];
        let message = Message::Probe { stream: self.stream(number), attempt, wish, path, is_for_others };
        let first = now + self.random.duration_below(JITTER);
        self.send_twice(first, message);
    }

    /// What is due for a request.
    fn advance(&mut self, number: u32, now: Instant) {
        let request = &mut self.viewings[number as usize];
        match &mut request.step {
            Step::Searching { until, searches, answers } if *until <= now => {
                let (searches, mut answers) = (*searches, core::mem::take(answers));
                if answers.is_empty() {
                    return if request.receiver.is_some() {
                        self.search_again(number, 1, now);
                    } else if searches < SEARCHES {
                        self.search(number, searches + 1, now);
                    } else {
                        self.wait_or_end(number, Outcome::NotFound, now);
                    };
                }
                let slowest = |path: &[ProbedHop]| path[1..].iter().map(|hop| hop.rate).min();
                answers.sort_by_key(|path| (path.len(), core::cmp::Reverse(slowest(path))));
                answers.truncate(PATHS);
                self.reserve(number, answers.into(), now);
            }
            Step::Waiting { until } if *until <= now => self.search(number, 1, now),
            Step::Playing { shown: Some(shown), .. } if *shown <= now => {
                self.end(number, Outcome::Completed, now);
            }
            Step::Playing { heard, shown: None } => {
                let Some(receiver) = &mut request.receiver else { return };
                receiver.handle_timeout(now);
                // An adaptive display with a full buffer asks for nothing.
                if !receiver.is_waiting() {
                    *heard = now;
                    request.well = now;
                }
                let is_silent = *heard + SILENCE <= now;
                if receiver.is_finished() {
                    return self.end(number, Outcome::Completed, now);
                }
                if is_silent && !receiver.is_complete() {
                    return self.handle_lost_path(number, now);
                }
                if let Some(paths) = request.paths.as_mut().filter(|_| !receiver.is_complete()) {
                    if paths.poll_timeout().is_some_and(|due| due <= now) {
                        paths.handle_timeout(now);
                    }
                    paths.handle_level(receiver.buffered(now), request.viewing.prefetch, now);
                    self.settle_paths(number, now);
                }
                self.send_feedback(number, now);
            }
            Step::Gathering => {
                let Some(show) = &mut request.show else { return };
                if show.player.poll_timeout().is_some_and(|due| due <= now) {
                    show.player.handle_timeout(now);
                }
                if show.player.is_finished() {
                    self.end(number, Outcome::Completed, now);
                }
            }
            Step::Searching { .. }
            | Step::Waiting { .. }
            | Step::Reserving { .. }
            | Step::Playing { .. }
            | Step::Ended => {}
        }
    }

    /// Sends the feedback that is due for a request, if media come for it.
    fn send_feedback(&mut self, number: u32, now: Instant) {
        let used = self.stream(number);
        let request = &mut self.viewings[number as usize];
        let (Some(receiver), Step::Playing { .. }) = (&mut request.receiver, &request.step) else { return };
        let Some(Feedback { next, limit, came, segment }) = receiver.poll_feedback(now) else { return };
        let spare = request.paths.as_ref().and_then(Paths::spare);
        let spare = spare.map(|path| (used.on_path(path), receiver.limit_at_half(now)));
        for (stream, limit) in [Some((used, limit)), spare].into_iter().flatten() {
            let onward = self.reservations.booking(stream).and_then(reservation::Booking::next);
            if onward.is_some() {
                self.send(onward, &Message::Feedback { stream, next, limit, came: came.clone(), segment });
            }
        }
    }

    /// Shows what has come of a clip in blocks, and fetches the next ones.
    fn gather(&mut self, number: u32, now: Instant) {
        let request = &mut self.viewings[number as usize];
        let (Step::Gathering, Some(mut show)) = (&request.step, request.show.take()) else { return };
        let wish = request.viewing.wish;
        let mut failed = None;
        for (place, fetching) in core::mem::take(&mut show.fetched) {
            let block = self.viewings[fetching as usize].viewing;
            let whole = &mut self.viewings[number as usize].viewing;
            match block.outcome {
                Outcome::Pending | Outcome::Playing => {
                    show.fetched.push((place, fetching));
                    continue;
                }
                Outcome::Completed => {
                    show.here[place] = true;
                    (whole.from, whole.hops) = (block.from, whole.hops.max(block.hops));
                }
                outcome => failed = Some(outcome),
            }
            whole.refusals += block.refusals;
            whole.reroutes += block.reroutes;
        }
        while show.here.get(show.next).is_some_and(|&is_here| is_here) {
            show.next += 1;
        }
        if show.next > 0 {
            self.viewings[number as usize].viewing.outcome = Outcome::Playing;
            show.player.handle_media(show.time * show.next as u64, now);
        }
        if show.next == show.here.len() {
            show.player.handle_end(now);
        }
        while failed.is_none() && show.fetched.len() < BLOCKS_AT_ONCE && show.ahead < show.here.len() {
            let place = show.ahead;
            show.ahead += 1;
            if !show.here[place] {
                let clip = show.blocks.first + place as u32;
                let block = self.add(Wish { clip, length: millis(show.time), ..wish }, Party::Block(number), now);
                show.fetched.push((place, block));
                self.search(block, 1, now);
            }
        }
        self.viewings[number as usize].show = Some(show);
        if let Some(outcome) = failed {
            self.end(number, outcome, now);
        }
    }

    /// Tries the first of these paths.
    fn reserve(&mut self, number: u32, mut paths: VecDeque<Vec<ProbedHop>>, now: Instant) {
        let Some(path) = paths.pop_front() else { return };
        let request = &self.viewings[number as usize];
        // A block is shown once all of it has come, and others get a clip only then.
        let whole = (!request.party.is_user()).then(|| length(&request.viewing.wish));
        let prefetch = whole.or(self.config.prefetch).unwrap_or_else(|| {
            let most = path.iter().map(|hop| hop.prefetch).max().unwrap_or_default();
            // A tenth more: the profiles change until they are asked again.
            let most = Duration::from_millis(u64::from(most) * 11 / 10);
            if most <= prefetch::LEAST * 11 / 10 { prefetch::LEAST } else { most.min(prefetch::MOST) }
        });
        // The buffer of a stream that is under way does not shrink.
        let buffered = request.receiver.as_ref().map_or(Duration::ZERO, |_| request.viewing.prefetch);
        self.plan(number, path, prefetch.max(buffered), false, paths, now);
    }

    fn plan(
        &mut self,
        number: u32,
        path: Vec<ProbedHop>,
        prefetch: Duration,
        has_waited_longer: bool,
        others: VecDeque<Vec<ProbedHop>>,
        now: Instant,
    ) {
        let stream = self.stream(number);
        let planned = self.planned(number, &path);
        let request = &mut self.viewings[number as usize];
        request.attempt = request.attempt.wrapping_add(1);
        request.viewing.prefetch = prefetch;
        let (attempt, wish) = (request.attempt, request.viewing.wish);
        request.step = Step::Reserving { path, has_waited_longer, others };
        let plan = Plan { stream, attempt, wish, prefetch: millis(prefetch), path: planned };
        let known = Known { links: &self.links, clips: &self.clips };
        self.reservations.handle_plan(plan, &known, now);
    }

    /// A path as a request would reserve it.
    fn planned(&self, number: u32, path: &[ProbedHop]) -> Vec<PlannedHop> {
        let Rules { policy, nominal_rate, .. } = self.config.rules;
        let rate = f64::from(self.viewings[number as usize].viewing.wish.rate);
        let airtime = |(place, hop): (usize, &ProbedHop)| {
            let link_rate = if policy == Policy::Hops { nominal_rate } else { f64::from(hop.rate) / EXPANSION };
            let share = if place == 0 { 0.0 } else { rate / link_rate.max(1.0) };
            PlannedHop { node: hop.node, airtime: units(share) }
        };
        path.iter().enumerate().map(airtime).collect()
    }

    /// Acts on what the reservations report, and sends the media that are due.
    fn settle(&mut self, now: Instant) {
        self.settle_reservations(now);
        while let Some(number) = self.gathering.pop_first() {
            self.gather(number, now);
            self.settle_reservations(now);
        }
        if self.known_changes != self.reservations.changes() {
            self.known_changes = self.reservations.changes();
            self.tell_change(now);
        }
        self.send_media(now);
    }

    /// Other reservations than before are known. Unless streams are judged by them, there is no hurry to tell.
    fn tell_change(&mut self, now: Instant) {
        if self.config.rules.policy.counts_reserved() {
            self.hellos.handle_change(now, self.random.duration_below(JITTER));
        }
    }

    fn settle_reservations(&mut self, now: Instant) {
        let mut has_changed = false;
        while let Some(output) = self.reservations.poll_output() {
            has_changed = true;
            match output {
                reservation::Output::Send { to, message } => self.send(Some(to), &message),
                reservation::Output::Granted { stream, wish } => {
                    let layout = self.layout(&wish);
                    self.remove_sender(stream);
                    let booking = self.reservations.booking(stream);
                    let prefetch = booking.map_or(Duration::ZERO, reservation::Booking::prefetch);
                    if let Some(cache) = &mut self.cache {
                        cache.handle_use(wish.clip);
                    }
                    let sender =
                        Sender::new(layout, self.config.rules.pace, prefetch, now).with_slack(self.config.slack);
                    self.senders.insert(stream, sender);
                    self.time_packets();
                }
                reservation::Output::Confirmed { stream, risk } => self.handle_confirmed(stream, risk, now),
                reservation::Output::Refused { stream, reason, fits, .. } => {
                    self.handle_refused(stream, reason, fits, now);
                }
                reservation::Output::Ended { stream } => {
                    self.remove_sender(stream);
                    if stream.display == self.me && !self.handle_ended_path(stream, now) {
                        self.handle_lost_path(stream.request(), now);
                    }
                }
            }
        }
        // No booking of a source is taken out in silence.
        if has_changed {
            self.drop_orphans();
        }
    }

    /// Stops what is no longer booked.
    fn drop_orphans(&mut self) {
        let reservations = &self.reservations;
        let orphan = |stream: &StreamId| reservations.booking(*stream).is_none();
        while let Some(stream) = self.senders.keys().copied().find(orphan) {
            if let Some(sender) = self.senders.remove(&stream) {
                self.counters.repeated_packets += sender.repeated;
            }
        }
    }

    fn remove_sender(&mut self, stream: StreamId) {
        if let Some(sender) = self.senders.remove(&stream) {
            self.counters.repeated_packets += sender.repeated;
        }
    }

    fn send_media(&mut self, now: Instant) {
        if self.schedule.is_some() {
            return self.send_by_schedule(now);
        }
        let Self { config, senders, reservations, outputs, counters, .. } = self;
        for (&stream, sender) in senders {
            let Some(to) = reservations.booking(stream).and_then(reservation::Booking::previous) else { continue };
            while let Some(batch) = sender.poll_batch(config.batch, now) {
                counters.media_packets += batch.len() as u64;
                outputs.push_back(Output::Send(media(to, stream, batch)));
            }
        }
    }

    /// Whether what has ended, or was refused, is one of several paths of a stream that is under way.
    fn handle_ended_path(&mut self, stream: StreamId, now: Instant) -> bool {
        let Some(request) = self.viewings.get_mut(stream.request() as usize) else { return false };
        let Step::Playing { .. } = request.step else { return false };
        let is_one = request.paths.as_mut().is_some_and(|paths| paths.handle_ended(stream.path(), now));
        self.settle_paths(stream.request(), now);
        is_one
    }

    /// Sends packets as long as the medium is free.
    fn send_by_schedule(&mut self, now: Instant) {
        loop {
            let Self { config, senders, reservations, outputs, counters, packet_times, .. } = self;
            let Some(schedule) = &mut self.schedule else { return };
            let towards = |stream| reservations.booking(stream).and_then(reservation::Booking::previous);
            let candidates = senders.iter().filter(|&(&stream, _)| towards(stream).is_some());
            let candidates = candidates.filter_map(|(&stream, sender)| {
                let Head { ready, deadline, hiccup } = sender.head(now)?;
                Some(Candidate { stream, ready, deadline, hiccup })
            });
            let Some(stream) = schedule.pick(candidates, now) else { return };
            let batch = senders.get_mut(&stream).and_then(|sender| sender.poll_batch(config.batch, now));
            let (Some(to), Some(batch)) = (towards(stream), batch) else { return };
            let time = packet_times.get(&stream).copied().unwrap_or(Duration::ZERO);
            schedule.handle_sent(stream, time * batch.len() as u64, now);
            counters.media_packets += batch.len() as u64;
            outputs.push_back(Output::Send(media(to, stream, batch)));
        }
    }

    /// How long the medium is busy with a packet of each stream that begins here: on all links of its path that are sensed, while streams
    /// of others take their share.
    fn time_packets(&mut self) {
        if self.schedule.is_none() {
            return;
        }
        let around = &self.links.surroundings;
        let foreign = self.reservations.reserved(around, |stream| self.senders.contains_key(&stream));
        let left = (1.0 - foreign).max(LEAST_SHARE);
        let time = |&stream: &StreamId| {
            let booking = self.reservations.booking(stream)?;
            let taken: f64 = around.sensed(booking.path()).map(|(_, airtime)| share(airtime)).sum();
            let media = Layout::new(booking.wish().rate, length(&booking.wish())).time;
            Some((stream, Duration::from_secs_f64(media.as_secs_f64() * taken / left)))
        };
        self.packet_times = self.senders.keys().filter_map(time).collect();
    }

    fn handle_confirmed(&mut self, stream: StreamId, risk: Option<f64>, now: Instant) {
        let Some(request) = self.viewings.get_mut(stream.request() as usize) else { return };
        if let (Step::Playing { .. }, Some(paths)) = (&request.step, &mut request.paths) {
            paths.handle_confirmed(stream.path(), now);
            self.settle_paths(stream.request(), now);
            return self.advance(stream.request(), now);
        }
        let Step::Reserving { path, .. } = &request.step else { return };
        let (hops, from) = (path.len() - 1, path.last().map(|hop| hop.node));
        let viewing = &mut request.viewing;
        (viewing.hops, viewing.from, viewing.risk) = (hops as u32, from, risk);
        viewing.outcome = Outcome::Playing;
        let Viewing { wish, prefetch, asked, .. } = *viewing;
        let layout = self.layout(&wish);
        let request = &mut self.viewings[stream.request() as usize];
        let adapter = self.config.adaptation.zip(request.rates.clone());
        let adapter = adapter.map(|(config, rates)| Adapter::new(config, rates, wish.length));
        match &mut request.receiver {
            Some(receiver) => receiver.widen(prefetch),
            none => {
                request.well = now;
                *none = Some(match adapter {
                    Some(adapter) => Receiver::adaptive(adapter, length(&wish), prefetch, asked, now),
                    None => Receiver::new(layout, prefetch, asked, now),
                });
            }
        }
        if let Some(paths) = &mut request.paths {
            paths.handle_start(now);
        }
        request.step = Step::Playing { heard: now, shown: None };
        self.advance(stream.request(), now);
    }

    fn handle_refused(&mut self, stream: StreamId, reason: Refusal, fits: u32, now: Instant) {
        let number = stream.request();
        if self.handle_ended_path(stream, now) {
            return;
        }
        let Some(request) = self.viewings.get_mut(number as usize) else { return };
        // A stream that is under way had better go on with a larger buffer than not at all.
        let is_adaptive = (self.config.prefetch.is_none() || request.receiver.is_some()) && request.party.is_user();
        let Step::Reserving { path, has_waited_longer, others } = &mut request.step else { return };
        let (path, others) = (core::mem::take(path), core::mem::take(others));
        let longer = Duration::from_millis(u64::from(fits) * 11 / 10).min(prefetch::MOST);
        let may_wait = is_adaptive && !*has_waited_longer && reason == Refusal::Risk && fits > 0;
        if may_wait && longer > request.viewing.prefetch {
            return self.plan(number, path, longer, true, others, now);
        }
        request.viewing.refusals += 1;
        if !others.is_empty() {
            self.reserve(number, others, now);
        } else if request.receiver.is_some() {
            self.release_paths(number, now);
            self.search_again(number, 1, now);
        } else {
            self.wait_or_end(number, Outcome::Refused(reason), now);
        }
    }

    /// The path of a stream that is under way is gone: the display looks for another one.
    fn handle_lost_path(&mut self, number: u32, now: Instant) {
        let Some(request) = self.viewings.get_mut(number as usize) else { return };
        let Step::Playing { shown: None, .. } = request.step else { return };
        if request.receiver.as_ref().is_some_and(Receiver::is_complete) {
            return;
        }
        self.replace_path(number, now);
    }

    /// Looks for another path in place of those that a stream under way has.
    fn replace_path(&mut self, number: u32, now: Instant) {
        self.release_paths(number, now);
        self.viewings[number as usize].viewing.reroutes += 1;
        self.search_again(number, HURRIED, now);
    }

    /// A display without a path looks for one, or gives up.
    fn search_again(&mut self, number: u32, searches: u8, now: Instant) {
        if now < self.viewings[number as usize].well + GIVES_UP {
            self.search(number, searches, now);
        } else {
            self.wait_or_end(number, Outcome::Broken, now);
        }
    }

    /// If the user has patience left, the request waits for its next search. If not, it ends with `outcome`.
    fn wait_or_end(&mut self, number: u32, outcome: Outcome, now: Instant) {
        let request = &mut self.viewings[number as usize];
        if now < request.patient_until {
            request.step = Step::Waiting { until: now + PAUSE };
        } else {
            self.end(number, outcome, now);
        }
    }

    fn end(&mut self, number: u32, outcome: Outcome, now: Instant) {
        self.release_paths(number, now);
        let request = &mut self.viewings[number as usize];
        request.viewing = Viewing { outcome, ..request.at(now) };
        request.step = Step::Ended;
        let show = request.show.take();
        if let Party::Block(whole) = request.party {
            self.gathering.insert(whole);
        }
        self.active.remove(&number);
        for (_, block) in show.into_iter().flat_map(|show| show.fetched) {
            self.end(block, Outcome::Broken, now);
        }
    }

    /// Sends two packets to the next neighbour in turn, unless others were sent to it since the last measurement.
    fn measure(&mut self, now: Instant) {
        let neighbours: Vec<Ipv4Addr> = self.links.surroundings.neighbours().collect();
        let is_stale = |node: &&Ipv4Addr| {
            let profile = self.links.profiles.get(node);
            profile.and_then(|profile| profile.age(now)).is_none_or(|age| age >= self.config.measurement)
        };
        let after = neighbours.iter().filter(|&&node| node > self.measured);
        let before = neighbours.iter().filter(|&&node| node <= self.measured);
        let Some(&next) = after.chain(before).find(is_stale) else { return };
        self.measured = next;
        let octets: Arc<[u8]> = Message::Padding.emit().into();
        for _ in 0..2 {
            self.counters.measuring_octets += u64::from(MEASURING_PACKET);
            let datagram = Datagram { to: Some(next), octets: Arc::clone(&octets), length: MEASURING_PACKET };
            self.outputs.push_back(Output::Send(datagram));
        }
    }

    fn send(&mut self, to: Option<Ipv4Addr>, message: &Message) {
        let octets: Arc<[u8]> = message.emit().into();
        let length = octets.len() as u32;
        self.counters.control_messages += 1;
        self.counters.control_octets += u64::from(length);
        self.outputs.push_back(Output::Send(Datagram { to, octets, length }));
    }

    /// The stream of a request over the path that is in use.
    fn stream(&self, number: u32) -> StreamId {
        let paths = self.viewings.get(number as usize).and_then(|request| request.paths.as_ref());
        StreamId { display: self.me, number }.on_path(paths.map_or(0, Paths::used))
    }
}

impl Request {
    fn at(&self, now: Instant) -> Viewing {
        let paths = self.paths.as_ref().map_or_else(path::Counts::default, |paths| paths.counts(now));
        if let Some(show) = &self.show {
            return Viewing { report: show.player.report(now), ..self.viewing };
        }
        let adapted = self.receiver.as_ref().and_then(Receiver::adapted);
        let report = match (&self.receiver, &self.step) {
            (Some(receiver), step) if !matches!(step, Step::Ended) => receiver.report(now),
            (None, &Step::Playing { shown: Some(_), .. }) => local_report(&self.viewing, now),
            _ => self.viewing.report,
        };
        Viewing { report, paths, adapted, ..self.viewing }
    }

    fn poll_timeout(&self) -> Option<Instant> {
        match &self.step {
            Step::Searching { until, .. } | Step::Waiting { until } => Some(*until),
            Step::Playing { shown: Some(shown), .. } => Some(*shown),
            Step::Playing { heard, shown: None } => {
                let receiver = self.receiver.as_ref()?;
                let silence = (!receiver.is_complete()).then_some(*heard + SILENCE);
                let paths = self.paths.as_ref().filter(|_| !receiver.is_complete()).and_then(Paths::poll_timeout);
                receiver.poll_timeout().into_iter().chain(silence).chain(paths).min()
            }
            Step::Gathering => self.show.as_ref()?.player.poll_timeout(),
            Step::Reserving { .. } | Step::Ended => None,
        }
    }
}

/// What the viewer of a clip that is stored here has seen.
fn local_report(viewing: &Viewing, now: Instant) -> PlayerReport {
    let played = now.saturating_since(viewing.asked).min(length(&viewing.wish));
    PlayerReport { start_up_delay: Some(Duration::ZERO), played, ..PlayerReport::default() }
}

/// A datagram with these packets.
fn media(to: Ipv4Addr, stream: StreamId, packets: Range<u32>) -> Datagram {
    let octets = Message::Media { stream, sequence: packets.start }.emit().into();
    let length = MEDIA_HEADER_LEN as u32 + PACKET * packets.len() as u32;
    Datagram { to: Some(to), octets, length }
}

fn length(wish: &Wish) -> Duration {
    Duration::from_millis(wish.length.into())
}

/// Whole milliseconds; those of messages go up to 49 days.
fn millis(duration: Duration) -> u32 {
    u32::try_from(duration.as_nanos() / 1_000_000).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
