//! Media over ADTFRC.
//!
//! | what | module |
//! |---|---|
//! | the two ends, as machines without sockets | `sender`, `receiver` |
//! | what both agree upon | `session` |

mod envelope;
mod media;
mod outbox;
mod receiver;
mod reorder;
mod sender;
pub mod session;

pub use media::MediaReport;
pub use receiver::{Receiver, ReceiverConfig, ReceiverOutput, ReceiverReport};
pub use reorder::Counts;
pub use sender::{Sender, SenderConfig, SenderOutput, SenderReport};

use crate::failure::Failure;

/// Media over ADTFRC.
#[derive(Debug, clap::Args)]
pub struct Command {}

impl Command {
    /// Runs it.
    ///
    /// # Errors
    ///
    /// See [`Failure`].
    pub fn run(self) -> Result<(), Failure> {
        Err(Failure::Input("not built yet".into()))
    }
}

#[cfg(test)]
mod tests;
