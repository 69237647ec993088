//! Two ends over a virtual link: what must hold whatever the link does.

use core::convert::Infallible;
use std::collections::BTreeMap;

use proptest::prelude::*;

use super::super::{CloseReason, Config, Connection, Elfn, Flags, Output, Segment, State, Variant};
use crate::random::{Purpose, Stream};
use crate::testkit::{self, Bottleneck, Choices, Disorder, Impairments, Link, Peer, Side};
use crate::time::{Duration, Instant};

/// What the user of one end does.
#[derive(Clone, Copy, Debug)]
struct User {
    /// Bytes to write before closing.
    bytes: u64,
    /// Largest single write and read.
    write: u32,
    read: u32,
    /// Time from the arrival of data to a read of it.
    patience: Duration,
}

/// One end with its user, and a check of all that it sends.
struct End {
    connection: Connection,
    user: User,
    draws: Stream,
    initial: u32,
    segment: u32,
    cap: Option<u32>,
    written: u64,
    read: u64,
    closed: Option<CloseReason>,
    /// When the user reads next.
    reads_at: Option<Instant>,
    /// What the routing layer says of the link, and when.
    notices: BTreeMap<Instant, bool>,
    writable: bool,
    /// The initial number of the peer's stream, the shift that its window fields mean, and the farthest position that it allowed by a
    /// segment that arrived.
    shift: u8,
    allowed: u64,
    /// The end of what was ever sent.
    sent: u64,
    /// The ranges that were delivered to it, and the end of the complete part.
    delivered: BTreeMap<u64, u64>,
    complete: u64,
}

impl End {
    fn new(connection: Connection, config: &Config, user: User, initial: u32, draws: Stream) -> Self {
        Self {
            connection,
            user,
            draws,
            initial,
            segment: config.segment,
            cap: config.window,
            written: 0,
            read: 0,
            closed: None,
            reads_at: None,
            notices: BTreeMap::new(),
            writable: false,
            shift: 0,
            allowed: 0,
            sent: 0,
            delivered: BTreeMap::new(),
            complete: 0,
        }
    }

    fn write(&mut self, now: Instant) {
        while self.written < self.user.bytes {
            let most = (self.user.bytes - self.written).min(u64::from(self.user.write)) as u32;
            let len = 1 + self.draws.below(most);
            let room = self.connection.send_space();
            let taken = self.connection.handle_write(len, now);
            assert_eq!(taken, len.min(room));
            self.written += u64::from(taken);
            if taken < len {
                return;
            }
        }
        self.connection.handle_close(now);
    }

    fn read(&mut self, now: Instant) {
        let most = 1 + self.draws.below(self.user.read);
        let readable = self.connection.readable();
        let taken = self.connection.handle_read(most, now);
        assert_eq!(u64::from(taken), readable.min(u64::from(most)));
        self.read += u64::from(taken);
        self.reads_at = (self.connection.readable() > 0).then_some(now + self.user.patience);
    }

    /// Checks a segment against what its sender may do.
    fn on_transmit(&mut self, segment: &Segment) {
        let (offset, len) = (segment.payload_offset, u32::from(segment.payload_len));
        let reach = offset + u64::from(len);
        if len > 0 {
            assert_eq!(segment.seq, self.initial.wrapping_add(1).wrapping_add(offset as u32), "offset and number");
            assert!(len + segment.options_len() <= self.segment && reach <= self.written, "{segment}");
            // A window probe is one byte.
            assert!(len == 1 || reach <= self.allowed, "{segment} beyond {}", self.allowed);
        }
        if reach > self.sent && len > 1 {
            let window = u64::from(self.connection.congestion_window()) + 2 * u64::from(self.segment);
            let cap = self.cap.map_or(u64::MAX, |cap| u64::from(cap) * u64::from(self.segment));
            // A FIN counts one.
            let in_flight = self.connection.bytes_in_flight();
            assert!(in_flight <= window.min(cap) + 1, "{in_flight} in flight with window {window} and cap {cap}");
        }
        self.sent = self.sent.max(reach);
    }

