//! Medium access of one station (IEEE 802.11-2020, 10.3 and 10.23.2): a state machine without clock or medium.
//!
//! The inputs are what the physical layer senses and receives, and packets from the layer above; the outputs are frames
//! to transmit and packets to deliver. At the end of a reception the driver calls [`Dcf::handle_frame`] or
//! [`Dcf::handle_error`], then [`Dcf::handle_idle`] if the medium is idle now.
//!
//! Under the distributed coordination function (DCF) one function contends for the medium, under enhanced distributed channel
//! access (EDCA) four do, one for each access category. The exchange of frames is the same.
//!
//! An RTS goes at the basic rate if the receiver of the data understands it, else at a mandatory rate below; rate control
//! lowers it with each RTS that is not answered.
//!
//! Stations of 802.11n and later aggregate, under block acknowledgment agreements ([`Aggregation`]).
//!
//! Limits: no fragmentation of MSDUs, no power management. A station's retry counters are those of
//! the frame in hand, so a window that ends at a limit ends with its frame.

mod access_function;
mod aggregation;
mod agreement;
pub mod association;
mod backoff;
mod batch;
mod block_ack;
mod config;
mod duplicate;
pub mod edca;
mod links;
mod nav;
mod originator;
mod outgoing;
mod outputs;
mod peers;
mod rates;
mod recipient;
mod sequence;
#[cfg(test)]
mod tests;
mod widths;

use std::rc::Rc;

use hopcast_protocols::random::Stream;
use hopcast_protocols::time::{Duration, Instant};
use hopcast_wire::ieee80211::management::BlockAckAction;

use crate::aggregate::{Body, with_subframe};
pub use crate::frame::{Frame, FrameKind, Header, Payload, StationId};
use crate::phy::{Phy, TxVector};
use crate::queue::Reason;
use crate::rate::Algorithm;
use crate::units::Power;
use access_function::AccessFunction;
pub use aggregation::{Aggregation, Agreements};
pub use backoff::Countdown;
use batch::{Contention, Rest};
use block_ack::BlockAcks;
pub use config::{AccessRules, Bandwidth, Config, Protection};
use duplicate::DuplicateCache;
use edca::{AccessCategory, UserPriority};
pub use links::LinkStatistics;
use links::Links;
use nav::Nav;
use originator::Originator;
use outgoing::OutgoingMpdu;
use outputs::Outputs;
pub use peers::{Peer, Peers, controlled_rates};
use rates::{ControlResponse, Rates, rts_rate};
pub use rates::{control_response_rate, dsss_peers, dsss_rate};
use sequence::SequenceCounters;
use widths::Widths;

/// Reason why the interface gave up a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropCause {
    /// The interface queue was full.
    QueueFull,
    /// The discipline of the interface queue dropped it because packets had waited too long.
    QueueManagement,
    /// It expired before its turn in the interface queue, or before an attempt.
    Expired,
    /// Too many attempts without an answer: dot11ShortRetryLimit.
    ShortRetryLimit,
    /// Too many attempts without an answer: dot11LongRetryLimit.
    LongRetryLimit,
}

impl From<Reason> for DropCause {
    fn from(reason: Reason) -> Self {
        match reason {
            Reason::Full => Self::QueueFull,
            Reason::Management => Self::QueueManagement,
            Reason::Expired => Self::Expired,
        }
    }
}

/// An action or event of a station: `P` is a packet, `F` a frame, `R` a packet that was received. [`Dcf::on_air`] returns
/// the frame to transmit. A received packet is that of the frame that the driver has just passed in, which the station
/// does not look into.
#[derive(Clone, Debug)]
pub enum Output<P, F = (), R = ()> {
    /// Put this frame on the air now.
    Transmit(F),
    /// Deliver this packet; it came from this station.
    Deliver(R, StationId),
    /// Deliver this packet, which came from this station under an agreement, in a frame just now or before.
    Released(P, StationId),
    /// This packet, from this station, came too late to be delivered, and is acknowledged all the same.
    Late(P, StationId),
    /// Look into this management frame, which came from this station: an action of block acknowledgment goes to [`Dcf::handle_action`],
    /// anything else is delivered. Only of stations that aggregate.
    Management(R, StationId),
    /// Send this action frame to a station: hand its packet to [`Dcf::handle_packet`].
    Action(BlockAckAction, StationId),
    /// The packet was acknowledged, or sent where no acknowledgement is expected.
    Sent(P),
    /// The station treats the packet as acknowledged because of the ACK of an earlier frame that came after its timeout:
    /// an ACK does not identify its frame (9.3.1.4).
    FalselyAcknowledged(P),
    /// The packet, which was for this station or for all (`None`), was given up.
    Dropped(P, DropCause, Option<StationId>),
    /// The station in promiscuous mode has overheard this packet, from the first station to the second.
    Overheard(R, StationId, StationId),
    /// The same of a packet under an agreement.
    OverheardInBody(P, StationId, StationId),
}

/// Free places in a queue of an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueSpace {
    /// Number of places.
    pub places: usize,
    /// The access category to which the queue belongs; `None`: the interface has one queue for all packets.
    pub category: Option<AccessCategory>,
}

impl QueueSpace {
    /// This number of places in the only queue of an interface.
    pub const fn shared(places: usize) -> Self {
        Self { places, category: None }
    }
}

/// Counters of a station's MAC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counters {
    /// Frames put on the air, by kind.
    pub rts_sent: u64,
    /// See [`Self::rts_sent`]; those to the station itself included.
    pub cts_sent: u64,
    /// See [`Self::rts_sent`].
    pub ack_sent: u64,
    /// See [`Self::rts_sent`]; repetitions included. Each MPDU of an A-MPDU counts.
    pub data_sent: u64,
    /// See [`Self::rts_sent`]; repetitions included.
    pub management_sent: u64,
    /// See [`Self::rts_sent`].
    pub block_ack_sent: u64,
    /// See [`Self::rts_sent`].
    pub block_ack_requests_sent: u64,
    /// A-MPDUs of two MPDUs or more put on the air.
    pub ampdus_sent: u64,
    /// RTS without CTS.
    pub cts_timeouts: u64,
    /// Data without ACK, or block acknowledgment.
    pub ack_timeouts: u64,
    /// Data frames received again because an ACK was lost.
    pub duplicates: u64,
    /// Receptions that began and failed.
    pub errors: u64,
    /// Accesses that a higher access category of the same station took.
    pub internal_collisions: u64,
    /// Packets that the queues marked instead of dropping them (ECN).
    pub marked: u64,
}

