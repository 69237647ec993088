//! Statistics of a running stream, for people and programs.

use std::io::IsTerminal;
use std::net::SocketAddr;
use std::os::fd::AsFd;

use hopcast_protocols::time::{Duration, Instant};
use hopcast_protocols::transport::adtfrc::States;
use hopcast_protocols::transport::dccp::CloseReason;
use hopcast_protocols::transport::rtp::Format;
use hopcast_sim::results::dictionary::described;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::session::describe;
use super::{ReceiverReport, SenderReport};
use crate::key::Counters;
use crate::output;

/// Takes a terminal back to the beginning of an empty line.
const CLEARED: &str = "\r\x1b[K";
/// Between two lines of statistics.
pub(super) const INTERVAL: Duration = Duration::from_secs(1);

/// One line of `hopcast stream send --json`.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub(super) struct SendLine {
    /// `statistics`, or `end` for the last line.
    event: &'static str,
    /// Time since the command's start, by the monotonic clock.
    time_s: f64,
    /// State of the connection; `null` over UDP, and between two connections.
    state: Option<String>,
    /// State of the network as the receiver sees it: `normal`, `congestion`, `route change`, `channel error`,
    /// `route change and channel error`, or `disconnected` while the sender probes. `null` without ADTFRC at
    /// both ends.
    network: Option<&'static str>,
    /// Rate that the congestion control allows, of payload; over RTP its target rate; `null` without a limit.
    #[schemars(extend("x-counted" = "at the sender"))]
    allowed_rate_bps: Option<f64>,
    /// Payload sent since the line before, RTP and repair packets together; of the last line, since the start.
    #[schemars(extend("x-divisor" = "length of this time", "x-counted" = "at the sender"))]
    rate_bps: f64,
    /// Round-trip time; `null` before the first measurement.
    #[schemars(extend("x-counted" = "at the sender"))]
    rtt_s: Option<f64>,
    /// Loss events of TFRC or ADTFRC, as of the last feedback.
    #[schemars(extend("x-unit" = "ratio", "x-divisor" = "packets", "x-counted" = "at the receiver"))]
    loss_event_rate: f64,
    /// RTP packets read from the input.
    #[schemars(extend("x-unit" = "packets", "x-counted" = "at the sender"))]
    packets_offered: u64,
    /// RTP and repair packets that were sent.
    #[schemars(extend("x-unit" = "packets", "x-counted" = "at the sender"))]
    packets_sent: u64,
    /// Bytes of their payload.
    #[schemars(extend("x-unit" = "B", "x-counted" = "at the sender"))]
    octets_sent: u64,
    /// RTP packets that the sender dropped: too old, too long, or no room in the queue.
    #[schemars(extend("x-unit" = "packets", "x-counted" = "at the sender"))]
    packets_dropped: u64,
    /// Repair packets that the sender made.
    #[schemars(extend("x-counted" = "at the sender"))]
    repair_packets: u64,
    /// Packets in the queue now.
    #[schemars(extend("x-unit" = "packets", "x-counted" = "at the sender"))]
    waiting: usize,
    /// Connections that the receiver accepted.
    #[schemars(extend("x-unit" = "connections", "x-counted" = "at the sender"))]
    connections: u64,
    /// Packets sent to probe whether a broken path works again.
    #[schemars(extend("x-unit" = "packets", "x-counted" = "at the sender"))]
    probes: u64,
    /// Datagrams that arrived and were not for this sender.
    #[schemars(extend("x-unit" = "datagrams", "x-counted" = "at the sender"))]
    rejected: u64,
    /// Rate of the rung of the ladder that is sent; `null` without a ladder.
    #[schemars(extend("x-counted" = "at the sender"))]
    rung_bps: Option<f64>,
    /// How often the sender entered another rung.
    #[schemars(extend("x-unit" = "changes", "x-counted" = "at the sender"))]
    rung_switches: u64,
    /// Bytes of the input that belonged to no packet of a transport stream.
    #[schemars(extend("x-unit" = "B", "x-counted" = "at the sender"))]
    octets_skipped: u64,
    /// Congestion control of media over RTP; `null` over other variants.
    congestion: Option<&'static str>,
    /// Reports of the receiver that arrived over RTP; `null` over other variants.
    #[schemars(extend("x-unit" = "packets", "x-counted" = "at the sender"))]
    reports: Option<u64>,
    /// Packets that arrived by these reports, padding included; `null` over other variants.
    #[schemars(extend("x-unit" = "packets", "x-counted" = "at the receiver"))]
    packets_arrived: Option<u64>,
    /// Packets that did not arrive by these reports; `null` over other variants.
    #[schemars(extend("x-unit" = "packets", "x-counted" = "at the receiver"))]
    packets_lost: Option<u64>,
    /// Packets that arrived with the mark Congestion Experienced; `null` over other variants.
    #[schemars(extend("x-unit" = "packets", "x-counted" = "at the receiver"))]
    packets_marked: Option<u64>,
    /// Packets that were sent again, 0 without `--retransmission`; `null` over other variants.
    #[schemars(extend("x-unit" = "packets", "x-counted" = "at the sender"))]
    packets_retransmitted: Option<u64>,
    /// Share of packets between the last two receiver reports that did not arrive (RFC 3550, section 6.4.1); `null` before the first.
    #[schemars(extend("x-unit" = "ratio", "x-divisor" = "packets in this time", "x-counted" = "at the receiver"))]
    fraction_lost: Option<f64>,
    /// Interarrival jitter in the last receiver report (RFC 3550, section 6.4.1); `null` before the first.
    #[schemars(extend("x-counted" = "at the receiver"))]
    interarrival_jitter_s: Option<f64>,
    /// Counters of sealed datagrams; `null` without a key.
    sealing: Option<Counters>,
}