    /// Notes what a segment that has arrived brings, and allows.
    fn on_arrival(&mut self, segment: &Segment) {
        let (offset, len) = (segment.payload_offset, u32::from(segment.payload_len));
        if len > 0 && !segment.flags.contains(Flags::SYN) {
            let reach = self.delivered.entry(offset).or_default();
            *reach = (*reach).max(offset + u64::from(len));
            while let Some((&start, &reach)) = self.delivered.first_key_value() {
                if start > self.complete {
                    break;
                }
                self.complete = self.complete.max(reach);
                self.delivered.pop_first();
            }
        }
        if let Some(shift) = segment.options.window_scale() {
            self.shift = shift;
        }
        if segment.flags.contains(Flags::ACK) {
            let shift = if segment.flags.contains(Flags::SYN) { 0 } else { self.shift };
            // The ACK field, unrolled near to what this end has sent; the SYN and perhaps a FIN are no data.
            let behind = self.initial.wrapping_add(1).wrapping_add(self.sent as u32).wrapping_sub(segment.ack) as i32;
            let acked = self.sent as i64 - i64::from(behind);
            let reach = acked + (u64::from(segment.window) << shift) as i64;
            self.allowed = self.allowed.max(reach.max(0) as u64);
        }
    }
}

impl Peer for End {
    type Datagram = Segment;
    type Event = Infallible;

    fn handle_datagram(&mut self, segment: &Segment, now: Instant) {
        self.on_arrival(segment);
        self.connection.handle_segment(segment, now);
        let received = self.connection.statistics().bytes_received;
        assert!(received <= self.complete, "{received} readable of {} delivered", self.complete);
    }

    fn handle_timeout(&mut self, now: Instant) {
        while self.reads_at.is_some_and(|at| at <= now) {
            self.read(now);
        }
        while let Some(entry) = self.notices.first_entry().filter(|entry| *entry.key() <= now) {
            if entry.remove() {
                self.connection.handle_link_restored(now);
            } else {
                self.connection.handle_link_failure(now);
            }
        }
        self.connection.handle_timeout(now);
    }

    fn poll_output(&mut self, now: Instant) -> Option<testkit::Output<Segment, Infallible>> {
        loop {
            match self.connection.poll_output(now) {
                Some(Output::Transmit(segment)) => {
                    self.on_transmit(&segment);
                    return Some(testkit::Output::Transmit(segment));
                }
                Some(Output::Readable) if self.reads_at.is_none() => self.reads_at = Some(now + self.user.patience),
                Some(Output::Readable) => {}
                Some(Output::Connected | Output::Writable) => self.writable = true,
                Some(Output::Closed(reason)) => assert_eq!(self.closed.replace(reason), None, "closed twice"),
                None if core::mem::take(&mut self.writable) => self.write(now),
                None => return None,
            }
        }
    }

    fn poll_timeout(&self) -> Option<Instant> {
        let notice = self.notices.first_key_value().map(|(&at, _)| at);
        [self.reads_at, notice, self.connection.poll_timeout()].into_iter().flatten().min()
    }
}

type Pair = testkit::Pair<End, End>;

fn pair(configs: [Config; 2], users: [User; 2], initial: [u32; 2], link: Impairments, seed: u64) -> Pair {
    let [client, server] = configs;
    let draws = |side: Side| Stream::new(seed, Purpose::Application, side as u64, 0);
    let connection = Connection::connect(client.clone(), initial[0]);
    let client = End::new(connection, &client, users[0], initial[0], draws(Side::Client));
    let connection = Connection::listen(server.clone(), initial[1]);
    let server = End::new(connection, &server, users[1], initial[1], draws(Side::Server));
    Pair::new(client, server, Link::new(link, seed))
}

fn progress(pair: &Pair) -> [(State, u64, u64); 2] {
    [&pair.client, &pair.server].map(|end| (end.connection.state(), end.written, end.read))
}

const VARIANTS: [Variant; 4] = [Variant::Reno, Variant::NewReno, Variant::Sack, Variant::Cubic];

const SILENT: User = User { bytes: 0, write: 1, read: 1 << 20, patience: Duration::ZERO };

fn users() -> impl Strategy<Value = User> {
    (prop_oneof![Just(0), 1_u64..60_000], 1_u32..5000, 1_u32..8000, 0_u64..300)
        .prop_map(|(bytes, write, read, ms)| User { bytes, write, read, patience: Duration::from_millis(ms) })
}

fn configs() -> impl Strategy<Value = Config> {
    (
        100_u32..3000,
        (200_u32..100_000, 200_u32..300_000),
        prop_oneof![Just(None), (1_u32..20).prop_map(Some)],
        prop_oneof![Just(None), (1_u32..20).prop_map(Some)],
        10_u64..1500,
        prop_oneof![Just(None), (1_u64..500).prop_map(Some)],
        any::<bool>(),
        (variants(), any::<(bool, bool)>(), prop::option::of((1_u64..3000, any::<bool>()))),
    )
        .prop_map(
            |(segment, (send_buffer, receive_buffer), window, initial_window, min_rto, delay, nagle, family)| {
                let (variant, (timestamps, ecn), elfn) = family;
                Config {
                    segment,
                    variant,
                    timestamps,
                    ecn,
                    elfn: elfn.map(|(ms, halve)| Elfn { probe_interval: Duration::from_millis(ms), halve }),
                    send_buffer,
                    receive_buffer,
                    window,
                    initial_window,
                    min_rto: Duration::from_millis(min_rto),
                    delayed_ack: delay.map(Duration::from_millis),
                    nagle,
                    user_timeout: None,
                    // So long that the last FIN is always answered, whatever is lost.
                    time_wait: Duration::from_secs(100_000),
                }
            },
        )
}

