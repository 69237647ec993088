//! Carries a clip from the device that has it to a display, packet by packet over a reserved path.
//!
//! The display says what has come, and up to where its buffer has room; the sender sends in order up to there, no faster than its pace,
//! and repeats what a feedback shows as lost. So a stream takes its rate in the mean, and catches up at the pace. On a path that
//! carries less than that, feedbacks clock the sender: no more is on its way than twice what the last ones brought.
//!
//! A display that adapts the rate asks for one segment after the other ([`super::adaptation`]): its feedbacks also tell the last one that it has chosen.

use core::ops::Range;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use hopcast_wire::cloud::{MEDIA_HEADER_LEN, Segment};

use super::adaptation::{Adapted, Adapter};
use super::variable_rate::Index;
use crate::application::{Player, PlayerConfig, PlayerReport};
use crate::round_trip::RoundTrip;
use crate::time::{Duration, Instant};

/// Bytes of media in a packet: seven packets of an MPEG transport stream.
pub const PACKET: u32 = 7 * 188;
/// Bytes of an IP packet with media: with the headers of IPv4, UDP, and the message.
pub const IP_PACKET: u32 = 20 + 8 + MEDIA_HEADER_LEN as u32 + PACKET;
/// Bytes of an IP packet for each byte of media in it.
pub const EXPANSION: f64 = IP_PACKET as f64 / PACKET as f64;
/// Time between two feedbacks.
pub const FEEDBACK_INTERVAL: Duration = Duration::from_millis(100);
/// Packets after the first missing one that may be on their way.
const WINDOW: u32 = 1_024;
/// Packets on their way that a sender may always have.
const LEAST_ON_THE_WAY: u32 = 8;
/// Time after which a packet is repeated that did not come before one that was sent later: what a path may change in their order.
const REORDERING: Duration = Duration::from_millis(200);
/// Least and most time after which a packet is repeated of which nothing is known.
const TIMEOUT: (Duration, Duration) = (Duration::from_millis(500), Duration::from_secs(4));

/// The packets of a clip, or of one segment of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Number of the first one.
    pub first: u32,
    /// Media before it.
    pub start: Duration,
    /// Number after that of the last one.
    pub packets: u32,
    /// Media in each; in the last one perhaps less. At a rate that varies: how fast they may follow each other, as media.
    pub time: Duration,
    /// Where the media end in the clip.
    pub length: Duration,
    /// Which media each packet has, if the rate varies.
    pub index: Option<Arc<Index>>,
}

impl Layout {
    /// A clip of `rate` b/s that lasts `length`.
    pub fn new(rate: u32, length: Duration) -> Self {
        let time = packet_time(rate);
        let packets = length.as_nanos().div_ceil(time.as_nanos().max(1)).min(u64::from(u32::MAX));
        Self { first: 0, start: Duration::ZERO, packets: packets as u32, time, length, index: None }
    }

    /// A clip whose rate varies. Its sender keeps the rate that it reserves.
    pub fn variable(index: Arc<Index>) -> Self {
        let packets = index.octets().div_ceil(PACKET.into()).min(u64::from(u32::MAX)) as u32;
        let (time, length) = (packet_time(index.reserved()), index.length());
        Self { first: 0, start: Duration::ZERO, packets, time, length, index: Some(index) }
    }

    /// A segment.
    fn of(segment: &Segment) -> Self {
        let alone = Self::new(segment.rate, Duration::from_millis(segment.length.into()));
        let start = Duration::from_millis(segment.start.into());
        let packets = segment.first.saturating_add(alone.packets);
        Self { first: segment.first, start, packets, length: start + alone.length, ..alone }
    }

    /// Media before packet `number`.
    fn position(&self, number: u32) -> Duration {
        if number >= self.packets {
            return self.length;
        }
        match &self.index {
            Some(index) => index.position(u64::from(number) * u64::from(PACKET)),
            None => self.start + self.time * u64::from(number.saturating_sub(self.first)),
        }
    }

    /// Packets that begin before `position`, and all before the first one.
    fn packets_before(&self, position: Duration) -> u32 {
        if let Some(index) = &self.index {
            return index.octets_before(position).div_ceil(PACKET.into()).min(u64::from(self.packets)) as u32;
        }
        let before = position.saturating_sub(self.start).as_nanos().div_ceil(self.time.as_nanos().max(1));
        (u64::from(self.first) + before).min(u64::from(self.packets)) as u32
    }
}

/// A packet on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Transmission {
    at: Instant,
    is_repetition: bool,
}

/// How long nothing may be known of a packet before it is repeated: RFC 6298, with the time until a feedback tells of a packet as its round trip.
#[derive(Clone, Copy, Debug, Default)]
struct Timeout {
    round_trip: RoundTrip,
    /// Timeouts since a packet came.
    in_vain: u32,
}

