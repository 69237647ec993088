//! A source program: an application, and the protection of its data.

use super::SourceOptions;
use super::fec::{FEC_SOURCE_TRAILER, Protection};
use crate::host::socket::{Owner, Sent, SocketEvent, SocketId, Unit};
use crate::host::{Context, Stack};
use crate::id::FlowId;
use hopcast_protocols::application::Application;
use hopcast_protocols::time::Instant;

/// How an attempt to write has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Attempt {
    /// Something was written, or lost.
    Wrote,
    /// Nothing is due.
    Idle,
    /// The socket has no room, or nothing is left to write.
    Blocked,
}

/// What writes one flow.
#[derive(Debug)]
pub(in crate::host) struct Source {
    owner: Owner,
    socket: SocketId,
    application: Box<dyn Application>,
    is_blocking: bool,
    start: Instant,
    stop: Option<Instant>,
    protection: Option<Box<Protection>>,
    /// Room in the send buffer, in bytes, at which a blocking write to a stream goes on; less if less is left to write.
    quantum: u32,
    /// Bytes of a blocking write that the stream has not accepted yet.
    left: u32,
    /// Where the latest write has yet to return: whether it was the application's, and not a repair packet.
    unreturned: Option<bool>,
    /// Whether the application has ended, or was stopped.
    has_ended: bool,
    /// Whether nothing is left to write, what FEC has to say included.
    is_done: bool,
}

impl Source {
    pub(super) fn new(owner: Owner, socket: SocketId, options: SourceOptions) -> Self {
        let SourceOptions { application, start, stop, quantum, fec } = options;
        let protection = fec.map(|config| Box::new(Protection::new(&config)));
        let is_blocking = application.is_blocking();
        Self {
            owner,
            socket,
            application,
            is_blocking,
            start,
            stop,
            protection,
            quantum,
            left: 0,
            unreturned: None,
            has_ended: false,
            is_done: false,
        }
    }

    /// The flow that it writes.
    pub(super) fn flow(&self) -> FlowId {
        self.owner.flow
    }

    pub(super) fn handle_event(&mut self, event: SocketEvent, stack: &mut Stack, cx: &mut Context<'_>) {
        match event {
            SocketEvent::Writable => self.write_all(stack, cx),
            SocketEvent::Closed { has_failed: true } => {
                if self.application.is_finite() {
                    cx.flows[self.owner.flow].handle_source_finished();
                }
                self.is_done = true;
                stack.set_program_timer(self.owner.program, None);
            }
            SocketEvent::TargetRate(rate) => self.application.handle_target_rate(rate, cx.now),
            SocketEvent::Heard { octets } => self.handle_heard(octets, stack, cx),
            SocketEvent::Closed { has_failed: false } | SocketEvent::Readable => {}
        }
    }

    /// The flow that the application listens to has brought `octets`: there may be something to write now, or later than before.
    fn handle_heard(&mut self, octets: u32, stack: &mut Stack, cx: &mut Context<'_>) {
        let is_running = self.start <= cx.now && self.stop.is_none_or(|stop| cx.now < stop);
        if is_running && !self.is_done && self.application.poll_timeout().is_some() {
            self.application.handle_received(octets, cx.now);
            self.handle_timeout(stack, cx);
        }
    }

    pub(super) fn handle_timeout(&mut self, stack: &mut Stack, cx: &mut Context<'_>) {
        if !stack.awaits_turn(self.socket, cx.now) {
            self.write_all(stack, cx);
            stack.settle(self.socket);
        }
    }

    pub(super) fn handle_turn(&mut self, stack: &mut Stack, cx: &mut Context<'_>) -> bool {
        let attempt = if self.is_done { Attempt::Blocked } else { self.write_datagram(stack, cx) };
        if attempt == Attempt::Idle {
            let timer = self.poll_timeout(self.application.poll_timeout(), cx.now);
            stack.set_program_timer(self.owner.program, timer);
        }
        attempt == Attempt::Wrote
    }

    /// Writes what is due, as far as the socket has room.
    fn write_all(&mut self, stack: &mut Stack, cx: &mut Context<'_>) {
        let write = if self.socket.is_stream() { Self::write_octets } else { Self::write_datagram };
        while !self.is_done && !cx.stop.is_set() && write(self, stack, cx) == Attempt::Wrote {}
        let due = self.application.poll_timeout();
        if due.is_none() {
            cx.flows[self.owner.flow].handle_source_finished();
        }
        let timer = if self.is_done { None } else { self.poll_timeout(due, cx.now) };
        stack.set_program_timer(self.owner.program, timer);
    }

