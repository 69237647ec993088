//! By hand, at exact instants.

use std::net::Ipv4Addr;

use proptest::prelude::*;

use super::*;
use crate::streaming::profile::{self, LinkTotals};

const CONFIG: Config = Config { after: Duration::from_secs(10), margin: 1.2, hold: Duration::from_secs(60), flaps: 2 };

fn at(ms: u64) -> Instant {
    Instant::START + Duration::from_millis(ms)
}

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn outputs(paths: &mut Paths) -> Vec<Output> {
    core::iter::from_fn(|| paths.poll_output()).collect()
}

/// A display that has taken a shorter path, number 1, at one second, with a full buffer of one second.
fn shortened(config: Config) -> Paths {
    let mut paths = Paths::new(config, at(0));
    assert_eq!(paths.handle_offer(at(900)), Some(1));
    paths.handle_confirmed(1, at(1_000));
    paths.handle_level(ms(1_000), ms(1_000), at(1_000));
    paths
}

#[test]
fn a_shortcut_is_told_after_ten_seconds_and_again_after_five() {
    let stream = StreamId { display: Ipv4Addr::new(10, 0, 0, 1), number: 0 };
    let mut shortcuts = Shortcuts::new(CONFIG.after);
    let mut tell = |ms: u64, is_fast: bool| shortcuts.handle_link(stream, 0, is_fast, at(ms));
    assert!(!tell(0, true) && !tell(9_999, true) && tell(10_000, true));
    assert!(!tell(14_999, true) && tell(15_000, true));
    // Once it was slow, it has to be fast for ten seconds.
    assert!(!tell(16_000, false) && !tell(17_000, true) && !tell(26_999, true) && tell(27_000, true));
    shortcuts.retain(|_| false);
    assert!(!shortcuts.handle_link(stream, 0, true, at(60_000)));
}

#[test]
fn a_link_is_fast_by_its_quantile_or_at_once_by_its_last_second() {
    let mut profile = Profile::new(profile::Config::default(), Duration::ZERO);
    let mut totals = LinkTotals::default();
    // 1.3 · 1360 / 1316 · 4 Mb/s is 5.37 Mb/s: 20 s of it.
    for tenth in 1..=201_u64 {
        totals.octets += 6_720;
        totals.packets += 5;
        totals.attempts += 5;
        totals.airtime += ms(10);
        profile.handle_totals(totals, at(100 * tenth));
    }
    let at_once = Config { after: Duration::ZERO, ..CONFIG };
    assert!(is_fast(&CONFIG, &profile, 4_000_000) && is_fast(&at_once, &profile, 4_000_000));
    assert!(!is_fast(&CONFIG, &profile, 4_500_000));
    // Two seconds without a byte: the last second is slow, and a period of ten seconds is not over.
    for tenth in 202..=221_u64 {
        totals.attempts += 5;
        totals.airtime += ms(10);
        profile.handle_totals(totals, at(100 * tenth));
    }
    assert!(is_fast(&CONFIG, &profile, 4_000_000) && !is_fast(&at_once, &profile, 4_000_000));
}

#[test]
fn the_shorter_path_is_reserved_before_the_longer_one_is_left_and_that_is_held_for_a_minute() {
    let mut paths = Paths::new(CONFIG, at(0));
    assert_eq!((paths.used(), paths.poll_timeout()), (0, None));
    assert_eq!(paths.handle_offer(at(500)), Some(1));
    assert_eq!(paths.handle_offer(at(600)), None, "one at a time");
    assert!(paths.used() == 0 && outputs(&mut paths).is_empty());
    paths.handle_confirmed(7, at(700));
    assert_eq!(paths.used(), 0, "another path");
    paths.handle_confirmed(1, at(1_000));
    assert_eq!((paths.used(), outputs(&mut paths)), (1, vec![Output::Switch]));
    assert_eq!(paths.all().collect::<Vec<_>>(), [1, 0]);
    assert_eq!(paths.poll_timeout(), Some(at(61_000)));
    paths.handle_timeout(at(60_999));
    assert!(outputs(&mut paths).is_empty());
    paths.handle_timeout(at(61_000));
    assert_eq!((paths.poll_timeout(), outputs(&mut paths)), (None, vec![Output::Release(0)]));
    let counts = Counts { shortened: 1, returned: 0, held: Duration::from_secs(60) };
    assert_eq!(paths.counts(at(90_000)), counts);
}

