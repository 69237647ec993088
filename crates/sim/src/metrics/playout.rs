//! The player of a flow, and the result for its viewer.

use hopcast_protocols::application::{Player, PlayerConfig, Timeline};
use hopcast_protocols::time::{Duration, Instant};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
}

impl Playout {
    /// Asked for at `start`.
    pub(super) fn new(spec: PlayerSpec, start: Instant) -> Self {
        Self { player: Player::new(spec.config, start), timeline: spec.timeline }
    }

    /// The sink has read write number `write`, counted from zero, refused ones included.
    pub(super) fn handle_write(&mut self, write: u64, now: Instant) {
        self.player.handle_media(self.timeline.position(write), now);
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
