//! The recording of a run: what happened, when, at which node, in binary files that a viewer reads.
//!
//! | file | holds | written by |
//! |---|---|---|
//! | `events.bin` | [`Event`]s of 32 bytes in the order of their times | [`EventWriter`] |
//! | `samples.bin` | values of series | [`Recording`] |
//! | `positions.bin` | positions of nodes that move | [`Recording`] |
//! | `levels.bin` | level of detail: shares of time by node and bin | [`Levels`] |
//! | `recording.json` | what the others mean | [`Recording`] |
//!
//! All numbers are little-endian. Files have no header. `docs/recording.md` has the format in full.

mod event;
mod levels;
mod recorder;
mod recording;
mod series;
mod writer;

pub use event::{Event, Kind};
pub use levels::{Level, Levels};
pub use recording::{Recording, remove_others};
pub use writer::EventWriter;
