//! Encapsulation of messages: plain, or sealed with the network key together with source and destination. So a host without the
//! key can't send a recorded message under another address, or to another device. Where devices have identities, the source is an
//! address of the device that has signed the message.

use std::net::Ipv4Addr;

use hopcast_protocols::time::Instant;

use crate::key::{Counters, Epoch, Guard, Keys, Members, Refusal};

/// Where a datagram has come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct From {
    /// Place of the interface among those of the device.
    pub(super) interface: usize,
    /// Source address.
    pub(super) address: Ipv4Addr,
}

/// Seals what leaves and opens what comes.
#[derive(Debug)]
pub(super) struct Envelope {
    me: Ipv4Addr,
    guard: Option<Guard<From>>,
    inner: Vec<u8>,
    opened: Vec<u8>,
}

/// Length of the two addresses.
const HEADER_LEN: usize = 8;

impl Envelope {
    /// For the device at `me`; without a guard, messages are as they are.
    pub(super) fn new(me: Ipv4Addr, guard: Option<Guard<From>>) -> Self {
        Self { me, guard, inner: Vec::new(), opened: Vec::new() }
    }

    /// The datagram for a message, in place of what is in `datagram`.
    pub(super) fn seal(&mut self, now: Instant, to: Ipv4Addr, octets: &[u8], datagram: &mut Vec<u8>) {
        let Some(guard) = &mut self.guard else {
            datagram.clear();
            return datagram.extend_from_slice(octets);
        };
        self.inner.clear();
        self.inner.extend_from_slice(&self.me.octets());
        self.inner.extend_from_slice(&to.octets());
        self.inner.extend_from_slice(octets);
        guard.seal(now, &self.inner, datagram);
    }

    /// The message in a datagram, or in one before it that has waited for this; `None`: there is none. [`Self::answer`] is to be asked
    /// next.
    ///
    /// # Errors
    ///
    /// Why it is refused.
    pub(super) fn open<'a>(
        &'a mut self,
        now: Instant,
        from: From,
        datagram: &'a [u8],
    ) -> Result<Option<(From, &'a [u8])>, Refusal> {
        let Some(guard) = &mut self.guard else { return Ok(Some((from, datagram))) };
        let Some(from) = guard.open(now, datagram, from, &mut self.opened)? else { return Ok(None) };
        let malformed = Refusal::Malformed { len: datagram.len() };
        let (addresses, octets) = self.opened.split_first_chunk::<HEADER_LEN>().ok_or(malformed)?;
        let address = |at: usize| Ipv4Addr::new(addresses[at], addresses[at + 1], addresses[at + 2], addresses[at + 3]);
        let is_for_this = address(4) == self.me || address(4).is_broadcast();
        if address(0) != from.address || !is_for_this {
            return Err(Refusal::Unauthentic);
        }
        if !guard.vouches(from.address) {
            return Err(Refusal::Unidentified);
        }
        Ok(Some((from, octets)))
    }

    /// Puts what goes back to where the datagram opened last has come from into `datagram`; whether there is something.
    pub(super) fn answer(&mut self, now: Instant, datagram: &mut Vec<u8>) -> bool {
        self.guard.as_mut().is_some_and(|guard| guard.poll_answer(now, datagram))
    }

    /// From now on seals with the first of these keys.
    pub(super) fn change_keys(&mut self, keys: &Keys, epoch: Epoch, now: Instant) {
        if let Some(guard) = &mut self.guard {
            guard.change_keys(keys, epoch, now);
        }
    }

    /// From now on takes what these members have signed, and nothing else.
    pub(super) fn change_members(&mut self, members: Members) {
        if let Some(guard) = &mut self.guard {
            guard.change_members(members);
        }
    }

    /// Counters of sealed datagrams and the number of known senders, if there is a key.
    pub(super) fn counters(&self) -> Option<(Counters, usize)> {
        self.guard.as_ref().map(|guard| (guard.counters(), guard.senders()))
    }
}

#[cfg(test)]
mod tests {
    use hopcast_protocols::time::Duration;

