//! Shadowing between positions that don't change.

use core::cell::Cell;
use core::f64::consts::{LN_10, PI, SQRT_2};

use super::LinkShadowing;
use crate::propagation::Position;
use crate::units::Power;

/// The [`LinkShadowing`] between many places, at the cost of multiplications instead of cosines for each pair.
///
/// A wave over both ends is the cosine of a sum of one angle of each end, cos(α + β) = cos α cos β − sin α sin β. Sines
/// and cosines are computed once for each place. The sum over all waves rounds otherwise than [`LinkShadowing::decibels`]
/// does, by no more than a bound that is known for each pair. Powers are whole attowatts, so nearly always both ends of
/// that interval are one power, which is then the one that [`LinkShadowing::gain`] gives. Where they are not,
/// [`LinkShadowing::gain`] decides.
///
/// Many pairs are too far apart to hear each other. For these a sum of small integers is enough, of which a processor adds eight at a
/// time.
#[derive(Debug)]
pub struct Survey<'a> {
    shadowing: &'a LinkShadowing,
    places: &'a [Position],
    /// By place: see [`phasors`].
    phasors: Vec<[f64; PHASORS]>,
    /// The same, as multiples of 1 / [`COARSE`].
    coarse: Vec<[i16; PHASORS]>,
    /// By place: the sum over all waves of the magnitudes that its angles are made of, in radians.
    magnitudes: Vec<f64>,
    exact: Cell<u64>,
}

const WAVES: usize = LinkShadowing::WAVES as usize;
const PHASORS: usize = 4 * WAVES;
/// The greatest power of two with which a coarse sum, of at most 256 times its square, fits into 32 bits.
const COARSE: f64 = 2_048.0;
/// How far off a coarse sum may be. Each number is rounded by at most half a unit, and each of the 256 cosines of a sum of angles is
/// a product of two vectors of length 1, each off by at most √2 such halves.
const COARSENESS: f64 = 2.0 * WAVES as f64 * (SQRT_2 / COARSE + 0.5 / (COARSE * COARSE));

/// Half the distance from 1 to the next number: the relative error of one rounding.
const ROUNDING: f64 = f64::EPSILON / 2.0;

/// Roundings of an angle of magnitude 1, whichever way a wave is computed: five in the cosine of a sum, three here, and a little for
/// their products.
const PER_RADIAN: f64 = 8.1;
/// All other roundings of a sum, each of a number of at most 1: the phases of 2 waves a pair with up to 2π; two of a cosine there,
/// and eleven of four sines and cosines and their products here; the sum of 256 terms in a chain of 129 there, of 72 here.
const PER_SUM: f64 = WAVES as f64 * (2.0 * PER_RADIAN * 2.0 * PI + 2.0 * (2.0 + 11.0) + 2.0 * (129.0 + 72.0));
/// A relative error of a gain above which an interval is not worth a look: positions or waves beyond all measure.
const UNCERTAIN: f64 = 1e-3;

impl<'a> Survey<'a> {
    /// The survey of `shadowing` between `places`.
    pub fn new(shadowing: &'a LinkShadowing, places: &'a [Position]) -> Self {
        let phasors: Vec<_> = places.iter().map(|&place| phasors(shadowing, place)).collect();
        let coarse = phasors.iter().map(|phasors| phasors.map(|phasor| libm::rint(COARSE * phasor) as i16)).collect();
        let magnitude = |place: &Position| shadowing.waves.iter().map(|wave| wave.magnitude(*place)).sum();
        Self {
            shadowing,
            places,
            phasors,
            coarse,
            magnitudes: places.iter().map(magnitude).collect(),
            exact: Cell::new(0),
        }
    }

    /// The shadowing between two positions, by their numbers.
    pub fn between(&self, from: usize, to: usize) -> SurveyedLink<'_> {
        let (decibels, error) = self.decibels(from, to);
        let (exponent, error) = (decibels * (LN_10 / 10.0), error * (LN_10 / 10.0));
        SurveyedLink {
            survey: self,
            ends: (self.places[from], self.places[to]),
            gain: libm::exp(exponent),
            // Both gains have an exponent and an exponential that are rounded. Twice the bound covers the two products below.
            uncertainty: 2.0 * (error + ROUNDING * (7.0 * libm::fabs(exponent) + 5.0)),
        }
    }

    /// An upper bound in dB, close to the gain between two positions and at least 0; infinite if it is unknown. Much
    /// faster than [`Self::between`].
    pub fn greatest_decibels(&self, from: usize, to: usize) -> f64 {
        let sum = f64::from(coarse_sum_of_waves(&self.coarse[from], &self.coarse[to])) / (COARSE * COARSE);
        let greatest = sum + COARSENESS + self.error(from, to);
        if greatest.is_nan() {
            return f64::INFINITY;
        }
        // The scale of two places that are far apart: that of others is larger.
        self.shadowing.deviation * greatest.max(0.0) / libm::sqrt(WAVES as f64)
    }

    /// Number of pairs that needed the sum of cosines.
    pub fn exact(&self) -> u64 {
        self.exact.get()
    }

    /// The gain in dB, and how far [`LinkShadowing::decibels`] may be off it.
    fn decibels(&self, from: usize, to: usize) -> (f64, f64) {
        let sum = sum_of_waves(&self.phasors[from], &self.phasors[to]);
        let scale = self.shadowing.scale(self.places[from], self.places[to]);
        let decibels = self.shadowing.deviation * sum / scale;
        // A product and a quotient are rounded in both.
        let error = self.shadowing.deviation * self.error(from, to) / scale;
        (decibels, error + 4.0 * ROUNDING * libm::fabs(decibels))
    }

    /// How far a sum over all waves may be off, by rounding.
    fn error(&self, from: usize, to: usize) -> f64 {
        ROUNDING * (PER_RADIAN * (self.magnitudes[from] + self.magnitudes[to]) + PER_SUM)
    }
}

