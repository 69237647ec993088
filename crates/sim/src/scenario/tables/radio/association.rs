//! Association of stations with access points.

use hopcast_radio::phy::Standard;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::Resolver;
use super::Radio;
use crate::scenario::model;
use crate::scenario::quantity::Time;

/// Association of stations with access points.
#[derive(Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Association {
    /// Each station belongs to the nearest access point from the start, and sends no frame for it.
    Implicit,
    /// Over the air: stations wait for beacons.
    Passive,
    /// Over the air: stations send probe requests.
    Active,
}

/// A time unit of 802.11, in seconds (IEEE 802.11-2020, 3.1).
const TIME_UNIT: f64 = 0.001_024;

impl Resolver<'_> {
    /// The association over the air; `None` if it is implicit.
    pub(super) fn association(&mut self, radio: &Radio, standard: Standard) -> Option<model::Association> {
        let path = ["radio", "association"];
        let association = radio.association;
        let interval_path = ["radio", "beacon_interval"];
        if association == Association::Implicit {
            if radio.beacon_interval.is_some() {
                self.report(
                    &interval_path,
                    "has no effect: association is implicit",
                    "association = \"passive\" or \"active\"",
                );
            }
            return None;
        }
        if !standard.acknowledges() {
            self.report(&path, format!("{standard} has no access points"), "\"implicit\", or another standard");
        }
        let interval: Time = self.ledger.read(&interval_path);
        let units = libm::round(interval.0 / TIME_UNIT);
        if libm::fabs(units * TIME_UNIT - interval.0) > 1e-9 {
            let expected = format!("a multiple of it, such as {}", Time(units.max(1.0) * TIME_UNIT));
            self.report(&interval_path, "is not a whole number of time units of 1.024 ms", expected);
        }
        // The schema keeps it within 16 bits.
        Some(model::Association { asks: association == Association::Active, beacon_interval: units as u16 })
    }

    /// Reports routing protocols and wires that association over the air excludes: the tables of all nodes follow the
    /// stations.
    pub(in super::super) fn check_association(
        &mut self,
        radio: &model::Radio,
        groups: &[model::Group],
        links: &[model::WiredLink],
    ) {
        if radio.association.is_none() {
            return;
        }
        let mut first = 0;
        for (place, group) in groups.iter().enumerate() {
            let place = place.to_string();
            if let model::Routing::Protocol(_) = group.routing {
                let problem = "cannot handle stations that associate over the air";
                self.report(&["nodes", &place, "routing", "protocol"], problem, "\"static\" at all nodes");
            }
            let nodes = first..first + group.node_names.len() as u32;
            let is_wired = links.iter().any(|link| link.between.iter().any(|end| nodes.contains(&end.0)));
            if group.role == model::Role::Station && is_wired {
                let problem =
                    "has a wire: a station that associates over the air is connected to its access point only";
                self.report(&["nodes", &place, "role"], problem, "another role, or links between other nodes");
            }
            first = nodes.end;
        }
    }
}
