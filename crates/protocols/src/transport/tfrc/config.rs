//! What a user sets, and what follows from it.

use super::ticks::Ticks;
use crate::time::Duration;

/// Which rules are followed where they differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Edition {
    /// RFC 3448 with its errata (2003): slow start from one packet a round trip; twice the last receive rate is always the
    /// limit; t_RTO = 4R. What papers of that time ran.
    Rfc3448,
    /// RFC 5348 (2008): an initial window as TCP's; the limit forgets a receive rate that the application's pauses caused;
    /// t_RTO of at least a second.
    #[default]
    Rfc5348,
    /// ns-2 as of 2002, before the RFCs: t_RTO in ticks of 0.1 s; after slow start at most a packet a round trip faster in each; the
    /// nofeedback timer after 2R, which halves the rate itself, also when idle; one higher number shows a loss, and a late
    /// packet takes none back.
    Ns2,
}

/// Parameters of a flow; those of both ends should be the same.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// Bytes of payload in a packet (s), before the first was sent; at least 1.
    pub segment: u32,
    /// Which rules are followed.
    pub edition: Edition,
    /// The small-packet variant (RFC 4828): as much as a TCP flow with packets of 1460 bytes, in smaller ones, less their
    /// headers; at most one each 10 ms.
    pub small_packets: bool,
    /// Whether the rate follows the square root of the round-trip time within its average (RFC 5348, section 4.5).
    pub oscillation_control: bool,
    /// How late the host may be to act: t_gran (RFC 5348, section 8.3); zero where timers are exact. Over paths with a shorter
    /// round trip, timers and what is measured over a round trip go by this in its place, and delays up to it are made up for.
    pub granularity: Duration,
}

impl Default for Config {
    /// 1000 bytes, as ns-2 has it; RFC 5348; oscillations damped; exact timers.
    fn default() -> Self {
        Self {
            segment: 1000,
            edition: Edition::Rfc5348,
            small_packets: false,
            oscillation_control: true,
            granularity: Duration::ZERO,
        }
    }
}

/// Packet size of the TCP flow that small packets compare with, in bytes (RFC 4828, section 4.1).
const NOMINAL_SEGMENT: f64 = 1460.0;
/// Headers of a packet, in bytes (RFC 4828, section 4.2).
const HEADERS: f64 = 40.0;
/// Least time between two small packets (RFC 4828, section 4.3).
const LEAST_INTERVAL: Duration = Duration::from_millis(10);
/// TCP's timeout is seldom shorter, in seconds (RFC 5348, section 3.1).
const LEAST_TIMEOUT: f64 = 1.0;

impl Config {
    /// The segment size in the throughput equation, given the mean of the packets, in bytes.
    pub(super) fn equation_segment(&self, mean: f64) -> f64 {
        if self.small_packets { NOMINAL_SEGMENT } else { mean }
    }

    /// The part of the allowed rate that may be payload (RFC 4828, section 4.2).
    pub(super) fn payload_share(&self, mean: f64) -> f64 {
        if self.small_packets { mean / (mean + HEADERS) } else { 1.0 }
    }

    /// What the equation reckons with, headers included, where so much payload is sent or received.
    pub(super) fn with_headers(&self, payload: f64, mean: f64) -> f64 {
        payload / self.payload_share(mean)
    }

    /// Least time between two packets.
    pub(super) fn least_interval(&self) -> Duration {
        if self.small_packets { LEAST_INTERVAL } else { Duration::ZERO }
    }

    /// W_init in bytes (RFC 5348, section 4.2; RFC 3448, section 4.3).
    pub(super) fn initial_window(&self, segment: f64) -> f64 {
        match self.edition {
            Edition::Rfc3448 | Edition::Ns2 => segment,
            Edition::Rfc5348 => (4.0 * segment).min((2.0 * segment).max(4380.0)),
        }
    }

    /// t_RTO of the throughput equation, in seconds, for a round trip of `rtt` seconds.
    pub(super) fn timeout(&self, rtt: f64) -> f64 {
        match self.edition {
            Edition::Rfc3448 => 4.0 * rtt,
            Edition::Rfc5348 => (4.0 * rtt).max(LEAST_TIMEOUT),
            Edition::Ns2 => Ticks::steady(rtt),
        }
    }

    /// How many later packets show that one is lost (NDUPACK of RFC 5348, section 5.1).
    pub(super) fn later_packets(&self) -> u32 {
        if self.edition == Edition::Ns2 { 1 } else { 3 }
    }

    /// Whether a packet that comes after it counted as lost takes its loss back.
    pub(super) fn revives(&self) -> bool {
        self.edition != Edition::Ns2
    }

    /// Round trips after which the nofeedback timer expires.
    pub(super) fn patience(&self) -> f64 {
        if self.edition == Edition::Ns2 { 2.0 } else { 4.0 }
    }

    /// The same with every value in its range.
    pub(super) fn clamped(mut self) -> Self {
        self.segment = self.segment.max(1);
        self
    }
}