/// The shadowing between two places of a [`Survey`].
#[derive(Clone, Copy, Debug)]
pub struct SurveyedLink<'a> {
    survey: &'a Survey<'a>,
    ends: (Position, Position),
    gain: f64,
    /// How far `gain` may be off, relative to it.
    uncertainty: f64,
}

impl SurveyedLink<'_> {
    /// Power that remains of `power`, in either direction: to the attowatt equal to `power` scaled by [`LinkShadowing::gain`].
    pub fn shadowed(&self, power: Power) -> Power {
        // False for NaN, too.
        if self.uncertainty < UNCERTAIN {
            let least = power.scaled(self.gain * (1.0 - self.uncertainty));
            if least == power.scaled(self.gain * (1.0 + self.uncertainty)) {
                return least;
            }
        }
        self.survey.exact.set(self.survey.exact.get() + 1);
        power.scaled(self.survey.shadowing.gain(self.ends.0, self.ends.1))
    }
}

/// Cosines and sines of the waves from a place, then cosines and negative sines of the waves to it.
fn phasors(shadowing: &LinkShadowing, place: Position) -> [f64; PHASORS] {
    let mut phasors = [0.0; PHASORS];
    for (number, wave) in shadowing.waves.iter().enumerate() {
        let (sine, cosine) = libm::sincos(wave.angle_from(place));
        (phasors[number], phasors[WAVES + number]) = (cosine, sine);
        let (sine, cosine) = libm::sincos(wave.angle_to(place));
        (phasors[2 * WAVES + number], phasors[3 * WAVES + number]) = (cosine, -sine);
    }
    phasors
}

/// The sum over all waves, both ways: of the products of what the one has of waves from it and the other of waves to it, and the other
/// way round.
fn products<'a, T>(one: &'a [T; PHASORS], other: &'a [T; PHASORS]) -> impl Iterator<Item = (&'a [T], &'a [T])> {
    let (from_one, to_one) = one.split_at(PHASORS / 2);
    let (from_other, to_other) = other.split_at(PHASORS / 2);
    [(from_one, to_other), (to_one, from_other)].into_iter()
}

/// Partial sums that are added side by side.
const LANES: usize = 8;

fn sum_of_waves(one: &[f64; PHASORS], other: &[f64; PHASORS]) -> f64 {
    let mut sums = [0.0; LANES];
    for (one, other) in products(one, other) {
        for (one, other) in one.chunks_exact(LANES).zip(other.chunks_exact(LANES)) {
            for (sum, (one, other)) in sums.iter_mut().zip(one.iter().zip(other)) {
                *sum += one * other;
            }
        }
    }
    sums.iter().sum()
}

fn coarse_sum_of_waves(one: &[i16; PHASORS], other: &[i16; PHASORS]) -> i32 {
    let product = |(&one, &other): (&i16, &i16)| i32::from(one) * i32::from(other);
    products(one, other).map(|(one, other)| one.iter().zip(other).map(product).sum::<i32>()).sum()
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
                    let shadowed = power.scaled(shadowing.gain(here, there));
                    prop_assert_eq!(survey.between(from, to).shadowed(power), shadowed);
                    prop_assert_eq!(survey.between(to, from).shadowed(power), shadowed);
                    let (decibels, error) = survey.decibels(from, to);
                    let exact = shadowing.decibels(here, there);
                    prop_assert!(survey.greatest_decibels(from, to) >= exact);
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
                    survey.between(from, to).shadowed(model.received_power(sent, here, there));
                }
            }
            let a_place = survey.exact() as f64 / places.len() as f64;
            assert!(a_place < 4.0, "{side} x {side}: {a_place}");
        }
    }

    /// Between places that are far apart, where the gain is above 1.
    #[test]
    fn a_coarse_sum_is_little_above_the_gain() {
        let shadowing = LinkShadowing::new(1, 4.0, 20.0);
        let places: Vec<_> = (0..100).map(|n| Position::on_ground(1e3 * f64::from(n), 0.0)).collect();
        let survey = Survey::new(&shadowing, &places);
        for (from, &here) in places.iter().enumerate() {
            for (to, &there) in places.iter().enumerate().filter(|&(to, _)| to != from) {
                let exact = shadowing.decibels(here, there).max(0.0);
                let above = survey.greatest_decibels(from, to) - exact;
                // Twice the coarseness, in dB.
                let most = 2.0 * COARSENESS * 4.0 / f64::from(LinkShadowing::WAVES).sqrt();
                assert!((0.0..most).contains(&above) && most < 0.13, "{from} to {to}: {above} above {exact}");
            }
        }
    }

    /// Places that no arithmetic can tell apart are asked for exactly, not guessed.
    #[test]
    fn places_beyond_all_numbers_are_no_panic() {
        let places = [Position::on_ground(1e300, f64::NAN), Position::on_ground(1e300, 0.0), Position::default()];
        let shadowing = LinkShadowing::new(1, 4.0, 20.0);
        let survey = Survey::new(&shadowing, &places);
        let power = Power::from_dbm(0.0);
        assert_eq!(survey.between(0, 2).shadowed(power), power.scaled(shadowing.gain(places[0], places[2])));
        assert_eq!(survey.between(1, 2).shadowed(power), power.scaled(shadowing.gain(places[1], places[2])));
        assert_eq!(survey.exact(), 2);
    }
}
