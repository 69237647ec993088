//! What may be chosen.

use crate::time::Duration;

/// Willingness of a node that passes nothing on (RFC 3626, 18.8).
pub const WILL_NEVER: u8 = 0;
/// Willingness of a node that every neighbour selects (RFC 3626, 18.8).
pub const WILL_ALWAYS: u8 = 7;

/// Parameters of OLSR. The defaults are those of RFC 3626, 18.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// HELLO_INTERVAL, and REFRESH_INTERVAL too: every HELLO names all neighbours (18.2). From it follow
    /// `neighbour_hold` and `max_jitter`.
    pub hello_interval: Duration,
    /// TC_INTERVAL (18.2). From it follows `topology_hold`.
    pub tc_interval: Duration,
    /// DUP_HOLD_TIME: how long a message is known for a duplicate (18.3).
    pub duplicate_hold: Duration,
    /// How willing the node is to pass on packets of others, from [`WILL_NEVER`] to [`WILL_ALWAYS`] (18.8).
    pub willingness: u8,
    /// TC_REDUNDANCY: whom TC messages advertise. 0: those who have selected this node; 1: and those whom it has selected; 2 and
    /// above: all neighbours (15.1).
    pub tc_redundancy: u8,
    /// MPR_COVERAGE: how many relays every neighbour's neighbour should have (16.1). At least 1.
    pub mpr_coverage: u32,
    /// Whether a link has to prove itself before it counts (14). Off by default, as in ns-3: the section is optional, and under
    /// load it loses a link with the second of two collisions.
    pub hysteresis: Option<Hysteresis>,
    /// Whether a link is lost with a frame that the interface gives up (13). Off by default: the section is optional, and a frame
    /// that collided too often costs the link for NEIGHB_HOLD_TIME.
    pub link_layer_notification: bool,
    /// How long calculated routes stay as they are whatever messages tell, for each tuple that messages have told of. The time of a
    /// calculation grows with these tuples, so calculations take a bounded share of the processor. Default: 0, calculate whenever a
    /// route is asked for and something has changed.
    pub calculation_pause: Duration,
    /// Maximum transmission unit, in bytes: messages of this node are cut and bundled so that packets are no longer, with 28
    /// bytes of IPv4 and UDP.
    pub mtu: u32,
}

/// Parameters of link hysteresis. The defaults are those of RFC 3626, 18.7.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hysteresis {
    /// HYST_SCALING: weight of the last packet in the quality of a link, from 0 to 1.
    pub scaling: f64,
    /// HYST_THRESHOLD_HIGH: above it, a link is established.
    pub high: f64,
    /// HYST_THRESHOLD_LOW: below it, it is no more.
    pub low: f64,
}

impl Default for Hysteresis {
    fn default() -> Self {
        Self { scaling: 0.5, high: 0.8, low: 0.3 }
    }
}

impl Default for Config {
    fn default() -> Self {
        Self {
            hello_interval: Duration::from_secs(2),
            tc_interval: Duration::from_secs(5),
            duplicate_hold: Duration::from_secs(30),
            willingness: 3,
            tc_redundancy: 0,
            mpr_coverage: 1,
            hysteresis: None,
            link_layer_notification: false,
            calculation_pause: Duration::ZERO,
            mtu: 1500,
        }
    }
}

impl Config {
    /// NEIGHB_HOLD_TIME (18.3).
    pub(crate) fn neighbour_hold(&self) -> Duration {
        self.hello_interval * 3
    }

    /// TOP_HOLD_TIME (18.3).
    pub(crate) fn topology_hold(&self) -> Duration {
        self.tc_interval * 3
    }

    /// MAXJITTER (18.9).
    pub(crate) fn max_jitter(&self) -> Duration {
        self.hello_interval / 4
    }

    /// The most bytes that messages of one packet may have together.
    pub(super) fn payload(&self) -> usize {
        const HEADERS: u32 = 28 + hopcast_wire::olsr::HEADER_LEN as u32;
        // Below 64, a HELLO with one address would not fit.
        self.mtu.min(65535).saturating_sub(HEADERS).max(64) as usize
    }
}
