//! From metrics to the state of the network (Table II of the paper).

use super::{Class, Classifier, Identification, Sample};

/// What the receiver thinks of the network. None of them: normal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct States {
    /// CONG: the load exceeds what the network can carry. It excludes the others.
    pub congestion: bool,
    /// RTCHG: packets come over more than one path.
    pub route_change: bool,
    /// CHERR: packets are lost at random.
    pub channel_error: bool,
}

/// Identifies the state of the network at each packet.
#[derive(Clone, Debug)]
pub struct Detector {
    identification: Identification,
    delay_difference: Classifier,
    throughput: Classifier,
    reordered: Classifier,
    lost: Classifier,
}

impl Detector {
    /// A detector without a sample.
    pub fn new(identification: Identification) -> Self {
        Self {
            identification,
            delay_difference: Classifier::new(),
            throughput: Classifier::new(),
            reordered: Classifier::new(),
            lost: Classifier::new(),
        }
    }

    /// The state that a sample shows, among those before.
    pub fn identify(&mut self, sample: &Sample) -> States {
        // Thousandths of a packet per second, and millionths: fine enough for any rate.
        let scaled = |value: f64, scale: f64| libm::round(value * scale) as i64;
        let high_delay =
            sample.delay_difference.is_some_and(|value| self.delay_difference.classify(value) == Class::High);
        let low_throughput = self.throughput.classify(scaled(sample.throughput, 1e3)) == Class::Low;
        let high_reordered = self.reordered.classify(scaled(sample.reordered, 1e6)) == Class::High;
        let high_lost = self.lost.classify(scaled(sample.lost, 1e6)) == Class::High;
        let congestion = match self.identification {
            Identification::Joint => high_delay && low_throughput,
            Identification::DelayDifference => high_delay,
            Identification::Throughput => low_throughput,
        };
        States { congestion, route_change: high_reordered && !congestion, channel_error: high_lost && !congestion }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUIET: Sample = Sample { delay_difference: Some(0), throughput: 100.0, reordered: 0.0, lost: 0.0 };

    /// What a sample shows after a hundred quiet ones.
    fn identify(identification: Identification, sample: Sample) -> States {
        let mut detector = Detector::new(identification);
        (0..100).for_each(|_| assert_eq!(detector.identify(&QUIET), States::default()));
        detector.identify(&sample)
    }

    fn states(congestion: bool, route_change: bool, channel_error: bool) -> States {
        States { congestion, route_change, channel_error }
    }

    const QUEUE: Sample = Sample { delay_difference: Some(5_000_000), throughput: 50.0, ..QUIET };

    #[test]
    fn table_2_row_by_row() {
        let joint = |sample| identify(Identification::Joint, sample);
        assert_eq!(joint(QUEUE), states(true, false, false));
        assert_eq!(joint(Sample { throughput: 100.0, ..QUEUE }), states(false, false, false));
        assert_eq!(joint(Sample { delay_difference: Some(0), ..QUEUE }), states(false, false, false));
        assert_eq!(joint(Sample { delay_difference: None, ..QUEUE }), states(false, false, false));
        assert_eq!(joint(Sample { reordered: 0.1, ..QUIET }), states(false, true, false));
        assert_eq!(joint(Sample { lost: 0.1, ..QUIET }), states(false, false, true));
        assert_eq!(joint(Sample { lost: 0.1, reordered: 0.1, ..QUIET }), states(false, true, true));
        // Congestion has priority.
        assert_eq!(joint(Sample { lost: 0.1, reordered: 0.1, ..QUEUE }), states(true, false, false));
        assert_eq!(joint(QUIET), States::default());
    }

    #[test]
    fn section_iii_d_single_metrics() {
        let delayed = Sample { throughput: 200.0, ..QUEUE };
        let slow = Sample { delay_difference: Some(-1_000_000), ..QUEUE };
        assert!(identify(Identification::DelayDifference, delayed).congestion);
        assert!(!identify(Identification::DelayDifference, slow).congestion);
        assert!(!identify(Identification::Throughput, delayed).congestion);
        assert!(identify(Identification::Throughput, slow).congestion);
    }
}
