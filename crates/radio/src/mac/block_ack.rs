//! Exchanges under block acknowledgment agreements (IEEE 802.11-2020, 10.25.6): A-MPDUs, and what acknowledges them.
//!
//! ```text
//!            ┌──────┬──────┬──────┐  SIFS  ┌──────────┐
//!  originator│ MPDU │ MPDU │ MPDU │        │ BlockAck │ recipient
//!            └──────┴──────┴──────┘        └──────────┘
//! ```
//!
//! An MPDU that goes alone is answered by an ACK. What is outstanding is repeated, with new MPDUs behind it, in the next frame to the
//! same receiver. An MPDU that is given up leaves a gap: a request for a block acknowledgment tells the recipient not to wait for it.

use std::rc::Rc;

use hopcast_protocols::time::{Duration, Instant};

use hopcast_wire::ieee80211::management::BlockAckAction;

use super::aggregation::{Aggregation, Agreements};
use super::agreement::{Change, Negotiations, Terms};
use super::originator::{Originator, Request, Room};
use super::outgoing::{OutgoingMpdu, amsdu_octets, mpdu_with_amsdu_octets};
use super::outputs::Outputs;
use super::recipient::{Arrival, Recipient, Recipients};
use super::{Config, Dcf, DropCause, Output, State};
use crate::aggregate::{BlockAck, Body, Mpdu, MpduSet};
use crate::frame::{Frame, FrameKind, Header, Payload, StationId, UserPriority};
use crate::phy::{Standard, TxVector};

/// What a station has of its agreements, as a recipient and on the air.
#[derive(Clone, Debug)]
pub(super) struct BlockAcks<P> {
    pub(super) recipients: Recipients<P>,
    /// Where agreements are made over the air.
    negotiations: Option<Box<Negotiations>>,
    /// The body of the frame that the station has transmitted last.
    on_air: Option<Rc<Body<P>>>,
    /// The block acknowledgment that is due.
    response: Option<BlockAck>,
}

impl<P: Payload> BlockAcks<P> {
    pub(super) fn new(config: &Config) -> Option<Box<Self>> {
        let is_implicit = config.aggregation?.agreements == Agreements::Implicit;
        let negotiations = (!is_implicit).then(Box::default);
        Some(Box::new(Self { recipients: Recipients::default(), negotiations, on_air: None, response: None }))
    }

    /// When packets are to be released that wait for earlier ones, or an agreement may end.
    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        let ends = self.negotiations.as_ref().and_then(|negotiations| negotiations.poll_timeout());
        self.recipients.poll_timeout().into_iter().chain(ends).min()
    }

    pub(super) fn on_air(&self) -> Option<&Rc<Body<P>>> {
        self.on_air.as_ref()
    }
}

impl<P: Payload> Dcf<P> {
    /// A frame that carries `body`, of whose MPDUs those in `received` have come without error, and which started at `start`, has been
    /// received.
    pub fn handle_body(&mut self, frame: &Header, body: &Body<P>, received: &MpduSet, start: Instant, now: Instant) {
        self.access_function.backoff.on_frame();
        self.nav.on_frame_start(start);
        if let State::Await(expected, _) | State::AwaitEnd(expected) = self.state {
            if frame.kind == expected
                && frame.receiver == Some(self.station)
                && let Body::BlockAck(ack) = body
            {
                self.on_block_ack(ack, now);
                return;
            }
            self.fail_by_another_frame(now);
        }
        if frame.receiver == Some(self.station) {
            self.on_body(frame, body, received, now);
            return;
        }
        self.update_nav(frame.duration, None, now);
        if let (true, Some(receiver), Body::Mpdus(mpdus)) = (self.is_promiscuous, frame.receiver, body) {
            for packet in arrived(mpdus, received).flat_map(Mpdu::packets) {
                self.put_out(Output::OverheardInBody(packet.clone(), frame.transmitter, receiver));
            }
        }
    }

