//! Tests of a shared medium by hand, at exact instants, of properties that always hold, and against outside figures.

use hopcast_protocols::random::Purpose;
use proptest::prelude::*;

use super::*;

/// 10 Mb/s: a bit in 100 ns.
const RATE: f64 = 10e6;

fn medium(seed: u64, delays: &[Duration]) -> SharedMedium {
    let random = |station| Stream::new(seed, Purpose::WireBackoff, station, 0);
    SharedMedium::new(RATE, delays.iter().copied().zip((0..).map(random)))
}

fn close(seed: u64, stations: usize) -> SharedMedium {
    medium(seed, &vec![Duration::ZERO; stations])
}

/// The instant after a number of bits.
fn bit(bits: u64) -> Instant {
    Instant::START + Duration::from_nanos(100 * bits)
}

/// Bits of a frame on the medium, preamble included.
fn frame(octets: u64) -> u64 {
    64 + 8 * (18 + octets)
}

/// The first seed whose first two stations draw these slots after their first collision.
fn seed_of(slots: [u32; 2]) -> u64 {
    let draw = |seed, station| Stream::new(seed, Purpose::WireBackoff, station, 0).below(2);
    (0..).find(|&seed| [draw(seed, 0), draw(seed, 1)] == slots).expect("any of four comes soon")
}

/// What comes out until nothing is left to do, with its instant.
fn run(medium: &mut SharedMedium) -> Vec<(Instant, Outcome)> {
    let mut out = Vec::new();
    while let Some(now) = medium.poll_timeout() {
        medium.handle_timeout(now);
        while let Some(outcome) = medium.poll_output() {
            out.push((now, outcome));
        }
    }
    out
}

fn sent(station: u32) -> Outcome {
    Outcome { station, is_sent: true }
}

#[test]
fn a_station_alone_sends_at_once_and_leaves_a_gap_between_frames() {
    let mut medium = close(1, 2);
    medium.handle_frame(0, 1_500, bit(70));
    let end = 70 + frame(1_500);
    assert_eq!(run(&mut medium), [(bit(end), sent(0))]);
    medium.handle_frame(0, 1_500, bit(end));
    assert_eq!(run(&mut medium), [(bit(end + 96 + frame(1_500)), sent(0))]);
    // Padded to 64 bytes, and long after the gap.
    medium.handle_frame(0, 1, bit(100_000));
    assert_eq!(run(&mut medium), [(bit(100_000 + 64 + 512), sent(0))]);
    assert_eq!(medium.collisions(0), 0);
}

#[test]
fn a_station_that_senses_a_carrier_waits_for_its_end_and_the_gap() {
    let mut medium = close(1, 3);
    medium.handle_frame(0, 1_000, bit(0));
    medium.handle_timeout(bit(0));
    medium.handle_frame(1, 100, bit(10));
    let end = frame(1_000);
    assert_eq!(run(&mut medium), [(bit(end), sent(0)), (bit(end + 96 + frame(100)), sent(1))]);
}

#[test]
fn who_begins_at_one_instant_collides_and_the_shorter_backoff_goes_first() {
    for order in [[0, 1], [1, 0]] {
        let mut medium = close(seed_of([0, 1]), 2);
        for station in order {
            medium.handle_frame(station, 500, bit(0));
        }
        // Preamble and jam take 96 bits, the gap as much. The other one waits for a slot, which ends within the frame of the first.
        let first = 96 + 96 + frame(500);
        let second = first + 96 + frame(500);
        assert_eq!(run(&mut medium), [(bit(first), sent(0)), (bit(second), sent(1))], "{order:?}");
        assert_eq!([0, 1].map(|station| medium.collisions(station)), [1, 1]);
    }
}

#[test]
fn equal_draws_collide_again() {
    let mut medium = close(seed_of([1, 1]), 2);
    (0..2).for_each(|station| medium.handle_frame(station, 500, bit(0)));
    while medium.collisions(0) < 2 {
        let now = medium.poll_timeout().expect("it goes on");
        medium.handle_timeout(now);
    }
    // A slot after the jam; the gap is over by then.
    assert_eq!(medium.stations[0].state, State::Jamming(bit(96 + 512 + 96)));
}

