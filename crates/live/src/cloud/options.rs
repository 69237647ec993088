//! Options of `hopcast cloud serve`.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use hopcast_protocols::streaming::admission::Policy;
use hopcast_protocols::streaming::schedule::Discipline;
use hopcast_sim::scenario::quantity::Dimension;
use tracing::Level;

use crate::key::Files;

/// Be a device: offer clips, find other devices, and pass their streams on.
///
/// Runs until SIGINT or SIGTERM; `hopcast cloud list`, `play` and `status` ask it. It needs no privileges. All devices of a cloud have
/// the same network key.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Serve {
    /// An interface over which other devices are reached; may be given several times
    #[arg(short, long = "interface", value_name = "NAME", required = true)]
    pub(super) interfaces: Vec<String>,
    /// A clip: an MPEG transport stream, whose rate follows from its program clock, or any file with a stated rate, as "4 Mb/s=FILE". A
    /// folder stands for all its files that end in .ts. May be given several times, and several may follow
    #[arg(long, value_name = "[RATE=]FILE|FOLDER", num_args = 1..)]
    pub(super) offer: Vec<String>,
    #[command(flatten)]
    pub(super) keys: Files,
    /// Run without a network key: anybody within reach can reserve airtime, and see who plays what
    #[arg(long, conflicts_with = "key")]
    pub(super) open: bool,
    /// Address of this host, the same on all interfaces [default: the first IPv4 address of the first interface]
    #[arg(long, value_name = "ADDRESS")]
    pub(super) address: Option<Ipv4Addr>,
    /// Rule that decides whether a stream is admitted
    #[arg(long, value_enum, value_name = "RULE", default_value_t = Admission::Statistical)]
    pub(super) admission: Admission,
    /// Share of time that streams may reserve around this device, with --admission statistical and airtime
    #[arg(long, value_name = "SHARE", default_value = "0.85", value_parser = share)]
    pub(super) max_airtime: f64,
    /// Stalls per hour of display that a stream may have, with --admission statistical and profile
    #[arg(long, value_name = "NUMBER", default_value = "0.1", value_parser = stalls)]
    pub(super) stalls_per_hour: f64,
    /// Rate of every link by which --admission hops judges
    #[arg(long, value_name = "RATE", default_value = "25 Mb/s", value_parser = rate, allow_hyphen_values = true)]
    pub(super) nominal_rate: f64,
    /// Useful rate of all links of this device, as "20 Mb/s" [default: measured with packet pairs]
    #[arg(long, value_name = "RATE", value_parser = rate, allow_hyphen_values = true)]
    pub(super) link_rate: Option<f64>,
    /// Media that a display here buffers before it starts, and after a stall [default: as much as the links ask for, from 1 s to 60 s,
    /// with --admission statistical and profile, otherwise 1 s]
    #[arg(long, value_name = "TIME", value_parser = buffer, allow_hyphen_values = true)]
    pub(super) prefetch: Option<f64>,
    /// Highest rate at which this device sends a clip, as a multiple of the clip's rate: to fill a buffer
    #[arg(long, value_name = "FACTOR", default_value = "1.5", value_parser = factor)]
    pub(super) catch_up: f64,
    /// Hops over which transmissions are sensed: reserved airtime counts up to there
    #[arg(long, value_name = "HOPS", default_value = "2", value_parser = clap::value_parser!(u8).range(1..=2))]
    pub(super) sensing_hops: u8,
    /// Let streams that are played here, or go through here, take shorter paths while they are under way, and return if these fail
    #[arg(long)]
    pub(super) shorten: bool,
    /// The order in which this device sends packets of several streams of its clips [default: each at its own pace]
    #[arg(long, value_enum, value_name = "RULE")]
    pub(super) schedule: Option<Order>,
    /// Give metrics in Prometheus' form over HTTP on this loopback address and port, as 127.0.0.1:9655, at /metrics,
    /// and the status as a page that renews itself, at /
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = crate::serve::loopback)]
    pub(super) metrics: Option<SocketAddr>,
    /// Write a recording to this folder, for `hopcast view`: messages, bookings, refusals, media, and buffers and stalls of displays here
    #[arg(long, value_name = "DIR")]
    pub(super) record: Option<PathBuf>,
    /// The least level of what is logged, to standard error: error, warn, info, debug or trace
    #[arg(long, value_name = "LEVEL", default_value = "info")]
    pub(super) log: Level,
}

