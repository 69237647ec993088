//! Traffic: the hosts of a scenario with the programs that create, forward and receive its flows.

mod cloud;
mod flows;

use crate::address::ip_address;
use crate::host::packet::MAX_UDP_PAYLOAD;
use crate::host::{Host, HostConfig, Listener, MAX_SOCKETS, Router, Routes};
use crate::id::{FlowId, NodeId};
use crate::layout;
use crate::metrics::{FlowSpec, FlowTable, PlayerSpec};
use crate::network::Network;
use crate::paths::Paths;
use crate::scenario::ScenarioError;
use crate::scenario::model::{self, Dccp, Flow, Group, Relay, Routing, Scenario, Transport};
use crate::scenario::quantity::Time;
use crate::topology::USABLE_LOSS;
pub(crate) use cloud::{in_blocks, numbers};
use flows::FlowSetup;
use hopcast_protocols::random::{Purpose, Stream};
use hopcast_protocols::routing::{self, Encapsulation};
use hopcast_protocols::time::Instant;
use hopcast_protocols::transport::dccp::Congestion;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The hosts of a scenario, by [`NodeId`], and the measurements of its flows.
#[derive(Debug)]
pub(crate) struct Machines {
    /// One host for each node.
    pub hosts: Vec<Host>,
    /// All flows, before their start.
    pub flows: FlowTable,
    /// Warnings about the paths of the flows.
    pub warnings: Vec<String>,
    /// Listening ends of flows between simulated and real hosts.
    pub listeners: Vec<Listener>,
}

/// Kind of hosts at the nodes that are marked as real.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hosting {
    /// A simulated host, as at all others.
    Simulated,
    /// A real one.
    Real,
}

/// Reason why a scenario's flows can't be set up.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TrafficError {
    /// No radio or wire could ever connect the nodes, or the flow has two ends at one node.
    #[error("flow \"{flow}\": no path leads from {from} to {to}")]
    Unreachable {
        /// Name of the flow.
        flow: String,
        /// Name of the node where the path begins.
        from: String,
        /// Name of the node that it does not reach.
        to: String,
    },
    /// The paths of two flows to one node differ after a host, which sends all packets for that node the same way.
    #[error(transparent)]
    WaysPart(Box<WaysPart>),
    /// A routing protocol chooses the path, so `via` can't lead it through a node that forwards by its operating system.
    #[error("flow \"{flow}\": {node} passes packets on as its routing protocol says, not as `via` does")]
    ViaUnderRouting {
        /// Name of the flow.
        flow: String,
        /// Name of the node.
        node: String,
    },
    /// A datagram does not fit into the length fields of IPv4 and UDP.
    #[error("flow \"{flow}\": a datagram of {octets} B; UDP over IPv4 carries up to {MAX_UDP_PAYLOAD} B")]
    DatagramTooLarge {
        /// Name of the flow.
        flow: String,
        /// Its size in bytes.
        octets: u32,
    },
    /// A routing protocol listens at the port of a flow.
    #[error("flow \"{flow}\": the routing protocol of {node} has UDP port {port}")]
    PortTaken {
        /// Name of the flow.
        flow: String,
        /// Name of the node where it ends.
        node: String,
        /// The port that it asks for.
        port: u16,
    },
    /// Too many flows at one node: another one might need two sockets, which the node does not have.
    #[error("node {node}: more than {MAX_SOCKETS} sockets")]
    TooManySockets {
        /// Name of the node.
        node: String,
    },
}

/// The place where the ways of two flows part.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "flow \"{flow}\": its way leads packets for {to} from {node} to {wanted}, that of flow \"{other}\" from there to {taken}"
)]
pub struct WaysPart {
    /// Name of the later flow.
    pub flow: String,
    /// Name of the earlier flow.
    pub other: String,
    /// Name of the node with the table.
    pub node: String,
    /// Name of the destination.
    pub to: String,
    /// Name of the next node that the later flow wants.
    pub wanted: String,
    /// Name of the next node of the earlier flow.
    pub taken: String,
}

