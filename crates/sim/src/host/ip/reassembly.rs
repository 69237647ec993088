//! Reassembly of fragments (RFC 791, section 3.2), with the limits of Linux.
//!
//! Fragments belong together if they agree in source, destination, protocol and identification. IP gives up a datagram
//! that is not complete 30 s after its first fragment, and also the oldest when memory is short. Identifications repeat
//! after 65 536 datagrams, so old and new fragments can meet (RFC 4963): IP restarts a datagram when 64 others of the
//! same source came in between, and recognises a combination of two, as a checksum would.

use crate::host::packet::{MAX_IP_PAYLOAD, Packet};
use crate::id::NodeId;
use crate::metrics::DropCause;
use hopcast_protocols::time::{Duration, Instant};
use hopcast_wire::ecn::Ecn;

/// Time limit for a datagram, from its first fragment: Linux's `ipfrag_time` (Documentation/networking/ip-sysctl.rst).
/// RFC 1122, section 3.3.2, asks for 60 to 120 s, RFC 791 for 15 s.
pub(crate) const REASSEMBLY_TIMEOUT: Duration = Duration::from_secs(30);
/// Bytes that incomplete datagrams may occupy together: Linux's `ipfrag_high_thresh` of 4 MiB, of payload here. Beyond it
/// the oldest are dropped, as in Linux up to 4.16; later versions refuse new datagrams instead.
pub(crate) const REASSEMBLY_MEMORY: u32 = 4 << 20;
/// Largest number of other datagrams of the same source between two fragments of a datagram; with this number or more in
/// between, IP restarts the datagram. Linux's `ipfrag_max_dist`.
const MAX_DISTANCE: u32 = 64;

/// The incomplete datagrams of one host.
#[derive(Clone, Debug)]
pub(in crate::host) struct Reassembly {
    datagrams: Vec<Incomplete>,
    /// Heads of the chains of datagrams with the same hash.
    buckets: Vec<u32>,
    /// Free places in `datagrams`, chained by `next_in_bucket`.
    free: u32,
    /// All have the same lifetime, so the order of creation is the order of expiry.
    oldest: u32,
    newest: u32,
    octets: u32,
    packets: u64,
    /// Fragments received from each source, in order of sources.
    received_from: Vec<(NodeId, u32)>,
}

#[derive(Clone, Debug)]
struct Incomplete {
    key: Key,
    deadline: Instant,
    /// A fragment of it, with the facts that all of them share.
    sample: Packet,
    misassembled: bool,
    /// What has come of a real host's, whose bytes count.
    pieces: Vec<Packet>,
    /// Bytes of the whole, once the last fragment is here.
    total: Option<u32>,
    /// Bytes that are here, as disjoint, sorted, half-open ranges that do not touch. Keeps its memory for the next.
    ranges: Vec<(u32, u32)>,
    octets: u32,
    packets: u32,
    /// Fragments from the source when the latest one of this datagram came.
    mark: u32,
    next_in_bucket: u32,
    older: u32,
    newer: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Key {
    source: NodeId,
    destination: NodeId,
    id: u16,
    protocol: u8,
}

/// What became of fragments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::host) enum Outcome {
    /// The datagram is complete; it came in this many packets.
    Complete { datagram: Packet, packets: u32 },
    /// This number of fragments of the datagram that `sample` belongs to are dropped, which loses the datagram; the
    /// number can be zero.
    Dropped { sample: Packet, packets: u32, cause: DropCause },
}

const NONE: u32 = u32::MAX;
const BUCKETS: usize = 256;

impl Reassembly {
    pub(in crate::host) fn new() -> Self {
        Self {
            datagrams: Vec::new(),
            buckets: vec![NONE; BUCKETS],
            free: NONE,
            oldest: NONE,
            newest: NONE,
            octets: 0,
            packets: 0,
            received_from: Vec::new(),
        }
    }