    /// A frame with a body for this station that it does not wait for.
    fn on_body(&mut self, frame: &Header, body: &Body<P>, received: &MpduSet, now: Instant) {
        let (true, Some(priority)) = (self.is_at_rest(), frame.priority) else { return };
        if matches!(body, Body::Mpdus(_)) {
            self.count_airtime_of(frame);
        }
        let from = frame.transmitter;
        let window = self.limits_with(Some(from)).map_or(1, |limits| limits.window);
        let Self { block_acks, outputs, counters, .. } = self;
        let Some(block_acks) = block_acks else { return };
        let BlockAcks { recipients, negotiations, .. } = &mut **block_acks;
        let recipient = recipients.of(from, priority, || match negotiations {
            None => Recipient::new(window),
            Some(_) => Recipient::without_agreement(),
        });
        if let Some(negotiations) = negotiations {
            let is_one = matches!(body, Body::Mpdus(mpdus) if mpdus.len() == 1);
            if !recipient.is_open() && !is_one && !matches!(body, Body::BlockAck(_)) {
                // 11.5.3: it is not answered, but for a DELBA.
                negotiations.handle_unknown((from, priority), now, |action| outputs.push(Output::Action(action, from)));
                self.note_outputs();
                return;
            }
            negotiations.handle_use((from, priority), now);
            if let Body::Mpdus(mpdus) = body
                && let [first, _, ..] = &**mpdus
            {
                recipient.begin(first.sequence, |packet| outputs.push(Output::Released(packet, from)));
            }
        }
        let kind = match body {
            Body::Mpdus(mpdus) => {
                for mpdu in arrived(mpdus, received) {
                    let release = |packet| outputs.push(Output::Released(packet, from));
                    match recipient.handle_mpdu(mpdu, now, release) {
                        Arrival::New => {}
                        Arrival::Duplicate => counters.duplicates += 1,
                        Arrival::Late => {
                            mpdu.packets().for_each(|packet| outputs.push(Output::Late(packet.clone(), from)));
                        }
                    }
                }
                if mpdus.len() == 1 { FrameKind::Ack } else { FrameKind::BlockAck }
            }
            Body::BlockAckRequest(start) => {
                recipient.handle_request(*start, |packet| outputs.push(Output::Released(packet, from)));
                FrameKind::BlockAck
            }
            Body::BlockAck(_) => return,
        };
        let (ack, window) = (recipient.block_ack(), recipient.window());
        self.note_outputs();
        let mut response = self.response(kind, frame);
        if kind == FrameKind::BlockAck {
            response.octets = FrameKind::block_ack_octets(window);
            response.airtime = self.config.phy.airtime(response.vector, response.octets);
            response.duration = frame.duration.saturating_sub(self.sifs() + response.airtime);
            if let Some(block_acks) = &mut self.block_acks {
                block_acks.response = Some(ack);
            }
        }
        self.respond(response, now);
    }

    /// Packets that have waited for earlier ones for long enough are delivered, and agreements end that are due.
    pub(super) fn release_due(&mut self, now: Instant) {
        let Self { block_acks: Some(block_acks), outputs, .. } = self else { return };
        let BlockAcks { recipients, negotiations, .. } = &mut **block_acks;
        recipients.handle_timeout(now, |packet, from| outputs.push(Output::Released(packet, from)));
        if let Some(negotiations) = negotiations {
            let mut actions = Outputs::default();
            negotiations.handle_timeout(
                now,
                |peer, action| actions.push(Output::Action(action, peer)),
                |peer, priority| close(recipients, outputs, peer, priority),
            );
            while let Some(action) = actions.pop() {
                outputs.push(action);
            }
        }
        self.note_outputs();
    }

    /// An action frame of block acknowledgment has come from a station.
    pub fn handle_action(&mut self, from: StationId, action: &BlockAckAction, now: Instant) {
        let terms = self.limits_with(Some(from)).and_then(|limits| terms(&limits));
        let Self { block_acks: Some(block_acks), outputs, .. } = self else { return };
        let BlockAcks { recipients, negotiations: Some(negotiations), .. } = &mut **block_acks else { return };
        let mut answer = None;
        match negotiations.handle_action(from, action, terms, now, |action| answer = Some(action)) {
            Some(Change::Opened { priority, window, start }) => {
                let recipient = recipients.of(from, priority, Recipient::without_agreement);
                recipient.open(window, start, |packet| outputs.push(Output::Released(packet, from)));
            }
            Some(Change::Closed(priority)) => close(recipients, outputs, from, priority),
            None => {}
        }
        if let Some(action) = answer {
            outputs.push(Output::Action(action, from));
        }
        self.note_outputs();
    }

