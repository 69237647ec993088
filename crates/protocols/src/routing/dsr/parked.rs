//! Messages that wait for a route, as they do under ns-2's rules (`dsr/dsragent.cc`, stickPacketInSendBuffer): what could not be
//! delivered, and has no other way.

use std::collections::VecDeque;
use std::net::Ipv4Addr;
use std::sync::Arc;

use hopcast_wire::dsr::DsrOption;
use hopcast_wire::ipv4::Protocol;

use super::header::{self, Header};
use super::{Dsr, after};
use crate::routing::ROUTE_QUEUE_PACKETS;
use crate::time::Instant;

/// A message without a route.
#[derive(Debug)]
struct Message {
    source: Ipv4Addr,
    destination: Ipv4Addr,
    ttl: u8,
    /// How often it will have been salvaged.
    salvage: u8,
    /// The header with what the message says.
    octets: Arc<[u8]>,
    until: Instant,
}

/// Messages that wait, the oldest first: no more than packets with data.
#[derive(Debug, Default)]
pub(super) struct Parked(VecDeque<Message>);

#[cfg(test)]
impl Parked {
    /// How many messages wait.
    pub(super) fn size(&self) -> usize {
        self.0.len()
    }
}

impl Dsr {
    /// A message waits for a route to its destination, which this node looks for.
    pub(super) fn park(
        &mut self,
        source: Ipv4Addr,
        destination: Ipv4Addr,
        ttl: u8,
        salvage: u8,
        options: &[DsrOption<'_>],
        now: Instant,
    ) {
        let octets = header::emit(Protocol::NoNextHeader, options);
        let until = after(now, self.config.send_buffer_timeout);
        if self.parked.0.len() >= ROUTE_QUEUE_PACKETS as usize {
            self.parked.0.pop_front();
        }
        self.parked.0.push_back(Message { source, destination, ttl, salvage, octets, until });
        self.seek(destination, source == self.address, now);
    }

    /// Sends what has waited for a route to `destination`, which there is now.
    pub(super) fn send_parked(&mut self, destination: Ipv4Addr, now: Instant) {
        self.parked.0.retain(|message| now < message.until);
        let all = core::mem::take(&mut self.parked.0);
        let (found, left): (Vec<_>, _) = all.into_iter().partition(|message| message.destination == destination);
        self.parked.0 = left.into();
        for Message { source, ttl, salvage, octets, .. } in found {
            if let Some(route) = self.cache.search(destination, now)
                && let Some(Header { options, .. }) = Header::parse(&octets, 0)
            {
                self.send_along(source, ttl, &route.hops, options, salvage, now);
            }
        }
    }
}
