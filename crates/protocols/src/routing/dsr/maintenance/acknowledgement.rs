//! Making sure that the next node has a packet (RFC 4728, 8.3.1 to 8.3.3).

use hopcast_wire::dsr::{Ack, AckRequest, DsrOption};
use hopcast_wire::ipv4::Protocol;

use super::super::header::{self, Header};
use super::super::timers::{Timer, after};
use super::super::{Acknowledgement, Dsr};
use super::buffer::{Copy, Entry, Identity};
use crate::routing::{Message, NextHop, Output, Packet, Token, Verdict};
use crate::time::Instant;

/// The Maintenance Buffer is full: the packet is dropped (4.5).
pub(in crate::routing::dsr) struct Full;

impl Dsr {
    /// Enters a packet into the Maintenance Buffer if it has to be acknowledged, and asks for that in its header if it has to.
    pub(in crate::routing::dsr) fn maintain(
        &mut self,
        packet: &Packet<'_>,
        hop: NextHop,
        next_header: Protocol,
        options: &mut Vec<DsrOption<'_>>,
        now: Instant,
    ) -> Result<Option<Token>, Full> {
        let left = options.iter().find_map(|option| match option {
            DsrOption::SourceRoute(route) => Some(route.segments_left),
            _ => None,
        });
        // Behind the last hop nothing is passed on, and what is passed on is heard in promiscuous mode alone.
        let listens = self.config.acknowledgement == Acknowledgement::Passive && self.config.promiscuous;
        let may_listen = listens && hop.address != packet.destination;
        let identity = Identity::of(packet, next_header.into());
        let passive = left.filter(|_| may_listen).map(|left| (identity, left));
        let number = self.maintain_as(hop, |number| Copy::Held(Token(number), identity), passive, options, now)?;
        Ok(number.map(Token))
    }

    /// Sends a message of this node.
    pub(in crate::routing::dsr) fn send(&mut self, message: Message, now: Instant) {
        if let Some(hop) = message.hop
            && self.maintenance.is_needed(self.config.acknowledgement, hop.address, now)
            && let Some(Header { next_header, mut options }) = Header::parse(&message.octets, 0)
        {
            // What this node sends by itself has no identification before the driver gives it one, so it can't be listened for.
            let number = match self.maintain_as(hop, |_| Copy::Own(message.clone()), None, &mut options, now) {
                Ok(number) => number,
                Err(Full) => return,
            };
            let octets = header::emit(next_header, &options);
            let message = Message { octets, ..message.clone() };
            if let Some(entry) = number.and_then(|number| self.maintenance.get_mut(number)) {
                entry.copy = Copy::Own(message.clone());
            }
            return self.outputs.push_back(Output::Send(message));
        }
        self.outputs.push_back(Output::Send(message));
    }

