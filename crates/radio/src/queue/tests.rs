//! Properties of every discipline.

use std::collections::BTreeMap;

use proptest::prelude::*;

use hopcast_protocols::time::{Duration, Instant};
use hopcast_wire::ecn::Ecn;

use super::{
    CoDelConfig, Discipline, DualPi2Config, FqCoDelConfig, InterfaceQueue, Mac80211Config, PieConfig, Places, Queued,
    Reason, Traffic,
};
use crate::frame::StationId;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Item {
    pub(super) id: u32,
    pub(super) flow: u64,
    pub(super) octets: u32,
    pub(super) expires: Option<Instant>,
    pub(super) ecn: Ecn,
    pub(super) receiver: Option<StationId>,
}

impl Item {
    pub(super) fn new(id: u32, flow: u64, octets: u32) -> Self {
        Self { id, flow, octets, expires: None, ecn: Ecn::NotEct, receiver: None }
    }
}

impl Places for Item {}

impl Queued for Item {
    fn octets(&self) -> u32 {
        self.octets
    }

    fn flow(&self) -> u64 {
        self.flow
    }

    fn expires(&self) -> Option<Instant> {
        self.expires
    }

    fn ecn(&self) -> Ecn {
        self.ecn
    }

    fn mark(&mut self) {
        self.ecn = Ecn::Ce;
    }

    fn traffic(&self) -> Traffic {
        Traffic { receiver: self.receiver, ..Traffic::default() }
    }
}

pub(super) fn ms(millis: u64) -> Instant {
    Instant::START + Duration::from_millis(millis)
}

/// An item that may go before others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Urgent(u32, bool);

impl Places for Urgent {}

impl Queued for Urgent {
    fn octets(&self) -> u32 {
        100
    }

    fn flow(&self) -> u64 {
        0
    }

    fn expires(&self) -> Option<Instant> {
        None
    }

    fn is_urgent(&self) -> bool {
        self.1
    }
}

/// As in ns-2.35: at the head, so that the newest of several is the first.
#[test]
fn under_priority_what_is_urgent_goes_first_and_the_last_gives_way() {
    let order = |discipline| {
        let mut queue = InterfaceQueue::new(discipline, 3);
        let mut dropped = Vec::new();
        for (id, urgent) in [(0, false), (1, false), (2, true), (3, true), (4, false)] {
            queue.push(Urgent(id, urgent), ms(0), |item, reason| dropped.push((item.0, reason)));
        }
        let out = core::iter::from_fn(|| queue.pop(ms(1), |_, _| unreachable!()).map(|item| item.0));
        (out.collect::<Vec<_>>(), dropped)
    };
    assert_eq!(order(Discipline::Priority), (vec![3, 2, 0], vec![(1, Reason::Full), (4, Reason::Full)]));
    assert_eq!(order(Discipline::DropTail), (vec![0, 1, 2], vec![(3, Reason::Full), (4, Reason::Full)]));
}

#[test]
fn what_is_removed_leaves_the_others_in_order_and_their_places_free() {
    let disciplines = [
        Discipline::DropTail,
        Discipline::Priority,
        Discipline::CoDel(CoDelConfig::default()),
        Discipline::FqCoDel(FqCoDelConfig::default()),
        Discipline::Mac80211(Mac80211Config::default()),
    ];
    for discipline in disciplines {
        let mut queue = InterfaceQueue::new(discipline, 6);
        for id in 0..6 {
            queue.push(Item::new(id, 7, 100), ms(0), |_, _| unreachable!());
        }
        let removed: Vec<u32> = queue.remove_all(|item| item.id % 3 == 0).into_iter().map(|item| item.id).collect();
        assert_eq!((removed, queue.len(), queue.space()), (vec![0, 3], 4, 2));
        assert!(queue.remove_all(|item| item.id % 3 == 0).is_empty());
        let rest = core::iter::from_fn(|| queue.pop(ms(1), |_, _| unreachable!()).map(|item| item.id));
        assert_eq!(rest.collect::<Vec<_>>(), [1, 2, 4, 5]);
    }
}

#[test]
fn what_has_expired_is_dropped_at_its_turn() {
    let disciplines = [
        Discipline::DropTail,
        Discipline::CoDel(CoDelConfig::default()),
        Discipline::FqCoDel(FqCoDelConfig::default()),
        Discipline::Mac80211(Mac80211Config::default()),
    ];
    for discipline in disciplines {
        let mut queue = InterfaceQueue::new(discipline, 10);
        for (id, expires) in [(0, Some(10)), (1, Some(11)), (2, None)] {
            queue.push(Item { expires: expires.map(ms), ..Item::new(id, 0, 100) }, ms(0), |_, _| unreachable!());
        }
        let mut dropped = Vec::new();
        let item = queue.pop(ms(10), |item, reason| dropped.push((item.id, reason)));
        assert_eq!((item.map(|item| item.id), dropped), (Some(1), vec![(0, Reason::Expired)]));
    }
}

