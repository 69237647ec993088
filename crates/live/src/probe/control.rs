//! The control connection: one JSON message per line, over TCP, from the source through every relay to the receiver.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use hopcast_protocols::time::Instant;
use hopcast_sim::io_error::cause;
use hopcast_sim::metrics::FlowSummary;
use serde::{Deserialize, Serialize};

use super::plan::{FlowPlan, Protocol};
use crate::address::resolve;
use crate::platform::clock::Clock;
use crate::platform::wait;

/// The port on which relays and receivers listen unless they are told another one; of no registered service.
pub(crate) const DEFAULT_PORT: u16 = 47300;
/// Version of what is said here.
pub(crate) const VERSION: u32 = 1;
/// So long a connection to the next host may take, and each answer of it.
pub(crate) const ANSWER_TIME: Duration = Duration::from_secs(5);
/// So long the hosts of the flows of one run may take to be ready, all together.
pub(crate) const START_TIME: Duration = Duration::from_secs(120);
/// No message takes more bytes than that; the longest is a report with 1000 samples.
const MAX_LINE: usize = 1 << 18;

/// A message between hosts.
#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Message {
    /// Down the path: prepare for a flow.
    Open(Open),
    /// Up: units are accepted at this port.
    Opened {
        /// Of the host that says so.
        port: u16,
    },
    /// Up: refused, with the reason.
    Refused(String),
    /// Down to the end: an exchange for the offset of the clocks.
    Ping {
        /// In nanoseconds of the source's clock.
        sent: u64,
    },
    /// Up from the end: the answer.
    Pong {
        /// As the ping had it.
        sent: u64,
        /// In nanoseconds of the receiver's clock.
        received: u64,
        /// In nanoseconds of the receiver's clock.
        replied: u64,
    },
    /// Down to the end: the flow starts.
    Start {
        /// In nanoseconds of the source's clock.
        at: u64,
        /// The receiver's clock less the source's, in nanoseconds.
        offset: i64,
    },
    /// Up from the end: it may.
    Started,
    /// Down to the end: the current estimate of the clocks.
    Offset(i64),
    /// Down to the end: the source has written everything.
    Sent {
        /// Units that were written.
        packets: u64,
    },
    /// Up from the end, each second and at the end; each relay adds its counters.
    Report(Box<Report>),
    /// To the first host of a flow, from the host that runs the plan: send it.
    Source(Box<FlowPlan>),
    /// Back: the path is ready.
    Ready,
    /// To the first host: start.
    Go,
    /// To the first host: stop, and report what was measured.
    Stop,
    /// Back, each second and at the end.
    Outcome(Box<Outcome>),
}

/// The parameters of a flow that the hosts of its path need.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct Open {
    /// `VERSION` of the sender of the message.
    pub version: u32,
    /// Drawn by the source; each unit carries it.
    pub session: u64,
    /// Protocol that carries the units.
    pub protocol: Protocol,
    /// Bytes of a unit; the last may be shorter.
    pub size: u32,
    /// Bytes of all units.
    pub bytes: u64,
    /// Size of the sockets' buffers in bytes; `None`: the system's default.
    pub socket_buffer: Option<u32>,
    /// The remaining hosts, the receiver last; empty at the receiver.
    pub path: Vec<String>,
}

/// Counters of the receiver and the relays.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct Report {
    /// Summary of the flow.
    pub summary: FlowSummary,
    /// The flow over time.
    pub samples: Samples,
    /// Arrivals at the receiver that are not units of this flow.
    pub garbage: u64,
    /// Datagrams at the receiver for which its socket had no room.
    #[serde(default)]
    pub overflowed: u64,
    /// The relays in the order of the path.
    pub relays: Vec<Relayed>,
    /// Whether this is the last report.
    pub is_final: bool,
}

/// A flow over time, in equal intervals of `2^doublings` times 100 ms.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct Samples {
    /// Number of times that the interval was doubled.
    pub doublings: u32,
    /// For each interval: bytes read, units read, the sum of their delays in nanoseconds.
    pub intervals: Vec<[u64; 3]>,
}

/// Counters of a relay for a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct Relayed {
    /// Units that it has read.
    pub received: u64,
    /// Units that it has forwarded.
    pub forwarded: u64,
    /// Arrivals that are not units of this flow.
    pub garbage: u64,
    /// Datagrams for which its socket had no room.
    #[serde(default)]
    pub overflowed: u64,
}