impl TrafficError {
    /// The same as an error of the scenario in `file`, with the key to change.
    pub fn in_file(&self, file: &str) -> ScenarioError {
        let (field, problem, expected) = match self {
            Self::Unreachable { flow, from, to } => (
                format!("flows.{flow}.to"),
                format!("no path leads from {from} to {to}"),
                Some("nodes with a channel, an access point or a link in common, or others between them"),
            ),
            Self::WaysPart(part) => (
                format!("flows.{}.via", part.flow),
                format!(
                    "leads packets for {} from {} to {}, but the way of flow \"{}\" leads them from there to {}",
                    part.to, part.node, part.wanted, part.other, part.taken
                ),
                Some("one way from each node to each destination, or nodes.relay = \"application\""),
            ),
            Self::ViaUnderRouting { flow, node } => (
                format!("flows.{flow}.via"),
                format!("leads through {node}, where a routing protocol chooses the way"),
                Some("nodes with relay = \"application\", or routing.protocol = \"static\""),
            ),
            Self::DatagramTooLarge { flow, octets } => (
                format!("flows.{flow}.application"),
                format!("has datagrams of {octets} B, more than UDP over IPv4 carries"),
                Some("at most 65507 B"),
            ),
            Self::PortTaken { flow, node, port } => (
                format!("flows.{flow}.port"),
                format!("UDP port {port} of {node} is that of its routing protocol"),
                Some("another port"),
            ),
            Self::TooManySockets { .. } => ("flows".into(), self.to_string(), None),
        };
        ScenarioError {
            file: file.into(),
            line: None,
            field,
            value: None,
            problem,
            expected: expected.map(str::to_owned),
        }
    }
}

