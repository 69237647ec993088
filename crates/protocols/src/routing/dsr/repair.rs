//! What happens when a link breaks (RFC 4728, 8.3.4 to 8.3.6): Route Errors, and other ways for packets.

use std::net::Ipv4Addr;

use hopcast_wire::dsr::{DsrOption, ErrorKind, RouteError, RouteReply};

use super::cache::Route;
use super::header::{Header, nodes_of};
use super::maintenance::{Copy, Identity};
use super::parked::Stray;
use super::{Dsr, NextHop, Output, Packet, Rules, TTL, Verdict};
use crate::time::Instant;

/// So many Route Errors fit into a packet of ns-2 (MAX_ROUTE_ERRORS of `dsr/hdr_sr.h`).
const NS_2_MAX_ROUTE_ERRORS: usize = 3;

/// The link that broke last, and who has been told of it.
#[derive(Debug)]
pub(super) struct Break {
    hop: NextHop,
    at: Instant,
    told: Vec<Ipv4Addr>,
    /// Packets whose copies come back from the driver: those that wait in the queue of the interface are no others.
    recalled: Vec<Identity>,
}

impl Break {
    /// Whether it is what happens to the link to this neighbour now.
    fn is_of(&self, hop: NextHop, now: Instant) -> bool {
        self.hop == hop && self.at == now
    }

    #[cfg(test)]
    pub(super) fn size(&self) -> usize {
        self.told.len() + self.recalled.len()
    }
}

