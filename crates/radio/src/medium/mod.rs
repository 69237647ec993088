//! The medium: links between stations, frames on the air, and their reception at each receiver.
//!
//! A transmission is a single object. Its edges travel along the links of its transmitter, which are sorted by delay, so
//! that a driver can walk them in order without an event for each receiver. Where stations move, a transmission keeps the
//! links that it had when it began.

mod losses;
mod paths;
#[cfg(test)]
mod tests;
mod variation;

use std::rc::Rc;

use hopcast_protocols::time::{Duration, Instant};

use crate::aggregate::{Arriving, Body, Mpdu, MpduSet, with_subframe};
use crate::errors::ReceivedFrame;
use crate::frame::{Header, StationId};
use crate::phy::{Capability, Fit, Heard, LEGACY_PREAMBLE, ModulationClasses, Overlap, Spectrum, TxVector};
use crate::reception::{Arrival, Carrier, IdleWidths, LeadingEdge, Presence, Receivers, Reception, ReceptionOutcome};
use crate::transmission::Tally;
pub use crate::transmission::{Totals, Transmission, TransmissionId};
use crate::units::Power;
pub use losses::Losses;
pub use paths::Geometry;
use paths::Paths;
pub use variation::{Factors, Variation};

/// A path from one station to another.
#[derive(Clone, Copy, Debug)]
pub struct Link {
    /// The receiving station.
    pub receiver: StationId,
    /// Propagation delay.
    pub delay: Duration,
    /// Received power.
    pub power: Power,
    /// Modulation classes of frames that the receiver understands: none if the link leaks from another channel, on which
    /// frames only interfere.
    pub decodable: ModulationClasses,
}

impl Link {
    /// The order in which a transmission reaches its receivers.
    pub const fn order(&self) -> (Duration, StationId) {
        (self.delay, self.receiver)
    }
}

/// A trailing edge on its way along the links of its transmitter.
#[derive(Clone, Copy, Debug)]
pub struct TrailingEdge {
    /// Next link that it reaches.
    next: u32,
    /// One beyond the last link.
    end: u32,
    leaves: Instant,
    /// Number of the transmission.
    pub number: u64,
}

/// A transmission that has begun.
#[derive(Clone, Copy, Debug)]
#[must_use = "the edges of the transmission are to be followed"]
pub struct StartedTransmission {
    /// Its index while it is on the air.
    pub id: TransmissionId,
    /// Its number in this run.
    pub number: u64,
    /// Time when its leading edge reaches its first receiver.
    pub leading: Instant,
    /// Time when its trailing edge reaches its first receiver.
    pub trailing: Instant,
}

/// Progress of a trailing edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "an edge that has not come to all is to be followed again"]
pub enum EdgeProgress {
    /// It has reached all receivers.
    Over,
    /// Time when it reaches the next receiver.
    Later(Instant),
    /// The walk was halted at this time, at this receiver, which knows of the edge already.
    Halted(Instant, StationId),
}

/// All stations' receivers and the frames on the air between them.
#[derive(Debug)]
pub struct Medium<P> {
    paths: Paths,
    receivers: Receivers,
    variation: Option<Variation>,
    losses: Option<Losses>,
    /// Of all stations, where they differ.
    capabilities: Option<Capabilities>,
    /// Where stations tell their primary channel from the secondary ones.
    spectrum: Option<Box<Spectrum>>,
    /// Slots of a slab; `free` holds the unused ones.
    transmissions: Vec<Option<Transmission<P>>>,
    /// By slot: the power at each receiver that the frame has reached, in the order of the links; where it varies.
    powers: Vec<Vec<Power>>,
    free: Vec<TransmissionId>,
    /// Frames that each station has sent.
    sent: Vec<u32>,
    /// Of the frame with several MPDUs that a station has received last: those without error.
    received: MpduSet,
    /// Whether stations look at MPDUs of frames for others.
    are_mpdus_overheard: bool,
    tally: Tally,
}

