//! Loss of frames that were received: errors in addition to those of reception.

use hopcast_protocols::random::Purpose;

use crate::errors::{ErrorModel, PacketErrors, ReceivedFrame, happens};

/// Causes of loss of frames that could be received: data, RTS, CTS and ACK alike.
#[derive(Debug)]
pub enum Losses {
    /// At a given rate.
    Packet(PacketErrors),
    /// With the probability that a model gives.
    Model {
        /// The model.
        model: Box<dyn ErrorModel>,
        /// Decides which frames are lost.
        seed: u64,
        /// Names the draws: not one by which reception draws for the same frames.
        purpose: Purpose,
    },
}

impl Losses {
    /// Whether a frame that `key` names is lost at its receiver.
    pub(super) fn is_lost(&mut self, key: u64, frame: &ReceivedFrame<'_>) -> bool {
        match self {
            Self::Packet(errors) => errors.is_lost(key, frame.receiver.0, frame.end),
            Self::Model { model, seed, purpose } => {
                let success = 1.0 - model.loss(frame);
                !happens(*seed, *purpose, key, frame.receiver.0, success)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use hopcast_protocols::time::{Duration, Instant};

    use super::*;
    use crate::frame::{FrameKind, Header, StationId};
    use crate::phy::{Standard, TxVector};
    use crate::units::Power;

    /// Loses a share of its frames that rises with their length.
    #[derive(Debug)]
    struct ByLength;

    impl ErrorModel for ByLength {
        fn loss(&mut self, received: &ReceivedFrame<'_>) -> f64 {
            f64::from(received.frame.octets) / 1_000.0
        }
    }

    /// By number: the lost ones of several frames of a length at a station, asked for in this order.
    fn lost(station: u32, octets: u32, keys: impl Iterator<Item = u64>) -> Vec<u64> {
        let mut losses = Losses::Model { model: Box::new(ByLength), seed: 1, purpose: Purpose::ChannelError };
        let frame = Header {
            kind: FrameKind::Data,
            transmitter: StationId(9),
            receiver: None,
            duration: Duration::ZERO,
            sequence: 0,
            retry: false,
            priority: None,
            octets,
            vector: TxVector::new(Standard::Dsss, 0),
            airtime: Duration::ZERO,
            header: Duration::ZERO,
            payload: None,
        };
        let received = ReceivedFrame {
            frame: &frame,
            receiver: StationId(station),
            power: Power::MAX,
            start: Instant::START,
            end: Instant::START,
        };
        let mut lost: Vec<u64> = keys.filter(|&key| losses.is_lost(key, &received)).collect();
        lost.sort_unstable();
        lost
    }

    #[test]
    fn as_many_are_lost_as_the_model_says() {
        for (octets, share) in [(0, 0.0), (300, 0.3), (1_000, 1.0)] {
            let lost = lost(0, octets, 0..20_000).len() as f64;
            let spread = 3.5 * libm::sqrt(20_000.0 * share * (1.0 - share));
            assert!((lost - 20_000.0 * share).abs() <= spread, "{lost} at {share}");
        }
    }

    #[test]
    fn each_frame_and_station_has_a_draw_of_its_own_in_any_order() {
        let forwards = lost(0, 500, 0..1_000);
        assert_eq!(forwards, lost(0, 500, (0..1_000).rev()));
        assert_ne!(forwards, lost(1, 500, 0..1_000));
    }
}
