//! One sender with its encoder, pacer and history, and its receiver.

use std::collections::VecDeque;

use hopcast_wire::ecn::Ecn;

use super::super::{Arrival, Feedback, Frame, MediaCongestionControl, PacketResult, Probe, SentPacket};
use crate::time::{Duration, Instant};

/// RTP, UDP and IP.
const HEADERS: u32 = 12 + 8 + 20;
/// Of a full packet.
const PAYLOAD: u32 = 1000;

/// What a flow sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Source {
    /// Frames that follow the target rate at once, up to this rate in b/s.
    Codec { fps: u64, most: u64 },
    /// Frames of a fixed rate in b/s, whatever the target.
    Fixed { fps: u64, rate: u64 },
    /// As many full packets as window and pacer let through.
    Bulk,
}

/// When the receiver reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Reports {
    /// Each so often.
    Periodic(Duration),
    /// After 16 packets, after the last packet of a frame, and after 40 ms: SCReAM's draft, section "Receiver Requirements".
    Scream,
}

/// What a received packet tells.
#[derive(Clone, Copy, Debug)]
pub(super) struct Received {
    pub(super) number: u64,
    pub(super) time: Instant,
    pub(super) ecn: Ecn,
}

/// A packet that leaves now.
pub(super) struct Departure {
    pub(super) number: u64,
    pub(super) size: u32,
}

#[derive(Clone, Copy, Debug)]
struct Queued {
    payload: u32,
    last_of_frame: bool,
    since: Instant,
}

#[derive(Debug)]
pub(in super::super) struct Flow {
    pub(in super::super) control: Box<dyn MediaCongestionControl>,
    pub(super) source: Source,
    pub(super) reports: Reports,
    queue: VecDeque<Queued>,
    probe: Option<(Probe, u32, u32)>,
    /// When the pacer lets the next packet leave.
    pub(super) pacer: Instant,
    /// When the bench looks at the pacer next.
    pub(super) wake: Option<Instant>,
    outstanding: VecDeque<SentPacket>,
    in_flight: u64,
    sent: u64,
    /// Marks which numbers end a frame, for the receiver's rule.
    frame_ends: VecDeque<u64>,
    pub(super) received: Vec<Received>,
    pub(super) held_since: Option<Instant>,
    /// All bytes that arrived.
    pub(in super::super) arrived: u64,
    pub(in super::super) lost: u64,
}

impl Flow {
    pub(super) fn new(
        control: Box<dyn MediaCongestionControl>,
        source: Source,
        reports: Reports,
        now: Instant,
    ) -> Self {
        Self {
            control,
            source,
            reports,
            queue: VecDeque::new(),
            probe: None,
            pacer: now,
            wake: None,
            outstanding: VecDeque::new(),
            in_flight: 0,
            sent: 0,
            frame_ends: VecDeque::new(),
            received: Vec::new(),
            held_since: None,
            arrived: 0,
            lost: 0,
        }
    }

    /// The encoder's next frame, and the time to the one after.
    pub(super) fn encode(&mut self, now: Instant) -> Option<Duration> {
        let (fps, rate) = match self.source {
            Source::Codec { fps, most } => (fps, self.control.target_rate().min(most)),
            Source::Fixed { fps, rate } => (fps, rate),
            Source::Bulk => return None,
        };
        let size = u32::try_from(rate / 8 / fps).expect("a frame below 4 GB").max(1);
        let queued: u64 = self.queue.iter().map(|packet| u64::from(packet.payload)).sum();
        let queue_delay = self.queue.front().map_or(Duration::ZERO, |packet| now - packet.since);
        self.control.on_frame(&Frame { size, now, queued, queue_delay });
        let mut rest = size;
        while rest > 0 {
            let payload = rest.min(PAYLOAD);
            rest -= payload;
            self.queue.push_back(Queued { payload, last_of_frame: rest == 0, since: now });
        }
        Some(Duration::from_nanos(1_000_000_000 / fps))
    }

    /// What the pacer lets out at `now`, if anything.
    pub(super) fn depart(&mut self, now: Instant) -> Option<Departure> {
        if self.probe.is_none() {
            self.probe = self.control.poll_probe(now).map(|probe| (probe, 0, 0));
        }
        let bulk = self.source == Source::Bulk;
        let (queued, probing) = (self.queue.front().copied(), self.probe.map(|(probe, ..)| probe));
        if now < self.pacer || (queued.is_none() && probing.is_none() && !bulk) {
            return None;
        }
        // Padding, where media lacks, is of full packets.
        let payload = queued.map_or(PAYLOAD, |packet| packet.payload);
        let size = payload + HEADERS;
        if probing.is_none() && self.control.window().is_some_and(|most| self.in_flight + u64::from(size) > most) {
            return None;
        }
        self.queue.pop_front();
        let number = self.sent;
        self.sent += 1;
        self.in_flight += u64::from(size);
        let packet =
            SentPacket { number, size, sent: now, probe: probing.map(|probe| probe.id), in_flight: self.in_flight };
        self.outstanding.push_back(packet);
        self.control.on_sent(&packet);
        let rate = probing.map(|probe| probe.rate).or_else(|| self.control.pacing_rate());
        if let Some(rate) = rate {
            // A pacer that waited does not catch up.
            self.pacer = now + Duration::from_nanos(u64::from(size) * 8_000_000_000 / rate.max(1));
        }
        if let Some((probe, packets, bytes)) = &mut self.probe {
            *packets += 1;
            *bytes += size;
            if *packets >= probe.packets && *bytes >= probe.bytes {
                self.probe = None;
            }
        }
        let last_of_frame = queued.is_none_or(|packet| packet.last_of_frame);
        if last_of_frame {
            self.frame_ends.push_back(number);
        }
        Some(Departure { number, size })
    }

    /// Whether something waits for the pacer alone.
    pub(super) fn wants_pacer(&self) -> bool {
        self.source == Source::Bulk || !self.queue.is_empty() || self.probe.is_some()
    }

    /// A packet arrives. Returns whether the receiver reports at once.
    pub(super) fn receive(&mut self, packet: Received, size: u32) -> bool {
        self.arrived += u64::from(size);
        self.held_since.get_or_insert(packet.time);
        self.received.push(packet);
        while self.frame_ends.front().is_some_and(|&number| number < packet.number) {
            self.frame_ends.pop_front();
        }
        let ends = self.frame_ends.front() == Some(&packet.number);
        self.reports == Reports::Scream && (ends || self.received.len() >= 16)
    }

    /// A report arrives that left the receiver at `left`.
    pub(super) fn on_report(&mut self, received: &[Received], left: Instant, now: Instant) {
        let Some(newest) = received.last() else { return };
        let mut packets = Vec::new();
        let mut newest_sent = None;
        let mut arrivals = received.iter().peekable();
        while let Some(packet) = self.outstanding.front().copied().filter(|packet| packet.number <= newest.number) {
            self.outstanding.pop_front();
            self.in_flight -= u64::from(packet.size);
            let arrival = arrivals.next_if(|arrival| arrival.number == packet.number);
            self.lost += u64::from(arrival.is_none());
            newest_sent = Some(packet.sent);
            let arrival = arrival.map(|arrival| Arrival { time: arrival.time, ecn: arrival.ecn });
            packets.push(PacketResult { packet, arrival });
        }
        let rtt = newest_sent.map(|sent| (now - sent).saturating_sub(left - newest.time));
        self.control.on_feedback(&Feedback { now, packets: &packets, rtt, in_flight: self.in_flight });
    }
}
