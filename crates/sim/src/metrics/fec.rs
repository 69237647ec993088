//! Cost and benefit of a flow's forward error correction.

use hopcast_protocols::time::Duration;
use hopcast_wire::fec::PAYLOAD_ID_LEN;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Summary of FEC; all `None` for a flow without.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, JsonSchema, Serialize)]
pub struct FecSummary {
    /// Repair packets that the source made; they are not among `sent_packets`. `null` without FEC.
    #[schemars(extend("x-counted" = "at the source"))]
    pub repair_packets: Option<u64>,
    /// Bytes of their payload.
    #[schemars(extend("x-counted" = "at the source"))]
    pub repair_bytes: Option<u64>,
    /// Repair packets that reached the sink, each copy counted.
    #[schemars(extend("x-counted" = "at the sink"))]
    pub repair_received_packets: Option<u64>,
    /// Packets that the sink recovered; they are among `received_packets`.
    #[schemars(extend("x-counted" = "at the sink"))]
    pub recovered_packets: Option<u64>,
    /// Bytes of repair packets and of payload IDs; 0 if the application wrote nothing.
    #[schemars(extend("x-divisor" = "sent bytes", "x-counted" = "at the source"))]
    pub fec_overhead_ratio: Option<f64>,
    /// Mean delay of the recovered packets, from their write to their recovery.
    #[schemars(extend("x-divisor" = "recovered packets", "x-counted" = "at the sink"))]
    pub recovered_delay_mean_s: Option<f64>,
}

/// The counters behind that.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Repair {
    sent_packets: u64,
    sent_bytes: u64,
    received_packets: u64,
    recovered_packets: u64,
    delay_sum: u128,
}

impl Repair {
    /// A repair packet of `octets` was made. Returns how many were before it.
    pub(super) fn handle_sent(&mut self, octets: u32) -> u64 {
        self.sent_bytes += u64::from(octets);
        self.sent_packets += 1;
        self.sent_packets - 1
    }

    /// One arrived.
    pub(super) fn handle_received(&mut self) {
        self.received_packets += 1;
    }

    /// A packet was recovered, so long after its write.
    pub(super) fn handle_recovered(&mut self, delay: Duration) {
        self.recovered_packets += 1;
        self.delay_sum += u128::from(delay.as_nanos());
    }

    /// The figures of a flow whose application wrote so much.
    pub(super) fn summary(&self, written_packets: u64, written_bytes: u64) -> FecSummary {
        let overhead = self.sent_bytes + PAYLOAD_ID_LEN as u64 * written_packets;
        let recovered = self.recovered_packets;
        FecSummary {
            repair_packets: Some(self.sent_packets),
            repair_bytes: Some(self.sent_bytes),
            repair_received_packets: Some(self.received_packets),
            recovered_packets: Some(recovered),
            fec_overhead_ratio: Some(if written_bytes > 0 { overhead as f64 / written_bytes as f64 } else { 0.0 }),
            recovered_delay_mean_s: (recovered > 0).then(|| self.delay_sum as f64 / 1e9 / recovered as f64),
        }
    }
}
