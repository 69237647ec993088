//! Flows, nodes and sums in figures.

use std::borrow::Cow;

use hopcast_protocols::transport::dccp::Congestion;
use hopcast_radio::mac::{self, Dcf};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use crate::id::NodeId;
use crate::metrics::{Counters, DropCause, FlowSummary};
use crate::run::Simulation;
use crate::scenario::model::{Dccp, Flow, Scenario, Transport};

/// One flow.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct FlowRecord {
    /// Name of the flow in the scenario.
    pub name: String,
    /// Node where the flow begins.
    pub from: String,
    /// Node where the flow ends.
    pub to: String,
    /// `udp`, `tcp`, `tfrc` or `adtfrc`.
    pub protocol: &'static str,
    /// What was measured.
    #[serde(flatten)]
    pub summary: FlowSummary,
}

/// One node. Packets are IP datagrams or fragments of them, frames are those of 802.11, of all its radios.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct NodeRecord {
    /// Name of the node in the scenario.
    pub name: String,
    /// Packets that this node made: of its sockets, of its routing protocol and of ARP.
    #[schemars(extend("x-unit" = "packets", "x-counted" = "at the source of a packet"))]
    pub originated: u64,
    /// Packets that the node's interfaces received for this host, to pass on or to deliver.
    #[schemars(extend("x-unit" = "packets", "x-counted" = "at each hop"))]
    pub received: u64,
    /// Received packets for other nodes that were given to an interface.
    #[schemars(extend("x-unit" = "packets", "x-counted" = "at each node between source and destination"))]
    pub forwarded: u64,
    /// Received packets that went to a transport protocol, to the routing protocol or to ARP, each fragment counted.
    #[schemars(extend("x-unit" = "packets", "x-counted" = "at the destination of a packet"))]
    pub delivered: u64,
    /// Packets given to an interface, the node's own and those of others.
    #[schemars(extend("x-unit" = "packets", "x-counted" = "at each hop, before the interface queue"))]
    pub transmitted: u64,
    /// Packets that an interface reported as sent: over a radio, acknowledged or broadcast. One packet may take several
    /// frames.
    #[schemars(extend("x-unit" = "packets", "x-counted" = "at each hop, after medium access"))]
    pub sent: u64,
    /// Messages of the routing protocol given to an interface, including those of other nodes that this one passes on.
    #[schemars(extend("x-counted" = "at each hop"))]
    pub routing_packets: u64,
    /// Bytes of these messages behind the IP header, and of the headers that the protocol put before data.
    #[schemars(extend("x-counted" = "at each hop"))]
    pub routing_bytes: u64,
    /// Route requests of AODV and DSR that the node sent for itself, each once; those of others that it passed on are not among them.
    #[schemars(extend("x-unit" = "messages", "x-counted" = "at the node"))]
    pub route_requests: u64,
    /// Changes of routes: how often the routing protocol led a packet with data to another neighbour than the packet before from
    /// the same source to the same destination. 0 with static routes.
    #[schemars(extend("x-unit" = "changes", "x-counted" = "at the node"))]
    pub route_changes: u64,
    /// ARP requests given to an interface.
    #[schemars(extend("x-unit" = "packets", "x-counted" = "at the sender"))]
    pub arp_requests: u64,
    /// ARP replies given to an interface.
    #[schemars(extend("x-unit" = "packets", "x-counted" = "at the sender"))]
    pub arp_replies: u64,
    /// Packets dropped at this node, by cause.
    pub drops: Drops,
    /// RTS frames put on the air, repetitions included.
    #[schemars(extend("x-unit" = "frames", "x-counted" = "at the sender"))]
    pub rts_sent: u64,
    /// CTS frames put on the air, those to the station itself included.
    #[schemars(extend("x-unit" = "frames", "x-counted" = "at the sender"))]
    pub cts_sent: u64,
    /// ACK frames put on the air.
    #[schemars(extend("x-unit" = "frames", "x-counted" = "at the sender"))]
    pub ack_sent: u64,
    /// Data frames put on the air, repetitions included; each MPDU of an A-MPDU counts.
    #[schemars(extend("x-unit" = "frames", "x-counted" = "at the sender"))]
    pub data_sent: u64,
    /// Management frames put on the air, repetitions included; 0 where association is implicit.
    #[schemars(extend("x-unit" = "frames", "x-counted" = "at the sender"))]
    pub management_sent: u64,
    /// Block acknowledgments put on the air.
    #[schemars(extend("x-unit" = "frames", "x-counted" = "at the sender"))]
    pub block_ack_sent: u64,
    /// Requests for a block acknowledgment put on the air.
    #[schemars(extend("x-unit" = "frames", "x-counted" = "at the sender"))]
    pub block_ack_requests_sent: u64,
    /// A-MPDUs of two or more MPDUs put on the air.
    #[schemars(extend("x-unit" = "frames", "x-counted" = "at the sender"))]
    pub ampdus_sent: u64,
    /// Beacons put on the air.
    #[schemars(extend("x-unit" = "frames", "x-counted" = "at the sender"))]
    pub beacons_sent: u64,
    /// How often the station has joined an access point; of an access point, how often a station has joined it.
    #[schemars(extend("x-unit" = "associations", "x-counted" = "at the station and at its access point"))]
    pub associations: u64,
    /// RTS frames that no CTS answered.
    #[schemars(extend("x-unit" = "frames", "x-counted" = "at the sender"))]
    pub cts_timeouts: u64,
    /// Data frames that no ACK answered, or A-MPDUs that no block acknowledgment answered.
    #[schemars(extend("x-unit" = "frames", "x-counted" = "at the sender"))]
    pub ack_timeouts: u64,
    /// Data frames that arrived again because their ACK was lost.
    #[schemars(extend("x-unit" = "frames", "x-counted" = "at the receiver of a frame"))]
    pub duplicates: u64,
    /// Receptions that began and failed, also of frames for other nodes.
    #[schemars(extend("x-unit" = "receptions", "x-counted" = "at each node that hears a frame"))]
    pub errors: u64,
    /// Packets that the queues of this node's interfaces marked instead of dropping them (ECN).
    #[schemars(extend("x-unit" = "packets", "x-counted" = "at the node whose queue marks"))]
    pub marked: u64,
    /// Frames on half-duplex wires that collided, each as often as it did; missing for nodes without such wires.
    #[schemars(extend("x-unit" = "frames", "x-counted" = "at the sender"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wire_collisions: Option<u64>,
    /// The counters of each radio, in the order of the scenario; missing for nodes with one radio.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub radios: Vec<RadioRecord>,
}

