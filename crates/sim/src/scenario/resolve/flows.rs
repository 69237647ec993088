//! Flows: end points, transport, application.

use std::collections::{BTreeMap, BTreeSet};

use hopcast_protocols::application::{self, PlayerConfig};
use hopcast_protocols::fec;
use hopcast_protocols::time::{Duration, Instant};
use hopcast_protocols::transport::{adtfrc, dccp, tcp, tfrc};
use hopcast_radio::mac::edca::UserPriority;
use hopcast_wire::fec::MAX_SYMBOLS;

use super::super::model;
use super::super::nearest;
use super::super::quantity::{Rate, Size, Time, TimeOrOff};
use super::super::schema::{
    Application, Congestion, Flow, GameDirection, GameModel, Metric, Priority, TfrcVariant, Transport, Variant,
};
use super::super::traces::Traces;
use crate::host::FEC_HEADER;
use crate::id::NodeId;

use super::{Resolver, exact, instant, show, word};

/// IPv4 header (RFC 791, section 3.1) and TCP header (RFC 9293, section 3.1), without options.
const IP_AND_TCP: u32 = 40;

/// IPv4 header and UDP header (RFC 768).
const IP_AND_UDP: u32 = 28;

/// IPv4 header, and that of a DCCP data packet with an NDP count and a timestamp (RFC 4340, sections 5, 7.7 and 13.1).
const IP_AND_DCCP: u32 = 52;

/// Payload of the largest DCCP packet: an IP datagram of 65535 B less 20 B, and 1020 B of the longest header (RFC 4340,
/// section 5.1).
const MAX_DCCP_PAYLOAD: f64 = 64_495.0;

/// Payload of the largest UDP datagram: 65535 B of IP datagram (RFC 791, section 3.1) less the headers.
const MAX_UDP_PAYLOAD: f64 = 65_507.0;

/// Payload of a full segment or datagram without an MTU: that of an MTU of 1500 B.
const WITHOUT_MTU: u32 = 1_500;

/// The largest window of TCP in bytes (RFC 7323, section 2.3).
const MAX_TCP_WINDOW: f64 = 1_073_741_824.0;

/// Packets per second beyond which no radio of the standard could send a single one of them.
const MAX_PACKET_RATE: f64 = 1e6;

/// Payload rate of PCMU in bit/s, and the interval of its packets in seconds (RFC 3551, sections 4.5.14 and 4.2).
const AUDIO_RATE: f64 = 64_000.0;
/// See [`AUDIO_RATE`].
const AUDIO_INTERVAL: f64 = 0.02;

/// What a flow depends on outside itself.
#[derive(Clone, Copy)]
pub(super) struct Surroundings {
    pub(super) mtu: Option<u32>,
}

/// What carries an application's datagrams.
#[derive(Clone, Copy)]
struct Carrier<'a> {
    transport: &'a model::Transport,
    /// Octets that are added to the largest of them.
    overhead: u32,
}

