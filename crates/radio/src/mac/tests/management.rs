//! Management frames mixed with data, and effects of a network's coexistence.

use hopcast_protocols::random::{Purpose, Stream};
use hopcast_protocols::time::{Duration, Instant};

use super::bench::{ERP_54, MBPS_1, MBPS_2, ME, PEER, dsss, edca, micros, us};
use crate::mac::{Config, Dcf, Frame, FrameKind, Output, Payload, Protection};
use crate::phy::Standard;

/// Its number and length; those from 100 on are bodies of management frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Body(u32);

impl Payload for Body {
    fn octets(&self) -> u32 {
        64
    }

    fn is_management(&self) -> bool {
        self.0 >= 100
    }

    fn priority(&self) -> crate::mac::edca::UserPriority {
        crate::mac::edca::UserPriority::NETWORK_CONTROL
    }
}

fn station(config: Config) -> Dcf<Body> {
    seeded(config, 1)
}

fn seeded(config: Config, seed: u64) -> Dcf<Body> {
    let mut dcf = Dcf::new(ME, config, Stream::new(seed, Purpose::Backoff, 0, 0));
    dcf.handle_idle(Instant::START);
    dcf
}

/// Runs the station's timers until it sends the next frame, and to the end of that one: nothing else is on the air.
fn next_frame(dcf: &mut Dcf<Body>) -> Option<(Instant, Frame<Body>)> {
    loop {
        while let Some(output) = dcf.poll_output() {
            if let Output::Transmit(()) = output {
                let (header, packet) = dcf.on_air();
                let frame = header.with_payload(packet.copied());
                let end = dcf.poll_timeout().expect("it is on the air");
                dcf.handle_timeout(end, || false, false);
                return Some((end, frame));
            }
        }
        let due = dcf.poll_timeout()?;
        dcf.handle_timeout(due, || false, false);
    }
}

/// The peer's ACK, SIFS after the end of a frame.
fn acknowledge(dcf: &mut Dcf<Body>, frame: &Frame<Body>, end: Instant, sifs: Duration) {
    let ack = Frame { kind: FrameKind::Ack, transmitter: PEER, receiver: Some(ME), ..frame.with_payload(None) };
    let start = end + sifs;
    dcf.handle_busy(start);
    dcf.handle_frame(&ack, start, start + micros(100));
    dcf.handle_idle(start + micros(100));
}

/// They go before the packets that wait, at the basic rate, and are acknowledged as data are. What goes on within a TXOP goes on.
#[test]
fn management_frames_go_before_what_is_in_the_queue() {
    for (config, sifs, overhead, order) in [(dsss(), 10, 36, [1, 100, 101, 2]), (edca(), 16, 38, [1, 2, 100, 101])] {
        let basic = config.basic_rate;
        let mut dcf = station(config);
        for (receiver, id) in [(Some(PEER), 1), (Some(PEER), 2), (None, 100), (Some(PEER), 101)] {
            dcf.handle_packet(receiver, Body(id), us(1_000));
        }
        assert_eq!(dcf.held().count(), 4);
        let mut sent = Vec::new();
        while let Some((end, frame)) = next_frame(&mut dcf) {
            let id = frame.payload.expect("each carries something").0;
            let is_management = id >= 100;
            let kind = if is_management { FrameKind::Management } else { FrameKind::Data };
            assert_eq!((frame.kind, frame.octets), (kind, 64 + if is_management { 28 } else { overhead }));
            assert_eq!(frame.vector == basic, is_management);
            assert!(frame.priority.is_none() || !is_management, "no QoS Control");
            if frame.receiver.is_some() {
                acknowledge(&mut dcf, &frame, end, micros(sifs));
            }
            sent.push(id);
        }
        assert_eq!(sent, order);
        let counters = dcf.counters();
        assert_eq!((counters.data_sent, counters.management_sent, counters.ack_timeouts), (2, 2, 0));
    }
}

