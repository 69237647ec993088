//! Whole devices, on links that lose, repeat and carry at a given rate.

use std::collections::BTreeMap;

use hopcast_wire::cloud::ReservedLink;
use proptest::prelude::*;

use super::*;
use crate::streaming::admission::Estimator;
use crate::streaming::carrier;

fn config(policy: Policy) -> Config {
    Config {
        rules: Rules {
            policy,
            estimator: Estimator::Bootstrap,
            nominal_rate: 25e6,
            max_airtime: 0.85,
            stalls_per_hour: 0.1,
            pace: 1.5,
            refresh: Duration::from_secs(5),
            expiry: Duration::from_secs(15),
            repeat: Duration::from_secs(1),
        },
        prefetch: None,
        slack: Duration::ZERO,
        sensing_hops: 2,
        measurement: Duration::from_secs(1),
        profile: profile::Config::default(),
        gap: Duration::ZERO,
        shortening: None,
        schedule: None,
        adaptation: None,
        cache: None,
        batch: 1,
    }
}

const FILM: Wish = Wish { clip: 0, rate: 400_000, length: 20_000 };

/// A delivery on its way.
type Flight = (usize, usize, Arc<[u8]>, u32);

/// Devices on a string: each hears the next one on either side, and others over links that come and go. A frame takes a millisecond, and airtime at the rate of the links.
struct Net {
    devices: Vec<Device>,
    now: Instant,
    flights: BTreeMap<(Instant, u64), Flight>,
    count: u64,
    rate: f64,
    totals: BTreeMap<(usize, usize), LinkTotals>,
    random: Stream,
    loss: f64,
    duplicates: f64,
    config: Config,
    /// Links besides those of the string.
    links: BTreeSet<(usize, usize)>,
    /// Links of the string that are cut.
    cut: BTreeSet<(usize, usize)>,
    /// Of each device.
    clocks: Vec<Clock>,
}

/// A clock that is ahead, and runs at a rate that is a little higher or lower.
#[derive(Clone, Copy, Debug, Default)]
struct Clock {
    ahead: Duration,
    ppm: i32,
}

impl Clock {
    fn told(self, now: Instant) -> Instant {
        let nanos = i128::from(now.as_nanos()) * i128::from(1_000_000 + self.ppm) / 1_000_000;
        Instant::from_nanos(nanos as u64) + self.ahead
    }

    /// The first moment at which it tells this time.
    fn moment(self, told: Instant) -> Instant {
        let nanos = i128::from(told.saturating_since(Instant::START + self.ahead).as_nanos());
        let mut moment = Instant::from_nanos((nanos * 1_000_000 / i128::from(1_000_000 + self.ppm)) as u64);
        while self.told(moment) < told {
            moment += Duration::from_nanos(1);
        }
        moment
    }
}

fn node(place: usize) -> Ipv4Addr {
    Ipv4Addr::new(10, 0, 0, 1 + place as u8)
}

impl Net {
    /// The last device has clip 0.
    fn string(count: usize, policy: Policy, rate: f64, seed: u64) -> Self {
        Self::with(count, config(policy), rate, seed)
    }

    fn with(count: usize, config: Config, rate: f64, seed: u64) -> Self {
        Self::with_clocks(&vec![Clock::default(); count], config, rate, seed)
    }

    fn with_clocks(clocks: &[Clock], config: Config, rate: f64, seed: u64) -> Self {
        let count = clocks.len();
        let device = |place: usize| {
            let clips = if place == count - 1 { BTreeSet::from([0]) } else { BTreeSet::new() };
            Device::new(node(place), config, clips, seed, clocks[place].told(Instant::START))
        };
        Self {
            devices: (0..count).map(device).collect(),
            now: Instant::START,
            flights: BTreeMap::new(),
            count: 0,
            rate,
            totals: BTreeMap::new(),
            random: Stream::new(seed, Purpose::LinkLoss, 0, 0),
            loss: 0.0,
            duplicates: 0.0,
            config,
            links: BTreeSet::new(),
            cut: BTreeSet::new(),
            clocks: clocks.to_vec(),
        }
    }

    /// What the clock of a device tells now.
    fn told(&self, place: usize) -> Instant {
        self.clocks[place].told(self.now)
    }

    fn reaches(&self, from: usize, to: usize) -> bool {
        let link = (from.min(to), from.max(to));
        from.abs_diff(to) == 1 && !self.cut.contains(&link) || self.links.contains(&link)
    }

    fn drain(&mut self, place: usize) {
        while let Some(output) = self.devices[place].poll_output() {
            match output {
                Output::Dump => {
                    let dump: Vec<_> = self
                        .totals
                        .range((place, 0)..(place + 1, 0))
                        .map(|(&(_, to), &totals)| (node(to), totals))
                        .collect();
                    let now = self.told(place);
                    self.devices[place].handle_station_dump(dump.into_iter(), now);
                }
                Output::Send(Datagram { to, octets, length }) => {
                    for other in 0..self.devices.len() {
                        if other == place || to.is_some_and(|to| to != node(other)) {
                            continue;
                        }
                        let reaches = self.reaches(place, other);
                        if to.is_some() {
                            let totals = self.totals.entry((place, other)).or_default();
                            totals.octets += if reaches { u64::from(length) } else { 0 };
                            totals.attempts += 1;
                            totals.packets += u64::from(reaches);
                            totals.airtime += Duration::from_secs_f64(8.0 * f64::from(length) / self.rate);
                        }
                        if !reaches {
                            continue;
                        }
                        let copies = usize::from(self.random.unit() >= self.loss)
                            * (1 + usize::from(self.random.unit() < self.duplicates));
                        for _ in 0..copies {
                            self.count += 1;
                            let at = self.now + Duration::from_millis(1);
                            self.flights.insert((at, self.count), (place, other, Arc::clone(&octets), length));
                        }
                    }
                }
            }
        }
    }

    fn run_until(&mut self, end: Instant) {
        loop {
            let timers =
                self.devices.iter().zip(&self.clocks).map(|(device, clock)| clock.moment(device.poll_timeout()));
            let timer = timers.min().expect("there are devices");
            let flight = self.flights.keys().next().map_or(Instant::MAX, |&(at, _)| at);
            let next = timer.min(flight);
            if next > end {
                break;
            }
            self.now = self.now.max(next);
            if flight <= timer {
                let (_, (from, to, octets, length)) = self.flights.pop_first().expect("there is a first one");
                let now = self.told(to);
                self.devices[to].handle_datagram(node(from), &octets, length, now);
                self.drain(to);
            } else {
                for place in 0..self.devices.len() {
                    let now = self.told(place);
                    if self.devices[place].poll_timeout() <= now {
                        self.devices[place].handle_timeout(now);
                        self.drain(place);
                    }
                }
            }
        }
        self.now = end;
    }

