//! How a flow is carried: `flows.transport`.

use hopcast_protocols::transport::{adtfrc, dccp, media, rtp, tcp, tfrc};
use hopcast_wire::ethernet;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::super::Resolver;
use super::super::custom::Custom;
use crate::registry::{CustomCongestionControl, CustomMediaCongestionControl, MediaCongestion};
use crate::scenario::declare::{computed, is, nothing};
use crate::scenario::model;
use crate::scenario::quantity::{Size, Time, TimeOrOff};

/// IPv4 header (RFC 791, section 3.1) and TCP header (RFC 9293, section 3.1), without options.
const IP_AND_TCP: u32 = 40;

/// IPv4 header, and that of a DCCP data packet with an NDP count and a timestamp (RFC 4340, sections 5, 7.7 and 13.1).
const IP_AND_DCCP: u32 = 52;

/// MTU that determines the size of a full segment or datagram where there is no MTU.
pub(super) const WITHOUT_MTU: u32 = ethernet::MTU;

/// The largest window of TCP in bytes (RFC 7323, section 2.3).
const MAX_TCP_WINDOW: f64 = 1_073_741_824.0;

/// Transport protocol of a flow.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(tag = "protocol", deny_unknown_fields)]
pub(super) enum Transport {
    /// UDP (RFC 768).
    Udp {},
    /// TCP (RFC 9293).
    Tcp(Tcp),
    /// DCCP (RFC 4340) at a rate that is fair to TCP: TFRC, CCID 3 (RFC 4342).
    Tfrc {
        /// Version of TFRC that computes the rate.
        #[schemars(extend("x-default" = is("rfc5348", "RFC 5348")))]
        variant: TfrcVariant,
        /// Payload of a full packet.
        #[schemars(extend("minimum" = 1, "maximum" = 64_495, "x-default" = computed(DCCP_SEGMENT)))]
        segment: Option<Size>,
    },
    /// ADTFRC: TFRC that tells congestion from channel errors, route changes and disconnection (Fu, Meng, Lu, 2003).
    Adtfrc {
        /// Version of TFRC that it is built on.
        #[schemars(extend("x-default" = is("rfc3448", "the paper names RFC 3448")))]
        variant: TfrcVariant,
        /// Metric by which the flow detects congestion and acts on it. hopcast measures all metrics in any case.
        #[schemars(extend("x-default" = is("joint", "Fu, Meng and Lu, Table II")))]
        metric: Metric,
        /// Payload of a full packet.
        #[schemars(extend("minimum" = 1, "maximum" = 64_495, "x-default" = computed(DCCP_SEGMENT)))]
        segment: Option<Size>,
    },
    /// RTP (RFC 3550) over UDP, with feedback of the receiver and congestion control of media.
    Rtp(Rtp),
}

/// Parameters of RTP.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Rtp {
    /// Congestion control of media: `gcc` (Google congestion control, as WebRTC has it), `nada` (RFC 8698), `scream` (SCReAM v2,
    /// draft-ietf-ccwg-rfc8298bis-screamv2), `tfrc` (RFC 5348), `adtfrc` (Fu, Meng, Lu, 2003), `none` (packets leave at once), or the name of one
    /// that a program has added to hopcast. An application that follows a target rate is told it; other applications are paced.
    #[schemars(extend("x-default" = is("gcc", "that of WebRTC")))]
    congestion: String,
    /// Parameters of a congestion control that a program has added.
    #[schemars(extend("x-free" = true, "x-default" = computed("none")))]
    parameters: Option<Map<String, Value>>,
    /// How the receiver reports arrivals.
    #[schemars(extend("x-default" = computed("`twcc` for `gcc`, as in WebRTC; `ccfb` otherwise")))]
    feedback: Option<Feedback>,
    /// Whether queues with `ecn` may mark packets instead of dropping them: with `scream` as L4S (RFC 9331), with `nada` as classic ECN (RFC 3168),
    /// with one that a program has added as that says.
    #[schemars(extend("x-default" = is(false, "without")))]
    ecn: bool,
    /// Weight of the flow next to others with the same congestion control: with `nada` (PRIO of RFC 8698), shares of a bottleneck are proportional
    /// to it. One that a program has added is told it. With the others it is 1.
    #[schemars(extend("minimum" = 0.01, "maximum" = 100, "x-default" = is(1.0, "RFC 8698, Figure 3: PRIO")))]
    weight: f64,
    /// For how long after it was sent a packet is sent again if the receiver asks for it (generic NACK, RFC 4585; retransmission, RFC 4588). `off`:
    /// packets are sent once.
    #[schemars(extend("minimum" = 1e-3, "maximum" = 60, "x-default" = is("off", "packets are sent once")))]
    retransmission: TimeOrOff,
}

