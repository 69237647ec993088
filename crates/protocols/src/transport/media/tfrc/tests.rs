//! TFRC and ADTFRC over RTP: by hand, and on the bench. The lines of the bench stood here before its first run.

use hopcast_wire::ecn::Ecn;

use super::super::tests::bench::{self, Bench, Path, Reports};
use super::super::tests::reno::Reno;
use super::*;
use crate::transport::adtfrc;

const SEED: u64 = 42;
const FPS: u64 = 30;

fn source() -> Source {
    Source {
        min_rate: 30_000,
        max_rate: 2_500_000,
        frame_period: Duration::from_nanos(1_000_000_000 / FPS),
        headers: 40,
        is_markable: false,
        packet: 1040,
        weight: 1.0,
    }
}

fn tfrc() -> Box<Tfrc> {
    Box::new(Tfrc::new(dccp::Congestion::Tfrc(tfrc::Config::default()), source()))
}

fn adtfrc() -> Box<Tfrc> {
    Box::new(Tfrc::new(dccp::Congestion::Adtfrc(adtfrc::Config::default()), source()))
}

fn codec() -> bench::Source {
    bench::Source::Codec { fps: FPS, most: source().max_rate }
}

fn at(ms: u64) -> Instant {
    Instant::START + Duration::from_millis(ms)
}

fn packet(number: u64, sent: Instant) -> SentPacket {
    SentPacket { number, size: 1040, sent, probe: None, in_flight: 0 }
}

/// A packet that was on its way for 50 ms, by a receiver's clock that is an hour ahead.
fn arrived(number: u64, sent: Instant) -> PacketResult {
    let time = sent + Duration::from_millis(50) + Duration::from_secs(3600);
    PacketResult { packet: packet(number, sent), arrival: Some(Arrival { time, ecn: Ecn::NotEct }) }
}

fn hear(control: &mut Tfrc, packets: &[PacketResult], now: Instant) {
    control.on_feedback(&Feedback { now, packets, rtt: Some(Duration::from_millis(100)), in_flight: 0 });
}

fn metric(control: &Tfrc, name: &str) -> f64 {
    let mut found = None;
    control.metrics(&mut |shown, value| found = (shown == name).then_some(value).or(found));
    found.expect("a metric of that name")
}

/// RFC 5348, sections 4.2 and 4.3: one packet a second, then the initial window of four packets in a round trip.
#[test]
fn it_begins_with_a_packet_a_second_and_goes_on_with_the_initial_window() {
    let mut control = tfrc();
    control.on_frame(&Frame { size: 3000, now: at(0), queued: 0, queue_delay: Duration::ZERO });
    // 1000 bytes of media, 40 of headers.
    assert_eq!(control.pacing_rate(), Some(8 * 1040));
    control.on_sent(&packet(0, at(0)));
    hear(&mut control, &[arrived(0, at(0))], at(100));
    assert_eq!((control.target_rate(), control.pacing_rate()), (8 * 4 * 1000 * 10, Some(8 * 4 * 1040 * 10)));
    // 2000 bytes waited when the next frame came: they are to be gone within a second.
    control.on_frame(&Frame { size: 1000, now: at(100), queued: 2000, queue_delay: Duration::from_millis(100) });
    assert_eq!(control.target_rate(), 8 * (4 * 1000 * 10 - 2000));
}

/// Section 3.1 with s = 1000, R = 0.1 s, t_RTO = 1 s, and one loss event in 101 packets: typed here again.
#[test]
fn the_rate_after_a_loss_is_that_of_the_equation() {
    let mut control = tfrc();
    for number in 0..400 {
        let now = at(10 * number);
        control.on_sent(&packet(number, now));
        let lost = number % 100 == 50;
        let result =
            if lost { PacketResult { packet: packet(number, now), arrival: None } } else { arrived(number, now) };
        hear(&mut control, &[result], now + Duration::from_millis(100));
    }
    let p = metric(&control, "loss_event_rate");
    // Of the first interval, which goes with what had arrived, and those of 100 packets.
    assert!((0.008..0.02).contains(&p), "{p}");
    let root = |x: f64| x.sqrt();
    let rate = 1000.0 / (0.1 * root(2.0 * p / 3.0) + 3.0 * root(3.0 * p / 8.0) * p * (1.0 + 32.0 * p * p));
    let allowed = metric(&control, "allowed_rate_bps") / 8.0;
    assert!((allowed / rate - 1.0).abs() < 1e-6, "{allowed} and {rate} B/s");
}

