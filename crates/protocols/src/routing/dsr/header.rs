//! The DSR Options header of a packet, taken apart and put together.

use std::net::Ipv4Addr;
use std::sync::Arc;

use hopcast_wire::dsr::{self, AckRequest, Addresses, DsrOption, OptionType, RouteReply, RouteRequest, SourceRoute};
use hopcast_wire::ipv4::Protocol;

/// The options of a header, padding left out.
#[derive(Clone, Debug)]
pub(super) struct Header<'a> {
    pub(super) next_header: Protocol,
    pub(super) options: Vec<DsrOption<'a>>,
}

impl<'a> Header<'a> {
    /// The header before data with this protocol number, or in a packet without data. `None` if it is broken, or has two routes,
    /// Route Requests (RFC 4728, 6.2) or Acknowledgement Requests (6.5). No bytes are a packet without header.
    pub(super) fn parse(octets: &'a [u8], protocol: u8) -> Option<Self> {
        if octets.is_empty() {
            return Some(Self { next_header: protocol.into(), options: Vec::new() });
        }
        let packet = dsr::Packet::new_checked(octets).ok()?;
        let is_padding = |option: &DsrOption<'_>| matches!(option, DsrOption::Pad1 | DsrOption::PadN { .. });
        let options = packet.options().filter(|option| !option.as_ref().is_ok_and(is_padding));
        let options: Vec<_> = options.collect::<Result<_, _>>().ok()?;
        let count = |kind: OptionType| options.iter().filter(|option| option.option_type() == kind).count();
        let once = [OptionType::SourceRoute, OptionType::RouteRequest, OptionType::AckRequest];
        once.into_iter().all(|kind| count(kind) <= 1).then_some(Self { next_header: packet.next_header(), options })
    }

    pub(super) fn source_route(&self) -> Option<SourceRoute<'a>> {
        self.options.iter().find_map(|option| match option {
            DsrOption::SourceRoute(route) => Some(*route),
            _ => None,
        })
    }

    pub(super) fn route_request(&self) -> Option<RouteRequest<'a>> {
        self.options.iter().find_map(|option| match option {
            DsrOption::RouteRequest(request) => Some(*request),
            _ => None,
        })
    }

    pub(super) fn ack_request(&self) -> Option<AckRequest<'a>> {
        self.options.iter().find_map(|option| match option {
            DsrOption::AckRequest(request) => Some(*request),
            _ => None,
        })
    }

    pub(super) fn has_route_reply(&self) -> bool {
        self.options.iter().any(|option| matches!(option, DsrOption::RouteReply(_)))
    }

    pub(super) fn has_route_error(&self) -> bool {
        self.route_errors() > 0
    }

    /// How many Route Errors there are.
    pub(super) fn route_errors(&self) -> usize {
        self.options.iter().filter(|option| matches!(option, DsrOption::RouteError(_))).count()
    }

    pub(super) fn has_ack(&self) -> bool {
        self.options.iter().any(|option| matches!(option, DsrOption::Ack(_)))
    }

    /// How often the packet was salvaged.
    pub(super) fn salvage(&self) -> u8 {
        self.source_route().map_or(0, |route| route.salvage)
    }
}

/// The nodes of the route that a reply gives, its initiator first.
pub(super) fn nodes_of(initiator: Ipv4Addr, reply: RouteReply<'_>) -> Vec<Ipv4Addr> {
    core::iter::once(initiator).chain(reply.addresses.iter()).collect()
}

/// The bytes of a header.
pub(super) fn emit(next_header: Protocol, options: &[DsrOption<'_>]) -> Arc<[u8]> {
    let repr = dsr::Repr { next_header, options };
    let mut octets: Arc<[u8]> = core::iter::repeat_n(0, repr.buffer_len()).collect();
    let place = Arc::get_mut(&mut octets).expect("nobody else has it yet");
    repr.emit(&mut dsr::Packet::new_unchecked(place));
    octets
}

/// The source route of a packet that begins its way at the node before the first of these (RFC 4728, 8.1.3).
pub(super) fn fresh_route(addresses: &[Ipv4Addr], last_hop_external: bool) -> SourceRoute<'_> {
    SourceRoute {
        first_hop_external: false,
        last_hop_external,
        salvage: 0,
        segments_left: addresses.len() as u8,
        addresses: Addresses::List(addresses),
    }
}

/// The source route of a packet that goes on from the first of these nodes, having been salvaged so often (RFC 4728, 8.3.6).
pub(super) fn salvaged_route(addresses: &[Ipv4Addr], last_hop_external: bool, salvage: u8) -> SourceRoute<'_> {
    let segments_left = addresses.len() as u8 - 1;
    SourceRoute { salvage, segments_left, ..fresh_route(addresses, last_hop_external) }
}
