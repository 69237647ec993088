//! Data and feedback of the congestion control (RFC 4342, section 6).

use hopcast_wire::dccp::{self, OptionList, OptionRepr, PacketType, TimestampEcho};

use super::super::super::tfrc::{self, Data, Feedback};
use super::super::{NetworkState, Payload};
use super::options::{MAX_INTERVALS, Read};
use super::{Connection, Delivery, TIME_UNIT};
use crate::time::{Duration, Instant};

impl Connection {
    /// Data, and what was acknowledged.
    #[expect(clippy::too_many_arguments, reason = "the fields of one packet, taken apart before")]
    pub(super) fn handle_content(
        &mut self,
        kind: PacketType,
        sequence: u64,
        acknowledged: Option<u64>,
        payload: Payload,
        counter: u8,
        read: &Read,
        now: Instant,
    ) {
        if let (Some(acknowledged), true) = (acknowledged, matches!(kind, PacketType::Ack | PacketType::DataAck)) {
            self.handle_feedback(sequence, acknowledged, read, now);
        }
        if !self.carries_data() {
            return;
        }
        if !matches!(kind, PacketType::Data | PacketType::DataAck) {
            self.receiver.on_other(sequence, read.without_data, now);
            return;
        }
        if sequence == self.peer.greatest {
            self.peer_rtt.on_packet(counter, now);
        }
        let data =
            Data { number: sequence, len: payload.len, without_data: read.without_data, rtt: self.peer_rtt.get() };
        self.receiver.on_data(&data, read.timestamp, now);
        self.statistics.data_packets_received += 1;
        self.statistics.bytes_received += u64::from(payload.len);
        self.events.delivery = Some(Delivery { sequence, payload });
    }

    fn handle_feedback(&mut self, sequence: u64, acknowledged: u64, read: &Read, now: Instant) {
        let Some(receive_rate) = read.receive_rate else { return };
        // What was overtaken by later feedback is old.
        if sequence <= self.feedback_by || !self.carries_data() {
            return;
        }
        let loss_event_rate = match (read.loss_event_rate, &read.intervals) {
            (Some(u32::MAX), _) => 0.0,
            (Some(inverse), _) => 1.0 / f64::from(inverse.max(1)),
            (None, Some(lengths)) => {
                self.sender.tfrc().loss_event_rate_of(lengths.iter().copied(), f64::from(receive_rate))
            }
            (None, None) => return,
        };
        self.feedback_by = sequence;
        self.statistics.feedback_received += 1;
        let departure = self.sent.acknowledge(acknowledged);
        if let Some(departure) = departure {
            self.counter.on_feedback(departure.counter, now);
        }
        let feedback = Feedback {
            // The delay counts from the acknowledged packet, which must be that one.
            sent: departure.filter(|departure| departure.number == acknowledged).map(|departure| departure.at),
            delay: Duration::from_nanos(u64::from(read.elapsed) * TIME_UNIT),
            receive_rate: f64::from(receive_rate),
            loss_event_rate,
        };
        self.sender.handle_feedback(&feedback, read.state, now);
    }

    /// The options of feedback (RFC 4342, section 6).
    pub(super) fn write_report(
        &mut self,
        options: &mut OptionList,
        report: &tfrc::Report,
        state: Option<NetworkState>,
        now: Instant,
    ) {
        self.statistics.feedback_sent += 1;
        let since = |at: Instant| u32::try_from(now.saturating_since(at).as_nanos() / TIME_UNIT).unwrap_or(u32::MAX);
        options.push(&OptionRepr::ElapsedTime(since(self.arrived)));
        if let Some((timestamp, at)) = self.timestamp.take() {
            let elapsed = Some(since(at));
            options.push(&OptionRepr::TimestampEcho(TimestampEcho { timestamp, elapsed }));
        }
        // A float becomes the nearest number there is.
        options.push(&OptionRepr::ReceiveRate(libm::round(report.receive_rate) as u32));
        if self.features.sends_loss_event_rate {
            // Rounded up; the greatest number is that of no loss (RFC 4342, section 8.5).
            let inverse = libm::ceil(1.0 / report.loss_event_rate) as u32;
            options.push(&OptionRepr::LossEventRate(inverse));
        } else {
            let (skip, intervals) = self.receiver.intervals();
            let field = |number: u64, bits: u32| u32::try_from(number).unwrap_or(u32::MAX).min((1 << bits) - 1);
            let intervals = intervals.iter().take(MAX_INTERVALS).map(|one| dccp::LossInterval {
                lossless: field(one.lossless, 24),
                nonce_echo: false,
                lossy: field(one.lossy, 23),
                data: field(one.lossy + one.lossless, 24),
            });
            options.push_loss_intervals(u8::try_from(skip).unwrap_or(u8::MAX), intervals);
        }
        if let Some(state) = state {
            options.push(&OptionRepr::NetworkState(state));
        }
    }
}