/// One line of `hopcast stream receive --json`.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub(super) struct ReceiveLine {
    /// `statistics`, or `end` for the last line.
    event: &'static str,
    /// Time since the command's start, by the monotonic clock.
    time_s: f64,
    /// Address and port of the sender; `null` before the first one.
    #[schemars(with = "Option<String>")]
    peer: Option<SocketAddr>,
    /// State of the connection; `null` over UDP, and without a connection.
    state: Option<String>,
    /// State of the network: `normal`, `congestion`, `route change`, `channel error`, or `route change and
    /// channel error`. `null` before the first packet and unless the sender uses ADTFRC.
    network: Option<&'static str>,
    /// RTP packets delivered since the line before; of the last line, since the start.
    #[schemars(extend("x-divisor" = "length of this time", "x-counted" = "at the receiver"))]
    rate_bps: f64,
    /// Round-trip time, as the packets of the sender report it; `null` before that.
    #[schemars(extend("x-counted" = "at the sender"))]
    rtt_s: Option<f64>,
    /// Loss events of TFRC or ADTFRC.
    #[schemars(extend("x-unit" = "ratio", "x-divisor" = "packets", "x-counted" = "at the receiver"))]
    loss_event_rate: f64,
    /// ADTFRC's inter-packet delay difference (IDD) at the last packet.
    #[schemars(extend("x-counted" = "at the receiver"))]
    idd_s: Option<f64>,
    /// ADTFRC's short-term throughput (STT) at the last packet.
    #[schemars(extend("x-unit" = "packets/s", "x-counted" = "at the receiver"))]
    stt_pps: Option<f64>,
    /// ADTFRC's packet out-of-order ratio (POR) at the last packet.
    #[schemars(extend("x-unit" = "ratio", "x-counted" = "at the receiver"))]
    por: Option<f64>,
    /// ADTFRC's packet loss ratio (PLR) at the last packet.
    #[schemars(extend("x-unit" = "ratio", "x-counted" = "at the receiver"))]
    plr: Option<f64>,
    /// RTP packets delivered to the output, in order.
    #[schemars(extend("x-unit" = "packets", "x-counted" = "at the receiver"))]
    packets_delivered: u64,
    /// Bytes of these packets.
    #[schemars(extend("x-unit" = "B", "x-counted" = "at the receiver"))]
    octets_delivered: u64,
    /// RTP packets that had not arrived when the receiver stopped waiting for them; those that came late
    /// included.
    #[schemars(extend("x-unit" = "packets", "x-counted" = "at the receiver"))]
    packets_lost: u64,
    /// RTP packets that came after the receiver had stopped waiting for them, or far from all others.
    #[schemars(extend("x-unit" = "packets", "x-counted" = "at the receiver"))]
    packets_late: u64,
    /// Further copies of RTP packets.
    #[schemars(extend("x-unit" = "packets", "x-counted" = "at the receiver"))]
    packets_duplicate: u64,
    /// RTP packets that error correction recovered, among those delivered or late.
    #[schemars(extend("x-unit" = "packets", "x-counted" = "at the receiver"))]
    packets_recovered: u64,
    /// Delivered RTP packets that were dropped because the output had no room.
    #[schemars(extend("x-unit" = "packets", "x-counted" = "at the receiver"))]
    packets_overrun: u64,
    /// Datagrams of the sender whose payload was neither RTP nor a repair packet.
    #[schemars(extend("x-unit" = "datagrams", "x-counted" = "at the receiver"))]
    malformed: u64,
    /// Packets with feedback that were sent.
    #[schemars(extend("x-unit" = "packets", "x-counted" = "at the receiver"))]
    feedback_sent: u64,
    /// Format of the reports over RTP, `ccfb` or `twcc`; `null` before the first packet, without reports and over other variants.
    feedback: Option<&'static str>,
    /// Interarrival jitter of RTP packets (RFC 3550, section 6.4.1).
    #[schemars(extend("x-counted" = "at the receiver"))]
    interarrival_jitter_s: f64,
    /// Frames that were whole when their turn in the jitter buffer came; `null` without one.
    #[schemars(extend("x-unit" = "frames", "x-counted" = "at the receiver"))]
    frames_on_time: Option<u64>,
    /// Frames that were whole only after their turn, shown or not; `null` without a jitter buffer.
    #[schemars(extend("x-unit" = "frames", "x-counted" = "at the receiver"))]
    frames_late: Option<u64>,
    /// Frames whose turn has passed and that are not whole; `null` without a jitter buffer.
    #[schemars(extend("x-unit" = "frames", "x-counted" = "at the receiver"))]
    frames_lost: Option<u64>,
    /// Mean time of frames in the jitter buffer, from their first packet to their turn; `null` before the first and without a jitter
    /// buffer.
    #[schemars(extend("x-divisor" = "frames that were whole at their turn", "x-counted" = "at the receiver"))]
    jitter_buffer_delay_mean_s: Option<f64>,
    /// Streams that began, or continued after a lost connection.
    #[schemars(extend("x-unit" = "connections", "x-counted" = "at the receiver"))]
    connections: u64,
    /// Datagrams that were no packet, came from an unknown sender, or were not sealed with the key.
    #[schemars(extend("x-unit" = "datagrams", "x-counted" = "at the receiver"))]
    rejected: u64,
    /// Time from the last stream's connection to the viewer's first picture; `null` if there was none.
    #[schemars(extend("x-counted" = "at the receiver"))]
    start_up_delay_s: Option<f64>,
    /// Stops of the display because the playout buffer was empty.
    #[schemars(extend("x-unit" = "stops", "x-counted" = "at the receiver"))]
    hiccups: u64,
    /// Time of all these stops, without start-up.
    #[schemars(extend("x-counted" = "at the receiver"))]
    stalled_s: f64,
    /// The longest of these stops.
    #[schemars(extend("x-counted" = "at the receiver"))]
    longest_hiccup_s: f64,
    /// Length of the media that was shown.
    #[schemars(extend("x-counted" = "at the receiver"))]
    played_s: f64,
    /// Counters of sealed datagrams; `null` without a key.
    sealing: Option<Counters>,
}