/// A Route Error that this node was told, and that its next search for a route tells others (3.4.4).
#[derive(Clone, Copy, Debug)]
pub(super) struct SpreadError {
    is_spread: bool,
    at: Instant,
    salvage: u8,
    source: Ipv4Addr,
    unreachable: Ipv4Addr,
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
            self.tell_of_break(hop, packet, &header, is_salvaged, now);
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
                self.seek(packet.destination, is_own, now);
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
        let stray = Stray { source, destination, ttl, salvage: header.salvage() + 1 };
        self.send_stray(stray, options, route, now);
    }

    /// Whether a packet was salvaged less often than it may be.
    fn may_salvage(&self, header: &Header<'_>) -> bool {
        header.salvage() < self.config.max_salvage_count
    }

    /// Originates a Route Error (8.3.4), one to each sender for one broken link (3.4.2).
    fn tell_of_break(
        &mut self,
        hop: NextHop,
        packet: &Packet<'_>,
        failed: &Header<'_>,
        is_salvaged: bool,
        now: Instant,
    ) {
        let Some(sender) = sender_of(packet, failed).filter(|&sender| sender != self.address) else { return };
        let is_ns_2 = self.config.rules == Rules::Ns2;
        if is_ns_2 && failed.route_errors() >= NS_2_MAX_ROUTE_ERRORS {
            return;
        }
        if let Some(last) = self.last_break.as_mut().filter(|last| last.is_of(hop, now)) {
            let is_nested = failed.has_route_error() && !is_salvaged;
            let is_told = last.told.contains(&sender) || last.told.len() >= self.config.request_table_size;
            if is_told && !is_nested {
                return;
            }
            if !is_told {
                last.told.push(sender);
            }
        }
        let error = RouteError {
            salvage: failed.salvage(),
            source: self.address,
            destination: sender,
            kind: ErrorKind::NodeUnreachable(hop.address),
            extension: &[],
        };
        let mut options = vec![DsrOption::RouteError(error)];
        let mut total = usize::from(error.salvage) + 1;
        if is_ns_2 || !is_salvaged {
            // Whoever has sent them sends them once more.
            for option in &failed.options {
                match option {
                    DsrOption::RouteError(error) => {
                        total += usize::from(error.salvage) + 1;
                        if total > self.config.max_salvage_count.into() {
                            break;
                        }
                        options.push(*option);
                    }
                    DsrOption::Ack(_) => options.push(*option),
                    _ => {}
                }
            }
        }
        self.send_back(packet, failed, sender, options, now);
    }

    /// A Route Error for each sender of an option that this node does not support (8.1.6), but one for each packet.
    pub(super) fn report_unsupported(
        &mut self,
        packet: &Packet<'_>,
        header: &Header<'_>,
        from: Ipv4Addr,
        now: Instant,
    ) {
        let is_reported = |option: &&DsrOption<'_>| {
            matches!(option, DsrOption::Unknown { .. }) && option.option_type().is_reported_if_unsupported()
        };
        let Some(option) = header.options.iter().find(is_reported) else { return };
        if header.route_request().is_some() || packet.source == self.address {
            return;
        }
        let kind = ErrorKind::OptionNotSupported(option.option_type());
        let (source, destination) = (self.address, packet.source);
        let error = RouteError { salvage: header.salvage(), source, destination, kind, extension: &[] };
        let options = vec![DsrOption::RouteError(error)];
        if header.source_route().is_none() && packet.source != from {
            return;
        }
        self.send_back(packet, header, packet.source, options, now);
    }

    /// Sends options to the sender of a packet: the way that the packet has come, so that whoever has offered its route hears of
    /// the error (3.3.2); or else along a route from the cache.
    fn send_back(
        &mut self,
        packet: &Packet<'_>,
        header: &Header<'_>,
        sender: Ipv4Addr,
        options: Vec<DsrOption<'_>>,
        now: Instant,
    ) {
        let way_back = self.way_back(packet, header, sender);
        let Some(hops) = way_back.or_else(|| Some(self.cache.search(sender, now)?.hops)) else { return };
        if let Some(message) = self.message_along(&hops, options, 0) {
            self.send(message, now);
        }
    }

    /// The nodes that a packet has passed, the last one first, up to its sender.
    fn way_back(&self, packet: &Packet<'_>, header: &Header<'_>, sender: Ipv4Addr) -> Option<Vec<Ipv4Addr>> {
        let Some(route) = header.source_route() else { return Some(vec![sender]) };
        // A packet that was salvaged has forgotten how it came to the node that did it.
        let source = (route.salvage == 0).then_some(packet.source);
        let passed: Vec<_> = source.into_iter().chain(route.addresses.iter()).collect();
        let this = passed.iter().position(|&node| node == self.address).unwrap_or(passed.len());
        let start = passed.iter().position(|&node| node == sender).filter(|&start| start < this)?;
        Some(passed[start..this].iter().rev().copied().collect())
    }

    /// Route Errors in a packet (8.3.5).
    pub(super) fn on_route_errors(&mut self, packet: &Packet<'_>, header: &Header<'_>, now: Instant) {
        let mut is_repeated = false;
        for (place, option) in header.options.iter().enumerate() {
            let DsrOption::RouteError(error) = option else { continue };
            if let ErrorKind::NodeUnreachable(unreachable) = error.kind {
                self.cache.remove_link(error.source, unreachable);
                self.recent.forget();
                if packet.destination == self.address && error.destination == self.address {
                    let (salvage, source) = (error.salvage, error.source);
                    self.spread_error = Some(SpreadError { is_spread: false, at: now, salvage, source, unreachable });
                }
            }
            // What is sent once more takes all that follows with it.
            if packet.destination == self.address && !is_repeated {
                is_repeated = self.send_once_more(error.salvage, &header.options[place + 1..], now);
            }
        }
    }

    /// If the first of these options was sent by this node, it has not arrived: it and those behind it go once more.
    fn send_once_more(&mut self, salvage: u8, options: &[DsrOption<'_>], now: Instant) -> bool {
        let (source, destination) = match options.first() {
            Some(DsrOption::RouteError(error)) => (error.source, error.destination),
            Some(DsrOption::Ack(ack)) => (ack.source, ack.destination),
            _ => return false,
        };
        // ns-2 lets whoever is told take them from there.
        let is_sender = source == self.address || self.config.rules == Rules::Ns2;
        if !is_sender || destination == self.address {
            return false;
        }
        let goes = |option: &&DsrOption<'_>| matches!(option, DsrOption::RouteError(_) | DsrOption::Ack(_));
        let options: Vec<_> = options.iter().filter(goes).copied().collect();
        let route = self.cache.search(destination, now);
        self.send_stray(Stray { source: self.address, destination, ttl: TTL, salvage }, options, route.as_ref(), now);
        true
    }

    /// What this node was told last, for its Route Requests.
    pub(super) fn error_to_spread(&mut self, now: Instant) -> Option<DsrOption<'static>> {
        let hold = self.config.route_error_hold;
        let is_fresh = |error: &&mut SpreadError| hold.is_none_or(|hold| now.saturating_since(error.at) < hold);
        let error = self.spread_error.as_mut().filter(is_fresh)?;
        error.is_spread = true;
        let SpreadError { salvage, source, unreachable, .. } = *error;
        let kind = ErrorKind::NodeUnreachable(unreachable);
        Some(DsrOption::RouteError(RouteError { salvage, source, destination: self.address, kind, extension: &[] }))
    }

    /// A search is over: what it has told others is known now.
    pub(super) fn on_search_over(&mut self) {
        self.spread_error = self.spread_error.filter(|error| !error.is_spread);
    }
}

/// Whether a route to this initiator has the link, in either direction.
fn names(initiator: Ipv4Addr, reply: RouteReply<'_>, [a, b]: [Ipv4Addr; 2]) -> bool {
    nodes_of(initiator, reply).windows(2).any(|link| link == [a, b] || link == [b, a])
}

/// The node that has given a packet its route (8.3.4).
fn sender_of(packet: &Packet<'_>, header: &Header<'_>) -> Option<Ipv4Addr> {
    match header.source_route() {
        Some(route) if route.salvage > 0 => route.addresses.get(0),
        _ => Some(packet.source),
    }
}
