//! Errors of a frame's bits by noise and interference.
//!
//! There are two kinds of model. The first depends on the signal-to-interference ratio: [`Encoding`] names the modulation
//! and code of bits, [`SuccessCurve`] is the probability that a bit survives at a ratio, and a frame that lies over
//! several ratios survives with exp(Σ bits·ln_success). The second does not depend on the signal: [`GilbertElliott`],
//! with or without [`ReedSolomon`], and [`PacketErrors`].
//!
//! Models implement [`ErrorModel`], and so can yours. [`PacketErrors`] does not: it also loses packets that no frame
//! carries alone.
//!
//! [`Encoding`]: crate::phy::Encoding
//! [`ReedSolomon`]: crate::phy::ReedSolomon

mod curve;
mod dsss;
mod gilbert_elliott;
mod ldpc;
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
pub use gilbert_elliott::{Clock, GilbertElliott, GilbertElliottErrors, States};
pub use noise::{DEFAULT_NOISE_FIGURE, thermal_noise};
pub use packet::PacketErrors;

/// Probability that received frames are lost: errors in addition to those of reception.
///
/// A model returns a probability, and hopcast draws once for each frame and receiver, whatever other frames there are. A
/// model with state also keeps to this if the state depends on the time and on what it belongs to, not on the frames that
/// the model was asked about, and if each state has a separate stream of random numbers.
pub trait ErrorModel: fmt::Debug + Send {
    /// The probability, from 0 to 1, that `frame` is lost at its receiver. hopcast calls this once for each frame and
    /// each station that would otherwise receive it, regardless of its destination, in the order of the frames' ends at
    /// that station.
    fn loss(&mut self, frame: &ReceivedFrame<'_>) -> f64;
}

/// A frame that a station has received, unless an error model loses it.
#[derive(Clone, Copy, Debug)]
pub struct ReceivedFrame<'a> {
    /// Kind, transmitter, length and vector, among others.
    pub frame: &'a Header,
    /// The receiving station.
    pub receiver: StationId,
    /// Power of the frame there. Not meaningful with propagation [`Range`](crate::propagation::Range).
    pub power: Power,
    /// Time when preamble and PLCP header had arrived, and the first bit of the PSDU followed.
    pub start: Instant,
    /// Time when the whole frame had arrived.
    pub end: Instant,
}

/// Whether a frame that survives with probability exp(`ln_success`) does so at a receiver: one draw for each
/// purpose, transmission, by its number in the run, and station.
pub(crate) fn survives(seed: u64, purpose: Purpose, transmission: u64, receiver: u32, ln_success: f64) -> bool {
    // Most frames are far from the edge, and need no exponential.
    ln_success > -1e-18 || happens(seed, purpose, transmission, receiver, libm::exp(ln_success))
}

/// Whether the MPDU at a place of a frame survives, with this probability: one draw for each.
// What is the same for all MPDUs of a frame is then reckoned once.
#[inline]
pub(crate) fn mpdu_survives(seed: u64, transmission: u64, receiver: u32, place: usize, probability: f64) -> bool {
    let whom = (place as u64 + 1) << 32 | u64::from(receiver);
    probability >= 1.0 || unit(hash(seed, Purpose::Decoding, transmission, whom)) < probability
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