/// Something that happened, as a line of `--json`.
#[derive(Clone, Debug, JsonSchema, Serialize)]
struct EventLine<'a> {
    /// `listening`, `connected`, `lost` or `finished`.
    event: &'a str,
    /// Time since the command's start, by the monotonic clock.
    time_s: f64,
    /// Address and port of the other end; of `listening`, those of this end.
    #[schemars(with = "String")]
    peer: SocketAddr,
    /// Why the connection was lost, or how it ended; `null` of other events.
    reason: Option<String>,
}

/// The JSON Schemas of lines of `hopcast stream --json`: of a sender, of a receiver, and of events.
pub(crate) fn schemas() -> [Value; 3] {
    [described::<SendLine>(), described::<ReceiveLine>(), described::<EventLine<'_>>()]
}

/// Shows lines: as JSON on standard output, or to people on standard error.
#[derive(Debug)]
pub(super) struct Display {
    json: bool,
    is_terminal: bool,
    /// When the last line was shown, and bytes until then.
    last: (Instant, u64),
}

impl Display {
    pub(super) fn new(json: bool, now: Instant) -> Self {
        Self { json, is_terminal: std::io::stderr().is_terminal(), last: (now, 0) }
    }

    /// When the next line is due.
    pub(super) fn due(&self) -> Instant {
        self.last.0 + INTERVAL
    }

    /// The rate since the last line, in bit/s, of a counter of bytes.
    pub(super) fn rate(&mut self, octets: u64, now: Instant) -> f64 {
        let (at, before) = std::mem::replace(&mut self.last, (now, octets));
        let passed = now.saturating_since(at).as_secs_f64();
        if passed > 0.0 { 8.0 * octets.saturating_sub(before) as f64 / passed } else { 0.0 }
    }

    /// Prints a line of statistics; at a terminal it replaces the line before. The stream never waits for a reader: what
    /// does not fit is lost.
    pub(super) fn show(&self, line: &impl Serialize, text: &str) {
        if self.json {
            output::offer(&json(line));
        } else if self.is_terminal {
            output::diagnose(format!("{CLEARED}{text}").as_bytes());
        }
    }

    /// The last line. A program that reads it is waited for, until `stop` is readable.
    pub(super) fn show_end(&self, line: &impl Serialize, text: &str, stop: &impl AsFd) {
        if self.json {
            output::finish(&json(line), stop.as_fd());
        } else {
            self.say(text);
        }
    }

    /// Something has happened between this host and `peer`.
    pub(super) fn tell(&self, event: &str, peer: SocketAddr, reason: Option<CloseReason>, text: &str, now: Instant) {
        if self.json {
            let reason = reason.map(describe);
            output::offer(&json(&EventLine { event, time_s: now.as_secs_f64(), peer, reason }));
        } else {
            self.warn(text);
        }
    }

    /// A message for people, on standard error in any case.
    pub(super) fn warn(&self, text: &str) {
        self.say(&format!("hopcast: {text}"));
    }

    fn say(&self, text: &str) {
        let start = if self.is_terminal && !self.json { CLEARED } else { "" };
        output::diagnose(format!("{start}{text}\n").as_bytes());
    }
}

fn json(line: &impl Serialize) -> String {
    serde_json::to_string(line).expect("numbers and names are JSON")
}

impl SenderReport {
    /// The same as a line of `hopcast stream send --json`, with the mean rate since the start.
    pub fn to_json(&self, now: Instant) -> String {
        json(&SendLine::new(self, mean_rate(self.octets_sent, now), now))
    }
}

impl ReceiverReport {
    /// The same as a line of `hopcast stream receive --json`, with the mean rate since the start.
    pub fn to_json(&self, now: Instant) -> String {
        json(&ReceiveLine::new(self, mean_rate(self.media.octets, now), 0, now))
    }
}

/// The rate since the start, in bit/s.
pub(super) fn mean_rate(octets: u64, now: Instant) -> f64 {
    if now > Instant::START { 8.0 * octets as f64 / now.as_secs_f64() } else { 0.0 }
}

/// The states of the network in a word.
fn network(states: Option<States>, probing: bool) -> Option<&'static str> {
    let states = states?;
    Some(match (probing, states.congestion, states.route_change, states.channel_error) {
        (true, ..) => "disconnected",
        (_, true, ..) => "congestion",
        (_, _, true, true) => "route change and channel error",
        (_, _, true, false) => "route change",
        (_, _, false, true) => "channel error",
        _ => "normal",
    })
}

