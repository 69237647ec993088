//! A player at the receiving end of a flow: `flows.player`.

use hopcast_protocols::application::PlayerConfig;
use schemars::JsonSchema;
use serde::Deserialize;

use super::super::Resolver;
use crate::scenario::declare::{computed, is};
use crate::scenario::model::Application;
use crate::scenario::quantity::Time;

/// A player of media.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Player {
    /// As much of the media is buffered before the display begins.
    #[schemars(extend("minimum" = 0, "maximum" = 315_576_000, "x-default" = is("1 s", "enough for most retransmissions")))]
    start_up_delay: Time,
    /// As much is buffered before it goes on after a hiccup.
    #[schemars(extend("minimum" = 0, "maximum" = 315_576_000, "x-default" = computed("`start_up_delay`")))]
    resume_delay: Option<Time>,
}

impl Resolver<'_> {
    pub(super) fn player(&mut self, index: &str, player: &Player, application: Option<&Application>) -> PlayerConfig {
        if application.is_some_and(|application| application.specimen().timeline().is_none()) {
            let problem = "shows media only, which have times, and the application has no timeline";
            self.report(&["flows", index, "player"], problem, "one of media, such as application.kind = \"audio\"");
        }
        let path = ["flows", index, "player", "resume_delay"];
        let start_up = player.start_up_delay;
        let resume = self.ledger.pick(&path, player.resume_delay, || (start_up, "default: start_up_delay".into()));
        PlayerConfig { start_up: start_up.into(), resume: resume.into() }
    }
}
