//! The receiving end of a session.

use std::sync::Arc;

use hopcast_wire::ParseError;
use hopcast_wire::ecn::Ecn;
use hopcast_wire::rtcp::nack::Nack;
use hopcast_wire::rtp;

use super::arrivals::{Arrival, Arrivals, Received};
use super::reports::ReceiverReports;
use super::requests::Requests;
use super::{Config, Format, ORIGINAL_SEQUENCE_LEN, Schedule, feedback, unwrap};
use crate::random::Stream;
use crate::time::{Duration, Instant};

/// Bounds of [`Schedule::Share`], its first interval, and the size of its reports in bits (libwebrtc,
/// `transport_sequence_number_feedback_generator.cc`).
const SHORTEST: Duration = Duration::from_millis(50);
const LONGEST: Duration = Duration::from_millis(250);
const FIRST: Duration = Duration::from_millis(100);
const REPORT_BITS: f64 = 68.0 * 8.0;
/// Share of the arriving rate that reports take.
const REPORT_SHARE: f64 = 0.05;
/// Of [`Schedule::Frames`].
const PACKETS: u32 = 16;
const HELD: Duration = Duration::from_millis(40);

/// The receiving end of a session.
#[derive(Clone, Debug)]
pub struct Receiver {
    config: Config,
    /// Of media, and of packets that were sent again where reports have numbers of each source; else of all.
    arrivals: [Arrivals; 2],
    /// When the next report is due.
    due: Option<Instant>,
    /// Bytes since the last report, and when that was.
    received: (u64, Option<Instant>),
    interval: Duration,
    count: u8,
    reports: Option<ReceiverReports>,
    requests: Option<Requests>,
}

impl Receiver {
    /// A session of which nothing has come.
    pub fn new(config: Config) -> Self {
        let interval = match config.schedule {
            Schedule::Periodic(interval) => interval,
            Schedule::Share => FIRST,
            Schedule::Frames => HELD,
        };
        Self {
            config,
            arrivals: Default::default(),
            due: None,
            received: (0, None),
            interval,
            count: 0,
            reports: None,
            requests: config.retransmission.map(Requests::new),
        }
    }

    /// The same with receiver reports (RFC 3550, section 6.4.2). `draws` has the receiver's name and the times between reports.
    #[must_use]
    pub fn with_reports(self, draws: Stream) -> Self {
        Self { reports: Some(ReceiverReports::new(self.config.source, draws)), ..self }
    }

    /// A packet has come, of which these are the RTP header, with the original sequence number if it is sent again, and the bytes of
    /// data, with this ECN field. Returns whether it is to be handed out: it has data, and has not come before as far as is remembered.
    ///
    /// # Errors
    ///
    /// What is wrong with the header.
    pub fn handle_packet(&mut self, header: &[u8], data: u32, ecn: Ecn, now: Instant) -> Result<bool, ParseError> {
        let packet = rtp::Packet::new_checked(header)?;
        Ok(self.handle_view(packet, data, header.len() as u64 + u64::from(data), ecn, now))
    }

    /// The same with all bytes of a packet.
    ///
    /// # Errors
    ///
    /// What is wrong with the header.
    pub fn handle_octets(&mut self, octets: &[u8], ecn: Ecn, now: Instant) -> Result<bool, ParseError> {
        let packet = rtp::Packet::new_checked(octets)?;
        let original = if self.is_retransmission(&packet) { ORIGINAL_SEQUENCE_LEN } else { 0 };
        let data = (packet.payload().len() as u32).saturating_sub(original);
        Ok(self.handle_view(packet, data, octets.len() as u64, ecn, now))
    }

