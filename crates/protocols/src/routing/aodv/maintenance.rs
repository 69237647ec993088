//! Broken links and the local repair of routes (RFC 3561, sections 6.11 and 6.12).

use std::net::Ipv4Addr;

use hopcast_wire::aodv::MessageType;

use super::table::Route;
use super::{Aodv, LocalRepair};
use crate::routing::{LinkEvent, NextHop, Output, Packet, Verdict};
use crate::time::Instant;

/// Initial times to live of common hosts.
const FIRST_TTL: [u8; 4] = [32, 64, 128, 255];

impl Aodv {
    /// Something happened to a link; what to do with the packet that the event carries.
    pub(super) fn decide_after(&mut self, event: &LinkEvent<'_>, now: Instant) -> Verdict {
        let packet = match event {
            LinkEvent::NeighbourLost(hop) => {
                if self.config.link_detection.uses_link_layer() {
                    self.lose_link(*hop, now);
                }
                return Verdict::Drop;
            }
            LinkEvent::FrameDropped { hop, packet } => {
                let is_heard = packet.has_data || !self.config.is_ns2();
                if !self.config.link_detection.uses_link_layer() || !is_heard {
                    return Verdict::Drop;
                }
                if !packet.has_data && MessageType::of(packet.octets) == Some(MessageType::Reply) {
                    self.blacklist.insert(*hop, now);
                }
                if !self.lose_route(packet, *hop, now) {
                    self.lose_link(*hop, now);
                    if self.config.fails_as_ns2() {
                        return Verdict::Drop;
                    }
                }
                packet
            }
            LinkEvent::QueuePurged { .. } if self.config.fails_as_ns2() => return Verdict::Drop,
            LinkEvent::QueuePurged { packet, .. } => packet,
        };
        if packet.has_data { self.decide(packet, now) } else { Verdict::Drop }
    }

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
}

/// How many hops a packet has come, as its time to live tells: nothing else in it does.
fn hops_come(ttl: u8) -> u8 {
    FIRST_TTL.into_iter().find(|&first| first >= ttl).map_or(0, |first| first - ttl)
}