#[test]
fn a_display_returns_once_half_of_its_buffer_is_empty() {
    let mut paths = shortened(CONFIG);
    assert_eq!(outputs(&mut paths), [Output::Switch]);
    paths.handle_level(ms(501), ms(1_000), at(1_499));
    assert!(outputs(&mut paths).is_empty());
    paths.handle_level(ms(500), ms(1_000), at(1_500));
    assert_eq!((paths.used(), outputs(&mut paths)), (0, vec![Output::Release(1), Output::Switch]));
    assert_eq!(paths.counts(at(2_000)), Counts { shortened: 1, returned: 1, held: ms(500) });
    // The longer path is the first one again, which no level makes it leave.
    paths.handle_level(ms(0), ms(1_000), at(1_600));
    assert!(outputs(&mut paths).is_empty());
    assert_eq!(paths.handle_offer(at(11_499)), None);
    assert_eq!(paths.handle_offer(at(11_500)), Some(2));
}

#[test]
fn a_path_that_brings_nothing_into_an_empty_buffer_is_left_after_half_of_its_length() {
    let mut paths = Paths::new(CONFIG, at(0));
    paths.handle_offer(at(0));
    paths.handle_confirmed(1, at(0));
    outputs(&mut paths);
    paths.handle_level(ms(0), ms(1_000), at(499));
    assert!(outputs(&mut paths).is_empty());
    paths.handle_level(ms(0), ms(1_000), at(500));
    assert_eq!(paths.used(), 0);
}

#[test]
fn without_a_path_that_is_held_one_is_looked_for() {
    let mut paths = shortened(Config { hold: Duration::ZERO, ..CONFIG });
    assert_eq!(outputs(&mut paths), [Output::Switch, Output::Release(0)]);
    assert_eq!((paths.all().collect::<Vec<_>>(), paths.poll_timeout()), (vec![1], None));
    paths.handle_level(ms(400), ms(1_000), at(1_600));
    assert_eq!(outputs(&mut paths), [Output::Search]);
    paths.handle_lost(at(1_600));
    assert_eq!(paths.all().collect::<Vec<_>>(), [1]);
    paths.handle_level(ms(0), ms(1_000), at(1_700));
    assert!(outputs(&mut paths).is_empty());
}

#[test]
fn a_first_path_is_given_up_if_it_is_silent_and_not_if_it_is_slow() {
    let mut paths = Paths::new(CONFIG, at(0));
    paths.handle_start(at(1_000));
    paths.handle_level(ms(0), ms(1_000), at(1_499));
    for ms_at in [1_700, 2_000] {
        paths.handle_packet(0, at(ms_at));
        paths.handle_level(ms(1_000), ms(1_000), at(ms_at));
    }
    paths.handle_level(ms(400), ms(1_000), at(2_499));
    assert!(outputs(&mut paths).is_empty());
    paths.handle_packet(0, at(2_499));
    paths.handle_level(ms(300), ms(1_000), at(2_998));
    assert!(outputs(&mut paths).is_empty(), "slow");
    paths.handle_level(ms(0), ms(1_000), at(2_999));
    assert_eq!((outputs(&mut paths), paths.counts(at(3_000)).returned), (vec![Output::Search], 0));
    // The other path has half of a second to begin.
    paths.handle_lost(at(2_999));
    paths.handle_start(at(3_600));
    paths.handle_level(ms(0), ms(1_000), at(4_099));
    assert!(outputs(&mut paths).is_empty());
    paths.handle_level(ms(0), ms(1_000), at(4_100));
    assert_eq!(outputs(&mut paths), [Output::Search]);
}

#[test]
fn a_refusal_is_asked_for_again_after_ten_seconds() {
    let mut paths = Paths::new(CONFIG, at(0));
    assert_eq!(paths.handle_offer(at(0)), Some(1));
    assert!(paths.handle_ended(1, at(100)));
    assert_eq!((paths.used(), paths.handle_offer(at(10_099)), paths.handle_offer(at(10_100))), (0, None, Some(2)));
    assert!(!paths.handle_ended(9, at(10_200)), "no path of these");
    assert!(!paths.handle_ended(0, at(10_200)), "the first one is the caller's to replace");
}

#[test]
fn the_end_of_the_shorter_path_is_a_return_and_that_of_the_longer_one_is_none() {
    let mut paths = shortened(CONFIG);
    outputs(&mut paths);
    assert!(paths.handle_ended(0, at(2_000)));
    assert_eq!((paths.used(), paths.poll_timeout(), outputs(&mut paths)), (1, None, vec![]));
    let mut paths = shortened(CONFIG);
    outputs(&mut paths);
    assert!(paths.handle_ended(1, at(2_000)));
    assert_eq!((paths.used(), outputs(&mut paths)), (0, vec![Output::Release(1), Output::Switch]));
}

