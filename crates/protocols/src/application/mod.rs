//! Applications: what writes to a transport, passes on, and reads, as state machines.
//!
//! A [`Source`] says how much it wants to write now ([`Source::poll_write`]); the driver hands that to the transport and
//! reports when the call has returned ([`Source::handle_written`]), which for a blocking source may be later. What has a
//! deadline is written with the instant when it expires ([`Source::expires`]), which goes with the packet.
//!
//! At the other end, a [`Player`] turns the arrival of media into a display, and counts where that had to stop.

mod adu;
mod audio;
mod cbr;
mod file;
mod game;
mod media;
mod player;
mod relay;
mod timeline;

pub use adu::AduSource;
pub use audio::AudioSource;
pub use cbr::CbrSource;
pub use file::FileSource;
pub use game::{GameDirection, GameModel, GameSource};
pub use media::MediaSource;
pub use player::{Player, PlayerConfig, PlayerReport};
pub use relay::Relay;
pub use timeline::Timeline;

use crate::time::Instant;

/// Whatever writes data of its own into a flow.
#[derive(Clone, Debug)]
pub enum Source {
    /// Units written with a blocking call, with or without a wait between two.
    Adu(AduSource),
    /// Packets at even intervals that expire, never blocking.
    Audio(AudioSource),
    /// Packets at even intervals, never blocking.
    Cbr(CbrSource),
    /// Files, with blocking calls.
    File(FileSource),
    /// Small packets at random intervals, never blocking.
    Game(GameSource),
    /// The frames of a film, never blocking.
    Media(MediaSource),
}

impl Source {
    /// Octets of the write that the source would make at `now`; `None` before its time and after its end.
    /// The answer stays the same until [`Self::handle_written`].
    pub fn poll_write(&self, now: Instant) -> Option<u32> {
        match self {
            Self::Adu(source) => source.poll_write(now),
            Self::Audio(source) => source.poll_write(now),
            Self::Cbr(source) => source.poll_write(now),
            Self::File(source) => source.poll_write(now),
            Self::Game(source) => source.poll_write(now),
            Self::Media(source) => source.poll_write(now),
        }
    }

    /// The instant from which what [`Self::poll_write`] named is not worth sending any more; `None`: never. To be asked before
    /// [`Self::handle_written`].
    pub fn expires(&self) -> Option<Instant> {
        match self {
            Self::Audio(source) => source.expires(),
            Self::Adu(_) | Self::Cbr(_) | Self::File(_) | Self::Game(_) | Self::Media(_) => None,
        }
    }

    /// The write that [`Self::poll_write`] named has returned at `now`, accepted or, for a source that never blocks, refused.
    pub fn handle_written(&mut self, now: Instant) {
        match self {
            Self::Adu(source) => source.handle_written(now),
            Self::Audio(source) => source.handle_written(),
            Self::Cbr(source) => source.handle_written(),
            Self::File(source) => source.handle_written(now),
            Self::Game(source) => source.handle_written(),
            Self::Media(source) => source.handle_written(),
        }
    }

    /// When the source next wants to write; `None` after its end. May be in the past while a write is blocked.
    pub fn poll_timeout(&self) -> Option<Instant> {
        match self {
            Self::Adu(source) => source.poll_timeout(),
            Self::Audio(source) => Some(source.poll_timeout()),
            Self::Cbr(source) => Some(source.poll_timeout()),
            Self::File(source) => source.poll_timeout(),
            Self::Game(source) => Some(source.poll_timeout()),
            Self::Media(source) => Some(source.poll_timeout()),
        }
    }

    /// Whether the source has a certain amount to write, and ends with it.
    pub fn is_finite(&self) -> bool {
        match self {
            Self::Adu(source) => source.is_finite(),
            Self::File(source) => source.is_finite(),
            Self::Audio(_) | Self::Cbr(_) | Self::Game(_) | Self::Media(_) => false,
        }
    }

    /// Whether a write waits until the transport has room, rather than being refused.
    pub fn is_blocking(&self) -> bool {
        matches!(self, Self::Adu(_) | Self::File(_))
    }
}
