//! Two ends over a virtual link: what must hold whatever the link does, and how fast they are.

use core::convert::Infallible;
use std::collections::{BTreeMap, BTreeSet};

use hopcast_wire::dccp;
use proptest::prelude::*;

use super::super::super::adtfrc;
use super::super::super::tfrc::{self, Edition, equation::throughput};
use super::super::{CloseReason, Config, Congestion, Connection, Output, Packet, Payload, State};
use crate::testkit::{self, Choices, Disorder, Impairments, Link, Peer};
use crate::time::{Duration, Instant};

/// One end with its user.
pub(crate) struct End {
    pub(crate) connection: Connection,
    /// Units still to be written before closing, the length of each, and whether it closes then.
    pub(crate) to_write: u64,
    pub(crate) len: u32,
    pub(crate) closes: bool,
    writable: bool,
    written: u64,
    pub(crate) delivered: u64,
    pub(crate) closed: Option<CloseReason>,
    /// What was sent and delivered, to compare: by packet number.
    record: Option<Record>,
}

#[derive(Default)]
struct Record {
    sent: BTreeMap<u64, u64>,
    delivered: BTreeSet<(u64, u64)>,
}

impl End {
    fn new(connection: Connection, to_write: u64, len: u32, closes: bool, is_recorded: bool) -> Self {
        Self {
            connection,
            to_write,
            len,
            closes,
            writable: false,
            written: 0,
            delivered: 0,
            closed: None,
            record: is_recorded.then(Record::default),
        }
    }

    fn write(&mut self, now: Instant) {
        while self.to_write > 0 {
            if !self.connection.handle_write(Payload { unit: self.written, len: self.len }, now) {
                return;
            }
            self.written += 1;
            self.to_write -= 1;
        }
        if self.closes {
            self.connection.handle_close(now);
        }
    }
}

impl Peer for End {
    type Datagram = Packet;
    type Event = Infallible;

    fn handle_datagram(&mut self, packet: &Packet, now: Instant) {
        self.connection.handle_packet(packet, now);
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.connection.handle_timeout(now);
    }

    fn poll_output(&mut self, now: Instant) -> Option<testkit::Output<Packet, Infallible>> {
        loop {
            match self.connection.poll_output(now) {
                Some(Output::Transmit(packet)) => {
                    let view = dccp::Packet::new_checked(&packet.header[..]).expect("what is sent is a packet");
                    assert!(view.options().iter().all(|option| option.is_ok()));
                    if let Some(record) = self.record.as_mut().filter(|_| packet.payload.len > 0) {
                        let twice = record.sent.insert(view.sequence(), packet.payload.unit);
                        assert_eq!(twice, None, "a number twice");
                    }
                    return Some(testkit::Output::Transmit(packet));
                }
                Some(Output::Connected | Output::Writable) => self.writable = true,
                Some(Output::Deliver(delivery)) => {
                    self.delivered += u64::from(delivery.payload.len);
                    if let Some(record) = &mut self.record {
                        record.delivered.insert((delivery.sequence, delivery.payload.unit));
                    }
                }
                Some(Output::Closed(reason)) => assert_eq!(self.closed.replace(reason), None, "closed twice"),
                None if core::mem::take(&mut self.writable) => self.write(now),
                None => return None,
            }
        }
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.connection.poll_timeout()
    }
}

pub(crate) type Pair = testkit::Pair<End, End>;

/// A client that writes `units[0]` units of `len` bytes and a server that writes `units[1]`; who has written all closes, the client
/// only if the server has none. `strict`: what is sent and delivered is recorded.
pub(crate) fn pair(
    configs: [Config; 2],
    units: [u64; 2],
    len: u32,
    link: Link<Packet>,
    initial: u64,
    strict: bool,
) -> Pair {
    let [client, server] = configs;
    let client = Config { local_port: 40_000, remote_port: 5001, ..client };
    let server = Config { local_port: 5001, ..server };
    let client = End::new(Connection::connect(client, (1 << 48) - 5), units[0], len, units[1] == 0, strict);
    let server = End::new(Connection::listen(server, initial), units[1], len, units[1] > 0, strict);
    Pair::new(client, server, link)
}