    fn maintain_as(
        &mut self,
        hop: NextHop,
        copy: impl FnOnce(u32) -> Copy,
        passive: Option<(Identity, u8)>,
        options: &mut Vec<DsrOption<'_>>,
        now: Instant,
    ) -> Result<Option<u32>, Full> {
        let is_exempt = |option: &DsrOption<'_>| {
            matches!(option, DsrOption::Ack(_) | DsrOption::AckRequest(_) | DsrOption::RouteRequest(_))
        };
        let is_needed = self.maintenance.is_needed(self.config.acknowledgement, hop.address, now);
        if !is_needed || options.iter().any(is_exempt) {
            return Ok(None);
        }
        if self.maintenance.is_full() {
            return Err(Full);
        }
        let number = self.maintenance.next_number();
        let (identification, timeout) = match passive {
            Some(_) => (None, self.config.passive_ack_timeout),
            None => {
                let identification = self.maintenance.next_identification();
                options.push(DsrOption::AckRequest(AckRequest { identification, extension: &[] }));
                (Some(identification), self.maintenance.timeout(hop.address, 0))
            }
        };
        let timer = self.schedule.add(after(now, timeout), Timer::Maintenance(number));
        let copy = copy(number);
        let entry = Entry { hop, copy, identification, passive, repetitions: 0, requests: 0, sent: now, timer };
        self.maintenance.insert(number, entry);
        Ok(Some(number))
    }

    /// The time for an acknowledgement is over.
    pub(in crate::routing::dsr) fn on_unacknowledged(&mut self, number: u32, now: Instant) {
        let Some(entry) = self.maintenance.get_mut(number) else { return };
        if entry.repetitions >= self.config.max_maint_rexmt {
            let hop = entry.hop;
            return self.on_unreachable(hop, now);
        }
        entry.repetitions += 1;
        let mut entry = entry.clone();
        self.outputs.push_back(match &entry.copy {
            Copy::Held(token, _) => Output::Resend(*token),
            Copy::Own(message) => Output::Send(message.clone()),
        });
        let timeout = if entry.passive.is_some() && entry.repetitions <= self.config.try_passive_acks {
            self.config.passive_ack_timeout
        } else {
            if entry.passive.is_some() {
                // The copy does not ask, so a packet of its own has to (3.2).
                let identification = self.maintenance.next_identification();
                entry.identification = Some(identification);
                let options = vec![DsrOption::AckRequest(AckRequest { identification, extension: &[] })];
                let request = self.message_along(&[entry.hop.address], options, 0);
                self.outputs.extend(request.map(Output::Send));
            }
            entry.requests += u32::from(entry.passive.is_none());
            self.maintenance.timeout(entry.hop.address, entry.requests)
        };
        entry.timer = self.schedule.add(after(now, timeout), Timer::Maintenance(number));
        self.maintenance.insert(number, entry);
    }

    /// Acknowledgements, and requests for them, in a packet whose next node this is.
    pub(in crate::routing::dsr) fn on_acks(
        &mut self,
        packet: &Packet<'_>,
        header: &Header<'_>,
        from: NextHop,
        now: Instant,
    ) {
        for option in &header.options {
            if let DsrOption::Ack(ack) = option
                && ack.destination == self.address
            {
                let neighbour = self.hop_to(ack.source);
                if self.maintenance.on_ack(neighbour, ack.identification, now) {
                    self.on_confirmed(neighbour, now);
                }
            }
        }
        if let Some(request) = header.ack_request()
            && (!header.has_ack() || packet.destination == self.address)
        {
            let (identification, source, destination) = (request.identification, self.address, from.address);
            let options = vec![DsrOption::Ack(Ack { identification, source, destination })];
            if let Some(message) = self.message_along(&[from.address], options, 0) {
                self.outputs.push_back(Output::Send(Message { hop: Some(from), ttl: 1, ..message }));
            }
        }
    }

    /// A packet was heard that a neighbour passes on: perhaps it was given to it by this node.
    pub(in crate::routing::dsr) fn on_passed_on(
        &mut self,
        packet: &Packet<'_>,
        header: &Header<'_>,
        from: NextHop,
        now: Instant,
    ) {
        if self.config.acknowledgement == Acknowledgement::Passive
            && let Some(route) = header.source_route()
        {
            let identity = Identity::of(packet, header.next_header.into());
            if self.maintenance.is_passed_on(from, identity, route.segments_left) {
                self.on_confirmed(from, now);
            }
        }
    }

    /// A neighbour has what was sent to it.
    fn on_confirmed(&mut self, neighbour: NextHop, now: Instant) {
        self.blacklist.remove(neighbour.address);
        for entry in self.maintenance.confirm(neighbour, now) {
            self.schedule.cancel(entry.timer);
            if let Copy::Held(token, _) = entry.copy {
                self.outputs.push_back(Output::Release(token));
            }
        }
    }

    /// The link layer has given a packet up, or the driver gives back one that was recalled.
    pub(in crate::routing::dsr) fn on_frame_dropped(
        &mut self,
        hop: NextHop,
        packet: &Packet<'_>,
        now: Instant,
    ) -> Verdict {
        if self.config.acknowledgement == Acknowledgement::LinkLayer {
            self.on_unreachable(hop, now);
        } else if self.recalled == 0 {
            // Here acknowledgements count, not what the link layer says; the copy that is held tries again.
            return Verdict::Drop;
        } else {
            self.recalled -= 1;
        }
        self.on_undelivered(hop, packet, true, now)
    }
}