    /// Of the string only this link is left.
    fn leave(&mut self, link: (usize, usize)) {
        self.cut = (1..self.devices.len()).map(|place| (place - 1, place)).filter(|&other| other != link).collect();
    }

    fn run_for(&mut self, seconds: u64) {
        self.run_until(self.now + Duration::from_secs(seconds));
    }

    fn ask(&mut self, place: usize, wish: Wish) {
        let now = self.told(place);
        self.devices[place].handle_request(wish, now);
        self.drain(place);
    }

    /// The device loses all that it knew, and its clips stay.
    fn restart(&mut self, place: usize) {
        let clips = self.devices[place].clips.clone();
        self.devices[place] = Device::new(node(place), self.config, clips, 99, self.told(place));
    }

    /// A device receives this message.
    fn tell(&mut self, place: usize, from: Ipv4Addr, message: &Message) {
        let octets: Arc<[u8]> = message.emit().into();
        let now = self.told(place);
        self.devices[place].handle_datagram(from, &octets, octets.len() as u32, now);
        self.drain(place);
    }

    fn booked(&self) -> usize {
        self.devices.iter().map(|device| device.reservations().streams().count()).sum()
    }

    fn viewing(&self, place: usize) -> Viewing {
        self.devices[place].viewings(self.told(place)).next().expect("it was asked")
    }
}

#[test]
fn a_clip_crosses_two_hops_and_leaves_nothing_behind() {
    let mut net = Net::string(3, Policy::Statistical, 20e6, 1);
    net.run_for(40);
    net.ask(0, FILM);
    net.run_for(5);
    assert_eq!(net.booked(), 3);
    let viewing = net.viewing(0);
    assert_eq!((viewing.outcome, viewing.hops, viewing.from), (Outcome::Playing, 2, Some(node(2))));
    assert_eq!(viewing.risk, Some(0.0));
    // The search takes half a second, a second of media at 1.5 times their rate two thirds of one.
    let start_up = viewing.report.start_up_delay.expect("it plays").as_secs_f64();
    assert!((1.15..1.35).contains(&start_up), "{start_up}");
    net.run_for(20);
    let viewing = net.viewing(0);
    assert_eq!((viewing.outcome, viewing.report.hiccups), (Outcome::Completed, 0));
    assert_eq!(viewing.report.played, Duration::from_secs(20));
    assert_eq!(net.booked(), 0);
}

/// No message tells a time of day, so it does not matter by how much clocks differ. Their rates differ by some 100 ppm; here by ten times as much.
#[test]
fn clocks_that_are_apart_change_nothing() {
    let play = |clocks: [(u64, i32); 3]| {
        let clocks = clocks.map(|(seconds, ppm)| Clock { ahead: Duration::from_secs(seconds), ppm });
        let mut net = Net::with_clocks(&clocks, config(Policy::Statistical), 20e6, 1);
        net.run_for(40);
        net.ask(0, FILM);
        net.run_for(5);
        assert_eq!(net.booked(), 3);
        net.run_for(20);
        assert_eq!(net.booked(), 0);
        net.viewing(0)
    };
    let [same, apart, drifting] =
        [[(0, 0); 3], [(0, 0), (86_400, 0), (1_000_000, 0)], [(0, 1_000), (7, -1_000), (3_600, 500)]].map(play);
    assert_eq!((apart.report, apart.outcome, apart.risk), (same.report, same.outcome, same.risk));
    assert_eq!((drifting.outcome, drifting.report.hiccups, drifting.reroutes), (Outcome::Completed, 0, 0));
    let start = |viewing: &Viewing| viewing.report.start_up_delay.expect("it played").as_secs_f64();
    assert!((start(&drifting) - start(&same)).abs() < 0.03, "{} s and {} s", start(&drifting), start(&same));
}

#[test]
fn what_is_stored_here_is_shown_at_once() {
    let mut net = Net::string(2, Policy::Statistical, 20e6, 1);
    net.ask(1, FILM);
    net.run_for(19);
    assert_eq!(net.viewing(1).outcome, Outcome::Playing);
    net.run_for(2);
    let viewing = net.viewing(1);
    assert_eq!((viewing.outcome, viewing.hops, viewing.from), (Outcome::Completed, 0, Some(node(1))));
    assert_eq!(viewing.report.start_up_delay, Some(Duration::ZERO));
}

#[test]
fn a_clip_that_nobody_has_is_not_found() {
    let mut net = Net::string(3, Policy::All, 20e6, 1);
    net.run_for(5);
    net.ask(0, Wish { clip: 7, ..FILM });
    net.run_for(2);
    assert_eq!(net.viewing(0).outcome, Outcome::NotFound);
}

/// 400 kb/s over two links of 800 kb/s: each takes half of the time, and all is sensed by all.
#[test]
fn without_airtime_a_stream_is_refused_and_with_admit_all_it_stalls_nobody_here() {
    let mut net = Net::string(3, Policy::Airtime, 800e3, 1);
    net.run_for(40);
    net.ask(0, FILM);
    net.run_for(5);
    assert_eq!(net.viewing(0).outcome, Outcome::Refused(Refusal::Airtime));
    assert_eq!(net.booked(), 0);
}

/// The same, but the user waits for ten seconds: a search each 5.5 s is refused, and the first refusal after that is the last one.
#[test]
fn a_user_who_waits_is_refused_in_the_end() {
    let mut net = Net::string(3, Policy::Airtime, 800e3, 1);
    net.run_for(40);
    net.ask(0, FILM);
    let until = net.told(0) + Duration::from_secs(10);
    net.devices[0].handle_patience(until);
    net.run_for(10);
    assert_eq!((net.viewing(0).outcome, net.viewing(0).refusals), (Outcome::Pending, 2));
    net.run_for(2);
    assert_eq!((net.viewing(0).outcome, net.viewing(0).refusals), (Outcome::Refused(Refusal::Airtime), 3));
    assert_eq!(net.booked(), 0);
}

