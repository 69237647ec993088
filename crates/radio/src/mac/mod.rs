//! The distributed coordination function of one station (IEEE 802.11-2020, 10.3): a state machine without clock or medium.
//!
//! Inputs tell what the physical layer senses and receives, and what the layer above wants sent; outputs are frames to
//! transmit and packets to hand up. The order of the driver's calls at the end of a reception is: [`Dcf::handle_frame`]
//! or [`Dcf::handle_error`], then [`Dcf::handle_idle`] if the medium is idle now.
//!
//! Limits: no fragmentation of MSDUs, no power management, no QoS. RTS and CTS go at the basic rate. A station's retry
//! counters are those of the frame in hand, so a window that ends at a limit ends with its frame.

mod backoff;
mod duplicate;
pub mod edca;
mod frame;
mod nav;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use hopcast_protocols::random::Stream;
use hopcast_protocols::time::{Duration, Instant};

use crate::queue::{Discipline, InterfaceQueue, Reason};
use crate::standard::{DataRate, Phy};
use backoff::{Backoff, Timing};
use duplicate::DuplicateCache;
pub use frame::{Frame, FrameKind, Payload, StationId};
use nav::Nav;

/// Parameters of a station's MAC.
#[derive(Clone, Debug)]
pub struct Config {
    /// Timing of the physical layer.
    pub phy: Phy,
    /// Rate of unicast data frames.
    pub data_rate: DataRate,
    /// Rate of control and broadcast frames.
    pub basic_rate: DataRate,
    /// Unicast data frames longer than this many bytes (MPDU) are preceded by RTS/CTS; `None`: none is.
    pub rts_threshold: Option<u32>,
    /// Attempts at a frame no longer than the RTS threshold, and at an RTS (dot11ShortRetryLimit).
    pub short_retry_limit: u32,
    /// Attempts at a frame longer than the RTS threshold (dot11LongRetryLimit).
    pub long_retry_limit: u32,
    /// Places in the interface queue, besides the frame in hand.
    pub queue_packets: u32,
    /// How the interface queue is managed.
    pub queue_discipline: Discipline,
    /// Whether an RTS's reservation may be taken back (10.3.2.4).
    pub nav_reset: bool,
    /// Whether an own CTS or ACK is a busy medium for a packet that waits for DIFS, which then draws a backoff: so 10.3.2.1
    /// has it, where carrier sense includes the transmitter's status. ns-2 and ns-3 send such a packet DIFS after the
    /// response.
    pub response_is_busy: bool,
}

/// Why the interface gave up a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropCause {
    /// The interface queue was full.
    QueueFull,
    /// The discipline of the interface queue dropped it because packets waited for too long.
    QueueManagement,
    /// It had expired when its turn in the interface queue came.
    Expired,
    /// Attempts without an answer: dot11ShortRetryLimit.
    ShortRetryLimit,
    /// Attempts without an answer: dot11LongRetryLimit.
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

/// What a station wants done.
#[derive(Clone, Debug)]
pub enum Output<P> {
    /// Put this frame on the air now.
    Transmit(Frame<P>),
    /// Hand this packet up; it came from this station.
    Deliver(P, StationId),
    /// The packet was acknowledged, or broadcast.
    Sent(P),
    /// The packet was given up.
    Dropped(P, DropCause),
}

/// What a station's MAC has counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Frames put on the air, by kind.
    pub rts_sent: u64,
    /// See [`Self::rts_sent`].
    pub cts_sent: u64,
    /// See [`Self::rts_sent`].
    pub ack_sent: u64,
    /// See [`Self::rts_sent`]; repetitions included.
    pub data_sent: u64,
    /// RTS without CTS.
    pub cts_timeouts: u64,
    /// Data without ACK.
    pub ack_timeouts: u64,
    /// Data frames received again because an ACK was lost.
    pub duplicates: u64,
    /// Receptions that began and failed.
    pub errors: u64,
}