/// A rule of admission.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Admission {
    /// As airtime; and the stream stalls less often than --stalls-per-hour in the airtime that others leave
    Statistical,
    /// The stream stalls less often than --stalls-per-hour, as if no other stream took airtime
    Profile,
    /// The airtime of the streams around a device stays below --max-airtime
    Airtime,
    /// The measured mean rate of each link of the path is at least the stream's
    Mean,
    /// The rates of the streams around a device, each counted once for each hop there, stay below --nominal-rate
    Hops,
    /// Every stream is admitted
    All,
}

/// The order in which a device sends packets of several streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Order {
    /// The packet that has waited longest
    Fifo,
    /// Each stream in turn
    RoundRobin,
    /// The packet that is shown first
    EarliestDeadline,
    /// The stream whose display would stand still first
    EarliestHiccup,
}

impl From<Order> for Discipline {
    fn from(order: Order) -> Self {
        match order {
            Order::Fifo => Self::Fifo,
            Order::RoundRobin => Self::RoundRobin,
            Order::EarliestDeadline => Self::EarliestDeadline,
            Order::EarliestHiccup => Self::EarliestHiccup,
        }
    }
}

impl Admission {
    /// Its name.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Statistical => "statistical",
            Self::Profile => "profile",
            Self::Airtime => "airtime",
            Self::Mean => "mean",
            Self::Hops => "hops",
            Self::All => "all",
        }
    }
}

impl From<Admission> for Policy {
    fn from(admission: Admission) -> Self {
        match admission {
            Admission::Statistical => Self::Statistical,
            Admission::Profile => Self::Profile,
            Admission::Airtime => Self::Airtime,
            Admission::Mean => Self::Mean,
            Admission::Hops => Self::Hops,
            Admission::All => Self::All,
        }
    }
}

/// A number within bounds, whose first is excluded if it is zero.
fn within(text: &str, least: f64, most: f64) -> Result<f64, String> {
    let number: f64 = text.parse().map_err(|_| "is not a number".to_owned())?;
    let is_above = if least > 0.0 { number >= least } else { number > 0.0 };
    let from = if least > 0.0 { format!("from {least}") } else { "above 0".into() };
    if is_above && number <= most { Ok(number) } else { Err(format!("is not {from} up to {most}")) }
}

fn share(text: &str) -> Result<f64, String> {
    within(text, 0.0, 1.0)
}

fn stalls(text: &str) -> Result<f64, String> {
    within(text, 0.0, 3_600.0)
}

fn factor(text: &str) -> Result<f64, String> {
    within(text, 1.0, 10.0)
}

fn rate(text: &str) -> Result<f64, String> {
    let rate = Dimension::Rate.parse(text)?;
    if (1e3..=1e10).contains(&rate) { Ok(rate) } else { Err("a rate is between 1 kb/s and 10 Gb/s".into()) }
}

fn buffer(text: &str) -> Result<f64, String> {
    let time = Dimension::Time.parse(text)?;
    if (0.1..=60.0).contains(&time) { Ok(time) } else { Err("a buffer holds between 0.1 s and 60 s".into()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_bounds() {
        assert_eq!((share("0.5"), stalls("0.1"), factor("1")), (Ok(0.5), Ok(0.1), Ok(1.0)));
        assert_eq!(share("0"), Err("is not above 0 up to 1".into()));
        assert_eq!(factor("0.5"), Err("is not from 1 up to 10".into()));
        assert!(share("NaN").is_err() && share("x").is_err() && rate("1 b/s").is_err() && buffer("61 s").is_err());
        assert_eq!((rate("20 Mb/s"), buffer("2 s")), (Ok(20e6), Ok(2.0)));
    }
}
