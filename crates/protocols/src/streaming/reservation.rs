//! Books airtime for a stream at every node of its path: in two phases, with soft state.
//!
//! The display sends RESERVE along the path. Each node judges the stream and books it tentatively; the device that has the clip answers
//! with CONFIRM, which makes each booking firm. A node that refuses answers with REJECT, which takes back all bookings before it.
//! The display refreshes a firm booking every [`Rules::refresh`]; without refreshment it ends after [`Rules::expiry`], so that no lost
//! message and no dead node leaves anything behind. RELEASE ends it at once, and a node of the path sends one when it no longer hears the
//! node before or behind it.
//!
//! Of two streams that are booked at the same time and don't both fit, the one with the lower identity gets the airtime: its RESERVE
//! takes back the tentative bookings of higher ones at the node where they meet.

use std::collections::{BTreeMap, VecDeque};
use std::net::Ipv4Addr;

use hopcast_wire::cloud::{Message, PlannedHop, Refusal, ReservedLink, StreamId, Wish};

use super::admission::{Estimator, Load, Outlook, Policy, tolerated};
use super::airtime::{Surroundings, share, units};
use super::delivery::EXPANSION;
use super::prefetch;
use super::profile::{Horizon, Profile};
use crate::random::{Purpose, Stream};
use crate::time::{Duration, Instant};

/// Rules of admission, and times of the protocol.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rules {
    /// Who is admitted.
    pub policy: Policy,
    /// How the probability of a stall is estimated.
    pub estimator: Estimator,
    /// Rate of a link in b/s by which [`Policy::Hops`] judges.
    pub nominal_rate: f64,
    /// Share of time that may be reserved around a node.
    pub max_airtime: f64,
    /// Stalls per hour of display that a stream may have.
    pub stalls_per_hour: f64,
    /// Greatest rate at which a source sends a stream, as a multiple of the stream's: to fill the buffer.
    pub pace: f64,
    /// Time between two refreshments.
    pub refresh: Duration,
    /// Time without refreshment after which a booking ends.
    pub expiry: Duration,
    /// Time after which the display repeats its RESERVE.
    pub repeat: Duration,
}

/// How often the display sends a RESERVE before it gives up.
const ATTEMPTS: u8 = 3;

/// Most links of a path.
pub const MAX_HOPS: usize = 8;

/// Most bookings of one node, so that neighbours can't fill its memory.
const MAX_BOOKINGS: usize = 1_024;

/// A probability of one, in the units of messages.
const CERTAIN: f64 = 1e9;

/// What a node knows when it judges.
pub trait Knowledge {
    /// Its neighbours, and what they have reserved.
    fn surroundings(&self) -> &Surroundings;
    /// The link to a neighbour.
    fn profile(&self, neighbour: Ipv4Addr) -> Option<&Profile>;
    /// Whether the clip with this number is stored here.
    fn has_clip(&self, clip: u32) -> bool;
}

/// What the machine wants done, or reports.
#[derive(Clone, Debug, PartialEq)]
pub enum Output {
    /// Send this to a neighbour.
    Send {
        /// The neighbour.
        to: Ipv4Addr,
        /// The message.
        message: Message,
    },
    /// At the device that has the clip: send it to this neighbour from now on.
    Granted {
        /// The stream.
        stream: StreamId,
        /// What is to be sent.
        wish: Wish,
    },
    /// At the display: the stream will come.
    Confirmed {
        /// The stream.
        stream: StreamId,
        /// Probability of a stall by all profiles on the path, if they could tell.
        risk: Option<f64>,
    },
    /// At the display: the stream will not come over this path.
    Refused {
        /// The stream.
        stream: StreamId,
        /// The node that refuses.
        node: Ipv4Addr,
        /// Why.
        reason: Refusal,
        /// As in [`Message::Reject`].
        fits: u32,
    },
    /// At one of the two ends: the reservation is over.
    Ended {
        /// The stream.
        stream: StreamId,
    },
}

