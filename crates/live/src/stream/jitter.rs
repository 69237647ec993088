//! A jitter buffer: lets RTP packets go at the distances that their timestamps have, and waits for none.
//!
//! A frame is what has one timestamp. Its packets end with a marker, or with the first packet of the next frame; a packet of a
//! transport stream, or of audio with a static payload type, is a frame by itself (RFC 2250, RFC 3551). Padding is no frame, unless later
//! packets overtake it or it is lost: then it looks like media that is missing.

use std::collections::{BTreeMap, VecDeque};

use hopcast_protocols::application::{JitterBuffer, JitterBufferConfig, JitterBufferReport, PlayerReport};
use hopcast_protocols::time::{Duration, Instant};
use hopcast_protocols::transport::rtp::{LONGEST_STEP, clock_rate};
use hopcast_wire::rtp;

use super::reorder::Counts;
use super::session::TRANSPORT_STREAM_TYPE;

/// Farthest jump of numbers that a single packet is believed (MAX_DROPOUT of RFC 3550, appendix A.1), and farthest behind.
const FARTHEST: i64 = 3000;
/// Frames whose fate is open, and packets held, at the most.
const MOST: usize = 4096;
/// Bytes held, at the most: 2 s of 130 Mb/s.
const MOST_OCTETS: usize = 32 << 20;
/// The buffer's time is this far ahead of arrivals, so that a packet that took less time than the first has a time of capture as well.
const MARGIN: Duration = Duration::from_secs(60);
/// Static payload types of audio (RFC 3551, table 4).
const LAST_STATIC_AUDIO: u8 = 18;

/// What became of frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Frames {
    /// Frames that were whole when their turn came.
    pub on_time: u64,
    /// Frames that were whole after that, shown or not.
    pub late: u64,
    /// Frames whose turn has passed and that are not whole.
    pub lost: u64,
    /// Frames that left the buffer whole at their turn, and the sum of their times in it, from their first packet on.
    pub held: u64,
    /// See [`Self::held`].
    pub holding: Duration,
}

/// The jitter buffer of one receiver, stream after stream.
#[derive(Debug)]
pub(super) struct Jitter {
    config: JitterBufferConfig,
    /// The stream at hand.
    stream: Option<Stream>,
    /// When it was asked for.
    connected: Instant,
    /// A number that is far from all others, which the next one may confirm.
    far: Option<u16>,
    counts: Counts,
    frames: Frames,
    /// Of earlier streams.
    before: PlayerReport,
}

/// The media of one source.
#[derive(Debug)]
struct Stream {
    source: u32,
    buffer: JitterBuffer,
    /// Frames whose fate is open, and the number of the first of them in the buffer.
    frames: VecDeque<Frame>,
    first: u64,
    /// The newest packet: its number, its timestamp, and where it is in the media.
    newest: i64,
    timestamp: u32,
    position: Instant,
    held: usize,
    octets: usize,
}

/// What has one timestamp.
#[derive(Debug)]
struct Frame {
    timestamp: u32,
    /// Its packets' numbers.
    numbers: std::ops::RangeInclusive<i64>,
    missing: usize,
    /// No more will follow.
    is_closed: bool,
    is_told: bool,
    /// Its turn has passed.
    is_over: bool,
    since: Option<Instant>,
    packets: BTreeMap<i64, Vec<u8>>,
    /// Numbers whose packets have left.
    gone: Vec<i64>,
}

impl Jitter {
    pub(super) fn new(config: JitterBufferConfig, now: Instant) -> Self {
        Self {
            config,
            stream: None,
            connected: now,
            far: None,
            counts: Counts::default(),
            frames: Frames::default(),
            before: PlayerReport::default(),
        }
    }

    /// A stream is asked for. What is held of the one before is let go.
    pub(super) fn handle_connection(&mut self, now: Instant, deliver: &mut impl FnMut(&[u8])) {
        self.handle_end(now, deliver);
        self.connected = now;
    }