/// Streams over the first and over the last link of a string, each of which takes half of the time. The second one is asked for a tenth of a
/// second after the first, so that no regular hello comes in between, and its devices are one hop or two away from the others.
#[test]
fn what_has_just_been_reserved_near_by_counts() {
    for (count, seed) in (4..=5).flat_map(|count| (0..20).map(move |seed| (count, seed))) {
        let mut net = Net::string(count, Policy::Airtime, 800e3, seed);
        net.devices[0].clips.insert(1);
        net.run_for(60);
        net.ask(1, Wish { clip: 1, ..FILM });
        net.run_until(net.now + Duration::from_millis(100));
        net.ask(count - 2, FILM);
        net.run_for(5);
        let outcomes = [1, count - 2].map(|place| net.viewing(place).outcome);
        assert_eq!(outcomes, [Outcome::Playing, Outcome::Refused(Refusal::Airtime)], "{count} devices, seed {seed}");
    }
}

/// At the moment at which the display reserves a path over two links, before anybody tells of the second one.
#[test]
fn a_device_knows_all_links_of_the_paths_through_it() {
    let mut net = Net::string(3, Policy::Airtime, 2.4e6, 1);
    net.run_for(40);
    net.ask(0, FILM);
    net.run_until(net.now + ANSWERS);
    let link = 400e3 * EXPANSION / 2.4e6;
    let reserved = net.devices[0].reserved();
    assert!((reserved - 2.0 * link).abs() < 0.02, "{reserved}, {link} for each link");
}

#[test]
fn without_samples_the_statistical_policy_admits_nothing() {
    let mut net = Net::string(2, Policy::Statistical, 20e6, 1);
    net.run_for(4);
    net.ask(0, FILM);
    net.run_for(3);
    assert_eq!(net.viewing(0).outcome, Outcome::Refused(Refusal::Unknown));
}

/// The device in the middle meets the display, then the source, and then the display again. Neighbours know each other after two hellos.
#[test]
fn a_carrier_fetches_what_a_display_waits_for() {
    let meet_of = |beneficiaries, carry: Option<u64>, patience: u64| {
        let carry = carry.map(|seconds| carrier::Config { lifetime: Duration::from_secs(seconds), beneficiaries });
        let cache = cache::Config { policy: cache::Policy::Lru, capacity: 2_000_000, carry };
        let mut config = Config { cache: Some(cache), ..config(Policy::All) };
        config.rules.pace = 10.0;
        let mut net = Net::with(3, config, 20e6, 1);
        net.leave((0, 1));
        net.run_for(10);
        net.ask(0, FILM);
        let until = net.told(0) + Duration::from_secs(patience);
        net.devices[0].handle_patience(until);
        net.run_for(20);
        net.leave((1, 2));
        net.run_for(20);
        net.leave((0, 1));
        net.run_for(60);
        assert_eq!(net.booked(), 0);
        assert!(net.devices[1].viewings(net.now).next().is_none(), "the carrier's user has asked for nothing");
        (net.viewing(0), net.devices[1].carried())
    };
    let meet = |carry, patience| meet_of(carrier::Beneficiaries::All, carry, patience);
    let (viewing, carried) = meet(Some(300), 300);
    assert_eq!((viewing.outcome, viewing.from, viewing.hops, carried), (Outcome::Completed, Some(node(1)), 1, 1));
    // It meets the source 20 s and the display 40 s after the request; a search comes each 6.5 s, and before it hellos.
    let start = viewing.report.start_up_delay.expect("it played").as_secs_f64();
    assert!((41.0..51.0).contains(&start), "{start}");
    assert_eq!(meet(None, 300).0.outcome, Outcome::Pending);
    // Three searches within two seconds may have an answer that the carrier does not hear.
    assert_eq!((meet(Some(300), 0).0.outcome, meet(Some(300), 0).1), (Outcome::NotFound, 0));
    // The display no longer waits.
    assert_eq!((meet(Some(300), 30).0.outcome, meet(Some(300), 30).1), (Outcome::NotFound, 1));
    // What was looked for until 20 s ago is forgotten.
    assert_eq!((meet(Some(1), 300).0.outcome, meet(Some(1), 300).1), (Outcome::Pending, 0));
    // When it knows what is wanted it has met the display once in 16 s, and expects the next meeting after as long: too late if it forgets within 14 s.
    let meet = |carry| meet_of(carrier::Beneficiaries::Expected, Some(carry), 300);
    assert_eq!((meet(300).0.outcome, meet(300).1), (Outcome::Completed, 1));
    assert_eq!(meet_of(carrier::Beneficiaries::All, Some(14), 300).1, 1);
    assert_eq!(meet(14).1, 0);
}

#[test]
fn a_relay_that_restarts_is_booked_again() {
    let mut net = Net::string(3, Policy::All, 20e6, 1);
    net.run_for(5);
    net.ask(0, FILM);
    net.run_for(6);
    net.restart(1);
    net.run_for(60);
    let viewing = net.viewing(0);
    assert_eq!((viewing.outcome, viewing.reroutes), (Outcome::Completed, 1));
    assert_eq!(net.booked(), 0);
}

/// Packets come 26 ms apart. Then all are lost for 4 s, and the sender repeats after half a second of silence.
#[test]
fn the_longest_time_without_media_is_on_record() {
    let mut net = Net::string(2, Policy::All, 20e6, 1);
    net.run_for(5);
    net.ask(0, FILM);
    assert_eq!(net.viewing(0).gap, None);
    net.run_for(5);
    assert!(net.viewing(0).gap < Some(Duration::from_millis(200)), "{:?}", net.viewing(0).gap);
    net.loss = 1.0;
    net.run_for(4);
    net.loss = 0.0;
    net.run_for(30);
    let viewing = net.viewing(0);
    assert_eq!(viewing.outcome, Outcome::Completed);
    let gap = viewing.gap.expect("packets came");
    assert!((Duration::from_secs(4)..Duration::from_millis(4_600)).contains(&gap), "{gap:?}");
}

/// The last packets come at most 0.13 s before all are lost: a feedback each 0.1 s lets them go. The display searches each 0.5 s, and the first search
/// that ends 20 s after the last packet is the last one.
#[test]
fn a_display_that_lost_its_path_gives_up_20_s_after_the_last_packet() {
    let mut net = Net::string(3, Policy::All, 20e6, 1);
    net.run_for(5);
    net.ask(0, LONG_FILM);
    net.run_for(10);
    net.loss = 1.0;
    let lost = net.now;
    net.run_until(lost + Duration::from_millis(20_000 - 130));
    assert_eq!(net.viewing(0).outcome, Outcome::Playing);
    net.run_until(lost + Duration::from_millis(20_000 + 500 + 2));
    assert_eq!((net.viewing(0).outcome, net.viewing(0).reroutes), (Outcome::Broken, 1));
}

