//! The distribution system behind access points (IEEE 802.11-2020, 4.3.5): effects of association over the air on all
//! hosts.

use std::rc::Rc;

use hopcast_protocols::time::Instant;
use hopcast_radio::mac::StationId;
use hopcast_radio::mac::association::Message;
use hopcast_wire::ieee80211::management::Repr;

use super::Hosts;
use crate::engine::{Attachment, Outgoing, Port};
use crate::host::{Ends, Hop, Management, Sdu};
use crate::id::NodeId;
use crate::metrics::DropCause;
use crate::run::association::Change;

impl Hosts {
    /// A frame from `from` has come to the radio at `port`. Returns whether what it brings is for the host.
    #[cold]
    pub(super) fn handle_associated(&mut self, port: Port, sdu: &Sdu, from: StationId, now: Instant) -> bool {
        let mut is_passed = false;
        if let Sdu::Management(management) = sdu {
            self.associations.handle_frame(port, from, &management.body, now);
        } else if self.associations.handle_data(port, from) {
            is_passed = true;
        } else {
            let (host, mut context) = self.at(port.host, now);
            host.handle_lost(sdu, DropCause::NotAssociated, &mut context);
        }
        self.settle_associations();
        is_passed
    }

    /// The next management frame of a host.
    #[cold]
    pub(super) fn poll_management(&mut self, host: u32, now: Instant) -> Option<Outgoing<Rc<Sdu>>> {
        let (interface, receiver, message) = self.associations.poll_output(host)?;
        let Message { body, expires, .. } = message;
        Some(Outgoing { interface, receiver, packet: self.management(host, receiver, body, expires, now) })
    }

    /// A management frame of a host for a station, or for all (`None`).
    pub(super) fn management(
        &mut self,
        host: u32,
        receiver: Option<StationId>,
        body: Repr,
        expires: Option<Instant>,
        now: Instant,
    ) -> Rc<Sdu> {
        let to = receiver.map_or(NodeId::ALL, |station| NodeId(self.ports.of_station(station).host));
        let ends = Ends { source: NodeId(host), destination: to };
        self.pool.share(Sdu::Management(Box::new(Management { ends, body, created: now, expires })))
    }

    /// A radio is done with a management frame.
    #[cold]
    pub(super) fn handle_management_done(&mut self, port: Port, management: &Management, is_sent: bool) {
        if let Repr::BlockAck(_) = management.body {
            let counts = &mut self.actions[port.host as usize];
            *if is_sent { &mut counts.sent } else { &mut counts.dropped } += 1;
            return;
        }
        // Of the others only access points and stations send any, and of those one that is addressed has one radio, or has sent first.
        let to = management.ends.destination;
        let receiver = (to != NodeId::ALL).then(|| self.ports.attachments(to.0 as usize).first().copied()).flatten();
        let receiver = receiver.and_then(|attachment| match attachment {
            Attachment::Station(station) => Some(station),
            Attachment::Wire(_) => None,
        });
        self.associations.handle_done(port, receiver, &management.body, is_sent);
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
