//! What users add to the vocabulary of scenarios: their routing protocols, congestion controls, propagation and mobility models,
//! in crates of their own.

use core::fmt;
use std::collections::BTreeMap;
use std::sync::Arc;

use hopcast_protocols::random::Stream;
use hopcast_protocols::routing::{Node, Routing};
use hopcast_protocols::transport::tcp::congestion::CongestionControl;
use hopcast_radio::propagation::{Position, Propagation};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::mobility::Mobility;
use crate::scenario::model::{CongestionLaw, MakeMobility, MakePropagation, RoutingProtocol};

/// Additions that a scenario may name. One without additions is the default.
#[derive(Clone, Default)]
pub struct Registry {
    routing: BTreeMap<String, RoutingFactory>,
    congestion_control: BTreeMap<String, CongestionFactory>,
    propagation: BTreeMap<String, PropagationFactory>,
    mobility: BTreeMap<String, MobilityFactory>,
}

/// Makes what makes models of nodes from a scenario's parameters, or says what is wrong with them.
type MobilityFactory = Arc<dyn Fn(Map<String, Value>) -> Result<MakeMobility, String> + Send + Sync>;

/// Makes what makes models from a scenario's parameters, or says what is wrong with them.
type PropagationFactory = Arc<dyn Fn(Map<String, Value>) -> Result<MakePropagation, String> + Send + Sync>;

/// Makes a protocol of a scenario's parameters, or says what is wrong with them.
type RoutingFactory = Arc<dyn Fn(Map<String, Value>) -> Result<RoutingProtocol, String> + Send + Sync>;

/// Makes congestion controls of a scenario's parameters, or says what is wrong with them.
type CongestionFactory = Arc<dyn Fn(Map<String, Value>) -> Result<MakeCongestionControl, String> + Send + Sync>;

/// Makes the congestion control of one end of a connection.
pub type MakeCongestionControl = Arc<dyn Fn() -> Box<dyn CongestionControl> + Send + Sync>;