/// What one node has booked for one stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Booking {
    attempt: u8,
    wish: Wish,
    prefetch: u32,
    risk: u32,
    /// The node's own place on the path.
    place: usize,
    path: Vec<PlannedHop>,
    is_firm: bool,
    expires: Instant,
    /// At the display: the next RESERVE or REFRESH.
    sends: Option<Instant>,
    /// RESERVEs sent so far.
    sent: u8,
}

impl Booking {
    /// The neighbour towards the display.
    pub fn previous(&self) -> Option<Ipv4Addr> {
        self.place.checked_sub(1).map(|place| self.path[place].node)
    }

    /// The neighbour towards the device that has the clip.
    pub fn next(&self) -> Option<Ipv4Addr> {
        self.path.get(self.place + 1).map(|hop| hop.node)
    }

    /// What was asked for.
    pub fn wish(&self) -> Wish {
        self.wish
    }

    /// Whether all nodes of the path have booked, as far as this one knows.
    pub fn is_firm(&self) -> bool {
        self.is_firm
    }

    /// Media that the display buffers.
    pub fn prefetch(&self) -> Duration {
        Duration::from_millis(self.prefetch.into())
    }

    /// Links of the path.
    pub fn hops(&self) -> usize {
        self.path.len() - 1
    }

    /// The path, from the display.
    pub fn path(&self) -> &[PlannedHop] {
        &self.path
    }

    /// The node's own place on the path.
    pub fn place(&self) -> usize {
        self.place
    }

    fn reserve(&self, stream: StreamId) -> Message {
        let Self { attempt, wish, prefetch, risk, place, ref path, .. } = *self;
        Message::Reserve { stream, attempt, place: (place + 1) as u8, wish, prefetch, risk, path: path.clone() }
    }
}

/// The bookings of one node.
#[derive(Clone, Debug)]
pub struct Reservations {
    me: Ipv4Addr,
    rules: Rules,
    seed: u64,
    bookings: BTreeMap<StreamId, Booking>,
    /// Bookings that have come or gone so far.
    changes: u64,
    outputs: VecDeque<Output>,
}

/// A request to book a path, at its display.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The stream.
    pub stream: StreamId,
    /// Number of the attempt: greater than those before.
    pub attempt: u8,
    /// What is wanted.
    pub wish: Wish,
    /// Media in milliseconds in the buffer.
    pub prefetch: u32,
    /// The path, from the display.
    pub path: Vec<PlannedHop>,
}

/// What would fit, and why the rest does not.
type Verdict = Result<u32, (Refusal, u32)>;

impl Reservations {
    /// A node without bookings. `seed` is for the draws of its estimates.
    pub fn new(me: Ipv4Addr, rules: Rules, seed: u64) -> Self {
        Self { me, rules, seed, bookings: BTreeMap::new(), changes: 0, outputs: VecDeque::new() }
    }

    /// What is booked for a stream here.
    pub fn booking(&self, stream: StreamId) -> Option<&Booking> {
        self.bookings.get(&stream)
    }

    /// All streams that are booked here.
    pub fn streams(&self) -> impl Iterator<Item = StreamId> {
        self.bookings.keys().copied()
    }

    /// Bookings that have come or gone so far: while it is the same, so are [`Self::links`].
    pub fn changes(&self) -> u64 {
        self.changes
    }

    fn insert(&mut self, stream: StreamId, booking: Booking) {
        self.changes += 1;
        self.bookings.insert(stream, booking);
    }

    fn take(&mut self, stream: StreamId) -> Option<Booking> {
        let booking = self.bookings.remove(&stream)?;
        self.changes += 1;
        Some(booking)
    }

    /// Reserved links that begin or end at this node.
    pub fn links(&self) -> Vec<ReservedLink> {
        let links = self.bookings.iter().flat_map(|(&stream, booking)| {
            let hops = booking.place.max(1)..=(booking.place + 1).min(booking.hops());
            hops.map(move |hop| ReservedLink { stream, hop: hop as u8, airtime: booking.path[hop].airtime })
        });
        links.collect()
    }

    /// Share of time that is reserved around this node, without the streams that are `left_out`. Of paths through this node it knows all links,
    /// also those that no neighbour has told of yet.
    pub fn reserved(&self, around: &Surroundings, left_out: impl Fn(StreamId) -> bool) -> f64 {
        around.reserved(&self.known_links(around), left_out)
    }

