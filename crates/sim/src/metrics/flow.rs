//! One flow, measured from the source's writes to the sink's reads.

use super::fec::Repair;
use super::journal::{Dropped, Journal, Passage, Shown};
use super::playout::Playout;
use super::way::Ways;
use super::{
    Arrival, ArrivalSummary, Census, DropCause, FecSummary, FrameSummary, Identified, Jitter, Ledger, Loss, Losses,
    Monitor, PathState, PlayerSpec, PlayerSummary, RateControl, Scores, Series, Truth, Unjudged, WaySummary,
};
use crate::id::{FlowId, NodeId};
use hdrhistogram::Histogram;
use hopcast_protocols::time::{Duration, Instant};
use hopcast_protocols::transport::adtfrc;
use hopcast_radio::mac::edca::UserPriority;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::ops::{Index, IndexMut};

/// Information about a flow that its measurement needs in advance.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowSpec {
    /// The application starts here.
    pub start: Instant,
    /// The application stops here, or with the run.
    pub stop: Option<Instant>,
    /// The end of the run.
    pub end: Instant,
    /// User priority of its packets at interfaces.
    pub priority: UserPriority,
    /// The player of its media.
    pub player: Option<PlayerSpec>,
    /// Its source and its sink, if packets between them are counted.
    pub ends: Option<[NodeId; 2]>,
    /// Whether its losses are compared with what the flow itself identifies.
    pub is_monitored: bool,
    /// Whether FEC protects it.
    pub is_protected: bool,
    /// Whether it is media over RTP.
    pub is_media: bool,
}

/// What flows over RTP have: percentiles of the delay that RFC 8868 (section 3) asks for, and what was sent again. Of other flows it is left
/// out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, JsonSchema, Serialize)]
pub struct MediaSummary {
    /// 5th percentile of the delay of a flow over RTP, within 0.1 % or 1 µs; left out for other flows.
    #[schemars(extend("x-counted" = "at the sink"))]
    pub delay_p5_s: Option<f64>,
    /// Median of the delay of a flow over RTP, within 0.1 % or 1 µs; left out for other flows.
    #[schemars(extend("x-counted" = "at the sink"))]
    pub delay_p50_s: Option<f64>,
    /// 95th percentile of the delay of a flow over RTP, within 0.1 % or 1 µs; left out for other flows.
    #[schemars(extend("x-counted" = "at the sink"))]
    pub delay_p95_s: Option<f64>,
    /// Packets of a flow over RTP that were sent again, added up over all hops, 0 without `retransmission`; left out for other flows.
    #[schemars(extend("x-unit" = "packets", "x-counted" = "at the senders"))]
    pub retransmitted_packets: Option<u64>,
}

/// The measurement of one flow.
///
/// A *packet* is one datagram of the application over UDP and DCCP, and one write of the application over TCP. A
/// datagram's delay runs from its write to the sink's read, over all relays. The delay of a write to TCP runs from the
/// moment when the send buffer has accepted its last byte to the moment when the sink has read that byte; this packet is
/// never lost, unless its connection is given up, or the application does not block and the send buffer refuses it. For a
/// program of a real host, whose writes are not visible, a packet is the new data of a segment, written when the segment
/// enters the simulation; at a real host, the sink counts as having read all data that has arrived in order.
#[derive(Clone, Debug)]
pub struct FlowMetrics {
    spec: FlowSpec,
    ledger: Ledger,
    /// Writes to a stream that the sink has not read to their end.
    writes: VecDeque<StreamWrite>,
    written_packets: u64,
    read_packets: u64,
    refused_packets: u64,
    abandoned_packets: u64,
    sent_bytes: u64,
    received_bytes: u64,
    /// Of those, from the flow's start to its stop.
    counted_bytes: u64,
    stream_written: u64,
    /// Place in the stream after the last complete write.
    stream_completed: u64,
    stream_read: u64,
    /// Place in the stream up to which nothing more is waited for, as its connection was given up.
    stream_abandoned: u64,
    source_finished: bool,
    /// A program at a real host has opened the stream.
    is_opened: bool,
    delays: Histogram<u32>,
    delay_sum: u128,
    jitter: Jitter,
    first_arrival: Option<Instant>,
    last_arrival: Option<Instant>,
    tcp: TcpStatistics,
    playout: Option<Playout>,
    monitor: Option<Box<Monitor>>,
    repair: Repair,
    /// Packets of media that were sent again.
    retransmitted: u64,
    ways: Ways,
    series: Series,
    /// For a recording.
    passages: Option<Vec<Passage>>,
}

#[derive(Clone, Copy, Debug)]
struct StreamWrite {
    /// Its number among the application's writes, from zero, refused ones included.
    number: u64,
    /// Place in the stream after its last byte.
    end: u64,
    octets: u32,
    accepted: Instant,
}

/// Statistics of a flow's connections, summed over its hops. For a real host's own connection, its retransmissions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema, Serialize)]
pub struct TcpStatistics {
    /// TCP segments sent again, added up over the connections of all hops; 0 without TCP, `null` if the kernel's TCP carried
    /// the flow.
    #[schemars(extend("x-unit" = "segments", "x-counted" = "at the senders"))]
    pub retransmitted_segments: u64,
    /// Retransmission timeouts of TCP, added up as `retransmitted_segments` are.
    #[schemars(extend("x-unit" = "timeouts", "x-counted" = "at the senders"))]
    pub timeouts: u64,
    /// Fast retransmits of TCP, added up as `retransmitted_segments` are.
    #[schemars(extend("x-unit" = "retransmits", "x-counted" = "at the senders"))]
    pub fast_retransmits: u64,
    /// Reductions of the window because of marks (ECN), added up as `retransmitted_segments` are.
    #[schemars(extend("x-unit" = "reductions", "x-counted" = "at the senders"))]
    pub ecn_reductions: u64,
    /// Segments with data that arrived with a mark (ECN), added up as `retransmitted_segments` are.
    #[schemars(extend("x-unit" = "segments", "x-counted" = "at the receivers"))]
    pub marked_segments: u64,
}

