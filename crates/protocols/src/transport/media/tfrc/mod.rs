//! TFRC (RFC 5348) and ADTFRC over RTP.
//!
//! The machines of both ends are those of [DCCP](super::super::dccp), and both run at the sender: reports of arrivals tell it what a
//! receiver of TFRC would see. Each of them counts as one feedback of TFRC. Reports are not sent once a round trip, as RFC 5348
//! (section 6.2) has feedback, so what is measured over a round trip is measured over the time between two reports where that is
//! longer, and the nofeedback timer waits accordingly.
//!
//! Rates count media alone, as RFC 5348 counts data; the pacer has room for headers as well. The encoder also leaves room for what
//! waits before the pacer. A session has no connection to close: where ADTFRC gives up a path, it starts again.

#[cfg(test)]
mod tests;

use super::super::dccp::{self, Expired, HalfReceiver, HalfSender, NetworkState};
use super::super::{adtfrc, tfrc};
use super::{Arrival, Feedback, Frame, MediaCongestionControl, PacketResult, PathReport, Probe, SentPacket, Source};
use crate::rounding::nearest;
use crate::time::{Duration, Instant};

/// The longest time between two reports while packets arrive ([`Schedule::Frames`](crate::transport::rtp::Schedule::Frames)).
const REPORT_INTERVAL: Duration = Duration::from_millis(40);
/// Time in which what waits before the pacer is to leave, in seconds: half of that after which a session discards it.
const DRAIN: f64 = 1.0;

/// A sender under TFRC or ADTFRC.
#[derive(Debug)]
pub struct Tfrc {
    congestion: dccp::Congestion,
    source: Source,
    sender: Box<dyn HalfSender>,
    receiver: Box<dyn HalfReceiver>,
    /// What the last report of arrivals told.
    report: Option<(tfrc::Report, Option<NetworkState>)>,
    /// The number after that of the last packet with a fate.
    next: u64,
    /// Packets without a fate before it: to the receiver they were never sent.
    forgotten: u64,
    /// The latest arrival, by the receiver's clock.
    newest: Instant,
    /// When the last frame came, and bytes of media that waited before it and that wait now.
    offered: Instant,
    backlog: u64,
    waiting: u64,
    /// Probes so far, and whether one is due.
    probes: u32,
    is_probe_due: bool,
}

impl Tfrc {
    /// A session for `source` that has sent nothing.
    pub fn new(mut congestion: dccp::Congestion, source: Source) -> Self {
        let config = congestion.tfrc_mut();
        config.segment = source.packet.saturating_sub(source.headers);
        config.granularity = REPORT_INTERVAL.max(source.frame_period);
        let (sender, receiver) = congestion.start();
        Self {
            congestion,
            source,
            sender,
            receiver,
            report: None,
            next: 0,
            forgotten: 0,
            newest: Instant::START,
            offered: Instant::START,
            backlog: 0,
            waiting: 0,
            probes: 0,
            is_probe_due: false,
        }
    }

    /// Bytes of media in a packet.
    fn media(&self, packet: &SentPacket) -> u32 {
        packet.size.saturating_sub(self.source.headers)
    }

    /// Whether only probes leave.
    fn is_probing(&self) -> bool {
        self.sender.departure(self.offered).is_none()
    }

    /// The receiver's number of a packet with a fate. One whose fate changes, before packets without a fate, is treated as another one.
    fn number(&mut self, packet: &SentPacket) -> u64 {
        if packet.number >= self.next {
            self.forgotten += packet.number - self.next;
            self.next = packet.number + 1;
        }
        packet.number.saturating_sub(self.forgotten)
    }

    /// Lets the receiver see a packet.
    fn arrive(&mut self, number: u64, packet: &SentPacket, arrival: Arrival, rtt: Duration) {
        self.newest = self.newest.max(arrival.time);
        // In units of 10 µs, without their upper bits.
        let timestamp = (packet.sent.as_nanos() / 10_000) as u32;
        let data = tfrc::Data { number, len: self.media(packet), without_data: 0, rtt };
        self.receiver.on_data(&data, Some(timestamp), self.newest);
    }
}

