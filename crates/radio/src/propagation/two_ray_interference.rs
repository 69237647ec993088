//! A direct ray and one reflected from flat ground, with their phases.

use core::f64::consts::PI;

use super::free_space::FreeSpace;
use super::{Position, Propagation, SPEED_OF_LIGHT};

/// Direction of the electric field, relative to the ground.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Polarization {
    /// Upright antennas: the field lies in the plane of the two rays.
    Vertical,
    /// The field is parallel to the ground.
    Horizontal,
}

/// The sum of two rays: gain = (λ/4π)²·|1/d₁ + Γ·e^(−j2π(d₂−d₁)/λ)/d₂|².
///
/// d₁ is the direct path, d₂ that by way of the ground. Γ is Fresnel's reflection coefficient of a lossless, smooth,
/// non-magnetic ground of relative permittivity ε at the grazing angle θ (T. S. Rappaport, "Wireless Communications", 2nd
/// edition, section 4.5; for the vertical component of the field, whose sign is the other one of his):
///
/// * vertical: Γ = (ε·sin θ − √(ε − cos²θ)) / (ε·sin θ + √(ε − cos²θ));
/// * horizontal: Γ = (sin θ − √(ε − cos²θ)) / (sin θ + √(ε − cos²θ)).
///
/// Where the paths differ by half a wavelength, which Γ ≈ −1 turns into a whole one, there is a maximum; the last of them
/// is near 4·h₁·h₂/λ, and beyond it the gain falls towards h₁²·h₂²/d⁴. Before it the signal waxes and wanes with every
/// step, as measured between vehicles (C. Sommer, S. Joerer and F. Dressler, "On the applicability of two-ray path loss
/// models for vehicular network simulation", IEEE VNC 2012). Isotropic antennas, `antenna_height` above the z of the
/// node. The model does not cover grass and water waves, which scatter instead of reflecting.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TwoRayInterference {
    free_space: FreeSpace,
    /// In metres.
    wavelength: f64,
    /// In metres.
    antenna_height: f64,
    permittivity: f64,
    polarization: Polarization,
}

impl TwoRayInterference {
    /// Relative permittivity of medium dry ground (ITU-R P.527, figure 1); very dry ground has 3, wet ground 30.
    pub const MEDIUM_DRY_GROUND: f64 = 15.0;

    /// Flat ground of relative `permittivity` (not below 1) at a carrier of `frequency` hertz, each antenna
    /// `antenna_height` metres above its node.
    pub fn new(frequency: f64, antenna_height: f64, permittivity: f64, polarization: Polarization) -> Self {
        let wavelength = SPEED_OF_LIGHT / frequency;
        Self { free_space: FreeSpace::new(frequency), wavelength, antenna_height, permittivity, polarization }
    }

    /// The reflection coefficient at a grazing angle with this sine.
    fn reflection(&self, sine: f64) -> f64 {
        // cos² = 1 − sin²; a permittivity of at least 1 leaves no negative root.
        let root = libm::sqrt((self.permittivity - 1.0 + sine * sine).max(0.0));
        let (first, second) = match self.polarization {
            Polarization::Vertical => (self.permittivity * sine, root),
            Polarization::Horizontal => (sine, root),
        };
        if first + second > 0.0 { (first - second) / (first + second) } else { 0.0 }
    }

    /// Beyond the last maximum the gain only falls: the paths differ by less than half a wavelength there.
    fn last_maximum(&self) -> f64 {
        4.0 * self.antenna_height * self.antenna_height / self.wavelength
    }
}

impl Propagation for TwoRayInterference {
    fn gain(&self, from: Position, to: Position) -> f64 {
        let (low, high) = ((from.z + self.antenna_height).max(0.0), (to.z + self.antenna_height).max(0.0));
        let (x, y) = (to.x - from.x, to.y - from.y);
        let level = x * x + y * y;
        let direct = libm::sqrt(level + (high - low) * (high - low));
        if direct <= self.free_space.unit_gain_distance() {
            return 1.0;
        }
        let reflected = libm::sqrt(level + (high + low) * (high + low));
        let sine = (high + low) / reflected;
        // d₂ − d₁ = 4·h₁·h₂/(d₂ + d₁), without the loss of digits of a difference.
        let phase = 2.0 * PI * (4.0 * high * low / (reflected + direct)) / self.wavelength;
        let echo = self.reflection(sine) * direct / reflected;
        let (imaginary, real) = libm::sincos(phase);
        let (real, imaginary) = (1.0 + echo * real, echo * imaginary);
        (self.free_space.gain_over(direct * direct) * (real * real + imaginary * imaginary)).min(1.0)
    }

    /// Exact beyond the last maximum. Below it the gain is at least `gain` at some places and less at others, and the
    /// distance returned is where two rays in phase, each without loss at the ground, would have it.
    fn reach(&self, gain: f64) -> f64 {
        if gain > 1.0 {
            return 0.0;
        }
        if gain <= 0.0 {
            return f64::INFINITY;
        }
        let level = |distance| self.gain(Position::default(), Position::on_ground(distance, 0.0));
        // |1 + Γ|² ≤ 4.
        let in_phase = 2.0 * self.free_space.reach(gain);
        let (mut low, mut high) = (self.last_maximum(), in_phase);
        if high <= low || level(low) < gain {
            return in_phase.min(low.max(self.free_space.unit_gain_distance()));
        }
        while high - low > 1e-13 * high {
            let middle = 0.5 * (low + high);
            if middle <= low || middle >= high {
                break;
            }
            if level(middle) >= gain {
                low = middle;
            } else {
                high = middle;
            }
        }
        low
    }
}

