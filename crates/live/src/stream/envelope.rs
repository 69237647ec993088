//! Encapsulation of a datagram: plain, or sealed with the network's key.

use hopcast_protocols::time::Instant;

use crate::key::{Counters, Epoch, Guard, Keys, Purpose};

/// The network's key, and the epoch of this end: see `Epoch::draw`.
#[derive(Clone, Debug)]
pub struct Sealing {
    /// The network's keys.
    pub keys: Keys,
    /// The epoch; never used before.
    pub epoch: Epoch,
}

/// A datagram was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Refused;

/// Seals what leaves and opens what comes. With what comes goes a `C`: from where it came.
#[derive(Debug)]
pub(super) enum Envelope<C> {
    /// There is no key: datagrams are as they are.
    Open,
    /// What is to be sealed is put together in the buffer.
    Sealed(Box<Guard<C>>, Vec<u8>),
}

impl<C> Envelope<C> {
    pub(super) fn new(sealing: Option<&Sealing>, now: Instant) -> Self {
        match sealing {
            Some(Sealing { keys, epoch }) => {
                Self::Sealed(Box::new(Guard::new(keys, Purpose::Stream, *epoch, now)), Vec::new())
            }
            None => Self::Open,
        }
    }

    /// Puts the datagram that carries `parts`, one behind the other, in place of what is in `datagram`.
    pub(super) fn seal(&mut self, parts: [&[u8]; 2], datagram: &mut Vec<u8>, now: Instant) {
        match self {
            Self::Open => {
                datagram.clear();
                parts.iter().for_each(|part| datagram.extend_from_slice(part));
            }
            Self::Sealed(guard, buffer) => {
                buffer.clear();
                parts.iter().for_each(|part| buffer.extend_from_slice(part));
                guard.seal(now, buffer, datagram);
            }
        }
    }

    /// What a datagram carries, or one before it that waited for it; `None` if it is for the envelope alone. `buffer` is where
    /// it is opened. [`poll_answer`](Self::poll_answer) is to be asked next.
    pub(super) fn open<'a>(
        &mut self,
        datagram: &'a [u8],
        context: C,
        buffer: &'a mut Vec<u8>,
        now: Instant,
    ) -> Result<Option<(C, &'a [u8])>, Refused> {
        match self {
            Self::Open => Ok(Some((context, datagram))),
            Self::Sealed(guard, _) => match guard.open(now, datagram, context, buffer) {
                Ok(context) => Ok(context.map(|context| (context, &buffer[..]))),
                Err(_) => Err(Refused),
            },
        }
    }

    /// Puts what is to be answered to the datagram opened last in place of what is in `datagram`; whether there is something.
    pub(super) fn poll_answer(&mut self, datagram: &mut Vec<u8>, now: Instant) -> bool {
        match self {
            Self::Open => false,
            Self::Sealed(guard, _) => guard.poll_answer(now, datagram),
        }
    }

    /// What became of the datagrams, if there is a key.
    pub(super) fn counters(&self) -> Option<Counters> {
        match self {
            Self::Open => None,
            Self::Sealed(guard, _) => Some(guard.counters()),
        }
    }
}