/// One station's medium access.
///
/// The fields are ordered for the cache: an event at a station that only overhears reads the first ones, in two lines of
/// the processor's cache, of which the second begins with `access_function`. With many stations each line is a miss.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct Dcf<P> {
    state: State,
    nav: Nav,
    station: StationId,
    /// Whether [`Output::Transmit`] comes next, after `outputs`. It is what most events lead to, and a frame has one: to queue it
    /// would cost more than to say so.
    transmits: bool,
    /// Whether `outputs` holds something.
    has_outputs: bool,
    /// As in [`Config::rules`], copied to where an event at a station that only overhears reads.
    rules: AccessRules,
    is_promiscuous: bool,
    /// Receptions that began and failed.
    errors: u64,
    /// By how much EIFS after a frame in error is longer than DIFS or AIFS; under [`AccessRules::Ns2`] all of it.
    eifs_excess: ByRate,
    /// Whose frame the exchange is about, if there is one. The only one under DCF.
    access_function: AccessFunction<P>,
    outputs: Outputs<P>,
    /// The other access categories under EDCA.
    others: Vec<AccessFunction<P>>,
    /// The state between exchanges: [`State::Contend`] or [`State::ContendAll`].
    rest: State,
    /// A CTS, an ACK, or a data frame after a CTS or within a TXOP, while the state is [`State::Sifs`]; the data frame after a
    /// CTS-to-self also while that is on the air.
    response: Option<Header>,
    /// The frame that the station has transmitted last. It is made where it stays: to copy it at once would cost more than to make it.
    on_air: Option<Header>,
    /// Boxed, as are the fields below: an event at a station that only overhears reads none of them.
    config: Box<Config>,
    random: Box<Stream>,
    rates: Box<Rates>,
    duplicates: Box<DuplicateCache>,
    sequences: Box<SequenceCounters>,
    /// At a station that aggregates.
    block_acks: Option<Box<BlockAcks<P>>>,
    /// Without `errors`.
    counters: Counters,
    /// When the TXOP ends; of those with a limit.
    txop_end: Instant,
    /// Whether another data frame follows that in hand within the TXOP.
    continues: bool,
    /// The time after which the reservation of an RTS may be taken back.
    nav_lapse: ByRate,
    /// What was sent to each receiver, where somebody wants to know.
    links: Option<Box<Links>>,
    /// At a station that tells its primary channel from the secondary ones.
    widths: Option<Widths>,
    /// At a station that has sent batches.
    contention: Option<Box<Contention>>,
}

// What a bystander needs: see [`Dcf`].
const _: () = assert!(core::mem::offset_of!(Dcf<()>, access_function) == 64);

/// Where the exchange of frames stands.
#[derive(Clone, Copy, Debug)]
enum State {
    /// Nothing under way: listening, or contending for the medium, under DCF.
    Contend,
    /// The same under EDCA. It is a separate state so that DCF, whose stations are in [`State::Contend`] at most events,
    /// does not check each time whether there are other categories.
    ContendAll,
    /// SIFS before [`Dcf::response`].
    Sifs(Instant),
    /// On the air until the instant.
    Transmit(FrameKind, Instant),
    /// Waiting for the start of a CTS or an ACK, until the instant.
    Await(FrameKind, Instant),
    /// A frame has started in time; its end will tell whether it is the CTS or the ACK.
    AwaitEnd(FrameKind),
}

impl<P: Payload> Dcf<P> {
    /// A station that hears an idle medium at the start. `random` draws its backoffs.
    pub fn new(station: StationId, config: Config, random: Stream) -> Self {
        let nav_lapse = ByRate::new(config.basic_rate, nav_lapse(&config, config.basic_rate));
        let eifs_excess = ByRate::new(config.basic_rate, eifs_excess(&config, config.basic_rate));
        let edca = |category: AccessCategory, config: &Config| {
            let parameters = config.edca.as_ref().map(|categories| categories[category as usize]);
            parameters.map(|parameters| AccessFunction::edca(category, &parameters, config))
        };
        let access_function = edca(AccessCategory::BestEffort, &config).unwrap_or_else(|| AccessFunction::dcf(&config));
        let others = [AccessCategory::Background, AccessCategory::Video, AccessCategory::Voice];
        let rest = if config.edca.is_none() { State::Contend } else { State::ContendAll };
        Self {
            access_function,
            others: others.into_iter().filter_map(|category| edca(category, &config)).collect(),
            nav: Nav::default(),
            state: rest,
            rest,
            station,
            response: None,
            on_air: None,
            transmits: false,
            has_outputs: false,
            rules: config.rules,
            is_promiscuous: false,
            errors: 0,
            outputs: Outputs::default(),
            rates: Box::new(Rates::new(station, &config)),
            block_acks: BlockAcks::new(&config),
            widths: Widths::new(&config),
            config: Box::new(config),
            random: Box::new(random),
            duplicates: Box::default(),
            sequences: Box::default(),
            counters: Counters::default(),
            txop_end: Instant::START,
            continues: false,
            nav_lapse,
            eifs_excess,
            links: None,
            contention: None,
        }
    }

    /// Makes [`Output::Overheard`] report packets between other stations from now on.
    pub fn set_promiscuous(&mut self) {
        self.is_promiscuous = true;
    }

    /// Whether the station reports packets between other stations.
    #[must_use]
    pub fn is_promiscuous(&self) -> bool {
        self.is_promiscuous
    }

    /// Counts from now on what is sent to each receiver.
    pub fn keep_links(&mut self) {
        self.links = Some(Box::default());
    }

    /// What was sent to each receiver since [`Self::keep_links`], the lowest station first.
    pub fn links(&self) -> &[LinkStatistics] {
        self.links.as_ref().map_or(&[], |links| links.all())
    }

    /// Whether [`Self::handle_power`] is of use.
    pub fn learns_power(&self) -> bool {
        self.config.rate_control == Algorithm::Ideal
    }

    /// The latest frame of this station to `receiver` comes there with `power`; zero if not at all.
    pub fn handle_power(&mut self, receiver: StationId, power: Power) {
        self.rates.on_power(receiver, power);
    }

    /// Takes all packets for `receiver` out of the interface queue, the oldest first. The frame in hand stays.
    #[must_use = "these packets are no longer in the queue"]
    pub fn purge(&mut self, receiver: StationId) -> Vec<P> {
        let mut purged = Vec::new();
        for access_function in core::iter::once(&mut self.access_function).chain(&mut self.others) {
            if let Some(originator) = &mut access_function.originator {
                purged.extend(originator.purge(receiver));
            }
            let waiting = access_function.queue.remove_all(|(to, _)| *to == Some(receiver));
            purged.extend(waiting.into_iter().map(|(_, payload)| payload));
        }
        purged
    }

    /// Sets protection of OFDM frames and the physical layer `phy`, whose slot may differ, from now on.
    pub fn set_coexistence(&mut self, protection: Protection, phy: Phy, now: Instant) {
        self.config.protection = protection;
        if phy.parameters().slot == self.config.phy.parameters().slot {
            return;
        }
        self.config.phy = phy;
        self.rates.set_phy(&phy);
        let rate = self.config.basic_rate;
        self.nav_lapse = ByRate::new(rate, nav_lapse(&self.config, rate));
        self.eifs_excess = ByRate::new(rate, eifs_excess(&self.config, rate));
        self.access_function.set_slot(&self.config, now);
        self.others.iter_mut().for_each(|other| other.set_slot(&self.config, now));
    }

    /// The layer above wants `payload` sent to a station, or to all (`None`).
    pub fn handle_packet(&mut self, receiver: Option<StationId>, payload: P, now: Instant) {
        if !self.others.is_empty() {
            return self.handle_packet_by_category(receiver, payload, now);
        }
        if self.access_function.backoff.pending {
            self.access_function.push(receiver, payload, now, &mut self.outputs);
            self.note_outputs();
            return;
        }
        let outgoing = self.outgoing(receiver, payload, now);
        self.access_function.set_current(Some(outgoing));
        if self.access_function.backoff.on_pending(now, self.nav.until(), &mut self.random) && self.is_at_rest() {
            self.transmit_first(now);
        }
    }