    /// Writes the datagram that is due, or the repair packet that waits to leave.
    fn write_datagram(&mut self, stack: &mut Stack, cx: &mut Context<'_>) -> Attempt {
        let now = cx.now;
        if let Some(is_data) = self.unreturned {
            if stack.is_held(self.socket) {
                return Attempt::Blocked;
            }
            self.unreturned = None;
            self.handle_returned(is_data, now);
            if self.application.poll_timeout().is_none() {
                cx.flows[self.owner.flow].handle_source_finished();
            }
        }
        self.note_end(now);
        let repair = self.protection.as_mut().and_then(|protection| {
            protection.advance(self.has_ended, now);
            protection.waiting()
        });
        if self.has_ended && repair.is_none() {
            self.finish(stack, now);
            return Attempt::Blocked;
        }
        if stack.is_paused(self.socket, now) {
            return Attempt::Blocked;
        }
        let due = || self.application.poll_write(now).map(|octets| (octets, self.overhead()));
        let Some((octets, overhead)) = repair.map(|octets| (octets, 0)).or_else(due) else {
            return Attempt::Idle;
        };
        if !self.is_blocking {
            let unit = self.next_unit(octets, cx);
            self.handle_returned(repair.is_none(), now);
            stack.send_or_lose(self.socket, unit, cx);
            return Attempt::Wrote;
        }
        let Some(permit) = stack.admit(self.socket, octets + overhead, now) else { return Attempt::Blocked };
        let unit = self.next_unit(octets, cx);
        let sent = stack.send_admitted(permit, unit, cx);
        if stack.is_held(self.socket) {
            self.unreturned = Some(repair.is_none());
            return Attempt::Wrote;
        }
        self.handle_returned(repair.is_none(), now);
        let is_exhausted = self.application.poll_timeout().is_none();
        if is_exhausted {
            cx.flows[self.owner.flow].handle_source_finished();
        }
        if is_exhausted && self.protection.is_none() {
            self.finish(stack, now);
        } else if let Sent::NoRoute { may_come } = sent {
            match may_come {
                true => stack.pause(self.socket, now),
                // A program that would try again at once would never stop.
                false => self.finish(stack, now),
            }
        }
        Attempt::Wrote
    }

    /// A write has returned: the application's, or that of a repair packet.
    fn handle_returned(&mut self, is_data: bool, now: Instant) {
        if is_data {
            self.application.handle_written(now);
        }
    }

    /// The datagram of `octets` that the application writes; or, where one waits, the repair packet.
    fn next_unit(&mut self, octets: u32, cx: &mut Context<'_>) -> Unit {
        let flow = self.owner.flow;
        let repair = self.protection.as_mut().and_then(|protection| protection.take_repair(flow, cx));
        repair.unwrap_or_else(|| {
            let expires = self.application.expires();
            let seq = cx.flows[flow].handle_datagram_sent(octets);
            cx.flows[flow].note_sent(seq, octets, cx.now);
            let unit = Unit { seq, created: cx.now, expires, octets, coded: None };
            match &mut self.protection {
                Some(protection) => protection.protect(unit, cx.now),
                None => unit,
            }
        })
    }

    /// Writes bytes of a stream: all that are due of an application that does not block, or none; of one that blocks, what there is
    /// room for.
    fn write_octets(&mut self, stack: &mut Stack, cx: &mut Context<'_>) -> Attempt {
        self.note_end(cx.now);
        if self.has_ended {
            self.finish(stack, cx.now);
            return Attempt::Blocked;
        }
        let flow = &mut cx.flows[self.owner.flow];
        let space = stack.space(self.socket);
        if self.left == 0 {
            let Some(octets) = self.application.poll_write(cx.now) else { return Attempt::Idle };
            if !self.is_blocking {
                self.application.handle_written(cx.now);
                if space >= octets {
                    let taken = stack.write(self.socket, octets, cx.now);
                    flow.handle_stream_written(taken, taken == octets, cx.now);
                } else {
                    flow.handle_stream_refused(octets, cx.now);
                }
                return Attempt::Wrote;
            }
            self.left = octets;
        }
        if space < self.left.min(self.quantum) {
            return Attempt::Blocked;
        }
        let taken = stack.write(self.socket, self.left, cx.now);
        self.left -= taken;
        flow.handle_stream_written(taken, self.left == 0, cx.now);
        if self.left > 0 {
            return Attempt::Blocked;
        }
        self.application.handle_written(cx.now);
        Attempt::Wrote
    }

    fn note_end(&mut self, now: Instant) {
        self.has_ended |= self.stop.is_some_and(|stop| stop <= now) || self.application.poll_timeout().is_none();
    }

    /// Nothing is left to write.
    fn finish(&mut self, stack: &mut Stack, now: Instant) {
        self.is_done = true;
        stack.close(self.socket, now);
    }

    /// Bytes that FEC adds to a datagram.
    fn overhead(&self) -> u32 {
        if self.protection.is_some() { FEC_SOURCE_TRAILER } else { 0 }
    }

    /// When there may be something to write although nothing happens to the socket, given when the application is due. A write that is
    /// due and blocks waits for the socket, after the stop too. At the stop FEC cuts its last block short, and a connection is closed.
    fn poll_timeout(&self, due: Option<Instant>, now: Instant) -> Option<Instant> {
        let due = due.filter(|&due| due > now);
        let block = self.protection.as_ref().and_then(|protection| protection.poll_timeout());
        let stop = self.stop.filter(|_| !self.has_ended);
        [due, block, stop].into_iter().flatten().min()
    }
}
