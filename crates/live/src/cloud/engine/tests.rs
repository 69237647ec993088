//! Devices in a virtual network: links of a rate and a delay, and real files.

use std::collections::BinaryHeap;
use std::fs;

use hopcast_protocols::streaming::admission::{Estimator, Policy};
use hopcast_protocols::streaming::profile;
use proptest::prelude::*;
use tempfile::TempDir;

use super::super::clips::open_all;
use super::*;
use crate::key::{EPOCH_LEN, Epoch, Guard, Identity, KEY_LEN, Keys, Members, Purpose};

/// Rate of each link in b/s, and its delay.
const RATE: f64 = 20e6;
const DELAY: Duration = Duration::from_millis(1);

/// A datagram on its way, the earliest first.
type Flight = std::cmp::Reverse<(u64, usize, usize, Vec<u8>)>;

/// Devices, of which some hear each other.
struct Net {
    engines: Vec<Option<Engine>>,
    links: Vec<(usize, usize)>,
    /// When each link, by its two ends, is free again.
    free: BTreeMap<(usize, usize), Instant>,
    flights: BinaryHeap<Flight>,
    now: Instant,
    /// The media that each device's first play has brought.
    media: Vec<Vec<u8>>,
    /// All datagrams that were sent, by sender.
    sent: Vec<(usize, Vec<u8>)>,
    folder: TempDir,
}

fn address(node: usize) -> Ipv4Addr {
    Ipv4Addr::new(10, 0, 0, node as u8 + 1)
}

fn config(policy: Policy) -> device::Config {
    let second = Duration::from_secs(1);
    device::Config {
        rules: reservation::Rules {
            policy,
            estimator: Estimator::Bootstrap,
            nominal_rate: 25e6,
            max_airtime: 0.85,
            stalls_per_hour: 0.1,
            pace: 1.5,
            refresh: second * 5,
            expiry: second * 15,
            repeat: second,
        },
        prefetch: None,
        slack: Duration::ZERO,
        sensing_hops: 2,
        measurement: second,
        profile: profile::Config::default(),
        gap: Duration::ZERO,
        shortening: None,
        schedule: None,
        adaptation: None,
        cache: None,
        batch: 1,
    }
}

fn sealed(node: usize, key: u8) -> Envelope {
    let guard =
        Guard::new(&Keys::one([key; KEY_LEN]), Purpose::Cloud, Epoch([node as u8 + 1; EPOCH_LEN]), Instant::START);
    Envelope::new(address(node), Some(guard))
}

/// Bytes that are no pattern of packets.
fn bytes(count: usize) -> Vec<u8> {
    let mut state = 1_u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    (0..count).map(|_| next()).collect()
}

impl Net {
    /// Devices with these links, with one clip of `media` at `rate` at the last one.
    fn new(count: usize, links: &[(usize, usize)], policy: Policy, rate: &str, media: &[u8]) -> Self {
        let folder = tempfile::tempdir().expect("there is room");
        let path = folder.path().join("film.bin");
        fs::write(&path, media).expect("there is room");
        let engines = (0..count).map(|node| {
            let offers = if node + 1 == count { vec![format!("{rate}={}", path.display())] } else { vec![] };
            let clips = open_all(&offers, &|| false).expect("it is there");
            let options = Options { me: address(node), config: config(policy), link_rate: None, clips, seed: 1 };
            Some(Engine::new(options, sealed(node, 9), Instant::START))
        });
        Self {
            engines: engines.collect(),
            links: links.to_vec(),
            free: BTreeMap::new(),
            flights: BinaryHeap::new(),
            now: Instant::START,
            media: vec![Vec::new(); count],
            sent: Vec::new(),
            folder,
        }
    }

    fn line(policy: Policy, rate: &str, media: &[u8]) -> Self {
        Self::new(3, &[(0, 1), (1, 2)], policy, rate, media)
    }

    fn engine(&mut self, node: usize) -> &mut Engine {
        self.engines[node].as_mut().expect("it is there")
    }