impl Timeout {
    /// Doubles twice at most (section 5.5 has no such limit): the display's buffer does not wait.
    fn get(&self) -> Duration {
        let (least, most) = TIMEOUT;
        let estimated = self.round_trip.timeout(Duration::ZERO).unwrap_or(least);
        (estimated.max(least) * (1 << self.in_vain.min(2))).min(most)
    }
}

/// The end that has the clip.
#[derive(Clone, Debug)]
pub struct Sender {
    layout: Layout,
    pace: f64,
    interval: Duration,
    /// All before it have come.
    base: u32,
    /// The last transmission of each packet from `base` on; `None`: it has come.
    sent: VecDeque<Option<Transmission>>,
    /// The last transmission of all packets that have come.
    latest: Instant,
    timeout: Timeout,
    lost: BTreeSet<u32>,
    limit: u32,
    /// Packets of which nothing is known.
    on_the_way: u32,
    /// Most of them that may be.
    window: u32,
    /// Packets that the feedback before the last one brought.
    brought: u32,
    free_at: Instant,
    /// By how much a departure may be late without delaying those after it.
    slack: Duration,
    /// Since when there is something to send.
    ready: Instant,
    /// Media that the display's buffer holds.
    buffer: Duration,
    /// What the display had shown at an instant, as far as its feedbacks tell.
    shown: (Duration, Instant),
    /// Packets sent again.
    pub repeated: u64,
}

impl Sender {
    /// Sends nothing before the first feedback, and then up to `pace` times the rate of the clip. The display buffers `prefetch`.
    pub fn new(layout: Layout, pace: f64, prefetch: Duration, now: Instant) -> Self {
        Self {
            interval: paced(layout.time, pace),
            layout,
            pace,
            base: 0,
            sent: VecDeque::new(),
            latest: now,
            timeout: Timeout::default(),
            lost: BTreeSet::new(),
            limit: 0,
            on_the_way: 0,
            window: LEAST_ON_THE_WAY,
            brought: 0,
            free_at: now,
            slack: Duration::ZERO,
            ready: now,
            buffer: room(prefetch),
            shown: (Duration::ZERO, now),
            repeated: 0,
        }
    }

    /// The same with a pace that makes up for departures that are up to `slack` late, as on a host that wakes up late.
    #[must_use]
    pub fn with_slack(self, slack: Duration) -> Self {
        Self { slack, ..self }
    }

    /// The display has all packets before `next` and those of `came` (a bit each, from `next` on), and wants those before `limit`.
    pub fn handle_feedback(&mut self, next: u32, limit: u32, came: &[u8], now: Instant) {
        let next = next.min(self.layout.packets);
        if next < self.base {
            return;
        }
        let had_nothing = !self.may_send();
        // One that takes over from another sender begins where the display is.
        let passed = (next - self.base).min(self.sent.len() as u32);
        let mut brought: Vec<Transmission> = self.sent.drain(..passed as usize).flatten().collect();
        self.base = next;
        self.lost = self.lost.split_off(&next);
        self.limit = limit.min(self.layout.packets);
        let has_come = |place: usize| came.get(place / 8).is_some_and(|bits| bits << (place % 8) & 0x80 != 0);
        for (place, sent) in self.sent.iter_mut().enumerate().filter(|&(place, _)| has_come(place)) {
            self.lost.remove(&(next + place as u32));
            brought.extend(sent.take());
        }
        self.handle_brought(&brought, now);
        let patience = self.timeout.get();
        let mut has_given_up = false;
        for (place, sent) in self.sent.iter().enumerate() {
            let Some(Transmission { at, .. }) = *sent else { continue };
            let is_overtaken = at < self.latest && at + REORDERING <= now;
            let is_late = at + patience <= now;
            if is_overtaken || is_late {
                has_given_up |= self.lost.insert(next + place as u32) && !is_overtaken;
            }
        }
        self.timeout.in_vain += u32::from(has_given_up);
        let brought = brought.len() as u32;
        let last_two = brought.max(core::mem::replace(&mut self.brought, brought));
        self.window = 2 * last_two + LEAST_ON_THE_WAY;
        self.on_the_way = self.sent.iter().flatten().count() as u32 - self.lost.len() as u32;
        if had_nothing {
            self.ready = now;
        }
        // At the end of a clip the buffer has more room than there are media.
        if limit < self.layout.packets {
            self.shown = (self.layout.position(limit).saturating_sub(self.buffer), now);
        }
    }

    /// Learns from the packets that have come since the last feedback.
    fn handle_brought(&mut self, brought: &[Transmission], now: Instant) {
        if !brought.is_empty() {
            self.timeout.in_vain = 0;
        }
        // Of a packet that was repeated it is not known which transmission came (Karn).
        if let Some(sent) = brought.iter().filter(|sent| !sent.is_repetition).map(|sent| sent.at).max() {
            self.latest = self.latest.max(sent);
            self.timeout.round_trip.on_sample(now.saturating_since(sent), 1);
        }
    }