/// Result of a flow.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct Outcome {
    /// The last report; `None` if none came.
    pub report: Option<Report>,
    /// The receiver's clock minus the source's, in seconds.
    pub clock_offset_s: f64,
    /// Largest error of that offset, in seconds.
    pub clock_uncertainty_s: f64,
    /// What went wrong.
    pub problem: Option<String>,
    /// Whether this is the last outcome.
    pub is_final: bool,
}

/// Result of waiting for a message.
#[derive(Debug)]
pub enum Event {
    /// A message.
    Message(Message),
    /// No message in the time.
    Idle,
    /// The other end has closed the connection.
    Closed,
    /// Data that is not a message, described in a clause.
    Garbage(String),
}

/// One end of a connection.
#[derive(Debug)]
pub struct Control {
    stream: TcpStream,
    /// What was read and is not a whole line yet.
    pending: Vec<u8>,
    /// So much of it holds no end of a line.
    searched: usize,
}

impl Control {
    /// The end of `stream`.
    ///
    /// # Errors
    ///
    /// The system's.
    pub(crate) fn new(stream: TcpStream) -> io::Result<Self> {
        stream.set_nodelay(true)?;
        stream.set_nonblocking(true)?;
        Ok(Self { stream, pending: Vec::new(), searched: 0 })
    }

    /// Connects to a relay or a receiver.
    ///
    /// # Errors
    ///
    /// A sentence that names the host.
    pub(crate) fn connect(host: &str) -> Result<Self, String> {
        let mut problem = String::new();
        for address in resolve(host, Some(DEFAULT_PORT))? {
            match TcpStream::connect_timeout(&address, ANSWER_TIME) {
                Ok(stream) => return Self::new(stream).map_err(|error| format!("{host}: {}", cause(&error))),
                Err(error) => problem = cause(&error),
            }
        }
        Err(format!("{host}: can't connect: {problem}"))
    }

    /// Another handle of the same end, to write from another thread. Only one of them may read.
    ///
    /// # Errors
    ///
    /// The system's.
    pub(crate) fn writer(&self) -> io::Result<Self> {
        Ok(Self { stream: self.stream.try_clone()?, pending: Vec::new(), searched: 0 })
    }

    /// The address of the other end.
    ///
    /// # Errors
    ///
    /// The system's.
    pub(crate) fn peer(&self) -> io::Result<SocketAddr> {
        self.stream.peer_addr()
    }

    /// The own address.
    ///
    /// # Errors
    ///
    /// The system's.
    pub(crate) fn local(&self) -> io::Result<SocketAddr> {
        self.stream.local_addr()
    }

