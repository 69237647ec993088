//! A device between its datagrams and its users, without sockets and clock.
//!
//! It opens what comes and seals what leaves, gives the machines of [`hopcast_protocols::streaming`] what a real host sees, and puts
//! the media of clips into the packets for which they ask. It keeps nothing of a datagram that the envelope has not opened.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::Ipv4Addr;
use std::sync::Arc;

use hopcast_protocols::streaming::catalogue::{Catalogue, Digest};
use hopcast_protocols::streaming::delivery::PACKET;
use hopcast_protocols::streaming::device::{self, Datagram, Device, Outcome, Output, Viewing};
use hopcast_protocols::streaming::pairs::Pairs;
use hopcast_protocols::streaming::profile::{Horizon, LinkTotals};
use hopcast_protocols::streaming::reservation;
use hopcast_protocols::time::{Duration, Instant};
use hopcast_wire::cloud::{MEDIA_HEADER_LEN, Message, Offer, Refusal, StreamId, Wish, number_of};

use super::clips::{Clip, LONGEST, layout, media_len, packets};
use super::envelope::{Envelope, From};
use super::status::{
    self, Booking, Counters, KnownClip, Neighbour, OutcomeName, PlayRecord, Reason, Refusals, Refused, Role,
};
use crate::key;

/// Most addresses that are heard at a time.
const MAX_PEERS: usize = 255;
/// An address that was silent for this time may make room for another.
const PEER_LIFETIME: Duration = Duration::from_secs(60);
/// A neighbour that is heard over two interfaces is sent to over the one that it was heard over first, until that is silent for so
/// long: three hellos.
const OTHER_WAY: Duration = Duration::from_secs(3);
/// Most packets after the first missing one that a display keeps, as [`hopcast_protocols::streaming::delivery`] has it.
const WINDOW: u32 = 1_024;
/// Clips that a user plays at a time.
pub(super) const MAX_PLAYS: usize = 16;
/// Plays that have ended, and refusals, of which the status tells.
const REMEMBERED: usize = 32;
/// Bytes of the IPv4 and UDP headers.
const HEADERS: u32 = 28;
/// Length of packets that measure a link, without these: that of a packet of media.
const PAIR_LEN: usize = MEDIA_HEADER_LEN + PACKET as usize;
/// Clips in seconds of display that are weighed in each second, and at most at once. Weighing one second takes the bootstrap a thousand
/// steps.
const WEIGHED: f64 = 20.0 * 3_600.0;
/// The highest rate that a clip may have, in b/s.
const MAX_RATE: u32 = 1_000_000_000;

/// A datagram to be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Transmit {
    /// Place of the interface; `None`: all.
    pub(super) interface: Option<usize>,
    /// Destination address.
    pub(super) to: Ipv4Addr,
    /// Its bytes.
    pub(super) octets: Vec<u8>,
}

/// What the device is.
#[derive(Debug)]
pub(super) struct Options {
    /// Its address.
    pub(super) me: Ipv4Addr,
    /// Parameters of the machines.
    pub(super) config: device::Config,
    /// Useful rate in b/s that all links are said to have; `None`: they are measured.
    pub(super) link_rate: Option<f64>,
    /// What it offers.
    pub(super) clips: Vec<Clip>,
    /// For its draws.
    pub(super) seed: u64,
}

/// See the module.
#[derive(Debug)]
pub(super) struct Engine {
    me: Ipv4Addr,
    link_rate: Option<f64>,
    device: Device,
    catalogue: Catalogue,
    pairs: Pairs,
    /// Totals of links whose rate is stated.
    stated: BTreeMap<Ipv4Addr, LinkTotals>,
    envelope: Envelope,
    peers: BTreeMap<Ipv4Addr, Peer>,
    /// By number.
    clips: BTreeMap<u32, Clip>,
    plays: BTreeMap<u32, Play>,
    ended: VecDeque<PlayRecord>,
    refusals: Refusals,
    refused: VecDeque<(Instant, Refused)>,
    /// Bookings that this device has confirmed.
    confirmed: BTreeSet<StreamId>,
    counters: Counters,
    /// Seconds of display that may be weighed, and when that was.
    budget: (f64, Instant),
    /// The neighbour of whose measurement the first packet was asked for.
    half: Option<Ipv4Addr>,
    /// The stream that is to be judged, and its clip.
    asking: Option<(StreamId, u32)>,
    outputs: VecDeque<Transmit>,
    problems: VecDeque<String>,
    buffer: Vec<u8>,
    /// What happens, for a recording; `None` if nothing is recorded.
    told: Option<Vec<Told>>,
}