impl SendLine {
    pub(super) fn new(report: &SenderReport, rate: f64, now: Instant) -> Self {
        Self {
            event: "statistics",
            time_s: now.as_secs_f64(),
            state: report.state.map(|state| state.to_string()),
            network: network(report.network, report.probing),
            allowed_rate_bps: report.allowed_rate,
            rate_bps: rate,
            rtt_s: report.rtt.map(Duration::as_secs_f64),
            loss_event_rate: report.loss_event_rate,
            packets_offered: report.packets_offered,
            packets_sent: report.packets_sent,
            octets_sent: report.octets_sent,
            packets_dropped: report.packets_dropped,
            repair_packets: report.repair_packets,
            waiting: report.waiting,
            connections: report.connections,
            probes: report.probes,
            rejected: report.rejected,
            rung_bps: None,
            rung_switches: 0,
            octets_skipped: 0,
            congestion: report.reported.map(|reported| reported.congestion),
            reports: report.reported.map(|reported| reported.reports),
            packets_arrived: report.reported.map(|reported| reported.arrived),
            packets_lost: report.reported.map(|reported| reported.lost),
            packets_marked: report.reported.map(|reported| reported.marked),
            packets_retransmitted: report.reported.map(|reported| reported.retransmitted),
            fraction_lost: report.reception.map(|reception| reception.fraction_lost),
            interarrival_jitter_s: report.reception.map(|reception| reception.jitter.as_secs_f64()),
            sealing: report.sealing,
        }
    }