    /// Lets time pass.
    fn run(&mut self, seconds: f64) {
        let end = self.now + Duration::from_secs_f64(seconds);
        loop {
            self.collect();
            let timers = self.engines.iter().flatten().map(Engine::poll_timeout).min();
            let flight = self.flights.peek().map(|flight| Instant::from_nanos(flight.0.0));
            let next = timers.into_iter().chain(flight).min().unwrap_or(end).max(self.now);
            if next > end {
                self.now = end;
                return;
            }
            self.now = next;
            while self.flights.peek().is_some_and(|flight| flight.0.0 <= next.as_nanos()) {
                let Some(std::cmp::Reverse((at, from, to, octets))) = self.flights.pop() else { break };
                if let Some(engine) = &mut self.engines[to] {
                    let from = From { interface: 0, address: address(from) };
                    // What is refused is as good as lost.
                    let _ = engine.handle_datagram(from, &octets, Duration::from_nanos(at), next);
                }
                self.collect();
            }
            for engine in self.engines.iter_mut().flatten() {
                if engine.poll_timeout() <= next {
                    engine.handle_timeout(next);
                }
            }
        }
    }

    /// Puts what the devices send on its way, and takes what has come for their users.
    fn collect(&mut self) {
        for node in 0..self.engines.len() {
            let Some(engine) = &mut self.engines[node] else { continue };
            while let Some(media) = engine.poll_media(0, self.now) {
                self.media[node].extend(media);
            }
            while let Some(Transmit { to, octets, .. }) = engine.poll_output() {
                let ends = self.links.iter().flat_map(|&(one, other)| [(one, other), (other, one)]);
                for (from, receiver) in ends.filter(|&(from, _)| from == node) {
                    if to != Ipv4Addr::BROADCAST && to != address(receiver) {
                        continue;
                    }
                    let start = self.now.max(self.free.get(&(from, receiver)).copied().unwrap_or(Instant::START));
                    let end = start + Duration::from_secs_f64((octets.len() + 28) as f64 * 8.0 / RATE);
                    self.free.insert((from, receiver), end);
                    let flight = ((end + DELAY).as_nanos(), from, receiver, octets.clone());
                    self.flights.push(std::cmp::Reverse(flight));
                }
                self.sent.push((node, octets));
            }
        }
    }

    /// The user of a device asks for the first clip that it knows.
    fn ask(&mut self, node: usize) -> u32 {
        let now = self.now;
        let engine = self.engine(node);
        let digest = engine.known_clips(now).first().and_then(|clip| status::digest(&clip.digest));
        engine.handle_request(&digest.expect("it knows one"), now).expect("it is there")
    }

    fn play(&mut self, node: usize, number: u32) -> PlayRecord {
        let now = self.now;
        self.engine(node).play(number, now).expect("it was asked for")
    }
}

#[test]
fn a_clip_comes_whole_over_two_hops() {
    let media = bytes(1_000_003);
    let mut net = Net::line(Policy::Statistical, "2 Mb/s", &media);
    net.run(20.0);
    let far = net.engines[0].as_ref().expect("it is there").known_clips(net.now);
    assert_eq!(far.iter().map(|clip| (&clip.name[..], clip.hops)).collect::<Vec<_>>(), [("film.bin", 2)]);
    let rates: Vec<f64> = (0..3)
        .flat_map(|node| net.engine(node).neighbours(|_| String::new(), Instant::START))
        .filter_map(|known| known.useful_rate_bps)
        .collect();
    // With headers of 28 and a seal of 49 bytes: 1332 and 28 of 1409 bytes are what the pair counts.
    assert_eq!(rates.len(), 4);
    assert!(rates.iter().all(|rate| (rate / (RATE * 1_360.0 / 1_409.0) - 1.0).abs() < 0.01), "{rates:?}");
    let number = net.ask(0);
    net.run(2.0);
    let now = net.now;
    let roles: Vec<Role> = (0..3).flat_map(|node| net.engine(node).bookings(now)).map(|booking| booking.role).collect();
    assert_eq!(roles, [Role::Display, Role::Relay, Role::Source]);
    assert!(net.engine(1).reserved() > 0.2, "two links of 2 Mb/s in 20 Mb/s");
    net.run(8.0);
    let record = net.play(0, number);
    assert_eq!((record.outcome, record.hops, record.stalls), (OutcomeName::Completed, 2, 0));
    assert_eq!(record.source, Some(address(2)));
    assert!(net.media[0] == media, "{} bytes came", net.media[0].len());
    // 4 s of media, and the start.
    let start = record.start_up_s.expect("it was shown");
    assert!(start < 2.0 && (record.played_s - 4.0).abs() < 0.01, "{record:?}");
    let now = net.now;
    assert!((0..3).all(|node| net.engine(node).bookings(now).is_empty()), "nothing stays booked");
    assert_eq!([0, 1, 2].map(|node| net.engine(node).counters().admitted), [0, 1, 1]);
}