    /// [`Self::handle_packet`] under EDCA.
    #[cold]
    #[inline(never)]
    fn handle_packet_by_category(&mut self, receiver: Option<StationId>, payload: P, now: Instant) {
        let other = self.other_of(payload.priority());
        let access_function = other.map_or(&mut self.access_function, |other| &mut self.others[other]);
        if access_function.backoff.pending {
            access_function.push(receiver, payload, now, &mut self.outputs);
            self.note_outputs();
            return;
        }
        let outgoing = self.outgoing(receiver, payload, now);
        let is_engaged = self.is_engaged();
        let access_function = other.map_or(&mut self.access_function, |other| &mut self.others[other]);
        access_function.set_current(Some(outgoing));
        if is_engaged {
            access_function.backoff.on_pending_in_exchange(now, &mut self.random);
        } else if access_function.backoff.on_pending(now, self.nav.until(), &mut self.random)
            && self.is_at_rest()
            // A timeout comes now, before which the station learns what is idle.
            && self.widths.is_none()
        {
            if let Some(other) = other {
                self.swap(other);
            }
            self.transmit_first(now);
        }
    }

    /// Physical carrier sense turns busy. Returns whether [`Self::poll_timeout`] may have changed; with many stations it
    /// usually has not.
    pub fn handle_busy(&mut self, now: Instant) -> bool {
        if !matches!(self.state, State::Contend) {
            self.handle_busy_otherwise(now);
            return true;
        }
        let pending = self.access_function.backoff.pending;
        self.access_function.backoff.handle_busy(now, pending, &mut self.random);
        pending
    }

    /// Physical carrier sense turns idle.
    pub fn handle_idle(&mut self, now: Instant) {
        if !matches!(self.state, State::Contend) {
            return self.handle_idle_otherwise(now);
        }
        self.access_function.backoff.handle_idle(now, self.nav.until());
    }

    /// A frame, which started at `start`, has been received without error.
    pub fn handle_frame(&mut self, frame: &Header, start: Instant, now: Instant) {
        self.access_function.backoff.on_frame();
        self.nav.on_frame_start(start);
        if frame.kind == FrameKind::Rts {
            self.note_batch(frame);
        }
        if let State::Await(expected, _) | State::AwaitEnd(expected) = self.state {
            if frame.kind == expected && frame.receiver == Some(self.station) {
                self.on_response(frame, now);
                return;
            }
            self.fail_by_another_frame(now);
        }
        match frame.receiver {
            Some(receiver) if receiver == self.station => self.on_addressed(frame, now),
            Some(_) => {
                let lapse = (frame.kind == FrameKind::Rts && self.rules == AccessRules::Standard)
                    .then(|| self.nav_lapse.at(frame.vector, || nav_lapse(&self.config, frame.vector)));
                self.update_nav(frame.duration, lapse, now);
                if let (true, Some(payload), Some(receiver)) = (self.is_promiscuous, frame.payload, frame.receiver) {
                    self.put_out(Output::Overheard(payload, frame.transmitter, receiver));
                }
            }
            None => {
                if frame.duration != Duration::ZERO {
                    // Another one follows within a TXOP.
                    self.update_nav(frame.duration, None, now);
                }
                if let Some(payload) = frame.payload {
                    self.put_out(Output::Deliver(payload, frame.transmitter));
                }
            }
        }
    }

    /// An RTS may be the first packet of another station's batch.
    fn note_batch(&mut self, rts: &Header) {
        if let Some(contention) = self.contention.as_mut().filter(|_| rts.octets > FrameKind::RTS_OCTETS)
            && self.access_function.backoff.pending
        {
            contention.on_other();
        }
    }

    /// A frame at `rate`, which started at `start`, has ended and could not be received.
    pub fn handle_error(&mut self, rate: TxVector, start: Instant, now: Instant) {
        self.errors += 1;
        let more = self.eifs_excess.at(rate, || eifs_excess(&self.config, rate));
        match self.rules {
            AccessRules::Standard => self.access_function.backoff.on_error(more),
            AccessRules::Ns2 => self.update_nav(more, None, now),
        }
        self.nav.on_frame_start(start);
        if let State::Await(..) | State::AwaitEnd(_) = self.state {
            self.fail_by_another_frame(now);
        }
    }

    /// A frame at `rate`, which takes `airtime`, has begun and does not harm the stronger one that the station is
    /// receiving.
    #[cold]
    pub fn handle_overcome(&mut self, rate: TxVector, airtime: Duration, now: Instant) {
        if self.rules == AccessRules::Ns2 {
            let eifs = self.eifs_excess.at(rate, || eifs_excess(&self.config, rate));
            self.update_nav(airtime + eifs, None, now);
        }
    }

    /// The instant of [`Self::poll_timeout`] has come. `receiving`: the PHY has reported the start of a frame that has
    /// not ended (PHY-RXSTART.indication). `busy`: physical carrier sense, without the station's own transmission.
    pub fn handle_timeout(&mut self, now: Instant, receiving: impl FnOnce() -> bool, busy: bool) {
        if self.block_acks.is_some() {
            self.release_due(now);
        }
        match core::mem::replace(&mut self.state, self.rest) {
            State::Contend => self.transmit_first(now),
            State::ContendAll => self.access(now),
            State::Sifs(_) if self.is_held_up(now) => self.hold_up(now),
            State::Sifs(_) if self.widths.is_some() && self.withholds_cts() => {}
            State::Sifs(_) => {
                self.on_air = self.response.take();
                self.transmit(now);
            }
            State::Transmit(kind, _) => self.on_transmitted(kind, now, busy),
            State::Await(expected, _) if self.rules == AccessRules::Standard && receiving() => {
                self.state = State::AwaitEnd(expected);
            }
            State::Await(expected, _) | State::AwaitEnd(expected) => {
                self.state = State::AwaitEnd(expected);
                self.fail(now);
            }
        }
    }

    /// Takes out the next output.
    #[inline]
    #[must_use = "an output that is not carried out is lost"]
    pub fn poll_output(&mut self) -> Option<Output<P>> {
        if self.has_outputs {
            let output = self.outputs.pop();
            self.note_outputs();
            return output;
        }
        core::mem::take(&mut self.transmits).then_some(Output::Transmit(()))
    }

    /// The frame that [`Self::poll_output`] has just asked to transmit, and its packet, if it carries one.
    ///
    /// # Panics
    /// If the station has never transmitted.
    #[inline]
    pub fn on_air(&self) -> (&Header, Option<&P>) {
        let frame = self.on_air.as_ref().expect("only a frame that there is is transmitted");
        let current = self.access_function.current();
        (frame, frame.payload.map(|()| &current.expect("data are those of the frame in hand").payload))
    }

    /// What that frame carries, where that is not one packet; until it has been answered.
    #[inline]
    pub fn body_on_air(&self) -> Option<&Rc<Body<P>>> {
        self.block_acks.as_ref().and_then(|block_acks| block_acks.on_air())
    }

    /// Reads what a received frame is likely to need, so that a simulator can have the processor fetch it for all
    /// receivers at once. The result has no meaning; it only keeps the compiler from removing the reads.
    #[inline]
    pub fn prefetch(&self) -> u64 {
        self.errors ^ u64::from(self.access_function.backoff.contention_window()) ^ u64::from(self.outputs.is_empty())
    }

    /// Whether [`Self::poll_output`] would return an output.
    pub fn has_output(&self) -> bool {
        self.transmits || self.has_outputs
    }

