//! The sender's loop: the simulator's source of units ([`AduSource`]), writing to a socket.

use std::io::Write;
use std::net::{Shutdown, TcpStream, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hopcast_protocols::application::{AduSource, Application};
use hopcast_protocols::time::{self, Instant};
use hopcast_sim::io_error::cause;
use hopcast_wire::probe::{MIN_LEN, Packet, Repr, TRAILER_LEN};
use nix::errno::Errno;

use super::datagrams::Datagrams;
use super::plan::FlowPlan;
use super::socket::{LOOK, Output, is_transient};
use crate::platform::clock::Clock;
use crate::platform::wait;

/// A socket that takes nothing for so long is given up.
const STALL: time::Duration = time::Duration::from_secs(30);
/// Between two attempts where the way is missing or the interface's queue is full.
const PAUSE: Duration = Duration::from_millis(1);
/// Largest number of bytes of units in one write to a stream.
const STREAM_WRITE: usize = 1 << 18;

/// How a source ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// Units that the system accepted completely.
    pub packets: u64,
    /// Why it is not all of them, unless stopped on request.
    pub problem: Option<String>,
}

/// Writes the units of `plan` to `output`, beginning at `start`, until all are written or `stop` is set. Each says when the
/// system took it.
pub(crate) fn write(
    plan: &FlowPlan,
    session: u64,
    output: Output,
    start: Instant,
    clock: Clock,
    stop: &AtomicBool,
) -> Written {
    // Waits of a millisecond end when they are to. Where that can't be had they end up to 50 µs later (prctl(2)).
    let _ = nix::sys::prctl::set_timerslack(1);
    let source = AduSource::new(start, plan.size, time::Duration::from_nanos(plan.wait), Some(plan.bytes));
    let mut writer = Writer { source, session, clock, stop, progress: start, written: Written::default() };
    match output {
        Output::Udp(socket) => writer.write_datagrams(&socket, plan.size as usize),
        Output::Tcp(stream) => writer.write_stream(stream, plan.size as usize),
    }
    writer.written
}

struct Writer<'a> {
    source: AduSource,
    session: u64,
    clock: Clock,
    stop: &'a AtomicBool,
    /// When the system last took something, or a wait ended.
    progress: Instant,
    written: Written,
}

