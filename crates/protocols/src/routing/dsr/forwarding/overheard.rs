//! Packets that were overheard already: ns-2.35 heeds each once (`dsr/dsragent.cc`, tap), wherever on its way it is heard again.

use super::super::maintenance::buffer::Identity;

/// Largest number of remembered packets (TAP_CACHE_SIZE of `dsr/dsragent.h`).
const PLACES: usize = 1024;

/// The last packets, one to a place that its identification and its source choose.
#[derive(Debug, Default)]
pub(in crate::routing::dsr) struct Overheard(Vec<Option<Identity>>);

impl Overheard {
    /// Whether this packet was overheard before; if not, it is now.
    pub(in crate::routing::dsr) fn is_known(&mut self, packet: Identity) -> bool {
        self.0.resize(PLACES, None);
        let place = &mut self.0[packet.place(PLACES)];
        place.replace(packet) == Some(packet)
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;
    use crate::routing::Packet;

    #[test]
    fn a_packet_is_known_until_another_takes_its_place() {
        let packet = |last, identification| {
            let packet = Packet {
                source: Ipv4Addr::new(10, 0, 0, last),
                destination: Ipv4Addr::new(10, 0, 0, 9),
                ttl: 1,
                from: None,
                octets: &[],
                has_data: true,
                protocol: 17,
                identification,
                fragment_offset: 0,
            };
            Identity::of(&packet, 17)
        };
        let mut overheard = Overheard::default();
        assert!(!overheard.is_known(packet(1, 7)));
        assert!(overheard.is_known(packet(1, 7)));
        assert!(!overheard.is_known(packet(1, 8)) && !overheard.is_known(packet(2, 7)));
        assert!(overheard.is_known(packet(1, 7)));
        assert!(!overheard.is_known(packet(1, 7 + PLACES as u16)));
        assert!(!overheard.is_known(packet(1, 7)), "it has lost its place");
    }
}