    /// A packet has come. What may go goes to `deliver`.
    pub(super) fn handle_packet(
        &mut self,
        packet: rtp::Packet<&[u8]>,
        octets: &[u8],
        now: Instant,
        deliver: &mut impl FnMut(&[u8]),
    ) {
        // What comes at its turn comes in time.
        self.advance(now, false, deliver);
        let rate = clock_rate(packet.payload_type());
        let fits = self.stream.as_ref().map(|stream| stream.fits(&packet, rate));
        if let Some(Fit::Far) = fits
            && self.far.take().is_none_or(|far| packet.sequence() != far.wrapping_add(1))
        {
            self.far = Some(packet.sequence());
            self.counts.late += 1;
            return;
        }
        if !matches!(fits, Some(Fit::Near)) {
            self.restart(&packet, now, deliver);
        }
        self.far = None;
        let Some(stream) = &mut self.stream else { return };
        let number = stream.number(packet.sequence());
        if packet.payload().is_empty() && packet.padding_len() > 0 {
            stream.pad(number, is_frame(packet.payload_type()));
            stream.tell(number, now, &mut self.counts, &mut self.frames, deliver);
            return;
        }
        if number > stream.newest || stream.is_fresh() {
            stream.open_frames(number, &packet, rate, now);
        }
        stream.take(number, octets, now, &mut self.counts);
        stream.tell(number, now, &mut self.counts, &mut self.frames, deliver);
        if stream.buffer.open() > MOST || stream.held > MOST || stream.octets > MOST_OCTETS {
            self.handle_end(now, deliver);
        }
    }

    /// Time has come to `now`: frames have their turns.
    pub(super) fn handle_timeout(&mut self, now: Instant, deliver: &mut impl FnMut(&[u8])) {
        self.advance(now, true, deliver);
    }

    /// Frames have their turns that are due before `now`, or `at` it.
    fn advance(&mut self, now: Instant, at: bool, deliver: &mut impl FnMut(&[u8])) {
        let Some(stream) = &mut self.stream else { return };
        let limit = shifted(now);
        while let Some(due) = stream.buffer.poll_timeout().filter(|&due| due < limit || at && due == limit) {
            stream.buffer.handle_timeout(due);
            stream.release(now, &mut self.counts, &mut self.frames, deliver);
        }
    }

    /// When [`handle_timeout`](Self::handle_timeout) is to be called next.
    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        let due = self.stream.as_ref()?.buffer.poll_timeout()?;
        Some(Instant::START + (due - Instant::START).saturating_sub(MARGIN))
    }

    /// No more will come: all is let go.
    pub(super) fn handle_end(&mut self, now: Instant, deliver: &mut impl FnMut(&[u8])) {
        let Some(mut stream) = self.stream.take() else { return };
        stream.close_last(now, &mut self.counts, &mut self.frames, deliver);
        let mut end = now;
        while let Some(due) = stream.buffer.poll_timeout() {
            stream.buffer.handle_timeout(due);
            stream.release(now, &mut self.counts, &mut self.frames, deliver);
            end = end.max(Instant::START + (due - Instant::START).saturating_sub(MARGIN));
        }
        stream.release(now, &mut self.counts, &mut self.frames, deliver);
        let report = stream.buffer.report(Some(shifted(end)), shifted(end));
        self.frames = sum(&self.frames, &report);
        self.before = self.player(&report);
    }

    pub(super) fn counts(&self) -> Counts {
        self.counts
    }

    /// What a viewer saw, and what became of frames.
    pub(super) fn report(&self, now: Instant) -> (PlayerReport, Frames) {
        let Some(stream) = &self.stream else { return (self.before, self.frames) };
        let report = stream.buffer.report(None, shifted(now));
        (self.player(&report), sum(&self.frames, &report))
    }

    /// What a viewer saw of all streams, of which this is the last.
    fn player(&self, last: &JitterBufferReport) -> PlayerReport {
        let began = last.began.map(|began| began.saturating_since(shifted(self.connected)));
        PlayerReport {
            start_up_delay: began,
            hiccups: self.before.hiccups + last.hiccups,
            stalled: self.before.stalled + last.stalled,
            longest: self.before.longest.max(last.longest),
            played: self.before.played + last.played,
        }
    }

    /// A stream begins with this packet.
    fn restart(&mut self, packet: &rtp::Packet<&[u8]>, now: Instant, deliver: &mut impl FnMut(&[u8])) {
        self.handle_end(now, deliver);
        self.stream = Some(Stream {
            source: packet.source(),
            buffer: JitterBuffer::new(self.config),
            frames: VecDeque::new(),
            first: 0,
            newest: i64::from(packet.sequence()),
            timestamp: packet.timestamp(),
            position: now,
            held: 0,
            octets: 0,
        });
    }
}