fn variants() -> impl Strategy<Value = Variant> {
    prop::sample::select(&VARIANTS[..])
}

fn links() -> impl Strategy<Value = Impairments> {
    (0_u64..200, 0_u64..300, prop_oneof![Just(0.0), 0.0..0.3], prop_oneof![Just(0.0), 0.0..0.3]).prop_map(
        |(latency, jitter, loss, duplication)| Impairments {
            latency: Duration::from_millis(latency),
            jitter: Duration::from_millis(jitter),
            loss,
            duplication,
            ..Impairments::NONE
        },
    )
}

fn initials() -> impl Strategy<Value = u32> {
    prop_oneof![any::<u32>(), (0_u32..50_000).prop_map(|n| u32::MAX - n)]
}

proptest! {
    #[test]
    fn both_streams_arrive_whole_whatever_the_link_does(
        configs in [configs(), configs()],
        users in [users(), users()],
        initial in [initials(), initials()],
        link in links(),
        notices in prop::collection::vec((0_u64..20_000, any::<bool>(), any::<bool>()), 0..6),
        seed in any::<u64>(),
    ) {
        let mut pair = pair(configs, users, initial, link, seed);
        for (ms, server, there) in notices {
            let end = if server { &mut pair.server } else { &mut pair.client };
            end.notices.insert(Instant::START + Duration::from_millis(ms), there);
        }
        pair.run_to_end();
        for (user, end, peer) in [(users[0], &pair.client, &pair.server), (users[1], &pair.server, &pair.client)] {
            prop_assert_eq!(end.written, user.bytes);
            prop_assert_eq!(peer.read, user.bytes, "{:?}", progress(&pair));
            prop_assert_eq!(end.closed, Some(CloseReason::Finished));
            prop_assert!(peer.connection.is_finished());
            // Conservation, as each end counts it.
            let (sent, got) = (end.connection.statistics(), peer.connection.statistics());
            prop_assert_eq!(sent.bytes_acknowledged, user.bytes);
            prop_assert_eq!(got.bytes_received, user.bytes);
            prop_assert!(sent.bytes_sent >= user.bytes);
            prop_assert!(sent.data_segments_sent + sent.acks_sent <= sent.segments_sent);
        }
    }

    #[test]
    fn no_segment_and_no_order_of_calls_panics_or_livelocks(
        configs in [configs(), configs()],
        initial in [initials(), initials()],
        choices in prop::collection::vec(any::<u8>(), 0..1500),
    ) {
        let [client, server] = configs;
        let ends = (Connection::connect(client, initial[0]), Connection::listen(server, initial[1]));
        Disorder::new(ends.0, ends.1).run(&mut Choices::new(&choices), |ends| {
            for (end, peer) in [(&ends.client, &ends.server), (&ends.server, &ends.client)] {
                let (received, written) = (end.statistics().bytes_received, peer.bytes_written());
                assert!(!ends.is_honest() || received <= written, "{received} bytes of {written}");
            }
        });
    }
}

#[test]
fn a_clean_link_carries_exactly_a_window_each_round_trip() {
    for (window, delayed_ack) in [(1, None), (4, None), (32, None), (32, Some(Duration::from_millis(200)))] {
        let config = Config { segment: 1000, window: Some(window), delayed_ack, ..Config::default() };
        let link = Impairments::latency(Duration::from_millis(10));
        let user = User { bytes: 1 << 40, write: 100_000, read: 1 << 20, patience: Duration::ZERO };
        let mut pair = pair([config.clone(), config], [user, SILENT], [5, u32::MAX - 7], link, 1);
        // Past slow start, then a hundred round trips of 20 ms.
        pair.run_until(Instant::START + Duration::from_millis(1005));
        let before = pair.server.read;
        pair.run_until(Instant::START + Duration::from_millis(3005));
        assert_eq!(pair.server.read - before, 100 * u64::from(window) * 1000, "window {window}, {delayed_ack:?}");
        let statistics = pair.client.connection.statistics();
        assert_eq!((statistics.segments_retransmitted, statistics.duplicate_acks), (0, 0));
    }
}

