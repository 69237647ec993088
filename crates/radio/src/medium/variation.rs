//! Variation of power from frame to frame.

use hopcast_protocols::time::Instant;

use crate::fading::Fading;
use crate::frame::StationId;
use crate::propagation::{FrameShadowing, ShadowedFrame};

/// Factors on the power of a link for one frame.
#[derive(Clone, Debug, Default)]
pub struct Variation {
    /// Shadowing, drawn again for each frame and receiver.
    pub shadowing: Option<FrameShadowing>,
    /// Fading over many paths.
    pub fading: Option<Fading>,
}

impl Variation {
    /// The factors of the transmission that `key` identifies.
    pub fn of(&self, key: u64, transmitter: StationId) -> Factors {
        let shadowing = self.shadowing.map(|shadowing| shadowing.of(key));
        Factors { key, transmitter, shadowing, fading: self.fading }
    }
}

/// Factors on the powers of one transmission.
#[derive(Clone, Copy, Debug)]
pub struct Factors {
    key: u64,
    transmitter: StationId,
    shadowing: Option<ShadowedFrame>,
    fading: Option<Fading>,
}

impl Factors {
    /// The factor at a receiver, where the signal arrives `now`.
    #[inline]
    pub fn at(&self, receiver: StationId, now: Instant) -> f64 {
        let shadowing = self.shadowing.map_or(1.0, |shadowing| shadowing.gain(receiver.0));
        let fading = self.fading.map_or(1.0, |fading| fading.factor(self.transmitter.0, receiver.0, self.key, now));
        shadowing * fading
    }
}
