//! Fair queues at the MAC, as Linux's mac80211 has them: flows by FQ-CoDel for each receiver, receivers by their time on the air.
//!
//! ```text
//!              ┌ queue of a receiver ┐                    ┌ in hardware ┐
//!  packet ──▶  │ flow  flow  flow    │ ──▶ whose turn ──▶ │ aggregate   │ ──▶ medium access
//!              └─────────────────────┘                    └─────────────┘
//! ```
//!
//! Each receiver and traffic identifier has a queue, a TXQ. All TXQs share flows, places and a limit. Flows take turns within a TXQ, each
//! under CoDel (RFC 8290). TXQs take turns by deficits of airtime, which all frames to and from a station use up. What a turn gives
//! waits in the hardware, which holds few aggregates. Airtime queue limits (AQL) bound what waits there for one station.
//!
//! Sources: net/mac80211/tx.c, include/net/fq_impl.h and drivers/net/wireless/ath/ath9k/ of Linux 6.6; T. Høiland-Jørgensen et al., "Ending
//! the Anomaly", USENIX ATC 2017. Differences: each access category has separate flows; packets in the hardware count against the limit
//! of packets; a repetition counts again when it is on the air, but not as pending before.

use std::collections::{BTreeMap, VecDeque};

use hopcast_protocols::time::{Duration, Instant};

use super::codel::CoDelConfig;
use super::flow_queues::{FlowQueues, FqCoDelConfig, Turns};
use super::{Queued, Reason, Traffic};
use crate::frame::StationId;

/// Parameters of mac80211's queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mac80211Config {
    /// Of each flow.
    pub codel: CoDelConfig,
    /// Bytes that a flow may send in its turn.
    pub quantum: u32,
    /// Aggregates that the hardware holds, that in the hands of the medium access included.
    pub aggregates: u32,
    /// Packets of an aggregate at most.
    pub aggregate_packets: u32,
    /// Receivers take turns by their airtime; otherwise by aggregates, one each (ath9k before commit 63fefa050477).
    pub airtime_fairness: bool,
    /// AQL bounds what waits in the hardware for a station; otherwise only the hardware does (Linux before AQL).
    pub airtime_limit: bool,
    /// Perturbs the hash that sorts flows into queues; different for each interface and run.
    pub perturbation: u64,
}

impl Default for Mac80211Config {
    /// CoDel of 20 ms and 100 ms that marks, a quantum of 300 bytes (ieee80211_txq_setup_flows, fq_init); two aggregates of up to 32
    /// packets, half a window of 64 (ATH_AGGR_MIN_QDEPTH, ath_tx_form_aggr of ath9k).
    fn default() -> Self {
        let target = Duration::from_millis(20);
        // CoDel's own condition that an MTU must be left is not in use (the `mtu` of its parameters is 0).
        let codel = CoDelConfig { target, mtu: 0, ecn: true, ..CoDelConfig::default() };
        Self {
            codel,
            quantum: 300,
            aggregates: 2,
            aggregate_packets: 32,
            airtime_fairness: true,
            airtime_limit: true,
            perturbation: 0,
        }
    }
}

impl Mac80211Config {
    /// The same for windows of block acknowledgments of `window` MPDUs: aggregates of half a window (ath_tx_form_aggr of ath9k).
    #[must_use]
    pub fn with_window(self, window: u32) -> Self {
        Self { aggregate_packets: (window / 2).max(1), ..self }
    }

    /// The same for frames that are not aggregated: eight of one packet (ATH_NON_AGGR_MIN_QDEPTH of ath9k).
    #[must_use]
    pub fn without_aggregation(self) -> Self {
        Self { aggregates: 8, aggregate_packets: 1, ..self }
    }
}