/// What the stations can decode, where they differ.
#[derive(Debug)]
struct Capabilities {
    of: Box<[Capability]>,
    /// Whether powers are in watts, so that a share of one means something.
    has_power: bool,
}

impl<P> Medium<P> {
    /// A silent medium. `links[i]` are the paths from station `i` to the stations that its signal reaches.
    pub fn new(links: Vec<Vec<Link>>, reception: Reception) -> Self {
        let stations = links.len();
        Self::of(Paths::fixed(links), reception, stations)
    }

    /// A silent medium between this number of stations, whose paths `geometry` computes at each instant.
    pub fn moving(geometry: Box<dyn Geometry>, reception: Reception, stations: usize) -> Self {
        Self::of(Paths::moving(geometry), reception, stations)
    }

    fn of(paths: Paths, reception: Reception, stations: usize) -> Self {
        Self {
            paths,
            receivers: Receivers::new(reception, stations),
            variation: None,
            losses: None,
            capabilities: None,
            spectrum: None,
            transmissions: Vec::new(),
            powers: Vec::new(),
            free: Vec::new(),
            sent: vec![0; stations],
            received: MpduSet::default(),
            are_mpdus_overheard: true,
            tally: Tally::default(),
        }
    }

    /// Lets the powers of the links vary from frame to frame.
    pub fn set_variation(&mut self, variation: Variation) {
        self.variation = Some(variation);
    }

    /// Adds losses of frames that were received.
    pub fn set_losses(&mut self, losses: Losses) {
        self.losses = Some(losses);
    }

    /// Lets each station decode what its standard has: by station. A receiver of a narrower channel gets its share of the power of a
    /// frame if powers mean anything, as `has_power` tells.
    pub fn set_capabilities(&mut self, capabilities: Vec<Capability>, has_power: bool) {
        self.capabilities = Some(Capabilities { of: capabilities.into(), has_power });
    }

    /// Sets whether stations look at MPDUs of frames for others, as they do at first. If they don't, at most one
    /// MPDU of a frame for another station is in the set of received ones, which saves draws.
    pub fn set_mpdus_overheard(&mut self, are_overheard: bool) {
        self.are_mpdus_overheard = are_overheard;
    }

    /// Has each station tell its primary channel from the secondary ones; `pifs` is how long those are to be idle. Links are to have the
    /// power of all of a frame, wherever in the channel of its receiver that is.
    ///
    /// # Panics
    /// If thresholds decide on reception.
    pub fn set_spectrum(&mut self, spectrum: Spectrum, pifs: Duration) {
        self.receivers.set_widths(spectrum.widths(), pifs);
        self.spectrum = Some(Box::new(spectrum));
    }

    /// Widths of which all secondary channels of a station were idle for PIFS; `None`: it does not tell them apart.
    pub fn idle_widths(&self, station: StationId, now: Instant) -> Option<IdleWidths> {
        self.receivers.idle_widths(station, now)
    }

    /// Puts a frame with its packet, or its `body`, on the air. Its transmitter loses what it was receiving. `None`: its signal reaches
    /// no station.
    #[must_use = "the edges of the transmission are to be followed"]
    pub fn transmit(
        &mut self,
        frame: &Header,
        packet: Option<&P>,
        body: Option<&Rc<Body<P>>>,
        now: Instant,
    ) -> Option<StartedTransmission>
    where
        P: Clone,
    {
        self.receivers.on_transmit(frame.transmitter, &mut self.tally);
        let number = self.tally.totals.frames_sent;
        self.tally.totals.frames_sent += 1;
        let transmitter = frame.transmitter.0 as usize;
        // What is drawn for a frame is keyed by its transmitter and its place among that one's: what others send moves no
        // draw.
        let key = (transmitter as u64) << 32 | u64::from(self.sent[transmitter]);
        self.sent[transmitter] = self.sent[transmitter].wrapping_add(1);
        let (modulation, threshold) = (frame.vector.modulation_class(), self.receivers.least_power(frame.vector));
        let (first_link, end_link) = self.paths.claim(frame.transmitter, now);
        let first = self.paths.links[first_link as usize..end_link as usize].first()?;
        let leading = now + first.delay;
        let trailing = leading + frame.airtime;
        let id = self.free.pop().unwrap_or_else(|| {
            self.transmissions.push(None);
            self.powers.push(Vec::new());
            TransmissionId::from_index(self.transmissions.len() as u32 - 1)
        });
        // Made where it stays.
        self.transmissions[id.index()] = Some(Transmission {
            frame: *frame,
            packet: packet.cloned(),
            body: body.cloned(),
            start: now,
            number,
            key,
            modulation,
            threshold,
            first_link,
            end_link,
            leading: first_link,
            trailing: first_link,
        });
        Some(StartedTransmission { id, number, leading, trailing })
    }