impl std::ops::AddAssign for TcpStatistics {
    fn add_assign(&mut self, other: Self) {
        self.retransmitted_segments += other.retransmitted_segments;
        self.timeouts += other.timeouts;
        self.fast_retransmits += other.fast_retransmits;
        self.ecn_reductions += other.ecn_reductions;
        self.marked_segments += other.marked_segments;
    }
}

/// Summary of a flow. Times are in seconds, rates in bit/s; `None` if nothing arrived to measure.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema, Serialize)]
pub struct FlowSummary {
    /// Packets that the application wrote, refused ones included. A packet is a datagram of the application, and over TCP a
    /// write of the application.
    #[schemars(extend("x-counted" = "at the source"))]
    pub sent_packets: u64,
    /// Bytes of these packets, without headers; over TCP including the accepted part of a last write.
    #[schemars(extend("x-counted" = "at the source"))]
    pub sent_bytes: u64,
    /// Packets that the sink read, each once.
    #[schemars(extend("x-counted" = "at the sink"))]
    pub received_packets: u64,
    /// Bytes that the sink read, each once.
    #[schemars(extend("x-counted" = "at the sink"))]
    pub received_bytes: u64,
    /// Packets dropped on the way, or refused by the socket. A packet counts once its drop is known: one that still waits
    /// for a route or in a queue at the end is in flight.
    #[schemars(extend("x-counted" = "at every node on the way"))]
    pub lost_packets: u64,
    /// Packets that were still on their way at the end, in a queue, on the air or waiting for a route: sent = received +
    /// lost + in flight.
    #[schemars(extend("x-counted" = "at every node on the way"))]
    pub in_flight_packets: u64,
    /// Further copies of datagrams that had arrived.
    #[schemars(extend("x-counted" = "at the sink"))]
    pub duplicate_packets: u64,
    /// Share of lost packets; 0 if none was sent. Packets in flight are not lost. So a flow without any path may have a
    /// goodput of 0 and a ratio below 1: the rest still waited for a route or in a queue at the end.
    #[schemars(extend("x-divisor" = "sent packets"))]
    pub loss_ratio: f64,
    /// Application bytes that arrived, in bits per second.
    #[schemars(extend(
        "x-divisor" = "time from the flow's start to the first of: its stop, the end of the run, the last arrival of a \
                       finite amount of which nothing is in flight any more (after a connection was given up, nothing is)",
        "x-counted" = "at the sink"
    ))]
    pub goodput_bps: f64,
    /// Mean delay. That of a datagram runs from its write to the sink's read, over all hops; that of a write to TCP from the
    /// moment when the send buffer has accepted its last byte.
    #[schemars(extend("x-divisor" = "received packets", "x-counted" = "at the sink"))]
    pub delay_mean_s: Option<f64>,
    /// 99th percentile of the delay, within 0.1 % or 1 µs.
    #[schemars(extend("x-counted" = "at the sink"))]
    pub delay_p99_s: Option<f64>,
    /// Mean jitter: the difference between the delays of two packets that arrived one after the other, without its sign.
    #[schemars(extend("x-divisor" = "pairs of packets that arrived one after the other", "x-counted" = "at the sink"))]
    pub jitter_mean_s: Option<f64>,
    /// Sample variance of that jitter.
    #[schemars(extend("x-divisor" = "pairs − 1", "x-counted" = "at the sink"))]
    pub jitter_variance_s2: Option<f64>,
    /// Maximum of that jitter.
    #[schemars(extend("x-counted" = "at the sink"))]
    pub jitter_max_s: Option<f64>,
    /// Time of the first arrival, from the start of the run.
    #[schemars(extend("x-counted" = "at the sink"))]
    pub first_arrival_s: Option<f64>,
    /// Time of the last arrival, from the start of the run.
    #[schemars(extend("x-counted" = "at the sink"))]
    pub last_arrival_s: Option<f64>,
    /// Statistics of the flow's connections; all zero without TCP, `None` if they are unknown: the kernel's TCP, in a
    /// measurement.
    #[serde(flatten)]
    pub tcp: Option<TcpStatistics>,
    /// Results of the flow's player.
    #[serde(flatten)]
    pub player: PlayerSummary,
    /// Frames of the flow's player, if it has a jitter buffer.
    #[serde(flatten)]
    pub frames: Option<FrameSummary>,
    /// Of media over RTP.
    #[serde(flatten)]
    pub media: Option<MediaSummary>,
    /// Results of the flow's FEC.
    #[serde(flatten)]
    pub fec: FecSummary,
    /// The ways of its packets; `None` if they are unknown.
    #[serde(flatten)]
    pub ways: Option<WaySummary>,
    /// For ADTFRC: numbers of losses by their true state or cause, then by the state that each identification found.
    #[serde(skip_serializing_if = "Option::is_none", skip_deserializing)]
    pub identification: Option<Scores>,
    /// For ADTFRC: IDD and its predecessor IAD over the packets that arrived, and how many of these had IDD HIGH and STT LOW, by
    /// the state of the network.
    #[serde(skip_serializing_if = "Option::is_none", skip_deserializing)]
    pub arrivals: Option<ArrivalSummary>,
}

/// Significant decimal digits that the histogram of delays keeps.
const DELAY_DIGITS: u8 = 3;
/// Unit of the histogram of delays in nanoseconds.
const DELAY_UNIT: u64 = 1_000;

impl FlowMetrics {
    /// User priority of the flow's packets.
    pub fn priority(&self) -> UserPriority {
        self.spec.priority
    }

