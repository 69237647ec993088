//! Neighbours on each interface, and the shortest paths.
//!
//! Between two nodes with several ways, a wire comes before the radios, and the first radio of the sender before the
//! others. Radios are neighbours if one decodes the other's data frames, they are on one channel, and of one network.
//! Stations and access points are no neighbours of ad-hoc nodes, nor of nodes of the same kind: a station has one access
//! point, the one with the strongest signal, and an access point has its stations.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use hopcast_protocols::routing::fixed::ShortestPaths;
use hopcast_radio::mac::StationId;
use hopcast_radio::units::Power;

use crate::engine::Attachment;
use crate::host::{Destinations, Hop, Host, Interface, Routes};
use crate::id::NodeId;
use crate::layout::{Station, groups, ports, stations};
use crate::paths::{LossyLink, Paths};
use crate::scenario::model::{Flow, Group, Relay, Role, Routing, Scenario};
use crate::topology::Topology;

/// What stands for the share of frames that pass where none do: any way over links that let some pass comes first.
const OUT_OF_REACH: f64 = 1e-9;

/// Neighbours and paths.
#[derive(Clone, Debug)]
pub(crate) struct Network {
    /// Paths to `destinations`; none if routing protocols find them.
    pub paths: Paths,
    /// Who is sent packets over these paths.
    destinations: Arc<Destinations>,
    /// By node: the hops to its neighbours, in the order of these.
    hops: Vec<Vec<Hop>>,
    /// By node: its interfaces.
    interfaces: Vec<Vec<Interface>>,
}

impl Network {
    /// The network of `scenario`, whose radios hear each other as in `topology`. Returns `None` as soon as `goes_on`
    /// returns false.
    pub(crate) fn new_while(scenario: &Scenario, topology: &Topology, goes_on: &dyn Fn() -> bool) -> Option<Self> {
        let stations = stations(scenario);
        let is_over_the_air = scenario.radio.association.is_some();
        let access_points = access_points(&stations, topology);
        let ports = ports(scenario);
        let mut hops: Vec<Vec<Hop>> = vec![Vec::new(); ports.hosts()];
        for (link, index) in scenario.links.iter().zip(0..) {
            let [a, b] = link.between;
            for (from, to, wire) in [(a, b, 2 * index), (b, a, 2 * index + 1)] {
                let own = ports.attachments(from.0 as usize);
                let interface = own.iter().position(|&attachment| attachment == Attachment::Wire(wire));
                let interface = interface.expect("the link has an interface at both ends") as u32;
                hops[from.0 as usize].push(Hop { interface, node: to, station: None });
            }
        }
        for (from, index) in stations.iter().zip(0..) {
            let mut near: Vec<u32> = topology.neighbours(StationId(index)).collect();
            near.sort_unstable();
            for other in near {
                let to = &stations[other as usize];
                let linked = from.node != to.node && from.is_joined_to(to);
                if linked && may_talk((index, from.role), (other, to.role), &access_points) {
                    let hop = Hop { interface: from.radio, node: to.node, station: Some(StationId(other)) };
                    hops[from.node.0 as usize].push(hop);
                }
            }
        }
        if is_over_the_air {
            // A station that hears no access point yet may hear one later.
            for (index, chosen) in access_points.iter().enumerate() {
                let Some(chosen) = *chosen else { continue };
                for (from, to) in [(index as u32, chosen), (chosen, index as u32)] {
                    let [from, other] = [from, to].map(|station| &stations[station as usize]);
                    let hop = Hop { interface: from.radio, node: other.node, station: Some(StationId(to)) };
                    hops[from.node.0 as usize].push(hop);
                }
            }
        }
        let interfaces = groups(scenario).zip(0..).map(|(_, node)| {
            let interface = |attachment: &Attachment| match attachment {
                Attachment::Station(_) => {
                    Interface { mtu: scenario.mtu, queue_packets: scenario.radio.mac.queue_packets }
                }
                Attachment::Wire(wire) => {
                    let link = &scenario.links[*wire as usize / 2];
                    Interface { mtu: link.mtu, queue_packets: link.configs[*wire as usize % 2].queue_packets }
                }
            };
            ports.attachments(node).iter().map(interface).collect()
        });
        let mut network = Self::of_hops(hops, interfaces.collect(), routed(scenario), goes_on)?;
        let wanted = if needs_paths(scenario) { network.unreachable(scenario) } else { Vec::new() };
        if !wanted.is_empty() {
            // Where applications pass flows on, answers go back from one to the other.
            let ends: BTreeSet<u32> = wanted.iter().map(|&(_, to)| to).chain(relays(scenario)).collect();
            network.find_detours(&wanted, ends, &stations, topology, &access_points);
        }
        Some(network)
    }