/// The relay of a string falls silent. Its neighbours miss it 5.5 s after its last message, which came within the last second, and forget what they have booked.
#[test]
fn what_is_booked_over_a_device_that_is_gone_ends_with_its_hellos() {
    let mut net = Net::string(3, Policy::All, 20e6, 1);
    net.run_for(5);
    net.ask(0, LONG_FILM);
    net.run_for(10);
    assert_eq!((net.booked(), net.devices[2].senders.len()), (3, 1));
    net.loss = 1.0;
    let lost = net.now;
    net.run_until(lost + Duration::from_millis(4_500));
    assert_eq!(net.booked(), 3);
    net.run_until(lost + Duration::from_millis(5_502));
    assert_eq!((net.booked(), net.devices[2].senders.len(), net.viewing(0).reroutes), (0, 0, 1));
}

/// All packets are lost for 16.2 s, in which the display misses its relay, searches each 0.5 s, and has no answer. Nodes know each other again after two hellos.
#[test]
fn a_display_searches_until_a_path_is_back() {
    let mut net = Net::string(3, Policy::All, 20e6, 1);
    net.run_for(5);
    net.ask(0, LONG_FILM);
    net.run_for(10);
    net.loss = 1.0;
    net.run_until(net.now + Duration::from_millis(16_200));
    net.loss = 0.0;
    net.run_for(5);
    let viewing = net.viewing(0);
    assert_eq!((viewing.outcome, viewing.reroutes, net.booked()), (Outcome::Playing, 1, 3));
    let gap = viewing.gap.expect("packets came");
    assert!((Duration::from_millis(17_000)..Duration::from_millis(19_600)).contains(&gap), "{gap:?}");
    net.run_for(250);
    assert_eq!((net.viewing(0).outcome, net.booked()), (Outcome::Completed, 0));
}

/// The path ends, and the reservation of the next one is refused: the display searches again at once, and has it half a second later. Only the
/// first search is hurried.
#[test]
fn a_display_that_lost_its_path_searches_again_after_a_refusal() {
    let mut net = Net::string(2, Policy::All, 20e6, 1);
    net.run_for(5);
    net.ask(0, FILM);
    net.run_for(3);
    let stream = StreamId { display: node(0), number: 0 };
    net.tell(0, node(1), &Message::Release { stream });
    net.run_until(net.now + HURRIED_ANSWERS);
    let attempt = net.devices[0].viewings[0].attempt;
    assert!(matches!(net.devices[0].viewings[0].step, Step::Reserving { .. }));
    // Its RESERVE does not arrive.
    net.flights.clear();
    net.tell(0, node(1), &Message::Reject { stream, attempt, node: node(1), reason: Refusal::Lost, fits: 0 });
    assert!(matches!(net.devices[0].viewings[0].step, Step::Searching { .. }));
    net.run_until(net.now + Duration::from_millis(502));
    let viewing = net.viewing(0);
    assert_eq!((viewing.outcome, viewing.refusals, viewing.reroutes, net.booked()), (Outcome::Playing, 1, 1, 2));
    assert!(matches!(net.devices[0].viewings[0].step, Step::Playing { .. }));
    net.run_for(30);
    assert_eq!((net.viewing(0).outcome, net.booked()), (Outcome::Completed, 0));
}

/// A device near the source has reserved all airtime when the path ends. Searches are refused, a hurried one and then two a second, until the device
/// is gone 5.5 s after its last hello, or for 20 s.
#[test]
fn a_display_whose_paths_are_all_refused_searches_for_20_s() {
    for (hellos, searches, outcome) in [(1, 9..=11, Outcome::Completed), (4, 38..=40, Outcome::Broken)] {
        let mut net = Net::string(2, Policy::Airtime, 20e6, 1);
        net.run_for(5);
        net.ask(0, FILM);
        net.run_for(3);
        let other = ReservedLink { stream: StreamId { display: node(9), number: 0 }, hop: 1, airtime: units(0.85) };
        let all = Message::Hello { heard: Vec::new(), own: vec![other], near: Vec::new() };
        net.tell(1, node(9), &all);
        net.tell(0, node(1), &Message::Release { stream: StreamId { display: node(0), number: 0 } });
        let lost = net.now;
        for _ in 1..hellos {
            net.run_for(5);
            net.tell(1, node(9), &all);
        }
        net.run_for(5);
        let viewing = net.viewing(0);
        assert_eq!((viewing.outcome, viewing.reroutes), (Outcome::Playing, 1));
        assert!(searches.contains(&viewing.refusals), "{}", viewing.refusals);
        net.run_until(lost + Duration::from_millis(20_600));
        assert_eq!(net.viewing(0).outcome == Outcome::Broken, hellos > 1);
        net.run_for(20);
        assert_eq!((net.viewing(0).outcome, net.booked()), (outcome, 0));
    }
}

/// It takes 35 s until a path is there, and that is lost before any packet of media came.
#[test]
fn a_user_who_has_waited_gets_a_second_path() {
    let mut net = Net::string(2, Policy::All, 20e6, 1);
    net.loss = 1.0;
    net.ask(0, FILM);
    let until = net.told(0) + Duration::from_secs(60);
    net.devices[0].handle_patience(until);
    net.run_for(35);
    net.loss = 0.0;
    while !matches!(net.devices[0].viewings[0].step, Step::Playing { .. }) {
        assert_eq!(net.viewing(0).outcome, Outcome::Pending);
        net.run_until(net.now + Duration::from_millis(1));
    }
    net.flights.clear();
    net.tell(0, node(1), &Message::Release { stream: StreamId { display: node(0), number: 0 } });
    net.run_for(40);
    assert_eq!((net.viewing(0).outcome, net.viewing(0).reroutes, net.booked()), (Outcome::Completed, 1, 0));
}

/// All packets are lost for a minute in the middle of the film. A user who has patience sees the rest of it, and another one does not.
#[test]
fn a_user_who_has_patience_waits_for_the_rest() {
    for (patience, outcome) in [(120, Outcome::Completed), (0, Outcome::Broken)] {
        let mut net = Net::string(2, Policy::All, 20e6, 1);
        net.run_for(5);
        net.ask(0, FILM);
        let until = net.told(0) + Duration::from_secs(patience);
        net.devices[0].handle_patience(until);
        net.run_for(5);
        net.loss = 1.0;
        net.run_for(60);
        net.loss = 0.0;
        net.run_for(40);
        assert_eq!((net.viewing(0).outcome, net.booked()), (outcome, 0));
    }
}

