//! Real time: runs events when the machine's clock reaches their time, and passes frames in and out as they come.
//!
//! A single thread runs the engine up to now, gives frames to real hosts, reads theirs, and sleeps until the next event
//! is due or a frame comes. It reads a frame at an instant after all events so far: no frame enters at an instant at
//! which something has already happened. So a replay that runs up to that instant and enters the same frames gives the
//! same run.

use std::io;
use std::os::fd::{AsFd, AsRawFd};

use hopcast_protocols::time::{Duration, Instant};
use hopcast_sim::id::NodeId;
use mio::unix::SourceFd;
use mio::{Events, Interest, Poll, Token};
use nix::sys::time::TimeSpec;
use nix::sys::timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};
use tun_rs::SyncDevice;

use super::hosts::RealHost;
use super::lag::Lag;
use super::programs::Programs;
use super::recording::Recorder;
use super::session::Session;
use super::watch::Watch;
use crate::models::Models;
use crate::platform::clock::Clock;
use crate::platform::signals::Signals;

/// The least time between two looks at the engine while only events are due: a tenth of the millisecond within which frames
/// are to leave, and long against the few microseconds that a look costs.
const QUANTUM: Duration = Duration::from_micros(100);
/// The engine runs so far before frames are given out, when it is behind.
const SLICE: Duration = Duration::from_millis(1);
/// The longest sleep: how soon the end of a program is noticed.
const LONGEST_SLEEP: Duration = Duration::from_millis(20);
/// Frames that are taken from one interface before the others have their turn.
const BATCH: usize = 64;
/// No frame is longer: the MTU of a radio is at most 2296 bytes, that of a wire 1500.
const FRAME: usize = 4_096;

const TIMER: Token = Token(usize::MAX);
const SIGNAL: Token = Token(usize::MAX - 1);

/// Why the run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// A custom model failed, with this problem.
    Model(String),
    /// Its time was over.
    Duration,
    /// All programs had ended, or the shell.
    Programs,
    /// A signal came.
    Signal(i32),
}

/// An interface of a real host.
struct Port<'a> {
    node: NodeId,
    interface: u32,
    device: &'a SyncDevice,
    /// There may be a frame to read.
    is_readable: bool,
}

/// Drives a session in real time.
pub(super) struct Driver<'a, 's> {
    session: &'a mut Session<'s>,
    hosts: &'a [RealHost],
    recorder: Option<&'a mut Recorder>,
    ports: Vec<Port<'a>>,
    lag: Lag,
    poll: Poll,
    timer: TimerFd,
    buffer: Vec<u8>,
}

impl<'a, 's> Driver<'a, 's> {
    pub(super) fn new(
        session: &'a mut Session<'s>,
        hosts: &'a [RealHost],
        recorder: Option<&'a mut Recorder>,
    ) -> io::Result<Self> {
        let ports = hosts.iter().flat_map(|host| {
            let devices = host.devices.iter().zip(0..);
            let node = host.plan.node;
            devices.map(move |(device, interface)| Port { node, interface, device, is_readable: true })
        });
        let ports: Vec<Port<'a>> = ports.collect();
        let poll = Poll::new()?;
        for (place, port) in ports.iter().enumerate() {
            let fd = port.device.as_raw_fd();
            poll.registry().register(&mut SourceFd(&fd), Token(place), Interest::READABLE)?;
        }
        let timer = TimerFd::new(ClockId::CLOCK_MONOTONIC, TimerFlags::TFD_NONBLOCK | TimerFlags::TFD_CLOEXEC)?;
        let fd = timer.as_fd().as_raw_fd();
        poll.registry().register(&mut SourceFd(&fd), TIMER, Interest::READABLE)?;
        Ok(Self { session, hosts, recorder, ports, lag: Lag::new(), poll, timer, buffer: vec![0; FRAME] })
    }

