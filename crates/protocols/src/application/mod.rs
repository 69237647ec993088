//! Applications: what writes to a transport, passes on, and reads, as state machines.
//!
//! A [`Source`] says how much it wants to write now ([`Source::poll_write`]); the driver hands that to the transport and
//! reports when the call has returned ([`Source::handle_written`]), which for a blocking source may be later.

mod adu;
mod cbr;
mod media;
mod relay;

pub use adu::AduSource;
pub use cbr::CbrSource;
pub use media::MediaSource;
pub use relay::Relay;

use crate::time::Instant;

/// Whatever writes data of its own into a flow.
#[derive(Clone, Debug)]
pub enum Source {
    /// Units written with a blocking call, with or without a wait between two.
    Adu(AduSource),
    /// Packets at even intervals, never blocking.
    Cbr(CbrSource),
    /// The frames of a film, never blocking.
    Media(MediaSource),
}

impl Source {
    /// Octets of the write that the source would make at `now`; `None` before its time and after its end.
    /// The answer stays the same until [`Self::handle_written`].
    pub fn poll_write(&self, now: Instant) -> Option<u32> {
        match self {
            Self::Adu(source) => source.poll_write(now),
            Self::Cbr(source) => source.poll_write(now),
            Self::Media(source) => source.poll_write(now),
        }
    }

    /// The write that [`Self::poll_write`] named has returned at `now`, accepted or, for a source that never blocks, refused.
    pub fn handle_written(&mut self, now: Instant) {
        match self {
            Self::Adu(source) => source.handle_written(now),
            Self::Cbr(source) => source.handle_written(),
            Self::Media(source) => source.handle_written(),
        }
    }

    /// When the source next wants to write; `None` after its end. May be in the past while a write is blocked.
    pub fn poll_timeout(&self) -> Option<Instant> {
        match self {
            Self::Adu(source) => source.poll_timeout(),
            Self::Cbr(source) => Some(source.poll_timeout()),
            Self::Media(source) => Some(source.poll_timeout()),
        }
    }

    /// Whether a write waits until the transport has room, rather than being refused.
    pub fn is_blocking(&self) -> bool {
        matches!(self, Self::Adu(_))
    }
}