/// A report that is lost tells nothing of its packets: they are no losses.
#[test]
fn packets_without_a_fate_are_no_losses() {
    let mut control = tfrc();
    for number in 0..40 {
        let now = at(10 * number);
        control.on_sent(&packet(number, now));
        if !(10..20).contains(&number) {
            hear(&mut control, &[arrived(number, now)], now + Duration::from_millis(100));
        }
    }
    assert_eq!(metric(&control, "loss_event_rate"), 0.0);
}

/// With a random loss of 1 %, the mean rate is within a tenth of the equation's for the mean of loss events.
#[test]
fn random_loss_on_the_bench_gives_the_rate_of_the_equation() {
    let mut bench = Bench::new(Path { loss: 0.01, ..Path::new(5_000_000, 25) }, SEED);
    let flow = bench.add(tfrc(), bench::Source::Bulk, Reports::Scream);
    bench.run(Duration::from_secs(20));
    let (mut allowed, mut events, mut rtt, steps) = (0.0, 0.0, 0.0, 2000_u32);
    for _ in 0..steps {
        bench.run(Duration::from_millis(50));
        allowed += bench.metric(flow, "allowed_rate_bps") / 8.0;
        events += bench.metric(flow, "loss_event_rate");
        rtt += bench.metric(flow, "smoothed_rtt_s");
    }
    let steps = f64::from(steps);
    let (allowed, p, rtt) = (allowed / steps, events / steps, rtt / steps);
    let root = |x: f64| x.sqrt();
    let rate = 1000.0 / (rtt * root(2.0 * p / 3.0) + 3.0 * root(3.0 * p / 8.0) * p * (1.0 + 32.0 * p * p));
    assert!((0.9..1.1).contains(&(allowed / rate)), "{allowed} and {rate} B/s at p = {p}, R = {rtt} s");
    assert!((0.05..0.06).contains(&rtt), "{rtt} s");
}

/// RFC 5348, section 1: "generally within a factor of two" of TCP under the same conditions.
#[test]
fn it_shares_a_queue_with_reno_within_a_factor_of_two() {
    let mut bench = Bench::new(Path::new(4_000_000, 25), SEED);
    let reno = bench.add(Box::new(Reno::new()), bench::Source::Bulk, Reports::Periodic(Duration::from_millis(10)));
    let media = bench.add(tfrc(), bench::Source::Bulk, Reports::Scream);
    bench.run(Duration::from_secs(30));
    let before = bench.flows[reno].arrived;
    let share = bench.throughput(media, Duration::from_secs(90));
    let other = (bench.flows[reno].arrived - before) * 8 / 90_000;
    let ratio = share as f64 / other as f64;
    assert!((0.5..2.0).contains(&ratio), "{share} and {other} kb/s");
}

/// An encoder on an empty path gets what it asks for, and one on a narrow path what there is; few packets wait before the pacer.
#[test]
fn it_fills_a_path_and_no_more() {
    for (rate, least, most) in [(10_000_000, 2_400, 2_700), (1_000_000, 700, 1_000)] {
        let mut bench = Bench::new(Path::new(rate, 25), SEED);
        let flow = bench.add(tfrc(), codec(), Reports::Scream);
        bench.run(Duration::from_secs(20));
        let share = bench.throughput(flow, Duration::from_secs(40));
        assert!((least..=most).contains(&share), "{share} kb/s of {rate} b/s");
    }
}