    /// Takes a fragment in. Each outcome is handed to `report`: drops first, then the datagram if it is complete.
    pub(in crate::host) fn handle_fragment(&mut self, packet: Packet, now: Instant, mut report: impl FnMut(Outcome)) {
        if u32::from(packet.ip.offset) + u32::from(packet.ip.payload) > MAX_IP_PAYLOAD {
            // It is of no datagram: none is as long (RFC 791, section 3.1).
            return report(Outcome::Dropped { sample: packet, packets: 1, cause: DropCause::Corrupted });
        }
        let key = Key::of(&packet);
        let count = self.count_from(packet.ip.source);
        let mut index = self.find(key);
        if index != NONE && count.wrapping_sub(self.datagrams[index as usize].mark) > MAX_DISTANCE {
            report(self.give_up(index, DropCause::ReassemblyTimeout));
            index = NONE;
        }
        if index == NONE {
            index = self.insert(key, packet.clone(), now);
        }
        let octets = u32::from(packet.ip.payload);
        let datagram = &mut self.datagrams[index as usize];
        datagram.mark = count;
        if datagram.is_of_other(&packet) {
            // It is of another datagram with this identification, which will not be whole either.
            report(Outcome::Dropped { sample: packet.clone(), packets: 0, cause: DropCause::Misassembled });
        }
        if !datagram.take(&packet) {
            report(Outcome::Dropped { sample: packet, packets: 1, cause: DropCause::DuplicateFragment });
            return;
        }
        self.octets += octets;
        self.packets += 1;
        if datagram.is_complete() {
            let outcome = match datagram.misassembled {
                true => Outcome::Dropped {
                    sample: datagram.sample.clone(),
                    packets: datagram.packets,
                    cause: DropCause::Misassembled,
                },
                false => Outcome::Complete { datagram: datagram.whole(), packets: datagram.packets },
            };
            self.remove(index);
            report(outcome);
        }
        while self.octets > REASSEMBLY_MEMORY {
            report(self.give_up(self.oldest, DropCause::ReassemblyOverflow));
        }
    }

    /// Gives up the datagrams whose time is over.
    pub(in crate::host) fn handle_timeout(&mut self, now: Instant, mut report: impl FnMut(Outcome)) {
        while self.poll_timeout().is_some_and(|deadline| deadline <= now) {
            report(self.give_up(self.oldest, DropCause::ReassemblyTimeout));
        }
    }

    /// When the oldest datagram is given up.
    pub(in crate::host) fn poll_timeout(&self) -> Option<Instant> {
        (self.oldest != NONE).then(|| self.datagrams[self.oldest as usize].deadline)
    }

    /// Fragments held.
    pub(in crate::host) fn packets(&self) -> u64 {
        self.packets
    }

    /// A fragment of each incomplete datagram, oldest first.
    pub(in crate::host) fn datagrams(&self) -> impl Iterator<Item = &Packet> {
        let place = |index: u32| (index != NONE).then(|| &self.datagrams[index as usize]);
        std::iter::successors(place(self.oldest), move |datagram| place(datagram.newer))
            .map(|datagram| &datagram.sample)
    }

    fn count_from(&mut self, source: NodeId) -> u32 {
        match self.received_from.binary_search_by_key(&source, |&(node, _)| node) {
            Ok(index) => {
                let count = &mut self.received_from[index].1;
                *count = count.wrapping_add(1);
                *count
            }
            Err(index) => {
                self.received_from.insert(index, (source, 0));
                0
            }
        }
    }

    fn find(&self, key: Key) -> u32 {
        let mut index = self.buckets[key.bucket()];
        while index != NONE && self.datagrams[index as usize].key != key {
            index = self.datagrams[index as usize].next_in_bucket;
        }
        index
    }

    fn insert(&mut self, key: Key, sample: Packet, now: Instant) -> u32 {
        let index = match self.free {
            NONE => {
                self.datagrams.push(Incomplete::new(key, sample, Vec::with_capacity(8)));
                self.datagrams.len() as u32 - 1
            }
            free => {
                let place = &mut self.datagrams[free as usize];
                self.free = place.next_in_bucket;
                let mut ranges = std::mem::take(&mut place.ranges);
                ranges.clear();
                *place = Incomplete::new(key, sample, ranges);
                free
            }
        };
        let bucket = &mut self.buckets[key.bucket()];
        let datagram = &mut self.datagrams[index as usize];
        datagram.deadline = now + REASSEMBLY_TIMEOUT;
        datagram.next_in_bucket = std::mem::replace(bucket, index);
        datagram.older = self.newest;
        datagram.newer = NONE;
        match self.newest {
            NONE => self.oldest = index,
            newest => self.datagrams[newest as usize].newer = index,
        }
        self.newest = index;
        index
    }

