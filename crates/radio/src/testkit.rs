//! Two stations that aggregate, on a link of no length whose frames and MPDUs get lost as a test says.

use std::collections::VecDeque;
use std::ops::Range;
use std::rc::Rc;

use hopcast_protocols::random::{Purpose, Stream};
use hopcast_protocols::testkit::Choices;
use hopcast_protocols::time::{Duration, Instant};
use hopcast_wire::ieee80211::management::{Agreement, BlockAckAction, Reason, Repr, Status};

use crate::aggregate::{Body, MpduSet};
use crate::frame::{Header, Payload, StationId, UserPriority};
use crate::mac::edca::{EdcaParameters, Edition};
use crate::mac::{Aggregation, Agreements, Bandwidth, Config, Dcf, DropCause, Output};
use crate::phy::{Capability, ChannelWidth, Shape, Standard};
use crate::reception::IdleWidths;

/// The stations.
pub const STATIONS: [StationId; 2] = [StationId(0), StationId(1)];

/// A packet by its number, or the body of an action frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Its number among those of its station.
    pub id: u32,
    /// Its length.
    pub octets: u32,
    /// Its user priority.
    pub priority: UserPriority,
    /// It is the body of this action frame.
    pub action: Option<BlockAckAction>,
}

impl Payload for Packet {
    fn octets(&self) -> u32 {
        self.octets
    }

    fn is_management(&self) -> bool {
        self.action.is_some()
    }

    fn block_ack_action(&self) -> Option<&BlockAckAction> {
        self.action.as_ref()
    }

    fn priority(&self) -> UserPriority {
        self.priority
    }
}

impl From<BlockAckAction> for Packet {
    fn from(action: BlockAckAction) -> Self {
        let octets = Repr::BlockAck(action).buffer_len() as u32;
        Self { id: 0, octets, priority: UserPriority::NETWORK_CONTROL, action: Some(action) }
    }
}

/// What of a frame gets lost.
#[derive(Clone, Debug, Default)]
pub struct Loss {
    /// Its MPDUs at these places.
    pub places: Vec<usize>,
    /// All of it.
    pub whole: bool,
}

/// A frame that was on the air.
#[derive(Clone, Debug)]
pub struct Sent {
    /// When it began.
    pub at: Instant,
    /// Its header.
    pub frame: Header,
    /// The numbers of its MPDUs.
    pub mpdus: Vec<u32>,
    /// The action frame that it is.
    pub action: Option<BlockAckAction>,
}

/// What has become of the packets of one station.
#[derive(Clone, Debug, Default)]
pub struct Fates {
    /// Those that the other one has delivered, in order, with their priorities.
    pub delivered: Vec<(UserPriority, u32)>,
    /// Those that came there too late.
    pub late: Vec<u32>,
    /// Those that the station is done with, and why it gave them up.
    pub outcomes: Vec<(u32, Option<DropCause>)>,
    /// Number of packets that were offered.
    pub offered: u32,
}

/// See the module.
pub struct Pair {
    /// The stations.
    pub stations: [Dcf<Packet>; 2],
    /// What befalls the next frames; those after them arrive.
    pub losses: VecDeque<Loss>,
    /// Whether a frame gets lost whatever `losses` has.
    pub loses: fn(&Sent) -> bool,
    /// All frames so far.
    pub sent: Vec<Sent>,
    /// By station.
    pub fates: [Fates; 2],
    /// The time.
    pub now: Instant,
    on_air: [Option<OnAir>; 2],
}

#[derive(Clone, Copy, Debug)]
struct OnAir {
    start: Instant,
    end: Instant,
    /// Whether the other station has been told.
    is_sensed: bool,
    /// The other station has sent at the same time.
    collides: bool,
}

/// 802.11n at MCS 7 in 20 MHz: 65 Mb/s. SIFS 16, AIFS of best effort 43, block acknowledgment at 24 Mb/s 32 µs, ACK 28 µs.
///
/// # Panics
/// Never.
pub fn config(change: impl FnOnce(&mut Aggregation)) -> Config {
    let phy = Standard::Ht.phy(false);
    let mut aggregation = Aggregation::of(Standard::Ht);
    change(&mut aggregation);
    let mcs_7 = Shape::of(Standard::Ht).vector(Standard::Ht, 7).expect("a scheme of HT");
    Config {
        edca: Some(EdcaParameters::all_defaults(&phy, Edition::Ieee2012)),
        aggregation: Some(aggregation),
        queue_packets: 1_000,
        ..Config::new(phy, mcs_7)
    }
}