    /// The association with a station has ended, and with it the agreements with that (11.3.5).
    pub fn handle_left(&mut self, station: StationId) {
        let Self { block_acks: Some(block_acks), outputs, .. } = self else { return };
        let BlockAcks { recipients, negotiations: Some(negotiations), .. } = &mut **block_acks else { return };
        negotiations.handle_left(station);
        recipients.close_all(station, |packet| outputs.push(Output::Released(packet, station)));
        self.note_outputs();
    }

    /// Whether an MPDU with this number for `receiver`, which is taken now, goes under an agreement that is made over the air. Without an
    /// agreement it asks for one.
    #[cold]
    #[inline(never)]
    pub(super) fn negotiate(
        &mut self,
        receiver: StationId,
        priority: UserPriority,
        sequence: u32,
        limits: &Aggregation,
        now: Instant,
    ) -> bool {
        let other = self.other_of(priority);
        let Self { block_acks, outputs, access_function, others, .. } = self;
        let negotiations = block_acks.as_mut().and_then(|block_acks| block_acks.negotiations.as_mut());
        let (Some(negotiations), Some(terms)) = (negotiations, terms(limits)) else { return false };
        let key = (receiver, priority);
        let send = |action| outputs.push(Output::Action(action, receiver));
        let is_agreed = negotiations.handle_mpdu(key, sequence.wrapping_add(1), terms, now, send);
        if is_agreed && let Some(gap) = negotiations.take_gap(key) {
            let access_function = other.map_or(access_function, |other| &mut others[other]);
            if let Some(originator) = &mut access_function.originator {
                originator.request = Some(gap);
            }
        }
        self.note_outputs();
        is_agreed
    }

    /// What is in hand, and outstanding behind it, under an agreement that has ended since goes on without.
    fn leave_ended_agreement(&mut self) {
        let Self { block_acks: Some(block_acks), access_function, .. } = self else { return };
        let Some(negotiations) = &block_acks.negotiations else { return };
        let is_over = |receiver, priority| negotiations.window((receiver, priority)).is_none();
        let Some(originator) = access_function.originator.as_deref_mut() else { return };
        if originator.request.is_some_and(|request| is_over(request.receiver, request.priority)) {
            originator.request = None;
        }
        let is_always_aggregate = originator.is_always_aggregate;
        let head = access_function.current().filter(|head| head.is_under_agreement);
        let ends = head.and_then(|head| head.receiver.zip(head.priority));
        if ends.is_some_and(|(receiver, priority)| is_over(receiver, priority)) {
            if let Some(originator) = &mut access_function.originator {
                originator.leave_agreement();
            }
            if let Some(head) = access_function.current_mut() {
                head.leave_agreement(is_always_aggregate);
            }
        }
    }

    /// What the frame that goes on the air now carries, if that is not one packet.
    pub(super) fn set_body(&mut self, kind: FrameKind) {
        let Self { block_acks: Some(block_acks), access_function, counters, .. } = self else { return };
        let originator = access_function.originator.as_deref();
        let body = match kind {
            FrameKind::Data => {
                let head = access_function.current().filter(|outgoing| outgoing.is_in_body);
                head.zip(originator).map(|(head, originator)| {
                    let mpdus = originator.on_air(head);
                    counters.data_sent += mpdus.len() as u64 - 1;
                    counters.ampdus_sent += u64::from(mpdus.len() > 1);
                    Body::Mpdus(mpdus)
                })
            }
            FrameKind::BlockAck => block_acks.response.take().map(Body::BlockAck),
            FrameKind::BlockAckRequest => {
                let request = originator.and_then(|originator| originator.request);
                request.map(|request| Body::BlockAckRequest(request.start))
            }
            _ => None,
        };
        block_acks.on_air = body.map(Rc::new);
    }

