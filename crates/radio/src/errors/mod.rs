//! What noise and interference do to the bits of a frame.
//!
//! Two kinds of model. By signal-to-interference ratio: [`Encoding`] names how bits are put on the air, [`SuccessCurve`]
//! is the probability that a bit survives at a ratio, and a frame that lies over several ratios survives with
//! exp(Σ bits·ln_success). And without regard to the signal: [`GilbertElliott`], with or without [`ReedSolomon`], and
//! [`PacketErrors`].
//!
//! [`ErrorModel`] is what a model implements, one of yours included. [`PacketErrors`] is apart: it also loses packets that no frame
//! carries alone.
//!
//! [`Encoding`]: crate::phy::Encoding
//! [`ReedSolomon`]: crate::phy::ReedSolomon

mod curve;
mod dsss;
mod gilbert_elliott;
mod noise;
mod ofdm;
mod packet;
mod reed_solomon;

use core::fmt;

use hopcast_protocols::random::{Purpose, hash};
use hopcast_protocols::time::Instant;

use crate::frame::{Header, StationId};
use crate::units::Power;
pub use curve::SuccessCurve;
pub use gilbert_elliott::{GilbertElliott, GilbertElliottErrors, States};
pub use noise::{DEFAULT_NOISE_FIGURE, thermal_noise};
pub use packet::PacketErrors;

/// How likely frames are lost that were received: errors on top of what reception decides.
///
/// A model says how likely, and hopcast draws: one draw for each frame and receiver, whatever other frames there are. A model with a
/// state of its own keeps to this if the state follows from the time and from what the state belongs to, not from the frames that it
/// was asked about; and if each state has a stream of random numbers of its own.
pub trait ErrorModel: fmt::Debug + Send {
    /// The probability, from 0 to 1, that `frame` is lost at its receiver. Asked once for each frame and each station that would
    /// otherwise receive it, whomever the frame is for, in the order of the frames' ends at that station.
    fn loss(&mut self, frame: &ReceivedFrame<'_>) -> f64;
}

/// A frame that a station has received, if no error model loses it.
#[derive(Clone, Copy, Debug)]
pub struct ReceivedFrame<'a> {
    /// Kind, transmitter, length and vector, among others.
    pub frame: &'a Header,
    /// The station.
    pub receiver: StationId,
    /// Power of the frame there. Without meaning where propagation is a [`Range`](crate::propagation::Range).
    pub power: Power,
    /// When preamble and PLCP header had arrived, and the first bit of the PSDU followed.
    pub start: Instant,
    /// When the whole frame had arrived.
    pub end: Instant,
}

/// Whether a frame that survives with probability exp(`ln_success`) does so at a receiver: one draw for each
/// purpose, transmission, by its number in the run, and station.
pub(crate) fn survives(seed: u64, purpose: Purpose, transmission: u64, receiver: u32, ln_success: f64) -> bool {
    // Most frames are far from the edge, and need no exponential.
    ln_success > -1e-18 || happens(seed, purpose, transmission, receiver, libm::exp(ln_success))
}

/// Whether what has this probability happens to a transmission, by its number in the run, at a station: one draw for each purpose,
/// transmission and station.
pub(crate) fn happens(seed: u64, purpose: Purpose, transmission: u64, receiver: u32, probability: f64) -> bool {
    unit(hash(seed, purpose, transmission, u64::from(receiver))) < probability
}

/// Uniform in 0 ≤ x < 1 from 64 uniform bits.
fn unit(key: u64) -> f64 {
    (key >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_survive_as_often_as_they_should() {
        for probability in [0.0, 0.1, 0.5, 0.9, 1.0] {
            let ln_success = libm::log(probability);
            let survivors = (0..40_000)
                .filter(|&n| survives(4, Purpose::Decoding, n / 4, (n % 4) as u32, ln_success))
                .count() as f64;
            // Three and a half standard deviations.
            let spread = 3.5 * libm::sqrt(40_000.0 * probability * (1.0 - probability));
            assert!((survivors - 40_000.0 * probability).abs() <= spread, "{survivors} at {probability}");
        }
    }
}
