//! Models that a program has added to hopcast, by name.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::super::declare::computed;
use super::super::nearest;
use super::Resolver;
use crate::registry::Models;

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
    fn parameters(&self) -> Map<String, Value> {
        self.parameters.clone().unwrap_or_default()
    }
}

impl Resolver<'_> {
    /// Returns what makes the model of this kind that the table at `path` names. Reports an unknown name and wrong
    /// parameters.
    pub(super) fn custom<M>(&mut self, path: &[&str], kind: &str, custom: &Custom, models: &Models<M>) -> Option<M> {
        let at = |key| [path, &[key]].concat();
        match models.get(&custom.name, custom.parameters()) {
            Some(Ok(model)) => return Some(model),
            Some(Err(problem)) => self.report(&at("parameters"), problem, ""),
            None => {
                let known: Vec<&str> = models.names().collect();
                let expected = match known[..] {
                    [] => "a model that this program was built with or given: it has none".to_owned(),
                    _ => format!("one of {}", known.join(", ")),
                };
                let hint = nearest::hint(&custom.name, &known);
                self.report(&at("name"), format!("there is no {kind} of this name{hint}"), expected);
            }
        }
        None
    }
}