/// Flows that all receivers share (fq_init).
const FLOWS: u16 = 4096;
/// Packets dropped at once at most where there are too many (fq_flow_drop).
const DROP_BATCH: u32 = 32;
/// What a deficit gets when it is used up, in ns: the weight of a station (IEEE80211_DEFAULT_AIRTIME_WEIGHT, in µs).
const WEIGHT: i64 = 256_000;
/// Pending airtime from which on a station gets no more, if others have much pending as well (IEEE80211_DEFAULT_AQL_TXQ_LIMIT_L).
const AQL_LOW: Duration = Duration::from_millis(5);
/// The same in any case (IEEE80211_DEFAULT_AQL_TXQ_LIMIT_H).
const AQL_HIGH: Duration = Duration::from_millis(12);
/// Pending airtime of all stations from which on the lower limit holds (IEEE80211_AQL_THRESHOLD).
const AQL_THRESHOLD: Duration = Duration::from_millis(24);
/// An aggregate takes so long at most (the limit of 4 ms of ath9k).
const AGGREGATE_TIME: Duration = Duration::from_millis(4);

/// Queues of all receivers of one access category.
#[derive(Clone, Debug)]
pub(crate) struct Mac80211<T> {
    flows: FlowQueues<T>,
    /// The TXQ that uses a flow, or has done so last.
    owners: Vec<u16>,
    txqs: Vec<Txq>,
    by_traffic: BTreeMap<Traffic, u16>,
    stations: Vec<Station>,
    by_station: BTreeMap<StationId, u16>,
    /// TXQs with packets, in the order of their turns.
    active: VecDeque<u16>,
    hardware: VecDeque<Aggregate<T>>,
    in_hardware: usize,
    /// The last aggregate of the hardware has been taken out whole, and is not on the air yet: what follows is another one.
    is_closed: bool,
    /// What was taken out of the hardware, and is not on the air yet.
    in_hand: Option<(u16, Duration)>,
    config: Mac80211Config,
    capacity: usize,
}

/// The queue of a receiver and a traffic identifier.
#[derive(Clone, Debug)]
struct Txq {
    turns: Turns,
    /// The flow for packets whose own flow belongs to another TXQ.
    overflow: u16,
    is_active: bool,
    /// `None`: to all stations.
    station: Option<u16>,
}

/// The airtime of a station.
#[derive(Clone, Copy, Debug)]
struct Station {
    /// In ns.
    deficit: i64,
    /// Of packets in the hardware and in the hands of the medium access, as estimated.
    pending: Duration,
    /// Airtime and bytes of the latest frame to it, from which airtime is estimated; none yet: no time.
    latest: (Duration, u32),
}

/// Packets that go into one frame, with their estimated airtime.
#[derive(Clone, Debug)]
struct Aggregate<T> {
    station: Option<u16>,
    packets: VecDeque<(T, Duration)>,
}

impl Station {
    fn new() -> Self {
        Self { deficit: WEIGHT, pending: Duration::ZERO, latest: (Duration::ZERO, 1) }
    }

    fn estimate(&self, octets: u32) -> Duration {
        let (airtime, of) = self.latest;
        airtime * u64::from(octets) / u64::from(of)
    }

    /// Whether AQL lets it have more, while `total` is pending for all.
    fn is_under_limit(&self, total: Duration) -> bool {
        self.pending < AQL_LOW || (total < AQL_THRESHOLD && self.pending < AQL_HIGH)
    }
}

impl<T: Queued> Mac80211<T> {
    /// Empty queues with `capacity` places together.
    pub(crate) fn new(config: Mac80211Config, capacity: u32) -> Self {
        let Mac80211Config { codel, quantum, perturbation, .. } = config;
        let flows = FqCoDelConfig { codel, flows: FLOWS, quantum, drop_batch: DROP_BATCH, perturbation };
        Self {
            flows: FlowQueues::new(flows, capacity),
            owners: vec![0; usize::from(FLOWS)],
            txqs: Vec::new(),
            by_traffic: BTreeMap::new(),
            stations: Vec::new(),
            by_station: BTreeMap::new(),
            active: VecDeque::new(),
            hardware: VecDeque::new(),
            in_hardware: 0,
            is_closed: false,
            in_hand: None,
            config,
            capacity: capacity as usize,
        }
    }

