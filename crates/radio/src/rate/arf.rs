//! ARF and AARF: one rate up after a run of successes, one down after two failures.
//!
//! ARF (Kamerman and Monteban, "WaveLAN-II: a high-performance wireless LAN for the unlicensed band", Bell Labs Technical
//! Journal 2(3), 1997, pp. 118–133). AARF (Lacage, Manshaei and Turletti, "IEEE 802.11 rate adaptation: a practical approach",
//! MSWiM 2004, section 3.1) raises the rate more rarely each time that this was too early. The timer of the first counts
//! frames, as in the second: so both are independent of the load.

/// Successes in a row that raise the rate.
const SUCCESSES: u32 = 10;
/// Attempts since the last change that raise the rate, at the next success.
const TIMER: u32 = 15;
/// Failures in a row that lower the rate.
const FAILURES: u32 = 2;
/// AARF: the most successes in a row that are asked for.
const MOST_SUCCESSES: u32 = 50;

/// The state for one receiver; rates are indices, ascending.
#[derive(Clone, Debug)]
pub(super) struct Arf {
    rate: usize,
    highest: usize,
    adaptive: bool,
    /// The rate has just been raised: one failure lowers it again.
    probing: bool,
    successes: u32,
    failures: u32,
    /// Attempts since the last change of rate.
    timer: u32,
    needed_successes: u32,
    needed_timer: u32,
}

impl Arf {
    /// ARF over this many rates, beginning with the highest.
    pub(super) fn new(rates: usize) -> Self {
        let highest = rates.saturating_sub(1);
        Self {
            rate: highest,
            highest,
            adaptive: false,
            probing: false,
            successes: 0,
            failures: 0,
            timer: 0,
            needed_successes: SUCCESSES,
            needed_timer: TIMER,
        }
    }

    /// AARF.
    pub(super) fn adaptive(rates: usize) -> Self {
        Self { adaptive: true, ..Self::new(rates) }
    }

    pub(super) fn select(&self) -> usize {
        self.rate
    }

    pub(super) fn on_success(&mut self) {
        self.probing = false;
        self.failures = 0;
        self.successes = self.successes.saturating_add(1);
        self.timer = self.timer.saturating_add(1);
        let due = self.successes >= self.needed_successes || self.timer >= self.needed_timer;
        if due && self.rate < self.highest {
            self.change_to(self.rate + 1);
            self.probing = true;
        }
    }

    pub(super) fn on_failure(&mut self) {
        self.successes = 0;
        self.failures += 1;
        self.timer = self.timer.saturating_add(1);
        if self.probing {
            if self.adaptive {
                self.needed_successes = (self.needed_successes * 2).min(MOST_SUCCESSES);
                self.needed_timer = self.needed_timer.saturating_mul(2);
            }
            self.change_to(self.rate - 1);
        } else if self.failures >= FAILURES {
            (self.needed_successes, self.needed_timer) = (SUCCESSES, TIMER);
            self.change_to(self.rate.saturating_sub(1));
        }
    }

    fn change_to(&mut self, rate: usize) {
        self.rate = rate;
        self.probing = false;
        (self.successes, self.failures, self.timer) = (0, 0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reports, `+` for a success and `-` for a failure; the rate after each.
    fn rates(arf: &mut Arf, reports: &str) -> Vec<usize> {
        let step = |report| {
            if report == '+' {
                arf.on_success();
            } else {
                arf.on_failure();
            }
            arf.select()
        };
        reports.chars().map(step).collect()
    }

    fn at(rate: usize, arf: Arf) -> Arf {
        Arf { rate, ..arf }
    }

    #[test]
    fn two_failures_in_a_row_lower_the_rate() {
        assert_eq!(rates(&mut Arf::new(4), "-+--+----"), [3, 3, 3, 2, 2, 2, 1, 1, 0]);
    }

    #[test]
    fn the_lowest_rate_stays() {
        assert_eq!(rates(&mut at(0, Arf::new(4)), "------"), [0; 6]);
    }

    #[test]
    fn ten_successes_raise_the_rate_and_a_failed_probe_lowers_it_at_once() {
        let mut arf = at(1, Arf::new(4));
        assert_eq!(rates(&mut arf, "+++++++++"), [1; 9]);
        assert_eq!(rates(&mut arf, "+-"), [2, 1]);
        // After the probe: as before it.
        assert_eq!(rates(&mut arf, "++++++++++"), [1, 1, 1, 1, 1, 1, 1, 1, 1, 2]);
        // A probe that succeeds is none any more: it takes two failures.
        assert_eq!(rates(&mut arf, "+--"), [2, 2, 1]);
    }

    #[test]
    fn fifteen_attempts_raise_the_rate_although_some_failed() {
        let mut arf = at(1, Arf::new(4));
        assert_eq!(rates(&mut arf, "++++-++++-++++"), [1; 14]);
        assert_eq!(rates(&mut arf, "+"), [2]);
    }

    /// How many successes it takes to the next probe.
    fn successes_to_probe(arf: &mut Arf) -> usize {
        let rate = arf.select();
        (1..).find(|_| rates(arf, "+")[0] > rate).expect("the rate rises")
    }

    #[test]
    fn aarf_asks_for_twice_as_many_successes_after_each_failed_probe() {
        let mut arf = at(1, Arf::adaptive(4));
        let mut runs = Vec::new();
        for _ in 0..5 {
            runs.push(successes_to_probe(&mut arf));
            arf.on_failure();
        }
        assert_eq!(runs, [10, 20, 40, 50, 50]);
        // Two failures outside of a probe: as at the beginning.
        assert_eq!(rates(&mut arf, "--"), [1, 0]);
        assert_eq!(successes_to_probe(&mut arf), 10);
    }

    #[test]
    fn the_timer_of_aarf_grows_with_it() {
        let mut arf = at(1, Arf::adaptive(4));
        rates(&mut arf, "++++++++++-");
        // Runs of four never make 20: the timer, of 30 now, ends.
        assert_eq!(rates(&mut arf, &"++++-".repeat(5)), [1; 25]);
        assert_eq!(rates(&mut arf, "++++-+"), [1, 1, 1, 1, 1, 2]);
    }

    #[test]
    fn arf_does_not_learn() {
        let mut arf = at(1, Arf::new(4));
        for _ in 0..3 {
            assert_eq!(successes_to_probe(&mut arf), 10);
            arf.on_failure();
        }
    }
}
