//! The throughput of TCP (RFC 5348, section 3.1).

/// Bytes per second that TCP sends: X_Bps.
///
/// `segment` in bytes, `rtt` and `timeout` (t_RTO) in seconds, `loss` the loss event rate, above 0 and at most 1. Every
/// packet is acknowledged (b = 1).
///
/// ```
/// use hopcast_protocols::transport::tfrc::equation::throughput;
///
/// // One packet in a hundred: 1.22/√p = 12.2 packets in a round trip, less what timeouts cost.
/// let rate = throughput(1460.0, 0.1, 0.4, 0.01);
/// assert!((rate - 164_005.0).abs() < 1.0, "{rate}");
/// ```
pub fn throughput(segment: f64, rtt: f64, timeout: f64, loss: f64) -> f64 {
    let fast = rtt * (2.0 * loss / 3.0).sqrt();
    let timeouts = timeout * (3.0 * (3.0 * loss / 8.0).sqrt() * loss * (1.0 + 32.0 * loss * loss));
    segment / (fast + timeouts)
}

/// The loss event rate with which [`throughput`] is `rate` bytes per second; 1 if it is more at any loss event rate.
pub(crate) fn loss_event_rate(segment: f64, rtt: f64, timeout: f64, rate: f64) -> f64 {
    // The throughput falls as losses rise. Sixty geometric halvings take the twelve decades below the precision of f64.
    let (mut low, mut high) = (1e-12_f64, 1.0_f64);
    for _ in 0..60 {
        let middle = (low * high).sqrt();
        if throughput(segment, rtt, timeout, middle) > rate {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn section_3_1_by_hand() {
        // p = 3/8 makes both roots simple: √(2p/3) = 1/2, √(3p/8) = 3/8, 1 + 32p² = 5.5.
        let rate = throughput(1000.0, 0.2, 0.8, 0.375);
        assert!((rate - 1000.0 / (0.2 * 0.5 + 0.8 * 3.0 * 0.375 * 0.375 * 5.5)).abs() < 1e-9, "{rate}");
    }

    #[test]
    fn section_6_3_1_half_a_packet_a_round_trip_is_a_loss_in_each_five_packets() {
        // X_target = s/(2R) with t_RTO = 4R: p is about 20.64 %, and the interval 4.84 packets.
        let loss = loss_event_rate(1000.0, 0.1, 0.4, 1000.0 / (2.0 * 0.1));
        assert!((loss - 0.2064).abs() < 0.0001, "{loss}");
        assert!((1.0 / loss - 4.84).abs() < 0.01, "{}", 1.0 / loss);
    }

    proptest! {
        #[test]
        fn the_inverse_inverts(loss in 1e-9..1.0_f64, rtt in 0.0001..10.0_f64, segment in 1.0..65535.0_f64) {
            let rate = throughput(segment, rtt, (4.0 * rtt).max(1.0), loss);
            let back = loss_event_rate(segment, rtt, (4.0 * rtt).max(1.0), rate);
            prop_assert!((back / loss - 1.0).abs() < 1e-9, "{} and {}", loss, back);
        }

        #[test]
        fn the_inverse_is_a_rate_whatever_it_is_asked(segment in any::<f64>(), rtt in any::<f64>(), rate in any::<f64>()) {
            let loss = loss_event_rate(segment, rtt, 4.0 * rtt, rate);
            prop_assert!(loss > 0.0 && loss <= 1.0, "{}", loss);
        }
    }
}