    /// Appends `item` to its flow. Too many packets are dropped from the longest flow; CoDel may drop others on their way to the
    /// hardware.
    pub(crate) fn push(&mut self, item: T, now: Instant, mut dropped: impl FnMut(T, Reason)) {
        let txq = self.txq(item.traffic());
        let mut flow = self.flows.classify(item.flow());
        let owner = &mut self.owners[usize::from(flow)];
        if *owner != txq && self.flows.is_active(flow) {
            flow = self.txqs[usize::from(txq)].overflow;
        } else {
            *owner = txq;
        }
        let queue = &mut self.txqs[usize::from(txq)];
        self.flows.push(flow, &mut queue.turns, item, now);
        if !queue.is_active {
            queue.is_active = true;
            // A station that had nothing goes first, as often as its deficit allows.
            self.activate(txq);
        }
        self.flows.make_room(self.in_hardware, |item| dropped(item, Reason::Full));
        self.fill_hardware(now, |item| dropped(item, Reason::Management));
    }

    /// Takes the next one of the hardware; `dropped` gets those that CoDel drops. The medium access has nothing in hand.
    pub(crate) fn pop(&mut self, now: Instant, mut dropped: impl FnMut(T)) -> Option<T> {
        self.end_in_hand();
        self.fill_hardware(now, &mut dropped);
        let item = self.take();
        self.fill_hardware(now, dropped);
        item
    }

    /// Takes the next one of the aggregate whose first packets the medium access has in hand, if it `is_wanted`.
    pub(crate) fn pop_more(
        &mut self,
        now: Instant,
        is_wanted: impl Fn(&T) -> bool,
        dropped: impl FnMut(T),
    ) -> Option<T> {
        let next = self.hardware.front().and_then(|aggregate| aggregate.packets.front());
        if self.is_closed || !next.is_some_and(|(item, _)| is_wanted(item)) {
            return None;
        }
        let item = self.take();
        self.fill_hardware(now, dropped);
        item
    }

    /// A frame of `octets` bytes to a station has been on the air for `airtime`.
    pub(crate) fn on_transmitted(&mut self, receiver: Option<StationId>, airtime: Duration, octets: u32) {
        self.is_closed = false;
        self.end_in_hand();
        if let Some(receiver) = receiver {
            let station = self.station(receiver);
            let station = &mut self.stations[usize::from(station)];
            station.deficit -= airtime.as_nanos() as i64;
            station.latest = (airtime, octets.max(1));
        }
    }

    /// A frame from a station was on the air for `airtime`.
    pub(crate) fn on_received(&mut self, transmitter: StationId, airtime: Duration) {
        let station = self.station(transmitter);
        self.stations[usize::from(station)].deficit -= airtime.as_nanos() as i64;
    }

    /// Takes out all that `is_unwanted`, the hardware's first.
    pub(crate) fn remove_all(&mut self, is_unwanted: impl Fn(&T) -> bool) -> Vec<T> {
        let mut removed = Vec::new();
        for aggregate in &mut self.hardware {
            let packets = core::mem::take(&mut aggregate.packets);
            for (item, airtime) in packets {
                if is_unwanted(&item) {
                    if let Some(station) = aggregate.station {
                        let pending = &mut self.stations[usize::from(station)].pending;
                        *pending = pending.saturating_sub(airtime);
                    }
                    removed.push(item);
                } else {
                    aggregate.packets.push_back((item, airtime));
                }
            }
        }
        self.hardware.retain(|aggregate| !aggregate.packets.is_empty());
        self.in_hardware -= removed.len();
        removed.extend(self.flows.remove_all(is_unwanted));
        removed
    }

    /// How many it has marked.
    pub(crate) fn marked(&self) -> u64 {
        self.flows.marked()
    }

    /// How many wait.
    pub(crate) fn len(&self) -> usize {
        self.flows.len() + self.in_hardware
    }

    /// Free places.
    pub(crate) fn space(&self) -> usize {
        self.capacity - self.len()
    }

