//! The cards of a group of nodes: `nodes.card`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::super::declare::{by, computed, is};
use super::super::model;
use super::super::quantity::Time;
use super::Resolver;
use crate::host::card::{CardConfig, CopyTime};

/// A network card between a host and a radio. The processor copies one packet at a time, to the card or from it.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Card {
    /// Card whose measured values are the defaults of the other keys of `card`.
    #[schemars(extend("x-default" = is("pcmcia", "the card of most nodes of the testbed where it was measured")))]
    model: Model,
    /// Number of packets that the card holds for sending; with 1, copying and sending alternate.
    #[schemars(extend("minimum" = 1, "maximum" = 1_000_000, "x-default" = of([1, 10])))]
    transmit_buffers: u32,
    /// Number of packets that the card holds for the host; it drops further arrivals.
    #[schemars(extend("minimum" = 1, "maximum" = 1_000_000, "x-default" = of([5, 31])))]
    receive_buffers: u32,
    /// Time to copy 1500 B to the card.
    #[schemars(extend("minimum" = 0, "maximum" = 1, "x-default" = of(["3.46 ms", "0.96 ms"])))]
    copy_out: Time,
    /// Time to copy 1500 B from the card.
    #[schemars(extend("minimum" = 0, "maximum" = 1, "x-default" = of(["2.057 ms", "0.955 ms"])))]
    copy_in: Time,
    /// Part of `copy_out` that any packet takes. The rest is in proportion to the size.
    #[schemars(extend("minimum" = 0, "maximum" = 1, "x-default" = computed("by Table 1 of S. Desilva and S. R. Das, 2000: 1.019 ms (`pcmcia`), 24.6 us (`isa`); 0 s where `copy_out` is given")))]
    copy_out_fixed: Option<Time>,
    /// Part of `copy_in` that any packet takes. The rest is in proportion to the size.
    #[schemars(extend("minimum" = 0, "maximum" = 1, "x-default" = computed("by Table 1 of S. Desilva and S. R. Das, 2000: 47.9 us (`pcmcia`), 4.9 us (`isa`); 0 s where `copy_in` is given")))]
    copy_in_fixed: Option<Time>,
}

/// A card of the first WaveLAN series.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
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

/// The other packet of Table 1, a route request, in bytes.
const SMALL: f64 = 68.0;

impl Model {
    /// Times of Table 1 in seconds to copy 1500 B and 68 B, to the card and from it.
    const fn copies(self) -> [[f64; 2]; 2] {
        match self {
            Self::Pcmcia => [[3.46e-3, 1.13e-3], [2.057e-3, 0.139e-3]],
            Self::Isa => [[0.96e-3, 0.067e-3], [0.955e-3, 0.048e-3]],
        }
    }

    /// What a copy takes for any packet, to the card and from it, in seconds: where the line through its two times meets zero bytes.
    fn fixed(self) -> [f64; 2] {
        self.copies().map(|[long, small]| (small * COPIED - long * SMALL) / (COPIED - SMALL))
    }
}

impl Resolver<'_> {
    pub(super) fn card(
        &mut self,
        index: &str,
        given: Option<Card>,
        role: model::Role,
        queue_packets: u32,
    ) -> Option<CardConfig> {
        let Card { model, transmit_buffers, receive_buffers, copy_out, copy_in, copy_out_fixed, copy_in_fixed } =
            given?;
        if role == model::Role::Wired {
            let problem = "has no effect: a node of role wired has no radio";
            self.report(&["nodes", index, "card"], problem, "another role");
        }
        let [fixed_out, fixed_in] = model.fixed();
        Some(CardConfig {
            transmit_buffers,
            receive_buffers,
            copy_out: self.copy_time(index, "copy_out", copy_out, copy_out_fixed, fixed_out),
            copy_in: self.copy_time(index, "copy_in", copy_in, copy_in_fixed, fixed_in),
            queue_packets,
        })
    }

    /// The time of copies: that of 1500 B is `copy`, by the key `whole`. A part of it that any packet takes is given, or that of the model.
    fn copy_time(&mut self, index: &str, whole: &str, copy: Time, given: Option<Time>, of_model: f64) -> CopyTime {
        let key = format!("{whole}_fixed");
        let path = ["nodes", index, "card", &key];
        let fixed = match given {
            Some(fixed) => {
                self.ledger.note_given(&path);
                if fixed.0 > copy.0 {
                    self.report(&path, "is longer than the whole copy", format!("at most {whole}"));
                }
                fixed.0
            }
            None if self.ledger.is_given(&["nodes", index, "card", whole]) => {
                self.ledger.note(&path, "0 s", &format!("default: {whole} is given"));
                0.0
            }
            None => {
                let told = format!("{:.1} us", of_model * 1e6);
                self.ledger.note(
                    &path,
                    &told,
                    "default: Table 1 of S. Desilva and S. R. Das, 2000, by its times for 1500 B and 68 B",
                );
                of_model
            }
        };
        CopyTime { fixed: fixed * 1e9, per_octet: (copy.0 - fixed) * 1e9 / COPIED }
    }
}
