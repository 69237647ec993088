//! Reservations driven by hand, message by message.

use std::collections::BTreeMap;

use super::*;
use crate::streaming::profile::{self, LinkTotals};

const RULES: Rules = Rules {
    policy: Policy::Airtime,
    estimator: Estimator::Bootstrap,
    nominal_rate: 25e6,
    max_airtime: 0.85,
    stalls_per_hour: 0.1,
    pace: 1.5,
    refresh: Duration::from_secs(5),
    expiry: Duration::from_secs(15),
    repeat: Duration::from_secs(1),
};

const WISH: Wish = Wish { clip: 3, rate: 4_000_000, length: 600_000 };

fn node(n: u8) -> Ipv4Addr {
    Ipv4Addr::new(10, 0, 0, n)
}

fn seconds(s: u64) -> Instant {
    Instant::START + Duration::from_secs(s)
}

fn stream(display: u8) -> StreamId {
    StreamId { display: node(display), number: 0 }
}

/// All nodes hear each other, and each link has carried `rate` for 20 s.
struct World {
    surroundings: Surroundings,
    profiles: BTreeMap<Ipv4Addr, Profile>,
    has_clip: bool,
}

impl World {
    fn new(me: u8, rate: f64) -> Self {
        let mut surroundings = Surroundings::new(node(me), 2, Duration::from_secs(1_000));
        let mut profiles = BTreeMap::new();
        for other in (1..=5).filter(|&other| other != me) {
            let heard = (1..=5).map(node).collect();
            surroundings.handle_hello(node(other), heard, vec![], vec![], Instant::START);
            let mut profile = Profile::new(profile::Config::default(), Duration::ZERO);
            for second in 1..=20 {
                let octets = (rate / 8.0 * 0.01 * second as f64) as u64;
                let airtime = Duration::from_millis(10) * second;
                profile
                    .handle_totals(LinkTotals { octets, packets: second, airtime, attempts: second }, seconds(second));
            }
            profiles.insert(node(other), profile);
        }
        Self { surroundings, profiles, has_clip: true }
    }
}

impl Knowledge for World {
    fn surroundings(&self) -> &Surroundings {
        &self.surroundings
    }
    fn profile(&self, neighbour: Ipv4Addr) -> Option<&Profile> {
        self.profiles.get(&neighbour)
    }
    fn has_clip(&self, _: u32) -> bool {
        self.has_clip
    }
}

fn plan(display: u8, path: &[u8], airtime: f64) -> Plan {
    let hop =
        |(place, &n): (usize, &u8)| PlannedHop { node: node(n), airtime: if place == 0 { 0 } else { units(airtime) } };
    let path = path.iter().enumerate().map(hop).collect();
    Plan { stream: stream(display), attempt: 1, wish: WISH, prefetch: 1_000, path }
}

fn outputs(reservations: &mut Reservations) -> Vec<Output> {
    core::iter::from_fn(|| reservations.poll_output()).collect()
}

/// The only output, which is a message for this node.
fn message(reservations: &mut Reservations, to: u8) -> Message {
    match outputs(reservations).as_slice() {
        [Output::Send { to: receiver, message }] if *receiver == node(to) => message.clone(),
        other => panic!("not one message to {to}: {other:?}"),
    }
}

/// A display 1, a relay 2 and a device 3 that has the clip; the RESERVE has reached the relay.
struct Path {
    nodes: [Reservations; 3],
    worlds: [World; 3],
}

impl Path {
    fn new(rules: Rules, rate: f64) -> Self {
        let nodes = [1, 2, 3].map(|n| Reservations::new(node(n), rules, 7));
        Self { nodes, worlds: [1, 2, 3].map(|n| World::new(n, rate)) }
    }

    fn give(&mut self, to: u8, from: u8, message: Message, now: Instant) {
        let place = usize::from(to - 1);
        self.nodes[place].handle_message(node(from), message, &self.worlds[place], now);
    }

    /// Books all the way.
    fn book(&mut self) {
        self.nodes[0].handle_plan(plan(1, &[1, 2, 3], 0.2), &self.worlds[0], seconds(20));
        let to_relay = message(&mut self.nodes[0], 2);
        self.give(2, 1, to_relay, seconds(20));
        let to_last = message(&mut self.nodes[1], 3);
        self.give(3, 2, to_last, seconds(20));
        let granted = outputs(&mut self.nodes[2]);
        let [Output::Granted { .. }, Output::Send { message, .. }] = granted.as_slice() else { panic!("{granted:?}") };
        self.give(2, 3, message.clone(), seconds(20));
        let to_display = self::message(&mut self.nodes[1], 1);
        self.give(1, 2, to_display, seconds(20));
    }

