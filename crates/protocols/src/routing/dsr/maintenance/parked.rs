//! Messages that wait for a route, as they do under ns-2's rules (`dsr/dsragent.cc`, stickPacketInSendBuffer): what could not be
//! delivered, and has no other way.

use std::collections::VecDeque;
use std::net::Ipv4Addr;
use std::sync::Arc;

use hopcast_wire::dsr::DsrOption;
use hopcast_wire::ipv4::Protocol;

use super::super::header::{self, Header};
use super::super::table::Route;
use super::super::timers::after;
use super::super::{Dsr, Rules};
use crate::routing::{Message, ROUTE_QUEUE_PACKETS};
use crate::time::Instant;

/// What a message that has lost its route is, besides what it says.
#[derive(Clone, Copy, Debug)]
pub(in crate::routing::dsr) struct Unrouted {
    pub(in crate::routing::dsr) source: Ipv4Addr,
    pub(in crate::routing::dsr) destination: Ipv4Addr,
    pub(in crate::routing::dsr) ttl: u8,
    /// How often it will have been salvaged.
    pub(in crate::routing::dsr) salvage: u8,
}

/// Messages that wait, the oldest first, with what they say and until when: no more than packets with data.
#[derive(Debug, Default)]
pub(in crate::routing::dsr) struct Parked(VecDeque<(Unrouted, Arc<[u8]>, Instant)>);

#[cfg(test)]
impl Parked {
    /// How many messages wait.
    pub(in crate::routing::dsr) fn size(&self) -> usize {
        self.0.len()
    }
}

impl Dsr {
    /// Sends what a message says along this route from here. Without one it is lost or, under ns-2's rules, waits while this node looks
    /// for one.
    pub(in crate::routing::dsr) fn send_unrouted(
        &mut self,
        unrouted: Unrouted,
        options: Vec<DsrOption<'_>>,
        route: Option<&Route>,
        now: Instant,
    ) {
        let Unrouted { source, destination, ttl, salvage } = unrouted;
        match route {
            Some(route) => {
                if let Some(message) = self.message_along(&route.hops, options, salvage) {
                    let source = Some(source).filter(|&source| source != self.address);
                    self.send(Message { source, ttl, ..message }, now);
                }
            }
            None if self.config.rules == Rules::Ns2 => {
                let octets = header::emit(Protocol::NoNextHeader, &options);
                if self.parked.0.len() >= ROUTE_QUEUE_PACKETS as usize {
                    self.parked.0.pop_front();
                }
                self.parked.0.push_back((unrouted, octets, after(now, self.config.send_buffer_timeout)));
                self.start_discovery(destination, source == self.address, now);
            }
            None => {}
        }
    }

    /// Sends what has waited for a route to `destination`, which there is now.
    pub(in crate::routing::dsr) fn send_parked(&mut self, destination: Ipv4Addr, now: Instant) {
        self.parked.0.retain(|&(.., until)| now < until);
        let all = core::mem::take(&mut self.parked.0);
        let (found, left): (Vec<_>, _) =
            all.into_iter().partition(|(unrouted, ..)| unrouted.destination == destination);
        self.parked.0 = left.into();
        for (unrouted, octets, _) in found {
            if let Some(route) = self.cache.search(destination, now)
                && let Some(Header { options, .. }) = Header::parse(&octets, 0)
            {
                self.send_unrouted(unrouted, options, Some(&route), now);
            }
        }
    }
}
