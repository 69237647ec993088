//! Variation of power from frame to frame.

use hopcast_protocols::time::Instant;

use crate::fading::Fading;
use crate::frame::StationId;
use crate::obstacles::{Blockage, Drift};
use crate::propagation::{FrameShadowing, ShadowedFrame};

/// Factors on the power of a link for one frame.
#[derive(Clone, Debug, Default)]
pub struct Variation {
    /// Shadowing, drawn again for each frame and receiver.
    pub shadowing: Option<FrameShadowing>,
    /// Fading over many paths.
    pub fading: Option<Fading>,
    /// Obstacles that pass through links.
    pub blockage: Option<Blockage>,
    /// Slow changes of the surroundings.
    pub drift: Option<Drift>,
}

impl Variation {
    /// The factors of the transmission that `key` identifies.
    pub fn of(&self, key: u64, transmitter: StationId) -> Factors<'_> {
        let shadowing = self.shadowing.map(|shadowing| shadowing.of(key));
        Factors { key, transmitter, shadowing, all: self }
    }
}

/// Factors on the powers of one transmission.
#[derive(Clone, Copy, Debug)]
pub struct Factors<'a> {
    key: u64,
    transmitter: StationId,
    shadowing: Option<ShadowedFrame>,
    all: &'a Variation,
}

impl Factors<'_> {
    /// The factor at a receiver, where the signal arrives `now`.
    #[inline]
    pub fn at(&self, receiver: StationId, now: Instant) -> f64 {
        let shadowing = self.shadowing.map_or(1.0, |shadowing| shadowing.gain(receiver.0));
        let Self { all, transmitter: StationId(from), .. } = *self;
        let fading = all.fading.map_or(1.0, |fading| fading.factor(from, receiver.0, self.key, now));
        let blockage = all.blockage.as_ref().map_or(1.0, |blockage| blockage.gain(from, receiver.0, now));
        let drift = all.drift.as_ref().map_or(1.0, |drift| drift.gain(from, receiver.0, now));
        shadowing * fading * blockage * drift
    }
}
