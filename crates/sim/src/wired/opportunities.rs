//! Delivery opportunities: how Mahimahi emulates a link from a trace.
//!
//! R. Netravali, A. Sivaraman, S. Das, A. Goyal, K. Winstein, J. Mickens and H. Balakrishnan, "Mahimahi: Accurate record-and-replay
//! for HTTP", USENIX ATC 2015, section 4.1, and `mm-link`(1): each line of a trace is a millisecond at which 1504 bytes can leave.
//! Several packets may
//! share an opportunity, and a packet may span several. The bytes of an opportunity that find no packet are lost. The trace begins again
//! at its last opportunity.

use std::sync::Arc;

use hopcast_protocols::time::{Duration, Instant};

/// Bytes that leave with an opportunity.
pub(super) const OPPORTUNITY: u32 = 1_504;

/// Bytes that Mahimahi adds to each IP packet: the header of its TUN device (`struct tun_pi` of Linux). So a packet of 1500 bytes takes
/// one opportunity.
pub(super) const TUN_HEADER: u32 = 4;

/// The instants at which packets may leave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opportunities {
    /// Milliseconds since the beginning of the trace, in ascending order; several may be equal.
    times: Arc<[u32]>,
}

/// Position of a wire in its opportunities.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Progress {
    /// Number of opportunities since the start that are over.
    used: u64,
    /// Unused bytes of the last one.
    left: u32,
}

impl Opportunities {
    /// The opportunities of a trace: milliseconds in ascending order, the last above zero. `None` for any other list.
    pub fn new(times: Vec<u32>) -> Option<Self> {
        let is_trace = times.last().is_some_and(|&last| last > 0) && times.is_sorted();
        is_trace.then(|| Self { times: times.into() })
    }

    /// Mean capacity in bits per second of IP packets of 1500 bytes.
    pub fn mean_rate(&self) -> f64 {
        let period = f64::from(*self.times.last().expect("a trace has times")) / 1e3;
        self.times.len() as f64 * f64::from(OPPORTUNITY - TUN_HEADER) * 8.0 / period
    }

    /// Skips the opportunities up to `now`.
    pub(super) fn wait(&self, progress: &mut Progress, now: Instant) {
        let millis = now.saturating_since(Instant::START).as_nanos() / 1_000_000;
        let period = self.period();
        let (cycle, within) = (millis / period, millis % period);
        // Below the period, which is a `u32`.
        let over = self.times.partition_point(|&time| u64::from(time) <= within) as u64;
        // At the last opportunity, at the end of a cycle, those of the next one begin.
        let behind = cycle * self.times.len() as u64 + over;
        *progress = Progress { used: behind.max(progress.used), left: 0 };
    }

    /// Sends an IP packet with the rest of the last opportunity and the next ones. Returns when its last byte leaves, at `now` at the
    /// earliest.
    pub(super) fn send(&self, progress: &mut Progress, octets: u32, now: Instant) -> Instant {
        let octets = octets + TUN_HEADER;
        if octets <= progress.left {
            progress.left -= octets;
            return now;
        }
        let rest = octets - progress.left;
        let count = rest.div_ceil(OPPORTUNITY);
        progress.left = count * OPPORTUNITY - rest;
        progress.used += u64::from(count);
        self.instant(progress.used - 1)
    }

    /// When an opportunity is, counted from the start.
    fn instant(&self, number: u64) -> Instant {
        let count = self.times.len() as u64;
        let (cycle, place) = (number / count, (number % count) as usize);
        let millis = cycle.saturating_mul(self.period()).saturating_add(u64::from(self.times[place]));
        Instant::START + Duration::from_nanos(millis.saturating_mul(1_000_000))
    }

    /// Milliseconds of a cycle.
    fn period(&self) -> u64 {
        u64::from(*self.times.last().expect("a trace has times"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(millis: u64) -> Instant {
        Instant::START + Duration::from_millis(millis)
    }

    /// Instants at which packets of these sizes leave that come one behind the other, the first at `start` milliseconds.
    fn leave(times: &[u32], start: u64, packets: &[u32]) -> Vec<u64> {
        let opportunities = Opportunities::new(times.to_vec()).expect("a trace");
        let mut progress = Progress::default();
        let mut now = ms(start);
        opportunities.wait(&mut progress, now);
        let send = |&octets: &u32| {
            now = opportunities.send(&mut progress, octets, now);
            now.as_nanos() / 1_000_000
        };
        packets.iter().map(send).collect()
    }

    #[test]
    fn a_packet_takes_opportunities_and_several_share_one() {
        assert_eq!(leave(&[5, 9, 20], 0, &[1_500, 1_500, 1_500]), [5, 9, 20]);
        // With their headers 3 · 500, then 4 of the first and 4 of the second opportunity, 1004, 496 of the second and 5 of the third.
        assert_eq!(leave(&[5, 9, 20], 0, &[496, 496, 496, 4, 1_000, 497]), [5, 5, 5, 9, 9, 20]);
        // Three in a millisecond, then a long one.
        assert_eq!(leave(&[5, 5, 5, 30], 0, &[1_500, 3_004, 1_505, 1]), [5, 5, 35, 35]);
    }

    #[test]
    fn the_trace_begins_again_at_its_last_opportunity() {
        assert_eq!(leave(&[0, 3, 10], 0, &[1_500; 7]), [3, 10, 10, 13, 20, 20, 23]);
        assert_eq!(leave(&[0, 3, 10], 10, &[1_500; 2]), [13, 20]);
        assert_eq!(leave(&[0, 3, 10], 12_345_678, &[1_500; 2]), [12_345_680, 12_345_680]);
    }

    /// An opportunity at the instant at which a packet comes is over (`LinkQueue::read_packet` of Mahimahi).
    #[test]
    fn a_packet_comes_too_late_for_an_opportunity_at_its_instant() {
        assert_eq!([leave(&[5, 9], 4, &[1]), leave(&[5, 9], 5, &[1]), leave(&[5, 9], 9, &[1])], [[5], [9], [14]]);
    }

    #[test]
    fn a_trace_ends_behind_zero_and_ascends() {
        for times in [vec![], vec![0], vec![0, 0], vec![3, 2]] {
            assert_eq!(Opportunities::new(times), None);
        }
    }

    #[test]
    fn the_mean_rate_is_that_of_full_packets() {
        let opportunities = Opportunities::new((1..=1_000).collect()).expect("a trace");
        assert_eq!(opportunities.mean_rate(), 12e6);
    }
}
