//! What a user sets.

use super::super::tfrc::{self, Edition};
use crate::time::Duration;

/// What congestion is identified by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Identification {
    /// IDD is HIGH and STT is LOW (Table II).
    #[default]
    Joint,
    /// IDD is HIGH: the single metric that section III-D compares with.
    DelayDifference,
    /// STT is LOW: the other one.
    Throughput,
}

impl Identification {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Joint, Self::DelayDifference, Self::Throughput];

    /// The stable name in scenarios and results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Joint => "joint",
            Self::DelayDifference => "idd",
            Self::Throughput => "stt",
        }
    }
}

/// Parameters of a flow; those of both ends should be the same.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// Those of the TFRC that it is built on.
    pub tfrc: tfrc::Config,
    /// What the receiver identifies the congestion by that the flow acts on. If nothing, its receiver counts every loss and tells no
    /// state, so that it is TFRC of which only the identification is measured, as in sections III-C and III-D.
    pub identification: Option<Identification>,
    /// Time between two probes of a path that is gone.
    pub probe_interval: Duration,
    /// The connection closes instead of sending this many probes; at least 1.
    pub probe_limit: u32,
}

impl Default for Config {
    /// As in the [module](super), with packets of 1000 bytes.
    fn default() -> Self {
        Self {
            tfrc: tfrc::Config { edition: Edition::Rfc3448, ..tfrc::Config::default() },
            identification: Some(Identification::Joint),
            probe_interval: Duration::from_secs(2),
            probe_limit: 50,
        }
    }
}
