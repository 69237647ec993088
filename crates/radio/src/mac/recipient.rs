//! The recipient's side of block acknowledgment agreements (IEEE 802.11-2020, 10.25.6): which MPDUs it has, and the buffer that puts
//! them in order.
//!
//! An agreement is in force from the start, with its first MPDU numbered 0, or is opened and closed over the air. Without one MPDUs come
//! one at a time, and are in order with a window of one MPDU: what was repeated, or is too late, is found out in the same way. A
//! recipient keeps its scoreboard for good (full-state operation, 10.25.6.3).

use std::collections::VecDeque;

use hopcast_protocols::time::{Duration, Instant};

use super::edca::UserPriority;
use crate::aggregate::{BlockAck, MAX_WINDOW, Mpdu, MpduSet};
use crate::frame::StationId;

/// For so long an MPDU is held back for the sake of earlier ones: `HT_RX_REORDER_BUF_TIMEOUT` of Linux's mac80211.
const REORDER_TIMEOUT: Duration = Duration::from_millis(100);

/// The agreements of a station, by originator and user priority.
#[derive(Clone, Debug)]
pub(super) struct Recipients<P> {
    /// Sorted by key.
    agreements: Vec<((StationId, UserPriority), Recipient<P>)>,
}

impl<P> Default for Recipients<P> {
    fn default() -> Self {
        Self { agreements: Vec::new() }
    }
}

impl<P: Clone> Recipients<P> {
    /// What has come from an originator with a user priority; `new` is what there is at first.
    pub(super) fn of(
        &mut self,
        originator: StationId,
        priority: UserPriority,
        new: impl FnOnce() -> Recipient<P>,
    ) -> &mut Recipient<P> {
        let key = (originator, priority);
        let place = self.agreements.binary_search_by_key(&key, |&(key, _)| key).unwrap_or_else(|place| {
            self.agreements.insert(place, (key, new()));
            place
        });
        &mut self.agreements[place].1
    }

    /// Ends all agreements with an originator. Hands `release` what has waited for earlier ones.
    pub(super) fn close_all(&mut self, originator: StationId, mut release: impl FnMut(P)) {
        let of_originator = self.agreements.iter_mut().filter(|((from, _), _)| *from == originator);
        of_originator.for_each(|(_, recipient)| recipient.close(&mut release));
    }

    /// Packets that wait for earlier ones.
    pub(super) fn waiting(&self) -> impl Iterator<Item = &P> {
        self.agreements.iter().flat_map(|(_, recipient)| recipient.waiting())
    }

    /// When an MPDU has been held back for long enough.
    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        self.agreements.iter().filter_map(|(_, recipient)| recipient.poll_timeout()).min()
    }

    /// Hands `release` what has been held back for long enough, with its originator.
    pub(super) fn handle_timeout(&mut self, now: Instant, mut release: impl FnMut(P, StationId)) {
        for &mut ((originator, _), ref mut recipient) in &mut self.agreements {
            recipient.handle_timeout(now, |packet| release(packet, originator));
        }
    }
}

/// What a station has received under an agreement.
#[derive(Clone, Debug)]
pub(super) struct Recipient<P> {
    window: u32,
    /// MPDUs of the scoreboard; an originator has no more outstanding. Over the air those of the bitmap, which may be more than the
    /// window: an originator whose window is larger is told of no MPDU that never came.
    scored: u32,
    /// Whether an agreement is in force.
    is_open: bool,
    /// The window and the first MPDU of an agreement in force under which nothing has come.
    coming: Option<(u32, u32)>,
    /// WinStart_R, and the MPDUs from there on that have come.
    scored_from: u32,
    score: MpduSet,
    /// WinStart_B: the MPDU that is to be delivered next.
    next: u32,
    /// What has come from there on.
    held: VecDeque<Option<Held<P>>>,
    /// MPDUs before it that never came, the oldest first; only such as may still come.
    skipped: VecDeque<u32>,
}

/// What becomes of an MPDU that has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arrival {
    /// It is delivered, or waits for earlier ones.
    New,
    /// It had come before.
    Duplicate,
    /// The window has moved past it: it is acknowledged, but too late to be delivered (10.25.6.6.2).
    Late,
}

