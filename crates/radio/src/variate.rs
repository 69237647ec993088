//! Distributions: variates from a stream, and the special functions that the models share.
//!
//! All computations use `libm`, so that a value is the same on every machine.

use core::f64::consts::{PI, SQRT_2};

use hopcast_protocols::random::Stream;

/// Uniform in 0 < x < 1: a logarithm of it exists, and so does one of its complement.
pub(crate) fn open_unit(stream: &mut Stream) -> f64 {
    ((stream.next_u64() >> 12) as f64 + 0.5) * (1.0 / (1_u64 << 52) as f64)
}

/// Exponential with mean 1, by inversion.
pub fn exponential(stream: &mut Stream) -> f64 {
    -libm::log(open_unit(stream))
}

/// Two independent normal deviates with mean 0 and variance 1 (Box and Muller, Ann. Math. Stat. 29(2), 1958).
pub fn normal_pair(stream: &mut Stream) -> (f64, f64) {
    let (radius, angle) = polar(stream);
    let (sine, cosine) = libm::sincos(angle);
    (radius * cosine, radius * sine)
}

/// The first of a [pair](normal_pair) alone, without the work for the second.
pub(crate) fn normal(stream: &mut Stream) -> f64 {
    let (radius, angle) = polar(stream);
    radius * libm::cos(angle)
}

/// Polar coordinates of a point whose others are independent normal deviates.
fn polar(stream: &mut Stream) -> (f64, f64) {
    let radius = libm::sqrt(2.0 * exponential(stream));
    (radius, 2.0 * PI * open_unit(stream))
}

/// Gamma with the given shape and mean 1 (Marsaglia and Tsang, ACM TOMS 26(3), 2000, with their section 6 for shapes
/// below 1).
pub(crate) fn gamma(stream: &mut Stream, shape: f64) -> f64 {
    let (raised, boost) =
        if shape < 1.0 { (shape + 1.0, libm::pow(open_unit(stream), 1.0 / shape)) } else { (shape, 1.0) };
    let d = raised - 1.0 / 3.0;
    let c = 1.0 / libm::sqrt(9.0 * d);
    loop {
        let x = normal(stream);
        let root = 1.0 + c * x;
        if root <= 0.0 {
            continue;
        }
        let cube = root * root * root;
        if libm::log(open_unit(stream)) < 0.5 * x * x + d * (1.0 - cube + libm::log(cube)) {
            return d * cube * boost / shape;
        }
    }
}

/// The probability that a normal deviate exceeds `x`: the Q function.
pub(crate) fn normal_tail(x: f64) -> f64 {
    0.5 * libm::erfc(x / SQRT_2)
}

/// The value that a gamma variate of this shape and mean 1 exceeds with probability e^(−`exponent`): a variate with mean
/// 1 and the rank of an exponential one of value `exponent`.
///
/// Newton's method on the logarithm of the value, kept inside a bracket that shrinks at each step.
pub(crate) fn gamma_of_rank(shape: f64, exponent: f64) -> f64 {
    if exponent <= 0.0 {
        return 0.0;
    }
    // The smaller of the two tails keeps its digits.
    let upper = exponent > core::f64::consts::LN_2;
    let target = if upper { -exponent } else { libm::log(-libm::expm1(-exponent)) };
    let (mut low, mut high) = (-700.0, libm::log(2.0 * exponent + 2.0 * shape + 50.0));
    let mut log_x = libm::log(exponent * shape).clamp(low, high);
    for _ in 0..100 {
        let x = libm::exp(log_x);
        let (below, above) = gamma_tails(shape, x);
        let tail = if upper { above } else { below };
        let error = libm::log(tail) - target;
        if (error > 0.0) == upper {
            low = log_x;
        } else {
            high = log_x;
        }
        // d ln(tail) / d ln(x) = ± x·density / tail.
        let slope = libm::exp(shape * log_x - x - libm::lgamma(shape)) / tail;
        let next = if upper { log_x + error / slope } else { log_x - error / slope };
        // Not a number, or outside: halve.
        let next = if next > low && next < high { next } else { 0.5 * (low + high) };
        let done = libm::fabs(next - log_x) < 1e-13;
        log_x = next;
        if done {
            break;
        }
    }
    libm::exp(log_x) / shape
}

