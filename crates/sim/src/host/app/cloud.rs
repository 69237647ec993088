//! A device of a streaming cloud as a program: its socket, and the requests of its user.

use std::collections::{BTreeSet, VecDeque};
use std::net::Ipv4Addr;
use std::sync::Arc;

use hopcast_protocols::streaming::delivery::{PACKET, packets_in};
use hopcast_protocols::streaming::device::{self, Blocks, Datagram, Device, Output};
use hopcast_protocols::streaming::profile::LinkTotals;
use hopcast_protocols::streaming::variable_rate::Index;
use hopcast_protocols::time::{Duration, Instant};
use hopcast_radio::mac::edca::UserPriority;
use hopcast_wire::cloud::{MEDIA_HEADER_LEN, PORT, Wish};

use super::Program;
use crate::address::ip_address;
use crate::host::ip::neighbours::Neighbours;
use crate::host::socket::SocketId;
use crate::host::socket::messages::Received;
use crate::host::{Context, Host, Stack};
use crate::id::FlowId;

/// Priority of media, that of video (IEEE 802.11-2020, Table 10-1).
const MEDIA: UserPriority = UserPriority::new(5);

/// What a user asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Request {
    /// The clip.
    pub wish: Wish,
    /// How it is stored.
    pub form: Form,
    /// Time for which the user waits for a device that has it, and for a path that admits the stream.
    pub patience: Duration,
}

/// How a clip is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// As a whole.
    Whole,
    /// In blocks.
    Blocks(Blocks),
    /// In several rates, the lowest first.
    Rates(Arc<[u32]>),
}

/// What a device is, and what its user does.
#[derive(Debug)]
pub(crate) struct CloudOptions {
    /// Parameters of the device.
    pub config: device::Config,
    /// Numbers of the clips and blocks that it stores.
    pub clips: BTreeSet<u32>,
    /// How the rates of clips vary that don't have a constant one, by their numbers.
    pub indices: Vec<(u32, Arc<Index>)>,
    /// What its user asks for and when, the earliest first.
    pub requests: VecDeque<(Instant, Request)>,
    /// When its program is killed, and when it starts again, in the order of time.
    pub failures: VecDeque<(Instant, Instant)>,
    /// Rates that it takes its links to have, divided by those that they have, if it lies.
    pub lie: Option<f64>,
    /// The nodes that its radio may reach.
    pub neighbours: Arc<Neighbours>,
    /// Seed of the run.
    pub seed: u64,
}

/// The program.
#[derive(Debug)]
pub(in crate::host) struct Cloud {
    device: Device,
    socket: SocketId,
    program: u32,
    requests: VecDeque<(Instant, Request)>,
    failures: VecDeque<(Instant, Instant)>,
    lie: Option<f64>,
    /// What it stores when it starts.
    clips: BTreeSet<u32>,
    /// From when on it runs.
    up: Instant,
    seed: u64,
}

impl Cloud {
    /// Messages have come.
    pub(super) fn handle_readable(&mut self, stack: &mut Stack, cx: &mut Context<'_>) {
        while let Some(Received { from, octets, length, packets }) = stack.read_message(self.socket) {
            if self.up <= cx.now {
                self.device.handle_datagram(from, &octets, length + (packets - 1) * PACKET, cx.now);
                self.drain(stack, cx);
            }
        }
        self.set_timer(stack);
    }

    pub(super) fn handle_timeout(&mut self, stack: &mut Stack, cx: &mut Context<'_>) {
        while let Some(&(at, until)) = self.failures.front()
            && at <= cx.now
        {
            self.failures.pop_front();
            self.device.handle_killed(self.clips.clone(), self.seed, cx.now, until);
            self.up = until;
        }
        while self.requests.front().is_some_and(|(at, _)| *at <= cx.now) {
            let Some((_, Request { wish, form, patience })) = self.requests.pop_front() else { break };
            if cx.now < self.up {
                continue;
            }
            match form {
                Form::Whole => self.device.handle_request(wish, cx.now),
                Form::Blocks(blocks) => self.device.handle_request_in_blocks(wish, blocks, cx.now),
                Form::Rates(rates) => self.device.handle_adaptive_request(wish, rates, cx.now),
            }
            self.device.handle_patience(cx.now + patience);
            self.drain(stack, cx);
        }
        if self.device.poll_timeout() <= cx.now {
            self.device.handle_timeout(cx.now);
            self.drain(stack, cx);
        }
        self.set_timer(stack);
    }

    pub(super) fn handle_station_dump(&mut self, dump: &[(Ipv4Addr, LinkTotals)], now: Instant) {
        let Some(factor) = self.lie else { return self.device.handle_station_dump(dump.iter().copied(), now) };
        // As many more packets of the same size in the same airtime. A float to integer cast saturates.
        let times = |count: u64| (count as f64 * factor) as u64;
        let told =
            |totals: LinkTotals| LinkTotals { octets: times(totals.octets), packets: times(totals.packets), ..totals };
        self.device.handle_station_dump(dump.iter().map(|&(neighbour, totals)| (neighbour, told(totals))), now);
    }

    pub(super) fn device(&self) -> &Device {
        &self.device
    }

    fn drain(&mut self, stack: &mut Stack, cx: &mut Context<'_>) {
        while let Some(output) = self.device.poll_output() {
            match output {
                Output::Dump => stack.wants_dump = true,
                Output::Send(Datagram { to, octets, length }) => {
                    let is_long = length as usize > octets.len() && octets.len() == MEDIA_HEADER_LEN;
                    let priority = if is_long { MEDIA } else { UserPriority::NETWORK_CONTROL };
                    // A batch of media goes over the air packet by packet.
                    let packets = if is_long { packets_in(length) } else { 1 };
                    let message = (octets, length - (packets - 1) * PACKET, packets);
                    stack.send_message_from(self.socket, to, message, priority, cx);
                }
            }
        }
    }

    fn set_timer(&self, stack: &mut Stack) {
        let request = self.requests.front().map(|(at, _)| *at);
        let failure = self.failures.front().map(|&(at, _)| at);
        let next = request.into_iter().chain(failure).fold(self.device.poll_timeout(), Instant::min);
        stack.set_program_timer(self.program, Some(next));
    }
}

impl Host {
    /// Makes this host a device of a streaming cloud.
    pub(crate) fn add_cloud(&mut self, options: CloudOptions) {
        let CloudOptions { config, clips, indices, requests, failures, lie, neighbours, seed } = options;
        let owner = self.next_owner(FlowId::NONE);
        let socket = self.stack.add_messages(owner, PORT, neighbours);
        let mut device = Device::new(ip_address(self.stack.node), config, clips.clone(), seed, Instant::START);
        indices.into_iter().for_each(|(clip, index)| device.set_index(clip, index));
        let cloud =
            Cloud { device, socket, program: owner.program, requests, failures, lie, clips, up: Instant::START, seed };
        let stack = &mut self.stack;
        let program = Program::Cloud(Box::new(cloud));
        self.programs.push(program);
        stack.timers.grow(super::Slot::Program(self.programs.len() as u32).index());
        if let Some(Program::Cloud(cloud)) = self.programs.last() {
            cloud.set_timer(stack);
        }
    }
}