/// What one of several radios of a node has counted; see [`NodeRecord`], whose counters are the sums.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize)]
pub struct RadioRecord {
    /// RTS frames sent, repetitions included.
    #[schemars(extend("x-unit" = "frames", "x-counted" = "at the sender"))]
    pub rts_sent: u64,
    /// CTS frames sent.
    #[schemars(extend("x-unit" = "frames", "x-counted" = "at the sender"))]
    pub cts_sent: u64,
    /// ACK frames sent.
    #[schemars(extend("x-unit" = "frames", "x-counted" = "at the sender"))]
    pub ack_sent: u64,
    /// Data frames sent, repetitions included.
    #[schemars(extend("x-unit" = "frames", "x-counted" = "at the sender"))]
    pub data_sent: u64,
    /// Management frames sent, repetitions included.
    #[schemars(extend("x-unit" = "frames", "x-counted" = "at the sender"))]
    pub management_sent: u64,
    /// Block acknowledgments sent.
    #[schemars(extend("x-unit" = "frames", "x-counted" = "at the sender"))]
    pub block_ack_sent: u64,
    /// Requests for a block acknowledgment sent.
    #[schemars(extend("x-unit" = "frames", "x-counted" = "at the sender"))]
    pub block_ack_requests_sent: u64,
    /// A-MPDUs of two or more MPDUs sent.
    #[schemars(extend("x-unit" = "frames", "x-counted" = "at the sender"))]
    pub ampdus_sent: u64,
    /// RTS frames without a CTS.
    #[schemars(extend("x-unit" = "frames", "x-counted" = "at the sender"))]
    pub cts_timeouts: u64,
    /// Data frames without an ACK.
    #[schemars(extend("x-unit" = "frames", "x-counted" = "at the sender"))]
    pub ack_timeouts: u64,
    /// Data frames received again because an ACK was lost.
    #[schemars(extend("x-unit" = "frames", "x-counted" = "at the receiver of a frame"))]
    pub duplicates: u64,
    /// Receptions that began and failed.
    #[schemars(extend("x-unit" = "receptions", "x-counted" = "at each node that hears a frame"))]
    pub errors: u64,
    /// Packets that the radio's queues marked (ECN).
    #[schemars(extend("x-unit" = "packets", "x-counted" = "at the node whose queue marks"))]
    pub marked: u64,
}

