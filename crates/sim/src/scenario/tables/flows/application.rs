//! What a flow sends: `flows.application`.

use hopcast_protocols::application;
use schemars::JsonSchema;
use serde::Deserialize;

use super::super::Resolver;
use super::super::custom::Custom;
use super::Carrier;
use super::transport::WITHOUT_MTU;
use crate::scenario::declare::{computed, is, nothing};
use crate::scenario::model;
use crate::scenario::quantity::{Rate, Size, Time, TimeOrOff};
use crate::scenario::traces::{self, Traces};

/// IPv4 header (RFC 791, section 3.1) and UDP header (RFC 768).
const IP_AND_UDP: u32 = 28;

/// Payload of the largest DCCP packet: an IP datagram of 65535 B less 20 B, and 1020 B of the longest header (RFC 4340,
/// section 5.1).
const MAX_DCCP_PAYLOAD: f64 = 64_495.0;

/// Payload of the largest UDP datagram: 65535 B of IP datagram (RFC 791, section 3.1) less the headers.
const MAX_UDP_PAYLOAD: f64 = 65_507.0;

/// Packets per second beyond which no radio of the standard could send a single one of them.
const MAX_PACKET_RATE: f64 = 1e6;

/// Payload rate of PCMU in bit/s, and the interval of its packets in seconds (RFC 3551, sections 4.5.14 and 4.2).
const AUDIO_RATE: f64 = 64_000.0;
/// See [`AUDIO_RATE`].
const AUDIO_INTERVAL: f64 = 0.02;

/// What a flow sends.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(tag = "kind", deny_unknown_fields)]
pub(super) enum Application {
    /// As fast as the transport takes it.
    Bulk {
        /// In all.
        #[schemars(extend("minimum" = 1, "maximum" = 1e15, "x-default" = nothing("until stopped", "")))]
        bytes: Option<Size>,
        /// Payload of one datagram, or one write to TCP.
        #[schemars(extend("minimum" = 1, "maximum" = 65_507, "x-default" = computed(PACKET)))]
        packet: Option<Size>,
    },
    /// Application data units, each sent with a blocking call.
    Adu {
        /// Of one unit; one datagram where it is not TCP, so at most 65507 B over UDP and 64495 B over DCCP.
        #[schemars(extend("minimum" = 1, "maximum" = 1_073_741_824))]
        size: Size,
        /// Between the return of one call and the next.
        #[schemars(extend("minimum" = 0, "maximum" = 315_576_000, "x-default" = is("0 s", "none")))]
        wait: Time,
        /// In all; the last unit is cut short.
        #[schemars(extend("minimum" = 1, "maximum" = 1e15, "x-default" = nothing("until stopped", "")))]
        bytes: Option<Size>,
    },
    /// One packet at a time, evenly but for jitter, never blocking.
    Cbr {
        /// Payload rate.
        #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1e12))]
        rate: Rate,
        /// Payload of one packet.
        #[schemars(extend("minimum" = 1, "maximum" = 65_507, "x-default" = computed(PACKET)))]
        packet: Option<Size>,
        /// Each packet is written later than at its even instant by up to this time, drawn evenly for each.
        #[schemars(extend("minimum" = 0, "maximum" = 3600, "x-default" = is("0 s", "none")))]
        jitter: Time,
    },
    /// Packets of a voice at even intervals, never blocking. Any two of rate, packet and interval give the third.
    Audio(Audio),
    /// What a client and the server of a networked game send each other, never blocking: small packets of random sizes, those
    /// of the server also at random intervals.
    Game {
        /// Whose parameters.
        #[schemars(extend("x-default" = is("faerber", "J. Färber, Multimedia Tools and Applications 23(1), 2004")))]
        model: GameModel,
        /// Who sends.
        #[schemars(extend("x-default" = is("server", "whose packets players wait for")))]
        direction: GameDirection,
    },
    /// A file, as fast as the transport takes it, or one after another.
    File {
        /// Of one file.
        #[schemars(extend("minimum" = 1, "maximum" = 1e15))]
        bytes: Size,
        /// Between the return of a file's last write and the next file; `off`: there is no next.
        #[schemars(extend("minimum" = 0, "maximum" = 315_576_000, "x-default" = is("off", "one file")))]
        think: TimeOrOff,
        /// Payload of one datagram, or one write to TCP.
        #[schemars(extend("minimum" = 1, "maximum" = 65_507, "x-default" = computed(PACKET)))]
        packet: Option<Size>,
    },
    /// The frames of a film, each at its time, repeated without end, never blocking.
    VideoTrace {
        /// A file beside the scenario, a bundled trace, or a trace in one of the trace directories.
        #[schemars(extend("x-default" = is(traces::DEFAULT, "bundled with hopcast")))]
        file: String,
        /// Largest payload of one packet; a larger frame is several packets.
        #[schemars(extend("minimum" = 1, "maximum" = 65_507, "x-default" = computed(PACKET)))]
        packet: Option<Size>,
    },
    Custom(Custom),
}