#[test]
fn a_stream_that_does_not_fit_is_refused_with_the_reason() {
    // Two hops of 9 Mb/s in 20 Mb/s take more than 85 % of the time.
    let mut net = Net::line(Policy::Airtime, "9 Mb/s", &bytes(2_000_000));
    net.run(20.0);
    let number = net.ask(0);
    net.run(5.0);
    let record = net.play(0, number);
    assert_eq!((record.outcome, record.reason), (OutcomeName::Refused, Some(Reason::Airtime)));
    assert!(net.media[0].is_empty());
    let now = net.now;
    assert!((0..3).all(|node| net.engine(node).bookings(now).is_empty()));
    // The display is the first to judge, and sees both links.
    let number = net.ask(1);
    net.run(5.0);
    assert_ne!(net.play(1, number).outcome, OutcomeName::Refused, "one hop fits");
}

#[test]
fn a_link_that_was_not_measured_yet_is_told_from_one_that_is_full() {
    let mut net = Net::line(Policy::Airtime, "1 Mb/s", &bytes(500_000));
    net.run(2.0);
    let number = net.ask(0);
    net.run(3.0);
    let record = net.play(0, number);
    assert_eq!((record.outcome, record.reason), (OutcomeName::Refused, Some(Reason::Unknown)));
}

#[test]
fn a_refusal_is_counted_where_it_happens() {
    // The source says that its links carry 1 Mb/s.
    let mut net = Net::line(Policy::Airtime, "2 Mb/s", &bytes(500_000));
    net.engine(2).link_rate = Some(1e6);
    net.run(20.0);
    let number = net.ask(1);
    net.run(5.0);
    let record = net.play(1, number);
    assert_eq!((record.outcome, record.reason), (OutcomeName::Refused, Some(Reason::Airtime)));
    let now = net.now;
    let by_source = net.engine(2).refusals().airtime;
    // The display may refuse first: the probe has told it of the slow link.
    assert!(by_source <= 1 && record.refused_paths == 1, "{record:?}");
    assert_eq!(net.engine(2).refused(now).len() as u64, by_source);
}

#[test]
fn a_relay_that_dies_is_replaced_and_the_clip_comes_whole() {
    let media = bytes(5_000_000);
    let mut net = Net::new(4, &[(0, 1), (1, 3), (0, 2), (2, 3)], Policy::Airtime, "1 Mb/s", &media);
    net.run(20.0);
    let number = net.ask(0);
    net.run(5.0);
    let now = net.now;
    let relay = (1..3).find(|&node| !net.engine(node).bookings(now).is_empty()).expect("one of the two");
    net.engines[relay] = None;
    net.run(80.0);
    let record = net.play(0, number);
    assert_eq!((record.outcome, record.reroutes), (OutcomeName::Completed, 1));
    assert!(net.media[0] == media, "{} bytes came", net.media[0].len());
    assert!(record.stalls >= 1, "the 6 s until the relay is missed and replaced are longer than the buffer");
}

#[test]
fn a_user_who_has_seen_enough_frees_the_path() {
    let mut net = Net::line(Policy::Airtime, "1 Mb/s", &bytes(2_000_000));
    net.run(20.0);
    let number = net.ask(0);
    net.run(3.0);
    let now = net.now;
    net.engine(0).handle_stop(number, now);
    net.run(1.0);
    let now = net.now;
    assert!((0..3).all(|node| net.engine(node).bookings(now).is_empty()));
    let plays = net.engine(0).plays(now);
    assert_eq!(plays.iter().map(|play| play.outcome).collect::<Vec<_>>(), [OutcomeName::Stopped]);
}

