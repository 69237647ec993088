//! Registry of user-defined models, which can be in other crates: routing protocols, congestion controls of TCP and of media,
//! applications, propagation, error and mobility models.

use core::fmt;
use std::collections::BTreeMap;
use std::sync::Arc;

use hopcast_protocols::application::Application;
use hopcast_protocols::random::{Stream, Streams};
use hopcast_protocols::routing::{Node, Routing};
use hopcast_protocols::time::Instant;
use hopcast_protocols::transport::media::{self, MediaCongestionControl};
use hopcast_protocols::transport::tcp::congestion::CongestionControl;
use hopcast_radio::errors::ErrorModel;
use hopcast_radio::propagation::{Position, Propagation};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::mobility::Mobility;

/// Makes the routing protocol of a node.
pub type MakeRouting = Arc<dyn Fn(Node) -> Box<dyn Routing> + Send + Sync>;
/// Makes the congestion control of one end of a connection.
pub type MakeCongestionControl = Arc<dyn Fn() -> Box<dyn CongestionControl> + Send + Sync>;
/// Makes the congestion control of the sender of a session that has this source.
pub type MakeMediaCongestionControl = Arc<dyn Fn(media::Source) -> Box<dyn MediaCongestionControl> + Send + Sync>;
/// Makes the application of a flow. It may be called more than once for a flow of a run.
pub type MakeApplication = Arc<dyn Fn(FlowContext<'_>) -> Box<dyn Application> + Send + Sync>;
/// Makes the propagation model of a run for a carrier frequency in hertz.
pub type MakePropagation = Arc<dyn Fn(f64) -> Box<dyn Propagation> + Send + Sync>;
/// Makes the error model of a run from streams of random numbers: one for each part with a separate state.
pub type MakeErrorModel = Arc<dyn Fn(Streams) -> Box<dyn ErrorModel> + Send + Sync>;
/// Makes the mobility model of a node from its position and a stream of random numbers.
pub type MakeMobility = Arc<dyn Fn(Position, Stream) -> Box<dyn Mobility> + Send + Sync>;

/// Information for an application about its flow.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FlowContext<'a> {
    /// Name of the flow in the scenario.
    pub name: &'a str,
    /// Start of the flow.
    pub start: Instant,
    /// Random numbers of this application.
    pub random: Stream,
}

/// A model that a user has added, with its parameters.
pub struct Added<M: ?Sized> {
    /// Name in the scenario.
    pub name: String,
    /// Makes the model.
    pub make: Arc<M>,
}

/// A congestion control of TCP that a user has added.
pub type CustomCongestionControl = Added<dyn Fn() -> Box<dyn CongestionControl> + Send + Sync>;
/// A congestion control of media that a user has added.
pub type CustomMediaCongestionControl = Added<dyn Fn(media::Source) -> Box<dyn MediaCongestionControl> + Send + Sync>;

/// A congestion control of media.
#[derive(Clone, Debug, PartialEq)]
pub enum MediaCongestion {
    /// One that hopcast has.
    BuiltIn(media::Congestion),
    /// One that a user has added.
    Custom(CustomMediaCongestionControl),
}

impl MediaCongestion {
    /// That of the sender of a session that has sent nothing.
    pub(crate) fn start(&self, source: media::Source) -> Box<dyn media::MediaCongestionControl> {
        match self {
            Self::BuiltIn(kind) => kind.start(source),
            Self::Custom(custom) => (custom.make)(source),
        }
    }
}

impl<M: ?Sized> Clone for Added<M> {
    fn clone(&self) -> Self {
        Self { name: self.name.clone(), make: Arc::clone(&self.make) }
    }
}

impl<M: ?Sized> fmt::Debug for Added<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Added").field("name", &self.name).finish_non_exhaustive()
    }
}

impl<M: ?Sized> PartialEq for Added<M> {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && Arc::ptr_eq(&self.make, &other.make)
    }
}

/// Models that a scenario can name. The default has none.
///
/// Each kind of models has two functions. `add_*` takes a function that makes a model; hopcast reads the parameters of
/// the scenario as its type `C`, an empty table if there are none. `add_*_factory` is for models whose parameters have no
/// fixed type: its function reads them, and returns a function that makes models, or an error message. A later addition
/// replaces an earlier one of the same kind and name.
#[derive(Clone, Default)]
pub struct Registry {
    pub(crate) routing: Models<MakeRouting>,
    pub(crate) congestion_control: Models<MakeCongestionControl>,
    pub(crate) media_congestion_control: Models<MakeMediaCongestionControl>,
    pub(crate) application: Models<MakeApplication>,
    pub(crate) propagation: Models<MakePropagation>,
    pub(crate) error_model: Models<MakeErrorModel>,
    pub(crate) mobility: Models<MakeMobility>,
}

