//! Tests of a wire by hand, at exact instants, and of properties that always hold.

use hopcast_protocols::random::Purpose;
use hopcast_radio::queue::CoDelConfig;
use proptest::prelude::*;

use super::*;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd)]
struct Packet {
    id: u32,
    octets: u32,
    expires: Option<Instant>,
}

impl Payload for Packet {
    fn octets(&self) -> u32 {
        self.octets
    }

    fn expires(&self) -> Option<Instant> {
        self.expires
    }
}

fn packet(id: u32, octets: u32) -> Packet {
    Packet { id, octets, expires: None }
}

/// 8 Mb/s: a microsecond a byte. 3 ms long.
fn wire(queue_packets: u32, loss: f64) -> Wire<Packet> {
    wire_of(Config::constant(8e6, Duration::from_millis(3), queue_packets, loss))
}

fn wire_of(config: Config) -> Wire<Packet> {
    Wire::new(config, Stream::new(1, Purpose::LinkLoss, 0, 0))
}

fn us(micros: u64) -> Instant {
    Instant::START + Duration::from_micros(micros)
}

/// All that comes out until nothing is left to do, with its instant.
fn run(wire: &mut Wire<Packet>) -> Vec<(Instant, Output<Packet>)> {
    let mut out = Vec::new();
    while let Some(now) = wire.poll_timeout() {
        wire.handle_timeout(now);
        while let Some(output) = wire.poll_output() {
            out.push((now, output));
        }
    }
    out
}

#[test]
fn packets_are_sent_one_after_the_other_and_fly_side_by_side() {
    let mut wire = wire(10, 0.0);
    let packets = [packet(1, 1_500), packet(2, 40), packet(3, 1_500)];
    for packet in packets {
        wire.handle_packet(packet, us(0), |_, _| panic!("the queue has room"));
    }
    assert_eq!((wire.queued(), wire.held().count()), (2, 3));
    let expected = [
        (us(1_500), Output::Sent(packets[0])),
        (us(1_540), Output::Sent(packets[1])),
        (us(3_040), Output::Sent(packets[2])),
        (us(4_500), Output::Deliver(packets[0])),
        (us(4_540), Output::Deliver(packets[1])),
        (us(6_040), Output::Deliver(packets[2])),
    ];
    assert_eq!(run(&mut wire), expected);
}

#[test]
fn an_idle_wire_begins_at_once_and_not_where_the_last_packet_ended() {
    let mut wire = wire(10, 0.0);
    wire.handle_packet(packet(1, 1_000), us(0), |_, _| panic!("idle"));
    run(&mut wire);
    wire.handle_packet(packet(2, 1_000), us(50_000), |_, _| panic!("idle"));
    assert_eq!(wire.poll_timeout(), Some(us(51_000)));
}

#[test]
fn packets_in_a_row_take_their_octets_over_the_rate_together() {
    for (rate, octets) in [(1e12, 34), (1e12, 63), (400e9, 64), (100e9, 29), (3e6, 1_500)] {
        let mut wire = wire_of(Config::constant(rate, Duration::ZERO, 1, 0.0));
        let mut ends = Vec::new();
        let mut now = us(1);
        for id in 0..10_000 {
            // One that finds the wire idle at the instant of its end is in the row as well.
            wire.handle_packet(packet(id, octets), now, |_, _| panic!("the wire is free"));
            now = wire.poll_timeout().expect("a packet is sent");
            wire.handle_timeout(now);
            while wire.poll_output().is_some() {}
            // That it arrives at once.
            wire.handle_timeout(now);
            while wire.poll_output().is_some() {}
            ends.push(now);
        }
        for (index, end) in ends.iter().enumerate() {
            let exact = 1_000.0 + (index + 1) as f64 * f64::from(octets) * 8e9 / rate;
            let off = (end.as_nanos() as f64 - exact).abs();
            assert!(off <= 0.501, "{octets} B at {rate} b/s: packet {index} is {off} ns off");
        }
    }
}

#[test]
fn the_queue_holds_so_many_besides_the_one_that_is_sent() {
    let mut wire = wire(2, 0.0);
    let mut refused = Vec::new();
    (0..5)
        .for_each(|id| wire.handle_packet(packet(id, 100), us(0), |packet, reason| refused.push((packet.id, reason))));
    assert_eq!(refused, [(3, Reason::Full), (4, Reason::Full)]);
    assert_eq!(wire.space(), 0);
    wire.handle_timeout(us(100));
    assert_eq!(wire.space(), 1);
}