    /// What comes before the frame in hand: MPDUs that are spent are given up, and a request goes out for them. Returns whether nothing
    /// else is to be sent now.
    pub(super) fn prepare(&mut self, now: Instant) -> bool {
        self.leave_ended_agreement();
        while let (Some(originator), Some(head)) = (&self.access_function.originator, self.access_function.current())
            && head.is_under_agreement
            && head.is_spent(&originator.limits, now)
        {
            let limits = originator.limits;
            let is_old = limits.lifetime.is_some_and(|lifetime| head.taken_at + lifetime <= now);
            let cause = if is_old { DropCause::Expired } else { DropCause::LongRetryLimit };
            self.drop_current(cause);
            self.take_next(now);
        }
        let request = self.access_function.originator.as_ref().and_then(|originator| originator.request);
        if let Some(request) = request {
            self.on_air = Some(self.block_ack_request(&request));
            self.transmit(now);
            return true;
        }
        if self.access_function.current().is_none() {
            self.access_function.backoff.on_done(now, &mut self.random);
            // What has come while a request waited that is void now.
            self.take_next(now);
            return true;
        }
        false
    }

    fn block_ack_request(&mut self, request: &Request) -> Header {
        let mut vector = self.rates.response_to(request.receiver, &self.config.phy, request.rate).rate;
        if self.config.is_protected(vector) {
            // Goes at a rate that all understand, as what it announces is short.
            vector = self.config.basic_rate;
        }
        let (kind, octets) = (FrameKind::BlockAckRequest, FrameKind::BLOCK_ACK_REQUEST_OCTETS);
        let airtime = self.config.phy.airtime(vector, octets);
        let window = self.window_with(Some(request.receiver), Some(request.priority));
        let answer = self.config.phy.airtime(vector, FrameKind::block_ack_octets(window));
        let frame = self.frame(kind, Some(request.receiver), octets, vector, airtime, self.sifs() + answer);
        Frame { priority: Some(request.priority), ..frame }
    }

    /// Fills the frame that begins with the MPDU in hand, if that goes under an agreement: the frame and its answer end by `end`. Returns
    /// whether they do, though the MPDU in hand is sent in any case.
    pub(super) fn assemble(&mut self, start: Instant, end: Option<Instant>, now: Instant) -> bool {
        let Some(head) = self.access_function.current().filter(|outgoing| outgoing.is_under_agreement) else {
            return true;
        };
        let (receiver, priority, rate, head_octets) = (head.receiver, head.priority, head.rate, head.octets);
        if self.config.peers.is_some() || self.negotiates() {
            self.set_limits(receiver, priority);
        }
        let head_time = self.config.phy.airtime(rate, head_octets);
        let window = self.window_with(receiver, priority);
        let answer = self.sifs() + self.block_ack_airtime(receiver, rate, window);
        let time = end.map_or(Duration::MAX, |end| end.saturating_since(start + answer));
        self.lengthen_head(now);
        let Some(mut originator) = self.access_function.originator.take() else { return true };
        let Some(head) = self.access_function.current() else { return true };
        let mut room = originator.begin(head, &self.config.phy, time);
        let is_alone = receiver.is_some_and(|receiver| self.rates.is_sample(receiver));
        if !is_alone
            && let (Some(receiver), Some(priority)) = (receiver, priority)
            && originator.add_outstanding(&mut room)
        {
            let mut next = self.sequences.peek(receiver, priority);
            while room.admits(next)
                && let Some(mpdu) = self.next_mpdu(receiver, priority, &room, originator.limits.amsdu, now)
            {
                originator.add(mpdu, &mut room);
                next = next.wrapping_add(1);
            }
        }
        if let Some(head) = self.access_function.current_mut() {
            head.psdu_octets = originator.psdu_octets(head, &room);
        }
        self.access_function.originator = Some(originator);
        self.note_outputs();
        head_time <= time
    }

    /// The frame that is filled next keeps to the agreement with `receiver`.
    #[cold]
    fn set_limits(&mut self, receiver: Option<StationId>, priority: Option<UserPriority>) {
        let window = self.window_with(receiver, priority);
        let Some(limits) = self.limits_with(receiver).map(|limits| Aggregation { window, ..limits }) else { return };
        let standard = self.standard_with(receiver);
        if let Some(originator) = &mut self.access_function.originator {
            originator.limits = limits;
            originator.is_always_aggregate = Originator::<P>::is_always_aggregate(&limits, standard);
        }
    }

