//! Parts of the nodes of a scenario, by index: radios, interfaces, wires, accesses, cards, and their movement.
//!
//! A node's interfaces are its radios, in the order of the scenario, then its ends of wires, in the order of the links.

use hopcast_protocols::random::{Purpose, Stream, hash};
use hopcast_radio::mac::{Bandwidth, Payload, StationId};
use hopcast_radio::phy::{Capability, ChannelWidth, ModulationClasses, Standard, WideChannel, distinct};
use hopcast_radio::propagation::Position;

use crate::engine::{Attachment, Ports};
use crate::host::Neighbours;
use crate::host::access::Access;
use crate::host::card::Cards;
use crate::id::NodeId;
use crate::mobility::{Mobility, Motion, Rest, place};
use crate::scenario::model::{Group, NodeRadio, Radio, Role, Scenario};
use crate::wired::{self, Wire};

/// A radio on the medium, and its node.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Station<'a> {
    /// The node.
    pub node: NodeId,
    /// Index among the radios of the node.
    pub radio: u32,
    /// Kind of the node.
    pub role: Role,
    /// Its parameters.
    pub config: &'a NodeRadio,
}

impl Station<'_> {
    /// Whether the other is a radio of the same network on the same channel, which may decode its frames and heed them.
    pub(crate) fn is_joined_to(&self, other: &Self) -> bool {
        self.config.network == other.config.network && self.config.channel == other.config.channel
    }
}

/// The radios of all nodes, by [`StationId`]: node by node.
pub(crate) fn stations(scenario: &Scenario) -> Vec<Station<'_>> {
    let mut stations = Vec::new();
    for (group, node) in groups(scenario).zip(0..) {
        let radios = group.radios.iter().zip(0..);
        stations.extend(radios.map(|(config, radio)| Station { node: NodeId(node), radio, role: group.role, config }));
    }
    stations
}

/// What each of the stations can send and receive, if they don't all have the standard of `radio`.
pub(crate) fn capabilities(radio: &Radio, stations: &[Station<'_>]) -> Option<Vec<Capability>> {
    let network = radio.capability();
    if stations.iter().all(|station| station.config.capability == network) {
        return None;
    }
    let phy = radio.phy();
    let capability = |station: &Station<'_>| match station.config.understands(&phy) {
        // It has the standard of 802.11g, and the rates of 802.11b.
        ModulationClasses::DSSS => Capability::new(Standard::HrDsss, None, radio.short_preamble),
        _ => station.config.capability,
    };
    Some(stations.iter().map(capability).collect())
}