    /// Links of paths through this node that it senses.
    fn known_links(&self, around: &Surroundings) -> Vec<ReservedLink> {
        let links = self.bookings.iter().flat_map(|(&stream, booking)| {
            let sensed = around.sensed(&booking.path);
            sensed.map(move |(hop, airtime)| ReservedLink { stream, hop: hop as u8, airtime })
        });
        links.collect()
    }

    /// The user of this display wants a stream over a path.
    pub fn handle_plan(&mut self, plan: Plan, knowledge: &impl Knowledge, now: Instant) {
        let Plan { stream, attempt, wish, prefetch, path } = plan;
        let booking = Booking {
            attempt,
            wish,
            prefetch,
            risk: 0,
            place: 0,
            path,
            is_firm: false,
            expires: now + self.rules.expiry,
            sends: Some(now + self.rules.repeat),
            sent: 1,
        };
        self.remove_older(stream, booking.next());
        match self.judge_or_displace(stream, &booking, knowledge) {
            Ok(_) => {
                self.send_on(stream, &booking);
                self.insert(stream, booking);
            }
            Err((reason, fits)) => {
                self.outputs.push_back(Output::Refused { stream, node: self.me, reason, fits });
            }
        }
    }

    /// Takes a booking back that a new one replaces, also at the nodes behind if they are others.
    fn remove_older(&mut self, stream: StreamId, next: Option<Ipv4Addr>) {
        if let Some(older) = self.take(stream)
            && older.next() != next
        {
            self.send(older.next(), Message::Release { stream });
        }
    }

    /// The stream is no longer wanted by this node.
    pub fn handle_end(&mut self, stream: StreamId) {
        if let Some(booking) = self.take(stream) {
            self.send(booking.next(), Message::Release { stream });
            self.send(booking.previous(), Message::Release { stream });
        }
    }

    /// Neighbours are gone: firm bookings of paths over them end, and the rest of these paths is told. Tentative ones end by themselves.
    pub fn handle_gone(&mut self, is_heard: impl Fn(Ipv4Addr) -> bool) {
        let is_cut =
            |booking: &Booking| booking.is_firm && !booking.previous().into_iter().chain(booking.next()).all(&is_heard);
        for stream in self.streams_of(is_cut) {
            let Some(booking) = self.bookings.get(&stream) else { continue };
            for neighbour in [booking.previous(), booking.next()] {
                self.send(neighbour.filter(|&node| is_heard(node)), Message::Release { stream });
            }
            self.end(stream);
        }
    }

