//! Wires: full-duplex links between two hosts, as two [`Wire`]s, one for each direction.
//!
//! A wire is a queue under a discipline, a transmitter that serialises one packet at a time at the rate of the link, and a medium
//! that carries any number of packets for the delay of the link. The time of a packet on the wire is its bytes, IP header
//! included, over the rate: links add no framing. Packets are lost at random and independently, after they have been
//! serialised. The wire does not send a packet that has expired before its turn.
//!
//! Rate, delay and loss may change in time, and a trace of delivery opportunities may stand in for the rate. A change costs no event:
//! when the last bit of a packet leaves is known when its first one does.
//!
//! It is a machine without a clock: one change, then its outputs, then its timer.

mod opportunities;
mod rate;
mod steps;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use hopcast_protocols::random::Stream;
use hopcast_protocols::time::{Duration, Instant};
use hopcast_radio::mac::Payload;
use hopcast_radio::queue::{Discipline, PacketQueue, Reason};

pub(crate) use opportunities::Opportunities;
use opportunities::Progress;
pub(crate) use rate::SteppedRate;
pub(crate) use steps::Steps;

/// Parameters of a wire.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// When packets leave.
    pub capacity: Capacity,
    /// Time from the last bit's departure at one end to its arrival at the other: the value at the departure. No packet overtakes
    /// another.
    pub delay: Steps<Duration>,
    /// Length of the queue, not counting the packet that is being sent.
    pub queue_packets: u32,
    /// Discipline of the queue: one that makes room for a new packet only by refusing it.
    pub discipline: Discipline,
    /// Share of packets that get lost: the value at the departure.
    pub loss: Steps<f64>,
}

/// When packets leave a wire.
#[derive(Clone, Debug, PartialEq)]
pub enum Capacity {
    /// Each packet takes its bits over the rate.
    Rate(SteppedRate),
    /// At the delivery opportunities of a trace.
    Opportunities(Opportunities),
}

impl Capacity {
    /// No limit: a packet takes no time.
    pub fn unlimited() -> Self {
        Self::Rate(SteppedRate::constant(f64::INFINITY))
    }

    /// Whether no packet ever takes time.
    pub fn is_unlimited(&self) -> bool {
        *self == Self::unlimited()
    }
}

impl Config {
    /// A wire that never changes: capacity in bits of IP packets per second, delay, length of the queue, share of packets that get lost.
    pub fn constant(rate: f64, delay: Duration, queue_packets: u32, loss: f64) -> Self {
        let capacity = Capacity::Rate(SteppedRate::constant(rate));
        Self {
            capacity,
            delay: Steps::constant(delay),
            queue_packets,
            discipline: Discipline::DropTail,
            loss: Steps::constant(loss),
        }
    }
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
    /// The discipline of the queue has dropped the packet, and it has not left.
    Dropped(P),
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
    queue: PacketQueue<P>,
    /// When the latest packet came to the queue, and how many with it.
    queued_last: (Instant, usize),
    /// The packet that is sent, until when; [`Instant::MAX`]: it never ends.
    sending: Option<(P, Instant)>,
    /// When the latest packet ended, and by how many nanoseconds more or less in truth: not a whole number.
    ended: (Instant, f64),
    /// Of the opportunities of a trace.
    progress: Progress,
    /// Packets on their way, each with its arrival.
    in_flight: VecDeque<(P, Instant)>,
    outputs: VecDeque<Output<P>>,
    counters: Counters,
}

impl<P: Payload> Wire<P> {
    /// A silent wire. `random` draws its losses.
    pub fn new(config: Config, random: Stream) -> Self {
        Self {
            random,
            queue: PacketQueue::new(config.discipline, config.queue_packets),
            queued_last: (Instant::START, 0),
            sending: None,
            ended: (Instant::START, 0.0),
            progress: Progress::default(),
            in_flight: VecDeque::with_capacity(16),
            outputs: VecDeque::with_capacity(4),
            counters: Counters::default(),
            config,
        }
    }

