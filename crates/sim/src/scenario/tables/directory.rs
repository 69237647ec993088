//! Finds nodes by name.

use std::collections::BTreeMap;

use super::super::model;
use super::super::nearest;
use crate::id::NodeId;

/// Finds nodes by name.
pub(super) struct Directory<'a> {
    groups: &'a [model::Group],
    nodes: BTreeMap<&'a str, NodeId>,
}

impl<'a> Directory<'a> {
    pub(super) fn new(groups: &'a [model::Group]) -> Self {
        let names = groups.iter().flat_map(|group| &group.node_names);
        let nodes = names.zip(0..).map(|(name, id)| (name.as_str(), NodeId(id))).collect();
        Self { groups, nodes }
    }

    pub(super) fn find(&self, name: &str) -> Option<NodeId> {
        self.nodes.get(name).copied()
    }

    /// The node of this name, or all nodes of the group of this name.
    pub(super) fn find_all(&self, name: &str) -> Vec<NodeId> {
        if let Some(node) = self.find(name) {
            return vec![node];
        }
        let group = self.groups.iter().filter(|group| group.name == name).flat_map(|group| &group.node_names);
        group.filter_map(|name| self.find(name)).collect()
    }

    /// The group of a node.
    pub(super) fn group(&self, node: NodeId) -> &'a model::Group {
        let mut before = node.0 as usize;
        let group = self.groups.iter().find(|group| {
            let is_here = before < group.node_names.len();
            before = before.saturating_sub(group.node_names.len());
            is_here
        });
        group.expect("a node was found in a group")
    }

    /// The problem, and what would be right.
    pub(super) fn why_unknown(&self, name: &str) -> (String, String) {
        if let Some(group) = self.groups.iter().find(|group| group.name == name) {
            return (format!("is a group of {} nodes", group.node_names.len()), format!("one of {}", range(group)));
        }
        let names: Vec<&str> = self.nodes.keys().copied().collect();
        let known: Vec<String> = self.groups.iter().map(range).collect();
        (format!("there is no node {name:?}{}", nearest::hint(name, &names)), format!("one of {}", known.join(", ")))
    }
}

/// The nodes of a group as a short text.
fn range(group: &model::Group) -> String {
    match group.node_names.as_slice() {
        [first, .., last] => format!("{first} … {last}"),
        names => names.concat(),
    }
}
