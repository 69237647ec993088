//! Interarrival jitter, as a receiver of RTP estimates it.

use hopcast_wire::rtp;

use super::clock::clock_rate;
use crate::time::{Duration, Instant};

/// A jump of timestamps beyond this is a new clock, in seconds: a program clock comes at least each 0.1 s (ISO/IEC 13818-1,
/// 2.7.2), and pauses of a stream are shorter than this.
pub const LONGEST_STEP: u64 = 10;

/// The interarrival jitter of one source after another (RFC 3550, section 6.4.1 and appendix A.8). Packets without media are left out.
#[derive(Clone, Debug, Default)]
pub struct InterarrivalJitter {
    /// Source, payload type and timestamp of the last packet, and when it came.
    last: Option<(u32, u8, u32, Instant)>,
    /// In seconds.
    jitter: f64,
}

impl InterarrivalJitter {
    /// A packet has come, or the header of one.
    pub fn handle_packet(&mut self, packet: &rtp::Packet<&[u8]>, now: Instant) {
        if packet.is_padding() {
            return;
        }
        let (source, payload_type, timestamp) = (packet.source(), packet.payload_type(), packet.timestamp());
        let Some((before, kind, sampled, came)) = self.last.replace((source, payload_type, timestamp, now)) else {
            return;
        };
        if (before, kind) != (source, payload_type) {
            self.jitter = 0.0;
            return;
        }
        let step = f64::from(timestamp.wrapping_sub(sampled) as i32) / f64::from(clock_rate(payload_type));
        let difference = (now.saturating_since(came).as_secs_f64() - step).abs();
        // A jump of the clock says nothing of the network.
        if difference < LONGEST_STEP as f64 {
            self.jitter += (difference - self.jitter) / 16.0;
        }
    }

    /// Of the packets so far.
    pub fn jitter(&self) -> Duration {
        Duration::from_secs_f64(self.jitter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(source: u32, payload_type: u8, timestamp: u32) -> Vec<u8> {
        let mut octets = vec![0x80, payload_type, 0, 0];
        octets.extend(timestamp.to_be_bytes());
        octets.extend(source.to_be_bytes());
        octets
    }

    /// Of a clock of 8 kHz. |D| is 16 and 0 ms, so that J is 1 and 15/16 ms; another source and a jump of the clock.
    #[test]
    fn appendix_a_8_by_hand() {
        let mut jitter = InterarrivalJitter::default();
        let mut after = |source, timestamp, millis| {
            let octets = packet(source, 0, timestamp);
            let now = Instant::START + Duration::from_millis(millis);
            jitter.handle_packet(&rtp::Packet::new_unchecked(&octets), now);
            jitter.jitter()
        };
        assert_eq!(after(1, 160, 10), Duration::ZERO);
        assert_eq!(after(1, 320, 46), Duration::from_millis(1));
        assert_eq!(after(1, 480, 66), Duration::from_nanos(937_500));
        assert_eq!(after(1, 480 + 8000 * 10, 66), Duration::from_nanos(937_500));
        assert_eq!(after(2, 0, 70), Duration::ZERO);
    }

    /// Padding is not sampled, so its timestamp says nothing.
    #[test]
    fn padding_is_left_out() {
        let mut jitter = InterarrivalJitter::default();
        let mut padding = packet(1, 96, 90_000);
        padding[0] |= 0x20;
        padding.extend([0, 0, 0, 4]);
        for (millis, octets) in [(0, packet(1, 96, 0)), (5, padding), (10, packet(1, 96, 900))] {
            let now = Instant::START + Duration::from_millis(millis);
            jitter.handle_packet(&rtp::Packet::new_unchecked(&octets), now);
        }
        assert_eq!(jitter.jitter(), Duration::ZERO);
    }
}
