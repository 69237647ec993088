//! The sender by hand, at exact instants.

use super::super::{Config, Edition, Feedback, Response, Sender};
use crate::time::{Duration, Instant};

const RTT: Duration = Duration::from_millis(100);

fn ms(n: u64) -> Instant {
    Instant::START + Duration::from_millis(n)
}

fn config(edition: Edition) -> Config {
    Config { edition, oscillation_control: false, ..Config::default() }
}

/// A sender whose application always has a packet of 1000 bytes, and feedback from a path of 100 ms.
struct Bench {
    sender: Sender,
    now: Instant,
}

impl Bench {
    fn new(edition: Edition) -> Self {
        Self { sender: Sender::new(config(edition)), now: ms(0) }
    }

    /// Sends one packet; it must be due exactly now.
    #[track_caller]
    fn send(&mut self) -> &mut Self {
        assert_eq!(self.sender.departure(Instant::START).max(self.now), self.now, "due now");
        self.sender.on_sent(1000, Instant::START, true, self.now);
        self
    }

    /// Sends every packet that is due before `until`.
    fn send_until(&mut self, until: Instant) -> u32 {
        let mut count = 0;
        while self.sender.departure(Instant::START) < until {
            self.now = self.sender.departure(Instant::START).max(self.now);
            self.sender.on_sent(1000, Instant::START, true, self.now);
            count += 1;
        }
        self.now = until;
        count
    }

    fn at(&mut self, now: Instant) -> &mut Self {
        self.now = now;
        self
    }

    /// Three round trips with the same feedback, after which the first infinity limits no more.
    fn warm_up(&mut self, receive_rate: f64, loss_event_rate: f64) -> &mut Self {
        self.sender.on_handshake(RTT);
        for round in 1..=3 {
            self.send_until(ms(100 * round));
            self.feedback(receive_rate, loss_event_rate, Response::Adapt);
        }
        self
    }

    /// Feedback for a packet that left a round trip ago.
    fn feedback(&mut self, receive_rate: f64, loss_event_rate: f64, response: Response) -> &mut Self {
        let sent = Some(self.now - RTT);
        let feedback = Feedback { sent, delay: Duration::ZERO, receive_rate, loss_event_rate };
        self.sender.handle_feedback(&feedback, response, self.now);
        self
    }

    /// The nofeedback timer is set to this instant, and expires there.
    #[track_caller]
    fn expire(&mut self, at: Instant) -> &mut Self {
        assert_eq!(self.sender.poll_timeout(), Some(at));
        let before = self.sender.rate();
        self.sender.handle_timeout(Instant::from_nanos(at.as_nanos() - 1));
        assert_eq!(self.sender.rate(), before, "nothing happens before its time");
        self.now = at;
        self.sender.handle_timeout(at);
        self
    }

    #[track_caller]
    fn expect_rate(&mut self, rate: f64) -> &mut Self {
        assert!((self.sender.rate() / rate - 1.0).abs() < 1e-9, "{}, expected {rate}", self.sender.rate());
        self
    }
}

#[test]
fn section_4_2_starts_with_a_packet_a_second_and_halves_unheard() {
    let mut bench = Bench::new(Edition::Rfc5348);
    bench.expect_rate(1000.0).send();
    assert_eq!(bench.sender.departure(ms(0)), ms(1000));
    // The nofeedback timer is two seconds; another packet leaves meanwhile.
    bench.at(ms(1000)).send().expire(ms(2000)).expect_rate(500.0);
    // 2s/X is four seconds now; the packets leave two seconds apart.
    assert_eq!(bench.sender.departure(ms(0)), ms(3000));
    bench.at(ms(3000)).send().expire(ms(6000)).expect_rate(250.0);
    // Down to a packet in 64 seconds.
    for _ in 0..9 {
        let due = bench.sender.poll_timeout().expect("it has sent");
        bench.send_until(due);
        bench.sender.handle_timeout(due);
    }
    bench.expect_rate(1000.0 / 64.0);
}