/// An MPDU that waits for earlier ones.
#[derive(Clone, Debug)]
struct Held<P> {
    packet: P,
    more: Box<[P]>,
    since: Instant,
}

impl<P: Clone> Recipient<P> {
    /// One with an agreement from the start.
    pub(super) fn new(window: u32) -> Self {
        Self { window, scored: window, is_open: true, ..Self::without_agreement() }
    }

    /// One without an agreement.
    pub(super) fn without_agreement() -> Self {
        Self {
            window: 1,
            scored: bitmap(1),
            is_open: false,
            coming: None,
            scored_from: 0,
            score: MpduSet::default(),
            next: 0,
            held: VecDeque::new(),
            skipped: VecDeque::new(),
        }
    }

    /// Whether an agreement is in force.
    pub(super) fn is_open(&self) -> bool {
        self.is_open
    }

    /// Buffer Size; 1 without an agreement.
    pub(super) fn window(&self) -> u32 {
        self.coming.map_or(self.window, |(window, _)| window)
    }

    /// An agreement comes into force, with this window and its first MPDU (Starting Sequence Number). It takes the place of the one
    /// before. What the originator has sent before that MPDU may still come.
    pub(super) fn open(&mut self, window: u32, start: u16, mut release: impl FnMut(P)) {
        self.close(&mut release);
        // The number nearest to the next one that is expected.
        let ahead = u32::from(start).wrapping_sub(self.next) & 0xfff;
        let start = if ahead < 0x800 { self.next.wrapping_add(ahead) } else { self.next };
        self.is_open = true;
        self.scored = self.scored.max(bitmap(window));
        if behind(self.next, start) {
            self.coming = Some((window, start));
        } else {
            self.window = window;
        }
    }

    /// The agreement ends, if there is one. Hands `release` what has waited for earlier ones.
    pub(super) fn close(&mut self, mut release: impl FnMut(P)) {
        self.move_to(self.next.wrapping_add(self.held.len() as u32), &mut release);
        (self.window, self.is_open, self.coming) = (1, false, None);
    }

    /// An MPDU has come without error. Hands `release` the packets that are in order now.
    pub(super) fn handle_mpdu(&mut self, mpdu: &Mpdu<P>, now: Instant, mut release: impl FnMut(P)) -> Arrival {
        self.reach(mpdu.sequence, &mut release);
        self.enter(mpdu.sequence);
        if behind(mpdu.sequence, self.next) {
            let Some(place) = self.skipped.iter().position(|&skipped| skipped == mpdu.sequence) else {
                return Arrival::Duplicate;
            };
            self.skipped.remove(place);
            return Arrival::Late;
        }
        if mpdu.sequence.wrapping_sub(self.next) >= self.window {
            self.move_to(mpdu.sequence.wrapping_sub(self.window - 1), &mut release);
        }
        let place = mpdu.sequence.wrapping_sub(self.next) as usize;
        if place == 0 && self.held.is_empty() {
            self.next = self.next.wrapping_add(1);
            mpdu.packets().cloned().for_each(release);
            return Arrival::New;
        }
        if self.held.len() <= place {
            self.held.resize_with(place + 1, || None);
        }
        if self.held[place].is_some() {
            return Arrival::Duplicate;
        }
        self.held[place] = Some(Held { packet: mpdu.packet.clone(), more: mpdu.more.clone(), since: now });
        self.release_in_order(&mut release);
        Arrival::New
    }

    /// Packets that wait for earlier ones.
    fn waiting(&self) -> impl Iterator<Item = &P> {
        self.held.iter().flatten().flat_map(|held| core::iter::once(&held.packet).chain(&held.more))
    }

    /// A request for a block acknowledgment: its sender has given up all MPDUs before `start` (10.25.6.6).
    pub(super) fn handle_request(&mut self, start: u32, mut release: impl FnMut(P)) {
        self.reach(start, &mut release);
        self.move_score_to(start);
        if behind(self.next, start) {
            self.move_to(start, &mut release);
            self.release_in_order(&mut release);
        }
    }

    /// What it acknowledges now.
    pub(super) fn block_ack(&self) -> BlockAck {
        BlockAck { start: self.scored_from, bitmap: self.score }
    }

