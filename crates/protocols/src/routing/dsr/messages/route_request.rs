//! Route Requests (RFC 4728, 8.2.1 and 8.2.2).

use std::net::Ipv4Addr;
use std::sync::Arc;

use hopcast_wire::dsr::{Addresses, DsrOption, MAX_ADDRESSES_OF_REQUEST, RouteRequest};
use hopcast_wire::ipv4::Protocol;

use super::super::Dsr;
use super::super::forwarding::{marked, passed_on};
use super::super::header::{self, Header};
use super::super::neighbours::blacklist::Unidirectional;
use super::super::table::has_duplicates;
use super::super::timers::{Key, Timer, after};
use crate::routing::{Message, NextHop, Output, Packet};
use crate::time::Instant;

/// A Route Request from a neighbour that may not hear this node (8.2.2).
#[derive(Debug)]
pub(in crate::routing::dsr) struct HeldRequest {
    source: Ipv4Addr,
    ttl: u8,
    from: NextHop,
    octets: Arc<[u8]>,
    timer: Key,
}

impl Dsr {
    /// A Route Request of this node, preceded by errors to spread (3.4.4), so that no node answers it from routes that
    /// the error disproves.
    pub(in crate::routing::dsr) fn request(
        &mut self,
        target: Ipv4Addr,
        ttl: u8,
        hop: Option<NextHop>,
        now: Instant,
    ) -> Message {
        let identification = self.requests.next_identification();
        let mut options = Vec::with_capacity(2);
        options.extend(self.error_to_spread(now));
        options.push(DsrOption::RouteRequest(RouteRequest { identification, target, addresses: Addresses::NONE }));
        let octets = header::emit(Protocol::NoNextHeader, &options);
        Message { source: None, destination: Ipv4Addr::BROADCAST, hop, ttl, octets }
    }

    /// A Route Request has arrived (8.2.2).
    pub(super) fn on_request(
        &mut self,
        packet: &Packet<'_>,
        header: &Header<'_>,
        request: RouteRequest<'_>,
        from: NextHop,
        now: Instant,
    ) {
        let RouteRequest { identification, target, addresses } = request;
        let initiator = packet.source;
        let mut passed: Vec<_> = core::iter::once(initiator).chain(addresses.iter()).collect();
        if passed.last() != Some(&from.address) || has_duplicates(&passed) {
            return;
        }
        if passed.contains(&self.address) {
            if passed.len() >= 2 && passed[passed.len() - 2] == self.address {
                // It has heard this node send the request.
                self.on_heard_by(from, now);
            }
            return;
        }
        if target == self.address {
            passed.push(target);
            let back: Vec<_> = passed[..passed.len() - 1].iter().rev().copied().collect();
            let jitter = self.random.duration_below(self.config.broadcast_jitter);
            return self.send_reply(&passed[1..], &back, jitter, now);
        }
        match self.blacklist.state(from.address, now) {
            Some(Unidirectional::Probable) => return,
            Some(Unidirectional::Questionable) => return self.probe(packet, from, now),
            None => {}
        }
        if self.requests.is_seen(initiator, identification, target) {
            return;
        }
        if !self.reply_from_cache(&passed, target, now) && packet.ttl > 1 {
            self.propagate(packet, header, request, now);
        }
    }

    fn propagate(&mut self, packet: &Packet<'_>, header: &Header<'_>, request: RouteRequest<'_>, now: Instant) {
        if request.addresses.len() >= MAX_ADDRESSES_OF_REQUEST {
            return;
        }
        let mut addresses: Vec<_> = request.addresses.iter().collect();
        addresses.push(self.address);
        let marked = marked(&header.options);
        let mut options = passed_on(&header.options, &marked);
        for option in &mut options {
            if let DsrOption::RouteRequest(request) = option {
                request.addresses = Addresses::List(&addresses);
            }
        }
        let octets = header::emit(header.next_header, &options);
        let message = Message {
            source: Some(packet.source),
            destination: Ipv4Addr::BROADCAST,
            hop: None,
            ttl: packet.ttl - 1,
            octets,
        };
        let jitter = self.random.duration_below(self.config.broadcast_jitter);
        self.send_after(jitter, message, now);
    }

    /// Asks a neighbour to answer, before its request is believed (8.2.2).
    fn probe(&mut self, packet: &Packet<'_>, from: NextHop, now: Instant) {
        let is_full = self.held_requests.len() >= self.config.request_table_size;
        if is_full || self.held_requests.contains_key(&from.address) {
            return;
        }
        let timer = self.schedule.add(after(now, self.config.nonprop_request_timeout), Timer::Probe(from.address));
        let held = HeldRequest { source: packet.source, ttl: packet.ttl, from, octets: packet.octets.into(), timer };
        self.held_requests.insert(from.address, held);
        let message = self.request(from.address, 1, Some(from), now);
        self.outputs.push_back(Output::Send(message));
    }

    /// A neighbour has shown that it hears this node.
    pub(super) fn on_heard_by(&mut self, neighbour: NextHop, now: Instant) {
        self.blacklist.remove(neighbour.address);
        let Some(held) = self.held_requests.remove(&neighbour.address) else { return };
        self.schedule.cancel(held.timer);
        let packet = Packet {
            source: held.source,
            destination: Ipv4Addr::BROADCAST,
            ttl: held.ttl,
            from: Some(held.from),
            octets: &held.octets,
            has_data: false,
            protocol: 0,
            identification: 0,
            fragment_offset: 0,
        };
        if let Some(header) = Header::parse(packet.octets, 0) {
            self.learn(&packet, &header, held.from.address, None, now);
            self.on_message(&packet, &header, held.from, now);
        }
    }
}
