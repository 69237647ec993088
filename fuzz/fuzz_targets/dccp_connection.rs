//! An end of a DCCP connection, with TFRC or ADTFRC, under any operations and octets.

#![no_main]

use hopcast_protocols::time::{Duration, Instant};
use hopcast_protocols::transport::dccp::{Config, Congestion, Connection, Output, Payload};
use hopcast_protocols::transport::tfrc::Edition;
use hopcast_protocols::transport::{adtfrc, tfrc};
use hopcast_wire::dccp::Packet;
use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;

/// Outputs of one end at one instant that no honest run reaches.
const LIVELOCK: u32 = 1000;

/// A hundred years, after which a run ends: timers of four round trips that each lasted as long as all before come to the end of
/// time soon.
const LATE: Instant = Instant::from_nanos(100 * 365 * 86_400 * 1_000_000_000);

#[derive(Arbitrary, Debug)]
struct Run {
    adaptive: bool,
    old: bool,
    small_packets: bool,
    queue: u8,
    operations: Vec<Operation>,
}

#[derive(Arbitrary, Debug)]
enum Operation {
    Write {
        server: bool,
        len: u16,
    },
    /// What the end has sent arrives at the other one, the packet at this place first, with an octet changed.
    Arrive {
        server: bool,
        place: u8,
        change: Option<(u8, u8)>,
    },
    /// A packet is lost.
    Lose {
        server: bool,
        place: u8,
    },
    Octets {
        server: bool,
        octets: Vec<u8>,
    },
    Flush(bool),
    Close(bool),
    Abort(bool),
    Wait(u32),
    Timer(bool),
}

fuzz_target!(|run: Run| {
    let edition = if run.old { Edition::Rfc3448 } else { Edition::Rfc5348 };
    let tfrc = tfrc::Config { edition, small_packets: run.small_packets, ..tfrc::Config::default() };
    let congestion = if run.adaptive {
        Congestion::Adtfrc(adtfrc::Config { tfrc, ..adtfrc::Config::default() })
    } else {
        Congestion::Tfrc(tfrc)
    };
    let queue = usize::from(run.queue);
    let config = Config { congestion, queue, ..Config::default() };
    let mut ends = [Connection::connect(config.clone(), 7), Connection::listen(config, 9)];
    let mut wires: [Vec<Vec<u8>>; 2] = [Vec::new(), Vec::new()];
    let mut now = Instant::START;
    drain(&mut ends[0], &mut wires[0], now);
    for operation in run.operations {
        let side = match operation {
            Operation::Write { server, len } => {
                ends[usize::from(server)].handle_write(Payload { unit: 0, len: len.into() }, now);
                server
            }
            Operation::Arrive { server, place, change } => {
                let wire = &mut wires[usize::from(!server)];
                if wire.is_empty() {
                    continue;
                }
                let mut octets = wire.remove(usize::from(place) % wire.len());
                if let Some((at, value)) = change {
                    let at = usize::from(at) % octets.len();
                    octets[at] = value;
                }
                let _ = ends[usize::from(server)].handle_datagram(&octets, now);
                server
            }
            Operation::Lose { server, place } => {
                let wire = &mut wires[usize::from(server)];
                if !wire.is_empty() {
                    wire.remove(usize::from(place) % wire.len());
                }
                server
            }
            Operation::Octets { server, octets } => {
                let _ = ends[usize::from(server)].handle_datagram(&octets, now);
                server
            }
            Operation::Flush(server) => {
                ends[usize::from(server)].handle_flush(now);
                server
            }
            Operation::Close(server) => {
                ends[usize::from(server)].handle_close(now);
                server
            }
            Operation::Abort(server) => {
                ends[usize::from(server)].handle_abort(now);
                server
            }
            Operation::Wait(nanos) => {
                now += Duration::from_nanos(nanos.into());
                continue;
            }
            Operation::Timer(server) => {
                let end = &mut ends[usize::from(server)];
                if let Some(due) = end.poll_timeout() {
                    now = now.max(due);
                    if now > LATE {
                        return;
                    }
                    end.handle_timeout(now);
                }
                server
            }
        };
        let (end, wire) = (&mut ends[usize::from(side)], &mut wires[usize::from(side)]);
        drain(end, wire, now);
        let rate = end.sender().tfrc().rate();
        assert!(rate.is_finite() && rate > 0.0);
        assert!(end.queued() <= queue.max(1), "the queue is bounded");
        assert!(end.receiver().intervals().1.len() <= 9, "RFC 5348, section 5.3: eight intervals and the open one");
    }
});

/// What an end has to send; each packet is one, and each of its options is right.
fn drain(end: &mut Connection, wire: &mut Vec<Vec<u8>>, now: Instant) {
    for _ in 0..LIVELOCK {
        let Some(output) = end.poll_output(now) else { return };
        if let Output::Transmit(packet) = output {
            let view = Packet::new_checked(&packet.header[..]).expect("what is sent is a packet");
            assert!(view.options().iter().all(|option| option.is_ok()));
            let mut octets = packet.header.to_vec();
            octets.resize(octets.len() + packet.payload.len as usize, 0);
            wire.push(octets);
        }
    }
    panic!("it puts out without end");
}
