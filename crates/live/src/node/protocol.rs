//! The protocols that a node can run.

use std::net::Ipv4Addr;

use hopcast_protocols::random::{Purpose, Stream};
use hopcast_protocols::routing::aodv::{self, Aodv};
use hopcast_protocols::routing::dsdv::{self, Dsdv};
use hopcast_protocols::routing::olsr::{self, Olsr};
use hopcast_protocols::routing::{Encapsulation, Node, Routing};
use hopcast_protocols::time::{Duration, Instant};
use hopcast_sim::registry::{MakeRouting, Registry};
use hopcast_wire as wire;
use serde_json::{Map, Value};

/// A routing protocol, with its parameters: of a built-in one those of its document.
#[derive(Clone)]
pub(super) enum Protocol {
    /// AODV (RFC 3561).
    Aodv,
    /// DSDV (Perkins and Bhagwat, 1994).
    Dsdv,
    /// OLSR (RFC 3626).
    Olsr,
    /// One of the program's or of the user's.
    Custom {
        /// As the registry calls it.
        name: &'static str,
        /// Makes the machine of a node.
        make: MakeRouting,
    },
}

/// Of OLSR, how long calculated routes stay as they are for each tuple that messages have told of: ten times what a calculation takes for
/// each on a core of 2 to 3 GHz, which is 0.28 µs. So messages of strangers can't make it take more than a tenth of a core. For the 65 536 links
/// that a router remembers this is 0.2 s, for the few hundred of a network of 100 nodes 1 ms.
const CALCULATION_PAUSE: Duration = Duration::from_micros(3);

/// The built-in ones.
const BUILT_IN: [Protocol; 3] = [Protocol::Aodv, Protocol::Dsdv, Protocol::Olsr];

impl Protocol {
    /// The protocol of this name, with these parameters, which are those of an inline table of TOML; or what is wrong.
    pub(super) fn find(name: &str, parameters: Option<&str>, registry: &Registry) -> Result<Self, String> {
        if let Some(protocol) = BUILT_IN.iter().find(|protocol| protocol.name() == name) {
            return match parameters {
                None => Ok(protocol.clone()),
                Some(_) => Err(format!("--parameters: \"{name}\" takes none; custom protocols do")),
            };
        }
        let parameters = parameters.map_or(Ok(Map::new()), table)?;
        let Some(made) = registry.routing(name, parameters) else {
            let quoted = |name: &str| format!("\"{name}\"");
            let built_in = BUILT_IN.iter().map(Self::name).map(quoted);
            let known: Vec<String> = built_in.chain(registry.routing_names().map(quoted)).collect();
            return Err(format!(
                "--protocol {name}: there is no such routing protocol; there are {}",
                known.join(", ")
            ));
        };
        let make = made.map_err(|problem| format!("--parameters: {problem}"))?;
        // There is one for as long as the program runs.
        let protocol = Self::Custom { name: String::leak(name.to_owned()), make };
        let specimen = protocol.start(Ipv4Addr::LOCALHOST, 1, 0, 1500, false);
        match specimen.encapsulation() {
            Encapsulation::Udp { .. } => Ok(protocol),
            _ => Err(format!("--protocol {name}: its messages don't travel in UDP; on real interfaces they have to")),
        }
    }