/// What has expired when its turn comes is given back, and what comes after it begins at once; the turn is the end of the packet
/// before. One that is being sent is sent to its end.
#[test]
fn what_has_expired_by_its_turn_is_not_sent() {
    let mut wire = wire(10, 0.0);
    let lives = [None, Some(1_500), Some(1_499), Some(1_501), Some(2_499)];
    let packets = [0, 1, 2, 3, 4].map(|id: usize| Packet { expires: lives[id].map(us), ..packet(id as u32, 1_000) });
    for packet in [packet(9, 500)].iter().chain(&packets) {
        wire.handle_packet(*packet, us(0), |_, _| panic!("the queue has room"));
    }
    let expected = [
        (us(500), Output::Sent(packet(9, 500))),
        (us(1_500), Output::Sent(packets[0])),
        (us(1_500), Output::Expired(packets[1])),
        (us(1_500), Output::Expired(packets[2])),
        (us(2_500), Output::Sent(packets[3])),
        (us(2_500), Output::Expired(packets[4])),
        (us(3_500), Output::Deliver(packet(9, 500))),
        (us(4_500), Output::Deliver(packets[0])),
        (us(5_500), Output::Deliver(packets[3])),
    ];
    assert_eq!(run(&mut wire), expected);
    wire.handle_packet(packets[0], us(10_000), |_, _| panic!("idle"));
    assert_eq!(wire.poll_timeout(), Some(us(11_000)));
}

/// The control law of RFC 8289 on paper, with a backlog from 0 ms on and a turn each millisecond: the wait reaches 5 ms at 5 ms, an
/// interval later the first packet is dropped, then one each at 205, 205 + 100/√2 = 275.7 and 275.7 + 100/√3 = 333.4 ms.
#[test]
fn a_discipline_drops_at_the_turns_of_packets() {
    let discipline = Discipline::CoDel(CoDelConfig::default());
    let mut wire = wire_of(Config { discipline, ..Config::constant(8e6, Duration::ZERO, 1000, 0.0) });
    for id in 0..600 {
        wire.handle_packet(packet(id, 1_000), us(0), |_, _| panic!("the queue has room"));
    }
    let out = run(&mut wire);
    let drops = out.iter().filter_map(|(at, output)| matches!(output, Output::Dropped(_)).then_some(*at));
    let expected = [105, 205, 276, 334].map(|ms| us(ms * 1_000));
    assert_eq!(drops.take(4).collect::<Vec<_>>(), expected);
    let delivered = out.iter().filter(|(_, output)| matches!(output, Output::Deliver(_))).count();
    let dropped = out.iter().filter(|(_, output)| matches!(output, Output::Dropped(_))).count();
    assert_eq!((delivered + dropped, wire.queued()), (600, 0));
}

#[test]
fn losses_come_at_their_rate() {
    let mut wire = wire(0, 0.2);
    let mut lost = 0;
    for id in 0..20_000 {
        wire.handle_packet(packet(id, 10), us(u64::from(id) * 10_000), |_, _| panic!("idle"));
        lost += run(&mut wire).iter().filter(|(_, output)| matches!(output, Output::Lost(_))).count();
    }
    // 4000 are expected; the standard deviation is 57.
    assert!((3_800..4_200).contains(&lost), "{lost} of 20000 lost");
}

/// 8 Mb/s for a millisecond, then half of it: the packet that is sent when it changes takes a part of both.
#[test]
fn a_packet_on_its_way_goes_on_at_the_new_rate() {
    let rate = Steps::new(0.0, vec![(Duration::ZERO, 8e6), (Duration::from_millis(1), 4e6)]);
    let capacity = Capacity::Rate(SteppedRate::new(rate));
    let mut wire = wire_of(Config { capacity, ..Config::constant(1.0, Duration::from_millis(3), 10, 0.0) });
    for id in 0..3 {
        wire.handle_packet(packet(id, 800), us(0), |_, _| panic!("the queue has room"));
    }
    let sent: Vec<Instant> =
        run(&mut wire).into_iter().filter_map(|(at, output)| matches!(output, Output::Sent(_)).then_some(at)).collect();
    // The second one: 200 octets in the first millisecond, 600 at two microseconds each.
    assert_eq!(sent, [us(800), us(2_200), us(3_800)]);
}