impl MediaCongestionControl for Tfrc {
    fn on_sent(&mut self, packet: &SentPacket) {
        let media = self.media(packet);
        self.waiting = self.waiting.saturating_sub(media.into());
        self.sender.on_sent(media, self.offered, self.waiting > 0, packet.sent);
    }

    fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        let now = feedback.now;
        let rtt = self.sender.tfrc().rtt().or(feedback.rtt).unwrap_or(REPORT_INTERVAL);
        let mut arrivals: Vec<(Arrival, u64, &SentPacket)> = Vec::new();
        for PacketResult { packet, arrival } in feedback.packets {
            let number = self.number(packet);
            arrivals.extend(arrival.map(|arrival| (arrival, number, packet)));
        }
        arrivals.sort_by_key(|&(arrival, number, _)| (arrival.time, number));
        let Some(&(.., last)) = arrivals.last() else { return };
        for (arrival, number, packet) in arrivals {
            self.arrive(number, packet, arrival, rtt);
        }
        self.receiver.urge(self.newest);
        let Some((report, state)) = self.receiver.poll_report(self.newest) else { return };
        let delay = feedback.rtt.map(|rtt| now.saturating_since(last.sent).saturating_sub(rtt));
        let told = tfrc::Feedback {
            sent: delay.map(|_| last.sent),
            delay: delay.unwrap_or_default(),
            receive_rate: report.receive_rate,
            loss_event_rate: report.loss_event_rate,
        };
        self.sender.handle_feedback(&told, state, now);
        self.report = Some((report, state));
    }

    fn on_frame(&mut self, frame: &Frame) {
        self.offered = frame.now;
        self.backlog = frame.queued;
        self.waiting = frame.queued + u64::from(frame.size);
    }

    fn handle_timeout(&mut self, now: Instant) {
        match self.sender.handle_timeout(now) {
            Expired::Nothing => {}
            Expired::Probe => self.is_probe_due = true,
            Expired::GiveUp => {
                (self.sender, self.receiver) = self.congestion.start();
                (self.report, self.forgotten) = (None, self.next);
            }
        }
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.sender.poll_timeout()
    }

    fn target_rate(&self) -> u64 {
        let room = if self.is_probing() { 0.0 } else { self.sender.tfrc().rate() - self.backlog as f64 / DRAIN };
        nearest(8.0 * room.max(0.0)).clamp(self.source.min_rate, self.source.max_rate)
    }

    fn pacing_rate(&self) -> Option<u64> {
        let sender = self.sender.tfrc();
        let headers = f64::from(self.source.headers) / sender.segment();
        Some(nearest(8.0 * sender.payload_rate() * (1.0 + headers)))
    }

    fn window(&self) -> Option<u64> {
        self.is_probing().then_some(0)
    }

    fn poll_probe(&mut self, _now: Instant) -> Option<Probe> {
        core::mem::take(&mut self.is_probe_due).then(|| {
            self.probes += 1;
            Probe { id: self.probes, rate: self.pacing_rate().unwrap_or(1), packets: 1, bytes: 0 }
        })
    }

    fn path(&self) -> Option<PathReport<'_>> {
        Some(PathReport {
            loss_event_rate: self.sender.tfrc().loss_event_rate(),
            sender: self.sender.adtfrc(),
            sample: self.receiver.adtfrc().and_then(adtfrc::Receiver::sample),
        })
    }

    fn metrics(&self, show: &mut dyn FnMut(&'static str, f64)) {
        let sender = self.sender.tfrc();
        show("allowed_rate_bps", 8.0 * sender.rate());
        show("smoothed_rtt_s", sender.rtt().map_or(0.0, Duration::as_secs_f64));
        show("loss_event_rate", sender.loss_event_rate());
        show("received_bps", self.report.map_or(0.0, |(report, _)| 8.0 * report.receive_rate));
        if self.receiver.adtfrc().is_some() {
            let state = self.report.and_then(|(_, state)| state).unwrap_or(NetworkState(0));
            let is = |bit| f64::from(u8::from(state.contains(bit)));
            show("is_congestion", is(NetworkState::CONGESTION));
            show("is_route_change", is(NetworkState::ROUTE_CHANGE));
            show("is_channel_error", is(NetworkState::CHANNEL_ERROR));
            show("is_probing", f64::from(u8::from(self.is_probing())));
        }
    }
}
