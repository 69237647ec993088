//! Both ends over a wire inside the process, at exact instants.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use hopcast_protocols::application::JitterBufferConfig;
use hopcast_protocols::fec;
use hopcast_protocols::time::{Duration, Instant};
use hopcast_protocols::transport::dccp::{CloseReason, ResetCode, State};
use hopcast_protocols::transport::media::Congestion;
use hopcast_protocols::transport::rtp::Format;
use hopcast_wire::ecn::Ecn;
use hopcast_wire::rtcp::report::{Block, Report};
use hopcast_wire::{rtcp, rtp};
use proptest::prelude::*;

use super::*;
use crate::key::{Epoch, Keys, Randomness};
use crate::stream::envelope::Sealing;
use crate::stream::reorder::Counts;
use crate::stream::session::Variant;

const DELAY: Duration = Duration::from_millis(10);

fn address(host: u8) -> SocketAddr {
    SocketAddr::from(([10, 0, 0, host], 6000))
}

fn ms(n: u64) -> Instant {
    Instant::START + Duration::from_millis(n)
}

/// An RTP packet of payload type 33 with 100 bytes of payload.
fn packet(nth: u16) -> Vec<u8> {
    let repr = rtp::Repr {
        marker: false,
        payload_type: 33,
        sequence: nth,
        timestamp: u32::from(nth) * 900,
        source: 77,
        contributors: rtp::Contributors::NONE,
        extension: None,
        payload_len: 100,
        padding_len: 0,
    };
    let mut octets = vec![nth as u8; rtp::HEADER_LEN + 100];
    repr.emit(&mut rtp::Packet::new_unchecked(&mut octets[..]));
    octets
}

fn sequences(delivered: &[Vec<u8>]) -> Vec<u16> {
    delivered.iter().map(|octets| rtp::Packet::new_checked(octets).unwrap().sequence()).collect()
}

/// Who gets a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum To {
    Sender,
    Receiver,
}

/// What a wire does with its nth datagram towards an end: `None` loses it, else it takes this much longer.
type Fate = Box<dyn FnMut(To, u64) -> Option<Duration>>;

struct Pair {
    now: Instant,
    sender: Sender,
    receiver: Receiver,
    fate: Fate,
    carried: u64,
    towards: [u64; 2],
    wire: BTreeMap<(Instant, u64), (To, Vec<u8>)>,
    delivered: Vec<Vec<u8>>,
    events: Vec<(Instant, String)>,
}

impl Pair {
    fn new(sender: SenderConfig, receiver: Variant, fate: impl FnMut(To, u64) -> Option<Duration> + 'static) -> Self {
        let now = Instant::START;
        let config = ReceiverConfig { variant: receiver, ..ReceiverConfig::default() };
        Self {
            now,
            sender: Sender::new(sender, 1, now),
            receiver: Receiver::new(config, 2, now),
            fate: Box::new(fate),
            carried: 0,
            towards: [0; 2],
            wire: BTreeMap::new(),
            delivered: Vec::new(),
            events: Vec::new(),
        }
    }

    fn carry(&mut self, to: To, octets: Vec<u8>) {
        self.carried += 1;
        self.towards[to as usize] += 1;
        if let Some(more) = (self.fate)(to, self.towards[to as usize]) {
            self.wire.insert((self.now + DELAY + more, self.carried), (to, octets));
        }
    }

    fn drain(&mut self) {
        let now = self.now;
        loop {
            let octets = match self.sender.poll_output(now) {
                Some(SenderOutput::Transmit(octets)) => octets.to_vec(),
                Some(other) => {
                    self.events.push((now, format!("sender: {other:?}")));
                    continue;
                }
                None => break,
            };
            self.carry(To::Receiver, octets);
        }
        loop {
            let octets = match self.receiver.poll_output(now) {
                Some(ReceiverOutput::Transmit(to, octets)) if to == address(1) => octets.to_vec(),
                Some(ReceiverOutput::Transmit(..)) => continue,
                Some(ReceiverOutput::Deliver(octets)) => {
                    self.delivered.push(octets.to_vec());
                    continue;
                }
                Some(other) => {
                    self.events.push((now, format!("receiver: {other:?}")));
                    continue;
                }
                None => break,
            };
            self.carry(To::Sender, octets);
        }
    }

    /// Until `end`, or until nothing is left to do.
    fn run_until(&mut self, end: Instant) {
        for _ in 0..1_000_000 {
            self.drain();
            let timers = [self.sender.poll_timeout(), self.receiver.poll_timeout()];
            let arrival = self.wire.first_key_value().map(|(&(at, _), _)| at);
            let Some(next) = timers.into_iter().chain([arrival]).flatten().min().filter(|&next| next <= end) else {
                self.now = end;
                return;
            };
            self.now = self.now.max(next);
            if arrival.is_some_and(|at| at <= self.now) {
                let (_, (to, octets)) = self.wire.pop_first().expect("there is an arrival");
                match to {
                    To::Sender => self.sender.handle_datagram(&octets, self.now),
                    To::Receiver => self.receiver.handle_datagram(address(1), &octets, self.now),
                }
                continue;
            }
            self.sender.handle_timeout(self.now);
            self.drain();
            self.receiver.handle_timeout(self.now);
        }
        panic!("it never comes to rest: {:?} {:?}", self.sender.poll_timeout(), self.receiver.poll_timeout());
    }

    /// Hands over `count` packets, one each 10 ms from now on.
    fn play(&mut self, first: u16, count: u16) {
        let start = self.now;
        for nth in 0..count {
            self.run_until(start + Duration::from_millis(10) * u64::from(nth));
            self.sender.handle_packet(&packet(first + nth), self.now);
        }
    }

    fn end(&mut self) {
        self.sender.handle_end(self.now);
        self.run_until(self.now + Duration::from_secs(30));
    }

    fn has_event(&self, text: &str) -> bool {
        self.events.iter().any(|(_, event)| event == text)
    }
}

/// Loses each nth datagram towards the receiver, but for the handshake and the close.
fn losing(each: u64) -> impl FnMut(To, u64) -> Option<Duration> {
    move |to, nth| {
        (to == To::Sender || !(20..=450).contains(&nth) || !nth.is_multiple_of(each)).then_some(Duration::ZERO)
    }
}

fn config(variant: Variant) -> SenderConfig {
    SenderConfig { variant, ..SenderConfig::default() }
}