    fn give_up(&mut self, index: u32, cause: DropCause) -> Outcome {
        let datagram = &self.datagrams[index as usize];
        let outcome = Outcome::Dropped { sample: datagram.sample.clone(), packets: datagram.packets, cause };
        self.remove(index);
        outcome
    }

    fn remove(&mut self, index: u32) {
        let Incomplete { key, octets, packets, next_in_bucket, older, newer, .. } = self.datagrams[index as usize];
        self.octets -= octets;
        self.packets -= u64::from(packets);
        match older {
            NONE => self.oldest = newer,
            older => self.datagrams[older as usize].newer = newer,
        }
        match newer {
            NONE => self.newest = older,
            newer => self.datagrams[newer as usize].older = older,
        }
        let head = self.buckets[key.bucket()];
        if head == index {
            self.buckets[key.bucket()] = next_in_bucket;
        } else {
            let mut before = head;
            while self.datagrams[before as usize].next_in_bucket != index {
                before = self.datagrams[before as usize].next_in_bucket;
            }
            self.datagrams[before as usize].next_in_bucket = next_in_bucket;
        }
        self.datagrams[index as usize].next_in_bucket = self.free;
        self.free = index;
    }
}

impl Key {
    fn of(packet: &Packet) -> Self {
        let ip = &packet.ip;
        Self { source: ip.source, destination: ip.destination, id: ip.id, protocol: packet.body.protocol() }
    }

    /// Identifications of one source follow each other, so they spread evenly by themselves.
    fn bucket(&self) -> usize {
        (self.id as usize ^ self.source.0 as usize ^ (self.protocol as usize) << 4) % BUCKETS
    }
}

impl Incomplete {
    /// An empty datagram; `ranges` is memory to use.
    fn new(key: Key, sample: Packet, ranges: Vec<(u32, u32)>) -> Self {
        Self {
            key,
            deadline: Instant::START,
            sample,
            misassembled: false,
            pieces: Vec::new(),
            total: None,
            ranges,
            octets: 0,
            packets: 0,
            mark: 0,
            next_in_bucket: NONE,
            older: NONE,
            newer: NONE,
        }
    }

    /// Takes a fragment in; false if all of it was here.
    fn take(&mut self, packet: &Packet) -> bool {
        let start = u32::from(packet.ip.offset);
        let end = start + u32::from(packet.ip.payload);
        if packet.real().is_some() && self.sample.datagram().is_none() {
            // What came before the first fragment is of a flow that nobody knew then.
            self.sample.tag = packet.tag;
        }
        if !self.cover(start, end) {
            return false;
        }
        if !packet.ip.more_fragments {
            self.total = Some(end);
        }
        if packet.ip.ecn == Ecn::Ce {
            // RFC 3168, section 5.3.
            self.sample.ip.ecn = Ecn::Ce;
        }
        self.misassembled |= packet.body != self.sample.body || self.is_of_other(packet);
        if packet.real().is_some() {
            self.pieces.push(packet.clone());
        }
        self.octets += end - start;
        self.packets += 1;
        true
    }

    /// Whether a fragment is one of another datagram of a flow than those that are here. Of real hosts, those that are of no flow
    /// tell nothing.
    fn is_of_other(&self, packet: &Packet) -> bool {
        let [tag, known] = [packet.tag, self.sample.tag];
        if packet.real().is_none() {
            return tag != known;
        }
        let are_numbered = packet.datagram().is_some() && self.sample.datagram().is_some();
        are_numbered && (tag.flow, tag.seq) != (known.flow, known.seq)
    }

