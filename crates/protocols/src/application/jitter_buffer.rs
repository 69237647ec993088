//! A jitter buffer: it shows each frame of live media at its time, and waits for none.

use std::collections::VecDeque;

use crate::time::{Duration, Instant};

/// Width and number of the buckets of the histogram of delays (libwebrtc, NetEq's delay manager).
const BUCKET: Duration = Duration::from_millis(20);
const BUCKETS: usize = 100;
/// The share of frames that should come in time, and how slowly the histogram forgets (NetEq: `quantile`, `forget_factor`).
const QUANTILE: f64 = 0.95;
const FORGET: f64 = 0.983;
/// The histogram forgets faster at first: the factor of frame number `n` is at most 1 − 2 / (n + 1) (NetEq:
/// `start_forget_weight`).
const START_WEIGHT: f64 = 2.0;
/// A delay counts against the least one of this time (NetEq: `max_history_ms`).
const HISTORY: Duration = Duration::from_secs(2);
/// The delay before the first frame (NetEq: `kStartDelayMs`).
const START_DELAY: Duration = Duration::from_millis(80);
/// The display runs slower or faster by at most a tenth (libwebrtc's video timing: 100 ms in a second).
const PACE: u64 = 10;
/// A frame that has not come for this time after its turn counts as lost.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long frames wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JitterBufferConfig {
    /// The first frame waits for `delay`, and the others are shown at their distances from it. A frame that comes later is discarded.
    Fixed {
        /// Time from the arrival of the first frame to its display.
        delay: Duration,
    },
    /// The delay follows the delays of the last frames, between two limits. A frame that comes later is shown at once, unless a later
    /// frame has been shown, or it is later than the greatest delay.
    Adaptive {
        /// The least delay, measured from the fastest frame of the last 2 s.
        min_delay: Duration,
        /// The greatest one.
        max_delay: Duration,
    },
}

/// What a viewer sees of live media.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JitterBufferReport {
    /// When the first frame was shown.
    pub began: Option<Instant>,
    /// Frames that were whole when their turn came.
    pub on_time: u64,
    /// Frames that were whole after that, shown or not.
    pub late: u64,
    /// Frames whose turn has passed and that are not whole.
    pub lost: u64,
    /// How often the display stopped: a frame was not there when its turn came.
    pub hiccups: u64,
    /// For how long it stood still, in all: each time until the newest frame that was due was shown.
    pub stalled: Duration,
    /// The longest hiccup.
    pub longest: Duration,
    /// Frames that were shown, and the sum of their times from capture to display.
    pub shown: u64,
    /// See [`Self::shown`].
    pub delays: u128,
    /// For how long the display moved, until the turn of the newest frame.
    pub played: Duration,
}

/// A frame that was captured.
#[derive(Clone, Copy, Debug)]
struct Frame {
    captured: Instant,
    is_whole: bool,
}

/// A jitter buffer with its display.
///
/// It learns of each frame when it is captured ([`Self::handle_captured`]), and when it has come whole
/// ([`Self::handle_whole`]), and works out by itself what was shown in between. A receiver knows times of capture from time stamps up
/// to a constant, which matters to nothing here but [`JitterBufferReport::delays`].
///
/// The adaptive delay follows libwebrtc's NetEq by its public description: delays against the fastest frame of 2 s go into a
/// histogram that forgets, and its 95 % quantile is the delay to reach. The display reaches it as libwebrtc's video does, by 100 ms
/// in a second at most. NetEq counts packets of 10 to 60 ms, where this one counts frames.
#[derive(Clone, Debug)]
pub struct JitterBuffer {
    config: JitterBufferConfig,
    /// Frames whose fate is open, and the number of the first of them.
    frames: VecDeque<Frame>,
    first: u64,
    /// The frame whose turn is next.
    next: u64,
    /// The number after that of the last frame shown.
    shown: u64,
    /// From capture to display, once a frame has come.
    offset: Option<Duration>,
    delays: Delays,
    /// How far the display has come, the last turn or late frame, and since when the display stands.
    now: Instant,
    turn: Instant,
    stands: Option<Instant>,
    report: JitterBufferReport,
}

