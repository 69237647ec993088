//! The Gauss–Markov model.

use core::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI, TAU};

use hopcast_protocols::random::Stream;
use hopcast_protocols::time::Duration;
use hopcast_radio::propagation::Position;
use hopcast_radio::variate;

use super::{Area, Leg, Mobility};

/// Speed and direction that change from step to step; more memory means smaller changes.
///
/// With memory α, mean s̄, deviation σ and normal deviates w of mean 0 and variance 1:
///
/// sₙ = α·sₙ₋₁ + (1 − α)·s̄ + σ·√(1 − α²)·wₙ₋₁
///
/// for the speed, and alike for the direction: B. Liang and Z. J. Haas, "Predictive distance-based mobility management for PCS
/// networks", IEEE INFOCOM 1999, in the form of T. Camp, J. Boleng and V. Davies, "A survey of mobility models for ad hoc network
/// research", Wireless Communications & Mobile Computing 2(5), 2002, section 2.5. So the deviation is σ at any time, and what
/// is k steps apart correlates by αᵏ. It starts with speed and direction drawn from that distribution.
///
/// Camp et al. keep nodes off the edges: within a distance of an edge, the mean direction becomes that which leads
/// straight away from it, and from a corner along the diagonal; it stays so until another edge changes it. They give no
/// distance.
///
/// Rules that they leave open: a direction turns towards its mean the shorter way round; a speed below 0 is a rest; a
/// step that would lead out of the area ends at its edge, and the direction is mirrored there.
#[derive(Clone, Debug)]
pub struct GaussMarkov {
    config: Config,
    stream: Stream,
    here: Position,
    /// In m/s, before it is kept from being negative.
    speed: f64,
    /// In radians, counterclockwise from the east.
    direction: f64,
    mean_direction: f64,
}

/// Parameters of Gauss–Markov.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// Area in which nodes stay.
    pub area: Area,
    /// Memory from 0, none, to 1: nothing ever changes.
    pub alpha: f64,
    /// Mean speed in m/s.
    pub speed: f64,
    /// Its standard deviation in m/s.
    pub speed_deviation: f64,
    /// Mean direction at the start in radians, counterclockwise from the east; `None`: each node draws its own.
    pub direction: Option<f64>,
    /// Its standard deviation in radians.
    pub direction_deviation: f64,
    /// Length of a step, above 0.
    pub step: Duration,
    /// Distance in metres from an edge within which the mean direction leads away from it.
    pub edge: f64,
}

impl GaussMarkov {
    /// A node at `placed`, in the area.
    pub fn new(config: Config, placed: Position, mut stream: Stream) -> Self {
        let drawn = TAU * stream.unit();
        let mean_direction = config.direction.unwrap_or(drawn);
        let (speed, direction) = variate::normal_pair(&mut stream);
        Self {
            config,
            here: placed,
            speed: config.speed + config.speed_deviation * speed,
            direction: mean_direction + config.direction_deviation * direction,
            mean_direction,
            stream,
        }
    }

    /// The mean direction near an edge.
    fn away_from_edge(&self) -> Option<f64> {
        let Config { area, edge, .. } = self.config;
        // Of two opposite edges the nearer one counts.
        let side = |place: f64, low: f64, length: f64| match (place - low, low + length - place) {
            (from_low, from_high) if from_low < edge && from_low <= from_high => 1,
            (_, from_high) if from_high < edge => -1,
            _ => 0,
        };
        Some(match (side(self.here.x, area.x, area.width), side(self.here.y, area.y, area.height)) {
            (1, 0) => 0.0,
            (1, 1) => FRAC_PI_4,
            (0, 1) => FRAC_PI_2,
            (-1, 1) => 3.0 * FRAC_PI_4,
            (-1, 0) => PI,
            (-1, -1) => -3.0 * FRAC_PI_4,
            (0, -1) => -FRAC_PI_2,
            (1, -1) => -FRAC_PI_4,
            _ => return None,
        })
    }

    fn change(&mut self) {
        let Config { alpha, speed, speed_deviation, direction_deviation, .. } = self.config;
        if let Some(direction) = self.away_from_edge() {
            self.mean_direction = direction;
        }
        // The turn of the direction that is nearest to the mean.
        let turns = libm::round((self.direction - self.mean_direction) / TAU);
        let direction = self.direction - turns * TAU;
        let news = libm::sqrt(1.0 - alpha * alpha);
        let (first, second) = variate::normal_pair(&mut self.stream);
        self.speed = alpha * self.speed + (1.0 - alpha) * speed + news * speed_deviation * first;
        self.direction = alpha * direction + (1.0 - alpha) * self.mean_direction + news * direction_deviation * second;
    }
}

