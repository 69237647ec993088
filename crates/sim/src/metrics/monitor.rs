//! The global monitor: compares the true cause of each lost packet of an ADTFRC flow with what the flow identified (Fu,
//! Meng, Lu, section III-D; their footnote 5 names a monitor, which the paper does not describe).
//!
//! The monitor learns of a loss when the network drops the packet, and judges it by [`Truth`] at that time. It scores the
//! loss when the receiver counts the packet as lost: it compares the truth with the states that the receiver identifies
//! at that moment by each metric of section III-D. A sender that probed in between has identified a disconnection. A
//! packet that counts as lost but was not dropped is late: it waits for a route, or others have taken another way, which
//! is a change of route. A drop at a host for local reasons is neither.

use super::{ArrivalSummary, Arrivals, DropCause, PathState};
use crate::id::{FlowId, NodeId};
use hopcast_protocols::time::Instant;
use hopcast_protocols::transport::adtfrc;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};

/// The true cause of a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Truth {
    /// Cause of the loss of this packet.
    pub cause: PathState,
    /// State of the network: congestion if the largest queue of any node is more than half full, the paper's threshold
    /// (section III-C.1, figure 2), or if a full queue dropped the packet; otherwise the cause.
    pub state: PathState,
}

impl Truth {
    /// The truth about a packet lost by `cause`, in a network whose largest queue is more than half full, or not.
    pub fn new(cause: PathState, is_queue_large: bool) -> Self {
        Self { cause, state: if is_queue_large { PathState::Congestion } else { cause } }
    }
}

/// The state that each of [`adtfrc::Identification::ALL`] identified for a loss.
pub type Identified = [PathState; adtfrc::Identification::ALL.len()];

/// Scores of each of [`adtfrc::Identification::ALL`] on the same losses. If the flow reacts, the losses are those of a
/// flow that follows one of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scores([Score; adtfrc::Identification::ALL.len()]);

impl Scores {
    /// The score of one of them.
    pub fn of(&self, identification: adtfrc::Identification) -> &Score {
        &self.0[identification as usize]
    }

    fn count(&mut self, truth: Truth, identified: Identified) {
        self.0.iter_mut().zip(identified).for_each(|(score, identified)| score.count(truth, identified));
    }
}

impl Serialize for Scores {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(adtfrc::Identification::ALL.iter().map(|by| by.name()).zip(&self.0))
    }
}

impl JsonSchema for Scores {
    fn schema_name() -> Cow<'static, str> {
        "Scores".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        // An object with a key for each name, and the same below all of them.
        let map = |names: &[&str], below: Schema| {
            let keys: serde_json::Map<_, _> =
                names.iter().map(|&name| (name.into(), below.clone().to_value())).collect();
            json_schema!({ "type": "object", "properties": keys })
        };
        let states = PathState::ALL.map(PathState::name);
        let score = map(&["by_state", "by_cause"], map(&states, map(&states, u64::json_schema(generator))));
        map(&adtfrc::Identification::ALL.map(adtfrc::Identification::name), score)
    }
}

/// Number of losses by truth and identified state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Score {
    by_state: Matrix,
    by_cause: Matrix,
}

/// Counts by truth, then by what it was identified as.
type Matrix = [[u64; PathState::ALL.len()]; PathState::ALL.len()];

impl Score {
    /// Losses in a network in state `truth` for which `identified` was the result.
    pub fn of_state(&self, truth: PathState, identified: PathState) -> u64 {
        self.by_state[truth as usize][identified as usize]
    }

    /// Losses by the cause `truth` for which `identified` was the result.
    pub fn of_cause(&self, truth: PathState, identified: PathState) -> u64 {
        self.by_cause[truth as usize][identified as usize]
    }

    fn count(&mut self, truth: Truth, identified: PathState) {
        self.by_state[truth.state as usize][identified as usize] += 1;
        self.by_cause[truth.cause as usize][identified as usize] += 1;
    }
}

impl Serialize for Score {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(2))?;
        map.serialize_entry("by_state", &Named(self.by_state.map(Named)))?;
        map.serialize_entry("by_cause", &Named(self.by_cause.map(Named)))?;
        map.end()
    }
}

/// Something for each state: a map from the states' names in JSON.
struct Named<T>([T; PathState::ALL.len()]);

impl<T: Serialize> Serialize for Named<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(PathState::ALL.iter().map(|state| state.name()).zip(&self.0))
    }
}

/// A loss, or an arrival, that only a part that sees the whole network can judge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unjudged {
    /// The flow.
    pub flow: FlowId,
    /// Number of the datagram in the flow.
    pub seq: u64,
    /// The known facts.
    pub loss: Loss,
}

