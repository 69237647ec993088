//! Congestion control: how much may be in flight.
//!
//! *When* something is lost is decided by the connection, which counts acknowledgements, and what duplicate
//! acknowledgements add to the window during fast recovery is its business too; a [`CongestionControl`] only answers how
//! large the window is. All amounts are bytes.

mod cubic;
mod prague;
mod reno;

pub(super) use cubic::Cubic;
pub(super) use prague::Prague;
pub(super) use reno::Reno;

use core::fmt;

use crate::time::{Duration, Instant};

/// The congestion control. The connection reports facts; it changes [`window`](Self::window) and
/// [`slow_start_threshold`](Self::slow_start_threshold), and produces no output.
pub trait CongestionControl: fmt::Debug + Send {
    /// The handshake is done: `segment` is the SMSS, `initial_window` what may be sent at once.
    fn on_established(&mut self, segment: u32, initial_window: u32);

    /// New data was acknowledged outside of fast recovery.
    fn on_ack(&mut self, ack: &Ack);

    /// Duplicate acknowledgements or SACK revealed a loss: the window is to shrink, and fast recovery begins. `flight` bytes
    /// were outstanding, what limited transmit added not counted, and at most [`window`](Self::window).
    fn on_loss(&mut self, flight: u32, now: Instant);

    /// Fast recovery ends: the window is to be the slow start threshold, or `limit` if that is less.
    fn on_recovered(&mut self, limit: u32, now: Instant);

    /// The peer has echoed a mark (RFC 3168, section 6.1.2), once for the data of a window: nothing is lost, and the window is
    /// to shrink at once. `flight` bytes were outstanding, at most [`window`](Self::window). By default the window becomes what
    /// a loss would leave of it.
    fn on_marked(&mut self, flight: u32, now: Instant) {
        self.on_loss(flight, now);
        self.on_recovered(u32::MAX, now);
    }

    /// An acknowledgement with accurate feedback (RFC 9768) has come, before [`on_ack`](Self::on_ack) if it acknowledges new data.
    /// Returns whether the window was reduced. Only where [`is_scalable`](Self::is_scalable).
    fn on_marks(&mut self, marks: &Marks) -> bool {
        let _ = marks;
        false
    }

    /// Whether it reacts to marks as L4S asks (RFC 9331, section 4.3): segments then leave as ECT(1), and the connection asks its peer
    /// for accurate feedback.
    fn is_scalable(&self) -> bool {
        false
    }

    /// The retransmission timer ran out with `flight` bytes outstanding, at most [`window`](Self::window); `first` unless
    /// it did so already for the same data.
    fn on_timeout(&mut self, flight: u32, first: bool, now: Instant);

    /// Nothing was sent for longer than a retransmission timeout, and sending is about to start again.
    fn on_idle(&mut self);

    /// The congestion window in bytes, without what fast recovery adds.
    fn window(&self) -> u32;

    /// The slow start threshold in bytes; [`u32::MAX`] before the first loss.
    fn slow_start_threshold(&self) -> u32;
}

/// What an acknowledgement tells of marks.
#[derive(Clone, Copy, Debug)]
pub struct Marks {
    /// Bytes that it acknowledges for the first time.
    pub acked: u32,
    /// Bytes that were marked since the last acknowledgement, in whole segments.
    pub marked: u32,
    /// The smoothed round-trip time, once measured.
    pub smoothed_rtt: Option<Duration>,
    /// Whether fast recovery is under way.
    pub is_recovering: bool,
    /// When it arrived.
    pub now: Instant,
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
