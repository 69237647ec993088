//! From a document to a scenario: defaults filled in, names turned into indices, and what only the whole can tell checked.

mod arp;
mod association;
mod card;
mod emulation;
mod flows;
mod links;
mod mobility;
mod nodes;
mod radio;
mod routing;

use core::fmt::Display;

use hopcast_protocols::time::{Duration, Instant};
use serde::Serialize;

use super::Source;
use super::document::{Path, Tree};
use super::error::ScenarioError;
use super::explain::{Explained, Ledger};
use super::model::Scenario;
use super::profile::STANDARD;
use super::quantity::{Size, Time};
use super::schema::{Document, Profile};

/// The scenario, all but its digest, and the values in force.
///
/// # Errors
/// Everything in the document that contradicts itself, its standard or its surroundings.
pub(super) fn resolve(
    document: &Document,
    tree: &Tree,
    source: &Source,
) -> Result<(Scenario, Vec<Explained>), Vec<ScenarioError>> {
    let mut resolver =
        Resolver { ledger: Ledger { tree, layer: &STANDARD, rows: Vec::new() }, source, errors: Vec::new() };
    let name = resolver.ledger.pick(&["name"], document.name.clone(), String::clone, || {
        let path = std::path::Path::new(&source.name);
        let stem = path.file_stem().map_or("scenario".into(), |stem| stem.to_string_lossy().into_owned());
        (stem, "default: the name of the file".into())
    });
    let duration = resolver.ledger.pick(&["duration"], Some(document.duration), Time::to_string, || unreachable!());
    let duration = Duration::from_secs_f64(duration.0);
    let seed = resolver.ledger.pick(&["seed"], document.seed, u64::to_string, || (1, "default".into()));

    let radio = document.radio.clone().unwrap_or_default();
    let profile: Profile = resolver.ledger.declared(&["radio", "profile"], radio.profile, word);
    resolver.ledger.layer = profile.layer();
    let (radio, mtu) = resolver.radio(&radio);
    let groups = resolver.groups(&document.nodes, &radio);
    let links = document.links.as_deref().filter(|_| !groups.is_empty()).unwrap_or_default();
    let links = resolver.links(links, &groups);
    resolver.check_association(&radio, &groups, &links);
    // Without nodes, all that can be said of flows follows from that.
    let flows = document.flows.as_deref().filter(|_| !groups.is_empty()).unwrap_or_default();
    let flows = resolver.flows(flows, &groups, flows::Surroundings { mtu });
    let emulation = resolver.emulation(document.emulation.as_ref(), &groups);

    let Resolver { ledger, errors, .. } = resolver;
    if !errors.is_empty() {
        return Err(errors);
    }
    let sha256 = String::new();
    let scenario = Scenario { name, duration, seed, radio, mtu, groups, links, flows, emulation, sha256 };
    Ok((scenario, ledger.rows))
}

struct Resolver<'a> {
    ledger: Ledger<'a>,
    source: &'a Source,
    errors: Vec<ScenarioError>,
}

impl Resolver<'_> {
    /// Reports what is wrong with the value at `path`; an empty `expected` says nothing.
    fn report(&mut self, path: &[&str], problem: impl Into<String>, expected: impl Into<String>) {
        let path: Path = path.iter().map(|step| (*step).to_owned()).collect();
        let expected = Some(expected.into()).filter(|text| !text.is_empty());
        self.errors.push(self.ledger.tree.error(&path, problem, expected));
    }
}

fn instant(time: Time) -> Instant {
    Instant::START + Duration::from_secs_f64(time.0)
}

/// A word of the vocabulary as it is spelled in files.
fn word<T: Serialize>(value: &T) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        other => unreachable!("a word of the vocabulary became {other:?}"),
    }
}

/// Sizes that are compared with packets are shown in bytes.
fn exact(size: &Size) -> String {
    format!("{} B", size.0)
}

fn show<T: Display>(value: &T) -> String {
    value.to_string()
}
