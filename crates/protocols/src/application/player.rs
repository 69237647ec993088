//! A player: a buffer between the network and a display that must not stop.

use crate::time::{Duration, Instant};

/// How much is buffered before the display begins, and begins again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlayerConfig {
    /// Media in the buffer before the display begins; of a live stream, the delay at the start.
    pub start_up: Duration,
    /// Media in the buffer before the display goes on after a hiccup.
    pub resume: Duration,
}

/// A playout buffer. It knows positions in the media, as times from its beginning, and no bytes.
///
/// A hiccup is an underrun: the display has shown all that came, more is to come, and it stops. The first wait is the start-up
/// delay, and the end of the media is no hiccup.
#[derive(Clone, Debug)]
pub struct Player {
    config: PlayerConfig,
    requested: Instant,
    state: State,
    /// The media has come up to here.
    received: Duration,
    /// No more will come.
    complete: bool,
    start_up_delay: Option<Duration>,
    hiccups: u64,
    stalled: Duration,
    longest: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Before the display begins.
    StartUp,
    /// At `since` the display was at `position`.
    Playing { since: Instant, position: Duration },
    /// The display stands at `position`.
    Stalled { since: Instant, position: Duration },
    /// All has been shown.
    Finished { length: Duration },
}

/// What a viewer had to suffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlayerReport {
    /// From the request to the first picture; `None`: there has been none.
    pub start_up_delay: Option<Duration>,
    /// How often the display stopped.
    pub hiccups: u64,
    /// For how long it stood still, in all.
    pub stalled: Duration,
    /// The longest hiccup.
    pub longest: Duration,
    /// Media shown.
    pub played: Duration,
}

impl Player {
    /// A player whose user asks for the media at `now`.
    pub fn new(config: PlayerConfig, now: Instant) -> Self {
        Self {
            config,
            requested: now,
            state: State::StartUp,
            received: Duration::ZERO,
            complete: false,
            start_up_delay: None,
            hiccups: 0,
            stalled: Duration::ZERO,
            longest: Duration::ZERO,
        }
    }

    /// The media has come up to `position`. What is missing before it is lost and is not waited for; a position before an
    /// earlier one says nothing new.
    pub fn handle_media(&mut self, position: Duration, now: Instant) {
        // What comes at the instant when the buffer is empty comes in time.
        self.advance(now, false);
        if !matches!(self.state, State::Finished { .. }) {
            self.received = self.received.max(position);
            self.begin_if_filled(now);
        }
    }

    /// The media is complete: what is buffered is shown, however little it is.
    pub fn handle_end(&mut self, now: Instant) {
        self.advance(now, false);
        self.complete = true;
        self.begin_if_filled(now);
    }

    /// The instant of [`Self::poll_timeout`] has come.
    pub fn handle_timeout(&mut self, now: Instant) {
        self.advance(now, true);
    }

    /// When the buffer will be empty; `None` while the display does not move.
    pub fn poll_timeout(&self) -> Option<Instant> {
        match self.state {
            State::Playing { since, position } => Some(since + self.received.saturating_sub(position)),
            State::StartUp | State::Stalled { .. } | State::Finished { .. } => None,
        }
    }

    /// When `position` is shown, or would have been had the display not stopped where it stands; `None`: before the display begins,
    /// and after its end.
    pub fn due(&self, position: Duration) -> Option<Instant> {
        match self.state {
            State::Playing { since, position: from } | State::Stalled { since, position: from } => {
                Some(since + position.saturating_sub(from))
            }
            State::StartUp | State::Finished { .. } => None,
        }
    }

    /// Since when the display has been standing still; `None`: it has not begun, it moves or has ended.
    pub fn stalled_since(&self) -> Option<Instant> {
        match self.state {
            State::Stalled { since, .. } => Some(since),
            State::StartUp | State::Playing { .. } | State::Finished { .. } => None,
        }
    }

    /// Whether all of the media has been shown.
    pub fn is_finished(&self) -> bool {
        matches!(self.state, State::Finished { .. })
    }

    /// Media in the buffer.
    pub fn buffered(&self, now: Instant) -> Duration {
        self.received.saturating_sub(self.position(now))
    }

