//! The listening side: a relay or a receiver, for several flows one after the other or at the same time.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use hopcast_protocols::time::{Duration, Instant};
use hopcast_sim::io_error::cause;

use super::control::{ANSWER_TIME, Control, Event, Message, VERSION};
use super::flow::{Desk, KEEP_INTERVAL};
use super::plan::{FlowPlan, MAX_HOPS};
use super::socket::{LOOK, is_transient};
use super::watch::Record;
use super::{control, flow, receiver, relay};
use crate::failure::Failure;
use crate::platform::clock::Clock;
use crate::platform::wait;

/// Largest number of simultaneous flows, so that strangers can't use up memory; a choice of hopcast. Each takes up to 2
/// MiB.
pub const MAX_SESSIONS: usize = 64;

/// Largest number of simultaneous flows of one address: half of all, so that one stranger leaves room for others.
const MAX_SESSIONS_OF_ONE: usize = MAX_SESSIONS / 2;

/// How often it looks, at its end, whether all flows have ended: for 2 s, which is longer than any of them takes.
const LOOKS_AT_END: usize = 20;

/// Lines of the log about clients that were sent away, in a second.
const MAX_LINES: u32 = 10;
const SECOND: Duration = Duration::from_secs(1);

/// What a host does for flows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Role {
    /// Whatever the path asks for: forward to the next host (possibly a fixed one), receive, or send.
    Relay {
        /// The next host of all flows that are not told one.
        to: Option<String>,
    },
    /// Receive only.
    Receiver,
}

/// A relay or a receiver.
#[derive(Debug)]
pub struct Daemon {
    listener: TcpListener,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    role: Role,
    clock: Clock,
    log: fn(&str),
    sessions: AtomicUsize,
    /// By address of those who have asked.
    of_one: Mutex<BTreeMap<IpAddr, usize>>,
    /// Numbers of the flows whose path leads here.
    flows: Mutex<BTreeSet<u64>>,
    refused: AtomicU64,
    refusals: Mutex<Refusals>,
    stop: AtomicBool,
    record: Option<Record>,
}

/// Which refusals are logged: few, however many there are.
#[derive(Debug, Default)]
struct Refusals {
    /// The second of the latest lines.
    since: Option<Instant>,
    lines: u32,
    /// Refusals since the latest line.
    silent: u64,
}

impl Refusals {
    /// How many refusals before this one had no line, if it has one.
    fn next(&mut self, now: Instant) -> Option<u64> {
        if self.since.is_none_or(|since| now.saturating_since(since) >= SECOND) {
            (self.since, self.lines) = (Some(now), 0);
        }
        if self.lines == MAX_LINES {
            self.silent += 1;
            return None;
        }
        self.lines += 1;
        Some(std::mem::take(&mut self.silent))
    }
}

impl Shared {
    /// Sends somebody away.
    fn refuse(&self, mut control: Control, peer: SocketAddr, reason: String) {
        self.refused.fetch_add(1, Ordering::Relaxed);
        let silent = lock(&self.refusals).next(self.clock.now());
        if let Some(silent @ 1..) = silent {
            (self.log)(&format!("{silent} more were sent away"));
        }
        if silent.is_some() {
            (self.log)(&format!("{peer}: {reason}"));
        }
        // Who has gone is not told.
        let _ = control.send(&Message::Refused(reason));
    }
}

impl Daemon {
    /// Listens at `address`, and records its flows if there is a `record`. `log` will be told of each flow that begins, with who asked, and of each that fails.
    ///
    /// # Errors
    ///
    /// That the address can't be had.
    pub(super) fn bind(
        address: SocketAddr,
        role: Role,
        log: fn(&str),
        record: Option<Record>,
    ) -> Result<Self, Failure> {
        let input = |error: std::io::Error| Failure::Input(format!("--listen {address}: {}", cause(&error)));
        let listener = TcpListener::bind(address).map_err(input)?;
        listener.set_nonblocking(true).map_err(input)?;
        let shared = Arc::new(Shared {
            role,
            clock: Clock::new(),
            log,
            sessions: AtomicUsize::new(0),
            of_one: Mutex::default(),
            flows: Mutex::default(),
            refused: AtomicU64::new(0),
            refusals: Mutex::default(),
            stop: AtomicBool::new(false),
            record,
        });
        Ok(Self { listener, shared })
    }

    /// Where it listens.
    ///
    /// # Errors
    ///
    /// The system's.
    pub(crate) fn address(&self) -> std::io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// How many who asked for something were sent away: strangers, and those who came while too many were served.
    pub(crate) fn refused(&self) -> u64 {
        self.shared.refused.load(Ordering::Relaxed)
    }