impl Mobility for GaussMarkov {
    fn next_leg(&mut self) -> Leg {
        let Config { area, step, .. } = self.config;
        let (sine, cosine) = libm::sincos(self.direction);
        let length = self.speed.max(0.0) * step.as_secs_f64();
        let (x, y) = (self.here.x + length * cosine, self.here.y + length * sine);
        let to = Position::on_ground(x.clamp(area.x, area.x + area.width), y.clamp(area.y, area.y + area.height));
        if to.x != x {
            self.direction = PI - self.direction;
        }
        if to.y != y {
            self.direction = -self.direction;
        }
        let leg = Leg { from: self.here, to, duration: step };
        self.here = to;
        self.change();
        leg
    }
}

#[cfg(test)]
mod tests {
    use hopcast_protocols::random::Purpose;
    use hopcast_protocols::time::Instant;
    use proptest::prelude::*;

    use super::super::Motion;
    use super::super::statistics::{CRITICAL, kolmogorov_smirnov};
    use super::*;
    use crate::id::NodeId;

    /// So wide that no edge is ever met.
    const PLAIN: Config = Config {
        area: Area { x: -5e8, y: -5e8, width: 1e9, height: 1e9 },
        alpha: 0.75,
        speed: 10.0,
        speed_deviation: 1.0,
        direction: Some(FRAC_PI_2),
        direction_deviation: 0.3,
        step: Duration::from_secs(1),
        edge: 1.0,
    };

    fn node(config: Config, number: u64) -> GaussMarkov {
        let middle = config.area.at(0.5, 0.5);
        GaussMarkov::new(config, middle, Stream::new(5, Purpose::Mobility, 0, number))
    }

    /// Speeds and directions of one node's legs.
    fn legs(config: Config, number: u64, count: usize) -> Vec<(f64, f64)> {
        let mut node = node(config, number);
        let leg = |_| {
            let Leg { from, to, duration } = node.next_leg();
            let speed = from.distance(to) / duration.as_secs_f64();
            (speed, libm::atan2(to.y - from.y, to.x - from.x))
        };
        (0..count).map(leg).collect()
    }

    fn correlation(samples: &[f64], mean: f64, lag: usize) -> f64 {
        let squares: f64 = samples.iter().map(|s| (s - mean) * (s - mean)).sum();
        let products: f64 = samples.windows(lag + 1).map(|w| (w[0] - mean) * (w[lag] - mean)).sum();
        products / squares
    }

    #[test]
    fn speed_and_direction_correlate_by_a_power_of_alpha() {
        for alpha in [0.0, 0.5, 0.75, 0.9] {
            let legs = legs(Config { alpha, ..PLAIN }, 0, 40_000);
            let (speeds, directions): (Vec<f64>, Vec<f64>) = legs.into_iter().unzip();
            for lag in [1, 2, 5, 10] {
                let expected = libm::pow(alpha, lag as f64);
                for (what, measured) in [
                    ("speed", correlation(&speeds, 10.0, lag)),
                    ("direction", correlation(&directions, FRAC_PI_2, lag)),
                ] {
                    assert!((measured - expected).abs() < 0.05, "{what}, {alpha}, {lag}: {measured} for {expected}");
                }
            }
        }
    }

    /// From the start on; over nodes, which are independent.
    #[test]
    fn speed_and_direction_are_normal_at_any_time() {
        let normal = |x: f64| 0.5 * libm::erfc(-x / core::f64::consts::SQRT_2);
        for step in [0, 1, 20] {
            let at: Vec<(f64, f64)> = (0..4_000).map(|number| legs(PLAIN, number, step + 1)[step]).collect();
            let speeds = at.iter().map(|(speed, _)| *speed).collect();
            let directions = at.iter().map(|(_, direction)| *direction).collect();
            let distance = kolmogorov_smirnov(speeds, |s| normal(s - 10.0));
            assert!(distance < CRITICAL, "speed of step {step}: {distance}");
            let distance = kolmogorov_smirnov(directions, |d| normal((d - FRAC_PI_2) / 0.3));
            assert!(distance < CRITICAL, "direction of step {step}: {distance}");
        }
    }

    /// A memory of 1 keeps what was drawn first.
    #[test]
    fn with_a_perfect_memory_nothing_changes() {
        let legs = legs(Config { alpha: 1.0, ..PLAIN }, 1, 50);
        assert!(
            legs.iter()
                .all(|(speed, direction)| { (speed - legs[0].0).abs() < 1e-6 && (direction - legs[0].1).abs() < 1e-6 })
        );
    }

    /// Camp, Boleng and Davies: eight sectors along the edges, each with the direction that leads away.
    /// Where the mean of a node at (x, y) turns, degrees, in an area of 300 m × 300 m with its corner at (100, 0).
    fn away_from_edge(edge: f64, x: f64, y: f64) -> Option<f64> {
        let area = Area { x: 100.0, y: 0.0, width: 300.0, height: 300.0 };
        let stream = Stream::new(5, Purpose::Mobility, 0, 0);
        let node = GaussMarkov::new(Config { area, edge, ..PLAIN }, Position::on_ground(x, y), stream);
        node.away_from_edge().map(|direction| libm::round(direction.to_degrees().rem_euclid(360.0) * 1e9) * 1e-9)
    }

