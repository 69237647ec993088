//! Association over the air: the machines of all access points and stations, next to their hosts.
//!
//! Access points are connected by a distribution system that knows at once to which of them a station belongs: the
//! forwarding tables of all hosts change at the instant of an association.

use std::collections::VecDeque;

use hopcast_protocols::random::{Purpose, Stream};
use hopcast_protocols::time::{Duration, Instant};
use hopcast_radio::mac::association::{
    ACTIVE_DWELL, AccessPoint, AccessPointConfig, Coexistence, Message, Output, Station, StationConfig, TIME_UNIT,
    rates,
};
use hopcast_radio::mac::edca::{AccessCategory, EdcaParameters};
use hopcast_radio::mac::{Protection, StationId};
use hopcast_radio::phy::{ModulationClass, ModulationClasses, Phy};
use hopcast_radio::units::Power;
use hopcast_wire::ieee80211::management::{AccessCategoryParameters, Capability, EdcaParameterSet, Repr, Ssid};

use crate::address::{mac_address, station_of};
use crate::engine::Port;
use crate::layout;
use crate::scenario::model::{self, Role, Scenario};

/// For how long a station that waits for beacons listens: an interval and a tenth of it, as beacons may come late. (Linux's
/// mac80211 listens for a ninth of a second, `IEEE80211_PASSIVE_CHANNEL_TIME`.)
const fn passive_dwell(beacon_interval: u16) -> Duration {
    Duration::from_nanos(TIME_UNIT.as_nanos() * beacon_interval as u64 * 11 / 10)
}

/// The machines of all radios that take part, by host and interface; none at all where association is implicit.
#[derive(Debug, Default)]
pub(super) struct Associations {
    hosts: Vec<Vec<Member>>,
    changes: VecDeque<Change>,
}

/// A radio of an access point or station.
#[derive(Debug)]
struct Member {
    interface: u32,
    machine: Machine,
    /// With which the last management frame came.
    signal: Power,
    outgoing: VecDeque<Message>,
    purges: VecDeque<StationId>,
    /// Those whose association has ended.
    left: VecDeque<StationId>,
    /// What has to be told to the radio.
    behaviour: Option<Coexistence>,
    adaptation: Adaptation,
    counts: Counts,
}

#[derive(Debug)]
enum Machine {
    AccessPoint(AccessPoint),
    Station(Station),
}

/// Who belongs to whom has changed at an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// A station has its access point.
    Joined(Port, StationId),
    /// A station has none any more.
    Left(Port, StationId),
    /// An access point has a station.
    Admitted(Port, StationId),
    /// An access point has lost a station.
    Lost(Port, StationId),
}

/// What a radio does for the sake of stations of 802.11b, if it can do anything.
#[derive(Clone, Copy, Debug)]
struct Adaptation {
    is_erp: bool,
    protection: Protection,
    /// Protection while no station of 802.11b belongs to the network.
    otherwise: Protection,
    phy: Phy,
}

/// Counters of the radios of a node. Frames are counted once, however often they were repeated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Management frames given to the radio.
    pub given: u64,
    /// Of these, those that were sent.
    pub sent: u64,
    /// Of these, those that the radio gave up.
    pub dropped: u64,
    /// Beacons sent.
    pub beacons: u64,
    /// Number of times that a station has joined an access point; for an access point, that stations have joined it.
    pub associations: u64,
}

impl core::ops::AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.given += other.given;
        self.sent += other.sent;
        self.dropped += other.dropped;
        self.beacons += other.beacons;
        self.associations += other.associations;
    }
}

impl Associations {
    /// Those of `scenario`, whose radios have the physical layers and the protection of `starts`, in the run with `seed`.
    pub(super) fn new(scenario: &Scenario, starts: &[(Phy, Protection)], seed: u64) -> Self {
        let Some(association) = scenario.radio.association else { return Self::default() };
        let hosts: usize = scenario.groups.iter().map(|group| group.node_names.len()).sum();
        let mut members: Vec<Vec<Member>> = (0..hosts).map(|_| Vec::new()).collect();
        for (radio, (phy, protection)) in layout::stations(scenario).iter().zip(starts) {
            let machine = machine(scenario, association, radio, phy, seed);
            members[radio.node.0 as usize].extend(machine.map(|machine| Member {
                interface: radio.radio,
                machine,
                signal: Power::ZERO,
                outgoing: VecDeque::new(),
                purges: VecDeque::new(),
                left: VecDeque::new(),
                behaviour: None,
                adaptation: Adaptation {
                    is_erp: is_erp(phy, radio.config),
                    protection: scenario.radio.protection,
                    otherwise: *protection,
                    phy: *phy,
                },
                counts: Counts::default(),
            }));
        }
        Self { hosts: members, changes: VecDeque::new() }
    }

