//! Forward error correction of streams of packets: the simple Reed–Solomon scheme over GF(2⁸) (RFC 6865) in the framework of
//! RFC 6363, for one flow.
//!
//! Of k packets in turn, a block, an [`Encoder`] makes r repair packets, and a [`Decoder`] that has any k of these k + r has
//! all. Source packets are never held back: they leave and are delivered as they come, and what a decoder recovers follows
//! when it can. Both follow the [contract of every machine](crate).
//!
//! What the packets hold is a [`Code`]'s affair. [`Octets`] computes repair symbols as RFC 5510, section 8, has them.
//! [`Counting`] computes nothing: where payload does not exist, as in a simulation, its repair symbols name what real ones
//! would give back. Either way the same [machines](Decoder) do the same accounting, since Reed–Solomon codes are MDS: which
//! symbols arrived does not matter, only how many.
//!
//! ```
//! use hopcast_protocols::fec::{Config, Decoder, Encoder, Octets, Output, Packet};
//! use hopcast_protocols::time::Instant;
//!
//! let now = Instant::START;
//! let mut encoder = Encoder::new(&Config { source: 3, repair: 1, ..Config::default() }, Octets);
//! let mut decoder = Decoder::new(&Config::default(), Octets);
//! for adu in ["one", "two", "three"] {
//!     encoder.handle_adu(adu.as_bytes().to_vec(), now);
//! }
//! let mut packets: Vec<Packet<Octets>> = std::iter::from_fn(|| encoder.poll_output()).collect();
//! packets.remove(1);
//! for packet in packets {
//!     decoder.handle_packet(packet, now);
//! }
//! let adus: Vec<_> = std::iter::from_fn(|| decoder.poll_output()).map(|Output { adu, .. }| adu).collect();
//! assert_eq!(adus, [b"one".to_vec(), b"three".to_vec(), b"two".to_vec()]);
//! ```
//!
//! # Decisions
//!
//! * A block that is not full [in time](Config::block_timeout), or at the stream's end, is cut short: its repair packets tell a
//!   source block length below that which its source packets told as they left. The decoder believes a repair packet. RFC
//!   6865 knows no such blocks: a sender that must keep to its letter delays the source packets until the length is known.
//! * A block cut short has as many repair symbols in proportion, rounded up.
//! * Packets of a block that is no longer [remembered](Config::blocks) are late: they are dropped, since a copy may have been
//!   delivered. A block number far from the others is believed when a second packet bears it out (as RFC 3550, appendix A.1,
//!   does with sequence numbers).
//!
//! # Limits
//!
//! One flow, in blocks one after the other: neither interleaving, nor several flows in one block (the flow ID is 0), nor 2-D
//! codes. Nothing tells a decoder that a symbol was damaged: it counts on checksums below. Signalling of k and n (SDP, RFC
//! 6364) is not here; the decoder learns both from the packets.

mod block;
mod code;
mod config;
mod decoder;
mod encoder;
mod field;

#[cfg(test)]
mod tests;

pub use code::{Adu, Code, Counting, Octets};
pub use config::Config;
pub use decoder::{Decoder, Output, Received};
pub use encoder::{Encoder, Sent};

use core::fmt::Debug;

use hopcast_wire::fec::{PAYLOAD_ID_LEN, PayloadId, Repr};

/// A packet of either kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Packet<C: Code> {
    /// An ADU, and where it belongs.
    Source(Repr, C::Adu),
    /// A repair symbol, and of what.
    Repair(Repr, C::Repair),
}

impl<C: Code> Packet<C> {
    /// Its length on the wire in bytes, payload ID included.
    pub fn octets(&self, code: &C) -> usize {
        let content = match self {
            Self::Source(_, adu) => code.adu_len(adu),
            Self::Repair(_, symbol) => code.repair_len(symbol),
        };
        PAYLOAD_ID_LEN + content
    }
}

impl<T: Clone + Debug + PartialEq> Packet<Counting<T>> {
    /// The packet on the wire if all ADUs were zeros, for captures: a repair symbol is that of their lengths.
    pub fn to_octets_of_zeros(&self) -> Vec<u8> {
        let zeros = |adu: &Adu<T>| vec![0; adu.len.into()];
        match self {
            Self::Source(id, adu) => Packet::<Octets>::Source(*id, zeros(adu)).to_octets(),
            Self::Repair(id, adus) => {
                let adus: Vec<Vec<u8>> = adus.iter().map(zeros).collect();
                // The number of a repair symbol is not below that of the source symbols.
                let place = id.symbol.saturating_sub(id.source_block_length);
                let symbol = Octets.encode(&adus, place + 1).pop().unwrap_or_default();
                Packet::<Octets>::Repair(*id, symbol).to_octets()
            }
        }
    }
}

impl Packet<Octets> {
    /// The packet on the wire.
    pub fn to_octets(&self) -> Vec<u8> {
        let mut id = [0; PAYLOAD_ID_LEN];
        match self {
            Self::Source(repr, adu) => {
                repr.emit(&mut PayloadId::new_unchecked(&mut id));
                [adu, &id[..]].concat()
            }
            Self::Repair(repr, symbol) => {
                repr.emit(&mut PayloadId::new_unchecked(&mut id));
                [&id[..], symbol].concat()
            }
        }
    }
}
