//! A link between two ends: what it does to datagrams on their way.

use core::fmt;

use super::Agenda;
use crate::random::{Purpose, Stream};
use crate::time::{Duration, Instant};

/// One of two ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Side {
    /// The end that begins, by convention.
    Client,
    /// The other one.
    Server,
}

impl Side {
    /// Both ends.
    pub const ALL: [Self; 2] = [Self::Client, Self::Server];

    /// The other end.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::Client => Self::Server,
            Self::Server => Self::Client,
        }
    }
}

/// What travels over a link.
pub trait Datagram: Clone + fmt::Debug {
    /// Bytes that it takes on the link, its headers from IP upwards included.
    fn link_len(&self) -> u32;

    /// Changes its byte at `at`, counted modulo its length, by an exclusive or with `mask`: an error that no checksum finds. Where a
    /// datagram is no bytes, one of its fields changes.
    fn corrupt(&mut self, at: u32, mask: u8);
}

impl Datagram for Vec<u8> {
    fn link_len(&self) -> u32 {
        self.len() as u32
    }

    fn corrupt(&mut self, at: u32, mask: u8) {
        let len = self.len().max(1);
        if let Some(byte) = self.get_mut(at as usize % len) {
            *byte ^= mask;
        }
    }
}

/// What one direction of a link does to datagrams. They meet it in this order: MTU, bottleneck, outage and loss, corruption, duplication,
/// latency and jitter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Impairments {
    /// Time from one end to the other.
    pub latency: Duration,
    /// Added to the latency, uniform from 0 to this, for each datagram: more than the spacing of datagrams reorders them.
    pub jitter: Duration,
    /// Probability that a datagram is lost.
    pub loss: f64,
    /// Probability that it arrives twice, each time with a separate jitter.
    pub duplication: f64,
    /// Probability that it arrives with a byte changed.
    pub corruption: f64,
    /// A rate, and the queue before it.
    pub bottleneck: Option<Bottleneck>,
    /// Bytes of the longest datagram that fits; longer ones are dropped.
    pub mtu: Option<u32>,
    /// Nothing gets through from the first instant until before the second.
    pub outage: Option<[Instant; 2]>,
}

impl Impairments {
    /// Every datagram arrives at once, as it was sent.
    pub const NONE: Self = Self {
        latency: Duration::ZERO,
        jitter: Duration::ZERO,
        loss: 0.0,
        duplication: 0.0,
        corruption: 0.0,
        bottleneck: None,
        mtu: None,
        outage: None,
    };

    /// Every datagram arrives after `latency`, as it was sent.
    pub const fn latency(latency: Duration) -> Self {
        Self { latency, ..Self::NONE }
    }
}

/// A rate, and a drop-tail queue before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bottleneck {
    /// Time to send one byte.
    pub per_byte: Duration,
    /// A datagram that would wait longer than this is dropped.
    pub queue: Duration,
}

/// What became of the datagrams that one end has sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LinkStatistics {
    /// Datagrams that the end has sent.
    pub sent: u64,
    /// Those that were longer than the MTU.
    pub too_long: u64,
    /// Those that found the queue of the bottleneck full.
    pub overflowed: u64,
    /// Those that were lost, in an outage or by chance.
    pub lost: u64,
    /// Those of which a byte was changed.
    pub corrupted: u64,
    /// Those that arrived, or will, twice.
    pub duplicated: u64,
}

/// Both directions of a link, as a machine: datagrams go in with [`handle_datagram`](Self::handle_datagram), and come out of
/// [`poll_output`](Self::poll_output) at the instants that [`poll_timeout`](Self::poll_timeout) tells.
#[derive(Clone, Debug)]
pub struct Link<D> {
    /// By sending side.
    directions: [Direction; 2],
    under_way: Agenda<(Side, D)>,
}

#[derive(Clone, Debug)]
struct Direction {
    impairments: Impairments,
    draws: Stream,
    /// When the bottleneck has sent all that waits for it.
    free_at: Instant,
    statistics: LinkStatistics,
}

impl<D: Datagram> Link<D> {
    /// A link with the same impairments in both directions; what chance decides follows from `seed`.
    pub fn new(impairments: Impairments, seed: u64) -> Self {
        Self::asymmetric(impairments, impairments, seed)
    }

    /// A link with impairments for each direction: what the client sends, and what the server sends.
    pub fn asymmetric(client: Impairments, server: Impairments, seed: u64) -> Self {
        let direction = |side: Side, impairments| Direction {
            impairments,
            draws: Stream::new(seed, Purpose::LinkLoss, side as u64, 0),
            free_at: Instant::START,
            statistics: LinkStatistics::default(),
        };
        let directions = [direction(Side::Client, client), direction(Side::Server, server)];
        Self { directions, under_way: Agenda::new() }
    }

    /// From now on this happens to what `from` sends. Datagrams that are under way arrive as they would have.
    pub fn impair(&mut self, from: Side, impairments: Impairments) {
        self.directions[from as usize].impairments = impairments;
    }

    /// An end sends a datagram.
    pub fn handle_datagram(&mut self, from: Side, mut datagram: D, now: Instant) {
        let Direction { impairments, draws, free_at, statistics } = &mut self.directions[from as usize];
        statistics.sent += 1;
        if impairments.mtu.is_some_and(|mtu| datagram.link_len() > mtu) {
            statistics.too_long += 1;
            return;
        }
        let mut latency = impairments.latency;
        if let Some(Bottleneck { per_byte, queue }) = impairments.bottleneck {
            let wait = free_at.saturating_since(now);
            if wait > queue {
                statistics.overflowed += 1;
                return;
            }
            let sent = wait + per_byte * u64::from(datagram.link_len());
            *free_at = now + sent;
            latency = latency.saturating_add(sent);
        }
        let is_out = impairments.outage.is_some_and(|[from, to]| (from..to).contains(&now));
        if is_out || draws.unit() < impairments.loss {
            statistics.lost += 1;
            return;
        }
        if draws.unit() < impairments.corruption {
            statistics.corrupted += 1;
            datagram.corrupt(draws.next_u64() as u32, 1 << draws.below(8));
        }
        let is_twice = draws.unit() < impairments.duplication;
        statistics.duplicated += u64::from(is_twice);
        for _ in 0..1 + u32::from(is_twice) {
            let jitter = draws.duration_below(impairments.jitter.saturating_add(Duration::from_nanos(1)));
            self.under_way.insert(now + latency + jitter, (from.other(), datagram.clone()));
        }
    }

    /// Takes out one datagram that arrives now, and the end where it does.
    #[must_use = "what arrives is taken out"]
    pub fn poll_output(&mut self, now: Instant) -> Option<(Side, D)> {
        self.under_way.pop(now)
    }

    /// When the next datagram arrives.
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.under_way.next()
    }

    /// Datagrams that are under way.
    pub fn len(&self) -> usize {
        self.under_way.len()
    }

    /// Whether nothing is under way.
    pub fn is_empty(&self) -> bool {
        self.under_way.is_empty()
    }

    /// What became of the datagrams that `from` has sent.
    pub fn statistics(&self, from: Side) -> &LinkStatistics {
        &self.directions[from as usize].statistics
    }
}
