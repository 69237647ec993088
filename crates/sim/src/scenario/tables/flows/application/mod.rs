//! Applications: `flows.application`. One file a kind, and [`Kinds`] is the list of them.

mod adu;
mod audio;
mod bulk;
mod cbr;
mod codec;
mod custom;
mod file;
mod game;
mod video_trace;

use schemars::JsonSchema;
use serde::Deserialize;

use super::super::Resolver;
use super::super::custom::Custom;
use super::Carrier;
use super::transport::WITHOUT_MTU;
use crate::scenario::model;
use crate::scenario::quantity::Size;
use crate::scenario::traces::Traces;

/// IPv4 header (RFC 791, section 3.1) and UDP header (RFC 768).
const IP_AND_UDP: u32 = 28;

/// Payload of the largest DCCP packet: an IP datagram of 65535 B less 20 B, and 1020 B of the longest header (RFC 4340,
/// section 5.1).
const MAX_DCCP_PAYLOAD: f64 = 64_495.0;

/// Payload of the largest UDP datagram: 65535 B of IP datagram (RFC 791, section 3.1) less the headers.
const MAX_UDP_PAYLOAD: f64 = 65_507.0;

/// Packets per second beyond which no radio of the standard could send a single one of them.
const MAX_PACKET_RATE: f64 = 1e6;

/// Default of `packet`.
const PACKET: &str =
    "`radio.mtu` less 28 B, 1472 B if there is no MTU (UDP); 12 or 20 B less than that (RTP); the segment (others)";

/// Data that the application sends.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(tag = "kind", deny_unknown_fields)]
pub(super) enum Kinds {
    Bulk(bulk::Keys),
    Adu(adu::Keys),
    Cbr(cbr::Keys),
    Codec(codec::Keys),
    Audio(audio::Keys),
    Game(game::Keys),
    File(file::Keys),
    VideoTrace(video_trace::Keys),
    Custom(Custom),
}

/// The keys of an application.
trait Application {
    /// The application with these keys; reports what is wrong with them, and then returns `None`.
    fn resolve(self, resolver: &mut Resolver<'_>, flow: &mut Flow<'_, '_>) -> Option<model::Application>;
}

/// The flow that the application belongs to.
struct Flow<'a, 't> {
    index: &'a str,
    carrier: Carrier<'a>,
    traces: &'a mut Traces<'t>,
}

impl<'a> Flow<'a, '_> {
    /// Path of a key of the application.
    fn at(&self, key: &'a str) -> [&'a str; 4] {
        ["flows", self.index, "application", key]
    }
}

impl Resolver<'_> {
    pub(super) fn application(
        &mut self,
        index: &str,
        application: Kinds,
        carrier: Carrier<'_>,
        traces: &mut Traces<'_>,
    ) -> Option<model::Application> {
        let flow = &mut Flow { index, carrier, traces };
        match application {
            Kinds::Bulk(keys) => keys.resolve(self, flow),
            Kinds::Adu(keys) => keys.resolve(self, flow),
            Kinds::Cbr(keys) => keys.resolve(self, flow),
            Kinds::Codec(keys) => keys.resolve(self, flow),
            Kinds::Audio(keys) => keys.resolve(self, flow),
            Kinds::Game(keys) => keys.resolve(self, flow),
            Kinds::File(keys) => keys.resolve(self, flow),
            Kinds::VideoTrace(keys) => keys.resolve(self, flow),
            Kinds::Custom(keys) => keys.resolve(self, flow),
        }
    }

    /// The payload of a packet in bytes.
    fn packet(&mut self, flow: &Flow<'_, '_>, given: Option<Size>) -> u32 {
        let carrier = flow.carrier;
        let packet = self.ledger.pick(&flow.at("packet"), given, || {
            let (room, source) = match carrier.transport {
                model::Transport::Tcp(tcp) => (tcp.segment, "default: the segment"),
                model::Transport::Dccp(dccp) => (dccp.congestion.tfrc().segment, "default: the segment"),
                model::Transport::Udp => match carrier.mtu {
                    Some(mtu) => (mtu - IP_AND_UDP, "default: radio.mtu less 28 B of headers"),
                    None => (WITHOUT_MTU - IP_AND_UDP, "default: value for an MTU of 1500 B"),
                },
                model::Transport::Rtp(rtp) => {
                    let headers = IP_AND_UDP + rtp.largest_header();
                    match carrier.mtu {
                        Some(mtu) => (mtu - headers, "default: radio.mtu less the headers of IP, UDP and RTP"),
                        None => (WITHOUT_MTU - headers, "default: value for an MTU of 1500 B"),
                    }
                }
            };
            match carrier.overhead {
                0 => (Size::from(room), source.into()),
                overhead => {
                    let room = room.saturating_sub(overhead).max(1);
                    (Size::from(room), format!("{source}, and {overhead} B of FEC"))
                }
            }
        });
        self.check_datagram(flow, "packet", packet.0);
        packet.0 as u32
    }

    /// Reports a rate of packets of this size that no radio could send, in packets per second.
    fn check_packet_rate(&mut self, flow: &Flow<'_, '_>, packet_rate: f64, packet: u32) {
        if packet_rate > MAX_PACKET_RATE {
            let problem = format!("means {packet_rate:.3e} packets of {packet} B per second");
            self.report(&flow.at("rate"), problem, "at most a million packets per second");
        }
    }

    /// Reports a write of `octets` that does not fit in one datagram of the transport.
    fn check_datagram(&mut self, flow: &Flow<'_, '_>, key: &str, octets: f64) {
        let carrier = flow.carrier;
        let (name, most) = match carrier.transport {
            model::Transport::Tcp(_) => return,
            model::Transport::Udp => ("UDP datagram", MAX_UDP_PAYLOAD),
            model::Transport::Dccp(_) => ("DCCP packet", MAX_DCCP_PAYLOAD),
            model::Transport::Rtp(rtp) => ("packet of RTP", MAX_UDP_PAYLOAD - f64::from(rtp.largest_header())),
        };
        let most = most - f64::from(carrier.overhead);
        if octets > most {
            let beside = if carrier.overhead > 0 { " with FEC" } else { "" };
            let problem = format!("is more than a {name} holds{beside}");
            self.report(&flow.at(key), problem, format!("at most {most} B"));
        }
    }
}