    /// The standard of frames for `receiver`.
    pub(super) fn standard_with(&self, receiver: Option<StationId>) -> Standard {
        let peer = self.config.peers.as_ref().zip(receiver).and_then(|(peers, receiver)| peers.of(receiver));
        peer.map_or(self.config.phy.standard(), |peer| peer.standard)
    }

    /// Puts more packets into the MPDU in hand, which has not been sent, up to the longest A-MSDU. Not if MPDUs wait behind it: their
    /// packets come first.
    fn lengthen_head(&mut self, now: Instant) {
        let originator = self.access_function.originator.as_ref().filter(|originator| !originator.has_outstanding());
        let limits = originator.map(|originator| originator.limits);
        let Some(limits) = limits.filter(|limits| limits.amsdu > 0) else { return };
        let Some(head) = self.access_function.current() else { return };
        let (Some(receiver), Some(priority)) = (head.receiver, head.priority) else { return };
        if head.unacknowledged > 0 || head.short_retries > 0 || !head.more.is_empty() {
            return;
        }
        let first = head.payload.octets();
        let more = self.more_packets(receiver, priority, first, limits.amsdu, now);
        if let Some(head) = self.access_function.current_mut() {
            head.set_more(more);
        }
    }

    /// The next new MPDU for the frame that is being filled, if there is a packet for it that fits.
    fn next_mpdu(
        &mut self,
        receiver: StationId,
        priority: UserPriority,
        room: &Room,
        amsdu: u32,
        now: Instant,
    ) -> Option<OutgoingMpdu<P>> {
        let fits = |packet: &P| OutgoingMpdu::mpdu_octets(packet, true) <= room.next();
        let packet = self.next_packet(receiver, priority, fits, now)?;
        let first = packet.octets();
        let mut mpdu = self.outgoing(Some(receiver), packet, now);
        if amsdu > 0 {
            let most = amsdu.min(room.next().saturating_sub(mpdu_with_amsdu_octets(0)));
            mpdu.set_more(self.more_packets(receiver, priority, first, most, now));
        }
        Some(mpdu)
    }

    /// Packets that go behind one of `first` bytes into an A-MSDU of at most `most` bytes.
    fn more_packets(
        &mut self,
        receiver: StationId,
        priority: UserPriority,
        first: u32,
        most: u32,
        now: Instant,
    ) -> Vec<P> {
        let (mut lengths, mut more) = (vec![first], Vec::new());
        loop {
            let with = |packet: &P| amsdu_octets(lengths.iter().copied().chain([packet.octets()]));
            let Some(packet) = self.next_packet(receiver, priority, |packet| with(packet) <= most, now) else {
                return more;
            };
            lengths.push(packet.octets());
            more.push(packet);
        }
    }

    /// The next packet of the interface queue for a receiver and priority, if it `fits`. A queue that chooses the order itself gives
    /// its next packet; one that is not wanted now stays next.
    fn next_packet(
        &mut self,
        receiver: StationId,
        priority: UserPriority,
        fits: impl Fn(&P) -> bool,
        now: Instant,
    ) -> Option<P> {
        let Self { access_function, outputs, .. } = self;
        let is_wanted = |to: Option<StationId>, packet: &P| to == Some(receiver) && packet.priority() == priority;
        let popped = access_function.queue.pop_wanted(
            now,
            |(to, packet)| is_wanted(*to, packet),
            |(_, packet)| fits(packet),
            |(to, packet), reason| outputs.push(Output::Dropped(packet, reason.into(), to)),
        );
        match popped {
            Ok(item) => item.map(|(_, packet)| packet),
            Err(_) if access_function.following.is_some() => None,
            Err(_) => {
                let (to, packet) = access_function.pop(now, outputs)?;
                if is_wanted(to, &packet) && fits(&packet) {
                    return Some(packet);
                }
                let following = self.outgoing(to, packet, now);
                self.access_function.following = Some(following);
                None
            }
        }
    }

