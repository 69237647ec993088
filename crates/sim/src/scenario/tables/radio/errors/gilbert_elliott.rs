//! `model = "gilbert-elliott"`.

use std::sync::Arc;

use hopcast_radio::errors::{GilbertElliottErrors, States};
use hopcast_radio::phy::ReedSolomon;
use schemars::JsonSchema;
use serde::Deserialize;

use super::super::super::Resolver;
use super::Model;
use crate::scenario::declare::is;
use crate::scenario::model;
use crate::scenario::quantity::Time;

/// Share of data in a coded frame: 60 % (N. Petrovic and M. Aboelaze, study P).
const FEC_EFFICIENCY: f64 = 0.6;

/// A channel of two states at each node; bits of frames that arrive there err by its state.
#[derive(Deserialize, JsonSchema)]
pub(in super::super) struct Keys {
    /// Bit error rate in the good state.
    #[schemars(extend("minimum" = 0, "maximum" = 0.5))]
    good_ber: f64,
    /// Bit error rate in the bad state.
    #[schemars(extend("minimum" = 0, "maximum" = 0.5))]
    bad_ber: f64,
    /// Mean time in the good state; times are exponential.
    #[schemars(extend("minimum" = 1e-6, "maximum" = 1e6))]
    good_mean: Time,
    /// Mean time in the bad state.
    #[schemars(extend("minimum" = 1e-6, "maximum" = 1e6))]
    bad_mean: Time,
    /// Correction of errors.
    #[schemars(extend("x-default" = is("none", "none")))]
    fec: Fec,
    /// Whether bits of the preamble and header of the physical layer err, too.
    #[schemars(extend("x-default" = is(false, "errors are those of the octets that a frame carries")))]
    headers: bool,
}

/// Correction of errors.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Fec {
    /// None.
    None,
    /// RS(255, 153) over every frame: 60 % of its octets are data, and up to 51 wrong ones in each block of 255 are put right.
    ReedSolomon,
}

impl Model for Keys {
    fn resolve(self, _: &mut Resolver<'_>) -> model::Errors {
        let Self { good_ber, bad_ber, good_mean, bad_mean, fec, headers } = self;
        let states = States { good_ber, bad_ber, good_mean: good_mean.into(), bad_mean: bad_mean.into() };
        let code = match fec {
            Fec::None => None,
            Fec::ReedSolomon => Some(ReedSolomon::with_rate(FEC_EFFICIENCY)),
        };
        let make = Arc::new(move |seed| -> Box<dyn hopcast_radio::errors::ErrorModel> {
            Box::new(GilbertElliottErrors::new(seed, states, code, headers))
        });
        model::Errors::Model(model::ErrorModel { code, make })
    }
}