#[test]
fn section_4_2_the_initial_window_by_segment() {
    for (segment, window) in
        [(500, 2000.0), (1000, 4000.0), (1095, 4380.0), (1460, 4380.0), (2190, 4380.0), (3000, 6000.0)]
    {
        let mut sender = Sender::new(Config { segment, ..config(Edition::Rfc5348) });
        sender.on_handshake(RTT);
        assert!((sender.rate() - window / 0.1).abs() < 1e-6, "{segment}");
        // RFC 3448: one packet.
        let mut sender = Sender::new(Config { segment, ..config(Edition::Rfc3448) });
        sender.on_handshake(RTT);
        assert!((sender.rate() - f64::from(segment) / 0.1).abs() < 1e-6, "{segment}");
    }
}

#[test]
fn a_handshake_that_took_no_time_gives_a_rate_all_the_same() {
    let mut sender = Sender::new(config(Edition::Rfc5348));
    sender.on_handshake(Duration::ZERO);
    assert_eq!(sender.rtt(), Some(Duration::from_nanos(1)));
    // Four packets of 1000 octets in a nanosecond.
    assert!((sender.rate() / 4e12 - 1.0).abs() < 1e-9, "{}", sender.rate());
}

#[test]
fn section_4_3_slow_start_doubles_once_a_round_trip() {
    let mut bench = Bench::new(Edition::Rfc5348);
    bench.sender.on_handshake(RTT);
    // 40 kB/s: a packet each 25 ms.
    assert_eq!(bench.send_until(ms(100)), 4);
    bench.feedback(10_000.0, 0.0, Response::Adapt).expect_rate(80_000.0);
    // Within the round trip no second time.
    assert_eq!(bench.send_until(ms(199)), 8);
    bench.feedback(40_000.0, 0.0, Response::Adapt).expect_rate(80_000.0);
    bench.send_until(ms(200));
    bench.feedback(40_000.0, 0.0, Response::Adapt).expect_rate(160_000.0);
    // Twice the greatest receive rate of two round trips is the limit; the first infinity is older.
    bench.send_until(ms(300));
    bench.feedback(60_000.0, 0.0, Response::Adapt).expect_rate(120_000.0);
}

#[test]
fn section_4_3_with_losses_the_equation_and_the_receive_limit() {
    let mut bench = Bench::new(Edition::Rfc5348);
    bench.sender.on_handshake(RTT);
    bench.send_until(ms(100));
    let equation = 1000.0 / (0.1 * 0.5 + 1.0 * 3.0 * 0.375 * 0.375 * 5.5);
    bench.feedback(40_000.0, 0.375, Response::Adapt).expect_rate(equation);
    // X_recv_set has 40 and 5 kB/s; at p = 10⁻⁴ the equation gives 1.2 MB/s.
    bench.send_until(ms(250));
    bench.feedback(5_000.0, 1e-4, Response::Adapt).expect_rate(80_000.0);
    // RFC 3448: the last receive rate alone, and a timeout of four round trips.
    let mut bench = Bench::new(Edition::Rfc3448);
    bench.sender.on_handshake(RTT);
    bench.send_until(ms(100));
    let equation = 1000.0 / (0.1 * 0.5 + 0.4 * 3.0 * 0.375 * 0.375 * 5.5);
    bench.feedback(40_000.0, 0.375, Response::Adapt).expect_rate(equation);
    bench.send_until(ms(200));
    bench.feedback(500.0, 1e-4, Response::Adapt).expect_rate(1000.0);
}

#[test]
fn section_4_3_what_the_application_does_not_send_is_no_limit() {
    let mut bench = Bench::new(Edition::Rfc5348);
    bench.warm_up(40_000.0, 1e-3).expect_rate(80_000.0);
    // For two seconds one packet in each round trip, offered when it leaves: 10 kB/s arrive, and no rate is lost by it.
    for round in 4..24 {
        bench.at(ms(100 * round));
        bench.feedback(10_000.0, 1e-3, Response::Adapt);
        bench.sender.on_sent(1000, bench.now, false, bench.now);
    }
    bench.expect_rate(80_000.0);
    // A loss in this time halves what was kept, and the limit is no longer twice it.
    bench.at(ms(2400)).feedback(10_000.0, 2e-3, Response::Adapt).expect_rate(20_000.0);
    // RFC 3448 knows no such thing.
    let mut bench = Bench::new(Edition::Rfc3448);
    bench.sender.on_handshake(RTT);
    bench.at(ms(100)).feedback(10_000.0, 1e-3, Response::Adapt).expect_rate(20_000.0);
}

