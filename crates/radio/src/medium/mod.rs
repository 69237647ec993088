//! The medium: who hears whom, what is on the air, and what each receiver makes of it.
//!
//! A transmission is one object. Its edges travel along the links of its transmitter, which are sorted by delay, so that
//! a driver can walk them in order without an event for each receiver.

mod receiver;
#[cfg(test)]
mod tests;

use hopcast_protocols::time::{Duration, Instant};

use crate::mac::{Frame, StationId};
use crate::standard::DataRate;
use crate::units::Power;
use receiver::{Arrival, Receiver};
pub use receiver::{Heard, Reception, Rules};

/// A path from one station to another.
#[derive(Clone, Copy, Debug)]
pub struct Link {
    /// Who hears.
    pub receiver: StationId,
    /// Time that the signal travels.
    pub delay: Duration,
    /// Received power.
    pub power: Power,
}

/// Index of a transmission that is on the air.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TransmissionId(u32);

impl TransmissionId {
    /// No transmission.
    pub const NONE: Self = Self(u32::MAX);
}

/// A frame on the air.
#[derive(Clone, Debug)]
pub struct Transmission<P> {
    /// The frame.
    pub frame: Frame<P>,
    /// When its first bit left the transmitter.
    pub start: Instant,
    /// Order of transmission in this run, from zero.
    pub number: u64,
    leading: Front,
    trailing: Front,
}

/// An end of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Edge {
    /// The first bit of the preamble.
    Leading,
    /// The end of the last bit.
    Trailing,
}

/// An edge on its way along the links of its transmitter.
#[derive(Clone, Copy, Debug)]
pub struct Front {
    /// Next link that it reaches.
    next: u32,
    /// One beyond the last link.
    end: u32,
    leaves: Instant,
    header: Duration,
    threshold: Power,
    /// Number of the transmission.
    pub number: u64,
}

/// A transmission that has begun.
#[derive(Clone, Copy, Debug)]
pub struct Launch {
    /// Its index while it is on the air.
    pub id: TransmissionId,
    /// Its number in this run.
    pub number: u64,
    /// When its leading edge reaches its first receiver.
    pub leading: Instant,
    /// When its trailing edge reaches its first receiver.
    pub trailing: Instant,
}

/// Sums over all receivers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Frames put on the air.
    pub frames_sent: u64,
    /// Frame x station that senses it.
    pub receptions: u64,
    /// Frame x station that could have decoded it, had nothing overlapped.
    pub collisions: u64,
}

/// All stations' receivers and what is on the air between them.
#[derive(Clone, Debug)]
pub struct Medium<P> {
    /// Links of all transmitters, each transmitter's sorted by delay and receiver.
    links: Vec<Link>,
    /// Where a transmitter's links begin; one more entry than stations.
    first_link: Vec<u32>,
    receivers: Vec<Receiver>,
    reception: Reception,
    /// Least power to decode a frame of each rate in use.
    thresholds: Vec<(DataRate, Power)>,
    /// Slots of a slab; `free` holds the unused ones.
    transmissions: Vec<Option<Transmission<P>>>,
    free: Vec<TransmissionId>,
    totals: Totals,
}

impl<P> Medium<P> {
    /// A silent medium. `links[i]` are the paths from station `i` to those that its signal reaches; `thresholds`, the
    /// least power to decode a frame of each rate in use.
    pub fn new(links: Vec<Vec<Link>>, reception: Reception, thresholds: Vec<(DataRate, Power)>) -> Self {
        let receivers = vec![Receiver::default(); links.len()];
        let mut first_link = Vec::with_capacity(links.len() + 1);
        let mut all = Vec::with_capacity(links.iter().map(Vec::len).sum());
        for mut own in links {
            own.sort_by_key(|link| (link.delay, link.receiver));
            first_link.push(all.len() as u32);
            all.extend(own);
        }
        first_link.push(all.len() as u32);
        Self {
            links: all,
            first_link,
            receivers,
            reception,
            thresholds,
            transmissions: Vec::new(),
            free: Vec::new(),
            totals: Totals::default(),
        }
    }

    /// The links of a transmitter, in the order in which its signal arrives.
    pub fn links(&self, transmitter: StationId) -> &[Link] {
        let first = self.first_link[transmitter.0 as usize] as usize;
        let end = self.first_link[transmitter.0 as usize + 1] as usize;
        &self.links[first..end]
    }

