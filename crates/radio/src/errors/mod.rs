//! What noise and interference do to the bits of a frame.
//!
//! Two kinds of model. By signal-to-interference ratio: [`Encoding`] names how bits are put on the air, [`SuccessCurve`]
//! is the probability that a bit survives at a ratio, and a frame that lies over several ratios survives with
//! exp(Σ bits·ln_success). And without regard to the signal: [`GilbertElliott`], with or without [`ReedSolomon`], and
//! [`PacketErrors`].
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

use hopcast_protocols::random::{Purpose, hash};

pub use curve::SuccessCurve;
pub use gilbert_elliott::{GilbertElliott, States};
pub use noise::{DEFAULT_NOISE_FIGURE, thermal_noise};
pub use packet::PacketErrors;

/// Whether a frame that survives with probability exp(`ln_success`) does so at a receiver: one draw for each
/// purpose, transmission, by its number in the run, and station.
pub fn survives(seed: u64, purpose: Purpose, transmission: u64, receiver: u32, ln_success: f64) -> bool {
    // Most frames are far from the edge, and need no exponential.
    if ln_success > -1e-18 {
        return true;
    }
    let key = hash(seed, purpose, transmission, u64::from(receiver));
    unit(key) < libm::exp(ln_success)
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
