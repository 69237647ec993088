//! Packets in queues: those of stations, and of interfaces that are no stations, such as wires.

use hopcast_protocols::time::Instant;
use hopcast_wire::ecn::Ecn;

use super::{Discipline, InterfaceQueue, Places, Queued, Reason, Traffic};
use crate::frame::{Payload, StationId, UserPriority};

/// Those of all packets for which it stands.
impl<P: Payload> Places for (Option<StationId>, P) {
    fn places(&self) -> usize {
        self.1.packets() as usize
    }
}

/// A packet on its way to a station, or to all.
impl<P: Payload> Queued for (Option<StationId>, P) {
    fn octets(&self) -> u32 {
        self.1.octets()
    }

    fn flow(&self) -> u64 {
        self.1.flow()
    }

    fn traffic(&self) -> Traffic {
        Traffic { receiver: self.0, priority: self.1.priority() }
    }

    fn expires(&self) -> Option<Instant> {
        self.1.expires()
    }

    fn ecn(&self) -> Ecn {
        self.1.ecn()
    }

    fn mark(&mut self) {
        self.1.mark();
    }

    fn is_urgent(&self) -> bool {
        self.1.priority() == UserPriority::NETWORK_CONTROL
    }
}

/// A bounded queue of packets under a discipline.
#[derive(Clone, Debug)]
pub struct PacketQueue<P>(InterfaceQueue<(Option<StationId>, P)>);

impl<P: Payload> PacketQueue<P> {
    /// An empty queue with `capacity` places.
    pub fn new(discipline: Discipline, capacity: u32) -> Self {
        Self(InterfaceQueue::new(discipline, capacity))
    }

    /// Appends a packet, and hands `dropped` what has no place.
    pub fn push(&mut self, packet: P, now: Instant, mut dropped: impl FnMut(P, Reason)) {
        self.0.push((None, packet), now, |(_, packet), reason| dropped(packet, reason));
    }

    /// Takes the next one that is worth sending at `now`, and hands `dropped` those that are not.
    pub fn pop(&mut self, now: Instant, mut dropped: impl FnMut(P, Reason)) -> Option<P> {
        self.0.pop(now, |(_, packet), reason| dropped(packet, reason)).map(|(_, packet)| packet)
    }

    /// How many it has marked.
    pub fn marked(&self) -> u64 {
        self.0.marked()
    }

    /// How many wait.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether none waits.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Free places.
    pub fn space(&self) -> usize {
        self.0.space()
    }

    /// What waits.
    pub fn iter(&self) -> impl Iterator<Item = &P> {
        self.0.iter().map(|(_, packet)| packet)
    }
}