/// A sender with a packet on its own: when it ends, and why. What it transmits goes to `answer`, whose answer comes at once.
fn end_of_attempts(mut answer: impl FnMut(&[u8], Instant) -> Option<Vec<u8>>) -> Vec<(Instant, CloseReason)> {
    let mut sender = Sender::new(SenderConfig::default(), 1, ms(0));
    assert!(sender.handle_packet(&packet(0), ms(0)));
    let mut ends = Vec::new();
    let mut now = ms(0);
    loop {
        while let Some(output) = sender.poll_output(now) {
            match output {
                SenderOutput::Finished(reason) => ends.push((now, reason)),
                SenderOutput::Connected => panic!("{output:?} at {now}"),
                SenderOutput::Lost(_) => {}
                SenderOutput::Transmit(octets) => {
                    if let Some(answer) = answer(octets, now) {
                        sender.handle_datagram(&answer, now);
                    }
                }
            }
        }
        let Some(due) = sender.poll_timeout() else { return ends };
        now = due;
        sender.handle_timeout(now);
    }
}

#[test]
fn a_sender_whom_nobody_answers_gives_up_after_three_minutes() {
    assert_eq!(end_of_attempts(|_, _| None), [(ms(180_000), CloseReason::TimedOut)]);
}

#[test]
fn a_sender_that_is_refused_for_three_minutes_says_so() {
    // Whoever streams keeps others away, as long as there is somebody.
    let refuses_until = |last: u64| {
        let mut busy = Pair::new(config(Variant::Adtfrc), Variant::Adtfrc, |_, _| Some(Duration::ZERO));
        move |request: &[u8], now: Instant| {
            busy.play(0, 1);
            busy.run_until(busy.now + Duration::from_secs(1));
            let at = busy.now;
            busy.receiver.handle_datagram(address(2), request, at);
            let Some(ReceiverOutput::Transmit(to, answer)) = busy.receiver.poll_output(at) else { panic!("an answer") };
            assert_eq!(to, address(2));
            (now <= ms(last)).then(|| answer.to_vec())
        }
    };
    let reason = CloseReason::Reset(ResetCode::TooBusy);
    assert_eq!(end_of_attempts(refuses_until(180_000)), [(ms(180_000), reason)]);
    // Where it falls silent, that is what is told.
    assert_eq!(end_of_attempts(refuses_until(100_000)), [(ms(180_000), CloseReason::TimedOut)]);
}

#[test]
fn all_arrives_in_order_and_both_ends_know_the_end_over_each_pairing() {
    let kinds = [Variant::Adtfrc, Variant::Tfrc];
    let pairings = kinds.into_iter().flat_map(|one| kinds.map(|other| (one, other)));
    for (sender, receiver) in pairings.chain([(Variant::Udp, Variant::Udp)]) {
        let mut pair = Pair::new(config(sender), receiver, |_, _| Some(Duration::ZERO));
        pair.play(0, 300);
        pair.end();
        assert_eq!(sequences(&pair.delivered), (0..300).collect::<Vec<_>>(), "{sender:?} {receiver:?}");
        assert_eq!(pair.delivered[7], packet(7));
        assert!(pair.has_event("sender: Finished(Finished)"), "{:?}", pair.events);
        assert!(pair.has_event("receiver: Finished(10.0.0.1:6000)"), "{:?}", pair.events);
        let (sent, received) = (pair.sender.report(), pair.receiver.report(pair.now));
        assert_eq!((sent.packets_sent, sent.packets_dropped, sent.rejected), (300, 0, 0));
        assert_eq!((received.rejected, received.connections), (0, 1));
        assert_eq!(received.media.packets, Counts { delivered: 300, ..Counts::default() });
        // A live stream over a steady path: the buffer never runs empty before the end.
        assert_eq!(received.media.player.hiccups, 0);
        assert_eq!(pair.sender.poll_timeout(), None);
    }
}

#[test]
fn each_end_reports_the_congestion_control_of_both() {
    for (sender, receiver, both) in [
        (Variant::Adtfrc, Variant::Adtfrc, true),
        (Variant::Adtfrc, Variant::Tfrc, false),
        (Variant::Tfrc, Variant::Adtfrc, false),
    ] {
        let mut pair = Pair::new(config(sender), receiver, |_, _| Some(Duration::ZERO));
        pair.play(0, 200);
        let (sent, received) = (pair.sender.report(), pair.receiver.report(pair.now));
        assert_eq!(sent.state, Some(State::Open));
        assert_eq!(received.peer, Some(address(1)));
        let rtt = sent.rtt.expect("it was measured").as_secs_f64();
        assert!((0.019..0.025).contains(&rtt), "{rtt}");
        assert_eq!(sent.network.is_some(), both, "states need both ends");
        assert_eq!(received.network.is_some(), both);
        assert_eq!(received.sample.is_some(), both);
        // As much as was sent, at least.
        assert!(sent.allowed_rate.is_some_and(|rate| rate > 112.0 * 8.0 * 100.0));
    }
}

#[test]
fn what_is_lost_is_counted_and_the_rest_goes_on() {
    for (variant, each) in [(Variant::Adtfrc, 10), (Variant::Tfrc, 50), (Variant::Udp, 10)] {
        let mut pair = Pair::new(config(variant), variant, losing(each));
        pair.play(0, 500);
        pair.end();
        let counts = pair.receiver.report(pair.now).media.packets;
        assert_eq!(counts.delivered as usize, pair.delivered.len());
        assert_eq!(counts.delivered + counts.lost, 500, "{variant:?}");
        assert!((8..=45).contains(&counts.lost), "{variant:?}: {counts:?}");
        assert!(sequences(&pair.delivered).is_sorted());
    }
}

#[test]
fn correction_gives_back_what_is_lost() {
    let fec = Some(fec::Config::default());
    // At a tenth, the equation would allow TFRC less than the media needs.
    for (variant, each) in [(Variant::Adtfrc, 10), (Variant::Tfrc, 50)] {
        let mut pair = Pair::new(SenderConfig { fec: fec.clone(), ..config(variant) }, variant, losing(each));
        pair.play(0, 500);
        pair.end();
        assert_eq!(sequences(&pair.delivered), (0..500).collect::<Vec<_>>(), "{variant:?}");
        let (sent, received) = (pair.sender.report(), pair.receiver.report(pair.now).media);
        assert!(received.recovered > 5);
        assert_eq!((received.packets.lost, received.malformed), (0, 0));
        // One repair packet for five.
        assert_eq!(sent.repair_packets, 100);
    }
}

#[test]
fn packets_that_overtake_each_other_are_put_in_order() {
    let fate =
        |to, nth: u64| Some(Duration::from_millis(if to == To::Receiver && nth.is_multiple_of(7) { 25 } else { 0 }));
    let mut pair = Pair::new(config(Variant::Adtfrc), Variant::Adtfrc, fate);
    pair.play(0, 300);
    // What comes behind the Close is for nobody.
    pair.run_until(pair.now + Duration::from_millis(100));
    pair.end();
    assert_eq!(sequences(&pair.delivered), (0..300).collect::<Vec<_>>());
}

