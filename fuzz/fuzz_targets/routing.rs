//! Each routing protocol under any operations and bytes: it never panics, and never puts out without end.

#![no_main]

use std::net::Ipv4Addr;

use hopcast_protocols::random::{Purpose, Stream};
use hopcast_protocols::routing::{LinkEvent, NextHop, Node, Output, Packet, Routing, aodv, dsdv, dsr, olsr};
use hopcast_protocols::time::{Duration, Instant};
use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;

/// Outputs of one node at one instant that no honest run reaches.
const LIVELOCK: u32 = 100_000;

#[derive(Arbitrary, Debug)]
struct Run {
    protocol: u8,
    operations: Vec<Operation>,
}

#[derive(Arbitrary, Debug)]
enum Operation {
    Message {
        from: u8,
        to: u8,
        ttl: u8,
        octets: Vec<u8>,
    },
    /// The last message that was sent comes back, with a byte changed.
    Echo {
        from: u8,
        change: Option<(u8, u8)>,
    },
    Data {
        from: Option<u8>,
        source: u8,
        destination: u8,
        ttl: u8,
        octets: Vec<u8>,
    },
    Dropped {
        neighbour: u8,
        destination: u8,
        octets: Vec<u8>,
    },
    Lost(u8),
    Wait(u32),
    Timer,
}

fuzz_target!(|run: Run| {
    let node = Node { address: address(1), interfaces: 2, random: Stream::new(1, Purpose::Routing, 0, 0) };
    let mut machine: Box<dyn Routing> = match run.protocol % 4 {
        0 => Box::new(aodv::Aodv::new(aodv::Config::default(), node, Instant::START)),
        1 => Box::new(dsdv::Dsdv::new(dsdv::Config::default(), node)),
        2 => Box::new(dsr::Dsr::new(node, dsr::Config::default())),
        _ => Box::new(olsr::Olsr::new(olsr::Config::default(), node)),
    };
    let mut now = Instant::START;
    let mut last = Vec::new();
    drain(&mut *machine, &mut last);
    for operation in run.operations {
        match operation {
            Operation::Message { from, to, ttl, octets } => {
                machine.handle_message(&packet(address(from), address(to), ttl, Some(from), &octets, false), now);
            }
            Operation::Echo { from, change } => {
                let mut octets = last.clone();
                if let (Some((at, value)), false) = (change, octets.is_empty()) {
                    let at = usize::from(at) % octets.len();
                    octets[at] = value;
                }
                let all = Ipv4Addr::BROADCAST;
                machine.handle_message(&packet(address(from), all, 3, Some(from), &octets, false), now);
            }
            Operation::Data { from, source, destination, ttl, octets } => {
                let packet = packet(address(source), address(destination), ttl, from, &octets, true);
                if packet.destination == address(1) {
                    machine.handle_arrival(&packet, now);
                } else {
                    machine.handle_packet(&packet, now);
                }
            }
            Operation::Dropped { neighbour, destination, octets } => {
                let packet = packet(address(1), address(destination), 9, None, &octets, true);
                machine.handle_link_event(&LinkEvent::FrameDropped { hop: hop(neighbour), packet }, now);
            }
            Operation::Lost(neighbour) => {
                machine.handle_link_event(&LinkEvent::NeighbourLost(hop(neighbour)), now);
            }
            Operation::Wait(nanos) => {
                now += Duration::from_nanos(nanos.into());
                continue;
            }
            Operation::Timer => {
                if let Some(due) = machine.poll_timeout() {
                    now = now.max(due);
                    machine.handle_timeout(now);
                }
            }
        }
        drain(&mut *machine, &mut last);
    }
});

fn address(node: u8) -> Ipv4Addr {
    if node == 255 { Ipv4Addr::BROADCAST } else { Ipv4Addr::new(10, 0, 0, node) }
}

fn hop(node: u8) -> NextHop {
    NextHop { interface: u32::from(node & 1), address: address(node) }
}

fn packet(
    source: Ipv4Addr,
    destination: Ipv4Addr,
    ttl: u8,
    from: Option<u8>,
    octets: &[u8],
    has_data: bool,
) -> Packet<'_> {
    let protocol = if has_data { 17 } else { 0 };
    Packet {
        source,
        destination,
        ttl,
        from: from.map(hop),
        octets,
        has_data,
        protocol,
        identification: 1,
        fragment_offset: 0,
    }
}

fn drain(machine: &mut dyn Routing, last: &mut Vec<u8>) {
    for _ in 0..LIVELOCK {
        match machine.poll_output() {
            None => return,
            Some(Output::Send(message)) => *last = message.octets.to_vec(),
            Some(_) => {}
        }
    }
    panic!("it puts out without end");
}