    fn booked(&self) -> [bool; 3] {
        [0, 1, 2].map(|place: usize| self.nodes[place].booking(stream(1)).is_some())
    }
}

#[test]
fn a_path_is_booked_in_two_phases() {
    let mut path = Path::new(RULES, 20e6);
    path.nodes[0].handle_plan(plan(1, &[1, 2, 3], 0.2), &path.worlds[0], seconds(20));
    let Message::Reserve { place: 1, .. } = message(&mut path.nodes[0], 2) else { panic!("a RESERVE for the second") };
    assert!(!path.nodes[0].booking(stream(1)).expect("booked").is_firm());
    let mut path = Path::new(RULES, 20e6);
    path.book();
    let confirmed = outputs(&mut path.nodes[0]);
    assert!(
        matches!(confirmed.as_slice(), [Output::Confirmed { risk: Some(risk), .. }] if *risk == 0.0),
        "{confirmed:?}"
    );
    for reservations in &path.nodes {
        assert!(reservations.booking(stream(1)).expect("booked").is_firm());
    }
    // 4 of 20 Mb/s, and 1360 bytes for each 1316, as the relay judges its link; of the other one it knows what the display has
    // planned.
    let airtimes: Vec<f64> = path.nodes[1].links().iter().map(|link| share(link.airtime)).collect();
    let expected = [0.2 * 1360.0 / 1316.0, 0.2];
    let is_right = airtimes.iter().zip(expected).all(|(found, right)| (found - right).abs() < 1e-4);
    assert!(airtimes.len() == 2 && is_right, "{airtimes:?}");
    assert_eq!(path.nodes[0].links().len(), 1);
}

#[test]
fn a_refusal_takes_all_back_and_tells_what_would_fit() {
    // 4 Mb/s over two links of 8 Mb/s in one range take all the time.
    let mut path = Path::new(RULES, 8e6);
    path.nodes[0].handle_plan(plan(1, &[1, 2, 3], 0.3), &path.worlds[0], seconds(20));
    let reserve = message(&mut path.nodes[0], 2);
    path.give(2, 1, reserve, seconds(20));
    let onward = message(&mut path.nodes[1], 3);
    path.give(3, 2, onward, seconds(20));
    let reject = message(&mut path.nodes[2], 2);
    let Message::Reject { reason: Refusal::Airtime, node: refuser, fits, .. } = reject else { panic!("{reject:?}") };
    assert_eq!(refuser, node(3));
    // 0.85 of the time for two links, of which each takes 1360/1316 of a half.
    assert!((3_285_000..=3_290_000).contains(&fits), "{fits}");
    path.give(2, 3, reject, seconds(20));
    let reject = message(&mut path.nodes[1], 1);
    path.give(1, 2, reject, seconds(20));
    assert!(matches!(outputs(&mut path.nodes[0]).as_slice(), [Output::Refused { reason: Refusal::Airtime, .. }]));
    assert_eq!(path.booked(), [false; 3]);
}

#[test]
fn refreshment_keeps_and_its_absence_ends_a_booking() {
    let mut path = Path::new(RULES, 20e6);
    path.book();
    outputs(&mut path.nodes[0]);
    assert_eq!(path.nodes[0].poll_timeout(), Some(seconds(25)));
    path.nodes[0].handle_timeout(seconds(25));
    let refresh = message(&mut path.nodes[0], 2);
    path.give(2, 1, refresh, seconds(25));
    let lost = message(&mut path.nodes[1], 3);
    assert_eq!(lost, Message::Refresh { stream: stream(1) });
    path.nodes[2].handle_timeout(seconds(34));
    assert_eq!(outputs(&mut path.nodes[2]), []);
    path.nodes[2].handle_timeout(seconds(35));
    assert_eq!(outputs(&mut path.nodes[2]), [Output::Ended { stream: stream(1) }]);
    path.nodes[1].handle_timeout(seconds(35));
    assert_eq!(path.booked(), [true, true, false]);
    path.nodes[1].handle_timeout(seconds(40));
    assert_eq!(path.booked(), [true, false, false]);
}