#[test]
fn a_receiver_that_was_killed_and_comes_back_is_found() {
    for variant in [Variant::Adtfrc, Variant::Tfrc] {
        let mut pair = Pair::new(config(variant), variant, |_, _| Some(Duration::ZERO));
        pair.play(0, 100);
        pair.receiver = Receiver::new(ReceiverConfig { variant, ..ReceiverConfig::default() }, 3, pair.now);
        let killed = pair.now;
        pair.play(100, 200);
        pair.end();
        let back = pair.events.iter().find(|(at, event)| *at > killed && event == "sender: Connected").expect("back").0;
        assert!(back - killed < Duration::from_millis(100), "{variant:?}: {}", back - killed);
        assert!(pair.has_event(&format!("sender: Lost({:?})", CloseReason::Reset(ResetCode::NoConnection))));
        assert!(pair.has_event("sender: Finished(Finished)"));
        let delivered = sequences(&pair.delivered);
        assert!(delivered.len() > 280 && delivered.ends_with(&[297, 298, 299]), "{variant:?}: {}", delivered.len());
    }
}

#[test]
fn a_receiver_that_is_away_for_a_while_is_found_within_seconds() {
    for variant in [Variant::Adtfrc, Variant::Tfrc] {
        // Nothing passes from the hundredth datagram on, until the receiver is back.
        let open = std::rc::Rc::new(std::cell::Cell::new(true));
        let gate = std::rc::Rc::clone(&open);
        let mut pair = Pair::new(config(variant), variant, move |_, _| gate.get().then_some(Duration::ZERO));
        pair.play(0, 100);
        open.set(false);
        pair.play(100, 6000);
        pair.receiver = Receiver::new(ReceiverConfig { variant, ..ReceiverConfig::default() }, 3, pair.now);
        open.set(true);
        let back_at = pair.now;
        pair.play(6100, 800);
        let back = pair.events.iter().find(|(at, event)| *at > back_at && event == "sender: Connected");
        let wait = back.expect("it is found").0 - back_at;
        assert!(wait < Duration::from_secs(5), "{variant:?}: {wait}");
        // What waited meanwhile has gone, what was too much was dropped.
        assert!(pair.sender.report().packets_dropped > 5000);
    }
}

#[test]
fn a_sender_that_was_killed_and_comes_back_is_served() {
    for variant in [Variant::Adtfrc, Variant::Tfrc, Variant::Udp] {
        let mut pair = Pair::new(config(variant), variant, |_, _| Some(Duration::ZERO));
        pair.play(0, 100);
        pair.wire.clear();
        pair.sender = Sender::new(config(variant), 4, pair.now);
        let killed = pair.now;
        pair.play(1000, 800);
        pair.end();
        let delivered = sequences(&pair.delivered);
        assert!(delivered.len() > 250 && delivered.ends_with(&[1799]), "{variant:?}: {}", delivered.len());
        if variant != Variant::Udp {
            let served =
                pair.events.iter().find(|(at, event)| *at > killed && event == "sender: Connected").expect("it is").0;
            assert!(served - killed < Duration::from_secs(8), "{variant:?}: {}", served - killed);
        }
    }
}

#[test]
fn a_stream_that_follows_another_is_watched_too() {
    for variant in [Variant::Adtfrc, Variant::Udp] {
        let mut pair = Pair::new(config(variant), variant, |_, _| Some(Duration::ZERO));
        pair.play(0, 100);
        pair.end();
        let first = pair.receiver.report(pair.now).media.player;
        pair.sender = Sender::new(config(variant), 4, pair.now);
        pair.play(100, 100);
        pair.end();
        let both = pair.receiver.report(pair.now).media.player;
        // From the first packet to the last one of each.
        let length = Duration::from_millis(990);
        assert_eq!((first.played, both.played), (length, length * 2), "{variant:?}");
        // They begin alike: the half minute between them is no wait for the second.
        assert!(both.start_up_delay.is_some_and(|delay| delay < Duration::from_secs(2)), "{variant:?}: {both:?}");
        assert_eq!(both.hiccups, 0, "{variant:?}");
    }
}

#[test]
fn a_stranger_is_refused_while_a_stream_flows_and_served_after_it() {
    let mut pair = Pair::new(config(Variant::Adtfrc), Variant::Adtfrc, |_, _| Some(Duration::ZERO));
    pair.play(0, 50);
    let mut stranger = Sender::new(config(Variant::Tfrc), 9, pair.now);
    let Some(SenderOutput::Transmit(request)) = stranger.poll_output(pair.now) else { panic!("a Request") };
    let request = request.to_vec();
    pair.receiver.handle_datagram(address(2), &request, pair.now);
    let Some(ReceiverOutput::Transmit(to, reset)) = pair.receiver.poll_output(pair.now) else { panic!("a Reset") };
    assert_eq!(to, address(2));
    stranger.handle_datagram(reset, pair.now);
    let refused = SenderOutput::Lost(CloseReason::Reset(ResetCode::TooBusy));
    // It has nothing to send, but may yet get something.
    assert_eq!(stranger.poll_output(pair.now), Some(refused));
    pair.play(50, 50);
    pair.end();
    assert_eq!(pair.delivered.len(), 100);
}

#[test]
fn media_of_a_stranger_that_comes_with_its_handshake_is_nobodys() {
    let mut pair = Pair::new(config(Variant::Adtfrc), Variant::Adtfrc, |_, _| Some(Duration::ZERO));
    // Both ask before either is served.
    let mut stranger = Sender::new(config(Variant::Adtfrc), 9, pair.now);
    stranger.handle_packet(&packet(1_000), pair.now);
    let Some(SenderOutput::Transmit(request)) = stranger.poll_output(pair.now) else { panic!("a Request") };
    let request = request.to_vec();
    pair.receiver.handle_datagram(address(2), &request, pair.now);
    let Some(ReceiverOutput::Transmit(_, response)) = pair.receiver.poll_output(pair.now) else { panic!("a Response") };
    stranger.handle_datagram(response, pair.now);
    pair.play(0, 50);
    let mut acknowledged = Vec::new();
    while let Some(output) = stranger.poll_output(pair.now) {
        if let SenderOutput::Transmit(octets) = output {
            acknowledged.push(octets.to_vec());
        }
    }
    assert!(!acknowledged.is_empty());
    for octets in acknowledged {
        pair.receiver.handle_datagram(address(2), &octets, pair.now);
    }
    pair.play(50, 50);
    pair.end();
    assert_eq!(sequences(&pair.delivered), Vec::from_iter(0..100));
}

#[test]
fn strangers_cannot_make_a_receiver_remember_more_than_1024() {
    let mut receiver = Receiver::new(ReceiverConfig::default(), 1, Instant::START);
    for nth in 0..2000 {
        let mut stranger = Sender::new(SenderConfig::default(), nth, Instant::START);
        let Some(SenderOutput::Transmit(request)) = stranger.poll_output(Instant::START) else { panic!("a Request") };
        receiver.handle_datagram(SocketAddr::from(([10, 0, 1, 1], nth as u16)), request, Instant::START);
        while receiver.poll_output(Instant::START).is_some() {}
        assert!(receiver.half_open() <= 1024);
    }
    assert!(!receiver.is_serving());
}

