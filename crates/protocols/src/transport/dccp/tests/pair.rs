//! Two ends over a virtual link: what must hold whatever the link does, and how fast they are.

use std::collections::{BTreeMap, BTreeSet};

use hopcast_wire::dccp;
use proptest::prelude::*;

use super::super::super::adtfrc;
use super::super::super::tfrc::{self, Edition, equation::throughput};
use super::super::{CloseReason, Config, Congestion, Connection, Output, Packet, Payload, State};
use crate::random::{Purpose, Stream};
use crate::time::{Duration, Instant};

/// Outputs of one end at one instant that no honest run reaches.
const LIVELOCK: u32 = 10_000;

/// Both directions of a link without a rate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Link {
    pub(crate) delay: Duration,
    /// Added delay, uniform from 0 to this, for each packet: more than the spacing of packets reorders them.
    pub(crate) jitter: Duration,
    /// Probabilities.
    pub(crate) loss: f64,
    pub(crate) duplication: f64,
    /// Nothing gets through from the first instant to the second.
    pub(crate) outage: Option<(Instant, Instant)>,
    /// Octets of payload per second, and packets that may wait for their turn; in the client's direction.
    pub(crate) bottleneck: Option<(f64, u64)>,
}

impl Link {
    pub(crate) fn clean(delay: Duration) -> Self {
        Self { delay, jitter: Duration::ZERO, loss: 0.0, duplication: 0.0, outage: None, bottleneck: None }
    }
}

pub(crate) struct End {
    pub(crate) connection: Connection,
    /// Units still to be written before closing, the length of each, and whether it closes then.
    pub(crate) to_write: u64,
    pub(crate) len: u32,
    pub(crate) closes: bool,
    written: u64,
    sent: BTreeMap<u64, u64>,
    pub(crate) delivered: u64,
    /// Deliveries by packet number.
    seen: BTreeSet<(u64, u64)>,
    pub(crate) closed: Option<CloseReason>,
}

impl End {
    fn new(connection: Connection, to_write: u64, len: u32, closes: bool) -> Self {
        Self {
            connection,
            to_write,
            len,
            closes,
            written: 0,
            sent: BTreeMap::new(),
            delivered: 0,
            seen: BTreeSet::new(),
            closed: None,
        }
    }
}

pub(crate) struct Pair {
    pub(crate) ends: [End; 2],
    link: Link,
    /// When the bottleneck has sent all that waits.
    busy_until: Instant,
    /// Packets that found no room there.
    pub(crate) overflows: u64,
    draws: Stream,
    pub(crate) now: Instant,
    order: u64,
    queue: BTreeMap<(Instant, u64), (usize, Packet)>,
    at_this_instant: u32,
    /// Keep what was sent and delivered, to compare.
    strict: bool,
}

impl Pair {
    /// A client that writes `units[0]` units of `len` octets and a server that writes `units[1]`; who has written all closes,
    /// the client only if the server has none.
    pub(crate) fn new(configs: [Config; 2], units: [u64; 2], len: u32, link: Link, seed: u64, strict: bool) -> Self {
        let [client, server] = configs;
        let client = Config { local_port: 40_000, remote_port: 5001, ..client };
        let server = Config { local_port: 5001, ..server };
        Self {
            ends: [
                End::new(Connection::connect(client, (1 << 48) - 5), units[0], len, units[1] == 0),
                End::new(Connection::listen(server, seed), units[1], len, units[1] > 0),
            ],
            link,
            busy_until: Instant::START,
            overflows: 0,
            draws: Stream::new(seed, Purpose::Application, 0, 0),
            now: Instant::START,
            order: 0,
            queue: BTreeMap::new(),
            at_this_instant: 0,
            strict,
        }
    }