/// Each path is replaced within the hurried search, and the film is shown.
#[test]
fn a_display_may_lose_any_number_of_paths() {
    let mut net = Net::string(2, Policy::All, 20e6, 1);
    net.run_for(5);
    net.ask(0, LONG_FILM);
    for _ in 0..10 {
        net.run_for(3);
        net.tell(0, node(1), &Message::Release { stream: StreamId { display: node(0), number: 0 } });
    }
    net.run_for(1);
    let viewing = net.viewing(0);
    assert_eq!((viewing.outcome, viewing.reroutes, viewing.report.hiccups), (Outcome::Playing, 10, 0));
    assert_eq!(net.booked(), 2);
}

/// The buffer is fixed at a second, and the only other path asks for three: the display tries it with a tenth more, and fills that while it
/// shows the film at its own rate.
#[test]
fn a_stream_under_way_takes_a_path_that_asks_for_a_larger_buffer() {
    let mut net = Net::with(2, Config { prefetch: Some(Duration::from_secs(1)), ..config(Policy::All) }, 20e6, 1);
    net.run_for(5);
    net.ask(0, LONG_FILM);
    net.run_for(10);
    let stream = StreamId { display: node(0), number: 0 };
    let level = |net: &Net| net.devices[0].viewings[0].receiver.as_ref().map(|one| one.buffered(net.now));
    assert!(level(&net) < Some(Duration::from_millis(1_300)));
    net.tell(0, node(1), &Message::Release { stream });
    net.run_until(net.now + HURRIED_ANSWERS);
    let attempt = net.devices[0].viewings[0].attempt;
    net.flights.clear();
    net.tell(0, node(1), &Message::Reject { stream, attempt, node: node(1), reason: Refusal::Risk, fits: 3_000 });
    assert!(matches!(net.devices[0].viewings[0].step, Step::Reserving { .. }));
    net.run_for(10);
    let viewing = net.viewing(0);
    assert_eq!((viewing.refusals, viewing.report.hiccups, viewing.prefetch), (0, 0, Duration::from_millis(3_300)));
    assert!((Duration::from_millis(3_300)..Duration::from_millis(3_600)).contains(&level(&net).expect("it plays")));
    assert_eq!(net.viewing(0).report.start_up_delay.map(|delay| delay < Duration::from_secs(2)), Some(true));
}

/// A display that starts again counts its requests from 0, while the path still holds what it booked before. After 3 s the others also know its probe.
#[test]
fn a_display_that_restarts_gets_a_new_stream_and_not_the_rest_of_its_old_one() {
    for before in [3, 12] {
        let mut net = Net::string(3, Policy::All, 20e6, 1);
        net.run_for(5);
        net.ask(0, FILM);
        net.run_for(before);
        assert_eq!(net.viewing(0).outcome, Outcome::Playing);
        net.restart(0);
        net.run_for(3);
        assert_eq!(net.booked(), 2);
        net.ask(0, FILM);
        net.run_for(30);
        let viewing = net.viewing(0);
        assert_eq!((viewing.outcome, viewing.report.hiccups, viewing.reroutes), (Outcome::Completed, 0, 0), "{before}");
        assert!(viewing.report.start_up_delay.unwrap() < Duration::from_secs(2), "{viewing:?}");
        assert_eq!(net.booked(), 0);
    }
}

#[test]
fn a_killed_device_forgets_all_but_its_clips_and_what_is_on_record() {
    let mut net = Net::string(3, Policy::All, 20e6, 1);
    net.devices[0].clips.insert(7);
    net.run_for(5);
    net.ask(0, FILM);
    net.ask(0, Wish { clip: 7, ..FILM });
    net.run_for(10);
    let (sent, until) = (net.devices[0].counters(), net.now + Duration::from_secs(60));
    net.devices[0].handle_killed(BTreeSet::from([7]), 1, net.now, until);
    let device = &mut net.devices[0];
    assert_eq!(device.poll_output(), None);
    assert!(device.poll_timeout() >= until);
    assert!(device.neighbours().next().is_none() && device.reservations().streams().next().is_none());
    assert_eq!((device.clips().collect::<Vec<_>>(), device.counters()), (vec![7], sent));
    let [film, local] = [0, 1].map(|number| net.devices[0].viewing(number, until).expect("it was asked"));
    assert_eq!((film.outcome, local.outcome), (Outcome::Broken, Outcome::Broken));
    // 10 s less the search and two thirds of a second, in which the first second of media comes.
    assert!((8_650..8_850).contains(&(film.report.played.as_nanos() / 1_000_000)), "{film:?}");
    assert_eq!(local.report.played, Duration::from_secs(10));
    // A later request has a number that no node knows.
    net.devices[0].handle_request(FILM, until);
    assert_eq!(net.devices[0].viewings(until).count(), 3);
}

/// The shorter path is in use, and the longer one is held, when the display is killed.
#[test]
fn what_became_of_the_paths_of_a_killed_display_stays_on_record() {
    let mut net = Net::with(3, shortening(60), 20e6, 1);
    net.run_for(40);
    net.ask(0, LONG_FILM);
    net.run_for(5);
    net.links.insert((0, 2));
    net.run_for(45);
    let before = net.viewing(0).paths;
    assert_eq!((before.shortened, net.booked()), (1, 3 + 2));
    let (now, until) = (net.now, net.now + Duration::from_secs(60));
    net.devices[0].handle_killed(BTreeSet::new(), 1, now, until);
    assert_eq!(net.devices[0].viewings(until).next().expect("it was asked").paths, before);
}

fn shortening(hold: u64) -> Config {
    let shortening =
        path::Config { after: Duration::from_secs(10), margin: 1.2, hold: Duration::from_secs(hold), flaps: 2 };
    Config { shortening: Some(shortening), ..config(Policy::Statistical) }
}

const LONG_FILM: Wish = Wish { length: 200_000, ..FILM };

