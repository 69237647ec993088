//! Applications: what writes to a transport, passes on, and reads, as state machines.
//!
//! An [`Application`] says how much it wants to write now ([`Application::poll_write`]); the driver hands that to the transport
//! and reports when the call has returned ([`Application::handle_written`]), which for a blocking one may be later. What has a
//! deadline is written with the instant when it expires ([`Application::expires`]), which goes with the packet. An application that
//! answers another one is told of what has come from it ([`Application::handle_received`]).
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

use core::fmt;

use crate::time::Instant;

/// Writes an application's data into a flow, over any transport.
///
/// Over UDP and DCCP each write is a datagram, which forward error correction may protect; over TCP it is bytes of a stream. A write
/// that blocks ([`Self::is_blocking`]) is reported once the transport has taken it; of another one, what the transport has no room for
/// is lost.
///
/// The driver asks [`Self::poll_write`] when [`Self::poll_timeout`] has come, makes the write, and reports it with
/// [`Self::handle_written`]; several writes may be due at one instant.
pub trait Application: fmt::Debug {
    /// Bytes, at least 1, of the write that the application would make at `now`; `None` before its time and after its end. The answer
    /// stays the same until [`Self::handle_written`].
    fn poll_write(&self, now: Instant) -> Option<u32>;

    /// The write that [`Self::poll_write`] named has returned at `now`, accepted or, for an application that never blocks, refused.
    fn handle_written(&mut self, now: Instant);

    /// When the application next wants to write; `None` after its end; [`Instant::MAX`] if it waits for what it may receive. May be in
    /// the past while a write is blocked.
    fn poll_timeout(&self) -> Option<Instant>;

    /// `octets` have arrived at `now` of the flow that this application listens to, if it listens to one: a datagram, or, of a stream,
    /// what could be read at once. Told from the start of the application to its end or stop. May change when the next write is due and
    /// what it is, unless that is due already.
    fn handle_received(&mut self, _octets: u32, _now: Instant) {}

    /// Bytes that no write exceeds: a transport of datagrams must be able to carry them.
    fn largest_write(&self) -> u32;

    /// The instant from which what [`Self::poll_write`] named is not worth sending any more; `None`: never. Asked before
    /// [`Self::handle_written`]. UDP alone keeps to it.
    fn expires(&self) -> Option<Instant> {
        None
    }

    /// Whether there is a certain amount to write, with which the application ends.
    fn is_finite(&self) -> bool {
        false
    }

    /// Whether a write waits until the transport has room, rather than being refused.
    fn is_blocking(&self) -> bool {
        false
    }

    /// How far each write takes the media, if it is media that a [`Player`] can show.
    fn timeline(&self) -> Option<Timeline> {
        None
    }
}
