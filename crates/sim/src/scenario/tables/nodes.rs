//! Nodes and groups of nodes: `nodes`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::super::declare::{computed, is, nothing};
use super::super::model;
use super::super::quantity::Size;
use super::super::read::Later;
use super::access::Access;
use super::arp::Arp;
use super::card::Card;
use super::mobility;
use super::placement::Placement;
use super::radio::NodeRadio;
use super::routing::Routing;
use super::{Resolver, bytes};

/// A node, or with `count` a group of them.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Nodes {
    /// Name of the node; with `count`, the nodes are name0, name1, …
    #[schemars(extend("x-name" = true))]
    pub(super) name: String,
    /// Number of nodes in the group.
    #[schemars(extend("minimum" = 1, "maximum" = 10_000, "x-default" = computed("one node, whose name gets no number")))]
    count: Option<u32>,
    /// Kind of the nodes.
    #[schemars(extend("x-default" = is("ad-hoc", "a node without infrastructure")))]
    role: Role,
    /// Radios of each node, where they differ from `radio`.
    #[schemars(extend("minItems" = 1, "maxItems" = 16, "x-default" = computed("one radio with the values of `radio`; none for roles `wired` and `hub`")))]
    pub(super) radios: Option<Vec<NodeRadio>>,
    /// Capacity, delay and loss of everything that each node sends and receives.
    #[schemars(extend("x-default" = nothing("none", "only interfaces limit it")))]
    access: Option<Access>,
    /// Network card of each radio, to and from which the processor copies packets.
    #[schemars(extend("x-default" = nothing("none", "copying takes no time")))]
    card: Option<Card>,
    /// Positions of the nodes, at the start if they move. Required, except for roles `wired` and `hub` and mobility `trace`.
    placement: Option<Placement>,
    /// Movement of the nodes.
    #[schemars(extend("x-default" = is("static", "nodes keep their positions")))]
    pub(super) mobility: mobility::Kinds,
    /// Routing protocol of the nodes.
    #[schemars(extend("x-default" = is("static", "")))]
    routing: Routing,
    /// Largest number of packets of a node that wait for a route, with a routing protocol; a further packet replaces the
    /// oldest.
    #[schemars(extend("minimum" = 1, "maximum" = 1_000_000, "x-default" = computed("64, the value of ns-2.35; 3 with AODV of profile `draft-5-in-arp`")))]
    route_queue: Option<u32>,
    /// Address resolution: how the nodes find the hardware addresses of neighbours' radios, by ARP (RFC 826).
    #[schemars(extend("x-default" = nothing("none", "nodes know hardware addresses from the start")))]
    arp: Option<Arp>,
    /// What forwards packets that are for other nodes.
    #[schemars(extend("x-default" = is("os", "IP forwarding")))]
    relay: Relay,
    /// Size of the send and receive buffer of each UDP socket, and of each direction of a TCP connection without
    /// `window`; TFRC and ADTFRC hold this amount for applications that do not block.
    #[schemars(extend("minimum" = 1, "maximum" = 1_073_741_824, "x-default" = is("212992 B", "net.core.wmem_default of Linux")))]
    socket_buffer: Size,
    /// Longest UDP datagram of which a blocking write returns as soon as the send buffer has it. The write of a longer one returns when
    /// the interface is done with it, as on Windows (AFD's `FastSendDatagramThreshold`, 1024 B).
    #[schemars(extend("minimum" = 0, "maximum" = 65_507, "x-default" = nothing("none", "each write returns when the send buffer has the datagram, as on Linux")))]
    hold_threshold: Option<Size>,
    /// Whether real hosts take these nodes' places in an emulation, each in a separate network namespace. The simulator
    /// treats them like all other nodes.
    #[schemars(extend("x-default" = is(false, "simulated")))]
    real: bool,
}

/// Kind of a node.
#[derive(Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Role {
    /// A wireless node without infrastructure.
    AdHoc,
    /// A wireless node that forwards between its stations and to the wires.
    AccessPoint,
    /// A wireless node that talks to one access point only, the one with the strongest signal.
    Station,
    /// A node without radio.
    Wired,
    /// A repeater, whose links are half-duplex Ethernet and one medium together: no node, but what joins others.
    Hub,
}

impl From<Role> for model::Role {
    /// A hub is wired.
    fn from(role: Role) -> Self {
        match role {
            Role::AdHoc => Self::AdHoc,
            Role::AccessPoint => Self::AccessPoint,
            Role::Station => Self::Station,
            Role::Wired | Role::Hub => Self::Wired,
        }
    }
}

/// What forwards packets that are for other nodes.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Relay {
    /// IP forwarding.
    Os,
    /// A program that receives a data unit on one socket and sends it with a blocking call on another.
    Application,
}

alike!(Relay, model::Relay: Os, Application);

/// Largest number of nodes of a scenario.
const MAX_NODES: u64 = 10_000;

/// Names, each with the place of its entry in the list of nodes.
#[derive(Default)]
pub(super) struct Taken {
    nodes: BTreeMap<String, usize>,
    groups: BTreeMap<String, usize>,
    pub(super) networks: Vec<String>,
}

