//! Conversations between real hosts, recognised from their packets.
//!
//! A conversation is the traffic from one real host to another with the same addresses, protocol and ports; the opposite
//! direction is another conversation. A *packet* is an IP packet, its bytes are those after the transport header. hopcast
//! measures a conversation like a flow: from the entry of a packet into the simulation to its delivery to the receiving
//! real host.

mod course;
mod interarrival;
mod rtp;

pub use course::{Course, Interval};
pub use interarrival::InterarrivalJitter;
pub use rtp::{FreezeSummary, SequenceSummary, Stream, StreamSummary, Streams};

use std::collections::{BTreeMap, VecDeque};

use hopcast_protocols::time::Instant;

use super::{FlowMetrics, FlowTable};
use crate::id::{FlowId, NodeId};

/// The protocol number of UDP.
const UDP: u8 = 17;

/// Identity of a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    /// The sending real host.
    pub from: NodeId,
    /// The receiving real host.
    pub to: NodeId,
    /// The protocol field of the IP header ("Assigned internet protocol numbers", IANA).
    pub protocol: u8,
    /// Source and destination port, of protocols that have them.
    pub ports: Option<[u16; 2]>,
}

/// A packet of a conversation, as its headers describe it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment<'a> {
    /// Its conversation. A fragment that is not the first of its datagram has no ports.
    pub key: Key,
    /// The identification of a datagram in fragments, and whether this is the first of them.
    pub fragment: Option<(u16, bool)>,
    /// The bytes after the transport header.
    pub payload: &'a [u8],
}

/// One conversation. Losses, delays and jitter of its packets are in the [`FlowTable`], like those of a flow.
#[derive(Clone, Debug)]
pub struct Conversation {
    /// Its identity.
    pub key: Key,
    /// Its identifier in the table of flows.
    pub flow: FlowId,
    /// Time when its first packet was sent.
    pub first_sent: Instant,
    /// Jitter of the arrival times compared with the sending times.
    pub jitter: InterarrivalJitter,
    /// The conversation over time.
    pub course: Course,
    /// The RTP streams in it.
    pub streams: Streams,
}

/// The conversations of a run.
#[derive(Clone, Debug, Default)]
pub struct Conversations {
    /// In the order of their first packets, which is that of their flows.
    list: Vec<Conversation>,
    by_key: BTreeMap<Key, usize>,
    /// Datagrams of which first fragments were sent, latest last.
    begun: VecDeque<(Key, u16, usize)>,
    unlisted_packets: u64,
}

impl Conversations {
    /// Largest number of conversations; packets of further ones, such as those of a port scan, are only counted together.
    pub const MOST: usize = 1024;
    /// The most datagrams whose first fragments are remembered. A host sends the fragments of a datagram one after the other.
    const MOST_BEGUN: usize = 64;

    /// A real host sends a packet. Returns its flow and its number there; `None` if it belongs to a conversation beyond
    /// the limit.
    pub fn handle_sent(&mut self, segment: &Segment<'_>, flows: &mut FlowTable, now: Instant) -> Option<(FlowId, u64)> {
        let Some(index) = self.find(segment, flows, now) else {
            self.unlisted_packets += 1;
            return None;
        };
        let conversation = &mut self.list[index];
        conversation.course.handle_sent(now);
        // An IP packet has at most 65535 octets.
        Some((conversation.flow, flows[conversation.flow].handle_datagram_sent(segment.payload.len() as u32)))
    }

    /// A packet of `flow`, sent at `sent`, was delivered at `now` to the receiving real host. Does nothing if that flow
    /// is not a conversation.
    pub fn handle_received(&mut self, flow: FlowId, payload: &[u8], sent: Instant, now: Instant) {
        let Some(conversation) = self.get_mut(flow) else { return };
        conversation.jitter.handle_arrival(sent, now);
        conversation.course.handle_received(payload.len() as u32, sent, now);
        if conversation.key.protocol == UDP {
            conversation.streams.handle_datagram(payload, sent, now, &mut conversation.course);
        }
    }

