//! A player at the receiving end of a flow: `flows.player`.

use hopcast_protocols::application::{JitterBufferConfig, PlayerConfig};
use schemars::JsonSchema;
use serde::Deserialize;

use super::super::Resolver;
use crate::scenario::declare::{computed, is, nothing};
use crate::scenario::model::{self, Application};
use crate::scenario::quantity::Time;

/// A media player at the receiving end of a flow.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Player {
    /// Length of media that the player buffers before it starts to play.
    #[schemars(extend("minimum" = 0, "maximum" = 315_576_000, "x-default" = computed("1 s, which covers most retransmissions; without effect with `jitter_buffer`")))]
    start_up_delay: Option<Time>,
    /// Length of media that the player buffers before it continues after a stall.
    #[schemars(extend("minimum" = 0, "maximum" = 315_576_000, "x-default" = computed("`start_up_delay`; without effect with `jitter_buffer`")))]
    resume_delay: Option<Time>,
    /// A jitter buffer for live media, which shows each frame at its time and waits for none; for `codec` too.
    #[schemars(extend("x-default" = nothing("none: the player waits for media", "")))]
    jitter_buffer: Option<JitterBuffer>,
}

/// A jitter buffer.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(tag = "kind", deny_unknown_fields)]
pub(super) enum JitterBuffer {
    /// The delay that the first frame gets is kept for all frames.
    Fixed {
        /// Time from the arrival of the first frame to its display.
        #[schemars(extend("minimum" = 0, "maximum" = 3600, "x-default" = is("100 ms", "a choice of hopcast: the delay of speech stays below 150 ms (ITU-T G.114) over 50 ms")))]
        delay: Time,
    },
    /// The delay follows the 95 % quantile of the last delays, as in libwebrtc's NetEq, by at most 100 ms in a second.
    Adaptive {
        /// Least delay, counted from the fastest frame of the last 2 s.
        #[schemars(extend("minimum" = 0, "maximum" = 3600, "x-default" = is("0 s", "without")))]
        min_delay: Time,
        /// Greatest delay, counted likewise. A frame that comes later is discarded.
        #[schemars(extend("minimum" = 0, "maximum" = 3600, "x-default" = is("2 s", "the longest delay that NetEq's histogram knows")))]
        max_delay: Time,
    },
}

impl Resolver<'_> {
    pub(super) fn player(&mut self, index: &str, player: &Player, application: Option<&Application>) -> model::Player {
        if let Some(buffer) = &player.jitter_buffer {
            return self.live(index, player, buffer, application);
        }
        if application.is_some_and(|application| application.specimen().timeline().is_none()) {
            let problem = "plays only media, and this application has no media timeline";
            self.report(
                &["flows", index, "player"],
                problem,
                "an application with media, such as application.kind = \"audio\"",
            );
        }
        let path = ["flows", index, "player", "start_up_delay"];
        let source = || (Time(1.0), "default: covers most retransmissions".into());
        let start_up = self.ledger.pick(&path, player.start_up_delay, source);
        let path = ["flows", index, "player", "resume_delay"];
        let resume = self.ledger.pick(&path, player.resume_delay, || (start_up, "default: start_up_delay".into()));
        model::Player::Waiting(PlayerConfig { start_up: start_up.into(), resume: resume.into() })
    }

    /// The player with a jitter buffer.
    fn live(
        &mut self,
        index: &str,
        player: &Player,
        buffer: &JitterBuffer,
        application: Option<&Application>,
    ) -> model::Player {
        let specimen = application.map(Application::specimen);
        if specimen.is_some_and(|writes| writes.timeline().is_none() && writes.encoder().is_none()) {
            let problem = "plays only media, and this application has none";
            let expected = "an application with media, such as application.kind = \"codec\"";
            self.report(&["flows", index, "player"], problem, expected);
        }
        for (key, given) in [("start_up_delay", player.start_up_delay), ("resume_delay", player.resume_delay)] {
            if given.is_some() {
                let problem = "has no effect: a jitter buffer waits for no media";
                self.report(&["flows", index, "player", key], problem, "the delays of jitter_buffer");
            }
        }
        model::Player::Live(match *buffer {
            JitterBuffer::Fixed { delay } => JitterBufferConfig::Fixed { delay: delay.into() },
            JitterBuffer::Adaptive { min_delay, max_delay } => {
                if max_delay.0 < min_delay.0 {
                    let problem = format!("is less than min_delay ({min_delay})");
                    let path = ["flows", index, "player", "jitter_buffer", "max_delay"];
                    self.report(&path, problem, "a delay that is not less");
                }
                JitterBufferConfig::Adaptive { min_delay: min_delay.into(), max_delay: max_delay.into() }
            }
        })
    }
}