    /// Runs until nothing is left to happen, or `until`.
    pub(crate) fn run(&mut self, until: Instant) {
        for side in 0..2 {
            self.drain(side);
        }
        while let Some(at) = self.next_instant().filter(|&at| at <= until) {
            if at > self.now {
                self.at_this_instant = 0;
            }
            self.now = self.now.max(at);
            if let Some(entry) = self.queue.first_entry().filter(|entry| entry.key().0 <= self.now) {
                let (side, packet) = entry.remove();
                self.ends[side].connection.handle_packet(&packet, self.now);
                self.drain(side);
                continue;
            }
            for side in 0..2 {
                if self.ends[side].connection.poll_timeout().is_some_and(|due| due <= self.now) {
                    self.ends[side].connection.handle_timeout(self.now);
                    self.drain(side);
                    let due = self.ends[side].connection.poll_timeout();
                    assert!(due.is_none_or(|due| due > self.now), "a timer stays due at {}", self.now);
                }
            }
        }
    }

    fn next_instant(&self) -> Option<Instant> {
        let timers = self.ends.iter().filter_map(|end| end.connection.poll_timeout());
        timers.chain(self.queue.keys().next().map(|key| key.0)).min()
    }

    fn write(&mut self, side: usize) {
        let end = &mut self.ends[side];
        while end.to_write > 0 {
            if !end.connection.handle_write(Payload { unit: end.written, len: end.len }, self.now) {
                return;
            }
            end.written += 1;
            end.to_write -= 1;
        }
        if end.closes {
            end.connection.handle_close(self.now);
        }
    }

    fn drain(&mut self, side: usize) {
        let mut writable = false;
        while let Some(output) = self.ends[side].connection.poll_output(self.now) {
            self.at_this_instant += 1;
            assert!(self.at_this_instant < LIVELOCK, "livelock at {}", self.now);
            match output {
                Output::Transmit(packet) => self.transmit(side, packet),
                Output::Connected | Output::Writable => writable = true,
                Output::Deliver(delivery) => {
                    self.ends[side].delivered += u64::from(delivery.payload.len);
                    if self.strict {
                        let sent = self.ends[1 - side].sent.get(&(delivery.sequence % (1 << 48)));
                        assert_eq!(sent, Some(&delivery.payload.unit), "what is delivered was sent");
                        self.ends[side].seen.insert((delivery.sequence, delivery.payload.unit));
                    }
                }
                Output::Closed(reason) => {
                    assert_eq!(self.ends[side].closed.replace(reason), None, "closed twice");
                }
            }
        }
        if writable {
            self.write(side);
            self.drain(side);
        }
    }

    fn transmit(&mut self, side: usize, packet: Packet) {
        let view = dccp::Packet::new_checked(&packet.header[..]).expect("what is sent is a packet");
        assert!(view.options().iter().all(|option| option.is_ok()));
        if self.strict && packet.payload.len > 0 {
            let twice = self.ends[side].sent.insert(view.sequence(), packet.payload.unit);
            assert_eq!(twice, None, "a number twice");
        }
        let Link { mut delay, jitter, loss, duplication, outage, bottleneck } = self.link;
        if let (Some((rate, room)), 0) = (bottleneck, side) {
            let turn = Duration::from_secs_f64(f64::from(packet.payload.len) / rate);
            let waiting = self.busy_until.saturating_since(self.now);
            if waiting > Duration::from_secs_f64(room as f64 * f64::from(self.ends[0].len) / rate) {
                self.overflows += 1;
                return;
            }
            self.busy_until = self.now + waiting + turn;
            delay += waiting + turn;
        }
        let out = outage.is_some_and(|(from, to)| (from..to).contains(&self.now));
        if out || self.draws.unit() < loss {
            return;
        }
        let copies = 1 + u32::from(self.draws.unit() < duplication);
        for _ in 0..copies {
            let extra = Duration::from_nanos((self.draws.unit() * jitter.as_nanos() as f64) as u64);
            self.order += 1;
            self.queue.insert((self.now + delay + extra, self.order), (1 - side, packet.clone()));
        }
    }
}

fn congestions() -> impl Strategy<Value = Congestion> {
    (any::<bool>(), any::<bool>(), any::<bool>()).prop_map(|(adaptive, old, small)| {
        let edition = if old { Edition::Rfc3448 } else { Edition::Rfc5348 };
        let tfrc = tfrc::Config { edition, small_packets: small, segment: 500, ..tfrc::Config::default() };
        if adaptive {
            Congestion::Adtfrc(adtfrc::Config { tfrc, ..adtfrc::Config::default() })
        } else {
            Congestion::Tfrc(tfrc)
        }
    })
}