impl Resolver<'_> {
    pub(super) fn flows(&mut self, flows: &[Flow], groups: &[model::Group], around: Surroundings) -> Vec<model::Flow> {
        let nodes = Directory::new(groups);
        let mut names = BTreeSet::new();
        let mut traces = Traces::new(self.source);
        let mut resolved = Vec::new();
        for (place, flow) in flows.iter().enumerate() {
            let index = place.to_string();
            if !names.insert(&flow.name) {
                let problem = "there is already a flow of this name";
                self.report(&["flows", &index, "name"], problem, "a name of its own for each flow");
            }
            resolved.extend(self.flow(&index, flow, &nodes, &mut traces, around));
        }
        resolved
    }

    /// `None` where its ends or its application are unknown, which is reported.
    fn flow(
        &mut self,
        index: &str,
        flow: &Flow,
        nodes: &Directory<'_>,
        traces: &mut Traces<'_>,
        around: Surroundings,
    ) -> Option<model::Flow> {
        for key in ["name", "from", "to"] {
            self.ledger.note_given(&["flows", index, key]);
        }
        let from = self.end(index, "from", &flow.from, nodes);
        let to = self.end(index, "to", &flow.to, nodes);
        if from.is_some() && from == to {
            self.report(&["flows", index, "to"], "is the node that the flow comes from", "another node");
        }
        let via = self.via(index, flow, [from, to], nodes);
        let priority = self
            .ledger
            .pick(&["flows", index, "priority"], flow.priority, word, || (Priority::BestEffort, "default".into()));
        let (start, stop) = self.times(index, flow);
        let transport = self.transport(index, flow, around);
        let fec = self.fec(index, flow, &transport);
        let carrier = Carrier { transport: &transport, overhead: if fec.is_some() { FEC_HEADER } else { 0 } };
        let application = self.application(index, flow, carrier, traces, around);
        let player = self.player(index, flow);
        let (from, to, application) = (from?, to?, application?);
        let priority = UserPriority::new(match priority {
            Priority::BestEffort => 0,
            Priority::Background => 1,
            Priority::Video => 5,
            Priority::Voice => 6,
        });
        Some(model::Flow {
            name: flow.name.clone(),
            from,
            to,
            via,
            priority,
            start,
            stop,
            transport,
            application,
            fec,
            player,
        })
    }

    /// The nodes on the way that are known; what is wrong with the others is reported.
    fn via(&mut self, index: &str, flow: &Flow, ends: [Option<NodeId>; 2], nodes: &Directory<'_>) -> Vec<NodeId> {
        let path = ["flows", index, "via"];
        match flow.via {
            Some(_) => self.ledger.note_given(&path),
            None => self.ledger.note(&path, "the shortest path", "default"),
        }
        let mut via = Vec::new();
        for (place, name) in flow.via.iter().flatten().enumerate() {
            let at = [path[0], path[1], path[2], &place.to_string()];
            match nodes.find(name) {
                Some(node) if ends.contains(&Some(node)) => {
                    self.report(&at, "is an end of the flow", "nodes between its ends");
                }
                Some(node) if via.contains(&node) => self.report(&at, "is passed through twice", "each node once"),
                Some(node) => via.push(node),
                None => {
                    let (problem, expected) = nodes.why_unknown(name);
                    self.report(&at, problem, expected);
                }
            }
        }
        via
    }

    fn end(&mut self, index: &str, key: &str, name: &str, nodes: &Directory<'_>) -> Option<NodeId> {
        let found = nodes.find(name);
        if found.is_none() {
            let (problem, expected) = nodes.why_unknown(name);
            self.report(&["flows", index, key], problem, expected);
        }
        found
    }

    fn times(&mut self, index: &str, flow: &Flow) -> (Instant, Option<Instant>) {
        let path = ["flows", index, "start"];
        let start = self.ledger.pick(&path, flow.start, show, || (Time(0.0), "default: with the run".into()));
        match flow.stop {
            Some(_) => self.ledger.note_given(&["flows", index, "stop"]),
            None => self.ledger.note(&["flows", index, "stop"], "end of the run", "default"),
        }
        let stop = flow.stop.map(instant);
        if stop.is_some_and(|stop| stop <= instant(start)) {
            self.report(&["flows", index, "stop"], format!("is not after the start ({start})"), "");
        }
        (instant(start), stop)
    }

    fn transport(&mut self, index: &str, flow: &Flow, around: Surroundings) -> model::Transport {
        let at = |key| ["flows", index, "transport", key];
        self.ledger.note_given(&at("protocol"));
        match flow.transport.clone() {
            Transport::Udp {} => model::Transport::Udp,
            transport @ Transport::Tcp { .. } => self.tcp(index, transport, around),
            Transport::Tfrc { variant, segment } => {
                let variant = self
                    .ledger
                    .pick(&at("variant"), variant, word, || (TfrcVariant::Rfc5348, "default: RFC 5348".into()));
                let config = tfrc::Config {
                    segment: self.dccp_segment(index, segment, around),
                    edition: match variant {
                        TfrcVariant::Rfc3448 => tfrc::Edition::Rfc3448,
                        TfrcVariant::Rfc5348 | TfrcVariant::Rfc4828 => tfrc::Edition::Rfc5348,
                    },
                    small_packets: variant == TfrcVariant::Rfc4828,
                    ..tfrc::Config::default()
                };
                model::Transport::Dccp(model::Dccp { congestion: dccp::Congestion::Tfrc(config) })
            }
            Transport::Adtfrc { metric, segment } => {
                let metric = self
                    .ledger
                    .pick(&at("metric"), metric, word, || (Metric::Joint, "default: Fu, Meng and Lu, Table II".into()));
                let mut config = adtfrc::Config {
                    identification: match metric {
                        Metric::Joint => Some(adtfrc::Identification::Joint),
                        Metric::Idd => Some(adtfrc::Identification::DelayDifference),
                        Metric::Stt => Some(adtfrc::Identification::Throughput),
                        Metric::None => None,
                    },
                    ..adtfrc::Config::default()
                };
                config.tfrc.segment = self.dccp_segment(index, segment, around);
                model::Transport::Dccp(model::Dccp { congestion: dccp::Congestion::Adtfrc(config) })
            }
        }
    }

    /// Payload of a full packet of DCCP in bytes.
    fn dccp_segment(&mut self, index: &str, given: Option<Size>, around: Surroundings) -> u32 {
        let path = ["flows", index, "transport", "segment"];
        let segment = self.ledger.layered(&path, given, exact, || match around.mtu {
            // The least MTU is 68 B (RFC 791, section 3.2).
            Some(mtu) => (size(mtu - IP_AND_DCCP), "default: radio.mtu less 52 B of headers".into()),
            None => (size(WITHOUT_MTU - IP_AND_DCCP), "default: as with an MTU of 1500 B".into()),
        });
        segment.0 as u32
    }

    fn tcp(&mut self, index: &str, transport: Transport, around: Surroundings) -> model::Transport {
        let at = |key| ["flows", index, "transport", key];
        let Transport::Tcp {
            variant,
            congestion,
            timestamps,
            segment,
            window,
            initial_window,
            min_rto,
            delayed_ack,
            elfn,
        } = transport
        else {
            unreachable!("it is asked about TCP alone");
        };
        let variant =
            self.ledger.pick(&at("variant"), variant, word, || (Variant::Newreno, "default: RFC 6582".into()));
        let congestion = self.congestion(index, congestion);
        let timestamps =
            self.ledger.pick(&at("timestamps"), timestamps, bool::to_string, || (false, "default: without".into()));
        let segment = self.ledger.layered(&at("segment"), segment, exact, || match around.mtu {
            Some(mtu) => (size(mtu - IP_AND_TCP), "default: radio.mtu less 40 B (RFC 9293, section 3.7.1)".into()),
            None => (size(WITHOUT_MTU - IP_AND_TCP), "default: as with an MTU of 1500 B".into()),
        });
        let show_window = |window: &Option<u32>| window.map_or("socket buffers".into(), |window| window.to_string());
        let window = self.ledger.layered(&at("window"), window.map(Some), show_window, || {
            (None, "default: what the receiver's buffer holds (RFC 9293, section 3.8.6)".into())
        });
        if window.is_some_and(|window| f64::from(window) * segment.0 > MAX_TCP_WINDOW) {
            let problem = format!("in segments of {} is beyond the largest window of TCP", exact(&segment));
            self.report(&at("window"), problem, "at most 1 GiB in all (RFC 7323, section 2.3)");
        }
        let show_initial = |window: &Option<u32>| window.map_or("by segment size".into(), |window| window.to_string());
        let initial_window = self.ledger.layered(&at("initial_window"), initial_window.map(Some), show_initial, || {
            (None, "default: RFC 5681, section 3.1".into())
        });
        let min_rto =
            self.ledger.layered(&at("min_rto"), min_rto, show, || (Time(1.0), "default: RFC 6298, section 2.4".into()));
        let delayed_ack = self.ledger.layered(&at("delayed_ack"), delayed_ack, show, || {
            let reason = "default: what BSD and Linux hold one back at most; RFC 5681, section 4.2, allows 500 ms";
            (TimeOrOff(Some(Time(0.2))), reason.into())
        });
        let elfn = self.ledger.pick(&at("elfn"), elfn, bool::to_string, || (false, "default: without".into()));
        model::Transport::Tcp(model::Tcp {
            segment: segment.0 as u32,
            window,
            initial_window,
            min_rto: Duration::from_secs_f64(min_rto.0),
            delayed_ack: delayed_ack.0.map(|time| Duration::from_secs_f64(time.0)),
            variant: match variant {
                Variant::Reno => tcp::Variant::Reno,
                Variant::Newreno => tcp::Variant::NewReno,
                Variant::Sack => tcp::Variant::Sack,
                Variant::Cubic => tcp::Variant::Cubic,
            },
            congestion,
            timestamps,
            elfn,
        })
    }

    /// A law of the window of a user's own.
    fn congestion(&mut self, index: &str, given: Option<Congestion>) -> Option<model::CongestionLaw> {
        let at = |key| ["flows", index, "transport", "congestion", key];
        let Some(Congestion { name, parameters }) = given else {
            self.ledger.note(&["flows", index, "transport", "congestion"], "the variant's", "default");
            return None;
        };
        self.ledger.note_given(&at("name"));
        match self.source.registry.congestion_control(&name, parameters.unwrap_or_default()) {
            Some(Ok(law)) => return Some(law),
            Some(Err(problem)) => self.report(&at("parameters"), problem, ""),
            None => {
                let known: Vec<&str> = self.source.registry.congestion_control_names().collect();
                let expected = match known.as_slice() {
                    [] => "one that this program was built with or given: it has none".to_owned(),
                    _ => format!("one of {}", known.join(", ")),
                };
                let problem = format!("there is no congestion control of this name{}", nearest::hint(&name, &known));
                self.report(&at("name"), problem, expected);
            }
        }
        None
    }

    fn application(
        &mut self,
        index: &str,
        flow: &Flow,
        carrier: Carrier<'_>,
        traces: &mut Traces<'_>,
        around: Surroundings,
    ) -> Option<model::Application> {
        let at = |key| ["flows", index, "application", key];
        self.ledger.note_given(&at("kind"));
        Some(match &flow.application {
            Application::Bulk { bytes, packet } => {
                let bytes = self.amount(index, *bytes);
                model::Application::Bulk { bytes, packet: self.packet(index, *packet, carrier, around) }
            }
            Application::Adu { size, wait, bytes } => {
                self.ledger.note_given(&at("size"));
                self.check_datagram(index, "size", size.0, carrier);
                let wait = self.ledger.pick(&at("wait"), *wait, show, || (Time(0.0), "default: none".into()));
                let bytes = self.amount(index, *bytes);
                model::Application::Adu { size: size.0 as u32, wait: Duration::from_secs_f64(wait.0), bytes }
            }
            Application::Cbr { rate, packet, jitter } => {
                self.ledger.note_given(&at("rate"));
                let packet = self.packet(index, *packet, carrier, around);
                let packet_rate = rate.0 / (8.0 * f64::from(packet));
                if packet_rate > MAX_PACKET_RATE {
                    let problem = format!("is {packet_rate:.3e} packets of {packet} B a second");
                    self.report(&at("rate"), problem, "at most a million packets a second");
                }
                let jitter = self.ledger.pick(&at("jitter"), *jitter, show, || (Time(0.0), "default: none".into()));
                model::Application::Cbr { rate: rate.0, packet, jitter: Duration::from_secs_f64(jitter.0) }
            }
            &Application::Audio { rate, packet, interval, deadline } => {
                self.audio(index, [rate.map(|r| r.0), packet.map(|p| p.0), interval.map(|i| i.0)], deadline, carrier)
            }
            &Application::Game { model, direction } => {
                let model = self.ledger.pick(&at("model"), model, word, || {
                    (GameModel::Faerber, "default: J. Färber, Multimedia Tools and Applications 23(1), 2004".into())
                });
                let direction = self.ledger.pick(&at("direction"), direction, word, || {
                    (GameDirection::Server, "default: whose packets players wait for".into())
                });
                model::Application::Game {
                    model: match model {
                        GameModel::Faerber => application::GameModel::Faerber,
                        GameModel::Ngmn => application::GameModel::Ngmn,
                    },
                    direction: match direction {
                        GameDirection::Server => application::GameDirection::ToClient,
                        GameDirection::Client => application::GameDirection::ToServer,
                    },
                }
            }
            Application::File { bytes, think, packet } => {
                self.ledger.note_given(&at("bytes"));
                let think =
                    self.ledger.pick(&at("think"), *think, show, || (TimeOrOff(None), "default: one file".into()));
                model::Application::File {
                    bytes: bytes.0 as u64,
                    think: think.0.map(|time| Duration::from_secs_f64(time.0)),
                    packet: self.packet(index, *packet, carrier, around),
                }
            }
            Application::VideoTrace { file, packet } => {
                let file = self.ledger.pick(&at("file"), file.clone(), String::clone, || {
                    (super::super::traces::DEFAULT.into(), "default: bundled with hopcast".into())
                });
                let packet = self.packet(index, *packet, carrier, around);
                match traces.find(&file) {
                    Ok(trace) => model::Application::VideoTrace { trace, packet },
                    Err((problem, expected)) => {
                        self.report(&at("file"), problem, expected);
                        return None;
                    }
                }
            }
        })
    }

    /// Of rate in bit/s, packet in bytes and interval in seconds, two give the third.
    fn audio(
        &mut self,
        index: &str,
        given: [Option<f64>; 3],
        deadline: Option<TimeOrOff>,
        carrier: Carrier<'_>,
    ) -> model::Application {
        let at = |key| ["flows", index, "application", key];
        // What exceeds a whole number by the rounding of the product does not make another byte.
        let mut in_packet = |rate: f64, interval: f64| {
            let octets = libm::ceil(rate * interval / 8.0 * (1.0 - 1e-12)).max(1.0);
            if octets > MAX_UDP_PAYLOAD {
                let problem = format!("is more than a packet of {MAX_UDP_PAYLOAD} B each {} carries", Time(interval));
                self.report(&at("rate"), problem, "a lower rate, or a shorter interval");
                return None;
            }
            Some(octets)
        };
        let (rate, packet, interval) = match given {
            [Some(rate), Some(packet), None] => (rate, packet, packet * 8.0 / rate),
            [None, Some(packet), None] => (AUDIO_RATE, packet, packet * 8.0 / AUDIO_RATE),
            [None, Some(packet), Some(interval)] => (packet * 8.0 / interval, packet, interval),
            [Some(rate), Some(packet), Some(interval)] => {
                if let Some(octets) = in_packet(rate, interval).filter(|&octets| octets != packet) {
                    let problem = format!("is not what {} gives in {}", Rate(rate), Time(interval));
                    self.report(&at("packet"), problem, exact(&Size(octets)));
                }
                (packet * 8.0 / interval, packet, interval)
            }
            [rate, None, interval] => {
                let (rate, interval) = (rate.unwrap_or(AUDIO_RATE), interval.unwrap_or(AUDIO_INTERVAL));
                let packet = in_packet(rate, interval).unwrap_or(MAX_UDP_PAYLOAD);
                (packet * 8.0 / interval, packet, interval)
            }
        };
        let computed = |source: &str| format!("default: {source}");
        let exactly = given[0].filter(|given| libm::fabs(rate / given - 1.0) < 1e-9);
        self.ledger.pick(&at("rate"), exactly.map(Rate), show, || match given {
            [Some(given), ..] => (Rate(rate), format!("{} in whole bytes each {}", Rate(given), Time(interval))),
            [_, Some(_), Some(_)] => (Rate(rate), computed("packet / interval")),
            _ => (Rate(rate), computed("PCMU (RFC 3551, section 4.5.14)")),
        });
        self.ledger.pick(&at("packet"), given[1].map(Size), exact, || {
            (Size(packet), computed("rate x interval, up to whole bytes"))
        });
        self.ledger.pick(&at("interval"), given[2].map(Time), show, || match given {
            [_, Some(_), _] => (Time(interval), computed("packet / rate")),
            _ => (Time(interval), computed("20 ms (RFC 3551, section 4.2)")),
        });
        if 1.0 / interval > MAX_PACKET_RATE {
            let problem = format!("is {:.3e} packets of {packet} B a second", 1.0 / interval);
            self.report(&at("rate"), problem, "at most a million packets a second");
        }
        let deadline = self
            .ledger
            .pick(&at("deadline"), deadline, show, || (TimeOrOff(None), "default: packets do not expire".into()));
        if deadline.0.is_some() && *carrier.transport != model::Transport::Udp {
            let problem = "is kept over UDP only";
            self.report(&at("deadline"), problem, "transport.protocol = \"udp\"");
        }
        self.check_datagram(index, "packet", packet, carrier);
        model::Application::Audio {
            rate,
            packet: packet as u32,
            deadline: deadline.0.map(|time| Duration::from_secs_f64(time.0)),
        }
    }

    fn fec(&mut self, index: &str, flow: &Flow, transport: &model::Transport) -> Option<fec::Config> {
        let path = ["flows", index, "fec"];
        let Some(given) = flow.fec else {
            self.ledger.note(&path, "none", "default");
            return None;
        };
        if matches!(transport, model::Transport::Tcp(_)) {
            let expected = "transport.protocol = \"udp\", \"tfrc\" or \"adtfrc\"";
            self.report(&path, "is for transports that do not send again what is lost", expected);
        }
        let at = |key| [path[0], path[1], path[2], key];
        let default = fec::Config::default();
        let choice = "default: a choice for interactive media";
        let mut number =
            |key, given, default| self.ledger.pick(&at(key), given, u8::to_string, || (default, choice.into()));
        let (source, repair) =
            (number("source", given.source, default.source), number("repair", given.repair, default.repair));
        if usize::from(source) + usize::from(repair) > MAX_SYMBOLS {
            let expected = format!("at most {MAX_SYMBOLS} packets in a block");
            self.report(&at("repair"), format!("is {repair} beside {source} packets of the application"), expected);
        }
        let block_timeout = self.ledger.pick(&at("block_timeout"), given.block_timeout, show, || {
            (Time(default.block_timeout.as_secs_f64()), choice.into())
        });
        let block_timeout = Duration::from_secs_f64(block_timeout.0);
        Some(fec::Config { source, repair, block_timeout, ..default })
    }

    fn player(&mut self, index: &str, flow: &Flow) -> Option<PlayerConfig> {
        let player = flow.player?;
        let at = |key| ["flows", index, "player", key];
        if !matches!(
            flow.application,
            Application::Audio { .. } | Application::Cbr { .. } | Application::VideoTrace { .. }
        ) {
            let expected = "application.kind = \"audio\", \"cbr\" or \"video-trace\"";
            self.report(&["flows", index, "player"], "shows media only, which have times", expected);
        }
        let start_up = self.ledger.pick(&at("start_up_delay"), player.start_up_delay, show, || {
            (Time(1.0), "default: enough for most retransmissions".into())
        });
        let resume = self
            .ledger
            .pick(&at("resume_delay"), player.resume_delay, show, || (start_up, "default: start_up_delay".into()));
        Some(PlayerConfig { start_up: Duration::from_secs_f64(start_up.0), resume: Duration::from_secs_f64(resume.0) })
    }

    fn amount(&mut self, index: &str, bytes: Option<Size>) -> Option<u64> {
        let path = ["flows", index, "application", "bytes"];
        match bytes {
            Some(_) => self.ledger.note_given(&path),
            None => self.ledger.note(&path, "until stopped", "default"),
        }
        bytes.map(|size| size.0 as u64)
    }

    fn packet(&mut self, index: &str, given: Option<Size>, carrier: Carrier<'_>, around: Surroundings) -> u32 {
        let path = ["flows", index, "application", "packet"];
        let default = || {
            let (room, source) = match carrier.transport {
                model::Transport::Tcp(tcp) => (tcp.segment, "default: the segment"),
                model::Transport::Dccp(dccp) => (dccp.congestion.tfrc().segment, "default: the segment"),
                model::Transport::Udp => match around.mtu {
                    Some(mtu) => (mtu - IP_AND_UDP, "default: radio.mtu less 28 B of headers"),
                    None => (WITHOUT_MTU - IP_AND_UDP, "default: as with an MTU of 1500 B"),
                },
            };
            match carrier.overhead {
                0 => (size(room), source.into()),
                overhead => (size(room.saturating_sub(overhead).max(1)), format!("{source}, and {overhead} B of FEC")),
            }
        };
        let packet = self.ledger.pick(&path, given, exact, default);
        self.check_datagram(index, "packet", packet.0, carrier);
        packet.0 as u32
    }

    /// Reports a write of `octets` that is more than the transport has in one datagram.
    fn check_datagram(&mut self, index: &str, key: &str, octets: f64, carrier: Carrier<'_>) {
        let (name, most) = match carrier.transport {
            model::Transport::Tcp(_) => return,
            model::Transport::Udp => ("UDP datagram", MAX_UDP_PAYLOAD),
            model::Transport::Dccp(_) => ("DCCP packet", MAX_DCCP_PAYLOAD),
        };
        let most = most - f64::from(carrier.overhead);
        if octets > most {
            let beside = if carrier.overhead > 0 { " beside FEC" } else { "" };
            let problem = format!("is more than a {name} holds{beside}");
            self.report(&["flows", index, "application", key], problem, format!("at most {most} B"));
        }
    }
}

