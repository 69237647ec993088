//! Variation of power around the mean: shadowing and fading.

use hopcast_radio::fading::Distribution;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::super::{Resolver, word};
use crate::scenario::declare::{computed, is};
use crate::scenario::model;
use crate::scenario::quantity::{Frequency, Length, Level};

/// Variation of power around its mean at a distance.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Variation {
    /// Standard deviation of log-normal shadowing.
    #[schemars(extend("minimum" = 0, "maximum" = 40, "x-default" = is("0 dB", "none")))]
    shadowing: Level,
    /// Scope of one shadowing value.
    #[schemars(extend("x-default" = is("link", "obstacles do not move")))]
    #[expect(dead_code, reason = "read where there is shadowing")]
    shadowing_per: Option<ShadowingPer>,
    /// Distance over which the correlation of a link's shadowing falls to 1/e; with `shadowing_per = "link"`.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1e7, "x-default" = is("20 m", "measured between low antennas in streets (Wang, Tameh, Nix 2008)")))]
    decorrelation_distance: Option<Length>,
    /// Distribution of the power received over many paths.
    #[schemars(extend("x-default" = is("none", "none")))]
    fading: Fading,
    /// Rician factor, for `rician` fading only: power of the steady wave divided by that of the scattered waves, as a
    /// plain ratio.
    #[schemars(extend("minimum" = 0, "maximum" = 1e6, "x-default" = is(6.0, "7.8 dB, a clear path among others")))]
    k: Option<f64>,
    /// Shape of `nakagami` fading; 1 is Rayleigh.
    #[schemars(extend("minimum" = 0.5, "maximum" = 1e6, "x-default" = is(1.0, "Rayleigh")))]
    m: Option<f64>,
    /// Largest Doppler frequency, which makes fading a function of time, the same in both directions of a link.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1e6, "x-default" = computed("a separate draw for each frame at each receiver")))]
    doppler: Option<Frequency>,
}

/// Scope of one shadowing value.
#[derive(Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum ShadowingPer {
    /// The positions of both ends: the value is the same in both directions and at all times, and similar for positions
    /// close by.
    Link,
    /// Each frame at each receiver, as in ns-2.
    Frame,
}

/// Distribution of the power received over many paths.
#[derive(Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Fading {
    /// No fading.
    None,
    /// Scattered waves only.
    Rayleigh,
    /// One steady wave among scattered waves.
    Rician,
    /// Gamma-distributed power.
    Nakagami,
}

impl Resolver<'_> {
    pub(super) fn shadowing(&mut self, given: &Variation) -> Option<model::Shadowing> {
        let path = |key| ["radio", "propagation", key];
        let Level(deviation) = given.shadowing;
        if deviation == 0.0 {
            self.ledger.note_given(&path("shadowing_per"));
            self.ledger.note_given(&path("decorrelation_distance"));
            return None;
        }
        let decorrelation = match self.ledger.read(&path("shadowing_per")) {
            ShadowingPer::Frame => {
                if given.decorrelation_distance.is_some() {
                    let problem = "has no effect: with shadowing_per = \"frame\" no two frames have the same shadowing";
                    self.report(&path("decorrelation_distance"), problem, "shadowing_per = \"link\"");
                }
                None
            }
            ShadowingPer::Link => {
                let Length(distance) = self.ledger.read(&path("decorrelation_distance"));
                Some(distance)
            }
        };
        Some(model::Shadowing { deviation, decorrelation })
    }

    pub(super) fn fading(&mut self, given: &Variation) -> Option<model::Fading> {
        let path = |key| ["radio", "propagation", key];
        for (key, is_given, of) in
            [("k", given.k.is_some(), Fading::Rician), ("m", given.m.is_some(), Fading::Nakagami)]
        {
            if is_given && given.fading != of {
                let of = word(&of);
                self.report(&path(key), format!("is a parameter of fading = \"{of}\" only"), "");
            }
        }
        let distribution = match given.fading {
            Fading::None => {
                self.ledger.note_given(&path("doppler"));
                return None;
            }
            Fading::Rayleigh => Distribution::Rayleigh,
            Fading::Rician => Distribution::Rician { k: self.ledger.read(&path("k")) },
            Fading::Nakagami => Distribution::Nakagami { m: self.ledger.read(&path("m")) },
        };
        match given.doppler {
            Some(_) => self.ledger.note_given(&path("doppler")),
            None => self.ledger.note(&path("doppler"), "a draw for each frame and receiver", "default"),
        }
        Some(model::Fading { distribution, doppler: given.doppler.map(|frequency| frequency.0) })
    }
}