#[test]
fn a_file_that_was_cut_short_is_offered_no_longer() {
    let mut net = Net::line(Policy::Airtime, "1 Mb/s", &bytes(2_000_000));
    net.run(20.0);
    let number = net.ask(0);
    net.run(3.0);
    let film = net.folder.path().join("film.bin");
    fs::File::options().write(true).open(film).and_then(|file| file.set_len(100)).expect("it is ours");
    net.run(40.0);
    assert_eq!(net.play(0, number).outcome, OutcomeName::Broken);
    let problem = net.engine(2).poll_problem().expect("the log tells");
    assert!(problem.starts_with("film.bin: ") && problem.ends_with("it is offered no longer"), "{problem}");
    net.run(70.0);
    let now = net.now;
    assert!(net.engine(0).known_clips(now).is_empty(), "nor by others");
}

#[test]
fn what_is_stored_here_is_played_from_here() {
    let media = bytes(100_000);
    let mut net = Net::line(Policy::Statistical, "1 Mb/s", &media);
    net.run(1.0);
    let number = net.ask(2);
    net.run(2.0);
    let record = net.play(2, number);
    assert_eq!((record.outcome, record.hops, record.stalls), (OutcomeName::Completed, 0, 0));
    assert!(net.media[2] == media);
}

#[test]
fn devices_with_another_key_are_strangers() {
    let mut net = Net::line(Policy::All, "1 Mb/s", &bytes(100_000));
    net.engine(1).envelope = sealed(1, 8);
    net.run(20.0);
    let now = net.now;
    for node in 0..3 {
        assert!(net.engine(node).neighbours(|_| String::new(), now).is_empty());
    }
    assert!(net.engine(0).known_clips(now).is_empty());
    assert!(net.engine(0).seals().expect("a key").0.unauthentic > 0);
}

#[test]
fn the_key_can_be_changed_while_devices_run() {
    let mut net = Net::line(Policy::Airtime, "1 Mb/s", &bytes(1_000_000));
    net.run(20.0);
    let number = net.ask(0);
    net.run(2.0);
    let now = net.now;
    for node in 0..3 {
        let epoch = Epoch([node as u8 + 100; EPOCH_LEN]);
        net.engine(node).change_keys(&Keys::one([7; KEY_LEN]), epoch, now);
    }
    net.run(15.0);
    assert_eq!(net.play(0, number).outcome, OutcomeName::Completed);
    // One that keeps the old key is a stranger.
    let now = net.now;
    net.engine(2).change_keys(&Keys::one([9; KEY_LEN]), Epoch([200; EPOCH_LEN]), now);
    net.run(10.0);
    let now = net.now;
    let heard = [0, 1, 2].map(|node| net.engine(node).neighbours(|_| String::new(), now).len());
    assert_eq!(heard, [1, 1, 0]);
}

/// A device with the key and this identity, which hears `members`.
fn signed(node: usize, epoch: u8, members: &[usize]) -> Envelope {
    let guard = Guard::new(&Keys::one([9; KEY_LEN]), Purpose::Cloud, Epoch([epoch; EPOCH_LEN]), Instant::START);
    Envelope::new(address(node), Some(guard.with_identity(identity(node), Some(list(members)))))
}

fn identity(node: usize) -> Identity {
    Identity::new([node as u8 + 1; KEY_LEN])
}

fn list(nodes: &[usize]) -> Members {
    let mut members = Members::default();
    for &node in nodes {
        members.add(&identity(node).public_octets(), vec![address(node)]).expect("it is a member");
    }
    members
}