    /// A message of a neighbour about a reservation; others change nothing.
    pub fn handle_message(&mut self, from: Ipv4Addr, message: Message, knowledge: &impl Knowledge, now: Instant) {
        match message {
            Message::Reserve { stream, attempt, place, wish, prefetch, risk, path } => {
                let place = usize::from(place);
                if !self.is_sound(stream, place, from, &path) {
                    return;
                }
                let booking = Booking {
                    attempt,
                    wish,
                    prefetch,
                    risk,
                    place,
                    path,
                    is_firm: false,
                    expires: now + self.rules.repeat * (u64::from(ATTEMPTS) + 1),
                    sends: None,
                    sent: 0,
                };
                self.handle_reserve(stream, booking, knowledge, now);
            }
            Message::Confirm { stream, attempt, risk } => {
                let expiry = now + self.rules.expiry;
                let Some(booking) = self.bookings.get_mut(&stream) else {
                    // The node has forgotten, or never knew: the ones behind must forget too.
                    return self.send(Some(from), Message::Release { stream });
                };
                if booking.next() != Some(from) || booking.attempt != attempt {
                    return;
                }
                if booking.is_firm {
                    // Repeated: the first one may have been lost on its way to the display.
                    let previous = booking.previous();
                    return self.send(previous, Message::Confirm { stream, attempt, risk });
                }
                booking.is_firm = true;
                booking.expires = expiry;
                let previous = booking.previous();
                if previous.is_none() {
                    booking.sends = Some(now + self.rules.refresh);
                    let risk = (risk != u32::MAX).then(|| f64::from(risk) / CERTAIN);
                    self.outputs.push_back(Output::Confirmed { stream, risk });
                }
                self.send(previous, Message::Confirm { stream, attempt, risk });
            }
            Message::Reject { stream, attempt, node, reason, fits } => {
                let is_its = |booking: &Booking| booking.next() == Some(from) && booking.attempt == attempt;
                if !self.bookings.get(&stream).is_some_and(is_its) {
                    return;
                }
                let booking = self.take(stream).expect("it has just been there");
                match booking.previous() {
                    None => self.outputs.push_back(Output::Refused { stream, node, reason, fits }),
                    previous => self.send(previous, Message::Reject { stream, attempt, node, reason, fits }),
                }
            }
            Message::Refresh { stream } => {
                let expires = now + self.rules.expiry;
                match self.bookings.get_mut(&stream) {
                    Some(booking) if booking.previous() == Some(from) => {
                        booking.expires = expires;
                        let next = booking.next();
                        self.send(next, Message::Refresh { stream });
                    }
                    Some(_) => {}
                    // As a release from here: the display learns that the path is broken.
                    None => self.send(Some(from), Message::Release { stream }),
                }
            }
            Message::Release { stream } => {
                let Some(booking) = self.bookings.get(&stream) else { return };
                let (previous, next) = (booking.previous(), booking.next());
                if previous != Some(from) && next != Some(from) {
                    return;
                }
                self.end(stream);
                let onward = if previous == Some(from) { next } else { previous };
                self.send(onward, Message::Release { stream });
            }
            _ => {}
        }
    }

    /// Whether a RESERVE is for this node, comes from the node before it, and leads along a path.
    fn is_sound(&self, stream: StreamId, place: usize, from: Ipv4Addr, path: &[PlannedHop]) -> bool {
        let is_repeated = |(at, hop): (usize, &PlannedHop)| path[..at].iter().any(|other| other.node == hop.node);
        (2..=MAX_HOPS + 1).contains(&path.len())
            && (1..path.len()).contains(&place)
            && path[0].node == stream.display
            && path[place].node == self.me
            && path[place - 1].node == from
            && !path.iter().enumerate().any(is_repeated)
    }

    fn handle_reserve(&mut self, stream: StreamId, mut booking: Booking, knowledge: &impl Knowledge, now: Instant) {
        if let Some(known) = self.bookings.get_mut(&stream)
            && known.attempt == booking.attempt
            && known.path.len() == booking.path.len()
            && known.previous() == booking.previous()
            && known.next() == booking.next()
        {
            // Repeated: what came after it may have been lost.
            known.expires = known.expires.max(booking.expires);
            let known = known.clone();
            return self.pass(stream, &known);
        }
        let previous = booking.previous();
        let refuse = |reservations: &mut Self, reason, fits| {
            let (attempt, node) = (booking.attempt, reservations.me);
            reservations.send(previous, Message::Reject { stream, attempt, node, reason, fits });
        };
        let is_last = booking.next().is_none();
        let leads_on = match booking.next() {
            Some(next) => knowledge.surroundings().is_neighbour(next),
            None => knowledge.has_clip(booking.wish.clip),
        };
        if !leads_on {
            return refuse(self, Refusal::Absent, 0);
        }
        self.remove_older(stream, booking.next());
        if self.bookings.len() >= MAX_BOOKINGS {
            return refuse(self, Refusal::Lost, 0);
        }
        booking.path[booking.place].airtime = self.airtime(&booking, knowledge);
        match self.judge_or_displace(stream, &booking, knowledge) {
            Err((reason, fits)) => refuse(self, reason, fits),
            Ok(risk) => {
                booking.risk = risk;
                if is_last {
                    booking.is_firm = true;
                    booking.expires = now + self.rules.expiry;
                    self.outputs.push_back(Output::Granted { stream, wish: booking.wish });
                }
                self.pass(stream, &booking);
                self.insert(stream, booking);
            }
        }
    }

