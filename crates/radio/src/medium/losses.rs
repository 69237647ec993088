//! Frames that are lost whatever their power: errors on top of what reception decides.

use hopcast_protocols::time::Instant;

use crate::errors::{GilbertElliott, PacketErrors, ReedSolomon, survives};
use crate::mac::StationId;

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
        /// Decides which frames are lost.
        seed: u64,
    },
}

impl Losses {
    /// Whether the frame that `key` names, whose `octets` arrived from `start` to `end`, is lost at `receiver`.
    pub(super) fn is_lost(&mut self, key: u64, receiver: StationId, start: Instant, end: Instant, octets: u32) -> bool {
        match self {
            Self::Packet(errors) => errors.is_lost(key, receiver.0, end),
            Self::GilbertElliott { chains, code, seed } => {
                let chain = &mut chains[receiver.0 as usize];
                let ln_success = match *code {
                    Some(code) => libm::log(chain.coded_success(code, start, end, octets)),
                    None => chain.ln_success(start, end, 8.0 * f64::from(octets)),
                };
                !survives(*seed, key, receiver.0, ln_success)
            }
        }
    }
}