/// The delay of a packet is that at which it leaves, and what left before it arrives before it.
#[test]
fn a_shorter_delay_lets_no_packet_overtake() {
    let steps =
        [(0, 10), (2, 1), (40, 20)].map(|(from, delay)| (Duration::from_millis(from), Duration::from_millis(delay)));
    let delay = Steps::new(Duration::ZERO, steps.to_vec());
    let mut wire = wire_of(Config { delay, ..Config::constant(8e6, Duration::ZERO, 10, 0.0) });
    let mut arrivals = Vec::new();
    for (id, at) in [(0, 0), (1, 2_000), (2, 20_000), (3, 39_000)] {
        while let Some(due) = wire.poll_timeout().filter(|due| *due <= us(at)) {
            wire.handle_timeout(due);
        }
        wire.handle_packet(packet(id, 1_000), us(at), |_, _| panic!("idle"));
    }
    let mut now = us(0);
    while let Some(due) = wire.poll_timeout() {
        now = now.max(due);
        wire.handle_timeout(now);
    }
    while let Some(output) = wire.poll_output() {
        if let Output::Deliver(packet) = output {
            arrivals.push(packet.id);
        }
    }
    assert_eq!(arrivals, [0, 1, 2, 3]);
    // The last one left at 40 ms, from which on the delay is 20 ms.
    assert_eq!(now, us(60_000));
}

#[test]
fn packets_overtaken_by_a_shorter_delay_arrive_with_the_one_before_them() {
    let steps = vec![(Duration::ZERO, Duration::from_millis(10)), (Duration::from_millis(2), Duration::from_millis(1))];
    let delay = Steps::new(Duration::ZERO, steps);
    let mut wire = wire_of(Config { delay, ..Config::constant(8e6, Duration::ZERO, 10, 0.0) });
    for id in 0..3 {
        wire.handle_packet(packet(id, 1_000), us(0), |_, _| panic!("the queue has room"));
    }
    let out = run(&mut wire);
    let arrivals: Vec<Instant> =
        out.iter().filter_map(|(at, output)| matches!(output, Output::Deliver(_)).then_some(*at)).collect();
    assert_eq!(arrivals, [us(11_000), us(11_000), us(11_000)]);
}

#[test]
fn losses_change_in_time() {
    let loss = Steps::new(0.0, vec![(Duration::from_millis(10), 1.0), (Duration::from_millis(20), 0.0)]);
    let mut wire = wire_of(Config { loss, ..Config::constant(8e6, Duration::ZERO, 100, 0.0) });
    for id in 0..30 {
        wire.handle_packet(packet(id, 1_000), us(0), |_, _| panic!("the queue has room"));
    }
    let lost: Vec<u32> = run(&mut wire)
        .into_iter()
        .filter_map(|(_, output)| if let Output::Lost(packet) = output { Some(packet.id) } else { None })
        .collect();
    // Packet n leaves at n + 1 ms.
    assert_eq!(lost, (9..19).collect::<Vec<_>>());
}

#[test]
fn a_wire_whose_rate_ends_at_zero_holds_what_it_has() {
    let rate = Steps::new(0.0, vec![(Duration::ZERO, 8e6), (Duration::from_millis(1), 0.0)]);
    let capacity = Capacity::Rate(SteppedRate::new(rate));
    let mut wire = wire_of(Config { capacity, ..Config::constant(1.0, Duration::ZERO, 1, 0.0) });
    let mut refused = Vec::new();
    (0..4).for_each(|id| wire.handle_packet(packet(id, 700), us(0), |packet, _| refused.push(packet.id)));
    assert_eq!(refused, [2, 3]);
    assert_eq!(run(&mut wire).len(), 2, "one leaves and arrives");
    assert_eq!((wire.poll_timeout(), wire.held().count(), wire.queued()), (None, 1, 0));
}

fn wire_with_opportunities(times: &[u32]) -> Wire<Packet> {
    let capacity = Capacity::Opportunities(Opportunities::new(times.to_vec()).expect("a trace"));
    wire_of(Config { capacity, ..Config::constant(1.0, Duration::from_millis(3), 10, 0.0) })
}