    /// Tells the next node, or from the last one the node before.
    fn pass(&mut self, stream: StreamId, booking: &Booking) {
        match booking.next() {
            Some(_) => self.send_on(stream, booking),
            None => {
                let message = Message::Confirm { stream, attempt: booking.attempt, risk: booking.risk };
                self.send(booking.previous(), message);
            }
        }
    }

    fn send_on(&mut self, stream: StreamId, booking: &Booking) {
        self.send(booking.next(), booking.reserve(stream));
    }

    /// Airtime that the stream takes on the link towards the display.
    fn airtime(&self, booking: &Booking, knowledge: &impl Knowledge) -> u16 {
        let profile = booking.previous().and_then(|previous| knowledge.profile(previous));
        let mean = profile.and_then(|profile| profile.mean(Horizon::Second));
        match (self.rules.policy, mean) {
            (Policy::Hops, _) => units(f64::from(booking.wish.rate) / self.rules.nominal_rate),
            (_, Some(mean)) if mean > 0.0 => units(f64::from(booking.wish.rate) * EXPANSION / mean),
            (_, Some(_)) => u16::MAX,
            (_, None) => booking.path[booking.place].airtime,
        }
    }

    /// As [`Self::judge`]; what refuses for tentative bookings of higher identities takes these back.
    fn judge_or_displace(&mut self, stream: StreamId, booking: &Booking, knowledge: &impl Knowledge) -> Verdict {
        let first = self.judge(stream, booking, knowledge, &[]);
        let Err((Refusal::Airtime | Refusal::Hops | Refusal::Risk, _)) = first else { return first };
        let is_weaker = |&(&other, booking): &(&StreamId, &Booking)| !booking.is_firm && other > stream;
        let weaker: Vec<StreamId> = self.bookings.iter().filter(is_weaker).map(|(&other, _)| other).collect();
        if weaker.is_empty() {
            return first;
        }
        let second = self.judge(stream, booking, knowledge, &weaker);
        if second.is_ok() {
            for stream in weaker {
                self.displace(stream);
            }
        }
        second
    }

    /// Takes a tentative booking back for one that goes before it.
    fn displace(&mut self, stream: StreamId) {
        let Some(booking) = self.take(stream) else { return };
        let (attempt, node, reason, fits) = (booking.attempt, self.me, Refusal::Lost, 0);
        self.send(booking.next(), Message::Release { stream });
        match booking.previous() {
            None => self.outputs.push_back(Output::Refused { stream, node, reason, fits }),
            previous => self.send(previous, Message::Reject { stream, attempt, node, reason, fits }),
        }
    }

    /// The probability of a stall so far, in units of messages, or why this node refuses.
    fn judge(&self, stream: StreamId, booking: &Booking, knowledge: &impl Knowledge, left_out: &[StreamId]) -> Verdict {
        let Rules { policy, max_airtime, stalls_per_hour, pace, .. } = self.rules;
        let around = knowledge.surroundings();
        let path = &booking.path;
        let sensed: Vec<u16> = around.sensed(path).map(|(_, airtime)| airtime).collect();
        let own_airtime: f64 = sensed.iter().copied().map(share).sum();
        let links = self.known_links(around);
        let others = around.reserved(&links, |other| other.is_same_request(stream) || left_out.contains(&other));
        // Other paths of the same request carry nothing while this one does.
        let rivals = around.reserved(&links, |other| other == stream || !other.is_same_request(stream));
        let limit = if policy == Policy::Hops { 1.0 } else { max_airtime };
        let (rate, length) = (f64::from(booking.wish.rate), f64::from(booking.wish.length) / 1e3);
        // Shares are rounded up to units, and the greatest may stand for more than all of the time.
        let is_too_slow = sensed.contains(&u16::MAX);
        if policy.counts_reserved() && (is_too_slow || others + own_airtime.max(rivals) > limit + 1e-3) {
            let reason = if policy == Policy::Hops { Refusal::Hops } else { Refusal::Airtime };
            let fits = rate * ((limit - others) / own_airtime).max(0.0);
            return Err((reason, fits as u32));
        }
        let Some(previous) = booking.previous() else { return Ok(booking.risk) };
        let profile = knowledge.profile(previous);
        if policy == Policy::Mean {
            let mean = profile.and_then(|profile| profile.mean(Horizon::Second)).unwrap_or_default();
            if mean < rate {
                return Err((Refusal::Rate, mean as u32));
            }
        }
        let link = share(path[booking.place].airtime);
        let taken = own_airtime - link + if policy == Policy::Profile { 0.0 } else { others };
        let load = Load { rate: rate * EXPANSION, length, share: (1.0 - taken).max(0.0), pace };
        let outlook = profile.and_then(|profile| self.outlook(profile, stream, &load));
        let Some(outlook) = outlook else {
            return if policy.limits_stalls() { Err((Refusal::Unknown, 0)) } else { Ok(u32::MAX) };
        };
        let here = outlook.stall_probability(f64::from(booking.prefetch) / 1e3);
        let risk = match booking.risk {
            u32::MAX => u32::MAX,
            // A float to integer cast saturates; one is not exceeded.
            before => (f64::from(before) + here * CERTAIN).min(CERTAIN) as u32,
        };
        let allowed = tolerated(stalls_per_hour, length);
        if policy.limits_stalls() && f64::from(risk) > allowed * CERTAIN {
            let least = prefetch::least(&outlook, allowed / booking.hops() as f64);
            return Err((Refusal::Risk, least.map_or(0, |least| (least.as_nanos() / 1_000_000) as u32)));
        }
        Ok(risk)
    }

