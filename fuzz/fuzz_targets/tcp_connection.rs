//! Two ends of a TCP connection under any operations, losses and orders, and segments of nobody.

#![no_main]

use hopcast_protocols::time::{Duration, Instant};
use hopcast_protocols::transport::tcp::{
    Config, Connection, Elfn, Flags, Options, Output, SackBlock, Segment, Timestamps, Variant,
};
use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;

/// Outputs of one end at one instant that no honest run reaches.
const LIVELOCK: u32 = 10_000;
const BUFFER: u32 = 20_000;

#[derive(Arbitrary, Debug)]
struct Run {
    variant: u8,
    timestamps: bool,
    elfn: bool,
    segment: u16,
    operations: Vec<Operation>,
}

#[derive(Arbitrary, Debug)]
enum Operation {
    Write {
        server: bool,
        len: u16,
    },
    Read {
        server: bool,
        len: u16,
    },
    /// What the end has sent arrives at the other one, the segment at this place first.
    Arrive {
        server: bool,
        place: u8,
        twice: bool,
    },
    Lose {
        server: bool,
        place: u8,
    },
    Forged {
        server: bool,
        near: [i16; 2],
        len: u16,
        flags: u8,
        window: u16,
        timestamps: Option<(u32, u32)>,
        block: Option<(u32, u32)>,
    },
    LinkFailure(bool),
    LinkRestored(bool),
    Close(bool),
    Abort(bool),
    Wait(u32),
    Timer(bool),
}

fuzz_target!(|run: Run| {
    let config = Config {
        segment: run.segment.into(),
        variant: [Variant::Reno, Variant::NewReno, Variant::Sack, Variant::Cubic][usize::from(run.variant % 4)],
        timestamps: run.timestamps,
        elfn: run.elfn.then(Elfn::default),
        send_buffer: BUFFER,
        receive_buffer: BUFFER,
        ..Config::default()
    };
    let mut ends = [Connection::connect(config.clone(), u32::MAX - 50), Connection::listen(config, 9)];
    let mut wires: [Vec<Segment>; 2] = [Vec::new(), Vec::new()];
    let mut written = [0_u64; 2];
    let mut forged = false;
    let mut now = Instant::START;
    drain(&mut ends[0], &mut wires[0], now);
    for operation in run.operations {
        let side = match operation {
            Operation::Write { server, len } => {
                let taken = ends[usize::from(server)].handle_write(len.into(), now);
                written[usize::from(server)] += u64::from(taken);
                server
            }
            Operation::Read { server, len } => {
                ends[usize::from(server)].handle_read(len.into(), now);
                server
            }
            Operation::Arrive { server, place, twice } => {
                let wire = &mut wires[usize::from(!server)];
                if wire.is_empty() {
                    continue;
                }
                let place = usize::from(place) % wire.len();
                let segment = if twice { wire[place] } else { wire.remove(place) };
                ends[usize::from(server)].handle_segment(&segment, now);
                server
            }
            Operation::Lose { server, place } => {
                let wire = &mut wires[usize::from(server)];
                if !wire.is_empty() {
                    wire.remove(usize::from(place) % wire.len());
                }
                continue;
            }
            Operation::Forged { server, near, len, flags, window, timestamps, block } => {
                forged = true;
                let last = wires[usize::from(!server)].last().copied().unwrap_or_default();
                let mut options = Options::new(timestamps.map(|(value, echo)| Timestamps { value, echo }));
                if let Some((left, right)) = block {
                    options = options.with_block(SackBlock { left, right });
                }
                let segment = Segment {
                    seq: last.seq.wrapping_add_signed(near[0].into()),
                    ack: last.ack.wrapping_add_signed(near[1].into()),
                    payload_len: len,
                    flags: Flags(flags.into()),
                    window,
                    options,
                    ..last
                };
                ends[usize::from(server)].handle_segment(&segment, now);
                server
            }
            Operation::LinkFailure(server) => {
                ends[usize::from(server)].handle_link_failure(now);
                server
            }
            Operation::LinkRestored(server) => {
                ends[usize::from(server)].handle_link_restored(now);
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
                    end.handle_timeout(now);
                }
                server
            }
        };
        drain(&mut ends[usize::from(side)], &mut wires[usize::from(side)], now);
        for (end, peer) in [(0, 1), (1, 0)] {
            let end = &ends[end];
            assert!(end.readable() <= BUFFER.into(), "the receive buffer is bounded");
            // The FIN has a position of its own.
            let (space, flight) = (end.send_space(), end.bytes_in_flight());
            assert!(space <= BUFFER && flight <= u64::from(BUFFER) + 1, "room for {space} octets, {flight} in flight");
            assert!(forged || end.statistics().bytes_received <= written[peer], "nothing comes that nobody wrote");
        }
    }
});

fn drain(end: &mut Connection, wire: &mut Vec<Segment>, now: Instant) {
    for _ in 0..LIVELOCK {
        let Some(output) = end.poll_output(now) else { return };
        if let Output::Transmit(segment) = output {
            wire.push(segment);
        }
    }
    panic!("it puts out without end");
}
