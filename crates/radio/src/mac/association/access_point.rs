//! An access point: it sends beacons, and answers those who ask.

use std::collections::{BTreeMap, VecDeque};

use hopcast_protocols::time::Instant;
use hopcast_wire::MacAddress;
use hopcast_wire::ieee80211::management::{
    Bss, Capability, EdcaParameterSet, Elements, ErpInformation, Rates, Reason, Repr, Ssid, Status, TrafficIndication,
};

use super::{Coexistence, Message, Output, TIME_UNIT, has_basic_rates};

/// The highest association identifier (9.4.1.8).
const MAX_AID: u16 = 2_007;
/// Every beacon announces the delivery of broadcasts: no station sleeps.
const TRAFFIC: TrafficIndication = TrafficIndication { dtim_count: 0, dtim_period: 1 };
/// Rates of OFDM, in units of 500 kb/s; who has none of them is a station of 802.11b.
const OFDM_RATES: [u8; 8] = [12, 18, 24, 36, 48, 72, 96, 108];

/// Settings of an access point.
#[derive(Clone, Debug)]
pub struct AccessPointConfig {
    /// The name of its network.
    pub ssid: Ssid,
    /// Its capabilities; it sets the bit of the short slot itself.
    pub capability: Capability,
    /// Time between two beacons, in time units of 1024 µs.
    pub beacon_interval: u16,
    /// The rates of the network.
    pub rates: Rates,
    /// The channel that it announces, at 2.4 GHz.
    pub channel: Option<u8>,
    /// The parameters of EDCA, if it is in use.
    pub edca: Option<EdcaParameterSet>,
    /// Whether it is one of 802.11g, and protects stations of 802.11b.
    pub is_erp: bool,
    /// Start of its network: the zero of its timer, and so a target beacon transmission time (11.1.3.2).
    pub start: Instant,
}

/// See the module.
#[derive(Clone, Debug)]
pub struct AccessPoint {
    config: AccessPointConfig,
    next_beacon: Instant,
    /// Those that are authenticated.
    stations: BTreeMap<MacAddress, Peer>,
    /// Of those that have joined.
    coexistence: Coexistence,
    outputs: VecDeque<Output>,
}

/// A station that is authenticated.
#[derive(Clone, Copy, Debug)]
struct Peer {
    /// Its association identifier, once it was granted one.
    aid: Option<u16>,
    /// It has acknowledged that.
    has_joined: bool,
    is_erp: bool,
    short_slot: bool,
}

impl AccessPoint {
    /// One without stations.
    pub fn new(config: AccessPointConfig) -> Self {
        let short_slot = config.capability.contains(Capability::SHORT_SLOT_TIME);
        Self {
            next_beacon: config.start,
            config,
            stations: BTreeMap::new(),
            coexistence: Coexistence { use_protection: false, short_slot },
            outputs: VecDeque::new(),
        }
    }

    /// Whether a station has joined.
    #[cfg(test)]
    pub(super) fn has_station(&self, station: MacAddress) -> bool {
        self.stations.get(&station).is_some_and(|peer| peer.has_joined)
    }

    /// How the network behaves.
    #[cfg(test)]
    pub(super) fn coexistence(&self) -> Coexistence {
        self.coexistence
    }

    /// A management frame from `from` has come.
    pub fn handle_frame(&mut self, from: MacAddress, body: &Repr, now: Instant) {
        if now < self.config.start {
            return;
        }
        match body {
            Repr::ProbeRequest(elements) => {
                let is_meant = elements.ssid.is_none_or(|ssid| ssid == Ssid::WILDCARD || ssid == self.config.ssid);
                if is_meant {
                    let bss = self.bss(now, None);
                    self.send(Some(from), Repr::ProbeResponse(bss));
                }
            }
            Repr::Authentication { algorithm, transaction: 1, .. } => self.authenticate(from, *algorithm),
            Repr::AssociationRequest { capability, current_access_point, elements, .. } => {
                let short_slot = capability.contains(Capability::SHORT_SLOT_TIME);
                self.associate(from, current_access_point.is_some(), &elements.rates, short_slot);
            }
            Repr::Disassociation(_) => self.handle_moved(from),
            Repr::Deauthentication(_) => {
                self.handle_moved(from);
                self.stations.remove(&from);
            }
            _ => {}
        }
    }

    /// A data frame from `from` has come. Returns whether its payload may pass; otherwise the sender gets a message
    /// (11.3.3).
    pub fn handle_data(&mut self, from: MacAddress) -> bool {
        match self.stations.get(&from) {
            Some(peer) if peer.has_joined => return true,
            Some(_) => self.send(Some(from), Repr::Disassociation(Reason::ClassThreeFrame)),
            None => self.send(Some(from), Repr::Deauthentication(Reason::ClassThreeFrame)),
        }
        false
    }

    /// `receiver` has acknowledged `body`: a station that has the response has joined (11.3.5.3).
    pub fn handle_sent(&mut self, receiver: MacAddress, body: &Repr) {
        let Repr::AssociationResponse { status: Status::Success, aid, .. } = body else { return };
        if let Some(peer) = self.stations.get_mut(&receiver).filter(|peer| peer.aid == Some(*aid)) {
            // Who has asked again while the first response was on its way gets two.
            if !core::mem::replace(&mut peer.has_joined, true) {
                self.outputs.push_back(Output::Joined(receiver));
            }
            self.adapt();
        }
    }