#[test]
fn requests_of_invented_senders_keep_nobody_out() {
    // 20 000 a second during a handshake of 50 ms.
    let mut receiver = Receiver::new(ReceiverConfig::default(), 1, Instant::START);
    let mut sender = Sender::new(SenderConfig::default(), 1, Instant::START);
    let Some(SenderOutput::Transmit(request)) = sender.poll_output(Instant::START) else { panic!("a Request") };
    let request = request.to_vec();
    receiver.handle_datagram(address(1), &request, Instant::START);
    let Some(ReceiverOutput::Transmit(_, response)) = receiver.poll_output(Instant::START) else {
        panic!("a Response")
    };
    let response = response.to_vec();
    for nth in 0..1000 {
        let invented = SocketAddr::from(([10, 0, 1, 1], nth));
        receiver.handle_datagram(invented, &request, Instant::START);
        while receiver.poll_output(Instant::START).is_some() {}
    }
    let now = Instant::START + Duration::from_millis(50);
    sender.handle_datagram(&response, now);
    while let Some(output) = sender.poll_output(now) {
        if let SenderOutput::Transmit(octets) = output {
            receiver.handle_datagram(address(1), octets, now);
        }
    }
    assert!(receiver.is_serving());
}

#[test]
fn a_packet_without_a_connection_draws_few_resets() {
    let mut receiver = Receiver::new(ReceiverConfig::default(), 1, Instant::START);
    let mut peer = Pair::new(SenderConfig::default(), Variant::Adtfrc, |_, _| Some(Duration::ZERO));
    peer.play(0, 20);
    peer.sender.handle_packet(&packet(20), peer.now);
    let Some(SenderOutput::Transmit(data)) = peer.sender.poll_output(peer.now) else { panic!("data") };
    let mut resets = 0;
    for _ in 0..100 {
        receiver.handle_datagram(address(1), data, ms(5));
        while receiver.poll_output(ms(5)).is_some() {
            resets += 1;
        }
    }
    assert_eq!(resets, 8);
    assert_eq!(receiver.report(ms(5)).rejected, 100);
}

#[test]
fn media_that_is_too_old_is_dropped_rather_than_sent() {
    let patience = Some(Duration::from_millis(200));
    let mut pair = Pair::new(SenderConfig { patience, ..config(Variant::Adtfrc) }, Variant::Adtfrc, |_, _| None);
    pair.play(0, 100);
    let report = pair.sender.report();
    // Nobody answers: those of the last 200 ms wait.
    assert_eq!((report.waiting, report.packets_dropped, report.packets_sent), (20, 80, 0));
}

#[test]
fn a_stream_whose_last_packets_become_too_old_ends_all_the_same() {
    // The first packets of a connection leave a second apart (RFC 5348, section 4.2): the last ones wait for longer than they are
    // of use.
    for count in 2..30 {
        let patience = Some(Duration::from_millis(300));
        let sender = SenderConfig { patience, ..config(Variant::Adtfrc) };
        let mut pair = Pair::new(sender, Variant::Adtfrc, |_, _| Some(Duration::from_millis(90)));
        for nth in 0..count {
            pair.sender.handle_packet(&packet(nth), pair.now);
        }
        pair.end();
        assert!(pair.has_event("sender: Finished(Finished)"), "{count}: {:?}", pair.events);
        let report = pair.sender.report();
        assert_eq!(report.packets_sent + report.packets_dropped, u64::from(count));
    }
}

#[test]
fn a_patience_beyond_the_end_of_time_is_one_without_end() {
    let patience = Some(Duration::MAX);
    let mut sender = Sender::new(SenderConfig { patience, ..SenderConfig::default() }, 1, ms(5));
    assert!(sender.handle_packet(&packet(0), ms(5)));
    while sender.poll_output(ms(5)).is_some() {}
    sender.handle_timeout(ms(9000));
    assert_eq!((sender.report().waiting, sender.report().packets_dropped), (1, 0));
}

#[test]
fn what_cannot_be_carried_is_dropped() {
    let mut sender = Sender::new(config(Variant::Adtfrc), 1, Instant::START);
    assert!(!sender.handle_packet(&[], Instant::START));
    assert!(!sender.handle_packet(&vec![0x80; 64_001], Instant::START));
    assert!(sender.handle_packet(&rtcp::goodbye(7), Instant::START));
    while sender.room() > 0 {
        assert!(sender.handle_packet(&packet(1), Instant::START));
    }
    assert!(!sender.handle_packet(&packet(1), Instant::START));
    assert_eq!(sender.report().packets_dropped, 3);
}

#[test]
fn a_stop_closes_at_once_and_delivers_nothing_more() {
    let mut pair = Pair::new(config(Variant::Adtfrc), Variant::Adtfrc, |_, _| Some(Duration::ZERO));
    pair.play(0, 50);
    pair.sender.handle_stop(pair.now);
    pair.run_until(pair.now + Duration::from_secs(1));
    assert!(pair.has_event("sender: Finished(Finished)"), "{:?}", pair.events);
    assert!(pair.has_event("receiver: Finished(10.0.0.1:6000)"));
    // The receiver closes: its sender is told, and tries again.
    let mut pair = Pair::new(config(Variant::Tfrc), Variant::Tfrc, |_, _| Some(Duration::ZERO));
    pair.play(0, 50);
    pair.receiver.handle_stop(pair.now);
    pair.run_until(pair.now + Duration::from_millis(100));
    assert!(pair.has_event("sender: Lost(Finished)"), "{:?}", pair.events);
}

#[test]
fn nothing_to_send_is_an_end_too() {
    for variant in [Variant::Adtfrc, Variant::Udp] {
        let mut pair = Pair::new(config(variant), variant, |_, _| Some(Duration::ZERO));
        pair.sender.handle_end(pair.now);
        pair.run_until(ms(1000));
        assert!(pair.has_event("sender: Finished(Finished)"), "{variant:?}: {:?}", pair.events);
    }
}

/// Ends that speak RTP, with rates for which a packet of [`packet`] each 10 ms is little.
fn over_rtp(
    congestion: Congestion,
    format: Option<Format>,
    fate: impl FnMut(To, u64) -> Option<Duration> + 'static,
) -> Pair {
    let rate = RateControl { min_rate: 500_000, max_rate: 5_000_000, ..RateControl::new(congestion, format) };
    Pair::new(SenderConfig { rate, ..config(Variant::Rtp) }, Variant::Rtp, fate)
}