    #[test]
    fn the_mean_direction_leads_away_from_edges() {
        for (x, y, degrees) in [
            (110.0, 150.0, 0.0),
            (110.0, 10.0, 45.0),
            (250.0, 10.0, 90.0),
            (390.0, 10.0, 135.0),
            (390.0, 150.0, 180.0),
            (390.0, 290.0, 225.0),
            (250.0, 290.0, 270.0),
            (110.0, 290.0, 315.0),
        ] {
            assert_eq!(away_from_edge(50.0, x, y), Some(degrees), "({x}, {y})");
        }
        assert_eq!(away_from_edge(50.0, 250.0, 150.0), None);
    }

    #[test]
    fn of_two_edges_the_nearer_one_is_left() {
        for (x, y, degrees) in [(110.0, 10.0, 45.0), (390.0, 10.0, 135.0), (251.0, 151.0, 225.0), (110.0, 290.0, 315.0)]
        {
            assert_eq!(away_from_edge(200.0, x, y), Some(degrees), "({x}, {y})");
        }
    }

    /// North at 10 m/s without a deviation, 60 m below the edge, of which the zone is 25 m deep: by hand. At 40 m the mean
    /// turns round; with a memory of 0 so does the node, and stays turned.
    #[test]
    fn a_node_turns_round_at_the_edge() {
        let area = Area { x: 0.0, y: 0.0, width: 1e3, height: 100.0 };
        let config = Config { area, alpha: 0.0, speed_deviation: 0.0, direction_deviation: 0.0, edge: 25.0, ..PLAIN };
        let stream = Stream::new(5, Purpose::Mobility, 0, 0);
        let mut node = GaussMarkov::new(config, Position::on_ground(500.0, 40.0), stream);
        let heights: Vec<f64> = (0..12).map(|_| libm::round(node.next_leg().to.y * 1e6) * 1e-6).collect();
        assert_eq!(heights, [50.0, 60.0, 70.0, 80.0, 70.0, 60.0, 50.0, 40.0, 30.0, 20.0, 30.0, 40.0]);
    }

    /// A mean of 350° is 10° away from one of 0°, not 350°.
    #[test]
    fn a_direction_turns_the_shorter_way() {
        let area = Area { x: 0.0, y: 0.0, width: 1e3, height: 1e3 };
        let direction = Some(350_f64.to_radians());
        let config = Config {
            area,
            alpha: 0.9,
            speed_deviation: 0.0,
            direction_deviation: 0.0,
            direction,
            edge: 100.0,
            ..PLAIN
        };
        let stream = Stream::new(5, Purpose::Mobility, 0, 0);
        let mut node = GaussMarkov::new(config, Position::on_ground(1.0, 500.0), stream);
        for _ in 0..8 {
            let leg = node.next_leg();
            assert!(leg.to.x - leg.from.x > 9.0, "{leg:?}");
        }
    }

    /// Never backwards.
    #[test]
    fn a_speed_below_zero_is_a_rest() {
        let legs = legs(Config { speed: 0.5, direction_deviation: 0.0, ..PLAIN }, 0, 2_000);
        let resting = legs.iter().filter(|(speed, _)| *speed == 0.0).count();
        // P(s < 0) = Q(1/2) = 0.3085.
        assert!((resting as f64 / 2_000.0 - 0.3085).abs() < 0.06, "{resting}");
        assert!(legs.iter().all(|&(speed, direction)| speed == 0.0 || (direction - FRAC_PI_2).abs() < 1e-3));
    }

    proptest! {
        #[test]
        fn a_node_stays_in_its_area(
            number: u64, alpha in 0.0f64..=1.0, speed in 0.0f64..50.0, deviations in [0.0f64..20.0, 0.0f64..6.0],
            sides in [0.1f64..1e3, 0.1f64..1e3], edge in 0.0f64..100.0,
        ) {
            let area = Area { x: -20.0, y: 5.0, width: sides[0], height: sides[1] };
            let [speed_deviation, direction_deviation] = deviations;
            let config = Config { area, alpha, speed, speed_deviation, direction_deviation, direction: None, edge, ..PLAIN };
            let mut motion = Motion::of(vec![Box::new(node(config, number))]);
            for tenth in 0..500 {
                let place = motion.position(NodeId(0), Instant::START + Duration::from_millis(100 * tenth));
                let near = Area { x: area.x - 1e-9, y: area.y - 1e-9, width: area.width + 2e-9, height: area.height + 2e-9 };
                prop_assert!(near.contains(place), "{place:?} in {area:?}");
            }
        }
    }
}