#[test]
fn most_losses_in_a_long_transfer_are_found_by_duplicates() {
    // A window of 32 segments, 1 % of loss both ways, no reordering.
    let config = Config { segment: 1000, window: Some(32), ..Config::default() };
    let link = Impairments { loss: 0.01, ..Impairments::latency(Duration::from_millis(10)) };
    let user = User { bytes: 3_000_000, write: 100_000, read: 1 << 20, patience: Duration::ZERO };
    let mut pair = pair([config.clone(), config], [user, SILENT], [0, 0], link, 7);
    pair.run_to_end();
    assert_eq!(pair.server.read, 3_000_000);
    let statistics = pair.client.connection.statistics();
    assert!(statistics.fast_retransmits > 5 * statistics.timeouts, "{statistics:?}");
}

#[test]
fn a_transfer_longer_than_the_sequence_space_arrives() {
    let bytes = 9 << 30;
    let config = Config { segment: 65_000, send_buffer: 1 << 28, receive_buffer: 1 << 28, ..Config::default() };
    let link = Impairments { loss: 0.000_1, ..Impairments::latency(Duration::from_millis(1)) };
    let user = User { bytes, write: 1 << 24, read: 1 << 28, patience: Duration::ZERO };
    let mut pair = pair([config.clone(), config], [user, SILENT], [u32::MAX - 1000, 3], link, 3);
    pair.run_to_end();
    assert_eq!(pair.server.read, bytes);
    assert_eq!(pair.client.closed, Some(CloseReason::Finished));
}

/// A sender that writes without end through `link`, and its counters and window after `secs` seconds.
fn bulk(variant: Variant, link: Impairments, seed: u64, secs: u64) -> Pair {
    let config = Config { segment: 1000, variant, send_buffer: 1 << 20, receive_buffer: 1 << 20, ..Config::default() };
    let user = User { bytes: 1 << 40, write: 1 << 20, read: 1 << 20, patience: Duration::ZERO };
    let mut pair = pair([config.clone(), config], [user, SILENT], [0, 0], link, seed);
    pair.run_until(Instant::START + Duration::from_secs(secs));
    pair
}

#[test]
fn every_variant_fills_a_bottleneck_without_a_timeout_after_the_start() {
    // 10 Mb/s, 40 ms and a queue of 50 ms: 112 segments. Slow start overshoots once; what it loses may take a timeout.
    let bottleneck = Bottleneck { per_byte: Duration::from_nanos(800), queue: Duration::from_millis(50) };
    let delay = Duration::from_millis(20);
    let link = Impairments { bottleneck: Some(bottleneck), ..Impairments::latency(delay) };
    for variant in VARIANTS {
        let pair = bulk(variant, link, 1, 45);
        let statistics = pair.client.connection.statistics();
        assert!(statistics.timeouts <= 1, "{variant:?}: {statistics:?}");
        // 1000 of 1040 bytes are payload.
        let share = statistics.bytes_acknowledged as f64 * 8.0 / 45.0 / (10e6 * 1000.0 / 1040.0);
        assert!(share > 0.93 && share <= 1.0, "{variant:?} has {share} of the bottleneck");
    }
}

#[test]
fn the_goodput_under_random_loss_is_that_of_the_closed_form() {
    // RFC 9438, equation 3: alpha segments a round trip and a factor beta after a loss make a mean window of
    // sqrt(alpha (1 + beta) / (2 (1 − beta) p)), the losses being periodic and each repaired at once. For alpha 1 and
    // beta 1/2 that is sqrt(3 / (2 p)) of Mathis, Semke, Mahdavi and Ott, CCR 27(3), 1997. In its Reno-friendly region,
    // where CUBIC is here, alpha is 9/17 or 1 (section 4.3).
    let (loss, delay) = (0.001, Duration::from_millis(20));
    let link = Impairments { loss, ..Impairments::latency(delay) };
    let closed_form = |alpha: f64, beta: f64| libm::sqrt(alpha * (1.0 + beta) / (2.0 * (1.0 - beta) * loss));
    for variant in VARIANTS {
        let goodput = |seed| {
            let pair = bulk(variant, link, seed, 200);
            pair.client.connection.statistics().bytes_acknowledged as f64 / 200.0
        };
        // In segments for each round trip of 40 ms.
        let window = (0..4).map(goodput).sum::<f64>() / 4.0 * 0.04 / 1000.0;
        let (least, most) = match variant {
            Variant::Cubic => (closed_form(9.0 / 17.0, 0.7), closed_form(1.0, 0.7)),
            _ => (closed_form(1.0, 0.5), closed_form(1.0, 0.5)),
        };
        assert!(window > 0.9 * least && window < 1.1 * most, "{variant:?}: {window}, expected {least} to {most}");
    }
}
