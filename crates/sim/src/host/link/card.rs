//! The card between a host and a radio: buffers, and the time that the processor takes to copy packets to and from them.
//!
//! The cards of S. Desilva and S. R. Das, "Experimental evaluation of a wireless ad hoc network" (2000), were slow enough
//! to halve a host's throughput: the processor copies each packet into a transmit buffer of the card before the card can
//! send it, and out of a receive buffer after the card has it. It copies one packet at a time, in whichever direction.
//! With one transmit buffer, copying and sending take turns; with more, they overlap. A packet that arrives while all
//! receive buffers are occupied is lost.
//!
//! Copying takes a fixed time, and more in proportion to a packet's bytes, IP header included. The processor copies arrived packets
//! before packets to send: an interrupt of the card comes before a queue. It finishes a copy that has begun. It does not copy packets that
//! have expired.

#[cfg(test)]
mod tests;

use crate::host::{Neighbour, Received, Sdu, Transmit};
use hopcast_protocols::time::{Duration, Instant};
use hopcast_radio::mac::{Payload, StationId};
use std::collections::VecDeque;
use std::rc::Rc;

/// Parameters of a card.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CardConfig {
    /// Number of packets that the card holds for sending: the one being copied, those that wait, and the one on the air.
    pub transmit_buffers: u32,
    /// Number of packets that the card holds for the host: those that wait, and the one being copied.
    pub receive_buffers: u32,
    /// To the card.
    pub copy_out: CopyTime,
    /// From the card.
    pub copy_in: CopyTime,
    /// Length of the host's queue before the card.
    pub queue_packets: u32,
}

/// Time to copy a packet, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CopyTime {
    /// For any packet.
    pub fixed: f64,
    /// For each byte.
    pub per_octet: f64,
}

impl CopyTime {
    fn of(self, sdu: &Sdu) -> Duration {
        Duration::from_nanos(libm::round(self.fixed + f64::from(sdu.octets()) * self.per_octet) as u64)
    }
}

/// The packets in a host's processor and cards.
#[derive(Clone, Debug)]
pub(crate) struct Cards {
    config: CardConfig,
    /// One for each radio.
    cards: Vec<Card>,
    copying: Option<(Copy, Instant)>,
    /// Packets that have been copied to a card.
    copied: VecDeque<Transmit>,
    /// Packets that had expired when their turn came to be copied to a card.
    expired: VecDeque<Transmit>,
}

/// One card.
#[derive(Clone, Debug)]
struct Card {
    /// Packets of the host that wait for a transmit buffer.
    queue: VecDeque<Transmit>,
    /// Transmit buffers that are taken.
    sending: u32,
    /// Packets in receive buffers, the one that is copied apart.
    received: VecDeque<Received>,
    /// Receive buffers that are taken.
    receiving: u32,
}

/// A packet that the processor copies, by radio.
#[derive(Clone, Debug)]
enum Copy {
    Out(Transmit),
    In(Received),
}

impl Cards {
    /// Equal cards, one for each radio of the host.
    pub(crate) fn new(config: CardConfig, radios: usize) -> Self {
        let card = Card {
            queue: VecDeque::with_capacity(config.queue_packets.min(1_024) as usize),
            sending: 0,
            received: VecDeque::with_capacity(config.receive_buffers.min(1_024) as usize),
            receiving: 0,
        };
        let (copied, expired) = (VecDeque::with_capacity(2), VecDeque::new());
        Self { config, cards: vec![card; radios], copying: None, copied, expired }
    }

    /// Whether the interface is a radio, and so has a card.
    pub(crate) fn serves(&self, interface: u32) -> bool {
        (interface as usize) < self.cards.len()
    }

    /// Free places in the queue before a card.
    pub(crate) fn space(&self, interface: u32) -> usize {
        (self.config.queue_packets as usize).saturating_sub(self.cards[interface as usize].queue.len())
    }

    /// Accepts a packet of the host; returns it if the queue is full.
    #[must_use]
    pub(crate) fn handle_transmit(&mut self, transmit: Transmit, now: Instant) -> Option<Transmit> {
        if self.space(transmit.hop.interface) == 0 {
            return Some(transmit);
        }
        self.cards[transmit.hop.interface as usize].queue.push_back(transmit);
        self.start(now);
        None
    }

