//! Virtual carrier sense: the network allocation vector (IEEE 802.11-2020, 10.3.2.4).

use hopcast_protocols::time::{Duration, Instant};

/// Until when others have reserved the medium.
#[derive(Clone, Copy, Debug)]
pub(super) struct Nav {
    until: Instant,
    /// Set by an RTS: unless a frame starts by this instant, the reservation lapses then. [`NEVER`]: it stands.
    lapses: Instant,
}

const NEVER: Instant = Instant::MAX;

impl Default for Nav {
    fn default() -> Self {
        Self { until: Instant::START, lapses: NEVER }
    }
}

impl Nav {
    /// The end of the reservation. It is past where there is none.
    #[inline]
    pub(super) fn until(&self) -> Instant {
        self.lapses.min(self.until)
    }

    /// A frame for another station, which ended `now`, asks for `duration`. `lapse` is the time after which an RTS's
    /// reservation may be taken back: 2 SIFS + CTS + aRxPHYStartDelay + 2 slots.
    #[inline]
    pub(super) fn on_frame(&mut self, now: Instant, duration: Duration, lapse: Option<Duration>) {
        let until = now + duration;
        if until > self.until() {
            self.until = until;
            self.lapses = lapse.map_or(NEVER, |after| now + after);
        }
    }

    /// A frame started at `start`, correct or not: a reservation that had not lapsed by then stands.
    #[inline]
    pub(super) fn on_frame_start(&mut self, start: Instant) {
        if start > self.lapses {
            self.until = self.until.min(self.lapses);
        }
        self.lapses = NEVER;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(micros: u64) -> Instant {
        Instant::START + Duration::from_micros(micros)
    }

    #[test]
    fn only_a_longer_reservation_counts() {
        let mut nav = Nav::default();
        nav.on_frame(at(100), Duration::from_micros(50), None);
        nav.on_frame(at(110), Duration::from_micros(10), None);
        assert_eq!(nav.until(), at(150));
    }

    #[test]
    fn an_rts_that_nobody_follows_lapses() {
        let mut nav = Nav::default();
        nav.on_frame(at(100), Duration::from_micros(900), Some(Duration::from_micros(80)));
        assert_eq!(nav.until(), at(180));
        nav.on_frame_start(at(170));
        assert_eq!(nav.until(), at(1000), "a frame in time confirms it");
    }

    #[test]
    fn a_late_frame_does_not_revive_a_lapsed_reservation() {
        let mut nav = Nav::default();
        nav.on_frame(at(100), Duration::from_micros(900), Some(Duration::from_micros(80)));
        nav.on_frame_start(at(200));
        assert_eq!(nav.until(), at(180));
    }
}
