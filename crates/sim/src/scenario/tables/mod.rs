//! The tables of a scenario, one file each: its keys with their limits and defaults, and what they mean.
//!
//! hopcast derives reading, checking, the reference page, the JSON Schema and the types for Python from the keys. Each
//! key declares its default next to its limits (`x-default`, [`super::declare`]); profiles override it
//! ([`super::profile`]). Limits are in SI units (watts for powers), as in the JSON Schema. [`super::read`] reads the
//! values of the keys, and the [`Resolver`] makes a [`Scenario`] of them: it turns names into indices, works out the
//! defaults that depend on other keys, and checks what involves several keys.

/// Converts words of the vocabulary to the model's variants of the same names, and back.
macro_rules! alike {
    ($word:ty, $model:ty: $($name:ident),*) => {
        impl From<$word> for $model {
            fn from(word: $word) -> Self {
                match word { $(<$word>::$name => Self::$name),* }
            }
        }

        impl From<$model> for $word {
            fn from(model: $model) -> Self {
                match model { $(<$model>::$name => Self::$name),* }
            }
        }
    };
}

mod access;
mod arp;
mod card;
mod cloud;
mod custom;
mod directory;
mod emulation;
mod flows;
mod links;
mod mobility;
mod nodes;
mod placement;
mod radio;
mod routing;
mod way;

use hopcast_protocols::time::{Duration, Instant};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Source;
use super::declare::{computed, is, nothing};
use super::document::{Path, Tree};
use super::error::ScenarioError;
use super::explain::{Explained, Ledger};
use super::model::Scenario;
use super::profile::{Profile, STANDARD};
use super::quantity::{Size, Time};
use super::read::Later;

/// A scenario: what hopcast simulates, and for how long.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename = "Scenario")]
pub(super) struct Document {
    /// Title of the scenario, for people.
    #[schemars(extend("maxLength" = 200, "x-default" = computed("the name of the file")))]
    name: Option<String>,
    /// Simulated time of the run. Nothing happens after it.
    #[schemars(extend("minimum" = 1e-9, "maximum" = 315_576_000))]
    duration: Time,
    /// Seed of all random numbers of the run.
    #[schemars(extend("x-default" = is(1, "")))]
    seed: u64,
    /// Defaults for the radio of every node.
    #[schemars(extend("x-default" = computed("all of its defaults")))]
    radio: Later<radio::Radio>,
    /// Nodes, and groups of nodes.
    #[schemars(extend("minItems" = 1))]
    nodes: Later<Vec<nodes::Nodes>>,
    /// Wires between nodes.
    #[schemars(extend("x-default" = nothing("none", "")))]
    links: Later<Vec<links::Link>>,
    /// Streams of data between nodes.
    #[schemars(extend("x-default" = nothing("none", "")))]
    flows: Later<Vec<flows::Flow>>,
    /// Devices that store clips and stream them to each other.
    #[schemars(extend("x-default" = nothing("none", "")))]
    cloud: Option<Later<cloud::Cloud>>,
    /// Settings for real hosts (`hopcast emulate`).
    emulation: Later<emulation::Emulation>,
}

/// The scenario without its digest, and the values in force.
///
/// # Errors
/// Everything in the document that contradicts itself, its standard or its surroundings.
pub(super) fn resolve(
    values: &Value,
    tree: &Tree,
    source: &Source,
) -> Result<(Scenario, Vec<Explained>), Vec<ScenarioError>> {
    let given = |profile: &Value| Profile::deserialize(profile).expect("the check has passed it").layer();
    let layer = values.pointer("/radio/profile").map_or(&STANDARD, given);
    let ledger = Ledger { tree, values, layer, rows: Vec::new() };
    let mut resolver = Resolver { ledger, source, errors: Vec::new() };
    let document: Document = resolver.ledger.read(&[]);
    let name = resolver.ledger.pick(&["name"], document.name, || {
        let path = std::path::Path::new(&source.name);
        let stem = path.file_stem().map_or("scenario".into(), |stem| stem.to_string_lossy().into_owned());
        (stem, "default: the name of the file".into())
    });
    let (radio, mtu) = resolver.radio(&document.radio);
    let groups = resolver.groups(&document.nodes, &radio);
    // Without nodes, all that can be said of links and flows follows from that.
    let (links, flows) = match groups.as_slice() {
        [] => (Vec::new(), Vec::new()),
        _ => (resolver.links(&document.links, &groups), resolver.flows(&document.flows, &groups, mtu)),
    };
    resolver.check_association(&radio, &groups, &links);
    let cloud = if groups.is_empty() { None } else { resolver.cloud(document.cloud.as_ref(), &groups, &radio) };
    let emulation = resolver.emulation(&document.emulation, &groups);

    let Resolver { ledger, errors, .. } = resolver;
    if !errors.is_empty() {
        return Err(errors);
    }
    let scenario = Scenario {
        name,
        duration: document.duration.into(),
        seed: document.seed,
        radio,
        mtu,
        groups,
        links,
        flows,
        cloud,
        emulation,
        sha256: String::new(),
    };
    Ok((scenario, ledger.rows))
}

struct Resolver<'a> {
    ledger: Ledger<'a>,
    source: &'a Source,
    errors: Vec<ScenarioError>,
}

impl Resolver<'_> {
    /// Resolves each table of the list at `path`, and collects what `resolve` returns.
    fn each<T: DeserializeOwned, R>(
        &mut self,
        list: &Later<Vec<T>>,
        path: &[&str],
        mut resolve: impl FnMut(&mut Self, &str, T) -> Option<R>,
    ) -> Vec<R> {
        let mut resolved = Vec::new();
        for place in 0..self.ledger.count(path) {
            let index = place.to_string();
            let table = list.element(&mut self.ledger, &[path, &[index.as_str()]].concat());
            resolved.extend(resolve(self, &index, table));
        }
        resolved
    }

    /// Reports what is wrong with the value at `path`; with an empty `expected` the message leaves out what would be
    /// right.
    fn report(&mut self, path: &[&str], problem: impl Into<String>, expected: impl Into<String>) {
        let path: Path = path.iter().map(|step| (*step).to_owned()).collect();
        let expected = Some(expected.into()).filter(|text| !text.is_empty());
        self.errors.push(self.ledger.tree.error(&path, problem, expected));
    }
}

/// A size of a packet or less in bytes. The schema keeps such sizes below 1 MB.
fn bytes(size: Size) -> u32 {
    size.0 as u32
}

/// A word of the vocabulary as it is spelled in files.
fn word<T: Serialize>(value: &T) -> String {
    match serde_json::to_value(value) {
        Ok(Value::String(word)) => word,
        other => unreachable!("a word of the vocabulary became {other:?}"),
    }
}

fn instant(time: Time) -> Instant {
    Instant::START + Duration::from(time)
}