/// The time of the buffer, in which media is at its place from [`MARGIN`] before the first arrival on.
fn shifted(now: Instant) -> Instant {
    now.saturating_add(MARGIN)
}

/// The frames of all streams, of which this is the last.
fn sum(before: &Frames, last: &JitterBufferReport) -> Frames {
    Frames {
        on_time: before.on_time + last.on_time,
        late: before.late + last.late,
        lost: before.lost + last.lost,
        ..*before
    }
}

/// How a packet fits a stream.
enum Fit {
    Near,
    /// Of another source, or by another clock.
    Other,
    Far,
}

/// Whether each packet of this type is a frame.
fn is_frame(payload_type: u8) -> bool {
    payload_type <= LAST_STATIC_AUDIO || payload_type == TRANSPORT_STREAM_TYPE
}

impl Stream {
    fn fits(&self, packet: &rtp::Packet<&[u8]>, rate: u32) -> Fit {
        if packet.source() != self.source {
            return Fit::Other;
        }
        if (self.number(packet.sequence()) - self.newest).abs() > FARTHEST {
            return Fit::Far;
        }
        let step = i64::from(packet.timestamp().wrapping_sub(self.timestamp) as i32);
        if step.unsigned_abs() > LONGEST_STEP * u64::from(rate) { Fit::Other } else { Fit::Near }
    }

    /// Whether no packet has come.
    fn is_fresh(&self) -> bool {
        self.frames.is_empty() && self.first == 0
    }

    /// The number closest to the newest with these last bits.
    fn number(&self, sequence: u16) -> i64 {
        self.newest + i64::from(sequence.wrapping_sub(self.newest as u16) as i16)
    }

    /// A packet of padding alone has come, of media whose packets are frames or not. Where it is the newest and no frame is open, it is
    /// of none.
    fn pad(&mut self, number: i64, alone: bool) {
        if self.is_fresh() {
            self.newest = number;
        } else if let Some(place) = self.place(number) {
            self.frames[place].fill(number);
        } else if number > self.newest {
            if let Some(last) = self.frames.back_mut().filter(|frame| !frame.is_closed) {
                last.extend(number);
                last.fill(number);
            } else {
                self.skip(number, 0, alone);
            }
            self.newest = number;
        }
    }

    /// The newest packet so far has come: frames up to its own.
    fn open_frames(&mut self, number: i64, packet: &rtp::Packet<&[u8]>, rate: u32, now: Instant) {
        let step = i64::from(packet.timestamp().wrapping_sub(self.timestamp) as i32) * 1_000_000_000 / i64::from(rate);
        let alone = is_frame(packet.payload_type());
        if self.is_fresh() {
            self.position = now;
            self.push(packet.timestamp(), now, number, alone || packet.marker());
        } else {
            let is_open = self.frames.back().is_some_and(|frame| !frame.is_closed);
            if let Some(last) = self.frames.back_mut().filter(|_| is_open) {
                // What is missing in between is more likely the rest of it than the beginning of another.
                last.extend(number - 1);
            } else {
                self.skip(number, step, alone);
            }
            self.position = add(self.position, step);
            match self.frames.back_mut().filter(|last| is_open && last.timestamp == packet.timestamp()) {
                Some(last) => {
                    last.extend(number);
                    last.is_closed |= packet.marker();
                }
                None => {
                    if let Some(last) = self.frames.back_mut() {
                        last.is_closed = true;
                    }
                    self.push(packet.timestamp(), self.position, number, alone || packet.marker());
                }
            }
        }
        (self.newest, self.timestamp) = (number, packet.timestamp());
    }

