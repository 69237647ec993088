//! `kind = "audio"`.

use hopcast_protocols::application::AudioSource;
use schemars::JsonSchema;
use serde::Deserialize;

use super::super::super::Resolver;
use super::{Application, Flow, MAX_UDP_PAYLOAD};
use crate::scenario::declare::{computed, is};
use crate::scenario::model;
use crate::scenario::quantity::{Rate, Size, Time, TimeOrOff};

/// Payload rate of PCMU in bit/s, and the interval of its packets in seconds (RFC 3551, sections 4.5.14 and 4.2).
const AUDIO_RATE: f64 = 64_000.0;
/// See [`AUDIO_RATE`].
const AUDIO_INTERVAL: f64 = 0.02;

/// Voice packets at even intervals; writes do not block. Two of rate, packet and interval determine the third.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
pub(in super::super) struct Keys {
    /// Payload rate.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1e12, "x-default" = computed("64 kb/s, or what `packet` and `interval` give")))]
    rate: Option<Rate>,
    /// Payload of one packet.
    #[schemars(extend("minimum" = 1, "maximum" = 65_507, "x-default" = computed("what `rate` gives in an `interval`, up to whole bytes")))]
    packet: Option<Size>,
    /// Time between two packets.
    #[schemars(extend("minimum" = 1e-6, "maximum" = 1000, "x-default" = computed("20 ms, or what `rate` and `packet` give")))]
    interval: Option<Time>,
    /// Lifetime of a packet, counted from when the application writes it; any node that holds an expired packet drops it.
    /// Over UDP only.
    #[schemars(extend("minimum" = 1e-9, "maximum" = 1000, "x-default" = is("off", "packets do not expire")))]
    deadline: TimeOrOff,
}

/// Rate in bit/s, packet in bytes and interval in seconds, of which two determine the third.
#[derive(Clone, Copy)]
struct Voice {
    rate: f64,
    packet: f64,
    interval: f64,
}

impl Application for Keys {
    fn resolve(self, resolver: &mut Resolver<'_>, flow: &mut Flow<'_, '_>) -> Option<model::Application> {
        let voice @ Voice { rate, packet, interval } = self.voice(resolver, flow);
        self.note_voice(resolver, flow, voice);
        resolver.check_packet_rate(flow, 1.0 / interval, packet as u32);
        if self.deadline.0.is_some() && *flow.carrier.transport != model::Transport::Udp {
            resolver.report(&flow.at("deadline"), "works over UDP only", "transport.protocol = \"udp\"");
        }
        resolver.check_datagram(flow, "packet", packet);
        let (packet, deadline) = (packet as u32, self.deadline.into());
        Some(model::Application::new(move |start, _| AudioSource::new(start, rate, packet, deadline)))
    }
}

impl Keys {
    /// The values that were given, and those that follow from them. Reports contradictions.
    fn voice(&self, resolver: &mut Resolver<'_>, flow: &Flow<'_, '_>) -> Voice {
        // What exceeds a whole number by the rounding of the product does not make another byte.
        let mut in_packet = |rate: f64, interval: f64| {
            let octets = libm::ceil(rate * interval / 8.0 * (1.0 - 1e-12)).max(1.0);
            if octets > MAX_UDP_PAYLOAD {
                let problem = format!("is more than a packet of {MAX_UDP_PAYLOAD} B each {} carries", Time(interval));
                resolver.report(&flow.at("rate"), problem, "a lower rate, or a shorter interval");
                return None;
            }
            Some(octets)
        };
        let (rate, packet, interval) = (self.rate.map(|r| r.0), self.packet.map(|p| p.0), self.interval.map(|i| i.0));
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
                    resolver.report(&flow.at("packet"), problem, format!("{octets} B"));
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

    /// Notes the values in force.
    fn note_voice(&self, resolver: &mut Resolver<'_>, flow: &Flow<'_, '_>, voice: Voice) {
        let Voice { rate, packet, interval } = voice;
        let ledger = &mut resolver.ledger;
        let computed = |source: &str| format!("default: {source}");
        let exactly = self.rate.filter(|given| libm::fabs(rate / given.0 - 1.0) < 1e-9);
        ledger.pick(&flow.at("rate"), exactly, || match *self {
            Self { rate: Some(given), .. } => (Rate(rate), format!("{given} in whole bytes each {}", Time(interval))),
            Self { packet: Some(_), interval: Some(_), .. } => (Rate(rate), computed("packet / interval")),
            _ => (Rate(rate), computed("PCMU (RFC 3551, section 4.5.14)")),
        });
        ledger.pick(&flow.at("packet"), self.packet, || (Size(packet), computed("rate x interval, up to whole bytes")));
        ledger.pick(&flow.at("interval"), self.interval, || match self.packet {
            Some(_) => (Time(interval), computed("packet / rate")),
            None => (Time(interval), computed("20 ms (RFC 3551, section 4.2)")),
        });
    }
}
