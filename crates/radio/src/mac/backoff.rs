//! Contention: physical carrier sense, interframe spaces and backoff with freezing (IEEE 802.11-2020, 10.3.4).
//!
//! There are no periodic events. While the medium is idle, the instant of access is known; when it becomes busy, the
//! station subtracts the slots that have passed.
//!
//! ```text
//!   busy │ DIFS or EIFS │ slot │ slot │ slot │ access
//!  ──────┴──────────────┴──────┴──────┴──────┴────────
//!     idle_since      from                    from + slots × slot
//! ```
//!
//! A station that has turned its radio to transmit can't hear: energy that arrives within aRxTxTurnaroundTime before a
//! slot boundary does not stop an access at that boundary (10.3.7, figure 10-26). Stations whose counters end in the
//! same slot therefore collide, although the distance between them offsets their boundaries a little.
//!
//! # EDCA
//!
//! DCF counts a slot at its end, EDCA at its beginning: the first at the end of AIFS, and also one during which the medium then
//! turns busy (10.23.2.4). A counter k of EDCA is therefore kept as k + 1 slots, counted from AIFS less one slot. Access is at
//! slot boundaries only, also for a frame that finds the medium idle.

use hopcast_protocols::random::Stream;
use hopcast_protocols::time::{Duration, Instant};

use super::batch::{Rest, Toll};
use super::config::AccessRules;

/// The durations that contention uses; the one that each end of a busy medium asks for comes first.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct Timing {
    /// Idle time before the first slot: DIFS, or AIFS less one slot.
    pub(super) ifs: Duration,
    pub(super) slot: Duration,
    pub(super) turnaround: Duration,
    pub(super) cw_min: u32,
    pub(super) cw_max: u32,
    /// Of whose backoffs these are the durations.
    pub(super) rules: AccessRules,
    /// Slots of a counter that has ended: 0 under DCF, 1 under EDCA.
    pub(super) ended: u32,
}

/// A backoff that counts down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Countdown {
    /// Where its first slot begins; it may be to come.
    pub from: Instant,
    /// Slots from there on.
    pub slots: u32,
    /// Length of a slot.
    pub slot: Duration,
    /// Energy that arrives so shortly before the end of a slot does not stop it.
    pub turnaround: Duration,
}

impl Countdown {
    /// The end, if nothing stops it.
    #[inline]
    pub fn end(&self) -> Instant {
        self.from + self.slot * u64::from(self.slots)
    }

    /// Slots that have passed, if the medium becomes busy `now`.
    pub fn passed(&self, now: Instant) -> u32 {
        let passed = (now + self.turnaround).saturating_since(self.from).as_nanos() / self.slot.as_nanos().max(1);
        passed.min(u64::from(self.slots)) as u32
    }
}

/// One station's contention for the medium. The fields up to `Timing::ifs` fill a line of the processor's cache, and a
/// station that only overhears needs no others.
#[derive(Clone, Debug)]
#[repr(C)]
pub(super) struct Backoff {
    busy: bool,
    /// An access so near that energy can no longer stop it.
    committed: bool,
    /// Whether a frame is in hand.
    pub(super) pending: bool,
    cw: u32,
    /// Idle slots left; `None`: no backoff is pending.
    slots: Option<u32>,
    /// The end of the interframe space; while idle.
    ready: Instant,
    /// Where the counting of `slots` starts: `ready`, or a later slot boundary if the backoff was drawn after it.
    from: Instant,
    history: History,
    timing: Timing,
}

const _: () = assert!(core::mem::offset_of!(Backoff, timing) + size_of::<Duration>() == 64);

/// What has happened on the medium.
#[derive(Clone, Copy, Debug)]
struct History {
    /// When the medium became idle.
    idle_since: Instant,
    /// By how much EIFS is longer than the interframe space, from a frame in error until the medium is idle; zero otherwise.
    more: Duration,
    /// The end of the EIFS after the last frame in error, less the interframe space.
    resynchronised: Instant,
}

impl Backoff {
    pub(super) fn new(timing: Timing) -> Self {
        let ready = Instant::START + timing.ifs;
        Self {
            busy: false,
            committed: false,
            pending: false,
            cw: timing.cw_min,
            slots: None,
            ready,
            from: ready,
            history: History { idle_since: Instant::START, more: Duration::ZERO, resynchronised: Instant::START },
            timing,
        }
    }

    /// The least and the largest contention window, in slots.
    pub(super) const fn windows(&self) -> [u32; 2] {
        [self.timing.cw_min, self.timing.cw_max]
    }