    fn poll_timeout(&self) -> Option<Instant> {
        let oldest = self.held.iter().flatten().map(|held| held.since).min();
        oldest.map(|since| since + REORDER_TIMEOUT)
    }

    /// Skips what is missing before MPDUs that have been held back for long enough.
    fn handle_timeout(&mut self, now: Instant, mut release: impl FnMut(P)) {
        let is_due = |held: &Option<Held<P>>| held.as_ref().is_some_and(|held| held.since + REORDER_TIMEOUT <= now);
        while let Some(place) = self.held.iter().position(is_due) {
            self.move_to(self.next.wrapping_add(place as u32), &mut release);
            self.release_in_order(&mut release);
        }
    }

    /// A frame with several MPDUs has come, of which this is the first: the originator makes use of the agreement.
    pub(super) fn begin(&mut self, first: u32, mut release: impl FnMut(P)) {
        self.reach(first, &mut release);
        if let Some((window, _)) = self.coming.take() {
            self.window = window;
        }
    }

    /// The first MPDU under the agreement has come, or one behind it: what is missing before does not come any more.
    fn reach(&mut self, sequence: u32, release: &mut impl FnMut(P)) {
        let Some((window, start)) = self.coming.filter(|&(_, start)| !behind(sequence, start)) else { return };
        self.coming = None;
        self.window = window;
        self.move_score_to(start);
        self.move_to(start, release);
    }

    fn move_score_to(&mut self, start: u32) {
        if behind(self.scored_from, start) {
            self.score = self.score.advanced(start.wrapping_sub(self.scored_from));
            self.scored_from = start;
        }
    }

    /// Enters an MPDU into the scoreboard.
    fn enter(&mut self, sequence: u32) {
        if behind(sequence, self.scored_from) {
            return;
        }
        // What is before the scoreboard counts as received.
        let beyond = sequence.wrapping_sub(self.scored_from).saturating_sub(self.scored - 1);
        self.score = self.score.advanced(beyond);
        self.scored_from = self.scored_from.wrapping_add(beyond);
        self.score.insert(sequence.wrapping_sub(self.scored_from) as usize);
    }

    /// Moves the window on to `start`, and releases what falls off.
    fn move_to(&mut self, start: u32, release: &mut impl FnMut(P)) {
        let oldest = start.wrapping_sub(2 * self.scored);
        while self.skipped.front().is_some_and(|&skipped| behind(skipped, oldest)) {
            self.skipped.pop_front();
        }
        while behind(self.next, start) {
            match self.held.pop_front().flatten() {
                Some(held) => held.release(release),
                None if behind(self.next, oldest) => {}
                None => self.skipped.push_back(self.next),
            }
            self.next = self.next.wrapping_add(1);
        }
    }

    fn release_in_order(&mut self, release: &mut impl FnMut(P)) {
        while let Some(Some(_)) = self.held.front() {
            if let Some(Some(held)) = self.held.pop_front() {
                held.release(release);
            }
            self.next = self.next.wrapping_add(1);
        }
        while let Some(None) = self.held.back() {
            self.held.pop_back();
        }
    }
}

impl<P> Held<P> {
    fn release(self, release: &mut impl FnMut(P)) {
        release(self.packet);
        self.more.into_iter().for_each(release);
    }
}

/// Bits of a block acknowledgment for a window (9.3.1.8.2).
const fn bitmap(window: u32) -> u32 {
    if window <= 64 { 64 } else { MAX_WINDOW }
}