impl Writer<'_> {
    /// Waits until the next unit is due. `None` after the last, or when it is to stop.
    fn due(&mut self) -> Option<Instant> {
        let mut has_waited = false;
        while !self.stop.load(Ordering::Relaxed) {
            let next = self.source.poll_timeout()?;
            let now = self.clock.now();
            if next <= now {
                if has_waited {
                    self.progress = now;
                }
                return Some(now);
            }
            has_waited = true;
            wait::sleep(self.clock.wait(Some(next)).unwrap_or_default().min(LOOK));
        }
        None
    }

    /// The system accepted this number of units.
    fn took(&mut self, units: usize) {
        let now = self.clock.now();
        for _ in 0..units {
            self.source.handle_written(now);
        }
        self.written.packets += units as u64;
        self.progress = now;
    }

    /// Whether the socket has been full for too long.
    fn has_stalled(&mut self) -> bool {
        let is_stalled = self.clock.now().saturating_since(self.progress) > STALL;
        if is_stalled {
            self.written.problem = Some(format!("nothing could be sent for {} s", STALL.as_secs_f64()));
        }
        is_stalled
    }

    fn emit(&self, octets: &mut [u8], ahead: usize, now: Instant) {
        let repr = Repr {
            session: self.session,
            sequence: self.written.packets + ahead as u64,
            sent: now.as_nanos(),
            payload_len: octets.len() - MIN_LEN,
        };
        repr.emit(&mut Packet::new_unchecked(octets));
    }

    fn write_datagrams(&mut self, socket: &UdpSocket, size: usize) {
        let mut datagrams = Datagrams::new(size);
        fill(datagrams.octets_mut());
        let mut lengths = Vec::with_capacity(datagrams.count());
        while let Some(now) = self.due() {
            // As many as the source would write at this moment: one where it waits between them.
            let mut ahead = self.source.clone();
            lengths.clear();
            while let Some(length) = ahead.poll_write(now).filter(|_| lengths.len() < datagrams.count()) {
                let place = lengths.len();
                self.emit(&mut datagrams.slot_mut(place)[..length as usize], place, now);
                lengths.push(length as usize);
                ahead.handle_written(now);
            }
            match datagrams.send(socket, &lengths) {
                Ok(taken) => self.took(taken),
                Err(Errno::EAGAIN) => {
                    wait::writable(socket, LOOK);
                }
                // The error is that of an earlier datagram. Whether the other end has gone is for its control connection to say.
                Err(Errno::EINTR | Errno::ECONNREFUSED) => {}
                Err(Errno::ENOBUFS | Errno::ENETUNREACH | Errno::EHOSTUNREACH | Errno::ENETDOWN) => wait::sleep(PAUSE),
                Err(error) => {
                    self.written.problem = Some(format!("can't send: {}", error.desc()));
                    return;
                }
            }
            if self.has_stalled() {
                return;
            }
        }
    }

    fn write_stream(&mut self, mut stream: TcpStream, size: usize) {
        let mut octets = vec![0; STREAM_WRITE.max(size)];
        fill(&mut octets);
        // Where units end, and how far the stream has taken them.
        let (mut ends, mut taken) = (Vec::new(), 0);
        loop {
            if ends.is_empty() {
                let Some(now) = self.due() else { break };
                self.compose(&mut octets, &mut ends, now);
            }
            // A unit is sent when its end is taken: until then its end can say so anew.
            let now = self.clock.now().as_nanos();
            for &end in ends.iter().filter(|&&end| taken <= end - TRAILER_LEN) {
                octets[end - TRAILER_LEN..end].copy_from_slice(&now.to_be_bytes());
            }
            let filled = ends.last().copied().unwrap_or_default();
            match stream.write(&octets[taken..filled]) {
                Ok(0) => {
                    self.written.problem = Some("the connection takes nothing any more".into());
                    return;
                }
                Ok(written) => {
                    taken += written;
                    let whole = ends.iter().take_while(|&&end| end <= taken).count();
                    self.took(whole);
                    ends.drain(..whole);
                    if ends.is_empty() {
                        taken = 0;
                    }
                }
                Err(error) if is_transient(&error) => {
                    wait::writable(&stream, LOOK);
                    if self.stop.load(Ordering::Relaxed) || self.has_stalled() {
                        break;
                    }
                }
                Err(error) => {
                    self.written.problem = Some(format!("can't send: {}", cause(&error)));
                    return;
                }
            }
        }
        // The receiver reads what is on its way, then the end. Where the connection is broken there is none.
        let _ = stream.shutdown(Shutdown::Write);
    }

    /// Puts the units that are due at `now` one behind the other, as many as there is room for.
    fn compose(&self, octets: &mut [u8], ends: &mut Vec<usize>, now: Instant) {
        let mut ahead = self.source.clone();
        let mut at = 0;
        while let Some(length) = ahead.poll_write(now).map(|length| length as usize) {
            let Some(unit) = octets.get_mut(at..at + length) else { return };
            self.emit(unit, ends.len(), now);
            at += length;
            ends.push(at);
            ahead.handle_written(now);
        }
    }
}

/// Fills payloads with bytes that no link can make shorter (Marsaglia, Journal of Statistical Software 8(14), 2003).
fn fill(octets: &mut [u8]) {
    let mut state = 88_172_645_463_325_252_u64;
    for chunk in octets.chunks_mut(size_of::<u64>()) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        chunk.copy_from_slice(&state.to_be_bytes()[..chunk.len()]);
    }
}