fn links() -> impl Strategy<Value = Link> {
    let outages = (0_u64..20_000, 0_u64..40_000).prop_map(|(from, length)| {
        let ms = |n: u64| Instant::START + Duration::from_millis(n);
        Some((ms(from), ms(from + length)))
    });
    (
        0_u64..200,
        0_u64..300,
        prop_oneof![Just(0.0), 0.0..0.4],
        prop_oneof![Just(0.0), 0.0..0.3],
        prop_oneof![Just(None), outages],
    )
        .prop_map(|(delay, jitter, loss, duplication, outage)| Link {
            delay: Duration::from_millis(delay),
            jitter: Duration::from_millis(jitter),
            loss,
            duplication,
            outage,
            bottleneck: None,
        })
}

proptest! {
    #[test]
    fn both_ends_come_to_an_end_whatever_the_link_does(
        congestion in congestions(),
        units in [0_u64..150, 0_u64..150],
        (queue, window) in (1_usize..20, 32_u64..2000),
        link in links(),
        seed in any::<u64>(),
    ) {
        let config = Config { congestion, queue, sequence_window: window, ..Config::default() };
        let mut pair = Pair::new([config.clone(), config], units, 500, link, seed, true);
        pair.run(Instant::START + Duration::from_secs(50_000));
        for (side, end) in pair.ends.iter().enumerate() {
            let (state, other) = (end.connection.state(), &pair.ends[1 - side]);
            prop_assert!(end.connection.poll_timeout().is_none(), "{:?} {:?}", side, state);
            match state {
                State::Closed => prop_assert!(end.closed.is_some()),
                State::Listen => {}
                // All that the other end said of its end was lost for eight minutes, and this one has nothing to say: DCCP has no
                // keepalive.
                _ => prop_assert_eq!((state, end.connection.queued(), other.closed), (State::Open, 0, Some(CloseReason::TimedOut))),
            }
        }
        if link.loss == 0.0 && link.outage.is_none() && link.duplication == 0.0 && link.jitter == Duration::ZERO {
            // All that was written before the other side closed has arrived.
            prop_assert_eq!(pair.ends.each_ref().map(|end| end.closed), [Some(CloseReason::Finished); 2]);
            let closer = usize::from(units[1] > 0);
            prop_assert_eq!(pair.ends[1 - closer].delivered, 500 * units[closer]);
        }
    }

    #[test]
    fn no_packet_and_no_order_of_calls_panics_or_livelocks(
        congestion in congestions(),
        server in any::<bool>(),
        open in any::<bool>(),
        actions in prop::collection::vec(actions(), 1..100),
    ) {
        let config = Config { congestion, ..Config::default() };
        let mut pair = Pair::new([config.clone(), config], [20, 20], 500, Link::clean(Duration::from_millis(10)), 1, false);
        if open {
            pair.run(Instant::START + Duration::from_millis(50));
        }
        let [client, listener] = pair.ends;
        let mut connection = if server { listener.connection } else { client.connection };
        let mut now = pair.now;
        // Numbers near what would be right are drawn from the last packet that went out.
        let (mut own, mut peer) = (0_u64, 0_u64);
        for action in actions {
            match action {
                Action::Arrive { kind, sequence, acknowledgement, mut octets, len } => {
                    // A header of the type, with arbitrary options behind it.
                    let sequence = sequence.map_or_else(|far| far, |near| peer.wrapping_add_signed(near));
                    let acknowledgement = acknowledgement.map_or_else(|far| far, |near| own.wrapping_add_signed(near));
                    let header = header(kind, sequence % (1 << 48), acknowledgement % (1 << 48), &mut octets);
                    connection.handle_packet(&Packet { header: header.into(), payload: Payload { unit: 0, len } }, now);
                    peer = sequence.wrapping_add(1);
                }
                Action::Octets(octets) => {
                    let _ = connection.handle_datagram(&octets, now);
                }
                Action::Write(len) => {
                    connection.handle_write(Payload { unit: 0, len }, now);
                }
                Action::Flush => {
                    connection.handle_flush(now);
                }
                Action::Close => connection.handle_close(now),
                Action::Abort => connection.handle_abort(now),
                Action::Wait(nanos) => now += Duration::from_nanos(nanos),
                Action::Timer => {
                    if let Some(due) = connection.poll_timeout() {
                        now = now.max(due);
                        connection.handle_timeout(now);
                    }
                }
            }
            let mut outputs = 0;
            while let Some(output) = connection.poll_output(now) {
                outputs += 1;
                prop_assert!(outputs < 300, "livelock");
                if let Output::Transmit(packet) = output {
                    let view = dccp::Packet::new_checked(&packet.header[..]).unwrap();
                    own = view.sequence();
                    prop_assert!(view.options().iter().all(|option| option.is_ok()));
                    if let Some(acknowledged) = view.acknowledgement() {
                        peer = acknowledged + 1;
                    }
                }
            }
            let rate = connection.sender().tfrc().rate();
            prop_assert!(rate.is_finite() && rate > 0.0, "{}", rate);
        }
    }
}