    /// Runs to the end of the session, or until `programs`, if there are any, are over, a signal comes, or one of the `models` fails.
    /// Time begins now.
    pub(super) fn run(
        &mut self,
        programs: &mut Programs,
        watch: &mut Watch,
        signals: &Signals,
        models: &dyn Models,
    ) -> io::Result<End> {
        self.poll.registry().register(&mut SourceFd(&signals.as_fd().as_raw_fd()), SIGNAL, Interest::READABLE)?;
        let clock = Clock::new();
        let mut events = Events::with_capacity(self.ports.len() + 2);
        let (mut look, mut due) = (Instant::START, Instant::START);
        let end = loop {
            let woken = clock.now();
            self.lag.record_pause(woken.saturating_since(due), woken);
            if let Some(signal) = signals.received() {
                break End::Signal(signal);
            }
            let next = self.session.now() + Duration::from_nanos(1);
            let now = clock.now().max(next).min(self.session.end());
            self.run_until(now, &clock)?;
            if let Some(problem) = models.poll_failure() {
                break End::Model(problem);
            }
            if now == self.session.end() {
                break End::Duration;
            }
            if now >= look {
                look = now + LONGEST_SLEEP;
                if programs.advance(self.hosts, now)? {
                    break End::Programs;
                }
                watch.advance(self.session, &self.lag, now)?;
            }
            self.read(now)?;
            self.deliver(&clock)?;
            if let Some(recorder) = &mut self.recorder {
                recorder.flush()?;
            }
            due = if self.ports.iter().any(|port| port.is_readable) {
                now
            } else {
                self.session.next_event().max(now + QUANTUM).min(look).min(self.session.end())
            };
            self.sleep(due.saturating_since(clock.now()), &mut events)?;
        };
        self.deliver(&clock)?;
        Ok(end)
    }

    /// How late frames were so far.
    pub(super) fn lag(&self) -> &Lag {
        &self.lag
    }

    /// Runs the engine up to `now`, and gives out what has come for real hosts.
    fn run_until(&mut self, now: Instant, clock: &Clock) -> io::Result<()> {
        while self.session.now() < now {
            self.session.run_until((self.session.now() + SLICE).min(now));
            self.deliver(clock)?;
        }
        Ok(())
    }

    fn deliver(&mut self, clock: &Clock) -> io::Result<()> {
        while let Some(delivery) = self.session.poll_delivery() {
            let is_its = |port: &&Port<'_>| (port.node, port.interface) == (delivery.node, delivery.interface);
            let Some(port) = self.ports.iter().find(is_its) else { continue };
            match port.device.send(&delivery.octets) {
                Ok(_) => self.lag.record(clock.now().saturating_since(delivery.at)),
                // Its host has switched the interface off, or has no memory for the frame: it is lost there.
                Err(error) if is_lost(&error) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Takes frames of all real hosts, up to a batch from each interface.
    fn read(&mut self, now: Instant) -> io::Result<()> {
        for port in self.ports.iter_mut().filter(|port| port.is_readable) {
            for _ in 0..BATCH {
                let octets = match port.device.recv(&mut self.buffer) {
                    Ok(len) => &self.buffer[..len],
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                        port.is_readable = false;
                        break;
                    }
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                    // Nobody sends over an interface that is off.
                    Err(error) if is_lost(&error) => {
                        port.is_readable = false;
                        break;
                    }
                    Err(error) => return Err(error),
                };
                if let Some(recorder) = &mut self.recorder {
                    recorder.record(now, port.node, port.interface, octets)?;
                }
                self.session.handle_frame(port.node, port.interface, octets);
            }
        }
        Ok(())
    }

    /// Sleeps for as long, or until there is something to read. Without time to sleep, it looks what there is: readiness is told of
    /// here alone.
    fn sleep(&mut self, time: Duration, events: &mut Events) -> io::Result<()> {
        let limit = (time == Duration::ZERO).then_some(std::time::Duration::ZERO);
        if limit.is_none() {
            let time = TimeSpec::from_duration(std::time::Duration::from_nanos(time.as_nanos()));
            self.timer.set(Expiration::OneShot(time), TimerSetTimeFlags::empty())?;
        }
        match self.poll.poll(events, limit) {
            Err(error) if error.kind() != io::ErrorKind::Interrupted => return Err(error),
            _ => {}
        }
        for event in &*events {
            if let Some(port) = self.ports.get_mut(event.token().0) {
                port.is_readable = true;
            }
        }
        Ok(())
    }
}

/// Whether a frame is lost with an error that concerns nothing but the interface as it is now.
fn is_lost(error: &io::Error) -> bool {
    // EIO: the interface is off; ENOBUFS, ENOMEM: no memory; EBADFD: it was removed.
    let errors = [
        nix::errno::Errno::EIO,
        nix::errno::Errno::ENOBUFS,
        nix::errno::Errno::ENOMEM,
        nix::errno::Errno::EBADFD,
        nix::errno::Errno::EAGAIN,
    ];
    errors.iter().any(|&known| error.raw_os_error() == Some(known as i32))
}