    /// The rest of a batch, of this number of `packets`, each with the time on the air, that of its answer with SIFS, and the time after which an answer is
    /// missed.
    #[cold]
    pub(super) fn rest_of_batch(&self, toll: Toll, packets: u32, [airtime, answer, timeout]: [Duration; 3]) -> Rest {
        let Timing { ifs, slot, ended, cw_min, .. } = self.timing;
        let [ifs, slot] = [(ifs + slot * u64::from(ended)).as_secs_f64(), slot.as_secs_f64()];
        let [airtime, answer, timeout] = [airtime, answer, timeout].map(Duration::as_secs_f64);
        let access = ifs + toll.slots * slot + toll.collisions * (airtime + timeout + ifs);
        let alone = ifs + f64::from(cw_min) / 2.0 * slot;
        let packets = f64::from(packets);
        Rest {
            airtime: Duration::from_secs_f64(packets * (access + airtime) + (packets - 1.0) * answer),
            attempts: Duration::from_secs_f64(packets * (toll.attempts * (airtime + answer + alone) - alone)),
        }
    }

    /// From now on slots and interframe spaces have these lengths. Slots that have passed count as they were, one that has begun
    /// as a whole one of the new length; so does an interframe space. What would be over by now ends now.
    pub(super) fn set_slot(&mut self, slot: Duration, ifs: Duration, now: Instant) {
        let before = self.timing;
        self.timing = Timing { slot, ifs, ..before };
        if self.busy {
            return;
        }
        if now < self.ready {
            self.ready = (self.ready + ifs - before.ifs).max(now);
            self.from = self.ready;
            return;
        }
        let passed = now.saturating_since(self.from).as_nanos() / before.slot.as_nanos();
        let passed = self.slots.map_or(passed, |slots| passed.min(u64::from(slots)));
        self.slots = self.slots.map(|slots| slots - passed as u32);
        self.from += before.slot * passed;
        if self.from + slot < now {
            // By its new length it is over.
            self.from = now - slot;
        }
        self.ready = self.from;
    }

    /// Whether the medium is busy.
    #[inline]
    pub(super) fn is_busy(&self) -> bool {
        self.busy
    }

    /// The countdown that runs unless the medium becomes busy.
    #[inline]
    pub(super) fn countdown(&self) -> Option<Countdown> {
        let Timing { slot, turnaround, ended, .. } = self.timing;
        let slots = self.slots.and_then(|slots| slots.checked_sub(ended)).filter(|&slots| slots > 0 && !self.busy)?;
        Some(Countdown { from: self.from + slot * u64::from(ended), slots, slot, turnaround })
    }

    /// The contention window in slots.
    pub(super) fn contention_window(&self) -> u32 {
        self.cw
    }

    /// The medium becomes busy. `pending`: a frame waits for access.
    #[inline]
    pub(super) fn handle_busy(&mut self, now: Instant, pending: bool, random: &mut Stream) {
        if !core::mem::replace(&mut self.busy, true) && (pending || self.slots.is_some()) {
            self.freeze(now, pending, random);
        }
    }

    /// Subtracts the slots that have passed until the medium becomes busy now.
    fn freeze(&mut self, now: Instant, pending: bool, random: &mut Stream) {
        let deaf_until = now + self.timing.turnaround;
        match self.slots {
            Some(_) if self.access() <= deaf_until => {
                self.from = self.access() - self.timing.slot * u64::from(self.timing.ended);
                self.slots = pending.then_some(self.timing.ended);
                self.committed = pending;
            }
            Some(slots) => {
                let passed = deaf_until.saturating_since(self.from).as_nanos() / self.timing.slot.as_nanos();
                self.slots = Some(slots - passed as u32);
            }
            None if pending && self.ready <= deaf_until => self.committed = true,
            None if pending => self.draw(now, random),
            None => {}
        }
    }

    /// The medium becomes idle, or is taken to be from an instant to come; `nav` is the end of the reservation by others.
    #[inline]
    pub(super) fn handle_idle(&mut self, now: Instant, nav: Instant) {
        self.busy = false;
        self.history.idle_since = now;
        if self.history.more != Duration::ZERO {
            self.history.resynchronised = now + self.history.more;
            self.history.more = Duration::ZERO;
        }
        self.defer(nav);
    }

    /// The reservation by others has changed. Returns whether that matters now: the medium is idle.
    #[inline]
    pub(super) fn handle_nav(&mut self, nav: Instant) -> bool {
        if !self.busy {
            self.defer(nav);
        }
        !self.busy
    }

    /// Another category of the same station has been told of an idle medium or a reservation: so it is for this one, with its
    /// own interframe space.
    #[inline]
    pub(super) fn follow(&mut self, other: &Self) {
        self.busy = false;
        self.committed = false;
        self.ready = other.ready + self.timing.ifs - other.timing.ifs;
        self.from = self.ready;
    }

