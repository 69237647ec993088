//! Reception by signal to interference and noise: a frame's probability of success is the product of those of its bits,
//! each at the ratio during its time on the air.
//!
//! ```text
//!   power      ┌───────────────────────────────────┐
//!              │ preamble │ header │ payload       │      the frame that the receiver is synchronised to
//!              └──────────┴────────┴───────────────┘
//!                     ┌─────────────────┐
//!                     │  interference   │                 changes the ratio twice: three pieces
//!                     └─────────────────┘
//! ```
//!
//! A receiver takes aCCATime to find a preamble. Of all preambles that begin in this time, the [`Window`], it
//! synchronises to the strongest, if at the end that one exceeds noise and interference by its [`Mode`]'s detection and
//! the other preambles by its separation; otherwise to none. Their order does not matter: stations that count down to one
//! slot begin in an order that is random in hardware (A. Kochut et al., "Sniffing out the correct physical layer capture
//! model in 802.11b", ICNP 2004) and an accident of geometry and numbering here.
//!
//! A synchronised receiver switches to a later frame that is [`Sinr::capture`] times stronger than everything before it,
//! the first frame included (J. Lee et al., "An experimental study on the capture effect in 802.11a networks", WiNTECH
//! 2007). A header is known at its end; a receiver that could not read it, or found no preamble, notices this at the next
//! start or end of a signal.

use hopcast_protocols::random::Purpose;
use hopcast_protocols::time::{Duration, Instant};

use super::bands::{Bands, Presence};
use super::{Arrival, Carrier, ReceptionOutcome};
use crate::aggregate::{Arriving, MpduSet, with_subframe};
use crate::errors::{SuccessCurve, mpdu_survives, survives, thermal_noise};
use crate::frame::StationId;
use crate::phy::{ModulationClass, TxVector};
use crate::transmission::{Tally, TransmissionId};
use crate::units::{Decibel, Power, PowerRatio};

/// Reception by signal to interference and noise.
#[derive(Clone, Debug)]
pub struct Sinr {
    /// Least power that makes the medium busy, whatever the signal is.
    pub carrier_sense_threshold: Power,
    /// Least power at which a preamble is detected.
    pub receive_threshold: Power,
    /// Ratio of a preamble to everything before it that makes a receiver switch from the frame that it receives.
    pub capture: PowerRatio,
    /// Mode for each vector in use.
    pub modes: Vec<Mode>,
    /// Seed that decides which frames are lost.
    pub seed: u64,
}

/// Reception of frames with the same vector.
#[derive(Clone, Debug)]
pub struct Mode {
    vector: TxVector,
    noise: Power,
    detection: PowerRatio,
    separation: PowerRatio,
    header: SuccessCurve,
    /// Bits of the header's last part, and its length.
    header_bits: f64,
    header_length: Duration,
    payload: SuccessCurve,
    /// Bits of the PSDU besides its bytes.
    service_and_tail_bits: u32,
    /// Silence that counts as part of the frame.
    signal_extension: Duration,
    /// For so long a preamble must be heard to be found.
    cca_time: Duration,
    /// How many secondary channels it covers.
    secondaries: u8,
}

impl Mode {
    /// The mode of frames with this vector, at receivers with this noise figure in dB, which detect a preamble at this
    /// ratio of signal to noise and interference; `None`: that of [`default_detection`].
    pub fn new(vector: TxVector, noise_figure: f64, detection: Option<Decibel>) -> Self {
        let framing = vector.framing();
        let detection = detection.unwrap_or_else(|| default_detection(framing.modulation_class));
        Self {
            vector,
            noise: thermal_noise(framing.noise_bandwidth, noise_figure),
            detection: detection.into(),
            separation: Decibel(detection.0.max(SEPARATION.0)).into(),
            header: SuccessCurve::new(framing.header.encoding),
            header_bits: f64::from(framing.header.bits),
            header_length: framing.header.duration,
            payload: SuccessCurve::new(framing.encoding),
            service_and_tail_bits: framing.service_and_tail_bits,
            signal_extension: framing.signal_extension,
            cca_time: framing.cca_time,
            secondaries: if vector.format().has_shape() { vector.width() as u8 } else { 0 },
        }
    }

    /// The vector of the frames.
    pub fn vector(&self) -> TxVector {
        self.vector
    }

    /// The noise at receivers of these frames.
    pub fn noise(&self) -> Power {
        self.noise
    }

    /// The least power at which, in noise alone, preambles are detected and at most this share of frames of `bits` is
    /// lost.
    pub fn least_power(&self, loss: f64, bits: u32) -> Power {
        self.noise.scaled(self.payload.ratio_for(loss, f64::from(bits))).max(self.least_found())
    }

    /// The share of frames of `bits` that are received at `power` in noise alone.
    pub fn success(&self, power: Power, bits: u32) -> f64 {
        if power < self.least_found() {
            return 0.0;
        }
        1.0 - self.payload.frame_error_rate(power.over(self.noise), f64::from(bits))
    }

    /// The least power at which preambles are found in noise alone.
    fn least_found(&self) -> Power {
        self.detection.times(self.noise)
    }
}