    /// Time of the next call of [`Self::handle_timeout`].
    #[inline]
    pub fn poll_timeout(&self) -> Option<Instant> {
        match self.state {
            State::Contend if self.access_function.backoff.pending => self.access_function.backoff.access_at(),
            State::Contend | State::AwaitEnd(_) => None,
            State::ContendAll => self.first_access(),
            State::Sifs(at) | State::Transmit(_, at) | State::Await(_, at) => Some(at),
        }
    }

    /// Whether a frame of this station is on the air.
    pub fn is_transmitting(&self) -> bool {
        matches!(self.state, State::Transmit(..))
    }

    /// Free places in the interface queue of packets with this priority.
    pub fn space(&self, priority: UserPriority) -> QueueSpace {
        if self.others.is_empty() {
            return QueueSpace::shared(self.access_function.queue.space());
        }
        let access_function = self.other_of(priority).map_or(&self.access_function, |other| &self.others[other]);
        QueueSpace { places: access_function.queue.space(), category: Some(access_function.category) }
    }

    /// Packets in the interface queue, or in all four.
    pub fn queued(&self) -> usize {
        self.access_functions()
            .map(|access_function| {
                let outstanding = access_function.originator.as_ref().map_or(0, |originator| originator.len());
                access_function.queue.len() + usize::from(access_function.following.is_some()) + outstanding
            })
            .sum()
    }

    /// All packets that the interface holds: the one in hand, then the queue; under EDCA category by category.
    pub fn held(&self) -> impl Iterator<Item = &P> {
        self.access_functions().flat_map(AccessFunction::held)
    }

    /// Packets that have come and wait for earlier ones.
    pub fn waiting(&self) -> impl Iterator<Item = &P> {
        self.block_acks.iter().flat_map(|block_acks| block_acks.recipients.waiting())
    }

    /// Counters so far.
    pub fn counters(&self) -> Counters {
        let marked = self.access_functions().map(|access_function| access_function.queue.marked()).sum();
        Counters { errors: self.errors, marked, ..self.counters }
    }

    /// The contention window in slots; under EDCA, of the category that has used the medium last.
    pub fn contention_window(&self) -> u32 {
        self.access_function.backoff.contention_window()
    }

    /// The last rate that rate control has chosen, for any receiver; `None` if the rate is fixed, or before the first
    /// frame.
    pub fn chosen_rate(&self) -> Option<TxVector> {
        self.rates.chosen()
    }

    /// The countdown of each access category's backoff; of the only function under DCF as [`AccessCategory::BestEffort`].
    pub fn countdowns(&self) -> impl Iterator<Item = (AccessCategory, Option<Countdown>)> {
        self.access_functions().map(|function| (function.category, function.backoff.countdown()))
    }

    /// Until when others have reserved the medium; a time that is past: they have not.
    pub fn reserved_until(&self) -> Instant {
        self.nav.until()
    }

    fn access_functions(&self) -> impl Iterator<Item = &AccessFunction<P>> {
        core::iter::once(&self.access_function).chain(&self.others)
    }

    /// The place among `others` of the category that `priority` belongs to; `None`: it is `access_function`.
    fn other_of(&self, priority: UserPriority) -> Option<usize> {
        let category = AccessCategory::of_user_priority(priority);
        self.others.iter().position(|other| other.category == category)
    }

    /// Whether an exchange that this station has begun goes on while nothing is on the air.
    fn is_engaged(&self) -> bool {
        match self.state {
            State::Await(..) | State::AwaitEnd(_) => true,
            State::Sifs(_) => self.response.as_ref().is_some_and(|response| !response.kind.is_answer()),
            State::Contend | State::ContendAll | State::Transmit(..) => false,
        }
    }

    /// `outputs` has changed.
    #[inline]
    fn note_outputs(&mut self) {
        self.has_outputs = !self.outputs.is_empty();
    }

    #[inline]
    fn put_out(&mut self, output: Output<P>) {
        self.outputs.push(output);
        self.has_outputs = true;
    }

    /// Whether no exchange is under way.
    fn is_at_rest(&self) -> bool {
        matches!(self.state, State::Contend | State::ContendAll)
    }

    /// [`Self::handle_busy`] in any other state than [`State::Contend`].
    #[inline(never)]
    fn handle_busy_otherwise(&mut self, now: Instant) {
        let contends = match self.state {
            State::Contend | State::ContendAll => true,
            State::Sifs(_) => self.response.as_ref().is_some_and(|response| response.kind.is_answer()),
            State::Transmit(..) | State::Await(..) | State::AwaitEnd(_) => false,
        };
        self.set_busy(now, contends);
    }

    /// [`Self::handle_idle`] in any other state than [`State::Contend`].
    #[inline(never)]
    fn handle_idle_otherwise(&mut self, now: Instant) {
        match self.state {
            State::Await(_, until) => self.set_idle(self.idle_from(now, until)),
            State::AwaitEnd(_) => {
                self.set_idle(now);
                // The frame that had started was lost in interference.
                self.fail(now);
            }
            State::Contend | State::ContendAll | State::Sifs(_) | State::Transmit(..) => self.set_idle(now),
        }
    }

    /// `contends`: frames in hand wait for access.
    fn set_busy(&mut self, now: Instant, contends: bool) {
        let pending = contends && self.access_function.backoff.pending;
        self.access_function.backoff.handle_busy(now, pending, &mut self.random);
        if !self.others.is_empty() {
            self.set_others_busy(now, contends);
        }
    }

    #[cold]
    #[inline(never)]
    fn set_others_busy(&mut self, now: Instant, contends: bool) {
        for other in &mut self.others {
            let pending = contends && other.backoff.pending;
            other.backoff.handle_busy(now, pending, &mut self.random);
        }
    }

    /// Others have the medium for `duration` from now; `lapse` is the time after which that may be taken back.
    fn update_nav(&mut self, duration: Duration, lapse: Option<Duration>, now: Instant) {
        self.nav.on_frame(now, duration, lapse);
        let nav = self.nav.until();
        if self.access_function.backoff.handle_nav(nav) {
            self.set_others_idle();
        }
    }

    fn set_idle(&mut self, now: Instant) {
        self.access_function.backoff.handle_idle(now, self.nav.until());
        if !self.others.is_empty() {
            self.set_others_idle();
        }
    }

    /// From when on the medium counts as idle that is idle `now`, while an answer is awaited `until` then: under EDCA no category
    /// counts slots before the end of the timeout (10.23.2.4, case c), and in ns-2 no station does.
    fn idle_from(&self, now: Instant, until: Instant) -> Instant {
        if self.others.is_empty() && self.rules == AccessRules::Standard { now } else { until }
    }

    /// `access_function` has been told of an idle medium or a reservation.
    #[cold]
    #[inline(never)]
    fn set_others_idle(&mut self) {
        for other in &mut self.others {
            other.backoff.follow(&self.access_function.backoff);
        }
    }

    #[cold]
    #[inline(never)]
    fn first_access(&self) -> Option<Instant> {
        let releases = self.block_acks.as_ref().and_then(|block_acks| block_acks.poll_timeout());
        self.access_functions().filter_map(AccessFunction::access_at).chain(releases).min()
    }