/// One station's medium access.
#[derive(Clone, Debug)]
pub struct Dcf<P> {
    backoff: Backoff,
    nav: Nav,
    state: State,
    station: StationId,
    current: Option<Outgoing<P>>,
    /// A CTS, an ACK, or the data frame after a CTS, while the state is [`State::Sifs`].
    response: Option<Frame<P>>,
    queue: InterfaceQueue<(Option<StationId>, P)>,
    outputs: VecDeque<Output<P>>,
    config: Config,
    random: Stream,
    duplicates: DuplicateCache,
    next_sequence: u16,
    counters: Counters,
    /// The time after which the reservation of an RTS at this rate may be taken back: most come at one rate.
    nav_lapse: (DataRate, Duration),
}

/// Where the exchange of frames stands.
#[derive(Clone, Copy, Debug)]
enum State {
    /// Nothing under way: listening, or contending for the medium.
    Contend,
    /// SIFS before [`Dcf::response`].
    Sifs(Instant),
    /// On the air until the instant.
    Transmit(FrameKind, Instant),
    /// Waiting for the start of a CTS or an ACK, until the instant.
    Await(FrameKind, Instant),
    /// A frame has started in time; its end will tell whether it is the CTS or the ACK.
    AwaitEnd(FrameKind),
}

/// The frame in hand.
#[derive(Clone, Debug)]
struct Outgoing<P> {
    receiver: Option<StationId>,
    payload: P,
    octets: u32,
    sequence: u16,
    retry: bool,
    short_retries: u32,
    long_retries: u32,
}

impl<P: Payload> Dcf<P> {
    /// A station that hears an idle medium at the start. `random` draws its backoffs.
    pub fn new(station: StationId, config: Config, random: Stream) -> Self {
        let parameters = config.phy.parameters();
        let timing = Timing {
            slot: parameters.slot,
            difs: config.phy.difs(),
            turnaround: parameters.rx_tx_turnaround,
            cw_min: parameters.cw_min,
            cw_max: parameters.cw_max,
        };
        let nav_lapse = (config.basic_rate, nav_lapse(&config.phy, config.basic_rate));
        Self {
            backoff: Backoff::new(timing),
            nav: Nav::default(),
            state: State::Contend,
            station,
            current: None,
            response: None,
            queue: InterfaceQueue::new(config.queue_discipline, config.queue_packets),
            outputs: VecDeque::with_capacity(4),
            config,
            random,
            duplicates: DuplicateCache::default(),
            next_sequence: 0,
            counters: Counters::default(),
            nav_lapse,
        }
    }

    /// The layer above wants `payload` sent to a station, or to all (`None`).
    pub fn handle_packet(&mut self, receiver: Option<StationId>, payload: P, now: Instant) {
        if self.current.is_some() {
            let outputs = &mut self.outputs;
            self.queue.push((receiver, payload), now, |(_, payload), reason| {
                outputs.push_back(Output::Dropped(payload, reason.into()));
            });
            return;
        }
        self.take_in_hand(receiver, payload);
        self.pursue(now);
    }

    /// Physical carrier sense turns busy.
    pub fn handle_busy(&mut self, now: Instant) {
        let contends = self.current.is_some()
            && match self.state {
                State::Contend => true,
                State::Sifs(_) => self.response.as_ref().is_some_and(|response| response.kind != FrameKind::Data),
                State::Transmit(..) | State::Await(..) | State::AwaitEnd(_) => false,
            };
        self.backoff.handle_busy(now, contends, &mut self.random);
    }

    /// Physical carrier sense turns idle.
    pub fn handle_idle(&mut self, now: Instant) {
        self.backoff.handle_idle(now, self.nav.until());
        if let State::AwaitEnd(_) = self.state {
            // The frame that had started was lost in interference.
            self.fail(now);
        }
    }

    /// A frame, which started at `start`, has been received without error.
    pub fn handle_frame(&mut self, frame: &Frame<P>, start: Instant, now: Instant) {
        self.backoff.on_frame();
        self.nav.on_frame_start(start);
        if let State::Await(expected, _) | State::AwaitEnd(expected) = self.state {
            if frame.kind == expected && frame.receiver == Some(self.station) {
                self.on_response(expected, now);
                return;
            }
            self.fail(now);
        }
        match frame.receiver {
            Some(receiver) if receiver == self.station => self.on_addressed(frame, now),
            Some(_) => {
                let lapse = (frame.kind == FrameKind::Rts && self.config.nav_reset).then(|| self.nav_lapse(frame.rate));
                self.nav.on_frame(now, frame.duration, lapse);
                self.backoff.handle_nav(self.nav.until());
            }
            None => {
                if let Some(payload) = &frame.payload {
                    self.outputs.push_back(Output::Deliver(payload.clone(), frame.transmitter));
                }
            }
        }
    }

