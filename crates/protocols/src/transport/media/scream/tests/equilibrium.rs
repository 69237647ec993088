//! The window under given marks, against its closed form.

use super::*;

/// Drives a window for `seconds`, once per round trip, with the share `marked` of packets marked, and returns its mean over the
/// second half, in segments. It is always full, of packets of `size` bytes.
fn mean_window(rtt_ms: u64, marked: f64, size: u32, seconds: u64) -> f64 {
    let mut scream =
        Scream::new(Config { min_rate: 1, max_rate: u64::MAX / 2, segment: 1000, ecn: Ecn::Ect1, ..Config::default() });
    let rtt = Duration::from_millis(rtt_ms);
    // One feedback per round trip, or per virtual one where that is shorter: the reductions' interval.
    let step = VIRTUAL_RTT.min(rtt);
    let (mut number, mut owed, mut credit) = (0, 0.0, 0.0);
    let (mut sum, mut count) = (0.0, 0);
    let mut now = Instant::START + Duration::from_secs(1);
    let end = now + Duration::from_secs(seconds);
    let middle = now + Duration::from_secs(seconds / 2);
    while now < end {
        let window = scream.window.as_ref().map_or(3000.0, Window::bytes) / 1000.0;
        // The share of the window that a step's time lets arrive.
        credit += window * 1000.0 / f64::from(size) * step.as_secs_f64() / rtt.as_secs_f64();
        let mut results = Vec::new();
        while credit >= 1.0 {
            credit -= 1.0;
            let in_flight = (window * 1000.0) as u64;
            let packet = SentPacket { number, size, sent: now, probe: None, in_flight };
            number += 1;
            scream.on_sent(&packet);
            owed += marked;
            let ecn = if owed >= 1.0 { Ecn::Ce } else { Ecn::Ect1 };
            owed -= f64::from(u8::from(ecn == Ecn::Ce));
            results.push(PacketResult { packet, arrival: Some(Arrival { time: now + rtt / 2, ecn }) });
        }
        now += step;
        if !results.is_empty() {
            let in_flight = (window * 1000.0) as u64;
            scream.on_feedback(&Feedback { now, packets: &results, rtt: Some(rtt), in_flight });
        }
        if now >= middle {
            sum += window;
            count += 1;
        }
    }
    sum / f64::from(count)
}

/// Growth of a segment per round trip balances half the marked share of the window: w p / 2 = 1 - p segments, which is two
/// marked segments per round trip where p is small (README of EricssonResearch/scream; section "Reference Window Increase").
/// Packets are a twentieth of a segment, so that each feedback has the given share of marks.
#[test]
fn two_segments_per_round_trip_are_marked() {
    for (rtt, marked) in [(25, 0.1), (25, 0.05), (50, 0.1), (50, 0.05), (100, 0.04)] {
        let expected = 2.0 / marked * (1.0 - marked);
        let got = mean_window(rtt, marked, 50, 400);
        let error = got / expected - 1.0;
        assert!(error.abs() < 0.05, "{rtt} ms, {marked}: {got} segments, not {expected} ({:.1} %)", 100.0 * error);
    }
}

/// With full packets a feedback has no mark, or one, or more, and the average rises faster than it falls: the window is near the
/// closed form, not at it (section "Discussion").
#[test]
fn full_packets_come_near() {
    for (rtt, marked) in [(25, 0.1), (25, 0.05), (50, 0.05), (100, 0.04)] {
        let share = mean_window(rtt, marked, 1000, 400) / (2.0 / marked * (1.0 - marked));
        assert!((0.6..1.4).contains(&share), "{rtt} ms, {marked}: {share} of the closed form");
    }
}