    /// The nodes that `node` reaches over one hop at the start of the run.
    pub(crate) fn neighbours(&self, node: NodeId) -> impl Iterator<Item = NodeId> {
        self.hops[node.0 as usize].iter().map(|hop| hop.node)
    }

    /// From where to where flows of nodes with static routing have no path.
    fn unreachable(&self, scenario: &Scenario) -> Vec<(u32, u32)> {
        let groups: Vec<&Group> = groups(scenario).collect();
        let is_static = |node: u32| matches!(groups[node as usize].routing, Routing::Static);
        let legs = |flow: &Flow| {
            let stops: Vec<u32> = flow.stops().map(|node| node.0).collect();
            let two_way = flow.transport.is_two_way();
            let there: Vec<(u32, u32)> = stops.windows(2).map(|leg| (leg[0], leg[1])).collect();
            let back: Vec<(u32, u32)> = there.iter().filter(|_| two_way).map(|&(from, to)| (to, from)).collect();
            there.into_iter().chain(back)
        };
        let lost = |&(from, to): &(u32, u32)| is_static(from) && self.paths.path(from, to).is_none();
        scenario.flows.iter().flat_map(legs).filter(lost).collect()
    }

    /// Leads to `ends`, and from where to where no usable path does: over lossy links, and where there are none either, from a node,
    /// or one that wires join to it, at once to the other, and between a station and its access point, though none may hear the other.
    fn find_detours(
        &mut self,
        wanted: &[(u32, u32)],
        ends: BTreeSet<u32>,
        stations: &[Station<'_>],
        topology: &Topology,
        access_points: &[Option<u32>],
    ) {
        let mut links = Vec::new();
        let mut ways: BTreeMap<(u32, u32), Hop> = BTreeMap::new();
        let mut add = |index: u32, other: u32, success: f64| {
            let [from, to] = [index, other].map(|station| &stations[station as usize]);
            let linked = from.node != to.node && from.is_joined_to(to);
            if linked && may_talk((index, from.role), (other, to.role), access_points) {
                let hop = Hop { interface: from.radio, node: to.node, station: Some(StationId(other)) };
                // Of several ways to a node the first one, as among the usable ones.
                if let Entry::Vacant(way) = ways.entry((from.node.0, to.node.0)) {
                    way.insert(hop);
                    links.push(LossyLink { from: from.node.0, to: to.node.0, success });
                }
            }
        };
        for (near, index) in topology.lossy_links().iter().zip(0..) {
            near.iter().for_each(|&(other, success)| add(index, other, success));
        }
        for (index, access_point) in
            access_points.iter().zip(0..).filter_map(|(chosen, index)| Some((index, (*chosen)?)))
        {
            add(index, access_point, OUT_OF_REACH);
            add(access_point, index, OUT_OF_REACH);
        }
        for &(from, to) in wanted {
            let [own, others] = [from, to].map(|end| {
                let wired = self.wired_to(end);
                stations
                    .iter()
                    .zip(0..)
                    .filter(move |(station, _)| wired.contains(&station.node.0))
                    .map(|(_, index)| index)
            });
            let others: Vec<u32> = others.collect();
            own.for_each(|index| others.iter().for_each(|&other| add(index, other, OUT_OF_REACH)));
        }
        for (near, from) in self.hops.iter().zip(0..) {
            let wires = near.iter().filter(|hop| hop.station.is_none());
            links.extend(wires.map(|hop| LossyLink { from, to: hop.node.0, success: 1.0 }));
        }
        self.paths.find_detours(ends, &links);
        for ((from, to), hop) in ways {
            let hops = &mut self.hops[from as usize];
            if let Err(place) = hops.binary_search_by_key(&to, |known| known.node.0) {
                hops.insert(place, hop);
            }
        }
    }

    /// A node, and all that wires join to it.
    fn wired_to(&self, node: u32) -> BTreeSet<u32> {
        let mut joined = BTreeSet::from([node]);
        let mut ends = vec![node];
        while let Some(end) = ends.pop() {
            let wires = self.hops[end as usize].iter().filter(|hop| hop.station.is_none());
            ends.extend(wires.map(|hop| hop.node.0).filter(|&other| joined.insert(other)));
        }
        joined
    }

    /// A network in which each node has one interface like `interface`, and node `a` has the neighbours `neighbours[a]`.
    #[cfg(test)]
    pub(crate) fn of_neighbours(neighbours: &[Vec<u32>], interface: Interface) -> Self {
        let hop = |&to: &u32| Hop { interface: 0, node: NodeId(to), station: Some(StationId(to)) };
        let hops = neighbours.iter().map(|near| near.iter().map(hop).collect()).collect();
        let all = Destinations::new(neighbours.len(), 0..neighbours.len() as u32);
        Self::of_hops(hops, vec![vec![interface]; neighbours.len()], all, &|| true).expect("nothing stops it")
    }

    fn of_hops(
        mut hops: Vec<Vec<Hop>>,
        interfaces: Vec<Vec<Interface>>,
        destinations: Destinations,
        goes_on: &dyn Fn() -> bool,
    ) -> Option<Self> {
        for near in &mut hops {
            // Stable: of several ways to a node the first one stays.
            near.sort_by_key(|hop| (hop.node, hop.station.is_some()));
            near.dedup_by_key(|hop| hop.node);
        }
        let neighbours: Vec<Vec<u32>> = hops.iter().map(|near| near.iter().map(|hop| hop.node.0).collect()).collect();
        let paths = ShortestPaths::new_while(&neighbours, destinations.iter(), goes_on)?.into();
        Some(Self { paths, destinations: destinations.into(), hops, interfaces })
    }

    /// The interfaces of a node.
    pub(crate) fn interfaces(&self, node: NodeId) -> &[Interface] {
        &self.interfaces[node.0 as usize]
    }

    /// Whether paths may lead from this node at once to the other.
    pub(crate) fn has_hop(&self, from: u32, to: u32) -> bool {
        self.hops[from as usize].binary_search_by_key(&to, |hop| hop.node.0).is_ok()
    }

    /// The nodes that receive packets over the paths, by number.
    pub(crate) fn destinations(&self) -> impl Iterator<Item = u32> {
        self.destinations.iter()
    }

    /// The forwarding table of a node that sends packets for each of these destinations to this neighbour.
    pub(crate) fn table(&self, node: NodeId, next_hops: &BTreeMap<u32, NodeId>) -> Routes {
        let hops = &self.hops[node.0 as usize];
        let mut routes = Routes::new(hops.clone(), Arc::clone(&self.destinations));
        for (&destination, next) in next_hops {
            let place = hops.binary_search_by_key(next, |hop| hop.node).expect("paths lead over neighbours");
            routes.set(NodeId(destination), place);
        }
        routes
    }
}

/// Whether paths are found beforehand: by static routing, if any node has that.
fn needs_paths(scenario: &Scenario) -> bool {
    scenario.groups.iter().any(|group| matches!(group.routing, Routing::Static))
}

/// The destinations to which paths are found beforehand.
pub(crate) fn routed(scenario: &Scenario) -> Destinations {
    if needs_paths(scenario) { destinations(scenario) } else { Destinations::default() }
}

/// Who may be sent packets by static routing: the ends of flows, the nodes that they name, and those whose programs pass on what
/// comes. All nodes where real hosts send to whom they like, or where access points come and go.
fn destinations(scenario: &Scenario) -> Destinations {
    let nodes = groups(scenario).count();
    if scenario.radio.association.is_some() || scenario.groups.iter().any(|group| group.is_real) {
        return Destinations::new(nodes, 0..nodes as u32);
    }
    Destinations::new(nodes, scenario.flows.iter().flat_map(Flow::stops).map(|node| node.0).chain(relays(scenario)))
}

/// The nodes whose programs pass flows on.
fn relays(scenario: &Scenario) -> impl Iterator<Item = u32> {
    groups(scenario).zip(0..).filter(|(group, _)| group.relay == Relay::Application).map(|(_, node)| node)
}

/// Removes the routes to and from stations, which the paths assume, from the tables of `hosts`: no station has an access
/// point yet.
pub(crate) fn dissociate(scenario: &Scenario, hosts: &mut [Host]) {
    let all: Vec<(NodeId, Role)> = groups(scenario).zip(0..).map(|(group, node)| (NodeId(node), group.role)).collect();
    for (host, &(_, own)) in hosts.iter_mut().zip(&all) {
        host.set_associated();
        for &(node, role) in &all {
            if own == Role::Station || role == Role::Station {
                host.redirect(node, None);
            }
        }
    }
}

/// For each station of role `station`, the access point that it hears strongest; of equals the nearest. Of those that hear none
/// well, the one of which it receives most; and of those that hear none at all, the nearest.
fn access_points(stations: &[Station<'_>], topology: &Topology) -> Vec<Option<u32>> {
    let joins = |from: &Station<'_>, to: &Station<'_>| {
        to.role == Role::Station && from.role == Role::AccessPoint && from.is_joined_to(to)
    };
    let distance = |station: u32, other: u32| topology.distance(StationId(station), StationId(other));
    let mut strongest: Vec<Option<(Power, u32)>> = vec![None; stations.len()];
    for (from, index) in stations.iter().zip(0..) {
        if from.role != Role::AccessPoint {
            continue;
        }
        for link in topology.usable_links(StationId(index)) {
            let to = &stations[link.receiver.0 as usize];
            let heard = &mut strongest[link.receiver.0 as usize];
            let is_nearer = |known| distance(link.receiver.0, index) < distance(link.receiver.0, known);
            let is_better = |(power, known)| link.power > power || link.power == power && is_nearer(known);
            if joins(from, to) && heard.is_none_or(is_better) {
                *heard = Some((link.power, index));
            }
        }
    }
    let mut chosen: Vec<Option<u32>> = strongest.into_iter().map(|heard| heard.map(|(_, index)| index)).collect();
    let is_alone = |(station, chosen): (&Station<'_>, &Option<u32>)| station.role == Role::Station && chosen.is_none();
    if stations.iter().zip(&chosen).any(is_alone) {
        let mut best: Vec<Option<(f64, u32)>> = vec![None; stations.len()];
        for ((from, index), near) in stations.iter().zip(0..).zip(topology.lossy_links()) {
            for &(to, success) in near {
                let best = &mut best[to as usize];
                if joins(from, &stations[to as usize]) && best.is_none_or(|(known, _)| success > known) {
                    *best = Some((success, index));
                }
            }
        }
        for (chosen, best) in chosen.iter_mut().zip(best) {
            *chosen = chosen.or(best.map(|(_, index)| index));
        }
    }
    for ((to, index), chosen) in
        stations.iter().zip(0..).zip(&mut chosen).filter(|((to, _), _)| to.role == Role::Station)
    {
        let all = stations.iter().zip(0..).filter(|(from, _)| joins(from, to)).map(|(_, other)| other);
        *chosen = chosen.or_else(|| all.min_by(|&one, &other| distance(index, one).total_cmp(&distance(index, other))));
    }
    chosen
}

/// Whether two radios that hear each other are neighbours, by their roles.
fn may_talk(from: (u32, Role), to: (u32, Role), access_points: &[Option<u32>]) -> bool {
    match (from.1, to.1) {
        (Role::AdHoc, Role::AdHoc) => true,
        (Role::Station, Role::AccessPoint) => access_points[from.0 as usize] == Some(to.0),
        (Role::AccessPoint, Role::Station) => access_points[to.0 as usize] == Some(from.0),
        _ => false,
    }
}
