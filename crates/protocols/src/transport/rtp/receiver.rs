//! The receiving end of a session.

use std::sync::Arc;

use hopcast_wire::ParseError;
use hopcast_wire::ecn::Ecn;
use hopcast_wire::rtp;

use super::arrivals::{Arrival, Arrivals, Received};
use super::reports::ReceiverReports;
use super::{Config, Format, Schedule, feedback, unwrap};
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
    arrivals: Arrivals,
    /// When the next report is due.
    due: Option<Instant>,
    /// Bytes since the last report, and when that was.
    received: (u64, Option<Instant>),
    interval: Duration,
    count: u8,
    reports: Option<ReceiverReports>,
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
            arrivals: Arrivals::default(),
            due: None,
            received: (0, None),
            interval,
            count: 0,
            reports: None,
        }
    }

    /// The same with receiver reports (RFC 3550, section 6.4.2). `draws` has the receiver's name and the times between reports.
    #[must_use]
    pub fn with_reports(self, draws: Stream) -> Self {
        Self { reports: Some(ReceiverReports::new(self.config.source, draws)), ..self }
    }

    /// A packet has come, of which these are the RTP header and the bytes of data, with this ECN field. Returns whether it is to be
    /// handed out: it has data, and is no repetition as far as is remembered.
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
        Ok(self.handle_view(packet, packet.payload().len() as u32, octets.len() as u64, ecn, now))
    }

    fn handle_view(&mut self, packet: rtp::Packet<&[u8]>, data: u32, size: u64, ecn: Ecn, now: Instant) -> bool {
        if let Some(reports) = &mut self.reports {
            reports.handle_media(&packet, now);
        }
        let near = self.arrivals.newest().unwrap_or(1 << 16);
        let Some(number) = number(self.config.format, &packet) else { return data > 0 };
        match self.arrivals.insert(unwrap(number.into(), 16, near), Received { time: now, ecn }) {
            Arrival::First => {}
            Arrival::Repetition => return false,
            Arrival::TooOld => return data > 0,
        }
        self.received.0 += size;
        self.received.1.get_or_insert(now);
        let is_enough = packet.marker() || self.arrivals.unreported() >= PACKETS;
        let due = if self.config.schedule == Schedule::Frames && is_enough { now } else { now + self.interval };
        self.due = Some(self.due.map_or(due, |earlier| earlier.min(due)));
        data > 0
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
        [self.due, report].into_iter().flatten().min()
    }

    /// The receiver report that is due at `now`.
    pub fn poll_receiver_report(&mut self, now: Instant) -> Option<Arc<[u8]>> {
        self.reports.as_mut()?.poll_report(now)
    }

    /// The feedback about arrivals that is due at `now`.
    pub fn poll_feedback(&mut self, now: Instant) -> Option<Arc<[u8]>> {
        self.due.take_if(|due| *due <= now)?;
        let octets = feedback::write(&self.config, &self.arrivals, self.count, now);
        self.count = self.count.wrapping_add(1);
        self.arrivals.on_reported(self.config.format == Format::Ccfb);
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

/// The number by which reports name the packet.
fn number(format: Format, packet: &rtp::Packet<&[u8]>) -> Option<u16> {
    match format {
        Format::Ccfb => Some(packet.sequence()),
        Format::Twcc => packet.extension().and_then(|extension| extension.transport_wide_number()),
    }
}
