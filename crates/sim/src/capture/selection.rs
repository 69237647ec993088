//! Which frames and packets a run's captures hold.

use crate::engine::Attachment;
use crate::layout;
use crate::scenario::model::Scenario;
use crate::scenario::nearest;

/// Name of the capture of the medium, without its ending.
pub(super) const MEDIUM: &str = "medium";

/// What is captured, and in which files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    /// By node: whether it has a file.
    pub(super) nodes: Vec<bool>,
    /// Whether these files leave out what a radio heard though it was sent to another station.
    pub(super) is_addressed: bool,
    /// Whether there is a file with each frame once, as its sender sent it.
    pub(super) has_medium: bool,
}

impl Selection {
    /// Every frame and packet, in a file for each node of `scenario`.
    pub fn all(scenario: &Scenario) -> Self {
        Self { nodes: names(scenario).map(|_| true).collect(), is_addressed: false, has_medium: false }
    }

    /// Files for the nodes with these names (`None`: all nodes), and one of the medium if `has_medium`. With `is_addressed`,
    /// the files of nodes leave out what they heard though it was sent to another station.
    ///
    /// # Errors
    /// A name that no node has, a node that is named as the capture of the medium, or no medium at all.
    pub fn of(
        scenario: &Scenario,
        nodes: Option<&[String]>,
        is_addressed: bool,
        has_medium: bool,
    ) -> Result<Self, SelectionError> {
        let known: Vec<&str> = names(scenario).collect();
        let unknown = nodes.unwrap_or_default().iter().find(|name| !known.contains(&name.as_str()));
        if let Some(name) = unknown {
            return Err(SelectionError::Unknown { name: name.clone(), hint: nearest::hint(name, &known) });
        }
        let is_selected = |known: &&str| nodes.is_none_or(|nodes| nodes.iter().any(|name| name == known));
        let selected = known.iter().map(is_selected).collect();
        if has_medium && known.iter().any(|name| *name == MEDIUM && is_selected(name)) {
            return Err(SelectionError::Medium);
        }
        let ports = layout::ports(scenario);
        let has_radio = |node| ports.attachments(node).iter().any(|end| matches!(end, Attachment::Station(_)));
        if has_medium && !(0..known.len()).any(has_radio) {
            return Err(SelectionError::NoRadio);
        }
        Ok(Self { nodes: selected, is_addressed, has_medium })
    }

    /// Number of files of one replication.
    pub fn files(&self) -> usize {
        self.nodes.iter().filter(|&&is_selected| is_selected).count() + usize::from(self.has_medium)
    }

    /// Names of the files without their endings.
    pub(super) fn names<'a>(&'a self, scenario: &'a Scenario) -> impl Iterator<Item = &'a str> {
        let selected = names(scenario).zip(&self.nodes).filter(|(_, is_selected)| **is_selected).map(|(name, _)| name);
        selected.chain(self.has_medium.then_some(MEDIUM))
    }
}

/// Why nothing can be captured as asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SelectionError {
    /// No node has this name.
    #[error("there is no node {name:?}{hint}")]
    Unknown {
        /// The name.
        name: String,
        /// The nearest name, if one is near.
        hint: String,
    },
    /// The capture of a node would have the name of that of the medium.
    #[error("a node is named \"medium\", as the capture of the medium; capture only one of them, or rename the node")]
    Medium,
    /// No frames can be captured where there are only wires.
    #[error("there is no medium to capture: no node has a radio")]
    NoRadio,
}

fn names(scenario: &Scenario) -> impl Iterator<Item = &str> {
    scenario.groups.iter().flat_map(|group| &group.node_names).map(String::as_str)
}
