//! What a connection needs of a congestion control of CCID 3's kind, for each half of the connection.

use core::fmt;

use hopcast_wire::dccp::NetworkState;

use super::super::adtfrc::{self, States};
use super::super::tfrc::{self, Data, Feedback, LossInterval, Report, Response};
use super::Congestion;
use crate::time::{Duration, Instant};

/// What a sender wants done when its timer has expired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expired {
    /// Nothing; the rate may have changed.
    Nothing,
    /// One packet is to leave at once, whatever the rate, to see whether the path is back.
    Probe,
    /// The peer can't be reached.
    GiveUp,
}

/// The half that sends data: how fast.
pub trait HalfSender: fmt::Debug + Send {
    /// The handshake took `rtt`.
    fn on_handshake(&mut self, rtt: Duration);

    /// When a packet may leave that was offered at `offered`; `None` while none may.
    fn departure(&self, offered: Instant) -> Option<Instant>;

    /// A packet with `len` bytes of data leaves, offered at `offered`; `more` wait behind it.
    fn on_sent(&mut self, len: u32, offered: Instant, more: bool, now: Instant);

    /// The peer's feedback, with the state of the network if it told one.
    fn handle_feedback(&mut self, feedback: &Feedback, state: Option<NetworkState>, now: Instant);

    /// The peer answered a probe without data.
    fn handle_probe_reply(&mut self, now: Instant);

    /// Time has come to `now`.
    fn handle_timeout(&mut self, now: Instant) -> Expired;

    /// When [`handle_timeout`](Self::handle_timeout) is to be called next.
    fn poll_timeout(&self) -> Option<Instant>;

    /// Whether data packets are to carry the time at which they leave.
    fn stamps(&self) -> bool;

    /// The machine of TFRC inside.
    fn tfrc(&self) -> &tfrc::Sender;

    /// The machine of ADTFRC, if it is one.
    fn adtfrc(&self) -> Option<&adtfrc::Sender> {
        None
    }
}

/// The half that receives data: what to report.
pub trait HalfReceiver: fmt::Debug + Send {
    /// A data packet arrives; `timestamp` is when it left by the peer's clock, in units of 10 µs, if it says so.
    fn on_data(&mut self, data: &Data, timestamp: Option<u32>, now: Instant);

    /// A packet without data arrives, with `without_data` more of its kind immediately before it.
    fn on_other(&mut self, number: u64, without_data: u64, now: Instant);

    /// Asks for feedback at once, if anything came since the last.
    fn urge(&mut self, now: Instant);

    /// Time has come to `now`.
    fn handle_timeout(&mut self, now: Instant);

    /// When [`handle_timeout`](Self::handle_timeout) is to be called next.
    fn poll_timeout(&self) -> Option<Instant>;

    /// Takes out the feedback that is to be sent, if any, with the state of the network if this half knows of such.
    fn poll_report(&mut self, now: Instant) -> Option<(Report, Option<NetworkState>)>;

    /// The loss intervals, the most recent first, and how many packets are in none of them yet.
    fn intervals(&self) -> (u64, Vec<LossInterval>) {
        let (skip, intervals) = self.tfrc().intervals();
        (skip, intervals.collect())
    }

    /// The machine of TFRC inside.
    fn tfrc(&self) -> &tfrc::Receiver;

    /// The machine of ADTFRC, if it is one.
    fn adtfrc(&self) -> Option<&adtfrc::Receiver> {
        None
    }
}

impl Congestion {
    /// The machines of a flow of which nothing has been sent: that of the half that sends, and that of the half that receives.
    pub fn start(self) -> (Box<dyn HalfSender>, Box<dyn HalfReceiver>) {
        match self {
            Self::Tfrc(config) => (Box::new(tfrc::Sender::new(config)), Box::new(tfrc::Receiver::new(config))),
            Self::Adtfrc(config) => (Box::new(adtfrc::Sender::new(config)), Box::new(adtfrc::Receiver::new(config))),
        }
    }
}

impl HalfSender for tfrc::Sender {
    fn on_handshake(&mut self, rtt: Duration) {
        self.on_handshake(rtt);
    }

    fn departure(&self, offered: Instant) -> Option<Instant> {
        Some(self.departure(offered))
    }