/// The ends come to hear each other: 10 s of measurements and 10 s of patience later the clip comes over one hop. Both paths are
/// reserved, and the airtime of the longer one counts: 400 kb/s · 1360/1316 over two links of 20 Mb/s are 0.0413.
#[test]
fn a_path_is_shortened_and_the_longer_one_is_held() {
    let mut net = Net::with(3, shortening(60), 20e6, 1);
    net.run_for(40);
    net.ask(0, LONG_FILM);
    net.run_for(5);
    assert_eq!((net.viewing(0).hops, net.booked()), (2, 3));
    net.links.insert((0, 2));
    net.run_for(15);
    assert_eq!((net.viewing(0).hops, net.booked()), (2, 3));
    net.run_for(30);
    let viewing = net.viewing(0);
    assert_eq!((viewing.hops, viewing.paths.shortened, net.booked()), (1, 1, 3 + 2));
    assert!((net.devices[0].reserved() - 0.0413).abs() < 1e-3, "{}", net.devices[0].reserved());
    // The relay has nothing to pass on.
    let before = net.devices[1].counters().media_packets;
    net.run_for(10);
    assert_eq!(net.devices[1].counters().media_packets, before);
    // After a minute the longer path is free.
    net.run_for(40);
    assert_eq!((net.viewing(0).hops, net.booked()), (1, 2));
    assert!((net.devices[0].reserved() - 0.0207).abs() < 1e-3, "{}", net.devices[0].reserved());
    net.run_for(120);
    let viewing = net.viewing(0);
    assert_eq!((viewing.outcome, viewing.report.hiccups, viewing.paths.returned), (Outcome::Completed, 0, 0));
    assert_eq!((viewing.paths.held, net.booked()), (Duration::from_secs(60), 0));
}

#[test]
fn a_display_returns_to_the_path_that_is_held_or_looks_for_one_and_has_no_hiccup() {
    for hold in [60, 0] {
        let mut net = Net::with(3, shortening(hold), 20e6, 1);
        net.run_for(40);
        net.ask(0, LONG_FILM);
        net.run_for(5);
        net.links.insert((0, 2));
        net.run_for(45);
        assert_eq!((net.viewing(0).hops, net.viewing(0).paths.shortened), (1, 1), "{hold}");
        net.links.clear();
        net.run_for(5);
        let viewing = net.viewing(0);
        assert_eq!((viewing.hops, viewing.paths.returned, viewing.report.hiccups), (2, 1, 0), "{hold}");
        // It looks for another path only if none was held.
        assert_eq!(viewing.reroutes, u32::from(hold == 0), "{hold}");
        // What is reserved over the link that is gone ends without refreshment.
        net.run_for(20);
        assert_eq!(net.booked(), 3, "{hold}");
        net.run_for(150);
        assert_eq!((net.viewing(0).outcome, net.booked()), (Outcome::Completed, 0), "{hold}");
    }
}

/// A megabyte each; there is room for one of them.
#[test]
fn what_was_displayed_is_kept_and_given_to_others() {
    let cache = cache::Config { policy: cache::Policy::Lru, capacity: 1_500_000, carry: None };
    let mut net = Net::with(3, Config { cache: Some(cache), ..config(Policy::All) }, 20e6, 1);
    net.devices[2].clips.insert(1);
    net.run_for(5);
    net.ask(1, FILM);
    net.run_for(25);
    assert!(net.devices[1].clips().eq([0]));
    // The nearer device has it now.
    net.ask(0, FILM);
    net.run_for(25);
    assert_eq!((net.viewing(0).from, net.viewing(0).hops), (Some(node(1)), 1));
    // At the second time it is here.
    net.ask(1, FILM);
    net.run_for(1);
    let again = net.devices[1].viewing(1, net.now).expect("it was asked");
    assert_eq!((again.from, again.report.start_up_delay), (Some(node(1)), Some(Duration::ZERO)));
    net.run_for(25);
    net.ask(1, Wish { clip: 1, ..FILM });
    net.run_for(25);
    assert!(net.devices[1].clips().eq([1]) && net.devices[2].clips().eq([0, 1]));
}

#[test]
fn what_is_sent_or_shown_is_not_dropped() {
    let cache = cache::Config { policy: cache::Policy::Lru, capacity: 1_500_000, carry: None };
    let mut net = Net::with(3, Config { cache: Some(cache), ..config(Policy::All) }, 20e6, 1);
    net.devices[2].clips.insert(1);
    net.run_for(5);
    net.ask(1, FILM);
    net.run_for(25);
    net.ask(1, Wish { clip: 1, ..FILM });
    net.run_for(10);
    // The other clip is whole while the first one is being sent.
    net.ask(0, FILM);
    net.run_for(12);
    assert!(net.devices[1].clips().eq([0]));
    net.run_for(20);
    assert_eq!((net.viewing(0).outcome, net.viewing(0).report.hiccups), (Outcome::Completed, 0));
}

/// Two streams of 400 kb/s from the middle one over links of 2 Mb/s: a packet takes 1360 · 8 / 2 Mb/s = 5.44 ms, and no two are sent
/// within that time.
#[test]
fn a_producer_sends_one_packet_at_a_time() {
    for discipline in
        [Discipline::Fifo, Discipline::RoundRobin, Discipline::EarliestDeadline, Discipline::EarliestHiccup]
    {
        let mut net = Net::with(3, Config { schedule: Some(discipline), ..config(Policy::Airtime) }, 2e6, 1);
        net.devices[1].clips.insert(0);
        net.devices[2].clips.clear();
        net.run_for(30);
        net.ask(0, FILM);
        net.ask(2, FILM);
        net.run_for(2);
        let mut sent: Vec<Instant> = Vec::new();
        for _ in 0..2_000 {
            net.run_until(net.now + Duration::from_millis(1));
            let media = net.flights.iter().filter(|(_, flight)| flight.0 == 1 && flight.3 > 1_000);
            sent.extend(media.map(|(&(at, _), _)| at));
        }
        sent.dedup();
        assert!(sent.len() > 100, "{discipline:?}: {} packets", sent.len());
        let least = sent.windows(2).map(|pair| pair[1].saturating_since(pair[0])).min().expect("there are two");
        assert!(least >= Duration::from_micros(5_440), "{discipline:?}: {least:?}");
        net.run_for(30);
        for place in [0, 2] {
            let viewing = net.viewing(place);
            assert_eq!((viewing.outcome, viewing.report.hiccups), (Outcome::Completed, 0), "{discipline:?}");
        }
    }
}

const RATES: [u32; 3] = [100_000, 200_000, 400_000];

fn adaptive(rule: adaptation::Rule) -> Config {
    let adaptation = adaptation::Config {
        rule,
        segment: Duration::from_secs(1),
        buffer: Duration::from_secs(10),
        reserve: Reserve::Highest,
    };
    Config { adaptation: Some(adaptation), ..config(Policy::All) }
}

const RULES: [adaptation::Rule; 3] = [adaptation::Rule::Bba, adaptation::Rule::Bola, adaptation::Rule::RobustMpc];

fn ask_adaptive(net: &mut Net, place: usize) {
    let now = net.now;
    net.devices[place].handle_adaptive_request(LONG_FILM, RATES.into(), now);
    net.drain(place);
}