    /// A station has joined another access point, or has left.
    pub fn handle_moved(&mut self, station: MacAddress) {
        let Some(peer) = self.stations.get_mut(&station) else { return };
        peer.aid = None;
        if core::mem::replace(&mut peer.has_joined, false) {
            self.outputs.push_back(Output::Left(station));
            self.adapt();
        }
    }

    /// The instant of [`Self::poll_timeout`] has come: a beacon is due.
    pub fn handle_timeout(&mut self, now: Instant) {
        while self.next_beacon <= now {
            let at = self.next_beacon;
            self.next_beacon = at + TIME_UNIT * u64::from(self.config.beacon_interval.max(1));
            let body = Repr::Beacon(self.bss(at, Some(TRAFFIC)));
            let expires = Some(self.next_beacon);
            self.outputs.push_back(Output::Send(Message { receiver: None, body, expires }));
        }
    }

    /// Time of the next call of [`Self::handle_timeout`].
    pub fn poll_timeout(&self) -> Option<Instant> {
        Some(self.next_beacon)
    }

    /// Takes out the next output.
    #[must_use = "an output that is not carried out is lost"]
    pub fn poll_output(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    /// 11.3.4.3: an open system lets everybody in.
    fn authenticate(&mut self, from: MacAddress, algorithm: u16) {
        let status = if algorithm == 0 { Status::Success } else { Status::UnsupportedAlgorithm };
        if status == Status::Success {
            // Who begins anew has lost its association.
            self.handle_moved(from);
            let peer = Peer { aid: None, has_joined: false, is_erp: true, short_slot: true };
            self.stations.insert(from, peer);
        }
        self.send(Some(from), Repr::Authentication { algorithm, transaction: 2, status });
    }

    /// 11.3.5.3, 11.3.5.5.
    fn associate(&mut self, from: MacAddress, reassociation: bool, rates: &Rates, short_slot: bool) {
        if !self.stations.contains_key(&from) {
            return self.send(Some(from), Repr::Deauthentication(Reason::NotAuthenticated));
        }
        let known = self.stations[&from].aid;
        let (status, aid) = match known.or_else(|| self.free_aid()) {
            _ if !has_basic_rates(rates, &self.config.rates) => (Status::UnsupportedRates, None),
            Some(aid) => (Status::Success, Some(aid)),
            None => (Status::AccessPointFull, None),
        };
        if let Some(peer) = self.stations.get_mut(&from) {
            let is_erp = OFDM_RATES.iter().any(|&rate| rates.contains(rate));
            *peer = Peer { aid, is_erp, short_slot, ..*peer };
        }
        let body = Repr::AssociationResponse {
            reassociation,
            capability: self.capability(),
            status,
            aid: aid.unwrap_or(0),
            elements: Elements { rates: self.config.rates, edca: self.config.edca, ..Elements::default() },
        };
        self.send(Some(from), body);
    }

    /// The lowest identifier that no station has.
    fn free_aid(&self) -> Option<u16> {
        let mut taken: Vec<u16> = self.stations.values().filter_map(|peer| peer.aid).collect();
        taken.sort_unstable();
        let gap = taken.iter().zip(1..).find(|&(&taken, expected)| taken != expected).map(|(_, free)| free);
        Some(gap.unwrap_or(taken.len() as u16 + 1)).filter(|&aid| aid <= MAX_AID)
    }

    /// Of the stations that have joined: one of 802.11b asks for protection and, as one without short slots, for long ones.
    fn adapt(&mut self) {
        let joined = || self.stations.values().filter(|peer| peer.has_joined);
        let coexistence = Coexistence {
            use_protection: self.config.is_erp && joined().any(|peer| !peer.is_erp),
            short_slot: self.config.capability.contains(Capability::SHORT_SLOT_TIME)
                && joined().all(|peer| peer.short_slot),
        };
        if core::mem::replace(&mut self.coexistence, coexistence) != coexistence {
            self.outputs.push_back(Output::Adapt(coexistence));
        }
    }

    fn capability(&self) -> Capability {
        let Capability(bits) = self.config.capability;
        let short_slot = if self.coexistence.short_slot { Capability::SHORT_SLOT_TIME.0 } else { 0 };
        Capability(bits & !Capability::SHORT_SLOT_TIME.0 | short_slot)
    }

    fn bss(&self, now: Instant, traffic: Option<TrafficIndication>) -> Bss {
        let Coexistence { use_protection, .. } = self.coexistence;
        let erp = ErpInformation { non_erp_present: use_protection, use_protection, barker_preamble: false };
        Bss {
            timestamp: now.saturating_since(self.config.start).as_nanos() / 1_000,
            beacon_interval: self.config.beacon_interval,
            capability: self.capability(),
            elements: Elements {
                ssid: Some(self.config.ssid),
                rates: self.config.rates,
                channel: self.config.channel,
                traffic,
                erp: self.config.is_erp.then_some(erp),
                edca: self.config.edca,
            },
        }
    }

    fn send(&mut self, receiver: Option<MacAddress>, body: Repr) {
        self.outputs.push_back(Output::Send(Message { receiver, body, expires: None }));
    }
}