    /// Whether association is implicit.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.hosts.is_empty()
    }

    /// What was counted at the radios of a host.
    pub(super) fn counts(&self, host: u32) -> Counts {
        let mut sum = Counts::default();
        self.hosts.get(host as usize).into_iter().flatten().for_each(|member| sum += member.counts);
        sum
    }

    /// A management frame comes with this power.
    pub(super) fn handle_signal(&mut self, port: Port, power: Power) {
        if let Some((member, _)) = self.member(port) {
            member.signal = power;
        }
    }

    /// It is this one.
    pub(super) fn handle_frame(&mut self, port: Port, from: StationId, body: &Repr, now: Instant) {
        let Some((member, changes)) = self.member(port) else { return };
        match &mut member.machine {
            Machine::AccessPoint(machine) => machine.handle_frame(mac_address(from), body, now),
            Machine::Station(machine) => machine.handle_frame(mac_address(from), body, member.signal, now),
        }
        member.settle(port, changes);
    }

    /// A data frame has come; whether its packet may pass (IEEE 802.11-2020, 11.3.3).
    pub(super) fn handle_data(&mut self, port: Port, from: StationId) -> bool {
        let Some((member, changes)) = self.member(port) else { return true };
        let passes = match &mut member.machine {
            Machine::AccessPoint(machine) => machine.handle_data(mac_address(from)),
            Machine::Station(machine) => machine.access_point() == Some(mac_address(from)),
        };
        member.settle(port, changes);
        passes
    }

    /// The radio has sent a management frame, or has given it up. `receiver` is the station that it was for.
    pub(super) fn handle_done(&mut self, port: Port, receiver: Option<StationId>, body: &Repr, is_sent: bool) {
        let Some((member, changes)) = self.member(port) else { return };
        *if is_sent { &mut member.counts.sent } else { &mut member.counts.dropped } += 1;
        member.counts.beacons += u64::from(is_sent && matches!(body, Repr::Beacon(_)));
        if let (Machine::AccessPoint(machine), Some(receiver), true) = (&mut member.machine, receiver, is_sent) {
            machine.handle_sent(mac_address(receiver), body);
            member.settle(port, changes);
        }
    }

    /// A station belongs to the access point at `port` now: to no other.
    pub(super) fn handle_moved(&mut self, station: StationId, to: Port) {
        let Self { hosts, changes } = self;
        for (members, host) in hosts.iter_mut().zip(0..) {
            for member in members {
                let port = Port { host, interface: member.interface };
                if let Machine::AccessPoint(machine) = &mut member.machine
                    && port != to
                {
                    machine.handle_moved(mac_address(station));
                    member.settle(port, changes);
                }
            }
        }
    }

    /// The instant of [`Self::poll_timeout`] may have come.
    pub(super) fn handle_timeout(&mut self, host: u32, now: Instant) {
        let Self { hosts, changes } = self;
        for member in hosts.get_mut(host as usize).into_iter().flatten() {
            if member.poll_timeout().is_some_and(|due| due <= now) {
                match &mut member.machine {
                    Machine::AccessPoint(machine) => machine.handle_timeout(now),
                    Machine::Station(machine) => machine.handle_timeout(now),
                }
                member.settle(Port { host, interface: member.interface }, changes);
            }
        }
    }

    /// When [`Self::handle_timeout`] is to be called.
    pub(super) fn poll_timeout(&self, host: u32) -> Option<Instant> {
        self.hosts.get(host as usize).into_iter().flatten().filter_map(Member::poll_timeout).min()
    }

    /// The next change of who belongs to whom at any host.
    pub(super) fn poll_change(&mut self) -> Option<Change> {
        self.changes.pop_front()
    }

    /// The next management frame of a host, with the interface that it is for and the station that is to receive it.
    pub(super) fn poll_output(&mut self, host: u32) -> Option<(u32, Option<StationId>, Message)> {
        let members = self.hosts.get_mut(host as usize)?;
        members.iter_mut().find_map(|member| {
            let message = member.outgoing.pop_front()?;
            member.counts.given += 1;
            Some((member.interface, message.receiver.and_then(station_of), message))
        })
    }

    /// The next station whose packets an interface of a host is to give back.
    pub(super) fn poll_purge(&mut self, host: u32) -> Option<(u32, StationId)> {
        let members = self.hosts.get_mut(host as usize)?;
        members.iter_mut().find_map(|member| Some((member.interface, member.purges.pop_front()?)))
    }

    /// The next station whose association with an interface of a host has ended.
    pub(super) fn poll_left(&mut self, host: u32) -> Option<(u32, StationId)> {
        let members = self.hosts.get_mut(host as usize)?;
        members.iter_mut().find_map(|member| Some((member.interface, member.left.pop_front()?)))
    }

    /// How a radio of a host is to go on: what protects its OFDM frames, and with which slot.
    pub(super) fn poll_coexistence(&mut self, host: u32) -> Option<(u32, Protection, Phy)> {
        let members = self.hosts.get_mut(host as usize)?;
        members.iter_mut().find_map(|member| {
            let Coexistence { use_protection, short_slot } = member.behaviour.take()?;
            let Adaptation { is_erp, protection, otherwise, phy } = member.adaptation;
            let protection = if use_protection && is_erp { protection } else { otherwise };
            let phy = if short_slot || !is_erp { phy } else { phy.with_long_slot() };
            Some((member.interface, protection, phy))
        })
    }

    /// A radio that takes part, and where it reports changes.
    fn member(&mut self, port: Port) -> Option<(&mut Member, &mut VecDeque<Change>)> {
        let members = self.hosts.get_mut(port.host as usize)?;
        Some((members.iter_mut().find(|member| member.interface == port.interface)?, &mut self.changes))
    }
}