    /// This category is told what happens from now on, in place of another one.
    pub(super) fn take_over(&mut self, other: &Self) {
        self.history = other.history;
    }

    /// A frame that began was not received correctly: EIFS follows the busy medium (10.3.2.3.7), which is longer than DIFS or
    /// AIFS by `more`.
    pub(super) fn on_error(&mut self, more: Duration) {
        self.history.more = more;
    }

    /// A frame was received correctly, which ends the resynchronisation after an error.
    pub(super) fn on_frame(&mut self) {
        self.history.more = Duration::ZERO;
        self.history.resynchronised = Instant::START;
    }

    /// A frame comes to hand; `nav` is the end of the reservation by others. Returns whether it may be sent at once;
    /// otherwise [`Self::access_at`] tells when.
    pub(super) fn on_pending(&mut self, now: Instant, nav: Instant, random: &mut Stream) -> bool {
        if self.busy || now < nav {
            self.on_pending_in_exchange(now, random);
            return false;
        }
        if self.slots.is_some() && self.access() <= now {
            // The backoff after the last transmission has run out unnoticed.
            self.slots = None;
        }
        if self.slots.is_none() && self.timing.rules == AccessRules::Ns2 {
            self.draw(now, random);
            self.ready = now + self.timing.ifs;
            self.from = self.ready;
        } else if self.slots.is_none() && self.timing.ended > 0 {
            self.slots = Some(self.timing.ended);
            self.from = self.boundary(now);
        }
        self.access() <= now
    }

    /// A frame comes to hand during an exchange of the station's own.
    pub(super) fn on_pending_in_exchange(&mut self, now: Instant, random: &mut Stream) {
        if self.slots.is_none() {
            self.draw(now, random);
        }
    }

    /// The instant of access of a pending frame, while the medium is idle or the access can no longer be stopped.
    #[inline]
    pub(super) fn access_at(&self) -> Option<Instant> {
        (!self.busy || self.committed).then(|| self.access())
    }

    /// The pending frame is transmitted: its backoff is over.
    pub(super) fn on_access(&mut self) {
        self.slots = None;
        self.committed = false;
    }

    /// A transmission succeeded: the smallest window.
    pub(super) fn on_success(&mut self) {
        self.cw = self.timing.cw_min;
    }

    /// A transmission succeeded or was given up: the smallest window, and a backoff before the next one.
    pub(super) fn on_done(&mut self, now: Instant, random: &mut Stream) {
        self.cw = self.timing.cw_min;
        self.draw(now, random);
    }

    /// A transmission failed and will be repeated: the next larger window.
    pub(super) fn on_failure(&mut self, now: Instant, random: &mut Stream) {
        self.cw = (2 * self.cw + 1).min(self.timing.cw_max);
        self.draw(now, random);
    }

    /// The frame is not to go at the boundary `now`: another backoff from the same window (10.23.2.5, case e).
    pub(super) fn on_postponed(&mut self, now: Instant, random: &mut Stream) {
        self.draw(now, random);
        self.on_collision(now);
    }

    /// The access at the boundary `now` is another category's, and the backoff just drawn is in its place. At one boundary a
    /// category either draws or counts (10.23.2.4): counting begins with the next one.
    pub(super) fn on_collision(&mut self, now: Instant) {
        self.from = now;
        self.committed = false;
    }

    /// Draws a backoff: uniform in 0 … CW slots (10.3.3), or 0 … CW − 1, counted from the next boundary.
    fn draw(&mut self, now: Instant, random: &mut Stream) {
        let numbers = if self.timing.rules == AccessRules::Ns2 { self.cw } else { self.cw + 1 };
        self.slots = Some(random.below(numbers) + self.timing.ended);
        self.from = self.boundary(now);
    }

    /// Where the counting of a backoff begins that is drawn now, in an idle medium.
    #[inline]
    fn boundary(&self, now: Instant) -> Instant {
        let slots = now.saturating_since(self.ready).as_nanos().div_ceil(self.timing.slot.as_nanos());
        self.ready + self.timing.slot * slots.saturating_sub(u64::from(self.timing.ended))
    }

    #[inline]
    fn access(&self) -> Instant {
        self.slots.map_or(self.ready, |slots| self.from + self.timing.slot * u64::from(slots))
    }

    /// The interframe space that ends last: DIFS or AIFS after physical or virtual carrier, or EIFS.
    #[inline]
    fn defer(&mut self, nav: Instant) {
        self.committed = false;
        self.ready = self.history.idle_since.max(nav).max(self.history.resynchronised) + self.timing.ifs;
        self.from = self.ready;
    }
}