    /// A flow that has not started.
    pub fn new(mut spec: FlowSpec) -> Self {
        let playout = spec.player.take().map(|player| Playout::new(player, spec.start));
        let series = Series::new(spec.end.saturating_since(Instant::START));
        Self {
            monitor: spec.is_monitored.then(Box::default),
            spec,
            ledger: Ledger::default(),
            writes: VecDeque::new(),
            written_packets: 0,
            read_packets: 0,
            refused_packets: 0,
            abandoned_packets: 0,
            sent_bytes: 0,
            received_bytes: 0,
            counted_bytes: 0,
            stream_written: 0,
            stream_completed: 0,
            stream_read: 0,
            stream_abandoned: 0,
            source_finished: false,
            is_opened: false,
            delays: Histogram::new(DELAY_DIGITS).expect("a histogram of 3 digits is always possible"),
            delay_sum: 0,
            jitter: Jitter::default(),
            first_arrival: None,
            last_arrival: None,
            tcp: TcpStatistics::default(),
            playout,
            repair: Repair::default(),
            retransmitted: 0,
            ways: Ways::default(),
            series,
            passages: None,
        }
    }

    /// A flow between real hosts, which starts at [`Instant::START`] and has no known end. Its development is recorded
    /// elsewhere: its series has no sample in the first months.
    pub fn live() -> Self {
        Self::new(FlowSpec {
            start: Instant::START,
            stop: None,
            end: Instant::MAX,
            priority: UserPriority::BEST_EFFORT,
            player: None,
            ends: None,
            is_monitored: false,
            is_protected: false,
            is_media: false,
        })
    }

    /// The application wrote a datagram of `octets`. Returns its sequence number.
    pub fn handle_datagram_sent(&mut self, octets: u32) -> u64 {
        self.sent_bytes += u64::from(octets);
        self.ledger.handle_sent()
    }

    /// The application's packet `number` has left, if a jitter buffer or a recording wants to know.
    pub(crate) fn note_sent(&mut self, number: u64, octets: u32, now: Instant) {
        if let Some(playout) = &mut self.playout {
            playout.handle_sent(number, now);
        }
        if let Some(passages) = &mut self.passages {
            passages.push(Passage { time: now, number, octets, delay: None });
        }
    }

    /// A datagram or a repair packet, or a part of it, was dropped. Each may be reported many times. Repair packets do
    /// not count as losses of the application.
    pub fn handle_datagram_lost(&mut self, seq: u64) {
        self.ledger.handle_lost(seq, None);
    }

    /// The next `datagrams` of the source, `octets` in all, were sent and lost, and so is all that is in flight. What arrives
    /// of them counts as duplicates.
    pub fn handle_datagrams_abandoned(&mut self, datagrams: u64, octets: u64) {
        self.sent_bytes += octets;
        self.ledger.handle_abandoned(datagrams);
    }

    /// A datagram, or a part of it, was dropped for `cause`. Only the first cause counts.
    pub(crate) fn handle_datagram_dropped(&mut self, seq: u64, cause: DropCause) {
        self.ledger.handle_lost(seq, Some(cause));
    }

    /// Datagrams that were lost, by cause.
    pub(crate) fn losses(&self) -> &Losses {
        self.ledger.losses()
    }

    /// The sink read a datagram that was written at `created`. Returns whether it is the first copy.
    pub fn handle_datagram_received(&mut self, seq: u64, octets: u32, created: Instant, now: Instant) -> bool {
        let is_first = self.ledger.handle_received(seq) == Arrival::First;
        if is_first {
            self.handle_octets(octets, now);
            self.handle_packet(seq, octets, now.saturating_since(created), now);
        }
        is_first
    }

    /// The sink's FEC recovered a datagram that was written at `created`.
    pub(crate) fn handle_datagram_recovered(&mut self, seq: u64, octets: u32, created: Instant, now: Instant) {
        if self.handle_datagram_received(seq, octets, created, now) {
            self.repair.handle_recovered(now.saturating_since(created));
        }
    }

    /// A datagram reached the sink after its FEC had recovered it, or had given up its block.
    pub(crate) fn handle_datagram_refused(&mut self, seq: u64) {
        self.ledger.handle_refused(seq);
    }

    /// A packet of media is sent again.
    pub(crate) fn handle_retransmission(&mut self) {
        self.retransmitted += 1;
    }

    /// The source's FEC created a repair packet of `octets`. Returns its number among the flow's repair packets, from
    /// zero.
    pub(crate) fn handle_repair_sent(&mut self, octets: u32) -> u64 {
        self.repair.handle_sent(octets)
    }

    /// A repair packet reached the sink.
    pub(crate) fn handle_repair_received(&mut self) {
        self.repair.handle_received();
    }

    /// The send buffer of the flow's stream accepted `octets` of a write; `complete` if these were its last.
    pub fn handle_stream_written(&mut self, octets: u32, complete: bool, now: Instant) {
        self.sent_bytes += u64::from(octets);
        self.stream_written += u64::from(octets);
        if complete {
            let number = self.written_packets + self.refused_packets;
            let octets = (self.stream_written - self.stream_completed) as u32;
            self.writes.push_back(StreamWrite { number, end: self.stream_written, octets, accepted: now });
            self.written_packets += 1;
            self.stream_completed = self.stream_written;
            self.note_sent(number, octets, now);
        }
    }

    /// The send buffer of the flow's stream refused a packet of an application that does not block.
    pub(crate) fn handle_stream_refused(&mut self, octets: u32, now: Instant) {
        self.note_sent(self.written_packets + self.refused_packets, octets, now);
        self.sent_bytes += u64::from(octets);
        self.refused_packets += 1;
    }

