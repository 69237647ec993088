//! Packets inside real hosts that should forward them: their information for measurement waits here.

use std::collections::VecDeque;
use std::sync::Arc;

use hopcast_protocols::time::{Duration, Instant};
use hopcast_wire::ecn::Ecn;

use crate::host::packet::{Ipv4, Packet, Part, Tag};
use crate::id::NodeId;
use crate::metrics::FlowTable;

/// They and when they came.
#[derive(Debug, Default)]
pub(super) struct Transit {
    /// The earliest first.
    packets: VecDeque<InTransit>,
}

#[derive(Debug)]
struct InTransit {
    node: NodeId,
    since: Instant,
    ip: Ipv4,
    part: Arc<Part>,
    tag: Tag,
}

/// A packet that a real host has not passed on for so long is lost there: its kernel takes a fraction of a millisecond.
const LONGEST: Duration = Duration::from_secs(1);
/// The most packets; when there are more, the earliest is lost.
const MOST: usize = 4096;

impl Transit {
    /// The real host at `node` was given `packet` at `now`, which is for another one.
    pub(super) fn insert(&mut self, packet: &Packet, node: NodeId, flows: &mut FlowTable, now: Instant) {
        self.expire(flows, now);
        if self.packets.len() == MOST {
            self.lose_first(flows);
        }
        if let Some(part) = packet.part.clone() {
            self.packets.push_back(InTransit { node, since: now, ip: packet.ip, part, tag: packet.tag });
        }
    }

    /// Takes out what is known of `packet`, which the real host at `node` passes on: the earliest with the same datagram in it.
    pub(super) fn take(&mut self, packet: &Packet, node: NodeId) -> Option<Tag> {
        let carried = packet.real()?.payload(&packet.ip);
        let is_same = |held: &InTransit| {
            // All that a router leaves as it is (RFC 1812, section 5.3): not the time to live, nor ECN (RFC 3168, section 5).
            let left_alone = |ip| Ipv4 { ttl: 0, ecn: Ecn::NotEct, ..ip };
            left_alone(held.ip) == left_alone(packet.ip)
                && held.part.real.as_ref().is_some_and(|part| part.payload(&held.ip) == carried)
        };
        let place = self.packets.iter().position(|held| held.node == node && is_same(held))?;
        self.packets.remove(place).map(|held| held.tag)
    }

    /// What has waited too long at `now` is lost.
    pub(super) fn expire(&mut self, flows: &mut FlowTable, now: Instant) {
        while self.packets.front().is_some_and(|held| now.saturating_since(held.since) > LONGEST) {
            self.lose_first(flows);
        }
    }

    /// What is known of the packets that are there.
    pub(super) fn tags(&self) -> impl Iterator<Item = Tag> + '_ {
        self.packets.iter().map(|held| held.tag)
    }

    fn lose_first(&mut self, flows: &mut FlowTable) {
        if let Some(held) = self.packets.pop_front() {
            flows[held.tag.flow].handle_datagram_lost(held.tag.seq);
        }
    }
}