/// A message, or a refusal, for a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Told {
    /// When.
    pub(super) time: Instant,
    /// What.
    pub(super) what: What,
    /// The other device; `None`: all.
    pub(super) peer: Option<Ipv4Addr>,
    /// The stream that it is about.
    pub(super) stream: Option<StreamId>,
    /// Bytes of the message, without what seals it.
    pub(super) octets: u32,
}

/// See [`Told`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// A message of this kind was sent.
    Sent(u8),
    /// A message of this kind has come.
    Received(u8),
    /// This device has refused the stream, or gives up its own one because all paths were refused.
    Refused(Refusal),
}

/// How the display of a stream at this device stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Display {
    /// The stream.
    pub(super) stream: StreamId,
    /// Bytes of media that have come, in order.
    pub(super) received: u64,
    /// Media that have come, and media shown, in seconds of display.
    pub(super) media: [f64; 2],
    /// For how long the display has stood still.
    pub(super) stalled: Duration,
}

#[derive(Clone, Copy, Debug)]
struct Peer {
    interface: usize,
    /// Over this interface, and over any.
    heard: Instant,
}

/// A clip that a user of this host plays.
#[derive(Debug)]
struct Play {
    offer: Offer,
    /// All packets before it have come.
    next: u32,
    /// Those beyond it.
    early: BTreeMap<u32, Vec<u8>>,
    /// Media in order that was not handed over yet.
    ready: VecDeque<Vec<u8>>,
    received: u64,
    is_local: bool,
    /// A path was found with a link whose rate is not known yet.
    has_unknown_link: bool,
}

impl Engine {
    /// A device without neighbours.
    pub(super) fn new(options: Options, envelope: Envelope, now: Instant) -> Self {
        let Options { me, config, link_rate, clips, seed } = options;
        let numbers = clips.iter().map(|clip| clip.offer.number()).collect();
        Self {
            me,
            link_rate,
            device: Device::new(me, config, numbers, seed, now),
            catalogue: Catalogue::new(clips.iter().map(|clip| clip.offer.clone()), now),
            pairs: Pairs::default(),
            stated: BTreeMap::new(),
            envelope,
            peers: BTreeMap::new(),
            clips: clips.into_iter().map(|clip| (clip.offer.number(), clip)).collect(),
            plays: BTreeMap::new(),
            ended: VecDeque::new(),
            refusals: Refusals::default(),
            refused: VecDeque::new(),
            confirmed: BTreeSet::new(),
            counters: Counters::default(),
            budget: (WEIGHED, now),
            half: None,
            asking: None,
            outputs: VecDeque::new(),
            problems: VecDeque::new(),
            buffer: Vec::new(),
            told: None,
        }
    }

    /// Keeps what happens from now on, for [`Self::take_told`].
    pub(super) fn keep_told(&mut self) {
        self.told = Some(Vec::new());
    }