    /// The same with what is known of the input.
    pub(super) fn with_input(self, rung: Option<f64>, switches: u64, skipped: u64) -> Self {
        Self { rung_bps: rung, rung_switches: switches, octets_skipped: skipped, ..self }
    }

    /// The same as the last line.
    pub(super) fn at_end(self) -> Self {
        Self { event: "end", ..self }
    }

    /// What encoders are told: a line of JSON.
    pub(super) fn feedback(&self) -> String {
        let Self { allowed_rate_bps, network, .. } = self;
        serde_json::json!({ "allowed_rate_bps": allowed_rate_bps, "network": network }).to_string() + "\n"
    }

    pub(super) fn text(&self) -> String {
        let state = self.congestion.or(self.state.as_deref());
        let state = state.unwrap_or(if self.connections == 0 { "UDP" } else { "no connection" });
        let allowed = self.allowed_rate_bps.map_or(String::new(), |rate| format!(" of {} allowed", megabits(rate)));
        let rtt = self.rtt_s.map_or(String::new(), |rtt| format!(", round trip {:.1} ms", rtt * 1e3));
        let network = self.network.map_or(String::new(), |network| format!(", {network}"));
        let lost = self.packets_lost.map_or(format!("loss event rate {:.4}", self.loss_event_rate), |lost| {
            format!("{lost} of {} lost", lost + self.packets_arrived.unwrap_or_default())
        });
        let rung = self.rung_bps.map_or(String::new(), |rate| format!(", rung {}", megabits(rate)));
        format!(
            "{:.0} s, {state}: {}{allowed}{rtt}, {lost}{network}{rung}; {} packets sent, {} dropped, {} waiting",
            self.time_s,
            megabits(self.rate_bps),
            self.packets_sent,
            self.packets_dropped,
            self.waiting,
        )
    }
}

