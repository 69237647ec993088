//! Models of the channel by themselves: for figures, and for a look at what a scenario will meet.

use hopcast_protocols::time::{Duration, Instant};
use hopcast_radio::errors::{GilbertElliott, States, SuccessCurve};
use hopcast_radio::fading::{Distribution, Fading};
use hopcast_radio::phy::{DataRate, Standard};
use hopcast_radio::propagation::{LinkShadowing, LogDistance, Polarization, Position, Propagation, TwoRayInterference};
use hopcast_radio::units::Decibel;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// The probability that a frame of `octets`, by a standard such as `802.11a`, is lost at each signal-to-noise ratio in dB.
/// Raises ValueError if there is no such standard, or it does not have the rate, which is in bit/s.
#[pyfunction]
pub(crate) fn frame_error_rates(standard: &str, rate: f64, octets: u32, snr_db: Vec<f64>) -> PyResult<Vec<f64>> {
    let phy = Standard::named(standard)
        .ok_or_else(|| PyValueError::new_err(format!("there is no standard {standard:?}")))?
        .phy(false);
    let vector = phy
        .vector(DataRate::from_kbps((rate / 1e3).round() as u32))
        .ok_or_else(|| PyValueError::new_err(format!("{standard} has no rate of {rate} bit/s")))?;
    let curve = SuccessCurve::new(vector.framing().encoding);
    let bits = 8.0 * f64::from(octets);
    Ok(snr_db.into_iter().map(|decibels| curve.frame_error_rate(Decibel(decibels).as_ratio(), bits)).collect())
}

/// The gain in dB over each distance in metres, log-distance.
#[pyfunction]
pub(crate) fn log_distance_gains(
    frequency: f64,
    exponent: f64,
    reference_distance: f64,
    distances: Vec<f64>,
) -> Vec<f64> {
    gains(&LogDistance::new(frequency, exponent, reference_distance), distances)
}

/// The gain in dB over each distance in metres, two rays with their phases.
#[pyfunction]
pub(crate) fn two_ray_interference_gains(
    frequency: f64,
    antenna_height: f64,
    permittivity: f64,
    horizontal: bool,
    distances: Vec<f64>,
) -> Vec<f64> {
    let polarization = if horizontal { Polarization::Horizontal } else { Polarization::Vertical };
    gains(&TwoRayInterference::new(frequency, antenna_height, permittivity, polarization), distances)
}

/// The shadowing in dB of each link, given as x and y of one end and of the other in metres.
#[pyfunction]
pub(crate) fn link_shadowing(
    seed: u64,
    deviation: f64,
    decorrelation: f64,
    links: Vec<(f64, f64, f64, f64)>,
) -> Vec<f64> {
    let shadowing = LinkShadowing::new(seed, deviation, decorrelation);
    let ends = |(x, y, to_x, to_y)| (Position::on_ground(x, y), Position::on_ground(to_x, to_y));
    links.into_iter().map(ends).map(|(from, to)| shadowing.decibels(from, to)).collect()
}

/// Power factors of the first `count` frames at one receiver. Raises ValueError for an unknown distribution.
#[pyfunction]
pub(crate) fn frame_fading(distribution: &str, parameter: f64, seed: u64, count: u64) -> PyResult<Vec<f64>> {
    let fading = Fading::new(seed, named(distribution, parameter)?, None);
    Ok((0..count).map(|frame| fading.of_frame(frame, 0)).collect())
}

/// Power factors of the path between nodes `a` and `b`, after each number of periods of the largest Doppler frequency.
/// Raises ValueError for an unknown distribution.
#[pyfunction]
pub(crate) fn path_fading(
    distribution: &str,
    parameter: f64,
    seed: u64,
    a: u32,
    b: u32,
    turns: Vec<f64>,
) -> PyResult<Vec<f64>> {
    let path = Fading::new(seed, named(distribution, parameter)?, Some(1.0)).of_path(a, b);
    Ok(turns.into_iter().map(|turns| path.power(turns)).collect())
}

/// The states of a Gilbert–Elliott channel from its start on: seconds, and whether the state is the bad one. The last is cut
/// off after `seconds`.
#[pyfunction]
pub(crate) fn gilbert_elliott_states(
    good_mean: f64,
    bad_mean: f64,
    seed: u64,
    node: u32,
    seconds: f64,
) -> Vec<(f64, bool)> {
    let states = States {
        good_ber: 0.0,
        bad_ber: 0.5,
        good_mean: Duration::from_secs_f64(good_mean),
        bad_mean: Duration::from_secs_f64(bad_mean),
    };
    let start = Instant::from_nanos(0);
    GilbertElliott::new(seed, node, states)
        .pieces(start, start + Duration::from_secs_f64(seconds))
        .map(|(length, ber)| (length.as_secs_f64(), ber > 0.0))
        .collect()
}

fn gains(model: &dyn Propagation, distances: Vec<f64>) -> Vec<f64> {
    let gain = |distance| model.gain(Position::default(), Position::on_ground(distance, 0.0));
    distances.into_iter().map(|distance| Decibel::from_ratio(gain(distance)).0).collect()
}

fn named(distribution: &str, parameter: f64) -> PyResult<Distribution> {
    match distribution {
        "rayleigh" => Ok(Distribution::Rayleigh),
        "rician" => Ok(Distribution::Rician { k: parameter }),
        "nakagami" => Ok(Distribution::Nakagami { m: parameter }),
        _ => Err(PyValueError::new_err(format!("no fading is called {distribution:?}: rayleigh, rician or nakagami"))),
    }
}
