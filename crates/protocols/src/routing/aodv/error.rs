//! Broken links, route errors (RERR) and local repair (RFC 3561, sections 6.11 and 6.12).

use std::net::Ipv4Addr;

use hopcast_wire::aodv::{ErrorRepr, Repr, Unreachable};

use super::recipients::Recipients;
use super::sequence::Sequence;
use super::table::Route;
use super::{Aodv, LocalRepair};
use crate::routing::{Message, NextHop, Output, Packet};
use crate::time::Instant;

/// What hosts set the time to live to.
const FIRST_TTL: [u8; 4] = [32, 64, 128, 255];

/// Destinations in one message: it fits into 1500 octets with its IP and UDP headers (20, 8), and its own (4).
const MAX_IN_MESSAGE: usize = (1500 - 20 - 8 - 4) / 8;

impl Aodv {
    /// The link to a neighbour is broken. Routes that may be repaired are not given up yet.
    pub(super) fn lose_link(&mut self, hop: NextHop, now: Instant) {
        let lost = self.table.over(hop);
        let fails_as_ns2 = self.config.fails_as_ns2();
        if lost.is_empty() && !fails_as_ns2 {
            return;
        }
        let mut given_up = if fails_as_ns2 { self.close_repairs(hop) } else { Vec::new() };
        self.outputs.push_back(Output::Purge(hop));
        for destination in lost {
            let Some(route) = self.table.get(destination) else { continue };
            if self.config.local_repair == LocalRepair::Near && route.hops <= self.config.max_repair_ttl() {
                self.lose_repairable(destination, now);
            } else {
                self.table.lose(destination, None, None, now);
                given_up.push(destination);
            }
        }
        self.report_lost(&given_up, now);
    }

    /// The link layer has given up a packet for a neighbour. Where that is to cost the packet's route alone, and not the link,
    /// the route is broken, and may be repaired; whether it is so.
    pub(super) fn lose_route(&mut self, packet: &Packet<'_>, hop: NextHop, now: Instant) -> bool {
        if self.config.local_repair != LocalRepair::NearerThanSource || !packet.has_data {
            return false;
        }
        let destination = packet.destination;
        let is_nearer = |route: &&Route| route.hops < hops_come(packet.ttl);
        let Some(route) = self.table.get(destination).filter(is_nearer) else { return false };
        if !route.is_valid() {
            return self.discoveries.is_repairing(destination);
        }
        if route.hop == hop {
            self.lose_repairable(destination, now);
        }
        true
    }

    /// Packets of others wait no more for the repair of a route that was over this neighbour; which those are.
    fn close_repairs(&mut self, hop: NextHop) -> Vec<Ipv4Addr> {
        let was_over = |destination: &Ipv4Addr| self.table.get(*destination).is_some_and(|route| route.hop == hop);
        let closed: Vec<_> = self.discoveries.repairs().filter(was_over).collect();
        for &destination in &closed {
            self.discoveries.close_repair(destination);
            self.table.give_up(destination);
        }
        closed
    }

    fn lose_repairable(&mut self, destination: Ipv4Addr, now: Instant) {
        self.table.lose(destination, None, Some(now + self.config.active_route_timeout), now);
    }

    /// Looks for another way to the destination of a packet that this node is to pass on, if the route there has just broken
    /// near enough; whether it does.
    pub(super) fn start_repair(&mut self, packet: &Packet<'_>, now: Instant) -> bool {
        let destination = packet.destination;
        let Some(route) = self.table.get(destination).filter(|route| route.is_repairable(now)) else { return false };
        let to_source = self.table.get(packet.source).map_or(0, |route| route.hops);
        self.discoveries.repair(destination, route.hops, to_source, &self.config);
        true
    }

    /// Tells whoever sends over these lost routes; ns-2 tells all neighbours of all of them. Of a destination without number nobody
    /// was ever told.
    pub(super) fn report_lost(&mut self, destinations: &[Ipv4Addr], now: Instant) {
        let tells_all = self.config.is_ns2();
        let is_used = |route: &Route| (tells_all || route.precursors != Recipients::None) && route.sequence.is_some();
        let told = destinations.iter().copied().filter(|&destination| self.table.get(destination).is_some_and(is_used));
        let told: Vec<_> = told.collect();
        self.report(&told, Recipients::None, false, now);
    }

    /// Tells whoever sends over a repaired route that it is longer than it was (`hops`).
    pub(super) fn report_repair(&mut self, destination: Ipv4Addr, hops: u8, now: Instant) {
        let route = self.table.numbered(destination).map(|(route, _)| route).filter(|route| route.hops > hops);
        if route.is_some_and(|route| route.precursors != Recipients::None) {
            self.report(&[destination], Recipients::None, true, now);
        }
    }

    /// Tells the neighbour that a packet came from, and whoever else may send others, that there is no route.
    pub(super) fn report_unreachable(&mut self, packet: &Packet<'_>, now: Instant) {
        let from = packet.from.map_or(Recipients::None, Recipients::One);
        // After a reboot nobody is known, and everybody is told (section 6.13).
        let recipients = if self.silent_until.is_some() { Recipients::Many } else { from };
        self.report(&[packet.destination], recipients, false, now);
    }

    pub(super) fn handle_error(&mut self, error: &ErrorRepr<'_>, from: NextHop, now: Instant) {
        self.greet(from, now);
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
            if self.table.get(destination).is_some_and(|route| route.precursors != Recipients::None) {
                told.push(destination);
            }
        }
        if is_any_lost && self.config.fails_as_ns2() {
            self.outputs.push_back(Output::Purge(from));
        }
        if self.silent_until.is_none() {
            self.report(&told, Recipients::None, error.no_delete, now);
        }
    }

    /// Sends an error about these destinations to their precursors and to `others`: to one neighbour alone, or to all, as ns-2
    /// does in any case.
    fn report(&mut self, destinations: &[Ipv4Addr], others: Recipients, no_delete: bool, now: Instant) {
        let precursors = destinations.iter().filter_map(|&destination| self.table.get(destination));
        let mut recipients = precursors.fold(others, |all, route| all.with(route.precursors));
        if self.config.is_ns2() && !destinations.is_empty() {
            recipients = Recipients::Many;
        }
        if recipients == Recipients::None {
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
                Recipients::One(hop) => self.send(hop, &error),
                Recipients::None | Recipients::Many => {
                    self.broadcast_with_jitter(Message::to_neighbours(error.to_octets()), now);
                }
            }
            if no_delete {
                continue;
            }
            for &destination in part {
                if let Some(precursors) = self.table.precursors_mut(destination) {
                    *precursors = Recipients::None;
                }
            }
        }
    }
}

/// How many hops a packet has come, as its time to live tells: nothing else in it does.
fn hops_come(ttl: u8) -> u8 {
    FIRST_TTL.into_iter().find(|&first| first >= ttl).map_or(0, |first| first - ttl)
}