fn disciplines() -> impl Strategy<Value = Discipline> {
    let codel = (0_u64..20, 0_u64..100, 0_u32..3_000, any::<bool>()).prop_map(|(target, interval, mtu, ecn)| {
        CoDelConfig { target: Duration::from_millis(target), interval: Duration::from_millis(interval), mtu, ecn }
    });
    let fq_codel = (codel.clone(), 1_u16..8, 1_u32..3_000, 0_u32..8, any::<u64>()).prop_map(
        |(codel, flows, quantum, drop_batch, perturbation)| FqCoDelConfig {
            codel,
            flows,
            quantum,
            drop_batch,
            perturbation,
        },
    );
    let by_airtime = (any::<bool>(), any::<bool>());
    let mac80211 = (codel.clone(), 1_u32..3_000, 0_u32..5, 1_u32..5, by_airtime, any::<u64>()).prop_map(
        |(codel, quantum, aggregates, aggregate_packets, by_airtime, perturbation)| Mac80211Config {
            codel,
            quantum,
            aggregates,
            aggregate_packets,
            airtime_fairness: by_airtime.0,
            airtime_limit: by_airtime.1,
            perturbation,
        },
    );
    let target = |millis| Duration::from_millis(millis);
    prop_oneof![
        Just(Discipline::DropTail),
        (0_u64..20).prop_map(move |millis| Discipline::Step(target(millis))),
        codel.prop_map(Discipline::CoDel),
        fq_codel.prop_map(Discipline::FqCoDel),
        mac80211.prop_map(Discipline::Mac80211),
        (1_u64..20, any::<bool>(), any::<u64>()).prop_map(move |(millis, ecn, perturbation)| {
            Discipline::Pie(PieConfig { target: target(millis), ecn, perturbation })
        }),
        (1_u64..20).prop_map(move |millis| Discipline::DualPi2(DualPi2Config { target: target(millis) })),
    ]
}

proptest! {
    /// Whatever comes and goes: nothing is lost or doubled, a flow stays in order, the places are never exceeded, and as long
    /// as something waits there is something to send, unless it has just been dropped.
    #[test]
    fn a_queue_keeps_its_promises(
        discipline in disciplines(),
        capacity in 0_u32..12,
        driver in prop_oneof![Just(0), 1_u32..5],
        steps in prop::collection::vec((0_u64..60, prop::option::of((0_u64..5, 1_u32..2_000, prop::option::of(0_u64..200)))), 1..200),
    ) {
        let mut queue = InterfaceQueue::new(discipline, capacity).with_driver(driver);
        let mut fates: BTreeMap<u32, u32> = BTreeMap::new();
        let mut last_of_flow: BTreeMap<u64, u32> = BTreeMap::new();
        let (mut now, mut pushed) = (0, 0);
        for (gap, step) in steps {
            now += gap;
            match step {
                Some((flow, octets, lifetime)) => {
                    let room = queue.space();
                    let mut full = 0;
                    let receiver = (flow > 0).then_some(StationId(flow as u32 / 2));
                    let expires = lifetime.map(|lifetime| ms(now + lifetime));
                    let ecn = [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0][(flow % 3) as usize];
                    queue.push(Item { expires, ecn, receiver, ..Item::new(pushed, flow, octets) }, ms(now), |item, reason| {
                        // A driver takes packets out of the queue as they come.
                        let drops_early = driver > 0 || matches!(discipline, Discipline::Mac80211(_) | Discipline::Pie(_));
                        assert!(reason == Reason::Full || drops_early);
                        full += u32::from(reason == Reason::Full);
                        *fates.entry(item.id).or_default() += 1;
                    });
                    prop_assert_eq!(full > 0, room == 0);
                    pushed += 1;
                }
                None => {
                    let before = queue.len();
                    let mut out = 0;
                    let item = queue.pop(ms(now), |item, reason| {
                        assert_ne!(reason, Reason::Full);
                        out += 1;
                        *fates.entry(item.id).or_default() += 1;
                    });
                    if let Some(item) = item {
                        out += 1;
                        *fates.entry(item.id).or_default() += 1;
                        let last = last_of_flow.insert(item.flow, item.id);
                        prop_assert!(last.is_none_or(|last| last < item.id));
                    } else {
                        prop_assert_eq!(queue.len(), 0);
                    }
                    prop_assert_eq!(before - queue.len(), out);
                }
            }
            prop_assert!(queue.len() <= (capacity + driver) as usize);
            prop_assert!(driver > 0 || queue.space() == capacity as usize - queue.len());
            prop_assert_eq!(queue.iter().count(), queue.len());
        }
        queue.iter().for_each(|item| *fates.entry(item.id).or_default() += 1);
        prop_assert_eq!(fates.len(), pushed as usize);
        prop_assert!(fates.values().all(|&count| count == 1));
    }
}
