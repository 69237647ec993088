//! What a viewer sees of a flow's media, frame by frame, for recordings.

use std::collections::BTreeMap;

use hopcast_protocols::application::{Player, Timeline, TimelineFrame};
use hopcast_protocols::time::{Duration, Instant};

use super::journal::{Fate, Shown};

/// Length of a note of a stall; a longer stall has several.
const STALL_PART: Duration = Duration::from_secs(1);

/// Decides on each frame of a player's media when it is complete, or when the display passes its place.
#[derive(Clone, Debug, Default)]
pub(super) struct Viewing {
    /// The first frame whose place the display has not passed.
    next: u64,
    /// Frames from `next` on, of which something has come: how many of their writes.
    come: BTreeMap<u64, u64>,
    /// A stall that lasts: up to where it is noted, and whether that is its beginning.
    stall: Option<(Instant, bool)>,
    /// Stalls before.
    stalls: u64,
    /// Notes that have not been taken out.
    shown: Vec<Shown>,
}

impl Viewing {
    /// The sink reads write number `write`, for the first time, before `player` knows of it.
    pub(super) fn handle_write(&mut self, write: u64, player: &Player, timeline: &Timeline, now: Instant) {
        self.look(player, timeline, now);
        let Some(frame) = timeline.frame_of(write).and_then(|number| timeline.frame(number)) else { return };
        if frame.number < self.next {
            // The display has passed it.
            return;
        }
        let come = self.come.entry(frame.number).or_default();
        *come += 1;
        if *come == frame.writes {
            let fate = if player.due(frame.start).is_some_and(|due| due < now) { Fate::Late } else { Fate::OnTime };
            self.shown.push(Shown { time: now, duration: Duration::ZERO, fate, number: frame.number });
        }
    }

    /// `player` knows of the write now.
    pub(super) fn handle_media(&mut self, player: &Player, now: Instant) {
        if player.stalled_since().is_none() {
            self.end_stall(now);
        }
    }

    /// Decides on what the display has passed by `now`, and notes when it stopped.
    pub(super) fn look(&mut self, player: &Player, timeline: &Timeline, now: Instant) {
        let empty = player.poll_timeout();
        if let Some(empty) = empty {
            while let Some(frame) = timeline.frame(self.next)
                && let Some(end) = player.due(frame.end).filter(|&end| end <= now && end <= empty)
            {
                self.pass(frame, end);
            }
        }
        if let Some(empty) = empty.filter(|&empty| empty < now) {
            self.stall.get_or_insert((empty, true));
        }
    }

    /// Notes the whole parts of a stall that lasts and is sure to count, and returns from when on it is not noted.
    pub(super) fn note_stall(&mut self, now: Instant, is_certain: bool) -> Option<Instant> {
        while let Some((from, _)) = self.stall.filter(|&(from, _)| is_certain && from + STALL_PART < now) {
            self.note_part(from + STALL_PART);
        }
        self.stall.map(|(from, _)| from)
    }

    /// The media ended at `ended`, or the run now.
    pub(super) fn finish(&mut self, ended: Option<Instant>, now: Instant) {
        let end = ended.unwrap_or(now);
        if self.stall.is_some_and(|(from, is_first)| is_first && from >= end) {
            self.stall = None;
        }
        self.end_stall(end);
    }

    /// Takes out the notes.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = Shown> {
        self.shown.drain(..)
    }

    /// The display leaves the place of `frame` behind.
    fn pass(&mut self, frame: TimelineFrame, time: Instant) {
        self.next = frame.number + 1;
        if self.come.remove(&frame.number) != Some(frame.writes) {
            self.shown.push(Shown { time, duration: Duration::ZERO, fate: Fate::Lost, number: frame.number });
        }
    }

    fn end_stall(&mut self, end: Instant) {
        while let Some((from, _)) = self.stall.filter(|&(from, _)| from < end) {
            self.note_part(end.min(from + STALL_PART));
        }
        self.stalls += u64::from(self.stall.take().is_some());
    }

    /// Notes the stall up to here.
    fn note_part(&mut self, end: Instant) {
        let Some((from, is_first)) = self.stall.replace((end, false)) else { return };
        let fate = if is_first { Fate::Stall } else { Fate::StallGoesOn };
        self.shown.push(Shown { time: from, duration: end.saturating_since(from), fate, number: self.stalls });
    }
}

#[cfg(test)]
mod tests {
    use hopcast_protocols::application::PlayerConfig;

    use super::*;

    fn at(millis: u64) -> Instant {
        Instant::START + Duration::from_millis(millis)
    }

    /// Packets of 100 ms each, of which the player wants 200 ms before it begins, come at these times in ms.
    fn watch(packets: &[(u64, u64)], end: u64, ended: Option<u64>) -> Vec<(u64, u64, Fate, u64)> {
        let half = Duration::from_millis(200);
        let mut player = Player::new(PlayerConfig { start_up: half, resume: half }, at(0));
        let (timeline, mut viewing) = (Timeline::even(0.1), Viewing::default());
        for &(time, write) in packets {
            viewing.handle_write(write, &player, &timeline, at(time));
            player.handle_media(timeline.position(write), at(time));
            viewing.handle_media(&player, at(time));
        }
        viewing.look(&player, &timeline, at(end));
        viewing.finish(ended.map(at), at(end));
        let millis = |time: Instant| time.as_nanos() / 1_000_000;
        let shown = viewing.drain();
        shown.map(|one| (millis(one.time), one.duration.as_nanos() / 1_000_000, one.fate, one.number)).collect()
    }

    #[test]
    fn a_frame_that_never_comes_is_lost_when_the_display_passes_it() {
        // The display begins at 110 ms, and would show frame 2 from 310 to 410 ms.
        let shown = watch(&[(10, 0), (110, 1), (210, 3), (420, 2)], 450, None);
        let expected =
            [(10, 0, Fate::OnTime, 0), (110, 0, Fate::OnTime, 1), (210, 0, Fate::OnTime, 3), (410, 0, Fate::Lost, 2)];
        assert_eq!(shown, expected);
    }

    #[test]
    fn a_frame_that_comes_within_its_time_is_late() {
        let shown = watch(&[(10, 0), (110, 1), (210, 3), (350, 2)], 450, None);
        assert_eq!(shown[3..], [(350, 0, Fate::Late, 2)]);
    }

    #[test]
    fn a_stall_lasts_until_the_display_goes_on_and_has_parts_of_a_second() {
        // The display is empty at 310 ms. At 1810 ms frame 2 comes, and at 1910 ms there is enough.
        let shown = watch(&[(10, 0), (110, 1), (1810, 2), (1910, 3)], 2000, None);
        let expected = [
            (1810, 0, Fate::Late, 2),
            (1910, 0, Fate::Late, 3),
            (310, 1000, Fate::Stall, 0),
            (1310, 600, Fate::StallGoesOn, 0),
        ];
        assert_eq!(shown[2..], expected);
    }

    #[test]
    fn the_end_of_the_media_is_no_stall() {
        let packets = [(10, 0), (110, 1)];
        assert_eq!(watch(&packets, 2000, Some(200)).len(), 2);
        assert_eq!(watch(&packets, 2000, Some(400))[2..], [(310, 90, Fate::Stall, 0)]);
        assert_eq!(watch(&packets, 400, None)[2..], [(310, 90, Fate::Stall, 0)]);
    }
}