/// Ten frames a second leave 100 ms between two reports: longer than four round trips, which must not count as silence.
#[test]
fn rare_frames_are_no_silence() {
    let rare = Source { frame_period: Duration::from_millis(100), ..source() };
    let control = Box::new(Tfrc::new(dccp::Congestion::Tfrc(tfrc::Config::default()), rare));
    let mut bench = Bench::new(Path::new(10_000_000, 2), SEED);
    let flow = bench.add(control, bench::Source::Codec { fps: 10, most: source().max_rate }, Reports::Scream);
    bench.run(Duration::from_secs(20));
    let share = bench.throughput(flow, Duration::from_secs(20));
    assert!(share > 2_400, "{share} kb/s");
}

/// Losses that come with neither longer delays nor less throughput are channel errors: paper M's point. Twice the rate of TFRC at the
/// least.
#[test]
fn adtfrc_does_not_slow_down_for_losses_of_the_channel() {
    let share = |control| {
        let path = Path { loss: 0.05, jitter: Duration::from_millis(2), ..Path::new(20_000_000, 25) };
        let mut bench = Bench::new(path, SEED);
        let flow = bench.add(control, codec(), Reports::Scream);
        bench.run(Duration::from_secs(20));
        bench.throughput(flow, Duration::from_secs(40))
    };
    let (plain, adaptive) = (share(tfrc()), share(adtfrc()));
    assert!(adaptive > 2 * plain, "{plain} and {adaptive} kb/s");
}

/// A path without congestion falls silent: ADTFRC sends a probe at once and every 2 s, and goes on at the rate of before.
#[test]
fn adtfrc_probes_a_path_that_is_gone_and_goes_on_as_before() {
    let mut control = adtfrc();
    for number in 0..100 {
        let now = at(10 * number);
        control.on_sent(&packet(number, now));
        hear(&mut control, &[arrived(number, now)], now + Duration::from_millis(100));
    }
    let before = metric(&control, "allowed_rate_bps");
    assert_eq!(metric(&control, "is_congestion"), 0.0);
    control.on_sent(&packet(100, at(1_100)));
    // Four round trips after the last feedback.
    let silent = control.poll_timeout().expect("a nofeedback timer");
    assert_eq!(silent, at(990 + 100 + 400));
    for due in [silent, silent + Duration::from_secs(2), silent + Duration::from_secs(4)] {
        assert_eq!(control.poll_probe(due), None);
        assert_eq!(control.poll_timeout(), Some(due));
        control.handle_timeout(due);
        let probe = control.poll_probe(due).expect("a probe");
        assert_eq!((probe.packets, control.window(), control.target_rate()), (1, Some(0), 30_000));
    }
    let sent = silent + Duration::from_secs(4);
    control.on_sent(&packet(101, sent));
    hear(&mut control, &[arrived(101, sent)], sent + Duration::from_millis(100));
    assert_eq!((control.window(), metric(&control, "is_probing")), (None, 0.0));
    assert_eq!(metric(&control, "allowed_rate_bps"), before);
}

/// After 50 probes without an answer (paper M) it starts again, as a session of which nothing has been heard.
#[test]
fn adtfrc_starts_again_where_it_gives_up() {
    let mut control = adtfrc();
    for number in 0..100 {
        let now = at(10 * number);
        control.on_sent(&packet(number, now));
        hear(&mut control, &[arrived(number, now)], now + Duration::from_millis(100));
    }
    control.on_sent(&packet(100, at(1_100)));
    let mut probes = 0;
    while let Some(due) = control.poll_timeout() {
        control.handle_timeout(due);
        probes += u32::from(control.poll_probe(due).is_some());
        assert!(probes < 100, "it does not give up");
    }
    assert_eq!((probes, control.window(), control.pacing_rate()), (50, None, Some(8 * 1040)));
    let now = at(200_000);
    control.on_sent(&packet(101, now));
    hear(&mut control, &[arrived(101, now)], now + Duration::from_millis(100));
    // RFC 3448, section 4.3: a packet in a round trip.
    assert_eq!(metric(&control, "allowed_rate_bps"), 8.0 * 1000.0 / 0.1);
}
