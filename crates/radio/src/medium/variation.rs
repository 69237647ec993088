//! Powers that vary from frame to frame.

use hopcast_protocols::time::Instant;

use crate::fading::Fading;
use crate::frame::StationId;
use crate::propagation::FrameShadowing;

/// What multiplies the power of a link for one frame; all that is there.
#[derive(Clone, Debug, Default)]
pub struct Variation {
    /// Obstacles that are drawn anew for each frame and receiver.
    pub shadowing: Option<FrameShadowing>,
    /// Many paths at once.
    pub fading: Option<Fading>,
}

impl Variation {
    /// The factor for the transmission that `key` names, as it arrives `now`.
    pub fn factor(&self, key: u64, transmitter: StationId, receiver: StationId, now: Instant) -> f64 {
        let shadowing = self.shadowing.map_or(1.0, |shadowing| shadowing.gain(key, receiver.0));
        let fading = self.fading.map_or(1.0, |fading| fading.factor(transmitter.0, receiver.0, key, now));
        shadowing * fading
    }
}
