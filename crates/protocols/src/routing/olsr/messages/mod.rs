//! Messages: what each that arrives does, and what is sent.

pub(super) mod duplicates;
pub(super) mod outbox;

use hopcast_wire::olsr::{self, MESSAGE_HEADER_LEN, MessageRepr, MessageType, TimeCode, hello, mid, tc};

use super::Olsr;
use super::neighbours::Hello;
use super::timers::{jitter, to_next};
use crate::routing::{NextHop, Packet};
use crate::time::{Duration, Instant};

impl Olsr {
    /// A packet of messages has arrived.
    pub(super) fn handle_octets(&mut self, packet: &Packet<'_>, now: Instant) {
        let Some(from) = packet.from.filter(|from| from.address != self.address) else { return };
        let Ok(view) = olsr::Packet::new_checked(packet.octets) else { return };
        let changes = self.neighbourhood.handle_packet(from, view.sequence(), now);
        self.apply(changes, now);
        for message in view.messages().flatten() {
            self.handle_one(from, view.sequence(), message, now);
        }
    }

    fn handle_one(&mut self, from: NextHop, sequence: u16, message: olsr::Message<'_>, now: Instant) {
        let header = message.header();
        if header.time_to_live == 0 || header.originator == self.address || header.originator.is_unspecified() {
            return;
        }
        let validity = Duration::from_nanos(header.validity.as_nanos());
        if header.kind == MessageType::Hello {
            if let Ok(body) = hello::View::new_checked(message.body()) {
                let hello = Hello { from, sequence, originator: header.originator, validity, body };
                let main = |address| self.interfaces.main(address, now);
                let changes = self.neighbourhood.handle_hello(hello, self.address, main, now);
                self.apply(changes, now);
            }
            return;
        }
        // All others are heeded and passed on only if they come from a neighbour in both directions (3.4.1, 5.4, 9.5).
        let Some(sender) = self.neighbourhood.symmetric(from, now) else { return };
        let standing = self.duplicates.handle_message(header.originator, header.sequence, from.interface, now);
        if standing.is_new {
            let is_changed = match header.kind {
                MessageType::Tc => tc::View::new_checked(message.body()).is_ok_and(|body| {
                    let neighbours = body.neighbours().iter();
                    self.topology.handle_tc(header.originator, body.ansn(), neighbours, now + validity, now)
                }),
                MessageType::Mid => mid::View::new_checked(message.body()).is_ok_and(|body| {
                    let interfaces = body.interfaces().iter().filter(|&address| address != self.address);
                    self.interfaces.handle_mid(header.originator, interfaces, now + validity, now)
                }),
                _ => false,
            };
            if is_changed {
                self.is_stale.set(true);
            }
        }
        if standing.may_pass && header.time_to_live > 1 && self.neighbourhood.is_selector(sender, now) {
            self.duplicates.pass_on(header.originator, header.sequence);
            let header = MessageRepr {
                time_to_live: header.time_to_live - 1,
                hop_count: header.hop_count.saturating_add(1),
                ..header
            };
            self.outbox.push(header, message.body());
            if self.pass_at.is_none() {
                self.pass_at = Some(now + jitter(self.config.max_jitter(), &mut self.random));
            }
        }
    }

    /// HELLO messages for one interface: several where one would not fit into a packet (6.2).
    pub(super) fn hellos(&mut self, interface: u32, now: Instant) -> Vec<Vec<u8>> {
        /// Length of a HELLO, or of a link message, without addresses.
        const FIXED: usize = 4;
        let empty = hello::Repr {
            interval: TimeCode::from_nanos(self.config.hello_interval.as_nanos()),
            willingness: self.config.willingness,
            links: Vec::new(),
        };
        let mut reprs = vec![empty.clone()];
        let room = self.config.payload() - MESSAGE_HEADER_LEN;
        let mut length = FIXED;
        for (code, addresses) in self.neighbourhood.links_on(interface, now) {
            let mut addresses = &addresses[..];
            while !addresses.is_empty() {
                if length + FIXED + 4 > room {
                    reprs.push(empty.clone());
                    length = FIXED;
                }
                let (said, rest) = addresses.split_at(addresses.len().min((room - length - FIXED) / 4));
                reprs.last_mut().expect("there is one").links.push((code, said.to_vec()));
                length += FIXED + said.len() * 4;
                addresses = rest;
            }
        }
        let message = |repr: &hello::Repr| {
            let mut body = vec![0; repr.buffer_len()];
            repr.emit(&mut body);
            self.message(MessageType::Hello, self.config.neighbour_hold(), 1, &body)
        };
        reprs.iter().map(message).collect()
    }

    /// TC messages that are due, if there is something to advertise or to take back (9.3).
    pub(super) fn tcs(&mut self, now: Instant) -> Vec<Vec<u8>> {
        self.tc_at = now + to_next(&self.config, self.config.tc_interval, &mut self.random);
        let advertised = self.neighbourhood.advertised(now);
        if advertised != self.advertised {
            self.ansn = self.ansn.wrapping_add(1);
            self.advertised = advertised;
        }
        let hold = self.config.topology_hold();
        if !self.advertised.is_empty() {
            self.empty_until = now + hold;
        } else if self.empty_until <= now {
            return Vec::new();
        }
        self.last_tc = Some(now);
        let most = (self.config.payload() - MESSAGE_HEADER_LEN - 4) / 4;
        let parts = self.advertised.len().div_ceil(most).max(1);
        let part = |nth: usize| {
            let neighbours = self.advertised[nth * most..self.advertised.len().min((nth + 1) * most)].to_vec();
            let repr = tc::Repr { ansn: self.ansn, neighbours };
            let mut body = vec![0; repr.buffer_len()];
            repr.emit(&mut body);
            body
        };
        let bodies: Vec<_> = (0..parts).map(part).collect();
        bodies.iter().map(|body| self.message(MessageType::Tc, hold, 255, body)).collect()
    }

    fn message(&mut self, kind: MessageType, validity: Duration, time_to_live: u8, body: &[u8]) -> Vec<u8> {
        let header = MessageRepr {
            kind,
            validity: TimeCode::from_nanos(validity.as_nanos()),
            originator: self.address,
            time_to_live,
            hop_count: 0,
            sequence: self.sequence,
            body_len: body.len() as u16,
        };
        self.sequence = self.sequence.wrapping_add(1);
        let mut octets = Vec::new();
        header.push(&mut octets, body);
        octets
    }
}