    /// Whether a transmission that has just begun reaches `station`.
    pub fn reaches(&self, id: TransmissionId, station: StationId) -> bool {
        let Transmission { first_link, end_link, .. } = *self.transmission(id);
        self.paths.links[first_link as usize..end_link as usize].iter().any(|link| link.receiver == station)
    }

    /// The power with which a transmission that has just begun `now` comes to `station`; zero if it does not reach it.
    pub fn power_at(&self, id: TransmissionId, station: StationId, now: Instant) -> Power {
        let Transmission { frame, key, first_link, end_link, .. } = self.transmission(id);
        let mut links = self.paths.links[*first_link as usize..*end_link as usize].iter();
        let Some(link) = links.find(|link| link.receiver == station) else { return Power::ZERO };
        let power = match &self.capabilities {
            Some(capabilities) if self.spectrum.is_none() => capabilities.power(link, frame.vector),
            _ => link.power,
        };
        match &self.variation {
            None => power,
            Some(variation) => {
                let factors = variation.of(*key, frame.transmitter);
                varied(power, &factors, station, now + link.delay)
            }
        }
    }

    /// The transmitter's own frame has ended. Returns whether it senses a busy medium.
    pub fn handle_transmitted(&mut self, station: StationId) -> bool {
        self.receivers.on_transmitted(station);
        self.receivers.is_busy(station)
    }

    /// The transmission on the air with this index.
    ///
    /// # Panics
    /// If the transmission has ended.
    pub fn transmission(&self, id: TransmissionId) -> &Transmission<P> {
        self.transmissions[id.index()].as_ref().expect("edges exist only for what is on the air")
    }

    /// Whether a transmission carries a broadcast, and its trailing edge has not reached any station yet.
    #[inline]
    pub fn is_broadcast(&self, id: TransmissionId) -> bool {
        let Transmission { frame, first_link, trailing, .. } = self.transmission(id);
        frame.receiver.is_none() && trailing == first_link
    }

    /// The stations that are receiving a transmission.
    pub fn receivers_of(&self, id: TransmissionId) -> impl Iterator<Item = StationId> {
        let Transmission { first_link, end_link, .. } = *self.transmission(id);
        let links = &self.paths.links[first_link as usize..end_link as usize];
        links.iter().map(|link| link.receiver).filter(move |&station| self.receivers.is_receiving(station, id))
    }

    /// The current position of a transmission's trailing edge.
    pub fn trailing(&self, id: TransmissionId) -> TrailingEdge {
        let Transmission { frame, start, number, end_link, trailing, .. } = self.transmission(id);
        TrailingEdge { next: *trailing, end: *end_link, leaves: *start + frame.airtime, number: *number }
    }

    /// Leaves a trailing edge where it is, to be followed later.
    pub fn suspend(&mut self, id: TransmissionId, trailing: TrailingEdge) {
        let transmission = self.transmissions[id.index()].as_mut().expect("edges exist only for what is on the air");
        transmission.trailing = trailing.next;
    }