/// Whether an MPDU is numbered before another one.
fn behind(one: u32, other: u32) -> bool {
    (one.wrapping_sub(other) as i32) < 0
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn mpdu(sequence: u32) -> Mpdu<u32> {
        Mpdu { sequence, retry: false, octets: 100, packet: sequence, more: Box::default() }
    }

    fn at(millis: u64) -> Instant {
        Instant::START + Duration::from_millis(millis)
    }

    /// What is released as these MPDUs come.
    fn released(recipient: &mut Recipient<u32>, sequences: &[u32], now: Instant) -> Vec<u32> {
        let mut released = Vec::new();
        for &sequence in sequences {
            recipient.handle_mpdu(&mpdu(sequence), now, |packet| released.push(packet));
        }
        released
    }

    #[test]
    fn what_follows_a_lost_one_waits_for_it() {
        let mut recipient = Recipient::new(64);
        assert_eq!(released(&mut recipient, &[0, 2, 3], at(0)), [0]);
        let ack = recipient.block_ack();
        assert_eq!([0, 1, 2, 3, 4].map(|n| ack.has(n)), [true, false, true, true, false]);
        assert_eq!(released(&mut recipient, &[1], at(1)), [1, 2, 3]);
        assert_eq!(recipient.poll_timeout(), None);
    }

    #[test]
    fn what_comes_after_the_window_has_moved_is_late() {
        let mut recipient = Recipient::new(4);
        assert_eq!(released(&mut recipient, &[0, 2, 6], at(0)), [0, 2]);
        let arrival = |recipient: &mut Recipient<u32>, sequence| recipient.handle_mpdu(&mpdu(sequence), at(1), |_| {});
        assert_eq!([1, 1, 0, 2, 3].map(|n| arrival(&mut recipient, n)), {
            use Arrival::{Duplicate, Late, New};
            [Late, Duplicate, Duplicate, Duplicate, New]
        });
    }

    #[test]
    fn a_repetition_is_delivered_once() {
        let mut recipient = Recipient::new(64);
        assert_eq!(released(&mut recipient, &[0, 0, 2, 2, 1, 1, 0], at(0)), [0, 1, 2]);
    }

    /// 10.25.6.6: an MPDU beyond the window moves it, and what falls off is delivered, gaps and all.
    #[test]
    fn an_mpdu_beyond_the_window_moves_it() {
        let mut recipient = Recipient::new(4);
        assert_eq!(released(&mut recipient, &[1, 3], at(0)), []);
        assert_eq!(released(&mut recipient, &[6], at(0)), [1, 3]);
        assert_eq!(released(&mut recipient, &[4, 5], at(0)), [4, 5, 6]);
        assert_eq!(recipient.block_ack().start, 3);
    }

    #[test]
    fn a_request_releases_what_waits_for_what_was_given_up() {
        let mut recipient = Recipient::new(64);
        assert_eq!(released(&mut recipient, &[1, 2, 5], at(0)), []);
        let mut released = Vec::new();
        recipient.handle_request(3, |packet| released.push(packet));
        assert_eq!(released, [1, 2]);
        recipient.handle_request(2, |packet| released.push(packet));
        recipient.handle_request(5, |packet| released.push(packet));
        assert_eq!(released, [1, 2, 5]);
        assert_eq!(recipient.block_ack().start, 5);
    }

    #[test]
    fn nothing_waits_for_more_than_the_timeout() {
        let mut recipient = Recipient::new(64);
        assert_eq!(released(&mut recipient, &[1], at(0)), []);
        assert_eq!(released(&mut recipient, &[3], at(30)), []);
        assert_eq!(recipient.poll_timeout(), Some(at(100)));
        let mut released = Vec::new();
        recipient.handle_timeout(at(100), |packet| released.push(packet));
        assert_eq!((released, recipient.poll_timeout()), (vec![1], Some(at(130))));
    }

    proptest! {
        /// However MPDUs come: in order, each once, and all those that are acknowledged within the window are there.
        #[test]
        fn nothing_is_delivered_twice_or_out_of_order(
            steps in prop::collection::vec((0_u32..300, 0_u64..200, 0_u8..8), 0..400), window in 1_u32..=256,
        ) {
            let mut recipient = Recipient::new(window);
            let mut delivered = Vec::new();
            let (mut now, mut base) = (at(0), 0);
            for (sequence, wait, kind) in steps {
                now += Duration::from_millis(wait) / 10;
                recipient.handle_timeout(now, |packet| delivered.push(packet));
                if kind == 0 {
                    base += sequence / 4;
                    recipient.handle_request(base, |packet| delivered.push(packet));
                } else {
                    recipient.handle_mpdu(&mpdu(base + sequence), now, |packet| delivered.push(packet));
                    prop_assert!(recipient.block_ack().has(base + sequence));
                }
                prop_assert!(recipient.held.len() <= window as usize);
            }
            prop_assert!(delivered.is_sorted_by(|a, b| a < b), "{:?}", delivered);
        }
    }
}
