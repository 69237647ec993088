//! Shadowing between places that stay where they are.

use core::cell::Cell;
use core::f64::consts::{LN_10, PI};

use super::{LinkShadowing, Wave};
use crate::propagation::Position;
use crate::units::Power;

/// The [`LinkShadowing`] between many places, at the cost of multiplications instead of cosines for each pair.
///
/// A wave over both ends is the cosine of a sum of one angle of each end, cos(α + β) = cos α cos β − sin α sin β. Sines and
/// cosines are computed once for each place. The sum over all waves rounds otherwise than [`LinkShadowing::decibels`]
/// does, by no more than a bound that is known for each pair. Powers are whole attowatts, so nearly always both ends of that
/// interval are one power, which is then the one that [`LinkShadowing::gain`] gives. Where they are not, that is asked.
#[derive(Debug)]
pub struct Survey<'a> {
    shadowing: &'a LinkShadowing,
    places: &'a [Position],
    /// By place, [`PHASORS`] each: cosines and sines of the waves from it, then cosines and negative sines of the waves to it.
    phasors: Vec<f64>,
    /// By place: the sum over all waves of the magnitudes that its angles are made of, in radians.
    magnitudes: Vec<f64>,
    exact: Cell<u64>,
}

const WAVES: usize = LinkShadowing::WAVES as usize;
const PHASORS: usize = 4 * WAVES;
/// Partial sums that a processor adds to side by side.
const LANES: usize = 8;

/// Half the distance from 1 to the next number: the relative error of one rounding.
const ROUNDING: f64 = f64::EPSILON / 2.0;

/// Roundings of an angle of magnitude 1, whichever way a wave is computed: five in [`Wave::between`], three here, and a little for
/// their products.
const PER_RADIAN: f64 = 8.1;
/// All other roundings of a sum, each of a number of at most 1: the phases of 2 waves a pair with up to 2π; two of a cosine there,
/// and eleven of four sines and cosines and their products here; the sum of 256 terms in a chain of 129 there, of 37 here.
const PER_SUM: f64 = WAVES as f64 * (2.0 * PER_RADIAN * 2.0 * PI + 2.0 * (2.0 + 11.0) + 2.0 * (129.0 + 37.0));
/// A relative error of a gain above which an interval is not worth a look: positions or waves beyond all measure.
const UNCERTAIN: f64 = 1e-3;

impl<'a> Survey<'a> {
    /// That of `shadowing` between `places`.
    pub fn new(shadowing: &'a LinkShadowing, places: &'a [Position]) -> Self {
        let mut phasors = Vec::with_capacity(places.len() * PHASORS);
        for &place in places {
            let angles = |of: fn(&Wave, Position) -> f64| shadowing.waves.iter().map(move |wave| of(wave, place));
            phasors.extend(angles(Wave::angle_from).map(libm::cos));
            phasors.extend(angles(Wave::angle_from).map(libm::sin));
            phasors.extend(angles(Wave::angle_to).map(libm::cos));
            phasors.extend(angles(Wave::angle_to).map(|angle| -libm::sin(angle)));
        }
        let magnitude = |place: &Position| shadowing.waves.iter().map(|wave| wave.magnitude(*place)).sum();
        Self { shadowing, places, phasors, magnitudes: places.iter().map(magnitude).collect(), exact: Cell::new(0) }
    }

    /// What shadowing between two places, by their numbers, leaves of `power`: to the attowatt `power` scaled by
    /// [`LinkShadowing::gain`].
    pub fn shadowed(&self, power: Power, from: usize, to: usize) -> Power {
        let (here, there) = (self.places[from], self.places[to]);
        let (decibels, error) = self.decibels(from, to);
        let (exponent, error) = (decibels * (LN_10 / 10.0), error * (LN_10 / 10.0));
        // Both gains have an exponent and an exponential that are rounded. Twice the bound covers the two products below.
        let uncertainty = 2.0 * (error + ROUNDING * (7.0 * libm::fabs(exponent) + 5.0));
        // False for NaN, too.
        if uncertainty < UNCERTAIN {
            let gain = libm::exp(exponent);
            let least = power.scaled(gain * (1.0 - uncertainty));
            if least == power.scaled(gain * (1.0 + uncertainty)) {
                return least;
            }
        }
        self.exact.set(self.exact.get() + 1);
        power.scaled(self.shadowing.gain(here, there))
    }

    /// How many pairs needed the sum of cosines.
    pub fn exact(&self) -> u64 {
        self.exact.get()
    }

