//! Nodes and their places.

use std::collections::BTreeMap;

use super::super::model;
use super::super::quantity::{Length, Size};
use super::super::schema::{self, NodeRadio, Nodes, Placement};
use super::{Resolver, exact, show, word};
use crate::mobility::{Area, bounds};

/// Nodes in all.
const MAX_NODES: u64 = 10_000;

/// From one end of a placement to the other, in metres.
const MAX_EXTENT: f64 = 1e7;

/// net.core.wmem_default and rmem_default of Linux on 64-bit machines.
const LINUX_SOCKET_BUFFER: f64 = 212_992.0;

/// Names, and the place in the list of nodes of what has them.
#[derive(Default)]
struct Taken {
    nodes: BTreeMap<String, usize>,
    groups: BTreeMap<String, usize>,
    networks: Vec<String>,
}

impl Resolver<'_> {
    /// Empty if there are too many nodes to name.
    pub(super) fn groups(&mut self, nodes: &[Nodes], radio: &model::Radio) -> Vec<model::Group> {
        let total: u64 = nodes.iter().map(|group| u64::from(group.count.unwrap_or(1))).sum();
        if total > MAX_NODES {
            self.report(&["nodes"], format!("{total} nodes are too many"), format!("at most {MAX_NODES} in all"));
            return Vec::new();
        }
        let mut taken = Taken::default();
        nodes.iter().enumerate().map(|(place, group)| self.group(place, group, radio, &mut taken)).collect()
    }

    fn group(&mut self, place: usize, group: &Nodes, radio: &model::Radio, taken: &mut Taken) -> model::Group {
        let index = place.to_string();
        let at = |key| ["nodes", index.as_str(), key];
        let node_names = match group.count {
            None => vec![group.name.clone()],
            Some(count) => (0..count).map(|number| format!("{}{number}", group.name)).collect(),
        };
        // One collision is told; the others of the same two groups follow from it.
        if let Some((name, other)) = node_names.iter().find_map(|name| taken.nodes.get_key_value(name)) {
            let problem = format!("there is already a node {name:?}, from entry {} of the list of nodes", other + 1);
            self.report(&at("name"), problem, "a name of its own for each node");
        } else if let Some(other) = taken.groups.get(&group.name) {
            // `--set nodes.<name>` could mean either.
            let problem = format!("is the name of entry {} of the list of nodes already", other + 1);
            self.report(&at("name"), problem, "a name of its own for each entry");
        }
        taken.nodes.extend(node_names.iter().map(|name| (name.clone(), place)));
        taken.groups.entry(group.name.clone()).or_insert(place);

        self.ledger.note_given(&at("name"));
        self.ledger.note_given(&at("count"));
        let role = self
            .ledger
            .pick(&at("role"), group.role, word, || (schema::Role::AdHoc, "default: without infrastructure".into()));
        let role = match role {
            schema::Role::AdHoc => model::Role::AdHoc,
            schema::Role::AccessPoint => model::Role::AccessPoint,
            schema::Role::Station => model::Role::Station,
            schema::Role::Wired => model::Role::Wired,
        };
        let radios = self.radios(&index, group, role, radio, taken);
        let card = self.card(&index, group.card, role, radio.queue_packets);
        self.ledger.note_given(&at("placement"));
        let is_placed = role == model::Role::Wired || matches!(group.mobility, Some(schema::Mobility::Trace { .. }));
        if group.placement.is_none() && !is_placed {
            self.report(&at("placement"), "is missing", "a table with shape, or role = \"wired\"");
        }
        let placement = match &group.placement {
            Some(placement) => self.placement(&index, placement, node_names.len()),
            None => model::Placement::Line { spacing: 0.0 },
        };
        let mobility = self.mobility(&index, group, role, &placement, &node_names);
        let routing = self.routing(&index, group.routing.as_ref());
        let route_queue = self.route_queue(&index, group);
        let arp = self.arp(&index, group.arp, role);
        let relay =
            self.ledger.pick(&at("relay"), group.relay, word, || (schema::Relay::Os, "default: IP forwarding".into()));
        let is_real = self.ledger.pick(&at("real"), group.real, show, || (false, "default: simulated".into()));
        if matches!(routing, model::Routing::None) && !is_real {
            let path = ["nodes", index.as_str(), "routing", "protocol"];
            self.report(
                &path,
                "leaves routes to programs, which simulated nodes don't have",
                "another one, or real = true",
            );
        }
        let socket_buffer = self.ledger.pick(&at("socket_buffer"), group.socket_buffer, exact, || {
            (Size(LINUX_SOCKET_BUFFER), "default: net.core.wmem_default of Linux".into())
        });
        model::Group {
            name: group.name.clone(),
            role,
            radios,
            card,
            placement,
            mobility,
            node_names,
            routing,
            route_queue,
            arp,
            relay: match relay {
                schema::Relay::Os => model::Relay::Os,
                schema::Relay::Application => model::Relay::Application,
            },
            // The schema keeps it below 1 GiB.
            socket_buffer: socket_buffer.0 as u32,
            is_real,
        }
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
        let Some(given) = &group.radios else {
            let wired = role == model::Role::Wired;
            let (value, source) = if wired { ("none", "role wired") } else { ("one", "default: as radio says") };
            self.ledger.note(&path, value, source);
            return if wired {
                Vec::new()
            } else {
                self.node_radios(index, &[NodeRadio::default()], radio, &mut taken.networks)
            };
        };
        if role == model::Role::Wired {
            self.report(&path, "says nothing: a node of role wired has no radio", "another role");
        } else if role == model::Role::Station && given.len() > 1 {
            self.report(&path, "has several radios", "one: a station talks to one access point");
        }
        self.node_radios(index, given, radio, &mut taken.networks)
    }

    fn placement(&mut self, index: &str, placement: &Placement, count: usize) -> model::Placement {
        let placed = match placement {
            Placement::Line { spacing } => model::Placement::Line { spacing: spacing.0 },
            Placement::Grid { columns, spacing } => model::Placement::Grid { columns: *columns, spacing: spacing.0 },
            Placement::Circle { radius } => model::Placement::Circle { radius: radius.0 },
            Placement::Points { at } => {
                if at.len() != count {
                    let problem = format!("places {} nodes, but there are {count}", at.len());
                    self.report(&["nodes", index, "placement", "at"], problem, format!("as many as {count}"));
                }
                model::Placement::Points(at.iter().map(|[x, y]| [x.0, y.0]).collect())
            }
            Placement::Uniform { width, height } => model::Placement::Uniform { width: width.0, height: height.0 },
        };
        let has_spacing = matches!(placed, model::Placement::Line { .. } | model::Placement::Grid { .. });
        let Area { width, height, .. } = bounds(&placed, count);
        let extent = width.max(height);
        if has_spacing && extent > MAX_EXTENT {
            let problem = format!("the nodes would stand {} apart from end to end", Length(extent));
            let expected = format!("at most {} in all", Length(MAX_EXTENT));
            self.report(&["nodes", index, "placement", "spacing"], problem, expected);
        }
        placed
    }
}
