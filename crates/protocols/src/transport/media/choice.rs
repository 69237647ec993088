//! Which congestion control a session runs under.

use hopcast_wire::ecn::Ecn;

use super::gcc::{self, Gcc};
use super::nada::{self, Nada};
use super::scream::{self, Scream};
use super::tfrc::Tfrc;
use super::{MediaCongestionControl, Uncontrolled};
use crate::time::Duration;
use crate::transport::{adtfrc, dccp, tfrc};

/// A congestion control of media that hopcast has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Congestion {
    /// That of WebRTC.
    Gcc,
    /// NADA.
    Nada,
    /// SCReAM v2.
    Scream,
    /// TFRC.
    Tfrc,
    /// ADTFRC.
    Adtfrc,
    /// None.
    None,
}

/// What a source can do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Source {
    /// The least target rate of use to it, in b/s.
    pub min_rate: u64,
    /// The greatest, in b/s.
    pub max_rate: u64,
    /// The time between two frames.
    pub frame_period: Duration,
    /// Bytes of a packet's headers, of RTP and below.
    pub headers: u32,
    /// Whether its packets may be marked instead of dropped.
    pub is_markable: bool,
    /// The size of a full packet by [`SentPacket::size`](super::SentPacket::size), in bytes.
    pub packet: u32,
    /// How its share of a bottleneck compares with that of others, 1 for all alike.
    pub weight: f64,
}

impl Congestion {
    /// All of them.
    pub const ALL: [Self; 6] = [Self::Gcc, Self::Nada, Self::Scream, Self::Tfrc, Self::Adtfrc, Self::None];

    /// The stable name in scenarios.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Gcc => "gcc",
            Self::Nada => "nada",
            Self::Scream => "scream",
            Self::Tfrc => "tfrc",
            Self::Adtfrc => "adtfrc",
            Self::None => "none",
        }
    }

    /// The one of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// A session for `source` that has sent nothing. Packets leave so that they can be marked if the algorithm reacts to that.
    pub fn start(self, source: Source) -> Box<dyn MediaCongestionControl> {
        let Source { min_rate, max_rate, frame_period, headers, is_markable, packet, weight } = source;
        match self {
            Self::Gcc => {
                let start_rate = gcc::Config::default().start_rate.clamp(min_rate, max_rate);
                Box::new(Gcc::new(gcc::Config { min_rate, start_rate, max_rate }))
            }
            Self::Nada => {
                let ecn = if is_markable { Ecn::Ect0 } else { Ecn::NotEct };
                Box::new(Nada::new(nada::Config { min_rate, max_rate, headers, priority: weight, ecn }))
            }
            Self::Scream => {
                let ecn = if is_markable { Ecn::Ect1 } else { Ecn::NotEct };
                Box::new(Scream::new(scream::Config { min_rate, max_rate, segment: packet, frame_period, ecn }))
            }
            Self::Tfrc => Box::new(Tfrc::new(dccp::Congestion::Tfrc(tfrc::Config::default()), source)),
            Self::Adtfrc => Box::new(Tfrc::new(dccp::Congestion::Adtfrc(adtfrc::Config::default()), source)),
            Self::None => Box::new(Uncontrolled::new(max_rate)),
        }
    }

    /// Whether the weight of a source matters to it.
    pub const fn knows_weights(self) -> bool {
        matches!(self, Self::Nada)
    }

    /// Whether it reacts to marks.
    pub const fn knows_ecn(self) -> bool {
        matches!(self, Self::Scream | Self::Nada)
    }
}