    /// What has happened since the last call.
    pub(super) fn take_told(&mut self) -> Vec<Told> {
        self.told.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Notes a message for the recording.
    fn tell(&mut self, message: &Message, is_sent: bool, peer: Option<Ipv4Addr>, octets: usize, time: Instant) {
        if let Some(told) = &mut self.told {
            let what = if is_sent { What::Sent(message.kind()) } else { What::Received(message.kind()) };
            told.push(Told { time, what, peer, stream: message.stream(), octets: octets as u32 });
        }
    }

    /// A datagram has come, at the kernel's time `arrival`.
    ///
    /// # Errors
    ///
    /// Why the envelope refuses it.
    pub(super) fn handle_datagram(
        &mut self,
        from: From,
        datagram: &[u8],
        arrival: Duration,
        now: Instant,
    ) -> Result<(), key::Refusal> {
        self.counters.datagrams_received += 1;
        let opened = self
            .envelope
            .open(now, from, datagram)
            .map(|opened| opened.map(|(from, octets)| (from, Arc::<[u8]>::from(octets))));
        let mut answer = std::mem::take(&mut self.buffer);
        if self.envelope.answer(now, &mut answer) {
            let octets = answer.clone();
            self.outputs.push_back(Transmit { interface: Some(from.interface), to: from.address, octets });
        }
        self.buffer = answer;
        if let Some((from, octets)) = opened?
            && from.address != self.me
        {
            self.handle_message(from, &octets, arrival, now);
        }
        Ok(())
    }

    fn handle_message(&mut self, from: From, octets: &Arc<[u8]>, arrival: Duration, now: Instant) {
        let Ok(message) = Message::parse(octets) else {
            self.counters.malformed += 1;
            return;
        };
        if !self.knows(from, now) {
            self.counters.crowded += 1;
            return;
        }
        let address = from.address;
        self.tell(&message, false, Some(address), octets.len(), now);
        match message {
            Message::Offers { offers } => return self.catalogue.handle_offers(offers, now),
            Message::Pair { number, is_second } => {
                // The answer is shorter than what it answers.
                if octets.len() == PAIR_LEN
                    && let Some(answer) = self.pairs.handle_pair(address, number, is_second, arrival)
                {
                    self.send(Some(address), &answer.emit(), now);
                }
                return;
            }
            Message::Spacing { number, time } => {
                let length = PAIR_LEN as u32 + HEADERS;
                return self.pairs.handle_spacing(address, number, time, length, now);
            }
            Message::Media { stream, sequence } if !self.handle_media(from, stream, sequence, octets) => {
                self.counters.malformed += 1;
                return;
            }
            Message::Probe { wish, .. } | Message::Reserve { wish, .. } if !is_possible(&wish) => {
                self.counters.malformed += 1;
                return;
            }
            Message::Probe { wish, .. } | Message::Reserve { wish, .. } if !self.has_time_for(&wish, now) => {
                self.counters.unweighed += 1;
                return;
            }
            Message::Reserve { stream, wish, .. } => self.asking = Some((stream, wish.clip)),
            Message::Answer { stream, ref path, .. } if stream.display == self.me => {
                let is_unknown = path.iter().skip(1).any(|hop| hop.rate == 0);
                if let Some(play) = self.plays.get_mut(&stream.request()) {
                    play.has_unknown_link |= is_unknown;
                }
            }
            _ => {}
        }
        let before = self.device.profile(address).is_some();
        self.device.handle_datagram(address, octets, octets.len() as u32, now);
        if !before && self.device.profile(address).is_some() {
            self.catalogue.handle_new_neighbour(now);
        }
        self.drain(now);
    }

    /// Whether one more stream can be weighed: neighbours don't get all of the processor. What is dropped is repeated.
    fn has_time_for(&mut self, wish: &Wish, now: Instant) -> bool {
        let (left, since) = self.budget;
        let left = (left + WEIGHED * now.saturating_since(since).as_secs_f64()).min(WEIGHED);
        self.budget = (left, now);
        let cost = f64::from(wish.length) / 1e3;
        // The longest clip takes more than all that there is.
        let has_time = left >= cost.min(WEIGHED);
        if has_time {
            self.budget.0 -= cost;
        }
        has_time
    }

    /// Whether an address is heard, or may be from now on.
    fn knows(&mut self, from: From, now: Instant) -> bool {
        let From { interface, address } = from;
        if self.peers.len() >= MAX_PEERS && !self.peers.contains_key(&address) {
            let silent = |peer: &Peer| now.saturating_since(peer.heard) >= PEER_LIFETIME;
            let gone: Vec<Ipv4Addr> =
                self.peers.iter().filter(|(_, peer)| silent(peer)).map(|(&address, _)| address).collect();
            gone.into_iter().for_each(|address| self.forget(address));
            if self.peers.len() >= MAX_PEERS {
                return false;
            }
        }
        let peer = self.peers.entry(address).or_insert(Peer { interface, heard: now });
        if peer.interface == interface || now.saturating_since(peer.heard) >= OTHER_WAY {
            *peer = Peer { interface, heard: now };
        }
        true
    }

    /// Keeps the media in a packet for this display; whether the packet is one that there can be.
    fn handle_media(&mut self, from: From, stream: StreamId, sequence: u32, octets: &Arc<[u8]>) -> bool {
        let media = &octets[MEDIA_HEADER_LEN..];
        if media.len() > PACKET as usize {
            return false;
        }
        let Some(play) = self.plays.get_mut(&stream.request()).filter(|_| stream.display == self.me) else {
            return true;
        };
        let booking = self.device.reservations().booking(stream);
        if booking.and_then(reservation::Booking::next) != Some(from.address) {
            return true;
        }
        if media.len() != media_len(play.offer.size, sequence) {
            return false;
        }
        if sequence >= play.next && sequence < play.next.saturating_add(WINDOW) {
            play.early.entry(sequence).or_insert_with(|| media.to_vec());
        }
        while let Some(media) = play.early.remove(&play.next) {
            play.next += 1;
            play.received += media.len() as u64;
            if !media.is_empty() {
                play.ready.push_back(media);
            }
        }
        true
    }

    /// The user asks for a clip of the catalogue; the number of the request.
    ///
    /// # Errors
    ///
    /// Why it can't be played.
    pub(super) fn handle_request(&mut self, digest: &Digest, now: Instant) -> Result<u32, String> {
        let offer = self.catalogue.find(digest, now).ok_or("no device near by offers this clip any more")?;
        let is_other = |other: &Offer| other.number() == offer.number() && other.digest != offer.digest;
        if self.catalogue.offers(now).any(|(other, _)| is_other(&other)) {
            return Err("another clip near by has the same number; no display can tell them apart".into());
        }
        if self.plays.len() >= MAX_PLAYS {
            return Err(format!("this device plays {MAX_PLAYS} clips already"));
        }
        let wish = Wish { clip: offer.number(), rate: offer.rate, length: offer.length };
        // More packets than there are numbers, or a size that does not fit the length, would never end.
        if !is_possible(&wish) || u64::from(layout(&offer).packets) < packets(offer.size) {
            return Err("its offer makes no sense: size, rate and length do not fit each other".into());
        }
        let number = self.device.viewings(now).count() as u32;
        let is_local = self.clips.contains_key(&wish.clip);
        let play = Play {
            offer,
            next: 0,
            early: BTreeMap::new(),
            ready: VecDeque::new(),
            received: 0,
            is_local,
            has_unknown_link: false,
        };
        self.plays.insert(number, play);
        self.device.handle_request(wish, now);
        self.drain(now);
        Ok(number)
    }

    /// The user has seen enough of a request.
    pub(super) fn handle_stop(&mut self, number: u32, now: Instant) {
        let Some(record) = self.play(number, now) else { return };
        let is_whole = record.received_bytes == record.size_bytes;
        if let Some(told) = &mut self.told
            && let Some(Viewing { outcome: Outcome::Refused(reason), .. }) = self.device.viewing(number, now)
        {
            let (what, stream) = (What::Refused(reason), Some(StreamId { display: self.me, number }));
            told.push(Told { time: now, what, peer: None, stream, octets: 0 });
        }
        self.device.handle_stop(number, now);
        self.plays.remove(&number);
        let is_under_way = matches!(record.outcome, OutcomeName::Searching | OutcomeName::Playing);
        let outcome = match is_under_way {
            true if is_whole => OutcomeName::Completed,
            true => OutcomeName::Stopped,
            false => record.outcome,
        };
        self.ended.push_back(PlayRecord { outcome, ..record });
        let excess = self.ended.len().saturating_sub(REMEMBERED);
        self.ended.drain(..excess);
        self.drain(now);
    }

    /// Media of a request, in order, that was not handed over yet; of a clip that is stored here, once others are handed over.
    pub(super) fn poll_media(&mut self, number: u32, now: Instant) -> Option<Vec<u8>> {
        let play = self.plays.get_mut(&number)?;
        if !play.is_local || play.received >= play.offer.size {
            return play.ready.pop_front();
        }
        let (clip, sequence) = (play.offer.number(), play.next);
        let mut media = Vec::new();
        match self.clips.get(&clip).map(|clip| clip.read(sequence, &mut media)) {
            Some(Ok(())) => {
                play.next += 1;
                play.received += media.len() as u64;
                Some(media)
            }
            Some(Err(error)) => {
                self.withdraw(clip, &error.to_string(), now);
                None
            }
            None => None,
        }
    }

    /// Bytes of media of a request that have come and were not handed over.
    pub(super) fn backlog(&self, number: u32) -> u64 {
        self.plays.get(&number).map_or(0, |play| match play.is_local {
            true => play.offer.size - play.received,
            false => play.ready.iter().map(|media| media.len() as u64).sum(),
        })
    }

    /// A request as it stands.
    pub(super) fn play(&self, number: u32, now: Instant) -> Option<PlayRecord> {
        let play = self.plays.get(&number)?;
        let viewing = self.device.viewing(number, now)?;
        Some(record(play, &viewing))
    }

    /// The time of the next [`Self::handle_timeout`].
    pub(super) fn poll_timeout(&self) -> Instant {
        self.device.poll_timeout().min(self.catalogue.poll_timeout())
    }

    /// The time of [`Self::poll_timeout`] has come.
    pub(super) fn handle_timeout(&mut self, now: Instant) {
        if self.device.poll_timeout() <= now {
            self.device.handle_timeout(now);
            self.confirmed.retain(|&stream| self.device.reservations().booking(stream).is_some());
        }
        self.catalogue.handle_timeout(now);
        if let Some(message) = self.catalogue.poll_message(now) {
            self.send(None, &message.emit(), now);
        }
        self.drain(now);
    }

    /// Takes out the next datagram.
    pub(super) fn poll_output(&mut self) -> Option<Transmit> {
        self.outputs.pop_front()
    }

    /// Takes out the next thing that the log should tell.
    pub(super) fn poll_problem(&mut self) -> Option<String> {
        self.problems.pop_front()
    }

    /// From now on seals with the first of these keys.
    pub(super) fn change_keys(&mut self, keys: &key::Keys, epoch: key::Epoch, now: Instant) {
        self.envelope.change_keys(keys, epoch, now);
    }

    /// From now on hears these members only. What goes over the devices at `expelled` ends at once.
    pub(super) fn change_members(&mut self, members: key::Members, expelled: &[Ipv4Addr], now: Instant) {
        self.envelope.change_members(members);
        for &address in expelled {
            self.device.handle_neighbour_lost(address, now);
            self.forget(address);
        }
        self.drain(now);
    }

    /// An address is heard no more.
    fn forget(&mut self, address: Ipv4Addr) {
        self.peers.remove(&address);
        self.pairs.forget(address);
        self.stated.remove(&address);
    }

    /// Acts on what the device wants.
    fn drain(&mut self, now: Instant) {
        while let Some(output) = self.device.poll_output() {
            match output {
                Output::Dump => self.dump(now),
                Output::Send(datagram) => self.transmit(&datagram, now),
            }
        }
    }

    fn transmit(&mut self, datagram: &Datagram, now: Instant) {
        let Datagram { to, octets, length } = datagram;
        match Message::parse(octets) {
            Ok(Message::Padding) => {
                let Some(to) = *to else { return };
                // The device asks for the two packets of a measurement one after the other.
                let is_second = self.half.take() == Some(to);
                if self.link_rate.is_none() && !is_second {
                    self.half = Some(to);
                    for message in self.pairs.measure(to, now) {
                        let mut octets = message.emit();
                        octets.resize(PAIR_LEN, 0);
                        self.send(Some(to), &octets, now);
                    }
                }
            }
            Ok(Message::Media { stream, sequence }) if octets.len() < *length as usize => {
                let booking = self.device.reservations().booking(stream);
                let Some(clip) = booking.map(|booking| booking.wish().clip) else { return };
                let mut octets = octets.to_vec();
                match self.clips.get(&clip).map(|clip| clip.read(sequence, &mut octets)) {
                    Some(Ok(())) => self.send(*to, &octets, now),
                    Some(Err(error)) => self.withdraw(clip, &error.to_string(), now),
                    None => {}
                }
            }
            Ok(message) => {
                self.note(&message, now);
                self.send(*to, octets, now);
            }
            Err(_) => {}
        }
    }

    /// Counts what this device decides.
    fn note(&mut self, message: &Message, now: Instant) {
        match *message {
            Message::Reject { stream, node, reason, .. } if node == self.me => {
                self.refusals.count(reason);
                if let Some(told) = &mut self.told {
                    let (what, peer) = (What::Refused(reason), Some(stream.display));
                    told.push(Told { time: now, what, peer, stream: Some(stream), octets: 0 });
                }
                let clip = self.asking.filter(|(asking, _)| *asking == stream);
                let clip = clip.and_then(|(_, clip)| self.name_of(clip, now));
                self.refused
                    .push_back((now, Refused { display: stream.display, clip, reason: reason.into(), ago_s: 0.0 }));
                let excess = self.refused.len().saturating_sub(REMEMBERED);
                self.refused.drain(..excess);
            }
            Message::Confirm { stream, .. } => {
                if let Some(clip) =
                    self.granted(stream).filter(|clip| clip.has_changed()).map(|clip| clip.offer.number())
                {
                    self.withdraw(clip, "it was written to", now);
                }
                if self.confirmed.insert(stream) {
                    self.counters.admitted += 1;
                }
            }
            _ => {}
        }
    }

    /// The clip that this device sends in a stream.
    fn granted(&self, stream: StreamId) -> Option<&Clip> {
        let booking = self.device.reservations().booking(stream).filter(|booking| booking.next().is_none())?;
        self.clips.get(&booking.wish().clip)
    }

    /// A file is no longer what was offered.
    fn withdraw(&mut self, clip: u32, why: &str, now: Instant) {
        let Some(clip) = self.clips.remove(&clip) else { return };
        self.problems.push_back(format!("{}: {why}; it is offered no longer", clip.offer.name));
        self.catalogue.handle_withdrawn(&clip.offer.digest);
        self.device.handle_withdrawn(clip.offer.number(), now);
    }

    /// What the interface tells of its neighbours, or what pairs do.
    fn dump(&mut self, now: Instant) {
        let Some(rate) = self.link_rate else {
            return self.device.handle_station_dump(self.pairs.totals(), now);
        };
        let length = PAIR_LEN as u64 + u64::from(HEADERS);
        let airtime = Duration::from_secs_f64(length as f64 * 8.0 / rate);
        for &neighbour in self.peers.keys() {
            let totals = self.stated.entry(neighbour).or_default();
            totals.octets += length;
            totals.packets += 1;
            totals.attempts += 1;
            totals.airtime += airtime;
        }
        self.device.handle_station_dump(self.stated.iter().map(|(&node, &totals)| (node, totals)), now);
    }

    fn send(&mut self, to: Option<Ipv4Addr>, octets: &[u8], now: Instant) {
        let interface = match to {
            Some(to) => match self.peers.get(&to) {
                Some(peer) => Some(peer.interface),
                // A path may name any address.
                None => return,
            },
            None => None,
        };
        if self.told.is_some()
            && let Ok(message) = Message::parse(octets)
        {
            self.tell(&message, true, to, octets.len(), now);
        }
        let to = to.unwrap_or(Ipv4Addr::BROADCAST);
        let mut datagram = Vec::with_capacity(octets.len() + 64);
        self.envelope.seal(now, to, octets, &mut datagram);
        self.counters.datagrams_sent += 1;
        self.outputs.push_back(Transmit { interface, to, octets: datagram });
    }

    fn name_of(&self, number: u32, now: Instant) -> Option<String> {
        let own = self.clips.get(&number).map(|clip| clip.offer.name.clone());
        own.or_else(|| {
            self.catalogue
                .offers(now)
                .find(|(offer, _)| number_of(&offer.digest) == number)
                .map(|(offer, _)| offer.name)
        })
    }
}

/// What the status tells.
impl Engine {
    /// Clips that are known.
    pub(super) fn known_clips(&self, now: Instant) -> Vec<KnownClip> {
        let mut clips: Vec<KnownClip> =
            self.catalogue.offers(now).map(|(offer, is_own)| KnownClip::new(&offer, is_own)).collect();
        clips.sort_by(|one, other| (&one.name, &one.digest).cmp(&(&other.name, &other.digest)));
        clips
    }