#[test]
fn section_4_3_the_round_trip_is_smoothed_and_the_delay_not_counted() {
    let mut bench = Bench::new(Edition::Rfc5348);
    bench.send();
    let answer = |sent, delay| Feedback {
        sent: Some(ms(sent)),
        delay: Duration::from_millis(delay),
        receive_rate: 1e6,
        loss_event_rate: 0.0,
    };
    bench.sender.handle_feedback(&answer(0, 20), Response::Adapt, ms(120));
    assert_eq!(bench.sender.rtt(), Some(RTT));
    bench.sender.handle_feedback(&answer(100, 0), Response::Adapt, ms(300));
    assert_eq!(bench.sender.rtt(), Some(Duration::from_millis(110)));
    // A receiver that claims to have waited longer than it took says nothing about the path.
    bench.sender.handle_feedback(&answer(300, 500), Response::Adapt, ms(400));
    assert_eq!(bench.sender.rtt(), Some(Duration::from_millis(110)));
}

#[test]
fn section_4_3_the_nofeedback_timer_is_four_round_trips_or_two_packets() {
    let mut bench = Bench::new(Edition::Rfc5348);
    bench.sender.on_handshake(RTT);
    bench.send_until(ms(100));
    bench.feedback(40_000.0, 0.0, Response::Adapt);
    assert_eq!(bench.sender.poll_timeout(), Some(ms(500)));
    // p = 3/8 gives 1226 B/s: two packets take longer.
    bench.feedback(40_000.0, 0.375, Response::Adapt);
    let after = Duration::from_secs_f64(2000.0 / bench.sender.rate());
    assert_eq!(bench.sender.poll_timeout(), Some(ms(100) + after));
}

#[test]
fn section_4_4_without_losses_the_rate_is_halved() {
    let mut bench = Bench::new(Edition::Rfc5348);
    bench.sender.on_handshake(RTT);
    bench.send_until(ms(100));
    bench.feedback(40_000.0, 0.0, Response::Adapt).expect_rate(80_000.0);
    bench.send_until(ms(500));
    bench.expire(ms(500)).expect_rate(40_000.0);
    bench.send_until(ms(900));
    bench.expire(ms(900)).expect_rate(20_000.0);
}

#[test]
fn section_4_4_with_losses_what_limited_is_halved() {
    // The receive rate limited: 2·30 kB/s of a throughput of 1.2 MB/s.
    let mut bench = Bench::new(Edition::Rfc5348);
    bench.warm_up(30_000.0, 1e-4).expect_rate(60_000.0);
    bench.send_until(ms(700));
    bench.expire(ms(700)).expect_rate(30_000.0);
    // The equation limited: half of it.
    let mut bench = Bench::new(Edition::Rfc5348);
    bench.sender.on_handshake(RTT);
    bench.send_until(ms(100));
    bench.feedback(40_000.0, 0.05, Response::Adapt);
    let rate = bench.sender.rate();
    assert!(rate < 80_000.0);
    bench.send_until(ms(500));
    bench.expire(ms(500)).expect_rate(rate / 2.0);
    // And again, now by the receive rate that was set; never below a packet in 64 s.
    for _ in 0..14 {
        let due = bench.sender.poll_timeout().expect("it has sent");
        bench.send_until(due);
        bench.sender.handle_timeout(due);
    }
    bench.expect_rate(1000.0 / 64.0);
}

