//! The network key: a host without it can read nothing, change nothing, and use up no resources.
//!
//! Each start of a program draws an [`Epoch`], and derives a separate key for it from the network key by HKDF-SHA-256
//! (RFC 5869), so that no restart and no second sender ever uses a nonce again. With this key it encrypts and
//! authenticates each datagram by ChaCha20-Poly1305 (RFC 8439), with a counter as nonce:
//!
//! ```text
//! octets   1      16      8         n        16
//!        +------+-------+---------+--------+-----+
//!        | kind | epoch | counter | sealed | tag |     kind, epoch and counter are authenticated too
//!        +------+-------+---------+--------+-----+
//! ```
//!
//! A receiver accepts each counter of an epoch once, and none far behind the newest ([`window`]). A proof protects
//! against recordings of earlier epochs: a receiver accepts nothing of an epoch that is new to it until the sender has
//! named the receiver's own epoch, which no earlier recording can contain. It also accepts nothing of a sender that has
//! not done so for a minute ([`Guard`]). So no common clock is needed, and no memory beyond a restart.
//!
//! # What it does not do
//!
//! * Everybody who has the key can send anything, under any address. A key that becomes known also opens recordings.
//! * Lengths and times of datagrams are visible. An attacker that can jam, delay or relay frames still can: a datagram
//!   that was kept from its receiver can be delivered later, up to 63 s after it was sealed.

pub mod command;
mod credentials;
mod file;
mod guard;
mod identity;
#[cfg(test)]
mod model;
mod noise;
mod session;
#[cfg(test)]
mod session_model;
pub mod window;

use core::fmt;
use std::path::Path;

use chacha20poly1305::{ChaCha20Poly1305, KeyInit};
use hkdf::Hkdf;
use sha2::Sha256;

pub(crate) use self::credentials::{Credentials, Files, sealing};
pub use self::file::{Content, KeyError};
pub use self::guard::{Counters, Guard, MIN_LEN, OVERHEAD, Refusal, SIGNATURE_OVERHEAD};
pub use self::identity::{Identity, Members};
pub use self::noise::Randomness;
pub use self::session::{Initiator, Responder};

/// Length of a network key, in bytes: that of a key of ChaCha20 (RFC 8439, section 2.3).
pub(crate) const KEY_LEN: usize = 32;
/// Length of the name of an epoch, in bytes: as long as what HKDF is to be salted with to be drawn at random without two ever
/// being the same.
pub(crate) const EPOCH_LEN: usize = 16;

/// Name of one lifetime of one sender.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Epoch(pub [u8; EPOCH_LEN]);

impl Epoch {
    /// A new one, drawn from the platform's source of randomness.
    ///
    /// # Errors
    ///
    /// The platform's, where it has no randomness to give.
    pub(crate) fn draw() -> Result<Self, getrandom::Error> {
        let mut octets = [0; EPOCH_LEN];
        getrandom::fill(&mut octets)?;
        Ok(Self(octets))
    }
}

impl fmt::Debug for Epoch {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|octet| write!(formatter, "{octet:02x}"))
    }
}

/// Purpose of a key: datagrams for one purpose are invalid for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Messages of this routing protocol.
    Node(&'static str),
    /// Handshakes of streams. Media is sealed with the keys that these make.
    Stream,
    /// Messages and media of a streaming cloud.
    Cloud,
}

impl Purpose {
    /// Its name, in two parts.
    fn name(self) -> [&'static str; 2] {
        match self {
            Self::Node(protocol) => ["node ", protocol],
            Self::Stream => ["stream handshake", ""],
            Self::Cloud => ["cloud", ""],
        }
    }

    /// The most signatures that are checked in a second: a router's messages take 32 µs each, and packets of media about 60. Of those of a
    /// router, 200 neighbours that say something twice a second need a fifth; in a cloud media of 100 Mb/s need 9500.
    const fn most_checks(self) -> u32 {
        match self {
            Self::Node(_) | Self::Stream => 2_000,
            Self::Cloud => 10_000,
        }
    }
}