impl JitterBuffer {
    /// Before the first frame.
    pub fn new(config: JitterBufferConfig) -> Self {
        Self {
            config,
            frames: VecDeque::new(),
            first: 0,
            next: 0,
            shown: 0,
            offset: None,
            delays: Delays::new(),
            now: Instant::START,
            turn: Instant::START,
            stands: None,
            report: JitterBufferReport::default(),
        }
    }

    /// The next frame is captured at `now`. Returns its number, from zero.
    pub fn handle_captured(&mut self, now: Instant) -> u64 {
        self.frames.push_back(Frame { captured: now, is_whole: false });
        self.first + self.frames.len() as u64 - 1
    }

    /// The frame with this number has come whole, for the first time.
    pub fn handle_whole(&mut self, number: u64, now: Instant) {
        // What comes at its turn comes in time.
        self.advance(now, false);
        let place = number.checked_sub(self.first).and_then(|place| usize::try_from(place).ok());
        let Some(frame) = place.and_then(|place| self.frames.get_mut(place)) else { return };
        if core::mem::replace(&mut frame.is_whole, true) {
            return;
        }
        let captured = frame.captured;
        let transit = now.saturating_since(captured);
        let is_late = number < self.next;
        self.report.late += u64::from(is_late);
        match self.config {
            JitterBufferConfig::Fixed { delay } => _ = self.offset.get_or_insert(transit + delay),
            JitterBufferConfig::Adaptive { min_delay, max_delay } => {
                let since = now.saturating_since(self.delays.latest());
                self.delays.handle(transit, now);
                let least = self.delays.least();
                let target = least + self.delays.quantile().clamp(min_delay, max_delay);
                let offset = match self.offset {
                    None => transit + START_DELAY.clamp(min_delay, max_delay),
                    Some(offset) if is_late => offset.max(transit.min(target)),
                    Some(offset) if offset < target => target.min(offset + since / PACE),
                    Some(offset) => target.max(offset.saturating_sub(since / PACE)),
                };
                self.offset = Some(offset.clamp(least + min_delay, least + max_delay));
                if is_late && number >= self.shown && transit <= least + max_delay {
                    self.show(number, captured, now);
                }
            }
        }
        self.advance(now, false);
    }

    /// When the next frame that was captured is due.
    pub fn poll_timeout(&self) -> Option<Instant> {
        let frame = self.frames.get((self.next - self.first) as usize)?;
        Some((frame.captured + self.offset?).max(self.now))
    }

    /// The instant of [`Self::poll_timeout`] has come.
    pub fn handle_timeout(&mut self, now: Instant) {
        self.advance(now, true);
    }

    /// The first frame whose fate is open; those before it matter no more.
    pub const fn oldest(&self) -> u64 {
        self.first
    }

    /// The frame whose turn is next: those before it have had theirs.
    pub const fn next_turn(&self) -> u64 {
        self.next
    }

    /// The number after that of the newest frame shown; 0 before the first.
    pub const fn after_shown(&self) -> u64 {
        self.shown
    }

    /// Frames whose fate is open.
    pub fn open(&self) -> usize {
        self.frames.len()
    }

    /// What was seen up to `now`. A hiccup that lasts counts until `ended`, if nothing has been on its way since then.
    pub fn report(&self, ended: Option<Instant>, now: Instant) -> JitterBufferReport {
        let mut buffer = self.clone();
        buffer.advance(now, false);
        let open = buffer.frames.range(..(buffer.next - buffer.first) as usize);
        let lost = open.filter(|frame| !frame.is_whole).count() as u64;
        let until = ended.unwrap_or(now);
        let under_way = buffer.stands.map_or(Duration::ZERO, |since| until.saturating_since(since));
        let moved = buffer.stands.unwrap_or(buffer.turn);
        let began = buffer.report.began.unwrap_or(moved);
        JitterBufferReport {
            played: moved.saturating_since(began).saturating_sub(buffer.report.stalled),
            lost: buffer.report.lost + lost,
            stalled: buffer.report.stalled + under_way,
            longest: buffer.report.longest.max(under_way),
            ..buffer.report
        }
    }