    #[inline]
    fn outgoing(&mut self, receiver: Option<StationId>, payload: P, now: Instant) -> OutgoingMpdu<P> {
        let is_qos = self.config.edca.is_some() && !payload.is_management() && self.is_qos_with(receiver);
        let priority = if is_qos { Some(payload.priority()) } else { None };
        let octets = OutgoingMpdu::mpdu_octets(&payload, priority.is_some());
        let limits = if is_qos { self.limits_with(receiver) } else { None };
        let sequence = self.sequences.next(receiver, priority);
        let (mut is_under_agreement, mut psdu_octets) = (limits.is_some(), octets);
        if let (Some(limits), Some(receiver), Some(priority)) = (limits, receiver, priority)
            && limits.agreements != Agreements::Implicit
        {
            is_under_agreement = self.negotiate(receiver, priority, sequence, &limits, now);
            if Originator::<P>::is_always_aggregate(&limits, self.standard_with(Some(receiver))) {
                psdu_octets = with_subframe(0, octets);
            }
        }
        OutgoingMpdu {
            receiver,
            octets,
            is_in_body: limits.is_some(),
            is_under_agreement,
            psdu_octets,
            taken_at: now,
            more: Box::default(),
            packets: payload.packets(),
            payload,
            sequence,
            priority,
            rate: self.config.basic_rate,
            chosen: self.config.basic_rate,
            unacknowledged: 0,
            short_retries: 0,
            long_retries: 0,
        }
    }

    /// Whether frames for `receiver`, or for all, are QoS frames at a station with EDCA.
    fn is_qos_with(&self, receiver: Option<StationId>) -> bool {
        let Some(peers) = &self.config.peers else { return true };
        match receiver {
            Some(receiver) => peers.of(receiver).is_none_or(|peer| peer.is_qos),
            None => peers.are_all_qos(),
        }
    }

    /// What goes to `receiver` under an agreement; `None`: nothing.
    fn limits_with(&self, receiver: Option<StationId>) -> Option<Aggregation> {
        let (own, receiver) = (self.config.aggregation?, receiver?);
        match self.config.peers.as_ref().and_then(|peers| peers.of(receiver)) {
            Some(peer) => peer.aggregation,
            None => Some(own),
        }
    }

    /// Makes another category the one that `access_function` is.
    fn swap(&mut self, other: usize) {
        self.others[other].backoff.take_over(&self.access_function.backoff);
        core::mem::swap(&mut self.access_function, &mut self.others[other]);
    }

    /// One category or several gain access now.
    #[cold]
    #[inline(never)]
    fn access(&mut self, now: Instant) {
        self.drop_expired(now);
        if self.access_functions().any(|access_function| access_function.is_due(now)) {
            self.settle_collision(now);
            self.transmit_first(now);
        }
    }

    /// What has expired is not sent, and takes no access from another category.
    fn drop_expired(&mut self, now: Instant) {
        self.drop_expired_of(now);
        for other in 0..self.others.len() {
            if self.others[other].has_expired(now) {
                self.swap(other);
                self.drop_expired_of(now);
                self.swap(other);
            }
        }
    }

    fn drop_expired_of(&mut self, now: Instant) {
        while self.access_function.has_expired(now) {
            self.access_function.backoff.on_access();
            self.give_up(DropCause::Expired, now);
        }
    }

    /// Of the categories that gain access at once the highest one wins; for the others this is a collision (10.23.2.4).
    fn settle_collision(&mut self, now: Instant) {
        let due = (0..self.others.len()).filter(|&other| self.others[other].is_due(now));
        if let Some(highest) = due.max_by_key(|&other| self.others[other].category)
            && (!self.access_function.is_due(now) || self.others[highest].category > self.access_function.category)
        {
            self.swap(highest);
        }
        for other in 0..self.others.len() {
            if self.others[other].is_due(now) {
                self.swap(other);
                self.collide(now);
                self.swap(other);
            }
        }
    }

    /// `access_function` has lost against another category: as if its attempt had failed (10.23.2.2, case d), retry counter included
    /// (10.23.2.12.1), but nothing was on the air, so the retry bit stays and rate control learns nothing.
    fn collide(&mut self, now: Instant) {
        self.counters.internal_collisions += 1;
        let Some(outgoing) = self.access_function.current_mut() else {
            // A request for a block acknowledgment.
            self.access_function.backoff.on_failure(now, &mut self.random);
            self.access_function.backoff.on_collision(now);
            return;
        };
        let long = outgoing.is_behind_rts(&self.config);
        match outgoing.count_failure(long, &self.config) {
            Some(cause) => self.give_up(cause, now),
            None => self.access_function.backoff.on_failure(now, &mut self.random),
        }
        self.access_function.backoff.on_collision(now);
    }

    /// Begins an exchange: the RTS, CTS-to-self or data frame in hand.
    fn transmit_first(&mut self, now: Instant) {
        self.access_function.backoff.on_access();
        if self.block_acks.is_some() && self.prepare(now) {
            return;
        }
        let outgoing = self.access_function.current_mut().expect("contention ends only for a frame in hand");
        if outgoing.is_expired(now) {
            self.give_up(DropCause::Expired, now);
            return;
        }
        if let Some(receiver) = outgoing.rated_receiver() {
            outgoing.rate = self.rates.select(receiver, now, outgoing.unacknowledged);
            outgoing.chosen = outgoing.rate;
        }
        if self.widths.is_some() && self.fit_first(now) {
            return;
        }
        self.txop_end = now + self.access_function.txop_limit;
        if self.block_acks.is_some() {
            let end = (self.access_function.txop_limit != Duration::ZERO).then_some(self.txop_end);
            self.assemble(now, end, now);
        }
        let outgoing = self.access_function.current().expect("as above");
        let (rate, is_behind_rts) = (outgoing.rate, outgoing.is_behind_rts(&self.config));
        if outgoing.is_batch() {
            self.on_air = Some(self.first_of_batch());
        } else if is_behind_rts {
            self.on_air = Some(self.rts());
        } else if self.config.is_cts_protected(rate) {
            self.on_air = Some(self.cts_to_self(now));
        } else {
            self.on_air = Some(self.data(now, now));
        }
        self.transmit(now);
    }

    /// Whether a busy or reserved medium keeps [`Self::response`] back: only under [`AccessRules::Ns2`], and no ACK.
    fn is_held_up(&self, now: Instant) -> bool {
        self.rules == AccessRules::Ns2
            && (self.access_function.backoff.is_busy() || now < self.nav.until())
            && self.response.as_ref().is_some_and(|response| response.kind != FrameKind::Ack)
    }

    /// A CTS that is kept back is dropped; data begin again.
    #[cold]
    fn hold_up(&mut self, now: Instant) {
        if self.response.take().is_some_and(|response| !response.kind.is_answer()) {
            self.access_function.backoff.on_failure(now, &mut self.random);
        }
    }

    /// Puts [`Self::on_air`] on the air.
    fn transmit(&mut self, now: Instant) {
        let frame = self.on_air.as_ref().expect("SIFS passes only before a response");
        let (kind, until) = (frame.kind, now + frame.airtime);
        // A response interrupts the contention for a frame in hand; the frame's own exchange does not.
        let response = kind.is_answer() && frame.receiver != Some(self.station);
        self.set_busy(now, response);
        *match kind {
            FrameKind::Rts => &mut self.counters.rts_sent,
            FrameKind::Cts => &mut self.counters.cts_sent,
            FrameKind::Ack => &mut self.counters.ack_sent,
            FrameKind::Data => &mut self.counters.data_sent,
            FrameKind::Management => &mut self.counters.management_sent,
            FrameKind::BlockAck => &mut self.counters.block_ack_sent,
            FrameKind::BlockAckRequest => &mut self.counters.block_ack_requests_sent,
        } += 1;
        if self.block_acks.is_some() {
            self.set_body(kind);
        }
        self.state = State::Transmit(kind, until);
        self.transmits = true;
    }