    fn on_sent(&mut self, len: u32, offered: Instant, more: bool, now: Instant) {
        self.on_sent(len, offered, more, now);
    }

    fn handle_feedback(&mut self, feedback: &Feedback, _: Option<NetworkState>, now: Instant) {
        self.handle_feedback(feedback, Response::Adapt, now);
    }

    fn handle_probe_reply(&mut self, _: Instant) {}

    fn handle_timeout(&mut self, now: Instant) -> Expired {
        self.handle_timeout(now);
        Expired::Nothing
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.poll_timeout()
    }

    fn stamps(&self) -> bool {
        false
    }

    fn tfrc(&self) -> &tfrc::Sender {
        self
    }
}

impl HalfReceiver for tfrc::Receiver {
    fn on_data(&mut self, data: &Data, _: Option<u32>, now: Instant) {
        self.on_packet(data, now);
        self.count_losses(true, now);
    }

    fn on_other(&mut self, number: u64, without_data: u64, now: Instant) {
        self.on_other(number, without_data, now);
        self.count_losses(true, now);
    }

    fn urge(&mut self, now: Instant) {
        self.urge(now);
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.handle_timeout(now);
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.poll_timeout()
    }

    fn poll_report(&mut self, now: Instant) -> Option<(Report, Option<NetworkState>)> {
        Some((self.poll_report(now)?, None))
    }

    fn tfrc(&self) -> &tfrc::Receiver {
        self
    }
}

impl HalfSender for adtfrc::Sender {
    fn on_handshake(&mut self, rtt: Duration) {
        self.on_handshake(rtt);
    }

    fn departure(&self, offered: Instant) -> Option<Instant> {
        self.departure(offered)
    }

    fn on_sent(&mut self, len: u32, offered: Instant, more: bool, now: Instant) {
        self.on_sent(len, offered, more, now);
    }

    fn handle_feedback(&mut self, feedback: &Feedback, state: Option<NetworkState>, now: Instant) {
        let states = state.map(|state| States {
            congestion: state.contains(NetworkState::CONGESTION),
            route_change: state.contains(NetworkState::ROUTE_CHANGE),
            channel_error: state.contains(NetworkState::CHANNEL_ERROR),
        });
        self.handle_feedback(feedback, states, now);
    }

    fn handle_probe_reply(&mut self, now: Instant) {
        self.handle_probe_reply(now);
    }

    fn handle_timeout(&mut self, now: Instant) -> Expired {
        match self.handle_timeout(now) {
            adtfrc::Expired::Nothing => Expired::Nothing,
            adtfrc::Expired::Probe => Expired::Probe,
            adtfrc::Expired::GiveUp => Expired::GiveUp,
        }
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.poll_timeout()
    }

    fn stamps(&self) -> bool {
        true
    }

    fn tfrc(&self) -> &tfrc::Sender {
        self.tfrc()
    }

    fn adtfrc(&self) -> Option<&adtfrc::Sender> {
        Some(self)
    }
}

impl HalfReceiver for adtfrc::Receiver {
    fn on_data(&mut self, data: &Data, timestamp: Option<u32>, now: Instant) {
        self.on_packet(data, timestamp, now);
    }

    fn on_other(&mut self, number: u64, without_data: u64, now: Instant) {
        self.on_other(number, without_data, now);
    }

    fn urge(&mut self, now: Instant) {
        self.urge(now);
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.handle_timeout(now);
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.tfrc().poll_timeout()
    }

    fn poll_report(&mut self, now: Instant) -> Option<(Report, Option<NetworkState>)> {
        let (report, notice) = self.poll_report(now)?;
        let state = notice.map(|adtfrc::Notice { states, urgent }| {
            let bits = [
                (states.congestion, NetworkState::CONGESTION),
                (states.route_change, NetworkState::ROUTE_CHANGE),
                (states.channel_error, NetworkState::CHANNEL_ERROR),
                (urgent, NetworkState::URGENT),
            ];
            bits.into_iter().filter(|(set, _)| *set).fold(NetworkState(0), |state, (_, bit)| state | bit)
        });
        Some((report, state))
    }

    fn tfrc(&self) -> &tfrc::Receiver {
        self.tfrc()
    }

    fn adtfrc(&self) -> Option<&adtfrc::Receiver> {
        Some(self)
    }
}