    /// The sink read `octets` of the stream.
    pub fn handle_stream_read(&mut self, octets: u32, now: Instant) {
        self.stream_read += u64::from(octets);
        debug_assert!(self.stream_read <= self.stream_written, "a sink read what nobody wrote");
        self.handle_octets(octets, now);
        while let Some(&write) = self.writes.front().filter(|write| write.end <= self.stream_read) {
            self.writes.pop_front();
            self.read_packets += 1;
            self.handle_packet(write.number, write.octets, now.saturating_since(write.accepted), now);
        }
    }

    /// A connection of the flow was given up: written but unread data is lost. Bytes that relays hold may still arrive.
    pub(crate) fn handle_stream_abandoned(&mut self) {
        self.abandoned_packets += self.writes.len() as u64;
        self.writes.clear();
        self.stream_abandoned = self.stream_written;
    }

    /// The source has written this number of `packets` more, of `octets` in all, and its connection is given up: they are
    /// lost.
    pub fn handle_stream_lost(&mut self, packets: u64, octets: u64) {
        self.sent_bytes += octets;
        self.stream_written += octets;
        self.written_packets += packets;
        self.abandoned_packets += packets;
        self.handle_stream_abandoned();
    }

    /// A program at a real host opens the connection of the flow. Goodput counts from the first time on, unless the flow
    /// starts later.
    pub(crate) fn handle_stream_opened(&mut self, now: Instant) {
        if !std::mem::replace(&mut self.is_opened, true) {
            self.spec.start = self.spec.start.max(now);
        }
    }

    /// A new connection replaces that of the flow: written but unread data of the old one is lost.
    pub(crate) fn handle_stream_renewed(&mut self) {
        self.handle_stream_abandoned();
        (self.stream_written, self.stream_abandoned) = (self.stream_read, self.stream_read);
        self.stream_completed = self.stream_read;
        self.source_finished = false;
    }

    /// The source has written everything, or all that it will, since its connection was given up.
    pub fn handle_source_finished(&mut self) {
        self.source_finished = true;
    }

    /// The state of the flow's first connection: windows in bytes.
    pub(crate) fn handle_sender(&mut self, cwnd: u32, ssthresh: u32, srtt: Duration, now: Instant) {
        self.series.handle_sender(cwnd, ssthresh, srtt, now);
    }

    /// The state of the flow's first connection, if it is DCCP.
    pub(crate) fn handle_rate_control(&mut self, control: RateControl, now: Instant) {
        self.series.handle_rate_control(control, now);
        if let (Some(monitor), Some(state)) = (&mut self.monitor, control.state) {
            monitor.on_sender(state == PathState::Disconnection, now);
        }
    }

    /// Datagram `seq` left in the packet `number` of the flow's first connection.
    pub(crate) fn handle_numbered(&mut self, number: u64, seq: u64) {
        if let Some(monitor) = &mut self.monitor {
            monitor.on_sent(number, seq);
        }
    }

    /// The true cause of a datagram's loss; `None` if the network did not cause it.
    pub(crate) fn handle_judgement(&mut self, unjudged: &Unjudged, truth: Option<Truth>, now: Instant) {
        let Some(monitor) = &mut self.monitor else { return };
        match (unjudged.loss, truth) {
            (Loss::Dropped { .. }, truth) => monitor.on_judgement(unjudged.seq, truth, now),
            (Loss::Late(identified), Some(truth)) => monitor.on_late_judgement(truth, identified),
            (Loss::Arrived(signs), Some(truth)) => monitor.on_arrival(truth, signs),
            (Loss::Late(_) | Loss::Arrived(_), None) => {}
        }
    }

    /// ADTFRC's receiver measured `sample`.
    pub(crate) fn handle_path_sample(&mut self, sample: &adtfrc::Sample, now: Instant) {
        self.series.handle_path_sample(sample, now);
        if let Some(monitor) = &mut self.monitor {
            monitor.on_sample(sample);
        }
    }

    /// Whether this is the node of the flow's sink, and the ways of its packets are counted.
    fn is_sink(&self, node: NodeId) -> bool {
        self.spec.ends.is_some_and(|[_, sink]| sink == node)
    }

    /// Totals of one connection of the flow; called once for each at the end.
    pub(crate) fn handle_connection_statistics(&mut self, statistics: TcpStatistics) {
        self.tcp += statistics;
    }

    /// The run ended at `now`: closes the last intervals of the series.
    pub fn finish(&mut self, now: Instant) {
        self.series.finish(now);
        let ended = self.media_end(now);
        if let Some(playout) = &mut self.playout {
            playout.finish(ended, now);
        }
    }

    /// What has arrived so far: packets, their bytes, and the sum of their delays in nanoseconds.
    pub(crate) fn arrived(&self) -> (u64, u64, u128) {
        (self.ledger.received() + self.read_packets, self.received_bytes, self.delay_sum)
    }

    /// The flow over time.
    pub fn series(&self) -> &Series {
        &self.series
    }

    /// Bytes written to the stream that the sink has not read, and that were not lost with their connection.
    pub(crate) fn stream_in_flight(&self) -> u64 {
        self.stream_written - self.stream_read.max(self.stream_abandoned)
    }

