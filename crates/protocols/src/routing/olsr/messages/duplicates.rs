//! Which messages have been processed and passed on (RFC 3626, 3.4).
//!
//! The RFC keeps a tuple for each message for DUP_HOLD_TIME. Here, what is kept for each originator is one bit for each of the
//! last 64 numbers, which at a message a second are over a minute: the same in a tenth of the memory. An originator that was
//! silent for DUP_HOLD_TIME is forgotten.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use crate::time::{Duration, Instant};

/// The most originators at a time. Messages of more are processed, and not passed on.
pub(in crate::routing::olsr) const MAX_ORIGINATORS: usize = 16384;

/// The duplicate set.
#[derive(Debug)]
pub(in crate::routing::olsr) struct Duplicates {
    hold: Duration,
    interfaces: u32,
    originators: BTreeMap<Ipv4Addr, Window>,
}

/// The last numbers of an originator. Bit n of a word stands for the number n before `last`.
#[derive(Clone, Debug)]
struct Window {
    last: u16,
    until: Instant,
    processed: u64,
    /// D_retransmitted.
    passed_on: u64,
    /// D_iface_list: by interface, which messages have come there. Empty with one interface: what has come has been processed.
    heard: Box<[u64]>,
}

/// What a message is to this node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::routing::olsr) struct Standing {
    /// It hasn't been processed.
    pub(in crate::routing::olsr) is_new: bool,
    /// It has neither been passed on nor come over this interface before (3.4.1, step 2).
    pub(in crate::routing::olsr) may_pass: bool,
}

impl Duplicates {
    pub(in crate::routing::olsr) fn new(hold: Duration, interfaces: u32) -> Self {
        Self { hold, interfaces, originators: BTreeMap::new() }
    }

    /// A message has come over a symmetric link at this interface; it counts as processed from now on.
    pub(in crate::routing::olsr) fn handle_message(
        &mut self,
        originator: Ipv4Addr,
        sequence: u16,
        interface: u32,
        now: Instant,
    ) -> Standing {
        let fresh = || Window {
            last: sequence,
            until: now + self.hold,
            processed: 0,
            passed_on: 0,
            heard: if self.interfaces > 1 { vec![0; self.interfaces as usize].into() } else { Box::default() },
        };
        if self.originators.len() >= MAX_ORIGINATORS && !self.originators.contains_key(&originator) {
            return Standing { is_new: true, may_pass: false };
        }
        let window = self.originators.entry(originator).or_insert_with(fresh);
        let ahead = sequence.wrapping_sub(window.last) as i16;
        if window.until <= now || !(-63..64).contains(&ahead) {
            // No message is that late: the originator was started anew.
            *window = fresh();
        } else if ahead > 0 {
            let shift = |bits: &mut u64| *bits <<= ahead;
            shift(&mut window.processed);
            shift(&mut window.passed_on);
            window.heard.iter_mut().for_each(shift);
            window.last = sequence;
        }
        let bit = 1 << window.last.wrapping_sub(sequence);
        let is_new = window.processed & bit == 0;
        window.processed |= bit;
        if is_new {
            window.until = now + self.hold;
        }
        let is_first_here = match window.heard.get_mut(interface as usize) {
            Some(heard) => {
                let is_first = *heard & bit == 0;
                *heard |= bit;
                is_first
            }
            None => is_new,
        };
        Standing { is_new, may_pass: is_first_here && window.passed_on & bit == 0 }
    }

    /// The message is passed on.
    pub(in crate::routing::olsr) fn pass_on(&mut self, originator: Ipv4Addr, sequence: u16) {
        if let Some(window) = self.originators.get_mut(&originator) {
            window.passed_on |= 1_u64.checked_shl(window.last.wrapping_sub(sequence).into()).unwrap_or(0);
        }
    }

    /// Forgets originators that were silent.
    pub(in crate::routing::olsr) fn sweep(&mut self, now: Instant) {
        self.originators.retain(|_, window| window.until > now);
    }

    #[cfg(test)]
    pub(in crate::routing::olsr) fn len(&self) -> usize {
        self.originators.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FAR: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 9);

    const fn at(secs: u64) -> Instant {
        Instant::from_nanos(secs * 1_000_000_000)
    }

    fn standing(is_new: bool, may_pass: bool) -> Standing {
        Standing { is_new, may_pass }
    }

    #[test]
    fn a_message_is_processed_and_passed_on_once() {
        let mut duplicates = Duplicates::new(Duration::from_secs(30), 1);
        let mut come = |sequence, now| duplicates.handle_message(FAR, sequence, 0, at(now));
        assert_eq!(come(65535, 0), standing(true, true));
        assert_eq!(come(65535, 1), standing(false, false));
        assert_eq!(come(1, 1), standing(true, true), "ahead, and around the end");
        assert_eq!(come(0, 1), standing(true, true), "late");
        assert_eq!(come(65535, 2), standing(false, false));
        assert_eq!(come(60, 2), standing(true, true));
        assert_eq!([come(65535, 2), come(0, 2), come(1, 2), come(60, 2)], [standing(false, false); 4]);
        assert_eq!(come(61, 2), standing(true, true));
        assert_eq!(come(65535, 2), standing(false, false), "the last number that is kept");
        assert_eq!(come(30_000, 3), standing(true, true), "started anew");
        assert_eq!(come(30_000, 32), standing(false, false));
        assert_eq!(come(30_000, 33), standing(true, true), "forgotten");
    }

    #[test]
    fn each_interface_has_its_chance_until_the_message_is_passed_on() {
        let mut duplicates = Duplicates::new(Duration::from_secs(30), 2);
        assert_eq!(duplicates.handle_message(FAR, 7, 0, at(0)), standing(true, true));
        assert_eq!(duplicates.handle_message(FAR, 7, 0, at(0)), standing(false, false));
        assert_eq!(duplicates.handle_message(FAR, 7, 1, at(0)), standing(false, true));
        assert_eq!(duplicates.handle_message(FAR, 8, 0, at(0)), standing(true, true));
        duplicates.pass_on(FAR, 8);
        assert_eq!(duplicates.handle_message(FAR, 8, 1, at(0)), standing(false, false));
        assert_eq!(duplicates.handle_message(FAR, 7, 1, at(0)), standing(false, false));
    }

    #[test]
    fn the_number_of_originators_is_bounded() {
        let mut duplicates = Duplicates::new(Duration::from_secs(30), 1);
        for node in 0..20_000 {
            duplicates.handle_message(Ipv4Addr::from_bits(node), 1, 0, at(0));
        }
        assert_eq!(duplicates.len(), MAX_ORIGINATORS);
        assert_eq!(duplicates.handle_message(Ipv4Addr::from_bits(19_999), 1, 0, at(0)), standing(true, false));
        duplicates.sweep(at(30));
        assert_eq!(duplicates.len(), 0);
    }
}