    /// Sends one message.
    ///
    /// # Errors
    ///
    /// The system's, or that the other end takes nothing for too long.
    pub(crate) fn send(&mut self, message: &Message) -> io::Result<()> {
        let mut line = serde_json::to_vec(message)?;
        line.push(b'\n');
        let mut rest = &line[..];
        while !rest.is_empty() {
            match self.stream.write(rest) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(written) => rest = &rest[written..],
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    if !wait::writable(&self.stream, ANSWER_TIME) {
                        return Err(ErrorKind::TimedOut.into());
                    }
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Waits for a message, for `most` at the most.
    pub(crate) fn receive(&mut self, most: Duration) -> Event {
        if let Some(event) = self.line() {
            return event;
        }
        if !wait::readable(&self.stream, most) {
            return Event::Idle;
        }
        let mut chunk = [0; 4096];
        loop {
            match self.stream.read(&mut chunk) {
                Ok(0) => return Event::Closed,
                Ok(octets) => self.pending.extend_from_slice(&chunk[..octets]),
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Event::Idle,
                Err(_) => return Event::Closed,
            }
            if let Some(event) = self.line() {
                return event;
            }
            if self.pending.len() > MAX_LINE {
                return Event::Garbage(format!("a line of more than {MAX_LINE} octets"));
            }
        }
    }

    /// Waits for an answer for [`ANSWER_TIME`] and one time more for each of `hops` hosts behind the next one.
    ///
    /// # Errors
    ///
    /// A sentence that names the host, `host`.
    pub(crate) fn answer(&mut self, host: &str, hops: usize) -> Result<Message, String> {
        let most = ANSWER_TIME.saturating_mul(u32::try_from(hops).unwrap_or(u32::MAX).saturating_add(1));
        match self.receive_for(most) {
            Event::Message(Message::Refused(reason)) => Err(reason),
            Event::Message(message) => Ok(message),
            Event::Idle => Err(format!("{host}: does not answer")),
            Event::Closed => Err(format!("{host}: has closed the connection")),
            Event::Garbage(problem) => Err(format!("{host}: does not speak hopcast probe: {problem}")),
        }
    }

    /// Waits for a message, also where it comes in parts.
    pub(crate) fn receive_for(&mut self, most: Duration) -> Event {
        let clock = Clock::new();
        let until = Instant::from_nanos(most.as_nanos().try_into().unwrap_or(u64::MAX));
        loop {
            let left = clock.wait(Some(until)).unwrap_or_default();
            match self.receive(left) {
                Event::Idle if !left.is_zero() => {}
                event => return event,
            }
        }
    }

    /// The next whole line.
    fn line(&mut self) -> Option<Event> {
        let Some(end) = self.pending[self.searched..].iter().position(|&octet| octet == b'\n') else {
            self.searched = self.pending.len();
            return None;
        };
        let end = self.searched + end;
        let event = event(&self.pending[..end]);
        self.pending.drain(..=end);
        self.searched = 0;
        Some(event)
    }
}

/// What a line says.
pub(crate) fn event(line: &[u8]) -> Event {
    match serde_json::from_slice(line) {
        Ok(message) => Event::Message(message),
        Err(error) => Event::Garbage(format!("a line that is no message: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::net::TcpListener;

    fn pair() -> (TcpStream, Control) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback is there");
        let near = TcpStream::connect(listener.local_addr().expect("it is bound")).expect("it listens");
        let (far, _) = listener.accept().expect("somebody connects");
        (near, Control::new(far).expect("a socket"))
    }

    #[test]
    fn messages_come_whole_however_they_are_cut() {
        let (mut near, mut far) = pair();
        let line = serde_json::to_string(&Message::Sent { packets: 7 }).expect("it is plain") + "\n";
        let (first, second) = line.split_at(5);
        near.write_all(first.as_bytes()).expect("it takes a few octets");
        assert!(matches!(far.receive(Duration::from_millis(50)), Event::Idle));
        near.write_all(format!("{second}{line}").as_bytes()).expect("it takes a few octets");
        for _ in 0..2 {
            assert!(matches!(far.receive(Duration::from_secs(5)), Event::Message(Message::Sent { packets: 7 })));
        }
        drop(near);
        assert!(matches!(far.receive(Duration::from_secs(5)), Event::Closed));
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "parts come one by one")]
    fn a_message_in_many_parts_takes_only_the_time_that_it_takes() {
        let (mut near, mut far) = pair();
        let line = serde_json::to_string(&Message::Refused("x".repeat(500))).expect("it is plain") + "\n";
        let writer = std::thread::spawn(move || {
            for octet in line.as_bytes() {
                near.write_all(&[*octet]).expect("it takes an octet");
                std::thread::sleep(Duration::from_micros(100));
            }
            near
        });
        assert!(matches!(far.receive_for(Duration::from_secs(20)), Event::Message(Message::Refused(_))));
        let mut near = writer.join().expect("it has written all");
        near.write_all(b"{").expect("it takes an octet");
        let clock = Clock::new();
        assert!(matches!(far.receive_for(Duration::from_millis(200)), Event::Idle));
        assert!(clock.now() >= Instant::from_nanos(200_000_000), "{:?}", clock.now());
    }

    #[test]
    fn a_line_without_end_is_given_up() {
        let (mut near, mut far) = pair();
        let writer = std::thread::spawn(move || {
            let _ = near.write_all(&vec![b'x'; 2 * MAX_LINE]);
        });
        let event = loop {
            match far.receive(Duration::from_secs(5)) {
                Event::Idle => {}
                event => break event,
            }
        };
        assert!(matches!(event, Event::Garbage(problem) if problem.contains("262144")));
        drop(far);
        writer.join().expect("its end has gone");
    }

    proptest! {
        #[test]
        fn arbitrary_lines_never_panic(text in "\\PC{0,80}") {
            let _ = serde_json::from_str::<Message>(&text);
        }
    }
}