/// Ratio of signal to noise and interference at which a preamble is detected: 4 dB, as in ns-3
/// (`ThresholdPreambleDetectionModel`), and for DSSS 10.4 dB less, the gain of eleven chips.
pub const fn default_detection(modulation: ModulationClass) -> Decibel {
    match modulation {
        ModulationClass::Dsss => Decibel(-6.4),
        ModulationClass::Ofdm | ModulationClass::Ht | ModulationClass::Vht | ModulationClass::He => Decibel(4.0),
    }
}

/// What a preamble needs over the sum of those that begin with it: 4 dB, which ns-3 asks of DSSS as well, or the detection where
/// that is more. Eleven chips gain nothing here. They suppress what another code or none has spread, but all preambles of DSSS have
/// one Barker sequence (15.4.4), and those of HR/DSSS one SYNC field from one seed of the scrambler (16.2.4): to a correlator two of
/// them are one signal that arrives over two paths.
const SEPARATION: Decibel = Decibel(4.0);

/// What a signal carries.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Content {
    /// Index of its mode.
    pub(crate) mode: usize,
    /// The same at receivers that understand no more than the legacy preamble.
    pub(crate) preamble_mode: usize,
    /// Of the PSDU.
    pub(crate) octets: u32,
    pub(crate) airtime: Duration,
    /// Whether its MPDUs are decided on one by one.
    pub(crate) has_mpdus: bool,
    /// Names the transmission among all of its run.
    pub(crate) key: u64,
}

impl Sinr {
    /// The index of the mode of frames that are sent so.
    pub(super) fn mode(&self, vector: TxVector) -> usize {
        let vector = vector.repeated();
        self.modes.iter().position(|mode| mode.vector == vector).expect("every vector in use has a mode")
    }

    /// The mode of the legacy preamble, and the least power at which it is found; `None`: no frames of OFDM are in use.
    pub(super) fn preamble_mode(&self) -> Option<(usize, Power)> {
        let is_ofdm = |mode: &Mode| mode.vector.modulation_class() == ModulationClass::Ofdm;
        let found = self.modes.iter().position(is_ofdm)?;
        Some((found, self.modes[found].least_found().max(self.receive_threshold)))
    }

    /// The share of frames of `bits` that are received at `power` in noise alone; `None` if their preamble is not
    /// detected.
    pub fn success(&self, vector: TxVector, power: Power, bits: u32) -> Option<f64> {
        let mode = &self.modes[self.mode(vector)];
        let rate = || mode.payload.frame_error_rate(power.over(mode.noise), f64::from(bits));
        (power >= self.least_power(mode.vector)).then(|| 1.0 - rate())
    }

    /// The least power at which a preamble is found in noise alone, and which is not below [`Self::receive_threshold`].
    pub(super) fn least_power(&self, vector: TxVector) -> Power {
        self.modes[self.mode(vector)].least_found().max(self.receive_threshold)
    }
}

/// One station's receiver.
#[derive(Clone, Debug)]
pub(crate) struct Receiver {
    station: u32,
    /// Sum of all signals that are present: in the primary channel, or in those of the frame that it receives, where `bands` are told
    /// apart.
    energy: Power,
    transmitting: bool,
    /// Carrier sense: energy, or a frame whose announced length has not passed. Own transmissions apart.
    busy: bool,
    window: Window,
    lock: Option<Lock>,
    /// Of a frame with MPDUs: its PSDU so far, in pieces of one ratio.
    pieces: Vec<Piece>,
    /// At a station that tells its primary channel from the secondary ones.
    bands: Option<Box<Bands>>,
}

/// A part of a PSDU over which the ratio was one.
#[derive(Clone, Copy, Debug)]
struct Piece {
    /// Of the PSDU.
    share: f64,
    /// Logarithm of the chance of each bit.
    ln_success: f64,
}

/// The time in which a receiver looks for a preamble: from the first that begins up to aCCATime after the strongest has begun.
#[derive(Clone, Copy, Debug)]
struct Window {
    end: Instant,
    /// Sum of all signals that were present as it opened.
    before: Power,
    /// Sum of all preambles that have begun in it.
    preambles: Power,
}

impl Window {
    const CLOSED: Self = Self { end: Instant::START, before: Power::ZERO, preambles: Power::ZERO };
}

/// How far the receiver is with a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Its preamble is the strongest of an open window, but does not stand out.
    Drowned,
    /// Its preamble is the strongest of an open window, and stands out.
    Found,
    /// Its window has ended.
    Synchronised,
}

/// The frame to which the receiver is synchronised, or will be if its preamble still stands out as the window ends.
#[derive(Clone, Debug)]
struct Lock {
    transmission: TransmissionId,
    power: Power,
    mode: usize,
    stage: Stage,
    key: u64,
    header_end: Instant,
    /// Of the PSDU: when its last bit passes, and how many there are.
    payload_end: Instant,
    payload_bits: f64,
    /// Whether its MPDUs are decided on one by one.
    has_mpdus: bool,
    /// Whether the receiver understands more than the legacy preamble.
    is_whole: bool,
    /// How many secondary channels it covers.
    secondaries: u8,
    /// Up to when the chances below are reckoned.
    since: Instant,
    /// Logarithms of the chance that all bits so far were received.
    ln_header: f64,
    ln_payload: f64,
    /// Whether anything overlapped it.
    disturbed: bool,
    /// The header has ended and could be read.
    is_readable: bool,
}

