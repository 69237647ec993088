//! Two ends over a virtual link: what must hold whatever the link does.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::super::{
    CloseReason, Config, Connection, Elfn, Flags, Options, Output, SackBlock, Segment, State, Timestamps, Variant,
};
use crate::random::{Purpose, Stream};
use crate::time::{Duration, Instant};

/// Outputs of one end at one instant that no honest run reaches.
const LIVELOCK: u32 = 20_000;

/// Both directions of a link.
#[derive(Clone, Copy, Debug)]
struct Link {
    delay: Duration,
    /// Added delay, uniform from 0 to this, for each segment: more than the spacing of segments reorders them.
    jitter: Duration,
    /// Probabilities.
    loss: f64,
    duplication: f64,
    bottleneck: Option<Bottleneck>,
}

/// A rate, and a drop-tail queue before it.
#[derive(Clone, Copy, Debug)]
struct Bottleneck {
    /// Time to send one byte of a packet, 40 bytes of headers without options included.
    per_byte: Duration,
    /// Longest wait in the queue.
    queue: Duration,
}

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

enum Event {
    Deliver(Segment),
    Read,
    /// The routing layer's word on the link: whether it is there.
    Notice(bool),
}

struct End {
    connection: Connection,
    user: User,
    initial: u32,
    segment: u32,
    cap: Option<u32>,
    written: u64,
    read: u64,
    closed: Option<CloseReason>,
    /// A read is scheduled.
    reading: bool,
    /// The shift that its window fields mean, and the farthest position of the peer's stream that it ever allowed.
    shift: u8,
    allowed: u64,
    /// The end of what was ever sent.
    sent: u64,
    /// The ranges that were delivered to it, and the end of the complete part.
    delivered: BTreeMap<u64, u64>,
    complete: u64,
}

struct Pair {
    ends: [End; 2],
    link: Link,
    draws: Stream,
    now: Instant,
    order: u64,
    queue: BTreeMap<(Instant, u64), (usize, Event)>,
    at_this_instant: u32,
    /// By sender: when the bottleneck has sent what it was given.
    free_at: [Instant; 2],
}

impl Pair {
    fn new(configs: [Config; 2], users: [User; 2], initial: [u32; 2], link: Link, seed: u64) -> Self {
        let [client, server] = configs;
        let end = |connection, config: &Config, side: usize| End {
            connection,
            user: users[side],
            initial: initial[side],
            segment: config.segment,
            cap: config.window,
            written: 0,
            read: 0,
            closed: None,
            reading: false,
            shift: 0,
            allowed: 0,
            sent: 0,
            delivered: BTreeMap::new(),
            complete: 0,
        };
        Self {
            ends: [
                end(Connection::connect(client.clone(), initial[0]), &client, 0),
                end(Connection::listen(server.clone(), initial[1]), &server, 1),
            ],
            link,
            draws: Stream::new(seed, Purpose::Application, 0, 0),
            now: Instant::START,
            order: 0,
            queue: BTreeMap::new(),
            at_this_instant: 0,
            free_at: [Instant::START; 2],
        }
    }

    /// Runs until both ends are closed, nothing is left to happen, or `until`.
    fn run(&mut self, until: Instant) {
        for side in 0..2 {
            self.drain(side);
        }
        let mut steps = 0_u64;
        while let Some(at) = self.next_instant().filter(|&at| at <= until) {
            steps += 1;
            assert!(steps < 5_000_000, "no end in sight: {:?}", self.progress());
            if at > self.now {
                self.at_this_instant = 0;
            }
            self.now = at;
            if let Some(entry) = self.queue.first_entry().filter(|entry| entry.key().0 == at) {
                let (side, event) = entry.remove();
                match event {
                    Event::Deliver(segment) => self.deliver(side, &segment),
                    Event::Read => self.read(side),
                    Event::Notice(true) => self.ends[side].connection.handle_link_restored(at),
                    Event::Notice(false) => self.ends[side].connection.handle_link_failure(at),
                }
                self.drain(side);
                continue;
            }
            for side in 0..2 {
                if self.ends[side].connection.poll_timeout().is_some_and(|due| due <= at) {
                    self.ends[side].connection.handle_timeout(at);
                    self.drain(side);
                    let due = self.ends[side].connection.poll_timeout();
                    assert!(due.is_none_or(|due| due > at), "a timer stays due at {at}");
                }
            }
        }
    }