#[test]
fn media_goes_over_rtp_with_its_times_under_each_congestion_control() {
    for congestion in Congestion::ALL {
        for format in [Format::Ccfb, Format::Twcc] {
            let mut pair = over_rtp(congestion, Some(format), |_, _| Some(Duration::ZERO));
            pair.play(0, 200);
            let (sent, received) = (pair.sender.report(), pair.receiver.report(pair.now));
            pair.end();
            let case = format!("{congestion:?} {format:?}");
            assert!(pair.has_event("sender: Connected") && pair.has_event("sender: Finished(Finished)"), "{case}");
            assert_eq!(pair.delivered.len(), 200, "{case}");
            for (nth, octets) in (0_u32..).zip(&pair.delivered) {
                let view = rtp::Packet::new_checked(&octets[..]).expect("RTP");
                assert_eq!((view.timestamp(), view.payload_type(), view.marker()), (nth * 900, 33, false), "{case}");
                assert_eq!(view.payload(), &packet(nth as u16)[12..], "{case}");
                let number = view.extension().and_then(|extension| extension.transport_wide_number());
                assert_eq!(number.is_some(), format == Format::Twcc, "{case}");
            }
            assert_eq!(received.format, Some(format), "it finds the format by itself");
            let reported = sent.reported.expect("over RTP");
            assert_eq!((reported.congestion, reported.lost), (congestion.name(), 0), "{case}");
            // All but what the last report came too early for: 250 ms and two delays at most.
            assert!(reported.arrived >= 200 - 27, "{case}: {reported:?}");
            let rtt = sent.rtt.expect("measured").as_secs_f64();
            // Transport-wide feedback does not tell for how long it was held back.
            let most = if format == Format::Twcc { 0.27 } else { 0.022 };
            assert!((0.019..most).contains(&rtt), "{case}: {rtt}");
        }
    }
}

#[test]
fn losses_over_rtp_are_told_and_counted() {
    let mut pair =
        over_rtp(Congestion::Scream, None, |to, nth| (to == To::Sender || nth != 50).then_some(Duration::ZERO));
    pair.play(0, 150);
    let reported = pair.sender.report().reported.expect("over RTP");
    assert_eq!(reported.lost, 1);
    pair.end();
    assert_eq!(sequences(&pair.delivered).len(), 149);
    assert_eq!(pair.receiver.report(pair.now).media.packets.lost, 1);
}

/// One datagram of ten is lost both ways. What is sent again has its place and its header as if it had not been lost.
#[test]
fn what_is_lost_over_rtp_is_sent_again_if_both_ends_want_that() {
    let lifetime = Some(Duration::from_millis(300));
    for (format, sends, asks) in [
        (Format::Ccfb, lifetime, lifetime),
        (Format::Twcc, lifetime, lifetime),
        (Format::Ccfb, lifetime, None),
        (Format::Twcc, None, lifetime),
    ] {
        let fate = |_, nth: u64| (!(20..=200).contains(&nth) || !nth.is_multiple_of(10)).then_some(Duration::ZERO);
        let rate = RateControl {
            min_rate: 500_000,
            max_rate: 5_000_000,
            retransmission: sends,
            ..RateControl::new(Congestion::None, Some(format))
        };
        let mut pair = Pair::new(SenderConfig { rate, ..config(Variant::Rtp) }, Variant::Rtp, fate);
        let receiver = ReceiverConfig { variant: Variant::Rtp, retransmission: asks, ..ReceiverConfig::default() };
        pair.receiver = Receiver::new(receiver, 2, pair.now);
        pair.play(0, 300);
        let retransmitted = pair.sender.report().reported.expect("over RTP").retransmitted;
        pair.end();
        let case = format!("{format:?} {sends:?} {asks:?}");
        if sends.is_none() || asks.is_none() {
            assert_eq!((retransmitted, pair.delivered.len()), (0, 300 - 19), "{case}");
            continue;
        }
        assert!((15..=25).contains(&retransmitted), "{case}: {retransmitted}");
        assert_eq!(pair.delivered.len(), 300, "{case}");
        for (nth, octets) in (0_u32..).zip(&pair.delivered) {
            let view = rtp::Packet::new_checked(&octets[..]).expect("RTP");
            assert_eq!((view.timestamp(), view.payload_type(), view.marker()), (nth * 900, 33, false), "{case}");
            assert_eq!(view.payload(), &packet(nth as u16)[12..], "{case}");
        }
        assert_eq!(pair.receiver.report(pair.now).media.packets.lost, 0, "{case}");
    }
}

/// The last packet but one is lost. The sender says goodbye once a report shows that it has arrived: here it is asked for 10 ms after the last
/// packet has left, is sent again after 20 ms, and is reported after 40 ms more.
#[test]
fn what_is_lost_at_the_end_over_rtp_is_sent_again() {
    for (lifetime, delivered, lasts) in
        [(None, 29, 290), (Some(Duration::from_millis(300)), 30, 290 + 20 + 10 + 40 + 10)]
    {
        let rate = RateControl { retransmission: lifetime, ..RateControl::new(Congestion::None, Some(Format::Ccfb)) };
        let fate = |to, nth| (to == To::Sender || nth != 29).then_some(Duration::ZERO);
        let mut pair = Pair::new(SenderConfig { rate, ..config(Variant::Rtp) }, Variant::Rtp, fate);
        let receiver = ReceiverConfig { variant: Variant::Rtp, retransmission: lifetime, ..ReceiverConfig::default() };
        pair.receiver = Receiver::new(receiver, 2, pair.now);
        pair.play(0, 30);
        pair.end();
        assert_eq!(sequences(&pair.delivered).len(), delivered);
        let closed = pair.events.iter().find(|(_, event)| event.starts_with("receiver: Finished"));
        assert_eq!(closed.expect("a goodbye").0, ms(lasts) + DELAY);
    }
}

/// Padding of probes has the source of packets that are sent again. It is reported, and is no other media.
#[test]
fn padding_over_rtp_is_reported_by_a_receiver_that_asks_for_nothing() {
    let rate = RateControl {
        retransmission: Some(Duration::from_millis(300)),
        ..RateControl::new(Congestion::Gcc, Some(Format::Twcc))
    };
    let mut pair = Pair::new(SenderConfig { rate, ..config(Variant::Rtp) }, Variant::Rtp, |_, _| Some(Duration::ZERO));
    pair.play(0, 300);
    let reported = pair.sender.report().reported.expect("over RTP");
    assert_eq!(reported.lost, 0);
    assert!(reported.arrived > 300, "{reported:?}");
    pair.end();
    let packets = pair.receiver.report(pair.now).media.packets;
    assert_eq!((pair.delivered.len(), packets), (300, Counts { delivered: 300, ..Counts::default() }));
}

