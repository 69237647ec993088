//! The end of a path: reads units as soon as they arrive, and measures.

use std::io;
use std::net::{IpAddr, TcpListener, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use hopcast_protocols::time::{Duration, Instant};
use hopcast_sim::io_error::cause;
use nix::errno::Errno;

use super::SILENCE;
use super::control::{Control, Event, Message, Open, Report};
use super::datagrams::Datagrams;
use super::overflow::Overflow;
use super::plan::Protocol;
use super::sink::Sink;
use super::socket::{Input, LOOK, accept, is_transient};
use super::units::Units;
use super::watch::{Received, Record};
use crate::platform::clock::Clock;
use crate::platform::wait;

/// Between two reports, while the flow goes on.
const REPORT_INTERVAL: Duration = Duration::from_secs(1);
/// When nothing has come for so long after the source's last word, nothing will: what relays and queues hold of datagrams has
/// left them; a stream may have to retransmit.
const QUIET: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(10)];
/// How often it looks whether all has come, once the source has ended.
const LOOK_AT_END: std::time::Duration = std::time::Duration::from_millis(5);

/// Serves one flow from `open` to its end, or until `stop` is set.
///
/// # Errors
///
/// Why it can't be served, in a clause.
pub(super) fn serve(
    control: &mut Control,
    open: &Open,
    clock: Clock,
    stop: &AtomicBool,
    record: Option<&Record>,
) -> Result<(), String> {
    let sink = Mutex::new(Sink::new(open));
    let local = control.local().map_err(|error| cause(&error))?;
    let source = control.peer().map_err(|error| cause(&error))?.ip();
    let input = Input::bind(open.protocol, local, open.socket_buffer).map_err(|error| cause(&error))?;
    let port = input.port().map_err(|error| cause(&error))?;
    let overflow = input.overflow().map_err(|error| cause(&error))?;
    control.send(&Message::Opened { port }).map_err(|error| cause(&error))?;
    let mut received = record.and_then(|record| record.received(open, source, clock.now()));
    if received.is_some() {
        lock(&sink).keep_arrivals();
    }
    let ended = AtomicBool::new(false);
    thread::scope(|scope| {
        let (sink, ended) = (&sink, &ended);
        let size = open.size as usize;
        scope.spawn(move || match input {
            Input::Udp(socket) => read_datagrams(&socket, size, sink, clock, ended),
            // A connection that breaks ends the stream; what is missing is lost.
            Input::Tcp(listener) => drop(read_stream(&listener, source, size, sink, clock, ended)),
        });
        talk(control, open.protocol, sink, overflow, clock, stop, &mut received);
        ended.store(true, Ordering::Relaxed);
    });
    // What has come since the last time, also where a flow was cut off.
    if let Some(received) = &mut received {
        self::record(received, &sink, clock.now());
    }
    Ok(())
}