#[test]
fn a_relay_that_is_expelled_loses_its_streams_at_once_and_another_one_gets_them() {
    let media = bytes(5_000_000);
    let mut net = Net::new(4, &[(0, 1), (1, 3), (0, 2), (2, 3)], Policy::Airtime, "1 Mb/s", &media);
    for node in 0..4 {
        net.engine(node).envelope = signed(node, node as u8 + 1, &[0, 1, 2, 3]);
    }
    net.run(20.0);
    let number = net.ask(0);
    net.run(8.0);
    let now = net.now;
    let relay = (1..3).find(|&node| !net.engine(node).bookings(now).is_empty()).expect("one of the two");
    let others: Vec<usize> = (0..4).filter(|&node| node != relay).collect();
    for &node in &others {
        net.engine(node).change_members(list(&others), &[address(relay)], now);
    }
    // No hello has to be missed for it.
    let next = |net: &mut Net, node: usize| {
        let now = net.now;
        net.engine(node).bookings(now).first().and_then(|booking| booking.towards_source)
    };
    assert_ne!(next(&mut net, 0), Some(address(relay)));
    assert!(net.engine(3).bookings(now).is_empty());
    net.run(2.0);
    assert_eq!(next(&mut net, 0), Some(address(3 - relay)));
    let before = net.sent.len();
    net.run(80.0);
    let record = net.play(0, number);
    assert_eq!((record.outcome, record.stalls), (OutcomeName::Completed, 0));
    assert!(net.media[0] == media, "{} bytes came", net.media[0].len());
    assert!(net.sent[before..].iter().any(|(from, _)| *from == relay), "it goes on to speak");
    let now = net.now;
    assert!(net.engine(0).neighbours(|_| String::new(), now).iter().all(|peer| peer.address != address(relay)));
}

#[test]
fn a_holder_of_the_key_without_an_identity_is_not_heard() {
    let mut net = Net::line(Policy::All, "1 Mb/s", &bytes(500_000));
    net.engine(0).envelope = signed(0, 1, &[0, 2]);
    net.engine(2).envelope = signed(2, 3, &[0, 2]);
    // The one between them has the key alone.
    net.run(20.0);
    let now = net.now;
    for node in [0, 2] {
        assert!(net.engine(node).neighbours(|_| String::new(), now).is_empty());
        assert!(net.engine(node).seals().expect("a key").0.unidentified > 0);
    }
}

/// Records what two devices say, and plays it to a third one that has the key.
#[test]
fn recordings_and_garbage_reserve_nothing_and_get_no_more_than_they_brought() {
    let mut net = Net::line(Policy::All, "1 Mb/s", &bytes(500_000));
    net.run(20.0);
    net.ask(0);
    net.run(5.0);
    let recorded = std::mem::take(&mut net.sent);
    assert!(recorded.len() > 500);
    let options = Options { me: address(1), config: config(Policy::All), link_rate: None, clips: vec![], seed: 1 };
    let mut victim = Engine::new(options, sealed(7, 9), Instant::START);
    let mut now = Instant::START + Duration::from_secs(100);
    while victim.poll_output().is_some() {}
    for (from, octets) in &recorded {
        let from = From { interface: 0, address: address(*from) };
        for octets in [&octets[..], &octets[..octets.len() / 2], b"HC\x01\x01\0\0\0"] {
            now += Duration::from_micros(100);
            assert!(victim.handle_datagram(from, octets, Duration::ZERO, now).is_err());
            let mut answered = 0;
            while let Some(Transmit { octets, .. }) = victim.poll_output() {
                answered += octets.len();
            }
            assert!(answered <= octets.len(), "{answered} bytes for {}", octets.len());
        }
    }
    assert!(victim.peers.is_empty() && victim.bookings(now).is_empty() && victim.known_clips(now).is_empty());
    assert_eq!(victim.counters().control_messages, 0);
}