impl Registry {
    /// Adds a routing protocol: `routing = { protocol = "custom", name = NAME, parameters = { … } }` uses it. The parameters
    /// are read as `C`, which sees an empty table where there are none; `make` makes the machine of a node.
    ///
    /// A name that is there already is given to the later one.
    pub fn add_routing<C, M>(&mut self, name: &str, make: impl Fn(Node, &C) -> M + Send + Sync + 'static)
    where
        C: DeserializeOwned + Send + Sync + 'static,
        M: Routing + 'static,
    {
        let (own_name, make) = (name.to_owned(), Arc::new(make));
        let factory = move |parameters: Map<String, Value>| {
            let config: C = serde_json::from_value(Value::Object(parameters)).map_err(|error| error.to_string())?;
            let make = Arc::clone(&make);
            Ok(RoutingProtocol {
                name: own_name.clone(),
                make: Arc::new(move |node| -> Box<dyn Routing> { Box::new(make(node, &config)) }),
            })
        };
        self.routing.insert(name.to_owned(), Arc::new(factory));
    }

    /// Adds a law of TCP's congestion window: `transport = { protocol = "tcp", congestion = { name = NAME, parameters = { … } } }`
    /// uses it. The parameters are read as `C`, which sees an empty table where there are none; `make` makes the law of one end
    /// of a connection.
    ///
    /// A name that is there already is given to the later one.
    pub fn add_congestion_control<C, M>(&mut self, name: &str, make: impl Fn(&C) -> M + Send + Sync + 'static)
    where
        C: DeserializeOwned + Send + Sync + 'static,
        M: CongestionControl + 'static,
    {
        let make = Arc::new(make);
        self.add_congestion_factory(name, move |parameters| {
            let config: C = serde_json::from_value(Value::Object(parameters)).map_err(|error| error.to_string())?;
            let make = Arc::clone(&make);
            Ok(Arc::new(move || -> Box<dyn CongestionControl> { Box::new(make(&config)) }))
        });
    }

    /// The same for laws whose parameters have no type known beforehand: `read` makes what makes them, or says what is wrong with
    /// the parameters.
    pub fn add_congestion_factory(
        &mut self,
        name: &str,
        read: impl Fn(Map<String, Value>) -> Result<MakeCongestionControl, String> + Send + Sync + 'static,
    ) {
        self.congestion_control.insert(name.to_owned(), Arc::new(read));
    }

    /// The congestion control of this name with these parameters.
    ///
    /// # Errors
    /// What is wrong with the parameters. `None`: there is no such law.
    pub(crate) fn congestion_control(
        &self,
        name: &str,
        parameters: Map<String, Value>,
    ) -> Option<Result<CongestionLaw, String>> {
        let made = self.congestion_control.get(name)?(parameters);
        Some(made.map(|make| CongestionLaw { name: name.to_owned(), make }))
    }

    /// Adds a propagation model: `radio.propagation = { model = "custom", name = NAME, parameters = { … } }` uses it. The
    /// parameters are read as `C`, which sees an empty table where there are none; `make` makes the model of a run for a carrier
    /// frequency in hertz. Shadowing and fading apply to it as to the built-in models.
    ///
    /// A later addition replaces an earlier one of the same name.
    pub fn add_propagation<C, M>(&mut self, name: &str, make: impl Fn(f64, &C) -> M + Send + Sync + 'static)
    where
        C: DeserializeOwned + Send + Sync + 'static,
        M: Propagation + 'static,
    {
        let make = Arc::new(make);
        let factory = move |parameters: Map<String, Value>| -> Result<MakePropagation, String> {
            let config: C = serde_json::from_value(Value::Object(parameters)).map_err(|error| error.to_string())?;
            let make = Arc::clone(&make);
            Ok(Arc::new(move |frequency| -> Box<dyn Propagation> { Box::new(make(frequency, &config)) }))
        };
        self.propagation.insert(name.to_owned(), Arc::new(factory));
    }

    /// Adds a mobility model: `mobility = { model = "custom", name = NAME, parameters = { … } }` uses it. The parameters are
    /// read as `C`, which sees an empty table where there are none; `make` makes the model of a node from where the node is
    /// placed and a stream of random numbers of its own.
    ///
    /// A later addition replaces an earlier one of the same name.
    pub fn add_mobility<C, M>(&mut self, name: &str, make: impl Fn(Position, Stream, &C) -> M + Send + Sync + 'static)
    where
        C: DeserializeOwned + Send + Sync + 'static,
        M: Mobility + 'static,
    {
        let make = Arc::new(make);
        let factory = move |parameters: Map<String, Value>| -> Result<MakeMobility, String> {
            let config: C = serde_json::from_value(Value::Object(parameters)).map_err(|error| error.to_string())?;
            let make = Arc::clone(&make);
            Ok(Arc::new(move |place, stream| -> Box<dyn Mobility> { Box::new(make(place, stream, &config)) }))
        };
        self.mobility.insert(name.to_owned(), Arc::new(factory));
    }

    /// The mobility model of this name with these parameters.
    ///
    /// # Errors
    /// What is wrong with the parameters. `None`: there is no such model.
    pub(crate) fn mobility(&self, name: &str, parameters: Map<String, Value>) -> Option<Result<MakeMobility, String>> {
        self.mobility.get(name).map(|factory| factory(parameters))
    }

    /// The names of all mobility models.
    pub(crate) fn mobility_names(&self) -> impl Iterator<Item = &str> {
        self.mobility.keys().map(String::as_str)
    }

    /// The propagation model of this name with these parameters.
    ///
    /// # Errors
    /// What is wrong with the parameters. `None`: there is no such model.
    pub(crate) fn propagation(
        &self,
        name: &str,
        parameters: Map<String, Value>,
    ) -> Option<Result<MakePropagation, String>> {
        self.propagation.get(name).map(|factory| factory(parameters))
    }

    /// The names of all propagation models.
    pub(crate) fn propagation_names(&self) -> impl Iterator<Item = &str> {
        self.propagation.keys().map(String::as_str)
    }

    /// The names of all congestion controls.
    pub(crate) fn congestion_control_names(&self) -> impl Iterator<Item = &str> {
        self.congestion_control.keys().map(String::as_str)
    }

    /// The routing protocol of this name with these parameters.
    ///
    /// # Errors
    /// What is wrong with the parameters. `None`: there is no such protocol.
    pub(crate) fn routing(
        &self,
        name: &str,
        parameters: Map<String, Value>,
    ) -> Option<Result<RoutingProtocol, String>> {
        self.routing.get(name).map(|factory| factory(parameters))
    }

    /// The names of all routing protocols.
    pub(crate) fn routing_names(&self) -> impl Iterator<Item = &str> {
        self.routing.keys().map(String::as_str)
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Registry");
        shown.field("routing", &self.routing.keys());
        shown.field("congestion_control", &self.congestion_control.keys());
        shown.field("propagation", &self.propagation.keys());
        shown.field("mobility", &self.mobility.keys()).finish()
    }
}