impl Pair {
    /// Two stations with these settings.
    pub fn new(configs: [&Config; 2]) -> Self {
        let station = |id: StationId| {
            let config = configs[id.0 as usize].clone();
            Dcf::new(id, config, Stream::new(1, Purpose::Backoff, u64::from(id.0), 0))
        };
        Self {
            stations: STATIONS.map(station),
            losses: VecDeque::new(),
            loses: |_| false,
            sent: Vec::new(),
            fates: Default::default(),
            now: Instant::START,
            on_air: [None; 2],
        }
    }

    /// Gives a station packets of 1500 bytes for the other one.
    pub fn offer(&mut self, from: usize, ids: Range<u32>, priority: u8) {
        for id in ids {
            let priority = UserPriority::new(priority);
            self.give(from, Packet { id, octets: 1_500, priority, action: None });
        }
    }

    /// Gives a station a packet for the other one.
    pub fn give(&mut self, from: usize, packet: Packet) {
        self.fates[from].offered += u32::from(packet.action.is_none());
        self.stations[from].handle_packet(Some(STATIONS[1 - from]), packet, self.now);
        self.collect(from);
        self.begin_frames();
    }

    /// At a station the association with the other one ends.
    pub fn leave(&mut self, station: usize) {
        self.stations[station].handle_left(STATIONS[1 - station]);
        self.collect(station);
        self.begin_frames();
    }

    /// Runs until then.
    ///
    /// # Panics
    /// If a station's timer is in the past.
    pub fn run(&mut self, end: Instant) {
        loop {
            let timers = [0, 1].map(|station: usize| self.stations[station].poll_timeout());
            let ends = self.on_air.map(|on_air| on_air.map(|on_air| on_air.end));
            let next = timers.into_iter().chain(ends).flatten().min().filter(|&next| next <= end);
            let Some(next) = next else { break };
            assert!(next >= self.now, "time runs forward");
            self.now = next;
            // A frame's end comes before what stations do then.
            if let Some(from) = ends.iter().position(|&end| end == Some(next)) {
                self.end_frame(from);
                continue;
            }
            // What is due at once begins at once: no station hears the other one before.
            let due = timers.map(|timer| timer == Some(next));
            for station in (0..2).filter(|&station| due[station]) {
                let other = self.on_air[1 - station].filter(|on_air| on_air.start < next && !on_air.collides);
                let header_end = other.map(|on_air| on_air.start + self.header(1 - station).header);
                let is_receiving = header_end.is_some_and(|header_end| header_end <= next);
                if self.stations[station].poll_timeout() == Some(next) {
                    self.stations[station].handle_timeout(next, || is_receiving, false);
                    self.collect(station);
                }
            }
            self.begin_frames();
        }
        self.now = end;
    }

    /// Carries out operations that `choices` chooses, then lets all come to its end, and checks what must hold.
    ///
    /// # Panics
    /// If a packet is delivered twice or out of order, is acknowledged and never came, or vanishes without a cause.
    pub fn disorder(&mut self, choices: &mut Choices<'_>) {
        for _ in 0..choices.byte() {
            self.operate(choices);
            self.check();
        }
        self.losses.clear();
        let all = ChannelWidth::Mhz160;
        self.stations.iter_mut().for_each(|station| station.handle_idle_widths(IdleWidths { now: all, before: all }));
        // Longer than what ends a request that nothing answers, and than any lifetime.
        self.run(self.now + Duration::from_secs(4));
        self.check();
        for (station, fates) in self.fates.iter().enumerate() {
            let mut outcomes = fates.outcomes.clone();
            outcomes.sort_unstable_by_key(|outcome| outcome.0);
            let other = outcomes.iter().zip(0..).find(|&(outcome, id)| outcome.0 != id);
            assert_eq!((other, outcomes.len() as u32), (None, fates.offered), "each packet has one outcome");
            for (id, cause) in outcomes {
                let has_come =
                    fates.delivered.iter().any(|&(_, delivered)| delivered == id) || fates.late.contains(&id);
                assert!(cause.is_some() || has_come, "{id} of station {station} was acknowledged and never came");
            }
            let left = self.stations[station].held().filter(|packet| packet.action.is_none()).count();
            assert_eq!((left, self.stations[station].waiting().count()), (0, 0), "packets are left");
        }
    }