/// How a datagram was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// It was dropped.
    Dropped {
        /// Why.
        cause: DropCause,
        /// The link that it was to pass, if an interface gave it up.
        link: Option<(NodeId, NodeId)>,
    },
    /// It was not dropped; its receiver counts it as lost, and identifies these states.
    Late(Identified),
    /// It was not lost at all: it arrived with these signs, to be compared with the state of the network.
    Arrived(adtfrc::Signs),
}

/// The record of one flow.
#[derive(Clone, Debug, Default)]
pub struct Monitor {
    /// Packets with data that left and are not scored: their numbers in the connection, and in the flow.
    sent: VecDeque<(u64, u64)>,
    /// Of those that were dropped: the truth, if the network is to blame, and when.
    dropped: BTreeMap<u64, (Option<Truth>, Instant)>,
    /// Up to this number the receiver's losses were scored.
    scored: u64,
    /// When the sender was last known to probe; `Instant::MAX` while it does.
    probed: Option<Instant>,
    scores: Scores,
    arrivals: Arrivals,
}

impl Monitor {
    /// The receiver measured a packet that arrived.
    pub(crate) fn on_sample(&mut self, sample: &adtfrc::Sample) {
        self.arrivals.on_sample(sample);
    }

    /// A packet with these signs arrived in a network in this state.
    pub(crate) fn on_arrival(&mut self, truth: Truth, signs: adtfrc::Signs) {
        self.arrivals.on_signs(signs, truth.state == PathState::Congestion);
    }

    /// What is known of the packets that arrived.
    pub(crate) fn arrivals(&self) -> ArrivalSummary {
        self.arrivals.summary()
    }

    /// A packet of the connection, with this number, left with datagram `seq`.
    pub fn on_sent(&mut self, number: u64, seq: u64) {
        self.sent.push_back((number, seq));
    }

    /// The sender treats the path as broken, or no longer.
    pub(crate) fn on_sender(&mut self, is_probing: bool, now: Instant) {
        if is_probing {
            self.probed = Some(Instant::MAX);
        } else if self.probed == Some(Instant::MAX) {
            self.probed = Some(now);
        }
    }

    /// The true cause of the loss of datagram `seq`, which was dropped; `None` if the network did not cause it. The first
    /// definite report counts.
    pub(crate) fn on_judgement(&mut self, seq: u64, truth: Option<Truth>, now: Instant) {
        let dropped = self.dropped.entry(seq).or_insert((truth, now));
        if dropped.0.is_none() {
            *dropped = (truth, now);
        }
    }

    /// The true cause of a late packet.
    pub(crate) fn on_late_judgement(&mut self, truth: Truth, identified: Identified) {
        self.scores.count(truth, identified);
    }

    /// The receiver counts the packets with the numbers `first` to `last` as lost, and identifies states. Those that were
    /// not dropped remain to be judged: `late` gets their sequence numbers.
    pub(crate) fn on_losses(&mut self, [first, last]: [u64; 2], identified: Identified, mut late: impl FnMut(u64)) {
        if last < self.scored {
            return;
        }
        self.scored = last + 1;
        while let Some(&(number, seq)) = self.sent.front().filter(|(number, _)| *number <= last) {
            self.sent.pop_front();
            let Some((truth, at)) = self.dropped.remove(&seq) else {
                if number >= first {
                    late(seq);
                }
                continue;
            };
            if let Some(truth) = truth.filter(|_| number >= first) {
                let was_probing = self.probed.is_some_and(|probed| probed >= at);
                self.scores
                    .count(truth, if was_probing { identified.map(|_| PathState::Disconnection) } else { identified });
            }
        }
    }

