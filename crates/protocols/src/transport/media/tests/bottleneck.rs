//! One bottleneck with a drop-tail queue, then a delay line with jitter.

use std::collections::VecDeque;

use hopcast_wire::ecn::Ecn;

use crate::random::{Purpose, Stream};
use crate::time::{Duration, Instant};

/// What the path is like from now on.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Path {
    /// Capacity in b/s.
    pub(in super::super) rate: u64,
    /// One way, in either direction.
    pub(in super::super) delay: Duration,
    /// What waits at most, in bytes.
    pub(in super::super) queue: u64,
    /// Twice the standard deviation of a Gaussian that is cut there and at zero; it never reorders
    /// (RFC 8868, random bounded packet delay variation).
    pub(in super::super) jitter: Duration,
    /// The share of packets that are lost before the queue.
    pub(in super::super) loss: f64,
    /// ECN-capable packets that have waited for longer are marked: a step.
    pub(in super::super) mark_above: Option<Duration>,
}

impl Path {
    /// A lossless path with a queue of 300 ms (RFC 8867, section 4.2).
    pub(in super::super) fn new(rate: u64, delay_ms: u64) -> Self {
        let queue = rate * 300 / 8000;
        Self {
            rate,
            delay: Duration::from_millis(delay_ms),
            queue,
            jitter: Duration::ZERO,
            loss: 0.0,
            mark_above: None,
        }
    }
}

/// A packet on its way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    pub(super) flow: usize,
    pub(super) number: u64,
    pub(super) size: u32,
    pub(super) ecn: Ecn,
    queued: Instant,
}

/// The queue and the link behind it.
#[derive(Debug)]
pub(super) struct Bottleneck {
    pub(super) path: Path,
    queue: VecDeque<Waiting>,
    bytes: u64,
    draws: Stream,
    last_arrival: Instant,
}

impl Bottleneck {
    pub(super) fn new(path: Path, seed: u64) -> Self {
        let draws = Stream::new(seed, Purpose::LinkLoss, 0, 0);
        Self { path, queue: VecDeque::new(), bytes: 0, draws, last_arrival: Instant::START }
    }

    /// Takes a packet. Returns when the link finishes it, if it was idle.
    pub(super) fn push(&mut self, flow: usize, number: u64, size: u32, ecn: Ecn, now: Instant) -> Option<Instant> {
        let lost = self.path.loss > 0.0 && self.draws.unit() < self.path.loss;
        if lost || self.bytes + u64::from(size) > self.path.queue {
            return None;
        }
        self.bytes += u64::from(size);
        self.queue.push_back(Waiting { flow, number, size, ecn, queued: now });
        (self.queue.len() == 1).then(|| now + self.serialization(size))
    }

    fn serialization(&self, size: u32) -> Duration {
        Duration::from_nanos(u64::from(size) * 8_000_000_000 / self.path.rate)
    }

    /// The link has finished a packet: what leaves, when it arrives, and when the next one is finished.
    pub(super) fn pop(&mut self, now: Instant) -> (Waiting, Instant, Option<Instant>) {
        let mut packet = self.queue.pop_front().expect("a packet was on the link");
        self.bytes -= u64::from(packet.size);
        // Its sojourn ended when the link took it up.
        let waited = now.saturating_since(packet.queued).saturating_sub(self.serialization(packet.size));
        if packet.ecn.is_capable() && self.path.mark_above.is_some_and(|limit| waited > limit) {
            packet.ecn = Ecn::Ce;
        }
        let arrival = (now + self.path.delay + self.jitter()).max(self.last_arrival);
        self.last_arrival = arrival;
        let next = self.queue.front().map(|packet| packet.size).map(|size| now + self.serialization(size));
        (packet, arrival, next)
    }

    fn jitter(&mut self) -> Duration {
        if self.path.jitter == Duration::ZERO {
            return Duration::ZERO;
        }
        // Box and Muller, cut at two standard deviations.
        let radius = (-2.0 * libm::log(1.0 - self.draws.unit())).sqrt();
        let normal = radius * libm::cos(2.0 * core::f64::consts::PI * self.draws.unit());
        Duration::from_secs_f64(normal.abs().min(2.0) / 2.0 * self.path.jitter.as_secs_f64())
    }
}