    /// A frame at `rate`, which started at `start`, has ended and could not be received.
    pub fn handle_error(&mut self, rate: DataRate, start: Instant, now: Instant) {
        self.counters.errors += 1;
        self.backoff.on_error(self.config.phy.eifs(rate));
        self.nav.on_frame_start(start);
        if let State::Await(..) | State::AwaitEnd(_) = self.state {
            self.fail(now);
        }
    }

    /// The instant of [`Self::poll_timeout`] has come. `receiving`: the PHY has reported the start of a frame that has not
    /// ended (PHY-RXSTART.indication). `busy`: physical carrier sense, own transmission apart.
    pub fn handle_timeout(&mut self, now: Instant, receiving: bool, busy: bool) {
        match core::mem::replace(&mut self.state, State::Contend) {
            State::Contend => self.transmit_first(now),
            State::Sifs(_) => {
                let response = self.response.take().expect("SIFS passes only before a response");
                self.transmit(response, now);
            }
            State::Transmit(kind, _) => self.on_transmitted(kind, now, busy),
            State::Await(expected, _) if receiving => self.state = State::AwaitEnd(expected),
            State::Await(expected, _) | State::AwaitEnd(expected) => {
                self.state = State::AwaitEnd(expected);
                self.fail(now);
            }
        }
    }

    /// Takes out the next output.
    pub fn poll_output(&mut self) -> Option<Output<P>> {
        self.outputs.pop_front()
    }

    /// Whether [`Self::poll_output`] has something.
    pub fn has_output(&self) -> bool {
        !self.outputs.is_empty()
    }

    /// When [`Self::handle_timeout`] is to be called.
    pub fn poll_timeout(&self) -> Option<Instant> {
        match self.state {
            State::Contend if self.current.is_some() => self.backoff.access_at(),
            State::Contend | State::AwaitEnd(_) => None,
            State::Sifs(at) | State::Transmit(_, at) | State::Await(_, at) => Some(at),
        }
    }

    /// Whether a frame of this station is on the air.
    pub fn is_transmitting(&self) -> bool {
        matches!(self.state, State::Transmit(..))
    }

    /// Free places in the interface queue.
    pub fn room(&self) -> usize {
        self.queue.room()
    }

    /// Packets in the interface queue.
    pub fn queued(&self) -> usize {
        self.queue.len()
    }

    /// All packets that the interface holds: the one in hand, then the queue.
    pub fn held(&self) -> impl Iterator<Item = &P> {
        self.current.iter().map(|outgoing| &outgoing.payload).chain(self.queue.iter().map(|(_, payload)| payload))
    }

    /// What has been counted so far.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// The contention window in slots.
    pub fn contention_window(&self) -> u32 {
        self.backoff.contention_window()
    }

    fn take_in_hand(&mut self, receiver: Option<StationId>, payload: P) {
        self.current = Some(Outgoing {
            receiver,
            octets: payload.octets() + FrameKind::DATA_OVERHEAD_OCTETS,
            payload,
            sequence: self.next_sequence,
            retry: false,
            short_retries: 0,
            long_retries: 0,
        });
        self.next_sequence = (self.next_sequence + 1) & 0xfff;
    }

    /// A frame has come to hand: sends it at once if the medium has been idle for long enough.
    fn pursue(&mut self, now: Instant) {
        if self.backoff.on_pending(now, self.nav.until(), &mut self.random) && matches!(self.state, State::Contend) {
            self.transmit_first(now);
        }
    }

    /// The medium is ours: the RTS or the data frame in hand.
    fn transmit_first(&mut self, now: Instant) {
        self.backoff.on_access();
        let outgoing = self.current.as_ref().expect("contention ends only for a frame in hand");
        let frame = match outgoing.receiver {
            Some(receiver) if self.is_long(outgoing) => self.rts(receiver, outgoing.octets),
            _ => self.data(outgoing),
        };
        self.transmit(frame, now);
    }