/// A counter of a radio.
type RadioCounter = fn(&RadioRecord) -> u64;

impl RadioRecord {
    /// The names of all counters, and how to read them.
    pub(super) const COUNTERS: [(&'static str, RadioCounter); 13] = [
        ("rts_sent", |radio| radio.rts_sent),
        ("cts_sent", |radio| radio.cts_sent),
        ("ack_sent", |radio| radio.ack_sent),
        ("data_sent", |radio| radio.data_sent),
        ("management_sent", |radio| radio.management_sent),
        ("block_ack_sent", |radio| radio.block_ack_sent),
        ("block_ack_requests_sent", |radio| radio.block_ack_requests_sent),
        ("ampdus_sent", |radio| radio.ampdus_sent),
        ("cts_timeouts", |radio| radio.cts_timeouts),
        ("ack_timeouts", |radio| radio.ack_timeouts),
        ("duplicates", |radio| radio.duplicates),
        ("errors", |radio| radio.errors),
        ("marked", |radio| radio.marked),
    ];

    fn new(counters: mac::Counters) -> Self {
        let mac::Counters { rts_sent, cts_sent, ack_sent, data_sent, management_sent, .. } = counters;
        let mac::Counters { block_ack_sent, block_ack_requests_sent, ampdus_sent, .. } = counters;
        let mac::Counters { cts_timeouts, ack_timeouts, duplicates, errors, marked, .. } = counters;
        Self {
            rts_sent,
            cts_sent,
            ack_sent,
            data_sent,
            management_sent,
            block_ack_sent,
            block_ack_requests_sent,
            ampdus_sent,
            cts_timeouts,
            ack_timeouts,
            duplicates,
            errors,
            marked,
        }
    }
}

/// Dropped packets, in the order of [`DropCause::ALL`]; a map from the causes' names in JSON.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Drops([u64; DropCause::ALL.len()]);

impl Drops {
    /// The packets that `count` says for each cause.
    pub(super) fn new(count: impl Fn(DropCause) -> u64) -> Self {
        Self(DropCause::ALL.map(count))
    }

    /// Causes with drops, and their numbers.
    pub fn iter(&self) -> impl Iterator<Item = (DropCause, u64)> + '_ {
        DropCause::ALL.into_iter().zip(self.0).filter(|&(_, count)| count > 0)
    }

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

impl JsonSchema for Drops {
    fn schema_name() -> Cow<'static, str> {
        "Drops".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let count = u64::json_schema(generator).to_value();
        let causes = DropCause::json_schema(generator).to_value();
        // A count for each variant, with its description.
        let counts = causes["oneOf"].as_array().into_iter().flatten().map(|cause| {
            let mut count = count.clone();
            count["description"] = cause["description"].clone();
            count["x-unit"] = "packets".into();
            count["x-counted"] = "at the node that drops".into();
            (cause["const"].as_str().unwrap_or_default().to_owned(), count)
        });
        json_schema!({ "type": "object", "properties": counts.collect::<serde_json::Map<_, _>>() })
    }
}

