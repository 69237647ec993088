//! hopcast's TCP as an end.

use hopcast_protocols::time::Instant;
use hopcast_protocols::transport::tcp::congestion::CongestionControl;
use hopcast_protocols::transport::tcp::{Config, Connection, Output, Segment, Statistics};

use crate::{Role, packet};

/// Initial sequence numbers, near the wrap.
const INITIAL: u32 = u32::MAX - 10_000;

/// A connection of the state machine's and its user.
#[derive(Debug)]
pub struct Own {
    connection: Connection,
    role: Role,
    /// Bytes still to be written.
    left: u64,
}

impl Own {
    /// An end that opens when [`carry`](crate::carry) runs it.
    pub fn new(config: Config, role: Role) -> Self {
        let (connection, left) = match role {
            Role::Sends(bytes) => (Connection::connect(config, INITIAL), bytes),
            Role::Receives => (Connection::listen(config, INITIAL), 0),
        };
        Self { connection, role, left }
    }

    /// A sender with a custom congestion control.
    pub fn sender_with(config: Config, bytes: u64, congestion: Box<dyn CongestionControl>) -> Self {
        let connection = Connection::connect_with(config, INITIAL, congestion);
        Self { connection, role: Role::Sends(bytes), left: bytes }
    }

    /// What it counted.
    pub fn statistics(&self) -> &Statistics {
        self.connection.statistics()
    }

    pub(crate) fn handle_packet(&mut self, octets: &[u8], now: Instant) {
        if let Some(header) = packet::parse(octets) {
            self.connection.handle_segment(&Segment::from(&header), now);
        }
    }

    pub(crate) fn handle_timeout(&mut self, now: Instant) {
        if self.poll_timeout().is_some_and(|due| due <= now) {
            self.connection.handle_timeout(now);
        }
    }

    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        self.connection.poll_timeout()
    }

    /// The next packet to send.
    pub(crate) fn poll_packet(&mut self, now: Instant) -> Option<Vec<u8>> {
        loop {
            match self.connection.poll_output(now)? {
                Output::Transmit(segment) => {
                    return Some(packet::emit(&segment, self.role.local(), self.role.remote()));
                }
                Output::Connected | Output::Writable => {
                    // What is refused now is asked for again.
                    let wanted = u32::try_from(self.left).unwrap_or(u32::MAX);
                    self.left -= u64::from(self.connection.handle_write(wanted, now));
                }
                Output::Readable => {
                    self.connection.handle_read(u32::MAX, now);
                }
                Output::Closed(_) => {}
            }
        }
    }
}