    /// The display has chosen this segment, and has all before it.
    pub fn handle_segment(&mut self, segment: &Segment) {
        // An older feedback may come late.
        if segment.first >= self.layout.first {
            self.layout = Layout::of(segment);
            self.interval = paced(packet_time(segment.highest), self.pace);
        }
    }

    /// The packet that would be sent now.
    pub fn head(&self, now: Instant) -> Option<Head> {
        if now < self.free_at || !self.may_send() {
            return None;
        }
        let number = self.next();
        let (shown, at) = self.shown;
        let due = |number: u32| {
            let position = i128::from(self.layout.position(number).as_nanos());
            i128::from(at.as_nanos()) + position - i128::from(shown.as_nanos())
        };
        Some(Head { ready: self.ready.max(self.free_at), deadline: due(number), hiccup: due(self.base) })
    }

    /// The packet to be sent now: each answer is another packet.
    pub fn poll_send(&mut self, now: Instant) -> Option<u32> {
        self.poll_batch(1, now).map(|batch| batch.start)
    }

    /// The packets to be sent now: at most this number of consecutive ones, of which all but the first come earlier than their pace asks for.
    /// Each answer has others.
    pub fn poll_batch(&mut self, most: u32, now: Instant) -> Option<Range<u32>> {
        if now < self.free_at || !self.may_send() {
            return None;
        }
        let first = self.next();
        let mut end = first;
        while end - first < most && self.may_send() && self.next() == end {
            self.send(end, now);
            end += 1;
        }
        let missed = now.saturating_since(self.free_at.max(self.ready)).min(self.slack);
        self.free_at = now + self.interval * u64::from(end - first) - missed;
        Some(first..end)
    }

    fn send(&mut self, number: u32, now: Instant) {
        let is_repetition = self.lost.remove(&number);
        if !is_repetition {
            self.sent.push_back(None);
        }
        self.repeated += u64::from(is_repetition);
        self.sent[(number - self.base) as usize] = Some(Transmission { at: now, is_repetition });
        self.on_the_way += 1;
    }

    /// The packet after those that were sent, or the first one that was lost.
    fn next(&self) -> u32 {
        self.lost.first().copied().unwrap_or(self.base + self.sent.len() as u32)
    }

    /// When the next packet is to be sent; `None`: not before a feedback.
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.may_send().then_some(self.free_at)
    }

    fn may_send(&self) -> bool {
        self.on_the_way < self.window && (!self.lost.is_empty() || self.has_new())
    }

    fn has_new(&self) -> bool {
        let sent = self.sent.len() as u32;
        sent < WINDOW && self.base + sent < self.limit
    }
}

/// Packets of media in a datagram of `length` bytes; the last one of a file may be shorter.
pub fn packets_in(length: u32) -> u32 {
    (length.saturating_sub(MEDIA_HEADER_LEN as u32) / PACKET).max(1)
}

/// Media of `rate` b/s in a packet.
fn packet_time(rate: u32) -> Duration {
    Duration::from_nanos(u64::from(PACKET) * 8 * 1_000_000_000 / u64::from(rate.max(1)))
}

/// Time from one packet to the next, with so much media in each.
fn paced(time: Duration, pace: f64) -> Duration {
    Duration::from_secs_f64(time.as_secs_f64() / pace)
}

/// The packet that a sender would send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// Since when it may be sent.
    pub ready: Instant,
    /// When it is shown, in nanoseconds since the start, if the display has not stopped since its last feedback.
    pub deadline: i128,
    /// When the display has shown all that came before the first missing packet, likewise.
    pub hiccup: i128,
}

/// What a buffer has room for: also what is on its way while a feedback is.
fn room(prefetch: Duration) -> Duration {
    prefetch + FEEDBACK_INTERVAL * 2
}

/// What the display says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Feedback {
    /// All packets before it have come.
    pub next: u32,
    /// Those before it may be sent.
    pub limit: u32,
    /// A bit for each packet from `next` on.
    pub came: Vec<u8>,
    /// The segment that was chosen last, if the display adapts the rate.
    pub segment: Option<Segment>,
}

/// The display.
#[derive(Clone, Debug)]
pub struct Receiver {
    /// Of the clip, or of the segment that was chosen last.
    layout: Layout,
    /// Length of the clip.
    length: Duration,
    /// Chooses segments, if the display adapts the rate.
    adapter: Option<Adapter>,
    player: Player,
    /// Media that the buffer holds.
    buffer: Duration,
    next: u32,
    /// Those beyond `next`.
    early: BTreeMap<u32, ()>,
    feedback_at: Instant,
    /// Packets that came again.
    pub duplicates: u64,
}

