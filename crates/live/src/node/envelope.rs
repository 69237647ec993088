//! Encapsulation of messages: plain, or sealed with the network key.
//!
//! A sealed message carries the fields of the IP header that protocols use, so that they can't be changed on the way:
//! source, destination and time to live, in nine bytes before the message. Where nodes have identities, the source is an address of
//! the node that has signed the message.

use std::net::Ipv4Addr;

use hopcast_protocols::routing::NextHop;
use hopcast_protocols::time::Instant;

use crate::key::{self, Counters, Epoch, Guard, Keys, Members, Refusal};

/// UDP port of sealed messages of all protocols. It is one for private use (RFC 6335, section 6), so that no program
/// mistakes them for plain messages.
pub(super) const SEALED_PORT: u16 = 60654;
/// Length of what stands before a sealed message, in bytes.
const HEADER_LEN: usize = 9;
/// By how much a sealed message is longer, in bytes.
pub(super) const OVERHEAD: u32 = (key::OVERHEAD + HEADER_LEN) as u32;
/// The same of one that is signed too.
pub(super) const SIGNED_OVERHEAD: u32 = OVERHEAD + key::SIGNATURE_OVERHEAD as u32;

/// What seals messages, if there is a key.
#[derive(Debug)]
pub(super) struct Envelope {
    guard: Option<Guard<NextHop>>,
    sealed: Vec<u8>,
    opened: Vec<u8>,
}

/// A message as it was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Opened<'a> {
    /// The neighbour that it comes from.
    pub(super) from: NextHop,
    /// Where it was sent to.
    pub(super) destination: Ipv4Addr,
    /// Its time to live.
    pub(super) ttl: u8,
    /// The message.
    pub(super) octets: &'a [u8],
}

impl Envelope {
    /// Messages are sealed by `guard`, if there is one.
    pub(super) fn new(guard: Option<Guard<NextHop>>) -> Self {
        Self { guard, sealed: Vec::new(), opened: Vec::new() }
    }

    /// See [`Guard::change_keys`]. Without a key nothing changes.
    pub(super) fn change_keys(&mut self, keys: &Keys, epoch: Epoch, now: Instant) {
        if let Some(guard) = &mut self.guard {
            guard.change_keys(keys, epoch, now);
        }
    }

    /// See [`Guard::change_members`]. Without a key nothing changes.
    pub(super) fn change_members(&mut self, members: Members) {
        if let Some(guard) = &mut self.guard {
            guard.change_members(members);
        }
    }

    /// What the guard has counted, and the senders that it knows.
    pub(super) fn counters(&self) -> Option<(Counters, usize)> {
        self.guard.as_ref().map(|guard| (guard.counters(), guard.senders()))
    }

    /// The datagram for a message.
    pub(super) fn seal<'a>(
        &'a mut self,
        now: Instant,
        source: Ipv4Addr,
        destination: Ipv4Addr,
        ttl: u8,
        octets: &'a [u8],
    ) -> &'a [u8] {
        let Some(guard) = &mut self.guard else { return octets };
        let mut inner = Vec::with_capacity(HEADER_LEN + octets.len());
        inner.extend_from_slice(&source.octets());
        inner.extend_from_slice(&destination.octets());
        inner.push(ttl);
        inner.extend_from_slice(octets);
        guard.seal(now, &inner, &mut self.sealed);
        &self.sealed
    }

    /// The message in a datagram; `None` if there is none, or none yet. [`Self::answer`] is to be asked next.
    ///
    /// # Errors
    ///
    /// Why a sealed one is refused.
    pub(super) fn open<'a>(
        &'a mut self,
        now: Instant,
        from: NextHop,
        destination: Ipv4Addr,
        ttl: u8,
        datagram: &'a [u8],
    ) -> Result<Option<Opened<'a>>, Refusal> {
        let Some(guard) = &mut self.guard else {
            return Ok(Some(Opened { from, destination, ttl, octets: datagram }));
        };
        let Some(from) = guard.open(now, datagram, from, &mut self.opened)? else { return Ok(None) };
        let malformed = Refusal::Malformed { len: datagram.len() };
        let (&source, rest) = self.opened.split_first_chunk::<4>().ok_or(malformed)?;
        let (&destination, rest) = rest.split_first_chunk::<4>().ok_or(malformed)?;
        let (&[ttl], octets) = rest.split_first_chunk::<1>().ok_or(malformed)?;
        if Ipv4Addr::from(source) != from.address {
            return Err(Refusal::Unauthentic);
        }
        if !guard.vouches(from.address) {
            return Err(Refusal::Unidentified);
        }
        Ok(Some(Opened { from, destination: Ipv4Addr::from(destination), ttl, octets }))
    }

    /// What goes back to where the datagram opened last has come from, if anything.
    pub(super) fn answer(&mut self, now: Instant) -> Option<&[u8]> {
        let guard = self.guard.as_mut()?;
        guard.poll_answer(now, &mut self.sealed).then_some(&self.sealed[..])
    }
}

#[cfg(test)]
mod tests {
    use hopcast_protocols::time::Duration;

    use super::*;
    use crate::key::{EPOCH_LEN, KEY_LEN, Purpose};

    const A: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
    const B: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);
    const ALL: Ipv4Addr = Ipv4Addr::BROADCAST;

    fn sealed(epoch: u8) -> Envelope {
        let key = Keys::one([9; KEY_LEN]);
        Envelope::new(Some(Guard::new(&key, Purpose::Node("aodv"), Epoch([epoch; EPOCH_LEN]), Instant::START)))
    }

    fn over(address: Ipv4Addr) -> NextHop {
        NextHop { interface: 0, address }
    }

    #[test]
    fn without_a_key_messages_are_as_they_are() {
        let mut plain = Envelope::new(None);
        assert_eq!(plain.seal(Instant::START, A, ALL, 1, b"hello"), b"hello");
        let opened = plain.open(Instant::START, over(A), ALL, 7, b"hello").expect("nothing is refused");
        assert_eq!(opened, Some(Opened { from: over(A), destination: ALL, ttl: 7, octets: b"hello" }));
        assert_eq!(plain.answer(Instant::START), None);
    }

    #[test]
    fn what_the_headers_say_is_sealed_too() {
        let (mut a, mut b) = (sealed(1), sealed(2));
        let now = Instant::START + Duration::from_millis(1);
        let first = a.seal(now, A, ALL, 3, b"first").to_vec();
        assert_eq!(b.open(now, over(A), ALL, 3, &first), Err(Refusal::Unproven));
        let question = b.answer(now).expect("b asks").to_vec();
        assert_eq!(a.open(now, over(B), A, 1, &question), Ok(None));
        let answer = a.answer(now).expect("a answers").to_vec();
        // The answer came with another destination and time to live, which say nothing of the message.
        let opened = b.open(now, over(A), B, 1, &answer).expect("a is known now");
        assert_eq!(opened, Some(Opened { from: over(A), destination: ALL, ttl: 3, octets: b"first" }));
        let second = a.seal(now, A, ALL, 5, b"second").to_vec();
        // Somebody has put another source address into its header.
        assert_eq!(b.open(now, over(Ipv4Addr::new(10, 0, 0, 3)), ALL, 5, &second), Err(Refusal::Unauthentic));
        let third = a.seal(now, A, ALL, 5, b"third").to_vec();
        let opened = b.open(now, over(A), B, 200, &third).expect("a is known");
        assert_eq!(opened, Some(Opened { from: over(A), destination: ALL, ttl: 5, octets: b"third" }));
    }
}
