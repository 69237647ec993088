//! `kind = "codec"`.

use hopcast_protocols::application::{CodecConfig, CodecModel, CodecSource, Encoder};
use schemars::JsonSchema;
use serde::Deserialize;

use super::super::super::Resolver;
use super::{Application, Flow, PACKET};
use crate::scenario::declare::{computed, is};
use crate::scenario::model;
use crate::scenario::quantity::{Rate, Size};

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
    /// Frames per second.
    #[schemars(extend("minimum" = 0.1, "maximum" = 1000, "x-default" = computed("30; 5 for `content-sharing`")))]
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
}

impl Application for Keys {
    fn resolve(self, resolver: &mut Resolver<'_>, flow: &mut Flow<'_, '_>) -> Option<model::Application> {
        let packet = resolver.packet(flow, self.packet);
        let frame_rate = resolver.ledger.pick(&flow.at("frame_rate"), self.frame_rate, || match self.model {
            Model::ContentSharing => (SHARED, "default for a shared screen".into()),
            Model::Steady | Model::Transient => (VIDEO, "default: RFC 8593, section 5".into()),
        });
        let (min_rate, max_rate) = (self.min_rate.0, self.max_rate.0);
        if min_rate > max_rate {
            let problem = format!("is more than max_rate ({})", self.max_rate);
            resolver.report(&flow.at("min_rate"), problem, "at most max_rate");
        }
        resolver.check_packet_rate(flow, max_rate / (8.0 * f64::from(packet)), packet);
        let model = match self.model {
            Model::Steady => CodecModel::Steady,
            Model::Transient => CodecModel::Transient,
            Model::ContentSharing => CodecModel::ContentSharing,
        };
        let encoder = Encoder { min_rate, max_rate: max_rate.max(min_rate), frame_rate };
        let config = CodecConfig { model, encoder, packet };
        Some(model::Application::new(move |start, random| CodecSource::new(config, start, random)))
    }
}
