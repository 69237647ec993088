//! Traffic: the machines of a scenario with the programs that make, pass on and take its flows.

pub mod video_trace;

use crate::host::packet::MAX_UDP_PAYLOAD;
use crate::host::{Endpoint, Host, HostConfig, MAX_SOCKETS, TcpOptions};
use crate::metrics::{FlowSpec, FlowTable};
use crate::scenario::model::{Application, Flow, FlowId, Group, NodeId, Relay, Scenario, Tcp, Transport};
use hopcast_protocols::application::{AduSource, CbrSource, MediaSource, Source};
use hopcast_protocols::random::{Purpose, Stream};
use hopcast_protocols::routing::fixed::ShortestPaths;
use hopcast_protocols::time::{Duration, Instant};
use hopcast_protocols::transport::tcp;

/// The machines of a scenario, by [`NodeId`], and the measurement of its flows.
#[derive(Debug)]
pub struct Machines {
    /// One host for each node.
    pub hosts: Vec<Host>,
    /// All flows, not started.
    pub flows: FlowTable,
}

/// Why a scenario's flows can't be set up.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TrafficError {
    /// The nodes are not connected, or the flow has two ends at one node.
    #[error("flow \"{flow}\": no path leads from {from} to {to}")]
    Unreachable {
        /// Name of the flow.
        flow: String,
        /// Name of the node where the path begins.
        from: String,
        /// Name of the node that it does not reach.
        to: String,
    },
    /// A datagram does not fit into the length fields of IPv4 and UDP.
    #[error("flow \"{flow}\": a datagram of {octets} B; UDP over IPv4 carries up to {MAX_UDP_PAYLOAD} B")]
    DatagramTooLarge {
        /// Name of the flow.
        flow: String,
        /// Its size in octets.
        octets: u32,
    },
    /// Too many flows at one node: one more might need two sockets that it has not.
    #[error("node {node}: more than {MAX_SOCKETS} sockets")]
    TooManySockets {
        /// Name of the node.
        node: String,
    },
}

/// Sets up the machines of `scenario`, which pass packets on along `routes`, for a run with `seed`.
pub fn machines(scenario: &Scenario, routes: &ShortestPaths, seed: u64) -> Result<Machines, TrafficError> {
    let groups: Vec<&Group> = scenario.groups.iter().flat_map(|g| g.node_names.iter().map(move |_| g)).collect();
    let names: Vec<&str> = scenario.groups.iter().flat_map(|g| g.node_names.iter().map(String::as_str)).collect();
    let name = |node: u32| names.get(node as usize).map_or_else(|| format!("{node}"), |name| (*name).to_owned());
    let mut hosts: Vec<Host> = groups
        .iter()
        .zip(0_u32..)
        .map(|(group, node)| {
            let config = HostConfig {
                mtu: scenario.mtu,
                queue_packets: scenario.radio.queue_packets,
                socket_buffer: group.socket_buffer,
            };
            let next_hops = (0..groups.len() as u32).map(|to| routes.next_hop(node, to).map(NodeId)).collect();
            Host::new(NodeId(node), config, next_hops)
        })
        .collect();
    for (flow, id) in scenario.flows.iter().zip(0_u32..) {
        let unreachable = |from: NodeId, to: NodeId| TrafficError::Unreachable {
            flow: flow.name.clone(),
            from: name(from.0),
            to: name(to.0),
        };
        let path = routes.path(flow.from.0, flow.to.0).filter(|path| path.len() > 1);
        let path = path.ok_or_else(|| unreachable(flow.from, flow.to))?;
        let stops: Vec<u32> = path
            .iter()
            .copied()
            .filter(|&node| {
                node == flow.from.0 || node == flow.to.0 || groups[node as usize].relay == Relay::Application
            })
            .collect();
        if let Some(node) = stops.iter().find(|&&node| !hosts[node as usize].has_room_for_sockets(2)) {
            return Err(TrafficError::TooManySockets { node: name(*node) });
        }
        match &flow.transport {
            Transport::Udp => add_udp(&mut hosts, FlowId(id), flow, &stops)?,
            Transport::Tcp(tcp) => {
                // Acknowledgements need a way back, over each leg.
                for leg in stops.windows(2) {
                    if routes.path(leg[1], leg[0]).is_none() {
                        return Err(unreachable(NodeId(leg[1]), NodeId(leg[0])));
                    }
                }
                add_tcp(&mut hosts, &groups, seed, FlowId(id), flow, tcp, &stops);
            }
        }
    }
    let end = Instant::START + scenario.duration;
    let specs = scenario.flows.iter().map(|flow| FlowSpec { start: flow.start, stop: flow.stop, end });
    Ok(Machines { hosts, flows: FlowTable::new(specs) })
}

