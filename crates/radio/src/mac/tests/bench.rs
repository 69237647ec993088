//! A test bench for one station: tests first list what it hears, then expect what it does, in order of time.
//!
//! At one instant, events have the same order as in a run: ends of signals, the station's timer, packets from above,
//! starts of signals. A bench fails when it is dropped with an unexpected output.

use std::collections::{BTreeMap, VecDeque};

use hopcast_protocols::random::{Purpose, Stream};
use hopcast_protocols::time::{Duration, Instant};

use crate::mac::edca::{EdcaParameters, Edition, UserPriority};
use crate::mac::{Config, Dcf, DropCause, Frame, FrameKind, Output, Payload, StationId};
use crate::phy::{Standard, TxVector};
use crate::rate::Algorithm;

/// The station on the bench.
pub(super) const ME: StationId = StationId(0);
/// The one that it talks to.
pub(super) const PEER: StationId = StationId(1);
/// Others that it overhears.
pub(super) const OTHER: StationId = StationId(2);
pub(super) const FOURTH: StationId = StationId(3);

/// The smallest step of time.
pub(super) const NS: Duration = Duration::from_nanos(1);

pub(super) const MBPS_1: TxVector = TxVector::new(Standard::Dsss, 0);
pub(super) const MBPS_2: TxVector = TxVector::new(Standard::Dsss, 1);
pub(super) const MBPS_24: TxVector = TxVector::new(Standard::Ofdm, 4);
pub(super) const MBPS_54: TxVector = TxVector::new(Standard::Ofdm, 7);
/// Those of 802.11g, whose frames at 1, 2 and 11 Mb/s are those of 802.11b.
pub(super) const ERP_6: TxVector = TxVector::new(Standard::Erp, 0);
pub(super) const ERP_24: TxVector = TxVector::new(Standard::Erp, 4);
pub(super) const ERP_54: TxVector = TxVector::new(Standard::Erp, 7);
pub(super) const MBPS_11: TxVector = TxVector::new(Standard::HrDsss, 2);

/// A packet by its number, with a length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Packet {
    pub(super) id: u32,
    pub(super) octets: u32,
    pub(super) priority: u8,
    pub(super) expires: Option<Instant>,
    /// Packets for which it stands besides itself.
    pub(super) more: u32,
}

impl Payload for Packet {
    fn octets(&self) -> u32 {
        self.octets
    }

    fn packets(&self) -> u32 {
        1 + self.more
    }

    fn flow(&self) -> u64 {
        u64::from(self.id % 3)
    }

    fn priority(&self) -> UserPriority {
        UserPriority::new(self.priority)
    }

    fn expires(&self) -> Option<Instant> {
        self.expires
    }
}

/// The instant `micros` microseconds after the start.
pub(super) fn us(micros: u64) -> Instant {
    Instant::START + Duration::from_micros(micros)
}

/// A length of `micros` microseconds.
pub(super) fn micros(micros: u64) -> Duration {
    Duration::from_micros(micros)
}

/// 802.11: data at 2 Mb/s, the rest at 1 Mb/s, no RTS. SIFS 10, slot 20, DIFS 50, EIFS 364, ACK 304, its timeout 222 µs.
pub(super) fn dsss() -> Config {
    Config { basic_rate: MBPS_1, ..Config::new(Standard::Dsss.phy(false), MBPS_2) }
}

/// 802.11a: data at 54 Mb/s, the rest at 24 Mb/s, no RTS. SIFS 16, slot 9, DIFS 34, EIFS 94, ACK 28, its timeout 45 µs.
pub(super) fn ofdm() -> Config {
    Config::new(Standard::Ofdm.phy(false), MBPS_54)
}

/// 802.11a under EDCA. AIFS: voice and video 34, best effort 43, background 79. A data frame of 64 bytes is one of 102 and
/// takes 36 µs; one of 1500 is one of 1538 and takes 252 µs.
pub(super) fn edca() -> Config {
    let phy = Standard::Ofdm.phy(false);
    Config { edca: Some(EdcaParameters::all_defaults(&phy, Edition::Ieee2012)), ..ofdm() }
}

/// The same with RTS before every unicast frame.
pub(super) fn with_rts(config: Config) -> Config {
    Config { rts_threshold: Some(0), ..config }
}

