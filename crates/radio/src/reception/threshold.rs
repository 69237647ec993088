//! Reception by power alone: a frame above a threshold is decoded, unless an overlapping one is less than the capture
//! ratio weaker.

use hopcast_protocols::time::Instant;

use super::{Arrival, Carrier, LeadingEdge, ReceptionOutcome};
use crate::frame::StationId;
use crate::phy::TxVector;
use crate::transmission::{Tally, TransmissionId};
use crate::units::{Power, PowerRatio};

/// Reception by power alone.
#[derive(Clone, Debug)]
pub struct Threshold {
    /// Least power that makes the medium busy.
    pub carrier_sense_threshold: Power,
    /// Ratio by which a frame must exceed overlapping ones to survive.
    pub capture: PowerRatio,
    /// The rules for overlapping transmissions.
    pub rules: Rules,
    /// Least power to decode a frame of each vector in use.
    pub receive_thresholds: Vec<(TxVector, Power)>,
}

/// Rules for overlapping transmissions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rules {
    /// All interference is summed. A frame is received if it is `capture` times stronger than that sum throughout,
    /// whenever it came: the receiver switches to a stronger later one. The PHY never reported a frame that is lost
    /// before the end of its PLCP header, so no EIFS follows it.
    Cumulative,
    /// ns-2: the receiver receives the first frame, if it is `capture` times stronger than each later one separately. A
    /// frame that is sensed but too weak to decode, or that arrives during the station's own transmission, is a frame in
    /// error, and EIFS follows unless it ends during an own transmission. What is not sensed does not exist.
    PairwiseFirstCome,
}

impl Threshold {
    /// # Panics
    /// If the vector is not in use.
    pub(super) fn receive_threshold(&self, vector: TxVector) -> Power {
        let found = self.receive_thresholds.iter().find(|(known, _)| *known == vector);
        found.expect("every vector in use has a threshold").1
    }

    fn survives(&self, power: Power, interference: Power) -> bool {
        power.is_at_least(self.capture, interference)
    }
}

/// One station's receiver. It fills a line of the processor's cache: among many stations each look at one is a miss.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
pub(crate) struct Receiver {
    /// Sum of all signals that are present.
    energy: Power,
    /// Number of signals that are present and sensed; counted for [`Rules::PairwiseFirstCome`] only.
    signals: u32,
    transmitting: bool,
    /// Carrier sense: energy, or a frame whose announced length has not passed. Own transmissions apart.
    busy: bool,
    lock: Option<Lock>,
}

/// The frame to which the receiver is synchronised; of a collision in ns-2, the one of its frames that ends last.
#[derive(Clone, Copy, Debug)]
struct Lock {
    transmission: TransmissionId,
    power: Power,
    header_end: Instant,
    end: Instant,
    damaged: bool,
}

impl Receiver {
    /// Whether this is the frame that it is receiving, so far without an error.
    #[inline]
    pub(crate) fn is_receiving(&self, id: TransmissionId) -> bool {
        self.lock.is_some_and(|lock| lock.transmission == id && !lock.damaged)
    }

    pub(super) fn is_busy(&self) -> bool {
        self.busy
    }

    pub(super) fn receiving(&self, now: Instant) -> bool {
        self.lock.is_some_and(|lock| lock.header_end <= now)
    }

    /// The station starts to transmit.
    pub(super) fn on_transmit(&mut self, model: &Threshold, station: StationId, tally: &mut Tally) {
        self.transmitting = true;
        if let Some(lock) = &mut self.lock {
            lock.damage(station, tally);
            if model.rules == Rules::Cumulative {
                self.lock = None;
                self.busy = self.energy >= model.carrier_sense_threshold;
            }
        }
    }

    pub(super) fn on_transmitted(&mut self) {
        self.transmitting = false;
    }

    /// A signal arrives. `MIXED`: the receiver may understand no more than its legacy preamble, as [`Arrival::is_whole`] tells.
    #[inline(always)]
    pub(crate) fn on_leading<const MIXED: bool>(
        &mut self,
        model: &Threshold,
        arrival: Arrival,
        tally: &mut Tally,
    ) -> LeadingEdge {
        let was_busy = self.busy || self.transmitting;
        let sensed = arrival.power >= model.carrier_sense_threshold;
        let others = self.energy;
        self.energy = others + arrival.power;
        tally.totals.receptions += u64::from(sensed);
        self.busy = match model.rules {
            Rules::Cumulative => {
                self.on_leading_cumulative::<MIXED>(model, arrival, others, tally);
                self.lock.is_some() || self.energy >= model.carrier_sense_threshold
            }
            Rules::PairwiseFirstCome if sensed => {
                self.signals += 1;
                if self.on_leading_pairwise::<MIXED>(model, arrival, tally) {
                    return LeadingEdge::Overcome;
                }
                true
            }
            Rules::PairwiseFirstCome => self.busy,
        };
        if self.busy && !was_busy { LeadingEdge::Busy } else { LeadingEdge::Unnoticed }
    }

