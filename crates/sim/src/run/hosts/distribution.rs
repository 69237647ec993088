//! The distribution system behind access points (IEEE 802.11-2020, 4.3.5): what association over the air changes at all hosts.

use std::rc::Rc;

use hopcast_protocols::time::Instant;
use hopcast_radio::mac::StationId;

use super::Hosts;
use crate::engine::{Attachment, Outgoing, Port};
use crate::host::Hop;
use crate::host::packet::Packet;
use crate::id::NodeId;
use crate::metrics::DropCause;
use crate::run::association::Change;

impl Hosts {
    /// A frame from `from` has come to the radio at `port`. Returns whether the packet is for the host.
    #[cold]
    pub(super) fn handle_associated(&mut self, port: Port, packet: &Packet, from: StationId, now: Instant) -> bool {
        let mut is_passed = false;
        if let Some(body) = packet.management() {
            self.associations.handle_frame(port, from, body, now);
        } else if self.associations.handle_data(port, from) {
            is_passed = true;
        } else {
            let (host, mut context) = self.at(port.host, now);
            host.handle_lost(packet, DropCause::NotAssociated, &mut context);
        }
        self.settle_associations();
        is_passed
    }

    /// The next management frame of a host.
    #[cold]
    pub(super) fn poll_management(&mut self, host: u32, now: Instant) -> Option<Outgoing<Rc<Packet>>> {
        let (interface, receiver, message) = self.associations.poll_output(host)?;
        let to = receiver.map_or(NodeId::ALL, |station| NodeId(self.ports.of_station(station).host));
        let packet = Packet::of_management(message.body, (NodeId(host), to), message.expires, now);
        Some(Outgoing { interface, receiver, packet: self.pool.share(packet) })
    }

    /// A radio is done with a management frame.
    #[cold]
    pub(super) fn handle_management_done(&mut self, port: Port, packet: &Packet, is_sent: bool) {
        let Some(body) = packet.management() else { return };
        // Only access points and stations send any, and of those one that is addressed has one radio, or has sent first.
        let to = packet.ip.destination;
        let receiver = (to != NodeId::ALL).then(|| self.ports.attachments(to.0 as usize).first().copied()).flatten();
        let receiver = receiver.and_then(|attachment| match attachment {
            Attachment::Station(station) => Some(station),
            Attachment::Wire(_) => None,
        });
        self.associations.handle_done(port, receiver, body, is_sent);
        self.settle_associations();
    }

    /// The distribution system: sends what is for a station to its access point, and what a station sends.
    pub(super) fn settle_associations(&mut self) {
        while let Some(change) = self.associations.poll_change() {
            match change {
                Change::Joined(port, peer) => {
                    let hop = self.hop(port, peer);
                    self.redirect_all(port.host, Some(hop));
                }
                Change::Left(port, _) => self.redirect_all(port.host, None),
                Change::Admitted(port, station) => {
                    let to = NodeId(self.ports.of_station(station).host);
                    let direct = self.hop(port, station);
                    for host in &mut self.hosts {
                        if host.node() == NodeId(port.host) {
                            host.redirect(to, Some(direct));
                        } else if host.node() != to {
                            host.redirect(to, host.hop_towards(NodeId(port.host)));
                        }
                    }
                    self.associations.handle_moved(station, port);
                }
                Change::Lost(port, station) => {
                    let to = NodeId(self.ports.of_station(station).host);
                    // Unless it has another one by now.
                    if self.hosts[port.host as usize].hop_towards(to) == Some(self.hop(port, station)) {
                        let others = self.hosts.iter_mut().filter(|host| host.node() != to);
                        others.for_each(|host| host.redirect(to, None));
                    }
                }
            }
        }
    }

    fn hop(&self, port: Port, peer: StationId) -> Hop {
        Hop { interface: port.interface, node: NodeId(self.ports.of_station(peer).host), station: Some(peer) }
    }

    /// Sends all that a host has for others this way.
    fn redirect_all(&mut self, host: u32, hop: Option<Hop>) {
        let others = (0..self.hosts.len() as u32).filter(|&other| other != host);
        others.for_each(|other| self.hosts[host as usize].redirect(NodeId(other), hop));
    }
}
