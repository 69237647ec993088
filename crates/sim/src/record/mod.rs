//! The recording of a run: what happened, when, at which node, in binary files that a viewer reads.
//!
//! | file | holds | written by |
//! |---|---|---|
//! | `events.bin` | events of 32 bytes in the order of their starts | [`Recording`] |
//! | `samples.bin` | values of series | [`Recording`] |
//! | `positions.bin` | positions of nodes that move | [`Recording`] |
//! | `levels.bin` | level of detail: shares of time by node and bin | [`Recording`] |
//! | `recording.json` | what the others mean | [`Recording`] |
//!
//! [`Feed`] gives the same events, samples and positions to a viewer while the run goes on.
//!
//! [`Measured`] writes what programs on real hosts measure in the same format.
//!
//! All numbers are little-endian. Files have no header. `docs/recording.md` has the format in full.

mod event;
mod feed;
mod levels;
mod measured;
mod recorder;
mod recording;
mod series;
mod sink;
mod writer;

pub use feed::{Feed, KINDS, News};
pub use measured::{Carried, Fate, Flow, Happening, Measured, Measurement, Node, Step, Vocabulary};
pub use recording::{Recording, remove_others};
