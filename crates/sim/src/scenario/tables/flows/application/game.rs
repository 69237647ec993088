//! `kind = "game"`.

use hopcast_protocols::application::{self, GameSource};
use schemars::JsonSchema;
use serde::Deserialize;

use super::super::super::Resolver;
use super::{Application, Flow};
use crate::scenario::declare::is;
use crate::scenario::model;

/// What a client and the server of a networked game send each other, never blocking: small packets of random sizes, those
/// of the server also at random intervals.
#[derive(Deserialize, JsonSchema)]
pub(in super::super) struct Keys {
    /// Whose parameters.
    #[schemars(extend("x-default" = is("faerber", "J. Färber, Multimedia Tools and Applications 23(1), 2004")))]
    model: GameModel,
    /// Who sends.
    #[schemars(extend("x-default" = is("server", "whose packets players wait for")))]
    direction: GameDirection,
}

/// Whose model of a game.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum GameModel {
    /// J. Färber, Counter-Strike.
    Faerber,
    /// Its derivative in the methodology of NGMN and 3GPP, where the packets of clients are 35 B smaller.
    Ngmn,
}

/// Who sends the packets of a game.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum GameDirection {
    /// The server, to one client.
    Server,
    /// A client, to the server.
    Client,
}

alike!(GameModel, application::GameModel: Faerber, Ngmn);

impl From<GameDirection> for application::GameDirection {
    fn from(direction: GameDirection) -> Self {
        match direction {
            GameDirection::Server => Self::ToClient,
            GameDirection::Client => Self::ToServer,
        }
    }
}

impl Application for Keys {
    fn resolve(self, _: &mut Resolver<'_>, _: &mut Flow<'_, '_>) -> Option<model::Application> {
        let (model, direction) = (self.model.into(), self.direction.into());
        Some(model::Application::new(move |start, random| GameSource::new(start, model, direction, random)))
    }
}
