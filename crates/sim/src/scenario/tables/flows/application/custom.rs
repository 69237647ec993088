//! `kind = "custom"`.

use super::super::super::Resolver;
use super::super::super::custom::Custom;
use super::{Application, Flow};
use crate::scenario::model;

impl Application for Custom {
    fn resolve(self, resolver: &mut Resolver<'_>, flow: &mut Flow<'_, '_>) -> Option<model::Application> {
        let models = &resolver.source.registry.application;
        let make = resolver.custom(&["flows", flow.index, "application"], "application", &self, models)?;
        let application = model::Application::from(make);
        resolver.check_datagram(flow, "parameters", application.specimen().largest_write().into());
        Some(application)
    }
}
