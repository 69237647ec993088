//! Route Errors (RFC 4728, 8.3.4 and 8.3.5).

use std::net::Ipv4Addr;

use hopcast_wire::dsr::{DsrOption, ErrorKind, RouteError};

use super::super::header::Header;
use super::super::maintenance::parked::Unrouted;
use super::super::{Dsr, Rules};
use super::TTL;
use crate::routing::{NextHop, Packet};
use crate::time::Instant;

/// The most Route Errors in a packet of ns-2 (MAX_ROUTE_ERRORS of `dsr/hdr_sr.h`).
const NS_2_MAX_ROUTE_ERRORS: usize = 3;

/// A Route Error that this node was told, and that its next search for a route tells others (3.4.4).
#[derive(Clone, Copy, Debug)]
pub(in crate::routing::dsr) struct SpreadError {
    is_spread: bool,
    at: Instant,
    salvage: u8,
    source: Ipv4Addr,
    unreachable: Ipv4Addr,
}

impl Dsr {
    /// Originates a Route Error (8.3.4), one to each sender for one broken link (3.4.2).
    pub(in crate::routing::dsr) fn report_break(
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
            // Their senders repeat them.
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
    pub(in crate::routing::dsr) fn report_unsupported(
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

    /// Sends options to the sender of a packet: along the way that the packet has come, so that the node that offered its
    /// route hears of the error (3.3.2); or else along a route from the cache.
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
    pub(in crate::routing::dsr) fn on_route_errors(&mut self, packet: &Packet<'_>, header: &Header<'_>, now: Instant) {
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
                is_repeated = self.resend(error.salvage, &header.options[place + 1..], now);
            }
        }
    }

    /// If the first of these options was sent by this node, it has not arrived: it and those behind it go once more.
    fn resend(&mut self, salvage: u8, options: &[DsrOption<'_>], now: Instant) -> bool {
        let (source, destination) = match options.first() {
            Some(DsrOption::RouteError(error)) => (error.source, error.destination),
            Some(DsrOption::Ack(ack)) => (ack.source, ack.destination),
            _ => return false,
        };
        // In ns-2 the node that is told takes them from there.
        let is_sender = source == self.address || self.config.rules == Rules::Ns2;
        if !is_sender || destination == self.address {
            return false;
        }
        let goes = |option: &&DsrOption<'_>| matches!(option, DsrOption::RouteError(_) | DsrOption::Ack(_));
        let options: Vec<_> = options.iter().filter(goes).copied().collect();
        let route = self.cache.search(destination, now);
        self.send_unrouted(
            Unrouted { source: self.address, destination, ttl: TTL, salvage },
            options,
            route.as_ref(),
            now,
        );
        true
    }

    /// What this node was told last, for its Route Requests.
    pub(in crate::routing::dsr) fn error_to_spread(&mut self, now: Instant) -> Option<DsrOption<'static>> {
        let hold = self.config.route_error_hold;
        let is_fresh = |error: &&mut SpreadError| hold.is_none_or(|hold| now.saturating_since(error.at) < hold);
        let error = self.spread_error.as_mut().filter(is_fresh)?;
        error.is_spread = true;
        let SpreadError { salvage, source, unreachable, .. } = *error;
        let kind = ErrorKind::NodeUnreachable(unreachable);
        Some(DsrOption::RouteError(RouteError { salvage, source, destination: self.address, kind, extension: &[] }))
    }

    /// A search is over: what it has told others is known now.
    pub(in crate::routing::dsr) fn on_search_over(&mut self) {
        self.spread_error = self.spread_error.filter(|error| !error.is_spread);
    }
}

/// The node that has given a packet its route (8.3.4).
fn sender_of(packet: &Packet<'_>, header: &Header<'_>) -> Option<Ipv4Addr> {
    match header.source_route() {
        Some(route) if route.salvage > 0 => route.addresses.get(0),
        _ => Some(packet.source),
    }
}