impl Receiver {
    /// In silence.
    pub(super) fn new(station: u32) -> Self {
        Self {
            station,
            energy: Power::ZERO,
            transmitting: false,
            busy: false,
            window: Window::CLOSED,
            lock: None,
            pieces: Vec::new(),
            bands: None,
        }
    }

    /// Tells the primary channel from the secondary ones from now on.
    pub(super) fn set_bands(&mut self, bands: Bands) {
        self.bands = Some(Box::new(bands));
    }

    pub(super) fn bands(&self) -> Option<&Bands> {
        self.bands.as_deref()
    }

    /// Whether energy makes the medium busy, or the primary channel of it.
    #[inline]
    fn senses_energy(&self, model: &Sinr) -> bool {
        match &self.bands {
            None => self.energy >= model.carrier_sense_threshold,
            Some(bands) => bands.is_primary_busy(model.carrier_sense_threshold),
        }
    }

    /// `lock` or what is present has changed.
    #[inline(always)]
    fn refresh(&mut self) {
        if self.bands.is_some() {
            self.refresh_energy();
        }
    }

    #[cold]
    #[inline(never)]
    fn refresh_energy(&mut self) {
        if let Some(bands) = &self.bands {
            self.energy = bands.energy(self.lock.as_ref().map_or(0, |lock| lock.secondaries));
        }
    }

    /// A signal begins at a receiver that tells channels apart. Returns the power of the others in the channel of its frame, and its own in
    /// the primary channel.
    #[cold]
    #[inline(never)]
    fn add(&mut self, model: &Sinr, arrival: &Arrival, content: &Content, presence: &Presence) -> (Power, Power) {
        let Some(bands) = &mut self.bands else { return (self.energy, arrival.power) };
        let mode = if arrival.is_whole { content.mode } else { content.preamble_mode };
        let others = bands.energy(if arrival.decodable { model.modes[mode].secondaries } else { 0 });
        bands.begin(presence, arrival.now);
        self.refresh_energy();
        (others, presence.parts[0])
    }

    /// One ends there.
    #[cold]
    #[inline(never)]
    fn remove(&mut self, presence: &Presence, now: Instant) {
        if let Some(bands) = &mut self.bands {
            bands.end(presence, now);
        }
        self.refresh_energy();
    }

    pub(super) fn is_busy(&self) -> bool {
        self.busy
    }

    /// Whether this is the frame that it is receiving.
    #[inline]
    pub(super) fn is_receiving(&self, transmission: TransmissionId) -> bool {
        self.lock.as_ref().is_some_and(|lock| lock.transmission == transmission && lock.stage != Stage::Drowned)
    }

    pub(super) fn receiving(&self, now: Instant) -> bool {
        self.lock.as_ref().is_some_and(|lock| lock.header_end <= now && lock.stage != Stage::Drowned)
    }

    fn is_sensing(&self, model: &Sinr) -> bool {
        self.lock.as_ref().is_some_and(|lock| lock.stage != Stage::Drowned) || self.senses_energy(model)
    }

    /// The station starts to transmit, and hears nothing.
    pub(super) fn on_transmit(&mut self, model: &Sinr, tally: &mut Tally) {
        self.transmitting = true;
        if let Some(lock) = self.lock.take() {
            tally.collide(StationId(self.station), lock.transmission, lock.is_whole);
        }
        self.window = Window::CLOSED;
        self.refresh();
        self.busy = self.senses_energy(model);
    }

    pub(super) fn on_transmitted(&mut self) {
        self.transmitting = false;
    }

    /// A signal arrives. Returns whether the medium turns busy.
    #[inline]
    pub(super) fn on_leading(
        &mut self,
        model: &Sinr,
        arrival: Arrival,
        content: &Content,
        presence: Option<&Presence>,
        tally: &mut Tally,
    ) -> bool {
        let was_busy = self.busy || self.transmitting;
        self.advance(model, arrival.now, tally);
        let (others, sensed) = match presence {
            None => {
                let others = self.energy;
                self.energy = others + arrival.power;
                (others, arrival.power)
            }
            Some(presence) => self.add(model, &arrival, content, presence),
        };
        tally.totals.receptions += u64::from(sensed >= model.carrier_sense_threshold);
        if let Some(lock) = &mut self.lock {
            lock.disturbed = true;
        }
        if arrival.decodable {
            self.on_preamble(model, arrival, content, others, tally);
            if presence.is_some() {
                self.refresh();
            }
        }
        self.judge(model);
        // A frame that is let go of here may have been all that kept the medium busy: that it is idle is told with the next signal
        // that ends, and this one will.
        self.busy |= self.is_sensing(model);
        self.busy && !was_busy
    }