#[test]
fn without_a_key_memory_is_bounded_too() {
    let options = Options { me: address(1), config: config(Policy::All), link_rate: None, clips: vec![], seed: 1 };
    let mut engine = Engine::new(options, Envelope::new(address(1), None), Instant::START);
    let now = Instant::START + Duration::from_secs(1);
    let hello = Message::Hello { heard: vec![address(1)], own: vec![], near: vec![] }.emit();
    for n in 0..2_000_u32 {
        let from = From { interface: 0, address: Ipv4Addr::from_bits(0x0a01_0000 + n) };
        engine.handle_datagram(from, &hello, Duration::ZERO, now).expect("anybody is heard");
        let path = vec![
            hopcast_wire::cloud::PlannedHop { node: from.address, airtime: 0 },
            hopcast_wire::cloud::PlannedHop { node: address(1), airtime: 1 },
            hopcast_wire::cloud::PlannedHop { node: Ipv4Addr::from_bits(0x0a01_0000), airtime: 1 },
        ];
        for number in 0..10 {
            let stream = StreamId { display: from.address, number };
            let wish = Wish { clip: 1, rate: 1, length: 1 };
            let reserve =
                Message::Reserve { stream, attempt: 1, place: 1, wish, prefetch: 0, risk: 0, path: path.clone() };
            engine.handle_datagram(from, &reserve.emit(), Duration::ZERO, now).expect("anybody is heard");
        }
        while engine.poll_output().is_some() {}
    }
    assert_eq!(engine.peers.len(), MAX_PEERS);
    assert!(engine.bookings(now).len() <= 1_024);
    assert!(engine.counters().crowded > 1_000 && engine.refused(now).len() <= REMEMBERED);
}

#[test]
fn a_neighbour_does_not_get_all_of_the_processor() {
    let options = Options { me: address(1), config: config(Policy::All), link_rate: None, clips: vec![], seed: 1 };
    let mut engine = Engine::new(options, Envelope::new(address(1), None), Instant::START);
    let from = From { interface: 0, address: address(0) };
    let weighed = |engine: &mut Engine, now| {
        let before = engine.counters().unweighed;
        for number in 0..100 {
            let stream = StreamId { display: address(0), number };
            let wish = Wish { clip: 1, rate: 1, length: 3_600_000 };
            let path = vec![hopcast_wire::cloud::ProbedHop { node: address(0), rate: 0, prefetch: 0, free: 0 }];
            let probe = Message::Probe { stream, attempt: 1, wish, path, is_for_others: false };
            engine.handle_datagram(from, &probe.emit(), Duration::ZERO, now).expect("anybody is heard");
        }
        100 - (engine.counters().unweighed - before)
    };
    let second = Duration::from_secs(1);
    // Clips of an hour: twenty at once, and ten in half a second.
    assert_eq!(weighed(&mut engine, Instant::START + second), 20);
    assert_eq!(weighed(&mut engine, Instant::START + second + second / 2), 10);
    assert_eq!(weighed(&mut engine, Instant::START + second * 60), 20);
}

#[test]
fn a_wish_that_no_clip_can_have_is_not_weighed() {
    for (rate, length) in [(0, 1), (2_000_000_000, 1), (1, 0), (1, u32::MAX)] {
        assert!(!is_possible(&Wish { clip: 1, rate, length }));
    }
    assert!(is_possible(&Wish { clip: 1, rate: 4_000_000, length: 86_400_000 }));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever a neighbour says, with the key or without one, nothing panics.
    #[test]
    fn arbitrary_messages_never_panic(messages in prop::collection::vec((0_u8..17, prop::collection::vec(any::<u8>(), 0..120)), 1..60)) {
        let options = Options { me: address(0), config: config(Policy::Statistical), link_rate: None, clips: vec![], seed: 1 };
        let mut engine = Engine::new(options, Envelope::new(address(0), None), Instant::START);
        let mut now = Instant::START;
        let from = From { interface: 0, address: address(1) };
        let hello = Message::Hello { heard: vec![address(0)], own: vec![], near: vec![] }.emit();
        engine.handle_datagram(from, &hello, Duration::ZERO, now).expect("anybody is heard");
        for (kind, rest) in messages {
            let octets = [&[b'H', b'C', 1, kind], &rest[..]].concat();
            engine.handle_datagram(from, &octets, Duration::ZERO, now).expect("anybody is heard");
            now += Duration::from_millis(100);
            engine.handle_timeout(now);
            while engine.poll_output().is_some() {}
        }
    }
}
