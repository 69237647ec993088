//! Plan of an emulation: real nodes, their interfaces, and their routes.

use std::net::Ipv4Addr;

use hopcast_protocols::random::{Purpose, Stream};
use hopcast_protocols::routing::{Encapsulation, Node};
use hopcast_sim::address::{ip_address, mac_address, wire_address};
use hopcast_sim::host::Neighbours;
use hopcast_sim::id::NodeId;
use hopcast_sim::layout;
use hopcast_sim::run::Simulation;
use hopcast_sim::scenario::model::{Flow, Group, Relay, Role, Routing, RoutingProtocol, Scenario, Transport};
use hopcast_wire::{MacAddress, ethernet};

/// A real host to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RealNode {
    pub(super) node: NodeId,
    pub(super) name: String,
    pub(super) address: Ipv4Addr,
    pub(super) interfaces: Vec<Interface>,
    pub(super) routes: Routes,
}

/// An interface of a real host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Interface {
    /// `wlan0`, `wlan1`, … for radios, `eth0`, `eth1`, … for wires.
    pub(super) name: String,
    pub(super) hardware: MacAddress,
    /// Largest IP packet in bytes.
    pub(super) mtu: u32,
    /// The node at the other end of a wire; `None`: a radio.
    pub(super) leads_to: Option<String>,
}

/// Where a real host sends what is for others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Routes {
    /// Along the paths of the simulator.
    Static(Vec<RouteTo>),
    /// Its programs decide.
    Programs,
    /// A routing protocol of the simulation stands before it, and takes everything.
    Simulated,
}

/// A route to one node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RouteTo {
    pub(super) destination: Ipv4Addr,
    /// The next node; `None`: it is the destination itself.
    pub(super) gateway: Option<Ipv4Addr>,
    /// Place among the interfaces of the node.
    pub(super) interface: usize,
}

/// The MTU of an interface of a real host where that of its radio or wire is unlimited.
const DEFAULT_MTU: u32 = ethernet::MTU;
/// Headers of an IPv4 packet with a UDP datagram.
const UDP_HEADERS: u32 = 28;
/// Those with a TCP segment; options take of its payload.
const TCP_HEADERS: u32 = 40;

/// Checks that `scenario` can be emulated, and leaves out of it the flows between two real hosts: those are the matter of
/// programs. Their names are returned.
pub(super) fn prepare(scenario: &mut Scenario) -> Result<Vec<String>, String> {
    let nodes: Vec<(&Group, &String)> =
        scenario.groups.iter().flat_map(|group| group.node_names.iter().map(move |name| (group, name))).collect();
    let is_real = |node: NodeId| nodes[node.0 as usize].0.is_real;
    let name = |node: NodeId| nodes[node.0 as usize].1.as_str();
    if !nodes.iter().any(|(group, _)| group.is_real) {
        return Err("no node is real; at least one needs real = true".into());
    }
    if scenario.radio.association.is_some() {
        return Err(
            "radio.association: real hosts don't associate over the air; only \"implicit\" can be emulated".into()
        );
    }
    for (group, name) in &nodes {
        let is_wired = |node: &String| {
            scenario.links.iter().flat_map(|link| link.between).any(|end| nodes[end.0 as usize].1 == node)
        };
        if group.is_real && group.role == Role::Wired && !is_wired(name) {
            return Err(format!(
                "node {name}: is real and has neither a radio nor a wire; real nodes need one of them"
            ));
        }
        if let Routing::Protocol(protocol) = &group.routing
            && !carries_as_it_is(protocol)
        {
            let problem = "puts headers of its own before data, or does without IP, which real hosts don't know";
            return Err(format!(
                "node {name}: routing protocol \"{}\" {problem}; \"static\", \"none\", \"aodv\", \"dsdv\", \"olsr\" and custom \
                 ones whose messages travel in UDP can be emulated",
                protocol.name
            ));
        }
    }
    // Of all interfaces of real nodes the smallest.
    let of_wires = scenario.links.iter().filter(|link| link.between.iter().any(|&end| is_real(end)));
    let mtu = of_wires.map(|link| link.mtu).chain([scenario.mtu]).flatten().min();
    let check = |flow: &Flow| -> Result<bool, String> {
        let relays = flow.via.iter().copied();
        let relay = relays.clone().find(|&node| is_real(node) && nodes[node.0 as usize].0.relay == Relay::Application);
        if let Some(node) = relay {
            let problem = format!("is passed on by an application at the real node {}", name(node));
            return Err(format!("flow \"{}\": {problem}; simulated ones have such applications", flow.name));
        }
        let ends = [flow.from, flow.to].map(is_real);
        if ends == [true, true] {
            return Ok(false);
        }
        if ends.contains(&true) {
            check_carried(flow, ends, mtu)?;
        }
        Ok(true)
    };
    let kept: Vec<bool> = scenario.flows.iter().map(check).collect::<Result<_, _>>()?;
    let mut kept = kept.into_iter();
    let (own, left): (Vec<Flow>, Vec<Flow>) =
        scenario.flows.drain(..).partition(|_| kept.next().expect("there is a verdict for each flow"));
    scenario.flows = own;
    Ok(left.into_iter().map(|flow| flow.name).collect())
}

