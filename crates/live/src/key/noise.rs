//! The handshake of a session, by the Noise Protocol Framework (revision 34) as the crate snow implements it.
//!
//! The pattern is `NNpsk0`: each end draws a key pair for this session alone, and the network key goes into the first message.
//! A host without the network key can't make a message that is understood, and with this key alone no host can read what the session
//! carries afterwards (section 7.8 of the specification: the source and destination properties of `NN` with a symmetric key).

use std::sync::Arc;

use hkdf::Hkdf;
use sha2::Sha256;
use snow::params::{CipherChoice, DHChoice, HashChoice};
use snow::resolvers::{CryptoResolver, DefaultResolver};
use snow::types::{Cipher, Dh, Hash, Random};
use snow::{Builder, Error, HandshakeState, StatelessTransportState};

use super::{KEY_LEN, NetworkKey};

/// The name of the protocol (section 8 of the specification).
const PROTOCOL: &str = "Noise_NNpsk0_25519_ChaChaPoly_SHA256";
/// What both ends must agree on before: nothing else than hopcast's streams talks like this.
const PROLOGUE: &[u8] = b"hopcast 1 stream";
/// Purpose of the key that goes into handshakes.
const INFO: &[u8] = b"hopcast 1 noise stream";
/// Length of a key of X25519, and of what a secret one is made from.
pub(super) const EPHEMERAL_LEN: usize = 32;
/// Length of a tag.
pub(super) const TAG_LEN: usize = 16;
/// Length of each of the two messages: a public key, and the tag of no payload.
pub(super) const MESSAGE_LEN: usize = EPHEMERAL_LEN + TAG_LEN;

/// The secret part of a key pair for one session.
pub(super) type Ephemeral = [u8; EPHEMERAL_LEN];

/// Where the secrets of sessions come from.
#[derive(Clone, Debug)]
pub enum Randomness {
    /// The platform.
    Platform,
    /// A number that grows, for tests: anybody can guess these secrets.
    #[cfg(any(test, feature = "testkit"))]
    Counted(u64),
}

impl Randomness {
    /// A secret that was never used before; `None`, where the platform has no randomness to give.
    pub(super) fn draw(&mut self) -> Option<Ephemeral> {
        let mut secret = [0; EPHEMERAL_LEN];
        match self {
            Self::Platform => getrandom::fill(&mut secret).ok()?,
            #[cfg(any(test, feature = "testkit"))]
            Self::Counted(number) => {
                *number += 1;
                secret[..8].copy_from_slice(&number.to_be_bytes());
            }
        }
        Some(secret)
    }
}

/// The key that handshakes mix in: another one than that of any cipher.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct SharedKey([u8; KEY_LEN]);

impl SharedKey {
    pub(super) fn of(key: &NetworkKey) -> Self {
        let mut shared = [0; KEY_LEN];
        Hkdf::<Sha256>::new(None, &key.0)
            .expand(INFO, &mut shared)
            .expect("HKDF-SHA-256 gives up to 255 times 32 octets");
        Self(shared)
    }
}

impl core::fmt::Debug for SharedKey {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        formatter.write_str("SharedKey(…)")
    }
}

/// Keys of a session, one for each direction. They don't show themselves.
pub(super) type Transport = Arc<StatelessTransportState>;

/// The first message of the handshake that this secret begins.
pub(super) fn first_message(key: &SharedKey, secret: &Ephemeral) -> Option<[u8; MESSAGE_LEN]> {
    begin(key, secret).ok().map(|(_, message)| message)
}

/// The keys that the handshake of this secret makes, with the second message; `None` if that is not its answer.
pub(super) fn finish(key: &SharedKey, secret: &Ephemeral, second: &[u8]) -> Option<Transport> {
    // What comes from others changes no state: a handshake is made from its secret each time, so that a wrong message ends none.
    let (mut handshake, _) = begin(key, secret).ok()?;
    let len = handshake.read_message(second, &mut [0; MESSAGE_LEN]).ok()?;
    if len > 0 {
        return None;
    }
    handshake.into_stateless_transport_mode().ok().map(Arc::new)
}

/// The second message, and the keys that it makes; `None`, if `first` is no first message of a holder of this key.
pub(super) fn answer(key: &SharedKey, secret: &Ephemeral, first: &[u8]) -> Option<([u8; MESSAGE_LEN], Transport)> {
    let mut handshake = builder(key, secret).ok()?.build_responder().ok()?;
    if handshake.read_message(first, &mut [0; MESSAGE_LEN]).ok()? > 0 {
        return None;
    }
    let message = write(&mut handshake).ok()?;
    Some((message, Arc::new(handshake.into_stateless_transport_mode().ok()?)))
}