    /// Follows a leading edge to all receivers that it reaches before `bound`. It calls `on_arrival` for each with the
    /// station, the time, and the event for its MAC. Returns the time when the edge reaches the next receiver, if there
    /// is one.
    #[inline]
    #[must_use = "the edge is to be followed again from then on"]
    pub fn follow_leading(
        &mut self,
        id: TransmissionId,
        bound: Instant,
        mut on_arrival: impl FnMut(StationId, Instant, LeadingEdge),
    ) -> Option<Instant> {
        let (Receivers::Threshold(model, receivers), None, None) =
            (&mut self.receivers, &self.variation, &self.capabilities)
        else {
            return self.follow_leading_in_general(id, bound, on_arrival);
        };
        // What follows, for the simplest of the models alone: here most of the time of large networks is spent.
        let transmission = self.transmissions[id.index()].as_mut();
        let transmission = transmission.expect("edges exist only for what is on the air");
        let links = &self.paths.links[transmission.leading as usize..transmission.end_link as usize];
        let Transmission { frame: Header { header, airtime, .. }, start, modulation, threshold, .. } = *transmission;
        for link in links {
            let now = start + link.delay;
            if now >= bound {
                return Some(now);
            }
            transmission.leading += 1;
            let arrival = Arrival {
                receiver: link.receiver,
                transmission: id,
                power: link.power,
                decodable: link.decodable.has(modulation) & (link.power >= threshold),
                is_whole: true,
                now,
                header_end: now + header,
                end: now + airtime,
            };
            let onset = receivers[link.receiver.0 as usize].on_leading::<false>(model, arrival, &mut self.tally);
            on_arrival(link.receiver, now, onset);
        }
        None
    }

    /// [`Self::follow_leading`] for any model.
    #[inline(never)]
    fn follow_leading_in_general(
        &mut self,
        id: TransmissionId,
        bound: Instant,
        mut on_arrival: impl FnMut(StationId, Instant, LeadingEdge),
    ) -> Option<Instant> {
        let has_own_powers = self.has_own_powers();
        let transmission = self.transmissions[id.index()].as_mut();
        let transmission = transmission.expect("edges exist only for what is on the air");
        let has_mpdus = transmission.mpdus().is_some();
        let Transmission { frame, start, key, modulation, threshold, end_link, leading, .. } = transmission;
        let links = &self.paths.links[*leading as usize..*end_link as usize];
        let factors = self.variation.as_ref().map(|variation| variation.of(*key, frame.transmitter));
        let powers = &mut self.powers[id.index()];
        let spectrum = self.spectrum.as_deref();
        let (content, preamble_threshold) = match self.capabilities.is_some() || spectrum.is_some() {
            false => (self.receivers.content(frame, has_mpdus, *key), *threshold),
            true => self.receivers.content_for_all(frame, has_mpdus, *key, *threshold),
        };
        for link in links {
            let now = *start + link.delay;
            if now >= bound {
                return Some(now);
            }
            *leading += 1;
            let (mut power, mut heard) = (link.power, Heard::Energy);
            if link.decodable.has(*modulation) {
                heard = Heard::Whole;
            }
            if let Some(capabilities) = &self.capabilities {
                if spectrum.is_none() {
                    power = capabilities.power(link, frame.vector);
                }
                heard = capabilities.heard(link, frame.vector.repeated());
            }
            if let Some(factors) = &factors {
                power = varied(power, factors, link.receiver, now);
            }
            if has_own_powers {
                powers.push(power);
            }
            let mut presence = None;
            if let Some(spectrum) = spectrum {
                let present;
                (present, heard, power) = over_channels(spectrum, frame, link.receiver, heard, power);
                presence = Some(present);
            }
            let (threshold, header) = match heard {
                Heard::Preamble => (preamble_threshold, LEGACY_PREAMBLE),
                Heard::Whole | Heard::Energy => (*threshold, frame.header),
            };
            let arrival = Arrival {
                receiver: link.receiver,
                transmission: id,
                power,
                decodable: heard != Heard::Energy && power >= threshold,
                is_whole: heard == Heard::Whole,
                now,
                header_end: now + header,
                end: now + frame.airtime,
            };
            let onset = self.receivers.on_leading(link.receiver, arrival, &content, presence.as_ref(), &mut self.tally);
            on_arrival(link.receiver, now, onset);
        }
        None
    }