/// Checks that what each end delivered is what the other one sent under that number.
fn check_deliveries(pair: &Pair) {
    for (end, peer) in [(&pair.client, &pair.server), (&pair.server, &pair.client)] {
        let (Some(to), Some(from)) = (&end.record, &peer.record) else { panic!("the pair is strict") };
        for (sequence, unit) in &to.delivered {
            assert_eq!(from.sent.get(&(sequence % (1 << 48))), Some(unit), "what is delivered was sent");
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

fn links() -> impl Strategy<Value = Impairments> {
    let outages = (0_u64..20_000, 0_u64..40_000).prop_map(|(from, length)| {
        let ms = |n: u64| Instant::START + Duration::from_millis(n);
        Some([ms(from), ms(from + length)])
    });
    (
        0_u64..200,
        0_u64..300,
        prop_oneof![Just(0.0), 0.0..0.4],
        prop_oneof![Just(0.0), 0.0..0.3],
        prop_oneof![Just(None), outages],
    )
        .prop_map(|(latency, jitter, loss, duplication, outage)| Impairments {
            latency: Duration::from_millis(latency),
            jitter: Duration::from_millis(jitter),
            loss,
            duplication,
            outage,
            ..Impairments::NONE
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
        let mut pair = pair([config.clone(), config], units, 500, Link::new(link, seed), seed, true);
        pair.run_until(Instant::START + Duration::from_secs(50_000));
        check_deliveries(&pair);
        for (end, other) in [(&pair.client, &pair.server), (&pair.server, &pair.client)] {
            let state = end.connection.state();
            prop_assert!(end.connection.poll_timeout().is_none(), "{:?}", state);
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
            prop_assert_eq!([pair.client.closed, pair.server.closed], [Some(CloseReason::Finished); 2]);
            let (written, reader) = if units[1] > 0 { (units[1], &pair.client) } else { (units[0], &pair.server) };
            prop_assert_eq!(reader.delivered, 500 * written);
        }
    }

    #[test]
    fn no_packet_and_no_order_of_calls_panics_or_livelocks(
        congestion in congestions(),
        open in any::<bool>(),
        choices in prop::collection::vec(any::<u8>(), 0..1500),
    ) {
        let config = Config { congestion, ..Config::default() };
        let link = Link::new(Impairments::latency(Duration::from_millis(10)), 1);
        let mut pair = pair([config.clone(), config], [20, 20], 500, link, 1, false);
        if open {
            pair.run_until(Instant::START + Duration::from_millis(50));
        }
        let now = pair.now();
        let mut ends = Disorder::begin_at(pair.client.connection, pair.server.connection, now);
        ends.run(&mut Choices::new(&choices), |_| {});
    }
}

#[test]
fn a_clean_link_is_filled_as_slow_start_fills_it() {
    let config = Config { queue: 1000, ..Config::default() };
    let link = Link::new(Impairments::latency(Duration::from_millis(50)), 3);
    let mut pair = pair([config.clone(), config], [100_000, 0], 1000, link, 3, true);
    // The handshake takes a round trip; then 40 kB/s, doubled each 100 ms.
    pair.run_until(Instant::START + Duration::from_millis(550));
    check_deliveries(&pair);
    let sender = pair.client.connection.sender().tfrc();
    assert_eq!(sender.loss_event_rate(), 0.0);
    assert!((320_000.0..=640_000.0).contains(&sender.rate()), "{}", sender.rate());
    assert_eq!(pair.client.connection.sender().tfrc().rtt(), Some(Duration::from_millis(100)));
    let peer_rtt = pair.server.connection.peer_rtt().as_secs_f64();
    assert!((0.095..0.13).contains(&peer_rtt), "{peer_rtt}");
}

/// Bytes per second of data that arrive from a client over a link of this round trip and loss of packets; and the server's
/// estimate of the round trip in seconds.
fn measure(edition: Edition, rtt: Duration, loss: f64, packets: u64) -> (f64, f64) {
    let congestion = Congestion::Tfrc(tfrc::Config { edition, ..tfrc::Config::default() });
    let config = Config { congestion, queue: 1000, sequence_window: 100_000, ..Config::default() };
    let link = Link::new(Impairments { loss, ..Impairments::latency(rtt / 2) }, 5);
    let mut pair = pair([config.clone(), config], [u64::MAX, 0], 1000, link, 5, false);
    let step = Duration::from_millis(100);
    let sent = |pair: &Pair| pair.client.connection.statistics().data_packets_sent;
    let (mut from, mut before, mut until) = (Instant::START, 0, Instant::START);
    while sent(&pair) < packets {
        until += step;
        pair.run_until(until);
        if before == 0 && sent(&pair) > packets / 10 {
            (from, before) = (until, pair.server.delivered);
        }
    }
    let rate = (pair.server.delivered - before) as f64 / (until - from).as_secs_f64();
    (rate, pair.server.connection.peer_rtt().as_secs_f64())
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
