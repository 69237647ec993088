//! The sender: algorithms 1 and 2 of the paper, and the states of its figure 4.

use super::super::tfrc::{self, Feedback, Response};
use super::{Config, States};
use crate::time::{Duration, Instant};

/// What is to be done when a timer has expired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expired {
    /// Nothing; the rate may have changed.
    Nothing,
    /// One packet is to leave at once: a probe.
    Probe,
    /// The path doesn't come back: the connection is to be closed.
    GiveUp,
}

/// Probing of a path that is gone.
#[derive(Clone, Copy, Debug)]
struct Probing {
    /// probing_count: how often the timer expired since.
    count: u32,
    /// When the next probe is due.
    due: Instant,
}

/// The sending end of a flow.
#[derive(Clone, Debug)]
pub struct Sender {
    config: Config,
    tfrc: tfrc::Sender,
    /// Those of the latest feedback; `None` before the first, and from a receiver that knows of none.
    states: Option<States>,
    probing: Option<Probing>,
    /// The path is back, but no feedback has come since.
    returning: bool,
}

impl Sender {
    /// A sender that knows nothing of the path.
    pub(crate) fn new(config: Config) -> Self {
        let config = Config { probe_limit: config.probe_limit.max(1), ..config };
        Self { tfrc: tfrc::Sender::new(config.tfrc), states: None, probing: None, returning: false, config }
    }

    /// The handshake took `rtt`.
    pub(crate) fn on_handshake(&mut self, rtt: Duration) {
        self.tfrc.on_handshake(rtt);
    }

    /// When a packet may leave that was offered at `offered`; `None` while probing: then only probes leave.
    pub(crate) fn departure(&self, offered: Instant) -> Option<Instant> {
        self.probing.is_none().then(|| self.tfrc.departure(offered))
    }

    /// A packet of `len` bytes leaves, offered at `offered`; `more` wait behind it.
    pub(crate) fn on_sent(&mut self, len: u32, offered: Instant, more: bool, now: Instant) {
        self.tfrc.on_sent(len, offered, more, now);
    }

    /// Algorithm 1: feedback of the receiver, with the states of the network if it told any.
    pub(crate) fn handle_feedback(&mut self, feedback: &Feedback, states: Option<States>, now: Instant) {
        self.states = states;
        self.leave_probing(now);
        let response = match states {
            _ if core::mem::take(&mut self.returning) => Response::Hold,
            Some(States { congestion: true, .. }) => Response::Limit,
            Some(States { route_change: true, .. }) => Response::Hold,
            _ => Response::Adapt,
        };
        self.tfrc.handle_feedback(feedback, response, now);
    }

    /// The peer answered a probe without data: the path is back.
    pub(crate) fn handle_probe_reply(&mut self, now: Instant) {
        self.leave_probing(now);
    }

    fn leave_probing(&mut self, now: Instant) {
        if self.probing.take().is_some() {
            self.returning = true;
            self.tfrc.resume(now);
        }
    }

    /// Algorithm 2: time has come to `now`; a timer may have expired.
    pub(crate) fn handle_timeout(&mut self, now: Instant) -> Expired {
        if let Some(probing) = &mut self.probing {
            if probing.due > now {
                return Expired::Nothing;
            }
            probing.count += 1;
            if probing.count >= self.config.probe_limit {
                return Expired::GiveUp;
            }
            probing.due = now + self.config.probe_interval;
            return Expired::Probe;
        }
        if self.tfrc.poll_timeout().is_none_or(|due| due > now) {
            return Expired::Nothing;
        }
        let disconnected = self.states.is_some_and(|states| !states.congestion) && !self.tfrc.is_idle();
        if !disconnected {
            self.tfrc.handle_timeout(now);
            return Expired::Nothing;
        }
        // An application that writes seldom may have sent its last packet just now.
        if self.tfrc.wait_for_answer(now) {
            return Expired::Nothing;
        }
        self.tfrc.suspend();
        self.probing = Some(Probing { count: 0, due: now + self.config.probe_interval });
        Expired::Probe
    }

    /// When [`handle_timeout`](Self::handle_timeout) is to be called next.
    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        self.probing.map(|probing| probing.due).or(self.tfrc.poll_timeout())
    }

    /// Whether the sender treats the path as broken (DISC).
    pub fn is_probing(&self) -> bool {
        self.probing.is_some()
    }

    /// The states of the network of the latest feedback.
    pub fn states(&self) -> Option<States> {
        self.states
    }

    /// The sender of TFRC inside.
    pub(crate) fn tfrc(&self) -> &tfrc::Sender {
        &self.tfrc
    }
}