/// Links of this bench carry any rate, so that 1.5 times 400 kb/s come: soon all is of the highest rate.
#[test]
fn a_display_that_adapts_takes_the_highest_rate_where_it_can() {
    for rule in RULES {
        let mut net = Net::with(3, adaptive(rule), 20e6, 1);
        net.run_for(5);
        ask_adaptive(&mut net, 0);
        net.run_for(205);
        let viewing = net.viewing(0);
        let adapted = viewing.adapted.expect("it adapts");
        assert_eq!((viewing.outcome, viewing.report.hiccups), (Outcome::Completed, 0), "{rule:?}");
        assert_eq!(
            (viewing.report.played, adapted.media),
            (Duration::from_secs(200), Duration::from_secs(200)),
            "{rule:?}"
        );
        assert!(adapted.bits as f64 > 0.95 * 400e3 * 200.0, "{rule:?} {adapted:?}");
        assert_eq!(net.booked(), 0);
    }
}

/// A quarter of the packets is lost for 30 s, and the relay restarts: the rest comes from the same source over a new booking.
#[test]
fn a_display_that_adapts_goes_on_after_its_path_was_lost() {
    for rule in RULES {
        let mut net = Net::with(3, adaptive(rule), 20e6, 1);
        net.run_for(5);
        ask_adaptive(&mut net, 0);
        net.run_for(30);
        net.loss = 0.25;
        net.run_for(30);
        net.loss = 0.0;
        net.restart(1);
        net.run_for(260);
        let viewing = net.viewing(0);
        assert_eq!(
            (viewing.outcome, viewing.report.played),
            (Outcome::Completed, Duration::from_secs(200)),
            "{rule:?}"
        );
        assert!(viewing.adapted.is_some_and(|adapted| adapted.switches > 0), "{rule:?}");
        assert_eq!(net.booked(), 0);
    }
}

/// 400 kb/s over two links of 800 kb/s, each of which takes half of the time: refused. 100 kb/s is admitted, and more comes: at least the second rate, and at
/// most what the links carry, 800 / 2 · 1316 / 1360 = 387 kb/s.
#[test]
fn a_display_that_reserves_its_lowest_rate_is_admitted_and_shows_more() {
    for (reserve, outcome) in
        [(Reserve::Highest, Outcome::Refused(Refusal::Airtime)), (Reserve::Lowest, Outcome::Completed)]
    {
        let mut config = adaptive(adaptation::Rule::Bba);
        config.rules.policy = Policy::Airtime;
        config.adaptation = config.adaptation.map(|adaptation| adaptation::Config { reserve, ..adaptation });
        let mut net = Net::with(3, config, 800e3, 1);
        net.run_for(40);
        ask_adaptive(&mut net, 0);
        net.run_for(5);
        let reserved = net.devices[0].reserved();
        net.run_for(205);
        let viewing = net.viewing(0);
        assert_eq!(viewing.outcome, outcome);
        if reserve == Reserve::Lowest {
            // 100 kb/s · 1360/1316 over two links of 800 kb/s.
            assert!((reserved - 0.258).abs() < 0.002, "{reserved}");
            let adapted = viewing.adapted.expect("it adapts");
            assert!(adapted.bits > 200 * 200_000, "{adapted:?}");
        }
    }
}

/// What came in lower rates is not kept for others, and a clip that is stored here is shown as it is.
#[test]
fn a_clip_in_lower_rates_is_not_kept() {
    let cache = cache::Config { policy: cache::Policy::Lru, capacity: u64::MAX, carry: None };
    let mut net = Net::with(2, Config { cache: Some(cache), ..adaptive(adaptation::Rule::Bba) }, 20e6, 1);
    net.run_for(5);
    ask_adaptive(&mut net, 0);
    ask_adaptive(&mut net, 1);
    net.run_for(210);
    assert_eq!((net.viewing(0).outcome, net.devices[0].clips().count()), (Outcome::Completed, 0));
    assert_eq!((net.viewing(1).hops, net.viewing(1).adapted), (0, None));
}

/// Four blocks of 5 s, with the numbers 10 to 13.
const BLOCKS: Blocks = Blocks { first: 10, count: 4 };

fn ask_in_blocks(net: &mut Net, place: usize) {
    let now = net.now;
    net.devices[place].handle_request_in_blocks(FILM, BLOCKS, now);
    net.drain(place);
}

#[test]
fn blocks_come_from_where_they_are_and_the_first_one_is_shown_at_once() {
    let mut net = Net::string(4, Policy::All, 20e6, 1);
    for (place, blocks) in [(0, vec![10]), (1, vec![12]), (3, vec![10, 11, 13])] {
        net.devices[place].clips.extend(blocks);
    }
    net.run_for(5);
    ask_in_blocks(&mut net, 0);
    net.run_for(1);
    // The search takes half a second. Then three blocks come: over three hops, one and three.
    assert_eq!(net.booked(), 4 + 2 + 4);
    let viewing = net.viewing(0);
    assert_eq!((viewing.outcome, viewing.report.start_up_delay), (Outcome::Playing, Some(Duration::ZERO)));
    net.run_for(18);
    assert_eq!((net.viewing(0).outcome, net.booked()), (Outcome::Playing, 0));
    net.run_for(2);
    let viewing = net.viewing(0);
    assert_eq!((viewing.outcome, viewing.report.hiccups, viewing.hops), (Outcome::Completed, 0, 3));
    assert_eq!(viewing.report.played, Duration::from_secs(20));
    assert_eq!(net.devices[0].viewings(net.now).count(), 1);
    assert!(net.devices[0].active.is_empty());
}

#[test]
fn a_display_waits_for_a_late_block() {
    let mut net = Net::string(2, Policy::All, 20e6, 1);
    net.devices[1].clips.extend([10, 11, 12, 13]);
    net.run_for(5);
    ask_in_blocks(&mut net, 0);
    net.run_for(30);
    let viewing = net.viewing(0);
    // Half a second to search, and 5 s of media at 1.5 times their rate, of three blocks at once: links carry that.
    let start_up = viewing.report.start_up_delay.expect("it plays").as_secs_f64();
    assert!((3.8..4.1).contains(&start_up), "{start_up}");
    assert_eq!((viewing.outcome, viewing.report.hiccups, viewing.hops), (Outcome::Completed, 0, 1));
}

