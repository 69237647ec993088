//! Whole devices, on links that lose, repeat and carry at a given rate.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::streaming::admission::Estimator;

fn config(policy: Policy) -> Config {
    Config {
        rules: Rules {
            policy,
            estimator: Estimator::Bootstrap,
            nominal_rate: 25e6,
            max_airtime: 0.85,
            stalls_per_hour: 0.1,
            refresh: Duration::from_secs(5),
            expiry: Duration::from_secs(15),
            repeat: Duration::from_secs(1),
        },
        prefetch: None,
        pace: 1.5,
        sensing_hops: 2,
        measurement: Duration::from_secs(1),
        profile: profile::Config::default(),
        gap: Duration::ZERO,
    }
}

const FILM: Wish = Wish { clip: 0, rate: 400_000, length: 20_000 };

/// A delivery on its way.
type Flight = (usize, usize, Arc<[u8]>, u32);

/// Devices on a string: each hears the next one on either side. A frame takes a millisecond, and airtime at the rate of the links.
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
    policy: Policy,
}

fn node(place: usize) -> Ipv4Addr {
    Ipv4Addr::new(10, 0, 0, 1 + place as u8)
}

impl Net {
    /// The last device has clip 0.
    fn string(count: usize, policy: Policy, rate: f64, seed: u64) -> Self {
        let device = |place| {
            let clips = if place == count - 1 { BTreeSet::from([0]) } else { BTreeSet::new() };
            Device::new(node(place), config(policy), clips, seed, Instant::START)
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
            policy,
        }
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
                    self.devices[place].handle_station_dump(dump.into_iter(), self.now);
                }
                Output::Send(Datagram { to, octets, length }) => {
                    for other in [place.wrapping_sub(1), place + 1] {
                        if other >= self.devices.len() || to.is_some_and(|to| to != node(other)) {
                            continue;
                        }
                        if to.is_some() {
                            let totals = self.totals.entry((place, other)).or_default();
                            totals.octets += u64::from(length);
                            totals.attempts += 1;
                            totals.packets += 1;
                            totals.airtime += Duration::from_secs_f64(8.0 * f64::from(length) / self.rate);
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
            let timer = self.devices.iter().map(Device::poll_timeout).min().expect("there are devices");
            let flight = self.flights.keys().next().map_or(Instant::MAX, |&(at, _)| at);
            let next = timer.min(flight);
            if next > end {
                break;
            }
            self.now = self.now.max(next);
            if flight <= timer {
                let (_, (from, to, octets, length)) = self.flights.pop_first().expect("there is a first one");
                self.devices[to].handle_datagram(node(from), &octets, length, self.now);
                self.drain(to);
            } else {
                for place in 0..self.devices.len() {
                    if self.devices[place].poll_timeout() <= self.now {
                        self.devices[place].handle_timeout(self.now);
                        self.drain(place);
                    }
                }
            }
        }
        self.now = end;
    }

    fn run_for(&mut self, seconds: u64) {
        self.run_until(self.now + Duration::from_secs(seconds));
    }

    fn ask(&mut self, place: usize, wish: Wish) {
        self.devices[place].handle_request(wish, self.now);
        self.drain(place);
    }

    /// The device loses all that it knew, and its clips stay.
    fn restart(&mut self, place: usize) {
        let clips = self.devices[place].clips.clone();
        self.devices[place] = Device::new(node(place), config(self.policy), clips, 99, self.now);
    }

    fn booked(&self) -> usize {
        self.devices.iter().map(|device| device.reservations().streams().count()).sum()
    }

    fn viewing(&self, place: usize) -> Viewing {
        self.devices[place].viewings(self.now).next().expect("it was asked")
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

#[test]
fn without_samples_the_statistical_policy_admits_nothing() {
    let mut net = Net::string(2, Policy::Statistical, 20e6, 1);
    net.run_for(4);
    net.ask(0, FILM);
    net.run_for(3);
    assert_eq!(net.viewing(0).outcome, Outcome::Refused(Refusal::Unknown));
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
    ) {
        let mut net = Net::string(4, Policy::All, 20e6, seed);
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
                let viewing = net.devices[display].viewing(stream.number, net.now);
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

    #[test]
    fn any_datagram_is_harmless(kinds in prop::collection::vec((0_u8..14, prop::collection::vec(any::<u8>(), 0..80)), 0..40)) {
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