/// Sets up the hosts of `scenario`, which forward packets along the paths of `network`, or of the flows' `via`, for a run
/// with `seed`.
pub(crate) fn machines(
    scenario: &Scenario,
    network: &Network,
    seed: u64,
    hosting: Hosting,
) -> Result<Machines, TrafficError> {
    let routes = &network.paths;
    let nodes = Nodes {
        groups: scenario.groups.iter().flat_map(|g| g.node_names.iter().map(move |_| g)).collect(),
        names: scenario.groups.iter().flat_map(|g| g.node_names.iter().map(String::as_str)).collect(),
    };
    for flow in &scenario.flows {
        let stops: Vec<NodeId> = flow.stops().collect();
        // Without radio and wire a node sends and receives nothing, whatever its routing protocol.
        if let Some(leg) = stops.windows(2).find(|leg| leg.iter().any(|&node| network.interfaces(node).is_empty())) {
            return Err(nodes.unreachable(flow, leg[0].0, leg[1].0));
        }
    }
    let paths: Vec<Path> =
        scenario.flows.iter().map(|flow| Path::new(flow, &nodes, routes)).collect::<Result<_, _>>()?;
    let tables = forwarding_tables(scenario, &paths, &nodes, network)?;
    let neighbours = Arc::new(layout::neighbours(scenario));
    let mut hosts: Vec<Host> = nodes
        .groups
        .iter()
        .zip(tables)
        .zip(0_u32..)
        .map(|((group, next_hops), node)| {
            let node = NodeId(node);
            let config = HostConfig {
                interfaces: network.interfaces(node).to_vec(),
                radios: neighbours.radios(node).collect(),
                hardware: neighbours.hardware(node).collect(),
                arp: group.arp,
                socket_buffer: group.socket_buffer,
                hold_threshold: group.hold_threshold,
                seed,
            };
            let mut host = match &group.routing {
                Routing::Static => Host::new(node, config, network.table(node, &next_hops)),
                Routing::None => Host::new(node, config, Routes::default()),
                Routing::Protocol(protocol) => {
                    let random = Stream::new(seed, Purpose::Routing, u64::from(node.0), 0);
                    let interfaces = config.interfaces.len() as u32;
                    let machine = (protocol.make)(routing::Node { address: ip_address(node), interfaces, random });
                    let mut host = Host::new(node, config, Routes::default());
                    host.set_router(Router::new(machine, Arc::clone(&neighbours), group.route_queue));
                    host
                }
            };
            if group.is_real && hosting == Hosting::Real {
                host.set_real();
            }
            host
        })
        .collect();
    reserve_ports(scenario, &nodes, &mut hosts)?;
    let mut listeners = Vec::new();
    for ((flow, path), id) in scenario.flows.iter().zip(&paths).zip(0_u32..) {
        let stops = path.stops();
        if let Some(node) = stops.iter().find(|&&node| !hosts[node as usize].has_room_for_sockets(2)) {
            return Err(TrafficError::TooManySockets { node: nodes.name(*node) });
        }
        if flow.transport.is_two_way() {
            // Acknowledgements need a way back, over each leg.
            for leg in stops.windows(2).filter(|leg| !nodes.is_routed(leg[1])) {
                if routes.path(leg[1], leg[0]).is_none() {
                    return Err(nodes.unreachable(flow, leg[1], leg[0]));
                }
            }
        }
        let buffers: Vec<u32> = stops.iter().map(|&node| nodes.groups[node as usize].socket_buffer).collect();
        listeners.extend(FlowSetup { id: FlowId(id), flow, seed, stops: &stops, buffers }.add(&mut hosts)?);
    }
    for (flow, id) in scenario.flows.iter().zip(0_u32..) {
        if let Some(heard) = flow.listens_to {
            hosts[flow.from.0 as usize].set_listening(FlowId(id), FlowId(heard as u32));
        }
    }
    let end = Instant::START + scenario.duration;
    if let Some(cloud) = &scenario.cloud {
        cloud::add(cloud, &mut hosts, network, &neighbours, seed, end);
    }
    let spec = |((flow, path), id): ((&Flow, &Path), u32)| FlowSpec {
        priority: flow.priority,
        start: flow.start,
        stop: flow.stop,
        end,
        player: flow.player.and_then(|player| match player {
            model::Player::Waiting(config) => {
                let timeline = flows::application(flow, FlowId(id), seed).timeline()?;
                Some(PlayerSpec::Waiting { config, timeline })
            }
            model::Player::Live(config) => Some(PlayerSpec::Live(config)),
        }),
        // What a real host gets is not counted on its way.
        ends: Some([flow.from, flow.to]).filter(|ends| ends.iter().all(|node| !hosts[node.0 as usize].is_real())),
        // Over several connections nobody could say which of them lost a packet.
        is_monitored: is_adtfrc(flow) && path.legs.len() == 1,
        is_protected: flow.fec.is_some(),
        is_media: matches!(flow.transport, Transport::Rtp(_)),
    };
    let specs = scenario.flows.iter().zip(&paths).zip(0..).map(spec);
    let flows = FlowTable::new(specs);
    let lossy = scenario.flows.iter().filter_map(|flow| Path::warning(flow, &nodes, routes));
    let late = scenario.flows.iter().filter(|flow| flow.start >= end).map(|flow| {
        let [start, end] = [flow.start, end].map(|at| Time(at.as_secs_f64()));
        format!("flow \"{}\": nothing is sent; it starts at {start}, and the run ends at {end}", flow.name)
    });
    let untold = scenario.flows.iter().filter(|flow| is_elfn(flow) && !nodes.is_routed(flow.from.0)).map(|flow| {
        format!(
            "flow \"{}\": elfn does nothing; the routes of {} are static, and never break",
            flow.name,
            nodes.name(flow.from.0)
        )
    });
    Ok(Machines { hosts, flows, warnings: lossy.chain(late).chain(untold).collect(), listeners })
}

/// Keeps the ports that flows ask for free.
fn reserve_ports(scenario: &Scenario, nodes: &Nodes<'_>, hosts: &mut [Host]) -> Result<(), TrafficError> {
    for flow in &scenario.flows {
        let Some(port) = flow.port else { continue };
        let host = &mut hosts[flow.to.0 as usize];
        let of_routing = host.router().map(|router| router.protocol().encapsulation());
        if flow.transport.name() == "UDP" && of_routing == Some(Encapsulation::Udp { port }) {
            return Err(TrafficError::PortTaken { flow: flow.name.clone(), node: nodes.name(flow.to.0), port });
        }
        host.reserve_port(port);
    }
    Ok(())
}

/// Whether a flow uses ADTFRC.
pub(crate) fn is_adtfrc(flow: &Flow) -> bool {
    matches!(flow.transport, Transport::Dccp(Dccp { congestion: Congestion::Adtfrc(_) }))
}

