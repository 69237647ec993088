//! Measurement: flows, drops by cause, and their development over time.
//!
//! # Conservation
//!
//! No packet gets lost without a cause. hopcast checks this at three layers:
//!
//! * packets at a host: `Counters::unaccounted` is zero, together with what the host holds;
//! * datagrams of a flow: sent = received + lost + in flight, where each datagram in flight is found somewhere
//!   ([`Census`]);
//! * bytes of a stream: the sink reads at most what was written, and the missing bytes are in the buffers between.

mod arrivals;
mod census;
pub mod conversation;
mod counters;
mod fec;
mod flow;
mod jitter;
mod journal;
mod ledger;
mod monitor;
mod path_state;
mod playout;
mod series;
mod viewing;
mod way;

pub use arrivals::{ArrivalSummary, Arrivals, Signals};
pub use census::Census;
pub use counters::{Counters, DropCause};
pub use fec::FecSummary;
pub use flow::{FlowMetrics, FlowSpec, FlowSummary, FlowTable, MediaSummary, TcpStatistics};
pub use jitter::{Jitter, JitterSummary, Spread};
pub(crate) use journal::{Dropped, Fate, Passage, Shown};
pub(crate) use ledger::Losses;
pub use ledger::{Arrival, Ledger};
pub use monitor::{Identified, Loss, Monitor, Score, Scores, Truth, Unjudged};
pub use path_state::{PathState, RateControl};
pub use playout::{FrameSummary, PlayerSpec, PlayerSummary};
pub use series::{PathSample, Sample, Series};
pub use way::WaySummary;