    fn on_transmitted(&mut self, kind: FrameKind, now: Instant, busy: bool) {
        let mut idle_from = now;
        match kind {
            FrameKind::Rts => {
                let rts = self.on_air.as_ref().expect("it has just been transmitted");
                let (receiver, rate, airtime) = (rts.receiver, rts.vector, rts.airtime);
                if self.links.is_some() {
                    self.count_rts(receiver, rate, airtime);
                }
                idle_from = self.await_response(FrameKind::Cts, receiver, rate, now);
            }
            // To the station itself: data follow.
            FrameKind::Cts if self.response.is_some() => self.state = State::Sifs(now + self.sifs()),
            FrameKind::Cts | FrameKind::Ack | FrameKind::BlockAck => {}
            FrameKind::BlockAckRequest => {
                let request = self.on_air.as_ref().expect("it has just been transmitted");
                let (receiver, rate) = (request.receiver, request.vector);
                idle_from = self.await_response(FrameKind::BlockAck, receiver, rate, now);
            }
            FrameKind::Data | FrameKind::Management => {
                let outgoing = self.access_function.current().expect("data are those of the frame in hand");
                let (receiver, rate) = (outgoing.receiver, outgoing.rate);
                let frame = self.on_air.as_ref().expect("it has just been transmitted");
                self.access_function.queue.on_transmitted(receiver, frame.airtime, frame.octets);
                if let (true, Some(receiver)) = (self.links.is_some(), receiver) {
                    self.count_attempts(receiver, rate);
                }
                if receiver.is_some() && self.config.acknowledgements {
                    let expected = if self.is_aggregate_on_air() { FrameKind::BlockAck } else { FrameKind::Ack };
                    idle_from = self.await_response(expected, receiver, rate, now);
                } else {
                    self.succeed(Output::Sent, now);
                }
            }
        }
        if !busy {
            self.set_idle(idle_from);
        }
    }

    /// The RTS of the frame in hand, on the air for `airtime`, has a place in what is known of its receiver; the first packet of a batch as a packet.
    fn count_rts(&mut self, receiver: Option<StationId>, rate: TxVector, airtime: Duration) {
        let is_batch = self.access_function.current().is_some_and(OutgoingMpdu::is_batch);
        let (sifs, answer) = (self.sifs(), self.response_duration(receiver, rate));
        let (Some(links), Some(receiver)) = (&mut self.links, receiver) else { return };
        match is_batch {
            true => links.on_attempts(receiver, airtime + answer, 1),
            false => links.on_protected(receiver, airtime + sifs),
        }
    }

    /// So has the data frame on the air; the rest of a batch as its packets.
    fn count_attempts(&mut self, receiver: StationId, rate: TxVector) {
        let packets = self.access_function.current().map_or(1, |outgoing| outgoing.packets);
        let frame = self.on_air.as_ref().expect("it has just been transmitted");
        let (attempts, airtime) = match packets {
            1 => (1, frame.airtime + frame.duration),
            _ => (packets - 1, self.rest_of_batch(Some(receiver), rate).attempts),
        };
        if let Some(links) = &mut self.links {
            links.on_attempts(receiver, airtime, attempts);
        }
    }

    /// Waits for the answer of `receiver` to a frame at `rate`. Returns from when on the medium counts as idle.
    fn await_response(
        &mut self,
        kind: FrameKind,
        receiver: Option<StationId>,
        rate: TxVector,
        now: Instant,
    ) -> Instant {
        let response = self.response_to(receiver, rate);
        let until = match self.rules {
            AccessRules::Standard => now + response.timeout,
            AccessRules::Ns2 => now + self.sifs() + response.airtime + NS2_PROPAGATION * 2,
        };
        self.state = State::Await(kind, until);
        self.idle_from(now, until)
    }

    /// The CTS or ACK that was waited for.
    fn on_response(&mut self, response: &Header, now: Instant) {
        self.state = self.rest;
        if self.block_acks.is_some() {
            self.release_due(now);
            if response.kind == FrameKind::Ack {
                self.note_answer(now);
            }
        }
        let outgoing = self.access_function.current_mut().expect("a response is awaited only for a frame in hand");
        if response.kind == FrameKind::Cts {
            // 10.3.4.4: the RTS, a short frame, has succeeded. That of a batch counts with the rest of it.
            match (&mut self.contention, outgoing.is_batch()) {
                (Some(contention), true) => contention.on_first(),
                _ => outgoing.short_retries = 0,
            }
            if self.widths.is_some() {
                self.fit_to_cts(response, now);
            }
            let frame = self.data(now + self.sifs(), now);
            self.respond(frame, now);
        } else {
            if let Some(receiver) = outgoing.rated_receiver() {
                self.rates.on_report(receiver, outgoing.chosen, 1, 1);
            }
            let acknowledged = (Some(response.transmitter), response.sequence, response.priority);
            let is_its = acknowledged == (outgoing.receiver, outgoing.sequence, outgoing.priority);
            self.succeed(if is_its { Output::Sent } else { Output::FalselyAcknowledged }, now);
        }
    }

    /// A frame for this station.
    fn on_addressed(&mut self, frame: &Header, now: Instant) {
        if !self.is_at_rest() {
            return;
        }
        match frame.kind {
            // 10.3.2.9: a CTS only if the NAV says that the medium is idle.
            // Under ns-2's rules what counts is whether it is idle after SIFS.
            FrameKind::Rts
                if self.config.acknowledgements && (self.nav.until() <= now || self.rules == AccessRules::Ns2) =>
            {
                let cts = self.response(FrameKind::Cts, frame);
                self.respond(cts, now);
            }
            FrameKind::Data | FrameKind::Management => {
                self.count_airtime_of(frame);
                if self.config.acknowledgements {
                    let ack = self.response(FrameKind::Ack, frame);
                    self.respond(ack, now);
                }
                if self.duplicates.on_frame((frame.transmitter, frame.priority), frame.sequence, frame.retry) {
                    self.counters.duplicates += 1;
                } else if let Some(payload) = frame.payload {
                    let is_managed = frame.kind == FrameKind::Management && self.block_acks.is_some();
                    let output = if is_managed { Output::Management } else { Output::Deliver };
                    self.put_out(output(payload, frame.transmitter));
                }
            }
            FrameKind::Rts | FrameKind::Cts | FrameKind::Ack | FrameKind::BlockAck | FrameKind::BlockAckRequest => {}
        }
    }

    /// A data frame from another station uses up airtime of that station.
    #[inline]
    pub(super) fn count_airtime_of(&mut self, frame: &Header) {
        let other = if self.others.is_empty() { None } else { self.other_of(frame.priority.unwrap_or_default()) };
        let access_function = other.map_or(&mut self.access_function, |other| &mut self.others[other]);
        access_function.queue.on_received(frame.transmitter, frame.airtime);
    }

    fn respond(&mut self, response: Header, now: Instant) {
        self.response = Some(response);
        self.state = State::Sifs(now + self.sifs());
    }

