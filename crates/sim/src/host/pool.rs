//! Units on links, shared by their holders, in reused memory.

use std::rc::Rc;

use super::link::sdu::Sdu;
use super::packet::{Ipv4, Packet};

/// The memory of unused packets: creating or changing a packet allocates nothing once the pool has grown to the largest
/// number of simultaneous packets.
#[derive(Debug, Default)]
pub struct SduPool {
    free: Vec<Rc<Sdu>>,
}

impl SduPool {
    /// Makes `sdu` shareable: the interfaces of its sender, the medium, and receivers can hold it.
    #[inline]
    pub fn share(&mut self, sdu: Sdu) -> Rc<Sdu> {
        let Some(mut shared) = self.free.pop() else { return Rc::new(sdu) };
        match Rc::get_mut(&mut shared) {
            Some(place) => {
                *place = sdu;
                shared
            }
            None => Rc::new(sdu),
        }
    }

    /// A shareable copy of `packet` with another IP header, created in place.
    #[inline]
    pub(crate) fn share_with(&mut self, ip: Ipv4, packet: &Packet) -> Rc<Sdu> {
        let Packet { ip: _, body, tag, part } = packet;
        let mut shared = self.free.pop();
        let Some(Sdu::Ip(place)) = shared.as_mut().and_then(Rc::get_mut) else {
            return Rc::new(Sdu::Ip(Packet { ip, ..packet.clone() }));
        };
        place.ip = ip;
        place.body.clone_from(body);
        place.tag.clone_from(tag);
        place.part.clone_from(part);
        shared.expect("its place has been written")
    }

    /// Reclaims the memory of a packet from its last holder; does nothing if there are other holders.
    #[inline]
    pub(crate) fn take_back(&mut self, sdu: Rc<Sdu>) {
        if Rc::strong_count(&sdu) == 1 {
            self.free.push(sdu);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::ip::fragment::tests;

    fn datagram(length: u16, id: u16, seq: u64) -> Sdu {
        Sdu::Ip(tests::datagram(length, id, seq))
    }

    fn packet(sdu: &Sdu) -> &Packet {
        sdu.packet().expect("all are packets")
    }

    #[test]
    fn memory_that_nobody_holds_is_used_again() {
        let mut pool = SduPool::default();
        let first = pool.share(datagram(100, 1, 0));
        let place = Rc::as_ptr(&first);
        pool.take_back(first);
        let second = pool.share(datagram(200, 2, 1));
        assert_eq!((Rc::as_ptr(&second), packet(&second).ip.id), (place, 2));
    }

    #[test]
    fn a_packet_with_another_header_is_otherwise_the_same() {
        let mut pool = SduPool::default();
        let old = pool.share(datagram(100, 1, 0));
        let ip = Ipv4 { ttl: 7, ..packet(&old).ip };
        let fresh = pool.share_with(ip, packet(&old));
        assert_eq!(*fresh, Sdu::Ip(Packet { ip, ..packet(&old).clone() }));
        let other = tests::datagram(200, 2, 1);
        pool.take_back(fresh);
        let ip = Ipv4 { ttl: 9, ..other.ip };
        assert_eq!(*pool.share_with(ip, &other), Sdu::Ip(Packet { ip, ..other }));
        assert_eq!(packet(&old).ip.id, 1);
    }

    #[test]
    fn a_packet_that_another_holds_stays_as_it_is() {
        let mut pool = SduPool::default();
        let first = pool.share(datagram(100, 1, 0));
        let held = Rc::clone(&first);
        pool.take_back(first);
        let second = pool.share(datagram(200, 2, 1));
        assert_eq!((packet(&held).ip.id, packet(&second).ip.id), (1, 2));
    }
}
