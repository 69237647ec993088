//! Packets on their way: given a route by their source, and passed on along it (RFC 4728, 8.1).

pub(super) mod learning;
pub(super) mod overheard;
mod shortening;

use std::net::Ipv4Addr;

use hopcast_wire::dsr::{self, AckRequest, DsrOption, Unsupported};
use hopcast_wire::ipv4::Protocol;

use super::header::{self, Header};
use super::table::{MAX_HOPS, Route};
use super::{Dsr, Rules};
use crate::routing::{Forward, NextHop, Packet, Verdict};
use crate::time::Instant;

/// Options of a packet besides its source route.
const OTHER_OPTIONS: usize = 2;

impl Dsr {
    /// A packet that this node has made (8.1.1). One that has failed already still has the header with which it did.
    pub(super) fn originate(&mut self, packet: &Packet<'_>, now: Instant) -> Verdict {
        let Packet { destination, .. } = *packet;
        if !packet.has_data || destination.is_multicast() || destination.is_broadcast() {
            return Verdict::Drop;
        }
        let Some(failed) = Header::parse(packet.octets, packet.protocol) else { return Verdict::Drop };
        let Some(route) = self.cache.search(destination, now) else {
            // What others have made, and fails here, has a route.
            let is_own = packet.source == self.address || failed.source_route().is_none();
            self.start_discovery(destination, is_own, now);
            return Verdict::Wait;
        };
        match failed.source_route() {
            Some(_) => self.send_anew(packet, failed, &route, now),
            None => self.send_fresh(packet, packet.protocol.into(), &route, now),
        }
    }

    /// A packet of this node begins its way.
    fn send_fresh(&mut self, packet: &Packet<'_>, protocol: Protocol, route: &Route, now: Instant) -> Verdict {
        self.cache.on_use(route, now);
        let mut options = Vec::with_capacity(OTHER_OPTIONS);
        let between = &route.hops[..route.hops.len() - 1];
        // To a neighbour no route has to be told.
        if !between.is_empty() || route.is_last_external {
            options.push(DsrOption::SourceRoute(header::fresh_route(between, route.is_last_external)));
        }
        self.transmit(packet, route.hops[0], protocol, options, now)
    }

    /// Whether a packet that has failed here gets a route as if it had not.
    pub(super) fn begins_anew(&self, packet: &Packet<'_>) -> bool {
        self.config.rules == Rules::Ns2 && packet.source == self.address
    }

    /// A packet that has failed takes another route from here.
    pub(super) fn send_anew(
        &mut self,
        packet: &Packet<'_>,
        failed: Header<'_>,
        route: &Route,
        now: Instant,
    ) -> Verdict {
        if self.begins_anew(packet) {
            self.send_fresh(packet, failed.next_header, route, now)
        } else {
            self.salvage(packet, failed, route, now)
        }
    }