    /// Follows a trailing edge to all receivers that it reaches before `bound`. It calls `on_end` for each with the
    /// transmission, the link with the power that the frame had there, the time, the outcome, and how that station's
    /// physical carrier sense turns. `on_end` returns the instant up to which the walk may continue, or `None` to halt it.
    /// Of a frame with MPDUs it also learns which of them were received; see [`Self::set_mpdus_overheard`].
    #[inline]
    pub fn follow_trailing(
        &mut self,
        id: TransmissionId,
        front: &mut TrailingEdge,
        mut bound: Instant,
        mut on_end: impl FnMut(&Transmission<P>, &Link, Instant, ReceptionOutcome, &MpduSet, Carrier) -> Option<Instant>,
    ) -> EdgeProgress {
        let has_own_powers = self.has_own_powers();
        let Self {
            paths,
            receivers,
            losses,
            transmissions,
            powers,
            tally,
            received,
            are_mpdus_overheard,
            spectrum,
            ..
        } = self;
        let transmission = transmissions[id.index()].as_ref().expect("edges exist only for what is on the air");
        *received = MpduSet::ALL;
        let mpdus = transmission.mpdus();
        let is_simple = !has_own_powers && losses.is_none();
        for link in &paths.links[front.next as usize..front.end as usize] {
            let now = front.leaves + link.delay;
            if now >= bound {
                return EdgeProgress::Later(now);
            }
            let mut link = *link;
            let (heard, carrier) = match &mut *receivers {
                // For the simplest of the models alone: here most of the time of large networks is spent.
                Receivers::Threshold(model, receivers) if is_simple => {
                    receivers[link.receiver.0 as usize].on_trailing(model, id, link.power)
                }
                receivers => {
                    if has_own_powers {
                        link.power = powers[id.index()][(front.next - transmission.first_link) as usize];
                    }
                    let presence = spectrum
                        .as_ref()
                        .map(|spectrum| presence_at(spectrum, &transmission.frame, link.receiver, link.power));
                    let end = receivers.on_trailing(
                        link.receiver,
                        id,
                        (link.power, presence.as_ref()),
                        now,
                        mpdus.map(|mpdus| Arriving {
                            mpdus,
                            received,
                            is_one_enough: !*are_mpdus_overheard
                                && losses.is_none()
                                && transmission.frame.receiver != Some(link.receiver),
                        }),
                        tally,
                    );
                    match (losses.as_mut(), mpdus) {
                        (None, _) => end,
                        (Some(losses), None) => lose(losses, transmission, &link, end, now),
                        (Some(losses), Some(mpdus)) => {
                            lose_mpdus(losses, transmission, mpdus, received, (&link, end, now))
                        }
                    }
                }
            };
            front.next += 1;
            match on_end(transmission, &link, now, heard, received, carrier) {
                Some(until) => bound = bound.min(until),
                None => return EdgeProgress::Halted(now, link.receiver),
            }
        }
        EdgeProgress::Over
    }

    /// Forgets a transmission whose trailing edge has passed all receivers.
    pub fn remove(&mut self, id: TransmissionId) {
        let slot = &mut self.transmissions[id.index()];
        if let Some(transmission) = slot {
            self.paths.release(transmission.first_link, transmission.end_link);
            // Dropped where it is: packets are large.
            *slot = None;
        }
        if self.has_own_powers() {
            self.powers[id.index()].clear();
        }
        self.free.push(id);
    }