/// Finds nodes by name.
pub(super) struct Directory<'a> {
    groups: &'a [model::Group],
    nodes: BTreeMap<&'a str, NodeId>,
}

impl<'a> Directory<'a> {
    pub(super) fn new(groups: &'a [model::Group]) -> Self {
        let names = groups.iter().flat_map(|group| &group.node_names);
        let nodes = names.zip(0..).map(|(name, id)| (name.as_str(), NodeId(id))).collect();
        Self { groups, nodes }
    }

    pub(super) fn find(&self, name: &str) -> Option<NodeId> {
        self.nodes.get(name).copied()
    }

    /// The group of a node.
    pub(super) fn group(&self, node: NodeId) -> &'a model::Group {
        let mut nodes = self.groups.iter().flat_map(|group| group.node_names.iter().map(move |_| group));
        nodes.nth(node.0 as usize).expect("a node was found in a group")
    }

    /// Problem, and what would be right.
    pub(super) fn why_unknown(&self, name: &str) -> (String, String) {
        if let Some(group) = self.groups.iter().find(|group| group.name == name) {
            return (format!("is a group of {} nodes", group.node_names.len()), format!("one of {}", range(group)));
        }
        let names: Vec<&str> = self.nodes.keys().copied().collect();
        let known: Vec<String> = self.groups.iter().map(range).collect();
        (format!("there is no node {name:?}{}", nearest::hint(name, &names)), format!("one of {}", known.join(", ")))
    }
}

/// The nodes of a group, in short.
fn range(group: &model::Group) -> String {
    match group.node_names.as_slice() {
        [first, .., last] => format!("{first} … {last}"),
        names => names.concat(),
    }
}

fn size(bytes: u32) -> Size {
    Size(f64::from(bytes))
}
