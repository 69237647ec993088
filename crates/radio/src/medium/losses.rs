//! Frames that are lost whatever their power: errors on top of what reception decides.

use hopcast_protocols::random::Purpose;
use hopcast_protocols::time::Instant;

use crate::errors::{GilbertElliott, PacketErrors, survives};
use crate::frame::{Header, StationId};
use crate::phy::ReedSolomon;

/// Why frames that could be received are lost all the same. All kinds of frame are: data, RTS, CTS and ACK.
#[derive(Clone, Debug)]
pub enum Losses {
    /// At a given rate.
    Packet(PacketErrors),
    /// By the state of the receiver's channel.
    GilbertElliott {
        /// By station.
        chains: Vec<GilbertElliott>,
        /// What corrects errors.
        code: Option<ReedSolomon>,
        /// Whether preambles and headers err as well.
        headers: bool,
        /// Decides which frames are lost.
        seed: u64,
        /// Names the draws: not one by which reception draws for the same frames.
        purpose: Purpose,
    },
}

impl Losses {
    /// Whether a frame that `key` names, whose octets arrived from `start` to `end`, is lost at `receiver`.
    pub(super) fn is_lost(
        &mut self,
        key: u64,
        receiver: StationId,
        start: Instant,
        end: Instant,
        frame: &Header,
    ) -> bool {
        match self {
            Self::Packet(errors) => errors.is_lost(key, receiver.0, end),
            Self::GilbertElliott { chains, code, headers, seed, purpose } => {
                let chain = &mut chains[receiver.0 as usize];
                let before = if *headers { frame.vector.framing().header_bits } else { 0 };
                let begin = if before == 0 { start } else { start.saturating_before(frame.header) };
                let ln_success = match *code {
                    // The code spans the header's octets too.
                    Some(code) => libm::log(chain.coded_success(code, begin, end, frame.octets + before / 8)),
                    None => {
                        let header = if before == 0 { 0.0 } else { chain.ln_success(begin, start, f64::from(before)) };
                        header + chain.ln_success(start, end, 8.0 * f64::from(frame.octets))
                    }
                };
                !survives(*seed, *purpose, key, receiver.0, ln_success)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use hopcast_protocols::time::Duration;

    use super::*;
    use crate::errors::States;
    use crate::frame::FrameKind;
    use crate::phy::{Standard, TxVector};

    /// The share of RTS frames, 20 octets at 1 Mb/s, that are lost where each hundredth bit errs.
    fn lost(headers: bool, code: Option<ReedSolomon>) -> f64 {
        const FRAMES: u64 = 20_000;
        let mean = Duration::from_secs(1);
        let states = States { good_ber: 1e-2, bad_ber: 1e-2, good_mean: mean, bad_mean: mean };
        let mut losses = Losses::GilbertElliott {
            chains: vec![GilbertElliott::new(1, 0, states)],
            code,
            headers,
            seed: 1,
            purpose: Purpose::ChannelError,
        };
        let header = Duration::from_micros(192);
        let airtime = header + Duration::from_micros(160);
        let frame = Header {
            kind: FrameKind::Rts,
            transmitter: StationId(1),
            receiver: Some(StationId(0)),
            duration: Duration::ZERO,
            sequence: 0,
            retry: false,
            priority: None,
            octets: 20,
            vector: TxVector::new(Standard::Dsss, 0),
            airtime,
            header,
            payload: None,
        };
        let lost = (0..FRAMES).filter(|&key| {
            let begin = Instant::START + Duration::from_millis(key);
            losses.is_lost(key, StationId(0), begin + header, begin + airtime, &frame)
        });
        lost.count() as f64 / FRAMES as f64
    }

    /// 0.99 to the power of 160 bits, and of 192 more; 1 % is four standard deviations.
    #[test]
    fn bits_of_the_header_err_where_they_are_to() {
        let of = |bits: f64| 1.0 - libm::pow(0.99, bits);
        assert!((lost(false, None) - of(160.0)).abs() < 0.012);
        assert!((lost(true, None) - of(352.0)).abs() < 0.006);
    }

    #[test]
    fn correction_spans_the_header() {
        assert_eq!(lost(true, Some(ReedSolomon::with_rate(0.6))), 0.0);
    }
}