#[test]
fn section_4_4_an_idle_sender_keeps_what_it_may_start_with() {
    let mut bench = Bench::new(Edition::Rfc5348);
    bench.sender.on_handshake(RTT);
    bench.send_until(ms(100));
    bench.feedback(40_000.0, 0.0, Response::Adapt).expect_rate(80_000.0);
    // Twice the initial rate: not below it, so halved even in idleness; then kept, and the timer is off.
    bench.expire(ms(500)).expect_rate(40_000.0);
    bench.expire(ms(900)).expect_rate(40_000.0);
    assert_eq!(bench.sender.poll_timeout(), None);
    // What is sent then starts it.
    bench.at(ms(5000)).sender.on_sent(1000, ms(5000), false, ms(5000));
    assert_eq!(bench.sender.poll_timeout(), Some(ms(5400)));
}

/// The timer is off, and begins with a packet: if that is not answered, its sender was not idle.
#[test]
fn section_4_4_a_packet_that_nobody_answers_is_not_idleness() {
    let mut bench = Bench::new(Edition::Rfc5348);
    bench.sender.on_handshake(RTT);
    bench.send_until(ms(100));
    bench.feedback(40_000.0, 0.0, Response::Adapt);
    bench.expire(ms(500));
    bench.expire(ms(900)).expect_rate(40_000.0);
    assert_eq!(bench.sender.poll_timeout(), None);
    for (sent, rate) in [(5000, 20_000.0), (9000, 10_000.0)] {
        bench.at(ms(sent)).sender.on_sent(1000, ms(sent), false, ms(sent));
        assert!(!bench.sender.is_idle());
        bench.expire(ms(sent + 400)).expect_rate(rate);
        bench.expire(ms(sent + 800)).expect_rate(rate);
        assert_eq!(bench.sender.poll_timeout(), None, "nothing was sent since");
    }
}

#[test]
fn rfc_3448_section_4_4_halves_the_receive_rate() {
    let mut bench = Bench::new(Edition::Rfc3448);
    bench.sender.on_handshake(RTT);
    bench.send_until(ms(100));
    bench.feedback(30_000.0, 0.0, Response::Adapt).expect_rate(20_000.0);
    bench.send_until(ms(200));
    bench.feedback(30_000.0, 0.0, Response::Adapt).expect_rate(40_000.0);
    // Erratum 1458: also without loss. The limit is twice half of 30 kB/s.
    bench.send_until(ms(600));
    bench.expire(ms(600)).expect_rate(30_000.0);
    // With losses, the equation above twice the receive rate.
    bench.feedback(30_000.0, 1e-4, Response::Adapt).expect_rate(60_000.0);
    bench.send_until(ms(1000));
    bench.expire(ms(1000)).expect_rate(30_000.0);
    // Below it: X_recv = X_calc/4.
    bench.feedback(1e6, 1e-2, Response::Adapt);
    let rate = bench.sender.rate();
    bench.send_until(ms(1400));
    bench.expire(ms(1400)).expect_rate(rate / 2.0);
}

#[test]
fn rfc_3448_section_4_4_an_idle_sender_keeps_four_packets_a_round_trip() {
    // Four packets in 100 ms are 40 kB/s: a receive rate below is not halved in idleness, one above it is.
    for (receive_rate, before, after) in [(39_000.0, 78_000.0, 78_000.0), (41_000.0, 80_000.0, 41_000.0)] {
        let mut bench = Bench::new(Edition::Rfc3448);
        bench.warm_up(receive_rate, 0.0).expect_rate(before);
        bench.expire(ms(700)).expect_rate(after);
    }
}

#[test]
fn the_segment_is_the_mean_of_what_was_sent() {
    let mut sender = Sender::new(config(Edition::Rfc5348));
    sender.on_handshake(RTT);
    for nth in 1..=3 {
        sender.on_sent(500, ms(nth), true, ms(nth));
    }
    // The past weighs 0.9 with each packet.
    let mean = 500.0 + 0.9 * 0.9 * 0.9 * 500.0;
    assert!((sender.segment() - mean).abs() < 1e-9, "{}", sender.segment());
    let feedback = Feedback { sent: Some(ms(1)), delay: Duration::ZERO, receive_rate: 1e6, loss_event_rate: 0.375 };
    sender.handle_feedback(&feedback, Response::Adapt, ms(101));
    let equation = mean / (0.1 * 0.5 + 1.0 * 3.0 * 0.375 * 0.375 * 5.5);
    assert!((sender.rate() - equation).abs() < 1e-6, "{}", sender.rate());
}

