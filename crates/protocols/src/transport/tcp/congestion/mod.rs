//! Congestion control: how much may be in flight.
//!
//! *When* something is lost is decided by the connection, which counts acknowledgements; a [`CongestionControl`] only
//! answers how large the window is then. All amounts are bytes.

mod newreno;

pub use newreno::NewReno;

use core::fmt;

use crate::time::{Duration, Instant};

/// The law of a congestion window. The connection reports facts; the law changes [`window`](Self::window) and
/// [`slow_start_threshold`](Self::slow_start_threshold), and produces no output.
pub trait CongestionControl: fmt::Debug + Send {
    /// The handshake is done: `segment` is the SMSS, `initial_window` what may be sent at once.
    fn on_established(&mut self, segment: u32, initial_window: u32);

    /// New data was acknowledged outside of fast recovery.
    fn on_ack(&mut self, ack: &Ack);

    /// Duplicate acknowledgements revealed a loss: fast recovery begins with `flight` bytes sent and not acknowledged, what
    /// limited transmit added not counted. What has arrived behind a hole is among them, and not in the network.
    fn on_loss(&mut self, flight: u32, now: Instant);

    /// A further duplicate acknowledgement during fast recovery: a segment has left the network.
    fn on_duplicate_ack(&mut self);

    /// A partial acknowledgement of `acked` bytes during fast recovery.
    fn on_partial_ack(&mut self, acked: u32);

    /// Fast recovery ends; `flight` bytes are still outstanding.
    fn on_recovered(&mut self, flight: u32);

    /// The retransmission timer ran out with `flight` bytes sent and not acknowledged, of which those that have arrived behind
    /// a hole are not in the network; `first` unless it did so already for the same data.
    fn on_timeout(&mut self, flight: u32, first: bool, now: Instant);

    /// Nothing was sent for longer than a retransmission timeout, and sending is about to start again.
    fn on_idle(&mut self);

    /// The congestion window in bytes, what fast recovery adds included.
    fn window(&self) -> u32;

    /// The slow start threshold in bytes; [`u32::MAX`] before the first loss.
    fn slow_start_threshold(&self) -> u32;
}

/// An acknowledgement of new data.
#[derive(Clone, Copy, Debug)]
pub struct Ack {
    /// Bytes that it acknowledges for the first time.
    pub acked: u32,
    /// Bytes that were in flight before it.
    pub flight: u32,
    /// The smoothed round-trip time, once measured.
    pub smoothed_rtt: Option<Duration>,
    /// When it arrived.
    pub now: Instant,
}