/// The key that the nodes of a network share.
#[derive(Clone, PartialEq, Eq)]
pub struct NetworkKey([u8; KEY_LEN]);

impl NetworkKey {
    /// The key of these bytes, which must be hard to guess.
    #[cfg(any(test, feature = "testkit"))]
    pub(crate) const fn new(octets: [u8; KEY_LEN]) -> Self {
        Self(octets)
    }

    /// A new one, drawn from the platform's source of randomness.
    ///
    /// # Errors
    ///
    /// The platform's, where it has no randomness to give.
    pub(crate) fn draw() -> Result<Self, getrandom::Error> {
        let mut octets = [0; KEY_LEN];
        getrandom::fill(&mut octets)?;
        Ok(Self(octets))
    }

    /// Writes the key into a new file that is open to its owner alone.
    ///
    /// # Errors
    ///
    /// See [`KeyError`]. A file that was there before is left as it was, and no other is left.
    pub(crate) fn write_new(&self, path: &Path) -> Result<(), KeyError> {
        file::write_new(path, self)
    }

    /// The cipher of an epoch, and of nothing else.
    fn cipher(&self, purpose: Purpose, epoch: Epoch) -> ChaCha20Poly1305 {
        let [what, protocol] = purpose.name();
        let mut key = chacha20poly1305::Key::default();
        Hkdf::<Sha256>::new(Some(&epoch.0), &self.0)
            .expand_multi_info(&[b"hopcast 1 ", what.as_bytes(), protocol.as_bytes()], &mut key)
            .expect("HKDF-SHA-256 gives up to 255 times 32 octets");
        ChaCha20Poly1305::new(&key)
    }
}

/// The most keys of one file. A change of keys needs two; each costs time for a datagram of an unknown sender.
pub(crate) const MAX_KEYS: usize = 4;

/// Keys of one program: it seals with the first, and opens with all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keys(Vec<NetworkKey>);

impl Keys {
    /// One key.
    #[cfg(any(test, feature = "testkit"))]
    pub(crate) fn one(octets: [u8; KEY_LEN]) -> Self {
        Self(vec![NetworkKey::new(octets)])
    }

    /// Reads the keys in `path`: up to four lines of 64 hexadecimal digits, in a file that is open to its owner alone.
    ///
    /// # Errors
    ///
    /// See [`KeyError`].
    pub(crate) fn read(path: &Path) -> Result<Self, KeyError> {
        file::read(path).map(Self)
    }

    /// Reads the keys of a running command again, and draws the epoch under which the first one seals from now on. Logs the
    /// result; `None`: the keys stay as they are.
    pub(crate) fn read_again(path: &Path) -> Option<(Self, Epoch)> {
        let keys = Self::read(path).map_err(|error| error.to_string());
        match keys.and_then(|keys| Ok((keys, Epoch::draw().map_err(|error| error.to_string())?))) {
            Ok((keys, epoch)) => {
                tracing::info!(keys = keys.all().len(), "the keys were read again; the first seals");
                Some((keys, epoch))
            }
            Err(error) => {
                tracing::error!(error, "the keys stay as they were");
                None
            }
        }
    }

    /// The key that seals.
    pub(crate) fn first(&self) -> &NetworkKey {
        self.0.first().expect("a file without a key is refused")
    }

    /// All keys, the one that seals first.
    pub(crate) fn all(&self) -> &[NetworkKey] {
        &self.0
    }
}

impl fmt::Debug for NetworkKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("NetworkKey(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_does_not_show_itself() {
        assert_eq!(format!("{:?}", NetworkKey::new([0xab; KEY_LEN])), "NetworkKey(…)");
    }

    #[test]
    fn what_is_drawn_differs() {
        assert_ne!(NetworkKey::draw().expect("randomness"), NetworkKey::draw().expect("randomness"));
        assert_ne!(Epoch::draw().expect("randomness"), Epoch::draw().expect("randomness"));
    }
}