    /// A signal ends. Returns what became of its frame, and how the medium turns: busy where the signal has drowned a preamble that is
    /// found now.
    pub(super) fn on_trailing<P>(
        &mut self,
        model: &Sinr,
        transmission: TransmissionId,
        (power, presence): (Power, Option<&Presence>),
        now: Instant,
        mpdus: Option<Arriving<'_, P>>,
        tally: &mut Tally,
    ) -> (ReceptionOutcome, Carrier) {
        let was_busy = self.busy;
        self.advance(model, now, tally);
        match presence {
            None => self.energy -= power,
            Some(presence) => self.remove(presence, now),
        }
        self.judge(model);
        let heard = match &self.lock {
            Some(lock) if lock.transmission == transmission => {
                let heard = match mpdus {
                    Some(_) if !lock.is_whole => ReceptionOutcome::Error(lock.header_end),
                    None => lock.end(model, self.station, tally),
                    Some(Arriving { mpdus, received, is_one_enough }) => {
                        let octets = mpdus.iter().map(|mpdu| mpdu.octets);
                        *received = lock.received(&self.pieces, octets, is_one_enough, model, self.station);
                        lock.end_of_mpdus(model, self.station, received, tally)
                    }
                };
                self.lock = None;
                self.refresh();
                heard
            }
            _ => ReceptionOutcome::Noise,
        };
        self.busy = self.is_sensing(model);
        let carrier = match (was_busy, self.busy) {
            (true, false) if !self.transmitting => Carrier::Idle,
            (false, true) if !self.transmitting => Carrier::Busy,
            _ => Carrier::Unchanged,
        };
        (heard, carrier)
    }

    /// A frame begins that could be received, had the receiver nothing else to do.
    fn on_preamble(&mut self, model: &Sinr, arrival: Arrival, content: &Content, others: Power, tally: &mut Tally) {
        if self.transmitting {
            tally.collide(arrival.receiver, arrival.transmission, arrival.is_whole);
            return;
        }
        let Arrival { transmission, power, now, header_end, .. } = arrival;
        let Content { mode, preamble_mode, octets, airtime, has_mpdus, key } = *content;
        let (mode, has_mpdus) = if arrival.is_whole { (mode, has_mpdus) } else { (preamble_mode, false) };
        let Mode { noise, service_and_tail_bits, signal_extension, cca_time, secondaries, .. } = model.modes[mode];
        if now >= self.window.end {
            self.window = Window { end: now + cca_time, before: others, preambles: Power::ZERO };
        }
        self.window.preambles += power;
        let is_taken = match &self.lock {
            None => true,
            Some(lock) if lock.stage == Stage::Synchronised => {
                power.is_at_least(model.capture, self.window.before + noise)
            }
            Some(lock) => power > lock.power,
        };
        // Either this frame is not received, or the one that it replaces.
        if let Some(lock) = &self.lock {
            let (lost, is_whole) =
                if is_taken { (lock.transmission, lock.is_whole) } else { (transmission, arrival.is_whole) };
            tally.collide(arrival.receiver, lost, is_whole);
        }
        if !is_taken {
            return;
        }
        self.window.end = now + cca_time;
        self.pieces.clear();
        if let Some(bands) = &mut self.bands {
            bands.note_frame();
        }
        self.lock = Some(Lock {
            transmission,
            power,
            mode,
            stage: Stage::Drowned,
            key,
            header_end,
            payload_end: now + airtime.saturating_sub(signal_extension),
            payload_bits: f64::from(8 * octets + service_and_tail_bits),
            has_mpdus,
            is_whole: arrival.is_whole,
            secondaries,
            since: now,
            ln_header: 0.0,
            ln_payload: 0.0,
            disturbed: others > Power::ZERO,
            is_readable: false,
        });
    }

    /// Looks whether the strongest preamble of an open window stands out among the signals that are present now.
    #[inline]
    fn judge(&mut self, model: &Sinr) {
        let Some(lock) = &mut self.lock else { return };
        if lock.stage == Stage::Synchronised {
            return;
        }
        let Mode { noise, detection, separation, .. } = model.modes[lock.mode];
        let stands_out = lock.power.is_at_least(detection, self.energy - lock.power + noise)
            && lock.power.is_at_least(separation, self.window.preambles - lock.power);
        lock.stage = if stands_out { Stage::Found } else { Stage::Drowned };
    }

    /// Reckons the piece of the frame that has passed since the last change; lets go of one whose preamble was not found or
    /// whose header was not read.
    #[inline]
    fn advance(&mut self, model: &Sinr, now: Instant, tally: &mut Tally) {
        if self.lock.is_some() {
            self.advance_lock(model, now, tally);
        }
    }

    #[inline(never)]
    fn advance_lock(&mut self, model: &Sinr, now: Instant, tally: &mut Tally) {
        let Some(lock) = &mut self.lock else { return };
        if lock.stage != Stage::Synchronised && now >= self.window.end {
            if lock.stage == Stage::Drowned {
                tally.collide(StationId(self.station), lock.transmission, lock.is_whole);
                self.lock = None;
                self.refresh();
                return;
            }
            lock.stage = Stage::Synchronised;
            // What is received is sensed, however weak it is.
            tally.totals.receptions += u64::from(lock.power < model.carrier_sense_threshold);
        }
        lock.advance(&model.modes[lock.mode], self.energy - lock.power, &mut self.pieces, now);
        if lock.header_end > now || lock.is_readable {
            return;
        }
        lock.is_readable = survives(model.seed, Purpose::Decoding, lock.key, self.station, lock.ln_header);
        if !lock.is_readable {
            tally.collide(StationId(self.station), lock.transmission, lock.disturbed && lock.is_whole);
            self.lock = None;
            self.refresh();
        }
    }
}

