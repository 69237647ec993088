//! A relay on the path: reads a unit, then writes it to the next host, and reads nothing meanwhile.

use std::io;
use std::net::{IpAddr, Shutdown, TcpListener, TcpStream, UdpSocket};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use hopcast_protocols::application::Relay;
use hopcast_protocols::time::Instant;
use hopcast_sim::io_error::cause;
use hopcast_wire::probe::Packet;

use super::SILENCE;
use super::control::{Control, Event, Message, Open, Relayed};
use super::overflow::Overflow;
use super::socket::{Input, LOOK, Output, accept, is_transient, with_port, write_all};
use super::units::Units;
use super::watch::Record;
use crate::platform::clock::Clock;
use crate::platform::wait;

/// What a relay counts, from its threads.
#[derive(Debug, Default)]
struct Counters {
    received: AtomicU64,
    forwarded: AtomicU64,
    garbage: AtomicU64,
}

impl Counters {
    fn read(&self, overflow: Option<Overflow>) -> Relayed {
        let [received, forwarded, garbage] =
            [&self.received, &self.forwarded, &self.garbage].map(|counter| counter.load(Ordering::Relaxed));
        Relayed { received, forwarded, garbage, overflowed: overflow.map_or(0, Overflow::count) }
    }
}

fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

/// Serves one flow, which goes on to `next`, from `open` to its end, or until `stop` is set.
///
/// # Errors
///
/// Why it can't be served, in a sentence that names the host to blame if it is not this one.
pub(super) fn serve(
    up: &mut Control,
    open: &Open,
    next: &str,
    clock: Clock,
    stop: &AtomicBool,
    record: Option<&Record>,
) -> Result<(), String> {
    let path = open.path.get(1..).unwrap_or_default().to_vec();
    let mut down = Control::connect(next)?;
    let local = |error: io::Error| cause(&error);
    let hops = path.len();
    down.send(&Message::Open(Open { path, ..open.clone() })).map_err(|error| format!("{next}: {}", cause(&error)))?;
    let Message::Opened { port } = down.answer(next, hops)? else {
        return Err(format!("{next}: does not answer as hopcast probe does"));
    };
    let source = up.peer().map_err(local)?.ip();
    let input = Input::bind(open.protocol, up.local().map_err(local)?, open.socket_buffer).map_err(local)?;
    let overflow = input.overflow().map_err(local)?;
    let remote = with_port(down.peer().map_err(local)?, port);
    let address = down.local().map_err(local)?;
    let output = Output::connect(open.protocol, address, remote, open.socket_buffer)
        .map_err(|error| format!("{next}: {}", cause(&error)))?;
    up.send(&Message::Opened { port: input.port().map_err(local)? }).map_err(local)?;
    let mut upwards = up.writer().map_err(local)?;
    let mut downwards = down.writer().map_err(local)?;
    let (counters, ended) = (Counters::default(), AtomicBool::new(false));
    let (session, size) = (open.session, open.size as usize);
    let mut passed_on = record.and_then(|record| record.passed_on(open, source, remote.ip(), clock.now()));
    thread::scope(|scope| {
        let (counters, ended) = (&counters, &ended);
        scope.spawn(move || match (input, output) {
            (Input::Udp(input), Output::Udp(output)) => {
                pass_datagrams(&input, &output, session, size, counters, ended);
            }
            // A connection that breaks ends the stream, for both sides.
            (Input::Tcp(input), Output::Tcp(output)) => {
                drop(pass_stream(&input, source, output, size, counters, ended));
            }
            _ => unreachable!("both sides of a flow have its protocol"),
        });
        scope.spawn(move || {
            talk_up(&mut down, &mut upwards, next, &|| counters.read(overflow), ended);
            ended.store(true, Ordering::Relaxed);
        });
        talk_down(up, &mut downwards, clock, ended, stop, &mut |now| {
            if let Some(passed_on) = &mut passed_on {
                passed_on.look(|| counters.read(overflow), false, now);
            }
        });
        ended.store(true, Ordering::Relaxed);
    });
    if let Some(passed_on) = &mut passed_on {
        passed_on.look(|| counters.read(overflow), true, clock.now());
    }
    Ok(())
}

