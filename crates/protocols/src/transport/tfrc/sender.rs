//! The sender: how fast it may send (RFC 5348, section 4).

use super::data_limit::DataLimit;
use super::equation::throughput;
use super::pacer::Pacer;
use super::receive_rates::ReceiveRates;
use super::ticks::Ticks;
use super::{Config, Edition, MAXIMUM_BACKOFF};
use crate::time::{Duration, Instant};

/// Weight of the past in the mean round-trip time, the mean of its root, and the mean size of packets: q and q2 (sections
/// 4.3 and 4.5).
const MEMORY: f64 = 0.9;
/// The nofeedback timer before anything is known (section 4.2).
const INITIAL_TIMER: Duration = Duration::from_secs(2);
/// What a loss leaves of a receive rate that the application limited (section 4.3).
const LOSS_IN_IDLENESS: f64 = 0.85;

/// Reports in a row after which ns-2's rate is held to twice what arrives (`maxHeavyRounds_`).
const MOST_HEAVY: u32 = 1;

/// What the receiver said (section 3.2.2).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Feedback {
    /// When the packet left that this acknowledges: t_recvdata. `None` if that is not known any more.
    pub sent: Option<Instant>,
    /// How long the receiver waited before it answered: t_delay.
    pub delay: Duration,
    /// X_recv in bytes of payload per second.
    pub receive_rate: f64,
    /// p, from 0 to 1.
    pub loss_event_rate: f64,
}

/// What is to follow from feedback, besides what it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Response {
    /// The rate adapts by section 4.3.
    Adapt,
    /// The same, but the rate is at most what the receiver received.
    Limit,
    /// The rate stays as it is.
    Hold,
}

/// The sending end of a flow.
#[derive(Clone, Debug)]
pub struct Sender {
    config: Config,
    /// X in bytes per second.
    rate: f64,
    /// What the root of the last round-trip time makes of it (section 4.5).
    damping: f64,
    /// R in seconds.
    rtt: Option<f64>,
    /// t_RTO, under ns-2's rules.
    ticks: Ticks,
    /// Slow start, which under ns-2's rules ends with the first loss or silence and does not come back.
    starting: bool,
    /// When the rate changed last, under ns-2's rules.
    changed: Option<Instant>,
    /// Reports in a row that asked for more than twice what arrived, under ns-2's rules.
    heavy: u32,
    /// R_sqmean: the mean root of the round-trip time.
    root: Option<f64>,
    /// The mean size of packets, in bytes: s.
    segment: f64,
    /// p of the last feedback.
    loss_event_rate: f64,
    /// X_Bps of the last feedback with losses.
    throughput: f64,
    /// X_recv_set; under RFC 3448 the last rate alone.
    receive_rates: ReceiveRates,
    /// tld: when the rate was doubled last.
    doubled: Option<Instant>,
    /// A packet was sent.
    sending: bool,
    /// Feedback came.
    heard: bool,
    /// The nofeedback timer.
    timer: Option<Instant>,
    /// When the first packet left since the timer was set; `None` while idle.
    unanswered: Option<Instant>,
    suspended: bool,
    limit: DataLimit,
    pacer: Pacer,
}

impl Sender {
    /// A sender that knows nothing of the path: one packet a second (section 4.2).
    pub fn new(config: Config) -> Self {
        let config = config.clamped();
        let segment = f64::from(config.segment);
        Self {
            rate: config.equation_segment(segment),
            damping: 1.0,
            rtt: None,
            ticks: Ticks::default(),
            starting: true,
            changed: None,
            heavy: 0,
            root: None,
            segment,
            loss_event_rate: 0.0,
            throughput: f64::INFINITY,
            receive_rates: ReceiveRates::new(),
            doubled: None,
            sending: false,
            heard: false,
            timer: None,
            unanswered: None,
            suspended: false,
            limit: DataLimit::default(),
            pacer: Pacer::default(),
            config,
        }
    }

    /// The handshake took `rtt`: the sender may begin with the initial window in a round trip (section 4.2). No time at all, as
    /// a coarse clock may tell, counts as the shortest there is.
    pub fn on_handshake(&mut self, rtt: Duration) {
        if self.rtt.is_none() {
            self.take_sample(rtt.max(Duration::from_nanos(1)));
            self.rate = self.initial_rate();
        }
    }

    /// When a packet may leave that the application offered at `offered`.
    pub fn departure(&self, offered: Instant) -> Instant {
        self.pacer.departure(offered, self.payload_rate(), self.config.least_interval())
    }