    /// Neighbours, with the name of their interface by its place.
    pub(super) fn neighbours(&self, name: impl Fn(usize) -> String, now: Instant) -> Vec<Neighbour> {
        let neighbours = self.device.neighbours().filter_map(|(address, is_mutual)| {
            let peer = self.peers.get(&address)?;
            let profile = self.device.profile(address);
            Some(Neighbour {
                address,
                interface: name(peer.interface),
                heard_s: now.saturating_since(peer.heard).as_secs_f64(),
                mutual: is_mutual,
                useful_rate_bps: profile.and_then(|profile| profile.mean(Horizon::Second)),
                samples: profile.map_or(0, |profile| profile.series().len()),
            })
        });
        neighbours.collect()
    }

    /// What is booked here.
    pub(super) fn bookings(&self, now: Instant) -> Vec<Booking> {
        let reservations = self.device.reservations();
        let bookings = reservations.streams().filter_map(|stream| {
            let booking = reservations.booking(stream)?;
            let role = match (booking.previous(), booking.next()) {
                (None, _) => Role::Display,
                (_, None) => Role::Source,
                _ => Role::Relay,
            };
            Some(Booking {
                display: stream.display,
                number: stream.request(),
                clip: self.name_of(booking.wish().clip, now),
                rate_bps: booking.wish().rate.into(),
                role,
                towards_display: booking.previous(),
                towards_source: booking.next(),
                hops: booking.hops(),
                confirmed: booking.is_firm(),
            })
        });
        bookings.collect()
    }

