//! Association over the air (IEEE 802.11-2020, clause 11): the exchange between an access point and its stations before
//! and in addition to data. It consists of state machines without clock or medium, which exchange bodies of management
//! frames.
//!
//! ```text
//!  station                          access point
//!     │ scanning: listens, or asks        │ beacon each TBTT              11.1.3, 11.1.4
//!     │── authentication, 1 ─────────────►│
//!     │◄───────────── authentication, 2 ──│                               11.3.4
//!     │── (re)association request ───────►│
//!     │◄────── (re)association response ──│── acknowledged: has joined    11.3.5
//!     │ beacons missing: scanning         │
//! ```
//!
//! The driver makes one change (`handle_*`), then takes everything from `poll_output`, and then sets its timer to
//! `poll_timeout`.

mod access_point;
mod station;
#[cfg(test)]
mod tests;

use hopcast_protocols::time::{Duration, Instant};
use hopcast_wire::MacAddress;
use hopcast_wire::ieee80211::management::{Rates, Repr};

pub use access_point::{AccessPoint, AccessPointConfig};
pub use station::{ACTIVE_DWELL, ANSWER_TIMEOUT, ATTEMPTS, BEACON_LOSS, Station, StationConfig};

use crate::phy::{ModulationClass, Phy, TxVector};

/// A time unit, TU (3.1).
pub const TIME_UNIT: Duration = Duration::from_micros(1_024);

/// A management frame to send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The receiver; `None`: all.
    pub receiver: Option<MacAddress>,
    /// The body.
    pub body: Repr,
    /// Time after which it is not worth sending: the next beacon is due.
    pub expires: Option<Instant>,
}

/// An action that a machine asks for, or an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// Send this message.
    Send(Message),
    /// From now on this is the station's access point, or a station of the access point.
    Joined(MacAddress),
    /// It no longer is.
    Left(MacAddress),
    /// From now on the network uses this coexistence.
    Adapt(Coexistence),
}

/// Measures of an 802.11g network for stations of 802.11b that belong to it (10.27, 18.5.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coexistence {
    /// Whether OFDM frames are protected.
    pub use_protection: bool,
    /// Whether the slot is short: 9 µs instead of 20 µs.
    pub short_slot: bool,
}

/// The rates that a station with `phy` announces; mandatory rates up to those of `basic` are marked as basic ones. A
/// station of 802.11b in an 802.11g network (`is_erp` false) has only those of DSSS.
pub fn rates(phy: &Phy, basic: TxVector, is_erp: bool) -> Rates {
    let mut rates = Rates::default();
    for &rate in phy.vectors().iter().filter(|rate| !rate.format().has_shape()) {
        let is_basic = rate.modulation_class() == basic.modulation_class()
            && (rate == basic || rate.data_rate() < basic.data_rate() && rate.framing().is_basic);
        if is_erp || rate.modulation_class() == ModulationClass::Dsss {
            rates.push(phy.supported_rate(rate), is_basic);
        }
    }
    rates
}

/// Whether a station with `rates` understands every basic rate of `network`.
fn has_basic_rates(rates: &Rates, network: &Rates) -> bool {
    network.iter().filter(|&(_, is_basic)| is_basic).all(|(units, _)| rates.contains(units))
}