#[test]
fn a_collision_is_noticed_when_the_signal_arrives() {
    // 5 µs from the first to the second, which begins before it hears of that.
    let mut medium = medium(seed_of([0, 1]), &[Duration::from_micros(5), Duration::ZERO]);
    medium.handle_frame(0, 1_000, bit(0));
    medium.handle_timeout(bit(0));
    medium.handle_frame(1, 1_000, bit(30));
    medium.handle_timeout(bit(30));
    medium.handle_timeout(bit(50));
    // It finishes its preamble first.
    assert_eq!(medium.stations[1].state, State::Jamming(bit(30 + 64 + 32)));
    medium.handle_timeout(bit(80));
    assert_eq!(medium.stations[0].state, State::Jamming(bit(80 + 32)));
    // The first one hears the end of the other's jam at 176, the other one the end of its at 162.
    let outcomes = run(&mut medium);
    let first = 176 + 96 + frame(1_000);
    assert_eq!(outcomes[0], (bit(first), sent(0)));
    // What the first one sends ends 5 µs later at the second.
    assert_eq!(outcomes[1], (bit(first + 50 + 96 + frame(1_000)), sent(1)));
}

#[test]
fn a_carrier_early_in_the_gap_stops_it_and_a_late_one_does_not() {
    for (onset, stops) in [(1, true), (64, true), (65, false), (95, false)] {
        let mut medium = close(1, 2);
        medium.handle_frame(0, 1_000, bit(0));
        medium.handle_timeout(bit(0));
        medium.handle_frame(1, 1_000, bit(10));
        let end = frame(1_000);
        medium.handle_timeout(bit(end));
        medium.hear(1, bit(end + onset));
        medium.handle_timeout(bit(end + 96));
        let is_waiting = medium.stations[1].state == State::Waiting;
        assert_eq!(is_waiting, stops, "{onset} bits after the end");
        // Then it collides at once.
        assert_eq!(medium.collisions(1), u64::from(!stops));
    }
}

/// Slots grow with the collisions up to the tenth, and after the sixteenth the frame is given up.
#[test]
fn backoff_grows_up_to_the_tenth_collision_and_the_sixteenth_is_the_last() {
    let mut widest = [0; 16];
    for seed in 0..300 {
        let mut medium = close(seed, 2);
        let mut now = bit(0);
        medium.handle_frame(0, 1_000, now);
        for slots in &mut widest {
            medium.handle_timeout(now);
            assert!(matches!(medium.stations[0].state, State::Sending(..)));
            medium.hear(0, now);
            let State::Jamming(end) = medium.stations[0].state else { panic!("it has collided") };
            assert_eq!(end, now + Duration::from_nanos(9_600));
            medium.hear_no_more(0, end);
            medium.handle_timeout(end);
            let until = match medium.stations[0].state {
                State::BackingOff(until) => until,
                // Of no slots.
                State::Waiting => end,
                _ => break,
            };
            *slots = ((until - end).as_nanos() / 51_200).max(*slots);
            medium.handle_timeout(until);
            now = until.max(end + Duration::from_nanos(9_600));
        }
        assert_eq!(medium.poll_output(), Some(Outcome { station: 0, is_sent: false }));
        assert_eq!((medium.poll_output(), medium.stations[0].state), (None, State::Idle));
        assert_eq!(medium.collisions(0), 16);
    }
    for (slots, number) in widest[..15].iter().zip(1_u32..) {
        let most = (1_u64 << number.min(10)) - 1;
        assert!(*slots <= most && *slots >= most * 9 / 10, "{slots} slots after collision {number}");
    }
}

/// The capture effect: the station that has won keeps on winning. L. Peterson and B. Davie, "Computer Networks: A Systems Approach",
/// exercises of the chapter on direct links: having won the first race, A wins the second at once with 5/8 and the third with 13/16.
#[test]
fn the_winner_of_a_race_wins_the_next_ones_as_often_as_the_textbook_says() {
    let (mut races, mut wins) = ([0; 2], [0; 2]);
    for seed in 0..40_000 {
        let mut medium = close(seed, 2);
        (0..2).for_each(|station| medium.handle_frame(station, 1_500, bit(0)));
        let mut winner = None;
        for race in 0..3 {
            // Until one has sent, with a single collision of both before.
            let before = medium.collisions(0);
            let outcome = loop {
                let now = medium.poll_timeout().expect("both have frames");
                medium.handle_timeout(now);
                if let Some(outcome) = medium.poll_output() {
                    medium.handle_frame(outcome.station, 1_500, now);
                    break outcome;
                }
            };
            let is_decided_at_once = medium.collisions(0) == before + 1;
            if race == 0 {
                winner = is_decided_at_once.then_some(outcome.station);
            } else if let Some(station) = winner {
                races[race - 1] += 1;
                let has_won = is_decided_at_once && outcome.station == station;
                wins[race - 1] += u32::from(has_won);
                winner = has_won.then_some(station);
            }
        }
    }
    for (race, expected) in [(0, 5.0 / 8.0), (1, 13.0 / 16.0)] {
        let (share, n) = (f64::from(wins[race]) / f64::from(races[race]), f64::from(races[race]));
        let deviation = libm::sqrt(expected * (1.0 - expected) / n);
        assert!((share - expected).abs() < 4.0 * deviation, "race {}: {share} of {n}", race + 2);
    }
}