    /// Serves all clients until `is_over` returns true. It then ends active flows, and leaves those whose path is being
    /// set up to the end of the process.
    pub(crate) fn run(&self, is_over: impl Fn() -> bool) {
        while !is_over() {
            match self.listener.accept() {
                Ok((stream, peer)) => {
                    let Ok(control) = Control::new(stream) else { continue };
                    match Session::begin(&self.shared, peer.ip()) {
                        // A thread that can't be had is a connection that is closed.
                        Ok(session) => drop(thread::Builder::new().spawn(move || session.serve(control, peer))),
                        // It takes no thread and no place: however many come, they keep nobody out.
                        Err(reason) => self.shared.refuse(control, peer, reason),
                    }
                }
                Err(error) if is_transient(&error) => {
                    wait::readable(&self.listener, LOOK);
                }
                // Too many open files, say: others will be closed.
                Err(_) => wait::sleep(LOOK),
            }
        }
        self.shared.stop.store(true, Ordering::Relaxed);
        for _ in 0..LOOKS_AT_END {
            if self.shared.sessions.load(Ordering::Relaxed) == 0 {
                return;
            }
            wait::sleep(LOOK);
        }
    }

    /// Writes the rest of the recording, if there is one, after [`Self::run`]. Flows that have not ended are recorded up to now.
    ///
    /// # Errors
    ///
    /// [`Failure::Run`]: a file that could not be written.
    pub(super) fn finish(&self) -> Result<(), Failure> {
        self.shared.record.as_ref().map_or(Ok(()), |record| record.finish(self.shared.clock.now()))
    }
}

/// One that is served, counted as long as it is.
struct Session {
    shared: Arc<Shared>,
    address: IpAddr,
}

impl Session {
    /// Why not, if it is one too many.
    fn begin(shared: &Arc<Shared>, address: IpAddr) -> Result<Self, String> {
        if shared.sessions.load(Ordering::Relaxed) >= MAX_SESSIONS {
            return Err(format!("{MAX_SESSIONS} flows are served already"));
        }
        let mut of_one = lock(&shared.of_one);
        let its = of_one.get(&address).copied().unwrap_or_default();
        if its >= MAX_SESSIONS_OF_ONE {
            return Err(format!("{MAX_SESSIONS_OF_ONE} flows of {address} are served already"));
        }
        of_one.insert(address, its + 1);
        shared.sessions.fetch_add(1, Ordering::Relaxed);
        drop(of_one);
        Ok(Self { shared: Arc::clone(shared), address })
    }

    fn serve(self, mut control: Control, peer: SocketAddr) {
        if let Err(reason) = self.answer(&mut control, peer) {
            self.shared.refuse(control, peer, reason);
        }
    }

    /// Does what the first message asks for.
    fn answer(&self, control: &mut Control, peer: SocketAddr) -> Result<(), String> {
        let shared = &*self.shared;
        let log = shared.log;
        match (control.receive_for(ANSWER_TIME), &shared.role) {
            (Event::Message(Message::Open(open)), role) => {
                if open.version != VERSION {
                    return Err(format!("version {VERSION} is spoken here, and not {}", open.version));
                }
                if open.path.len() > MAX_HOPS {
                    return Err(format!("the path goes on for {} hosts; expected at most {MAX_HOPS}", open.path.len()));
                }
                open.protocol.check(open.size, open.bytes).map_err(|wrong| wrong.to_string())?;
                let next = match (role, open.path.first()) {
                    (Role::Relay { to: Some(to) }, None) => Some(to),
                    (Role::Relay { to: Some(to) }, Some(_)) => {
                        return Err(format!("this relay passes on to {to} alone; it takes no path"));
                    }
                    (Role::Relay { to: None }, next) => next,
                    (Role::Receiver, None) => None,
                    (Role::Receiver, Some(_)) => return Err("this is a receiver; it passes nothing on".into()),
                };
                let _flow = Flow::begin(&shared.flows, open.session).ok_or("the path of this flow leads here twice")?;
                let what = next.map_or_else(|| "receiving".into(), |next| format!("passing on to {next}"));
                log(&format!("{peer}: {what}, {} in units of {} B", open.protocol, open.size));
                match next {
                    Some(next) => {
                        relay::serve(control, &open, next, shared.clock, &shared.stop, shared.record.as_ref())
                    }
                    None => receiver::serve(control, &open, shared.clock, &shared.stop, shared.record.as_ref()),
                }
            }
            (Event::Message(Message::Source(plan)), Role::Relay { to: None }) => {
                let plan = plan.checked().map_err(|wrong| wrong.to_string())?;
                log(&format!("{peer}: sending to {}", plan.path.last().map_or("", |host| &host.address)));
                send(control, &plan, shared)
            }
            (Event::Message(Message::Source(_)), _) => Err("nothing is sent from here".into()),
            (Event::Message(_), _) => Err("a flow begins with another message".into()),
            (Event::Garbage(problem), _) => Err(problem),
            (Event::Idle | Event::Closed, _) => Err("nothing was asked for".into()),
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.shared.sessions.fetch_sub(1, Ordering::Relaxed);
        let mut of_one = lock(&self.shared.of_one);
        if let Some(its) = of_one.get_mut(&self.address) {
            *its -= 1;
            if *its == 0 {
                of_one.remove(&self.address);
            }
        }
    }
}

/// A flow whose path leads here, until it has ended. A path that came here twice would send each datagram twice as often as
/// its source does, and a longer one more often still.
struct Flow<'a> {
    flows: &'a Mutex<BTreeSet<u64>>,
    number: u64,
}