    /// Whether the station's PHY has reported the start of a frame that has not ended.
    pub fn receiving(&self, station: StationId, now: Instant) -> bool {
        self.receivers.receiving(station, now)
    }

    /// Frames that are on the air.
    pub fn on_air(&self) -> impl Iterator<Item = &Transmission<P>> {
        self.transmissions.iter().flatten()
    }

    /// Whether frames have other powers at receivers than those of their links.
    const fn has_own_powers(&self) -> bool {
        self.variation.is_some() || self.capabilities.is_some() || self.spectrum.is_some()
    }

    /// How many links a transmission's leading edge has passed.
    pub fn passed(&self, id: TransmissionId) -> usize {
        let Transmission { first_link, leading, .. } = self.transmission(id);
        (leading - first_link) as usize
    }

    /// The links that a transmission's leading edge has passed, without the first `from`; each with the power of the frame there.
    pub fn passed_links(&self, id: TransmissionId, from: usize) -> impl Iterator<Item = Link> {
        let Transmission { first_link, leading, .. } = *self.transmission(id);
        let links = &self.paths.links[first_link as usize..leading as usize];
        links.iter().enumerate().skip(from).map(move |(place, link)| match self.has_own_powers() {
            false => *link,
            true => Link { power: self.powers[id.index()][place], ..*link },
        })
    }

    /// Vectors with the noise at receivers of their frames; none if the model of reception has no noise.
    pub fn noises(&self) -> Vec<(TxVector, Power)> {
        match &self.receivers {
            Receivers::Threshold(..) => Vec::new(),
            Receivers::Sinr(model, _) => model.modes.iter().map(|mode| (mode.vector(), mode.noise())).collect(),
        }
    }

    /// Keeps collisions for [`Self::drain_collided`] from now on.
    pub fn keep_collided(&mut self) {
        self.tally.collided.get_or_insert_default();
    }

    /// Takes out the collisions that have become known since the last call, each with its frame and the way that it took. They are
    /// to be taken before any of these frames is removed.
    pub fn drain_collided(&mut self, mut handle: impl FnMut(&Transmission<P>, &Link)) {
        for (station, id) in self.tally.collided.iter_mut().flat_map(|collided| collided.drain(..)) {
            let transmission = self.transmissions[id.index()].as_ref().expect("frames on the air collide");
            let links = &self.paths.links[transmission.first_link as usize..transmission.end_link as usize];
            links.iter().filter(|link| link.receiver == station).for_each(|link| handle(transmission, link));
        }
    }

    /// Totals over all receivers so far.
    pub fn totals(&self) -> &Totals {
        &self.tally.totals
    }
}

impl Capabilities {
    /// What the receiver of a link makes of a frame: energy if it leaks from another channel.
    fn heard(&self, link: &Link, vector: TxVector) -> Heard {
        match link.decodable {
            ModulationClasses::NONE => Heard::Energy,
            _ => self.of[link.receiver.0 as usize].heard(vector),
        }
    }

    /// The power of a frame in the channel of the receiver of a link.
    fn power(&self, link: &Link, vector: TxVector) -> Power {
        let share = self.of[link.receiver.0 as usize].share_of_power(vector);
        if share < 1.0 && self.has_power { link.power.scaled(share) } else { link.power }
    }
}

/// What a receiver gets of a power that varies, where it arrives `now`.
fn varied(power: Power, factors: &Factors<'_>, receiver: StationId, now: Instant) -> Power {
    power.scaled(factors.at(receiver, now)).min(Power::LOUDEST)
}

/// What of a frame with this power is in the parts of the channel of `receiver`.
#[cold]
#[inline(never)]
fn presence_at(spectrum: &Spectrum, frame: &Header, receiver: StationId, power: Power) -> Presence {
    presence_of(spectrum.overlap(frame.transmitter.0 as usize, frame.vector, receiver.0 as usize), power)
}

