//! A program that reads at once everything that arrives, and corrects it if the flow is protected.

use super::fec::Correction;
use crate::host::packet::{Coded, Datagram};
use crate::host::socket::{Read, SocketEvent, SocketId, Unit};
use crate::host::{Context, Stack};
use crate::id::FlowId;
use hopcast_protocols::fec::{Adu, Config, Counting, Output};

/// What reads one flow.
#[derive(Debug)]
pub(in crate::host) struct Sink {
    flow: FlowId,
    correction: Option<Box<Correction>>,
    /// Programs of this host whose applications listen to the flow.
    listeners: Vec<u32>,
}

impl Sink {
    pub(super) fn new(flow: FlowId, fec: Option<&Config>) -> Self {
        let correction = fec.map(|config| Box::new(Correction::new(config, Counting::new())));
        Self { flow, correction, listeners: Vec::new() }
    }

    /// The flow that it reads.
    pub(super) fn flow(&self) -> FlowId {
        self.flow
    }

    /// From now on the program of this host with that number is told of what is read.
    pub(super) fn add_listener(&mut self, program: u32) {
        self.listeners.push(program);
    }

    pub(super) fn handle_event(
        &mut self,
        socket: SocketId,
        event: SocketEvent,
        stack: &mut Stack,
        cx: &mut Context<'_>,
    ) {
        if event != SocketEvent::Readable {
            return;
        }
        while let Some(read) = stack.read(socket, u32::MAX, cx.now) {
            match read {
                Read::Datagram(unit) => self.handle_datagram(unit, socket, stack, cx),
                Read::Octets(octets) => {
                    cx.flows[self.flow].handle_stream_read(octets, cx.now);
                    tell(&self.listeners, octets, socket, stack);
                }
                Read::End => return stack.close(socket, cx.now),
            }
        }
    }

    fn handle_datagram(&mut self, unit: Unit, socket: SocketId, stack: &mut Stack, cx: &mut Context<'_>) {
        let flow = &mut cx.flows[self.flow];
        let (Some(decoder), Some(coded)) = (&mut self.correction, unit.coded) else {
            flow.handle_datagram_received(unit.seq, unit.octets, unit.created, cx.now);
            tell(&self.listeners, unit.octets, socket, stack);
            return;
        };
        let is_source = matches!(*coded, Coded::Source(..));
        let delivered = decoder.statistics().delivered;
        decoder.handle_packet(Coded::clone(&coded), cx.now);
        if !is_source {
            flow.handle_repair_received();
        } else if decoder.statistics().delivered == delivered {
            flow.handle_datagram_refused(unit.seq);
        }
        while let Some(Output { adu: Adu { len, content }, recovered_after }) = decoder.poll_output() {
            let Datagram { seq, created } = content;
            match recovered_after {
                None => {
                    flow.handle_datagram_received(seq, len.into(), created, cx.now);
                }
                Some(_) => flow.handle_datagram_recovered(seq, len.into(), created, cx.now),
            }
            tell(&self.listeners, len.into(), socket, stack);
        }
    }
}

/// Tells these programs that `octets` of the flow have come.
fn tell(listeners: &[u32], octets: u32, socket: SocketId, stack: &mut Stack) {
    for &program in listeners {
        stack.events.push_back((program, socket, SocketEvent::Heard { octets }));
    }
}
