//! The link: accesses, cards, addresses of neighbours' radios, and the units between a host and its interfaces.

pub(crate) mod access;
pub(in crate::host) mod arp;
pub(crate) mod card;
pub(in crate::host) mod sdu;

use crate::engine::Reaction;
use crate::host::ip::router::Undelivered;
use crate::host::{Context, Neighbour, Stack, Transmit, count_drop, count_host_drop};
use crate::metrics::DropCause;
use hopcast_radio::mac::Payload;
use sdu::Sdu;

impl Stack {
    /// See [`Host::handle_packet`](super::Host::handle_packet).
    #[inline]
    pub(in crate::host) fn handle_sdu(&mut self, sdu: &Sdu, from: Neighbour, cx: &mut Context<'_>) -> Reaction {
        cx.counters.received += 1;
        match sdu {
            _ if self.router.is_none() && self.real.is_some() => self.hand_out(sdu, from, cx),
            Sdu::Ip(packet) => return self.handle_ip(packet, from, cx),
            Sdu::Arp(packet) => self.handle_arp(&packet.message, from, cx),
            Sdu::MessageInArp(packet) => return self.handle_message_in_arp(packet, from, cx),
            Sdu::Raw(_) => self.handle_group(sdu, from, cx),
            Sdu::Management(_) => unreachable!("what stands beside the hosts takes management frames"),
        }
        Reaction::Any
    }

    /// See [`Host::handle_drop`](super::Host::handle_drop).
    pub(in crate::host) fn handle_drop(&mut self, sdu: &Sdu, to: Neighbour, cause: DropCause, cx: &mut Context<'_>) {
        let is_link_lost = matches!(cause, DropCause::RetryLimitShort | DropCause::RetryLimitLong);
        if is_link_lost && self.router.is_some() {
            self.handle_undelivered(sdu, to, Undelivered::Dropped, cause, cx);
        } else {
            cx.counters.interface_dropped += 1;
            count_drop(sdu.packet(), 1, cause, Some((self.node, to.node)), cx);
            self.release(sdu.packet(), cx.now);
        }
    }

    /// What is next for an interface, and needs no room.
    // Asked far more often than there is something.
    #[inline(always)]
    pub(in crate::host) fn poll_ready(&mut self, cx: &mut Context<'_>) -> Option<Transmit> {
        loop {
            let transmit = self.ready.pop_front()?;
            if transmit.sdu.is_expired(cx.now) {
                self.drop_expired(&transmit.sdu, cx);
                continue;
            }
            cx.counters.transmitted += 1;
            let is_forwarded = transmit.sdu.packet().is_some_and(|packet| packet.ip.source != self.node);
            cx.counters.forwarded += u64::from(is_forwarded);
            return Some(transmit);
        }
    }

    #[cold]
    fn drop_expired(&mut self, sdu: &Sdu, cx: &mut Context<'_>) {
        count_host_drop(sdu.packet(), 1, DropCause::Expired, cx);
        self.release(sdu.packet(), cx.now);
    }
}
