//! The sender's side of a flow, from the path's set-up to the receiver's last report.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use hopcast_protocols::time::{Duration, Instant};
use hopcast_sim::io_error::cause;

use super::SILENCE;
use super::clock_offset::{ClockOffset, Exchange};
pub use super::control::Outcome;
use super::control::{Control, Event, Message, Open, VERSION};
use super::plan::FlowPlan;
use super::socket::{LOOK, Output, with_port};
use super::source::{self, Written};
use crate::platform::clock::Clock;

/// Exchanges before the start, as many as the clock filter of RFC 5905 (section 10) has stages.
const EXCHANGES: usize = 8;
/// Between two exchanges during the flow.
const PING_INTERVAL: Duration = Duration::from_secs(1);
/// Delay between the announcement of a flow and its start, so that its receiver knows of it, in addition to two round
/// trips.
const LEAD: Duration = Duration::from_millis(1);
/// How often the path of a flow that waits is kept.
pub(crate) const KEEP_INTERVAL: std::time::Duration = std::time::Duration::from_secs(1);
/// How often it looks whether the source has ended.
const LOOK_FOR_END: std::time::Duration = std::time::Duration::from_millis(20);

/// The part that runs the plan of which a flow is part.
pub trait Desk {
    /// The path is ready: waits for the other flows, and calls `keep` once per `KEEP_INTERVAL` meanwhile, as hosts give
    /// up a silent path. Returns false if `keep` does, or if the flow should not start.
    fn ready(&mut self, keep: &mut dyn FnMut() -> bool) -> bool;
    /// Receives an intermediate result.
    fn handle_outcome(&mut self, outcome: &Outcome);
    /// Whether the flow should end.
    fn is_stopped(&mut self) -> bool;
}

/// Sends a flow from this host and returns what its receiver measured, or the last of it that came here.
///
/// # Errors
///
/// That it never started, and why.
pub(crate) fn run(plan: &FlowPlan, clock: Clock, desk: &mut dyn Desk) -> Result<Outcome, String> {
    let mut flow = Flow::open(plan, clock)?;
    for _ in 0..EXCHANGES {
        flow.exchange()?;
    }
    let mut kept = Ok(());
    let is_started = desk.ready(&mut || {
        kept = flow.exchange();
        kept.is_ok()
    });
    kept?;
    if !is_started {
        return Err("the flow was not started".into());
    }
    let (start, output) = flow.start()?;
    Ok(flow.send(start, output, desk))
}

struct Flow<'a> {
    plan: &'a FlowPlan,
    /// The next host.
    next: &'a str,
    session: u64,
    control: Control,
    data: SocketAddr,
    clock: Clock,
    clocks: ClockOffset,
}

impl<'a> Flow<'a> {
    /// Sets the path up.
    fn open(plan: &'a FlowPlan, clock: Clock) -> Result<Self, String> {
        let (first, rest) = plan.path.split_first().ok_or("the path has no end")?;
        let next = first.address.as_str();
        let session = getrandom::u64().map_err(|error| format!("no number for the session: {error}"))?;
        let mut control = Control::connect(next)?;
        let open = Open {
            version: VERSION,
            session,
            protocol: plan.protocol,
            size: plan.size,
            bytes: plan.bytes,
            socket_buffer: plan.socket_buffer,
            path: rest.iter().map(|host| host.address.clone()).collect(),
        };
        control.send(&Message::Open(open)).map_err(|error| format!("{next}: {}", cause(&error)))?;
        let Message::Opened { port } = control.answer(next, rest.len())? else {
            return Err(format!("{next}: does not answer as hopcast probe does"));
        };
        let data = with_port(control.peer().map_err(|error| format!("{next}: {}", cause(&error)))?, port);
        Ok(Self { plan, next, session, control, data, clock, clocks: ClockOffset::default() })
    }

    fn say(&mut self, message: &Message) -> Result<(), String> {
        self.control.send(message).map_err(|error| format!("{}: {}", self.next, cause(&error)))
    }

    fn hear(&mut self) -> Result<Message, String> {
        self.control.answer(self.next, self.plan.path.len() - 1)
    }

    /// Asks the receiver for its time.
    fn exchange(&mut self) -> Result<(), String> {
        self.say(&Message::Ping { sent: self.clock.now().as_nanos() })?;
        let answer = self.hear()?;
        if !self.handle_pong(&answer) {
            return Err(format!("{}: does not answer as hopcast probe does", self.next));
        }
        Ok(())
    }