#[test]
fn section_4_5_the_rate_follows_the_root_of_the_round_trip() {
    let mut sender = Sender::new(Config { edition: Edition::Rfc5348, ..Config::default() });
    sender.on_handshake(Duration::from_millis(100));
    assert!((sender.payload_rate() - 40_000.0).abs() < 1e-6);
    let feedback = Feedback { sent: Some(ms(0)), delay: Duration::ZERO, receive_rate: 1e9, loss_event_rate: 0.0 };
    // Four times as long: R_sqmean = 0.9·√0.1 + 0.1·√0.4, of √0.4.
    sender.handle_feedback(&feedback, Response::Hold, ms(400));
    let root = |ms: f64| (ms / 1000.0).sqrt();
    let expected = 40_000.0 * (0.9 * root(100.0) + 0.1 * root(400.0)) / root(400.0);
    assert!((sender.payload_rate() - expected).abs() < 1e-6, "{}", sender.payload_rate());
    assert_eq!(sender.rate(), 40_000.0);
}

#[test]
fn rfc_4828_small_packets_have_the_rate_of_large_ones_less_their_headers() {
    let config = Config { segment: 160, small_packets: true, ..config(Edition::Rfc3448) };
    let mut sender = Sender::new(config);
    sender.on_handshake(RTT);
    let share = 160.0 / (160.0 + 40.0);
    assert!((sender.rate() - 14_600.0 * share).abs() < 1e-6);
    let feedback = Feedback { sent: Some(ms(0)), delay: Duration::ZERO, receive_rate: 1e9, loss_event_rate: 0.375 };
    sender.handle_feedback(&feedback, Response::Adapt, ms(100));
    let equation = 1460.0 / (0.1 * 0.5 + 0.4 * 3.0 * 0.375 * 0.375 * 5.5);
    assert!((sender.rate() - equation * share).abs() < 1e-6);
    // However much is allowed, packets are 10 ms apart (section 4.3).
    let feedback = Feedback { loss_event_rate: 1e-6, sent: Some(ms(100)), ..feedback };
    sender.handle_feedback(&feedback, Response::Adapt, ms(200));
    sender.on_sent(160, ms(200), true, ms(200));
    assert!(sender.rate() > 100_000.0);
    assert_eq!(sender.departure(ms(200)), ms(210));
}

/// What arrives is counted without headers, and the allowed rate with them: twice what arrives is twice as many packets.
#[test]
fn rfc_4828_a_receive_rate_of_small_packets_allows_twice_as_many() {
    for len in [20, 40, 160] {
        let config = Config { segment: len, small_packets: true, ..config(Edition::Rfc5348) };
        let mut sender = Sender::new(config);
        sender.on_handshake(RTT);
        let arrives = f64::from(len) / 0.02;
        let mut now = ms(100);
        for _ in 0..50 {
            sender.on_sent(len, now, true, now);
            let feedback =
                Feedback { sent: Some(now), delay: Duration::ZERO, receive_rate: arrives, loss_event_rate: 1e-3 };
            now += RTT;
            sender.handle_feedback(&feedback, Response::Adapt, now);
        }
        assert!((sender.rate() - 2.0 * arrives).abs() < 1e-6, "{len} octets: {}", sender.rate());
        // The nofeedback timer: two packets at that rate are 20 ms, four round trips are longer.
        assert_eq!(sender.poll_timeout(), Some(now + RTT * 4));
    }
}

#[test]
fn a_response_may_hold_the_rate_or_limit_it_to_what_arrives() {
    let mut bench = Bench::new(Edition::Rfc3448);
    bench.sender.on_handshake(RTT);
    bench.send_until(ms(100));
    bench.feedback(500.0, 0.5, Response::Hold).expect_rate(10_000.0);
    bench.send_until(ms(200));
    bench.feedback(15_000.0, 0.0, Response::Limit).expect_rate(15_000.0);
    bench.feedback(0.0, 0.0, Response::Limit).expect_rate(1000.0 / 64.0);
}