impl Receiver {
    /// A display that was asked at `asked` and buffers `prefetch` before it begins.
    pub fn new(layout: Layout, prefetch: Duration, asked: Instant, now: Instant) -> Self {
        let config = PlayerConfig { start_up: prefetch.min(layout.length), resume: prefetch.min(layout.length) };
        let player = Player::new(config, asked);
        let buffer = room(prefetch);
        let (length, adapter) = (layout.length, None);
        Self {
            layout,
            length,
            adapter,
            player,
            buffer,
            next: 0,
            early: BTreeMap::new(),
            feedback_at: now,
            duplicates: 0,
        }
    }

    /// The same of a clip that lasts `length`, and whose rate the display adapts. It begins with `prefetch`, or with what the adapter's buffer holds.
    pub fn adaptive(adapter: Adapter, length: Duration, prefetch: Duration, asked: Instant, now: Instant) -> Self {
        let start_up = prefetch.min(adapter.filled()).min(length);
        let player = Player::new(PlayerConfig { start_up, resume: start_up }, asked);
        let nothing = Layout::new(0, Duration::ZERO);
        let mut receiver =
            Self { length, buffer: adapter.buffer(), player, ..Self::new(nothing, prefetch, asked, now) };
        receiver.adapter = Some(adapter);
        receiver.choose(now);
        receiver
    }

    /// The buffer has room for `prefetch` from now on, if it had less. The display goes on after a hiccup as before: with what it began with. A
    /// display that adapts keeps its adapter's buffer.
    pub fn widen(&mut self, prefetch: Duration) {
        if self.adapter.is_none() {
            self.buffer = self.buffer.max(room(prefetch));
        }
    }

    /// Chooses the next segment if the last one has come and there is room.
    fn choose(&mut self, now: Instant) {
        if self.is_waiting() {
            return;
        }
        let Some(adapter) = &mut self.adapter else { return };
        if let Some(segment) = adapter.poll_segment(self.next, self.player.buffered(now), now) {
            self.layout = Layout::of(&segment);
        }
    }

    /// Packet `number` has come.
    pub fn handle_packet(&mut self, number: u32, now: Instant) {
        if number >= self.layout.packets || number >= self.next.saturating_add(WINDOW) {
            return;
        }
        if number < self.next || self.early.insert(number, ()).is_some() {
            self.duplicates += 1;
            return;
        }
        if number != self.next {
            return;
        }
        while self.early.remove(&self.next).is_some() {
            self.next += 1;
        }
        self.player.handle_media(self.layout.position(self.next), now);
        if !self.is_waiting()
            && let Some(adapter) = &mut self.adapter
        {
            adapter.handle_segment(u64::from(self.layout.packets - self.layout.first) * u64::from(PACKET), now);
            self.choose(now);
            self.feedback_at = now;
        }
        if self.is_complete() {
            self.player.handle_end(now);
        }
    }

    /// The feedback that is due.
    pub fn poll_feedback(&mut self, now: Instant) -> Option<Feedback> {
        if self.is_complete() || now < self.feedback_at {
            return None;
        }
        self.feedback_at = now + FEEDBACK_INTERVAL;
        self.choose(now);
        let limit = self.layout.packets_before(self.player.report(now).played + self.buffer);
        let mut came = Vec::new();
        for &number in self.early.keys() {
            let place = (number - self.next) as usize;
            came.resize(came.len().max(place / 8 + 1), 0);
            came[place / 8] |= 0x80 >> (place % 8);
        }
        let segment = self.adapter.as_ref().and_then(Adapter::segment);
        Some(Feedback { next: self.next, limit, came, segment })
    }

    /// Media in the buffer.
    pub fn buffered(&self, now: Instant) -> Duration {
        self.player.buffered(now)
    }

    /// The next feedback is due now: another sender waits for it.
    pub fn hurry(&mut self, now: Instant) {
        self.feedback_at = now;
    }

    /// Tells a sender to send nothing more: another one takes over.
    pub fn stop(&self) -> Feedback {
        Feedback { next: self.next, limit: self.next, came: Vec::new(), segment: None }
    }

    /// The packets before this number are those that half of the buffer has room for.
    pub fn limit_at_half(&self, now: Instant) -> u32 {
        self.layout.packets_before(self.player.report(now).played + self.buffer / 2)
    }

    /// The buffer may have run empty.
    pub fn handle_timeout(&mut self, now: Instant) {
        if self.player.poll_timeout().is_some_and(|due| due <= now) {
            self.player.handle_timeout(now);
        }
    }

    /// The time of the next feedback, or of an empty buffer.
    pub fn poll_timeout(&self) -> Option<Instant> {
        let feedback = (!self.is_complete()).then_some(self.feedback_at);
        feedback.into_iter().chain(self.player.poll_timeout()).min()
    }

    /// Whether all of the clip has come.
    pub fn is_complete(&self) -> bool {
        self.next >= self.layout.packets && self.layout.length >= self.length
    }

    /// Whether media were asked for that have not come.
    pub fn is_waiting(&self) -> bool {
        self.next < self.layout.packets
    }