/// The bench.
pub(super) struct Bench {
    dcf: Dcf<Packet>,
    config: Config,
    now: Instant,
    script: BTreeMap<(Instant, Rank, u32), Step>,
    steps: u32,
    signals: u32,
    busy_since: Instant,
    lock: Option<Lock>,
    /// The packet of the frame that the station was told of last.
    heard: Packet,
    outputs: VecDeque<(Instant, Whole)>,
    responses: VecDeque<bool>,
    /// Number and priority of the data frame that the station has sent last.
    last_data: (u32, Option<UserPriority>),
    judge: Option<Judge>,
    /// The answer that the station's last frame has, if it has one.
    awaited: Option<FrameKind>,
    /// SIFS after that, or after the frame if it has none.
    goes_on: Option<Instant>,
}

/// An output, with all packets.
pub(super) type Whole = Output<Packet, Frame<Packet>, Packet>;

/// A frame that the station starts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Start {
    pub(super) frame: Frame<Packet>,
    pub(super) at: Instant,
    pub(super) busy_since: Option<Instant>,
    /// Whether its exchange goes on with it: SIFS has passed since the answer to the own frame before, or since that itself, if it has
    /// none.
    pub(super) follows: bool,
}

type Judge = fn(&Start);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Trailing,
    Timer,
    Host,
    Leading,
}

#[derive(Clone, Debug)]
enum Step {
    Packet(Option<StationId>, Packet),
    Start { signal: u32, reception: Option<Reception> },
    End { signal: u32 },
    LoseSync { signal: u32 },
    Overcome { airtime: Duration },
}

#[derive(Clone, Debug)]
struct Reception {
    header_end: Instant,
    rate: TxVector,
    /// `None`: a frame in error.
    frame: Option<Frame<Packet>>,
}

#[derive(Clone, Debug)]
struct Lock {
    signal: u32,
    damaged: bool,
    reception: Reception,
}

impl Bench {
    /// A station whose backoffs are as they come.
    pub(super) fn new(config: Config) -> Self {
        Self::with_stream(config, Stream::new(1, Purpose::Backoff, 0, 0))
    }

    /// The station, to be changed.
    pub(super) fn dcf_mut(&mut self) -> &mut Dcf<Packet> {
        &mut self.dcf
    }

    /// A station whose backoffs are `draws`: each the contention window and the slots drawn from it, in order.
    pub(super) fn with_draws(config: Config, draws: &[(u32, u32)]) -> Self {
        let fits = |seed: &u64| {
            let mut stream = Stream::new(*seed, Purpose::Backoff, 0, 0);
            draws.iter().all(|&(window, slots)| stream.below(window + 1) == slots)
        };
        let seed = (0..).find(fits).expect("every sequence of a few draws occurs");
        Self::with_stream(config, Stream::new(seed, Purpose::Backoff, 0, 0))
    }

    fn with_stream(config: Config, random: Stream) -> Self {
        Self {
            dcf: Dcf::new(ME, config.clone(), random),
            config,
            now: Instant::START,
            script: BTreeMap::new(),
            steps: 0,
            signals: 0,
            busy_since: Instant::START,
            lock: None,
            heard: Packet::default(),
            outputs: VecDeque::new(),
            responses: VecDeque::new(),
            last_data: (0, None),
            judge: None,
            awaited: None,
            goes_on: None,
        }
    }

    pub(super) fn dcf(&self) -> &Dcf<Packet> {
        &self.dcf
    }

    pub(super) fn now(&self) -> Instant {
        self.now
    }

    /// From now on the peer answers each RTS and each data frame to it, or does not, in this order.
    pub(super) fn answer(&mut self, answers: impl IntoIterator<Item = bool>) {
        self.responses.extend(answers);
    }

    /// Has each start of a transmission judged.
    pub(super) fn set_judge(&mut self, judge: Judge) {
        self.judge = Some(judge);
    }

    // What happens to the station.

    /// Packet `id` of 64 bytes (100 as a data frame: 592 µs at 2 Mb/s) for the peer comes from above.
    pub(super) fn packet(&mut self, at: Instant, id: u32) {
        self.packet_of(at, id, 64);
    }

    pub(super) fn packet_of(&mut self, at: Instant, id: u32, octets: u32) {
        self.packet_to(at, Some(PEER), Packet { id, octets, ..Packet::default() });
    }

    /// Packet `id` of 64 bytes for the peer, with a user priority.
    pub(super) fn packet_with_priority(&mut self, at: Instant, id: u32, priority: u8) {
        self.packet_to(at, Some(PEER), Packet { id, octets: 64, priority, ..Packet::default() });
    }

    /// Any packet.
    pub(super) fn packet_to(&mut self, at: Instant, receiver: Option<StationId>, packet: Packet) {
        self.enter(at, Rank::Host, Step::Packet(receiver, packet));
    }

