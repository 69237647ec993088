//! The card between a host and a radio: buffers, and the time that the processor takes to copy packets to and from them.
//!
//! The cards of S. Desilva and S. R. Das, "Experimental evaluation of a wireless ad hoc network" (2000), were slow enough
//! to halve a host's throughput: the processor copies each packet into a transmit buffer of the card before the card can
//! send it, and out of a receive buffer after the card has it. It copies one packet at a time, in whichever direction.
//! With one transmit buffer, copying and sending take turns; with more, they overlap. A packet that comes from the air
//! while all receive buffers are taken is lost.
//!
//! Copying takes time in proportion to a packet's bytes, IP header included. Packets that have arrived are copied before
//! those that are to be sent: an interrupt of the card comes before what waits in a queue. A copy that has begun is
//! finished. A packet that has expired by its turn is not copied.

#[cfg(test)]
mod tests;

use crate::host::{Neighbour, Sdu, Transmit};
use hopcast_protocols::time::{Duration, Instant};
use hopcast_radio::mac::{Payload, StationId};
use std::collections::VecDeque;
use std::rc::Rc;

/// Parameters of a card.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CardConfig {
    /// Packets that the card holds to be sent: the one that is copied, those that wait, the one on the air.
    pub transmit_buffers: u32,
    /// Packets that the card holds for the host: those that wait, the one that is copied.
    pub receive_buffers: u32,
    /// Nanoseconds to copy a byte to the card.
    pub copy_out: f64,
    /// Nanoseconds to copy a byte from the card.
    pub copy_in: f64,
    /// Places in the host's queue before the card.
    pub queue_packets: u32,
}

/// What a host's processor and cards hold.
#[derive(Clone, Debug)]
pub struct Cards {
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
    received: VecDeque<Copied>,
    /// Receive buffers that are taken.
    receiving: u32,
}

/// A packet that the processor copies, by radio.
#[derive(Clone, Debug)]
enum Copy {
    Out(Transmit),
    In(Copied),
}

/// A packet that has come from the air, to be copied to the host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Copied {
    /// The neighbour that it comes from, and the radio.
    pub from: Neighbour,
    /// The packet, or what else it is.
    pub sdu: Rc<Sdu>,
}

impl Cards {
    /// As many equal cards as the host has radios.
    pub fn new(config: CardConfig, radios: usize) -> Self {
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
    pub fn serves(&self, interface: u32) -> bool {
        (interface as usize) < self.cards.len()
    }

    /// Free places in the queue before a card.
    pub fn space(&self, interface: u32) -> usize {
        (self.config.queue_packets as usize).saturating_sub(self.cards[interface as usize].queue.len())
    }

    /// Takes a packet of the host; gives it back if the queue has no place.
    #[must_use]
    pub fn handle_transmit(&mut self, transmit: Transmit, now: Instant) -> Option<Transmit> {
        if self.space(transmit.hop.interface) == 0 {
            return Some(transmit);
        }
        self.cards[transmit.hop.interface as usize].queue.push_back(transmit);
        self.start(now);
        None
    }

    /// A packet has come from the air; gives it back if all receive buffers are taken.
    #[must_use]
    pub fn handle_received(&mut self, from: Neighbour, sdu: Rc<Sdu>, now: Instant) -> Option<Rc<Sdu>> {
        let card = &mut self.cards[from.interface as usize];
        if card.receiving >= self.config.receive_buffers {
            return Some(sdu);
        }
        card.receiving += 1;
        card.received.push_back(Copied { from, sdu });
        self.start(now);
        None
    }

    /// The radio is done with a packet, which leaves its transmit buffer.
    pub fn handle_done(&mut self, interface: u32, now: Instant) {
        self.cards[interface as usize].sending -= 1;
        self.start(now);
    }

    /// Takes all packets for a station out of the queue before a card, the oldest first.
    pub fn purge(&mut self, interface: u32, station: StationId) -> Vec<Rc<Sdu>> {
        let queue = &mut self.cards[interface as usize].queue;
        let (purged, kept): (Vec<_>, Vec<_>) =
            queue.drain(..).partition(|transmit| transmit.hop.station == Some(station));
        queue.extend(kept);
        purged.into_iter().map(|transmit| transmit.sdu).collect()
    }

    /// Ends the copy that is done by now, and begins the next one. Returns the packet if it is for the host.
    pub fn poll_copied(&mut self, now: Instant) -> Option<Copied> {
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

    /// The next packet that a card has, to be sent by its radio.
    pub fn poll_output(&mut self) -> Option<Transmit> {
        self.copied.pop_front()
    }

    /// The next packet that expired in the queue before its card, to be dropped.
    pub fn poll_expired(&mut self) -> Option<Transmit> {
        self.expired.pop_front()
    }

    /// Transmit buffers of each card.
    pub fn transmit_buffers(&self) -> u32 {
        self.config.transmit_buffers
    }

    /// When the copy that is under way is done.
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.copying.as_ref().map(|(_, end)| *end)
    }

    /// Packets that the host has given away, and that no radio has yet.
    pub fn outgoing(&self) -> impl Iterator<Item = &Sdu> {
        let copied = self.copying.iter().filter_map(|(copy, _)| match copy {
            Copy::Out(transmit) => Some(&*transmit.sdu),
            Copy::In(..) => None,
        });
        let queued = self.cards.iter().flat_map(|card| &card.queue);
        let waiting = self.copied.iter().chain(&self.expired).chain(queued);
        copied.chain(waiting.map(|transmit| &*transmit.sdu))
    }

    /// Packets that have come from the air, and that the host has not yet.
    pub fn incoming(&self) -> impl Iterator<Item = &Sdu> {
        let copied = self.copying.iter().filter_map(|(copy, _)| match copy {
            Copy::In(copied) => Some(&*copied.sdu),
            Copy::Out(_) => None,
        });
        copied.chain(self.cards.iter().flat_map(|card| &card.received).map(|copied| &*copied.sdu))
    }

    /// Packets in the queues before the cards.
    pub fn queued(&self) -> usize {
        self.cards.iter().map(|card| card.queue.len()).sum()
    }

    /// Whether the queue before any card is more than half full.
    pub fn is_any_queue_large(&self) -> bool {
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
                let end = now + copy_time(&copied.sdu, config.copy_in);
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
                let end = now + copy_time(&transmit.sdu, config.copy_out);
                self.copying = Some((Copy::Out(transmit), end));
                return;
            }
        }
    }
}

fn copy_time(sdu: &Sdu, nanos_per_octet: f64) -> Duration {
    Duration::from_nanos(libm::round(f64::from(sdu.octets()) * nanos_per_octet) as u64)
}
