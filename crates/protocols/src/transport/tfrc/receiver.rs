//! The receiver: what arrives, and when the sender hears of it (RFC 5348, section 6).

use super::equation::loss_event_rate;
use super::loss_history::LossInterval;
use super::{Config, Loss, LossHistory, Receipts, Reception, Timing};
use crate::time::{Duration, Instant};

/// Weight of the past in the mean size of packets: as that of the round-trip time (RFC 5348, section 4.3).
const SIZE_MEMORY: f64 = 0.9;

/// A data packet, as the receiver sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Data {
    /// Its number; those of all packets of the sender follow one another.
    pub number: u64,
    /// Bytes of payload.
    pub len: u32,
    /// How many packets immediately below it carried no data.
    pub without_data: u64,
    /// The sender's round-trip time, as far as it is known (RFC 5348, section 3.2.1).
    pub rtt: Duration,
}

/// What a packet turned out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// How it arrived.
    pub timing: Timing,
    /// How many packets it showed to be lost.
    pub lost: u64,
}

/// What the sender is to be told (RFC 5348, section 3.2.2).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Report {
    /// X_recv: bytes per second received over the last round trip.
    pub receive_rate: f64,
    /// p: the loss event rate.
    pub loss_event_rate: f64,
}

/// The receiving end of a flow.
///
/// A packet is taken in two steps, so that a detector can look at the losses before they count:
/// [`on_packet`](Self::on_packet), then [`count_losses`](Self::count_losses).
#[derive(Clone, Debug)]
pub struct Receiver {
    config: Config,
    reception: Reception,
    history: LossHistory,
    receipts: Receipts,
    /// The round-trip time of the last packet: R_m.
    rtt: Duration,
    /// The mean size of packets, in bytes.
    segment: f64,
    /// When feedback is due; `None` before the first packet and while [`silent`](Self::silent).
    timer: Option<Instant>,
    /// The timer expired with nothing to say: the next packet is answered at once.
    silent: bool,
    /// Packets since the last feedback.
    news: bool,
    /// Feedback is to be sent.
    pending: bool,
    /// The loss event rate of the last feedback.
    reported: f64,
    /// Bytes since the last feedback, and when that was.
    since_report: u64,
    reported_at: Instant,
    /// By how much the timer was late that the feedback follows.
    overdue: Duration,
    /// The greatest receive rate of any feedback.
    greatest_rate: f64,
}

impl Receiver {
    /// A receiver to which nothing has come yet.
    pub fn new(config: Config) -> Self {
        let config = config.clamped();
        Self {
            reception: Reception::new(config.later_packets()),
            history: LossHistory::new(config.small_packets),
            receipts: Receipts::new(),
            rtt: Duration::ZERO,
            segment: f64::from(config.segment),
            timer: None,
            // The first packet is answered at once (section 6.3).
            silent: true,
            news: false,
            pending: false,
            reported: 0.0,
            since_report: 0,
            reported_at: Instant::START,
            overdue: Duration::ZERO,
            greatest_rate: 0.0,
            config,
        }
    }

    /// A data packet arrives. The losses that it shows ([`losses`](Self::losses)) await [`count_losses`](Self::count_losses).
    pub fn on_packet(&mut self, data: &Data, now: Instant) -> Arrival {
        let timing = self.reception.on_packet(data.number, data.without_data, now);
        if timing != Timing::Stale {
            self.rtt = data.rtt;
            self.segment = SIZE_MEMORY * self.segment + (1.0 - SIZE_MEMORY) * f64::from(data.len);
            self.receipts.add(1, u64::from(data.len), self.span(), now);
            self.since_report += u64::from(data.len);
            self.news = true;
        }
        if timing == Timing::Revived && self.config.revives() {
            self.history.on_revival(data.number);
        }
        Arrival { timing, lost: self.reception.lost().iter().map(Loss::count).sum() }
    }

    /// A packet without data arrives: it only isn't missing. The losses that it shows await [`count_losses`](Self::count_losses).
    pub fn on_other(&mut self, number: u64, without_data: u64, now: Instant) {
        // Before the first data there is no history.
        if self.reception.highest().is_some()
            && self.reception.on_packet(number, without_data, now) == Timing::Revived
            && self.config.revives()
        {
            self.history.on_revival(number);
        }
    }

    /// What the last packet showed to be lost.
    pub fn losses(&self) -> &[Loss] {
        self.reception.lost()
    }

