//! The player of a flow, and the result for its viewer.

use hopcast_protocols::application::{JitterBuffer, JitterBufferConfig, Player, PlayerConfig, Timeline};
use hopcast_protocols::time::{Duration, Instant};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// A flow's player and its media.
#[derive(Clone, Debug, PartialEq)]
pub enum PlayerSpec {
    /// One that waits for media when its buffer is empty.
    Waiting {
        /// Buffer sizes.
        config: PlayerConfig,
        /// The media.
        timeline: Timeline,
    },
    /// One with a jitter buffer, which waits for nothing.
    Live(JitterBufferConfig),
}

/// Summary of a player, in seconds; all `None` for a flow without a player.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, JsonSchema, Serialize)]
pub struct PlayerSummary {
    /// Time from the flow's start to the player's first picture or sound; `null` if there was none, or no player.
    #[schemars(extend("x-counted" = "at the sink"))]
    pub start_up_s: Option<f64>,
    /// Stops of the display because the buffer was empty, or, with a jitter buffer, because a frame was missing when its turn came;
    /// `null` without a player.
    #[schemars(extend("x-unit" = "stops", "x-counted" = "at the sink"))]
    pub hiccups: Option<u64>,
    /// Time of all these stops, without start-up.
    #[schemars(extend("x-counted" = "at the sink"))]
    pub hiccup_time_s: Option<f64>,
    /// The longest of these stops.
    #[schemars(extend("x-counted" = "at the sink"))]
    pub hiccup_max_s: Option<f64>,
    /// Length of the media that was shown; with a jitter buffer, the time for which the display moved.
    #[schemars(extend("x-counted" = "at the sink"))]
    pub played_s: Option<f64>,
}

/// Frames of a player with a jitter buffer. A frame is what the application writes at one instant, and is whole with its last
/// packet. Packets that FEC recovers count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, JsonSchema, Serialize)]
pub struct FrameSummary {
    /// Frames that were whole when their turn to be shown came; left out without a jitter buffer.
    #[schemars(extend("x-unit" = "frames", "x-counted" = "at the sink"))]
    pub frames_on_time: u64,
    /// Frames that were whole only after their turn, shown or not; left out without a jitter buffer.
    #[schemars(extend("x-unit" = "frames", "x-counted" = "at the sink"))]
    pub frames_late: u64,
    /// Frames whose turn has passed and that never were whole; left out without a jitter buffer.
    #[schemars(extend("x-unit" = "frames", "x-counted" = "at the sink"))]
    pub frames_lost: u64,
    /// Mean time from the writing of a frame to its display; left out without a jitter buffer.
    #[schemars(extend("x-divisor" = "frames that were shown", "x-counted" = "at the sink"))]
    pub playout_delay_mean_s: Option<f64>,
}

/// A player at the sink of a flow.
#[derive(Clone, Debug)]
pub(super) enum Playout {
    Waiting { player: Player, timeline: Timeline },
    Live { start: Instant, buffer: Box<JitterBuffer>, frames: Frames },
}

/// The packets of the frames whose fate is open.
#[derive(Clone, Debug, Default)]
pub(super) struct Frames {
    frames: VecDeque<Frame>,
    /// When the last one was written.
    latest: Option<Instant>,
}

#[derive(Clone, Copy, Debug)]
struct Frame {
    number: u64,
    /// Its first write, the number of its writes, and of those that came.
    first: u64,
    writes: u32,
    arrived: u32,
}

impl Playout {
    /// Asked for at `start`.
    pub(super) fn new(spec: PlayerSpec, start: Instant) -> Self {
        match spec {
            PlayerSpec::Waiting { config, timeline } => Self::Waiting { player: Player::new(config, start), timeline },
            PlayerSpec::Live(config) => {
                Self::Live { start, buffer: Box::new(JitterBuffer::new(config)), frames: Frames::default() }
            }
        }
    }

    /// The application makes write number `write`, counted from zero, refused ones included.
    pub(super) fn handle_sent(&mut self, write: u64, now: Instant) {
        let Self::Live { buffer, frames: Frames { frames, latest }, .. } = self else { return };
        if *latest == Some(now)
            && let Some(frame) = frames.back_mut()
        {
            frame.writes += 1;
            return;
        }
        *latest = Some(now);
        let number = buffer.handle_captured(now);
        frames.push_back(Frame { number, first: write, writes: 1, arrived: 0 });
    }

    /// The sink has read write number `write`.
    pub(super) fn handle_write(&mut self, write: u64, now: Instant) {
        match self {
            Self::Waiting { player, timeline } => player.handle_media(timeline.position(write), now),
            Self::Live { buffer, frames: Frames { frames, .. }, .. } => {
                let place = frames.partition_point(|frame| frame.first <= write);
                if let Some(frame) = place.checked_sub(1).map(|place| &mut frames[place])
                    && write - frame.first < u64::from(frame.writes)
                {
                    frame.arrived += 1;
                    if frame.arrived == frame.writes {
                        buffer.handle_whole(frame.number, now);
                    }
                }
                while frames.len() > 1 && frames[0].number < buffer.oldest() {
                    frames.pop_front();
                }
            }
        }
    }

    /// The figures of a jitter buffer's frames as of `now`.
    pub(super) fn frames(&self, now: Instant) -> Option<FrameSummary> {
        let Self::Live { buffer, .. } = self else { return None };
        let report = buffer.report(None, now);
        Some(FrameSummary {
            frames_on_time: report.on_time,
            frames_late: report.late,
            frames_lost: report.lost,
            playout_delay_mean_s: (report.shown > 0).then(|| report.delays as f64 / 1e9 / report.shown as f64),
        })
    }

    /// The figures as of `now`. `ended`: since then it has been clear that nothing more will come.
    pub(super) fn summary(&self, ended: Option<Instant>, now: Instant) -> PlayerSummary {
        let player = match self {
            Self::Waiting { player, .. } => player,
            Self::Live { start, buffer, .. } => {
                let report = buffer.report(ended, now);
                return PlayerSummary {
                    start_up_s: report.began.map(|began| began.saturating_since(*start).as_secs_f64()),
                    hiccups: Some(report.hiccups),
                    hiccup_time_s: Some(report.stalled.as_secs_f64()),
                    hiccup_max_s: Some(report.longest.as_secs_f64()),
                    played_s: Some(report.played.as_secs_f64()),
                };
            }
        };
        let mut player = player.clone();
        if let Some(ended) = ended {
            player.handle_end(ended);
        }
        let report = player.report(now);
        PlayerSummary {
            start_up_s: report.start_up_delay.map(Duration::as_secs_f64),
            hiccups: Some(report.hiccups),
            hiccup_time_s: Some(report.stalled.as_secs_f64()),
            hiccup_max_s: Some(report.longest.as_secs_f64()),
            played_s: Some(report.played.as_secs_f64()),
        }
    }
}
