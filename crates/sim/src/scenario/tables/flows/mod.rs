//! Streams of data between nodes: `flows`.

mod application;
mod fec;
mod player;
mod transport;

use std::collections::{BTreeMap, BTreeSet};

use hopcast_protocols::time::Instant;
use hopcast_radio::mac::edca::UserPriority;
use schemars::JsonSchema;
use serde::Deserialize;

use super::super::declare::{is, nothing};
use super::super::model;
use super::super::nearest;
use super::super::quantity::Time;
use super::super::read::Later;
use super::super::traces::Traces;
use super::directory::Directory;
use super::{Resolver, instant};
use crate::host::FEC_HEADER;
use crate::id::NodeId;
use fec::Fec;
use player::Player;
use transport::Transport;

/// What is wrong with a flow at a hub.
const IS_HUB: &str = "is a hub, which only repeats what others send";

/// A stream of data.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Flow {
    /// Name of the flow.
    #[schemars(extend("x-name" = true))]
    name: String,
    /// Name of the node that sends.
    from: String,
    /// Name of the node that receives.
    to: String,
    /// Names of nodes that the flow passes through, in this order, on the shortest paths between them.
    #[schemars(extend("x-default" = nothing("the shortest path", "")))]
    via: Option<Vec<String>>,
    /// UDP, TCP or DCCP port of the flow at the receiver. In an emulation, programs send to this port or listen on it.
    #[schemars(extend("minimum" = 1, "maximum" = 65_535, "x-default" = nothing("a free port from 49152 on", "RFC 6335, section 6")))]
    port: Option<u16>,
    /// Access category of the flow's packets when `radio.edca` is on.
    #[schemars(extend("x-default" = is("best-effort", "")))]
    priority: Priority,
    /// Time at which the application starts. If the run ends before this time, the application sends nothing.
    #[schemars(extend("minimum" = 0, "maximum" = 315_576_000, "x-default" = is("0 s", "at the start of the run")))]
    start: Time,
    /// Time at which the application stops.
    #[schemars(extend("minimum" = 1e-9, "maximum" = 315_576_000, "x-default" = nothing("end of the run", "")))]
    stop: Option<Time>,
    /// Transport protocol of the flow.
    transport: Transport,
    /// Forward error correction: repair packets from which the receiver recovers lost packets (RFC 6865); over UDP, RTP,
    /// TFRC and ADTFRC.
    #[schemars(extend("x-default" = nothing("none", "")))]
    fec: Option<Fec>,
    /// Data that the application sends.
    application: application::Kinds,
    /// A media player at the receiving end, with a buffer; for `audio`, `cbr`, `video-trace`, and custom
    /// media; with a jitter buffer for `codec` too.
    #[schemars(extend("x-default" = nothing("none", "")))]
    player: Option<Player>,
    /// Name of a flow that ends where this one starts. hopcast tells the application what arrives on that flow, so that
    /// it can answer. For `custom` applications only.
    #[schemars(extend("x-default" = nothing("none", "")))]
    listens_to: Option<String>,
}

/// An access category (IEEE 802.11-2020, Table 10-1), with the user priority that its packets get.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Priority {
    /// 1.
    Background,
    /// 0.
    BestEffort,
    /// 5.
    Video,
    /// 6.
    Voice,
}

impl From<Priority> for UserPriority {
    fn from(priority: Priority) -> Self {
        Self::new(match priority {
            Priority::BestEffort => 0,
            Priority::Background => 1,
            Priority::Video => 5,
            Priority::Voice => 6,
        })
    }
}

/// Transport that carries an application's datagrams.
#[derive(Clone, Copy)]
struct Carrier<'a> {
    transport: &'a model::Transport,
    /// Bytes that hopcast adds to the largest datagrams.
    overhead: u32,
    /// Largest IP datagram on the radio in bytes; `None` without a limit.
    mtu: Option<u32>,
}

