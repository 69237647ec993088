//! The receiver's measurement: the simulator's ([`FlowMetrics`]), fed with arriving units.

use hopcast_protocols::time::{Duration, Instant};
use hopcast_sim::metrics::{FlowMetrics, FlowSummary, Series};
use hopcast_wire::probe::Packet;

use super::control::{Open, Report, Samples};
use super::plan::Protocol;
use super::watch::{Arrival, Arrivals};

/// Number of datagrams by which a late one may follow a newer one; beyond it, it counts as a duplicate or late. At the
/// 1470 bytes of a saturated link of 1 Gb/s, a third of a second.
const REORDERING: u64 = 1 << 15;

/// The end of one flow. Its inputs have times of its host's clock; it counts from the flow's start.
#[derive(Debug)]
pub struct Sink {
    metrics: FlowMetrics,
    samples: Samples,
    protocol: Protocol,
    session: u64,
    size: u64,
    bytes: u64,
    units: u64,
    /// Units that are known to have been sent: all up to the newest that came.
    known: u64,
    garbage: u64,
    start: Option<Start>,
    /// How many units the source has sent in all, once it says so.
    sent: Option<u64>,
    last: Instant,
    /// What has come since it was last asked, for a recording; `None` if nothing is recorded.
    arrivals: Option<Arrivals>,
}

#[derive(Clone, Copy, Debug)]
struct Start {
    /// By this host's clock, in nanoseconds; may be before that began to count.
    at: i128,
    /// This host's clock less the source's, in nanoseconds.
    offset: i64,
}

impl Sink {
    /// The end of the flow that `open` tells of, whose units can be ([`Protocol::check`]).
    pub(crate) fn new(open: &Open) -> Self {
        let (size, bytes) = (u64::from(open.size), open.bytes);
        Self {
            metrics: FlowMetrics::live(),
            samples: Samples::default(),
            protocol: open.protocol,
            session: open.session,
            size,
            bytes,
            units: bytes.div_ceil(size.max(1)),
            known: 0,
            garbage: 0,
            start: None,
            sent: None,
            last: Instant::START,
            arrivals: None,
        }
    }

    /// Keeps arrivals from now on, for [`Self::take_arrivals`].
    pub(super) fn keep_arrivals(&mut self) {
        self.arrivals = Some(Arrivals::default());
    }