impl Lock {
    /// The piece from the last change until `now`, during which `interference` was present.
    fn advance(&mut self, mode: &Mode, interference: Power, pieces: &mut Vec<Piece>, now: Instant) {
        if now <= self.since {
            return;
        }
        let ratio = self.power.over(mode.noise + interference);
        let header_start = self.header_end - mode.header_length;
        let share = |from: Instant, to: Instant| {
            let passed = now.min(to).saturating_since(self.since.max(from));
            let whole = to.saturating_since(from);
            if passed == Duration::ZERO {
                0.0
            } else if passed == whole {
                // Of most frames, which nothing overlaps.
                1.0
            } else {
                passed.as_nanos() as f64 / whole.as_nanos() as f64
            }
        };
        if self.since < self.header_end {
            let in_header = share(header_start, self.header_end);
            if in_header > 0.0 {
                self.ln_header += in_header * mode.header_bits * mode.header.ln_success(ratio);
            }
        }
        if now > self.header_end {
            let in_payload = share(self.header_end, self.payload_end);
            if in_payload > 0.0 {
                let ln_success = mode.payload.ln_success(ratio);
                self.ln_payload += in_payload * self.payload_bits * ln_success;
                if self.has_mpdus {
                    pieces.push(Piece { share: in_payload, ln_success });
                }
            }
        }
        self.since = now;
    }

    /// All bits have passed. One draw decides for header and payload: what is below the chance of both is below that of
    /// the header.
    fn end(&self, model: &Sinr, station: u32, tally: &mut Tally) -> ReceptionOutcome {
        if !self.is_whole {
            return ReceptionOutcome::Error(self.header_end);
        }
        if survives(model.seed, Purpose::Decoding, self.key, station, self.ln_header + self.ln_payload) {
            return ReceptionOutcome::Frame(self.header_end);
        }
        tally.collide(StationId(station), self.transmission, self.disturbed);
        ReceptionOutcome::Error(self.header_end)
    }

    /// The MPDUs, with these `octets`, that no bit error has hit, or the first of them if that is enough: each by the pieces over which
    /// it lies, and by a separate draw.
    fn received(
        &self,
        pieces: &[Piece],
        octets: impl ExactSizeIterator<Item = u32>,
        is_one_enough: bool,
        model: &Sinr,
        station: u32,
    ) -> MpduSet {
        let mut received = MpduSet::default();
        let is_one = octets.len() == 1;
        let mut end_octets = 0;
        // Most MPDUs of a frame are of one length, and lie over one piece.
        let (mut known, mut probability) = (0.0, 1.0);
        for (place, octets) in octets.enumerate() {
            let start = f64::from(8 * end_octets);
            end_octets = if is_one { octets } else { with_subframe(end_octets, octets) };
            let end = f64::from(8 * end_octets);
            let (mut ln_success, mut from) = (0.0, 0.0);
            for piece in pieces {
                let to = from + piece.share * self.payload_bits;
                // What rounding leaves over belongs to the last bits.
                let bits = end.min(to) - start.max(from);
                if bits > 0.0 {
                    ln_success += bits * piece.ln_success;
                }
                from = to;
            }
            if ln_success != known {
                (known, probability) = (ln_success, libm::exp(ln_success));
            }
            if mpdu_survives(model.seed, self.key, station, place, probability) {
                received.insert(place);
                if is_one_enough {
                    break;
                }
            }
        }
        received
    }