    /// Its name, as on the command line.
    pub(super) const fn name(&self) -> &'static str {
        match self {
            Self::Aodv => "aodv",
            Self::Dsdv => "dsdv",
            Self::Olsr => "olsr",
            Self::Custom { name, .. } => name,
        }
    }

    /// A machine for the node with this address, on interfaces of this number whose packets have at most `mtu` bytes. If
    /// others may still have routes over an earlier life of this node, `was_before`.
    ///
    /// Frames that are lost are noticed by the kernel's neighbour discovery alone, which takes seconds: so links are watched by
    /// hellos, too.
    pub(super) fn start(
        &self,
        address: Ipv4Addr,
        interfaces: u32,
        seed: u64,
        mtu: u32,
        was_before: bool,
    ) -> Box<dyn Routing> {
        let random = Stream::new(seed, Purpose::Routing, u64::from(address.to_bits()), 0);
        let node = Node { address, interfaces, random };
        let now = Instant::START;
        match self {
            Self::Aodv if was_before => Box::new(Aodv::after_reboot(aodv::Config::rfc3561(), node, now)),
            Self::Aodv => Box::new(Aodv::new(aodv::Config::rfc3561(), node, now)),
            Self::Dsdv => Box::new(Dsdv::new(dsdv::Config { mtu, ..dsdv::Config::default() }, node)),
            Self::Olsr => {
                let config = olsr::Config { mtu, calculation_pause: CALCULATION_PAUSE, ..olsr::Config::default() };
                Box::new(Olsr::new(config, node))
            }
            Self::Custom { make, .. } => make(node),
        }
    }

    /// How long a node that was there before says nothing (RFC 3561, section 6.13). The others begin at once: OLSR goes by links, which
    /// are heard again; DSDV may loop until the others' next numbers have come, a third as long as it would have to be silent; of a
    /// custom one nothing is known.
    pub(super) fn silence(&self) -> Option<Duration> {
        matches!(self, Self::Aodv).then(|| aodv::Config::rfc3561().delete_period())
    }

    /// What tells whether a datagram is a message of it; a custom one looks itself.
    pub(super) fn is_wellformed(&self) -> fn(&[u8]) -> bool {
        match self {
            Self::Aodv => |octets| wire::aodv::Repr::parse(octets).is_ok(),
            Self::Dsdv => |octets| wire::dsdv::Packet::new_checked(octets).is_ok(),
            Self::Olsr => |octets| wire::olsr::Packet::new_checked(octets).is_ok(),
            Self::Custom { .. } => |_| true,
        }
    }
}

/// The parameters that an inline table of TOML gives.
fn table(text: &str) -> Result<Map<String, Value>, String> {
    let wrong = |problem: String| format!("--parameters: {problem}; expected a table as {{ interval = 0.5 }}");
    let value: toml::Table =
        format!("parameters = {text}").parse().map_err(|error: toml::de::Error| wrong(error.message().to_owned()))?;
    match serde_json::to_value(&value["parameters"]) {
        Ok(Value::Object(parameters)) if value.len() == 1 => Ok(parameters),
        _ => Err(wrong("is no table".into())),
    }
}

#[cfg(test)]
mod tests {
    use hopcast_protocols::routing::dsr::{self, Dsr};
    use hopcast_protocols::routing::{NextHop, Packet};
    use hopcast_wire::olsr::hello::{LinkCode, LinkType, NeighbourType};
    use hopcast_wire::olsr::{MessageRepr, MessageType, TimeCode, hello, tc};
    use serde::Deserialize;

    use super::*;

    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Config {
        mtu: u32,
    }

    fn registry() -> Registry {
        let mut registry = Registry::default();
        registry.add_routing("mine", |node, config: &Config| {
            Olsr::new(olsr::Config { mtu: config.mtu, ..olsr::Config::default() }, node)
        });
        registry.add_routing("headers", |node, _: &serde::de::IgnoredAny| Dsr::new(node, dsr::Config::default()));
        registry
    }

    fn told(name: &str, parameters: Option<&str>) -> String {
        Protocol::find(name, parameters, &registry()).err().expect("it is refused")
    }

    #[test]
    fn finds_built_in_and_custom_protocols() {
        for (name, parameters) in [("aodv", None), ("dsdv", None), ("olsr", None), ("mine", Some("{ mtu = 900 }"))] {
            let protocol = Protocol::find(name, parameters, &registry()).expect("there is one");
            assert_eq!(protocol.name(), name);
            assert_eq!(protocol.silence().is_some(), name == "aodv");
        }
    }