fn begin(key: &SharedKey, secret: &Ephemeral) -> Result<(HandshakeState, [u8; MESSAGE_LEN]), Error> {
    let mut handshake = builder(key, secret)?.build_initiator()?;
    let message = write(&mut handshake)?;
    Ok((handshake, message))
}

fn write(handshake: &mut HandshakeState) -> Result<[u8; MESSAGE_LEN], Error> {
    let mut message = [0; MESSAGE_LEN];
    let len = handshake.write_message(&[], &mut message)?;
    debug_assert_eq!(len, MESSAGE_LEN, "both messages are a public key and a tag");
    Ok(message)
}

fn builder<'a>(key: &'a SharedKey, secret: &Ephemeral) -> Result<Builder<'a>, Error> {
    let resolver = Box::new(Resolver(*secret));
    Builder::with_resolver(PROTOCOL.parse()?, resolver).prologue(PROLOGUE)?.psk(0, &key.0)
}

/// The primitives of snow, and a secret in place of its source of randomness.
struct Resolver(Ephemeral);

impl CryptoResolver for Resolver {
    fn resolve_rng(&self) -> Option<Box<dyn Random>> {
        Some(Box::new(Drawn(Some(self.0))))
    }

    fn resolve_dh(&self, choice: &DHChoice) -> Option<Box<dyn Dh>> {
        DefaultResolver.resolve_dh(choice)
    }

    fn resolve_hash(&self, choice: &HashChoice) -> Option<Box<dyn Hash>> {
        DefaultResolver.resolve_hash(choice)
    }

    fn resolve_cipher(&self, choice: &CipherChoice) -> Option<Box<dyn Cipher>> {
        DefaultResolver.resolve_cipher(choice)
    }
}

/// A secret that was drawn before: handed out once.
struct Drawn(Option<Ephemeral>);

impl Random for Drawn {
    fn try_fill_bytes(&mut self, dest: &mut [u8]) -> Result<(), Error> {
        match self.0.take() {
            Some(secret) if dest.len() == EPHEMERAL_LEN => {
                dest.copy_from_slice(&secret);
                Ok(())
            }
            _ => Err(Error::Rng),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(octet: u8) -> SharedKey {
        SharedKey::of(&NetworkKey::new([octet; KEY_LEN]))
    }

    #[test]
    fn both_ends_get_the_same_keys_and_nothing_shows_them() {
        let (one, other) = ([1; EPHEMERAL_LEN], [2; EPHEMERAL_LEN]);
        let first = first_message(&key(1), &one).expect("a message");
        let (second, theirs) = answer(&key(1), &other, &first).expect("it is understood");
        let ours = finish(&key(1), &one, &second).expect("it is understood");
        let (mut sealed, mut opened) = ([0; 21], [0; 21]);
        assert_eq!(ours.write_message(7, b"hello", &mut sealed), Ok(21));
        assert_eq!(theirs.read_message(7, &sealed, &mut opened), Ok(5));
        assert_eq!(&opened[..5], b"hello");
        assert!(theirs.read_message(8, &sealed, &mut opened).is_err(), "the number is authenticated");
        assert_eq!(format!("{ours:?} {:?}", key(1)), "StatelessTransportState SharedKey(…)");
    }

    #[test]
    fn another_key_or_an_altered_message_ends_nothing() {
        let (one, other) = ([1; EPHEMERAL_LEN], [2; EPHEMERAL_LEN]);
        let first = first_message(&key(1), &one).expect("a message");
        assert!(answer(&key(2), &other, &first).is_none());
        assert!(answer(&key(1), &other, &first[1..]).is_none());
        let (second, _) = answer(&key(1), &other, &first).expect("it is understood");
        for place in 0..MESSAGE_LEN {
            let mut altered = second;
            altered[place] ^= 1;
            // The highest bit of a public key says nothing (RFC 7748, section 5), but is authenticated.
            assert!(finish(&key(1), &one, &altered).is_none(), "byte {place}");
        }
        assert!(finish(&key(1), &one, &second).is_some());
    }

    #[test]
    fn secrets_differ() {
        let mut platform = Randomness::Platform;
        assert_ne!(platform.draw(), platform.draw());
    }
}
