//! `model = "packet"`.

use schemars::JsonSchema;
use serde::Deserialize;

use super::super::super::{Resolver, instant};
use super::Model;
use crate::scenario::declare::is;
use crate::scenario::model;
use crate::scenario::quantity::Shares;

/// Independent losses at a given rate.
#[derive(Deserialize, JsonSchema)]
pub(in super::super) struct Keys {
    /// Share of packets that are lost, or a list of `[time, share]`; each share holds from its time on.
    rate: Shares,
    /// Unit of loss.
    #[schemars(extend("x-default" = is("frame", "the radio loses frames, which the MAC retransmits")))]
    level: LossLevel,
}

/// What an error model loses.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum LossLevel {
    /// Frames of all kinds at a receiver; the MAC notices the loss and retransmits.
    Frame,
    /// Packets that the MAC delivers; it has acknowledged their frames and does not retransmit.
    Network,
}

alike!(LossLevel, model::LossLevel: Frame, Network);

impl Model for Keys {
    fn resolve(self, _: &mut Resolver<'_>) -> model::Errors {
        model::Errors::Packet {
            steps: self.rate.0.iter().map(|&(from, share)| (instant(from), share)).collect(),
            level: self.level.into(),
        }
    }
}
