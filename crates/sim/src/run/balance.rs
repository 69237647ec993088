//! Checks that no packet appears or vanishes without a cause.

use hopcast_radio::mac::Dcf;

use super::Simulation;
use super::association::Counts;
use super::hosts::Hosts;
use crate::host::access::Access;
use crate::host::card::Cards;
use crate::host::{ConservationError, Sdu};
use crate::id::{FlowId, NodeId};
use crate::metrics::Census;
use crate::wired::Wire;

/// Packets that appeared or vanished without a cause.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ImbalanceError {
    /// In a host.
    #[error(transparent)]
    Host(#[from] ConservationError),
    /// Between a host and its interface.
    #[error("node {}: the interface holds {held} packets where {expected} should be", node.0)]
    Interface {
        /// Where.
        node: NodeId,
        /// Packets that must be there by the counters.
        expected: i128,
        /// Packets that are there.
        held: usize,
    },
    /// Management frames, between what asks for them at a node and its radios.
    #[error("node {}: the radios hold {held} management frames where {expected} should be", node.0)]
    Management {
        /// Where.
        node: NodeId,
        /// Frames that must be there by the counters.
        expected: i128,
        /// Frames that are there.
        held: usize,
    },
    /// On a wire.
    #[error("wire {number}: {held} packets are on their way where {expected} should be")]
    Wire {
        /// Its index; links have two each.
        number: u32,
        /// Packets that must be there by the counters.
        expected: u64,
        /// Packets that are there.
        held: u64,
    },
    /// A datagram that is neither received nor lost, but was not found.
    #[error("flow {}: datagram {seq} has vanished", flow.0)]
    Datagram {
        /// Whose.
        flow: FlowId,
        /// Its number in the flow.
        seq: u64,
    },
}

impl Simulation {
    /// Checks at each layer that no packet appeared or vanished without a cause.
    ///
    /// # Errors
    /// The first imbalance.
    pub fn check(&self) -> Result<(), ImbalanceError> {
        let upper = self.engine.upper();
        let Hosts { hosts, counters, flows, cards, associations, actions, real, .. } = upper;
        let mut census = Census::new();
        for (host, counters) in hosts.iter().zip(counters) {
            host.check(counters)?;
            let node = host.node();
            let mut held = 0;
            let cards = cards.get(node.0 as usize).into_iter().flatten();
            let in_stations = self.stations_of(node).flat_map(Dcf::held);
            let in_wires = self.wires_of(node).flat_map(Wire::held);
            let in_interfaces = in_stations.chain(in_wires).map(|sdu| &**sdu);
            let access = upper.access_of(node).into_iter();
            let before_interfaces =
                cards.clone().flat_map(Cards::outgoing).chain(access.clone().flat_map(Access::outgoing));
            let mut management = 0;
            for sdu in in_interfaces.chain(before_interfaces) {
                if let Sdu::Management(_) = sdu {
                    management += 1;
                    continue;
                }
                held += 1;
                find(sdu, &mut census);
            }
            let expected = counters.in_interface();
            if expected != held as i128 {
                return Err(ImbalanceError::Interface { node, expected, held });
            }
            let mut counts = associations.counts(node.0);
            counts += actions[node.0 as usize];
            let Counts { given, sent, dropped, .. } = counts;
            let expected = i128::from(given) - i128::from(sent) - i128::from(dropped);
            if expected != management as i128 {
                return Err(ImbalanceError::Management { node, expected, held: management });
            }
            let incoming = cards.flat_map(Cards::incoming).chain(access.flat_map(Access::incoming));
            incoming.for_each(|sdu| find(sdu, &mut census));
            let reordered = self.stations_of(node).flat_map(Dcf::waiting);
            reordered.for_each(|sdu| find(sdu, &mut census));
            host.count_in_flight(&mut census);
        }
        for (wire, number) in self.engine.wires().iter().zip(0..) {
            let (expected, held) = (wire.counters().sent - wire.counters().delivered, wire.in_flight().count() as u64);
            if expected != held {
                return Err(ImbalanceError::Wire { number, expected, held });
            }
            wire.in_flight().for_each(|sdu| find(sdu, &mut census));
        }
        // Who expects no acknowledgement lets go of a packet before its frame has arrived.
        let on_air = self.engine.medium().on_air().filter_map(|transmission| transmission.packet.as_ref());
        on_air.for_each(|sdu| find(sdu, &mut census));
        real.iter().for_each(|real| real.count_in_flight(&mut census));
        match flows.missing(&census).next() {
            Some((flow, seq)) => Err(ImbalanceError::Datagram { flow, seq }),
            None => Ok(()),
        }
    }
}

/// Enters in `census` what of a datagram is in `sdu`.
fn find(sdu: &Sdu, census: &mut Census) {
    if let Some(packet) = sdu.packet() {
        census.insert(packet.tag.flow, packet.tag.seq);
    }
}