    /// A message of OLSR in a packet.
    fn message(kind: MessageType, originator: Ipv4Addr, sequence: u16, body: &[u8]) -> Vec<u8> {
        let validity = TimeCode::from_nanos(15_000_000_000);
        let body_len = u16::try_from(body.len()).expect("it is short");
        let header = MessageRepr { kind, validity, originator, time_to_live: 255, hop_count: 0, sequence, body_len };
        let mut octets = vec![0; wire::olsr::HEADER_LEN];
        header.push(&mut octets, body);
        let payload_len = u16::try_from(header.buffer_len() + body.len()).expect("it is short");
        let repr = wire::olsr::Repr { sequence, payload_len };
        repr.emit(&mut wire::olsr::Packet::new_unchecked(&mut octets));
        octets
    }

    #[test]
    fn forged_links_make_olsr_calculate_routes_a_few_times_a_second_only() {
        let own = Ipv4Addr::new(10, 0, 0, 1);
        let mut machine = Protocol::Olsr.start(own, 1, 7, 1500, false);
        let from = NextHop { interface: 0, address: Ipv4Addr::new(10, 0, 0, 2) };
        let hear = |machine: &mut Box<dyn Routing>, octets: &[u8], now| {
            machine.handle_message(&Packet::message(from, Ipv4Addr::BROADCAST, 1, octets), now);
            while machine.poll_output().is_some() {}
        };
        // 182 nodes that are not there, with 330 links each.
        let origins: Vec<Ipv4Addr> = (0..182).map(|nth| Ipv4Addr::from_bits(0x0b00_0000 + 1024 * nth)).collect();
        let code = LinkCode { link: LinkType::Symmetric, neighbour: NeighbourType::Symmetric };
        let links = vec![(code, [&[own], &origins[..]].concat())];
        let hello = hello::Repr { interval: TimeCode::from_nanos(2_000_000_000), willingness: 3, links };
        let mut body = vec![0; hello.buffer_len()];
        hello.emit(&mut body);
        hear(&mut machine, &message(MessageType::Hello, from.address, 0, &body), Instant::START);
        let change = |origin: Ipv4Addr, ansn: u16, count: u32| {
            let neighbours = (1..=count).map(|nth| Ipv4Addr::from_bits(origin.to_bits() + nth + u32::from(ansn % 2)));
            let repr = tc::Repr { ansn, neighbours: neighbours.collect() };
            let mut body = vec![0; repr.buffer_len()];
            repr.emit(&mut body);
            message(MessageType::Tc, origin, ansn, &body)
        };
        for &origin in &origins {
            hear(&mut machine, &change(origin, 1, 330), Instant::START);
        }
        let second = Duration::from_secs(1);
        let mut versions = std::collections::BTreeSet::new();
        for number in 0..150_u16 {
            let now = Instant::START + second + second * u64::from(number) / 150;
            hear(&mut machine, &change(origins[0], 2 + number, 5), now);
            // What the daemon does after each message.
            versions.insert(machine.routes_version(now).expect("OLSR counts"));
        }
        assert!((4..=7).contains(&versions.len()), "{} calculations in a second", versions.len());
        assert!(machine.routes(Instant::START + second).len() > 59_000);
    }

    #[test]
    fn refuses_what_no_node_can_run() {
        assert!(told("tree", None).contains("there are \"aodv\", \"dsdv\", \"olsr\", \"headers\", \"mine\""));
        assert!(told("headers", None).contains("don't travel in UDP"));
        assert!(told("aodv", Some("{}")).contains("\"aodv\" takes none"));
        assert!(told("mine", None).contains("mtu"));
        assert!(told("mine", Some("{ mtu = 900, more = 1 }")).contains("more"));
        for wrong in ["", "3", "{ mtu = }", "{ mtu = 1 }\nx = 2", "[1]"] {
            assert!(told("mine", Some(wrong)).contains("expected a table"), "{wrong}");
        }
    }
}