    /// Displays of this host that are under way.
    pub(super) fn displays(&self, now: Instant) -> Vec<Display> {
        let displays = self.plays.iter().filter_map(|(&number, play)| {
            let report = self.device.viewing(number, now)?.report;
            let length = f64::from(play.offer.length) / 1e3;
            // A clip has a constant rate.
            let come = length * play.received as f64 / play.offer.size.max(1) as f64;
            let stream = StreamId { display: self.me, number };
            let media = [come, report.played.as_secs_f64()];
            Some(Display { stream, received: play.received, media, stalled: report.stalled })
        });
        displays.collect()
    }

    /// Share of time that is reserved around the device.
    pub(super) fn reserved(&self) -> f64 {
        // A sum of nothing is −0.
        self.device.reserved() + 0.0
    }

    /// What users of this host play, and have played lately.
    pub(super) fn plays(&self, now: Instant) -> Vec<PlayRecord> {
        let under_way = self.plays.keys().filter_map(|&number| self.play(number, now));
        self.ended.iter().cloned().chain(under_way).collect()
    }

    /// Refusals by this device, by reason.
    pub(super) fn refusals(&self) -> Refusals {
        self.refusals
    }

    /// The last of them.
    pub(super) fn refused(&self, now: Instant) -> Vec<Refused> {
        let ago = |at: Instant| now.saturating_since(at).as_secs_f64();
        self.refused.iter().map(|(at, refused)| Refused { ago_s: ago(*at), ..refused.clone() }).collect()
    }