    /// The same to all.
    pub(super) fn broadcast(&mut self, at: Instant, id: u32) {
        self.packet_to(at, None, Packet { id, octets: 64, ..Packet::default() });
    }

    /// Energy that is no frame.
    pub(super) fn noise(&mut self, from: Instant, until: Instant) {
        self.signal(from, until, None);
    }

    /// A frame arrives; returns when it ends.
    pub(super) fn hears(&mut self, start: Instant, frame: Frame<Packet>) -> Instant {
        let header_end = start + frame.header;
        let reception = Reception { header_end, rate: frame.vector, frame: Some(frame) };
        self.signal(start, start + frame.airtime, Some(reception));
        start + frame.airtime
    }

    /// A frame at `rate` arrives in error.
    pub(super) fn hears_error(&mut self, start: Instant, end: Instant, rate: TxVector) {
        let header_end = start + rate.header_duration();
        self.signal(start, end, Some(Reception { header_end, rate, frame: None }));
    }

    /// A frame arrives, to which the receiver loses its synchronisation at `lost`; its energy stays until it ends.
    pub(super) fn hears_until(&mut self, start: Instant, frame: Frame<Packet>, lost: Instant) -> Instant {
        let signal = self.steps;
        let end = self.hears(start, frame);
        self.enter(lost, Rank::Leading, Step::LoseSync { signal });
        end
    }

    /// A weak signal begins that takes so long, and the frame that is being received goes on in spite of it.
    pub(super) fn overcomes(&mut self, start: Instant, airtime: Duration) {
        self.enter(start, Rank::Leading, Step::Overcome { airtime });
    }

    fn signal(&mut self, start: Instant, end: Instant, reception: Option<Reception>) {
        let signal = self.steps;
        self.enter(start, Rank::Leading, Step::Start { signal, reception });
        self.enter(end, Rank::Trailing, Step::End { signal });
    }

    fn enter(&mut self, at: Instant, rank: Rank, step: Step) {
        assert!(at >= self.now, "{at} is past");
        self.script.insert((at, rank, self.steps), step);
        self.steps += 1;
    }

    // What is expected of it.

    /// Nothing but this happens until `at`, when the station starts a frame of this kind.
    #[track_caller]
    pub(super) fn expect_transmit(&mut self, kind: FrameKind, at: Instant) -> Frame<Packet> {
        self.run_to_output(at);
        match self.outputs.pop_front() {
            Some((when, Output::Transmit(frame))) if (frame.kind, when) == (kind, at) => frame,
            other => panic!("expected {kind:?} at {at}, not {other:?}"),
        }
    }

    /// Nothing happens up to and including `until`.
    #[track_caller]
    pub(super) fn expect_nothing_until(&mut self, until: Instant) {
        self.run_until(until);
        assert!(self.outputs.is_empty(), "expected nothing until {until}, not {:?}", self.outputs);
    }

    /// Packet `id` from the peer is handed up.
    #[track_caller]
    pub(super) fn expect_delivered(&mut self, id: u32, at: Instant) {
        self.run_to_output(at);
        match self.outputs.pop_front() {
            Some((when, Output::Deliver(packet, PEER))) if (packet.id, when) == (id, at) => {}
            other => panic!("expected packet {id} handed up at {at}, not {other:?}"),
        }
    }

    /// The station counts what it sends to each receiver.
    pub(super) fn keep_links(&mut self) {
        self.dcf.keep_links();
    }

    /// Packet `id` is reported as sent.
    #[track_caller]
    pub(super) fn expect_sent(&mut self, id: u32, at: Instant) {
        self.run_to_output(at);
        match self.outputs.pop_front() {
            Some((when, Output::Sent(packet))) if (packet.id, when) == (id, at) => {}
            other => panic!("expected packet {id} sent at {at}, not {other:?}"),
        }
    }

    /// Packet `id` is given up.
    #[track_caller]
    pub(super) fn expect_dropped(&mut self, id: u32, cause: DropCause, at: Instant) {
        self.run_to_output(at);
        match self.outputs.pop_front() {
            Some((when, Output::Dropped(packet, why, _))) if (packet.id, why, when) == (id, cause, at) => {}
            other => panic!("expected packet {id} dropped at {at} by {cause:?}, not {other:?}"),
        }
    }

    /// The data frame of packet `id` goes out at `at` and is acknowledged. Returns the frame and the end of the ACK.
    #[track_caller]
    pub(super) fn expect_acknowledged(&mut self, id: u32, at: Instant) -> (Frame<Packet>, Instant) {
        let data = self.expect_transmit(FrameKind::Data, at);
        assert_eq!(data.payload.map(|packet| packet.id), Some(id));
        let end = self.hears(at + data.airtime + self.sifs(), self.ack());
        self.expect_sent(id, end);
        (data, end)
    }