    /// What was chosen, if the display adapts the rate.
    pub fn adapted(&self) -> Option<Adapted> {
        self.adapter.as_ref().map(Adapter::adapted)
    }

    /// Whether all of it has been shown.
    pub fn is_finished(&self) -> bool {
        self.player.is_finished()
    }

    /// What the viewer has seen up to `now`.
    pub fn report(&self, now: Instant) -> PlayerReport {
        self.player.report(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::streaming::adaptation;
    use proptest::prelude::*;

    fn millis(ms: u64) -> Instant {
        Instant::START + Duration::from_millis(ms)
    }

    const BUFFER: Duration = Duration::from_millis(300);

    /// Packets of 10 ms, 100 of them: a clip of 1.0528 Mb/s that lasts a second.
    fn layout() -> Layout {
        Layout {
            first: 0,
            start: Duration::ZERO,
            packets: 100,
            time: Duration::from_millis(10),
            length: Duration::from_secs(1),
            index: None,
        }
    }

    #[test]
    fn the_layout_of_a_clip() {
        // 4 Mb/s: 1316 bytes each 2.632 ms; ten seconds are 3799.4 packets.
        let layout = Layout::new(4_000_000, Duration::from_secs(10));
        assert_eq!((layout.packets, layout.time), (3_800, Duration::from_micros(2_632)));
        assert_eq!(layout.position(3_800), Duration::from_secs(10));
        assert_eq!(layout.packets_before(Duration::from_micros(2_633)), 2);
    }

    /// A second with ten packets and one with thirty, which is the rate that a buffer of a tenth of a second asks for: 30 in 1.1 s.
    #[test]
    fn the_layout_of_a_clip_whose_rate_varies() {
        let index = Index::new([105_280, 315_840].into(), 2_000, Duration::from_millis(100));
        let layout = Layout::variable(Arc::new(index));
        assert_eq!((layout.packets, layout.length), (40, Duration::from_secs(2)));
        assert!(layout.time.as_nanos().abs_diff(1_100_000_000 / 30) < 100, "{:?}", layout.time);
        for (number, ms) in [(0, 0), (5, 500), (10, 1_000), (25, 1_500), (40, 2_000), (41, 2_000)] {
            assert_eq!(layout.position(number), Duration::from_millis(ms));
            assert_eq!(layout.packets_before(Duration::from_millis(ms)), number.min(40));
        }
        assert_eq!(layout.packets_before(Duration::from_millis(501)), 6);
    }

    #[test]
    fn a_sender_waits_for_feedback_and_keeps_its_pace() {
        let mut sender = Sender::new(layout(), 2.0, BUFFER, millis(0));
        assert_eq!((sender.poll_send(millis(0)), sender.poll_timeout()), (None, None));
        sender.handle_feedback(0, 3, &[], millis(20));
        assert_eq!(sender.poll_send(millis(20)), Some(0));
        assert_eq!((sender.poll_send(millis(24)), sender.poll_timeout()), (None, Some(millis(25))));
        assert_eq!(sender.poll_send(millis(25)), Some(1));
        assert_eq!(sender.poll_send(millis(30)), Some(2));
        assert_eq!(sender.poll_timeout(), None, "the buffer has room for three");
    }

    /// The pace is 5 ms for each packet, and timers may be 20 ms late. What a feedback did not ask for in time is not missed.
    #[test]
    fn a_sender_whose_timers_are_late_keeps_its_pace_in_the_mean() {
        let mut sender = Sender::new(layout(), 2.0, BUFFER, millis(0)).with_slack(Duration::from_millis(20));
        let burst = |sender: &mut Sender, ms: u64| core::iter::from_fn(|| sender.poll_send(millis(ms))).count();
        sender.handle_feedback(0, 60, &[], millis(50));
        assert_eq!((burst(&mut sender, 50), sender.poll_timeout()), (1, Some(millis(55))));
        assert_eq!((burst(&mut sender, 67), sender.poll_timeout()), (3, Some(millis(70))));
        sender.handle_feedback(4, 60, &[], millis(69));
        assert_eq!(burst(&mut sender, 69), 0);
        // 100 ms late: five packets at once, no more.
        assert_eq!((burst(&mut sender, 170), sender.poll_timeout()), (5, Some(millis(175))));
        sender.handle_feedback(9, 9, &[], millis(171));
        assert_eq!(burst(&mut sender, 250), 0, "the buffer has no room");
        sender.handle_feedback(9, 60, &[], millis(300));
        assert_eq!((burst(&mut sender, 300), sender.poll_timeout()), (1, Some(millis(305))));
    }

    /// Eight at first; then twice what a feedback has brought and eight more; a slow path holds the sender back.
    #[test]
    fn feedbacks_clock_a_sender() {
        let mut sender = Sender::new(layout(), 100.0, BUFFER, millis(0));
        let burst = |sender: &mut Sender, ms: u64| {
            (0_u64..90)
                .filter(|step| sender.poll_send(millis(ms) + Duration::from_micros(100) * *step).is_some())
                .count()
        };
        sender.handle_feedback(0, 100, &[], millis(0));
        assert_eq!((burst(&mut sender, 0), sender.poll_timeout()), (8, None));
        sender.handle_feedback(8, 100, &[], millis(100));
        assert_eq!(burst(&mut sender, 100), 24);
        // Four of them in 100 ms, and again: sixteen may be on their way, and are.
        sender.handle_feedback(12, 100, &[], millis(200));
        sender.handle_feedback(16, 100, &[], millis(300));
        assert_eq!(burst(&mut sender, 300), 0);
        // All of them.
        sender.handle_feedback(32, 100, &[], millis(400));
        assert_eq!(burst(&mut sender, 400), 40);
    }

    /// The pace is 5 ms for each packet. Eight may be on their way at first; later the buffer's room, or a gap in what was lost, ends a batch.
    #[test]
    fn batches_have_consecutive_packets_and_keep_the_pace() {
        let mut sender = Sender::new(layout(), 2.0, BUFFER, millis(0));
        sender.handle_feedback(0, 60, &[], millis(0));
        assert_eq!(sender.poll_batch(5, millis(0)), Some(0..5));
        assert_eq!((sender.poll_batch(5, millis(24)), sender.poll_timeout()), (None, Some(millis(25))));
        assert_eq!(sender.poll_batch(5, millis(25)), Some(5..8));
        assert_eq!((sender.poll_batch(5, millis(40)), sender.poll_timeout()), (None, None));
        sender.handle_feedback(8, 11, &[], millis(100));
        assert_eq!((sender.poll_batch(5, millis(100)), sender.poll_timeout()), (Some(8..11), None));
        // Numbers 9 and 10 have not come, nor do 11 and 12.
        sender.handle_feedback(9, 13, &[], millis(200));
        assert_eq!(sender.poll_batch(5, millis(200)), Some(11..13));
        sender.handle_feedback(9, 14, &[0x20], millis(400));
        assert_eq!(sender.poll_batch(5, millis(400)), Some(9..11));
        assert_eq!((sender.poll_batch(5, millis(410)), sender.repeated), (Some(13..14), 2));
    }

    /// The display has shown 100 ms at 150 ms, and holds 300 ms and two feedbacks: it wants the packets before number 60. It has 25.
    #[test]
    fn a_sender_knows_when_its_packets_are_shown() {
        let mut sender = Sender::new(layout(), 2.0, BUFFER, millis(0));
        assert_eq!(sender.head(millis(0)), None);
        sender.handle_feedback(25, 60, &[], millis(150));
        let nanos = |ms: i128| ms * 1_000_000;
        let head = Head { ready: millis(150), deadline: nanos(300), hiccup: nanos(300) };
        assert_eq!(sender.head(millis(150)), Some(head));
        assert_eq!(sender.poll_send(millis(150)), Some(25));
        assert_eq!(sender.head(millis(154)), None);
        assert_eq!(
            sender.head(millis(155)),
            Some(Head { ready: millis(155), deadline: nanos(310), hiccup: nanos(300) })
        );
        // Near the end the limit is that of the clip, and the display is where it was.
        sender.handle_feedback(26, 200, &[], millis(250));
        assert_eq!(sender.head(millis(250)).map(|head| head.hiccup), Some(nanos(310)));
    }

    /// The first feedback that tells of a packet comes 198 ms after it: the timeout is 198 + 4 · 99 = 594 ms (RFC 6298, section 2.2), and twice that for
    /// what was sent again.
    #[test]
    fn a_gap_is_repeated_after_200_ms_and_silence_after_the_timeout() {
        let mut sender = Sender::new(layout(), 10.0, BUFFER, millis(0));
        sender.handle_feedback(0, 3, &[], millis(0));
        for ms in 0..3 {
            assert_eq!(sender.poll_send(millis(ms)), Some(ms as u32));
        }
        // The second has come.
        sender.handle_feedback(0, 3, &[0x40], millis(199));
        assert_eq!(sender.poll_timeout(), None);
        sender.handle_feedback(0, 3, &[0x40], millis(200));
        assert_eq!(sender.poll_send(millis(200)), Some(0));
        for (ms, expected) in [(595, None), (596, Some(2)), (1_783, None), (1_784, Some(2))] {
            sender.handle_feedback(2, 3, &[], millis(ms));
            assert_eq!(sender.poll_send(millis(ms)), expected, "{ms}");
        }
        assert_eq!(sender.repeated, 3);
    }

    /// On a slow path a packet that was sent again is not sent a third time before it can have come.
    #[test]
    fn what_was_repeated_has_as_much_time_as_the_path_takes() {
        let mut sender = Sender::new(layout(), 10.0, BUFFER, millis(0));
        sender.handle_feedback(0, 8, &[], millis(0));
        for ms in 0..8 {
            assert_eq!(sender.poll_send(millis(ms)), Some(ms as u32));
        }
        // All but the first have come after 900 ms.
        sender.handle_feedback(0, 8, &[0x7f], millis(900));
        assert_eq!(sender.poll_send(millis(900)), Some(0));
        for ms in (1_000..=1_700).step_by(100) {
            sender.handle_feedback(0, 8, &[0x7f], millis(ms));
            assert_eq!(sender.poll_send(millis(ms)), None, "{ms}");
        }
        sender.handle_feedback(8, 16, &[], millis(1_800));
        assert_eq!((sender.poll_send(millis(1_800)), sender.repeated), (Some(8), 1));
    }

    #[test]
    fn a_display_begins_with_a_full_buffer_and_wants_no_more_than_that() {
        let mut receiver = Receiver::new(layout(), Duration::from_millis(300), millis(0), millis(5));
        let first = receiver.poll_feedback(millis(5)).expect("at once");
        assert_eq!(first, Feedback { next: 0, limit: 50, came: vec![], segment: None });
        assert_eq!(receiver.poll_feedback(millis(50)), None);
        (0..30).for_each(|number| receiver.handle_packet(number, millis(60)));
        assert_eq!(receiver.report(millis(60)).start_up_delay, Some(Duration::from_millis(60)));
        receiver.handle_packet(32, millis(70));
        let feedback = receiver.poll_feedback(millis(160)).expect("after 100 ms");
        // 100 ms shown, 300 ms of buffer, and two feedbacks.
        assert_eq!(feedback, Feedback { next: 30, limit: 60, came: vec![0x20], segment: None });
        // It stops when what came is shown.
        assert_eq!(receiver.poll_timeout(), Some(millis(260)));
        receiver.poll_feedback(millis(260));
        receiver.handle_timeout(millis(360));
        assert_eq!(receiver.report(millis(360)).hiccups, 1);
    }

    /// Segments of a second at 526.4 kb/s, packets of 20 ms, or twice that: 50 or 100 packets.
    fn adaptive(seconds: u32) -> Receiver {
        let config = adaptation::Config {
            rule: adaptation::Rule::Bba,
            segment: Duration::from_secs(1),
            buffer: Duration::from_secs(6),
            reserve: adaptation::Reserve::Highest,
        };
        let adapter = Adapter::new(config, [526_400, 1_052_800].into(), seconds * 1_000);
        Receiver::adaptive(adapter, Duration::from_secs(seconds.into()), Duration::from_secs(1), millis(0), millis(0))
    }

    /// The reservoir is a second, and the cushion two: with three seconds in the buffer comes the higher rate.
    #[test]
    fn an_adaptive_display_asks_for_one_segment_after_the_other() {
        let mut receiver = adaptive(10);
        let segment = |first, start, rate| Some(Segment { first, start, rate, length: 1_000, highest: 1_052_800 });
        let first = receiver.poll_feedback(millis(0)).expect("at once");
        assert_eq!((first.next, first.limit, first.segment), (0, 50, segment(0, 0, 526_400)));
        (0..50).for_each(|number| receiver.handle_packet(number, millis(200)));
        let report = receiver.report(millis(200));
        assert_eq!(
            (report.start_up_delay, receiver.poll_timeout()),
            (Some(Duration::from_millis(200)), Some(millis(200)))
        );
        let second = receiver.poll_feedback(millis(200)).expect("a segment has come");
        assert_eq!((second.next, second.limit, second.segment), (50, 100, segment(50, 1_000, 526_400)));
        receiver.handle_packet(100, millis(250));
        assert!(receiver.early.is_empty(), "it was not asked for");
        let mut first = 50;
        for ms in [300, 400, 500] {
            (first..first + 50).for_each(|number| receiver.handle_packet(number, millis(ms)));
            first += 50;
        }
        // Four seconds less 0.3 are in the buffer.
        let higher = receiver.poll_feedback(millis(500)).expect("a segment has come");
        assert_eq!((higher.next, higher.limit, higher.segment), (200, 300, segment(200, 4_000, 1_052_800)));
        (200..300).for_each(|number| receiver.handle_packet(number, millis(600)));
        (300..400).for_each(|number| receiver.handle_packet(number, millis(650)));
        // 5.55 s are in the buffer: the next segment waits until there are 5.
        let full = receiver.poll_feedback(millis(650)).expect("a segment has come");
        assert_eq!((full.next, full.limit, full.segment.map(|segment| segment.first)), (400, 400, Some(300)));
        assert_eq!(receiver.poll_feedback(millis(1_150)).map(|feedback| feedback.limit), Some(400));
        assert_eq!(receiver.poll_feedback(millis(1_250)).map(|feedback| feedback.limit), Some(500));
        let adapted = receiver.adapted().expect("it adapts");
        assert_eq!(
            (adapted.bits, adapted.media, adapted.switches),
            (4 * 526_400 + 2 * 1_052_800, Duration::from_secs(6), 1)
        );
    }

    #[test]
    fn a_sender_follows_segments_and_takes_no_older_one() {
        let mut sender = Sender::new(Layout::new(526_400, Duration::from_secs(10)), 1.0, BUFFER, millis(0));
        let segment = |first, start, rate| Segment { first, start, rate, length: 1_000, highest: 1_052_800 };
        sender.handle_segment(&segment(50, 1_000, 526_400));
        sender.handle_feedback(50, 100, &[], millis(0));
        assert_eq!(sender.poll_send(millis(0)), Some(50));
        // Its pace is that of the highest rate.
        assert_eq!(sender.poll_timeout(), Some(millis(10)));
        sender.handle_segment(&segment(0, 0, 526_400));
        assert_eq!(sender.layout.first, 50);
        assert_eq!(sender.layout.position(60), Duration::from_millis(1_200));
    }

    /// Until the display has shown all; loses this share of packets and feedbacks. The last packet of a segment waits up to 4 s for each time that it is lost.
    fn deliver(
        mut sender: Sender,
        mut receiver: Receiver,
        seed: u64,
        loss: f64,
    ) -> Result<PlayerReport, TestCaseError> {
        let mut random = crate::random::Stream::new(seed, crate::random::Purpose::LinkLoss, 0, 0);
        let mut now = millis(0);
        loop {
            prop_assert!(now < millis(600_000), "ten minutes are enough for a few seconds of media");
            receiver.handle_timeout(now);
            if receiver.is_finished() {
                return Ok(receiver.report(now));
            }
            if let Some(Feedback { next, limit, came, segment }) = receiver.poll_feedback(now)
                && random.unit() >= loss
            {
                segment.iter().for_each(|segment| sender.handle_segment(segment));
                sender.handle_feedback(next, limit, &came, now);
            }
            while let Some(number) = sender.poll_send(now) {
                if random.unit() >= loss {
                    receiver.handle_packet(number, now);
                }
            }
            let timers = [sender.poll_timeout(), receiver.poll_timeout()];
            now = timers.into_iter().flatten().min().expect("somebody has something to do").max(now);
        }
    }

    proptest! {
        /// With half of all packets and feedbacks lost the clip arrives whole.
        #[test]
        fn a_lossy_path_delivers_all(seed in any::<u64>(), loss in 0.0..0.5_f64) {
            let sender = Sender::new(layout(), 1.5, BUFFER, millis(0));
            let receiver = Receiver::new(layout(), Duration::from_millis(200), millis(0), millis(0));
            prop_assert_eq!(deliver(sender, receiver, seed, loss)?.played, Duration::from_secs(1));
        }

        #[test]
        fn a_lossy_path_delivers_all_at_a_rate_that_varies(seed in any::<u64>(), loss in 0.0..0.5_f64) {
            let index = Index::new([200_000, 2_000_000, 800_000].into(), 2_500, Duration::from_millis(200));
            let layout = Layout::variable(Arc::new(index));
            let sender = Sender::new(layout.clone(), 1.5, BUFFER, millis(0));
            let receiver = Receiver::new(layout, Duration::from_millis(200), millis(0), millis(0));
            prop_assert_eq!(deliver(sender, receiver, seed, loss)?.played, Duration::from_millis(2_500));
        }

        #[test]
        fn a_lossy_path_delivers_all_segments(seed in any::<u64>(), loss in 0.0..0.5_f64) {
            let sender = Sender::new(Layout::new(1_052_800, Duration::from_secs(5)), 1.5, BUFFER, millis(0));
            prop_assert_eq!(deliver(sender, adaptive(5), seed, loss)?.played, Duration::from_secs(5));
        }

        #[test]
        fn any_feedback_is_harmless(
            feedbacks in prop::collection::vec((any::<u32>(), any::<u32>(), prop::collection::vec(any::<u8>(), 0..40)), 0..20),
            segments in prop::collection::vec(any::<[u32; 5]>(), 0..20),
        ) {
            for adapts in [false, true] {
                let mut sender = Sender::new(layout(), 1.5, BUFFER, millis(0));
                for (step, (next, limit, came)) in feedbacks.iter().enumerate() {
                    let now = millis(step as u64 * 300);
                    if let Some(&[first, start, rate, length, highest]) = segments.get(step).filter(|_| adapts) {
                        sender.handle_segment(&Segment { first, start, rate, length, highest });
                    }
                    sender.handle_feedback(next % 120, *limit, came, now);
                    while let Some(number) = sender.poll_send(now) {
                        prop_assert!(number < sender.layout.packets);
                    }
                    prop_assert!(sender.sent.len() <= WINDOW as usize);
                    let _ = sender.head(now);
                }
            }
        }
    }
}