    /// Frames for the numbers before this one of which nothing has come, spread evenly over `step` nanoseconds of media.
    fn skip(&mut self, number: i64, step: i64, alone: bool) {
        let (first, skipped) = (self.newest + 1, number - self.newest - 1);
        if alone {
            for nth in 0..skipped {
                let between = add(self.position, step * (nth + 1) / (skipped + 1));
                self.push(self.timestamp, between, first + nth, true);
            }
        } else if skipped > 0 {
            self.push(self.timestamp, add(self.position, step / 2), first, true);
            if let Some(last) = self.frames.back_mut() {
                last.extend(number - 1);
            }
        }
    }

    fn push(&mut self, timestamp: u32, position: Instant, number: i64, is_closed: bool) {
        let nth = self.buffer.handle_captured(position);
        if self.frames.is_empty() {
            self.first = nth;
        }
        self.frames.push_back(Frame {
            timestamp,
            numbers: number..=number,
            missing: 1,
            is_closed,
            is_told: false,
            is_over: false,
            since: None,
            packets: BTreeMap::new(),
            gone: Vec::new(),
        });
    }

    /// The place of the frame with this number.
    fn place(&self, number: i64) -> Option<usize> {
        let place = self.frames.partition_point(|frame| *frame.numbers.end() < number);
        self.frames.get(place).filter(|frame| frame.numbers.contains(&number)).map(|_| place)
    }

    /// Keeps a packet of a frame that is open.
    fn take(&mut self, number: i64, octets: &[u8], now: Instant, counts: &mut Counts) {
        let frame = self.place(number).map(|place| &mut self.frames[place]);
        let Some(frame) = frame.filter(|frame| !frame.packets.contains_key(&number) && !frame.gone.contains(&number))
        else {
            counts.duplicates += 1;
            return;
        };
        frame.missing -= 1;
        frame.since.get_or_insert(now);
        counts.late += u64::from(frame.is_over);
        frame.packets.insert(number, octets.to_vec());
        self.held += 1;
        self.octets += octets.len();
    }

    /// Tells the buffer of the frame of this packet and of the one before, if they are whole.
    fn tell(
        &mut self,
        number: i64,
        now: Instant,
        counts: &mut Counts,
        frames: &mut Frames,
        deliver: &mut impl FnMut(&[u8]),
    ) {
        let Some(place) = self.place(number) else { return };
        let here = self.first + place as u64;
        for nth in here.saturating_sub(1)..=here {
            let place = nth.checked_sub(self.first).map(|place| place as usize);
            let Some((place, frame)) = place.and_then(|place| Some((place, self.frames.get_mut(place)?))) else {
                continue;
            };
            if !frame.is_closed || frame.missing > 0 || std::mem::replace(&mut frame.is_told, true) {
                continue;
            }
            let is_over = frame.is_over;
            self.buffer.handle_whole(nth, shifted(now));
            if is_over {
                let is_shown = self.buffer.after_shown() == nth + 1;
                self.let_go(place, is_shown, counts, deliver);
            }
            self.release(now, counts, frames, deliver);
        }
    }

    /// Lets the frames go whose turn has passed.
    fn release(&mut self, now: Instant, counts: &mut Counts, frames: &mut Frames, deliver: &mut impl FnMut(&[u8])) {
        let passed = (self.buffer.next_turn().saturating_sub(self.first) as usize).min(self.frames.len());
        let fresh = self.frames.range(..passed).rposition(|frame| frame.is_over).map_or(0, |last| last + 1);
        for place in fresh..passed {
            let frame = &mut self.frames[place];
            frame.is_over = true;
            counts.lost += frame.missing as u64;
            if let Some(since) = frame.since.filter(|_| frame.is_told) {
                frames.held += 1;
                frames.holding = frames.holding.saturating_add(now.saturating_since(since));
            }
            // What there is of a frame that is not whole may be of use to a decoder.
            self.let_go(place, true, counts, deliver);
        }
        while self.first < self.buffer.oldest() && self.frames.pop_front().is_some() {
            self.first += 1;
        }
    }