/// A management frame for this station is acknowledged, and handed up.
#[test]
fn a_management_frame_is_acknowledged() {
    let mut dcf = station(dsss());
    let frame = Frame {
        kind: FrameKind::Management,
        transmitter: PEER,
        receiver: Some(ME),
        duration: micros(314),
        sequence: 7,
        retry: false,
        priority: None,
        octets: 92,
        vector: MBPS_1,
        airtime: micros(928),
        header: micros(192),
        payload: Some(()),
    };
    dcf.handle_busy(us(1_000));
    dcf.handle_frame(&frame, us(1_192), us(1_928));
    dcf.handle_idle(us(1_928));
    assert!(matches!(dcf.poll_output(), Some(Output::Deliver((), PEER))));
    assert_eq!(dcf.poll_timeout(), Some(us(1_938)));
    let (_, ack) = next_frame(&mut dcf).expect("SIFS later");
    assert_eq!((ack.kind, ack.receiver, ack.duration), (FrameKind::Ack, Some(PEER), Duration::ZERO));
}

/// 18.5.4: slots that have passed were short, the others are long.
#[test]
fn a_slot_that_becomes_longer_counts_from_the_one_that_has_begun() {
    let erp = |protection| Config { basic_rate: MBPS_2, protection, ..Config::new(Standard::Erp.phy(false), ERP_54) };
    let long = Standard::Erp.phy(false).with_long_slot();
    let mut seen = 0;
    for seed in 0..20 {
        let mut dcf = seeded(erp(Protection::None), seed);
        dcf.handle_packet(None, Body(1), us(1_000));
        let (end, _) = next_frame(&mut dcf).expect("the medium is idle");
        dcf.handle_packet(Some(PEER), Body(50), end);
        let ready = end + micros(28);
        // What next comes is a backoff of whole slots.
        let slots = dcf.poll_timeout().expect("a backoff").saturating_since(ready).as_nanos() / 9_000;
        if slots < 3 {
            continue;
        }
        seen += 1;
        dcf.set_coexistence(Protection::CtsToSelf, long, ready + micros(2 * 9 + 4));
        let access = ready + micros(2 * 9 + 20 * (slots - 2));
        assert_eq!(dcf.poll_timeout(), Some(access));
        let (_, frame) = next_frame(&mut dcf).expect("a frame");
        assert_eq!((frame.kind, frame.receiver), (FrameKind::Cts, Some(ME)), "OFDM is protected now");
    }
    assert!(seen > 0, "some backoff has three slots");
}

/// Whatever is over by the new lengths ends at once, and nothing before that.
#[test]
fn a_slot_that_becomes_shorter_ends_no_sooner_than_now() {
    let (long, short) = (Standard::Erp.phy(false).with_long_slot(), Standard::Erp.phy(false));
    let config = Config { basic_rate: MBPS_2, ..Config::new(long, ERP_54) };
    let mut seen = 0;
    for seed in 0..20 {
        let mut dcf = seeded(config.clone(), seed);
        dcf.handle_packet(None, Body(1), us(1_000));
        let (end, _) = next_frame(&mut dcf).expect("the medium is idle");
        dcf.handle_packet(Some(PEER), Body(50), end);
        let ready = end + micros(50);
        let slots = dcf.poll_timeout().expect("a backoff").saturating_since(ready).as_nanos() / 20_000;
        let access = |now, mut dcf: Dcf<Body>| {
            dcf.set_coexistence(Protection::None, short, now);
            dcf.poll_timeout()
        };
        // DIFS of 28 us has passed after 40, and 9 us of the last slot after 15.
        assert_eq!(access(end + micros(40), dcf.clone()), Some(end + micros(40 + 9 * slots)));
        assert_eq!(access(end + micros(20), dcf.clone()), Some(end + micros(28 + 9 * slots)));
        if slots > 0 {
            seen += 1;
            let last = ready + micros(20 * (slots - 1));
            assert_eq!(access(last + micros(15), dcf.clone()), Some(last + micros(15)));
            assert_eq!(access(last + micros(5), dcf), Some(last + micros(9)));
        }
    }
    assert!(seen > 0, "some backoff has slots");
}