    /// Takes a packet, and hands `dropped` what has no place: the packet itself, or those that the discipline drops for it.
    pub fn handle_packet(&mut self, packet: P, now: Instant, dropped: impl FnMut(P, Reason)) {
        if self.sending.is_none() {
            self.send(packet, now, true);
            return;
        }
        let before = self.queue.len();
        self.queue.push(packet, now, dropped);
        if self.queue.len() > before {
            let together = if self.queued_last.0 == now { self.queued_last.1 } else { 0 };
            self.queued_last = (now, together + 1);
        }
    }

    /// The instant of [`Self::poll_timeout`] has come: the outputs of `now` are ready.
    pub fn handle_timeout(&mut self, now: Instant) {
        while self.in_flight.front().is_some_and(|(_, arrival)| *arrival <= now) {
            let Some((packet, _)) = self.in_flight.pop_front() else { break };
            self.counters.delivered += 1;
            self.outputs.push_back(Output::Deliver(packet));
        }
        let Some((packet, end)) = self.sending.take_if(|(_, end)| *end <= now) else { return };
        let loss = self.config.loss.at(end);
        if loss > 0.0 && self.random.unit() < loss {
            self.outputs.push_back(Output::Lost(packet));
        } else {
            self.counters.sent += 1;
            let arrival = end + self.config.delay.at(end);
            let arrival = self.in_flight.back().map_or(arrival, |&(_, before)| arrival.max(before));
            self.in_flight.push_back((packet.clone(), arrival));
            self.outputs.push_back(Output::Sent(packet));
        }
        let outputs = &mut self.outputs;
        let next = self.queue.pop(end, |packet, reason| {
            outputs.push_back(match reason {
                Reason::Expired => Output::Expired(packet),
                Reason::Full | Reason::Management => Output::Dropped(packet),
            });
        });
        if let Some(next) = next {
            let has_just_come = self.queued_last.0 == end && self.queue.len() < self.queued_last.1;
            self.send(next, end, has_just_come);
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
        sent.into_iter().chain(arrives).min().filter(|due| *due < Instant::MAX)
    }

    /// Free places in the queue.
    pub fn space(&self) -> usize {
        self.queue.space()
    }

    /// Packets in the queue.
    pub fn queued(&self) -> usize {
        self.queue.len()
    }

    /// Packets that the queue has marked (ECN).
    pub fn marked(&self) -> u64 {
        self.queue.marked()
    }

    /// Whether the queue is more than half full.
    pub fn is_queue_large(&self) -> bool {
        2 * self.queue.len() > self.config.queue_packets as usize
    }

    /// The packets that have not left: the one being sent, then the queue.
    pub fn held(&self) -> impl Iterator<Item = &P> {
        self.sending.iter().map(|(packet, _)| packet).chain(self.queue.iter())
    }

    /// The packets that have left and not arrived.
    pub(crate) fn in_flight(&self) -> impl Iterator<Item = &P> {
        self.in_flight.iter().map(|(packet, _)| packet)
    }

    /// Counters so far.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Begins to send a packet, which has come now or waited. At a rate it takes its bytes over that. Its end is rounded to a
    /// nanosecond, and the next packet begins at the true one, so that packets in a row take their bytes over the rate together.
    fn send(&mut self, packet: P, now: Instant, has_just_come: bool) {
        let end = match &self.config.capacity {
            Capacity::Rate(rate) => {
                let rest = if self.ended.0 == now { self.ended.1 } else { 0.0 };
                match rate.nanos(packet.octets(), now, rest) {
                    None => Instant::MAX,
                    Some(nanos) => {
                        let whole = libm::round(nanos).max(0.0);
                        let end = now + Duration::from_nanos(whole as u64);
                        self.ended = (end, nanos - whole);
                        end
                    }
                }
            }
            Capacity::Opportunities(opportunities) => {
                if has_just_come {
                    opportunities.wait(&mut self.progress, now);
                }
                opportunities.send(&mut self.progress, packet.octets(), now)
            }
        };
        self.sending = Some((packet, end));
    }
}