    /// What has come since the last call.
    pub(super) fn take_arrivals(&mut self) -> Arrivals {
        self.arrivals.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// The flow as it stands at `now`.
    pub(crate) fn summary(&self, now: Instant) -> FlowSummary {
        self.metrics.summary(self.elapsed(now))
    }

    /// The flow starts at `at`, in nanoseconds of the source's clock, which this host's is `offset` nanoseconds ahead of.
    pub(crate) fn handle_start(&mut self, at: u64, offset: i64) {
        self.start = Some(Start { at: i128::from(at) + i128::from(offset), offset });
    }

    /// The clocks are known better, or again.
    pub(crate) fn handle_offset(&mut self, offset: i64) {
        if let Some(start) = &mut self.start {
            start.offset = offset;
        }
    }

    /// The source has sent this number of units, and sends no more.
    pub(crate) fn handle_sent(&mut self, packets: u64, now: Instant) {
        self.sent = Some(packets.min(self.units).max(self.known));
        self.last = self.last.max(now);
    }

    /// Something came that can't be of this flow.
    pub(crate) fn handle_garbage(&mut self) {
        self.garbage += 1;
    }

    /// `octets` arrived at `now`, as one datagram or as one unit of the stream. False if they are no unit of this flow.
    pub(crate) fn handle_unit(&mut self, octets: &[u8], now: Instant) -> bool {
        let is_ours = self.unit(octets, now).is_some();
        self.garbage += u64::from(!is_ours);
        is_ours
    }

    fn unit(&mut self, octets: &[u8], now: Instant) -> Option<()> {
        let start = self.start?;
        let packet = Packet::new_checked(octets).ok()?;
        let sequence = packet.sequence();
        let is_ours = packet.session() == self.session
            && sequence < self.sent.unwrap_or(self.units)
            && octets.len() as u64 == self.len_of(sequence);
        if !is_ours {
            return None;
        }
        let arrived = self.time(start, i128::from(now.as_nanos()));
        let created = self.time(start, i128::from(packet.sent()) + i128::from(start.offset)).min(arrived);
        let length = octets.len() as u32;
        let is_first = match self.protocol {
            Protocol::Udp => {
                self.advance(sequence + 1);
                self.metrics.handle_datagram_received(sequence, length, created, arrived)
            }
            Protocol::Tcp => {
                // A stream neither loses nor reorders: anything else is no stream of units.
                if sequence != self.known {
                    return None;
                }
                self.known += 1;
                self.metrics.handle_stream_written(length, true, created);
                self.metrics.handle_stream_read(length, arrived);
                true
            }
        };
        if is_first {
            let delay = arrived.saturating_since(created);
            self.samples.insert(arrived, length, delay);
            if let Some(arrivals) = &mut self.arrivals {
                arrivals.push(Arrival { time: now, delay, sequence, octets: length });
            }
        }
        self.last = now;
        Some(())
    }

    /// The time of the flow at `nanos` of this host's clock.
    fn time(&self, start: Start, nanos: i128) -> Instant {
        Instant::from_nanos(u64::try_from((nanos - start.at).max(0)).unwrap_or(u64::MAX))
    }

    /// All datagrams before `next` have been sent. Those far behind are lost, so that none is kept in mind for ever.
    fn advance(&mut self, next: u64) {
        // However far one datagram leads, it costs no more than this number of steps.
        let near = next.saturating_sub(2 * REORDERING);
        if self.known < near {
            let octets = self.octets_before(near) - self.octets_before(self.known);
            self.metrics.handle_datagrams_abandoned(near - self.known, octets);
            self.known = near;
        }
        while self.known < next {
            let length = self.len_of(self.known) as u32;
            let sequence = self.metrics.handle_datagram_sent(length);
            self.known += 1;
            if let Some(behind) = sequence.checked_sub(REORDERING) {
                self.metrics.handle_datagram_lost(behind);
            }
        }
    }

    /// Bytes of a unit; the last is cut short.
    fn len_of(&self, sequence: u64) -> u64 {
        (self.bytes - self.octets_before(sequence)).min(self.size)
    }

    /// Bytes of all units before one.
    fn octets_before(&self, sequence: u64) -> u64 {
        (sequence * self.size).min(self.bytes)
    }

    /// Whether all has come that was sent, but for what is lost for certain.
    pub(crate) fn is_complete(&self) -> bool {
        self.sent.is_some_and(|sent| self.known >= sent) && self.metrics.datagrams_in_flight().next().is_none()
    }

    /// Whether the source has sent all that it will.
    pub(crate) fn is_ending(&self) -> bool {
        self.sent.is_some()
    }

    /// When something last came, or the source said that it ends.
    pub(crate) fn last(&self) -> Instant {
        self.last
    }

    /// Nothing more is waited for: what has not come is lost.
    pub(crate) fn finish(&mut self, now: Instant) {
        let sent = self.sent.unwrap_or(self.known);
        match self.protocol {
            Protocol::Udp => {
                self.advance(sent);
                let missing: Vec<u64> = self.metrics.datagrams_in_flight().collect();
                missing.into_iter().for_each(|sequence| self.metrics.handle_datagram_lost(sequence));
            }
            Protocol::Tcp => {
                // As many as the source says, whatever that is: none of them takes memory.
                let octets = self.octets_before(sent) - self.octets_before(self.known);
                self.metrics.handle_stream_lost(sent - self.known, octets);
                self.known = sent;
            }
        }
        self.metrics.handle_source_finished();
        self.metrics.finish(self.elapsed(now));
    }

    /// The time of the flow at `now`.
    fn elapsed(&self, now: Instant) -> Instant {
        self.start.map_or(Instant::START, |start| self.time(start, i128::from(now.as_nanos())))
    }

    /// What is known at `now`; with samples only if this `is_final`, after [`Self::finish`].
    pub(crate) fn report(&self, now: Instant, is_final: bool) -> Report {
        let samples = if is_final { self.samples.clone() } else { Samples::default() };
        let summary = self.summary(now);
        Report { summary, samples, garbage: self.garbage, overflowed: 0, relays: Vec::new(), is_final }
    }
}

impl Samples {
    /// A unit arrived at `time` of its flow. At first, intervals are as short as the simulator's; where there would be more of
    /// them than in a simulated run, they become longer.
    fn insert(&mut self, time: Instant, octets: u32, delay: Duration) {
        let place = |doublings: u32| (time.as_nanos() / Series::MIN_INTERVAL.as_nanos()) >> doublings;
        while place(self.doublings) >= Series::MAX_SAMPLES {
            self.double();
        }
        let place = place(self.doublings) as usize;
        if self.intervals.len() <= place {
            self.intervals.resize(place + 1, [0; 3]);
        }
        let [received, arrivals, delays] = &mut self.intervals[place];
        *received += u64::from(octets);
        *arrivals += 1;
        *delays = delays.saturating_add(delay.as_nanos());
    }