    /// The conversations, in the order of their first packets.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Conversation> {
        self.list.iter()
    }

    /// Packets of conversations beyond the limit.
    pub fn unlisted_packets(&self) -> u64 {
        self.unlisted_packets
    }

    fn get_mut(&mut self, flow: FlowId) -> Option<&mut Conversation> {
        let index = self.list.binary_search_by_key(&flow, |conversation| conversation.flow).ok()?;
        Some(&mut self.list[index])
    }

    /// The place of the conversation that a packet belongs to.
    fn find(&mut self, segment: &Segment<'_>, flows: &mut FlowTable, now: Instant) -> Option<usize> {
        let portless = Key { ports: None, ..segment.key };
        match segment.fragment {
            Some((id, false)) => {
                let known = self.begun.iter().rev().find(|&&(key, begun, _)| (key, begun) == (portless, id));
                known.map(|&(.., index)| index).or_else(|| self.find_or_begin(segment.key, flows, now))
            }
            Some((id, true)) => {
                let index = self.find_or_begin(segment.key, flows, now)?;
                if self.begun.len() == Self::MOST_BEGUN {
                    self.begun.pop_front();
                }
                self.begun.push_back((portless, id, index));
                Some(index)
            }
            None => self.find_or_begin(segment.key, flows, now),
        }
    }

    fn find_or_begin(&mut self, key: Key, flows: &mut FlowTable, now: Instant) -> Option<usize> {
        if let Some(&index) = self.by_key.get(&key) {
            return Some(index);
        }
        if self.list.len() == Self::MOST {
            return None;
        }
        let (index, flow) = (self.list.len(), flows.push(FlowMetrics::live()));
        let (jitter, course, streams) = (InterarrivalJitter::default(), Course::default(), Streams::default());
        self.list.push(Conversation { key, flow, first_sent: now, jitter, course, streams });
        self.by_key.insert(key, index);
        Some(index)
    }
}

#[cfg(test)]
mod tests {
    use hopcast_protocols::time::Duration;

    use super::*;

    fn at(millis: u64) -> Instant {
        Instant::START + Duration::from_millis(millis)
    }

    fn key(ports: Option<[u16; 2]>) -> Key {
        Key { from: NodeId(3), to: NodeId(1), protocol: UDP, ports }
    }

    fn whole(ports: [u16; 2], payload: &[u8]) -> Segment<'_> {
        Segment { key: key(Some(ports)), fragment: None, payload }
    }

    #[test]
    fn each_way_and_each_pair_of_ports_is_a_conversation() {
        let (mut conversations, mut flows) = (Conversations::default(), FlowTable::new([]));
        let back = Key { from: NodeId(1), to: NodeId(3), protocol: UDP, ports: Some([5004, 40_000]) };
        let there = whole([40_000, 5004], b"1234");
        let back = Segment { key: back, ..there };
        let numbers = [there, back, there, whole([40_001, 5004], b"")]
            .map(|segment| conversations.handle_sent(&segment, &mut flows, at(20)).expect("there is room"));
        assert_eq!(numbers.map(|(flow, seq)| (flow.0, seq)), [(0, 0), (1, 0), (0, 1), (2, 0)]);
        flows[FlowId(0)].handle_datagram_received(0, 4, at(20), at(25));
        conversations.handle_received(FlowId(0), b"1234", at(20), at(25));
        flows[FlowId(0)].handle_datagram_lost(1);
        let summary = flows[FlowId(0)].summary(at(1000));
        assert_eq!((summary.sent_packets, summary.received_packets, summary.lost_packets), (2, 1, 1));
        assert_eq!((summary.sent_bytes, summary.received_bytes, summary.delay_mean_s), (8, 4, Some(0.005)));
        let first = conversations.iter().next().expect("there are three");
        let rows: Vec<_> = first.course.intervals(at(1000)).map(|(_, _, interval)| *interval).collect();
        assert_eq!((rows[0].sent_packets, rows[0].arrived_packets, rows[0].received_bytes), (2, 1, 4));
    }

    #[test]
    fn further_fragments_follow_the_first_one() {
        let (mut conversations, mut flows) = (Conversations::default(), FlowTable::new([]));
        let mut send = |ports, fragment| {
            let segment = Segment { key: key(ports), fragment, payload: b"" };
            conversations.handle_sent(&segment, &mut flows, at(0)).expect("there is room").0.0
        };
        assert_eq!(send(Some([1, 2]), Some((7, true))), 0);
        assert_eq!(send(Some([3, 4]), Some((8, true))), 1);
        assert_eq!([send(None, Some((7, false))), send(None, Some((8, false)))], [0, 1]);
        // Whose first fragment nobody has seen has no ports.
        assert_eq!(send(None, Some((9, false))), 2);
        // The identification has come round.
        assert_eq!(send(Some([3, 4]), Some((7, true))), 1);
        assert_eq!(send(None, Some((7, false))), 1);
    }

    #[test]
    fn a_flood_of_ports_takes_no_more_than_its_share() {
        let (mut conversations, mut flows) = (Conversations::default(), FlowTable::new([]));
        for port in 0..=u16::MAX {
            conversations.handle_sent(&whole([9, port], b""), &mut flows, at(0));
        }
        assert_eq!((conversations.iter().len(), flows.iter().len()), (Conversations::MOST, Conversations::MOST));
        assert_eq!(conversations.unlisted_packets(), 65_536 - Conversations::MOST as u64);
        // Those that are known go on.
        assert!(conversations.handle_sent(&whole([9, 9], b""), &mut flows, at(0)).is_some());
    }
}