#[test]
fn timers_and_credit_are_no_finer_than_the_host() {
    let granularity = Duration::from_millis(10);
    let mut sender = Sender::new(Config { granularity, oscillation_control: false, ..Config::default() });
    sender.on_handshake(Duration::from_millis(1));
    sender.on_sent(1000, ms(0), true, ms(0));
    let feedback = Feedback { sent: Some(ms(0)), delay: Duration::ZERO, receive_rate: 1e6, loss_event_rate: 0.0 };
    sender.handle_feedback(&feedback, Response::Adapt, ms(1));
    // Four round trips would be 4 ms.
    assert_eq!(sender.poll_timeout(), Some(ms(41)));
    // A millisecond late over a path of one: all that was due leaves, not a round trip's worth.
    let per_packet = 1000.0 / sender.rate();
    let mut left = 0;
    while sender.departure(ms(1)) <= ms(9) {
        sender.on_sent(1000, ms(1), true, ms(9));
        left += 1;
    }
    assert!((f64::from(left) - 8e-3 / per_packet).abs() <= 2.0, "{left} packets, one each {per_packet} s");
}

#[test]
fn ns2_starts_slowly_and_then_adds_a_packet_a_round_trip() {
    let mut bench = Bench::new(Edition::Ns2);
    bench.sender.on_handshake(RTT);
    bench.expect_rate(10_000.0);
    bench.send_until(ms(100));
    bench.feedback(1e6, 0.0, Response::Adapt).expect_rate(20_000.0);
    bench.send_until(ms(200));
    bench.feedback(1e6, 0.0, Response::Adapt).expect_rate(40_000.0);
    // The first loss ends slow start: the equation, t_RTO of three ticks. p = 3/8 makes its roots simple.
    bench.send_until(ms(300));
    bench.feedback(1e6, 0.375, Response::Adapt).expect_rate(1000.0 / (0.1 * 0.5 + 0.3 * 3.0 * 0.375 * 0.375 * 5.5));
    // Fewer losses allow far more: a packet a round trip more in each, not the equation at once.
    let before = bench.sender.rate();
    bench.at(ms(400)).feedback(1e6, 1e-4, Response::Adapt).expect_rate(before + 10_000.0);
    // No more than for two round trips, however long ago the rate changed.
    bench.at(ms(1000)).feedback(1e6, 1e-4, Response::Adapt).expect_rate(before + 30_000.0);
    // More losses: down to the equation at once.
    bench.at(ms(1100)).feedback(1e6, 0.375, Response::Adapt).expect_rate(before);
}

#[test]
fn ns2_holds_to_twice_what_arrives_from_the_second_report_on() {
    let mut bench = Bench::new(Edition::Ns2);
    bench.warm_up(1e6, 0.01);
    let equation = bench.at(ms(400)).feedback(1e6, 0.02, Response::Adapt).sender.rate();
    assert!(equation > 25_000.0, "{equation}");
    let higher = 0.021;
    bench.at(ms(500)).feedback(5_000.0, higher, Response::Adapt);
    assert!(bench.sender.rate() > 25_000.0, "one report in a row may ask for more");
    // At least a packet a round trip.
    bench.at(ms(600)).feedback(5_000.0, 0.022, Response::Adapt).expect_rate(10_000.0);
}

#[test]
fn ns2_halves_the_rate_itself_after_two_round_trips() {
    let mut bench = Bench::new(Edition::Ns2);
    bench.warm_up(1e6, 0.01);
    let rate = bench.sender.rate();
    // Below the receive rate, too, which RFC 3448 halves instead.
    bench.expire(ms(500)).expect_rate(rate / 2.0);
    bench.expire(ms(700)).expect_rate(rate / 4.0);
    // It is out of slow start for good: without loss it adds a packet a round trip.
    let before = bench.sender.rate();
    bench.at(ms(800)).feedback(1e6, 0.0, Response::Adapt);
    assert!(bench.sender.rate() - before <= 20_000.0 + 1e-6, "{}", bench.sender.rate());
}
