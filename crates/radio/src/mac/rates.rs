//! Which rate each frame is sent at, and how long its answer takes.

use hopcast_protocols::time::{Duration, Instant};

use super::Config;
use super::frame::{FrameKind, StationId};
use crate::rate::RateControl;
use crate::standard::{DataRate, Phy};

/// Rates of data frames and of answers.
#[derive(Clone, Debug)]
pub(super) struct Rates {
    control: RateControl,
    basic: DataRate,
    /// To an RTS at the basic rate, and to a frame at the rate that was asked for last: most frames have one of two rates.
    answers: [Answer; 2],
}

/// The CTS or ACK that answers a frame at a rate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Answer {
    to: DataRate,
    /// Its own rate.
    pub(super) rate: DataRate,
    /// Its time on the air.
    pub(super) airtime: Duration,
    /// From the end of the frame: without the start of an answer by then there is none.
    pub(super) timeout: Duration,
}

impl Rates {
    pub(super) fn new(station: StationId, config: &Config) -> Self {
        let Config { phy, rate_control, rates, seed, basic_rate, .. } = config;
        let answer = Answer::new(phy, *basic_rate, *basic_rate);
        let control = RateControl::new(*rate_control, *phy, rates, *seed, station);
        Self { control, basic: *basic_rate, answers: [answer; 2] }
    }

    /// The rate of the next attempt at a data frame to `receiver`; `retry` attempts at it were not acknowledged.
    pub(super) fn select(&mut self, receiver: StationId, now: Instant, retry: u32) -> DataRate {
        self.control.select(receiver, now, retry)
    }

    /// Whether a data frame at `rate` was acknowledged.
    pub(super) fn on_report(&mut self, receiver: StationId, rate: DataRate, success: bool) {
        if success { self.control.on_success(receiver, rate) } else { self.control.on_failure(receiver, rate) }
    }

    /// The answer to a frame at `rate`.
    pub(super) fn answer(&mut self, phy: &Phy, rate: DataRate) -> Answer {
        if self.answers[0].to == rate {
            return self.answers[0];
        }
        if self.answers[1].to != rate {
            self.answers[1] = Answer::new(phy, self.basic, rate);
        }
        self.answers[1]
    }
}

impl Answer {
    /// 10.6.6.5: the highest basic rate that is not above that of the frame and of its modulation. The basic rates are
    /// `basic` and the mandatory ones below it.
    fn new(phy: &Phy, basic: DataRate, to: DataRate) -> Self {
        let fits = basic <= to && basic.modulation() == to.modulation();
        let rate = if fits { basic } else { phy.standard().default_basic_rate(to) };
        let airtime = phy.airtime(rate, FrameKind::RESPONSE_OCTETS);
        Self { to, rate, airtime, timeout: phy.ack_timeout(rate) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::standard::Standard;

    #[test]
    fn an_answer_has_the_highest_basic_rate_not_above_the_frames() {
        for (standard, basic, to, expected) in [
            (Standard::Ofdm, 24_000, 54_000, 24_000),
            (Standard::Ofdm, 24_000, 24_000, 24_000),
            (Standard::Ofdm, 24_000, 18_000, 12_000),
            (Standard::Ofdm, 24_000, 9_000, 6_000),
            (Standard::Ofdm, 6_000, 54_000, 6_000),
            (Standard::HrDsss, 11_000, 5_500, 2_000),
            (Standard::HrDsss, 2_000, 1_000, 1_000),
            // Of the frame's own modulation, whatever the basic rate is.
            (Standard::Erp, 2_000, 54_000, 24_000),
            (Standard::Erp, 2_000, 9_000, 6_000),
            (Standard::Erp, 24_000, 11_000, 2_000),
            (Standard::OfdmTurbo, 48_000, 108_000, 48_000),
            (Standard::OfdmTurbo, 48_000, 36_000, 24_000),
        ] {
            let rate = DataRate::from_kbps;
            let answer = Answer::new(&standard.phy(false), rate(basic), rate(to));
            assert_eq!(answer.rate, rate(expected), "{standard}: {to} kb/s, basic {basic}");
            assert_eq!(answer.airtime, standard.phy(false).airtime(rate(expected), 14));
        }
    }
}
