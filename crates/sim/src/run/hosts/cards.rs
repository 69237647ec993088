//! Cards between hosts and their radios.

use std::rc::Rc;

use hopcast_protocols::time::Instant;
use hopcast_radio::mac::QueueSpace;
use hopcast_radio::mac::edca::UserPriority;

use super::Hosts;
use super::access::poll_output_of;
use crate::engine::Port;
use crate::host::access::Access;
use crate::host::card::Cards;
use crate::host::{Context, Host, Neighbour, Sdu, Transmit};
use crate::id::NodeId;
use crate::metrics::DropCause;

impl Hosts {
    /// The cards of a node, if it has any.
    pub(in crate::run) fn cards_at(&self, node: NodeId) -> Option<&Cards> {
        self.cards.get(node.0 as usize).and_then(Option::as_ref)
    }

    /// The cards of a host, if the interface has one.
    #[inline]
    pub(super) fn cards_of(&mut self, port: Port) -> Option<&mut Cards> {
        let cards = self.cards.get_mut(port.host as usize)?.as_mut()?;
        cards.serves(port.interface).then_some(cards)
    }

    #[cold]
    pub(super) fn handle_packet_at_card(&mut self, port: Port, sdu: &Rc<Sdu>, from: Neighbour, now: Instant) {
        let Some(cards) = self.cards_of(port) else {
            self.receive(port.host, sdu, from, now);
            return;
        };
        if let Some(sdu) = cards.handle_received(from, Rc::clone(sdu), now) {
            let (host, mut context) = self.at(port.host, now);
            host.handle_lost(&sdu, DropCause::ReceiveBuffersFull, &mut context);
        }
    }

    /// A radio is done with a packet.
    #[inline]
    pub(super) fn empty_buffer(&mut self, port: Port, now: Instant) {
        if let Some(cards) = self.cards_of(port) {
            cards.handle_done(port.interface, now);
        }
    }
}

/// What comes out of a host's cards, and at interfaces without a card out of the host or its access.
#[cold]
pub(super) fn poll_output_through(
    cards: &mut Cards,
    host: &mut Host,
    mut access: Option<&mut Access>,
    room: impl Fn(u32, UserPriority) -> QueueSpace,
    context: &mut Context<'_>,
) -> Option<Transmit> {
    loop {
        while let Some(transmit) = cards.poll_expired() {
            drop_before_card(host, transmit, DropCause::Expired, context);
        }
        if let Some(transmit) = cards.poll_output() {
            return Some(transmit);
        }
        let before_card = |interface, priority| match cards.serves(interface) {
            true => QueueSpace::shared(cards.space(interface)),
            false => room(interface, priority),
        };
        let transmit = poll_output_of(host, access.as_deref_mut(), before_card, context)?;
        if !cards.serves(transmit.hop.interface) {
            return Some(transmit);
        }
        if let Some(transmit) = cards.handle_transmit(transmit, context.now) {
            drop_before_card(host, transmit, DropCause::QueueFull, context);
        }
    }
}

/// The queue before a card drops a packet, which has taken no transmit buffer.
fn drop_before_card(host: &mut Host, transmit: Transmit, cause: DropCause, context: &mut Context<'_>) {
    let to = Neighbour { interface: transmit.hop.interface, node: transmit.hop.node };
    host.handle_drop(transmit.sdu, to, cause, context);
}