/// Sums over the medium and over all nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema, Serialize)]
pub struct Totals {
    /// Frames put on the air, of any kind, repetitions included.
    #[schemars(extend("x-unit" = "frames", "x-counted" = "at the sender"))]
    pub frames_sent: u64,
    /// Pairs of a frame and a radio that senses it: a frame that five radios sense counts five times.
    #[schemars(extend("x-unit" = "receptions", "x-counted" = "at each receiver, whomever the frame is for"))]
    pub receptions: u64,
    /// Pairs of a frame and a radio that could have decoded it, had no other frame overlapped it there. A frame that
    /// collides at five radios counts five times, so there can be more collisions than frames.
    #[schemars(extend("x-unit" = "receptions", "x-counted" = "at each receiver, whomever the frame is for"))]
    pub collisions: u64,
    /// Packets that nodes made: the sum of `originated`.
    #[schemars(extend("x-unit" = "packets", "x-counted" = "at the source of a packet"))]
    pub packets_originated: u64,
    /// Packets passed on: the sum of `forwarded`.
    #[schemars(extend("x-unit" = "packets", "x-counted" = "at each node between source and destination"))]
    pub packets_forwarded: u64,
    /// Packets that arrived at their destination: the sum of `delivered`.
    #[schemars(extend("x-unit" = "packets", "x-counted" = "at the destination of a packet"))]
    pub packets_delivered: u64,
    /// Packets dropped, whatever the cause: the sum of `drops`.
    #[schemars(extend("x-unit" = "packets", "x-counted" = "at the node that drops"))]
    pub packets_dropped: u64,
    /// Messages of routing protocols: the sum of the nodes' `routing_packets`.
    #[schemars(extend("x-counted" = "at each hop"))]
    pub routing_packets: u64,
    /// Bytes of routing protocols: the sum of the nodes' `routing_bytes`.
    #[schemars(extend("x-counted" = "at each hop"))]
    pub routing_bytes: u64,
}

/// What was run.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize)]
pub struct Provenance {
    /// Version of hopcast.
    pub version: &'static str,
    /// SHA-256 of the scenario with all overrides, except its seed.
    pub scenario_sha256: String,
    /// Seed of every draw; of several replications, that of the first.
    #[schemars(extend("x-unit" = "none"))]
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
            route_requests: host.route_requests,
            route_changes: host.route_changes,
            arp_requests: host.arp_requests,
            arp_replies: host.arp_replies,
            drops: Drops::new(|cause| host[cause]),
            rts_sent: sum(|mac| mac.rts_sent),
            cts_sent: sum(|mac| mac.cts_sent),
            ack_sent: sum(|mac| mac.ack_sent),
            data_sent: sum(|mac| mac.data_sent),
            management_sent: sum(|mac| mac.management_sent),
            block_ack_sent: sum(|mac| mac.block_ack_sent),
            block_ack_requests_sent: sum(|mac| mac.block_ack_requests_sent),
            ampdus_sent: sum(|mac| mac.ampdus_sent),
            beacons_sent: simulation.associations(NodeId(node)).beacons,
            associations: simulation.associations(NodeId(node)).associations,
            cts_timeouts: sum(|mac| mac.cts_timeouts),
            ack_timeouts: sum(|mac| mac.ack_timeouts),
            duplicates: sum(|mac| mac.duplicates),
            errors: sum(|mac| mac.errors),
            marked: simulation.marked(NodeId(node)),
            wire_collisions: simulation.wire_collisions(NodeId(node)),
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

/// The name of a flow's protocol.
pub(crate) fn protocol(transport: &Transport) -> &'static str {
    match transport {
        Transport::Udp => "udp",
        Transport::Tcp(_) => "tcp",
        Transport::Rtp(_) => "rtp",
        Transport::Dccp(Dccp { congestion: Congestion::Tfrc(_) }) => "tfrc",
        Transport::Dccp(Dccp { congestion: Congestion::Adtfrc(_) }) => "adtfrc",
    }
}
