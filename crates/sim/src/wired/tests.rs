//! A wire by hand, at exact instants, and what it must never lose.

use hopcast_protocols::random::Purpose;
use proptest::prelude::*;

use super::*;

/// 8 Mb/s: a microsecond an octet. 3 ms long.
fn wire(queue_packets: u32, loss: f64) -> Wire<u32> {
    let config = Config { rate: 8e6, delay: Duration::from_millis(3), queue_packets, loss };
    Wire::new(config, Stream::new(1, Purpose::LinkLoss, 0, 0))
}

fn us(micros: u64) -> Instant {
    Instant::START + Duration::from_micros(micros)
}

/// All that comes out until nothing is left to do, with its instant.
fn run(wire: &mut Wire<u32>) -> Vec<(Instant, Output<u32>)> {
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
    for (packet, octets) in [(1, 1_500), (2, 40), (3, 1_500)] {
        wire.handle_packet(packet, octets, us(0)).expect("the queue has room");
    }
    assert_eq!((wire.queued(), wire.held().count()), (2, 3));
    let expected = [
        (us(1_500), Output::Sent(1)),
        (us(1_540), Output::Sent(2)),
        (us(3_040), Output::Sent(3)),
        (us(4_500), Output::Deliver(1)),
        (us(4_540), Output::Deliver(2)),
        (us(6_040), Output::Deliver(3)),
    ];
    assert_eq!(run(&mut wire), expected);
}

#[test]
fn an_idle_wire_begins_at_once_and_not_where_the_last_packet_ended() {
    let mut wire = wire(10, 0.0);
    wire.handle_packet(1, 1_000, us(0)).expect("idle");
    run(&mut wire);
    wire.handle_packet(2, 1_000, us(50_000)).expect("idle");
    assert_eq!(wire.poll_timeout(), Some(us(51_000)));
}

#[test]
fn the_queue_holds_so_many_besides_the_one_that_is_sent() {
    let mut wire = wire(2, 0.0);
    let taken: Vec<bool> = (0..5).map(|packet| wire.handle_packet(packet, 100, us(0)).is_ok()).collect();
    assert_eq!(taken, [true, true, true, false, false]);
    assert_eq!(wire.room(), 0);
    wire.handle_timeout(us(100));
    assert_eq!(wire.room(), 1);
}

#[test]
fn losses_come_at_their_rate() {
    let mut wire = wire(0, 0.2);
    let mut lost = 0;
    for packet in 0..20_000 {
        wire.handle_packet(packet, 10, us(u64::from(packet) * 10_000)).expect("idle");
        lost += run(&mut wire).iter().filter(|(_, output)| matches!(output, Output::Lost(_))).count();
    }
    // 4000 are expected; the standard deviation is 57.
    assert!((3_800..4_200).contains(&lost), "{lost} of 20000 lost");
}

proptest! {
    #[test]
    fn what_goes_in_comes_out_in_order_or_is_refused_or_lost(
        queue in 0_u32..6,
        loss in prop_oneof![Just(0.0), Just(0.3)],
        packets in prop::collection::vec((0_u64..4_000, 1_u32..3_000), 1..60),
    ) {
        let mut wire = wire(queue, loss);
        let (mut now, mut refused, mut out) = (us(0), 0, Vec::new());
        for (number, &(gap, octets)) in (0..).zip(&packets) {
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
            refused += usize::from(wire.handle_packet(number, octets, now).is_err());
            let counters = *wire.counters();
            prop_assert_eq!(counters.sent - counters.delivered, wire.in_flight().count() as u64);
        }
        out.extend(run(&mut wire).into_iter().map(|(_, output)| output));
        let of = |keep: fn(&Output<u32>) -> Option<u32>| out.iter().filter_map(keep).collect::<Vec<_>>();
        let delivered = of(|output| if let Output::Deliver(packet) = output { Some(*packet) } else { None });
        let sent = of(|output| if let Output::Sent(packet) = output { Some(*packet) } else { None });
        let lost = of(|output| if let Output::Lost(packet) = output { Some(*packet) } else { None });
        prop_assert!(delivered.is_sorted());
        prop_assert_eq!(&delivered, &sent);
        prop_assert_eq!(delivered.len() + lost.len() + refused, packets.len());
    }
}
