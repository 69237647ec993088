//! Tests of the machine as a whole: a bench for one end with hand-made segments, and a pair over a virtual link.

mod accurate_ecn;
mod bench;
mod closing;
mod congestion;
mod ecn;
mod elfn;
mod handshake;
mod pair;
mod receiving;
mod recovery;
mod sack;
mod sending;
mod timestamps;