    /// The gain in dB, and how far [`LinkShadowing::decibels`] may be off it.
    fn decibels(&self, from: usize, to: usize) -> (f64, f64) {
        let [one, other] = [from, to].map(|place| self.phasors[place * PHASORS..][..PHASORS].split_at(PHASORS / 2));
        let sum = dot(one.0, other.1) + dot(one.1, other.0);
        let error = ROUNDING * (PER_RADIAN * (self.magnitudes[from] + self.magnitudes[to]) + PER_SUM);
        let scale = self.shadowing.scale(self.places[from], self.places[to]);
        let decibels = self.shadowing.deviation * sum / scale;
        // A product and a quotient are rounded in both.
        (decibels, self.shadowing.deviation * error / scale + 4.0 * ROUNDING * libm::fabs(decibels))
    }
}

/// The sum of the products of two lists whose length is a multiple of [`LANES`].
fn dot(one: &[f64], other: &[f64]) -> f64 {
    let mut sums = [0.0; LANES];
    for (one, other) in one.as_chunks::<LANES>().0.iter().zip(other.as_chunks::<LANES>().0) {
        for lane in 0..LANES {
            sums[lane] += one[lane] * other[lane];
        }
    }
    let [a, b, c, d, e, f, g, h] = sums;
    ((a + b) + (c + d)) + ((e + f) + (g + h))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::propagation::{LogDistance, Propagation};

    proptest! {
        /// Bit for bit, for every seed, power and place, also where waves are short and places far away.
        #[test]
        fn a_survey_tells_the_power_of_the_sum_of_cosines(
            seed: u64, deviation in 0.0f64..30.0, decorrelation in -3.0f64..3.0, extent in 0.0f64..7.0,
            places in prop::collection::vec((-1.0f64..1.0, -1.0f64..1.0), 2..8), power in 0.0f64..18.0,
        ) {
            let [decorrelation, extent, power] = [decorrelation, extent, power].map(libm::exp10);
            let places: Vec<_> = places.iter().map(|&(x, y)| Position::on_ground(x * extent, y * extent)).collect();
            let shadowing = LinkShadowing::new(seed, deviation, decorrelation);
            let survey = Survey::new(&shadowing, &places);
            let power = Power::from_attowatts(power as u64);
            for (from, &here) in places.iter().enumerate() {
                for (to, &there) in places.iter().enumerate() {
                    prop_assert_eq!(survey.shadowed(power, from, to), power.scaled(shadowing.gain(here, there)));
                    let (decibels, error) = survey.decibels(from, to);
                    let exact = shadowing.decibels(here, there);
                    prop_assert!((decibels - exact).abs() <= error, "{} is not within {error} of {exact}", decibels);
                }
            }
        }
    }

    /// A field of constant density: the sums of cosines grow with the number of places, not of pairs.
    #[test]
    fn only_near_pairs_need_the_sum_of_cosines() {
        let (shadowing, model) = (LinkShadowing::new(1, 4.0, 20.0), LogDistance::new(2.412e9, 3.0, 1.0));
        for side in [10, 20, 30] {
            let at = |n: usize| Position::on_ground(25.0 * (n % side) as f64, 25.0 * (n / side) as f64);
            let places: Vec<_> = (0..side * side).map(at).collect();
            let survey = Survey::new(&shadowing, &places);
            let sent = Power::from_dbm(15.0);
            for (from, &here) in places.iter().enumerate() {
                for (to, &there) in places.iter().enumerate().filter(|&(to, _)| to != from) {
                    survey.shadowed(model.received_power(sent, here, there), from, to);
                }
            }
            let a_place = survey.exact() as f64 / places.len() as f64;
            assert!(a_place < 4.0, "{side} x {side}: {a_place}");
        }
    }

    /// Places that no arithmetic can tell apart are asked for exactly, not guessed.
    #[test]
    fn places_beyond_all_numbers_are_no_panic() {
        let places = [Position::on_ground(1e300, f64::NAN), Position::on_ground(1e300, 0.0), Position::default()];
        let shadowing = LinkShadowing::new(1, 4.0, 20.0);
        let survey = Survey::new(&shadowing, &places);
        let power = Power::from_dbm(0.0);
        assert_eq!(survey.shadowed(power, 0, 2), power.scaled(shadowing.gain(places[0], places[2])));
        assert_eq!(survey.shadowed(power, 1, 2), power.scaled(shadowing.gain(places[1], places[2])));
        assert_eq!(survey.exact(), 2);
    }
}
