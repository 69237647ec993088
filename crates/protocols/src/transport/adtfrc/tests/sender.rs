//! The sender's states by hand, at exact instants.

use super::super::super::tfrc::{self, Feedback};
use super::super::{Config, Expired, Sender, States};
use crate::time::{Duration, Instant};

const RTT: Duration = Duration::from_millis(100);
const NORMAL: States = States { congestion: false, route_change: false, channel_error: false };
const CONG: States = States { congestion: true, ..NORMAL };
const RTCHG: States = States { route_change: true, ..NORMAL };
const CHERR: States = States { channel_error: true, ..NORMAL };

fn ms(n: u64) -> Instant {
    Instant::START + Duration::from_millis(n)
}

struct Bench {
    sender: Sender,
    now: Instant,
}

impl Bench {
    /// 80 kB/s in slow start, at 300 ms, with the state NORMAL; the nofeedback timer is at 700 ms.
    fn new() -> Self {
        let tfrc = tfrc::Config { oscillation_control: false, ..Config::default().tfrc };
        let mut bench = Self { sender: Sender::new(Config { tfrc, probe_limit: 3, ..Config::default() }), now: ms(0) };
        bench.sender.on_handshake(RTT);
        for (at, rate) in [(100, 20_000.0), (200, 40_000.0), (300, 80_000.0)] {
            bench.send_until(at).feedback(1e6, 0.0, Some(NORMAL)).expect_rate(rate);
        }
        assert_eq!(bench.sender.poll_timeout(), Some(ms(700)));
        bench
    }

    fn send_until(&mut self, until: u64) -> &mut Self {
        while let Some(at) = self.sender.departure(Instant::START).filter(|&at| at < ms(until)) {
            self.now = self.now.max(at);
            self.sender.on_sent(1000, Instant::START, true, self.now);
        }
        self.now = ms(until);
        self
    }

    fn feedback(&mut self, receive_rate: f64, loss_event_rate: f64, states: Option<States>) -> &mut Self {
        let feedback = Feedback { sent: Some(self.now - RTT), delay: Duration::ZERO, receive_rate, loss_event_rate };
        self.sender.handle_feedback(&feedback, states, self.now);
        self
    }

    /// The timer is at this instant.
    #[track_caller]
    fn expire(&mut self, at: u64, expected: Expired) -> &mut Self {
        assert_eq!(self.sender.poll_timeout(), Some(ms(at)));
        assert_eq!(self.sender.handle_timeout(Instant::from_nanos(ms(at).as_nanos() - 1)), Expired::Nothing);
        self.now = ms(at);
        assert_eq!(self.sender.handle_timeout(self.now), expected);
        self
    }

    #[track_caller]
    fn expect_rate(&mut self, rate: f64) -> &mut Self {
        let seen = self.sender.tfrc().rate();
        assert!((seen / rate - 1.0).abs() < 1e-9, "{seen}, expected {rate}");
        self
    }

    #[track_caller]
    fn expect_probing(&mut self, probing: bool) -> &mut Self {
        assert_eq!(self.sender.is_probing(), probing);
        assert_eq!(self.sender.departure(ms(0)).is_none(), probing, "nothing else leaves meanwhile");
        self
    }
}

/// At p = 0.375 with t_RTO = 4R = 0.4 s.
fn equation() -> f64 {
    1000.0 / (0.1 * 0.5 + 0.4 * 3.0 * 0.375 * 0.375 * 5.5)
}

#[test]
fn algorithm_1_congestion_takes_the_less_of_calculated_and_received() {
    // Slow start would double to 160 kB/s.
    let mut bench = Bench::new();
    bench.send_until(400).feedback(70_000.0, 0.0, Some(CONG)).expect_rate(70_000.0);
    // With events the equation may be less.
    bench.send_until(500).feedback(60_000.0, 0.375, Some(CONG)).expect_rate(equation());
    // Congestion goes before the others.
    let all = States { congestion: true, route_change: true, channel_error: true };
    bench.send_until(600).feedback(500.0, 1e-6, Some(all)).expect_rate(500.0);
}

#[test]
fn algorithm_1_a_route_change_keeps_the_rate() {
    let mut bench = Bench::new();
    bench.send_until(400).feedback(100.0, 0.375, Some(RTCHG)).expect_rate(80_000.0);
    // Before channel errors.
    let both = States { route_change: true, channel_error: true, ..NORMAL };
    bench.send_until(500).feedback(100.0, 0.375, Some(both)).expect_rate(80_000.0);
    // The next feedback without one goes by what it says.
    bench.send_until(600).feedback(70_000.0, 0.375, Some(NORMAL)).expect_rate(equation());
}

#[test]
fn algorithm_1_channel_errors_and_the_normal_state_are_as_tfrc() {
    for states in [Some(CHERR), Some(NORMAL), None] {
        let mut bench = Bench::new();
        bench.send_until(400).feedback(70_000.0, 0.0, states).expect_rate(140_000.0);
        bench.send_until(500).feedback(70_000.0, 1e-5, states).expect_rate(140_000.0);
        bench.send_until(600).feedback(50_000.0, 0.375, states).expect_rate(equation());
    }
}