    /// A packet has arrived from the air; returns it if all receive buffers are occupied.
    #[must_use]
    pub(crate) fn handle_received(&mut self, from: Neighbour, sdu: Rc<Sdu>, now: Instant) -> Option<Rc<Sdu>> {
        let card = &mut self.cards[from.interface as usize];
        if card.receiving >= self.config.receive_buffers {
            return Some(sdu);
        }
        card.receiving += 1;
        card.received.push_back(Received { from, sdu });
        self.start(now);
        None
    }

    /// The radio has finished with a packet, which leaves its transmit buffer.
    pub(crate) fn handle_done(&mut self, interface: u32, now: Instant) {
        self.cards[interface as usize].sending -= 1;
        self.start(now);
    }

    /// Removes all packets for a station from the queue before a card, the oldest first.
    pub(crate) fn purge(&mut self, interface: u32, station: StationId) -> Vec<Rc<Sdu>> {
        let queue = &mut self.cards[interface as usize].queue;
        let (purged, kept): (Vec<_>, Vec<_>) =
            queue.drain(..).partition(|transmit| transmit.hop.station == Some(station));
        queue.extend(kept);
        purged.into_iter().map(|transmit| transmit.sdu).collect()
    }

    /// Ends the copy that is complete by now, and begins the next one. Returns the packet if it is for the host.
    pub(crate) fn poll_copied(&mut self, now: Instant) -> Option<Received> {
        let (copy, _) = self.copying.take_if(|(_, end)| *end <= now)?;
        let copied = match copy {
            Copy::Out(transmit) => {
                self.copied.push_back(transmit);
                None
            }
            Copy::In(copied) => {
                self.cards[copied.from.interface as usize].receiving -= 1;
                Some(copied)
            }
        };
        self.start(now);
        copied
    }

    /// The next packet of a card for its radio.
    pub(crate) fn poll_output(&mut self) -> Option<Transmit> {
        self.copied.pop_front()
    }

    /// The next packet that expired in the queue before its card, to drop.
    pub(crate) fn poll_expired(&mut self) -> Option<Transmit> {
        self.expired.pop_front()
    }

    /// Transmit buffers of each card.
    pub(crate) fn transmit_buffers(&self) -> u32 {
        self.config.transmit_buffers
    }

    /// Time when the current copy is complete.
    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        self.copying.as_ref().map(|(_, end)| *end)
    }

    /// Packets that the host has passed on and no radio has received yet.
    pub(crate) fn outgoing(&self) -> impl Iterator<Item = &Sdu> {
        let copied = self.copying.iter().filter_map(|(copy, _)| match copy {
            Copy::Out(transmit) => Some(&*transmit.sdu),
            Copy::In(..) => None,
        });
        let queued = self.cards.iter().flat_map(|card| &card.queue);
        let waiting = self.copied.iter().chain(&self.expired).chain(queued);
        copied.chain(waiting.map(|transmit| &*transmit.sdu))
    }

    /// Packets that have arrived from the air and the host has not received yet.
    pub(crate) fn incoming(&self) -> impl Iterator<Item = &Sdu> {
        let copied = self.copying.iter().filter_map(|(copy, _)| match copy {
            Copy::In(copied) => Some(&*copied.sdu),
            Copy::Out(_) => None,
        });
        copied.chain(self.cards.iter().flat_map(|card| &card.received).map(|copied| &*copied.sdu))
    }

    /// Packets in the queues before the cards.
    pub(crate) fn queued(&self) -> usize {
        self.cards.iter().map(|card| card.queue.len()).sum()
    }

    /// Whether the queue before any card is more than half full.
    pub(crate) fn is_any_queue_large(&self) -> bool {
        self.cards.iter().any(|card| 2 * card.queue.len() > self.config.queue_packets as usize)
    }

    /// The processor takes the next packet, if it is free: one that has arrived, or else one that has a transmit buffer
    /// and has not expired.
    fn start(&mut self, now: Instant) {
        if self.copying.is_some() {
            return;
        }
        let config = &self.config;
        for card in &mut self.cards {
            if let Some(copied) = card.received.pop_front() {
                let end = now + config.copy_in.of(&copied.sdu);
                self.copying = Some((Copy::In(copied), end));
                return;
            }
        }
        for card in &mut self.cards {
            if card.sending >= config.transmit_buffers {
                continue;
            }
            while let Some(transmit) = card.queue.pop_front() {
                if transmit.sdu.is_expired(now) {
                    self.expired.push_back(transmit);
                    continue;
                }
                card.sending += 1;
                let end = now + config.copy_out.of(&transmit.sdu);
                self.copying = Some((Copy::Out(transmit), end));
                return;
            }
        }
    }
}