impl Resolver<'_> {
    pub(super) fn flows(
        &mut self,
        flows: &Later<Vec<Flow>>,
        groups: &[model::Group],
        mtu: Option<u32>,
    ) -> Vec<model::Flow> {
        let nodes = Directory::new(groups);
        let mut names = BTreeSet::new();
        let mut traces = Traces::new(self.source);
        let mut listeners = Vec::new();
        let mut ports = BTreeMap::new();
        let mut resolved = self.each(flows, &["flows"], |resolver, index, flow| {
            if !names.insert(flow.name.clone()) {
                let problem = "there is already a flow of this name";
                resolver.report(&["flows", index, "name"], problem, "a different name for each flow");
            }
            let listens_to = resolver.listens_to(index, &flow);
            let flow = resolver.flow(index, flow, &nodes, &mut traces, mtu)?;
            resolver.check_port(index, &flow, &mut ports);
            listeners.extend(listens_to.map(|heard| (flow.name.clone(), index.to_owned(), heard)));
            Some(flow)
        });
        for (name, index, heard) in listeners {
            if names.contains(&heard) {
                self.listen(&mut resolved, &name, &index, &heard);
            } else {
                let known: Vec<&str> = names.iter().map(String::as_str).collect();
                let problem = format!("there is no flow of this name{}", nearest::hint(&heard, &known));
                self.report(&["flows", &index, "listens_to"], problem, "the name of a flow");
            }
        }
        resolved
    }

    /// Enters the port that a flow asks for in `ports`, which has the names of flows by what they ask for.
    fn check_port(
        &mut self,
        index: &str,
        flow: &model::Flow,
        ports: &mut BTreeMap<(NodeId, &'static str, u16), String>,
    ) {
        let Some(port) = flow.port else { return };
        let protocol = flow.transport.name();
        if let Some(other) = ports.insert((flow.to, protocol, port), flow.name.clone()) {
            let problem =
                format!("flow \"{}\" asks for the same {protocol} port of this node as flow \"{other}\"", flow.name);
            self.report(&["flows", index, "port"], problem, "another port for one of them");
        }
    }

    /// The name of the flow that the application listens to, if it can.
    fn listens_to(&mut self, index: &str, flow: &Flow) -> Option<String> {
        let heard = flow.listens_to.clone()?;
        if !matches!(flow.application, application::Kinds::Custom(_)) {
            let problem = "has no effect: an application of this kind does not answer";
            self.report(&["flows", index, "listens_to"], problem, "application.kind = \"custom\"");
        }
        Some(heard)
    }

    /// Lets the application of the flow `name` listen to the flow `heard`.
    fn listen(&mut self, flows: &mut [model::Flow], name: &str, index: &str, heard: &str) {
        let place = |name: &str| flows.iter().position(|flow| flow.name == name);
        // One of them may be unknown for what is wrong with it, which is reported.
        let (Some(listener), Some(source)) = (place(name), place(heard)) else { return };
        if flows[source].to != flows[listener].from {
            let problem = "names a flow that does not end where this one starts";
            return self.report(&["flows", index, "listens_to"], problem, "a flow in the other direction");
        }
        flows[listener].listens_to = Some(source);
    }

    /// Reports unknown ends or an unknown application, and then returns `None`.
    fn flow(
        &mut self,
        index: &str,
        flow: Flow,
        nodes: &Directory<'_>,
        traces: &mut Traces<'_>,
        mtu: Option<u32>,
    ) -> Option<model::Flow> {
        let from = self.end(index, "from", &flow.from, nodes);
        let to = self.end(index, "to", &flow.to, nodes);
        if from.is_some() && from == to {
            self.report(&["flows", index, "to"], "is also the node that the flow starts at", "another node");
        }
        let via = self.via(index, &flow, [from, to], nodes);
        let (start, stop) = self.times(index, &flow);
        let transport = self.transport(index, flow.transport, mtu);
        let fec = flow.fec.map(|fec| self.fec(index, &fec, &transport));
        let carrier = Carrier { transport: &transport, overhead: if fec.is_some() { FEC_HEADER } else { 0 }, mtu };
        let application = self.application(index, flow.application, carrier, traces);
        let player = flow.player.map(|player| self.player(index, &player, application.as_ref()));
        let (from, to, application) = (from?, to?, application?);
        Some(model::Flow {
            name: flow.name,
            from,
            to,
            via,
            port: flow.port,
            priority: flow.priority.into(),
            start,
            stop,
            transport,
            application,
            fec,
            player,
            listens_to: None,
        })
    }

    /// The known nodes on the way. Reports what is wrong with the others.
    fn via(&mut self, index: &str, flow: &Flow, ends: [Option<NodeId>; 2], nodes: &Directory<'_>) -> Vec<NodeId> {
        let mut via = Vec::new();
        for (place, name) in flow.via.iter().flatten().enumerate() {
            let at = ["flows", index, "via", &place.to_string()];
            match nodes.find(name) {
                Some(node) if ends.contains(&Some(node)) => {
                    self.report(&at, "is an end of the flow", "nodes between its ends");
                }
                Some(node) if via.contains(&node) => self.report(&at, "is listed twice", "each node once"),
                Some(node) if nodes.group(node).is_hub => self.report(&at, IS_HUB, "a node that is not a hub"),
                Some(node) => via.push(node),
                None => {
                    let (problem, expected) = nodes.why_unknown(name);
                    self.report(&at, problem, expected);
                }
            }
        }
        via
    }

    fn end(&mut self, index: &str, key: &str, name: &str, nodes: &Directory<'_>) -> Option<NodeId> {
        let found = nodes.find(name);
        match found {
            Some(node) if nodes.group(node).is_hub => {
                self.report(&["flows", index, key], IS_HUB, "a node that is not a hub");
                return None;
            }
            Some(_) => {}
            None => {
                let (problem, expected) = nodes.why_unknown(name);
                self.report(&["flows", index, key], problem, expected);
            }
        }
        found
    }

    fn times(&mut self, index: &str, flow: &Flow) -> (Instant, Option<Instant>) {
        let (start, stop) = (instant(flow.start), flow.stop.map(instant));
        if stop.is_some_and(|stop| stop <= start) {
            self.report(&["flows", index, "stop"], format!("is not after the start ({})", flow.start), "");
        }
        (start, stop)
    }
}
