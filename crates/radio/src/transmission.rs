//! A frame on the air, and its counters.

use std::rc::Rc;

use hopcast_protocols::time::Instant;

use crate::aggregate::{Body, Mpdu};
use crate::frame::{Header, StationId};
use crate::phy::{ModulationClass, ModulationClasses};
use crate::units::Power;

/// Index of a transmission that is on the air.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TransmissionId(u32);

impl TransmissionId {
    /// No transmission.
    pub const NONE: Self = Self(u32::MAX);

    /// The transmission in this slot of the medium.
    pub(crate) const fn from_index(index: u32) -> Self {
        Self(index)
    }

    /// The slot of the medium that holds it.
    #[inline]
    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A frame on the air.
#[derive(Clone, Debug)]
pub struct Transmission<P> {
    /// The frame.
    pub frame: Header,
    /// Its packet.
    pub packet: Option<P>,
    /// What it carries where that is not one packet.
    pub body: Option<Rc<Body<P>>>,
    /// Time when its first bit left the transmitter.
    pub start: Instant,
    /// Number in the order of transmissions of this run, from zero.
    pub number: u64,
    /// Names it among all of its run, whatever other stations send: for draws.
    pub(crate) key: u64,
    /// Its modulation class.
    pub(crate) modulation: ModulationClass,
    /// Least power at which a receiver synchronises to the frame.
    pub(crate) threshold: Power,
    /// Index of its first link.
    pub(crate) first_link: u32,
    /// One beyond its last link.
    pub(crate) end_link: u32,
    /// The link that the leading edge reaches next.
    pub(crate) leading: u32,
    /// The link that the trailing edge reaches next.
    pub(crate) trailing: u32,
}

impl<P> Transmission<P> {
    /// Its MPDUs under an agreement, if it has such.
    pub fn mpdus(&self) -> Option<&[Mpdu<P>]> {
        match self.body.as_deref() {
            Some(Body::Mpdus(mpdus)) => Some(mpdus),
            _ => None,
        }
    }

    /// Whether a receiver that understands these modulation classes, and has it with this power, could decode it, if nothing overlapped
    /// it and no bit was in error.
    pub fn is_decodable(&self, understood: ModulationClasses, power: Power) -> bool {
        understood.has(self.modulation) && power >= self.threshold
    }
}

/// Sums over all receivers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Frames put on the air.
    pub frames_sent: u64,
    /// Number of pairs of a frame and a station that senses it.
    pub receptions: u64,
    /// Number of pairs of a frame and a station that could have decoded it without overlapping frames.
    pub collisions: u64,
}

/// The sums, and which frames collided where.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) totals: Totals,
    /// Collisions that the engine has not taken out; `None`: no recorder wants them.
    pub(crate) collided: Option<Vec<(StationId, TransmissionId)>>,
}

impl Tally {
    /// If it `happens`, a frame collides at a station.
    #[inline(always)]
    pub(crate) fn collide(&mut self, station: StationId, transmission: TransmissionId, happens: bool) {
        self.totals.collisions += u64::from(happens);
        if happens && self.collided.is_some() {
            self.note(station, transmission);
        }
    }

    #[cold]
    #[inline(never)]
    fn note(&mut self, station: StationId, transmission: TransmissionId) {
        self.collided.iter_mut().for_each(|collided| collided.push((station, transmission)));
    }
}
