//! Packets that are shared by all that hold them, and whose memory is used again.

use std::rc::Rc;

use super::packet::{Ipv4, Packet};

/// The memory of packets that nobody holds any more: that a packet is made, or changed on its way, allocates nothing once as many
/// have been on their way at a time.
#[derive(Debug, Default)]
pub struct PacketPool {
    free: Vec<Rc<Packet>>,
}

impl PacketPool {
    /// Makes a packet one that several can hold: the interfaces of its sender, the medium, and whoever receives it.
    #[inline]
    pub fn share(&mut self, packet: Packet) -> Rc<Packet> {
        let Some(mut shared) = self.free.pop() else { return Rc::new(packet) };
        match Rc::get_mut(&mut shared) {
            Some(place) => {
                *place = packet;
                shared
            }
            None => Rc::new(packet),
        }
    }

    /// A packet like `packet`, which several can hold, with another IP header. It is made where it stays.
    #[inline]
    pub fn share_with(&mut self, ip: Ipv4, packet: &Packet) -> Rc<Packet> {
        let Packet { ip: _, body, tag, part } = packet;
        let mut shared = self.free.pop();
        let Some(place) = shared.as_mut().and_then(Rc::get_mut) else {
            return Rc::new(Packet { ip, ..packet.clone() });
        };
        place.ip = ip;
        place.body.clone_from(body);
        place.tag.clone_from(tag);
        place.part.clone_from(part);
        shared.expect("its place has been written")
    }

    /// Takes a packet back from its last holder; where there is another one, it is that one's.
    #[inline]
    pub fn take_back(&mut self, packet: Rc<Packet>) {
        if Rc::strong_count(&packet) == 1 {
            self.free.push(packet);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::ip::fragment::tests::datagram;

    #[test]
    fn memory_that_nobody_holds_is_used_again() {
        let mut pool = PacketPool::default();
        let first = pool.share(datagram(100, 1, 0));
        let place = Rc::as_ptr(&first);
        pool.take_back(first);
        let second = pool.share(datagram(200, 2, 1));
        assert_eq!((Rc::as_ptr(&second), second.ip.id), (place, 2));
    }

    #[test]
    fn a_packet_with_another_header_is_otherwise_the_same() {
        let mut pool = PacketPool::default();
        let old = pool.share(datagram(100, 1, 0));
        let fresh = pool.share_with(Ipv4 { ttl: 7, ..old.ip }, &old);
        assert_eq!(*fresh, Packet { ip: Ipv4 { ttl: 7, ..old.ip }, ..(*old).clone() });
        let other = datagram(200, 2, 1);
        pool.take_back(fresh);
        let place = pool.share_with(Ipv4 { ttl: 9, ..other.ip }, &other);
        assert_eq!(*place, Packet { ip: Ipv4 { ttl: 9, ..other.ip }, ..other });
        assert_eq!(old.ip.id, 1);
    }

    #[test]
    fn a_packet_that_another_holds_stays_as_it_is() {
        let mut pool = PacketPool::default();
        let first = pool.share(datagram(100, 1, 0));
        let held = Rc::clone(&first);
        pool.take_back(first);
        let second = pool.share(datagram(200, 2, 1));
        assert_eq!((held.ip.id, second.ip.id), (1, 2));
    }
}
