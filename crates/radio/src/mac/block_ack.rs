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

use super::originator::{Originator, Request, Room};
use super::outgoing::{OutgoingMpdu, amsdu_octets, mpdu_with_amsdu_octets};
use super::recipient::{Arrival, Recipients};
use super::{Config, Dcf, DropCause, Output, State};
use crate::aggregate::{BlockAck, Body, Mpdu, MpduSet};
use crate::frame::{Frame, FrameKind, Header, Payload, StationId, UserPriority};
use crate::phy::{Standard, TxVector};

/// What a station has of its agreements, as a recipient and on the air.
#[derive(Clone, Debug)]
pub(super) struct BlockAcks<P> {
    pub(super) recipients: Recipients<P>,
    /// The body of the frame that the station has transmitted last.
    on_air: Option<Rc<Body<P>>>,
    /// The block acknowledgment that is due.
    response: Option<BlockAck>,
}

impl<P: Payload> BlockAcks<P> {
    pub(super) fn new(config: &Config) -> Option<Box<Self>> {
        config.aggregation?;
        Some(Box::new(Self { recipients: Recipients::default(), on_air: None, response: None }))
    }

    /// When packets are to be released that wait for earlier ones.
    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        self.recipients.poll_timeout()
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
        let window = self.window_with(Some(frame.transmitter));
        let Self { block_acks, outputs, counters, .. } = self;
        let Some(block_acks) = block_acks else { return };
        let recipient = block_acks.recipients.of(frame.transmitter, priority, window);
        let from = frame.transmitter;
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
        let ack = recipient.block_ack();
        self.note_outputs();
        let mut response = self.response(kind, frame);
        if kind == FrameKind::BlockAck {
            let window = self.window_with(Some(from));
            response.octets = FrameKind::block_ack_octets(window);
            response.airtime = self.config.phy.airtime(response.vector, response.octets);
            response.duration = frame.duration.saturating_sub(self.sifs() + response.airtime);
            if let Some(block_acks) = &mut self.block_acks {
                block_acks.response = Some(ack);
            }
        }
        self.respond(response, now);
    }

    /// Packets that have waited for earlier ones for long enough are delivered.
    pub(super) fn release_due(&mut self, now: Instant) {
        let Self { block_acks: Some(block_acks), outputs, .. } = self else { return };
        block_acks.recipients.handle_timeout(now, |packet, from| outputs.push(Output::Released(packet, from)));
        self.note_outputs();
    }

    /// What the frame that goes on the air now carries, if that is not one packet.
    pub(super) fn set_body(&mut self, kind: FrameKind) {
        let Self { block_acks: Some(block_acks), access_function, counters, .. } = self else { return };
        let originator = access_function.originator.as_deref();
        let body = match kind {
            FrameKind::Data => {
                let head = access_function.current().filter(|outgoing| outgoing.is_under_agreement);
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
        let window = self.window_with(Some(request.receiver));
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
        if self.config.peers.is_some() {
            self.set_limits(receiver);
        }
        let head_time = self.config.phy.airtime(rate, head_octets);
        let answer = self.sifs() + self.block_ack_airtime(receiver, rate);
        let time = end.map_or(Duration::MAX, |end| end.saturating_since(start + answer));
        self.lengthen_head(now);
        let Some(mut originator) = self.access_function.originator.take() else { return true };
        let Some(head) = self.access_function.current() else { return true };
        let mut room = originator.begin(head, &self.config.phy, time);
        let is_alone = receiver.is_some_and(|receiver| self.rates.is_sample(receiver));
        if !is_alone && originator.add_outstanding(&mut room) {
            while let (Some(receiver), Some(priority)) = (receiver, priority)
                && room.admits(self.sequences.peek(receiver, priority))
                && let Some(mpdu) = self.next_mpdu(receiver, priority, &room, originator.limits.amsdu, now)
            {
                originator.add(mpdu, &mut room);
            }
        }
        if let Some(head) = self.access_function.current_mut() {
            head.psdu_octets = originator.psdu_octets(head, &room);
        }
        self.access_function.originator = Some(originator);
        self.note_outputs();
        head_time <= time
    }

    /// The frame that is filled next keeps to the agreements with `receiver`.
    #[cold]
    fn set_limits(&mut self, receiver: Option<StationId>) {
        let Some(limits) = self.limits_with(receiver) else { return };
        let standard = self.standard_with(receiver);
        if let Some(originator) = &mut self.access_function.originator {
            originator.limits = limits;
            originator.is_always_aggregate = Originator::<P>::is_always_aggregate(&limits, standard);
        }
    }

    /// The standard of frames for `receiver`.
    fn standard_with(&self, receiver: Option<StationId>) -> Standard {
        let peer = self.config.peers.as_ref().zip(receiver).and_then(|(peers, receiver)| peers.of(receiver));
        peer.map_or(self.config.phy.standard(), |peer| peer.standard)
    }

    /// Puts more packets into the MPDU in hand, which has not been sent, up to the longest A-MSDU.
    fn lengthen_head(&mut self, now: Instant) {
        let limits = self.access_function.originator.as_ref().map(|originator| originator.limits);
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
            let rated = head.as_ref().and_then(|head| head.receiver.map(|receiver| (receiver, head.rate)));
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
            head.rate = self.rates.select(receiver, now, head.unacknowledged);
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
            (outgoing.is_under_agreement, outgoing.receiver, outgoing.priority, &mut self.access_function.originator)
        {
            let (start, rate) = (outgoing.sequence.wrapping_add(1), outgoing.rate);
            originator.request = Some(Request { receiver, priority, start, rate, unanswered: 0 });
        }
        let receiver = outgoing.receiver;
        outgoing.into_packets().for_each(|packet| self.put_out(Output::Dropped(packet, cause, receiver)));
    }

    /// How long the answer to a data frame under an agreement takes: a block acknowledgment, or the shorter ACK to one MPDU.
    pub(super) fn answer_airtime(&mut self, receiver: Option<StationId>, rate: TxVector) -> Duration {
        let originator = self.access_function.originator.as_ref();
        if originator.is_some_and(|originator| originator.in_flight() > 1) {
            return self.block_ack_airtime(receiver, rate);
        }
        self.response_to(receiver, rate).airtime
    }

    fn block_ack_airtime(&mut self, receiver: Option<StationId>, rate: TxVector) -> Duration {
        let vector = self.response_to(receiver, rate).rate;
        self.config.phy.airtime(vector, FrameKind::block_ack_octets(self.window_with(receiver)))
    }

    /// Buffer Size of the agreements with a station.
    fn window_with(&self, station: Option<StationId>) -> u32 {
        self.limits_with(station).map_or(1, |limits| limits.window)
    }
}

fn originator_limits<P: Payload>(station: &Dcf<P>) -> Option<super::Aggregation> {
    station.access_function.originator.as_ref().map(|originator| originator.limits)
}

/// The MPDUs that have come.
fn arrived<'a, P>(mpdus: &'a [Mpdu<P>], received: &MpduSet) -> impl Iterator<Item = &'a Mpdu<P>> {
    let received = *received;
    mpdus.iter().enumerate().filter_map(move |(place, mpdu)| received.has(place).then_some(mpdu))
}