    /// A signal ends. Returns what became of its frame, and whether the medium turns idle; it never turns busy.
    #[inline(always)]
    pub(crate) fn on_trailing(
        &mut self,
        model: &Threshold,
        transmission: TransmissionId,
        power: Power,
    ) -> (ReceptionOutcome, Carrier) {
        let was_busy = self.busy;
        self.energy -= power;
        let heard = match model.rules {
            Rules::Cumulative => {
                let heard = self.end_of(|lock| lock.transmission == transmission);
                self.busy = self.lock.is_some() || self.energy >= model.carrier_sense_threshold;
                heard
            }
            Rules::PairwiseFirstCome => {
                self.signals -= u32::from(power >= model.carrier_sense_threshold);
                self.busy = self.signals > 0;
                match self.end_of(|lock| lock.transmission == transmission) {
                    // `Mac802_11::recv_timer` drops what ends while its own frame is on the air before it looks at errors.
                    ReceptionOutcome::Error(_) if self.transmitting => ReceptionOutcome::Noise,
                    heard => heard,
                }
            }
        };
        let turns_idle = was_busy && !self.busy && !self.transmitting;
        (heard, if turns_idle { Carrier::Idle } else { Carrier::Unchanged })
    }

    fn end_of(&mut self, has_ended: impl Fn(&Lock) -> bool) -> ReceptionOutcome {
        match self.lock {
            Some(lock) if has_ended(&lock) => {
                self.lock = None;
                if lock.damaged {
                    ReceptionOutcome::Error(lock.header_end)
                } else {
                    ReceptionOutcome::Frame(lock.header_end)
                }
            }
            _ => ReceptionOutcome::Noise,
        }
    }

    #[inline(always)]
    fn on_leading_cumulative<const MIXED: bool>(
        &mut self,
        model: &Threshold,
        arrival: Arrival,
        others: Power,
        tally: &mut Tally,
    ) {
        let is_whole = !MIXED || arrival.is_whole;
        let audible = arrival.decodable && !self.transmitting && model.survives(arrival.power, others);
        tally.collide(arrival.receiver, arrival.transmission, arrival.decodable && is_whole && !audible);
        if let Some(lock) = &mut self.lock {
            if model.survives(lock.power, self.energy - lock.power) {
                return;
            }
            lock.damage(arrival.receiver, tally);
            if arrival.now < lock.header_end {
                self.lock = None;
            }
        }
        if audible {
            self.lock = Some(Lock::new(arrival, !is_whole));
        }
    }

    /// Returns whether a frame is being received and survives this one.
    fn on_leading_pairwise<const MIXED: bool>(
        &mut self,
        model: &Threshold,
        arrival: Arrival,
        tally: &mut Tally,
    ) -> bool {
        match &mut self.lock {
            Some(lock) => {
                tally.collide(arrival.receiver, arrival.transmission, arrival.decodable);
                let survives = model.survives(lock.power, arrival.power);
                if !survives {
                    lock.damage(arrival.receiver, tally);
                    if arrival.end > lock.end {
                        // `Mac802_11::collision`.
                        *lock = Lock::new(arrival, true);
                    }
                }
                survives
            }
            None => {
                let damaged = self.transmitting || !arrival.decodable || MIXED && !arrival.is_whole;
                tally.collide(arrival.receiver, arrival.transmission, self.transmitting && arrival.decodable);
                self.lock = Some(Lock::new(arrival, damaged));
                false
            }
        }
    }
}

impl Lock {
    fn new(arrival: Arrival, damaged: bool) -> Self {
        let Arrival { transmission, power, header_end, end, .. } = arrival;
        Self { transmission, power, header_end, end, damaged }
    }

    fn damage(&mut self, station: StationId, tally: &mut Tally) {
        tally.collide(station, self.transmission, !self.damaged);
        self.damaged = true;
    }
}