#[test]
fn a_node_that_has_forgotten_ends_the_stream_at_the_next_refreshment() {
    let mut path = Path::new(RULES, 20e6);
    path.book();
    outputs(&mut path.nodes[0]);
    path.nodes[1] = Reservations::new(node(2), RULES, 7);
    path.nodes[0].handle_timeout(seconds(25));
    let refresh = message(&mut path.nodes[0], 2);
    path.give(2, 1, refresh, seconds(25));
    let release = message(&mut path.nodes[1], 1);
    path.give(1, 2, release, seconds(25));
    assert_eq!(outputs(&mut path.nodes[0]), [Output::Ended { stream: stream(1) }]);
}

#[test]
fn a_repeated_reserve_books_once_and_is_passed_on() {
    let mut path = Path::new(RULES, 20e6);
    path.nodes[0].handle_plan(plan(1, &[1, 2, 3], 0.2), &path.worlds[0], seconds(20));
    let reserve = message(&mut path.nodes[0], 2);
    path.give(2, 1, reserve.clone(), seconds(20));
    let first = message(&mut path.nodes[1], 3);
    path.give(2, 1, reserve, seconds(21));
    assert_eq!(message(&mut path.nodes[1], 3), first);
    assert_eq!(path.nodes[1].links().len(), 2);
    // The display repeats twice, then gives up.
    for (second, sends) in [(21, 1), (22, 1), (23, 2)] {
        path.nodes[0].handle_timeout(seconds(second));
        let outputs = outputs(&mut path.nodes[0]);
        assert_eq!(outputs.len(), sends, "{outputs:?}");
    }
    assert_eq!(path.nodes[0].booking(stream(1)), None);
}

/// Both meet at node 2, which has time for one.
/// The relay's first CONFIRM does not reach the display, which repeats its RESERVE after a second.
#[test]
fn a_lost_confirm_is_repeated_by_a_relay_whose_booking_is_firm() {
    let mut path = Path::new(RULES, 20e6);
    let reach_display = |path: &mut Path| {
        let reserve = message(&mut path.nodes[0], 2);
        path.give(2, 1, reserve, seconds(20));
        let reserve = message(&mut path.nodes[1], 3);
        path.give(3, 2, reserve, seconds(20));
        let answers = outputs(&mut path.nodes[2]);
        let Some(Output::Send { message: confirm, .. }) = answers.last() else { panic!("{answers:?}") };
        path.give(2, 3, confirm.clone(), seconds(20));
        message(&mut path.nodes[1], 1)
    };
    path.nodes[0].handle_plan(plan(1, &[1, 2, 3], 0.2), &path.worlds[0], seconds(20));
    let lost = reach_display(&mut path);
    assert!(path.nodes[1].booking(stream(1)).expect("booked").is_firm());
    path.nodes[0].handle_timeout(seconds(21));
    let confirm = reach_display(&mut path);
    assert_eq!(confirm, lost);
    path.give(1, 2, confirm.clone(), seconds(21));
    assert!(matches!(outputs(&mut path.nodes[0]).as_slice(), [Output::Confirmed { risk: Some(_), .. }]));
    // Another one changes nothing.
    path.give(1, 2, confirm, seconds(22));
    assert_eq!(outputs(&mut path.nodes[0]), []);
}

#[test]
fn of_two_that_race_the_lower_identity_wins() {
    let (world, mut relay) = (World::new(2, 6e6), Reservations::new(node(2), RULES, 7));
    let reserve = |display: u8| {
        let Plan { stream, attempt, wish, prefetch, path } = plan(display, &[display, 2], 0.666);
        Message::Reserve { stream, attempt, place: 1, wish, prefetch, risk: 0, path }
    };
    // Towards a further node, so that the booking stays tentative.
    let tentative = |display: u8, last: u8| {
        let Plan { stream, attempt, wish, prefetch, path } = plan(display, &[display, 2, last], 0.3);
        Message::Reserve { stream, attempt, place: 1, wish, prefetch, risk: 0, path }
    };
    let mut later = World::new(2, 13e6);
    later.has_clip = true;
    relay.handle_message(node(4), tentative(4, 5), &later, seconds(20));
    message(&mut relay, 5);
    relay.handle_message(node(3), reserve(3), &world, seconds(20));
    let all = outputs(&mut relay);
    assert!(all.contains(&Output::Send { to: node(5), message: Message::Release { stream: stream(4) } }), "{all:?}");
    assert!(all.iter().any(|output| matches!(output, Output::Send { to, message: Message::Reject { reason: Refusal::Lost, .. } } if *to == node(4))));
    assert!(
        all.iter().any(|output| matches!(output, Output::Granted { stream: granted, .. } if *granted == stream(3)))
    );
    // The other way round the one that came first stays.
    let mut relay = Reservations::new(node(2), RULES, 7);
    relay.handle_message(node(3), tentative(3, 5), &later, seconds(20));
    message(&mut relay, 5);
    relay.handle_message(node(4), reserve(4), &world, seconds(20));
    assert!(matches!(message(&mut relay, 4), Message::Reject { reason: Refusal::Airtime, .. }));
}

