//! Results of a run: one object for JSON, and tables.

mod cloud;
mod conversation;
mod cost;
pub mod dictionary;
mod layout;
pub(crate) mod output;
mod record;
mod replication;
mod series;
mod table;

pub use cloud::{CloudRecord, CloudTotals, OutcomeName, Reason, StreamRecord, stream_table};
pub use conversation::{ConversationRecord, ConversationRecords, RtpRecord};
pub use conversation::{conversation_series_table, conversation_table, rtp_table};
pub use cost::{Cost, Meter, Spent};
pub use layout::write_layout;
pub use output::{OutputError, prepare_folder, write_tables, write_text};
pub use record::{Drops, FlowRecord, NodeRecord, Provenance, RadioRecord, Totals};
pub(crate) use record::{node_names, protocol};
pub use replication::Replication;
pub use series::{QueueSample, RateSample, RunSeries};
pub use table::{flow_table, node_table, series_table};

use schemars::JsonSchema;
use serde::Serialize;

/// The outcome of one run with one seed.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct RunResult {
    /// Flows in the order of the scenario.
    pub flows: Vec<FlowRecord>,
    /// Nodes in the order of the scenario.
    pub nodes: Vec<NodeRecord>,
    /// Sums over the medium and all nodes.
    pub totals: Totals,
    /// Conversations between real hosts; a run without real hosts leaves out the keys.
    #[serde(flatten)]
    pub conversations: Option<ConversationRecords>,
    /// The streaming cloud; a run without one leaves out the key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cloud: Option<CloudRecord>,
    /// Warnings as sentences: for example about a flow that had to use lossy links. Without any, the key is missing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// Cost of the run: the only part that differs between two runs of the same scenario, seed and version.
    pub cost: Cost,
    /// Identity of the run.
    pub provenance: Provenance,
    /// Flows and queues over time; in the table only.
    #[serde(skip)]
    pub series: RunSeries,
}

impl RunResult {
    /// One JSON object on one line: the fields of this and of all its parts, in their order. `null` means not measured.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("a result holds nothing that JSON lacks")
    }
}
