//! Route errors, RERR (RFC 3561, section 6.11).

use std::net::Ipv4Addr;

use hopcast_wire::aodv::{ErrorRepr, Repr, Unreachable};

use super::super::Aodv;
use super::super::table::Route;
use super::super::table::precursors::Precursors;
use super::super::table::sequence::Sequence;
use crate::routing::{Message, NextHop, Output, Packet};
use crate::time::Instant;

/// Destinations in one message: it fits into 1500 bytes with its IP and UDP headers (20, 8), and its own (4).
const MAX_IN_MESSAGE: usize = (1500 - 20 - 8 - 4) / 8;

impl Aodv {
    /// Tells the nodes that send over these lost routes; ns-2 tells all neighbours of all of them. A destination without
    /// a number was never advertised.
    pub(in crate::routing::aodv) fn report_lost(&mut self, destinations: &[Ipv4Addr], now: Instant) {
        let tells_all = self.config.is_ns2();
        let is_used = |route: &Route| (tells_all || route.precursors != Precursors::None) && route.sequence.is_some();
        let told = destinations.iter().copied().filter(|&destination| self.table.get(destination).is_some_and(is_used));
        let told: Vec<_> = told.collect();
        self.report(&told, Precursors::None, false, now);
    }

    /// Tells the nodes that send over a repaired route that it is longer than it was (`hops`).
    pub(in crate::routing::aodv) fn report_repair(&mut self, destination: Ipv4Addr, hops: u8, now: Instant) {
        let route = self.table.numbered(destination).map(|(route, _)| route).filter(|route| route.hops > hops);
        if route.is_some_and(|route| route.precursors != Precursors::None) {
            self.report(&[destination], Precursors::None, true, now);
        }
    }

    /// Tells the neighbour that a packet came from, and other nodes that may send more, that there is no route. Does nothing where the
    /// configuration leaves that error out.
    pub(in crate::routing::aodv) fn report_unreachable(&mut self, packet: &Packet<'_>, now: Instant) {
        if !self.config.error_without_route {
            return;
        }
        let from = packet.from.map_or(Precursors::None, Precursors::One);
        // After a reboot nobody is known, and everybody is told (section 6.13).
        let recipients = if self.silent_until.is_some() { Precursors::Many } else { from };
        self.report(&[packet.destination], recipients, false, now);
    }

    pub(in crate::routing::aodv) fn handle_error(&mut self, error: &ErrorRepr<'_>, from: NextHop, now: Instant) {
        self.update_neighbour(from, now);
        let mut told = Vec::new();
        let mut is_any_lost = false;
        for Unreachable { destination, sequence } in error.unreachable.iter() {
            let is_affected = self.table.valid(destination).is_some_and(|route| route.hop == from);
            if !is_affected || destination == from.address {
                continue;
            }
            if !error.no_delete {
                // Zero is what a node writes that knows no number.
                let least = Some(Sequence(sequence)).filter(|_| sequence != 0);
                self.table.lose(destination, least, None, now);
                is_any_lost = true;
            }
            if self.table.get(destination).is_some_and(|route| route.precursors != Precursors::None) {
                told.push(destination);
            }
        }
        if is_any_lost && self.config.fails_as_ns2() {
            self.outputs.push_back(Output::Purge(from));
        }
        if self.silent_until.is_none() {
            self.report(&told, Precursors::None, error.no_delete, now);
        }
    }

    /// Sends an error about these destinations to their precursors and to `others`: to one neighbour alone, or to all, as ns-2
    /// does in any case.
    fn report(&mut self, destinations: &[Ipv4Addr], others: Precursors, no_delete: bool, now: Instant) {
        let precursors = destinations.iter().filter_map(|&destination| self.table.get(destination));
        let mut recipients = precursors.fold(others, |all, route| all.with(route.precursors));
        if self.config.is_ns2() && !destinations.is_empty() {
            recipients = Precursors::Many;
        }
        if recipients == Precursors::None {
            return;
        }
        for part in destinations.chunks(MAX_IN_MESSAGE) {
            if !self.errors.take(now) {
                return;
            }
            let number = |destination| {
                let known = self.table.get(destination).and_then(|Route { sequence, .. }| *sequence);
                Unreachable { destination, sequence: known.map_or(0, |sequence| sequence.0) }
            };
            let unreachable: Vec<_> = part.iter().copied().map(number).collect();
            let error = Repr::Error(ErrorRepr { no_delete, unreachable: unreachable[..].into() });
            match recipients {
                Precursors::One(hop) => self.send(hop, &error),
                Precursors::None | Precursors::Many => {
                    self.broadcast_with_jitter(Message::to_neighbours(error.to_octets()), now);
                }
            }
            if no_delete {
                continue;
            }
            for &destination in part {
                if let Some(precursors) = self.table.precursors_mut(destination) {
                    *precursors = Precursors::None;
                }
            }
        }
    }
}