    /// How a stream would fare on a link. The same draws each time: two looks at one link don't contradict each other.
    pub fn outlook(&self, profile: &Profile, stream: StreamId, load: &Load) -> Option<Outlook> {
        let mut random = Stream::new(self.seed, Purpose::Cloud, u32::from(stream.display).into(), stream.number.into());
        Outlook::new(self.rules.estimator, profile, load, &mut random)
    }

    /// Ends what has expired, and repeats and refreshes what is due.
    pub fn handle_timeout(&mut self, now: Instant) {
        for stream in self.streams_of(|booking| booking.expires <= now) {
            self.end(stream);
        }
        for stream in self.streams_of(|booking| booking.sends.is_some_and(|sends| sends <= now)) {
            self.send_again(stream, now);
        }
    }

    /// Streams with a booking that `is_one`.
    fn streams_of(&self, is_one: impl Fn(&Booking) -> bool) -> Vec<StreamId> {
        self.bookings.iter().filter(|(_, booking)| is_one(booking)).map(|(&stream, _)| stream).collect()
    }

    /// Takes a booking out, and reports it at the two ends of its path. A display that has no answer yet is refused.
    fn end(&mut self, stream: StreamId) {
        let Some(booking) = self.take(stream) else { return };
        if booking.previous().is_none() && !booking.is_firm {
            self.outputs.push_back(Output::Refused { stream, node: self.me, reason: Refusal::Lost, fits: 0 });
        } else if booking.previous().is_none() || booking.next().is_none() {
            self.outputs.push_back(Output::Ended { stream });
        }
    }

    /// The display refreshes what is firm, and repeats its RESERVE, or gives up.
    fn send_again(&mut self, stream: StreamId, now: Instant) {
        let Some(booking) = self.bookings.get_mut(&stream) else { return };
        let next = booking.next();
        if booking.is_firm {
            booking.sends = Some(now + self.rules.refresh);
            booking.expires = now + self.rules.expiry;
            self.send(next, Message::Refresh { stream });
        } else if booking.sent < ATTEMPTS {
            booking.sent += 1;
            booking.sends = Some(now + self.rules.repeat);
            let booking = booking.clone();
            self.send_on(stream, &booking);
        } else {
            self.send(next, Message::Release { stream });
            self.end(stream);
        }
    }

    /// The time of the next [`Self::handle_timeout`].
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.bookings.values().flat_map(|booking| [Some(booking.expires), booking.sends]).flatten().min()
    }

    /// Takes out the next output.
    pub fn poll_output(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    fn send(&mut self, to: Option<Ipv4Addr>, message: Message) {
        if let Some(to) = to {
            self.outputs.push_back(Output::Send { to, message });
        }
    }
}

#[cfg(test)]
mod tests;