    /// The block acknowledgment that was waited for.
    fn on_block_ack(&mut self, ack: &BlockAck, now: Instant) {
        self.state = self.rest;
        self.release_due(now);
        let is_request = self.on_air.as_ref().is_some_and(|frame| frame.kind == FrameKind::BlockAckRequest);
        self.note_answer(now);
        let Some(mut originator) = self.access_function.originator.take() else { return };
        let request = if is_request { originator.request.take() } else { None };
        // After a request the next frame may be for another receiver, which has acknowledged nothing.
        let is_its = self.access_function.current().is_some_and(|head| {
            request.is_none_or(|Request { receiver, priority, .. }| {
                (head.receiver, head.priority) == (Some(receiver), Some(priority)) && head.is_under_agreement
            })
        });
        let mut acknowledged = 0;
        if is_its {
            let head = self.access_function.take_current();
            let sent = originator.in_flight() as u32;
            let rated = head.as_ref().and_then(|head| head.receiver.map(|receiver| (receiver, head.chosen)));
            let outputs = &mut self.outputs;
            acknowledged = originator.settle(
                head,
                !is_request,
                |sequence| ack.has(sequence),
                |mpdu| mpdu.into_packets().for_each(|packet| outputs.push(Output::Sent(packet))),
            );
            if let Some((receiver, rate)) = rated.filter(|_| !is_request) {
                self.rates.on_report(receiver, rate, sent, acknowledged as u32);
            }
        }
        self.access_function.originator = Some(originator);
        self.note_outputs();
        if acknowledged > 0 && self.go_on_with_aggregate(now) {
            return;
        }
        self.access_function.backoff.on_done(now, &mut self.random);
        self.take_next(now);
    }

    /// Goes on with the next frame of the TXOP, SIFS from now, if that fits (10.23.2.8).
    fn go_on_with_aggregate(&mut self, now: Instant) -> bool {
        if self.access_function.txop_limit == Duration::ZERO {
            return false;
        }
        self.take_next(now);
        self.leave_ended_agreement();
        let originator = self.access_function.originator.as_ref();
        let has_request = originator.is_some_and(|originator| originator.request.is_some());
        let start = now + self.sifs();
        let Some(head) = self
            .access_function
            .current_mut()
            .filter(|head| head.is_under_agreement && !has_request && !head.is_expired(now))
        else {
            return false;
        };
        if let Some(receiver) = head.receiver {
            head.chosen = self.rates.select(receiver, now, head.unacknowledged);
            head.rate = match &self.widths {
                Some(widths) => widths.fit(self.config.phy.vectors(), head.chosen),
                None => head.chosen,
            };
        }
        // What must be protected begins a TXOP of its own.
        if self.config.is_protected(head.rate) {
            return false;
        }
        let is_spent = originator_limits(self)
            .is_some_and(|limits| self.access_function.current().is_some_and(|head| head.is_spent(&limits, now)));
        if is_spent || !self.assemble(start, Some(self.txop_end), now) {
            return false;
        }
        self.access_function.backoff.on_success();
        let frame = self.data(start, now);
        self.respond(frame, now);
        true
    }

    /// No block acknowledgment has answered a request: it goes again, up to the limit of short frames.
    pub(super) fn fail_request(&mut self, now: Instant) {
        let limit = self.config.short_retry_limit;
        let Some(originator) = &mut self.access_function.originator else { return };
        if let Some(request) = &mut originator.request {
            request.unanswered += 1;
            if request.unanswered < limit {
                self.access_function.backoff.on_failure(now, &mut self.random);
                return;
            }
        }
        originator.request = None;
        self.access_function.backoff.on_done(now, &mut self.random);
        self.take_next(now);
    }

    /// A frame under an agreement was not answered, or could not be sent: what has gone with that in hand is outstanding as before.
    pub(super) fn end_aggregate(&mut self, was_sent: bool) {
        if let Some(originator) = &mut self.access_function.originator {
            originator.end_frame(was_sent);
        }
    }