/// How a receiver of RTP reports arrivals.
#[derive(Clone, Copy, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Feedback {
    /// Congestion control feedback, with ECN fields (RFC 8888).
    Ccfb,
    /// Transport-wide numbers, as WebRTC has them (draft-holmer-rmcat-transport-wide-cc-extensions-01).
    Twcc,
}

const DCCP_SEGMENT: &str = "`radio.mtu` less 52 B; 1000 B under profile `ns-2`; 1448 B if there is no MTU";

/// Parameters of TCP.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Tcp {
    /// Loss recovery and congestion control.
    #[schemars(extend("x-default" = is("newreno", "RFC 6582")))]
    variant: Variant,
    /// Custom congestion control, added to hopcast by a program, that replaces the variant's.
    #[schemars(extend("x-default" = nothing("congestion control of `variant`", "")))]
    congestion: Option<Custom>,
    /// Whether segments carry timestamps (RFC 7323), which take 12 B of their payload.
    #[schemars(extend("x-default" = is(false, "without")))]
    timestamps: bool,
    /// Whether both ends ask for explicit congestion notification (RFC 3168): queues with `ecn` mark data instead of dropping
    /// it.
    #[schemars(extend("x-default" = is(false, "without")))]
    ecn: bool,
    /// Payload of a full segment.
    #[schemars(extend("minimum" = 1, "maximum" = 65_495, "x-default" = computed("`radio.mtu` less 40 B; 1000 B under profile `ns-2`; 1460 B if there is no MTU")))]
    segment: Option<Size>,
    /// Largest amount in flight, in segments.
    #[schemars(extend("minimum" = 1, "maximum" = 1_000_000, "x-default" = nothing("limited by socket buffers", "the receiver's buffer (RFC 9293, section 3.8.6)")))]
    window: Option<u32>,
    /// Initial congestion window, in segments.
    #[schemars(extend("minimum" = 1, "maximum" = 1000, "x-default" = nothing("depends on segment size", "RFC 5681, section 3.1")))]
    initial_window: Option<u32>,
    /// Minimum retransmission timeout.
    #[schemars(extend("minimum" = 0.001, "maximum" = 60, "x-default" = is("1 s", "RFC 6298, section 2.4")))]
    min_rto: Time,
    /// Longest time that the receiver delays an acknowledgement.
    #[schemars(extend("minimum" = 1e-9, "maximum" = 0.5, "x-default" = is("200 ms", "upper limit of BSD and Linux; RFC 5681, section 4.2, allows 500 ms")))]
    delayed_ack: TimeOrOff,
    /// Explicit link failure notification (Holland and Vaidya, 1999): the sender's routing protocol reports a lost route,
    /// and TCP then sends probes instead of waiting for timeouts.
    #[schemars(extend("x-default" = is(false, "without")))]
    elfn: bool,
    /// Lifetime of a segment, counted from when TCP sends it; any node that holds an expired segment drops it.
    #[schemars(extend("minimum" = 1e-9, "maximum" = 1000, "x-default" = is("off", "segments do not expire")))]
    deadline: TimeOrOff,
}

/// Congestion control of TCP.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Variant {
    /// Fast retransmit and fast recovery (RFC 5681).
    Reno,
    /// Fast recovery that lasts until all outstanding data is repaired (RFC 6582).
    Newreno,
    /// Selective acknowledgements (RFC 2018, RFC 6675).
    Sack,
    /// Selective acknowledgements, and the congestion window of CUBIC (RFC 9438).
    Cubic,
    /// Selective acknowledgements, and TCP Prague for L4S: data leaves as ECT(1), and feedback is accurate (RFC 9331, RFC 9768).
    Prague,
}

