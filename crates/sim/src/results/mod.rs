//! What a run measured: one object for JSON, tables for everything else.

mod conversation;
mod cost;
pub(crate) mod output;
mod record;
mod replication;
mod series;
mod table;

pub use conversation::{
    ConversationRecord, ConversationRecords, RtpRecord, conversation_series_table, conversation_table, rtp_table,
};
pub use cost::{Cost, Meter, Spent};
pub use output::{OutputError, check_folder, write_tables, write_text};
pub use record::{Drops, FlowRecord, NodeRecord, Provenance, RadioRecord, Totals};
pub use replication::Replication;
pub use series::{QueueSample, RateSample, RunSeries};
pub use table::{flow_table, node_table, series_table};

use serde::Serialize;

/// The outcome of one run with one seed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunResult {
    /// Flows in the order of the scenario.
    pub flows: Vec<FlowRecord>,
    /// Nodes in the order of the scenario.
    pub nodes: Vec<NodeRecord>,
    /// Sums over the medium and all nodes.
    pub totals: Totals,
    /// What real hosts said to each other; without any the keys are left out.
    #[serde(flatten)]
    pub conversations: Option<ConversationRecords>,
    /// What users should know of how the run was set up: sentences, such as of a flow that had to take lossy links. Without
    /// any the key is left out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// What the run took: all that differs between two runs of the same scenario, seed and version.
    pub cost: Cost,
    /// What was run.
    pub provenance: Provenance,
    /// How flows and queues developed; in the table only.
    #[serde(skip)]
    pub series: RunSeries,
}

impl RunResult {
    /// One JSON object on one line: the fields of this and of all it consists of, in their order. What could not be
    /// measured is `null`.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("a result holds nothing that JSON lacks")
    }
}