    /// Gives each frame its turn that is due before `now`, or `at` it.
    fn advance(&mut self, now: Instant, at: bool) {
        while let Some(due) = self.poll_timeout().filter(|&due| due < now || (at && due == now)) {
            (self.now, self.turn) = (due, due);
            let number = self.next;
            let Frame { captured, is_whole } = self.frames[(number - self.first) as usize];
            self.next += 1;
            if is_whole {
                self.report.on_time += 1;
                self.show(number, captured, due);
            } else if self.report.began.is_some() && self.stands.is_none() {
                self.stands = Some(due);
                self.report.hiccups += 1;
            }
        }
        self.now = self.now.max(now);
        while let Some(frame) = self.frames.front().filter(|_| self.first < self.next) {
            if !frame.is_whole && now.saturating_since(frame.captured) < PATIENCE + self.offset.unwrap_or_default() {
                break;
            }
            self.report.lost += u64::from(!frame.is_whole);
            self.frames.pop_front();
            self.first += 1;
        }
    }

    /// Shows a frame. The display stands until this is the newest frame that was due.
    fn show(&mut self, number: u64, captured: Instant, now: Instant) {
        (self.shown, self.turn) = (number + 1, self.turn.max(now));
        self.report.began.get_or_insert(now);
        self.report.shown += 1;
        self.report.delays += u128::from(now.saturating_since(captured).as_nanos());
        if self.shown == self.next
            && let Some(since) = self.stands.take()
        {
            let hiccup = now.saturating_since(since);
            self.report.stalled += hiccup;
            self.report.longest = self.report.longest.max(hiccup);
        }
    }
}

/// The delays of the last frames.
#[derive(Clone, Debug)]
struct Delays {
    /// Arrivals and delays within [`HISTORY`], without those that a later one is below: delays rise.
    window: VecDeque<(Instant, Duration)>,
    latest: Instant,
    count: u64,
    /// Shares of frames, whose sum is 1.
    histogram: [f64; BUCKETS],
}

impl Delays {
    const fn new() -> Self {
        Self { window: VecDeque::new(), latest: Instant::START, count: 0, histogram: [0.0; BUCKETS] }
    }

    fn handle(&mut self, delay: Duration, now: Instant) {
        while self.window.back().is_some_and(|&(_, other)| other >= delay) {
            self.window.pop_back();
        }
        self.window.push_back((now, delay));
        while self.window.front().is_some_and(|&(then, _)| now.saturating_since(then) > HISTORY) {
            self.window.pop_front();
        }
        (self.latest, self.count) = (now, self.count + 1);
        let bucket = (delay.saturating_sub(self.least()).as_nanos() / BUCKET.as_nanos()) as usize;
        let keep = FORGET.min(1.0 - START_WEIGHT / (self.count as f64 + 1.0)).max(0.0);
        self.histogram.iter_mut().for_each(|share| *share *= keep);
        self.histogram[bucket.min(BUCKETS - 1)] += 1.0 - keep;
    }

    /// The arrival of the last frame.
    const fn latest(&self) -> Instant {
        self.latest
    }

    /// The least delay.
    fn least(&self) -> Duration {
        self.window.front().map_or(Duration::ZERO, |&(_, delay)| delay)
    }