#[cfg(test)]
mod tests {
    use super::super::TwoRayGround;
    use super::*;
    use crate::units::Decibel;
    use proptest::prelude::*;

    const FOOT: f64 = 0.3048;

    /// A laptop on a stand of 28 inches, at 5.2 GHz.
    fn laptop(polarization: Polarization) -> TwoRayInterference {
        TwoRayInterference::new(5.2e9, 28.0 / 12.0 * FOOT, TwoRayInterference::MEDIUM_DRY_GROUND, polarization)
    }

    fn gain(model: &dyn Propagation, distance: f64) -> f64 {
        model.gain(Position::default(), Position::on_ground(distance, 0.0))
    }

    /// Worked by hand for h = 0.7112 m, λ = 57.6524 mm, d = 10 m, ε = 15, horizontal: d₂ = √(100 + 4·h²) = 10.100654,
    /// sin θ = 0.140823, √(14 + 0.019831) = 3.744306, Γ = −0.927507; d₂ − d₁ = 1.745876 λ, 4.68648 rad beyond a whole turn,
    /// cosine −0.025910 and sine −0.999664; Γ·d₁/d₂ = −0.918264: |1 + 0.023792 − j·0.917955|² = 1.890792.
    #[test]
    fn ten_metres_are_those_worked_out_by_hand() {
        let free = gain(&FreeSpace::new(5.2e9), 10.0);
        let ratio = gain(&laptop(Polarization::Horizontal), 10.0) / free;
        assert!((ratio - 1.8908).abs() < 5e-4, "{ratio}");
    }

    /// Brewster's angle, tan θ = 1/√ε from the ground: no vertical wave is reflected (any textbook of optics).
    #[test]
    fn nothing_is_reflected_at_brewsters_angle() {
        let model = laptop(Polarization::Vertical);
        let sine = libm::sin(libm::atan(1.0 / libm::sqrt(15.0)));
        assert!(model.reflection(sine).abs() < 1e-12);
        // Straight down: (√ε − 1)/(√ε + 1), either way.
        let normal = (libm::sqrt(15.0) - 1.0) / (libm::sqrt(15.0) + 1.0);
        assert!((model.reflection(1.0) - normal).abs() < 1e-12);
        assert!((laptop(Polarization::Horizontal).reflection(1.0) + normal).abs() < 1e-12);
    }

    #[test]
    fn grazing_reflection_turns_the_wave_over() {
        for polarization in [Polarization::Vertical, Polarization::Horizontal] {
            assert!((laptop(polarization).reflection(0.0) - -1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn ground_that_is_air_leaves_free_space() {
        let model = TwoRayInterference::new(5.2e9, 0.71, 1.0, Polarization::Horizontal);
        for distance in [1.0, 17.3, 300.0] {
            assert!((gain(&model, distance) / gain(&FreeSpace::new(5.2e9), distance) - 1.0).abs() < 1e-9);
        }
    }

    #[test]
    fn far_away_it_is_the_far_field_formula() {
        let (model, far) = (laptop(Polarization::Horizontal), TwoRayGround::new(5.2e9, 28.0 / 12.0 * FOOT));
        for distance in [2_000.0, 10_000.0] {
            let decibels = Decibel::from_ratio(gain(&model, distance) / gain(&far, distance)).0;
            assert!(decibels.abs() < 0.1, "{distance} m: {decibels} dB");
        }
    }

    /// The last maximum of a pair of laptops is at 35 m (115 feet), the last minimum before it, where the paths differ by
    /// a wavelength, at 17.5 m: 57 feet.
    #[test]
    fn laptops_have_their_last_hole_at_57_feet() {
        let model = laptop(Polarization::Horizontal);
        assert!((model.last_maximum() - 35.1).abs() < 0.1, "{}", model.last_maximum());
        let worst = (100..300)
            .map(|decimetres| f64::from(decimetres) / 10.0)
            .min_by(|&a, &b| gain(&model, a).total_cmp(&gain(&model, b)))
            .expect("there are distances");
        assert!((worst / FOOT - 57.0).abs() < 1.5, "{} feet", worst / FOOT);
        let depth = Decibel::from_ratio(gain(&FreeSpace::new(5.2e9), worst) / gain(&model, worst)).0;
        assert!(depth > 20.0, "{depth} dB below free space");
    }

    proptest! {
        #[test]
        fn reach_bounds_what_is_heard(distance in 0.5f64..1e4, vertical: bool) {
            let polarization = if vertical { Polarization::Vertical } else { Polarization::Horizontal };
            let model = laptop(polarization);
            let level = gain(&model, distance);
            prop_assert!(model.reach(level) >= distance * (1.0 - 1e-9), "{} m", model.reach(level));
            if distance > model.last_maximum() {
                prop_assert!(model.reach(level) <= distance * (1.0 + 1e-9), "{} m", model.reach(level));
            }
        }
    }
}