#[derive(Clone, Debug)]
enum Action {
    Arrive { kind: u8, sequence: Result<i64, u64>, acknowledgement: Result<i64, u64>, octets: Vec<u8>, len: u32 },
    Octets(Vec<u8>),
    Write(u32),
    Flush,
    Close,
    Abort,
    Wait(u64),
    Timer,
}

fn actions() -> impl Strategy<Value = Action> {
    let number = || prop_oneof![4 => (-3_i64..4).prop_map(Ok), 1 => (-2000_i64..2000).prop_map(Ok), 1 => any::<u64>().prop_map(Err)];
    let arrive = (0_u8..12, number(), number(), prop::collection::vec(any::<u8>(), 0..60), 0_u32..2000).prop_map(
        |(kind, sequence, acknowledgement, octets, len)| Action::Arrive {
            kind,
            sequence,
            acknowledgement,
            octets,
            len,
        },
    );
    prop_oneof![
        8 => arrive,
        1 => prop::collection::vec(any::<u8>(), 0..100).prop_map(Action::Octets),
        2 => (0_u32..70_000).prop_map(Action::Write),
        1 => Just(Action::Flush),
        1 => Just(Action::Close),
        1 => Just(Action::Abort),
        3 => (0_u64..3_000_000_000).prop_map(Action::Wait),
        4 => Just(Action::Timer),
    ]
}

/// The octets of a header; every other time its options are ones that mean something.
fn header(kind: u8, sequence: u64, acknowledgement: u64, octets: &mut Vec<u8>) -> Vec<u8> {
    use dccp::{Body, Feature, NetworkState, OptionList, OptionRepr};
    let mut list = OptionList::new();
    if octets.len().is_multiple_of(2) {
        let number = octets.iter().fold(0_u32, |number, &octet| number << 5 ^ u32::from(octet));
        for octet in octets.iter() {
            let values = [octet >> 4, octet & 3];
            let feature = Feature::from(octet >> 2 & 0x0f);
            list.push(&match octet % 12 {
                0 => OptionRepr::ReceiveRate(number),
                1 => OptionRepr::LossEventRate(number >> (octet & 31)),
                2 => OptionRepr::ElapsedTime(number >> (octet & 31)),
                3 => OptionRepr::Timestamp(number),
                4 => OptionRepr::NdpCount(u64::from(number) << (octet & 15)),
                5 => OptionRepr::ChangeL(feature, &values),
                6 => OptionRepr::ChangeR(feature, &values),
                7 => OptionRepr::ConfirmL(feature, &values),
                8 => OptionRepr::ConfirmR(feature, &values),
                9 => OptionRepr::NetworkState(NetworkState(octet >> 4)),
                10 => OptionRepr::ReceiveRate(u32::from(*octet)),
                _ => OptionRepr::LossEventRate(u32::MAX),
            });
        }
    } else {
        octets.truncate(48);
        for &octet in octets.iter() {
            list.push(&OptionRepr::Other(octet.into(), &[]));
        }
    }
    let code = octets.first().copied().unwrap_or(0).into();
    let body = match kind {
        0 => Body::Request { service_code: 0 },
        1 => Body::Response { acknowledgement, service_code: 0 },
        2 => Body::Data,
        3 | 10 => Body::Ack { acknowledgement },
        4 | 11 => Body::DataAck { acknowledgement },
        5 => Body::CloseReq { acknowledgement },
        6 => Body::Close { acknowledgement },
        7 => Body::Reset { acknowledgement, code, data: [0; 3] },
        8 => Body::Sync { acknowledgement },
        _ => Body::SyncAck { acknowledgement },
    };
    super::bench::header([0, 0], octets.last().copied().unwrap_or(0) & 0x0f, sequence, body, &list)
}