    /// The same where MPDUs are decided on one by one.
    fn end_of_mpdus(&self, model: &Sinr, station: u32, received: &MpduSet, tally: &mut Tally) -> ReceptionOutcome {
        let has_header = survives(model.seed, Purpose::Decoding, self.key, station, self.ln_header);
        if has_header && !received.is_empty() {
            return ReceptionOutcome::Frame(self.header_end);
        }
        tally.collide(StationId(station), self.transmission, self.disturbed);
        ReceptionOutcome::Error(self.header_end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phy::Standard;
    use crate::units::Decibel;
    use proptest::prelude::*;

    const MBPS_24: TxVector = TxVector::new(Standard::Ofdm, 4);
    const OCTETS: u32 = 1_000;

    /// 802.11a at 24 Mb/s: 20 µs of preamble and header, then 336 µs.
    fn model() -> Sinr {
        Sinr {
            carrier_sense_threshold: Power::from_dbm(-82.0),
            receive_threshold: Power::ZERO,
            capture: Decibel(10.0).into(),
            modes: vec![Mode::new(MBPS_24, 7.0, None)],
            seed: 1,
        }
    }

    fn airtime() -> Duration {
        MBPS_24.airtime(OCTETS)
    }

    fn us(micros: u64) -> Instant {
        Instant::START + Duration::from_micros(micros)
    }

    /// This many dB above the noise.
    fn above_noise(model: &Sinr, decibels: f64) -> Power {
        model.modes[0].noise.scaled(Decibel(decibels).as_ratio())
    }

    struct Bench {
        model: Sinr,
        airtime: Duration,
        header: Duration,
        receiver: Receiver,
        tally: Tally,
    }

    impl Bench {
        fn new() -> Self {
            Self::of(MBPS_24)
        }

        /// 802.11 at 1 Mb/s, with the default detection: 192 µs of preamble and header, then 8 ms.
        fn dsss() -> Self {
            Self::of(TxVector::new(Standard::Dsss, 0))
        }

        fn of(vector: TxVector) -> Self {
            Self {
                model: Sinr { modes: vec![Mode::new(vector, 7.0, None)], ..model() },
                airtime: vector.airtime(OCTETS),
                header: vector.header_duration(),
                receiver: Receiver::new(0),
                tally: Tally::default(),
            }
        }

        /// Begins frames of such powers at such nanoseconds, in order of time and then of place, and ends them. Returns the places of
        /// those that were received, and the collisions.
        fn meet(mut self, frames: &[(u64, f64)]) -> (Vec<usize>, u64) {
            let mut order: Vec<usize> = (0..frames.len()).collect();
            order.sort_by_key(|&place| frames[place].0);
            let at = |place: usize| Instant::from_nanos(frames[place].0);
            for &place in &order {
                self.begins(place as u32, at(place), frames[place].1, place as u64);
            }
            order.retain(|&place| {
                let (heard, _) = self.ends(place as u32, at(place) + self.airtime, frames[place].1);
                heard == ReceptionOutcome::Frame(at(place) + self.header)
            });
            assert_eq!(self.receiver.energy, Power::ZERO);
            (order, self.tally.totals.collisions)
        }

        /// Transmission `id` begins, this many dB above the noise; returns whether the medium turns busy.
        fn begins(&mut self, id: u32, at: Instant, decibels: f64, key: u64) -> bool {
            let power = above_noise(&self.model, decibels);
            let arrival = Arrival {
                receiver: StationId(self.receiver.station),
                transmission: TransmissionId::from_index(id),
                power,
                decodable: power >= self.model.least_power(self.model.modes[0].vector),
                is_whole: true,
                now: at,
                header_end: at + self.header,
                end: at + self.airtime,
            };
            let content =
                Content { mode: 0, preamble_mode: 0, octets: OCTETS, airtime: self.airtime, has_mpdus: false, key };
            self.receiver.on_leading(&self.model, arrival, &content, None, &mut self.tally)
        }

        fn ends(&mut self, id: u32, at: Instant, decibels: f64) -> (ReceptionOutcome, Carrier) {
            let power = above_noise(&self.model, decibels);
            self.receiver.on_trailing(
                &self.model,
                TransmissionId::from_index(id),
                (power, None),
                at,
                None::<Arriving<'_, ()>>,
                &mut self.tally,
            )
        }
    }

    #[test]
    fn a_strong_frame_alone_is_received() {
        let mut bench = Bench::new();
        assert!(bench.begins(1, us(100), 20.0, 7));
        let end = us(100) + airtime();
        assert_eq!(bench.ends(1, end, 20.0), (ReceptionOutcome::Frame(us(120)), Carrier::Idle));
        assert_eq!(bench.receiver.energy, Power::ZERO);
    }

    #[test]
    fn a_weak_preamble_is_not_found_but_adds_to_the_noise() {
        let mut bench = Bench::new();
        assert!(!bench.begins(1, us(100), 3.9, 7), "4 dB find a preamble, and -90 dBm are not sensed");
        assert_eq!(bench.receiver.lock.as_ref().map(|lock| lock.mode), None);
        assert_eq!(bench.ends(1, us(100) + airtime(), 3.9), (ReceptionOutcome::Noise, Carrier::Unchanged));
    }

    /// A frame that is found is sensed until it ends, although its power alone would not make the medium busy.
    #[test]
    fn a_frame_below_the_carrier_sense_threshold_is_sensed_while_it_is_received() {
        let mut bench = Bench::new();
        assert!(above_noise(&bench.model, 11.5) < bench.model.carrier_sense_threshold);
        assert!(bench.begins(1, us(0), 11.5, 7));
        assert!(bench.receiver.is_busy());
        assert!(!bench.receiver.receiving(us(19)));
        assert!(bench.receiver.receiving(us(20)));
        assert_eq!(bench.ends(1, us(0) + airtime(), 11.5), (ReceptionOutcome::Frame(us(20)), Carrier::Idle));
    }

    /// The second frame drowns the first one's preamble, and is not detected itself: the receiver receives nothing any
    /// more, and both together are too weak to be sensed. A station that was told of a busy medium is told when it is
    /// idle.
    #[test]
    fn a_medium_that_a_lost_frame_kept_busy_turns_idle() {
        let mut bench = Bench::new();
        assert!(bench.begins(1, us(0), 8.0, 1));
        assert!(!bench.begins(2, us(3), 8.0, 2));
        assert!(!bench.receiver.is_receiving(TransmissionId::from_index(1)));
        assert!(!bench.receiver.is_receiving(TransmissionId::from_index(2)));
        let ends = [bench.ends(1, us(0) + airtime(), 8.0), bench.ends(2, us(3) + airtime(), 8.0)];
        assert_eq!(ends, [(ReceptionOutcome::Noise, Carrier::Idle), (ReceptionOutcome::Noise, Carrier::Unchanged)]);
        assert!(!bench.receiver.is_busy());
    }

    /// The end of a long frame from far away lies in the window of a preamble that it has drowned, and that is found now.
    #[test]
    fn a_preamble_that_stands_out_late_makes_the_medium_busy() {
        let mut bench = Bench::new();
        let (end, begin) = (us(0) + airtime(), us(0) + airtime() - Duration::from_micros(2));
        assert!(!bench.begins(1, us(0), 3.9, 1));
        assert!(!bench.begins(2, begin, 6.0, 2), "0.6 dB over noise and the other frame");
        assert_eq!(bench.ends(1, end, 3.9), (ReceptionOutcome::Noise, Carrier::Busy));
        assert!(bench.receiver.is_receiving(TransmissionId::from_index(2)));
        let (_, carrier) = bench.ends(2, begin + airtime(), 6.0);
        assert_eq!(carrier, Carrier::Idle);
    }

    /// The same frame many times, with an interferer that overlaps a part of it: the share that arrives is the product
    /// over both pieces.
    #[test]
    fn each_piece_counts_at_its_own_ratio() {
        let runs = 4_000;
        // An interferer below the noise for the second half of the payload.
        let (signal, interferer) = (10.0, -8.0);
        let half = us(20) + Duration::from_micros(168);
        let mut received = 0;
        for key in 0..runs {
            let mut bench = Bench::new();
            bench.begins(1, us(0), signal, key);
            bench.begins(2, half, interferer, 0);
            let (heard, _) = bench.ends(1, us(0) + airtime(), signal);
            received += u32::from(heard == ReceptionOutcome::Frame(us(20)));
            bench.ends(2, us(0) + airtime() + airtime(), interferer);
        }
        // By hand: half of the bits at 10 dB, half at 10 dB − 10·log₁₀(1 + 10^(−0.8)) = 9.36 dB.
        let curve = SuccessCurve::new(MBPS_24.framing().encoding);
        let bits = f64::from(8 * OCTETS + 22) / 2.0;
        let disturbed = Decibel(signal).as_ratio() / (1.0 + Decibel(interferer).as_ratio());
        let expected = libm::exp(bits * (curve.ln_success(Decibel(signal).as_ratio()) + curve.ln_success(disturbed)));
        assert!((0.05..0.95).contains(&expected), "{expected} would hide an error");
        let share = f64::from(received) / runs as f64;
        let spread = 3.5 * libm::sqrt(expected * (1.0 - expected) / runs as f64);
        assert!((share - expected).abs() < spread, "{share} for {expected}");
    }

    #[test]
    fn an_equal_frame_destroys_and_a_much_stronger_one_takes_over() {
        let mut bench = Bench::new();
        bench.begins(1, us(0), 20.0, 1);
        assert!(!bench.begins(2, us(50), 20.0, 2), "busy already");
        assert_eq!(bench.ends(1, us(0) + airtime(), 20.0), (ReceptionOutcome::Error(us(20)), Carrier::Unchanged));
        assert_eq!(bench.ends(2, us(50) + airtime(), 20.0), (ReceptionOutcome::Noise, Carrier::Idle));
        assert_eq!(bench.tally.totals.collisions, 2);

        let mut bench = Bench::new();
        bench.begins(1, us(0), 20.0, 1);
        bench.begins(2, us(50), 31.0, 2);
        assert_eq!(bench.ends(1, us(0) + airtime(), 20.0), (ReceptionOutcome::Noise, Carrier::Unchanged));
        assert_eq!(bench.ends(2, us(50) + airtime(), 31.0), (ReceptionOutcome::Frame(us(70)), Carrier::Idle));
        assert_eq!(bench.tally.totals.collisions, 1);
    }

    /// Two frames of one power that begin in the same slot: neither preamble is found, so no frame in error follows.
    #[test]
    fn preambles_of_one_power_drown_each_other() {
        let mut bench = Bench::new();
        assert!(bench.begins(1, us(0), 20.0, 1));
        assert!(!bench.begins(2, us(3), 20.0, 2));
        assert!(!bench.receiver.receiving(us(30)));
        assert!(bench.receiver.is_busy(), "energy");
        assert_eq!(bench.ends(1, us(0) + airtime(), 20.0), (ReceptionOutcome::Noise, Carrier::Unchanged));
        assert_eq!(bench.ends(2, us(3) + airtime(), 20.0), (ReceptionOutcome::Noise, Carrier::Idle));
        assert_eq!(bench.tally.totals.collisions, 2);
    }

    /// Eleven chips do not tell preambles of one code apart.
    #[test]
    fn preambles_of_one_power_and_one_code_drown_each_other() {
        let us = |micros: u64| 1_000 * micros;
        for frames in [
            vec![(us(1), 20.0), (us(1), 20.0)],
            vec![(us(1), 20.0), (us(1) + 1, 20.0)],
            vec![(us(1) + 1, 20.0), (us(1), 20.0)],
            vec![(us(1), 20.0), (us(1), 20.0), (us(1) + 3, 20.0)],
            vec![(us(1), 20.0), (us(1) + 14_999, 20.0)],
            // A metre nearer at 10 m is no help.
            vec![(us(1), 20.9), (us(1) + 3, 20.0)],
        ] {
            let count = frames.len() as u64;
            assert_eq!(Bench::dsss().meet(&frames), (vec![], count), "{frames:?}");
        }
    }

    /// After aCCATime the receiver follows the first frame, and the second one is noise that the chips suppress.
    #[test]
    fn a_lead_longer_than_the_window_wins() {
        let (received, _) = Bench::dsss().meet(&[(1_000, 20.0), (16_000, 18.0)]);
        assert_eq!(received, [0]);
        let (received, _) = Bench::dsss().meet(&[(16_000, 20.0), (1_000, 18.0)]);
        assert_eq!(received, [1]);
    }

    #[test]
    fn the_strongest_preamble_of_a_window_is_the_one_found() {
        for (bench, window) in [(Bench::dsss as fn() -> Bench, 15_000), (Bench::new, 4_000)] {
            for lead in [0, 1, 1_000, window - 1] {
                for powers in [[30.0, 20.0], [30.0, 15.0]] {
                    let [strong, weak] = powers;
                    let first = bench().meet(&[(1_000, strong), (1_000 + lead, weak)]);
                    let second = bench().meet(&[(1_000 + lead, strong), (1_000, weak)]);
                    assert_eq!((first, second), ((vec![0], 1), (vec![0], 1)), "{lead} ns, {powers:?}");
                }
            }
        }
        assert_eq!(Bench::dsss().meet(&[(1_000, 24.1), (1_000, 20.0)]), (vec![0], 1));
        assert_eq!(Bench::dsss().meet(&[(1_000, 23.9), (1_000, 20.0)]), (vec![], 2));
    }

    /// Of two that are strong enough each, and of one power, neither takes a receiver that is busy over; whatever else begins with a
    /// frame that does, and in whatever order, its own window decides.
    #[test]
    fn a_busy_receiver_is_taken_over_by_the_strongest_of_a_window() {
        let locked = (0, 10.0);
        let late = 1_000_000;
        for (others, received) in [([25.0, 12.0], vec![1]), ([25.0, 24.0], vec![]), ([25.0, 25.0], vec![])] {
            let [one, other] = others;
            for (lead_of_one, lead_of_other) in [(0, 0), (0, 3), (3, 0)] {
                let frames = [locked, (late + lead_of_one, one), (late + lead_of_other, other)];
                let (heard, _) = Bench::dsss().meet(&frames);
                assert_eq!(heard, received, "{frames:?}");
                let turned = [frames[0], frames[2], frames[1]];
                let (heard, _) = Bench::dsss().meet(&turned);
                assert_eq!(heard.len(), received.len(), "{turned:?}");
            }
        }
    }

    proptest! {
        /// To which of the frames that begin within one aCCATime a receiver synchronises depends on their powers, not on who is first.
        #[test]
        fn the_order_within_a_window_does_not_matter(
            powers in prop::collection::vec(0_u32..20, 2..6),
            is_dsss: bool,
            is_busy: bool,
            leads in prop::collection::vec(0_u64..2_000, 6),
            order in Just([0_u32, 1, 2, 3, 4, 5]).prop_shuffle(),
        ) {
            let found = |order: &[u32], leads: &[u64]| {
                let mut bench = if is_dsss { Bench::dsss() } else { Bench::new() };
                if is_busy {
                    bench.begins(100, us(0), 6.0, 100);
                }
                let mut frames: Vec<(u64, u32)> = leads.iter().copied().zip(order.iter().copied()).collect();
                frames.retain(|&(_, frame)| (frame as usize) < powers.len());
                frames.sort_by_key(|&(lead, _)| lead);
                for (lead, frame) in frames {
                    let at = us(100) + Duration::from_nanos(lead);
                    bench.begins(frame, at, f64::from(5 + 2 * powers[frame as usize]), u64::from(frame));
                }
                let lock = bench.receiver.lock.filter(|lock| lock.stage != Stage::Drowned);
                lock.map(|lock| lock.transmission)
            };
            prop_assert_eq!(found(&[0, 1, 2, 3, 4, 5], &[0; 6]), found(&order, &leads));
        }
    }

    /// A header that could not be read is known at the next change: the receiver is free for what comes after it.
    #[test]
    fn an_unreadable_header_frees_the_receiver_without_a_frame_in_error() {
        let mut bench = Bench::new();
        bench.begins(1, us(0), 6.0, 1);
        bench.begins(2, us(8), 12.0, 2);
        assert!(!bench.receiver.receiving(us(7)));
        bench.begins(3, us(30), 25.0, 3);
        assert_eq!(bench.ends(1, us(0) + airtime(), 6.0), (ReceptionOutcome::Noise, Carrier::Unchanged));
        assert_eq!(bench.ends(2, us(8) + airtime(), 12.0), (ReceptionOutcome::Noise, Carrier::Unchanged));
        assert_eq!(bench.ends(3, us(30) + airtime(), 25.0), (ReceptionOutcome::Frame(us(50)), Carrier::Idle));
    }

    #[test]
    fn a_transmitter_hears_nothing() {
        let mut bench = Bench::new();
        bench.begins(1, us(0), 20.0, 1);
        bench.receiver.on_transmit(&bench.model, &mut bench.tally);
        bench.begins(2, us(10), 20.0, 2);
        bench.receiver.on_transmitted();
        assert!(bench.receiver.is_busy(), "energy");
        assert_eq!(bench.ends(1, us(0) + airtime(), 20.0), (ReceptionOutcome::Noise, Carrier::Unchanged));
        assert_eq!(bench.ends(2, us(10) + airtime(), 20.0), (ReceptionOutcome::Noise, Carrier::Idle));
        assert_eq!(bench.tally.totals.collisions, 2);
    }
}
