//! A station that looks for an access point, joins it, and leaves it when its beacons stop.

use std::collections::VecDeque;

use hopcast_protocols::time::{Duration, Instant};
use hopcast_wire::MacAddress;
use hopcast_wire::ieee80211::management::{Bss, Capability, Elements, Rates, Repr, Ssid, Status};

use super::{Coexistence, Message, Output, TIME_UNIT, has_basic_rates};
use crate::units::Power;

/// Time without an answer after which a station repeats an authentication or association request (Linux's mac80211:
/// `IEEE80211_AUTH_TIMEOUT`, `IEEE80211_ASSOC_TIMEOUT`).
pub const ANSWER_TIMEOUT: Duration = Duration::from_millis(200);
/// Number of attempts in all (`IEEE80211_AUTH_MAX_TRIES`, `IEEE80211_ASSOC_MAX_TRIES`).
pub const ATTEMPTS: u32 = 3;
/// Number of beacon intervals without a beacon that end an association (`beacon_loss_count`).
pub const BEACON_LOSS: u64 = 7;
/// Time for which a station listens for answers to its probe request (`IEEE80211_CHANNEL_TIME`, a 33rd of a second):
/// MaxChannelTime of 11.1.4.3.
pub const ACTIVE_DWELL: Duration = Duration::from_micros(30_303);
/// Beacon intervals between two wakings: a station that never sleeps hears every beacon.
const LISTEN_INTERVAL: u16 = 1;

/// Settings of a station.
#[derive(Clone, Debug)]
pub struct StationConfig {
    /// The network that it looks for.
    pub ssid: Ssid,
    /// Its capabilities.
    pub capability: Capability,
    /// The rates that it understands.
    pub rates: Rates,
    /// Whether it sends probe requests (11.1.4.3) instead of waiting for beacons (11.1.4.2).
    pub asks: bool,
    /// Time for which it listens before it decides.
    pub dwell: Duration,
    /// Time when it begins.
    pub start: Instant,
}

/// See the module.
#[derive(Clone, Debug)]
pub struct Station {
    config: StationConfig,
    state: State,
    /// The access point of the last association, from which the next one moves it.
    previous: Option<MacAddress>,
    outputs: VecDeque<Output>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    /// Not begun.
    Off,
    /// Until the instant; the best access point heard so far.
    Scanning(Instant, Option<Candidate>),
    /// Requests sent so far, and until when the answer to the last one may come.
    Authenticating(Candidate, u32, Instant),
    Associating(Candidate, u32, Instant),
    /// Until the instant, unless a beacon comes.
    Associated(MacAddress, Instant, Coexistence),
}

/// An access point that could be joined.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Candidate {
    address: MacAddress,
    power: Power,
    interval: Duration,
    coexistence: Coexistence,
}

impl Station {
    /// A station that has heard nothing.
    pub fn new(config: StationConfig) -> Self {
        Self { config, state: State::Off, previous: None, outputs: VecDeque::new() }
    }

    /// The access point that it belongs to.
    pub fn access_point(&self) -> Option<MacAddress> {
        if let State::Associated(address, ..) = self.state { Some(address) } else { None }
    }

    /// A management frame from `from` has arrived with `power`.
    pub fn handle_frame(&mut self, from: MacAddress, body: &Repr, power: Power, now: Instant) {
        match (body, self.state) {
            (Repr::Beacon(bss) | Repr::ProbeResponse(bss), State::Scanning(until, best)) => {
                let candidate = self.candidate(from, bss, power);
                // Of equals the one that was heard first.
                if let Some(candidate) = candidate.filter(|new| best.is_none_or(|best| new.power > best.power)) {
                    self.state = State::Scanning(until, Some(candidate));
                }
            }
            (Repr::Beacon(bss), State::Associated(address, _, before)) if from == address => {
                let coexistence = coexistence(bss);
                self.state = State::Associated(address, now + beacon_loss(interval(bss)), coexistence);
                if coexistence != before {
                    self.outputs.push_back(Output::Adapt(coexistence));
                }
            }
            (Repr::Authentication { transaction: 2, status, .. }, State::Authenticating(chosen, ..))
                if from == chosen.address =>
            {
                if *status == Status::Success {
                    self.associate(chosen, 0, now);
                } else {
                    self.scan(now);
                }
            }
            (Repr::AssociationResponse { status, .. }, State::Associating(chosen, ..)) if from == chosen.address => {
                if *status == Status::Success {
                    self.join(&chosen, now);
                } else {
                    self.scan(now);
                }
            }
            (Repr::Deauthentication(_) | Repr::Disassociation(_), state) if state.peer() == Some(from) => {
                self.previous = None;
                self.leave(now);
            }
            _ => {}
        }
    }

