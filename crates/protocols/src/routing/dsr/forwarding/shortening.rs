//! Automatic route shortening (RFC 4728, 3.4.3 and 8.1.5).

use std::net::Ipv4Addr;

use super::super::header::Header;
use super::super::timers::after;
use super::super::{Dsr, Rules};
use super::learning::Way;
use crate::routing::Packet;
use crate::time::Instant;

impl Dsr {
    /// A packet was heard that this node is to have later: the nodes between are not needed, and its source is told.
    pub(in crate::routing::dsr) fn shorten(
        &mut self,
        packet: &Packet<'_>,
        header: &Header<'_>,
        from: Ipv4Addr,
        receiver: Ipv4Addr,
        now: Instant,
    ) {
        if self.config.rules == Rules::Ns2 && !packet.has_data {
            return;
        }
        let Some(way) = Way::of(packet, header, from) else { return };
        let behind = way.sender + 2;
        let later = way.nodes.get(behind..).and_then(|rest| rest.iter().position(|&node| node == self.address));
        let Some(this) = later.map(|place| place + behind) else { return };
        // Of a packet that was salvaged it is not known how its source reaches the sender.
        if !way.is_whole || way.nodes[way.sender + 1] != receiver || packet.source == self.address {
            return;
        }
        let entry = (packet.source, from);
        if self.gratuitous.get(&entry).is_some_and(|&until| now < until) {
            return;
        }
        self.gratuitous.insert(entry, after(now, self.config.grat_reply_holdoff));
        let before = &way.nodes[..=way.sender];
        let mut route = before[1..].to_vec();
        route.extend(&way.nodes[this..]);
        let back: Vec<_> = before.iter().rev().copied().collect();
        let jitter = self.jitter_of_offer();
        self.send_reply(&route, &back, jitter, now);
    }
}