    fn next_instant(&self) -> Option<Instant> {
        let timers = self.ends.iter().filter_map(|end| end.connection.poll_timeout());
        timers.chain(self.queue.keys().next().map(|key| key.0)).min()
    }

    fn progress(&self) -> [(State, u64, u64); 2] {
        [0, 1].map(|side| {
            let end = &self.ends[side];
            (end.connection.state(), end.written, end.read)
        })
    }

    fn schedule(&mut self, after: Duration, side: usize, event: Event) {
        self.order += 1;
        self.queue.insert((self.now + after, self.order), (side, event));
    }

    fn deliver(&mut self, side: usize, segment: &Segment) {
        let end = &mut self.ends[side];
        let (offset, len) = (segment.payload_offset, u32::from(segment.payload_len));
        if len > 0 && !segment.flags.contains(Flags::SYN) {
            let reach = end.delivered.entry(offset).or_default();
            *reach = (*reach).max(offset + u64::from(len));
            while let Some((&start, &reach)) = end.delivered.first_key_value() {
                if start > end.complete {
                    break;
                }
                end.complete = end.complete.max(reach);
                end.delivered.pop_first();
            }
        }
        end.connection.handle_segment(segment, self.now);
        let received = end.connection.statistics().bytes_received;
        assert!(received <= end.complete, "{received} readable of {} delivered", end.complete);
    }

    fn write(&mut self, side: usize) {
        let end = &mut self.ends[side];
        while end.written < end.user.bytes {
            let most = (end.user.bytes - end.written).min(u64::from(end.user.write)) as u32;
            let len = 1 + self.draws.below(most);
            let room = end.connection.send_space();
            let taken = end.connection.handle_write(len, self.now);
            assert_eq!(taken, len.min(room));
            end.written += u64::from(taken);
            if taken < len {
                return;
            }
        }
        end.connection.handle_close(self.now);
    }

    fn read(&mut self, side: usize) {
        let end = &mut self.ends[side];
        let most = 1 + self.draws.below(end.user.read);
        let readable = end.connection.readable();
        let taken = end.connection.handle_read(most, self.now);
        assert_eq!(u64::from(taken), readable.min(u64::from(most)));
        end.read += u64::from(taken);
        end.reading = end.connection.readable() > 0;
        if end.reading {
            let patience = end.user.patience;
            self.schedule(patience, side, Event::Read);
        }
    }

    fn drain(&mut self, side: usize) {
        let mut writable = false;
        while let Some(output) = self.ends[side].connection.poll_output(self.now) {
            self.at_this_instant += 1;
            assert!(self.at_this_instant < LIVELOCK, "livelock at {}: {:?}", self.now, self.progress());
            match output {
                Output::Transmit(segment) => self.transmit(side, segment),
                Output::Readable if !self.ends[side].reading => {
                    self.ends[side].reading = true;
                    let patience = self.ends[side].user.patience;
                    self.schedule(patience, side, Event::Read);
                }
                Output::Connected | Output::Writable => writable = true,
                Output::Closed(reason) => {
                    assert_eq!(self.ends[side].closed.replace(reason), None, "closed twice");
                }
                Output::Readable => {}
            }
        }
        if writable {
            self.write(side);
            self.drain(side);
        }
    }