const PACKET: &str = "`radio.mtu` less 28 B, 1472 B if there is no MTU (UDP); the segment (others)";

/// A voice.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
pub(super) struct Audio {
    /// Payload rate.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1e12, "x-default" = computed("64 kb/s, or what `packet` and `interval` give")))]
    rate: Option<Rate>,
    /// Payload of one packet.
    #[schemars(extend("minimum" = 1, "maximum" = 65_507, "x-default" = computed("what `rate` gives in an `interval`, up to whole bytes")))]
    packet: Option<Size>,
    /// Between two packets.
    #[schemars(extend("minimum" = 1e-6, "maximum" = 1000, "x-default" = computed("20 ms, or what `rate` and `packet` give")))]
    interval: Option<Time>,
    /// So long after it was written a packet is not worth sending any more: whoever holds it then drops it. Over UDP.
    #[schemars(extend("minimum" = 1e-9, "maximum" = 1000, "x-default" = is("off", "packets do not expire")))]
    deadline: TimeOrOff,
}

/// Whose model of a game.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum GameModel {
    /// J. Färber, Counter-Strike.
    Faerber,
    /// Its derivative in the methodology of NGMN and 3GPP, where the packets of clients are 35 B smaller.
    Ngmn,
}

/// Who sends the packets of a game.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum GameDirection {
    /// The server, to one client.
    Server,
    /// A client, to the server.
    Client,
}

alike!(GameModel, application::GameModel: Faerber, Ngmn);

impl From<GameDirection> for application::GameDirection {
    fn from(direction: GameDirection) -> Self {
        match direction {
            GameDirection::Server => Self::ToClient,
            GameDirection::Client => Self::ToServer,
        }
    }
}

impl Application {
    /// Whether its packets have times at which they are shown, or may have.
    pub(super) fn is_media(&self) -> bool {
        matches!(self, Self::Audio(_) | Self::Cbr { .. } | Self::VideoTrace { .. } | Self::Custom(_))
    }
}

/// Rate in bit/s, packet in bytes and interval in seconds, of which two give the third.
#[derive(Clone, Copy)]
struct Voice {
    rate: f64,
    packet: f64,
    interval: f64,
}