    /// What has been measured up to `now`, a hiccup that lasts included.
    pub fn report(&self, now: Instant) -> PlayerReport {
        let mut player = self.clone();
        player.advance(now, false);
        let under_way = match player.state {
            State::Stalled { since, .. } => now.saturating_since(since),
            _ => Duration::ZERO,
        };
        PlayerReport {
            start_up_delay: player.start_up_delay,
            hiccups: player.hiccups,
            stalled: player.stalled + under_way,
            longest: player.longest.max(under_way),
            played: player.position(now),
        }
    }

    /// What will have been measured once all that came has been shown, if nothing follows: it is no hiccup that the display stops
    /// there.
    pub fn report_at_end(&self) -> PlayerReport {
        let (played, waits) = match self.state {
            State::StartUp => (Duration::ZERO, false),
            State::Playing { .. } => (self.received, false),
            State::Stalled { position, .. } => (position, true),
            State::Finished { length } => (length, false),
        };
        PlayerReport {
            start_up_delay: self.start_up_delay,
            hiccups: self.hiccups - u64::from(waits),
            stalled: self.stalled,
            longest: self.longest,
            played,
        }
    }

    fn position(&self, now: Instant) -> Duration {
        match self.state {
            State::StartUp => Duration::ZERO,
            State::Playing { since, position } => (position + now.saturating_since(since)).min(self.received),
            State::Stalled { position, .. } => position,
            State::Finished { length } => length,
        }
    }

    /// Stops the display if its buffer has been emptied before `now`, or `at` it.
    fn advance(&mut self, now: Instant, at: bool) {
        let Some(empty) = self.poll_timeout() else { return };
        if self.complete && empty <= now {
            self.state = State::Finished { length: self.received };
        } else if empty < now || (at && empty == now) {
            self.hiccups += 1;
            self.state = State::Stalled { since: empty, position: self.received };
        }
    }

