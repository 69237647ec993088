//! The packets of an ADTFRC flow that arrive: what IDD and STT say of each, next to the state of the network (Fu, Meng, Lu,
//! sections III-B and III-C).

use hopcast_protocols::transport::adtfrc::{Identification, Sample, Signs};
use schemars::JsonSchema;
use serde::Serialize;

/// Arrivals of one flow.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Arrivals {
    /// While no queue is more than half full, and while one is.
    by_congestion: [Signals; 2],
    idd: Moments,
    iad: Moments,
}

/// Packets that arrived in one state of the network, and how many of them a metric calls congestion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema, Serialize)]
pub struct Signals {
    /// Packets that arrived.
    #[schemars(extend("x-unit" = "packets", "x-counted" = "at the sink"))]
    pub packets: u64,
    /// Those with IDD HIGH.
    #[schemars(extend("x-unit" = "packets", "x-counted" = "at the sink"))]
    pub idd_high: u64,
    /// Those with STT LOW.
    #[schemars(extend("x-unit" = "packets", "x-counted" = "at the sink"))]
    pub stt_low: u64,
    /// Those with both.
    #[schemars(extend("x-unit" = "packets", "x-counted" = "at the sink"))]
    pub both: u64,
}

/// Number, mean and sum of squared deviations, in one pass (Welford, Technometrics 4(3), 1962).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Moments {
    count: u64,
    mean: f64,
    squares: f64,
}

impl Moments {
    fn insert(&mut self, value: f64) {
        self.count += 1;
        let deviation = value - self.mean;
        self.mean += deviation / self.count as f64;
        self.squares += deviation * (value - self.mean);
    }

    fn summary(self) -> Spread {
        Spread {
            mean_s: (self.count > 0).then_some(self.mean),
            deviation_s: (self.count > 1).then(|| libm::sqrt(self.squares / (self.count - 1) as f64)),
        }
    }
}

/// Mean and standard deviation of a metric over the packets that arrived, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, JsonSchema, Serialize)]
pub struct Spread {
    /// Mean.
    #[schemars(extend("x-divisor" = "packets that arrived, but the first", "x-counted" = "at the sink"))]
    pub mean_s: Option<f64>,
    /// Sample standard deviation.
    #[schemars(extend("x-divisor" = "packets that arrived − 2, in the variance", "x-counted" = "at the sink"))]
    pub deviation_s: Option<f64>,
}

/// What the results tell of a flow's arrivals.
#[derive(Clone, Copy, Debug, Default, PartialEq, JsonSchema, Serialize)]
pub struct ArrivalSummary {
    /// Inter-packet delay difference.
    pub idd: Spread,
    /// Inter-packet arrival delay, which the paper compares it with.
    pub iad: Spread,
    /// While no queue of any node is more than half full.
    pub normal: Signals,
    /// While one is.
    pub congestion: Signals,
}

impl Arrivals {
    /// A packet arrived, and was measured.
    pub(super) fn on_sample(&mut self, sample: &Sample) {
        if let (Some(difference), Some(interval)) = (sample.delay_difference, sample.arrival_interval) {
            self.idd.insert(difference as f64 / 1e9);
            self.iad.insert(interval as f64 / 1e9);
        }
    }

    /// A packet with these signs arrived while a queue was more than half full, or while none was.
    pub(super) fn on_signs(&mut self, signs: Signs, is_queue_large: bool) {
        let says = |by| signs.states(by).congestion;
        let signals = &mut self.by_congestion[usize::from(is_queue_large)];
        signals.packets += 1;
        signals.idd_high += u64::from(says(Identification::DelayDifference));
        signals.stt_low += u64::from(says(Identification::Throughput));
        signals.both += u64::from(says(Identification::Joint));
    }

    pub(super) fn summary(&self) -> ArrivalSummary {
        let [normal, congestion] = self.by_congestion;
        ArrivalSummary { idd: self.idd.summary(), iad: self.iad.summary(), normal, congestion }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figure_1_means_and_deviations_are_those_of_the_packets() {
        let mut arrivals = Arrivals::default();
        assert_eq!(arrivals.summary(), ArrivalSummary::default());
        let sample = |interval, difference| Sample {
            arrival_interval: interval,
            delay_difference: difference,
            throughput: 1.0,
            reordered: 0.0,
            lost: 0.0,
        };
        arrivals.on_sample(&sample(None, None));
        arrivals.on_sample(&sample(Some(10_000_000), Some(-2_000_000)));
        assert_eq!(arrivals.summary().idd, Spread { mean_s: Some(-0.002), deviation_s: None });
        arrivals.on_sample(&sample(Some(30_000_000), Some(2_000_000)));
        let Spread { mean_s: Some(mean), deviation_s: Some(deviation) } = arrivals.summary().iad else { panic!() };
        assert!((mean - 0.02).abs() < 1e-12 && (deviation - 0.02 / 2_f64.sqrt()).abs() < 1e-12, "{mean} {deviation}");
        assert_eq!(arrivals.summary().idd.mean_s, Some(0.0));
    }
}