/// The regularised incomplete gamma functions P(`shape`, `x`) and Q = 1 − P (Abramowitz and Stegun, 6.5.29 and 6.5.31).
pub(crate) fn gamma_tails(shape: f64, x: f64) -> (f64, f64) {
    if x <= 0.0 {
        return (0.0, 1.0);
    }
    let front = libm::exp(shape * libm::log(x) - x - libm::lgamma(shape));
    if x < shape + 1.0 {
        let (mut term, mut sum, mut n) = (1.0 / shape, 1.0 / shape, shape);
        while term > sum * 1e-17 {
            n += 1.0;
            term *= x / n;
            sum += term;
        }
        let below = (front * sum).min(1.0);
        (below, 1.0 - below)
    } else {
        // The continued fraction in its even form, by Lentz's method.
        let mut b = x + 1.0 - shape;
        let (mut c, mut d) = (f64::MAX, 1.0 / b);
        let mut fraction = d;
        for i in 1..1_000 {
            let i = f64::from(i);
            let a = -i * (i - shape);
            b += 2.0;
            d = 1.0 / (a * d + b);
            c = b + a / c;
            let factor = c * d;
            fraction *= factor;
            if libm::fabs(factor - 1.0) < 1e-16 {
                break;
            }
        }
        let above = (front * fraction).min(1.0);
        (1.0 - above, above)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use hopcast_protocols::random::Purpose;
    use proptest::prelude::*;

    use super::*;

    /// The Kolmogorov–Smirnov distance between samples and a distribution, times √n: above 1.95 with a probability of
    /// 0.1 % (Kolmogorov's limit).
    pub(crate) fn kolmogorov_smirnov(mut samples: Vec<f64>, distribution: impl Fn(f64) -> f64) -> f64 {
        samples.sort_by(f64::total_cmp);
        let n = samples.len() as f64;
        let furthest = samples.iter().enumerate().fold(0.0_f64, |furthest, (i, &sample)| {
            let expected = distribution(sample);
            furthest.max(expected - i as f64 / n).max((i + 1) as f64 / n - expected)
        });
        furthest * libm::sqrt(n)
    }

    pub(crate) const CRITICAL: f64 = 1.95;

    fn samples(draw: impl Fn(&mut Stream) -> f64) -> Vec<f64> {
        let mut stream = Stream::new(7, Purpose::Backoff, 0, 0);
        (0..20_000).map(|_| draw(&mut stream)).collect()
    }

    #[test]
    fn normal_deviates_are_normal() {
        for pick in [|(x, _): (f64, f64)| x, |(_, y): (f64, f64)| y] {
            let distance = kolmogorov_smirnov(samples(|s| pick(normal_pair(s))), |x| normal_tail(-x));
            assert!(distance < CRITICAL, "{distance}");
        }
    }

    #[test]
    fn gamma_variates_are_gamma() {
        for shape in [0.5, 1.0, 1.7, 4.0, 30.0] {
            let distance = kolmogorov_smirnov(samples(|s| gamma(s, shape)), |x| gamma_tails(shape, shape * x).0);
            assert!(distance < CRITICAL, "shape {shape}: {distance}");
        }
    }

    /// A shape that is wrong by 10 % is noticed: the test above can fail.
    #[test]
    fn another_shape_fails_the_test() {
        assert!(kolmogorov_smirnov(samples(|s| gamma(s, 1.7)), |x| gamma_tails(1.9, 1.9 * x).0) > CRITICAL);
    }

    /// Abramowitz and Stegun, tables 26.1 (normal) and 26.8 (chi-square, whose half is gamma with half the degrees).
    #[test]
    fn tails_are_those_of_the_tables() {
        for (x, tail) in [(0.0, 0.5), (1.0, 0.158_655), (2.0, 0.022_750), (3.0, 0.001_350)] {
            assert!((normal_tail(x) - tail).abs() < 1e-6);
        }
        for (degrees, quantile, above) in
            [(1.0, 3.841_46, 0.05), (2.0, 9.210_34, 0.01), (5.0, 1.145_48, 0.95), (10.0, 29.588_3, 0.001)]
        {
            assert!((gamma_tails(degrees / 2.0, quantile / 2.0).1 / above - 1.0).abs() < 1e-4, "{degrees} degrees");
        }
    }

    proptest! {
        #[test]
        fn a_rank_is_kept(shape in 0.5f64..50.0, exponent in 1e-9f64..40.0) {
            let (below, above) = gamma_tails(shape, shape * gamma_of_rank(shape, exponent));
            prop_assert!((above / libm::exp(-exponent) - 1.0).abs() < 1e-9, "{above}");
            prop_assert!((below / -libm::expm1(-exponent) - 1.0).abs() < 1e-9, "{below}");
        }

        #[test]
        fn a_shape_of_one_is_the_exponential_itself(exponent in 1e-9f64..40.0) {
            prop_assert!((gamma_of_rank(1.0, exponent) / exponent - 1.0).abs() < 1e-9);
        }
    }
}
