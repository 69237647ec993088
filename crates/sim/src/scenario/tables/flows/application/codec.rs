//! `kind = "codec"`.

use hopcast_protocols::application::{CodecConfig, CodecModel, CodecSource, Encoder, Ladder};
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;

use super::super::super::Resolver;
use super::{Application, Flow, PACKET};
use crate::scenario::declare::{computed, is};
use crate::scenario::model;
use crate::scenario::quantity::{Rate, Size};
use crate::scenario::traces::DEFAULT;
use crate::video_trace::VideoTrace;

/// Frames per second by default: of video (RFC 8593, section 5), and of a shared screen.
const VIDEO: f64 = 30.0;
const SHARED: f64 = 5.0;

/// An encoder of video that follows the target rate of its transport (RFC 8593); writes do not block. Over a transport other than RTP,
/// which has no target rate, it stays at `min_rate`.
#[derive(Deserialize, JsonSchema)]
pub(in super::super) struct Keys {
    /// How sizes and intervals of frames vary.
    #[schemars(extend("x-default" = is("transient", "the statistical model of RFC 8593, section 5")))]
    model: Model,
    /// Least rate that the encoder produces; it starts with it.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1e12, "x-default" = is("150 kb/s", "RFC 8593, section 5.4")))]
    min_rate: Rate,
    /// Greatest rate that the encoder produces.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1e12, "x-default" = is("1.5 Mb/s", "RFC 8593, section 5.4")))]
    max_rate: Rate,
    /// Video traces of one film at several rates, for `trace` and `hybrid`: files as `file` of `video-trace` names them, of which sizes alone
    /// count. Between the rates of two traces the encoder produces a mean of both, and beyond them larger or smaller frames of the nearest one.
    #[schemars(extend("minItems" = 1, "x-default" = computed("the bundled `big-buck-bunny`")))]
    traces: Option<Vec<String>>,
    /// Frames per second.
    #[schemars(extend("minimum" = 0.1, "maximum" = 1000, "x-default" = computed("30; 5 for `content-sharing`; that of the first trace for `trace` and `hybrid`")))]
    frame_rate: Option<f64>,
    /// Largest payload of one packet; hopcast splits larger frames into several packets.
    #[schemars(extend("minimum" = 1, "maximum" = 65_507, "x-default" = computed(PACKET)))]
    packet: Option<Size>,
}

/// How the frames of an encoder vary.
#[derive(Clone, Copy, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Model {
    /// Sizes and intervals vary around the target rate (RFC 8593, section 5.3).
    Steady,
    /// Likewise, and an abrupt change of the target rate costs a large frame, then smaller ones (section 5.2).
    Transient,
    /// A shared screen: small frames, and now and then a large one.
    ContentSharing,
    /// Frames of `traces`, at even intervals (section 6).
    Trace,
    /// Likewise, and an abrupt change costs what it costs with `transient` (section 7).
    Hybrid,
}

impl Application for Keys {
    fn resolve(self, resolver: &mut Resolver<'_>, flow: &mut Flow<'_, '_>) -> Option<model::Application> {
        let packet = resolver.packet(flow, self.packet);
        let traces = self.traces(resolver, flow)?;
        let frame_rate = resolver.ledger.pick(&flow.at("frame_rate"), self.frame_rate, || match self.model {
            Model::ContentSharing => (SHARED, "default for a shared screen".into()),
            Model::Steady | Model::Transient => (VIDEO, "default: RFC 8593, section 5".into()),
            Model::Trace | Model::Hybrid => {
                let interval = traces.first().map_or(1.0 / VIDEO, |trace| trace.interval.as_secs_f64());
                (1.0 / interval, "default: that of the first trace".into())
            }
        });
        let (min_rate, max_rate) = (self.min_rate.0, self.max_rate.0);
        if min_rate > max_rate {
            let problem = format!("is more than max_rate ({})", self.max_rate);
            resolver.report(&flow.at("min_rate"), problem, "at most max_rate");
        }
        resolver.check_packet_rate(flow, max_rate / (8.0 * f64::from(packet)), packet);
        let ladder = || Ladder::new(traces.iter().map(|trace| Arc::clone(&trace.frames)));
        let model = match self.model {
            Model::Steady => CodecModel::Steady,
            Model::Transient => CodecModel::Transient,
            Model::ContentSharing => CodecModel::ContentSharing,
            Model::Trace => CodecModel::Trace(ladder()),
            Model::Hybrid => CodecModel::Hybrid(ladder()),
        };
        let encoder = Encoder { min_rate, max_rate: max_rate.max(min_rate), frame_rate };
        let config = CodecConfig { model, encoder, packet };
        Some(model::Application::new(move |start, random| CodecSource::new(config.clone(), start, random)))
    }
}

impl Keys {
    /// The traces of the models that have some; `None` if one is missing, which is reported.
    fn traces(&self, resolver: &mut Resolver<'_>, flow: &mut Flow<'_, '_>) -> Option<Vec<VideoTrace>> {
        let at = flow.at("traces");
        if !matches!(self.model, Model::Trace | Model::Hybrid) {
            if self.traces.is_some() {
                resolver.report(&at, "have no effect with this model", "model = \"trace\" or \"hybrid\"");
            }
            return Some(Vec::new());
        }
        let names = match &self.traces {
            Some(names) => {
                resolver.ledger.note_given(&at);
                names.clone()
            }
            None => {
                resolver.ledger.note(&at, DEFAULT, "default: bundled with hopcast");
                vec![DEFAULT.to_owned()]
            }
        };
        let mut found = Vec::new();
        for (place, name) in names.iter().enumerate() {
            match flow.traces.find(name) {
                Ok(trace) => found.push(trace),
                Err((problem, expected)) => {
                    resolver.report(&[&at[..], &[&place.to_string()]].concat(), problem, expected);
                }
            }
        }
        (found.len() == names.len()).then_some(found)
    }
}