    /// Runs until `end` and takes out all outputs.
    pub(super) fn outputs_until(&mut self, end: Instant) -> Vec<(Instant, Whole)> {
        self.run_until(end);
        self.outputs.drain(..).collect()
    }

    /// Takes out the next output, if there is one by `end`.
    pub(super) fn next_output(&mut self, end: Instant) -> Option<(Instant, Whole)> {
        self.run_to_output(end);
        self.outputs.pop_front()
    }

    // Frames that others send.

    /// An ACK for the station, of the last data frame that it has sent.
    pub(super) fn ack(&self) -> Frame<Packet> {
        let (sequence, priority) = self.last_data;
        Frame { sequence, priority, ..self.control(FrameKind::Ack, PEER, ME, Duration::ZERO) }
    }

    /// A CTS for the station; its reservation does not matter to the one it is for.
    pub(super) fn cts(&self) -> Frame<Packet> {
        self.control(FrameKind::Cts, PEER, ME, micros(1_000))
    }

    /// RTS, CTS or ACK with a reservation.
    pub(super) fn control(&self, kind: FrameKind, from: StationId, to: StationId, duration: Duration) -> Frame<Packet> {
        let octets = match kind {
            FrameKind::Rts => FrameKind::RTS_OCTETS,
            _ => FrameKind::RESPONSE_OCTETS,
        };
        let rate = self.config.basic_rate;
        self.frame(kind, from, Some(to), octets, rate, duration)
    }

    /// A data frame from the peer to the station: packet `id` of 64 bytes, whose number is the frame's too.
    pub(super) fn data(&self, id: u32, retry: bool) -> Frame<Packet> {
        Frame { retry, ..self.data_between(PEER, Some(ME), id) }
    }

    /// A data frame of 64 bytes between any two.
    pub(super) fn data_between(&self, from: StationId, to: Option<StationId>, id: u32) -> Frame<Packet> {
        let ack = self.config.phy.airtime(self.config.basic_rate, FrameKind::RESPONSE_OCTETS);
        let (rate, duration) = match to {
            Some(_) => (self.data_rate(), self.sifs() + ack),
            None => (self.config.basic_rate, Duration::ZERO),
        };
        let payload = Some(Packet { id, octets: 64, ..Packet::default() });
        Frame { payload, sequence: id, ..self.frame(FrameKind::Data, from, to, 100, rate, duration) }
    }

    /// The same frame at another rate.
    pub(super) fn at_rate(&self, rate: TxVector, frame: Frame<Packet>) -> Frame<Packet> {
        let phy = &self.config.phy;
        let (airtime, header) = (phy.airtime(rate, frame.octets), rate.header_duration());
        Frame { vector: rate, airtime, header, ..frame }
    }

    fn frame(
        &self,
        kind: FrameKind,
        transmitter: StationId,
        receiver: Option<StationId>,
        octets: u32,
        rate: TxVector,
        duration: Duration,
    ) -> Frame<Packet> {
        let phy = &self.config.phy;
        let (airtime, header) = (phy.airtime(rate, octets), rate.header_duration());
        let (sequence, retry, priority, payload) = (0, false, None, None);
        Frame {
            kind,
            transmitter,
            receiver,
            duration,
            sequence,
            retry,
            priority,
            octets,
            vector: rate,
            airtime,
            header,
            payload,
        }
    }

    fn data_rate(&self) -> TxVector {
        match self.config.rate_control {
            Algorithm::Fixed(rate) => rate,
            _ => self.config.phy.fastest(),
        }
    }

    pub(super) fn sifs(&self) -> Duration {
        self.config.phy.parameters().sifs
    }

    // The clock.

    /// Runs all that happens up to and including `end`.
    fn run_until(&mut self, end: Instant) {
        while self.step(end) {}
        self.now = end;
    }

    /// Runs until there is an output, at the latest to the end of `end`.
    fn run_to_output(&mut self, end: Instant) {
        while self.outputs.is_empty() && self.step(end) {}
        if self.outputs.is_empty() {
            self.now = end;
        }
    }

