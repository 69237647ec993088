//! Flow queues with controlled delay: sorts packets into queues by flow, serves the queues in turn, and keeps each short
//! by CoDel (RFC 8290).
//!
//! Queues that have just become active are served first: a flow that sends less than its share finds no queue at all.

use hopcast_protocols::time::Instant;

use super::Queued;
use super::flow_queues::{FlowQueues, FqCoDelConfig, Turns};

/// A bounded set of queues under FQ-CoDel.
///
/// Where the RFC leaves room this is as in Linux: a queue's turn ends when its credits are used up to zero, and CoDel's
/// condition that more than an MTU must be left counts the bytes of all queues.
#[derive(Clone, Debug)]
pub(crate) struct FqCoDel<T> {
    flows: FlowQueues<T>,
    turns: Turns,
}

impl<T: Queued> FqCoDel<T> {
    /// Empty queues with `capacity` places together.
    pub(crate) fn new(config: FqCoDelConfig, capacity: u32) -> Self {
        Self { flows: FlowQueues::new(config, capacity), turns: Turns::default() }
    }

    /// Appends `item` to the queue of its flow, then drops from the head of the longest queue if there are too many
    /// (section 4.1).
    pub(crate) fn push(&mut self, item: T, now: Instant, dropped: impl FnMut(T)) {
        let index = self.flows.classify(item.flow());
        self.flows.push(index, &mut self.turns, item, now);
        self.flows.make_room(0, dropped);
    }

    /// Takes the next one in turn that its queue does not drop; `dropped` gets those that it does (section 4.2).
    pub(crate) fn pop(&mut self, now: Instant, dropped: impl FnMut(T)) -> Option<T> {
        self.flows.pop(&mut self.turns, now, dropped)
    }

    /// Takes out all that `is_unwanted`, queue by queue.
    pub(crate) fn remove_all(&mut self, is_unwanted: impl Fn(&T) -> bool) -> Vec<T> {
        self.flows.remove_all(is_unwanted)
    }

    /// How many it has marked.
    pub(crate) fn marked(&self) -> u64 {
        self.flows.marked()
    }

    /// How many wait.
    pub(crate) fn len(&self) -> usize {
        self.flows.len()
    }

    /// Free places.
    pub(crate) fn space(&self) -> usize {
        self.flows.space()
    }

    /// What waits, in no particular order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.flows.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Item, ms};
    use super::*;

    fn queue(capacity: u32) -> FqCoDel<Item> {
        FqCoDel::new(FqCoDelConfig { perturbation: 1, ..FqCoDelConfig::default() }, capacity)
    }

    fn push(queue: &mut FqCoDel<Item>, id: u32, flow: u64, octets: u32) -> Vec<u32> {
        let mut dropped = Vec::new();
        queue.push(Item::new(id, flow, octets), ms(0), |item| dropped.push(item.id));
        dropped
    }

    fn pop(queue: &mut FqCoDel<Item>) -> Option<u32> {
        queue.pop(ms(0), |_| panic!("nothing has waited")).map(|item| item.id)
    }

    /// What the other tests rely on: it depends on the perturbation.
    #[test]
    fn the_first_flows_have_queues_of_their_own() {
        let queue = queue(10);
        let mut indices: Vec<u16> = (0..4).map(|flow| queue.flows.classify(flow)).collect();
        indices.sort_unstable();
        indices.dedup();
        assert_eq!(indices.len(), 4);
    }

    /// Chi-square over 16 groups of queues: 37.7 is the 99.9 % quantile with 15 degrees of freedom.
    #[test]
    fn flows_spread_over_the_queues_and_the_perturbation_moves_them() {
        let (first, second) = (queue(1), FqCoDel::<Item>::new(FqCoDelConfig::default(), 1));
        let mut groups = [0_u32; 16];
        let mut same = 0;
        for flow in 0..16_000 {
            groups[usize::from(first.flows.classify(flow) / 64)] += 1;
            same += u32::from(first.flows.classify(flow) == second.flows.classify(flow));
        }
        let chi_square: f64 = groups.iter().map(|&n| f64::from(n) - 1e3).map(|excess| excess * excess / 1e3).sum();
        assert!(chi_square < 37.7, "{chi_square}");
        assert!(same < 40, "{same} of 16000 stay; 16 are to be expected");
    }