    /// Sequence numbers of the datagrams that are neither received nor lost.
    pub fn datagrams_in_flight(&self) -> impl Iterator<Item = u64> + '_ {
        self.ledger.in_flight()
    }

    /// The summary as of `now`.
    pub fn summary(&self, now: Instant) -> FlowSummary {
        let sent_packets = self.ledger.sent() + self.written_packets + self.refused_packets;
        let lost_packets = self.ledger.lost() + self.refused_packets + self.abandoned_packets;
        let received_packets = self.ledger.received() + self.read_packets;
        let in_flight_packets = self.in_flight_packets();
        let jitter = self.jitter.summary();
        let arrived = received_packets > 0;
        FlowSummary {
            sent_packets,
            sent_bytes: self.sent_bytes,
            received_packets,
            received_bytes: self.received_bytes,
            lost_packets,
            in_flight_packets,
            duplicate_packets: self.ledger.duplicates(),
            loss_ratio: if sent_packets > 0 { lost_packets as f64 / sent_packets as f64 } else { 0.0 },
            goodput_bps: self.goodput(now),
            delay_mean_s: arrived.then(|| self.delay_sum as f64 / 1e9 / received_packets as f64),
            delay_p99_s: arrived.then(|| self.delays.value_at_quantile(0.99) as f64 * DELAY_UNIT as f64 / 1e9),
            jitter_mean_s: jitter.map(|jitter| jitter.mean),
            jitter_variance_s2: jitter.map(|jitter| jitter.variance),
            jitter_max_s: jitter.map(|jitter| jitter.max),
            first_arrival_s: self.first_arrival.map(Instant::as_secs_f64),
            last_arrival_s: self.last_arrival.map(Instant::as_secs_f64),
            tcp: Some(self.tcp),
            player: self.playout.as_ref().map_or_else(PlayerSummary::default, |p| p.summary(self.media_end(now), now)),
            frames: self.playout.as_ref().and_then(|playout| playout.frames(now)),
            media: self.spec.is_media.then(|| {
                let of = |quantile| {
                    arrived.then(|| self.delays.value_at_quantile(quantile) as f64 * DELAY_UNIT as f64 / 1e9)
                };
                MediaSummary {
                    delay_p5_s: of(0.05),
                    delay_p50_s: of(0.5),
                    delay_p95_s: of(0.95),
                    retransmitted_packets: Some(self.retransmitted),
                }
            }),
            fec: match self.spec.is_protected {
                true => self.repair.summary(sent_packets, self.sent_bytes),
                false => FecSummary::default(),
            },
            ways: self.spec.ends.is_some().then(|| self.ways.summary()),
            identification: self.monitor.as_ref().map(|monitor| *monitor.scores()),
            arrivals: self.monitor.as_ref().map(|monitor| monitor.arrivals()),
        }
    }

    /// Since when nothing more has been on its way, if the source has stopped.
    fn media_end(&self, now: Instant) -> Option<Instant> {
        let stop = self.spec.stop.filter(|&stop| stop <= now && self.in_flight_packets() == 0)?;
        Some(self.last_arrival.map_or(stop, |last| last.max(stop)))
    }

    fn in_flight_packets(&self) -> u64 {
        self.ledger.sent() - self.ledger.received() - self.ledger.lost() + self.writes.len() as u64
    }

    fn goodput(&self, now: Instant) -> f64 {
        let mut end = self.spec.end.min(now).min(self.spec.stop.unwrap_or(Instant::MAX));
        let complete = self.source_finished && self.in_flight_packets() == 0 && self.stream_in_flight() == 0;
        if let (true, Some(last)) = (complete, self.last_arrival) {
            end = end.min(last);
        }
        match end.saturating_since(self.spec.start) {
            Duration::ZERO => 0.0,
            time => self.counted_bytes as f64 * 8.0 / time.as_secs_f64(),
        }
    }

    fn handle_octets(&mut self, octets: u32, now: Instant) {
        self.received_bytes += u64::from(octets);
        // A real host's program may send before the start.
        if now >= self.spec.start && self.spec.stop.is_none_or(|stop| now <= stop) {
            self.counted_bytes += u64::from(octets);
        }
        self.first_arrival.get_or_insert(now);
        self.last_arrival = Some(now);
        self.series.handle_received(octets, now);
    }

    /// The sink has read a whole packet, the application's write number `number`.
    fn handle_packet(&mut self, number: u64, octets: u32, delay: Duration, now: Instant) {
        if let Some(passages) = &mut self.passages {
            passages.push(Passage { time: now, number, octets, delay: Some(delay) });
        }
        if let Some(playout) = &mut self.playout {
            playout.handle_write(number, now);
        }
        self.delay_sum += u128::from(delay.as_nanos());
        let units = delay.as_nanos().div_ceil(DELAY_UNIT);
        self.delays.record(units).expect("a histogram that resizes itself takes any value");
        let jitter = self.jitter.handle_delay(delay);
        self.series.handle_delay(delay, jitter, now);
    }
}

/// All flows of a run.
#[derive(Clone, Debug, Default)]
pub struct FlowTable {
    flows: Vec<FlowMetrics>,
    /// Losses of monitored flows that are not judged yet.
    unjudged: Vec<Unjudged>,
    /// For a recording.
    journal: Option<Box<Journal>>,
}

impl FlowTable {
    /// Flows in the order of their [`FlowId`]s.
    pub fn new(specs: impl IntoIterator<Item = FlowSpec>) -> Self {
        Self { flows: specs.into_iter().map(FlowMetrics::new).collect(), unjudged: Vec::new(), journal: None }
    }

    /// Notes what leaves, arrives and is dropped from now on.
    pub(crate) fn keep_journal(&mut self) {
        for flow in &mut self.flows {
            flow.passages = Some(Vec::new());
            flow.playout.iter_mut().for_each(Playout::keep_viewing);
        }
        self.journal = Some(Box::new(Journal { node: NodeId::ALL, dropped: Vec::new() }));
    }

    /// The host of `node` acts.
    #[inline]
    pub(crate) fn set_acting(&mut self, node: NodeId) {
        if let Some(journal) = &mut self.journal {
            journal.node = node;
        }
    }

    /// A packet is dropped: fills in the acting node.
    #[inline]
    pub(crate) fn note_dropped(&mut self, packets: u32, dropped: impl FnOnce(NodeId) -> Dropped) {
        if let Some(journal) = &mut self.journal {
            let dropped = dropped(journal.node);
            journal.dropped.extend((0..packets).map(|_| dropped));
        }
    }

    /// Takes out what has left and arrived, by flow.
    pub(crate) fn drain_passages(&mut self) -> impl Iterator<Item = (FlowId, Passage)> {
        let flows = self.flows.iter_mut().zip(0..);
        flows.flat_map(|(flow, id)| {
            flow.passages.iter_mut().flat_map(move |all| all.drain(..).map(move |one| (FlowId(id), one)))
        })
    }

