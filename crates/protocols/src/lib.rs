//! Protocols as state machines that know no clock, no socket and no simulator.
//!
//! # The contract of every machine
//!
//! * `handle_*(…, now)` brings something in: a packet, a timer that is due, a request of the user.
//! * `poll_output(…)` takes one thing out: a packet to send, an event for the user. It returns `None` when nothing is left.
//! * `poll_timeout()` is the instant of the next timer, or `None`: what is due is due *at* that instant, never before.
//! * `on_*` reports a fact to a strategy (for example [`transport::tcp`]'s congestion control) and produces no output itself.
//!
//! A driver makes one change, drains `poll_output` until it returns `None`, reads `poll_timeout` again, and only then
//! makes the next change: a change may have moved the timer, and an output left inside would be reordered behind later ones.
//! The one exception is the answer to an output, such as a read when data has arrived: it may come while the rest still waits.
//! A debug build panics when a packet, a message or a timer is handled while outputs wait.
//!
//! Each call does a bounded amount of work. Randomness comes from a generator that the machine is handed.

pub mod application;
pub mod arp;
mod contract;
pub mod fec;
mod lookup;
mod lru;
pub mod random;
pub mod rounding;
pub mod routing;
#[cfg(any(test, feature = "testkit"))]
pub mod testkit;
pub mod time;
pub mod transport;