    /// The packets of a frame leave, shown or not.
    fn let_go(&mut self, place: usize, is_shown: bool, counts: &mut Counts, deliver: &mut impl FnMut(&[u8])) {
        let frame = &mut self.frames[place];
        while let Some((number, octets)) = frame.packets.pop_first() {
            self.held -= 1;
            self.octets -= octets.len();
            frame.gone.push(number);
            if is_shown {
                counts.delivered += 1;
                deliver(&octets);
            }
        }
    }

    /// Nothing follows the last frame.
    fn close_last(&mut self, now: Instant, counts: &mut Counts, frames: &mut Frames, deliver: &mut impl FnMut(&[u8])) {
        let Some(last) = self.frames.back_mut() else { return };
        last.is_closed = true;
        let number = *last.numbers.end();
        self.tell(number, now, counts, frames, deliver);
    }
}

impl Frame {
    /// A packet has come in which nothing is.
    fn fill(&mut self, number: i64) {
        if !self.packets.contains_key(&number) && !self.gone.contains(&number) {
            self.missing -= 1;
            self.gone.push(number);
        }
    }

    /// It has packets up to this number, of which nothing has come.
    fn extend(&mut self, number: i64) {
        let end = *self.numbers.end();
        if number > end {
            self.missing += (number - end) as usize;
            self.numbers = *self.numbers.start()..=number;
        }
    }
}