    /// Quantum 1514. Flow 0 has packets of 1000 bytes (0…), flow 1 of 500 (100…), both new. Flow 0 sends 0 (514 left) and
    /// 1 (−486): its turn ends. Flow 1 sends 100, 101, 102 (14 left) and 103 (−486). Flow 0 gets 1514 more (1028): 2, and 3
    /// with the 28 that are left (−972). Flow 1, 1028: 104, 105, 106.
    #[test]
    fn queues_take_turns_by_octets() {
        let mut queue = queue(100);
        for k in 0..8 {
            push(&mut queue, k, 0, 1000);
            push(&mut queue, 100 + k, 1, 500);
        }
        let order: Vec<u32> = core::iter::from_fn(|| pop(&mut queue)).collect();
        assert_eq!(order, [0, 1, 100, 101, 102, 103, 2, 3, 104, 105, 106, 4, 107, 5, 6, 7]);
    }

    #[test]
    fn a_new_flow_goes_before_the_backlog_of_the_old() {
        let mut queue = queue(100);
        for k in 0..10 {
            push(&mut queue, k, 0, 1500);
        }
        assert_eq!([pop(&mut queue), pop(&mut queue)], [Some(0), Some(1)]);
        push(&mut queue, 100, 1, 100);
        assert_eq!([pop(&mut queue), pop(&mut queue)], [Some(100), Some(2)]);
    }

    /// Section 4.2: an emptied new queue waits among the old ones, so that the next packet of its flow is not first again.
    #[test]
    fn a_flow_of_single_packets_does_not_starve_the_others() {
        let mut queue = queue(100);
        for k in 0..10 {
            push(&mut queue, k, 0, 1500);
        }
        let mut order = Vec::new();
        for k in 0..6 {
            push(&mut queue, 100 + k, 1, 1500);
            order.extend(pop(&mut queue));
        }
        assert!(order.iter().filter(|&&id| id < 100).count() >= 2, "{order:?}");
    }

    #[test]
    fn the_longest_queue_loses_half_from_its_head_when_there_is_no_place() {
        let mut queue = queue(9);
        for k in 0..3 {
            assert!(push(&mut queue, 100 + k, 1, 100).is_empty());
        }
        for k in 0..6 {
            assert!(push(&mut queue, k, 0, 1500).is_empty());
        }
        assert_eq!(queue.space(), 0);
        assert_eq!(push(&mut queue, 103, 1, 100), [0, 1, 2]);
        assert_eq!((queue.len(), queue.space()), (7, 2));
    }

    #[test]
    fn no_more_than_a_batch_is_dropped_at_once() {
        let mut queue = queue(200);
        for k in 0..200 {
            push(&mut queue, k, 0, 1500);
        }
        assert_eq!(push(&mut queue, 200, 0, 1500), (0..64).collect::<Vec<_>>());
    }

    /// The times of `drops_come_when_the_pseudo_code_has_them`, for each queue by itself. A turn is one packet.
    #[test]
    fn each_queue_is_under_codel() {
        let mut queue = queue(1000);
        for k in 0..400 {
            push(&mut queue, k, u64::from(k % 2), 1514);
        }
        let mut times = [Vec::new(), Vec::new()];
        for at in (0..120).map(|k| 10 * (k / 2)) {
            assert!(queue.pop(ms(at), |item| times[item.flow as usize].push(at)).is_some());
        }
        for times in times {
            assert_eq!(times, [110, 210, 290, 340, 390, 440, 480, 520, 550, 590]);
        }
    }

    #[test]
    fn no_places_is_no_queue() {
        let mut queue = queue(0);
        assert_eq!((push(&mut queue, 0, 0, 100), queue.space()), (vec![0], 0));
        assert_eq!(pop(&mut queue), None);
    }
}
