//! The receiver by hand: a queue that builds up, losses in it and out of it.

use super::super::super::tfrc::Data;
use super::super::{Config, Identification, Notice, Receiver, States};
use crate::time::{Duration, Instant};

const RTT: Duration = Duration::from_millis(100);

/// Packets leave 10 ms apart; each says how long it took.
struct Bench {
    receiver: Receiver,
    now: Instant,
    reports: Vec<(u64, f64, Option<Notice>)>,
}

impl Bench {
    fn new(config: Config) -> Self {
        Self { receiver: Receiver::new(config), now: Instant::START, reports: Vec::new() }
    }

    /// The packet `number` arrives after `delay_ms`, with its timestamp or without.
    fn packet(&mut self, number: u64, delay_ms: u64, stamped: bool) -> &mut Self {
        let at = Instant::START + Duration::from_millis(10 * number + delay_ms);
        while let Some(due) = self.receiver.tfrc().poll_timeout().filter(|&due| due < at) {
            self.now = due;
            self.receiver.handle_timeout(due);
            self.report();
        }
        self.now = at;
        let data = Data { number, len: 1000, without_data: 0, rtt: RTT };
        // In units of 10 µs.
        self.receiver.on_packet(&data, stamped.then_some(1000 * number as u32), at);
        self.report();
        self
    }

    fn report(&mut self) {
        if let Some((report, notice)) = self.receiver.poll_report(self.now) {
            let ms = self.now.as_nanos() / 1_000_000;
            self.reports.push((ms, report.loss_event_rate, notice));
        }
    }

    /// A hundred packets on a quiet path, numbers 1 to 100, each 50 ms on the way; the last at 1050 ms.
    fn quiet(&mut self, stamped: bool) -> &mut Self {
        for number in 1..=100 {
            self.packet(number, 50, stamped);
        }
        self.reports.clear();
        self
    }
}

#[test]
fn algorithm_3_a_loss_in_congestion_is_an_event_and_urgent() {
    let mut bench = Bench::new(Config::default());
    bench.quiet(true);
    // The queue grows by 15 ms a packet: 25 ms apart, so that fewer arrive in a round trip. 104 is lost.
    for (number, delay) in [(101, 65), (102, 80), (103, 95), (105, 125), (106, 140)] {
        bench.packet(number, delay, true);
    }
    assert!(bench.receiver.states().is_some_and(|states| states.congestion), "{:?}", bench.receiver.sample());
    assert!(bench.reports.iter().all(|report| report.1 == 0.0), "{:?}", bench.reports);
    bench.reports.clear();
    // The third packet above 104 tells, at 1070 + 155 ms.
    bench.packet(107, 155, true);
    let [(1225, rate, Some(notice))] = bench.reports[..] else { panic!("{:?}", bench.reports) };
    assert!(rate > 0.0);
    assert_eq!(notice, Notice { states: States { congestion: true, ..States::default() }, urgent: true });
    // Another within the same round trip is no new event, but urgent again.
    bench.reports.clear();
    for (number, delay) in [(109, 185), (110, 200), (111, 215)] {
        bench.packet(number, delay, true);
    }
    let Some(&(1325, again, Some(Notice { urgent: true, .. }))) = bench.reports.last() else {
        panic!("{:?}", bench.reports)
    };
    assert_eq!(again, rate);
}

#[test]
fn algorithm_3_a_loss_out_of_congestion_is_none() {
    let mut bench = Bench::new(Config::default());
    bench.quiet(true);
    // 101 is lost; nothing else changes.
    for number in 102..=104 {
        bench.packet(number, 50, true);
    }
    let states = bench.receiver.states().expect("the sender stamps");
    assert_eq!(states, States { channel_error: true, ..States::default() });
    assert!(!bench.receiver.tfrc().has_lost());
    for number in 105..=130 {
        bench.packet(number, 50, true);
    }
    // Reports come once a round trip, say channel errors while the loss is within it, and then nothing.
    assert!(bench.reports.iter().all(|&(_, rate, notice)| rate == 0.0 && notice.is_some_and(|notice| !notice.urgent)));
    assert_eq!(bench.reports.len(), 3, "{:?}", bench.reports);
    assert_eq!(bench.receiver.states(), Some(States::default()));
}

#[test]
fn section_iii_d_without_a_reaction_it_is_tfrc_whose_identification_is_measured() {
    let joint = Some(Identification::Joint);
    let heard = |identification: Option<Identification>, stamped: bool| {
        let mut bench = Bench::new(Config { identification, ..Config::default() });
        bench.quiet(stamped);
        // 101 is lost on the quiet path, 113 while the queue grows by 15 ms a packet.
        for number in 102..=110 {
            bench.packet(number, 50, stamped);
        }
        for (number, delay) in [(111, 65), (112, 80), (114, 110), (115, 125), (116, 140)] {
            bench.packet(number, delay, stamped);
        }
        assert_eq!(bench.receiver.states().is_some(), identification.is_some() && stamped);
        (bench.receiver.signs().map(|signs| Identification::ALL.map(|by| signs.states(by).congestion)), bench.reports)
    };
    let (congestion, reports) = heard(None, true);
    assert_eq!(congestion, Some([true; 3]));
    assert!(reports.iter().any(|&(_, rate, _)| rate > 0.0), "{reports:?}");
    // As a plain sender hears it, which tells no time.
    assert_eq!((None, reports), heard(None, false));
    assert_ne!(heard(joint, true).1, heard(None, true).1);
}

#[test]
fn algorithm_3_packets_of_two_paths_show_a_route_change() {
    let mut bench = Bench::new(Config::default());
    bench.quiet(true);
    // The new path takes 25 ms: 103 and 104 catch up with 101 and 102.
    for (number, delay) in [(103, 25), (101, 50), (104, 25)] {
        bench.packet(number, delay, true);
    }
    assert!(bench.receiver.states().is_some_and(|states| states.route_change));
    assert!(!bench.receiver.tfrc().has_lost());
}

#[test]
fn a_plain_sender_gets_plain_feedback() {
    let mut bench = Bench::new(Config::default());
    bench.quiet(false);
    for number in 102..=104 {
        bench.packet(number, 50, false);
    }
    // The one of each round trip, and the one for the loss: every loss counts.
    let [(1060, 0.0, None), (1090, rate, None)] = bench.reports[..] else { panic!("{:?}", bench.reports) };
    assert!(rate > 0.0);
    assert_eq!(bench.receiver.states(), None);
}
