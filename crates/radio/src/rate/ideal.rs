//! The best rate for the power at which the receiver got the latest frame: a yardstick for rate control, which no real station can
//! know.
//!
//! A medium that knows the power of each frame at its receiver tells the sender, whether the frame was received or not. The rate is
//! the one with the greatest product of data rate and probability that an MPDU and its answer survive noise alone, at the same power. ns-3's `IdealWifiManager` is
//! a yardstick of the same kind; it learns from frames that were received, and asks for a bit error rate below a bound.

use crate::frame::FrameKind;
use crate::reception::Mode;
use crate::units::Power;

/// Length of the MPDU in bytes whose survival counts: an IP packet of 1500 bytes, LLC/SNAP, QoS MAC header and FCS.
const MPDU_OCTETS: u32 = 1500 + 8 + 26 + 4;

/// Length of the answer in bytes: a block acknowledgment of 64 MPDUs.
const ANSWER_OCTETS: u32 = FrameKind::block_ack_octets(64);

/// How frames at a rate and their answers are received.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// Of data.
    pub data: Mode,
    /// Of the answer.
    pub answer: Mode,
}

impl Candidate {
    /// Bits of data that arrive in a second of data frames at this power.
    fn throughput(&self, power: Power) -> f64 {
        let success = |mode: &Mode, octets| mode.success(power, mode.vector().payload_bits(octets));
        f64::from(self.data.vector().data_rate().as_kbps())
            * 1e3
            * success(&self.data, MPDU_OCTETS)
            * success(&self.answer, ANSWER_OCTETS)
    }
}

/// The state for one receiver.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ideal {
    power: Power,
    /// The place of the best rate at this power; the lowest before any is known.
    best: usize,
}

impl Ideal {
    pub(super) fn select(self) -> usize {
        self.best
    }

    /// The latest frame came to the receiver with `power`. One of `candidates` is chosen, whose rates ascend.
    pub(super) fn on_power(&mut self, power: Power, candidates: &[Candidate]) {
        if power == self.power {
            return;
        }
        self.power = power;
        // Of equal ones the lowest.
        let mut greatest = 0.0;
        self.best = 0;
        for (place, candidate) in candidates.iter().enumerate() {
            let throughput = candidate.throughput(power);
            if throughput > greatest {
                (self.best, greatest) = (place, throughput);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phy::{DataRate, Standard};

    /// Of 802.11a, with answers at 6, 12 or 24 Mb/s.
    fn candidates() -> Vec<Candidate> {
        let phy = Standard::Ofdm.phy(false);
        let mode = |kbps| Mode::new(phy.vector(DataRate::from_kbps(kbps)).expect("a rate of the standard"), 7.0, None);
        let rates = [(6, 6), (9, 6), (12, 12), (18, 12), (24, 24), (36, 24), (48, 24), (54, 24)];
        rates.map(|(data, answer)| Candidate { data: mode(data * 1000), answer: mode(answer * 1000) }).to_vec()
    }

    /// Mb/s.
    fn choice(dbm: f64) -> u32 {
        let candidates = candidates();
        let mut ideal = Ideal::default();
        assert_eq!(ideal.select(), 0, "the lowest before anything is known");
        ideal.on_power(Power::from_dbm(dbm), &candidates);
        candidates[ideal.select()].data.vector().data_rate().as_kbps() / 1000
    }

    #[test]
    fn more_power_is_never_a_lower_rate() {
        let choices: Vec<u32> = (0..=400).map(|tenths| choice(-100.0 + f64::from(tenths) / 10.0)).collect();
        assert!(choices.is_sorted(), "{choices:?}");
        assert_eq!([choice(-110.0), choice(-60.0)], [6, 54]);
        let mut distinct = choices;
        distinct.dedup();
        assert!(distinct.len() >= 7, "{distinct:?}");
    }

    /// An answer that can't be received makes a rate worthless.
    #[test]
    fn the_answer_counts() {
        let mut candidates = candidates();
        let fast = candidates[7].data.clone();
        let power = Power::from_dbm(-85.0);
        let best = |candidates: &[Candidate]| {
            let mut ideal = Ideal::default();
            ideal.on_power(power, candidates);
            ideal.select()
        };
        let before = best(&candidates);
        assert!(before > 0);
        candidates[before].answer = fast;
        assert!(best(&candidates) < before);
    }
}