impl Resolver<'_> {
    pub(super) fn application(
        &mut self,
        index: &str,
        application: Application,
        carrier: Carrier<'_>,
        traces: &mut Traces<'_>,
    ) -> Option<model::Application> {
        let amount = |bytes: Option<Size>| bytes.map(|size| size.0 as u64);
        Some(match application {
            Application::Bulk { bytes, packet } => {
                model::Application::Bulk { bytes: amount(bytes), packet: self.packet(index, packet, carrier) }
            }
            Application::Adu { size, wait, bytes } => {
                self.check_datagram(index, "size", size.0, carrier);
                model::Application::Adu { size: size.0 as u32, wait: wait.into(), bytes: amount(bytes) }
            }
            Application::Cbr { rate, packet, jitter } => {
                let packet = self.packet(index, packet, carrier);
                self.check_packet_rate(index, rate.0 / (8.0 * f64::from(packet)), packet);
                model::Application::Cbr { rate: rate.0, packet, jitter: jitter.into() }
            }
            Application::Audio(audio) => self.audio(index, audio, carrier),
            Application::Game { model, direction } => {
                model::Application::Game { model: model.into(), direction: direction.into() }
            }
            Application::File { bytes, think, packet } => model::Application::File {
                bytes: bytes.0 as u64,
                think: think.into(),
                packet: self.packet(index, packet, carrier),
            },
            Application::VideoTrace { file, packet } => {
                let packet = self.packet(index, packet, carrier);
                match traces.find(&file) {
                    Ok(trace) => model::Application::VideoTrace { trace, packet },
                    Err((problem, expected)) => {
                        self.report(&["flows", index, "application", "file"], problem, expected);
                        return None;
                    }
                }
            }
            Application::Custom(custom) => model::Application::Custom(self.custom_application(index, custom, carrier)?),
        })
    }

    fn custom_application(
        &mut self,
        index: &str,
        custom: Custom,
        carrier: Carrier<'_>,
    ) -> Option<model::CustomApplication> {
        let models = &self.source.registry.application;
        let make = self.custom(&["flows", index, "application"], "application", &custom, models)?;
        let application = model::CustomApplication { name: custom.name, make };
        self.check_datagram(index, "parameters", f64::from(application.specimen().largest_write()), carrier);
        Some(application)
    }

    fn audio(&mut self, index: &str, audio: Audio, carrier: Carrier<'_>) -> model::Application {
        let voice @ Voice { rate, packet, interval } = self.voice(index, audio);
        self.note_voice(index, audio, voice);
        self.check_packet_rate(index, 1.0 / interval, packet as u32);
        if audio.deadline.0.is_some() && *carrier.transport != model::Transport::Udp {
            let path = ["flows", index, "application", "deadline"];
            self.report(&path, "is kept over UDP only", "transport.protocol = \"udp\"");
        }
        self.check_datagram(index, "packet", packet, carrier);
        model::Application::Audio { rate, packet: packet as u32, deadline: audio.deadline.into() }
    }

    fn voice(&mut self, index: &str, audio: Audio) -> Voice {
        // What exceeds a whole number by the rounding of the product does not make another byte.
        let mut in_packet = |rate: f64, interval: f64| {
            let octets = libm::ceil(rate * interval / 8.0 * (1.0 - 1e-12)).max(1.0);
            if octets > MAX_UDP_PAYLOAD {
                let problem = format!("is more than a packet of {MAX_UDP_PAYLOAD} B each {} carries", Time(interval));
                let path = ["flows", index, "application", "rate"];
                self.report(&path, problem, "a lower rate, or a shorter interval");
                return None;
            }
            Some(octets)
        };
        let (rate, packet, interval) =
            (audio.rate.map(|r| r.0), audio.packet.map(|p| p.0), audio.interval.map(|i| i.0));
        match (rate, packet, interval) {
            (rate, Some(packet), None) => {
                let rate = rate.unwrap_or(AUDIO_RATE);
                Voice { rate, packet, interval: packet * 8.0 / rate }
            }
            (rate, Some(packet), Some(interval)) => {
                if let Some(rate) = rate
                    && let Some(octets) = in_packet(rate, interval).filter(|&octets| octets != packet)
                {
                    let problem = format!("is not what {} gives in {}", Rate(rate), Time(interval));
                    self.report(&["flows", index, "application", "packet"], problem, format!("{octets} B"));
                }
                Voice { rate: packet * 8.0 / interval, packet, interval }
            }
            (rate, None, interval) => {
                let (rate, interval) = (rate.unwrap_or(AUDIO_RATE), interval.unwrap_or(AUDIO_INTERVAL));
                let packet = in_packet(rate, interval).unwrap_or(MAX_UDP_PAYLOAD);
                Voice { rate: packet * 8.0 / interval, packet, interval }
            }
        }
    }

    fn note_voice(&mut self, index: &str, given: Audio, Voice { rate, packet, interval }: Voice) {
        let at = |key| ["flows", index, "application", key];
        let computed = |source: &str| format!("default: {source}");
        let exactly = given.rate.filter(|given| libm::fabs(rate / given.0 - 1.0) < 1e-9);
        self.ledger.pick(&at("rate"), exactly, || match given {
            Audio { rate: Some(given), .. } => (Rate(rate), format!("{given} in whole bytes each {}", Time(interval))),
            Audio { packet: Some(_), interval: Some(_), .. } => (Rate(rate), computed("packet / interval")),
            _ => (Rate(rate), computed("PCMU (RFC 3551, section 4.5.14)")),
        });
        self.ledger
            .pick(&at("packet"), given.packet, || (Size(packet), computed("rate x interval, up to whole bytes")));
        self.ledger.pick(&at("interval"), given.interval, || match given.packet {
            Some(_) => (Time(interval), computed("packet / rate")),
            None => (Time(interval), computed("20 ms (RFC 3551, section 4.2)")),
        });
    }

    fn packet(&mut self, index: &str, given: Option<Size>, carrier: Carrier<'_>) -> u32 {
        let packet = self.ledger.pick(&["flows", index, "application", "packet"], given, || {
            let (room, source) = match carrier.transport {
                model::Transport::Tcp(tcp) => (tcp.segment, "default: the segment"),
                model::Transport::Dccp(dccp) => (dccp.congestion.tfrc().segment, "default: the segment"),
                model::Transport::Udp => match carrier.mtu {
                    Some(mtu) => (mtu - IP_AND_UDP, "default: radio.mtu less 28 B of headers"),
                    None => (WITHOUT_MTU - IP_AND_UDP, "default: as with an MTU of 1500 B"),
                },
            };
            match carrier.overhead {
                0 => (Size::from(room), source.into()),
                overhead => {
                    let room = room.saturating_sub(overhead).max(1);
                    (Size::from(room), format!("{source}, and {overhead} B of FEC"))
                }
            }
        });
        self.check_datagram(index, "packet", packet.0, carrier);
        packet.0 as u32
    }

    /// Reports a rate of packets of these bytes, so many a second, that nobody could send.
    fn check_packet_rate(&mut self, index: &str, packet_rate: f64, packet: u32) {
        if packet_rate > MAX_PACKET_RATE {
            let problem = format!("is {packet_rate:.3e} packets of {packet} B a second");
            self.report(&["flows", index, "application", "rate"], problem, "at most a million packets a second");
        }
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