    /// The frame in hand has been delivered, as far as can be known.
    fn succeed(&mut self, outcome: fn(P) -> Output<P>, now: Instant) {
        let outgoing = self.access_function.take_current().expect("only a frame in hand succeeds");
        if let (Some(links), Some(receiver)) = (&mut self.links, outgoing.receiver) {
            outgoing.packets().for_each(|packet| links.on_delivered(receiver, packet.octets(), packet.packets()));
        }
        self.put_out(outcome(outgoing.payload));
        outgoing.more.into_iter().for_each(|packet| self.put_out(outcome(packet)));
        if !(self.continues && self.go_on(now)) {
            self.finish(now);
        }
    }

    /// Goes on with the next frame of the TXOP, SIFS from now, if it is still worth sending.
    #[cold]
    #[inline(never)]
    fn go_on(&mut self, now: Instant) -> bool {
        let Some(next) = self.access_function.following.take_if(|next| !next.is_expired(now)) else { return false };
        self.access_function.set_current(Some(next));
        self.access_function.backoff.on_success();
        let frame = self.data(now + self.sifs(), now);
        self.respond(frame, now);
        true
    }

    /// A frame has ended that is not the answer that is awaited.
    fn fail_by_another_frame(&mut self, now: Instant) {
        if self.rules == AccessRules::Standard {
            self.fail(now);
        }
    }

    /// No CTS, or no ACK: counts the attempt, and repeats the frame or gives it up (10.3.4.4).
    fn fail(&mut self, now: Instant) {
        let (State::Await(expected, _) | State::AwaitEnd(expected)) = core::mem::replace(&mut self.state, self.rest)
        else {
            return;
        };
        let mut sent = 1;
        if self.block_acks.is_some() {
            self.release_due(now);
            if self.on_air.as_ref().is_some_and(|frame| frame.kind == FrameKind::BlockAckRequest) {
                self.fail_request(now);
                return;
            }
            sent = self.access_function.originator.as_ref().map_or(1, |originator| originator.in_flight() as u32);
            self.end_aggregate(expected != FrameKind::Cts);
        }
        let outgoing = self.access_function.current_mut().expect("a response is awaited only for a frame in hand");
        let mut long = false;
        if expected != FrameKind::Cts {
            self.counters.ack_timeouts += 1;
            outgoing.unacknowledged += 1;
            long = outgoing.is_behind_rts(&self.config);
            if let Some(receiver) = outgoing.rated_receiver() {
                self.rates.on_report(receiver, outgoing.chosen, sent, 0);
            }
        } else {
            self.counters.cts_timeouts += 1;
        }
        let limit = outgoing.count_failure(long, &self.config);
        match limit.or_else(|| outgoing.is_expired(now).then_some(DropCause::Expired)) {
            Some(cause) => self.give_up(cause, now),
            None => self.access_function.backoff.on_failure(now, &mut self.random),
        }
    }

    /// Drops the frame in hand.
    fn give_up(&mut self, cause: DropCause, now: Instant) {
        self.drop_current(cause);
        self.finish(now);
    }

    /// Done with a frame: the backoff after it, and the next one.
    fn finish(&mut self, now: Instant) {
        self.access_function.backoff.on_done(now, &mut self.random);
        self.take_next(now);
    }

    /// Takes the next frame to hand, if none is.
    fn take_next(&mut self, now: Instant) {
        if self.access_function.current().is_some() {
            return;
        }
        let ahead = self.access_function.pop_ahead();
        if ahead.is_none()
            && let Some(outstanding) = self.access_function.originator.as_mut().and_then(|originator| originator.pop())
        {
            self.access_function.set_current(Some(outstanding));
            return;
        }
        if ahead.is_none() && self.access_function.following.is_some() {
            let following = self.access_function.following.take();
            self.access_function.set_current(following);
            return;
        }
        let next = ahead.or_else(|| self.access_function.pop(now, &mut self.outputs));
        self.note_outputs();
        if let Some((receiver, payload)) = next {
            let outgoing = self.outgoing(receiver, payload, now);
            self.access_function.set_current(Some(outgoing));
        }
        if let Some(originator) = &self.access_function.originator {
            // A request goes as soon as the function gains access, though no frame is in hand.
            self.access_function.backoff.pending =
                self.access_function.current().is_some() || originator.request.is_some();
        }
    }

    /// The data frame in hand, to be sent at `start`.
    #[inline(always)]
    fn data(&mut self, start: Instant, now: Instant) -> Header {
        let outgoing = self.access_function.current().expect("data are those of the frame in hand");
        let (receiver, octets, rate) = (outgoing.receiver, outgoing.psdu_octets, outgoing.rate);
        let (is_in_body, is_under_agreement) = (outgoing.is_in_body, outgoing.is_under_agreement);
        let is_batch = outgoing.is_batch();
        let phy = &self.config.phy;
        let mut airtime = match receiver {
            Some(_) => phy.airtime(rate, octets),
            None => phy.group_airtime(rate, octets),
        };
        if is_batch {
            airtime = self.rest_of_batch(receiver, rate).airtime;
        }
        let mut duration = self.data_response_duration(receiver, rate);
        self.continues = false;
        if self.access_function.txop_limit != Duration::ZERO
            && !is_under_agreement
            // What is outstanding comes before what waits in the queue.
            && self.access_function.originator.as_ref().is_none_or(|originator| originator.len() == 0)
            && let Some(following) = self.look_ahead(start + airtime + duration, now)
        {
            duration += following;
            self.continues = true;
        }
        let outgoing = self.access_function.current().expect("as above");
        Frame {
            kind: outgoing.kind(),
            transmitter: self.station,
            receiver,
            duration,
            sequence: outgoing.sequence,
            retry: outgoing.unacknowledged > 0,
            priority: outgoing.priority,
            octets,
            vector: rate,
            airtime,
            header: rate.header_duration(),
            payload: if is_in_body { None } else { Some(()) },
        }
    }

    /// The time from the `end` of the exchange in hand to that of the next one, if there is one and it fits into the TXOP. The
    /// reservation by the data frame in hand covers it (9.2.5.2, single protection).
    #[cold]
    #[inline(never)]
    fn look_ahead(&mut self, end: Instant, now: Instant) -> Option<Duration> {
        if self.access_function.following.is_none() {
            let next = self.access_function.pop(now, &mut self.outputs);
            self.note_outputs();
            let (receiver, payload) = next?;
            self.access_function.following = Some(self.outgoing(receiver, payload, now));
        }
        let following = self.access_function.following.as_ref()?;
        let chosen = following.receiver.map(|receiver| self.rates.select(receiver, now, 0));
        let fitting = chosen.map(|rate| self.fit(rate));
        let next = self.access_function.following.as_mut()?;
        if let (Some(chosen), Some(rate)) = (chosen, fitting) {
            (next.chosen, next.rate) = (chosen, rate);
        }
        let (receiver, octets, rate) = (next.receiver, next.psdu_octets, next.rate);
        // What must be protected begins a TXOP of its own: stations of 802.11b understand no other reservation.
        if self.config.is_cts_protected(rate) || receiver.is_some() && self.config.is_rts_protected(rate) {
            return None;
        }
        let time = self.sifs() + self.config.phy.airtime(rate, octets) + self.response_duration(receiver, rate);
        (end + time <= self.txop_end).then_some(time)
    }