    /// The instant of [`Self::poll_timeout`] has come.
    pub fn handle_timeout(&mut self, now: Instant) {
        match self.state {
            State::Off | State::Scanning(_, None) => self.scan(now),
            State::Scanning(_, Some(best)) => self.authenticate(best, 0, now),
            State::Authenticating(chosen, sent, _) if sent < ATTEMPTS => self.authenticate(chosen, sent, now),
            State::Associating(chosen, sent, _) if sent < ATTEMPTS => self.associate(chosen, sent, now),
            State::Authenticating(..) | State::Associating(..) => self.scan(now),
            State::Associated(..) => self.leave(now),
        }
    }

    /// Time of the next call of [`Self::handle_timeout`].
    pub fn poll_timeout(&self) -> Option<Instant> {
        Some(match self.state {
            State::Off => self.config.start,
            State::Scanning(until, _) | State::Authenticating(.., until) | State::Associating(.., until) => until,
            State::Associated(_, until, _) => until,
        })
    }

    /// Takes out the next output.
    #[must_use = "an output that is not carried out is lost"]
    pub fn poll_output(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    /// The access point behind a beacon or probe response, if it can be joined.
    fn candidate(&self, address: MacAddress, bss: &Bss, power: Power) -> Option<Candidate> {
        let fits = bss.capability.contains(Capability::ESS)
            && bss.elements.ssid == Some(self.config.ssid)
            && has_basic_rates(&self.config.rates, &bss.elements.rates);
        fits.then(|| Candidate { address, power, interval: interval(bss), coexistence: coexistence(bss) })
    }

    fn scan(&mut self, now: Instant) {
        self.state = State::Scanning(now + self.config.dwell, None);
        if self.config.asks {
            self.send(None, Repr::ProbeRequest(self.elements()));
        }
    }

    /// 11.3.4.2, open system.
    fn authenticate(&mut self, chosen: Candidate, sent: u32, now: Instant) {
        self.state = State::Authenticating(chosen, sent + 1, now + ANSWER_TIMEOUT);
        let body = Repr::Authentication { algorithm: 0, transaction: 1, status: Status::Success };
        self.send(Some(chosen.address), body);
    }

    /// 11.3.5.2, 11.3.5.4.
    fn associate(&mut self, chosen: Candidate, sent: u32, now: Instant) {
        self.state = State::Associating(chosen, sent + 1, now + ANSWER_TIMEOUT);
        let body = Repr::AssociationRequest {
            capability: self.config.capability,
            listen_interval: LISTEN_INTERVAL,
            current_access_point: self.previous,
            elements: self.elements(),
        };
        self.send(Some(chosen.address), body);
    }

    fn join(&mut self, chosen: &Candidate, now: Instant) {
        self.previous = Some(chosen.address);
        self.state = State::Associated(chosen.address, now + beacon_loss(chosen.interval), chosen.coexistence);
        self.outputs.push_back(Output::Joined(chosen.address));
        self.outputs.push_back(Output::Adapt(chosen.coexistence));
    }

    fn leave(&mut self, now: Instant) {
        self.outputs.extend(self.access_point().map(Output::Left));
        self.scan(now);
    }

    fn elements(&self) -> Elements {
        Elements { ssid: Some(self.config.ssid), rates: self.config.rates, ..Elements::default() }
    }

    fn send(&mut self, receiver: Option<MacAddress>, body: Repr) {
        self.outputs.push_back(Output::Send(Message { receiver, body, expires: None }));
    }
}

impl State {
    /// The access point that it has to do with.
    fn peer(self) -> Option<MacAddress> {
        match self {
            Self::Off | Self::Scanning(..) => None,
            Self::Authenticating(chosen, ..) | Self::Associating(chosen, ..) => Some(chosen.address),
            Self::Associated(address, ..) => Some(address),
        }
    }
}

fn interval(bss: &Bss) -> Duration {
    TIME_UNIT * u64::from(bss.beacon_interval)
}

fn beacon_loss(interval: Duration) -> Duration {
    interval * BEACON_LOSS
}

fn coexistence(bss: &Bss) -> Coexistence {
    Coexistence {
        use_protection: bss.elements.erp.is_some_and(|erp| erp.use_protection),
        short_slot: bss.capability.contains(Capability::SHORT_SLOT_TIME),
    }
}