#[test]
fn a_block_that_nobody_has_ends_the_display() {
    let mut net = Net::string(2, Policy::All, 20e6, 1);
    net.devices[1].clips.extend([10, 11, 13]);
    net.run_for(5);
    ask_in_blocks(&mut net, 0);
    net.run_for(9);
    assert_eq!(net.viewing(0).outcome, Outcome::NotFound);
    assert_eq!(net.booked(), 0);
    assert!(net.devices[0].active.is_empty());
}

#[test]
fn a_display_in_blocks_that_is_stopped_leaves_nothing() {
    let mut net = Net::string(3, Policy::All, 20e6, 1);
    net.devices[2].clips.extend([10, 11, 12, 13]);
    net.run_for(5);
    ask_in_blocks(&mut net, 0);
    net.run_for(2);
    assert_eq!(net.booked(), 3 * 3);
    let now = net.now;
    net.devices[0].handle_stop(0, now);
    net.drain(0);
    net.run_for(1);
    assert_eq!((net.viewing(0).outcome, net.booked()), (Outcome::Broken, 0));
}

#[test]
fn blocks_that_are_all_here_are_shown_at_once() {
    let mut net = Net::string(2, Policy::All, 20e6, 1);
    net.devices[0].clips.extend([10, 11, 12, 13]);
    ask_in_blocks(&mut net, 0);
    net.run_for(21);
    let viewing = net.viewing(0);
    assert_eq!((viewing.outcome, viewing.hops, viewing.from), (Outcome::Completed, 0, Some(node(0))));
    assert_eq!((viewing.report.start_up_delay, viewing.report.hiccups), (Some(Duration::ZERO), 0));
}

/// Four devices in a line and two films, while three more links come and go, each as many seconds after the one before, and messages are
/// lost at this rate; then 40 s without a change.
fn with_links_that_come_and_go(seed: u64, loss: f64, hold: u64, flips: &[(usize, u64)]) -> Net {
    let links = [(0, 2), (1, 3), (0, 3)];
    let mut net = Net::with(4, shortening(hold), 20e6, seed);
    net.links.extend(links);
    net.run_for(25);
    net.links.clear();
    net.run_for(6);
    net.ask(0, LONG_FILM);
    net.ask(1, LONG_FILM);
    net.run_for(3);
    net.loss = loss;
    for &(link, after) in flips {
        if !net.links.remove(&links[link]) {
            net.links.insert(links[link]);
        }
        net.run_for(after);
    }
    net.loss = 0.0;
    net.run_for(40);
    net
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Whatever is lost, repeated and restarted: once the messages come again, each booking belongs to a stream that is under way,
    /// and once all displays have ended, nothing is booked anywhere.
    #[test]
    fn no_reservation_leaks(
        seed in any::<u64>(),
        loss in 0.0..0.5_f64,
        duplicates in 0.0..0.3_f64,
        restarts in prop::collection::vec((0_usize..4, 1_u64..9), 0..4),
        clocks in prop::array::uniform4((0_u64..1_000_000, -1_000_i32..1_000)),
    ) {
        let clocks = clocks.map(|(seconds, ppm)| Clock { ahead: Duration::from_secs(seconds), ppm });
        let mut net = Net::with_clocks(&clocks, config(Policy::All), 20e6, seed);
        net.run_for(6);
        (net.loss, net.duplicates) = (loss, duplicates);
        net.devices[3].clips.extend([10, 12, 13]);
        net.devices[2].clips.extend([11, 13]);
        for place in [0, 1, 2] {
            net.ask(place, FILM);
            ask_in_blocks(&mut net, place);
            net.run_for(1);
        }
        for (place, after) in restarts {
            net.run_for(after);
            net.restart(place);
        }
        net.run_for(5);
        (net.loss, net.duplicates) = (0.0, 0.0);
        // A search and what it reserves, and the expiry of what was before.
        net.run_for(30);
        for device in &net.devices {
            for stream in device.reservations().streams() {
                let display = usize::from(stream.display.octets()[3]) - 1;
                let viewing = net.devices[display].viewing(stream.number, net.told(display));
                let is_live = viewing.is_some_and(|viewing| matches!(viewing.outcome, Outcome::Playing | Outcome::Pending));
                prop_assert!(is_live, "a booking without a stream");
            }
        }
        net.run_for(150);
        prop_assert_eq!(net.booked(), 0);
        for device in &net.devices {
            prop_assert!(device.senders.is_empty());
            prop_assert!(device.active.is_empty());
        }
    }

    /// The same with links that come and go, so that paths become shorter and longer.
    #[test]
    fn no_path_leaks(
        seed in any::<u64>(),
        loss in 0.0..0.3_f64,
        hold in 0_u64..30,
        flips in prop::collection::vec((0_usize..3, 1_u64..25), 0..12),
    ) {
        let mut net = with_links_that_come_and_go(seed, loss, hold, &flips);
        for device in &net.devices {
            for stream in device.reservations().streams() {
                let display = usize::from(stream.display.octets()[3]) - 1;
                let request = &net.devices[display].viewings[stream.request() as usize];
                let is_its = match &request.step {
                    Step::Ended => false,
                    _ => request.paths.as_ref().is_some_and(|paths| paths.all().any(|path| path == stream.path())),
                };
                prop_assert!(is_its, "a booking for a path that no display has");
            }
        }
        net.run_for(300);
        prop_assert_eq!(net.booked(), 0);
        for device in &net.devices {
            prop_assert!(device.senders.is_empty() && device.active.is_empty());
        }
    }

    #[test]
    fn any_datagram_is_harmless(kinds in prop::collection::vec((0_u8..17, prop::collection::vec(any::<u8>(), 0..80)), 0..40)) {
        let mut net = Net::string(2, Policy::Statistical, 20e6, 3);
        net.run_for(3);
        for (kind, rest) in kinds {
            let octets: Arc<[u8]> = [&[b'H', b'C', 1, kind], &rest[..]].concat().into();
            net.devices[0].handle_datagram(node(1), &octets, octets.len() as u32, net.now);
            net.drain(0);
        }
        net.run_for(1);
    }
}

/// A display asks for a path, and a node of it takes its booking back before all have answered.
#[test]
fn a_path_that_is_taken_back_before_its_answer_is_refused() {
    let flips = [(0, 11), (0, 1), (1, 6), (0, 7)];
    let mut net = with_links_that_come_and_go(5_458_755_453_700_850_694, 0.274_292_014_727_211_93, 0, &flips);
    net.run_for(300);
    assert_eq!(net.booked(), 0);
    assert!(net.devices.iter().all(|device| device.senders.is_empty() && device.active.is_empty()));
}