    /// A packet of `len` bytes leaves, offered at `offered`; `more` wait behind it.
    pub fn on_sent(&mut self, len: u32, offered: Instant, more: bool, now: Instant) {
        let nominal = self.departure(offered);
        let credit = Duration::from_secs_f64(self.rtt.unwrap_or(0.0)).max(self.config.granularity);
        self.pacer.on_sent(len, nominal, credit, now);
        self.segment = MEMORY * self.segment + (1.0 - MEMORY) * f64::from(len.max(1));
        if nominal > offered || more {
            self.limit.on_not_limited(now);
        }
        if !core::mem::replace(&mut self.sending, true) {
            self.receive_rates.begin(now);
        }
        if self.timer.is_none() && !self.suspended {
            self.restart_timer(now);
        }
        // Also where the timer begins with this packet, which is yet to be answered.
        self.unanswered.get_or_insert(now);
    }

    /// Freezes the flow: no timer runs, and no rate changes, until [`resume`](Self::resume). The caller then decides
    /// alone when packets leave.
    pub fn suspend(&mut self) {
        self.suspended = true;
        self.timer = None;
    }

    /// Goes on from `now` with what there was.
    pub fn resume(&mut self, now: Instant) {
        self.suspended = false;
        self.pacer.restart(now);
        self.restart_timer(now);
    }

    /// The receiver's answer (section 4.3).
    pub fn handle_feedback(&mut self, feedback: &Feedback, response: Response, now: Instant) {
        self.pacer.on_rate_change(self.payload_rate(), self.config.least_interval(), now);
        if let Some(sent) = feedback.sent {
            let sample = now.saturating_since(sent).saturating_sub(feedback.delay);
            if sample > Duration::ZERO {
                self.take_sample(sample);
            }
        }
        let Some(rtt) = self.rtt else { return };
        let receive_rate = if feedback.receive_rate.is_finite() { feedback.receive_rate.max(0.0) } else { 0.0 };
        let receive_rate = self.config.with_headers(receive_rate, self.segment);
        let loss_event_rate = if feedback.loss_event_rate > 0.0 { feedback.loss_event_rate.min(1.0) } else { 0.0 };
        let risen = loss_event_rate > self.loss_event_rate;
        self.loss_event_rate = loss_event_rate;
        let limited = match feedback.sent {
            Some(sent) => self.limit.on_feedback(sent, Duration::from_secs_f64(rtt), now),
            None => false,
        };
        let receive_limit = self.receive_limit(receive_rate, limited, risen, now);
        if response != Response::Hold {
            self.adapt(receive_limit, now);
            if response == Response::Limit {
                self.rate = self.rate.min(receive_rate).max(self.least_rate());
            }
        } else if loss_event_rate > 0.0 {
            self.throughput = self.calculated(rtt);
        }
        self.heard = true;
        self.restart_timer(now);
    }

    /// Time has come to `now`: the nofeedback timer may be due (section 4.4).
    pub fn handle_timeout(&mut self, now: Instant) {
        if self.timer.is_some_and(|due| due <= now) {
            if self.expire(now) {
                self.restart_timer(now);
            } else {
                self.timer = None;
            }
        }
    }