impl<'a> Flow<'a> {
    /// `None`: its path has led here already.
    fn begin(flows: &'a Mutex<BTreeSet<u64>>, number: u64) -> Option<Self> {
        let is_first = lock(flows).insert(number);
        is_first.then(|| Self { flows, number })
    }
}

impl Drop for Flow<'_> {
    fn drop(&mut self) {
        lock(self.flows).remove(&self.number);
    }
}

/// What a mutex holds; one that panicked has left it whole.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Is the source of a flow for who runs the plan.
fn send(control: &mut Control, plan: &FlowPlan, shared: &Shared) -> Result<(), String> {
    let mut desk = Elsewhere { control, stop: &shared.stop, is_stopped: false };
    let mut outcome = flow::run(plan, shared.clock, &mut desk)?;
    outcome.is_final = true;
    // Who asked may have gone.
    let _ = desk.control.send(&Message::Outcome(Box::new(outcome)));
    Ok(())
}

/// Who runs the plan, at the other end of a connection.
struct Elsewhere<'a> {
    control: &'a mut Control,
    stop: &'a AtomicBool,
    is_stopped: bool,
}

impl Desk for Elsewhere<'_> {
    fn ready(&mut self, keep: &mut dyn FnMut() -> bool) -> bool {
        if self.control.send(&Message::Ready).is_err() {
            return false;
        }
        let mut waited = std::time::Duration::ZERO;
        loop {
            match self.control.receive_for(KEEP_INTERVAL) {
                Event::Idle if waited < control::START_TIME && keep() => waited += KEEP_INTERVAL,
                event => return matches!(event, Event::Message(Message::Go)),
            }
        }
    }

    fn handle_outcome(&mut self, outcome: &flow::Outcome) {
        self.is_stopped |= self.control.send(&Message::Outcome(Box::new(outcome.clone()))).is_err();
    }

    fn is_stopped(&mut self) -> bool {
        // Whatever is said now, or that nobody is there any more, ends the flow.
        if !self.is_stopped {
            let is_quiet = matches!(self.control.receive(std::time::Duration::ZERO), Event::Idle);
            self.is_stopped = !is_quiet || self.stop.load(Ordering::Relaxed);
        }
        self.is_stopped
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_flood_of_refusals_few_are_logged() {
        let mut refusals = Refusals::default();
        let mut told = |ms| refusals.next(Instant::START + Duration::from_millis(ms));
        assert!((0..10).all(|nth| told(nth) == Some(0)));
        assert!((10..1000).all(|nth| told(nth).is_none()));
        assert_eq!([told(1000), told(1001)], [Some(990), Some(0)]);
    }

    #[test]
    fn one_address_leaves_room_for_others() {
        let address = SocketAddr::from(([127, 0, 0, 1], 0));
        let shared = Daemon::bind(address, Role::Receiver, |_| {}, None).expect("there are ports").shared;
        let begin = |last| Session::begin(&shared, IpAddr::from([10, 0, 0, last]));
        let refused = |session: Result<Session, String>| session.err().unwrap_or_default();
        let mut sessions: Vec<Session> = (0..32).map(|_| begin(1).expect("there is room")).collect();
        // Those that are refused take no place, however long they last.
        let more: Vec<_> = (0..64).map(|_| begin(1)).collect();
        sessions.extend((0..32).map(|_| begin(2).expect("there is room")));
        assert!(more.into_iter().all(|session| refused(session) == "32 flows of 10.0.0.1 are served already"));
        assert_eq!(refused(begin(3)), "64 flows are served already");
        sessions.clear();
        assert!(lock(&shared.of_one).is_empty());
        assert!(begin(1).is_ok());
    }
}