    fn operate(&mut self, choices: &mut Choices<'_>) {
        // A neighbour in a part of the channel comes or goes.
        if self.stations[0].senses_widths() && choices.bool() {
            let widths = [ChannelWidth::Mhz20, ChannelWidth::Mhz40, ChannelWidth::Mhz80];
            let idle = IdleWidths { now: choices.pick(&widths), before: choices.pick(&widths) };
            self.stations[usize::from(choices.bool())].handle_idle_widths(idle);
        }
        let station = usize::from(choices.bool());
        match choices.byte() % 16 {
            0..=4 => {
                let first = self.fates[station].offered;
                let priority = choices.pick(&[0, 0, 0, 5]);
                self.offer(station, first..first + u32::from(choices.byte() % 90), priority);
            }
            5..=8 => self.run(self.now + Duration::from_micros(u64::from(choices.u16()) / 4)),
            9 => self.run(self.now + Duration::from_millis(u64::from(choices.byte()) * 8)),
            10 | 11 => {
                let places = choices.bytes(40).iter().map(|&place| usize::from(place) % 64).collect();
                self.losses.push_back(Loss { places, whole: choices.byte() < 60 });
            }
            12 => {
                let whole = Loss { places: Vec::new(), whole: true };
                self.losses.extend((0..choices.byte() % 16).map(|_| whole.clone()));
            }
            13 => self.leave(station),
            // An action frame that the machine of its station knows nothing of.
            _ => {
                let action = forged(choices);
                self.give(station, action.into());
            }
        }
    }

    /// Nothing was delivered twice or out of order.
    fn check(&self) {
        for fates in &self.fates {
            for priority in (0..8).map(UserPriority::new) {
                let ids =
                    fates.delivered.iter().filter(|delivered| delivered.0 == priority).map(|delivered| delivered.1);
                let mut pairs = ids.clone().zip(ids.skip(1));
                assert_eq!(pairs.find(|(one, next)| one >= next), None, "delivered twice or out of order");
            }
            let is_twice = |id: &u32| fates.delivered.iter().any(|delivered| delivered.1 == *id);
            assert_eq!(fates.late.iter().find(|id| is_twice(id)), None, "what is late is not delivered");
        }
    }

    fn header(&self, station: usize) -> Header {
        *self.stations[station].on_air().0
    }

    /// A frame that a station has begun at this instant reaches the other one.
    fn begin_frames(&mut self) {
        let collides = self.on_air.iter().all(Option::is_some);
        for (on_air, to) in self.on_air.iter_mut().zip([1, 0]) {
            let Some(on_air) = on_air else { continue };
            on_air.collides |= collides;
            if !core::mem::replace(&mut on_air.is_sensed, true) && !collides {
                self.stations[to].handle_busy(self.now);
            }
        }
    }

    fn end_frame(&mut self, from: usize) {
        let to = 1 - from;
        let Some(OnAir { start, collides, .. }) = self.on_air[from].take() else { return };
        let is_busy = self.on_air[to].is_some();
        let (header, packet) = self.stations[from].on_air();
        let (header, packet) = (*header, packet.copied());
        let body = self.stations[from].body_on_air().cloned();
        self.stations[from].handle_timeout(self.now, || false, is_busy);
        self.collect(from);
        if !is_busy {
            let mut loss = self.losses.pop_front().unwrap_or_default();
            loss.whole |= self.sent.iter().rfind(|sent| sent.at == start).is_some_and(self.loses);
            self.receive(to, header, packet, body, &loss, (start, collides));
            self.stations[to].handle_idle(self.now);
            self.collect(to);
        }
        self.begin_frames();
    }

    fn receive(
        &mut self,
        to: usize,
        header: Header,
        packet: Option<Packet>,
        body: Option<Rc<Body<Packet>>>,
        loss: &Loss,
        (start, collides): (Instant, bool),
    ) {
        // A station that was sending when the frame began has not found its beginning.
        if collides {
            return;
        }
        let header_end = start + header.header;
        let mut received = MpduSet::default();
        let count = match body.as_deref() {
            Some(Body::Mpdus(mpdus)) => mpdus.len(),
            _ => 1,
        };
        (0..count).filter(|place| !loss.places.contains(place)).for_each(|place| received.insert(place));
        if loss.whole || received.is_empty() {
            self.stations[to].handle_error(header.vector, header_end, self.now);
        } else if let Some(body) = body {
            self.stations[to].handle_body(&header, &body, &received, header_end, self.now);
        } else {
            self.stations[to].handle_frame(&header, header_end, self.now);
        }
        self.collect_heard(to, packet);
    }

    fn collect(&mut self, station: usize) {
        self.collect_heard(station, None);
    }