impl From<Variant> for tcp::Variant {
    fn from(variant: Variant) -> Self {
        match variant {
            Variant::Reno => Self::Reno,
            Variant::Newreno => Self::NewReno,
            Variant::Sack => Self::Sack,
            Variant::Cubic => Self::Cubic,
            Variant::Prague => Self::Prague,
        }
    }
}

/// Version of TFRC that computes the rate.
#[derive(Clone, Copy, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum TfrcVariant {
    /// The standard of 2008.
    Rfc5348,
    /// The standard of 2003, as papers of that time used it.
    Rfc3448,
    /// For small packets (CCID 4): the rate of TCP with packets of 1460 B, less their headers.
    Rfc4828,
    /// ns-2 as of 2002: the timeout in ticks of 0.1 s, additive increase, and one later packet shows a loss.
    #[serde(rename = "ns-2")]
    Ns2,
}

impl TfrcVariant {
    fn edition(self) -> tfrc::Edition {
        match self {
            Self::Rfc3448 => tfrc::Edition::Rfc3448,
            Self::Rfc5348 | Self::Rfc4828 => tfrc::Edition::Rfc5348,
            Self::Ns2 => tfrc::Edition::Ns2,
        }
    }
}

/// Metric by which ADTFRC detects congestion (Fu, Meng, Lu, section III-D).
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Metric {
    /// Growing delay and low throughput together.
    Joint,
    /// Growing delay alone: inter-packet delay difference.
    Idd,
    /// Low throughput alone: short-term throughput.
    Stt,
    /// No metric: the flow behaves as TFRC, and hopcast only measures the identification.
    None,
}

impl From<Metric> for Option<adtfrc::Identification> {
    fn from(metric: Metric) -> Self {
        match metric {
            Metric::Joint => Some(adtfrc::Identification::Joint),
            Metric::Idd => Some(adtfrc::Identification::DelayDifference),
            Metric::Stt => Some(adtfrc::Identification::Throughput),
            Metric::None => None,
        }
    }
}