/// The same, with what of it is heard and with what power.
#[cold]
#[inline(never)]
fn over_channels(
    spectrum: &Spectrum,
    frame: &Header,
    receiver: StationId,
    heard: Heard,
    power: Power,
) -> (Presence, Heard, Power) {
    let overlap = spectrum.overlap(frame.transmitter.0 as usize, frame.vector, receiver.0 as usize);
    let present = presence_of(overlap, power);
    let heard = heard_over(overlap, frame.vector, heard);
    let power = power_of(&present, frame.vector, heard);
    (present, heard, power)
}

/// A frame of this power in the parts of a receiver's channel.
fn presence_of(overlap: &Overlap, power: Power) -> Presence {
    Presence { parts: overlap.parts(power), busy: overlap.busy, is_apart: overlap.fit == Fit::Apart }
}

/// What a receiver makes of a frame that meets its channel so, if it would make this of one in it. One that is repeated on each channel
/// of 20 MHz is decoded wherever one of them is its primary channel.
fn heard_over(overlap: &Overlap, vector: TxVector, heard: Heard) -> Heard {
    match (heard, overlap.fit) {
        (Heard::Energy, _) | (_, Fit::Apart) => Heard::Energy,
        (heard, Fit::Whole) => heard,
        (heard, Fit::Primary) if !vector.format().has_shape() => heard,
        (_, Fit::Primary) => Heard::Preamble,
    }
}

/// The power that a receiver has for what it makes of a frame: in the primary channel, and in the secondary ones that it decodes.
fn power_of(presence: &Presence, vector: TxVector, heard: Heard) -> Power {
    let secondaries = match heard {
        Heard::Whole if vector.format().has_shape() => vector.width() as usize,
        _ => 0,
    };
    presence.parts[..=secondaries].iter().fold(Power::ZERO, |sum, &part| sum + part)
}

/// What becomes of a frame that would have this `end` at a receiver, if it may be lost.
fn lose<P>(
    losses: &mut Losses,
    Transmission { frame, key, .. }: &Transmission<P>,
    link: &Link,
    end: (ReceptionOutcome, Carrier),
    now: Instant,
) -> (ReceptionOutcome, Carrier) {
    let (ReceptionOutcome::Frame(start), carrier) = end else { return end };
    let received = ReceivedFrame { frame, receiver: link.receiver, power: link.power, start, end: now };
    if losses.is_lost(*key, &received) { (ReceptionOutcome::Error(start), carrier) } else { end }
}

/// What becomes of a frame with MPDUs, each of which may be lost; of those in `received`.
#[inline(never)]
fn lose_mpdus<P>(
    losses: &mut Losses,
    Transmission { frame, key, .. }: &Transmission<P>,
    mpdus: &[Mpdu<P>],
    received: &mut MpduSet,
    (link, end, now): (&Link, (ReceptionOutcome, Carrier), Instant),
) -> (ReceptionOutcome, Carrier) {
    let (ReceptionOutcome::Frame(start), carrier) = end else { return end };
    let all = now.saturating_since(start);
    let at = |octets: u32| start + all * u64::from(octets) / u64::from(frame.octets.max(1));
    let (mut before, mut left) = (0, MpduSet::default());
    for (place, mpdu) in mpdus.iter().enumerate() {
        let after = with_subframe(before, mpdu.octets);
        let part = Header { octets: mpdu.octets, sequence: mpdu.sequence, retry: mpdu.retry, ..*frame };
        let share = ReceivedFrame {
            frame: &part,
            receiver: link.receiver,
            power: link.power,
            start: at(before),
            end: at(after.min(frame.octets)),
        };
        before = after;
        // Transmitters are numbered from zero: the highest bits of a key are free.
        let key = key ^ (place as u64) << 56;
        if received.has(place) && !losses.is_lost(key, &share) {
            left.insert(place);
        }
    }
    *received = left;
    if left.is_empty() { (ReceptionOutcome::Error(start), carrier) } else { end }
}
