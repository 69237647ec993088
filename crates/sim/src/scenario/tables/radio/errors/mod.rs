//! Losses in addition to those of reception: `radio.errors`. One file a model, and [`Kinds`] is the list of them.

mod gilbert_elliott;
mod packet;

use std::sync::Arc;

use hopcast_protocols::random::{Purpose, Streams};
use schemars::JsonSchema;
use serde::Deserialize;

use super::super::Resolver;
use super::super::custom::Custom;
use crate::scenario::model;
use crate::scenario::read::Later;

/// Losses in addition to those of `reception`.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(tag = "model", deny_unknown_fields)]
pub(super) enum Kinds {
    /// No additional losses.
    None {},
    Packet(packet::Keys),
    GilbertElliott(gilbert_elliott::Keys),
    Custom(Custom),
}

/// The keys of a model.
trait Model {
    /// The losses with these keys.
    fn resolve(self, resolver: &mut Resolver<'_>) -> model::Errors;
}

impl Resolver<'_> {
    pub(super) fn errors(&mut self, errors: &Later<Kinds>) -> model::Errors {
        match errors.read(&mut self.ledger, &["radio", "errors"]) {
            Kinds::None {} => model::Errors::None,
            Kinds::Packet(keys) => keys.resolve(self),
            Kinds::GilbertElliott(keys) => keys.resolve(self),
            Kinds::Custom(keys) => keys.resolve(self),
        }
    }
}

impl Model for Custom {
    fn resolve(self, resolver: &mut Resolver<'_>) -> model::Errors {
        let models = &resolver.source.registry.error_model;
        let Some(make) = resolver.custom(&["radio", "errors"], "error model", &self, models) else {
            // Stands for what is wrong, which is reported.
            return model::Errors::None;
        };
        let make = Arc::new(move |seed| make(Streams::new(seed, Purpose::ErrorModel, 0)));
        model::Errors::Model(model::ErrorModel { code: None, make })
    }
}