    /// Puts every two intervals together.
    pub(crate) fn double(&mut self) {
        let sum = |pair: &[[u64; 3]]| {
            let add = |sum: [u64; 3], next: &[u64; 3]| [0, 1, 2].map(|field| sum[field].saturating_add(next[field]));
            pair.iter().fold([0; 3], add)
        };
        self.intervals = self.intervals.chunks(2).map(sum).collect();
        self.doublings += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hopcast_wire::probe::Repr;
    use proptest::prelude::*;

    fn at(millis: u64) -> Instant {
        Instant::from_nanos(millis * 1_000_000)
    }

    fn open(protocol: Protocol) -> Open {
        Open { version: 1, session: 7, protocol, size: 100, bytes: 1_050, socket_buffer: None, path: Vec::new() }
    }

    /// A sink whose clock is 5 s ahead of the source's, for a flow that starts at 10 s of the former.
    fn sink(protocol: Protocol) -> Sink {
        let mut sink = Sink::new(&open(protocol));
        sink.handle_start(5_000_000_000, 5_000_000_000);
        sink
    }

    fn unit(sequence: u64, sent: Instant) -> Vec<u8> {
        let length = if sequence == 10 { 50 } else { 100 };
        let repr = Repr { session: 7, sequence, sent: sent.as_nanos(), payload_len: length - 32 };
        let mut octets = vec![0; length];
        repr.emit(&mut Packet::new_unchecked(&mut octets[..]));
        octets
    }

    #[test]
    fn delay_is_between_clocks_that_differ() {
        let mut sink = sink(Protocol::Udp);
        assert!(sink.handle_unit(&unit(0, at(5_000)), at(10_020)));
        assert!(sink.handle_unit(&unit(1, at(5_100)), at(10_140)));
        let summary = sink.report(at(10_200), false).summary;
        assert!((summary.delay_mean_s.unwrap() - 0.030).abs() < 1e-12);
        assert!((summary.first_arrival_s.unwrap() - 0.020).abs() < 1e-12);
        // What is known of the clocks now holds for what comes from now on.
        sink.handle_offset(5_010_000_000);
        assert!(sink.handle_unit(&unit(2, at(5_200)), at(10_240)));
        let summary = sink.report(at(10_300), false).summary;
        assert!((summary.delay_mean_s.unwrap() - 0.030).abs() < 1e-12);
    }

    #[test]
    fn what_did_not_come_is_lost_and_copies_are_duplicates() {
        let mut sink = sink(Protocol::Udp);
        for sequence in [0, 2, 1, 1, 5] {
            assert!(sink.handle_unit(&unit(sequence, at(5_000)), at(10_100)));
        }
        let summary = sink.report(at(10_200), false).summary;
        assert_eq!((summary.sent_packets, summary.received_packets, summary.in_flight_packets), (6, 4, 2));
        assert!(!sink.is_complete());
        sink.handle_sent(11, at(10_300));
        sink.finish(at(11_000));
        let summary = sink.report(at(11_000), true).summary;
        assert_eq!((summary.sent_packets, summary.sent_bytes), (11, 1_050));
        assert_eq!((summary.received_packets, summary.lost_packets, summary.duplicate_packets), (4, 7, 1));
        // Until the last arrival, 100 ms after the start.
        assert_eq!(summary.goodput_bps, 400.0 * 8.0 / 0.1);
    }

    #[test]
    fn it_is_complete_with_the_last_unit() {
        for protocol in [Protocol::Udp, Protocol::Tcp] {
            let mut sink = sink(protocol);
            for sequence in 0..11 {
                assert!(sink.handle_unit(&unit(sequence, at(5_000)), at(10_100)));
                assert!(!sink.is_complete());
            }
            sink.handle_sent(11, at(10_200));
            assert!(sink.is_complete());
            sink.finish(at(10_200));
            let summary = sink.report(at(10_200), true).summary;
            assert_eq!((summary.received_packets, summary.received_bytes, summary.lost_packets), (11, 1_050, 0));
        }
    }

    #[test]
    fn copies_stand_for_nothing_that_is_still_on_its_way() {
        let mut sink = sink(Protocol::Udp);
        for sequence in [0, 1, 2, 3, 4, 5, 6, 7, 7, 8, 8] {
            assert!(sink.handle_unit(&unit(sequence, at(5_000)), at(10_100)));
        }
        sink.handle_sent(11, at(10_200));
        assert!(!sink.is_complete());
        for sequence in [9, 10] {
            assert!(sink.handle_unit(&unit(sequence, at(5_000)), at(10_300)));
        }
        assert!(sink.is_complete());
        sink.finish(at(10_300));
        let Report { summary, samples, .. } = sink.report(at(10_300), true);
        assert_eq!((summary.lost_packets, summary.duplicate_packets), (0, 2));
        assert_eq!(samples.intervals.iter().map(|[_, arrivals, _]| arrivals).sum::<u64>(), 11);
    }

    #[test]
    fn a_stream_that_broke_has_lost_what_was_written() {
        let mut sink = sink(Protocol::Tcp);
        assert!(sink.handle_unit(&unit(0, at(5_000)), at(10_100)));
        assert!(!sink.handle_unit(&unit(2, at(5_000)), at(10_100)), "a gap");
        sink.handle_sent(4, at(10_200));
        sink.finish(at(10_300));
        let summary = sink.report(at(10_300), true).summary;
        assert_eq!((summary.sent_packets, summary.received_packets, summary.lost_packets), (4, 1, 3));
        // Until the arrival, 100 ms after the start; what the sink waited for the rest is no time of the flow's.
        assert_eq!(summary.goodput_bps, 100.0 * 8.0 / 0.1);
    }

    #[test]
    fn what_a_source_says_that_it_has_sent_takes_no_memory() {
        let units = 1_000_000_000;
        let mut sink = Sink::new(&Open { bytes: 100 * units - 50, ..open(Protocol::Tcp) });
        sink.handle_start(5_000_000_000, 5_000_000_000);
        assert!(sink.handle_unit(&unit(0, at(5_000)), at(10_100)));
        sink.handle_sent(units, at(10_200));
        sink.finish(at(10_300));
        let summary = sink.report(at(10_300), true).summary;
        assert_eq!((summary.sent_packets, summary.received_packets, summary.lost_packets), (units, 1, units - 1));
        assert_eq!((summary.sent_bytes, summary.in_flight_packets), (100 * units - 50, 0));
    }

    #[test]
    fn one_datagram_far_ahead_costs_no_more_than_the_window() {
        let units = 1_u64 << 58;
        let mut sink = Sink::new(&Open { size: 40, bytes: 40 * units, ..open(Protocol::Udp) });
        sink.handle_start(5_000_000_000, 5_000_000_000);
        let unit = |sequence| {
            let mut octets = vec![0; 40];
            let repr = Repr { session: 7, sequence, sent: at(5_000).as_nanos(), payload_len: 8 };
            repr.emit(&mut Packet::new_unchecked(&mut octets[..]));
            octets
        };
        for sequence in [0, 2, units - 2] {
            assert!(sink.handle_unit(&unit(sequence), at(10_100)));
        }
        let summary = sink.report(at(10_200), false).summary;
        // Those within the window may still come.
        assert_eq!((summary.sent_packets, summary.received_packets), (units - 1, 3));
        assert_eq!((summary.lost_packets, summary.in_flight_packets), (units - 4 - (REORDERING - 1), REORDERING - 1));
        assert_eq!(summary.sent_bytes, 40 * (units - 1));
        sink.handle_sent(units, at(10_300));
        sink.finish(at(10_400));
        assert_eq!(sink.report(at(10_400), true).summary.lost_packets, units - 3);
    }

    #[test]
    fn what_is_not_of_this_flow_is_counted_and_nothing_else() {
        let mut sink = Sink::new(&open(Protocol::Udp));
        assert!(!sink.handle_unit(&unit(0, at(0)), at(1)), "before the start");
        sink.handle_start(0, 0);
        let mut other = unit(0, at(0));
        other[8] = 1;
        for octets in [&other[..], &unit(10, at(0))[..49], &unit(11, at(0)), &unit(u64::MAX, at(0)), b"hello"] {
            assert!(!sink.handle_unit(octets, at(1)));
        }
        let report = sink.report(at(2), false);
        assert_eq!((report.garbage, report.summary.sent_packets, report.summary.received_packets), (6, 0, 0));
    }

    #[test]
    fn samples_are_no_more_than_a_thousand() {
        let mut sink = sink(Protocol::Udp);
        for (sequence, now) in [(0, 10_050), (1, 10_150), (2, 10_250)] {
            sink.handle_unit(&unit(sequence, at(5_000)), at(now));
        }
        let intervals = sink.report(at(10_300), true).samples.intervals;
        assert_eq!(intervals, [[100, 1, 50_000_000], [100, 1, 150_000_000], [100, 1, 250_000_000]]);
        // 250 s are 2500 intervals of 100 ms.
        sink.handle_unit(&unit(3, at(255_000)), at(260_000));
        let samples = sink.report(at(260_000), true).samples;
        assert_eq!((samples.doublings, samples.intervals.len()), (2, 626));
        assert_eq!((samples.intervals[0], samples.intervals[625]), ([300, 3, 450_000_000], [100, 1, 0]));
        assert!(sink.report(at(260_000), false).samples.intervals.is_empty());
    }

    proptest! {
        #[test]
        fn sent_is_received_and_lost_and_in_flight(
            arrivals in prop::collection::vec((0_u64..14, 0_u64..20_000, 0_u64..20_000), 0..40),
            sent in 0_u64..20,
            offset: i64,
        ) {
            let mut sink = sink(Protocol::Udp);
            sink.handle_offset(offset);
            for (sequence, sent, now) in arrivals {
                sink.handle_unit(&unit(sequence, at(sent)), at(now));
                let summary = sink.report(at(now), false).summary;
                let settled = summary.received_packets + summary.lost_packets + summary.in_flight_packets;
                prop_assert_eq!(summary.sent_packets, settled);
            }
            sink.handle_sent(sent, at(30_000));
            sink.finish(at(30_000));
            let summary = sink.report(at(30_000), true).summary;
            prop_assert_eq!(summary.in_flight_packets, 0);
            prop_assert_eq!(summary.sent_packets, summary.received_packets + summary.lost_packets);
        }

        #[test]
        fn arbitrary_octets_never_panic(octets in prop::collection::vec(any::<u8>(), 0..200), start: u64, offset: i64, now: u64) {
            let mut sink = Sink::new(&open(Protocol::Tcp));
            sink.handle_start(start, offset);
            prop_assert!(!sink.handle_unit(&octets, Instant::from_nanos(now)));
        }
    }
}