impl Member {
    fn poll_timeout(&self) -> Option<Instant> {
        match &self.machine {
            Machine::AccessPoint(machine) => machine.poll_timeout(),
            Machine::Station(machine) => machine.poll_timeout(),
        }
    }

    /// Takes over what the machine wants.
    fn settle(&mut self, port: Port, changes: &mut VecDeque<Change>) {
        loop {
            let (output, is_access_point) = match &mut self.machine {
                Machine::AccessPoint(machine) => (machine.poll_output(), true),
                Machine::Station(machine) => (machine.poll_output(), false),
            };
            match output {
                None => return,
                Some(Output::Send(message)) => self.outgoing.push_back(message),
                Some(Output::Adapt(coexistence)) => self.behaviour = Some(coexistence),
                Some(Output::Joined(peer)) => {
                    self.counts.associations += 1;
                    let change = if is_access_point { Change::Admitted } else { Change::Joined };
                    changes.extend(station_of(peer).map(|peer| change(port, peer)));
                }
                Some(Output::Left(peer)) => {
                    let change = if is_access_point { Change::Lost } else { Change::Left };
                    changes.extend(station_of(peer).map(|peer| change(port, peer)));
                    self.purges.extend(station_of(peer));
                    self.left.extend(station_of(peer));
                }
            }
        }
    }
}

/// Whether it is one of 802.11g or a newer one that shares a channel with 802.11b, not of 802.11b.
fn is_erp(phy: &Phy, radio: &model::NodeRadio) -> bool {
    let has_dsss = || phy.vectors().iter().any(|vector| vector.modulation_class() == ModulationClass::Dsss);
    if phy.standard().has_shape() {
        return has_dsss();
    }
    phy.is_mixed() && radio.understands(phy) == ModulationClasses::ALL
}

fn machine(
    scenario: &Scenario,
    association: model::Association,
    radio: &layout::Station<'_>,
    phy: &Phy,
    seed: u64,
) -> Option<Machine> {
    let is_erp = is_erp(phy, radio.config);
    let rates = rates(phy, radio.config.basic_rate, is_erp || !phy.is_mixed());
    let interval = TIME_UNIT * u64::from(association.beacon_interval);
    let mut random = Stream::new(seed, Purpose::Association, u64::from(radio.node.0), u64::from(radio.radio));
    // Networks and stations are switched on one after the other.
    let start = Instant::START + Duration::from_micros(u64::from(random.below((interval.as_nanos() / 1_000) as u32)));
    let mut capability = Capability::ESS;
    if scenario.radio.short_preamble {
        capability = capability | Capability::SHORT_PREAMBLE;
    }
    if is_erp {
        capability = capability | Capability::SHORT_SLOT_TIME;
    }
    if scenario.radio.edca_of(radio.config.capability).is_some() {
        capability = capability | Capability::QOS;
    }
    let ssid = Ssid::new(radio.config.ssid.as_bytes());
    match radio.role {
        Role::AccessPoint => Some(Machine::AccessPoint(AccessPoint::new(AccessPointConfig {
            ssid,
            capability,
            beacon_interval: association.beacon_interval,
            rates,
            channel: channel(radio.config.frequency),
            edca: scenario.radio.edca.map(|edition| edca(&EdcaParameters::all_defaults(phy, edition))),
            is_erp,
            start,
        }))),
        Role::Station => {
            let asks = association.asks;
            let dwell = if asks { ACTIVE_DWELL } else { passive_dwell(association.beacon_interval) };
            Some(Machine::Station(Station::new(StationConfig { ssid, capability, rates, asks, dwell, start })))
        }
        Role::AdHoc | Role::Wired => None,
    }
}

/// The number of a channel at 2.4 GHz with this centre in hertz (IEEE 802.11-2020, 15.4.4.3); others are not announced.
fn channel(frequency: f64) -> Option<u8> {
    match libm::round(frequency / 1e6) as u32 {
        2_484 => Some(14),
        megahertz @ 2_412..=2_472 => Some(((megahertz - 2_407) / 5) as u8),
        _ => None,
    }
}

fn edca(parameters: &[EdcaParameters; 4]) -> EdcaParameterSet {
    use AccessCategory::{Background, BestEffort, Video, Voice};
    // A window is a power of two less one.
    let exponent = |window: u32| (window + 1).trailing_zeros() as u8;
    let category = |category: AccessCategory| {
        let parameters = &parameters[category as usize];
        AccessCategoryParameters {
            aifsn: parameters.aifsn,
            admission: false,
            ecw_min: exponent(parameters.cw_min),
            ecw_max: exponent(parameters.cw_max),
            txop_limit: (parameters.txop_limit.as_nanos() / 32_000) as u16,
        }
    };
    EdcaParameterSet { qos_info: 0, categories: [BestEffort, Background, Video, Voice].map(category) }
}
