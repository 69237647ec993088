//! Losses on top of what reception decides: `radio.errors`.

use hopcast_radio::errors::States;
use hopcast_radio::phy::ReedSolomon;
use schemars::JsonSchema;
use serde::Deserialize;

use super::super::{Resolver, instant};
use crate::scenario::declare::is;
use crate::scenario::model;
use crate::scenario::quantity::{Shares, Time};
use crate::scenario::read::Later;

/// Share of data in a coded frame: 60 % (N. Petrovic and M. Aboelaze, study P).
const FEC_EFFICIENCY: f64 = 0.6;

/// Losses on top of what `reception` decides.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(tag = "model", deny_unknown_fields)]
pub(super) enum Errors {
    /// None.
    None {},
    /// Independent losses at a given rate.
    Packet {
        /// Share of packets that are lost, or a list of `[time, share]`: from that time on.
        rate: Shares,
        /// What is lost.
        #[schemars(extend("x-default" = is("frame", "the radio loses frames, which the MAC repeats")))]
        level: LossLevel,
    },
    /// A channel of two states at each node; bits of frames that arrive there err by its state.
    GilbertElliott {
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
    },
}

/// What an error model loses.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum LossLevel {
    /// Frames of all kinds at a receiver, below the MAC's acknowledgement and repetition.
    Frame,
    /// Packets that the MAC hands up: their frames are acknowledged and not repeated.
    Network,
}

alike!(LossLevel, model::LossLevel: Frame, Network);

/// Correction of errors.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Fec {
    /// None.
    None,
    /// RS(255, 153) over every frame: 60 % of its octets are data, and up to 51 wrong ones in each block of 255 are put right.
    ReedSolomon,
}

impl Resolver<'_> {
    pub(super) fn errors(&mut self, errors: &Later<Errors>) -> model::Errors {
        match errors.read(&mut self.ledger, &["radio", "errors"]) {
            Errors::None {} => model::Errors::None,
            Errors::Packet { rate, level } => model::Errors::Packet {
                steps: rate.0.iter().map(|&(from, share)| (instant(from), share)).collect(),
                level: level.into(),
            },
            Errors::GilbertElliott { good_ber, bad_ber, good_mean, bad_mean, fec, headers } => {
                let (good_mean, bad_mean) = (good_mean.into(), bad_mean.into());
                model::Errors::GilbertElliott {
                    states: States { good_ber, bad_ber, good_mean, bad_mean },
                    fec: match fec {
                        Fec::None => None,
                        Fec::ReedSolomon => Some(ReedSolomon::with_rate(FEC_EFFICIENCY)),
                    },
                    headers,
                }
            }
        }
    }
}