/// Size limit of the writes of a flow's application, in bytes.
pub fn largest_write(flow: &Flow) -> u32 {
    flows::application(flow, FlowId::NONE, 0).largest_write()
}

fn is_elfn(flow: &Flow) -> bool {
    matches!(&flow.transport, Transport::Tcp(tcp) if tcp.elfn)
}

/// The nodes of a scenario, by [`NodeId`].
struct Nodes<'a> {
    groups: Vec<&'a Group>,
    names: Vec<&'a str>,
}

impl Nodes<'_> {
    fn name(&self, node: u32) -> String {
        self.names.get(node as usize).map_or_else(|| format!("{node}"), |name| (*name).to_owned())
    }

    /// Whether something else than the paths of the network decides about the ways of a node's packets.
    fn is_routed(&self, node: u32) -> bool {
        !matches!(self.groups[node as usize].routing, Routing::Static)
    }

    fn unreachable(&self, flow: &Flow, from: u32, to: u32) -> TrafficError {
        TrafficError::Unreachable { flow: flow.name.clone(), from: self.name(from), to: self.name(to) }
    }
}

/// The way of a flow.
struct Path {
    /// Parts of the way that begin and end with a program; each is all nodes from one to the next.
    legs: Vec<Vec<u32>>,
}

impl Path {
    /// The shortest way over the nodes that the flow names, cut where applications pass it on.
    fn new(flow: &Flow, nodes: &Nodes<'_>, routes: &Paths) -> Result<Self, TrafficError> {
        if nodes.is_routed(flow.from.0) {
            return Self::between_programs(flow, nodes);
        }
        let mut whole = vec![flow.from.0];
        let mut at = flow.from.0;
        for next in flow.stops().skip(1) {
            let part = routes.path(at, next.0).filter(|part| part.len() > 1);
            whole.extend(part.ok_or_else(|| nodes.unreachable(flow, at, next.0))?.into_iter().skip(1));
            at = next.0;
        }
        let mut legs = vec![vec![flow.from.0]];
        for (place, &node) in whole.iter().enumerate().skip(1) {
            let leg = legs.last_mut().expect("there is always the leg that has begun");
            leg.push(node);
            let passed_on = nodes.groups[node as usize].relay == Relay::Application;
            if passed_on && place + 1 < whole.len() {
                legs.push(vec![node]);
            }
        }
        Ok(Self { legs })
    }

    /// The way of a flow whose packets go as a routing protocol says: only the programs on it are known.
    fn between_programs(flow: &Flow, nodes: &Nodes<'_>) -> Result<Self, TrafficError> {
        if let Some(node) = flow.via.iter().find(|node| nodes.groups[node.0 as usize].relay == Relay::Os) {
            return Err(TrafficError::ViaUnderRouting { flow: flow.name.clone(), node: nodes.name(node.0) });
        }
        let stops: Vec<u32> = flow.stops().map(|node| node.0).collect();
        Ok(Self { legs: stops.windows(2).map(<[u32]>::to_vec).collect() })
    }

    /// What to say of the links on a flow's way that lose much, in the direction of the data.
    fn warning(flow: &Flow, nodes: &Nodes<'_>, routes: &Paths) -> Option<String> {
        let stops: Vec<u32> = flow.stops().map(|node| node.0).collect();
        let hops = |part: &[u32]| {
            let to = part[1];
            let way = routes.path(part[0], to).unwrap_or_default();
            let lossy = way.windows(2).filter_map(|hop| {
                let loss = 1.0 - routes.detour(hop[0], to)?.success;
                let is_told = loss > USABLE_LOSS;
                is_told.then(|| format!("{} to {} loses {:.0} %", nodes.name(hop[0]), nodes.name(hop[1]), 100.0 * loss))
            });
            lossy.collect::<Vec<_>>()
        };
        let lossy: Vec<String> = stops.windows(2).filter(|part| !nodes.is_routed(part[0])).flat_map(hops).collect();
        (!lossy.is_empty()).then(|| {
            format!(
                "flow \"{}\": no path over links that lose at most a tenth of full frames; {}",
                flow.name,
                lossy.join(", ")
            )
        })
    }

