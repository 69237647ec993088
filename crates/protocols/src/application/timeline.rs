//! What a player knows of the media beforehand: how far each write takes it.

use crate::time::Duration;
use std::sync::Arc;

/// The media that a source writes, as times: write by write, up to where it has come ([`Timeline::position`]). A player of
/// real media reads this from time stamps and markers in the packets.
#[derive(Clone, Debug, PartialEq)]
pub struct Timeline(Kind);

#[derive(Clone, Debug, PartialEq)]
enum Kind {
    /// Each write is as long as the interval, in seconds.
    Even(f64),
    /// Repeats without end.
    Frames { frames: Arc<[Frame]>, period: Duration },
}

/// A frame of the media.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimelineFrame {
    /// Its number, from zero; a film that begins again goes on counting.
    pub number: u64,
    /// Writes that make it up.
    pub writes: u64,
    /// Where it begins in the media.
    pub start: Duration,
    /// Where the next one begins.
    pub end: Duration,
}

/// One frame of a film.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Frame {
    /// Writes since the beginning of the film, this frame's included.
    writes: u64,
    /// When it is shown.
    start: Duration,
    /// When the next one is.
    end: Duration,
}

impl Timeline {
    /// Of one packet each `interval` seconds.
    pub fn even(interval: f64) -> Self {
        Self(Kind::Even(interval.max(1e-9)))
    }

    /// Of a film as in [`super::MediaSource::new`].
    pub(crate) fn film(frames: &[u32], interval: Duration, packet: u32) -> Self {
        let interval = interval.max(Duration::from_nanos(1));
        let starts = (0..frames.len() as u64).map(|frame| interval * frame);
        Self::of_frames(frames, starts, interval * frames.len() as u64, packet)
    }

    /// Of a film as in [`super::MediaSource::with_times`].
    pub(crate) fn film_with_times(frames: &[u32], times: &[Duration], period: Duration, packet: u32) -> Self {
        let starts = times.iter().copied().chain(core::iter::repeat(period));
        Self::of_frames(frames, starts, period.max(Duration::from_nanos(1)), packet)
    }

    /// A frame without bytes is never written: the one before is shown for longer.
    fn of_frames(sizes: &[u32], starts: impl Iterator<Item = Duration>, period: Duration, packet: u32) -> Self {
        let mut frames: Vec<Frame> = Vec::with_capacity(sizes.len());
        for (&size, start) in sizes.iter().zip(starts).filter(|(size, _)| **size > 0) {
            let before = frames.last_mut().map_or(0, |before| {
                before.end = start;
                before.writes
            });
            frames.push(Frame { writes: before + u64::from(size.div_ceil(packet.max(1))), start, end: period });
        }
        // After the last one the film begins again, with its first frame that has octets.
        if let Some(first) = frames.first().map(|first| first.start) {
            frames.last_mut().expect("there is a first").end = period.saturating_add(first);
        }
        Self(Kind::Frames { frames: frames.into(), period })
    }

    /// The frame with this number; `None`: the media has no frames.
    pub fn frame(&self, number: u64) -> Option<TimelineFrame> {
        match &self.0 {
            Kind::Even(_) => {
                let start = if number == 0 { Duration::ZERO } else { self.position(number - 1) };
                Some(TimelineFrame { number, writes: 1, start, end: self.position(number) })
            }
            Kind::Frames { frames, period } => {
                let count = frames.len() as u64;
                let (round, place) = (number.checked_div(count)?, (number % count) as usize);
                let before = place.checked_sub(1).map_or(0, |before| frames[before].writes);
                let passed = Duration::from_nanos(period.as_nanos().saturating_mul(round));
                let Frame { writes, start, end } = frames[place];
                let [start, end] = [start, end].map(|at| passed.saturating_add(at));
                Some(TimelineFrame { number, writes: writes - before, start, end })
            }
        }
    }

    /// The number of the frame that write number `write`, from zero, is a part of; `None`: the media has no frames.
    pub fn frame_of(&self, write: u64) -> Option<u64> {
        match &self.0 {
            Kind::Even(_) => Some(write),
            Kind::Frames { frames, .. } => {
                let all = frames.last()?.writes;
                let place = frames.partition_point(|frame| frame.writes <= write % all);
                Some(write / all * frames.len() as u64 + place as u64)
            }
        }
    }

