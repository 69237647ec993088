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

impl Resolver<'_> {
    /// Returns what makes the model of this kind that the table at `path` names. Reports an unknown name and wrong
    /// parameters.
    pub(super) fn custom<M>(&mut self, path: &[&str], kind: &str, custom: &Custom, models: &Models<M>) -> Option<M> {
        let at = |key| [path, &[key]].concat();
        let Custom { name, parameters } = custom;
        self.added([&at("name"), &at("parameters")], kind, name, parameters.as_ref(), (&[], models))
    }

    /// The same for a name and parameters that are at two paths, where the name may also be one of some built-in models, which it is
    /// not.
    pub(super) fn added<M>(
        &mut self,
        [name_at, parameters_at]: [&[&str]; 2],
        kind: &str,
        name: &str,
        parameters: Option<&Map<String, Value>>,
        (built_in, models): (&[&str], &Models<M>),
    ) -> Option<M> {
        match models.get(name, parameters.cloned().unwrap_or_default()) {
            Some(Ok(model)) => return Some(model),
            Some(Err(problem)) => self.report(parameters_at, problem, ""),
            None => {
                let known: Vec<&str> = built_in.iter().copied().chain(models.names()).collect();
                let expected = match known[..] {
                    [] => "a model that this program was built with or given: it has none".to_owned(),
                    _ => format!("one of {}", known.join(", ")),
                };
                let hint = nearest::hint(name, &known);
                self.report(name_at, format!("there is no {kind} of this name{hint}"), expected);
            }
        }
        None
    }
}
