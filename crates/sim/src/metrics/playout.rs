//! The player of a flow, and the result for its viewer.

use hopcast_protocols::application::{Player, PlayerConfig, Timeline};
use hopcast_protocols::time::{Duration, Instant};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::journal::Shown;
use super::viewing::Viewing;

/// A flow's player and its media.
#[derive(Clone, Debug, PartialEq)]
pub struct PlayerSpec {
    /// Buffer sizes.
    pub config: PlayerConfig,
    /// The media.
    pub timeline: Timeline,
}

/// Summary of a player, in seconds; all `None` for a flow without a player.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, JsonSchema, Serialize)]
pub struct PlayerSummary {
    /// Time from the flow's start to the player's first picture or sound; `null` if there was none, or no player.
    #[schemars(extend("x-counted" = "at the sink"))]
    pub start_up_s: Option<f64>,
    /// Stops of the display because the buffer was empty; `null` without a player.
    #[schemars(extend("x-unit" = "stops", "x-counted" = "at the sink"))]
    pub hiccups: Option<u64>,
    /// Time of all these stops, without start-up.
    #[schemars(extend("x-counted" = "at the sink"))]
    pub hiccup_time_s: Option<f64>,
    /// The longest of these stops.
    #[schemars(extend("x-counted" = "at the sink"))]
    pub hiccup_max_s: Option<f64>,
    /// Length of the media that was shown.
    #[schemars(extend("x-counted" = "at the sink"))]
    pub played_s: Option<f64>,
}

/// A player at the sink of a flow.
#[derive(Clone, Debug)]
pub(super) struct Playout {
    player: Player,
    timeline: Timeline,
    /// For a recording.
    viewing: Option<Box<Viewing>>,
}

impl Playout {
    /// Asked for at `start`.
    pub(super) fn new(spec: PlayerSpec, start: Instant) -> Self {
        Self { player: Player::new(spec.config, start), timeline: spec.timeline, viewing: None }
    }

    /// The sink has read write number `write`, counted from zero, refused ones included.
    pub(super) fn handle_write(&mut self, write: u64, now: Instant) {
        if let Some(viewing) = &mut self.viewing {
            viewing.handle_write(write, &self.player, &self.timeline, now);
        }
        self.player.handle_media(self.timeline.position(write), now);
        if let Some(viewing) = &mut self.viewing {
            viewing.handle_media(&self.player, now);
        }
    }

    /// Notes from now on what is shown.
    pub(super) fn keep_viewing(&mut self) {
        self.viewing = Some(Box::default());
    }

    /// Notes what has been shown by now. `is_certain`: a stall that lasts is not the end of the media. Returns from when on a stall
    /// has not been noted.
    pub(super) fn look(&mut self, is_certain: bool, now: Instant) -> Option<Instant> {
        let viewing = self.viewing.as_mut()?;
        viewing.look(&self.player, &self.timeline, now);
        viewing.note_stall(now, is_certain)
    }

    /// Notes the rest at the end of the run, as [`Self::summary`] counts it.
    pub(super) fn finish(&mut self, ended: Option<Instant>, now: Instant) {
        if let Some(viewing) = &mut self.viewing {
            viewing.look(&self.player, &self.timeline, now);
            viewing.finish(ended, now);
        }
    }

    /// Takes out what has been noted.
    pub(super) fn drain_shown(&mut self) -> impl Iterator<Item = Shown> {
        self.viewing.iter_mut().flat_map(|viewing| viewing.drain())
    }

    /// The figures as of `now`. `ended`: since then it has been clear that nothing more will come.
    pub(super) fn summary(&self, ended: Option<Instant>, now: Instant) -> PlayerSummary {
        let mut player = self.player.clone();
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
