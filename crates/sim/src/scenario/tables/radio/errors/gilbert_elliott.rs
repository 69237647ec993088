//! `model = "gilbert-elliott"`.

use std::sync::Arc;

use hopcast_radio::errors::{self, GilbertElliottErrors, States};
use hopcast_radio::phy::{FrameCode, ReedSolomon};
use schemars::JsonSchema;
use serde::Deserialize;

use super::super::super::Resolver;
use super::Model;
use crate::scenario::declare::is;
use crate::scenario::model;
use crate::scenario::quantity::Time;

/// Share of data in a coded frame: 60 % (N. Petrovic and M. Aboelaze, study P).
const FEC_EFFICIENCY: f64 = 0.6;

/// A channel of two states at each node; the state sets the error rate of bits that arrive there.
#[derive(Deserialize, JsonSchema)]
pub(in super::super) struct Keys {
    /// Bit error rate in the good state.
    #[schemars(extend("minimum" = 0, "maximum" = 0.5))]
    good_ber: f64,
    /// Bit error rate in the bad state.
    #[schemars(extend("minimum" = 0, "maximum" = 0.5))]
    bad_ber: f64,
    /// Mean time in the good state; times are exponentially distributed.
    #[schemars(extend("minimum" = 1e-6, "maximum" = 1e6))]
    good_mean: Time,
    /// Mean time in the bad state; times are exponentially distributed.
    #[schemars(extend("minimum" = 1e-6, "maximum" = 1e6))]
    bad_mean: Time,
    /// Error correction.
    #[schemars(extend("x-default" = is("none", "none")))]
    fec: Fec,
    /// Frames that `fec` protects.
    #[schemars(extend("x-default" = is("all", "none is excepted")))]
    fec_frames: FecFrames,
    /// Whether bits of the physical layer's preamble and header have errors, too.
    #[schemars(extend("x-default" = is(false, "only bytes that a frame carries have errors")))]
    headers: bool,
    /// What moves the states on.
    #[schemars(extend("x-default" = is("time", "E. N. Gilbert, E. O. Elliott: a channel does not wait for frames")))]
    clock: Clock,
}

/// What moves the states of a channel on.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Clock {
    /// Time, whether frames pass or not.
    Time,
    /// Only the time of frames that the node receives, as in ns-2's error models in units of bytes and packets: a state outlasts any
    /// pause.
    Frames,
}

alike!(Clock, errors::Clock: Time, Frames);

/// Error correction.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Fec {
    /// No correction.
    None,
    /// RS(255, 153) over a frame: 60 % of its bytes are data, and it corrects up to 51 wrong bytes in each block of 255.
    ReedSolomon,
}

/// Frames that error correction protects.
#[derive(Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum FecFrames {
    /// All.
    All,
    /// Those to one station. Frames to all, as of route updates, are shorter for that, and are lost with their first wrong bit.
    IndividuallyAddressed,
}

impl Model for Keys {
    fn resolve(self, _: &mut Resolver<'_>) -> model::Errors {
        let Self { good_ber, bad_ber, good_mean, bad_mean, fec, fec_frames, headers, clock } = self;
        let states = States { good_ber, bad_ber, good_mean: good_mean.into(), bad_mean: bad_mean.into() };
        let clock = errors::Clock::from(clock);
        let code = match fec {
            Fec::None => None,
            Fec::ReedSolomon => Some(FrameCode {
                code: ReedSolomon::with_rate(FEC_EFFICIENCY),
                protects_groups: fec_frames == FecFrames::All,
            }),
        };
        let make = Arc::new(move |seed| -> Box<dyn hopcast_radio::errors::ErrorModel> {
            Box::new(GilbertElliottErrors::new(seed, states, code, headers).with_clock(clock))
        });
        model::Errors::Model(model::ErrorModel { code, make })
    }
}
