//! A program that forwards data.

use crate::host::socket::{Read, SocketEvent, SocketId, Unit};
use crate::host::{Context, Stack};
use crate::id::FlowId;
use hopcast_protocols::application::Relay as Holder;

/// Reads from one socket and writes to another: datagrams one by one, bytes as far as there is room for them.
#[derive(Debug)]
pub(in crate::host) struct Relay {
    flow: FlowId,
    input: SocketId,
    output: SocketId,
    /// Where writes block: the datagram in hand.
    holder: Holder<Unit>,
}

impl Relay {
    pub(super) fn new(flow: FlowId, input: SocketId, output: SocketId) -> Self {
        Self { flow, input, output, holder: Holder::new() }
    }

    pub(super) fn handle_event(
        &mut self,
        socket: SocketId,
        event: SocketEvent,
        stack: &mut Stack,
        cx: &mut Context<'_>,
    ) {
        let other = if socket == self.input { self.output } else { self.input };
        match event {
            SocketEvent::Readable | SocketEvent::Writable if stack.awaits_turn(self.output, cx.now) => {}
            SocketEvent::Readable | SocketEvent::Writable => self.pass_on(stack, cx),
            // Octets are of no use without the rest; datagrams that have come are still sent.
            SocketEvent::Closed { has_failed: true } if other.is_stream() => stack.abort(other, cx.now),
            SocketEvent::Closed { .. } if socket == self.input => stack.close(self.output, cx.now),
            SocketEvent::Closed { .. } | SocketEvent::Heard { .. } | SocketEvent::TargetRate(_) => {}
        }
    }

    pub(super) fn handle_timeout(&self, stack: &mut Stack, cx: &Context<'_>) {
        stack.awaits_turn(self.output, cx.now);
    }

    /// Sends the datagram in hand, or the next one.
    pub(super) fn handle_turn(&mut self, stack: &mut Stack, cx: &mut Context<'_>) -> bool {
        if stack.is_paused(self.output, cx.now) || stack.is_held(self.output) {
            return false;
        }
        if self.holder.is_receiving() {
            let Some(Read::Datagram(unit)) = stack.read(self.input, u32::MAX, cx.now) else { return false };
            self.holder.handle_unit(unit);
        }
        let Some(unit) = self.holder.poll_unit() else { return false };
        let Some(permit) = stack.admit(self.output, unit.octets, cx.now) else { return false };
        stack.send_admitted(permit, unit.clone(), cx);
        self.holder.handle_sent();
        true
    }

    /// Passes on what has come, as far as there is room for it.
    fn pass_on(&self, stack: &mut Stack, cx: &mut Context<'_>) {
        while let Some(read) = stack.read(self.input, stack.space(self.output), cx.now) {
            match read {
                Read::Datagram(unit) => stack.send_or_lose(self.output, unit, cx),
                Read::Octets(octets) => {
                    let taken = stack.write(self.output, octets, cx.now);
                    debug_assert_eq!(taken, octets, "a connection takes what it has room for");
                }
                Read::End => {
                    stack.close(self.input, cx.now);
                    stack.close(self.output, cx.now);
                    return;
                }
            }
        }
    }

    /// The datagram that was read and is not yet sent.
    pub(super) fn held_datagram(&self) -> Option<(FlowId, u64)> {
        self.holder.poll_unit().map(|unit| (self.flow, unit.seq))
    }
}