    /// Carries out what a station wants; `heard` is the packet of the frame that it has just been told of.
    fn collect_heard(&mut self, station: usize, heard: Option<Packet>) {
        let other = 1 - station;
        while let Some(output) = self.stations[station].poll_output() {
            match output {
                Output::Transmit(()) => {
                    let (frame, packet) = self.stations[station].on_air();
                    let (frame, action) = (*frame, packet.and_then(|packet| packet.action));
                    let mpdus = match self.stations[station].body_on_air().map(|body| &**body) {
                        Some(Body::Mpdus(mpdus)) => mpdus.iter().map(|mpdu| mpdu.sequence).collect(),
                        _ => Vec::new(),
                    };
                    let (start, end) = (self.now, self.now + frame.airtime);
                    self.on_air[station] = Some(OnAir { start, end, is_sensed: false, collides: false });
                    self.sent.push(Sent { at: start, frame, mpdus, action });
                }
                Output::Management((), from) => {
                    if let Some(action) = heard.and_then(|packet| packet.action) {
                        self.stations[station].handle_action(from, &action, self.now);
                    }
                }
                Output::Action(action, to) => {
                    self.stations[station].handle_packet(Some(to), action.into(), self.now);
                }
                Output::Released(packet, _) => self.fates[other].delivered.push((packet.priority, packet.id)),
                Output::Late(packet, _) => self.fates[other].late.push(packet.id),
                Output::Sent(packet) | Output::FalselyAcknowledged(packet) if packet.action.is_none() => {
                    self.fates[station].outcomes.push((packet.id, None));
                }
                Output::Dropped(packet, cause, _) if packet.action.is_none() => {
                    self.fates[station].outcomes.push((packet.id, Some(cause)));
                }
                Output::Sent(_) | Output::FalselyAcknowledged(_) | Output::Dropped(..) => {}
                Output::Deliver(..) | Output::Overheard(..) | Output::OverheardInBody(..) => {
                    panic!("all data go in bodies: {output:?}")
                }
            }
        }
    }
}

/// Settings that `choices` chooses. Agreements are made over the air, or are in force from the start: then with one window for both stations.
pub fn any_config(choices: &mut Choices<'_>, is_negotiated: bool) -> Config {
    let (ampdu, amsdu) = choices.pick(&[(65_535, 0), (20_000, 3_839), (8_000, 0), (3_000, 0)]);
    let window = if is_negotiated { 1 + u32::from(choices.byte() % 64) } else { 64 };
    let attempts = choices.option(|choices| 1 + u32::from(choices.byte() % 5));
    let inactivity = choices.pick(&[0, 0, 20, 500]);
    config(|limits| {
        let agreements = if is_negotiated { Agreements::Negotiated { inactivity } } else { Agreements::Implicit };
        *limits = Aggregation { ampdu, amsdu, window, attempts, agreements, ..*limits };
    })
}

/// The same in 80 MHz of 802.11ac, where primary and secondary channels are told apart.
pub fn any_wide_config(choices: &mut Choices<'_>, is_negotiated: bool) -> Config {
    let shape = Shape { width: ChannelWidth::Mhz80, ..Shape::of(Standard::Vht) };
    let aggregation = any_config(choices, is_negotiated).aggregation.map(|limits| Aggregation {
        agreements: limits.agreements,
        ampdu: limits.ampdu,
        amsdu: limits.amsdu,
        window: limits.window,
        attempts: limits.attempts,
        ..Aggregation::of(Standard::Vht)
    });
    let own = Capability::new(Standard::Vht, Some(shape), false);
    let phy = own.phy_among(&own.narrower().collect::<Vec<_>>());
    Config {
        edca: Some(EdcaParameters::all_defaults(&phy, Edition::Ieee2012)),
        aggregation,
        bandwidth: choices.pick(&[Bandwidth::Static, Bandwidth::Dynamic]),
        rts_threshold: choices.pick(&[None, Some(0)]),
        queue_packets: 1_000,
        ..Config::new(phy, shape.vector(Standard::Vht, choices.pick(&[0, 4, 9])).expect("a scheme of VHT"))
    }
}

fn forged(choices: &mut Choices<'_>) -> BlockAckAction {
    let dialog_token = choices.byte() % 4;
    let tid = choices.pick(&[0, 0, 0, 5, 9]);
    let agreement =
        Agreement { amsdu: choices.bool(), tid, buffer_size: choices.u16() % 300, timeout: choices.u16() % 64 };
    match choices.byte() % 4 {
        0 => BlockAckAction::AddRequest { dialog_token, agreement, start: choices.u16() & 0xfff },
        1 => {
            let status = choices.pick(&[Status::Success, Status::Declined]);
            BlockAckAction::AddResponse { dialog_token, status, agreement }
        }
        _ => BlockAckAction::Delete { by_originator: choices.bool(), tid, reason: Reason::Unspecified },
    }
}