    /// Lets the players' journals decide on what has been shown by now. Returns from when on a stall has not been noted.
    pub(crate) fn look_at_players(&mut self, now: Instant) -> Option<Instant> {
        let looks = self.flows.iter_mut().filter_map(|flow| {
            let is_certain = flow.spec.stop.is_none_or(|stop| now < stop);
            flow.playout.as_mut()?.look(is_certain, now)
        });
        looks.min()
    }

    /// Takes out what players have shown and missed.
    pub(crate) fn drain_shown(&mut self) -> impl Iterator<Item = (FlowId, Shown)> {
        let flows = self.flows.iter_mut().zip(0..);
        flows.flat_map(|(flow, id)| {
            flow.playout.iter_mut().flat_map(Playout::drain_shown).map(move |shown| (FlowId(id), shown))
        })
    }

    /// Takes out what was dropped.
    pub(crate) fn drain_dropped(&mut self) -> impl Iterator<Item = Dropped> {
        self.journal.iter_mut().flat_map(|journal| journal.dropped.drain(..))
    }

    /// Adds a flow that no scenario has, behind the others.
    pub(crate) fn push(&mut self, flow: FlowMetrics) -> FlowId {
        self.flows.push(flow);
        FlowId(self.flows.len() as u32 - 1)
    }

    /// A datagram, or a part of it, was dropped for `cause`; if an interface gave it up, on its way over `link`.
    pub(crate) fn handle_datagram_dropped(
        &mut self,
        flow: FlowId,
        seq: u64,
        cause: DropCause,
        link: Option<(NodeId, NodeId)>,
    ) {
        let metrics = &mut self[flow];
        metrics.handle_datagram_dropped(seq, cause);
        if metrics.monitor.is_some() {
            self.unjudged.push(Unjudged { flow, seq, loss: Loss::Dropped { cause, link } });
        }
    }

    /// The receiver of `flow` counts the packets with the numbers `first` to `last` as lost, and identifies these states.
    pub(crate) fn handle_losses(&mut self, flow: FlowId, range: [u64; 2], identified: Identified) {
        let Self { flows, unjudged, .. } = self;
        if let Some(monitor) = &mut flows[flow.0 as usize].monitor {
            let loss = Loss::Late(identified);
            monitor.on_losses(range, identified, |seq| unjudged.push(Unjudged { flow, seq, loss }));
        }
    }

    /// The receiver of `flow` measured `sample` of datagram `seq`, with these signs.
    pub(crate) fn handle_arrival(
        &mut self,
        flow: FlowId,
        seq: u64,
        sample: &adtfrc::Sample,
        signs: adtfrc::Signs,
        now: Instant,
    ) {
        let metrics = &mut self[flow];
        metrics.handle_path_sample(sample, now);
        if metrics.monitor.is_some() {
            self.unjudged.push(Unjudged { flow, seq, loss: Loss::Arrived(signs) });
        }
    }

    /// A node led a packet of `flow` to `destination` over another neighbour than the one before.
    pub(crate) fn handle_route_change(&mut self, flow: FlowId, destination: NodeId, now: Instant) {
        if let Some(flow) = self.flows.get_mut(flow.0 as usize).filter(|flow| flow.is_sink(destination)) {
            flow.ways.handle_change();
            flow.series.handle_route_change(now);
        }
    }

    /// A whole datagram of `flow` arrived at `node` over `hops`.
    #[inline]
    pub(crate) fn handle_hops(&mut self, flow: FlowId, node: NodeId, hops: u32) {
        if let Some(flow) = self.flows.get_mut(flow.0 as usize).filter(|flow| flow.is_sink(node)) {
            flow.ways.handle_arrival(hops);
        }
    }

    /// `node` sends a datagram of `flow`, of `octets`.
    #[inline]
    pub(crate) fn handle_made(&mut self, flow: FlowId, node: NodeId, octets: u32) {
        if let Some(flow) = self.flows.get_mut(flow.0 as usize).filter(|flow| flow.is_sink(node)) {
            flow.ways.handle_answer(octets);
        }
    }

    /// Takes out a loss, for judgement by a part that sees the whole network.
    pub(crate) fn poll_unjudged(&mut self) -> Option<Unjudged> {
        self.unjudged.pop()
    }

    /// The flows, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &FlowMetrics> {
        self.flows.iter()
    }

    /// The run ended at `now`.
    pub fn finish(&mut self, now: Instant) {
        self.flows.iter_mut().for_each(|flow| flow.finish(now));
    }

    /// Datagrams that are neither received nor lost, but were not found anywhere. Must be empty.
    pub fn missing<'a>(&'a self, census: &'a Census) -> impl Iterator<Item = (FlowId, u64)> + 'a {
        let flows = self.flows.iter().enumerate().map(|(index, flow)| (FlowId(index as u32), flow));
        flows
            .flat_map(|(id, flow)| flow.datagrams_in_flight().map(move |seq| (id, seq)))
            .filter(|&(id, seq)| !census.contains(id, seq))
    }
}

impl Index<FlowId> for FlowTable {
    type Output = FlowMetrics;
    fn index(&self, id: FlowId) -> &FlowMetrics {
        &self.flows[id.0 as usize]
    }
}