    /// Identification results of the losses so far.
    pub fn scores(&self) -> &Scores {
        &self.scores
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use PathState::{ChannelError, Congestion, Disconnection, Normal, RouteChange};
    use hopcast_protocols::time::Duration;

    fn at(seconds: u64) -> Instant {
        Instant::START + Duration::from_secs(seconds)
    }

    /// Ten packets, numbered from 100 in the connection, of which 3, 4 and 7 are dropped.
    fn monitor() -> Monitor {
        let mut monitor = Monitor::default();
        (0..10).for_each(|seq| monitor.on_sent(100 + seq, seq));
        monitor.on_judgement(3, Some(Truth::new(ChannelError, false)), at(1));
        monitor.on_judgement(4, Some(Truth::new(ChannelError, true)), at(1));
        monitor.on_judgement(7, Some(Truth::new(RouteChange, false)), at(2));
        monitor
    }

    /// By the joint identification.
    fn counts(monitor: &Monitor) -> Score {
        *monitor.scores().of(adtfrc::Identification::Joint)
    }

    fn none(seq: u64) {
        panic!("{seq} was dropped");
    }

    #[test]
    fn a_loss_is_scored_when_its_receiver_finds_it() {
        let mut monitor = monitor();
        assert_eq!(monitor.scores(), &Scores::default());
        monitor.on_losses([103, 104], [Congestion; 3], none);
        let found = counts(&monitor);
        assert_eq!((found.of_state(ChannelError, Congestion), found.of_state(Congestion, Congestion)), (1, 1));
        assert_eq!((found.of_cause(ChannelError, Congestion), found.of_cause(Congestion, Congestion)), (2, 0));
        // Told again, as with the next packet, they count once.
        monitor.on_losses([103, 104], [Normal; 3], none);
        assert_eq!(counts(&monitor), found);
        monitor.on_losses([107, 107], [RouteChange; 3], none);
        assert_eq!(counts(&monitor).of_state(RouteChange, RouteChange), 1);
    }

    #[test]
    fn section_iii_d_each_identification_is_scored_on_the_same_losses() {
        let mut monitor = monitor();
        monitor.on_losses([104, 104], [Normal, Congestion, ChannelError], none);
        monitor.on_losses([105, 105], [Congestion, Normal, Normal], |_| {});
        monitor.on_late_judgement(Truth::new(RouteChange, false), [Congestion, Normal, Normal]);
        for (by, lost, late) in [
            (adtfrc::Identification::Joint, Normal, Congestion),
            (adtfrc::Identification::DelayDifference, Congestion, Normal),
            (adtfrc::Identification::Throughput, ChannelError, Normal),
        ] {
            let score = monitor.scores().of(by);
            assert_eq!((score.of_state(Congestion, lost), score.of_cause(RouteChange, late)), (1, 1), "{by:?}");
            let all = PathState::ALL.map(|truth| PathState::ALL.map(|state| score.of_state(truth, state)));
            assert_eq!(all.as_flattened().iter().sum::<u64>(), 2);
        }
        let text = serde_json::to_string(monitor.scores()).expect("it is a map of maps");
        assert!(text.starts_with(r#"{"joint":{"by_state":{"normal":{"normal":0,"#), "{text}");
    }

    #[test]
    fn who_probed_since_has_found_a_disconnection() {
        let mut monitor = monitor();
        monitor.on_sender(true, at(3));
        monitor.on_sender(false, at(9));
        monitor.on_losses([103, 107], [Normal; 3], |seq| assert!([5, 6].contains(&seq)));
        assert_eq!(counts(&monitor).of_state(RouteChange, Disconnection), 1);
        assert_eq!(counts(&monitor).of_state(ChannelError, Disconnection), 1);
        // What is dropped after it has ended is not part of it.
        monitor.on_sent(110, 10);
        monitor.on_judgement(10, Some(Truth::new(ChannelError, false)), at(10));
        monitor.on_losses([110, 110], [Normal; 3], none);
        assert_eq!(counts(&monitor).of_state(ChannelError, Normal), 1);
    }

    #[test]
    fn what_no_network_has_lost_is_neither_scored_nor_late() {
        let mut monitor = monitor();
        monitor.on_judgement(5, None, at(1));
        monitor.on_judgement(6, None, at(1));
        // The network has lost another part of it.
        monitor.on_judgement(6, Some(Truth::new(ChannelError, false)), at(2));
        // What is known of it does not change.
        monitor.on_judgement(7, None, at(3));
        monitor.on_losses([105, 107], [Normal; 3], none);
        assert_eq!([ChannelError, RouteChange].map(|truth| counts(&monitor).of_cause(truth, Normal)), [1, 1]);
        assert_eq!((monitor.sent.len(), monitor.dropped.len()), (2, 0));
    }

    #[test]
    fn what_was_not_dropped_is_late() {
        let mut monitor = monitor();
        let mut late = Vec::new();
        monitor.on_losses([105, 105], [Normal; 3], |seq| late.push(seq));
        assert_eq!(late, [5]);
        monitor.on_late_judgement(Truth::new(RouteChange, false), [Normal; 3]);
        assert_eq!(counts(&monitor).of_cause(RouteChange, Normal), 1);
        // Packets below it that arrived are forgotten, and so is a drop that was found to be none.
        assert_eq!((monitor.sent.len(), monitor.dropped.len()), (4, 1));
    }
}