/// One packet of ten is lost, and each takes 10 ms one way.
#[test]
fn receiver_reports_tell_the_sender_of_losses_and_of_the_round_trip() {
    for format in [Format::Ccfb, Format::Twcc] {
        let fate = |to, nth: u64| (to == To::Sender || !nth.is_multiple_of(10)).then_some(Duration::ZERO);
        let mut pair = over_rtp(Congestion::None, Some(format), fate);
        pair.play(0, 2000);
        let reception = pair.sender.report().reception.expect("reports have come");
        assert!((reception.fraction_lost - 0.1).abs() < 0.01, "{reception:?}");
        // Those of the last six seconds may not be told yet.
        assert!((130..=200).contains(&reception.lost), "{reception:?}");
        assert!(reception.jitter < Duration::from_millis(1), "{reception:?}");
        let rtt = reception.rtt.expect("an answer to a sender report").as_secs_f64();
        assert!((rtt - 2.0 * DELAY.as_secs_f64()).abs() < 1e-4, "{rtt}");
        pair.end();
    }
}

/// A peer that tells nothing but receiver reports is heard.
#[test]
fn a_receiver_that_sends_only_receiver_reports_is_connected() {
    let rate = RateControl::new(Congestion::None, None);
    let mut sender = Sender::new(SenderConfig { rate, ..config(Variant::Rtp) }, 1, ms(0));
    sender.handle_packet(&packet(0), ms(0));
    let Some(SenderOutput::Transmit(octets)) = sender.poll_output(ms(0)) else { panic!("media is sent") };
    let source = rtp::Packet::new_checked(octets).expect("RTP").source();
    let block = Block { source, fraction_lost: 64, ..Block::default() };
    let answer = |block| {
        let report = Report { source: 9, sent: None, blocks: vec![block] };
        let mut octets = vec![0; report.buffer_len("peer")];
        report.emit("peer", &mut octets);
        octets
    };
    sender.handle_datagram(&answer(Block { source: source ^ 1, ..block }), ms(10));
    assert_eq!((sender.report().rejected, sender.report().reception), (1, None));
    sender.handle_datagram(&answer(block), ms(20));
    assert_eq!(sender.poll_output(ms(20)), Some(SenderOutput::Connected));
    let reception = sender.report().reception.expect("it was told");
    assert_eq!((reception.fraction_lost, reception.rtt, sender.report().rtt), (0.25, None, None));
}

#[test]
fn a_receiver_of_rtp_that_is_silent_for_ten_seconds_is_told_and_so_is_its_return() {
    for congestion in [Congestion::Gcc, Congestion::Nada, Congestion::Scream, Congestion::Adtfrc] {
        let mut pair = over_rtp(congestion, None, |_, _| Some(Duration::ZERO));
        pair.play(0, 100);
        pair.fate = Box::new(|_, _| None);
        pair.play(100, 1300);
        assert!(pair.has_event("sender: Lost(TimedOut)"), "{congestion:?}: {:?}", pair.events);
        pair.fate = Box::new(|_, _| Some(Duration::ZERO));
        pair.events.clear();
        pair.play(1400, 500);
        assert!(pair.has_event("sender: Connected"), "{congestion:?}: {:?}", pair.events);
        assert_eq!(pair.sender.report().connections, 2);
        pair.end();
        let last = pair.delivered.last().expect("media");
        let last = rtp::Packet::new_checked(&last[..]).expect("RTP").timestamp();
        assert_eq!(last, 1899 * 900, "{congestion:?}");
    }
}

#[test]
fn media_over_rtp_that_waits_too_long_is_dropped() {
    let rate = RateControl { min_rate: 50_000, ..RateControl::new(Congestion::Tfrc, None) };
    let patience = Some(Duration::from_millis(100));
    let sender = SenderConfig { rate, patience, ..config(Variant::Rtp) };
    // TFRC begins with a packet a second; 100 packets of 112 bytes come at once.
    let mut pair = Pair::new(sender, Variant::Rtp, |_, _| None);
    (0..100).for_each(|nth| _ = pair.sender.handle_packet(&packet(nth), pair.now));
    pair.run_until(ms(3000));
    let report = pair.sender.report();
    assert_eq!(report.waiting, 0);
    assert_eq!(report.packets_dropped + report.packets_sent, 100);
    assert!(report.packets_dropped > 50, "{report:?}");
}

#[test]
fn one_source_at_a_time_and_no_rtcp_goes_over_rtp() {
    let mut pair = over_rtp(Congestion::None, None, |_, _| Some(Duration::ZERO));
    let mut other = packet(1);
    other[11] = 9;
    assert!(pair.sender.handle_packet(&packet(0), ms(0)));
    assert!(!pair.sender.handle_packet(&other, ms(10)), "while the first is heard");
    assert!(!pair.sender.handle_packet(&rtcp::goodbye(77), ms(10)));
    assert!(pair.sender.handle_packet(&other, ms(3001)));
    assert!(!pair.sender.handle_packet(&packet(2), ms(3002)));
    let report = pair.sender.report();
    assert_eq!((report.packets_offered, report.packets_dropped), (4, 2));
}

#[test]
fn a_file_is_taken_at_the_target_rate_of_rtp() {
    let rate = RateControl {
        max_rate: 1_000_000,
        burst: Duration::from_millis(2),
        ..RateControl::new(Congestion::None, None)
    };
    let mut sender = Sender::new(SenderConfig { rate, ..config(Variant::Rtp) }, 1, ms(0));
    let mut taken = 0;
    for micros in 0..1_000_000 {
        let now = Instant::START + Duration::from_micros(micros);
        while sender.takes_at(now).is_some_and(|at| at <= now) {
            sender.handle_packet(&packet(taken), now);
            taken += 1;
        }
        while sender.poll_output(now).is_some() {}
    }
    // 1 Mb/s in 100 bytes of payload each, and 2 ms ahead.
    assert!((1250..=1254).contains(&taken), "{taken}");
}

#[test]
fn marks_are_told_to_the_sender() {
    let rate = RateControl { ecn: true, ..RateControl::new(Congestion::Scream, None) };
    let mut sender = Sender::new(SenderConfig { rate, ..config(Variant::Rtp) }, 1, ms(0));
    assert_eq!(sender.ecn(), Ecn::Ect1);
    let mut receiver = Receiver::new(ReceiverConfig { variant: Variant::Rtp, ..ReceiverConfig::default() }, 2, ms(0));
    sender.handle_packet(&packet(0), ms(1));
    let Some(SenderOutput::Transmit(octets)) = sender.poll_output(ms(1)) else { panic!("a packet") };
    receiver.handle_marked(address(1), Ecn::Ce, octets, ms(11));
    receiver.handle_timeout(receiver.poll_timeout().expect("a report is due"));
    let mut reports = 0;
    while let Some(output) = receiver.poll_output(ms(60)) {
        if let ReceiverOutput::Transmit(_, octets) = output {
            sender.handle_datagram(octets, ms(61));
            reports += 1;
        }
    }
    assert_eq!((reports, sender.report().reported.expect("over RTP").marked), (1, 1));
}

