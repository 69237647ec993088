//! The cards of a group of nodes: `nodes.card`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::super::declare::{by, is};
use super::super::model;
use super::super::quantity::Time;
use super::Resolver;
use crate::host::card::CardConfig;

/// A network card between a host and a radio. The processor copies one packet at a time, to the card or from it.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Card {
    /// Card whose measured values are the defaults of the other keys of `card`.
    #[schemars(extend("x-default" = is("pcmcia", "the card of most nodes of the testbed where it was measured")))]
    #[expect(dead_code, reason = "the defaults of the other keys follow it")]
    model: Model,
    /// Number of packets that the card holds for sending; with 1, copying and sending alternate.
    #[schemars(extend("minimum" = 1, "maximum" = 1_000_000, "x-default" = of([1, 10])))]
    transmit_buffers: u32,
    /// Number of packets that the card holds for the host; it drops further arrivals.
    #[schemars(extend("minimum" = 1, "maximum" = 1_000_000, "x-default" = of([5, 31])))]
    receive_buffers: u32,
    /// Time to copy 1500 B to the card; for other packets in proportion to their size.
    #[schemars(extend("minimum" = 0, "maximum" = 1, "x-default" = of(["3.46 ms", "0.96 ms"])))]
    copy_out: Time,
    /// Time to copy 1500 B from the card; for other packets in proportion to their size.
    #[schemars(extend("minimum" = 0, "maximum" = 1, "x-default" = of(["2.057 ms", "0.955 ms"])))]
    copy_in: Time,
}

/// A card of the first WaveLAN series.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Model {
    /// In a laptop's PCMCIA slot.
    Pcmcia,
    /// In a desktop's ISA slot.
    Isa,
}

/// A default by model of card.
fn of<V: Serialize>([pcmcia, isa]: [V; 2]) -> Value {
    const SOURCES: [&str; 2] = [
        "pcmcia WaveLAN, Table 1 of S. Desilva and S. R. Das, 2000",
        "isa WaveLAN, Table 1 of S. Desilva and S. R. Das, 2000",
    ];
    by("model", [("pcmcia", pcmcia, SOURCES[0]), ("isa", isa, SOURCES[1])])
}

/// The packet whose copying time the keys give, in bytes.
const COPIED: f64 = 1500.0;

impl Resolver<'_> {
    pub(super) fn card(
        &mut self,
        index: &str,
        given: Option<Card>,
        role: model::Role,
        queue_packets: u32,
    ) -> Option<CardConfig> {
        let Card { transmit_buffers, receive_buffers, copy_out, copy_in, .. } = given?;
        if role == model::Role::Wired {
            let problem = "has no effect: a node of role wired has no radio";
            self.report(&["nodes", index, "card"], problem, "another role");
        }
        Some(CardConfig {
            transmit_buffers,
            receive_buffers,
            copy_out: copy_out.0 * 1e9 / COPIED,
            copy_in: copy_in.0 * 1e9 / COPIED,
            queue_packets,
        })
    }
}
