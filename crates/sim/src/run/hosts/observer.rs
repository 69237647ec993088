//! Causes of losses of monitored flows, from a view of the whole network.

use hopcast_protocols::time::Instant;
use hopcast_radio::mac::Payload as _;
use hopcast_radio::mac::edca::UserPriority;

use super::Hosts;
use super::occupancy::Occupancy;
use crate::engine::{Port, Ports};
use crate::host::access::Access;
use crate::host::card::Cards;
use crate::host::{Host, Sdu};
use crate::id::NodeId;
use crate::metrics::{DropCause, Loss, PathState, Truth, Unjudged};
use crate::scenario::model::Scenario;
use crate::topology::Connectivity;
use crate::traffic::is_adtfrc;

/// What is known of the network beyond what any host knows.
#[derive(Debug)]
pub(in crate::run) struct Observer {
    connectivity: Connectivity,
    /// By flow: its ends.
    ends: Vec<[NodeId; 2]>,
    occupancy: Occupancy,
}

impl Observer {
    /// That of a run of `scenario` with `seed`, if any flow has losses to judge.
    pub(in crate::run) fn new(scenario: &Scenario, seed: u64, ports: &Ports, hosts: &[Host]) -> Option<Self> {
        scenario.flows.iter().any(is_adtfrc).then(|| Self {
            connectivity: Connectivity::new(scenario, seed),
            ends: scenario.flows.iter().map(|flow| [flow.from, flow.to]).collect(),
            occupancy: Occupancy::new(ports, scenario.radio.edca.is_some(), |port| {
                hosts[port.host as usize].queue_places(port.interface)
            }),
        })
    }

    /// Why a datagram was truly lost; `None` if that is no matter of the network.
    fn cause(&mut self, unjudged: &Unjudged, now: Instant) -> Option<PathState> {
        let (cause, link) = match unjudged.loss {
            Loss::Dropped { cause, link } => (cause, link),
            Loss::Late(_) => return Some(PathState::RouteChange),
            Loss::Arrived(_) => return Some(PathState::Normal),
        };
        let is_link_there = link.is_some_and(|(from, to)| self.connectivity.is_link(from, to, now));
        Some(match cause {
            DropCause::QueueFull | DropCause::QueueManagement => PathState::Congestion,
            DropCause::Corrupted | DropCause::LinkLoss | DropCause::Unheard => PathState::ChannelError,
            DropCause::RetryLimitShort | DropCause::RetryLimitLong if is_link_there => PathState::ChannelError,
            DropCause::RetryLimitShort
            | DropCause::RetryLimitLong
            | DropCause::NoRoute
            | DropCause::RouteTimeout
            | DropCause::RouteQueueFull
            | DropCause::ArpTimeout
            | DropCause::ArpQueueFull
            | DropCause::NotAssociated
            | DropCause::TtlExpired => {
                let [from, to] = self.ends[unjudged.flow.0 as usize];
                match self.connectivity.is_connected(from, to, now) {
                    true => PathState::RouteChange,
                    false => PathState::Disconnection,
                }
            }
            // What hosts do with what has arrived, or has never left.
            DropCause::Expired
            | DropCause::ReassemblyTimeout
            | DropCause::ReassemblyOverflow
            | DropCause::DuplicateFragment
            | DropCause::Misassembled
            | DropCause::ReceiveBufferFull
            | DropCause::SendBufferFull
            | DropCause::NoSocket
            | DropCause::ReceiveBuffersFull => return None,
        })
    }
}

impl Hosts {
    /// Judges the losses and arrivals of monitored flows that have become known.
    #[inline]
    pub(super) fn observe(&mut self, now: Instant) {
        if self.observer.is_some() {
            self.judge_losses(now);
        }
    }

    #[cold]
    fn judge_losses(&mut self, now: Instant) {
        while let (Some(unjudged), Some(observer)) = (self.flows.poll_unjudged(), &mut self.observer) {
            let truth = observer.cause(&unjudged, now).map(|cause| {
                let is_queue_large = observer.occupancy.is_any_large()
                    || self.accesses.iter().flatten().any(Access::is_any_queue_large)
                    || self.cards.iter().flatten().any(Cards::is_any_queue_large);
                Truth::new(cause, is_queue_large)
            });
            self.flows[unjudged.flow].handle_judgement(&unjudged, truth, now);
        }
    }

    /// An interface is given a packet, or is done with it: `change` tells the observer, if there is one, unless a card stands before
    /// the interface.
    #[inline]
    pub(super) fn observe_queue(&mut self, port: Port, sdu: &Sdu, change: fn(&mut Occupancy, Port, UserPriority)) {
        if self.observer.is_none() || self.cards_of(port).is_some() {
            return;
        }
        if let Some(observer) = &mut self.observer {
            change(&mut observer.occupancy, port, sdu.priority());
        }
    }
}