impl Resolver<'_> {
    /// Empty if there are too many nodes to name.
    pub(super) fn groups(&mut self, nodes: &Later<Vec<Nodes>>, radio: &model::Radio) -> Vec<model::Group> {
        let count = |place: usize| self.ledger.given(&["nodes", &place.to_string(), "count"]);
        let total: u64 =
            (0..self.ledger.count(&["nodes"])).map(|place| count(place).and_then(Value::as_u64).unwrap_or(1)).sum();
        if total > MAX_NODES {
            self.report(&["nodes"], format!("{total} nodes are too many"), format!("at most {MAX_NODES} in all"));
            return Vec::new();
        }
        let mut taken = Taken::default();
        self.each(nodes, &["nodes"], |resolver, index, group| Some(resolver.group(index, group, radio, &mut taken)))
    }

    fn group(&mut self, index: &str, mut group: Nodes, radio: &model::Radio, taken: &mut Taken) -> model::Group {
        let at = |key| ["nodes", index, key];
        self.ledger.note_given(&at("count"));
        let node_names = self.node_names(index, &group, taken);
        let role = model::Role::from(group.role);
        let is_hub = group.role == Role::Hub;
        if is_hub {
            self.check_hub(index, &group);
        }
        let radios = self.radios(index, &group, role, radio, taken);
        let access = self.access(index, group.access.take());
        let card = self.card(index, group.card.take(), role, radio.mac.queue_packets);
        let is_placed = role == model::Role::Wired || matches!(group.mobility, mobility::Kinds::Trace(_));
        let placement = match group.placement.take() {
            Some(placement) => self.placement(index, placement, node_names.len()),
            None => {
                if !is_placed {
                    self.report(&at("placement"), "is missing", "a table with shape, or role = \"wired\"");
                }
                crate::mobility::Placement::Line { spacing: 0.0 }
            }
        };
        let mobility = self.mobility(index, group.mobility, role, &placement, &node_names);
        let route_queue = self.route_queue(index, &group.routing, group.route_queue);
        let routing = self.routing(index, group.routing);
        if matches!(routing, model::Routing::None) && !group.real {
            let problem = "leaves routing to programs, which simulated nodes cannot run";
            self.report(&["nodes", index, "routing", "protocol"], problem, "another protocol, or real = true");
        }
        model::Group {
            arp: self.arp(index, group.arp, role),
            name: group.name,
            role,
            is_hub,
            radios,
            access,
            card,
            placement,
            mobility,
            node_names,
            routing,
            route_queue,
            relay: group.relay.into(),
            // The schema keeps it below 1 GiB.
            socket_buffer: group.socket_buffer.0 as u32,
            hold_threshold: group.hold_threshold.map(bytes),
            is_real: group.real,
        }
    }

    /// A hub has nothing but links.
    fn check_hub(&mut self, index: &str, group: &Nodes) {
        let keys = [("access", group.access.is_some()), ("real", group.real)];
        for (key, _) in keys.iter().filter(|(_, is_given)| *is_given) {
            self.report(&["nodes", index, key], "is not possible for a hub, which only repeats", "role = \"wired\"");
        }
    }

    /// The names of the nodes of a group. Reports names that another group has already.
    fn node_names(&mut self, index: &str, group: &Nodes, taken: &mut Taken) -> Vec<String> {
        let names = match group.count {
            None => vec![group.name.clone()],
            Some(count) => (0..count).map(|number| format!("{}{number}", group.name)).collect(),
        };
        let path = ["nodes", index, "name"];
        // One collision is told; the others of the same two groups follow from it.
        if let Some((name, other)) = names.iter().find_map(|name| taken.nodes.get_key_value(name)) {
            let problem = format!("there is already a node {name:?}, from entry {} of the list of nodes", other + 1);
            self.report(&path, problem, "a different name for each node");
        } else if let Some(other) = taken.groups.get(&group.name) {
            // `--set nodes.<name>` could mean either.
            let problem = format!("is the name of entry {} of the list of nodes already", other + 1);
            self.report(&path, problem, "a different name for each entry");
        }
        let place = index.parse().expect("a place in the list of nodes");
        taken.nodes.extend(names.iter().map(|name| (name.clone(), place)));
        taken.groups.entry(group.name.clone()).or_insert(place);
        names
    }

    fn radios(
        &mut self,
        index: &str,
        group: &Nodes,
        role: model::Role,
        radio: &model::Radio,
        taken: &mut Taken,
    ) -> Vec<model::NodeRadio> {
        let path = ["nodes", index, "radios"];
        match &group.radios {
            None if role == model::Role::Wired => {
                self.ledger.note(&path, "none", if group.role == Role::Hub { "role hub" } else { "role wired" });
                Vec::new()
            }
            None => {
                self.ledger.note(&path, "one", "default: value of radio");
                self.node_radios(index, &[NodeRadio::default()], radio, &mut taken.networks)
            }
            Some(given) => {
                if role == model::Role::Wired {
                    self.report(&path, "has no effect: a node of role wired has no radio", "another role");
                } else if role == model::Role::Station && given.len() > 1 {
                    self.report(&path, "has several radios", "one radio: a station talks to one access point");
                }
                self.node_radios(index, given, radio, &mut taken.networks)
            }
        }
    }
}