    /// A packet whose next node could not be reached takes another route from here (8.3.6). At its source this is the same, so
    /// that the number of attempts is counted.
    fn salvage(&mut self, packet: &Packet<'_>, failed: Header<'_>, route: &Route, now: Instant) -> Verdict {
        let salvage = failed.salvage() + 1;
        if salvage > self.config.max_salvage_count.min(dsr::MAX_SALVAGE) || route.hops.len() >= MAX_HOPS {
            return Verdict::Drop;
        }
        if self.config.rules == Rules::Rfc4728 {
            self.cache.on_use(route, now);
        }
        let mut addresses = vec![self.address];
        addresses.extend(&route.hops[..route.hops.len() - 1]);
        let anew = DsrOption::SourceRoute(header::salvaged_route(&addresses, route.is_last_external, salvage));
        let mut options = vec![anew];
        let stays = |option: &DsrOption<'_>| {
            !matches!(option, DsrOption::SourceRoute(_) | DsrOption::AckRequest(_) | DsrOption::RouteReply(_))
        };
        options.extend(failed.options.into_iter().filter(stays));
        self.transmit(packet, route.hops[0], failed.next_header, options, now)
    }

    /// A packet of another node (8.1.5).
    pub(super) fn forward(&mut self, packet: &Packet<'_>, from: NextHop, now: Instant) -> Verdict {
        let Some(header) = self.process_header(packet, from, now) else { return Verdict::Drop };
        let Some(route) = header.source_route().filter(|route| route.segments_left > 0) else { return Verdict::Drop };
        let this = route.addresses.len() - usize::from(route.segments_left);
        let next = route.addresses.get(this + 1).unwrap_or(packet.destination);
        let is_unicast = |address: Ipv4Addr| !address.is_multicast() && !address.is_broadcast();
        if route.addresses.get(this) != Some(self.address) || !is_unicast(next) || !is_unicast(packet.destination) {
            return Verdict::Drop;
        }
        let marked = marked(&header.options);
        let mut options = passed_on(&header.options, &marked);
        // It was for this node.
        options.retain(|option| !matches!(option, DsrOption::AckRequest(_)));
        for option in &mut options {
            if let DsrOption::SourceRoute(route) = option {
                route.segments_left -= 1;
            }
        }
        self.transmit(packet, next, header.next_header, options, now)
    }

    /// Hands a packet to the next node, with whatever Route Maintenance needs (8.3).
    pub(super) fn transmit(
        &mut self,
        packet: &Packet<'_>,
        next: Ipv4Addr,
        next_header: Protocol,
        mut options: Vec<DsrOption<'_>>,
        now: Instant,
    ) -> Verdict {
        let hop = self.hop_to(next);
        let held = match self.maintain(packet, hop, next_header, &mut options, now) {
            Ok(held) => held,
            Err(_) => return Verdict::Drop,
        };
        let header = (!options.is_empty()).then(|| header::emit(next_header, &options));
        Verdict::Forward(Forward { hop, header, held })
    }

    /// What a packet for this node, or to be passed on by it, tells this node (8.1.4). `None`: it has to be dropped.
    pub(super) fn process_header<'a>(
        &mut self,
        packet: &Packet<'a>,
        from: NextHop,
        now: Instant,
    ) -> Option<Header<'a>> {
        self.on_heard(from);
        let header = Header::parse(packet.octets, packet.protocol)?;
        self.on_route_errors(packet, &header, now);
        self.learn(packet, &header, from.address, None, now);
        let is_for_this = packet.destination == self.address;
        let is_next = header.source_route().filter(|route| route.segments_left > 0).map_or(is_for_this, |route| {
            let this = route.addresses.len() - usize::from(route.segments_left);
            is_for_this || route.addresses.get(this) == Some(self.address)
        });
        if is_next {
            self.report_unsupported(packet, &header, from.address, now);
            self.on_acks(packet, &header, from, now);
        }
        self.on_data_seen(packet, &header);
        let is_fatal = |option: &DsrOption<'_>| {
            matches!(option, DsrOption::Unknown { .. }) && option.option_type().if_unsupported() == Unsupported::Drop
        };
        (!header.options.iter().any(is_fatal)).then_some(header)
    }

    /// Length of the header that a packet for `destination` would get, in bytes.
    pub(super) fn longest_header(&mut self, destination: Ipv4Addr, now: Instant) -> usize {
        let Some(route) = self.cache.search(destination, now) else { return 0 };
        let between = &route.hops[..route.hops.len() - 1];
        let mut options = Vec::with_capacity(OTHER_OPTIONS);
        if !between.is_empty() || route.is_last_external {
            options.push(DsrOption::SourceRoute(header::fresh_route(between, route.is_last_external)));
        }
        // The nodes behind may ask where this one does not have to.
        if self.config.acknowledgement != super::Acknowledgement::LinkLayer {
            options.push(DsrOption::AckRequest(AckRequest { identification: 0, extension: &[] }));
        }
        if options.is_empty() { 0 } else { dsr::Repr { next_header: Protocol::Udp, options: &options }.buffer_len() }
    }
}

/// The data of the options that a node without support has to mark, marked (8.1.6).
pub(super) fn marked(options: &[DsrOption<'_>]) -> Vec<Vec<u8>> {
    let mark = |option: &DsrOption<'_>| match option {
        DsrOption::Unknown { data, .. } if option.option_type().if_unsupported() == Unsupported::Mark => {
            let mut data = data.to_vec();
            if let Some(first) = data.first_mut() {
                *first |= 0x80;
            }
            Some(data)
        }
        _ => None,
    };
    options.iter().filter_map(mark).collect()
}

/// The options as they are passed on by a node that does not know some of them, with the data of those that it marks (8.1.6).
pub(super) fn passed_on<'a>(options: &[DsrOption<'a>], marked: &'a [Vec<u8>]) -> Vec<DsrOption<'a>> {
    let mut marked = marked.iter();
    let mut pass_on = |option: &DsrOption<'a>| match *option {
        DsrOption::Unknown { kind, .. } => match option.option_type().if_unsupported() {
            Unsupported::Ignore => Some(*option),
            Unsupported::Mark => marked.next().map(|data| DsrOption::Unknown { kind, data }),
            Unsupported::Remove | Unsupported::Drop => None,
        },
        other => Some(other),
    };
    options.iter().filter_map(&mut pass_on).collect()
}