    /// Gives up the MPDU in hand. A gap remains for the recipient, if it goes under an agreement.
    pub(super) fn drop_current(&mut self, cause: DropCause) {
        let outgoing = self.access_function.take_current().expect("only a frame in hand is given up");
        if let (true, Some(receiver), Some(priority), Some(originator)) =
            (outgoing.is_in_body, outgoing.receiver, outgoing.priority, &mut self.access_function.originator)
        {
            let (start, rate) = (outgoing.sequence.wrapping_add(1), outgoing.rate);
            let request = Request { receiver, priority, start, rate, unanswered: 0 };
            let negotiations = self.block_acks.as_mut().and_then(|block_acks| block_acks.negotiations.as_mut());
            let is_told = match negotiations {
                None => Some(request),
                Some(negotiations) => negotiations.handle_given_up((receiver, priority), outgoing.sequence, request),
            };
            originator.request = is_told.or(originator.request);
        }
        let receiver = outgoing.receiver;
        outgoing.into_packets().for_each(|packet| self.put_out(Output::Dropped(packet, cause, receiver)));
    }

    /// How long the answer to a data frame under an agreement takes: a block acknowledgment, or the shorter ACK to one MPDU.
    pub(super) fn answer_airtime(&mut self, receiver: Option<StationId>, rate: TxVector) -> Duration {
        let originator = self.access_function.originator.as_ref();
        let aggregate = originator.filter(|originator| originator.in_flight() > 1);
        if let Some(window) = aggregate.map(|originator| originator.limits.window) {
            return self.block_ack_airtime(receiver, rate, window);
        }
        self.response_to(receiver, rate).airtime
    }

    fn block_ack_airtime(&mut self, receiver: Option<StationId>, rate: TxVector, window: u32) -> Duration {
        let vector = self.response_to(receiver, rate).rate;
        self.config.phy.airtime(vector, FrameKind::block_ack_octets(window))
    }

    /// Buffer Size of the agreement with a receiver.
    fn window_with(&self, receiver: Option<StationId>, priority: Option<UserPriority>) -> u32 {
        let negotiations = self.block_acks.as_ref().and_then(|block_acks| block_acks.negotiations.as_ref());
        let agreed = negotiations.zip(receiver.zip(priority)).and_then(|(negotiations, key)| negotiations.window(key));
        agreed.unwrap_or_else(|| self.limits_with(receiver).map_or(1, |limits| limits.window))
    }

    /// Whether agreements are made over the air.
    fn negotiates(&self) -> bool {
        self.block_acks.as_ref().is_some_and(|block_acks| block_acks.negotiations.is_some())
    }

    /// The frame on the air, or a request, has been answered.
    pub(super) fn note_answer(&mut self, now: Instant) {
        let Self { block_acks: Some(block_acks), on_air: Some(frame), .. } = self else { return };
        // What has been acknowledged is held by nobody else, so that its memory can be used again.
        block_acks.on_air = None;
        if let (Some(negotiations), Some(key)) = (&mut block_acks.negotiations, frame.receiver.zip(frame.priority)) {
            negotiations.handle_answer(key, now);
        }
    }
}

/// What a station with these limits offers and accepts, if agreements are made over the air.
fn terms(limits: &Aggregation) -> Option<Terms> {
    match limits.agreements {
        Agreements::Implicit => None,
        Agreements::Negotiated { inactivity } => {
            Some(Terms { window: limits.window, amsdu: limits.amsdu > 0, inactivity })
        }
    }
}

/// A recipient's agreement ends.
fn close<P: Payload>(
    recipients: &mut Recipients<P>,
    outputs: &mut Outputs<P>,
    originator: StationId,
    priority: UserPriority,
) {
    let recipient = recipients.of(originator, priority, Recipient::without_agreement);
    recipient.close(|packet| outputs.push(Output::Released(packet, originator)));
}

fn originator_limits<P: Payload>(station: &Dcf<P>) -> Option<super::Aggregation> {
    station.access_function.originator.as_ref().map(|originator| originator.limits)
}

/// The MPDUs that have come.
fn arrived<'a, P>(mpdus: &'a [Mpdu<P>], received: &MpduSet) -> impl Iterator<Item = &'a Mpdu<P>> {
    let received = *received;
    mpdus.iter().enumerate().filter_map(move |(place, mpdu)| received.has(place).then_some(mpdu))
}