/// By hand, as `LinkQueue` of Mahimahi does it: opportunities of 1504 bytes, of which each IP packet takes its own and 4 more.
#[test]
fn packets_leave_with_the_opportunities_of_a_trace() {
    let mut wire = wire_with_opportunities(&[2, 4, 4, 10]);
    let mut sent = Vec::new();
    for (id, octets, at) in [
        // The opportunity at 2 ms, and the first at 4 ms.
        (0, 3_004, 1_000),
        // The second at 4 ms, together.
        (1, 700, 1_500),
        (2, 796, 1_600),
        // Too late for those at 4 ms; what nobody took of them is lost.
        (3, 1_500, 4_000),
        // The trace begins again at 10 ms: 12, 14, 14, 20 ms.
        (4, 40, 10_000),
        (5, 1_500, 13_999),
        (6, 1_501, 14_000),
    ] {
        while let Some(due) = wire.poll_timeout().filter(|due| *due < us(at)) {
            wire.handle_timeout(due);
            while let Some(output) = wire.poll_output() {
                sent.extend(if let Output::Sent(packet) = output { Some((packet.id, due)) } else { None });
            }
        }
        wire.handle_packet(packet(id, octets), us(at), |_, _| panic!("the queue has room"));
    }
    sent.extend(run(&mut wire).into_iter().filter_map(|(at, output)| match output {
        Output::Sent(packet) => Some((packet.id, at)),
        _ => None,
    }));
    let wanted = [(0, 4_000), (1, 4_000), (2, 4_000), (3, 10_000), (4, 12_000), (5, 14_000), (6, 22_000)];
    assert_eq!(sent, wanted.map(|(id, at)| (id, us(at))));
}

/// A trace without packets costs no event, however long.
#[test]
fn an_idle_trace_has_no_timer() {
    let mut wire = wire_with_opportunities(&(1..=100_000).collect::<Vec<_>>());
    assert_eq!(wire.poll_timeout(), None);
    wire.handle_packet(packet(0, 1_500), us(99_999_500), |_, _| panic!("idle"));
    assert_eq!(run(&mut wire).iter().map(|(at, _)| *at).collect::<Vec<_>>(), [us(100_000_000), us(100_003_000)]);
    assert_eq!(wire.poll_timeout(), None);
}

proptest! {
    #[test]
    fn what_goes_in_comes_out_in_order_or_is_refused_or_expires_or_is_lost(
        queue in 0_u32..6,
        loss in prop_oneof![Just(0.0), Just(0.3)],
        packets in prop::collection::vec((0_u64..4_000, 1_u32..3_000, prop::option::of(1_u64..6_000)), 1..60),
    ) {
        let mut wire = wire(queue, loss);
        let (mut now, mut refused, mut out) = (us(0), 0, Vec::new());
        for (id, &(gap, octets, lifetime)) in (0..).zip(&packets) {
            let next = now + Duration::from_micros(gap);
            while let Some(due) = wire.poll_timeout().filter(|due| *due <= next) {
                prop_assert!(due >= now, "time goes back");
                now = due;
                wire.handle_timeout(now);
                while let Some(output) = wire.poll_output() {
                    out.push(output);
                }
            }
            now = next;
            let expires = lifetime.map(|lifetime| now + Duration::from_micros(lifetime));
            wire.handle_packet(Packet { id, octets, expires }, now, |_, _| refused += 1);
            let counters = *wire.counters();
            prop_assert_eq!(counters.sent - counters.delivered, wire.in_flight().count() as u64);
        }
        out.extend(run(&mut wire).into_iter().map(|(_, output)| output));
        let of = |keep: fn(&Output<Packet>) -> Option<Packet>| out.iter().filter_map(keep).collect::<Vec<_>>();
        let delivered = of(|output| if let Output::Deliver(packet) = output { Some(*packet) } else { None });
        let sent = of(|output| if let Output::Sent(packet) = output { Some(*packet) } else { None });
        let lost = of(|output| if let Output::Lost(packet) = output { Some(*packet) } else { None });
        let expired = of(|output| if let Output::Expired(packet) = output { Some(*packet) } else { None });
        prop_assert!(delivered.is_sorted());
        prop_assert_eq!(&delivered, &sent);
        prop_assert!(expired.iter().all(|packet| packet.expires.is_some()));
        prop_assert_eq!(delivered.len() + lost.len() + expired.len() + refused, packets.len());
    }
}
