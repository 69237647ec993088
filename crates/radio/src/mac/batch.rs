//! Batches: frames that stand for several packets, so that long runs take less time.
//!
//! The first packet of a batch goes ahead, as an RTS of its length: it contends for the medium, and may collide as any packet may. The rest follows as
//! one frame. It takes as long as its packets would take among the stations that contend with batches, by the model of Bianchi ("Performance analysis of
//! the IEEE 802.11 distributed coordination function", IEEE JSAC 18(3), 2000). Of n such stations each has the same chance to be the next one, so while a
//! batch waits n − 1 others are heard in the mean.

use hopcast_protocols::time::Duration;

/// Share of the mean number of batches that follows from the last batch.
const GAIN: f64 = 1.0 / 16.0;
/// Steps by which the model's equations are solved: to 1e-9.
const STEPS: u32 = 30;

/// What a station has heard of others with batches.
#[derive(Clone, Copy, Debug)]
pub(super) struct Contention {
    /// Batches that others have sent while this station's waits.
    heard: u32,
    /// Their mean number.
    others: f64,
    toll: Toll,
    /// Contention windows, in slots.
    windows: [u32; 2],
}

/// What a packet costs until it gets through, in the mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Toll {
    /// Slots in which the medium is idle.
    pub(super) slots: f64,
    /// Collisions on the medium.
    pub(super) collisions: f64,
    /// Attempts of the station itself.
    pub(super) attempts: f64,
}

/// All packets of a batch but the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rest {
    /// From the end of the first acknowledgment to the end of the last packet.
    pub(super) airtime: Duration,
    /// Time of all attempts on the air with their answers. A station dump counts an attempt for each packet, so it has the medium access of further ones, too.
    pub(super) attempts: Duration,
}

impl Contention {
    /// That of a station that is alone, with these contention windows.
    pub(super) fn new(windows: [u32; 2]) -> Self {
        Self { heard: 0, others: 0.0, toll: Toll::new(1.0, windows), windows }
    }

    /// Another station has sent a batch while this one's waits.
    pub(super) const fn on_other(&mut self) {
        self.heard += 1;
    }

    /// The station's batch has got through with its first packet.
    pub(super) fn on_first(&mut self) {
        let others = f64::from(core::mem::take(&mut self.heard));
        if self.others != others {
            self.others += GAIN * (others - self.others);
            self.toll = Toll::new(1.0 + self.others, self.windows);
        }
    }

    /// What a packet costs now.
    pub(super) const fn toll(&self) -> Toll {
        self.toll
    }
}

impl Toll {
    /// Among this number of stations, which always have something to send.
    fn new(stations: f64, [cw_min, cw_max]: [u32; 2]) -> Self {
        let window = f64::from(cw_min) + 1.0;
        let stages = ((cw_max + 1) / (cw_min + 1)).max(1).ilog2();
        // Equation 7, divided by 1 − 2p: the probability that a station sends in a slot, where its frames collide with probability p.
        let tau = |p: f64| {
            let (growth, _) = (0..stages).fold((0.0, 1.0), |(sum, power), _| (sum + power, power * 2.0 * p));
            2.0 / (1.0 + window + p * window * growth)
        };
        // Equation 9: the others are silent.
        let is_too_low = |p: f64| 1.0 - libm::pow(1.0 - tau(p), stations - 1.0) > p;
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..STEPS {
            let middle = f64::midpoint(low, high);
            match is_too_low(middle) {
                true => low = middle,
                false => high = middle,
            }
        }
        let (p, tau) = (low, tau(low));
        // Equations 10 and 11: all are silent in a slot; one of them sends alone.
        let silent = libm::pow(1.0 - tau, stations);
        let alone = stations * tau * libm::pow(1.0 - tau, stations - 1.0);
        Self { slots: silent / alone, collisions: (1.0 - silent - alone).max(0.0) / alone, attempts: 1.0 / (1.0 - p) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WINDOWS: [u32; 2] = [15, 1_023];

    #[test]
    fn a_station_that_is_alone_waits_for_half_of_the_window() {
        let Toll { slots, collisions, attempts } = Contention::new(WINDOWS).toll();
        assert!((slots - 7.5).abs() < 1e-6 && collisions < 1e-6 && attempts - 1.0 < 1e-6, "{slots} {collisions}");
    }

    /// ns-3's reference for `wifi-bianchi` at HE-MCS 0 in 20 MHz, with DIFS after a collision: 1500 bytes and 38 of headers in 106 symbols of 13.6 µs
    /// behind 44 µs of preamble, SIFS 16, ACK 44, DIFS 34 µs.
    #[test]
    fn the_model_gives_the_throughput_that_ns_3_has_for_it() {
        for (stations, mbps) in [(5.0, 6.3746), (10.0, 5.8670), (20.0, 5.3742), (50.0, 4.7004)] {
            let Toll { slots, collisions, .. } = Toll::new(stations, WINDOWS);
            let data = 44.0 + 106.0 * 13.6;
            let found = 8.0 * 1_500.0 / (data + 16.0 + 44.0 + 34.0 + collisions * (data + 34.0) + slots * 9.0);
            assert!((found / mbps - 1.0).abs() < 0.006, "{stations}: {found} Mb/s");
        }
    }

    #[test]
    fn a_station_learns_how_many_others_there_are_and_forgets_them() {
        let mut contention = Contention::new(WINDOWS);
        for _ in 0..200 {
            contention.on_other();
            contention.on_other();
            contention.on_first();
        }
        let (found, right) = (contention.toll(), Toll::new(3.0, WINDOWS));
        assert!((found.collisions - right.collisions).abs() < 1e-3, "{found:?} instead of {right:?}");
        (0..200).for_each(|_| contention.on_first());
        assert!(contention.toll().collisions < 1e-3);
    }
}