    /// Begins, or goes on, if enough is buffered.
    fn begin_if_filled(&mut self, now: Instant) {
        let needed = match self.state {
            State::StartUp => self.config.start_up,
            State::Stalled { .. } => self.config.resume,
            State::Playing { .. } | State::Finished { .. } => return,
        };
        let position = self.position(now);
        let buffered = self.received.saturating_sub(position);
        if !self.complete && (buffered < needed || buffered == Duration::ZERO) {
            return;
        }
        match self.state {
            State::Stalled { since, .. } => {
                let hiccup = now.saturating_since(since);
                self.stalled += hiccup;
                self.longest = self.longest.max(hiccup);
            }
            // Media that ended before any of it came is never shown.
            _ => self.start_up_delay = (buffered > Duration::ZERO).then(|| now.saturating_since(self.requested)),
        }
        self.state = match buffered {
            Duration::ZERO => State::Finished { length: position },
            _ => State::Playing { since: now, position },
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const fn s(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn at(seconds: u64) -> Instant {
        Instant::START + s(seconds)
    }

    fn player(start_up: u64, resume: u64) -> Player {
        Player::new(PlayerConfig { start_up: s(start_up), resume: s(resume) }, at(0))
    }

    /// Media comes for 1 s each second from 1 s on, pauses from 5 s (4 s are there) to 10 s, then comes at double speed.
    ///
    /// ```text
    /// received  0 1 2 3 4 4 4 4 4 4  6  8
    /// at        1 2 3 4 5 6 7 8 9 10 11 12
    /// shown         2 s at 3: 0 … 4 at 7, then nothing until 2 s are there at 11
    /// ```
    #[test]
    fn a_pause_is_a_hiccup_when_it_outlasts_the_buffer() {
        let mut player = player(2, 2);
        for second in 2..=5 {
            player.handle_media(s(second - 1), at(second));
        }
        assert_eq!((player.poll_timeout(), player.buffered(at(5))), (Some(at(7)), s(2)));
        player.handle_timeout(at(7));
        assert_eq!(player.poll_timeout(), None);
        assert_eq!(player.report(at(9)).stalled, s(2));
        player.handle_media(s(6), at(11));
        player.handle_media(s(8), at(12));
        player.handle_end(at(12));
        assert_eq!(player.poll_timeout(), Some(at(15)));
        player.handle_timeout(at(15));
        let expected =
            PlayerReport { start_up_delay: Some(s(3)), hiccups: 1, stalled: s(4), longest: s(4), played: s(8) };
        assert_eq!((player.report(at(20)), player.is_finished()), (expected, true));
    }

    #[test]
    fn the_wait_for_what_never_follows_is_no_hiccup() {
        let mut player = player(2, 2);
        assert_eq!(player.report_at_end(), PlayerReport::default());
        player.handle_media(s(2), at(1));
        let shown = PlayerReport { start_up_delay: Some(s(1)), played: s(2), ..PlayerReport::default() };
        assert_eq!(player.report_at_end(), shown);
        // It stands still from 3 s to 5 s, and then from 8 s on.
        player.handle_media(s(5), at(5));
        player.handle_timeout(at(8));
        let expected =
            PlayerReport { start_up_delay: Some(s(1)), hiccups: 1, stalled: s(2), longest: s(2), played: s(5) };
        assert_eq!((player.report(at(60)).hiccups, player.report_at_end()), (2, expected));
        player.handle_end(at(60));
        assert_eq!((player.is_finished(), player.report_at_end()), (true, player.report(at(60))));
    }

    #[test]
    fn what_comes_as_the_buffer_runs_empty_comes_in_time() {
        let mut player = player(1, 1);
        player.handle_media(s(1), at(0));
        for second in 1..10 {
            player.handle_media(s(second + 1), at(second));
        }
        assert_eq!(player.report(at(10)).hiccups, 0);
        // A little later it would not.
        let late = at(10) + Duration::from_nanos(1);
        player.handle_media(s(11), late);
        assert_eq!((player.report(late).hiccups, player.report(late).stalled), (1, Duration::from_nanos(1)));
    }

    #[test]
    fn a_larger_buffer_has_fewer_hiccups_and_a_longer_start_up() {
        // Each third second brings nothing, the next one two seconds.
        let run = |start_up| {
            let mut player = player(start_up, 1);
            for second in 1..=30 {
                if second % 3 != 0 {
                    player.handle_media(s(second), at(second));
                }
            }
            player.report(at(30))
        };
        let (small, large) = (run(1), run(2));
        assert_eq!((small.start_up_delay, large.start_up_delay), (Some(s(1)), Some(s(2))));
        assert_eq!((small.hiccups, large.hiccups), (1, 0));
    }

    #[test]
    fn short_media_is_shown_though_the_buffer_never_fills() {
        let mut player = player(5, 5);
        player.handle_media(s(2), at(1));
        player.handle_end(at(3));
        player.handle_timeout(at(5));
        assert_eq!((player.is_finished(), player.report(at(9)).played, player.report(at(9)).hiccups), (true, s(2), 0));
    }

    #[test]
    fn no_media_is_no_display() {
        let mut player = player(0, 0);
        player.handle_media(s(0), at(1));
        assert_eq!((player.poll_timeout(), player.report(at(5)).start_up_delay), (None, None));
        player.handle_end(at(6));
        assert_eq!((player.is_finished(), player.report(at(9))), (true, PlayerReport::default()));
    }

    proptest! {
        /// Since the request: the wait before the display, the hiccups and what was shown are all of the time.
        #[test]
        fn time_is_accounted_for(
            start_up in 0_u64..5,
            resume in 0_u64..5,
            steps in prop::collection::vec((0_u64..5, 0_u64..5), 1..50),
            with_timers in any::<bool>(),
        ) {
            let mut player = player(start_up, resume);
            let (mut now, mut position) = (0, 0);
            for (gap, media) in steps {
                now += gap;
                position += media;
                while let Some(due) = player.poll_timeout().filter(|&due| with_timers && due < at(now)) {
                    player.handle_timeout(due);
                }
                player.handle_media(s(position), at(now));
                let report = player.report(at(now));
                let start = report.start_up_delay.unwrap_or(s(now));
                prop_assert_eq!(start + report.stalled + report.played, s(now));
                prop_assert!(report.longest <= report.stalled && report.played <= s(position));
            }
        }
    }
}