/// `position` moved by this number of nanoseconds, either way.
fn add(position: Instant, nanos: i64) -> Instant {
    Instant::from_nanos(position.as_nanos().saturating_add_signed(nanos))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(n: u64) -> Instant {
        Instant::START + Duration::from_millis(n)
    }

    /// A packet of this type whose timestamp is `at` in ms by the clock of video.
    fn packet(payload_type: u8, number: u16, at: u32, marker: bool) -> Vec<u8> {
        let repr = rtp::Repr {
            marker,
            payload_type,
            sequence: number,
            timestamp: at.wrapping_mul(90),
            source: 7,
            contributors: rtp::Contributors::NONE,
            extension: None,
            payload_len: 10,
            padding_len: 0,
        };
        let mut octets = vec![number as u8; rtp::HEADER_LEN + 10];
        repr.emit(&mut rtp::Packet::new_unchecked(&mut octets[..]));
        octets
    }

    struct Bench {
        jitter: Jitter,
        /// Numbers that left, and when.
        left: Vec<(u64, u16)>,
    }

    impl Bench {
        fn new(config: JitterBufferConfig) -> Self {
            Self { jitter: Jitter::new(config, ms(0)), left: Vec::new() }
        }

        fn fixed(delay: u64) -> Self {
            Self::new(JitterBufferConfig::Fixed { delay: Duration::from_millis(delay) })
        }

        fn advance(&mut self, to: u64) {
            while let Some(due) = self.jitter.poll_timeout().filter(|due| *due <= ms(to)) {
                let left = &mut self.left;
                let at = due.as_nanos() / 1_000_000;
                self.jitter.handle_timeout(due, &mut |octets| left.push((at, sequence(octets))));
            }
        }

        fn come(&mut self, at: u64, octets: &[u8]) {
            self.advance(at);
            let left = &mut self.left;
            let view = rtp::Packet::new_checked(octets).expect("RTP");
            self.jitter.handle_packet(view, octets, ms(at), &mut |octets| left.push((at, sequence(octets))));
        }

        fn end(&mut self, at: u64) {
            let left = &mut self.left;
            self.jitter.handle_end(ms(at), &mut |octets| left.push((at, sequence(octets))));
        }
    }

    fn sequence(octets: &[u8]) -> u16 {
        rtp::Packet::new_checked(octets).expect("RTP").sequence()
    }

    #[test]
    fn a_fixed_buffer_gives_packets_the_distances_of_their_timestamps() {
        let mut bench = Bench::fixed(50);
        // Sent each 20 ms, after the end of the numbers; the third takes 30 ms longer, the fourth overtakes it.
        bench.come(1000, &packet(33, u16::MAX, 0, false));
        bench.come(1020, &packet(33, 0, 20, false));
        bench.come(1060, &packet(33, 2, 60, false));
        bench.come(1070, &packet(33, 1, 40, false));
        bench.advance(2000);
        assert_eq!(bench.left, [(1050, u16::MAX), (1070, 0), (1090, 1), (1110, 2)]);
        let (player, frames) = bench.jitter.report(ms(2000));
        assert_eq!((frames.on_time, frames.late, frames.lost, player.hiccups), (4, 0, 0, 0));
        assert_eq!(player.start_up_delay, Some(Duration::from_millis(1050)));
        // 50 ms but for the third, which waited for 20.
        assert_eq!((frames.held, frames.holding), (4, Duration::from_millis(170)));
        assert_eq!(bench.jitter.counts(), Counts { delivered: 4, ..Counts::default() });
    }

    #[test]
    fn what_is_late_for_a_fixed_buffer_is_discarded_and_what_is_lost_is_waited_for_until_its_turn() {
        let mut bench = Bench::fixed(50);
        bench.come(1000, &packet(33, 1, 0, false));
        // 2 is lost, 3 comes 51 ms after its turn, 4 in time and twice.
        bench.come(1060, &packet(33, 4, 60, false));
        bench.come(1061, &packet(33, 4, 60, false));
        bench.come(1141, &packet(33, 3, 40, false));
        bench.advance(1200);
        assert_eq!(bench.left, [(1050, 1), (1110, 4)]);
        let (player, frames) = bench.jitter.report(ms(1200));
        assert_eq!((frames.on_time, frames.late, frames.lost), (2, 1, 1));
        // The display stands from the turn of 2, at 1070, until that of 4.
        assert_eq!((player.hiccups, player.stalled), (1, Duration::from_millis(40)));
        assert_eq!(bench.jitter.counts(), Counts { delivered: 2, lost: 2, late: 1, duplicates: 1 });
    }

    #[test]
    fn an_adaptive_buffer_shows_a_late_frame_at_once_and_waits_longer_after_it() {
        let limits = [0, 500].map(Duration::from_millis);
        let mut bench = Bench::new(JitterBufferConfig::Adaptive { min_delay: limits[0], max_delay: limits[1] });
        for nth in 0..20 {
            let delay = if nth == 10 { 150 } else { 0 };
            bench.come(1000 + u64::from(nth) * 200 + delay, &packet(33, nth, u32::from(nth) * 200, false));
        }
        bench.advance(9000);
        let numbers: Vec<u16> = bench.left.iter().map(|&(_, number)| number).collect();
        assert_eq!(numbers, (0..20).collect::<Vec<_>>());
        // 80 ms at first; 95 % of the frames come at once, in the first bucket of 20 ms.
        assert_eq!(bench.left[0], (1080, 0));
        assert_eq!(bench.left[10], (3150, 10), "when it comes");
        assert!(bench.left[11].0 > 3220, "{:?}", bench.left[11]);
        let (_, frames) = bench.jitter.report(ms(9000));
        assert_eq!((frames.on_time, frames.late, frames.lost), (19, 1, 0));
    }

    #[test]
    fn frames_of_several_packets_end_with_a_marker_or_with_the_next() {
        let mut bench = Bench::fixed(50);
        for (at, number, time, marker) in
            [(1000, 1, 0, false), (1001, 2, 0, true), (1040, 3, 40, false), (1041, 5, 40, true), (1080, 6, 80, false)]
        {
            bench.come(at, &packet(96, number, time, marker));
        }
        // A packet of the frame before, and then the next frame, which ends the one at 80.
        bench.come(1081, &packet(96, 7, 80, false));
        bench.come(1120, &packet(96, 8, 120, true));
        bench.advance(2000);
        // The first frame is whole at 1001, which sets the display.
        assert_eq!(bench.left, [(1051, 1), (1051, 2), (1091, 3), (1091, 5), (1131, 6), (1131, 7), (1171, 8)]);
        let (player, frames) = bench.jitter.report(ms(2000));
        assert_eq!((frames.on_time, frames.late, frames.lost), (3, 0, 1));
        assert_eq!((player.hiccups, player.stalled), (1, Duration::from_millis(40)));
    }

    #[test]
    fn padding_is_no_frame_and_no_loss() {
        let padding = |number| {
            let mut octets = packet(33, number, 20, false);
            octets[0] |= 0x20;
            octets[21] = 10;
            octets
        };
        let mut bench = Bench::fixed(50);
        bench.come(990, &padding(0));
        for (at, number, time) in [(1000, 1, 0), (1020, 2, 20), (1040, 5, 40)] {
            bench.come(at, &packet(33, number, time, false));
            if number == 2 {
                bench.come(1021, &padding(3));
                bench.come(1022, &padding(4));
                bench.come(1022, &padding(4));
            }
        }
        bench.advance(2000);
        assert_eq!(bench.left, [(1050, 1), (1070, 2), (1090, 5)]);
        let (player, frames) = bench.jitter.report(ms(2000));
        assert_eq!((frames.on_time, frames.lost, player.hiccups), (3, 0, 0));
        assert_eq!(bench.jitter.counts(), Counts { delivered: 3, ..Counts::default() });
    }

    #[test]
    fn another_source_begins_another_stream_and_nothing_held_is_lost() {
        let mut bench = Bench::fixed(50);
        bench.come(1000, &packet(33, 1, 0, false));
        let mut other = packet(33, 500, 90_000, false);
        other[11] = 9;
        bench.come(1010, &other);
        assert_eq!(bench.left, [(1010, 1)]);
        bench.end(1020);
        assert_eq!(bench.left, [(1010, 1), (1020, 500)]);
        assert_eq!(bench.jitter.report(ms(3000)).1.on_time, 2);
        assert_eq!(bench.jitter.poll_timeout(), None);
    }

    #[test]
    fn a_far_number_is_believed_once_the_next_follows() {
        let mut bench = Bench::fixed(50);
        bench.come(1000, &packet(33, 1, 0, false));
        bench.come(1010, &packet(33, 9000, 10, false));
        bench.come(1020, &packet(33, 2, 20, false));
        bench.come(1030, &packet(33, 9000, 30, false));
        bench.come(1040, &packet(33, 9001, 40, false));
        bench.advance(2000);
        assert_eq!(bench.left, [(1040, 1), (1040, 2), (1090, 9001)]);
        assert_eq!(bench.jitter.counts(), Counts { delivered: 3, late: 2, ..Counts::default() });
    }

    proptest::proptest! {
        #[test]
        fn memory_is_bounded_and_packets_leave_once(
            steps in proptest::collection::vec((0_u16..4000, 0_u32..2000, 0_u64..30, proptest::bool::ANY), 1..300),
            video in proptest::bool::ANY,
        ) {
            let mut bench = Bench::new(JitterBufferConfig::Adaptive { min_delay: Duration::ZERO, max_delay: Duration::from_secs(2) });
            let (mut at, mut number, mut time) = (1000, 0_u16, 0_u32);
            let count = steps.len() as u64;
            for (jump, step, wait, marker) in steps {
                (at, time) = (at + wait, time.wrapping_add(step));
                number = number.wrapping_add(if jump < 3900 { jump % 3 } else { jump });
                bench.come(at, &packet(if video { 96 } else { 33 }, number, time, marker));
                if let Some(stream) = &bench.jitter.stream {
                    proptest::prop_assert!(stream.held <= MOST && stream.frames.len() <= MOST + FARTHEST as usize);
                }
            }
            bench.end(at);
            let Counts { delivered, .. } = bench.jitter.counts();
            proptest::prop_assert!(delivered <= count && delivered == bench.left.len() as u64);
            proptest::prop_assert!(bench.jitter.poll_timeout().is_none());
        }
    }
}
