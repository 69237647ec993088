//! Programs: they write to sockets, forward, and read.
//!
//! A program knows its sockets only by [`SocketId`], not the protocols behind them: it learns that there may be data to
//! read or room to write, and then does what it can. Source, relay and sink are the programs of a flow; an
//! [`Application`] determines what a source writes, and when.

pub(super) mod cloud;
pub(super) mod fec;
mod relay;
mod sink;
mod source;

use super::socket::{Connect, ListenOptions, Owner, SocketEvent, SocketId, SocketOptions};
use super::{Context, Endpoint, Host, Slot, Stack};
use crate::id::FlowId;
use cloud::Cloud;
use hopcast_protocols::application::Application;
use hopcast_protocols::fec::Config as FecConfig;
use hopcast_protocols::streaming::device::Device;
use hopcast_protocols::streaming::profile::LinkTotals;
use hopcast_protocols::time::Instant;
use relay::Relay;
use sink::Sink;
use source::Source;
use std::net::Ipv4Addr;

/// One program.
#[derive(Debug)]
pub(super) enum Program {
    /// Writes the data of an application.
    Source(Source),
    /// Passes on what comes.
    Relay(Relay),
    /// Reads at once whatever comes.
    Sink(Sink),
    /// A device of a streaming cloud.
    Cloud(Box<Cloud>),
}

/// What a source writes, and when.
#[derive(Debug)]
pub(crate) struct SourceOptions {
    /// The application.
    pub application: Box<dyn Application>,
    /// Time from which its connection is open, if it has one.
    pub start: Instant,
    /// Time when it stops; `None`: at the end of the run.
    pub stop: Option<Instant>,
    /// Room in the send buffer, in bytes, at which a blocking write to a stream continues; less if less remains to be
    /// written.
    pub quantum: u32,
    /// Protection of its datagrams.
    pub fec: Option<FecConfig>,
}

impl Program {
    /// A socket of the program has something to tell.
    pub(super) fn handle_event(
        &mut self,
        socket: SocketId,
        event: SocketEvent,
        stack: &mut Stack,
        cx: &mut Context<'_>,
    ) {
        match self {
            Self::Source(source) => source.handle_event(event, stack, cx),
            Self::Relay(relay) => relay.handle_event(socket, event, stack, cx),
            Self::Sink(sink) => sink.handle_event(socket, event, stack, cx),
            Self::Cloud(cloud) => cloud.handle_readable(stack, cx),
        }
    }

    /// The program's timer is due.
    pub(super) fn handle_timeout(&mut self, stack: &mut Stack, cx: &mut Context<'_>) {
        match self {
            Self::Source(source) => source.handle_timeout(stack, cx),
            Self::Relay(relay) => relay.handle_timeout(stack, cx),
            Self::Sink(_) => {}
            Self::Cloud(cloud) => cloud.handle_timeout(stack, cx),
        }
    }

    /// Tells the program what the interface has sent to each neighbour.
    pub(super) fn handle_station_dump(&mut self, dump: &[(Ipv4Addr, LinkTotals)], now: Instant) {
        if let Self::Cloud(cloud) = self {
            cloud.handle_station_dump(dump, now);
        }
    }

    /// The device of a streaming cloud, if it is one.
    pub(super) fn device(&self) -> Option<&Device> {
        match self {
            Self::Cloud(cloud) => Some(cloud.device()),
            Self::Source(_) | Self::Relay(_) | Self::Sink(_) => None,
        }
    }

    /// A socket of the program has its turn at the interface: it may write one datagram. Returns whether it has.
    pub(super) fn handle_turn(&mut self, stack: &mut Stack, cx: &mut Context<'_>) -> bool {
        match self {
            Self::Source(source) => source.handle_turn(stack, cx),
            Self::Relay(relay) => relay.handle_turn(stack, cx),
            Self::Sink(_) | Self::Cloud(_) => false,
        }
    }

    /// The datagram that a relay has read and not yet sent.
    pub(super) fn held_datagram(&self) -> Option<(FlowId, u64)> {
        match self {
            Self::Relay(relay) => relay.held_datagram(),
            Self::Source(_) | Self::Sink(_) | Self::Cloud(_) => None,
        }
    }
}

impl Host {
    /// Adds a program that writes to `remote`.
    pub(crate) fn add_source(
        &mut self,
        flow: FlowId,
        options: SourceOptions,
        transport: SocketOptions,
        remote: Endpoint,
    ) {
        let owner = self.next_owner(flow);
        let is_blocking = options.application.is_blocking();
        let connect = Connect { remote, opens: options.start, is_blocking, is_first: true };
        let socket = self.stack.connect(owner, transport, connect);
        let wakes = options.application.poll_timeout();
        self.add_program(Program::Source(Source::new(owner, socket, options)));
        self.stack.set_program_timer(owner.program, wakes);
    }

    /// Adds a program that reads from one socket and writes the data to `remote`, from `start` on if that needs a
    /// connection. Returns the port that it listens on.
    pub(crate) fn add_relay(
        &mut self,
        flow: FlowId,
        start: Instant,
        [input, output]: [SocketOptions; 2],
        remote: Endpoint,
    ) -> u16 {
        let owner = self.next_owner(flow);
        let (input, port) = self.stack.listen(owner, input.into(), false);
        let connect = Connect { remote, opens: start, is_blocking: true, is_first: false };
        let output = self.stack.connect(owner, output, connect);
        self.add_program(Program::Relay(Relay::new(flow, input, output)));
        port
    }

    /// Adds a program that reads a flow, and recovers datagrams if FEC protects them. Returns the port that it listens
    /// on.
    pub(crate) fn add_sink(&mut self, flow: FlowId, listen: ListenOptions, fec: Option<&FecConfig>) -> u16 {
        let owner = self.next_owner(flow);
        let (_, port) = self.stack.listen(owner, listen, true);
        self.add_program(Program::Sink(Sink::new(flow, fec)));
        port
    }

    /// Tells the application of `flow` from now on what arrives here on the flow `heard`. No effect if a real host writes
    /// and reads.
    pub(crate) fn set_listening(&mut self, flow: FlowId, heard: FlowId) {
        let is_source = |program: &Program| matches!(program, Program::Source(source) if source.flow() == flow);
        let Some(listener) = self.programs.iter().position(is_source) else { return };
        for program in &mut self.programs {
            if let Program::Sink(sink) = program
                && sink.flow() == heard
            {
                sink.add_listener(listener as u32);
            }
        }
    }

    fn next_owner(&self, flow: FlowId) -> Owner {
        Owner { flow, program: self.programs.len() as u32 }
    }

    fn add_program(&mut self, program: Program) {
        self.programs.push(program);
        self.stack.timers.grow(Slot::Program(self.programs.len() as u32).index());
    }
}