/// Checks that a flow can run between a real and a simulated host. `ends`: whether the source and the sink are real; `mtu`: the
/// smallest of an interface of a real host.
fn check_carried(flow: &Flow, ends: [bool; 2], mtu: Option<u32>) -> Result<(), String> {
    let refuse = |problem: String| Err(format!("flow \"{}\": {problem}", flow.name));
    if flow.fec.is_some() {
        let problem = "has `fec`, whose packets programs at real nodes neither make nor understand";
        return refuse(format!("{problem}; flows between simulated nodes can have it"));
    }
    match &flow.transport {
        Transport::Udp => {
            let largest = hopcast_sim::traffic::largest_write(flow);
            if let Some(mtu) = mtu.filter(|mtu| largest + UDP_HEADERS > *mtu) {
                let (problem, room) = (format!("has datagrams of {largest} B, which would be cut"), mtu - UDP_HEADERS);
                return refuse(format!("{problem}; to and from real nodes at most {room} B"));
            }
        }
        Transport::Tcp(tcp) => {
            let room = mtu.unwrap_or(DEFAULT_MTU).saturating_sub(TCP_HEADERS);
            if ends == [false, true] && tcp.segment > room {
                let problem = format!("has segments of {} B, which would be cut", tcp.segment);
                return refuse(format!("{problem}; to real nodes at most {room} B"));
            }
            if ends == [true, false] && flow.player.is_some() {
                let problem =
                    "has a player, which would need to know where in the octets of a real program a picture begins";
                return refuse(format!("{problem}; to players TCP flows come from simulated nodes"));
            }
        }
        Transport::Dccp(_) | Transport::Rtp(_) => {
            let problem = "runs between a real and a simulated node, which is possible over UDP and TCP alone";
            return refuse(problem.into());
        }
    }
    Ok(())
}

/// Checks that no flow goes through a real host on its way: hopcast could not recognise the packets that the host
/// forwards.
pub(super) fn check_ways(scenario: &Scenario, simulation: &Simulation) -> Result<(), String> {
    let nodes: Vec<(&Group, &String)> =
        scenario.groups.iter().flat_map(|group| group.node_names.iter().map(move |name| (group, name))).collect();
    let passes_on = |node: &NodeId| {
        let group = nodes[node.0 as usize].0;
        group.is_real && !matches!(group.routing, Routing::Protocol(_))
    };
    for flow in &scenario.flows {
        let there: Vec<NodeId> = flow.stops().collect();
        let back: Vec<NodeId> = there.iter().rev().copied().collect();
        for ends in there.windows(2).chain(back.windows(2)) {
            let mut at = ends[0];
            // No way is longer than there are nodes.
            for _ in 0..nodes.len() {
                let Some(hop) = simulation.hop_towards(at, ends[1]) else { break };
                at = hop.node;
                let is_end = [flow.from, flow.to].contains(&at);
                if !is_end && passes_on(&at) {
                    let (name, node) = (&flow.name, nodes[at.0 as usize].1);
                    return Err(format!(
                        "flow \"{name}\": goes through the real node {node}; simulated ones can pass it on"
                    ));
                }
                if at == ends[1] {
                    break;
                }
            }
        }
    }
    Ok(())
}

/// Whether a routing protocol leaves the headers of data as they are.
fn carries_as_it_is(protocol: &RoutingProtocol) -> bool {
    let random = Stream::new(0, Purpose::Routing, 0, 0);
    let specimen = (protocol.make)(Node { address: ip_address(NodeId(0)), interfaces: 1, random });
    matches!(specimen.encapsulation(), Encapsulation::Udp { .. })
}

/// The real hosts of a scenario that [`prepare`] has let pass, as `simulation` of it has laid out interfaces and routes.
pub(super) fn real_nodes(scenario: &Scenario, simulation: &Simulation) -> Vec<RealNode> {
    let neighbours = layout::neighbours(scenario);
    let groups = scenario.groups.iter().flat_map(|group| group.node_names.iter().map(move |name| (group, name)));
    let all: Vec<(NodeId, &Group, &String)> =
        groups.zip(0..).map(|((group, name), node)| (NodeId(node), group, name)).collect();
    let real = all.iter().filter(|(_, group, _)| group.is_real);
    let make = |&(node, group, name): &(NodeId, &Group, &String)| {
        let interfaces = interfaces(node, scenario, &neighbours);
        let routes = match group.routing {
            Routing::None => Routes::Programs,
            Routing::Protocol(_) => Routes::Simulated,
            Routing::Static => {
                let others = all.iter().filter(|(other, ..)| *other != node);
                let routes = others.filter_map(|&(to, ..)| {
                    let hop = simulation.hop_towards(node, to)?;
                    let gateway = (hop.node != to).then(|| ip_address(hop.node));
                    Some(RouteTo { destination: ip_address(to), gateway, interface: hop.interface as usize })
                });
                Routes::Static(routes.collect())
            }
        };
        let (name, address) = (name.clone(), ip_address(node));
        RealNode { node, name, address, interfaces, routes }
    };
    real.map(make).collect()
}

/// The interfaces of a real host: its radios, then its wires.
fn interfaces(node: NodeId, scenario: &Scenario, neighbours: &Neighbours) -> Vec<Interface> {
    let names: Vec<&String> = scenario.groups.iter().flat_map(|group| &group.node_names).collect();
    let radios = neighbours.radios(node).map(mac_address).enumerate().map(|(place, hardware)| Interface {
        name: format!("wlan{place}"),
        hardware,
        mtu: scenario.mtu.unwrap_or(DEFAULT_MTU),
        leads_to: None,
    });
    let wires = neighbours.wires(node).enumerate().map(|(place, wire)| {
        let link = &scenario.links[wire as usize / 2];
        // Wires 2 n and 2 n + 1 begin at the first and the second end of link n.
        let other = link.between[1 - wire as usize % 2];
        Interface {
            name: format!("eth{place}"),
            hardware: wire_address(wire),
            mtu: link.mtu.unwrap_or(DEFAULT_MTU),
            leads_to: Some(names[other.0 as usize].clone()),
        }
    });
    radios.chain(wires).collect()
}