    /// Adds `start..end` to what is here; false if it was.
    fn cover(&mut self, start: u32, end: u32) -> bool {
        // In order, the usual case, there is one range, which grows.
        if let Some(last) = self.ranges.last_mut().filter(|last| last.1 == start) {
            last.1 = end;
            return true;
        }
        let first = self.ranges.partition_point(|range| range.1 < start);
        let after = self.ranges.partition_point(|range| range.0 <= end);
        match self.ranges.get(first).copied().filter(|_| first < after) {
            None => self.ranges.insert(first, (start, end)),
            Some((from, to)) if from <= start && end <= to => return false,
            Some((from, _)) => {
                let merged = (from.min(start), self.ranges[after - 1].1.max(end));
                self.ranges.drain(first + 1..after);
                self.ranges[first] = merged;
            }
        }
        true
    }

    fn is_complete(&self) -> bool {
        self.total.is_some_and(|total| self.ranges[..] == [(0, total)])
    }

    fn whole(&self) -> Packet {
        if let Some(packet) = Packet::joined(self.pieces.clone()) {
            let tag = if self.sample.datagram().is_some() { self.sample.tag } else { packet.tag };
            return Packet { tag, ..packet };
        }
        let mut packet = self.sample.clone();
        packet.ip.offset = 0;
        packet.ip.more_fragments = false;
        packet.ip.payload = self.total.unwrap_or(0) as u16;
        packet
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::ip::fragment::{Fragments, tests::datagram};
    use proptest::prelude::*;

    const MTU: Option<u32> = Some(1500);

    fn fragments(length: u16, id: u16, seq: u64) -> Vec<Packet> {
        Fragments::new(datagram(length, id, seq), MTU).collect()
    }

    fn at(secs: u64) -> Instant {
        Instant::START + Duration::from_secs(secs)
    }

    fn take(reassembly: &mut Reassembly, packet: Packet, now: Instant) -> Vec<Outcome> {
        let mut outcomes = Vec::new();
        reassembly.handle_fragment(packet, now, |outcome| outcomes.push(outcome));
        outcomes
    }

    #[test]
    fn a_datagram_without_one_fragment_is_given_up_at_its_time() {
        let mut reassembly = Reassembly::new();
        let packets = fragments(16_384, 7, 3);
        for packet in packets.iter().skip(1) {
            assert_eq!(take(&mut reassembly, packet.clone(), at(1)), []);
        }
        assert_eq!(reassembly.poll_timeout(), Some(at(31)));
        let mut outcomes = Vec::new();
        reassembly.handle_timeout(at(30), |outcome| outcomes.push(outcome));
        assert_eq!(outcomes, []);
        reassembly.handle_timeout(at(31), |outcome| outcomes.push(outcome));
        let sample = packets[1].clone();
        assert_eq!(outcomes, [Outcome::Dropped { sample, packets: 11, cause: DropCause::ReassemblyTimeout }]);
        assert_eq!((reassembly.packets(), reassembly.octets, reassembly.poll_timeout()), (0, 0, None));
    }

    #[test]
    fn fragments_of_two_datagrams_with_one_identification_do_not_pass_for_one() {
        let mut reassembly = Reassembly::new();
        let (old, new) = (fragments(2000, 7, 1), fragments(2000, 7, 2));
        take(&mut reassembly, old[0].clone(), at(0));
        let lost = |sample: &Packet, packets| {
            let sample = sample.clone();
            Outcome::Dropped { sample, packets, cause: DropCause::Misassembled }
        };
        let outcomes = take(&mut reassembly, new[1].clone(), at(1));
        assert_eq!(outcomes, [lost(&new[1], 0), lost(&old[0], 2)]);
        // Nor if the other one's are taken for second copies.
        take(&mut reassembly, old[0].clone(), at(2));
        let again = Outcome::Dropped { sample: new[0].clone(), packets: 1, cause: DropCause::DuplicateFragment };
        assert_eq!(take(&mut reassembly, new[0].clone(), at(3)), [lost(&new[0], 0), again]);
    }

    #[test]
    fn a_datagram_is_begun_anew_when_many_others_came_in_between() {
        for (others, is_begun_anew) in [(63, false), (64, true)] {
            let mut reassembly = Reassembly::new();
            let (old, new) = (fragments(2000, 7, 1), fragments(2000, 7, 2));
            take(&mut reassembly, old[0].clone(), at(0));
            for id in 100..100 + others {
                take(&mut reassembly, fragments(2000, id, 50 + u64::from(id)).swap_remove(0), at(0));
            }
            // The first fragment is a duplicate of the old one, or the first of a new datagram after the old one's end.
            let outcomes = take(&mut reassembly, new[0].clone(), at(1));
            let dropped = Outcome::Dropped { sample: old[0].clone(), packets: 1, cause: DropCause::ReassemblyTimeout };
            assert_eq!(outcomes.contains(&dropped), is_begun_anew, "{others} others");
        }
    }

    #[test]
    fn when_memory_runs_out_the_oldest_goes() {
        let mut reassembly = Reassembly::new();
        let fit = REASSEMBLY_MEMORY / 1480;
        for id in 0..fit as u16 {
            assert_eq!(take(&mut reassembly, fragments(2000, id, u64::from(id)).swap_remove(0), at(0)), []);
        }
        let oldest = fragments(2000, 0, 0).swap_remove(0);
        let outcomes = take(&mut reassembly, fragments(2000, 9999, 9999).swap_remove(0), at(0));
        assert_eq!(outcomes, [Outcome::Dropped { sample: oldest, packets: 1, cause: DropCause::ReassemblyOverflow }]);
        assert_eq!(reassembly.packets(), u64::from(fit));
    }

    #[test]
    fn memory_is_used_again() {
        let mut reassembly = Reassembly::new();
        for id in 0..1000 {
            for packet in fragments(16_384, id, u64::from(id)) {
                take(&mut reassembly, packet, at(0));
            }
        }
        assert_eq!((reassembly.datagrams.len(), reassembly.packets()), (1, 0));
    }

    proptest! {
        #[test]
        fn any_order_with_duplicates_gives_the_datagrams(
            lengths in prop::collection::vec(1473_u16..40_000, 1..4),
            mtu in prop::sample::select(vec![68_u32, 576, 1500]),
            order in prop::collection::vec(any::<prop::sample::Index>(), 2000),
        ) {
            let mut pending: Vec<Packet> = Vec::new();
            for (id, &length) in lengths.iter().enumerate() {
                pending.extend(Fragments::new(datagram(length, id as u16, id as u64), Some(mtu)));
            }
            let (mut reassembly, mut complete, mut given, mut ended) = (Reassembly::new(), Vec::new(), 0_u64, 0_u64);
            let mut indices = order.iter().cycle();
            while !pending.is_empty() {
                let index = indices.next().unwrap().index(pending.len());
                // Every third time the packet stays, and comes again.
                let packet = if given % 3 == 0 { pending[index].clone() } else { pending.swap_remove(index) };
                given += 1;
                // A late copy of a complete datagram is none of this test's business.
                if complete.iter().any(|whole: &Packet| whole.ip.id == packet.ip.id) {
                    given -= 1;
                    pending.retain(|other| other.ip.id != packet.ip.id);
                    continue;
                }
                // Distances are for datagrams whose identification came round, not for ones that are merely interleaved.
                reassembly.received_from.clear();
                reassembly.datagrams.iter_mut().for_each(|datagram| datagram.mark = 0);
                for outcome in take(&mut reassembly, packet, at(0)) {
                    match outcome {
                        Outcome::Complete { datagram, packets } => {
                            complete.push(datagram);
                            ended += u64::from(packets);
                        }
                        Outcome::Dropped { packets, cause, .. } => {
                            prop_assert_eq!(cause, DropCause::DuplicateFragment);
                            ended += u64::from(packets);
                        }
                    }
                }
                prop_assert_eq!(given, ended + reassembly.packets());
            }
            complete.sort_by_key(|datagram| datagram.ip.id);
            let expected: Vec<_> = lengths.iter().enumerate().map(|(id, &l)| datagram(l, id as u16, id as u64)).collect();
            prop_assert_eq!(complete, expected);
        }
    }
}