    /// Counters since the start.
    pub(super) fn counters(&self) -> Counters {
        let device = self.device.counters();
        Counters {
            control_messages: device.control_messages,
            media_packets: device.media_packets,
            repeated_packets: device.repeated_packets,
            profile_steps: device.steps,
            ..self.counters
        }
    }

    /// Counters of sealed datagrams and the number of known senders, if there is a key.
    pub(super) fn seals(&self) -> Option<(key::Counters, usize)> {
        self.envelope.counters()
    }
}

/// Whether there can be a clip like this.
fn is_possible(wish: &Wish) -> bool {
    let length = Duration::from_millis(wish.length.into());
    (1..=MAX_RATE).contains(&wish.rate) && wish.length > 0 && length <= LONGEST
}

fn record(play: &Play, viewing: &Viewing) -> PlayRecord {
    let Viewing { outcome, from, hops, prefetch, risk, refusals, reroutes, paths, report, .. } = *viewing;
    let seconds = |time: Duration| time.as_secs_f64();
    let (name, reason) = match outcome {
        Outcome::Pending => (OutcomeName::Searching, None),
        Outcome::Playing => (OutcomeName::Playing, None),
        Outcome::Completed => (OutcomeName::Completed, None),
        Outcome::NotFound => (OutcomeName::NotFound, None),
        // A link without a rate takes all of the time.
        Outcome::Refused(Refusal::Airtime | Refusal::Rate) if play.has_unknown_link => {
            (OutcomeName::Refused, Some(Reason::Unknown))
        }
        Outcome::Refused(reason) => (OutcomeName::Refused, Some(Reason::from(reason))),
        Outcome::Broken => (OutcomeName::Broken, None),
    };
    PlayRecord {
        clip: play.offer.name.clone(),
        digest: status::hex(&play.offer.digest),
        size_bytes: play.offer.size,
        rate_bps: play.offer.rate.into(),
        length_s: f64::from(play.offer.length) / 1e3,
        outcome: name,
        reason,
        source: from,
        hops,
        prefetch_s: seconds(prefetch),
        predicted_stall: risk,
        refused_paths: refusals,
        reroutes,
        shortened: paths.shortened,
        returned: paths.returned,
        held_s: seconds(paths.held),
        start_up_s: report.start_up_delay.map(seconds),
        stalls: report.hiccups,
        stalled_s: seconds(report.stalled),
        longest_stall_s: seconds(report.longest),
        played_s: seconds(report.played),
        received_bytes: play.received,
    }
}

#[cfg(test)]
mod tests;
