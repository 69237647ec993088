//! TFRC, TCP-friendly rate control: RFC 5348, its forerunner RFC 3448, the small-packet variant RFC 4828, and the rules of ns-2
//! as of 2002.
//!
//! A [`Sender`] says when the next packet may leave, a [`Receiver`] what to tell the sender. Neither knows how packets look:
//! [DCCP](super::dccp) carries them, in the manner of its CCID 3. Rates are bytes of payload per second.
//!
//! ```
//! use hopcast_protocols::time::{Duration, Instant};
//! use hopcast_protocols::transport::tfrc::{Config, Feedback, Response, Sender};
//!
//! let mut sender = Sender::new(Config::default());
//! let start = Instant::START;
//! // Nothing is known of the path: one packet a second.
//! assert_eq!(sender.departure(start), start);
//! sender.on_sent(1000, start, true, start);
//! assert_eq!(sender.departure(start), start + Duration::from_secs(1));
//! // After a round trip of 0.1 s: the initial window of RFC 3390 in each.
//! let now = start + Duration::from_millis(100);
//! let feedback =
//!     Feedback { sent: Some(start), delay: Duration::ZERO, receive_rate: 10_000.0, loss_event_rate: 0.0 };
//! sender.handle_feedback(&feedback, Response::Adapt, now);
//! assert_eq!(sender.rate(), 4.0 * 1000.0 / 0.1);
//! ```
//!
//! # Choices where the RFCs leave one
//!
//! * The segment size `s` is the mean of what is sent, a moving average with weight 1/10 for each packet (RFC 5348,
//!   section 4.1, wants a mean).
//! * What was lost is filled in by packets that come late, as long as they are among the last 1024 numbers (RFC 5348,
//!   section 5.1 allows it): with routes that change, packets are late by more than three.
//! * A packet that the clock of the host let leave late is made up for, up to a round trip (RFC 5348, section 8.3); time in
//!   which the application had nothing to send isn't.
//! * While the sender is idle and its rate at the rate it may recover with, the nofeedback timer is off until it sends.
//! * Oscillations are damped (section 4.5), as in ns-2, unless configured otherwise.
//!
//! # Limits
//!
//! No ECN. The loss interval that is still open counts packets, also in the small-packet variant.

pub mod equation;

mod config;
mod data_limit;
mod loss_history;
mod pacer;
mod receipts;
mod receive_rates;
mod receiver;
mod reception;
mod sender;
mod ticks;

#[cfg(test)]
mod tests;

pub use config::{Config, Edition};
use loss_history::LossHistory;
pub use loss_history::LossInterval;
pub(super) use loss_history::WEIGHTS;
pub(super) use receipts::Receipts;
pub use receiver::{Arrival, Data, Receiver, Report};
use reception::Reception;
pub use reception::{Loss, Timing};
pub use sender::{Feedback, Response, Sender};

/// The longest time between two packets, in seconds: t_mbi (RFC 5348, section 4.3).
const MAXIMUM_BACKOFF: f64 = 64.0;
