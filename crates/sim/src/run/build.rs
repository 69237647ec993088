//! Puts the parts of a run together.

use hopcast_protocols::time::Instant;
use hopcast_radio::errors::PacketErrors;
use hopcast_radio::mac::{Protection, StationId};
use hopcast_radio::phy::Phy;

use super::Simulation;
use super::association::{Associations, Counts};
use super::hosts::{Hosts, Observer};
use super::real::RealHosts;
use super::stations::Stations;
use crate::engine::Engine;
use crate::host::SduPool;
use crate::id::NodeId;
use crate::layout;
use crate::metrics::Counters;
use crate::network::{self, Network};
use crate::scenario::model::{Cloud, Errors, LossLevel, Scenario};
use crate::stop::Stop;
use crate::topology::Topology;
use crate::traffic::{Hosting, Machines, TrafficError, machines};

/// A run of `scenario` with `seed`, at its start; `None` as soon as `goes_on` says no.
///
/// # Errors
/// Flows that can't be set up.
pub(super) fn simulation(
    scenario: &Scenario,
    seed: u64,
    hosting: Hosting,
    goes_on: &dyn Fn() -> bool,
) -> Result<Option<Simulation>, TrafficError> {
    let radio = &scenario.radio;
    let radios = layout::stations(scenario);
    let motion = layout::motion(scenario, seed);
    let Some(topology) = Topology::new_while(radio, &radios, motion, seed, goes_on) else { return Ok(None) };
    let Some(network) = Network::new_while(scenario, &topology, goes_on) else { return Ok(None) };
    let mut machines = machines(scenario, &network, seed, hosting)?;
    let mut warnings = core::mem::take(&mut machines.warnings);
    warnings.extend(scenario.cloud.as_ref().and_then(|cloud| hidden_batches(cloud, &radios, &topology)));
    let stations = Stations::new(radio, &radios, seed);
    let start = |radio: &layout::Station<'_>| (stations.phy(radio.config), stations.protection(radio.config).0);
    let starts: Vec<(Phy, Protection)> = radios.iter().map(start).collect();
    let hosts = hosts(scenario, seed, hosting, machines, &starts);
    let mac = |(radio, index): (&layout::Station<'_>, u32)| {
        let mut mac = stations.mac(StationId(index), radio, hosts.cards_at(radio.node));
        let router = hosts.hosts[radio.node.0 as usize].router();
        if router.is_some_and(|router| router.protocol().is_promiscuous()) {
            mac.set_promiscuous();
        }
        if hosts.hosts[radio.node.0 as usize].device().is_some() {
            mac.keep_links();
        }
        mac
    };
    let macs = radios.iter().zip(0..).map(mac).collect();
    let (wires, ports) = (layout::wires(scenario, seed), hosts.ports.clone());
    let mut engine = Engine::with_ports(topology.into_medium(), macs, wires, ports, hosts);
    if !radio.standard.acknowledges() {
        engine.set_unacknowledged();
    }
    let mut motion = layout::motion(scenario, seed);
    let nodes = (0..engine.ports().hosts() as u32).map(NodeId);
    let positions = nodes.map(|node| motion.position(node, Instant::START)).collect();
    let end = Instant::START + scenario.duration;
    Ok(Some(Simulation { engine, end, is_finished: false, positions, motion, warnings }))
}

/// A warning of batches that a station does not hear and that block it.
fn hidden_batches(cloud: &Cloud, radios: &[layout::Station<'_>], topology: &Topology) -> Option<String> {
    let radio_of =
        |node: &NodeId| radios.iter().position(|radio| radio.node == *node).map(|index| StationId(index as u32));
    let stations: Vec<StationId> = cloud.devices.iter().filter_map(radio_of).collect();
    let are_hidden = |&station: &StationId| topology.hears_all(station, &stations) == Some(false);
    (cloud.config.batch > 1 && stations.iter().any(are_hidden)).then(|| {
        "cloud.batch: not all devices sense each other; a batch that a device does not hear blocks its receiver for all \
         attempts at a packet, so streams stall more often than they would"
            .into()
    })
}

/// The hosts of a run, whose stations have the physical layers and the protection of `starts`, with all that stands between them and
/// their interfaces.
fn hosts(scenario: &Scenario, seed: u64, hosting: Hosting, machines: Machines, starts: &[(Phy, Protection)]) -> Hosts {
    let Machines { mut hosts, flows, listeners, .. } = machines;
    let real = match hosting {
        Hosting::Simulated => None,
        Hosting::Real => Some(Box::new(RealHosts::new(scenario, &hosts, listeners))),
    };
    let errors = match &scenario.radio.errors {
        Errors::Packet { steps, level: LossLevel::Network } => Some(PacketErrors::stepped(seed, steps.clone())),
        _ => None,
    };
    let ports = layout::ports(scenario);
    let observer = Observer::new(scenario, seed, &ports, &hosts);
    let associations = Associations::new(scenario, starts, seed);
    if !associations.is_empty() {
        network::dissociate(scenario, &mut hosts);
    }
    Hosts {
        counters: vec![Counters::default(); hosts.len()],
        actions: vec![Counts::default(); hosts.len()],
        hosts,
        flows,
        pool: SduPool::default(),
        errors,
        ports,
        accesses: layout::accesses(scenario, seed),
        cards: layout::cards(scenario),
        observer,
        associations,
        real,
        stop: Stop::default(),
    }
}
