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

/// Which metrics are extreme at a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signs {
    high_delay_difference: bool,
    low_throughput: bool,
    high_reordered: bool,
    high_lost: bool,
}

impl Signs {
    /// The state that they show, with congestion told by `identification`.
    pub fn states(self, identification: Identification) -> States {
        let congestion = match identification {
            Identification::Joint => self.high_delay_difference && self.low_throughput,
            Identification::DelayDifference => self.high_delay_difference,
            Identification::Throughput => self.low_throughput,
        };
        States {
            congestion,
            route_change: self.high_reordered && !congestion,
            channel_error: self.high_lost && !congestion,
        }
    }
}

/// Finds what is extreme at each packet.
#[derive(Clone, Debug, Default)]
pub(crate) struct Detector {
    delay_difference: Classifier,
    throughput: Classifier,
    reordered: Classifier,
    lost: Classifier,
}

impl Detector {
    /// A detector without a sample.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// What is extreme in a sample, among those before.
    pub(crate) fn classify(&mut self, sample: &Sample) -> Signs {
        // Thousandths of a packet per second, and millionths: fine enough for any rate.
        let scaled = |value: f64, scale: f64| libm::round(value * scale) as i64;
        Signs {
            high_delay_difference: sample
                .delay_difference
                .is_some_and(|value| self.delay_difference.classify(value) == Class::High),
            low_throughput: self.throughput.classify(scaled(sample.throughput, 1e3)) == Class::Low,
            high_reordered: self.reordered.classify(scaled(sample.reordered, 1e6)) == Class::High,
            high_lost: self.lost.classify(scaled(sample.lost, 1e6)) == Class::High,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUIET: Sample =
        Sample { arrival_interval: Some(0), delay_difference: Some(0), throughput: 100.0, reordered: 0.0, lost: 0.0 };

    /// What a sample shows after a hundred quiet ones.
    fn identify(identification: Identification, sample: Sample) -> States {
        let mut detector = Detector::new();
        (0..100).for_each(|_| assert_eq!(detector.classify(&QUIET).states(identification), States::default()));
        detector.classify(&sample).states(identification)
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