#[test]
fn a_jitter_buffer_takes_the_place_of_the_playout_buffer_over_each_variant() {
    for variant in [Variant::Rtp, Variant::Udp, Variant::Tfrc] {
        // Each fifth packet takes 40 ms longer.
        let late = |to, nth: u64| {
            Some(if to == To::Receiver && nth.is_multiple_of(5) { Duration::from_millis(40) } else { Duration::ZERO })
        };
        // Without padding, which would be late as well.
        let rate = RateControl { min_rate: 500_000, ..RateControl::new(Congestion::Nada, None) };
        let mut pair = Pair::new(SenderConfig { rate, ..config(variant) }, variant, late);
        let jitter = Some(JitterBufferConfig::Fixed { delay: Duration::from_millis(100) });
        pair.receiver = Receiver::new(ReceiverConfig { variant, jitter, ..ReceiverConfig::default() }, 2, pair.now);
        pair.play(0, 100);
        pair.run_until(pair.now + Duration::from_millis(500));
        let report = pair.receiver.report(pair.now);
        let frames = report.media.frames.expect("there is a jitter buffer");
        assert_eq!((frames.on_time, frames.late, frames.lost), (100, 0, 0), "{variant:?}");
        let stamps: Vec<u32> =
            pair.delivered.iter().map(|octets| rtp::Packet::new_unchecked(&octets[..]).timestamp()).collect();
        assert_eq!(stamps, (0..100).map(|nth| nth * 900).collect::<Vec<_>>(), "{variant:?}");
        assert_eq!(report.media.player.hiccups, 0, "{variant:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn garbage_is_counted_and_ignored(datagrams in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..80), 1..50)) {
        for variant in [Variant::Adtfrc, Variant::Udp] {
            let mut pair = Pair::new(config(variant), variant, |_, _| Some(Duration::ZERO));
            pair.play(0, 10);
            for datagram in &datagrams {
                pair.receiver.handle_datagram(address(9), datagram, pair.now);
                pair.sender.handle_datagram(datagram, pair.now);
                pair.drain();
            }
            pair.play(10, 10);
            pair.end();
            prop_assert_eq!(sequences(&pair.delivered), (0..20).collect::<Vec<_>>());
        }
    }

    /// Requests, as they are, without options and changed, from 40 invented addresses: with a key, the receiver sends nothing;
    /// without one, no more than twice what it got, headers of IPv4 and UDP included.
    #[test]
    fn strangers_get_no_more_bytes_than_they_send(
        changes in prop::collection::vec((0_u16..40, 0_usize..60, any::<u8>(), any::<bool>()), 1..200),
        is_sealed: bool,
    ) {
        const HEADERS: usize = 28;
        let epoch = || Epoch::draw().expect("the system has randomness");
        let sealing = is_sealed.then(|| Sealing {
            keys: Keys::one([7; 32]),
            epoch: epoch(),
            randomness: Randomness::Platform,
        });
        let mut receiver = Receiver::new(ReceiverConfig { sealing, ..ReceiverConfig::default() }, 1, Instant::START);
        let mut sender = Sender::new(SenderConfig::default(), 1, Instant::START);
        let Some(SenderOutput::Transmit(request)) = sender.poll_output(Instant::START) else { panic!("a Request") };
        let request = request.to_vec();
        let (mut came, mut went) = (0, 0);
        for (nth, (port, place, octet, is_changed)) in changes.into_iter().enumerate() {
            let now = ms(nth as u64);
            receiver.handle_timeout(now);
            let mut octets = request.clone();
            if place < 10 {
                // The header and the service code alone (RFC 4340, section 5.2): five words.
                octets.truncate(20);
                octets[4] = 5;
            }
            if is_changed && let Some(place) = octets.get_mut(place) {
                *place = octet;
            }
            came += HEADERS + octets.len();
            receiver.handle_datagram(SocketAddr::from(([10, 0, 1, 1], port)), &octets, now);
            while let Some(output) = receiver.poll_output(now) {
                if let ReceiverOutput::Transmit(_, octets) = output {
                    went += HEADERS + octets.len();
                }
            }
        }
        let most = if is_sealed { 0 } else { 2 * came };
        prop_assert!(went <= most, "{} bytes for {}", went, came);
    }

    /// An invented address gets no more than was sent in its name, whatever the packets' numbers say.
    #[test]
    fn reports_over_rtp_are_no_longer_than_what_came(
        packets in prop::collection::vec((any::<u16>(), 0_u16..3, 0_u64..60, any::<bool>()), 1..200),
    ) {
        const HEADERS: usize = 28;
        let config = ReceiverConfig { variant: Variant::Rtp, ..ReceiverConfig::default() };
        let mut receiver = Receiver::new(config, 1, Instant::START);
        let (mut came, mut went, mut at, mut number) = (0, 0, 0, 0_u16);
        for (jump, step, wait, is_far) in packets {
            at += wait;
            number = number.wrapping_add(if is_far { jump % 700 } else { step });
            let octets = &packet(number)[..12];
            came += HEADERS + octets.len();
            receiver.handle_datagram(address(1), octets, ms(at));
            receiver.handle_timeout(ms(at));
            while let Some(output) = receiver.poll_output(ms(at)) {
                if let ReceiverOutput::Transmit(_, octets) = output {
                    went += HEADERS + octets.len();
                }
            }
            prop_assert!(went <= came, "{} bytes for {}", went, came);
        }
    }

    /// Reports of anything never panic, and a sender goes on.
    #[test]
    fn arbitrary_reports_never_panic(reports in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..64), 1..40), format in 0_u8..2) {
        let format = [Format::Ccfb, Format::Twcc][usize::from(format)];
        let mut pair = over_rtp(Congestion::Gcc, Some(format), |_, _| Some(Duration::ZERO));
        pair.play(0, 20);
        for mut report in reports {
            if report.len() > 3 {
                (report[0], report[1]) = (0x80 | report[0] & 0x1f, 205);
                (report[2], report[3]) = (0, (report.len() / 4 - 1) as u8);
            }
            pair.sender.handle_datagram(&report, pair.now);
        }
        pair.play(20, 20);
        pair.end();
        prop_assert!(pair.has_event("sender: Finished(Finished)"));
    }

    /// Bytes of real packets, changed at will: nothing panics, and the stream comes to its end or is taken up again.
    #[test]
    fn damaged_packets_never_panic(damage in prop::collection::vec((0_usize..60, any::<u8>()), 1..40), seed in any::<u64>()) {
        let mut pair = Pair::new(config(Variant::Adtfrc), Variant::Adtfrc, |_, _| Some(Duration::ZERO));
        let mut state = seed;
        for (nth, (place, octet)) in damage.into_iter().enumerate() {
            pair.play(10 * nth as u16, 3);
            for (_, octets) in pair.wire.values_mut() {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                if state >> 62 == 0 && let Some(place) = octets.get_mut(place) {
                    *place = octet;
                }
            }
        }
        pair.run_until(pair.now + Duration::from_secs(1));
        prop_assert!(pair.receiver.half_open() <= 1024);
    }
}

