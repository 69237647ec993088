//! The recording of a run: what happened, when, at which node, in binary files that a viewer reads.
//!
//! | file | holds | written by |
//! |---|---|---|
//! | `events.bin` | [`Event`]s of 32 bytes in the order of their times | [`EventWriter`] |
//! | `levels.bin` | level of detail: shares of time by node and bin | [`Levels`] |
//!
//! All numbers are little-endian. Files have no header. The run does not feed this module yet.

mod event;
mod levels;
mod writer;

pub use event::{Event, Kind};
pub use levels::{Level, Levels};
pub use writer::EventWriter;
