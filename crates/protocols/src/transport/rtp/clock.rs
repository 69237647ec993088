//! Times on the wire.

use crate::time::{Duration, Instant};

/// RTP's clock of video, in Hz (RFC 3551, section 5).
const VIDEO: u32 = 90_000;
const SECOND: u64 = 1_000_000_000;

/// The RTP timestamp of media that was made at `at`, by the clock of video: zero at [`Instant::START`].
pub fn timestamp(at: Instant) -> u32 {
    ticks(at, VIDEO.into()) as u32
}

/// Ticks of a payload type's timestamps in a second: for static types, those of RFC 3551, tables 4 and 5; for dynamic ones that
/// of video.
pub fn clock_rate(payload_type: u8) -> u32 {
    match payload_type {
        6 => 16_000,
        10 | 11 => 44_100,
        16 => 11_025,
        17 => 22_050,
        0..=13 | 15 | 18 => 8_000,
        _ => VIDEO,
    }
}

/// Of `at`, ticks of a clock with this frequency in Hz.
pub(super) fn ticks(at: Instant, frequency: u64) -> u64 {
    (u128::from(at.as_nanos()) * u128::from(frequency) / u128::from(SECOND)) as u64
}

/// When a clock with this frequency in Hz shows `ticks`.
pub(super) fn instant(ticks: u64, frequency: u64) -> Instant {
    let nanos = u128::from(ticks) * u128::from(SECOND) / u128::from(frequency);
    Instant::START + Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_tick_at_their_frequency() {
        let at = Instant::START + Duration::from_millis(1500);
        assert_eq!((timestamp(at), ticks(at, 1 << 16)), (135_000, 98_304));
        assert_eq!(instant(98_304, 1 << 16), at);
        // RTP's clock wraps around after 13 hours.
        let later = Instant::START + Duration::from_secs(47_722);
        assert_eq!(timestamp(later), (47_722_u64 * 90_000 - (1 << 32)) as u32);
    }
}
