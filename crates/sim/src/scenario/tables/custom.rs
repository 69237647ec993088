//! Models that a program has added to hopcast, by name.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::super::declare::computed;
use super::super::nearest;
use super::Resolver;

/// A model that a program has added to hopcast.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Custom {
    /// The name under which the program added it.
    pub(super) name: String,
    /// Parameters of the model.
    #[schemars(extend("x-free" = true, "x-default" = computed("none")))]
    parameters: Option<Map<String, Value>>,
}

impl Custom {
    pub(super) fn parameters(&self) -> Map<String, Value> {
        self.parameters.clone().unwrap_or_default()
    }
}

impl Resolver<'_> {
    /// What was `found` for the table at `path`: a model of this kind, or what is wrong with its parameters. Where nothing was, that is
    /// reported, with the names that are `known`.
    pub(super) fn custom<M>(
        &mut self,
        path: &[&str],
        kind: &str,
        custom: &Custom,
        found: Option<Result<M, String>>,
        known: &[&str],
    ) -> Option<M> {
        let at = |key| [path, &[key]].concat();
        match found {
            Some(Ok(model)) => return Some(model),
            Some(Err(problem)) => self.report(&at("parameters"), problem, ""),
            None => {
                let expected = match known {
                    [] => "one that this program was built with or given: it has none".to_owned(),
                    _ => format!("one of {}", known.join(", ")),
                };
                let hint = nearest::hint(&custom.name, known);
                self.report(&at("name"), format!("there is no {kind} of this name{hint}"), expected);
            }
        }
        None
    }
}