    /// Checks a segment against what its sender may do, and puts it on the link.
    fn transmit(&mut self, side: usize, segment: Segment) {
        let allowed_by_peer = self.ends[1 - side].allowed;
        let end = &mut self.ends[side];
        let (offset, len) = (segment.payload_offset, u32::from(segment.payload_len));
        let reach = offset + u64::from(len);
        if len > 0 {
            assert_eq!(segment.seq, end.initial.wrapping_add(1).wrapping_add(offset as u32), "offset and number");
            assert!(len + segment.options_len() <= end.segment && reach <= end.written, "{segment}");
            // A window probe is one byte.
            assert!(len == 1 || reach <= allowed_by_peer, "{segment} beyond {allowed_by_peer}");
        }
        if reach > end.sent && len > 1 {
            let window = u64::from(end.connection.congestion_window()) + 2 * u64::from(end.segment);
            let cap = end.cap.map_or(u64::MAX, |cap| u64::from(cap) * u64::from(end.segment));
            // A FIN counts one.
            let in_flight = end.connection.bytes_in_flight();
            assert!(in_flight <= window.min(cap) + 1, "{in_flight} in flight with window {window} and cap {cap}");
        }
        end.sent = end.sent.max(reach);
        if let Some(shift) = segment.options.window_scale() {
            end.shift = shift;
        }
        if segment.flags.contains(Flags::ACK) {
            let shift = if segment.flags.contains(Flags::SYN) { 0 } else { end.shift };
            let (allowed, window) = (end.allowed, u64::from(segment.window) << shift);
            let peer = &self.ends[1 - side];
            // The ACK field, unrolled near to what the peer has sent; the SYN and perhaps a FIN are no data.
            let behind = peer.initial.wrapping_add(1).wrapping_add(peer.sent as u32).wrapping_sub(segment.ack) as i32;
            let acked = peer.sent as i64 - i64::from(behind);
            self.ends[side].allowed = allowed.max((acked + window as i64).max(0) as u64);
        }
        let Link { mut delay, jitter, loss, duplication, bottleneck } = self.link;
        if self.draws.unit() < loss {
            return;
        }
        if let Some(Bottleneck { per_byte, queue }) = bottleneck {
            let wait = self.free_at[side].saturating_since(self.now);
            if wait > queue {
                return;
            }
            let sent = wait + per_byte * u64::from(40 + segment.options_len() + len);
            self.free_at[side] = self.now + sent;
            delay = delay.saturating_add(sent);
        }
        let copies = 1 + u32::from(self.draws.unit() < duplication);
        for _ in 0..copies {
            let extra = Duration::from_nanos((self.draws.unit() * jitter.as_nanos() as f64) as u64);
            self.schedule(delay + extra, 1 - side, Event::Deliver(segment));
        }
    }
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
        (variants(), any::<bool>(), prop::option::of((1_u64..3000, any::<bool>()))),
    )
        .prop_map(
            |(segment, (send_buffer, receive_buffer), window, initial_window, min_rto, delay, nagle, family)| {
                let (variant, timestamps, elfn) = family;
                Config {
                    segment,
                    variant,
                    timestamps,
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

fn links() -> impl Strategy<Value = Link> {
    (0_u64..200, 0_u64..300, prop_oneof![Just(0.0), 0.0..0.3], prop_oneof![Just(0.0), 0.0..0.3]).prop_map(
        |(delay, jitter, loss, duplication)| Link {
            delay: Duration::from_millis(delay),
            jitter: Duration::from_millis(jitter),
            loss,
            duplication,
            bottleneck: None,
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
        notices in prop::collection::vec((0_u64..20_000, 0_usize..2, any::<bool>()), 0..6),
        seed in any::<u64>(),
    ) {
        let mut pair = Pair::new(configs, users, initial, link, seed);
        for (ms, side, there) in notices {
            pair.schedule(Duration::from_millis(ms), side, Event::Notice(there));
        }
        pair.run(Instant::MAX);
        for (side, user) in users.iter().enumerate() {
            let (end, peer) = (&pair.ends[side], &pair.ends[1 - side]);
            prop_assert_eq!(end.written, user.bytes);
            prop_assert_eq!(peer.read, user.bytes, "{:?}", pair.progress());
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
        config in configs(),
        passive in any::<bool>(),
        initial in initials(),
        actions in prop::collection::vec(actions(), 1..120),
    ) {
        let mut connection =
            if passive { Connection::listen(config, initial) } else { Connection::connect(config, initial) };
        let mut now = Instant::START;
        // Numbers near what would be right are drawn from the last segments that went by.
        let (mut own, mut peer) = (initial, 0_u32);
        for action in actions {
            match action {
                Action::Arrive { seq, ack, flags, window, options, blocks, len } => {
                    let seq = seq.map_or_else(|far| far, |near| peer.wrapping_add_signed(near));
                    let ack = ack.map_or_else(|far| far, |near| own.wrapping_add_signed(near));
                    let flags = Flags(u16::from(flags));
                    let (payload_offset, payload_len) = (seq.into(), len);
                    // Blocks near what was sent last.
                    let number = |near| own.wrapping_add_signed(near);
                    let block = |(left, right)| SackBlock { left: number(left), right: number(right) };
                    let options = blocks.into_iter().map(block).fold(options, Options::with_block);
                    let segment = Segment { payload_offset, seq, ack, payload_len, flags, window, options };
                    connection.handle_segment(&segment, now);
                    if flags.contains(Flags::SYN) {
                        peer = seq.wrapping_add(1);
                    }
                }
                Action::Write(len) => {
                    connection.handle_write(len, now);
                }
                Action::Read(len) => {
                    connection.handle_read(len, now);
                }
                Action::Notice(true) => connection.handle_link_restored(now),
                Action::Notice(false) => connection.handle_link_failure(now),
                Action::Close => connection.handle_close(now),
                Action::Abort => connection.handle_abort(now),
                Action::Wait(ms) => {
                    now += Duration::from_millis(ms);
                    connection.handle_timeout(now);
                }
            }
            let mut outputs = 0;
            while let Some(output) = connection.poll_output(now) {
                outputs += 1;
                prop_assert!(outputs < LIVELOCK);
                if let Output::Transmit(segment) = output {
                    own = segment.seq.wrapping_add(segment.sequence_len() as u32);
                    if segment.flags.contains(Flags::ACK) {
                        peer = segment.ack;
                    }
                }
            }
            prop_assert!(connection.poll_timeout().is_none_or(|due| due > now), "a timer stays due");
        }
    }
}

#[derive(Clone, Debug)]
enum Action {
    Arrive {
        seq: Result<i32, u32>,
        ack: Result<i32, u32>,
        flags: u8,
        window: u16,
        options: Options,
        blocks: Vec<(i32, i32)>,
        len: u16,
    },
    Write(u32),
    Read(u32),
    Notice(bool),
    Close,
    Abort,
    Wait(u64),
}

fn options() -> impl Strategy<Value = Options> {
    let stamps = prop::option::of((0_u32..100_000, 0_u32..100_000));
    (stamps, any::<Option<u16>>(), any::<Option<u8>>(), any::<bool>()).prop_map(|(stamps, mss, scale, permitted)| {
        let options = Options::new(stamps.map(|(value, echo)| Timestamps { value, echo }));
        let options = mss.map_or(options, |mss| options.with_mss(mss));
        let options = scale.map_or(options, |scale| options.with_window_scale(scale));
        if permitted { options.with_sack_permitted() } else { options }
    })
}

fn actions() -> impl Strategy<Value = Action> {
    let number = || prop_oneof![4 => Just(Ok(0)), 3 => (-3000_i32..3000).prop_map(Ok), 1 => any::<u32>().prop_map(Err)];
    let flags = prop_oneof![8 => Just(0x10), 2 => Just(0x12), 2 => Just(0x02), 2 => Just(0x11), 1 => any::<u8>()];
    let len = prop_oneof![3 => Just(0_u16), 3 => 1_u16..3000, 1 => any::<u16>()];
    let window = prop_oneof![any::<u16>(), Just(0), Just(u16::MAX)];
    let near = || -3000_i32..3000;
    let blocks = prop_oneof![2 => Just(Vec::new()), 1 => prop::collection::vec((near(), near()), 1..5)];
    let arrive = (number(), number(), flags, window, options(), blocks, len).prop_map(
        |(seq, ack, flags, window, options, blocks, len)| Action::Arrive {
            seq,
            ack,
            flags,
            window,
            options,
            blocks,
            len,
        },
    );
    prop_oneof![
        20 => arrive,
        5 => any::<u32>().prop_map(Action::Write),
        5 => any::<u32>().prop_map(Action::Read),
        1 => any::<bool>().prop_map(Action::Notice),
        1 => Just(Action::Close),
        1 => prop::bool::weighted(0.2).prop_map(|abort| if abort { Action::Abort } else { Action::Close }),
        5 => (0_u64..5000).prop_map(Action::Wait),
    ]
}

#[test]
fn a_clean_link_carries_exactly_a_window_each_round_trip() {
    for (window, delayed_ack) in [(1, None), (4, None), (32, None), (32, Some(Duration::from_millis(200)))] {
        let config = Config { segment: 1000, window: Some(window), delayed_ack, ..Config::default() };
        let link = Link {
            delay: Duration::from_millis(10),
            jitter: Duration::ZERO,
            loss: 0.0,
            duplication: 0.0,
            bottleneck: None,
        };
        let user = User { bytes: 1 << 40, write: 100_000, read: 1 << 20, patience: Duration::ZERO };
        let mut pair = Pair::new([config.clone(), config], [user, SILENT], [5, u32::MAX - 7], link, 1);
        // Past slow start, then a hundred round trips of 20 ms.
        pair.run(Instant::START + Duration::from_millis(1005));
        let before = pair.ends[1].read;
        pair.run(Instant::START + Duration::from_millis(3005));
        assert_eq!(pair.ends[1].read - before, 100 * u64::from(window) * 1000, "window {window}, {delayed_ack:?}");
        let statistics = pair.ends[0].connection.statistics();
        assert_eq!((statistics.segments_retransmitted, statistics.duplicate_acks), (0, 0));
    }
}

#[test]
fn most_losses_in_a_long_transfer_are_found_by_duplicates() {
    // A window of 32 segments, 1 % of loss both ways, no reordering.
    let config = Config { segment: 1000, window: Some(32), ..Config::default() };
    let link = Link {
        delay: Duration::from_millis(10),
        jitter: Duration::ZERO,
        loss: 0.01,
        duplication: 0.0,
        bottleneck: None,
    };
    let user = User { bytes: 3_000_000, write: 100_000, read: 1 << 20, patience: Duration::ZERO };
    let mut pair = Pair::new([config.clone(), config], [user, SILENT], [0, 0], link, 7);
    pair.run(Instant::MAX);
    assert_eq!(pair.ends[1].read, 3_000_000);
    let statistics = pair.ends[0].connection.statistics();
    assert!(statistics.fast_retransmits > 5 * statistics.timeouts, "{statistics:?}");
}

#[test]
fn a_transfer_longer_than_the_sequence_space_arrives() {
    let bytes = 9 << 30;
    let config = Config { segment: 65_000, send_buffer: 1 << 28, receive_buffer: 1 << 28, ..Config::default() };
    let link = Link {
        delay: Duration::from_millis(1),
        jitter: Duration::ZERO,
        loss: 0.000_1,
        duplication: 0.0,
        bottleneck: None,
    };
    let user = User { bytes, write: 1 << 24, read: 1 << 28, patience: Duration::ZERO };
    let mut pair = Pair::new([config.clone(), config], [user, SILENT], [u32::MAX - 1000, 3], link, 3);
    pair.run(Instant::MAX);
    assert_eq!(pair.ends[1].read, bytes);
    assert_eq!(pair.ends[0].closed, Some(CloseReason::Finished));
}

/// A sender that writes without end through `link`, and its counters and window after `secs` seconds.
fn bulk(variant: Variant, link: Link, seed: u64, secs: u64) -> Pair {
    let config = Config { segment: 1000, variant, send_buffer: 1 << 20, receive_buffer: 1 << 20, ..Config::default() };
    let user = User { bytes: 1 << 40, write: 1 << 20, read: 1 << 20, patience: Duration::ZERO };
    let mut pair = Pair::new([config.clone(), config], [user, SILENT], [0, 0], link, seed);
    pair.run(Instant::START + Duration::from_secs(secs));
    pair
}

#[test]
fn every_variant_fills_a_bottleneck_without_a_timeout_after_the_start() {
    // 10 Mb/s, 40 ms and a queue of 50 ms: 112 segments. Slow start overshoots once; what it loses may take a timeout.
    let bottleneck = Bottleneck { per_byte: Duration::from_nanos(800), queue: Duration::from_millis(50) };
    let delay = Duration::from_millis(20);
    let link = Link { delay, jitter: Duration::ZERO, loss: 0.0, duplication: 0.0, bottleneck: Some(bottleneck) };
    for variant in VARIANTS {
        let pair = bulk(variant, link, 1, 45);
        let statistics = pair.ends[0].connection.statistics();
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
    let link = Link { delay, jitter: Duration::ZERO, loss, duplication: 0.0, bottleneck: None };
    let closed_form = |alpha: f64, beta: f64| libm::sqrt(alpha * (1.0 + beta) / (2.0 * (1.0 - beta) * loss));
    for variant in VARIANTS {
        let goodput = |seed| {
            let pair = bulk(variant, link, seed, 200);
            pair.ends[0].connection.statistics().bytes_acknowledged as f64 / 200.0
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
