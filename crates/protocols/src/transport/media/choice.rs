//! Which congestion control a session runs under.

use hopcast_wire::ecn::Ecn;

use super::gcc::{self, Gcc};
use super::nada::{self, Nada};
use super::scream::{self, Scream};
use super::{MediaCongestionControl, Uncontrolled};
use crate::time::Duration;

/// A congestion control of media that hopcast has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Congestion {
    /// That of WebRTC.
    Gcc,
    /// NADA.
    Nada,
    /// SCReAM v2.
    Scream,
    /// None.
    None,
}

/// What a source can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source {
    /// The least target rate of use to it, in b/s.
    pub min_rate: u64,
    /// The greatest, in b/s.
    pub max_rate: u64,
    /// The time between two frames.
    pub frame_period: Duration,
    /// The size of a full packet by [`SentPacket::size`](super::SentPacket::size), in bytes.
    pub packet: u32,
}

impl Congestion {
    /// A session for `source` that has sent nothing; with `ecn` its packets can be marked, if the algorithm reacts to that.
    pub fn start(self, source: Source, ecn: bool) -> Box<dyn MediaCongestionControl> {
        let Source { min_rate, max_rate, frame_period, packet } = source;
        match self {
            Self::Gcc => {
                let start_rate = gcc::Config::default().start_rate.clamp(min_rate, max_rate);
                Box::new(Gcc::new(gcc::Config { min_rate, start_rate, max_rate }))
            }
            Self::Nada => {
                let ecn = if ecn { Ecn::Ect0 } else { Ecn::NotEct };
                Box::new(Nada::new(nada::Config { min_rate, max_rate, ecn, ..nada::Config::default() }))
            }
            Self::Scream => {
                let ecn = if ecn { Ecn::Ect1 } else { Ecn::NotEct };
                Box::new(Scream::new(scream::Config { min_rate, max_rate, segment: packet, frame_period, ecn }))
            }
            Self::None => Box::new(Uncontrolled::new(max_rate)),
        }
    }

    /// Whether it reacts to marks.
    pub const fn knows_ecn(self) -> bool {
        matches!(self, Self::Scream | Self::Nada)
    }
}