    /// The next thing that happens, if there is one by `end`.
    fn step(&mut self, end: Instant) -> bool {
        let scripted = self.script.first_key_value().map(|(&key, _)| key);
        let timer = self.dcf.poll_timeout().map(|at| (at, Rank::Timer, 0));
        let Some(next) = scripted.into_iter().chain(timer).min().filter(|&(at, ..)| at <= end) else { return false };
        assert!(next.0 >= self.now, "the timer is in the past: {} at {}", next.0, self.now);
        self.now = next.0;
        match self.script.remove(&next) {
            Some(step) => self.run_scripted(step),
            None => {
                let receiving = self.lock.as_ref().is_some_and(|lock| lock.reception.header_end <= self.now);
                self.dcf.handle_timeout(self.now, || receiving, self.signals > 0);
            }
        }
        self.collect();
        true
    }

    fn run_scripted(&mut self, step: Step) {
        match step {
            Step::Packet(receiver, packet) => self.dcf.handle_packet(receiver, packet, self.now),
            Step::Start { signal, reception } => {
                self.signals += 1;
                match (&mut self.lock, reception) {
                    (Some(lock), _) => lock.damaged = true,
                    (None, Some(reception)) if self.signals == 1 && !self.dcf.is_transmitting() => {
                        self.lock = Some(Lock { signal, damaged: false, reception });
                    }
                    _ => {}
                }
                if self.signals == 1 {
                    self.busy_since = self.now;
                    if !self.dcf.is_transmitting() {
                        self.dcf.handle_busy(self.now);
                    }
                }
            }
            Step::End { signal } => {
                self.signals -= 1;
                if let Some(lock) = self.lock.take_if(|lock| lock.signal == signal) {
                    let Reception { header_end, rate, frame } = lock.reception;
                    match frame {
                        Some(frame) if !lock.damaged => {
                            let header = frame.with_payload(frame.payload.map(|_| ()));
                            self.heard = frame.payload.unwrap_or_default();
                            if frame.receiver == Some(ME) && self.awaited.take_if(|kind| *kind == frame.kind).is_some()
                            {
                                self.goes_on = Some(self.now + self.sifs());
                            }
                            self.dcf.handle_frame(&header, header_end, self.now);
                        }
                        _ => self.dcf.handle_error(rate, header_end, self.now),
                    }
                }
                if self.signals == 0 && !self.dcf.is_transmitting() {
                    self.dcf.handle_idle(self.now);
                }
            }
            Step::Overcome { airtime } => {
                let lock = self.lock.as_ref().expect("a frame is being received");
                self.dcf.handle_overcome(lock.reception.rate, airtime, self.now);
            }
            Step::LoseSync { signal } => {
                self.lock.take_if(|lock| lock.signal == signal);
            }
        }
    }

    fn collect(&mut self) {
        while let Some(output) = self.dcf.poll_output() {
            let output = match output {
                Output::Transmit(()) => {
                    let (header, packet) = self.dcf.on_air();
                    Output::Transmit(header.with_payload(packet.copied()))
                }
                Output::Deliver((), from) => Output::Deliver(self.heard, from),
                Output::Sent(packet) => Output::Sent(packet),
                Output::FalselyAcknowledged(packet) => Output::FalselyAcknowledged(packet),
                Output::Dropped(packet, cause, to) => Output::Dropped(packet, cause, to),
                Output::Overheard((), from, to) => Output::Overheard(self.heard, from, to),
                Output::Released(..)
                | Output::Late(..)
                | Output::OverheardInBody(..)
                | Output::Management(..)
                | Output::Action(..) => {
                    panic!("no agreement is in force")
                }
            };
            if let Output::Transmit(frame) = &output {
                self.lock = None;
                if frame.kind == FrameKind::Data {
                    self.last_data = (frame.sequence, frame.priority);
                }
                if let Some(judge) = self.judge {
                    let busy_since = (self.signals > 0).then_some(self.busy_since);
                    let follows = self.goes_on == Some(self.now);
                    judge(&Start { frame: *frame, at: self.now, busy_since, follows });
                }
                self.awaited = match frame.kind {
                    FrameKind::Rts => Some(FrameKind::Cts),
                    FrameKind::Data if frame.receiver.is_some() => Some(FrameKind::Ack),
                    _ => None,
                };
                self.goes_on = self.awaited.is_none().then(|| self.now + frame.airtime + self.sifs());
                self.schedule_response(*frame);
            }
            self.outputs.push_back((self.now, output));
        }
    }

    fn schedule_response(&mut self, frame: Frame<Packet>) {
        let answer = match frame.kind {
            FrameKind::Rts => self.cts(),
            FrameKind::Data if frame.receiver == Some(PEER) => self.ack(),
            _ => return,
        };
        if self.responses.pop_front() == Some(true) {
            self.hears(self.now + frame.airtime + self.sifs(), answer);
        }
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            assert!(self.outputs.is_empty(), "nobody expected {:?}", self.outputs);
        }
    }
}
