//! Information about a running emulation: metrics over HTTP, and a line of progress at intervals.

use std::io::{self, Write as _};
use std::net::SocketAddr;

use hopcast_protocols::time::{Duration, Instant};

use super::captured::Captured;
use super::lag::{Lag, LagSummary};
use super::metrics::{self, Snapshot};
use super::session::Session;
use crate::serve::{Answers, Server};

/// Between two lines of progress.
const INTERVAL: Duration = Duration::from_secs(10);

/// Watches an emulation.
#[derive(Debug, Default)]
pub(super) struct Watch {
    server: Option<Server>,
    progress: Option<Progress>,
    captured: Option<Captured>,
}

/// The line of progress that is due next.
#[derive(Debug)]
struct Progress {
    next: Instant,
    last: Sums,
}

/// Over all conversations between real nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Sums {
    sent: u64,
    received_bytes: u64,
    lost: u64,
}

impl Watch {
    /// Gives metrics on `address`, and tells of progress if it `has_progress`.
    pub(super) fn new(address: Option<SocketAddr>, has_progress: bool) -> io::Result<Self> {
        let mut server = address.map(|_| Server::default());
        if let (Some(server), Some(address)) = (&mut server, address) {
            server.listen_for_http(address)?;
        }
        let progress = has_progress.then(|| Progress { next: Instant::START + INTERVAL, last: Sums::default() });
        Ok(Self { server, progress, captured: None })
    }

    /// Tells the size of these captures with the progress.
    pub(super) fn set_captured(&mut self, captured: Option<Captured>) {
        self.captured = captured;
    }

    /// What to say of the captures at the end.
    pub(super) fn captured(&self) -> Option<String> {
        self.captured.as_ref().and_then(Captured::summary)
    }

    /// Looks what is asked and what is due at `now`.
    pub(super) fn advance(&mut self, session: &Session<'_>, lag: &Lag, now: Instant) -> io::Result<()> {
        if let Some(server) = &mut self.server {
            server.serve(now, &Asked { session, lag });
        }
        let Some(progress) = self.progress.as_mut().filter(|progress| progress.next <= now) else { return Ok(()) };
        let sums = Sums::of(session);
        let line = progress.line(sums, now, &summary(session, lag));
        (progress.next, progress.last) = (progress.next + INTERVAL, sums);
        let Some(captured) = &mut self.captured else { return writeln!(io::stderr(), "{line}") };
        let (size, warning) = captured.progress(now);
        writeln!(io::stderr(), "{line}; {size}")?;
        warning.map_or(Ok(()), |warning| writeln!(io::stderr(), "hopcast: warning: {warning}"))
    }
}

impl Progress {
    fn line(&self, sums: Sums, now: Instant, lag: &LagSummary) -> String {
        let rate = (sums.received_bytes - self.last.received_bytes) as f64 * 8e-6 / INTERVAL.as_secs_f64();
        let sent = sums.sent - self.last.sent;
        // What is lost now may have been sent before.
        let lost = sums.lost.saturating_sub(self.last.lost);
        let lag = lag.p99_s.map_or_else(String::new, |p99| format!("; 99 % of frames within {:.3} ms", p99 * 1e3));
        format!(
            "{:.0} s: {rate:.3} Mb/s between real nodes, {sent} packets sent, {lost} lost in the last {:.0} s{lag}",
            now.as_secs_f64(),
            INTERVAL.as_secs_f64(),
        )
    }
}

impl Sums {
    fn of(session: &Session<'_>) -> Self {
        let records = session.replication.conversations();
        let all = records.iter().flat_map(|records| &records.conversations);
        all.fold(Self::default(), |sums, one| Self {
            sent: sums.sent + one.sent_packets,
            received_bytes: sums.received_bytes + one.received_bytes,
            lost: sums.lost + one.lost_packets,
        })
    }
}

fn summary(session: &Session<'_>, lag: &Lag) -> LagSummary {
    lag.summary(session.replication.scenario().emulation.lag_limit)
}

/// The answers at one instant.
struct Asked<'a, 's> {
    session: &'a Session<'s>,
    lag: &'a Lag,
}

impl Answers for Asked<'_, '_> {
    fn line(&self) -> Vec<u8> {
        // There is no local socket.
        Vec::new()
    }

    fn metrics(&self) -> String {
        let Self { session, lag } = self;
        let frames = [
            session.accepted + session.refused,
            session.refused,
            session.outputs().frames,
            session.replication.simulation().totals().frames_sent,
            session.replication.simulation().sent_on_wires(),
        ];
        let records = session.replication.conversations().expect("an emulation has real hosts");
        let simulated_s = session.now().as_secs_f64();
        metrics::text(&Snapshot { simulated_s, frames, lag: summary(session, lag), records })
    }
}