    /// What waits: in the hardware, then the flows in no particular order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        let hardware = self.hardware.iter().flat_map(|aggregate| &aggregate.packets);
        hardware.map(|(item, _)| item).chain(self.flows.iter())
    }

    /// The TXQ of packets, which is made when the first one comes.
    fn txq(&mut self, traffic: Traffic) -> u16 {
        if let Some(&txq) = self.by_traffic.get(&traffic) {
            return txq;
        }
        let station = traffic.receiver.map(|receiver| self.station(receiver));
        let overflow = self.flows.add();
        let txq = self.txqs.len() as u16;
        self.txqs.push(Txq { turns: Turns::default(), overflow, is_active: false, station });
        self.by_traffic.insert(traffic, txq);
        txq
    }

    fn station(&mut self, station: StationId) -> u16 {
        let next = self.stations.len() as u16;
        let index = *self.by_station.entry(station).or_insert(next);
        if index == next {
            self.stations.push(Station::new());
        }
        index
    }

    /// Takes the first packet out of the hardware.
    fn take(&mut self) -> Option<T> {
        let aggregate = self.hardware.front_mut()?;
        let (item, airtime) = aggregate.packets.pop_front()?;
        let station = aggregate.station;
        self.is_closed = aggregate.packets.is_empty();
        if self.is_closed {
            self.hardware.pop_front();
        }
        self.in_hardware -= 1;
        if let Some(station) = station {
            // It stays pending until it is on the air.
            self.in_hand = match self.in_hand {
                Some((of, before)) if of == station => Some((station, before + airtime)),
                _ => {
                    self.end_in_hand();
                    Some((station, airtime))
                }
            };
        }
        Some(item)
    }

    /// What was taken out is pending no longer.
    fn end_in_hand(&mut self) {
        if let Some((station, airtime)) = self.in_hand.take() {
            let pending = &mut self.stations[usize::from(station)].pending;
            *pending = pending.saturating_sub(airtime);
        }
    }

    /// Moves packets to the hardware while it has room for an aggregate.
    fn fill_hardware(&mut self, now: Instant, mut dropped: impl FnMut(T)) {
        while self.hardware.len() + 1 < (self.config.aggregates.max(2) as usize) {
            let Some(txq) = self.next_txq() else { return };
            let aggregate = self.aggregate(txq, now, &mut dropped);
            let queue = &mut self.txqs[usize::from(txq)];
            queue.is_active = !queue.turns.is_empty();
            if queue.is_active {
                // A station stays first until its deficit is used up.
                self.activate(txq);
            }
            if !aggregate.packets.is_empty() {
                self.in_hardware += aggregate.packets.len();
                self.hardware.push_back(aggregate);
            }
        }
    }

    /// Puts a TXQ with packets on the list: a station first where deficits end its turn, otherwise last.
    fn activate(&mut self, txq: u16) {
        if self.config.airtime_fairness && self.txqs[usize::from(txq)].station.is_some() {
            self.active.push_front(txq);
        } else {
            self.active.push_back(txq);
        }
    }

    /// ieee80211_next_txq: the TXQ whose turn it is, which leaves the list. `None`: none has packets that may go to the hardware.
    fn next_txq(&mut self) -> Option<u16> {
        let total = self.stations.iter().fold(Duration::ZERO, |total, station| total + station.pending);
        let Mac80211Config { airtime_fairness, airtime_limit, .. } = self.config;
        let is_under_limit = |station: &Station| !airtime_limit || station.is_under_limit(total);
        let may_go = |txq: &u16| {
            let station = self.txqs[usize::from(*txq)].station;
            station.is_none_or(|station| is_under_limit(&self.stations[usize::from(station)]))
        };
        if !self.active.iter().any(may_go) {
            return None;
        }
        loop {
            let txq = self.active.pop_front()?;
            let Some(station) = self.txqs[usize::from(txq)].station else { return Some(txq) };
            let station = &mut self.stations[usize::from(station)];
            let has_deficit = airtime_fairness && station.deficit < station.pending.as_nanos() as i64;
            if has_deficit {
                station.deficit += WEIGHT;
            }
            if !has_deficit && is_under_limit(station) {
                return Some(txq);
            }
            self.active.push_back(txq);
        }
    }

    /// The next packets of a TXQ that go into one frame.
    fn aggregate(&mut self, txq: u16, now: Instant, mut dropped: impl FnMut(T)) -> Aggregate<T> {
        let Txq { turns, station, .. } = &mut self.txqs[usize::from(txq)];
        let mut aggregate = Aggregate { station: *station, packets: VecDeque::new() };
        let mut time = Duration::ZERO;
        while aggregate.packets.len() < self.config.aggregate_packets as usize && time < AGGREGATE_TIME {
            let Some(item) = self.flows.pop(turns, now, &mut dropped) else { break };
            let airtime = station.map_or(Duration::ZERO, |station| {
                let station = &mut self.stations[usize::from(station)];
                let airtime = station.estimate(item.octets());
                station.pending += airtime;
                airtime
            });
            time += airtime;
            aggregate.packets.push_back((item, airtime));
        }
        aggregate
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Item, ms};
    use super::*;
    use hopcast_wire::ecn::Ecn;

    fn us(micros: u64) -> Duration {
        Duration::from_micros(micros)
    }

    fn queue(config: Mac80211Config) -> Mac80211<Item> {
        Mac80211::new(Mac80211Config { perturbation: 1, ..config }, 8192)
    }

    fn item(id: u32, station: u32, flow: u64, octets: u32) -> Item {
        Item { receiver: Some(StationId(station)), ..Item::new(id, flow, octets) }
    }

    fn push(queue: &mut Mac80211<Item>, item: Item, at: Instant) {
        queue.push(item, at, |item, reason| panic!("{item:?} dropped: {reason:?}"));
    }

    /// The next frame, as the medium access makes it: what is popped, and what goes with it. It is on the air at `rate` bytes a µs.
    fn frame(queue: &mut Mac80211<Item>, at: Instant, rate: impl Fn(u32) -> u64) -> Option<(Vec<Item>, Duration)> {
        let first = queue.pop(at, |item| panic!("{item:?} dropped"))?;
        let mut items = vec![first];
        while let Some(more) = queue.pop_more(at, |more| more.receiver == first.receiver, |_| panic!("dropped")) {
            items.push(more);
        }
        let octets = items.iter().map(|item| item.octets).sum();
        let airtime = us(u64::from(octets) / rate(first.receiver.map_or(0, |to| to.0)));
        queue.on_transmitted(first.receiver, airtime, octets);
        Some((items, airtime))
    }

    /// Three stations with a backlog, at 18, 18 and 0.9 bytes a µs: each gets a third of the time on the air.
    #[test]
    fn stations_get_equal_airtime() {
        let codel = CoDelConfig { target: Duration::MAX, ..Mac80211Config::default().codel };
        let mut queue = queue(Mac80211Config { codel, ..Mac80211Config::default() });
        let rate = |station| [18, 18, 1][station as usize];
        let mut airtime = [Duration::ZERO; 3];
        let mut now = ms(0);
        let mut id = 0;
        for _ in 0..3000 {
            for station in 0..3 {
                while queue.iter().filter(|item| item.receiver == Some(StationId(station))).count() < 70 {
                    push(&mut queue, item(id, station, u64::from(station), 1500), now);
                    id += 1;
                }
            }
            let (items, time) = frame(&mut queue, now, rate).expect("a backlog");
            now += time;
            airtime[items[0].receiver.expect("a station").0 as usize] += time;
        }
        let total = airtime[0] + airtime[1] + airtime[2];
        for of in airtime {
            let share = of.as_secs_f64() / total.as_secs_f64();
            assert!((share - 1.0 / 3.0).abs() < 0.005, "{share} of {total:?}");
        }
    }

    /// Without airtime fairness each station sends one aggregate in its turn: 32 packets of the fast ones, and what fills 4 ms of the
    /// slow one, at 1 byte a µs three packets of 1500 bytes.
    #[test]
    fn without_fairness_stations_take_turns_by_aggregates() {
        let codel = CoDelConfig { target: Duration::MAX, ..Mac80211Config::default().codel };
        let mut queue = queue(Mac80211Config { codel, airtime_fairness: false, ..Mac80211Config::default() });
        for id in 0..900 {
            push(&mut queue, item(id, id % 3, u64::from(id % 3), 1500), ms(0));
        }
        let turns: Vec<(u32, usize)> = (0..12)
            .map(|_| {
                let (items, _) = frame(&mut queue, ms(0), |station| [18, 18, 1][station as usize]).expect("a backlog");
                (items[0].receiver.expect("a station").0, items.len())
            })
            .collect();
        // The rate of a station is known after its first frame.
        assert_eq!(turns[6..], [(0, 32), (1, 32), (2, 3), (0, 32), (1, 32), (2, 3)]);
    }

    /// Without AQL only the hardware limits what waits for a station.
    #[test]
    fn without_the_limit_the_hardware_is_filled() {
        let config = Mac80211Config { airtime_limit: false, ..Mac80211Config::default().without_aggregation() };
        let mut queue = queue(config);
        queue.on_transmitted(Some(StationId(0)), Duration::from_millis(8), 1000);
        (0..10).for_each(|id| push(&mut queue, item(id, 0, 0, 1000), ms(0)));
        assert_eq!(queue.in_hardware, 7, "eight frames, one of them in the hands of the medium access");
    }

    /// What a station sends uses up its airtime too: one that sends for as long as it receives gets half of what it would get.
    #[test]
    fn what_comes_from_a_station_counts() {
        let mut queue = queue(Mac80211Config::default());
        let mut airtime = [Duration::ZERO; 2];
        for id in 0..4000 {
            push(&mut queue, item(id, id % 2, u64::from(id % 2), 1500), ms(0));
        }
        for _ in 0..80 {
            let (items, time) = frame(&mut queue, ms(0), |_| 10).expect("a backlog");
            let station = items[0].receiver.expect("a station");
            airtime[station.0 as usize] += time;
            if station.0 == 1 {
                queue.on_received(station, time);
            }
        }
        let ratio = airtime[0].as_secs_f64() / airtime[1].as_secs_f64();
        assert!((ratio - 2.0).abs() < 0.15, "{ratio}");
    }

    /// One aggregate behind that in hand: the first packet goes straight to the hardware, alone; then the rest of a window's half.
    #[test]
    fn the_hardware_holds_one_aggregate_behind_that_in_hand() {
        let mut queue = queue(Mac80211Config::default());
        (0..100).for_each(|id| push(&mut queue, item(id, 0, 0, 100), ms(0)));
        let sizes: Vec<usize> = (0..4).map(|_| frame(&mut queue, ms(0), |_| 1).expect("a backlog").0.len()).collect();
        // At a byte a µs, 4 ms are 40 packets.
        assert_eq!(sizes, [1, 32, 32, 32]);
        assert_eq!((queue.in_hardware, queue.len()), (3, 3));
    }

    /// An aggregate is filled up to 4 ms: at 0.5 bytes a µs with two packets of 1000 bytes.
    #[test]
    fn an_aggregate_takes_four_milliseconds_at_most() {
        let mut queue = queue(Mac80211Config::default());
        queue.on_transmitted(Some(StationId(0)), us(2000), 1000);
        (0..10).for_each(|id| push(&mut queue, item(id, 0, 0, 1000), ms(0)));
        assert_eq!(queue.hardware[0].packets.len(), 1);
        assert!(queue.pop(ms(0), |_| panic!("dropped")).is_some());
        let waiting = &queue.hardware[0];
        assert_eq!((waiting.packets.len(), waiting.packets[0].1), (2, us(2000)));
        assert_eq!(queue.stations[0].pending, us(6000), "that in hand included");
    }

    /// AQL: of two stations the one with more than 12 ms pending gets no more, and one with more than 5 ms only while less than
    /// 24 ms are pending in all.
    #[test]
    fn pending_airtime_is_limited() {
        let station = |pending| Station { pending, ..Station::new() };
        let ms = Duration::from_millis;
        for (pending, total, expected) in
            [(4, 100, true), (5, 100, false), (5, 23, true), (5, 24, false), (11, 23, true), (12, 12, false)]
        {
            assert_eq!(station(ms(pending)).is_under_limit(ms(total)), expected, "{pending} of {total} ms");
        }
        // A station of 8 ms a packet, in a hardware that would hold eight frames.
        let mut queue = queue(Mac80211Config::default().without_aggregation());
        queue.on_transmitted(Some(StationId(0)), ms(8), 1000);
        (0..10).for_each(|id| push(&mut queue, item(id, 0, 0, 1000), super::super::tests::ms(0)));
        assert_eq!(queue.in_hardware, 2, "8 ms are below 12 ms, 16 ms are not");
        // Those in hand still count; once the first is on the air, there is room for another one.
        assert!(queue.pop(super::super::tests::ms(0), |_| panic!("dropped")).is_some());
        assert_eq!(queue.in_hardware, 1);
        queue.on_transmitted(Some(StationId(0)), ms(8), 1000);
        push(&mut queue, item(10, 0, 0, 1000), super::super::tests::ms(0));
        assert_eq!(queue.in_hardware, 2);
    }

    /// Quantum 300: of two flows to one station, the one with small packets is not held back by the large ones of the other.
    #[test]
    fn flows_of_a_station_take_turns_by_bytes() {
        let mut queue = queue(Mac80211Config::default());
        push(&mut queue, item(99, 1, 9, 100), ms(0));
        for id in 0..4 {
            push(&mut queue, item(id, 0, 0, 1500), ms(0));
        }
        for id in 0..10 {
            push(&mut queue, item(100 + id, 0, 1, 150), ms(0));
        }
        frame(&mut queue, ms(0), |_| 10);
        let (items, _) = frame(&mut queue, ms(0), |_| 10).expect("a backlog");
        let order: Vec<u32> = items.iter().map(|item| item.id).collect();
        // Flow 0 sends a packet, which leaves it 300 − 1500 = −1200; after five turns it has 300 again. Flow 1 sends two in each of
        // its own.
        assert_eq!(order, [0, 100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 1, 2, 3]);
    }

    /// A packet for a station that had none goes before the backlog of the others.
    #[test]
    fn a_station_that_wakes_up_is_next() {
        let mut queue = queue(Mac80211Config::default());
        (0..200).for_each(|id| push(&mut queue, item(id, 0, 0, 1500), ms(0)));
        for _ in 0..3 {
            frame(&mut queue, ms(0), |_| 10);
        }
        push(&mut queue, item(1000, 1, 1, 100), ms(0));
        frame(&mut queue, ms(0), |_| 10);
        let (items, _) = frame(&mut queue, ms(0), |_| 10).expect("a backlog");
        assert_eq!(items[0].id, 1000, "after the aggregate that the hardware had already");
    }

    /// CoDel of 20 ms and 100 ms, by the wait before the hardware; packets that can be marked are.
    #[test]
    fn flows_are_under_codel() {
        let mut queue = queue(Mac80211Config::default().without_aggregation());
        for id in 0..600 {
            push(&mut queue, Item { ecn: Ecn::Ect0, ..item(id, 0, 0, 1000) }, ms(0));
        }
        let marked = |queue: &mut Mac80211<Item>, at| {
            frame(queue, ms(at), |_| 1);
            queue.marked()
        };
        assert_eq!([10, 20, 119, 120].map(|at| marked(&mut queue, at)), [0, 0, 0, 1]);
    }

    /// Flows that share a value of the hash are told apart by their receivers.
    #[test]
    fn flows_of_other_stations_have_queues_of_their_own() {
        let mut queue = queue(Mac80211Config::default());
        for station in 0..3 {
            // The first goes to the hardware, or there would be none to share the flow with.
            (0..3).for_each(|id| push(&mut queue, item(10 * station + id, station, 7, 1000), ms(0)));
        }
        let mut order = Vec::new();
        while let Some((items, _)) = frame(&mut queue, ms(0), |_| 10) {
            assert!(items.iter().all(|item| item.receiver == items[0].receiver));
            order.extend(items.iter().map(|item| item.id));
        }
        for station in 0..3 {
            let of: Vec<u32> = order.iter().copied().filter(|id| id / 10 == station).collect();
            assert_eq!(of, [0, 1, 2].map(|id| 10 * station + id));
        }
    }

    #[test]
    fn too_many_packets_are_dropped_from_the_longest_flow() {
        let mut queue = Mac80211::new(Mac80211Config { perturbation: 1, ..Mac80211Config::default() }, 100);
        let mut dropped = Vec::new();
        for id in 0..90 {
            queue.push(item(id, 0, 0, 1500), ms(0), |item, reason| dropped.push((item.id, reason)));
        }
        for id in 0..11 {
            queue.push(item(1000 + id, 1, 1, 1500), ms(0), |item, reason| dropped.push((item.id, reason)));
        }
        // 89 behind the one in the hardware; half of them would be 44.
        assert_eq!(dropped, (1..33).map(|id| (id, Reason::Full)).collect::<Vec<_>>());
        assert_eq!(queue.len() + queue.space(), 100);
    }
}