/// The control connection of a flow, until its other end goes.
fn talk(
    control: &mut Control,
    protocol: Protocol,
    sink: &Mutex<Sink>,
    overflow: Option<Overflow>,
    clock: Clock,
    stop: &AtomicBool,
    received: &mut Option<Received<'_>>,
) {
    let mut heard = clock.now();
    let mut next_report: Option<Instant> = None;
    let mut is_reported = false;
    while !stop.load(Ordering::Relaxed) {
        let look = if lock(sink).is_ending() { LOOK_AT_END } else { LOOK };
        let event = control.receive(look);
        let now = clock.now();
        if let Some(received) = received.as_mut().filter(|received| next_report.is_some() && received.is_due(now)) {
            record(received, sink, now);
        }
        let mut answer = None;
        match event {
            Event::Message(message) => {
                heard = now;
                match message {
                    Message::Ping { sent } => {
                        let nanos = now.as_nanos();
                        answer = Some(Message::Pong { sent, received: nanos, replied: clock.now().as_nanos() });
                    }
                    Message::Start { at, offset } => {
                        lock(sink).handle_start(at, offset);
                        next_report = Some(now + REPORT_INTERVAL);
                        answer = Some(Message::Started);
                    }
                    Message::Offset(offset) => lock(sink).handle_offset(offset),
                    Message::Sent { packets } => lock(sink).handle_sent(packets, now),
                    // Nothing else is said down here.
                    _ => lock(sink).handle_garbage(),
                }
            }
            Event::Idle => {}
            Event::Closed | Event::Garbage(_) => return,
        }
        if now.saturating_since(heard) > SILENCE {
            return;
        }
        let mut report = None;
        let mut has_ended = false;
        if answer.is_none() && !is_reported && next_report.is_some() {
            let mut sink = lock(sink);
            let quiet = now.saturating_since(sink.last()) > QUIET[usize::from(protocol == Protocol::Tcp)];
            if sink.is_complete() || (sink.is_ending() && quiet) {
                sink.finish(now);
                is_reported = true;
                report = Some(sink.report(now, true));
                has_ended = true;
            } else if next_report.is_some_and(|next| next <= now) {
                next_report = Some(now + REPORT_INTERVAL);
                report = Some(sink.report(now, false));
            }
        }
        if let Some(received) = received.as_mut().filter(|_| has_ended) {
            record(received, sink, now);
        }
        if let Some(report) = report {
            // The system's table is read while datagrams can be, too.
            let overflowed = overflow.map_or(0, Overflow::count);
            answer = Some(Message::Report(Box::new(Report { overflowed, ..report })));
        }
        if answer.is_some_and(|answer| control.send(&answer).is_err()) {
            return;
        }
    }
}

/// Writes what has come since the last time.
fn record(received: &mut Received<'_>, sink: &Mutex<Sink>, now: Instant) {
    let (arrivals, summary) = {
        let mut sink = lock(sink);
        (sink.take_arrivals(), sink.summary(now))
    };
    received.look(arrivals, &summary, now);
}

fn lock(sink: &Mutex<Sink>) -> MutexGuard<'_, Sink> {
    // A sink whose thread panicked is as good as it was before.
    sink.lock().unwrap_or_else(PoisonError::into_inner)
}

fn read_datagrams(socket: &UdpSocket, size: usize, sink: &Mutex<Sink>, clock: Clock, ended: &AtomicBool) {
    // One octet more, so that longer ones are seen to be.
    let mut datagrams = Datagrams::new(size + 1);
    while !ended.load(Ordering::Relaxed) {
        match datagrams.receive(socket) {
            Ok(()) => {
                let now = clock.now();
                let mut sink = lock(sink);
                for octets in datagrams.received() {
                    sink.handle_unit(octets, now);
                }
            }
            Err(Errno::EAGAIN | Errno::EINTR) => {
                wait::readable(socket, LOOK);
            }
            Err(_) => return,
        }
    }
}

fn read_stream(
    listener: &TcpListener,
    source: IpAddr,
    size: usize,
    sink: &Mutex<Sink>,
    clock: Clock,
    ended: &AtomicBool,
) -> io::Result<()> {
    let Some(mut stream) = accept(listener, source, ended, || lock(sink).handle_garbage())? else { return Ok(()) };
    let mut units = Units::new(size);
    while !ended.load(Ordering::Relaxed) {
        match units.read(&mut stream) {
            Ok(0) => return Ok(()),
            Ok(_) => {
                let now = clock.now();
                let mut sink = lock(sink);
                loop {
                    match units.poll_unit() {
                        Ok(Some(unit)) if sink.handle_unit(unit, now) => {}
                        Ok(None) => break,
                        Ok(Some(_)) => return Ok(()),
                        Err(_) => {
                            sink.handle_garbage();
                            return Ok(());
                        }
                    }
                }
            }
            Err(error) if is_transient(&error) => {
                wait::readable(&stream, LOOK);
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
