//! One run of a case: all its flows at the same time, from wherever they begin.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use hopcast_sim::io_error::cause;

use super::SILENCE;
use super::control::{Control, Event, Message, START_TIME};
use super::flow::{self, Desk, KEEP_INTERVAL, Outcome};
use super::plan::{Case, FlowPlan};
use super::progress::Progress;
use super::socket::LOOK;
use crate::platform::clock::Clock;

/// Runs the flows of `case` and returns what became of each, in their order. They start together, when the paths of all are
/// there, and end early when `is_stopped` says so.
///
/// # Errors
///
/// Why the first of them that failed could not start; none has been run.
pub(crate) fn run(
    case: &Case,
    clock: Clock,
    is_stopped: &(dyn Fn() -> bool + Sync),
    progress: &Progress,
) -> Result<Vec<Outcome>, String> {
    let gate = Gate { state: Mutex::default(), changed: Condvar::new(), flows: case.flows.len(), is_stopped };
    thread::scope(|scope| {
        let start = |(place, plan)| {
            let gate = &gate;
            scope.spawn(move || {
                let mut desk = Place { gate, clock, progress, place };
                let outcome = run_flow(plan, clock, &mut desk);
                if let Err(problem) = &outcome {
                    gate.fail(format!("{}: {problem}", plan.name));
                }
                outcome
            })
        };
        let flows: Vec<_> = case.flows.iter().enumerate().map(start).collect();
        let outcomes = flows.into_iter().map(|flow| flow.join().expect("a flow returns its errors"));
        let outcomes: Result<Vec<Outcome>, String> = outcomes.collect();
        outcomes.map_err(|problem| gate.lock().failed.clone().unwrap_or(problem))
    })
}

fn run_flow(plan: &FlowPlan, clock: Clock, desk: &mut dyn Desk) -> Result<Outcome, String> {
    if plan.source.address.is_empty() { flow::run(plan, clock, desk) } else { run_elsewhere(plan, clock, desk) }
}

/// Has another host send a flow.
fn run_elsewhere(plan: &FlowPlan, clock: Clock, desk: &mut dyn Desk) -> Result<Outcome, String> {
    let host = plan.source.address.as_str();
    let mut control = Control::connect(host)?;
    let broken = |error: std::io::Error| format!("{host}: {}", cause(&error));
    control.send(&Message::Source(Box::new(plan.clone()))).map_err(broken)?;
    match control.answer(host, plan.path.len() + 1)? {
        Message::Ready => {}
        _ => return Err(format!("{host}: does not answer as hopcast probe does")),
    }
    // That host keeps the path.
    if !desk.ready(&mut || true) {
        return Err("the flow was not started".into());
    }
    control.send(&Message::Go).map_err(broken)?;
    let mut outcome = Outcome::default();
    let mut heard = clock.now();
    let mut is_told_to_stop = false;
    let problem = loop {
        if !is_told_to_stop && desk.is_stopped() {
            is_told_to_stop = true;
            // What fails here is heard of below.
            let _ = control.send(&Message::Stop);
        }
        match control.receive(LOOK) {
            Event::Message(Message::Outcome(told)) => {
                outcome = *told;
                if outcome.is_final {
                    return Ok(outcome);
                }
                desk.handle_outcome(&outcome);
                heard = clock.now();
            }
            Event::Message(Message::Refused(reason)) => break reason,
            // It gives up a silent path before.
            Event::Idle if clock.now().saturating_since(heard) <= SILENCE + SILENCE => {}
            Event::Idle => break format!("{host}: does not answer any more"),
            Event::Closed => break format!("{host}: has closed the connection"),
            Event::Message(_) => break format!("{host}: does not answer as hopcast probe does"),
            Event::Garbage(problem) => break format!("{host}: {problem}"),
        }
    };
    Ok(Outcome { problem: Some(problem), ..outcome })
}

/// What holds the flows of this run back until all are ready.
struct Gate<'a> {
    state: Mutex<State>,
    changed: Condvar,
    flows: usize,
    is_stopped: &'a (dyn Fn() -> bool + Sync),
}

#[derive(Debug, Default)]
struct State {
    ready: usize,
    failed: Option<String>,
}

impl Gate<'_> {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn fail(&self, problem: String) {
        self.lock().failed.get_or_insert(problem);
        self.changed.notify_all();
    }
}

/// One of the flows of this run.
struct Place<'a> {
    gate: &'a Gate<'a>,
    clock: Clock,
    progress: &'a Progress,
    place: usize,
}

impl Desk for Place<'_> {
    fn ready(&mut self, keep: &mut dyn FnMut() -> bool) -> bool {
        let is_ready = self.gate.ready(keep);
        self.progress.begin(self.clock.now());
        is_ready
    }

    fn handle_outcome(&mut self, outcome: &Outcome) {
        // It is returned at last, too, however the flow ends.
        self.progress.look(self.place, outcome, self.clock.now());
    }

    fn is_stopped(&mut self) -> bool {
        (self.gate.is_stopped)()
    }
}

impl Gate<'_> {
    /// Waits for the other flows, as [`Desk::ready`] does.
    fn ready(&self, keep: &mut dyn FnMut() -> bool) -> bool {
        self.lock().ready += 1;
        self.changed.notify_all();
        let mut waited = Duration::ZERO;
        let mut keep_at = KEEP_INTERVAL;
        loop {
            let state = self.lock();
            let are_all_ready = state.ready == self.flows && state.failed.is_none();
            if are_all_ready || state.failed.is_some() || waited >= START_TIME || (self.is_stopped)() {
                return are_all_ready;
            }
            // Not held while the path is kept, which takes a round trip.
            drop(self.changed.wait_timeout(state, LOOK));
            waited += LOOK;
            if waited >= keep_at {
                keep_at += KEEP_INTERVAL;
                if !keep() {
                    return false;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_waits_for_others_keeps_its_path() {
        let gate = Gate { state: Mutex::default(), changed: Condvar::new(), flows: 2, is_stopped: &|| false };
        let mut kept = 0;
        let is_started = thread::scope(|scope| {
            gate.ready(&mut || {
                kept += 1;
                if kept == 2 {
                    scope.spawn(|| gate.ready(&mut || true));
                }
                kept < 5
            })
        });
        assert_eq!((is_started, kept), (true, 2));
    }

    #[test]
    fn who_can_t_keep_its_path_does_not_start() {
        let gate = Gate { state: Mutex::default(), changed: Condvar::new(), flows: 2, is_stopped: &|| false };
        assert!(!gate.ready(&mut || false));
    }
}