impl Resolver<'_> {
    pub(super) fn transport(&mut self, index: &str, transport: Transport, mtu: Option<u32>) -> model::Transport {
        let congestion = match transport {
            Transport::Udp {} => return model::Transport::Udp,
            Transport::Tcp(keys) => return model::Transport::Tcp(self.tcp(index, keys, mtu)),
            Transport::Rtp(keys) => return model::Transport::Rtp(self.rtp(index, &keys)),
            Transport::Tfrc { variant, segment } => dccp::Congestion::Tfrc(tfrc::Config {
                segment: self.dccp_segment(index, segment, mtu),
                edition: variant.edition(),
                small_packets: variant == TfrcVariant::Rfc4828,
                ..tfrc::Config::default()
            }),
            Transport::Adtfrc { variant, metric, segment } => {
                let mut config = adtfrc::Config { identification: metric.into(), ..adtfrc::Config::default() };
                config.tfrc.edition = variant.edition();
                config.tfrc.small_packets = variant == TfrcVariant::Rfc4828;
                config.tfrc.segment = self.dccp_segment(index, segment, mtu);
                dccp::Congestion::Adtfrc(config)
            }
        };
        model::Transport::Dccp(model::Dccp { congestion })
    }

    /// Payload of a full packet of DCCP in bytes.
    fn dccp_segment(&mut self, index: &str, given: Option<Size>, mtu: Option<u32>) -> u32 {
        // The least MTU is 68 B (RFC 791, section 3.2).
        self.segment(index, given, mtu, IP_AND_DCCP, "default: radio.mtu less 52 B of headers")
    }

    /// Payload of a full segment in bytes: by default the MTU less `headers`, for the reason in `source`.
    fn segment(&mut self, index: &str, given: Option<Size>, mtu: Option<u32>, headers: u32, source: &str) -> u32 {
        let segment = self.ledger.layered(&["flows", index, "transport", "segment"], given, || match mtu {
            Some(mtu) => (Size::from(mtu - headers), source.into()),
            None => (Size::from(WITHOUT_MTU - headers), "default: value for an MTU of 1500 B".into()),
        });
        segment.0 as u32
    }

    fn rtp(&mut self, index: &str, keys: &Rtp) -> model::Rtp {
        let at = |key| ["flows", index, "transport", key];
        let congestion = self.media_congestion(index, keys);
        let feedback = self.ledger.pick(&at("feedback"), keys.feedback, || match congestion {
            MediaCongestion::BuiltIn(media::Congestion::Gcc) => {
                (Feedback::Twcc, "default for gcc: as in WebRTC".into())
            }
            _ => (Feedback::Ccfb, "default: RFC 8888".into()),
        });
        if keys.ecn && matches!(congestion, MediaCongestion::BuiltIn(kind) if !kind.knows_ecn()) {
            let problem = "has no effect: this congestion control does not react to marks";
            self.report(&at("ecn"), problem, "congestion = \"scream\" or \"nada\"");
        } else if keys.ecn && feedback == Feedback::Twcc {
            let problem = "has no effect: this feedback does not tell marks";
            self.report(&at("ecn"), problem, "feedback = \"ccfb\"");
        }
        // The default has no effect anywhere.
        if keys.weight != 1.0 && matches!(congestion, MediaCongestion::BuiltIn(kind) if !kind.knows_weights()) {
            let problem = "has no effect: this congestion control has no weights";
            self.report(&at("weight"), problem, "congestion = \"nada\"");
        }
        let feedback = match feedback {
            Feedback::Ccfb => rtp::Format::Ccfb,
            Feedback::Twcc => rtp::Format::Twcc,
        };
        let retransmission = keys.retransmission.into();
        model::Rtp { congestion, feedback, ecn: keys.ecn, weight: keys.weight, retransmission }
    }

    /// A congestion control of media that hopcast has, or that a program has added.
    fn media_congestion(&mut self, index: &str, keys: &Rtp) -> MediaCongestion {
        let none = MediaCongestion::BuiltIn(media::Congestion::None);
        let at = |key| ["flows", index, "transport", key];
        let Rtp { congestion: name, parameters, .. } = keys;
        if let Some(kind) = media::Congestion::named(name) {
            if parameters.is_some() {
                let problem = "have no effect: this congestion control has none";
                self.report(&at("parameters"), problem, "the name of a congestion control that a program has added");
            }
            return MediaCongestion::BuiltIn(kind);
        }
        let built_in = media::Congestion::ALL.map(media::Congestion::name);
        let models = (&built_in[..], &self.source.registry.media_congestion_control);
        let paths = [&at("congestion")[..], &at("parameters")];
        let make = self.added(paths, "congestion control of media", name, parameters.as_ref(), models);
        make.map_or(none, |make| MediaCongestion::Custom(CustomMediaCongestionControl { name: name.clone(), make }))
    }

    fn tcp(&mut self, index: &str, keys: Tcp, mtu: Option<u32>) -> model::Tcp {
        let source = "default: radio.mtu less 40 B (RFC 9293, section 3.7.1)";
        let segment = self.segment(index, keys.segment, mtu, IP_AND_TCP, source);
        if keys.window.is_some_and(|window| f64::from(window) * f64::from(segment) > MAX_TCP_WINDOW) {
            let problem = format!("in segments of {segment} B exceeds the largest window of TCP");
            let expected = "at most 1 GiB in all (RFC 7323, section 2.3)";
            self.report(&["flows", index, "transport", "window"], problem, expected);
        }
        model::Tcp {
            segment,
            window: keys.window,
            initial_window: keys.initial_window,
            min_rto: keys.min_rto.into(),
            delayed_ack: keys.delayed_ack.into(),
            variant: keys.variant.into(),
            congestion: keys.congestion.and_then(|custom| self.congestion_control(index, custom)),
            timestamps: keys.timestamps,
            ecn: keys.ecn,
            elfn: keys.elfn,
            deadline: keys.deadline.into(),
        }
    }

    /// A custom congestion control that a program has added.
    fn congestion_control(&mut self, index: &str, custom: Custom) -> Option<CustomCongestionControl> {
        let models = &self.source.registry.congestion_control;
        let make = self.custom(&["flows", index, "transport", "congestion"], "congestion control", &custom, models)?;
        Some(CustomCongestionControl { name: custom.name, make })
    }
}