impl Registry {
    /// Adds a routing protocol: `routing = { protocol = "custom", name = NAME, parameters = { … } }` uses it. `make`
    /// makes the state machine of a node.
    pub fn add_routing<C, M>(&mut self, name: &str, make: impl Fn(Node, &C) -> M + Send + Sync + 'static)
    where
        C: DeserializeOwned + Send + Sync + 'static,
        M: Routing + 'static,
    {
        let make = Arc::new(make);
        self.add_routing_factory(name, move |parameters| {
            let (config, make) = (read::<C>(parameters)?, Arc::clone(&make));
            Ok(Arc::new(move |node| -> Box<dyn Routing> { Box::new(make(node, &config)) }))
        });
    }

    /// Adds a routing protocol that reads its parameters.
    pub fn add_routing_factory(&mut self, name: &str, read: impl Read<MakeRouting>) {
        self.routing.add(name, read);
    }

    /// What makes the routing protocol of this name with these parameters, or what is wrong with them. `None`: there is none.
    pub fn routing(&self, name: &str, parameters: Map<String, Value>) -> Option<Result<MakeRouting, String>> {
        self.routing.get(name, parameters)
    }

    /// The names of all routing protocols that were added.
    pub fn routing_names(&self) -> impl Iterator<Item = &str> {
        self.routing.names()
    }

    /// Adds a congestion control of TCP: `transport = { protocol = "tcp", congestion = { name = NAME, parameters = { … } } }` uses it.
    /// `make` makes that of one end of a connection.
    pub fn add_congestion_control<C, M>(&mut self, name: &str, make: impl Fn(&C) -> M + Send + Sync + 'static)
    where
        C: DeserializeOwned + Send + Sync + 'static,
        M: CongestionControl + 'static,
    {
        let make = Arc::new(make);
        self.add_congestion_control_factory(name, move |parameters| {
            let (config, make) = (read::<C>(parameters)?, Arc::clone(&make));
            Ok(Arc::new(move || -> Box<dyn CongestionControl> { Box::new(make(&config)) }))
        });
    }

    /// Adds a congestion control that reads its parameters.
    pub fn add_congestion_control_factory(&mut self, name: &str, read: impl Read<MakeCongestionControl>) {
        self.congestion_control.add(name, read);
    }

    /// Adds a congestion control of media: `transport = { protocol = "rtp", congestion = NAME, parameters = { … } }` uses it. `make`
    /// makes that of the sender of one session from what its source can do.
    pub fn add_media_congestion_control<C, M>(
        &mut self,
        name: &str,
        make: impl Fn(media::Source, &C) -> M + Send + Sync + 'static,
    ) where
        C: DeserializeOwned + Send + Sync + 'static,
        M: MediaCongestionControl + 'static,
    {
        let make = Arc::new(make);
        self.add_media_congestion_control_factory(name, move |parameters| {
            let (config, make) = (read::<C>(parameters)?, Arc::clone(&make));
            Ok(Arc::new(move |source| -> Box<dyn MediaCongestionControl> { Box::new(make(source, &config)) }))
        });
    }

    /// Adds a congestion control of media that reads its parameters.
    pub fn add_media_congestion_control_factory(&mut self, name: &str, read: impl Read<MakeMediaCongestionControl>) {
        self.media_congestion_control.add(name, read);
    }

    /// Adds an application: `application = { kind = "custom", name = NAME, parameters = { … } }` of a flow uses it.
    /// `make` makes that of one flow from the start of the flow and a stream of random numbers.
    pub fn add_application<C, M>(&mut self, name: &str, make: impl Fn(Instant, Stream, &C) -> M + Send + Sync + 'static)
    where
        C: DeserializeOwned + Send + Sync + 'static,
        M: Application + 'static,
    {
        let make = Arc::new(make);
        self.add_application_factory(name, move |parameters| {
            let (config, make) = (read::<C>(parameters)?, Arc::clone(&make));
            Ok(Arc::new(move |flow| -> Box<dyn Application> { Box::new(make(flow.start, flow.random, &config)) }))
        });
    }

    /// Adds an application that reads its parameters.
    pub fn add_application_factory(&mut self, name: &str, read: impl Read<MakeApplication>) {
        self.application.add(name, read);
    }

    /// Adds a propagation model: `radio.propagation = { model = "custom", name = NAME, parameters = { … } }` uses it. `make` makes the
    /// model of a run for a carrier frequency in hertz. Shadowing and fading apply to it as to the built-in models.
    pub fn add_propagation<C, M>(&mut self, name: &str, make: impl Fn(f64, &C) -> M + Send + Sync + 'static)
    where
        C: DeserializeOwned + Send + Sync + 'static,
        M: Propagation + 'static,
    {
        let make = Arc::new(make);
        self.add_propagation_factory(name, move |parameters| {
            let (config, make) = (read::<C>(parameters)?, Arc::clone(&make));
            Ok(Arc::new(move |frequency| -> Box<dyn Propagation> { Box::new(make(frequency, &config)) }))
        });
    }

    /// Adds a propagation model that reads its parameters.
    pub fn add_propagation_factory(&mut self, name: &str, read: impl Read<MakePropagation>) {
        self.propagation.add(name, read);
    }

    /// Adds an error model: `radio.errors = { model = "custom", name = NAME, parameters = { … } }` uses it. `make` makes
    /// the model of a run from streams of random numbers; [`Streams::stream`] takes the number of a stream's purpose,
    /// such as a station or a pair of them.
    pub fn add_error_model<C, M>(&mut self, name: &str, make: impl Fn(Streams, &C) -> M + Send + Sync + 'static)
    where
        C: DeserializeOwned + Send + Sync + 'static,
        M: ErrorModel + 'static,
    {
        let make = Arc::new(make);
        self.add_error_model_factory(name, move |parameters| {
            let (config, make) = (read::<C>(parameters)?, Arc::clone(&make));
            Ok(Arc::new(move |streams| -> Box<dyn ErrorModel> { Box::new(make(streams, &config)) }))
        });
    }

    /// Adds an error model that reads its parameters.
    pub fn add_error_model_factory(&mut self, name: &str, read: impl Read<MakeErrorModel>) {
        self.error_model.add(name, read);
    }

    /// Adds a mobility model: `mobility = { model = "custom", name = NAME, parameters = { … } }` uses it. `make` makes
    /// the model of a node from its position and a stream of random numbers.
    pub fn add_mobility<C, M>(&mut self, name: &str, make: impl Fn(Position, Stream, &C) -> M + Send + Sync + 'static)
    where
        C: DeserializeOwned + Send + Sync + 'static,
        M: Mobility + 'static,
    {
        let make = Arc::new(make);
        self.add_mobility_factory(name, move |parameters| {
            let (config, make) = (read::<C>(parameters)?, Arc::clone(&make));
            Ok(Arc::new(move |place, stream| -> Box<dyn Mobility> { Box::new(make(place, stream, &config)) }))
        });
    }

    /// Adds a mobility model that reads its parameters.
    pub fn add_mobility_factory(&mut self, name: &str, read: impl Read<MakeMobility>) {
        self.mobility.add(name, read);
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Registry");
        shown.field("routing", &self.routing.0.keys());
        shown.field("congestion_control", &self.congestion_control.0.keys());
        shown.field("media_congestion_control", &self.media_congestion_control.0.keys());
        shown.field("application", &self.application.0.keys());
        shown.field("propagation", &self.propagation.0.keys());
        shown.field("error_model", &self.error_model.0.keys());
        shown.field("mobility", &self.mobility.0.keys()).finish()
    }
}

/// A function that reads the parameters of a scenario and returns a function that makes models (`M`), or an error
/// message.
pub trait Read<M>: Fn(Map<String, Value>) -> Result<M, String> + Send + Sync + 'static {}

impl<M, F: Fn(Map<String, Value>) -> Result<M, String> + Send + Sync + 'static> Read<M> for F {}

/// The models of one kind, by name.
pub(crate) struct Models<M>(BTreeMap<String, Arc<dyn Read<M>>>);

impl<M> Models<M> {
    fn add(&mut self, name: &str, read: impl Read<M>) {
        self.0.insert(name.to_owned(), Arc::new(read));
    }

    /// What makes the model of this name with these parameters, or what is wrong with them. `None`: there is no such model.
    pub(crate) fn get(&self, name: &str, parameters: Map<String, Value>) -> Option<Result<M, String>> {
        self.0.get(name).map(|read| read(parameters))
    }

    /// The names of all models.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }
}

impl<M> Clone for Models<M> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<M> Default for Models<M> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

/// The parameters of a scenario as a type of the model, or what is wrong with them.
fn read<C: DeserializeOwned>(parameters: Map<String, Value>) -> Result<C, String> {
    serde_json::from_value(Value::Object(parameters)).map_err(|error| error.to_string())
}
