//! Accesses between hosts and their interfaces.

use std::rc::Rc;

use hopcast_protocols::time::Instant;
use hopcast_radio::mac::QueueSpace;
use hopcast_radio::mac::edca::UserPriority;

use super::Hosts;
use crate::engine::Reaction;
use crate::host::access::{Access, Outcome};
use crate::host::{Context, Host, Neighbour, Received, Sdu, Transmit};
use crate::id::NodeId;
use crate::metrics::DropCause;

impl Hosts {
    /// The access of a node, if it has one.
    pub(in crate::run) fn access_of(&self, node: NodeId) -> Option<&Access> {
        self.accesses.get(node.0 as usize).and_then(Option::as_ref)
    }

    fn access_mut(&mut self, host: u32) -> Option<&mut Access> {
        self.accesses.get_mut(host as usize).and_then(Option::as_mut)
    }

    /// Hands what an interface has received to the host, through its access if it has one. Returns whether anything may come of it.
    #[inline]
    pub(super) fn receive(&mut self, host: u32, sdu: &Rc<Sdu>, from: Neighbour, now: Instant) -> Reaction {
        if self.accesses.is_empty() {
            return self.deliver(host, sdu, from, now);
        }
        self.receive_through_access(host, sdu, from, now)
    }

    #[cold]
    fn receive_through_access(&mut self, host: u32, sdu: &Rc<Sdu>, from: Neighbour, now: Instant) -> Reaction {
        let Some(access) = self.access_mut(host) else { return self.deliver(host, sdu, from, now) };
        let mut missed = Vec::new();
        let received = Received { from, sdu: Rc::clone(sdu) };
        access.handle_received(received, now, |received, cause| missed.push((received, cause)));
        missed.into_iter().for_each(|(received, cause)| self.miss(host, &received, cause, now));
        Reaction::Any
    }

    /// The timer of a host is due, and so may be that of its access. Returns whether the host has been handed a packet, on which it
    /// acts before anything else reaches it.
    pub(super) fn run_access(&mut self, host: u32, now: Instant) -> bool {
        let Some(access) = self.access_mut(host) else { return false };
        access.handle_timeout(now);
        while let Some(outcome) = self.access_mut(host).and_then(Access::poll_outcome) {
            match outcome {
                Outcome::Missed(received, cause) => self.miss(host, &received, cause, now),
                Outcome::Dropped(transmit, cause) => {
                    let (host, mut context) = self.at(host, now);
                    drop_at_access(host, transmit, cause, &mut context);
                }
            }
        }
        let Some(Received { from, sdu }) = self.access_mut(host).and_then(Access::poll_received) else { return false };
        self.deliver(host, &sdu, from, now);
        self.pool.take_back(sdu);
        true
    }

    fn miss(&mut self, host: u32, received: &Received, cause: DropCause, now: Instant) {
        let (host, mut context) = self.at(host, now);
        host.handle_lost(&received.sdu, cause, &mut context);
    }
}

/// What comes out of a host, through its access if it has one.
#[inline]
pub(super) fn poll_output_of(
    host: &mut Host,
    access: Option<&mut Access>,
    room: impl Fn(u32, UserPriority) -> QueueSpace,
    context: &mut Context<'_>,
) -> Option<Transmit> {
    match access {
        None => host.poll_output(room, context),
        Some(access) => poll_output_through_access(host, access, room, context),
    }
}

#[cold]
fn poll_output_through_access(
    host: &mut Host,
    access: &mut Access,
    room: impl Fn(u32, UserPriority) -> QueueSpace,
    context: &mut Context<'_>,
) -> Option<Transmit> {
    loop {
        if let Some(transmit) = access.poll_output() {
            return Some(transmit);
        }
        let transmit = host.poll_output(|interface, priority| access.space(room(interface, priority)), context)?;
        let now = context.now;
        access.handle_transmit(transmit, now, |transmit, cause| drop_at_access(host, transmit, cause, context));
    }
}

/// An access drops a packet on its way out.
fn drop_at_access(host: &mut Host, transmit: Transmit, cause: DropCause, context: &mut Context<'_>) {
    let to = Neighbour { interface: transmit.hop.interface, node: transmit.hop.node };
    host.handle_drop(transmit.sdu, to, cause, context);
}
