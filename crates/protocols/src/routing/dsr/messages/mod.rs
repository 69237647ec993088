//! Messages: the DSR Options header, its options, and how they are sent.

pub(super) mod route_error;
pub(super) mod route_reply;
pub(super) mod route_request;

use std::net::Ipv4Addr;

use hopcast_wire::dsr::DsrOption;
use hopcast_wire::ipv4::Protocol;

use super::header::{self, Header};
use super::timers::{Timer, after};
use super::{Dsr, table};
use crate::routing::{Message, NextHop, Packet};
use crate::time::{Duration, Instant};

/// Time to live of messages that follow a source route, which has at most 64 hops.
pub(super) const TTL: u8 = 64;

impl Dsr {
    /// A message for this node, what it says of links being known already.
    pub(super) fn on_message(&mut self, packet: &Packet<'_>, header: &Header<'_>, from: NextHop, now: Instant) {
        if let Some(request) = header.route_request().filter(|_| packet.destination.is_broadcast()) {
            return self.on_request(packet, header, request, from, now);
        }
        self.on_replies(packet, header, from, now);
    }

    /// A message with these options, along this route from this node. One that was salvaged names this node in its route.
    pub(super) fn message_along(&self, hops: &[Ipv4Addr], options: Vec<DsrOption<'_>>, salvage: u8) -> Option<Message> {
        let (&destination, between) = hops.split_last()?;
        if hops.len() > table::MAX_HOPS - usize::from(salvage > 0) {
            return None;
        }
        let addresses = [&[self.address], between].concat();
        // A list of options that also may live no longer than the addresses.
        let mut options: Vec<DsrOption<'_>> = options;
        if salvage > 0 {
            options.push(DsrOption::SourceRoute(header::salvaged_route(&addresses, false, salvage)));
        } else if !between.is_empty() {
            options.push(DsrOption::SourceRoute(header::fresh_route(between, false)));
        }
        let octets = header::emit(Protocol::NoNextHeader, &options);
        Some(Message { source: None, destination, hop: Some(self.hop_to(hops[0])), ttl: TTL, octets })
    }

    /// Sends a message after a delay. There is a limit to how many wait, as to everything that comes from outside.
    pub(super) fn send_after(&mut self, delay: Duration, message: Message, now: Instant) {
        if delay == Duration::ZERO {
            self.send(message, now);
        } else if self.schedule.messages() < self.config.request_table_size * self.config.request_table_ids {
            self.schedule.add(after(now, delay), Timer::Send(message));
        }
    }
}