    /// Ends the arrival of a packet (RFC 5348, section 6.1): its losses count as loss events if `counted`, and feedback
    /// becomes due if the loss event rate has risen or the last timer found nothing to say.
    pub fn count_losses(&mut self, counted: bool, now: Instant) {
        let mut event = false;
        if counted && !self.reception.lost().is_empty() {
            self.receipts.forget(self.span(), now);
            let target = self.greatest_rate.max(self.receive_rate());
            let (config, segment, rtt) = (self.config, self.segment, self.rtt.as_secs_f64());
            for loss in self.reception.lost() {
                event |= self.history.on_loss(loss, self.rtt, || first_interval(&config, segment, rtt, target));
            }
        }
        if self.news && (self.silent || event && self.loss_event_rate() > self.reported) {
            self.expire(now);
        }
    }

    /// Asks for feedback at once, if anything came since the last.
    pub fn urge(&mut self, now: Instant) {
        if self.news {
            self.expire(now);
        }
    }

    /// Time has come to `now`: the feedback timer may be due.
    pub fn handle_timeout(&mut self, now: Instant) {
        if let Some(due) = self.timer.filter(|&due| due <= now) {
            self.overdue = now - due;
            self.expire(now);
        }
    }

    /// When [`handle_timeout`](Self::handle_timeout) is to be called next.
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.timer
    }

    /// The feedback timer expires, in time or early (section 6.2).
    fn expire(&mut self, now: Instant) {
        self.pending |= self.news;
        self.silent = !self.news;
        self.news = false;
        // With nothing to say it needs no timer to go on waiting.
        self.timer = (!self.silent).then(|| now + self.span());
    }

    /// Takes out the feedback that is to be sent, if any.
    #[must_use = "a report that is not sent leaves the sender without feedback"]
    pub fn poll_report(&mut self, now: Instant) -> Option<Report> {
        if !core::mem::take(&mut self.pending) {
            return None;
        }
        // A host that is late must not take what arrived in time for old.
        let overdue = core::mem::take(&mut self.overdue);
        self.receipts.forget(self.span().saturating_add(overdue), now);
        let receive_rate = if self.receipts.octets() > 0 {
            self.receive_rate()
        } else {
            // The round trip has become shorter meanwhile: then since the last report (RFC 4342, section 8.3).
            self.since_report as f64 / now.saturating_since(self.reported_at).max(self.span()).as_secs_f64()
        };
        (self.since_report, self.reported_at) = (0, now);
        self.greatest_rate = self.greatest_rate.max(receive_rate);
        self.reported = self.loss_event_rate();
        Some(Report { receive_rate, loss_event_rate: self.reported })
    }

    /// The loss event rate as it stands.
    pub fn loss_event_rate(&self) -> f64 {
        self.reception.highest().map_or(0.0, |highest| self.history.loss_event_rate(highest))
    }

    /// Whether any loss counted so far.
    #[cfg(test)]
    pub(crate) fn has_lost(&self) -> bool {
        !self.history.is_empty()
    }

    /// The loss intervals, the most recent first, and how many packets up to the highest are in none of them yet.
    pub(crate) fn intervals(&self) -> (u64, impl ExactSizeIterator<Item = LossInterval> + '_) {
        let end = self.reception.undecided().unwrap_or(0);
        let next = self.reception.highest().map_or(0, |highest| highest + 1);
        (next - end, self.history.intervals(end))
    }

    /// What is measured over, and the time between two reports: a round trip, unless the host is slower than that.
    fn span(&self) -> Duration {
        self.rtt.max(self.config.granularity).max(SHORTEST_TIMER)
    }

    /// Bytes per second over the last round trip.
    fn receive_rate(&self) -> f64 {
        self.receipts.octets() as f64 / self.span().as_secs_f64()
    }
}

/// A round trip that is nothing, as a peer might claim, must not make a timer that is always due.
const SHORTEST_TIMER: Duration = Duration::from_micros(1);

/// The interval before the first loss: with it the throughput is the rate that arrived (RFC 5348, section 6.3.1).
fn first_interval(config: &Config, segment: f64, rtt: f64, rate: f64) -> f64 {
    // What arrived is counted without headers, which the equation's rate has.
    let rate = config.with_headers(rate, segment);
    let segment = config.equation_segment(segment);
    // Nothing was reported before: half a packet in each round trip.
    let rate = if rate > 0.0 { rate } else { segment / (2.0 * rtt) };
    1.0 / loss_event_rate(segment, rtt, config.timeout(rtt), rate)
}