impl ReceiveLine {
    pub(super) fn new(report: &ReceiverReport, rate: f64, overrun: u64, now: Instant) -> Self {
        let (media, sample) = (&report.media, report.sample.as_ref());
        let (packets, player) = (&media.packets, &media.player);
        Self {
            event: "statistics",
            time_s: now.as_secs_f64(),
            peer: report.peer,
            state: report.state.map(|state| state.to_string()),
            network: network(report.network, false),
            rate_bps: rate,
            rtt_s: report.rtt.map(Duration::as_secs_f64),
            loss_event_rate: report.loss_event_rate,
            idd_s: sample.and_then(|sample| sample.delay_difference).map(|nanos| nanos as f64 * 1e-9),
            stt_pps: sample.map(|sample| sample.throughput),
            por: sample.map(|sample| sample.reordered),
            plr: sample.map(|sample| sample.lost),
            packets_delivered: packets.delivered,
            octets_delivered: media.octets,
            packets_lost: packets.lost,
            packets_late: packets.late,
            packets_duplicate: packets.duplicates,
            packets_recovered: media.recovered,
            packets_overrun: overrun,
            malformed: media.malformed,
            feedback_sent: report.feedback_sent,
            feedback: report.format.map(|format| match format {
                Format::Ccfb => "ccfb",
                Format::Twcc => "twcc",
            }),
            interarrival_jitter_s: media.jitter.as_secs_f64(),
            frames_on_time: media.frames.map(|frames| frames.on_time),
            frames_late: media.frames.map(|frames| frames.late),
            frames_lost: media.frames.map(|frames| frames.lost),
            jitter_buffer_delay_mean_s: media
                .frames
                .filter(|frames| frames.held > 0)
                .map(|frames| frames.holding.as_secs_f64() / frames.held as f64),
            connections: report.connections,
            rejected: report.rejected,
            start_up_delay_s: player.start_up_delay.map(Duration::as_secs_f64),
            hiccups: player.hiccups,
            stalled_s: player.stalled.as_secs_f64(),
            longest_hiccup_s: player.longest.as_secs_f64(),
            played_s: player.played.as_secs_f64(),
            sealing: report.sealing,
        }
    }

    /// The same as the last line.
    pub(super) fn at_end(self) -> Self {
        Self { event: "end", ..self }
    }

    pub(super) fn text(&self) -> String {
        let peer = self.peer.map_or("nobody yet".to_owned(), |peer| peer.to_string());
        let state = self.state.as_deref().map_or(String::new(), |state| format!(", {state}"));
        let network = self.network.map_or(String::new(), |network| format!(", {network}"));
        let metrics = match (self.idd_s, self.stt_pps, self.por, self.plr) {
            (idd, Some(stt), Some(por), Some(plr)) => {
                format!(", IDD {:.2} ms, STT {stt:.0}/s, POR {por:.3}, PLR {plr:.3}", idd.unwrap_or(0.0) * 1e3)
            }
            _ => String::new(),
        };
        let frames = self.frames_on_time.map_or(String::new(), |on_time| {
            let [late, lost] = [self.frames_late, self.frames_lost].map(Option::unwrap_or_default);
            format!("; {on_time} frames on time, {late} late, {lost} lost")
        });
        format!(
            "{:.0} s, {peer}{state}: {}{network}{metrics}; {} packets delivered, {} lost, {} late, {} recovered{frames}; {} hiccups, {:.1} s",
            self.time_s,
            megabits(self.rate_bps),
            self.packets_delivered,
            self.packets_lost,
            self.packets_late,
            self.packets_recovered,
            self.hiccups,
            self.stalled_s,
        )
    }
}

fn megabits(rate: f64) -> String {
    format!("{:.2} Mb/s", rate * 1e-6)
}
