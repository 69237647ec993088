//! A goodness-of-fit test for the tests of models.

/// The Kolmogorov–Smirnov distance between samples and a distribution, times √n.
pub(super) fn kolmogorov_smirnov(mut samples: Vec<f64>, distribution: impl Fn(f64) -> f64) -> f64 {
    samples.sort_by(f64::total_cmp);
    let n = samples.len() as f64;
    let distance = |(i, &sample): (usize, &f64)| {
        let expected = distribution(sample);
        (expected - i as f64 / n).max((i + 1) as f64 / n - expected)
    };
    samples.iter().enumerate().map(distance).fold(0.0, f64::max) * libm::sqrt(n)
}

/// Exceeded with a probability of 0.1 % (Kolmogorov's limit).
pub(super) const CRITICAL: f64 = 1.95;