    fn handle_view(&mut self, packet: rtp::Packet<&[u8]>, data: u32, size: u64, ecn: Ecn, now: Instant) -> bool {
        let is_retransmission = self.is_retransmission(&packet);
        let sequence = if is_retransmission { original_sequence(&packet) } else { Some(packet.sequence()) };
        if let Some(reports) = self.reports.as_mut().filter(|_| !is_retransmission) {
            reports.handle_media(&packet, now);
        }
        let is_new = match &mut self.requests {
            Some(requests) => sequence.is_some_and(|sequence| {
                let near = requests.next().unwrap_or(1 << 16);
                requests.on_arrival(unwrap(sequence.into(), 16, near), now)
            }),
            None => true,
        };
        let is_handed_out = is_new && data > 0;
        let own_numbers = is_retransmission && self.config.format == Format::Ccfb;
        let arrivals = &mut self.arrivals[usize::from(own_numbers)];
        let near = arrivals.newest().unwrap_or(1 << 16);
        let Some(number) = number(self.config.format, &packet) else { return is_handed_out };
        match arrivals.insert(unwrap(number.into(), 16, near), Received { time: now, ecn }) {
            Arrival::First => {}
            Arrival::Repetition => return false,
            Arrival::TooOld => return is_handed_out,
        }
        self.received.0 += size;
        self.received.1.get_or_insert(now);
        let unreported: u32 = self.arrivals.iter().map(Arrivals::unreported).sum();
        let is_enough = packet.marker() || unreported >= PACKETS;
        let due = if self.config.schedule == Schedule::Frames && is_enough { now } else { now + self.interval };
        self.due = Some(self.due.map_or(due, |earlier| earlier.min(due)));
        is_handed_out
    }

    /// Whether a packet is one that is sent again, or padding of a sender that sends packets again.
    fn is_retransmission(&self, packet: &rtp::Packet<&[u8]>) -> bool {
        packet.source() == self.config.retransmission_source()
    }

    /// A control packet of the sender has come. A datagram may have several, each of which is [one](hopcast_wire::rtcp::packets).
    pub fn handle_control(&mut self, packet: &[u8], now: Instant) {
        if let Some(reports) = &mut self.reports {
            reports.handle_packet(packet, now);
        }
    }

    /// When feedback or a report is due.
    pub fn poll_timeout(&self) -> Option<Instant> {
        let report = self.reports.as_ref().and_then(ReceiverReports::poll_timeout);
        let request = self.requests.as_ref().and_then(Requests::poll_timeout);
        [self.due, report, request].into_iter().flatten().min()
    }

    /// The request for packets that are missed at `now`: a generic NACK.
    pub fn poll_request(&mut self, now: Instant) -> Option<Arc<[u8]>> {
        let missed = self.requests.as_mut()?.poll(now);
        if missed.is_empty() {
            return None;
        }
        let lost = missed.into_iter().map(|number| number as u16).collect();
        let nack = Nack { sender: self.config.source.wrapping_add(1), source: self.config.source, lost };
        let mut octets = vec![0; nack.buffer_len()];
        nack.emit(&mut octets);
        Some(octets.into())
    }

    /// The receiver report that is due at `now`.
    pub fn poll_receiver_report(&mut self, now: Instant) -> Option<Arc<[u8]>> {
        self.reports.as_mut()?.poll_report(now)
    }

    /// The feedback about arrivals that is due at `now`.
    pub fn poll_feedback(&mut self, now: Instant) -> Option<Arc<[u8]>> {
        self.due.take_if(|due| *due <= now)?;
        let octets = feedback::write(&self.config, self.arrivals.each_ref(), self.count, now);
        self.count = self.count.wrapping_add(1);
        self.arrivals.iter_mut().for_each(|arrivals| arrivals.on_reported(self.config.format == Format::Ccfb));
        if self.config.schedule == Schedule::Share {
            let (octets, since) = core::mem::replace(&mut self.received, (0, Some(now)));
            let elapsed = since.map_or(Duration::ZERO, |since| now.saturating_since(since)).as_secs_f64();
            // Reports of 544 bits at a twentieth of the rate.
            let interval = REPORT_BITS * elapsed / (REPORT_SHARE * 8.0 * octets.max(1) as f64);
            self.interval = Duration::from_secs_f64(interval).clamp(SHORTEST, LONGEST);
        }
        Some(octets)
    }
}

/// The sequence number that a packet had before it was sent again (RFC 4588, section 4).
fn original_sequence(packet: &rtp::Packet<&[u8]>) -> Option<u16> {
    packet.payload().first_chunk().map(|octets| u16::from_be_bytes(*octets))
}

/// The number by which reports name the packet.
fn number(format: Format, packet: &rtp::Packet<&[u8]>) -> Option<u16> {
    match format {
        Format::Ccfb => Some(packet.sequence()),
        Format::Twcc => packet.extension().and_then(|extension| extension.transport_wide_number()),
    }
}
