//! A player at the receiving end of a flow: `flows.player`.

use hopcast_protocols::application::PlayerConfig;
use schemars::JsonSchema;
use serde::Deserialize;

use super::super::Resolver;
use crate::scenario::declare::{computed, is};
use crate::scenario::model::Application;
use crate::scenario::quantity::Time;

/// A media player at the receiving end of a flow.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Player {
    /// Length of media that the player buffers before it starts to play.
    #[schemars(extend("minimum" = 0, "maximum" = 315_576_000, "x-default" = is("1 s", "covers most retransmissions")))]
    start_up_delay: Time,
    /// Length of media that the player buffers before it continues after a stall.
    #[schemars(extend("minimum" = 0, "maximum" = 315_576_000, "x-default" = computed("`start_up_delay`")))]
    resume_delay: Option<Time>,
}

impl Resolver<'_> {
    pub(super) fn player(&mut self, index: &str, player: &Player, application: Option<&Application>) -> PlayerConfig {
        if application.is_some_and(|application| application.specimen().timeline().is_none()) {
            let problem = "plays only media, and this application has no media timeline";
            self.report(
                &["flows", index, "player"],
                problem,
                "an application with media, such as application.kind = \"audio\"",
            );
        }
        let path = ["flows", index, "player", "resume_delay"];
        let start_up = player.start_up_delay;
        let resume = self.ledger.pick(&path, player.resume_delay, || (start_up, "default: start_up_delay".into()));
        PlayerConfig { start_up: start_up.into(), resume: resume.into() }
    }
}