    /// When [`handle_timeout`](Self::handle_timeout) is to be called next.
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.timer
    }

    /// Sets the nofeedback timer again: max(4R, 2s/X) (section 4.3, step 3), in ns-2 max(2R, 2s/X).
    fn restart_timer(&mut self, now: Instant) {
        let two_packets = 2.0 * self.segment / self.rate();
        let after = match self.rtt {
            // Until the first feedback it waits two seconds, or for two packets at a rate that was halved since.
            _ if !self.heard => INITIAL_TIMER.max(Duration::from_secs_f64(two_packets)),
            Some(rtt) => {
                let rtt = rtt.max(self.config.granularity.as_secs_f64());
                Duration::from_secs_f64((self.config.patience() * rtt).max(two_packets))
            }
            None => INITIAL_TIMER,
        };
        self.timer = Some(Instant::from_nanos(now.as_nanos().saturating_add(after.as_nanos())));
        self.unanswered = None;
    }

    /// Whether nothing was sent since the nofeedback timer was set.
    pub(crate) fn is_idle(&self) -> bool {
        self.unanswered.is_none()
    }

    /// Puts the nofeedback timer off, if what was sent since it was set may still be answered: that takes a round trip, and
    /// another one for which the receiver may wait (RFC 5348, section 6.2). Returns whether it is put off.
    pub(crate) fn wait_for_answer(&mut self, now: Instant) -> bool {
        let rtt = self.rtt().unwrap_or(Duration::ZERO).max(self.config.granularity);
        let answered = self.unanswered.map(|left| left + rtt + rtt);
        let waits = answered.is_some_and(|at| at > now);
        if waits {
            self.timer = answered;
        }
        waits
    }

    /// X: the allowed rate in bytes of payload per second, packets of the mean size supposed, before damping.
    pub fn rate(&self) -> f64 {
        self.rate * self.config.payload_share(self.segment)
    }

    /// X_inst: the rate at which packets leave now, in bytes of payload per second (section 4.5).
    pub fn payload_rate(&self) -> f64 {
        (self.rate * self.damping).max(self.least_rate()) * self.config.payload_share(self.segment)
    }

    /// R, once measured.
    pub fn rtt(&self) -> Option<Duration> {
        self.rtt.map(Duration::from_secs_f64)
    }

    /// The loss event rate of the last feedback.
    pub fn loss_event_rate(&self) -> f64 {
        self.loss_event_rate
    }

    /// s: the mean size of packets, in bytes.
    pub fn segment(&self) -> f64 {
        self.segment
    }

    /// What `intervals` of a receiver that sends no loss event rate make of it (RFC 4342, section 8.6): their lengths in
    /// packets, the open one first. One that is `None`, before the first loss, has the length that goes with
    /// `receive_rate`.
    pub(crate) fn loss_event_rate_of(
        &self,
        intervals: impl IntoIterator<Item = Option<f64>>,
        receive_rate: f64,
    ) -> f64 {
        let rtt = self.rtt.unwrap_or(1.0);
        let segment = self.config.equation_segment(self.segment);
        let receive_rate = self.config.with_headers(receive_rate, self.segment);
        let first = || 1.0 / super::equation::loss_event_rate(segment, rtt, self.timeout(rtt), receive_rate);
        super::loss_history::loss_event_rate_of(intervals.into_iter().map(|length| length.unwrap_or_else(first)))
    }

    /// s/t_mbi.
    fn least_rate(&self) -> f64 {
        self.config.equation_segment(self.segment) / MAXIMUM_BACKOFF
    }

    /// W_init/R.
    fn initial_rate(&self) -> f64 {
        let segment = self.config.equation_segment(self.segment);
        self.rtt.map_or(segment, |rtt| self.config.initial_window(segment) / rtt)
    }

    /// X_Bps of section 3.1 at the loss event rate, which is above 0.
    fn calculated(&self, rtt: f64) -> f64 {
        throughput(self.config.equation_segment(self.segment), rtt, self.timeout(rtt), self.loss_event_rate)
    }

    /// t_RTO in seconds.
    fn timeout(&self, rtt: f64) -> f64 {
        let counted = if self.config.edition == Edition::Ns2 { self.ticks.timeout() } else { None };
        counted.unwrap_or_else(|| self.config.timeout(rtt))
    }

    fn take_sample(&mut self, sample: Duration) {
        let sample = sample.as_secs_f64();
        self.ticks.sample(sample);
        let root = sample.sqrt();
        let smooth = |old: Option<f64>, new: f64| old.map_or(new, |old| MEMORY * old + (1.0 - MEMORY) * new);
        self.rtt = Some(smooth(self.rtt, sample));
        let mean = smooth(self.root, root);
        self.root = Some(mean);
        if self.config.oscillation_control {
            self.damping = mean / root;
        }
    }

    /// recv_limit of section 4.3, step 4.
    fn receive_limit(&mut self, rate: f64, limited: bool, risen: bool, now: Instant) -> f64 {
        if self.config.edition != Edition::Rfc5348 {
            self.receive_rates.replace(rate, now);
            return 2.0 * rate;
        }
        if !limited {
            let rtt = Duration::from_secs_f64(self.rtt.unwrap_or(0.0));
            self.receive_rates.update(rate, rtt, now);
            return 2.0 * self.receive_rates.max();
        }
        if risen {
            self.receive_rates.halve();
            self.receive_rates.maximize(LOSS_IN_IDLENESS * rate, now);
            self.receive_rates.max()
        } else {
            self.receive_rates.maximize(rate, now);
            2.0 * self.receive_rates.max()
        }
    }

    /// Step 4 of section 4.3.
    fn adapt(&mut self, receive_limit: f64, now: Instant) {
        let Some(rtt) = self.rtt else { return };
        if self.config.edition == Edition::Ns2 && !(self.starting && self.loss_event_rate <= 0.0) {
            self.adapt_as_ns2(rtt, receive_limit, now);
        } else if self.loss_event_rate > 0.0 {
            self.throughput = self.calculated(rtt);
            self.rate = self.throughput.min(receive_limit).max(self.least_rate());
        } else if self.doubled.is_none_or(|at| now.saturating_since(at) >= Duration::from_secs_f64(rtt)) {
            self.rate = (2.0 * self.rate).min(receive_limit).max(self.initial_rate());
            self.doubled = Some(now);
        }
    }

    /// After slow start in ns-2 (`TfrcAgent::recv`, `increase_rate`, `decrease_rate` as of 2002): down to the equation at once, up by a
    /// packet a round trip in each, and for at most one report in a row above twice what arrived.
    fn adapt_as_ns2(&mut self, rtt: f64, receive_limit: f64, now: Instant) {
        let packet_a_trip = self.config.equation_segment(self.segment) / rtt;
        self.throughput = if self.loss_event_rate > 0.0 { self.calculated(rtt) } else { f64::INFINITY };
        let limit = receive_limit.max(packet_a_trip);
        if core::mem::take(&mut self.starting) {
            self.rate = self.throughput;
        } else if self.throughput > self.rate {
            let since = self.changed.map_or(0.0, |at| now.saturating_since(at).as_secs_f64());
            let trips = (since / rtt).min(2.0);
            self.rate = (self.rate + packet_a_trip * trips).min(limit).min(self.throughput);
            self.heavy = 0;
        } else {
            self.rate = self.throughput;
            self.heavy = if self.rate > limit { self.heavy + 1 } else { 0 };
            if self.heavy > MOST_HEAVY {
                self.rate = self.rate.min(limit);
            }
        }
        self.rate = self.rate.max(self.least_rate());
        self.changed = Some(now);
    }

    /// The nofeedback timer has expired. Returns whether it is needed again before the next packet is sent.
    fn expire(&mut self, now: Instant) -> bool {
        if self.config.edition == Edition::Ns2 {
            // The rate itself, whatever arrived; the nofeedback timer ends slow start, and goes on for an idle sender, too.
            self.rate = (self.rate / 2.0).max(self.least_rate());
            self.starting &= !self.heard;
            return true;
        }
        let received = self.receive_rates.max();
        // The rate with which a sender that was idle may start again.
        let recover = match self.config.edition {
            Edition::Rfc3448 => {
                let octets = self.config.with_headers(4.0 * self.segment, self.segment);
                self.rtt.map_or(0.0, |rtt| octets / rtt)
            }
            Edition::Rfc5348 | Edition::Ns2 => self.initial_rate(),
        };
        let lossy = self.loss_event_rate > 0.0;
        let slow = match self.config.edition {
            Edition::Rfc3448 => received < recover,
            Edition::Rfc5348 if lossy => received < recover,
            Edition::Rfc5348 | Edition::Ns2 => self.rate < 2.0 * recover,
        };
        if self.is_idle() && (slow || !self.heard) {
            return false;
        }
        if !self.heard {
            self.rate = (self.rate / 2.0).max(self.least_rate());
            return true;
        }
        let limit = if !lossy {
            if self.config.edition == Edition::Rfc3448 {
                // Erratum 1458: without a loss event X_calc is without bound.
                self.update_limits(received, now);
                return true;
            }
            self.rate = (self.rate / 2.0).max(self.least_rate());
            return true;
        } else if self.throughput > 2.0 * received {
            received
        } else {
            self.throughput / 2.0
        };
        self.update_limits(limit, now);
        true
    }

    /// Update_Limits of section 4.4: half of `limit` becomes the receive rate.
    fn update_limits(&mut self, limit: f64, now: Instant) {
        let half = limit.max(self.least_rate()) / 2.0;
        self.receive_rates.replace(half, now);
        let before = self.rate;
        if self.loss_event_rate > 0.0 {
            self.adapt(2.0 * half, now);
        } else {
            // Slow start under RFC 3448, section 4.4; halving must not wait for the next round trip.
            self.rate = (2.0 * half).max(self.least_rate());
        }
        // A rate that was held below what the equation gives stays so.
        self.rate = self.rate.min(before);
    }
}