    /// The nodes whose programs handle the flow, source and sink included.
    fn stops(&self) -> Vec<u32> {
        let ends = self.legs.iter().filter_map(|leg| leg.last());
        self.legs.iter().take(1).filter_map(|leg| leg.first()).chain(ends).copied().collect()
    }
}

/// By node and destination, the next hop: on the shortest path, but where a flow's `via` says otherwise.
fn forwarding_tables(
    scenario: &Scenario,
    paths: &[Path],
    nodes: &Nodes<'_>,
    network: &Network,
) -> Result<Vec<BTreeMap<u32, NodeId>>, TrafficError> {
    let routes = &network.paths;
    let count = nodes.groups.len() as u32;
    let destinations: Vec<u32> = network.destinations().collect();
    let table = |node| destinations.iter().filter_map(|&to| Some((to, NodeId(routes.next_hop(node, to)?)))).collect();
    let mut tables: Vec<BTreeMap<u32, NodeId>> =
        (0..count).map(|node| if nodes.is_routed(node) { BTreeMap::new() } else { table(node) }).collect();
    // By node and destination: the flow that wants it so.
    let mut claimed: BTreeMap<(u32, u32), &str> = BTreeMap::new();
    // From a node with a routing protocol only the programs of a way are known, not its hops.
    let known = |flow: &&Flow| !nodes.is_routed(flow.from.0);
    for (flow, path) in scenario.flows.iter().zip(paths).filter(|(flow, _)| known(flow)) {
        // What a `via` leads there it leads back; the shortest path back may be another one of the same length.
        let back = |leg: &Vec<u32>| match flow.via.as_slice() {
            // A lossy link may lead one way only.
            [_, ..] if leg.windows(2).all(|hop| network.has_hop(hop[1], hop[0])) => leg.iter().rev().copied().collect(),
            _ => routes.path(leg[leg.len() - 1], leg[0]).unwrap_or_default(),
        };
        let two_way = flow.transport.is_two_way();
        for leg in path.legs.iter().cloned().chain(path.legs.iter().map(back).filter(|_| two_way)) {
            let Some(&to) = leg.last() else { continue };
            for hop in leg.windows(2).filter(|hop| !nodes.is_routed(hop[0])) {
                let wanted = NodeId(hop[1]);
                let taken = tables[hop[0] as usize].insert(to, wanted);
                let claim = claimed.insert((hop[0], to), &flow.name);
                if let Some(other) = claim.filter(|_| taken != Some(wanted)) {
                    return Err(TrafficError::WaysPart(Box::new(WaysPart {
                        flow: flow.name.clone(),
                        other: other.to_owned(),
                        node: nodes.name(hop[0]),
                        to: nodes.name(to),
                        wanted: nodes.name(wanted.0),
                        taken: taken.map_or_else(String::new, |taken| nodes.name(taken.0)),
                    })));
                }
            }
        }
    }
    Ok(tables)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::Interface;
    use crate::run::Simulation;
    use crate::scenario::Source as Text;
    use hopcast_protocols::routing::fixed::ShortestPaths;

    /// Four nodes, all in range of each other, with flows as given.
    fn scenario(relay: &str, flows: &str) -> Scenario {
        let text = format!(
            r#"
            duration = "1 s"
            [radio]
            standard = "802.11a"
            [[nodes]]
            name = "n"
            count = 4
            relay = "{relay}"
            placement = {{ shape = "line", spacing = "1 m" }}
            {flows}
            "#
        );
        let source = Text { text, name: "test".into(), ..Text::default() };
        Scenario::parse(&source, &[]).expect("the scenario is right").scenario
    }

    fn flow(name: &str, to: &str, via: &[&str], protocol: &str) -> String {
        format!(
            r#"
            [[flows]]
            name = "{name}"
            from = "n0"
            to = "{to}"
            via = {via:?}
            transport = {{ protocol = "{protocol}" }}
            application = {{ kind = "bulk" }}
            "#
        )
    }

    fn tables(scenario: &Scenario) -> Result<Vec<BTreeMap<u32, NodeId>>, TrafficError> {
        let neighbours = [vec![1, 2, 3], vec![0, 2, 3], vec![0, 1, 3], vec![0, 1, 2]];
        let network = Network::of_neighbours(&neighbours, Interface { mtu: None, queue_packets: 50 });
        let nodes = Nodes { groups: vec![&scenario.groups[0]; 4], names: vec!["n0", "n1", "n2", "n3"] };
        let paths: Vec<Path> =
            scenario.flows.iter().map(|f| Path::new(f, &nodes, &network.paths)).collect::<Result<_, _>>()?;
        forwarding_tables(scenario, &paths, &nodes, &network)
    }

    #[test]
    fn applications_pass_a_flow_on_leg_by_leg() {
        let scenario = scenario("application", &flow("f", "n3", &["n1", "n2"], "udp"));
        let nodes = Nodes { groups: vec![&scenario.groups[0]; 4], names: vec![] };
        let routes = Paths::from(ShortestPaths::new(&[vec![1, 2, 3], vec![0, 2, 3], vec![0, 1, 3], vec![0, 1, 2]]));
        let path = Path::new(&scenario.flows[0], &nodes, &routes).expect("all are in range");
        assert_eq!(path.legs, [[0, 1], [1, 2], [2, 3]]);
        assert_eq!(path.stops(), [0, 1, 2, 3]);
    }

    #[test]
    fn a_port_of_a_routing_protocol_is_taken() {
        let refused = |protocol: &str, port: u16, transport: &str| {
            let flows = flow("f", "n3", &[], transport).replace("via = []", &format!("port = {port}"));
            let relay = format!("os\"\nrouting = {{ protocol = \"{protocol}\" }} #");
            Simulation::new(&scenario(&relay, &flows), 1).err()
        };
        let error = refused("aodv", 654, "udp").expect("AODV listens there");
        assert_eq!(error.to_string(), "flow \"f\": the routing protocol of n3 has UDP port 654");
        assert_eq!(
            error.in_file("a.toml").to_string(),
            "a.toml: flows.f.port: UDP port 654 of n3 is that of its routing protocol; expected another port"
        );
        for (protocol, port) in [("olsr", 698), ("dsdv", 269)] {
            assert!(refused(protocol, port, "udp").is_some(), "{protocol}");
        }
        for (protocol, port, transport) in [("aodv", 654, "tcp"), ("aodv", 698, "udp"), ("static", 654, "udp")] {
            assert_eq!(refused(protocol, port, transport), None, "{protocol} {port} {transport}");
        }
    }

    #[test]
    fn forwarding_machines_get_the_way_and_the_way_back() {
        let scenario = scenario("os", &flow("f", "n3", &["n2", "n1"], "tcp"));
        let tables = tables(&scenario).expect("one flow does not contradict itself");
        let hop = |from: usize, to: u32| tables[from].get(&to).map(|node| node.0);
        assert_eq!([hop(0, 3), hop(2, 3), hop(1, 3)], [Some(2), Some(1), Some(3)]);
        assert_eq!([hop(3, 0), hop(1, 0), hop(2, 0)], [Some(1), Some(2), Some(0)]);
        assert_eq!(hop(0, 1), Some(1), "other destinations keep their shortest paths");
    }

    #[test]
    fn without_via_the_path_is_the_shortest() {
        let scenario = scenario("application", &flow("f", "n3", &[], "udp"));
        assert_eq!(tables(&scenario).expect("all are in range")[0][&3], NodeId(3));
    }

    #[test]
    fn two_ways_to_one_node_from_one_machine_are_refused() {
        let both = |via: &[&str]| flow("f", "n3", &["n1"], "udp") + &flow("g", "n3", via, "udp");
        assert!(tables(&scenario("os", &both(&[]))).is_err(), "n0 sends what is for n3 one way");
        assert!(tables(&scenario("os", &both(&["n1"]))).is_ok());
        let error = tables(&scenario("os", &both(&["n2"]))).expect_err("as without `via`");
        assert_eq!(
            error.to_string(),
            "flow \"g\": its way leads packets for n3 from n0 to n2, that of flow \"f\" from there to n1"
        );
    }
}
