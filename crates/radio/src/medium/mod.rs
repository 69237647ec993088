//! The medium: who hears whom, what is on the air, and what each receiver makes of it.
//!
//! A transmission is one object. Its edges travel along the links of its transmitter, which are sorted by delay, so that
//! a driver can walk them in order without an event for each receiver.

mod receiver;

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

/// A frame on the air.
#[derive(Clone, Debug)]
pub struct Transmission<P> {
    /// The frame.
    pub frame: Frame<P>,
    /// When its first bit left the transmitter.
    pub start: Instant,
    /// Least power to decode it.
    pub threshold: Power,
    /// Order of transmission in this run, from zero.
    pub number: u64,
    /// Next link that the leading edge reaches, counted from the transmitter's first.
    pub leading: u32,
    /// Next link that the trailing edge reaches.
    pub trailing: u32,
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

    /// Puts a frame on the air. Its transmitter loses what it was receiving.
    pub fn transmit(&mut self, frame: Frame<P>, now: Instant) -> TransmissionId {
        self.receivers[frame.transmitter.0 as usize].on_transmit(&self.reception, &mut self.totals);
        let number = self.totals.frames_sent;
        self.totals.frames_sent += 1;
        let threshold = self.thresholds.iter().find(|(rate, _)| *rate == frame.rate).map(|&(_, threshold)| threshold);
        let threshold = threshold.expect("every rate in use has a threshold");
        let transmission = Transmission { frame, start: now, threshold, number, leading: 0, trailing: 0 };
        if let Some(id) = self.free.pop() {
            self.transmissions[id.0 as usize] = Some(transmission);
            return id;
        }
        self.transmissions.push(Some(transmission));
        TransmissionId(self.transmissions.len() as u32 - 1)
    }

    /// The transmitter's own frame has ended. Returns whether it senses a busy medium.
    pub fn handle_transmitted(&mut self, station: StationId) -> bool {
        let receiver = &mut self.receivers[station.0 as usize];
        receiver.on_transmitted();
        receiver.senses(&self.reception)
    }

    /// What is on the air under this index.
    ///
    /// # Panics
    /// If the transmission has ended.
    pub fn transmission(&self, id: TransmissionId) -> &Transmission<P> {
        self.transmissions[id.0 as usize].as_ref().expect("edges exist only for what is on the air")
    }

    /// The link that the leading edge reaches next, and when; `None` once all have it.
    pub fn next_leading(&self, id: TransmissionId) -> Option<(Instant, Link)> {
        let transmission = self.transmission(id);
        let link = self.links(transmission.frame.transmitter).get(transmission.leading as usize)?;
        Some((transmission.start + link.delay, *link))
    }

    /// The link that the trailing edge reaches next, and when; `None` once all have it.
    pub fn next_trailing(&self, id: TransmissionId) -> Option<(Instant, Link)> {
        let transmission = self.transmission(id);
        let link = self.links(transmission.frame.transmitter).get(transmission.trailing as usize)?;
        Some((transmission.start + transmission.frame.airtime + link.delay, *link))
    }

    /// The leading edge reaches its next link's receiver. Returns whether that station's physical carrier sense turns busy.
    pub fn handle_leading(&mut self, id: TransmissionId, link: Link, now: Instant) -> bool {
        let transmission = self.transmissions[id.0 as usize].as_mut().expect("edges exist only for what is on the air");
        transmission.leading += 1;
        let arrival = Arrival {
            transmission: id,
            power: link.power,
            decodable: link.power >= transmission.threshold,
            now,
            header_end: now + transmission.frame.header,
        };
        self.receivers[link.receiver.0 as usize].on_leading(&self.reception, arrival, &mut self.totals)
    }

    /// The trailing edge reaches its next link's receiver. Returns what became of the frame there, and whether the station
    /// senses an idle medium now.
    pub fn handle_trailing(&mut self, id: TransmissionId, link: Link) -> (Heard, bool) {
        let transmission = self.transmissions[id.0 as usize].as_mut().expect("edges exist only for what is on the air");
        transmission.trailing += 1;
        let receiver = &mut self.receivers[link.receiver.0 as usize];
        let heard = receiver.on_trailing(&self.reception, id, link.power);
        (heard, !receiver.senses(&self.reception))
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