    /// What the delays of 95 % of the frames are below, measured from the least one.
    fn quantile(&self) -> Duration {
        let mut below = 0.0;
        let bucket = self.histogram.iter().position(|share| {
            below += share;
            below >= QUANTILE
        });
        BUCKET * (bucket.unwrap_or(BUCKETS - 1) as u64 + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, Stream};
    use proptest::prelude::*;

    const fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    fn at(millis: u64) -> Instant {
        Instant::START + ms(millis)
    }

    /// Frames each `interval` with these transits, in ms; `None`: lost.
    fn play(config: JitterBufferConfig, interval: u64, transits: &[Option<u64>]) -> JitterBuffer {
        let mut buffer = JitterBuffer::new(config);
        let mut events: Vec<(u64, bool, u64)> = Vec::new();
        for (number, transit) in (0..).zip(transits) {
            events.push((interval * number, false, number));
            events.extend(transit.map(|transit| (interval * number + transit, true, number)));
        }
        events.sort_unstable();
        for (time, is_whole, number) in events {
            match is_whole {
                true => buffer.handle_whole(number, at(time)),
                false => assert_eq!(buffer.handle_captured(at(time)), number),
            }
        }
        buffer
    }

    const fn fixed(delay: u64) -> JitterBufferConfig {
        JitterBufferConfig::Fixed { delay: ms(delay) }
    }

    const ADAPTIVE: JitterBufferConfig =
        JitterBufferConfig::Adaptive { min_delay: Duration::ZERO, max_delay: ms(2_000) };

    /// Turns are at 50, 70, … 190 ms. The third frame is lost, the fifth comes 1 ms after its turn, and the sixth at it.
    #[test]
    fn a_fixed_buffer_shows_frames_at_even_distances() {
        let transits = [Some(10), Some(50), None, Some(10), Some(51), Some(50), Some(10), Some(10)];
        let buffer = play(fixed(40), 20, &transits);
        let report = buffer.report(None, at(200));
        assert_eq!((report.on_time, report.late, report.lost), (6, 1, 1));
        // It stands from 90 to 110 ms and from 130 to 150 ms.
        assert_eq!((report.hiccups, report.stalled, report.longest), (2, ms(40), ms(20)));
        assert_eq!((report.began, report.shown, report.delays), (Some(at(50)), 6, 6 * 50_000_000));
        // Until the last turn.
        assert_eq!(report.played, ms(190 - 50 - 40));
    }

    #[test]
    fn a_stall_that_lasts_counts_and_frames_before_their_turn_do_not() {
        let buffer = play(fixed(100), 20, &[Some(0), None, Some(0), None, None]);
        // Turns at 100, 120, 140, 160 and 180 ms.
        let report = buffer.report(None, at(170));
        assert_eq!((report.on_time, report.lost, report.hiccups, report.stalled), (2, 2, 2, ms(30)));
        assert_eq!((report.played, buffer.report(Some(at(165)), at(170)).stalled), (ms(40), ms(25)));
        assert_eq!(buffer.poll_timeout(), Some(at(100)));
        assert_eq!(buffer.report(None, at(99)), JitterBufferReport::default());
    }

    #[test]
    fn frames_before_the_first_that_comes_stop_nothing() {
        let report = play(fixed(0), 20, &[None, None, Some(5), Some(5)]).report(None, at(100));
        assert_eq!((report.on_time, report.lost, report.hiccups, report.began), (2, 2, 0, Some(at(45))));
    }

    /// After 20 frames of 10 ms the delay is one bucket. A frame of 100 ms is late, is shown at once, and the next is in time.
    #[test]
    fn an_adaptive_buffer_shows_what_is_late_and_waits_longer_then() {
        let mut transits = vec![Some(10); 200];
        transits[150] = Some(100);
        let report = play(ADAPTIVE, 20, &transits).report(None, at(5_000));
        // It has come down from 80 ms to 20 ms by 100 ms a second; the three behind it come before it, and are shown instead.
        assert_eq!((report.on_time, report.late, report.lost, report.hiccups), (199, 1, 0, 1));
        assert_eq!(report.stalled, ms(20));
    }

    /// Without one to overtake it, the late frame is shown when it comes, and the display stands until then.
    #[test]
    fn a_late_frame_ends_the_stall() {
        let mut transits = vec![Some(10); 100];
        transits[60] = Some(100);
        let report = play(ADAPTIVE, 200, &transits).report(None, at(30_000));
        assert_eq!((report.on_time, report.late, report.shown, report.hiccups), (99, 1, 100, 1));
        // The turn was 30 ms after capture: 10 ms and a bucket.
        assert_eq!(report.stalled, ms(70));
    }

    /// Delays of 50 ms and an exponential part with a mean of 40 ms: 95 % are below 50 ms + 40 ms × ln 20 = 170 ms. Buckets are 20 ms
    /// wide, and the fastest of 2 s is a few milliseconds above 50 ms.
    #[test]
    fn the_adaptive_delay_is_the_quantile_of_the_delays() {
        let mut random = Stream::new(1, Purpose::Application, 0, 0);
        let transits: Vec<_> = (0..3_000).map(|_| Some(50 + (-40.0 * libm::log(1.0 - random.unit())) as u64)).collect();
        let buffer = play(ADAPTIVE, 33, &transits);
        let report = buffer.report(None, at(33 * 3_000));
        let late = report.late as f64 / 3_000.0;
        assert!((0.02..0.08).contains(&late), "{late}");
        let mean = report.delays as f64 / report.shown as f64 / 1e6;
        assert!((150.0..210.0).contains(&mean), "{mean}");
    }

    /// The path gets slower by 150 ms: the buffer follows, and later frames are in time again.
    #[test]
    fn an_adaptive_buffer_follows_a_slower_path_and_a_fixed_one_does_not() {
        let transits: Vec<_> = (0..900).map(|frame| Some(if frame < 300 { 50 } else { 200 })).collect();
        let late = |config| play(config, 33, &transits).report(None, at(60_000)).late;
        assert!(late(ADAPTIVE) < 30, "{}", late(ADAPTIVE));
        assert_eq!((late(fixed(149)), late(fixed(150))), (600, 0));
    }

    /// 3 s without a frame, then all of them at once: the display is in the present again.
    #[test]
    fn what_an_outage_held_back_is_skipped() {
        let transit = |frame: u64| if (200..300).contains(&frame) { 10 + 33 * (300 - frame) } else { 10 };
        let transits: Vec<_> = (0..600).map(|frame| Some(transit(frame))).collect();
        let report = play(ADAPTIVE, 33, &transits).report(None, at(30_000));
        assert_eq!((report.hiccups, report.lost), (1, 0));
        assert!((ms(3_000)..ms(3_400)).contains(&report.stalled), "{:?}", report.stalled);
    }

    proptest! {
        /// Each frame whose turn has passed is on time, late or lost, and none twice; stalls are shorter than the display.
        #[test]
        fn frames_and_time_are_accounted_for(
            transits in prop::collection::vec(prop::option::weighted(0.8, 1_u64..12_000), 1..200),
            delay in 0_u64..500,
            interval in 1_u64..100,
            is_fixed in any::<bool>(),
        ) {
            let config = if is_fixed { fixed(delay) } else { ADAPTIVE };
            let buffer = play(config, interval, &transits);
            let end = at(1_000_000);
            let report = buffer.report(None, end);
            let came = transits.iter().flatten().count() as u64;
            if came > 0 {
                prop_assert_eq!(report.on_time + report.late + report.lost, transits.len() as u64);
            }
            prop_assert!(report.on_time + report.late <= came);
            prop_assert!(report.longest <= report.stalled);
            prop_assert!(report.shown <= came && report.shown >= report.on_time);
            let began = report.began.unwrap_or(end);
            prop_assert!(report.stalled + report.played <= end.saturating_since(began));
        }
    }
}