/// What comes from the source goes on as it is.
fn talk_down(
    up: &mut Control,
    down: &mut Control,
    clock: Clock,
    ended: &AtomicBool,
    stop: &AtomicBool,
    look: &mut dyn FnMut(Instant),
) {
    let mut heard = clock.now();
    while !ended.load(Ordering::Relaxed) && !stop.load(Ordering::Relaxed) {
        look(clock.now());
        match up.receive(LOOK) {
            Event::Message(message) => {
                heard = clock.now();
                if down.send(&message).is_err() {
                    return;
                }
            }
            Event::Idle if clock.now().saturating_since(heard) <= SILENCE => {}
            Event::Idle | Event::Closed | Event::Garbage(_) => return,
        }
    }
}

/// What comes from the receiver goes on, reports with what this relay has counted.
fn talk_up(down: &mut Control, up: &mut Control, next: &str, relayed: &dyn Fn() -> Relayed, ended: &AtomicBool) {
    while !ended.load(Ordering::Relaxed) {
        let message = match down.receive(LOOK) {
            Event::Message(Message::Report(mut report)) => {
                // The farthest relay is the first to add its own.
                report.relays.insert(0, relayed());
                Message::Report(report)
            }
            Event::Message(message) => message,
            Event::Idle => continue,
            Event::Closed => {
                let _ = up.send(&Message::Refused(format!("{next}: has closed the connection")));
                return;
            }
            Event::Garbage(problem) => {
                let _ = up.send(&Message::Refused(format!("{next}: {problem}")));
                return;
            }
        };
        if up.send(&message).is_err() {
            return;
        }
    }
}

fn pass_datagrams(
    input: &UdpSocket,
    output: &UdpSocket,
    session: u64,
    size: usize,
    counters: &Counters,
    ended: &AtomicBool,
) {
    // One octet more, so that longer ones are seen to be.
    let mut octets = vec![0; size + 1];
    let mut relay = Relay::new();
    while !ended.load(Ordering::Relaxed) {
        match relay.poll_unit().copied() {
            None => match input.recv(&mut octets) {
                Ok(length) => {
                    let packet = Packet::new_checked(&octets[..length]);
                    if packet.is_ok_and(|packet| packet.session() == session) {
                        count(&counters.received);
                        relay.handle_unit(length);
                    } else {
                        count(&counters.garbage);
                    }
                }
                Err(error) if is_transient(&error) => {
                    wait::readable(input, LOOK);
                }
                Err(_) => return,
            },
            Some(length) => match output.send(&octets[..length]) {
                Ok(_) => {
                    count(&counters.forwarded);
                    relay.handle_sent();
                }
                Err(error) if is_transient(&error) => {
                    wait::writable(output, LOOK);
                }
                // The error is that of an earlier datagram.
                Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {}
                // A send that fails has lost its unit, and the next one is read.
                Err(_) => relay.handle_sent(),
            },
        }
    }
}

fn pass_stream(
    listener: &TcpListener,
    source: IpAddr,
    mut output: TcpStream,
    size: usize,
    counters: &Counters,
    ended: &AtomicBool,
) -> io::Result<()> {
    let stranger = || count(&counters.garbage);
    let Some(mut input) = accept(listener, source, ended, stranger)? else { return Ok(()) };
    let mut units = Units::new(size);
    while !ended.load(Ordering::Relaxed) {
        loop {
            match units.poll_unit() {
                Ok(Some(unit)) => {
                    count(&counters.received);
                    if !write_all(&mut output, unit, ended)? {
                        return Ok(());
                    }
                    count(&counters.forwarded);
                }
                Ok(None) => break,
                Err(_) => {
                    count(&counters.garbage);
                    return Ok(());
                }
            }
        }
        match units.read(&mut input) {
            Ok(0) => return output.shutdown(Shutdown::Write),
            Ok(_) => {}
            Err(error) if is_transient(&error) => {
                wait::readable(&input, LOOK);
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
