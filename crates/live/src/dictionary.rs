//! The dictionary of what the live commands print, as [`hopcast_sim::results::dictionary`] is that of simulations: the
//! documentation comment of a field is its meaning, extensions of its JSON Schema say the rest.

use serde_json::{Map, Value};

use crate::{cloud, emulate, node, probe, stream};

/// The JSON Schema of each document: `emulate` and `probe` have what these commands add to the fields of a run, `node` is what
/// `hopcast node status --json` prints, and `stream_send`, `stream_receive` and `stream_event` are lines of `hopcast stream --json`.
pub fn schemas() -> Map<String, Value> {
    let [send, receive, event] = stream::schemas();
    let [cloud, play] = cloud::schemas();
    let documents = [
        ("cloud", cloud),
        ("cloud_play", play),
        ("emulate", emulate::schema()),
        ("probe", probe::record::schema()),
        ("node", node::schema()),
        ("stream_send", send),
        ("stream_receive", receive),
        ("stream_event", event),
    ];
    documents.into_iter().map(|(name, schema)| (name.to_owned(), schema)).collect()
}