/// Why the last node of a path of one link refuses a stream of 4 Mb/s, if it does.
fn refusal(world: &World, rules: Rules) -> Option<Refusal> {
    let mut last = Reservations::new(node(2), rules, 7);
    let Plan { stream, attempt, wish, prefetch, path } = plan(1, &[1, 2], 0.2);
    let reserve = Message::Reserve { stream, attempt, place: 1, wish, prefetch, risk: 0, path };
    last.handle_message(node(1), reserve, world, seconds(20));
    outputs(&mut last).into_iter().find_map(|output| match output {
        Output::Send { message: Message::Reject { reason, .. }, .. } => Some(reason),
        _ => None,
    })
}

#[test]
fn each_policy_refuses_for_its_own_reason() {
    let verdict = |policy, rate: f64, change: fn(&mut Rules)| {
        let mut rules = Rules { policy, ..RULES };
        change(&mut rules);
        refusal(&World::new(2, rate), rules)
    };
    let as_is = |_: &mut Rules| {};
    assert_eq!(verdict(Policy::All, 1e6, as_is), None);
    assert_eq!(verdict(Policy::Hops, 1e6, as_is), None, "it does not look at the link");
    assert_eq!(verdict(Policy::Hops, 1e6, |rules| rules.nominal_rate = 3e6), Some(Refusal::Hops));
    assert_eq!(verdict(Policy::Mean, 3.9e6, as_is), Some(Refusal::Rate));
    assert_eq!(verdict(Policy::Mean, 4.1e6, as_is), None, "it does not look at the airtime");
    assert_eq!(verdict(Policy::Airtime, 4.1e6, as_is), Some(Refusal::Airtime));
    assert_eq!(verdict(Policy::Airtime, 5e6, as_is), None);
    assert_eq!(verdict(Policy::Statistical, 4.1e6, as_is), Some(Refusal::Airtime));
    assert_eq!(verdict(Policy::Statistical, 3.9e6, |rules| rules.max_airtime = 1.0), Some(Refusal::Airtime));
    assert_eq!(verdict(Policy::Statistical, 5e6, as_is), None);
    assert_eq!(verdict(Policy::Profile, 3.9e6, as_is), Some(Refusal::Risk));
    assert_eq!(verdict(Policy::Profile, 5e6, as_is), None);
}

#[test]
fn a_profile_by_itself_does_not_count_what_others_reserve() {
    let verdict = |policy, taken: f64| {
        let mut world = World::new(2, 20e6);
        let links = vec![ReservedLink { stream: stream(9), hop: 1, airtime: units(taken) }];
        world.surroundings.handle_hello(node(3), (1..=5).map(node).collect(), links, vec![], Instant::START);
        refusal(&world, Rules { policy, ..RULES })
    };
    assert_eq!(verdict(Policy::Statistical, 0.6), None);
    assert_eq!(verdict(Policy::Statistical, 0.7), Some(Refusal::Airtime));
    assert_eq!(verdict(Policy::Profile, 0.7), None);
}

#[test]
fn what_is_no_path_from_the_sender_is_ignored() {
    let (world, mut relay) = (World::new(2, 20e6), Reservations::new(node(2), RULES, 7));
    let mut reserve = |display: u8, path: &[u8], place: u8, from: u8| {
        let Plan { attempt, wish, prefetch, path, .. } = plan(display, path, 0.1);
        let message = Message::Reserve { stream: stream(display), attempt, place, wish, prefetch, risk: 0, path };
        relay.handle_message(node(from), message, &world, seconds(20));
        outputs(&mut relay).len()
    };
    assert_eq!(reserve(1, &[1, 2, 3], 1, 4), 0, "the node before is another one");
    assert_eq!(reserve(1, &[1, 3, 2], 1, 1), 0, "the place is another node's");
    assert_eq!(reserve(1, &[1, 2, 1], 1, 1), 0, "a loop");
    assert_eq!(reserve(3, &[1, 2], 1, 1), 0, "another display");
    assert_eq!(reserve(1, &[1, 2], 0, 1), 0);
    assert_eq!(reserve(1, &[1, 2], 2, 1), 0);
    assert_eq!(reserve(1, &[1, 2], 1, 1), 2);
}
