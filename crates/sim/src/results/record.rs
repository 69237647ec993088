//! Flows, nodes and sums in figures.

use hopcast_protocols::transport::dccp::Congestion;
use hopcast_radio::mac::{self, Dcf};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use crate::id::NodeId;
use crate::metrics::{Counters, DropCause, FlowSummary};
use crate::run::Simulation;
use crate::scenario::model::{Dccp, Flow, Scenario, Transport};

/// One flow.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FlowRecord {
    /// Name as in the scenario.
    pub name: String,
    /// Name of the source.
    pub from: String,
    /// Name of the sink.
    pub to: String,
    /// `udp`, `tcp`, `tfrc` or `adtfrc`.
    pub protocol: &'static str,
    /// What was measured.
    #[serde(flatten)]
    pub summary: FlowSummary,
}

/// One node. Packets are IP datagrams or fragments of them, frames are those of 802.11, of all its radios.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NodeRecord {
    /// Name as in the scenario.
    pub name: String,
    /// Packets that the node made: its sockets, and its routing protocol.
    pub originated: u64,
    /// Packets that came in for this host.
    pub received: u64,
    /// Received packets that were passed on.
    pub forwarded: u64,
    /// Received packets that went up to a transport protocol.
    pub delivered: u64,
    /// Packets given to the interface.
    pub transmitted: u64,
    /// Packets that the interface sent successfully.
    pub sent: u64,
    /// Messages of the routing protocol given to the interface, those of other nodes included: one for each hop.
    pub routing_packets: u64,
    /// Bytes behind the IP header of these, and of the protocol's headers before data.
    pub routing_bytes: u64,
    /// ARP requests given to an interface.
    pub arp_requests: u64,
    /// ARP replies given to an interface.
    pub arp_replies: u64,
    /// Packets dropped, by cause.
    pub drops: Drops,
    /// RTS frames sent.
    pub rts_sent: u64,
    /// CTS frames sent.
    pub cts_sent: u64,
    /// ACK frames sent.
    pub ack_sent: u64,
    /// Data frames sent, repetitions included.
    pub data_sent: u64,
    /// Management frames sent, repetitions included: none where association is implicit.
    pub management_sent: u64,
    /// Beacons sent.
    pub beacons_sent: u64,
    /// How often a station has joined an access point; of an access point, how often one has joined it.
    pub associations: u64,
    /// RTS without CTS.
    pub cts_timeouts: u64,
    /// Data without ACK.
    pub ack_timeouts: u64,
    /// Data frames received again because an ACK was lost.
    pub duplicates: u64,
    /// Receptions that began and failed.
    pub errors: u64,
    /// The same for each radio, in the order of the scenario, if there are several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub radios: Vec<RadioRecord>,
}

/// What one of several radios of a node has counted; see [`NodeRecord`], whose counters are the sums.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct RadioRecord {
    /// RTS frames sent.
    pub rts_sent: u64,
    /// CTS frames sent.
    pub cts_sent: u64,
    /// ACK frames sent.
    pub ack_sent: u64,
    /// Data frames sent, repetitions included.
    pub data_sent: u64,
    /// Management frames sent, repetitions included.
    pub management_sent: u64,
    /// RTS without CTS.
    pub cts_timeouts: u64,
    /// Data without ACK.
    pub ack_timeouts: u64,
    /// Data frames received again because an ACK was lost.
    pub duplicates: u64,
    /// Receptions that began and failed.
    pub errors: u64,
}

/// A counter of a radio.
type RadioCounter = fn(&RadioRecord) -> u64;

impl RadioRecord {
    /// The names of all counters, and how to read them.
    pub(super) const COUNTERS: [(&'static str, RadioCounter); 9] = [
        ("rts_sent", |radio| radio.rts_sent),
        ("cts_sent", |radio| radio.cts_sent),
        ("ack_sent", |radio| radio.ack_sent),
        ("data_sent", |radio| radio.data_sent),
        ("management_sent", |radio| radio.management_sent),
        ("cts_timeouts", |radio| radio.cts_timeouts),
        ("ack_timeouts", |radio| radio.ack_timeouts),
        ("duplicates", |radio| radio.duplicates),
        ("errors", |radio| radio.errors),
    ];

    fn new(counters: mac::Counters) -> Self {
        let mac::Counters { rts_sent, cts_sent, ack_sent, data_sent, management_sent, .. } = counters;
        let mac::Counters { cts_timeouts, ack_timeouts, duplicates, errors, .. } = counters;
        Self {
            rts_sent,
            cts_sent,
            ack_sent,
            data_sent,
            management_sent,
            cts_timeouts,
            ack_timeouts,
            duplicates,
            errors,
        }
    }
}

/// Packets dropped at one node, in the order of [`DropCause::ALL`]; a map from the causes' names in JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drops([u64; DropCause::ALL.len()]);

impl Drops {
    /// Of one cause.
    pub fn of(&self, cause: DropCause) -> u64 {
        self.0[cause as usize]
    }
}

impl Serialize for Drops {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for cause in DropCause::ALL {
            map.serialize_entry(cause.name(), &self.of(cause))?;
        }
        map.end()
    }
}

