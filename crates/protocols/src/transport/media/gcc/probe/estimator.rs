//! What a probe found (libwebrtc, `probe_bitrate_estimator.cc`).

use std::collections::BTreeMap;

use crate::time::{Duration, Instant};

/// The shares of packets and bytes that have to arrive.
const RECEIVED: f64 = 0.8;
/// Packets that arrive faster than this multiple of the rate at which they left tell nothing.
const MOST_RATIO: f64 = 2.0;
/// Below this share of the rate at which packets left, the path was full.
const UNSATURATED: f64 = 0.9;
/// What of a full path is used.
const UTILIZATION: f64 = 0.95;
/// How long a probe may take, and how long it is remembered.
const LONGEST: Duration = Duration::from_secs(1);

#[derive(Clone, Copy, Debug)]
struct Cluster {
    packets: f64,
    bytes: f64,
    first_sent: Instant,
    last_sent: Instant,
    last_sent_size: f64,
    first_arrival: Instant,
    first_arrival_size: f64,
    last_arrival: Instant,
}

/// A packet of a probe that arrived, and what the probe was to have.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct ProbePacket {
    pub(in super::super) id: u32,
    pub(in super::super) planned_packets: u32,
    pub(in super::super) planned_bytes: u32,
    pub(in super::super) size: u32,
    pub(in super::super) sent: Instant,
    pub(in super::super) arrival: Instant,
}

#[derive(Debug, Default)]
pub(in super::super) struct ProbeEstimator {
    clusters: BTreeMap<u32, Cluster>,
}

impl ProbeEstimator {
    /// Takes a packet. Returns the rate in b/s that its probe has found by now.
    pub(in super::super) fn on_packet(&mut self, packet: &ProbePacket) -> Option<f64> {
        self.clusters.retain(|_, cluster| cluster.last_arrival.saturating_add(LONGEST) >= packet.arrival);
        let size = f64::from(packet.size);
        let cluster = self.clusters.entry(packet.id).or_insert(Cluster {
            packets: 0.0,
            bytes: 0.0,
            first_sent: packet.sent,
            last_sent: packet.sent,
            last_sent_size: size,
            first_arrival: packet.arrival,
            first_arrival_size: size,
            last_arrival: packet.arrival,
        });
        cluster.first_sent = cluster.first_sent.min(packet.sent);
        if packet.sent > cluster.last_sent {
            cluster.last_sent = packet.sent;
            cluster.last_sent_size = size;
        }
        if packet.arrival < cluster.first_arrival {
            cluster.first_arrival = packet.arrival;
            cluster.first_arrival_size = size;
        }
        cluster.last_arrival = cluster.last_arrival.max(packet.arrival);
        cluster.packets += 1.0;
        cluster.bytes += size;
        let enough = cluster.packets >= (f64::from(packet.planned_packets) * RECEIVED).floor()
            && cluster.bytes >= f64::from(packet.planned_bytes) * RECEIVED;
        if enough { cluster.rate() } else { None }
    }
}

impl Cluster {
    fn rate(&self) -> Option<f64> {
        let sending = self.last_sent - self.first_sent;
        let receiving = self.last_arrival - self.first_arrival;
        let valid = |span: Duration| span > Duration::ZERO && span <= LONGEST;
        if !(valid(sending) && valid(receiving)) {
            return None;
        }
        // The last packet's own sending, and the first one's own arrival, lie outside the spans.
        let sent = (self.bytes - self.last_sent_size) * 8.0 / sending.as_secs_f64();
        let received = (self.bytes - self.first_arrival_size) * 8.0 / receiving.as_secs_f64();
        if received > MOST_RATIO * sent {
            return None;
        }
        Some(if received < UNSATURATED * sent { UTILIZATION * received } else { sent.min(received) })
    }
}
