//! SCReAM v2: self-clocked rate adaptation for multimedia (draft-ietf-ccwg-rfc8298bis-screamv2).
//!
//! A window follows loss, marks and queueing delay, as that of TCP does. The target rate of the encoder is the window over the
//! round trip, less what keeps the media queue short. Section titles in this module are those of the draft.
//!
//! Left out, as the draft leaves it optional: less reaction to jitter (REDUCE_JITTER), tolerance of loss at the link layer and
//! of rate policers, and the correction of clock drift beyond LEDBAT's base delay of ten minutes.

mod acknowledged;
mod competing;
mod delay;
mod marking;
mod media_rate;
#[cfg(test)]
mod tests;
mod window;

use hopcast_wire::ecn::Ecn;

use super::{Feedback, Frame, MediaCongestionControl, SentPacket};
use crate::rounding::nearest;
use crate::time::{Duration, Instant};
use acknowledged::Acknowledged;
use competing::Target;
use delay::Delay;
use marking::Marking;
use media_rate::MediaRate;
use window::{Report, VIRTUAL_RTT, Window};

/// REF_WND_OVERHEAD_MAX: how far bytes in flight may exceed the reference window. It is the maximum since this implementation
/// measures no jitter (section "Send Window Calculation").
const WINDOW_OVERHEAD: f64 = 3.0;
/// A packet may leave after this silence whatever is in flight, since all of it may be lost. The draft leaves it open; it is that
/// of Ericsson's code (EricssonResearch/scream, `ScreamV2Tx.cpp`).
const SILENCE: Duration = Duration::from_millis(500);

/// What a SCReAM session is told at its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// TARGET_BITRATE_MIN, in b/s.
    pub min_rate: u64,
    /// TARGET_BITRATE_MAX, in b/s.
    pub max_rate: u64,
    /// MSS: the size of a full packet by [`SentPacket::size`], in bytes.
    pub segment: u32,
    /// The time between two frames of the encoder.
    pub frame_period: Duration,
    /// How packets leave: ECT(1) for L4S, ECT(0) for classic ECN, or Not-ECT.
    pub ecn: Ecn,
}

impl Default for Config {
    /// The rates of RFC 8867 (section 4.1), MSS and frame period of the draft, no ECN.
    fn default() -> Self {
        Self {
            min_rate: 150_000,
            max_rate: 1_500_000,
            segment: 1000,
            frame_period: Duration::from_millis(20),
            ecn: Ecn::NotEct,
        }
    }
}

/// A sender under SCReAM v2.
#[derive(Debug)]
pub struct Scream {
    config: Config,
    acknowledged: Acknowledged,
    delay: Delay,
    marking: Marking,
    target: Target,
    /// `None` before the first packet.
    window: Option<Window>,
    rate: MediaRate,
    last_sent: Option<Instant>,
    silent: bool,
}

impl Scream {
    /// A session that has sent nothing.
    pub fn new(config: Config) -> Self {
        Self {
            config,
            acknowledged: Acknowledged::default(),
            delay: Delay::default(),
            marking: Marking::default(),
            target: Target::new(),
            window: None,
            rate: MediaRate::new(config.min_rate, config.max_rate, config.segment, config.frame_period),
            last_sent: None,
            silent: false,
        }
    }

    /// Measures delays, and returns whether a packet of this feedback arrived.
    fn measure(&mut self, feedback: &Feedback<'_>) -> bool {
        if let Some(rtt) = feedback.rtt {
            self.delay.on_rtt(rtt);
        }
        let mut newest = None;
        for result in feedback.packets {
            let Some(arrival) = result.arrival else { continue };
            let delay = signed(arrival.time).saturating_sub(signed(result.packet.sent));
            self.delay.on_one_way(delay, feedback.now);
            newest = Some(delay);
        }
        let Some(newest) = newest else { return false };
        self.delay.on_newest(newest, feedback.now, VIRTUAL_RTT.min(self.delay.smoothed_rtt()));
        true
    }
}

/// An instant of one of two clocks, so that their difference has a sign.
fn signed(instant: Instant) -> i64 {
    i64::try_from(instant.as_nanos()).unwrap_or(i64::MAX)
}

impl MediaCongestionControl for Scream {
    fn on_sent(&mut self, packet: &SentPacket) {
        let window = self.window.get_or_insert_with(|| Window::new(self.config.segment, packet.sent));
        window.on_in_flight(packet.in_flight);
        self.last_sent = Some(packet.sent);
        self.silent = false;
    }

    fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        let arrived = self.measure(feedback);
        let rtt = self.delay.smoothed_rtt();
        let (mut delivered, mut marked, mut unmarked_bytes, mut lost) = (0, 0, 0, false);
        let mut arrived_bytes = 0;
        for result in feedback.packets {
            let size = u64::from(result.packet.size);
            let Some(arrival) = result.arrival else {
                lost = true;
                unmarked_bytes += size;
                continue;
            };
            delivered += 1;
            arrived_bytes += size;
            if arrival.ecn == Ecn::Ce && self.config.ecn.is_capable() {
                marked += 1;
            } else {
                unmarked_bytes += size;
            }
        }
        self.acknowledged.on_bytes(arrived_bytes, feedback.now, rtt.max(self.config.frame_period * 2));
        self.marking.on_delivered(delivered, marked, feedback.now, rtt);
        if arrived {
            self.target.on_feedback(self.delay.queueing(), lost, feedback.now, rtt);
        }
        let Some(window) = &mut self.window else { return };
        window.on_in_flight(feedback.in_flight);
        window.on_feedback(&Report {
            now: feedback.now,
            rtt,
            lost,
            marked: marked > 0,
            l4s: self.config.ecn == Ecn::Ect1,
            alpha: self.marking.alpha(),
            queueing: self.delay.queueing(),
            average: self.delay.average(),
            target: self.target.seconds(),
            target_rate: self.rate.target(),
            acknowledged_rate: self.acknowledged.rate(),
            unmarked_bytes,
            may_grow: self.rate.below_maximum(),
        });
        if rtt > Duration::ZERO {
            self.rate.on_window(window.bytes(), window.ratio(), rtt);
        }
    }

    fn on_frame(&mut self, frame: &Frame) {
        self.rate.on_frame(frame.size, frame.queue_delay);
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.silent |= self.last_sent.is_some_and(|sent| now >= sent.saturating_add(SILENCE));
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.last_sent.filter(|_| !self.silent).map(|sent| sent.saturating_add(SILENCE))
    }

    fn target_rate(&self) -> u64 {
        nearest(self.rate.target())
    }

    fn pacing_rate(&self) -> Option<u64> {
        Some(nearest(self.rate.pacing()))
    }

    fn window(&self) -> Option<u64> {
        let bytes = self.window.as_ref().map_or(window::MINIMUM, Window::bytes);
        (!self.silent).then(|| nearest(bytes * WINDOW_OVERHEAD))
    }

    fn ecn(&self) -> Ecn {
        self.config.ecn
    }

    fn metrics(&self, show: &mut dyn FnMut(&'static str, f64)) {
        show("reference_window_bytes", self.window.as_ref().map_or(window::MINIMUM, Window::bytes));
        show("queue_delay_s", self.delay.queueing());
        show("queue_delay_average_s", self.delay.average());
        show("queue_delay_target_s", self.target.seconds());
        show("acknowledged_bps", self.acknowledged.rate());
        show("smoothed_rtt_s", self.delay.smoothed_rtt().as_secs_f64());
        show("marked_share", self.marking.alpha());
        show("loss_event_rate", self.target.loss_event_rate());
    }
}
