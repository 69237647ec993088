//! Encapsulation of a datagram: plain, or sealed in a session that the network key begins.

use std::net::SocketAddr;

use hopcast_protocols::time::Instant;

use crate::key::{Counters, Epoch, Initiator, Keys, Randomness, Responder};

/// The network's key, and what one life of one end needs of randomness.
#[derive(Clone, Debug)]
pub struct Sealing {
    /// The network's keys.
    pub keys: Keys,
    /// The epoch; never used before: see `Epoch::draw`.
    pub epoch: Epoch,
    /// Where secrets of sessions come from.
    pub randomness: Randomness,
}

/// A datagram was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Refused;

/// The sender's: it begins sessions.
#[derive(Debug)]
pub(super) enum Outgoing {
    /// There is no key: datagrams are as they are.
    Open,
    /// What is to be sealed is put together in the buffer.
    Sealed(Box<Initiator>, Vec<u8>),
}

impl Outgoing {
    pub(super) fn new(sealing: Option<&Sealing>, now: Instant) -> Self {
        match sealing {
            Some(Sealing { keys, epoch, randomness }) => {
                Self::Sealed(Box::new(Initiator::new(keys, *epoch, randomness.clone(), now)), Vec::new())
            }
            None => Self::Open,
        }
    }

    /// Whether what is sent now can be sealed.
    pub(super) fn is_ready(&self, now: Instant) -> bool {
        match self {
            Self::Open => true,
            Self::Sealed(initiator, _) => initiator.is_ready(now),
        }
    }

    /// Since when the first session is wanted and not there.
    pub(super) fn first_call(&self) -> Option<Instant> {
        match self {
            Self::Open => None,
            Self::Sealed(initiator, _) => initiator.first_call(),
        }
    }

    /// There is something to send: a session is wanted.
    pub(super) fn call(&mut self, now: Instant) {
        if let Self::Sealed(initiator, _) = self {
            initiator.call(now);
        }
    }

    /// Puts the datagram that carries `parts`, one behind the other, in place of what is in `datagram`; `false` if there is no
    /// session, and `parts` are lost.
    pub(super) fn seal(&mut self, parts: [&[u8]; 2], datagram: &mut Vec<u8>, now: Instant) -> bool {
        match self {
            Self::Open => {
                datagram.clear();
                parts.iter().for_each(|part| datagram.extend_from_slice(part));
                true
            }
            Self::Sealed(initiator, buffer) => {
                buffer.clear();
                parts.iter().for_each(|part| buffer.extend_from_slice(part));
                initiator.seal(now, buffer, datagram)
            }
        }
    }

    /// What a datagram carries; `None` if it is for the envelope alone. `buffer` is where it is opened.
    /// [`poll_datagram`](Self::poll_datagram) is to be asked next.
    pub(super) fn open<'a>(
        &mut self,
        datagram: &'a [u8],
        buffer: &'a mut Vec<u8>,
        now: Instant,
    ) -> Result<Option<&'a [u8]>, Refused> {
        match self {
            Self::Open => Ok(Some(datagram)),
            Self::Sealed(initiator, _) => match initiator.open(now, datagram, buffer) {
                Ok(is_something) => Ok(is_something.then_some(&buffer[..])),
                Err(_) => Err(Refused),
            },
        }
    }

    /// Puts the next datagram of the envelope in place of what is in `datagram`; whether there is one.
    pub(super) fn poll_datagram(&mut self, datagram: &mut Vec<u8>, now: Instant) -> bool {
        match self {
            Self::Open => false,
            Self::Sealed(initiator, _) => initiator.poll_datagram(now, datagram),
        }
    }

    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        match self {
            Self::Open => None,
            Self::Sealed(initiator, _) => initiator.poll_timeout(),
        }
    }

    pub(super) fn handle_timeout(&mut self, now: Instant) {
        if let Self::Sealed(initiator, _) = self {
            initiator.handle_timeout(now);
        }
    }

    /// What became of the datagrams, if there is a key.
    pub(super) fn counters(&self) -> Option<Counters> {
        match self {
            Self::Open => None,
            Self::Sealed(initiator, _) => Some(initiator.counters()),
        }
    }
}

/// The receiver's: it answers.
#[derive(Debug)]
pub(super) enum Incoming {
    /// There is no key: datagrams are as they are.
    Open,
    /// There is one.
    Sealed(Box<Responder<SocketAddr>>),
}

impl Incoming {
    pub(super) fn new(sealing: Option<&Sealing>, now: Instant) -> Self {
        match sealing {
            Some(Sealing { keys, epoch, randomness }) => {
                Self::Sealed(Box::new(Responder::new(keys, *epoch, randomness.clone(), now)))
            }
            None => Self::Open,
        }
    }

    /// Puts the datagram that carries `payload` to `to` in place of what is in `datagram`; `false` if there is no session.
    pub(super) fn seal(&mut self, to: SocketAddr, payload: &[u8], datagram: &mut Vec<u8>, now: Instant) -> bool {
        match self {
            Self::Open => {
                datagram.clear();
                datagram.extend_from_slice(payload);
                true
            }
            Self::Sealed(responder) => responder.seal(now, to, payload, datagram),
        }
    }

    /// The same as [`Outgoing::open`].
    pub(super) fn open<'a>(
        &mut self,
        from: SocketAddr,
        datagram: &'a [u8],
        buffer: &'a mut Vec<u8>,
        now: Instant,
    ) -> Result<Option<&'a [u8]>, Refused> {
        match self {
            Self::Open => Ok(Some(datagram)),
            Self::Sealed(responder) => match responder.open(now, datagram, from, buffer) {
                Ok(is_something) => Ok(is_something.then_some(&buffer[..])),
                Err(_) => Err(Refused),
            },
        }
    }

    /// The next datagram of the envelope, and where to.
    pub(super) fn poll_datagram(&mut self) -> Option<(SocketAddr, Vec<u8>)> {
        match self {
            Self::Open => None,
            Self::Sealed(responder) => responder.poll_datagram(),
        }
    }

    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        match self {
            Self::Open => None,
            Self::Sealed(responder) => responder.poll_timeout(),
        }
    }

    pub(super) fn handle_timeout(&mut self, now: Instant) {
        if let Self::Sealed(responder) = self {
            responder.handle_timeout(now);
        }
    }

    /// What became of the datagrams, if there is a key.
    pub(super) fn counters(&self) -> Option<Counters> {
        match self {
            Self::Open => None,
            Self::Sealed(responder) => Some(responder.counters()),
        }
    }
}
