//! How nodes find routes.

use super::super::model;
use super::super::nearest;
use super::super::schema::Routing;
use super::Resolver;

impl Resolver<'_> {
    /// The routing of the group with this index; static where there is none, or none that can be had.
    pub(super) fn routing(&mut self, index: &str, routing: Option<&Routing>) -> model::Routing {
        let path = ["nodes", index, "routing"];
        match routing {
            None => {
                self.ledger.note(&["nodes", index, "routing", "protocol"], "static", "default");
                model::Routing::Static
            }
            Some(Routing::Static {}) => {
                self.ledger.note_given(&path);
                model::Routing::Static
            }
            Some(Routing::Custom { name, parameters }) => {
                self.ledger.note_given(&path);
                self.custom_routing(index, name, parameters.clone().unwrap_or_default())
            }
        }
    }

    fn custom_routing(
        &mut self,
        index: &str,
        name: &str,
        parameters: serde_json::Map<String, serde_json::Value>,
    ) -> model::Routing {
        let at = |key| ["nodes", index, "routing", key];
        match self.source.registry.routing(name, parameters) {
            Some(Ok(protocol)) => return model::Routing::Protocol(protocol),
            Some(Err(problem)) => self.report(&at("parameters"), problem, ""),
            None => {
                let known: Vec<&str> = self.source.registry.routing_names().collect();
                let expected = match known.as_slice() {
                    [] => "a protocol that this program was built with: it has none of its own".to_owned(),
                    _ => format!("one of {}", known.join(", ")),
                };
                let problem = format!("there is no protocol of this name{}", nearest::hint(name, &known));
                self.report(&at("name"), problem, expected);
            }
        }
        model::Routing::Static
    }
}
