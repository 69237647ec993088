//! Wires: full-duplex links between two hosts, as two [`Wire`]s, one for each direction.
//!
//! A wire is a drop-tail queue, a transmitter that serialises one packet at a time at the rate of the link, and a medium
//! that carries any number of packets for the delay of the link. The time of a packet on the wire is its bytes, IP header
//! included, over the rate: links add no framing. Packets are lost at random and independently, after they have been
//! serialised. The wire does not send a packet that has expired before its turn.
//!
//! It is a machine without a clock: one change, then its outputs, then its timer.

#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use hopcast_protocols::random::Stream;
use hopcast_protocols::time::{Duration, Instant};
use hopcast_radio::mac::Payload;

/// Parameters of a link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// Capacity in bits of IP packets per second.
    pub rate: f64,
    /// Time from the last bit's departure at one end to its arrival at the other.
    pub delay: Duration,
    /// Length of the queue of each direction, not counting the packet that is being sent.
    pub queue_packets: u32,
    /// Share of packets that get lost.
    pub loss: f64,
}

/// An event at a wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output<P> {
    /// The packet has left, and is on its way.
    Sent(P),
    /// The packet has left and is lost.
    Lost(P),
    /// The packet had expired before its turn, and has not left.
    Expired(P),
    /// The packet has reached the other end.
    Deliver(P),
}

/// Counters of a wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Packets that left and were not lost.
    pub sent: u64,
    /// Packets that reached the other end.
    pub delivered: u64,
}

/// One direction of a link.
#[derive(Clone, Debug)]
pub struct Wire<P> {
    config: Config,
    /// Draws its losses.
    random: Stream,
    queue: VecDeque<P>,
    /// The packet that is sent, until when.
    sending: Option<(P, Instant)>,
    /// When the latest packet ended, and by how many nanoseconds more or less in truth: not a whole number.
    ended: (Instant, f64),
    /// Packets on their way, each with its arrival.
    in_flight: VecDeque<(P, Instant)>,
    outputs: VecDeque<Output<P>>,
    counters: Counters,
}

impl<P: Payload> Wire<P> {
    /// A silent wire. `random` draws its losses.
    pub fn new(config: Config, random: Stream) -> Self {
        Self {
            config,
            random,
            queue: VecDeque::with_capacity(config.queue_packets.min(1_024) as usize),
            sending: None,
            ended: (Instant::START, 0.0),
            in_flight: VecDeque::with_capacity(16),
            outputs: VecDeque::with_capacity(4),
            counters: Counters::default(),
        }
    }

    /// Accepts a packet; returns it if the queue is full.
    ///
    /// # Errors
    /// The packet.
    pub fn handle_packet(&mut self, packet: P, now: Instant) -> Result<(), P> {
        if self.sending.is_none() {
            self.send(packet, now);
        } else if self.space() == 0 {
            return Err(packet);
        } else {
            self.queue.push_back(packet);
        }
        Ok(())
    }

    /// The instant of [`Self::poll_timeout`] has come: the outputs of `now` are ready.
    pub fn handle_timeout(&mut self, now: Instant) {
        while self.in_flight.front().is_some_and(|(_, arrival)| *arrival <= now) {
            let Some((packet, _)) = self.in_flight.pop_front() else { break };
            self.counters.delivered += 1;
            self.outputs.push_back(Output::Deliver(packet));
        }
        let Some((packet, end)) = self.sending.take_if(|(_, end)| *end <= now) else { return };
        if self.config.loss > 0.0 && self.random.unit() < self.config.loss {
            self.outputs.push_back(Output::Lost(packet));
        } else {
            self.counters.sent += 1;
            self.in_flight.push_back((packet.clone(), end + self.config.delay));
            self.outputs.push_back(Output::Sent(packet));
        }
        while let Some(next) = self.queue.pop_front() {
            if !next.is_expired(end) {
                return self.send(next, end);
            }
            self.outputs.push_back(Output::Expired(next));
        }
    }

    /// Takes out the next output.
    pub fn poll_output(&mut self) -> Option<Output<P>> {
        self.outputs.pop_front()
    }

    /// Time of the next call of [`Self::handle_timeout`].
    pub fn poll_timeout(&self) -> Option<Instant> {
        let sent = self.sending.as_ref().map(|(_, end)| *end);
        let arrives = self.in_flight.front().map(|(_, arrival)| *arrival);
        sent.into_iter().chain(arrives).min()
    }

    /// Free places in the queue.
    pub fn space(&self) -> usize {
        (self.config.queue_packets as usize).saturating_sub(self.queue.len())
    }

    /// Packets in the queue.
    pub fn queued(&self) -> usize {
        self.queue.len()
    }

    /// The packets that have not left: the one being sent, then the queue.
    pub fn held(&self) -> impl Iterator<Item = &P> {
        self.sending.iter().map(|(packet, _)| packet).chain(&self.queue)
    }

    /// The packets that have left and not arrived.
    pub fn in_flight(&self) -> impl Iterator<Item = &P> {
        self.in_flight.iter().map(|(packet, _)| packet)
    }

    /// Counters so far.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Begins to send a packet, which takes its bytes over the rate. Its end is rounded to a nanosecond, and the next packet begins
    /// at the true one, so that packets in a row take their bytes over the rate together.
    fn send(&mut self, packet: P, now: Instant) {
        let rest = if self.ended.0 == now { self.ended.1 } else { 0.0 };
        let nanos = f64::from(packet.octets()) * 8e9 / self.config.rate + rest;
        let whole = libm::round(nanos).max(0.0);
        let end = now + Duration::from_nanos(whole as u64);
        self.ended = (end, nanos - whole);
        self.sending = Some((packet, end));
    }
}