/// Two ends with a key, at a wire with this fate.
fn sealed_pair(variant: Variant, fate: impl FnMut(To, u64) -> Option<Duration> + 'static) -> Pair {
    let mut pair = Pair::new(SenderConfig { sealing: sealing(1), ..config(variant) }, variant, fate);
    pair.receiver = sealed_receiver(variant, 2, pair.now);
    pair
}

/// The network's key, and epoch and secrets of one life.
fn sealing(life: u8) -> Option<Sealing> {
    let (keys, epoch) = (Keys::one([7; 32]), Epoch([life; 16]));
    Some(Sealing { keys, epoch, randomness: Randomness::Counted(u64::from(life) << 8) })
}

fn sealed_receiver(variant: Variant, life: u8, now: Instant) -> Receiver {
    Receiver::new(ReceiverConfig { variant, sealing: sealing(life), ..ReceiverConfig::default() }, 2, now)
}

const ALL: [Variant; 4] = [Variant::Adtfrc, Variant::Tfrc, Variant::Udp, Variant::Rtp];

#[test]
fn with_a_key_all_arrives_in_order_over_each_variant() {
    for variant in ALL {
        let mut pair = sealed_pair(variant, |_, _| Some(Duration::ZERO));
        pair.play(0, 300);
        pair.end();
        // A session of RTP writes the header.
        let first = |octets: &Vec<u8>| rtp::Packet::new_checked(&octets[..]).expect("RTP").payload()[0];
        let payloads: Vec<u8> = pair.delivered.iter().map(first).collect();
        assert_eq!(payloads, (0..300).map(|nth| nth as u8).collect::<Vec<_>>(), "{variant:?}");
        assert!(pair.has_event("sender: Finished(Finished)"), "{variant:?}: {:?}", pair.events);
        assert!(pair.has_event("receiver: Finished(10.0.0.1:6000)"), "{:?}", pair.events);
        let (sent, received) = (pair.sender.report(), pair.receiver.report(pair.now));
        assert_eq!((sent.packets_sent, sent.packets_dropped, sent.rejected), (300, 0, 0), "{variant:?}");
        // The first message of the handshake, and what follows it, come from a sender that is not known yet.
        assert_eq!((received.rejected, received.connections), (1, 1), "{variant:?}");
        assert_eq!(pair.sender.poll_timeout(), None);
    }
}

#[test]
fn with_a_key_handshakes_that_are_lost_hold_the_stream_up_and_lose_nothing() {
    for variant in ALL {
        // Each of the first six datagrams either way is lost every other time.
        let mut pair = sealed_pair(variant, |_, nth| (nth > 6 || nth.is_multiple_of(2)).then_some(Duration::ZERO));
        pair.play(0, 300);
        pair.end();
        // What has no room while the handshake lasts is dropped, and counted; of the rest, what the wire loses is lost.
        let dropped = pair.sender.report().packets_dropped as usize;
        let lost = 300 - dropped - pair.delivered.len();
        assert!(lost <= 2 && dropped < 200, "{variant:?}: {lost} lost, {dropped} dropped");
    }
}

#[test]
fn with_a_key_a_receiver_that_was_killed_is_found_and_a_sender_that_was_killed_is_served() {
    /// Plays on until something is delivered; the time until then.
    fn until_delivered(pair: &mut Pair, nth: &mut u16) -> Duration {
        let (before, since) = (pair.delivered.len(), pair.now);
        while pair.delivered.len() == before {
            pair.play(*nth, 1);
            *nth += 1;
            pair.run_until(pair.now + Duration::from_millis(10));
            assert!(pair.now < since + Duration::from_secs(10), "{:?}", pair.events);
        }
        pair.now.saturating_since(since)
    }
    for variant in ALL {
        let mut pair = sealed_pair(variant, |_, _| Some(Duration::ZERO));
        pair.play(0, 100);
        pair.receiver = sealed_receiver(variant, 3, pair.now);
        let mut nth = 100;
        let found = until_delivered(&mut pair, &mut nth);
        assert!(found <= Duration::from_millis(3200), "{variant:?} after {found}");
        pair.sender = Sender::new(SenderConfig { sealing: sealing(4), ..config(variant) }, 4, pair.now);
        let served = until_delivered(&mut pair, &mut nth);
        // The receiver waits 3 s for the old one.
        assert!(served <= Duration::from_millis(5500), "{variant:?} after {served}");
    }
}

#[test]
fn with_a_key_and_no_receiver_a_sender_over_udp_gives_up_after_three_minutes() {
    for variant in [Variant::Udp, Variant::Rtp] {
        let mut pair = sealed_pair(variant, |_, _| None);
        pair.play(0, 1);
        pair.sender.handle_end(pair.now);
        pair.run_until(ms(179_999));
        assert_eq!(pair.events, []);
        pair.run_until(ms(180_000));
        assert_eq!(pair.events, [(ms(180_000), "sender: Finished(TimedOut)".to_owned())]);
        assert!(pair.towards[To::Receiver as usize] < 100, "{:?}", pair.towards);
        let mut pair = sealed_pair(variant, |_, _| None);
        pair.play(0, 5);
        pair.sender.handle_stop(pair.now);
        pair.run_until(ms(1000));
        assert_eq!(pair.events, [(ms(40), "sender: Finished(Aborted)".to_owned())], "nobody is there to tell");
    }
}

#[test]
fn with_a_key_keys_change_while_the_stream_goes_on() {
    for variant in [Variant::Adtfrc, Variant::Udp] {
        let mut pair = sealed_pair(variant, |_, _| Some(Duration::ZERO));
        for second in 0..130_u16 {
            pair.play(second, 1);
            pair.run_until(ms(1000 * (u64::from(second) + 1)));
        }
        pair.end();
        assert_eq!(pair.delivered.len(), 130, "{variant:?}");
        let sealed = pair.sender.report().sealing.expect("there is a key");
        assert_eq!((sealed.unauthentic, sealed.replayed, sealed.unproven), (0, 0, 0), "{variant:?}");
    }
}

/// Without secrets of sessions a holder of the key reads handshakes alone (`key/session.rs`): media is in no other datagrams than those
/// of sessions.
#[test]
fn with_a_key_all_media_is_sealed_in_sessions() {
    for variant in ALL {
        let mut pair = sealed_pair(variant, |_, _| Some(Duration::ZERO));
        let mut recording = Vec::new();
        for nth in 0..100 {
            pair.play(nth, 1);
            pair.drain();
            recording.extend(pair.wire.values().map(|(_, octets)| octets.clone()));
            pair.run_until(pair.now + Duration::from_millis(10));
        }
        let (sessions, others): (Vec<_>, Vec<_>) = recording.into_iter().partition(|octets| octets[0] == 0x20);
        assert!(sessions.iter().filter(|octets| octets.len() > 112).count() >= 95, "{variant:?}");
        // As long as a message of a handshake; a packet has 112 bytes.
        assert!(others.iter().all(|octets| octets.len() <= 90), "{variant:?}");
    }
}