/// All kinds of frames that the stations exchange, as what can send and receive each of them: of narrower channels too where a frame may
/// be narrower than its channel. `None`: all are those of `radio`.
pub(crate) fn kinds(radio: &Radio, stations: &[Station<'_>]) -> Option<Vec<Capability>> {
    let own = match capabilities(radio, stations) {
        Some(capabilities) => distinct(capabilities),
        None if radio.mac.bandwidth == Bandwidth::Whole => return None,
        None => vec![radio.capability()],
    };
    let narrower = own.iter().filter(|_| radio.mac.bandwidth != Bandwidth::Whole).flat_map(|own| own.narrower());
    Some(distinct(own.iter().copied().chain(narrower)))
}

/// The channels of the stations, by station, where they tell their primary channel from the secondary ones.
pub(crate) fn channels(radio: &Radio, stations: &[Station<'_>]) -> Option<Vec<WideChannel>> {
    let channel = |station: &Station<'_>| {
        let NodeRadio { primary, frequency, capability, .. } = station.config;
        let (primary, frequency) = (*primary, *frequency);
        let width = capability.shape().map_or(ChannelWidth::Mhz20, |shape| shape.width);
        WideChannel { primary, centre: frequency, width }
    };
    (radio.mac.bandwidth != Bandwidth::Whole).then(|| stations.iter().map(channel).collect())
}

/// The interfaces of all nodes.
pub fn ports(scenario: &Scenario) -> Ports {
    let mut interfaces: Vec<Vec<Attachment>> = groups(scenario).map(|_| Vec::new()).collect();
    for (station, index) in stations(scenario).iter().zip(0..) {
        interfaces[station.node.0 as usize].push(Attachment::Station(StationId(index)));
    }
    for (link, index) in scenario.links.iter().zip(0..) {
        for (node, wire) in link.between.iter().zip([2 * index, 2 * index + 1]) {
            interfaces[node.0 as usize].push(Attachment::Wire(wire));
        }
    }
    Ports::new(&interfaces)
}

/// The same wire with draws and hashes of its queue that follow from `perturbation`.
fn perturbed(config: &wired::Config, perturbation: u64) -> wired::Config {
    let config = config.clone();
    wired::Config { discipline: config.discipline.perturbed(perturbation), ..config }
}

/// The wires of all links, two for each, for a run with `seed`.
pub(crate) fn wires<P: Payload>(scenario: &Scenario, seed: u64) -> Vec<Wire<P>> {
    let wire = |link: usize, direction: u64| {
        let random = Stream::new(seed, Purpose::LinkLoss, link as u64, direction);
        let config = &scenario.links[link].configs[direction as usize];
        Wire::new(perturbed(config, hash(seed, Purpose::WireQueue, link as u64, direction)), random)
    };
    (0..scenario.links.len()).flat_map(|link| [wire(link, 0), wire(link, 1)]).collect()
}

/// The accesses of all nodes in a run with `seed`, by node; none at all if no node has one.
pub(crate) fn accesses(scenario: &Scenario, seed: u64) -> Vec<Option<Access>> {
    if scenario.groups.iter().all(|group| group.access.is_none()) {
        return Vec::new();
    }
    let access = |(group, node): (&Group, u64)| {
        let random = |direction| Stream::new(seed, Purpose::AccessLoss, node, direction);
        let config = |direction| hash(seed, Purpose::AccessQueue, node, direction as u64);
        let configs = |configs: &[wired::Config; 2]| [0, 1].map(|at| perturbed(&configs[at], config(at)));
        group.access.as_ref().map(|access| Access::new(configs(access), [0, 1].map(random)))
    };
    groups(scenario).zip(0..).map(access).collect()
}

/// The cards of all nodes, by node; none at all if no node has one.
pub(crate) fn cards(scenario: &Scenario) -> Vec<Option<Cards>> {
    if scenario.groups.iter().all(|group| group.card.is_none()) {
        return Vec::new();
    }
    groups(scenario).map(|group| group.card.map(|config| Cards::new(config, group.radios.len()))).collect()
}

/// Possible neighbours on each interface of each node of `scenario`.
pub fn neighbours(scenario: &Scenario) -> Neighbours {
    let mut neighbours = Neighbours::new(groups(scenario).count());
    for (station, index) in stations(scenario).iter().zip(0..) {
        let channel = (station.config.channel.to_bits(), station.config.network);
        neighbours.add_radio(station.node, StationId(index), channel);
    }
    scenario.links.iter().for_each(|link| neighbours.add_wire(link.between));
    neighbours
}

/// The paths of all nodes in a run with `seed`.
pub fn motion(scenario: &Scenario, seed: u64) -> Motion {
    let placed = |(group, index): (&Group, u64)| {
        let count = group.node_names.len();
        let places = (0..count).map(|node| place(&group.placement, node, count, seed, index));
        places.collect::<Vec<Position>>()
    };
    let places = scenario.groups.iter().zip(0..).map(placed);
    if scenario.groups.iter().all(|group| group.mobility.is_none()) {
        return Motion::at_rest(places.flatten());
    }
    let models = scenario.groups.iter().zip(places).zip(0..).flat_map(|((group, places), index)| {
        places.into_iter().enumerate().map(move |(node, placed)| -> Box<dyn Mobility> {
            match &group.mobility {
                None => Box::new(Rest(placed)),
                Some(model) => (model.make)(node, placed, Stream::new(seed, Purpose::Mobility, index, node as u64)),
            }
        })
    });
    Motion::of(models.collect())
}

/// By node: the group that it belongs to.
pub(crate) fn groups(scenario: &Scenario) -> impl Iterator<Item = &Group> {
    scenario.groups.iter().flat_map(|group| group.node_names.iter().map(move |_| group))
}
