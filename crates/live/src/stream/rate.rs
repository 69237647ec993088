//! The rate of media over RTP: its congestion control, and what a file or a pipe may hand over.

use hopcast_protocols::time::{Duration, Instant};
use hopcast_protocols::transport::media::{Congestion, Source};
use hopcast_protocols::transport::rtp::{self, Format};

use super::session::TRANSPORT_PACKETS;
use hopcast_wire::mpegts;

/// The least and the greatest rate of media unless named: those of simulated sources without an encoder (RFC 8867, section 4.1,
/// has the least), in b/s.
const RATES: [u64; 2] = [150_000, 100_000_000];
/// UDP and IPv4 below RTP, in bytes.
const BELOW_RTP: u32 = 8 + 20;
/// The frame period that SCReAM and NADA count with: 25 pictures a second. A transport stream does not tell its frames.
pub(super) const FRAME_PERIOD: Duration = Duration::from_millis(40);
/// How late a departure may be without delaying those after it: what a host that wakes up late makes up for.
pub(super) const SLACK: Duration = Duration::from_millis(2);

/// Settings of a session of RTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateControl {
    /// The congestion control.
    pub congestion: Congestion,
    /// The format of the receiver's reports.
    pub format: Format,
    /// The least rate of media, in bit/s.
    pub min_rate: u64,
    /// The greatest.
    pub max_rate: u64,
    /// Whether packets may be marked instead of dropped, if the congestion control reacts to that.
    pub ecn: bool,
    /// For how long after it was sent a packet may be sent again, if the receiver asks for it; `None`: packets are sent once.
    pub retransmission: Option<Duration>,
    /// What a file or a pipe may hand over ahead of the target rate, in time at that rate.
    pub burst: Duration,
}

impl Default for RateControl {
    /// GCC, from 150 kb/s to 100 Mb/s, without marks.
    fn default() -> Self {
        Self::new(Congestion::Gcc, None)
    }
}

impl RateControl {
    /// This congestion control with its usual feedback, unless another is named: transport-wide numbers of GCC, RFC 8888 of others.
    pub fn new(congestion: Congestion, format: Option<Format>) -> Self {
        let usual = if congestion == Congestion::Gcc { Format::Twcc } else { Format::Ccfb };
        let [min_rate, max_rate] = RATES;
        let format = format.unwrap_or(usual);
        Self { congestion, format, min_rate, max_rate, ecn: false, retransmission: None, burst: Duration::from_secs(1) }
    }

    /// A session of `source` that has sent nothing.
    pub(super) fn start(&self, source: u32, first_sequence: u16, patience: Option<Duration>) -> rtp::Sender {
        let headers = self.format.header_len() + BELOW_RTP;
        let control = self.congestion.start(Source {
            min_rate: self.min_rate,
            max_rate: self.max_rate,
            frame_period: FRAME_PERIOD,
            headers,
            is_markable: self.ecn,
            packet: headers + (TRANSPORT_PACKETS * mpegts::PACKET_LEN) as u32,
            weight: 1.0,
        });
        // When the receiver reports, it decides.
        let Self { format, retransmission, .. } = *self;
        let config = rtp::Config { source, first_sequence, format, retransmission, ..rtp::Config::default() };
        // Media that waits is never too old.
        rtp::Sender::new(config, control)
            .with_slack(SLACK)
            .with_patience(patience.unwrap_or(Duration::from_nanos(u64::MAX)))
    }
}

/// Admits media at a rate that changes, with bursts of a length: the generic cell rate algorithm (ITU-T I.371, annex A).
#[derive(Clone, Copy, Debug)]
pub(super) struct Admission {
    /// When all that was admitted would have passed at the rate.
    passed: Instant,
    burst: Duration,
}

impl Admission {
    pub(super) fn new(burst: Duration, now: Instant) -> Self {
        Self { passed: now, burst }
    }

    /// When the next is admitted.
    pub(super) fn next(&self) -> Instant {
        Instant::START + (self.passed - Instant::START).saturating_sub(self.burst)
    }

    /// This number of bytes is handed over, at `rate` in bit/s.
    pub(super) fn take(&mut self, octets: usize, rate: u64, now: Instant) {
        let nanos = octets as u64 * 8 * 1_000_000_000 / rate.max(1);
        self.passed = self.passed.max(now).saturating_add(Duration::from_nanos(nanos));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(n: u64) -> Instant {
        Instant::START + Duration::from_millis(n)
    }

    #[test]
    fn media_is_admitted_at_the_rate_behind_a_burst() {
        let mut admission = Admission::new(Duration::from_millis(100), ms(1000));
        // 1250 bytes at 1 Mb/s take 10 ms.
        for _ in 0..10 {
            assert!(admission.next() <= ms(1000));
            admission.take(1250, 1_000_000, ms(1000));
        }
        assert_eq!(admission.next(), ms(1000));
        admission.take(1250, 1_000_000, ms(1000));
        assert_eq!(admission.next(), ms(1010));
        // At half the rate each takes twice as long; a pause is not made up for beyond the burst.
        admission.take(1250, 500_000, ms(1010));
        assert_eq!(admission.next(), ms(1030));
        admission.take(1250, 1_000_000, ms(9000));
        assert_eq!(admission.next(), ms(8910));
    }
}