    /// Puts a frame on the air. Its transmitter loses what it was receiving. `None`: nobody hears it.
    pub fn transmit(&mut self, frame: Frame<P>, now: Instant) -> Option<Launch> {
        self.receivers[frame.transmitter.0 as usize].on_transmit(&self.reception, &mut self.totals);
        let number = self.totals.frames_sent;
        self.totals.frames_sent += 1;
        let threshold = self.thresholds.iter().find(|(rate, _)| *rate == frame.rate).map(|&(_, threshold)| threshold);
        let transmitter = frame.transmitter.0 as usize;
        let leading = Front {
            next: self.first_link[transmitter],
            end: self.first_link[transmitter + 1],
            leaves: now,
            header: frame.header,
            threshold: threshold.expect("every rate in use has a threshold"),
            number,
        };
        let trailing = Front { leaves: now + frame.airtime, ..leading };
        let (arrives, _) = self.next(&leading)?;
        let ends = arrives + frame.airtime;
        let transmission = Some(Transmission { frame, start: now, number, leading, trailing });
        let id = self.free.pop().unwrap_or(TransmissionId(self.transmissions.len() as u32));
        match self.transmissions.get_mut(id.0 as usize) {
            Some(slot) => *slot = transmission,
            None => self.transmissions.push(transmission),
        }
        Some(Launch { id, number, leading: arrives, trailing: ends })
    }

    /// The transmitter's own frame has ended. Returns whether it senses a busy medium.
    pub fn handle_transmitted(&mut self, station: StationId) -> bool {
        let receiver = &mut self.receivers[station.0 as usize];
        receiver.on_transmitted();
        receiver.is_busy()
    }

    /// What is on the air under this index.
    ///
    /// # Panics
    /// If the transmission has ended.
    pub fn transmission(&self, id: TransmissionId) -> &Transmission<P> {
        self.transmissions[id.0 as usize].as_ref().expect("edges exist only for what is on the air")
    }

    /// An edge of a transmission, where it has come to.
    pub fn front(&self, id: TransmissionId, edge: Edge) -> Front {
        let transmission = self.transmission(id);
        match edge {
            Edge::Leading => transmission.leading,
            Edge::Trailing => transmission.trailing,
        }
    }

    /// Whom a front reaches next, and when; `None` once all have it.
    pub fn next(&self, front: &Front) -> Option<(Instant, StationId)> {
        if front.next == front.end {
            return None;
        }
        let link = &self.links[front.next as usize];
        Some((front.leaves + link.delay, link.receiver))
    }

    /// The link that a front has reached last.
    ///
    /// # Panics
    /// If it has reached none.
    pub fn last(&self, front: &Front) -> &Link {
        &self.links[front.next as usize - 1]
    }

    /// A front is left where it is, to be followed later.
    pub fn suspend(&mut self, id: TransmissionId, edge: Edge, front: Front) {
        let transmission = self.transmissions[id.0 as usize].as_mut().expect("edges exist only for what is on the air");
        match edge {
            Edge::Leading => transmission.leading = front,
            Edge::Trailing => transmission.trailing = front,
        }
    }

    /// A leading edge reaches its next receiver, `now`. Returns whether that station's physical carrier sense turns busy.
    pub fn handle_leading(&mut self, id: TransmissionId, front: &mut Front, now: Instant) -> bool {
        let link = &self.links[front.next as usize];
        front.next += 1;
        let arrival = Arrival {
            transmission: id,
            power: link.power,
            decodable: link.power >= front.threshold,
            now,
            header_end: now + front.header,
        };
        self.receivers[link.receiver.0 as usize].on_leading(&self.reception, arrival, &mut self.totals)
    }

    /// A trailing edge reaches its next receiver. Returns what became of the frame there, and whether the station's medium
    /// turns idle.
    pub fn handle_trailing(&mut self, id: TransmissionId, front: &mut Front) -> (Heard, bool) {
        let link = &self.links[front.next as usize];
        front.next += 1;
        self.receivers[link.receiver.0 as usize].on_trailing(&self.reception, id, link.power)
    }

    /// Forgets a transmission whose trailing edge has passed all receivers.
    pub fn remove(&mut self, id: TransmissionId) {
        self.transmissions[id.0 as usize] = None;
        self.free.push(id);
    }

    /// Whether the station's PHY has reported the start of a frame that has not ended.
    pub fn receiving(&self, station: StationId, now: Instant) -> bool {
        self.receivers[station.0 as usize].receiving(now)
    }

    /// Frames that are on the air.
    pub fn on_air(&self) -> impl Iterator<Item = &Transmission<P>> {
        self.transmissions.iter().flatten()
    }

    /// Sums over all receivers so far.
    pub fn totals(&self) -> &Totals {
        &self.totals
    }
}