#[test]
fn a_clean_link_is_filled_as_slow_start_fills_it() {
    let config = Config { queue: 1000, ..Config::default() };
    let link = Link::clean(Duration::from_millis(50));
    let mut pair = Pair::new([config.clone(), config], [100_000, 0], 1000, link, 3, true);
    // The handshake takes a round trip; then 40 kB/s, doubled each 100 ms.
    pair.run(Instant::START + Duration::from_millis(550));
    let sender = pair.ends[0].connection.sender().tfrc();
    assert_eq!(sender.loss_event_rate(), 0.0);
    assert!((320_000.0..=640_000.0).contains(&sender.rate()), "{}", sender.rate());
    assert_eq!(pair.ends[0].connection.sender().tfrc().rtt(), Some(Duration::from_millis(100)));
    let peer_rtt = pair.ends[1].connection.peer_rtt().as_secs_f64();
    assert!((0.095..0.13).contains(&peer_rtt), "{peer_rtt}");
}

/// Octets per second of data that arrive from a client over a link of this round trip and loss of packets; and the server's
/// estimate of the round trip in seconds.
fn measure(edition: Edition, rtt: Duration, loss: f64, packets: u64) -> (f64, f64) {
    let congestion = Congestion::Tfrc(tfrc::Config { edition, ..tfrc::Config::default() });
    let config = Config { congestion, queue: 1000, sequence_window: 100_000, ..Config::default() };
    let link = Link { loss, ..Link::clean(rtt / 2) };
    let mut pair = Pair::new([config.clone(), config], [u64::MAX, 0], 1000, link, 5, false);
    let step = Duration::from_millis(100);
    let sent = |pair: &Pair| pair.ends[0].connection.statistics().data_packets_sent;
    let (mut from, mut before, mut until) = (Instant::START, 0, Instant::START);
    while sent(&pair) < packets {
        until += step;
        pair.run(until);
        if before == 0 && sent(&pair) > packets / 10 {
            (from, before) = (until, pair.ends[1].delivered);
        }
    }
    let rate = (pair.ends[1].delivered - before) as f64 / (until - from).as_secs_f64();
    (rate, pair.ends[1].connection.peer_rtt().as_secs_f64())
}

#[test]
fn through_dccp_too_the_throughput_is_that_of_the_equation() {
    for edition in [Edition::Rfc5348, Edition::Rfc3448] {
        for rtt in [10, 100, 500] {
            for (loss, packets) in [(0.001, 200_000), (0.01, 60_000), (0.05, 30_000)] {
                let case = format!("{edition:?}, {rtt} ms, loss {loss}");
                let seconds = rtt as f64 / 1000.0;
                let timeout = if edition == Edition::Rfc3448 { 4.0 * seconds } else { (4.0 * seconds).max(1.0) };
                let (measured, peer_rtt) = measure(edition, Duration::from_millis(rtt), loss, packets);
                let ratio = measured / throughput(1000.0, seconds, timeout, loss);
                let range = if loss <= 0.01 { 0.85..=1.15 } else { 0.55..=1.15 };
                assert!(range.contains(&ratio), "{case}: {ratio:.3} of the equation");
                // The window counter tells the round trip, but for packets that are rarer than its steps.
                assert!((0.95..1.25).contains(&(peer_rtt / seconds)), "{case}: {peer_rtt} s");
            }
        }
    }
}
