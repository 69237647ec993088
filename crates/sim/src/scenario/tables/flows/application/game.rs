//! `kind = "game"`.

use hopcast_protocols::application::{self, GameSource};
use schemars::JsonSchema;
use serde::Deserialize;

use super::super::super::Resolver;
use super::{Application, Flow};
use crate::scenario::declare::is;
use crate::scenario::model;

/// Traffic between a client and the server of a networked game, in one direction: small packets of random sizes, from the
/// server also at random intervals. Writes do not block.
#[derive(Deserialize, JsonSchema)]
pub(in super::super) struct Keys {
    /// Source of the traffic's parameters.
    #[schemars(extend("x-default" = is("faerber", "J. Färber, Multimedia Tools and Applications 23(1), 2004")))]
    model: GameModel,
    /// End that sends.
    #[schemars(extend("x-default" = is("server", "players wait for the server's packets")))]
    direction: GameDirection,
}

/// Source of a game's parameters.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum GameModel {
    /// J. Färber, Counter-Strike.
    Faerber,
    /// The variant of it in the methodology of NGMN and 3GPP, where clients' packets are 35 B smaller.
    Ngmn,
}

/// End that sends the packets of a game.
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
