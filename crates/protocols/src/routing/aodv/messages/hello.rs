//! Hellos and other signs of neighbours (RFC 3561, sections 6.2, 6.9 and 9.1).

use hopcast_wire::aodv::{Extensions, ReplyFlags, ReplyRepr, Repr, hello_interval};

use super::super::Aodv;
use super::super::table::sequence::Sequence;
use super::super::table::{Offer, Route};
use super::reply::milliseconds;
use crate::routing::{Message, NextHop, Output};
use crate::time::{Duration, Instant};

/// The interval that neighbours take for granted (RFC 3561, section 10).
const DEFAULT_INTERVAL: Duration = Duration::from_secs(1);

impl Aodv {
    /// This node is part of an active route up to `until`, and lets its neighbours know that it is there.
    pub(in crate::routing::aodv) fn activate(&mut self, until: Instant, now: Instant) {
        self.active_until = self.active_until.max(until);
        if self.next_hello.is_none() {
            self.start_hellos(now);
        }
    }

    /// Hellos begin at an instant of this node's own.
    pub(in crate::routing::aodv) fn start_hellos(&mut self, now: Instant) {
        if self.config.link_detection.uses_hello() {
            let phase = self.random.duration_below(self.config.hello_interval);
            self.next_hello = Some(now + phase);
        }
    }

    /// Sends a hello if one is due. With suppression of hellos it does not if another broadcast has shown that this node is there.
    pub(in crate::routing::aodv) fn send_hello(&mut self, now: Instant) {
        let interval = self.config.hello_interval;
        let Some(due) = self.next_hello.filter(|&due| due <= now) else { return };
        if !self.config.hello_always && self.active_until <= now {
            self.next_hello = None;
            return;
        }
        // A driver that is late does not make up for what it missed.
        let next = due + interval;
        self.next_hello = Some(if next > now { next } else { now + interval });
        let is_known = self.config.hello_suppression && self.last_broadcast.is_some_and(|last| last + interval > now);
        if is_known || self.silent_until.is_some() {
            return;
        }
        let extension = hello_interval(milliseconds(interval));
        let extensions = if interval == DEFAULT_INTERVAL {
            Extensions::NONE
        } else {
            Extensions::new_checked(&extension, 0).expect("it is a hello interval")
        };
        let hello = ReplyRepr {
            flags: ReplyFlags::NONE,
            prefix_size: 0,
            hop_count: 0,
            destination: self.address,
            destination_sequence: self.sequence.0,
            // The RFC sets no originator; others write the address of the node here too.
            originator: self.address,
            lifetime: milliseconds(interval * u64::from(self.config.allowed_hello_loss)),
            extensions,
        };
        // Hellos are an interval apart by themselves: one that left late must not stand for the next.
        self.outputs.push_back(Output::Send(Message::to_neighbours(Repr::Reply(hello).to_octets())));
    }

    /// A reply that is not for this node alone.
    pub(in crate::routing::aodv) fn handle_hello(&mut self, hello: &ReplyRepr<'_>, from: NextHop, now: Instant) {
        let is_understood = !hello.extensions.iter().any(|extension| extension.kind.is_mandatory());
        if !is_understood || hello.destination != from.address || hello.hop_count != 0 {
            return;
        }
        let interval = hello.extensions.hello_interval().filter(|&interval| interval > 0);
        let interval = interval.map_or(self.config.hello_interval, |millis| Duration::from_millis(millis.into()));
        let patience = interval * u64::from(self.config.allowed_hello_loss);
        // Section 6.9: only a neighbour whose hello came within DELETE_PERIOD is watched.
        let patience = patience.min(self.config.delete_period());
        self.update_neighbour(from, now);
        // A hello makes no route expire earlier.
        let known = self.table.valid(from.address).map(Route::expires);
        let expires = known.map_or(now + patience, |known| known.max(now + patience));
        let sequence = Sequence(hello.destination_sequence);
        if self.table.adopt(&Offer { destination: from.address, sequence, hops: 1, hop: from, expires }, now) {
            self.handle_route(from.address, now);
        }
        self.extend_neighbour(from, expires, now);
        if self.config.link_detection.uses_hello() {
            self.neighbours.handle_hello(from, patience, now);
        }
    }

    /// A message of this neighbour has come: there is a route to it, but not to ns-2. Whether it is new.
    pub(in crate::routing::aodv) fn update_neighbour(&mut self, neighbour: NextHop, now: Instant) -> bool {
        if self.config.is_ns2() {
            return false;
        }
        let is_new = self.table.update_neighbour(neighbour, now + self.config.active_route_timeout, now);
        if is_new {
            self.handle_route(neighbour.address, now);
        }
        is_new
    }
}
