//! The example scenarios of the folder `examples/`, compiled in, so that an installed hopcast has them too.

use pyo3::pyfunction;

macro_rules! files {
    ($($name:literal),+ $(,)?) => {
        &[$(($name, include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/", $name)))),+]
    };
}

/// Name and text of each file, in the order in which `hopcast init` lists scenarios. Scenarios of scripts are left out.
const FILES: &[(&str, &str)] = files![
    "smallest.toml",
    "film.toml",
    "video.toml",
    "hidden-terminals.toml",
    "exposed-terminals.toml",
    "cell.toml",
    "edca.toml",
    "mixed.toml",
    "rates.toml",
    "walk.toml",
    "walk.movements",
    "house.toml",
    "wires.toml",
    "access.toml",
    "call.toml",
    "string.toml",
    "mesh.toml",
    "waypoint.toml",
    "crossing.toml",
    "fec.toml",
    "pair.toml",
    "wifi.toml",
    "wifi.movements",
];

/// The example scenarios and the files that they need: name and text of each.
#[pyfunction]
pub(crate) fn examples() -> Vec<(&'static str, &'static str)> {
    FILES.to_vec()
}