    fn transmit(&mut self, frame: Frame<P>, now: Instant) {
        // A response interrupts the contention for a frame in hand; the frame's own exchange does not.
        let response = matches!(frame.kind, FrameKind::Cts | FrameKind::Ack);
        let interrupts = response && self.current.is_some() && self.config.response_is_busy;
        self.backoff.handle_busy(now, interrupts, &mut self.random);
        *match frame.kind {
            FrameKind::Rts => &mut self.counters.rts_sent,
            FrameKind::Cts => &mut self.counters.cts_sent,
            FrameKind::Ack => &mut self.counters.ack_sent,
            FrameKind::Data => &mut self.counters.data_sent,
        } += 1;
        self.state = State::Transmit(frame.kind, now + frame.airtime);
        self.outputs.push_back(Output::Transmit(frame));
    }

    fn on_transmitted(&mut self, kind: FrameKind, now: Instant, busy: bool) {
        let phy = &self.config.phy;
        match kind {
            FrameKind::Rts => {
                self.state = State::Await(FrameKind::Cts, now + phy.cts_timeout(self.config.basic_rate));
            }
            FrameKind::Cts | FrameKind::Ack => {}
            FrameKind::Data if self.current.as_ref().is_some_and(|outgoing| outgoing.receiver.is_none()) => {
                self.succeed(now);
            }
            FrameKind::Data => {
                self.state = State::Await(FrameKind::Ack, now + phy.ack_timeout(self.config.basic_rate));
            }
        }
        if !busy {
            self.backoff.handle_idle(now, self.nav.until());
        }
    }

    /// The CTS or ACK that was waited for.
    fn on_response(&mut self, kind: FrameKind, now: Instant) {
        self.state = State::Contend;
        if kind == FrameKind::Cts {
            // 10.3.4.4: the RTS, a short frame, has succeeded.
            let mut outgoing = self.current.take().expect("an RTS was sent for the frame in hand");
            outgoing.short_retries = 0;
            let frame = self.data(&outgoing);
            self.current = Some(outgoing);
            self.respond(frame, now);
        } else {
            self.succeed(now);
        }
    }

    /// A frame for this station.
    fn on_addressed(&mut self, frame: &Frame<P>, now: Instant) {
        if !matches!(self.state, State::Contend) {
            return;
        }
        match frame.kind {
            // 10.3.2.9: a CTS only if the NAV says that the medium is idle.
            FrameKind::Rts if self.nav.until() <= now => {
                let cts = self.response(FrameKind::Cts, frame);
                self.respond(cts, now);
            }
            FrameKind::Data => {
                let ack = self.response(FrameKind::Ack, frame);
                self.respond(ack, now);
                if self.duplicates.on_frame(frame.transmitter, frame.sequence, frame.retry) {
                    self.counters.duplicates += 1;
                } else if let Some(payload) = &frame.payload {
                    self.outputs.push_back(Output::Deliver(payload.clone(), frame.transmitter));
                }
            }
            FrameKind::Rts | FrameKind::Cts | FrameKind::Ack => {}
        }
    }

    fn respond(&mut self, response: Frame<P>, now: Instant) {
        self.response = Some(response);
        self.state = State::Sifs(now + self.sifs());
    }

    /// The frame in hand has been delivered, as far as can be known.
    fn succeed(&mut self, now: Instant) {
        let outgoing = self.current.take().expect("only a frame in hand succeeds");
        self.outputs.push_back(Output::Sent(outgoing.payload));
        self.finish(now);
    }

    /// No CTS, or no ACK: counts the attempt, and repeats the frame or gives it up (10.3.4.4).
    fn fail(&mut self, now: Instant) {
        let (State::Await(expected, _) | State::AwaitEnd(expected)) =
            core::mem::replace(&mut self.state, State::Contend)
        else {
            return;
        };
        let long = expected == FrameKind::Ack && self.current.as_ref().is_some_and(|outgoing| self.is_long(outgoing));
        *match expected {
            FrameKind::Cts => &mut self.counters.cts_timeouts,
            _ => &mut self.counters.ack_timeouts,
        } += 1;
        let outgoing = self.current.as_mut().expect("a response is awaited only for a frame in hand");
        outgoing.retry |= expected == FrameKind::Ack;
        let (retries, limit, cause) = if long {
            (&mut outgoing.long_retries, self.config.long_retry_limit, DropCause::LongRetryLimit)
        } else {
            (&mut outgoing.short_retries, self.config.short_retry_limit, DropCause::ShortRetryLimit)
        };
        *retries += 1;
        if *retries < limit {
            self.backoff.on_failure(now, &mut self.random);
            return;
        }
        let outgoing = self.current.take().expect("checked above");
        self.outputs.push_back(Output::Dropped(outgoing.payload, cause));
        self.finish(now);
    }