#[test]
fn after_three_returns_in_a_minute_both_paths_are_used_until_the_longer_one_is_not_needed_for_a_minute() {
    let mut paths = Paths::new(Config { after: ms(0), ..CONFIG }, at(0));
    let flap = |paths: &mut Paths, ms_at: u64| {
        let path = paths.handle_offer(at(ms_at)).expect("it is not quiet");
        paths.handle_confirmed(path, at(ms_at));
        paths.handle_level(ms(1_000), ms(1_000), at(ms_at));
        outputs(paths);
        paths.handle_level(ms(500), ms(1_000), at(ms_at + 500));
        outputs(paths)
    };
    for ms_at in [1_000, 21_000] {
        assert!(matches!(flap(&mut paths, ms_at)[..], [Output::Release(_), Output::Switch]));
        assert_eq!((paths.used(), paths.spare()), (0, None));
    }
    assert_eq!(flap(&mut paths, 41_000), [Output::Switch]);
    assert_eq!((paths.used(), paths.spare(), paths.idle()), (3, Some(0), None));
    assert_eq!(paths.handle_offer(at(42_000)), None);
    paths.handle_level(ms(100), ms(1_000), at(43_000));
    assert!(outputs(&mut paths).is_empty());
    // The longer one brings something, and then nothing.
    paths.handle_packet(3, at(45_000));
    paths.handle_packet(0, at(44_000));
    assert_eq!(paths.poll_timeout(), Some(at(104_000)));
    paths.handle_timeout(at(104_000));
    assert_eq!((paths.spare(), paths.idle(), paths.poll_timeout()), (None, Some(0), Some(at(164_000))));
    paths.handle_timeout(at(164_000));
    assert_eq!(outputs(&mut paths), [Output::Release(0)]);
    assert_eq!(paths.counts(at(200_000)).returned, 3);
}

#[test]
fn two_returns_in_more_than_a_minute_are_no_flapping() {
    let mut paths = Paths::new(Config { after: ms(0), flaps: 1, ..CONFIG }, at(0));
    for ms_at in [1_000, 61_000] {
        let path = paths.handle_offer(at(ms_at)).expect("it is not quiet");
        paths.handle_confirmed(path, at(ms_at));
        paths.handle_level(ms(1_000), ms(1_000), at(ms_at));
        paths.handle_level(ms(500), ms(1_000), at(ms_at + 500));
        assert_eq!((paths.used(), paths.spare()), (0, None));
    }
}

#[derive(Clone, Debug)]
enum Step {
    Offer,
    Confirmed(u8),
    Ended(u8),
    Level(u64),
    Packet(u8),
    Wait(u64),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        Just(Step::Offer),
        (0_u8..4).prop_map(Step::Confirmed),
        (0_u8..4).prop_map(Step::Ended),
        (0_u64..1_500).prop_map(Step::Level),
        (0_u8..4).prop_map(Step::Packet),
        (0_u64..40_000).prop_map(Step::Wait),
    ]
}

proptest! {
    /// Whatever happens: the paths that are reserved are those that were not released, the one that is used is one of them, and no
    /// time passes twice as held.
    #[test]
    fn nothing_is_released_twice_or_forgotten(steps in prop::collection::vec(step(), 0..80), hold in 0_u64..70, flaps in 0_u32..3) {
        let config = Config { hold: Duration::from_secs(hold), flaps, after: ms(500), ..CONFIG };
        let mut paths = Paths::new(config, at(0));
        let mut reserved = std::collections::BTreeSet::from([0]);
        let mut now = 0;
        for step in steps {
            match step {
                Step::Offer => {
                    if let Some(path) = paths.handle_offer(at(now)) {
                        prop_assert!(reserved.insert(path), "a number that is in use");
                    }
                }
                Step::Confirmed(path) => paths.handle_confirmed(path, at(now)),
                Step::Ended(path) => {
                    if paths.handle_ended(path, at(now)) {
                        reserved.remove(&path);
                    }
                }
                Step::Level(level) => paths.handle_level(ms(level), ms(1_000), at(now)),
                Step::Packet(path) => paths.handle_packet(path, at(now)),
                Step::Wait(later) => {
                    now += later;
                    paths.handle_timeout(at(now));
                }
            }
            while let Some(output) = paths.poll_output() {
                match output {
                    Output::Release(path) => _ = reserved.remove(&path),
                    Output::Switch => {}
                    Output::Search => {
                        paths.handle_lost(at(now));
                        reserved = std::collections::BTreeSet::from([paths.used()]);
                    }
                }
            }
            let all: std::collections::BTreeSet<u8> = paths.all().collect();
            prop_assert_eq!(all.len(), paths.all().count(), "two with one number");
            prop_assert_eq!(&all, &reserved);
            prop_assert!(paths.counts(at(now)).held <= ms(now));
            prop_assert!(paths.poll_timeout().is_none_or(|due| due > at(now)));
        }
    }
}