impl IndexMut<FlowId> for FlowTable {
    fn index_mut(&mut self, id: FlowId) -> &mut FlowMetrics {
        &mut self.flows[id.0 as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hopcast_protocols::application::{PlayerConfig, Timeline};

    fn at(millis: u64) -> Instant {
        Instant::START + Duration::from_millis(millis)
    }

    fn flow(start: u64, stop: Option<u64>) -> FlowMetrics {
        FlowMetrics::new(FlowSpec {
            start: at(start),
            stop: stop.map(at),
            end: at(10_000),
            priority: UserPriority::BEST_EFFORT,
            player: None,
            ends: None,
            is_monitored: false,
            is_protected: false,
            is_media: false,
        })
    }

    #[test]
    fn delays_have_a_mean_and_a_percentile() {
        let mut flow = flow(0, None);
        for millis in 1..=1000 {
            let seq = flow.handle_datagram_sent(100);
            flow.handle_datagram_received(seq, 100, at(0), at(millis));
        }
        let summary = flow.summary(at(10_000));
        assert!((summary.delay_mean_s.unwrap() - 0.5005).abs() < 1e-9);
        assert!((summary.delay_p99_s.unwrap() - 0.990).abs() < 0.001);
        assert!((summary.jitter_mean_s.unwrap() - 0.001).abs() < 1e-12);
        assert!(summary.jitter_variance_s2.unwrap() < 1e-18);
    }

    #[test]
    fn duplicates_count_once_and_losses_are_told_from_flight() {
        let mut flow = flow(0, None);
        let [a, b, _c] = [0; 3].map(|_| flow.handle_datagram_sent(100));
        flow.handle_datagram_received(a, 100, at(0), at(1));
        flow.handle_datagram_received(a, 100, at(0), at(2));
        flow.handle_datagram_lost(b);
        let summary = flow.summary(at(10_000));
        assert_eq!((summary.sent_packets, summary.received_packets, summary.lost_packets), (3, 1, 1));
        assert_eq!((summary.in_flight_packets, summary.duplicate_packets, summary.received_bytes), (1, 1, 100));
        assert_eq!(summary.goodput_bps, 80.0);
    }

    #[test]
    fn goodput_ends_with_whatever_comes_first() {
        // Until the run's end: 1000 B in 9 s.
        let mut endless = flow(1_000, None);
        let seq = endless.handle_datagram_sent(1000);
        endless.handle_datagram_received(seq, 1000, at(1_000), at(2_000));
        assert_eq!(endless.summary(at(10_000)).goodput_bps, 8000.0 / 9.0);
        // Until the last arrival of a finite amount: in 1 s.
        endless.handle_source_finished();
        assert_eq!(endless.summary(at(10_000)).goodput_bps, 8000.0);
        // But not while something is in flight.
        endless.handle_datagram_sent(1000);
        assert_eq!(endless.summary(at(10_000)).goodput_bps, 8000.0 / 9.0);
        // Until the stop; what arrives later does not count.
        let mut stopped = flow(1_000, Some(3_000));
        let seqs = [0; 2].map(|_| stopped.handle_datagram_sent(1000));
        stopped.handle_datagram_received(seqs[0], 1000, at(1_000), at(3_000));
        stopped.handle_datagram_received(seqs[1], 1000, at(1_000), at(3_001));
        assert_eq!(stopped.summary(at(10_000)).goodput_bps, 4000.0);
        // From the start; what arrives earlier does not count, nor what a stream's real source sends then.
        let mut early = flow(4_000, None);
        for arrival in [1_000, 5_000] {
            let seq = early.handle_datagram_sent(1000);
            early.handle_datagram_received(seq, 1000, at(arrival), at(arrival));
        }
        let summary = early.summary(at(6_000));
        assert_eq!((summary.received_bytes, summary.goodput_bps), (2000, 4000.0));
        let mut stream = flow(4_000, None);
        stream.handle_stream_opened(at(500));
        stream.handle_stream_written(2000, true, at(900));
        stream.handle_stream_read(1500, at(1_000));
        stream.handle_stream_read(500, at(5_000));
        assert_eq!(stream.summary(at(6_000)).goodput_bps, 2000.0);
        // A stop beyond the run is legal.
        let mut beyond = flow(0, Some(99_000));
        let seq = beyond.handle_datagram_sent(1000);
        beyond.handle_datagram_received(seq, 1000, at(0), at(1));
        assert_eq!(beyond.summary(at(10_000)).goodput_bps, 800.0);
    }

    #[test]
    fn a_write_to_a_stream_has_arrived_with_its_last_octet() {
        let mut flow = flow(0, None);
        flow.handle_stream_written(600, false, at(1));
        flow.handle_stream_written(400, true, at(2));
        flow.handle_stream_written(1000, true, at(3));
        flow.handle_stream_read(999, at(10));
        assert_eq!(flow.summary(at(10)).received_packets, 0);
        flow.handle_stream_read(2, at(12));
        let summary = flow.summary(at(10_000));
        assert_eq!((summary.sent_packets, summary.received_packets, summary.in_flight_packets), (2, 1, 1));
        assert!((summary.delay_mean_s.unwrap() - 0.010).abs() < 1e-12);
        assert_eq!((flow.stream_in_flight(), summary.received_bytes), (999, 1001));
    }

    #[test]
    fn what_was_abandoned_is_in_flight_no_more() {
        let goodput = |flow: &FlowMetrics| flow.summary(at(10_000)).goodput_bps;
        let mut flow = flow(0, None);
        flow.handle_stream_written(1_000, true, at(1));
        flow.handle_stream_written(600, false, at(2));
        flow.handle_stream_read(500, at(1_000));
        flow.handle_source_finished();
        assert_eq!((goodput(&flow), flow.stream_in_flight()), (400.0, 1_100));
        flow.handle_stream_abandoned();
        assert_eq!((goodput(&flow), flow.stream_in_flight()), (4_000.0, 0));
        // What a relay had comes all the same.
        flow.handle_stream_read(500, at(2_000));
        assert_eq!((goodput(&flow), flow.summary(at(10_000)).lost_packets), (4_000.0, 1));
    }

    #[test]
    fn a_stream_counts_from_its_first_request_and_goes_on_with_the_next_one() {
        let goodput = |flow: &FlowMetrics| flow.summary(at(4_000)).goodput_bps;
        let mut flow = flow(1_000, None);
        flow.handle_stream_opened(at(2_000));
        flow.handle_stream_written(1_000, true, at(2_500));
        flow.handle_stream_read(400, at(2_600));
        // The rest is lost with the connection; the next one does not begin the flow anew.
        flow.handle_stream_renewed();
        flow.handle_stream_opened(at(2_700));
        assert_eq!((flow.summary(at(2_700)).lost_packets, flow.stream_in_flight()), (1, 0));
        flow.handle_stream_written(600, true, at(2_800));
        flow.handle_stream_read(600, at(3_000));
        let summary = flow.summary(at(4_000));
        assert_eq!([summary.sent_bytes, summary.received_bytes, summary.received_packets], [1_600, 1_000, 1]);
        assert!((goodput(&flow) - 8_000.0 / 2.0).abs() < 1e-9);
        flow.handle_source_finished();
        assert!((goodput(&flow) - 8_000.0 / 1.0).abs() < 1e-9);
        flow.handle_stream_renewed();
        assert!((goodput(&flow) - 8_000.0 / 2.0).abs() < 1e-9, "there may be more");

        // A request before the flow's start changes nothing.
        let mut early = self::flow(1_000, None);
        early.handle_stream_opened(at(500));
        early.handle_stream_written(1_000, true, at(2_000));
        early.handle_stream_read(1_000, at(3_000));
        assert!((goodput(&early) - 8_000.0 / 3.0).abs() < 1e-9);
    }

    #[test]
    fn what_a_stream_refuses_is_sent_and_lost() {
        let mut flow = flow(0, None);
        flow.handle_stream_written(1000, true, at(1));
        flow.handle_stream_refused(1000, at(0));
        let summary = flow.summary(at(10_000));
        assert_eq!((summary.sent_packets, summary.lost_packets, summary.loss_ratio), (2, 1, 0.5));
        assert_eq!(summary.sent_bytes, 2000);
    }

    /// A packet each 20 ms, 40 ms of buffer, and a viewer who asks at 100 ms.
    fn shown(stop: Option<u64>) -> FlowMetrics {
        let ms = Duration::from_millis;
        let config = PlayerConfig { start_up: ms(40), resume: ms(20) };
        let player = Some(PlayerSpec::Waiting { config, timeline: Timeline::even(0.02) });
        FlowMetrics::new(FlowSpec {
            start: at(100),
            stop: stop.map(at),
            end: at(10_000),
            priority: UserPriority::BEST_EFFORT,
            player,
            ends: None,
            is_monitored: false,
            is_protected: false,
            is_media: false,
        })
    }

    #[test]
    fn a_player_shows_what_arrives_and_stops_where_nothing_does() {
        let mut flow = shown(Some(220));
        for (arrival, is_lost) in [(110, false), (130, true), (150, false), (232, false), (245, false), (280, false)] {
            let seq = flow.handle_datagram_sent(160);
            if is_lost {
                flow.handle_datagram_lost(seq);
            } else {
                flow.handle_datagram_received(seq, 160, at(0), at(arrival));
            }
        }
        // The display begins at 150 ms, when the media has come up to 60 ms, has shown that at 210, goes on at 232, has shown
        // 100 ms of it at 272, and the rest from 280.
        let player = flow.summary(at(1_000)).player;
        let seconds = |value: Option<f64>| (value.unwrap() * 1e6).round() as u64;
        assert_eq!((seconds(player.start_up_s), player.hiccups), (50_000, Some(2)));
        assert_eq!((seconds(player.hiccup_time_s), seconds(player.hiccup_max_s)), (30_000, 22_000));
        assert_eq!(seconds(player.played_s), 120_000);
    }

    #[test]
    fn the_end_of_the_media_is_no_hiccup_but_a_silence_before_it_is() {
        let hiccups = |stop| {
            let mut flow = shown(stop);
            for arrival in [120, 140] {
                let seq = flow.handle_datagram_sent(160);
                flow.handle_datagram_received(seq, 160, at(0), at(arrival));
            }
            flow.summary(at(1_000)).player.hiccups
        };
        assert_eq!((hiccups(Some(150)), hiccups(Some(500)), hiccups(None)), (Some(0), Some(1), Some(1)));
    }

    #[test]
    fn a_stream_is_shown_by_the_numbers_of_its_writes() {
        let mut flow = shown(None);
        flow.handle_stream_written(160, true, at(100));
        flow.handle_stream_refused(160, at(0));
        flow.handle_stream_written(160, true, at(140));
        flow.handle_stream_read(160, at(150));
        assert_eq!(flow.summary(at(155)).player.start_up_s, None);
        // The third is the third, though the second was refused.
        flow.handle_stream_read(160, at(160));
        let player = flow.summary(at(200)).player;
        assert!((player.start_up_s.unwrap() - 0.06).abs() < 1e-12);
        assert_eq!(player.played_s, Some(0.04));
    }

    #[test]
    fn without_a_player_there_is_nothing_to_say_of_one() {
        assert_eq!(flow(0, None).summary(at(1)).player, PlayerSummary::default());
    }

    #[test]
    fn a_census_that_misses_a_datagram_is_noticed() {
        let mut table = FlowTable::new([FlowSpec {
            start: at(0),
            stop: None,
            end: at(1),
            priority: UserPriority::BEST_EFFORT,
            player: None,
            ends: None,
            is_monitored: false,
            is_protected: false,
            is_media: false,
        }]);
        let id = FlowId(0);
        let seqs = [0; 3].map(|_| table[id].handle_datagram_sent(1));
        table[id].handle_datagram_lost(seqs[0]);
        let mut census = Census::new();
        census.insert(id, seqs[1]);
        assert_eq!(table.missing(&census).collect::<Vec<_>>(), [(id, seqs[2])]);
    }
}