    use super::*;
    use crate::key::{EPOCH_LEN, Identity, KEY_LEN, Purpose};

    const A: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
    const B: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);
    const C: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 3);

    fn sealed(me: Ipv4Addr) -> Envelope {
        let epoch = Epoch([me.octets()[3]; EPOCH_LEN]);
        Envelope::new(me, Some(Guard::new(&Keys::one([9; KEY_LEN]), Purpose::Cloud, epoch, Instant::START)))
    }

    fn over(address: Ipv4Addr) -> From {
        From { interface: 0, address }
    }

    /// Makes two devices known to each other.
    fn introduce(a: &mut Envelope, b: &mut Envelope, now: Instant) {
        let (mut datagram, mut answer) = (Vec::new(), Vec::new());
        a.seal(now, Ipv4Addr::BROADCAST, b"hello", &mut datagram);
        assert_eq!(b.open(now, over(a.me), &datagram), Err(Refusal::Unproven));
        assert!(b.answer(now, &mut answer));
        assert_eq!(a.open(now, over(b.me), &answer), Ok(None));
        assert!(a.answer(now, &mut datagram));
        assert_eq!(b.open(now, over(a.me), &datagram), Ok(Some((over(a.me), &b"hello"[..]))));
    }

    #[test]
    fn a_message_for_one_device_is_none_for_another_and_none_under_another_address() {
        let (mut a, mut b, mut c) = (sealed(A), sealed(B), sealed(C));
        let now = Instant::START + Duration::from_millis(1);
        introduce(&mut a, &mut b, now);
        introduce(&mut a, &mut c, now);
        let mut datagram = Vec::new();
        a.seal(now, B, b"for b", &mut datagram);
        assert_eq!(c.open(now, over(A), &datagram), Err(Refusal::Unauthentic));
        assert_eq!(b.open(now, over(A), &datagram), Ok(Some((over(A), &b"for b"[..]))));
        a.seal(now, B, b"again", &mut datagram);
        assert_eq!(b.open(now, over(C), &datagram), Err(Refusal::Unauthentic));
    }

    #[test]
    fn a_member_cannot_speak_under_the_address_of_another() {
        let identity = |node: u8| Identity::new([node; KEY_LEN]);
        let mut members = Members::default();
        for address in [A, B, C] {
            members.add(&identity(address.octets()[3]).public_octets(), vec![address]).expect("it is a member");
        }
        let of = |node: u8, me: Ipv4Addr| {
            let guard = Guard::new(&Keys::one([9; KEY_LEN]), Purpose::Cloud, Epoch([node; EPOCH_LEN]), Instant::START);
            Envelope::new(me, Some(guard.with_identity(identity(node), Some(members.clone()))))
        };
        let (mut a, mut b) = (of(1, A), of(2, B));
        let now = Instant::START + Duration::from_millis(1);
        introduce(&mut a, &mut b, now);
        // The third member says that it is the first.
        let (mut c, mut datagram, mut answer) = (of(3, A), Vec::new(), Vec::new());
        c.seal(now, Ipv4Addr::BROADCAST, b"I am a", &mut datagram);
        assert_eq!(b.open(now, over(A), &datagram), Err(Refusal::Unproven));
        assert!(b.answer(now, &mut answer));
        assert_eq!(c.open(now, over(B), &answer), Ok(None));
        assert!(c.answer(now, &mut datagram));
        assert_eq!(b.open(now, over(A), &datagram), Err(Refusal::Unidentified));
        c.seal(now, B, b"I am a", &mut datagram);
        assert_eq!(b.open(now, over(A), &datagram), Err(Refusal::Unidentified));
    }

    #[test]
    fn without_a_key_messages_are_as_they_are() {
        let mut plain = Envelope::new(A, None);
        let mut datagram = vec![1];
        plain.seal(Instant::START, B, b"hello", &mut datagram);
        assert_eq!(datagram, b"hello");
        assert_eq!(plain.open(Instant::START, over(B), b"hi"), Ok(Some((over(B), &b"hi"[..]))));
        assert!(!plain.answer(Instant::START, &mut datagram));
    }
}
