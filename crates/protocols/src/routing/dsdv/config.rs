//! What may be chosen.

use crate::time::Duration;

/// Parameters of DSDV. The defaults of what the paper leaves open are those of ns-2.35 (`dsdv/dsdv.cc`, "constants"),
/// unless it says otherwise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// The longest time from one full dump to the next (`perup_`). Each time is drawn, from three quarters of it on.
    pub period: Duration,
    /// A neighbour is lost when nothing was heard of it for this many periods (`min_update_periods_`).
    pub allowed_loss: u32,
    /// Weight of the past in the average settling time, from 0 to 1 (`alpha_`).
    pub settling_weight: f64,
    /// Average settling time of a destination that is new (`wst0_`).
    pub first_settling: Duration,
    /// The shortest time from an update to an incremental one (`DSDV_MIN_TUP_PERIOD`).
    pub triggered_interval: Duration,
    /// The first full dump is sent within this time (`DSDV_STARTUP_JITTER`).
    pub startup_jitter: Duration,
    /// An incremental update is sent up to this much later (`DSDV_BROADCAST_JITTER`): neighbours have the same cause to send.
    pub broadcast_jitter: Duration,
    /// Whether a newer sequence number alone is news, which an incremental update tells: the DSDV-SQ of Broch and others
    /// (MobiCom 1998, section 3.1). ns-2.35 has it off (`TRIGGER_UPDATE_ON_FRESH_SEQNUM`), and so has the paper (section 3.3).
    pub sequence_number_triggers: bool,
    /// Whether a new destination and a newer number settle, too, before they are told, and are left out of updates until then;
    /// and whether an update is then sent for another metric of the same number and for a lost neighbour alone. So it is in
    /// ns-2.35 (`DSDV_Agent::processUpdate`), where a string of eight needs more than a minute to converge. The paper lets
    /// metrics settle (section 3.4).
    pub settle_everything: bool,
    /// Whether a neighbour is lost with a frame that the interface gives up (section 3.2 of the paper, which leaves it
    /// open). ns-2.35 has it off (`use_mac_` in `tcl/mobility/dsdv.tcl`): there the packet is dropped, and the way stays.
    pub link_layer_notification: bool,
    /// Maximum transmission unit, in bytes: an update is no longer, with 28 bytes of IPv4 and UDP. At least 63.
    pub mtu: u32,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            period: Duration::from_secs(15),
            allowed_loss: 3,
            settling_weight: 0.875,
            first_settling: Duration::from_secs(6),
            triggered_interval: Duration::from_secs(1),
            startup_jitter: Duration::from_secs(2),
            broadcast_jitter: Duration::from_millis(10),
            sequence_number_triggers: false,
            settle_everything: false,
            link_layer_notification: true,
            mtu: 1500,
        }
    }
}

impl Config {
    /// How long a neighbour may be silent.
    pub(crate) fn silence(&self) -> Duration {
        self.period * self.allowed_loss.into()
    }

    /// How many entries an update can have, the sender's own one included: at least 2.
    pub(crate) fn entries(&self) -> usize {
        const HEADERS: u32 = 28 + hopcast_wire::dsdv::HEADER_LEN as u32;
        let room = self.mtu.min(65535).saturating_sub(HEADERS) as usize;
        (room / hopcast_wire::dsdv::ENTRY_LEN).max(2)
    }
}