/// `stops`: the nodes whose programs handle the flow, source and sink included.
fn add_udp(hosts: &mut [Host], id: FlowId, flow: &Flow, stops: &[u32]) -> Result<(), TrafficError> {
    let octets = largest_write(&flow.application);
    if octets > MAX_UDP_PAYLOAD {
        return Err(TrafficError::DatagramTooLarge { flow: flow.name.clone(), octets });
    }
    // From the sink back, so that each knows the port of the next.
    let mut next: Option<Endpoint> = None;
    for &node in stops.iter().rev() {
        let host = &mut hosts[node as usize];
        let port = match next {
            None => host.add_udp_sink(id),
            Some(remote) if node == flow.from.0 => {
                host.add_udp_source(id, source(flow), flow.stop, remote);
                break;
            }
            Some(remote) => host.add_udp_relay(id, remote),
        };
        next = Some(Endpoint { node: NodeId(node), port });
    }
    Ok(())
}

fn add_tcp(hosts: &mut [Host], groups: &[&Group], seed: u64, id: FlowId, flow: &Flow, tcp: &Tcp, stops: &[u32]) {
    let mut next: Option<Endpoint> = None;
    let options = |node: u32, end: usize| TcpOptions {
        config: connection_config(tcp, groups[node as usize].socket_buffer),
        initial_sequence: Stream::new(seed, Purpose::InitialSequence, u64::from(id.0), end as u64).next_u64() as u32,
    };
    for (hop, &node) in stops.iter().enumerate().rev() {
        let host = &mut hosts[node as usize];
        // The ends of leg k, from stop k to stop k + 1, are 2k and 2k + 1.
        let port = match next {
            None => host.add_tcp_sink(id, options(node, 2 * hop - 1)),
            Some(remote) if hop == 0 => {
                let quantum = match flow.application {
                    Application::Bulk { packet, .. } => packet,
                    _ => tcp.segment,
                };
                let times = (flow.start, flow.stop);
                host.add_tcp_source(id, source(flow), times, quantum, remote, options(node, 0));
                break;
            }
            Some(remote) => {
                let ends = [options(node, 2 * hop - 1), options(node, 2 * hop)];
                host.add_tcp_relay(id, flow.start, remote, ends)
            }
        };
        next = Some(Endpoint { node: NodeId(node), port });
    }
}

/// Buffers of a connection: with a window twice that, so that the window alone limits what is in flight; without one the
/// socket's.
fn connection_config(tcp: &Tcp, socket_buffer: u32) -> tcp::Config {
    let buffer = match tcp.window {
        Some(segments) => segments.saturating_mul(tcp.segment).saturating_mul(2),
        None => socket_buffer,
    };
    tcp::Config {
        segment: tcp.segment,
        send_buffer: buffer,
        receive_buffer: buffer,
        window: tcp.window,
        initial_window: tcp.initial_window,
        min_rto: tcp.min_rto,
        delayed_ack: tcp.delayed_ack,
        ..tcp::Config::default()
    }
}

/// Octets of the largest write of an application.
fn largest_write(application: &Application) -> u32 {
    match application {
        Application::Bulk { packet, .. } | Application::Cbr { packet, .. } => *packet,
        Application::Adu { size, .. } => *size,
        Application::VideoTrace { packet, frames, .. } => frames.iter().copied().max().unwrap_or(0).min(*packet),
    }
}

fn source(flow: &Flow) -> Source {
    let start = flow.start;
    match &flow.application {
        Application::Bulk { bytes, packet } => Source::Adu(AduSource::new(start, *packet, Duration::ZERO, *bytes)),
        Application::Adu { size, wait, bytes } => Source::Adu(AduSource::new(start, *size, *wait, *bytes)),
        Application::Cbr { rate, packet } => Source::Cbr(CbrSource::new(start, *rate, *packet)),
        Application::VideoTrace { frames, interval, packet } => {
            Source::Media(MediaSource::new(start, frames.clone(), *interval, *packet))
        }
    }
}