    /// False if it is none.
    fn handle_pong(&mut self, message: &Message) -> bool {
        let &Message::Pong { sent, received, replied } = message else { return false };
        let (sent, returned) = (Instant::from_nanos(sent), self.clock.now());
        self.clocks.handle_exchange(&Exchange { sent, received, replied, returned });
        true
    }

    fn offset(&self) -> i64 {
        self.clocks.estimate(self.clock.now()).map_or(0, |estimate| estimate.offset)
    }

    /// Says when the flow begins.
    fn start(&mut self) -> Result<(Instant, Output), String> {
        let local = self.control.local().map_err(|error| cause(&error))?;
        let output = Output::connect(self.plan.protocol, local, self.data, self.plan.socket_buffer)
            .map_err(|error| format!("{}: {}", self.next, cause(&error)))?;
        let now = self.clock.now();
        // Half a round trip is what is not known of the clocks.
        let half = self.clocks.estimate(now).map_or(Duration::ZERO, |estimate| estimate.uncertainty);
        let ahead =
            LEAD.saturating_add(Duration::from_nanos(half.as_nanos().saturating_mul(4).min(SILENCE.as_nanos())));
        let start = now + ahead;
        self.clocks.start();
        self.say(&Message::Start { at: start.as_nanos(), offset: self.offset() })?;
        match self.hear()? {
            Message::Started => Ok((start, output)),
            _ => Err(format!("{}: does not answer as hopcast probe does", self.next)),
        }
    }

    /// Sends, and listens meanwhile and afterwards.
    fn send(mut self, start: Instant, output: Output, desk: &mut dyn Desk) -> Outcome {
        let (plan, session, clock) = (self.plan, self.session, self.clock);
        let stop = AtomicBool::new(false);
        thread::scope(|scope| {
            let writer = scope.spawn(|| source::write(plan, session, output, start, clock, &stop));
            let mut writer = Some(writer);
            let mut outcome = Outcome::default();
            let mut heard = clock.now();
            let mut next_ping = heard + PING_INTERVAL;
            let mut told_offset = self.offset();
            loop {
                let now = clock.now();
                if let Some(ended) = writer.take_if(|writer| writer.is_finished()) {
                    let Written { packets, problem } = ended.join().expect("the source returns its errors");
                    outcome.problem = problem.or(outcome.problem);
                    heard = now;
                    if let Err(problem) = self.say(&Message::Sent { packets }) {
                        outcome.problem.get_or_insert(problem);
                        break;
                    }
                }
                if desk.is_stopped() {
                    stop.store(true, Ordering::Relaxed);
                }
                // Also once all is written: what is on its way is of use as long as both ends are there.
                if now >= next_ping {
                    next_ping = now + PING_INTERVAL;
                    // What fails here is heard of below.
                    let _ = self.say(&Message::Ping { sent: now.as_nanos() });
                }
                let event = self.control.receive(if writer.is_some() { LOOK_FOR_END } else { LOOK });
                match event {
                    Event::Idle => {
                        if now.saturating_since(heard) > SILENCE {
                            outcome.problem.get_or_insert(format!("{}: does not answer any more", self.next));
                            break;
                        }
                        continue;
                    }
                    Event::Message(Message::Report(report)) => {
                        let is_final = report.is_final;
                        outcome.report = Some(*report);
                        self.tell_clocks(&mut outcome);
                        if is_final {
                            break;
                        }
                        desk.handle_outcome(&outcome);
                    }
                    Event::Message(Message::Refused(reason)) => {
                        outcome.problem.get_or_insert(reason);
                        break;
                    }
                    Event::Message(message) => {
                        self.handle_pong(&message);
                        let offset = self.offset();
                        if offset != told_offset {
                            told_offset = offset;
                            let _ = self.say(&Message::Offset(offset));
                        }
                    }
                    Event::Closed => {
                        outcome.problem.get_or_insert(format!("{}: has closed the connection", self.next));
                        break;
                    }
                    Event::Garbage(problem) => {
                        outcome.problem.get_or_insert(format!("{}: {problem}", self.next));
                        break;
                    }
                }
                heard = clock.now();
            }
            stop.store(true, Ordering::Relaxed);
            self.tell_clocks(&mut outcome);
            outcome
        })
    }

    fn tell_clocks(&self, outcome: &mut Outcome) {
        let now = self.clock.now();
        if let (Some(estimate), Some(uncertainty)) =
            (self.clocks.estimate(now), self.clocks.uncertainty_since_start(now))
        {
            outcome.clock_offset_s = estimate.offset as f64 * 1e-9;
            outcome.clock_uncertainty_s = uncertainty.as_secs_f64();
        }
    }
}