/// Share of the time for which `stations` at the ends of the longest possible cables send frames of `octets` of data that arrive, all
/// with another frame at once.
fn efficiency(stations: usize, octets: u32, seconds: u64) -> f64 {
    // Half a slot between any two, less a bit.
    let mut medium = medium(7, &vec![Duration::from_nanos(12_750); stations]);
    (0..stations as u32).for_each(|station| medium.handle_frame(station, octets, bit(0)));
    let (mut frames, end) = (0_u64, Instant::START + Duration::from_secs(seconds));
    while let Some(now) = medium.poll_timeout().filter(|&now| now < end) {
        medium.handle_timeout(now);
        while let Some(outcome) = medium.poll_output() {
            frames += u64::from(outcome.is_sent);
            medium.handle_frame(outcome.station, octets, now);
        }
    }
    (frames * frame(octets.into())) as f64 / (seconds as f64 * RATE)
}

/// R. Metcalfe and D. Boggs, "Ethernet: Distributed Packet Switching for Local Computer Networks", CACM 19(7), 1976, section 6: each of Q
/// stations sends in a slot with probability 1/Q, so that a frame is acquired after W = (1 − A)/A slots, A = (1 − 1/Q)^(Q − 1).
/// "Ethernet efficiency" is P/(P + W · T). The gap, which that Ethernet did not have, lengthens a frame here.
#[test]
fn full_frames_use_the_medium_as_metcalfe_and_boggs_computed() {
    for stations in [2, 5, 10, 32] {
        let q = stations as f64;
        let acquisition = libm::pow(1.0 - 1.0 / q, q - 1.0);
        let slots = (1.0 - acquisition) / acquisition;
        let bits = frame(1_500) as f64;
        let expected = bits / (bits + 96.0 + slots * 512.0);
        let measured = efficiency(stations, 1_500, 20);
        assert!((measured - expected).abs() < 0.05, "{stations} stations: {measured:.3}, {expected:.3} computed");
    }
}

proptest! {
    /// At a medium without length, frames that arrive never overlap, and gaps lie between them; each frame is sent or given up.
    #[test]
    fn what_arrives_was_alone(
        seed in any::<u64>(),
        frames in prop::collection::vec((0_u32..4, 1_u32..1_500, 0_u64..30_000), 1..60),
    ) {
        let mut medium = close(seed, 4);
        let mut queues = vec![VecDeque::new(); 4];
        let mut arrivals: Vec<_> = frames.iter().map(|&(station, octets, at)| (bit(at), station, octets)).collect();
        arrivals.sort_unstable();
        let mut arrivals = VecDeque::from(arrivals);
        let (mut ended, mut given_up) = (Vec::new(), 0);
        loop {
            let arrival = arrivals.front().map_or(Instant::MAX, |&(at, ..)| at);
            let now = medium.poll_timeout().unwrap_or(Instant::MAX).min(arrival);
            if now == Instant::MAX {
                break;
            }
            if now == arrival {
                let (_, station, octets) = arrivals.pop_front().expect("it is there");
                queues[station as usize].push_back(octets);
                if queues[station as usize].len() == 1 {
                    medium.handle_frame(station, octets, now);
                }
                continue;
            }
            medium.handle_timeout(now);
            while let Some(outcome) = medium.poll_output() {
                let queue = &mut queues[outcome.station as usize];
                let octets: u32 = queue.pop_front().expect("it had one");
                if outcome.is_sent {
                    ended.push((now, frame(octets.max(46).into())));
                } else {
                    given_up += 1;
                }
                if let Some(&next) = queue.front() {
                    medium.handle_frame(outcome.station, next, now);
                }
            }
        }
        prop_assert_eq!(ended.len() + given_up, frames.len());
        for pair in ended.windows(2) {
            let apart = pair[1].0 - pair[0].0;
            prop_assert!(apart >= Duration::from_nanos(100 * (pair[1].1 + 96)), "{:?}", pair);
        }
        prop_assert!(medium.stations.iter().all(|station| station.heard == 0 && station.state == State::Idle));
    }
}