    /// Up to where the media has come with write number `write`, from zero, if nothing before it is waited for: to the end of a
    /// frame with its last packet, to its beginning with an earlier one.
    pub fn position(&self, write: u64) -> Duration {
        match &self.0 {
            Kind::Even(interval) => Duration::from_secs_f64((write as f64 + 1.0) * interval),
            Kind::Frames { frames, period } => {
                let Some(last) = frames.last() else { return Duration::ZERO };
                let (round, within) = (write / last.writes, write % last.writes);
                let frame = frames[frames.partition_point(|frame| frame.writes <= within)];
                let position = if within + 1 == frame.writes { frame.end } else { frame.start };
                Duration::from_nanos(period.as_nanos().saturating_mul(round)).saturating_add(position)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Application, CbrSource, MediaSource};
    use super::*;
    use crate::time::Instant;
    use proptest::prelude::*;

    fn millis(timeline: &Timeline, writes: u64) -> Vec<u64> {
        (0..writes).map(|write| timeline.position(write).as_nanos() / 1_000_000).collect()
    }

    #[test]
    fn a_packet_of_even_pace_lasts_for_an_interval() {
        assert_eq!(millis(&Timeline::even(0.02), 3), [20, 40, 60]);
    }

    /// Frames of 3, none, 1 and 1 packets at 0, 40, 80 and 120 ms; the second never comes, and the first is shown instead.
    #[test]
    fn a_frame_counts_with_its_last_packet() {
        let interval = Duration::from_millis(40);
        let film = Timeline::film(&[2500, 0, 1000, 1], interval, 1000);
        assert_eq!(millis(&film, 8), [0, 0, 80, 120, 160, 160, 160, 240]);
        let times = [0, 80, 240].map(Duration::from_millis);
        let film = Timeline::film_with_times(&[1500, 200, 300], &times, Duration::from_millis(300), 1000);
        assert_eq!(millis(&film, 6), [0, 80, 240, 300, 300, 380]);
    }

    /// Its last frame is shown until the second one comes round, at 50 ms.
    #[test]
    fn a_film_may_begin_with_an_empty_frame() {
        let film = Timeline::film(&[0, 1000, 500], Duration::from_millis(10), 1000);
        assert_eq!(millis(&film, 4), [20, 40, 50, 70]);
    }

    /// Frames of 3, none, 1 and 1 packets, as above.
    #[test]
    fn writes_belong_to_frames_that_follow_each_other() {
        let film = Timeline::film(&[2500, 0, 1000, 1], Duration::from_millis(40), 1000);
        let frames: Vec<_> = (0..8).map(|write| film.frame_of(write)).collect();
        assert_eq!(frames, [0, 0, 0, 1, 2, 3, 3, 3].map(Some));
        let shown = |number| {
            let frame = film.frame(number).expect("it has frames");
            (frame.writes, frame.start.as_nanos() / 1_000_000, frame.end.as_nanos() / 1_000_000)
        };
        assert_eq!([0, 1, 2, 3].map(shown), [(3, 0, 80), (1, 80, 120), (1, 120, 160), (3, 160, 240)]);
        let even = Timeline::even(0.02);
        assert_eq!(even.frame_of(7), Some(7));
        assert_eq!(even.frame(7).map(|frame| (frame.start, frame.end)), Some((even.position(6), even.position(7))));
    }

    #[test]
    fn a_film_without_octets_comes_nowhere() {
        assert_eq!(Timeline::film(&[0], Duration::from_millis(40), 1000).frame_of(7), None);
        assert_eq!(Timeline::film(&[0], Duration::from_millis(40), 1000).frame(7), None);
        assert_eq!(Timeline::film(&[0, 0], Duration::from_millis(40), 1000).position(7), Duration::ZERO);
    }

    proptest! {
        /// What a source writes is played at once by a player without a buffer that asks for the first frame.
        #[test]
        fn positions_never_go_back_and_follow_the_source(
            frames in prop::collection::vec(0_u32..5_000, 1..20),
            interval in 1_u64..100,
            packet in 1_u32..2_000,
        ) {
            prop_assume!(frames.iter().any(|&size| size > 0));
            let interval = Duration::from_millis(interval);
            let timeline = Timeline::film(&frames, interval, packet);
            let mut source = MediaSource::new(Instant::START, frames.into(), interval, packet);
            let mut last = Duration::ZERO;
            for write in 0..200 {
                let due = source.due();
                let position = timeline.position(write);
                prop_assert!(position >= last);
                // A write belongs to the frame of its time, or ends it.
                prop_assert!(Instant::START + position >= due);
                last = position;
                source.handle_written(Instant::START);
                if source.due() > due {
                    prop_assert_eq!(Instant::START + position, source.due());
                }
            }
        }

        #[test]
        fn an_even_pace_is_that_of_the_source(rate in 1e3..1e9, packet in 1_u32..2_000) {
            let mut source = CbrSource::new(Instant::START, rate, packet);
            let timeline = source.timeline().expect("it is media");
            for write in 0..50 {
                source.handle_written(Instant::START);
                prop_assert_eq!(Instant::START + timeline.position(write), source.due());
            }
        }
    }
}