/// Sums over the medium and over all nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Totals {
    /// Frames put on the air.
    pub frames_sent: u64,
    /// Frame x node that senses it.
    pub receptions: u64,
    /// Frame x node that could have decoded it, had nothing overlapped.
    pub collisions: u64,
    /// Packets that nodes made: sockets, and routing protocols.
    pub packets_originated: u64,
    /// Packets passed on.
    pub packets_forwarded: u64,
    /// Packets that went up to a transport protocol.
    pub packets_delivered: u64,
    /// Packets dropped, whatever the cause.
    pub packets_dropped: u64,
    /// Messages of routing protocols, one for each hop.
    pub routing_packets: u64,
    /// Bytes behind the IP header of these, and of the protocols' headers before data.
    pub routing_bytes: u64,
}

/// What was run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Provenance {
    /// Of hopcast.
    pub version: &'static str,
    /// Of the scenario, its seed apart.
    pub scenario_sha256: String,
    /// Seed of every draw.
    pub seed: u64,
}

/// The flows of `simulation`, as of now.
pub(super) fn flows(scenario: &Scenario, simulation: &Simulation) -> Vec<FlowRecord> {
    let names: Vec<&String> = node_names(scenario).collect();
    let record = |(flow, metrics): (&Flow, &crate::metrics::FlowMetrics)| FlowRecord {
        name: flow.name.clone(),
        from: names[flow.from.0 as usize].clone(),
        to: names[flow.to.0 as usize].clone(),
        protocol: protocol(&flow.transport),
        summary: metrics.summary(simulation.now()),
    };
    scenario.flows.iter().zip(simulation.flows().iter()).map(record).collect()
}

/// The nodes of `simulation`, as of now.
pub(super) fn nodes(scenario: &Scenario, simulation: &Simulation) -> Vec<NodeRecord> {
    let record = |((name, host), node): ((&String, &Counters), u32)| {
        let radios = || simulation.stations_of(NodeId(node)).map(Dcf::counters);
        let sum = |count: fn(mac::Counters) -> u64| radios().map(count).sum();
        NodeRecord {
            name: name.clone(),
            originated: host.originated,
            received: host.received,
            forwarded: host.forwarded,
            delivered: host.delivered,
            transmitted: host.transmitted,
            sent: host.sent,
            routing_packets: host.routing_packets,
            routing_bytes: host.routing_bytes,
            arp_requests: host.arp_requests,
            arp_replies: host.arp_replies,
            drops: Drops(DropCause::ALL.map(|cause| host[cause])),
            rts_sent: sum(|mac| mac.rts_sent),
            cts_sent: sum(|mac| mac.cts_sent),
            ack_sent: sum(|mac| mac.ack_sent),
            data_sent: sum(|mac| mac.data_sent),
            management_sent: sum(|mac| mac.management_sent),
            beacons_sent: simulation.associations(NodeId(node)).beacons,
            associations: simulation.associations(NodeId(node)).associations,
            cts_timeouts: sum(|mac| mac.cts_timeouts),
            ack_timeouts: sum(|mac| mac.ack_timeouts),
            duplicates: sum(|mac| mac.duplicates),
            errors: sum(|mac| mac.errors),
            radios: if radios().count() > 1 { radios().map(RadioRecord::new).collect() } else { Vec::new() },
        }
    };
    node_names(scenario).zip(simulation.counters()).zip(0..).map(record).collect()
}

/// The sums of `simulation`, whose nodes are `nodes`.
pub(super) fn totals(simulation: &Simulation, nodes: &[NodeRecord]) -> Totals {
    let medium = simulation.totals();
    let sum = |count: fn(&NodeRecord) -> u64| nodes.iter().map(count).sum();
    Totals {
        frames_sent: medium.frames_sent,
        receptions: medium.receptions,
        collisions: medium.collisions,
        packets_originated: sum(|node| node.originated),
        packets_forwarded: sum(|node| node.forwarded),
        packets_delivered: sum(|node| node.delivered),
        packets_dropped: sum(|node| node.drops.0.iter().sum()),
        routing_packets: sum(|node| node.routing_packets),
        routing_bytes: sum(|node| node.routing_bytes),
    }
}

/// Names of all nodes, by index.
pub(crate) fn node_names(scenario: &Scenario) -> impl Iterator<Item = &String> {
    scenario.groups.iter().flat_map(|group| &group.node_names)
}

fn protocol(transport: &Transport) -> &'static str {
    match transport {
        Transport::Udp => "udp",
        Transport::Tcp(_) => "tcp",
        Transport::Dccp(Dccp { congestion: Congestion::Tfrc(_) }) => "tfrc",
        Transport::Dccp(Dccp { congestion: Congestion::Adtfrc(_) }) => "adtfrc",
    }
}
