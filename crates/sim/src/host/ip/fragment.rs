//! Fragmentation (RFC 791, section 3.2).

use crate::host::packet::{IPV4_HEADER, Packet};

/// The packets that carry a datagram over links with a maximum transfer unit, in order of their offsets.
#[derive(Clone, Debug)]
pub(in crate::host) struct Fragments {
    datagram: Packet,
    /// Bytes of each fragment but the last, behind the IP header.
    step: u32,
    next: u32,
}

/// Bytes of payload in each fragment but the last: what fits, cut to the multiple of 8 that offsets count in.
/// `None` where nothing is fragmented.
fn step(mtu: Option<u32>) -> Option<u32> {
    mtu.map(|mtu| (mtu.saturating_sub(IPV4_HEADER) & !7).max(8))
}

/// How many packets a datagram of `payload` bytes behind its IP header becomes.
pub(in crate::host) fn count(payload: u32, mtu: Option<u32>) -> u32 {
    match (mtu, step(mtu)) {
        (Some(mtu), Some(step)) if payload + IPV4_HEADER > mtu => payload.div_ceil(step),
        _ => 1,
    }
}

impl Fragments {
    /// Cuts `datagram`, which may be a fragment itself.
    pub(in crate::host) fn new(datagram: Packet, mtu: Option<u32>) -> Self {
        let payload = u32::from(datagram.ip.payload);
        let step = if count(payload, mtu) == 1 { payload } else { step(mtu).unwrap_or(payload) };
        Self { datagram, step: step.max(1), next: 0 }
    }
}

impl Iterator for Fragments {
    type Item = Packet;

    fn next(&mut self) -> Option<Packet> {
        let payload = u32::from(self.datagram.ip.payload);
        if self.next >= payload {
            return None;
        }
        let end = (self.next + self.step).min(payload);
        let mut packet = self.datagram.clone();
        packet.ip.offset += self.next as u16;
        packet.ip.payload = (end - self.next) as u16;
        packet.ip.more_fragments |= end < payload;
        self.next = end;
        Some(packet)
    }
}

#[cfg(test)]
pub(in crate::host) mod tests {
    use crate::host::packet::{Body, DEFAULT_TTL, Expiry, Ipv4, Tag};
    use hopcast_radio::mac::edca::UserPriority;
    use hopcast_wire::ecn::Ecn;

    use super::*;
    use crate::id::{FlowId, NodeId};
    use hopcast_protocols::time::Instant;

    pub(in crate::host) fn datagram(length: u16, id: u16, seq: u64) -> Packet {
        let body = Body::Udp { source_port: 1, destination_port: 2, length };
        Packet {
            ip: Ipv4 {
                source: NodeId(0),
                destination: NodeId(1),
                id,
                offset: 0,
                payload: body.octets() as u16,
                more_fragments: false,
                ttl: DEFAULT_TTL,
                ecn: Ecn::NotEct,
            },
            body,
            tag: Tag {
                flow: FlowId(0),
                seq,
                created: Instant::START,
                socket: 0,
                priority: UserPriority::BEST_EFFORT,
                expires: Expiry::NEVER,
            },
            part: None,
        }
    }

    fn octets(length: u16, mtu: Option<u32>) -> Vec<u32> {
        Fragments::new(datagram(length, 0, 0), mtu).map(|packet| packet.octets()).collect()
    }

    #[test]
    fn a_full_datagram_is_one_packet_and_one_octet_more_is_two() {
        assert_eq!(octets(1472, Some(1500)), [1500]);
        assert_eq!(octets(1473, Some(1500)), [1500, 21]);
        assert_eq!(octets(0, Some(1500)), [28]);
    }

    #[test]
    fn sixteen_kilobytes_are_twelve_packets() {
        let octets = octets(16_384, Some(1500));
        assert_eq!(octets.len(), 12);
        assert_eq!(octets[..11], [1500; 11]);
        assert_eq!(octets[11], 16_384 + 8 - 11 * 1480 + 20);
        assert_eq!(count(16_384 + 8, Some(1500)), 12);
    }

    #[test]
    fn without_a_limit_the_largest_datagram_stays_whole() {
        assert_eq!(octets(65_507, None), [65_535]);
    }

    #[test]
    fn offsets_are_multiples_of_eight_whatever_the_limit() {
        for mtu in 28..600 {
            let packets: Vec<_> = Fragments::new(datagram(1000, 0, 0), Some(mtu)).collect();
            assert_eq!(packets.len() as u32, count(1008, Some(mtu)));
            assert!(packets.iter().all(|packet| packet.ip.offset % 8 == 0 && packet.octets() <= mtu));
            assert_eq!(packets.iter().map(|packet| u32::from(packet.ip.payload)).sum::<u32>(), 1008);
        }
    }
}
