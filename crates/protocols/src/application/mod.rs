//! Applications as state machines: they write to a transport, forward, and read.
//!
//! An [`Application`] says how much it wants to write now ([`Application::poll_write`]). The driver passes that to the
//! transport, and reports when the call has returned ([`Application::handle_written`]), which may be later if it blocks.
//! Data with a deadline has an expiry time ([`Application::expires`]), which goes with the packet. An application that
//! answers another one is told what arrives from it ([`Application::handle_received`]).
//!
//! At the other end, a [`Player`] turns arriving media into a display, and counts its stops. A [`JitterBuffer`] does so for live media,
//! which waits for nothing.

mod adu;
mod audio;
mod cbr;
mod codec;
mod file;
mod game;
mod jitter_buffer;
mod media;
mod player;
mod relay;
mod timeline;

pub use adu::AduSource;
pub use audio::AudioSource;
pub use cbr::CbrSource;
pub use codec::{CodecConfig, CodecModel, CodecSource, Ladder};
pub use file::FileSource;
pub use game::{GameDirection, GameModel, GameSource};
pub use jitter_buffer::{JitterBuffer, JitterBufferConfig, JitterBufferReport};
pub use media::MediaSource;
pub use player::{Player, PlayerConfig, PlayerReport};
pub use relay::Relay;
pub use timeline::Timeline;

use core::fmt;

use crate::time::Instant;

/// An encoder that follows a target rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Encoder {
    /// The least rate that it produces, in b/s.
    pub min_rate: f64,
    /// The greatest one, in b/s.
    pub max_rate: f64,
    /// Frames per second.
    pub frame_rate: f64,
}

/// Writes an application's data into a flow, over any transport.
///
/// Over UDP and DCCP each write is a datagram, which forward error correction may protect; over TCP it is bytes of a
/// stream. The driver reports a blocking write ([`Self::is_blocking`]) once the transport has accepted it; a non-blocking
/// one loses the data for which the transport has no room.
///
/// At the time of [`Self::poll_timeout`], the driver asks [`Self::poll_write`], makes the write, and reports it with
/// [`Self::handle_written`]; several writes may be due at the same time.
pub trait Application: fmt::Debug {
    /// Bytes, at least 1, of the write that the application would make at `now`; `None` before its time and after its end. The answer
    /// stays the same until [`Self::handle_written`].
    fn poll_write(&self, now: Instant) -> Option<u32>;

    /// The write that [`Self::poll_write`] named has returned at `now`, accepted or, for an application that never blocks, refused.
    fn handle_written(&mut self, now: Instant);

    /// Time of the next write; `None` after the application's end; [`Instant::MAX`] if it waits for data that it may
    /// receive. May be in the past while a write is blocked.
    fn poll_timeout(&self) -> Option<Instant>;

    /// `octets` have arrived at `now` on the flow that this application listens to, if any: a datagram, or, of a stream,
    /// the bytes that could be read at once. Called from the start of the application to its end or stop. May change the
    /// next write and its time, unless that write is due already.
    fn handle_received(&mut self, _octets: u32, _now: Instant) {}

    /// The transport has congestion control of media, which allows `rate` b/s from `now` on, headers not counted.
    fn handle_target_rate(&mut self, _rate: u64, _now: Instant) {}

    /// Size limit of writes in bytes: a transport of datagrams must be able to carry them.
    fn largest_write(&self) -> u32;

    /// Time after which the write of [`Self::poll_write`] is no longer worth sending; `None`: never. Called before
    /// [`Self::handle_written`]. It has an effect over UDP only.
    fn expires(&self) -> Option<Instant> {
        None
    }

    /// Whether the application ends after a certain amount.
    fn is_finite(&self) -> bool {
        false
    }

    /// Whether a write waits until the transport has room, instead of being refused.
    fn is_blocking(&self) -> bool {
        false
    }

    /// What an encoder can do that follows a target rate; `None` for any other application.
    fn encoder(&self) -> Option<Encoder> {
        None
    }

    /// Playing time of each write, for media that a [`Player`] can show.
    fn timeline(&self) -> Option<Timeline> {
        None
    }
}
