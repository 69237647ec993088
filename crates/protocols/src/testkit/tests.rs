use super::*;
use crate::time::{Duration, Instant};

const LATENCY: Duration = Duration::from_millis(10);

fn ms(n: u64) -> Instant {
    Instant::START + Duration::from_millis(n)
}

/// Sends `count` datagrams of 100 bytes, one each millisecond; when each arrived, and with which first byte.
fn carry(impairments: Impairments, count: u8) -> (Vec<(Instant, u8)>, LinkStatistics) {
    let mut link = Link::new(impairments, 5);
    (0..count).for_each(|nth| link.handle_datagram(Side::Client, vec![nth; 100], ms(nth.into())));
    let mut arrivals = Vec::new();
    while let Some(now) = link.poll_timeout() {
        while let Some((to, datagram)) = link.poll_output(now) {
            assert_eq!(to, Side::Server);
            arrivals.push((now, datagram[0]));
        }
    }
    assert!(link.is_empty());
    (arrivals, *link.statistics(Side::Client))
}

#[test]
fn an_unimpaired_link_delays_alone() {
    let (arrivals, statistics) = carry(Impairments::latency(LATENCY), 3);
    assert_eq!(arrivals, [(ms(10), 0), (ms(11), 1), (ms(12), 2)]);
    assert_eq!(statistics, LinkStatistics { sent: 3, ..LinkStatistics::default() });
}

#[test]
fn jitter_beyond_the_spacing_reorders() {
    let (arrivals, _) = carry(Impairments { jitter: LATENCY, ..Impairments::latency(LATENCY) }, 100);
    assert_eq!(arrivals.len(), 100);
    assert!(arrivals.iter().all(|&(at, nth)| (ms(10)..=ms(20)).contains(&(at - Duration::from_millis(nth.into())))));
    assert!(!arrivals.is_sorted_by_key(|&(_, nth)| nth));
}

#[test]
fn a_bottleneck_sends_at_its_rate_and_drops_what_would_wait_too_long() {
    // 100 bytes take 4 ms, and one comes each millisecond: the fourth finds 9 ms of waiting, the sixth 15.
    let bottleneck = Bottleneck { per_byte: Duration::from_micros(40), queue: LATENCY };
    let (arrivals, statistics) = carry(Impairments { bottleneck: Some(bottleneck), ..Impairments::NONE }, 6);
    assert_eq!(arrivals, [(ms(4), 0), (ms(8), 1), (ms(12), 2), (ms(16), 3)]);
    assert_eq!((statistics.sent, statistics.overflowed), (6, 2));
}

#[test]
fn loss_duplication_and_corruption_come_as_often_as_asked() {
    let impairments = Impairments { loss: 0.5, duplication: 0.2, corruption: 0.3, ..Impairments::NONE };
    let mut link = Link::new(impairments, 1);
    for _ in 0..20_000 {
        link.handle_datagram(Side::Server, vec![0; 10], Instant::START);
    }
    let statistics = *link.statistics(Side::Server);
    // Six standard deviations of a binomial distribution: below 0.022 for 20000 trials, 0.03 for 10000.
    assert!((statistics.lost as f64 / 20_000.0 - 0.5).abs() < 0.022);
    assert!((statistics.duplicated as f64 / 10_000.0 - 0.2).abs() < 0.03);
    assert!((statistics.corrupted as f64 / 10_000.0 - 0.3).abs() < 0.03);
    assert_eq!(link.len() as u64, 20_000 - statistics.lost + statistics.duplicated);
    let arrived: Vec<_> = core::iter::from_fn(|| link.poll_output(Instant::START)).collect();
    let wrong = |datagram: &Vec<u8>| datagram.iter().map(|byte| byte.count_ones()).sum::<u32>();
    assert!(arrived.iter().all(|(_, datagram)| wrong(datagram) <= 1), "one bit of one byte");
    assert!(arrived.iter().filter(|(_, datagram)| wrong(datagram) == 1).count() as u64 >= statistics.corrupted);
}

#[test]
fn an_outage_and_a_short_mtu_let_nothing_through() {
    let (arrivals, statistics) = carry(Impairments { outage: Some([ms(1), ms(3)]), ..Impairments::NONE }, 5);
    assert_eq!(arrivals.iter().map(|&(_, nth)| nth).collect::<Vec<_>>(), [0, 3, 4]);
    assert_eq!(statistics.lost, 2);
    for (mtu, dropped) in [(100, 0), (99, 5)] {
        let (_, statistics) = carry(Impairments { mtu: Some(mtu), ..Impairments::NONE }, 5);
        assert_eq!(statistics.too_long, dropped);
    }
}

/// A machine that breaks the contract.
#[derive(Default)]
struct Stuck {
    due: Option<Instant>,
    endless: bool,
}

impl Peer for Stuck {
    type Datagram = Vec<u8>;
    type Event = ();

    fn handle_datagram(&mut self, _: &Vec<u8>, _: Instant) {}

    fn handle_timeout(&mut self, _: Instant) {}

    fn poll_output(&mut self, _: Instant) -> Option<Output<Vec<u8>, ()>> {
        self.endless.then_some(Output::Event(()))
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.due
    }
}

#[test]
#[should_panic(expected = "the server's timer stays due at 0.003")]
fn a_timer_that_stays_due_is_found() {
    let server = Stuck { due: Some(ms(3)), ..Stuck::default() };
    Pair::new(Stuck::default(), server, Link::new(Impairments::NONE, 1)).run_to_end();
}

#[test]
#[should_panic(expected = "no progress: 20000 outputs at 0.000")]
fn an_end_that_puts_out_without_end_is_found() {
    let client = Stuck { endless: true, ..Stuck::default() };
    Pair::new(client, Stuck::default(), Link::new(Impairments::NONE, 1)).run_to_end();
}

#[test]
fn choices_are_those_of_the_bytes_and_then_the_first_ones() {
    let mut choices = Choices::new(&[7, 1, 2, 5, 3, 9, 9, 9]);
    assert_eq!((choices.byte(), choices.u16(), choices.pick(&[10, 20, 30])), (7, 0x0201, 30));
    assert_eq!(choices.bytes(8), [9, 9, 9]);
    assert!(choices.is_empty());
    assert_eq!((choices.u64(), choices.bool(), choices.near(40)), (0, false, 40));
}