#[test]
fn algorithm_2_a_timeout_without_congestion_freezes_and_probes() {
    let mut bench = Bench::new();
    bench.send_until(700).expire(700, Expired::Probe).expect_probing(true).expect_rate(80_000.0);
    // The probe itself starts no timer of TFRC.
    bench.sender.on_sent(1000, ms(700), true, ms(700));
    bench.expire(2700, Expired::Probe).expect_probing(true);
    bench.sender.on_sent(1000, ms(2700), true, ms(2700));
    bench.expire(4700, Expired::Probe).expect_rate(80_000.0);
    // The third expiry in probing is the limit.
    bench.expire(6700, Expired::GiveUp);
}

#[test]
fn algorithm_1_feedback_ends_the_probing_and_the_rate_is_as_it_was() {
    let mut bench = Bench::new();
    bench.send_until(700).expire(700, Expired::Probe).expire(2700, Expired::Probe);
    bench.sender.on_sent(1000, ms(2700), true, ms(2700));
    // Section III-A: the actions of a route change follow, whatever the state is: one probe is no measure.
    bench.now = ms(2800);
    bench.feedback(10_000.0, 0.375, Some(CONG)).expect_probing(false).expect_rate(80_000.0);
    // The clocks of TFRC run again; nothing leaves in a burst.
    assert_eq!(bench.sender.poll_timeout(), Some(ms(3200)));
    assert_eq!(bench.sender.departure(ms(0)), Some(ms(2800)));
    bench.sender.on_sent(1000, ms(0), true, ms(2800));
    assert_eq!(bench.sender.departure(ms(0)), Some(Instant::from_nanos(2_812_500_000)));
    // The next feedback counts, and so does the next probing from its start.
    bench.send_until(2900).feedback(70_000.0, 0.0, Some(CONG)).expect_rate(70_000.0);
    bench.send_until(3000).feedback(70_000.0, 0.0, Some(NORMAL));
    bench.send_until(3400).expire(3400, Expired::Probe).expire(5400, Expired::Probe).expire(7400, Expired::Probe);
    bench.expire(9400, Expired::GiveUp);
}

#[test]
fn algorithm_1_an_answer_without_data_ends_the_probing_too() {
    let mut bench = Bench::new();
    bench.send_until(700).expire(700, Expired::Probe);
    bench.sender.handle_probe_reply(ms(900));
    bench.expect_probing(false).expect_rate(80_000.0);
    assert_eq!(bench.sender.poll_timeout(), Some(ms(1300)));
    // The feedback that follows is the first since.
    bench.send_until(1000).feedback(10_000.0, 0.0, Some(NORMAL)).expect_rate(80_000.0);
    bench.send_until(1100).feedback(50_000.0, 0.0, Some(NORMAL)).expect_rate(100_000.0);
    // An answer out of the blue changes nothing.
    let due = bench.sender.poll_timeout();
    bench.sender.handle_probe_reply(ms(1101));
    assert_eq!(bench.sender.poll_timeout(), due);
}

#[test]
fn algorithm_2_a_timeout_in_congestion_is_tfrc_s() {
    let mut bench = Bench::new();
    bench.send_until(400).feedback(60_000.0, 0.0, Some(CONG)).expect_rate(60_000.0);
    // RFC 3448: X_recv is halved, and twice that is the limit.
    bench.send_until(800).expire(800, Expired::Nothing).expect_probing(false).expect_rate(60_000.0);
    bench.send_until(1200).expire(1200, Expired::Nothing).expect_rate(30_000.0);
}

#[test]
fn algorithm_2_with_a_plain_receiver_or_none_a_timeout_is_tfrc_s() {
    let mut bench = Bench::new();
    bench.send_until(400).feedback(60_000.0, 0.0, None).expect_rate(120_000.0);
    bench.send_until(800).expire(800, Expired::Nothing).expect_probing(false).expect_rate(60_000.0);
    // Before any feedback nobody knows of a state.
    let mut sender = Sender::new(Config::default());
    sender.on_sent(1000, ms(0), true, ms(0));
    assert_eq!(sender.handle_timeout(ms(2000)), Expired::Nothing);
    assert!(!sender.is_probing());
}

#[test]
fn an_idle_sender_is_not_cut_off() {
    let mut bench = Bench::new();
    // Nothing is sent from 300 ms on.
    bench.expire(700, Expired::Nothing).expect_probing(false);
}

#[test]
fn a_packet_has_two_round_trips_to_be_answered() {
    let mut answered = Bench::new();
    answered.sender.on_sent(1000, ms(690), false, ms(690));
    answered.expire(700, Expired::Nothing).expect_probing(false);
    let mut lost = Bench { sender: answered.sender.clone(), now: answered.now };
    lost.expire(890, Expired::Probe).expect_probing(true);
    answered.now = ms(790);
    answered.feedback(1e6, 0.0, Some(NORMAL)).expect_probing(false);
    assert!(answered.sender.poll_timeout() >= Some(ms(1190)), "{:?}", answered.sender.poll_timeout());
}
