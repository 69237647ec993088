//! Media from a file, a pipe or a local port of RTP to a pipe, a file or a local port of RTP: over DCCP in UDP (RFC 4340, RFC 6773) as
//! RTP (RFC 5762) at the rate of ADTFRC, or as plain RTP and RTCP in UDP at the rate of a congestion control of media.
//!
//! | topic | module |
//! |---|---|
//! | the two ends, as machines without sockets | `sender`, `receiver` |
//! | conventions of both ends | [`session`] |
//! | encapsulation of datagrams: the network's key | `envelope` |
//! | the rate of RTP | `rate` |
//! | from payload to media in order | `media`, `reorder`, `jitter` |
//! | from an MPEG transport stream, or several, to RTP | `transport_stream`, `feed` |
//! | recordings for `hopcast view` | `record` |
//! | the commands, which drive the machines with sockets | `send`, `receive` |
//! | files, pipes and ports; waiting; statistics; feedback to encoders | `endpoint`, `wait`, `statistics`, `feedback` |

mod endpoint;
mod envelope;
mod feed;
mod feedback;
mod jitter;
mod media;
mod modelled;
mod outbox;
mod rate;
mod receive;
mod receiver;
mod record;
mod reorder;
mod send;
mod sender;
pub mod session;
mod statistics;
pub(crate) mod transport_stream;
mod wait;

use std::path::Path;

pub use envelope::Sealing;
pub use jitter::Frames;
pub use media::MediaReport;
pub use rate::RateControl;
pub use receive::Receive;
pub use receiver::{Feedback, Receiver, ReceiverConfig, ReceiverOutput, ReceiverReport};
pub use reorder::Counts;
pub use send::Send;
pub use sender::{Reported, Sender, SenderConfig, SenderOutput, SenderReport, correction};
pub(crate) use statistics::schemas;

use crate::failure::Failure;
use crate::key::{Epoch, Keys, Randomness};

/// Carry media between real hosts, at the rate of a congestion control.
#[derive(Debug, clap::Args)]
pub struct Command {
    #[command(subcommand)]
    end: End,
}

#[derive(Debug, clap::Subcommand)]
enum End {
    Send(Box<Send>),
    Receive(Receive),
}

impl Command {
    /// Runs it.
    ///
    /// # Errors
    ///
    /// See [`Failure`].
    pub(crate) fn run(self) -> Result<(), Failure> {
        match self.end {
            End::Send(send) => send.run(),
            End::Receive(receive) => receive.run(),
        }
    }
}

/// A seed for the identifiers of one life of one end, from the platform's source of randomness.
///
/// # Errors
///
/// [`Failure::Run`], if there is none.
pub fn draw_seed() -> Result<u64, Failure> {
    getrandom::u64().map_err(|error| Failure::Run(format!("no randomness: {error}")))
}

/// The keys in `path`, if one is given, for one lifetime of one end.
///
/// # Errors
///
/// [`Failure::Input`], if `path` holds no key.
pub fn read_sealing(path: Option<&Path>) -> Result<Option<Sealing>, Failure> {
    let Some(path) = path else { return Ok(None) };
    let keys = Keys::read(path).map_err(|error| Failure::Input(error.to_string()))?;
    let epoch = Epoch::draw().map_err(|error| Failure::Run(format!("no randomness: {error}")))?;
    Ok(Some(Sealing { keys, epoch, randomness: Randomness::Platform }))
}

#[cfg(test)]
mod tests;
