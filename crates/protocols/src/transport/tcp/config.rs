//! What a user sets on a connection.

use super::congestion::{CongestionControl, Cubic, Prague, Reno};
use crate::time::Duration;

/// A family member: what repairs losses, and the congestion control.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Variant {
    /// Fast retransmit and fast recovery, which ends with the first new acknowledgement (RFC 5681).
    Reno,
    /// The same, with recovery until all is repaired that was outstanding (RFC 6582).
    #[default]
    NewReno,
    /// Selective acknowledgements (RFC 2018) and loss recovery by them (RFC 6675).
    Sack,
    /// The same with the window of RFC 9438.
    Cubic,
    /// The same with the window of TCP Prague, ECT(1) and accurate ECN (RFC 9331, RFC 9768), whatever [`Config::ecn`] says.
    Prague,
}

impl Variant {
    /// What finds and repairs losses.
    pub(crate) fn loss_recovery(self) -> LossRecovery {
        match self {
            Self::Reno => LossRecovery::Reno,
            Self::NewReno => LossRecovery::NewReno,
            Self::Sack | Self::Cubic | Self::Prague => LossRecovery::Sack,
        }
    }

    /// A new congestion control.
    pub fn congestion_control(self) -> Box<dyn CongestionControl> {
        match self {
            Self::Reno | Self::NewReno | Self::Sack => Box::new(Reno::new()),
            Self::Cubic => Box::new(Cubic::new()),
            Self::Prague => Box::new(Prague::new()),
        }
    }
}

/// What finds and repairs losses before the retransmission timer runs out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LossRecovery {
    /// RFC 5681, section 3.2.
    Reno,
    /// RFC 6582, section 3.2.
    NewReno,
    /// RFC 6675, section 5.
    Sack,
}

/// Explicit link failure notification (Holland and Vaidya, "Analysis of TCP Performance over Mobile Ad Hoc Networks",
/// MobiCom 1999, section 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Elfn {
    /// Time between two probes while no route is known; at least 1 ns.
    pub probe_interval: Duration,
    /// Halve the window when the route is back, as after a loss. The paper restores it as it was, and found nothing better.
    pub halve: bool,
}

impl Default for Elfn {
    /// A probe every 2 s, and the window as it was (section 4).
    fn default() -> Self {
        Self { probe_interval: Duration::from_secs(2), halve: false }
    }
}

/// Parameters of one end of a connection.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Payload of a full segment (SMSS) in bytes; also announced in the MSS option. Taken into 1…65535.
    /// The peer's MSS option may lower what is sent.
    pub segment: u32,
    /// How losses are found and repaired, and the congestion control. SACK is offered to the peer where this asks
    /// for it; without a peer that knows it, recovery is NewReno's.
    pub variant: Variant,
    /// Ask the peer for timestamps (RFC 7323, section 3). They take 12 bytes of each segment's payload.
    pub timestamps: bool,
    /// Ask the peer for explicit congestion notification (RFC 3168, section 6.1).
    pub ecn: bool,
    /// What to do on a notice of link failure; `None`: nothing.
    pub elfn: Option<Elfn>,
    /// Bytes that the send buffer holds, unacknowledged ones included; at least 1.
    pub send_buffer: u32,
    /// Bytes that the receive buffer holds, hence the largest window offered; 1 to 2³⁰ − 1 (RFC 7323, section 2.3).
    pub receive_buffer: u32,
    /// Cap on the amount in flight in segments of `segment` bytes, as if the peer offered no larger window; `None`: no
    /// cap. At least 1.
    pub window: Option<u32>,
    /// Initial congestion window in segments; `None`: 2, 3 or 4 by SMSS (RFC 5681, section 3.1, equation 1).
    pub initial_window: Option<u32>,
    /// Least retransmission timeout (RFC 6298, section 2.4: 1 s).
    pub min_rto: Duration,
    /// Longest time that an acknowledgement is held back (RFC 9293, section 3.8.6.3: under 0.5 s); `None`: every segment
    /// is acknowledged at once.
    pub delayed_ack: Option<Duration>,
    /// Hold back a partial segment while data is unacknowledged (RFC 9293, section 3.7.4).
    pub nagle: bool,
    /// Time without an acknowledgement after which a connection with data (or SYN or FIN) outstanding is given up
    /// (RFC 9293, section 3.9.1: 5 min); `None`: never.
    pub user_timeout: Option<Duration>,
    /// Time spent in TIME-WAIT: twice the maximum segment lifetime of 2 min (RFC 9293, section 3.4.2).
    pub time_wait: Duration,
}

impl Default for Config {
    /// A host on Ethernet: 1460 B segments, buffers of 208 KiB, delayed acknowledgements of 200 ms, Nagle on, all else as
    /// the RFCs default.
    fn default() -> Self {
        Self {
            segment: 1460,
            variant: Variant::NewReno,
            timestamps: false,
            ecn: false,
            elfn: None,
            send_buffer: 212_992,
            receive_buffer: 212_992,
            window: None,
            initial_window: None,
            min_rto: Duration::from_secs(1),
            delayed_ack: Some(Duration::from_millis(200)),
            nagle: true,
            user_timeout: Some(Duration::from_secs(300)),
            time_wait: Duration::from_secs(240),
        }
    }
}

impl Config {
    /// The same with every value in its range.
    pub(super) fn clamped(mut self) -> Self {
        self.segment = self.segment.clamp(1, u32::from(u16::MAX));
        if let Some(elfn) = &mut self.elfn {
            elfn.probe_interval = elfn.probe_interval.max(Duration::from_nanos(1));
        }
        self.send_buffer = self.send_buffer.max(1);
        self.receive_buffer = self.receive_buffer.clamp(1, (1 << 30) - 1);
        self.window = self.window.map(|segments| segments.max(1));
        self.initial_window = self.initial_window.map(|segments| segments.max(1));
        self
    }
}
