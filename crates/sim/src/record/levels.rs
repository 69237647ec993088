//! Level of detail: how large a share of each bin of time a node spends on what.

use super::event::{Event, Kind};

/// Classes of a bin, in their order.
const CLASSES: [Kind; 5] = [Kind::Transmit, Kind::Receive, Kind::Collision, Kind::Nav, Kind::Backoff];

/// Events of a bin of the finest level, on average over all nodes.
const EVENTS_PER_BIN: u64 = 8;

/// The coarsest level has at most as many bins.
const COARSEST_BINS: u64 = 1024;

/// Bytes of the finest level at most; the coarser ones add a third, which makes 64 MB.
const FINEST_BYTES: u64 = 48_000_000;

/// One level in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Level {
    /// Width of a bin, ns.
    pub(super) bin_ns: u64,
    /// Number of bins.
    pub(super) bins: u64,
    /// Offset in the file, bytes.
    pub(super) offset: u64,
}

/// Sums up time by node, bin and class.
#[derive(Debug)]
pub(super) struct Levels {
    nodes: u64,
    bin_ns: u64,
    bins: u64,
    /// `[node][bin][class]`, ns; clipped to the bin in the file, as what overlaps counts twice.
    busy: Vec<u64>,
}

impl Levels {
    /// Levels for `events` events in `duration_ns` at this number of nodes.
    pub(super) fn new(nodes: usize, duration_ns: u64, events: u64) -> Self {
        let nodes = nodes as u64;
        let wanted = (duration_ns / events.max(1)).saturating_mul(EVENTS_PER_BIN);
        let mut bin_ns = wanted.clamp(1, 1 << 62).next_power_of_two();
        let bytes = |bin_ns: u64| u128::from(nodes) * u128::from(duration_ns.div_ceil(bin_ns)) * CLASSES.len() as u128;
        while bytes(bin_ns) > u128::from(FINEST_BYTES) && bin_ns < 1 << 62 {
            bin_ns *= 2;
        }
        let bins = duration_ns.div_ceil(bin_ns).max(1);
        Self { nodes, bin_ns, bins, busy: vec![0; nodes as usize * bins as usize * CLASSES.len()] }
    }

    /// Adds an event; what reaches beyond the end of the run doesn't count.
    pub(super) fn add(&mut self, event: &Event) {
        let Some(class) = CLASSES.iter().position(|&kind| kind == event.kind) else { return };
        if u64::from(event.node) >= self.nodes {
            return;
        }
        let mut from = event.time.as_nanos();
        let end = from.saturating_add(event.duration.as_nanos()).min(self.bins * self.bin_ns);
        while from < end {
            let bin = from / self.bin_ns;
            let until = end.min((bin + 1) * self.bin_ns);
            let place = (u64::from(event.node) * self.bins + bin) as usize * CLASSES.len() + class;
            self.busy[place] += until - from;
            from = until;
        }
    }

    /// The file, with its levels from the finest to the coarsest.
    pub(super) fn finish(mut self) -> (Vec<u8>, Vec<Level>) {
        let (mut bytes, mut levels) = (Vec::new(), Vec::new());
        loop {
            levels.push(Level { bin_ns: self.bin_ns, bins: self.bins, offset: bytes.len() as u64 });
            bytes.extend(self.busy.iter().map(|&busy| share(busy, self.bin_ns)));
            if self.bins <= COARSEST_BINS {
                return (bytes, levels);
            }
            self.coarsen();
        }
    }

    /// Joins each four bins.
    fn coarsen(&mut self) {
        let bins = self.bins.div_ceil(4);
        let mut busy = Vec::with_capacity(self.nodes as usize * bins as usize * CLASSES.len());
        for node in self.busy.chunks(self.bins as usize * CLASSES.len()) {
            for four in node.chunks(4 * CLASSES.len()) {
                busy.extend(
                    (0..CLASSES.len()).map(|class| four.iter().skip(class).step_by(CLASSES.len()).sum::<u64>()),
                );
            }
        }
        (self.busy, self.bins, self.bin_ns) = (busy, bins, self.bin_ns * 4);
    }
}

/// The share in 255ths, rounded up: what is short stays visible.
fn share(busy: u64, bin_ns: u64) -> u8 {
    (u128::from(busy.min(bin_ns)) * 255).div_ceil(u128::from(bin_ns)) as u8
}

#[cfg(test)]
mod tests {
    use hopcast_protocols::time::{Duration, Instant};

    use super::*;

    fn event(kind: Kind, node: u16, from: u64, to: u64) -> Event {
        Event {
            time: Instant::from_nanos(from),
            duration: Duration::from_nanos(to - from),
            node,
            peer: Event::NO_INDEX,
            kind,
            code: 0,
            flow: Event::NO_INDEX,
            size: 0,
            frame: Event::NO_FRAME,
            value: 0,
        }
    }

    #[test]
    fn a_share_is_the_time_in_the_bin() {
        // 64 ns, 16 events: bins of 32 ns.
        let mut levels = Levels::new(2, 64, 16);
        levels.add(&event(Kind::Transmit, 1, 24, 48));
        levels.add(&event(Kind::Busy, 1, 0, 64));
        levels.add(&event(Kind::Nav, 0, 60, 100));
        let (bytes, found) = levels.finish();
        assert_eq!(found, [Level { bin_ns: 32, bins: 2, offset: 0 }]);
        // 8 ns and 16 ns of 32; 4 ns, cut at the end.
        let mut expected = [0; 20];
        (expected[10], expected[15], expected[8]) = (64, 128, 32);
        assert_eq!(bytes, expected);
    }

    #[test]
    fn coarser_levels_have_the_sums_of_the_finer_ones() {
        let mut levels = Levels::new(1, 4100, 32_800);
        assert_eq!((levels.bin_ns, levels.bins), (1, 4100));
        levels.add(&event(Kind::Receive, 0, 4, 7));
        levels.add(&event(Kind::Receive, 0, 4098, 4100));
        let (bytes, found) = levels.finish();
        let widths: Vec<_> = found.iter().map(|level| (level.bin_ns, level.bins)).collect();
        assert_eq!(widths, [(1, 4100), (4, 1025), (16, 257)]);
        let at = |level: usize, bin: usize| bytes[found[level].offset as usize + bin * 5 + 1];
        assert_eq!((at(0, 4), at(0, 7), at(1, 1), at(1, 1024), at(2, 0)), (255, 0, 192, 128, 48));
    }
}
