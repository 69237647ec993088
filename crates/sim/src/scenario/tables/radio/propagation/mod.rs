//! Path loss, and the variation around it: `radio.propagation`. One file a model, and [`Kinds`] is the list of them.

mod free_space;
mod log_distance;
mod two_ray_ground;
mod two_ray_interference;
mod variation;

use std::borrow::Cow;
use std::sync::Arc;

use hopcast_radio::phy::Standard;
use hopcast_radio::propagation;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Deserialize;
use serde_json::Value;

use super::super::Resolver;
use super::super::custom::Custom;
use crate::registry::MakePropagation;
use crate::scenario::declare::{computed, is};
use crate::scenario::model;
use crate::scenario::quantity::{Frequency, Length};
use crate::scenario::read::Later;
use variation::Variation;

/// Path loss: the fall of received power with distance.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(tag = "model", deny_unknown_fields)]
pub(super) enum Kinds {
    /// Reception by distance, without a calculation of power. Any overlapping transmission within `carrier_sense` of the
    /// receiver destroys a frame, without capture.
    Range {
        /// Distance up to which a receiver decodes frames.
        #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1e7))]
        receive: Length,
        /// Distance up to which a node senses frames, and up to which frames destroy others.
        #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1e7))]
        carrier_sense: Length,
    },
    FreeSpace(WithPower<free_space::Keys>),
    TwoRayGround(WithPower<two_ray_ground::Keys>),
    TwoRayInterference(WithPower<two_ray_interference::Keys>),
    LogDistance(WithPower<log_distance::Keys>),
    Custom(WithPower<Custom>),
}

/// The keys of a path loss model.
trait Model: Send + Sync + 'static {
    /// The model of a run for a carrier frequency in hertz.
    fn make(&self, frequency: f64) -> Box<dyn propagation::Propagation>;
}

/// The keys of a model, and those that all models with power share.
#[derive(Deserialize)]
pub(super) struct WithPower<K>(K, Power);

/// Keys that all models with power share.
#[derive(Deserialize, JsonSchema)]
struct Power {
    /// Carrier frequency.
    #[schemars(extend("minimum" = 1e6, "maximum" = 1e12, "x-default" = computed("frequency of `radio.channel`; 914 MHz under profile `ns-2`")))]
    frequency: Option<Frequency>,
}

impl<K: JsonSchema> JsonSchema for WithPower<K> {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        K::schema_name()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = K::json_schema(generator);
        let keys = schema.ensure_object().entry("properties").or_insert_with(|| serde_json::json!({}));
        for common in [Power::json_schema(generator), Variation::json_schema(generator)] {
            for (key, property) in common.get("properties").and_then(Value::as_object).into_iter().flatten() {
                keys[key] = property.clone();
            }
        }
        schema
    }
}

/// The default of both models with a ground.
fn antenna_height() -> Value {
    is("1.5 m", "a device carried by a person, and Z_ 1.5 in ns-2")
}

/// What the propagation determines.
pub(super) struct Resolved {
    pub(super) propagation: model::Propagation,
    pub(super) shadowing: Option<model::Shadowing>,
    pub(super) fading: Option<model::Fading>,
}

impl Resolver<'_> {
    /// `channel` is the centre of the channel in hertz, if one is given.
    pub(super) fn propagation(&mut self, keys: &Later<Kinds>, standard: Standard, channel: Option<f64>) -> Resolved {
        match keys.read(&mut self.ledger, &["radio", "propagation"]) {
            Kinds::Range { receive, carrier_sense } => {
                if carrier_sense.0 < receive.0 {
                    self.report(
                        &["radio", "propagation", "carrier_sense"],
                        format!("is less than receive ({receive}): nodes would decode frames that they cannot sense"),
                        format!("at least {receive}"),
                    );
                }
                let range = propagation::Range { receive: receive.0, carrier_sense: carrier_sense.0 };
                Resolved { propagation: model::Propagation::Range(range), shadowing: None, fading: None }
            }
            Kinds::FreeSpace(keys) => self.path_loss(keys, standard, channel),
            Kinds::TwoRayGround(keys) => self.path_loss(keys, standard, channel),
            Kinds::TwoRayInterference(keys) => self.path_loss(keys, standard, channel),
            Kinds::LogDistance(keys) => self.path_loss(keys, standard, channel),
            Kinds::Custom(WithPower(custom, power)) => {
                let models = &self.source.registry.propagation;
                match self.custom(&["radio", "propagation"], "propagation model", &custom, models) {
                    Some(make) => self.path_loss(WithPower(make, power), standard, channel),
                    // Stands for what is wrong, which is reported.
                    None => self.path_loss(WithPower(free_space::Keys {}, power), standard, channel),
                }
            }
        }
    }

    fn path_loss(
        &mut self,
        WithPower(model, power): WithPower<impl Model>,
        standard: Standard,
        channel: Option<f64>,
    ) -> Resolved {
        let path = ["radio", "propagation"];
        let frequency = self.frequency(power.frequency, channel, standard);
        let make = move || model.make(frequency);
        let variation: Variation = self.ledger.read(&path);
        Resolved {
            propagation: model::Propagation::Path(model::PathLoss { frequency, make: Arc::new(make) }),
            shadowing: self.shadowing(&variation),
            fading: self.fading(&variation),
        }
    }

    fn frequency(&mut self, given: Option<Frequency>, channel: Option<f64>, standard: Standard) -> f64 {
        let path = ["radio", "propagation", "frequency"];
        let of_profile = self.ledger.of_profile(&path);
        let frequency = self.ledger.pick(&path, given, || match channel {
            Some(frequency) => (Frequency(frequency), "default: frequency of radio.channel".into()),
            None => of_profile.unwrap_or_else(|| {
                (Frequency(standard.default_channel().frequency), format!("default: the first channel of {standard}"))
            }),
        });
        frequency.0
    }
}

impl Model for MakePropagation {
    fn make(&self, frequency: f64) -> Box<dyn propagation::Propagation> {
        self(frequency)
    }
}
