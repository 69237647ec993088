//! Parameters of address resolution.

use crate::time::Duration;

/// Requests that follow each other faster would leave no time for an answer.
const LEAST_INTERVAL: Duration = Duration::from_millis(1);

/// Free parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// How long an address is believed after it was last told; `None`: for ever.
    pub timeout: Option<Duration>,
    /// Least time between two requests for one address, and the wait for an answer to the last, at least 1 ms; `None`: each packet for an
    /// address that is not known makes a request, and no answer is waited for.
    pub request_interval: Option<Duration>,
    /// A request that is repeated comes up to so much later, so that nodes that ask at one instant do not do so each time.
    pub request_jitter: Duration,
    /// Requests for one address without an answer, after which it is given up; at least 1.
    pub requests: u32,
    /// Packets that wait for one address, at least 1; the oldest gives way to a new one.
    pub queue_packets: usize,
    /// Whether the addresses of all senders of ARP packets are kept, and not only those that this node needs or that ask for it.
    pub learns_all: bool,
}

impl Config {
    /// What RFC 1122 says in section 2.3.2: a timeout of the order of a minute (2.3.2.1), at most one request a second for each
    /// destination (2.3.2.1), at least the latest packet kept (2.3.2.2). Where it leaves a number open, that of Linux: three
    /// requests and three packets (arp(7), `mcast_solicit` and `unres_qlen` up to Linux 3.2). Addresses are kept as RFC 826 says. The
    /// jitter is ns-3's (`ArpL3Protocol`, `RequestJitter`), which has it in the first request, too.
    pub const RFC_1122: Self = Self {
        timeout: Some(Duration::from_secs(60)),
        request_interval: Some(Duration::from_secs(1)),
        request_jitter: Duration::from_millis(10),
        requests: 3,
        queue_packets: 3,
        learns_all: false,
    };

    /// What ns-2.35 does (mac/arp.cc, mac/arp.h): a request with each packet, of which the latest is kept; after three without an
    /// answer the next packet is dropped together with the one that is kept. What is heard is believed for ever.
    pub const NS_2: Self = Self {
        timeout: None,
        request_interval: None,
        request_jitter: Duration::ZERO,
        requests: 3,
        queue_packets: 1,
        learns_all: true,
    };

    /// The same with every value in its range.
    pub(super) fn clamped(self) -> Self {
        Self {
            request_interval: self.request_interval.map(|interval| interval.max(LEAST_INTERVAL)),
            requests: self.requests.max(1),
            queue_packets: self.queue_packets.max(1),
            ..self
        }
    }
}
