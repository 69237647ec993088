//! Route Maintenance (RFC 4728, 8.3): broken links, and other routes for the packets that they cost.

pub(super) mod acknowledgement;
pub(super) mod buffer;
pub(super) mod parked;

use std::net::Ipv4Addr;

use hopcast_wire::dsr::{DsrOption, RouteReply};

use self::buffer::{Copy, Identity};
use self::parked::Unrouted;
use super::header::{Header, nodes_of};
use super::table::Route;
use super::{Dsr, Rules};
use crate::routing::{NextHop, Output, Packet, Verdict};
use crate::time::Instant;

/// The link that broke last, and who has been told of it.
#[derive(Debug)]
pub(super) struct Break {
    hop: NextHop,
    at: Instant,
    pub(super) told: Vec<Ipv4Addr>,
    /// Packets whose copies come back from the driver: those that wait in the queue of the interface are no others.
    recalled: Vec<Identity>,
}

impl Break {
    /// Whether it is what happens to the link to this neighbour now.
    pub(super) fn is_of(&self, hop: NextHop, now: Instant) -> bool {
        self.hop == hop && self.at == now
    }

    #[cfg(test)]
    pub(super) fn size(&self) -> usize {
        self.told.len() + self.recalled.len()
    }
}

impl Dsr {
    /// Nothing can be sent to a neighbour any more.
    pub(super) fn on_unreachable(&mut self, hop: NextHop, now: Instant) {
        self.cache.remove_link(self.address, hop.address);
        self.recent.forget();
        if self.last_break.as_ref().is_none_or(|last| !last.is_of(hop, now)) {
            self.last_break = Some(Break { hop, at: now, told: Vec::new(), recalled: Vec::new() });
            self.outputs.push_back(Output::Purge(hop));
        }
        for entry in self.maintenance.give_up(hop) {
            self.schedule.cancel(entry.timer);
            match entry.copy {
                Copy::Held(token, identity) => {
                    self.recalled += 1;
                    if let Some(last) = &mut self.last_break {
                        last.recalled.push(identity);
                    }
                    self.outputs.push_back(Output::Recall(token));
                }
                Copy::Own(message) => {
                    let packet = Packet {
                        source: message.source.unwrap_or(self.address),
                        destination: message.destination,
                        ttl: message.ttl,
                        from: None,
                        octets: &message.octets,
                        has_data: false,
                        protocol: 0,
                        identification: 0,
                        fragment_offset: 0,
                    };
                    self.on_undelivered(hop, &packet, true, now);
                }
            }
        }
    }

    /// What waited for a neighbour at the interface comes back. Of a packet that is recalled, the copy goes on.
    pub(super) fn on_purged(&mut self, hop: NextHop, packet: &Packet<'_>, now: Instant) -> Verdict {
        let last = self.last_break.as_ref().filter(|last| last.is_of(hop, now) && !last.recalled.is_empty());
        if let Some(last) = last.filter(|_| packet.has_data)
            && let Some(header) = Header::parse(packet.octets, packet.protocol)
            && last.recalled.contains(&Identity::of(packet, header.next_header.into()))
        {
            return Verdict::Drop;
        }
        self.on_undelivered(hop, packet, self.config.rules == Rules::Rfc4728, now)
    }

    /// A packet has not reached a neighbour: it takes another way if there is one, and its sender may be told (3.4.1, 3.4.2).
    pub(super) fn on_undelivered(&mut self, hop: NextHop, packet: &Packet<'_>, is_told: bool, now: Instant) -> Verdict {
        let Some(header) = Header::parse(packet.octets, packet.protocol) else { return Verdict::Drop };
        if header.has_route_reply() || header.route_request().is_some() {
            // It was heard, or the reply would not go there, but it does not hear this node (4.6).
            self.blacklist.add(hop.address, now);
        }
        let is_own = packet.source == self.address;
        let is_dispensable = header.route_request().is_some()
            || !packet.has_data && !header.has_route_reply() && !header.has_route_error();
        if is_dispensable {
            return Verdict::Drop;
        }
        let route = self.cache.search(packet.destination, now);
        let is_salvaged = route.is_some() && self.may_salvage(&header);
        if is_told && !is_own {
            self.report_break(hop, packet, &header, is_salvaged, now);
        }
        if !packet.has_data {
            self.salvage_message(packet, &header, hop, route.as_ref(), now);
            return Verdict::Drop;
        }
        let is_fresh = self.begins_anew(packet);
        match route {
            Some(route) if !is_fresh || self.may_try_again(packet, self.config.max_salvage_count) => {
                self.send_anew(packet, header, &route, now)
            }
            None if self.may_wait(packet, &header) => {
                self.start_discovery(packet.destination, is_own, now);
                Verdict::Wait
            }
            _ => Verdict::Drop,
        }
    }

    /// Whether a packet that has failed, and has no other way, waits for one.
    fn may_wait(&mut self, packet: &Packet<'_>, header: &Header<'_>) -> bool {
        let is_own = packet.source == self.address;
        match self.config.rules {
            Rules::Rfc4728 if !is_own => false,
            Rules::Rfc4728 => header.source_route().is_some() || self.may_try_again(packet, 1),
            Rules::Ns2 if !is_own => self.may_salvage(header),
            Rules::Ns2 => self.may_try_again(packet, self.config.max_salvage_count),
        }
    }

    /// Whether a packet of this node, whose route does not count it, has failed no more often than this.
    fn may_try_again(&mut self, packet: &Packet<'_>, limit: u8) -> bool {
        // Links with one direction could be found and lost for ever.
        let Packet { destination, identification, fragment_offset, .. } = *packet;
        let key = (destination, identification, fragment_offset);
        let failures = self.failures.remove(&key).unwrap_or(0) + 1;
        if failures <= limit {
            self.failures.insert(key, failures);
        }
        failures <= limit
    }

    /// What a message says goes on along another route (8.3.6), but for a Route Reply, which has to test its own way. Under ns-2's
    /// rules a reply goes on as well, unless it names the broken link, and what has no other way waits for one.
    fn salvage_message(
        &mut self,
        packet: &Packet<'_>,
        header: &Header<'_>,
        to: NextHop,
        route: Option<&Route>,
        now: Instant,
    ) {
        let (is_own, waits) = (packet.source == self.address, self.config.rules == Rules::Ns2);
        let broken = [self.address, to.address];
        let stays = |option: &DsrOption<'_>| match option {
            DsrOption::RouteError(_) | DsrOption::Ack(_) => true,
            // One that looked for a way of its own would be answered by others that do.
            DsrOption::RouteReply(_) if route.is_none() => waits && !is_own,
            DsrOption::RouteReply(reply) => waits && (is_own || !names(packet.destination, *reply, broken)),
            _ => false,
        };
        let options: Vec<_> = header.options.iter().filter(|option| stays(option)).copied().collect();
        if options.is_empty() || !self.may_salvage(header) {
            return;
        }
        let Packet { source, destination, ttl, .. } = *packet;
        let unrouted = Unrouted { source, destination, ttl, salvage: header.salvage() + 1 };
        self.send_unrouted(unrouted, options, route, now);
    }

    /// Whether a packet was salvaged less often than it may be.
    fn may_salvage(&self, header: &Header<'_>) -> bool {
        header.salvage() < self.config.max_salvage_count
    }
}

/// Whether a route to this initiator has the link, in either direction.
fn names(initiator: Ipv4Addr, reply: RouteReply<'_>, [a, b]: [Ipv4Addr; 2]) -> bool {
    nodes_of(initiator, reply).windows(2).any(|link| link == [a, b] || link == [b, a])
}