    /// Done with a frame: the backoff after it, and the next one.
    fn finish(&mut self, now: Instant) {
        self.backoff.on_done(now, &mut self.random);
        let outputs = &mut self.outputs;
        let next = self.queue.pop(now, |(_, payload), reason| {
            outputs.push_back(Output::Dropped(payload, reason.into()));
        });
        if let Some((receiver, payload)) = next {
            self.take_in_hand(receiver, payload);
        }
    }

    fn is_long(&self, outgoing: &Outgoing<P>) -> bool {
        outgoing.receiver.is_some() && self.config.rts_threshold.is_some_and(|threshold| outgoing.octets > threshold)
    }

    fn data(&self, outgoing: &Outgoing<P>) -> Frame<P> {
        let (rate, duration) = match outgoing.receiver {
            Some(_) => (self.config.data_rate, self.sifs() + self.response_airtime()),
            None => (self.config.basic_rate, Duration::ZERO),
        };
        self.frame(FrameKind::Data, outgoing.receiver, outgoing.octets, rate, duration).with_packet(outgoing)
    }

    /// 9.3.1.2: an RTS reserves the time for CTS, data, ACK and three SIFS.
    fn rts(&self, receiver: StationId, octets: u32) -> Frame<P> {
        let data = self.config.phy.airtime(self.config.data_rate, octets);
        let duration = self.sifs() * 3 + self.response_airtime() * 2 + data;
        self.frame(FrameKind::Rts, Some(receiver), FrameKind::RTS_OCTETS, self.config.basic_rate, duration)
    }

    /// 9.3.1.3, 9.3.1.4: the request's duration less SIFS and this response.
    fn response(&self, kind: FrameKind, request: &Frame<P>) -> Frame<P> {
        let duration = request.duration.saturating_sub(self.sifs() + self.response_airtime());
        let receiver = Some(request.transmitter);
        self.frame(kind, receiver, FrameKind::RESPONSE_OCTETS, self.config.basic_rate, duration)
    }

    fn frame(
        &self,
        kind: FrameKind,
        receiver: Option<StationId>,
        octets: u32,
        rate: DataRate,
        duration: Duration,
    ) -> Frame<P> {
        let phy = &self.config.phy;
        Frame {
            kind,
            transmitter: self.station,
            receiver,
            duration,
            sequence: 0,
            retry: false,
            octets,
            rate,
            airtime: phy.airtime(rate, octets),
            header: phy.header_duration(rate),
            payload: None,
        }
    }

    fn sifs(&self) -> Duration {
        self.config.phy.parameters().sifs
    }

    fn response_airtime(&self) -> Duration {
        self.config.phy.airtime(self.config.basic_rate, FrameKind::RESPONSE_OCTETS)
    }

    fn nav_lapse(&mut self, rate: DataRate) -> Duration {
        if self.nav_lapse.0 != rate {
            self.nav_lapse = (rate, nav_lapse(&self.config.phy, rate));
        }
        self.nav_lapse.1
    }
}

/// 10.3.2.4: 2 SIFS + CTS + aRxPHYStartDelay + 2 slots after an RTS at `rate`.
fn nav_lapse(phy: &Phy, rate: DataRate) -> Duration {
    let parameters = phy.parameters();
    let cts = phy.airtime(rate, FrameKind::RESPONSE_OCTETS);
    (parameters.sifs + parameters.slot) * 2 + cts + phy.rx_start_delay(rate)
}

impl<P: Payload> Frame<P> {
    fn with_packet(mut self, outgoing: &Outgoing<P>) -> Self {
        self.sequence = outgoing.sequence;
        self.retry = outgoing.retry;
        self.payload = Some(outgoing.payload.clone());
        self
    }
}
