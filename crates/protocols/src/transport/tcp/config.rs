//! What a user sets on a connection.

use crate::time::Duration;

/// Parameters of one end of a connection.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Payload of a full segment (SMSS) in bytes; also announced in the MSS option. Taken into 1…65535.
    /// The peer's MSS option may lower what is sent.
    pub segment: u32,
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
        self.send_buffer = self.send_buffer.max(1);
        self.receive_buffer = self.receive_buffer.clamp(1, (1 << 30) - 1);
        self.window = self.window.map(|segments| segments.max(1));
        self.initial_window = self.initial_window.map(|segments| segments.max(1));
        self
    }
}