    /// What follows a data frame at `rate`: SIFS and the ACK, if there is one.
    fn response_duration(&mut self, receiver: Option<StationId>, rate: TxVector) -> Duration {
        if receiver.is_none() || !self.config.acknowledgements {
            return Duration::ZERO;
        }
        self.sifs() + self.response_to(receiver, rate).airtime
    }

    /// The same after the data frame in hand, which may be an A-MPDU.
    fn data_response_duration(&mut self, receiver: Option<StationId>, rate: TxVector) -> Duration {
        if self.block_acks.is_none() || receiver.is_none() {
            return self.response_duration(receiver, rate);
        }
        self.sifs() + self.answer_airtime(receiver, rate)
    }

    /// Whether the frame on the air has several MPDUs, which one ACK can't answer.
    fn is_aggregate_on_air(&self) -> bool {
        matches!(self.body_on_air().map(|body| &**body), Some(Body::Mpdus(mpdus)) if mpdus.len() > 1)
    }

    /// The answer of `receiver` to a frame at `rate`.
    #[inline]
    fn response_to(&mut self, receiver: Option<StationId>, rate: TxVector) -> ControlResponse {
        self.rates.response_to(receiver.unwrap_or(self.station), &self.config.phy, rate)
    }

    /// 9.3.1.2: an RTS reserves the time for CTS, data, ACK and three SIFS.
    fn rts(&mut self) -> Header {
        let outgoing = self.access_function.current().expect("an RTS is sent for the frame in hand");
        let (receiver, octets, rate) = (outgoing.receiver, outgoing.psdu_octets, outgoing.rate);
        let own_rate = rts_rate(&self.config, rate, outgoing.short_retries);
        let cts = self.sifs() + self.response_to(receiver, own_rate).airtime;
        let data = self.sifs() + self.config.phy.airtime(rate, octets) + self.data_response_duration(receiver, rate);
        let airtime = self.config.phy.airtime(own_rate, FrameKind::RTS_OCTETS);
        let own_rate = self.repeated_over(own_rate, rate.width());
        self.frame(FrameKind::Rts, receiver, FrameKind::RTS_OCTETS, own_rate, airtime, cts + data)
    }

    /// The first packet of a batch, as an RTS of its length, whose CTS is as long as its acknowledgment. A collision costs no more than that packet, and the
    /// rest follows without contention. It reserves the time for that.
    #[cold]
    #[inline(never)]
    fn first_of_batch(&mut self) -> Header {
        let outgoing = self.access_function.current().expect("the first packet is sent for the batch in hand");
        let (receiver, octets, rate) = (outgoing.receiver, outgoing.psdu_octets, outgoing.rate);
        let airtime = self.config.phy.airtime(rate, octets);
        let answer = self.response_duration(receiver, rate);
        let rest = self.sifs() + self.rest_of_batch(receiver, rate).airtime + answer;
        self.frame(FrameKind::Rts, receiver, octets, rate, airtime, answer + rest)
    }

    /// All packets of the batch in hand but the first.
    #[cold]
    #[inline(never)]
    fn rest_of_batch(&mut self, receiver: Option<StationId>, rate: TxVector) -> Rest {
        let outgoing = self.access_function.current().expect("the rest is sent for the batch in hand");
        let (packets, octets) = (outgoing.packets - 1, outgoing.psdu_octets);
        let phy = &self.config.phy;
        let (airtime, timeout) = (phy.airtime(rate, octets), phy.ack_timeout(rate));
        let answer = self.response_duration(receiver, rate);
        let backoff = &self.access_function.backoff;
        let contention = self.contention.get_or_insert_with(|| Box::new(Contention::new(backoff.windows())));
        let rest = backoff.rest_of_batch(contention.toll(), packets, [airtime, answer, timeout]);
        Rest { airtime: rest.airtime.saturating_sub(self.sifs()), ..rest }
    }

    /// 9.3.1.3, 10.3.2.13: a CTS to the station itself reserves the time for data, ACK and two SIFS. The data frame is then due.
    #[cold]
    #[inline(never)]
    fn cts_to_self(&mut self, now: Instant) -> Header {
        let (rate, octets) = (self.config.basic_rate, FrameKind::RESPONSE_OCTETS);
        let airtime = self.config.phy.airtime(rate, octets);
        let mut cts = self.frame(FrameKind::Cts, Some(self.station), octets, rate, airtime, Duration::ZERO);
        let data = self.data(now + cts.airtime + self.sifs(), now);
        cts.vector = self.repeated_over(rate, data.vector.width());
        cts.duration = self.sifs() + data.airtime + data.duration;
        self.response = Some(data);
        cts
    }

    /// 9.3.1.3, 9.3.1.4: the request's duration less SIFS and this response.
    fn response(&mut self, kind: FrameKind, request: &Header) -> Header {
        let response = self.rates.response(&self.config.phy, request.vector);
        let duration = request.duration.saturating_sub(self.sifs() + response.airtime);
        let receiver = Some(request.transmitter);
        let vector = self.repeated_over(response.rate, request.vector.width());
        let frame = self.frame(kind, receiver, FrameKind::RESPONSE_OCTETS, vector, response.airtime, duration);
        // Not in the frame on the air: for whoever counts what is lost.
        Frame { sequence: request.sequence, priority: request.priority, ..frame }
    }

    fn frame(
        &self,
        kind: FrameKind,
        receiver: Option<StationId>,
        octets: u32,
        rate: TxVector,
        airtime: Duration,
        duration: Duration,
    ) -> Header {
        Frame {
            kind,
            transmitter: self.station,
            receiver,
            duration,
            sequence: 0,
            retry: false,
            priority: None,
            octets,
            vector: rate,
            airtime,
            header: rate.header_duration(),
            payload: None,
        }
    }

    fn sifs(&self) -> Duration {
        self.config.phy.parameters().sifs
    }
}

/// How long a signal is on its way at most, by ns-2 (`DSSS_MaxPropagationDelay`).
const NS2_PROPAGATION: Duration = Duration::from_micros(2);

/// What [`Dcf::eifs_excess`] holds.
fn eifs_excess(config: &Config, rate: TxVector) -> Duration {
    let more = config.phy.eifs_without_difs(rate);
    match config.rules {
        AccessRules::Standard => more,
        AccessRules::Ns2 => more + config.phy.difs(),
    }
}

/// A time that depends on the rate of a frame. That of the last one is kept: most come at one rate.
#[derive(Clone, Copy, Debug)]
struct ByRate {
    rate: TxVector,
    time: Duration,
}

impl ByRate {
    const fn new(rate: TxVector, time: Duration) -> Self {
        Self { rate, time }
    }

    /// That at `rate`, which `time` works out.
    #[inline]
    fn at(&mut self, rate: TxVector, time: impl FnOnce() -> Duration) -> Duration {
        if self.rate != rate {
            *self = Self { rate, time: time() };
        }
        self.time
    }
}

/// 10.3.2.4: 2 SIFS + CTS + aRxPHYStartDelay + 2 slots after an RTS at `rate`.
fn nav_lapse(config: &Config, rate: TxVector) -> Duration {
    let phy = &config.phy;
    let parameters = phy.parameters();
    let cts = phy.airtime(rate, FrameKind::RESPONSE_OCTETS);
    (parameters.sifs + parameters.slot) * 2 + cts + rate.header_duration()
}
